//! JSON objects, one per line, and the parts that several commands share. `docs/json.md` describes them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use litmus::Test;
use model::program::Observed;
use model::value::Value;
use schemars::JsonSchema;
use serde::Serialize;
use text::Diagnostic;

use super::finding::{UnreadInput, UnreadReason};
use super::{ReportWriter, Reportable, RunSummary};
use engine::judge::Note;

pub(super) struct Json;

impl ReportWriter for Json {
    fn has_errors(&self) -> bool {
        true
    }

    fn one(&mut self, one: &dyn Reportable, out: &mut dyn Write) -> io::Result<()> {
        one.json(out)
    }

    fn sum(&mut self, sum: &dyn RunSummary, out: &mut dyn Write) -> io::Result<()> {
        sum.json(out)
    }
}

/// What to know beside a verdict.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OneNote {
    code: &'static str,
    text: String,
}

impl OneNote {
    pub(crate) fn all(notes: &[Note]) -> Vec<OneNote> {
        notes.iter().map(|note| OneNote { code: note.code, text: note.text.clone() }).collect()
    }
}

/// What is wrong with a file.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Error {
    file: String,
    /// From 1; 0 if the file cannot be opened.
    line: usize,
    column: usize,
    /// The rule that is broken, as `ld-scope-missing`.
    code: String,
    /// The number of the section that has the rule.
    section: Option<String>,
    message: String,
    /// What to write instead.
    help: Option<String>,
}

impl Error {
    pub(crate) fn all(unread: &UnreadInput<'_>) -> Vec<Error> {
        let file = unread.file();
        match unread.why {
            UnreadReason::Rejected(diagnostics) => {
                diagnostics.iter().map(|found| Error::new(&file, found)).collect()
            }
            UnreadReason::Line(line, why) => {
                vec![Error::plain(file, line, "malformed", why.to_owned())]
            }
            UnreadReason::Unreadable(error) => {
                vec![Error::plain(file, 0, "unreadable", error.to_string())]
            }
        }
    }

    fn new(file: &str, diagnostic: &Diagnostic) -> Error {
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

    fn plain(file: String, line: usize, code: &str, message: String) -> Error {
        let (code, column) = (code.to_owned(), 0);
        Error { file, line, column, code, section: None, message, help: None }
    }

    /// Why there is nothing else to say of a file with these.
    pub(crate) fn reason(all: &[Error]) -> Option<String> {
        all.first().map(|error| error.message.clone())
    }
}

pub(crate) type ByName = BTreeMap<String, Value>;

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
