//! Sums, products, shifts, and 64-bit values in two registers.

use model::isa::alu::AluOp;
use model::isa::float::Rounding;
use model::isa::{Operand, Type, TypeKind};
use model::value::Value;

use super::arithmetic::{S32, WHAT, is_predicate};
use super::{BIT, ColumnReader, SupportResult, unsupported};
use sass::syntax::{self, Atom, OperandKind, Register};
use text::report::ByteSpan;

const S64: Type = Type { kind: TypeKind::Signed, bits: 64 };

impl ColumnReader<'_> {
    /// The 64-bit value of a register and the next one.
    pub(super) fn pair(&mut self, first: Register, at: ByteSpan) -> Operand {
        if first.number.is_none() {
            return Operand::Imm(0);
        }
        let low = self.read(first, at);
        let high = self.read_next(first, 1, at);
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
        let Some(number) = first.number else { return Ok(()) };
        let whole = self.hidden(64);
        self.alu(AluOp::Mov, Type::U64, whole, &[value]);
        for (ahead, bit) in [(0, 0), (1, 32)] {
            let number = Some(number.saturating_add(ahead));
            let register = self.register(Register { number, ..first }, to.at);
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

    /// `IMAD R7, R0, UR4, R7`, and its variants `.MOV`, `.IADD`, `.SHL`, `.WIDE` and `.X`.
    pub(super) fn multiply(&mut self, instruction: &syntax::Instruction<'_>) -> SupportResult<()> {
        const KNOWN: &[&str] = &["MOV", "IADD", "SHL", "U32", "WIDE", "X"];
        if instruction.modifiers.iter().any(|word| !KNOWN.contains(&word.text)) {
            return unsupported(WHAT);
        }
        let (to, a, b, c, carried) = match &instruction.operands[..] {
            [to, a, b, c] if !instruction.has("X") => (to, a, b, c, None),
            [to, a, b, c, carried] if instruction.has("X") && !instruction.has("WIDE") => {
                (to, a, b, c, Some(carried))
            }
            _ => return unsupported(WHAT),
        };
        let (a, b) = (self.source(a)?, self.source(b)?);
        let none = [a, b].contains(&Operand::Imm(0));
        if instruction.has("WIDE") {
            let c = self.wide(c)?;
            if none {
                return self.halves(to, c);
            }
            let signed = !instruction.has("U32");
            let (a, b) = (self.extended(a, signed), self.extended(b, signed));
            let product = self.computed(AluOp::Mul, Type::U64, &[a, b]);
            let sum = self.computed(AluOp::Add, Type::U64, &[product, c]);
            return self.halves(to, sum);
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
        let mut sources = vec![self.source(a)?, self.source(b)?, self.source(c)?];
        for one in carried {
            sources.push(self.source(one)?);
        }
        let counted = sources.iter().filter(|one| **one != Operand::Imm(0)).count();
        let mut out = out.iter().filter(|one| one.register().is_some_and(|r| r.number.is_some()));
        let (first, second) = (out.next(), out.next());
        // The negation of a register adds 1, which may produce a carry.
        let negated = [a, b, c].iter().any(|one| {
            let number = |value: &syntax::Value<'_>| matches!(value.atom, Atom::Number(_));
            let plain = matches!(&one.kind, OperandKind::Value(value) if number(value));
            !plain && one.to_string().starts_with('-')
        });
        let most = if with { 3 } else { 2 };
        if second.is_some() || first.is_some() && (counted > most || negated) {
            return unsupported("a carry of more than a sum of two");
        }
        let sum = self.sum(&sources);
        self.low(to, sum)?;
        if let Some(out) = first {
            let carry = self.computed(AluOp::Extract(32), BIT, &[sum]);
            self.bit(out, carry)?;
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
        for out in out.iter().filter(|one| one.register().is_some_and(|r| r.number.is_some())) {
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
        let names: Vec<&str> = instruction.modifiers.iter().map(|word| word.text).collect();
        let (a, by, c) = (self.source(low)?, self.source(by)?, self.source(high)?);
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
        let Operand::Imm(0..=31) = by else { return unsupported(WHAT) };
        let whole = self.computed(AluOp::Concat(32), Type::U64, &[a, c]);
        let value = match names[..] {
            ["L", "U64", "HI"] => {
                let moved = self.computed(AluOp::Shl, Type::U64, &[whole, by]);
                self.computed(AluOp::Shr, Type::U64, &[moved, Operand::Imm(32)])
            }
            ["R", "U64"] => self.computed(AluOp::Shr, Type::U64, &[whole, by]),
            ["R", "S64"] => self.computed(AluOp::Shr, S64, &[whole, by]),
            _ => return unsupported(WHAT),
        };
        self.low(to, value)
    }

    /// `PRMT R0, R2, 0x5410, R3`: selects bytes of two registers.
    pub(super) fn permute(
        &mut self,
        to: &syntax::Operand<'_>,
        [a, b]: [&syntax::Operand<'_>; 2],
        which: &syntax::Operand<'_>,
    ) -> SupportResult<()> {
        let (a, b) = (self.source(a)?, self.source(b)?);
        let Operand::Imm(which) = self.source(which)? else {
            return unsupported("bytes that a register chooses");
        };
        let whole = self.computed(AluOp::Concat(32), Type::U64, &[a, b]);
        let mut result = Operand::Imm(0);
        for place in 0..4 {
            let chosen = which >> (4 * place) & 0xf;
            if chosen & 8 != 0 {
                return unsupported("the sign of a byte");
            }
            let byte = Type { bits: 8, ..Type::U32 };
            let from = u8::try_from(8 * chosen).expect("it is at most 56");
            let value = self.computed(AluOp::Extract(from), byte, &[whole]);
            let moved = self.computed(AluOp::Shl, Type::U32, &[value, Operand::Imm(8 * place)]);
            result = self.computed(AluOp::Or, Type::U32, &[result, moved]);
        }
        self.low(to, result)
    }

    /// `HFMA2 R5, -RZ, RZ, 0, 5.9604644775390625e-08`: loads a constant whose two halves are written as floats.
    pub(super) fn halves_of_floats(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        high: &syntax::Operand<'_>,
        low: &syntax::Operand<'_>,
    ) -> SupportResult<()> {
        let factors: Vec<String> =
            instruction.operands[1..3].iter().map(ToString::to_string).collect();
        let plain = instruction.modifiers.iter().all(|word| word.text == "MMA");
        if factors != ["-RZ", "RZ"] || !plain {
            return unsupported("arithmetic on floats");
        }
        let (Some(high), Some(low)) = (half(&high.to_string()), half(&low.to_string())) else {
            return unsupported("arithmetic on floats");
        };
        self.low(to, Operand::Imm(high << 16 | low))
    }
}

/// The bits of a number as a 16-bit float, if it is exactly representable.
fn half(text: &str) -> Option<u64> {
    let float = |bits: u16| Type { kind: TypeKind::Float, bits };
    let (half, double) = (float(16), float(64));
    let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite())?;
    let convert = |to: Type, from: Type, value: Value| {
        AluOp::Convert(to, Rounding::Nearest).apply(from, &[value])
    };
    let bits = convert(half, double, number.to_bits().into());
    let same = convert(double, half, bits) == Value::from(number.to_bits());
    u64::try_from(bits).ok().filter(|_| same)
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn halves_are_read_as_they_are_printed() {
        for (text, bits) in [
            ("0", Some(0)),
            ("-0", Some(0x8000)),
            ("5.9604644775390625e-08", Some(1)),
            ("4.17232513427734375e-07", Some(7)),
            ("1.875", Some(0x3f80)),
            ("-2", Some(0xc000)),
            ("0.1", None),
            ("+INF", None),
            ("-QNAN", None),
        ] {
            assert_eq!(half(text), bits, "{text}");
        }
    }
}
