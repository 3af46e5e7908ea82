//! An excerpt of PTX as items. A loop around a compare-exchange becomes one atomic.

use std::collections::BTreeSet;

use model::isa::atom::AtomicOp;
use model::scope::Scope;
use ptx::shape::Opcode;
use ptx::{FunctionPiece, ParsedInstruction, PrintedOperand};

use super::item::{TargetAccess, TargetItem};
use super::operand::AccessOperands;
use super::step::{AccessKind, AccessOrder, Step};

/// The reason why an excerpt has no steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UncoveredInstruction(pub String);

/// Instructions that compute from registers alone.
const PURE: &[&str] = &[
    "mov", "add", "sub", "mul", "mad", "neg", "and", "or", "xor", "not", "lop3", "shl", "shr",
    "shf", "setp", "selp", "set", "cvt", "cvta", "prmt", "bfe", "bfi", "min", "max", "abs", "fma",
    "ret", "exit", "isspacep", "slct", "sad", "mul24", "mad24", "rem", "div", "szext", "bmsk",
    "popc", "clz", "ex2", "lg2",
];

/// Reads the pieces as items. Each loop becomes one item.
pub fn items(pieces: &[FunctionPiece<'_>]) -> Result<Vec<TargetItem>, UncoveredInstruction> {
    let mut items = Vec::new();
    // Registers whose values the row computes. What they hold is not compared.
    let mut computed: BTreeSet<String> = BTreeSet::new();
    for piece in pieces {
        match piece {
            FunctionPiece::Label(name) => items.push(TargetItem::Label((*name).to_owned())),
            FunctionPiece::Memory(single) => {
                let mut item = memory(single)?;
                if let TargetItem::Access(done) = &mut item {
                    done.operands.values.retain_mut(|value| {
                        if computed.contains(value) {
                            value.clear();
                        }
                        true
                    });
                    computed.remove(&done.operands.defines);
                }
                items.push(item);
            }
            FunctionPiece::Other { opcode: "bra", text, guarded } => {
                let to = text.split_whitespace().last().unwrap_or("").to_owned();
                items.push(TargetItem::Branch { to, guarded: *guarded });
            }
            FunctionPiece::Other { opcode: "bar" | "barrier", text, guarded: false } => {
                items.push(TargetItem::Step(barrier(text)?));
            }
            FunctionPiece::Other { opcode: "call", .. } => {
                return Err(UncoveredInstruction(
                    "it calls a function that is not defined here".to_owned(),
                ));
            }
            FunctionPiece::Other { opcode, text, .. } if PURE.contains(opcode) => {
                let operands = text.split_once(char::is_whitespace).map_or("", |(_, rest)| rest);
                let results = operands.split(',').next().unwrap_or("");
                let results = results.split('|').map(|one| one.trim().trim_end_matches(';'));
                computed.extend(results.map(str::to_owned));
            }
            FunctionPiece::Other { text, .. } => {
                return Err(UncoveredInstruction(format!("`{text}` is not supported")));
            }
        }
    }
    loops(items)
}

fn barrier(text: &str) -> Result<Step, UncoveredInstruction> {
    let name = text.split_whitespace().next().unwrap_or("");
    let parts: Vec<&str> = name.split('.').filter(|part| *part != "aligned").collect();
    let all = text[name.len()..].trim().chars().all(|c| c == '0' || c == ';');
    match parts[..] {
        ["bar" | "barrier", "sync"] | ["bar" | "barrier", "cta", "sync"] if all => {
            Ok(Step::Barrier { id: 0, count: None })
        }
        ["barrier", "cluster", "arrive"] | ["barrier", "cluster", "arrive", "release"] => {
            Ok(Step::ClusterArrive { relaxed: false })
        }
        ["barrier", "cluster", "arrive", "relaxed"] => Ok(Step::ClusterArrive { relaxed: true }),
        ["barrier", "cluster", "wait"] | ["barrier", "cluster", "wait", "acquire"] => {
            Ok(Step::ClusterWait)
        }
        _ => Err(UncoveredInstruction(format!("`{text}` is not supported"))),
    }
}

fn memory(single: &ParsedInstruction<'_>) -> Result<TargetItem, UncoveredInstruction> {
    let uncovered = |what: &str| UncoveredInstruction(format!("`{}`: {what}", single.text));
    let q = &single.qualifiers;
    if single.predicated {
        return Err(uncovered("a guarded access is not supported"));
    }
    if single.spelling.is_some() {
        return Err(uncovered("a fence of proxies or of one operation is not supported"));
    }
    let fence = match single.opcode {
        Opcode::Fence => Some(ptx::meaning::fence(q)),
        Opcode::Membar => Some(ptx::meaning::membar(q)),
        Opcode::Ld | Opcode::Ldu | Opcode::St | Opcode::Atom | Opcode::Red => None,
    };
    if let Some(fence) = fence {
        let fence = fence.ok_or_else(|| uncovered("its order or scope is unclear"))?;
        return Ok(TargetItem::Step(Step::Fence { order: fence.order, scope: fence.scope }));
    }
    let ty = q.ty.ok_or_else(|| uncovered("it has no type"))?.value;
    let elements = q.vector.map_or(1, |vector| u32::from(vector.value));
    let operand =
        |index: usize| single.arguments.get(index).map_or(String::new(), ToString::to_string);
    let address = single.arguments.iter().find_map(|operand| match operand {
        PrintedOperand::Address { base, offset, .. } => {
            Some((base.as_ref().map_or(String::new(), ToString::to_string), *offset))
        }
        PrintedOperand::Scalar(_)
        | PrintedOperand::Vector(_)
        | PrintedOperand::Joined(_)
        | PrintedOperand::List(_) => None,
    });
    let (base, offset) = address.ok_or_else(|| uncovered("it has no address"))?;
    let mut done = TargetAccess {
        text: single.text.to_owned(),
        act: AccessKind::Load,
        order: AccessOrder::Weak,
        scope: Scope::Sys,
        op: None,
        ty,
        bytes: ty.bytes() * elements,
        space: q.space(),
        base,
        offset,
        operands: AccessOperands::default(),
        read_only: false,
        looped: None,
    };
    match single.opcode {
        Opcode::Ld | Opcode::Ldu => {
            let order =
                ptx::meaning::load_order(q).ok_or_else(|| uncovered("its order is unclear"))?;
            done.read_only = single.opcode == Opcode::Ldu || order.is_of_read_only_data();
            done.order = order.into();
            done.scope = order.scope().unwrap_or(Scope::Sys);
            done.operands.defines = operand(0);
        }
        Opcode::St => {
            let order =
                ptx::meaning::store_order(q).ok_or_else(|| uncovered("its order is unclear"))?;
            done.act = AccessKind::Store;
            done.order = order.into();
            done.scope = order.scope().unwrap_or(Scope::Sys);
            done.operands.values = vec![operand(1)];
        }
        Opcode::Atom | Opcode::Red | Opcode::Fence | Opcode::Membar => {
            let (op, order, scope) =
                ptx::meaning::atomic(q).ok_or_else(|| uncovered("its order is unclear"))?;
            (done.op, done.order, done.scope) = (Some(op), order.into(), scope);
            let reduction = single.opcode == Opcode::Red;
            done.act = if op == AtomicOp::Cas {
                AccessKind::CompareExchange(None)
            } else if reduction {
                AccessKind::Reduce
            } else {
                AccessKind::Swap
            };
            let first = if reduction { 1 } else { 2 };
            let count = if op == AtomicOp::Cas { 2 } else { 1 };
            done.operands.values = (first..first + count).map(operand).collect();
            done.operands.defines = if reduction { String::new() } else { operand(0) };
            if done.operands.defines == "_" && done.act == AccessKind::Swap {
                done.act = AccessKind::Overwrite;
            }
        }
    }
    Ok(TargetItem::Access(Box::new(done)))
}

/// Replaces each `ld; L: cas; @p bra L` by the one atomic that it implements. Readings R88 and R43.
fn loops(mut items: Vec<TargetItem>) -> Result<Vec<TargetItem>, UncoveredInstruction> {
    loop {
        let back = items.iter().enumerate().find_map(|(end, item)| {
            let TargetItem::Branch { to, guarded: true } = item else { return None };
            let start = items[..end].iter().position(|i| *i == TargetItem::Label(to.clone()))?;
            Some((start, end))
        });
        let Some((start, end)) = back else { break };
        let mut body: Vec<TargetItem> = items.drain(start..=end).collect();
        let leaves = |item: &TargetItem| match item {
            TargetItem::Branch { guarded, .. } => *guarded,
            TargetItem::Access(_) | TargetItem::Step(_) => true,
            TargetItem::Label(_) => false,
        };
        if !body[1..].iter().all(leaves) {
            return Err(UncoveredInstruction(
                "a loop with labels inside is not supported".to_owned(),
            ));
        }
        body.retain(|item| matches!(item, TargetItem::Access(_) | TargetItem::Step(_)));
        let mut accesses = body.iter_mut().filter_map(|item| match item {
            TargetItem::Access(done) => Some(done),
            TargetItem::Step(_) | TargetItem::Label(_) | TargetItem::Branch { .. } => None,
        });
        let (Some(cas), None) = (accesses.next(), accesses.next()) else {
            return Err(UncoveredInstruction(
                "a loop of more than a compare-exchange is not supported".to_owned(),
            ));
        };
        if cas.op != Some(AtomicOp::Cas) {
            return Err(UncoveredInstruction(format!(
                "a loop around `{}` is not supported",
                cas.text
            )));
        }
        // The value that it expects first was loaded just before.
        let first = start.checked_sub(1).and_then(|before| match &items[before] {
            TargetItem::Access(load) if load.act == AccessKind::Load && load.base == cas.base => {
                Some((before, load.order == AccessOrder::Weak))
            }
            TargetItem::Access(_)
            | TargetItem::Step(_)
            | TargetItem::Label(_)
            | TargetItem::Branch { .. } => None,
        });
        let Some((before, weak)) = first else {
            return Err(UncoveredInstruction(
                "a loop without a load before it is not supported".to_owned(),
            ));
        };
        cas.looped = Some(weak);
        items.splice(start..start, body);
        items.remove(before);
    }
    // The remaining labels are exits of loops.
    let targets: Vec<String> = items
        .iter()
        .filter_map(
            |item| if let TargetItem::Branch { to, .. } = item { Some(to.clone()) } else { None },
        )
        .collect();
    if let Some(to) = targets.first() {
        return Err(UncoveredInstruction(format!("a branch to `{to}` is not supported")));
    }
    items.retain(|item| !matches!(item, TargetItem::Label(_)));
    Ok(items)
}
