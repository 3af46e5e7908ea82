//! Whether a read may return a value that nobody has given to memory, which a test declares with `=?`.
//!
//! For each read of such memory, an execution is looked for in which it reads what was there before all threads. Outcomes are
//! not looked for, and condition and filter play no part. Reading R117.

use std::ops::ControlFlow;

use engine::sought::Sought;
use engine::{Engine, ExecutionFacts, Limits, UninitialisedRead};
use litmus::Test;
use model::program::Program;
use model::rel::Model;

use crate::directed;
use crate::found::{EngineResult, untried_air};
use crate::verdict::Verdict;

/// What a test expects.
pub(crate) const EXPECTED: &str = "expected that no read returns what nobody has written";

/// Runs one engine under a model for every such read. A program that is undefined has no other answer.
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
    let mut searched = Ok(());
    if may_have_uninitialised_reads(&test.program) {
        let mut seen = ExecutionFacts::default();
        let visit = &mut |_: &[_], _: &dyn Fn() -> _| ControlFlow::Continue(());
        let sought = Sought::UninitialisedReads;
        searched = engine.search(&counting(model), &test.program, limits, sought, &mut seen, visit);
        found.seen.uninitialised = seen.uninitialised;
        found.seen.bound_reached |= seen.bound_reached;
        found.seen.thin_air = found.seen.thin_air.max(seen.thin_air);
        searched = searched.and(seen.stuck_limit.map_or(Ok(()), Err));
    }
    let undefined = early.or_else(|_| directed::undefined(test, engine, model, limits, &mut found));
    let air = untried_air(&found.seen);
    found.limit = searched.and(undefined).and(air).err();
    found
}

/// Whether a program has memory without a value.
pub fn may_have_uninitialised_reads(program: &Program) -> bool {
    program.variables.iter().any(|variable| variable.uninitialised)
}

/// A model under which each of these reads counts.
pub(crate) fn counting(model: &Model) -> Model {
    let mut counting = model.clone();
    counting.conventions.uninitialised_reads = true;
    counting
}

/// A read that may return what nobody has written, in words.
pub fn read_text(test: &Test, read: UninitialisedRead) -> String {
    let (thread, line) = read.at;
    let variable = &test.program.variables[usize::from(read.variable.0)].name;
    let of = &test.program.threads[usize::from(thread.0)];
    format!("{}: `{}` of `{variable}`", of.name, of.lines[usize::from(line)].text)
}

pub(crate) fn verdict(seen: &ExecutionFacts, unexplored: Option<String>) -> Verdict {
    match unexplored {
        _ if !seen.uninitialised.is_empty() => Verdict::Fails,
        Some(reason) => Verdict::Undecided(reason),
        None => Verdict::Holds,
    }
}
