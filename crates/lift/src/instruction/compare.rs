//! Comparisons beyond those of two integers into one predicate: of floats, into two predicates, combined with
//! a third predicate, or into a register (`set`); and `slct`.

use model::isa::alu::AluOp;
use model::isa::{Instruction, Operand, Type, TypeKind};

use super::InstructionReader;
use super::alu::{AluForm, PREDICATE, type_named};
use super::float;
use super::plan::{Operations, PlannedValue};
use crate::cell::{Arg, InstructionCell};
use text::report::ByteSpan;

const OUTSIDE: &str = "this comparison";

/// The operation that combines a comparison with a predicate.
fn combination(name: &str) -> Option<AluOp> {
    match name {
        "and" => Some(AluOp::And),
        "or" => Some(AluOp::Or),
        "xor" => Some(AluOp::Xor),
        _ => None,
    }
}

impl<'a> InstructionReader<'_> {
    /// Whether a `setp` compares floats, writes two predicates, or combines its comparison with a third one.
    pub(super) fn combines(cell: &InstructionCell<'a>) -> bool {
        combination(cell.part(2)).is_some()
            || cell.writes_two()
            || float::float_named(cell.part(cell.parts.len() - 1)).is_some()
    }

    /// `setp.ne.and.u32 p|q, a, b, c`: `p` is the comparison combined with `c`, and `q` its
    /// negation combined with `c`. Of pairs of floats, `p` is for the low halves and `q` for the high ones.
    ///
    /// `set.ne.and.u32.f32 r, a, b, c` writes all ones, or 1 as a float.
    pub(super) fn compare(&mut self, cell: &InstructionCell<'a>) -> Option<Vec<Instruction>> {
        let sets = cell.opcode() == "set";
        let mut parts: Vec<&str> = cell.parts.iter().skip(2).map(|part| part.text).collect();
        let combined = parts.first().and_then(|name| combination(name));
        if combined.is_some() {
            parts.remove(0);
        }
        if parts.first() == Some(&"ftz") {
            parts.remove(0);
        }
        let mut to = None;
        if sets {
            let named = |name: &&str| float::float_named(name).or_else(|| type_named(name));
            to = parts.first().and_then(named).filter(|to| !float::is_pair(*to));
            if to.is_none() || parts.len() != 2 {
                return Some(vec![Self::unsupported(cell, OUTSIDE)]);
            }
            parts.remove(0);
        }
        let float = match parts[..] {
            [name] => float::float_named(name),
            _ => None,
        };
        let pair = float.is_some_and(float::is_pair);
        let ty = match float {
            Some(ty) => ty,
            None => match self.alu_form(cell, &parts)? {
                AluForm::Typed(ty) => ty,
                AluForm::Outside(what) => return Some(vec![Self::unsupported(cell, what)]),
            },
        };
        if sets && pair {
            return Some(vec![Self::unsupported(cell, OUTSIDE)]);
        }
        let floats = float::comparison_named(cell.part(1)).filter(|_| float.is_some());
        let integers = if floats.is_none() { Some(self.comparison(cell)?) } else { None };
        let (destinations, args) = self.joined_destinations(cell, "a predicate")?;
        let (a, b, with) = match (&args[..], combined) {
            ([a, b], None) => (a, b, None),
            ([a, b, c], Some(op)) => (a, b, Some((op, self.predicate(c)?))),
            _ => {
                let to = if sets { "r2" } else { "p|q" };
                let third = if combined.is_some() { ", s" } else { "" };
                self.count(cell, &args, &format!("{to}, r0, r1{third}"));
                return None;
            }
        };
        let sources = [self.sized(a, ty)?, self.sized(b, ty)?].map(PlannedValue::Given);
        let mut plan = Operations::default();
        let not = |plan: &mut Operations, value| {
            plan.step(AluOp::Xor, PREDICATE, &[value, PlannedValue::number(1)])
        };
        let compared = |plan: &mut Operations, high: bool| match (floats, integers) {
            (Some(comparison), _) if pair => {
                let kind =
                    if ty.kind == TypeKind::FloatPair { TypeKind::Float } else { TypeKind::BFloat };
                let halves = sources.map(|source| plan.half(source, high));
                plan.compared(comparison, Type { kind, bits: 16 }, halves)
            }
            (Some(comparison), _) => plan.compared(comparison, ty, sources),
            (None, Some(comparison)) => plan.step(AluOp::Setp(comparison), ty, &sources),
            (None, None) => unreachable!("one of them was read"),
        };
        let holds = compared(&mut plan, false);
        let two = destinations.len() == 2;
        let mut results = vec![holds];
        if two {
            results.push(if pair { compared(&mut plan, true) } else { not(&mut plan, holds) });
        }
        if let Some((op, (third, negated))) = with {
            let mut third = PlannedValue::Given(Operand::Reg(third));
            if negated {
                third = not(&mut plan, third);
            }
            for result in &mut results {
                *result = plan.step(op, PREDICATE, &[*result, third]);
            }
        }
        let mut bits = 1;
        if let Some(to) = to {
            results[0] = plan.mask(to, results[0]);
            bits = to.bits;
        }
        let names = destinations.into_iter().map(|(name, at)| Arg::Name(name, at));
        let results: Vec<_> =
            names.zip(results).map(|(name, result)| (name, result, bits)).collect();
        self.carry_out(cell, &plan, &results)
    }

    /// `slct.b32.s32 r0, r1, r2, r3`: the first source if the third is not less than 0.
    pub(super) fn select(&mut self, cell: &InstructionCell<'a>) -> Option<Vec<Instruction>> {
        let parts: Vec<&str> = cell.parts.iter().skip(1).map(|part| part.text).collect();
        let (of, by) = match parts[..] {
            [of, by @ ("s32" | "f32")] | [of, "ftz", by @ "f32"] => {
                (type_named(of), type_named(by))
            }
            _ => (None, None),
        };
        let (Some(of), Some(by)) = (of.filter(|ty| (16..=64).contains(&ty.bits)), by) else {
            return Some(vec![Self::unsupported(cell, OUTSIDE)]);
        };
        let args = self.args(cell)?;
        let [destination, a, b, c] = &args[..] else {
            self.count(cell, &args, "r0, r1, r2, r3");
            return None;
        };
        let [a, b] = [self.sized(a, of)?, self.sized(b, of)?].map(PlannedValue::Given);
        let c = PlannedValue::Given(self.sized(c, by)?);
        let mut plan = Operations::default();
        let holds = plan.not_negative(by, c);
        let result = plan.step(AluOp::Selp, of, &[a, b, holds]);
        self.carry_out(cell, &plan, &[(destination.clone(), result, of.bits)])
    }

    /// Reads `p|q` or `p`, of which each is `what`, and the operands that follow.
    #[expect(clippy::type_complexity, reason = "names with their places, and operands")]
    pub(super) fn joined_destinations(
        &mut self,
        cell: &InstructionCell<'a>,
        what: &str,
    ) -> Option<(Vec<(&'a str, ByteSpan)>, Vec<Arg<'a>>)> {
        let mut args = cell.args(None, self.report)?.into_iter();
        let names = match args.next() {
            Some(Arg::Name(name, at)) => vec![(name, at)],
            Some(Arg::Joined(first, second)) => vec![first, second],
            other => {
                let at = other.map_or(cell.operands_at(), |other| other.at());
                self.report.error("syntax", at, format!("expected {what}"));
                return None;
            }
        };
        Some((names, args.collect()))
    }
}
