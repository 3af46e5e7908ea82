//! Functions of a module in the place of a test: `causeway litmus`, and the commands that take its words.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use checker::input;
use serde_json::Value;
use verify::{WordsQuestion, WordsTest};

use crate::fmt::{causeway, folder, said};
use crate::suite;

const MESSAGE: &str = "tests/words/message.ptx";
const LAST_BLOCK: &str = "examples/kernels/last_block.ptx";
const WORDS: &str = "producer(data, flag) || consumer(data, flag, out)";
/// Values of several widths, floats, a structure and variables of the module.
const MEMORY: &str = "tests/words/memory.ptx";
const LOCKS: &str = "try_lock(lock) || try_lock(lock)";

/// Of the command line, as in `cli`.
pub(crate) const SNAPSHOTS: &[(&str, &[&str])] = &[
    ("help-litmus", &["litmus", "--help"]),
    ("help-verify", &["verify", "--help"]),
    ("litmus-list", &["litmus", MESSAGE]),
    ("litmus-list-narrow", &["litmus", "tests/words/narrow.ptx"]),
    ("litmus-narrow", &["litmus", "tests/words/narrow.ptx", "try_lock(a)"]),
    ("litmus-test", &["litmus", MESSAGE, WORDS, "--never=[out]=0", "--init=data=7"]),
    (
        "litmus-placed",
        &[
            "litmus",
            MESSAGE,
            "producer(u64 a[4], &a+16) @warp 0,cta 0,gpu 1 || _Z8consumerPjS_S_(param_1=a, out, param_0=b[2]) @cta 3",
            "--init=a={1,2}",
            "--init=b=3",
            "--sometimes=b[1]==3 /\\ not (a[0]=2 || P1:r2!=0)",
        ],
    ),
    ("litmus-result", &["litmus", MESSAGE, LOCKS, "--always=P0:return=0 || P1:return=0"]),
    ("litmus-unknown-function", &["litmus", MESSAGE, "producr(data, flag)"]),
    ("litmus-few-arguments", &["litmus", MESSAGE, "producer(data) || consumer(data, flag, out)"]),
    ("litmus-spare-argument", &["litmus", MESSAGE, "try_lock(a, 4)"]),
    ("litmus-unknown-parameter", &["litmus", MESSAGE, "try_lock(lck=a)"]),
    ("litmus-wrong-place", &["litmus", MESSAGE, "try_lock(a) @block 1"]),
    ("litmus-warp-without-cta", &["litmus", MESSAGE, "try_lock(a) @warp 1"]),
    ("litmus-open", &["litmus", MESSAGE, "try_lock(a || try_lock(a)"]),
    ("litmus-wrong-register", &["litmus", MESSAGE, "try_lock(a, %tid.x=1)"]),
    ("litmus-unknown-location", &["litmus", MESSAGE, WORDS, "--never=[outt]=0"]),
    ("litmus-no-result", &["litmus", MESSAGE, WORDS, "--never=P1:return=0"]),
    ("litmus-wrong-init", &["litmus", MESSAGE, WORDS, "--init=data[1]=0", "--never=[out]=0"]),
    ("litmus-no-module", &["litmus", "tests/cli/holds.litmus", WORDS]),
    ("litmus-no-compiler", &["litmus", "tests/words/message.cu", WORDS]),
    ("litmus-condition-alone", &["litmus", MESSAGE, "--never=[out]=0"]),
    ("check-words", &["check", "--engine=enumerate", MESSAGE, WORDS, "--never=[out]=0"]),
    (
        "check-words-github",
        &["check", "--engine=enumerate", "--format=github", MESSAGE, WORDS, "--never=[out]=0"],
    ),
    ("check-condition-alone", &["check", "tests/cli/holds.litmus", "--never=[x]=0"]),
    ("check-words-unknown", &["check", MESSAGE, "f(x)", "--never=[x]=0"]),
    ("explain-words", &["explain", MESSAGE, WORDS, "--never=[out]=0"]),
    ("fix-words", &["fix", "--engine=enumerate", MESSAGE, WORDS, "--never=[out]=0"]),
    ("fix-words-write", &["fix", "--write", MESSAGE, WORDS, "--never=[out]=0"]),
    ("explore-words", &["explore", MESSAGE, WORDS, "--never=[out]=0"]),
    ("litmus-list-memory", &["litmus", MEMORY]),
    (
        "litmus-elements",
        &["litmus", MEMORY, "wide(a, b, h[3])", "--init=a[1]=7", "--init=h={1,2}", "--always=b=7"],
    ),
    ("litmus-floats", &["litmus", MEMORY, "scaled(2, -1.5, out, 200)", "--always=out[1]=-1.5"]),
    (
        "litmus-structure",
        &[
            "litmus",
            MEMORY,
            "structured({0: 5, 4: 1.5, 8: &data, 16: wide})",
            "--always=data[1]=1.5 && wide[1]=5",
        ],
    ),
    (
        "litmus-globals",
        &[
            "litmus",
            MEMORY,
            "globals(out[3])",
            "--init=counter=3",
            "--init=table[2]=9",
            "--init=u32 table+4=1",
            "--init=limits={5,6}",
            "--init=scale=2.5",
            "--always=counter=9 && out[2]=2.5",
        ],
    ),
    ("litmus-wide-number", &["litmus", MEMORY, "scaled(1, 1, out, 300)"]),
    ("litmus-wide-field", &["litmus", MEMORY, "structured({0: 0x1ffffffff, 4: 1, 8: a, 16: b})"]),
    ("litmus-behind-structure", &["litmus", MEMORY, "structured({0: 1, 24: a})"]),
    ("litmus-no-fields", &["litmus", MEMORY, "structured(5)"]),
    ("litmus-small-array", &["litmus", MEMORY, "wide(a[1], b, h)"]),
    ("litmus-wide-element", &["litmus", MEMORY, "globals(out)", "--init=limits[1]=70000"]),
    ("litmus-behind-array", &["litmus", MEMORY, "globals(out)", "--init=table={1,2,3,4,5}"]),
    ("litmus-sized-variable", &["litmus", MEMORY, "globals(table[2])"]),
    ("litmus-float-order", &["litmus", MESSAGE, LOCKS, "--never=P0:return=0 && lock>1.5"]),
    ("litmus-closed", &["litmus", MESSAGE, WORDS, "--never=[out]=0)"]),
    ("litmus-empty-condition", &["litmus", MESSAGE, WORDS, "--never="]),
    ("serve-module", &["serve", MESSAGE]),
    ("serve-unknown", &["serve", MESSAGE, "f(x)"]),
    ("serve-condition-alone", &["serve", "--never=[x]=0"]),
    ("verify-lines", &["verify", LAUNCHED]),
    ("verify-lines-github", &["verify", "--format=github", LAUNCHED]),
    ("verify-wrong-line", &["verify", "tests/words/wrong-line.ptx"]),
    (
        "verify-github",
        &[
            "verify",
            "--format=github",
            LAST_BLOCK,
            "--grid=2",
            "--block=1",
            "--arg=part=u32[2]",
            "--arg=counter=u32[1]=0",
            "--arg=sum=u32[1]",
        ],
    ),
    ("verify-spare-options", &["verify", "examples/kernels/last_block.toml", "--grid=2"]),
    ("verify-no-launch", &["verify", LAST_BLOCK]),
    ("verify-no-block", &["verify", LAST_BLOCK, "--grid=2"]),
    ("verify-no-grid", &["verify", LAST_BLOCK, "--block=1"]),
    (
        "verify-several",
        &["verify", "examples/kernels/last_block.toml", "examples/kernels/last_block.fixed.toml"],
    ),
    (
        "verify-bounded",
        &[
            "verify",
            "tests/launches/bounded.ptx",
            "--grid=2",
            "--block=1",
            "--arg=a=u32[1]=0",
            "--assert=a[0]!=3",
            "--timeout=0.000001",
        ],
    ),
    ("verify-launches-of-one-kernel", &["verify", "tests/launches/modes.ptx"]),
    (
        "verify-weaken",
        &[
            "verify",
            "--weaken",
            "examples/kernels/look_back.fixed.toml",
            "examples/kernels/split_k.fixed.toml",
            "examples/kernels/split_k.toml",
        ],
    ),
    ("verify-arguments", &["verify", LAST_BLOCK, "--grid=2", "--block=1"]),
    ("verify-no-compiler", &["verify", "tests/words/message.cu", "--grid=1", "--block=1"]),
];

/// Its source has launches in comments.
const LAUNCHED: &str = "tests/words/launched.ptx";

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    said(&causeway(arguments, &suite::root()))
}

/// What `check` finds, but for the name of the file.
fn checked(arguments: &[&str]) -> Value {
    let (_, out, err) =
        run(&[&["check", "--engine=enumerate", "--format=json"], arguments].concat());
    let mut value: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
    for field in ["file", "seconds"] {
        value.as_object_mut().expect("it is an object").remove(field);
    }
    value
}

#[test]
fn the_answer_is_that_of_the_printed_test() {
    let place = folder("words-printed");
    for (words, condition) in [
        (WORDS, "--never=[out]=0"),
        (WORDS, "--always=out[0]==42"),
        (LOCKS, "--never=P0:return=0 && P1:return=0"),
        ("producer(data, flag) @cta 0 || consumer(data, flag, out) @cta 0", "--sometimes=[out]=42"),
    ] {
        let path = place.join("printed.litmus");
        let path = path.to_str().expect("it is text");
        let (code, _, err) = run(&["litmus", MESSAGE, words, condition, "--output", path]);
        assert_eq!(code, Some(0), "{err}");
        assert_eq!(checked(&[MESSAGE, words, condition]), checked(&[path]), "{words} {condition}");
        let (code, out, err) = run(&["fmt", "--check", path]);
        assert_eq!(code, Some(0), "{words}: {out}{err}");
    }
}

#[test]
fn a_compiler_that_is_named_makes_the_module() {
    let place = folder("words-compiled");
    let compiler = |name: &str, script: &str| {
        let path = place.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        path.to_str().expect("it is text").to_owned()
    };
    // The output is after `-o`.
    let module = suite::root().join(MESSAGE);
    let copies = compiler(
        "copies",
        &format!(
            "while [ $# -gt 1 ]; do [ \"$1\" = -o ] && to=$2; shift; done; cp {} \"$to\"",
            module.display()
        ),
    );
    let fails = compiler("fails", "echo 'line 3: no such thing' >&2; seq 100 >&2; exit 1");
    let direct = run(&["litmus", MESSAGE, WORDS]).1.replace("message.ptx", "message");
    for (option, ending) in [("--nvcc", "cu"), ("--clang", "cu"), ("--llc", "ll")] {
        let path = place.join(format!("message.{ending}"));
        fs::write(&path, "").expect("it can be written");
        let file = path.to_str().expect("it is text");
        let (code, out, err) = run(&["litmus", file, WORDS, option, &copies, "--target=sm_80"]);
        assert_eq!(code, Some(0), "{err}");
        assert_eq!(out.replace(&format!("message.{ending} (PTX)"), "message"), direct);
        let line = err.lines().next().expect("the command is printed");
        assert!(line.starts_with(&copies) && line.contains("sm_80"), "{err}");
        let (code, _, err) = run(&["litmus", file, option, &fails]);
        assert_eq!(code, Some(2));
        assert!(err.contains("does not compile it\nline 3: no such thing\n1\n2\n"), "{err}");
        assert!(err.ends_with("\n19\n… and 81 lines more\n"), "{err}");
    }
}

#[test]
fn numbers_have_the_types_of_what_they_are_for() {
    let verdict = |condition: &str| {
        let words = "scaled(2, -1.5, out, 200) || globals(shown[3])";
        let condition = format!("--always={condition}");
        run(&["check", "--engine=enumerate", MEMORY, words, "--init=scale=0.5", &condition]).0
    };
    // Elements have 64 bits, as the widest access.
    for right in [
        "out[0]=0x40800000",
        "out[1]=-1.5",
        "out[1]=-1.5e0f",
        "out[2]=200",
        "shown[2]=0.5",
        "0.5=shown[2]",
    ] {
        assert_eq!(verdict(right), Some(0), "{right}");
    }
    for wrong in ["out[1]=1.5", "shown[2]=0.25", "shown[2]!=0.5"] {
        assert_eq!(verdict(wrong), Some(1), "{wrong}");
    }
    for unread in ["out[1]<1.5", "1.5=1.5", "out[1]=1.5.5", "out[1]=1."] {
        assert_eq!(verdict(unread), Some(2), "{unread}");
    }
}

/// A module may be standard input, for every command that takes words.
#[test]
fn a_module_is_read_from_standard_input() {
    let causeway_reading = |arguments: &[&str]| {
        let module = fs::File::open(suite::root().join(MESSAGE)).expect("it is there");
        let mut command = Command::new(env!("CARGO_BIN_EXE_causeway"));
        command.args(arguments).current_dir(suite::root()).stdin(module);
        command.output().expect("the program starts")
    };
    let launch = ["--kernel=producer", "--grid=1", "--block=1", "--arg=d=u32[1]", "--arg=f=u32[1]"];
    let all: [(&[&str], i32); 5] = [
        (&["litmus", "-"], 0),
        (&["litmus", "-", WORDS], 0),
        (&["check", "-", WORDS, "--never=[out]=0"], 1),
        (&["explain", "-", WORDS, "--never=[out]=0"], 0),
        (&["fix", "--engine=enumerate", "-", WORDS, "--never=[out]=0"], 0),
    ];
    let verify = [&["verify", "-"], &launch[..]].concat();
    for (arguments, code) in all.into_iter().chain([(&verify[..], 0)]) {
        let output = causeway_reading(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
    }
}

/// Only the functions that are named are read: what is wrong elsewhere is no error.
#[test]
fn a_fault_matters_to_its_function_only() {
    let text = fs::read_to_string(suite::root().join(MESSAGE)).expect("it is there");
    let text = text.replace("atom.cas.acquire", "atom.bogus.acquire");
    let made = |words: &str| {
        let request = WordsTest { words, ..WordsTest::default() };
        verify::words::compose("k.ptx", &text, &request).map(|_| ())
    };
    assert_eq!(made(WORDS), Ok(()));
    let errors = made(LOCKS).expect_err("its instruction is unknown");
    assert!(errors[0].message.contains(".bogus"), "{}", errors[0]);
    let survey = verify::survey("k.ptx", &text).expect("it is a module");
    assert_eq!(survey.functions.iter().filter(|of| of.refused.is_some()).count(), 1);
}

/// What is proposed can be run as it is printed.
#[test]
fn proposals_are_commands() {
    let commands = |module: &str| {
        let (_, out, _) = run(&["litmus", module]);
        let lines = out.lines().filter_map(|line| line.trim().strip_prefix("causeway "));
        lines.map(str::to_owned).collect::<Vec<String>>()
    };
    let mut count = 0;
    for command in [commands(MESSAGE), commands(MEMORY)].concat() {
        let script = format!("\"$0\" {command}");
        let output = Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_causeway")])
            .current_dir(suite::root())
            .output()
            .expect("there is a shell");
        assert!(matches!(output.status.code(), Some(0 | 1)), "{command}: {output:?}");
        count += 1;
    }
    assert!(count > 2);
}

/// Whatever is cut off a module or the words, there is an answer or an error.
#[test]
fn nothing_that_is_cut_off_panics() {
    let text = fs::read_to_string(suite::root().join(MESSAGE)).expect("it is there");
    let ends = text.char_indices().filter(|(_, c)| *c == '\n').map(|(at, _)| at);
    let request = WordsTest {
        words: WORDS,
        question: Some((WordsQuestion::Never, "[out]=0")),
        ..WordsTest::default()
    };
    let mut made = 0;
    for end in ends.chain([text.len()]) {
        made += usize::from(verify::words::compose("k", &text[..end], &request).is_ok());
        if let Err(errors) = verify::survey("k", &text[..end]) {
            assert!(!errors.is_empty());
        }
    }
    assert!(made > 0);
    let kernels = [suite::root().join("examples/kernels"), suite::root().join("tests/words")];
    let modules = input::find(&kernels, "ptx").expect("they are there");
    assert!(modules.len() > 9);
    for module in modules {
        let text = fs::read_to_string(&module).expect("it is text");
        for (end, _) in text.match_indices('\n') {
            if let Err(errors) = verify::survey("k", &text[..end]) {
                assert!(!errors.is_empty(), "{}", module.display());
            }
        }
    }
    let words = "ns::f<int>(int*)(data, u64 a[4], &a+8, n=-1, {0: 5, 8: @a}, %tid.x=1) @cta 0,gpu 1 || try_lock(lock)";
    for (at, _) in words.char_indices() {
        for with in ["", "(", "|", "@", "9999999999999", "é"] {
            let words = format!("{}{with}{}", &words[..at], &words[at + 1..]);
            let request = WordsTest { words: &words, ..request };
            let errors = verify::words::compose("k", &text, &request).expect_err("there is no `f`");
            assert!(!errors.is_empty());
        }
    }
}
