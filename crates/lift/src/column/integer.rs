//! Sums, products, shifts, and 64-bit values in two registers.

use model::isa::alu::{AluOp, Comparison};
use model::isa::{Operand, Type, TypeKind};

use super::arithmetic::{S32, WHAT, is_predicate};
use super::{BIT, ColumnReader, SupportResult, unsupported};
use sass::syntax::{self, Atom, OperandKind, Register};
use text::report::ByteSpan;

const S64: Type = Type { kind: TypeKind::Signed, bits: 64 };
const B128: Type = Type { kind: TypeKind::Bits, bits: 128 };

impl ColumnReader<'_> {
    /// The 64-bit value of a register and the next one.
    pub(super) fn pair(&mut self, first: Register, at: ByteSpan) -> Operand {
        if first.number.is_none() {
            return Operand::Imm(0);
        }
        let low = self.read(first, at);
        let high = self.read(first.ahead(1), at);
        self.computed(AluOp::Concat(32), Type::U64, &[low, high])
    }

    /// The 64-bit value of a source operand.
    pub(super) fn wide(&mut self, operand: &syntax::Operand<'_>) -> SupportResult<Operand> {
        let OperandKind::Value(value) = &operand.kind else { return unsupported(WHAT) };
        let plain = value.suffixes.iter().all(|suffix| matches!(*suffix, "reuse" | "64"));
        if value.absolute || !plain {
            return unsupported(WHAT);
        }
        match (&value.atom, value.signs) {
            (Atom::Register(register), "") => Ok(self.pair(*register, operand.at)),
            (Atom::Register(register), "-") => {
                let value = self.pair(*register, operand.at);
                Ok(self.computed(AluOp::Sub, Type::U64, &[Operand::Imm(0), value]))
            }
            (Atom::Indexed(indexed), "") if indexed.name == "c" => self.wide_constant(indexed),
            (Atom::Number(number), "" | "-") => {
                let Some(bits) = number.value else { return unsupported(WHAT) };
                Ok(Operand::Imm(if value.signs == "-" { bits.wrapping_neg() } else { bits }))
            }
            _ => unsupported(WHAT),
        }
    }

    /// Writes a 64-bit value to a register and the next one.
    pub(super) fn halves(&mut self, to: &syntax::Operand<'_>, value: Operand) -> SupportResult<()> {
        let Some(first) = to.register() else { return unsupported("no register to write") };
        if first.number.is_none() {
            return Ok(());
        }
        let whole = self.hidden(64);
        self.alu(AluOp::Mov, Type::U64, whole, &[value]);
        for (ahead, bit) in [(0, 0), (1, 32)] {
            let register = self.register(first.ahead(ahead), to.at);
            self.alu(AluOp::Extract(bit), Type::U32, register, &[Operand::Reg(whole)]);
        }
        Ok(())
    }

    /// Writes a value to a predicate.
    pub(super) fn bit(&mut self, to: &syntax::Operand<'_>, value: Operand) -> SupportResult<()> {
        if let Some(to) = self.destination(to)? {
            self.alu(AluOp::Mov, BIT, to, &[value]);
        }
        Ok(())
    }

    /// A 32-bit value, sign-extended or zero-extended to 64 bits.
    fn extended(&mut self, value: Operand, signed: bool) -> Operand {
        let to = self.hidden(64);
        self.alu(AluOp::Mov, if signed { S32 } else { Type::U32 }, to, &[value]);
        Operand::Reg(to)
    }

    /// `IMAD R7, R0, UR4, R7`, and its variants `.MOV`, `.IADD`, `.SHL`, `.WIDE`, `.HI` and `.X`.
    pub(super) fn multiply(&mut self, instruction: &syntax::Instruction<'_>) -> SupportResult<()> {
        const KNOWN: &[&str] = &["MOV", "IADD", "SHL", "U32", "WIDE", "X", "HI"];
        Self::only(instruction, &[KNOWN])?;
        let (whole, high) = (instruction.has("WIDE"), instruction.has("HI"));
        let Some((to, rest)) = instruction.operands.split_first() else {
            return unsupported(WHAT);
        };
        let (out, rest) = match rest {
            [out, rest @ ..] if is_predicate(out) && whole => (Some(out), rest),
            rest => (None, rest),
        };
        let (a, b, c, carried) = match rest {
            [a, b, c] if !instruction.has("X") => (a, b, c, None),
            [a, b, c, carried] if instruction.has("X") && !high => (a, b, c, Some(carried)),
            _ => return unsupported(WHAT),
        };
        let (a, b) = (self.source(a)?, self.source(b)?);
        let none = [a, b].contains(&Operand::Imm(0));
        if whole || high {
            // The addend has 64 bits.
            let mut sum = self.wide(c)?;
            let signed = !instruction.has("U32");
            let mut product = Operand::Imm(0);
            if !none {
                let (a, b) = (self.extended(a, signed), self.extended(b, signed));
                product = self.computed(AluOp::Mul, Type::U64, &[a, b]);
            }
            let carry_out = out.filter(|out| has_number(out));
            if carry_out.is_some() && signed {
                return unsupported("the carry of a signed product");
            }
            // The carry is the bit above.
            let ty = if carry_out.is_some() { B128 } else { Type::U64 };
            if !none || carry_out.is_some() {
                sum = self.computed(AluOp::Add, ty, &[product, sum]);
            }
            if let Some(carried) = carried {
                let carried = self.source(carried)?;
                sum = self.computed(AluOp::Add, ty, &[sum, carried]);
            }
            if high {
                let value = self.computed(AluOp::Shr, Type::U64, &[sum, Operand::Imm(32)]);
                return self.low(to, value);
            }
            self.halves(to, sum)?;
            if let Some(out) = carry_out {
                let carry = self.computed(AluOp::Extract(64), BIT, &[sum]);
                self.bit(out, carry)?;
            }
            return Ok(());
        }
        let mut sum = self.source(c)?;
        if !none {
            let product = self.computed(AluOp::Mul, Type::U32, &[a, b]);
            sum = self.computed(AluOp::Add, Type::U32, &[product, sum]);
        }
        if let Some(carried) = carried {
            let carried = self.source(carried)?;
            sum = self.computed(AluOp::Add, Type::U32, &[sum, carried]);
        }
        self.low(to, sum)
    }

    /// `IADD3 R2, P0, R4, UR4, RZ` and `IADD3.X R3, R5, UR5, RZ, P0, !PT`: a sum of three operands, with carry
    /// out and carry in.
    pub(super) fn add3(&mut self, instruction: &syntax::Instruction<'_>) -> SupportResult<()> {
        let with = instruction.has("X");
        if instruction.modifiers.len() > usize::from(with) {
            return unsupported(WHAT);
        }
        let Some((to, rest)) = instruction.operands.split_first() else {
            return unsupported(WHAT);
        };
        let outs = rest.iter().take_while(|one| is_predicate(one)).count();
        let (out, rest) = rest.split_at(outs);
        let [a, b, c, carried @ ..] = rest else { return unsupported(WHAT) };
        if with == carried.is_empty() {
            return unsupported(WHAT);
        }
        let mut out = out.iter().filter(|one| has_number(one));
        let (first, second) = (out.next(), out.next());
        let mut sources = Vec::new();
        let (mut ones, mut complements) = (0_usize, 0_u64);
        for operand in [a, b, c] {
            match negated_register(operand) {
                // A negation adds 1 to the complement, which may produce a carry.
                Some(register) if first.is_some() => {
                    let value = self.read(register, operand.at);
                    let all = Operand::Imm(0xffff_ffff);
                    sources.push(self.computed(AluOp::Xor, Type::U32, &[value, all]));
                    ones += 1;
                    complements += 1;
                }
                _ => sources.push(self.source(operand)?),
            }
        }
        let counted = sources.iter().filter(|one| **one != Operand::Imm(0)).count();
        for one in carried {
            let one = self.source(one)?;
            ones += usize::from(one != Operand::Imm(0));
            sources.push(one);
        }
        if complements > 0 {
            sources.push(Operand::Imm(complements));
        }
        // Two terms of 32 bits and a 1 have a sum of 33 bits.
        if first.is_some() && second.is_none() && (counted > 2 || counted + ones > 3) {
            return unsupported("one carry of more than a sum of two");
        }
        let sum = self.sum(&sources);
        self.low(to, sum)?;
        if let (Some(out), None) = (first, second) {
            let carry = self.computed(AluOp::Extract(32), BIT, &[sum]);
            self.bit(out, carry)?;
        } else if let (Some(first), Some(second)) = (first, second) {
            // The carry is 0, 1 or 2: as many predicates hold.
            let carry = self.computed(AluOp::Shr, Type::U64, &[sum, Operand::Imm(32)]);
            for (out, least) in [(first, 1), (second, 2)] {
                let compare = AluOp::Setp(Comparison::Ge);
                let holds = self.truth(compare, Type::U64, &[carry, Operand::Imm(least)]);
                self.bit(out, holds)?;
            }
        }
        Ok(())
    }

    /// `LEA R2, P0, R0, UR4, 0x2`: a scaled sum; `.HI` is its high half.
    pub(super) fn scaled(&mut self, instruction: &syntax::Instruction<'_>) -> SupportResult<()> {
        const KNOWN: &[&str] = &["HI", "X", "SX32"];
        if instruction.modifiers.iter().any(|word| !KNOWN.contains(&word.text)) {
            return unsupported(WHAT);
        }
        let (high, with) = (instruction.has("HI"), instruction.has("X"));
        let Some((to, rest)) = instruction.operands.split_first() else {
            return unsupported(WHAT);
        };
        let outs = rest.iter().take_while(|one| is_predicate(one)).count();
        let (out, rest) = rest.split_at(outs);
        let (rest, carried) = match (rest, with) {
            ([rest @ .., carried], true) => (rest, Some(carried)),
            (rest, _) => (rest, None),
        };
        let (a, b, above, by) = match rest {
            [a, b, by] => (a, b, None, by),
            [a, b, above, by] if high && !instruction.has("SX32") => (a, b, Some(above), by),
            _ => return unsupported(WHAT),
        };
        let Operand::Imm(by @ 0..=31) = self.source(by)? else { return unsupported(WHAT) };
        let negated = [a, b].into_iter().any(|one| negated_register(one).is_some());
        if negated && (high || out.iter().any(has_number)) {
            return unsupported("the carry of a difference");
        }
        let (value, b) = (self.source(a)?, self.source(b)?);
        let whole = match above {
            Some(above) => {
                let above = self.source(above)?;
                self.computed(AluOp::Concat(32), Type::U64, &[value, above])
            }
            None => self.extended(value, instruction.has("SX32")),
        };
        let mut part = self.computed(AluOp::Shl, Type::U64, &[whole, Operand::Imm(by)]);
        if high {
            part = self.computed(AluOp::Shr, Type::U64, &[part, Operand::Imm(32)]);
        } else {
            part = self.computed(AluOp::And, Type::U64, &[part, Operand::Imm(0xffff_ffff)]);
        }
        let mut sources = vec![part, b];
        if let Some(carried) = carried {
            sources.push(self.source(carried)?);
        }
        let sum = self.sum(&sources);
        self.low(to, sum)?;
        for out in out.iter().filter(|one| has_number(one)) {
            let carry = self.computed(AluOp::Extract(32), BIT, &[sum]);
            self.bit(out, carry)?;
        }
        Ok(())
    }

    /// An arithmetic shift right.
    pub(super) fn shifted_signed(
        &mut self,
        to: &syntax::Operand<'_>,
        value: Operand,
        by: Operand,
    ) -> SupportResult<()> {
        let shifted = self.computed(AluOp::Shr, S32, &[value, by]);
        self.low(to, shifted)
    }

    /// `SHF`: a funnel shift of two registers.
    pub(super) fn funnel(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        [low, by, high]: [&syntax::Operand<'_>; 3],
    ) -> SupportResult<()> {
        let (a, mut by, c) = (self.source(low)?, self.source(by)?, self.source(high)?);
        let mut names: Vec<&str> = instruction.modifiers.iter().map(|word| word.text).collect();
        let wraps = names.contains(&"W");
        names.retain(|name| *name != "W");
        let wide = names.iter().any(|name| matches!(*name, "U64" | "S64"));
        if wraps {
            let mask = Operand::Imm(if wide { 63 } else { 31 });
            by = self.computed(AluOp::And, Type::U32, &[by, mask]);
        }
        let none = Operand::Imm(0);
        match names[..] {
            ["L", "U32"] if c == none => {
                let value = self.computed(AluOp::Shl, Type::U32, &[a, by]);
                return self.low(to, value);
            }
            ["R", "U32", "HI"] if a == none => {
                let value = self.computed(AluOp::Shr, Type::U32, &[c, by]);
                return self.low(to, value);
            }
            ["R", "S32", "HI"] if a == none => return self.shifted_signed(to, c, by),
            _ => {}
        }
        // More than 32 shifts out all bits of the half, as 32 does.
        let known = matches!(by, Operand::Imm(0..=31)) || wraps && !wide;
        if !wide && !known {
            return unsupported("a shift of two registers by an amount that is not a number");
        }
        let whole = self.computed(AluOp::Concat(32), Type::U64, &[a, c]);
        let value = match names[..] {
            ["L", "U64" | "U32", "HI"] => {
                let moved = self.computed(AluOp::Shl, Type::U64, &[whole, by]);
                self.computed(AluOp::Shr, Type::U64, &[moved, Operand::Imm(32)])
            }
            ["R", "U64" | "U32"] => self.computed(AluOp::Shr, Type::U64, &[whole, by]),
            ["R", "S64" | "S32"] => self.computed(AluOp::Shr, S64, &[whole, by]),
            ["R", "U64", "HI"] => {
                let moved = self.computed(AluOp::Shr, Type::U64, &[whole, by]);
                self.computed(AluOp::Shr, Type::U64, &[moved, Operand::Imm(32)])
            }
            ["R", "S64", "HI"] => {
                let moved = self.computed(AluOp::Shr, S64, &[whole, by]);
                self.computed(AluOp::Shr, Type::U64, &[moved, Operand::Imm(32)])
            }
            _ => return unsupported(WHAT),
        };
        self.low(to, value)
    }
}

/// Whether it is a register, and not the one that is always zero or true.
fn has_number(operand: &syntax::Operand<'_>) -> bool {
    operand.register().is_some_and(|register| register.number.is_some())
}

/// `-R2`
fn negated_register(operand: &syntax::Operand<'_>) -> Option<Register> {
    let OperandKind::Value(value) = &operand.kind else { return None };
    let plain = value.signs == "-" && !value.absolute;
    operand.register().filter(|register| plain && register.number.is_some())
}
