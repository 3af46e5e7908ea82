//! Why no execution has an outcome, regardless of the condition of the test.

use std::io::{self, Write};

use engine::Limits;
use litmus::{Quantifier, Test};
use model::rel::Model;
use model::value::Value;

use super::candidate::{WantedCandidates, candidates};
use super::{ExplainOptions, Survey, allowed, show};

/// What each candidate that ends with these values breaks; for an outcome that no execution has.
pub fn refute(
    test: &Test,
    model: &Model,
    outcome: &[Value],
    limits: &Limits,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut sought = test.clone();
    sought.quantifier = Quantifier::Exists;
    sought.proposition = test.is_outcome(outcome);
    sought.condition_text = format!("exists ({})", sought.proposition.text(&test.program));
    let mut survey = Survey::new(model, ExplainOptions::default());
    let complete = match candidates(&sought, model, WantedCandidates::Outcome, limits, &mut survey)
    {
        Ok(complete) => complete,
        Err(limit) => {
            return writeln!(out, "The axiom that it breaks is not known: {}.", limit.text());
        }
    };
    let threads: Vec<String> = test.program.threads.iter().map(|t| t.name.clone()).collect();
    let what = show::proposition(&sought);
    match &survey.allowed {
        Some(account) => allowed(&sought, account, &threads, out),
        None => survey.tell_never(&sought, &what, complete, &threads, out),
    }
}
