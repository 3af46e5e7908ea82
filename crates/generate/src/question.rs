//! Whether the outcome of a cycle is allowed, without text and without the other outcomes.

use std::fmt;
use std::ops::ControlFlow;

use engine::sought::{Demand, Sought};
use engine::witness::Witness;
use engine::{Engine, ExecutionFacts, Limit, Limits};
use judge::directed;
use judge::subject::ReadingSubject;
use litmus::Comparand;
use litmus::proposition::truncate;
use model::program::Program;
use model::rel::Model;
use model::value::Value;

use crate::build::{self, CycleProgram};
use crate::cycle::Cycle;

/// What is known of the outcome of a cycle.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CycleAnswer {
    Allowed,
    Forbidden,
    /// No execution of the program finishes.
    Stuck,
    /// Some execution of the program has no meaning, for this reason.
    Undefined(String),
    Undecided(&'static str),
}

impl CycleAnswer {
    pub fn name(&self) -> &'static str {
        match self {
            CycleAnswer::Allowed => "allowed",
            CycleAnswer::Forbidden => "forbidden",
            CycleAnswer::Stuck => "stuck",
            CycleAnswer::Undefined(_) => "undefined",
            CycleAnswer::Undecided(_) => "undecided",
        }
    }
}

impl fmt::Display for CycleAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            CycleAnswer::Undefined(why) => write!(f, " ({why})"),
            CycleAnswer::Undecided(why) => write!(f, " ({why})"),
            CycleAnswer::Allowed | CycleAnswer::Forbidden | CycleAnswer::Stuck => Ok(()),
        }
    }
}

/// Asks one engine for the outcome of a cycle. Only executions that may have it are searched.
pub fn ask(cycle: &Cycle, model: &Model, engine: &dyn Engine, limits: &Limits) -> CycleAnswer {
    let CycleProgram { program, outcome, .. } = build::program(cycle);
    let bits: Vec<u32> =
        (0..outcome.len()).map(|index| Comparand::Observed(index).bits(&program)).collect();
    let is_wanted = |index: usize, value: Value| truncate(value, bits[index]) == outcome[index];
    let asked = |values: &[Option<Value>]| {
        values.iter().enumerate().all(|(index, value)| value.is_none_or(|v| is_wanted(index, v)))
    };
    let mut seen = ExecutionFacts::default();
    let mut allowed = false;
    let sought = Sought::Outcomes(&asked, &Vec::new, &Demand::NONE);
    let result = engine.search(model, &program, limits, sought, &mut seen, &mut |values, _| {
        allowed |= values.iter().enumerate().all(|(index, &value)| is_wanted(index, value));
        if allowed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let undefined = if directed::may_be_undefined(&program, model) {
        let (seen, visit) =
            (&mut seen, &mut |_: &[Value], _: &dyn Fn() -> Witness| ControlFlow::Continue(()));
        engine.search(model, &program, limits, Sought::Undefined(&Vec::new), seen, visit)
    } else {
        Ok(())
    };
    match (seen.undefined, result.and(undefined)) {
        (Some(undefined), _) => CycleAnswer::Undefined(undefined.reason),
        (None, _) if allowed => CycleAnswer::Allowed,
        (None, Err(limit)) => CycleAnswer::Undecided(limit.text()),
        (None, Ok(())) if seen.bound_reached => CycleAnswer::Undecided(Limit::Steps.text()),
        (None, Ok(())) if ReadingSubject::Waits.is_in(&program) => {
            match never_finishes(&program, model, engine, limits) {
                Ok(true) => CycleAnswer::Stuck,
                Ok(false) => CycleAnswer::Forbidden,
                Err(limit) => CycleAnswer::Undecided(limit.text()),
            }
        }
        (None, Ok(())) => CycleAnswer::Forbidden,
    }
}

/// Whether a program has no outcome because its threads wait for ever.
fn never_finishes(
    program: &Program,
    model: &Model,
    engine: &dyn Engine,
    limits: &Limits,
) -> Result<bool, Limit> {
    let limits = Limits { unending: true, ..*limits };
    let mut seen = ExecutionFacts::default();
    let sought = Sought::Outcomes(&|_| true, &Vec::new, &Demand::NONE);
    engine.search(
        model,
        program,
        &limits,
        sought,
        &mut seen,
        &mut |_, _| ControlFlow::Break(()),
    )?;
    Ok(seen.is_endless())
}

/// How many cycles have each answer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AnswerTally {
    pub allowed: u64,
    pub forbidden: u64,
    pub stuck: u64,
    pub undefined: u64,
    pub undecided: u64,
}

impl AnswerTally {
    pub fn add(&mut self, answer: &CycleAnswer) {
        let count = match answer {
            CycleAnswer::Allowed => &mut self.allowed,
            CycleAnswer::Forbidden => &mut self.forbidden,
            CycleAnswer::Stuck => &mut self.stuck,
            CycleAnswer::Undefined(_) => &mut self.undefined,
            CycleAnswer::Undecided(_) => &mut self.undecided,
        };
        *count += 1;
    }

    pub fn join(&mut self, other: &AnswerTally) {
        self.allowed += other.allowed;
        self.forbidden += other.forbidden;
        self.stuck += other.stuck;
        self.undefined += other.undefined;
        self.undecided += other.undecided;
    }

    pub fn total(&self) -> u64 {
        self.allowed + self.forbidden + self.stuck + self.undefined + self.undecided
    }
}
