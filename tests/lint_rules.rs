//! The page of the rules of `causeway lint` is that of the catalogue.

use std::fs;

use checker::lint_rules;

use crate::suite;

#[test]
fn the_page_has_the_rules_of_the_catalogue() {
    let path = suite::root().join("docs/ptx-rules.md");
    let now = lint_rules::page();
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &now).expect("the page can be written");
    }
    let before = fs::read_to_string(&path).unwrap_or_default();
    assert!(now == before, "UPDATE=1 rewrites {}", path.display());
}

/// A page that speaks of a code means one that there is.
#[test]
fn codes_on_other_pages_are_those_of_rules() {
    let page = suite::root().join("docs/ptxas-differences.md");
    let text = fs::read_to_string(page).expect("it is there");
    let mut known = 0;
    for row in text.lines().filter(|line| line.starts_with("| `")) {
        let codes = row.split('|').nth(1).expect("a first column");
        for code in codes.split(',').map(|code| code.trim().trim_matches('`')) {
            assert!(ptx::catalogue::LintRule::named(code).is_some(), "{code} is not a rule");
            known += 1;
        }
    }
    assert!(known > 20, "only {known} codes");
}
