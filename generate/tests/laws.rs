//! Laws of generated tests: their number, their text, and their verdicts.

use std::collections::BTreeSet;

use engine::{ENGINES, Limits};
use generate::build;
use generate::cycle::Cycle;
use generate::difference::{Difference, DifferenceSearch, FoundDifferences, SearchEnd};
use generate::frontier::Lattice;
use generate::notation;
use generate::question::{CycleAnswer, ask};
use generate::space::{CycleKind, CycleSpace, Pattern, Ranges};
use generate::word::{Communication, CycleAnnotation, Link, Via};
use litmus::{Quantifier, print};
use model::ablation::ablations;
use model::isa::fence::FenceOrder;
use model::isa::{Instruction, Operand};
use model::program::{Observed, Program};
use model::ptx;
use model::reading::Readings;
use model::rel::Model;
use model::scope::Scope;

const SC: Via = Via::Fence(FenceOrder::Sc, Scope::Sys);

fn ranges(annotations: &[CycleAnnotation], vias: &[Via], distances: &[Scope]) -> Ranges {
    Ranges { annotations: annotations.to_vec(), vias: vias.to_vec(), distances: distances.to_vec() }
}

/// Everything that there is.
fn everything() -> Ranges {
    ranges(
        &CycleAnnotation::all().collect::<Vec<_>>(),
        &Via::all().collect::<Vec<_>>(),
        &Scope::ALL,
    )
}

fn answer(cycle: &Cycle) -> CycleAnswer {
    answer_of(cycle, &ptx::model())
}

fn answer_of(cycle: &Cycle, model: &Model) -> CycleAnswer {
    ask(cycle, model, ENGINES[0], &Limits::unlimited(2))
}

/// A program and its outcome, up to the names and numbers of threads, locations, registers and values: the least of
/// the forms that the orders of its threads give.
fn form(program: &Program, outcome: &[u128]) -> String {
    let mut orders = Vec::new();
    permutations(program.threads.len(), &mut Vec::new(), &mut orders);
    orders.iter().map(|order| form_in(program, outcome, order)).min().expect("there are threads")
}

fn permutations(count: usize, chosen: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
    if chosen.len() == count {
        all.push(chosen.clone());
    }
    for next in (0..count).filter(|next| !chosen.contains(next)).collect::<Vec<_>>() {
        chosen.push(next);
        permutations(count, chosen, all);
        chosen.pop();
    }
}

/// Numbers in the order in which things are first seen.
struct Seen<T>(Vec<T>);

impl<T: PartialEq> Seen<T> {
    fn number(&mut self, one: T) -> usize {
        self.0.iter().position(|known| *known == one).unwrap_or_else(|| {
            self.0.push(one);
            self.0.len() - 1
        })
    }
}

fn form_in(program: &Program, outcome: &[u128], order: &[usize]) -> String {
    let (mut locations, mut values) = (Seen(Vec::new()), Seen(Vec::new()));
    let mut lines = Vec::new();
    let mut reads = Vec::new();
    for (place, &thread) in order.iter().enumerate() {
        for line in &program.threads[thread].lines {
            let told = if let Instruction::Store(store) = &line.instruction {
                let Operand::Address(at) = store.address.base else { panic!("plain addresses") };
                let Operand::Imm(value) = store.sources[0] else { panic!("plain values") };
                let value = values.number((at, u128::from(value)));
                format!("{place} st {:?} {} {value}", store.order, locations.number(at))
            } else if let Instruction::Load(load) = &line.instruction {
                let Operand::Address(at) = load.address.base else { panic!("plain addresses") };
                reads.push((thread, load.destinations[0], at));
                format!("{place} ld {:?} {} into {}", load.order, locations.number(at), reads.len())
            } else {
                format!("{place} {:?}", line.instruction)
            };
            lines.push(told);
        }
    }
    let mut wanted: Vec<String> = Vec::new();
    for (observed, &value) in program.observed.iter().zip(outcome) {
        let mut number = |at| {
            if value == 0 { "init".to_owned() } else { values.number((at, value)).to_string() }
        };
        wanted.push(match *observed {
            Observed::Register { thread, register } => {
                let is_it = |&(of, into, _): &(usize, _, _)| {
                    of == usize::from(thread.0) && into == Some(register)
                };
                let read = reads.iter().position(is_it).expect("it is read");
                format!("read {read} {}", number(reads[read].2))
            }
            Observed::Memory { variable, .. } => {
                let value = number(variable);
                format!("final {} {value}", locations.number(variable))
            }
        });
    }
    wanted.sort();
    let near = |a: usize, b: usize| {
        Scope::narrowest(&[
            program.threads[order[a]].placement,
            program.threads[order[b]].placement,
        ])
    };
    let pairs = (0..order.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    let distances: Vec<Scope> = pairs.map(|(a, b)| near(a, b)).collect();
    format!("{lines:?} {wanted:?} {distances:?}")
}

/// All sequences of so many of the words.
fn sequences(words: &[&'static str], length: usize, visit: &mut dyn FnMut(&[&'static str])) {
    fn go(
        words: &[&'static str],
        length: usize,
        chosen: &mut Vec<&'static str>,
        visit: &mut dyn FnMut(&[&'static str]),
    ) {
        if chosen.len() == length {
            return visit(chosen);
        }
        for word in words {
            chosen.push(word);
            go(words, length, chosen, visit);
            chosen.pop();
        }
    }
    go(words, length, &mut Vec::new(), visit);
}

/// Whether no edge of a cycle can be left out: two accesses of a thread at most, and two communications in a row
/// only where the second one is a read of the write between.
fn is_critical(words: &[&str]) -> bool {
    (0..words.len()).all(|at| {
        let (one, next) = (words[at], words[(at + 1) % words.len()]);
        match (one.starts_with('P'), next.starts_with('P')) {
            (true, true) => false,
            (false, false) => one != "Rfe" && next == "Rfe",
            _ => true,
        }
    })
}

/// Counts by other means: every sequence of edges is read as text, annotated and placed in every way, and the
/// programs are compared up to names.
fn brute_force(threads: usize, length: usize, ranges: &Ranges) -> usize {
    let pods = ["PodWW", "PodWR", "PodRW", "PodRR", "Rfe", "Fre", "Coe"];
    let mut forms = BTreeSet::new();
    sequences(&pods, length, &mut |words| {
        let text = words.join(" ");
        let Ok(written) = notation::read(&text) else { return };
        // Each rotation is tried, of those that begin with a thread's first access.
        if !is_critical(words) || !["Rfe", "Fre", "Coe"].contains(&words[length - 1]) {
            return;
        }
        if written.shape.threads().len() != threads {
            return;
        }
        for arrangement in generate::places::Arrangement::all(threads, &ranges.distances) {
            every_choice(&written.shape.links, &ranges.vias, &mut |links| {
                every_choice(&vec![(); length], &ranges.annotations, &mut |annotations| {
                    let fits = annotations
                        .iter()
                        .zip(&written.shape.directions)
                        .all(|(one, direction)| one.fits(*direction));
                    if !fits {
                        return;
                    }
                    let mut shape = written.shape.clone();
                    for (link, choice) in shape.links.iter_mut().zip(links) {
                        if let Link::Order { via, .. } = link {
                            *via = *choice;
                        } else if *choice != ranges.vias[0] {
                            return;
                        }
                    }
                    let cycle = Cycle {
                        shape,
                        annotations: annotations.to_vec(),
                        arrangement: arrangement.clone(),
                    };
                    let built = build::program(&cycle);
                    forms.insert(form(&built.program, &built.outcome));
                });
            });
        }
    });
    forms.len()
}

fn every_choice<S, T: Copy>(slots: &[S], choices: &[T], visit: &mut dyn FnMut(&[T])) {
    fn go<T: Copy>(count: usize, choices: &[T], chosen: &mut Vec<T>, visit: &mut dyn FnMut(&[T])) {
        if chosen.len() == count {
            return visit(chosen);
        }
        for &choice in choices {
            chosen.push(choice);
            go(count, choices, chosen, visit);
            chosen.pop();
        }
    }
    go(slots.len(), choices, &mut Vec::new(), visit);
}

#[test]
fn counts_equal_a_brute_force() {
    let [weak, release] = [CycleAnnotation::Weak, CycleAnnotation::Release(Scope::Gpu)];
    let relaxed = CycleAnnotation::Relaxed(Scope::Cta);
    let cases = [
        (2, 4, ranges(&[weak, relaxed], &[Via::Plain, SC], &[Scope::Cta, Scope::Gpu])),
        (2, 4, ranges(&[weak, relaxed, release], &[Via::Plain], &Scope::ALL)),
        (3, 5, ranges(&[weak, release], &[Via::Plain], &[Scope::Cta, Scope::Sys])),
        (3, 6, ranges(&[weak], &[Via::Plain, SC], &[Scope::Gpu])),
        (4, 6, ranges(&[weak], &[Via::Plain], &[Scope::Cta, Scope::Sys])),
    ];
    for (threads, edges, ranges) in cases {
        let space = CycleSpace::critical(threads..=threads, edges..=edges, &ranges);
        let listed: Vec<Cycle> = space.cycles().collect();
        let forced = brute_force(threads, edges, &ranges);
        assert_eq!(space.count(), listed.len() as u128, "{threads} threads, {edges} edges");
        assert_eq!(listed.len(), forced, "{threads} threads, {edges} edges");
        let forms: BTreeSet<String> = listed
            .iter()
            .map(build::program)
            .map(|built| form(&built.program, &built.outcome))
            .collect();
        assert_eq!(forms.len(), listed.len(), "two are equal up to names");
        let names: BTreeSet<String> = listed.iter().map(Cycle::name).collect();
        assert_eq!(names.len(), listed.len(), "two have one name");
    }
}

#[test]
fn labelled_counts_are_those_of_the_literature() {
    let four = [
        CycleAnnotation::Weak,
        CycleAnnotation::Relaxed(Scope::Cta),
        CycleAnnotation::Relaxed(Scope::Sys),
        CycleAnnotation::Acquire(Scope::Sys),
        CycleAnnotation::Release(Scope::Sys),
    ];
    let vias = [Via::Plain, Via::Fence(FenceOrder::AcqRel, Scope::Sys), SC];
    let ranges = ranges(&four, &vias, &[Scope::Cta, Scope::Sys]);
    let labelled = |n: usize| CycleSpace::critical(n..=n, 2 * n..=2 * n, &ranges).labelled();
    assert_eq!(labelled(2), 27_648);
    assert_eq!(labelled(3), 6_082_560);
    assert_eq!(labelled(4), 1_911_029_760);
    let families = |n: usize| CycleSpace::critical(n..=n, 2 * n..=2 * n, &ranges).patterns.len();
    assert_eq!([2, 3, 4].map(families), [6, 11, 24]);
}

/// A mixture of all that there is, the same each time.
fn mixture(count: usize) -> Vec<Cycle> {
    let mut all = CycleSpace::critical(2..=3, 4..=6, &everything()).sample(count, 7);
    for (name, _) in generate::family::FAMILIES {
        let written = notation::read(name).expect("a family");
        let space = CycleSpace { patterns: vec![Pattern::of(&written, &everything())] };
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
        "Rfe Rmw PodWR Fre PodWR Fre",
        "PodWW PosWR PodRW Rfe DpCtrldW PodWR Fre",
    ] {
        let written = notation::read(text).expect("a cycle");
        let space = CycleSpace { patterns: vec![Pattern::of(&written, &everything())] };
        all.extend(space.sample(count / 50 + 1, 13));
    }
    all
}

#[test]
fn a_test_parses_back_as_it_was_built() {
    let mut vias = BTreeSet::new();
    for cycle in mixture(400) {
        vias.extend(cycle.shape.links.iter().filter_map(|link| match link {
            Link::Order { via, .. } => Some(*via),
            Link::Communicates { .. } | Link::Rmw => None,
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

#[test]
fn a_sample_has_so_many_different_cycles_of_the_space() {
    let small =
        ranges(&[CycleAnnotation::Weak, CycleAnnotation::Volatile], &[Via::Plain], &[Scope::Gpu]);
    let space = CycleSpace::critical(2..=2, 4..=4, &small);
    let all: BTreeSet<Cycle> = space.cycles().collect();
    let drawn = space.sample(40, 3);
    assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), 40);
    assert!(drawn.iter().all(|cycle| all.contains(cycle)));
    assert_ne!(drawn, space.sample(40, 4));
    assert_eq!(drawn, space.sample(40, 3));
    assert_eq!(space.sample(1000, 3).len(), all.len());
}

#[test]
fn choices_that_differ_between_equal_threads_are_listed_once() {
    let all = ranges(
        &[CycleAnnotation::Weak, CycleAnnotation::Volatile],
        &[Via::Plain],
        &[Scope::Gpu, Scope::Sys],
    );
    // The second read of the second thread is fixed, so that rotations do not keep the choices.
    let written = notation::read("PodWR Fre PodWR Volatile Fre").expect("a cycle");
    let pattern = Pattern::of(&written, &all);
    let forms: BTreeSet<Cycle> =
        (0..pattern.labelled()).map(|number| pattern.cycle(number).canonical()).collect();
    assert_eq!(pattern.count(), forms.len() as u128);
    assert!(pattern.count() < pattern.labelled());
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

/// How many edges between threads are no rf.
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
    let fits = |one: &CycleAnnotation| {
        if cycle.shape.is_atomic(at) {
            one.fits_atomic()
        } else {
            !cycle.shape.is_write_of_atomic(at) && one.fits(cycle.shape.directions[at])
        }
    };
    for annotation in CycleAnnotation::all().filter(fits) {
        if annotation.includes(cycle.annotations[at], cycle.shape.directions[at]) {
            let mut other = cycle.clone();
            other.annotations[at] = annotation;
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
    for (number, cycle) in mixture(150).into_iter().enumerate() {
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
