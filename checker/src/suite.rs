//! Judges many files in parallel and passes the results on in order.

use std::io;
use std::path::{Path, PathBuf};

use litmus::Test;
use text::Diagnostic;

use crate::input;
use crate::kind::FileKind;
use engine::judge::{Judgement, Task, judge};
use engine::parallel::in_order;

/// The result of one file.
pub enum FileResult {
    Judged { test: Box<Test>, judgement: Box<Judgement> },
    Rejected(Vec<Diagnostic>),
    Unreadable(io::Error),
}

pub struct SuiteItem {
    /// The path as the user gave it, or as found below a folder that the user gave.
    pub path: PathBuf,
    pub outcome: FileResult,
}

/// Reads and judges one file.
pub fn judge_file(path: &Path, task: &Task<'_>) -> FileResult {
    let bytes = match input::read_kind(path, FileKind::Litmus) {
        Ok(bytes) => bytes,
        Err(error) => return FileResult::Unreadable(error),
    };
    match litmus::parse(&path.to_string_lossy(), &bytes) {
        Ok(test) => {
            let judgement = Box::new(judge(&test, task));
            FileResult::Judged { test: Box::new(test), judgement }
        }
        Err(diagnostics) => FileResult::Rejected(diagnostics),
    }
}

/// Judges `files` with `jobs` threads. Calls `visit` with each result, in the order of the files, and with
/// `None` at the end. An error from `visit`, such as a closed pipe, ends the run.
pub fn run(
    files: &[PathBuf],
    task: &Task<'_>,
    jobs: usize,
    visit: &mut dyn FnMut(Option<SuiteItem>) -> io::Result<()>,
) -> io::Result<()> {
    let judged = |index: usize| judge_file(&files[index], task);
    in_order(files.len(), jobs, &judged, &mut |result| {
        visit(result.map(|(index, outcome)| SuiteItem { path: files[index].clone(), outcome }))
    })
}
