//! Commands, options and their help texts.

mod files;
mod printed;
mod property;
mod reading;

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use anstream::ColorChoice;
use bytesize::ByteSize;
use clap::{Args, Parser, Subcommand, ValueEnum};
use ptx::version::{PtxIsa, Target};

pub(crate) use self::printed::PrintedKind;
pub use self::property::PropertyName;
pub(crate) use self::reading::list as readings;
pub use self::reading::{AsyncRaces, ReadingArgs};
use crate::diff;
use crate::examples;
use crate::explore::args::MachineArgs;
use crate::fix;
use crate::fuzz;
use crate::generation::args;
use crate::lines;
use crate::report::{self, ReportFormat};
use crate::serve;
use crate::values::{architectures, machine, ptx_isa, seconds, size, target};

/// Where options of every command stand in a help text: behind those of the command itself.
const LAST: usize = 900;

/// A checker for the memory model of NVIDIA GPUs: the PTX document made executable.
///
/// In every command, the path `-` is standard input. Results go to standard output; errors in an
/// input, and warnings, go to standard error.
///
/// Exit codes: 0 everything is as expected; 1 a verdict differs from the test, or a module breaks a
/// rule, or a file is not formatted; 2 an input could not be read or understood, or the command line is wrong;
/// 3 engines disagree, or formatting would change a test, which is a bug in the checker; 4 a limit was reached and nothing worse happened; 130 the run was interrupted,
/// and its results so far are printed; 141 the output was closed before everything was written.
#[derive(Parser, Debug)]
#[command(name = "causeway", version = version(), max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[arg(
        long,
        global = true,
        display_order = LAST,
        value_enum,
        value_name = "WHEN",
        default_value_t = Colour::Auto,
        help = "When to use colour; `auto` depends on the terminal, NO_COLOR, CLICOLOR and CLICOLOR_FORCE"
    )]
    pub color: Colour,
    /// Write the results to this file, not to standard output
    #[arg(short, long, global = true, display_order = LAST, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Take the defaults of options from this file [default: the nearest causeway.toml, in this folder or above]
    #[arg(long, global = true, display_order = LAST, value_name = "FILE.toml")]
    pub config: Option<PathBuf>,
    /// Do not look for a causeway.toml
    #[arg(long, global = true, display_order = LAST, conflicts_with = "config")]
    pub no_config: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Colour {
    Auto,
    Always,
    Never,
}

impl From<Colour> for ColorChoice {
    fn from(colour: Colour) -> ColorChoice {
        match colour {
            Colour::Auto => ColorChoice::Auto,
            Colour::Always => ColorChoice::Always,
            Colour::Never => ColorChoice::Never,
        }
    }
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Judge litmus tests: files, and every .litmus file in folders
    ///
    /// Exit codes: 0 every verdict is as its test says; 1 one is not; 2 a test could not be read, or the command line
    /// is wrong; 3 engines disagree, which is a bug in the checker; 4 a limit was reached and nothing worse happened;
    /// 130 the run was interrupted, and its results so far are printed.
    #[command(after_help = examples::CHECK)]
    Check(Check),
    /// Show why an outcome is allowed (an execution) or forbidden (the cycle in each candidate)
    ///
    /// Exit codes: 0 there is an answer; 2 the test or a model could not be read; 4 a limit was reached before the
    /// answer.
    #[command(after_help = examples::EXPLAIN)]
    Explain(Explain),
    /// Find the cheapest edits of a litmus test that forbid its outcome, or the orders that it does not need
    ///
    /// An edit raises an order, widens a scope, replaces `.nc`, or inserts a fence or barriers. Each proposal is legal
    /// PTX, and is judged again by each engine; without any one of its edits the outcome is allowed.
    ///
    /// Exit codes: 0 there is a proposal, or the outcome is forbidden already; 1 no set of edits within --edits forbids it;
    /// 2 the file could not be read, understood or written; 3 engines disagree; 4 a limit was reached first, or the test
    /// has no verdict.
    #[command(after_help = fix::args::EXAMPLE)]
    Fix(fix::args::Fix),
    /// Format litmus tests in place: files, and every .litmus file in folders
    ///
    /// Aligns columns and normalizes spaces; keeps comments, documentation and the order of everything.
    /// Does not write a file that is already formatted or is not a litmus test. `-` is formatted
    /// to standard output.
    ///
    /// Exit codes: 0 every file is formatted now; 1 with --check or --diff, a file is not formatted; 2 a
    /// file could not be read, understood or written.
    #[command(after_help = examples::FMT)]
    Fmt(Fmt),
    /// Generate litmus tests from critical cycles, count them, or judge them at once
    ///
    /// A cycle is a list of edges: `PodWW Rfe PodRR Fre`. Between two edges an annotation may order their access,
    /// and `@` places the threads: `PodWW ReleaseGpu Rfe AcquireGpu PodRR Fre @sys`. The name of a family stands for
    /// its cycle: MP. What a cycle leaves open is chosen from --accesses, --po and --place.
    ///
    /// Exit codes: 0 everything was generated; 2 a cycle could not be understood, or a file not be written; 3 engines
    /// disagree; 4 some test is undecided; 130 the run was interrupted.
    #[command(after_help = args::EXAMPLE)]
    Gen(args::Gen),
    /// Find the smallest tests on which two models, engines or machines differ, and explain both answers
    ///
    /// A side is `ptx`, the built-in model; `ptx:R13=semantic,R6=physical`, the model under other readings; a `.cat` file;
    /// or the machine of a target, `sm_90`, also with another lowering table, `sm_90:FILE.table`. `@enumerate` or `@solve`
    /// after a model names its engine; `enumerate` is `ptx@enumerate`. The tests are generated from cycles, small ones
    /// first, or read from files.
    ///
    /// Exit codes: 0 no difference was found; 1 there is one; 2 a side, cycle or file could not be understood; 3 two
    /// engines differ on one model; 4 no difference was found, and some test is undecided or was not tried; 130 the run
    /// was interrupted.
    #[command(after_help = diff::args::EXAMPLE)]
    Diff(diff::args::Diff),
    /// Export litmus tests to other tools: Dartagnan, herd7, ptxas, CUDA
    ///
    /// Exit codes: 0 everything was exported; 2 a test could not be read, or the format cannot express it.
    #[command(after_help = examples::EXPORT)]
    Export(args::Export),
    /// Compare the states of a log with the allowed outcomes of its tests
    ///
    /// Exit codes: 0 the log has only allowed outcomes; 1 it has a forbidden one; 2 the log or a test could not be
    /// read; 4 the outcomes of some test are not known.
    #[command(after_help = examples::COMPARE)]
    Compare(args::Compare),
    /// Check laws for random programs: two accounts of the memory model must agree on each
    ///
    /// A program that breaks a law is made small and printed, or saved as a litmus test with --out.
    ///
    /// Exit codes: 0 no program breaks a law; 2 the state could not be read or written, or is of another campaign; 3
    /// a program breaks a law, which is a bug in the checker; 130 the run was interrupted, and its results so far
    /// are printed.
    #[command(after_help = fuzz::args::EXAMPLE)]
    Fuzz(fuzz::args::Fuzz),
    /// Add the results of the parts of a campaign: `fuzz --shard`
    ///
    /// Exit codes: 0 no program breaks a law; 2 a state could not be read, or the states are not of one campaign, or
    /// hold the same cases; 3 a program breaks a law; 4 cases are missing, and nothing worse happened.
    #[command(after_help = examples::MERGE)]
    Merge(fuzz::args::Merge),
    /// Print the memory model
    ///
    /// Exit codes: 0 it is printed; 2 the model could not be read.
    #[command(after_help = examples::MODEL)]
    Model(ModelArgs),
    /// List the readings of the document that `--reading` switches, with their choices
    ///
    /// A reading is an interpretation where the document leaves a question open (docs/readings.md). The default is first.
    ///
    /// Exit codes: 0 they are listed.
    #[command(after_help = examples::READINGS)]
    Readings,
    /// Check that the memory instructions of PTX modules are legal, by the document and by ptxas
    ///
    /// Each instruction is checked alone: its qualifiers, types and operands. `lint` does not check
    /// whether the program is correct: `check` does that, for litmus tests.
    ///
    /// Exit codes: 0 there are no errors, with or without warnings, or a rule is explained; 1 an instruction breaks a rule, after corrections
    /// with --fix, or there is something to correct with --diff; 2 a module could not be read or written,
    /// or no rule has this code.
    #[command(after_help = examples::LINT)]
    Lint(Lint),
    /// Check whether a compiler preserved the memory model of its source
    ///
    /// Exit codes: 0 every row is preserved or stronger; 1 one is weaker, of a wrong value or invalid; 2
    /// the file could not be read; 4 some result is outside, unsupported or undecided, and none is worse; 130
    /// the run was interrupted, and its results so far are printed.
    #[command(after_help = examples::LOWER)]
    Lower(Lower),
    /// Run litmus tests on the machine: caches and queues instead of axioms
    ///
    /// Exit codes: 0 the outcomes are listed or, with --check, allowed by the axioms; 1 one is forbidden or, with --seen,
    /// one that was seen is not reached; 2 a test could not be read; 4 a limit was reached and nothing worse happened; 130
    /// the run was interrupted.
    #[command(after_help = examples::EXPLORE)]
    Explore(Explore),
    /// Serve a page on this computer: type a litmus test, see its verdict, outcomes, picture and explanation
    ///
    /// The page is at the printed address until Ctrl-C, and only for this computer. Tests are judged by the engine
    /// `enumerate`; a limit that is reached is the verdict `undecided`.
    ///
    /// Exit codes: 2 the address is not free, a model could not be read, or the command line is wrong; 130 Ctrl-C ended it.
    #[command(after_help = serve::args::EXAMPLE)]
    Serve(serve::args::Serve),
    /// Print the JSON Schema of the objects of `--format json`
    ///
    /// The exit code is 0.
    #[command(after_help = examples::SCHEMA)]
    Schema(SchemaArgs),
    /// Explain single PTX instructions
    #[command(subcommand)]
    Ptx(Ptx),
    /// Read and explain SASS, the machine code of the GPU
    #[command(subcommand)]
    Sass(Sass),
}

#[derive(Args, Debug)]
pub struct SchemaArgs {
    /// The command whose objects to describe; without it, list the names
    #[arg(value_enum)]
    pub name: Option<lines::LineKind>,
}

#[derive(Subcommand, Debug)]
pub enum Ptx {
    /// Explain what an instruction does, promises and requires, and the SASS it compiles to
    ///
    /// Exit codes: 0 no rule is broken; 1 a rule is broken; 2 an instruction could not be read.
    #[command(after_help = examples::PTX_EXPLAIN)]
    Explain(PtxExplain),
}

#[derive(Subcommand, Debug)]
pub enum Sass {
    /// Decode LDG instruction words: hexadecimal, one instruction per line, from standard input
    ///
    /// Exit codes: 0 every word is decoded; 2 one could not be.
    #[command(after_help = examples::SASS_DECODE)]
    Decode(Decode),
    /// Explain what an instruction does, field by field
    ///
    /// Exit codes: 0 no rule is broken; 1 a rule is broken; 2 an instruction could not be read.
    #[command(after_help = examples::SASS_EXPLAIN)]
    Explain(SassExplain),
    /// List the functions of a listing and classify their memory instructions
    ///
    /// Exit codes: 0 everything was read; 1 an instruction breaks a rule; 2 one could not be read.
    #[command(after_help = examples::SASS_READ)]
    Read(SassRead),
}

#[derive(Args, Debug)]
pub struct SassExplain {
    /// Instructions such as `LDG.E.64.STRONG.GPU R2, [R4+0x10]`, or opcodes
    #[arg(required = true, value_name = "INSTRUCTION")]
    pub instructions: Vec<String>,
    /// The architecture [default: any that has the instruction]
    #[arg(long, value_name = "TARGET", value_parser = machine)]
    pub arch: Option<u16>,
    /// The number of registers of the shader
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub registers: Option<u8>,
    /// Output format
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub format: ExplainFormat,
}

#[derive(Args, Debug)]
pub struct SassRead {
    /// Listings of nvdisasm or cuobjdump -sass, folders to search for .sass files, or `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The architecture, instead of the listing's; its rules are then checked
    #[arg(long, value_name = "TARGET", value_parser = machine)]
    pub arch: Option<u16>,
    /// Show every instruction, not only memory instructions
    #[arg(short, long)]
    pub verbose: bool,
}

#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[derive(Args, Debug)]
pub struct Explore {
    /// Files, folders to search for .litmus files, or `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The architecture, for example `sm_90`, or all families
    #[arg(long, value_name = "TARGET|all", default_value = "sm_90", value_parser = architectures)]
    pub arch: Architectures,
    /// Use this lowering table instead of the built-in one
    #[arg(long, value_name = "FILE.table")]
    pub table: Option<PathBuf>,
    /// Check that the axioms allow every outcome of the machine
    #[arg(long)]
    pub check: bool,
    /// Compare with the states that a log of a GPU, of herd7 or of litmus7 has: which ones the machine does not reach
    #[arg(long, value_name = "LOG", conflicts_with = "random")]
    pub seen: Option<PathBuf>,
    /// Show the shortest run to each outcome
    #[arg(long)]
    pub runs: bool,
    /// Write a page with a timeline of the shortest run to each outcome
    #[arg(long, value_name = "FILE.html", conflicts_with = "random")]
    pub timeline: Option<PathBuf>,
    /// Show the size of the search
    #[arg(long)]
    pub stats: bool,
    /// Count the states from which no end can be reached. That an end can be reached does not mean
    /// that every run gets there
    #[arg(long, conflicts_with = "random")]
    pub progress: bool,
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Stop after this many states, or, in a random walk, after this many steps
    #[arg(long, value_name = "N", default_value_t = 2_000_000)]
    pub states: usize,
    /// Take N random walks instead of a full search, and count how often each outcome occurs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub random: Option<u64>,
    /// The seed of the random walks
    #[arg(long, value_name = "N", default_value_t = 1, requires = "random")]
    pub seed: u64,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
    /// Show every comparison, and the allowed outcomes that the machine does not reach
    #[arg(short, long)]
    pub verbose: bool,
    /// The number of tests to run in parallel [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
}

/// What `--arch` names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Architectures(pub Vec<u16>);

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

#[derive(Args, Debug)]
pub struct Decode {
    /// The architecture of the words
    #[arg(long, value_name = "TARGET", value_parser = target)]
    pub arch: Target,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum EngineName {
    /// One after another with growing limits of work, until one comes to an end; z3 is loaded only if it is needed.
    Auto,
    /// Enumerates executions as bit matrices.
    Enumerate,
    /// Solves formulas with z3.
    Solve,
    /// Runs all engines of this build, which must agree.
    All,
}

/// What a test may take.
#[derive(Args, Clone, Debug)]
pub struct LimitArgs {
    /// The time limit of a test in each engine, after which it is undecided: processor time of the test's own thread
    /// [default: none]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// The memory limit of a test in each engine, after which it is undecided, such as `512MiB` or `4GiB`
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size)]
    pub memory: ByteSize,
}

impl LimitArgs {
    pub fn bytes(&self) -> usize {
        usize::try_from(self.memory.as_u64()).unwrap_or(usize::MAX)
    }
}

/// What decides a verdict beside the test.
#[derive(Args, Debug)]
pub struct Judging {
    /// Judge under this .cat model, or `ptx`, `cxx` or `cxx11`, instead of the built-in model
    /// for the language of a test
    #[arg(long, value_name = "FILE.cat")]
    pub model: Option<PathBuf>,
    #[command(flatten)]
    pub readings: ReadingArgs,
    /// Execute a loop body at most this many times; if that cuts an execution short, the verdict
    /// is `undecided` unless another execution decides it
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub bound: u32,
}

#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[derive(Args, Debug)]
pub struct Check {
    /// Files, folders to search for .litmus files, or `-` for standard input, which may have several tests
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// What to check
    #[arg(long, value_enum, default_value_t = PropertyName::ProgramSpec)]
    pub property: PropertyName,
    /// The engine to use
    #[arg(long, value_enum, default_value_t = EngineName::Auto)]
    pub engine: EngineName,
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

#[derive(Args, Debug)]
pub struct Fmt {
    /// Files, folders to search for .litmus files, or `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Write nothing; list the files that are not formatted
    #[arg(long)]
    pub check: bool,
    /// Write nothing; show what would change
    #[arg(long)]
    pub diff: bool,
}

#[derive(Args, Debug)]
pub struct Explain {
    /// A litmus test, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub path: PathBuf,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = Drawing::Text)]
    pub format: Drawing,
    /// Explain this condition instead of that of the test, such as `exists (1:r0=1 /\ 1:r1=0)`
    #[arg(long, value_name = "CONDITION")]
    pub ask: Option<String>,
    /// What to explain
    #[arg(long, value_enum, default_value_t = PropertyName::ProgramSpec, conflicts_with_all = ["ask", "weaken"])]
    pub property: PropertyName,
    /// Expand every definition, also those that add nothing
    #[arg(long)]
    pub deep: bool,
    /// Also show the pairs of these relations of the model, such as `causality,synchronizes`; `causeway model` lists their
    /// names
    #[arg(long, value_name = "RELATION,…", value_delimiter = ',')]
    pub show: Vec<String>,
    /// Also list the orders, scopes and fences that the test does not need to forbid its outcome
    #[arg(long)]
    pub weaken: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Drawing {
    Text,
    /// A graph for Graphviz: the first candidate that the text shows.
    Dot,
    /// A picture: the first candidate that the text shows.
    Svg,
    /// A page with a picture of each candidate, the text and the test.
    Html,
    /// One object with the graphs of all candidates.
    Json,
}

#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[derive(Args, Debug)]
pub struct Lint {
    /// Files, folders to search for .ptx files, or `-` for standard input
    #[arg(required_unless_present = "explain", value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Explain the rule with this code instead, such as `ld-scope-missing`
    #[arg(long, value_name = "CODE", exclusive = true)]
    pub explain: Option<String>,
    /// The version of PTX, instead of each file's `.version`
    #[arg(long, value_name = "VERSION", value_parser = ptx_isa)]
    pub ptx_isa: Option<PtxIsa>,
    /// The target, instead of each file's `.target`
    #[arg(long, value_name = "TARGET", value_parser = target)]
    pub target: Option<Target>,
    /// Follow the document where ptxas differs; rules of ptxas alone are then warnings
    #[arg(long)]
    pub strict: bool,
    /// Also exit with code 1 if there are only warnings
    #[arg(long)]
    pub deny_warnings: bool,
    /// Write the corrections that keep the meaning to the files, and report what is left; for `-`, print the
    /// corrected module, and what is left on standard error
    #[arg(long, group = "fixing")]
    pub fix: bool,
    /// Print what `--fix` would change, and write nothing
    #[arg(long, group = "fixing", conflicts_with_all = ["fix", "format"])]
    pub diff: bool,
    /// With `--fix` or `--diff`: also make the corrections that choose for you, such as a missing scope
    #[arg(long, requires = "fixing")]
    pub unsafe_fixes: bool,
    /// Output format
    #[arg(long, value_parser = report::without_outcomes(), default_value = "text")]
    pub format: ReportFormat,
}

#[derive(Args, Debug)]
pub struct PtxExplain {
    /// Instructions such as `ld.acquire.gpu.global.u32 r, [a]`; guard and final `;` are optional
    #[arg(required = true, value_name = "INSTRUCTION")]
    pub instructions: Vec<String>,
    /// The version of PTX [default: the newest known]
    #[arg(long, value_name = "VERSION", value_parser = ptx_isa)]
    pub ptx_isa: Option<PtxIsa>,
    /// The target [default: any]
    #[arg(long, value_name = "TARGET", value_parser = target)]
    pub target: Option<Target>,
    /// Follow the document where ptxas differs; rules of ptxas alone are then warnings
    #[arg(long)]
    pub strict: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub format: ExplainFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ExplainFormat {
    Text,
    /// One object per instruction, one per line.
    Json,
}

#[derive(Args, Debug)]
#[command(mut_arg("readings", |readings| readings.help("Print the model under another interpretation of the document, such as `R13=semantic`; at most once for each reading, in the built-in model of PTX. `causeway readings` lists them")))]
pub struct ModelArgs {
    /// Print this .cat model, or `cxx` or `cxx11`, instead of the built-in PTX model
    #[arg(long, value_name = "FILE.cat")]
    pub model: Option<PathBuf>,
    #[command(flatten)]
    pub readings: ReadingArgs,
    /// Output language
    #[arg(long, value_enum, default_value_t = ModelFormat::Text)]
    pub format: ModelFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ModelFormat {
    Text,
    /// herd's language.
    Cat,
    Markdown,
}

pub(crate) fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let z3 = option_env!("LIBZ3_VERSION").map_or("no z3".to_owned(), |v| format!("z3 {v}"));
        let document = model::section::REVISION;
        let forms = PtxIsa::NEWEST;
        format!("{} ({document}; forms of PTX up to {forms}; {z3})", env!("CARGO_PKG_VERSION"))
    });
    &VERSION
}
