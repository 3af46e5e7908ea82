//! Who reads what a command prints.

use super::{Cli, Command, Ptx, Sass};
use crate::diff::args::DiffFormat;
use crate::explain::args::Drawing;
use crate::fix::args::FixFormat;
use crate::fuzz::args::FuzzFormat;
use crate::options::ExplainFormat;
use crate::report::ReportFormat;
use crate::words::args::LitmusFormat;

/// What standard output is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PrintedKind {
    /// Text for people.
    Text,
    /// The content of a file, or a patch: as it is, but at a terminal.
    File,
    /// Objects and reports for programs, whose formats have escapes of their own.
    Data,
}

impl Cli {
    pub(crate) fn printed(&self) -> PrintedKind {
        let text = |is_text: bool| if is_text { PrintedKind::Text } else { PrintedKind::Data };
        let report = |format: ReportFormat| match format {
            ReportFormat::Text | ReportFormat::Github | ReportFormat::Herd => PrintedKind::Text,
            ReportFormat::Json | ReportFormat::Junit | ReportFormat::Sarif => PrintedKind::Data,
        };
        match &self.command {
            Command::Check(check) => report(check.format),
            Command::Explain(explain) => text(explain.format == Drawing::Text),
            Command::Fix(fix) => text(fix.format == FixFormat::Text),
            Command::Verify(verify) if verify.print_test => PrintedKind::File,
            Command::Verify(verify) => report(verify.format),
            Command::Litmus(litmus) if litmus.format == LitmusFormat::Json => PrintedKind::Data,
            Command::Litmus(litmus) if litmus.words.is_some() => PrintedKind::File,
            Command::Diff(diff) => text(diff.format == DiffFormat::Text),
            Command::Fuzz(fuzz) => text(fuzz.format == FuzzFormat::Text),
            Command::Merge(merge) => text(merge.format == FuzzFormat::Text),
            Command::Lint(lint) if lint.fix || lint.diff => PrintedKind::File,
            Command::Lint(lint) => report(lint.format),
            Command::Lower(lower) => report(lower.format),
            Command::Explore(explore) => report(explore.format),
            Command::Ptx(Ptx::Explain(explain)) => text(explain.format == ExplainFormat::Text),
            Command::Sass(Sass::Explain(explain)) => text(explain.format == ExplainFormat::Text),
            Command::Litmus(_)
            | Command::Compare(_)
            | Command::Readings
            | Command::Serve(_)
            | Command::Sass(Sass::Decode(_) | Sass::Read(_)) => PrintedKind::Text,
            Command::Fmt(_)
            | Command::Gen(_)
            | Command::Export(_)
            | Command::Model(_)
            | Command::Schema(_) => PrintedKind::File,
        }
    }
}
