//! A naive implementation of the model of asynchronous operations, which shares no code with the engines and was written
//! from the documents alone, has the outcomes and the undefined programs of the engine `enumerate`.

use std::collections::BTreeSet;

use engine::enumerate::Enumerate;
use judge::{Task, Verdict, judge};
use litmus::Test;
use litmus::arbitrary::asynchronous::{AsyncSketch, asynchronous};
use model::ptx;
use model::rel::Model;
use proptest::strategy::{Strategy, ValueTree};

use crate::agree::{number, runner};
use crate::asynchronous::parse;
use crate::brute::{self, Answer};
use crate::suite;

/// How a comparison ended.
#[derive(PartialEq, Eq)]
enum Compared {
    Outcomes,
    Undefined,
    /// The test is outside the subset, or an engine reached a limit.
    Skipped,
}

/// Compares the answers to one test; what differs is the error.
fn compare(source: &str, test: &Test, model: &Model) -> Result<Compared, String> {
    let here = brute::outcomes(source);
    if let Answer::Unsupported(_) = here {
        return Ok(Compared::Skipped);
    }
    let judgement = judge(test, &Task { engines: vec![&Enumerate], ..Task::new(model) });
    match (&judgement.verdict, &here) {
        (Verdict::Unsupported(_) | Verdict::Undecided(_), _) => Ok(Compared::Skipped),
        (Verdict::Undefined(reason), Answer::Undefined(reasons)) => {
            // The engine tells one reason of several.
            let known = reasons.contains(',') || reason.contains(reasons.as_str());
            let words = || format!("undefined: {reason}, and here {reasons}");
            known.then_some(Compared::Undefined).ok_or_else(words)
        }
        (Verdict::Holds | Verdict::Fails | Verdict::Stuck(_), Answer::Outcomes(found)) => {
            let shown =
                |outcome: &Vec<_>| sorted(test.display_outcome(outcome).split(';').map(by_bytes));
            let there: BTreeSet<Vec<String>> = judgement.found.outcomes.keys().map(shown).collect();
            let names = brute::observed(source);
            let of_values = |values: &Vec<u64>| {
                let pairs = names.iter().zip(values);
                sorted(pairs.map(|(name, value)| format!("{name}={value}")))
            };
            let here: BTreeSet<Vec<String>> = found.iter().map(of_values).collect();
            let words = || format!("outcomes: {there:?}, and here {here:?}");
            (here == there).then_some(Compared::Outcomes).ok_or_else(words)
        }
        (verdict, here) => Err(format!("{verdict:?}, and here {here:?}")),
    }
}

/// What is observed with its offset in bytes, `[a+4]=1` for `a[1]=1`: elements are words here.
fn by_bytes(pair: &str) -> String {
    let pair = pair.trim();
    let element = pair.split_once('[').filter(|(name, _)| !name.is_empty());
    let Some((name, rest)) = element else { return pair.to_owned() };
    let (index, value) = rest.split_once(']').expect("the index ends");
    match index.parse::<u64>().expect("an index is a number") {
        0 => format!("[{name}]{value}"),
        index => format!("[{name}+{}]{value}", 4 * index),
    }
}

fn sorted(pairs: impl Iterator<Item = impl AsRef<str>>) -> Vec<String> {
    let mut all: Vec<String> = pairs.map(|pair| pair.as_ref().trim().to_owned()).collect();
    all.retain(|pair| !pair.is_empty());
    all.sort();
    all
}

#[test]
fn tests_of_the_suite_have_the_answers_of_the_brute_force() {
    let model = ptx::model();
    let (mut outcomes, mut undefined, mut wrong) = (0, 0, Vec::new());
    for entry in suite::load(&suite::folder()) {
        if !entry.test.program.is_asynchronous() || entry.test.filter.is_some() {
            continue;
        }
        let text = std::fs::read_to_string(&entry.path).expect("the test is there");
        match compare(&text, &entry.test, &model) {
            Ok(Compared::Outcomes) => outcomes += 1,
            Ok(Compared::Undefined) => undefined += 1,
            Ok(Compared::Skipped) => {}
            Err(what) => wrong.push(format!("{}: {what}", entry.test.name)),
        }
    }
    eprintln!("{outcomes} tests with outcomes and {undefined} undefined tests compared");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(outcomes > 80 && undefined > 30, "{outcomes} and {undefined} tests were compared");
}

#[test]
fn random_asynchronous_programs_have_the_answers_of_the_brute_force() {
    let model = ptx::model();
    let mut runner = runner(number("CAUSEWAY_SEED", 31));
    let (mut outcomes, mut undefined) = (0, 0);
    let cases = number("CAUSEWAY_CASES", 1_000);
    for _ in 0..cases {
        let sketch: AsyncSketch =
            asynchronous().new_tree(&mut runner).expect("a program is drawn").current();
        let text = sketch.to_string();
        match compare(&text, &parse(&sketch), &model) {
            Ok(Compared::Outcomes) => outcomes += 1,
            Ok(Compared::Undefined) => undefined += 1,
            Ok(Compared::Skipped) => {}
            Err(what) => panic!("{what}\n{text}"),
        }
    }
    eprintln!("{outcomes} programs with outcomes and {undefined} undefined programs compared");
    assert!(4 * (outcomes + undefined) > 3 * cases && 10 * outcomes > cases, "few were compared");
}
