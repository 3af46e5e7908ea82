//! Rules of the memory system: how accesses leave queues, what they do at memory, what returns.
//!
//! Why they are sound: a queue is a FIFO for each location, on the way out of an SM and on the way
//! out of a GPU, so whoever shares one sees the accesses of one location in one order; between
//! locations there is none, which is what relaxed accesses may show.

use std::ops::Range;

use super::Machine;
use super::form::{Level, Reach};
use super::local::Access;
use super::options::{Reduce, Rule};
use super::plan::{Kind, Site};
use super::state::{Entry, INVALID, List, State, ValueId};
use super::step::{Step, Visit};
use super::table::{Change, Piece};
use model::isa::alu::AluOp;
use model::value::Value;

/// The pieces of one scalar, by their places in the list of entries.
#[derive(Clone, Copy)]
pub(super) struct Group {
    places: [u8; 16],
    count: u8,
}

impl Group {
    fn places(&self) -> &[u8] {
        &self.places[..usize::from(self.count)]
    }
}

impl Machine<'_> {
    /// Which FIFO an entry is in.
    fn queue(&self, entry: &Entry) -> (List, u8, u8) {
        let sm = self.sm[usize::from(entry.thread)];
        let owner = match entry.list {
            List::Queue => sm,
            List::Link => self.gpu[usize::from(sm)],
            List::Buffer | List::Back | List::Loose => entry.thread,
        };
        (entry.list, entry.cell, owner)
    }

    /// Puts an entry behind those of its queue; where there is no order, in one that depends on
    /// nothing but what is there.
    pub(super) fn enqueue(&self, state: &mut State, entry: Entry) {
        let key = self.queue(&entry);
        let ordered = matches!(entry.list, List::Buffer | List::Queue | List::Link);
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
            List::Buffer => true,
            List::Queue => self.keeps(Rule::SmOrder),
            List::Link => self.keeps(Rule::LinkOrder),
            List::Back | List::Loose => false,
        };
        if !ordered {
            return true;
        }
        let queue = self.queue(&entry);
        let weak =
            |entry: &Entry| self.site(entry).kind == Kind::Read && self.level(entry) == Level::Weak;
        let passes = self.options.weak_pass && entry.list == List::Queue && weak(&entry);
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
    pub(super) fn group(&self, state: &State, index: usize) -> Option<Group> {
        let entry = self.shape.entry(state, index);
        let site = self.site(&entry);
        let mut group = Group { places: [u8::try_from(index).ok()?; 16], count: 1 };
        if site.cells > 1 {
            let start = self.cells[usize::from(entry.cell)].start;
            if !start.is_multiple_of(site.ty.bytes()) {
                return None;
            }
            for piece in 0..usize::from(site.cells) {
                let cell = usize::from(entry.cell) + piece;
                // The oldest one: a loop may have come here more than once.
                let place = (0..self.shape.count(state)).find(|&place| {
                    let other = self.shape.entry(state, place);
                    usize::from(other.cell) == cell && other.is_with(&entry)
                })?;
                group.places[piece] = u8::try_from(place).ok()?;
            }
            group.count = site.cells;
            if usize::from(group.places[0]) != index {
                return None;
            }
        }
        let all = group.places().iter().all(|&place| self.is_head(state, place.into()));
        all.then_some(group)
    }

    /// Takes the entries of a group out of the list; the first of them.
    fn take(&self, state: &mut State, group: &Group, taken: &mut [Entry; 16]) -> Entry {
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
    pub(super) fn progress(&mut self, state: &State, index: usize, visit: Visit<'_>) {
        let entry = self.shape.entry(state, index);
        let Entry { cell, thread, .. } = entry;
        if entry.list == List::Back {
            let mut next = self.copy(state);
            self.shape.remove(&mut next, index);
            self.arrived(&mut next, entry);
            return self.emit(Step::Return { thread, cell, fills: entry.fill }, next, visit);
        }
        let Some(group) = self.group(state, index) else { return };
        if entry.list == List::Queue {
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
    pub(super) fn unit_may_leave(&self, state: &State, entry: &Entry) -> bool {
        if self.site(entry).unit != Some(Reach::Sys) || !self.keeps(Rule::UnitWaits) {
            return true;
        }
        let gpu = self.gpu[usize::from(self.sm[usize::from(entry.thread)])];
        self.shape.entries(state).all(|other| {
            let at = self.gpu[usize::from(self.sm[usize::from(other.thread)])];
            other.list != List::Link || at != gpu || !self.is_store(&other)
        })
    }

    /// Moves a group on: out of its store buffer, out of its SM, out of the link.
    pub(super) fn advance_group(&mut self, state: &mut State, group: &Group) -> Step {
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

    fn advance_entries(&mut self, state: &mut State, taken: &[Entry]) -> Step {
        let Entry { list, cell, thread, .. } = taken[0];
        let gpu = self.gpu[usize::from(self.sm[usize::from(thread)])];
        match list {
            List::Buffer => {
                for entry in taken {
                    self.drain(state, *entry);
                }
                Step::Drain { thread, cell }
            }
            List::Queue if self.is_far(gpu, cell.into()) => {
                for entry in taken {
                    self.to_link(state, *entry, gpu);
                }
                Step::Leave { thread, cell }
            }
            List::Queue => {
                self.perform(state, taken);
                Step::Perform { thread, cell }
            }
            List::Link => {
                for entry in taken.iter().filter(|entry| entry.copy) {
                    if let Some(slot) = self.copy_slot(gpu, entry.cell.into()) {
                        state.bytes[slot] = self.shape.memory(state, entry.cell.into());
                    }
                }
                self.perform(state, taken);
                Step::Arrive { thread, cell }
            }
            List::Loose | List::Back => {
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
    fn drain(&mut self, state: &mut State, entry: Entry) {
        let thread = usize::from(entry.thread);
        let cell = usize::from(entry.cell);
        let here = match self.cells[cell].place {
            super::Place::Shared { sm, cta } => sm == self.sm[thread] && cta == self.cta[thread],
            super::Place::Global(_) | super::Place::Private => false,
        };
        if here {
            self.shape.set_memory(state, cell, entry.data);
        } else {
            self.store_cell(state, thread, cell, entry.data);
            self.enqueue(state, Entry { list: List::Queue, ..entry });
        }
    }

    /// To the end of the link; reading C8: what passes updates or drops the GPU's copy.
    fn to_link(&self, state: &mut State, entry: Entry, gpu: u8) {
        let cell = usize::from(entry.cell);
        let mut moved = Entry { list: List::Link, ..entry };
        moved.awaited = self.still_awaited(state, entry.awaited);
        if let Some(slot) = self.copy_slot(gpu, cell) {
            let site = self.site(&entry);
            match site.kind {
                Kind::Write if state.bytes[slot] != INVALID => state.bytes[slot] = entry.data,
                Kind::Write => {}
                Kind::Read | Kind::Atomic => state.bytes[slot] = INVALID,
            }
            if self.keeps(Rule::PassingCancelsCopies) {
                self.cancel_copies(state, gpu, cell);
            }
            moved.copy = site.kind == Kind::Read && self.level(&entry) < Level::Sys;
        }
        self.enqueue(state, moved);
    }

    /// Rule Link-forward: a load may be answered by the youngest store that waits in its GPU's
    /// link, or by its GPU's copy (reading C8). Of all in that link the store performs last, and
    /// nothing of this GPU comes before it any more: the load sees what it would see behind it.
    fn answered_on_the_way(&mut self, state: &State, group: &Group, visit: Visit<'_>) {
        if group.count != 1 {
            return;
        }
        let entry = self.shape.entry(state, group.places[0].into());
        let Entry { cell, thread, .. } = entry;
        let gpu = self.gpu[usize::from(self.sm[usize::from(thread)])];
        if self.site(&entry).kind != Kind::Read || !self.is_far(gpu, cell.into()) {
            return;
        }
        let sys = self.level(&entry) == Level::Sys;
        if let Some(value) = self.waiting(state, gpu, cell)
            && (self.options.forward && !sys || self.options.forward_sys)
            && !self.overtakes(state, &entry)
        {
            self.answered(state, group, value, Step::Forward { thread, cell }, visit);
        }
        if let Some(slot) = self.copy_slot(gpu, cell.into())
            && state.bytes[slot] != INVALID
            && !sys
        {
            let value = state.bytes[slot];
            self.answered(state, group, value, Step::Copy { thread, cell }, visit);
        }
    }

    /// Whether the load's thread has an older one in the link, which will read at its home: of the
    /// two, only weak loads may pass each other (reading C2).
    fn overtakes(&self, state: &State, load: &Entry) -> bool {
        let weak = |entry: &Entry| self.level(entry) == Level::Weak;
        self.shape.entries(state).any(|older| {
            older.list == List::Link
                && (older.thread, older.cell) == (load.thread, load.cell)
                && self.site(&older).kind == Kind::Read
                && !(self.options.weak_pass && weak(&older) && weak(load))
        })
    }

    fn answered(
        &mut self,
        state: &State,
        group: &Group,
        value: ValueId,
        step: Step,
        visit: Visit<'_>,
    ) {
        let mut next = self.copy(state);
        let place = usize::from(group.places[0]);
        let entry = self.shape.entry(&next, place);
        self.shape.remove(&mut next, place);
        self.come_back(&mut next, Entry { data: value, ..entry });
        self.emit(step, next, visit);
    }

    /// The value of the youngest store in a GPU's link to a cell, unless an atomic is younger.
    pub(super) fn waiting(&self, state: &State, gpu: u8, cell: u8) -> Option<ValueId> {
        let all = self.shape.entries(state);
        let there = all.filter(|entry| {
            entry.list == List::Link
                && entry.cell == cell
                && self.gpu[usize::from(self.sm[usize::from(entry.thread)])] == gpu
                && self.is_store(entry)
        });
        let youngest = there.last()?;
        (self.site(&youngest).kind == Kind::Write).then_some(youngest.data)
    }

    /// Rule Perform: what the pieces of one scalar do at memory, in one step: a single access is
    /// not torn, and nothing comes between the halves of an atomic.
    fn perform(&mut self, state: &mut State, taken: &[Entry]) {
        let first = taken[0];
        let site = *self.site(&first);
        match site.kind {
            Kind::Read => {
                for entry in taken {
                    let data = self.shape.memory(state, entry.cell.into());
                    self.come_back(state, Entry { data, ..*entry });
                }
            }
            Kind::Write => {
                for entry in taken {
                    self.shape.set_memory(state, entry.cell.into(), entry.data);
                }
            }
            Kind::Atomic => {
                let cells = usize::from(first.cell)..usize::from(first.cell) + taken.len();
                let thread = usize::from(first.thread);
                self.exchange(state, thread, first.site, cells, first.data);
                if site.unit.is_some() && self.keeps(Rule::UnitInvalidates) {
                    // Rule Atom-AR, second half: what it acquired is seen through no older line.
                    self.invalidate(state, self.sm[thread]);
                }
            }
        }
    }

    /// A read has its value: it is on its way back. What can not be told from its being there is.
    pub(super) fn come_back(&mut self, state: &mut State, entry: Entry) {
        let Entry { cell, thread, fill, .. } = entry;
        if self.options.reduced() || !fill && self.options.reduce >= Reduce::Por {
            self.arrived(state, entry);
            self.steps.push(Step::Return { thread, cell, fills: fill });
        } else {
            let back = Entry { list: List::Back, copy: false, awaited: 0, ..entry };
            self.enqueue(state, back);
        }
    }

    /// Rule Return: the value is there, and fills its line; it may not where a newer access of the
    /// SM has canceled the fill, since the line would go back behind that one.
    fn arrived(&mut self, state: &mut State, entry: Entry) {
        if entry.fill {
            let row = usize::from(self.sm[usize::from(entry.thread)]) * self.cells.len();
            if let Some(slot) = self.shape.l1[row + usize::from(entry.cell)] {
                state.bytes[usize::from(slot)] = entry.data;
            }
        }
        self.deliver(state, entry, entry.data);
    }

    fn deliver(&mut self, state: &mut State, entry: Entry, value: ValueId) {
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
        let Access::Atomic { op, ty, first, second, flushes, returns, .. } =
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
            let piece = Piece { site, first: first_cell, count, here, values: none, operation };
            self.answer(state, thread, &piece, &values);
        }
        let flush = |value: Value| {
            if flushes { AluOp::Flush.apply(ty, &[value]) } else { value }
        };
        if let Some(new) = op.apply(ty, flush(old), flush(first), second).map(flush) {
            let new = self.split(first_cell, count, new);
            for (cell, value) in cells.zip(new) {
                self.shape.set_memory(state, cell, value);
            }
        }
    }
}
