//! `causeway lint`: PTX modules, each memory instruction asked its rules.

use std::io::{self, Write};

use litmus::Diagnostic;
use litmus::ptx::{self, Options};
use serde::Serialize;

use crate::cli::{Lint, LintFormat};
use crate::exit::Exit;
use crate::input;

/// One line of `--format json`.
#[derive(Serialize)]
pub(crate) struct Object<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    severity: &'static str,
    code: &'static str,
    section: Option<&'static str>,
    message: &'a str,
    note: &'a str,
    help: Option<&'a str>,
}

impl<'a> From<&'a Diagnostic> for Object<'a> {
    fn from(diagnostic: &'a Diagnostic) -> Object<'a> {
        Object {
            file: &diagnostic.path,
            line: diagnostic.span.line,
            column: diagnostic.span.column,
            severity: diagnostic.severity.name(),
            code: diagnostic.code,
            section: diagnostic.section.map(|section| section.number),
            message: &diagnostic.message,
            note: &diagnostic.note,
            help: diagnostic.help.as_deref(),
        }
    }
}

/// Judges all files; the worst of them decides the exit code.
pub fn command(lint: &Lint, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let files = match input::find(&lint.paths, "ptx") {
        Ok(files) => files,
        Err(error) => {
            writeln!(err, "error: {error}")?;
            return Ok(Exit::BadInput);
        }
    };
    if files.is_empty() {
        writeln!(err, "error: no .ptx file below the paths given")?;
        return Ok(Exit::BadInput);
    }
    let options = Options { isa: lint.ptx_isa, target: lint.target, strict: lint.strict };
    let (mut exit, mut instructions, mut errors, mut warnings) = (Exit::AsExpected, 0, 0, 0);
    for file in &files {
        let path = file.to_string_lossy();
        let bytes = match input::read(file) {
            Ok(bytes) => bytes,
            Err(error) => {
                writeln!(err, "error: {path}: {error}")?;
                exit = exit.max(Exit::BadInput);
                continue;
            }
        };
        let linted = ptx::lint(&path, &bytes, options);
        for diagnostic in &linted.diagnostics {
            write(diagnostic, lint.format, out)?;
        }
        instructions += linted.instructions;
        warnings += linted.warnings();
        errors += linted.errors();
        if linted.unreadable {
            exit = exit.max(Exit::BadInput);
        } else if linted.errors() > 0 {
            exit = exit.max(Exit::Differs);
        }
    }
    if lint.format == LintFormat::Text {
        let files = plural(files.len(), "file");
        let instructions = plural(instructions, "memory instruction");
        let (errors, warnings) = (plural(errors, "error"), plural(warnings, "warning"));
        writeln!(out, "{files}, {instructions}: {errors}, {warnings}")?;
    }
    Ok(exit)
}

fn write(diagnostic: &Diagnostic, format: LintFormat, out: &mut dyn Write) -> io::Result<()> {
    match format {
        LintFormat::Text => writeln!(out, "{diagnostic}"),
        LintFormat::Json => {
            serde_json::to_writer(&mut *out, &Object::from(diagnostic))?;
            writeln!(out)
        }
    }
}

fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
