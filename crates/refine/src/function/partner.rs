//! Contexts of a function: the operations before and after it in its thread, the other threads, and their
//! placement.
//!
//! A partner accesses two places of the function in the opposite order, which closes a cycle. One device
//! orders the partner's own accesses. Its scopes are the smallest that include all threads that access a
//! place.

mod names;

use std::collections::BTreeSet;

use model::isa::fence::FenceOrder;
use model::scope::{Placement, Scope};

use super::inputs::as_float;
use super::scan::{ByteRange, ThreadScan};
use crate::context::{
    AwaitedValue, CHAINED, Context, ContextOp, ContextShape, pairs, placements, shape,
};
use crate::step::{AccessKind, AccessOrder, Step};
use lift::function::HERE;

/// A place at which threads meet.
#[expect(clippy::struct_excessive_bools, reason = "what is known of a place is yes or no")]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MeetingLocation {
    pub place: ByteRange,
    pub reads: bool,
    pub writes: bool,
    /// Whether the function accesses it only by weak accesses.
    pub plain: bool,
    /// Whether it is in shared memory, which belongs to one CTA.
    pub shared: bool,
    /// Whether it belongs to the context: in the frame, or between partners.
    pub own: bool,
    /// Whether the program promises that no thread writes it.
    pub promised: bool,
    /// The bits of the floats that it holds, if the function computes with them as floats.
    pub float: Option<u16>,
    /// Values other than the initial one with which some comparison of the function holds or fails.
    pub wanted: Vec<u64>,
    /// What partners write there in place of a number that nobody expects, if that changes more of what the function
    /// computes.
    pub telling: Vec<u64>,
    /// Whether it is accessed between the same operations as a place before it, so that it needs no contexts.
    pub like_another: bool,
    /// Whether the target accesses it as a part of a word: then other threads can swap it.
    pub in_word: bool,
    /// Whether it belongs to a function of another module that the function calls.
    pub of_callee: bool,
    /// The place of which it is another virtual address.
    pub name_of: Option<ByteRange>,
    /// Whether no other pointer leads to it: only the function itself and what it calls with this one access it.
    pub alone: bool,
}

/// Shapes for a function that accesses `x` and later `y`, in the notation of rows; `z` is between partners.
/// Only C++ has `sc` accesses.
const PAIRS: &[&str] = &[
    "R | ld.acq y; if; ld x",
    "R | st y; st.rel x",
    "R | ld.acq y; if; st x",
    "R | ld y; st.rel x",
    "R | ld.acq y; ld x",
    "R | ld.acq y; st x",
    "R | swap.acq y; if; ld x",
    "R | st y; swap.rel x",
    "R | st y; f.sc; ld x",
    "R | st y; f.sc; st x",
    "R | ld y; f.sc; st x",
    "R | st.sc y; ld.sc x",
    "R | st.sc y; st.sc x",
    "R | ld.sc y; st.sc x",
    "R | swap y | ld.acq y; if; ld x",
    "R | st y; st.rel x | swap x",
    "R | ld.acq y; if; st.rel z | ld.acq z; if; ld x",
    "R | st y; st.rel z | ld.acq z; if; st.rel x",
];

/// For a function with fences: its read of `x` returns what it must not have been ordered after.
const FENCED: &str = "R | st y; f.sc; ld x | st x";

/// The partner takes what the function gives back: a lock, or one of a count. `y` then has the value it began with.
const GIVEN_BACK: [&str; 2] = ["R | swap.acq y; unless; st x", "R | swap.acq y; unless; ld x"];

/// A callee, as another thread: it reads its arguments at `y` and answers at `z`, and what it does with `x` happens in between.
const CALLED: [&str; 2] = ["R | ld.acq y; if; ld x; st.rel z", "R | ld.acq y; if; st x; st.rel z"];

/// Shapes for one place.
const SINGLES: &[&str] =
    &["R | st y", "R | swap y", "R | ld y; ld y", "R | st y; ld y", "R | st y; st y"];

/// The maximum number of barriers of a function at which partners meet it.
const MEETINGS: usize = 8;

/// The number of contexts above which those of one place come before those of two.
const MANY: usize = 1_000;

/// The first value of a context's stores. A function is unlikely to store such a value.
pub const FRESH: u64 = 101;

/// What a context's store with this number writes: the number, or that float.
pub fn fresh(number: u64, float: Option<u16>, bytes: u32) -> u64 {
    let value = FRESH + number;
    float.map_or(value, |bits| as_float(value, bits, bytes))
}

/// The scopes that matter for the placement of a function's partners.
pub struct JudgedScopes {
    /// Those by which placements differ.
    pub distinct: BTreeSet<Scope>,
    /// Whether threads of other CTAs of the cluster may access shared memory of the function: its target has clusters,
    /// and some operation of the source has a scope that includes them.
    pub clusters: bool,
}

struct ContextBuilder<'a> {
    locations: &'a [MeetingLocation],
    /// The context's own place, between partners.
    link: usize,
    scopes: &'a JudgedScopes,
    /// Whether a race of weak accesses may show what a fence of the function orders: it leaves PTX defined.
    racy: bool,
    all: Vec<Context>,
}

/// The number of places that belong to a context: two for the frame, and one between partners.
pub const OWN: usize = 3;

/// Every context of a function, in the order in which they are tried.
///
/// `locations` are the places of the scan, followed by those of the context. `framed`: other code may precede
/// and follow the function.
pub fn contexts(
    scan: &ThreadScan,
    locations: &[MeetingLocation],
    framed: bool,
    cxx: bool,
    scopes: &JudgedScopes,
    more: &[ContextShape],
) -> Vec<Context> {
    let [frame, other, link] = [3, 2, 1].map(|from_end| locations.len() - from_end);
    let racy = !cxx && scan.fences;
    let mut maker = ContextBuilder { locations, link, scopes, racy, all: Vec::new() };
    let places: Vec<usize> =
        (0..scan.uses.len()).filter(|&place| !locations[place].like_another).collect();
    let ordered = |pair: &(usize, usize)| places.contains(&pair.0) && places.contains(&pair.1);
    let ordered: Vec<(usize, usize)> = scan.ordered.iter().copied().filter(ordered).collect();
    let mut shapes: Vec<ContextShape> = PAIRS.iter().map(|text| shape(text)).collect();
    let (own, framing): (Vec<&ContextShape>, Vec<&ContextShape>) = more
        .iter()
        .filter(|shape| cxx || shape.is_ptx())
        .partition(|shape| shape.threads[0].len() == 1);
    shapes.extend(own.into_iter().cloned());
    if scan.fences {
        shapes.push(shape(FENCED));
    }
    maker.alone();
    maker.barriers(scan);
    maker.chained(scan, frame, &places);
    let pairs = maker.all.len();
    let spoken = shapes.iter().filter(|shape| cxx || !shape.seq_cst);
    for shape in &spoken.flat_map(|shape| meeting(shape, scan)).collect::<Vec<_>>() {
        for &(p, q) in ordered.iter().filter(|(p, q)| p != q) {
            maker.pair(shape, [p, q], [&[], &[]]);
            // A read of the function must not return an older write than a read before it.
            for at in [p, q].into_iter().filter(|&at| framed && !locations[at].plain) {
                let op = access(AccessKind::Load, at, AccessOrder::Relaxed);
                maker.pair(shape, [p, q], [&[op], &[]]);
            }
        }
        if !framed {
            continue;
        }
        let order = if shape.seq_cst { AccessOrder::SeqCst } else { AccessOrder::Relaxed };
        let ops =
            |at: usize| [AccessKind::Store, AccessKind::Load].map(|act| access(act, at, order));
        for op in ops(frame) {
            for &place in &places {
                maker.pair(shape, [frame, place], [&[op], &[]]);
                maker.pair(shape, [place, frame], [&[], &[op]]);
            }
            // Accesses before and after the function that only its fences order.
            for tail in ops(other).into_iter().filter(|_| scan.fences) {
                maker.pair(shape, [frame, other], [&[op], &[tail]]);
            }
        }
    }
    for shape in framing.into_iter().filter(|_| framed).flat_map(|shape| meeting(shape, scan)) {
        for &place in &places {
            maker.framed(&shape, [frame, place]);
        }
    }
    let others = maker.all.len();
    for shape in GIVEN_BACK.iter().map(|text| shape(text)) {
        let returns = |at: usize| {
            let location = &locations[at];
            location.reads && location.writes && !location.plain
        };
        for &(p, q) in ordered.iter().filter(|(p, q)| p != q && returns(*q)) {
            maker.pair(&shape, [p, q], [&[], &[]]);
        }
    }
    maker.callees(&places);
    for shape in SINGLES.iter().map(|text| shape(text)) {
        for &place in &places {
            maker.pair(&shape, [place, place], [&[], &[]]);
        }
    }
    // The second of two reads of a place must not return an older write. One of the reads is the function's.
    let read = |&at: &usize| framed && locations[at].reads && !locations[at].plain;
    for &at in places.iter().filter(|at| read(at)) {
        let op = access(AccessKind::Load, at, AccessOrder::Relaxed);
        let shape = shape("R | st y");
        maker.pair(&shape, [at, at], [&[op], &[]]);
        maker.pair(&shape, [at, at], [&[], &[op]]);
    }
    if framed {
        maker.fences(frame, &places);
    }
    maker.twins();
    // The contexts of pairs grow with the square of the places, and may not all be reached in time.
    if maker.all.len() > MANY {
        maker.all[pairs..].rotate_left(others - pairs);
    }
    maker.by_other_names(scan, &ordered, &places, framed.then_some([frame, other]));
    maker.all
}

/// The contexts of a function whose partners meet it at its barriers.
pub fn meetings(
    scan: &ThreadScan,
    locations: &[MeetingLocation],
    scopes: &JudgedScopes,
) -> Vec<Context> {
    let mut maker = ContextBuilder {
        locations,
        link: locations.len() - 1,
        scopes,
        racy: false,
        all: Vec::new(),
    };
    maker.barriers(scan);
    maker.all
}

/// A shape with the barriers of the function in place of `B`: each with what precedes and follows between any two of
/// them. Nothing if no thread can meet the function.
fn meeting(shape: &ContextShape, scan: &ThreadScan) -> Vec<ContextShape> {
    let Some(mate) =
        shape.threads.iter().position(|thread| thread.contains(&ContextOp::RowBarriers))
    else {
        return vec![shape.clone()];
    };
    let barriers = met(scan);
    let mut parts = shape.threads[mate].splitn(2, |op| *op == ContextOp::RowBarriers);
    let (before, tail) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    // A thread executes each barrier once.
    let again = tail.contains(&ContextOp::RowBarriers);
    let count = if again { 0 } else { barriers.len() };
    let mut all = Vec::new();
    for first in 0..count {
        for last in first + 1..=count {
            if before.is_empty() && first > 0 || tail.is_empty() && last < count {
                continue;
            }
            let [early, between, late] =
                [&barriers[..first], &barriers[first..last], &barriers[last..]];
            let mut one = shape.clone();
            one.threads[mate] = [early, before, between, tail, late].concat();
            all.push(one);
        }
    }
    all
}

/// The barriers of a function at which partners meet it.
fn met(scan: &ThreadScan) -> Vec<ContextOp> {
    let met = scan.barriers.iter().flatten().take(MEETINGS);
    met.map(|&barrier| ContextOp::Barrier(barrier)).collect()
}

/// The widest scope of which all threads meet at some of these operations.
fn within(ops: &[ContextOp]) -> Scope {
    let mut barriers = ops.iter().filter(|op| matches!(op, ContextOp::Barrier(_))).peekable();
    if barriers.peek().is_none() {
        return Scope::Sys;
    }
    let of_cta = |op: &ContextOp| matches!(op, ContextOp::Barrier(Step::Barrier { .. }));
    if barriers.all(of_cta) { Scope::Cta } else { Scope::Cluster }
}

/// The context without other threads, for this many places.
pub fn alone(locations: usize) -> Context {
    Context {
        threads: vec![vec![ContextOp::Judged]],
        placements: vec![HERE],
        distance: "alone",
        judged: 0..locations - OWN,
        expects_partner: false,
    }
}

impl ContextBuilder<'_> {
    /// An operation of a shape at these places, the last of which is another name of the one before; `None` if the place
    /// does not permit the access. `others`: the other partners.
    fn op(
        &self,
        op: ContextOp,
        places: [usize; 4],
        others: &dyn Fn(usize) -> bool,
    ) -> Option<ContextOp> {
        let ContextOp::Access { act, at, order, value, expects } = op else { return Some(op) };
        // A read of a place that no other thread writes shows nothing.
        let written = others(at);
        let at = places[at];
        let location = &self.locations[at];
        if act == AccessKind::Load && !location.writes && !location.own && !written {
            return None;
        }
        if act.writes() && location.promised {
            return None;
        }
        let weak = order == AccessOrder::Relaxed && location.plain && act != AccessKind::Swap;
        let order = if weak { AccessOrder::Weak } else { order };
        let fits = match location.place.bytes {
            1 | 2 => act != AccessKind::Swap || location.in_word,
            bytes => bytes <= 16,
        };
        // The first number belongs to the function. Its frame has the first value.
        let value = FRESH - 1 + value;
        (fits && !(location.plain && order != AccessOrder::Weak)).then_some(ContextOp::Access {
            act,
            at,
            order,
            value,
            expects,
        })
    }

    fn pair(&mut self, shape: &ContextShape, [p, q]: [usize; 2], frame: [&[ContextOp]; 2]) {
        let partners = &shape.threads[1..];
        let named = self.name(self.link).unwrap_or(self.link);
        let partners: Option<Vec<Vec<ContextOp>>> = partners
            .iter()
            .enumerate()
            .map(|(thread, ops)| {
                let written = |at: usize| {
                    let others = partners.iter().enumerate().filter(|(other, _)| *other != thread);
                    others.flat_map(|(_, ops)| ops).any(|op| op.writes(at))
                };
                ops.iter().map(|&op| self.op(op, [p, q, self.link, named], &written)).collect()
            })
            .collect();
        let Some(partners) = partners else { return };
        // A weak access without a guard or a release in its thread races, so the context shows nothing.
        let weak =
            |op: &ContextOp| matches!(op, ContextOp::Access { order: AccessOrder::Weak, .. });
        let ordered = |ops: &Vec<ContextOp>| {
            let device = |op: &ContextOp| {
                matches!(
                    op,
                    ContextOp::Guard(_)
                        | ContextOp::AliasFence(_)
                        | ContextOp::Access { order: AccessOrder::Release, .. }
                )
            };
            let fence = |op: &ContextOp| matches!(op, ContextOp::Fence(FenceOrder::Sc));
            !ops.iter().any(weak) || ops.iter().any(device) || self.racy && ops.iter().any(fence)
        };
        if !partners.iter().all(ordered) {
            return;
        }
        let link = partners.iter().flatten().any(|op| op.accesses(self.link));
        self.place(&partners, frame);
        // The store that signals completion writes the value for which the function waits.
        let last = |op: &ContextOp| {
            matches!(op, ContextOp::Access { act: AccessKind::Store | AccessKind::Swap, at, .. }
            if !self.locations[*at].own)
        };
        if link && partners.len() > 1 && !partners[1].iter().any(last) && named == self.link {
            return;
        }
        // What a partner takes, it writes first.
        let takes = |op: &ContextOp| *op == ContextOp::Guard(AwaitedValue::Initial);
        let first = partners.iter().flatten().any(takes);
        let mut signals = partners.iter().flatten().filter(|op| last(op));
        let signal = if first { signals.next() } else { signals.next_back() };
        let Some(ContextOp::Access { at, .. }) = signal else { return };
        for &wanted in &self.locations[*at].wanted {
            let mut varied = partners.clone();
            let mut signals = varied.iter_mut().flatten().filter(|op| last(op));
            let signal = if first { signals.next() } else { signals.next_back() };
            let Some(ContextOp::Access { value, .. }) = signal else { return };
            *value = wanted;
            self.place(&varied, frame);
        }
    }

    /// A shape with operations before or after the function: `x` is the frame's place, and `y` one of the function.
    fn framed(&mut self, shape: &ContextShape, [x, y]: [usize; 2]) {
        let mut first = shape.threads[0].split(|op| *op == ContextOp::Judged).map(|ops| {
            let of = |op: &ContextOp| self.op(*op, [x, y, self.link, self.link], &|_| true);
            ops.iter().map(of).collect::<Option<Vec<_>>>()
        });
        let parts = [first.next().flatten(), first.next().flatten()];
        let more = first.next().is_some();
        drop(first);
        // A function is executed once.
        if let ([Some(before), Some(after)], false) = (parts, more) {
            self.pair(shape, [x, y], [&before, &after]);
        }
    }

    /// What a callee may do between its call and its answer.
    fn callees(&mut self, places: &[usize]) {
        let link = self.link;
        let shapes = CALLED.map(shape);
        for &asked in places.iter().filter(|at| self.locations[**at].of_callee) {
            let ByteRange { memory, offset, bytes } = self.locations[asked].place;
            let answer = ByteRange { memory, offset: offset + bytes, bytes };
            let asks = self.locations[asked].writes && !self.locations[asked].plain;
            let answered = places.iter().find(|at| self.locations[**at].place == answer);
            let (true, Some(&answered)) = (asks, answered) else { continue };
            if !self.locations[answered].reads || self.locations[answered].plain {
                continue;
            }
            self.link = answered;
            let others = |at: &&usize| {
                let location = &self.locations[**at];
                !location.of_callee && !location.alone
            };
            for &place in &places.iter().filter(others).copied().collect::<Vec<_>>() {
                for shape in &shapes {
                    self.pair(shape, [place, asked], [&[], &[]]);
                }
            }
        }
        self.link = link;
    }

    /// A fence of the frame makes a release or an acquire pattern of a relaxed access of the function.
    fn fences(&mut self, frame: usize, places: &[usize]) {
        let access = |act| access(act, frame, AccessOrder::Relaxed);
        let fence = ContextOp::Fence(FenceOrder::AcqRel);
        for &place in places.iter().filter(|place| !self.locations[**place].plain) {
            let read = shape("R | ld.acq y; if; ld x");
            let before = [access(AccessKind::Store), fence];
            self.pair(&read, [frame, place], [&before, &[]]);
            let written = shape("R | st y; st.rel x");
            let tail = [fence, access(AccessKind::Load)];
            self.pair(&written, [place, frame], [&[], &tail]);
        }
    }

    /// Adds the context at every distance that a shared place allows.
    fn place(&mut self, partners: &[Vec<ContextOp>], [before, tail]: [&[ContextOp]; 2]) {
        let shared = partners
            .iter()
            .flatten()
            .any(|op| matches!(op, ContextOp::Access { at, .. } if self.locations[*at].shared));
        let mut known = BTreeSet::new();
        for (distance, placements) in placements(1 + partners.len()) {
            let meets = |(partner, &other): (&Vec<ContextOp>, &Placement)| {
                within(partner).includes(HERE, other)
            };
            if !partners.iter().zip(&placements[1..]).all(meets) {
                continue;
            }
            if shared && !placements.iter().all(|&other| self.reach().includes(HERE, other)) {
                continue;
            }
            // Of placements that the function's scopes do not tell apart, the first is the farthest. Nearer
            // threads of the target have no more outcomes.
            if !known.insert(self.relations(&placements)) {
                continue;
            }
            let first = [before, &[ContextOp::Judged], tail].concat();
            let threads = std::iter::once(first).chain(partners.iter().cloned()).collect();
            self.push(threads, placements, distance);
        }
    }

    /// The threads that may access shared memory.
    fn reach(&self) -> Scope {
        if self.scopes.clusters { Scope::Cluster } else { Scope::Cta }
    }

    /// For each scope of the function and each pair of threads, whether the scope of one includes the other.
    fn relations(&self, placements: &[Placement]) -> Vec<bool> {
        let pairs = placements.iter().enumerate().flat_map(|(at, &first)| {
            placements[at + 1..].iter().map(move |&second| (first, second))
        });
        pairs
            .flat_map(|(first, second)| {
                self.scopes.distinct.iter().map(move |scope| scope.includes(first, second))
            })
            .collect()
    }

    fn push(
        &mut self,
        threads: Vec<Vec<ContextOp>>,
        placements: Vec<Placement>,
        distance: &'static str,
    ) {
        let judged = 0..self.locations.len() - OWN;
        let expects_partner = false;
        self.all.push(Context { threads, placements, distance, judged, expects_partner });
    }

    /// The function without other threads.
    fn alone(&mut self) {
        self.all.push(alone(self.locations.len()));
    }

    /// Two threads that both run the function.
    fn twins(&mut self) {
        let mut known = BTreeSet::new();
        for (distance, placements, _) in pairs() {
            if known.insert(self.relations(&placements)) {
                self.push(vec![vec![ContextOp::Judged]; 2], placements.to_vec(), distance);
            }
        }
    }

    /// Partners of which one meets the function at its barriers, and the function synchronizes with the other one.
    fn chained(&mut self, scan: &ThreadScan, frame: usize, places: &[usize]) {
        for shape in CHAINED.iter().flat_map(|text| meeting(&shape(text), scan)) {
            for &place in places.iter().filter(|place| !self.locations[**place].plain) {
                self.pair(&shape, [frame, place], [&[], &[]]);
            }
        }
    }

    /// Partners that meet the function at its barriers, and access a place between two of them.
    fn barriers(&mut self, scan: &ThreadScan) {
        let barriers = met(scan);
        for at in (0..scan.uses.len()).filter(|&at| !self.locations[at].like_another) {
            self.at_barriers(&barriers, at);
        }
    }

    /// Partners that meet the function at these barriers and access a place. By another name of it they do so with half of
    /// an alias fence, too.
    fn at_barriers(&mut self, barriers: &[ContextOp], at: usize) {
        if barriers.is_empty() {
            return;
        }
        let within = within(barriers);
        let near: Vec<_> =
            pairs().into_iter().filter(|(_, two, _)| within.includes(two[0], two[1])).collect();
        let location = &self.locations[at];
        let [acquire, release] =
            [FenceOrder::Acquire, FenceOrder::Release].map(ContextOp::AliasFence);
        let order = if location.plain { AccessOrder::Weak } else { AccessOrder::Relaxed };
        let (shared, named) = (location.shared, location.name_of.is_some());
        let kinds = [AccessKind::Load, AccessKind::Store].into_iter().filter(|act| {
            let idle = *act == AccessKind::Load && !location.writes;
            !(idle || act.writes() && location.promised || location.place.bytes > 16)
        });
        let kinds: Vec<AccessKind> = kinds.collect();
        for (tail, &act) in
            (0..=barriers.len()).flat_map(|at| kinds.iter().map(move |act| (at, act)))
        {
            let op = access(act, at, order);
            let all = [vec![op], vec![acquire, op], vec![op, release]];
            for added in all.into_iter().take(if named { 3 } else { 1 }) {
                let mut ops = barriers.to_vec();
                ops.splice(tail..tail, added);
                for (distance, placements, _) in &near {
                    if shared && !self.reach().includes(placements[0], placements[1]) {
                        continue;
                    }
                    let threads = vec![vec![ContextOp::Judged], ops.clone()];
                    self.push(threads, placements.to_vec(), distance);
                }
            }
        }
    }
}

/// An access without a number of its own.
fn access(act: AccessKind, at: usize, order: AccessOrder) -> ContextOp {
    ContextOp::Access { act, at, order, value: FRESH, expects: 0 }
}
