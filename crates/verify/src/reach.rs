//! What a function accesses through each of its parameters, as far as its instructions say it.

use std::collections::BTreeMap;

use lift::function::{EntryValue, Function};
use model::isa::alu::AluOp;
use model::isa::cvta::AddressOp;
use model::isa::roles::PlaceEffect;
use model::isa::{Instruction, Line, Operand, Reg};

/// An access through a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ParameterAccess {
    pub(crate) parameter: usize,
    /// In bytes; `None` if it is computed.
    pub(crate) offset: Option<i64>,
    /// Of one element.
    pub(crate) bytes: u32,
    pub(crate) elements: u32,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) strong: bool,
}

/// The parameters that a register may be made of, and whether it is one of them as it is.
type ParameterOrigins = BTreeMap<usize, bool>;

/// The accesses of a function through its parameters.
pub(crate) fn accesses(function: &Function) -> Vec<ParameterAccess> {
    let origins = origins(function);
    let mut all = Vec::new();
    for line in function.rows.iter().flat_map(|row| &row.lines) {
        let instruction = &line.line.instruction;
        let access = instruction.access();
        for place in instruction.places() {
            let Operand::Reg(base) = place.address.base else { continue };
            for (&parameter, &exact) in &origins[usize::from(base.0)] {
                let (bytes, elements) = match access {
                    Some((_, ty, count)) => (ty.bytes().max(1), u32::try_from(count).unwrap_or(1)),
                    None => (4, 1),
                };
                all.push(ParameterAccess {
                    parameter,
                    offset: (exact && access.is_some()).then_some(place.address.offset),
                    bytes,
                    elements,
                    reads: matches!(place.effect, PlaceEffect::Read | PlaceEffect::Update),
                    writes: place.is_written(),
                    strong: instruction.scope().is_some(),
                });
            }
        }
    }
    all
}

/// Of each register, whatever the order of instructions.
fn origins(function: &Function) -> Vec<ParameterOrigins> {
    let mut origins = vec![ParameterOrigins::new(); function.registers.len()];
    for (name, value) in &function.initial {
        let parameter = match value {
            EntryValue::Parameter(parameter) | EntryValue::Piece { parameter, .. } => *parameter,
            EntryValue::Value(_) | EntryValue::Address(_) | EntryValue::Special(_) => continue,
        };
        let exact = matches!(value, EntryValue::Parameter(_));
        if let Some(at) = function.registers.iter().position(|(known, _)| known == name) {
            origins[at].insert(parameter, exact);
        }
    }
    let mut lines: Vec<&Line> =
        function.rows.iter().flat_map(|row| &row.lines).map(|step| &step.line).collect();
    lines.retain(|line| line.instruction.computes());
    let mut changed = true;
    while changed {
        changed = false;
        for line in &lines {
            let copies = is_copy(&line.instruction);
            let mut made = ParameterOrigins::new();
            for Reg(source) in line.instruction.sources() {
                for (&parameter, &exact) in &origins[usize::from(source)] {
                    *made.entry(parameter).or_insert(exact && copies) &= exact && copies;
                }
            }
            for Reg(to) in line.instruction.destinations() {
                let to = &mut origins[usize::from(to)];
                for (&parameter, &exact) in &made {
                    let before = to.get(&parameter).copied();
                    let after = before.unwrap_or(exact) && exact;
                    changed |= before != Some(after);
                    to.insert(parameter, after);
                }
            }
        }
    }
    origins
}

fn is_copy(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Alu(alu) => alu.op == AluOp::Mov,
        Instruction::Cvta(cvta) => {
            matches!(cvta.op, AddressOp::FromGeneric | AddressOp::ToGeneric)
        }
        Instruction::Load(_)
        | Instruction::Store(_)
        | Instruction::Atomic(_)
        | Instruction::Fence(_)
        | Instruction::ProxyFence(_)
        | Instruction::Barrier(_)
        | Instruction::ClusterBarrier(_)
        | Instruction::Asynchronous(_)
        | Instruction::Branch(_)
        | Instruction::Unsupported(_) => false,
    }
}

/// The elements that accesses through a parameter need, and their bytes; `None` if there are none, or one is computed.
pub(crate) fn extent(accesses: &[ParameterAccess], parameter: usize) -> Option<(u32, u32)> {
    let own = || accesses.iter().filter(move |access| access.parameter == parameter);
    let widest = own().map(|access| access.bytes).max()?;
    let mut end = 0;
    for access in own() {
        let offset = u32::try_from(access.offset?).ok()?;
        end = end.max(offset.checked_add(access.bytes * access.elements)?);
    }
    Some((end.div_ceil(widest), widest))
}
