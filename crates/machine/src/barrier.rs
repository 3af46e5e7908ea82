//! Rules of barriers.
//!
//! A thread arrives when its own loads are complete, and continues when all have arrived. Across the barrier of
//! a cluster, the adjacent `MEMBAR` and `CCTL` order memory. Threads of one CTA
//! share their L1 and its queues, so the order of issue is sufficient for them.

use super::local::{Cluster, Phase};
use super::options::MachineRule;
use super::state::{BarrierState, State};
use super::step::Step;
use super::table::{Ask, Change};
use super::{CtaBarrier, Machine};
use model::isa::Instruction;
use model::isa::bar::{BarrierKind, BarrierMisuse};
use model::program::ThreadId;

impl Machine<'_> {
    /// Arrives at a barrier, or goes past the cluster's; whether something changed.
    pub(super) fn barrier(&mut self, state: &mut State, thread: usize) -> bool {
        let known = self.known(state, thread);
        let line = known.local.pc;
        match known.ask {
            // When to arrive is a choice there.
            Ask::Barrier { id, .. } => {
                !self.counted[self.cta_barrier(thread, line, id)] && self.arrive(state, thread)
            }
            Ask::ClusterWait => {
                // A thread that waits and has not arrived is itself one that all wait for.
                let cluster = known.local.cluster;
                if cluster == Cluster::Outside {
                    self.misused
                        .seen
                        .get_or_insert((Self::place(thread, line), BarrierMisuse::NotArrived));
                }
                if cluster != Cluster::Complete {
                    return false;
                }
                self.change(state, thread, Change::Cluster(Cluster::Outside));
                self.change(state, thread, Change::Advance);
                self.steps.push(Step::Through { thread: Self::small(thread), line });
                true
            }
            Ask::End => self.complete_all(state, thread),
            Ask::Value
            | Ask::Access { .. }
            | Ask::Copy(_)
            | Ask::Object(..)
            | Ask::Track { .. }
            | Ask::ReleaseWait
            | Ask::View
            | Ask::SharedView
            | Ask::Membar { .. }
            | Ask::Invalidate
            | Ask::AcquireWait
            | Ask::ClusterArrive
            | Ask::Fault => false,
        }
    }

    /// Arrives at a barrier of the CTA, if the thread is to do so and may.
    pub(super) fn arrive(&mut self, state: &mut State, thread: usize) -> bool {
        let known = self.known(state, thread);
        let line = known.local.pc;
        let Ask::Barrier { id, count, waits, vote } = known.ask else { return false };
        let loads = known.idle || !self.keeps(MachineRule::BarWaits);
        let fenced = known.local.fenced.is_some();
        let stores = !self.has_buffered(state, thread) || !self.keeps(MachineRule::BarDrainsBuffer);
        if known.local.phase == Phase::Arrived || !loads || fenced || !stores {
            return false;
        }
        let index = self.cta_barrier(thread, line, id);
        let mut barrier = self.shape.barrier(state, index);
        if let Some(misuse) = self.misuse(state, thread, index, barrier) {
            self.misused.seen.get_or_insert((Self::place(thread, line), misuse));
        }
        barrier.arrivals = barrier.arrivals.saturating_add(1);
        barrier.votes = barrier.votes.saturating_add(vote.into());
        barrier.arrived |= Self::bit(thread);
        // Arrivals that give a count decide; those that do not agree with it.
        barrier.count = barrier.count.max(count);
        self.shape.set_barrier(state, index, barrier);
        let change = if waits { Change::Phase(Phase::Arrived) } else { Change::Advance };
        self.change(state, thread, change);
        self.complete(state, index);
        true
    }

    fn place(thread: usize, line: u16) -> (ThreadId, u16) {
        (ThreadId(u8::try_from(thread).expect("a machine has few threads")), line)
    }

    /// What is wrong with a thread that arrives, where others are there already. Reading R46; the peer
    /// dialect's barriers have none of it.
    fn misuse(
        &self,
        state: &State,
        thread: usize,
        index: usize,
        active: BarrierState,
    ) -> Option<BarrierMisuse> {
        if self.barriers[index].instance.is_some() || active.arrived == 0 {
            return None;
        }
        let reduces = |thread: usize, line: u16| {
            let line = self.program.threads[thread].lines.get(usize::from(line));
            line.is_some_and(|line| {
                matches!(&line.instruction, Instruction::Barrier(of)
                    if matches!(of.kind, BarrierKind::Reduce { .. }))
            })
        };
        let known = self.known(state, thread);
        let Ask::Barrier { count, .. } = known.ask else { return None };
        let reduction = reduces(thread, known.local.pc);
        let mates = self.participants(index);
        let mut waiting = 0;
        for &mate in &mates {
            let known = self.known(state, mate);
            if known.local.phase == Phase::Arrived
                && let Ask::Barrier { id, .. } = known.ask
                && self.cta_barrier(mate, known.local.pc, id) == index
            {
                waiting += 1;
                if reduces(mate, known.local.pc) != reduction {
                    return Some(BarrierMisuse::Forms);
                }
            }
        }
        // Who arrived and went on has executed `arrive`.
        if reduction && active.arrivals > waiting {
            return Some(BarrierMisuse::Forms);
        }
        let all = u8::try_from(mates.len()).expect("a machine has few threads");
        let whole = |count: u8| if count == 0 { all } else { count };
        (whole(count) != whole(active.count)).then_some(BarrierMisuse::Counts)
    }

    /// The barrier that a line of the thread's code means by this number.
    pub(super) fn cta_barrier(&self, thread: usize, line: u16, id: u8) -> usize {
        let lines = &self.program.threads[thread].lines;
        let of = lines.get(usize::from(line)).map(|line| &line.instruction);
        let instance = if let Some(Instruction::Barrier(of)) = of { of.instance } else { None };
        let this = CtaBarrier { cta: self.cta[thread], instance, id };
        let found = self.barriers.iter().position(|barrier| *barrier == this);
        found.expect("its code was looked through")
    }

    /// The threads that take part: all of the CTA; of an instance, those whose code has it.
    fn participants(&self, index: usize) -> Vec<usize> {
        let barrier = &self.barriers[index];
        let executes = |thread: usize| {
            self.program.threads[thread].lines.iter().any(
                |line| matches!(&line.instruction, Instruction::Barrier(of) if barrier.may_be(of)),
            )
        };
        let mates = (0..self.sm.len()).filter(|&thread| self.cta[thread] == barrier.cta);
        mates.filter(|&thread| barrier.instance.is_none() || executes(thread)).collect()
    }

    fn cluster_barrier(&self, thread: usize) -> Option<usize> {
        self.cluster_barriers[usize::from(self.cluster[thread])].map(usize::from)
    }

    pub(super) fn cluster_arrive(&mut self, state: &mut State, thread: usize) {
        let Some(index) = self.cluster_barrier(thread) else { return };
        let known = self.known(state, thread);
        let before = known.local.cluster;
        if before == Cluster::Arrived {
            let place = Self::place(thread, known.local.pc);
            self.misused.seen.get_or_insert((place, BarrierMisuse::Twice));
        }
        // Had the others come later, the barrier would not have completed.
        self.misused.hurried |= before == Cluster::Complete;
        let mut barrier = self.shape.barrier(state, index);
        barrier.arrived |= Self::bit(thread);
        self.shape.set_barrier(state, index, barrier);
        self.change(state, thread, Change::Cluster(Cluster::Arrived));
        self.change(state, thread, Change::Advance);
        self.complete_cluster(state, thread);
    }

    /// A thread exits when its loads are done, as it arrives.
    fn has_exited(&self, state: &State, thread: usize) -> bool {
        let known = self.known(state, thread);
        known.ask == Ask::End && (known.idle || !self.keeps(MachineRule::BarWaits))
    }

    /// A thread that has exited is not waited for.
    fn complete_all(&mut self, state: &mut State, thread: usize) -> bool {
        let mut any = false;
        for index in 0..self.barriers.len() {
            if self.barriers[index].cta == self.cta[thread] {
                any |= self.complete(state, index);
            }
        }
        any | self.complete_cluster(state, thread)
    }

    /// Lets the threads of a barrier go on if all that it waits for are there.
    fn complete(&mut self, state: &mut State, index: usize) -> bool {
        let BarrierState { arrivals, votes, arrived, count } = self.shape.barrier(state, index);
        if arrived == 0 {
            return false;
        }
        let mates = self.participants(index);
        // Threads of a barrier count in whole warps on hardware; a test counts its threads.
        let there = if count > 0 {
            arrivals >= count
        } else {
            mates.iter().all(|&mate| arrived & Self::bit(mate) != 0 || self.has_exited(state, mate))
        };
        if !there {
            return false;
        }
        self.shape.set_barrier(state, index, BarrierState::default());
        for mate in mates {
            let known = self.known(state, mate);
            let waits = known.local.phase == Phase::Arrived;
            if waits
                && let Ask::Barrier { id, .. } = known.ask
                && self.cta_barrier(mate, known.local.pc, id) == index
            {
                let line = known.local.pc;
                let all = votes == arrivals;
                self.change(state, mate, Change::Release { all, votes });
                self.steps.push(Step::Through { thread: Self::small(mate), line });
            }
        }
        true
    }

    fn complete_cluster(&mut self, state: &mut State, thread: usize) -> bool {
        let Some(index) = self.cluster_barrier(thread) else { return false };
        let barrier = self.shape.barrier(state, index);
        let cluster = self.cluster[thread];
        let mates: Vec<usize> =
            (0..self.sm.len()).filter(|&mate| self.cluster[mate] == cluster).collect();
        let there = mates
            .iter()
            .all(|&mate| barrier.arrived & Self::bit(mate) != 0 || self.has_exited(state, mate));
        if !there || barrier.arrived == 0 {
            return false;
        }
        self.shape.set_barrier(state, index, BarrierState::default());
        for mate in mates {
            if barrier.arrived & Self::bit(mate) != 0 {
                self.change(state, mate, Change::Cluster(Cluster::Complete));
            }
        }
        true
    }
}
