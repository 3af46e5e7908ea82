//! The options that several commands share.

mod compilers;
mod property;
mod reading;
pub mod values;

use std::path::PathBuf;
use std::time::Duration;

use bytesize::ByteSize;
use clap::{Args, ValueEnum};

pub use self::compilers::CompilerArgs;
pub use self::property::PropertyName;
pub(crate) use self::reading::list as list_readings;
pub use self::reading::{AsyncRaces, ReadingArgs};
use self::values::{seconds, size};

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

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ExplainFormat {
    Text,
    /// One object per instruction, one per line.
    Json,
}
