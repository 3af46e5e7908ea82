//! Communication between the lanes of a warp: a column is the first and only lane (reading R101).

use model::isa::alu::AluOp;
use model::isa::integer::IntegerOp;
use model::isa::opaque::OpaqueOp;
use model::isa::{Operand, Type};

use super::arithmetic::S32;
use super::{ColumnReader, SupportResult, unsupported};
use sass::syntax;

impl ColumnReader<'_> {
    /// `VOTE.ANY R3, PT, PT`: a mask of the lanes in which the source is true.
    pub(super) fn vote(&mut self, instruction: &syntax::Instruction<'_>) -> SupportResult<()> {
        let (to, holds, from) = match &instruction.operands[..] {
            [to, holds, from] => (Some(to), holds, from),
            [holds, from] => (None, holds, from),
            _ => return unsupported("a vote of this form"),
        };
        let one = ["ANY", "ALL", "EQ"].into_iter().find(|name| instruction.has(name));
        let (Some(how), true) = (one, instruction.modifiers.len() == 1) else {
            return unsupported("a vote of this form");
        };
        let from = self.source(from)?;
        // Both results are those of the operand before either is written.
        let from = Operand::Reg(self.predicate(from));
        let agreed = if how == "EQ" { Operand::Imm(1) } else { from };
        if let Some(to) = to {
            self.low(to, from)?;
        }
        self.bit(holds, agreed)
    }

    /// `SHFL.IDX PT, R7, R3, R0, 0x1f`: the values of other lanes are a function of its operands. Whether the
    /// source lane is there is assumed.
    pub(super) fn shuffle(&mut self, instruction: &syntax::Instruction<'_>) -> SupportResult<()> {
        let [holds, to, from, lane, clamp] = &instruction.operands[..] else {
            return unsupported("a shuffle of this form");
        };
        let names: Vec<&str> = instruction.modifiers.iter().map(|word| word.text).collect();
        let function = match names[..] {
            ["IDX"] => OpaqueOp::named("shfl.idx.b32"),
            ["UP"] => OpaqueOp::named("shfl.up.b32"),
            ["DOWN"] => OpaqueOp::named("shfl.down.b32"),
            ["BFLY"] => OpaqueOp::named("shfl.bfly.b32"),
            _ => return unsupported("a shuffle of this form"),
        };
        let sources = [self.source(from)?, self.source(lane)?, self.source(clamp)?];
        let value = self.computed(AluOp::Opaque(function), Type::U32, &sources);
        self.low(to, value)?;
        self.bit(holds, Operand::Imm(1))
    }

    /// `REDUX.SUM.S32 UR4, R2`: the thread is the only active one.
    pub(super) fn reduction(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        from: &syntax::Operand<'_>,
    ) -> SupportResult<()> {
        Self::only(instruction, &[&["SUM", "MIN", "MAX", "AND", "OR", "XOR", "S32", "U32"]])?;
        self.simple(AluOp::Mov, to, &[from])
    }

    /// `MATCH.ANY R0, R1`, `MATCH.ALL PT, R0, R1`: lanes with the same value.
    pub(super) fn matched(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        rest: &[syntax::Operand<'_>],
    ) -> SupportResult<()> {
        let any = instruction.has("ANY");
        Self::only(instruction, &[&["ANY", "ALL", "U64"]])?;
        let (holds, to, from) = match rest {
            [from] if any => (None, to, from),
            [mask, from] if !any => (Some(to), mask, from),
            _ => return unsupported("a match of this form"),
        };
        let wide = instruction.has("U64");
        let from = if wide { self.wide(from)? } else { self.source(from)? };
        let name = match (any, wide) {
            (true, false) => "match.any.b32",
            (true, true) => "match.any.b64",
            (false, false) => "match.all.b32",
            (false, true) => "match.all.b64",
        };
        let op = AluOp::Opaque(OpaqueOp::named(name));
        let value = self.computed(op, Type::U32, &[from]);
        self.low(to, value)?;
        holds.map_or(Ok(()), |holds| self.bit(holds, Operand::Imm(1)))
    }

    /// `FLO.U32 R0, UR6`: the index of the highest set bit; all ones if no bit is set. With `.SH` the number of
    /// bits above it.
    pub(super) fn leading(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        from: &syntax::Operand<'_>,
    ) -> SupportResult<()> {
        Self::only(instruction, &[&["U32", "SH"]])?;
        let ty = if instruction.has("U32") { Type::U32 } else { S32 };
        let op = IntegerOp::Bfind { shift: instruction.has("SH") };
        let from = self.source(from)?;
        let value = self.computed(AluOp::Integer(op), ty, &[from]);
        self.low(to, value)
    }
}
