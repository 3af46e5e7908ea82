//! Limits of time and memory of a search, checked only here.

use std::ops::ControlFlow;

use super::clock::Deadline;
use super::{Limit, Limits};
use crate::interrupt;

/// Steps between two looks at the clock: one may evaluate a whole model.
const STEPS: u32 = 16;

/// The budget of one search. Whoever builds something large says so, in bytes; whoever takes many
/// steps counts them. A limit that was reached stays reached.
#[derive(Clone, Debug)]
pub struct Budget {
    deadline: Option<Deadline>,
    memory: usize,
    held: usize,
    steps: u32,
    /// How many more steps there may be.
    left: Option<u64>,
    reached: Option<Limit>,
}

impl Default for Budget {
    /// Without limits.
    fn default() -> Budget {
        Budget { deadline: None, memory: usize::MAX, held: 0, steps: 0, left: None, reached: None }
    }
}

impl Budget {
    pub fn new(limits: &Limits) -> Budget {
        let Limits { deadline, memory, work, .. } = *limits;
        Budget { deadline, memory, left: work, ..Budget::default() }
    }

    /// So many bytes more are held; false when that is too much.
    pub fn hold(&mut self, bytes: usize) -> bool {
        self.held = self.held.saturating_add(bytes);
        if self.held > self.memory && self.reached.is_none() {
            self.reached = Some(Limit::Memory);
        }
        self.goes_on()
    }

    /// So many bytes are held no more.
    pub fn release(&mut self, bytes: usize) {
        self.held = self.held.saturating_sub(bytes);
    }

    /// One step; false when the time is over.
    pub fn step(&mut self) -> bool {
        if let Some(left) = &mut self.left {
            match left.checked_sub(1) {
                Some(less) => *left = less,
                None => self.reached = self.reached.or(Some(Limit::Work)),
            }
        }
        self.follow()
    }

    /// A step of what follows from work that was counted: it takes time, too.
    pub fn follow(&mut self) -> bool {
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(STEPS) {
            return self.look();
        }
        self.goes_on()
    }

    /// One step, after which this many bytes more are held.
    pub fn flow(&mut self, bytes: usize) -> ControlFlow<()> {
        if self.step() && self.hold(bytes) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }

    /// Looks at the clock, and whether the run was interrupted.
    pub fn look(&mut self) -> bool {
        if self.reached.is_none() {
            if interrupt::raised() {
                self.reached = Some(Limit::Interrupted);
            } else if self.deadline.is_some_and(|deadline| deadline.is_over()) {
                self.reached = Some(Limit::Time);
            }
        }
        self.goes_on()
    }

    pub fn held(&self) -> usize {
        self.held
    }

    pub fn goes_on(&self) -> bool {
        self.reached.is_none()
    }

    /// An error when a limit was reached.
    pub fn check(&self) -> Result<(), Limit> {
        self.reached.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_limit_stays_reached() {
        let mut budget = Budget::new(&Limits { memory: 100, ..Limits::unlimited(2) });
        assert!(budget.hold(100) && budget.step());
        assert!(!budget.hold(1));
        budget.release(101);
        assert_eq!(budget.check(), Err(Limit::Memory));
    }

    #[test]
    fn so_many_steps_are_taken() {
        let mut budget = Budget::new(&Limits { work: Some(3), ..Limits::unlimited(2) });
        assert!((0..3).all(|_| budget.step()) && !budget.step());
        assert_eq!(budget.check(), Err(Limit::Work));
    }

    #[test]
    fn the_clock_is_looked_at() {
        let limits =
            Limits { deadline: Some(Deadline::after(Duration::ZERO)), ..Limits::unlimited(2) };
        let mut budget = Budget::new(&limits);
        assert!((0..STEPS).any(|_| !budget.step()));
        assert_eq!(budget.check(), Err(Limit::Time));
    }
}
