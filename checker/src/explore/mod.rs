//! Searching the machine: every outcome that a run can have, and how.

pub mod command;
pub mod inclusion;
pub mod machine;
pub mod one;
pub mod random;
mod records;
pub mod report;
mod search;

use std::collections::BTreeMap;

use litmus::sass::lower::Lowering;
use model::machine::{Machine, Options, Refusal, Step, WIDER};
use model::program::Program;
use model::value::Value;

/// How much is looked at before giving up, and what is wanted besides outcomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    pub states: usize,
    /// For each outcome, the steps of a run.
    pub runs: bool,
    /// How many states can not reach an end.
    pub progress: bool,
}

impl Limits {
    pub fn states(states: usize) -> Limits {
        Limits { states, runs: false, progress: false }
    }
}

/// What the machine can do with a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Explored {
    /// Each outcome, with the steps of a run that has it if that was asked for: as few choices as
    /// any, and what could not be told from happening at once.
    pub outcomes: BTreeMap<Vec<Value>, Vec<Step>>,
    pub states: usize,
    pub transitions: usize,
    /// Bytes that the states take, with what it takes to find them.
    pub bytes: usize,
    /// States in which nothing can happen and some thread has not ended.
    pub stuck: usize,
    /// States from which no end can be reached, if that was asked for.
    pub endless: Option<usize>,
    /// Why not everything was looked at, if not.
    pub limit: Option<&'static str>,
}

/// Runs a program, lowered by a table, in every way that the machine has.
pub fn explore(
    program: &Program,
    lowering: Lowering<'_>,
    options: Options,
    limits: Limits,
) -> Result<Explored, Refusal> {
    let lowered = lowering.program(program)?;
    let explored = |wide: bool| {
        let mut machine = Machine::new(program, lowered.clone(), options, wide)?;
        Ok(search::search(&mut machine, program.threads.len(), limits))
    };
    match explored(false)? {
        Explored { limit: Some(WIDER), .. } => explored(true),
        explored => Ok(explored),
    }
}
