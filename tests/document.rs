//! The litmus tests that the document prints: each is in the suite, with the document's verdict.

use judge::{Observation, Verdict, judge};
use litmus::Quantifier;
use model::ptx;

use crate::suite;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Says {
    Always,
    Never,
    /// Some execution shows it.
    Allowed,
}

/// The section that prints the test, its name there, and what is said of its condition.
const PRINTED: [(&str, &str, Says); 13] = [
    ("8.10.3", "Atom-1", Says::Always),
    ("8.10.3", "Atom-2", Says::Always),
    ("8.10.3", "Atom-2+one", Says::Allowed),
    ("8.10.3", "Atom-2+two", Says::Allowed),
    ("8.10.4", "LB", Says::Allowed),
    ("8.10.4", "LB+deps", Says::Always),
    ("8.10.5", "CoRR", Says::Always),
    ("8.10.6", "CoWR+alias", Says::Always),
    ("8.10.6", "MP", Says::Always),
    ("8.10.6", "SB", Says::Always),
    ("8.10.6", "SB+fence.acq_rel", Says::Allowed),
    ("8.11.1", "MP+atom", Says::Never),
    ("8.11.1", "MP+red", Says::Allowed),
];

#[test]
fn every_litmus_test_of_the_document_has_its_verdict() {
    let model = ptx::model();
    let task = suite::task(&model);
    let tests = suite::load(&suite::folder().join("document"));
    let mut names: Vec<&str> = tests.iter().map(|entry| entry.test.name.as_str()).collect();
    let mut printed: Vec<&str> = PRINTED.iter().map(|&(_, name, _)| name).collect();
    names.sort_unstable();
    printed.sort_unstable();
    assert_eq!(names, printed);
    for (section, name, says) in PRINTED {
        let entry = tests.iter().find(|entry| entry.test.name == name).expect("it was compared");
        let test = &entry.test;
        assert!(test.doc[0].contains(section), "{name} does not cite {section}");
        let judgement = judge(test, &task);
        assert_eq!(judgement.verdict, Verdict::Holds, "{name}");
        let (quantifier, observed) = match says {
            Says::Always => (Quantifier::ForAll, [Observation::Always; 2]),
            Says::Never => (Quantifier::NotExists, [Observation::Never; 2]),
            Says::Allowed => (Quantifier::Exists, [Observation::Sometimes, Observation::Always]),
        };
        assert_eq!(test.quantifier, quantifier, "{name}");
        let observation = judgement.observation.expect("the test has outcomes");
        assert!(observed.contains(&observation), "{name}: {observation:?}");
    }
}
