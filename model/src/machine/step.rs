//! What may happen next, and what is done with it.

use super::{Machine, State};

/// What happened. Threads, lines, SMs and cells by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Step {
    /// A thread issues the access of a line; a load that finds its line in L1 is done at once.
    Issue { thread: u8, line: u16, hit: bool },
    /// A thread begins a `MEMBAR`, or goes past a `CCTL.IVALL`.
    Fence { thread: u8, line: u16 },
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
}

impl Step {
    /// The same of another thread.
    #[must_use]
    pub fn by(mut self, of: impl Fn(u8) -> u8) -> Step {
        match &mut self {
            Step::Issue { thread, .. }
            | Step::Fence { thread, .. }
            | Step::Through { thread, .. }
            | Step::Drain { thread, .. }
            | Step::Perform { thread, .. }
            | Step::Leave { thread, .. }
            | Step::Forward { thread, .. }
            | Step::Copy { thread, .. }
            | Step::Arrive { thread, .. }
            | Step::ReadOnly { thread, .. }
            | Step::Return { thread, .. } => *thread = of(*thread),
        }
        self
    }
}

/// One transition.
#[derive(Clone, Copy, Debug)]
pub struct Taken<'s> {
    /// The choice, and after it what could not be told from happening at once.
    pub steps: &'s [Step],
    /// By thread of the new state: which one it was of the old state. Empty: each is itself.
    pub threads: &'s [u8],
}

pub(super) type Visit<'v> = &'v mut dyn FnMut(Taken<'_>, &State);

impl Machine<'_> {
    /// Hands each state that may follow to `visit`, with what happened.
    pub fn successors(&mut self, state: &State, visit: Visit<'_>) {
        if let Some(thread) = self.decided(state) {
            return self.issue(state, thread, visit);
        }
        for thread in 0..self.sm.len() {
            self.issue(state, thread, visit);
        }
        let mut index = 0;
        while index < self.shape.count(state) {
            self.progress(state, index, visit);
            index += 1;
        }
    }

    /// Lets everything happen that has no other way to go on, and hands the state on.
    pub(super) fn emit(&mut self, step: Step, mut state: State, visit: Visit<'_>) {
        self.steps.insert(0, step);
        self.settle(&mut state);
        let threads = self.arrange(&mut state);
        if self.shape.count(&state) > usize::from(u8::MAX) {
            self.tables.overflow = Some("more than 255 accesses on their way");
        }
        visit(Taken { steps: &self.steps, threads: &threads }, &state);
        self.steps.clear();
        self.spare.push(state);
    }

    pub(super) fn bit(thread: usize) -> u16 {
        1 << thread
    }

    pub(super) fn small(number: usize) -> u8 {
        u8::try_from(number).expect("machines are small")
    }
}
