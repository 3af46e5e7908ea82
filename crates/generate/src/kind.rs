//! The kinds of cycles, and every shape of a kind.

use std::ops::RangeInclusive;

use crate::cycle::{CycleShape, MOST_THREADS};
use crate::word::{Communication, Direction, Link, Via};

/// A thread of a listed cycle: what its accesses do, and what leads from each to the next one.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ThreadKind {
    directions: &'static [Direction],
    /// One less than accesses; the rest is not used.
    links: [Link; 2],
}

/// A plain edge of program order to another location, to the same one, and from the read to the write of an atomic.
const TO_ANOTHER: Link = Link::Order { same: false, via: Via::Plain };
const TO_THE_SAME: Link = Link::Order { same: true, via: Via::Plain };

/// Which cycles of a size are listed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CycleKind {
    /// Of one location: each thread has two accesses, or one write between two threads with two.
    Coherence,
    /// Each thread has one access, or two to different locations; one access only where it is the write between a
    /// read or write before it and a read of it.
    Critical,
    /// Critical but for one thread or more that only does an atomic, whose write goes on where its read has led.
    Atomic,
    /// Critical but for one thread or more that begins with two reads of one location, or ends with two writes of one:
    /// where release and acquire patterns have two operations.
    Pattern,
    /// Those of one location in which one read, after an access of its thread, returns a write that the cycle overwrites:
    /// what the coherence order of racing writes decides.
    Overwritten,
    /// Those of one location in which other accesses are between the read and the write of an atomic.
    Divided,
    /// Those of one location in which each read that ends a thread, of which there are several, returns the first of two
    /// writes of the next thread: nothing orders the writes of different threads.
    Unordered,
}

impl CycleKind {
    pub const ALL: [CycleKind; 7] = [
        CycleKind::Coherence,
        CycleKind::Critical,
        CycleKind::Atomic,
        CycleKind::Pattern,
        CycleKind::Overwritten,
        CycleKind::Divided,
        CycleKind::Unordered,
    ];

    /// Whether its cycles are of one location.
    fn is_of_one_location(self) -> bool {
        match self {
            CycleKind::Coherence
            | CycleKind::Overwritten
            | CycleKind::Divided
            | CycleKind::Unordered => true,
            CycleKind::Critical | CycleKind::Atomic | CycleKind::Pattern => false,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            CycleKind::Coherence => "coherence",
            CycleKind::Critical => "critical",
            CycleKind::Atomic => "atomic",
            CycleKind::Pattern => "pattern",
            CycleKind::Overwritten => "overwritten",
            CycleKind::Divided => "divided",
            CycleKind::Unordered => "unordered",
        }
    }

    /// The threads that its cycles consist of.
    fn threads(self) -> Vec<ThreadKind> {
        use Direction::{Read, Write};
        const PAIRS: [&[Direction]; 4] =
            [&[Write, Write], &[Write, Read], &[Read, Write], &[Read, Read]];
        const ENDS: [&[Direction]; 2] = [&[Write, Write, Write], &[Read, Write, Write]];
        const BEGINS: [&[Direction]; 2] = [&[Read, Read, Write], &[Read, Read, Read]];
        // After an inverse edge, the write that is read and one that overwrites it.
        const UNORDERED: [&[Direction]; 4] =
            [&[Write, Write], &[Write, Write, Read], &[Read, Write], &[Read, Read]];
        let step = if self.is_of_one_location() { TO_THE_SAME } else { TO_ANOTHER };
        let of = |links: [Link; 2]| move |directions| ThreadKind { directions, links };
        if self == CycleKind::Unordered {
            return UNORDERED.map(of([step; 2])).to_vec();
        }
        let mut all: Vec<ThreadKind> = PAIRS.map(of([step; 2])).to_vec();
        all.push(of([step; 2])(&[Write]));
        match self {
            CycleKind::Divided => all.push(of([Link::InvRmw; 2])(&[Write, Read])),
            CycleKind::Coherence
            | CycleKind::Critical
            | CycleKind::Overwritten
            | CycleKind::Unordered => {}
            CycleKind::Atomic => all.push(of([Link::Rmw; 2])(&[Read, Write])),
            CycleKind::Pattern => {
                all.extend(ENDS.map(of([TO_ANOTHER, TO_THE_SAME])));
                all.extend(BEGINS.map(of([TO_THE_SAME, TO_ANOTHER])));
            }
        }
        all
    }

    /// Whether a thread makes a cycle one of this kind.
    fn is_shown_by(self, thread: &ThreadKind) -> bool {
        match self {
            CycleKind::Coherence
            | CycleKind::Critical
            | CycleKind::Overwritten
            | CycleKind::Unordered => true,
            CycleKind::Atomic => thread.links[0] == Link::Rmw,
            CycleKind::Divided => thread.links[0] == Link::InvRmw,
            CycleKind::Pattern => thread.directions.len() == 3,
        }
    }
}

/// Every cycle of a kind with this many threads and edges. Each shape is the canonical one of its rotations.
pub fn shapes(
    kind: CycleKind,
    threads: RangeInclusive<usize>,
    edges: RangeInclusive<usize>,
) -> Vec<CycleShape> {
    let kinds = kind.threads();
    let mut all = Vec::new();
    for count in threads.filter(|&count| (2..=MOST_THREADS).contains(&count)) {
        let mut chosen: Vec<ThreadKind> = Vec::new();
        list(&kinds, count, &mut chosen, &mut |chosen| {
            let each: Vec<Vec<usize>> = match kind {
                CycleKind::Overwritten => (0..chosen.len()).map(|at| vec![at]).collect(),
                CycleKind::Unordered => {
                    let reads =
                        |at: &usize| chosen[*at].directions.last() == Some(&Direction::Read);
                    let all: Vec<usize> = (0..chosen.len()).filter(reads).collect();
                    if all.len() > 1 { vec![all] } else { Vec::new() }
                }
                CycleKind::Coherence
                | CycleKind::Critical
                | CycleKind::Atomic
                | CycleKind::Pattern
                | CycleKind::Divided => vec![Vec::new()],
            };
            let shapes = each.iter().filter_map(|inverse| shape_of(kind, chosen, inverse));
            all.extend(shapes.filter(|shape| edges.contains(&shape.len())));
        });
    }
    all.retain(|shape| {
        shape.starts().iter().map(|&at| shape.rotated(at)).min().as_ref() == Some(shape)
    });
    all.sort_by(|a, b| (a.threads().len(), a.len(), a).cmp(&(b.threads().len(), b.len(), b)));
    all.dedup();
    all
}

fn list(
    kinds: &[ThreadKind],
    count: usize,
    chosen: &mut Vec<ThreadKind>,
    visit: &mut dyn FnMut(&[ThreadKind]),
) {
    if chosen.len() == count {
        return visit(chosen);
    }
    for &kind in kinds {
        // What communicates with a read is a write.
        let before = chosen.last().and_then(|thread| thread.directions.last());
        let first = kind.directions[0];
        if before.is_none_or(|&before| Communication::between(before, first).is_some()) {
            chosen.push(kind);
            list(kinds, count, chosen, visit);
            chosen.pop();
        }
    }
}

/// The cycle through these threads, if it is one of the kind. The read at the end of each thread of `inverse` reads what the
/// next thread writes.
fn shape_of(kind: CycleKind, threads: &[ThreadKind], inverse: &[usize]) -> Option<CycleShape> {
    let mut directions = Vec::new();
    let mut links = Vec::new();
    if !threads.iter().any(|thread| kind.is_shown_by(thread)) {
        return None;
    }
    for (index, thread) in threads.iter().enumerate() {
        let next = threads[(index + 1) % threads.len()].directions[0];
        let before = threads[(index + threads.len() - 1) % threads.len()].directions;
        let mut how = Communication::between(*thread.directions.last()?, next)?;
        if inverse.contains(&index) {
            if how != Communication::Fr {
                return None;
            }
            how = Communication::InvRf;
        }
        if thread.directions.len() == 1 {
            // Any other pair of communications is one communication, which leads to another thread except in a
            // cycle of one location.
            let lone = before.len() == 1;
            if !kind.is_of_one_location() && how != Communication::Rf || lone {
                return None;
            }
        }
        directions.extend(thread.directions);
        links.extend(&thread.links[..thread.directions.len() - 1]);
        links.push(Link::Communicates { how, external: true });
    }
    let shape = CycleShape { directions, links };
    shape.check().is_ok().then_some(shape)
}
