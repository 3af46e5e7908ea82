//! Whole functions: LLVM IR with its PTX, and PTX with its listing.
//!
//! A function is its own frame; a function that others may call has another frame around it. Both sides
//! become the first thread of a program, with their branches (reading R92), and run in the same contexts of
//! [`partner`]s. A side that cannot be read refuses only its own function (reading R95).

mod approximate;
pub mod ask;
mod attack;
pub mod bind;
pub mod decisions;
mod extra_stores;
pub mod fault;
mod first_setup;
mod follows;
mod further_inputs;
mod inputs;
pub mod judge;
mod lanes;
mod mapped;
mod met;
mod names;
mod neighbour;
mod notes;
mod other_data;
mod overlap;
pub mod partner;
mod parts;
mod progress;
mod repair;
mod run;
pub mod scan;
mod subword;
mod together;
mod undefined;
mod weaken;

use std::collections::BTreeMap;
use std::path::PathBuf;

use lift::function::{Function, Functions, Refusals};

pub use self::attack::{Attack, Attacked};
use self::fault::FaultLines;
use crate::refiner::Refiner;
use crate::verdict::{Finding, RefusedPart, Verdict};

/// A function of the source and its lowering.
pub struct FunctionPair {
    pub name: String,
    /// The litmus test from which the function was made, if any.
    pub test: Option<PathBuf>,
    pub source: Option<Result<Function, Refusals>>,
    pub target: Option<Result<Function, Refusals>>,
    /// What is known already, in place of a judgement.
    pub found: Option<Finding>,
}

/// The result for a pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PairReport {
    pub name: String,
    /// The litmus test from which the function was made, if any.
    pub test: Option<PathBuf>,
    /// The lines of the instruction at fault, as far as they are known, or of what cannot be read; otherwise the
    /// first lines of the function.
    pub source_line: Option<usize>,
    pub target_line: Option<usize>,
    /// Whether the finding is about the line in the target: the instruction at fault, what cannot be read, or a function
    /// that the source does not have.
    pub about_target: bool,
    pub finding: Finding,
}

/// Pairs the functions of two files by name, in the order of the source.
pub fn paired(source: Functions, target: Functions) -> Vec<FunctionPair> {
    let mut theirs: BTreeMap<String, Result<Function, Refusals>> = BTreeMap::new();
    let mut order = Vec::new();
    for (name, function) in target {
        order.push(name.clone());
        theirs.insert(name, function);
    }
    let mut all: Vec<FunctionPair> = source
        .into_iter()
        .map(|(name, function)| {
            let target = theirs.remove(&name);
            FunctionPair { name, test: None, source: Some(function), target, found: None }
        })
        .collect();
    all.extend(order.into_iter().filter_map(|name| {
        let target = theirs.remove(&name)?;
        Some(FunctionPair { name, test: None, source: None, target: Some(target), found: None })
    }));
    all
}

/// The reason of a function that is not judged because the others took all of the time.
const NOT_REACHED: &str = "not judged: the run's time is used up";

/// Judges one pair.
pub fn judge(pair: &FunctionPair, refiner: Refiner<'_>) -> PairReport {
    let absent = |side: &str| {
        let why = format!("the {side} has no function of this name");
        (Finding::new(Verdict::Unsupported, why), FaultLines::default())
    };
    let nowhere = FaultLines::default();
    let line = |side: &Option<Result<Function, Refusals>>| {
        side.as_ref().map(|side| match side {
            Ok(function) => function.line,
            Err(refused) => refused.first().line,
        })
    };
    let (finding, at) = match (&pair.found, &pair.source, &pair.target) {
        (Some(found), ..) => (found.clone(), nowhere),
        (None, None, _) => absent("source"),
        (None, _, None) => absent("target"),
        (None, Some(Err(_)), _) | (None, _, Some(Err(_))) => (refused(pair), nowhere),
        (None, Some(Ok(_)), Some(Ok(_))) if refiner.is_over() => {
            (Finding::new(Verdict::Undecided, NOT_REACHED), nowhere)
        }
        (None, Some(Ok(source)), Some(Ok(target))) => {
            let sides = (parts::in_parts(source, target), parts::in_parts(target, source));
            undefined::judge(&sides.0, &sides.1, refiner)
        }
    };
    PairReport {
        name: pair.name.clone(),
        test: pair.test.clone(),
        source_line: at.source.or(line(&pair.source)),
        target_line: at.target.or(line(&pair.target)),
        about_target: at.target.is_some()
            || pair.source.is_none()
            || matches!((&pair.source, &pair.target), (Some(Ok(_)), Some(Err(_)))),
        finding,
    }
}

/// Whether each path of the target makes the accesses of its source, or of the source's published mapping: then no
/// context refutes it (reading R106).
pub fn follows(pair: &FunctionPair, refiner: Refiner<'_>) -> bool {
    let (Some(Ok(source)), Some(Ok(target))) = (&pair.source, &pair.target) else { return false };
    let (source, target) = (parts::in_parts(source, target), parts::in_parts(target, source));
    judge::follows_in_all(&source, &target, refiner)
}

/// Judges a pair in random contexts; `None` if a side cannot be read.
pub fn attack(
    pair: &FunctionPair,
    refiner: Refiner<'_>,
    how: Attack<'_>,
) -> Option<Result<Attacked, Box<Finding>>> {
    let (Some(Ok(source)), Some(Ok(target))) = (&pair.source, &pair.target) else { return None };
    let (source, target) = (parts::in_parts(source, target), parts::in_parts(target, source));
    Some(attack::attack(&source, &target, refiner, how))
}

/// The finding for sides of which at least one cannot be read.
fn refused(pair: &FunctionPair) -> Finding {
    let sides = [("source", &pair.source), ("target", &pair.target)];
    let parts = sides.into_iter().flat_map(|(side, function)| {
        let refusals = function.as_ref().and_then(|function| function.as_ref().err());
        let all = refusals.map_or(&[][..], Refusals::all).iter();
        all.map(move |one| RefusedPart {
            side: side.to_owned(),
            line: one.line,
            why: one.why.clone(),
        })
    });
    let refused: Vec<RefusedPart> = parts.collect();
    let why = refused.first().map_or(String::new(), |first| {
        format!("line {} of the {}: {}", first.line, first.side, first.why)
    });
    Finding { refused, ..Finding::new(Verdict::Unsupported, why) }
}
