//! Whether the outcome of a cycle is allowed, without text and without the other outcomes.

use std::ops::ControlFlow;

use engine::{Engine, ExecutionFacts, Limit, Limits};
use litmus::Comparand;
use litmus::proposition::truncate;
use model::rel::Model;
use model::value::Value;

use crate::build::{self, CycleProgram};
use crate::cycle::Cycle;

/// What is known of the outcome of a cycle.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CycleAnswer {
    Allowed,
    Forbidden,
    /// Some execution of the program has no meaning, for this reason.
    Undefined(String),
    Undecided(&'static str),
}

impl CycleAnswer {
    pub fn name(&self) -> &'static str {
        match self {
            CycleAnswer::Allowed => "allowed",
            CycleAnswer::Forbidden => "forbidden",
            CycleAnswer::Undefined(_) => "undefined",
            CycleAnswer::Undecided(_) => "undecided",
        }
    }
}

/// Asks one engine for the outcome of a cycle.
pub fn ask(cycle: &Cycle, model: &Model, engine: &dyn Engine, limits: &Limits) -> CycleAnswer {
    let CycleProgram { program, outcome, .. } = build::program(cycle);
    let all = program.may_be_undefined();
    let bits: Vec<u32> =
        (0..outcome.len()).map(|index| Comparand::Observed(index).bits(&program)).collect();
    let is_it = |values: &[Value]| {
        let same =
            |((value, wanted), bits): ((&Value, &Value), &u32)| truncate(*value, *bits) == *wanted;
        values.iter().zip(&outcome).zip(&bits).all(same)
    };
    let mut seen = ExecutionFacts::default();
    let mut allowed = false;
    let result = engine.outcomes(model, &program, limits, &mut seen, &mut |values, _| {
        allowed |= is_it(values);
        if allowed && !all { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match (seen.undefined, result) {
        (Some(undefined), _) => CycleAnswer::Undefined(undefined.reason),
        (None, _) if allowed => CycleAnswer::Allowed,
        (None, Err(limit)) => CycleAnswer::Undecided(limit.text()),
        (None, Ok(())) if seen.bound_reached => CycleAnswer::Undecided(Limit::Steps.text()),
        (None, Ok(())) => CycleAnswer::Forbidden,
    }
}

/// How many cycles have each answer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AnswerTally {
    pub allowed: u64,
    pub forbidden: u64,
    pub undefined: u64,
    pub undecided: u64,
}

impl AnswerTally {
    pub fn add(&mut self, answer: &CycleAnswer) {
        let count = match answer {
            CycleAnswer::Allowed => &mut self.allowed,
            CycleAnswer::Forbidden => &mut self.forbidden,
            CycleAnswer::Undefined(_) => &mut self.undefined,
            CycleAnswer::Undecided(_) => &mut self.undecided,
        };
        *count += 1;
    }

    pub fn join(&mut self, other: &AnswerTally) {
        self.allowed += other.allowed;
        self.forbidden += other.forbidden;
        self.undefined += other.undefined;
        self.undecided += other.undecided;
    }

    pub fn total(&self) -> u64 {
        self.allowed + self.forbidden + self.undefined + self.undecided
    }
}
