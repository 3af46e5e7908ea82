//! Arithmetic of floats with 32 and 64 bits, and conversions.
//!
//! Results are those of IEEE 754. Subnormal numbers are not flushed, with `.FTZ` or without.

use model::isa::alu::{AluOp, Comparison};
use model::isa::float::{FloatOp, Rounding};
use model::isa::opaque::OpaqueOp;
use model::isa::{Operand, Type, TypeKind};
use model::value::Value as Bits;

use super::arithmetic::{WHAT, is_false, is_predicate};
use super::{ColumnReader, SupportResult, unsupported};
use sass::syntax::{self, Atom, OperandKind, Value};

pub(super) const F16: Type = Type { kind: TypeKind::Float, bits: 16 };
pub(super) const F32: Type = Type::F32;
const F64: Type = Type { kind: TypeKind::Float, bits: 64 };

/// The bits of 1.
pub(super) fn one(ty: Type) -> u64 {
    match ty.bits {
        16 => 0x3c00,
        32 => 0x3f80_0000,
        _ => 0x3ff0 << 48,
    }
}

/// The rounding that modifiers name; to nearest by default.
pub(super) fn rounding(instruction: &syntax::Instruction<'_>) -> Rounding {
    let directions = [
        ("RM", Rounding::Down),
        ("RP", Rounding::Up),
        ("RZ", Rounding::Zero),
        ("FLOOR", Rounding::Down),
        ("CEIL", Rounding::Up),
        ("TRUNC", Rounding::Zero),
    ];
    let found = directions.into_iter().find(|(name, _)| instruction.has(name));
    found.map_or(Rounding::Nearest, |(_, rounding)| rounding)
}

/// The comparison that modifiers name.
#[derive(Clone, Copy)]
pub(super) enum FloatRelation {
    Ordered(Comparison, bool),
    /// `false`: no operand is a NaN; `true`: at least one is.
    Number(bool),
    Constant(bool),
}

pub(super) fn comparison(instruction: &syntax::Instruction<'_>) -> SupportResult<FloatRelation> {
    use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
    let comparisons = [
        ("LT", Lt, false),
        ("EQ", Eq, false),
        ("LE", Le, false),
        ("GT", Gt, false),
        ("NE", Ne, false),
        ("GE", Ge, false),
        ("LTU", Lt, true),
        ("EQU", Eq, true),
        ("LEU", Le, true),
        ("GTU", Gt, true),
        ("NEU", Ne, true),
        ("GEU", Ge, true),
    ];
    for (name, comparison, unordered) in comparisons {
        if instruction.has(name) {
            return Ok(FloatRelation::Ordered(comparison, unordered));
        }
    }
    let others = [
        ("NUM", FloatRelation::Number(false)),
        ("NAN", FloatRelation::Number(true)),
        ("T", FloatRelation::Constant(true)),
        ("F", FloatRelation::Constant(false)),
    ];
    let found = others.into_iter().find(|(name, _)| instruction.has(name));
    found.map(|(_, comparison)| comparison).ok_or(WHAT)
}

/// The bits of a number in the type, rounded to nearest, if the text is a number.
fn literal(value: &Value<'_>, ty: Type) -> Option<u64> {
    let number = match value.atom {
        Atom::Number(number) => number.text.parse::<f64>().ok()?,
        Atom::Name("INF") => f64::INFINITY,
        Atom::Register(_) | Atom::Indexed(_) | Atom::Name(_) => return None,
    };
    let number = if value.signs == "-" { -number } else { number };
    let bits = Bits::from(number.to_bits());
    if ty.bits == 64 {
        return u64::try_from(bits).ok();
    }
    u64::try_from(AluOp::Convert(ty, Rounding::Nearest).apply(F64, &[bits])).ok()
}

/// The bits of a number that an operand is. Those of a `bf16` are computed as a float with 32 bits.
pub(super) fn number(operand: &syntax::Operand<'_>, ty: Type) -> Option<u64> {
    match &operand.kind {
        OperandKind::Value(value) => literal(value, ty),
        OperandKind::Label(_) | OperandKind::List(_) | OperandKind::Opaque(_) => None,
    }
}

impl ColumnReader<'_> {
    /// Refuses modifiers that are not listed.
    pub(super) fn only(
        instruction: &syntax::Instruction<'_>,
        known: &[&[&str]],
    ) -> SupportResult<()> {
        let listed = |word: &syntax::Name<'_>| known.iter().any(|list| list.contains(&word.text));
        if instruction.modifiers.iter().all(listed) { Ok(()) } else { unsupported(WHAT) }
    }

    /// A predicate that does not appear in the text.
    pub(super) fn truth(&mut self, op: AluOp, ty: Type, sources: &[Operand]) -> Operand {
        let to = self.hidden(1);
        self.alu(op, ty, to, sources);
        Operand::Reg(to)
    }

    pub(super) fn float(&mut self, op: FloatOp, ty: Type, sources: &[Operand]) -> Operand {
        self.computed(AluOp::Float(op), ty, sources)
    }

    /// The value of a source operand as a float with 32 or 64 bits.
    pub(super) fn float_source(
        &mut self,
        operand: &syntax::Operand<'_>,
        ty: Type,
    ) -> SupportResult<Operand> {
        let OperandKind::Value(value) = &operand.kind else { return unsupported(WHAT) };
        if let Some(bits) = literal(value, ty) {
            return Ok(Operand::Imm(bits));
        }
        let plain = |suffix: &&str| matches!(*suffix, "reuse" | "64");
        if !value.suffixes.iter().all(plain) || !value.outer.iter().all(plain) {
            return unsupported("a part of a register");
        }
        let found = match &value.atom {
            Atom::Register(register) if ty.bits == 64 => self.pair(*register, operand.at),
            Atom::Register(register) => self.read(*register, operand.at),
            Atom::Indexed(indexed) if indexed.name == "c" && ty.bits == 64 => {
                self.wide_constant(indexed)?
            }
            Atom::Indexed(indexed) if indexed.name == "c" => self.constant(indexed)?,
            Atom::Name("QNAN" | "SNAN") => return unsupported("a constant that is not a number"),
            Atom::Indexed(_) | Atom::Name(_) | Atom::Number(_) => return unsupported(WHAT),
        };
        self.signed_float(found, value, ty)
    }

    /// A value with the bars and the sign of its operand.
    pub(super) fn signed_float(
        &mut self,
        found: Operand,
        value: &Value<'_>,
        ty: Type,
    ) -> SupportResult<Operand> {
        let mut found = found;
        if value.absolute {
            found = self.float(FloatOp::Abs, ty, &[found]);
        }
        match value.signs {
            "" | "+" => Ok(found),
            "-" => Ok(self.float(FloatOp::Neg, ty, &[found])),
            _ => unsupported("a sign of this form"),
        }
    }

    /// Writes a float to its register, or to two.
    pub(super) fn float_result(
        &mut self,
        to: &syntax::Operand<'_>,
        ty: Type,
        value: Operand,
    ) -> SupportResult<()> {
        if ty.bits == 64 { self.halves(to, value) } else { self.low(to, value) }
    }

    /// A float from 0 to 1: a NaN becomes 0.
    pub(super) fn saturated(&mut self, ty: Type, value: Operand) -> Operand {
        let low = self.float(FloatOp::Max { nan: false }, ty, &[value, Operand::Imm(0)]);
        self.float(FloatOp::Min { nan: false }, ty, &[low, Operand::Imm(one(ty))])
    }

    /// A sum, a product, or both at once.
    pub(super) fn float_sum(
        &mut self,
        ty: Type,
        rounding: Rounding,
        work: FloatSum,
        sources: &[Operand],
    ) -> Operand {
        let nearest = rounding == Rounding::Nearest;
        let fused = if nearest { FloatOp::Fma } else { FloatOp::FmaRounded(rounding) };
        match (work, sources) {
            (FloatSum::Fma, _) => self.float(fused, ty, sources),
            (FloatSum::Add, _) if nearest => self.computed(AluOp::Add, ty, sources),
            (FloatSum::Mul, _) if nearest => self.computed(AluOp::Mul, ty, sources),
            (FloatSum::Add, [a, b, ..]) => self.float(fused, ty, &[*a, Operand::Imm(one(ty)), *b]),
            (FloatSum::Mul, [a, b, ..]) => {
                // The zero that is added has the sign of the product.
                let whole = Type { kind: TypeKind::Bits, bits: ty.bits };
                let sign = self.computed(AluOp::Xor, whole, &[*a, *b]);
                let mask = Operand::Imm(1 << (ty.bits - 1));
                let zero = self.computed(AluOp::And, whole, &[sign, mask]);
                self.float(fused, ty, &[*a, *b, zero])
            }
            (FloatSum::Add | FloatSum::Mul, _) => sources[0],
        }
    }

    /// `FADD R0, R1, -R2`, `FFMA.FTZ R0, R1, R2, R3`, `DMUL R0, R2, R4`.
    pub(super) fn float_arithmetic(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        work: FloatSum,
        ty: Type,
        to: &syntax::Operand<'_>,
        from: &[syntax::Operand<'_>],
    ) -> SupportResult<()> {
        Self::only(instruction, &[&["FTZ", "SAT", "RN", "RM", "RP", "RZ"]])?;
        if from.len() != work.arity() {
            return unsupported(WHAT);
        }
        let mut sources = Vec::new();
        for one in from {
            sources.push(self.float_source(one, ty)?);
        }
        let mut value = self.float_sum(ty, rounding(instruction), work, &sources);
        if instruction.has("SAT") {
            value = self.saturated(ty, value);
        }
        self.float_result(to, ty, value)
    }

    /// `FFMA2 R0, R2.F32x2.HI_LO, R4.F32x2.HI_LO, R6.F32x2.HI_LO`: two floats at once.
    pub(super) fn float_pairs(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        work: FloatSum,
        to: &syntax::Operand<'_>,
        from: &[syntax::Operand<'_>],
    ) -> SupportResult<()> {
        Self::only(instruction, &[&["FTZ", "RN", "RM", "RP", "RZ"]])?;
        if from.len() != work.arity() {
            return unsupported(WHAT);
        }
        let mut sources = Vec::new();
        for operand in from {
            let OperandKind::Value(value) = &operand.kind else { return unsupported(WHAT) };
            let plain = |suffix: &&str| matches!(*suffix, "reuse" | "F32x2" | "HI_LO");
            let (true, Atom::Register(first)) = (value.suffixes.iter().all(plain), &value.atom)
            else {
                return unsupported("a part of a register");
            };
            let mut halves = [self.read(*first, operand.at), self.read(first.ahead(1), operand.at)];
            for half in &mut halves {
                *half = self.signed_float(*half, value, F32)?;
            }
            sources.push(halves);
        }
        let mut results = Vec::new();
        for index in 0..2 {
            let one: Vec<Operand> = sources.iter().map(|halves| halves[index]).collect();
            results.push(self.float_sum(F32, rounding(instruction), work, &one));
        }
        let whole = self.computed(AluOp::Concat(32), Type::U64, &results);
        self.halves(to, whole)
    }

    /// Whether a comparison holds.
    pub(super) fn float_compared(
        &mut self,
        comparison: FloatRelation,
        ty: Type,
        sources: [Operand; 2],
    ) -> Operand {
        match comparison {
            FloatRelation::Ordered(comparison, unordered) => {
                let op = AluOp::Float(FloatOp::Compare { comparison, unordered });
                self.truth(op, ty, &sources)
            }
            FloatRelation::Number(nan) => {
                let found = self.truth(AluOp::Float(FloatOp::Unordered), ty, &sources);
                if nan {
                    found
                } else {
                    self.truth(AluOp::Xor, super::BIT, &[found, Operand::Imm(1)])
                }
            }
            FloatRelation::Constant(holds) => Operand::Imm(holds.into()),
        }
    }

    /// `FSETP.GEU.AND P0, PT, |R2|, 126, PT`, `DSETP.GT.OR P0, PT, R2, R4, P1`
    pub(super) fn float_compare(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        ty: Type,
    ) -> SupportResult<()> {
        let [to, other, a, b, with] = &instruction.operands[..] else { return unsupported(WHAT) };
        let comparison = comparison(instruction)?;
        let sources = [self.float_source(a, ty)?, self.float_source(b, ty)?];
        let holds = self.float_compared(comparison, ty, sources);
        self.settle(instruction, to, other, holds, with)
    }

    /// `FSET.BF.GT.AND R0, R1, R2, PT`: all ones, or 1 as a float.
    pub(super) fn float_set(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        [a, b, with]: [&syntax::Operand<'_>; 3],
    ) -> SupportResult<()> {
        let comparison = comparison(instruction)?;
        let sources = [self.float_source(a, F32)?, self.float_source(b, F32)?];
        let holds = self.float_compared(comparison, F32, sources);
        let with = self.source(with)?;
        let holds = self.truth(Self::join(instruction)?, super::BIT, &[holds, with]);
        let yes = if instruction.has("BF") { one(F32) } else { u32::MAX.into() };
        let sources = [Operand::Imm(yes), Operand::Imm(0), holds];
        let value = self.computed(AluOp::Selp, Type::U32, &sources);
        self.low(to, value)
    }

    /// `FMNMX R0, R1, R2, PT`: the lesser, and with `!PT` the greater. The first bit of `DMNMX` likewise.
    pub(super) fn float_least(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        ty: Type,
        to: &syntax::Operand<'_>,
        [a, b, least]: [&syntax::Operand<'_>; 3],
    ) -> SupportResult<()> {
        Self::only(instruction, &[&["FTZ", "NAN"]])?;
        let sources = [self.float_source(a, ty)?, self.float_source(b, ty)?];
        let value = self.least(instruction, ty, sources, least)?;
        self.float_result(to, ty, value)
    }

    /// The lesser of two floats, or the greater, as a predicate says.
    pub(super) fn least(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        ty: Type,
        sources: [Operand; 2],
        least: &syntax::Operand<'_>,
    ) -> SupportResult<Operand> {
        let nan = instruction.has("NAN");
        let (min, max) = (FloatOp::Min { nan }, FloatOp::Max { nan });
        if is_predicate(least) && least.register().is_some_and(|one| one.number.is_none()) {
            let op = if is_false(least) { max } else { min };
            return Ok(self.float(op, ty, &sources));
        }
        let which = self.source(least)?;
        let (min, max) = (self.float(min, ty, &sources), self.float(max, ty, &sources));
        let whole = Type { kind: TypeKind::Unsigned, bits: ty.bits };
        Ok(self.computed(AluOp::Selp, whole, &[min, max, which]))
    }

    /// `FMNMX3 R0, R1, R2, R3, !PT`: of three.
    pub(super) fn least_of_three(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        [a, b, c, least]: [&syntax::Operand<'_>; 4],
    ) -> SupportResult<()> {
        Self::only(instruction, &[&["FTZ", "NAN"]])?;
        let sources = [self.float_source(a, F32)?, self.float_source(b, F32)?];
        let first = self.least(instruction, F32, sources, least)?;
        let third = self.float_source(c, F32)?;
        let value = self.least(instruction, F32, [first, third], least)?;
        self.low(to, value)
    }

    /// `FSEL R0, R1, -INF, P0`
    pub(super) fn float_select(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        [a, b, which]: [&syntax::Operand<'_>; 3],
    ) -> SupportResult<()> {
        Self::only(instruction, &[&["FTZ"]])?;
        let (a, b) = (self.float_source(a, F32)?, self.float_source(b, F32)?);
        let which = self.source(which)?;
        let value = self.computed(AluOp::Selp, Type::U32, &[a, b, which]);
        self.low(to, value)
    }

    /// `FCHK P0, R1, R2`: whether a quotient needs the slow path, which is right for all operands. The limits of
    /// the fast path are not documented. It is taken if both operands are far from those of their type.
    pub(super) fn float_check(
        &mut self,
        to: &syntax::Operand<'_>,
        sources: [&syntax::Operand<'_>; 2],
    ) -> SupportResult<()> {
        // Exponents as they are encoded: 127 is that of 1.
        let (lowest, highest) = (127 - 40, 127 + 40);
        let mut slow = Operand::Imm(0);
        for operand in sources {
            let value = self.float_source(operand, F32)?;
            let magnitude = self.float(FloatOp::Abs, F32, &[value]);
            let exponent = self.computed(AluOp::Shr, Type::U32, &[magnitude, Operand::Imm(23)]);
            for (comparison, limit) in [(Comparison::Lt, lowest), (Comparison::Gt, highest)] {
                let sources = [exponent, Operand::Imm(limit)];
                let outside = self.truth(AluOp::Setp(comparison), Type::U32, &sources);
                slow = self.truth(AluOp::Or, super::BIT, &[slow, outside]);
            }
        }
        self.bit(to, slow)
    }

    /// `MUFU.EX2 R0, R1`
    pub(super) fn function(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        from: &syntax::Operand<'_>,
    ) -> SupportResult<()> {
        let names: Vec<&str> = instruction.modifiers.iter().map(|word| word.text).collect();
        let function = match names[..] {
            // The high half of a double.
            ["RCP64H"] => {
                let high = self.float_source(from, F32)?;
                let whole = self.computed(AluOp::Concat(32), Type::U64, &[Operand::Imm(0), high]);
                let value = self.float(FloatOp::Div, F64, &[Operand::Imm(one(F64)), whole]);
                let value = self.computed(AluOp::Extract(32), Type::U32, &[value]);
                return self.low(to, value);
            }
            ["RCP"] => {
                let from = self.float_source(from, F32)?;
                let value = self.float(FloatOp::Div, F32, &[Operand::Imm(one(F32)), from]);
                return self.low(to, value);
            }
            ["SQRT"] => {
                let from = self.float_source(from, F32)?;
                let value = self.float(FloatOp::Sqrt, F32, &[from]);
                return self.low(to, value);
            }
            ["RSQ"] => OpaqueOp::named("rsqrt.approx.f32"),
            ["EX2"] => OpaqueOp::named("ex2.approx.f32"),
            ["LG2"] => OpaqueOp::named("lg2.approx.f32"),
            ["TANH"] => OpaqueOp::named("tanh.approx.f32"),
            ["SIN"] => OpaqueOp::SIN_OF_TURN,
            ["COS"] => OpaqueOp::COS_OF_TURN,
            _ => return unsupported("a function of this form"),
        };
        let from = self.float_source(from, F32)?;
        let value = self.computed(AluOp::Opaque(function), F32, &[from]);
        self.low(to, value)
    }
}

/// What an instruction computes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FloatSum {
    Add,
    Mul,
    Fma,
}

impl FloatSum {
    pub(super) fn arity(self) -> usize {
        if self == FloatSum::Fma { 3 } else { 2 }
    }

    /// Of an opcode, without a `U` in front.
    pub(super) fn of(opcode: &str) -> Option<(FloatSum, Type)> {
        Some(match opcode {
            "FADD" | "FADD32I" => (FloatSum::Add, F32),
            "FMUL" | "FMUL32I" => (FloatSum::Mul, F32),
            "FFMA" | "FFMA32I" => (FloatSum::Fma, F32),
            "DADD" => (FloatSum::Add, F64),
            "DMUL" => (FloatSum::Mul, F64),
            "DFMA" => (FloatSum::Fma, F64),
            _ => return None,
        })
    }
}

pub(super) const DOUBLE: Type = F64;
