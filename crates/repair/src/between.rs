//! The cost of the edits that lead from one test to another.

use litmus::Test;
use model::isa::Instruction;
use model::isa::asynchronous::{AsyncFence, Asynchronous, GridControl};
use model::scope::Scope;
use model::strength::{AccessOrder, OperationKind, Strength};

use crate::edit::{
    EditCost, GRID_WAIT, PLAIN_LOAD, PROXY_FENCE, async_fence, barrier, fence, strengthening,
};

/// The cost of the edits that lead from a test to another one, thread by thread: `None` if it differs in anything that is
/// no edit.
pub fn cost_between(before: &Test, after: &Test) -> Option<EditCost> {
    let (before, after) = (&before.program.threads, &after.program.threads);
    if before.len() != after.len() {
        return None;
    }
    let mut all = EditCost::default();
    for (before, after) in before.iter().zip(after) {
        let mut left = before.lines.iter().peekable();
        // Where each line is afterwards, and where branches lead before and after.
        let (mut places, mut targets) = (Vec::new(), Vec::new());
        for (at, line) in after.lines.iter().enumerate() {
            let changed = left.peek().and_then(|from| change(&from.instruction, &line.instruction));
            if let Some(cost) = changed {
                all = all + cost;
                let from = left.next().and_then(|from| from.instruction.as_branch());
                let to = line.instruction.as_branch();
                targets.extend(from.zip(to).map(|(from, to)| (from.target, to.target)));
                places.push(at);
            } else {
                all = all + inserted(&line.instruction)?;
            }
        }
        places.push(after.lines.len());
        // A branch may lead to what was inserted before its target.
        let leads_on = |&(from, to): &(usize, usize)| {
            let follows = from.checked_sub(1).is_none_or(|last| places[last] < to);
            follows && to <= places[from.min(places.len() - 1)]
        };
        if left.next().is_some() || !targets.iter().all(leads_on) {
            return None;
        }
    }
    Some(all)
}

/// What it costs that an instruction becomes another one; nothing if they are equal.
fn change(before: &Instruction, after: &Instruction) -> Option<EditCost> {
    let branches = before.as_branch().zip(after.as_branch());
    if before == after || branches.is_some_and(|(from, to)| from.condition == to.condition) {
        return Some(EditCost::default());
    }
    let stronger = Strength::of(after)?;
    let (now, first) = if before.loads_read_only_data() {
        let plain = Strength::new(OperationKind::Load, AccessOrder::Weak, Scope::Sys);
        (plain, PLAIN_LOAD)
    } else {
        (Strength::of(before)?, EditCost::default())
    };
    let same = stronger.includes(now) && before.access() == after.access();
    same.then(|| strengthening(now, stronger).1 + first)
}

/// What it costs that an instruction is inserted; `None` for what no edit inserts.
fn inserted(instruction: &Instruction) -> Option<EditCost> {
    if let Some(Asynchronous::Fence(AsyncFence::Proxy(window))) = instruction.as_asynchronous() {
        Some(async_fence(*window))
    } else if let Instruction::ProxyFence(_) | Instruction::Asynchronous(Asynchronous::Fence(_)) =
        instruction
    {
        Some(PROXY_FENCE)
    } else if let Instruction::Fence(_) = instruction {
        Some(fence(Strength::of(instruction)?).1)
    } else if let Instruction::Barrier(_) = instruction {
        Some(barrier(1))
    } else {
        let waits = instruction.as_asynchronous() == Some(&Asynchronous::Grid(GridControl::Wait));
        waits.then_some(GRID_WAIT)
    }
}
