//! An engine with its models and limits, and the comparison of two programs.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use engine::clock::Deadline;
use engine::{ENGINES, Engine, ExecutionFacts, Limits, MEMORY, interrupt};
use execution::path::MISALIGNED;
use model::cxx::{self, ReleaseSequence};
use model::program::{Program, ThreadId};
use model::rel::{Axiom, Model};
use model::value::Value;

use super::context::ContextShape;
use super::language::SourceId;

/// The models of both sides.
#[derive(Debug)]
pub struct Models {
    /// C++ with its release sequences: reading R76.
    pub cxx: Model,
    /// PTX, in which scalars may tear in a race.
    pub ptx: Model,
    /// PTX without tearing, whose refutations have simpler outcomes.
    pub untorn: Model,
}

impl Default for Models {
    fn default() -> Models {
        let ptx = model::ptx::model();
        let mut untorn = ptx.clone();
        untorn.conventions.tearing = false;
        Models { cxx: cxx::model(ReleaseSequence::Cpp20), ptx, untorn }
    }
}

/// The limits of one program of a row, and of a whole function. Programs of single operations need less than a
/// thousandth of them.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    pub time: Duration,
    /// In bytes.
    pub memory: usize,
    /// As [`Limits::work`].
    pub work: Option<u64>,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience::new(None, MEMORY)
    }
}

impl Patience {
    pub fn new(time: Option<Duration>, memory: usize) -> Patience {
        Patience { time: time.unwrap_or(Duration::from_secs(10)), memory, work: None }
    }
}

/// An engine with its models and limits.
#[derive(Clone, Copy)]
pub struct Refiner<'a> {
    pub engine: &'a dyn Engine,
    pub models: &'a Models,
    /// Whether scalars may tear. If not, tearing is assumed not to occur.
    pub tearing: bool,
    /// How often a loop body is executed: reading R93.
    pub bound: u32,
    /// The limits of one program: reading R94.
    pub patience: Patience,
    /// The time at which the run is given up, or the question that the program belongs to.
    pub deadline: Option<Deadline>,
    /// Contexts besides those of the lists.
    pub contexts: &'a [ContextShape],
}

pub(crate) type Outcome = Box<[Value]>;

/// A program of one side, with its model.
pub(crate) struct EngineRun<'p> {
    pub(crate) model: &'p Model,
    pub(crate) program: &'p Program,
    /// The bits of each observed value that are compared; if empty, all bits are.
    pub(crate) masks: Vec<Value>,
}

/// The outcomes that a source allows.
#[derive(Clone)]
pub(crate) struct AllowedOutcomes {
    pub(crate) outcomes: Arc<BTreeSet<Outcome>>,
    races: bool,
    /// The source is undefined and allows every outcome: reading R74.
    pub(crate) undefined: bool,
    pub(crate) cut: bool,
}

impl AllowedOutcomes {
    pub(crate) fn has(&self, outcome: &[Value]) -> bool {
        self.outcomes.contains(outcome)
    }

    /// Whether a target can be compared with it: the source is defined, and no loop of it was cut.
    pub(crate) fn says_something(&self) -> bool {
        !self.undefined && !self.cut
    }
}

/// The reason why no answer was found.
pub(crate) type LimitText = &'static str;

/// The result of a context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ContextResult {
    /// No outcome is added.
    Nothing,
    /// The source is undefined here: reading R74.
    SourceUndefined,
    /// The target has no such context.
    Absent,
    /// The published mapping of the source adds an outcome too: reading R81.
    Withdrawn,
    /// The target allows this outcome and the source does not. `racy`: the source has a race.
    Extra {
        outcome: Outcome,
        racy: bool,
    },
    /// The target is undefined here and the source is defined; the reason.
    TargetUndefined(String),
    /// The function of the target accesses a misaligned address in some execution, at this line of its program, and the
    /// source is defined.
    Faults(u16),
    Undecided(LimitText),
}

impl ContextResult {
    /// Whether the target does what the source does not.
    pub(crate) fn differs(&self) -> bool {
        match self {
            ContextResult::Extra { .. }
            | ContextResult::TargetUndefined(_)
            | ContextResult::Faults(_) => true,
            ContextResult::Nothing
            | ContextResult::SourceUndefined
            | ContextResult::Absent
            | ContextResult::Withdrawn
            | ContextResult::Undecided(_) => false,
        }
    }
}

/// Why the source forbids an outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Blame {
    /// No execution has these values, whatever the axioms say.
    Values,
    /// Each of these axioms forbids it alone. If the list is empty, several axioms forbid it together.
    Axioms(Vec<String>),
}

impl<'a> Refiner<'a> {
    /// The enumerating engine, with the limits of [`Patience::default`].
    pub fn new(models: &'a Models) -> Refiner<'a> {
        let patience = Patience::default();
        Refiner {
            engine: ENGINES[0],
            models,
            tearing: true,
            bound: 2,
            patience,
            deadline: None,
            contexts: &[],
        }
    }

    /// The same for one question, which is given up when its time or that of the run is over.
    pub(crate) fn within_time(self) -> Refiner<'a> {
        self.within(1)
    }

    /// The same with a part of the time of a program for what follows.
    pub(crate) fn within(self, share: u32) -> Refiner<'a> {
        let end = Deadline::after(self.patience.time / share);
        Refiner { deadline: Some(end.or(self.deadline)), ..self }
    }

    /// Whether the question is to be given up.
    pub(crate) fn is_over(&self) -> bool {
        interrupt::raised() || self.deadline.is_some_and(|deadline| deadline.is_over())
    }

    /// The model of a language.
    pub(crate) fn model(&self, language: SourceId, torn: bool) -> &'a Model {
        language.model(self.models, torn)
    }

    /// What is known of the executions of a program, also of those that never end.
    pub(crate) fn facts(&self, run: &EngineRun<'_>) -> Result<ExecutionFacts, LimitText> {
        let all = &mut |_: &[Value]| ControlFlow::Continue(());
        let (seen, result) = self.each_with(run, self.bound, true, all);
        result.map(|()| seen)
    }

    /// Visits the outcomes of a program until `visit` stops.
    fn each(
        &self,
        run: &EngineRun<'_>,
        bound: u32,
        visit: &mut dyn FnMut(&[Value]) -> ControlFlow<()>,
    ) -> (ExecutionFacts, Result<(), LimitText>) {
        self.each_with(run, bound, false, visit)
    }

    fn each_with(
        &self,
        run: &EngineRun<'_>,
        bound: u32,
        unending: bool,
        visit: &mut dyn FnMut(&[Value]) -> ControlFlow<()>,
    ) -> (ExecutionFacts, Result<(), LimitText>) {
        let mut seen = ExecutionFacts::default();
        let Patience { time, memory, work } = self.patience;
        let end = Deadline::after(time).or(self.deadline);
        let limits = Limits { bound, deadline: Some(end), memory, unending, work };
        let mut masked: Vec<Value> = Vec::new();
        let visit = &mut |values: &[Value], _: &dyn Fn() -> engine::witness::Witness| {
            if run.masks.is_empty() {
                return visit(values);
            }
            masked.clear();
            masked.extend(values.iter().zip(&run.masks).map(|(value, mask)| value & mask));
            visit(&masked)
        };
        let result = self.engine.outcomes(run.model, run.program, &limits, &mut seen, visit);
        (seen, result.map_err(engine::Limit::text))
    }

    /// The outcomes that a program allows. An undefined program stays undefined if a limit was reached
    /// afterwards.
    pub(crate) fn allowed(&self, run: &EngineRun<'_>) -> Result<AllowedOutcomes, LimitText> {
        self.allowed_up_to(run, self.bound)
    }

    fn allowed_up_to(&self, run: &EngineRun<'_>, bound: u32) -> Result<AllowedOutcomes, LimitText> {
        let mut outcomes = BTreeSet::new();
        let (seen, result) = self.each(run, bound, &mut |outcome| {
            outcomes.insert(outcome.into());
            ControlFlow::Continue(())
        });
        let undefined = seen.undefined.is_some();
        if !undefined {
            result?;
        }
        let (races, cut) = (!seen.races.is_empty(), seen.bound_reached);
        Ok(AllowedOutcomes { outcomes: Arc::new(outcomes), races, undefined, cut })
    }

    /// Whether the target adds an outcome to those that its source allows. `source` may be omitted if it has
    /// no loops.
    pub(crate) fn compare(
        &self,
        allowed: &AllowedOutcomes,
        source: Option<&EngineRun<'_>>,
        target: &EngineRun<'_>,
    ) -> ContextResult {
        if allowed.undefined {
            return ContextResult::SourceUndefined;
        }
        let mut extra: Option<Outcome> = None;
        let (seen, result) = self.each(target, self.bound, &mut |outcome| {
            if allowed.has(outcome) {
                return ControlFlow::Continue(());
            }
            extra = Some(outcome.into());
            ControlFlow::Break(())
        });
        if let Some(undefined) = seen.undefined {
            return match undefined.where_.first() {
                Some(&(ThreadId(0), line)) if undefined.reason == MISALIGNED => {
                    ContextResult::Faults(line)
                }
                _ => ContextResult::TargetUndefined(undefined.reason),
            };
        }
        match (result, extra, source.filter(|_| allowed.cut)) {
            (Err(why), ..) => ContextResult::Undecided(why),
            (Ok(()), None, _) => ContextResult::Nothing,
            (Ok(()), Some(outcome), Some(source)) => self.confirm(source, outcome, allowed),
            (Ok(()), Some(outcome), None) => ContextResult::Extra { outcome, racy: allowed.races },
        }
    }

    /// If loops of the source were cut, more iterations may produce the outcome.
    fn confirm(
        &self,
        source: &EngineRun<'_>,
        outcome: Outcome,
        allowed: &AllowedOutcomes,
    ) -> ContextResult {
        match self.allowed_up_to(source, 2 * self.bound + 1) {
            Err(why) => ContextResult::Undecided(why),
            Ok(more) if more.has(&outcome) => ContextResult::Nothing,
            Ok(more) if more.cut && more.outcomes != allowed.outcomes => ContextResult::Undecided(
                "a loop of the source was cut before the outcome was decided",
            ),
            Ok(more) => ContextResult::Extra { outcome, racy: more.races },
        }
    }

    /// Whether an outcome is possible without the other axioms; `None` if a limit was reached.
    fn possible(
        &self,
        source: &EngineRun<'_>,
        outcome: &[Value],
        keep: &dyn Fn(&Axiom) -> bool,
    ) -> Option<bool> {
        let mut some = source.model.clone();
        some.axioms.retain(keep);
        let run = EngineRun { model: &some, masks: source.masks.clone(), ..*source };
        let mut possible = false;
        let (_, result) = self.each(&run, self.bound, &mut |found| {
            possible |= found == outcome;
            if possible { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        (possible || result.is_ok()).then_some(possible)
    }

    /// Whether the source allows a forbidden outcome without this axiom, as far as that is known.
    pub(crate) fn needs(&self, axiom: &str, source: &EngineRun<'_>, outcome: &[Value]) -> bool {
        self.possible(source, outcome, &|other| other.name != axiom) != Some(false)
    }

    /// Why the source forbids the outcome.
    pub(crate) fn blame(&self, source: &EngineRun<'_>, outcome: &[Value]) -> Blame {
        let forbidden =
            |keep: &dyn Fn(&Axiom) -> bool| self.possible(source, outcome, keep) == Some(false);
        if forbidden(&|_| false) {
            return Blame::Values;
        }
        let alone = |axiom: &&Axiom| forbidden(&|other| other.name == axiom.name);
        let axioms = source.model.axioms.iter().filter(alone);
        Blame::Axioms(axioms.map(|axiom| axiom.name.clone()).collect())
    }
}
