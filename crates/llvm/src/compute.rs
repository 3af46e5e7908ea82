//! Instructions that compute on registers only.

use super::bits::{ScalarPart, WIDEST};
use super::cell::CellValue;
use super::copy;
use super::function::{LoweringResult, Root, Translator};
use super::step::{InstructionKind, Typed, TypedInstruction};
use super::ty::{ScalarType, Ty};
use lift::written::WrittenArg;
use model::memory::Space;
use text::cursor::short;

/// A number whose `bits` low bits are set.
fn ones(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The note of a function with fast-math flags.
const FAST: &str = "operations with fast-math flags are computed as IEEE 754 says";

impl<'a, 'm> Translator<'a, 'm> {
    /// An instruction that does not end a block. `first`: it is in the first block.
    pub(super) fn defined_step(
        &mut self,
        instruction: &'m TypedInstruction<'a>,
        first: bool,
    ) -> LoweringResult<()> {
        let step = &instruction.step;
        if let InstructionKind::Memory(operation, values) = step {
            return self.memory(operation, values, instruction.result);
        }
        let to = |this: &Self| -> Vec<(ScalarType, CellValue)> {
            let held = instruction.result.and_then(|name| this.values.get(name));
            held.map_or(Vec::new(), |held| held.parts.clone())
        };
        if let InstructionKind::Call { result: ty, callee, arguments, how } = step {
            if callee.starts_with("llvm.masked.load.") {
                return self.masked_load(arguments, how, instruction.result);
            }
            if callee.starts_with("llvm.masked.store.") {
                return self.masked_store(arguments, how);
            }
            if copy::is_copy(callee) {
                return self.copies(callee, arguments, how);
            }
            let result = to(self);
            if self.is_external(callee) {
                return self.external_call(callee, arguments, how, ty, &result);
            }
            return self.call(callee, arguments, &result);
        }
        if let InstructionKind::Assembly(assembly) = step {
            let to = to(self);
            return self.assembly(assembly, &to);
        }
        if let InstructionKind::Alloca { ty, count } = step {
            return self.alloca(instruction, ty, count.as_ref(), first);
        }
        if instruction.result.is_none() {
            return Ok(());
        }
        let to = to(self);
        match step {
            InstructionKind::Binary { op, fast, operands: (a, b), .. } => {
                if *fast {
                    self.note(FAST.to_owned());
                }
                let (left, right) = (self.defined(&a.0, &a.1)?, self.defined(&b.0, &b.1)?);
                for ((scalar, to), (a, b)) in to.iter().zip(left.iter().zip(&right)) {
                    self.binary(op, *scalar, to, a, b)?;
                }
                Ok(())
            }
            InstructionKind::Compare { float, relation, operands: (a, b), .. } => {
                let scalars = a.0.parts(&self.module.types).unwrap_or_default();
                let (left, right) = (self.defined(&a.0, &a.1)?, self.defined(&b.0, &b.1)?);
                for (index, (_, to)) in to.iter().enumerate() {
                    let (a, b) = (&left[index], &right[index]);
                    if *float {
                        self.float_compare(relation, scalars[index], to, a, b)?;
                    } else {
                        self.compare(relation, scalars[index], to, a, b)?;
                    }
                }
                Ok(())
            }
            InstructionKind::Negate(of) => {
                let cells = self.defined(&of.0, &of.1)?;
                to.iter()
                    .zip(&cells)
                    .try_for_each(|((scalar, to), from)| self.float_sign("neg", *scalar, to, from))
            }
            InstructionKind::Select { condition, operands: (a, b) } => {
                self.selects(condition, a, b, &to)
            }
            InstructionKind::Cast { op, from, to: ty, .. } => self.converts(op, from, ty, &to),
            InstructionKind::Address { source, base, indices } => {
                let [(ScalarType::Ptr, to)] = &to[..] else {
                    return self.no("a vector of addresses is not supported");
                };
                self.address(to, source, base, indices)
            }
            InstructionKind::Phi { incoming, .. } => {
                for (value, _) in incoming {
                    self.kept_inside(value)?;
                }
                Ok(())
            }
            InstructionKind::Freeze(of) => {
                // What is not defined may be any value. As one that no use is defined for, it remains that.
                let cells = self.cells(&of.0, &of.1)?;
                self.given(instruction.result, &cells)
            }
            InstructionKind::Part(part) => self.part(part, instruction.result, &to),
            InstructionKind::Unsupported(what) => {
                self.no(format!("`{}` is not supported", short(what)))
            }
            InstructionKind::Memory(..)
            | InstructionKind::Call { .. }
            | InstructionKind::Assembly(_)
            | InstructionKind::Alloca { .. }
            | InstructionKind::End(_) => Ok(()),
        }
    }

    pub(super) fn mov(
        &mut self,
        scalar: ScalarType,
        to: &CellValue,
        from: &CellValue,
    ) -> LoweringResult<()> {
        if *from == CellValue::Undefined {
            return self.no("`undef` is not supported");
        }
        if let Some(predicate) = self.poison.get(from).cloned() {
            self.poison.insert(to.clone(), predicate);
        }
        match self.container(scalar)? {
            1 => self.row("mov.pred", &[to, from]),
            WIDEST if from.number().is_some() => {
                self.put(from, &CellValue::Number(0), to);
                return Ok(());
            }
            bits => self.row(format!("mov.b{bits}"), &[to, from]),
        };
        Ok(())
    }

    /// A predicate as a number.
    pub(super) fn number_of(&mut self, predicate: &CellValue) -> CellValue {
        if predicate.number().is_some() {
            return predicate.clone();
        }
        self.made_by("selp.u32", &[&1, &0, predicate])
    }

    /// A value in a wider register, zero-extended.
    pub(super) fn masked(&mut self, scalar: ScalarType, cell: CellValue) -> CellValue {
        let bits = scalar.bits();
        if matches!(bits, 32 | 64) {
            return cell;
        }
        let width = if bits < 32 { 32 } else { 64 };
        self.made_by(format!("and.b{width}"), &[&cell, &ones(bits)])
    }

    /// Zero-extends a value in its register.
    pub(super) fn mask(&mut self, scalar: ScalarType, cell: &CellValue) {
        let bits = scalar.bits();
        if bits > 64 {
            self.wide_mask(scalar, cell);
        } else if !matches!(bits, 32 | 64) {
            let width = if bits < 32 { 32 } else { 64 };
            self.row(format!("and.b{width}"), &[cell, cell, &ones(bits)]);
        }
    }

    /// A value in a wider register, sign-extended.
    pub(super) fn signed(
        &mut self,
        scalar: ScalarType,
        cell: &CellValue,
    ) -> LoweringResult<CellValue> {
        let width = self.container(scalar)?.max(32);
        if width == WIDEST {
            return Ok(self.wide_signed(scalar, cell));
        }
        let (bits, from) = match scalar.bits() {
            1 => (1, self.number_of(cell)),
            bits => (bits, cell.clone()),
        };
        if bits == width {
            return Ok(from);
        }
        let (up, down) = (self.temporary(), self.temporary());
        self.row(format!("shl.b{width}"), &[&up, &from, &(width - bits)]);
        self.row(format!("shr.s{width}"), &[&down, &up, &(width - bits)]);
        Ok(down)
    }

    pub(super) fn binary(
        &mut self,
        op: &str,
        scalar: ScalarType,
        to: &CellValue,
        a: &CellValue,
        b: &CellValue,
    ) -> LoweringResult<()> {
        let uncovered = || format!("`{op}` of {scalar} is not supported");
        if scalar.is_float() {
            return self.float_binary(op, scalar, to, a, b);
        }
        let width = self.container(scalar)?;
        if width == 1 {
            return match op {
                "and" | "or" | "xor" => {
                    self.row(format!("{op}.pred"), &[to, a, b]);
                    Ok(())
                }
                // Sums and products modulo 2.
                "add" | "sub" => {
                    self.row("xor.pred", &[to, a, b]);
                    Ok(())
                }
                "mul" => {
                    self.row("and.pred", &[to, a, b]);
                    Ok(())
                }
                _ => self.no(uncovered()),
            };
        }
        if width == WIDEST {
            return self.wide_binary(op, scalar, to, a, b);
        }
        let power = b.number().filter(|b| b.is_power_of_two());
        match (op, power) {
            ("add" | "sub", _) => self.row(format!("{op}.u{width}"), &[to, a, b]),
            ("mul", _) => self.row(format!("mul.lo.u{width}"), &[to, a, b]),
            ("and" | "or" | "xor" | "shl", _) => self.row(format!("{op}.b{width}"), &[to, a, b]),
            ("lshr", _) => self.row(format!("shr.u{width}"), &[to, a, b]),
            ("ashr", _) => {
                let a = self.signed(scalar, a)?;
                self.row(format!("shr.s{width}"), &[to, &a, b])
            }
            ("udiv", Some(by)) => self.row(format!("shr.u{width}"), &[to, a, &by.trailing_zeros()]),
            ("urem", Some(by)) => self.row(format!("and.b{width}"), &[to, a, &(by - 1)]),
            ("udiv" | "urem", None) => {
                self.no_zero(b, width);
                let name = if op == "udiv" { "div" } else { "rem" };
                self.row(format!("{name}.u{width}"), &[to, a, b])
            }
            ("sdiv" | "srem", _) => {
                self.no_zero(b, width);
                let (a, b) = (self.signed(scalar, a)?, self.signed(scalar, b)?);
                let name = if op == "sdiv" { "div" } else { "rem" };
                self.row(format!("{name}.s{width}"), &[to, &a, &b])
            }
            _ => return self.no(uncovered()),
        };
        if matches!(op, "add" | "sub" | "mul" | "shl" | "ashr" | "sdiv" | "srem") {
            self.mask(scalar, to);
        }
        Ok(())
    }

    /// A division by zero is undefined.
    fn no_zero(&mut self, divisor: &CellValue, width: u32) {
        if divisor.number().is_none() {
            let zero = self.made_by(format!("setp.eq.u{width}"), &[divisor, &0]);
            self.undefined_if(&zero);
        }
    }

    /// Makes an execution undefined if a predicate holds: it reads at address 0, where nothing is.
    pub(super) fn undefined_if(&mut self, predicate: &CellValue) {
        let (nothing, value) = (self.temporary(), self.temporary());
        self.row("mov.b64", &[&nothing, &0]);
        let place = WrittenArg::address(&nothing, 0);
        self.row_when(predicate, "load.u32", &[&value, &place]);
    }

    /// A predicate that states whether two values of a type are equal.
    pub(super) fn equal(
        &mut self,
        ty: &Ty,
        a: &CellValue,
        b: &CellValue,
    ) -> LoweringResult<CellValue> {
        let parts = ty.parts(&self.module.types);
        let Some([scalar]) = parts.as_deref() else {
            return self.no("a value that is not a scalar is not supported here");
        };
        let to = self.temporary();
        self.compare("eq", *scalar, &to, a, b)?;
        Ok(to)
    }

    pub(super) fn compare(
        &mut self,
        relation: &str,
        scalar: ScalarType,
        to: &CellValue,
        a: &CellValue,
        b: &CellValue,
    ) -> LoweringResult<()> {
        let (name, signed) = match relation {
            "eq" | "ne" => (relation, false),
            "ugt" | "uge" | "ult" | "ule" => (&relation[1..], false),
            "sgt" | "sge" | "slt" | "sle" => (&relation[1..], true),
            _ => {
                let message = format!("unknown comparison `{}`", short(relation));
                return self.wrong("llvm-comparison", message);
            }
        };
        let width = self.container(scalar)?.max(32);
        if width == WIDEST {
            return self.wide_compare(name, signed, scalar, to, a, b);
        }
        let (a, b) = if signed {
            (self.signed(scalar, a)?, self.signed(scalar, b)?)
        } else if scalar.bits() == 1 {
            (self.number_of(a), self.number_of(b))
        } else {
            (a.clone(), b.clone())
        };
        let sign = if signed { 's' } else { 'u' };
        self.row(format!("setp.{name}.{sign}{width}"), &[to, &a, &b]);
        Ok(())
    }

    pub(super) fn select(
        &mut self,
        scalar: ScalarType,
        to: &CellValue,
        a: &CellValue,
        b: &CellValue,
        condition: &CellValue,
    ) -> LoweringResult<()> {
        if let Some(condition) = condition.number() {
            return self.mov(scalar, to, if condition == 1 { a } else { b });
        }
        match self.container(scalar)? {
            1 => {
                let (yes, not, no) = (self.temporary(), self.temporary(), self.temporary());
                self.row("and.pred", &[&yes, condition, a]);
                self.row("not.pred", &[&not, condition]);
                self.row("and.pred", &[&no, &not, b]);
                self.row("or.pred", &[to, &yes, &no]);
            }
            WIDEST => self.wide_select(scalar, to, a, b, condition),
            width => {
                self.row(format!("selp.b{width}"), &[to, a, b, condition]);
            }
        }
        Ok(())
    }

    /// Refuses a conversion that passes on the address of a local variable.
    fn kept(&self, op: &str, from: &Typed<'a>) -> LoweringResult<()> {
        if matches!(op, "ptrtoint" | "ptrtoaddr") { self.kept_inside(&from.1) } else { Ok(()) }
    }

    /// Refuses a conversion of an address to a state space that does not contain it, whose result is undefined.
    fn stays_in_space(&self, (_, from): &Typed<'a>, ty: &Ty) -> LoweringResult<()> {
        let of = |ty: &Ty| if let Ty::Ptr(space) = ty { *space } else { 0 };
        let origin = match self.root(from) {
            Root::Alloca(_) => 5,
            Root::Global(name) => self.module.globals.get(name).map_or(0, |global| global.space),
            Root::Parameter(index) => of(&self.definition.parameters[index].ty),
            Root::Unknown => 0,
        };
        let to = of(ty);
        if origin != 0 && to != 0 && self.space(to)? != self.space(origin)? {
            return self.no("an address is cast to a state space that it is not in");
        }
        Ok(())
    }

    /// The state space of an address of this type, as `cvta` names it; none for a generic address and one of
    /// global memory, which are the same number.
    fn window(&self, ty: &Ty) -> LoweringResult<Option<&'static str>> {
        let ty = ty.one_of_vector().unwrap_or(ty);
        let Ty::Ptr(space) = ty else { return Ok(None) };
        Ok(match self.space(*space)? {
            Space::Shared => Some("shared"),
            Space::Const => Some("const"),
            Space::Local => Some("local"),
            Space::Global | Space::ParamEntry | Space::ParamFunc | Space::Tensor => None,
        })
    }

    /// `select`: of vectors each element by itself.
    fn selects(
        &mut self,
        condition: &Typed<'a>,
        a: &Typed<'a>,
        b: &Typed<'a>,
        to: &[ScalarPart],
    ) -> LoweringResult<()> {
        self.kept_inside(&a.1)?;
        self.kept_inside(&b.1)?;
        let conditions = self.defined(&condition.0, &condition.1)?;
        let (left, right) = (self.cells(&a.0, &a.1)?, self.cells(&b.0, &b.1)?);
        for (index, (scalar, to)) in to.iter().enumerate() {
            let condition = conditions.get(index).or(conditions.first());
            let (Some(condition), Some(a), Some(b)) =
                (condition, left.get(index), right.get(index))
            else {
                return self.no("a select of values of different lengths");
            };
            // An undefined operand may be equal to the other one.
            let (a, b) = match (a, b) {
                (CellValue::Undefined, b) => (b, b),
                (a, CellValue::Undefined) => (a, a),
                _ => (a, b),
            };
            if a == b {
                self.mov(*scalar, to, a)?;
            } else {
                self.select(*scalar, to, a, b, condition)?;
            }
        }
        Ok(())
    }

    /// A conversion of all parts of a value.
    pub(super) fn converts(
        &mut self,
        op: &str,
        from: &Typed<'a>,
        ty: &Ty,
        to: &[ScalarPart],
    ) -> LoweringResult<()> {
        let scalars = from.0.parts(&self.module.types).unwrap_or_default();
        if op == "bitcast" {
            let cells = self.cells(&from.0, &from.1)?;
            let parts: Vec<_> = scalars.into_iter().zip(cells).collect();
            return self.repacked(&parts, to);
        }
        let cells = self.defined(&from.0, &from.1)?;
        if scalars.len() != to.len() {
            return self.no(format!("this `{op}` of a vector is not supported"));
        }
        self.kept(op, from)?;
        if op == "addrspacecast" {
            self.stays_in_space(from, ty)?;
        }
        // Pointers are generic in registers. As a number, an address of a state space is an offset.
        let numbers = matches!(op, "ptrtoint" | "ptrtoaddr");
        let offset = if numbers { self.window(&from.0)? } else { None };
        let generic = if op == "inttoptr" { self.window(ty)? } else { None };
        for ((old, from), (new, to)) in scalars.iter().zip(&cells).zip(to) {
            let mut from = from.clone();
            if let Some(space) = offset {
                from = self.made_by(format!("cvta.to.{space}.u64"), &[&from]);
            }
            let Some(space) = generic else {
                self.cast(op, *old, &from, *new, to)?;
                continue;
            };
            let number = self.temporary();
            self.cast(op, *old, &from, *new, &number)?;
            self.row(format!("cvta.{space}.u64"), &[to, &number]);
        }
        Ok(())
    }

    pub(super) fn cast(
        &mut self,
        op: &str,
        old: ScalarType,
        from: &CellValue,
        new: ScalarType,
        to: &CellValue,
    ) -> LoweringResult<()> {
        let (narrow, wide) = (self.container(old)?, self.container(new)?);
        let bits = (old.bits(), new.bits());
        let wrong = |this: &mut Self| {
            this.wrong("llvm-type", format!("`{op}` cannot convert {old} to {new}"))
        };
        match op {
            "bitcast" | "addrspacecast" | "ptrtoint" | "ptrtoaddr" | "inttoptr"
                if bits.0 == bits.1 =>
            {
                self.mov(new, to, from)
            }
            _ if narrow == WIDEST || wide == WIDEST => self.wide_cast(op, old, from, new, to),
            "trunc" | "ptrtoint" | "ptrtoaddr" if bits.1 < bits.0 => {
                if wide == 1 {
                    let low = self.made_by(format!("and.b{narrow}"), &[from, &1]);
                    self.row(format!("setp.ne.u{narrow}"), &[to, &low, &0]);
                    return Ok(());
                }
                if narrow == wide {
                    self.row(format!("and.b{wide}"), &[to, from, &ones(bits.1)]);
                } else {
                    self.row(format!("cvt.u{wide}.u{narrow}"), &[to, from]);
                    self.mask(new, to);
                }
                Ok(())
            }
            "zext" | "sext" if narrow == 1 && bits.1 > 1 => {
                let yes = if op == "zext" { 1 } else { ones(bits.1) };
                if let Some(from) = from.number() {
                    let number = if from == 1 { yes } else { 0 };
                    return self.mov(new, to, &number.into());
                }
                self.row(format!("selp.b{wide}"), &[to, &yes, &0, from]);
                Ok(())
            }
            "zext" | "inttoptr" if bits.1 > bits.0 => {
                if narrow == wide {
                    return self.mov(new, to, from);
                }
                self.row(format!("cvt.u{wide}.u{narrow}"), &[to, from]);
                Ok(())
            }
            "sext" if bits.1 > bits.0 => {
                let signed = self.signed(old, from)?;
                if narrow == wide {
                    self.mov(new, to, &signed)?;
                } else {
                    self.row(format!("cvt.s{wide}.s{narrow}"), &[to, &signed]);
                }
                self.mask(new, to);
                Ok(())
            }
            "fpext" | "fptrunc" | "sitofp" | "uitofp" | "fptosi" | "fptoui" => {
                self.float_cast(op, old, from, new, to)
            }
            "trunc" | "zext" | "sext" | "bitcast" => wrong(self),
            _ => self.no(format!("`{op}` from {old} to {new} is not supported")),
        }
    }

    /// `getelementptr`
    fn address(
        &mut self,
        to: &CellValue,
        source: &Ty,
        base: &Typed<'a>,
        indices: &[Typed<'a>],
    ) -> LoweringResult<()> {
        let mut sum = self.cell(base)?;
        let (offset, variable) = self.offsets(source, indices)?;
        let mut terms = Vec::new();
        for (index, stride) in variable {
            let parts = index.0.parts(&self.module.types);
            let Some([scalar @ ScalarType::Int(_)]) = parts.as_deref() else {
                return self.no("an index that is not an integer is not supported");
            };
            if scalar.bits() > 64 {
                return self.no("an index of more than 64 bits is not supported");
            }
            let cell = self.cell(&index)?;
            let mut wide = self.signed(*scalar, &cell)?;
            if scalar.bits() <= 32 {
                wide = self.made_by("cvt.s64.s32", &[&wide]);
            }
            if stride != 1 {
                wide = self.made_by("mul.lo.u64", &[&wide, &stride]);
            }
            terms.push(wide);
        }
        if offset != 0 {
            terms.push(CellValue::Number(offset.cast_unsigned()));
        }
        let Some(last) = terms.pop() else { return self.mov(ScalarType::Ptr, to, &sum) };
        for term in terms {
            sum = self.made_by("add.u64", &[&sum, &term]);
        }
        self.row("add.u64", &[to, &sum, &last]);
        Ok(())
    }
}
