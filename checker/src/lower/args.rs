//! The options of `causeway lower`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::options::LimitArgs;
use crate::options::values::{machine, seconds};
use crate::report::{self, ReportFormat};

#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[derive(Args, Clone, Debug)]
#[command(
    group = clap::ArgGroup::new("what").required(true).args(["rows", "table", "from", "ptxas"]),
    group = clap::ArgGroup::new("made").args(["to", "llc"]).multiple(true),
    mut_arg("timeout", |timeout| timeout.help("The time limit of a function, or of a row in one context, after which it is undecided: processor time of its own thread [default: 10]")),
    mut_arg("memory", |memory| memory.help("The memory limit of a function, or of a row in one context, after which it is undecided, such as `512MiB` or `4GiB`"))
)]
pub struct Lower {
    /// A file of lowerings, with the columns `source` (LLVM IR or PTX), `target` (PTX or SASS) and `arch`
    /// (`sm_90`)
    #[arg(long, value_name = "FILE.csv")]
    pub rows: Option<PathBuf>,
    /// A lowering table, PTX to SASS as in crates/sass/lowering, or C++ to PTX: every row is judged
    #[arg(long, value_name = "FILE.table")]
    pub table: Option<PathBuf>,
    /// The source functions: LLVM IR (.ll) or PTX (.ptx)
    #[arg(long, value_name = "FILE", requires = "made")]
    pub from: Option<PathBuf>,
    /// The compiled functions: LLVM IR (.ll), for a pass of `opt`, PTX (.ptx), or a listing of
    /// nvdisasm or cuobjdump (.sass)
    #[arg(long, value_name = "FILE", requires = "from")]
    pub to: Option<PathBuf>,
    /// Compile the source with this `llc` for `--arch`, and judge the result; with `--to`, the result is
    /// written to that file
    #[arg(long, value_name = "PATH", requires = "from")]
    pub llc: Option<PathBuf>,
    /// Compile the threads of litmus tests with this assembler, and judge the result
    #[arg(long, value_name = "PATH", requires_all = ["nvdisasm", "tests"])]
    pub ptxas: Option<PathBuf>,
    /// The disassembler for the assembler's output
    #[arg(long, value_name = "PATH", requires = "ptxas")]
    pub nvdisasm: Option<PathBuf>,
    /// Keep the module and its listing in this folder
    #[arg(long, value_name = "FOLDER", requires = "ptxas")]
    pub keep: Option<PathBuf>,
    /// Judge in this context, too: `R` is the judged code, `;` separates operations and `|` threads; may be repeated
    #[arg(long = "context", value_name = "SKELETON")]
    pub contexts: Vec<String>,
    /// Litmus tests, or folders to search for .litmus files, that the assembler compiles or the table
    /// lowers
    #[arg(value_name = "TEST", conflicts_with_all = ["rows", "from"])]
    pub tests: Vec<PathBuf>,
    /// The architecture of a listing [default: the listing's], or to compile for [default: `sm_70`
    /// with --llc, `sm_90` with --ptxas]
    #[arg(long, value_name = "TARGET", value_parser = machine, conflicts_with = "rows")]
    pub arch: Option<u16>,
    /// Execute a loop body of a function at most this many times
    #[arg(long, value_name = "N", default_value_t = 2, conflicts_with = "rows", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub bound: u32,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// The time limit of the run. Functions that it does not reach are undecided [default: none]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, conflicts_with_all = ["rows", "table"])]
    pub total_timeout: Option<Duration>,
    /// Accept the findings in this file, the output of `--format json`: only new ones fail
    #[arg(long, value_name = "FILE.json")]
    pub baseline: Option<PathBuf>,
    /// Fail for functions that are not judged only if fewer than this percentage of all functions are
    #[arg(long, value_name = "PERCENT", conflicts_with_all = ["rows", "table"], value_parser = clap::value_parser!(u8).range(..=100))]
    pub min_coverage: Option<u8>,
    /// Also write an HTML page with source, target and context side by side; words that the target lacks are
    /// marked
    #[arg(long, value_name = "FILE.html")]
    pub page: Option<PathBuf>,
    /// Output format
    #[arg(long, value_parser = report::without_outcomes(), default_value = "text")]
    pub format: ReportFormat,
    /// Whether the target is deleted at the end.
    #[arg(skip)]
    pub discards_target: bool,
    /// Assume that accesses to aligned scalars are never torn
    #[arg(long)]
    pub no_tearing: bool,
    /// Also fail on a refutation that requires a race of weak accesses in a PTX source
    #[arg(long)]
    pub racy: bool,
    /// Assume that sub-word atomics of rows are accessed only by the same compare-exchange loop
    #[arg(long, conflicts_with_all = ["from", "ptxas"])]
    pub cas_only: bool,
    /// Show only what fails as `weaker`, `wrong-value` or `invalid`, and the summary, and no progress. The other
    /// formats are not affected
    #[arg(short, long)]
    pub quiet: bool,
    /// The number of queries to judge in parallel [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
}
