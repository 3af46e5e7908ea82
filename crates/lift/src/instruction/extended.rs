//! Integer arithmetic that is several operations: products of 24 bits, sums of products of bytes, masks, and
//! sums with a carry.

use model::isa::alu::AluOp;
use model::isa::integer::IntegerOp;
use model::isa::{Instruction, Type, TypeKind};

use super::InstructionReader;
use super::alu::type_named;
use super::plan::{Operations, PlannedValue, bits};
use crate::cell::{Arg, InstructionCell};
use text::cursor::short;

/// The opcodes that this module reads.
const OPCODES: &[&str] =
    &["mul24", "mad24", "dp4a", "dp2a", "szext", "bmsk", "addc", "subc", "madc"];

const OUTSIDE: &str = "this arithmetic";

/// The register of the carry, which no instruction names.
const CARRY: &str = "%carry";

/// Whether this module reads a cell.
pub(super) fn is_extended(cell: &InstructionCell<'_>) -> bool {
    OPCODES.contains(&cell.opcode())
        || matches!(cell.opcode(), "add" | "sub" | "mad")
            && cell.parts.iter().any(|part| matches!(part.text, "cc" | "sat"))
        || matches!(cell.opcode(), "add" | "min" | "max")
            && cell.parts.iter().any(|part| matches!(part.text, "relu" | "u16x2" | "s16x2"))
            && !super::float::is_float(cell)
}

/// A type of integers with a sign or without.
fn integer(name: &str) -> Option<Type> {
    type_named(name).filter(|ty| {
        matches!(ty.kind, TypeKind::Signed | TypeKind::Unsigned) && (32..=64).contains(&ty.bits)
    })
}

/// The same number of bits without a sign.
fn unsigned(ty: Type) -> Type {
    Type { kind: TypeKind::Unsigned, ..ty }
}

impl Operations {
    /// The low 24 bits of both multiplied, with 48 bits.
    fn product_of_24(&mut self, ty: Type, a: PlannedValue, b: PlannedValue) -> PlannedValue {
        let wide = Type { bits: 64, ..ty };
        let of = |plan: &mut Operations, value| {
            let op = AluOp::Integer(IntegerOp::Bfe);
            plan.wide(64, op, ty, &[value, PlannedValue::number(0), PlannedValue::number(24)])
        };
        let factors = [of(self, a), of(self, b)];
        self.step(AluOp::Mul, wide, &factors)
    }

    /// The sum of products of fields of `a` and `b`, and `c`.
    fn dot(
        &mut self,
        [of_a, of_b]: [Type; 2],
        [first, second, addend]: [PlannedValue; 3],
        fields: &[(u64, u64, u64, u64)],
    ) -> PlannedValue {
        let result = Type { kind: TypeKind::Bits, bits: 32 };
        let mut sum = addend;
        for &(at_a, bits_a, at_b, bits_b) in fields {
            let one = self.field(of_a, first, at_a, PlannedValue::number(bits_a));
            let other = self.field(of_b, second, at_b, PlannedValue::number(bits_b));
            let product = self.step(AluOp::Mul, result, &[one, other]);
            sum = self.step(AluOp::Add, result, &[sum, product]);
        }
        sum
    }

    /// `min` or `max`; with `relu`, at least 0.
    fn least_or_most(
        &mut self,
        opcode: &str,
        relu: bool,
        ty: Type,
        given: &[PlannedValue],
    ) -> PlannedValue {
        let most = AluOp::Integer(IntegerOp::Max);
        let op = if opcode == "max" { most } else { AluOp::Integer(IntegerOp::Min) };
        let chosen = self.step(op, ty, given);
        if relu { self.step(most, ty, &[chosen, PlannedValue::number(0)]) } else { chosen }
    }

    /// At most 32, or modulo 32.
    fn amount(&mut self, wraps: bool, value: PlannedValue) -> PlannedValue {
        if wraps {
            return self.step(AluOp::And, Type::U32, &[value, PlannedValue::number(31)]);
        }
        let op = AluOp::Integer(IntegerOp::Min);
        self.step(op, Type::U32, &[value, PlannedValue::number(32)])
    }
}

impl<'a> InstructionReader<'_> {
    pub(super) fn extended(&mut self, cell: &InstructionCell<'a>) -> Option<Vec<Instruction>> {
        let parts: Vec<&str> = cell.parts.iter().map(|part| part.text).collect();
        let carries = matches!(parts[0], "addc" | "subc" | "madc") || parts.contains(&"cc");
        if carries {
            return self.carried(cell, &parts);
        }
        let args = self.args(cell)?;
        let sources = match parts[0] {
            "mul24" | "szext" | "bmsk" | "add" | "sub" | "min" | "max" => 2,
            _ => 3,
        };
        if args.len() != sources + 1 {
            let form = if sources == 2 { "r0, r1, r2" } else { "r0, r1, r2, r3" };
            self.count(cell, &args, form);
            return None;
        }
        let mut given = Vec::with_capacity(3);
        for arg in &args[1..] {
            given.push(PlannedValue::Given(self.sized(arg, bits(32))?));
        }
        let mut plan = Operations::default();
        let result = match (&parts[..], &given[..]) {
            ([opcode @ ("mul24" | "mad24"), half @ ("lo" | "hi"), ty @ ("u32" | "s32")], given) => {
                let ty = integer(ty)?;
                let product = plan.product_of_24(ty, given[0], given[1]);
                let at = if *half == "hi" { 16 } else { 0 };
                let half = plan.step(AluOp::Extract(at), bits(32), &[product]);
                if *opcode == "mul24" {
                    half
                } else {
                    plan.step(AluOp::Add, bits(32), &[half, given[2]])
                }
            }
            (["dp4a", first, second], &[x, y, z])
                if integer(first).zip(integer(second)).is_some() =>
            {
                let types = [integer(first)?, integer(second)?];
                let fields: Vec<_> = (0..4).map(|n| (8 * n, 8, 8 * n, 8)).collect();
                plan.dot(types, [x, y, z], &fields)
            }
            (["dp2a", half @ ("lo" | "hi"), first, second], &[x, y, z])
                if integer(first).zip(integer(second)).is_some() =>
            {
                let types = [integer(first)?, integer(second)?];
                let place = if *half == "hi" { 16 } else { 0 };
                let fields: Vec<_> = (0..2).map(|n| (16 * n, 16, place + 8 * n, 8)).collect();
                plan.dot(types, [x, y, z], &fields)
            }
            (["szext", how @ ("clamp" | "wrap"), ty @ ("u32" | "s32")], &[x, count]) => {
                let count = plan.amount(*how == "wrap", count);
                plan.field(integer(ty)?, x, 0, count)
            }
            ([opcode @ ("min" | "max"), "relu", "s32"], given) => {
                let ty = Type { kind: TypeKind::Signed, bits: 32 };
                plan.least_or_most(opcode, true, ty, given)
            }
            ([opcode @ ("add" | "min" | "max"), relu @ .., ty @ ("u16x2" | "s16x2")], given)
                if matches!((relu, *ty), ([], _) | (["relu"], "s16x2")) =>
            {
                let kind = if *ty == "s16x2" { TypeKind::Signed } else { TypeKind::Unsigned };
                let one = Type { kind, bits: 16 };
                let [low, high] = [false, true].map(|high| {
                    let halves = [plan.half(given[0], high), plan.half(given[1], high)];
                    if *opcode == "add" {
                        plan.step(AluOp::Add, one, &halves)
                    } else {
                        plan.least_or_most(opcode, !relu.is_empty(), one, &halves)
                    }
                });
                plan.pair(low, high)
            }
            (["bmsk", how @ ("clamp" | "wrap"), "b32"], &[at, count]) => {
                let [at, count] = [at, count].map(|of| plan.amount(*how == "wrap", of));
                let control = plan.step(AluOp::Concat(8), bits(32), &[at, count]);
                let ones = PlannedValue::number(u64::from(u32::MAX));
                let op = AluOp::Integer(IntegerOp::Bfi);
                plan.step(op, bits(32), &[ones, PlannedValue::number(0), control])
            }
            ([opcode @ ("add" | "sub"), "sat", "s32"], &[x, y]) => {
                let op = if *opcode == "add" { AluOp::Add } else { AluOp::Sub };
                let from = Type { kind: TypeKind::Signed, bits: 32 };
                let wide = Type { bits: 64, ..from };
                let [x, y] = [x, y].map(|of| plan.wide(64, AluOp::Mov, from, &[of]));
                let all = plan.step(op, wide, &[x, y]);
                plan.nearest(from, wide, all)
            }
            _ => return Some(vec![Self::unsupported(cell, OUTSIDE)]),
        };
        self.carry_out(cell, &plan, &[(args[0].clone(), result, 32)])
    }

    /// `add.cc`, `addc`, `addc.cc`, and the same of `sub` and `mad`. The carry of a difference is its borrow.
    fn carried(&mut self, cell: &InstructionCell<'a>, parts: &[&str]) -> Option<Vec<Instruction>> {
        let opcode = parts[0].trim_end_matches('c');
        let takes = parts[0].ends_with('c');
        let (half, rest) = match parts[1..] {
            [half @ ("lo" | "hi"), ref rest @ ..] if opcode == "mad" => (Some(half), rest),
            ref rest if opcode != "mad" => (None, rest),
            _ => return Some(vec![Self::unsupported(cell, OUTSIDE)]),
        };
        let (leaves, ty) = match rest {
            ["cc", ty] => (true, integer(ty)),
            [ty] => (false, integer(ty)),
            _ => (false, None),
        };
        let Some(ty) = ty else { return Some(vec![Self::unsupported(cell, OUTSIDE)]) };
        let args = self.args(cell)?;
        let sources = if half.is_some() { 3 } else { 2 };
        if args.len() != sources + 1 {
            let form = if sources == 2 { "r0, r1, r2" } else { "r0, r1, r2, r3" };
            self.count(cell, &args, form);
            return None;
        }
        let mut given = Vec::with_capacity(3);
        for arg in &args[1..] {
            given.push(PlannedValue::Given(self.sized(arg, ty)?));
        }
        let carry = Arg::Name(CARRY, cell.name_at());
        if takes && self.draft.thread(self.thread).known_register(CARRY).is_none() {
            let name = short(cell.name());
            let why = format!("`{name}`: no instruction before it in the text gives a carry");
            return Some(vec![Instruction::Unsupported(why)]);
        }
        let mut plan = Operations::default();
        let mut first = given[0];
        let mut second = given[1];
        if let Some(half) = half {
            let high = AluOp::Integer(IntegerOp::MulHi);
            first = plan.step(if half == "hi" { high } else { AluOp::Mul }, ty, &[first, second]);
            second = given[2];
        }
        let (narrow, wide) = (unsigned(ty), bits(2 * ty.bits));
        let [a, b] = [first, second].map(|of| plan.wide(wide.bits, AluOp::Mov, narrow, &[of]));
        let op = if opcode == "sub" { AluOp::Sub } else { AluOp::Add };
        let mut sum = plan.step(op, wide, &[a, b]);
        if takes {
            let carry = PlannedValue::Given(self.operand(&carry)?);
            let carry = plan.wide(wide.bits, AluOp::Mov, bits(1), &[carry]);
            sum = plan.step(op, wide, &[sum, carry]);
        }
        let result = plan.step(AluOp::Extract(0), bits(ty.bits), &[sum]);
        let mut results = vec![(args[0].clone(), result, ty.bits)];
        if leaves {
            let at = u8::try_from(ty.bits).expect("64 at most");
            results.push((carry, plan.step(AluOp::Extract(at), bits(1), &[sum]), 1));
        }
        self.carry_out(cell, &plan, &results)
    }
}
