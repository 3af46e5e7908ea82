//! Sets of cycles: patterns with choices for each access and each edge, counted, listed and sampled.
//!
//! Each cycle of a space is listed once: of the rotations that are in the space, the least one. Two cycles that are not
//! rotations of each other are different tests, since the outcome of a cycle gives its threads back.

use std::ops::RangeInclusive;

use model::scope::Scope;

use crate::access::{AccessForm, CycleAccess};
use crate::cycle::{Cycle, CycleShape};
use crate::kind::{self, CycleKind};
use crate::notation::{WrittenAccess, WrittenCycle};
use crate::overlap::{ChosenBytes, count_overlapping};
use crate::places::Arrangement;
use crate::word::{CycleAnnotation, Link, Via};

/// What accesses, edges and placements to choose from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ranges {
    /// Of accesses without an annotation, as far as they fit.
    pub annotations: Vec<CycleAnnotation>,
    /// Of accesses without a form, as far as they fit. The first access of a location, where a cycle has several, has no
    /// alias: the address that it has is the one that others alias.
    pub forms: Vec<AccessForm>,
    /// In the place of plain program order, as far as they fit.
    pub vias: Vec<Via>,
    /// Distances between threads.
    pub distances: Vec<Scope>,
}

/// A shape with choices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    pub shape: CycleShape,
    /// For each access.
    pub accesses: Vec<Vec<CycleAccess>>,
    /// For each link; empty for one that is not a choice.
    pub vias: Vec<Vec<Via>>,
    pub arrangements: Vec<Arrangement>,
    /// Other beginnings from which the plain shape is the same: the thread and its first access.
    turns: Vec<(usize, usize)>,
    /// Whether the two addresses of its location may be exchanged.
    exchanges: bool,
    /// Whether each of them, and the exchange, keeps the choices.
    symmetric: bool,
    /// Whether all accesses of a location have a byte in common, whatever is chosen.
    overlaps: bool,
}

impl Pattern {
    /// The pattern of a cycle, whose open choices are those of the ranges.
    pub fn of(cycle: &WrittenCycle, ranges: &Ranges) -> Pattern {
        let written = &cycle.shape;
        let start = written.starts().first().copied().unwrap_or(0);
        let threads = written.threads();
        let thread = threads.iter().position(|thread| thread.start == start).unwrap_or(0);
        let shape = written.rotated(start);
        let mut given = cycle.accesses.clone();
        given.rotate_left(start);
        let choice = |(at, given): (usize, &WrittenAccess)| {
            let annotated = |form: AccessForm| {
                let access = |annotation| CycleAccess { annotation, form };
                if let Some(one) = given.annotation {
                    return vec![access(one)];
                }
                let all = ranges.annotations.iter().map(|&annotation| access(annotation));
                let fitting: Vec<CycleAccess> = all.filter(|&one| shape.fits(at, one)).collect();
                // What PTX takes an atomic without qualifiers for.
                let default = access(CycleAnnotation::Relaxed(Scope::Gpu));
                let is_atomic = shape.begins_atomic(at) || form == AccessForm::Reduction;
                if fitting.is_empty() && is_atomic { vec![default] } else { fitting }
            };
            let named = |form: &AccessForm| {
                let is_first = shape.location_count() > 1 && shape.begins_location(at);
                *form != AccessForm::Alias || !is_first
            };
            let forms: Vec<AccessForm> = match given.form {
                Some(one) => vec![one],
                None => ranges.forms.iter().copied().filter(named).collect(),
            };
            if shape.ends_atomic(at) {
                return vec![CycleAccess::PLAIN];
            }
            let all = forms.into_iter().flat_map(annotated);
            unique(all.filter(|&access| shape.fits(at, access)))
        };
        let accesses = given.iter().enumerate().map(choice).collect();
        let vias = (0..shape.len()).map(|at| {
            let (from, to) = (shape.directions[at], shape.directions[(at + 1) % shape.len()]);
            match shape.links[at] {
                Link::Order { via: Via::Plain, .. } => {
                    unique(ranges.vias.iter().copied().filter(|via| via.fits(from, to)))
                }
                Link::Order { .. } | Link::Rmw | Link::InvRmw | Link::Communicates { .. } => {
                    Vec::new()
                }
            }
        });
        let arrangements = match &cycle.arrangement {
            Some(one) => vec![one.rotated(thread)],
            None => Arrangement::all(threads.len(), &ranges.distances),
        };
        Pattern::new(shape.clone(), accesses, vias.collect(), arrangements)
    }

    fn new(
        shape: CycleShape,
        accesses: Vec<Vec<CycleAccess>>,
        vias: Vec<Vec<Via>>,
        arrangements: Vec<Arrangement>,
    ) -> Pattern {
        let plain = shape.plain();
        let threads = shape.threads().into_iter().enumerate().skip(1);
        let turns: Vec<(usize, usize)> = threads
            .map(|(thread, accesses)| (thread, accesses.start))
            .filter(|&(_, first)| plain.rotated(first) == plain)
            .collect();
        let keeps = |&(thread, first): &(usize, usize)| {
            let turned = |mut choices: Vec<Vec<CycleAccess>>| {
                choices.rotate_left(first);
                choices
            };
            let mut other = vias.clone();
            other.rotate_left(first);
            shape.rotated(first) == shape
                && turned(accesses.clone()) == accesses
                && other == vias
                && arrangements
                    .iter()
                    .all(|one| arrangements.binary_search(&one.rotated(thread)).is_ok())
        };
        let exchanges = shape.location_count() == 1
            && accesses.iter().flatten().any(|access| access.form == AccessForm::Alias);
        // Whether each choice with one address is there with the other one.
        let has_both = |(at, choices): (usize, &Vec<CycleAccess>)| {
            shape.ends_atomic(at) || {
                let with = |form| choices.iter().filter(move |access| access.form == form);
                let annotations = |form| {
                    let mut all: Vec<CycleAnnotation> =
                        with(form).map(|access| access.annotation).collect();
                    all.sort_unstable();
                    all
                };
                annotations(AccessForm::Word) == annotations(AccessForm::Alias)
            }
        };
        let symmetric =
            turns.iter().all(keeps) && (!exchanges || accesses.iter().enumerate().all(has_both));
        let mut shared = vec![u8::MAX; shape.location_count()];
        for (choices, location) in accesses.iter().zip(shape.locations()) {
            // The second access of an atomic has the bytes of the first, and so none of its own.
            for access in choices.iter().filter(|access| **access != CycleAccess::PLAIN) {
                shared[location] &= access.form.bytes();
            }
            let plain = choices.contains(&CycleAccess::PLAIN);
            shared[location] &= if plain { AccessForm::Word.bytes() } else { u8::MAX };
        }
        let overlaps = !shared.contains(&0);
        Pattern { shape, accesses, vias, arrangements, turns, exchanges, symmetric, overlaps }
    }

    /// Whether some choice of this pattern, or a rotation of one, is one of the other.
    fn shares_a_cycle(&self, other: &Pattern) -> bool {
        let vias = |pattern: &Pattern| -> Vec<Vec<Via>> {
            let given = pattern.vias.iter().zip(&pattern.shape.links);
            let fixed = |(open, link): (&Vec<Via>, &Link)| match link {
                Link::Order { via, .. } if open.is_empty() => vec![*via],
                Link::Order { .. } | Link::Rmw | Link::InvRmw | Link::Communicates { .. } => {
                    open.clone()
                }
            };
            given.map(fixed).collect()
        };
        let (own, others) = (vias(self), vias(other));
        self.plain() == other.plain()
            && [(0, 0)].iter().chain(&self.turns).any(|&(thread, first)| {
                let at = |index: usize| (first + index) % self.shape.len();
                let meet = |index: usize| {
                    let access = |one: &CycleAccess| other.accesses[index].contains(one);
                    let via = |one: &Via| others[index].contains(one);
                    self.accesses[at(index)].iter().any(access)
                        && (others[index].is_empty() || own[at(index)].iter().any(via))
                };
                (0..self.shape.len()).all(meet)
                    && self
                        .arrangements
                        .iter()
                        .any(|one| other.arrangements.contains(&one.rotated(thread)))
            })
    }

    /// How many choices there are, rotations included, and those that are not cycles since accesses have no byte in common.
    pub fn labelled(&self) -> u128 {
        let choices = self.accesses.iter().map(Vec::len);
        let vias = self.vias.iter().filter(|vias| !vias.is_empty()).map(Vec::len);
        let open = self.vias.iter().zip(&self.shape.links).all(|(vias, link)| {
            // A plain edge for which the ranges have nothing.
            !vias.is_empty() || !matches!(link, Link::Order { via: Via::Plain, .. })
        });
        let all = choices.chain(vias).chain([self.arrangements.len(), usize::from(open)]);
        all.map(|count| count as u128).fold(1, u128::saturating_mul)
    }

    /// How many cycles there are. By Burnside's lemma, without listing them, where rotations keep the choices.
    pub fn count(&self) -> u128 {
        if !self.symmetric {
            return self.cycles().count() as u128;
        }
        if self.labelled() == 0 {
            return 0;
        }
        let kept = |thread: usize| {
            self.arrangements.iter().filter(|one| one.rotated(thread) == **one).count()
        };
        let turns = self.turns.iter().map(|&(thread, first)| (first, kept(thread)));
        self.orbits(&[(0, self.arrangements.len())].into_iter().chain(turns).collect::<Vec<_>>())
    }

    /// How many cycles there are at an arrangement, which is the least of its rotations where rotations keep the choices.
    pub fn count_at(&self, arrangement: usize) -> u128 {
        let place = &self.arrangements[arrangement];
        if self.symmetric {
            let turns = self.turns.iter().filter(|&&(thread, _)| place.rotated(thread) == *place);
            let turns = turns.map(|&(_, first)| (first, 1));
            return self.orbits(&[(0, 1)].into_iter().chain(turns).collect::<Vec<_>>());
        }
        let step = self.arrangements.len();
        let here = (0..self.labelled()).skip(arrangement).step_by(step);
        here.filter(|&number| self.is_listed(&self.cycle(number))).count() as u128
    }

    /// How many cycles there are up to rotations. Each rotation has its first access and the number of arrangements that it
    /// keeps; that to access 0 changes nothing.
    fn orbits(&self, turns: &[(usize, usize)]) -> u128 {
        let sum = |of: &dyn Fn(usize) -> u128| {
            turns.iter().map(|&(first, kept)| of(first) * kept as u128).sum::<u128>()
        };
        let count = turns.len() as u128;
        let all = sum(&|first| self.fixed(first));
        if !self.exchanges {
            return all / count;
        }
        // The two addresses may be exchanged where all accesses have either; elsewhere that changes nothing.
        let either = sum(&|first| self.fixed_of_either_address(first));
        let exchanged = sum(&|first| {
            // Around each orbit of accesses, the addresses alternate.
            let round = self.shape.len() / self.accesses_of_orbits(first);
            if round.is_multiple_of(2) { self.fixed_of_either_address(first) } else { 0 }
        });
        (all - either) / count + (either + exchanged) / (2 * count)
    }

    /// A rotation has as many orbits of accesses as the greatest common divisor.
    fn accesses_of_orbits(&self, first: usize) -> usize {
        gcd(first, self.shape.len())
    }

    /// How many choices at one arrangement a rotation maps to themselves.
    fn fixed(&self, first: usize) -> u128 {
        let orbits = self.accesses_of_orbits(first);
        let vias = self.vias[..orbits].iter().map(|vias| vias.len().max(1) as u128);
        let each = (0..orbits).map(|at| ChosenBytes {
            of: self.accesses[at].iter().map(|access| access.form.bytes()).collect(),
            as_before: self.shape.ends_atomic(at),
            leads_away: self.shape.links[at].changes_location(),
        });
        vias.product::<u128>() * count_overlapping(&each.collect::<Vec<_>>())
    }

    /// The same, of accesses with one of the two addresses.
    fn fixed_of_either_address(&self, first: usize) -> u128 {
        let orbits = self.accesses_of_orbits(first);
        let has_either =
            |access: &&CycleAccess| matches!(access.form, AccessForm::Word | AccessForm::Alias);
        let choices = |at: usize| {
            let accesses = self.accesses[at].iter().filter(has_either).count();
            (accesses * self.vias[at].len().max(1)) as u128
        };
        (0..orbits).map(choices).product()
    }

    /// The cycle of a number below [`Pattern::labelled`].
    pub fn cycle(&self, mut number: u128) -> Cycle {
        let mut digit = |of: usize| {
            let digit = number % of as u128;
            number /= of as u128;
            usize::try_from(digit).unwrap_or(0)
        };
        let arrangement = self.arrangements[digit(self.arrangements.len())].clone();
        let mut shape = self.shape.clone();
        for (link, vias) in shape.links.iter_mut().zip(&self.vias) {
            if let (Link::Order { via, .. }, false) = (link, vias.is_empty()) {
                *via = vias[digit(vias.len())];
            }
        }
        let accesses = self.accesses.iter().map(|choices| choices[digit(choices.len())]);
        Cycle { accesses: accesses.collect(), shape, arrangement }
    }

    /// Whether the cycle is one of this pattern.
    fn contains(&self, cycle: &Cycle) -> bool {
        let chosen = |(choices, one): (&Vec<CycleAccess>, &CycleAccess)| choices.contains(one);
        let linked = |at: usize| match cycle.shape.links[at] {
            Link::Order { via, .. } if !self.vias[at].is_empty() => self.vias[at].contains(&via),
            link @ (Link::Order { .. } | Link::Rmw | Link::InvRmw | Link::Communicates { .. }) => {
                link == self.shape.links[at]
            }
        };
        self.accesses.iter().zip(&cycle.accesses).all(chosen)
            && (0..self.shape.len()).all(linked)
            && self.arrangements.contains(&cycle.arrangement)
    }

    /// Whether all accesses of a location have a byte in common, whatever is chosen.
    pub fn overlaps(&self) -> bool {
        self.overlaps
    }

    /// Whether the accesses of a cycle of this pattern have a byte in common with the next ones of their locations.
    pub fn is_well_formed(&self, cycle: &Cycle) -> bool {
        self.overlaps || cycle.overlaps()
    }

    /// The cycles of this pattern that are the same test as one of them, without itself.
    fn same_tests<'c>(&'c self, cycle: &'c Cycle) -> impl Iterator<Item = Cycle> + 'c {
        let turned = self.turns.iter().map(|&(thread, first)| cycle.rotated(thread, first));
        let with_both = |one: Cycle| {
            let other = if self.exchanges { one.exchanged() } else { None };
            std::iter::once(one).chain(other)
        };
        let own = if self.exchanges { cycle.exchanged() } else { None };
        let all = own.into_iter().chain(turned.flat_map(with_both));
        all.filter(|other| self.symmetric || self.contains(other))
    }

    /// Whether the cycle is the one of those with its test that is listed.
    pub fn is_listed(&self, cycle: &Cycle) -> bool {
        self.is_well_formed(cycle) && self.same_tests(cycle).all(|other| other >= *cycle)
    }

    /// Whether the cycle is the one of those with its test at its arrangement that a frontier lists.
    pub(crate) fn is_listed_here(&self, cycle: &Cycle) -> bool {
        let here = |other: &Cycle| other.arrangement == cycle.arrangement;
        self.is_well_formed(cycle)
            && self.same_tests(cycle).filter(here).all(|other| other >= *cycle)
    }

    /// Whether no rotation gives the cycles of this arrangement to an earlier one.
    pub fn is_least(&self, arrangement: usize) -> bool {
        let one = &self.arrangements[arrangement];
        !self.symmetric || self.turns.iter().all(|&(thread, _)| one.rotated(thread) >= *one)
    }

    /// Each cycle once.
    pub fn cycles(&self) -> impl Iterator<Item = Cycle> + '_ {
        (0..self.labelled()).map(|number| self.cycle(number)).filter(|cycle| self.is_listed(cycle))
    }

    /// Cycles that have each choice at each place, though not each combination of them.
    fn covering(&self) -> impl Iterator<Item = Cycle> + '_ {
        let lengths = self.accesses.iter().map(Vec::len).chain(self.vias.iter().map(Vec::len));
        let longest = lengths.chain([self.arrangements.len()]).max().unwrap_or(0);
        let is_open = self.labelled() > 0;
        let one = |number: usize| {
            let mut shape = self.shape.clone();
            for (link, vias) in shape.links.iter_mut().zip(&self.vias) {
                if let (Link::Order { via, .. }, false) = (link, vias.is_empty()) {
                    *via = vias[number % vias.len()];
                }
            }
            let accesses = self.accesses.iter().map(|choices| choices[number % choices.len()]);
            let arrangement = self.arrangements[number % self.arrangements.len()].clone();
            Cycle { accesses: accesses.collect(), shape, arrangement }
        };
        let all = (0..longest).filter(move |_| is_open).map(one);
        all.filter(|cycle| self.is_well_formed(cycle))
    }

    /// The plain shape, of which a space has one pattern.
    pub fn plain(&self) -> CycleShape {
        self.shape.plain()
    }
}

fn unique<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut kept = Vec::new();
    for one in all {
        if !kept.contains(&one) {
            kept.push(one);
        }
    }
    kept
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Labelled cycles of a space, at most: their counts, multiplied by rotations, stay below the largest number.
pub const MOST_LABELLED: u128 = 1 << 112;

/// Cycles of several patterns, of which no two have the same plain shape.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CycleSpace {
    pub patterns: Vec<Pattern>,
}

impl CycleSpace {
    /// Every critical cycle of this size.
    pub fn critical(
        threads: RangeInclusive<usize>,
        edges: RangeInclusive<usize>,
        ranges: &Ranges,
    ) -> CycleSpace {
        CycleSpace::of_kinds(&[CycleKind::Critical], threads, edges, ranges)
    }

    /// Every cycle of these kinds and this size.
    pub fn of_kinds(
        kinds: &[CycleKind],
        threads: RangeInclusive<usize>,
        edges: RangeInclusive<usize>,
        ranges: &Ranges,
    ) -> CycleSpace {
        let open = |shape: CycleShape| {
            let accesses = vec![WrittenAccess::default(); shape.len()];
            let written = WrittenCycle { shape, accesses, arrangement: None };
            Pattern::of(&written, ranges)
        };
        let shapes =
            kinds.iter().flat_map(|&kind| kind::shapes(kind, threads.clone(), edges.clone()));
        CycleSpace { patterns: shapes.map(open).collect() }
    }

    /// Two patterns with a cycle in common, if there are any.
    pub fn repeated(&self) -> Option<(usize, usize)> {
        let all = &self.patterns;
        (1..all.len()).find_map(|at| {
            let before = all[..at].iter().position(|one| one.shares_a_cycle(&all[at]))?;
            Some((before, at))
        })
    }

    pub fn labelled(&self) -> u128 {
        self.patterns.iter().map(Pattern::labelled).fold(0, u128::saturating_add)
    }

    pub fn count(&self) -> u128 {
        self.patterns.iter().map(Pattern::count).sum()
    }

    /// Cycles that have each choice at each place of each pattern, though not each combination of them.
    pub fn covering(&self) -> impl Iterator<Item = Cycle> + '_ {
        self.patterns.iter().flat_map(Pattern::covering)
    }

    /// Each cycle once.
    pub fn cycles(&self) -> impl Iterator<Item = Cycle> + '_ {
        self.patterns.iter().flat_map(Pattern::cycles)
    }

    /// So many different cycles, drawn by a seed; all of them if there are not more. Each labelled cycle is as
    /// likely as any other.
    pub fn sample(&self, count: usize, seed: u64) -> Vec<Cycle> {
        if self.count() <= count as u128 {
            return self.cycles().collect();
        }
        let mut random = SplitMix(seed);
        let sizes: Vec<u128> = self.patterns.iter().map(Pattern::labelled).collect();
        let labelled = self.labelled();
        let mut drawn_before = rustc_hash::FxHashSet::default();
        let mut all = Vec::new();
        while all.len() < count {
            let mut number = random.below(labelled);
            for (pattern, &size) in self.patterns.iter().zip(&sizes) {
                let Some(rest) = number.checked_sub(size) else {
                    let drawn = pattern.cycle(number);
                    let same = pattern.same_tests(&drawn);
                    let least = same.chain([drawn.clone()]).min().unwrap_or_else(|| drawn.clone());
                    if pattern.is_well_formed(&drawn) && drawn_before.insert(least.clone()) {
                        all.push(least);
                    }
                    break;
                };
                number = rest;
            }
        }
        all
    }
}

/// The generator of Steele, Lea and Flood: the same numbers everywhere.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below another one, each as likely as the next.
    fn below(&mut self, bound: u128) -> u128 {
        let limit = u128::MAX - u128::MAX % bound;
        loop {
            let number = u128::from(self.next()) << 64 | u128::from(self.next());
            if number < limit {
                return number % bound;
            }
        }
    }
}
