//! Commands, flags and their help.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use anstream::ColorChoice;
use bytesize::ByteSize;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use machine::form::Family;
use model::reading;
use ptx::version::{PtxIsa, Target};

use crate::explore::args::MachineArgs;
use crate::lines;
use crate::report::{self, Format};

/// A checker for the memory model of NVIDIA GPUs: the PTX document made executable.
///
/// A path `-` is standard input, for every command. Results go to standard output; what is wrong with an
/// input, and warnings, to standard error.
///
/// Exit codes: 0 everything is as expected; 1 a verdict differs from the test, or a module breaks a
/// rule, or a file is not formatted; 2 an input could not be read or understood, or the command line is wrong;
/// 3 engines disagree, or a formatted test is another one, which is a bug in the checker; 4 a limit was reached and nothing worse happened; 130 the run was interrupted,
/// and has said what it had done; 141 the output was closed before everything was written.
#[derive(Parser, Debug)]
#[command(name = "causeway", version = version(), max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value_t = Colour::Auto,
        help = "Whether to print in colour; `auto` asks the stream, and NO_COLOR, CLICOLOR and CLICOLOR_FORCE"
    )]
    pub color: Colour,
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
    /// Judge litmus tests: a file, or every .litmus file below a folder
    Check(Check),
    /// Show why a test's outcome is allowed (an execution) or forbidden (the cycle in each one)
    Explain(Explain),
    /// Format litmus tests in place: files, and every .litmus file below folders
    ///
    /// Columns are aligned and blanks made regular; comments, documentation and the order of everything stay.
    /// A file that is formatted already is not written, nor is one that is no litmus test. `-` is formatted
    /// to standard output.
    ///
    /// Exit codes: 0 every file is formatted now; 1 with --check or --diff, a file is not formatted; 2 a
    /// file could not be read, understood or written.
    #[command(after_help = FMT_EXAMPLE)]
    Fmt(Fmt),
    /// Print the memory model
    Model(Model),
    /// Check whether the memory instructions of PTX modules are legal, by the document and by ptxas
    ///
    /// It checks each instruction alone, by its qualifiers, types and operands. It does not check
    /// whether the program is correct: `check` does that, for litmus tests.
    Lint(Lint),
    /// Judge lowerings: whether a compiler keeps the memory model of its source
    ///
    /// Exit codes: 0 every row is preserved or stronger; 1 one is weaker, of a wrong value or invalid; 2
    /// the file could not be read; 4 one is outside, unsupported or undecided, and none is worse.
    Lower(Lower),
    /// Run litmus tests on the machine: caches and queues instead of axioms
    Explore(Explore),
    /// Print the JSON Schema of the objects of `--format json`
    Schema(Schema),
    /// Questions about single PTX instructions
    #[command(subcommand)]
    Ptx(Ptx),
    /// Look at SASS, the machine's own instructions
    #[command(subcommand)]
    Sass(Sass),
}

const FMT_EXAMPLE: &str = "\
Example: name the tests of a folder that are not formatted, and format them
  causeway fmt --check litmus/suite
  causeway fmt litmus/suite";

#[derive(Args, Debug)]
pub struct Schema {
    /// Whose objects; without it, the names that there are
    #[arg(value_enum)]
    pub name: Option<lines::Schema>,
}

#[derive(Subcommand, Debug)]
pub enum Ptx {
    /// Say in plain words what an instruction does, promises, needs and becomes
    ///
    /// Exit codes: 0 it keeps all rules; 1 it breaks one; 2 it could not be read.
    Explain(PtxExplain),
}

#[derive(Subcommand, Debug)]
pub enum Sass {
    /// Print the text of LDG words: hexadecimal, one instruction a line, from standard input
    Decode(Decode),
    /// Say in plain words what an instruction does, field by field
    ///
    /// Exit codes: 0 it keeps all rules; 1 it breaks one; 2 it could not be read.
    Explain(SassExplain),
    /// List the functions of a listing, and what their memory instructions are for the machine
    ///
    /// Exit codes: 0 all was read; 1 an instruction breaks a rule; 2 one could not be read.
    Read(SassRead),
}

#[derive(Args, Debug)]
pub struct SassExplain {
    /// Instructions, as `LDG.E.64.STRONG.GPU R2, [R4+0x10]`, or their names
    #[arg(required = true, value_name = "INSTRUCTION")]
    pub instructions: Vec<String>,
    /// The architecture [default: any that has what is written]
    #[arg(long, value_name = "TARGET", value_parser = machine)]
    pub arch: Option<u16>,
    /// How many registers the shader has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub registers: Option<u8>,
    /// How to show it
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub format: ExplainFormat,
}

#[derive(Args, Debug)]
pub struct SassRead {
    /// Listings of nvdisasm or cuobjdump -sass, folders to search for .sass files, or `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The architecture, in the place of the listing's; its rules are asked then
    #[arg(long, value_name = "TARGET", value_parser = machine)]
    pub arch: Option<u16>,
    /// Show every instruction, not only those of memory
    #[arg(short, long)]
    pub verbose: bool,
}

#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[derive(Args, Debug)]
pub struct Explore {
    /// Files, folders to search for .litmus files, or `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The architecture, as `sm_90`; or all families
    #[arg(long, value_name = "TARGET|all", default_value = "sm_90", value_parser = architectures)]
    pub arch: Architectures,
    /// Lower by this table in place of the one that comes with the program
    #[arg(long, value_name = "FILE.table")]
    pub table: Option<PathBuf>,
    /// Compare with the axioms: every outcome of the machine must be allowed
    #[arg(long)]
    pub check: bool,
    /// Show the shortest run to each outcome
    #[arg(long)]
    pub runs: bool,
    /// Show how much was searched
    #[arg(long)]
    pub stats: bool,
    /// Count the states from which no end can be reached. That an end can be reached does not say
    /// that every run gets there
    #[arg(long, conflicts_with = "random")]
    pub progress: bool,
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Give up after so many states; a random walk, after so many steps
    #[arg(long, value_name = "N", default_value_t = 2_000_000)]
    pub states: usize,
    /// Take N random walks in place of a full search, and count how often each outcome comes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub random: Option<u64>,
    /// Where the choices of random walks come from
    #[arg(long, value_name = "N", default_value_t = 1, requires = "random")]
    pub seed: u64,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub limits: Limits,
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Show every comparison, and the allowed outcomes that the machine has not
    #[arg(short, long)]
    pub verbose: bool,
    /// How many tests to run at once [default: one for each core]
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
    group = clap::ArgGroup::new("made").args(["to", "llc"]).multiple(true)
)]
pub struct Lower {
    /// A table of lowerings, with the columns `source` (LLVM IR or PTX), `target` (PTX or SASS) and `arch`
    /// (`sm_90`)
    #[arg(long, value_name = "FILE.csv")]
    pub rows: Option<PathBuf>,
    /// A table of lowerings, PTX to SASS as in sass/lowering, or C++ to PTX: every row of it is judged
    #[arg(long, value_name = "FILE.table")]
    pub table: Option<PathBuf>,
    /// Functions as they were: LLVM IR (.ll) or PTX (.ptx)
    #[arg(long, value_name = "FILE", requires = "made")]
    pub from: Option<PathBuf>,
    /// Functions as a compiler made them: LLVM IR (.ll), PTX (.ptx), or a listing of nvdisasm or cuobjdump
    /// (.sass)
    #[arg(long, value_name = "FILE", requires = "from")]
    pub to: Option<PathBuf>,
    /// Compile the source with this `llc`, for `--arch`, and judge what it makes; `--to` says where that is
    /// kept
    #[arg(long, value_name = "PATH", requires = "from")]
    pub llc: Option<PathBuf>,
    /// Compile the threads of litmus tests with this assembler, and judge what it makes of them
    #[arg(long, value_name = "PATH", requires_all = ["nvdisasm", "tests"])]
    pub ptxas: Option<PathBuf>,
    /// The disassembler for it
    #[arg(long, value_name = "PATH", requires = "ptxas")]
    pub nvdisasm: Option<PathBuf>,
    /// Keep the module and its listing in this folder
    #[arg(long, value_name = "FOLDER", requires = "ptxas")]
    pub keep: Option<PathBuf>,
    /// Litmus tests, or folders to search for .litmus files: what the assembler compiles, or the table
    /// lowers
    #[arg(value_name = "TEST", conflicts_with_all = ["rows", "from"])]
    pub tests: Vec<PathBuf>,
    /// The architecture of a listing [default: the listing's]; what to compile for [default: `sm_70`
    /// with --llc, `sm_90` with --ptxas]
    #[arg(long, value_name = "TARGET", value_parser = machine, conflicts_with = "rows")]
    pub arch: Option<u16>,
    /// Execute a loop body of a function at most this many times
    #[arg(long, value_name = "N", default_value_t = 2, conflicts_with = "rows", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub bound: u32,
    #[command(flatten)]
    pub limits: Limits,
    /// Accept the findings in this file, the output of `--format json`: only new ones fail
    #[arg(long, value_name = "FILE.json")]
    pub baseline: Option<PathBuf>,
    /// How to report
    #[arg(long, value_parser = report::without_outcomes(), default_value = "text")]
    pub format: Format,
    /// Assume that no access of an aligned scalar is torn
    #[arg(long)]
    pub no_tearing: bool,
    /// Let a refutation fail too that needs a race of weak accesses in a source of PTX
    #[arg(long)]
    pub racy: bool,
    /// Assume that what is exchanged as a part of a word is accessed in no other way
    #[arg(long)]
    pub cas_only: bool,
    /// How many questions to judge at once [default: one for each core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
}

#[derive(Args, Debug)]
pub struct Decode {
    /// The architecture that the words are of
    #[arg(long, value_name = "TARGET", value_parser = target)]
    pub arch: Target,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum EngineName {
    /// Explicit executions over bit matrices.
    Enumerate,
    /// Formulas for z3.
    Solve,
    /// All that this build has; they have to agree.
    All,
}

/// The readings of the built-in model of PTX.
#[derive(Args, Debug)]
pub struct Switched {
    /// Judge under another choice where the document leaves one (docs/readings.md); once for each
    /// reading, in the built-in model of PTX
    #[arg(long = "reading", value_name = "READING=CHOICE", value_parser = PossibleValuesParser::new(choices()))]
    pub readings: Vec<String>,
}

/// `R13=semantic` and all others that there are.
fn choices() -> impl Iterator<Item = PossibleValue> {
    static NAMES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
        let choices = reading::ALL.iter().flat_map(|reading| {
            reading.choices.iter().enumerate().map(move |(index, choice)| {
                let default = if index == 0 { " (default)" } else { "" };
                let name = format!("{}={}", reading.name, choice.name);
                (name, format!("{}: {}{default}", reading.question, choice.meaning))
            })
        });
        choices.collect()
    });
    NAMES.iter().map(|(name, help)| PossibleValue::new(name.as_str()).help(help.as_str()))
}

/// What a test may take.
#[derive(Args, Clone, Debug)]
pub struct Limits {
    /// Give up a test after so many seconds for each engine; it is undecided then. `lower` gives up a
    /// program, a row or function in one context [default: none; of `lower`, 10]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Give up a test that needs more memory, in each engine; it is undecided then. `512MiB`, `4GiB`
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    pub memory: ByteSize,
}

impl Limits {
    pub fn bytes(&self) -> usize {
        usize::try_from(self.memory.as_u64()).unwrap_or(usize::MAX)
    }
}

/// What decides a verdict beside the test.
#[derive(Args, Debug)]
pub struct Judging {
    /// Judge under this .cat model, or `ptx`, `cxx` or `cxx-rc11`, in place of the one that is built in
    /// for the language of a test
    #[arg(long, value_name = "FILE.cat")]
    pub model: Option<PathBuf>,
    #[command(flatten)]
    pub readings: Switched,
    /// Execute a loop body at most this many times; where that cuts an execution short, the verdict
    /// is `undecided` unless it is decided already
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub bound: u32,
}

#[derive(Args, Debug)]
pub struct Check {
    /// Files, folders to search for .litmus files, or `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Which engine decides
    #[arg(long, value_enum, default_value_t = EngineName::All)]
    pub engine: EngineName,
    #[command(flatten)]
    pub judging: Judging,
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Show every test, not only those that fail
    #[arg(short, long)]
    pub verbose: bool,
    /// How many tests to judge at once [default: one for each core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub limits: Limits,
    /// Stop at the first execution that decides a condition: faster, without the set of outcomes
    #[arg(long)]
    pub verdict_only: bool,
}

#[derive(Args, Debug)]
pub struct Fmt {
    /// Files, folders to search for .litmus files, or `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Write nothing; name each file that is not formatted
    #[arg(long)]
    pub check: bool,
    /// Write nothing; show what would change
    #[arg(long)]
    pub diff: bool,
}

#[derive(Args, Debug)]
pub struct Explain {
    /// A litmus test; `-` is standard input
    #[arg(value_name = "FILE")]
    pub path: PathBuf,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub limits: Limits,
    /// How to show it
    #[arg(long, value_enum, default_value_t = Drawing::Text)]
    pub format: Drawing,
    /// Open every definition, also those that add nothing
    #[arg(long)]
    pub deep: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Drawing {
    Text,
    /// A graph for graphviz.
    Dot,
}

#[derive(Args, Debug)]
pub struct Lint {
    /// Files, folders to search for .ptx files, or `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The version of PTX, in the place of each file's `.version`
    #[arg(long, value_name = "VERSION", value_parser = ptx_isa)]
    pub ptx_isa: Option<PtxIsa>,
    /// The target, in the place of each file's `.target`
    #[arg(long, value_name = "TARGET", value_parser = target)]
    pub target: Option<Target>,
    /// Follow the document where ptxas differs; what only ptxas says is a warning then
    #[arg(long)]
    pub strict: bool,
    /// How to report
    #[arg(long, value_parser = report::without_outcomes(), default_value = "text")]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct PtxExplain {
    /// Instructions, as `ld.acquire.gpu.global.u32 r, [a]`: with a guard or without, `;` at the end or not
    #[arg(required = true, value_name = "INSTRUCTION")]
    pub instructions: Vec<String>,
    /// The version of PTX that it is written for [default: the newest known]
    #[arg(long, value_name = "VERSION", value_parser = ptx_isa)]
    pub ptx_isa: Option<PtxIsa>,
    /// The target that it is written for [default: any]
    #[arg(long, value_name = "TARGET", value_parser = target)]
    pub target: Option<Target>,
    /// Follow the document where ptxas differs; what only ptxas says is a warning then
    #[arg(long)]
    pub strict: bool,
    /// How to show it
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub format: ExplainFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ExplainFormat {
    Text,
    /// One object for each instruction, one a line.
    Json,
}

#[derive(Args, Debug)]
pub struct Model {
    /// Print this .cat model, or `cxx` or `cxx-rc11`, in place of the built-in one of PTX
    #[arg(long, value_name = "FILE.cat")]
    pub model: Option<PathBuf>,
    #[command(flatten)]
    pub readings: Switched,
    /// In which language
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

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?;
    if seconds.is_finite() && seconds > 0.0 && seconds < 1e9 {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("a timeout is a positive number of seconds".to_owned())
    }
}

fn architectures(text: &str) -> Result<Architectures, String> {
    if text == "all" {
        // One target of each family.
        return Ok(Architectures(vec![50, 70, 80, 90, 100]));
    }
    let target = Target::parse(text).filter(|target| Family::of(target.sm).is_some());
    target
        .map(|target| Architectures(vec![target.sm]))
        .ok_or_else(|| "an architecture is sm_50 to sm_121, or `all`".to_owned())
}

fn machine(text: &str) -> Result<u16, String> {
    let target = Target::parse(text).filter(|target| Family::of(target.sm).is_some());
    target.map(|target| target.sm).ok_or_else(|| "an architecture is sm_50 to sm_121".to_owned())
}

fn ptx_isa(text: &str) -> Result<PtxIsa, String> {
    PtxIsa::parse(text).ok_or_else(|| "a version of PTX is two numbers, as 8.8".to_owned())
}

fn target(text: &str) -> Result<Target, String> {
    Target::parse(text).ok_or_else(|| "a target is `sm_` and a number, as sm_90a".to_owned())
}

fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let z3 = option_env!("LIBZ3_VERSION").map_or("no z3".to_owned(), |v| format!("z3 {v}"));
        format!("{} ({}, {z3})", env!("CARGO_PKG_VERSION"), model::section::REVISION)
    });
    &VERSION
}
