//! What a command says of what it judges, in the one form that every format is written over.

use std::io::{self, Write};
use std::path::Path;
use std::sync::LazyLock;

use model::section::Section;
use ptx::{rule, rules};
use serde_json::Value;
use text::Diagnostic;
use text::diagnostic::{Severity, Span};

use super::herd::Entry;
use crate::input;
use engine::exit::Exit;

/// How much a finding weighs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// Everything is as expected.
    Pass,
    /// It was not judged, and need not be.
    Skipped,
    /// It is worth knowing, and fails nothing.
    Note,
    Warning,
    /// A limit was reached, or something is not supported: it is no success.
    Undecided,
    Error,
}

impl Level {
    /// That of a result with this exit code.
    pub fn of(exit: Exit) -> Level {
        match exit {
            Exit::AsExpected => Level::Pass,
            Exit::Undecided => Level::Undecided,
            Exit::Differs | Exit::BadInput | Exit::Disagreement => Level::Error,
        }
    }
}

/// What a finding is an instance of: a rule of the document, or a verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportRule {
    pub id: &'static str,
    /// What it says, in a sentence.
    pub text: &'static str,
    pub section: Option<Section>,
}

/// A file, or a place in it. Lines and columns count from 1, columns in characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilePosition {
    pub file: String,
    pub line: Option<usize>,
    pub column: Option<usize>,
    /// How many characters it has, if that is known.
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
        // A file that is no text has no lines.
        let from_one = |number: usize| (number > 0).then_some(number);
        FilePosition {
            file: file.to_owned(),
            line: from_one(span.line),
            column: from_one(span.column),
            length: from_one(span.length),
        }
    }
}

/// A place that a finding is about besides its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Related {
    pub place: FilePosition,
    pub text: String,
}

/// One thing that is said of what was judged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportFinding {
    pub rule: ReportRule,
    pub level: Level,
    /// In one line.
    pub message: String,
    pub place: FilePosition,
    pub related: Vec<Related>,
    /// What else a reader wants to know: `help`, `context`, `outcome`, each with its name.
    pub remarks: Vec<(&'static str, String)>,
    /// What programs want to know, each with its name.
    pub facts: Vec<(&'static str, Value)>,
    /// Whether a baseline has it, so that it fails nothing.
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
            known: false,
        }
    }
}

/// What the instructions of PTX are asked.
static RULES: LazyLock<Vec<&rule::Rule>> = LazyLock::new(rules::all);

impl From<&Diagnostic> for ReportFinding {
    fn from(diagnostic: &Diagnostic) -> ReportFinding {
        let Diagnostic { code, path, .. } = diagnostic;
        let rule = RULES.iter().find(|rule| rule.code == *code);
        let text = rule.map_or(MALFORMED.text, |rule| rule.text);
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
            ..ReportFinding::new(
                rule,
                level,
                &*diagnostic.message,
                FilePosition::span(path, diagnostic.span),
            )
        }
    }
}

/// What was judged, a test, a module, a function or a row, and all that is said of it.
#[derive(Clone, PartialEq, Debug)]
pub struct ReportCase {
    /// Its name among the others of a run.
    pub subject: String,
    /// The file that it is in.
    pub file: String,
    /// What it alone would let the run exit with.
    pub exit: Exit,
    /// How long it took, if that was measured.
    pub seconds: Option<f64>,
    /// At least one.
    pub findings: Vec<ReportFinding>,
    /// What to know beside the findings.
    pub notes: Vec<String>,
}

impl ReportCase {
    /// The finding that weighs most, the first of several.
    pub fn worst(&self) -> Option<&ReportFinding> {
        self.findings.iter().rev().max_by_key(|finding| finding.level)
    }

    /// The message of a finding where its file is shown beside it: what it is about, what it says, and what
    /// else there is to know, a line each.
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

/// What was judged, as every format asks it.
pub trait Reportable {
    fn case(&self) -> ReportCase;
    /// What the terminal shows of it, if anything.
    fn text(&self, out: &mut dyn Write) -> io::Result<()>;
    /// All that is known of it, as text.
    fn details(&self, out: &mut dyn Write) -> io::Result<()>;
    /// Its lines of `--format json`.
    fn json(&self, out: &mut dyn Write) -> io::Result<()>;
    /// Its entry in a log of herd7, of a test that has outcomes.
    fn herd(&self) -> Option<Entry<'_>> {
        None
    }
}

/// What a run, or a part of one, amounts to.
pub trait RunSummary {
    fn text(&self, out: &mut dyn Write) -> io::Result<()>;
    fn json(&self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// An input that is not judged.
#[derive(Clone, Copy)]
pub struct UnreadInput<'a> {
    pub path: &'a Path,
    pub why: UnreadReason<'a>,
}

#[derive(Clone, Copy)]
pub enum UnreadReason<'a> {
    /// It is not understood.
    Rejected(&'a [Diagnostic]),
    /// The same, by a reader without diagnostics: on which line, and why.
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

    /// What is wrong with it, as a stream of complaints has it.
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
