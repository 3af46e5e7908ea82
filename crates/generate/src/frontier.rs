//! The frontier of a pattern at one placement: the strongest choices that allow its outcome, and the weakest ones that
//! forbid it.
//!
//! A stronger annotation, a wider scope or one more fence never allows more, so each answer settles all weaker or all
//! stronger choices. From each point that is not settled the search goes up as long as the outcome is allowed, or down as
//! long as it is forbidden, halving the steps; it then stands at a point of the frontier.

use crate::cycle::Cycle;
use crate::family;
use crate::question::CycleAnswer;
use crate::space::Pattern;
use crate::word::Link;

/// The choices of a pattern at one placement, ordered by what they promise.
pub struct Lattice<'p> {
    pattern: &'p Pattern,
    arrangement: usize,
    coordinates: Vec<Coordinate>,
}

/// One choice of a pattern.
struct Coordinate {
    place: ChoicePlace,
    /// How far apart points are that differ by one here.
    stride: usize,
    count: usize,
    /// For each value, those that promise more, weaker ones first, and those that promise less, stronger ones first.
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
    /// Of these, the next ones.
    next_above: Vec<Vec<usize>>,
    next_below: Vec<Vec<usize>>,
}

/// Where a choice is made.
#[derive(Clone, Copy)]
enum ChoicePlace {
    Access(usize),
    Link(usize),
}

/// What is known of a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PointState {
    Unknown,
    Allowed,
    Forbidden,
    /// Undefined or undecided; it says nothing about others.
    Other,
    /// No cycle: some accesses of a location have no byte in common.
    Absent,
}

/// The settled choices of a pattern at one placement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frontier {
    /// Cycles whose outcome is allowed, and would be forbidden with any stronger choice.
    pub strongest_allowed: Vec<Cycle>,
    /// Cycles whose outcome is forbidden, and would be allowed with any weaker choice.
    pub weakest_forbidden: Vec<Cycle>,
    pub allowed: u64,
    pub forbidden: u64,
    /// Undefined or undecided.
    pub other: u64,
    /// How many answers were needed.
    pub judged: u64,
}

/// Where two sides differ on a lattice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LatticeDifferences {
    /// The weakest of the cycles that one side allows and the other forbids, and how the two settle each.
    pub weakest: Vec<(Cycle, [CycleAnswer; 2])>,
    /// Cycles that are undefined or undecided on some side, which settles nothing.
    pub open: Vec<Cycle>,
    /// How many answers were needed.
    pub judged: u64,
}

/// Points of a lattice, at most: each takes a byte.
pub const MOST_POINTS: u128 = 1 << 28;

impl Coordinate {
    fn new(
        place: ChoicePlace,
        stride: usize,
        count: usize,
        includes: &dyn Fn(usize, usize) -> bool,
    ) -> Coordinate {
        let exceeds = |a: usize, b: usize| includes(a, b) && !includes(b, a);
        let rank = |a: usize| (0..count).filter(|&b| exceeds(a, b)).count();
        let of = |keeps: &dyn Fn(usize, usize) -> bool, rising: bool| -> Vec<Vec<usize>> {
            let list = |a: usize| {
                let mut all: Vec<usize> = (0..count).filter(|&b| keeps(a, b)).collect();
                all.sort_by_key(|&b| if rising { rank(b) } else { count - rank(b) });
                all
            };
            (0..count).map(list).collect()
        };
        let between = |low: usize, high: usize| {
            (0..count).any(|middle| exceeds(middle, low) && exceeds(high, middle))
        };
        Coordinate {
            place,
            stride,
            count,
            above: of(&|a, b| exceeds(b, a), true),
            below: of(&|a, b| exceeds(a, b), false),
            next_above: of(&|a, b| exceeds(b, a) && !between(a, b), true),
            next_below: of(&|a, b| exceeds(a, b) && !between(b, a), false),
        }
    }

    fn value(&self, point: usize) -> usize {
        point / self.stride % self.count
    }

    /// The point with another value here.
    fn with(&self, point: usize, value: usize) -> usize {
        point - self.value(point) * self.stride + value * self.stride
    }
}

impl<'p> Lattice<'p> {
    /// The lattice at an arrangement of the pattern; none if it has too many points.
    pub fn new(pattern: &'p Pattern, arrangement: usize) -> Option<Lattice<'p>> {
        let points = pattern.labelled() / (pattern.arrangements.len().max(1) as u128);
        if points == 0 || points > MOST_POINTS {
            return None;
        }
        let mut coordinates = Vec::new();
        let mut stride = 1;
        let mut add =
            |place: ChoicePlace, count: usize, includes: &dyn Fn(usize, usize) -> bool| {
                coordinates.push(Coordinate::new(place, stride, count, includes));
                stride *= count;
            };
        for (at, choices) in pattern.accesses.iter().enumerate() {
            let direction = pattern.shape.directions[at];
            let includes = |a: usize, b: usize| choices[a].includes(choices[b], direction);
            add(ChoicePlace::Access(at), choices.len(), &includes);
        }
        for (at, choices) in pattern.vias.iter().enumerate().filter(|(_, vias)| !vias.is_empty()) {
            add(ChoicePlace::Link(at), choices.len(), &|a, b| choices[a].includes(choices[b]));
        }
        Some(Lattice { pattern, arrangement, coordinates })
    }

    /// `MP+at-gpu`: the family, or the directions of the threads, and the placement.
    pub fn name(&self) -> String {
        let place = self.pattern.arrangements[self.arrangement].word();
        format!("{}+at-{place}", family::name(&self.pattern.shape.plain()))
    }

    /// How many cycles it has, of which no two are rotations of each other.
    pub fn count(&self) -> u128 {
        self.pattern.count_at(self.arrangement)
    }

    fn points(&self) -> usize {
        self.coordinates.iter().map(|coordinate| coordinate.count).product()
    }

    /// The cycle of a point.
    fn cycle(&self, point: usize) -> Cycle {
        let mut shape = self.pattern.shape.clone();
        let mut accesses = Vec::with_capacity(shape.len());
        for coordinate in &self.coordinates {
            let value = coordinate.value(point);
            match coordinate.place {
                ChoicePlace::Access(at) => accesses.push(self.pattern.accesses[at][value]),
                ChoicePlace::Link(at) => {
                    if let Link::Order { via, .. } = &mut shape.links[at] {
                        *via = self.pattern.vias[at][value];
                    }
                }
            }
        }
        let arrangement = self.pattern.arrangements[self.arrangement].clone();
        Cycle { shape, accesses, arrangement }
    }

    /// Settles every point with as few answers as the frontier takes.
    pub fn frontier(&self, ask: &mut dyn FnMut(&Cycle) -> CycleAnswer) -> Frontier {
        self.settled(ask).result()
    }

    /// The same, and a cycle whose own answer is not what others settled: then a stronger choice allows more on this side, and
    /// the frontier is none. At most this many cycles are judged again, spread over the lattice.
    pub fn checked_frontier(
        &self,
        ask: &mut dyn FnMut(&Cycle) -> CycleAnswer,
        checks: usize,
    ) -> (Frontier, Option<Cycle>) {
        let mut search = self.settled(ask);
        let wrong = search.contradicted(checks);
        (search.result(), wrong)
    }

    /// Where two sides differ. Each settles every point as for its frontier.
    pub fn differences(
        &self,
        sides: [&mut dyn FnMut(&Cycle) -> CycleAnswer; 2],
    ) -> LatticeDifferences {
        let [one, other] = sides.map(|ask| self.settled(ask));
        let judged = one.judged + other.judged;
        let mut found = LatticeDifferences { weakest: Vec::new(), open: Vec::new(), judged };
        let pairs: Vec<[PointState; 2]> =
            one.states.iter().zip(&other.states).map(|(&one, &other)| [one, other]).collect();
        for (point, &pair) in pairs.iter().enumerate() {
            let decided = pair.map(PointState::answer);
            if pair[0] == pair[1] && decided[0].is_some() {
                continue;
            }
            // What differs is closed under what lies between, so a weakest point has no such point next to it.
            let is_weakest = || {
                self.coordinates.iter().all(|coordinate| {
                    let next = &coordinate.next_below[coordinate.value(point)];
                    next.iter().all(|&step| pairs[coordinate.with(point, step)] != pair)
                })
            };
            let [Some(one), Some(other)] = decided else {
                let cycle = self.cycle(point);
                if self.pattern.is_listed_here(&cycle) {
                    found.open.push(cycle);
                }
                continue;
            };
            if is_weakest() {
                let cycle = self.cycle(point);
                if self.pattern.is_listed_here(&cycle) {
                    found.weakest.push((cycle, [one, other]));
                }
            }
        }
        found
    }

    fn settled<'l>(
        &'l self,
        ask: &'l mut dyn FnMut(&Cycle) -> CycleAnswer,
    ) -> FrontierSearch<'l, 'l> {
        let mut search = FrontierSearch {
            lattice: self,
            states: vec![PointState::Unknown; self.points()],
            ask,
            judged: 0,
        };
        for point in 0..search.states.len() {
            if !self.pattern.overlaps() && !self.cycle(point).overlaps() {
                search.states[point] = PointState::Absent;
            }
        }
        for point in 0..search.states.len() {
            while search.states[point] == PointState::Unknown {
                search.settle(point);
            }
        }
        search
    }
}

impl PointState {
    /// The answer that it settles.
    fn answer(self) -> Option<CycleAnswer> {
        match self {
            PointState::Allowed => Some(CycleAnswer::Allowed),
            PointState::Forbidden => Some(CycleAnswer::Forbidden),
            PointState::Unknown | PointState::Other | PointState::Absent => None,
        }
    }
}

struct FrontierSearch<'l, 'a> {
    lattice: &'l Lattice<'l>,
    states: Vec<PointState>,
    ask: &'a mut dyn FnMut(&Cycle) -> CycleAnswer,
    judged: u64,
}

impl FrontierSearch<'_, '_> {
    /// Goes from a point to the frontier.
    fn settle(&mut self, start: usize) {
        let rises = match self.judge(start) {
            PointState::Allowed => true,
            PointState::Forbidden => false,
            PointState::Unknown | PointState::Other | PointState::Absent => return,
        };
        let mut point = start;
        for coordinate in &self.lattice.coordinates {
            loop {
                let value = coordinate.value(point);
                let steps = if rises { &coordinate.above[value] } else { &coordinate.below[value] };
                let open: Vec<usize> = steps
                    .iter()
                    .map(|&step| coordinate.with(point, step))
                    .filter(|&next| self.states[next] == PointState::Unknown)
                    .collect();
                let Some(&middle) = open.get(open.len() / 2) else { break };
                let goes_on = if rises { PointState::Allowed } else { PointState::Forbidden };
                if self.judge(middle) == goes_on {
                    point = middle;
                }
            }
        }
    }

    /// Asks for the answer of a point, and settles what follows from it.
    fn judge(&mut self, point: usize) -> PointState {
        self.judged += 1;
        let cycle = self.lattice.cycle(point);
        let state = match (self.ask)(&cycle) {
            CycleAnswer::Allowed => PointState::Allowed,
            CycleAnswer::Forbidden => PointState::Forbidden,
            CycleAnswer::Stuck | CycleAnswer::Undefined(_) | CycleAnswer::Undecided(_) => {
                PointState::Other
            }
        };
        self.states[point] = state;
        // A weaker choice of an allowed one may be undefined.
        let settles = state == PointState::Forbidden
            || state == PointState::Allowed && !cycle.may_be_undefined();
        if !settles {
            return state;
        }
        // What is settled has everything that follows from it settled, too.
        let mut waiting = vec![point];
        while let Some(point) = waiting.pop() {
            for coordinate in &self.lattice.coordinates {
                let value = coordinate.value(point);
                let steps = if state == PointState::Allowed {
                    &coordinate.next_below[value]
                } else {
                    &coordinate.next_above[value]
                };
                for &step in steps {
                    let next = coordinate.with(point, step);
                    if self.states[next] == PointState::Unknown {
                        self.states[next] = state;
                        waiting.push(next);
                    }
                }
            }
        }
        state
    }

    /// Among `checks` sampled cycles, one whose own answer contradicts what others settled.
    fn contradicted(&mut self, checks: usize) -> Option<Cycle> {
        let step = self.states.len().div_ceil(checks.max(1));
        let points = (0..self.states.len()).step_by(step.max(1)).take(checks);
        for point in points {
            let Some(settled) = self.states[point].answer() else { continue };
            let cycle = self.lattice.cycle(point);
            let answer = (self.ask)(&cycle);
            let decided = matches!(answer, CycleAnswer::Allowed | CycleAnswer::Forbidden);
            if decided && answer != settled {
                return Some(cycle);
            }
        }
        None
    }

    fn result(&self) -> Frontier {
        let mut found = Frontier {
            strongest_allowed: Vec::new(),
            weakest_forbidden: Vec::new(),
            allowed: 0,
            forbidden: 0,
            other: 0,
            judged: self.judged,
        };
        for (point, &state) in self.states.iter().enumerate() {
            let (count, list) = match state {
                PointState::Allowed => (&mut found.allowed, &mut found.strongest_allowed),
                PointState::Forbidden => (&mut found.forbidden, &mut found.weakest_forbidden),
                PointState::Absent => continue,
                PointState::Unknown | PointState::Other => {
                    found.other += 1;
                    continue;
                }
            };
            *count += 1;
            let is_last = self.lattice.coordinates.iter().all(|coordinate| {
                let value = coordinate.value(point);
                let next = if state == PointState::Allowed {
                    &coordinate.next_above[value]
                } else {
                    &coordinate.next_below[value]
                };
                next.iter().all(|&step| self.states[coordinate.with(point, step)] != state)
            });
            if is_last {
                let cycle = self.lattice.cycle(point);
                if self.lattice.pattern.is_listed_here(&cycle) {
                    list.push(cycle);
                }
            }
        }
        found
    }
}
