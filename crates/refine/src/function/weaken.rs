//! Whether a weaker target suffices: one without an order, a scope or a fence, in every context.

use std::collections::BTreeMap;

use model::isa::Instruction;
use model::isa::alu::Branch;
use model::program::Program;
use model::strength::{KnownForms, Strength};

use super::ask::RefinementCase;
use super::bind::BoundFunction;
use crate::judgement::Refinement;
use crate::refiner::{AllowedOutcomes, ContextResult};
use model::strength::weakest;

/// The weaker forms of a function's target. Its PTX version is not known, and contexts that passed were not
/// repeated with torn accesses.
pub(super) const FORMS: KnownForms =
    KnownForms { clusters: true, one_way_fences: false, weak: false };

/// A context in which the target is correct, with the outcomes that its source allows.
pub(super) struct PassedContext {
    pub(super) allowed: AllowedOutcomes,
    pub(super) target: Program,
    /// For each line of the first thread, the row.
    pub(super) rows: Vec<Option<usize>>,
    /// The number of leading threads that run the function.
    pub(super) threads: usize,
}

/// The maximum number of programs. With more, the search is skipped.
const MOST: usize = 200_000;

/// The new form of each changed line, by line number; `None` if the line is omitted.
type Changes = BTreeMap<usize, Option<Strength>>;

/// The parts that can be weakened, all at once; `None` if there are none, or if the search was skipped.
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
            asked <= MOST && !case.refiner.is_over() && is_sufficient(case, one, passed)
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

/// Each way to weaken one line by one degree.
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

/// Whether no context shows the change. The context that refuted a change is tried first the next time.
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

/// The target of a context, with changes to lines of the function.
fn with(changes: &Changes, PassedContext { target, rows, threads, .. }: &PassedContext) -> Program {
    let mut target = target.clone();
    let own = rows.iter().enumerate().filter(|(_, row)| row.is_some()).map(|(at, _)| at);
    let own: Vec<usize> = own.collect();
    for (&line, form) in changes {
        let at = own[line];
        // A jump to the next line has no effect.
        let nothing = Instruction::Branch(Branch { target: at + 1, condition: None });
        for thread in &mut target.threads[..*threads] {
            let now = &mut thread.lines[at].instruction;
            let weaker = form.and_then(|form| form.applied(now));
            *now = weaker.unwrap_or_else(|| nothing.clone());
        }
    }
    target
}
