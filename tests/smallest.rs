//! `docs/smallest-tests.md`: for each rule of the model, the smallest generated test that needs it, or else a test of
//! the suite.
//!
//! The page is searched by `UPDATE=1 cargo test -p causeway --test workspace -- --ignored smallest::`, which takes
//! minutes. The other tests check that what it says is so.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use engine::enumerate::Enumerate;
use engine::{Limits, MEMORY};
use generate::access::{AccessForm, CycleAccess};
use generate::cycle::Cycle;
use generate::difference::{CycleSide, Difference, DifferenceSearch};
use generate::kind::CycleKind;
use generate::notation;
use generate::question::{CycleAnswer, ask};
use generate::space::{CycleSpace, Pattern, Ranges};
use generate::word::{CycleAnnotation, Link, Via};
use litmus::Test;
use model::ablation::{ablations, restrictions};
use model::isa::atom::AtomicOrder;
use model::isa::fence::FenceOrder;
use model::memory::Proxy;
use model::ptx;
use model::reading::{self, Readings};
use model::rel::Model;
use model::scope::Scope;

use crate::load_bearing::{VerdictAndNotes, differs, verdict_and_notes};
use crate::suite;

const PAGE: &str = "docs/smallest-tests.md";

/// The headings of the page, in their order.
const READINGS: &str = "## Readings";
const GENERATED: &str = "## Generated tests";
const SUITE: &str = "## Tests of the suite";
const REDUNDANT: &str = "## Redundant rules";

/// The model without each axiom, flag and side of a union, and with one step of each closure.
fn rules(model: &Model) -> Vec<(String, Model)> {
    let mut all = ablations(model);
    all.extend(restrictions(model).into_iter().filter(|(name, _)| name.contains(": one step in ")));
    all
}

/// The model under each other choice of a reading.
fn readings() -> Vec<(String, Model)> {
    let choices = reading::ALL.iter().flat_map(|reading| {
        reading.choices[1..].iter().map(|choice| format!("{}={}", reading.name, choice.name))
    });
    let switched = |choice: String| {
        let readings = Readings::default().switch(&choice).expect("it is a choice");
        (choice, ptx::under(readings))
    };
    choices.map(switched).collect()
}

fn answer(cycle: &Cycle, model: &Model) -> CycleAnswer {
    let limits = Limits { memory: MEMORY, unending: false, ..Limits::unlimited(2) };
    ask(cycle, model, &Enumerate, &limits)
}

/// The items of the page below each heading: the rule and what is said of it.
fn page() -> BTreeMap<String, Vec<(String, String)>> {
    let text = fs::read_to_string(suite::root().join(PAGE)).expect("the page is there");
    let mut all: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let mut heading = String::new();
    for line in text.lines() {
        if line.starts_with("## ") {
            line.clone_into(&mut heading);
        }
        if let Some((rule, rest)) = line.strip_prefix("- `").and_then(|rest| rest.split_once('`')) {
            let said = rest.trim_start_matches(": ").to_owned();
            all.entry(heading.clone()).or_default().push((rule.to_owned(), said));
        }
    }
    all
}

/// A cycle from its words.
fn cycle(words: &str) -> Cycle {
    let ranges = Ranges {
        annotations: vec![CycleAnnotation::Weak],
        forms: vec![AccessForm::Word],
        vias: vec![Via::Plain],
        distances: vec![],
    };
    let written = notation::read(words).unwrap_or_else(|errors| panic!("{}", errors[0]));
    Pattern::of(&written, &ranges).cycle(0)
}

/// The cycle with one choice that is next to it, and weaker.
fn weaker(cycle: &Cycle) -> Vec<Cycle> {
    let mut all = Vec::new();
    for at in 0..cycle.shape.len() {
        for annotation in CycleAnnotation::all() {
            let access = CycleAccess { annotation, ..cycle.accesses[at] };
            if cycle.shape.fits(at, access) {
                let mut other = cycle.clone();
                other.accesses[at] = access;
                all.push(other);
            }
        }
        let to = cycle.shape.directions[(at + 1) % cycle.shape.len()];
        for one in Via::all().filter(|via| via.fits(cycle.shape.directions[at], to)) {
            let mut other = cycle.clone();
            if let Link::Order { via, .. } = &mut other.shape.links[at] {
                *via = one;
                all.push(other);
            }
        }
    }
    all.retain(|one| one.promises_at_most(cycle) && !cycle.promises_at_most(one));
    all
}

#[test]
fn each_rule_is_listed_once_and_needed_as_the_page_says() {
    let model = ptx::model();
    let all: BTreeMap<String, Model> = rules(&model).into_iter().chain(readings()).collect();
    let page = page();
    let listed: Vec<&String> = page.values().flatten().map(|(rule, _)| rule).collect();
    let names: BTreeSet<&String> = listed.iter().copied().collect();
    assert_eq!(names.len(), listed.len(), "a rule is listed twice");
    assert_eq!(names, all.keys().collect::<BTreeSet<_>>(), "UPDATE=1 searches again");
    assert!(page[GENERATED].len() > 60, "few rules are shown by generated tests");
    let tests: BTreeMap<String, Test> = suite::load(&suite::folder())
        .into_iter()
        .map(|entry| (entry.test.name.clone(), entry.test))
        .collect();
    for (rule, said) in [READINGS, GENERATED, SUITE].iter().flat_map(|heading| &page[*heading]) {
        let without = &all[rule];
        if let Some(name) = said.strip_prefix('[').and_then(|link| link.split(']').next()) {
            let test = tests.get(name).unwrap_or_else(|| panic!("{rule}: there is no test {name}"));
            let before = verdict_and_notes(test, &model);
            assert_ne!(before, verdict_and_notes(test, without), "{rule}: {name}");
            continue;
        }
        let words = said.split('`').nth(1).expect("a cycle in code quotes");
        let cycle = cycle(words);
        assert_eq!(cycle.words(), words, "{rule}");
        assert_ne!(answer(&cycle, &model), answer(&cycle, without), "{rule}: {words}");
        for other in weaker(&cycle) {
            let words = other.words();
            assert_eq!(
                answer(&other, &model),
                answer(&other, without),
                "{rule}: {words} is weaker"
            );
        }
    }
    let redundant =
        fs::read_to_string(suite::root().join("docs/redundant.md")).expect("it is there");
    for (rule, _) in &page[REDUNDANT] {
        assert!(redundant.contains(&format!("- `{rule}`: ")), "{rule} is not in docs/redundant.md");
    }
}

/// Accesses at a scope, these edges beside plain program order, and threads at that distance.
fn ranges(scope: Scope, more: &[Via]) -> Ranges {
    Ranges {
        annotations: vec![
            CycleAnnotation::Weak,
            CycleAnnotation::Relaxed(scope),
            CycleAnnotation::Acquire(scope),
            CycleAnnotation::Release(scope),
        ],
        forms: vec![AccessForm::Word],
        vias: [&[Via::Plain], more].concat(),
        distances: vec![scope],
    }
}

/// What the tests are chosen from: those of two threads with accesses of 32 bits at one address, then those of two threads
/// with other accesses, then those of three threads.
fn spaces() -> [Vec<CycleSpace>; 3] {
    use CycleKind::{Atomic, Coherence, Critical, Divided, Overwritten, Pattern, Unordered};
    const KINDS: [CycleKind; 5] = [Coherence, Critical, Atomic, Overwritten, Divided];
    const ORDERS: [FenceOrder; 4] =
        [FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::Sc];
    let cas = Via::FailedCas(AtomicOrder::Release, Scope::Gpu);
    let of = |kinds: &[CycleKind], threads: usize, scope: Scope, more: &[Via]| {
        let fences = ORDERS.map(|order| Via::Fence(order, scope));
        // There are many tests of three threads, and of long threads.
        let is_small = threads == 2 && !kinds.contains(&Pattern);
        let fences = if is_small { &fences[..] } else { &fences[2..] };
        let ranges = ranges(scope, &[fences, more].concat());
        CycleSpace::of_kinds(kinds, threads..=threads, 0..=7, &ranges)
    };
    // Few orders and fences, since there are many forms.
    let formed = |kinds: &[CycleKind], scope: Scope, vias: &[Via], forms: &[AccessForm]| {
        let forms = [&[AccessForm::Word], forms].concat();
        let ranges = Ranges { forms, ..ranges(scope, vias) };
        CycleSpace::of_kinds(kinds, 2..=2, 0..=6, &ranges)
    };
    let proxies = [Proxy::Texture, Proxy::Surface, Proxy::Constant];
    let through = |proxy: Proxy| {
        let (form, fence) = (AccessForm::Through(proxy), Via::ProxyFence(proxy));
        formed(&[Coherence, Critical], Scope::Cta, &[fence], &[form])
    };
    // What is weaker than an allowed choice of different sizes is judged, too.
    let parts =
        [AccessForm::Part { bytes: 1, offset: 0 }, AccessForm::Part { bytes: 8, offset: 0 }];
    let synchronizing =
        [CycleAnnotation::Acquire(Scope::Gpu), CycleAnnotation::Release(Scope::Gpu)];
    let sized = |kinds: &[CycleKind], strong: &[CycleAnnotation], forms: &[AccessForm]| {
        let ranges = Ranges {
            annotations: [&[CycleAnnotation::Weak], strong].concat(),
            forms: [&[AccessForm::Word], forms].concat(),
            ..ranges(Scope::Gpu, &[])
        };
        CycleSpace::of_kinds(kinds, 2..=2, 0..=6, &ranges)
    };
    // What no coherence order relates are accesses of two scopes.
    let relaxed = [Scope::Cta, Scope::Gpu].map(CycleAnnotation::Relaxed);
    let of_two_scopes = Ranges {
        annotations: [&[CycleAnnotation::Weak], &relaxed[..]].concat(),
        distances: vec![Scope::Cta, Scope::Gpu],
        ..ranges(Scope::Gpu, &[])
    };
    let unordered = CycleSpace::of_kinds(&[Unordered], 3..=3, 0..=7, &of_two_scopes);
    let read_only = [AccessForm::NonCoherent, AccessForm::Uniform, AccessForm::Readonly];
    let mut others: Vec<CycleSpace> = proxies.map(through).into();
    others.extend([
        formed(&KINDS, Scope::Gpu, &[Via::AliasFence], &[AccessForm::Alias]),
        formed(&[Pattern], Scope::Gpu, &[], &[AccessForm::Alias]),
        formed(&KINDS, Scope::Gpu, &[], &[AccessForm::Reduction]),
        sized(&[Coherence, Overwritten], &[CycleAnnotation::Relaxed(Scope::Gpu)], &parts),
        sized(&[Critical], &synchronizing, &parts[..1]),
        formed(&[Coherence], Scope::Gpu, &[], &read_only),
    ]);
    [
        vec![
            of(&KINDS, 2, Scope::Gpu, &[Via::Data, Via::Addr, Via::Ctrl, Via::Fake]),
            of(&KINDS, 2, Scope::Gpu, &[cas]),
            of(&KINDS, 2, Scope::Cta, &[Via::Barrier]),
            of(&KINDS, 2, Scope::Cluster, &[Via::ClusterBarrier]),
            of(&KINDS, 2, Scope::Sys, &[]),
            of(&[Pattern], 2, Scope::Gpu, &[]),
        ],
        others,
        vec![of(&KINDS, 3, Scope::Gpu, &[Via::Data]), unordered],
    ]
}

/// The smallest generated test that needs a rule.
fn smallest(model: &Model, without: &Model, spaces: &[CycleSpace]) -> Option<Difference> {
    let [one, other] = [model, without].map(|model| |cycle: &Cycle| answer(cycle, model));
    let sides: [&CycleSide<'_>; 2] = [&one, &other];
    let mut found: Vec<Difference> = Vec::new();
    for space in spaces {
        let search = |frontiers| {
            let jobs = std::thread::available_parallelism().map_or(1, usize::from);
            let search = DifferenceSearch { sides, frontiers, all: false, jobs, deadline: None };
            search.search(space, &|_| {})
        };
        let mut result = search(true);
        if result.contradiction.is_some() {
            result = search(false);
        }
        found.extend(result.differences.into_iter().next());
    }
    let size = |one: &Difference| {
        let shape = &one.cycle.shape;
        (shape.threads().len(), shape.len(), one.cycle.strength())
    };
    // Of equally small ones the first.
    let mut least = found.into_iter().min_by_key(size)?;
    // Choices that were not tried, such as narrower scopes, may be weaker.
    let differs = |cycle: &Cycle| {
        let answers = [model, without].map(|model| answer(cycle, model));
        Difference::between(cycle, answers)
    };
    while let Some(weaker) = weaker(&least.cycle).iter().filter_map(differs).min_by_key(size) {
        least = weaker;
    }
    Some(least)
}

#[test]
#[ignore = "it searches for minutes; UPDATE=1 writes the page"]
fn the_page_has_the_smallest_tests() {
    let model = ptx::model();
    let sizes = spaces();
    let mut tests: Vec<(Test, VerdictAndNotes)> = suite::load(&suite::folder())
        .into_iter()
        .map(|entry| {
            let said = verdict_and_notes(&entry.test, &model);
            (entry.test, said)
        })
        .collect();
    let lines = |test: &Test| test.program.threads.iter().map(|of| of.lines.len()).sum::<usize>();
    tests.sort_by_cached_key(|(test, _)| {
        (test.program.threads.len(), lines(test), test.name.clone())
    });
    let redundant =
        fs::read_to_string(suite::root().join("docs/redundant.md")).expect("it is there");
    let mut sections: BTreeMap<&str, String> = BTreeMap::new();
    let readings = readings().into_iter().map(|one| (Some(READINGS), one));
    let rules = rules(&model).into_iter().map(|one| (None, one));
    for (readings, (rule, without)) in readings.chain(rules) {
        let differs = |(test, before): &&(Test, VerdictAndNotes)| differs(test, before, &without);
        let changed = || tests.iter().find(differs);
        // No cycle has an asynchronous operation.
        let synchronous = |(test, _): &&(Test, VerdictAndNotes)| !test.program.is_asynchronous();
        let searched = tests.iter().filter(synchronous).any(|test| differs(&test));
        let search = || sizes.iter().find_map(|spaces| smallest(&model, &without, spaces));
        let found = if searched { search() } else { None };
        let (heading, said) = if let Some(Difference { cycle, answers }) = found {
            let [before, after] = answers.map(|answer| answer.name());
            let (words, name) = (cycle.words(), cycle.name());
            assert_ne!(before, after, "{rule}: {name}");
            let how = if readings.is_some() { "with it" } else { "without" };
            (GENERATED, format!(": `{words}`, {before}, {after} {how}"))
        } else if let Some((test, _)) = changed() {
            let path = suite::load(&suite::folder())
                .into_iter()
                .find(|entry| entry.test.name == test.name)
                .and_then(|entry| {
                    entry
                        .path
                        .strip_prefix(suite::root())
                        .ok()
                        .map(|path| path.display().to_string())
                });
            let path = path.expect("it was loaded from there");
            (SUITE, format!(": [{}](../{path})", test.name))
        } else {
            assert!(redundant.contains(&format!("- `{rule}`: ")), "nothing needs {rule}");
            (REDUNDANT, String::new())
        };
        eprintln!("{rule}{said}");
        let section = sections.entry(readings.unwrap_or(heading)).or_default();
        writeln!(section, "- `{rule}`{said}").expect("strings can be written");
    }
    let path = suite::root().join(PAGE);
    let before = fs::read_to_string(&path).expect("the page is there");
    let start = before.find(READINGS).expect("it has this heading");
    let mut now = before[..start].to_owned();
    for (heading, about) in [
        (
            READINGS,
            "What each other choice of a reading is worth ([readings.md](readings.md)): the smallest test that has another verdict with it.",
        ),
        (
            GENERATED,
            "The test asks whether an execution has all edges of the cycle ([generate.md](generate.md)).",
        ),
        (
            SUITE,
            "No cycle that was tried needs these rules. Each test is the one of the suite with the fewest threads and instructions.",
        ),
        (REDUNDANT, "No test needs these rules, with the proofs in [redundant.md](redundant.md)."),
    ] {
        let items = sections.get(heading).map_or("", String::as_str);
        write!(now, "{heading}\n\n{about}\n\n{items}\n").expect("strings can be written");
    }
    let now = format!("{}\n", now.trim_end());
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &now).expect("the page can be written");
    }
    assert!(now == before, "the page differs; UPDATE=1 rewrites it");
}
