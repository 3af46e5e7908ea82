//! Barriers as events of a path: arrivals and waits.

use super::state::State;
use super::{Check, Next, Walk};
use crate::event::{BarrierUse, EventKind, Mask, Resource, Tags};
use crate::expr::{Expr, ExprId};
use crate::given::Tag;
use crate::isa::alu::{AluOp, Comparison};
use crate::isa::bar::{Barrier, BarrierKind, ClusterBarrier};
use crate::isa::{Operand, Type};
use crate::value::{Value, low64};

/// The barriers of a CTA.
const IDS: u64 = 16;

impl Walk<'_> {
    pub(super) fn barrier(&mut self, state: &mut State, barrier: &Barrier, guard: Mask) -> Next {
        let count = barrier.count.map(|count| self.operand(state, count));
        let (id, id_taint) = self.operand(state, barrier.id);
        state.ctrl |= id_taint | count.map_or(0, |c| c.1);
        let id = self.choose(state, id);
        if id >= IDS && barrier.instance.is_none() {
            self.fault(state.clone(), "a barrier id or count out of range");
            return Next::Stop;
        }
        let count = count.map(|(count, _)| self.choose(state, count));
        let reduce = match barrier.kind {
            BarrierKind::Arrive | BarrierKind::Sync => None,
            BarrierKind::Reduce { op, source, negated, .. } => {
                let (mut value, taint) = self.operand(state, Operand::Reg(source));
                if negated {
                    let zero = state.exprs.constant(0);
                    let not = AluOp::Setp(Comparison::Eq);
                    value = state.exprs.alu(not, Type::U32, &[value, zero]);
                }
                Some((op, value, taint))
            }
        };
        let resource = Resource::Cta { id, instance: barrier.instance };
        let used = BarrierUse { resource, count, reduce, relaxed: false };
        state.push(EventKind::Arrive, Tags::of(&[Tag::All, Tag::BarrierArrive]), guard);
        state.last().barrier = Some(used);
        if barrier.kind != BarrierKind::Arrive {
            let tags = Tags::of(&[Tag::All, Tag::BarrierWait]);
            let wait = state.push(EventKind::Wait, tags, guard);
            state.last().barrier = Some(used);
            if let BarrierKind::Reduce { destination, .. } = barrier.kind {
                let value = state.exprs.intern(Expr::Reduced(wait));
                state.set(destination, value, 1 << wait);
            }
        }
        state.heads.clear();
        state.pc += 1;
        Next::Go
    }

    /// A barrier id or count: forks over what a barrier could be called.
    pub(super) fn choose(&mut self, state: &mut State, value: ExprId) -> u64 {
        if let Some(known) = state.known(value) {
            return low64(known);
        }
        let mut all: Vec<Value> = (0..IDS.into()).collect();
        all.extend(self.program.mentioned_constants().into_iter().filter(|&c| c >= IDS.into()));
        let mut elsewhere = state.clone();
        elsewhere.checks.push(Check::NoneOf(value, all.clone()));
        self.fault(elsewhere, "a barrier id or count out of range");
        for &other in &all[1..] {
            // The fork repeats the instruction; the check answers for the value then.
            let mut forked = state.clone();
            forked.checks.push(Check::Equals(value, other));
            self.pending.push(forked);
        }
        state.checks.push(Check::Equals(value, all[0]));
        low64(all[0])
    }
}

pub(super) fn cluster_barrier(state: &mut State, barrier: ClusterBarrier, guard: Mask) {
    let (kind, tag) = match barrier {
        ClusterBarrier::ArriveRelease | ClusterBarrier::ArriveRelaxed => {
            (EventKind::Arrive, Tag::BarrierArrive)
        }
        ClusterBarrier::Wait => (EventKind::Wait, Tag::BarrierWait),
    };
    state.push(kind, Tags::of(&[Tag::All, tag]), guard);
    let relaxed = barrier == ClusterBarrier::ArriveRelaxed;
    let resource = Resource::Cluster;
    state.last().barrier = Some(BarrierUse { resource, count: None, reduce: None, relaxed });
    state.heads.clear();
}
