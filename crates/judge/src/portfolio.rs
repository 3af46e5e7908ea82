//! One engine after another, until one comes to an end.
//!
//! No engine is the best for every test: the solver takes long for each outcome, the other for each candidate that it
//! has to try. So they take turns, each time with more work, and the first that ends decides. Work is counted, not timed, so the
//! result does not depend on the clock.

use engine::{Limit, Limits};
use litmus::Test;
use model::rel::Model;

use crate::found::EngineResult;
use crate::search::{run_within, with_beginnings};
use crate::task::{Property, Task};

/// One turn.
struct Turn {
    /// An index into the engines of the task.
    engine: usize,
    /// How much work it may do.
    work: Option<u64>,
}

const fn turn(engine: usize, work: Option<u64>) -> Turn {
    Turn { engine, work }
}

/// The first engine is done with most tests in the first turn, before the other is loaded.
const TURNS: [Turn; 7] = [
    turn(0, Some(1 << 14)),
    turn(1, Some(1 << 6)),
    turn(0, Some(1 << 17)),
    turn(1, Some(1 << 11)),
    turn(0, Some(1 << 22)),
    turn(1, None),
    turn(0, None),
];

/// The work of the first turn where only the verdict is wanted. A question is cheap to search, and one that the first
/// engine does not answer soon costs more than that in the other.
const FIRST: u64 = 1 << 16;

/// The result of the first engine that comes to an end; if none does, that of the first that gave up for good.
pub(crate) fn run(test: &Test, task: &Task<'_>, model: &Model) -> EngineResult {
    let engine = task.engines.first().map_or("", |engine| engine.name());
    with_beginnings(test, task, model, engine, &|| take_turns(test, task, model))
}

fn take_turns(test: &Test, task: &Task<'_>, model: &Model) -> EngineResult {
    let limits = task.limits();
    let mut open: Vec<bool> = vec![true; task.engines.len()];
    let mut given_up: Option<EngineResult> = None;
    for (number, turn) in TURNS.iter().enumerate() {
        let index = turn.engine;
        let narrow = task.verdict_only || !task.property.is_of_outcomes();
        let work = match (narrow, number) {
            (true, 0) => Some(FIRST),
            _ => turn.work,
        };
        let Some(engine) = task.engines.get(index).filter(|_| open[index]) else { continue };
        if index > 0 && engine.missing().is_some() {
            open[index] = false;
            continue;
        }
        // Where no other engine is left, this one has all the time.
        let alone = open.iter().filter(|open| **open).count() == 1;
        let limits = Limits { work: work.filter(|_| !alone), ..limits };
        let found = run_within(test, task, *engine, model, limits);
        let decides = match task.property {
            Property::ProgramSpec => found.witness.is_some() && found.directed,
            Property::Termination => found.seen.stuck.is_some(),
            Property::NoDataRace => !found.seen.races.is_empty(),
            Property::NoUninitialisedRead => !found.seen.uninitialised.is_empty(),
        };
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
