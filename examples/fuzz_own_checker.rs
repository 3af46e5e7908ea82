//! Another project's checker on Causeway's random programs: a few lines that interleave loads and stores.
//!
//! What is sequentially consistent is allowed by the model of PTX, so each outcome of the interleavings must be among
//! the outcomes that Causeway finds. Proptest draws the programs and shrinks the first one that differs. The checker
//! has a mistake, which is found, until it is told to do without.
//!
//! `cargo run --example fuzz_own_checker`

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use fuzz::draw::{LONG, ProgramSource};
use judge::{Task, judge};
use litmus::arbitrary::RandomProgram;
use model::ptx;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

/// What the checker knows of an instruction.
#[derive(Clone)]
enum Op {
    Load { register: String, variable: String },
    Store { variable: String, value: u64 },
    Fence,
}

/// Values by name: `0:r1` of registers, `x` of variables.
type Outcome = BTreeMap<String, u64>;

/// An instruction such as `ld.weak.u32 r0, [x]`; `None` if the checker does not know it.
fn op(thread: usize, cell: &str) -> Option<Op> {
    let (opcode, operands) = cell.split_once(' ').unwrap_or((cell, ""));
    // `z` is a second name of `x`.
    let variable = |text: &str| {
        let name = text.strip_prefix('[')?.strip_suffix(']')?;
        Some(if name == "z" { "x" } else { name }.to_owned())
    };
    let operands: Vec<&str> = operands.split(", ").collect();
    match (opcode.split('.').next()?, &operands[..]) {
        ("fence" | "membar", _) => Some(Op::Fence),
        ("ld", [register, at]) => {
            Some(Op::Load { register: format!("{thread}:{register}"), variable: variable(at)? })
        }
        ("st", [at, value]) => {
            Some(Op::Store { variable: variable(at)?, value: value.parse().ok()? })
        }
        _ => None,
    }
}

/// The outcomes of all interleavings. With the mistake, the last thread may begin with its second instruction.
fn interleavings(threads: &[Vec<Op>], mistake: bool) -> BTreeSet<Outcome> {
    fn go(threads: &[Vec<Op>], at: &mut Vec<usize>, state: &Outcome, all: &mut BTreeSet<Outcome>) {
        let mut ended = true;
        for thread in 0..threads.len() {
            let Some(op) = threads[thread].get(at[thread]) else { continue };
            ended = false;
            let mut next = state.clone();
            match op {
                Op::Load { register, variable } => {
                    let value = state.get(variable).copied().unwrap_or(0);
                    next.insert(register.clone(), value);
                }
                Op::Store { variable, value } => {
                    next.insert(variable.clone(), *value);
                }
                Op::Fence => {}
            }
            at[thread] += 1;
            go(threads, at, &next, all);
            at[thread] -= 1;
        }
        if ended {
            all.insert(state.clone());
        }
    }
    let mut all = BTreeSet::new();
    let start: Outcome = ["x", "y"].into_iter().map(|name| (name.to_owned(), 0)).collect();
    go(threads, &mut vec![0; threads.len()], &start, &mut all);
    if mistake && let Some(last) = threads.last().filter(|last| last.len() > 1) {
        let mut swapped = last.clone();
        swapped.swap(0, 1);
        let threads = [&threads[..threads.len() - 1], &[swapped]].concat();
        go(&threads, &mut vec![0; threads.len()], &start, &mut all);
    }
    all
}

/// The outcomes that Causeway finds; `None` if the program is undefined.
fn allowed(program: &RandomProgram) -> Option<BTreeSet<Outcome>> {
    let text = program.to_string();
    let parsed = litmus::parse("random", text.as_bytes()).ok()?;
    let (model, mut all) = (ptx::model(), BTreeSet::new());
    let judged = judge(&parsed, &Task::new(&model));
    if judged.found.seen.undefined.is_some() || judged.found.limit.is_some() {
        return None;
    }
    for values in judged.found.outcomes.keys() {
        let shown = parsed.display_outcome(values).replace(['[', ']'], "");
        let pairs = shown.split(';').filter_map(|pair| pair.trim().split_once('='));
        let values = pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?)));
        all.insert(values.collect());
    }
    Some(all)
}

/// Runs the checker on random programs; the text of the smallest that differs, and how many were compared.
fn compare(mistake: bool) -> (Option<String>, u32) {
    let compared = Cell::new(0);
    let config = Config { cases: 2_000, failure_persistence: None, ..Config::default() };
    let rng = proptest::test_runner::TestRng::deterministic_rng(config.rng_algorithm);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let programs = ProgramSource::Uniform(LONG).strategy();
    let result = runner.run(&programs, |program| {
        let threads: Option<Vec<Vec<Op>>> = (0..)
            .zip(&program.threads)
            .map(|(number, thread)| thread.cells.iter().map(|cell| op(number, cell)).collect())
            .collect();
        // Neither checker has to know every program.
        let (Some(threads), Some(allowed)) = (threads, allowed(&program)) else { return Ok(()) };
        compared.set(compared.get() + 1);
        match interleavings(&threads, mistake).difference(&allowed).next() {
            Some(outcome) => {
                Err(TestCaseError::fail(format!("only the own checker has {outcome:?}")))
            }
            None => Ok(()),
        }
    });
    let differs = match result {
        Ok(()) => None,
        Err(TestError::Fail(why, program)) => Some(format!("{why}\n{program}")),
        Err(TestError::Abort(why)) => Some(why.to_string()),
    };
    (differs, compared.get())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout();
    let (differs, _) = compare(true);
    let differs = differs.ok_or("the mistake was not found")?;
    writeln!(out, "with the mistake: {differs}")?;
    let (differs, compared) = compare(false);
    if let Some(differs) = differs {
        return Err(differs.into());
    }
    Ok(writeln!(out, "without it, {compared} programs agree")?)
}
