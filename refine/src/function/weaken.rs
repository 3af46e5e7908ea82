//! Whether less would do: the target with an order, a scope or a fence less, in every context.

use std::collections::BTreeMap;

use model::isa::Instruction;
use model::isa::alu::Branch;
use model::program::Program;
use model::strength::{KnownForms, Strength};

use super::ask::RefinementCase;
use super::bind::BoundFunction;
use crate::judgement::Refinement;
use crate::refiner::{AllowedOutcomes, ContextResult};
use crate::weaken::weakest;

/// The forms of a function's target. Nothing says for which version of PTX it is, and what passed was not asked again
/// with accesses torn.
pub(super) const FORMS: KnownForms =
    KnownForms { clusters: true, one_way_fences: false, weak: false };

/// A context in which the target is right, with what its source allows.
pub(super) struct PassedContext {
    pub(super) allowed: AllowedOutcomes,
    pub(super) target: Program,
    /// For each line of the first thread, the row.
    pub(super) rows: Vec<Option<usize>>,
    /// How many of the first threads run the function.
    pub(super) threads: usize,
}

/// Programs beyond which it is not asked.
const MOST: usize = 200_000;

/// By the number of a line of the function, the form that it has now; `None`: left out.
type Changes = BTreeMap<usize, Option<Strength>>;

/// What may be weaker, all at once; `None` where nothing may, or it was not asked.
pub(super) fn weakest_sufficient(
    case: &RefinementCase<'_>,
    bound: &BoundFunction,
    passed: &mut [PassedContext],
) -> Option<String> {
    let own = bound.thread().lines.iter().zip(&bound.rows);
    let own =
        own.filter_map(|(line, row)| Some((Strength::of_no_more(&line.instruction), (*row)?)));
    let (strengths, rows): (Vec<Option<Strength>>, Vec<usize>) = own.unzip();
    let mut asked = 0;
    let least = weakest(
        &Changes::new(),
        |changes: &Changes| weaker(&strengths, changes),
        |one| {
            asked += passed.len();
            asked <= MOST && is_sufficient(case, one, passed)
        },
    )?;
    let said: Vec<String> = least
        .into_iter()
        .map(|(at, now)| {
            let row = &case.target.rows[rows[at]];
            let words = now.map_or("may be removed".to_owned(), |now| {
                format!("may be `.{}.{}`", now.order_name(), now.scope)
            });
            format!("line {}: `{}` {words}", row.line, row.text)
        })
        .collect();
    Some(said.join("; "))
}

/// Each way to weaken one line a little more.
fn weaker(strengths: &[Option<Strength>], changes: &Changes) -> Vec<Changes> {
    let mut all = Vec::new();
    for (at, own) in strengths.iter().enumerate() {
        let Some(now) = changes.get(&at).copied().unwrap_or(*own) else { continue };
        for weaker in now.weaker(FORMS) {
            let mut changes = changes.clone();
            changes.insert(at, weaker);
            all.push(changes);
        }
    }
    all
}

/// Whether no context shows the change. What it was refuted in is tried first the next time.
fn is_sufficient(
    case: &RefinementCase<'_>,
    changes: &Changes,
    passed: &mut [PassedContext],
) -> bool {
    let refutes = |one: &PassedContext| {
        let target = with(changes, one);
        let added = case.refiner.compare(&one.allowed, None, &case.engine_run(&target, true));
        added != ContextResult::Nothing
    };
    let Some(first) = passed.iter().position(refutes) else { return true };
    passed.swap(0, first);
    false
}

/// The target of a context, with lines of the function changed.
fn with(changes: &Changes, PassedContext { target, rows, threads, .. }: &PassedContext) -> Program {
    let mut target = target.clone();
    let own = rows.iter().enumerate().filter(|(_, row)| row.is_some()).map(|(at, _)| at);
    let own: Vec<usize> = own.collect();
    for (&line, form) in changes {
        let at = own[line];
        // A jump to what follows does nothing.
        let nothing = Instruction::Branch(Branch { target: at + 1, condition: None });
        for thread in &mut target.threads[..*threads] {
            let now = &mut thread.lines[at].instruction;
            let weaker = form.and_then(|form| form.applied(now));
            *now = weaker.unwrap_or_else(|| nothing.clone());
        }
    }
    target
}
