//! Whether every execution of a test finishes.
//!
//! One that never finishes is found among the structures of a program: threads wait at a barrier, or repeat for ever a loop
//! that changes nothing (readings R29, R50). Outcomes are not looked for, and condition and filter play no part. A loop that
//! changes something in each iteration has no last one here: it is cut at its bound, and whether it ends is not known.

use std::cell::Cell;
use std::ops::ControlFlow;

use engine::sought::{Demand, Sought};
use engine::{Engine, ExecutionFacts, Limits};
use litmus::Test;
use model::rel::Model;
use model::value::Value;

use crate::alike::{alike, close_stuck};
use crate::directed;
use crate::found::{EngineResult, untried_air};
use crate::verdict::{NO_EXECUTION, Verdict};

/// What a test expects that states nothing else.
pub(crate) const EXPECTED: &str = "expected that every execution finishes";

/// Runs one engine under a model for the executions that never finish, and for one that does.
pub(crate) fn run(
    test: &Test,
    limits: &Limits,
    engine: &dyn Engine,
    model: &Model,
) -> EngineResult {
    let mut found = EngineResult { directed: true, ..EngineResult::of(engine) };
    let early = directed::undefined_early(test, engine, model, limits, &mut found);
    if found.seen.undefined.is_some() {
        return found;
    }
    let finishes = Cell::new(false);
    let asked = |_: &[Option<Value>]| !finishes.get();
    let classes = alike(&test.program, &[]);
    let exchanged = || classes.clone();
    let sought = Sought::Outcomes(&asked, &exchanged, &Demand::NONE);
    let searched =
        engine.search(model, &test.program, limits, sought, &mut found.seen, &mut |_, _| {
            finishes.set(true);
            ControlFlow::Continue(())
        });
    if let Some(stuck) = &mut found.seen.stuck {
        close_stuck(&classes, stuck);
    }
    found.seen.clear_reports();
    let undefined = early.or_else(|_| directed::undefined(test, engine, model, limits, &mut found));
    let air = untried_air(&found.seen);
    found.limit = searched.and(undefined).and(air).err().or(found.seen.stuck_limit);
    found
}

/// One execution that never finishes decides, whatever was not looked at; otherwise all have to be known.
pub(crate) fn verdict(seen: &ExecutionFacts, unexplored: Option<String>) -> Verdict {
    match unexplored {
        _ if seen.stuck.is_some() => Verdict::Fails,
        Some(reason) => Verdict::Undecided(reason),
        None if !seen.finishes => Verdict::Undecided(NO_EXECUTION.to_owned()),
        None => Verdict::Holds,
    }
}
