//! Damaged modules and words of PTX thrown together, for as long as one likes:
//! `cargo bench -p causeway-litmus --bench fuzz -- --seconds 600`.
//!
//! Panics, modules that take long and places outside of the file are written to standard output with
//! the input; `--seed` starts elsewhere.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

#[path = "../tests/ptx/checked.rs"]
mod checked;
#[path = "../tests/ptx/choices.rs"]
mod choices;
#[path = "../tests/ptx/compiled.rs"]
mod compiled;
#[path = "../tests/ptx/soup.rs"]
mod soup;

use std::panic;
use std::time::{Duration, Instant};

use choices::Choices;

fn argument(name: &str, default: u64) -> u64 {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.nth(1).and_then(|value| value.parse().ok()).unwrap_or(default)
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

fn input(seed: u64, modules: &[String]) -> Vec<u8> {
    let numbers = numbers(seed, 400);
    let mut choices = Choices::new(&numbers);
    if choices.once_in(4) {
        let count = choices.below(150);
        return soup::words(&mut choices, count).into_bytes();
    }
    let module = &modules[choices.below(modules.len())];
    soup::damaged(module, &mut choices)
}

/// In MiB, where the system says.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: Option<u64> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kilobytes.map_or_else(|| "unknown".to_owned(), |known| format!("{} MiB", known / 1024))
}

fn main() {
    let (seconds, first) = (argument("--seconds", 10), argument("--seed", 0));
    let modules: Vec<String> = [(8, true), (30, false), (120, false), (600, true)]
        .map(|(instructions, memory)| compiled::module(instructions, memory))
        .into();
    let start = Instant::now();
    let (mut seed, mut bytes, mut wrong, mut slowest) = (first, 0, 0, (Duration::ZERO, first));
    while start.elapsed() < Duration::from_secs(seconds) {
        let input = input(seed, &modules);
        let before = Instant::now();
        let outcome = panic::catch_unwind(|| checked::check(&input));
        slowest = slowest.max((before.elapsed(), seed));
        let complaint = match outcome {
            Ok(Ok(())) => None,
            Ok(Err(complaint)) => Some(complaint),
            Err(_) => Some("panic".to_owned()),
        };
        if let Some(complaint) = complaint {
            println!("seed {seed}: {complaint}\n{}\n", String::from_utf8_lossy(&input));
            wrong += 1;
        }
        bytes += input.len();
        seed += 1;
    }
    let took = start.elapsed();
    let cases = seed - first;
    let each = |n: u128| n * 1000 / took.as_millis().max(1);
    println!(
        "{cases} cases in {:.0} s: {} cases/s, {} KiB/s, slowest {:.1?} (seed {}), peak memory {}, {wrong} \
         wrong",
        took.as_secs_f64(),
        each(cases.into()),
        each(bytes as u128 / 1024),
        slowest.0,
        slowest.1,
        peak_memory()
    );
    assert_eq!(wrong, 0, "inputs that are not read as they should be");
}
