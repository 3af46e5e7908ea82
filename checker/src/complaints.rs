//! Errors on standard error, and how far an interrupted run came.

use std::io::{self, Write};

use engine::interrupt;
use text::Diagnostic;

use crate::report::ReportWriter;
use crate::report::finding::UnreadInput;

pub(crate) fn complain_of(diagnostics: &[Diagnostic], err: &mut dyn Write) -> io::Result<()> {
    diagnostics.iter().try_for_each(|diagnostic| writeln!(err, "{diagnostic:#}"))
}

/// Prints the errors of an input that was not judged to standard error, after the output so far, if the format
/// cannot represent them.
pub(crate) fn complain(
    unread: Option<&UnreadInput<'_>>,
    report: &dyn ReportWriter,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<()> {
    if report.has_errors() {
        return Ok(());
    }
    out.flush()?;
    unread.map_or(Ok(()), |unread| unread.complain(err))
}

/// Prints how many files or functions an interrupted run has judged.
pub(crate) fn interrupted(
    done: usize,
    of: usize,
    what: &str,
    err: &mut dyn Write,
) -> io::Result<()> {
    if interrupt::raised() {
        writeln!(err, "interrupted: {done} of {of} {what} are judged")?;
    }
    Ok(())
}
