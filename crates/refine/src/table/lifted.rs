//! A program as a table lowers it: the promises of the machine's instructions, or PTX for C++.

use model::isa::alu::Branch;
use model::isa::atom::AtomicOp;
use model::isa::bar::ClusterBarrierKind;
use model::isa::cxx::{Cxx, Failure};
use model::isa::fence::{Fence, FenceOrder};
use model::isa::{Instruction, Line};
use model::program::Program;
use model::scope::Scope;
use model::strength::{OperationKind, Strength};
use sass::lower::Lowering;
use sass::lowering::LoweringTable;

use super::super::contract;
use super::super::item::TargetItem;
use super::super::step::{AccessKind, AccessOrder, Step};
use super::super::{ptx_items, row};
use super::instance;

/// One line of PTX lifted.
enum LiftedLine {
    Access(AccessOrder, Scope),
    Fence(FenceOrder, Scope),
    /// The barrier of the line.
    Barrier,
    Cluster(ClusterBarrierKind),
}

/// The program of the target's side, or the reason why the table has none.
pub(super) fn lifted(program: &Program, table: &LoweringTable, sm: u16) -> Result<Program, String> {
    let mut program = program.clone();
    let has_aliases = program.variables.iter().any(|variable| variable.alias.is_some());
    for thread in &mut program.threads {
        let mut lines: Vec<Line> = Vec::new();
        // The new index of each old line.
        let mut starts = Vec::new();
        for line in &thread.lines {
            starts.push(lines.len());
            let of = &line.instruction;
            let is_barrier = matches!(of, Instruction::Barrier(_) | Instruction::ClusterBarrier(_));
            // A table of C++ has no barriers. They belong to the hardware.
            if of.computes() || is_barrier && table.cxx {
                lines.push(line.clone());
                continue;
            }
            // What listings show of aliases is not known.
            let is_fence = matches!(of, Instruction::Fence(of) if !of.aliases || !has_aliases);
            if !is_barrier && !is_fence && of.access().is_none() {
                return Err(format!("`{}` is not supported", line.text));
            }
            for new in becomes(line, table, sm)? {
                let instruction = match new {
                    LiftedLine::Fence(order, scope) => {
                        Instruction::Fence(Fence { order, scope, aliases: false })
                    }
                    LiftedLine::Barrier => line.instruction.clone(),
                    LiftedLine::Cluster(kind) => Instruction::ClusterBarrier(kind.unaligned()),
                    LiftedLine::Access(order, scope) => access(&line.instruction, order, scope)
                        .ok_or_else(|| format!("`{}` became another access", line.text))?,
                };
                lines.push(Line { instruction, ..line.clone() });
            }
        }
        starts.push(lines.len());
        for line in &mut lines {
            if let Instruction::Branch(Branch { target, .. }) = &mut line.instruction {
                *target = starts[(*target).min(starts.len() - 1)];
            }
        }
        thread.lines = lines;
    }
    Ok(program)
}

fn becomes(line: &Line, table: &LoweringTable, sm: u16) -> Result<Vec<LiftedLine>, String> {
    let items = if table.cxx {
        let text = of_cxx(&line.instruction, table)
            .ok_or_else(|| format!("the table has no row for `{}`", line.text))?;
        row::ptx_excerpt(&text)?
    } else {
        let lowering = Lowering::of(sm).ok_or_else(|| format!("unknown architecture sm_{sm}"))?;
        let lowering = Lowering { table, ..lowering };
        let text = lowering.text(&line.instruction, &line.text);
        let text = text.ok_or_else(|| lowering.no_row(&line.instruction, &line.text))?;
        contract::items(&text).map_err(|ptx_items::UncoveredInstruction(why)| why)?
    };
    let mut all = Vec::new();
    for item in items {
        all.push(match item {
            TargetItem::Access(done) => LiftedLine::Access(done.order, done.scope),
            TargetItem::Step(Step::Fence { order, scope }) => LiftedLine::Fence(order, scope),
            TargetItem::Step(Step::Barrier { .. }) => LiftedLine::Barrier,
            TargetItem::Step(Step::ClusterArrive { .. }) => {
                LiftedLine::Cluster(ClusterBarrierKind::ArriveRelaxed)
            }
            TargetItem::Step(Step::ClusterWait) => LiftedLine::Cluster(ClusterBarrierKind::Wait),
            TargetItem::Step(_) | TargetItem::Label(_) | TargetItem::Branch { .. } => {
                return Err(format!("what `{}` became is not supported", line.text));
            }
        });
    }
    let accesses = all.iter().filter(|new| matches!(new, LiftedLine::Access(..))).count();
    let wanted = usize::from(line.instruction.access().is_some());
    let barriers = |of: fn(&Instruction) -> bool| usize::from(of(&line.instruction));
    let kept = |of: fn(&LiftedLine) -> bool| all.iter().filter(|new| of(new)).count();
    if kept(|new| matches!(new, LiftedLine::Barrier))
        != barriers(|of| matches!(of, Instruction::Barrier(_)))
        || kept(|new| matches!(new, LiftedLine::Cluster(_)))
            != barriers(|of| matches!(of, Instruction::ClusterBarrier(_)))
    {
        return Err(format!("`{}` became other barriers", line.text));
    }
    // The elements of a vector are separate accesses. Their order is not preserved.
    if accesses > wanted && wanted == 1 {
        let mut seen = false;
        all.retain(|new| {
            !matches!(new, LiftedLine::Access(..)) || !std::mem::replace(&mut seen, true)
        });
    } else if accesses != wanted {
        return Err(format!("`{}` became {accesses} accesses", line.text));
    }
    Ok(all)
}

/// The table's lowering of a C++ operation, as PTX.
fn of_cxx(instruction: &Instruction, table: &LoweringTable) -> Option<String> {
    let Strength { kind, order, scope } = Strength::of(instruction)?;
    let opcode = match kind {
        OperationKind::Load => "load",
        OperationKind::Store => "store",
        OperationKind::Atomic | OperationKind::Reduction => {
            let compares = instruction.as_atomic().is_some_and(|of| of.op == AtomicOp::Cas);
            if compares { "cmpxchg" } else { "rmw" }
        }
        OperationKind::Fence => "fence",
        OperationKind::Arrival | OperationKind::PhaseWait => return None,
    };
    let cxx = instruction.cxx().unwrap_or_default();
    let order = order.in_cxx(cxx);
    let order = cxx.failure.map_or(order, |failure| joined(order, failure));
    find(table, opcode, order, Some(scope).filter(|_| order != AccessOrder::Weak))
}

/// The table's lowering of a C++ step.
pub(super) fn step(step: Step, table: &LoweringTable) -> Option<Vec<Step>> {
    let (opcode, order, place) = match step {
        Step::Access { act, at, order, .. } => {
            let opcode = match act {
                AccessKind::Load => "load",
                AccessKind::Store => "store",
                AccessKind::Swap | AccessKind::Overwrite | AccessKind::Reduce => "rmw",
                AccessKind::CompareExchange(_) | AccessKind::Probe => "cmpxchg",
            };
            // A compare-exchange has one order for success and failure.
            let order = if let AccessKind::CompareExchange(Some(failure)) = act {
                joined(order, failure)
            } else {
                order
            };
            let compare = matches!(act, AccessKind::CompareExchange(_));
            let act = if compare { AccessKind::CompareExchange(None) } else { act };
            (opcode, order, Some((act, at)))
        }
        Step::Fence { order, .. } => ("fence", order.into(), None),
        Step::Barrier { .. } | Step::ClusterArrive { .. } | Step::ClusterWait | Step::Guard => {
            return None;
        }
    };
    let text = find(table, opcode, order, step.scope())?;
    let items = row::ptx_excerpt(&text).ok()?;
    let steps = items.into_iter().map(|item| match item {
        TargetItem::Access(done) => {
            place.map(|(act, at)| Step::access(act, at, done.order, done.scope))
        }
        TargetItem::Step(step) => Some(step),
        TargetItem::Label(_) | TargetItem::Branch { .. } => None,
    });
    steps.collect()
}

/// The row for an operation, as PTX.
fn find(
    table: &LoweringTable,
    opcode: &str,
    order: AccessOrder,
    scope: Option<Scope>,
) -> Option<String> {
    let scope = scope.map(Scope::cxx_name);
    let order = (order != AccessOrder::Weak).then(|| order.name());
    let names: Vec<&str> = order.into_iter().chain(scope).collect();
    let atomic = if opcode == "cmpxchg" { "cas" } else { "exch" };
    table.find(0, opcode, &names).map(|text| instance::ptx(&text, atomic))
}

/// The one order of a compare-exchange, from those of success and failure.
fn joined(success: AccessOrder, failure: Failure) -> AccessOrder {
    match (success, failure) {
        (_, Failure::SeqCst) | (AccessOrder::SeqCst, _) => AccessOrder::SeqCst,
        (order, Failure::Relaxed) => order,
        (AccessOrder::Release | AccessOrder::AcqRel, Failure::Acquire) => AccessOrder::AcqRel,
        (_, Failure::Acquire) => AccessOrder::Acquire,
    }
}

/// The same access with another order. The result is PTX.
fn access(instruction: &Instruction, order: AccessOrder, scope: Scope) -> Option<Instruction> {
    let mut changed = match Strength::of(instruction) {
        Some(strength) => Strength { order, scope, ..strength }.applied(instruction)?,
        None => instruction.clone(),
    };
    *changed.cxx_mut()? = Cxx::default();
    Some(changed)
}
