//! Why no execution has an outcome, regardless of the condition of the test.

use std::io::{self, Write};

use engine::Limits;
use litmus::proposition::{self, Comparand, Prop};
use litmus::{Quantifier, Test};
use model::isa::alu::Comparison;
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
    let atom = |(index, value): (usize, &Value)| {
        let term = Comparand::Observed(index);
        let value = proposition::truncate(*value, term.bits(&test.program));
        Prop::Atom(Comparison::Eq, term, Comparand::Constant(value))
    };
    let mut atoms: Vec<Prop> = outcome.iter().enumerate().map(atom).collect();
    let mut sought = test.clone();
    sought.quantifier = Quantifier::Exists;
    sought.proposition = match atoms.len() {
        0 => Prop::True,
        1 => atoms.swap_remove(0),
        _ => Prop::And(atoms),
    };
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
