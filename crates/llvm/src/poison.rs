//! What LLVM does not define: results that break the promise of a flag, such as `nsw`, and shifts by too much.
//!
//! A register whose value may be poison has a predicate that says whether it is. What is computed from poison is poison;
//! an access, a branch, a phi, a call or a result that uses it makes the execution undefined. Only the translation of a
//! function that runs alone has these predicates: they are not conditions of the program.

use std::collections::BTreeSet;

use super::bits::{ScalarPart, WIDEST};
use super::cell::CellValue;
use super::function::{LoweringResult, Translator};
use super::operand::Value;
use super::step::{InstructionKind, Typed, TypedInstruction};
use super::ty::ScalarType;

/// The predicates of the parts of a value.
type PartPredicates = Vec<Option<CellValue>>;

/// What an instruction does with an operand that is poison.
enum PoisonRole {
    /// The execution is undefined.
    Uses,
    /// Its result is poison.
    Computes,
    /// Moves keep the predicate of what they move.
    Moves,
}

/// A scalar operation: its opcode, its flags, and the type of its operands.
#[derive(Clone, Copy)]
struct FlaggedOperation<'f> {
    op: &'f str,
    flags: &'f [&'f str],
    scalar: ScalarType,
}

impl<'a, 'm> Translator<'a, 'm> {
    /// Translates an instruction. If this translation is to show what is undefined, so does its result.
    pub(super) fn step(
        &mut self,
        instruction: &'m TypedInstruction<'a>,
        first: bool,
    ) -> LoweringResult<()> {
        if !self.checked {
            return self.defined_step(instruction, first);
        }
        let step = &instruction.step;
        if let InstructionKind::Call { how, .. } = step
            && how.is_fast
        {
            let always = self.always();
            self.undefined_if(&always);
        }
        match self.role(step) {
            PoisonRole::Moves => self.defined_step(instruction, first),
            PoisonRole::Uses => {
                self.uses_poison(&step.operands());
                self.defined_step(instruction, first)
            }
            PoisonRole::Computes => {
                let operands: Vec<PartPredicates> =
                    step.operands().into_iter().map(|value| self.poison_of(value)).collect();
                self.defined_step(instruction, first)?;
                let held = instruction.result.and_then(|name| self.values.get(name));
                let to = held.map_or(Vec::new(), |held| held.parts.clone());
                let own = self.broken(step, &to)?;
                for (index, (_, cell)) in to.iter().enumerate() {
                    let mut all: Vec<CellValue> =
                        own.get(index).cloned().flatten().into_iter().collect();
                    if let (InstructionKind::Select { condition, .. }, [of, yes, no]) =
                        (step, &operands[..])
                    {
                        all.extend(of.get(index).or(of.first()).cloned().flatten());
                        let of_arms = [yes, no].map(|arm| arm.get(index).cloned().flatten());
                        let conditions = self.cells(&condition.0, &condition.1)?;
                        let chosen = conditions.get(index).or(conditions.first());
                        if let Some(chosen) = chosen.cloned() {
                            all.extend(self.of_chosen(&chosen, of_arms));
                        }
                    } else {
                        for of in &operands {
                            if of.len() == to.len() {
                                all.extend(of[index].clone());
                            } else {
                                all.extend(of.iter().flatten().cloned());
                            }
                        }
                    }
                    self.poison.remove(cell);
                    if let Some(any) = self.any_of(all) {
                        self.poison.insert(cell.clone(), any);
                    }
                }
                Ok(())
            }
        }
    }

    fn role(&self, step: &InstructionKind<'a>) -> PoisonRole {
        match step {
            InstructionKind::Binary { .. }
            | InstructionKind::Compare { .. }
            | InstructionKind::Select { .. }
            | InstructionKind::Cast { .. }
            | InstructionKind::Address { .. }
            | InstructionKind::Negate(_) => PoisonRole::Computes,
            InstructionKind::Call { callee, .. } if self.bodies.contains_key(callee) => {
                PoisonRole::Moves
            }
            InstructionKind::Part(_) | InstructionKind::Phi { .. } => PoisonRole::Moves,
            InstructionKind::Memory(..)
            | InstructionKind::Call { .. }
            | InstructionKind::Assembly(_)
            | InstructionKind::Freeze(_)
            | InstructionKind::Alloca { .. }
            | InstructionKind::End(_)
            | InstructionKind::Unsupported(_) => PoisonRole::Uses,
        }
    }

    /// Makes the execution undefined if one of these operands is poison.
    pub(super) fn uses_poison(&mut self, operands: &[&Value<'a>]) {
        let all: BTreeSet<CellValue> =
            operands.iter().flat_map(|value| self.poison_of(value)).flatten().collect();
        if let Some(any) = self.any_of(all) {
            self.undefined_if(&any);
        }
    }

    fn poison_of(&self, value: &Value<'a>) -> PartPredicates {
        let Value::Local(name) = value else { return Vec::new() };
        let held = self.values.get(name).map_or(&[][..], |held| &held.parts);
        held.iter().map(|(_, cell)| self.poison.get(cell).cloned()).collect()
    }

    fn any_of(&mut self, all: impl IntoIterator<Item = CellValue>) -> Option<CellValue> {
        let mut all = all.into_iter();
        let mut any = all.next()?;
        for one in all {
            if one != any {
                any = self.made_by("or.pred", &[&any, &one]);
            }
        }
        Some(any)
    }

    /// The predicate of what a condition chooses.
    fn of_chosen(
        &mut self,
        chosen: &CellValue,
        [yes, no]: [Option<CellValue>; 2],
    ) -> Vec<CellValue> {
        if let Some(chosen) = chosen.number() {
            return if chosen == 1 { yes } else { no }.into_iter().collect();
        }
        let mut all = Vec::new();
        if let Some(yes) = yes {
            all.push(self.made_by("and.pred", &[chosen, &yes]));
        }
        if let Some(no) = no {
            let not = self.made_by("not.pred", &[chosen]);
            all.push(self.made_by("and.pred", &[&not, &no]));
        }
        all
    }

    /// For each part of a result, whether it breaks what a flag promises.
    fn broken(
        &mut self,
        step: &'m InstructionKind<'a>,
        to: &[ScalarPart],
    ) -> LoweringResult<PartPredicates> {
        let (op, flags, a, b): (_, _, &Typed<'a>, _) =
            if let InstructionKind::Binary { op, flags, operands: (a, b), .. } = step {
                (*op, flags, a, Some(b))
            } else if let InstructionKind::Compare { float: false, flags, operands, .. } = step {
                ("icmp", flags, &operands.0, Some(&operands.1))
            } else if let InstructionKind::Cast { op, flags, from, .. } = step {
                (*op, flags, from, None)
            } else {
                return Ok(Vec::new());
            };
        let without = ["shl", "lshr", "ashr", "sdiv", "srem", "fptrunc", "fpext"];
        if flags.is_empty() && !without.contains(&op) {
            return Ok(Vec::new());
        }
        let scalars = a.0.parts(&self.module.types).unwrap_or_default();
        let left = self.cells(&a.0, &a.1)?;
        let right = match b {
            Some(b) => self.cells(&b.0, &b.1)?,
            None => left.clone(),
        };
        let mut all = Vec::new();
        for (index, (_, to)) in to.iter().enumerate() {
            let (Some(scalar), Some(a), Some(b)) =
                (scalars.get(index), left.get(index), right.get(index))
            else {
                return Ok(all);
            };
            let of = FlaggedOperation { op, flags, scalar: *scalar };
            let is_cast = matches!(step, InstructionKind::Cast { .. });
            let broken = match (scalar.is_float(), is_cast) {
                (true, true) => self.broken_float(of, &[a]),
                (true, false) => self.broken_float(of, &[a, b, to]),
                (false, true) => {
                    self.broken_cast(of, step_type(step, &self.module.types, index), to, a)?
                }
                (false, false) => self.broken_integer(of, to, a, b)?,
            };
            all.push(self.any_of(broken));
        }
        Ok(all)
    }

    /// What is not followed is poison.
    fn always(&mut self) -> CellValue {
        self.made_by("setp.eq.u32", &[&0, &0])
    }

    /// A value in a register.
    fn held(&mut self, width: u32, cell: &CellValue) -> CellValue {
        match cell {
            CellValue::Number(_) => self.made_by(format!("mov.b{width}"), &[cell]),
            CellValue::Register(_) | CellValue::Undefined => cell.clone(),
        }
    }

    /// A value of at most 64 bits with 64 bits.
    fn extended(
        &mut self,
        scalar: ScalarType,
        cell: &CellValue,
        signed: bool,
    ) -> LoweringResult<CellValue> {
        if scalar.bits() == 1 {
            let number = self.number_of(cell);
            let (number, of) = (self.held(32, &number), if signed { "neg.s32" } else { "mov.b32" });
            let number = self.made_by(of, &[&number]);
            return Ok(self.made_by(if signed { "cvt.s64.s32" } else { "cvt.u64.u32" }, &[&number]));
        }
        let width = self.container(scalar)?;
        let cell = self.held(width, cell);
        let cell = if signed { self.signed(scalar, &cell)? } else { cell };
        Ok(match (width, signed) {
            (64, _) => cell,
            (_, true) => self.made_by("cvt.s64.s32", &[&cell]),
            (_, false) => self.made_by("cvt.u64.u32", &[&cell]),
        })
    }

    fn broken_integer(
        &mut self,
        FlaggedOperation { op, flags, scalar }: FlaggedOperation<'_>,
        to: &CellValue,
        a: &CellValue,
        b: &CellValue,
    ) -> LoweringResult<Vec<CellValue>> {
        let bits = scalar.bits();
        let number = b.number();
        let shifts = matches!(op, "shl" | "lshr" | "ashr");
        let far = shifts && number.is_none_or(|by| by >= bits.into());
        if bits == 1 || bits >= WIDEST || !(bits <= 32 || bits == 64) || scalar == ScalarType::Ptr {
            let nothing = flags.is_empty() && !far && !matches!(op, "sdiv" | "srem");
            return Ok(if nothing { Vec::new() } else { vec![self.always()] });
        }
        let has = |flag: &str| flags.contains(&flag);
        let mut all = Vec::new();
        if far {
            let p = self.temporary();
            self.compare("uge", scalar, &p, b, &bits.into())?;
            all.push(p);
        }
        if matches!(op, "sdiv" | "srem") && number.is_none_or(|by| by == ones(bits)) {
            let (least, minus) = (self.temporary(), self.temporary());
            self.compare("eq", scalar, &least, a, &(1_u64 << (bits - 1)).into())?;
            self.compare("eq", scalar, &minus, b, &ones(bits).into())?;
            all.push(self.made_by("and.pred", &[&least, &minus]));
        }
        for signed in
            [false, true].into_iter().filter(|signed| has(if *signed { "nsw" } else { "nuw" }))
        {
            all.push(match op {
                "add" | "sub" | "mul" => self.wraps(op, scalar, signed, to, a, b)?,
                "shl" => {
                    let (to, a) =
                        (self.extended(scalar, to, signed)?, self.extended(scalar, a, signed)?);
                    let sign = if signed { 's' } else { 'u' };
                    let by = self.by(scalar, b)?;
                    let back = self.made_by(format!("shr.{sign}64"), &[&to, &by]);
                    self.made_by("setp.ne.u64", &[&back, &a])
                }
                _ => return Ok(vec![self.always()]),
            });
        }
        let (from, result) = (self.extended(scalar, a, false)?, self.extended(scalar, to, false)?);
        let back = match op {
            "udiv" | "sdiv" if has("exact") => {
                let by = self.extended(scalar, b, false)?;
                Some(self.made_by("mul.lo.u64", &[&result, &by]))
            }
            "lshr" | "ashr" if has("exact") => {
                let by = self.by(scalar, b)?;
                Some(self.made_by("shl.b64", &[&result, &by]))
            }
            _ => None,
        };
        if let Some(back) = back {
            let back = self.made_by("and.b64", &[&back, &ones(bits)]);
            all.push(self.made_by("setp.ne.u64", &[&back, &from]));
        }
        if has("disjoint") || has("samesign") {
            let by = self.extended(scalar, b, false)?;
            let of = if op == "icmp" { "xor.b64" } else { "and.b64" };
            let both = self.made_by(of, &[&from, &by]);
            let limit = if op == "icmp" { 1_u64 << (bits - 1) } else { 1 };
            all.push(self.made_by("setp.ge.u64", &[&both, &limit]));
        }
        Ok(all)
    }

    /// An amount of a shift, as a register of 32 bits.
    fn by(&mut self, scalar: ScalarType, amount: &CellValue) -> LoweringResult<CellValue> {
        if amount.number().is_some() {
            return Ok(amount.clone());
        }
        let wide = self.extended(scalar, amount, false)?;
        Ok(self.made_by("cvt.u32.u64", &[&wide]))
    }

    /// Whether a sum, a difference or a product is not that of the integers.
    fn wraps(
        &mut self,
        op: &str,
        scalar: ScalarType,
        signed: bool,
        to: &CellValue,
        a: &CellValue,
        b: &CellValue,
    ) -> LoweringResult<CellValue> {
        let [to, a, b] = [to, a, b].map(|cell| self.extended(scalar, cell, signed));
        let (to, a, b) = (to?, a?, b?);
        if scalar.bits() <= 32 {
            let name = if op == "mul" { "mul.lo.u64".to_owned() } else { format!("{op}.u64") };
            let whole = self.made_by(&name, &[&a, &b]);
            return Ok(self.made_by("setp.ne.u64", &[&whole, &to]));
        }
        let changed = |this: &mut Self, one: &CellValue, other: &CellValue| {
            this.made_by("xor.b64", &[one, other])
        };
        Ok(match (op, signed) {
            ("add", false) => self.made_by("setp.lt.u64", &[&to, &a]),
            ("sub", false) => self.made_by("setp.lt.u64", &[&a, &b]),
            ("mul", false) => {
                let high = self.made_by("mul.hi.u64", &[&a, &b]);
                self.made_by("setp.ne.u64", &[&high, &0])
            }
            ("mul", true) => {
                let high = self.made_by("mul.hi.s64", &[&a, &b]);
                let sign = self.made_by("shr.s64", &[&to, &63]);
                self.made_by("setp.ne.u64", &[&high, &sign])
            }
            (_, _) => {
                let other = if op == "add" { &to } else { &a };
                let (one, two) = (changed(self, &a, &to), changed(self, &b, other));
                let both = self.made_by("and.b64", &[&one, &two]);
                self.made_by("setp.lt.s64", &[&both, &0])
            }
        })
    }

    fn broken_cast(
        &mut self,
        FlaggedOperation { op, flags, scalar }: FlaggedOperation<'_>,
        new: Option<ScalarType>,
        to: &CellValue,
        from: &CellValue,
    ) -> LoweringResult<Vec<CellValue>> {
        let Some(new) = new.filter(|new| new.bits() <= 64 && scalar.bits() <= 64) else {
            return Ok(vec![self.always()]);
        };
        let mut all = Vec::new();
        if flags.contains(&"nneg") {
            let negative = self.temporary();
            self.compare("slt", scalar, &negative, from, &CellValue::Number(0))?;
            all.push(negative);
        }
        for (flag, signed) in [("nuw", false), ("nsw", true)] {
            if op == "trunc" && flags.contains(&flag) {
                let from = self.extended(scalar, from, signed)?;
                let to = self.extended(new, to, signed)?;
                all.push(self.made_by("setp.ne.u64", &[&from, &to]));
            }
        }
        Ok(all)
    }

    /// `nnan` and `ninf`: no operand and no result has all bits of the exponent. A conversion may give a NaN any sign.
    fn broken_float(
        &mut self,
        FlaggedOperation { op, flags, scalar }: FlaggedOperation<'_>,
        cells: &[&CellValue],
    ) -> Vec<CellValue> {
        let promises = flags.iter().any(|flag| matches!(*flag, "nnan" | "ninf" | "fast"));
        if !promises && !matches!(op, "fptrunc" | "fpext") {
            return Vec::new();
        }
        let (width, exponent) = match scalar {
            ScalarType::Half => (32, 0x7c00),
            ScalarType::BFloat => (32, 0x7f80),
            ScalarType::Float => (32, 0x7f80_0000),
            ScalarType::Double | ScalarType::Int(_) | ScalarType::Ptr => {
                (64, 0x7ff0_0000_0000_0000_u64)
            }
        };
        let mut all = Vec::new();
        for cell in cells {
            let held = self.held(width, cell);
            let own = self.made_by(format!("and.b{width}"), &[&held, &exponent]);
            all.push(self.made_by(format!("setp.eq.u{width}"), &[&own, &exponent]));
        }
        all
    }
}

fn ones(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// The type of a part of the result of a conversion.
fn step_type(
    step: &InstructionKind<'_>,
    types: &super::ty::Types<'_>,
    index: usize,
) -> Option<ScalarType> {
    let InstructionKind::Cast { to, .. } = step else { return None };
    to.parts(types)?.get(index).copied()
}
