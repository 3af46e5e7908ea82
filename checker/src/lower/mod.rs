//! `causeway lower`: whether a compiler keeps the memory model of its source.
//!
//! A lowering of a thread is right when in every frame and context nothing becomes possible that the
//! source forbids (reading J1). What may be moved, merged or left out is what that accepts: there is
//! no list of it (reading J4). Both sides become [`step`]s; each side's axioms judge its programs, in the same
//! [`context`]s.

pub mod alike;
pub mod asked;
pub mod code;
pub mod context;
pub mod contract;
pub mod csv;
pub mod drive;
pub mod generated;
pub mod inclusion;
pub mod item;
pub mod llvm;
pub mod mapping;
pub mod pair;
pub mod placed;
pub mod program;
pub mod ptx;
pub mod row;
pub mod rows;
pub mod run;
mod side;
pub mod step;
pub mod table;
mod token;
pub mod value;
pub mod verdict;
pub mod weaken;
pub mod whole;
pub mod witness;

use std::io::{self, Write};
use std::path::Path;

use indicatif::ProgressBar;
use litmus::function::Functions;

pub use inclusion::Patience;
pub use row::{Assumptions, Row};
pub use rows::{Setting, Table, judge, read};
pub use verdict::{Finding, Verdict};

use self::whole::ask::Asker;
use self::whole::report::Baseline;
use self::whole::{Listing, Unread};
use crate::cli::Lower;
use crate::exit::Exit;
use crate::input;

/// Judges the rows of a file, or the functions of two. `bar` makes a progress bar of so many.
pub fn command(
    command: &Lower,
    setting: &Setting<'_>,
    bar: &dyn Fn(usize, &'static str) -> ProgressBar,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let baseline = match command.baseline.as_deref().map(baseline).transpose() {
        Ok(baseline) => baseline.unwrap_or_default(),
        Err(error) => {
            writeln!(err, "error: {error}")?;
            writeln!(err, "help: a baseline is what `--format json` prints")?;
            return Ok(Exit::BadInput);
        }
    };
    if let Some(table) = &command.table {
        return of_table(table, command, (setting, &baseline), bar, out, err);
    }
    match (&command.rows, &command.from, &command.to) {
        (Some(rows), ..) => of_rows(rows, command, (setting, &baseline), bar, out, err),
        (None, Some(from), Some(to)) => {
            of_functions([from, to], command, (setting, &baseline), bar, out, err)
        }
        (None, ..) => match (&command.ptxas, &command.nvdisasm) {
            (Some(ptxas), Some(nvdisasm)) => {
                of_tests([ptxas, nvdisasm], command, (setting, &baseline), bar, out, err)
            }
            _ => Ok(Exit::BadInput),
        },
    }
}

fn baseline(path: &Path) -> Result<Baseline, String> {
    let shown = input::shown(path);
    let text = input::text(path).map_err(|error| format!("{shown}: {error}"))?;
    Baseline::read(&text).map_err(|(line, why)| format!("{shown}:{line}: {why}"))
}

fn of_table(
    path: &Path,
    command: &Lower,
    (setting, baseline): (&Setting<'_>, &Baseline),
    bar: &dyn Fn(usize, &'static str) -> ProgressBar,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let text = match input::text_that_fits(path, input::is_table) {
        Ok(text) => text,
        Err(error) => {
            writeln!(err, "error: {}: {error}", input::shown(path))?;
            return Ok(Exit::BadInput);
        }
    };
    let manner = rows::Manner { format: command.format, racy: command.racy, baseline, path };
    table::table(&text, &command.tests, setting, &manner, &bar(0, "rows"), (out, err))
}

fn of_rows(
    rows: &Path,
    command: &Lower,
    (setting, baseline): (&Setting<'_>, &Baseline),
    bar: &dyn Fn(usize, &'static str) -> ProgressBar,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let path = input::shown(rows);
    let text = match input::text_that_fits(rows, rows::fits) {
        Ok(text) => text,
        Err(error) => {
            writeln!(err, "error: {path}: {error}")?;
            return Ok(Exit::BadInput);
        }
    };
    let table = match read(&text) {
        Ok(table) => table,
        Err((line, why)) => {
            writeln!(err, "error: {path}:{line}: {why}")?;
            writeln!(err, "help: the columns `source`, `target` and `arch` are read")?;
            return Ok(Exit::BadInput);
        }
    };
    let progress = bar(table.rows.len(), "rows");
    let (findings, questions) = rows::judge_by(&table, setting, None, &progress);
    progress.finish_and_clear();
    let manner = rows::Manner { format: command.format, racy: command.racy, baseline, path: rows };
    rows::print(&table, &findings, questions, &manner, out)
}

fn of_functions(
    [from, to]: [&Path; 2],
    command: &Lower,
    (setting, baseline): (&Setting<'_>, &Baseline),
    bar: &dyn Fn(usize, &'static str) -> ProgressBar,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let mut sides: Vec<Functions> = Vec::new();
    for path in [from, to] {
        let source = sides.first().map_or(&[][..], Vec::as_slice);
        match whole::functions(path, Listing { source, arch: command.arch }) {
            Ok(functions) => sides.push(functions),
            Err(Unread::Path(error)) => writeln!(err, "error: {error}")?,
            Err(Unread::Diagnostics(all)) => {
                all.iter().try_for_each(|diagnostic| writeln!(err, "{diagnostic:#}\n"))?;
            }
        }
    }
    let Ok([source, target]) = <[_; 2]>::try_from(sides) else { return Ok(Exit::BadInput) };
    let pairs = whole::paired(source, target);
    let asker = asker(setting, command);
    let progress = bar(pairs.len(), "functions");
    let said = whole::judge_all(&pairs, asker, setting.jobs, &progress);
    progress.finish_and_clear();
    let (format, racy) = (command.format, command.racy);
    let manner = whole::report::Manner { format, racy, baseline, source: from, target: to };
    whole::report::print(&said, &manner, out)
}

fn asker<'a>(setting: &Setting<'a>, command: &Lower) -> Asker<'a> {
    Asker {
        engine: setting.engine,
        cxx: setting.cxx,
        whole: setting.whole,
        torn: setting.torn,
        bound: command.bound,
        patience: setting.patience,
    }
}

/// The machine that threads are compiled for, where the command line names none.
const MACHINE: u16 = 90;

fn of_tests(
    [ptxas, nvdisasm]: [&Path; 2],
    command: &Lower,
    (setting, baseline): (&Setting<'_>, &Baseline),
    bar: &dyn Fn(usize, &'static str) -> ProgressBar,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let (mut threads, errors) = match drive::threads(&command.tests) {
        Ok(read) => read,
        Err(error) => {
            writeln!(err, "error: {error}")?;
            return Ok(Exit::BadInput);
        }
    };
    errors.iter().try_for_each(|error| writeln!(err, "{error}\n"))?;
    if threads.is_empty() {
        writeln!(err, "error: no litmus test below the paths given")?;
        return Ok(Exit::BadInput);
    }
    let own = drive::folder();
    let folder = command.keep.as_deref().unwrap_or(&own);
    std::fs::create_dir_all(folder)?;
    let arch = command.arch.unwrap_or(MACHINE);
    let sides = drive::compile(&mut threads, &drive::Tools { ptxas, nvdisasm, folder, arch });
    if command.keep.is_none() {
        std::fs::remove_dir_all(folder)?;
    }
    let drive::Sides { module, listing, source, target } = match sides {
        Ok(sides) => sides,
        Err(error) => {
            writeln!(err, "error: {error}")?;
            return Ok(Exit::BadInput);
        }
    };
    let mut pairs = whole::paired(source, target);
    for pair in &mut pairs {
        let Some(driven) = threads.iter().find(|driven| driven.symbol == pair.name) else {
            continue;
        };
        let more = match driven.count {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        pair.name = format!("{}{more} on sm_{arch}, {}", driven.name, driven.symbol);
    }
    let progress = bar(pairs.len(), "threads");
    let mut said = whole::judge_all(&pairs, asker(setting, command), setting.jobs, &progress);
    progress.finish_and_clear();
    for said in &mut said {
        let illegal = |driven: &drive::Driven| {
            driven.illegal && said.name.ends_with(&format!(", {}", driven.symbol))
        };
        if threads.iter().any(illegal) {
            let why = "the assembler made an instruction that the disassembler does not know";
            said.finding = Finding::new(Verdict::Invalid, why);
        }
    }
    let (format, racy) = (command.format, command.racy);
    let manner =
        whole::report::Manner { format, racy, baseline, source: &module, target: &listing };
    let exit = whole::report::print(&said, &manner, out)?;
    Ok(if errors.is_empty() { exit } else { Exit::BadInput })
}
