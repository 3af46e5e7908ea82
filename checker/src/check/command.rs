//! Runs `causeway check`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use engine::exit::Exit;
use indicatif::ProgressBar;
use judge::explain::ExplainOptions;
use judge::{BOUND, Task, alternatives};
use model::cxx::{self, ReleaseSequence};
use model::reading::Readings;
use model::rel::Model;
use text::Diagnostic;

use super::page::ReportFolder;
use super::{CheckSummary, CheckedTest};
use crate::check::args::Check;
use crate::complaints;
use crate::filter::TestFilter;
use crate::input::{self, quoted};
use crate::options::EngineName;
use crate::options::PropertyName;
use crate::progress;
use crate::report::{CommandRun, ReportFormat};
use crate::selection::{self, SelectedModel, judging_model};
use crate::slow::SlowTests;
use crate::suite::{self, FileResult, SuiteInput, SuiteRequest};
use crate::watch;
use crate::words;

/// Judges the tests once, or after each change with `--watch`.
pub(crate) fn command(check: &Check, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let functions = words::in_paths(&check.paths, &check.asked);
    if check.watch {
        let model = check.judging.model.as_deref().filter(|path| path.is_file());
        let files = if functions.is_some() { 1 } else { check.paths.len() };
        let paths = check.paths[..files].iter().cloned();
        let watched: Vec<PathBuf> = paths.chain(model.map(Path::to_path_buf)).collect();
        return watch::repeat(&watched, &mut |out, err| once(check, out, err), out, err);
    }
    once(check, out, err)
}

fn once(check: &Check, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let start = Instant::now();
    let chosen = judging_model(&check.judging, err)?;
    let Some(SelectedModel { model, readings }) = chosen else { return Ok(Exit::BadInput) };
    let alternatives = readings.map_or(Vec::new(), alternatives);
    if let Some((error, help)) = contradiction(check) {
        writeln!(err, "error: {error}\nhelp: {help}")?;
        return Ok(Exit::BadInput);
    }
    let counted = check.count_executions && check.engine == EngineName::Auto;
    let engine = if counted { EngineName::Enumerate } else { check.engine };
    let Some(engines) = selection::engines(engine, err)? else { return Ok(Exit::BadInput) };
    let filter = match filter(check) {
        Ok(filter) => filter,
        Err(diagnostics) => {
            complaints::complain_of(&diagnostics, err)?;
            return Ok(Exit::BadInput);
        }
    };
    let Some(files) = files(check, err)? else { return Ok(Exit::BadInput) };
    let request = SuiteRequest { filter: filter.as_ref(), ask: check.ask.as_deref() };
    if check.list {
        return list(&files, &request, out, err);
    }
    let cxx = check.judging.model.is_none().then(|| cxx::model(ReleaseSequence::Cpp20));
    let verbose = check.format == ReportFormat::Text && (check.verbose || check.outcomes);
    let task = Task {
        model: &model,
        cxx: cxx.as_ref(),
        engines,
        bound: check.judging.bound,
        timeout: check.limits.timeout,
        memory: check.limits.bytes(),
        property: check.property.property(),
        verdict_only: check.verdict_only,
        counts: check.count_executions,
        portfolio: engine == EngineName::Auto,
        work: None,
        until: None,
        // The annotations of a test on axioms and readings apply to the unmodified model.
        blame: check.judging.model.is_none() && readings == Some(Readings::default()),
        alternatives: &alternatives,
        // These take time, so they are computed only where they are shown.
        rests: check.format == ReportFormat::Json
            || check.format == ReportFormat::Text && check.verbose,
        races: matches!(check.format, ReportFormat::Json | ReportFormat::Herd)
            || verbose
            || check.report.is_some()
            || check.property == PropertyName::NoDataRace,
    };
    let jobs = jobs(check);
    engine::limit_solver(check.limits.bytes().saturating_mul(jobs));
    let explain = explain_command(check);
    let mut summary = CheckSummary::default();
    let mut report = check.format.report();
    let mut folder = match folder(check, &model, cxx.as_ref(), readings, err)? {
        Ok(folder) => folder,
        Err(exit) => return Ok(exit),
    };
    let progress =
        if check.quiet { ProgressBar::hidden() } else { progress::of(files.len(), "tests") };
    let names = files.iter().map(|file| file.path.clone()).collect();
    let slow = SlowTests::new(progress.clone(), names);
    let judge =
        |index: usize| slow.during(index, || suite::judge_file(&files[index], &request, &task));
    let result = suite::run(&files, jobs, &judge, &mut |item| {
        let Some(item) = item else {
            progress.finish_and_clear();
            summary.seconds = start.elapsed().as_secs_f64();
            if summary.engines.is_empty() && !task.portfolio {
                summary.engines.extend(task.engines.iter().map(|engine| engine.name()));
            }
            if !check.quiet || check.format != ReportFormat::Text {
                report.sum(&summary, out)?;
            }
            let (exit, seconds) = (summary.exit(), summary.seconds);
            report.end(&CommandRun { command: "check", exit, seconds }, out)?;
            out.flush()?;
            if let Some(folder) = folder.take() {
                folder.finish(&summary)?;
            }
            return complaints::interrupted(summary.total(), files.len(), "files", err);
        };
        progress.inc(1);
        if matches!(item.outcome, FileResult::Filtered) {
            summary.filtered += 1;
            return Ok(());
        }
        summary.add(&item);
        if let Some(folder) = &mut folder {
            folder.add(&item)?;
        }
        progress::above(&progress, out, |out| {
            complaints::complain(item.unread().as_ref(), report.as_ref(), out, err)?;
            report.one(&CheckedTest::new(&item, &model.name, check, &explain), out)
        })
    });
    progress.finish_and_clear();
    result?;
    if summary.total() == 0 && !engine::interrupt::raised() {
        return nothing_matches(err);
    }
    Ok(summary.exit())
}

/// How many tests are judged at the same time.
fn jobs(check: &Check) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    check.jobs.map_or_else(cores, usize::from)
}

/// The command that explains the answer of `check` on a file, without the file.
fn explain_command(check: &Check) -> String {
    let judging = &check.judging;
    let mut words = vec!["causeway explain".to_owned()];
    let mut option = |name: &str, value: &str| words.extend([name.to_owned(), quoted(value)]);
    if let Some(model) = &judging.model {
        option("--model", &model.to_string_lossy());
    }
    judging.readings.choices().for_each(|choice| option("--reading", choice));
    if judging.bound != BOUND {
        option("--bound", &judging.bound.to_string());
    }
    if let Some(ask) = &check.ask {
        option("--ask", ask);
    }
    if let Some(name) = check.property.property().stated() {
        option("--property", name);
    }
    words.join(" ")
}

/// What is wrong about options that do not go together, and what to write instead.
fn contradiction(check: &Check) -> Option<(String, &'static str)> {
    if check.count_executions && check.engine == EngineName::Solve {
        let error = "the engine `solve` does not count executions".to_owned();
        return Some((error, "causeway check --engine enumerate --count-executions"));
    }
    let option = match () {
        () if check.property == PropertyName::ProgramSpec => return None,
        () if check.count_executions => "--count-executions",
        () if check.format == ReportFormat::Herd => "--format herd",
        () if check.ask.is_some() => "--ask",
        () => return None,
    };
    let (name, help) = match check.property {
        PropertyName::NoDataRace => {
            ("no-data-race", "causeway check --property no-data-race --format json")
        }
        PropertyName::NoUninitialisedRead => (
            "no-uninitialised-read",
            "causeway check --property no-uninitialised-read --format json",
        ),
        PropertyName::Termination | PropertyName::ProgramSpec => {
            ("termination", "causeway check --property termination --format json")
        }
    };
    let error = format!("`{option}` is about outcomes, and `--property {name}` finds none");
    Some((error, help))
}

fn nothing_matches(err: &mut dyn Write) -> io::Result<Exit> {
    writeln!(err, "error: the filter excludes every test")?;
    writeln!(err, "help: `causeway check --list` lists the tests, with their names")?;
    Ok(Exit::BadInput)
}

/// The filter of the command line, if there is one.
fn filter(check: &Check) -> Result<Option<TestFilter>, Vec<Diagnostic>> {
    check.filter.as_deref().map(TestFilter::read).transpose()
}

/// The folder of `--report`, if there is one; an exit code after an error was printed.
fn folder<'m>(
    check: &Check,
    model: &'m Model,
    cxx: Option<&'m Model>,
    readings: Option<Readings>,
    err: &mut dyn Write,
) -> io::Result<Result<Option<ReportFolder<'m>>, Exit>> {
    let Some(folder) = &check.report else { return Ok(Ok(None)) };
    let options = ExplainOptions {
        bound: check.judging.bound,
        memory: check.limits.bytes(),
        readings,
        ..ExplainOptions::default()
    };
    match ReportFolder::create(folder, model, cxx, options, check.limits.timeout) {
        Ok(made) => Ok(Ok(Some(made))),
        Err(error) => {
            writeln!(err, "error: {error}")?;
            Ok(Err(Exit::BadInput))
        }
    }
}

/// The tests to judge; `None` after an error was printed.
fn files(check: &Check, err: &mut dyn Write) -> io::Result<Option<Vec<SuiteInput>>> {
    suite::inputs(&check.paths, &check.asked, "check", err)
}

/// Lists the tests that would be judged, a line each: `PATH: NAME: CONDITION`.
fn list(
    files: &[SuiteInput],
    request: &SuiteRequest<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let (mut listed, mut exit) = (0, Exit::AsExpected);
    for file in files {
        let path = &file.path;
        let read = match suite::read_file(file, request) {
            Ok(Some(test)) => {
                listed += 1;
                let (path, name) = (input::shown(path), text::escape::escaped(&test.name));
                writeln!(out, "{path}: {name}: {}", test.condition_text)?;
                continue;
            }
            Ok(None) => continue,
            Err(outcome) => {
                suite::SuiteItem { path: path.clone(), outcome, made: file.made.clone() }
            }
        };
        exit = Exit::BadInput;
        out.flush()?;
        read.unread().map_or(Ok(()), |unread| unread.complain(err))?;
    }
    if listed == 0 && exit == Exit::AsExpected {
        return nothing_matches(err);
    }
    Ok(exit)
}
