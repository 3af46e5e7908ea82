//! Arithmetic of floats with 16 bits, two of them in a register.
//!
//! A `bf16` is computed as a float with 32 bits and rounded again, as the PTX reader does.

use model::isa::alu::AluOp;
use model::isa::float::{FloatOp, Rounding};
use model::isa::{Operand, Type, TypeKind};
use model::value::Value;

use super::arithmetic::WHAT;
use super::float::{self, F16, F32, FloatSum};
use super::{ColumnReader, SupportResult, unsupported};
use sass::syntax::{self, Atom, OperandKind};

/// The two values of an operand, the lower first.
type Halves = [Operand; 2];

/// The type in which the halves are computed.
fn computed(instruction: &syntax::Instruction<'_>) -> Type {
    if is_brain(instruction) { F32 } else { F16 }
}

fn is_brain(instruction: &syntax::Instruction<'_>) -> bool {
    instruction.has("BF16_V2") || instruction.has("BF16")
}

const KNOWN: &[&str] = &["MMA", "BF16_V2", "F32", "FTZ", "SAT", "RELU", "NAN"];

impl ColumnReader<'_> {
    /// One half of a register: `R2.H1_H1`, and the lower one by default.
    pub(super) fn half_source(&mut self, operand: &syntax::Operand<'_>) -> SupportResult<Operand> {
        let [low, _] = self.register_halves(operand, false)?;
        Ok(low)
    }

    fn register_halves(
        &mut self,
        operand: &syntax::Operand<'_>,
        brain: bool,
    ) -> SupportResult<Halves> {
        let OperandKind::Value(value) = &operand.kind else { return unsupported(WHAT) };
        let mut places = [0, 16];
        for suffix in value.suffixes.iter().chain(&value.outer) {
            match *suffix {
                "reuse" | "H1_H0" => {}
                "H0_H0" | "H0" => places = [0, 0],
                "H1_H1" | "H1" => places = [16, 16],
                _ => return unsupported("a part of a register"),
            }
        }
        let whole = match &value.atom {
            Atom::Register(register) => self.read(*register, operand.at),
            Atom::Indexed(indexed) if indexed.name == "c" => self.constant(indexed)?,
            Atom::Indexed(_) | Atom::Name(_) | Atom::Number(_) => return unsupported(WHAT),
        };
        let mut halves = [whole; 2];
        for (half, place) in halves.iter_mut().zip(places) {
            let low = Type { bits: 16, ..Type::U32 };
            *half = self.computed(AluOp::Extract(place), low, &[whole]);
            let mut ty = F16;
            if brain {
                *half = self.computed(AluOp::Shl, Type::U32, &[*half, Operand::Imm(16)]);
                ty = F32;
            }
            *half = self.signed_float(*half, value, ty)?;
        }
        Ok(halves)
    }

    /// The sources of an instruction. Two numbers are one source: the upper half, then the lower one.
    fn half_sources(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        from: &[syntax::Operand<'_>],
    ) -> SupportResult<Vec<Halves>> {
        let ty = computed(instruction);
        let mut all = Vec::new();
        let mut rest = from;
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            if let Some(high) = float::number(first, ty) {
                let Some((second, after)) = rest.split_first() else { return unsupported(WHAT) };
                let low = float::number(second, ty).ok_or(WHAT)?;
                rest = after;
                all.push([Operand::Imm(low), Operand::Imm(high)]);
            } else {
                all.push(self.register_halves(first, is_brain(instruction))?);
            }
        }
        Ok(all)
    }

    /// Half of a result as 16 bits.
    fn narrowed(&mut self, instruction: &syntax::Instruction<'_>, value: Operand) -> Operand {
        let ty = computed(instruction);
        let mut value = value;
        if instruction.has("SAT") {
            value = self.saturated(ty, value);
        }
        if instruction.has("RELU") {
            value = self.float(FloatOp::Max { nan: false }, ty, &[value, Operand::Imm(0)]);
        }
        if is_brain(instruction) {
            value = self.float(FloatOp::ToBf16(Rounding::Nearest), F32, &[value]);
        }
        value
    }

    fn joined_halves(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        results: Halves,
    ) -> SupportResult<()> {
        let results = results.map(|one| self.narrowed(instruction, one));
        let value = self.computed(AluOp::Concat(16), Type::U32, &results);
        self.low(to, value)
    }

    /// `HADD2 R0, R1, R2.H0_H0`, `HFMA2.BF16_V2 R0, R1, 1, 1, R2`
    pub(super) fn half_arithmetic(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        work: FloatSum,
        to: &syntax::Operand<'_>,
        from: &[syntax::Operand<'_>],
    ) -> SupportResult<()> {
        Self::only(instruction, &[KNOWN])?;
        let sources = self.half_sources(instruction, from)?;
        if sources.len() != work.arity() || instruction.has("NAN") {
            return unsupported(WHAT);
        }
        if instruction.has("F32") {
            // The result is a float with 32 bits, of the lower halves.
            if is_brain(instruction) || work != FloatSum::Add {
                return unsupported(WHAT);
            }
            let wide: Vec<Operand> = sources
                .iter()
                .map(|halves| self.converted(F16, halves[0], F32, Rounding::Nearest))
                .collect();
            let mut value = self.float_sum(F32, Rounding::Nearest, work, &wide);
            if instruction.has("SAT") {
                value = self.saturated(F32, value);
            }
            return self.low(to, value);
        }
        let ty = computed(instruction);
        let mut results = [Operand::Imm(0); 2];
        for (index, result) in results.iter_mut().enumerate() {
            let one: Vec<Operand> = sources.iter().map(|halves| halves[index]).collect();
            *result = self.float_sum(ty, Rounding::Nearest, work, &one);
        }
        self.joined_halves(instruction, to, results)
    }

    /// `HMNMX2 R0, R1, R2, PT`: of each half the lesser, and with `!PT` the greater.
    pub(super) fn half_least(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        from: &[syntax::Operand<'_>],
    ) -> SupportResult<()> {
        Self::only(instruction, &[KNOWN])?;
        let Some((least, from)) = from.split_last() else { return unsupported(WHAT) };
        let sources = self.half_sources(instruction, from)?;
        let [a, b] = sources[..] else { return unsupported(WHAT) };
        let ty = computed(instruction);
        let mut results = [Operand::Imm(0); 2];
        for (index, result) in results.iter_mut().enumerate() {
            *result = self.least(instruction, ty, [a[index], b[index]], least)?;
        }
        self.joined_halves(instruction, to, results)
    }

    /// `HSETP2.GT.AND P0, P1, R0, R1, PT`: a predicate for each half, the lower first.
    pub(super) fn half_compare(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        rest: &[syntax::Operand<'_>],
    ) -> SupportResult<()> {
        let [other, from @ .., with] = rest else { return unsupported(WHAT) };
        let sources = self.half_sources(instruction, from)?;
        let ([a, b], false) = (&sources[..], instruction.has("H0_AND")) else {
            return unsupported(WHAT);
        };
        let comparison = float::comparison(instruction)?;
        let join = Self::join(instruction)?;
        let with = self.source(with)?;
        let mut results = [Operand::Imm(0); 2];
        for (index, result) in results.iter_mut().enumerate() {
            let ty = computed(instruction);
            let holds = self.float_compared(comparison, ty, [a[index], b[index]]);
            *result = self.truth(join, super::BIT, &[holds, with]);
        }
        self.bit(to, results[0])?;
        self.bit(other, results[1])
    }

    /// `HFMA2 R5, -RZ, RZ, 0, 5.9604644775390625e-08`: loads a constant whose two halves are written as floats.
    pub(super) fn halves_of_floats(
        &mut self,
        to: &syntax::Operand<'_>,
        high: &syntax::Operand<'_>,
        low: &syntax::Operand<'_>,
    ) -> SupportResult<()> {
        let (Some(high), Some(low)) = (half(&high.to_string()), half(&low.to_string())) else {
            return unsupported("a number that is not a float of 16 bits");
        };
        self.low(to, Operand::Imm(high << 16 | low))
    }

    /// Whether an `HFMA2` only loads a constant.
    pub(super) fn loads_halves(instruction: &syntax::Instruction<'_>) -> bool {
        let [_, a, b, high, _] = &instruction.operands[..] else { return false };
        let factors = [a.to_string(), b.to_string()];
        factors == ["-RZ", "RZ"]
            && high.register().is_none()
            && instruction.modifiers.iter().all(|word| word.text == "MMA")
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
