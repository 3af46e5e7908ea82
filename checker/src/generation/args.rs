//! The arguments of `causeway gen`, `causeway export` and `causeway compare`.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use generate::access::AccessForm;
use generate::kind::CycleKind;
use generate::word::{CycleAnnotation, Via};
use model::scope::Scope;

use super::requested::RequestedCycles;
use crate::options::EngineName;
use crate::options::Judging;
use crate::options::LimitArgs;
use crate::options::ReadingArgs;

pub const EXAMPLE: &str = "\
Example: a test; all tests of a family, written; how many tests there are; their verdicts
  causeway gen 'PodWW ReleaseGpu Rfe AcquireGpu PodRR Fre'
  causeway gen SB --accesses weak,relaxed.gpu --po po,fence.sc.gpu --place cta,gpu --out tests
  causeway gen --threads 2..3 --accesses all --po all --place all --count
  causeway gen --threads 3 --accesses relaxed.gpu --po po,fence.acq_rel.gpu --check
  causeway gen MP --accesses weak,relaxed.gpu,acquire.gpu,release.gpu --po po,fence.acq_rel.gpu --frontier";

/// Which cycles to make tests of.
#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("which").required(true).args(["cycles", "threads"]))]
pub struct Gen {
    #[command(flatten)]
    pub requested: RequestedCycles,
    /// Print only how many tests there are
    #[arg(long, conflicts_with_all = ["out", "check", "list"])]
    pub count: bool,
    /// Print the name and the cycle of each test, instead of the test
    #[arg(long, conflicts_with = "out")]
    pub list: bool,
    /// Draw this many tests
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub sample: Option<u32>,
    /// The seed of the draw
    #[arg(long, value_name = "N", default_value_t = 1, requires = "sample")]
    pub seed: u64,
    /// Write each test to a file in this folder, and their names to the file `@all`
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Judge the tests and print how many are allowed and forbidden; with --out, the tests expect their verdict
    #[arg(long)]
    pub check: bool,
    /// Print, for each cycle and placement, the strongest choices that allow its outcome and the weakest that
    /// forbid it. Stronger choices never allow more, so few are judged
    #[arg(long, conflicts_with_all = ["count", "list", "sample", "out", "check"])]
    pub frontier: bool,
    /// The engine to use
    #[arg(long, value_enum, default_value_t = EngineName::Enumerate, help_heading = JUDGES)]
    pub engine: EngineName,
    #[command(flatten, next_help_heading = JUDGES)]
    pub judging: Judging,
    #[command(flatten, next_help_heading = JUDGES)]
    pub limits: LimitArgs,
    /// The number of tests to judge in parallel [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = JUDGES)]
    pub jobs: Option<u16>,
}

/// Above the options of `gen` that judge tests.
const JUDGES: &str = "With --check or --frontier";

/// What tests are exported to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ExportKind {
    /// The untyped PTX of Dartagnan; also `dartagnan`.
    #[value(alias = "dartagnan")]
    Dat3m,
    /// LISA for herd7, also `herd7`; with --out, also the model: ptx.bell and ptx.cat.
    #[value(alias = "herd7")]
    HerdLisa,
    /// A PTX module for ptxas, also `ptxas`: its kernel runs each thread of the test once.
    #[value(alias = "ptxas")]
    Ptx,
    /// A CUDA program that runs the test many times on a GPU, and prints a histogram in the words of litmus7.
    Cuda,
}

#[derive(Args, Debug)]
#[command(
    mut_arg("readings", |readings| readings.help("The interpretation of the document (docs/readings.md) whose model --format herd-lisa writes to the folder of --out; at most once for each reading")),
    mut_arg("async_races", |races| races.hide(true)),
)]
pub struct Export {
    /// Files, folders to search for .litmus files, or `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// What to write
    #[arg(long, value_enum)]
    pub format: ExportKind,
    /// Write each test to a file in this folder, and their names to the file `@all`
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub readings: ReadingArgs,
}

#[derive(Args, Debug)]
pub struct Compare {
    /// A log of herd7, litmus7 or an exported program, or `-` for standard input
    #[arg(value_name = "LOG")]
    pub log: PathBuf,
    /// The tests of the log: files, or folders to search for .litmus files
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The engine to use
    #[arg(long, value_enum, default_value_t = EngineName::All)]
    pub engine: EngineName,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// The log is that of a search, such as herd7's: an allowed outcome that it does not have is a difference, too
    #[arg(long)]
    pub complete: bool,
    /// Show the allowed outcomes that the log does not have
    #[arg(short, long)]
    pub verbose: bool,
}

/// A list of choices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choices<T>(pub Vec<T>);

/// `3` or `2..4`, both ends included.
pub(crate) fn range(text: &str) -> Result<RangeInclusive<usize>, String> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let number =
        |text: &str| text.parse::<usize>().ok().filter(|number| (1..=100).contains(number));
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => Err("expected a number from 1 to 100, or two such as 2..4".to_owned()),
    }
}

/// A list of words, or `all`.
fn choices<T: Clone>(
    text: &str,
    all: impl Iterator<Item = T>,
    name: impl Fn(&T) -> String,
) -> Result<Choices<T>, String> {
    let known: Vec<(String, T)> = all.map(|one| (name(&one), one)).collect();
    if text == "all" {
        return Ok(Choices(known.into_iter().map(|(_, one)| one).collect()));
    }
    let mut chosen = Vec::new();
    for word in text.split(',').map(str::trim) {
        let Some((_, one)) = known.iter().find(|(name, _)| name == word) else {
            let names = known.iter().map(|(name, _)| name.as_str()).chain(["all"]);
            let near = text::report::nearest(word, names);
            let help = if let Some(near) = near {
                format!("; did you mean `{near}`?")
            } else {
                let names = known.iter().map(|(name, _)| name.as_str()).chain(["all"]);
                format!("\n  [possible values: {}]", names.collect::<Vec<_>>().join(", "))
            };
            return Err(format!("unknown choice `{}`{help}", text::cursor::short(word)));
        };
        chosen.push(one.clone());
    }
    Ok(Choices(chosen))
}

pub(crate) fn annotations(text: &str) -> Result<Choices<CycleAnnotation>, String> {
    choices(text, CycleAnnotation::all(), |one| one.name())
}

pub(crate) fn forms(text: &str) -> Result<Choices<AccessForm>, String> {
    choices(text, AccessForm::all(), |one| one.name())
}

pub(crate) fn vias(text: &str) -> Result<Choices<Via>, String> {
    choices(text, Via::all(), |one| one.name())
}

pub(crate) fn distances(text: &str) -> Result<Choices<Scope>, String> {
    choices(text, Scope::ALL.into_iter(), |one| one.name().to_owned())
}

pub(crate) fn kinds(text: &str) -> Result<Choices<CycleKind>, String> {
    choices(text, CycleKind::ALL.into_iter(), |one| one.name().to_owned())
}
