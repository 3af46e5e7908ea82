//! Instructions of PTX that are several operations of the model.

use model::isa::alu::{Alu, AluOp};
use model::isa::{Instruction, Operand, Reg, Type, TypeKind};

use super::InstructionReader;
use crate::cell::{Arg, InstructionCell};

/// A value of a plan: an operand of the instruction, or the result of an earlier operation.
#[derive(Clone, Copy)]
pub(super) enum PlannedValue {
    Given(Operand),
    Step(usize),
}

impl PlannedValue {
    pub(super) fn number(value: u64) -> PlannedValue {
        PlannedValue::Given(Operand::Imm(value))
    }
}

struct PlannedOperation {
    op: AluOp,
    ty: Type,
    /// The width of the register of the result.
    bits: u16,
    sources: Vec<PlannedValue>,
}

/// Operations in order. Only the last ones write registers that the program names.
#[derive(Default)]
pub(super) struct Operations {
    steps: Vec<PlannedOperation>,
}

/// A type of bits.
pub(super) fn bits(bits: u16) -> Type {
    Type { kind: TypeKind::Bits, bits }
}

impl Operations {
    pub(super) fn step(&mut self, op: AluOp, ty: Type, sources: &[PlannedValue]) -> PlannedValue {
        self.wide(op.result(ty).bits, op, ty, sources)
    }

    /// An operation whose result is kept with more bits than its type has.
    pub(super) fn wide(
        &mut self,
        bits: u16,
        op: AluOp,
        ty: Type,
        sources: &[PlannedValue],
    ) -> PlannedValue {
        self.steps.push(PlannedOperation { op, ty, bits, sources: sources.to_vec() });
        PlannedValue::Step(self.steps.len() - 1)
    }
}

impl<'a> InstructionReader<'_> {
    /// The operations of a plan, and moves of the results to their destinations. A result that is the last
    /// operation is written without a move.
    pub(super) fn carry_out(
        &mut self,
        cell: &InstructionCell<'a>,
        plan: &Operations,
        results: &[(Arg<'a>, PlannedValue, u16)],
    ) -> Option<Vec<Instruction>> {
        let mut made: Vec<Operand> = Vec::with_capacity(plan.steps.len());
        let mut out = Vec::with_capacity(plan.steps.len() + results.len());
        let operand = |made: &[Operand], source: PlannedValue| match source {
            PlannedValue::Given(operand) => operand,
            PlannedValue::Step(index) => made[index],
        };
        let last = plan.steps.len().wrapping_sub(1);
        let direct = match results {
            [(destination, PlannedValue::Step(index), _)] if *index == last => Some(destination),
            _ => None,
        };
        for (index, step) in plan.steps.iter().enumerate() {
            let sources: Vec<Operand> =
                step.sources.iter().map(|source| operand(&made, *source)).collect();
            let destination = match direct.filter(|_| index == last) {
                Some(destination) => {
                    self.alu_destination(destination, step.bits, step.op, &sources)?
                }
                None => self.auxiliary(&format!("%step {index}"), step.bits),
            };
            made.push(Operand::Reg(destination));
            out.push(Instruction::Alu(Alu { op: step.op, ty: step.ty, destination, sources }));
        }
        if direct.is_none() {
            // Every operation has the guard of the instruction, so the guard is written last.
            let guard = cell.guard.map(|(name, ..)| name.trim_start_matches('%'));
            let is_guard = |arg: &Arg<'a>| matches!(arg, Arg::Name(name, _) if Some(name.trim_start_matches('%')) == guard);
            let mut results: Vec<_> = results.iter().collect();
            results.sort_by_key(|(arg, ..)| is_guard(arg));
            for (arg, source, width) in results {
                if matches!(arg, Arg::Name("_", _)) {
                    continue;
                }
                let (op, sources) = (AluOp::Mov, vec![operand(&made, *source)]);
                let destination = self.alu_destination(arg, *width, op, &sources)?;
                out.push(Instruction::Alu(Alu { op, ty: bits(*width), destination, sources }));
            }
        }
        Some(out)
    }

    /// A register that the program does not name.
    fn auxiliary(&mut self, name: &str, bits: u16) -> Reg {
        let thread = self.draft.thread(self.thread);
        let register = thread.register(name, text::report::ByteSpan::default(), self.report);
        thread.write(register, bits);
        thread.draft(register).given(None);
        register
    }
}
