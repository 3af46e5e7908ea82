//! herd7's text, so that mcompare7 sets the machine beside a model or a log of litmus7.
//!
//! A state counts once, or as many times as random walks ended in it.

use std::io::{self, Write};

use litmus::{Quantifier, Test};
use text::diagnostic::escaped;

use super::{Item, Outcome, Report, Summary};
use crate::exit::Exit;
use crate::explore::one::Ran;
use crate::judge::Observation;
use crate::report::herd::{hash, validated};

pub(super) struct Herd;

impl Report for Herd {
    fn item(&mut self, item: &Item, out: &mut dyn Write) -> io::Result<()> {
        match &item.outcome {
            Outcome::Ran(test, machines) => machines
                .iter()
                .filter(|ran| ran.explored.is_some())
                .try_for_each(|ran| print(test, ran, machines.len() > 1, out)),
            // herd7 warns of a test it cannot run, and its log has no entry.
            Outcome::Rejected(_) | Outcome::Unreadable(_) => Ok(()),
        }
    }

    fn end(&mut self, _: &Summary, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

fn print(test: &Test, ran: &Ran, several: bool, out: &mut dyn Write) -> io::Result<()> {
    let kind = match test.quantifier {
        Quantifier::Exists => "Allowed",
        Quantifier::NotExists => "Forbidden",
        Quantifier::ForAll => "Required",
    };
    // A log has one entry for each name.
    let name = if several { format!("{}@sm_{}", test.name, ran.sm) } else { test.name.clone() };
    let name = escaped(&name);
    writeln!(out, "Test {name} {kind}")?;
    writeln!(out, "States {}", ran.outcomes.len())?;
    let (mut positive, mut negative) = (0, 0);
    let mut states: Vec<String> = Vec::new();
    for reached in &ran.outcomes {
        let count = reached.walks.unwrap_or(1);
        let satisfies = test.proposition.holds(&test.program, &reached.values);
        *if satisfies { &mut positive } else { &mut negative } += count;
        let state = test.display_outcome(&reached.values).trim_end().to_owned();
        states.push(match reached.walks {
            Some(walks) => format!("{walks:<8}{}>{state}", if satisfies { '*' } else { ':' }),
            None => state,
        });
    }
    states.sort();
    states.iter().try_for_each(|state| writeln!(out, "{state}"))?;
    let (word, reason) = ran.verdict(test);
    let all = ran.explored.as_ref().is_some_and(|explored| explored.limit.is_none());
    let has_meaning = all && !matches!(word, "undecided" | "undefined");
    let condition = has_meaning.then_some(match test.quantifier {
        Quantifier::Exists => positive > 0,
        Quantifier::NotExists => positive == 0,
        Quantifier::ForAll => negative == 0,
    });
    writeln!(out, "{}", validated(condition))?;
    let (satisfying, others) = match test.quantifier {
        Quantifier::Exists | Quantifier::ForAll => (positive, negative),
        Quantifier::NotExists => (negative, positive),
    };
    writeln!(out, "Witnesses\nPositive: {satisfying} Negative: {others}")?;
    if reason.is_some() {
        writeln!(out, "Flag {word}")?;
    }
    if ran.exit() == Exit::Undecided {
        writeln!(out, "Flag incomplete")?;
    }
    writeln!(out, "Condition {}", test.condition_text)?;
    // Of what is stuck, or was not searched to the end, no log says "never" or "always".
    if has_meaning && word != "stuck" {
        let observation = match (positive, negative) {
            (0, _) => Observation::Never,
            (_, 0) => Observation::Always,
            _ => Observation::Sometimes,
        };
        writeln!(out, "Observation {name} {} {positive} {negative}", observation.name())?;
    }
    writeln!(out, "Time {name} {:.2}", ran.seconds)?;
    writeln!(out, "Hash={}\n", hash(test))
}
