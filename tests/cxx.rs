//! The second model: the tests of C++ under every engine, and what tells its variants apart.

use engine::ENGINES;
use engine::exit::Exit;
use engine::judge::{Task, Verdict, judge};
use litmus::Dialect;
use model::cxx::{self, ReleaseSequence};
use model::given::Fixed;
use model::rel::{DefinitionBody, Model, Node};
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

/// The verdicts of all tests of C++ under a model.
fn verdicts(model: &Model) -> Vec<Verdict> {
    let tests = suite::load(&suite::root().join("litmus/cxx"));
    let task = Task { blame: false, ..suite::task(model) };
    tests.iter().map(|entry| judge(&entry.test, &task).verdict).collect()
}

/// What the sides of unions do not show: the restrictions to scopes that include each other, and that closures
/// have more than one step.
#[test]
fn every_scope_and_every_closure_of_cxx_decides_some_test() {
    let model = cxx::model(ReleaseSequence::Cpp20);
    let inclusive = model.definitions.iter().find(|one| one.name == "inclusive");
    let Some(DefinitionBody::Rel(inclusive)) = inclusive.map(|one| one.body) else {
        panic!("the model says which scopes include each other")
    };
    let whole = verdicts(&model);
    let (mut scopes, mut closures) = (0, 0);
    for (index, &node) in model.nodes.iter().enumerate() {
        let left = match node {
            // Writes that modification order need not relate race, or one happens before the other.
            Node::And(a, b) if model.node(b) == Node::Fixed(Fixed::Overlap) && a == inclusive => {
                continue;
            }
            Node::And(a, b) if a == inclusive => b,
            Node::And(a, b) if b == inclusive => a,
            Node::Plus(a) => a,
            Node::Fixed(_)
            | Node::Chosen(_)
            | Node::Identity(_)
            | Node::Cross(..)
            | Node::Or(..)
            | Node::And(..)
            | Node::Minus(..)
            | Node::Seq(..)
            | Node::Inverse(_) => continue,
        };
        let closure = matches!(node, Node::Plus(_));
        *(if closure { &mut closures } else { &mut scopes }) += 1;
        let mut without = model.clone();
        without.nodes[index] = Node::Or(left, left);
        assert_ne!(verdicts(&without), whole, "no test needs {node:?}");
    }
    // Synchronization, its reads, the order of seq_cst, races; release sequences, happens-before, coherence.
    assert_eq!((scopes, closures), (4, 3));
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
