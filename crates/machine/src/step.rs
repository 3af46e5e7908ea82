//! The enabled steps of a state, and their execution.

use std::ops::ControlFlow;

use super::sleep::{SleepSet, StepFootprint};
use super::{Machine, State};

/// What happened. Threads, lines, SMs and cells by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Step {
    /// A thread issues the access of a line; a load that finds its line in L1 is done at once.
    Issue { thread: u8, line: u16, hit: bool },
    /// A thread begins a `MEMBAR`, or goes past a `CCTL.IVALL`.
    Fence { thread: u8, line: u16 },
    /// A thread arrives at a barrier whose arrivals are counted.
    Meet { thread: u8, line: u16 },
    /// A `MEMBAR` has what it waits for, or an acquire its value.
    Through { thread: u8, line: u16 },
    /// The oldest store of a store buffer reaches L1.
    Drain { thread: u8, cell: u8 },
    /// The oldest access of a queue performs at L2.
    Perform { thread: u8, cell: u8 },
    /// The oldest access of a queue goes to the link to where the memory is.
    Leave { thread: u8, cell: u8 },
    /// A load is answered by a store that waits in the link.
    Forward { thread: u8, cell: u8 },
    /// A load is answered by its GPU's copy of far memory.
    Copy { thread: u8, cell: u8 },
    /// The oldest access of a link reaches memory.
    Arrive { thread: u8, cell: u8 },
    /// A load of the read-only path reaches memory.
    ReadOnly { thread: u8, cell: u8 },
    /// A value arrives at its SM, and fills a line or not.
    Return { thread: u8, cell: u8, fills: bool },
    /// A wait for a phase of an mbarrier object returns.
    Test { thread: u8, line: u16, complete: bool },
    /// A bulk copy reads its source; by the number of the access in its thread's code.
    CopyReads { thread: u8, site: u8 },
    /// A copy writes its destination, and is complete.
    CopyWrites { thread: u8, site: u8 },
    /// An arrival after copies takes effect.
    Track { thread: u8, site: u8 },
}

impl Step {
    /// The same of another thread.
    #[must_use]
    pub fn by(mut self, of: impl Fn(u8) -> u8) -> Step {
        match &mut self {
            Step::Issue { thread, .. }
            | Step::Fence { thread, .. }
            | Step::Meet { thread, .. }
            | Step::Through { thread, .. }
            | Step::Drain { thread, .. }
            | Step::Perform { thread, .. }
            | Step::Leave { thread, .. }
            | Step::Forward { thread, .. }
            | Step::Copy { thread, .. }
            | Step::Arrive { thread, .. }
            | Step::ReadOnly { thread, .. }
            | Step::Return { thread, .. }
            | Step::Test { thread, .. }
            | Step::CopyReads { thread, .. }
            | Step::CopyWrites { thread, .. }
            | Step::Track { thread, .. } => *thread = of(*thread),
        }
        self
    }
}

/// One transition.
#[derive(Clone, Copy, Debug)]
pub struct Taken<'s> {
    /// The choice, and after it what could as well have happened at once.
    pub steps: &'s [Step],
    /// By thread of the new state: which one it was of the old state. Empty: each is itself.
    pub threads: &'s [u8],
    /// What need not be done next: see `Machine::awake`.
    pub asleep: u64,
}

/// Breaking leaves out what else may follow.
pub(super) type StepVisitor<'v> = &'v mut dyn FnMut(Taken<'_>, &State) -> ControlFlow<()>;

impl Machine<'_> {
    /// Hands each state that may follow to `visit`, with what happened.
    pub fn successors(&mut self, state: &State, visit: StepVisitor<'_>) {
        self.awake(state, 0, visit);
    }

    /// The same without what is asleep.
    pub fn awake(&mut self, state: &State, asleep: u64, visit: StepVisitor<'_>) {
        let mut order = SleepSet::new(asleep);
        self.asleep = 0;
        self.visited = ControlFlow::Continue(());
        if let Some(thread) = self.decided(state) {
            return self.issue(state, thread, visit);
        }
        if self.sleeps && asleep != 0 {
            for entry in self.shape.entries(state) {
                order.known[self.name(&entry)] = self.move_of(&entry);
            }
            for thread in 0..self.sm.len() {
                order.known[thread] = StepFootprint::of(self.sm[thread]);
            }
        }
        for thread in 0..self.sm.len() {
            let this = StepFootprint::of(self.sm[thread]);
            if self.wakes(&order, thread, this) {
                let before = self.emitted;
                self.issue(state, thread, visit);
                order.took(thread, this, self.emitted > before);
            }
        }
        if self.copies > 0 {
            for thread in 0..self.sm.len() {
                self.progress_copies(state, thread, visit);
            }
        }
        for index in 0..self.shape.count(state) {
            if self.sleeps {
                let entry = self.shape.entry(state, index);
                let (name, this) = (self.name(&entry), self.move_of(&entry));
                if self.wakes(&order, name, this) {
                    let before = self.emitted;
                    self.progress(state, index, visit);
                    order.took(name, this, self.emitted > before);
                }
            } else {
                self.progress(state, index, visit);
            }
        }
    }

    /// Lets everything happen that has no other way to go on, and hands the state on.
    pub(super) fn emit(&mut self, step: Step, mut state: State, visit: StepVisitor<'_>) {
        if self.visited.is_break() {
            self.steps.truncate(self.base);
            return self.spare.push(state);
        }
        let base = self.base;
        self.steps.insert(base, step);
        self.settle(&mut state);
        // A choice that is the only one to look at: what comes after it is one transition with it.
        if let Some(thread) = self.decided(&state) {
            self.base = self.steps.len();
            self.issue(&state, thread, visit);
            self.base = base;
        } else {
            let threads = self.arrange(&mut state);
            if self.shape.count(&state) > usize::from(u8::MAX) {
                self.tables.overflow = Some("more than 255 accesses on their way");
            }
            self.emitted += 1;
            let asleep = self.still_asleep(self.asleep);
            let taken = Taken { steps: &self.steps, threads: &threads, asleep };
            self.visited = visit(taken, &state);
        }
        self.steps.truncate(base);
        self.spare.push(state);
    }

    pub(super) fn bit(thread: usize) -> u16 {
        1 << thread
    }

    pub(super) fn small(number: usize) -> u8 {
        u8::try_from(number).expect("machines are small")
    }
}
