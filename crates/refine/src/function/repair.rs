//! The missing part: the smallest change of one instruction of the target that removes the outcome.

use lift::function::Language;
use model::isa::Instruction;
use model::isa::alu::Branch;
use model::isa::fence::{Fence, FenceOrder};
use model::program::Program;
use model::scope::Scope;
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
    let scopes = source.threads[0].lines.iter().filter_map(|line| Strength::of(&line.instruction));
    let scopes = scopes.filter(|one| one.order != AccessOrder::Weak).map(|one| one.scope);
    let widest = scopes.max();
    let mut all: Vec<(usize, Instruction, String)> = Vec::new();
    for (line, of) in target.threads[0].lines.iter().enumerate() {
        let Some(now) = Strength::of(&of.instruction) else { continue };
        // What the source does not have anywhere is not what the target lost.
        let wider = |one: &Strength| {
            one.scope != now.scope && widest.is_some_and(|widest| one.scope > widest)
        };
        for stronger in now.all_stronger(FORMS).into_iter().filter(|one| !wider(one)) {
            let changed = stronger.applied(&of.instruction);
            all.extend(changed.map(|changed| (line, changed, added(now, stronger))));
        }
    }
    // A change with fewer words is smaller. A wait that a listing does not show is not a place for one.
    let waits = |line: &usize| target.threads[0].lines[*line].text.starts_with("NOP");
    all.sort_by_key(|(line, _, added)| (waits(line), added.split(' ').count()));
    let machine = matches!(case.target.language, Language::Sass(_));
    let lacks = |line: usize, added: String| {
        let text = &target.threads[0].lines[line].text;
        format!("lacks {}", if machine { of_machine(text, &added) } else { added })
    };
    let mut all: Vec<_> =
        all.into_iter().map(|(line, changed, added)| (line, changed, lacks(line, added))).collect();
    let named = case.has_names(context);
    for (line, of) in target.threads[0].lines.iter().enumerate() {
        if let Instruction::Fence(fence @ Fence { aliases: false, .. }) = of.instruction
            && matches!(fence.order, FenceOrder::Acquire | FenceOrder::Release)
            && named
        {
            let half = Instruction::Fence(Fence { scope: Scope::Sys, aliases: true, ..fence });
            all.push((line, half, "lacks `.proxy.alias`".to_owned()));
        }
        if matches!(of.instruction, Instruction::Store(_)) && !named {
            // A jump to the next line has no effect.
            let nothing = Instruction::Branch(Branch { target: line + 1, condition: None });
            all.push((line, nothing, "is one store too many".to_owned()));
        }
    }
    // The operations around the function are not its own.
    let rows = case.bound(context, true).ok()??.rows.clone();
    all.retain(|(line, ..)| rows.get(*line).copied().flatten().is_some());
    for (line, instruction, what) in all {
        let mut mended = target.clone();
        for thread in 0..context.judged_threads() {
            mended.threads[thread].lines[line].instruction = instruction.clone();
        }
        if case.compare(source, &mended) == ContextResult::Nothing {
            let text = target.threads[0].lines[line].text.split(" &").next().unwrap_or_default();
            let function = case.target;
            let at = case.bound(context, true).ok()??.line(function, line);
            return Some((at, format!("line {at}: `{text}` {what}")));
        }
    }
    None
}

/// The part to add to a machine instruction.
fn of_machine(text: &str, added: &str) -> String {
    let (membar, invalidate) = ("a `MEMBAR` before it", "a `CCTL.IVALL` after it");
    let sc = if text.contains("MEMBAR") { "`.SC`" } else { "a `MEMBAR.SC` before it" };
    added
        .replace("`.sc`", sc)
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
