//! The arguments of `causeway verify`.

use std::path::PathBuf;

use clap::Args;

use crate::options::{CompilerArgs, EngineName, Judging, LimitArgs};
use crate::report::{ReportFormat, without_outcomes};

pub(crate) const EXAMPLE: &str = "\
Example: two CTAs of one thread each, a flag that is 0 at first, and what memory ends with
  causeway verify k.ptx --grid 2 --block 1 --arg data='u32[1]=0' --arg flag='u32[1]=0' --arg out='u32[1]' --assert 'out[0]==1'
  causeway verify launch.toml";

#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[derive(Args, Debug)]
#[command(
    mut_arg("bound", |bound| bound.help("Follow a loop for this many iterations at first, and for more of them as long as that is cheap; what is behind the last one is undecided, unless another execution decides it")),
    mut_arg("timeout", |timeout| timeout.help("The time limit of a launch with all its questions, after which what is left is undecided: processor time of the launch's own thread [default: 30]")),
    mut_arg("memory", |memory| memory.help("The memory limit of a question in each engine, after which it is undecided, such as `512MiB` or `4GiB`"))
)]
pub struct Verify {
    /// A PTX module, or launch files: `.toml`; with a compiler, the source of a module
    #[arg(value_name = "FILE", required = true)]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub launch: LaunchArgs,
    #[command(flatten)]
    pub compilers: CompilerArgs,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// The engine that judges
    #[arg(long, value_enum, default_value_t = EngineName::Auto)]
    pub engine: EngineName,
    /// Look for every cheap repair, not only for the first one
    #[arg(long)]
    pub repair: bool,
    /// The other direction: find the orders, scopes, fences and barriers that a clean launch does not need
    #[arg(long, conflicts_with = "print_test")]
    pub weaken: bool,
    /// Judge again after each change of a file; Ctrl-C ends
    #[arg(long, conflicts_with = "print_test")]
    pub watch: bool,
    /// Print the litmus test of the launch, and do not judge it
    #[arg(long)]
    pub print_test: bool,
    /// Also write a page to this file: the findings, and for each kind an execution beside the lines of the source
    #[arg(long, value_name = "FILE.html", conflicts_with = "print_test")]
    pub page: Option<PathBuf>,
    /// Output format
    #[arg(long, value_parser = without_outcomes(), default_value = "text")]
    pub format: ReportFormat,
}

/// A launch on the command line.
#[derive(Args, Clone, PartialEq, Eq, Debug, Default)]
pub struct LaunchArgs {
    /// The kernel, by its name in the module or in the source [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// The CTAs of the grid: `2` or `2,2`
    #[arg(long, value_name = "X,Y,Z", allow_negative_numbers = true)]
    pub grid: Option<String>,
    /// The threads of a CTA: `32` or `8,4` [default: those of `.reqntid`, if the kernel has it]
    #[arg(long, value_name = "X,Y,Z", allow_negative_numbers = true)]
    pub block: Option<String>,
    /// The CTAs of a cluster
    #[arg(long, value_name = "X,Y,Z", allow_negative_numbers = true)]
    pub cluster: Option<String>,
    /// The threads of each CTA that are in the test: `0,1`, or `all`
    #[arg(long, value_name = "N,N", allow_negative_numbers = true)]
    pub lanes: Option<String>,
    /// A cooperative launch: the grid has a barrier, `grid.sync()`
    #[arg(long)]
    pub cooperative: bool,
    /// What a volatile access is: `ptx`, relaxed at system scope, or `plain`, as in C++, unless a loop waits for it [default: ptx]
    #[arg(long, value_name = "MEANING")]
    pub volatile: Option<String>,
    /// The number of CTAs that run at once [default: all]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub resident: Option<u32>,
    /// An argument, in the order of parameters: `n=4`, `a='u32[4]=0'`, `b=@a+16`
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub arguments: Vec<String>,
    /// The bytes of dynamic shared memory
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    pub shared: Option<u32>,
    /// What is asked, of `assert`, `race`, `hang`, `barrier`, `bounds` and `uninitialised` [default: all]
    #[arg(long, value_name = "LIST")]
    pub check: Option<String>,
    /// What holds at the end: `out[0]==4`
    #[arg(long = "assert", value_name = "CONDITION")]
    pub assertions: Vec<String>,
}
