//! The second model: the tests of C++ under every engine, and what tells its variants apart.

use engine::ENGINES;
use engine::exit::Exit;
use engine::judge::{Task, Verdict, judge};
use litmus::Dialect;
use model::cxx::{self, ReleaseSequence};
use model::rel::Model;
use model::{ptx, render};

use crate::suite;

/// Fewer means that the run did not select the tests.
const FEWEST: usize = 20;

#[test]
fn every_test_of_cxx_is_as_it_says_under_every_engine() {
    let (model, cxx) = (ptx::model(), cxx::model(ReleaseSequence::Cpp20));
    let task = Task { cxx: Some(&cxx), ..suite::task(&model) };
    let tests = suite::load(&suite::root().join("litmus/cxx"));
    assert!(tests.len() >= FEWEST, "only {} tests were selected", tests.len());
    for suite::Entry { path, test, .. } in &tests {
        assert_eq!(test.dialect, Dialect::Cxx, "{}", path.display());
        let judgement = judge(test, &task);
        let why = judgement.disagreement.as_ref().or(judgement.complaint.as_ref());
        let why = why.map_or("", String::as_str);
        assert_eq!(judgement.exit(), Exit::AsExpected, "{}: {why}", path.display());
        assert_eq!(judgement.engines.len(), ENGINES.len(), "{}", path.display());
    }
}

#[test]
fn a_later_store_heads_no_release_sequence_since_cpp20() {
    let file = suite::root().join("litmus/cxx/MP+release-sequence.store.litmus");
    let tests = suite::load(&file);
    let verdict = |sequence| {
        let model = cxx::model(sequence);
        judge(&tests[0].test, &suite::task(&model)).verdict
    };
    assert_eq!(verdict(ReleaseSequence::Cpp20), Verdict::Holds);
    assert_eq!(verdict(ReleaseSequence::Rc11), Verdict::Fails);
}

#[test]
fn every_axiom_of_cxx_decides_some_test() {
    let model = cxx::model(ReleaseSequence::Cpp20);
    let tests = suite::load(&suite::root().join("litmus/cxx"));
    let verdicts = |model: &Model| -> Vec<Verdict> {
        let task = Task { blame: false, ..suite::task(model) };
        tests.iter().map(|entry| judge(&entry.test, &task).verdict).collect()
    };
    let whole = verdicts(&model);
    for index in 0..model.axioms.len() {
        let mut without = model.clone();
        let axiom = without.axioms.remove(index);
        assert_ne!(verdicts(&without), whole, "no test needs {}", axiom.name);
    }
}

#[test]
fn the_model_can_be_read() {
    let printed = render::text(&cxx::model(ReleaseSequence::Cpp20));
    assert!(printed.contains("Sequential-Consistency"), "{printed}");
    for line in printed.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}
