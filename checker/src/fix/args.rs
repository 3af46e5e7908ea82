//! The arguments of `causeway fix`.

use std::path::PathBuf;
use std::time::Duration;

use bytesize::ByteSize;
use clap::{Args, ValueEnum};

use crate::options::EngineName;
use crate::options::Judging;
use crate::options::PropertyName;
use crate::options::values::{seconds, size};
use crate::words::args::WordsArgs;

pub(crate) const EXAMPLE: &str = "\
Example: show the cheapest edits that forbid the outcome of a test, then write them
  causeway fix litmus/suite/gallery/B1-vllm-all-reduce.litmus
  causeway fix --write MP.litmus
  causeway fix MP.litmus --ask 'exists (1:r0=1 /\\ 1:r1=0)'";

#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[derive(Args, Debug)]
pub struct Fix {
    /// A litmus test in PTX, or `-` for standard input; or a PTX module, with functions of it
    #[arg(value_name = "FILE")]
    pub path: PathBuf,
    /// Functions of the module, as in 'f(data) @cta 0 || g(data) @cta 1' (see `causeway litmus`)
    #[arg(value_name = "FUNCTIONS")]
    pub words: Option<String>,
    #[command(flatten)]
    pub asked: WordsArgs,
    #[command(flatten)]
    pub judging: Judging,
    /// Forbid the outcome of this condition instead of that of the test, such as `exists (1:r0=1 /\ 1:r1=0)`; the file keeps
    /// its own
    #[arg(long, value_name = "CONDITION")]
    pub ask: Option<String>,
    /// What is to hold
    #[arg(long, value_enum, default_value_t = PropertyName::ProgramSpec, conflicts_with_all = ["ask", "weaken"])]
    pub property: PropertyName,
    /// Write the first proposal to the file; for `-`, print the changed test instead of everything else. A condition
    /// `exists` becomes `~exists`
    #[arg(long)]
    pub write: bool,
    /// The other direction: find the orders, scopes and fences that the test does not need to forbid its outcome
    #[arg(long)]
    pub weaken: bool,
    /// Judge and print every proposal of at most --edits edits, not only the first five of the fewest edits
    #[arg(long, conflicts_with = "weaken")]
    pub all: bool,
    /// The largest number of edits of a proposal
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=6))]
    pub edits: u32,
    /// If nothing else suffices, also move an instruction to the other side of its neighbour
    #[arg(long, conflicts_with = "weaken")]
    pub moves: bool,
    /// The engine that judges proposals again
    #[arg(long, value_enum, default_value_t = EngineName::All)]
    pub engine: EngineName,
    /// The time limit of the search: processor time of its own thread
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub timeout: Duration,
    /// The memory limit of a changed test in each engine, such as `512MiB` or `4GiB`
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size)]
    pub memory: ByteSize,
    /// Output format
    #[arg(long, value_enum, default_value_t = FixFormat::Text)]
    pub format: FixFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum FixFormat {
    Text,
    /// One object.
    Json,
}
