//! Random critical cycles: what one order, one scope or one fence decides.

use std::sync::LazyLock;

use generate::access::CycleAccess;
use generate::build;
use generate::cycle::{Cycle, CycleShape};
use generate::kind::{CycleKind, shapes};
use generate::places::Arrangement;
use generate::word::{CycleAnnotation, Link, Via};
use litmus::Quantifier;
use litmus::arbitrary::RandomProgram;
use litmus::arbitrary::placed::{home, place};
use model::isa::fence::FenceOrder;
use model::scope::Scope;
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::strategy::{BoxedStrategy, Strategy};

/// The cycles of two threads and of three.
static SHAPES: LazyLock<Vec<CycleShape>> =
    LazyLock::new(|| shapes(CycleKind::Critical, 2..=3, 0..=usize::MAX));

/// Accesses of a cycle of three threads, at most.
const ACCESSES: usize = 6;

/// What is drawn for each access: a number that chooses its annotation, and one for the edge after it.
type AccessChoices = Vec<(u32, u32)>;

/// One of these by a number; half of the numbers choose the first.
fn chosen<T: Copy>(of: &[T], number: u32) -> T {
    let number = usize::try_from(number).unwrap_or(0);
    if number.is_multiple_of(2) { of[0] } else { of[number / 2 % of.len()] }
}

fn annotations() -> impl Iterator<Item = CycleAnnotation> {
    let of = |order: fn(Scope) -> CycleAnnotation| Scope::ALL.into_iter().map(order);
    let synchronizing = of(CycleAnnotation::Acquire).chain(of(CycleAnnotation::Release));
    std::iter::once(CycleAnnotation::Weak).chain(synchronizing).chain(of(CycleAnnotation::Relaxed))
}

fn cycle(shape: &CycleShape, choices: &AccessChoices) -> Option<Cycle> {
    let mut shape = shape.clone();
    let mut chosen_annotations = Vec::new();
    for (at, &(first, second)) in choices.iter().enumerate().take(shape.len()) {
        let direction = shape.directions[at];
        let fitting: Vec<CycleAnnotation> =
            annotations().filter(|one| one.fits(direction)).collect();
        chosen_annotations.push(chosen(&fitting, first));
        let next = shape.directions[(at + 1) % shape.len()];
        let vias: Vec<Via> = VIAS.into_iter().filter(|via| via.fits(direction, next)).collect();
        if let Link::Order { via, .. } = &mut shape.links[at] {
            *via = chosen(&vias, second);
        }
    }
    let arrangement = Arrangement::all(shape.threads().len(), &[Scope::Gpu]).into_iter().next()?;
    let accesses = chosen_annotations.into_iter().map(CycleAccess::from).collect();
    Some(Cycle { shape, accesses, arrangement })
}

/// What may be between two accesses of a thread.
const VIAS: [Via; 12] = [
    Via::Plain,
    Via::Fence(FenceOrder::AcqRel, Scope::Cta),
    Via::Fence(FenceOrder::AcqRel, Scope::Cluster),
    Via::Fence(FenceOrder::AcqRel, Scope::Gpu),
    Via::Fence(FenceOrder::AcqRel, Scope::Sys),
    Via::Fence(FenceOrder::Sc, Scope::Cta),
    Via::Fence(FenceOrder::Sc, Scope::Gpu),
    Via::Fence(FenceOrder::Sc, Scope::Sys),
    Via::Fence(FenceOrder::Release, Scope::Gpu),
    Via::Data,
    Via::Barrier,
    Via::ClusterBarrier,
];

/// The strategy for programs with explicit placement.
pub(super) fn cycles() -> BoxedStrategy<RandomProgram> {
    let shape = 0..SHAPES.len();
    let choices = vec((any::<u32>(), any::<u32>()), ACCESSES);
    (shape, choices, vec(place(), 3), vec(home(), 3))
        .prop_map(|(shape, choices, places, homes)| {
            let cycle =
                cycle(&SHAPES[shape], &choices).expect("two and three threads are arranged");
            let mut program = RandomProgram::of(&build::test(&cycle, Quantifier::Exists));
            for (thread, place) in program.threads.iter_mut().zip(places) {
                place.clone_into(&mut thread.placement);
            }
            for (declaration, home) in program.declarations.iter_mut().zip(homes) {
                declaration.push_str(home);
            }
            program
        })
        .boxed()
}
