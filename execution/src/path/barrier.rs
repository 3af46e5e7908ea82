//! Barriers as events of a path: arrivals and waits.

use super::state::PathState;
use super::{Assumption, Next, Walk};
use crate::event::{BarrierUse, Combination, EventKind, Mask, Resource, Tags};
use crate::expr::{Expr, ExprId};
use model::given::Tag;
use model::isa::alu::{AluOp, Comparison};
use model::isa::bar::{Barrier, BarrierKind, BarrierMisuse, ClusterBarrier, ClusterBarrierKind};
use model::isa::{Instruction, Operand, Type};
use model::value::{Value, low64};

/// The barriers of a CTA.
const IDS: u64 = 16;

impl Walk<'_> {
    pub(super) fn barrier(
        &mut self,
        state: &mut PathState,
        barrier: &Barrier,
        guard: Mask,
    ) -> Next {
        if let BarrierKind::Exchange(of) = &barrier.kind {
            return self.exchange(state, barrier.id, of, guard);
        }
        let count = barrier.count.map(|count| self.operand(state, count));
        let (id, id_taint) = self.operand(state, barrier.id);
        state.ctrl |= id_taint | count.map_or(0, |c| c.1);
        let id = self.choose(state, id);
        if id >= IDS && barrier.instance.is_none() && !barrier.warp {
            self.fault(state.clone(), "a barrier id or count out of range");
            return Next::Stop;
        }
        let count = count.map(|(count, _)| self.choose(state, count));
        let reduce = match barrier.kind {
            BarrierKind::Arrive | BarrierKind::Sync | BarrierKind::Exchange(_) => None,
            BarrierKind::Reduce { op, source, negated, .. } => {
                let (mut value, taint) = self.operand(state, Operand::Reg(source));
                if negated {
                    let zero = state.exprs.constant(0);
                    let not = AluOp::Setp(Comparison::Eq);
                    value = state.exprs.alu(not, Type::U32, &[value, zero]);
                }
                Some((Combination::Reduction(op), value, taint))
            }
        };
        let resource = if barrier.warp {
            Resource::Warp { mask: id & u64::from(u32::MAX), exchange: None }
        } else {
            Resource::Cta { id, instance: barrier.instance }
        };
        if let Resource::Warp { mask, .. } = resource
            && mask >> self.program.lane(self.thread) & 1 == 0
        {
            self.fault(state.clone(), BarrierMisuse::Lanes.text());
            return Next::Stop;
        }
        let waits = barrier.kind != BarrierKind::Arrive;
        let aligned = barrier.aligned;
        let used = BarrierUse { resource, count, reduce, relaxed: false, waits, aligned };
        state.push(EventKind::Arrive, Tags::of(&[Tag::All, Tag::BarrierArrive]), guard);
        state.last().barrier = Some(used);
        if waits {
            let tags = Tags::of(&[Tag::All, Tag::BarrierWait]);
            let wait = state.push(EventKind::Wait, tags, guard);
            state.last().barrier = Some(used);
            if let BarrierKind::Reduce { destination, .. } = barrier.kind {
                let value = state.exprs.intern(Expr::Reduced(wait));
                state.set(destination, value, 1 << wait);
            }
        }
        state.pc += 1;
        Next::Go
    }

    /// Whether there is an aligned barrier among the lines from `first` up to `end`.
    pub(super) fn aligned_between(&self, first: usize, end: usize) -> bool {
        let lines = &self.program.threads[usize::from(self.thread.0)].lines;
        lines.get(first..end).is_some_and(|lines| {
            lines.iter().any(|line| {
                matches!(
                    &line.instruction,
                    Instruction::Barrier(Barrier { aligned: true, .. })
                        | Instruction::ClusterBarrier(ClusterBarrier { aligned: true, .. })
                )
            })
        })
    }

    /// Notes that a jump to `target` passes over an aligned barrier, or that staying leaves a loop
    /// around one.
    pub(super) fn note_branch(&self, state: &mut PathState, target: usize, taken: bool) {
        state.passed_over |= match (taken, target > state.pc) {
            (true, true) => self.aligned_between(state.pc, target),
            (false, false) => self.aligned_between(target, state.pc),
            (true, false) | (false, true) => false,
        };
    }

    /// A barrier id or count: forks over what a barrier could be called.
    pub(super) fn choose(&mut self, state: &mut PathState, value: ExprId) -> u64 {
        if let Some(known) = state.known(value) {
            return low64(known);
        }
        let mut all: Vec<Value> = (0..IDS.into()).collect();
        all.extend(self.program.mentioned_constants().into_iter().filter(|&c| c >= IDS.into()));
        let mut elsewhere = state.clone();
        elsewhere.checks.push(Assumption::NoneOf(value, all.clone()));
        self.fault(elsewhere, "a barrier id or count out of range");
        self.fork_over(state, value, &all)
    }

    /// A value that is one of these.
    pub(super) fn choose_among(
        &mut self,
        state: &mut PathState,
        value: ExprId,
        all: &[Value],
    ) -> u64 {
        match state.known(value) {
            Some(known) => low64(known),
            None => self.fork_over(state, value, all),
        }
    }

    fn fork_over(&mut self, state: &mut PathState, value: ExprId, all: &[Value]) -> u64 {
        for &other in &all[1..] {
            // The fork repeats the instruction; the check answers for the value then.
            let mut forked = state.clone();
            forked.checks.push(Assumption::Equals(value, other));
            self.pending.push(forked);
        }
        state.checks.push(Assumption::Equals(value, all[0]));
        low64(all[0])
    }
}

pub(super) fn cluster_barrier(state: &mut PathState, barrier: ClusterBarrier, guard: Mask) {
    let (kind, tag) = match barrier.kind {
        ClusterBarrierKind::ArriveRelease | ClusterBarrierKind::ArriveRelaxed => {
            (EventKind::Arrive, Tag::BarrierArrive)
        }
        ClusterBarrierKind::Wait => (EventKind::Wait, Tag::BarrierWait),
    };
    state.push(kind, Tags::of(&[Tag::All, tag]), guard);
    state.last().barrier = Some(BarrierUse {
        resource: Resource::Cluster,
        count: None,
        reduce: None,
        relaxed: barrier.kind == ClusterBarrierKind::ArriveRelaxed,
        waits: barrier.kind == ClusterBarrierKind::Wait,
        aligned: barrier.aligned,
    });
}
