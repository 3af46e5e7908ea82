//! What is not LLVM IR is reported, and nothing else happens.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::column;

const MODULE: &str = include_str!("functions.ll");

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Words of LLVM IR, some of which make sense after others.
const WORDS: &[&str] = &[
    "define",
    "void",
    "@f",
    "(",
    ")",
    "{",
    "}",
    "\n",
    "ret",
    "i32",
    "%0",
    "%x",
    "=",
    "load",
    "ptr",
    ",",
    "store",
    "br",
    "label",
    "phi",
    "[",
    "]",
    "<",
    ">",
    "x",
    "4",
    "i1",
    "true",
    "undef",
    "getelementptr",
    "*",
    "addrspace",
    "\"a\"",
    "!",
    "!0",
    "entry",
    ":",
    "switch",
    "call",
    "@llvm.nvvm.barrier0",
    "%t",
    "type",
    "global",
    "alloca",
    "select",
    "icmp",
    "eq",
    "extractvalue",
    "cmpxchg",
    "seq_cst",
    "syncscope",
    "-1",
    ";",
];

/// Reading ends, and what is read can be the column of a test.
fn check(text: &str) {
    if let Ok(functions) = llvm::functions("f.ll", text) {
        for function in functions.iter().filter_map(|(_, made)| made.as_ref().ok()) {
            assert!(function.line <= text.lines().count());
            assert!(function.rows.iter().all(|row| row.line <= text.lines().count()));
        }
    }
}

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn any_text_is_read(text in "\\PC{0,200}") {
        check(&text);
    }

    #[test]
    fn any_words_are_read(words in vec(0..WORDS.len(), 0..120)) {
        let words: Vec<&str> = words.into_iter().map(|word| WORDS[word]).collect();
        check(&words.join(" "));
        check(&format!("define void @f(ptr %p) {{\n{}\n  ret void\n}}\n", words.join(" ")));
    }

    #[test]
    fn a_damaged_module_is_read(edits in vec((any::<prop::sample::Index>(), 0..3, 0..WORDS.len()), 1..8)) {
        let mut words: Vec<&str> = MODULE.split_inclusive([' ', '\n', ',', '(', ')']).collect();
        for (at, how, word) in edits {
            let at = at.index(words.len());
            match how {
                0 => drop(words.remove(at)),
                1 => words[at] = WORDS[word],
                _ => words.insert(at, WORDS[word]),
            }
        }
        check(&words.concat());
    }
}

#[test]
fn every_beginning_of_a_module_is_read() {
    for (end, _) in MODULE.char_indices() {
        check(&MODULE[..end]);
    }
    check(MODULE);
}

#[test]
fn what_is_nested_or_named_in_a_circle_ends() {
    let deep = format!("@x = global {}i32 0\n", "[1 x ".repeat(100_000));
    // Nothing uses the variable.
    assert!(llvm::functions("f.ll", &deep).is_ok_and(|functions| functions.is_empty()));
    let circle = "%a = type { %b, %b }\n%b = type { %a, %a }\ndefine void @f(ptr %p) {\n  \
        %q = getelementptr %a, ptr %p, i64 1\n  %c = load i32, ptr %q\n  ret void\n}\n";
    assert!(column::read(circle)[0].1.is_err());
    let wide = "%a = type [4294967295 x [4294967295 x [4294967295 x i8]]]\ndefine void @f(ptr %p) {\n  \
        %q = getelementptr %a, ptr %p, i64 9223372036854775807, i64 3\n  ret void\n}\n";
    let _ = llvm::functions("f.ll", wide);
    let chain = "define void @f(ptr %p) {\n  %a = getelementptr i8, ptr %b, i64 1\n  \
        %b = getelementptr i8, ptr %a, i64 1\n  %v = load i32, ptr %a\n  ret void\n}\n";
    let _ = llvm::functions("f.ll", chain);
}

/// A module as large as a program's is read in a second: nothing is looked for in everything else.
#[test]
fn a_large_module_is_read_soon() {
    let mut lines = Vec::new();
    lines.extend((0..5_000).map(|n| format!("@g{n} = addrspace(1) global i32 0")));
    for n in 0..5_000 {
        lines.push(format!("define void @f{n}(ptr %p) {{"));
        lines.push(format!("  %v = load i32, ptr addrspace(1) @g{n}"));
        lines.extend(["  store i32 %v, ptr %p", "  ret void", "}"].map(str::to_owned));
    }
    for (name, loads) in [("long", 4_000), ("longer", 40_000)] {
        lines.push(format!("define void @{name}(ptr %p) {{"));
        lines.extend((0..loads).map(|n| format!("  %v{n} = load i32, ptr %p")));
        lines.extend(["  ret void", "}"].map(str::to_owned));
    }
    let text = lines.join("\n");
    let start = std::time::Instant::now();
    let mut functions = column::read(&text);
    assert_eq!(functions.len(), 5_002);
    let (_, longer) = functions.pop().expect("the last one");
    let refused = longer.expect_err("a thread has at most 32,768 registers");
    let why = &refused.first().why;
    assert!(why.ends_with("this thread has too many registers"), "{why}");
    assert!(functions.iter().all(|(_, made)| made.is_ok()));
    let seconds = start.elapsed().as_secs_f64();
    assert!(seconds < 10.0, "{seconds} s");
    eprintln!("{seconds} s");
}
