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
use engine::judge::{Task, Verdict, judge};
use litmus::Test;
use model::ablation::ablations;
use model::cxx::{self, ReleaseSequence};
use model::ptx;
use model::rel::Model;

use crate::{agree, suite};

/// The heading of docs/redundant.md under which the rules of C++ are.
const CXX: &str = "## C++";

/// What `docs/redundant.md` lists of a model: names in code quotes, each with a reason behind a colon.
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

fn verdict(test: &Test, model: &Model) -> Verdict {
    let task = Task {
        model,
        cxx: None,
        engines: vec![&Enumerate],
        bound: 2,
        timeout: None,
        memory: engine::MEMORY,
        verdict_only: true,
        portfolio: false,
        blame: false,
        alternatives: &[],
        rests: false,
    };
    judge(test, &task).verdict
}

/// The test whose verdict a model changes, if there is one.
fn changed<'t>(tests: &'t [(Test, Verdict)], model: &Model) -> Option<&'t str> {
    let different = |(test, before): &&(Test, Verdict)| {
        let now = verdict(test, model);
        now != *before && !matches!(now, Verdict::Undecided(_))
    };
    tests.iter().find(different).map(|(test, _)| test.name.as_str())
}

#[test]
fn every_rule_is_load_bearing() {
    every_rule_of(&ptx::model(), &suite::folder());
}

#[test]
fn every_rule_of_cxx_is_load_bearing() {
    let model = cxx::model(ReleaseSequence::Cpp20);
    every_rule_of(&model, &suite::root().join("litmus/cxx"));
}

fn every_rule_of(model: &Model, folder: &Path) {
    let tests: Vec<(Test, Verdict)> = suite::load(folder)
        .into_iter()
        .map(|entry| {
            let verdict = verdict(&entry.test, model);
            (entry.test, verdict)
        })
        .collect();
    let all = ablations(model);
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
    for missing in idle.iter().filter(|name| !listed.contains_key(*name)) {
        writeln!(wrong, "no test needs `{missing}`").expect("strings can be written");
    }
    for name in listed.keys().filter(|name| !idle.contains(name)) {
        let exists = all.iter().any(|(missing, _)| missing == name);
        let why = if exists { "is needed by some test" } else { "is no rule of the model" };
        writeln!(wrong, "docs/redundant.md lists `{name}`, which {why}")
            .expect("strings can be written");
    }
    assert!(wrong.is_empty(), "\n{wrong}");
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
