//! The catalogue of rules has every code, and its examples are rejected and accepted as it says.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ptx::catalogue::{self, ExampleCode};
use ptx::rules;

use crate::written::codes;

#[test]
fn every_example_breaks_its_rule_and_no_other() {
    let mut wrong = Vec::new();
    let mut without = Vec::new();
    for rule in catalogue::all() {
        let Some(example) = &rule.example else {
            without.push(rule.code);
            continue;
        };
        let said = |code: &ExampleCode| codes(&example.judge(code).diagnostics);
        let judged = example.judge(&example.rejected);
        if said(&example.rejected) != [rule.code] {
            wrong.push(format!("{}: {:?}", rule.code, said(&example.rejected)));
        }
        let of = judged.diagnostics.iter().find(|one| one.code == rule.code);
        if of.is_some_and(|of| rule.section.is_some_and(|section| of.section != Some(section))) {
            wrong.push(format!("{}: another section", rule.code));
        }
        let left = match (&example.accepted, &judged.corrected) {
            (Some(accepted), _) => said(accepted),
            (None, Some((corrected, _))) => {
                let module = example.module(&example.rejected);
                let module = module.replacen(example.rejected.text, corrected, 1);
                let left = ptx::lint("m.ptx", module.as_bytes(), ptx::LintOptions::default());
                codes(&left.diagnostics)
            }
            (None, None) => vec!["there is no correction"],
        };
        if !left.is_empty() {
            wrong.push(format!("{}: accepted: {left:?}", rule.code));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // ptxas rejects what breaks the first one in every version, by another rule; the others are limits.
    let none = ["isa-ld-generic-const", "nesting", "size", "binary", "paths", "too-many-errors"];
    assert_eq!(without, none);
}

/// The codes in calls of `error`, those of rules of several instructions, and those of productions.
fn written(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            written(&path, found);
            continue;
        }
        let text = fs::read_to_string(&path).expect("it is text");
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for call in text.split("error(").skip(1) {
            if let Some(code) = call.trim_start().strip_prefix('"') {
                found.extend(code.split('"').next().map(str::to_owned));
            }
        }
        for code in text.split("SequenceRule {\n    code: \"").skip(1) {
            found.extend(code.split('"').next().map(str::to_owned));
        }
        for code in text.split(" code: \"fence-").skip(1) {
            found.extend(code.split('"').next().map(|end| format!("fence-{end}")));
        }
        for code in text.split("\"production-").skip(1) {
            found.extend(code.split('"').next().map(|end| format!("production-{end}")));
        }
    }
}

#[test]
fn every_code_is_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeSet::new();
    written(&root.join("src"), &mut found);
    found.extend(["size", "binary", "too-many-errors"].map(str::to_owned));
    // Of a single instruction, which is not a module.
    assert!(found.remove("one-instruction"));
    found.extend(rules::all().into_iter().map(|rule| rule.code.to_owned()));
    let mut listed = BTreeSet::new();
    for rule in catalogue::all() {
        assert!(listed.insert(rule.code.to_owned()), "{} is listed twice", rule.code);
        let text = rule.text;
        assert!(!text.is_empty() && !text.ends_with('.'), "{}: {text}", rule.code);
    }
    assert_eq!(listed, found);
}
