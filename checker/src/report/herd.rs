//! The text format of herd7, so that mcompare7 and related tools can read the logs.
//!
//! The content differs in one way: an execution is one choice of `rf` and of the least `co`, so the counts of
//! witnesses differ from herd7's. The hash is computed as herd7 does it: digests of metadata, initial state,
//! code and observed locations, without the quantifier, over the normal form of PTX of this program.

use std::io::{self, Write};

use judge::Observation;
use litmus::{Quantifier, Test};
use md5::{Digest, Md5};
use model::program::InitialValue;
use text::escape::escaped;

use super::{ReportWriter, Reportable};

pub(super) struct Herd;

/// The entry of one test in a log. herd7 prints a warning for a test that it cannot run, and no entry.
pub struct Entry<'a> {
    pub test: &'a Test,
    /// The name of the test; a log has one entry per name.
    pub name: String,
    /// The states, in no particular order.
    pub states: Vec<String>,
    /// Whether a loop was cut at the bound.
    pub looped: bool,
    /// The value of the quantified condition; `None` if it is unknown.
    pub condition: Option<bool>,
    /// The number of executions that satisfy the condition without its quantifier, and of those that do not.
    pub positive: u64,
    pub negative: u64,
    pub flags: Vec<String>,
    /// `None` if the counts do not cover every execution.
    pub observation: Option<Observation>,
    pub seconds: f64,
}

impl ReportWriter for Herd {
    fn one(&mut self, one: &dyn Reportable, out: &mut dyn Write) -> io::Result<()> {
        one.herd().map_or(Ok(()), |entry| entry.print(out))
    }
}

impl Entry<'_> {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let Entry { test, positive, negative, .. } = self;
        let kind = match test.quantifier {
            Quantifier::Exists => "Allowed",
            Quantifier::NotExists => "Forbidden",
            Quantifier::ForAll => "Required",
        };
        let name = escaped(&self.name);
        writeln!(out, "Test {name} {kind}")?;
        writeln!(out, "States {}", self.states.len())?;
        let mut states: Vec<&str> = self.states.iter().map(|state| state.trim_end()).collect();
        states.sort_unstable();
        states.iter().try_for_each(|state| writeln!(out, "{state}"))?;
        let looped = if self.looped { "Loop " } else { "" };
        let validated = match self.condition {
            Some(true) => "Ok",
            Some(false) => "No",
            None => "Undef",
        };
        writeln!(out, "{looped}{validated}")?;
        let (satisfying, others) = match test.quantifier {
            Quantifier::Exists | Quantifier::ForAll => (positive, negative),
            Quantifier::NotExists => (negative, positive),
        };
        writeln!(out, "Witnesses\nPositive: {satisfying} Negative: {others}")?;
        self.flags.iter().try_for_each(|flag| writeln!(out, "Flag {flag}"))?;
        writeln!(out, "Condition {}", test.condition_text)?;
        if let Some(observation) = self.observation {
            writeln!(out, "Observation {name} {} {positive} {negative}", observation.name())?;
        }
        writeln!(out, "Time {name} {:.2}", self.seconds)?;
        writeln!(out, "Hash={}\n", hash(test))
    }
}

/// The hash of a test. It ignores the name, the documentation and the quantifier.
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
            if let InitialValue::Value(0) = register.initial {
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
