//! Asynchronous operations as events of a path. They stand after the event before which they are issued, and are in
//! no program order.

use super::address::AddressUse;
use super::mbarrier::Object;
use super::state::{ComputedAddress, PathState, PendingRegister, RegisterAccess, scope_tag};
use super::tensor::Tensor;
use super::{MAX_EVENTS, Next, UnfoldLimit, Walk};
use crate::event::{Access, AsyncPart, EventKind, FenceCoverage, Mask, MbarrierStep, Tags};
use crate::expr::{Expr, ExprId};
use model::given::Tag;
use model::isa::alu::AluOp;
use model::isa::asynchronous::{
    AsyncFence, AsyncMisuse, AsyncStore, Asynchronous, Copy, FILL_BYTES, FenceWindow, Fill,
    GridControl, GroupCompletion, GroupKind, Multiply, TensorCopy, WaitGroup,
};
use model::isa::atom::AtomicOp;
use model::isa::{Instruction, Operand, Reg, SpaceQualifier, Type, TypeKind};
use model::memory::{Extent, Space};
use model::scope::Scope;

/// The bytes that one event of a bulk copy accesses, and of which its size is a multiple.
const CHUNK: u32 = 16;

/// What the events of one asynchronous operation have in common.
#[derive(Clone, Copy)]
pub(super) struct AsyncOperation {
    pub(super) first: u16,
    pub(super) issued: u16,
    pub(super) guard: Mask,
}

impl PathState {
    /// The index of the event that is pushed next.
    pub(super) fn next_event(&self) -> u16 {
        u16::try_from(self.events.len()).expect("a path has few events")
    }

    fn part(&mut self, kind: EventKind, tags: Tags, of: AsyncOperation) -> u16 {
        let event = self.push(kind, tags.with(Tag::All).with(Tag::Asynchronous), of.guard);
        self.last().part = Some(AsyncPart { operation: of.first, issued: of.issued });
        event
    }

    /// The events from this one on.
    pub(super) fn since(&self, first: u16) -> Mask {
        (first..self.next_event()).fold(0, |all, event| all | 1 << event)
    }

    /// The events that were pushed since this one, as part of the open group of their kind.
    fn grouped(&mut self, first: u16, kind: GroupKind) {
        let events = self.since(first);
        *self.groups.open.entry(kind).or_default() |= events;
        if kind == GroupKind::Copies {
            self.groups.copies |= events;
        }
    }

    fn commit(&mut self, kind: GroupKind) {
        let events = self.groups.open.remove(&kind).unwrap_or_default();
        self.groups.committed.entry(kind).or_default().push(events);
    }
}

/// Memory that an asynchronous operation reads or writes at once.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) access: Access,
    pub(super) at: ComputedAddress,
    pub(super) proxy: Tag,
    /// The scope of a relaxed access; a weak one has none.
    pub(super) scope: Option<Scope>,
    /// Whether the write is a release.
    pub(super) releases: bool,
    pub(super) of: AsyncOperation,
}

impl Part {
    pub(super) fn weak(
        access: Access,
        at: ComputedAddress,
        proxy: Tag,
        of: AsyncOperation,
    ) -> Part {
        Part { access, at, proxy, scope: None, releases: false, of }
    }
}

impl Walk<'_> {
    pub(super) fn asynchronous(
        &mut self,
        state: &mut PathState,
        of: &Asynchronous,
        guard: Mask,
    ) -> Next {
        let done = match of {
            Asynchronous::Mbarrier(mbarrier) => return self.mbarrier(state, mbarrier, guard),
            Asynchronous::PendingCount(of) => return self.pending_count(state, *of, guard),
            Asynchronous::Copy(copy) => match self.copy(state, copy, guard) {
                Ok(()) => Some(()),
                Err(next) => return next,
            },
            Asynchronous::Store(store) => self.async_store(state, store, guard),
            Asynchronous::Track(track) => self.track(state, track, guard),
            Asynchronous::Multiply(multiply) => self.multiply(state, multiply, guard),
            Asynchronous::Commit(kind) => {
                state.commit(*kind);
                Some(())
            }
            Asynchronous::WaitGroup(wait) => {
                wait_group(state, *wait, guard);
                Some(())
            }
            Asynchronous::MultiplyFence => {
                state.groups.fenced = state.next_event();
                state.groups.registers.fenced = true;
                state.groups.registers.accessed.clear();
                Some(())
            }
            Asynchronous::Fence(fence) => {
                async_fence(state, *fence, guard);
                Some(())
            }
            Asynchronous::TensormapFence(fence) => self.tensormap_fence(state, *fence, guard),
            Asynchronous::Tensormap(write) => match self.tensormap_write(state, *write, guard) {
                Ok(()) => Some(()),
                Err(next) => return next,
            },
            Asynchronous::Fill(fill) => match self.fill(state, *fill, guard) {
                Ok(()) => Some(()),
                Err(next) => return next,
            },
            Asynchronous::Cancel(cancel) => match self.cancel(state, cancel, guard) {
                Ok(()) => Some(()),
                Err(next) => return next,
            },
            Asynchronous::Multimem(of) => {
                return match self.multimem(state, of, guard) {
                    Ok(()) => Next::Go,
                    Err(next) => next,
                };
            }
            Asynchronous::TensorMemory(of) => match self.tensor_memory(state, of, guard) {
                Ok(()) => Some(()),
                Err(next) => return next,
            },
            Asynchronous::Grid(control) => {
                let kind = match control {
                    GridControl::LaunchDependents => EventKind::Trigger,
                    GridControl::Wait => EventKind::GridWait,
                };
                state.push(kind, Tags::of(&[Tag::All]), guard);
                Some(())
            }
        };
        if done.is_none() {
            return Next::Stop;
        }
        state.heads.clear();
        state.pc += 1;
        Next::Go
    }

    /// Whether an instruction accesses a register of a `wgmma` as the page of `wgmma.fence` does not allow; takes note of
    /// what it accesses.
    pub(super) fn misuses_registers(state: &mut PathState, instruction: &Instruction) -> bool {
        let registers = &mut state.groups.registers;
        let is_pending = |pending: &[PendingRegister], register: Reg, accumulator: Option<bool>| {
            pending.iter().any(|of| {
                of.register == register && accumulator.is_none_or(|kind| of.accumulator == kind)
            })
        };
        let mut misused = false;
        if let Some(Asynchronous::Multiply(of)) = instruction.as_asynchronous() {
            for &register in &of.accumulator {
                // Accumulations of one shape into one register are in order.
                let access = RegisterAccess::Accumulator(of.shape);
                let before = registers.accessed.insert(register, access);
                misused |= before.is_some_and(|before| before != access);
                misused |= is_pending(&registers.pending, register, Some(false));
            }
            for &register in &of.fragment {
                let before = registers.accessed.insert(register, RegisterAccess::Fragment);
                misused |= before.is_some_and(|before| before != RegisterAccess::Fragment);
                misused |= is_pending(&registers.pending, register, Some(true));
            }
            return misused;
        }
        for register in instruction.sources().chain(instruction.destinations()) {
            registers.accessed.insert(register, RegisterAccess::Instruction);
            misused |= is_pending(&registers.pending, register, None);
        }
        misused
    }

    pub(super) fn misused(&mut self, state: &mut PathState) {
        self.stop(state, AsyncMisuse::Size.text());
    }

    /// The bytes that a copy writes, and those that it reads.
    fn sizes(
        &mut self,
        state: &mut PathState,
        copy: &Copy,
        tensor: Option<&Tensor>,
    ) -> Result<(u32, u64), Next> {
        let bytes = match (tensor, copy.bytes) {
            (None, Some(bytes)) => self.number(state, bytes),
            (tensor, _) => tensor.map_or(0, Tensor::bytes).into(),
        };
        let source_bytes = match copy.source_bytes {
            Some(of) => self.number(state, of),
            None => bytes,
        };
        let allowed = if copy.bulk {
            bytes != 0 && bytes.is_multiple_of(CHUNK.into())
        } else {
            matches!(bytes, 4 | 8 | 16) && source_bytes <= bytes
        };
        let (Some(bytes), true) = (u32::try_from(bytes).ok(), allowed) else {
            self.misused(state);
            return Err(Next::Stop);
        };
        Ok((bytes, source_bytes))
    }

    fn copy(&mut self, state: &mut PathState, copy: &Copy, guard: Mask) -> Result<(), Next> {
        let tensor = match copy.tensor {
            Some(of) => Some(self.tensor(state, of).ok_or(Next::Stop)?),
            None => None,
        };
        let (bytes, source_bytes) = self.sizes(state, copy, tensor.as_ref())?;
        let ignored = copy.ignores_source.is_some_and(|(predicate, negated)| {
            let value = self.number(state, Operand::Reg(predicate));
            (value != 0) != negated
        });
        let read = if ignored { 0 } else { u32::try_from(source_bytes).unwrap_or(bytes) };
        let to = AddressUse::of_copy(copy.to_space, bytes, true).through_multimem(copy.multimem);
        let mut side = |address, space, of: &AddressUse| match &tensor {
            Some(tensor) if space == SpaceQualifier::Global => {
                Ok((tensor.parts.clone(), tensor.at))
            }
            Some(_) | None => self.address(state, address, of).ok_or(Next::Stop),
        };
        let from = AddressUse::of_source(copy, bytes, read);
        let from = from.map(|of| side(copy.from, copy.from_space, &of)).transpose()?;
        let (to, to_at) = side(copy.to, copy.to_space, &to)?;
        let object = |address| self.object(state, address, copy.to_space, false).ok_or(Next::Stop);
        let completion = copy.mbarrier.map(object).transpose()?;
        let targets = match copy.multicast {
            None if copy.multimem => self.behind(&to).into_iter().map(|to| (to, None)).collect(),
            None => vec![(to.clone(), completion)],
            Some(mask) => {
                let mask = self.number(state, mask);
                self.each_cta(mask, &to, completion)
            }
        };
        let mask = copy.byte_mask.map(|mask| self.number(state, mask));
        let runs = mask.map(byte_runs);
        let per_part = match copy.reduction {
            None => runs.as_ref().map_or(1, Vec::len),
            Some((_, ty)) => 2 * (CHUNK / ty.bytes()) as usize,
        };
        let map = tensor.as_ref().map_or(0, |tensor| tensor.map.len());
        // What nobody writes is read without an event.
        let is_unwritten = |of: &Access| self.facts.apart.is_unwritten(of.pa);
        let read_from = || from.iter().flat_map(|(from, _)| from);
        let unwritten = tensor.is_none() && read_from().all(is_unwritten);
        let reads = usize::from(!unwritten);
        let events = map + to.len() * (reads + targets.len() * per_part) + targets.len();
        if state.events.len() + events > MAX_EVENTS {
            return Err(Next::Limit(UnfoldLimit::Events));
        }
        let group = match (copy.bulk, copy.mbarrier) {
            (false, _) => Some(GroupKind::Copies),
            (true, None) => Some(GroupKind::BulkCopies),
            (true, Some(_)) => None,
        };
        let first = state.next_event();
        let of = AsyncOperation { first, issued: first, guard };
        let proxy = if copy.bulk { Tag::AsyncProxy } else { Tag::Generic };
        if let (Some(tensor), Some(of_copy)) = (tensor, copy.tensor) {
            self.read_tensormap(state, &tensor, of_copy, of);
        }
        let part = |access: &Access, at| Part {
            access: *access,
            at,
            proxy,
            scope: copy.scope,
            releases: false,
            of,
        };
        let mut values = Vec::with_capacity(to.len());
        if let Some((from, at)) = &from {
            for access in from {
                values.push(if unwritten {
                    self.private_value(state, access.pa)
                } else {
                    self.part_read(state, part(access, *at), access.va.length)
                });
            }
        } else {
            values.push((state.exprs.constant(0), 0));
        }
        for (to, _) in &targets {
            for (access, &(value, data)) in to.iter().zip(&values) {
                let part = part(access, to_at);
                match (copy.reduction, &runs) {
                    (Some((op, ty)), _) => self.part_reduction(state, part, value, data, op, ty),
                    (None, Some(runs)) => self.masked_write(state, part, value, data, runs),
                    (None, None) => _ = part_write(state, part, value, data),
                }
            }
        }
        for (_, completion) in targets {
            if let Some(object) = completion {
                let step = MbarrierStep::Tx(-i64::from(bytes));
                Self::complete_on(state, object, step, first, first, proxy, guard);
            }
        }
        if copy.multimem {
            Self::tag_multimem(state, first);
        }
        if let Some(kind) = group {
            state.grouped(first, kind);
        }
        Ok(())
    }

    fn fill(&mut self, state: &mut PathState, fill: Fill, guard: Mask) -> Result<(), Next> {
        let bytes = self.number(state, fill.bytes);
        let allowed = bytes != 0 && bytes.is_multiple_of(FILL_BYTES.into());
        let (Some(bytes), true) = (u32::try_from(bytes).ok(), allowed) else {
            self.misused(state);
            return Err(Next::Stop);
        };
        let whole = AddressUse::of_fill(fill.space, bytes / FILL_BYTES);
        let (to, at) = self.address(state, fill.to, &whole).ok_or(Next::Stop)?;
        if state.events.len() + to.len() > MAX_EVENTS {
            return Err(Next::Limit(UnfoldLimit::Events));
        }
        for access in to {
            let value = state.exprs.constant(0);
            let tags = Tags::of(&[Tag::All, Tag::Write, Tag::Generic]);
            state.push(EventKind::Write, tags, guard);
            let event = state.last();
            event.locate(access, at);
            event.value = Some(value);
            event.element = true;
        }
        Ok(())
    }

    /// The reads of a tensormap, which a group of the thread may wait for.
    fn read_tensormap(
        &self,
        state: &mut PathState,
        tensor: &Tensor,
        copy: TensorCopy,
        of: AsyncOperation,
    ) {
        for (part, &access) in tensor.map.iter().enumerate() {
            let chunk = Part::weak(access, tensor.at, Tag::TensormapProxy, of);
            let (value, taint) = self.part_read(state, chunk, CHUNK);
            if let Some(descriptor) = copy.descriptor.filter(|_| part == 0) {
                state.set(descriptor, value, taint);
            }
        }
        state.grouped(of.first, GroupKind::BulkCopies);
    }

    /// The read of the first bytes of a part: their value, and the read if there is one.
    pub(super) fn part_read(
        &self,
        state: &mut PathState,
        part: Part,
        length: u32,
    ) -> (ExprId, Mask) {
        if length == 0 {
            return (state.exprs.constant(0), 0);
        }
        let tags = strength(Tags::of(&[Tag::Read, part.proxy]), part.scope);
        let read = state.part(EventKind::Read, tags, part.of);
        state.last().locate(self.cut(part, 0, length).access, part.at);
        (state.exprs.intern(Expr::Read(read)), 1 << read)
    }

    /// Some bytes of a part.
    fn cut(&self, part: Part, start: u32, length: u32) -> Part {
        let va = Extent { start: part.access.va.start + start, length, ..part.access.va };
        Part { access: Access { va, pa: self.layout.physical(va) }, ..part }
    }

    /// The writes of some of the 16 bytes of a part.
    fn masked_write(
        &self,
        state: &mut PathState,
        part: Part,
        value: ExprId,
        data: Mask,
        runs: &[(u32, u32)],
    ) {
        for &(start, length) in runs {
            let shift = state.exprs.constant((8 * start).into());
            let wide = Type { kind: TypeKind::Bits, bits: 128 };
            let value = state.exprs.alu(AluOp::Shr, wide, &[value, shift]);
            part_write(state, self.cut(part, start, length), value, data);
        }
    }

    /// What a reduction does to the elements in 16 bytes of its destination.
    fn part_reduction(
        &self,
        state: &mut PathState,
        part: Part,
        value: ExprId,
        data: Mask,
        op: AtomicOp,
        ty: Type,
    ) {
        let part = Part { scope: Some(part.scope.unwrap_or(Scope::Sys)), ..part };
        for element in 0..part.access.va.length / ty.bytes() {
            let start = element * ty.bytes();
            let shift = state.exprs.constant((8 * start).into());
            let wide = Type { kind: TypeKind::Bits, bits: 128 };
            let operand = state.exprs.alu(AluOp::Shr, wide, &[value, shift]);
            self.part_atomic(state, self.cut(part, start, ty.bytes()), operand, data, op, ty);
        }
    }

    fn part_atomic(
        &self,
        state: &mut PathState,
        part: Part,
        operand: ExprId,
        data: Mask,
        op: AtomicOp,
        ty: Type,
    ) {
        let tags = Tags::of(&[Tag::Read, Tag::Atomic, Tag::ReductionRead, part.proxy]);
        let read = state.part(EventKind::Read, strength(tags, part.scope), part.of);
        state.last().locate(part.access, part.at);
        let old = state.exprs.intern(Expr::Read(read));
        let value = self.written_over(state, op, ty, part.access, old, operand);
        let write = part_write(state, part, value, data | 1 << read);
        let event = state.last();
        event.tags = event.tags.with(Tag::Atomic);
        event.rmw = Some(read);
        state.events[usize::from(read)].rmw = Some(write);
    }

    fn async_store(
        &mut self,
        state: &mut PathState,
        store: &AsyncStore,
        guard: Mask,
    ) -> Option<()> {
        let use_ = AddressUse::of_async_store(store);
        let (to, at) = self.address(state, store.to, &use_)?;
        let completion = match store.mbarrier {
            Some(address) => Some(self.object(state, address, store.space, false)?),
            None => None,
        };
        if completion.is_some_and(|(object, _)| !self.in_one_cta(to[0], object)) {
            self.misused(state);
            return None;
        }
        let values: Vec<(ExprId, Mask)> =
            store.sources.iter().map(|&source| self.operand(state, source)).collect();
        let first = state.next_event();
        let of = AsyncOperation { first, issued: first, guard };
        let mut bytes = 0;
        let locations = if store.multimem { self.behind(&to) } else { vec![to] };
        let each = locations.iter().flat_map(|to| to.iter().zip(&values));
        for (&access, &(value, data)) in each {
            bytes += i64::from(access.va.length);
            let part = Part {
                access,
                at,
                proxy: Tag::Generic,
                scope: store.scope,
                releases: store.releases,
                of,
            };
            match store.reduction {
                Some(op) => self.part_atomic(state, part, value, data, op, store.ty),
                None => _ = part_write(state, part, value, data),
            }
        }
        if store.multimem {
            Self::tag_multimem(state, first);
        }
        if let Some(object) = completion {
            let step = MbarrierStep::Tx(-bytes);
            Self::complete_on(state, object, step, first, first, Tag::Generic, guard);
        }
        Some(())
    }

    fn multiply(&mut self, state: &mut PathState, of: &Multiply, guard: Mask) -> Option<()> {
        let (input, negated) = of.accumulates;
        let accumulates = (self.number(state, input) != 0) != negated;
        let accumulator = of.accumulator.first().filter(|_| accumulates);
        let registers: Vec<(ExprId, Mask)> = accumulator
            .into_iter()
            .chain(of.fragment.first())
            .map(|&register| self.operand(state, Operand::Reg(register)))
            .collect();
        let mut sources = Vec::new();
        for &address in &of.sources {
            let whole = AddressUse::of_copy(SpaceQualifier::Shared, CHUNK, false);
            let (accesses, at) = self.address(state, address, &whole)?;
            if !sources.iter().any(|(known, _)| *known == accesses[0]) {
                sources.push((accesses[0], at));
            }
        }
        let first = state.next_event();
        let operation = AsyncOperation { first, issued: state.groups.fenced, guard };
        let mut values = Vec::new();
        for (access, at) in sources {
            let part = Part::weak(access, at, Tag::AsyncProxy, operation);
            let read = self.part_read(state, part, CHUNK);
            values.push((state.exprs.alu(AluOp::Mov, Type::U32, &[read.0]), read.1));
        }
        values.extend(registers);
        let sum = values.into_iter().reduce(|(sum, all), (value, taint)| {
            (state.exprs.alu(AluOp::Add, Type::U32, &[sum, value]), all | taint)
        });
        if let (Some(&destination), Some((value, taint))) = (of.accumulator.first(), sum) {
            state.set(destination, value, taint);
        }
        let events = state.since(first);
        if !state.groups.registers.fenced {
            let event = &mut state.events[usize::from(first)];
            event.tags = event.tags.with(Tag::UnfencedMultiply);
        }
        let accumulator = of.accumulator.iter().map(|&register| (register, true));
        let fragment = of.fragment.iter().map(|&register| (register, false));
        let registers = accumulator.chain(fragment);
        state.groups.registers.pending.extend(
            registers.map(|(register, accumulator)| PendingRegister {
                register,
                accumulator,
                events,
            }),
        );
        state.grouped(first, GroupKind::Multiplications);
        Some(())
    }

    /// Reading B17: the object on which an operation completes is in the CTA of its destination.
    fn in_one_cta(&self, to: Access, object: Access) -> bool {
        let instance = |of: Access| self.layout.locations[usize::from(of.pa.object)].instance;
        instance(to) == instance(object)
    }

    /// The destination and the object of a copy in each CTA of the cluster whose rank is in the mask.
    pub(super) fn each_cta(
        &self,
        mask: u64,
        to: &[Access],
        completion: Option<Object>,
    ) -> Vec<(Vec<Access>, Option<Object>)> {
        let moved = |access: Access, rank: usize| {
            let va = self.layout.in_cta(access.va, self.thread, rank)?;
            Some(Access { va, pa: self.layout.physical(va) })
        };
        let ctas = (0..16).filter(|rank| mask >> rank & 1 == 1);
        ctas.filter_map(|rank| {
            let to: Option<Vec<Access>> = to.iter().map(|&access| moved(access, rank)).collect();
            let completion = match completion {
                Some((access, at)) => Some((moved(access, rank)?, at)),
                None => None,
            };
            Some((to?, completion))
        })
        .collect()
    }
}

fn strength(tags: Tags, scope: Option<Scope>) -> Tags {
    match scope {
        Some(scope) => tags.with(Tag::Relaxed).with(scope_tag(scope)),
        None => tags,
    }
}

fn releasing(tags: Tags, scope: Option<Scope>) -> Tags {
    tags.with(Tag::Release).with(scope_tag(scope.unwrap_or(Scope::Sys)))
}

/// The runs of set bits of a mask of 16 bytes: where each begins, and its length.
fn byte_runs(mask: u64) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for byte in (0..CHUNK).filter(|byte| mask >> byte & 1 == 1) {
        match runs.last_mut() {
            Some((start, length)) if *start + *length == byte => *length += 1,
            Some(_) | None => runs.push((byte, 1)),
        }
    }
    runs
}

/// Returns the event.
pub(super) fn part_write(state: &mut PathState, part: Part, value: ExprId, data: Mask) -> u16 {
    let tags = Tags::of(&[Tag::Write, part.proxy]);
    let tags = if part.releases { releasing(tags, part.scope) } else { strength(tags, part.scope) };
    let write = state.part(EventKind::Write, tags, part.of);
    let event = state.last();
    event.locate(part.access, part.at);
    event.data = data;
    event.value = Some(value);
    write
}

fn wait_group(state: &mut PathState, wait: WaitGroup, guard: Mask) {
    if wait.commits {
        state.commit(wait.of);
    }
    let groups = state.groups.committed.get(&wait.of).map_or(&[][..], Vec::as_slice);
    let pending = usize::try_from(wait.pending).unwrap_or(usize::MAX);
    let done = &groups[..groups.len().saturating_sub(pending)];
    let mut completes = done.iter().fold(0, |all, group| all | group);
    if wait.of == GroupKind::Multiplications {
        state.groups.registers.pending.retain(|of| of.events & !completes != 0);
    }
    if wait.until == GroupCompletion::Read {
        for (index, event) in state.events.iter().enumerate() {
            let reads = event.tags.has(Tag::Read) && !event.tags.has(Tag::Atomic);
            if !reads {
                completes &= !(1 << index);
            }
        }
    }
    let mut tags = Tags::of(&[Tag::All]);
    if wait.until == GroupCompletion::AsyncProxy {
        tags = tags.with(Tag::AsyncProxyWait);
    }
    state.push(EventKind::WaitGroup, tags, guard);
    state.last().completes = completes;
}

fn async_fence(state: &mut PathState, fence: AsyncFence, guard: Mask) {
    let of_order = |order: Tag| Tags::of(&[Tag::All, Tag::Fence, order]);
    let restricted = |order: Tag| of_order(order).with(Tag::ScopeCluster);
    let (kind, tags, covers) = match fence {
        AsyncFence::Proxy(window) => {
            let covers = match window {
                FenceWindow::Everything => FenceCoverage::Everything,
                FenceWindow::ClusterShared => FenceCoverage::ClusterShared,
                FenceWindow::OwnShared => FenceCoverage::OwnShared,
                FenceWindow::Global => FenceCoverage::Space(Space::Global),
            };
            let tags = Tags::of(&[Tag::All, Tag::ProxyFence, Tag::AsyncFence]);
            (EventKind::ProxyFence, tags, covers)
        }
        AsyncFence::ProxyRelease => {
            let tags = restricted(Tag::RestrictedRelease).with(Tag::AsyncFenceRelease);
            (EventKind::ProxyFence, tags.with(Tag::ProxyFence), FenceCoverage::OwnShared)
        }
        AsyncFence::ProxyReleaseOfReads => {
            let tags = restricted(Tag::RestrictedRelease).with(Tag::ReleaseOfReads);
            let tags = tags.with(Tag::AsyncFenceRelease).with(Tag::ProxyFence);
            (EventKind::ProxyFence, tags, FenceCoverage::OwnSharedReads)
        }
        AsyncFence::AliasReleaseOfReads => {
            let tags = of_order(Tag::RestrictedRelease).with(Tag::ReleaseOfReads);
            (EventKind::Fence, tags.with(Tag::ScopeSys), FenceCoverage::OwnReads)
        }
        AsyncFence::ProxyAcquire => {
            let tags = restricted(Tag::RestrictedAcquire).with(Tag::AsyncFenceAcquire);
            (EventKind::ProxyFence, tags.with(Tag::ProxyFence), FenceCoverage::ClusterShared)
        }
        AsyncFence::MbarrierInit => {
            (EventKind::Fence, restricted(Tag::RestrictedRelease), FenceCoverage::Initializations)
        }
        AsyncFence::Release => {
            (EventKind::Fence, restricted(Tag::RestrictedRelease), FenceCoverage::OwnShared)
        }
        AsyncFence::Acquire => {
            (EventKind::Fence, restricted(Tag::RestrictedAcquire), FenceCoverage::ClusterShared)
        }
    };
    state.push(kind, tags, guard);
    state.last().covers = covers;
    // Reading B11: a multiplication reads shared memory.
    if matches!(fence, AsyncFence::Proxy(window) if window != FenceWindow::Global) {
        state.groups.fenced = state.next_event();
    }
}
