//! Contexts: the operations before and after the judged steps, the other threads, and the placement of all
//! threads.
//!
//! A context is written in the language of the source; [`super::mapping`] lowers it for the target's side.
//! Each operation has the smallest scope that includes all threads that access the location, because a
//! stronger context hides the outcomes that it should show. The context's own accesses are relaxed, or plain
//! after a guard: a context with a race shows nothing about a C++ source. The lists are the bound: reading
//! R84.

use std::ops::Range;

use litmus::skeleton::{self, SkeletonAccess, SkeletonOp};
use model::isa::fence::FenceOrder;
use model::scope::{Placement, Scope};
use text::Diagnostic;
use text::report::ByteSpan;

use super::step::{AccessKind, AccessOrder, Step, TestLocation};

/// In the notation of [`litmus::skeleton`]: `R` stands for the judged steps, which access `y`.
const ACCESS: &[&str] = &[
    "st x; R | ld.acq y; ld x",
    "R; ld x | st x; st.rel y",
    "R; ld y | st y",
    "ld y; R | st y",
    "st.sc x; R | st.sc y; ld.sc x",
    "R; ld.sc x | st.sc x; ld.sc y",
    "st.sc x; R | st.sc y; st.sc x",
    "R; ld.sc x | st.sc x; st.sc y",
    "st.sc x; R | ld.sc y; ld.sc x",
    "st.sc x; R | ld.sc y; st.sc x",
    "ld.sc x; R | st.sc y; st.sc x",
    "ld.sc x; R | ld.sc y; st.sc x",
    "R; st.sc x | st.sc x; ld.sc y",
    "R; st.sc x | ld.sc x; st.sc y",
    "R; st.sc x | st.sc x; st.sc y",
    "ld x; R | ld.acq y; st x",
    "st x; R | ld.acq y; st x",
    "R; st x | ld x; st.rel y",
    "R; st x | st x; st.rel y",
    "st x; R | st y; f.sc; ld x",
    "st x; R | st y; f.sc; st x",
    "ld x; R | st y; f.sc; st x",
    "R; ld x | st x; f.sc; ld y",
    "R; ld x | st x; f.sc; st y",
    "R; st x | st x; f.sc; ld y",
    "R; st x | st x; f.sc; st y",
    "st x; R | swap.acq y; ld x",
    "R; ld x | st x; swap.rel y",
    "st x; f.rel; R | ld.acq y; ld x",
    "R; f.acq; ld x | st x; st.rel y",
    "st x; f.sc; R | st y; f.sc; ld x",
    "R; f.sc; ld x | st x; f.sc; ld y",
    "R; st y | ld y; ld y",
    "st y; R | ld y; ld y",
    "R; swap y | st y",
    "swap y; R | swap y",
    "R | swap y",
    "R | st y; ld y",
    "R; R | st y",
    "R; R | ld y; ld y",
    "st.na x; R | ld.acq y; if; ld.na x",
    "R; if; ld.na x | st.na x; st.rel y",
    "R; st.rel x | ld.acq x; if; ld.na y",
    "ld.acq x; if; R | st.na y; st.rel x",
    "ld.acq x; if; R | ld.na y; st.rel x",
    "st x; st.rel y; R | ld.acq y; ld x",
    "R | st x; st.rel y | ld.acq y; ld x",
    "ld.acq z; R | st x; st.rel z | ld.acq y; ld x",
    "R; st.rel z | st x; st.rel y | ld.acq z; ld x",
    "R; ld x | st x; st.rel z | ld.acq z; st.rel y",
    // A seq_cst atomic releases what precedes it, but its write need not release its own read.
    "ld.acq y; R | swap.sc y",
    "R | ld.acq y; st.un y",
];

/// The same for steps without accesses. The frame makes the accesses.
const FENCE: &[&str] = &[
    "st x; R; st y | ld.acq y; ld x",
    "ld y; R; ld x | st x; st.rel y",
    "ld x; R; st y | ld.acq y; st x",
    "ld y; R; st x | ld x; st.rel y",
    "st x; R; st y | ld.acq y; st x",
    "ld y; R; st x | st x; st.rel y",
    "st x; R; ld y | st y; f.sc; ld x",
    "st x; R; st y | st y; f.sc; ld x",
    "st x; R; ld y | st y; f.sc; st x",
    "st x; R; st y | st y; f.sc; st x",
    "ld x; R; st y | st y; f.sc; st x",
    "ld y; R; ld x | st x; f.sc; st y",
    "st.sc x; R; ld y | st.sc y; ld.sc x",
    "st x; R; swap y | ld.acq y; ld x",
    "swap y; R; ld x | st x; st.rel y",
    "ld z; R; st y | st x; st.rel z | ld.acq y; ld x",
    "ld z; R; ld y | st x; f.sc; st z | st y; f.sc; ld x",
];

/// For steps with accesses and fences: orders that the fences impose without the accesses.
const THROUGH: &[&str] = &[
    "R; st x | ld.acq x; st y",
    "R; st x | ld.acq x; ld y",
    "ld x; R | st y; st.rel x",
    "ld x; R | ld y; st.rel x",
    "R; st x | ld.acq x; if; ld.na y",
    "R; st x | ld.acq x; if; st.na y",
    "ld x; if; R | st.na y; st.rel x",
    "ld x; if; R | ld.na y; st.rel x",
    "st x; R; st z | ld.acq z; ld x",
    "ld x; R; st z | ld.acq z; st x",
    "ld z; R; ld x | st x; st.rel z",
    "ld z; R; st x | ld x; st.rel z",
    "st x; R; ld z | st z; f.sc; ld x",
    "st x; R; st z | st z; f.sc; ld x",
    "ld z; R; ld x | st x; f.sc; st z",
];

const BARRIER: &[&str] = &[
    "st.na x; R | B; ld.na x",
    "ld.na x; R | B; st.na x",
    "R; ld.na x | st.na x; B",
    "R; st.na x | ld.na x; B",
];

/// Threads that meet the judged code at barriers, and others that it synchronizes with at `y`: what one of them does is
/// ordered through both.
pub(super) const CHAINED: &[&str] = &[
    "R | st x; B | ld.acq y; if; ld x",
    "R | ld x; B | ld.acq y; if; st x",
    "R | B; ld x | st x; st.rel y",
    "R | B; st x | ld x; st.rel y",
];

/// An operation of a context. The placement determines its scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContextOp {
    /// The judged code: the steps of a row, or a function.
    Judged,
    /// The barriers of the row, which a partner executes too.
    RowBarriers,
    /// One barrier of a function.
    Barrier(Step),
    /// `at` is the index of a place. Each store has a distinct value. A compare-exchange expects `expects`.
    Access {
        act: AccessKind,
        at: usize,
        order: AccessOrder,
        value: u64,
        expects: u64,
    },
    Fence(FenceOrder),
    /// Half of an alias fence, `fence.proxy.alias.acquire.sys` or `.release.sys`, in a context of PTX.
    AliasFence(FenceOrder),
    /// Ends the thread unless its last read returned such a value.
    Guard(AwaitedValue),
    /// Repeats the last access, a read, until it returns such a value.
    Await(AwaitedValue),
}

/// What a thread of a context goes on with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AwaitedValue {
    /// A value that some thread wrote.
    Written,
    /// The value with which the location begins.
    Initial,
    /// This value.
    Exactly(u64),
}

/// A context without its placement.
#[derive(Clone, Debug)]
pub struct ContextShape {
    pub threads: Vec<Vec<ContextOp>>,
    /// Whether some access is `seq_cst`. PTX has no such access.
    pub seq_cst: bool,
    /// Whether some access is `unordered`. PTX has no such access either.
    pub unordered: bool,
}

/// The context of a row or a function. The first thread runs the row or function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Context {
    pub threads: Vec<Vec<ContextOp>>,
    pub placements: Vec<Placement>,
    /// The distance between the threads, for messages.
    pub distance: &'static str,
    /// The places that the judged code accesses.
    pub judged: Range<usize>,
    /// Whether a compare-exchange of the row expects the value that a partner writes to `y`, not 0.
    pub expects_partner: bool,
}

/// The kind of a question, which determines its contexts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ContextFamily {
    Access,
    Fence,
    /// Accesses and fences.
    Mixed,
    Barrier,
    /// Barriers with accesses or fences.
    MixedBarrier,
}

impl ContextFamily {
    /// The family of a question. Only fences of the source make it mixed, since the target may do more.
    pub fn of(source: &[Step], target: &[Step]) -> ContextFamily {
        let barrier = |step: &Step| {
            matches!(step, Step::Barrier { .. } | Step::ClusterArrive { .. } | Step::ClusterWait)
        };
        let access = |step: &Step| matches!(step, Step::Access { .. });
        let fence = |step: &Step| matches!(step, Step::Fence { .. });
        let all = || source.iter().chain(target);
        if all().any(barrier) {
            let others = all().any(|step| access(step) || fence(step));
            if others { ContextFamily::MixedBarrier } else { ContextFamily::Barrier }
        } else if !all().any(access) {
            ContextFamily::Fence
        } else if source.iter().any(fence) {
            ContextFamily::Mixed
        } else {
            ContextFamily::Access
        }
    }
}

/// An operation of a context, of which the locations are `x`, `y` and `z`; `None` for another one.
fn op(op: SkeletonOp<'_>, value: u64) -> Option<ContextOp> {
    Some(match op {
        SkeletonOp::Judged => ContextOp::Judged,
        SkeletonOp::Barriers => ContextOp::RowBarriers,
        SkeletonOp::Fence(order) => ContextOp::Fence(order),
        SkeletonOp::Guard { written: true } => ContextOp::Guard(AwaitedValue::Written),
        SkeletonOp::Guard { written: false } => ContextOp::Guard(AwaitedValue::Initial),
        SkeletonOp::Access { kind, order, location } => {
            let at = TestLocation::ALL.into_iter().position(|one| one.name() == location)?;
            let act = match kind {
                SkeletonAccess::Load => AccessKind::Load,
                SkeletonAccess::Store => AccessKind::Store,
                SkeletonAccess::Swap => AccessKind::Swap,
            };
            ContextOp::Access { act, at, order, value, expects: 0 }
        }
    })
}

impl ContextShape {
    /// Reads the skeleton of a context. Values are numbered from 1 across all threads.
    pub fn read(text: &str) -> Result<ContextShape, Vec<Diagnostic>> {
        const EXAMPLE: &str = "R; ld x | st x; st.rel y";
        let skeleton = skeleton::read(text)?;
        let mut wrong = Vec::new();
        let judged = |thread: &[(SkeletonOp<'_>, ByteSpan)]| {
            thread.iter().find(|(op, _)| *op == SkeletonOp::Judged).map(|(_, at)| *at)
        };
        let whole = ByteSpan::new(0, text.len());
        let (first, partners) =
            skeleton.threads.split_first().unwrap_or((const { &Vec::new() }, &[]));
        if judged(first).is_none() {
            wrong.push((whole, "the first thread of a context has the judged code, `R`", EXAMPLE));
        }
        let others = partners.iter().filter_map(|thread| judged(thread));
        wrong.extend(others.map(|at| (at, "only the first thread has the judged code", EXAMPLE)));
        if !(1..=2).contains(&partners.len()) {
            wrong.push((whole, "a context has two or three threads", EXAMPLE));
        }
        let mut numbers = 1..;
        let mut threads = Vec::new();
        for thread in &skeleton.threads {
            let mut ops = Vec::new();
            for (&(written, at), value) in thread.iter().zip(&mut numbers) {
                match op(written, value) {
                    Some(op) => ops.push(op),
                    None => wrong.push((at, "a context has the locations x, y and z", EXAMPLE)),
                }
            }
            threads.push(ops);
        }
        if !wrong.is_empty() {
            return Err(skeleton::refuse(text, &wrong));
        }
        let has =
            |wanted| threads.iter().flatten().any(|op: &ContextOp| op.order() == Some(wanted));
        let (seq_cst, unordered) = (has(AccessOrder::SeqCst), has(AccessOrder::Unordered));
        Ok(ContextShape { threads, seq_cst, unordered })
    }
}

/// A shape of the lists.
pub(super) fn shape(text: &'static str) -> ContextShape {
    ContextShape::read(text).expect("the lists have contexts")
}

/// The shapes of a family, in the order in which they are tried.
pub fn shapes(family: ContextFamily) -> &'static [ContextShape] {
    use std::sync::LazyLock;
    static ALL: LazyLock<[Vec<ContextShape>; 5]> = LazyLock::new(|| {
        let lists: [&[&[&str]]; 5] = [
            &[ACCESS],
            &[FENCE],
            &[ACCESS, THROUGH],
            &[BARRIER],
            &[BARRIER, CHAINED, ACCESS, FENCE, THROUGH],
        ];
        lists.map(|lists| lists.concat().into_iter().map(shape).collect())
    });
    &ALL[family as usize]
}

pub(super) const fn at(gpu: u32, cluster: u32, cta: u32) -> Placement {
    Placement { gpu, kernel: 0, cluster: Some(cluster), cta, warp: None, sm: None }
}

/// Placements of two threads, from far to near: the distance in words, the placements, and the narrowest
/// scope that includes both.
pub(super) fn pairs() -> [(&'static str, [Placement; 2], Scope); 4] {
    [
        ("on two GPUs", [at(0, 0, 0), at(1, 0, 0)], Scope::Sys),
        ("in two clusters of a GPU", [at(0, 0, 0), at(0, 1, 1)], Scope::Gpu),
        ("in two CTAs of a cluster", [at(0, 0, 0), at(0, 0, 1)], Scope::Cluster),
        ("in one CTA", [at(0, 0, 0), at(0, 0, 0)], Scope::Cta),
    ]
}

/// Placements of three threads: each by itself, or two of them in one CTA.
fn triples() -> Vec<(&'static str, [Placement; 3])> {
    let mut all = Vec::new();
    for (distance, [here, there], _) in pairs() {
        all.push((distance, [here, there, there]));
        if here != there {
            all.push((distance, [here, here, there]));
            all.push((distance, [here, there, here]));
        }
    }
    all.push(("on three GPUs", [at(0, 0, 0), at(1, 0, 0), at(2, 0, 0)]));
    all.push(("in three clusters of a GPU", [at(0, 0, 0), at(0, 1, 1), at(0, 2, 2)]));
    all
}

/// The placements of two or three threads, each with the distance in words.
pub(super) fn placements(threads: usize) -> Vec<(&'static str, Vec<Placement>)> {
    if threads == 2 {
        pairs().into_iter().map(|(distance, two, _)| (distance, two.to_vec())).collect()
    } else {
        triples().into_iter().map(|(distance, three)| (distance, three.to_vec())).collect()
    }
}

/// The limits on which partners may be near the judged thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PartnerScope {
    /// Partners that access `y` are within this scope; the system scope if the row has no scope.
    pub within: Scope,
    /// The row's scope is its own thread, so no partner is in its CTA.
    pub alone: bool,
}

/// Every context of a family, and those of more shapes, in the order in which they are tried. Without `cxx`, no
/// access has an order that only C++ and LLVM have.
pub fn contexts(
    family: ContextFamily,
    more: &[ContextShape],
    reach: PartnerScope,
    cas: bool,
    cxx: bool,
) -> Vec<Context> {
    let mut all = Vec::new();
    for shape in shapes(family).iter().chain(more).filter(|shape| cxx || shape.is_ptx()) {
        for (distance, placements) in placements(shape.threads.len()) {
            if !shape.stands(&placements, reach) {
                continue;
            }
            if shape.has_barriers() && !Scope::Cluster.includes(placements[0], placements[1]) {
                continue;
            }
            for expects_partner in [false, true] {
                if expects_partner && !(cas && shape.partner_writes_y()) {
                    continue;
                }
                let context = shape.at(placements.clone(), distance);
                all.push(Context { expects_partner, ..context });
            }
        }
    }
    all
}

impl ContextShape {
    /// Whether partners meet the barriers of the judged code.
    pub(super) fn has_barriers(&self) -> bool {
        self.threads.iter().flatten().any(|op| *op == ContextOp::RowBarriers)
    }

    /// Whether PTX has all of its accesses.
    pub(super) fn is_ptx(&self) -> bool {
        !self.seq_cst && !self.unordered
    }

    /// The context of a row.
    pub(super) fn at(&self, placements: Vec<Placement>, distance: &'static str) -> Context {
        let (threads, y) = (self.threads.clone(), TestLocation::Y as usize);
        Context { threads, placements, distance, judged: y..y + 1, expects_partner: false }
    }

    /// Whether threads may have these placements, given the reach of the row.
    pub(super) fn stands(&self, placements: &[Placement], reach: PartnerScope) -> bool {
        let mut others = placements[1..].iter();
        let alone = others.clone().all(|&other| !Scope::Cta.includes(placements[0], other));
        let near = others.all(|&other| reach.within.includes(placements[0], other));
        (near || !self.touches_row(placements, reach.within)) && (alone || !reach.alone)
    }

    /// Whether a partner outside the scope accesses a location, or meets a barrier, through which the judged
    /// thread synchronizes.
    fn touches_row(&self, placements: &[Placement], within: Scope) -> bool {
        self.threads.iter().zip(placements).skip(1).any(|(thread, &placement)| {
            let y = |op: &ContextOp| {
                *op == ContextOp::RowBarriers || op.accesses(TestLocation::Y as usize)
            };
            !within.includes(placements[0], placement) && thread.iter().any(y)
        })
    }

    fn partner_writes_y(&self) -> bool {
        self.threads.iter().skip(1).flatten().any(|op| op.writes(TestLocation::Y as usize))
    }
}

impl ContextOp {
    /// The place that the operation accesses, if any.
    pub fn place(self) -> Option<usize> {
        if let ContextOp::Access { at, .. } = self { Some(at) } else { None }
    }

    /// The order of the access, if it is one.
    pub fn order(self) -> Option<AccessOrder> {
        if let ContextOp::Access { order, .. } = self { Some(order) } else { None }
    }

    pub fn accesses(self, place: usize) -> bool {
        self.place() == Some(place)
    }

    pub fn writes(self, place: usize) -> bool {
        matches!(self, ContextOp::Access { act, at, .. } if at == place && act.writes())
    }
}

impl Context {
    /// Whether the context has no other thread.
    pub fn is_alone(&self) -> bool {
        self.threads.len() == 1
    }

    /// Whether a thread is in another CTA than the first.
    pub fn is_remote(&self, thread: usize) -> bool {
        !Scope::Cta.includes(self.placements[0], self.placements[thread])
    }

    /// The number of leading threads that run the judged code.
    pub fn judged_threads(&self) -> usize {
        self.threads.iter().filter(|thread| thread.contains(&ContextOp::Judged)).count()
    }

    /// The operations before and after a function in its thread; `None` for a partner.
    pub fn frame(&self, thread: usize) -> Option<[&[ContextOp]; 2]> {
        let ops = &self.threads[thread];
        let at = ops.iter().position(|op| *op == ContextOp::Judged)?;
        Some([&ops[..at], &ops[at + 1..]])
    }

    /// Whether some access of the context is `unordered`.
    pub fn has_unordered(&self) -> bool {
        let mut ops = self.threads.iter().flatten();
        ops.any(|op| op.order() == Some(AccessOrder::Unordered))
    }

    /// Whether the context itself accesses a place.
    pub fn accesses(&self, place: usize) -> bool {
        self.threads.iter().flatten().any(|op| op.accesses(place))
    }

    /// An operation of a thread as a step on `place`, with the smallest sufficient scope; `None` for the
    /// judged code, its barriers and fences of aliases.
    pub fn step(&self, thread: usize, op: ContextOp, place: TestLocation) -> Option<Step> {
        Some(match op {
            ContextOp::Judged | ContextOp::RowBarriers | ContextOp::AliasFence(_) => return None,
            ContextOp::Barrier(step) => step,
            ContextOp::Access { act, at, order, .. } => {
                Step::access(act, place, order, self.scope_of(at))
            }
            ContextOp::Fence(order) => Step::Fence { order, scope: self.scope_of_fence(thread) },
            ContextOp::Guard(_) | ContextOp::Await(_) => Step::Guard,
        })
    }

    /// The narrowest scope that includes all threads that access a place.
    fn scope_of(&self, place: usize) -> Scope {
        let judged = self.judged.contains(&place);
        let there: Vec<Placement> = self
            .threads
            .iter()
            .zip(&self.placements)
            .filter(|(thread, _)| {
                let own = thread.iter().any(|op| op.accesses(place));
                own || judged && thread.contains(&ContextOp::Judged)
            })
            .map(|(_, &placement)| placement)
            .collect();
        Scope::narrowest(&there)
    }

    /// The widest scope among the places of a thread.
    fn scope_of_fence(&self, thread: usize) -> Scope {
        let ops = &self.threads[thread];
        let judged = self.judged.clone().filter(|_| ops.contains(&ContextOp::Judged));
        let own = ops.iter().filter_map(|op| op.place());
        judged.chain(own).map(|place| self.scope_of(place)).max().unwrap_or(Scope::Cta)
    }

    /// The context in words. `of` gives the words of a thread.
    pub fn words(&self, of: impl Fn(usize, &[ContextOp]) -> Vec<String>) -> String {
        let threads = self.threads.iter().enumerate();
        let threads: Vec<String> =
            threads.map(|(thread, ops)| of(thread, ops).join("; ")).collect();
        let cas = if self.expects_partner {
            ", the compare-exchange expects the partner's value"
        } else {
            ""
        };
        format!("{}, {}{cas}", threads.join(" || "), self.distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_the_smallest_that_include_all_who_access() {
        let reach = PartnerScope { within: Scope::Sys, alone: false };
        let all = contexts(ContextFamily::Access, &[], reach, false, true);
        let near = all.iter().find(|context| context.distance == "in two CTAs of a cluster");
        let near = near.expect("there is such a context");
        let partner = near.step(1, near.threads[1][0], TestLocation::Y);
        let partner = partner.expect("the partner begins with a step");
        assert_eq!(partner.scope(), Some(Scope::Cluster));
    }

    #[test]
    fn a_narrow_row_has_no_partner_out_of_its_scope() {
        let reach = PartnerScope { within: Scope::Cta, alone: false };
        for context in contexts(ContextFamily::Access, &[], reach, true, true) {
            let shape = ContextShape { threads: context.threads, seq_cst: false, unordered: false };
            assert!(!shape.touches_row(&context.placements, Scope::Cta), "{shape:?}");
        }
    }
}
