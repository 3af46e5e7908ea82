//! Whether less would do: the target with an order, a scope or a fence less, in every context.

use model::isa::Instruction;
use model::isa::alu::Branch;
use model::isa::atom::{Atomic, AtomicOrder};
use model::isa::fence::{Fence, FenceOrder};
use model::isa::ld::{Load, LoadOrder};
use model::isa::st::{Store, StoreOrder};
use model::program::Program;
use model::scope::Scope;

use super::ask::{AllowedOutcomes, RefinementCase};
use super::bind::BoundFunction;

/// A context in which the target is right, with what its source allows.
pub(super) struct PassedContext {
    pub(super) allowed: AllowedOutcomes,
    pub(super) target: Program,
    /// For each line of the first thread, the row.
    pub(super) rows: Vec<Option<usize>>,
    pub(super) twin: bool,
}

/// Programs beyond which it is not asked.
const MOST: usize = 200_000;

/// An instruction in a weaker form, and what it is then.
struct WeakerInstruction {
    row: usize,
    instruction: Option<Instruction>,
    words: String,
}

/// What may be left out, all at once; `None` where nothing may, or it was not asked.
pub(super) fn weakest_sufficient(
    case: &RefinementCase<'_>,
    bound: &BoundFunction,
    held: &mut [PassedContext],
) -> Option<String> {
    let mut said: Vec<(usize, String)> = Vec::new();
    let mut current: Vec<(usize, Instruction)> = bound
        .thread()
        .lines
        .iter()
        .zip(&bound.rows)
        .filter_map(|(line, row)| Some(((*row)?, line.instruction.clone())))
        .collect();
    let mut asked = 0;
    loop {
        let candidates: Vec<WeakerInstruction> =
            current.iter().flat_map(|(row, instruction)| weaker_forms(*row, instruction)).collect();
        let found = candidates.into_iter().find(|one| {
            asked += held.len();
            asked <= MOST && holds(case, one, held)
        });
        let Some(one) = found else { break };
        for held in &mut *held {
            apply(&one, held);
        }
        let line = case.target.rows[one.row].line;
        let text = case.target.rows[one.row].cell.clone();
        said.retain(|(row, _)| *row != one.row);
        said.push((one.row, format!("line {line}: `{text}` {}", one.words)));
        current.retain(|(row, _)| *row != one.row || one.instruction.is_some());
        for (row, instruction) in &mut current {
            if let (true, Some(changed)) = (*row == one.row, &one.instruction) {
                instruction.clone_from(changed);
            }
        }
    }
    let said: Vec<String> = said.into_iter().map(|(_, text)| text).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// Whether no context shows the change. What it was refuted in is tried first the next time.
fn holds(case: &RefinementCase<'_>, one: &WeakerInstruction, held: &mut [PassedContext]) -> bool {
    for index in 0..held.len() {
        let before: Vec<_> = held[index].target.threads.iter().map(|t| t.lines.clone()).collect();
        apply(one, &mut held[index]);
        let right = case.keeps(&held[index].allowed, &held[index].target);
        for (thread, lines) in held[index].target.threads.iter_mut().zip(before) {
            thread.lines = lines;
        }
        if !right {
            held.swap(0, index);
            return false;
        }
    }
    true
}

fn apply(one: &WeakerInstruction, held: &mut PassedContext) {
    for thread in 0..if held.twin { 2 } else { 1 } {
        let lines = &mut held.target.threads[thread].lines;
        for (at, row) in held.rows.iter().enumerate() {
            if *row == Some(one.row) {
                // A jump to what follows does nothing.
                let nothing = Branch { target: at + 1, condition: None };
                lines[at].instruction =
                    one.instruction.clone().unwrap_or(Instruction::Branch(nothing));
            }
        }
    }
}

fn narrower(scope: Scope) -> Option<Scope> {
    let at = Scope::ALL.iter().position(|other| *other == scope)?;
    at.checked_sub(1).map(|at| Scope::ALL[at])
}

/// The next weaker forms of an instruction.
fn weaker_forms(row: usize, instruction: &Instruction) -> Vec<WeakerInstruction> {
    let mut all = Vec::new();
    let mut push = |instruction: Option<Instruction>, words: String| {
        all.push(WeakerInstruction { row, instruction, words });
    };
    let would = |order: &str, scope: Scope| format!("may be `.{order}.{scope}`");
    match instruction {
        Instruction::Load(load) => {
            let mut load_as = |order: LoadOrder, words: String| {
                push(Some(Instruction::Load(Load { order, ..load.clone() })), words);
            };
            match load.order {
                LoadOrder::Acquire(scope) => {
                    load_as(LoadOrder::Relaxed(scope), would("relaxed", scope));
                    if let Some(scope) = narrower(scope) {
                        load_as(LoadOrder::Acquire(scope), would("acquire", scope));
                    }
                }
                LoadOrder::Relaxed(scope) => {
                    if let Some(scope) = narrower(scope) {
                        load_as(LoadOrder::Relaxed(scope), would("relaxed", scope));
                    }
                }
                LoadOrder::Weak
                | LoadOrder::Volatile
                | LoadOrder::MmioRelaxed
                | LoadOrder::MmioAcquire
                | LoadOrder::NonCoherent
                | LoadOrder::Uniform
                | LoadOrder::Readonly => {}
            }
        }
        Instruction::Store(store) => {
            let mut store_as = |order: StoreOrder, words: String| {
                push(Some(Instruction::Store(Store { order, ..store.clone() })), words);
            };
            match store.order {
                StoreOrder::Release(scope) => {
                    store_as(StoreOrder::Relaxed(scope), would("relaxed", scope));
                    if let Some(scope) = narrower(scope) {
                        store_as(StoreOrder::Release(scope), would("release", scope));
                    }
                }
                StoreOrder::Relaxed(scope) => {
                    if let Some(scope) = narrower(scope) {
                        store_as(StoreOrder::Relaxed(scope), would("relaxed", scope));
                    }
                }
                StoreOrder::Weak
                | StoreOrder::Volatile
                | StoreOrder::MmioRelaxed
                | StoreOrder::MmioRelease => {}
            }
        }
        Instruction::Atomic(atomic) => {
            let orders: &[(AtomicOrder, &str)] = match atomic.order {
                AtomicOrder::AcqRel => {
                    &[(AtomicOrder::Acquire, "acquire"), (AtomicOrder::Release, "release")]
                }
                AtomicOrder::Acquire | AtomicOrder::Release => &[(AtomicOrder::Relaxed, "relaxed")],
                AtomicOrder::Relaxed => &[],
            };
            let mut atomic_as = |order: AtomicOrder, scope: Scope, words: String| {
                push(Some(Instruction::Atomic(Atomic { order, scope, ..atomic.clone() })), words);
            };
            for &(order, name) in orders {
                atomic_as(order, atomic.scope, would(name, atomic.scope));
            }
            if let Some(scope) = narrower(atomic.scope) {
                atomic_as(atomic.order, scope, format!("may be of scope `.{scope}`"));
            }
        }
        Instruction::Fence(fence) => {
            push(None, "may be removed".to_owned());
            let mut fence_as = |order: FenceOrder, scope: Scope, words: String| {
                push(Some(Instruction::Fence(Fence { order, scope })), words);
            };
            if fence.order == FenceOrder::Sc {
                fence_as(FenceOrder::AcqRel, fence.scope, would("acq_rel", fence.scope));
            }
            if let Some(scope) = narrower(fence.scope) {
                fence_as(fence.order, scope, format!("may be of scope `.{scope}`"));
            }
        }
        Instruction::ProxyFence(_)
        | Instruction::Barrier(_)
        | Instruction::ClusterBarrier(_)
        | Instruction::Alu(_)
        | Instruction::Cvta(_)
        | Instruction::Branch(_)
        | Instruction::Unsupported(_) => {}
    }
    all
}
