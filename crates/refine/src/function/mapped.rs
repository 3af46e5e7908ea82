//! A function by the published mapping of its language: each access and each fence as the mapping lowers it.
//!
//! If this adds an outcome in a context too, the outcome is due to the mapping, not to the compiler (reading
//! R81).

use lift::function::{Function, FunctionStep};
use machine::form::LoweredInstruction;
use model::isa::atom::AtomicOp;
use model::isa::cxx::Cxx;
use model::isa::fence::Fence;
use model::isa::{Instruction, Line};
use model::memory::Space;
use model::strength::{OperationKind, Strength};

use crate::step::{AccessKind, Step, TestLocation};

/// The function with each access and each fence lowered by `lower`, which receives whether the access is to
/// shared memory. `None` if one of them has no lowering.
pub(super) fn mapped(
    function: &Function,
    lower: &dyn Fn(Step, bool) -> Option<Vec<Step>>,
) -> Option<Function> {
    let mut function = function.clone();
    // For each line, and for the end, its first line now.
    let mut places = Vec::new();
    let mut count = 0;
    for row in &mut function.rows {
        let mut lines = Vec::new();
        for FunctionStep { line, lowered } in &row.lines {
            places.push(count);
            let all = match step(&line.instruction) {
                Some((step, shared)) => instructions(&line.instruction, &lower(step, shared)?)?,
                None => vec![line.instruction.clone()],
            };
            count += all.len();
            lines.extend(all.into_iter().map(|instruction| FunctionStep {
                line: Line { instruction, ..line.clone() },
                lowered: LoweredInstruction::clone(lowered),
            }));
        }
        row.lines = lines;
    }
    places.push(count);
    for step in function.rows.iter_mut().flat_map(|row| &mut row.lines) {
        if let Instruction::Branch(branch) = &mut step.line.instruction {
            // A branch past the last line ends the thread.
            branch.target = places.get(branch.target).copied().unwrap_or(count);
        }
    }
    Some(function)
}

/// An instruction as a step, and whether it accesses shared memory.
fn step(instruction: &Instruction) -> Option<(Step, bool)> {
    let Strength { kind, order, scope } = Strength::of(instruction)?;
    if kind == OperationKind::Fence {
        return Some((Step::Fence { order: order.fence()?, scope }, false));
    }
    let cxx = instruction.cxx()?;
    let act = match kind {
        _ if instruction.as_atomic().is_some_and(|of| of.op == AtomicOp::Cas) => {
            AccessKind::CompareExchange(cxx.failure)
        }
        OperationKind::Load => AccessKind::Load,
        OperationKind::Store => AccessKind::Store,
        OperationKind::Reduction => AccessKind::Reduce,
        OperationKind::Atomic => AccessKind::Swap,
        OperationKind::Fence | OperationKind::Arrival | OperationKind::PhaseWait => return None,
    };
    let order = order.in_cxx(cxx);
    let shared = instruction.space().space() == Some(Space::Shared);
    let at = if shared { TestLocation::Y } else { TestLocation::X };
    Some((Step::access(act, at, order, scope), shared))
}

/// An instruction in the form of these steps; `None` if they are not one access and fences.
fn instructions(of: &Instruction, steps: &[Step]) -> Option<Vec<Instruction>> {
    let mut accesses = 0;
    let all = steps.iter().map(|step| match *step {
        Step::Fence { order, scope } => {
            Some(Instruction::Fence(Fence { order, scope, aliases: false }))
        }
        Step::Access { order, scope, .. } => {
            accesses += 1;
            let mut plain = of.clone();
            if let Some(cxx) = plain.cxx_mut() {
                *cxx = Cxx::default();
            }
            let kind = Strength::of(&plain)?.kind;
            Strength::new(kind, order, scope).applied(&plain)
        }
        Step::Barrier { .. } | Step::ClusterArrive { .. } | Step::ClusterWait | Step::Guard => None,
    });
    let all: Option<Vec<Instruction>> = all.collect();
    all.filter(|_| accesses <= 1)
}
