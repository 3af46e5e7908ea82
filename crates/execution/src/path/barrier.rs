//! Barriers as events of a path: arrivals and waits.

use std::collections::BTreeSet;

use super::state::PathState;
use super::{Assumption, Next, Walk};
use crate::event::{BarrierUse, Combination, EventKind, Mask, Resource, Tags};
use crate::expr::{Expr, ExprId};
use model::given::Tag;
use model::isa::alu::{AluOp, Comparison};
use model::isa::bar::{Barrier, BarrierKind, BarrierMisuse, ClusterBarrier, ClusterBarrierKind};
use model::isa::{Instruction, Operand, Type};
use model::value::{self, Value, low_bytes, low64};

/// The barriers of a CTA.
const IDS: u64 = 16;

const OUT_OF_RANGE: &str = "a barrier id out of range";

/// Why an execution ends that is not judged: a count, size or mask that is computed from what is loaded has a value that was not
/// tried.
pub const UNLISTED: &str = "the values of a count, size or mask are not known";

/// The most known values of a number that are each tried.
const MOST_KNOWN: usize = 24;

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
        let id = if barrier.warp { self.choose(state, id) } else { self.choose_id(state, id) };
        if id >= IDS && barrier.instance.is_none() && !barrier.warp {
            self.fault(state.clone(), OUT_OF_RANGE);
            return Next::Stop;
        }
        let low = u64::from(u32::MAX);
        let count = count.map(|(count, _)| self.choose(state, count) & low);
        if count == Some(0) && barrier.instance.is_none() {
            self.fault(state.clone(), BarrierMisuse::Zero.text());
            return Next::Stop;
        }
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
            Resource::Warp { mask: id & low, exchange: None }
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
        let tags = |tag| {
            let tags = Tags::of(&[Tag::All, tag]);
            if count.is_some() { tags.with(Tag::CountedBarrier) } else { tags }
        };
        state.push(EventKind::Arrive, tags(Tag::BarrierArrive), guard);
        state.last().barrier = Some(used);
        if waits {
            let tags = tags(Tag::BarrierWait);
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

    /// The id of a barrier: forks over all of them.
    fn choose_id(&mut self, state: &mut PathState, value: ExprId) -> u64 {
        let all: Vec<Value> = (0..IDS.into()).collect();
        self.choose_from(state, value, &all, OUT_OF_RANGE)
    }

    /// A count, a size or a mask: forks over the values that it can have. Where they are not known, or are many, 0 to 15 and the
    /// constants of the test are tried, and an execution with another value ends in [`UNLISTED`].
    pub(super) fn choose(&mut self, state: &mut PathState, value: ExprId) -> u64 {
        if let Some(known) = state.known(value) {
            return low64(known);
        }
        let known = self.possible(state, value).or_else(|| self.held_values(state, value));
        let known = known.or_else(|| of_few_bits(state, value)).unwrap_or_default();
        if (1..=MOST_KNOWN).contains(&known.len()) {
            let all: Vec<Value> = known.into_iter().collect();
            return self.fork_over(state, value, &all);
        }
        let mentioned = self.program.mentioned_constants().into_iter();
        let ids = (0..IDS).map(Value::from);
        let all: Vec<Value> = ids.chain(mentioned.filter(|&of| of >= IDS.into())).collect();
        self.choose_from(state, value, &all, UNLISTED)
    }

    /// One of these, or an execution that ends for this reason; a value that is known is not compared with them.
    pub(super) fn choose_from(
        &mut self,
        state: &mut PathState,
        value: ExprId,
        all: &[Value],
        otherwise: &'static str,
    ) -> u64 {
        if let Some(known) = state.known(value) {
            return low64(known);
        }
        let mut elsewhere = state.clone();
        elsewhere.checks.push(Assumption::NoneOf(value, all.to_vec()));
        self.fault(elsewhere, otherwise);
        self.fork_over(state, value, all)
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

/// The values of a predicate, or of few bits of a number; `None` of more.
fn of_few_bits(state: &PathState, value: ExprId) -> Option<BTreeSet<Value>> {
    let length = |read: u16| {
        let access = state.events[usize::from(read)].access;
        access.map_or(Value::MAX, |access| low_bytes(access.pa.length))
    };
    let bits = state.exprs.may_set(value, &mut { length });
    let few = bits.count_ones() <= 4;
    few.then(|| {
        (0..value::BITS).filter(|bit| bits >> bit & 1 == 1).fold(BTreeSet::from([0]), |all, bit| {
            let with = |value: &Value| [*value, *value | 1 << bit];
            all.iter().flat_map(with).collect()
        })
    })
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
