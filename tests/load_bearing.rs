//! Every axiom, and every side of every union in the model, changes the verdict of some test.
//!
//! `docs/redundant.md` lists what does not, each with the reason. With `VERBOSE` set, and
//! `--nocapture`, the test prints which test needs each rule.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use engine::enumerate::Enumerate;
use judge::{NO_EXECUTION, Property, Task, Verdict, judge};
use litmus::Test;
use litmus::arbitrary::cxx::{CxxTest, cxx};
use model::ablation::{ablations, restrictions};
use model::cxx::{self as second, ReleaseSequence};
use model::ptx;
use model::rel::Model;
use proptest::strategy::{Strategy, ValueTree};

use crate::{agree, suite};

/// The heading of docs/redundant.md under which the rules of C++ are.
const CXX: &str = "## C++";

/// What `docs/redundant.md` lists of a model: names in code quotes, each with a reason after a colon.
fn redundant(model: &Model) -> BTreeMap<String, String> {
    let text = fs::read_to_string(suite::root().join("docs/redundant.md")).expect("it is there");
    let (of_ptx, of_cxx) = text.split_once(CXX).expect("it has both models");
    let mut listed = BTreeMap::new();
    for line in if model.name == "cxx" { of_cxx } else { of_ptx }.lines() {
        let Some((name, reason)) = line.strip_prefix("- `").and_then(|rest| rest.split_once("`: "))
        else {
            assert!(!line.starts_with("- "), "not a name and a reason: {line}");
            continue;
        };
        assert!(reason.len() > 20, "{name} wants a reason");
        let twice = listed.insert(name.to_owned(), reason.to_owned());
        assert!(twice.is_none(), "{name} is listed twice");
    }
    listed
}

/// The program of a random test of C++.
fn parsed(program: &CxxTest) -> Test {
    let text = program.to_string();
    litmus::parse("random", text.as_bytes())
        .unwrap_or_else(|errors| panic!("a random program does not parse: {}\n{text}", errors[0]))
}

pub(crate) fn verdict(test: &Test, model: &Model) -> Verdict {
    let task = Task {
        model,
        cxx: None,
        engines: vec![&Enumerate],
        bound: 2,
        timeout: None,
        memory: engine::MEMORY,
        property: Property::ProgramSpec,
        verdict_only: true,
        counts: false,
        portfolio: false,
        work: None,
        until: None,
        blame: false,
        alternatives: &[],
        rests: false,
        races: false,
    };
    judge(test, &task).verdict
}

/// The verdict, and what a test with `Notes=` finds wrong.
pub(crate) type VerdictAndNotes = (Verdict, Option<String>);

pub(crate) fn verdict_and_notes(test: &Test, model: &Model) -> VerdictAndNotes {
    let notes = test.meta("Notes").and_then(|_| judge(test, &Task::new(model)).complaint);
    (verdict(test, model), notes)
}

/// Whether a model changes what is said of a test.
pub(crate) fn differs(test: &Test, before: &VerdictAndNotes, model: &Model) -> bool {
    let now = verdict_and_notes(test, model);
    let limit = matches!(&now.0, Verdict::Undecided(reason) if reason != NO_EXECUTION);
    now != *before && !limit
}

/// The test of which a model changes what is said, if there is one.
fn changed<'t>(tests: &'t [(Test, VerdictAndNotes)], model: &Model) -> Option<&'t str> {
    let different = |(test, before): &&(Test, VerdictAndNotes)| differs(test, before, model);
    tests.iter().find(different).map(|(test, _)| test.name.as_str())
}

#[test]
fn every_rule_is_load_bearing() {
    every_rule_of(&ptx::model(), &suite::folder(), false);
}

#[test]
fn every_rule_of_cxx_is_load_bearing() {
    let model = second::model(ReleaseSequence::Cpp20);
    every_rule_of(&model, &suite::root().join("litmus/cxx"), true);
}

fn every_rule_of(model: &Model, folder: &Path, clauses: bool) {
    let tests: Vec<(Test, VerdictAndNotes)> = suite::load(folder)
        .into_iter()
        .map(|entry| {
            let said = verdict_and_notes(&entry.test, model);
            (entry.test, said)
        })
        .collect();
    let mut all = ablations(model);
    if clauses {
        all.extend(restrictions(model));
    }
    let next = AtomicUsize::new(0);
    let idle = Mutex::new(Vec::new());
    let work = || {
        while let Some((missing, weaker)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            let shown = changed(&tests, weaker);
            if std::env::var_os("VERBOSE").is_some() {
                eprintln!("{missing}: {}", shown.unwrap_or("no test"));
            }
            if shown.is_none() {
                idle.lock().expect("no thread panicked").push(missing.clone());
            }
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        (0..threads).for_each(|_| {
            scope.spawn(work);
        });
    });
    let idle = idle.into_inner().expect("no thread panicked");
    let listed = redundant(model);
    let mut wrong = String::new();
    let unlisted = |name: &String| idle.contains(name) && !listed.contains_key(name);
    let unlisted: Vec<_> = all.iter().filter(|(name, _)| unlisted(name)).collect();
    let found = if clauses { search(model, &unlisted) } else { BTreeMap::new() };
    for (missing, _) in &unlisted {
        let found = found.get(missing.as_str());
        let found = found.map_or(String::new(), |found| format!("; this one would:\n{found}"));
        writeln!(wrong, "no test needs `{missing}`{found}").expect("strings can be written");
    }
    for name in listed.keys().filter(|name| !idle.contains(name)) {
        let exists = all.iter().any(|(missing, _)| missing == name);
        let why = if exists { "is needed by some test" } else { "is not a rule of the model" };
        writeln!(wrong, "docs/redundant.md lists `{name}`, which {why}")
            .expect("strings can be written");
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// For each of these clauses a small random program whose outcomes it decides, with the difference: a test to add.
fn search(model: &Model, clauses: &[&(String, Model)]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let cases = agree::number("CAUSEWAY_CASES", 2_000);
    let mut runner = agree::runner(agree::number("CAUSEWAY_SEED", 20));
    let difference = |program: &CxxTest, weaker: &Model| {
        let test = parsed(program);
        let before = agree::ask(&Enumerate, model, &test).ok()?;
        let after = agree::ask(&Enumerate, weaker, &test).ok()?;
        agree::difference(("the model", &before), ("without it", &after))
    };
    for case in 0..cases {
        let threads = 1 + usize::try_from(case % 4).expect("a small number");
        let shape = cxx(threads..=threads, 5 - threads.min(3));
        let mut tree = shape.new_tree(&mut runner).expect("a program");
        for (missing, weaker) in clauses {
            if found.contains_key(missing) || difference(&tree.current(), weaker).is_none() {
                continue;
            }
            let mut steps = 0;
            let mut smaller = tree.simplify();
            while smaller && steps < 3_000 {
                steps += 1;
                smaller = if difference(&tree.current(), weaker).is_some() {
                    tree.simplify()
                } else {
                    tree.complicate()
                };
            }
            while difference(&tree.current(), weaker).is_none() && tree.complicate() {}
            let difference = difference(&tree.current(), weaker).unwrap_or_default();
            found.insert(missing.clone(), format!("{}\n{difference}\n", tree.current()));
            break;
        }
        if found.len() == clauses.len() {
            break;
        }
    }
    found
}

#[test]
fn what_is_redundant_changes_no_outcome_of_random_programs() {
    let model = ptx::model();
    let listed = redundant(&model);
    let mut weaker = ablations(&model);
    weaker.retain(|(missing, _)| listed.contains_key(missing));
    assert_eq!(weaker.len(), listed.len());
    let shapes = [agree::SMALL, agree::LONG, agree::WIDE, agree::MIXED];
    agree::law("redundant rules", &shapes, 250, |program| {
        let test = agree::parse(program);
        let before = agree::ask(&Enumerate, &model, &test)?;
        for (missing, weaker) in &weaker {
            if agree::ask(&Enumerate, weaker, &test)? != before {
                return Err(format!("without {missing} there are other outcomes"));
            }
        }
        Ok(())
    });
}

#[test]
fn what_is_redundant_in_cxx_changes_no_outcome_of_random_programs() {
    let model = second::model(ReleaseSequence::Cpp20);
    let listed = redundant(&model);
    let mut weaker = ablations(&model);
    weaker.extend(restrictions(&model));
    weaker.retain(|(missing, _)| listed.contains_key(missing));
    assert_eq!(weaker.len(), listed.len());
    let cases = agree::number("CAUSEWAY_CASES", 600);
    let mut runner = agree::runner(agree::number("CAUSEWAY_SEED", 20));
    let (mut defined, mut undefined) = (0, 0);
    for case in 0..cases {
        let threads = 2 + usize::try_from(case % 3).expect("a small number");
        let tree = cxx(threads..=threads, 6 - threads).new_tree(&mut runner).expect("a program");
        let test = parsed(&tree.current());
        let Ok(before) = agree::ask(&Enumerate, &model, &test) else { continue };
        let is_undefined = before == agree::Answer::Undefined;
        *(if is_undefined { &mut undefined } else { &mut defined }) += 1;
        for (missing, weaker) in &weaker {
            let Ok(after) = agree::ask(&Enumerate, weaker, &test) else { continue };
            let difference = agree::difference(("the model", &before), ("without it", &after));
            if let Some(difference) = difference {
                panic!("{missing}: {difference}\n{}", tree.current());
            }
        }
    }
    assert!(defined > cases / 8 && undefined > cases / 8, "{defined} defined, {undefined} not");
}
