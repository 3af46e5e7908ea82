//! What is missing: the least change of one instruction of the target that takes the outcome away.

use model::function::Language;
use model::isa::Instruction;
use model::isa::atom::AtomicOrder;
use model::isa::fence::{Fence, FenceOrder};
use model::isa::ld::LoadOrder;
use model::isa::st::StoreOrder;
use model::program::Program;
use model::scope::Scope;

use super::ask::{ContextResult, RefinementCase};
use super::partner::FunctionContext;

/// An instruction in a stronger form, and what was added in the words of PTX.
type StrongerInstruction = (Instruction, String);

/// The line of the target's file, and what is missing there; none where no single change will do.
pub(super) fn missing(
    case: &mut RefinementCase<'_>,
    context: &FunctionContext,
    source: &Program,
    target: &Program,
) -> Option<(usize, String)> {
    let mut all: Vec<(usize, StrongerInstruction)> = Vec::new();
    for (line, of) in target.threads[0].lines.iter().enumerate() {
        all.extend(stronger(&of.instruction).into_iter().map(|change| (line, change)));
    }
    // Fewer words are less of a change.
    all.sort_by_key(|(_, (_, added))| added.split(' ').count());
    for (line, (instruction, added)) in all {
        let mut mended = target.clone();
        for thread in 0..if context.twin { 2 } else { 1 } {
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

/// What is added to an instruction of the machine.
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

fn wider(scope: Scope) -> Vec<Scope> {
    Scope::ALL.into_iter().filter(|other| *other >= scope).collect()
}

fn words(order: Option<&str>, scope: Option<Scope>) -> String {
    let order = order.map(|order| format!("`.{order}`"));
    let scope = scope.map(|scope| format!("`.{scope}`"));
    order.into_iter().chain(scope).collect::<Vec<_>>().join(" and ")
}

/// Every stronger form of an instruction.
fn stronger(instruction: &Instruction) -> Vec<StrongerInstruction> {
    let mut all = Vec::new();
    match instruction {
        Instruction::Load(load) if !load.order.is_of_read_only_data() => {
            let now = load.order.scope();
            for scope in wider(now.unwrap_or(Scope::Cta)) {
                let added = (now != Some(scope)).then_some(scope);
                let mut push = |order: LoadOrder, name: Option<&str>| {
                    let changed = model::isa::ld::Load { order, ..load.clone() };
                    all.push((Instruction::Load(changed), words(name, added)));
                };
                if now.is_none() {
                    push(LoadOrder::Relaxed(scope), Some("relaxed"));
                } else if added.is_some() && !load.order.is_acquire() {
                    push(LoadOrder::Relaxed(scope), None);
                }
                let name = (!load.order.is_acquire()).then_some("acquire");
                if name.is_some() || added.is_some() {
                    push(LoadOrder::Acquire(scope), name);
                }
            }
        }
        Instruction::Store(store) => {
            let now = store.order.scope();
            for scope in wider(now.unwrap_or(Scope::Cta)) {
                let added = (now != Some(scope)).then_some(scope);
                let mut push = |order: StoreOrder, name: Option<&str>| {
                    let changed = model::isa::st::Store { order, ..store.clone() };
                    all.push((Instruction::Store(changed), words(name, added)));
                };
                if now.is_none() {
                    push(StoreOrder::Relaxed(scope), Some("relaxed"));
                } else if added.is_some() && !store.order.is_release() {
                    push(StoreOrder::Relaxed(scope), None);
                }
                let name = (!store.order.is_release()).then_some("release");
                if name.is_some() || added.is_some() {
                    push(StoreOrder::Release(scope), name);
                }
            }
        }
        Instruction::Atomic(atomic) => {
            for scope in wider(atomic.scope) {
                let added = (scope != atomic.scope).then_some(scope);
                let orders = [
                    (AtomicOrder::Relaxed, "relaxed"),
                    (AtomicOrder::Acquire, "acquire"),
                    (AtomicOrder::Release, "release"),
                    (AtomicOrder::AcqRel, "acq_rel"),
                ];
                for (order, name) in orders {
                    let keeps = order.is_acquire() >= atomic.order.is_acquire()
                        && order.is_release() >= atomic.order.is_release();
                    let name = (order != atomic.order).then_some(name);
                    if keeps && (name.is_some() || added.is_some()) {
                        let changed = model::isa::atom::Atomic { order, scope, ..atomic.clone() };
                        all.push((Instruction::Atomic(changed), words(name, added)));
                    }
                }
            }
        }
        Instruction::Fence(fence) => {
            for scope in wider(fence.scope) {
                for (order, name) in [(FenceOrder::AcqRel, "acq_rel"), (FenceOrder::Sc, "sc")] {
                    let keeps = order == FenceOrder::Sc || fence.order != FenceOrder::Sc;
                    let name = (order != fence.order).then_some(name);
                    let added = (scope != fence.scope).then_some(scope);
                    if keeps && (name.is_some() || added.is_some()) {
                        let changed = Fence { order, scope };
                        all.push((Instruction::Fence(changed), words(name, added)));
                    }
                }
            }
        }
        Instruction::Load(_)
        | Instruction::ProxyFence(_)
        | Instruction::Barrier(_)
        | Instruction::ClusterBarrier(_)
        | Instruction::Alu(_)
        | Instruction::Cvta(_)
        | Instruction::Branch(_)
        | Instruction::Unsupported(_) => {}
    }
    all
}
