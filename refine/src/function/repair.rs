//! The missing part: the smallest change of one instruction of the target that removes the outcome.

use lift::function::Language;
use model::isa::Instruction;
use model::program::Program;
use model::strength::{AccessOrder, Strength};

use super::ask::RefinementCase;
use super::weaken::FORMS;
use crate::context::Context;
use crate::judgement::Refinement;
use crate::refiner::ContextResult;

/// The line of the target's file, and the missing part; `None` if no single change suffices.
pub(super) fn missing(
    case: &mut RefinementCase<'_>,
    context: &Context,
    source: &Program,
    target: &Program,
) -> Option<(usize, String)> {
    let mut all: Vec<(usize, Instruction, String)> = Vec::new();
    for (line, of) in target.threads[0].lines.iter().enumerate() {
        let Some(now) = Strength::of(&of.instruction) else { continue };
        for stronger in now.all_stronger(FORMS) {
            let changed = stronger.applied(&of.instruction);
            all.extend(changed.map(|changed| (line, changed, added(now, stronger))));
        }
    }
    // A change with fewer words is smaller. A wait that a listing does not show is no place for one.
    let waits = |line: &usize| target.threads[0].lines[*line].text.starts_with("NOP");
    all.sort_by_key(|(line, _, added)| (waits(line), added.split(' ').count()));
    for (line, instruction, added) in all {
        let mut mended = target.clone();
        for thread in 0..context.judged_threads() {
            mended.threads[thread].lines[line].instruction = instruction.clone();
        }
        if case.compare(source, &mended) == ContextResult::Nothing {
            let text = target.threads[0].lines[line].text.clone();
            let function = case.target;
            let at = case.bound(context, true).ok()??.line(function, line);
            let machine = matches!(function.language, Language::Sass(_));
            let added = if machine { of_machine(&added) } else { added };
            return Some((at, format!("line {at}: `{text}` lacks {added}")));
        }
    }
    None
}

/// The part to add to a machine instruction.
fn of_machine(added: &str) -> String {
    let (membar, invalidate) = ("a `MEMBAR` before it", "a `CCTL.IVALL` after it");
    added
        .replace("`.acq_rel`", &format!("{membar} and {invalidate}"))
        .replace("`.release`", membar)
        .replace("`.acquire`", invalidate)
        .replace("`.relaxed`", "`.STRONG`")
        .replace("`.cta`", "`.SM`")
        .replace("`.gpu`", "`.GPU`")
        .replace("`.sys`", "`.SYS`")
}

/// The part that a stronger form adds, in PTX words.
fn added(now: Strength, stronger: Strength) -> String {
    let order = (stronger.order != now.order).then(|| format!("`.{}`", stronger.order_name()));
    let wider = now.order == AccessOrder::Weak || stronger.scope != now.scope;
    let scope = wider.then(|| format!("`.{}`", stronger.scope));
    order.into_iter().chain(scope).collect::<Vec<_>>().join(" and ")
}
