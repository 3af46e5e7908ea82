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
        &[
            &[
                "check",
                "--count-executions",
                "tests/cli",
                "litmus/suite/control-flow-instructions-bra",
            ],
            &["check", "--property=termination", "tests/cli/holds.litmus"],
        ],
    ),
    (
        "causeway-diff/1",
        &[
            &["diff", "ptx", "ptx:R13=none", "LB", "--limit=1"],
            &[
                "diff",
                "ptx",
                "ptx:R6=physical",
                "--tests",
                "litmus/suite/release-and-acquire-patterns",
            ],
        ],
    ),
    ("causeway-diff-summary/1", &[&["diff", "ptx", "ptx:R13=none", "LB", "--limit=1"]]),
    (
        "causeway-explain/1",
        &[&["explain", "tests/cli/holds.litmus"], &["explain", "tests/cli/fails.litmus"]],
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
    (
        "causeway-fix/1",
        &[
            &["fix", "litmus/suite/gallery/B5-mscclpp-device-syncer.litmus"],
            &["fix", "tests/cli/undefined.litmus"],
            &["fix", "--weaken", "litmus/suite/gallery/A5-llvm-cmpxchg-sm60+fixed.litmus"],
        ],
    ),
    (
        "causeway-fuzz/1",
        &[&["fuzz", "--law=naive", "--count=200", "--plant=enumerate-without-Causality"]],
    ),
    ("causeway-lint/1", &[&["lint", "tests/ptx", "tests/ptx/absent.ptx"]]),
    (
        "causeway-verify/1",
        &[
            &["verify", "examples/kernels/last_block.toml", "examples/kernels/split_k.toml"],
            &[
                "verify",
                "examples/kernels/last_block.ptx",
                "--grid=1",
                "--block=1",
                "--arg=part=u32[1]",
                "--arg=counter=u32[1]=0",
                "--arg=sum=u32[1]",
            ],
            &["verify", "tests/launches/bounded.ptx", "--grid=2", "--block=1", "--arg=a=u32[1]=0"],
            &["verify", "tests/launches/bounded.ptx", "--grid=2", "--block=1"],
            &["verify", "tests/launches/modes.ptx"],
            &["verify", "--weaken", "examples/kernels/last_block.fixed.toml"],
        ],
    ),
    ("causeway-lint-summary/1", &[&["lint", "tests/ptx"]]),
    (
        "causeway-ptx-explain/1",
        &[&[
            "ptx",
            "explain",
            "ld.acquire.gpu.global.L2::64B.u32 r, [a]",
            "ld.gpu.u32 r, [a]",
            "bar.arrive 1, 64",
            "cp.async.bulk.prefetch.L2.global.L2::cache_hint [a], 16, r",
        ]],
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
        "causeway-litmus/1",
        &[
            &["litmus", "tests/words/message.ptx"],
            &["litmus", "tests/words/message.ptx", "try_lock(a)"],
        ],
    ),
    (
        "causeway-lower/1",
        &[
            &["lower", "--rows", "tests/lower/few.csv"],
            &["lower", "--from", "tests/lower/message.ptx", "--to", "tests/lower/message.made.ptx"],
            &["lower", "--from", "tests/lower/lines.ll", "--to", "tests/lower/lines.ptx"],
            &["lower", "--from", "tests/lower/modules.ptx", "--to", "tests/lower/modules.made.ptx"],
            &["lower", "--table", "tests/cli/leaky.table", "tests/cli"],
        ],
    ),
];

/// Fields whose own fields are names of what is judged.
const BY_NAME: [&str; 5] = ["registers", "memory", "columns", "not_judged", "skipped"];

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
        .args(["check", "--count-executions", "--format=json", "-"])
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

/// What a command prints on standard output.
fn printed(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_causeway"))
        .args(arguments)
        .current_dir(suite::root())
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("output is text");
    assert!(!text.is_empty(), "{arguments:?} prints nothing");
    text
}

/// All lines of a kind that its commands print.
fn lines_of(kind: &str, commands: &[&[&str]]) -> Vec<Value> {
    let of_kind = |kind: &str, line: &&str| line.starts_with(&format!("{{\"format\":\"{kind}\","));
    let mut all = Vec::new();
    for arguments in commands {
        let text = printed(&[*arguments, &["--format=json"]].concat());
        // `lint` prints objects of two kinds.
        for line in text.lines() {
            assert!(COMMANDS.iter().any(|(kind, _)| of_kind(kind, &line)), "{line}");
        }
        let lines = text.lines().filter(|line| of_kind(kind, line));
        all.extend(
            lines.map(|line| -> Value { serde_json::from_str(line).expect("a line is an object") }),
        );
    }
    assert!(!all.is_empty(), "nothing is of kind {kind}");
    all
}

/// The schema of a kind of objects: `causeway-lint-summary/1` is called `lint-summary`.
fn schema_of(kind: &str) -> Value {
    let name = kind.trim_start_matches("causeway-").trim_end_matches("/1");
    serde_json::from_str(&printed(&["schema", name])).expect("a schema is an object")
}

/// The fields that a schema has, as [`fields`] names those of an object.
fn fields_of_schema(prefix: &str, schema: &Value, root: &Value, found: &mut BTreeSet<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let target =
            root.pointer(name.trim_start_matches('#')).expect("a reference leads somewhere");
        fields_of_schema(prefix, target, root, found);
    }
    for any in schema["anyOf"].as_array().into_iter().flatten() {
        fields_of_schema(prefix, any, root, found);
    }
    if schema["items"].is_object() {
        // After the name of the list there is a dot already.
        let prefix = prefix.strip_suffix('.').map_or(String::new(), |name| format!("{name}[]."));
        fields_of_schema(&prefix, &schema["items"], root, found);
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        found.insert(format!("{prefix}{name}"));
        fields_of_schema(&format!("{prefix}{name}."), field, root, found);
    }
}

/// What is checked in is what the command prints: programs that are not at hand can rely on it.
#[test]
fn the_schemas_are_those_of_the_program() {
    let folder = suite::root().join("docs/schema");
    let update = std::env::var_os("UPDATE").is_some();
    let mut files = BTreeSet::new();
    for name in printed(&["schema"]).lines() {
        let now = printed(&["schema", name]);
        let kind = format!("causeway-{name}/1");
        assert!(COMMANDS.iter().any(|(known, _)| *known == kind), "no command prints {kind}");
        let file = folder.join(format!("{name}.json"));
        files.insert(file.clone());
        if update {
            fs::create_dir_all(&folder).expect("the folder can be made");
            fs::write(&file, &now).expect("the schema can be written");
        }
        let before = fs::read_to_string(&file).unwrap_or_default();
        assert!(now == before, "{} is another: UPDATE=1 rewrites it", file.display());
    }
    assert_eq!(files.len(), COMMANDS.len());
    for entry in fs::read_dir(&folder).expect("the schemas are there") {
        let path = entry.expect("the folder can be read").path();
        assert!(files.contains(&path), "{} is a schema of nothing", path.display());
    }
}

#[test]
fn every_line_is_as_its_schema_says() {
    for &(kind, commands) in COMMANDS {
        let schema = schema_of(kind);
        let mut compiler = boon::Compiler::new();
        compiler.set_default_draft(boon::Draft::V2020_12);
        compiler.add_resource(kind, schema.clone()).expect("it is JSON");
        let mut schemas = boon::Schemas::new();
        let index = compiler.compile(kind, &mut schemas).expect("it is a schema");
        for line in lines_of(kind, commands) {
            let wrong = schemas.validate(&line, index).err().map(|error| error.to_string());
            assert_eq!(wrong, None, "{kind}: {line}");
            // Nor would anything pass: each field has to be there.
            for name in schema["required"].as_array().expect("a list") {
                let mut less = line.clone();
                less.as_object_mut().expect("an object").remove(name.as_str().expect("a name"));
                assert!(schemas.validate(&less, index).is_err(), "{kind} without {name}");
            }
        }
    }
}

#[test]
fn every_field_that_occurs_is_documented_and_every_other_is_not() {
    let documented = documented();
    let lint = &documented["causeway-lint/1"];
    let mut wrong = Vec::new();
    for &(kind, commands) in COMMANDS {
        let mut found = BTreeSet::new();
        for line in lines_of(kind, commands) {
            fields("", &line, &mut found);
        }
        let known = &documented[kind];
        let general = |name: &String| {
            let (any, suffix) = (known.iter().filter_map(|known| known.strip_prefix("*.")), name);
            let mut any = any.map(|end| format!(".{end}"));
            let of_lint =
                name.strip_prefix("diagnostics[].").is_some_and(|name| lint.contains(name));
            any.any(|end| suffix.ends_with(&end)) || of_lint
        };
        let mut of_schema = BTreeSet::new();
        let schema = schema_of(kind);
        fields_of_schema("", &schema, &schema, &mut of_schema);
        for (whose, names) in [("what is printed", &found), ("the schema", &of_schema)] {
            for name in names.iter().filter(|name| !known.contains(*name) && !general(name)) {
                wrong.push(format!("{kind}: `{name}` of {whose} is not documented"));
            }
            let named = known.iter().filter(|name| !name.starts_with("*."));
            for name in named.filter(|name| !names.contains(*name)) {
                wrong.push(format!("{kind}: `{name}` is documented and not in {whose}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
