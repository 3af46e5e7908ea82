//! Whether an execution goes beyond the loop bound.

use std::ops::ControlFlow;

use execution::air::Air;
use execution::event::{EventKind, PathEvent};
use execution::unfold::{Unfolded, Unfolding};
use execution::values::Source;
use model::bits::BitRow;
use model::program::Program;
use model::rel::Model;

use super::EnumerationJob;
use crate::budget::Budget;
use crate::sought::Sought;
use crate::{ExecutionFacts, Limit, Limits, plan, structures};

/// The work of [`goes_beyond`] for one bound.
const MOST_BEYOND: u64 = 1 << 21;

/// The most smaller bounds that are tried, and the most searches that reach a limit.
const MOST_SMALLER: usize = 8;
const MOST_OPEN: usize = 3;

/// Whether an execution may go beyond the loop bound: no if none that was cut there is consistent, whatever comes after. `None`
/// if a limit was reached before that was known.
pub fn goes_beyond(model: &Model, program: &Program, limits: &Limits) -> Option<bool> {
    // A read may be torn between more writes than are added, if no axiom forbids it.
    let torn = model.conventions.tearing && model.axiom("Single-Copy-Atomicity").is_none();
    if !model.is_closed() || torn {
        return Some(true);
    }
    let work = Some(limits.work.map_or(MOST_BEYOND, |work| work.min(MOST_BEYOND)));
    // What does not go beyond a smaller bound does not go beyond this one, and has fewer paths. They are tried in order, so
    // that what is known with a bound is known with a larger one.
    let smaller = (1..limits.bound).take(MOST_SMALLER);
    let mut open = 0;
    for bound in smaller.chain([limits.bound]) {
        match goes_beyond_bound(model, program, &Limits { bound, work, ..*limits }) {
            Ok(false) => return Some(false),
            Ok(true) => {}
            Err(_) => open += 1,
        }
        if open == MOST_OPEN {
            break;
        }
    }
    (open == 0).then_some(true)
}

/// The smallest loop bound from that of the limits up to `most` beyond which no paths of the threads go together. It takes no search, and
/// there may be a smaller one.
pub fn complete_bound(model: &Model, program: &Program, limits: &Limits, most: u32) -> Option<u32> {
    if !model.is_closed() {
        return None;
    }
    let ends = |held| limits.of_unfolding(held);
    (limits.bound..=most).find(|&bound| {
        let conventions = model.conventions;
        Unfolded::within(program, conventions, bound, &ends).is_ok_and(|unfolded| {
            let beyond = || unfolded.visit_beyond(conventions, &mut |_| false);
            !unfolded.bound_reached() || beyond() == Ok(Some(true))
        })
    })
}

fn goes_beyond_bound(model: &Model, program: &Program, limits: &Limits) -> Result<bool, Limit> {
    let ends = |held| limits.of_unfolding(held);
    let unfolded = Unfolded::within(program, model.conventions, limits.bound, &ends)?;
    let air = Air::of(program, model.conventions);
    let mut seen = ExecutionFacts::default();
    let mut job = EnumerationJob {
        model,
        grows: plan::grows_with_choice(model),
        sought: Sought::Everything,
        unending: true,
        beyond: true,
        budget: Budget::new(limits),
        air: &air,
        seen: &mut seen,
        visit: &mut |_, _| ControlFlow::Continue(()),
    };
    Ok(structures::each_beyond(&unfolded, model.conventions, &mut job)? != Some(true))
}

/// The writes after the bound. An execution in which nobody reads one is looked at without it.
pub(super) struct LaterWrites<R> {
    writes: R,
    /// For each depth of the search, how many of them the choices from there on may read.
    read: Vec<usize>,
}

impl<R: BitRow> LaterWrites<R> {
    /// `order` are the slots that have several `options`, as they are decided.
    pub(super) fn new(u: &Unfolding<'_>, options: &[Vec<R>], order: &[usize]) -> LaterWrites<R> {
        let mut writes = R::default();
        for (event, of) in u.events.iter().enumerate() {
            let later = |of: &PathEvent| of.kind == EventKind::Write && of.value.is_none();
            if of.of.is_some_and(later) {
                writes.insert(event);
            }
        }
        let mut read = vec![0; order.len() + 1];
        for (depth, &slot) in order.iter().enumerate().rev() {
            let most = options[slot].iter().map(|option| option.and(writes).count()).max();
            read[depth] = read[depth + 1] + most.unwrap_or(0);
        }
        LaterWrites { writes, read }
    }

    /// Whether the choices from a depth on may read each of those that is not read so far.
    pub(super) fn may_be_read(&self, depth: usize, sources: &[Source<R>]) -> bool {
        let mut unread = self.writes;
        for source in sources {
            unread = unread.minus(source.writes);
        }
        unread.count() <= self.read[depth]
    }
}
