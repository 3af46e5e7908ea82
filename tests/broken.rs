//! Broken input: every error of a file is reported, in words that a snapshot keeps.
//!
//! `UPDATE=1 cargo test` rewrites the snapshots; read what changed.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What the command line prints for a file that cannot be read.
fn rendered(path: &str, bytes: &[u8]) -> Option<String> {
    let errors = litmus::parse(path, bytes).err()?;
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    Some(errors.join("\n"))
}

fn names(folder: &Path, extension: &str) -> BTreeSet<String> {
    fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .map(|path| path.file_stem().expect("it has a name").to_string_lossy().into_owned())
        .collect()
}

#[test]
fn every_error_of_a_broken_file_is_reported() {
    let (broken, snapshots) = (root().join("tests/broken"), root().join("tests/snapshots/broken"));
    let update = std::env::var_os("UPDATE").is_some();
    let files = names(&broken, "litmus");
    assert!(files.len() >= 60, "only {} broken files", files.len());
    let mut wrong = String::new();
    for name in &files {
        let bytes = fs::read(broken.join(format!("{name}.litmus"))).expect("the file can be read");
        let path = format!("tests/broken/{name}.litmus");
        let Some(now) = rendered(&path, &bytes) else {
            writeln!(wrong, "{path} has no errors").expect("strings can be written");
            continue;
        };
        let snapshot = snapshots.join(format!("{name}.txt"));
        if update {
            fs::write(&snapshot, &now).expect("the snapshot can be written");
        }
        let before = fs::read_to_string(&snapshot).unwrap_or_default();
        if now != before {
            writeln!(wrong, "--- {path}, before:\n{before}--- now:\n{now}")
                .expect("strings can be written");
        }
    }
    for name in names(&snapshots, "txt").difference(&files) {
        writeln!(wrong, "{name}.txt is a snapshot of no file").expect("strings can be written");
    }
    assert!(wrong.is_empty(), "{wrong}\nUPDATE=1 rewrites the snapshots");
}

/// Inputs that are too large to keep: each is refused in a few lines, and soon.
#[test]
fn large_inputs_are_refused_in_a_few_lines() {
    const LARGE: usize = 10 << 20;
    const TOKENS: usize = 2 << 20;
    let file = |cell: &str, condition: &str| {
        format!("PTX large\n{{ x=0; }}\n P0@cta 0,gpu 0 ;\n {cell} ;\nexists ({condition})\n")
    };
    let many = |text: &str| text.repeat(TOKENS / text.len());
    let names: Vec<String> = (0..600_000).map(|n| format!("[y{n}]=1")).collect();
    let names = names.join(" /\\ ");
    let inputs = [
        ("one word", "x".repeat(LARGE)),
        ("one line of words", "x ".repeat(LARGE / 2)),
        ("one header line", format!("PTX a\n{}", many("x "))),
        ("one comment", format!("PTX a\n{}", many("(*"))),
        ("one documentation", format!("PTX a\n\"{}", many("x "))),
        ("one name", file(&"x".repeat(LARGE), "[x]=1")),
        ("one qualifier", file(&format!("ld.{}.u32 r0, [x]", "x".repeat(LARGE)), "[x]=1")),
        ("many qualifiers", file(&format!("ld{} r0, [x]", many(".weak")), "[x]=1")),
        ("many operands", file(&format!("ld.u32 r0{}", many(", r0")), "[x]=1")),
        ("many braces", file(&many("{"), "[x]=1")),
        ("many cells", file(&many("ld.u32 r0, [x] |"), "[x]=1")),
        ("many errors", file(&many("ld.u32 r0, [y] ;\n"), "[x]=1")),
        ("many names", file("", &names)),
        ("parentheses", file("", &format!("{}[x]=1{}", "(".repeat(100_000), ")".repeat(100_000)))),
        ("open parentheses", file("", &"(".repeat(LARGE))),
        ("negations", file("", &format!("{}[x]=1", many("not ")))),
        ("implications", file("", &format!("{}[x]=1", many("[x]=1 => ")))),
        ("digits", file("", &format!("[x]={}", many("1")))),
        ("initial values", format!("PTX a\n{{ {} }}\n", many("x=0; "))),
        ("initial braces", format!("PTX a\n{}", many("{ "))),
        ("threads", format!("PTX a\n{{}}\n{} ;\n", many("P0@cta 0 |"))),
    ];
    for (name, input) in inputs {
        let start = Instant::now();

        let printed = rendered("large.litmus", input.as_bytes());
        let printed = printed.unwrap_or_else(|| panic!("{name}: no errors"));
        let longest = printed.lines().map(str::len).max().unwrap_or(0);
        assert!(longest < 1000, "{name}: a line of {longest} bytes");
        assert!(printed.len() < 1 << 20, "{name}: {} bytes", printed.len());
        let took = start.elapsed();

        assert!(took < Duration::from_secs(30), "{name}: {took:?}");
    }
}

#[test]
fn a_long_condition_is_no_error() {
    let atoms = vec!["[x]=1"; 200_000].join(" /\\ ");
    let text = format!("PTX long\n{{ x=0; }}\n P0@cta 0,gpu 0 ;\n ;\nexists ({atoms})\n");
    let read = litmus::parse("long.litmus", text.as_bytes()).expect("it is only long");
    assert!(read.proposition.holds(&read.program, &[1]));
}
