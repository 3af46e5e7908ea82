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
mod token;
pub mod value;
pub mod verdict;
pub mod witness;

use std::io::{self, Write};

use indicatif::ProgressBar;

pub use row::{Assumptions, Row};
pub use rows::{Setting, Table, judge, read};
pub use verdict::{Finding, Verdict};

use crate::cli::Lower;
use crate::exit::Exit;

/// Judges the rows of a file. `bar` makes a progress bar of so many.
pub fn command(
    command: &Lower,
    setting: &Setting<'_>,
    bar: &dyn Fn(usize) -> ProgressBar,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let path = command.rows.display();
    let text = match std::fs::read_to_string(&command.rows) {
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
    let progress = bar(table.rows.len());
    let findings = judge(&table, setting, &progress);
    progress.finish_and_clear();
    rows::print(&table, &findings, (command.format, command.racy), out)
}
