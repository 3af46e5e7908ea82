//! Checks the published mapping of C++ in every context of a given size, beyond the lists.
//!
//! Each operation of two or three threads has any kind and order. The scopes include each other. The models
//! see nothing else of a scope, so one placement represents all.

use model::isa::fence::FenceOrder;
use model::program::Program;
use model::scope::{Placement, Scope};

use super::language::{CXX, PTX};
use super::mapping;
use super::program::{NumberedStep, Width, program};
use super::refiner::{EngineRun, Refiner};
use super::step::{AccessKind, AccessOrder, Step, TestLocation, line};

/// The locations of a program's operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProgramPattern {
    /// Two threads at two locations, each with an optional fence between its operations.
    Pair,
    /// Two threads at two locations, and a read-modify-write between them.
    Link,
    /// Three threads in a cycle through three locations: six operations.
    Cycle,
}

const KINDS: &[(AccessKind, AccessOrder)] = &[
    (AccessKind::Load, AccessOrder::Relaxed),
    (AccessKind::Load, AccessOrder::Acquire),
    (AccessKind::Load, AccessOrder::SeqCst),
    (AccessKind::Store, AccessOrder::Relaxed),
    (AccessKind::Store, AccessOrder::Release),
    (AccessKind::Store, AccessOrder::SeqCst),
    (AccessKind::Swap, AccessOrder::Relaxed),
    (AccessKind::Swap, AccessOrder::Acquire),
    (AccessKind::Swap, AccessOrder::Release),
    (AccessKind::Swap, AccessOrder::AcqRel),
    (AccessKind::Swap, AccessOrder::SeqCst),
];

/// The index of the first read-modify-write.
const SWAPS: usize = 6;

const FENCES: &[Option<FenceOrder>] = &[
    None,
    Some(FenceOrder::Acquire),
    Some(FenceOrder::Release),
    Some(FenceOrder::AcqRel),
    Some(FenceOrder::Sc),
];

/// A number that is decomposed digit by digit.
struct Digits(usize);

impl Digits {
    fn next(&mut self, base: usize) -> usize {
        let digit = self.0 % base;
        self.0 /= base;
        digit
    }

    fn access(&mut self, at: TestLocation) -> Step {
        let (act, order) = KINDS[self.next(KINDS.len())];
        Step::access(act, at, order, Scope::Gpu)
    }
}

impl ProgramPattern {
    pub const ALL: [ProgramPattern; 3] =
        [ProgramPattern::Pair, ProgramPattern::Link, ProgramPattern::Cycle];

    /// The number of programs.
    pub fn count(self) -> usize {
        let kinds = KINDS.len();
        match self {
            ProgramPattern::Pair => kinds.pow(4) * FENCES.len().pow(2) * 4,
            ProgramPattern::Link => kinds.pow(4) * (kinds - SWAPS) * 4,
            ProgramPattern::Cycle => kinds.pow(6) * 2,
        }
    }

    /// The program with this number.
    pub fn threads(self, number: usize) -> Vec<Vec<Step>> {
        let mut digits = Digits(number);
        let two = |digits: &mut Digits, [first, second]: [TestLocation; 2]| {
            vec![digits.access(first), digits.access(second)]
        };
        match self {
            ProgramPattern::Pair => {
                // The second thread visits the locations in the same order or in the opposite one.
                let mut threads = Vec::new();
                for _ in 0..2 {
                    let back = digits.next(2) == 1;
                    let places = if back {
                        [TestLocation::Y, TestLocation::X]
                    } else {
                        [TestLocation::X, TestLocation::Y]
                    };
                    let mut thread = two(&mut digits, places);
                    if let Some(order) = FENCES[digits.next(FENCES.len())] {
                        thread.insert(1, Step::Fence { order, scope: Scope::Gpu });
                    }
                    threads.push(thread);
                }
                threads
            }
            ProgramPattern::Link => {
                let there =
                    [[TestLocation::X, TestLocation::Y], [TestLocation::Y, TestLocation::X]];
                let first = there[digits.next(2)];
                let last = there[digits.next(2)];
                let (act, order) = KINDS[SWAPS + digits.next(KINDS.len() - SWAPS)];
                let link = Step::access(act, TestLocation::Y, order, Scope::Gpu);
                vec![two(&mut digits, first), vec![link], two(&mut digits, last)]
            }
            ProgramPattern::Cycle => {
                let back = digits.next(2) == 1;
                let cycle = [
                    [TestLocation::X, TestLocation::Y],
                    [TestLocation::Y, TestLocation::Z],
                    [TestLocation::Z, TestLocation::X],
                ];
                let places = cycle.map(|[a, b]| if back { [b, a] } else { [a, b] });
                places.map(|places| two(&mut digits, places)).to_vec()
            }
        }
    }
}

/// Judges `budget` programs of a shape, spread over all of them. Returns, as text, each program in which the
/// mapping adds an outcome. `Err`: an engine did not finish.
pub fn judge(
    refiner: Refiner<'_>,
    shape: ProgramPattern,
    budget: usize,
) -> Result<Vec<String>, &'static str> {
    // The stride divides the count of no shape, so that every number occurs.
    const STRIDE: usize = 7_368_787;
    let count = shape.count();
    let mut added = Vec::new();
    for index in 0..budget.min(count) {
        let threads = shape.threads(index * STRIDE % count);
        if !is_kept(refiner, &threads)? {
            let text: Vec<String> = threads.iter().map(|thread| line(thread)).collect();
            added.push(text.join(" || "));
        }
    }
    Ok(added)
}

/// Whether the mapping adds no outcome to these threads.
pub fn is_kept(refiner: Refiner<'_>, threads: &[Vec<Step>]) -> Result<bool, &'static str> {
    let source = of(threads, |step| vec![step]);
    let target = of(threads, mapping::to_ptx);
    let run = |language, program| {
        let model = refiner.model(language, false);
        refiner.allowed(&EngineRun { model, program, masks: Vec::new() })
    };
    let allowed = run(CXX, &source)?;
    // An undefined program has nothing to preserve. Programs of atomics alone are never undefined.
    if allowed.undefined {
        return Ok(true);
    }
    let found = run(PTX, &target)?;
    Ok(!found.undefined && found.outcomes.is_subset(&allowed.outcomes))
}

/// The program. Each store has its own value on both sides.
fn of(threads: &[Vec<Step>], mapped: impl Fn(Step) -> Vec<Step>) -> Program {
    let mut value = 0;
    let numbered: Vec<Vec<NumberedStep>> = threads
        .iter()
        .map(|thread| {
            let steps = thread.iter().flat_map(|&step| {
                value += 1;
                mapped(step).into_iter().map(move |step| NumberedStep {
                    step,
                    value,
                    expects: 0,
                    row: None,
                })
            });
            steps.collect()
        })
        .collect();
    let cta = |cta| Placement { cluster: Some(cta), cta, ..Placement::default() };
    let placements: Vec<Placement> = (0..).take(threads.len()).map(cta).collect();
    program(&numbered, &placements, Width::Word)
}
