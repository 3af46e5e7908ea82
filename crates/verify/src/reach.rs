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
    /// Of a structure, the offset of the field that is the address; 0 of others.
    pub(crate) field: u32,
    /// In bytes; `None` if it is computed.
    pub(crate) offset: Option<i64>,
    /// Of one element.
    pub(crate) bytes: u32,
    pub(crate) elements: u32,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) strong: bool,
}

/// A parameter, or a field of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ParameterField {
    parameter: usize,
    field: u32,
}

/// The parameters that a register may be made of, and whether it is one of them as it is.
type ParameterOrigins = BTreeMap<ParameterField, bool>;

/// The accesses of a function through its parameters.
pub(crate) fn accesses(function: &Function) -> Vec<ParameterAccess> {
    let origins = origins(function);
    let mut all = Vec::new();
    for line in function.rows.iter().flat_map(|row| &row.lines) {
        let instruction = &line.line.instruction;
        let access = instruction.access();
        for place in instruction.places() {
            let Operand::Reg(base) = place.address.base else { continue };
            for (&ParameterField { parameter, field }, &exact) in &origins[usize::from(base.0)] {
                let (bytes, elements) = match access {
                    Some((_, ty, count)) => (ty.bytes().max(1), u32::try_from(count).unwrap_or(1)),
                    None => (4, 1),
                };
                all.push(ParameterAccess {
                    parameter,
                    field,
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
        let (origin, bits) = match *value {
            EntryValue::Parameter(parameter) => {
                (ParameterField { parameter, field: 0 }, function.parameters[parameter].bits)
            }
            EntryValue::Piece { parameter, offset, bits } => {
                (ParameterField { parameter, field: offset }, bits)
            }
            EntryValue::Value(_) | EntryValue::Address(_) | EntryValue::Special(_) => continue,
        };
        // What is narrower is an index.
        let register = function.registers.iter().position(|(known, _)| known == name);
        if let Some(at) = register.filter(|_| bits >= 64) {
            origins[at].insert(origin, true);
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
                for (&origin, &exact) in &origins[usize::from(source)] {
                    *made.entry(origin).or_insert(exact && copies) &= exact && copies;
                }
            }
            for Reg(to) in line.instruction.destinations() {
                let to = &mut origins[usize::from(to)];
                for (&origin, &exact) in &made {
                    let before = to.get(&origin).copied();
                    let after = before.unwrap_or(exact) && exact;
                    changed |= before != Some(after);
                    to.insert(origin, after);
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

impl ParameterAccess {
    /// The byte behind it, if the instructions say where it is.
    pub(crate) fn end(&self) -> Option<u32> {
        let offset = u32::try_from(self.offset?).ok()?;
        offset.checked_add(self.bytes * self.elements)
    }
}

/// Whether the instructions say where all accesses through a parameter are, of which there are some.
pub(crate) fn is_known(accesses: &[ParameterAccess], parameter: usize) -> bool {
    let mut own = accesses.iter().filter(|access| access.parameter == parameter).peekable();
    own.peek().is_some() && own.all(|access| access.end().is_some())
}
