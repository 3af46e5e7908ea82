//! Rules of the memory system: how accesses leave queues, perform at memory, and return values.
//!
//! Why they are sound. Each SM and each GPU has an outgoing FIFO for each location, so all threads that share
//! it see the accesses to one location in one order. Accesses to different
//! locations are not ordered, as the model allows for relaxed accesses.

use std::ops::Range;

use super::Machine;
use super::form::{AccessLevel, MembarScope};
use super::local::AccessRequest;
use super::options::{MachineRule, Reduce};
use super::plan::{Site, SiteKind};
use super::state::{INVALID, QueueEntry, QueueKind, State, ValueId};
use super::step::{Step, StepVisitor};
use super::table::{AccessPiece, Change};
use model::isa::alu::AluOp;
use model::value::Value;

/// The pieces of one scalar, by their places in the list of entries.
#[derive(Clone, Copy)]
pub(super) struct ScalarGroup {
    places: [u8; 16],
    count: u8,
}

impl ScalarGroup {
    fn places(&self) -> &[u8] {
        &self.places[..usize::from(self.count)]
    }
}

impl Machine<'_> {
    /// Which FIFO an entry is in.
    fn queue(&self, entry: &QueueEntry) -> (QueueKind, u8, u8) {
        let sm = self.sm[usize::from(entry.thread)];
        let owner = match entry.list {
            QueueKind::Queue => sm,
            QueueKind::Link => self.gpu[usize::from(sm)],
            QueueKind::Buffer | QueueKind::Back | QueueKind::Loose | QueueKind::Latched => {
                entry.thread
            }
        };
        (entry.list, entry.cell, owner)
    }

    /// Puts an entry after those of its queue; where there is no order, in one that depends on
    /// nothing but what is there.
    pub(super) fn enqueue(&self, state: &mut State, entry: QueueEntry) {
        let key = self.queue(&entry);
        let ordered = matches!(entry.list, QueueKind::Buffer | QueueKind::Queue | QueueKind::Link);
        self.shape.insert(state, entry, |other| {
            let before = self.queue(other);
            before < key || before == key && (ordered || *other <= entry)
        });
    }

    /// Whether nothing that has to go first is before an entry in its queue. Rule Weak-pass: weak
    /// loads may pass weak loads; two of one thread and a foreign write are not morally strong, so
    /// no axiom speaks of their order.
    fn is_head(&self, state: &State, index: usize) -> bool {
        let entry = self.shape.entry(state, index);
        let ordered = match entry.list {
            QueueKind::Buffer => true,
            QueueKind::Queue if self.is_of_copy(&entry) => {
                self.keeps(MachineRule::SmOrder) && self.keeps(MachineRule::CopiesKeepOrder)
            }
            QueueKind::Queue => self.keeps(MachineRule::SmOrder),
            QueueKind::Link => self.keeps(MachineRule::LinkOrder),
            QueueKind::Back | QueueKind::Loose | QueueKind::Latched => false,
        };
        if !ordered {
            return true;
        }
        let queue = self.queue(&entry);
        let weak = |entry: &QueueEntry| {
            self.site(entry).kind == SiteKind::Read && self.level(entry) == AccessLevel::Weak
        };
        let passes = self.options.weak_pass && entry.list == QueueKind::Queue && weak(&entry);
        for older in (0..index).rev() {
            let older = self.shape.entry(state, older);
            if self.queue(&older) != queue {
                break;
            }
            if !(passes && weak(&older)) {
                return false;
            }
        }
        true
    }

    /// The pieces of the scalar whose first piece is at `index`, if each of them may leave its
    /// queue: they go together.
    pub(super) fn group(&self, state: &State, index: usize) -> Option<ScalarGroup> {
        let entry = self.shape.entry(state, index);
        let site = self.site(&entry);
        let mut group = ScalarGroup { places: [u8::try_from(index).ok()?; 16], count: 1 };
        let cells = self.together(state, &entry);
        if cells > 1 {
            let start = self.cells[usize::from(entry.cell)].start;
            let first = if site.copies {
                self.first_together(state, &entry) == Some(entry.cell)
            } else {
                start.is_multiple_of(site.ty.bytes())
            };
            if !first {
                return None;
            }
            for piece in 0..usize::from(cells) {
                let cell = usize::from(entry.cell) + piece;
                // The oldest one: a loop may have come here more than once.
                let place = (0..self.shape.count(state)).find(|&place| {
                    let other = self.shape.entry(state, place);
                    usize::from(other.cell) == cell && other.is_with(&entry)
                })?;
                group.places[piece] = u8::try_from(place).ok()?;
            }
            group.count = cells;
            if usize::from(group.places[0]) != index {
                return None;
            }
        }
        let all = group.places().iter().all(|&place| self.is_head(state, place.into()));
        all.then_some(group)
    }

    /// Takes the entries of a group out of the list; the first of them.
    fn take(
        &self,
        state: &mut State,
        group: &ScalarGroup,
        taken: &mut [QueueEntry; 16],
    ) -> QueueEntry {
        for (entry, &place) in taken.iter_mut().zip(group.places()) {
            *entry = self.shape.entry(state, place.into());
        }
        let mut places = group.places;
        let places = &mut places[..usize::from(group.count)];
        places.sort_unstable();
        for &place in places.iter().rev() {
            self.shape.remove(state, place.into());
        }
        taken[0]
    }

    /// What the access at a place of the list may do next.
    pub(super) fn progress(&mut self, state: &State, index: usize, visit: StepVisitor<'_>) {
        let entry = self.shape.entry(state, index);
        let QueueEntry { cell, thread, .. } = entry;
        // Its copy goes on as a whole.
        if entry.list == QueueKind::Latched {
            return;
        }
        if entry.list == QueueKind::Back {
            let mut next = self.copy(state);
            self.shape.remove(&mut next, index);
            self.arrived(&mut next, entry);
            return self.emit(Step::Return { thread, cell, fills: entry.fill }, next, visit);
        }
        let Some(group) = self.group(state, index) else { return };
        if entry.list == QueueKind::Queue {
            if !self.unit_may_leave(state, &entry) {
                return;
            }
            self.answered_on_the_way(state, &group, visit);
        }
        let mut next = self.copy(state);
        let step = self.advance_group(&mut next, &group);
        self.emit(step, next, visit);
    }

    /// Rule Atom-AR at system scope: no store of its GPU waits in a link when it leaves its SM.
    pub(super) fn unit_may_leave(&self, state: &State, entry: &QueueEntry) -> bool {
        if self.site(entry).unit != Some(MembarScope::Sys) || !self.keeps(MachineRule::UnitWaits) {
            return true;
        }
        let gpu = self.gpu[usize::from(self.sm[usize::from(entry.thread)])];
        self.shape.entries(state).all(|other| {
            let at = self.gpu[usize::from(self.sm[usize::from(other.thread)])];
            other.list != QueueKind::Link || at != gpu || !self.is_store(&other)
        })
    }

    /// Moves a group on: out of its store buffer, out of its SM, out of the link.
    pub(super) fn advance_group(&mut self, state: &mut State, group: &ScalarGroup) -> Step {
        if group.count == 1 {
            let place = usize::from(group.places[0]);
            let entry = self.shape.entry(state, place);
            self.shape.remove(state, place);
            return self.advance_entries(state, &[entry]);
        }
        let mut taken = [self.shape.entry(state, 0); 16];
        self.take(state, group, &mut taken);
        self.advance_entries(state, &taken[..usize::from(group.count)])
    }

    fn advance_entries(&mut self, state: &mut State, taken: &[QueueEntry]) -> Step {
        let QueueEntry { list, cell, thread, .. } = taken[0];
        let gpu = self.gpu[usize::from(self.sm[usize::from(thread)])];
        match list {
            QueueKind::Buffer => {
                for entry in taken {
                    self.drain(state, *entry);
                }
                Step::Drain { thread, cell }
            }
            QueueKind::Queue if self.is_far(gpu, cell.into()) => {
                for entry in taken {
                    self.to_link(state, *entry, gpu);
                }
                Step::Leave { thread, cell }
            }
            QueueKind::Queue => {
                self.perform(state, taken);
                Step::Perform { thread, cell }
            }
            QueueKind::Link => {
                for entry in taken.iter().filter(|entry| entry.copy) {
                    if let Some(slot) = self.copy_slot(gpu, entry.cell.into()) {
                        state.bytes[slot] = self.shape.memory(state, entry.cell.into());
                    }
                }
                self.perform(state, taken);
                Step::Arrive { thread, cell }
            }
            QueueKind::Loose | QueueKind::Back | QueueKind::Latched => {
                for entry in taken {
                    let at = usize::from(entry.cell);
                    let row = usize::from(self.sm[usize::from(thread)]) * self.cells.len();
                    let value = self.shape.memory(state, at);
                    if let Some(slot) = self.shape.read_only[row + at] {
                        state.bytes[usize::from(slot)] = value;
                    }
                    self.deliver(state, *entry, value);
                }
                Step::ReadOnly { thread, cell }
            }
        }
    }

    /// A store leaves its buffer, and is what a store is without one.
    fn drain(&mut self, state: &mut State, entry: QueueEntry) {
        let thread = usize::from(entry.thread);
        let cell = usize::from(entry.cell);
        let here = match self.cells[cell].place {
            super::MemoryPlace::Shared { sm, cta } => {
                sm == self.sm[thread] && cta == self.cta[thread]
            }
            super::MemoryPlace::Global(_) | super::MemoryPlace::Private => false,
        };
        if here {
            self.write(state, cell, entry.data);
        } else {
            self.store_cell(state, thread, cell, entry.data);
            self.enqueue(state, QueueEntry { list: QueueKind::Queue, ..entry });
        }
    }

    /// To the end of the link; reading R58: what passes updates or drops the GPU's copy.
    fn to_link(&self, state: &mut State, entry: QueueEntry, gpu: u8) {
        let cell = usize::from(entry.cell);
        let mut moved = QueueEntry { list: QueueKind::Link, ..entry };
        moved.awaited = self.still_awaited(state, entry.awaited);
        if let Some(slot) = self.copy_slot(gpu, cell) {
            let site = self.site(&entry);
            match site.kind {
                SiteKind::Write if state.bytes[slot] != INVALID => state.bytes[slot] = entry.data,
                SiteKind::Write => {}
                SiteKind::Read | SiteKind::Atomic => state.bytes[slot] = INVALID,
            }
            if self.keeps(MachineRule::PassingCancelsCopies) {
                self.cancel_copies(state, gpu, cell);
            }
            moved.copy = site.kind == SiteKind::Read && self.level(&entry) < AccessLevel::Sys;
        }
        self.enqueue(state, moved);
    }

    /// Rule Link-forward: a load may be answered by the youngest store that waits in its GPU's
    /// link, or by its GPU's copy (reading R58). Of all in that link the store performs last, and
    /// nothing of this GPU comes before it any more: the load sees what it would see after it.
    /// What it sees may be older than what a strong load of its SM will read, which waits after that store: then it
    /// fills no line, since the line would go back after that load.
    fn answered_on_the_way(&mut self, state: &State, group: &ScalarGroup, visit: StepVisitor<'_>) {
        if group.count != 1 {
            return;
        }
        let entry = self.shape.entry(state, group.places[0].into());
        let QueueEntry { cell, thread, .. } = entry;
        let gpu = self.gpu[usize::from(self.sm[usize::from(thread)])];
        if self.site(&entry).kind != SiteKind::Read || !self.is_far(gpu, cell.into()) {
            return;
        }
        let sys = self.level(&entry) == AccessLevel::Sys;
        if let Some(value) = self.waiting(state, gpu, cell)
            && (self.options.forward && !sys || self.options.forward_sys)
            && !self.overtakes(state, &entry)
        {
            let fills = !self.passes_strong_load(state, &entry);
            self.answered(state, group, (value, fills), Step::Forward { thread, cell }, visit);
        }
        if let Some(slot) = self.copy_slot(gpu, cell.into())
            && state.bytes[slot] != INVALID
            && !sys
        {
            let value = state.bytes[slot];
            self.answered(state, group, (value, true), Step::Copy { thread, cell }, visit);
        }
    }

    /// Whether the load's thread has an older one in the link, which will read at its home: of the
    /// two, only weak loads may pass each other (reading R52).
    fn overtakes(&self, state: &State, load: &QueueEntry) -> bool {
        let weak = |entry: &QueueEntry| self.level(entry) == AccessLevel::Weak;
        self.shape.entries(state).any(|older| {
            older.list == QueueKind::Link
                && (older.thread, older.cell) == (load.thread, load.cell)
                && self.site(&older).kind == SiteKind::Read
                && !(self.options.weak_pass && weak(&older) && weak(load))
        })
    }

    /// Whether a strong load of the load's SM, of any thread, waits in the link for the same bytes.
    fn passes_strong_load(&self, state: &State, load: &QueueEntry) -> bool {
        let sm = |entry: &QueueEntry| self.sm[usize::from(entry.thread)];
        self.shape.entries(state).any(|older| {
            older.list == QueueKind::Link
                && (sm(&older), older.cell) == (sm(load), load.cell)
                && self.site(&older).kind == SiteKind::Read
                && self.level(&older) != AccessLevel::Weak
        })
    }

    /// A load is answered with a value, which fills its line only if it may.
    fn answered(
        &mut self,
        state: &State,
        group: &ScalarGroup,
        (value, fills): (ValueId, bool),
        step: Step,
        visit: StepVisitor<'_>,
    ) {
        let mut next = self.copy(state);
        let place = usize::from(group.places[0]);
        let entry = self.shape.entry(&next, place);
        self.shape.remove(&mut next, place);
        let fill = entry.fill && fills;
        self.come_back(&mut next, QueueEntry { data: value, fill, ..entry });
        self.emit(step, next, visit);
    }

    /// The value of the youngest store in a GPU's link to a cell, unless an atomic is younger.
    pub(super) fn waiting(&self, state: &State, gpu: u8, cell: u8) -> Option<ValueId> {
        let all = self.shape.entries(state);
        let there = all.filter(|entry| {
            entry.list == QueueKind::Link
                && entry.cell == cell
                && self.gpu[usize::from(self.sm[usize::from(entry.thread)])] == gpu
                && self.is_store(entry)
        });
        let youngest = there.last()?;
        (self.site(&youngest).kind == SiteKind::Write).then_some(youngest.data)
    }

    /// Rule Perform: what the pieces of one scalar do at memory, in one step: a single access is
    /// not torn, and nothing comes between the halves of an atomic, whatever its scope (reading R59).
    fn perform(&mut self, state: &mut State, taken: &[QueueEntry]) {
        let first = taken[0];
        let site = *self.site(&first);
        match site.kind {
            SiteKind::Read => {
                for entry in taken {
                    let data = self.shape.memory(state, entry.cell.into());
                    self.come_back(state, QueueEntry { data, ..*entry });
                }
            }
            SiteKind::Write => {
                for entry in taken {
                    self.write(state, entry.cell.into(), entry.data);
                }
            }
            SiteKind::Atomic => {
                let cells = usize::from(first.cell)..usize::from(first.cell) + taken.len();
                let thread = usize::from(first.thread);
                self.exchange(state, thread, first.site, cells, first.data);
                if site.unit.is_some() && self.keeps(MachineRule::UnitInvalidates) {
                    // Rule Atom-AR, second half: what it acquired is seen through no older line.
                    self.invalidate(state, self.sm[thread]);
                }
            }
        }
    }

    /// A read has its value, and is on its way back; it arrives at once where nothing can tell the difference.
    pub(super) fn come_back(&mut self, state: &mut State, entry: QueueEntry) {
        let QueueEntry { cell, thread, fill, .. } = entry;
        if self.is_of_copy(&entry) {
            self.latched(state, entry);
        } else if self.options.reduced() || !fill && self.options.reduce >= Reduce::Por {
            self.arrived(state, entry);
            self.steps.push(Step::Return { thread, cell, fills: fill });
        } else {
            let back = QueueEntry { list: QueueKind::Back, copy: false, awaited: 0, ..entry };
            self.enqueue(state, back);
        }
    }

    /// Rule Return: the value is there, and fills its line; it may not where a newer access of the
    /// SM has canceled the fill, since the line would go back after that one.
    fn arrived(&mut self, state: &mut State, entry: QueueEntry) {
        if entry.fill {
            let row = usize::from(self.sm[usize::from(entry.thread)]) * self.cells.len();
            if let Some(slot) = self.shape.l1[row + usize::from(entry.cell)] {
                state.bytes[usize::from(slot)] = entry.data;
            }
        }
        self.deliver(state, entry, entry.data);
    }

    fn deliver(&mut self, state: &mut State, entry: QueueEntry, value: ValueId) {
        let Site { cells, ty, .. } = *self.site(&entry);
        let start = if cells > 1 {
            Self::small((self.cells[usize::from(entry.cell)].start % ty.bytes()) as usize)
        } else {
            0
        };
        let site = entry.site;
        self.change(state, entry.thread.into(), Change::Deliver { site, start, value });
    }

    /// Rule Atom: an operation on the cells of a scalar, in one step.
    pub(super) fn exchange(
        &mut self,
        state: &mut State,
        thread: usize,
        site: u8,
        cells: Range<usize>,
        operation: u8,
    ) {
        let AccessRequest::Atomic { op, ty, first, second, flushes, returns, .. } =
            self.tables.operations.list[usize::from(operation)].clone()
        else {
            unreachable!("the table holds atomic operations only");
        };
        let (mut old, mut below) = (0, 0);
        for cell in cells.clone() {
            old |= self.value(self.shape.memory(state, cell)) << (8 * below);
            below += self.cells[cell].length;
        }
        let count = Self::small(cells.len());
        let first_cell = Self::small(cells.start);
        let mut values = [0; 16];
        for (value, cell) in values.iter_mut().zip(cells.clone()) {
            *value = self.shape.memory(state, cell);
        }
        if returns {
            let none = [0; 16];
            let here = false;
            let piece =
                AccessPiece { site, first: first_cell, count, here, values: none, operation };
            self.answer(state, thread, &piece, &values);
        }
        let flush = |value: Value| {
            if flushes { AluOp::Flush.apply(ty, &[value]) } else { value }
        };
        if let Some(new) = op.apply(ty, flush(old), flush(first), second).map(flush) {
            let new = self.split(first_cell, count, new);
            for (cell, value) in cells.zip(new) {
                self.write(state, cell, value);
            }
        }
    }
}
