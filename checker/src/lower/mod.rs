//! `causeway lower`: whether a compiler preserves the memory model of its source. Command line and reports.

pub mod args;
pub mod command;
pub mod drive;
pub mod files;
mod functions;
mod page;
pub mod report;
mod rows;
pub mod table;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use engine::exit::Exit;
use engine::parallel::in_order;
use indicatif::ProgressBar;
use refine::function::FunctionPair;
use refine::verdict::{Finding, Verdict};
use refine::{JudgeSettings, Progress, function};
use sass::lowering;

use self::files::ListingSource;
use self::functions::{FilePair, FunctionsReport};
use self::report::{Baseline, ReportOptions, Reporter};
use crate::complaints;
use crate::input;
use crate::kind::FileKind;
use crate::lower::args::Lower;
use crate::output;
use crate::progress;
use crate::report::finding::{UnreadInput, UnreadReason};

/// A progress bar at a terminal.
struct Bar(ProgressBar);

impl Progress for Bar {
    fn length(&self, pieces: usize) {
        self.0.set_length(pieces as u64);
    }

    fn done(&self) {
        self.0.inc(1);
    }

    fn end(&self) {
        self.0.finish_and_clear();
    }
}

/// Judges the rows of a file, a table, litmus tests, or the functions of two files. `bar` makes a progress bar
/// of a given length.
pub(crate) fn judged(
    command: &Lower,
    setting: &JudgeSettings<'_>,
    bar: &dyn Fn(usize, &'static str) -> ProgressBar,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let baseline = match command.baseline.as_deref().map(baseline).transpose() {
        Ok(baseline) => baseline.unwrap_or_default(),
        Err(error) => {
            writeln!(err, "error: {error}")?;
            writeln!(err, "help: a baseline is the output of `--format json`")?;
            return Ok(Exit::BadInput);
        }
    };
    let (format, racy, baseline) = (command.format, command.racy, &baseline);
    let min_coverage = command.min_coverage;
    let quiet = command.quiet;
    let page = command.page.as_deref();
    let mut reporter =
        Reporter::new(ReportOptions { format, racy, baseline, min_coverage, quiet, page });
    let how = JudgeOptions { command, setting, bar };
    match (&command.table, &command.rows, &command.from, &command.to) {
        (Some(table), ..) => of_table(table, &how, &mut reporter, out, err)?,
        (_, Some(rows), ..) => of_rows(rows, &how, &mut reporter, out, err)?,
        (.., Some(from), Some(to)) => of_functions([from, to], &how, &mut reporter, out, err)?,
        _ => match (&command.ptxas, &command.nvdisasm) {
            (Some(ptxas), Some(nvdisasm)) => {
                of_tests([ptxas, nvdisasm], &how, &mut reporter, out, err)?;
            }
            _ => return Ok(Exit::BadInput),
        },
    }
    reporter.end(out)
}

/// The settings for a judgement.
struct JudgeOptions<'a> {
    command: &'a Lower,
    setting: &'a JudgeSettings<'a>,
    bar: &'a dyn Fn(usize, &'static str) -> ProgressBar,
}

fn baseline(path: &Path) -> Result<Baseline, String> {
    let shown = input::shown(path);
    let text = input::text(path).map_err(|error| format!("{shown}: {error}"))?;
    Baseline::read(&text).map_err(|(line, why)| format!("{shown}:{line}: {why}"))
}

fn of_table(
    path: &Path,
    how: &JudgeOptions<'_>,
    reporter: &mut Reporter<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<()> {
    let text = match input::text_that_fits(path, input::is_table) {
        Ok(text) => text,
        Err(error) => {
            let why = UnreadReason::Unreadable(&error);
            return reporter.unread(&UnreadInput { path, why }, out, err);
        }
    };
    let table = match lowering::read(&path.to_string_lossy(), &text) {
        Ok(table) => table,
        Err(errors) => return reporter.rejected(path, &errors, out, err),
    };
    let progress = Bar((how.bar)(0, "rows"));
    table::rows(path, &table, how.setting, reporter, &progress, out)?;
    table::tests(path, &table, &how.command.tests, how.setting, reporter, out, err)
}

fn of_rows(
    path: &Path,
    how: &JudgeOptions<'_>,
    reporter: &mut Reporter<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<()> {
    let text = match input::text_that_fits(path, refine::rows::fits) {
        Ok(text) => text,
        Err(error) => {
            let why = UnreadReason::Unreadable(&error);
            return reporter.unread(&UnreadInput { path, why }, out, err);
        }
    };
    let table = match refine::read(&text) {
        Ok(table) => table,
        Err((line, why)) => {
            reporter.unread(
                &UnreadInput { path, why: UnreadReason::Line(line, &why) },
                out,
                err,
            )?;
            return writeln!(err, "help: expected the columns `source`, `target` and `arch`");
        }
    };
    if table.rows.is_empty() {
        let why = io::Error::other("no rows");
        let why = UnreadReason::Unreadable(&why);
        return reporter.unread(&UnreadInput { path, why }, out, err);
    }
    let progress = Bar((how.bar)(table.rows.len(), "rows"));
    let (findings, questions) = refine::rows::judge_by(&table, how.setting, None, &progress);
    progress.end();
    rows::report(path, &table, &findings, questions, reporter, out)
}

fn of_functions(
    [from, to]: [&Path; 2],
    how: &JudgeOptions<'_>,
    reporter: &mut Reporter<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<()> {
    let (mut sides, mut origins, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
    for path in [from, to] {
        let source: &[_] = sides.first().map_or(&[], Vec::as_slice);
        match files::functions(path, ListingSource { source, arch: how.command.arch }) {
            Ok(read) => {
                sides.push(read.functions);
                origins.push(read.origins);
                kinds.push(read.kind);
            }
            Err(unread) => {
                reporter.unread(&UnreadInput { path, why: unread.why() }, out, err)?;
            }
        }
    }
    let Ok([source, target]) = <[_; 2]>::try_from(sides) else { return Ok(()) };
    let Ok(origins) = <[_; 2]>::try_from(origins) else { return Ok(()) };
    // A compiler goes this way only.
    let lowers =
        matches!(kinds[..], [FileKind::Llvm, _] | [FileKind::Ptx, FileKind::Ptx | FileKind::Sass]);
    if !lowers {
        let [of, into] = [kinds[0], kinds[1]].map(FileKind::name);
        let why = io::Error::other(format!("{into} as the lowering of {of} is not supported"));
        let why = UnreadReason::Unreadable(&why);
        reporter.unread(&UnreadInput { path: to, why }, out, err)?;
        return writeln!(
            err,
            "help: LLVM IR becomes LLVM IR, PTX or SASS, and PTX becomes PTX or SASS"
        );
    }
    let pairs = function::paired(source, target);
    if pairs.is_empty() {
        let why = io::Error::other("no function with a body in it, nor in the target");
        let why = UnreadReason::Unreadable(&why);
        return reporter.unread(&UnreadInput { path: from, why }, out, err);
    }
    let kept_by = how.command.discards_target.then_some("--to FILE");
    let report = FunctionsReport::new(FilePair { source: from, target: to, origins, kept_by });
    of_pairs(&pairs, "functions", report, how, reporter, out, err)
}

/// Judges pairs of functions, each of which is reported as soon as it and those before it are judged.
fn of_pairs(
    pairs: &[FunctionPair],
    what: &'static str,
    mut report: FunctionsReport<'_>,
    how: &JudgeOptions<'_>,
    reporter: &mut Reporter<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<()> {
    let bar = (how.bar)(pairs.len(), what);
    let work = |index: usize| {
        let said = function::judge(&pairs[index], how.setting.refiner);
        bar.inc(1);
        said
    };
    let mut done = 0;
    let shown = in_order(pairs.len(), how.setting.jobs, &work, &mut |result| {
        let Some((_, said)) = result else {
            bar.finish_and_clear();
            report.end(reporter, out)?;
            reporter.finish(out)?;
            return complaints::interrupted(done, pairs.len(), what, err);
        };
        done += 1;
        progress::above(&bar, out, |out| report.add(said, reporter, out))
    });
    bar.finish_and_clear();
    shown
}

/// The architecture to compile threads for if the command line gives none.
const MACHINE: u16 = 90;

fn of_tests(
    [ptxas, nvdisasm]: [&Path; 2],
    how: &JudgeOptions<'_>,
    reporter: &mut Reporter<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<()> {
    let command = how.command;
    let first = command.tests.first().map_or(Path::new("-"), PathBuf::as_path);
    let (mut threads, rejected) = match drive::threads(&command.tests) {
        Ok(read) => read,
        Err(error) => return reporter.nothing(first, &error, out, err),
    };
    for (path, diagnostics) in &rejected {
        reporter.rejected(path, diagnostics, out, err)?;
    }
    if threads.is_empty() {
        let error = io::Error::other("no litmus test found in the given paths");
        return reporter.nothing(first, &error, out, err);
    }
    let own = output::temporary()?;
    let folder = command.keep.as_deref().unwrap_or(own.path());
    std::fs::create_dir_all(folder)?;
    let arch = command.arch.unwrap_or(MACHINE);
    let sides = drive::compile(&mut threads, &drive::Tools { ptxas, nvdisasm, folder, arch });
    drop(own);
    let drive::Sides { module, listing, source, target } = match sides {
        Ok(sides) => sides,
        Err(error) => {
            return reporter.nothing(ptxas, &io::Error::other(error), out, err);
        }
    };
    let mut pairs = function::paired(source, target);
    for pair in &mut pairs {
        let Some(driven) = threads.iter().find(|driven| driven.symbol == pair.name) else {
            continue;
        };
        let more = match driven.count {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        pair.name = format!("{}{more} on sm_{arch}, {}", driven.name, driven.symbol);
        pair.test = Some(driven.test.clone());
        if driven.illegal {
            let why = "the assembler emitted an instruction that the disassembler does not know";
            pair.found = Some(Finding::new(Verdict::Invalid, why));
        }
    }
    let origins = Default::default();
    let kept_by = command.keep.is_none().then_some("--keep FOLDER");
    let files = FilePair { source: &module, target: &listing, origins, kept_by };
    let report = FunctionsReport::new(files);
    of_pairs(&pairs, "threads", report, how, reporter, out, err)
}
