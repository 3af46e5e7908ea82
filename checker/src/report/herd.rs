//! herd7's text, so that mcompare7 and its kin read our logs.
//!
//! Differences of substance: an execution is one choice of rf and of the least co, so the counts of
//! witnesses are ours. The hash is made as herd makes it (digests of metadata, initial state, code
//! and observed locations; the quantifier is no part of it), over our normal form of PTX.

use std::io::{self, Write};

use litmus::{Quantifier, Test};
use md5::{Digest, Md5};
use model::program::Initial;
use text::diagnostic::escaped;

use super::{Report, Summary};
use crate::judge::Judgement;
use crate::suite::{Item, Outcome};

pub struct Herd;

impl Report for Herd {
    fn item(&mut self, item: &Item, out: &mut dyn Write) -> io::Result<()> {
        match &item.outcome {
            Outcome::Judged { test, judgement } => print(test, judgement, out),
            // herd7 warns of a test it cannot run, and its log has no entry.
            Outcome::Rejected(_) | Outcome::Unreadable(_) => Ok(()),
        }
    }

    fn end(&mut self, _: &Summary, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

fn print(test: &Test, judgement: &Judgement, out: &mut dyn Write) -> io::Result<()> {
    let kind = match test.quantifier {
        Quantifier::Exists => "Allowed",
        Quantifier::NotExists => "Forbidden",
        Quantifier::ForAll => "Required",
    };
    let name = escaped(&test.name);
    writeln!(out, "Test {name} {kind}")?;
    writeln!(out, "States {}", judgement.found.outcomes.len())?;
    let mut states: Vec<String> =
        judgement.found.outcomes.keys().map(|outcome| test.display_outcome(outcome)).collect();
    states.sort();
    for state in states {
        writeln!(out, "{}", state.trim_end())?;
    }
    let (positive, negative) = (judgement.positive, judgement.negative);
    let looped = if judgement.found.seen.bound_reached { "Loop " } else { "" };
    writeln!(out, "{looped}{}", validated(judgement.condition))?;
    let (satisfying, others) = match test.quantifier {
        Quantifier::Exists | Quantifier::ForAll => (positive, negative),
        Quantifier::NotExists => (negative, positive),
    };
    writeln!(out, "Witnesses\nPositive: {satisfying} Negative: {others}")?;
    if !judgement.found.seen.races.is_empty() {
        writeln!(out, "Flag data-race")?;
    }
    if let Some(reason) = judgement.verdict.reason() {
        writeln!(out, "Flag {}", reason.replace(char::is_whitespace, "-"))?;
    }
    writeln!(out, "Condition {}", test.condition_text)?;
    // Without one, what was counted says nothing of what was not seen.
    if let Some(observation) = judgement.observation {
        writeln!(out, "Observation {name} {} {positive} {negative}", observation.name())?;
    }
    writeln!(out, "Time {name} {:.2}", judgement.seconds)?;
    writeln!(out, "Hash={}\n", hash(test))
}

/// What a log says of a condition; nothing where nobody knows.
pub(crate) fn validated(condition: Option<bool>) -> &'static str {
    match condition {
        Some(true) => "Ok",
        Some(false) => "No",
        None => "Undef",
    }
}

/// Equal for two tests that differ in their name, their documentation or their quantifier only.
pub fn hash(test: &Test) -> String {
    use std::fmt::Write;

    let program = &test.program;
    let mut initial: Vec<String> = Vec::new();
    for variable in &program.variables {
        let alias = variable.alias.map_or(String::new(), |alias| {
            format!("@{} {}", alias.proxy, program.variables[usize::from(alias.of.0)].name)
        });
        initial.push(format!("{}{alias}={:?}", variable.name, variable.initial));
    }
    let mut code = String::new();
    for thread in &program.threads {
        writeln!(code, "{}@{}", thread.name, thread.placement)
            .expect("writing to a string succeeds");
        for register in &thread.registers {
            if let Initial::Value(0) = register.initial {
                continue;
            }
            initial.push(format!("{}:{}={:?}", thread.name, register.name, register.initial));
        }
        for line in &thread.lines {
            let words: Vec<&str> = line.text.split_whitespace().collect();
            code.push_str(&words.join(" "));
            code.push('\n');
        }
    }
    initial.sort();
    let mut observed: Vec<String> = program
        .observed
        .iter()
        .map(|&observed| litmus::proposition::name(program, observed))
        .collect();
    observed.sort();
    let digest = |text: &str| Md5::digest(text.as_bytes());
    let mut all = Md5::new();
    for part in [String::new(), initial.join("; "), code, observed.join(" ")] {
        all.update(digest(&part));
    }
    let mut hexadecimal = String::new();
    for byte in all.finalize() {
        write!(hexadecimal, "{byte:02x}").expect("writing to a string succeeds");
    }
    hexadecimal
}
