//! Loads, stores and atomics as events of a path.

use super::private::narrowed;
use super::state::{ComputedAddress, PathState, cas_succeeds, proxy_tag, scope_tag};
use super::{Assumption, Walk};
use crate::event::{Access, EventKind, Mask, PathEvent, Tags};
use crate::expr::{Expr, ExprId};
use model::given::Tag;
use model::isa::Type;
use model::isa::alu::AluOp;
use model::isa::atom::{Atomic, AtomicOp, AtomicOrder};
use model::isa::cxx::{Cxx, Failure};
use model::isa::ld::{Load, LoadOrder};
use model::isa::st::{Store, StoreOrder};
use model::memory::{Extent, Proxy, Space};
use model::reading::FailedCas;
use model::scope::Scope;
use model::value::low_bits;

impl Walk<'_> {
    pub(super) fn load(
        &self,
        state: &mut PathState,
        load: &Load,
        accesses: Vec<Access>,
        at: ComputedAddress,
        guard: Mask,
    ) {
        let tags = load_tags(load.order, load.proxy).and(cxx_tags(load.cxx));
        let element = accesses.len() > 1;
        for (access, destination) in accesses.into_iter().zip(&load.destinations) {
            // A sink reads nothing.
            let Some(destination) = destination else { continue };
            if self.is_private(access) {
                let (raw, taint) = self.private_load(state, access, tags);
                let value = state.exprs.extend_signed(load.ty, raw);
                state.set(*destination, value, taint | at.taint | guard);
                continue;
            }
            let index = state.push(EventKind::Read, tags, guard);
            let event = state.last();
            event.locate(access, at);
            event.element = element;
            let (raw, more) = self.last_own(state, access.pa).unwrap_or_else(|| {
                let raw = state.exprs.intern(Expr::Read(index));
                (raw, 0)
            });
            let value = state.exprs.extend_signed(load.ty, raw);
            state.set(*destination, value, 1 << index | more);
        }
    }

    /// What the thread has written last to bytes that no other thread writes, and what that depends on: a read returns it
    /// (8.10.1). Not where only real dependencies count: what depends on the read would come to depend on nothing.
    fn last_own(&self, state: &mut PathState, bytes: Extent) -> Option<(ExprId, Mask)> {
        let alone = self.live.is_own(bytes) || self.facts.written.are_of_alone(self.thread, bytes);
        if self.conventions.semantic_dependencies || !alone {
            return None;
        }
        let here = |of: &&PathEvent| of.access.is_some_and(|of| of.pa == bytes);
        let last = state.events.iter().rfind(|of| of.value.is_some() && here(of))?;
        let (value, taint) = (last.value?, last.data | last.addr | last.ctrl);
        Some((narrowed(state, value, bytes.length), taint))
    }

    pub(super) fn store(
        &self,
        state: &mut PathState,
        store: &Store,
        accesses: Vec<Access>,
        at: ComputedAddress,
        guard: Mask,
    ) {
        let tags = store_tags(store.order, store.proxy).and(cxx_tags(store.cxx));
        let element = accesses.len() > 1;
        for (access, &source) in accesses.into_iter().zip(&store.sources) {
            let (value, data) = self.operand(state, source);
            if self.is_private(access) {
                let taint = data | at.taint | guard | state.ctrl;
                Self::private_store(state, access, tags, value, taint);
                continue;
            }
            // Whether threads that repeat a loop together see the write is decided where the loop comes back.
            if !self.live.is_own(access.pa) && self.loops.rounds.is_none() {
                state.heads.clear();
            }
            state.push(EventKind::Write, tags, guard);
            let event = state.last();
            event.locate(access, at);
            event.data = data;
            event.value = Some(value);
            event.element = element;
        }
    }

    pub(super) fn atomic(
        &mut self,
        state: &mut PathState,
        atomic: &Atomic,
        access: Access,
        at: ComputedAddress,
        guard: Mask,
    ) {
        if self.is_private(access) {
            self.private_atomic(state, atomic, access, at, guard);
            return;
        }
        let scope = scope_tag(atomic.scope);
        let extra = cxx_tags(atomic.cxx);
        let mut read_tags = Tags::of(&[Tag::All, Tag::Read, Tag::Atomic, Tag::Generic, scope]);
        if atomic.reduction {
            read_tags = read_tags.with(Tag::ReductionRead);
        }
        let (acquire, release) = atomic_orders(atomic.order);
        let operands: Vec<(ExprId, Mask)> =
            atomic.operands.iter().map(|&o| self.operand(state, o)).collect();
        let read = state.push(EventKind::Read, read_tags.with(acquire).and(extra), guard);
        let event = state.last();
        event.locate(access, at);
        let old = state.exprs.intern(Expr::Read(read));
        let seen = 1 << read;
        if let Some(destination) = atomic.destination {
            let value = state.exprs.extend_signed(atomic.ty, old);
            state.set(destination, value, seen);
        }
        let operand_taint = operands.iter().fold(0, |all, o| all | o.1);
        let value = if atomic.op == AtomicOp::Cas {
            let equal = cas_succeeds(state, atomic.ty, old, operands[0].0);
            let certain = self.decided(state, equal);
            let mut failed = state.clone();
            failed.decide(false, Some(Assumption::Truth(equal, false)));
            if let Some(failure) = atomic.cxx.failure {
                failed.events[usize::from(read)].tags = read_tags.and(failure_tags(failure));
            }
            // Reading R23.
            match self.conventions.failed_cas {
                FailedCas::Nothing => {}
                FailedCas::Releases => {
                    let tags = &mut failed.events[usize::from(read)].tags;
                    *tags = if release == Tag::Release { tags.with(release) } else { *tags };
                }
                FailedCas::Writes => {
                    failed.written_back(access, at, guard, old, seen | operand_taint, read);
                    failed.last().tags = write_tags(release, scope).with(Tag::Atomic).and(extra);
                    self.keep_heads(&mut failed);
                }
            }
            if certain == Some(false) {
                *state = failed;
                return;
            }
            failed.pc += 1;
            failed.step += 1;
            if certain.is_none() {
                self.pending.push(failed);
            }
            state.decide(true, Some(Assumption::Truth(equal, true)));
            // It has read what it compares with: a loop for a lock ends here.
            let expected = state.exprs.as_const(operands[0].0);
            if let (Some(destination), Some(expected)) = (atomic.destination, expected) {
                let expected = state.exprs.constant(expected & low_bits(atomic.ty.bits));
                let value = state.exprs.extend_signed(atomic.ty, expected);
                state.set(destination, value, seen);
            }
            operands[1].0
        } else {
            self.written_over(state, atomic.op, atomic.ty, access, old, operands[0].0)
        };
        // What is exchanged does not depend on what was there.
        let own = if atomic.op == AtomicOp::Exch { 0 } else { seen };
        let data = own | operand_taint;
        state.written_back(access, at, guard, value, data, read);
        state.last().tags = write_tags(release, scope).with(Tag::Atomic).and(extra);
        self.keep_heads(state);
    }

    /// What an atomic other than `cas` writes over `old`.
    pub(super) fn written_over(
        &self,
        state: &mut PathState,
        op: AtomicOp,
        ty: Type,
        access: Access,
        old: ExprId,
        operand: ExprId,
    ) -> ExprId {
        if op == AtomicOp::Exch {
            return operand;
        }
        // 9.7.15.5: sums of singles in global memory know no subnormal numbers, those in
        // shared memory do.
        let space = self.layout.virtuals[usize::from(access.va.object)].space;
        let flush = ty == Type::F32 && space == Space::Global;
        let flushed = |state: &mut PathState, value: ExprId| {
            if flush { state.exprs.alu(AluOp::Flush, ty, &[value]) } else { value }
        };
        let (old, operand) = (flushed(state, old), flushed(state, operand));
        let sum = state.exprs.atomic(op, ty, old, operand);
        flushed(state, sum)
    }

    /// After an atomic: whether it has changed anything is decided where the loop comes back.
    fn keep_heads(&self, state: &mut PathState) {
        if !self.conventions.silent_atomics {
            state.heads.clear();
        }
    }
}

pub(super) fn load_tags(order: LoadOrder, proxy: Proxy) -> Tags {
    let tags = Tags::of(&[Tag::All, Tag::Read, proxy_tag(proxy)]);
    let tags = match order {
        LoadOrder::Weak => tags,
        LoadOrder::NonCoherent => tags.with(Tag::NonCoherentRead),
        LoadOrder::Uniform => tags.with(Tag::UniformRead),
        LoadOrder::Readonly => tags.with(Tag::ReadonlyRead),
        LoadOrder::Volatile | LoadOrder::Relaxed(_) | LoadOrder::MmioRelaxed => {
            tags.with(Tag::Relaxed)
        }
        LoadOrder::Acquire(_) | LoadOrder::MmioAcquire => tags.with(Tag::Acquire),
    };
    order.scope().map_or(tags, |scope| tags.with(scope_tag(scope)))
}

pub(super) fn store_tags(order: StoreOrder, proxy: Proxy) -> Tags {
    let tags = Tags::of(&[Tag::All, Tag::Write, proxy_tag(proxy)]);
    let tags = match order {
        StoreOrder::Weak => tags,
        StoreOrder::Volatile | StoreOrder::Relaxed(_) | StoreOrder::MmioRelaxed => {
            tags.with(Tag::Relaxed)
        }
        StoreOrder::Release(_) | StoreOrder::MmioRelease => tags.with(Tag::Release),
    };
    order.scope().map_or(tags, |scope| tags.with(scope_tag(scope)))
}

/// The tags of the read and of the write of a reduction.
pub(super) fn reduction_tags(order: AtomicOrder, scope: Scope) -> (Tags, Tags) {
    let (scope, (acquire, release)) = (scope_tag(scope), atomic_orders(order));
    let read = [Tag::All, Tag::Read, Tag::Atomic, Tag::Generic, Tag::ReductionRead, scope, acquire];
    (Tags::of(&read), write_tags(release, scope).with(Tag::Atomic))
}

/// The order of the read, and that of the write.
fn atomic_orders(order: AtomicOrder) -> (Tag, Tag) {
    let acquire = if order.is_acquire() { Tag::Acquire } else { Tag::Relaxed };
    let release = if order.is_release() { Tag::Release } else { Tag::Relaxed };
    (acquire, release)
}

fn write_tags(order: Tag, scope: Tag) -> Tags {
    Tags::of(&[Tag::All, Tag::Write, Tag::Generic, order, scope])
}

fn cxx_tags(cxx: Cxx) -> Tags {
    let mut tags = Tags::default();
    if cxx.seq_cst {
        tags = tags.with(Tag::SeqCst);
    }
    if cxx.unordered {
        tags = tags.with(Tag::Unordered);
    }
    tags
}

fn failure_tags(failure: Failure) -> Tags {
    match failure {
        Failure::Relaxed => Tags::of(&[Tag::Relaxed]),
        Failure::Acquire => Tags::of(&[Tag::Acquire]),
        Failure::SeqCst => Tags::of(&[Tag::Acquire, Tag::SeqCst]),
    }
}
