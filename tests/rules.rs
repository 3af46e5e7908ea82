//! Every rule of the machine is there for a run that the axioms forbid.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ::explore::{ExploreLimits, explore};
use litmus::{Quantifier, Test};
use machine::{MachineRule, Options};
use sass::lower::Lowering;

use crate::suite;

/// The machine that has what a rule is about.
fn about(rule: MachineRule) -> Options {
    let name = rule.name();
    Options {
        store_buffers: name.starts_with("R20"),
        copies: name.starts_with("R21"),
        lazy_all: name == "R22",
        ..Options::default()
    }
}

/// Whether some run ends as the test says that none does.
fn happens(test: &Test, options: Options) -> bool {
    let lowering = Lowering::of(90).expect("there is a table");
    let explored = explore(&test.program, lowering, options, ExploreLimits::states(1_000_000));
    let explored = explored.expect("the family has all of this");
    assert_eq!(explored.limit, None, "{}", test.name);
    explored
        .outcomes
        .keys()
        .any(|outcome| test.proposition.holds(&test.program, &test.narrowed(outcome)))
}

#[test]
fn every_rule_is_needed_by_a_test() {
    let mut needed: BTreeSet<MachineRule> = BTreeSet::new();
    let mut wrong = String::new();
    for entry in suite::load(&suite::folder()) {
        let test = &entry.test;
        let Some(rules) = test.meta("Without-rule") else { continue };
        let name = &test.name;
        assert_eq!(test.quantifier, Quantifier::NotExists, "{name} says what does not happen");
        for rule in rules.split(' ') {
            let rule =
                MachineRule::of(rule).unwrap_or_else(|| panic!("{name}: `{rule}` is not a rule"));
            let with = about(rule);
            if happens(test, with) {
                writeln!(wrong, "{name}: it happens with {} too", rule.name())
                    .expect("strings can be written");
            }
            if happens(test, Options { without: Some(rule), ..with }) {
                needed.insert(rule);
            } else {
                writeln!(
                    wrong,
                    "{name}: it does not happen without {}: {}",
                    rule.name(),
                    rule.text()
                )
                .expect("strings can be written");
            }
        }
    }
    for rule in MachineRule::ALL.iter().filter(|rule| !needed.contains(rule)) {
        writeln!(wrong, "no test needs {}: {}", rule.name(), rule.text())
            .expect("strings can be written");
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn every_rule_is_in_the_documentation() {
    let page = std::fs::read_to_string(suite::root().join("docs/machine.md")).expect("it is there");
    for rule in MachineRule::ALL {
        // Rules that belong together share a row.
        let number = rule.name().trim_end_matches(|c: char| c.is_ascii_lowercase());
        let rows = [format!("| {} |", rule.name()), format!("| {number}a, b")];
        assert!(rows.iter().any(|row| page.contains(row)), "{} has no row", rule.name());
    }
}
