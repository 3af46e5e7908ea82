//! `JUnit` XML, for continuous integration: one test case for each test, module, function or row.

use std::io::{self, Write};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report as Xml, TestCase, TestCaseStatus, TestSuite};
use text::escape::{escaped, escaped_lines};

use super::finding::{Level, ReportCase, ReportFinding};
use super::text::plain;
use super::{CommandRun, ReportWriter, Reportable};
use engine::exit::Exit;

#[derive(Default)]
pub(super) struct Junit {
    cases: Vec<TestCase>,
}

impl ReportWriter for Junit {
    fn has_errors(&self) -> bool {
        true
    }

    fn one(&mut self, one: &dyn Reportable, _: &mut dyn Write) -> io::Result<()> {
        let case = one.case();
        let mut xml = TestCase::new(&*case.subject, status(&case, one)?);
        if let Some(seconds) = case.seconds {
            xml.set_time(Duration::from_secs_f64(seconds));
        }
        if case.file != case.subject {
            xml.extra.insert("file".into(), (&*case.file).into());
        }
        if !case.notes.is_empty() {
            xml.set_system_out(case.notes.join("\n"));
        }
        self.cases.push(xml);
        Ok(())
    }

    fn end(&mut self, run: &CommandRun<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mut suite = TestSuite::new(format!("causeway {}", run.command));
        suite.set_time(Duration::from_secs_f64(run.seconds));
        suite.add_test_cases(std::mem::take(&mut self.cases));
        let mut xml = Xml::new("causeway");
        xml.add_test_suite(suite);
        // The errors of the library do not carry an I/O error kind.
        let text = xml.to_string().map_err(io::Error::other)?;
        writeln!(out, "{text}")
    }
}

/// The status of a case. A case that was not judged and need not be is skipped. Any other case that is not a
/// success has its message and all details.
fn status(case: &ReportCase, one: &dyn Reportable) -> io::Result<TestCaseStatus> {
    let Some(worst) = case.worst() else { return Ok(TestCaseStatus::success()) };
    let kind = match case.exit {
        Exit::AsExpected if worst.level == Level::Skipped => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(&*escaped(&worst.message));
            return Ok(status);
        }
        Exit::AsExpected => return Ok(TestCaseStatus::success()),
        Exit::Differs | Exit::Undecided => NonSuccessKind::Failure,
        Exit::BadInput | Exit::Disagreement => NonSuccessKind::Error,
    };
    let mut body = Vec::new();
    one.details(&mut body)?;
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(worst.rule.id);
    status.set_message(&*escaped(&summary(case, worst)));
    // A viewer may show it at a terminal.
    status.set_description(&*escaped_lines(&plain(&body)));
    Ok(status)
}

fn summary(case: &ReportCase, worst: &ReportFinding) -> String {
    let as_bad = case.findings.iter().filter(|finding| finding.level == worst.level).count();
    match as_bad {
        0 | 1 => worst.message.clone(),
        count => format!("{} (and {} more)", worst.message, count - 1),
    }
}
