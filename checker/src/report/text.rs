//! The terminal format: what each command prints for its results, and the summary.

use std::io::{self, Write};

use super::{ReportWriter, Reportable, RunSummary};

pub(super) struct Text;

impl ReportWriter for Text {
    fn one(&mut self, one: &dyn Reportable, out: &mut dyn Write) -> io::Result<()> {
        one.text(out)
    }

    fn sum(&mut self, sum: &dyn RunSummary, out: &mut dyn Write) -> io::Result<()> {
        sum.text(out)
    }
}

/// The text of the terminal format without colours.
pub(super) fn plain(text: &[u8]) -> String {
    anstream::adapter::strip_str(&String::from_utf8_lossy(text)).to_string()
}
