//! The findings of a command, in the form that all output formats use.

use std::io::{self, Write};
use std::path::Path;

use model::section::Section;
use ptx::catalogue::LintRule;
use serde_json::Value;
use text::Diagnostic;
use text::diagnostic::{Severity, Span};
use text::fix::TextFix;

use super::herd::Entry;
use crate::input;
use engine::exit::Exit;

/// The severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// The result is as expected.
    Pass,
    /// The input was not judged, and need not be.
    Skipped,
    /// Information that does not fail the run.
    Note,
    Warning,
    /// A limit was reached or something is not supported, so the result is not a success.
    Undecided,
    Error,
}

impl Level {
    /// The level of a result with this exit code.
    pub fn of(exit: Exit) -> Level {
        match exit {
            Exit::AsExpected => Level::Pass,
            Exit::Undecided => Level::Undecided,
            Exit::Differs | Exit::BadInput | Exit::Disagreement => Level::Error,
        }
    }
}

/// The rule of the document, or the verdict, to which a finding belongs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportRule {
    pub id: &'static str,
    /// The rule as one sentence.
    pub text: &'static str,
    pub section: Option<Section>,
}

/// A file, or a position in a file. Lines and columns count from 1; columns count characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilePosition {
    pub file: String,
    pub line: Option<usize>,
    pub column: Option<usize>,
    /// The length in characters, if it is known.
    pub length: Option<usize>,
}

impl FilePosition {
    pub fn file(file: impl Into<String>) -> FilePosition {
        FilePosition { file: file.into(), line: None, column: None, length: None }
    }

    pub fn line(file: impl Into<String>, line: Option<usize>) -> FilePosition {
        FilePosition { line, ..FilePosition::file(file) }
    }

    fn span(file: &str, span: Span) -> FilePosition {
        // A file that is not text has no lines.
        let from_one = |number: usize| (number > 0).then_some(number);
        FilePosition {
            file: file.to_owned(),
            line: from_one(span.line),
            column: from_one(span.column),
            length: from_one(span.length),
        }
    }
}

/// A further position that a finding refers to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Related {
    pub place: FilePosition,
    pub text: String,
}

/// One statement about an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportFinding {
    pub rule: ReportRule,
    pub level: Level,
    /// The message, in one line.
    pub message: String,
    pub place: FilePosition,
    pub related: Vec<Related>,
    /// Further information for people: `help`, `context` and `outcome`, each with its name.
    pub remarks: Vec<(&'static str, String)>,
    /// Further information for programs, each with its name.
    pub facts: Vec<(&'static str, Value)>,
    /// Edits of the file that repair it.
    pub fix: Option<TextFix>,
    /// Whether the baseline contains the finding, so that it does not fail the run.
    pub known: bool,
}

impl ReportFinding {
    pub fn new(
        rule: ReportRule,
        level: Level,
        message: impl Into<String>,
        place: FilePosition,
    ) -> ReportFinding {
        ReportFinding {
            rule,
            level,
            message: message.into(),
            place,
            related: Vec::new(),
            remarks: Vec::new(),
            facts: Vec::new(),
            fix: None,
            known: false,
        }
    }
}

impl From<&Diagnostic> for ReportFinding {
    fn from(diagnostic: &Diagnostic) -> ReportFinding {
        let Diagnostic { code, path, .. } = diagnostic;
        let text = LintRule::named(code).map_or(MALFORMED.text, |rule| rule.text);
        let rule = ReportRule { id: code, text, section: diagnostic.section };
        let level = match diagnostic.severity {
            Severity::Error => Level::Error,
            Severity::Warning => Level::Warning,
            Severity::Note => Level::Note,
        };
        let related = diagnostic.labels.iter().map(|label| Related {
            place: FilePosition::span(path, label.span),
            text: label.text.clone(),
        });
        let note = Some(&diagnostic.note).filter(|note| !note.is_empty());
        let remarks = [("here", note), ("help", diagnostic.help.as_ref())];
        let remarks = remarks.into_iter().filter_map(|(name, text)| Some((name, text?.to_owned())));
        ReportFinding {
            related: related.collect(),
            remarks: remarks.collect(),
            fix: diagnostic.fix.clone(),
            ..ReportFinding::new(
                rule,
                level,
                &*diagnostic.message,
                FilePosition::span(path, diagnostic.span),
            )
        }
    }
}

/// A test, module, function or row that was judged, and its findings.
#[derive(Clone, PartialEq, Debug)]
pub struct ReportCase {
    /// Its name, which distinguishes it from the others of a run.
    pub subject: String,
    /// The file that contains it.
    pub file: String,
    /// The exit code that it would give on its own.
    pub exit: Exit,
    /// The time it took, if that was measured.
    pub seconds: Option<f64>,
    /// The findings, at least one.
    pub findings: Vec<ReportFinding>,
    /// Notes in addition to the findings.
    pub notes: Vec<String>,
}

impl ReportCase {
    /// The finding with the highest level; the first one if there are several.
    pub fn worst(&self) -> Option<&ReportFinding> {
        self.findings.iter().rev().max_by_key(|finding| finding.level)
    }

    /// The message of a finding for a format that shows the file itself: the subject, the message, and each
    /// remark on its own line.
    pub fn message(&self, finding: &ReportFinding) -> String {
        let about = self.subject.strip_prefix(&self.file).unwrap_or(&self.subject).trim();
        let mut message = match about {
            "" => finding.message.clone(),
            about => format!("{about}: {}", finding.message),
        };
        for (name, text) in &finding.remarks {
            message.extend(["\n", name, ": ", text]);
        }
        message
    }
}

/// A result, as the output formats read it.
pub trait Reportable {
    fn case(&self) -> ReportCase;
    /// Prints what the terminal shows, if anything.
    fn text(&self, out: &mut dyn Write) -> io::Result<()>;
    /// Prints all details as text.
    fn details(&self, out: &mut dyn Write) -> io::Result<()>;
    /// Prints the lines of `--format json`.
    fn json(&self, out: &mut dyn Write) -> io::Result<()>;
    /// The entry in a herd7 log, for a test with outcomes.
    fn herd(&self) -> Option<Entry<'_>> {
        None
    }
}

/// The summary of a run, or of a part of one.
pub trait RunSummary {
    fn text(&self, out: &mut dyn Write) -> io::Result<()>;
    fn json(&self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// An input that could not be judged.
#[derive(Clone, Copy)]
pub struct UnreadInput<'a> {
    pub path: &'a Path,
    pub why: UnreadReason<'a>,
}

#[derive(Clone, Copy)]
pub enum UnreadReason<'a> {
    /// The input was rejected with diagnostics.
    Rejected(&'a [Diagnostic]),
    /// The input was rejected by a reader without diagnostics: the line and the reason.
    Line(usize, &'a str),
    Unreadable(&'a io::Error),
}

const UNREADABLE: ReportRule =
    ReportRule { id: "unreadable", text: "an input is there and can be read", section: None };

const MALFORMED: ReportRule =
    ReportRule { id: "malformed", text: "an input has the form that is read", section: None };

impl UnreadInput<'_> {
    pub fn file(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    pub fn case(&self) -> ReportCase {
        let findings = match self.why {
            UnreadReason::Rejected(diagnostics) => {
                diagnostics.iter().map(ReportFinding::from).collect()
            }
            UnreadReason::Line(line, why) => {
                let place = FilePosition::line(self.file(), Some(line));
                vec![ReportFinding::new(MALFORMED, Level::Error, why, place)]
            }
            UnreadReason::Unreadable(error) => {
                let place = FilePosition::file(self.file());
                vec![ReportFinding::new(UNREADABLE, Level::Error, error.to_string(), place)]
            }
        };
        ReportCase {
            subject: self.file(),
            file: self.file(),
            exit: Exit::BadInput,
            seconds: None,
            findings,
            notes: Vec::new(),
        }
    }

    /// Prints the errors, for standard error.
    pub fn complain(&self, err: &mut dyn Write) -> io::Result<()> {
        match self.why {
            UnreadReason::Rejected(diagnostics) => {
                diagnostics.iter().try_for_each(|diagnostic| writeln!(err, "{diagnostic:#}"))
            }
            UnreadReason::Line(line, why) => {
                writeln!(err, "error: {}:{line}: {why}", input::shown(self.path))
            }
            UnreadReason::Unreadable(error) => {
                writeln!(err, "error: {}: {error}", input::shown(self.path))
            }
        }
    }
}
