//! What the lanes of a warp give to one another, in any order.

use std::collections::{BTreeMap, BTreeSet};

use super::{FixedPoint, HoldsBy, PossibleValues, combined, join};
use crate::exchanges;
use model::isa::warp::{Exchange, ExchangeOp};
use model::program::ThreadId;
use model::value::Value;

/// Lanes of a warp beyond which their sets are not listed.
const MOST_LANES: usize = 5;

/// What lanes bring, by the first thread of the warp and what they do with it.
pub(super) type BroughtValues = BTreeMap<(usize, ExchangeOp), PossibleValues>;

impl FixedPoint<'_> {
    /// Lanes take values from those that do the same, wherever they do it.
    pub(super) fn exchange(&mut self, by: HoldsBy<'_>, line: usize, of: &Exchange) {
        let thread = by.thread;
        let warp = self.warp(thread);
        let brought = self.brought(thread, of);
        let all = self.brought.entry((warp[0], of.op)).or_insert_with(|| Some(BTreeSet::new()));
        self.changed |= join(all, brought);
        let all = all.clone();
        // Whoever takes something of this lane may not know of which one it does.
        if let Some(known) = self.given.get(&(thread, line)) {
            let value = Some(BTreeSet::from([known.result]));
            self.contents.exchanged.insert((thread, line), value.clone());
            if let Some(register) = of.predicate {
                self.hold(by, register.0, Some(BTreeSet::from([known.predicate])));
            }
            if let Some(register) = of.result {
                self.hold(by, register.0, value);
            }
            return;
        }
        let values = self.given(thread, of.op, &warp, all);
        let known = self.contents.exchanged.entry((thread, line));
        join(known.or_insert_with(|| Some(BTreeSet::new())), values.clone());
        if let Some(register) = of.predicate {
            self.hold(by, register.0, Some(BTreeSet::from([0, 1])));
        }
        if let Some(register) = of.result {
            self.hold(by, register.0, values);
        }
    }

    /// The threads of a warp, in the order of their lanes.
    fn warp(&self, thread: ThreadId) -> Vec<usize> {
        let threads = &self.program.threads;
        let here = threads[usize::from(thread.0)].placement;
        let of_warp = |other: &usize| {
            *other == usize::from(thread.0) || threads[*other].placement.same_warp(here)
        };
        (0..threads.len()).filter(of_warp).collect()
    }

    /// What a lane brings, in the bits that count; nothing at all where nobody takes it.
    fn brought(&self, thread: ThreadId, of: &Exchange) -> PossibleValues {
        let operand = self.operand(thread, of.source);
        let mut values = combined(&[operand], |values| Some(exchanges::brought(of, values[0])));
        if matches!(of.op, ExchangeOp::Shuffle(_))
            && let Some(values) = &mut values
            && !self.program.is_shuffle_source(thread)
        {
            values.insert(0);
        }
        values
    }

    /// The results for a lane, if the lanes of its warp bring these values.
    fn given(
        &self,
        thread: ThreadId,
        op: ExchangeOp,
        warp: &[usize],
        brought: PossibleValues,
    ) -> PossibleValues {
        let sets = || {
            let few = warp.len() <= MOST_LANES;
            few.then(|| (0..1 << warp.len()).collect::<BTreeSet<Value>>())
        };
        match op {
            ExchangeOp::Shuffle(_) => brought,
            ExchangeOp::All | ExchangeOp::Any | ExchangeOp::Uniform => Some(BTreeSet::from([0, 1])),
            ExchangeOp::Ballot | ExchangeOp::MatchAny(_) | ExchangeOp::MatchAll(_) => sets(),
            ExchangeOp::Active => {
                let own = self.program.lane(thread);
                sets().map(|all| all.into_iter().filter(|lanes| lanes >> own & 1 == 1).collect())
            }
            ExchangeOp::Elect => Some((0..).take(warp.len()).collect()),
            ExchangeOp::Reduce(_) => {
                let mut all = brought.clone();
                for _ in 1..warp.len() {
                    let more = combined(&[all.clone(), brought.clone()], |values| {
                        Some(op.apply(values[0], &[(0, values[0]), (1, values[1])]))
                    });
                    join(&mut all, more);
                }
                all
            }
        }
    }
}
