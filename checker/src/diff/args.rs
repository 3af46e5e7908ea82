//! The arguments of `causeway diff`.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use generate::space::CycleKind;
use generate::word::{CycleAnnotation, Via};
use model::scope::Scope;

use crate::cli::{ExplainFormat, LimitArgs, seconds};
use crate::generation::args::{Choices, annotations, distances, kinds, range, vias};

pub const EXAMPLE: &str = "\
Example: what a reading is worth; a model of one's own; two engines; two machines; the tests of a folder
  causeway diff ptx ptx:R13=semantic
  causeway diff ptx mine.cat --threads 2..3 --all --list
  causeway diff ptx@enumerate ptx@solve --threads 2
  causeway diff sm_70 sm_90 SB MP --accesses relaxed.gpu
  causeway diff ptx ptx:R6=physical --tests litmus/suite";

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

#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[derive(Args, Debug)]
pub struct Diff {
    /// A side: `ptx`, `ptx:READING=CHOICE`, `FILE.cat`, each also with `@ENGINE`; `sm_90`, `sm_90:FILE.table`
    #[arg(value_name = "A")]
    pub one: String,
    /// The other side
    #[arg(value_name = "B")]
    pub other: String,
    /// Cycles such as `PodWW Rfe PodRR Fre`, or families such as MP [default: those of --threads]
    #[arg(value_name = "CYCLE")]
    pub cycles: Vec<String>,
    /// Try all cycles of so many threads: 3, or 2..4
    #[arg(long, value_name = "N..M", value_parser = range, default_value = "2..3", conflicts_with = "cycles")]
    pub threads: RangeInclusive<usize>,
    /// Of these, the cycles of so many edges [default: any]
    #[arg(long, value_name = "N..M", value_parser = range, conflicts_with = "cycles")]
    pub edges: Option<RangeInclusive<usize>>,
    /// Which cycles of so many threads: a list of `coherence`, of one location, `critical`, and `atomic`, critical but
    /// for threads that only do an atomic, and `pattern`, critical but for threads that begin or end with two accesses to
    /// one location; or `all`
    #[arg(long, value_name = "LIST", default_value = "coherence,critical,atomic", value_parser = kinds, conflicts_with = "cycles")]
    pub kinds: Choices<CycleKind>,
    /// How accesses without an annotation are ordered, as for `gen`
    #[arg(long, value_name = "LIST", default_value = "weak,relaxed.gpu,acquire.gpu,release.gpu", value_parser = annotations)]
    pub accesses: Choices<CycleAnnotation>,
    /// What may be in the place of plain program order, as for `gen`
    #[arg(long, value_name = "LIST", default_value = "po,addr,data,ctrl,fake,fence.acq_rel.gpu,fence.sc.gpu", value_parser = vias)]
    pub po: Choices<Via>,
    /// Distances between threads without a placement, as for `gen`
    #[arg(long, value_name = "LIST", default_value = "gpu", value_parser = distances)]
    pub place: Choices<Scope>,
    /// Try litmus tests instead of cycles: files, or folders to search for .litmus files; tests with fewer threads and
    /// instructions come first
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with_all = ["cycles", "threads", "edges", "kinds", "accesses", "po", "place", "frontier"])]
    pub tests: Vec<PathBuf>,
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
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub format: ExplainFormat,
    /// The number of tests to judge in parallel [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
}
