//! Contexts in which a location has two virtual addresses, and an alias fence shows.
//!
//! The function accesses a place by its own name, and a partner, or other code of its thread, by the other one. In the
//! shapes a memory fence stands for that half of an alias fence.

use super::{ContextBuilder, FRESH, HERE, ThreadScan, access, met};
use crate::context::{ContextOp, ContextShape, shape};
use crate::step::{AccessKind, AccessOrder, TestLocation};
use model::isa::fence::FenceOrder;

/// What a partner does with the other name of `x`, after what the function did with its own name and then with `y`.
const BEHIND: [&str; 4] = [
    "R | ld.acq y; if; ld x",
    "R | ld.acq y; if; st x",
    "R | ld y; f.acq; if; ld x",
    "R | ld y; f.acq; if; st x",
];

/// The same before what the function does with `y` and then with `x`.
const BEFORE: [&str; 4] =
    ["R | st x; st.rel y", "R | ld x; st.rel y", "R | st x; f.rel; st y", "R | ld x; f.rel; st y"];

/// Two partners with two names of `z`, which the function synchronizes: its accesses of `x` and then `y` are between.
const BETWEEN: [&str; 4] = [
    "R | st z; st.rel x | ld.acq y; if; ld z",
    "R | ld z; st.rel x | ld.acq y; if; st z",
    "R | st z; f.rel; st x | ld.acq y; if; ld z",
    "R | st z; st.rel x | ld y; f.acq; if; ld z",
];

/// The same by one name: what the function reads, or acquires, others have written. A release of its own reads orders
/// none of that.
const CUMULATIVE: [&str; 2] =
    ["R | st x | ld.acq y; if; ld x", "R | st z; st.rel x | ld.acq y; if; ld z"];

/// The index in a shape of the other name of `z`.
const OTHER: usize = 3;

/// A shape in which fences are those of aliases, and the second of three threads accesses `z` by the other name.
fn aliased(text: &'static str) -> ContextShape {
    let mut shape = shape(text);
    let chain = shape.threads.len() > 2;
    for (thread, ops) in shape.threads.iter_mut().enumerate() {
        for op in ops {
            if let ContextOp::Fence(order) = *op {
                *op = ContextOp::AliasFence(order);
            } else if let ContextOp::Access { at, .. } = op
                && (chain, thread, *at) == (true, 1, TestLocation::Z as usize)
            {
                *at = OTHER;
            }
        }
    }
    shape
}

impl ContextBuilder<'_> {
    /// The other name of a place, if it has one.
    pub(super) fn name(&self, of: usize) -> Option<usize> {
        let place = self.locations[of].place;
        self.locations.iter().position(|location| location.name_of == Some(place))
    }

    /// Every context in which accesses by two names meet. `frame`: the places of code around the function, if there may
    /// be any.
    pub(super) fn by_other_names(
        &mut self,
        scan: &ThreadScan,
        ordered: &[(usize, usize)],
        places: &[usize],
        frame: Option<[usize; 2]>,
    ) {
        for at in places.iter().filter_map(|&at| self.name(at)).collect::<Vec<usize>>() {
            self.at_barriers(&met(scan), at);
        }
        let [after, before, between] = [BEHIND, BEFORE, BETWEEN].map(|all| all.map(aliased));
        for &(first, second) in ordered.iter().filter(|(first, second)| first != second) {
            if let Some(first) = self.name(first) {
                self.pairs(&after, [first, second], [&[], &[]]);
            }
            if let Some(second) = self.name(second) {
                self.pairs(&before, [second, first], [&[], &[]]);
            }
            if self.name(self.link).is_some() {
                self.pairs(&between, [first, second], [&[], &[]]);
            }
        }
        let cumulative = CUMULATIVE.map(shape);
        for &(first, second) in ordered.iter().filter(|(first, second)| first != second) {
            self.pairs(&cumulative, [first, second], [&[], &[]]);
        }
        let Some([frame, other]) = frame else { return };
        let Some(named) = self.name(frame) else { return };
        let relaxed = |act, at| access(act, at, AccessOrder::Relaxed);
        let signal = relaxed(AccessKind::Store, other);
        let poll = relaxed(AccessKind::Load, other);
        for op in [AccessKind::Store, AccessKind::Load].map(|act| relaxed(act, frame)) {
            self.pairs(&after, [named, other], [&[op], &[signal]]);
            self.pairs(&before, [named, other], [&[poll], &[op]]);
            self.pairs(&cumulative[..1], [frame, other], [&[op], &[signal]]);
            for &at in places {
                self.pairs(&cumulative[..1], [frame, at], [&[op], &[]]);
                self.pairs(&after, [named, at], [&[op], &[]]);
                self.pairs(&before, [named, at], [&[], &[op]]);
            }
        }
        let [store, load, reload] = [
            relaxed(AccessKind::Store, frame),
            relaxed(AccessKind::Load, frame),
            relaxed(AccessKind::Load, named),
        ];
        let (act, order) = (AccessKind::Store, AccessOrder::Relaxed);
        let rewrite = ContextOp::Access { act, at: named, order, value: FRESH + 1, expects: 0 };
        for (first, last) in [(store, reload), (store, rewrite), (load, rewrite)] {
            self.around(Some(first), Some(last));
        }
        for &at in places {
            self.pairs(&cumulative, [at, other], [&[], &[signal]]);
        }
        for at in places.iter().filter_map(|&at| self.name(at)).collect::<Vec<usize>>() {
            self.pairs(&after, [at, other], [&[], &[signal]]);
            self.pairs(&before, [at, other], [&[poll], &[]]);
            let location = &self.locations[at];
            let order = if location.plain { AccessOrder::Weak } else { AccessOrder::Relaxed };
            let kinds = [AccessKind::Store, AccessKind::Load];
            for act in kinds.into_iter().filter(|act| !location.promised || !act.writes()) {
                self.around(Some(access(act, at, order)), None);
                self.around(None, Some(access(act, at, order)));
            }
        }
    }

    fn pairs(&mut self, shapes: &[ContextShape], places: [usize; 2], frame: [&[ContextOp]; 2]) {
        for shape in shapes {
            self.pair(shape, places, frame);
        }
    }

    /// The function between other code of its thread, without other threads: also with the half of an alias fence that
    /// the function may lack.
    fn around(&mut self, before: Option<ContextOp>, after: Option<ContextOp>) {
        let half = |op: Option<ContextOp>, order| op.map(|_| ContextOp::AliasFence(order));
        let release = half(before, FenceOrder::Release);
        let acquire = half(after, FenceOrder::Acquire);
        for (release, acquire) in [(None, None), (release, None), (None, acquire)] {
            let all = [before, release, Some(ContextOp::Judged), acquire, after];
            let thread: Vec<ContextOp> = all.into_iter().flatten().collect();
            if !self.all.iter().any(|known| known.threads == [&*thread]) {
                self.push(vec![thread], vec![HERE], "alone");
            }
        }
    }
}
