//! JSON objects, one per line. `docs/json.md` describes them.

use std::io::{self, Write};

use answer::object::Error;

use super::finding::{UnreadInput, UnreadReason};
use super::{ReportWriter, Reportable, RunSummary};

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

/// What is wrong with an input.
pub(crate) fn errors(unread: &UnreadInput<'_>) -> Vec<Error> {
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
