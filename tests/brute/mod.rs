//! A second, naive implementation of the memory model of asynchronous PTX.
//!
//! It is written from the documents alone and shares no code with the checker. One test is unfolded into paths, each
//! combination of paths into the histories of its barriers and mbarrier objects, and each history into all choices of
//! reads-from and coherence. The relations are boolean matrices that follow the definitions one by one.
//!
//! Sections with one number and a point, such as 1.3, are those of the definition of asynchronous operations; `base` names
//! the base model.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a rule names the kinds of events that it is about"
)]

mod events;
mod observe;
mod parse;
mod read;
mod relations;
mod run;
mod search;

use std::collections::BTreeSet;

/// What a test can do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// The values of the observed things, in the order of `observed`, one vector for each outcome.
    Outcomes(BTreeSet<Vec<u64>>),
    /// Some consistent execution breaks a rule; the reasons of all such executions, joined by commas.
    Undefined(String),
    /// The test has something that is outside the subset.
    Unsupported(String),
}

/// All outcomes of a litmus test.
pub(crate) fn outcomes(text: &str) -> Answer {
    let program = match parse::program(text) {
        Ok(program) => program,
        Err(why) => return Answer::Unsupported(why),
    };
    let mut findings = search::Findings::default();
    for paths in read::combinations(&program) {
        let unfolded = match events::Unfolded::new(&program, &paths) {
            Ok(unfolded) => unfolded,
            Err(why) => return Answer::Unsupported(why),
        };
        let reachable = search::Reachable::default();
        for history in run::histories(&program, &unfolded, None) {
            search::judge(&program, &unfolded, &history, &reachable, &mut findings);
        }
    }
    if findings.reasons.is_empty() {
        return Answer::Outcomes(findings.outcomes);
    }
    let reasons: Vec<&str> = findings.reasons.into_iter().collect();
    Answer::Undefined(reasons.join(","))
}

/// The names of the observed things, such as `0:r0` and `[s+4]`, in the order of the text.
pub(crate) fn observed(text: &str) -> Vec<String> {
    match parse::program(text) {
        Ok(program) => program.observed.iter().map(|(name, _)| name.clone()).collect(),
        Err(_) => Vec::new(),
    }
}
