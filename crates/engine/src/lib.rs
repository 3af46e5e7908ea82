//! The engines: each computes the set of outcomes of a program under a model.
//!
//! Engines do not depend on each other, and know neither conditions nor files: what a search is for is said by
//! [`sought::Sought`]. The crate `judge` makes verdicts of what they find.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

pub mod budget;
pub mod clock;
pub mod concrete;
mod domains;
pub mod enumerate;
pub mod exit;
pub mod interrupt;
pub mod options;
pub mod outcome;
pub mod parallel;
pub mod plan;
#[cfg(feature = "smt")]
mod smt;
#[cfg(feature = "smt")]
pub mod solve;
pub mod sought;
pub mod structures;
pub mod uninitialised;
pub mod witness;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use execution::air::ThinAir;
use execution::unfold::{UnfoldLimit, Unfolding};
use execution::values::TooManyMixtures;
use model::memory::VariableId;
use model::program::{Program, Stuck, ThreadId};
use model::rel::Model;
use model::value::Value;

use clock::Deadline;
pub use enumerate::beginnings::search_beginnings;
pub use enumerate::beyond::{complete_bound, goes_beyond};
use sought::Sought;
use witness::Witness;

/// How far an engine may go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many times a loop body is executed at most.
    pub bound: u32,
    pub deadline: Option<Deadline>,
    /// How many bytes may be held for one program.
    pub memory: usize,
    /// Whether executions that never finish are searched, too. They have no outcome.
    pub unending: bool,
    /// How much work there may be, which does not depend on the clock: candidates looked at, or questions to the
    /// solver.
    pub work: Option<u64>,
}

/// What one test may take in each engine, where the command line does not say it.
pub const MEMORY: usize = 1 << 30;

impl Limits {
    pub fn unlimited(bound: u32) -> Limits {
        Limits { bound, deadline: None, memory: usize::MAX, unending: true, work: None }
    }

    /// The limit that this number of bytes for a program's paths reaches, if any.
    pub fn of_unfolding(&self, held: usize) -> Option<UnfoldLimit> {
        if held > self.memory {
            Some(UnfoldLimit::Memory)
        } else if interrupt::raised() {
            Some(UnfoldLimit::Interrupted)
        } else {
            let expired = self.deadline.is_some_and(|deadline| deadline.is_over());
            expired.then_some(UnfoldLimit::Time)
        }
    }
}

/// Why an engine stopped before the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    Time,
    Memory,
    /// The user has had enough.
    Interrupted,
    /// More events than the widest relation holds.
    Events,
    /// More instructions in one path than are followed.
    Steps,
    /// A state of an mbarrier object that comes from memory, or has one of too many pending counts.
    PhaseState,
    /// A count, a size or a mask that is computed from what is loaded has a value that was not tried.
    Number,
    /// An address of tensor memory with a lane.
    TensorLane,
    Paths,
    Barriers,
    /// Reads of weak racing writes may return more values than are listed.
    Mixtures,
    /// Values that depend on themselves may be others than those tried.
    ThinAir,
    /// The solver gave up.
    Solver,
    /// [`Limits::work`].
    Work,
    /// The model has a shape that this engine cannot run.
    Model,
}

impl Limit {
    pub fn text(self) -> &'static str {
        match self {
            Limit::Time => "the time limit was reached",
            Limit::Interrupted => "it was interrupted",
            Limit::Memory => "the memory limit was reached",
            Limit::Events => "too many events for an engine",
            Limit::Steps => "too many instructions in one thread",
            Limit::PhaseState => {
                "the state of an mbarrier object that an instruction takes is not known, or has one of more than 64 pending counts"
            }
            Limit::Number => {
                "the values of a count, size or mask that an instruction takes from what was loaded are not known"
            }
            Limit::TensorLane => {
                "an address of tensor memory has a lane in its upper 16 bits, which this checker does not support"
            }
            Limit::Paths => "too many paths through one thread",
            Limit::Barriers => "too many ways to group barrier arrivals",
            Limit::Mixtures => "too many mixtures of the bytes of racing writes",
            Limit::ThinAir => "values may come out of thin air, and not all of them can be tried",
            Limit::Solver => "the solver gave up",
            Limit::Work => "the limit of work was reached",
            Limit::Model => "this engine does not support the shape of this model",
        }
    }

    /// Whether the paths of threads are too many or too long, or were not all followed.
    pub fn is_of_paths(self) -> bool {
        match self {
            Limit::Events
            | Limit::Steps
            | Limit::PhaseState
            | Limit::TensorLane
            | Limit::Paths
            | Limit::Barriers => true,
            Limit::Time
            | Limit::Memory
            | Limit::Interrupted
            | Limit::Number
            | Limit::Mixtures
            | Limit::ThinAir
            | Limit::Solver
            | Limit::Work
            | Limit::Model => false,
        }
    }

    /// Whether it is one of a whole search, and not of one structure.
    fn is_of_search(self) -> bool {
        matches!(self, Limit::Time | Limit::Memory | Limit::Interrupted | Limit::Work)
    }
}

impl From<UnfoldLimit> for Limit {
    fn from(limit: UnfoldLimit) -> Limit {
        match limit {
            UnfoldLimit::Paths => Limit::Paths,
            UnfoldLimit::Events => Limit::Events,
            UnfoldLimit::Steps => Limit::Steps,
            UnfoldLimit::PhaseState => Limit::PhaseState,
            UnfoldLimit::TensorLane => Limit::TensorLane,
            UnfoldLimit::Barriers => Limit::Barriers,
            UnfoldLimit::Time => Limit::Time,
            UnfoldLimit::Memory => Limit::Memory,
            UnfoldLimit::Interrupted => Limit::Interrupted,
        }
    }
}

impl From<TooManyMixtures> for Limit {
    fn from(TooManyMixtures: TooManyMixtures) -> Limit {
        Limit::Mixtures
    }
}

/// Two instructions that race, each by its thread and line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Race {
    pub first: (ThreadId, u16),
    pub second: (ThreadId, u16),
}

/// A read that may return what nobody has written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct UninitialisedRead {
    pub at: (ThreadId, u16),
    /// The memory that it reads; not an alias.
    pub variable: VariableId,
}

/// Why a program has no verdict.
#[derive(Clone, Debug)]
pub struct Undefined {
    /// `mixed-size-race` and the like.
    pub reason: String,
    /// The instructions at fault.
    pub where_: Vec<(ThreadId, u16)>,
    /// Whether one of two events at fault is an initial write.
    pub with_initial: bool,
}

/// An instruction that breaks a rule without consequence in the model.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Warning {
    /// The flag, such as `mbarrier-missing-wait`.
    pub name: String,
    pub at: (ThreadId, u16),
    /// What the rule says of the instruction.
    pub text: &'static str,
}

/// A thread that has exited, and that a barrier of its CTA does not wait for: reading R30.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ExitedThread {
    pub thread: ThreadId,
    pub barrier: (ThreadId, u16),
}

/// Two events for which a flag of a model was raised that has no other meaning; `None` for an initial write.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RaisedFlag {
    pub flag: String,
    pub first: Option<(ThreadId, u16)>,
    pub second: Option<(ThreadId, u16)>,
}

/// What an engine saw beside outcomes.
#[derive(Clone, Debug, Default)]
pub struct ExecutionFacts {
    /// Consistent executions, each choice of rf and co once; `None` if the engine does not count.
    pub executions: Option<u64>,
    pub races: BTreeSet<Race>,
    /// Reads that may return what nobody has written, where these are sought.
    pub uninitialised: BTreeSet<UninitialisedRead>,
    pub warnings: BTreeSet<Warning>,
    pub flags: BTreeSet<RaisedFlag>,
    pub exited: BTreeSet<ExitedThread>,
    pub undefined: Option<Undefined>,
    /// Where a consistent execution ends at a count, size or mask whose value was not tried ([`Limit::Number`]).
    pub unlisted: Option<(ThreadId, u16)>,
    /// A loop was cut: outcomes may be missing.
    pub bound_reached: bool,
    /// Values out of thin air, where no axiom forbids them.
    pub thin_air: ThinAir,
    /// Whether some execution finishes, and so has an outcome.
    pub finishes: bool,
    /// Where threads stay in executions that never finish, if one was found: all of one, and of any other
    /// in which more do.
    pub stuck: Option<Vec<Stuck>>,
    /// The threads that stay for ever together in an execution, where no other execution has all of them and more:
    /// at most [`MOST_TOGETHER`] of these sets.
    pub stuck_together: BTreeSet<BTreeSet<ThreadId>>,
    /// Whether it is known that there is such an execution or that there is none.
    pub stuck_is_known: bool,
    /// The limit that ended the search for them, if one did.
    pub stuck_limit: Option<Limit>,
    /// The limit that ended the list of races, if one did.
    pub races_limit: Option<Limit>,
}

impl ExecutionFacts {
    /// The end of a search: what it found is not all where a number was not tried, unless the program is undefined.
    pub(crate) fn ended(&self, result: Result<(), Limit>) -> Result<(), Limit> {
        let unlisted = self.unlisted.is_some() && self.undefined.is_none();
        result.and(if unlisted { Err(Limit::Number) } else { Ok(()) })
    }

    /// Whether an execution of this structure, in which some threads never end, would say anything
    /// new: where a thread stays, or what makes the program undefined.
    pub(crate) fn wants_stuck(&self, unfolding: &Unfolding<'_>) -> bool {
        self.knows_less_than(unfolding)
            || self.undefined.is_none() && unfolding.program.may_be_undefined()
    }

    /// Forgets what was reported of single executions, where not all of them were looked at.
    pub fn clear_reports(&mut self) {
        self.races.clear();
        self.warnings.clear();
        self.flags.clear();
        self.exited.clear();
    }

    /// Adds where threads stay in one more execution that never finishes.
    pub(crate) fn join_stuck(&mut self, more: Vec<Stuck>) {
        let threads = threads_of(&more);
        join_stuck(self.stuck.get_or_insert_default(), more);
        if !self.knows_together(&threads) {
            self.stuck_together.retain(|known| !known.is_subset(&threads));
            self.stuck_together.insert(threads);
        }
    }

    /// Whether all that was seen is a loop that is repeated for ever: no bound is enough for it.
    pub fn is_endless(&self) -> bool {
        self.stuck.is_some() && !self.finishes
    }

    /// Whether a thread stays where none was seen to stay, or threads stay together that were not seen to.
    fn knows_less_than(&self, unfolding: &Unfolding<'_>) -> bool {
        let stuck = unfolding.stuck();
        let known =
            |stuck: &Stuck| self.stuck.iter().flatten().any(|of| of.place() == stuck.place());
        !stuck.iter().all(known) || !self.knows_together(&threads_of(&stuck))
    }

    /// Whether these threads are known to stay together, or no more of them are wanted.
    fn knows_together(&self, threads: &BTreeSet<ThreadId>) -> bool {
        self.stuck_together.len() >= MOST_TOGETHER
            || self.stuck_together.iter().any(|known| threads.is_subset(known))
    }
}

/// The sets of threads that stay for ever together beyond which no more of them are sought.
pub const MOST_TOGETHER: usize = 64;

fn threads_of(stuck: &[Stuck]) -> BTreeSet<ThreadId> {
    stuck.iter().map(|stuck| stuck.thread).collect()
}

/// Adds where threads stay in one more execution to where they are known to stay.
pub fn join_stuck(known: &mut Vec<Stuck>, more: Vec<Stuck>) {
    known.extend(more);
    known.sort_unstable();
    // Of the objects at which a thread waits, the one with the least phase is reported.
    known.dedup_by_key(|stuck| stuck.place());
}

/// Receives each outcome that an engine finds, perhaps more than once, with the execution on
/// demand. Breaking stops the search.
pub type OutcomeVisitor<'v> = dyn FnMut(&[Value], &dyn Fn() -> Witness) -> ControlFlow<()> + 'v;

pub trait Engine: Sync {
    fn name(&self) -> &'static str;

    /// Why it cannot run on this computer, if it cannot.
    fn missing(&self) -> Option<&'static str> {
        None
    }

    /// Visits every outcome.
    fn outcomes(
        &self,
        model: &Model,
        program: &Program,
        limits: &Limits,
        seen: &mut ExecutionFacts,
        visit: &mut OutcomeVisitor<'_>,
    ) -> Result<(), Limit> {
        self.search(model, program, limits, Sought::Everything, seen, visit)
    }

    /// Visits the outcomes that are sought.
    fn search(
        &self,
        model: &Model,
        program: &Program,
        limits: &Limits,
        sought: Sought<'_>,
        seen: &mut ExecutionFacts,
        visit: &mut OutcomeVisitor<'_>,
    ) -> Result<(), Limit>;
}

/// Sets what the solver of all threads together may hold, once it is used; the engines' own accounts are of one
/// program each.
#[cfg_attr(not(feature = "smt"), expect(unused_variables, reason = "there is no solver"))]
pub fn limit_solver(bytes: usize) {
    #[cfg(feature = "smt")]
    smt::limit_memory(bytes);
}

/// The axiomatic engines that this build has.
pub const ENGINES: &[&dyn Engine] = &[
    &enumerate::Enumerate,
    #[cfg(feature = "smt")]
    &solve::Solve,
];
