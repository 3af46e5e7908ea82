//! Runs a function of a listing on the machine, to confirm an outcome that its promises do not exclude.

use std::time::Duration;

use engine::clock::Deadline;
use lift::function::{Language, Refused};
use machine::form::LoweredInstruction;
use model::program::Program;
use sass::lower::Lowering;

use super::ask::RefinementCase;
use crate::context::Context;
use crate::judgement::Refinement;
use crate::run::{ForbiddenRun, MACHINES, forbidden};

/// The maximum number of states of one context, and the time for all of them.
const STATES: usize = 50_000;
const PATIENCE: Duration = Duration::from_secs(5);

/// A shortest run with an outcome that the axioms forbid for the source, in the first of these contexts that
/// has one. `None` if the machine has no such run or took too long.
pub(super) fn run(
    case: &mut RefinementCase<'_>,
    contexts: &[&Context],
) -> Result<Option<ForbiddenRun>, Refused> {
    let Language::Sass(sm) = case.target.language else { return Ok(None) };
    let Some(lowering) = Lowering::of(sm) else { return Ok(None) };
    let end = Deadline::after(PATIENCE).or(case.refiner.deadline);
    for context in
        contexts.iter().filter(|context| context.judged_threads() < context.threads.len())
    {
        if end.is_over() {
            break;
        }
        let Some(source) = case.program(context, false)? else { continue };
        let Some(bound) = case.bound(context, true)? else { continue };
        let (first, own) = (bound.thread().clone(), bound.lowered.clone());
        let mut partners = Program { threads: source.threads[1..].to_vec(), ..source.clone() };
        partners.observed.clear();
        let Ok(theirs) = lowering.program(&partners) else { continue };
        let mut program = source.clone();
        program.threads[0] = model::program::Thread { placement: context.placements[0], ..first };
        program.observed = case.observed(&program, context, &[]);
        let lowered: Vec<Vec<LoweredInstruction>> = std::iter::once(own).chain(theirs).collect();
        let Ok(allowed) = case.refiner.allowed(&case.engine_run(&source, false)) else { continue };
        if !allowed.says_something() {
            continue;
        }
        let direct = Lowering { direct: Some(&lowered), ..lowering };
        for (name, options) in MACHINES {
            let found =
                forbidden(&program, direct, options, STATES, &|outcome| allowed.has(outcome));
            if let Ok(Some((outcome, steps))) = found {
                let outcome = case.outcome(&program, &outcome);
                let context = format!("{}{name}", case.words(context));
                return Ok(Some(ForbiddenRun { context, outcome, steps }));
            }
        }
    }
    Ok(None)
}
