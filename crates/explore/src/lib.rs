//! Searches the machine for all outcomes, with a run to each.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

pub mod random;
mod records;
mod search;

use std::collections::BTreeMap;
use std::time::Duration;

use engine::MEMORY;
use engine::budget::Budget;
use engine::clock::Deadline;
use engine::join_stuck;
use machine::{Machine, Options, Reduce, Refusal, Step, WIDER};
use model::isa::bar::BarrierMisuse;
use model::program::{Program, Stays, Stuck, Thread, ThreadId};
use model::value::Value;
use sass::lower::Lowering;

/// How much is looked at before giving up, and what is wanted besides outcomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExploreLimits {
    pub states: usize,
    /// In bytes.
    pub memory: usize,
    pub deadline: Option<Deadline>,
    /// For each outcome, the steps of a run.
    pub runs: bool,
    /// How many states can not reach an end (reading R68).
    pub progress: bool,
}

impl ExploreLimits {
    pub const fn states(states: usize) -> ExploreLimits {
        ExploreLimits { states, memory: MEMORY, deadline: None, runs: false, progress: false }
    }
}

impl ExploreLimits {
    /// With so much time of this thread from now on.
    #[must_use]
    pub fn within(self, timeout: Option<Duration>) -> ExploreLimits {
        ExploreLimits { deadline: timeout.map(Deadline::after), ..self }
    }

    fn budget(&self) -> Budget {
        let limits = engine::Limits {
            deadline: self.deadline,
            memory: self.memory,
            ..engine::Limits::unlimited(0)
        };
        Budget::new(&limits)
    }
}

/// What the machine can do with a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Exploration {
    /// Each outcome, with the steps of a run that has it if runs are wanted: as few choices as
    /// any, and what could as well have happened at once.
    pub outcomes: BTreeMap<Vec<Value>, Vec<Step>>,
    pub states: usize,
    pub transitions: usize,
    /// Bytes that the states take, with what it takes to find them.
    pub bytes: usize,
    /// States in which nothing can happen and some thread has not ended, apart from faults
    /// (reading R67).
    pub stuck: usize,
    /// States in which nothing can happen because a thread faults.
    pub faults: usize,
    /// Where the threads are in a run that never ends, if one is known.
    pub stuck_at: Option<Vec<Stuck>>,
    /// Where the threads are in a state with a fault, if there is one.
    pub fault_at: Option<Vec<Stuck>>,
    /// A use of a barrier without meaning, if some run comes to one: where, and what.
    pub misused: Option<((ThreadId, u16), BarrierMisuse)>,
    /// Whether an order of steps that was left out may come to one.
    pub may_be_misused: bool,
    /// States from which no end can be reached, if they were counted.
    pub endless: Option<usize>,
    /// Why not everything was looked at, if not.
    pub limit: Option<&'static str>,
}

impl Exploration {
    /// A state in which no thread can continue, and where each is.
    fn halt(&mut self, at: Vec<Stuck>) {
        let fault = at.iter().any(|stuck| stuck.why == Stays::Faults);
        let (count, first) = if fault {
            (&mut self.faults, &mut self.fault_at)
        } else {
            (&mut self.stuck, &mut self.stuck_at)
        };
        *count += 1;
        join_stuck(first.get_or_insert_default(), at);
    }

    /// Whether all was searched, and no run finishes.
    pub fn never_ends(&self) -> bool {
        self.limit.is_none() && self.outcomes.is_empty()
    }
}

/// Runs a program, and says where a run stays that never ends, if one does, and which order of arrivals has no
/// meaning: what shows only when more is looked at than outcomes take.
pub fn explore_in_full(
    program: &Program,
    lowering: Lowering<'_>,
    options: Options,
    limits: ExploreLimits,
) -> Result<Exploration, Refusal> {
    let mut explored = explore(program, lowering, options, limits)?;
    let connected = explored.endless.is_some();
    if explored.limit.is_none() && !connected && program.threads.iter().any(Thread::loops) {
        // It shows only when all states are connected. A limit of that search leaves it open.
        let again = ExploreLimits { progress: true, runs: false, ..limits };
        let again = explore(program, lowering, options, again)?;
        explored.stuck_at = again.stuck_at.or(explored.stuck_at);
    }
    if explored.may_be_misused && explored.limit.is_none() {
        let options = Options { reduce: Reduce::None, ..options };
        explored.misused = explore(program, lowering, options, limits)?.misused;
    }
    Ok(explored)
}

/// Runs a program, lowered by a table, in every way that the machine has.
pub fn explore(
    program: &Program,
    lowering: Lowering<'_>,
    options: Options,
    limits: ExploreLimits,
) -> Result<Exploration, Refusal> {
    let lowered = lowering.program(program)?;
    let explored = |wide: bool| {
        let mut machine = Machine::new(program, lowered.clone(), options, wide)?;
        Ok(search::search(&mut machine, program.threads.len(), limits))
    };
    match explored(false)? {
        Exploration { limit: Some(WIDER), .. } => explored(true),
        // Where the threads run for ever shows only when all states are connected.
        explored if explored.never_ends() && explored.stuck + explored.faults == 0 => {
            let again = ExploreLimits { progress: true, ..limits };
            if limits.progress { Ok(explored) } else { explore(program, lowering, options, again) }
        }
        explored => Ok(explored),
    }
}
