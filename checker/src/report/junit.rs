//! `JUnit` XML, for continuous integration.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report as Xml, TestCase, TestCaseStatus, TestSuite};

use text::Diagnostic;

use super::text::Text;
use super::{Report, Summary};
use crate::suite::{Item, Outcome};

#[derive(Default)]
pub struct Junit {
    cases: Vec<TestCase>,
}

impl Report for Junit {
    fn item(&mut self, item: &Item, _: &mut dyn Write) -> io::Result<()> {
        let (status, seconds) = match &item.outcome {
            Outcome::Judged { judgement, .. } => {
                let status = match (&judgement.disagreement, &judgement.complaint) {
                    (Some(disagreement), _) => {
                        let message = format!("engines disagree: {disagreement}");
                        failure(NonSuccessKind::Error, message, told(item)?)
                    }
                    (None, Some(complaint)) => {
                        failure(NonSuccessKind::Failure, complaint.clone(), told(item)?)
                    }
                    (None, None) => TestCaseStatus::success(),
                };
                (status, judgement.seconds)
            }
            Outcome::Rejected(diagnostics) => (rejected(diagnostics), 0.0),
            Outcome::Unreadable(error) => (unreadable(&item.path, error), 0.0),
        };
        let mut case = TestCase::new(item.path.to_string_lossy().into_owned(), status);
        case.set_time(Duration::from_secs_f64(seconds));
        if let Outcome::Judged { judgement, .. } = &item.outcome
            && !judgement.notes.is_empty()
        {
            let notes = judgement.notes.iter().map(|note| format!("note: {}", note.text));
            case.set_system_out(notes.collect::<Vec<String>>().join("\n"));
        }
        self.cases.push(case);
        Ok(())
    }

    fn end(&mut self, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        write("causeway check", std::mem::take(&mut self.cases), summary.seconds, out)
    }
}

/// What the terminal says of a test.
fn told(item: &Item) -> io::Result<String> {
    let mut text = Vec::new();
    Text { verbose: true }.item(item, &mut text)?;
    Ok(plain(&text))
}

/// Text of the terminal without its colours.
pub(crate) fn plain(text: &[u8]) -> String {
    anstream::adapter::strip_str(&String::from_utf8_lossy(text)).to_string()
}

/// A case that is none of success: why in a line, and all that is known.
pub(crate) fn failure(kind: NonSuccessKind, message: String, body: String) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(message);
    status.set_description(body);
    status
}

/// A file that is not understood.
pub(crate) fn rejected(diagnostics: &[Diagnostic]) -> TestCaseStatus {
    let all: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    let all = all.join("\n");
    let first = all.lines().next().unwrap_or_default();
    let message = match diagnostics.len() {
        0 | 1 => first.to_owned(),
        count => format!("{first} (and {} more)", count - 1),
    };
    failure(NonSuccessKind::Error, message, all)
}

/// A file that cannot be read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> TestCaseStatus {
    let body = format!("error: {}: {error}", path.display());
    failure(NonSuccessKind::Error, error.to_string(), body)
}

/// The cases of one run of a command.
pub(crate) fn write(
    command: &str,
    cases: Vec<TestCase>,
    seconds: f64,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut suite = TestSuite::new(command);
    suite.set_time(Duration::from_secs_f64(seconds));
    suite.add_test_cases(cases);
    let mut xml = Xml::new("causeway");
    xml.add_test_suite(suite);
    // Its errors of writing do not say of which kind they are.
    let text = xml.to_string().map_err(io::Error::other)?;
    writeln!(out, "{text}")
}
