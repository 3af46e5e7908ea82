//! Whether a test has a data race, which leaves a program of PTX defined (`data-race` in the model).
//!
//! An execution with one is looked for as one that makes a program undefined is. Outcomes are not looked for, and condition
//! and filter play no part.

use litmus::Test;
use model::rel::{FlagMeaning, Model};

use crate::judge::{EngineResult, Verdict};
use crate::termination::any_air;
use crate::{Engine, ExecutionFacts, Limits, Race, directed};

/// What a test expects.
pub(crate) const EXPECTED: &str = "expected that there is no data race";

/// The reason for which a race makes a program of C++ undefined.
const DATA_RACE: &str = "data-race";

/// Runs one engine under a model for an execution with a data race. A program that is undefined has no other answer.
pub(crate) fn run(
    test: &Test,
    limits: &Limits,
    engine: &dyn Engine,
    model: &Model,
) -> EngineResult {
    let mut found =
        EngineResult { engine: engine.name(), directed: true, ..EngineResult::default() };
    let defined = directed::undefined(test, engine, model, limits, &mut found);
    if found.seen.undefined.is_some() {
        return found;
    }
    let racy = racy(model);
    let searched = directed::undefined(test, engine, &racy, limits, &mut found);
    let undefined = found.seen.undefined.take();
    if let Some([first, second]) = undefined.as_ref().map(|of| &of.where_[..]) {
        let (first, second) = (*first.min(second), *first.max(second));
        found.seen.races.insert(Race { first, second });
    }
    let aired = any_air(&found.seen);
    found.limit = defined.and(searched).and(aired).err();
    found
}

/// A model under which a data race makes a program undefined.
pub(crate) fn racy(model: &Model) -> Model {
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
