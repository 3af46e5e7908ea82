//! `tcgen05`: operations on tensor memory.
//!
//! What distinguishes the lanes is left out: shapes, multicasts to warps, masks of lanes. A load or store has one column
//! for each register, and every other operand is one column.

use model::isa::asynchronous::Asynchronous;
use model::isa::reach::TENSOR;
use model::isa::tensor_memory::{
    ColumnLayout, ColumnReduction, CtaGroup, KINDS, TensorFence, TensorMultiply, TensorOp,
    TensorWait,
};
use model::isa::{Address, Operand, Reg, SpaceQualifier, Type};
use model::memory::TENSOR_COLUMN_BYTES;

use super::asynchronous::{Read, one, space_of};
use super::{InstructionReader, lanes, plan};
use crate::cell::{Arg, InstructionCell};
use crate::draft::DraftAccess;
use text::report::ByteSpan;

impl<'a> InstructionReader<'_> {
    pub(super) fn tensor_memory(&mut self, cell: &InstructionCell<'a>, parts: &[&str]) -> Read {
        let op = match parts.get(1).copied().unwrap_or_default() {
            "ld" if parts.contains(&"spcompress") => {
                self.later(cell, "loads that leave elements out");
                return Some(None);
            }
            "ld" => self.tensor_load(cell, parts)?,
            "st" => self.tensor_store(cell, parts)?,
            "wait::ld" => TensorOp::Wait(TensorWait::Loads),
            "wait::st" => TensorOp::Wait(TensorWait::Stores),
            "fence::before_thread_sync" => TensorOp::Fence(TensorFence::Before),
            "fence::after_thread_sync" => TensorOp::Fence(TensorFence::After),
            "cp" => {
                let args = self.args(cell)?;
                let (Some(to), Some(from)) = (args.first(), args.get(1)) else {
                    self.count(cell, &args, "[c], d");
                    return None;
                };
                let to = self.columns(cell, to, 1)?;
                let from = self.descriptor(cell, from)?;
                let narrow = parts.contains(&"4x256b");
                TensorOp::Copy { to, from, group: group(parts), narrow }
            }
            "shift" => {
                let args = self.args(cell)?;
                TensorOp::Shift { at: self.columns(cell, args.first()?, 1)?, group: group(parts) }
            }
            "mma" => {
                let kind = parts.iter().find_map(|part| part.strip_prefix("kind::"));
                let known = KINDS.into_iter().find(|known| kind == Some(*known));
                let Some(kind) = known else {
                    self.later(cell, "multiplications without a kind");
                    return Some(None);
                };
                TensorOp::Multiply(self.tensor_multiply(cell, kind, group(parts))?)
            }
            "commit" => {
                let args = self.args(cell)?;
                let space = space_of(parts);
                let object = self.object(cell, args.first()?, space)?;
                let multicast = match args.get(1) {
                    Some(mask) => Some(self.sized(mask, plan::bits(16))?),
                    None => None,
                };
                TensorOp::Commit { object, space, group: group(parts), multicast }
            }
            "alloc" => match self.allocation(cell, parts) {
                Some(op) => op,
                None => return Some(None),
            },
            "dealloc" => {
                let args = self.args(cell)?;
                let (Some(at), Some(columns)) = (args.first(), args.get(1)) else {
                    self.count(cell, &args, "r0, 32");
                    return None;
                };
                let place = at.at();
                let Operand::Reg(base) = self.operand(at)? else {
                    self.later(cell, "an address that is in no register: put it there, `P0:r0=c;`");
                    return Some(None);
                };
                let at = Address { base: Operand::Reg(base), offset: 0 };
                self.touch_columns(cell, at, place, 1);
                TensorOp::Deallocate { at, columns: self.sized(columns, Type::U32)? }
            }
            "relinquish_alloc_permit" => TensorOp::Relinquish,
            _ => {
                self.later(cell, "operations on tensor memory of this kind");
                return Some(None);
            }
        };
        one(Asynchronous::TensorMemory(op))
    }

    /// `tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32`.
    fn allocation(&mut self, cell: &InstructionCell<'a>, parts: &[&str]) -> Option<TensorOp> {
        let args = self.args(cell)?;
        let (Some(to), Some(columns)) = (args.first(), args.get(1)) else {
            self.count(cell, &args, "[s], 32");
            return None;
        };
        let space = space_of(parts);
        let to = self.in_shared(cell, to, space, TENSOR_COLUMN_BYTES)?;
        let Arg::Number(columns, _) = *columns else {
            self.later(cell, "a number of columns that a register gives: write the number");
            return None;
        };
        // The productions have the numbers that there are.
        let columns = u32::try_from(columns).ok()?;
        Some(TensorOp::Allocate { to, space, columns })
    }

    /// `tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0, r1}, [c]`, and with `.red` a register more.
    fn tensor_load(&mut self, cell: &InstructionCell<'a>, parts: &[&str]) -> Option<TensorOp> {
        let args = self.args(cell)?;
        let reduces = parts.contains(&"red");
        let (to, result, rest) = match &args[..] {
            [to, result, rest @ ..] if reduces => (to, Some(result), rest),
            [to, rest @ ..] if !reduces => (to, None, rest),
            _ => (args.first()?, None, &[][..]),
        };
        let Some(from) = rest.first() else {
            self.count(cell, &args, form(parts));
            return None;
        };
        let layout = self.layout(cell, parts, &args, rest.get(1))?;
        let destinations = to
            .elements()
            .iter()
            .map(|element| self.plain_destination(element, 32).ok())
            .collect::<Option<Vec<Option<Reg>>>>()?;
        let from = self.halves(cell, from, layout, destinations.len())?;
        let reduction = match result {
            Some(result) => {
                let (ty, modifiers) = parts.split_last()?;
                let op = modifiers.iter().find(|part| matches!(**part, "min" | "max"))?;
                let op = lanes::reduction(op, modifiers, ty)?;
                let result = self.plain_destination(result, 32).ok()?;
                Some(ColumnReduction { op, result })
            }
            None => None,
        };
        Some(TensorOp::Load { from, layout, reduction, destinations })
    }

    /// `tcgen05.st.sync.aligned.32x32b.x1.b32 [c], {r0}`.
    fn tensor_store(&mut self, cell: &InstructionCell<'a>, parts: &[&str]) -> Option<TensorOp> {
        let args = self.args(cell)?;
        let (Some(to), Some(from)) = (args.first(), args.last().filter(|_| args.len() > 1)) else {
            self.count(cell, &args, form(parts));
            return None;
        };
        let layout = self.layout(cell, parts, &args, args.get(1))?;
        let sources = from
            .elements()
            .iter()
            .map(|element| self.sized(element, Type::U32))
            .collect::<Option<Vec<Operand>>>()?;
        let to = self.halves(cell, to, layout, sources.len())?;
        Some(TensorOp::Store { to, layout, sources })
    }

    /// Which columns the registers are; the number after the address is that of the second half of the lanes.
    fn layout(
        &mut self,
        cell: &InstructionCell<'a>,
        parts: &[&str],
        args: &[Arg<'a>],
        second: Option<&Arg<'a>>,
    ) -> Option<ColumnLayout> {
        let has = |word: &str| parts.contains(&word);
        let halves = has("pack::16b") || has("unpack::16b");
        let count = 2 + usize::from(has("red")) + usize::from(has("16x32bx2"));
        let second = match second {
            _ if !has("16x32bx2") => None,
            Some(&Arg::Number(columns, at)) => Some(self.offset(columns, at)?),
            Some(_) | None => {
                self.count(cell, args, form(parts));
                return None;
            }
        };
        if args.len() != count {
            self.count(cell, args, form(parts));
            return None;
        }
        Some(ColumnLayout { halves, second })
    }

    /// A number of columns between two addresses.
    fn offset(&mut self, columns: u64, at: ByteSpan) -> Option<i64> {
        let columns = columns.cast_signed();
        if i32::try_from(columns).is_err() {
            let message = "an offset has 32 bits, and tensor memory 512 columns";
            self.report.error("offset", at, message).help("2");
            return None;
        }
        Some(columns)
    }

    /// The address of a load or store of this many registers, whose columns are recorded.
    fn halves(
        &mut self,
        cell: &InstructionCell<'a>,
        arg: &Arg<'a>,
        layout: ColumnLayout,
        registers: usize,
    ) -> Option<Address> {
        let count = layout.columns(registers);
        let address = self.columns(cell, arg, count)?;
        if let Some(distance) = layout.second {
            let second = Address { offset: address.offset + distance, ..address };
            self.touch_columns(cell, second, arg.at(), count);
        }
        Some(address)
    }

    /// `tcgen05.mma.cta_group::1.kind::f16 [d], a, b, i, p`.
    fn tensor_multiply(
        &mut self,
        cell: &InstructionCell<'a>,
        kind: &'static str,
        group: CtaGroup,
    ) -> Option<TensorMultiply> {
        let args = self.args(cell)?;
        let [accumulator, first, second, rest @ ..] = &args[..] else {
            self.count(cell, &args, "[d], a, b, i, p");
            return None;
        };
        let accumulator = self.columns(cell, accumulator, 1)?;
        let (mut shared, mut tensor) = (Vec::new(), Vec::new());
        let first_in_tensor = matches!(first, Arg::Address(..));
        if first_in_tensor {
            tensor.push(self.columns(cell, first, 1)?);
        } else {
            shared.push(self.descriptor(cell, first)?);
        }
        shared.push(self.descriptor(cell, second)?);
        // Scales and metadata are in tensor memory; masks of lanes are vectors.
        let mut values = Vec::new();
        for arg in rest {
            match arg {
                Arg::Address(..) => tensor.push(self.columns(cell, arg, 1)?),
                Arg::Vector(..) => {}
                Arg::Name(..) | Arg::Number(..) | Arg::Negated(..) | Arg::Joined(..) => {
                    values.push(arg);
                }
            }
        }
        let (Some(&shape), Some(&input)) = (values.first(), values.get(1)) else {
            self.count(cell, &args, "[d], a, b, i, p");
            return None;
        };
        let shape = self.sized(shape, Type::U32)?;
        let accumulates = match *input {
            Arg::Negated(name, at) => (Operand::Reg(self.register(name, at)), true),
            Arg::Name(..)
            | Arg::Number(..)
            | Arg::Address(..)
            | Arg::Vector(..)
            | Arg::Joined(..) => (self.operand(input)?, false),
        };
        Some(TensorMultiply {
            accumulator,
            shared,
            tensor,
            first_in_tensor,
            kind,
            shape,
            accumulates,
            group,
        })
    }

    /// The descriptor of a matrix in shared memory: a register that holds its address.
    fn descriptor(&mut self, cell: &InstructionCell<'a>, arg: &Arg<'a>) -> Option<Address> {
        if let Arg::Name(name, at) = *arg {
            return Some(self.register_address(cell, name, at));
        }
        self.report
            .error("operand", arg.at(), "the descriptor of a matrix is a register")
            .note("expected a register")
            .help("put its address there: P0:d=s;")
            .section(model::section::of_parts(&["tcgen05", cell.part(1)]));
        None
    }

    /// The address of columns in tensor memory, which counts columns.
    fn columns(
        &mut self,
        cell: &InstructionCell<'a>,
        arg: &Arg<'a>,
        columns: usize,
    ) -> Option<Address> {
        let address = self.address(cell, arg)?;
        self.touch_columns(cell, address, arg.at(), columns);
        Some(address)
    }

    /// Records an access of columns.
    fn touch_columns(
        &mut self,
        cell: &InstructionCell<'a>,
        address: Address,
        at: ByteSpan,
        columns: usize,
    ) {
        self.draft.thread(self.thread).accesses.push(DraftAccess {
            base: address.base,
            offset: address.offset.saturating_mul(TENSOR_COLUMN_BYTES.into()),
            scalar: TENSOR_COLUMN_BYTES,
            elements: u32::try_from(columns).unwrap_or(u32::MAX).max(1),
            align: TENSOR_COLUMN_BYTES,
            may_be_none: false,
            space: SpaceQualifier::Tensor,
            reach: TENSOR,
            at,
            space_at: cell.part_at(0),
        });
    }
}

/// The operands of a load or store.
fn form(parts: &[&str]) -> &'static str {
    let has = |word: &str| parts.contains(&word);
    match (has("st"), has("red"), has("16x32bx2")) {
        (true, _, true) => "[c], 2, {r0}",
        (true, _, false) => "[c], {r0}",
        (false, true, true) => "{r0, r1}, r2, [c], 2",
        (false, true, false) => "{r0, r1}, r2, [c]",
        (false, false, true) => "{r0}, [c], 2",
        (false, false, false) => "{r0}, [c]",
    }
}

fn group(parts: &[&str]) -> CtaGroup {
    if parts.contains(&"cta_group::2") { CtaGroup::Two } else { CtaGroup::One }
}
