//! Conversions between floats and integers, and between floats.

use model::isa::alu::AluOp;
use model::isa::float::{FloatOp, Rounding};
use model::isa::{Operand, Type, TypeKind};

use super::arithmetic::WHAT;
use super::float::{DOUBLE, F16, F32, rounding};
use super::{ColumnReader, SupportResult, unsupported};
use sass::syntax::{self, Atom, OperandKind};

impl ColumnReader<'_> {
    /// `F2F.F64.F32 R0, R2`
    pub(super) fn float_to_float(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        from: &syntax::Operand<'_>,
    ) -> SupportResult<()> {
        Self::only(
            instruction,
            &[&["FTZ", "SAT", "F16", "F32", "F64", "BF16", "RN", "RM", "RP", "RZ"]],
        )?;
        let types: Vec<&str> = instruction.modifiers.iter().map(|word| word.text).collect();
        let types: Vec<&str> = types
            .into_iter()
            .filter(|word| matches!(*word, "F16" | "F32" | "F64" | "BF16"))
            .collect();
        let [result, source] = types[..] else { return unsupported("a conversion of this form") };
        let rounding = rounding(instruction);
        let float = |name: &str| match name {
            "F16" => F16,
            "F32" => F32,
            _ => DOUBLE,
        };
        if source == "BF16" {
            return unsupported("a conversion of this form");
        }
        let value = if source == "F16" {
            self.half_source(from)?
        } else {
            self.float_source(from, float(source))?
        };
        if result == "BF16" {
            if source != "F32" || instruction.has("SAT") {
                return unsupported("a conversion of this form");
            }
            let value = self.float(FloatOp::ToBf16(rounding), F32, &[value]);
            return self.low(to, value);
        }
        let ty = float(result);
        let mut value = self.converted(float(source), value, ty, rounding);
        if instruction.has("SAT") {
            value = self.saturated(ty, value);
        }
        self.float_result(to, ty, value)
    }

    /// `FRND.FLOOR R0, R1`: a whole number.
    pub(super) fn whole(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        from: &syntax::Operand<'_>,
    ) -> SupportResult<()> {
        Self::only(instruction, &[&["FTZ", "F64", "FLOOR", "CEIL", "TRUNC"]])?;
        let ty = if instruction.has("F64") { DOUBLE } else { F32 };
        let value = self.float_source(from, ty)?;
        let value = self.float(FloatOp::Whole(rounding(instruction)), ty, &[value]);
        self.float_result(to, ty, value)
    }

    /// A value in another type, of which at least one is a float.
    pub(super) fn converted(
        &mut self,
        from: Type,
        value: Operand,
        to: Type,
        rounding: Rounding,
    ) -> Operand {
        let result = self.hidden(to.bits.max(32));
        self.alu(AluOp::Convert(to, rounding), from, result, &[value]);
        Operand::Reg(result)
    }

    /// `F2I.FTZ.U32.TRUNC.NTZ R0, R1`
    pub(super) fn float_to_integer(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        from: &syntax::Operand<'_>,
    ) -> SupportResult<()> {
        Self::only(
            instruction,
            &[&["FTZ", "F16", "F32", "F64", "TRUNC", "FLOOR", "CEIL", "NTZ"], INTEGERS],
        )?;
        let source = match () {
            () if instruction.has("F16") => F16,
            () if instruction.has("F64") => DOUBLE,
            () => F32,
        };
        let value =
            if source == F16 { self.half_source(from)? } else { self.float_source(from, source)? };
        let result = integer(instruction);
        let value = self.converted(source, value, result, rounding(instruction));
        self.float_result(to, result, value)
    }

    /// `I2F.F64.U32 R0, R2`, `I2FP.F32.S32 R0, R1`
    pub(super) fn integer_to_float(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        from: &syntax::Operand<'_>,
    ) -> SupportResult<()> {
        Self::only(instruction, &[&["F16", "F32", "F64", "RN", "RM", "RP", "RZ"], INTEGERS])?;
        let source = integer(instruction);
        let result = match () {
            () if instruction.has("F16") => F16,
            () if instruction.has("F64") => DOUBLE,
            () => F32,
        };
        let value =
            if source.bits == 64 { self.wide(from)? } else { self.part(from, source.bits)? };
        let value = self.converted(source, value, result, rounding(instruction));
        self.float_result(to, result, value)
    }

    /// A byte or a half of a register, in the low bits: `R2.B1`, `R2.H1`.
    pub(super) fn part(
        &mut self,
        operand: &syntax::Operand<'_>,
        bits: u16,
    ) -> SupportResult<Operand> {
        let OperandKind::Value(value) = &operand.kind else { return unsupported(WHAT) };
        let parts =
            [("B0", 0), ("B1", 8), ("B2", 16), ("B3", 24), ("H0", 0), ("H1", 16), ("H1_H1", 16)];
        let named = |suffix: &&str| parts.iter().find(|(name, _)| name == suffix);
        let Some(&(_, from)) = value.suffixes.iter().find_map(named) else {
            return self.source(operand);
        };
        let rest = |suffix: &&str| *suffix == "reuse" || named(suffix).is_some();
        let plain = value.suffixes.iter().all(rest) && !value.absolute && value.signs.is_empty();
        let (true, Atom::Register(register)) = (plain && bits < 32, &value.atom) else {
            return unsupported("a part of a register");
        };
        let whole = self.read(*register, operand.at);
        Ok(self.computed(AluOp::Extract(from), Type::U32, &[whole]))
    }

    /// `F2FP.F16.F32.PACK_AB R0, R1, R2`: two floats as halves, the first above the second.
    pub(super) fn float_pack(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        [high, low]: [&syntax::Operand<'_>; 2],
    ) -> SupportResult<()> {
        Self::only(instruction, &[&["F16", "BF16", "F32", "PACK_AB", "RELU", "RN", "RZ"]])?;
        if !instruction.has("PACK_AB") {
            return unsupported("a conversion of this form");
        }
        let rounding = rounding(instruction);
        let mut halves = Vec::new();
        for operand in [low, high] {
            let mut value = self.float_source(operand, F32)?;
            if instruction.has("RELU") {
                value = self.float(FloatOp::Max { nan: false }, F32, &[value, Operand::Imm(0)]);
            }
            halves.push(if instruction.has("BF16") {
                self.float(FloatOp::ToBf16(rounding), F32, &[value])
            } else {
                self.converted(F32, value, F16, rounding)
            });
        }
        let value = self.computed(AluOp::Concat(16), Type::U32, &halves);
        self.low(to, value)
    }
}

const INTEGERS: &[&str] = &["U8", "S8", "U16", "S16", "U32", "S32", "U64", "S64"];

/// The integer type that modifiers name.
fn integer(instruction: &syntax::Instruction<'_>) -> Type {
    let named = INTEGERS.iter().find(|name| instruction.has(name)).unwrap_or(&"S32");
    let kind = if named.starts_with('U') { TypeKind::Unsigned } else { TypeKind::Signed };
    Type { kind, bits: named[1..].parse().unwrap_or(32) }
}
