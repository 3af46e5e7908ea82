//! `causeway lint`: PTX modules, each memory instruction asked its rules.

use std::collections::BTreeMap;
use std::io::{self, Write};

use litmus::ptx::{self, Linted, Options};
use serde::Serialize;
use text::Diagnostic;

use crate::cli::{Lint, LintFormat};
use crate::exit::Exit;
use crate::input;
use crate::interrupt;
use crate::kind::Kind;
use crate::lines::{self, Schema};

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

/// The last line of `--format json`: what was judged, and what was not.
#[derive(Serialize)]
struct Summary {
    files: usize,
    /// Of these, how many could not be read.
    unread: usize,
    /// And how many have something in them that could not.
    read_in_part: usize,
    /// How many memory instructions were judged.
    judged: usize,
    errors: usize,
    warnings: usize,
    /// Instructions that access memory or synchronize threads and were not judged, by name.
    not_judged: BTreeMap<String, usize>,
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
    let mut summary = Summary {
        files: files.len(),
        unread: 0,
        read_in_part: 0,
        judged: 0,
        errors: 0,
        warnings: 0,
        not_judged: BTreeMap::new(),
    };
    let mut exit = Exit::AsExpected;
    for file in files.iter().take_while(|_| !interrupt::raised()) {
        let path = file.to_string_lossy();
        let bytes = match input::read_kind(file, Kind::Ptx) {
            Ok(bytes) => bytes,
            Err(error) => {
                writeln!(err, "error: {}: {error}", input::shown(file))?;
                exit = exit.max(Exit::BadInput);
                summary.unread += 1;
                continue;
            }
        };
        let linted = ptx::lint(&path, &bytes, options);
        for diagnostic in &linted.diagnostics {
            write(diagnostic, lint.format, out)?;
        }
        summary.add(&linted);
        if linted.unreadable {
            exit = exit.max(Exit::BadInput);
        } else if linted.errors() > 0 {
            exit = exit.max(Exit::Differs);
        }
    }
    match lint.format {
        LintFormat::Text => summary.text(out)?,
        LintFormat::Json => lines::write(Schema::LintSummary, &summary, out)?,
    }
    Ok(exit)
}

impl Summary {
    fn add(&mut self, linted: &Linted) {
        self.unread += usize::from(linted.unread);
        self.read_in_part += usize::from(linted.unreadable && !linted.unread);
        self.judged += linted.instructions;
        self.errors += linted.errors();
        self.warnings += linted.warnings();
        for (name, count) in &linted.not_judged {
            *self.not_judged.entry(name.clone()).or_insert(0) += count;
        }
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let files = plural(self.files, "file");
        let judged = plural(self.judged, "memory instruction");
        let (errors, warnings) = (plural(self.errors, "error"), plural(self.warnings, "warning"));
        if self.unread == self.files {
            return writeln!(
                out,
                "{files}, {}",
                if self.files == 1 { "not read" } else { "none read" }
            );
        }
        write!(out, "{files}")?;
        for (count, how) in [(self.unread, "not read"), (self.read_in_part, "read in part")] {
            match (count, self.files) {
                (0, _) => {}
                (_, 1) => write!(out, ", {how}")?,
                (count, _) => write!(out, ", {count} of them {how}")?,
            }
        }
        write!(out, ", {judged}: ")?;
        // No errors in what nobody has asked is no praise.
        if (self.judged, self.errors, self.warnings) == (0, 0, 0) {
            write!(out, "nothing was judged")?;
        } else {
            write!(out, "{errors}, {warnings}")?;
        }
        if !self.not_judged.is_empty() {
            let count: usize = self.not_judged.values().sum();
            let names: Vec<&str> = self.not_judged.keys().map(String::as_str).collect();
            write!(out, "; {count} not judged: {}", names.join(", "))?;
        }
        writeln!(out)?;
        writeln!(
            out,
            "lint checks that memory instructions are legal, not that the program is correct"
        )
    }
}

fn write(diagnostic: &Diagnostic, format: LintFormat, out: &mut dyn Write) -> io::Result<()> {
    match format {
        LintFormat::Text => writeln!(out, "{diagnostic:#}"),
        LintFormat::Json => lines::write(Schema::Lint, Object::from(diagnostic), out),
    }
}

fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
