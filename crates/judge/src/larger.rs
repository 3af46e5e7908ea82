//! Whether a larger loop bound decides a test that is undecided.

use engine::clock::Deadline;
use litmus::Test;

use crate::decide::decide;
use crate::judgement::{Judgement, LargerBound};
use crate::task::Task;
use crate::verdict::Verdict;

/// How many larger bounds are tried.
const TRIED: u32 = 3;

/// The work of each of them.
const MOST_WORK: u64 = 1 << 14;

/// Tries larger bounds where a test is undecided for its bound alone, and not for a loop that is repeated for ever.
pub fn larger_bound(test: &Test, task: &Task<'_>, judgement: &Judgement) -> Option<LargerBound> {
    let seen = &judgement.found.seen;
    let undecided = matches!(judgement.verdict, Verdict::Undecided(_));
    if !undecided || !seen.bound_reached || seen.is_endless() {
        return None;
    }
    // The time is that of the test, not of each bound.
    let spent = std::time::Duration::from_secs_f64(judgement.seconds);
    let left = task.timeout.map(|timeout| Deadline::after(timeout.saturating_sub(spent)));
    let until = left.map_or(task.until, |left| Some(left.or(task.until)));
    let work = task.work.map_or(MOST_WORK, |work| work.min(MOST_WORK));
    let last = task.bound.saturating_add(TRIED);
    for bound in task.bound.saturating_add(1)..=last {
        let engines = task.engines.iter().take(1).copied().collect();
        let larger = Task {
            engines,
            bound,
            work: Some(work),
            until,
            portfolio: false,
            verdict_only: true,
            ..task.clone()
        };
        let found = decide(test, &larger);
        if !matches!(found.verdict, Verdict::Undecided(_)) {
            return Some(LargerBound::Decides(bound));
        }
        if found.found.limit.is_some() || found.found.beyond_is_open {
            return Some(LargerBound::Unknown);
        }
    }
    Some(LargerBound::Leaves(last))
}
