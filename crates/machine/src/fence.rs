//! Rules of fences and of cache control.
//!
//! Why they are sound. When a `MEMBAR` ends, each write that could precede it in causality order
//! has performed at the level that all threads of its scope read from. Writes of the thread and of
//! neighbours with which it synchronised are in the queues of its SM, and writes of other SMs of its GPU in the
//! GPU's links. Writes that reach a link during the first phase may precede the fence too, so the
//! second phase inspects the links when the first has completed. After `CCTL.IVALL` each line and each fill of
//! the SM is younger than the writes that the thread has acquired. Of two `fence.sc` one ends first: its writes
//! have then performed where the loads after the other read.

use super::Machine;
use super::form::MembarScope;
use super::local::Phase;
use super::options::{MachineRule, Variant};
use super::state::{INVALID, QueueKind, State};
use super::step::Step;
use super::table::{Ask, Change};
use model::isa::Instruction;

impl Machine<'_> {
    /// Does what a thread's fence can do next, if it is a fence and can.
    pub(super) fn fence(&mut self, state: &mut State, thread: usize) -> Option<Step> {
        let known = self.known(state, thread);
        let (ask, line, idle) = (known.ask, known.local.pc, known.idle);
        let (phase, fenced) = (known.local.phase, known.local.fenced.is_some());
        let t = Self::small(thread);
        let lines = &self.program.threads[thread].lines;
        let instruction = lines.get(usize::from(line)).map(|line| &line.instruction);
        let is_fence = matches!(instruction, Some(Instruction::Fence(_)));
        let dropped = matches!(instruction, Some(Instruction::ClusterBarrier(_)))
            && !self.keeps(MachineRule::ClusterBarrierFences);
        match ask {
            // Rule Acq-wait. The wait of `fence.acquire.cta` is what its MEMBAR.CTA would be.
            Ask::AcquireWait => {
                let rule =
                    if is_fence { MachineRule::MembarCtaWaits } else { MachineRule::AcquireWaits };
                // Loads that pass the MEMBAR.CTA of a fence pass the fence (reading R53).
                let passed = is_fence && known.local.fenced.is_some_and(|fenced| fenced.loads);
                if !idle && !passed && self.keeps(rule) {
                    return None;
                }
                self.change(state, thread, Change::Advance);
                Some(Step::Through { thread: t, line })
            }
            Ask::Membar { .. } | Ask::ReleaseWait | Ask::View | Ask::SharedView if fenced => None,
            Ask::ReleaseWait | Ask::View | Ask::SharedView => {
                self.asynchronous_fence(state, thread)
            }
            // Rule Membar.CTA
            Ask::Membar { reach: MembarScope::Cta, .. } => {
                let loads = idle || !self.keeps(MachineRule::MembarCtaWaits);
                let stores = !self.has_buffered(state, thread)
                    || !self.keeps(MachineRule::MembarDrainsBuffer);
                if !stores || !loads && !self.options.lazy_cta {
                    return None;
                }
                if !loads {
                    self.change(state, thread, Change::Pass { reach: MembarScope::Cta });
                    return Some(Step::Fence { thread: t, line });
                }
                self.change(state, thread, Change::Advance);
                Some(Step::Through { thread: t, line })
            }
            Ask::Membar { reach, .. }
                if dropped
                    || reach == MembarScope::Gpu && !self.keeps(MachineRule::MembarWaits) =>
            {
                self.change(state, thread, Change::Advance);
                Some(Step::Through { thread: t, line })
            }
            Ask::Membar { reach, sc } => match phase {
                Phase::Ready => (idle && !self.has_buffered(state, thread)).then(|| {
                    self.begin(state, thread, reach, sc, is_fence);
                    Step::Fence { thread: t, line }
                }),
                Phase::Draining | Phase::DrainingFar => {
                    let far = phase == Phase::DrainingFar;
                    if !self.is_through(state, thread, far) {
                        return None;
                    }
                    if !far
                        && reach == MembarScope::Sys
                        && self.keeps(MachineRule::MembarSysReachesHome)
                    {
                        self.await_stores(state, thread, true);
                        self.change(state, thread, Change::Phase(Phase::DrainingFar));
                    } else {
                        self.change(state, thread, Change::Advance);
                    }
                    Some(Step::Through { thread: t, line })
                }
                Phase::Arrived | Phase::Faulted => None,
            },
            // Rule Iv
            Ask::Invalidate => {
                if !idle && self.keeps(MachineRule::InvalidateWaits) {
                    return None;
                }
                let early = is_fence && !self.keeps(MachineRule::FenceInvalidatesLast);
                if !dropped && !early {
                    self.invalidate(state, self.sm[thread]);
                }
                self.change(state, thread, Change::Advance);
                Some(Step::Fence { thread: t, line })
            }
            Ask::ClusterArrive if !fenced => {
                self.cluster_arrive(state, thread);
                Some(Step::Fence { thread: t, line })
            }
            Ask::ClusterArrive
            | Ask::Value
            | Ask::Access { .. }
            | Ask::Copy(_)
            | Ask::Object(..)
            | Ask::Track { .. }
            | Ask::ClusterWait
            | Ask::Barrier { .. }
            | Ask::End
            | Ask::Fault => None,
        }
    }

    /// What comes before an arrival or a copy, if the thread has come to it and can do it.
    fn asynchronous_fence(&mut self, state: &mut State, thread: usize) -> Option<Step> {
        let known = self.known(state, thread);
        let (ask, line, idle, phase) = (known.ask, known.local.pc, known.idle, known.local.phase);
        let thread_id = Self::small(thread);
        let through = Some(Step::Through { thread: thread_id, line });
        if ask == Ask::SharedView {
            if self.keeps(MachineRule::SharedViewDrops) {
                self.drop_views(state, thread);
            }
            self.change(state, thread, Change::Advance);
            return Some(Step::Fence { thread: thread_id, line });
        }
        let buffered = self.has_buffered(state, thread);
        // Rule Arrive: what comes before a releasing arrival is visible to the threads of the CTA.
        if ask == Ask::ReleaseWait {
            let loads = idle || !self.keeps(MachineRule::ArrivalWaits);
            let stores = !buffered || !self.keeps(MachineRule::ArrivalDrainsBuffer);
            if !loads || !stores {
                return None;
            }
            self.change(state, thread, Change::Advance);
            return through;
        }
        // Rule View: the stores of the SM are where the async proxy reads.
        match phase {
            Phase::Ready if self.keeps(MachineRule::ViewWaits) => (idle && !buffered).then(|| {
                self.await_stores(state, thread, false);
                self.change(state, thread, Change::Phase(Phase::Draining));
                Step::Fence { thread: thread_id, line }
            }),
            Phase::Draining if !self.is_through(state, thread, false) => None,
            Phase::Ready | Phase::Draining => {
                self.change(state, thread, Change::Advance);
                through
            }
            Phase::DrainingFar | Phase::Arrived | Phase::Faulted => None,
        }
    }

    /// Rules Membar.GPU and Membar.SYS: all own loads are done; now for the stores of the SM.
    fn begin(
        &mut self,
        state: &mut State,
        thread: usize,
        reach: MembarScope,
        sc: bool,
        fence: bool,
    ) {
        if fence && !self.keeps(MachineRule::FenceInvalidatesLast) {
            self.invalidate(state, self.sm[thread]);
        }
        self.await_stores(state, thread, false);
        let at_once = reach == MembarScope::Sys && !self.keeps(MachineRule::MembarSysTwoPhases);
        let lazy = self.options.lazy_all && (!sc || !self.keeps(MachineRule::ScWaits));
        if at_once {
            self.await_stores(state, thread, true);
            self.change(state, thread, Change::Phase(Phase::DrainingFar));
        } else if lazy {
            self.change(state, thread, Change::Pass { reach });
        } else {
            self.change(state, thread, Change::Phase(Phase::Draining));
        }
    }

    /// A `MEMBAR` that loads have gone past, one phase on (reading R53).
    pub(super) fn follow(&mut self, state: &mut State, thread: usize) -> bool {
        let known = self.known(state, thread);
        let (Some(fenced), idle) = (known.local.fenced, known.idle) else { return false };
        if fenced.loads {
            if idle {
                self.change(state, thread, Change::Through);
            }
            return idle;
        }
        if !self.is_through(state, thread, fenced.far) {
            return false;
        }
        if fenced.then_far && self.keeps(MachineRule::MembarSysReachesHome) {
            self.await_stores(state, thread, true);
            self.change(state, thread, Change::Far);
        } else {
            self.change(state, thread, Change::Through);
        }
        true
    }

    /// Has a `MEMBAR` wait for the stores and atomics of its SM that are in queues, or for those of
    /// the GPU that are in links. Those of other threads count: what a neighbour wrote before it
    /// synchronised with this thread is in the same queues, so no message is needed (reading R65).
    fn await_stores(&self, state: &mut State, thread: usize, far: bool) {
        if self.shape.entry == 4 {
            return;
        }
        let sm = self.sm[thread];
        let gpu = self.gpu[usize::from(sm)];
        let rule =
            if far { MachineRule::MembarSysCumulative } else { MachineRule::MembarCumulative };
        let own_only = !self.keeps(rule);
        for index in 0..self.shape.count(state) {
            let mut entry = self.shape.entry(state, index);
            let at = self.sm[usize::from(entry.thread)];
            let there = match entry.list {
                QueueKind::Queue => at == sm,
                QueueKind::Link => far && self.gpu[usize::from(at)] == gpu,
                QueueKind::Buffer | QueueKind::Back | QueueKind::Loose | QueueKind::Latched => {
                    false
                }
            };
            let own = usize::from(entry.thread) == thread;
            // A load that a neighbour has issued before its `MEMBAR.CTA` precedes what the neighbour synchronises with.
            let loads = self.has(Variant::WaitsForLoads) || self.options.lazy_cta;
            let counts = loads || self.is_store(&entry);
            if there && counts && (own || !own_only) {
                entry.awaited |= Self::bit(thread);
                self.shape.set_entry(state, index, entry);
            }
        }
    }

    /// Whether nothing is left of what a `MEMBAR` waits for.
    fn is_through(&self, state: &State, thread: usize, far: bool) -> bool {
        let mut entries = self.shape.entries(state);
        if self.shape.entry > 4 {
            return entries.all(|entry| entry.awaited & Self::bit(thread) == 0);
        }
        // Nobody else adds to these queues while the thread waits.
        let sm = self.sm[thread];
        let gpu = self.gpu[usize::from(sm)];
        entries.all(|entry| {
            let at = self.sm[usize::from(entry.thread)];
            let there = match entry.list {
                QueueKind::Queue => at == sm,
                QueueKind::Link => far && self.gpu[usize::from(at)] == gpu,
                QueueKind::Buffer | QueueKind::Back | QueueKind::Loose | QueueKind::Latched => {
                    false
                }
            };
            !there || !self.is_store(&entry)
        })
    }

    /// Whom an entry that leaves its SM keeps waiting: those in the first phase of a `MEMBAR` wait
    /// for no more than that.
    pub(super) fn still_awaited(&self, state: &State, awaited: u16) -> u16 {
        let near = |thread: &usize| {
            let local = &self.known(state, *thread).local;
            local.phase == Phase::Draining || local.fenced.is_some_and(|fenced| !fenced.far)
        };
        let awaiting = (0..self.sm.len()).filter(|thread| awaited & Self::bit(*thread) != 0);
        awaiting.filter(|thread| !near(thread)).fold(0, |all, thread| all | Self::bit(thread))
    }

    /// Everything that L1 has is old from now on, and so is what is on its way to it; likewise the
    /// GPU's copies of far memory.
    pub(super) fn invalidate(&mut self, state: &mut State, sm: u8) {
        let cells = self.cells.len();
        if self.keeps(MachineRule::InvalidateDropsLines) {
            let from = usize::from(sm) * cells;
            for slot in self.shape.l1[from..from + cells].iter().flatten() {
                state.bytes[usize::from(*slot)] = INVALID;
            }
        }
        if self.keeps(MachineRule::InvalidateCancelsFills) {
            self.cancel_fills(state, |entry, machine| machine.sm[usize::from(entry.thread)] == sm);
        }
        if self.has(Variant::DropsReadOnly) {
            let from = usize::from(sm) * cells;
            for slot in self.shape.read_only[from..from + cells].iter().flatten() {
                state.bytes[usize::from(*slot)] = INVALID;
            }
        }
        if self.options.copies && self.keeps(MachineRule::InvalidateDropsCopies) {
            let gpu = self.gpu[usize::from(sm)];
            for cell in 0..cells {
                if let Some(slot) = self.copy_slot(gpu, cell) {
                    state.bytes[slot] = INVALID;
                }
                self.cancel_copies(state, gpu, cell);
            }
        }
    }

    /// Where a GPU's copy of a cell is.
    pub(super) fn copy_slot(&self, gpu: u8, cell: usize) -> Option<usize> {
        let first = self.gpu.iter().position(|other| *other == gpu)?;
        self.shape.copies[first * self.cells.len() + cell].map(usize::from)
    }

    /// Loads of the cell in the GPU's link will leave no copy.
    pub(super) fn cancel_copies(&self, state: &mut State, gpu: u8, cell: usize) {
        for index in 0..self.shape.count(state) {
            let mut entry = self.shape.entry(state, index);
            let at = self.gpu[usize::from(self.sm[usize::from(entry.thread)])];
            if entry.list == QueueKind::Link && at == gpu && usize::from(entry.cell) == cell {
                entry.copy = false;
                self.shape.set_entry(state, index, entry);
            }
        }
    }
}
