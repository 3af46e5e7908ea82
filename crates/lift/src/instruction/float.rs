//! Arithmetic of floats: `.f16`, `.bf16`, `.f32` and `.f64`, and pairs of the first two.
//!
//! Results are those of IEEE 754, rounded to nearest even; sums and products in other directions, too. In functions `.approx` and `.full` are computed as `.rn`, and
//! `.ftz` changes nothing; tests do not have them. A `.bf16` is computed as an `.f32` and rounded again.

use model::isa::alu::{AluOp, Comparison, Half};
use model::isa::float::{FloatOp, Rounding};
use model::isa::integer::IntegerOp;
use model::isa::{Instruction, Type, TypeKind};
use ptx::qualifier::Qualifier;

use super::InstructionReader;
use super::plan::{Operations, PlannedValue, bits};
use crate::cell::InstructionCell;

/// The opcodes with arithmetic of floats.
const OPCODES: &[&str] = &[
    "add", "sub", "mul", "fma", "mad", "neg", "abs", "min", "max", "div", "rcp", "sqrt",
    "copysign", "testp",
];

const ROUNDING: &str = "rounding other than to nearest, of what is no sum or product";

#[derive(Clone, Copy, PartialEq, Eq)]
enum FloatWork {
    Add,
    Sub,
    Mul,
    Fma,
    Neg,
    Abs,
    Min,
    Max,
    Div,
    Reciprocal,
    Sqrt,
    CopySign,
    Test(FloatTest),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FloatTest {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// A float instruction without its operands.
#[expect(clippy::struct_excessive_bools, reason = "each is a modifier of its own")]
struct FloatForm {
    work: FloatWork,
    ty: Type,
    rounding: Rounding,
    /// `.sat`: the result is from 0 to 1.
    saturates: bool,
    /// `.relu`: the result is not negative.
    rectifies: bool,
    /// `.NaN`: a result is a NaN if an operand is.
    nan: bool,
    /// `.xorsign.abs`: of the magnitudes, with the product of the signs.
    xorsign: bool,
}

/// A comparison of floats.
#[derive(Clone, Copy)]
pub(super) enum FloatComparison {
    Compare(Comparison, bool),
    /// `.num`, and with `true` `.nan`.
    Number(bool),
}

/// A float type, without the dot.
pub(super) fn float_named(name: &str) -> Option<Type> {
    match Qualifier::named(name) {
        Some(Qualifier::Type(ty)) => Some(ty).filter(|ty| {
            use TypeKind::{BFloat, BFloatPair, Float, FloatPair};
            matches!(ty.kind, Float | FloatPair | BFloat | BFloatPair)
        }),
        _ => None,
    }
}

/// Whether this is a pair of floats.
pub(super) fn is_pair(ty: Type) -> bool {
    matches!(ty.kind, TypeKind::FloatPair | TypeKind::BFloatPair)
}

/// The type of one float of a type.
fn one_of(ty: Type) -> Type {
    let kind = match ty.kind {
        TypeKind::FloatPair => TypeKind::Float,
        TypeKind::BFloatPair => TypeKind::BFloat,
        kind @ (TypeKind::Unsigned
        | TypeKind::Signed
        | TypeKind::Bits
        | TypeKind::Float
        | TypeKind::BFloat) => kind,
    };
    if is_pair(ty) { Type { kind, bits: 16 } } else { ty }
}

/// The type that a float is computed in.
fn computed(ty: Type) -> Type {
    if ty.kind == TypeKind::BFloat { Type::F32 } else { ty }
}

/// The bits of 1 and of infinity.
fn one(ty: Type) -> u64 {
    match ty.bits {
        16 => 0x3c00,
        32 => 0x3f80_0000,
        _ => 0x3ff0 << 48,
    }
}

fn infinity(ty: Type) -> u64 {
    match ty.bits {
        16 => 0x7c00,
        32 => 0x7f80_0000,
        _ => 0x7ff0 << 48,
    }
}

/// The least number that is not subnormal.
fn least_normal(ty: Type) -> u64 {
    match ty.bits {
        16 => 0x0400,
        32 => 0x0080_0000,
        _ => 1 << 52,
    }
}

impl Operations {
    /// The float as it is computed with: a `.bf16` as an `.f32`.
    pub(super) fn widened(&mut self, ty: Type, value: PlannedValue) -> PlannedValue {
        if ty.kind != TypeKind::BFloat {
            return value;
        }
        // The register of a `.bf16` may hold more bits.
        let low = self.wide(32, AluOp::Extract(0), bits(16), &[value]);
        self.step(AluOp::Shl, bits(32), &[low, PlannedValue::number(16)])
    }

    /// The reverse.
    pub(super) fn narrowed(&mut self, ty: Type, value: PlannedValue) -> PlannedValue {
        if ty.kind != TypeKind::BFloat {
            return value;
        }
        let op = AluOp::Float(FloatOp::ToBf16(Rounding::Nearest));
        self.step(op, Type::F32, &[value])
    }

    /// One half of a pair.
    pub(super) fn half(&mut self, value: PlannedValue, high: bool) -> PlannedValue {
        self.step(AluOp::Extract(if high { 16 } else { 0 }), bits(16), &[value])
    }

    pub(super) fn pair(&mut self, low: PlannedValue, high: PlannedValue) -> PlannedValue {
        self.step(AluOp::Concat(16), bits(32), &[low, high])
    }

    /// At least 0: a NaN too.
    pub(super) fn rectified(&mut self, ty: Type, value: PlannedValue) -> PlannedValue {
        let op = AluOp::Float(FloatOp::Max { nan: false });
        self.step(op, ty, &[value, PlannedValue::number(0)])
    }

    /// From 0 to 1.
    pub(super) fn saturated(&mut self, ty: Type, value: PlannedValue) -> PlannedValue {
        let low = self.rectified(ty, value);
        let op = AluOp::Float(FloatOp::Min { nan: false });
        self.step(op, ty, &[low, PlannedValue::number(one(ty))])
    }

    /// One float of the result.
    fn float(&mut self, form: &FloatForm, ty: Type, sources: &[PlannedValue]) -> PlannedValue {
        let (work, nan) = (form.work, form.nan);
        let of = computed(ty);
        let sign = 1 << (ty.bits - 1);
        let op = |op| AluOp::Float(op);
        if form.xorsign {
            let plain = FloatForm { xorsign: false, ..*form };
            let magnitudes: Vec<PlannedValue> =
                sources.iter().map(|of| self.step(op(FloatOp::Abs), ty, &[*of])).collect();
            let chosen = self.float(&plain, ty, &magnitudes);
            let signs = self.step(AluOp::Xor, bits(ty.bits), &sources[..2]);
            let signs = self.step(AluOp::And, bits(ty.bits), &[signs, PlannedValue::number(sign)]);
            return self.step(AluOp::Xor, bits(ty.bits), &[chosen, signs]);
        }
        // The sign is changed in the format of the operand.
        match work {
            FloatWork::Neg => return self.step(op(FloatOp::Neg), ty, sources),
            FloatWork::Abs => return self.step(op(FloatOp::Abs), ty, sources),
            FloatWork::CopySign => {
                let from =
                    self.step(AluOp::And, bits(ty.bits), &[sources[0], PlannedValue::number(sign)]);
                let of = self.step(op(FloatOp::Abs), ty, &[sources[1]]);
                return self.step(AluOp::Or, bits(ty.bits), &[from, of]);
            }
            FloatWork::Test(test) => return self.test(test, ty, sources[0]),
            FloatWork::Add
            | FloatWork::Sub
            | FloatWork::Mul
            | FloatWork::Fma
            | FloatWork::Min
            | FloatWork::Max
            | FloatWork::Div
            | FloatWork::Reciprocal
            | FloatWork::Sqrt => {}
        }
        let sources: Vec<PlannedValue> =
            sources.iter().map(|source| self.widened(ty, *source)).collect();
        let directed = form.rounding != Rounding::Nearest;
        let mut result = match work {
            FloatWork::Add | FloatWork::Sub | FloatWork::Mul | FloatWork::Fma if directed => {
                self.directed(form, of, &sources)
            }
            FloatWork::Add => self.step(AluOp::Add, of, &sources),
            FloatWork::Sub => self.step(AluOp::Sub, of, &sources),
            FloatWork::Mul => self.step(AluOp::Mul, of, &sources),
            FloatWork::Fma => self.step(op(FloatOp::Fma), of, &sources),
            FloatWork::Div => self.step(op(FloatOp::Div), of, &sources),
            FloatWork::Reciprocal => {
                self.step(op(FloatOp::Div), of, &[PlannedValue::number(one(of)), sources[0]])
            }
            FloatWork::Sqrt => self.step(op(FloatOp::Sqrt), of, &sources),
            FloatWork::Neg
            | FloatWork::Abs
            | FloatWork::CopySign
            | FloatWork::Test(_)
            | FloatWork::Min
            | FloatWork::Max => {
                let least = work == FloatWork::Min;
                let choose = if least { FloatOp::Min { nan } } else { FloatOp::Max { nan } };
                let rest = sources[1..].iter();
                rest.fold(sources[0], |all, next| self.step(op(choose), of, &[all, *next]))
            }
        };
        if form.saturates {
            result = self.saturated(of, result);
        }
        if form.rectifies {
            result = self.rectified(of, result);
        }
        self.narrowed(ty, result)
    }

    /// A sum or a product that is rounded in a direction, as the fused sum that is the same number.
    fn directed(&mut self, form: &FloatForm, of: Type, sources: &[PlannedValue]) -> PlannedValue {
        let sign = 1 << (of.bits - 1);
        let operands = match form.work {
            FloatWork::Add => [sources[0], PlannedValue::number(one(of)), sources[1]],
            FloatWork::Sub => [sources[1], PlannedValue::number(one(of) | sign), sources[0]],
            // A zero with the sign of the product leaves it as it is.
            FloatWork::Mul => {
                let signs = self.step(AluOp::Xor, bits(of.bits), sources);
                let sign = PlannedValue::number(sign);
                let zero = self.step(AluOp::And, bits(of.bits), &[signs, sign]);
                [sources[0], sources[1], zero]
            }
            FloatWork::Fma
            | FloatWork::Neg
            | FloatWork::Abs
            | FloatWork::Min
            | FloatWork::Max
            | FloatWork::Div
            | FloatWork::Reciprocal
            | FloatWork::Sqrt
            | FloatWork::CopySign
            | FloatWork::Test(_) => [sources[0], sources[1], sources[2]],
        };
        self.step(AluOp::Float(FloatOp::FmaRounded(form.rounding)), of, &operands)
    }

    /// `testp`. Both zeros count as normal.
    fn test(&mut self, test: FloatTest, ty: Type, value: PlannedValue) -> PlannedValue {
        let unsigned = Type { kind: TypeKind::Unsigned, bits: ty.bits };
        let magnitude = self.step(AluOp::Float(FloatOp::Abs), ty, &[value]);
        let compared = |plan: &mut Operations, comparison, value, with: u64| {
            plan.step(AluOp::Setp(comparison), unsigned, &[value, PlannedValue::number(with)])
        };
        match test {
            FloatTest::Finite => compared(self, Comparison::Lt, magnitude, infinity(ty)),
            FloatTest::Infinite => compared(self, Comparison::Eq, magnitude, infinity(ty)),
            FloatTest::Number => compared(self, Comparison::Le, magnitude, infinity(ty)),
            FloatTest::NotANumber => compared(self, Comparison::Gt, magnitude, infinity(ty)),
            // The numbers from the least normal one up to the largest, then from 1 up to the largest subnormal
            // one: the others are above them, modulo the width.
            FloatTest::Normal | FloatTest::Subnormal => {
                let normal = test == FloatTest::Normal;
                let (first, end) =
                    if normal { (least_normal(ty), infinity(ty)) } else { (1, least_normal(ty)) };
                let above =
                    self.step(AluOp::Sub, unsigned, &[magnitude, PlannedValue::number(first)]);
                let inside = compared(self, Comparison::Lt, above, end - first);
                if !normal {
                    return inside;
                }
                let zero = compared(self, Comparison::Eq, magnitude, 0);
                self.step(AluOp::Or, bits(1), &[inside, zero])
            }
        }
    }

    /// A comparison of floats of this type, which is not a pair.
    pub(super) fn compared(
        &mut self,
        comparison: FloatComparison,
        ty: Type,
        sources: [PlannedValue; 2],
    ) -> PlannedValue {
        let sources = sources.map(|source| self.widened(ty, source));
        let ty = computed(ty);
        match comparison {
            FloatComparison::Compare(comparison, unordered) => {
                let op = FloatOp::Compare { comparison, unordered };
                self.step(AluOp::Float(op), ty, &sources)
            }
            FloatComparison::Number(nan) => {
                let unordered = self.step(AluOp::Float(FloatOp::Unordered), ty, &sources);
                if nan {
                    return unordered;
                }
                self.step(AluOp::Xor, bits(1), &[unordered, PlannedValue::number(1)])
            }
        }
    }
}

/// The comparison of floats of this name.
pub(super) fn comparison_named(name: &str) -> Option<FloatComparison> {
    use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
    let (comparison, unordered) = match name {
        "eq" => (Eq, false),
        "ne" => (Ne, false),
        "lt" => (Lt, false),
        "le" => (Le, false),
        "gt" => (Gt, false),
        "ge" => (Ge, false),
        "equ" => (Eq, true),
        "neu" => (Ne, true),
        "ltu" => (Lt, true),
        "leu" => (Le, true),
        "gtu" => (Gt, true),
        "geu" => (Ge, true),
        "num" => return Some(FloatComparison::Number(false)),
        "nan" => return Some(FloatComparison::Number(true)),
        _ => return None,
    };
    Some(FloatComparison::Compare(comparison, unordered))
}

fn form(parts: &[&str]) -> Result<FloatForm, &'static str> {
    const OTHER: &str = "this floating-point arithmetic";
    let (opcode, [modifiers @ .., ty]) = (parts[0], &parts[1..]) else { return Err(OTHER) };
    let ty = float_named(ty).ok_or(OTHER)?;
    let test = |name| {
        Ok(FloatWork::Test(match name {
            "finite" => FloatTest::Finite,
            "infinite" => FloatTest::Infinite,
            "number" => FloatTest::Number,
            "notanumber" => FloatTest::NotANumber,
            "normal" => FloatTest::Normal,
            "subnormal" => FloatTest::Subnormal,
            _ => return Err(OTHER),
        }))
    };
    let (work, modifiers) = match (opcode, modifiers) {
        ("testp", [name]) if !is_pair(ty) && ty.kind == TypeKind::Float => (test(*name)?, &[][..]),
        ("add", all) => (FloatWork::Add, all),
        ("sub", all) => (FloatWork::Sub, all),
        ("mul", all) => (FloatWork::Mul, all),
        ("fma" | "mad", all) => (FloatWork::Fma, all),
        ("neg", all) => (FloatWork::Neg, all),
        ("abs", all) => (FloatWork::Abs, all),
        ("min", all) => (FloatWork::Min, all),
        ("max", all) => (FloatWork::Max, all),
        ("div", all) => (FloatWork::Div, all),
        ("rcp", all) => (FloatWork::Reciprocal, all),
        ("sqrt", all) => (FloatWork::Sqrt, all),
        ("copysign", []) => (FloatWork::CopySign, &[][..]),
        _ => return Err(OTHER),
    };
    let mut form = FloatForm {
        work,
        ty,
        rounding: Rounding::Nearest,
        saturates: false,
        rectifies: false,
        nan: false,
        xorsign: false,
    };
    let sum = matches!(work, FloatWork::Add | FloatWork::Sub | FloatWork::Mul | FloatWork::Fma)
        && ty.kind == TypeKind::Float
        && ty.bits > 16;
    let extreme = matches!(work, FloatWork::Min | FloatWork::Max);
    for modifier in modifiers {
        match *modifier {
            "rn" | "ftz" | "approx" | "full" => {}
            "sat" => form.saturates = true,
            "relu" => form.rectifies = true,
            "NaN" => form.nan = true,
            "xorsign" if extreme => form.xorsign = true,
            "abs" if form.xorsign => {}
            "rz" if sum => form.rounding = Rounding::Zero,
            "rm" if sum => form.rounding = Rounding::Down,
            "rp" if sum => form.rounding = Rounding::Up,
            "rz" | "rm" | "rp" => return Err(ROUNDING),
            _ => return Err(OTHER),
        }
    }
    Ok(form)
}

/// Whether a cell has arithmetic of floats.
pub(super) fn is_float(cell: &InstructionCell<'_>) -> bool {
    OPCODES.contains(&cell.opcode())
        && cell.parts.len() > 1
        && float_named(cell.part(cell.parts.len() - 1)).is_some()
}

impl<'a> InstructionReader<'_> {
    pub(super) fn float(&mut self, cell: &InstructionCell<'a>) -> Option<Vec<Instruction>> {
        let parts: Vec<&str> = cell.parts.iter().map(|part| part.text).collect();
        let form = match form(&parts) {
            Ok(form) => form,
            Err(why) => return Some(vec![Self::unsupported(cell, why)]),
        };
        let args = self.args(cell)?;
        let (sources, shown) = match form.work {
            FloatWork::Neg
            | FloatWork::Abs
            | FloatWork::Reciprocal
            | FloatWork::Sqrt
            | FloatWork::Test(_) => (1..=1, "r0, r1"),
            FloatWork::Add | FloatWork::Sub | FloatWork::Mul | FloatWork::Div => {
                (2..=2, "r0, r1, r2")
            }
            FloatWork::CopySign => (2..=2, "r0, r1, r2"),
            FloatWork::Min | FloatWork::Max => (2..=3, "r0, r1, r2"),
            FloatWork::Fma => (3..=3, "r0, r1, r2, r3"),
        };
        if args.is_empty() || !sources.contains(&(args.len() - 1)) {
            self.count(cell, &args, shown);
            return None;
        }
        let mut operands = Vec::with_capacity(3);
        for arg in &args[1..] {
            operands.push(PlannedValue::Given(self.sized(arg, form.ty)?));
        }
        let mut plan = Operations::default();
        let ty = one_of(form.ty);
        let at_once = match form.work {
            FloatWork::Add => Some(Half::Add),
            FloatWork::Sub => Some(Half::Sub),
            FloatWork::Mul => Some(Half::Mul),
            FloatWork::Fma
            | FloatWork::Neg
            | FloatWork::Abs
            | FloatWork::Min
            | FloatWork::Max
            | FloatWork::Div
            | FloatWork::Reciprocal
            | FloatWork::Sqrt
            | FloatWork::CopySign
            | FloatWork::Test(_) => None,
        };
        let exact = form.ty.kind == TypeKind::FloatPair && !form.saturates && !form.rectifies;
        let result = if let Some(half) = at_once.filter(|_| exact) {
            plan.step(AluOp::Halves(half), bits(32), &operands)
        } else if is_pair(form.ty) {
            let halves = [false, true].map(|high| {
                let sources: Vec<PlannedValue> =
                    operands.iter().map(|operand| plan.half(*operand, high)).collect();
                plan.float(&form, ty, &sources)
            });
            plan.pair(halves[0], halves[1])
        } else {
            plan.float(&form, ty, &operands)
        };
        let bits = if matches!(form.work, FloatWork::Test(_)) { 1 } else { form.ty.bits };
        self.carry_out(cell, &plan, &[(args[0].clone(), result, bits)])
    }

    /// `opaque.TYPE.NAME r0, r1, r2, r3`: an uninterpreted function of up to three operands. PTX has no such
    /// instruction: the readers of functions write what is not computed in this way.
    pub(super) fn opaque(&mut self, cell: &InstructionCell<'a>) -> Option<Vec<Instruction>> {
        let parts: Vec<&str> = cell.parts.iter().skip(1).map(|part| part.text).collect();
        let ty = parts.first().and_then(|name| super::alu::type_named(name));
        let (Some(ty), true) = (ty.filter(|ty| ty.bits <= 64), parts.len() > 1) else {
            self.report
                .error("opaque", cell.name_at(), "an uninterpreted function has a type and a name")
                .help(cell.with_parts(&["opaque", "f32", "ex2", "approx", "f32"]));
            return None;
        };
        let args = self.args(cell)?;
        if !(2..=4).contains(&args.len()) {
            self.count(cell, &args, "r0, r1");
            return None;
        }
        let mut operands = Vec::with_capacity(3);
        for arg in &args[1..] {
            operands.push(PlannedValue::Given(self.operand(arg)?));
        }
        let op = AluOp::Opaque(model::isa::opaque::OpaqueOp::named(&parts[1..].join(".")));
        let mut plan = Operations::default();
        let result = plan.step(op, ty, &operands);
        self.carry_out(cell, &plan, &[(args[0].clone(), result, ty.bits)])
    }
}

impl Operations {
    /// All ones, or 1 as a float of the type, if the predicate holds; otherwise 0.
    pub(super) fn mask(&mut self, ty: Type, predicate: PlannedValue) -> PlannedValue {
        let yes = match ty.kind {
            TypeKind::Float => one(ty),
            TypeKind::BFloat => 0x3f80,
            TypeKind::Unsigned
            | TypeKind::Signed
            | TypeKind::Bits
            | TypeKind::FloatPair
            | TypeKind::BFloatPair => u64::MAX >> (64 - u32::from(ty.bits)),
        };
        let sources = [PlannedValue::number(yes), PlannedValue::number(0), predicate];
        self.step(AluOp::Selp, bits(ty.bits), &sources)
    }

    /// Whether a value of this type is at least 0. A NaN is not.
    pub(super) fn not_negative(&mut self, ty: Type, value: PlannedValue) -> PlannedValue {
        if ty.kind == TypeKind::Float {
            let comparison = FloatComparison::Compare(Comparison::Ge, false);
            return self.compared(comparison, ty, [value, PlannedValue::number(0)]);
        }
        self.step(AluOp::Setp(Comparison::Ge), ty, &[value, PlannedValue::number(0)])
    }

    /// The bits of `value` from `at` on, as many as `count`, extended as the type says.
    pub(super) fn field(
        &mut self,
        ty: Type,
        value: PlannedValue,
        at: u64,
        count: PlannedValue,
    ) -> PlannedValue {
        let op = AluOp::Integer(IntegerOp::Bfe);
        self.step(op, ty, &[value, PlannedValue::number(at), count])
    }
}
