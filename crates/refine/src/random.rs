//! Random contexts, which the lists of [`super::context`] do not have: they attack each preserved target of which
//! no weaker form is preserved, and confirm that these weaker forms are weaker.
//!
//! A context is written as two litmus tests, in C++ and as its published mapping to PTX. A pair is a row in a
//! context. The same seed gives the same pairs.

use std::collections::{BTreeMap, BTreeSet};

use litmus::print::TestText;
use model::isa::cxx::Failure;
use model::isa::fence::FenceOrder;
use model::program::{Observed, Program};
use model::scope::{Placement, Scope};
use model::value::Value;

use super::context::{PartnerScope, at};
use super::inclusion::{Judge, Question};
use super::judgement::Answer;
use super::language::{CXX, PTX, SourceId};
use super::mapping;
use super::program::Width;
use super::refiner::{Blame, ContextResult, EngineRun, Refiner};
use super::step::{AccessKind, AccessOrder, Step, TestLocation, line};
use super::weaken::{forms, weakenings};
use super::witness::WitnessAccess;

/// A source and a target of one row.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct StepPair {
    pub source: Step,
    pub target: Vec<Step>,
}

/// Targets at the border between preserved and weaker, by the contexts of the lists.
#[derive(Debug, Default)]
pub struct BorderTargets {
    /// Preserved, and no weaker form is.
    pub preserved: Vec<StepPair>,
    /// The next weaker forms of these.
    pub weaker: Vec<StepPair>,
}

impl BorderTargets {
    /// The border of each operation of C++ and LLVM in these scopes.
    pub fn new(refiner: Refiner<'_>, scopes: &[Scope]) -> BorderTargets {
        let mut judge = Judge::new(Refiner { tearing: false, ..refiner });
        let mut border = BorderTargets::default();
        for source in operations(scopes) {
            let mut preserved = BTreeSet::new();
            let mut is_preserved = |target: &Vec<Step>| {
                let within = source.scope().unwrap_or(Scope::Sys);
                let question = Question {
                    language: CXX,
                    source: vec![source],
                    target: target.clone(),
                    width: Width::Word,
                    reach: PartnerScope { within, alone: false },
                    machine: None,
                };
                matches!(judge.judge(&question), Answer::Included(_))
            };
            let all: Vec<Vec<Step>> =
                candidates(source).into_iter().filter(|target| is_preserved(target)).collect();
            let mut weaker = BTreeSet::new();
            for target in all {
                let next = weakenings(&target, forms(true));
                if next.iter().any(&mut is_preserved) {
                    continue;
                }
                weaker.extend(next);
                preserved.insert(target);
            }
            judge.forget();
            let pair = |target| StepPair { source, target };
            border.preserved.extend(preserved.into_iter().map(pair));
            border.weaker.extend(weaker.into_iter().map(pair));
        }
        border
    }
}

/// Each operation, in each of these scopes.
fn operations(scopes: &[Scope]) -> Vec<Step> {
    use AccessOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst, Unordered, Weak};
    let cas = AccessKind::CompareExchange(Some(Failure::Relaxed));
    let kinds: [(AccessKind, &[AccessOrder]); 4] = [
        (AccessKind::Load, &[Weak, Unordered, Relaxed, Acquire, SeqCst]),
        (AccessKind::Store, &[Weak, Unordered, Relaxed, Release, SeqCst]),
        (AccessKind::Swap, &[Relaxed, Acquire, Release, AcqRel, SeqCst]),
        (cas, &[Relaxed, Acquire, Release, AcqRel, SeqCst]),
    ];
    let mut all = BTreeSet::new();
    for &scope in scopes {
        for (act, orders) in kinds {
            all.extend(
                orders.iter().map(|&order| Step::access(act, TestLocation::Y, order, scope)),
            );
        }
        let fences = [FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::Sc];
        all.extend(fences.map(|order| Step::Fence { order, scope }));
    }
    all.into_iter().collect()
}

/// Targets that may implement an operation: its instruction in each order, with and without a fence on each side.
fn candidates(source: Step) -> Vec<Vec<Step>> {
    let Some(scope) = source.scope() else { return vec![vec![source]] };
    let fence = |order| Step::Fence { order, scope };
    let Step::Access { act, at, .. } = source else {
        return vec![vec![fence(FenceOrder::AcqRel)], vec![fence(FenceOrder::Sc)]];
    };
    let orders: &[AccessOrder] = match act {
        AccessKind::Load => &[AccessOrder::Weak, AccessOrder::Relaxed, AccessOrder::Acquire],
        AccessKind::Store => &[AccessOrder::Weak, AccessOrder::Relaxed, AccessOrder::Release],
        AccessKind::Swap
        | AccessKind::Overwrite
        | AccessKind::Reduce
        | AccessKind::CompareExchange(_)
        | AccessKind::Probe => {
            &[AccessOrder::Relaxed, AccessOrder::Acquire, AccessOrder::Release, AccessOrder::AcqRel]
        }
    };
    let act = if matches!(act, AccessKind::CompareExchange(_)) {
        AccessKind::CompareExchange(None)
    } else {
        act
    };
    let sides = [None, Some(fence(FenceOrder::AcqRel)), Some(fence(FenceOrder::Sc))];
    let mut all = Vec::new();
    for before in sides {
        for &order in orders {
            for after in sides {
                let access = Step::access(act, at, order, scope);
                all.push(before.into_iter().chain([access]).chain(after).collect());
            }
        }
    }
    all
}

/// Numbers from a seed: splitmix64.
pub(crate) struct RandomNumbers(u64);

impl RandomNumbers {
    pub(crate) fn new(seed: u64) -> RandomNumbers {
        RandomNumbers(seed)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let end = u64::try_from(end).expect("a number of 64 bits");
        usize::try_from((bits ^ (bits >> 31)) % end).expect("less than the end")
    }

    pub(crate) fn one_in(&mut self, number: usize) -> bool {
        self.below(number) == 0
    }

    pub(crate) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// An operation of a random context.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RandomOp {
    /// The row.
    Hole,
    Access {
        act: AccessKind,
        at: TestLocation,
        order: AccessOrder,
        /// What it writes, unless it writes what the thread read last, and what a compare-exchange expects.
        value: u8,
        depends: bool,
        expects: u8,
        /// Whether its scope is wider than it needs to be.
        wide: bool,
    },
    Fence(FenceOrder, bool),
    /// Ends the thread if it last read 0.
    Guard,
    /// A loop that reads until it does not read 0.
    Wait(TestLocation, bool),
    Barrier,
    ClusterBarrier,
}

/// Threads around a row, which is in the first.
#[derive(Clone, Debug)]
struct RandomContext {
    threads: Vec<Vec<RandomOp>>,
    placements: Vec<Placement>,
}

const PLACES: [Placement; 6] =
    [at(0, 0, 0), at(0, 0, 0), at(0, 0, 1), at(0, 1, 2), at(0, 1, 2), at(1, 2, 3)];

impl RandomContext {
    /// A context in which the threads are near enough for a row of this scope, if there is such a thread.
    fn new(numbers: &mut RandomNumbers, row: Step) -> RandomContext {
        let within = row.scope();
        let threads = 2 + numbers.of(&[0, 0, 0, 1, 1, 1, 2]);
        let within = within.unwrap_or(Scope::Sys);
        let near: Vec<Placement> =
            PLACES.into_iter().filter(|&place| within.includes(PLACES[0], place)).collect();
        let mut placements = vec![PLACES[0]];
        while placements.len() < threads {
            // A thread out of the scope may only be a link. The farthest ones in it need the whole scope.
            let place = match numbers.below(4) {
                0 if placements.len() > 1 => numbers.of(&PLACES),
                0 | 1 => numbers.of(&near),
                _ => near[near.len() - 1],
            };
            placements.push(place);
        }
        if numbers.one_in(2) {
            return RandomContext::cycle(numbers, &placements, row);
        }
        let mut value = 0;
        let (before, after) = (numbers.below(3), numbers.below(3));
        let mut all = Vec::new();
        for thread in 0..threads {
            let mut ops = Vec::new();
            let length = if thread == 0 { before + after } else { 1 + numbers.below(3) };
            for index in 0..length {
                if thread == 0 && index == before {
                    ops.push(RandomOp::Hole);
                }
                value += 1;
                ops.push(RandomOp::new(numbers, value));
            }
            if thread == 0 && !ops.contains(&RandomOp::Hole) {
                ops.push(RandomOp::Hole);
            }
            all.push(ops);
        }
        let mut context = RandomContext { threads: all, placements };
        context.meet(numbers);
        context
    }

    /// Threads that access one location after another in a cycle, through the row's: each may have a fence or a guard
    /// in between.
    fn cycle(numbers: &mut RandomNumbers, placements: &[Placement], row: Step) -> RandomContext {
        let count = placements.len().min(3);
        let mut value = 0;
        let mut access = |numbers: &mut RandomNumbers, at, thread: usize| {
            value += 1;
            let op = RandomOp::access(numbers, at, value);
            // The row and the partners order the cycle; a strong access beside the row would hide what the row lacks.
            if numbers.one_in(4) { op } else { op.ordered(numbers, thread > 0) }
        };
        // From one thread to the next leads a location; the row's is the first one before or after the row.
        let mut links = [TestLocation::Y, TestLocation::X, TestLocation::Z];
        links[..count].rotate_left(numbers.below(2));
        if numbers.one_in(4) {
            links = [TestLocation::Y; 3];
        }
        let mut threads = Vec::new();
        for thread in 0..count {
            let (from, to) = (links[(thread + count - 1) % count], links[thread]);
            let mut ops = Vec::new();
            let own = thread == 0 && !matches!(row, Step::Fence { .. });
            for at in [from, to] {
                let hole = own && at == TestLocation::Y && !ops.contains(&RandomOp::Hole);
                ops.push(if hole { RandomOp::Hole } else { access(numbers, at, thread) });
            }
            if thread == 0 && !own {
                ops.insert(1, RandomOp::Hole);
            } else if thread > 0 {
                match numbers.below(4) {
                    0 => ops.insert(1, RandomOp::Fence(FenceOrder::Sc, false)),
                    1 => ops.insert(1, RandomOp::Guard),
                    _ => {}
                }
            }
            threads.push(ops);
        }
        RandomContext { threads, placements: placements[..count].to_vec() }
    }

    /// Puts a barrier into all threads of the first one's CTA or cluster, sometimes.
    fn meet(&mut self, numbers: &mut RandomNumbers) {
        if !numbers.one_in(5) {
            return;
        }
        let cluster = numbers.one_in(2);
        let (scope, op) = if cluster {
            (Scope::Cluster, RandomOp::ClusterBarrier)
        } else {
            (Scope::Cta, RandomOp::Barrier)
        };
        let first = self.placements[0];
        for (thread, &placement) in self.threads.iter_mut().zip(&self.placements) {
            if scope.includes(first, placement) {
                thread.insert(numbers.below(thread.len() + 1), op);
            }
        }
    }

    /// The narrowest scope that includes all threads that access a location.
    fn scope(&self, at: TestLocation) -> Scope {
        let there = self.threads.iter().zip(&self.placements).filter(|(ops, _)| {
            ops.iter().any(|op| match *op {
                RandomOp::Hole => at == TestLocation::Y,
                RandomOp::Access { at: own, .. } | RandomOp::Wait(own, _) => own == at,
                RandomOp::Fence(..)
                | RandomOp::Guard
                | RandomOp::Barrier
                | RandomOp::ClusterBarrier => false,
            })
        });
        Scope::narrowest(&there.map(|(_, &placement)| placement).collect::<Vec<_>>())
    }

    /// A side of a row in the context as a test without a condition.
    fn test(&self, language: SourceId, row: &[Step]) -> Option<TestText> {
        let mut test = TestText::new(language.name(), "random");
        test.declare(TestLocation::ALL.map(|place| format!("uint32_t {}=0", place.name())));
        let mut columns = Vec::new();
        let mut observed: Vec<String> =
            TestLocation::ALL.iter().map(|place| place.name().to_owned()).collect();
        for (thread, ops) in self.threads.iter().enumerate() {
            let placement = self.placements[thread];
            let mut column = RandomColumn::new(language);
            for &op in ops {
                self.cells(&mut column, thread, op, row)?;
            }
            if column.ends {
                column.cells.push("E:".to_owned());
            }
            observed.extend(column.reads.iter().map(|read| format!("P{thread}:{read}")));
            let mut cells = vec![format!("P{thread}@{placement}")];
            cells.append(&mut column.cells);
            columns.push(cells);
        }
        test.columns(&columns);
        test.locations(observed);
        Some(test)
    }

    /// Adds an operation to a column.
    fn cells(
        &self,
        column: &mut RandomColumn,
        thread: usize,
        op: RandomOp,
        row: &[Step],
    ) -> Option<()> {
        let scope = |at, wide: bool| if wide { Scope::Sys } else { self.scope(at) };
        match op {
            RandomOp::Hole => {
                for &step in row {
                    // No other store of the program has this value.
                    column.step(step, "q", &["90".to_owned(), "0".to_owned()])?;
                }
            }
            RandomOp::Access { act, at, order, value, depends, expects, wide } => {
                let step = Step::access(act, at, order, scope(at, wide));
                let last = column.reads.last().filter(|_| depends);
                let value = last.cloned().unwrap_or_else(|| value.to_string());
                for step in column.lowered(step) {
                    column.step(step, "r", &[value.clone(), expects.to_string()])?;
                }
            }
            RandomOp::Fence(order, wide) => {
                let places = self.threads[thread].iter().filter_map(|op| match *op {
                    RandomOp::Hole => Some(TestLocation::Y),
                    RandomOp::Access { at, .. } | RandomOp::Wait(at, _) => Some(at),
                    RandomOp::Fence(..)
                    | RandomOp::Guard
                    | RandomOp::Barrier
                    | RandomOp::ClusterBarrier => None,
                });
                let scope = places.map(|at| scope(at, wide)).max().unwrap_or(Scope::Sys);
                for step in column.lowered(Step::Fence { order, scope }) {
                    column.step(step, "r", &[String::new(), String::new()])?;
                }
            }
            RandomOp::Guard => {
                // Nothing to test: the thread has not read.
                let Some(last) = column.reads.last().cloned() else { return Some(()) };
                let predicate = column.predicate();
                column.cells.push(format!("setp.eq.u32 {predicate}, {last}, 0"));
                column.cells.push(format!("@{predicate} bra E"));
                column.ends = true;
            }
            RandomOp::Wait(at, acquires) => {
                let order = if acquires { AccessOrder::Acquire } else { AccessOrder::Relaxed };
                let (begin, predicate) = (column.cells.len(), column.predicate());
                let step = Step::access(AccessKind::Load, at, order, self.scope(at));
                column.step(step, "r", &[String::new(), String::new()])?;
                let last = column.reads.last()?.clone();
                column.cells[begin].insert_str(0, &format!("L{begin}: "));
                column.cells.push(format!("setp.eq.u32 {predicate}, {last}, 0"));
                column.cells.push(format!("@{predicate} bra L{begin}"));
            }
            RandomOp::Barrier => column.cells.push("bar.sync 0".to_owned()),
            RandomOp::ClusterBarrier => {
                column.cells.push("barrier.cluster.arrive".to_owned());
                column.cells.push("barrier.cluster.wait".to_owned());
            }
        }
        Some(())
    }
}

impl RandomOp {
    fn new(numbers: &mut RandomNumbers, value: u8) -> RandomOp {
        let at = numbers.of(&[TestLocation::X, TestLocation::Y, TestLocation::Y, TestLocation::Z]);
        match numbers.below(16) {
            0 | 1 => {
                let orders =
                    [FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::Sc];
                return RandomOp::Fence(numbers.of(&orders), numbers.one_in(4));
            }
            2 => return RandomOp::Guard,
            3 => return RandomOp::Wait(at, numbers.one_in(2)),
            _ => {}
        }
        RandomOp::access(numbers, at, value)
    }

    /// The same access, relaxed or as strong as it can be.
    fn ordered(self, numbers: &mut RandomNumbers, strong: bool) -> RandomOp {
        use AccessOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        let RandomOp::Access { act, at, value, depends, expects, wide, .. } = self else {
            return self;
        };
        let most = match act {
            AccessKind::Load => Acquire,
            AccessKind::Store => Release,
            AccessKind::Swap
            | AccessKind::Overwrite
            | AccessKind::Reduce
            | AccessKind::CompareExchange(_)
            | AccessKind::Probe => AcqRel,
        };
        let order = if strong { [most, SeqCst] } else { [Relaxed, SeqCst] };
        let order = numbers.of(&order);
        RandomOp::Access { act, at, order, value, depends, expects, wide }
    }

    fn access(numbers: &mut RandomNumbers, at: TestLocation, value: u8) -> RandomOp {
        use AccessOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst, Unordered, Weak};
        let cas = AccessKind::CompareExchange(None);
        let act = numbers.of(&[
            AccessKind::Load,
            AccessKind::Load,
            AccessKind::Load,
            AccessKind::Store,
            AccessKind::Store,
            AccessKind::Store,
            AccessKind::Swap,
            cas,
        ]);
        let order =
            match act {
                AccessKind::Load => numbers
                    .of(&[Weak, Unordered, Relaxed, Relaxed, Acquire, Acquire, SeqCst, SeqCst]),
                AccessKind::Store => numbers
                    .of(&[Weak, Unordered, Relaxed, Relaxed, Release, Release, SeqCst, SeqCst]),
                AccessKind::Swap
                | AccessKind::Overwrite
                | AccessKind::Reduce
                | AccessKind::CompareExchange(_)
                | AccessKind::Probe => numbers.of(&[Relaxed, Acquire, Release, AcqRel, SeqCst]),
            };
        // Values of other stores are below 16, and 90 is the row's.
        let expects = numbers.of(&[0, 0, 90, 1, 2, 3]);
        let (depends, wide) = (numbers.one_in(5), numbers.one_in(4));
        RandomOp::Access { act, at, order, value, depends, expects, wide }
    }
}

/// A column of a test.
struct RandomColumn {
    language: SourceId,
    cells: Vec<String>,
    /// Registers that hold what was read.
    reads: Vec<String>,
    predicates: usize,
    /// Whether a branch leads to the end.
    ends: bool,
}

impl RandomColumn {
    fn new(language: SourceId) -> RandomColumn {
        RandomColumn { language, cells: Vec::new(), reads: Vec::new(), predicates: 0, ends: false }
    }

    fn predicate(&mut self) -> String {
        self.predicates += 1;
        format!("p{}", self.predicates)
    }

    /// A step of the context in the column's language.
    fn lowered(&self, step: Step) -> Vec<Step> {
        if self.language == PTX { mapping::to_ptx(step) } else { vec![step] }
    }

    /// Adds a step with its value and what it expects.
    fn step(&mut self, step: Step, register: &str, [value, expects]: &[String; 2]) -> Option<()> {
        let text = match step {
            Step::Access { act, at, order, scope } => {
                let destination = act.shows().then(|| {
                    self.reads.push(format!("{register}{}", self.reads.len()));
                    format!("{register}{}, ", self.reads.len() - 1)
                });
                let access = WitnessAccess {
                    act,
                    at: at.name(),
                    bits: 32,
                    order,
                    scope,
                    destination,
                    value: value.clone(),
                    expects: expects.clone(),
                };
                self.language.access(&access)?
            }
            Step::Fence { order, scope } => self.language.fence(order, scope),
            Step::Barrier { .. } | Step::ClusterArrive { .. } | Step::ClusterWait | Step::Guard => {
                return None;
            }
        };
        self.cells.push(text);
        Some(())
    }
}

/// A preserved target that adds an outcome in a context.
#[derive(Clone, Debug)]
pub struct RowDisagreement {
    pub row: String,
    /// Tests of the two sides, of which the second allows what the first forbids.
    pub forbidden: String,
    pub allowed: String,
}

/// What the random contexts found.
#[derive(Debug, Default)]
pub struct RandomReport {
    /// Pairs of a context and a row.
    pub pairs: usize,
    /// Of these: in C++ the context has no meaning with the row.
    pub undefined: usize,
    /// An engine reached a limit.
    pub undecided: usize,
    /// The published mapping of the row adds an outcome too, or only dependencies forbid it.
    pub withdrawn: usize,
    /// The weaker targets, by their index, that some context refuted, with the first such context.
    pub confirmed: BTreeMap<usize, RowDisagreement>,
    /// Preserved targets that some context refuted: the lists lack it.
    pub disagreements: Vec<RowDisagreement>,
    /// Contexts in which the published mapping of the row itself adds an outcome. Reading R81 withdraws them for
    /// other targets.
    pub mapping: Vec<RowDisagreement>,
}

/// Judges pairs of a random context and a random target of the border.
pub fn judge(
    refiner: Refiner<'_>,
    border: &BorderTargets,
    seed: u64,
    pairs: usize,
) -> RandomReport {
    let refiner = Refiner { tearing: false, ..refiner };
    let mut numbers = RandomNumbers::new(seed);
    let mut report = RandomReport::default();
    // Alternately, so that the few targets of one kind are not hidden among many of the other.
    while report.pairs < pairs {
        let weaker = report.pairs % 2 == 1 && !border.weaker.is_empty();
        let all = if weaker { &border.weaker } else { &border.preserved };
        let index = numbers.below(all.len());
        let pair = &all[index];
        let context = RandomContext::new(&mut numbers, pair.source);
        report.pairs += 1;
        match asked(refiner, &context, pair) {
            PairResult::Nothing => {}
            PairResult::Undefined => report.undefined += 1,
            PairResult::Undecided => report.undecided += 1,
            PairResult::Withdrawn => report.withdrawn += 1,
            PairResult::Added(found) if weaker => {
                report.confirmed.entry(index).or_insert(*found);
            }
            PairResult::Added(found) => report.disagreements.push(*found),
            PairResult::OfMapping(found) => report.mapping.push(*found),
        }
    }
    report
}

enum PairResult {
    Nothing,
    Undefined,
    Undecided,
    Withdrawn,
    Added(Box<RowDisagreement>),
    /// The same of the published mapping.
    OfMapping(Box<RowDisagreement>),
}

fn program(text: &TestText) -> Program {
    let mut text = text.clone();
    text.end("exists (x=0)".to_owned());
    let text = text.to_string();
    let parsed = litmus::parse("random", text.as_bytes());
    parsed
        .unwrap_or_else(|errors| panic!("a random context does not parse: {}\n{text}", errors[0]))
        .program
}

fn asked(refiner: Refiner<'_>, context: &RandomContext, pair: &StepPair) -> PairResult {
    let StepPair { source, target } = pair;
    let texts = (context.test(CXX, &[*source]), context.test(PTX, target));
    let (Some(from), Some(to)) = texts else { return PairResult::Nothing };
    let (source_program, target_program) = (program(&from), program(&to));
    let source_run = run(refiner, CXX, &source_program);
    let allowed = match refiner.allowed(&source_run) {
        Ok(allowed) if allowed.undefined => return PairResult::Undefined,
        Ok(allowed) => allowed,
        Err(_) => return PairResult::Undecided,
    };
    assert_eq!(
        terms(&source_program),
        terms(&target_program),
        "outcomes of both sides are compared"
    );
    let ask = |program: &Program| {
        refiner.compare(&allowed, Some(&source_run), &run(refiner, PTX, program))
    };
    let outcome = match ask(&target_program) {
        ContextResult::Extra { outcome, .. } => outcome,
        ContextResult::Undecided(_) => return PairResult::Undecided,
        // The context does not fit the target: a barrier that threads leave out is as undefined in C++.
        ContextResult::Nothing
        | ContextResult::SourceUndefined
        | ContextResult::Absent
        | ContextResult::Withdrawn
        | ContextResult::Faults(_)
        | ContextResult::TargetUndefined(_) => return PairResult::Nothing,
    };
    let mapped = mapping::to_ptx(*source);
    if mapped != *target {
        let Some(base) = context.test(PTX, &mapped) else { return PairResult::Nothing };
        if matches!(ask(&program(&base)), ContextResult::Extra { .. }) {
            return PairResult::Withdrawn;
        }
    }
    let syntactic = CXX.syntactic_axiom().map(|axiom| Blame::Axioms(vec![axiom.to_owned()]));
    if syntactic == Some(refiner.blame(&source_run, &outcome)) {
        return PairResult::Withdrawn;
    }
    let ended = |text: &TestText, program: &Program, quantifier: &str| {
        let mut text = text.clone();
        text.end(format!("{quantifier} ({})", condition(program, &outcome)));
        text.to_string()
    };
    let found = Box::new(RowDisagreement {
        row: format!("{source} became {}", line(target)),
        forbidden: ended(&from, &source_program, "~exists"),
        allowed: ended(&to, &target_program, "exists"),
    });
    if mapped == *target { PairResult::OfMapping(found) } else { PairResult::Added(found) }
}

fn run<'p>(refiner: Refiner<'p>, language: SourceId, program: &'p Program) -> EngineRun<'p> {
    EngineRun { model: refiner.model(language, false), program, masks: Vec::new() }
}

/// What a program observes, as terms of a test.
fn terms(program: &Program) -> Vec<String> {
    let term = |observed: &Observed| match *observed {
        Observed::Register { thread, register } => {
            let registers = &program.threads[usize::from(thread.0)].registers;
            format!("P{}:{}", thread.0, registers[usize::from(register.0)].name)
        }
        Observed::Memory { variable, .. } => {
            program.variables[usize::from(variable.0)].name.clone()
        }
    };
    program.observed.iter().map(term).collect()
}

/// An outcome as the condition of a test.
fn condition(program: &Program, outcome: &[Value]) -> String {
    let terms = terms(program);
    let terms: BTreeSet<String> =
        terms.iter().zip(outcome).map(|(term, value)| format!("{term}={value}")).collect();
    terms.into_iter().collect::<Vec<_>>().join(" /\\ ")
}
