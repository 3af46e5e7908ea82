//! The options of `causeway check`.

use std::path::PathBuf;

use clap::Args;

use crate::options::{EngineName, Judging, LimitArgs, PropertyName};
use crate::report::ReportFormat;
use crate::words::args::WordsArgs;

#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[derive(Args, Debug)]
pub struct Check {
    /// Files, folders to search for .litmus files, or `-` for standard input, which may have several tests; or a PTX module
    /// and functions of it, as in `k.ptx 'f(data) || g(data)' --never '[data]=1'` (see `causeway litmus`)
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// What to check
    #[arg(long, value_enum, default_value_t = PropertyName::ProgramSpec)]
    pub property: PropertyName,
    /// The engine to use
    #[arg(long, value_enum, default_value_t = EngineName::Auto)]
    pub engine: EngineName,
    #[command(flatten)]
    pub asked: WordsArgs,
    #[command(flatten)]
    pub judging: Judging,
    /// Output format
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
    /// Show every test, not only those that fail
    #[arg(short, long)]
    pub verbose: bool,
    /// Show only the tests that fail: no summary, no progress. The other formats are not affected
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Also write pages of the results to this folder: `index.html` and a page for each test
    #[arg(long, value_name = "FOLDER", conflicts_with = "list")]
    pub report: Option<PathBuf>,
    /// Judge only these tests, such as `name(MP) & !instruction(fence) | threads(3)`; see below
    #[arg(long, value_name = "FILTER")]
    pub filter: Option<String>,
    /// List the tests, with their names and conditions; judge nothing
    #[arg(long)]
    pub list: bool,
    /// Judge this condition instead of that of each test, such as `exists (1:r0=1 /\ 1:r1=0)`
    #[arg(long, value_name = "CONDITION")]
    pub ask: Option<String>,
    /// Judge the tests again when a file changes, until Ctrl-C
    #[arg(long, conflicts_with = "list")]
    pub watch: bool,
    /// The number of tests to judge in parallel [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Search only what may decide the condition, and stop there; faster, but neither outcomes nor races are listed
    #[arg(long)]
    pub verdict_only: bool,
    /// List the outcomes of each test; those with which its condition is true have a star
    #[arg(long, conflicts_with = "verdict_only")]
    pub outcomes: bool,
    /// Count the executions of each outcome, and list the races of all of them; the search takes as long as there are
    /// executions, not only outcomes. Only the engine `enumerate` counts: it is used where `--engine` is `auto`
    #[arg(long, conflicts_with = "verdict_only")]
    pub count_executions: bool,
}
