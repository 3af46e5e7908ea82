//! Compares the machine with the axioms, which must allow each of its outcomes.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

pub mod one;

use std::collections::BTreeSet;

use judge::{Judgement, Verdict, stuck};
use litmus::Test;
use machine::{Options, Refusal, Step};
use model::value::Value;
use sass::lower::Lowering;

use explore::{Exploration, ExploreLimits, explore};

/// The result of the comparison for one test on one machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Inclusion {
    /// How many of the allowed outcomes the machine has, of how many.
    Included { reached: usize, allowed: usize },
    /// Outcomes that no axiom allows, each with a run.
    Extra(Vec<(Vec<Value>, Vec<Step>)>),
    /// The test has no meaning: there is nothing to compare with.
    Undefined(String),
    /// The axioms do not cover it.
    Unsupported(String),
    /// The family has no instruction for a line of it, or the machine no room.
    Refused(Refusal),
    /// The machine has no outcome, which nothing can be compared with: why, and whether the test says
    /// that it is stuck.
    Stuck { reason: String, expected: bool },
    /// Not all was searched, and what was is included.
    Limited(String),
}

/// The answer where there is nothing to compare with.
pub(crate) fn closed(judged: &Judgement) -> Option<Inclusion> {
    match &judged.verdict {
        Verdict::Undefined(reason) => Some(Inclusion::Undefined(reason.clone())),
        Verdict::Unsupported(reason) => Some(Inclusion::Unsupported(reason.clone())),
        Verdict::Undecided(_) | Verdict::Holds | Verdict::Fails | Verdict::Stuck(_) => None,
    }
}

/// What the axioms allow, as far as they were followed.
pub(crate) fn allowed(test: &Test, judged: &Judgement) -> BTreeSet<Vec<Value>> {
    judged.found.outcomes.keys().map(|outcome| test.narrowed(outcome)).collect()
}

/// Runs, and compares; `judged` is what the axioms say, without a filter's help.
pub fn compare(
    test: &Test,
    judged: &Judgement,
    lowering: Lowering<'_>,
    options: Options,
    limits: ExploreLimits,
) -> (Inclusion, Option<Exploration>) {
    if let Some(closed) = closed(judged) {
        return (closed, None);
    }
    let explored = match explore(&test.program, lowering, options, limits) {
        Ok(explored) => explored,
        Err(refusal) => return (refused(refusal), None),
    };
    let inclusion = included(test, judged, &explored);
    if matches!(inclusion, Inclusion::Extra(_)) && !limits.runs {
        // Runs are worth their while only now.
        return compare(test, judged, lowering, options, ExploreLimits { runs: true, ..limits });
    }
    (inclusion, Some(explored))
}

/// That a family lacks an instruction is a fact of it; that the machine lacks room is ours.
pub(crate) fn refused(refusal: Refusal) -> Inclusion {
    match refusal {
        Refusal::Lowering { .. } | Refusal::Program(_) => Inclusion::Refused(refusal),
        Refusal::TooLarge(what) => Inclusion::Limited(format!("too many {what}")),
    }
}

/// Why the machine has no outcome; with those that the axioms allow, if they were searched for.
pub(crate) fn never_ends(
    test: &Test,
    explored: &Exploration,
    allowed: &BTreeSet<Vec<Value>>,
) -> String {
    match (&explored.fault_at, &explored.stuck_at) {
        (Some(at), _) => stuck::fault(test, at),
        (None, Some(at)) if !allowed.is_empty() => stuck::never_runs(test, at),
        (None, at) => stuck::never(test, at.as_deref().unwrap_or_default()),
    }
}

/// Compares what the machine has with what the axioms allow, of a program with a meaning.
pub(crate) fn included(test: &Test, judged: &Judgement, explored: &Exploration) -> Inclusion {
    let allowed = allowed(test, judged);
    let mut reached = BTreeSet::new();
    let mut extra = Vec::new();
    for (outcome, run) in &explored.outcomes {
        let short = test.narrowed(outcome);
        // A filter leaves outcomes out of the axioms' set, not of the machine's.
        let filtered = test.filter.as_ref().is_some_and(|f| !f.holds(&test.program, outcome));
        if allowed.contains(&short) {
            reached.insert(short);
        } else if !filtered {
            extra.push((outcome.clone(), run.clone()));
        }
    }
    // An outcome that was not found is forbidden only if all was looked at.
    let incomplete = match (judged.found.limit, judged.found.seen.bound_reached) {
        (Some(limit), _) => Some(limit.text()),
        (None, true) => Some("a loop was cut at its bound"),
        (None, false) => None,
    };
    match (extra.is_empty(), incomplete, explored.limit) {
        (false, None, _) => Inclusion::Extra(extra),
        (false, Some(why), _) => Inclusion::Limited(format!("the axioms: {why}")),
        (true, _, Some(why)) => Inclusion::Limited(why.to_owned()),
        (true, _, None) if explored.never_ends() => Inclusion::Stuck {
            reason: never_ends(test, explored, &allowed),
            expected: test.meta("Stuck").is_some() || test.meta("Hang") == Some("yes"),
        },
        (true, _, None) => Inclusion::Included { reached: reached.len(), allowed: allowed.len() },
    }
}
