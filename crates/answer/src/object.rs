//! The parts that the objects of several commands share. `docs/json.md` describes them.

use std::collections::BTreeMap;

use judge::Note;
use litmus::Test;
use model::program::Observed;
use model::value::Value;
use schemars::JsonSchema;
use serde::Serialize;
use text::Diagnostic;

/// What to know beside a verdict.
#[derive(Serialize, JsonSchema)]
pub struct OneNote {
    code: &'static str,
    text: String,
}

impl OneNote {
    pub fn all(notes: &[Note]) -> Vec<OneNote> {
        notes.iter().map(|note| OneNote { code: note.code, text: note.text.clone() }).collect()
    }
}

/// What is wrong with a file.
#[derive(Serialize, JsonSchema)]
pub struct Error {
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
    pub fn new(file: &str, diagnostic: &Diagnostic) -> Error {
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

    /// An error of a whole file, or of one line.
    pub fn plain(file: String, line: usize, code: &str, message: String) -> Error {
        let (code, column) = (code.to_owned(), 0);
        Error { file, line, column, code, section: None, message, help: None }
    }

    /// Why there is nothing else to say of a file with these.
    pub fn reason(all: &[Error]) -> Option<String> {
        all.first().map(|error| error.message.clone())
    }
}

/// Registers or locations, each with its value.
pub type ByName = BTreeMap<String, Value>;

/// Registers and locations, each with its value.
pub fn by_name(test: &Test, values: &[Value]) -> (ByName, ByName) {
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
