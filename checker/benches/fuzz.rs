//! Damaged inputs for every reader, and damaged tests for every engine under small limits: a number of cases
//! that takes about a minute, or `cargo bench -p causeway --bench fuzz -- --seconds 600`.
//!
//! Panics, inputs that take long, errors outside of the file and engines that disagree are written to
//! standard output with the input; `--seed` starts elsewhere, `--target` names one target. Where the
//! process itself ends (a stack that overflows), `target/tmp/fuzz/TARGET` has the seed of the input.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

#[path = "../../crates/ptx/tests/ptx/checked.rs"]
mod checked;
#[path = "../../crates/ptx/tests/ptx/choices.rs"]
mod choices;
#[path = "../../crates/ptx/tests/ptx/compiled.rs"]
mod compiled;
#[path = "../../crates/ptx/tests/ptx/fuzz_input.rs"]
mod fuzz_input;
#[path = "fuzz/launches.rs"]
mod launches;
#[path = "fuzz/targets.rs"]
mod targets;
#[path = "fuzz/tokens.rs"]
mod tokens;

use std::fs;
use std::io::{Seek, Write};
use std::panic;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use checker::input;
use choices::Choices;
use targets::{TARGETS, Target};

fn argument(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

fn number(name: &str) -> Option<u64> {
    argument(name).map(|value| value.parse().expect("the value is a number"))
}

/// Numbers that look random, each seed its own.
fn numbers(seed: u64, count: usize) -> Vec<u16> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        u16::try_from(mixed >> 48).unwrap_or(0)
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What is damaged: files of the repository.
fn corpus(target: &Target) -> Vec<String> {
    let mut all = Vec::new();
    for (below, extension) in target.corpus {
        let files = input::find(&[root().join(below)], extension).expect("the repository is there");
        all.extend(files.iter().filter_map(|file| fs::read_to_string(file).ok()));
    }
    if target.name == "ptx" {
        let modules = [(8, true), (30, false), (120, false), (600, true)];
        all.extend(modules.map(|(instructions, memory)| compiled::module(instructions, memory)));
    }
    assert!(!all.is_empty(), "{}: nothing to damage", target.name);
    all
}

fn damaged(seed: u64, target: &Target, corpus: &[String]) -> Vec<u8> {
    let numbers = numbers(seed, 400);
    let mut choices = Choices::new(&numbers);
    if target.name == "ptx" && choices.once_in(4) {
        let count = choices.below(150);
        return fuzz_input::words(&mut choices, count).into_bytes();
    }
    let text = &corpus[choices.below(corpus.len())];
    if target.tokens {
        return tokens::changed(text, &corpus[choices.below(corpus.len())], &mut choices);
    }
    let mut bytes = fuzz_input::damaged(text, &mut choices);
    // Now and then a piece of another file, or one sign very often.
    let at = choices.below(1 << 16) * bytes.len() / (1 << 16);
    if choices.once_in(4) {
        let other = corpus[choices.below(corpus.len())].as_bytes();
        let from = choices.below(1 << 16) * other.len() / (1 << 16);
        let to = other.len().min(from + choices.below(200));
        bytes.splice(at..at, other[from..to].iter().copied());
    } else if choices.once_in(64) {
        let sign = choices.of(b"([{<-~!|9.;,");
        bytes.splice(at..at, std::iter::repeat_n(sign, 20_000));
    }
    bytes
}

/// In MiB, where the system says.
fn peak_memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: Option<u64> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kilobytes.map_or_else(|| "unknown".to_owned(), |known| format!("{} MiB", known / 1024))
}

/// Damages and judges for so long, or the target's number of cases; how many inputs were not read as they should be.
fn fuzz(target: &Target, time: Option<Duration>, first: u64) -> usize {
    let corpus = corpus(target);
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz");
    fs::create_dir_all(&kept).expect("the folder can be made");
    let mut kept = fs::File::create(kept.join(target.name)).expect("the file can be made");
    let start = Instant::now();
    let (mut seed, mut bytes, mut wrong, mut slowest) = (first, 0, 0, (Duration::ZERO, first));
    let goes_on = |seed| match time {
        Some(time) => start.elapsed() < time,
        None => seed < first + target.cases,
    };
    while goes_on(seed) {
        let input = damaged(seed, target, &corpus);
        // In place: a disk that is busy does not slow this down.
        kept.rewind().and_then(|()| writeln!(kept, "{seed:20}")).expect("the seed can be kept");
        let before = Instant::now();
        let outcome = panic::catch_unwind(|| (target.check)(&input));
        let took = before.elapsed();
        slowest = slowest.max((took, seed));
        let complaint = match outcome {
            Ok(Ok(())) if took > target.patience => Some(format!("it took {took:.1?}")),
            Ok(Ok(())) => None,
            Ok(Err(complaint)) => Some(complaint),
            Err(_) => Some("panic".to_owned()),
        };
        if let Some(complaint) = complaint {
            let input = String::from_utf8_lossy(&input);
            println!("{}, seed {seed}: {complaint}\n{input}\n", target.name);
            wrong += 1;
        }
        bytes += input.len();
        seed += 1;
    }
    let took = start.elapsed();
    let cases = seed - first;
    let each = |n: u128| n * 1000 / took.as_millis().max(1);
    println!(
        "{:8} {cases:>8} cases in {:.0} s: {:>6} cases/s, {:>6} KiB/s, slowest {:.1?} (seed {}), peak memory {}, \
         {wrong} wrong",
        target.name,
        took.as_secs_f64(),
        each(cases.into()),
        each(bytes as u128 / 1024),
        slowest.0,
        slowest.1,
        peak_memory()
    );
    wrong
}

fn main() {
    let only = argument("--target");
    let of = |target: &&Target| only.as_ref().is_none_or(|name| *name == target.name);
    let targets: Vec<&Target> = TARGETS.iter().filter(of).collect();
    assert!(!targets.is_empty(), "the targets are {:?}", TARGETS.map(|target| target.name));
    let count = u32::try_from(targets.len()).expect("there are few");
    // Shared evenly.
    let time = number("--seconds").map(|seconds| Duration::from_secs(seconds) / count);
    let first = number("--seed").unwrap_or(0);
    let wrong: usize = targets.into_iter().map(|target| fuzz(target, time, first)).sum();
    assert_eq!(wrong, 0, "inputs that are not read as they should be");
}
