//! The rules: what may happen next. Each is one transition.

use std::ops::Range;

use super::form::{Form, Level, Reach};
use super::local::{Access, Local, Pending, Phase, Scalar, Want};
use super::state::{Entry, INVALID, Kind, Latched, NO_SLOT, State, ValueId};
use super::{Machine, Place};
use crate::isa::{Reg, Type};
use crate::value::{Value, low_bytes};

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Step {
    /// A thread issues the access of a line; a load that finds its line in L1 is done at once.
    Issue { thread: u8, line: u16, hit: bool },
    /// A thread begins a `MEMBAR`, or goes past a `CCTL.IVALL`.
    Fence { thread: u8, line: u16 },
    /// The oldest access of a queue reaches L2, or the link to where the memory is.
    Leave { sm: u8, cell: u8, thread: u8 },
    /// A load is answered by a store that waits in the link.
    Forward { gpu: u8, cell: u8, thread: u8 },
    /// The oldest access of a link reaches memory.
    Arrive { gpu: u8, cell: u8, thread: u8 },
    /// A load of the read-only path reaches memory.
    ReadOnly { sm: u8, cell: u8, thread: u8 },
    /// A value arrives at its SM and fills a line.
    Fill { sm: u8, cell: u8, thread: u8 },
}

/// What is issued: by whom, to which level, and how far as one unit (0 not, 1 GPU, 2 system).
#[derive(Clone, Copy)]
struct Issue {
    thread: usize,
    level: Level,
    fused: u8,
}

pub(super) type Visit<'v> = &'v mut dyn FnMut(Step, State);

impl Machine<'_> {
    /// Hands each state that may follow to `visit`, with what happened.
    pub fn successors(&mut self, state: &State, visit: Visit<'_>) {
        for thread in 0..self.sm.len() {
            self.issue(state, thread, visit);
        }
        self.leave(state, visit);
        self.arrive(state, visit);
        self.read_only(state, visit);
        self.fill(state, visit);
    }

    pub(super) fn bit(thread: usize) -> u8 {
        1 << thread
    }

    pub(super) fn small(number: usize) -> u8 {
        u8::try_from(number).expect("machines are small")
    }

    pub(super) fn line_of(&self, sm: u8, cell: usize) -> usize {
        usize::from(sm) * self.cells.len() + cell
    }

    fn issue(&mut self, state: &State, thread: usize, visit: Visit<'_>) {
        let want = self.want(state, thread).clone();
        let local = self.local(state, thread);
        let line = local.pc;
        let t = Self::small(thread);
        match want {
            Want::Access(scalars) => self.access(state, thread, line, &scalars, visit),
            Want::Form(Form::Membar(reach)) => {
                if local.phase == Phase::Ready && local.pending.is_empty() && reach != Reach::Cta {
                    let mut next = state.clone();
                    self.await_stores(&mut next, thread, false);
                    self.with_local(&mut next, thread, |local| local.phase = Phase::Draining);
                    self.settle(&mut next);
                    visit(Step::Fence { thread: t, line }, next);
                }
            }
            Want::Form(Form::Invalidate) => {
                if local.pending.is_empty() {
                    let mut next = state.clone();
                    self.invalidate(&mut next, self.sm[thread]);
                    self.advance(&mut next, thread);
                    self.settle(&mut next);
                    visit(Step::Fence { thread: t, line }, next);
                }
            }
            // Nothing, or a step that is taken as soon as it can be.
            Want::Value
            | Want::End
            | Want::Fault
            | Want::Barrier { .. }
            | Want::Form(
                Form::Access(_)
                | Form::AcquireWait
                | Form::Bar
                | Form::ClusterArrive
                | Form::ClusterWait,
            ) => {}
        }
    }

    fn advance(&mut self, state: &mut State, thread: usize) {
        let mut local = self.local(state, thread).clone();
        local.advance(&self.context(thread));
        state.locals[thread] = self.local_id(thread, local);
    }

    /// The stores and atomics of the SM that are in its queues; `far`, also those of the GPU that
    /// are in links: the thread waits for them.
    fn await_stores(&self, state: &mut State, thread: usize, far: bool) {
        let sm = self.sm[thread];
        let waits = |entry: &Entry| !matches!(entry.kind, Kind::Read(_));
        for entry in state.queues.iter_mut().filter(|e| e.at == sm && waits(e)) {
            entry.awaited |= Self::bit(thread);
        }
        if far {
            let gpu = self.gpu[usize::from(sm)];
            for entry in state.links.iter_mut().filter(|e| e.at == gpu && waits(e)) {
                entry.awaited |= Self::bit(thread);
            }
        }
    }

    /// Everything that L1 has is old from now on, and so is what is on its way to it.
    pub(super) fn invalidate(&mut self, state: &mut State, sm: u8) {
        let lines = self.line_of(sm, 0)..self.line_of(sm + 1, 0);
        state.l1[lines].fill(INVALID);
        let sms = self.sm.clone();
        for entry in state.queues.iter_mut().chain(&mut state.links) {
            entry.fill &= sms[usize::from(entry.thread)] != sm;
        }
        self.spill(state, |latched| latched.sm == sm);
    }

    /// Values that no longer fill their line arrive at once.
    fn spill(&mut self, state: &mut State, which: impl Fn(&Latched) -> bool) {
        let (old, kept): (Vec<_>, Vec<_>) = state.latched.iter().partition(|l| which(l));
        state.latched = kept;
        for latched in old {
            self.deliver(
                state,
                latched.thread,
                latched.slot,
                latched.start,
                latched.cell,
                latched.value,
            );
        }
    }

    /// A newer access of the SM to the cell: what older reads bring back fills no line.
    fn forget_fills(&mut self, state: &mut State, sm: u8, cell: usize) {
        let sms = self.sm.clone();
        let here =
            |entry: &Entry| usize::from(entry.cell) == cell && sms[usize::from(entry.thread)] == sm;
        for entry in state.queues.iter_mut().chain(&mut state.links).filter(|e| here(e)) {
            entry.fill = false;
        }
        self.spill(state, |latched| latched.sm == sm && usize::from(latched.cell) == cell);
    }

    pub(super) fn deliver(
        &mut self,
        state: &mut State,
        thread: u8,
        slot: u8,
        start: u8,
        cell: u8,
        value: ValueId,
    ) {
        if slot == NO_SLOT {
            return;
        }
        let bytes = self.value(value);
        let length = self.cells[usize::from(cell)].length;
        self.with_local(state, usize::from(thread), |local| {
            local.deliver(slot, start.into(), length, bytes);
        });
    }

    /// Eager steps: none has an effect on others but to let them go on.
    pub(super) fn settle(&mut self, state: &mut State) {
        loop {
            let mut moved = false;
            for thread in 0..self.sm.len() {
                moved |= self.settle_thread(state, thread);
            }
            if !moved {
                return;
            }
        }
    }

    fn settle_thread(&mut self, state: &mut State, thread: usize) -> bool {
        let want = self.want(state, thread).clone();
        let local = self.local(state, thread);
        let (idle, phase) = (local.pending.is_empty(), local.phase);
        match want {
            Want::Form(Form::AcquireWait | Form::Membar(Reach::Cta)) if idle => {
                self.advance(state, thread);
                true
            }
            Want::Form(Form::Membar(reach)) if phase != Phase::Ready => {
                let bit = Self::bit(thread);
                let all = state.queues.iter().chain(&state.links);
                if all.into_iter().any(|entry| entry.awaited & bit != 0) {
                    return false;
                }
                if reach == Reach::Sys && phase == Phase::Draining {
                    self.await_stores(state, thread, true);
                    self.with_local(state, thread, |local| local.phase = Phase::DrainingFar);
                } else {
                    self.advance(state, thread);
                }
                true
            }
            Want::Form(Form::ClusterArrive) => {
                let barrier = self.sm.len() * 16 + usize::from(self.cluster[thread]);
                let generation = state.barriers[barrier].generation;
                self.with_local(state, thread, |local| local.cluster = Some(generation));
                state.barriers[barrier].arrived |= Self::bit(thread);
                self.advance(state, thread);
                self.complete_cluster(state, barrier, self.cluster[thread]);
                true
            }
            Want::Form(Form::ClusterWait) => {
                let barrier = self.sm.len() * 16 + usize::from(self.cluster[thread]);
                let arrived_at = self.local(state, thread).cluster;
                if arrived_at == Some(state.barriers[barrier].generation) {
                    return self.complete_cluster(state, barrier, self.cluster[thread]);
                }
                self.with_local(state, thread, |local| local.cluster = None);
                self.advance(state, thread);
                true
            }
            Want::Barrier { id, count, waits } => {
                self.cta_barrier(state, thread, id, count, waits, idle, phase)
            }
            Want::Value
            | Want::Access(_)
            | Want::End
            | Want::Fault
            | Want::Form(
                Form::Access(_)
                | Form::Membar(_)
                | Form::Invalidate
                | Form::AcquireWait
                | Form::Bar,
            ) => false,
        }
    }

    fn complete_cluster(&self, state: &mut State, barrier: usize, cluster: u8) -> bool {
        let there = (0..self.sm.len()).all(|thread| {
            self.cluster[thread] != cluster
                || state.barriers[barrier].arrived & Self::bit(thread) != 0
                || *self.want(state, thread) == Want::End
        });
        if there {
            let barrier = &mut state.barriers[barrier];
            barrier.generation = barrier.generation.wrapping_add(1);
            barrier.arrived = 0;
        }
        there
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "what a thread wants of a barrier, and how it stands"
    )]
    fn cta_barrier(
        &mut self,
        state: &mut State,
        thread: usize,
        id: u8,
        count: Option<u8>,
        waits: bool,
        idle: bool,
        phase: Phase,
    ) -> bool {
        let cta = self.cta[thread];
        let index = usize::from(cta) * 16 + usize::from(id & 15);
        if let Phase::Arrived(generation) = phase {
            if state.barriers[index].generation == generation {
                return self.complete(state, index, cta);
            }
            self.advance(state, thread);
            return true;
        }
        if !idle {
            return false;
        }
        let barrier = &mut state.barriers[index];
        barrier.arrivals += 1;
        barrier.arrived |= Self::bit(thread);
        barrier.count = count.unwrap_or(0);
        let generation = barrier.generation;
        if waits {
            self.with_local(state, thread, |local| local.phase = Phase::Arrived(generation));
        } else {
            self.advance(state, thread);
        }
        self.complete(state, index, cta);
        true
    }

    fn complete(&self, state: &mut State, index: usize, cta: u8) -> bool {
        let barrier = state.barriers[index];
        // Threads of a barrier count in whole warps on hardware; a test counts its threads.
        let there = if barrier.count > 0 {
            barrier.arrivals >= barrier.count
        } else {
            (0..self.sm.len()).all(|thread| {
                self.cta[thread] != cta
                    || barrier.arrived & Self::bit(thread) != 0
                    || *self.want(state, thread) == Want::End
            })
        };
        if there {
            let barrier = &mut state.barriers[index];
            barrier.generation = barrier.generation.wrapping_add(1);
            (barrier.arrivals, barrier.arrived, barrier.count) = (0, 0, 0);
        }
        there
    }

    fn access(
        &mut self,
        state: &State,
        thread: usize,
        line: u16,
        scalars: &[Scalar],
        visit: Visit<'_>,
    ) {
        let local = self.local(state, thread);
        let lowered = &self.lowered[thread][usize::from(local.pc)];
        let Some(Form::Access(level)) = lowered.forms.get(usize::from(local.form)).copied() else {
            return;
        };
        let fused = lowered.fused.filter(|_| self.options.fused);
        if let Some(reach) = fused
            && !self.may_issue_fused(state, thread, reach)
        {
            return;
        }
        let t = Self::small(thread);
        let next = state.clone();
        let fused = match fused {
            None => 0,
            Some(Reach::Sys) => 2,
            Some(Reach::Cta | Reach::Gpu) => 1,
        };
        let of = Issue { thread, level, fused };
        self.scalars(next, of, scalars, false, &mut |machine, mut next, hit| {
            // The thread goes on last: what comes next waits for what is on its way by now.
            machine.advance(&mut next, thread);
            machine.settle(&mut next);
            visit(Step::Issue { thread: t, line, hit }, next);
        });
    }

    /// Rule Atom-AR, first half: no store of its SM is on its way to where the atomic is seen from.
    fn may_issue_fused(&self, state: &State, thread: usize, reach: Reach) -> bool {
        let sm = self.sm[thread];
        let mine = |entry: &Entry| {
            self.sm[usize::from(entry.thread)] == sm && !matches!(entry.kind, Kind::Read(_))
        };
        let queued = state.queues.iter().any(mine);
        let linked = reach == Reach::Sys && state.links.iter().any(mine);
        !queued && !linked
    }

    /// Issues the scalars of one access, one after the other; a read may be a hit or a miss.
    fn scalars(
        &mut self,
        mut state: State,
        of: Issue,
        scalars: &[Scalar],
        hit: bool,
        done: &mut dyn FnMut(&mut Self, State, bool),
    ) {
        let Some((scalar, rest)) = scalars.split_first() else { return done(self, state, hit) };
        let cells = self.cells_of(scalar);
        let here = match self.cells[cells.start].place {
            Place::Private => true,
            Place::Shared { sm, cta } => sm == self.sm[of.thread] && cta == self.cta[of.thread],
            Place::Global(_) => false,
        };
        match &scalar.what {
            Access::Read { register, ty } => {
                let (register, ty) = (Some(*register), *ty);
                let slot = self.expect(&mut state, of.thread, register, ty);
                if here {
                    self.answer(&mut state, of.thread, slot, cells, |state, cell| {
                        state.memory[cell]
                    });
                } else if let Some(answered) = self.load(&mut state, of, slot, &cells) {
                    self.scalars(answered, of, rest, true, done);
                }
            }
            Access::Write(value) => {
                let value = *value;
                if here {
                    for (cell, piece) in self.pieces(cells, value) {
                        state.memory[cell] = piece;
                    }
                } else {
                    self.store(&mut state, of, &cells, value);
                }
            }
            Access::Atomic { register, ty, returns, .. } => {
                let (register, ty, returns) = (*register, *ty, *returns);
                let slot = if returns {
                    self.expect(&mut state, of.thread, register, ty)
                } else {
                    NO_SLOT
                };
                let operation = self.tables.operations.intern(&scalar.what);
                let Ok(operation) = u8::try_from(operation) else {
                    self.tables.overflow = Some("more than 256 atomic operations");
                    return;
                };
                if here {
                    self.exchange(&mut state, of.thread, slot, cells, operation);
                } else {
                    self.drop_lines(&mut state, of.thread, &cells);
                    let kind = Kind::Atomic(operation);
                    self.push(&mut state, of, slot, kind, &cells, 0, false);
                }
            }
        }
        self.scalars(state, of, rest, hit, done);
    }

    /// The number by which a value that is on its way is known.
    fn expect(&mut self, state: &mut State, thread: usize, register: Option<Reg>, ty: Type) -> u8 {
        let slot = self.local(state, thread).free_slot();
        self.with_local(state, thread, |local: &mut Local| {
            let missing = u16::try_from((1_u32 << ty.bytes()) - 1).expect("16 bytes at most");
            local.pending.push(Pending { slot, register, ty, value: 0, missing });
        });
        slot
    }

    /// Rules Ld-hit, Ld-miss, Ld-strong and Ld-ro: the state in which L1 answers, if it can; `state`
    /// becomes the one in which it does not.
    fn load(
        &mut self,
        state: &mut State,
        of: Issue,
        slot: u8,
        cells: &Range<usize>,
    ) -> Option<State> {
        let sm = self.sm[of.thread];
        let cached = matches!(self.cells[cells.start].place, Place::Global(_));
        let read_only = of.level == Level::ReadOnly && cached;
        let through_l1 = cached && matches!(of.level, Level::Weak | Level::Sm);
        let first = self.line_of(sm, 0);
        let line = |state: &State, cell: usize| {
            if read_only { state.read_only[first + cell] } else { state.l1[first + cell] }
        };
        let valid = cells.clone().all(|cell| line(state, cell) != INVALID);
        let answered = (valid && (read_only || through_l1)).then(|| {
            let mut state = state.clone();
            self.answer(&mut state, of.thread, slot, cells.clone(), line);
            state
        });
        // A line that the load does not use was evicted, or is passed by.
        if !read_only {
            self.drop_lines(state, of.thread, cells);
        }
        let level = if cached { of.level } else { Level::Gpu };
        self.push(state, of, slot, Kind::Read(level), cells, 0, read_only || through_l1);
        answered
    }

    /// Rule St: the SM's own line has the value at once, memory in time.
    fn store(&mut self, state: &mut State, of: Issue, cells: &Range<usize>, value: Value) {
        let sm = self.sm[of.thread];
        for (cell, piece) in self.pieces(cells.clone(), value) {
            let line = self.line_of(sm, cell);
            if state.l1[line] != INVALID {
                state.l1[line] = piece;
            }
            self.forget_fills(state, sm, cell);
        }
        self.push(state, of, NO_SLOT, Kind::Write, cells, value, false);
    }

    /// The SM's lines of these cells are no longer valid, nor will older loads make them so.
    fn drop_lines(&mut self, state: &mut State, thread: usize, cells: &Range<usize>) {
        let sm = self.sm[thread];
        for cell in cells.clone() {
            let line = self.line_of(sm, cell);
            state.l1[line] = INVALID;
            self.forget_fills(state, sm, cell);
        }
    }

    /// The cells of a scalar.
    fn cells_of(&self, scalar: &Scalar) -> Range<usize> {
        let (first, length) = self.first_cell[usize::from(scalar.at.object)];
        let from = usize::from(first) + (scalar.at.start / length) as usize;
        from..from + (scalar.at.length.div_ceil(length)) as usize
    }

    /// The value of each cell of a scalar.
    pub(super) fn pieces(&mut self, cells: Range<usize>, value: Value) -> Vec<(usize, ValueId)> {
        let mut below = 0;
        cells
            .map(|cell| {
                let length = self.cells[cell].length;
                let piece = value >> (8 * below) & low_bytes(length);
                below += length;
                (cell, self.value_id(piece))
            })
            .collect()
    }

    pub(super) fn answer(
        &mut self,
        state: &mut State,
        thread: usize,
        slot: u8,
        cells: Range<usize>,
        from: impl Fn(&State, usize) -> ValueId,
    ) {
        let mut start = 0;
        for cell in cells {
            let value = from(state, cell);
            self.deliver(state, Self::small(thread), slot, start, Self::small(cell), value);
            start += Self::small(self.cells[cell].length as usize);
        }
    }

    /// Puts the pieces of a scalar into the queues of their cells.
    #[allow(clippy::too_many_arguments, reason = "the fields of an entry")]
    fn push(
        &mut self,
        state: &mut State,
        Issue { thread, fused, .. }: Issue,
        slot: u8,
        kind: Kind,
        cells: &Range<usize>,
        value: Value,
        fill: bool,
    ) {
        let t = Self::small(thread);
        let all = || state.queues.iter().chain(&state.links).chain(&state.loose);
        let taken = |group: u8| all().any(|entry| entry.thread == t && entry.group == group);
        let group = (0..16).find(|group| !taken(*group)).unwrap_or_else(|| {
            self.tables.overflow = Some("more than 16 accesses of one thread on their way");
            0
        });
        let mut start = 0;
        for (cell, piece) in self.pieces(cells.clone(), value) {
            let entry = Entry {
                at: self.sm[thread],
                cell: Self::small(cell),
                thread: t,
                kind,
                slot,
                start,
                value: if kind == Kind::Write { piece } else { 0 },
                fill,
                group,
                awaited: 0,
                fused,
            };
            start += Self::small(self.cells[cell].length as usize);
            if kind == Kind::Read(Level::ReadOnly) {
                state.loose.push(entry);
                state.loose.sort_unstable();
            } else {
                State::enqueue(&mut state.queues, entry);
            }
        }
    }
}
