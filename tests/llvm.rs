//! Functions of LLVM IR: what a column computes is what the function computes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use checker::judge::{Task, Verdict, judge};
use litmus::function::{Function, Initial};
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
    let mut text = format!("CXX {}\n{{\n", function.name);
    for variable in &function.variables {
        let (name, space, bytes) = (&variable.name, variable.space.name(), variable.bytes);
        text += &format!(".{space} .u8 {name}[{bytes}];\n");
    }
    for (register, initial) in &function.initial {
        let Initial::Address(name) = initial else { panic!("{register} is {initial:?}") };
        text += &format!("P0:{register}={name};\n");
    }
    text += "}\nP0@cta 0,gpu 0;\n";
    for row in &function.rows {
        text += &format!("{};\n", row.cell);
    }
    let (result, bits) = function.result.as_ref().expect("it returns something");
    // Above these bits a register may hold anything.
    let mask = if *bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    text += &format!("and.b64 shown, {result}, {mask};\nforall (P0:shown={value})\n");
    text
}

#[test]
fn a_column_computes_what_its_function_does() {
    let values = values();
    let text = fs::read_to_string(file()).expect("it is there");
    let functions = litmus::llvm::functions("values.ll", &text).expect("it can be read");
    assert_eq!(functions.len(), values.len(), "each function says its value");
    let model = cxx::model(ReleaseSequence::Cpp20);
    let task = Task { bound: BOUND, ..suite::task(&model) };
    for (name, function) in functions {
        let function = function.unwrap_or_else(|why| panic!("{name}: {}: {}", why.line, why.why));
        let test = alone(&function, values[&name]);
        let read = litmus::parse(&name, test.as_bytes());
        let read = read.unwrap_or_else(|errors| panic!("{test}{}", errors[0]));
        let judgement = judge(&read, &task);
        assert_eq!(judgement.verdict, Verdict::Holds, "{test}");
    }
}

/// The value of each function as LLVM itself folds it; where it is not installed, the test says so.
#[test]
fn the_values_of_the_functions_are_those_of_llvm() {
    let Some(folded) = run("opt", &["-S", "-O2", "-o", "-"], &file()) else { return };
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

/// What a tool prints of a file; `None` where it is not installed.
pub(crate) fn run(tool: &str, arguments: &[&str], file: &Path) -> Option<String> {
    let output = match Command::new(tool).args(arguments).arg(file).output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("skipped: {tool}: {error}");
            return None;
        }
    };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{tool} {}: {said}", file.display());
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}
