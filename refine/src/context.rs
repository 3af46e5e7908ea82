//! Contexts: what stands around the judged steps, in their thread and in others, and where the
//! threads run.
//!
//! Each is written in the language of the source; [`super::mapping`] lowers it for the target's side.
//! Its operations have the smallest scope that includes all threads which access the location, since
//! a stronger context hides what it is there to show. Its own accesses are relaxed, or plain behind a
//! guard: a context that races says nothing about a source of C++. The lists are the bound: reading R84.

use model::isa::fence::FenceOrder;
use model::scope::{Placement, Scope};

use super::step::{AccessKind, AccessOrder, Step, TestLocation};

/// `R` stands for the judged steps; threads are separated by `|`. `st` and `ld` are relaxed, `.na`
/// is plain; `if` ends the thread unless its last read saw a store; `f` is a fence.
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
];

/// The same for steps that access nothing: the frame has the accesses.
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

/// For steps with accesses and fences: what the fences order that the accesses do not take part in.
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

/// One step of a shape; scopes come with a placement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ContextStep {
    Row,
    /// The row's barriers, done by a partner too.
    RowBarrier,
    Step(Step),
}

/// A context without its placement.
#[derive(Clone, Debug)]
pub struct ContextShape {
    threads: Vec<Vec<ContextStep>>,
    /// Whether some access is `seq_cst`, which no access of PTX is.
    pub seq_cst: bool,
}

/// A context: a shape, where its threads are, and what a compare-exchange of the row expects.
#[derive(Clone, Debug)]
pub struct Context {
    pub shape: &'static ContextShape,
    pub placements: Vec<Placement>,
    /// How far apart the threads are, for messages.
    pub distance: &'static str,
    /// Whether a compare-exchange of the row expects what a partner writes to `y`, not 0.
    pub expects_partner: bool,
}

/// What contexts are chosen by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ContextFamily {
    Access,
    Fence,
    /// Accesses and fences.
    Mixed,
    Barrier,
}

impl ContextFamily {
    /// The family of a question. What the source orders counts, since the target may do more.
    pub fn of(source: &[Step], target: &[Step]) -> ContextFamily {
        let barrier = |step: &Step| {
            matches!(step, Step::Barrier | Step::ClusterArrive { .. } | Step::ClusterWait)
        };
        let access = |step: &Step| matches!(step, Step::Access { .. });
        let fence = |step: &Step| matches!(step, Step::Fence { .. });
        if source.iter().chain(target).any(barrier) {
            ContextFamily::Barrier
        } else if !source.iter().chain(target).any(access) {
            ContextFamily::Fence
        } else if source.iter().any(fence) {
            ContextFamily::Mixed
        } else {
            ContextFamily::Access
        }
    }
}

fn piece(text: &str) -> ContextStep {
    let (name, at) = text.split_once(' ').unwrap_or((text, ""));
    let at = match at {
        "x" => TestLocation::X,
        "z" => TestLocation::Z,
        _ => TestLocation::Y,
    };
    let (name, order) = name.split_once('.').unwrap_or((name, ""));
    let order_of = match order {
        "na" => AccessOrder::Weak,
        "acq" => AccessOrder::Acquire,
        "ar" => AccessOrder::AcqRel,
        "rel" => AccessOrder::Release,
        "sc" => AccessOrder::SeqCst,
        _ => AccessOrder::Relaxed,
    };
    let access = |act| ContextStep::Step(Step::access(act, at, order_of, Scope::Sys));
    match name {
        "R" => ContextStep::Row,
        "B" => ContextStep::RowBarrier,
        "ld" => access(AccessKind::Load),
        "st" => access(AccessKind::Store),
        "swap" => access(AccessKind::Swap),
        "if" => ContextStep::Step(Step::Guard),
        "f" => {
            let order = match order {
                "acq" => FenceOrder::Acquire,
                "rel" => FenceOrder::Release,
                _ => FenceOrder::Sc,
            };
            ContextStep::Step(Step::Fence { order, scope: Scope::Sys })
        }
        _ => unreachable!("`{text}` is no step of a shape"),
    }
}

pub(super) fn shape(text: &'static str) -> ContextShape {
    let threads: Vec<Vec<ContextStep>> =
        text.split(" | ").map(|thread| thread.split("; ").map(piece).collect()).collect();
    let total = |piece: &ContextStep| {
        matches!(piece, ContextStep::Step(Step::Access { order: AccessOrder::SeqCst, .. }))
    };
    let seq_cst = threads.iter().flatten().any(total);
    ContextShape { threads, seq_cst }
}

/// The shapes of a family, in the order in which they are tried.
pub fn shapes(family: ContextFamily) -> &'static [ContextShape] {
    use std::sync::LazyLock;
    static ALL: LazyLock<[Vec<ContextShape>; 4]> = LazyLock::new(|| {
        [&[ACCESS][..], &[FENCE], &[ACCESS, THROUGH], &[BARRIER]]
            .map(|lists| lists.concat().into_iter().map(shape).collect())
    });
    &ALL[family as usize]
}

pub(super) fn at(gpu: u32, cluster: u32, cta: u32) -> Placement {
    Placement { gpu, cluster: Some(cluster), cta, warp: None, sm: None }
}

/// Two threads, from far to near: how far, where, and the narrowest scope that includes both.
pub(super) fn pairs() -> [(&'static str, [Placement; 2], Scope); 4] {
    [
        ("on two GPUs", [at(0, 0, 0), at(1, 0, 0)], Scope::Sys),
        ("in two clusters of a GPU", [at(0, 0, 0), at(0, 1, 1)], Scope::Gpu),
        ("in two CTAs of a cluster", [at(0, 0, 0), at(0, 0, 1)], Scope::Cluster),
        ("in one CTA", [at(0, 0, 0), at(0, 0, 0)], Scope::Cta),
    ]
}

/// Three threads: each by itself, or two of them in one CTA.
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

/// Where two or three threads may be, and how far apart they are then.
pub(super) fn placements(threads: usize) -> Vec<(&'static str, Vec<Placement>)> {
    if threads == 2 {
        pairs().into_iter().map(|(distance, two, _)| (distance, two.to_vec())).collect()
    } else {
        triples().into_iter().map(|(distance, three)| (distance, three.to_vec())).collect()
    }
}

/// Who may be near the judged thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PartnerScope {
    /// Partners of `y` are within this scope; where the row has none, it is the system.
    pub within: Scope,
    /// The row's scope is its own thread: no partner is in its CTA.
    pub alone: bool,
}

/// Every context of a family, in the order in which they are tried.
pub fn contexts(
    family: ContextFamily,
    reach: PartnerScope,
    cas: bool,
    seq_cst: bool,
) -> Vec<Context> {
    let mut all = Vec::new();
    for shape in shapes(family).iter().filter(|shape| seq_cst || !shape.seq_cst) {
        for (distance, placements) in placements(shape.threads.len()) {
            if !shape.stands(&placements, reach) {
                continue;
            }
            if family == ContextFamily::Barrier
                && !Scope::Cluster.includes(placements[0], placements[1])
            {
                continue;
            }
            for expects_partner in [false, true] {
                if expects_partner && !(cas && shape.partner_writes_y()) {
                    continue;
                }
                all.push(Context {
                    shape,
                    placements: placements.clone(),
                    distance,
                    expects_partner,
                });
            }
        }
    }
    all
}

impl ContextShape {
    pub(super) fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Whether threads may be there, as near to the judged one as the row reaches.
    pub(super) fn stands(&self, placements: &[Placement], reach: PartnerScope) -> bool {
        let mut others = placements[1..].iter();
        let alone = others.clone().all(|&other| !Scope::Cta.includes(placements[0], other));
        let near = others.all(|&other| reach.within.includes(placements[0], other));
        (near || !self.touches_row(placements, reach.within)) && (alone || !reach.alone)
    }

    /// Whether a partner outside the scope accesses what the judged thread synchronizes through.
    fn touches_row(&self, placements: &[Placement], within: Scope) -> bool {
        self.threads.iter().zip(placements).skip(1).any(|(thread, &placement)| {
            let y = |piece: &ContextStep| {
                matches!(
                    piece,
                    ContextStep::RowBarrier
                        | ContextStep::Step(Step::Access { at: TestLocation::Y, .. })
                )
            };
            !within.includes(placements[0], placement) && thread.iter().any(y)
        })
    }

    fn partner_writes_y(&self) -> bool {
        self.threads.iter().skip(1).flatten().any(|piece| {
            matches!(piece, ContextStep::Step(Step::Access { at: TestLocation::Y, act, .. }) if act.writes())
        })
    }
}

/// A step of a thread: of the context, or a mark where the judged steps go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreadSlot {
    Row,
    RowBarrier,
    Step(Step),
}

impl Context {
    /// The threads, each step at the smallest scope that will do.
    pub fn threads(&self) -> Vec<Vec<ThreadSlot>> {
        let scopes = TestLocation::ALL.map(|place| self.scope_of(place));
        let widest = |thread: &[ContextStep]| {
            let places = thread.iter().filter_map(|piece| match piece {
                ContextStep::Row => Some(TestLocation::Y),
                ContextStep::Step(Step::Access { at, .. }) => Some(*at),
                ContextStep::Step(_) | ContextStep::RowBarrier => None,
            });
            places.map(|place| scopes[place as usize]).max().unwrap_or(Scope::Cta)
        };
        self.shape
            .threads
            .iter()
            .map(|thread| {
                let fences = widest(thread);
                thread
                    .iter()
                    .map(|&piece| match piece {
                        ContextStep::Row => ThreadSlot::Row,
                        ContextStep::RowBarrier => ThreadSlot::RowBarrier,
                        ContextStep::Step(Step::Access { act, at, order, .. }) => {
                            ThreadSlot::Step(Step::access(act, at, order, scopes[at as usize]))
                        }
                        ContextStep::Step(Step::Fence { order, .. }) => {
                            ThreadSlot::Step(Step::Fence { order, scope: fences })
                        }
                        ContextStep::Step(step) => ThreadSlot::Step(step),
                    })
                    .collect()
            })
            .collect()
    }

    /// The narrowest scope that includes all threads which access a location.
    fn scope_of(&self, place: TestLocation) -> Scope {
        let accesses = |thread: &Vec<ContextStep>| {
            thread.iter().any(|piece| match piece {
                ContextStep::Row => place == TestLocation::Y,
                ContextStep::Step(Step::Access { at, .. }) => *at == place,
                ContextStep::RowBarrier | ContextStep::Step(_) => false,
            })
        };
        let there: Vec<Placement> = self
            .shape
            .threads
            .iter()
            .zip(&self.placements)
            .filter(|(thread, _)| accesses(thread))
            .map(|(_, &placement)| placement)
            .collect();
        Scope::narrowest(&there)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_the_smallest_that_include_all_who_access() {
        let reach = PartnerScope { within: Scope::Sys, alone: false };
        let all = contexts(ContextFamily::Access, reach, false, true);
        let near = all.iter().find(|context| context.distance == "in two CTAs of a cluster");
        let threads = near.expect("there is such a context").threads();
        let ThreadSlot::Step(partner) = threads[1][0] else {
            panic!("the partner begins with a step")
        };
        assert_eq!(partner.scope(), Some(Scope::Cluster));
    }

    #[test]
    fn a_narrow_row_has_no_partner_out_of_its_scope() {
        let reach = PartnerScope { within: Scope::Cta, alone: false };
        for context in contexts(ContextFamily::Access, reach, true, true) {
            let partner = context.shape.touches_row(&context.placements, Scope::Cta);
            assert!(!partner, "{:?}", context.shape);
        }
    }
}
