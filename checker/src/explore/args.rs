//! The options of `causeway explore`, and of the machine elsewhere.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use machine::{Home, MachineRule, Options, Reduce};

use crate::options::values::{Architectures, architectures};
use crate::options::{Judging, LimitArgs};
use crate::report::ReportFormat;
use crate::words::args::WordsArgs;

#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[derive(Args, Debug)]
pub struct Explore {
    /// Files, folders to search for .litmus files, or `-` for standard input; or a PTX module and functions of it, as in
    /// `k.ptx 'f(data) || g(data)'` (see `causeway litmus`)
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
    pub asked: WordsArgs,
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

/// What kind of machine: those of the readings R51 to R68 that have an option.
#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[derive(Args, Debug)]
pub struct MachineArgs {
    /// Put all CTAs of a GPU on one SM
    #[arg(long)]
    pub one_sm: bool,
    /// Where global memory is: a GPU's number, also of one without threads, or `host` [default: the first thread's GPU]
    #[arg(long, value_name = "GPU|host", value_parser = home)]
    pub home: Option<Home>,
    /// Execute an `acq_rel` atomic as three instructions instead of one unit
    #[arg(long)]
    pub split_atomics: bool,
    /// Give each thread a store buffer in front of L1
    #[arg(long)]
    pub store_buffers: bool,
    /// Let loads pass a MEMBAR.ALL that still waits for stores
    #[arg(long)]
    pub lazy_all: bool,
    /// Let loads pass a MEMBAR.CTA that still waits for loads, as an H100 seems to
    #[arg(long)]
    pub lazy_cta: bool,
    /// Keep weak loads of one location in order
    #[arg(long)]
    pub in_order_weak: bool,
    /// Let the L2 of a GPU hold copies of memory that is homed elsewhere
    #[arg(long)]
    pub copies: bool,
    /// Which loads of remote memory may read stores that wait in the link: none, those below system scope, all
    #[arg(long, value_enum, default_value_t = Forward::Below)]
    pub forward: Forward,
    /// Start with no valid lines
    #[arg(long)]
    pub cold: bool,
    /// Never evict lines; only instructions invalidate them
    #[arg(long)]
    pub no_eviction: bool,
    /// The reductions of the search
    #[arg(long, value_enum, default_value_t = StateReduction::All)]
    pub reduce: StateReduction,
    /// Disable one rule of the machine, such as R4, to see its effect
    #[arg(long, value_name = "RULE", value_parser = rule)]
    pub without: Option<MachineRule>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Forward {
    None,
    Below,
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum StateReduction {
    /// None: every step in every order.
    None,
    /// Every state, but only one order of steps that commute.
    Sleep,
    /// Steps that commute with all others are taken at once.
    Por,
    /// Also one state for all permutations of equal threads.
    All,
}

impl MachineArgs {
    pub fn options(&self) -> Options {
        Options {
            one_sm: self.one_sm,
            home: self.home,
            fused: !self.split_atomics,
            store_buffers: self.store_buffers,
            lazy_all: self.lazy_all,
            lazy_cta: self.lazy_cta,
            weak_pass: !self.in_order_weak,
            copies: self.copies,
            forward: self.forward != Forward::None,
            forward_sys: self.forward == Forward::All,
            warm: !self.cold,
            eviction: !self.no_eviction,
            reduce: match self.reduce {
                StateReduction::None => Reduce::None,
                StateReduction::Sleep => Reduce::Sleep,
                StateReduction::Por => Reduce::Por,
                StateReduction::All => Reduce::All,
            },
            without: self.without,
            variant: None,
        }
    }
}

fn home(text: &str) -> Result<Home, String> {
    if text == "host" {
        return Ok(Home::Host);
    }
    text.parse().map(Home::Gpu).map_err(|_| "expected the number of a GPU, or `host`".to_owned())
}

fn rule(text: &str) -> Result<MachineRule, String> {
    MachineRule::of(text).ok_or_else(|| {
        let all: Vec<String> = MachineRule::ALL
            .iter()
            .map(|rule| format!("{}: {}", rule.name(), rule.text()))
            .collect();
        format!("the rules are\n  {}", all.join("\n  "))
    })
}
