//! Rules of issue: the effect of an instruction when its thread executes it.
//!
//! Why they are sound. Coherence order is the order in which writes perform at memory. An SM's line
//! holds a value that memory held at some time, or the SM's youngest store to it that is still queued. Accesses of
//! an SM to one location take effect in the order of issue, since each access waits in the queue for
//! the SM's older ones, and a line never returns to a value older than a store, an atomic or a strong load of its
//! SM. Coherence and SC-per-Location require no more. A value comes only from a store whose
//! data was known when it was issued, so no value comes out of thin air.

use super::form::{AccessLevel, MembarScope};
use super::options::{MachineRule, Variant};
use super::plan::SiteKind;
use super::state::{INVALID, QueueEntry, QueueKind, State, ValueId};
use super::step::{Step, StepVisitor};
use super::table::{AccessPiece, Ask, Change};
use super::{Machine, MemoryPlace};

/// What is done with each way in which an access can be issued; whether some load hit.
pub(super) type IssueVisitor<'d> = &'d mut dyn FnMut(&mut Machine<'_>, State, bool);

/// An access being issued: whose, and the pieces that are left.
#[derive(Clone, Copy)]
struct Issue {
    thread: usize,
    from: u32,
    count: u8,
}

impl Machine<'_> {
    /// A thread's next instruction, if it can begin now.
    pub(super) fn issue(&mut self, state: &State, thread: usize, visit: StepVisitor<'_>) {
        let known = self.known(state, thread);
        let (ask, line) = (known.ask, known.local.pc);
        match ask {
            Ask::Access { from, count, unit } => {
                if self.may_access(state, thread, from, count, unit) {
                    let next = self.copy(state);
                    self.issue_pieces(next, thread, from, count, &mut |machine, next, hit| {
                        let t = Self::small(thread);
                        machine.emit(Step::Issue { thread: t, line, hit }, next, visit);
                    });
                }
            }
            Ask::Copy(copy) => self.issue_copy(state, thread, copy, visit),
            Ask::Object(object, step) => self.issue_object(state, thread, object, step, visit),
            Ask::Track { site, object } => {
                let mut next = self.copy(state);
                self.change(&mut next, thread, Change::Track { site, object });
                let t = Self::small(thread);
                self.emit(Step::Issue { thread: t, line, hit: false }, next, visit);
            }
            Ask::Membar { .. }
            | Ask::Invalidate
            | Ask::AcquireWait
            | Ask::ReleaseWait
            | Ask::View
            | Ask::SharedView
            | Ask::ClusterArrive => {
                let mut next = self.copy(state);
                if let Some(step) = self.fence(&mut next, thread) {
                    self.emit(step, next, visit);
                } else {
                    self.spare.push(next);
                }
            }
            Ask::Barrier { id, .. } if self.counted[self.cta_barrier(thread, line, id)] => {
                let mut next = self.copy(state);
                if self.arrive(&mut next, thread) {
                    self.emit(Step::Meet { thread: Self::small(thread), line }, next, visit);
                } else {
                    self.spare.push(next);
                }
            }
            // Nothing, or what is done as soon as it can be.
            Ask::Value | Ask::Barrier { .. } | Ask::ClusterWait | Ask::End | Ask::Fault => {}
        }
    }

    /// Changes the state of a thread.
    pub(super) fn change(&mut self, state: &mut State, thread: usize, change: Change) {
        let local = self.shape.local(state, thread);
        let next = self.changed(thread, local, change);
        self.shape.set_local(state, thread, next);
    }

    /// Whether an access may be issued now, as far as it is not its values that it waits for.
    pub(super) fn may_access(
        &self,
        state: &State,
        thread: usize,
        from: u32,
        count: u8,
        unit: Option<MembarScope>,
    ) -> bool {
        if let Some(reach) = unit
            && self.keeps(MachineRule::UnitWaits)
            && !self.may_issue_unit(state, thread, reach)
        {
            return false;
        }
        let class = usize::from(self.class[thread]);
        let known = self.known(state, thread);
        let fenced = known.local.fenced.is_some();
        if self.has(Variant::InOrder) && !known.idle {
            return false;
        }
        (from..from + u32::from(count)).all(|index| {
            let piece = &self.tables.pieces[index as usize];
            let site = &self.plans[class].sites[usize::from(piece.site)];
            // Only loads go past a MEMBAR.
            (!fenced || !site.is_store())
                && (!self.options.store_buffers || self.buffer_allows(state, thread, piece))
        })
    }

    /// Rule Atom-AR, first half: no store of its SM is on its way to where the atomic is seen from.
    fn may_issue_unit(&self, state: &State, thread: usize, reach: MembarScope) -> bool {
        let sm = self.sm[thread];
        self.shape.entries(state).all(|entry| {
            let queued = match entry.list {
                QueueKind::Queue => true,
                QueueKind::Link => reach == MembarScope::Sys,
                QueueKind::Buffer => usize::from(entry.thread) == thread,
                QueueKind::Back | QueueKind::Loose | QueueKind::Latched => false,
            };
            let counts = self.options.lazy_cta || self.is_store(&entry);
            !queued || self.sm[usize::from(entry.thread)] != sm || !counts
        })
    }

    /// Reading R51: weak loads see the thread's own buffered stores, all others and atomics wait for
    /// those to the same place. A load that would need a part of them waits too.
    fn buffer_allows(&self, state: &State, thread: usize, piece: &AccessPiece) -> bool {
        let site = &self.plans[usize::from(self.class[thread])].sites[usize::from(piece.site)];
        let buffered = piece.cells().filter(|&cell| self.buffered(state, thread, cell).is_some());
        let buffered = buffered.count();
        let private = self.cells[usize::from(piece.first)].place == MemoryPlace::Private;
        if buffered == 0 || site.kind == SiteKind::Write || private {
            return true;
        }
        let is_read = site.kind == SiteKind::Read;
        if is_read
            && (site.level == AccessLevel::ReadOnly || !self.keeps(MachineRule::LoadsSeeBuffer))
        {
            return true;
        }
        is_read && (site.is_cached() || piece.here) && buffered == usize::from(piece.count)
    }

    /// The value of the thread's youngest store to a cell that is in its buffer.
    fn buffered(&self, state: &State, thread: usize, cell: usize) -> Option<ValueId> {
        let all = self.shape.entries(state);
        let own = all.filter(|entry| {
            entry.list == QueueKind::Buffer
                && usize::from(entry.thread) == thread
                && usize::from(entry.cell) == cell
        });
        own.last().map(|entry| entry.data)
    }

    /// Issues the pieces of an access; hands each way in which that can go to `done`.
    pub(super) fn issue_pieces(
        &mut self,
        mut state: State,
        thread: usize,
        from: u32,
        count: u8,
        done: IssueVisitor<'_>,
    ) {
        // The thread is past it before any value comes back: all are on their way from here on.
        let class = usize::from(self.class[thread]);
        for index in from..from + u32::from(count) {
            let site = self.tables.pieces[index as usize].site;
            if self.plans[class].sites[usize::from(site)].returns {
                self.change(&mut state, thread, Change::Expect { site });
            }
        }
        self.change(&mut state, thread, Change::Advance);
        self.pieces(state, Issue { thread, from, count }, false, done);
    }

    /// Issues the pieces of one access, one after the other; a read may be a hit or a miss.
    fn pieces(&mut self, mut state: State, of: Issue, hit: bool, done: IssueVisitor<'_>) {
        if of.count == 0 {
            return done(self, state, hit);
        }
        let piece = self.tables.pieces[of.from as usize];
        let rest = Issue { from: of.from + 1, count: of.count - 1, ..of };
        let class = usize::from(self.class[of.thread]);
        let site = self.plans[class].sites[usize::from(piece.site)];
        match site.kind {
            SiteKind::Read => {
                if let Some(values) = self.forwarded(&state, of.thread, &piece) {
                    self.answer(&mut state, of.thread, &piece, &values);
                    return self.pieces(state, rest, true, done);
                }
                if piece.here {
                    let values = self.memory_of(&state, &piece);
                    self.answer(&mut state, of.thread, &piece, &values);
                    return self.pieces(state, rest, hit, done);
                }
                if let Some(values) = self.line_of(&state, of.thread, &piece, site.level) {
                    let mut answered = self.copy(&state);
                    self.answer(&mut answered, of.thread, &piece, &values);
                    self.pieces(answered, rest, true, done);
                    if !self.options.eviction {
                        self.spare.push(state);
                        return;
                    }
                }
                self.miss(&mut state, of.thread, &piece, site.level);
            }
            SiteKind::Write => {
                let private = self.cells[usize::from(piece.first)].place == MemoryPlace::Private;
                if self.options.store_buffers && !private {
                    for (cell, value) in piece.cells().zip(piece.values) {
                        self.push(
                            &mut state,
                            of.thread,
                            &piece,
                            QueueKind::Buffer,
                            cell,
                            value,
                            false,
                        );
                    }
                } else {
                    self.store(&mut state, of.thread, &piece);
                }
            }
            SiteKind::Atomic if piece.here => {
                self.exchange(&mut state, of.thread, piece.site, piece.cells(), piece.operation);
            }
            SiteKind::Atomic => {
                // Rule Atom: it is performed at memory, and no older line is seen after it.
                if self.keeps(MachineRule::AtomicDropsLine) {
                    self.drop_lines(&mut state, of.thread, &piece);
                }
                for cell in piece.cells() {
                    let operation = piece.operation;
                    self.push(
                        &mut state,
                        of.thread,
                        &piece,
                        QueueKind::Queue,
                        cell,
                        operation,
                        false,
                    );
                }
            }
        }
        self.pieces(state, rest, hit, done);
    }

    /// What a load finds in its thread's store buffer.
    fn forwarded(
        &self,
        state: &State,
        thread: usize,
        piece: &AccessPiece,
    ) -> Option<[ValueId; 16]> {
        let site = &self.plans[usize::from(self.class[thread])].sites[usize::from(piece.site)];
        let looks = self.options.store_buffers
            && self.keeps(MachineRule::LoadsSeeBuffer)
            && site.level != AccessLevel::ReadOnly;
        let mut values = [0; 16];
        for (value, cell) in values.iter_mut().zip(piece.cells()) {
            *value = looks.then(|| self.buffered(state, thread, cell)).flatten()?;
        }
        Some(values)
    }

    fn memory_of(&self, state: &State, piece: &AccessPiece) -> [ValueId; 16] {
        let mut values = [0; 16];
        for (value, cell) in values.iter_mut().zip(piece.cells()) {
            *value = self.shape.memory(state, cell);
        }
        values
    }

    /// Rules Ld-hit and Ld-ro: what the load finds at its SM, if all of it is there. An old line is
    /// older than no store of the SM, and no axiom wants more of a load that no `CCTL.IVALL`
    /// precedes. What the read-only path answers the axioms do not cover where anybody writes it.
    pub(super) fn line_of(
        &self,
        state: &State,
        thread: usize,
        piece: &AccessPiece,
        level: AccessLevel,
    ) -> Option<[ValueId; 16]> {
        let slots = match level {
            AccessLevel::Weak | AccessLevel::Sm => &self.shape.l1,
            AccessLevel::Gpu if self.has(Variant::StrongHits) => &self.shape.l1,
            AccessLevel::ReadOnly => &self.shape.read_only,
            AccessLevel::Gpu | AccessLevel::Sys | AccessLevel::Own => return None,
        };
        let row = usize::from(self.sm[thread]) * self.cells.len();
        let mut values = [0; 16];
        for (value, cell) in values.iter_mut().zip(piece.cells()) {
            *value = state.bytes[usize::from(slots[row + cell]?)];
            if *value == INVALID {
                return None;
            }
        }
        Some(values)
    }

    /// Rules Ld-miss and Ld-strong: a line that the load does not use was evicted, or is passed by,
    /// and older loads do not bring it back.
    pub(super) fn miss(
        &mut self,
        state: &mut State,
        thread: usize,
        piece: &AccessPiece,
        level: AccessLevel,
    ) {
        let global = matches!(self.cells[usize::from(piece.first)].place, MemoryPlace::Global(_));
        let cached = matches!(level, AccessLevel::Weak | AccessLevel::Sm) && global;
        let loose = level == AccessLevel::ReadOnly && global;
        if !loose && (cached || self.keeps(MachineRule::StrongLoadDropsLine)) {
            self.drop_lines(state, thread, piece);
        }
        let list = if loose { QueueKind::Loose } else { QueueKind::Queue };
        for cell in piece.cells() {
            self.push(state, thread, piece, list, cell, 0, cached);
        }
    }

    /// Rule St: the SM's own line has the value at once, memory in time. Threads of the SM may see
    /// it before others do; who is further away sees it in the order of the queue.
    fn store(&mut self, state: &mut State, thread: usize, piece: &AccessPiece) {
        for (cell, value) in piece.cells().zip(piece.values) {
            if piece.here {
                self.write(state, cell, value);
            } else {
                self.store_cell(state, thread, cell, value);
                self.push(state, thread, piece, QueueKind::Queue, cell, value, false);
            }
        }
    }

    /// Readings R54 and R55: whatever its strength, a store updates the line of its SM if it is there.
    pub(super) fn store_cell(&mut self, state: &mut State, thread: usize, cell: usize, value: u8) {
        let sm = self.sm[thread];
        let allocates = self.has(Variant::Allocates);
        if let Some(slot) = self.shape.l1[usize::from(sm) * self.cells.len() + cell] {
            let line = &mut state.bytes[usize::from(slot)];
            if *line != INVALID || allocates {
                *line = value;
            }
        }
        if self.keeps(MachineRule::StoreCancelsFills) {
            self.cancel_fills(state, |entry, machine| {
                usize::from(entry.cell) == cell && machine.sm[usize::from(entry.thread)] == sm
            });
        }
    }

    /// The SM's lines of these cells are no longer valid, nor will older loads make them so.
    fn drop_lines(&mut self, state: &mut State, thread: usize, piece: &AccessPiece) {
        let sm = self.sm[thread];
        let row = usize::from(sm) * self.cells.len();
        let mut any = false;
        for cell in piece.cells() {
            if let Some(slot) = self.shape.l1[row + cell] {
                state.bytes[usize::from(slot)] = INVALID;
                any = true;
            }
        }
        let cells = piece.cells();
        if any {
            self.cancel_fills(state, |entry, machine| {
                cells.contains(&usize::from(entry.cell))
                    && machine.sm[usize::from(entry.thread)] == sm
            });
        }
    }

    /// Loads on their way that will fill no line: values that only wait to do so arrive.
    pub(super) fn cancel_fills(
        &mut self,
        state: &mut State,
        which: impl Fn(&QueueEntry, &Machine<'_>) -> bool,
    ) {
        let mut index = 0;
        while index < self.shape.count(state) {
            let mut entry = self.shape.entry(state, index);
            if entry.fill && which(&entry, self) {
                entry.fill = false;
                if entry.list == QueueKind::Back {
                    self.shape.remove(state, index);
                    self.come_back(state, entry);
                    index = 0;
                    continue;
                }
                self.shape.set_entry(state, index, entry);
            }
            index += 1;
        }
    }

    /// Reads have their values.
    pub(super) fn answer(
        &mut self,
        state: &mut State,
        thread: usize,
        piece: &AccessPiece,
        values: &[ValueId; 16],
    ) {
        for (index, &value) in (0..piece.count).zip(values) {
            let start = index * Self::small(self.grain as usize);
            self.change(state, thread, Change::Deliver { site: piece.site, start, value });
        }
    }

    /// A piece of an access, after those of its queue.
    #[allow(clippy::too_many_arguments, reason = "the fields of an entry")]
    fn push(
        &self,
        state: &mut State,
        thread: usize,
        piece: &AccessPiece,
        list: QueueKind,
        cell: usize,
        data: u8,
        fill: bool,
    ) {
        let (cell, thread) = (Self::small(cell), Self::small(thread));
        let site = piece.site;
        let entry = QueueEntry { list, cell, thread, site, fill, copy: false, data, awaited: 0 };
        self.enqueue(state, entry);
    }

    /// Whether a `MEMBAR` or barrier has to wait for the thread's store buffer.
    pub(super) fn has_buffered(&self, state: &State, thread: usize) -> bool {
        self.options.store_buffers
            && self
                .shape
                .entries(state)
                .any(|entry| entry.list == QueueKind::Buffer && usize::from(entry.thread) == thread)
    }
}
