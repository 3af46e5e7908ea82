//! Communication between the lanes of a warp: a column is the first and only lane (reading R101).

use model::isa::alu::{AluOp, Comparison};
use model::isa::{Operand, Type};

use super::{ColumnReader, SupportResult, unsupported};
use sass::syntax;

impl ColumnReader<'_> {
    /// `VOTE.ANY R3, PT, PT`: a mask of the lanes in which the source is true.
    pub(super) fn vote(&mut self, instruction: &syntax::Instruction<'_>) -> SupportResult<()> {
        let [to, holds, from] = &instruction.operands[..] else {
            return unsupported("a vote of this form");
        };
        let one = ["ANY", "ALL", "EQ"].into_iter().find(|name| instruction.has(name));
        let (Some(how), true) = (one, instruction.modifiers.len() == 1) else {
            return unsupported("a vote of this form");
        };
        let from = self.source(from)?;
        let agreed = if how == "EQ" { Operand::Imm(1) } else { from };
        if let Some(to) = self.destination(to)? {
            self.alu(AluOp::Mov, Type::U32, to, &[from]);
        }
        if let Some(holds) = self.destination(holds)? {
            self.alu(AluOp::Mov, super::BIT, holds, &[agreed]);
        }
        Ok(())
    }

    /// `SHFL.IDX PT, R7, R3, R0, 0x1f`: the source lane is always the only lane.
    pub(super) fn shuffle(&mut self, instruction: &syntax::Instruction<'_>) -> SupportResult<()> {
        let [holds, to, from, _, _] = &instruction.operands[..] else {
            return unsupported("a shuffle of this form");
        };
        let from = self.source(from)?;
        if let Some(to) = self.destination(to)? {
            self.alu(AluOp::Mov, Type::U32, to, &[from]);
        }
        if let Some(holds) = self.destination(holds)? {
            self.alu(AluOp::Mov, super::BIT, holds, &[Operand::Imm(1)]);
        }
        Ok(())
    }

    /// `FLO.U32 R0, UR6`: the index of the highest set bit; all ones if no bit is set.
    pub(super) fn leading(&mut self, instruction: &syntax::Instruction<'_>) -> SupportResult<()> {
        let [to, from] = &instruction.operands[..] else {
            return unsupported("an operand for what is not found");
        };
        if instruction.modifiers.len() != 1 || !instruction.has("U32") {
            return unsupported("the highest bit of a signed number");
        }
        let u32 = Type::U32;
        let from = self.source(from)?;
        let (mut rest, mut found) = (from, Operand::Imm(0));
        for half in [16_u64, 8, 4, 2, 1] {
            let least = Operand::Imm(1 << half);
            let above = self.computed(AluOp::Setp(Comparison::Ge), u32, &[rest, least]);
            let by = self.computed(AluOp::Selp, u32, &[Operand::Imm(half), Operand::Imm(0), above]);
            rest = self.computed(AluOp::Shr, u32, &[rest, by]);
            found = self.computed(AluOp::Add, u32, &[found, by]);
        }
        let none = self.computed(AluOp::Setp(Comparison::Eq), u32, &[from, Operand::Imm(0)]);
        if let Some(to) = self.destination(to)? {
            self.alu(AluOp::Selp, u32, to, &[Operand::Imm(0xffff_ffff), found, none]);
        }
        Ok(())
    }

    /// `POPC R9, UR6`: the number of set bits.
    pub(super) fn population(
        &mut self,
        instruction: &syntax::Instruction<'_>,
    ) -> SupportResult<()> {
        let [to, from] = &instruction.operands[..] else {
            return unsupported("bits of this form");
        };
        if !instruction.modifiers.is_empty() {
            return unsupported("bits of this form");
        }
        let u32 = Type::U32;
        let mut sum = self.source(from)?;
        // Adds neighbouring fields: pairs, nibbles, bytes, halves.
        let masks = [0x5555_5555, 0x3333_3333, 0x0f0f_0f0f, 0x00ff_00ff, 0xffff];
        for (index, mask) in masks.into_iter().enumerate() {
            let mask = Operand::Imm(mask);
            let low = self.computed(AluOp::And, u32, &[sum, mask]);
            let high = self.computed(AluOp::Shr, u32, &[sum, Operand::Imm(1 << index)]);
            let high = self.computed(AluOp::And, u32, &[high, mask]);
            sum = self.computed(AluOp::Add, u32, &[low, high]);
        }
        if let Some(to) = self.destination(to)? {
            self.alu(AluOp::Mov, u32, to, &[sum]);
        }
        Ok(())
    }
}
