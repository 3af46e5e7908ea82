//! Machine against axioms: each outcome of the machine has to be one that the axioms allow.

use std::collections::BTreeSet;

use litmus::sass::lower::Lowering;
use litmus::{Term, Test, proposition};
use model::machine::{Options, Refusal, Step};
use model::value::Value;

use super::{Explored, Limits, explore};
use crate::judge::{Judgement, Verdict};

/// What comparing the two says of one test on one machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Inclusion {
    /// How many of the allowed outcomes the machine has, of how many.
    Included { reached: usize, allowed: usize },
    /// Outcomes that no axiom allows, each with a run.
    Extra(Vec<(Vec<Value>, Vec<Step>)>),
    /// The test has no meaning: there is nothing to compare with.
    Undefined(String),
    /// The family has no instruction for a line of it, or the machine no room.
    Refused(Refusal),
    /// Not all was searched, and what was is included.
    Limited(String),
}

/// Values as far as a condition looks at them: registers have the width of what is written to them.
pub fn shown(test: &Test, outcome: &[Value]) -> Vec<Value> {
    let cut = |(index, value): (usize, &Value)| {
        proposition::truncate(*value, Term::Observed(index).bits(&test.program))
    };
    outcome.iter().enumerate().map(cut).collect()
}

/// Compares; `judged` is what the axioms say, without a filter's help.
pub fn compare(
    test: &Test,
    judged: &Judgement,
    lowering: Lowering<'_>,
    options: Options,
    limits: Limits,
) -> (Inclusion, Option<Explored>) {
    match &judged.verdict {
        Verdict::Undefined(reason) => return (Inclusion::Undefined(reason.clone()), None),
        Verdict::Unsupported(reason) | Verdict::Undecided(reason) => {
            return (Inclusion::Limited(reason.clone()), None);
        }
        Verdict::Holds | Verdict::Fails => {}
    }
    let explored = match explore(&test.program, lowering, options, limits) {
        Ok(explored) => explored,
        Err(refusal) => return (Inclusion::Refused(refusal), None),
    };
    let allowed: BTreeSet<Vec<Value>> =
        judged.found.outcomes.keys().map(|outcome| shown(test, outcome)).collect();
    let mut reached = BTreeSet::new();
    let mut extra = Vec::new();
    for (outcome, run) in &explored.outcomes {
        let short = shown(test, outcome);
        // A filter leaves outcomes out of the axioms' set, not of the machine's.
        let filtered = test.filter.as_ref().is_some_and(|f| !f.holds(&test.program, outcome));
        if allowed.contains(&short) {
            reached.insert(short);
        } else if !filtered {
            extra.push((outcome.clone(), run.clone()));
        }
    }
    if !extra.is_empty() && !limits.runs {
        // Runs are worth their while only now.
        let again = compare(test, judged, lowering, options, Limits { runs: true, ..limits });
        return again;
    }
    let inclusion = if !extra.is_empty() {
        Inclusion::Extra(extra)
    } else if let Some(limit) = explored.limit {
        Inclusion::Limited(limit.to_owned())
    } else {
        Inclusion::Included { reached: reached.len(), allowed: allowed.len() }
    };
    (inclusion, Some(explored))
}
