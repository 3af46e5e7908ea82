//! Parts of a test that never meet, each judged on its own.
//!
//! Each question asks for an execution, and the executions of the whole are the combinations of those of its parts: one that lacks a
//! property shows in one part, whatever the others do.

use engine::clock::Deadline;
use engine::{Engine, ExecutionFacts, Limit, MOST_TOGETHER, join_stuck};
use execution::air::ThinAir;
use litmus::{Prop, Quantifier, Test};
use model::rel::Model;
use model::scope::Placement;
use model::value::Value;

use crate::found::EngineResult;
use crate::portfolio;
use crate::search::run;
use crate::split::{Goal, TestPart, TestParts, is_uncited};
use crate::task::{Property, Task};

impl TestParts {
    /// What the engines of a task find, all of them or those that take turns. `None` if the parts do not tell all.
    pub(crate) fn judged(&self, task: &Task<'_>, model: &Model) -> Option<Vec<EngineResult>> {
        if task.portfolio {
            let judge = |test: &Test, task: &Task<'_>| portfolio::run(test, task, model);
            return Some(vec![self.found(task, &judge)?]);
        }
        let found =
            |engine: &&dyn Engine| self.found(task, &|test, task| run(test, task, *engine, model));
        task.engines.iter().map(found).collect()
    }

    fn found(
        &self,
        task: &Task<'_>,
        judge: &dyn Fn(&Test, &Task<'_>) -> EngineResult,
    ) -> Option<EngineResult> {
        let until = task.limits().deadline;
        // What small parts leave of the time, large ones have.
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        order.sort_by_key(|&at| self.all[at].size);
        let mut all: Vec<EngineResult> = vec![EngineResult::default(); self.all.len()];
        for (done, at) in order.into_iter().enumerate() {
            let others = u32::try_from(self.all.len() - done).expect("few parts");
            let timeout = until.map(|until| until.left() / others);
            let task = Task { timeout, until, ..task.clone() };
            let mut found = judge(&self.all[at].test, &task);
            if found.seen.thin_air != ThinAir::None {
                // Its values are those of all threads.
                return None;
            }
            let has_none =
                found.is_complete() && !found.seen.finishes && found.seen.stuck.is_none();
            let finishing = matches!(task.property, Property::ProgramSpec | Property::Termination);
            if finishing && has_none && found.seen.undefined.is_none() {
                // Without an execution of one part there is none of the whole.
                return None;
            }
            let ends = found.seen.undefined.is_some() || found.limit == Some(Limit::Interrupted);
            if ends {
                found.outcomes.clear();
                found.witness = None;
                return Some(found);
            }
            all[at] = found;
        }
        self.settle(&mut all, until, task, judge);
        Some(self.merged(all))
    }

    /// Looks for executions that never finish where an outcome was found that is only one part of what was asked: the whole has none.
    fn settle(
        &self,
        all: &mut [EngineResult],
        until: Option<Deadline>,
        task: &Task<'_>,
        judge: &dyn Fn(&Test, &Task<'_>) -> EngineResult,
    ) {
        let shows = |found: &EngineResult| found.witness.is_some();
        if self.goal == Goal::Any || all.iter().all(shows) {
            return;
        }
        for (part, found) in self.all.iter().zip(all).filter(|(_, found)| shows(found)) {
            let test = Test { proposition: Prop::False, ..part.test.clone() };
            let task = Task { timeout: until.map(|until| until.left()), until, ..task.clone() };
            let settled = judge(&test, &task);
            if settled.limit.is_none() {
                *found = settled;
            }
        }
    }

    /// What is found of the whole.
    fn merged(&self, all: Vec<EngineResult>) -> EngineResult {
        let mut whole = EngineResult {
            engine: all.first().map_or("", |found| found.engine),
            directed: true,
            seen: ExecutionFacts {
                finishes: true,
                stuck_is_known: true,
                ..ExecutionFacts::default()
            },
            ..EngineResult::default()
        };
        let decides = match self.goal {
            Goal::Every => all.iter().all(|found| found.witness.is_some()),
            Goal::Any => all.iter().any(|found| found.witness.is_some()),
        };
        let mut outcome = Some(vec![0; self.all.iter().map(|part| part.observed.len()).sum()]);
        for (part, found) in self.all.iter().zip(all) {
            outcome = outcome.and_then(|whole| part.with_outcome(whole, &found));
            whole.limit = whole.limit.or(found.limit);
            whole.beyond_is_open |= found.beyond_is_open;
            if decides && whole.witness.is_none() {
                whole.witness = found.witness;
            }
            join(&mut whole.seen, found.seen);
        }
        if !whole.seen.finishes {
            whole.seen.exited.clear();
        }
        whole.seen.stuck_is_known |= whole.seen.stuck.is_some();
        if let Some(outcome) = outcome {
            if let Some(witness) = &mut whole.witness {
                witness.outcome.clone_from(&outcome);
            }
            whole.outcomes.insert(outcome, 1);
        } else {
            // One part decides, and another one has no end, or none is known.
            whole.witness = None;
        }
        whole
    }
}

/// Adds what clusters lack on their own, where a limit was reached before that of the whole was known. An execution of some CTAs is the
/// beginning of one of all, in which the others have not started yet: what these do later is not before anything in it.
pub(crate) fn add_begun(test: &Test, task: &Task<'_>, model: &Model, found: &mut EngineResult) {
    let is_small = |limit| matches!(limit, Limit::Work | Limit::Interrupted | Limit::Model);
    let open = found.limit.is_some_and(|limit| !is_small(limit)) && found.seen.undefined.is_none();
    let counts = task.property.is_of_outcomes() && !task.verdict_only;
    let program = &test.program;
    let shared = program.contested.is_some() || !program.launches.is_empty();
    if !open || counts || shared || is_uncited(model) {
        return;
    }
    let mut clusters: Vec<Placement> = Vec::new();
    for of in &program.threads {
        if !clusters.iter().any(|known| known.same_cluster(of.placement)) {
            clusters.push(of.placement);
        }
    }
    let Some(most) = u32::try_from(clusters.len()).ok().filter(|most| *most > 1) else { return };
    let until = task.limits().deadline;
    for (done, cluster) in (0..most).zip(clusters) {
        let mut own = Test {
            quantifier: Quantifier::Exists,
            proposition: Prop::False,
            filter: None,
            ..test.clone()
        };
        for thread in &mut own.program.threads {
            if !thread.placement.same_cluster(cluster) {
                thread.lines.clear();
            }
        }
        let timeout = until.map(|until| until.left() / (most - done));
        let task = Task { timeout, until, ..task.clone() };
        let begun = match task.engines.first() {
            Some(engine) if !task.portfolio => run(&own, &task, *engine, model),
            _ => portfolio::run(&own, &task, model),
        };
        if begun.seen.thin_air != ThinAir::None {
            continue;
        }
        if begun.seen.undefined.is_some() {
            found.seen.undefined = begun.seen.undefined;
            found.outcomes.clear();
            found.witness = None;
            return;
        }
        found.seen.races.extend(begun.seen.races);
        found.seen.uninitialised.extend(begun.seen.uninitialised);
    }
}

impl TestPart {
    /// An outcome of the whole with what this part observes; `None` if the part has none.
    fn with_outcome(&self, mut whole: Vec<Value>, found: &EngineResult) -> Option<Vec<Value>> {
        let own = found.outcomes.keys().next()?;
        for (&at, &value) in self.observed.iter().zip(own) {
            whole[at] = value;
        }
        Some(whole)
    }
}

/// Adds what was seen of another part.
fn join(whole: &mut ExecutionFacts, part: ExecutionFacts) {
    whole.races.extend(part.races);
    whole.uninitialised.extend(part.uninitialised);
    whole.warnings.extend(part.warnings);
    whole.flags.extend(part.flags);
    whole.exited.extend(part.exited);
    whole.unlisted = whole.unlisted.or(part.unlisted);
    whole.bound_reached |= part.bound_reached;
    whole.finishes &= part.finishes;
    if let Some(stuck) = part.stuck {
        join_stuck(whole.stuck.get_or_insert_default(), stuck);
    }
    // Those of each part stay together with those of any other.
    if whole.stuck_together.is_empty() {
        whole.stuck_together = part.stuck_together;
    } else if !part.stuck_together.is_empty() {
        let both = whole.stuck_together.iter().flat_map(|one| {
            part.stuck_together.iter().map(move |other| one.union(other).copied().collect())
        });
        whole.stuck_together = both.take(MOST_TOGETHER).collect();
    }
    whole.stuck_is_known &= part.stuck_is_known;
    whole.stuck_limit = whole.stuck_limit.or(part.stuck_limit);
    whole.races_limit = whole.races_limit.or(part.races_limit);
}
