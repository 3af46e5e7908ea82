//! Exchanges of values between the lanes of a warp as events of a path. Reading R31: they order nothing.

use std::ops::Range;

use super::state::PathState;
use super::{Next, UnfoldLimit, Walk};
use crate::event::{BarrierUse, Combination, EventKind, Mask, Resource, Tags};
use crate::expr::{Expr, ExprId};
use model::given::Tag;
use model::isa::alu::{AluOp, Comparison};
use model::isa::bar::BarrierMisuse;
use model::isa::warp::{Exchange, ExchangeOp, LANES};
use model::isa::{Operand, Reg, Type};
use model::value::Value;

/// What a lane brings to an exchange, and what decides its results.
#[derive(Clone, Copy)]
struct Exchanged {
    mask: u64,
    brought: (ExprId, Mask),
    combination: Combination,
    /// Whether the lane of a shuffle was in range, and what decides which lane that is.
    in_range: bool,
    lane_taint: Mask,
}

/// The other lanes of a warp beyond which not every set of active ones is tried.
const MOST_LANES: u32 = 4;

impl Walk<'_> {
    pub(super) fn exchange(
        &mut self,
        state: &mut PathState,
        mask: Operand,
        of: &Exchange,
        guard: Mask,
    ) -> Next {
        if of.op == ExchangeOp::Active {
            return self.active(state, of.result, guard);
        }
        let (mask, mask_taint) = self.operand(state, mask);
        state.ctrl |= mask_taint;
        let mask = self.choose(state, mask) & u64::from(u32::MAX);
        let here = self.program.lane(self.thread);
        if mask >> here & 1 == 0 {
            self.fault(state.clone(), BarrierMisuse::Lanes.text());
            return Next::Stop;
        }
        let (value, taint) = self.brought(state, of);
        let mut exchanged = Exchanged {
            mask,
            brought: (value, taint),
            combination: Combination::Lanes(of.op),
            in_range: true,
            lane_taint: 0,
        };
        if let ExchangeOp::Shuffle(shuffle) = of.op {
            let (by, by_taint) = self.operand(state, of.lane);
            let low = state.exprs.constant((LANES - 1).into());
            let by = state.exprs.alu(AluOp::And, Type::U32, &[by, low]);
            let lanes: Vec<Value> = (0..LANES.into()).collect();
            let by = self.choose_among(state, by, &lanes);
            let by = u32::try_from(by).expect("it is a lane");
            let (clamp, clamp_taint) = self.operand(state, of.clamp);
            let clamp = self.choose(state, clamp);
            let (from, found) = shuffle.source(here, by, clamp);
            (exchanged.in_range, exchanged.lane_taint) = (found, by_taint | clamp_taint);
            if !self.takes_part(mask, from) {
                self.fault(state.clone(), BarrierMisuse::Absent.text());
                return Next::Stop;
            }
            exchanged.combination = Combination::Lane(from);
        } else if of.op == ExchangeOp::Elect && self.conventions.elects_any_lane {
            // Whether a lane of the mask takes part shows later.
            let lanes: Vec<u32> = self.lanes().filter(|lane| mask >> lane & 1 == 1).collect();
            for &lane in &lanes[1..] {
                let mut other = state.clone();
                let elected = Exchanged { combination: Combination::Elected(lane), ..exchanged };
                self.exchanged(&mut other, of, elected, guard);
                other.step += 1;
                self.pending.push(other);
            }
            exchanged.combination = Combination::Elected(lanes[0]);
        }
        self.exchanged(state, of, exchanged, guard);
        Next::Go
    }

    /// The events of an exchange, and its results.
    fn exchanged(&self, state: &mut PathState, of: &Exchange, exchanged: Exchanged, guard: Mask) {
        let Exchanged { mask, brought: (value, taint), combination, in_range, lane_taint } =
            exchanged;
        let wait = meet(state, mask, of.op, (combination, value, taint), guard);
        let here = self.program.lane(self.thread);
        let mut depends = 1 << wait | lane_taint;
        // What it depends on, it still does.
        let known = self.facts.accessed.exchanged.get(&(self.thread, state.pc));
        let known = known.filter(|_| !self.conventions.semantic_dependencies);
        let result = match combination {
            _ if let Some(known) = known => state.exprs.constant(known.result),
            Combination::Elected(lane) => state.exprs.constant(lane.into()),
            // What a lane says of its own value decides when its loop ends.
            Combination::Lane(from)
                if from == here && self.live.loops() && !self.conventions.semantic_dependencies =>
            {
                depends |= taint;
                value
            }
            Combination::Reduction(_)
            | Combination::Lanes(_)
            | Combination::Lane(_)
            | Combination::Active => state.exprs.intern(Expr::Reduced(wait)),
        };
        if let Some(register) = of.result {
            state.set(register, result, depends);
        }
        if let Some(register) = of.predicate {
            let comparison = |state: &mut PathState, comparison, with: u32| {
                let with = state.exprs.constant(with.into());
                state.exprs.alu(AluOp::Setp(comparison), Type::U32, &[result, with])
            };
            let (value, depends) = match of.op {
                ExchangeOp::Shuffle(_) => (state.exprs.constant(in_range.into()), lane_taint),
                ExchangeOp::Elect => (comparison(state, Comparison::Eq, here), 1 << wait),
                ExchangeOp::All
                | ExchangeOp::Any
                | ExchangeOp::Uniform
                | ExchangeOp::Ballot
                | ExchangeOp::MatchAny(_)
                | ExchangeOp::MatchAll(_)
                | ExchangeOp::Active
                | ExchangeOp::Reduce(_) => (comparison(state, Comparison::Ne, 0), 1 << wait),
            };
            state.set(register, value, depends);
        }
        state.pc += 1;
    }

    /// `activemask`: the lanes that execute it together, which are some lanes of the warp and this one (reading R31). They wait for
    /// one another where a path assumes them; who would wait for ever shows that they are others.
    fn active(&mut self, state: &mut PathState, to: Option<Reg>, guard: Mask) -> Next {
        let own = 1 << self.program.lane(self.thread);
        let others: u64 = self.lanes().fold(0, |all, lane| all | 1 << lane) & !own;
        if others.count_ones() > MOST_LANES {
            return Next::Limit(UnfoldLimit::Paths);
        }
        // Each part of a set of bits, from the set itself down to nothing.
        let mut part = others;
        while part != 0 {
            let mut other = state.clone();
            Self::together(&mut other, own | part, to, guard);
            other.step += 1;
            self.pending.push(other);
            part = (part - 1) & others;
        }
        Self::together(state, own, to, guard);
        Next::Go
    }

    fn together(state: &mut PathState, lanes: u64, to: Option<Reg>, guard: Mask) {
        let mask = state.exprs.constant(lanes.into());
        let active = (Combination::Active, mask, 0);
        let wait = meet(state, lanes, ExchangeOp::Active, active, guard);
        if let Some(register) = to {
            state.set(register, mask, 1 << wait | guard);
        }
        state.pc += 1;
    }

    /// What this lane brings, in the bits that count.
    fn brought(&mut self, state: &mut PathState, of: &Exchange) -> (ExprId, Mask) {
        if matches!(of.op, ExchangeOp::Shuffle(_)) && !self.live.is_shuffle_source {
            return (state.exprs.constant(0), 0);
        }
        let (value, taint) = self.operand(state, of.source);
        let bits = of.op.source_bits();
        if bits == 1 {
            let zero = state.exprs.constant(0);
            let wanted = if of.negated { Comparison::Eq } else { Comparison::Ne };
            return (state.exprs.alu(AluOp::Setp(wanted), Type::U32, &[value, zero]), taint);
        }
        let ty = if bits == 64 { Type::U64 } else { Type::U32 };
        (state.exprs.alu(AluOp::Mov, ty, &[value]), taint)
    }

    /// Whether a thread of the test is this lane of the warp, and in the mask.
    fn takes_part(&self, mask: u64, lane: u32) -> bool {
        self.lanes().contains(&lane) && mask >> lane & 1 == 1
    }

    /// The lanes of the warp that are threads of the test.
    fn lanes(&self) -> Range<u32> {
        let of_warp = self.program.warp_threads(self.thread).count();
        0..u32::try_from(of_warp).expect("few threads")
    }
}

/// The arrival and the wait of an exchange between the lanes of a mask; the number of the wait.
fn meet(
    state: &mut PathState,
    mask: u64,
    op: ExchangeOp,
    reduce: (Combination, ExprId, Mask),
    guard: Mask,
) -> u16 {
    let used = BarrierUse {
        resource: Resource::Warp { mask, exchange: Some(op) },
        count: None,
        reduce: Some(reduce),
        relaxed: false,
        waits: true,
        aligned: false,
    };
    let tags = Tags::of(&[Tag::All]);
    state.push(EventKind::Arrive, tags, guard);
    state.last().barrier = Some(used);
    let wait = state.push(EventKind::Wait, tags, guard);
    state.last().barrier = Some(used);
    wait
}
