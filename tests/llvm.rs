//! Functions of LLVM IR: what a column computes is what the function computes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use judge::{Task, Verdict, judge};
use lift::function::{EntryValue, Function, ReturnedWord};
use model::cxx::{self, ReleaseSequence};

use crate::suite;

/// More times than any loop of the functions.
const BOUND: u32 = 8;

fn file() -> std::path::PathBuf {
    suite::root().join("tests/llvm/values.ll")
}

/// What each function returns, by the comment before it.
fn values() -> BTreeMap<String, u64> {
    let text = fs::read_to_string(file()).expect("it is there");
    let said = text.lines().filter_map(|line| line.strip_prefix("; ")?.split_once(" = "));
    said.map(|(name, value)| (name.to_owned(), value.parse().expect("a number"))).collect()
}

/// A function without parameters as a test that says what it returns.
fn alone(function: &Function, value: u64) -> String {
    let mut lines = vec![format!("CXX {}", function.name), "{".to_owned()];
    for variable in &function.variables {
        let (name, space, bytes) = (&variable.name, variable.space.name(), variable.bytes);
        lines.push(format!(".{space} .u8 {name}[{bytes}];"));
    }
    for (register, initial) in &function.initial {
        let EntryValue::Address(name) = initial else { panic!("{register} is {initial:?}") };
        lines.push(format!("P0:{register}={name};"));
    }
    lines.extend(["}".to_owned(), "P0@cta 0,gpu 0;".to_owned()]);
    lines.extend(function.rows.iter().map(|row| format!("{};", row.cell())));
    let [word] = &function.result[..] else { panic!("{} returns one word", function.name) };
    // Outside of these bits a register may hold anything.
    let ReturnedWord { register, mask } = word;
    lines.push(format!("and.b64 shown, {register}, {mask};"));
    lines.push(format!("forall (P0:shown={value})"));
    lines.join("\n") + "\n"
}

#[test]
fn a_column_computes_what_its_function_does() {
    let values = values();
    let text = fs::read_to_string(file()).expect("it is there");
    let functions = llvm::functions("values.ll", &text).expect("it can be read");
    assert_eq!(functions.len(), values.len(), "each function says its value");
    let model = cxx::model(ReleaseSequence::Cpp20);
    let task = Task { bound: BOUND, ..suite::task(&model) };
    for (name, function) in functions {
        let function = function.unwrap_or_else(|why| panic!("{name}: {:?}", why.first()));
        let written = alone(&function, values[&name]);
        let read = litmus::parse(&name, written.as_bytes());
        let read = read.unwrap_or_else(|errors| panic!("{written}{}", errors[0]));
        let judgement = judge(&read, &task);
        assert_eq!(judgement.verdict, Verdict::Holds, "{written}");
    }
}

/// The value of each function as LLVM itself folds it; where it is not installed, the test says so.
#[test]
#[ignore = "needs opt of LLVM"]
fn the_values_of_the_functions_are_those_of_llvm() {
    let folded = run("opt", &["-S", "-O2", "-o", "-"], &file());
    let mut name = "";
    let mut found = BTreeMap::new();
    for line in folded.lines() {
        if let Some(rest) = line.strip_prefix("define ") {
            name = rest.split(['@', '(']).nth(1).unwrap_or("");
        }
        let Some((ty, value)) = line.trim().strip_prefix("ret ").and_then(|r| r.split_once(' '))
        else {
            continue;
        };
        let bits: u32 = ty.trim_start_matches('i').parse().expect("an integer");
        let value = match value {
            "true" => 1,
            "false" => 0,
            value => value.parse::<i128>().expect("a number").rem_euclid(1 << bits),
        };
        found.insert(name.to_owned(), u64::try_from(value).expect("it was reduced"));
    }
    assert_eq!(found, values());
}

/// The command, and what it said.
fn lower(from: &Path, to: &Path) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_causeway"));
    let output = command.args(["lower", "--from"]).arg(from).arg("--to").arg(to).output();
    let output = output.expect("the command can be run");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Both readers on the way, and the code between them is another's: all values stay.
#[test]
#[ignore = "needs llc of LLVM"]
fn what_llc_makes_of_arithmetic_is_preserved() {
    let arguments = ["-march=nvptx64", "-mcpu=sm_70", "-o", "-"];
    let ptx = run("llc", &arguments, &file());
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("values.ptx");
    fs::write(&target, &ptx).expect("it can be written");
    let (code, said) = lower(&file(), &target);
    let end = format!("{0} functions: {0} preserved\n", values().len());
    assert!(code == Some(0) && said.ends_with(&end), "{said}");
    // Another number, and the function that had it is another.
    let (before, number) = ptx.split_once("mov.u32 \t%r1, ").expect("some number is put somewhere");
    let (number, after) = number.split_once(';').expect("the statement ends");
    let other = number.parse::<u32>().expect("a number") ^ 1;
    fs::write(&target, format!("{before}mov.u32 \t%r1, {other};{after}")).expect("the same");
    let (code, said) = lower(&file(), &target);
    assert_eq!(code, Some(1), "{said}");
}

/// `examples/llvm-ci`: LLVM 14 drops the order of an `atomicrmw`, and the script fails on that.
#[test]
#[ignore = "needs llc of LLVM"]
fn the_example_for_llvm_names_the_missing_release() {
    let example = suite::root().join("examples/llvm-ci");
    let version = run("llc", &["--version", "-o", "/dev/null"], &example.join("message.ll"));
    let script = |file: &Path| {
        let mut command = Command::new(example.join("check.sh"));
        command.arg(file).env("CAUSEWAY", env!("CARGO_BIN_EXE_causeway"));
        command.env_remove("GITHUB_ACTIONS").env_remove("ARCH").env_remove("LLC");
        let output = command.output().expect("the script can be run");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), said + &String::from_utf8_lossy(&output.stderr))
    };
    let (code, said) = script(&example.join("message.ll"));
    // `membar.gl` orders more than a message needs, and nothing is lost.
    assert!(said.contains("consume: stronger") && said.contains("count: preserved"), "{said}");
    if version.contains("LLVM version 14") {
        assert!(said.contains("publish: weaker") && said.contains("lacks `.release`"), "{said}");
        assert_eq!(code, Some(1), "{said}");
    }
    let (code, said) = script(&file());
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = script(Path::new("no-such-file.ll"));
    assert_eq!(code, Some(2), "{said}");
}

/// `--llc` compiles by itself, and keeps what it made only where an option says so.
#[test]
#[ignore = "needs llc of LLVM"]
fn llc_can_be_driven() {
    let driven = |file: &Path, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_causeway"));
        let output =
            command.args(["lower", "--llc", "llc", "--from"]).arg(file).args(more).output();
        let output = output.expect("the command can be run");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), said + &String::from_utf8_lossy(&output.stderr))
    };
    let (code, said) = driven(&file(), &["--arch", "sm_80"]);
    assert!(code == Some(0) && said.contains("add_wraps: preserved"), "{said}");
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kept.ptx");
    let (code, said) = driven(&file(), &["--to", kept.to_str().expect("a path of text")]);
    assert!(code == Some(0) && kept.exists(), "{said}");
    let wrong = suite::root().join("tests/llvm/wrong.ll");
    let (code, said) = driven(&wrong, &[]);
    assert!(code == Some(2) && said.contains("llc does not compile it"), "{said}");
    let (code, said) = driven(&kept, &[]);
    assert!(code == Some(2) && said.contains("extension .ll"), "{said}");
}

/// The other half of it says that it skips where the tools of NVIDIA are not installed.
#[test]
fn the_example_for_ptxas_skips_without_ptxas() {
    let example = suite::root().join("examples/llvm-ci");
    let output = Command::new(example.join("ptxas.sh"))
        .arg("any.ptx")
        .env("PTXAS", "no-such-ptxas")
        .output()
        .expect("the script can be run");
    assert_eq!(output.status.code(), Some(0));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.starts_with("skipped: ") && said.contains("pip install"), "{said}");
}

/// What a tool prints of a file.
fn run(tool: &str, arguments: &[&str], file: &Path) -> String {
    let output = Command::new(tool).args(arguments).arg(file).output();
    let output = output.unwrap_or_else(|error| panic!("{tool}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{tool} {}: {said}", file.display());
    String::from_utf8_lossy(&output.stdout).into_owned()
}
