//! Runs one engine for the property of a task, then asks whether an execution goes beyond the loop bound, and what threads do first.

use engine::sought::Sought;
use engine::{Engine, ExecutionFacts, Limit, Limits, goes_beyond, search_beginnings};
use litmus::Test;
use model::program::Thread;
use model::rel::{FlagMeaning, Model};

use crate::found::{EngineResult, every_execution};
use crate::task::{Property, Task};
use crate::{directed, races, termination, uninitialised};

/// Runs one engine under a model and collects its outcomes.
pub fn run(test: &Test, task: &Task<'_>, engine: &dyn Engine, model: &Model) -> EngineResult {
    with_beginnings(test, task, model, engine.name(), &|| {
        run_within(test, task, engine, model, task.limits())
    })
}

/// The result of a search, with what threads do first: that is looked at before where there are loops, as all of their iterations may
/// take long, and after it where paths are cut.
pub(crate) fn with_beginnings(
    test: &Test,
    task: &Task<'_>,
    model: &Model,
    engine: &'static str,
    search: &dyn Fn() -> EngineResult,
) -> EngineResult {
    // Where outcomes are listed, they are those of an undefined program, too.
    let lists = task.property.is_of_outcomes() && !task.verdict_only;
    let first = !lists && test.program.threads.iter().any(Thread::loops);
    let mut begun = ExecutionFacts::default();
    if first {
        begun = beginnings(test, task, model);
        // A race counts where the program has a meaning.
        let counts = !directed::may_be_undefined(&test.program, model);
        if begun.undefined.is_some() || counts && !begun.races.is_empty() {
            begun.bound_reached = true;
            return EngineResult { engine, directed: true, seen: begun, ..EngineResult::default() };
        }
    }
    let mut found = search();
    let is_cut = found.limit.map_or(found.seen.bound_reached, Limit::is_of_paths);
    if is_cut && !first && found.seen.undefined.is_none() {
        begun = beginnings(test, task, model);
    }
    if begun.undefined.is_some() {
        found.seen.undefined = begun.undefined;
        found.outcomes.clear();
        found.limit = None;
    } else if found.seen.undefined.is_none() && found.seen.races.is_empty() {
        found.seen.races = begun.races;
    }
    found.seen.uninitialised.extend(begun.uninitialised);
    found
}

/// What the beginnings of executions show. It is so in each execution that goes on as they do.
fn beginnings(test: &Test, task: &Task<'_>, model: &Model) -> ExecutionFacts {
    let (program, limits) = (&test.program, task.limits());
    let begins = |model, sought| search_beginnings(model, program, &limits, sought);
    let mut seen = ExecutionFacts::default();
    if directed::may_be_undefined(program, model) {
        seen.undefined = begins(model, Sought::Undefined(&Vec::new)).undefined;
    }
    let asked = asked_model(task.property, model).filter(|_| seen.undefined.is_none());
    let Some(asked) = asked else { return seen };
    match task.property {
        Property::NoDataRace => {
            races::add_first(begins(&asked, Sought::Undefined(&Vec::new)), &mut seen);
        }
        Property::NoUninitialisedRead if uninitialised::may_have_uninitialised_reads(program) => {
            seen.uninitialised = begins(&asked, Sought::UninitialisedReads).uninitialised;
        }
        Property::NoUninitialisedRead | Property::ProgramSpec | Property::Termination => {}
    }
    seen
}

/// The same, within these limits.
pub(crate) fn run_within(
    test: &Test,
    task: &Task<'_>,
    engine: &dyn Engine,
    model: &Model,
    limits: Limits,
) -> EngineResult {
    let mut found = searched(test, task, engine, model, limits);
    let is_open = found.witness.is_none() || !found.directed;
    if found.seen.bound_reached && found.limit.is_none() && is_open {
        // The work limit of a turn is too small for this question.
        let limits = Limits { work: task.work, ..limits };
        let asked = asked_model(task.property, model);
        let model = asked.as_ref().unwrap_or(model);
        let beyond = goes_beyond(model, &test.program, &limits);
        found.seen.bound_reached = beyond != Some(false);
        found.beyond_is_open = beyond.is_none();
    }
    found
}

fn searched(
    test: &Test,
    task: &Task<'_>,
    engine: &dyn Engine,
    model: &Model,
    limits: Limits,
) -> EngineResult {
    match task.property {
        Property::ProgramSpec => {}
        Property::Termination => return termination::run(test, &limits, engine, model),
        Property::NoDataRace => return races::run(test, &limits, engine, model),
        Property::NoUninitialisedRead => return uninitialised::run(test, &limits, engine, model),
    }
    if task.verdict_only {
        return directed::run(test, limits, engine, model);
    }
    if task.counts {
        return every_execution(test, limits, engine, model);
    }
    // With few executions, looking at all of them is faster than searching each outcome once.
    let reports = model.flags.iter().any(|flag| flag.meaning == FlagMeaning::Report);
    let few = if reports { FEW_WITH_FLAGS } else { FEW };
    let work = Some(limits.work.map_or(few, |work| work.min(few)));
    let mut found = every_execution(test, Limits { work, ..limits }, engine, model);
    if found.limit == Some(Limit::Work) {
        return directed::outcomes(test, limits, engine, model);
    }
    found.seen.executions = None;
    found.outcomes.values_mut().for_each(|executions| *executions = 1);
    found
}

/// The work of a first search of every execution, where only outcomes are wanted.
const FEW: u64 = 1 << 10;

/// The same where a model reports pairs: executions with one outcome may differ in that.
const FEW_WITH_FLAGS: u64 = 1 << 20;

/// A model under which an execution without the property shows, where that is another one.
pub(crate) fn asked_model(property: Property, model: &Model) -> Option<Model> {
    match property {
        // A race is searched for as what leaves a program undefined.
        Property::NoDataRace => Some(races::racy(model)),
        Property::NoUninitialisedRead => Some(uninitialised::counting(model)),
        Property::ProgramSpec | Property::Termination => None,
    }
}
