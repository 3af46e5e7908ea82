//! One object for each test, a line each: `docs/json.md` describes it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use litmus::Test;
use model::program::Observed;
use model::value::Value;
use serde::Serialize;
use text::Diagnostic;

use super::text::race_text;
use super::{Report, Summary};
use crate::judge::{Judgement, Note, Observation, Verdict};
use crate::lines::{self, Schema};
use crate::resting::Resting;
use crate::suite::{Item, Outcome};

pub struct Json {
    pub model: String,
}

#[derive(Serialize)]
struct Object<'a> {
    file: String,
    name: Option<&'a str>,
    model: &'a str,
    quantifier: Option<&'a str>,
    condition: Option<&'a str>,
    verdict: &'a str,
    /// Whether the test expects what was found.
    expected: bool,
    observation: Option<&'a str>,
    positive: u64,
    negative: u64,
    outcomes: Vec<OneOutcome>,
    executions: Option<u64>,
    engine: Vec<&'a str>,
    seconds: f64,
    races: Vec<String>,
    /// The readings that the verdict rests on, and those that it may rest on.
    readings: Vec<&'static str>,
    readings_undecided: Vec<&'static str>,
    reason: Option<String>,
    /// The condition over the outcomes alone: `holds` or `fails`.
    condition_verdict: Option<&'static str>,
    notes: Vec<OneNote>,
    bound_reached: bool,
    errors: Vec<Error>,
}

#[derive(Serialize)]
pub(crate) struct OneNote {
    code: &'static str,
    text: String,
}

impl OneNote {
    pub(crate) fn all(notes: &[Note]) -> Vec<OneNote> {
        notes.iter().map(|note| OneNote { code: note.code, text: note.text.clone() }).collect()
    }
}

pub(crate) type ByName = BTreeMap<String, Value>;

#[derive(Serialize)]
struct OneOutcome {
    registers: ByName,
    memory: ByName,
    executions: Option<u64>,
    satisfies: bool,
}

/// What is wrong with a file.
#[derive(Serialize)]
pub(crate) struct Error {
    file: String,
    line: usize,
    column: usize,
    code: String,
    section: Option<String>,
    message: String,
    help: Option<String>,
}

impl Report for Json {
    fn item(&mut self, item: &Item, out: &mut dyn Write) -> io::Result<()> {
        let file = item.path.to_string_lossy().into_owned();
        let object = match &item.outcome {
            Outcome::Judged { test, judgement } => Self::judged(file, test, judgement),
            Outcome::Rejected(diagnostics) => {
                let errors = diagnostics.iter().map(|found| Error::new(&file, found)).collect();
                self.error(file, errors)
            }
            Outcome::Unreadable(error) => {
                let error = Error::unreadable(&file, error);
                self.error(file, vec![error])
            }
        };
        lines::write(Schema::Check, &object, out)
    }

    fn end(&mut self, _: &Summary, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

impl Error {
    pub(crate) fn new(file: &str, diagnostic: &Diagnostic) -> Error {
        Error {
            file: file.to_owned(),
            line: diagnostic.span.line,
            column: diagnostic.span.column,
            code: diagnostic.code.to_string(),
            section: diagnostic.section.map(|section| section.number.to_owned()),
            message: diagnostic.message.clone(),
            help: diagnostic.help.clone(),
        }
    }

    pub(crate) fn unreadable(file: &str, error: &io::Error) -> Error {
        Error {
            file: file.to_owned(),
            line: 0,
            column: 0,
            code: "unreadable".to_owned(),
            section: None,
            message: error.to_string(),
            help: None,
        }
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}

impl Json {
    fn error(&self, file: String, errors: Vec<Error>) -> Object<'_> {
        Object {
            file,
            name: None,
            model: &self.model,
            quantifier: None,
            condition: None,
            verdict: "error",
            expected: false,
            observation: None,
            positive: 0,
            negative: 0,
            outcomes: Vec::new(),
            executions: None,
            engine: Vec::new(),
            seconds: 0.0,
            races: Vec::new(),
            readings: Vec::new(),
            readings_undecided: Vec::new(),
            reason: errors.first().map(|error| error.message.clone()),
            condition_verdict: None,
            notes: Vec::new(),
            bound_reached: false,
            errors,
        }
    }

    fn judged<'a>(file: String, test: &'a Test, judgement: &'a Judgement) -> Object<'a> {
        let found = &judgement.found;
        let counted = found.seen.executions.is_some();
        let outcomes = found
            .outcomes
            .iter()
            .map(|(values, &executions)| one_outcome(test, values, counted.then_some(executions)))
            .collect();
        let reason = match (&judgement.disagreement, &judgement.verdict) {
            (Some(disagreement), _) => Some(disagreement.clone()),
            (None, Verdict::Holds | Verdict::Fails) => judgement.complaint.clone(),
            (None, verdict) => verdict.reason().map(str::to_owned),
        };
        Object {
            file,
            name: Some(&test.name),
            model: &judgement.model,
            quantifier: Some(test.quantifier.name()),
            condition: Some(&test.condition_text),
            verdict: judgement.verdict.name(),
            expected: judgement.complaint.is_none() && judgement.disagreement.is_none(),
            observation: judgement.observation.map(Observation::name),
            positive: judgement.positive,
            negative: judgement.negative,
            outcomes,
            executions: found.seen.executions,
            engine: judgement.engines.clone(),
            seconds: judgement.seconds,
            races: found.seen.races.iter().map(|&race| race_text(test, race)).collect(),
            readings: judgement.resting.as_ref().map_or(Vec::new(), Resting::names),
            readings_undecided: judgement.resting.as_ref().map_or(Vec::new(), Resting::open_names),
            reason,
            condition_verdict: judgement.condition.map(|c| if c { "holds" } else { "fails" }),
            notes: OneNote::all(&judgement.notes),
            bound_reached: found.seen.bound_reached,
            errors: Vec::new(),
        }
    }
}

fn one_outcome(test: &Test, values: &[Value], executions: Option<u64>) -> OneOutcome {
    let (registers, memory) = by_name(test, values);
    let satisfies = test.proposition.holds(&test.program, values);
    OneOutcome { registers, memory, executions, satisfies }
}

/// Registers and locations, each with its value.
pub(crate) fn by_name(test: &Test, values: &[Value]) -> (ByName, ByName) {
    let (mut registers, mut memory) = (ByName::new(), ByName::new());
    for (&observed, &value) in test.program.observed.iter().zip(values) {
        let name = litmus::proposition::name(&test.program, observed);
        match observed {
            Observed::Register { .. } => registers.insert(name, value),
            Observed::Memory { .. } => memory.insert(name, value),
        };
    }
    (registers, memory)
}
