//! `docs/json.md` names every field of every object that `--format json` prints, and no other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::suite;

/// Commands that print every field of their objects between them; paths are from the root.
const COMMANDS: &[(&str, &[&[&str]])] = &[
    (
        "causeway-check/1",
        &[&[
            "check",
            "--engine=enumerate",
            "tests/cli",
            "litmus/suite/control-flow-instructions-bra",
        ]],
    ),
    (
        "causeway-explore/1",
        &[
            &["explore", "--check", "--runs", "--progress", "tests/cli"],
            &["explore", "--check", "litmus/suite/machine/MP+old-line.litmus"],
            &["explore", "litmus/suite/control-flow-instructions-bra"],
            &["explore", "--check", "--table=tests/cli/leaky.table", "tests/cli/holds.litmus"],
        ],
    ),
    ("causeway-lint/1", &[&["lint", "tests/ptx"]]),
    ("causeway-lint-summary/1", &[&["lint", "tests/ptx"]]),
    (
        "causeway-ptx-explain/1",
        &[&["ptx", "explain", "ld.acquire.gpu.global.L2::64B.u32 r, [a]", "ld.gpu.u32 r, [a]"]],
    ),
    (
        "causeway-sass-explain/1",
        &[&[
            "sass",
            "explain",
            "@!P0 LDG.E.EL.64.STRONG.GPU R2, desc[UR4][R4.64+0x10]",
            "LDG.E R0, [R2",
        ]],
    ),
    (
        "causeway-lower/1",
        &[
            &["lower", "--rows", "tests/lower/few.csv"],
            &["lower", "--from", "tests/lower/message.ptx", "--to", "tests/lower/message.made.ptx"],
            &["lower", "--table", "tests/cli/leaky.table"],
        ],
    ),
];

/// Fields whose own fields are names of what is judged.
const BY_NAME: [&str; 4] = ["registers", "memory", "columns", "not_judged"];

fn fields(prefix: &str, value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let path = format!("{prefix}{name}");
                if !BY_NAME.contains(&&**name) {
                    let dot = if value.is_array() { "[]." } else { "." };
                    fields(&format!("{path}{dot}"), value, found);
                }
                found.insert(path);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| fields(prefix, value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The fields in the first column of the table below each heading that is a kind of objects.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let page = fs::read_to_string(suite::root().join("docs/json.md")).expect("the page is there");
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut kind = None;
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            kind = Some(heading.trim_matches('`').to_owned());
        }
        let cell = line.strip_prefix("| `").and_then(|row| row.split(" |").next());
        if let (Some(kind), Some(cell)) = (&kind, cell) {
            let names = cell.split(", ").map(|name| name.trim_matches('`').to_owned());
            all.entry(kind.clone()).or_default().extend(names);
        }
    }
    all
}

/// Two writes that nothing orders, and a read of any of three values: three executions, each with two
/// outcomes, which are six executions of a model whose coherence order is total.
#[test]
fn an_execution_counts_for_each_outcome_that_it_can_end_with() {
    let mut checker = Command::new(env!("CARGO_BIN_EXE_causeway"))
        .args(["check", "--engine=enumerate", "--format=json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let test = "PTX last\n{ x=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 ;\n \
        st.relaxed.gpu.u32 [x], 1 | st.weak.u32 [x], 2 | ld.weak.u32 r0, [x] ;\nexists (x=1)\n";
    checker.stdin.take().expect("a pipe").write_all(test.as_bytes()).expect("it reads");
    let output = checker.wait_with_output().expect("it ends");
    let object: Value = serde_json::from_slice(&output.stdout).expect("an object");
    let count = |name: &str| object[name].as_u64().expect("a number");
    let outcomes = object["outcomes"].as_array().expect("a list");
    let ends: u64 = outcomes.iter().filter_map(|one| one["executions"].as_u64()).sum();
    assert_eq!((count("executions"), outcomes.len(), ends), (3, 2, 6));
    assert_eq!((count("positive"), count("negative")), (3, 3));
}

#[test]
fn every_field_that_occurs_is_documented_and_every_other_is_not() {
    let documented = documented();
    let lint = &documented["causeway-lint/1"];
    let mut wrong = Vec::new();
    for &(kind, commands) in COMMANDS {
        let mut found = BTreeSet::new();
        for arguments in commands {
            let output = Command::new(env!("CARGO_BIN_EXE_causeway"))
                .args(*arguments)
                .arg("--format=json")
                .current_dir(suite::root())
                .stdin(Stdio::null())
                .output()
                .expect("the program starts");
            let text = String::from_utf8(output.stdout).expect("output is text");
            assert!(!text.is_empty(), "{arguments:?} prints nothing");
            // `lint` prints objects of two kinds.
            let of_kind =
                |kind: &str, line: &&str| line.starts_with(&format!("{{\"format\":\"{kind}\","));
            for line in text.lines() {
                assert!(COMMANDS.iter().any(|(kind, _)| of_kind(kind, &line)), "{line}");
            }
            for line in text.lines().filter(|line| of_kind(kind, line)) {
                let object: Value = serde_json::from_str(line).expect("a line is an object");
                fields("", &object, &mut found);
            }
        }
        let known = &documented[kind];
        let general = |name: &String| {
            let (any, suffix) = (known.iter().filter_map(|known| known.strip_prefix("*.")), name);
            let mut any = any.map(|end| format!(".{end}"));
            let of_lint =
                name.strip_prefix("diagnostics[].").is_some_and(|name| lint.contains(name));
            any.any(|end| suffix.ends_with(&end)) || of_lint
        };
        for name in found.iter().filter(|name| !known.contains(*name) && !general(name)) {
            wrong.push(format!("{kind}: `{name}` is not documented"));
        }
        for name in known.iter().filter(|name| !name.starts_with("*.") && !found.contains(*name)) {
            wrong.push(format!("{kind}: `{name}` is documented and does not occur"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
