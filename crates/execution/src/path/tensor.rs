//! Tensormaps as events of a path: reads through their proxy by copies, writes through the generic one, and fences.

use super::address::AddressUse;
use super::state::{ComputedAddress, PathState, scope_tag};
use super::{Next, UnfoldLimit, Walk};
use crate::event::{Access, EventKind, FenceCoverage, Mask, Tags};
use crate::expr::{Expr, ExprId};
use crate::path::MAX_EVENTS;
use model::given::Tag;
use model::isa::alu::AluOp;
use model::isa::asynchronous::{TensorCopy, TensormapFence, TensormapWrite};
use model::isa::{Address, SpaceQualifier, Type, TypeKind};
use model::memory::{Extent, TENSORMAP_BYTES};
use model::scope::Scope;

/// The bytes of one event.
const CHUNK: u32 = 16;

/// The type of the bytes of one event.
const WIDE: Type = Type { kind: TypeKind::Bits, bits: 128 };

/// The reason where a copy of a tensor finds no tensormap at its address.
const NO_TENSORMAP: &str = "no tensormap at this address";

/// A tensormap and its tensor, as a copy accesses them.
pub(super) struct Tensor {
    /// The parts of the tensormap.
    pub(super) map: Vec<Access>,
    /// The parts of the tensor.
    pub(super) parts: Vec<Access>,
    /// How the address of the tensormap is computed.
    pub(super) at: ComputedAddress,
}

impl Tensor {
    /// The length of the tensor.
    pub(super) fn bytes(&self) -> u32 {
        self.parts.iter().map(|part| part.va.length).sum()
    }
}

impl Walk<'_> {
    /// `None` when the path has ended.
    pub(super) fn tensor(&mut self, state: &mut PathState, of: TensorCopy) -> Option<Tensor> {
        let (map, at) = self.tensormap(state, of.map, SpaceQualifier::Generic, false)?;
        let object = &self.layout.virtuals[usize::from(map[0].va.object)];
        let tensor = self.program.variables[usize::from(object.variable.0)].tensormap;
        let Some(tensor) = tensor.filter(|_| map[0].va.start == 0) else {
            self.stop(state, NO_TENSORMAP);
            return None;
        };
        let object = self.layout.object(tensor, self.thread);
        let length = self.layout.virtuals[usize::from(object)].extent;
        let parts = (0..length / CHUNK).map(|part| {
            let va = Extent { object, start: part * CHUNK, length: CHUNK };
            Access { va, pa: self.layout.physical(va) }
        });
        Some(Tensor { map, parts: parts.collect(), at })
    }

    fn tensormap(
        &mut self,
        state: &mut PathState,
        address: Address,
        space: SpaceQualifier,
        writes: bool,
    ) -> Option<(Vec<Access>, ComputedAddress)> {
        self.address(state, address, &AddressUse::of_copy(space, TENSORMAP_BYTES, writes))
    }

    pub(super) fn tensormap_fence(
        &mut self,
        state: &mut PathState,
        fence: TensormapFence,
        guard: Mask,
    ) -> Option<()> {
        let Some(address) = fence.acquires else {
            release(state, fence.scope, guard);
            return Some(());
        };
        let (map, at) = self.tensormap(state, address, SpaceQualifier::Generic, false)?;
        let tags = [Tag::All, Tag::Fence, Tag::FenceAcquire, Tag::TensormapAcquire];
        state.push(EventKind::Fence, Tags::of(&tags).with(scope_tag(fence.scope)), guard);
        let event = state.last();
        event.covers = FenceCoverage::Bytes(Extent { length: TENSORMAP_BYTES, ..map[0].pa });
        event.addr = at.taint;
        Some(())
    }

    pub(super) fn tensormap_write(
        &mut self,
        state: &mut PathState,
        write: TensormapWrite,
        guard: Mask,
    ) -> Result<(), Next> {
        let (to, from) = match write {
            TensormapWrite::Replace { map, space, .. } => ((map, space), (map, space)),
            TensormapWrite::CopyFence { to, from, .. } => {
                ((to, SpaceQualifier::Global), (from, SpaceQualifier::SharedCta))
            }
        };
        let (to, to_at) = self.tensormap(state, to.0, to.1, true).ok_or(Next::Stop)?;
        let (from, from_at) = self.tensormap(state, from.0, from.1, false).ok_or(Next::Stop)?;
        if state.events.len() + to.len() + from.len() + 1 > MAX_EVENTS {
            return Err(Next::Limit(UnfoldLimit::Events));
        }
        let mut values: Vec<(ExprId, Mask)> = Vec::new();
        for access in from {
            let tags = Tags::of(&[Tag::All, Tag::Read, Tag::Generic]);
            let read = state.push(EventKind::Read, tags, guard);
            state.last().locate(access, from_at);
            values.push((state.exprs.intern(Expr::Read(read)), 1 << read));
        }
        if let TensormapWrite::Replace { value, .. } = write {
            let (field, taint) = self.operand(state, value);
            let low = state.exprs.constant(u32::MAX.into());
            let high = state.exprs.constant(!u128::from(u32::MAX));
            let (old, read) = values[0];
            let kept = state.exprs.alu(AluOp::And, WIDE, &[old, high]);
            let new = state.exprs.alu(AluOp::And, WIDE, &[field, low]);
            values[0] = (state.exprs.alu(AluOp::Or, WIDE, &[kept, new]), read | taint);
        }
        for (access, (value, data)) in to.into_iter().zip(values) {
            let tags = Tags::of(&[Tag::All, Tag::Write, Tag::Generic]);
            state.push(EventKind::Write, tags, guard);
            let event = state.last();
            event.locate(access, to_at);
            event.data = data;
            event.value = Some(value);
        }
        if let TensormapWrite::CopyFence { scope, .. } = write {
            release(state, scope, guard);
        }
        Ok(())
    }
}

fn release(state: &mut PathState, scope: Scope, guard: Mask) {
    let tags = [Tag::All, Tag::Fence, Tag::FenceRelease, Tag::TensormapRelease];
    state.push(EventKind::Fence, Tags::of(&tags).with(scope_tag(scope)), guard);
}
