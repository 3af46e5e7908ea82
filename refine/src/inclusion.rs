//! One question: whether the target's steps make something possible, in some context, that the
//! source's forbid there.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use machine::form;
use model::program::Program;
use model::rel::Model;
use model::scope::Scope;
use model::value::Value;
use rustc_hash::FxHashMap;
use sass::lowering;

use super::context::{Context, ContextFamily, PartnerScope, contexts};
use super::program::{NumberedStep, Width};
use super::run::Runs;
use super::side::{Side, ThreadKey, shown};
use super::step::{AccessKind, Step};
use engine::{Engine, ExecutionFacts, Limits, MEMORY};

/// Which language the source is in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SourceLanguage {
    Cxx,
    Ptx,
}

/// Source and target, in steps; rows that ask the same are one question: reading R85.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Question {
    pub language: SourceLanguage,
    pub source: Vec<Step>,
    pub target: Vec<Step>,
    pub width: Width,
    pub reach: PartnerScope,
    /// Where the target is code of the machine.
    pub machine: Option<MachineTarget>,
}

/// What machine code is for, which lowers contexts too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MachineTarget {
    /// The first target of the family: what contexts are made of is the same on all of them.
    pub sm: u16,
    /// Whether `y` is in shared memory.
    pub shared: bool,
    /// Whether waits for loads are shown, and so not granted.
    pub waits: bool,
}

impl MachineTarget {
    pub fn new(sm: u16, shared: bool, waits: bool) -> MachineTarget {
        let mut families = lowering::families().iter();
        // Of a target that was not measured, what its family has.
        let name = form::Family::of(sm).map(form::Family::name);
        let family = families.find(|family| name == Some(family.name));
        let first = family.and_then(|family| family.table.targets.first().copied());
        MachineTarget { sm: first.unwrap_or(sm), shared, waits }
    }

    /// How far away `y` can be accessed: shared memory from its cluster, or its CTA.
    pub fn far(self) -> Scope {
        match self.shared {
            false => Scope::Sys,
            true if form::Family::of_or_before(self.sm).has_clusters() => Scope::Cluster,
            true => Scope::Cta,
        }
    }
}

/// A context and an outcome that the target adds there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refutation {
    pub context: String,
    pub outcome: String,
    /// Axioms of the source's model, each of which alone forbids the outcome; empty where only
    /// several do, or no write has the value.
    pub axioms: Vec<String>,
    /// Whether an access is torn.
    pub torn: bool,
    /// Whether weak accesses of the source race in the context: none was found where they do not.
    pub racy: bool,
    /// Litmus tests: the source's thread, where the outcome is forbidden, and the target's, where it
    /// is allowed.
    pub forbidden: Option<String>,
    pub allowed: Option<String>,
}

/// How many contexts there were.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// In which no outcome is added.
    pub told: usize,
    /// In which the source is undefined.
    pub silent: usize,
    /// In which the published mapping of the source adds an outcome too.
    pub withdrawn: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Included(Tally),
    Refuted(Box<Refutation>),
    /// An engine did not get to the end.
    Undecided(String),
}

pub(super) type Outcome = Box<[Value]>;

/// Whether some execution of the source has a race.
pub(super) type Races = bool;

/// What the source allows in one context.
#[derive(Clone)]
pub(super) enum SourceOutcomes {
    Outcomes(Arc<BTreeSet<Outcome>>, Races),
    /// It races: anything (reading R74).
    Anything,
    Limited(&'static str),
}

/// Judges questions and remembers the answers: reading R86.
pub struct Judge<'a> {
    pub engine: &'a dyn Engine,
    /// With its release sequences: reading R76.
    pub cxx: &'a Model,
    /// PTX where no scalar is torn: what it refutes has the plainer outcome.
    pub whole: &'a Model,
    /// PTX by the letter; none where tearing is assumed away.
    pub torn: Option<&'a Model>,
    /// What lowers contexts, where it is not the table that comes with the program.
    pub partners: Option<&'a lowering::LoweringTable>,
    pub patience: Patience,
    answers: BTreeMap<Question, Answer>,
    source: Option<SourceCache>,
    alike: SymmetryCache,
    pub(super) runs: Runs,
}

/// What was found of programs that the models can not tell from others: of scopes they see only which
/// threads are in each.
#[derive(Default)]
struct SymmetryCache {
    allowed: FxHashMap<(ThreadKey, SourceLanguage, bool), SourceOutcomes>,
    extra: FxHashMap<([ThreadKey; 2], SourceLanguage, bool), Extra>,
}

/// An outcome that is added, or why it is not known.
type Extra = Result<Option<Outcome>, &'static str>;

impl SymmetryCache {
    /// More than this are not kept for the next source.
    const MOST: usize = 20_000;

    fn forget(&mut self) {
        self.extra.clear();
        if self.allowed.len() > SymmetryCache::MOST {
            self.allowed.clear();
        }
    }
}

/// What each context allows the source of the latest question.
struct SourceCache {
    question: Question,
    family: ContextFamily,
    torn: bool,
    allowed: Vec<Option<SourceOutcomes>>,
}

/// Programs of questions are straight lines.
pub(super) const BOUND: u32 = 2;

/// What one program may take; those of single operations take less than a thousandth of it.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    pub time: Duration,
    /// In bytes.
    pub memory: usize,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience::new(None, MEMORY)
    }
}

impl Patience {
    pub fn new(time: Option<Duration>, memory: usize) -> Patience {
        Patience { time: time.unwrap_or(Duration::from_secs(10)), memory }
    }

    pub(super) fn limits(self, bound: u32) -> Limits {
        Limits { bound, deadline: Some(Instant::now() + self.time), memory: self.memory }
    }
}

impl<'a> Judge<'a> {
    pub fn new(
        engine: &'a dyn Engine,
        cxx: &'a Model,
        whole: &'a Model,
        torn: Option<&'a Model>,
    ) -> Judge<'a> {
        Judge {
            engine,
            cxx,
            whole,
            torn,
            partners: None,
            patience: Patience::default(),
            answers: BTreeMap::new(),
            source: None,
            alike: SymmetryCache::default(),
            runs: Runs::default(),
        }
    }

    pub fn judge(&mut self, question: &Question) -> Answer {
        if let Some(answer) = self.answers.get(question) {
            return answer.clone();
        }
        let mut answer = self.ask(question, false);
        if matches!(answer, Answer::Included(_))
            && self.torn.is_some()
            && question.width == Width::Word
        {
            answer = self.ask(question, true);
        }
        self.answers.insert(question.clone(), answer.clone());
        answer
    }

    /// Forgets all answers; they are of use to questions of one source.
    pub fn forget(&mut self) {
        self.answers.clear();
        self.alike.forget();
        self.runs.forget();
    }

    fn ask(&mut self, question: &Question, torn: bool) -> Answer {
        let cas =
            |step: &Step| matches!(step, Step::Access { act: AccessKind::CompareExchange(_), .. });
        let family = ContextFamily::of(&question.source, &question.target);
        let ptx = question.language == SourceLanguage::Ptx;
        let contexts = contexts(family, question.reach, question.source.iter().any(cas), ptx);
        let mut known = self.known(question, family, torn, contexts.len());
        let answer = self.ask_each(question, torn, &contexts, &mut known.allowed);
        self.source = Some(known);
        answer
    }

    /// What is known of the source already.
    fn known(
        &mut self,
        question: &Question,
        family: ContextFamily,
        torn: bool,
        contexts: usize,
    ) -> SourceCache {
        let question = Question { target: Vec::new(), ..question.clone() };
        // A source of C++ is not torn in any case.
        let torn = torn && question.language == SourceLanguage::Ptx;
        let same = |known: &SourceCache| {
            (&known.question, known.family, known.torn) == (&question, family, torn)
        };
        match self.source.take().filter(same) {
            Some(known) => known,
            None => SourceCache { question, family, torn, allowed: vec![None; contexts] },
        }
    }

    fn ask_each(
        &mut self,
        question: &Question,
        torn: bool,
        contexts: &[Context],
        known: &mut [Option<SourceOutcomes>],
    ) -> Answer {
        let mut tally = Tally::default();
        // A refutation without a race is the better witness.
        let mut in_race: Option<Answer> = None;
        for (context, known) in contexts.iter().zip(known) {
            let side = Side { question, context, partners: self.partners };
            // The target has no such scope: no thread of it can stand there.
            if !side.exists() {
                continue;
            }
            let source = side.source_threads();
            let allowed = known.get_or_insert_with(|| self.allowed_alike(&side, &source, torn));
            let (outcomes, racy) = match allowed {
                SourceOutcomes::Outcomes(outcomes, racy) => (outcomes.clone(), *racy),
                SourceOutcomes::Anything => {
                    tally.silent += 1;
                    continue;
                }
                SourceOutcomes::Limited(why) => return Answer::Undecided((*why).to_owned()),
            };
            let target = side.target_threads(&question.target);
            match self.extra_alike(&side, [&source, &target], &outcomes, torn) {
                Err(why) => return Answer::Undecided(why.to_owned()),
                Ok(None) => tally.told += 1,
                Ok(Some(outcome)) => {
                    // Reading R81: where the mapping of the source fails too, the context is at fault.
                    // A partner of a table that is wrong is a row of it by itself.
                    let usual = Side { partners: None, ..side };
                    let mapped: Vec<Step> =
                        question.source.iter().flat_map(|&s| usual.lower(s)).collect();
                    let base = (self.partners.is_some() || mapped != question.target) && {
                        let mapped = side.target_threads(&mapped);
                        let extra = self.extra_alike(&side, [&source, &mapped], &outcomes, torn);
                        matches!(extra, Ok(Some(_)))
                    };
                    if base {
                        tally.withdrawn += 1;
                        continue;
                    }
                    if racy && in_race.is_some() {
                        continue;
                    }
                    let target = side.program_of(&target);
                    let (forbidden, allowed) = side.tests(&target, &outcome, torn);
                    let answer = Answer::Refuted(Box::new(Refutation {
                        forbidden,
                        allowed,
                        context: side.text(),
                        outcome: shown(&target, &outcome, question.width),
                        axioms: self.blame(&side.source(), &outcome, question.language, torn),
                        torn,
                        racy,
                    }));
                    if !racy {
                        return answer;
                    }
                    in_race = Some(answer);
                }
            }
        }
        in_race.unwrap_or(Answer::Included(tally))
    }

    fn model(&self, language: SourceLanguage, torn: bool) -> &'a Model {
        match language {
            SourceLanguage::Cxx => self.cxx,
            SourceLanguage::Ptx => self.torn.filter(|_| torn).unwrap_or(self.whole),
        }
    }

    /// What the source allows, or what it did where threads stood in the same relations.
    pub(super) fn allowed_alike(
        &mut self,
        side: &Side<'_>,
        source: &[Vec<NumberedStep>],
        torn: bool,
    ) -> SourceOutcomes {
        let key = (side.key(source), side.question.language, torn);
        if let Some(allowed) = self.alike.allowed.get(&key) {
            return allowed.clone();
        }
        let allowed = self.allowed(side, torn);
        self.alike.allowed.insert(key, allowed.clone());
        allowed
    }

    fn extra_alike(
        &mut self,
        side: &Side<'_>,
        [source, target]: [&[Vec<NumberedStep>]; 2],
        allowed: &BTreeSet<Outcome>,
        torn: bool,
    ) -> Result<Option<Outcome>, &'static str> {
        let key = ([side.key(source), side.key(target)], side.question.language, torn);
        if let Some(extra) = self.alike.extra.get(&key) {
            return extra.clone();
        }
        let extra = self.extra(&side.program_of(target), allowed, torn);
        self.alike.extra.insert(key, extra.clone());
        extra
    }

    fn allowed(&self, side: &Side<'_>, torn: bool) -> SourceOutcomes {
        let mut outcomes = BTreeSet::new();
        let mut seen = ExecutionFacts::default();
        let limits = self.patience.limits(BOUND);
        let model = self.model(side.question.language, torn);
        let program = side.source();
        let result =
            self.engine.outcomes(model, &program, &limits, &mut seen, &mut |outcome, _| {
                outcomes.insert(outcome.into());
                ControlFlow::Continue(())
            });
        match result {
            _ if seen.undefined.is_some() => SourceOutcomes::Anything,
            Err(limit) => SourceOutcomes::Limited(limit.text()),
            Ok(()) => SourceOutcomes::Outcomes(Arc::new(outcomes), !seen.races.is_empty()),
        }
    }

    /// An outcome of the target that is not among these.
    fn extra(
        &self,
        program: &Program,
        allowed: &BTreeSet<Outcome>,
        torn: bool,
    ) -> Result<Option<Outcome>, &'static str> {
        let mut extra = None;
        let limits = self.patience.limits(BOUND);
        let mut seen = ExecutionFacts::default();
        let visit = &mut |outcome: &[Value], _: &dyn Fn() -> engine::witness::Witness| {
            if allowed.contains(outcome) {
                return ControlFlow::Continue(());
            }
            extra = Some(outcome.into());
            ControlFlow::Break(())
        };
        let model = self.model(SourceLanguage::Ptx, torn);
        let result = self.engine.outcomes(model, program, &limits, &mut seen, visit);
        result.map_err(engine::Limit::text).map(|()| extra)
    }

    /// The axioms each of which alone forbids the outcome.
    fn blame(
        &self,
        source: &Program,
        outcome: &[Value],
        language: SourceLanguage,
        torn: bool,
    ) -> Vec<String> {
        let model = self.model(language, torn);
        let forbids = |axiom: &&model::rel::Axiom| {
            let mut alone = model.clone();
            alone.axioms.retain(|other| other.name == axiom.name);
            let mut possible = false;
            let limits = self.patience.limits(BOUND);
            let mut seen = ExecutionFacts::default();
            let result =
                self.engine.outcomes(&alone, source, &limits, &mut seen, &mut |found, _| {
                    possible |= found == outcome;
                    if possible { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
            result.is_ok() && !possible
        };
        model.axioms.iter().filter(forbids).map(|axiom| axiom.name.clone()).collect()
    }
}

/// The widest scope of the steps; the system where they have none.
pub fn widest(steps: &[Step]) -> Scope {
    steps.iter().filter_map(|step| step.scope()).max().unwrap_or(Scope::Sys)
}
