//! Laws of generated tests: their number, their text, and their verdicts.

use std::collections::BTreeSet;

use engine::{ENGINES, Limits};
use generate::access::{AccessForm, CycleAccess};
use generate::build;
use generate::cycle::Cycle;
use generate::difference::{Difference, DifferenceSearch, FoundDifferences, SearchEnd};
use generate::frontier::Lattice;
use generate::kind::CycleKind;
use generate::notation;
use generate::question::{CycleAnswer, ask};
use generate::space::{CycleSpace, Pattern, Ranges};
use generate::word::{Communication, CycleAnnotation, Link, Via};
use litmus::{Quantifier, print};
use model::ablation::ablations;
use model::isa::fence::FenceOrder;
use model::ptx;
use model::reading::Readings;
use model::rel::Model;
use model::scope::Scope;

mod counts;

const SC: Via = Via::Fence(FenceOrder::Sc, Scope::Sys);

fn ranges(annotations: &[CycleAnnotation], vias: &[Via], distances: &[Scope]) -> Ranges {
    Ranges {
        annotations: annotations.to_vec(),
        forms: vec![AccessForm::Word],
        vias: vias.to_vec(),
        distances: distances.to_vec(),
    }
}

/// The same with these forms of accesses.
fn with_forms(ranges: Ranges, forms: &[AccessForm]) -> Ranges {
    Ranges { forms: forms.to_vec(), ..ranges }
}

/// Everything that there is.
fn everything() -> Ranges {
    let all = ranges(
        &CycleAnnotation::all().collect::<Vec<_>>(),
        &Via::all().collect::<Vec<_>>(),
        &Scope::ALL,
    );
    with_forms(all, &AccessForm::all().collect::<Vec<_>>())
}

fn answer(cycle: &Cycle) -> CycleAnswer {
    answer_of(cycle, &ptx::model())
}

fn answer_of(cycle: &Cycle, model: &Model) -> CycleAnswer {
    ask(cycle, model, ENGINES[0], &Limits::unlimited(2))
}

/// A mixture of all that there is, the same each time: most accesses have 32 bits.
fn mixture(count: usize) -> Vec<Cycle> {
    let words = with_forms(everything(), &[AccessForm::Word]);
    let mut all = CycleSpace::critical(2..=3, 4..=6, &words).sample(count, 7);
    all.extend(CycleSpace::critical(2..=3, 4..=6, &everything()).sample(count / 2 + 1, 17));
    for (name, _) in generate::family::FAMILIES {
        let written = notation::read(name).expect("a family");
        let space = CycleSpace { patterns: vec![Pattern::of(&written, &words)] };
        all.extend(space.sample(count / 50 + 1, 11));
    }
    for text in [
        "PodWR Fre PodWW Rfi PodRR Fre",
        "Rfi PodRR Fre Rfi PodRR Fre",
        "PodWW Coi PodWW Rfe PodRR Fre",
        "DpAddrdR Fri Coe PodWW Rfe",
        "PosRW Rfe PosRW Rfe",
        "PodWW Rfe Rmw Rfe PodRR Fre",
        "PodWR Rmw Rfe PodRW Coe",
        "InvRmw Fre Coe",
        "InvRmw Fre Rfe PosRR Fre",
        "PosWW PosWR InvRfe PosWW Rfe PosRR InvRfe",
        "Rfe Rmw PodWR Fre PodWR Fre",
        "PodWW PosWR PodRW Rfe DpCtrldW PodWR Fre",
    ] {
        let written = notation::read(text).expect("a cycle");
        let space = CycleSpace { patterns: vec![Pattern::of(&written, &words)] };
        all.extend(space.sample(count / 50 + 1, 13));
    }
    all
}

#[test]
fn a_test_parses_back_as_it_was_built() {
    let (mut vias, mut forms) = (BTreeSet::new(), BTreeSet::new());
    for cycle in mixture(600) {
        forms.extend(cycle.accesses.iter().map(|access| access.form));
        vias.extend(cycle.shape.links.iter().filter_map(|link| match link {
            Link::Order { via, .. } => Some(*via),
            Link::Communicates { .. } | Link::Rmw | Link::InvRmw => None,
        }));
        let built = build::test(&cycle, Quantifier::Exists);
        let printed = print::print(&built);
        let read = litmus::parse("generated", printed.as_bytes()).unwrap_or_else(|errors| {
            panic!("{printed}\n{}", errors[0]);
        });
        assert!(read.is_same(&built), "{printed}\n{read:#?}\n{built:#?}");
        assert_eq!(read.line_numbers, built.line_numbers);
        assert_eq!(read.condition_line, built.condition_line);
    }
    assert_eq!(vias.len(), Via::all().count());
    assert_eq!(forms.len(), AccessForm::all().count());
}

#[test]
fn the_words_of_a_cycle_are_the_cycle() {
    for cycle in mixture(400) {
        let written = notation::read(&cycle.words()).expect("its words are a cycle");
        let only_weak = ranges(&[CycleAnnotation::Weak], &[Via::Plain], &[]);
        let pattern = Pattern::of(&written, &only_weak);
        assert_eq!(pattern.labelled(), 1, "{}", cycle.words());
        assert_eq!(pattern.cycle(0).canonical(), cycle.canonical());
        assert_eq!(pattern.cycle(0).canonical().name(), cycle.canonical().name());
    }
}

/// Names are read back. They leave out where several locations are, so those of one shape may be the name of another cycle.
#[test]
fn the_name_of_a_test_is_the_cycle() {
    let only_weak = ranges(&[CycleAnnotation::Weak], &[Via::Plain], &[]);
    let mut same = 0;
    for cycle in mixture(400) {
        let name = cycle.canonical().name();
        let written = notation::read(&name).unwrap_or_else(|_| panic!("{name} is a name"));
        let read = Pattern::of(&written, &only_weak).cycle(0).canonical();
        assert_eq!(read.name(), name);
        same += usize::from(read == cycle.canonical());
        let (open, _) = name.split_once("+at-").expect("it has a placement");
        assert_eq!(notation::read(open).map(|open| open.arrangement).ok(), Some(None), "{open}");
    }
    assert!(same > 390, "only {same} are the same cycle");
}

#[test]
fn engines_agree_on_generated_tests() {
    let model = ptx::model();
    for cycle in mixture(60) {
        let answers: Vec<CycleAnswer> = ENGINES
            .iter()
            .map(|engine| ask(&cycle, &model, *engine, &Limits::unlimited(2)))
            .collect();
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{} {answers:?}", cycle.words());
    }
}

/// How many edges between threads are not rf.
fn barriers_of_causality(cycle: &Cycle) -> usize {
    let other = |link: &&Link| matches!(link, Link::Communicates { how, external: true } if *how != Communication::Rf);
    cycle.shape.links.iter().filter(other).count()
}

#[test]
fn verdicts_are_those_that_the_axioms_predict() {
    let strong = [CycleAnnotation::Relaxed(Scope::Sys)];
    let critical = |annotations: &[CycleAnnotation], via| {
        let all = ranges(annotations, &[via], &[Scope::Cta, Scope::Sys]);
        CycleSpace::critical(2..=4, 4..=7, &all).cycles().collect::<Vec<_>>()
    };
    // Between morally strong accesses fence.sc restores sequential consistency.
    for cycle in critical(&strong, SC) {
        assert_eq!(answer(&cycle), CycleAnswer::Forbidden, "{}", cycle.name());
    }
    // Weak accesses without anything between them are ordered by nothing.
    for cycle in critical(&[CycleAnnotation::Weak], Via::Plain) {
        assert_eq!(answer(&cycle), CycleAnswer::Allowed, "{}", cycle.name());
    }
    // Release and acquire order along rf; one more edge closes a cycle, two need a total order.
    let synchronizes = [CycleAnnotation::Acquire(Scope::Sys), CycleAnnotation::Release(Scope::Sys)];
    let acq_rel = Via::Fence(FenceOrder::AcqRel, Scope::Sys);
    let both = critical(&synchronizes, Via::Plain).into_iter().chain(critical(&strong, acq_rel));
    for cycle in both {
        let predicted = if barriers_of_causality(&cycle) <= 1 {
            CycleAnswer::Forbidden
        } else {
            CycleAnswer::Allowed
        };
        assert_eq!(answer(&cycle), predicted, "{}", cycle.name());
    }
    // An atomic between release and acquire goes on with their chain; a load and a store do not.
    for (between, predicted) in
        [("Rmw", CycleAnswer::Forbidden), ("PosRW RelaxedGpu", CycleAnswer::Allowed)]
    {
        let words =
            format!("PodWW ReleaseGpu Rfe RelaxedGpu {between} Rfe AcquireGpu PodRR Fre @gpu");
        let pattern = Pattern::of(
            &notation::read(&words).expect("a cycle"),
            &ranges(&[CycleAnnotation::Weak], &[Via::Plain], &[]),
        );
        assert_eq!(answer(&pattern.cycle(0)), predicted, "{words}");
    }
    // No value comes out of thin air, however weak the accesses are.
    for via in [Via::Addr, Via::Data, Via::Ctrl] {
        let all = ranges(&[CycleAnnotation::Weak], &[via], &Scope::ALL);
        for name in ["LB", "3.LB"] {
            let written = notation::read(name).expect("a family");
            for cycle in Pattern::of(&written, &all).cycles() {
                assert_eq!(answer(&cycle), CycleAnswer::Forbidden, "{}", cycle.name());
            }
        }
    }
}

/// A stronger form of a cycle: one annotation or one edge.
fn stronger(cycle: &Cycle, number: usize) -> Vec<Cycle> {
    let mut all = Vec::new();
    let at = number % cycle.shape.len();
    let direction = cycle.shape.directions[at];
    for annotation in CycleAnnotation::all() {
        let access = CycleAccess { annotation, ..cycle.accesses[at] };
        if cycle.shape.fits(at, access) && access.includes(cycle.accesses[at], direction) {
            let mut other = cycle.clone();
            other.accesses[at] = access;
            all.push(other);
        }
    }
    if let Link::Order { via: before, .. } = cycle.shape.links[at] {
        for via in Via::all().filter(|via| via.includes(before)) {
            let to = cycle.shape.directions[(at + 1) % cycle.shape.len()];
            if via.fits(cycle.shape.directions[at], to) {
                let mut other = cycle.clone();
                if let Link::Order { via: place, .. } = &mut other.shape.links[at] {
                    *place = via;
                }
                all.push(other);
            }
        }
    }
    all
}

#[test]
fn strengthening_a_generated_test_never_allows_its_outcome() {
    let mut strengthened = 0;
    for (number, cycle) in mixture(200).into_iter().enumerate() {
        if answer(&cycle) != CycleAnswer::Forbidden {
            continue;
        }
        for other in stronger(&cycle, number) {
            let found = answer(&other);
            assert_ne!(found, CycleAnswer::Allowed, "{} and {}", cycle.words(), other.words());
            strengthened += 1;
        }
    }
    assert!(strengthened > 100, "only {strengthened} were strengthened");
}

#[test]
fn the_frontier_settles_every_choice_as_it_is_judged() {
    let some = ranges(
        &[
            CycleAnnotation::Weak,
            CycleAnnotation::Relaxed(Scope::Cta),
            CycleAnnotation::Relaxed(Scope::Gpu),
            CycleAnnotation::Acquire(Scope::Gpu),
            CycleAnnotation::Release(Scope::Gpu),
        ],
        &[Via::Plain, Via::Addr, Via::Fence(FenceOrder::AcqRel, Scope::Gpu), SC],
        &[Scope::Cta, Scope::Gpu],
    );
    let mut judged = (0, 0);
    for name in ["MP", "SB", "LB", "S"] {
        let pattern = Pattern::of(&notation::read(name).expect("a family"), &some);
        for arrangement in 0..pattern.arrangements.len() {
            let lattice = Lattice::new(&pattern, arrangement).expect("it is small");
            let frontier = lattice.frontier(&mut |cycle| answer(cycle));
            let place = &pattern.arrangements[arrangement];
            let all = (0..pattern.labelled()).map(|number| pattern.cycle(number));
            let here: Vec<Cycle> = all.filter(|cycle| cycle.arrangement == *place).collect();
            let allowed = |cycle: &&Cycle| answer(cycle) == CycleAnswer::Allowed;
            let count = here.iter().filter(allowed).count() as u64;
            assert_eq!(frontier.allowed, count, "{name}");
            assert_eq!(frontier.forbidden, here.len() as u64 - count, "{name}");
            assert!(frontier.strongest_allowed.iter().all(|cycle| allowed(&cycle)), "{name}");
            assert!(!frontier.weakest_forbidden.iter().any(|cycle| allowed(&cycle)), "{name}");
            for cycle in &frontier.strongest_allowed {
                for number in 0..cycle.shape.len() {
                    for other in stronger(cycle, number).into_iter().filter(|other| other != cycle)
                    {
                        assert!(!here.contains(&other) || !allowed(&&other), "{}", other.name());
                    }
                }
            }
            judged = (judged.0 + frontier.judged, judged.1 + here.len() as u64);
        }
    }
    assert!(judged.0 * 10 < judged.1, "{judged:?}");
}

/// What is weaker than an allowed choice may be undefined, where sizes differ.
#[test]
fn the_frontier_settles_choices_of_different_sizes_as_they_are_judged() {
    let some = ranges(
        &[
            CycleAnnotation::Weak,
            CycleAnnotation::Acquire(Scope::Gpu),
            CycleAnnotation::Release(Scope::Gpu),
        ],
        &[Via::Plain, Via::Fence(FenceOrder::AcqRel, Scope::Gpu)],
        &[Scope::Gpu],
    );
    let forms = [
        AccessForm::Word,
        AccessForm::Alias,
        AccessForm::Part { bytes: 2, offset: 0 },
        AccessForm::Part { bytes: 2, offset: 2 },
    ];
    let mut undefined = 0;
    for name in ["MP", "S", "CoRR"] {
        let ranges = with_forms(some.clone(), &forms);
        let pattern = Pattern::of(&notation::read(name).expect("a family"), &ranges);
        let lattice = Lattice::new(&pattern, 0).expect("it is small");
        let frontier = lattice.frontier(&mut |cycle| answer(cycle));
        let mut tally = generate::question::AnswerTally::default();
        let all = (0..pattern.labelled()).map(|number| pattern.cycle(number));
        all.filter(Cycle::overlaps).for_each(|cycle| tally.add(&answer(&cycle)));
        let found = (frontier.allowed, frontier.forbidden, frontier.other);
        assert_eq!(found, (tally.allowed, tally.forbidden, tally.undefined), "{name}");
        undefined += tally.undefined;
    }
    assert!(undefined > 10, "only {undefined} are undefined");
}

/// The smallest differences of two models.
fn differences(models: [&Model; 2], space: &CycleSpace, frontiers: bool) -> FoundDifferences {
    let [one, other] = models.map(|model| |cycle: &Cycle| answer_of(cycle, model));
    let sides: [&generate::difference::CycleSide<'_>; 2] = [&one, &other];
    let search = DifferenceSearch { sides, frontiers, all: true, jobs: 2, deadline: None };
    search.search(space, &|_| {})
}

/// The model without a rule, by the name that its ablation has.
fn without(rule: &str) -> Model {
    let mut all = ablations(&ptx::model());
    let at = all.iter().position(|(name, _)| name == rule).expect("the model has the rule");
    all.swap_remove(at).1
}

/// The cycles that compare models: two threads, or three with atomics, and few choices.
fn compared() -> CycleSpace {
    let some = ranges(
        &[
            CycleAnnotation::Weak,
            CycleAnnotation::Relaxed(Scope::Cta),
            CycleAnnotation::Acquire(Scope::Gpu),
            CycleAnnotation::Release(Scope::Gpu),
        ],
        &[Via::Plain, Via::Data, Via::Fence(FenceOrder::AcqRel, Scope::Gpu)],
        &[Scope::Cta, Scope::Gpu],
    );
    CycleSpace::of_kinds(&CycleKind::ALL, 2..=2, 3..=4, &some)
}

#[test]
fn the_smallest_differences_are_those_of_a_brute_force() {
    let space = compared();
    let model = ptx::model();
    let none = ptx::under(Readings::default().switch("R13=none").expect("a choice"));
    let causality = without("axiom Causality");
    let fence = without("strong: without F");
    for (name, other) in [("R13", &none), ("Causality", &causality), ("F", &fence)] {
        let found = differences([&model, other], &space, false);
        assert_eq!(found.end, SearchEnd::Bound);
        assert_eq!((found.tried, found.undecided), (space.count(), 0), "{name}");
        let differing: Vec<Difference> = space
            .cycles()
            .filter_map(|cycle| {
                let answers = [&model, other].map(|model| answer_of(&cycle, model));
                Difference::between(&cycle, answers)
            })
            .collect();
        assert!(!found.differences.is_empty() && found.differences.len() < differing.len());
        let weaker = |one: &Difference, other: &Difference| {
            one.answers == other.answers
                && one.cycle.forms().any(|one| one.promises_at_most(&other.cycle))
        };
        for one in &differing {
            let reported = found.differences.iter().any(|smallest| weaker(smallest, one));
            assert!(reported, "{name}: {}", one.cycle.words());
        }
        for (at, one) in found.differences.iter().enumerate() {
            assert!(differing.contains(one), "{name}: {}", one.cycle.words());
            for (_, other) in found.differences.iter().enumerate().filter(|(of, _)| *of != at) {
                assert!(!weaker(one, other), "{} {}", one.cycle.words(), other.cycle.words());
            }
        }
        let sizes: Vec<(usize, usize)> = { found.differences.iter() }
            .map(|one| (one.cycle.shape.threads().len(), one.cycle.shape.len()))
            .collect();
        assert!(sizes.is_sorted(), "{name}");
        // Frontiers settle the same with fewer answers.
        let settled = differences([&model, other], &space, true);
        assert_eq!(settled.differences, found.differences, "{name}");
        assert_eq!(settled.tried, found.tried);
        assert!(settled.judged * 3 < found.judged, "{name}: {} {}", settled.judged, found.judged);
    }
    // Without this set, a relaxed access is strong and an acquire of it is not.
    let backwards = without("strong-memory: without ACQ");
    assert!(differences([&model, &backwards], &space, true).contradiction.is_some());
    let same = differences([&model, &model], &space, true);
    assert_eq!((same.differences.as_slice(), same.tried), ([].as_slice(), space.count()));
}

#[test]
fn what_a_rule_is_worth_is_found_at_its_known_minimum() {
    let smallest = |rule: &str, space: &CycleSpace| {
        let found = differences([&ptx::model(), &without(rule)], space, true);
        let first = found.differences.first().unwrap_or_else(|| panic!("{rule} shows"));
        assert_eq!(first.answers, [CycleAnswer::Forbidden, CycleAnswer::Allowed], "{rule}");
        first.cycle.words()
    };
    let some = ranges(
        &[
            CycleAnnotation::Weak,
            CycleAnnotation::Relaxed(Scope::Gpu),
            CycleAnnotation::Acquire(Scope::Gpu),
            CycleAnnotation::Release(Scope::Gpu),
        ],
        &[Via::Plain, Via::Data, Via::Fence(FenceOrder::Sc, Scope::Gpu)],
        &[Scope::Gpu],
    );
    let space = CycleSpace::of_kinds(&CycleKind::ALL, 2..=3, 3..=6, &some);
    // Coherence and Causality share what is between a write, a read of it, and the access after the read.
    assert_eq!(smallest("axiom Coherence", &space), "RelaxedGpu Rfe RelaxedGpu PosRW Coe @gpu");
    assert_eq!(smallest("axiom Causality", &space), "RelaxedGpu Rfe RelaxedGpu PosRR Fre @gpu");
    // Another write between the two halves of an atomic.
    assert_eq!(smallest("axiom Atomicity", &space), "RelaxedGpu Coe RelaxedGpu InvRmw Fre @gpu");
    // A value out of thin air takes two dependencies.
    assert_eq!(smallest("axiom No-Thin-Air", &space), "DpDatadW Rfe DpDatadW Rfe @gpu");
    // Two fences order accesses of any strength.
    assert_eq!(
        smallest("synchronizes: without fence-sc", &space),
        "FenceScGpudRW Rfe FenceScGpudRW Rfe @gpu"
    );
    // A release that an atomic passes on.
    assert_eq!(
        smallest(
            "observation: without (rmw ; rf & morally-strong)+ in (rmw ; rf & morally-strong)*",
            &space
        ),
        "RelaxedGpu Rmw Rfe AcquireGpu PodRW Rfe PodRW ReleaseGpu Rfe @gpu"
    );
    // Of one location, the other axioms forbid all but what no coherence order relates.
    let some = ranges(
        &[
            CycleAnnotation::Weak,
            CycleAnnotation::Relaxed(Scope::Cta),
            CycleAnnotation::Relaxed(Scope::Gpu),
        ],
        &[Via::Plain],
        &[Scope::Cta, Scope::Gpu],
    );
    let space = CycleSpace::of_kinds(&CycleKind::ALL, 2..=3, 0..=7, &some);
    assert_eq!(
        smallest("axiom SC-per-Location", &space),
        "PosWW RelaxedCta PosWR RelaxedGpu InvRfe PosWW RelaxedGpu Rfe RelaxedGpu PosRR RelaxedCta InvRfe @02-gpu-1"
    );
}

/// That strengthening allows nothing holds under each reading, so that frontiers settle what differs between them.
#[test]
fn strengthening_allows_nothing_under_any_reading() {
    let mut strengthened = 0;
    for reading in model::reading::ALL {
        for choice in &reading.choices[1..] {
            let switched = format!("{}={}", reading.name, choice.name);
            let readings = Readings::default().switch(&switched).expect("it is a choice");
            let model = ptx::under(readings);
            for (number, cycle) in mixture(40).into_iter().enumerate() {
                if answer_of(&cycle, &model) != CycleAnswer::Forbidden {
                    continue;
                }
                for other in stronger(&cycle, number) {
                    let found = answer_of(&other, &model);
                    let words = other.words();
                    assert_ne!(
                        found,
                        CycleAnswer::Allowed,
                        "{switched}: {} {words}",
                        cycle.words()
                    );
                    strengthened += 1;
                }
            }
        }
    }
    assert!(strengthened > 100, "only {strengthened} were strengthened");
}
