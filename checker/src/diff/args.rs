//! The arguments of `causeway diff`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::generation::requested::RequestedCycles;
use crate::options::LimitArgs;
use crate::options::values::seconds;

pub const EXAMPLE: &str = "\
Example: what a reading is worth; a model of one's own; two engines; two machines; the tests of a folder
  causeway diff ptx ptx:R13=semantic
  causeway diff ptx mine.cat --threads 2..3 --all --list
  causeway diff ptx@enumerate ptx@solve --threads 2
  causeway diff sm_70 sm_90 SB MP --accesses relaxed.gpu
  causeway diff ptx ptx:R6=physical --tests litmus/suite --shrink";

/// When frontiers settle cycles without judging them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Settles {
    /// Where both sides are the built-in model, for which stronger choices never allow more.
    Auto,
    /// On both sides, of which the same is then assumed.
    Always,
    /// Each test is judged.
    Never,
}

/// What is printed of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum DiffFormat {
    Text,
    /// One object per difference and one for the run, one per line.
    Json,
}

#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[derive(Args, Debug)]
#[command(
    mut_arg("threads", |threads| threads.default_value("2..3")),
    mut_arg("kinds", |kinds| kinds.default_value("coherence,critical,atomic,overwritten,divided")),
    mut_arg("accesses", |accesses| accesses.default_value("weak,relaxed.gpu,acquire.gpu,release.gpu")),
    mut_arg("po", |po| po.default_value("po,addr,data,ctrl,fake,fence.acq_rel.gpu,fence.sc.gpu")),
)]
pub struct Diff {
    /// A side: `ptx`, `ptx:READING=CHOICE`, `FILE.cat`, each also with `@ENGINE`; `sm_90`, `sm_90:FILE.table`
    #[arg(value_name = "A")]
    pub one: String,
    /// The other side
    #[arg(value_name = "B")]
    pub other: String,
    #[command(flatten)]
    pub requested: RequestedCycles,
    /// Try litmus tests instead of cycles: files, or folders to search for .litmus files; tests with fewer threads and
    /// instructions come first
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with_all = ["cycles", "threads", "edges", "kinds", "accesses", "forms", "po", "place", "frontier"])]
    pub tests: Vec<PathBuf>,
    /// Make each test that differs smaller, as long as the same side allows an outcome that the other forbids; its
    /// condition is then that outcome
    #[arg(long, requires = "tests")]
    pub shrink: bool,
    /// Do not stop at the smallest size that has a difference
    #[arg(long)]
    pub all: bool,
    /// The number of differences to print
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    /// Print the name of each test, without its text and explanations; for a cycle, also the cycle
    #[arg(long)]
    pub list: bool,
    /// Whether to settle stronger choices by weaker ones, instead of judging each
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Settles::Auto)]
    pub frontier: Settles,
    /// Execute a loop body of a litmus test at most this many times
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub bound: u32,
    /// Stop a run of a machine after this many states
    #[arg(long, value_name = "N", default_value_t = 2_000_000)]
    pub states: usize,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// The time limit of the search. What it does not reach is not tried [default: none]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub total_timeout: Option<Duration>,
    /// Output format
    #[arg(long, value_enum, default_value_t = DiffFormat::Text)]
    pub format: DiffFormat,
    /// The number of tests to judge in parallel [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
}
