//! `causeway explore`: outcomes, runs, and the comparison with the axioms.

use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use generate::log::{self, LoggedTest};
use litmus::{Dialect, Test};
use model::rel::Model;
use sass::lower::Lowering;
use sass::lowering::{self, LoweringTable};

use super::report::{ExploreResult, ExploreSummary, ExploredFile, TextOptions};
use super::timeline::TimelinePage;
use crate::complaints;
use crate::explore::args::Explore;
use crate::generation::compare;
use crate::input;
use crate::progress;
use crate::report::CommandRun;
use crate::suite::{self, SuiteInput};
use ::explore::ExploreLimits;
use ::explore::random::Walks;
use engine::clock::Deadline;
use engine::exit::Exit;
use reach::one::{self, ExploreQuestion};

/// Runs the tests. The worst result determines the exit code.
pub fn command(
    command: &Explore,
    model: &Model,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let start = Instant::now();
    let inputs = suite::inputs(&command.paths, &command.asked, "explore", err)?;
    let Some(files) = inputs else { return Ok(Exit::BadInput) };
    let table = match command.table.as_deref().map(read_table).transpose() {
        Ok(table) => table,
        Err(complaint) => {
            write!(err, "{complaint}")?;
            return Ok(Exit::BadInput);
        }
    };
    let seen = match &command.seen {
        None => None,
        Some(log) => match compare::read(log, err)? {
            None => return Ok(Exit::BadInput),
            Some(tests) => Some(SeenStates { log, tests }),
        },
    };
    let lowerings = command.arch.0.iter().map(|&sm| {
        let standard = Lowering::of(sm).expect("the command line names known targets");
        table.as_ref().map_or(standard, |table| Lowering { table, ..standard })
    });
    let lowerings: Vec<Lowering<'_>> = lowerings.collect();
    let question = question(command, model);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = command.jobs.map_or(cores, usize::from);
    let mut summary = ExploreSummary { compares: command.check, ..ExploreSummary::default() };
    let mut report = command.format.report();
    let shown = TextOptions {
        check: command.check,
        verbose: command.verbose,
        stats: command.stats,
        progress: command.progress,
    };
    let mut timelines = TimelinePage::default();
    let (bar, mut done, mut logged) = (progress::of(files.len(), "tests"), 0, 0);
    let work = |index: usize| {
        let outcome = explored(&files[index], &lowerings, &question, command.limits.timeout);
        if let Some(seen) = &seen { seen.compared(outcome) } else { outcome }
    };
    let result = engine::parallel::in_order(files.len(), jobs, &work, &mut |result| {
        let Some((index, outcome)) = result else {
            bar.finish_and_clear();
            summary.seconds = start.elapsed().as_secs_f64();
            report.sum(&summary, out)?;
            let (exit, seconds) = (summary.exit(), summary.seconds);
            report.end(&CommandRun { command: "explore", exit, seconds }, out)?;
            out.flush()?;
            if let Some(file) = &command.timeline {
                timelines.write(file)?;
            }
            return complaints::interrupted(done, files.len(), "files", err);
        };
        done += 1;
        logged += usize::from(seen.as_ref().is_some_and(|seen| seen.has(&outcome)));
        let item = ExploredFile { path: files[index].path.clone(), outcome };
        summary.add(&item);
        if command.timeline.is_some() {
            timelines.add(&item);
        }
        bar.inc(1);
        progress::above(&bar, out, |out| {
            complaints::complain(item.unread().as_ref(), report.as_ref(), out, err)?;
            item.said(shown).into_iter().try_for_each(|said| report.one(&said, out))
        })
    });
    bar.finish_and_clear();
    result?;
    match &seen {
        Some(seen) if logged == 0 && !engine::interrupt::raised() => {
            compare::no_test(&seen.tests, err)
        }
        _ => Ok(summary.exit()),
    }
}

/// The tests of a log, with the states that were seen.
struct SeenStates<'a> {
    log: &'a Path,
    tests: Vec<LoggedTest>,
}

impl SeenStates<'_> {
    fn of(&self, test: &Test) -> Option<&LoggedTest> {
        self.tests.iter().find(|logged| logged.name == test.name && logged.failure.is_none())
    }

    fn has(&self, result: &ExploreResult) -> bool {
        match result {
            ExploreResult::Ran(test, _) => self.of(test).is_some(),
            // It is not known which test it is.
            ExploreResult::Rejected(_) | ExploreResult::Unreadable(_) => true,
        }
    }

    /// Adds the states that a machine does not reach, where all that it reaches is known.
    fn compared(&self, result: ExploreResult) -> ExploreResult {
        let ExploreResult::Ran(test, mut machines) = result else { return result };
        let Some(logged) = self.of(&test) else { return ExploreResult::Ran(test, machines) };
        for ran in machines.iter_mut().filter(|ran| ran.is_complete()) {
            let outcomes = ran.outcomes.iter().map(|reached| &reached.values);
            match log::compare(logged, &test, outcomes) {
                Ok(found) => {
                    ran.only_seen = found.forbidden.iter().map(compare::shown_state).collect();
                }
                Err((line, why)) => {
                    let why = compare::refused_state(self.log, line, &why);
                    return ExploreResult::Unreadable(io::Error::other(why));
                }
            }
        }
        ExploreResult::Ran(test, machines)
    }
}

fn question<'a>(command: &Explore, model: &'a Model) -> ExploreQuestion<'a> {
    ExploreQuestion {
        model,
        check: command.check,
        bound: command.judging.bound,
        options: command.machine.options(),
        limits: ExploreLimits {
            memory: command.limits.bytes(),
            runs: command.runs || command.timeline.is_some(),
            progress: command.progress,
            ..ExploreLimits::states(command.states)
        },
        walks: command.random.map(|count| Walks { count, seed: command.seed }),
        runs: command.runs || command.timeline.is_some(),
    }
}

/// Runs one file on each machine.
fn explored(
    input: &SuiteInput,
    lowerings: &[Lowering<'_>],
    question: &ExploreQuestion<'_>,
    timeout: Option<Duration>,
) -> ExploreResult {
    let (path, bytes) = match input.read() {
        Ok(read) => read,
        Err(error) => return ExploreResult::Unreadable(error),
    };
    match litmus::parse(&path, &bytes) {
        Ok(test) if test.dialect == Dialect::Cxx => {
            let why = "a test of C++ has no machine instructions";
            ExploreResult::Unreadable(io::Error::other(why))
        }
        Ok(test) => {
            let until = timeout.map(Deadline::after);
            let judged = one::axioms(&test, question, until);
            let judged = judged.as_ref();
            let run = |lowering: &Lowering<'_>| one::run(&test, judged, *lowering, question, until);
            // A test in SASS runs only on the machine that it names.
            let own = test.sass.as_ref().and_then(litmus::SassTarget::lowering);
            let lowerings = own.as_ref().map_or(lowerings, std::slice::from_ref);
            let machines = lowerings.iter().map(run).collect();
            ExploreResult::Ran(Box::new(test), machines)
        }
        Err(diagnostics) => ExploreResult::Rejected(diagnostics),
    }
}

pub(crate) fn read_table(path: &Path) -> Result<LoweringTable, String> {
    let shown = path.to_string_lossy();
    let text = input::text_that_fits(path, input::is_table)
        .map_err(|error| format!("error: {}: {error}\n", input::shown(path)))?;
    let table = lowering::read(&shown, &text).map_err(|diagnostics| {
        let all: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        all.join("\n")
    })?;
    if table.cxx {
        return Err(format!(
            "error: {}: this table lowers C++ to PTX; expected a table to SASS\n",
            input::shown(path)
        ));
    }
    Ok(table)
}
