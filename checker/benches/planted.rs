//! Takes one thing away from right tests, and counts what `causeway fix` finds: a repair that costs no more than what was
//! taken away.
//!
//! `cargo bench --bench planted -- [suite|patterns] [--seed N] [--count N] [-v]`: the tests of the suite that forbid an
//! outcome, or generated tests of patterns that kernels have; `--count` draws as many of the faults.

#![expect(clippy::print_stdout, reason = "it prints its measurements")]

#[path = "planted/faults.rs"]
mod faults;
#[path = "planted/patterns.rs"]
mod patterns;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use checker::input;
use engine::clock::Deadline;
use judge::{Task, Verdict, judge};
use litmus::Quantifier;
use litmus::revise::SourceTest;
use model::ptx;
use model::rel::Model;
use repair::{RepairOptions, RepairState, repair};

use faults::Fault;

/// How long a search may take.
const LIMIT: Duration = Duration::from_secs(2);

/// What became of a fault.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fate {
    /// The outcome does not appear: what was taken away was not needed.
    Hidden,
    Undecided,
    Repaired,
    /// The repair costs more.
    Dearer,
    Nothing,
}

fn suite(model: &Model) -> Vec<(String, SourceTest)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../litmus/suite");
    let files = input::find(&[folder], "litmus").expect("the suite can be read");
    let read = |path: std::path::PathBuf| {
        let bytes = input::read(&path).expect("the file can be read");
        let name = path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into());
        let source = SourceTest::read(&path.to_string_lossy(), &bytes).ok()?;
        let of = &source.test;
        let right = of.quantifier == Quantifier::NotExists
            && of.sass.is_none()
            && of.dialect != litmus::Dialect::Cxx;
        let holds = || judge(of, &Task::new(model)).verdict == Verdict::Holds;
        (right && holds()).then_some((name, source))
    };
    files.into_iter().filter_map(read).collect()
}

fn generated(model: &Model) -> Vec<(String, SourceTest)> {
    let read = |pattern: patterns::Pattern| {
        let source = SourceTest::read(&pattern.name, pattern.text.as_bytes());
        let source = source.unwrap_or_else(|errors| panic!("{}\n{}", errors[0], pattern.text));
        let verdict = judge(&source.test, &Task::new(model)).verdict;
        if verdict != Verdict::Holds {
            println!("{}: {verdict:?}\n{}", pattern.name, pattern.text);
            return None;
        }
        Some((pattern.name, source))
    };
    patterns::patterns().into_iter().filter_map(read).collect()
}

/// What becomes of a fault, and how long the search takes.
fn fate(source: &SourceTest, fault: &Fault, model: &Model) -> (Fate, Duration, Option<String>) {
    let none = Duration::ZERO;
    let text = source.revised(&fault.revisions);
    let Ok(wrong) = SourceTest::read("wrong", text.as_bytes()) else {
        return (Fate::Hidden, none, None);
    };
    let judged = judge(&wrong.test, &Task { work: Some(1 << 20), ..Task::new(model) });
    match judged.verdict {
        Verdict::Holds => return (Fate::Hidden, none, None),
        Verdict::Undecided(_) | Verdict::Unsupported(_) => return (Fate::Undecided, none, None),
        Verdict::Fails | Verdict::Undefined(_) | Verdict::Stuck(_) => {}
    }
    let start = Instant::now();
    let options = RepairOptions {
        until: Some(Deadline::after(LIMIT)),
        proposals: 1,
        ..RepairOptions::new(model)
    };
    let repairs = repair(&wrong, &options);
    let time = start.elapsed();
    let fate = match repairs.proposals.first() {
        Some(first) if first.cost.edits <= fault.edits => Fate::Repaired,
        Some(_) => Fate::Dearer,
        None if matches!(repairs.state, RepairState::Excluded(_)) => Fate::Undecided,
        None => Fate::Nothing,
    };
    let found = repairs.proposals.first().map(|first| {
        let lines = first.edits.iter().flat_map(|edit| &edit.lines);
        lines.map(ToString::to_string).collect::<Vec<_>>().join("; ")
    });
    (fate, time, found.or(repairs.limit.map(|limit| limit.text())))
}

/// A generator of pseudorandom numbers: xorshift.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)?.parse::<u64>().ok()
    };
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let model = ptx::model();
    let mut tests = Vec::new();
    if has("suite") || !has("patterns") {
        tests.extend(suite(&model));
    }
    if has("patterns") || !has("suite") {
        tests.extend(generated(&model));
    }
    let mut all: Vec<(&str, &SourceTest, Fault)> = tests
        .iter()
        .flat_map(|(name, source)| {
            faults::faults(source).into_iter().map(move |fault| (&**name, source, fault))
        })
        .collect();
    println!("{} tests, {} faults", tests.len(), all.len());
    if let Some(count) = number("--count") {
        let mut state = number("--seed").unwrap_or(1) | 1;
        while all.len() as u64 > count {
            let at = next(&mut state) % all.len() as u64;
            all.swap_remove(usize::try_from(at).unwrap_or(0));
        }
    }
    let mut counts: BTreeMap<(&str, Fate), usize> = BTreeMap::new();
    let mut times: Vec<Duration> = Vec::new();
    for (name, source, fault) in &all {
        let (fate, time, found) = fate(source, fault, &model);
        *counts.entry((fault.kind, fate)).or_default() += 1;
        if matches!(fate, Fate::Repaired | Fate::Dearer | Fate::Nothing) {
            times.push(time);
        }
        if matches!(fate, Fate::Dearer | Fate::Nothing) && has("-v") {
            let found = found.unwrap_or_default();
            println!("{fate:?} {name} ({}) {}: {found}", fault.kind, fault.what);
        }
    }
    println!(
        "{:<22} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "taken away", "hidden", "undecid.", "repaired", "dearer", "nothing"
    );
    let kinds: Vec<&str> = {
        let mut kinds: Vec<&str> = counts.keys().map(|(kind, _)| *kind).collect();
        kinds.dedup();
        kinds
    };
    let fates = [Fate::Hidden, Fate::Undecided, Fate::Repaired, Fate::Dearer, Fate::Nothing];
    let mut sums = [0; 5];
    for kind in kinds {
        let row = fates.map(|fate| counts.get(&(kind, fate)).copied().unwrap_or(0));
        for (sum, one) in sums.iter_mut().zip(row) {
            *sum += one;
        }
        let [hidden, undecided, repaired, dearer, nothing] = row;
        println!("{kind:<22} {hidden:>8} {undecided:>8} {repaired:>8} {dearer:>8} {nothing:>8}");
    }
    let [hidden, undecided, repaired, dearer, nothing] = sums;
    println!("{:<22} {hidden:>8} {undecided:>8} {repaired:>8} {dearer:>8} {nothing:>8}", "all");
    let visible = repaired + dearer + nothing;
    times.sort_unstable();
    let at = |of: usize| times.get(times.len() * of / 100).copied().unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "few faults")]
    let percent = 100.0 * repaired as f64 / visible.max(1) as f64;
    println!(
        "{repaired} of {visible} repaired: {percent:.1} %; median {:.1?}, 95 % below {:.1?}",
        at(50),
        at(95)
    );
}
