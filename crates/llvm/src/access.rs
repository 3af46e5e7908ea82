//! Memory operations: accesses, fences, local variables.

use super::bits::WIDEST;
use super::cell::{CellValue, NONE};
use super::function::{LoweringResult, Root, Translator};
use super::operand::Value;
use super::step::{InstructionKind, Typed, TypedInstruction};
use super::sync_scope::{SyncScope, sync_scope};
use super::ty::{ScalarType, Ty};
use super::{Access, AtomicOrdering, MemoryOp, NOT_LOCAL, Operation, RmwOp};
use lift::function::{EntryValue, FunctionVariable};
use lift::written::{AsOperand, WrittenArg};
use model::memory::Space;
use model::scope::Scope;

/// The note of a function with volatile vectors.
const SIZES: &str = "a volatile vector promises nothing about the sizes of its accesses: contexts that tell these \
     apart are not compared";

/// The note of a function that stores an undefined value.
const UNDEFINED_STORE: &str = "a store of an undefined value is left out";

/// The maximum number of elements of a local variable.
const MOST: u64 = 1 << 16;

/// The spelling of an ordering in a column.
fn order_name(order: AtomicOrdering) -> &'static str {
    match order {
        AtomicOrdering::Monotonic => "relaxed",
        AtomicOrdering::Unordered
        | AtomicOrdering::Acquire
        | AtomicOrdering::Release
        | AtomicOrdering::AcqRel
        | AtomicOrdering::SeqCst => order.name(),
    }
}

impl<'a, 'm> Translator<'a, 'm> {
    pub(super) fn memory(
        &mut self,
        operation: &'m Operation<'a>,
        values: &'m [Value<'a>],
        result: Option<&'a str>,
    ) -> LoweringResult<()> {
        match operation {
            Operation::Fence { order, scope } => {
                self.fence(*order, scope);
                Ok(())
            }
            Operation::Access(access) => self.access(access, values, result),
            Operation::Barrier(_) | Operation::Pure | Operation::Unsupported(_) => {
                self.no("this is not a memory operation")
            }
        }
    }

    /// A fence. One whose scope is its own thread orders nothing and is omitted.
    fn fence(&mut self, order: AtomicOrdering, scope: &str) {
        if let Some(scope) = self.scope(scope) {
            self.row(format!("fence.{}.{scope}", order.name()), &[]);
        }
    }

    /// The scope with this name; `None` for a scope that includes no other thread.
    fn scope(&mut self, name: &str) -> Option<&'static str> {
        let SyncScope { scope, note } = sync_scope(name);
        if let Some(note) = note {
            self.note(note);
        }
        scope.map(Scope::cxx_name)
    }

    /// The orderings and the scope as parts of an instruction, each with its dot; empty for a plain access.
    fn strength(&mut self, access: &Access<'a>, private: bool) -> String {
        let atomic = matches!(access.kind, MemoryOp::Rmw(_) | MemoryOp::CmpXchg { .. });
        let Some(order) = access.order else {
            // Reading R42.
            let strong = access.volatile && !private;
            return if strong { ".relaxed.system".to_owned() } else { String::new() };
        };
        let scope = self.scope(access.scope);
        if !atomic && private {
            return String::new();
        }
        let order = if order == AtomicOrdering::Unordered && access.volatile {
            AtomicOrdering::Monotonic
        } else {
            order
        };
        let Some(scope) = scope else {
            // No other thread may access the location at the same time. A race with it counts as one of plain
            // accesses.
            return if atomic || access.volatile {
                ".relaxed.block".to_owned()
            } else {
                String::new()
            };
        };
        match access.kind {
            MemoryOp::CmpXchg { failure, .. } => {
                format!(".{}.{}.{scope}", order_name(order), order_name(failure))
            }
            MemoryOp::Load | MemoryOp::Store | MemoryOp::Rmw(_) => {
                format!(".{}.{scope}", order_name(order))
            }
        }
    }

    fn access(
        &mut self,
        access: &'m Access<'a>,
        values: &'m [Value<'a>],
        result: Option<&'a str>,
    ) -> LoweringResult<()> {
        let [pointer, operands @ ..] = values else {
            return self.no("an access without an address");
        };
        if let Value::Local(name) = pointer
            && self.slots.contains(name)
        {
            return self.slot(name, access, operands, result);
        }
        self.space(access.space)?;
        for operand in operands {
            self.kept_inside(operand)?;
        }
        // Whether only this thread can access the memory, or no thread writes it.
        let private =
            matches!(self.root(pointer), Root::Alloca(_)) || matches!(access.space, 4 | 5);
        if private && matches!(access.kind, MemoryOp::Rmw(_) | MemoryOp::CmpXchg { .. }) {
            return self.no("an atomic operation on local or constant memory is not supported");
        }
        // The parameters of a kernel are not addresses of local memory.
        let atomic = matches!(access.kind, MemoryOp::Rmw(_) | MemoryOp::CmpXchg { .. });
        if atomic && access.space == 0 && !self.definition.kernel {
            self.note(NOT_LOCAL.to_owned());
        }
        if access.kind == MemoryOp::Store && access.space == 4 {
            return self.no("a store to constant memory is not supported");
        }
        let (base, offset) = self.constant_address(pointer)?;
        // An integer of 128 bits may be accessed in two parts.
        let part = u64::from(access.ty.scalar.bits().div_ceil(8)).min(8);
        // Where it is not written, it is that of the type.
        let of_type = || access.ty.bytes().map(|bytes| u64::from(bytes.next_power_of_two()));
        self.promise(access.align.or_else(of_type).filter(|align| *align > part));
        if self.checked && matches!(pointer, Value::Local(_)) {
            self.undefined_if_misaligned(access, &base, offset);
        }
        let strength = self.strength(access, private);
        let read_only = access.kind == MemoryOp::Load
            && (access.promises_read_only() || self.never_written(pointer, access.space));
        let at = move |more: i64| WrittenArg::address(&base, offset.wrapping_add(more));
        if access.volatile && private {
            self.note(
                "no other thread can observe a volatile access of local or constant memory"
                    .to_owned(),
            );
        }
        let volatile = access.volatile && !private;
        if volatile && access.ty.lanes.is_some() {
            self.note(SIZES.to_owned());
        }
        let halves = access.ty.scalar.bits() == WIDEST && access.order.is_none();
        let done = self.builder.len();
        match access.kind {
            MemoryOp::Load => self.load(access, &at, &strength, result)?,
            MemoryOp::Store => self.store(access, &at, &strength, &operands[0])?,
            MemoryOp::Rmw(op) => {
                self.rmw(access, op, &at(0), &strength, &operands[0], result)?;
            }
            MemoryOp::CmpXchg { .. } => {
                self.compare_exchange(access, &at(0), &strength, operands, result)?;
            }
        }
        self.builder.mark_accesses(done, |row| {
            row.volatile = volatile;
            row.element = access.ty.lanes.is_some() || halves;
            row.read_only = read_only;
        });
        Ok(())
    }

    /// An access of several parts at an address without the alignment that it promises is undefined. One part is aligned
    /// to its size in any case.
    fn undefined_if_misaligned(&mut self, access: &Access<'a>, base: &CellValue, offset: i64) {
        let part = u64::from(access.ty.scalar.bits().div_ceil(8));
        let Some(alignment) = access.align.filter(|&align| align > part && align < 1 << 31) else {
            return;
        };
        let place = self.made_by("add.u64", &[base, &offset]);
        let rest = self.made_by("and.b64", &[&place, &(alignment - 1)]);
        let misaligned = self.made_by("setp.ne.u64", &[&rest, &0]);
        self.undefined_if(&misaligned);
    }

    /// The spelling of the type of one element in a column, and its size in bytes.
    pub(super) fn width(&self, scalar: ScalarType) -> LoweringResult<(&'static str, i64)> {
        Ok(match scalar.bits() {
            1 | 8 => ("u8", 1),
            16 => ("u16", 2),
            32 => ("u32", 4),
            64 => ("u64", 8),
            128 => ("b128", 16),
            _ => return self.no(format!("an access of type {scalar} is not supported")),
        })
    }

    fn load(
        &mut self,
        access: &Access<'a>,
        at: &dyn Fn(i64) -> WrittenArg,
        strength: &str,
        result: Option<&'a str>,
    ) -> LoweringResult<()> {
        let scalar = access.ty.scalar;
        let count = access.ty.lanes.unwrap_or(1);
        let parts: Vec<CellValue> = match result {
            Some(name) => self.values[name].parts.iter().map(|part| part.1.clone()).collect(),
            None => (0..count).map(|_| self.temporary()).collect(),
        };
        let pieces = self.pieces(access, strength)?;
        let stride = pieces.iter().map(|(_, bytes)| bytes).sum::<i64>();
        for (part, index) in parts.iter().zip(0_i64..) {
            let mut words = Vec::new();
            let mut offset = index * stride;
            for (ty, bytes) in &pieces {
                let place = at(offset);
                offset += bytes;
                if scalar.bits() == 8 * u32::try_from(*bytes).unwrap_or(0) {
                    self.row(format!("load{strength}.{ty}"), &[part, &place]);
                    continue;
                }
                let word = self.temporary();
                self.row(format!("load{strength}.{ty}"), &[&word, &place]);
                let bits = u32::try_from(8 * bytes).unwrap_or(0);
                words.push((ScalarType::Int(bits), word));
            }
            if words.is_empty() {
                continue;
            }
            // The bits above those of the type are 0 in memory.
            let whole = self.packed(&words)?;
            if scalar.bits() == 1 {
                // Its byte is 0 or 1, or the value is not defined.
                let other = self.made_by("setp.gt.u32", &[&whole, &1]);
                self.undefined_if(&other);
                self.row("setp.ne.u32", &[part, &whole, &0]);
            } else {
                self.mov(scalar, part, &whole)?;
                self.mask(scalar, part);
            }
        }
        Ok(())
    }

    /// The accesses for one element of an access: one, or for a type of unusual width several, whose sizes are
    /// powers of two.
    fn pieces(
        &self,
        access: &Access<'a>,
        strength: &str,
    ) -> LoweringResult<Vec<(&'static str, i64)>> {
        let scalar = access.ty.scalar;
        let bits = scalar.bits();
        if access.ty.lanes.is_some() && !bits.is_multiple_of(8) {
            return self.no(format!("a vector of {scalar} in memory is not supported"));
        }
        if matches!(bits, 1 | 8 | 16 | 32 | 64) {
            return Ok(vec![self.width(scalar)?]);
        }
        self.container(scalar)?;
        if bits == WIDEST {
            // PTX accesses both halves as a vector, except for atomic accesses.
            let whole = access.order.is_some();
            return Ok(if whole { vec![self.width(scalar)?] } else { vec![("u64", 8); 2] });
        }
        if !strength.is_empty() || access.ty.lanes.is_some() {
            return self.no(format!("an access of type {} is not supported", access.ty));
        }
        let bytes = i64::from(bits.div_ceil(8));
        let sizes = [("u64", 8), ("u32", 4), ("u16", 2), ("u8", 1)];
        let first = if bytes > 8 { Some(sizes[0]) } else { None };
        let rest = bytes - first.map_or(0, |(_, size)| size);
        let rest = sizes.into_iter().filter(|(_, size)| rest & size != 0);
        Ok(first.into_iter().chain(rest).collect())
    }

    fn store(
        &mut self,
        access: &Access<'a>,
        at: &dyn Fn(i64) -> WrittenArg,
        strength: &str,
        value: &Value<'a>,
    ) -> LoweringResult<()> {
        let scalar = access.ty.scalar;
        let pieces = self.pieces(access, strength)?;
        let stride = pieces.iter().map(|(_, bytes)| bytes).sum::<i64>();
        let wide = if scalar.bits() <= 32 { 32 } else { 64 };
        for (mut cell, index) in self.cells(&access.ty.any(), value)?.into_iter().zip(0_i64..) {
            if cell == CellValue::Undefined {
                if !strength.is_empty() {
                    return self.no("an atomic or volatile store of `undef` is not supported");
                }
                self.leaves_undefined();
                continue;
            }
            if scalar.bits() == 1 {
                cell = self.number_of(&cell);
            }
            let mut offset = 0;
            // Of 128 bits in pieces, each piece is in one half.
            let halves = pieces.len() > 1 && scalar.bits() > 64;
            let parts =
                if halves { self.halves(scalar, &cell) } else { (cell, CellValue::Undefined) };
            for (ty, bytes) in &pieces {
                let (half, from) =
                    if halves && offset >= 8 { (&parts.1, 8) } else { (&parts.0, 0) };
                let mut word = half.clone();
                if offset > from {
                    let by = 8 * (offset - from);
                    word = self.made_by(format!("shr.u{wide}"), &[half, &by]);
                }
                if pieces.len() > 1 && *bytes < i64::from(wide) / 8 {
                    // A number must fit into the type of its store.
                    let mask = (1_u64 << (8 * bytes)) - 1;
                    word = self.made_by(format!("and.b{wide}"), &[&word, &mask]);
                }
                self.row(format!("store{strength}.{ty}"), &[&at(index * stride + offset), &word]);
                offset += bytes;
            }
        }
        Ok(())
    }

    /// A store of an undefined value: memory may keep what it holds, or hold anything.
    pub(super) fn leaves_undefined(&mut self) {
        self.stores_undefined = true;
        self.note(UNDEFINED_STORE.to_owned());
    }

    /// The scalars of an operand, each of which must have a value.
    pub(super) fn defined(&mut self, ty: &Ty, value: &Value<'a>) -> LoweringResult<Vec<CellValue>> {
        let cells = self.cells(ty, value)?;
        if cells.contains(&CellValue::Undefined) {
            return self.no("`undef` is not supported");
        }
        Ok(cells)
    }

    fn rmw(
        &mut self,
        access: &Access<'a>,
        op: RmwOp,
        at: &WrittenArg,
        strength: &str,
        value: &Value<'a>,
        result: Option<&'a str>,
    ) -> LoweringResult<()> {
        if access.ty.lanes.is_some() {
            return self.no("an atomic operation on a vector is not supported");
        }
        let scalar = access.ty.scalar;
        let (unsigned, _) = self.width(scalar)?;
        let of_bits = matches!(op, RmwOp::Xchg | RmwOp::And | RmwOp::Or | RmwOp::Xor);
        if scalar.bits() == WIDEST && !of_bits {
            return self.no(format!("this `atomicrmw` of {scalar} is not supported"));
        }
        // PTX flushes subnormal numbers in sums of singles in global memory (9.7.15.5), and LLVM only if the function says so.
        let flushes = scalar == ScalarType::Float && access.space != 3;
        let exact = !flushes || self.module.flushes_singles(self.definition);
        let single = matches!(scalar, ScalarType::Float | ScalarType::Double) && exact;
        let ty = match (op, scalar) {
            (RmwOp::Max | RmwOp::Min, _) => unsigned.replace('u', "s"),
            (RmwOp::FAdd, ScalarType::Float) => "f32".to_owned(),
            (RmwOp::FAdd, ScalarType::Double) => "f64".to_owned(),
            _ => unsigned.to_owned(),
        };
        let mut operand = self.one(&access.ty.any(), value)?;
        let name = match op {
            RmwOp::Xchg => "exch",
            RmwOp::Add | RmwOp::Sub => "add",
            RmwOp::FAdd if single => "add",
            RmwOp::And => "and",
            RmwOp::Or => "or",
            RmwOp::Xor => "xor",
            RmwOp::Max | RmwOp::UMax => "max",
            RmwOp::Min | RmwOp::UMin => "min",
            RmwOp::UIncWrap => "inc",
            RmwOp::UDecWrap => "dec",
            RmwOp::Nand
            | RmwOp::FAdd
            | RmwOp::FSub
            | RmwOp::FMax
            | RmwOp::FMin
            | RmwOp::USubCond
            | RmwOp::USubSat => {
                return self.in_loop(scalar, op, at, strength, &operand, result);
            }
        };
        if op == RmwOp::Sub {
            let negated = self.temporary();
            let bits = self.container(scalar)?;
            self.row(format!("sub.u{bits}"), &[&negated, &0, &operand]);
            operand = self.masked(scalar, negated);
        }
        let old = self.result_or_none(result);
        self.row(format!("rmw.{name}{strength}.{ty}"), &[&old, at, &operand]);
        Ok(())
    }

    /// An operation that the model's instructions do not have: a compare-exchange with its result, until one
    /// succeeds. What the failed ones read orders nothing.
    fn in_loop(
        &mut self,
        scalar: ScalarType,
        op: RmwOp,
        at: &WrittenArg,
        strength: &str,
        operand: &CellValue,
        result: Option<&'a str>,
    ) -> LoweringResult<()> {
        let (ty, _) = self.width(scalar)?;
        let Some((order, scope)) = strength.trim_start_matches('.').split_once('.') else {
            return self.no("this operation of an `atomicrmw` is not supported");
        };
        let part = result.and_then(|name| self.values.get(name)?.parts.first());
        let old = part.map(|(_, cell)| cell.clone());
        let old = old.unwrap_or_else(|| self.temporary());
        self.row(format!("load.relaxed.{scope}.{ty}"), &[&old, at]);
        let again = self.fresh("again");
        self.place(again.clone());
        let new = self.temporary();
        match op {
            RmwOp::Nand => {
                let both = self.temporary();
                self.binary("and", scalar, &both, &old, operand)?;
                let ones = u64::MAX >> (64 - scalar.bits());
                self.binary("xor", scalar, &new, &both, &ones.into())?;
            }
            RmwOp::FAdd => self.float_binary("fadd", scalar, &new, &old, operand)?,
            RmwOp::FSub => self.float_binary("fsub", scalar, &new, &old, operand)?,
            RmwOp::FMax | RmwOp::FMin => {
                let name = if op == RmwOp::FMax { "max" } else { "min" };
                let ty = self.float_type(scalar)?;
                self.row(format!("{name}.{ty}"), &[&new, &old, operand]);
            }
            RmwOp::USubCond | RmwOp::USubSat => {
                let (less, difference) = (self.temporary(), self.temporary());
                self.compare("ult", scalar, &less, &old, operand)?;
                self.binary("sub", scalar, &difference, &old, operand)?;
                let otherwise = if op == RmwOp::USubCond { &old } else { &CellValue::Number(0) };
                self.select(scalar, &new, otherwise, &difference, &less)?;
            }
            RmwOp::Xchg
            | RmwOp::Add
            | RmwOp::Sub
            | RmwOp::And
            | RmwOp::Or
            | RmwOp::Xor
            | RmwOp::Max
            | RmwOp::Min
            | RmwOp::UMax
            | RmwOp::UMin
            | RmwOp::UIncWrap
            | RmwOp::UDecWrap => return self.no("this `atomicrmw` is one instruction"),
        }
        let (found, other) = (self.temporary(), self.temporary());
        self.row(format!("cmpxchg.{order}.relaxed.{scope}.{ty}"), &[&found, at, &old, &new]);
        let bits = self.container(scalar)?;
        self.row(format!("setp.ne.u{bits}"), &[&other, &found, &old]);
        self.row(format!("mov.b{bits}"), &[&old, &found]);
        self.row_when(&other, "bra", &[&again]);
        Ok(())
    }

    /// The register of a scalar result, or the sign for no result.
    fn result_or_none(&self, result: Option<&'a str>) -> WrittenArg {
        let part = result.and_then(|name| self.values.get(name)?.parts.first());
        part.map_or(NONE.operand(), |(_, cell)| cell.operand())
    }

    fn compare_exchange(
        &mut self,
        access: &Access<'a>,
        at: &WrittenArg,
        strength: &str,
        operands: &[Value<'a>],
        result: Option<&'a str>,
    ) -> LoweringResult<()> {
        let scalar = access.ty.scalar;
        let (ty, _) = self.width(scalar)?;
        let any = access.ty.any();
        let expected = self.one(&any, &operands[0])?;
        let value = self.one(&any, &operands[1])?;
        if access.kind_is_weak() {
            self.note("a `cmpxchg weak` is treated as one that never fails spuriously".to_owned());
        }
        let parts = result.map(|name| self.values[name].parts.clone()).unwrap_or_default();
        let old = self.result_or_none(result);
        self.row(format!("cmpxchg{strength}.{ty}"), &[&old, at, &expected, &value]);
        if let [(_, old), (_, success), ..] = &parts[..] {
            self.compare("eq", scalar, success, old, &expected)?;
        }
        Ok(())
    }

    /// A load or store of a local variable that is kept in a register.
    fn slot(
        &mut self,
        name: &'a str,
        access: &Access<'a>,
        operands: &[Value<'a>],
        result: Option<&'a str>,
    ) -> LoweringResult<()> {
        let held = self.values[name].parts[0].1.clone();
        match (operands.first(), result) {
            (Some(value), _) => {
                let cell = self.one(&access.ty.any(), value)?;
                self.mov(access.ty.scalar, &held, &cell)
            }
            (None, Some(result)) => {
                let to = self.values[result].parts[0].1.clone();
                self.mov(access.ty.scalar, &to, &held)
            }
            (None, None) => Ok(()),
        }
    }

    /// The local variable that a plain load or store accesses; `None` for any other instruction.
    pub(super) fn slot_of(&self, step: &InstructionKind<'a>) -> Option<&'a str> {
        let InstructionKind::Memory(Operation::Access(access), values) = step else { return None };
        let (Value::Local(name), false) = (values.first()?, access.volatile) else { return None };
        let plain =
            matches!(access.kind, MemoryOp::Load | MemoryOp::Store) && access.ty.lanes.is_none();
        let itself = values[1..].contains(&values[0]);
        let same = self.made(name).is_some_and(|step| {
            matches!(step, InstructionKind::Alloca { ty, count: None } if ty.loaded() == Some(access.ty))
        });
        (plain && same && !itself).then_some(name)
    }

    pub(super) fn alloca(
        &mut self,
        instruction: &'m TypedInstruction<'a>,
        ty: &Ty,
        count: Option<&Typed<'a>>,
        first: bool,
    ) -> LoweringResult<()> {
        let Some(name) = instruction.result else { return Ok(()) };
        if self.slots.contains(name) {
            return Ok(());
        }
        if !first {
            return self.no("a local variable allocated after the first block is not supported");
        }
        let count = match count {
            None => Some(1),
            Some((_, Value::Literal(text))) => {
                text.parse::<u64>().ok().filter(|n| (1..=MOST).contains(n))
            }
            Some(_) => None,
        };
        let stride = ty.stride(&self.module.types);
        let bytes =
            count.zip(stride).and_then(|(n, stride)| u32::try_from(n.checked_mul(stride)?).ok());
        let Some(bytes) = bytes.filter(|bytes| *bytes > 0) else {
            return self.no("the size of this local variable is not supported");
        };
        let variable = self.fresh(&format!("local_{name}"));
        self.variable(FunctionVariable {
            name: variable.clone(),
            space: Space::Local,
            bytes,
            ..FunctionVariable::default()
        });
        if let (_, CellValue::Register(register)) = self.values[name].parts[0].clone() {
            self.entry(&register, EntryValue::Address(variable));
        }
        Ok(())
    }
}

impl Access<'_> {
    fn kind_is_weak(&self) -> bool {
        matches!(self.kind, MemoryOp::CmpXchg { weak: true, .. })
    }
}
