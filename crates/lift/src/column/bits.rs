//! Bytes, fields and masks of a register; predicates as bits; least and greatest integers.

use model::isa::alu::{AluOp, Comparison};
use model::isa::integer::{IntegerOp, Permutation};
use model::isa::{Operand, Type, TypeKind};

use super::arithmetic::{S32, WHAT};
use super::{BIT, ColumnReader, SupportResult, unsupported};
use sass::syntax::{self, Register, RegisterFile};
use text::report::ByteSpan;

impl ColumnReader<'_> {
    /// `PRMT R0, R2, 0x5410, R3`: selects bytes of two registers.
    pub(super) fn permute(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        [a, b]: [&syntax::Operand<'_>; 2],
        which: &syntax::Operand<'_>,
    ) -> SupportResult<()> {
        let mode = instruction.modifiers.first().map_or("", |mode| mode.text).to_lowercase();
        let permutation = Permutation::named(&mode);
        let (Some(permutation), true) = (permutation, instruction.modifiers.len() < 2) else {
            return unsupported(WHAT);
        };
        let sources = [self.source(a)?, self.source(b)?, self.source(which)?];
        let op = AluOp::Integer(IntegerOp::Prmt(permutation));
        let value = self.computed(op, Type::U32, &sources);
        self.low(to, value)
    }

    /// `SGXT R0, R1, 0x8`: the low bits, sign-extended, or with `.U32` zero-extended.
    pub(super) fn field(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        [from, count]: [&syntax::Operand<'_>; 2],
    ) -> SupportResult<()> {
        Self::only(instruction, &[&["U32"]])?;
        let ty = if instruction.has("U32") { Type::U32 } else { S32 };
        let (from, count) = (self.source(from)?, self.source(count)?);
        let Operand::Imm(count @ 0..=32) = count else {
            return unsupported("a number of bits that is not a constant");
        };
        let op = AluOp::Integer(IntegerOp::Bfe);
        let value = self.computed(op, ty, &[from, Operand::Imm(0), Operand::Imm(count)]);
        self.low(to, value)
    }

    /// `BMSK R0, R1, R2`: as many ones as the second source says, from the bit on that the first one says.
    pub(super) fn mask(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        [first, count]: [&syntax::Operand<'_>; 2],
    ) -> SupportResult<()> {
        Self::only(instruction, &[&[]])?;
        let (first, count) = (self.source(first)?, self.source(count)?);
        // 32 bits or more are all of them.
        let compare = AluOp::Setp(Comparison::Lt);
        let few = self.truth(compare, Type::U32, &[count, Operand::Imm(32)]);
        let above = self.computed(AluOp::Shl, Type::U64, &[Operand::Imm(1), count]);
        let ones = self.computed(AluOp::Sub, Type::U64, &[above, Operand::Imm(1)]);
        let all = Operand::Imm(0xffff_ffff);
        let ones = self.computed(AluOp::Selp, Type::U32, &[ones, all, few]);
        let value = self.computed(AluOp::Shl, Type::U32, &[ones, first]);
        self.low(to, value)
    }

    /// `VIMNMX.U32 R0, R1, R2, PT`: the least source, and with `!PT` the greatest. `.U16x2` of each half.
    pub(super) fn extreme(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        from: &[&syntax::Operand<'_>],
        least: &syntax::Operand<'_>,
    ) -> SupportResult<()> {
        Self::only(instruction, &[&["U32", "S32", "U16x2", "S16x2"]])?;
        let mut sources = Vec::new();
        for one in from {
            sources.push(self.source(one)?);
        }
        let least = self.source(least)?;
        let halves = instruction.modifiers.iter().any(|word| word.text.ends_with("x2"));
        let kind = match instruction.modifiers.first() {
            Some(word) if word.text.starts_with('U') => TypeKind::Unsigned,
            _ => TypeKind::Signed,
        };
        let ty = Type { kind, bits: if halves { 16 } else { 32 } };
        if !halves {
            let value = self.extreme_of(ty, &sources, least);
            return self.low(to, value);
        }
        let mut results = Vec::new();
        for at in [0, 16] {
            let low = Type { bits: 16, ..Type::U32 };
            let parts: Vec<Operand> =
                sources.iter().map(|one| self.computed(AluOp::Extract(at), low, &[*one])).collect();
            results.push(self.extreme_of(ty, &parts, least));
        }
        let value = self.computed(AluOp::Concat(16), Type::U32, &results);
        self.low(to, value)
    }

    /// The least of some values where a predicate holds, otherwise the greatest.
    fn extreme_of(&mut self, ty: Type, sources: &[Operand], least: Operand) -> Operand {
        let mut found = sources[0];
        for &one in &sources[1..] {
            let [min, max] = [IntegerOp::Min, IntegerOp::Max].map(|op| match (op, least) {
                (IntegerOp::Min, Operand::Imm(0)) | (IntegerOp::Max, Operand::Imm(1)) => found,
                _ => self.computed(AluOp::Integer(op), ty, &[found, one]),
            });
            found = match least {
                Operand::Imm(0) => max,
                Operand::Imm(_) => min,
                Operand::Reg(_) | Operand::Address(_) => {
                    self.computed(AluOp::Selp, Type::U32, &[min, max, least])
                }
            };
        }
        found
    }

    /// `VIADDMNMX R0, R1, R2, R3, !PT`: the extreme of a sum and a third source.
    pub(super) fn sum_and_extreme(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        [a, b, c]: [&syntax::Operand<'_>; 3],
        least: &syntax::Operand<'_>,
    ) -> SupportResult<()> {
        Self::only(instruction, &[&["U32", "S32"]])?;
        let ty = if instruction.has("U32") { Type::U32 } else { S32 };
        let (a, b, c) = (self.source(a)?, self.source(b)?, self.source(c)?);
        let least = self.source(least)?;
        let sum = self.computed(AluOp::Add, Type::U32, &[a, b]);
        let value = self.extreme_of(ty, &[sum, c], least);
        self.low(to, value)
    }

    /// `P2R R8, PR, RZ, 0x40`: the predicates of a mask, as bits of a register; the other bits are of a second
    /// one. `.B1` means bits from 8 on.
    pub(super) fn predicates_to_register(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        [from, mask]: [&syntax::Operand<'_>; 2],
    ) -> SupportResult<()> {
        let place = match instruction.modifiers.iter().map(|word| word.text).collect::<Vec<_>>()[..]
        {
            [] | ["B0"] => 0,
            ["B1"] => 8,
            ["B2"] => 16,
            ["B3"] => 24,
            _ => return unsupported(WHAT),
        };
        let (from, mask) = (self.source(from)?, self.source(mask)?);
        let Operand::Imm(mask @ 0..=0x7f) = mask else { return unsupported(WHAT) };
        let kept = Operand::Imm(0xffff_ffff & !(mask << place));
        let mut value = self.computed(AluOp::And, Type::U32, &[from, kept]);
        for number in (0..7).filter(|number| mask >> number & 1 == 1) {
            let register = Register { file: RegisterFile::Predicate, number: Some(number) };
            let holds = self.read(register, to.at);
            let one = Operand::Imm(1 << (place + u64::from(number)));
            let bit = self.computed(AluOp::Selp, Type::U32, &[one, Operand::Imm(0), holds]);
            value = self.computed(AluOp::Or, Type::U32, &[value, bit]);
        }
        self.low(to, value)
    }

    /// `R2P PR, R0.B1, 0x7f`: bits of a register, as the predicates of a mask.
    pub(super) fn register_to_predicates(
        &mut self,
        from: &syntax::Operand<'_>,
        mask: &syntax::Operand<'_>,
    ) -> SupportResult<()> {
        let from = self.part(from, 8)?;
        let mask = self.source(mask)?;
        let Operand::Imm(mask @ 0..=0x7f) = mask else { return unsupported(WHAT) };
        for number in (0..7_u8).filter(|number| mask >> number & 1 == 1) {
            let number = Some(number.into());
            let register = Register { file: RegisterFile::Predicate, number };
            let to = self.register(register, ByteSpan::default());
            let low = Type { kind: TypeKind::Unsigned, bits: 1 };
            let bit = number.map_or(0, |number| u8::try_from(number).unwrap_or(0));
            let bit = self.truth(AluOp::Extract(bit), low, &[from]);
            self.alu(AluOp::Mov, BIT, to, &[bit]);
        }
        Ok(())
    }
}
