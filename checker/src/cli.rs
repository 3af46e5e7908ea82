//! The commands and their help texts. The options of a command are beside the command, those of several in `options`.

mod files;
mod printed;

use std::path::PathBuf;
use std::sync::LazyLock;

use anstream::ColorChoice;
use clap::{Parser, Subcommand, ValueEnum};
use ptx::version::PtxIsa;

pub(crate) use self::printed::PrintedKind;
use crate::check::args::Check;
use crate::diff;
use crate::examples;
use crate::explain::args::Explain;
use crate::explore::args::Explore;
use crate::fix;
use crate::format::Fmt;
use crate::fuzz;
use crate::generation::args;
use crate::lint::args::Lint;
use crate::lower::args::Lower;
use crate::model_command::ModelArgs;
use crate::ptx_explain::args::PtxExplain;
use crate::sass::args::{Decode, SassExplain, SassRead};
use crate::schema::SchemaArgs;
use crate::serve;
use crate::verify;
use crate::words;

/// Where options of every command stand in a help text: after those of the command itself.
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
    /// Judge launches of PTX kernels: races, assertions, hangs, bounds
    ///
    /// Exit codes: 0 nothing was found, or what a launch file expects; 1 something else was found; 2 a file, a launch or a kernel
    /// could not be read; 4 a limit was reached and nothing was found.
    #[command(after_help = verify::args::EXAMPLE)]
    Verify(verify::args::Verify),
    /// Make a litmus test of functions of a PTX module, or list them with what they order
    ///
    /// `check`, `explain`, `fix` and `explore` take the same words in a file's place: `causeway check k.ptx 'f(x) || g(x)'
    /// --never '[x]=1'`.
    ///
    /// Exit codes: 0 the test, or the list, is printed; 2 the module could not be read or compiled, the functions or
    /// conditions could not be understood, or a function has an instruction that no test has.
    #[command(after_help = words::args::EXAMPLE)]
    Litmus(words::args::Litmus),
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

pub(crate) fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let z3 = option_env!("LIBZ3_VERSION").map_or("no z3".to_owned(), |v| format!("z3 {v}"));
        let document = model::section::REVISION;
        let forms = PtxIsa::NEWEST;
        format!("{} ({document}; forms of PTX up to {forms}; {z3})", env!("CARGO_PKG_VERSION"))
    });
    &VERSION
}
