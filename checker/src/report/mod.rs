//! What a run reports, apart from how: each format is one file.

pub(crate) mod colour;
pub mod dot;
pub mod herd;
pub mod json;
pub mod junit;
pub mod text;

use std::io::{self, Write};

use model::rel::Model;

use crate::exit::Exit;
use crate::suite::{Item, Outcome};

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Format {
    Text,
    /// One object for each test, a line each.
    Json,
    Junit,
    /// herd7's text, which mcompare7 reads.
    Herd,
}

impl Format {
    /// Whether it has a place for what is wrong with an input.
    pub fn has_errors(self) -> bool {
        match self {
            Format::Json | Format::Junit => true,
            Format::Text | Format::Herd => false,
        }
    }
}

/// Receives each result in order, and is told of the end.
pub trait Report {
    fn item(&mut self, item: &Item, out: &mut dyn Write) -> io::Result<()>;
    fn end(&mut self, summary: &Summary, out: &mut dyn Write) -> io::Result<()>;
}

/// What a run amounts to.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub ok: usize,
    /// Those of them of which some executions never finish.
    pub sometimes_stuck: usize,
    pub failed: usize,
    pub undecided: usize,
    pub rejected: usize,
    pub disagreements: usize,
    pub engines: Vec<&'static str>,
    pub seconds: f64,
}

impl Summary {
    pub fn total(&self) -> usize {
        self.ok + self.failed + self.undecided + self.rejected + self.disagreements
    }

    pub fn add(&mut self, item: &Item) {
        match exit_of(item) {
            Exit::AsExpected => {
                self.ok += 1;
                self.sometimes_stuck += usize::from(is_sometimes_stuck(item));
            }
            Exit::Differs => self.failed += 1,
            Exit::Undecided => self.undecided += 1,
            Exit::BadInput => self.rejected += 1,
            Exit::Disagreement => self.disagreements += 1,
        }
    }

    pub fn exit(&self) -> Exit {
        let counts = [
            (self.disagreements, Exit::Disagreement),
            (self.rejected, Exit::BadInput),
            (self.failed, Exit::Differs),
            (self.undecided, Exit::Undecided),
        ];
        counts.into_iter().find(|(count, _)| *count > 0).map_or(Exit::AsExpected, |(_, exit)| exit)
    }
}

fn is_sometimes_stuck(item: &Item) -> bool {
    match &item.outcome {
        Outcome::Judged { judgement, .. } => {
            judgement.notes.iter().any(|note| note.code == "stuck")
        }
        Outcome::Rejected(_) | Outcome::Unreadable(_) => false,
    }
}

pub fn exit_of(item: &Item) -> Exit {
    match &item.outcome {
        Outcome::Judged { judgement, .. } => judgement.exit(),
        Outcome::Rejected(_) | Outcome::Unreadable(_) => Exit::BadInput,
    }
}

pub fn new(format: Format, model: &Model, verbose: bool) -> Box<dyn Report> {
    match format {
        Format::Text => Box::new(text::Text { verbose }),
        Format::Json => Box::new(json::Json { model: model.name.clone() }),
        Format::Junit => Box::new(junit::Junit::default()),
        Format::Herd => Box::new(herd::Herd),
    }
}
