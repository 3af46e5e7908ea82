//! What `causeway explore` reports, apart from how: each format is one file.

mod herd;
mod json;
mod junit;
mod text;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use ::text::Diagnostic;
use litmus::Test;

use super::inclusion::Inclusion;
use super::one::{Answer, Ran};
use crate::cli::Explore;
use crate::exit::Exit;
use crate::report::Format;

/// What became of one file.
pub enum Outcome {
    /// On each machine.
    Ran(Box<Test>, Vec<Ran>),
    Rejected(Vec<Diagnostic>),
    Unreadable(io::Error),
}

pub struct Item {
    /// As the user named it, or found below a folder the user named.
    pub path: PathBuf,
    pub outcome: Outcome,
}

/// Receives each result in order, and is told of the end.
pub trait Report {
    fn item(&mut self, item: &Item, out: &mut dyn Write) -> io::Result<()>;
    fn end(&mut self, summary: &Summary, out: &mut dyn Write) -> io::Result<()>;
}

/// What a comparison amounts to.
#[derive(Default)]
pub struct Summary {
    pub included: usize,
    pub extra: usize,
    pub undecided: usize,
    pub stuck: usize,
    pub rejected: usize,
    /// Outcomes that the axioms allow, where they were compared, and those of them that were seen.
    pub reached: usize,
    pub allowed: usize,
    /// Why tests were not compared, each with how many.
    pub undefined: BTreeMap<String, usize>,
    pub unsupported: BTreeMap<String, usize>,
    pub refused: BTreeMap<String, usize>,
    /// Targets that are older than the axioms.
    pub early: BTreeMap<u16, usize>,
    pub worst: Option<Exit>,
    pub seconds: f64,
}

/// The first target of which the document says that the model applies.
pub const NORMATIVE: u16 = 70;

impl Summary {
    pub fn add(&mut self, item: &Item) {
        let Outcome::Ran(test, machines) = &item.outcome else {
            self.rejected += 1;
            self.worst = self.worst.max(Some(Exit::BadInput));
            return;
        };
        for ran in machines {
            self.worst = self.worst.max(Some(ran.exit()));
            let reason = || ran.verdict(test).1.unwrap_or_default();
            match &ran.answer {
                Answer::Explored | Answer::Refused(_) => {}
                Answer::Compared(compared) => {
                    if ran.sm < NORMATIVE && ran.explored.is_some() {
                        *self.early.entry(ran.sm).or_default() += 1;
                    }
                    match compared {
                        Inclusion::Included { reached, allowed } => {
                            self.included += 1;
                            self.reached += reached;
                            self.allowed += allowed;
                        }
                        Inclusion::Extra(_) => self.extra += 1,
                        Inclusion::Stuck { .. } => {
                            self.stuck += 1;
                            self.allowed += ran.unreached.len();
                        }
                        Inclusion::Limited(_) => self.undecided += 1,
                        Inclusion::Undefined(_) => {
                            *self.undefined.entry(reason()).or_default() += 1;
                        }
                        Inclusion::Unsupported(_) => {
                            *self.unsupported.entry(reason()).or_default() += 1;
                        }
                        Inclusion::Refused(_) => {
                            // Without the place, which differs from test to test.
                            let all = reason();
                            let why = all.rsplit("`: ").next().unwrap_or_default().to_owned();
                            *self.refused.entry(why).or_default() += 1;
                        }
                    }
                }
            }
        }
    }

    pub fn exit(&self) -> Exit {
        self.worst.unwrap_or(Exit::AsExpected)
    }
}

pub fn new(command: &Explore) -> Box<dyn Report> {
    match command.format {
        Format::Text => Box::new(text::Text {
            check: command.check,
            verbose: command.verbose,
            stats: command.stats,
            progress: command.progress,
        }),
        Format::Json => Box::new(json::Json),
        Format::Junit => Box::new(junit::Junit::default()),
        Format::Herd => Box::new(herd::Herd),
    }
}
