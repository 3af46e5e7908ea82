//! One engine after another, until one comes to an end.
//!
//! No engine is the best for every test: one takes as long as there are executions, the other as there are outcomes.
//! So they take turns, each time with more work, and the first that ends decides. Work is counted, not timed, so the
//! result does not depend on the clock.

use litmus::Test;
use model::rel::Model;

use crate::judge::{EngineResult, Task, run_within};
use crate::{Limit, Limits};

/// The engine of each turn, as an index into those of the task, and how much work it may do. The first is done with
/// most tests in the first turn, before the other is loaded.
const TURNS: [(usize, Option<u64>); 7] = [
    (0, Some(1 << 12)),
    (1, Some(1 << 6)),
    (0, Some(1 << 17)),
    (1, Some(1 << 11)),
    (0, Some(1 << 22)),
    (1, None),
    (0, None),
];

/// The work of the first turn where only the verdict is asked for. A question is cheap to search, and one that the first
/// engine does not answer soon costs more than that in the other.
const FIRST: u64 = 1 << 16;

/// The result of the first engine that comes to an end; if none does, that of the first that gave up for good.
pub(crate) fn run(test: &Test, task: &Task<'_>, model: &Model) -> EngineResult {
    let limits = task.limits();
    let mut open: Vec<bool> = vec![true; task.engines.len()];
    let mut given_up: Option<EngineResult> = None;
    for (turn, (index, work)) in TURNS.into_iter().enumerate() {
        let work = if turn == 0 && task.verdict_only { Some(FIRST) } else { work };
        let Some(engine) = task.engines.get(index).filter(|_| open[index]) else { continue };
        if index > 0 && engine.missing().is_some() {
            open[index] = false;
            continue;
        }
        let alone = open.iter().filter(|open| **open).count() == 1;
        let work = work.filter(|_| !alone);
        let found = run_within(test, task, *engine, model, Limits { work, ..limits });
        let decides = found.witness.is_some() && found.directed;
        match found.limit {
            None | Some(Limit::Time | Limit::Interrupted) => return found,
            // What was not looked at may make the program undefined.
            Some(Limit::Work) => {}
            Some(_) if decides => return found,
            Some(_) => {
                open[index] = false;
                given_up.get_or_insert(found);
            }
        }
    }
    given_up.unwrap_or_default()
}
