//! The reports of the commands, independent of the format. Each format is one file and serves every command.

pub(crate) mod colour;
pub mod finding;
mod github;
pub mod herd;
pub(crate) mod json;
mod junit;
mod sarif;
mod text;

use std::fmt::Display;
use std::io::{self, Write};

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use engine::exit::Exit;

pub use finding::{Reportable, RunSummary};

/// The output format of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ReportFormat {
    Text,
    /// Objects, a line each.
    Json,
    Junit,
    /// Annotations, as workflow commands of GitHub.
    Github,
    /// SARIF 2.1.0, for code scanning and editors.
    Sarif,
    /// herd7's text, which mcompare7 reads.
    Herd,
}

impl ReportFormat {
    pub fn report(self) -> Box<dyn ReportWriter> {
        match self {
            ReportFormat::Text => Box::new(text::Text),
            ReportFormat::Json => Box::new(json::Json),
            ReportFormat::Junit => Box::<junit::Junit>::default(),
            ReportFormat::Github => Box::new(github::Github),
            ReportFormat::Sarif => Box::<sarif::Sarif>::default(),
            ReportFormat::Herd => Box::new(herd::Herd),
        }
    }
}

/// `1 case`, `2 cases`.
pub(crate) fn count_of<N: Copy + Display + PartialEq + From<u8>>(count: N, what: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// The formats of a command whose results are not tests with outcomes.
pub fn without_outcomes() -> impl TypedValueParser<Value = ReportFormat> {
    let formats =
        ReportFormat::value_variants().iter().filter(|format| **format != ReportFormat::Herd);
    let values = formats.filter_map(ReportFormat::to_possible_value);
    PossibleValuesParser::new(values).try_map(|name| ReportFormat::from_str(&name, false))
}

/// Receives the results in order, then the end of the run.
pub trait ReportWriter {
    /// Whether the format can represent errors in an input.
    fn has_errors(&self) -> bool {
        false
    }

    fn one(&mut self, one: &dyn Reportable, out: &mut dyn Write) -> io::Result<()>;

    /// The summary of the run, or of a part of it.
    fn sum(&mut self, _: &dyn RunSummary, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self, _: &CommandRun<'_>, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// A finished run of a command.
pub struct CommandRun<'a> {
    /// The name of the command on the command line.
    pub command: &'a str,
    pub exit: Exit,
    pub seconds: f64,
}
