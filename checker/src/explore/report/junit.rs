//! `JUnit` XML: a case for each test and architecture.

use std::io::{self, Write};
use std::time::Duration;

use litmus::Test;
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus};

use super::text::Text;
use super::{Item, Outcome, Report, Summary};
use crate::exit::Exit;
use crate::explore::one::Ran;
use crate::report::junit::{failure, plain, rejected, unreadable, write};

#[derive(Default)]
pub(super) struct Junit {
    cases: Vec<TestCase>,
}

impl Report for Junit {
    fn item(&mut self, item: &Item, _: &mut dyn Write) -> io::Result<()> {
        let path = item.path.to_string_lossy();
        match &item.outcome {
            Outcome::Ran(test, machines) => {
                for ran in machines {
                    let name = format!("{path} on sm_{}", ran.sm);
                    let mut case = TestCase::new(name, status(test, ran)?);
                    case.set_time(Duration::from_secs_f64(ran.seconds));
                    self.cases.push(case);
                }
            }
            Outcome::Rejected(diagnostics) => {
                self.cases.push(TestCase::new(path.into_owned(), rejected(diagnostics)));
            }
            Outcome::Unreadable(error) => {
                let status = unreadable(&item.path, error);
                self.cases.push(TestCase::new(path.into_owned(), status));
            }
        }
        Ok(())
    }

    fn end(&mut self, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        write("causeway explore", std::mem::take(&mut self.cases), summary.seconds, out)
    }
}

/// What could not be compared was skipped, with its reason; a difference comes with its run.
fn status(test: &Test, ran: &Ran) -> io::Result<TestCaseStatus> {
    let (word, reason) = ran.verdict(test);
    Ok(match (ran.exit(), reason) {
        (Exit::AsExpected, None) => TestCaseStatus::success(),
        (Exit::AsExpected, Some(reason)) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(format!("{word}: {reason}"));
            status
        }
        (_, reason) => {
            let mut body = String::new();
            for reached in ran.outcomes.iter().filter(|reached| reached.refutation.is_some()) {
                body.push_str(&test.display_outcome(&reached.values));
                for line in reached.run.iter().flatten() {
                    body.push('\n');
                    body.push_str(line);
                }
                body.push('\n');
                body.push_str(reached.refutation.as_deref().unwrap_or_default());
            }
            if body.is_empty() {
                let mut shown = Vec::new();
                Text { check: false, verbose: true, stats: true, progress: false }
                    .explored(test, ran, &mut shown)?;
                body = plain(&shown);
            }
            let message = format!("{word}: {}", reason.unwrap_or_default());
            failure(NonSuccessKind::Failure, message, body)
        }
    })
}
