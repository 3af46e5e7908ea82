//! Reads the sides and the tests, and prints the smallest differences.

use std::io::{self, Write};
use std::time::Instant;

use engine::exit::Exit;
use generate::build;
use generate::cycle::Cycle;
use generate::difference::{
    Difference, DifferenceSearch, FoundDifferences, SearchEnd, UndecidedCycle,
};
use generate::question::CycleAnswer;
use litmus::Quantifier;

use super::args::{Diff, Settles};
use super::files;
use super::note::{self, DiffNote};
use super::report::{DiffReport, DiffSummary, DifferingTest};
use super::shrink;
use super::side::{DiffSide, SideLimits};
use crate::progress;

/// Compares two sides. A difference determines the exit code.
pub fn command(command: &Diff, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let Some(one) = DiffSide::read(&command.one, err)? else { return Ok(Exit::BadInput) };
    let Some(other) = DiffSide::read(&command.other, err)? else { return Ok(Exit::BadInput) };
    let must_agree = one.must_agree_with(&other);
    let sides = [one, other];
    let limits = SideLimits::new(command);
    let report = DiffReport { command, sides: &sides, limits };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = command.jobs.map_or(cores, usize::from);
    let deadline = command.total_timeout.map(|time| Instant::now() + time);
    engine::limit_solver(command.limits.bytes().saturating_mul(jobs));
    if !command.tests.is_empty() {
        let Some(tests) = files::read(&command.tests, &sides, err)? else {
            return Ok(Exit::BadInput);
        };
        let mut shown = 0;
        let summary = files::search(&tests, &sides, &limits, jobs, deadline, &mut |found| {
            shown += 1;
            if shown > command.limit {
                return Ok(());
            }
            let small = command.shrink.then(|| shrink::shrunk(&found, &sides, &limits, deadline));
            report.one(small.flatten().as_ref().unwrap_or(&found), out)
        })?;
        report.sum(&summary, out)?;
        return Ok(summary.exit(must_agree));
    }
    if let Some(side) = sides.iter().find(|side| side.is_cxx()) {
        writeln!(err, "error: generated tests are of PTX, and `{}` is a model of C++", side.name)?;
        writeln!(err, "help: --tests litmus/cxx")?;
        return Ok(Exit::BadInput);
    }
    let Some(space) = command.requested.space(err)? else { return Ok(Exit::BadInput) };
    let start = Instant::now();
    let [one, other] =
        [&sides[0], &sides[1]].map(|side| |cycle: &Cycle| side.of_cycle(cycle, &limits));
    let search = DifferenceSearch {
        sides: [&one, &other],
        frontiers: match command.frontier {
            Settles::Auto => sides.iter().all(DiffSide::is_monotone),
            Settles::Always => true,
            Settles::Never => false,
        },
        all: command.all,
        jobs,
        deadline,
    };
    let answers = usize::try_from(space.count().saturating_mul(2)).unwrap_or(usize::MAX);
    let bar = progress::of(if search.frontiers { 0 } else { answers }, "answers");
    let found = search.search(&space, &|done| bar.inc(done));
    bar.finish_and_clear();
    if let Some(cycle) = &found.contradiction {
        writeln!(
            err,
            "error: a side allows `{}` and forbids a weaker choice, so frontiers settle nothing",
            cycle.words()
        )?;
        writeln!(err, "help: --frontier never")?;
        return Ok(Exit::BadInput);
    }
    for difference in found.differences.iter().take(command.limit as usize) {
        report.one(&differing(difference), out)?;
    }
    let mut summary = summary(&found, &sides, start);
    let mut programs = space.covering().map(|cycle| build::program(&cycle).program);
    summary.notes.extend(note::lacking(&sides, &mut programs, true));
    summary.notes.extend(note::between_halves(&sides, summary.differences));
    summary
        .notes
        .extend(note::slow(found.judged, search.frontiers || command.frontier == Settles::Never));
    report.sum(&summary, out)?;
    Ok(summary.exit(must_agree))
}

fn differing(difference: &Difference) -> DifferingTest {
    let answers = difference.answers.each_ref().map(CycleAnswer::to_string);
    DifferingTest {
        cycle: Some(difference.cycle.words()),
        file: None,
        shrunk: false,
        test: build::test(&difference.cycle, Quantifier::Exists),
        answers,
    }
}

fn summary(found: &FoundDifferences, sides: &[DiffSide; 2], start: Instant) -> DiffSummary {
    let undecided = |UndecidedCycle { cycle, side, reason }: &UndecidedCycle| {
        let name = &sides[*side].name;
        let text = format!("`{}` is undecided under {name}: {reason}", cycle.words());
        DiffNote { text, help: None }
    };
    DiffSummary {
        differences: found.differences.len(),
        tests: found.tried,
        undecided: found.undecided,
        judged: found.judged,
        size: found.size.map(|size| (size.threads, size.edges)),
        left: match found.end {
            SearchEnd::Bound | SearchEnd::Found => None,
            SearchEnd::Time => Some(engine::Limit::Time.text()),
            SearchEnd::Interrupted => Some(engine::Limit::Interrupted.text()),
        },
        notes: found.first_undecided.iter().map(undecided).collect(),
        stopped: found.end == SearchEnd::Found,
        seconds: start.elapsed().as_secs_f64(),
    }
}
