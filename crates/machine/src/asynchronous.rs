//! Copies of a copy unit: what a thread starts and does not wait for.
//!
//! A copy reads its source late and writes its destination later: both happen at any time after its issue, and copies are
//! not ordered with one another. `LDGSTS` reads as a load of its thread does: it has its place in the queues of its SM, since
//! the copy comes after what its thread did before. `UBLKCP` reads and writes L2 and shared memory directly; of shared memory
//! it may see what was there before the latest stores, up to a `FENCE.VIEW.ASYNC.S`.

use model::isa::asynchronous::{
    Asynchronous, Copy, GroupCompletion, GroupKind, MbarrierOp, WaitGroup,
};
use model::isa::{Address, Operand, Reg, SpaceQualifier};
use model::memory::{Extent, MBARRIER_BYTES};
use model::program::Program;
use model::value::{low_bytes, low64};

use super::form::{AccessLevel, AsyncOp};
use super::local::{ThreadContext, ThreadState, Want};
use super::object::{AwaitedOperand, ObjectRequest, ObjectStep};
use super::options::MachineRule;
use super::plan::Site;
use super::state::{INVALID, QueueEntry, QueueKind, State, ValueId};
use super::step::{Step, StepVisitor};
use super::table::{AccessPiece, Change};
use super::{Machine, MemoryPlace};

/// The most bytes of a copy, and the bytes of which the size of a bulk copy is a multiple.
const MOST_BYTES: u64 = 128;
const CHUNK: u64 = 16;

/// A copy, ready to start: its cells.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct CopyRequest {
    pub(super) site: u8,
    /// The first cell of the source, how many are read, and how many bytes.
    pub(super) from: u8,
    pub(super) read: u8,
    pub(super) bytes: u8,
    /// The first cell of the destination, and how many are written.
    pub(super) to: u8,
    pub(super) written: u8,
    pub(super) level: AccessLevel,
    pub(super) bulk: bool,
    /// The object on which it completes, and by how many bytes.
    pub(super) completes: Option<(u8, u8)>,
    /// Of bulk copies, whether the source has been read.
    pub(super) has_read: bool,
}

impl CopyRequest {
    fn sources(&self) -> std::ops::Range<usize> {
        usize::from(self.from)..usize::from(self.from + self.read)
    }

    fn destinations(&self) -> std::ops::Range<usize> {
        usize::from(self.to)..usize::from(self.to + self.written)
    }

    /// The cells that it will write.
    fn mask(&self) -> u64 {
        self.destinations().fold(0, |all, cell| all | 1 << cell)
    }

    /// The cells that a bulk copy will read.
    fn unread(&self) -> u64 {
        let waits = self.bulk && !self.has_read;
        self.sources().filter(|_| waits).fold(0, |all, cell| all | 1 << cell)
    }
}

/// An arrival that waits for the copies before it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct PendingArrival {
    pub(super) site: u8,
    pub(super) object: u8,
    /// Copies that are not complete, by their sites.
    awaits: Vec<u8>,
}

/// The copies of one kind that a thread has started, by their sites.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct CopyGroups {
    open: Vec<u8>,
    /// What is not complete of each group, the oldest first. The first is not complete, if there is one.
    committed: Vec<Vec<u8>>,
}

impl CopyGroups {
    fn commit(&mut self) {
        self.committed.push(std::mem::take(&mut self.open));
        self.forget();
    }

    fn completed(&mut self, site: u8) {
        self.open.retain(|other| *other != site);
        for group in &mut self.committed {
            group.retain(|other| *other != site);
        }
        self.forget();
    }

    fn forget(&mut self) {
        let complete = self.committed.iter().take_while(|group| group.is_empty()).count();
        self.committed.drain(..complete);
    }

    /// Whether all groups but the `pending` latest are complete.
    fn are_done(&self, pending: u64) -> bool {
        let pending = usize::try_from(pending).unwrap_or(usize::MAX);
        let awaited = self.committed.len().saturating_sub(pending);
        self.committed[..awaited].iter().all(Vec::is_empty)
    }
}

/// What a thread has started and not completed.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct InFlight {
    /// In order of their sites.
    pub(super) copies: Vec<CopyRequest>,
    pub(super) arrivals: Vec<PendingArrival>,
    element: CopyGroups,
    bulk: CopyGroups,
}

impl InFlight {
    pub(super) fn is_empty(&self) -> bool {
        self.copies.is_empty() && self.arrivals.is_empty()
    }

    fn groups(&mut self, bulk: bool) -> &mut CopyGroups {
        if bulk { &mut self.bulk } else { &mut self.element }
    }

    pub(super) fn start(&mut self, copy: CopyRequest) {
        let place = self.copies.partition_point(|other| other.site < copy.site);
        self.copies.insert(place, copy);
        if copy.completes.is_none() {
            self.groups(copy.bulk).open.push(copy.site);
        }
    }

    /// The sources of a bulk copy have been read.
    pub(super) fn has_read(&mut self, site: u8) {
        for copy in self.copies.iter_mut().filter(|copy| copy.site == site) {
            copy.has_read = true;
        }
    }

    pub(super) fn completed(&mut self, site: u8) {
        self.copies.retain(|copy| copy.site != site);
        self.element.completed(site);
        self.bulk.completed(site);
        for arrival in &mut self.arrivals {
            arrival.awaits.retain(|other| *other != site);
        }
    }

    /// An arrival when all copies so far are complete, of those that are not bulk copies.
    pub(super) fn track(&mut self, site: u8, object: u8) {
        let before = self.copies.iter().filter(|copy| !copy.bulk);
        let awaits = before.map(|copy| copy.site).collect();
        self.arrivals.push(PendingArrival { site, object, awaits });
        self.arrivals.sort_by_key(|arrival| arrival.site);
    }

    pub(super) fn arrived(&mut self, site: u8) {
        self.arrivals.retain(|arrival| arrival.site != site);
    }

    /// Whether an instruction's earlier operation is not complete: it does not start again before.
    pub(super) fn has(&self, sites: &std::ops::Range<usize>) -> bool {
        let copies = self.copies.iter().map(|copy| copy.site);
        let all = copies.chain(self.arrivals.iter().map(|arrival| arrival.site));
        all.into_iter().any(|site| sites.contains(&usize::from(site)))
    }

    fn passes(&self, wait: WaitGroup) -> bool {
        let of_bulk = wait.of == GroupKind::BulkCopies;
        let groups = if of_bulk { &self.bulk } else { &self.element };
        // The lines of L1 are dropped by another word, if by any.
        if wait.until != GroupCompletion::Read {
            return groups.are_done(wait.pending);
        }
        // Sources that have been read are not waited for.
        let mut groups = groups.clone();
        for copy in self.copies.iter().filter(|copy| copy.has_read) {
            groups.completed(copy.site);
        }
        groups.are_done(wait.pending)
    }
}

/// A copy with its addresses computed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct CopyAccess {
    pub(super) from: Extent,
    pub(super) to: Extent,
    pub(super) object: Option<Extent>,
    pub(super) bulk: bool,
    pub(super) level: AccessLevel,
}

impl ThreadState {
    /// What an asynchronous instruction wants next; `None` where it goes on at once.
    pub(super) fn asynchronous(
        &mut self,
        context: &ThreadContext<'_>,
        of: &Asynchronous,
        op: AsyncOp,
    ) -> Option<Want> {
        let sites = context.plan.sites_of(self.pc);
        match (op, of) {
            (AsyncOp::Commit, _) => {
                let bulk = matches!(of, Asynchronous::Commit(GroupKind::BulkCopies));
                self.in_flight.groups(bulk).commit();
                self.advance(context);
                None
            }
            (AsyncOp::GroupWait, Asynchronous::WaitGroup(wait)) => {
                if context.waits_for_groups && !self.in_flight.passes(*wait) {
                    return Some(Want::Value);
                }
                self.advance(context);
                None
            }
            (AsyncOp::Copy(_) | AsyncOp::Track, _) if self.in_flight.has(&sites) => {
                Some(Want::Value)
            }
            (AsyncOp::Copy(level), Asynchronous::Copy(copy)) => {
                Some(self.copy(context, copy, level).map_or(Want::Fault, Want::Copy))
            }
            (AsyncOp::Track, Asynchronous::Track(track)) => {
                let at = self.whole(context, track.object, track.space, MBARRIER_BYTES.into());
                Some(at.map_or(Want::Fault, Want::Track))
            }
            (AsyncOp::Object, Asynchronous::Track(track)) => {
                let at = self.whole(context, track.object, track.space, MBARRIER_BYTES.into());
                let step = ObjectStep::Increment;
                Some(at.map_or(Want::Fault, |at| Want::Object(ObjectRequest { at, step })))
            }
            (AsyncOp::Object, Asynchronous::Mbarrier(of)) => {
                let at = self.whole(context, of.object, of.space, MBARRIER_BYTES.into());
                let step = self.object_step(context, &of.op);
                let request = at.zip(step).map(|(at, step)| ObjectRequest { at, step });
                Some(request.map_or(Want::Fault, Want::Object))
            }
            (AsyncOp::ReleaseWait, _) => Some(Want::ReleaseWait),
            (AsyncOp::View, _) => Some(Want::View),
            (AsyncOp::SharedView, _) => Some(Want::SharedView),
            // No instruction is lowered to that.
            (AsyncOp::GroupWait | AsyncOp::Copy(_) | AsyncOp::Track | AsyncOp::Object, _) => {
                Some(Want::Fault)
            }
        }
    }

    /// The operands of an operation on an object; `None` where one is out of range.
    fn object_step(&self, context: &ThreadContext<'_>, op: &MbarrierOp) -> Option<ObjectStep> {
        let number = |operand: Operand, least: u64| {
            let value = low64(self.operand(context, operand));
            let value = i64::try_from(value).ok()?;
            (i64::try_from(least).ok()?..super::object::MOST).contains(&value).then_some(value)
        };
        Some(match *op {
            MbarrierOp::Init { count, layout } => {
                let most = i64::try_from(layout.most_arrivals()).ok()?;
                ObjectStep::Init { count: number(count, 1).filter(|&count| count <= most)? }
            }
            // It is not lowered.
            MbarrierOp::CheckLayout { .. } => return None,
            MbarrierOp::Invalidate => ObjectStep::Invalidate,
            MbarrierOp::ExpectTx { bytes } => ObjectStep::Expect(number(bytes, 0)?),
            MbarrierOp::CompleteTx { bytes } => ObjectStep::Complete(number(bytes, 0)?),
            MbarrierOp::Arrive { count, expected, drops, completes, state } => ObjectStep::Arrive {
                count: number(count, 1)?,
                expected: expected.map_or(Some(0), |expected| number(expected, 0))?,
                drops,
                completes,
                state,
            },
            MbarrierOp::Wait { phase, tries, done } => {
                let phase = AwaitedOperand::of(phase, |operand| self.operand(context, operand));
                ObjectStep::Wait { phase, tries, done }
            }
        })
    }

    /// The register of a wait for a phase has its result; one that returned false orders nothing.
    pub(super) fn tested(&mut self, context: &ThreadContext<'_>, done: Option<Reg>, result: bool) {
        if let Some(done) = done {
            self.registers[usize::from(done.0)] = result.into();
        }
        if result {
            self.advance(context);
        } else {
            self.form = 0;
            self.pc += 1;
        }
    }

    fn copy(
        &self,
        context: &ThreadContext<'_>,
        copy: &Copy,
        level: AccessLevel,
    ) -> Option<CopyAccess> {
        let bytes = low64(self.operand(context, copy.bytes?));
        let stated = copy.source_bytes.map(|of| low64(self.operand(context, of)));
        let ignored = copy.ignores_source.is_some_and(|(predicate, negated)| {
            (self.operand(context, Operand::Reg(predicate)) != 0) != negated
        });
        let source = if ignored { 0 } else { stated.unwrap_or(bytes) };
        let allowed = if copy.bulk {
            bytes != 0 && bytes.is_multiple_of(CHUNK) && bytes <= MOST_BYTES
        } else {
            matches!(bytes, 4 | 8 | 16) && stated.unwrap_or(bytes) <= bytes
        };
        if !allowed {
            return None;
        }
        let to = self.whole(context, copy.to, copy.to_space, bytes)?;
        let align = bytes.min(CHUNK);
        let from = self.aligned(context, copy.from, copy.from_space, source, align)?;
        let object = match copy.mbarrier {
            Some(object) => {
                Some(self.whole(context, object, copy.to_space, MBARRIER_BYTES.into())?)
            }
            None => None,
        };
        Some(CopyAccess { from, to, object, bulk: copy.bulk, level })
    }

    fn whole(
        &self,
        context: &ThreadContext<'_>,
        address: Address,
        space: SpaceQualifier,
        length: u64,
    ) -> Option<Extent> {
        self.aligned(context, address, space, length, length.min(CHUNK))
    }

    /// The physical bytes at an address; none where there are none, or it is misaligned.
    fn aligned(
        &self,
        context: &ThreadContext<'_>,
        address: Address,
        space: SpaceQualifier,
        length: u64,
        align: u64,
    ) -> Option<Extent> {
        let sum = self.address(context, address);
        let length = u32::try_from(length).ok()?;
        let there = context.layout.resolve(context.thread, space, sum, length.max(1)).ok()?;
        let there = Extent { length, ..context.layout.physical(there) };
        sum.is_multiple_of(align).then_some(there)
    }
}

impl Machine<'_> {
    /// A copy with its cells; `None` where the machine has no such cells.
    pub(super) fn copy_request(&self, site: u8, of: &CopyAccess) -> Option<CopyRequest> {
        let cells = |extent: Extent| {
            let (first, length) = self.first_cell[usize::from(extent.object)];
            let first = u32::from(first) + extent.start / length;
            Some((u8::try_from(first).ok()?, u8::try_from(extent.length.div_ceil(length)).ok()?))
        };
        let (from, read) = cells(of.from)?;
        let (to, written) = cells(of.to)?;
        let bytes = u8::try_from(of.from.length).ok()?;
        let completes = match of.object {
            Some(object) => Some((self.slot(object)?, bytes)),
            None => None,
        };
        let (level, bulk, has_read) = (of.level, of.bulk, false);
        Some(CopyRequest { site, from, read, bytes, to, written, level, bulk, completes, has_read })
    }

    /// Rule Copy: it is issued, and nothing of it waits for anything but its place in the queues.
    pub(super) fn issue_copy(
        &mut self,
        state: &State,
        thread: usize,
        copy: CopyRequest,
        visit: StepVisitor<'_>,
    ) {
        let known = self.known(state, thread);
        let line = known.local.pc;
        let waits = known.local.fenced.is_some()
            || self.keeps(MachineRule::LoadsSeeBuffer)
                && self.has_buffered_cells(state, thread, copy);
        if waits {
            return;
        }
        let t = Self::small(thread);
        let piece = AccessPiece {
            site: copy.site,
            first: copy.from,
            count: copy.read,
            here: false,
            values: [0; 16],
            operation: 0,
        };
        let mut next = self.copy(state);
        self.change(&mut next, thread, Change::Start(copy));
        if copy.bulk || copy.read == 0 {
            return self.emit(Step::Issue { thread: t, line, hit: false }, next, visit);
        }
        let global = matches!(self.cells[usize::from(copy.from)].place, MemoryPlace::Global(_));
        if global && let Some(values) = self.line_of(state, thread, &piece, copy.level) {
            let mut hit = self.copy(&next);
            for (cell, value) in copy.sources().zip(values) {
                self.latch(&mut hit, t, copy.site, cell, value, false);
            }
            self.emit(Step::Issue { thread: t, line, hit: true }, hit, visit);
            if !self.options.eviction {
                self.spare.push(next);
                return;
            }
        }
        self.miss(&mut next, thread, &piece, copy.level);
        self.emit(Step::Issue { thread: t, line, hit: false }, next, visit);
    }

    fn has_buffered_cells(&self, state: &State, thread: usize, copy: CopyRequest) -> bool {
        self.options.store_buffers
            && self.shape.entries(state).any(|entry| {
                let cell = usize::from(entry.cell);
                entry.list == QueueKind::Buffer
                    && usize::from(entry.thread) == thread
                    && (copy.sources().contains(&cell) || copy.destinations().contains(&cell))
            })
    }

    /// A copy has the value of a cell of its source.
    fn latch(
        &self,
        state: &mut State,
        thread: u8,
        site: u8,
        cell: usize,
        data: ValueId,
        fill: bool,
    ) {
        let (list, cell) = (QueueKind::Latched, Self::small(cell));
        let entry = QueueEntry { list, cell, thread, site, fill, copy: false, data, awaited: 0 };
        self.enqueue(state, entry);
    }

    /// The same for a load of a copy that was answered.
    pub(super) fn latched(&self, state: &mut State, entry: QueueEntry) {
        let QueueEntry { thread, site, cell, data, fill, .. } = entry;
        self.latch(state, thread, site, usize::from(cell), data, fill);
    }

    /// Everything that operations in flight may do next, of one thread.
    pub(super) fn progress_copies(&mut self, state: &State, thread: usize, visit: StepVisitor<'_>) {
        let in_flight = self.known(state, thread).local.in_flight.clone();
        for copy in &in_flight.copies {
            self.progress_copy(state, thread, *copy, visit);
        }
        for arrival in &in_flight.arrivals {
            if arrival.awaits.is_empty() || !self.keeps(MachineRule::TrackedArrivalWaits) {
                let mut next = self.copy(state);
                self.change(&mut next, thread, Change::Arrived { site: arrival.site });
                let place = (thread, self.line_of_site(Self::small(thread), arrival.site));
                self.operate(&mut next, place, arrival.object, ObjectStep::ARRIVAL);
                let step = Step::Track { thread: Self::small(thread), site: arrival.site };
                self.emit(step, next, visit);
            }
        }
    }

    fn progress_copy(
        &mut self,
        state: &State,
        thread: usize,
        copy: CopyRequest,
        visit: StepVisitor<'_>,
    ) {
        let t = Self::small(thread);
        if copy.bulk && !copy.has_read {
            if !self.link_is_clear(state, thread, copy.unread()) {
                return;
            }
            let older = copy.sources().any(|cell| self.view(state, cell).is_some());
            for looks_at_views in [false, true] {
                if looks_at_views && !older {
                    break;
                }
                let mut next = self.copy(state);
                for cell in copy.sources() {
                    let view = self.view(state, cell).filter(|_| looks_at_views);
                    let value = view.unwrap_or_else(|| self.shape.memory(state, cell));
                    self.latch(&mut next, t, copy.site, cell, value, false);
                }
                self.change(&mut next, thread, Change::HasRead { site: copy.site });
                self.emit(Step::CopyReads { thread: t, site: copy.site }, next, visit);
            }
            return;
        }
        let of_copy = |entry: &QueueEntry| (entry.thread, entry.site) == (t, copy.site);
        let mut entries: Vec<QueueEntry> = self.shape.entries(state).filter(of_copy).collect();
        entries.retain(|entry| entry.list == QueueKind::Latched);
        let all = entries.len() >= usize::from(copy.read);
        if !all || copy.bulk && !self.link_is_clear(state, thread, copy.mask()) {
            return;
        }
        entries.sort_by_key(|entry| entry.cell);
        let mut next = self.copy(state);
        let mut index = 0;
        while index < self.shape.count(&next) {
            if of_copy(&self.shape.entry(&next, index)) {
                self.shape.remove(&mut next, index);
            } else {
                index += 1;
            }
        }
        let row = usize::from(self.sm[thread]) * self.cells.len();
        let mut left = u32::from(copy.bytes);
        for (index, cell) in copy.destinations().enumerate() {
            let length = self.cells[cell].length;
            // What its source does not have is 0.
            let value = entries.get(index).map_or(0, |entry| self.value(entry.data));
            let value = self.value_id(value & low_bytes(left.min(length)));
            left = left.saturating_sub(length);
            if copy.bulk {
                self.shape.set_memory(&mut next, cell, value);
                if let Some(slot) = self.shape.views[cell] {
                    next.bytes[usize::from(slot)] = INVALID;
                }
            } else {
                self.write(&mut next, cell, value);
            }
        }
        for entry in entries.iter().filter(|entry| entry.fill) {
            if let Some(slot) = self.shape.l1[row + usize::from(entry.cell)] {
                next.bytes[usize::from(slot)] = entry.data;
            }
        }
        self.change(&mut next, thread, Change::Completed { site: copy.site });
        if let Some((object, bytes)) = copy.completes {
            let place = (thread, self.line_of_site(t, copy.site));
            self.operate(&mut next, place, object, ObjectStep::Complete(bytes.into()));
        }
        self.emit(Step::CopyWrites { thread: t, site: copy.site }, next, visit);
    }

    /// The older value of a cell of shared memory that a bulk copy may read.
    fn view(&self, state: &State, cell: usize) -> Option<ValueId> {
        let value = state.bytes[usize::from(self.shape.views[cell]?)];
        (value != INVALID).then_some(value)
    }

    /// Rule View: a store to shared memory is seen by bulk copies when `FENCE.VIEW.ASYNC.S` says so, or before.
    pub(super) fn write(&self, state: &mut State, cell: usize, value: ValueId) {
        if let Some(slot) = self.shape.views[cell]
            && state.bytes[usize::from(slot)] == INVALID
        {
            state.bytes[usize::from(slot)] = self.shape.memory(state, cell);
        }
        self.shape.set_memory(state, cell, value);
    }

    /// Bulk copies see what is in the shared memory of a thread's cluster (reading B5).
    pub(super) fn drop_views(&self, state: &mut State, thread: usize) {
        let cluster = self.cluster[thread];
        for (cell, slot) in self.shape.views.iter().enumerate() {
            if let (Some(slot), MemoryPlace::Shared { cta, .. }) = (slot, self.cells[cell].place)
                && self.cluster[usize::from(cta)] == cluster
            {
                state.bytes[usize::from(*slot)] = INVALID;
            }
        }
    }

    /// Whether a copy in flight will write one of these cells, or read it outside of all queues.
    pub(super) fn will_be_copied(&self, state: &State, cells: u64) -> bool {
        (0..self.sm.len()).any(|thread| {
            let copies = &self.known(state, thread).local.in_flight.copies;
            copies.iter().any(|copy| (copy.mask() | copy.unread()) & cells != 0)
        })
    }

    /// The cells that bulk copies of a thread in flight have still to access.
    pub(super) fn copied_directly(&self, state: &State, thread: usize) -> u64 {
        let copies = self.known(state, thread).local.in_flight.copies.iter();
        let bulk = copies.filter(|copy| copy.bulk);
        bulk.fold(0, |all, copy| all | copy.mask() | copy.unread())
    }

    /// Whether no store to one of these cells waits in the link of a thread's GPU: a bulk copy comes after those.
    fn link_is_clear(&self, state: &State, thread: usize, cells: u64) -> bool {
        if !self.keeps(MachineRule::BulkBehindLink) {
            return true;
        }
        let gpu = self.gpu[usize::from(self.sm[thread])];
        self.shape.entries(state).all(|entry| {
            let at = self.gpu[usize::from(self.sm[usize::from(entry.thread)])];
            entry.list != QueueKind::Link
                || at != gpu
                || cells >> entry.cell & 1 == 0
                || !self.is_store(&entry)
        })
    }

    /// The line of the instruction that has a site.
    pub(super) fn line_of_site(&self, thread: u8, site: u8) -> u16 {
        let plan = &self.plans[usize::from(self.class[usize::from(thread)])];
        let after = plan.first.partition_point(|first| *first <= u16::from(site));
        u16::try_from(after.saturating_sub(1)).unwrap_or(u16::MAX)
    }

    /// Whether an entry is a load of a copy.
    pub(super) fn is_of_copy(&self, entry: &QueueEntry) -> bool {
        self.site(entry).copies
    }

    /// How many cells of one scalar go together: of a copy, those that it reads.
    pub(super) fn together(&self, state: &State, entry: &QueueEntry) -> u8 {
        let Site { cells, copies, .. } = *self.site(entry);
        if !copies {
            return cells;
        }
        let in_flight = &self.known(state, usize::from(entry.thread)).local.in_flight;
        let copy = in_flight.copies.iter().find(|copy| copy.site == entry.site);
        copy.map_or(cells, |copy| copy.read)
    }

    /// The first cell of a scalar that goes together with others, if the entry is of another one.
    pub(super) fn first_together(&self, state: &State, entry: &QueueEntry) -> Option<u8> {
        let in_flight = &self.known(state, usize::from(entry.thread)).local.in_flight;
        let copy = in_flight.copies.iter().find(|copy| copy.site == entry.site)?;
        Some(copy.from)
    }
}

/// The most bytes of a cell that an asynchronous operation never cuts in two; nothing where there is none.
pub(super) fn grain(program: &Program) -> Option<u32> {
    let mut lines = program.threads.iter().flat_map(|thread| &thread.lines);
    lines.any(|line| line.instruction.as_asynchronous().is_some()).then_some(4)
}
