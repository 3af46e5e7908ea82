//! `tcgen05`: operations on tensor memory.
//!
//! What distinguishes the lanes is left out: shapes, multicasts to warps, masks of lanes. A load or store has one column
//! for each register, and every other operand is one column.

use model::isa::asynchronous::Asynchronous;
use model::isa::reach::TENSOR;
use model::isa::tensor_memory::{
    CtaGroup, KINDS, TensorFence, TensorMultiply, TensorOp, TensorWait,
};
use model::isa::{Address, Operand, Reg, SpaceQualifier};
use model::memory::TENSOR_COLUMN_BYTES;

use super::InstructionReader;
use super::asynchronous::{Read, one, space_of};
use crate::cell::{Arg, InstructionCell};
use crate::draft::DraftAccess;

/// Forms that change what is loaded or stored.
const CHANGED: [&str; 5] = ["red", "spcompress", "pack::16b", "unpack::16b", "16x32bx2"];

impl<'a> InstructionReader<'_> {
    pub(super) fn tensor_memory(&mut self, cell: &InstructionCell<'a>, parts: &[&str]) -> Read {
        let op = match parts.get(1).copied().unwrap_or_default() {
            "ld" | "st" if parts.iter().any(|part| CHANGED.contains(part)) => {
                self.later(cell, "this form changes or compresses what it loads or stores");
                return Some(None);
            }
            "ld" => self.tensor_load(cell)?,
            "st" => self.tensor_store(cell)?,
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
                    Some(mask) => Some(self.operand(mask)?),
                    None => None,
                };
                TensorOp::Commit { object, space, group: group(parts), multicast }
            }
            // It has no events.
            "relinquish_alloc_permit" => return Some(None),
            _ => {
                self.later(cell, "the initial state declares tensor memory: `.tmem c[4];`");
                return Some(None);
            }
        };
        one(Asynchronous::TensorMemory(op))
    }

    /// `tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0, r1}, [c]`.
    fn tensor_load(&mut self, cell: &InstructionCell<'a>) -> Option<TensorOp> {
        let args = self.args(cell)?;
        let (Some(to), Some(from)) = (args.first(), args.get(1)) else {
            self.count(cell, &args, "{r0}, [c]");
            return None;
        };
        let destinations = to
            .elements()
            .iter()
            .map(|element| self.plain_destination(element, 32).ok())
            .collect::<Option<Vec<Option<Reg>>>>()?;
        let from = self.columns(cell, from, destinations.len())?;
        Some(TensorOp::Load { from, destinations })
    }

    /// `tcgen05.st.sync.aligned.32x32b.x1.b32 [c], {r0}`.
    fn tensor_store(&mut self, cell: &InstructionCell<'a>) -> Option<TensorOp> {
        let args = self.args(cell)?;
        let (Some(to), Some(from)) = (args.first(), args.get(1)) else {
            self.count(cell, &args, "[c], {r0}");
            return None;
        };
        let sources = from
            .elements()
            .iter()
            .map(|element| self.operand(element))
            .collect::<Option<Vec<Operand>>>()?;
        let to = self.columns(cell, to, sources.len())?;
        Some(TensorOp::Store { to, sources })
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
                Arg::Name(..) | Arg::Number(..) | Arg::Negated(..) => values.push(arg),
            }
        }
        let (Some(&shape), Some(&input)) = (values.first(), values.get(1)) else {
            self.count(cell, &args, "[d], a, b, i, p");
            return None;
        };
        let shape = self.operand(shape)?;
        let accumulates = match *input {
            Arg::Negated(name, at) => (Operand::Reg(self.register(name, at)), true),
            Arg::Name(..) | Arg::Number(..) | Arg::Address(..) | Arg::Vector(..) => {
                (self.operand(input)?, false)
            }
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
        self.draft.thread(self.thread).accesses.push(DraftAccess {
            base: address.base,
            offset: address.offset * i64::from(TENSOR_COLUMN_BYTES),
            scalar: TENSOR_COLUMN_BYTES,
            elements: u32::try_from(columns).unwrap_or(u32::MAX).max(1),
            align: TENSOR_COLUMN_BYTES,
            space: SpaceQualifier::Tensor,
            reach: TENSOR,
            at: arg.at(),
            space_at: cell.part_at(0),
        });
        Some(address)
    }
}

fn group(parts: &[&str]) -> CtaGroup {
    if parts.contains(&"cta_group::2") { CtaGroup::Two } else { CtaGroup::One }
}
