//! What an engine answers about a program, and how two answers differ.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use engine::{Engine, ExecutionFacts, Limit, Limits, MEMORY};
use judge::explain::candidate::{Candidate, Visitor, WantedCandidates, candidates};
use litmus::{Prop, Test};
use model::bits::BitRow;
use model::program::{Observed, Program};
use model::rel::Model;
use model::value::Value;

/// What an engine says of a program: its outcomes, or that it has no meaning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EngineAnswer {
    Outcomes(BTreeSet<Vec<Value>>),
    Undefined,
    /// No execution finishes.
    Stuck,
}

/// How often a loop body is executed.
pub const BOUND: u32 = 2;

/// The limits of one question: by work, so that the answer does not depend on the computer.
pub fn limits(work: u64) -> Limits {
    Limits { memory: MEMORY, work: Some(work), ..Limits::unlimited(BOUND) }
}

/// Asks an engine for all outcomes, with what it saw.
pub fn asked(
    engine: &dyn Engine,
    model: &Model,
    program: &Program,
    limits: &Limits,
) -> Result<(EngineAnswer, ExecutionFacts), Limit> {
    let (mut seen, mut outcomes) = (ExecutionFacts::default(), BTreeSet::new());
    engine.outcomes(model, program, limits, &mut seen, &mut |outcome, _| {
        outcomes.insert(outcome.to_vec());
        ControlFlow::Continue(())
    })?;
    let answer = if seen.undefined.is_some() {
        EngineAnswer::Undefined
    } else if outcomes.is_empty() && seen.stuck.is_some() {
        EngineAnswer::Stuck
    } else {
        EngineAnswer::Outcomes(outcomes)
    };
    Ok((answer, seen))
}

/// Asks an engine for all outcomes.
pub fn ask(
    engine: &dyn Engine,
    model: &Model,
    program: &Program,
    limits: &Limits,
) -> Result<EngineAnswer, Limit> {
    asked(engine, model, program, limits).map(|(answer, _)| answer)
}

/// Collects the outcomes of consistent candidates, tried one by one and without any pruning.
struct Naive {
    outcomes: BTreeSet<Vec<Value>>,
    left: usize,
}

impl Visitor for Naive {
    fn candidate<R: BitRow>(&mut self, candidate: &Candidate<'_, R>) -> bool {
        if candidate.broken.is_empty() {
            self.outcomes.insert(candidate.outcome.to_vec());
        }
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }
}

/// The test without observed memory and without a condition, as [`naive`] needs it: the last writes of a candidate
/// are not determined by the least coherence order.
pub fn of_registers(test: &Test) -> Test {
    let mut test = Test { proposition: Prop::True, ..test.clone() };
    test.program.observed.retain(|observed| matches!(observed, Observed::Register { .. }));
    test
}

/// The outcomes by the definition: of each candidate, one by one. `None` if there are more candidates than these.
pub fn naive(
    test: &Test,
    model: &Model,
    most: usize,
    limits: &Limits,
) -> Result<Option<BTreeSet<Vec<Value>>>, Limit> {
    let mut naive = Naive { outcomes: BTreeSet::new(), left: most };
    let complete = candidates(test, model, WantedCandidates::Outcome, limits, &mut naive)?;
    Ok(complete.then_some(naive.outcomes))
}

/// How two answers differ, each with the name of its account, and an outcome that only one has.
pub fn difference(
    test: &Test,
    a: (&str, &EngineAnswer),
    b: (&str, &EngineAnswer),
) -> Option<(String, Option<Vec<Value>>)> {
    if a.1 == b.1 {
        return None;
    }
    if let (EngineAnswer::Outcomes(x), EngineAnswer::Outcomes(y)) = (a.1, b.1) {
        let first = x.difference(y).next().map(|outcome| (a.0, outcome));
        let (name, outcome) = first.or_else(|| Some((b.0, y.difference(x).next()?)))?;
        let shown = test.display_outcome(outcome);
        return Some((format!("only `{name}` has the outcome {shown}"), Some(outcome.clone())));
    }
    let side = |of: (&str, &EngineAnswer)| format!("`{}` has {}", of.0, of.1.name());
    Some((format!("{}, {}", side(a), side(b)), None))
}

impl EngineAnswer {
    fn name(&self) -> &'static str {
        match self {
            EngineAnswer::Outcomes(_) => "outcomes",
            EngineAnswer::Undefined => "undefined behaviour",
            EngineAnswer::Stuck => "no execution that finishes",
        }
    }
}
