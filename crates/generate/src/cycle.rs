//! Cycles: accesses, what leads from each to the next one, and where the threads run.
//!
//! A cycle is a litmus test in its normal form. Its first access is the first one of a thread, so its last link leads
//! to another thread.

use std::fmt;
use std::ops::Range;

use crate::access::{AccessForm, CycleAccess};
use crate::family;
use crate::places::Arrangement;
use crate::word::{Communication, CycleAnnotation, Direction, Link, Via};

/// A cycle without annotations and placement.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CycleShape {
    pub directions: Vec<Direction>,
    /// From each access to the next one; the last one leads to the first access.
    pub links: Vec<Link>,
}

/// Why a shape is not a test, and the link at fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CycleShapeError {
    pub link: Option<usize>,
    pub message: String,
    pub help: &'static str,
}

/// Threads of a test, at most: an arrangement names each with one digit.
pub const MOST_THREADS: usize = 10;

/// Accesses of a cycle, at most: the engines hold as many events as the widest relation.
pub const MOST_ACCESSES: usize = 40;

impl CycleShape {
    pub fn len(&self) -> usize {
        self.links.len()
    }

    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The accesses of each thread.
    pub fn threads(&self) -> Vec<Range<usize>> {
        let mut first = 0;
        let ends = (0..self.len()).filter(|&at| self.links[at].is_external());
        ends.map(|at| std::mem::replace(&mut first, at + 1)..at + 1).collect()
    }

    /// The location of each access, numbered from 0.
    pub fn locations(&self) -> Vec<usize> {
        let mut all = Vec::with_capacity(self.len());
        let mut here = 0;
        let count = self.changes().max(1);
        for link in &self.links {
            all.push(here % count);
            here += usize::from(link.changes_location());
        }
        all
    }

    /// How many links lead to another location.
    fn changes(&self) -> usize {
        self.links.iter().filter(|link| link.changes_location()).count()
    }

    pub fn location_count(&self) -> usize {
        self.changes().max(1)
    }

    /// The accesses from where a location begins, or in a cycle of one location its coherence order: the accesses of each
    /// location follow each other in that order.
    pub fn by_location(&self) -> impl Iterator<Item = usize> {
        // In a cycle of one location, the read of an atomic that others divide begins the order, or a read before the write
        // that it reads.
        let divides = self.links.contains(&Link::InvRmw);
        let has_inverse = self.links.iter().any(|link| link.is_inverse());
        let begins = |(at, link): (usize, &Link)| {
            let next = self.links[(at + 1) % self.len()];
            if self.changes() > 0 {
                link.changes_location()
            } else if divides {
                *link == Link::InvRmw
            } else {
                matches!(link, Link::Order { .. }) && (!has_inverse || next.is_inverse())
            }
        };
        let first = self.links.iter().enumerate().position(begins).map_or(0, |at| at + 1);
        let count = self.len();
        (0..count).map(move |step| (first + step) % count)
    }

    /// Whether the link before an access leads to its location from another one.
    pub fn begins_location(&self, access: usize) -> bool {
        self.links[(access + self.len() - 1) % self.len()].changes_location()
    }

    /// The number of the write that each access reads or is, in the outcome of the cycle. The writes of a location have the
    /// numbers 1, 2 and so on in their coherence order, which is the order of the cycle. Where several inverse edges leave it open,
    /// they are numbered as they come.
    pub fn values(&self) -> Vec<u64> {
        let mut values = vec![0; self.len()];
        let mut latest = 0;
        for (step, at) in self.by_location().enumerate() {
            if step > 0 && self.begins_location(at) {
                latest = 0;
            }
            latest += u64::from(self.directions[at] == Direction::Write);
            values[at] = latest + u64::from(self.links[at].is_inverse());
        }
        values
    }

    /// How many edges of each location lead from a read to the write that it reads.
    fn inverse_edges(&self) -> Vec<usize> {
        let mut count = vec![0; self.location_count()];
        for (location, link) in self.locations().into_iter().zip(&self.links) {
            count[location] += usize::from(link.is_inverse());
        }
        count
    }

    /// Whether the outcome of the cycle has the final value of each location: it says which write is the last one. Several
    /// inverse edges of a location order no writes of different threads.
    pub fn observes_final(&self) -> Vec<bool> {
        let inverse = self.inverse_edges();
        let all = self.writes().into_iter().zip(inverse);
        all.map(|(writes, inverse)| writes >= 2 && inverse < 2).collect()
    }

    /// How often each location is written.
    pub fn writes(&self) -> Vec<u64> {
        let mut count = vec![0; self.location_count()];
        for (location, direction) in self.locations().into_iter().zip(&self.directions) {
            count[location] += u64::from(*direction == Direction::Write);
        }
        count
    }

    /// Whether it is a test.
    pub fn check(&self) -> Result<(), CycleShapeError> {
        let error = |link, message: &str, help| {
            Err(CycleShapeError { link, message: message.to_owned(), help })
        };
        let threads = self.links.iter().filter(|link| link.is_external()).count();
        if threads < 2 {
            return error(
                None,
                "a cycle leads through two threads or more",
                "PodWW Rfe PodRR Fre has two external edges: `Rfe` and `Fre`",
            );
        }
        if threads > MOST_THREADS || self.len() > MOST_ACCESSES {
            return error(
                None,
                "a cycle has at most 10 threads and 40 accesses",
                "PodWW Rfe PodRR Fre",
            );
        }
        if let (1, at) =
            (self.changes(), self.links.iter().position(|link| link.changes_location()))
        {
            return error(
                at,
                "only one edge leads to another location, and none leads back",
                "PosRR, of one location; or a second edge to another location",
            );
        }
        let divided = self.links.iter().position(|link| *link == Link::InvRmw);
        if divided.is_none() && !self.links.iter().any(|link| matches!(link, Link::Order { .. })) {
            return error(None, "a cycle has an edge of program order", "Rfe PosRR Fre");
        }
        if let Some(at) = divided {
            let read = (at + 1) % self.len();
            let before = self.links[(at + self.len() - 1) % self.len()];
            let follows = Link::Communicates { how: Communication::Fr, external: true };
            let others = self.links.iter().filter(|link| **link == Link::InvRmw).count();
            if self.changes() > 0
                || others > 1
                || self.links[read] != follows
                || !before.is_external()
            {
                return error(
                    divided,
                    "`InvRmw` is the only access of its thread, once in a cycle of one location, and `Fre` follows",
                    "InvRmw Fre Coe",
                );
            }
        }
        for at in 0..self.len() {
            let before = self.links[(at + self.len() - 1) % self.len()];
            if self.links[at].is_inverse() && !matches!(before, Link::Order { .. }) {
                return error(
                    Some(at),
                    "an inverse edge follows an edge of program order: what its read returns is the write after it",
                    "PosWR InvRfe Coe",
                );
            }
        }
        let (values, writes, locations) = (self.values(), self.writes(), self.locations());
        let inverse = self.inverse_edges();
        for at in (0..self.len()).filter(|&at| inverse[locations[at]] > 1) {
            if let Link::Communicates { how: Communication::Fr | Communication::Co, .. } =
                self.links[at]
            {
                return error(
                    Some(at),
                    "with several inverse edges of a location, nothing observes the order of the writes of its threads",
                    "PosWW PosWR InvRfe PosWW Rfe PosRR InvRfe",
                );
            }
        }
        // The last write of a location is observed by its final value, one after another of its thread by that, and others by
        // nothing.
        for at in 0..self.len() {
            let next = (at + 1) % self.len();
            let has_inverse = inverse[locations[at]] > 0;
            let ordered = matches!(self.links[at], Link::Order { same: true, .. }) && has_inverse;
            let middle = self.directions[next] == Direction::Write
                && !self.links[at].is_atomic()
                && !self.links[at].is_inverse()
                && !ordered
                && values[next] >= 2
                && values[next] < writes[locations[next]];
            if middle {
                return error(
                    Some(at),
                    "a location has three writes, and nothing observes the order of the first two",
                    "two writes of each location: their order is that of the final value",
                );
            }
        }
        Ok(())
    }

    /// Whether an access is the first of the two of an atomic, which has the annotation of both.
    pub fn begins_atomic(&self, access: usize) -> bool {
        self.links[access].is_atomic()
    }

    /// Whether an access is the second of the two of an atomic.
    pub fn ends_atomic(&self, access: usize) -> bool {
        self.links[(access + self.len() - 1) % self.len()].is_atomic()
    }

    /// Whether an access can be this one. The second of an atomic has no words of its own.
    pub fn fits(&self, at: usize, access: CycleAccess) -> bool {
        if self.ends_atomic(at) {
            access == CycleAccess::PLAIN
        } else if self.begins_atomic(at) {
            access.fits_atomic()
        } else {
            access.fits(self.directions[at])
        }
    }

    /// The same cycle, which begins with another access.
    pub fn rotated(&self, first: usize) -> CycleShape {
        let (mut directions, mut links) = (self.directions.clone(), self.links.clone());
        directions.rotate_left(first);
        links.rotate_left(first);
        CycleShape { directions, links }
    }

    /// With nothing between accesses but program order.
    pub fn plain(&self) -> CycleShape {
        let plain = |link: &Link| match *link {
            Link::Order { same, .. } => Link::Order { same, via: Via::Plain },
            Link::Communicates { .. } | Link::Rmw | Link::InvRmw => *link,
        };
        CycleShape {
            directions: self.directions.clone(),
            links: self.links.iter().map(plain).collect(),
        }
    }

    /// The accesses with which threads begin, so that the plain cycle from there on is the one whose tests have
    /// names: that of its family, or one that begins with as many writes as it can.
    pub fn starts(&self) -> Vec<usize> {
        let plain = self.plain();
        let starts: Vec<usize> = self.threads().iter().map(|thread| thread.start).collect();
        let known = starts.iter().copied().filter(|&at| family::of(&plain.rotated(at)).is_some());
        let known: Vec<usize> = known.collect();
        if !known.is_empty() {
            return known;
        }
        let writes = starts.iter().map(|&at| plain.rotated(at)).max();
        starts.into_iter().filter(|&at| Some(plain.rotated(at)) == writes).collect()
    }

    /// The words of the edges, and of the accesses between them.
    fn words(&self, accesses: &[CycleAccess]) -> String {
        let mut words = Vec::new();
        for (at, access) in accesses.iter().enumerate() {
            words.extend(access.words());
            let to = self.directions[(at + 1) % self.len()];
            words.push(self.links[at].word(self.directions[at], to));
        }
        words.join(" ")
    }
}

impl fmt::Display for CycleShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(&vec![CycleAccess::PLAIN; self.len()]))
    }
}

/// A cycle of accesses.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Cycle {
    pub shape: CycleShape,
    pub accesses: Vec<CycleAccess>,
    pub arrangement: Arrangement,
}

impl Cycle {
    /// The same cycle, which begins with the thread of this number.
    pub(crate) fn rotated(&self, thread: usize, first: usize) -> Cycle {
        let mut accesses = self.accesses.clone();
        accesses.rotate_left(first);
        Cycle {
            shape: self.shape.rotated(first),
            accesses,
            arrangement: self.arrangement.rotated(thread),
        }
    }

    /// The form of each access: that of an atomic for both.
    pub fn forms_of_accesses(&self) -> Vec<AccessForm> {
        let of = |at: usize| {
            let before = (at + self.shape.len() - 1) % self.shape.len();
            self.accesses[if self.shape.ends_atomic(at) { before } else { at }].form
        };
        (0..self.shape.len()).map(of).collect()
    }

    /// Whether each two accesses of one location that follow each other have a byte in common.
    pub fn overlaps(&self) -> bool {
        self.first_apart().is_none()
    }

    /// The first link between two accesses of one location that have no byte in common.
    pub(crate) fn first_apart(&self) -> Option<usize> {
        let forms = self.forms_of_accesses();
        let shared = |at: usize| forms[at].bytes() & forms[(at + 1) % forms.len()].bytes();
        let links = self.shape.links.iter().enumerate();
        links
            .filter(|(_, link)| !link.changes_location())
            .find_map(|(at, _)| (shared(at) == 0).then_some(at))
    }

    /// Whether one of its executions may be undefined: accesses of a location have different sizes, or one must not read
    /// what is written.
    pub fn may_be_undefined(&self) -> bool {
        let forms = self.forms_of_accesses();
        let locations = self.shape.locations();
        let differ = |(at, one): (usize, &AccessForm)| {
            let others = forms.iter().zip(&locations).filter(|(_, of)| **of == locations[at]);
            one.is_of_read_only_data() || { others }.any(|(other, _)| {
                (other.elements(), other.bytes()) != (one.elements(), one.bytes())
            })
        };
        forms.iter().enumerate().any(differ)
    }

    /// The same test with the two addresses of its location exchanged, where it is of one location, all of whose accesses
    /// have either. In other cycles the first access of a location says which address is which.
    pub(crate) fn exchanged(&self) -> Option<Cycle> {
        let has_either = self.shape.location_count() == 1
            && self.accesses.iter().all(|access| exchanged(access.form).is_some());
        let mut other = has_either.then(|| self.clone())?;
        for (at, access) in other.accesses.iter_mut().enumerate() {
            if !other.shape.ends_atomic(at) {
                access.form = exchanged(access.form)?;
            }
        }
        Some(other)
    }

    /// All forms of the cycle that begin as its family does.
    pub fn forms(&self) -> impl Iterator<Item = Cycle> + '_ {
        let threads = self.shape.threads();
        let number = move |at| threads.iter().position(|thread| thread.start == at);
        let starts = self.shape.starts().into_iter();
        let turned = starts.filter_map(move |at| Some(self.rotated(number(at)?, at)));
        turned.flat_map(|one| {
            let other = one.exchanged();
            std::iter::once(one).chain(other)
        })
    }

    /// The form of the cycle that all of its rotations share.
    pub fn canonical(&self) -> Cycle {
        self.forms().min().unwrap_or_else(|| self.clone())
    }

    /// Whether it is the other cycle with choices that are as strong or weaker, wherever the threads are.
    pub fn promises_at_most(&self, other: &Cycle) -> bool {
        let accesses = self.accesses.iter().zip(&other.accesses).zip(&self.shape.directions);
        let links = || self.shape.links.iter().zip(&other.shape.links);
        self.shape.plain() == other.shape.plain()
            && { accesses }.all(|((one, other), &direction)| other.includes(*one, direction))
            && links().all(|(one, other)| match (*one, *other) {
                (Link::Order { via: one, .. }, Link::Order { via: other, .. }) => {
                    other.includes(one)
                }
                (Link::Order { .. } | Link::Rmw | Link::InvRmw | Link::Communicates { .. }, _) => {
                    one == other
                }
            })
    }

    /// How many weaker choices its accesses and edges have, all together: the strength by which cycles of one size
    /// are ordered.
    pub fn strength(&self) -> usize {
        let accesses = self.accesses.iter().zip(&self.shape.directions);
        let accesses = accesses.map(|(one, &direction)| {
            let weaker = |other: &CycleAnnotation| {
                one.annotation.includes(*other, direction)
                    && !other.includes(one.annotation, direction)
            };
            // Forms are not stronger than others, but what has one is not simpler.
            usize::from(one.form != AccessForm::Word)
                + CycleAnnotation::all().filter(weaker).count()
        });
        let links = self.shape.links.iter().map(|link| match *link {
            Link::Order { via, .. } => {
                Via::all().filter(|other| via.includes(*other) && *other != via).count()
            }
            Link::Rmw | Link::InvRmw | Link::Communicates { .. } => 0,
        });
        accesses.chain(links).sum()
    }

    /// The cycle with its annotations and its placement, as the command reads it.
    pub fn words(&self) -> String {
        format!("{} @{}", self.shape.words(&self.accesses), self.arrangement.word())
    }

    /// `MP+po-release.gpu+acquire.gpu-po+at-gpu`: the family, each thread, and the placement.
    pub fn name(&self) -> String {
        let family = family::name(&self.shape.plain());
        format!("{family}{}+at-{}", self.suffix(), self.arrangement.word())
    }

    /// The threads in the name of the test.
    fn suffix(&self) -> String {
        let threads = self.shape.threads();
        let single = |thread: &Range<usize>| {
            thread.len() == 1 && self.accesses[thread.start] == CycleAccess::PLAIN
        };
        let names: Vec<String> = threads
            .iter()
            .filter(|thread| !single(thread))
            .map(|thread| self.thread(thread.clone()))
            .collect();
        let alike = names.len() > 1
            && names.len() == threads.len()
            && names.iter().all(|name| *name == names[0]);
        if alike { format!("+{}s", names[0]) } else { format!("+{}", names.join("+")) }
    }

    fn thread(&self, accesses: Range<usize>) -> String {
        let mut parts = Vec::new();
        for at in accesses {
            if self.accesses[at] != CycleAccess::PLAIN {
                parts.push(self.accesses[at].name());
            }
            match self.shape.links[at] {
                Link::Order { same, via } => {
                    parts.push(format!("{via}{}", if same { ".loc" } else { "" }));
                }
                Link::Rmw => parts.push("rmw".to_owned()),
                Link::InvRmw => parts.push("invrmw".to_owned()),
                Link::Communicates { how, external: false } => parts.push(internal(how).to_owned()),
                Link::Communicates { how: Communication::InvRf, external: true } => {
                    parts.push("invrfe".to_owned());
                }
                Link::Communicates { external: true, .. } => {}
            }
        }
        parts.join("-")
    }
}

/// The form with the other address.
fn exchanged(form: AccessForm) -> Option<AccessForm> {
    if form == AccessForm::Word {
        return Some(AccessForm::Alias);
    }
    (form == AccessForm::Alias).then_some(AccessForm::Word)
}

fn internal(how: Communication) -> &'static str {
    match how {
        Communication::Rf => "rfi",
        Communication::Fr => "fri",
        Communication::Co => "coi",
        Communication::InvRf => "invrfi",
    }
}
