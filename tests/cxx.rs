//! The second model: the tests of C++ under every engine, and what tells its variants apart.

use engine::ENGINES;
use engine::exit::Exit;
use judge::{Task, Verdict, judge};
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
    assert_eq!(verdict(ReleaseSequence::Cpp11), Verdict::Fails);
}

/// The verdicts of all tests of C++ under a model.
fn verdicts(model: &Model) -> Vec<Verdict> {
    let tests = suite::load(&suite::root().join("litmus/cxx"));
    let task = Task { blame: false, ..suite::task(model) };
    tests.iter().map(|entry| judge(&entry.test, &task).verdict).collect()
}

/// A race is found where only the verdict is wanted, too, whether the condition holds or fails.
#[test]
fn a_race_makes_the_verdict_alone_undefined() {
    let model = cxx::model(ReleaseSequence::Cpp20);
    let task = Task { verdict_only: true, ..suite::task(&model) };
    let all = Task { verdict_only: false, ..suite::task(&model) };
    let mut undefined = 0;
    for entry in &suite::load(&suite::root().join("litmus/cxx")) {
        let (only, of_all) = (judge(&entry.test, &task).verdict, judge(&entry.test, &all).verdict);
        assert_eq!(only, of_all, "{}", entry.path.display());
        undefined += usize::from(matches!(only, Verdict::Undefined(_)));
    }
    assert!(undefined >= 3, "{undefined} tests are undefined");
    for condition in ["exists (P1:r0=0)", "exists (P1:r0=7)", "~exists (P1:r0=7)", "forall (x=1)"] {
        let source = format!(
            "CXX race\n{{ x=0; }}\n P0@cta 0 | P1@cta 1 ;\n store [x], 1 | load r0, [x] ;\n{condition}\n"
        );
        let test = litmus::parse("race", source.as_bytes()).expect("a test");
        let verdict = judge(&test, &task).verdict;
        assert_eq!(verdict, Verdict::Undefined("data-race".to_owned()), "{condition}");
    }
}

#[test]
fn the_printed_model_says_what_races_mean() {
    let model = cxx::model(ReleaseSequence::Cpp20);
    let printed = render::cat(&model);
    assert!(printed.contains("\nflag ~empty race as Data-race\n"), "{printed}");
    let imported =
        cat::import("cxx.cat", &printed).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let (own, its) = (verdicts(&model), verdicts(&imported));
    assert_eq!(own, its);
    let undefined = own.iter().filter(|verdict| matches!(verdict, Verdict::Undefined(_)));
    assert!(undefined.count() >= 2, "{own:?}");
}

#[test]
fn the_model_can_be_read() {
    let printed = render::text(&cxx::model(ReleaseSequence::Cpp20));
    assert!(printed.contains("Sequential-Consistency"), "{printed}");
    for line in printed.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}
