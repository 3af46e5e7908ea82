//! What one engine finds in a search of every execution.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use engine::budget::Budget;
use engine::witness::Witness;
use engine::{Engine, ExecutionFacts, Limit, Limits, outcome};
use execution::air::ThinAir;
use litmus::{Prop, Quantifier, Test};
use model::rel::Model;
use model::value::Value;
use rustc_hash::FxHashMap;

use crate::task::Task;

/// What one engine found.
#[derive(Clone, Debug, Default)]
pub struct EngineResult {
    pub engine: &'static str,
    /// Outcomes that the filter lets through, each with the number of its executions, or 1 where they are not counted;
    /// where only the verdict was wanted, one of them.
    pub outcomes: BTreeMap<Vec<Value>, u64>,
    pub seen: ExecutionFacts,
    pub limit: Option<Limit>,
    /// Whether a limit was reached before it was known that an execution goes beyond the bound.
    pub beyond_is_open: bool,
    /// Whether only the verdict was wanted.
    pub directed: bool,
    /// An execution that decides the condition, if one does.
    pub witness: Option<Witness>,
}

impl EngineResult {
    /// Nothing yet, of this engine.
    pub(crate) fn of(engine: &dyn Engine) -> EngineResult {
        EngineResult { engine: engine.name(), ..EngineResult::default() }
    }

    /// Whether every execution was looked at.
    pub fn is_complete(&self) -> bool {
        self.limit.is_none() && !self.seen.bound_reached
    }

    /// Why there may be executions that were not looked at.
    pub fn unexplored(&self, task: &Task<'_>) -> Option<String> {
        match (self.limit, self.seen.bound_reached) {
            (Some(limit), _) => Some(limit.text().to_owned()),
            (None, true) => Some(why(task.bound, self.beyond_is_open)),
            (None, false) => None,
        }
    }
}

/// Why a test is undecided whose loop was cut at the bound. `open`: a limit was reached before it was known whether an
/// execution goes on there.
fn why(bound: u32, open: bool) -> String {
    let open = if open {
        ", and whether an execution goes on there was not found within the limits"
    } else {
        ""
    };
    format!("a loop was cut at its bound (--bound {bound}){open}")
}

/// Looks at every execution.
pub(crate) fn every_execution(
    test: &Test,
    limits: Limits,
    engine: &dyn Engine,
    model: &Model,
) -> EngineResult {
    let mut found = EngineResult::of(engine);
    let program = &test.program;
    let mut seen = ExecutionFacts::default();
    let mut outcomes: FxHashMap<Box<[Value]>, u64> = FxHashMap::default();
    let witness = &mut found.witness;
    // Engines hold them too.
    let mut budget = Budget::new(&limits);
    let result = engine.outcomes(model, program, &limits, &mut seen, &mut |outcome, show| {
        if let Some(executions) = outcomes.get_mut(outcome) {
            *executions += 1;
            return ControlFlow::Continue(());
        }
        if !test.passes(outcome) {
            return ControlFlow::Continue(());
        }
        outcomes.insert(outcome.into(), 1);
        if !budget.hold(2 * outcome::bytes(program)) {
            return ControlFlow::Break(());
        }
        let satisfied = test.proposition.holds(program, outcome);
        let decides = satisfied != (test.quantifier == Quantifier::ForAll);
        if decides && witness.is_none() {
            *witness = Some(show());
        }
        ControlFlow::Continue(())
    });
    // The map is ordered before anybody sees it.
    #[expect(clippy::iter_over_hash_type, reason = "collected into an ordered map")]
    for (outcome, executions) in outcomes {
        found.outcomes.insert(outcome.into_vec(), executions);
    }
    found.limit = result.and(budget.check()).and(thin_air_limit(test, &seen)).err();
    found.seen = seen;
    found
}

/// A limit, if the thin-air values that were tried do not stand for all: they are a sample, which is representative
/// unless the condition compares by order.
pub(crate) fn thin_air_limit(test: &Test, seen: &ExecutionFacts) -> Result<(), Limit> {
    let orders = test.proposition.compares_by_order()
        || test.filter.as_ref().is_some_and(Prop::compares_by_order);
    if seen.thin_air == ThinAir::Some && orders {
        return Err(Limit::ThinAir);
    }
    untried_air(seen)
}

/// A limit, if executions with values out of thin air were left out. Which values they are makes no difference here.
pub(crate) fn untried_air(seen: &ExecutionFacts) -> Result<(), Limit> {
    match seen.thin_air {
        ThinAir::None | ThinAir::Some => Ok(()),
        ThinAir::More => Err(Limit::ThinAir),
    }
}
