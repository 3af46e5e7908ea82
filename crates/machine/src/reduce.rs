//! Eager steps, which are taken as soon as possible, and equivalent states.
//!
//! Each eager step commutes with every step that could precede it, and the state after it reaches the
//! same ends as the state before it. So no outcome is lost if it is taken at once, without
//! the alternatives. The arguments assume all rules of the
//! machine, and that a valid line may be evicted (`Options::reduced`). Steps that advance a thread are
//! eager only in code without loops: otherwise a run could repeat a loop for ever and never execute other threads.

use super::form::AccessLevel;
use super::plan::SiteKind;
use super::state::{INVALID, QueueEntry, QueueKind, State};
use super::step::Step;
use super::table::{AccessPiece, Ask};
use super::{MOST_THREADS, Machine, MemoryPlace, Reduce};

/// More steps at once than any code without a loop has.
const ROUNDS: u32 = 10_000;

/// By SM: cells that others have still to write, and to access in any way; and cells that anybody
/// has still to read through the read-only path.
#[derive(Default)]
struct Others {
    written: [u64; MOST_THREADS],
    touched: [u64; MOST_THREADS],
    loose: u64,
    /// Cells that bulk copies of any SM have still to access.
    direct: u64,
}

impl Machine<'_> {
    /// Takes eager steps until there are none. Barriers are always passed as soon as they can be:
    /// arriving and going on only lets others, or the thread itself, go on.
    pub(super) fn settle(&mut self, state: &mut State) {
        if self.options.reduce < Reduce::Por && !self.settles {
            return;
        }
        // A loop of barriers alone would go on for ever.
        for _ in 0..ROUNDS {
            if self.tables.overflow.is_some() {
                return;
            }
            let mut moved = false;
            for thread in 0..self.sm.len() {
                if self.settles {
                    moved |= self.barrier(state, thread) || self.follow(state, thread);
                }
                if self.is_eager_fence(state, thread)
                    && let Some(step) = self.fence(state, thread)
                {
                    self.steps.push(step);
                    moved = true;
                }
            }
            if moved {
                continue;
            }
            if !self.options.reduced() || !self.eager(state) {
                return;
            }
        }
        self.tables.overflow = Some(super::LONG);
    }

    /// Waits and `MEMBAR`s: the sooner one begins the less it finds to wait for, and that it ends
    /// concerns its thread alone. `CCTL.IVALL` where no other thread uses the L1: its own loads are
    /// done, so nothing can happen to these lines before it.
    fn is_eager_fence(&self, state: &State, thread: usize) -> bool {
        if self.options.reduce < Reduce::Por || self.plan(thread).loops {
            return false;
        }
        let ask = &self.known(state, thread).ask;
        if matches!(ask, Ask::Invalidate) {
            return self.options.reduced() && self.alone[thread] && !self.options.copies;
        }
        matches!(ask, Ask::AcquireWait | Ask::ReleaseWait | Ask::Membar { .. } | Ask::ClusterArrive)
    }

    fn plan(&self, thread: usize) -> &super::plan::ThreadCode {
        &self.plans[usize::from(self.class[thread])]
    }

    /// Takes one eager step, if there is one.
    fn eager(&mut self, state: &mut State) -> bool {
        self.forget_lines(state);
        let count = self.shape.count(state);
        if count > 0 {
            let others = self.others(state);
            for index in 0..count {
                let entry = self.shape.entry(state, index);
                if matches!(entry.list, QueueKind::Queue | QueueKind::Link)
                    && self.nobody_can_tell(state, &entry, &others)
                    && let Some(group) = self.group(state, index)
                {
                    let at = self.steps.len();
                    let step = self.advance_group(state, &group);
                    // Before what came of it.
                    self.steps.insert(at, step);
                    return true;
                }
            }
        }
        (0..self.sm.len()).any(|thread| self.issue_eagerly(state, thread))
    }

    /// What is left to be done by each SM, of all the others.
    fn others(&self, state: &State) -> Others {
        let sms = self.gpu.len();
        let (mut written, mut touched) = ([0_u64; MOST_THREADS], [0_u64; MOST_THREADS]);
        let mut others = Others { loose: 0, ..Others::default() };
        for thread in 0..self.sm.len() {
            let future = self.known(state, thread).future;
            let sm = usize::from(self.sm[thread]);
            written[sm] |= future.written;
            touched[sm] |= future.touched();
            others.loose |= future.loose;
            others.direct |= future.direct | self.copied_directly(state, thread);
        }
        for entry in self.shape.entries(state) {
            let sm = usize::from(self.sm[usize::from(entry.thread)]);
            let cell = 1_u64 << entry.cell;
            match entry.list {
                QueueKind::Buffer | QueueKind::Queue | QueueKind::Link => {
                    touched[sm] |= cell;
                    if self.is_store(&entry) {
                        written[sm] |= cell;
                    }
                }
                QueueKind::Loose => others.loose |= cell,
                QueueKind::Back | QueueKind::Latched => {}
            }
        }
        for sm in 0..sms {
            for other in (0..sms).filter(|other| *other != sm) {
                others.written[sm] |= written[other];
                others.touched[sm] |= touched[other];
            }
        }
        others
    }

    /// A line that no load will look for any more is as good as lost, and nobody waits for one.
    fn forget_lines(&mut self, state: &mut State) {
        let cells = self.cells.len();
        let mut wanted = [0_u64; MOST_THREADS];
        for thread in 0..self.sm.len() {
            wanted[usize::from(self.sm[thread])] |= self.known(state, thread).future.cached;
        }
        for (index, slot) in self.shape.l1.iter().enumerate() {
            if let Some(slot) = slot
                && wanted[index / cells] >> (index % cells) & 1 == 0
            {
                state.bytes[usize::from(*slot)] = INVALID;
            }
        }
        for index in 0..self.shape.count(state) {
            let mut entry = self.shape.entry(state, index);
            let sm = usize::from(self.sm[usize::from(entry.thread)]);
            if entry.fill && wanted[sm] >> entry.cell & 1 == 0 {
                entry.fill = false;
                self.shape.set_entry(state, index, entry);
            }
        }
    }

    /// Whether no access that is still to come could show when this one is performed: for a read,
    /// nobody but its own SM will write there; for a write, nobody but its own SM will access it at
    /// all. What its own SM does comes after it in the same FIFO. A unit drops lines when it is
    /// performed, and is left alone.
    fn nobody_can_tell(&self, state: &State, entry: &QueueEntry, others: &Others) -> bool {
        let site = self.site(entry);
        let first = usize::from(entry.cell);
        let cells = ((1_u64 << self.together(state, entry)) - 1) << first;
        let sm = usize::from(self.sm[usize::from(entry.thread)]);
        let reads = site.kind == SiteKind::Read;
        let conflicts = if reads { others.written[sm] } else { others.touched[sm] | others.loose };
        if (conflicts | others.direct) & cells != 0
            || site.unit.is_some()
            || !matches!(self.cells[first].place, MemoryPlace::Global(_))
        {
            return false;
        }
        let gpu = self.gpu[sm];
        if !self.is_far(gpu, first) {
            return true;
        }
        // On its way to far memory it might be answered by what it meets there.
        let answered = reads && self.waiting(state, gpu, entry.cell).is_some();
        !self.options.copies && !answered
    }

    /// Issues an access at once where that is all that can happen to its thread and nobody can tell
    /// when: see `is_eager`.
    fn issue_eagerly(&mut self, state: &mut State, thread: usize) -> bool {
        let known = self.known(state, thread);
        let (Ask::Access { from, count, unit }, line) = (known.ask, known.local.pc) else {
            return false;
        };
        let pieces = &self.tables.pieces[from as usize..from as usize + usize::from(count)];
        if self.plan(thread).loops
            || self.options.store_buffers
            || !self.may_access(state, thread, from, count, unit)
            || !pieces.iter().all(|piece| self.is_eager(state, thread, piece))
        {
            return false;
        }
        let next = self.copy(state);
        let mut issued = None;
        self.issue_pieces(next, thread, from, count, &mut |_, next, _| issued = Some(next));
        let Some(mut next) = issued else { return false };
        std::mem::swap(state, &mut next);
        self.spare.push(next);
        self.steps.push(Step::Issue { thread: Self::small(thread), line, hit: false });
        true
    }

    /// In the SM's own memory: nobody else comes there in a way that shows. Through queues, for a
    /// thread that has its SM to itself: only this thread touches these lines and FIFOs, an earlier
    /// place in a FIFO is still a choice of when to leave it, and
    /// - a load that has no line to find, and will find none that is on its way, can only miss;
    /// - a strong load or an atomic drops the line, whether a fill came before it or not;
    /// - a store leaves a line that is not valid as it is, so a fill must not be on its way.
    fn is_eager(&self, state: &State, thread: usize, piece: &AccessPiece) -> bool {
        let site = &self.plan(thread).sites[usize::from(piece.site)];
        if piece.here {
            return self.is_unshared(state, thread, piece, site.kind);
        }
        if !self.alone[thread] {
            return false;
        }
        match site.kind {
            SiteKind::Atomic => true,
            SiteKind::Write => !self.awaits_fill(state, thread, piece),
            SiteKind::Read => match site.level {
                AccessLevel::Gpu | AccessLevel::Sys => true,
                AccessLevel::Weak | AccessLevel::Sm => {
                    !self.awaits_fill(state, thread, piece)
                        && self.line_of(state, thread, piece, site.level).is_none()
                }
                AccessLevel::ReadOnly | AccessLevel::Own => false,
            },
        }
    }

    /// Whether a read of the SM's is on its way that will fill one of these lines.
    fn awaits_fill(&self, state: &State, thread: usize, piece: &AccessPiece) -> bool {
        let sm = self.sm[thread];
        self.shape.entries(state).any(|entry| {
            entry.fill
                && piece.cells().contains(&usize::from(entry.cell))
                && self.sm[usize::from(entry.thread)] == sm
        })
    }

    /// Whether no other thread will write there, or access it at all if this one writes.
    fn is_unshared(
        &self,
        state: &State,
        thread: usize,
        piece: &AccessPiece,
        kind: SiteKind,
    ) -> bool {
        if self.cells[usize::from(piece.first)].place == MemoryPlace::Private {
            return true;
        }
        let cells = piece.cells().fold(0_u64, |all, cell| all | 1 << cell);
        let reads = kind == SiteKind::Read;
        // What bulk copies see of a store depends on the fences of others.
        if !reads && piece.cells().any(|cell| self.shape.views[cell].is_some()) {
            return false;
        }
        let others = (0..self.sm.len()).filter(|&other| other != thread);
        let still = others.into_iter().any(|other| {
            let future = self.known(state, other).future;
            let conflicts = if reads { future.written } else { future.touched() };
            conflicts & cells != 0
        });
        !still
            && !self.will_be_copied(state, cells)
            && self
                .shape
                .entries(state)
                .all(|entry| cells >> entry.cell & 1 == 0 || reads && !self.is_store(&entry))
    }

    /// A thread whose next step is all that needs to be looked at: it has its SM to itself, its
    /// load finds a line, and no fill of it is on its way. To hit and to miss is all that can be
    /// done with this line, now or later, and what others do changes neither.
    pub(super) fn decided(&self, state: &State) -> Option<usize> {
        if !self.options.reduced() || self.options.store_buffers {
            return None;
        }
        (0..self.sm.len()).find(|&thread| {
            if !self.alone[thread] || self.plan(thread).loops {
                return false;
            }
            let Ask::Access { from, count, unit } = self.known(state, thread).ask else {
                return false;
            };
            let pieces = &self.tables.pieces[from as usize..from as usize + usize::from(count)];
            pieces.iter().all(|piece| {
                let site = &self.plan(thread).sites[usize::from(piece.site)];
                let global =
                    matches!(self.cells[usize::from(piece.first)].place, MemoryPlace::Global(_));
                site.is_cached() && global && !self.awaits_fill(state, thread, piece)
            }) && !pieces.is_empty()
                && self.may_access(state, thread, from, count, unit)
        })
    }
}
