//! Exchanges of values between the lanes of a warp as events of a path. Reading R31: they order nothing.

use super::state::PathState;
use super::{Next, Walk};
use crate::event::{BarrierUse, Combination, EventKind, Mask, Resource, Tags};
use crate::expr::{Expr, ExprId};
use model::given::Tag;
use model::isa::alu::{AluOp, Comparison};
use model::isa::bar::BarrierMisuse;
use model::isa::warp::{Exchange, ExchangeOp, LANES};
use model::isa::{Operand, Type};
use model::value::Value;

impl Walk<'_> {
    pub(super) fn exchange(
        &mut self,
        state: &mut PathState,
        mask: Operand,
        of: &Exchange,
        guard: Mask,
    ) -> Next {
        let (mask, mask_taint) = self.operand(state, mask);
        state.ctrl |= mask_taint;
        let mask = self.choose(state, mask) & u64::from(u32::MAX);
        let here = self.program.lane(self.thread);
        if mask >> here & 1 == 0 {
            self.fault(state.clone(), BarrierMisuse::Lanes.text());
            return Next::Stop;
        }
        let (value, taint) = self.brought(state, of);
        let mut combination = Combination::Lanes(of.op);
        // Whether the lane of a shuffle was in range, and what decides which lane that is.
        let (mut in_range, mut lane_taint) = (true, 0);
        if let ExchangeOp::Shuffle(shuffle) = of.op {
            let (by, by_taint) = self.operand(state, of.lane);
            let low = state.exprs.constant((LANES - 1).into());
            let by = state.exprs.alu(AluOp::And, Type::U32, &[by, low]);
            let lanes: Vec<Value> = (0..LANES.into()).collect();
            let by = self.choose_among(state, by, &lanes);
            let by = u32::try_from(by).expect("it is a lane");
            let (from, found) = shuffle.source(here, by, of.clamp);
            (in_range, lane_taint) = (found, by_taint);
            if !self.takes_part(mask, from) {
                self.fault(state.clone(), BarrierMisuse::Absent.text());
                return Next::Stop;
            }
            combination = Combination::Lane(from);
        }
        let used = BarrierUse {
            resource: Resource::Warp { mask, exchange: Some(of.op) },
            count: None,
            reduce: Some((combination, value, taint)),
            relaxed: false,
            waits: true,
            aligned: false,
        };
        let tags = Tags::of(&[Tag::All]);
        state.push(EventKind::Arrive, tags, guard);
        state.last().barrier = Some(used);
        let wait = state.push(EventKind::Wait, tags, guard);
        state.last().barrier = Some(used);
        let result = state.exprs.intern(Expr::Reduced(wait));
        let depends = 1 << wait | lane_taint;
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
                | ExchangeOp::Reduce(_) => (comparison(state, Comparison::Ne, 0), 1 << wait),
            };
            state.set(register, value, depends);
        }
        state.pc += 1;
        Next::Go
    }

    /// What this lane brings, in the bits that count.
    fn brought(&mut self, state: &mut PathState, of: &Exchange) -> (ExprId, Mask) {
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
        let here = self.program.threads[usize::from(self.thread.0)].placement;
        let threads = &self.program.threads;
        let of_warp = threads.iter().filter(|other| other.placement.same_warp(here)).count();
        let known = u64::try_from(of_warp.max(1)).expect("few threads");
        u64::from(lane) < known && mask >> lane & 1 == 1
    }
}
