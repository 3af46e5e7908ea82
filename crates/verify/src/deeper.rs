//! Other loop bounds than the first one: larger ones, as long as that takes a small part of the time, and one iteration where a limit
//! is reached before anything is found.
//!
//! What an execution within some bound shows is so at every bound, and the smallest bound at which it shows has the fewest executions
//! to look at. So bounds are tried one after another, and not the largest at once.

use std::time::Duration;

use engine::complete_bound;
use judge::{Judgement, Task, Verdict, judge, parts};
use litmus::Test;
use model::program::Thread;

/// How many larger bounds are tried.
const MORE: u32 = 6;

/// The part of the time that the first bound has where there are loops.
const FIRST_SHARE: f64 = 0.75;

/// The part of it in which paths are listed, to find the first bound.
const LISTING_SHARE: f64 = 0.05;

/// How often the time of a bound fits in what is left before the next one is tried: that takes a multiple of it.
const TIMES: f64 = 8.0;

/// An answer, and the loop bound that it took: the first one, if none suffices.
pub(crate) struct DeepAnswer {
    pub(crate) judgement: Judgement,
    pub(crate) bound: u32,
}

/// Judges a test within the loop bound of the task, and within others where that leaves it undecided.
pub(crate) fn deeper(test: &Test, task: &Task<'_>) -> DeepAnswer {
    let loops = task.bound > 1 && test.program.threads.iter().any(Thread::loops);
    let share = if loops { FIRST_SHARE } else { 1.0 };
    let bound = if loops { complete(test, task) } else { task.bound };
    let timeout = task.timeout.map(|all| all.mul_f64(share));
    let judgement = judge(test, &Task { timeout, bound, ..task.clone() });
    let mut answer = DeepAnswer { judgement, bound };
    let mut left = task.timeout.map(|timeout| timeout.as_secs_f64());
    if loops && is_open(&answer.judgement) && answer.judgement.found.limit.is_some() {
        left = left.map(|left| left - answer.judgement.seconds);
        for bound in [task.bound, 1].into_iter().filter(|smaller| *smaller < bound) {
            let share = if bound == 1 { 1.0 } else { 0.5 };
            let timeout = left.map(|left| seconds(left * share));
            let judgement = judge(test, &Task { bound, timeout, ..task.clone() });
            if !is_open(&judgement) {
                return DeepAnswer { judgement, bound };
            }
            left = left.map(|left| left - judgement.seconds);
        }
        return answer;
    }
    for bound in bound.saturating_add(1)..=(task.bound.saturating_add(MORE)) {
        let spent = answer.judgement.seconds;
        left = left.map(|left| left - spent);
        let is_short = left.is_none_or(|left| spent * TIMES < left);
        if !is_cut(&answer.judgement) || !is_short {
            break;
        }
        let timeout = left.map(seconds);
        let judgement = judge(test, &Task { bound, timeout, ..task.clone() });
        // What a limit stopped says less, unless it shows something.
        if judgement.found.limit.is_some() && is_open(&judgement) {
            break;
        }
        answer = DeepAnswer { judgement, bound };
    }
    if is_cut(&answer.judgement) {
        answer.bound = task.bound;
    }
    answer
}

/// The first loop bound, or a larger one where no paths of threads that meet go beyond that one together.
fn complete(test: &Test, task: &Task<'_>) -> u32 {
    let timeout = task.timeout.map(|all| all.mul_f64(LISTING_SHARE));
    let limits = Task { timeout, ..task.clone() }.limits();
    let most = task.bound.saturating_add(MORE);
    let complete = |part: Test| complete_bound(task.model, &part.program, &limits, most);
    let bounds = parts(test, task).into_iter().map(complete);
    bounds.map(|bound| bound.unwrap_or(task.bound)).max().unwrap_or(task.bound)
}

fn seconds(of: f64) -> Duration {
    Duration::from_secs_f64(of.max(0.0))
}

/// Whether a loop bound alone leaves the question open.
fn is_cut(judgement: &Judgement) -> bool {
    let seen = &judgement.found.seen;
    is_open(judgement)
        && judgement.found.limit.is_none()
        && judgement.disagreement.is_none()
        && seen.bound_reached
        && !seen.is_endless()
}

/// Whether nothing was found, and something was not looked at.
fn is_open(judgement: &Judgement) -> bool {
    matches!(judgement.verdict, Verdict::Undecided(_)) && judgement.found.seen.races.is_empty()
}
