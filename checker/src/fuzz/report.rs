//! What a campaign found, as text and as JSON.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use fuzz::campaign::{CampaignState, FoundFailure, LawTally, TEST_FILE};
use fuzz::law::named;
use schemars::JsonSchema;
use serde::Serialize;

use super::args::FuzzFormat;
use super::store::file;
use crate::input::shown;
use crate::lines::{self, LineKind};
use crate::report::count_of;

/// What became of a law.
#[derive(Serialize, JsonSchema)]
pub struct FuzzObject<'a> {
    /// The name of the law.
    law: &'a str,
    /// The law in one sentence.
    statement: &'a str,
    seed: u64,
    /// The fault that was planted.
    plant: Option<&'a str>,
    /// How many programs it was checked for.
    cases: u64,
    /// Cases that say nothing about the law, by reason.
    skipped: &'a BTreeMap<String, u64>,
    /// Cases that break the law.
    broken: u64,
    /// The first of them, made small.
    failures: Vec<FailureObject<'a>>,
    /// The time of all threads together.
    seconds: f64,
}

/// A program that breaks a law.
#[derive(Serialize, JsonSchema)]
pub struct FailureObject<'a> {
    /// The number of its case.
    case: u64,
    /// What the two sides of the law say of the small program.
    what: &'a str,
    /// How many instructions the small program has.
    instructions: usize,
    /// The command that shows it; `FILE` stands for a file with the test.
    replay: &'a str,
    /// The small program, as a litmus test.
    test: &'a str,
}

/// Prints the result for each law.
pub(super) fn print(
    state: &CampaignState,
    folder: Option<&Path>,
    seconds: f64,
    format: FuzzFormat,
    out: &mut dyn Write,
) -> io::Result<()> {
    let of = |name: &str| -> Vec<&FoundFailure> {
        state.failures.iter().filter(|failure| failure.law == name).collect()
    };
    for (name, tally) in state.laws.iter().zip(&state.tallies) {
        match format {
            FuzzFormat::Text => text(state, name, tally, folder, &of(name), out)?,
            FuzzFormat::Json => {
                lines::write(LineKind::Fuzz, object(state, name, tally, &of(name)), out)?;
            }
        }
    }
    if format == FuzzFormat::Json {
        return Ok(());
    }
    let broken: u64 = state.tallies.iter().map(|tally| tally.broken).sum();
    let laws = count_of(state.laws.len(), "law");
    let all: u64 = state.tallies.iter().map(|tally| tally.cases).sum();
    let found = count_of(broken, "disagreement");
    writeln!(
        out,
        "{laws}, {}, seed {}: {found}   ({} cases/s; {seconds:.1} s)",
        count_of(all, "case"),
        state.seed,
        rate(all, seconds)
    )
}

fn object<'a>(
    state: &'a CampaignState,
    name: &'a str,
    tally: &'a LawTally,
    failures: &[&'a FoundFailure],
) -> FuzzObject<'a> {
    let failures = failures.iter().map(|failure| FailureObject {
        case: failure.case,
        what: &failure.what,
        instructions: failure.instructions,
        replay: &failure.replay,
        test: &failure.test,
    });
    FuzzObject {
        law: name,
        statement: named(name).map_or("", |law| law.statement),
        seed: state.seed,
        plant: state.plant.as_deref(),
        cases: tally.cases,
        skipped: &tally.skipped,
        broken: tally.broken,
        failures: failures.collect(),
        seconds: tally.seconds,
    }
}

/// How many in a second, rounded.
fn rate(count: u64, seconds: f64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a rate is rounded")]
    let rate = count as f64 / seconds.max(1e-9);
    format!("{rate:.0}")
}

fn text(
    state: &CampaignState,
    name: &str,
    tally: &LawTally,
    folder: Option<&Path>,
    failures: &[&FoundFailure],
    out: &mut dyn Write,
) -> io::Result<()> {
    let skipped: u64 = tally.skipped.values().sum();
    let skipped = if skipped == 0 { String::new() } else { format!(", {skipped} skipped") };
    let (cases, broken) = (count_of(tally.cases, "case"), count_of(tally.broken, "disagreement"));
    let (rate, seconds) = (rate(tally.cases, tally.seconds), tally.seconds);
    writeln!(
        out,
        "{name}: {cases}{skipped}, {broken}   ({rate} cases/s in a thread; {seconds:.1} s)"
    )?;
    for (reason, count) in &tally.skipped {
        writeln!(out, "  {count} skipped: {reason}")?;
    }
    for failure in failures {
        let FoundFailure { case, what, instructions, replay, .. } = failure;
        let instructions = count_of(*instructions, "instruction");
        writeln!(out, "  case {case}: {what}")?;
        if let Some(folder) = folder {
            let path = file(folder, state.seed, failure);
            let path = shown(&path);
            // A command that checks the case again does not name the file.
            let (command, file) = if replay.contains(TEST_FILE) {
                (replay.replace(TEST_FILE, &path), String::new())
            } else {
                (replay.clone(), format!(" ({path})"))
            };
            writeln!(out, "    {instructions}{file}: {command}")?;
        } else {
            writeln!(out, "    {instructions}: {replay}")?;
            for line in failure.test.lines() {
                writeln!(out, "      {line}")?;
            }
        }
    }
    Ok(())
}
