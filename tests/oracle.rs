//! What other tools say, and the reading that explains each difference.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use engine::Limits;
use engine::enumerate::Enumerate;
use generate::access::AccessForm;
use generate::cycle::Cycle;
use generate::difference::DifferenceSearch;
use generate::kind::CycleKind;
use generate::question::ask;
use generate::space::{CycleSpace, Ranges};
use generate::word::{CycleAnnotation, Via};
use judge::{Property, Task, Verdict, judge};
use litmus::{Quantifier, Test};
use model::isa::atom::AtomicOrder;
use model::isa::fence::FenceOrder;
use model::ptx;
use model::rel::Model;
use model::scope::Scope;

use crate::suite;

/// Labelled tests of a peer that have another verdict here, each with the reading.
const DIFFERENCES: &[(&str, &str)] = &[];

/// The labelled tests that are expected, where they are present.
const FEWEST_LABELS: usize = 200;

/// The fields of the lines after the first, which names them.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(1).filter(|line| !line.is_empty()).map(|line| line.split(',').collect())
}

fn readings() -> BTreeSet<String> {
    let text = fs::read_to_string(suite::root().join("docs/readings.md")).expect("it is there");
    let first = |line: &str| Some(line.strip_prefix("| R")?.split(' ').next()?.to_owned());
    text.lines().filter_map(first).map(|number| format!("R{number}")).collect()
}

/// Whether the outcome that a test asks about is reachable; of a `forall`, its opposite.
fn reachable(test: &Test, verdict: &Verdict) -> &'static str {
    match (test.quantifier, verdict) {
        (Quantifier::Exists, Verdict::Holds)
        | (Quantifier::NotExists | Quantifier::ForAll, Verdict::Fails) => "allowed",
        (Quantifier::Exists, Verdict::Fails)
        | (Quantifier::NotExists | Quantifier::ForAll, Verdict::Holds) => "forbidden",
        (_, verdict) => verdict.name(),
    }
}

#[test]
fn every_difference_from_a_peer_has_its_reading() {
    let model = ptx::model();
    let task = suite::task(&model);
    let tests = suite::load(&suite::folder());
    let ours: BTreeMap<&str, &Test> =
        tests.iter().map(|entry| (entry.test.name.as_str(), &entry.test)).collect();
    let readings = readings();
    let peers = suite::root().join("tests/oracle/peers.csv");
    let peers = fs::read_to_string(peers).expect("the recorded verdicts are there");
    let mut differences = 0;
    for row in rows(&peers) {
        let [tool, version, name, theirs, reading] = row[..] else {
            panic!("{row:?} has not five fields")
        };
        assert!(["allowed", "forbidden"].contains(&theirs), "{row:?}");
        let test = ours.get(name).unwrap_or_else(|| panic!("there is no test {name}"));
        let here = reachable(test, &judge(test, &task).verdict);
        if here == theirs {
            assert_eq!(reading, "", "{tool} {version} and we agree that {name} is {here}");
        } else {
            differences += 1;
            assert!(
                readings.contains(reading),
                "{tool} {version} finds {name} {theirs}, here it is {here}, and `{reading}` is not a \
                 reading"
            );
        }
    }
    assert!(differences > 0, "the peers do differ");
}

#[test]
#[ignore = "needs tests of others: CAUSEWAY_ORACLE"]
fn labelled_tests_of_a_peer_have_their_label() {
    let oracle = measured::of_others("litmus");
    let verdicts = measured::text("peer-verdicts.csv");
    let model = ptx::model();
    let mut judged = 0;
    let mut wrong = Vec::new();
    for row in rows(&verdicts) {
        let [path, _, "program_spec", expected, ..] = row[..] else { continue };
        let Some(found) = holds(&oracle.join(path), &model) else { continue };
        judged += 1;
        let listed = DIFFERENCES.iter().any(|&(known, _)| known == path);
        if (found == (expected == "1")) == listed {
            wrong.push(path.to_owned());
        }
    }
    assert!(judged >= FEWEST_LABELS, "only {judged} tests were judged");
    assert!(wrong.is_empty(), "not as labelled, or listed in vain: {wrong:#?}");
}

/// Under the model that a label is for, its test has that label or stays undecided, and the engines
/// agree.
#[test]
#[ignore = "needs tests of others: CAUSEWAY_ORACLE"]
fn labelled_tests_have_their_label_under_the_peers_model() {
    let oracle = measured::of_others("litmus");
    let verdicts = measured::text("peer-verdicts.csv");
    let models: BTreeMap<&str, Model> = ["v6.0", "v7.5"]
        .into_iter()
        .map(|version| {
            let path = oracle.join(format!("cat/ptx-{version}.cat"));
            let text = fs::read_to_string(&path).expect("the model is there");
            let model = cat::import(&path.to_string_lossy(), &text);
            (version, model.expect("the model can be imported"))
        })
        .collect();
    let mut judged = 0;
    let mut wrong = Vec::new();
    for row in rows(&verdicts) {
        let [path, version, "program_spec", expected, ..] = row[..] else { continue };
        let Some(found) = holds(&oracle.join(path), &models[version]) else { continue };
        judged += 1;
        if found != (expected == "1") {
            wrong.push(format!("{version} {path}"));
        }
    }
    assert!(judged >= FEWEST_LABELS, "only {judged} tests were judged");
    assert!(wrong.is_empty(), "not as labelled: {wrong:#?}");
}

/// A label of termination says whether every execution finishes; here that is a note or the verdict.
#[test]
#[ignore = "needs tests of others: CAUSEWAY_ORACLE"]
fn labels_of_termination_are_what_stuck_executions_say() {
    let oracle = measured::of_others("litmus");
    let verdicts = measured::text("peer-verdicts.csv");
    let model = ptx::model();
    let (mut judged, mut stuck, mut wrong) = (0, 0, Vec::new());
    for row in rows(&verdicts) {
        let [path, _, "termination", expected, ..] = row[..] else { continue };
        let bytes = fs::read(oracle.join(path)).expect("the labelled test is there");
        let test = litmus::parse(path, &bytes).expect("the test can be read");
        let judgement = judge(&test, &suite::task(&model));
        assert_eq!(judgement.disagreement, None, "{path}");
        let never = judgement.found.seen.stuck.is_some();
        let task = Task { property: Property::Termination, ..suite::task(&model) };
        let verdict = if never { Verdict::Fails } else { Verdict::Holds };
        assert_eq!(judge(&test, &task).verdict, verdict, "{path}");
        judged += 1;
        stuck += usize::from(never);
        if never != (expected == "0") {
            wrong.push(path.to_owned());
        }
    }
    assert!(judged >= 80 && stuck > 0, "only {judged} tests were judged, {stuck} of them stuck");
    assert!(wrong.is_empty(), "not as labelled: {wrong:#?}");
}

/// Whether the condition holds under a model; `None` if that stays undecided.
fn holds(path: &Path, model: &Model) -> Option<bool> {
    let bytes = fs::read(path).expect("the labelled test is there");
    let test = litmus::parse(&path.to_string_lossy(), &bytes).expect("the test can be read");
    let judgement = judge(&test, &suite::task(model));
    assert_eq!(judgement.disagreement, None, "{}", path.display());
    match judgement.verdict {
        // A label speaks of the condition alone, also over no outcome.
        Verdict::Holds | Verdict::Fails | Verdict::Stuck(_) => judgement.condition,
        Verdict::Undecided(_) => None,
        verdict @ (Verdict::Undefined(_) | Verdict::Unsupported(_)) => {
            panic!("{}: {verdict:?}", path.display())
        }
    }
}

/// What the cycles have on which a peer's model differs, each with the reading: of the edges of these words.
const CYCLES: &[(&str, &str)] = &[
    ("FenceSc", "R16"),
    ("Cas", "R23"),
    ("BarSync", "R49"),
    ("Rmw", "R13"),
    ("FenceRelease", "R17"),
];

#[test]
#[ignore = "needs models of others: CAUSEWAY_ORACLE"]
fn cycles_on_which_a_peers_model_differs_rest_on_readings() {
    let oracle = measured::of_others("litmus");
    let fences = [FenceOrder::AcqRel, FenceOrder::Sc, FenceOrder::Release];
    let [acq_rel, sc, release] = fences.map(|order| Via::Fence(order, Scope::Gpu));
    let cas = Via::FailedCas(AtomicOrder::Release, Scope::Gpu);
    let annotations = [
        CycleAnnotation::Weak,
        CycleAnnotation::Relaxed(Scope::Gpu),
        CycleAnnotation::Acquire(Scope::Gpu),
        CycleAnnotation::Release(Scope::Gpu),
    ];
    // What is beside program order, how many threads there are and where, and the word that differs.
    let spaces: [(&[Via], usize, Scope, &str); 6] = [
        (&[Via::Addr, Via::Data, Via::Ctrl, Via::Fake, acq_rel], 2, Scope::Gpu, ""),
        (&[acq_rel, sc], 2, Scope::Gpu, "FenceSc"),
        (&[release], 2, Scope::Gpu, "FenceRelease"),
        (&[cas], 2, Scope::Gpu, "Cas"),
        (&[Via::Barrier], 2, Scope::Cta, "BarSync"),
        (&[Via::Data], 3, Scope::Gpu, "Rmw"),
    ];
    let readings = readings();
    let ours = ptx::model();
    for version in ["v6.0", "v7.5"] {
        let path = oracle.join(format!("cat/ptx-{version}.cat"));
        let text = fs::read_to_string(&path).expect("the model is there");
        let theirs =
            cat::import(&path.to_string_lossy(), &text).expect("the model can be imported");
        for (vias, threads, place, word) in &spaces {
            let ranges = Ranges {
                annotations: annotations.to_vec(),
                forms: vec![AccessForm::Word],
                vias: [&[Via::Plain], *vias].concat(),
                distances: vec![*place],
            };
            let kinds = [CycleKind::Coherence, CycleKind::Critical, CycleKind::Atomic];
            let space = CycleSpace::of_kinds(&kinds, *threads..=*threads, 0..=6, &ranges);
            let limits = Limits::unlimited(2);
            let [one, other] = [&ours, &theirs]
                .map(|model| |cycle: &Cycle| ask(cycle, model, &Enumerate, &limits));
            let search = DifferenceSearch {
                sides: [&one, &other],
                frontiers: false,
                all: true,
                jobs: 2,
                deadline: None,
            };
            let found = search.search(&space, &|_| {});
            assert_eq!(found.differences.is_empty(), word.is_empty(), "{version} {word}");
            for difference in &found.differences {
                let words = difference.cycle.words();
                assert!(words.contains(word), "{version}: {words} has no {word}");
            }
            let known = CYCLES.iter().find(|(known, _)| known == word);
            assert!(
                word.is_empty() || known.is_some_and(|(_, reading)| readings.contains(*reading))
            );
        }
    }
}
