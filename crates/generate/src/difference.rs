//! The smallest cycles on which two sides differ: models, engines, or whatever answers for a cycle.
//!
//! The cycles of a space are tried by their size: threads, then edges. Of the cycles of one plain shape that have the
//! same two answers, only the weakest choices are differences of their own; stronger ones repeat them. Where stronger
//! choices never allow more on either side, frontiers settle most cycles without an answer ([`crate::frontier`]).

use std::time::Instant;

use engine::{interrupt, parallel};

use crate::cycle::Cycle;
use crate::frontier::{Lattice, LatticeDifferences};
use crate::question::CycleAnswer;
use crate::space::{CycleSpace, Pattern};

/// One of two sides: it answers whether the outcome of a cycle is allowed.
pub type CycleSide<'a> = dyn Fn(&Cycle) -> CycleAnswer + Sync + 'a;

/// A cycle, and what each side answers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Difference {
    pub cycle: Cycle,
    pub answers: [CycleAnswer; 2],
}

/// The weakest of the differences that were added.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WeakestDifferences(Vec<Difference>);

/// What is compared, and for how long.
pub struct DifferenceSearch<'a> {
    pub sides: [&'a CycleSide<'a>; 2],
    /// Whether stronger choices never allow more, on both sides.
    pub frontiers: bool,
    /// Whether to go on after the smallest size that has a difference.
    pub all: bool,
    pub jobs: usize,
    pub deadline: Option<Instant>,
}

/// Why a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchEnd {
    /// Every cycle was tried.
    Bound,
    /// A difference was found, each cycle of its size was tried, and there are larger ones.
    Found,
    Time,
    Interrupted,
}

/// How large a cycle is. Smaller ones come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CycleSize {
    pub threads: usize,
    pub edges: usize,
}

/// What a search found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundDifferences {
    /// Smaller ones first, and of one size weaker ones first.
    pub differences: Vec<Difference>,
    /// How many cycles were tried or settled, rotations not included.
    pub tried: u128,
    /// How many of them a side did not decide.
    pub undecided: u128,
    /// How many answers the two sides gave.
    pub judged: u64,
    /// The largest size of which each cycle was tried.
    pub size: Option<CycleSize>,
    pub end: SearchEnd,
    /// A choice that a side allows although it forbids a weaker one, so that frontiers settle nothing.
    pub contradiction: Option<Cycle>,
    /// The first cycle that a side does not decide.
    pub first_undecided: Option<UndecidedCycle>,
}

/// A cycle that a side does not decide.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UndecidedCycle {
    pub cycle: Cycle,
    /// 0 or 1.
    pub side: usize,
    pub reason: &'static str,
}

/// Labelled cycles of a piece of work, at least.
const PIECE: u128 = 512;

/// Pieces of one size, at most.
const PIECES: u128 = 100_000;

/// What one thread works on.
enum Piece<'s> {
    Lattice(Lattice<'s>),
    Range(&'s Pattern, u128, u128),
}

/// What came of a piece.
#[derive(Default)]
struct ComparedPiece {
    weakest: WeakestDifferences,
    /// Cycles that were compared or settled.
    tried: u128,
    undecided: u128,
    judged: u64,
    contradiction: Option<Cycle>,
    first_undecided: Option<UndecidedCycle>,
    /// Whether it was left at the deadline.
    unfinished: bool,
}

impl CycleSize {
    pub fn of(pattern: &Pattern) -> CycleSize {
        CycleSize { threads: pattern.shape.threads().len(), edges: pattern.shape.len() }
    }
}

impl Difference {
    /// Whether both sides answer, and not the same.
    pub fn between(cycle: &Cycle, answers: [CycleAnswer; 2]) -> Option<Difference> {
        let decided = answers.iter().all(|one| !matches!(one, CycleAnswer::Undecided(_)));
        (decided && answers[0] != answers[1]).then(|| Difference { cycle: cycle.clone(), answers })
    }

    /// Whether another difference repeats this one with choices that are as strong or stronger, wherever its threads are.
    fn is_repeated_by(&self, other: &Difference) -> bool {
        self.answers == other.answers
            && self.cycle.forms().any(|form| form.promises_at_most(&other.cycle))
    }
}

impl WeakestDifferences {
    /// Adds a difference, unless it repeats one. Of equally strong ones the least is kept.
    pub fn add(&mut self, new: Difference) {
        let replaces =
            |old: &Difference| new.is_repeated_by(old) && (!old.is_repeated_by(&new) || new < *old);
        if self.0.iter().any(|old| old.is_repeated_by(&new) && !replaces(old)) {
            return;
        }
        self.0.retain(|old| !new.is_repeated_by(old));
        self.0.push(new);
    }

    /// Those with the fewest choices beyond the weakest ones first.
    pub fn sorted(mut self) -> Vec<Difference> {
        self.0.sort_by_cached_key(|one| (one.cycle.strength(), one.clone()));
        self.0
    }
}

impl DifferenceSearch<'_> {
    /// Searches a space. `progress` is called with the number of answers that were given since the last call.
    pub fn search(&self, space: &CycleSpace, progress: &(dyn Fn(u64) + Sync)) -> FoundDifferences {
        let mut found = FoundDifferences {
            differences: Vec::new(),
            tried: 0,
            undecided: 0,
            judged: 0,
            size: None,
            end: SearchEnd::Bound,
            contradiction: None,
            first_undecided: None,
        };
        let mut sizes: Vec<CycleSize> = space.patterns.iter().map(CycleSize::of).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let last = sizes.last().copied();
        for size in sizes {
            let patterns: Vec<&Pattern> =
                space.patterns.iter().filter(|pattern| CycleSize::of(pattern) == size).collect();
            let unfinished = self.search_size(&patterns, &mut found, progress);
            if found.contradiction.is_some() {
                return found;
            }
            if interrupt::raised() || unfinished {
                found.end =
                    if interrupt::raised() { SearchEnd::Interrupted } else { SearchEnd::Time };
                return found;
            }
            found.size = Some(size);
            if !self.all && !found.differences.is_empty() && Some(size) != last {
                found.end = SearchEnd::Found;
                return found;
            }
        }
        found
    }

    /// Tries each cycle of some patterns; whether some were left at the deadline.
    fn search_size(
        &self,
        patterns: &[&Pattern],
        found: &mut FoundDifferences,
        progress: &(dyn Fn(u64) + Sync),
    ) -> bool {
        let pieces = self.pieces(patterns);
        let mut weakest = WeakestDifferences::default();
        let mut unfinished = false;
        let work = |(): &mut (), index: usize| {
            let done = self.work(&pieces[index]);
            progress(done.judged);
            done
        };
        for done in parallel::all(pieces.len(), self.jobs, &|| (), &work) {
            done.weakest.0.into_iter().for_each(|one| weakest.add(one));
            found.tried += done.tried;
            found.undecided += done.undecided;
            found.judged += done.judged;
            unfinished |= done.unfinished;
            found.contradiction = found.contradiction.take().or(done.contradiction);
            found.first_undecided = found.first_undecided.take().or(done.first_undecided);
        }
        found.differences.extend(weakest.sorted());
        unfinished
    }

    fn pieces<'s>(&self, patterns: &[&'s Pattern]) -> Vec<Piece<'s>> {
        let mut pieces = Vec::new();
        for &pattern in patterns {
            if self.frontiers {
                // Another placement has the same cycles, turned.
                let places = (0..pattern.arrangements.len()).filter(|&at| pattern.is_least(at));
                let lattices = places.map(|at| Lattice::new(pattern, at).map(Piece::Lattice));
                if let Some(lattices) = lattices.collect::<Option<Vec<Piece<'s>>>>() {
                    pieces.extend(lattices);
                    continue;
                }
            }
            let labelled = pattern.labelled();
            let length = PIECE.max(labelled / PIECES);
            let mut first = 0;
            while first < labelled {
                pieces.push(Piece::Range(pattern, first, labelled.min(first + length)));
                first += length;
            }
        }
        pieces
    }

    fn work(&self, piece: &Piece<'_>) -> ComparedPiece {
        let mut done = ComparedPiece::default();
        match piece {
            Piece::Lattice(lattice) => {
                let [mut one, mut other] =
                    self.sides.map(|side| move |cycle: &Cycle| self.ask(side, cycle));
                let LatticeDifferences { weakest, open, judged } =
                    lattice.differences([&mut one, &mut other]);
                for (cycle, settled) in weakest {
                    match self.compare(&cycle, &mut done) {
                        Some(difference) if difference.answers == settled => {
                            done.weakest.add(difference);
                        }
                        Some(_) | None => {
                            // What is left at the deadline contradicts nothing.
                            if !self.expired() {
                                done.contradiction = Some(cycle);
                            }
                        }
                    }
                }
                for cycle in open {
                    if let Some(difference) = self.compare(&cycle, &mut done) {
                        done.weakest.add(difference);
                    }
                }
                if !self.expired() {
                    // What was not compared is settled.
                    done.tried = lattice.count();
                    done.judged += judged;
                }
            }
            &Piece::Range(pattern, first, end) => {
                let cycles = (first..end).map(|number| pattern.cycle(number));
                for cycle in cycles.filter(|cycle| pattern.is_listed(cycle)) {
                    if self.expired() {
                        break;
                    }
                    if let Some(difference) = self.compare(&cycle, &mut done) {
                        done.weakest.add(difference);
                    }
                }
            }
        }
        done.unfinished = self.expired();
        done
    }

    fn ask(&self, side: &CycleSide<'_>, cycle: &Cycle) -> CycleAnswer {
        if self.expired() {
            return CycleAnswer::Undecided(engine::Limit::Time.text());
        }
        side(cycle)
    }

    /// Asks both sides.
    fn compare(&self, cycle: &Cycle, done: &mut ComparedPiece) -> Option<Difference> {
        let answers = self.sides.map(|side| self.ask(side, cycle));
        done.judged += 2;
        // What is left at the deadline is neither tried nor undecided.
        if self.expired() {
            return None;
        }
        done.tried += 1;
        let undecided = answers.iter().enumerate().find_map(|(side, answer)| match answer {
            CycleAnswer::Undecided(reason) => {
                Some(UndecidedCycle { cycle: cycle.clone(), side, reason })
            }
            CycleAnswer::Allowed
            | CycleAnswer::Forbidden
            | CycleAnswer::Stuck
            | CycleAnswer::Undefined(_) => None,
        });
        done.undecided += u128::from(undecided.is_some());
        done.first_undecided = done.first_undecided.take().or(undecided);
        Difference::between(cycle, answers)
    }

    fn expired(&self) -> bool {
        interrupt::raised() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
