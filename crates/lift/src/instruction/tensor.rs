//! Copies of tensors, tensormaps, and the fences of the tensormap proxy.

use model::isa::asynchronous::{Asynchronous, Copy, TensorCopy, TensormapFence, TensormapWrite};
use model::isa::{Address, Instruction, SpaceQualifier, Type};
use model::memory::TENSORMAP_BYTES;
use model::scope::Scope;

use super::asynchronous::{Read, atomic_op, one, scope_of, space, space_of};
use super::{InstructionReader, plan};
use crate::cell::{Arg, InstructionCell, WrittenBase};
use crate::draft::PointsTo;

/// The name by which a condition asks for the first 4 bytes that a copy reads of its tensormap.
const DESCRIPTOR: &str = "descriptor";

impl<'a> InstructionReader<'_> {
    /// `cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes [s], [t, {i}], [b]`, and the copies in
    /// the other direction.
    pub(super) fn tensor_copy(&mut self, cell: &InstructionCell<'a>, parts: &[&str]) -> Read {
        let args = self.args(cell)?;
        let mut spaces = parts.iter().filter_map(|part| space(part));
        let (to_space, from_space) = (spaces.next()?, spaces.next()?);
        let loads = from_space == SpaceQualifier::Global;
        let (map_at, memory_at) = if loads { (1, 0) } else { (0, 1) };
        let map_arg = args.get(map_at)?;
        let map = self.tensormap_at(cell, map_arg, SpaceQualifier::Generic)?;
        let memory_space = if loads { to_space } else { from_space };
        let memory = self.touched(cell, args.get(memory_at)?, memory_space, 4, 4)?;
        let mbarrier = match args.get(2).filter(|_| loads) {
            Some(object) => Some(self.object(cell, object, to_space)?),
            None => None,
        };
        let offsets = usize::from(parts.iter().any(|part| part.starts_with("im2col")));
        let multicast = parts.iter().any(|part| part.starts_with("multicast::cluster"));
        let multicast = match args.get(3 + offsets).filter(|_| multicast) {
            Some(mask) => Some(self.sized(mask, plan::bits(16))?),
            None => None,
        };
        let reduction = if parts[1] == "reduce" {
            let op = parts.iter().find_map(|part| atomic_op(part));
            let (Some(op), Some(ty)) = (op, self.element_of(map_arg)) else {
                self.later(cell, "reductions of tensors whose type is not known");
                return Some(None);
            };
            Some((op, ty))
        } else {
            None
        };
        let register = self.register(DESCRIPTOR, map_arg.at());
        let thread = self.draft.thread(self.thread);
        thread.write(register, 32);
        thread.draft(register).given(None);
        let (to, from) = if loads { (memory, map) } else { (map, memory) };
        one(Asynchronous::Copy(Copy {
            bulk: true,
            to,
            to_space,
            from,
            from_space,
            bytes: None,
            tensor: Some(TensorCopy { map, descriptor: Some(register) }),
            source_bytes: None,
            ignores_source: None,
            mbarrier,
            multicast,
            // Reductions of tensors are relaxed at the scope of the GPU.
            scope: reduction.map(|_| Scope::Gpu),
            reduction,
            byte_mask: None,
            multimem: false,
        }))
    }

    /// The type of the elements of the tensor whose map is given by name, or by a register that holds its address.
    fn element_of(&mut self, map: &Arg<'a>) -> Option<Type> {
        let Arg::Address(written, _) = map else { return None };
        let WrittenBase::Name(name, at) = written.base else { return None };
        let variable = self.draft.known_variable(name).or_else(|| {
            let register = self.register(name, at);
            match self.draft.thread(self.thread).draft(register).points_to {
                PointsTo::Variable(variable) => Some(variable),
                PointsTo::Nothing | PointsTo::Unknown => None,
            }
        })?;
        let (tensor, _) = self.draft.variable(variable).tensormap?;
        match crate::program::element(self.draft, tensor) {
            4 => Some(Type::U32),
            8 => Some(Type::U64),
            _ => None,
        }
    }

    /// `tensormap.replace`, `tensormap.cp_fenceproxy`.
    pub(super) fn tensormap(&mut self, cell: &InstructionCell<'a>, parts: &[&str]) -> Read {
        let args = self.args(cell)?;
        if parts.get(1) == Some(&"replace") {
            let space = space_of(parts);
            let map = self.tensormap_at(cell, args.first()?, space)?;
            let value = self.operand(args.last()?)?;
            return one(Asynchronous::Tensormap(TensormapWrite::Replace { map, space, value }));
        }
        if parts.get(1) != Some(&"cp_fenceproxy") {
            self.later(cell, "this operation on tensormaps");
            return Some(None);
        }
        let to = self.tensormap_at(cell, args.first()?, SpaceQualifier::Global)?;
        let from = self.tensormap_at(cell, args.get(1)?, SpaceQualifier::SharedCta)?;
        let scope = scope_of(parts)?;
        one(Asynchronous::Tensormap(TensormapWrite::CopyFence { to, from, scope }))
    }

    /// `fence.proxy.tensormap::generic.release.gpu`, `fence.proxy.tensormap::generic.acquire.gpu [t], 128`.
    pub(super) fn tensormap_fence(
        &mut self,
        cell: &InstructionCell<'a>,
        parts: &[&str],
    ) -> Option<Instruction> {
        if !self.is_written_as_produced(cell, parts) {
            return None;
        }
        let args = self.args(cell)?;
        let scope = scope_of(parts)?;
        let acquires = match &args[..] {
            [] if parts.contains(&"release") => None,
            [map, size] if parts.contains(&"acquire") => {
                if !matches!(size, Arg::Number(bytes, _) if *bytes == TENSORMAP_BYTES.into()) {
                    self.report
                        .error("fence-size", size.at(), "the size of a tensormap is 128 bytes")
                        .section(model::section::MEMBAR)
                        .help("128");
                    return None;
                }
                Some(self.tensormap_at(cell, map, SpaceQualifier::Generic)?)
            }
            _ => {
                let expected = if parts.contains(&"release") { "" } else { "[t], 128" };
                self.count(cell, &args, expected);
                return None;
            }
        };
        let fence = TensormapFence { scope, acquires };
        Some(Instruction::Asynchronous(Asynchronous::TensormapFence(fence)))
    }

    fn tensormap_at(
        &mut self,
        cell: &InstructionCell<'a>,
        arg: &Arg<'a>,
        space: SpaceQualifier,
    ) -> Option<Address> {
        self.touched(cell, arg, space, 4, TENSORMAP_BYTES / 4)
    }
}
