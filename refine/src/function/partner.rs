//! Contexts of a function: what stands before and behind it in its thread, which threads run beside
//! it, and where.
//!
//! A partner goes through two places of the function in the opposite order, since that closes a
//! cycle; it has one device that orders its own accesses. Its scopes are the smallest that include
//! all who access a place.

use model::isa::fence::FenceOrder;
use model::scope::{Placement, Scope};

use super::bind::HERE;
use super::scan::{ByteRange, ThreadScan};
use crate::context::{pairs, placements};
use crate::step::{AccessKind, AccessOrder, Step};

/// A place that threads meet at.
#[expect(clippy::struct_excessive_bools, reason = "what is known of a place is yes or no")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeetingLocation {
    pub place: ByteRange,
    pub reads: bool,
    pub writes: bool,
    /// Whether the function accesses it by weak accesses only.
    pub plain: bool,
    /// Whether it is in shared memory, which one CTA has.
    pub shared: bool,
    /// Whether it is a context's own: in the frame, or between partners.
    pub own: bool,
    /// Whether nobody writes there, as the program promises.
    pub promised: bool,
}

/// An operation of a context.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartnerOp {
    Access {
        act: AccessKind,
        at: usize,
        order: AccessOrder,
        value: u64,
    },
    Fence(FenceOrder),
    /// The thread ends here if what it read last was not written by anyone.
    Guard,
    Barrier(Step),
}

/// What surrounds a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionContext {
    /// In the thread of the function.
    pub before: Vec<PartnerOp>,
    pub behind: Vec<PartnerOp>,
    pub partners: Vec<Vec<PartnerOp>>,
    /// Whether the function runs in one more thread, the second.
    pub twin: bool,
    pub placements: Vec<Placement>,
    pub distance: &'static str,
}

/// Partners of a function that accesses `p` and later `q`; threads are separated by `|`. `z` is
/// between partners. Only C++ has `sc` accesses.
const PAIRS: &[&str] = &[
    "ld.acq q; if; ld p",
    "st q; st.rel p",
    "ld.acq q; if; st p",
    "ld q; st.rel p",
    "ld.acq q; ld p",
    "ld.acq q; st p",
    "swap.acq q; if; ld p",
    "st q; swap.rel p",
    "st q; f.sc; ld p",
    "st q; f.sc; st p",
    "ld q; f.sc; st p",
    "st.sc q; ld.sc p",
    "st.sc q; st.sc p",
    "ld.sc q; st.sc p",
    "swap q | ld.acq q; if; ld p",
    "st q; st.rel p | swap p",
    "ld.acq q; if; st.rel z | ld.acq z; if; ld p",
    "st q; st.rel z | ld.acq z; if; st.rel p",
];

/// Partners at one place.
const SINGLES: &[&str] = &["st q", "swap q", "ld q; ld q", "st q; ld q", "st q; st q"];

/// Barriers of a function at most, that partners meet it at.
const MEETINGS: usize = 8;

/// Stores of a context have numbers from here, which no function is likely to store.
pub const FRESH: u64 = 101;

struct ContextBuilder<'a> {
    locations: &'a [MeetingLocation],
    /// The context's own place between partners.
    link: usize,
    /// Values that the function may wait for.
    wanted: &'a [u64],
    all: Vec<FunctionContext>,
}

/// How many places a context has of its own: two for the frame, and one between partners.
pub const OWN: usize = 3;

/// Every context of a function, in the order in which they are tried.
///
/// `locations` are those of the scan, then a context's own. `framed` says whether
/// other code may stand around the function.
pub fn contexts(
    scan: &ThreadScan,
    locations: &[MeetingLocation],
    wanted: &[u64],
    framed: bool,
    cxx: bool,
) -> Vec<FunctionContext> {
    let [frame, other, link] = [3, 2, 1].map(|behind| locations.len() - behind);
    let mut maker = ContextBuilder { locations, link, wanted, all: Vec::new() };
    let places = 0..scan.uses.len();
    let shapes: Vec<Vec<Vec<&str>>> = PAIRS
        .iter()
        .map(|text| text.split(" | ").map(|t| t.split("; ").collect()).collect())
        .collect();
    maker.alone();
    maker.barriers(scan);
    for shape in &shapes {
        let total = shape.iter().flatten().any(|word| word.contains(".sc "));
        if total && !cxx {
            continue;
        }
        for &(p, q) in scan.ordered.iter().filter(|(p, q)| p != q) {
            maker.pair(shape, [p, q], [&[], &[]]);
            // What was read there before is what a read of the function may not go back behind.
            for at in [p, q].into_iter().filter(|&at| framed && !locations[at].plain) {
                let op = PartnerOp::Access {
                    act: AccessKind::Load,
                    at,
                    order: AccessOrder::Relaxed,
                    value: FRESH,
                };
                maker.pair(shape, [p, q], [&[op], &[]]);
            }
        }
        if !framed {
            continue;
        }
        let order = if total { AccessOrder::SeqCst } else { AccessOrder::Relaxed };
        let ops = |at: usize| {
            [AccessKind::Store, AccessKind::Load].map(|act| PartnerOp::Access {
                act,
                at,
                order,
                value: FRESH,
            })
        };
        for op in ops(frame) {
            for place in places.clone() {
                maker.pair(shape, [frame, place], [&[op], &[]]);
                maker.pair(shape, [place, frame], [&[], &[op]]);
            }
            // What goes through the function, and is ordered by its fences alone.
            for behind in ops(other).into_iter().filter(|_| scan.fences) {
                maker.pair(shape, [frame, other], [&[op], &[behind]]);
            }
        }
    }
    for shape in SINGLES {
        let shape: Vec<Vec<&str>> = vec![shape.split("; ").collect()];
        for place in places.clone() {
            maker.pair(&shape, [place, place], [&[], &[]]);
        }
    }
    // Two reads of a place do not go back, which the function's is one of.
    let read = |&at: &usize| framed && locations[at].reads && !locations[at].plain;
    for at in places.filter(read) {
        let (act, order) = (AccessKind::Load, AccessOrder::Relaxed);
        let op = PartnerOp::Access { act, at, order, value: FRESH };
        let shape = [vec!["st q"]];
        maker.pair(&shape, [at, at], [&[op], &[]]);
        maker.pair(&shape, [at, at], [&[], &[op]]);
    }
    if framed {
        maker.fences(frame, scan.uses.len());
    }
    maker.twins();
    maker.all
}

impl ContextBuilder<'_> {
    /// What a word of a shape does; none where the place cannot be accessed so.
    fn op(&self, word: &str, [p, q]: [usize; 2], value: u64) -> Option<PartnerOp> {
        let (name, at) = word.split_once(' ').unwrap_or((word, ""));
        let at = match at {
            "p" => p,
            "z" => self.link,
            _ => q,
        };
        let (name, order) = name.split_once('.').unwrap_or((name, ""));
        let act = match name {
            "if" => return Some(PartnerOp::Guard),
            "f" => return Some(PartnerOp::Fence(FenceOrder::Sc)),
            "ld" => AccessKind::Load,
            "st" => AccessKind::Store,
            _ => AccessKind::Swap,
        };
        let location = self.locations[at];
        // What nobody else writes is not worth reading.
        if act == AccessKind::Load && !location.writes && !location.own {
            return None;
        }
        if act.writes() && location.promised {
            return None;
        }
        let order = match order {
            "acq" => AccessOrder::Acquire,
            "rel" => AccessOrder::Release,
            "sc" => AccessOrder::SeqCst,
            _ if location.plain && act != AccessKind::Swap => AccessOrder::Weak,
            _ => AccessOrder::Relaxed,
        };
        let fits = match location.place.bytes {
            1 | 2 => act != AccessKind::Swap,
            bytes => bytes <= 8,
        };
        (fits && !(location.plain && order != AccessOrder::Weak)).then_some(PartnerOp::Access {
            act,
            at,
            order,
            value,
        })
    }

    fn pair(&mut self, shape: &[Vec<&str>], [p, q]: [usize; 2], frame: [&[PartnerOp]; 2]) {
        let mut value = FRESH;
        let mut partners = Vec::new();
        for thread in shape {
            let mut ops = Vec::new();
            for word in thread {
                value += 1;
                let Some(op) = self.op(word, [p, q], value) else { return };
                ops.push(op);
            }
            partners.push(ops);
        }
        // A weak access without a guard or a release beside it races, and says nothing.
        let weak =
            |op: &PartnerOp| matches!(op, PartnerOp::Access { order: AccessOrder::Weak, .. });
        let ordered = |ops: &Vec<PartnerOp>| {
            let device = |op: &PartnerOp| {
                matches!(
                    op,
                    PartnerOp::Guard | PartnerOp::Access { order: AccessOrder::Release, .. }
                )
            };
            !ops.iter().any(weak) || ops.iter().any(device)
        };
        if !partners.iter().all(ordered) {
            return;
        }
        let link = partners
            .iter()
            .flatten()
            .any(|op| matches!(op, PartnerOp::Access { at, .. } if *at == self.link));
        self.place(&partners, frame);
        // What the function waits for is stored by the operation that stands for "done".
        let last = |op: &PartnerOp| {
            matches!(op, PartnerOp::Access { act: AccessKind::Store | AccessKind::Swap, at, .. }
            if !self.locations[*at].own)
        };
        if link && partners.len() > 1 && !partners[1].iter().any(last) {
            return;
        }
        for &wanted in self.wanted {
            let mut varied = partners.clone();
            let found = varied.iter_mut().flatten().rev().find(|op| last(op));
            let Some(PartnerOp::Access { value, at, .. }) = found else { return };
            if wanted >> (8 * u64::from(self.locations[*at].place.bytes).min(7)) != 0 {
                continue;
            }
            *value = wanted;
            self.place(&varied, frame);
        }
    }

    /// A fence of the frame makes a release or an acquire pattern of a relaxed access of the function.
    fn fences(&mut self, frame: usize, places: usize) {
        let access =
            |act| PartnerOp::Access { act, at: frame, order: AccessOrder::Relaxed, value: FRESH };
        let fence = PartnerOp::Fence(FenceOrder::AcqRel);
        for place in (0..places).filter(|&place| !self.locations[place].plain) {
            let read = vec![vec!["ld.acq q", "if", "ld p"]];
            let before = [access(AccessKind::Store), fence];
            self.pair(&read, [frame, place], [&before, &[]]);
            let written = vec![vec!["st q", "st.rel p"]];
            let behind = [fence, access(AccessKind::Load)];
            self.pair(&written, [place, frame], [&[], &behind]);
        }
    }

    /// At every distance that a shared place allows.
    fn place(&mut self, partners: &[Vec<PartnerOp>], [before, behind]: [&[PartnerOp]; 2]) {
        let shared = partners
            .iter()
            .flatten()
            .any(|op| matches!(op, PartnerOp::Access { at, .. } if self.locations[*at].shared));
        for (distance, placements) in placements(1 + partners.len()) {
            let same = placements.iter().all(|&other| Scope::Cta.includes(HERE, other));
            if shared && !same {
                continue;
            }
            self.all.push(FunctionContext {
                before: before.to_vec(),
                behind: behind.to_vec(),
                partners: partners.to_vec(),
                twin: false,
                placements,
                distance,
            });
        }
    }

    /// Nobody else: what the function computes.
    fn alone(&mut self) {
        self.all.push(FunctionContext {
            before: Vec::new(),
            behind: Vec::new(),
            partners: Vec::new(),
            twin: false,
            placements: vec![HERE],
            distance: "alone",
        });
    }

    /// The function beside itself.
    fn twins(&mut self) {
        for (distance, placements, _) in pairs() {
            self.all.push(FunctionContext {
                before: Vec::new(),
                behind: Vec::new(),
                partners: Vec::new(),
                twin: true,
                placements: placements.to_vec(),
                distance,
            });
        }
    }

    /// Partners that meet the function at its barriers, and access a place between two of them.
    fn barriers(&mut self, scan: &ThreadScan) {
        let met = scan.barriers.iter().flatten();
        let barriers: Vec<PartnerOp> = met.map(|&meeting| PartnerOp::Barrier(meeting)).collect();
        if barriers.is_empty() || barriers.len() > MEETINGS {
            return;
        }
        let cluster = barriers.iter().any(|op| *op != PartnerOp::Barrier(Step::Barrier));
        let within = if cluster { Scope::Cluster } else { Scope::Cta };
        let near: Vec<_> =
            pairs().into_iter().filter(|(_, two, _)| within.includes(two[0], two[1])).collect();
        for at in 0..scan.uses.len() {
            for behind in 0..=barriers.len() {
                for act in [AccessKind::Load, AccessKind::Store] {
                    let location = self.locations[at];
                    let idle = act == AccessKind::Load && !location.writes;
                    if idle || act.writes() && location.promised || location.place.bytes > 8 {
                        continue;
                    }
                    let order =
                        if location.plain { AccessOrder::Weak } else { AccessOrder::Relaxed };
                    let mut ops = barriers.clone();
                    ops.insert(behind, PartnerOp::Access { act, at, order, value: FRESH });
                    for (distance, placements, _) in &near {
                        if location.shared && placements[0] != placements[1] {
                            continue;
                        }
                        self.all.push(FunctionContext {
                            before: Vec::new(),
                            behind: Vec::new(),
                            partners: vec![ops.clone()],
                            twin: false,
                            placements: placements.to_vec(),
                            distance,
                        });
                    }
                }
            }
        }
    }
}

impl FunctionContext {
    /// Whether the function runs by itself.
    pub fn is_alone(&self) -> bool {
        self.placements.len() == 1
    }

    /// Whether the context itself accesses a place.
    pub fn accesses(&self, at: usize) -> bool {
        let ops = self.before.iter().chain(&self.behind).chain(self.partners.iter().flatten());
        ops.into_iter().any(|op| matches!(op, PartnerOp::Access { at: there, .. } if *there == at))
    }

    /// The narrowest scope that includes all threads which access a place.
    pub fn scope_of(&self, at: usize, location: &MeetingLocation) -> Scope {
        let accesses = |ops: &[PartnerOp]| {
            ops.iter().any(|op| matches!(op, PartnerOp::Access { at: there, .. } if *there == at))
        };
        let mut there = Vec::new();
        if !location.own || accesses(&self.before) || accesses(&self.behind) {
            there.push(self.placements[0]);
        }
        let partners = self.partners.iter().zip(&self.placements[1..]);
        there.extend(partners.filter(|(ops, _)| accesses(ops)).map(|(_, &placement)| placement));
        Scope::narrowest(&there)
    }

    /// The scope of a fence: the widest of the places of its thread.
    pub fn scope_of_fence(&self, ops: &[PartnerOp], locations: &[MeetingLocation]) -> Scope {
        let places = ops.iter().filter_map(|op| match op {
            PartnerOp::Access { at, .. } => Some(self.scope_of(*at, &locations[*at])),
            PartnerOp::Fence(_) | PartnerOp::Guard | PartnerOp::Barrier(_) => None,
        });
        places.max().unwrap_or(Scope::Cta)
    }
}
