//! One question: whether, in some context, the target's steps allow an outcome that the source's steps
//! forbid.

use std::collections::BTreeMap;
use std::convert::Infallible;

use machine::form;
use model::program::Program;
use model::scope::Scope;
use model::value::Value;
use rustc_hash::FxHashMap;
use sass::lowering;

use super::context::{Context, ContextFamily, PartnerScope, contexts};
use super::judgement::{Answer, ContextSearch, Refinement};
use super::language::{PTX, SourceId};
use super::program::{NumberedStep, Width};
use super::refiner::{AllowedOutcomes, ContextResult, EngineRun, LimitText, Refiner};
use super::run::Runs;
use super::side::{Side, ThreadKey, shown};
use super::step::{AccessKind, Step};

/// Source and target as steps. Rows with equal steps share one question: reading R85.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Question {
    pub language: SourceId,
    pub source: Vec<Step>,
    pub target: Vec<Step>,
    pub width: Width,
    pub reach: PartnerScope,
    /// The machine target, if the target is machine code.
    pub machine: Option<MachineTarget>,
}

/// The architecture of machine code, for which contexts are lowered too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MachineTarget {
    /// The first target of the family. Contexts are lowered alike on all its targets.
    pub sm: u16,
    /// Whether `y` is in shared memory.
    pub shared: bool,
    /// Whether the text shows waits for loads, so that they are not assumed.
    pub waits: bool,
}

impl MachineTarget {
    pub fn new(sm: u16, shared: bool, waits: bool) -> MachineTarget {
        let mut families = lowering::families().iter();
        // A target that was not measured is treated like its family.
        let name = form::Family::of(sm).map(form::Family::name);
        let family = families.find(|family| name == Some(family.name));
        let first = family.and_then(|family| family.table.targets.first().copied());
        MachineTarget { sm: first.unwrap_or(sm), shared, waits }
    }

    /// The widest scope from which `y` can be accessed: for shared memory, its cluster or its CTA.
    pub fn far(self) -> Scope {
        match self.shared {
            false => Scope::Sys,
            true if form::Family::of_or_before(self.sm).has_clusters() => Scope::Cluster,
            true => Scope::Cta,
        }
    }
}

/// Judges questions and caches the answers: reading R86.
pub struct Judge<'a> {
    pub refiner: Refiner<'a>,
    /// The table that lowers contexts, if it is not the built-in one.
    pub partners: Option<&'a lowering::LoweringTable>,
    answers: BTreeMap<Question, Answer>,
    alike: SymmetryCache,
    pub(super) runs: Runs,
}

/// Results for programs that the models cannot distinguish. Of scopes, the models see only which threads are
/// in each.
#[derive(Default)]
struct SymmetryCache {
    allowed: FxHashMap<ThreadKey, Result<AllowedOutcomes, LimitText>>,
    added: FxHashMap<[ThreadKey; 2], ContextResult>,
}

impl SymmetryCache {
    /// A cache with more results than this is not kept for the next source.
    const MOST: usize = 20_000;

    fn forget(&mut self) {
        self.added.clear();
        if self.allowed.len() > SymmetryCache::MOST {
            self.allowed.clear();
        }
    }
}

impl<'a> Judge<'a> {
    pub fn new(refiner: Refiner<'a>) -> Judge<'a> {
        Judge {
            refiner,
            partners: None,
            answers: BTreeMap::new(),
            alike: SymmetryCache::default(),
            runs: Runs::default(),
        }
    }

    pub fn judge(&mut self, question: &Question) -> Answer {
        if let Some(answer) = self.answers.get(question) {
            return answer.clone();
        }
        let contexts = self.contexts(question);
        let may_tear = self.refiner.tearing && question.width == Width::Word;
        let mut search = ContextSearch::default();
        let mut row = JudgedRow { judge: self, question, torn: false };
        let answer = match search.judge(&mut row, &contexts, may_tear) {
            Ok(Some((refutation, _))) => Answer::Refuted(Box::new(refutation)),
            Ok(None) => search.answer(),
            Err(never) => match never {},
        };
        self.answers.insert(question.clone(), answer.clone());
        answer
    }

    /// The contexts in which a question is judged.
    fn contexts(&self, question: &Question) -> Vec<Context> {
        let cas =
            |step: &Step| matches!(step, Step::Access { act: AccessKind::CompareExchange(_), .. });
        let family = ContextFamily::of(&question.source, &question.target);
        let cxx = question.language.has_seq_cst();
        let more = self.refiner.contexts;
        contexts(family, more, question.reach, question.source.iter().any(cas), cxx)
    }

    /// In words, the first context with `unordered` accesses in which an outcome is added if another table lowers
    /// the context, whole accesses only.
    pub(super) fn added_by(
        &mut self,
        question: &Question,
        table: &'a lowering::LoweringTable,
    ) -> Option<String> {
        let usual = self.partners.replace(table);
        let contexts = self.contexts(question);
        let mut row = JudgedRow { judge: self, question, torn: false };
        let unordered = contexts.iter().filter(|context| context.has_unordered());
        let adds = |context: &&Context| {
            let Ok(result) = row.ask(context);
            matches!(result, ContextResult::Extra { .. } | ContextResult::Withdrawn)
        };
        let first = unordered.into_iter().find(adds);
        let words =
            first.map(|context| JudgedRow { judge: self, question, torn: false }.words(context));
        self.partners = usual;
        words
    }

    /// Whether no outcome is added if another table lowers the contexts, whole accesses only.
    pub(super) fn preserved_by(
        &mut self,
        question: &Question,
        table: &'a lowering::LoweringTable,
    ) -> bool {
        let usual = self.partners.replace(table);
        let contexts = self.contexts(question);
        let mut row = JudgedRow { judge: self, question, torn: false };
        let mut search = ContextSearch::default();
        let Ok(found) = search.judge(&mut row, &contexts, false);
        self.partners = usual;
        found.is_none() && matches!(search.answer(), Answer::Included(_))
    }

    /// Discards all answers. They are useful only for questions of one source.
    pub fn forget(&mut self) {
        self.answers.clear();
        self.alike.forget();
        self.runs.forget();
    }

    /// The outcomes that the source allows. A result for threads in the same relations is reused.
    pub(super) fn allowed(
        &mut self,
        side: &Side<'_>,
        key: &ThreadKey,
        torn: bool,
    ) -> Result<AllowedOutcomes, LimitText> {
        if let Some(allowed) = self.alike.allowed.get(key) {
            return allowed.clone();
        }
        let model = self.refiner.model(side.question.language, torn);
        let program = side.source();
        let allowed =
            self.refiner.allowed(&EngineRun { model, program: &program, masks: Vec::new() });
        self.alike.allowed.insert(key.clone(), allowed.clone());
        allowed
    }

    /// Whether a target adds an outcome to them.
    fn added(
        &mut self,
        side: &Side<'_>,
        source: &ThreadKey,
        target: &[Vec<NumberedStep>],
        allowed: &AllowedOutcomes,
        torn: bool,
    ) -> ContextResult {
        let key = [source.clone(), side.key(target, PTX, torn)];
        if let Some(added) = self.alike.added.get(&key) {
            return added.clone();
        }
        let model = self.refiner.model(PTX, torn);
        let program = side.program_of(target);
        let run = EngineRun { model, program: &program, masks: Vec::new() };
        let added = self.refiner.compare(allowed, None, &run);
        self.alike.added.insert(key, added.clone());
        added
    }
}

/// A question, as the judging loop uses it.
struct JudgedRow<'j, 'a> {
    judge: &'j mut Judge<'a>,
    question: &'j Question,
    torn: bool,
}

impl JudgedRow<'_, '_> {
    fn side<'s>(&'s self, context: &'s Context) -> Side<'s> {
        Side { question: self.question, context, partners: self.judge.partners }
    }
}

impl<'a> Refinement<'a> for JudgedRow<'_, 'a> {
    type Error = Infallible;

    fn refiner(&self) -> Refiner<'a> {
        self.judge.refiner
    }

    fn language(&self) -> SourceId {
        self.question.language
    }

    fn set_torn(&mut self, torn: bool) {
        self.torn = torn;
    }

    fn torn(&self) -> bool {
        self.torn
    }

    fn program(&mut self, context: &Context, lowered: bool) -> Result<Option<Program>, Infallible> {
        let side = self.side(context);
        Ok(side.exists().then(|| {
            let target = || side.program_of(&side.target_threads(&self.question.target));
            if lowered { target() } else { side.source() }
        }))
    }

    fn words(&self, context: &Context) -> String {
        self.side(context).text()
    }

    fn outcome(&self, program: &Program, outcome: &[Value]) -> String {
        shown(program, outcome, self.question.width)
    }

    fn test(&mut self, context: &Context, lowered: bool, outcome: &[Value]) -> Option<String> {
        self.side(context).test(lowered, outcome, self.torn)
    }

    fn ask(&mut self, context: &Context) -> Result<ContextResult, Infallible> {
        let (question, torn) = (self.question, self.torn);
        let partners = self.judge.partners;
        let side = Side { question, context, partners };
        // The target has no such scope, so no thread of it can have this placement.
        if !side.exists() {
            return Ok(ContextResult::Absent);
        }
        let source = side.key(&side.source_threads(), question.language, torn);
        let allowed = match self.judge.allowed(&side, &source, torn) {
            Ok(allowed) if allowed.undefined => return Ok(ContextResult::SourceUndefined),
            Ok(allowed) => allowed,
            Err(why) => return Ok(ContextResult::Undecided(why)),
        };
        let target = side.target_threads(&question.target);
        let added = self.judge.added(&side, &source, &target, &allowed, torn);
        if !matches!(added, ContextResult::Extra { .. }) {
            return Ok(added);
        }
        // Reading R81: if the mapping of the source fails too, the context is at fault. A partner that the
        // table lowers wrongly is judged as its own row of the table.
        let usual = Side { partners: None, ..side };
        let mapped: Vec<Step> = question.source.iter().flat_map(|&s| usual.lower(s)).collect();
        if partners.is_some() || mapped != question.target {
            let mapped = side.target_threads(&mapped);
            let base = self.judge.added(&side, &source, &mapped, &allowed, torn);
            if matches!(base, ContextResult::Extra { .. }) {
                return Ok(ContextResult::Withdrawn);
            }
        }
        Ok(added)
    }
}

/// The widest scope of the steps; the system scope if they have none.
pub fn widest(steps: &[Step]) -> Scope {
    steps.iter().filter_map(|step| step.scope()).max().unwrap_or(Scope::Sys)
}
