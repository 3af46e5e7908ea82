//! Passes each structure of a program to an engine, with relations of the necessary width.

use execution::unfold::{Unfolded, Unfolding};
use model::bits::{BitRow, Wide};
use model::rel::Conventions;

use super::{ExecutionFacts, Limit, Limits};

/// Why a search ends early.
pub enum Stop {
    /// The visitor has what it wants.
    Asked,
    Limit(Limit),
}

impl From<Limit> for Stop {
    fn from(limit: Limit) -> Stop {
        Stop::Limit(limit)
    }
}

/// What is done with each structure; one function for each width of relation.
pub trait Structures {
    fn structure<R: BitRow>(&mut self, unfolding: &Unfolding<'_>) -> Result<(), Stop>;
}

/// Visits all structures, or those before `job` stops. Says whether all were visited.
pub fn each_structure(unfolded: &Unfolded<'_>, job: &mut impl Structures) -> Result<bool, Limit> {
    let mut limit = None;
    let complete = unfolded.visit(&mut |unfolding| one(unfolding, job, &mut limit))?;
    limit.map_or(Ok(complete), Err)
}

/// Visits those in which a thread repeats a loop for ever, or those before `job` stops. Says whether all were visited.
pub fn each_endless(unfolded: &Unfolded<'_>, job: &mut impl Structures) -> Result<bool, Limit> {
    let mut limit = None;
    let complete = unfolded.visit_spinning(&mut |unfolding| one(unfolding, job, &mut limit))?;
    limit.map_or(Ok(complete), Err)
}

/// Visits those that were cut at the loop bound, or those before `job` stops. Says whether all were visited; `None` if what
/// comes after the bound is not known.
pub fn each_beyond(
    unfolded: &Unfolded<'_>,
    conventions: Conventions,
    job: &mut impl Structures,
) -> Result<Option<bool>, Limit> {
    let mut limit = None;
    let visit = &mut |unfolding: &Unfolding<'_>| one(unfolding, job, &mut limit);
    let complete = unfolded.visit_beyond(conventions, visit)?;
    limit.map_or(Ok(complete), Err)
}

/// Visits those of the beginnings of some executions, or those before `job` stops.
pub fn each_beginning(unfolded: &Unfolded<'_>, job: &mut impl Structures) -> Result<(), Limit> {
    let mut limit = None;
    unfolded.visit_beginnings(&mut |unfolding| {
        let goes_on = one(unfolding, job, &mut limit);
        // Another beginning may have less of what this one has too much of.
        goes_on || limit.take_if(|limit| !limit.is_of_search()).is_some()
    })?;
    limit.map_or(Ok(()), Err)
}

/// A search for outcomes that also wants to know whether some execution never finishes.
pub trait OutcomeSearch: Structures {
    fn seen(&mut self) -> &mut ExecutionFacts;
}

/// Visits all structures, and, if the limits say so, those with loops that are never left; which of these it needs,
/// `job` knows.
pub fn search(
    unfolded: &Unfolded<'_>,
    limits: &Limits,
    job: &mut impl OutcomeSearch,
) -> Result<(), Limit> {
    if !each_structure(unfolded, job)? || !limits.unending {
        return Ok(());
    }
    let result = each_endless(unfolded, job).map(|_| ());
    let seen = job.seen();
    seen.stuck_is_known = result.is_ok() || seen.stuck.is_some();
    seen.stuck_limit = result.err();
    // The outcomes are complete; only whether some execution has none is left open. A turn that ends early is followed by another.
    if seen.finishes && result != Err(Limit::Work) { Ok(()) } else { result }
}

fn one(unfolding: &Unfolding<'_>, job: &mut impl Structures, limit: &mut Option<Limit>) -> bool {
    let result = match unfolding.events.len() {
        0..=64 => job.structure::<u64>(unfolding),
        65..=128 => job.structure::<u128>(unfolding),
        129..=256 => job.structure::<Wide<4>>(unfolding),
        257..=1024 => job.structure::<Wide<16>>(unfolding),
        _ => Err(Stop::Limit(Limit::Events)),
    };
    match result {
        Ok(()) => true,
        Err(Stop::Asked) => false,
        Err(Stop::Limit(reason)) => {
            *limit = Some(reason);
            false
        }
    }
}
