//! Whether a test has a data race, which leaves a program of PTX defined (`data-race` in the model).
//!
//! An execution with one is looked for as one that makes a program undefined is. Outcomes are not looked for, and condition
//! and filter play no part.

use std::collections::BTreeSet;

use engine::outcome::DATA_RACE;
use engine::{ENGINES, Engine, ExecutionFacts, Limit, Limits, Race};
use litmus::Test;
use model::rel::{FlagMeaning, Model};

use crate::alike::ThreadExchanges;
use crate::directed;
use crate::found::{EngineResult, untried_air};
use crate::judgement::Judgement;
use crate::split::parts;
use crate::task::{Property, Task};
use crate::verdict::{Note, Verdict};

/// What a test expects.
pub(crate) const EXPECTED: &str = "expected that there is no data race";

/// Runs one engine under a model for an execution with a data race. A program that is undefined has no other answer.
pub(crate) fn run(
    test: &Test,
    limits: &Limits,
    engine: &dyn Engine,
    model: &Model,
) -> EngineResult {
    let mut found = EngineResult { directed: true, ..EngineResult::of(engine) };
    let defined = directed::undefined(test, engine, model, limits, &mut found);
    if found.seen.undefined.is_some() {
        return found;
    }
    let racy = racy(model);
    let searched = directed::undefined(test, engine, &racy, limits, &mut found);
    let first = take_race(&mut found.seen);
    found.seen.races.extend(first);
    let air = untried_air(&found.seen);
    found.limit = defined.and(searched).and(air).err();
    found
}

/// Lists the data races of a program that is defined.
pub(crate) fn add(test: &Test, task: &Task<'_>, judgement: &mut Judgement) {
    let seen = &mut judgement.found.seen;
    match judgement.verdict {
        Verdict::Unsupported(_) => return,
        Verdict::Undefined(_) => return seen.races.clear(),
        Verdict::Holds | Verdict::Fails | Verdict::Stuck(_) | Verdict::Undecided(_) => {}
    }
    let model = task.model_of(test);
    if task.verdict_only || model.flags.iter().all(|flag| flag.meaning != FlagMeaning::Race) {
        return;
    }
    let limits = Limits { deadline: task.until, ..task.limits() };
    let races = Task { property: Property::NoDataRace, ..task.clone() };
    // A race that an engine has seen is one, also where the list ends at a limit.
    for part in parts(test, &races) {
        seen.races_limit = seen.races_limit.or(list(&part, &limits, model, &mut seen.races));
    }
    ThreadExchanges::of(&test.program, &[]).close(&mut seen.races);
    if let Some(limit) = seen.races_limit {
        let remark = format!("not all data races are known: {}", limit.text());
        judgement.notes.push(Note { code: "races-not-listed", text: remark });
    }
}

/// Lists every race, up to a limit: of each consistent execution, and also those in iterations that are left out elsewhere. One engine
/// lists them, so the list is the same whatever the question, and whichever the engine.
fn list(test: &Test, limits: &Limits, model: &Model, races: &mut BTreeSet<Race>) -> Option<Limit> {
    let limits = Limits { work: Some(limits.work.map_or(WORK, |work| work.min(WORK))), ..*limits };
    let racy = racy(model);
    let exchanges = ThreadExchanges::of(&test.program, &[]);
    let mut found = EngineResult::default();
    let limit = loop {
        if let Err(limit) = directed::undefined(test, ENGINES[0], &racy, &limits, &mut found) {
            break Some(limit);
        }
        let Some(next) = take_race(&mut found.seen) else { break None };
        found.seen.races.insert(next);
        exchanges.close(&mut found.seen.races);
    };
    races.extend(found.seen.races);
    limit
}

/// Adds the race for which a program was seen to be undefined under [`racy`], if it was.
pub(crate) fn add_first(mut seen: ExecutionFacts, known: &mut ExecutionFacts) {
    known.races.extend(take_race(&mut seen));
}

/// The race for which a program is undefined under [`racy`], taken from what was found.
fn take_race(seen: &mut ExecutionFacts) -> Option<Race> {
    let undefined = seen.undefined.take()?;
    let [one, other] = undefined.where_[..] else { return None };
    Some(Race { first: one.min(other), second: one.max(other) })
}

/// The work for each race of a list.
const WORK: u64 = 1 << 18;

/// A model under which a data race makes a program undefined.
pub fn racy(model: &Model) -> Model {
    let mut racy = model.clone();
    racy.conventions.races = true;
    for flag in &mut racy.flags {
        if flag.meaning == FlagMeaning::Race {
            flag.meaning = FlagMeaning::Undefined(DATA_RACE);
        }
    }
    racy
}

pub(crate) fn verdict(seen: &ExecutionFacts, unexplored: Option<String>) -> Verdict {
    match unexplored {
        _ if !seen.races.is_empty() => Verdict::Fails,
        Some(reason) => Verdict::Undecided(reason),
        None => Verdict::Holds,
    }
}
