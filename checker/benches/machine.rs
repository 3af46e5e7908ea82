//! How fast the machine is searched, and how much of it is left out: `cargo bench --bench machine`.
//!
//! A state is what the search keeps: one packed configuration, found once. With nothing left out it
//! is any configuration between two single steps; otherwise one in which there is a choice. Times
//! are the best of several runs on one core, of the search alone.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::fmt::Write;
use std::time::Instant;

use ::explore::{Exploration, ExploreLimits, explore};
use litmus::Test;
use machine::{Options, Reduce};
use sass::lower::Lowering;

fn main() {
    // What the test harness hands over means nothing here.
    let filter: Option<String> = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let wanted = |name: &str| filter.as_ref().is_none_or(|filter| name.contains(filter.as_str()));
    if wanted("speed") {
        speed();
    }
    if wanted("reductions") {
        reductions();
    }
    if wanted("growth") {
        growth();
    }
}

/// A test of threads that each have an SM; each column has its instructions.
fn test(name: &str, columns: &[Vec<String>]) -> Test {
    let mut text = format!("PTX {name}\n{{ x=0; y=0; z=0; }}\n");
    let places = (0..columns.len()).map(|thread| format!("P{thread}@cta {thread},gpu 0"));
    writeln!(text, "{} ;", places.collect::<Vec<_>>().join(" | ")).expect("strings can be written");
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    for row in 0..rows {
        let cells = columns.iter().map(|column| column.get(row).map_or("", String::as_str));
        writeln!(text, "{} ;", cells.collect::<Vec<_>>().join(" | ")).expect("as above");
    }
    // Everything that is read is looked at.
    let mut seen = Vec::new();
    for (thread, column) in columns.iter().enumerate() {
        for cell in column.iter().filter(|cell| cell.starts_with("ld")) {
            let register = cell.split_whitespace().nth(1).expect("loads have registers");
            seen.push(format!("P{thread}:{}=9", register.trim_end_matches(',')));
        }
    }
    writeln!(text, "exists ({})", seen.join(" /\\ ")).expect("as above");
    litmus::parse(name, text.as_bytes()).unwrap_or_else(|all| panic!("{text}\n{}", all[0]))
}

fn iriw(store: &str, load: &str) -> Test {
    let column = |cells: &[String]| cells.to_vec();
    test(
        "IRIW",
        &[
            column(&[format!("{store} [x], 1")]),
            column(&[format!("{store} [y], 1")]),
            column(&[format!("{load} r0, [x]"), format!("{load} r1, [y]")]),
            column(&[format!("{load} r0, [y]"), format!("{load} r1, [x]")]),
        ],
    )
}

/// Four threads of three accesses: a store and two loads, or two stores and a load.
fn four(store: &str, load: &str, mixed: bool) -> Test {
    let columns: Vec<Vec<String>> = (0..4)
        .map(|thread: usize| {
            let at = |step: usize| ["x", "y", "z"][(thread + step) % 3];
            let st = |step: usize| format!("{store} [{}], {}", at(step), 3 * thread + step + 1);
            let ld = |step: usize| format!("{load} r{step}, [{}]", at(step));
            match (mixed, thread % 2) {
                (false, _) => vec![st(0), ld(1), ld(2)],
                (true, 0) => vec![st(0), ld(1), st(2)],
                (true, _) => vec![ld(0), st(1), ld(2)],
            }
        })
        .collect();
    test("four", &columns)
}

fn message(readers: usize, store: &str, release: &str, acquire: &str, load: &str) -> Test {
    let mut columns = vec![vec![format!("{store} [x], 1"), format!("{release} [y], 1")]];
    let reader = vec![format!("{acquire} r0, [y]"), format!("{load} r1, [x]")];
    columns.extend(std::iter::repeat_n(reader, readers));
    test("MP", &columns)
}

const ST: &str = "st.relaxed.gpu.u32";
const LD: &str = "ld.relaxed.gpu.u32";

fn search(test: &Test, reduce: Reduce, states: usize) -> (Exploration, f64) {
    let options = Options { reduce, ..Options::default() };
    let lowering = Lowering::of(90).expect("there is a table");
    let start = Instant::now();
    let explored = explore(&test.program, lowering, options, ExploreLimits::states(states));
    (explored.expect("the family has all of this"), start.elapsed().as_secs_f64())
}

fn million(rate: f64) -> String {
    format!("{:.2} M/s", rate / 1e6)
}

#[allow(clippy::cast_precision_loss, reason = "counts of states are small")]
fn speed() {
    const TIMES: usize = 5;
    println!(
        "\nspeed, four threads                        states   states/s  transitions/s  bytes"
    );
    let cases = [
        ("every order, relaxed", four(ST, LD, true), Reduce::None, usize::MAX),
        ("every state, relaxed", four(ST, LD, true), Reduce::Sleep, usize::MAX),
        ("every state, relaxed, first 500,000", four(ST, LD, true), Reduce::Sleep, 500_000),
        (
            "every state, weak, first 500,000",
            four("st.weak.u32", "ld.weak.u32", true),
            Reduce::Sleep,
            500_000,
        ),
        ("reduced, relaxed", four(ST, LD, true), Reduce::All, usize::MAX),
    ];
    for (name, test, reduce, states) in cases {
        let runs = (0..TIMES).map(|_| search(&test, reduce, states));
        let (explored, seconds) =
            runs.min_by(|a, b| a.1.total_cmp(&b.1)).expect("there are several");
        let count = explored.states as f64;
        println!(
            "{name:38} {:>10} {:>10} {:>14} {:>6}",
            explored.states,
            million(count / seconds),
            million(explored.transitions as f64 / seconds),
            explored.bytes.div_ceil(explored.states),
        );
    }
    println!("wanted: 2 M states/s, below 64 bytes each");
}

#[allow(clippy::cast_precision_loss, reason = "counts of states are small")]
fn reductions() {
    println!(
        "\nreductions                        every step    reduced   factor   outcomes   wanted"
    );
    let cases = [
        ("IRIW relaxed", iriw(ST, LD), "10x"),
        ("IRIW weak", iriw("st.weak.u32", "ld.weak.u32"), "10x"),
        ("IRIW acquire", iriw(ST, "ld.acquire.gpu.u32"), "5x"),
        ("4 threads of 3 relaxed", four(ST, LD, false), "40x"),
        ("4 threads of 3 relaxed, mixed", four(ST, LD, true), "40x"),
    ];
    for (name, test, wanted) in cases {
        let (all, _) = search(&test, Reduce::None, 30_000_000);
        let (fewer, _) = search(&test, Reduce::All, 30_000_000);
        assert!(all.outcomes.keys().eq(fewer.outcomes.keys()), "{name}: not the same outcomes");
        let factor = all.states as f64 / fewer.states as f64;
        println!(
            "{name:30} {:>13} {:>10} {factor:>7.1}x {:>10}   {wanted}",
            all.states,
            fewer.states,
            fewer.outcomes.len(),
        );
    }
}

fn growth() {
    println!(
        "\nmessage passing, n readers: states of every step, reduced, with equal threads as one; seconds of the last"
    );
    let families = [
        (
            "release/acquire",
            ["st.weak.u32", "st.release.gpu.u32", "ld.acquire.gpu.u32", "ld.weak.u32"],
        ),
        ("relaxed", [ST, ST, LD, LD]),
    ];
    for (name, [store, release, acquire, load]) in families {
        println!("{name}");
        for readers in 1..=9 {
            let test = message(readers, store, release, acquire, load);
            let limited = |reduce: Reduce, states: usize| {
                let (explored, seconds) = search(&test, reduce, states);
                let shown = match explored.limit {
                    None => explored.states.to_string(),
                    Some(_) => "-".to_owned(),
                };
                (shown, seconds)
            };
            let every = if readers < 6 { limited(Reduce::None, 2_000_000).0 } else { "-".into() };
            let (por, _) = limited(Reduce::Por, 2_000_000);
            let (all, seconds) = limited(Reduce::All, 10_000_000);
            println!("  {readers} {every:>12} {por:>12} {all:>12}   {seconds:.3} s");
        }
    }
    println!("wanted: 8 readers in 10 s");
}
