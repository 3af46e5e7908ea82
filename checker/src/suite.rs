//! Judges many files in parallel and passes the results on in order.

use std::io;
use std::path::{Path, PathBuf};

use litmus::Test;
use text::Diagnostic;

use crate::filter::TestFilter;
use crate::input;
use crate::kind::FileKind;
use engine::judge::{Judgement, Task, judge};
use engine::parallel::in_order;

/// The result of one file.
pub enum FileResult {
    Judged {
        test: Box<Test>,
        judgement: Box<Judgement>,
    },
    /// The filter of the run excludes it.
    Filtered,
    Rejected(Vec<Diagnostic>),
    Unreadable(io::Error),
}

pub struct SuiteItem {
    /// The path as the user gave it, or as found below a folder that the user gave.
    pub path: PathBuf,
    pub outcome: FileResult,
}

/// What is asked of which files.
#[derive(Clone, Copy, Default)]
pub struct SuiteRequest<'a> {
    pub filter: Option<&'a TestFilter>,
    /// A condition in the place of each test's own.
    pub ask: Option<&'a str>,
}

/// Reads one file; `None` if the filter excludes it. A file that is excluded by its path alone is not read.
///
/// # Errors
/// [`FileResult::Rejected`] or [`FileResult::Unreadable`].
pub fn read_file(path: &Path, request: &SuiteRequest<'_>) -> Result<Option<Box<Test>>, FileResult> {
    let shown = path.to_string_lossy();
    if request.filter.is_some_and(|filter| filter.excludes_path(&shown)) {
        return Ok(None);
    }
    let bytes = input::read_kind(path, FileKind::Litmus).map_err(FileResult::Unreadable)?;
    let test = match request.ask {
        Some(question) => litmus::parse_question(&shown, &bytes, question),
        None => litmus::parse(&shown, &bytes),
    };
    let test = test.map_err(FileResult::Rejected)?;
    let wanted = request.filter.is_none_or(|filter| filter.includes(&shown, &test));
    Ok(wanted.then(|| Box::new(test)))
}

/// Reads and judges one file.
pub fn judge_file(path: &Path, request: &SuiteRequest<'_>, task: &Task<'_>) -> FileResult {
    match read_file(path, request) {
        Ok(Some(test)) => {
            let judgement = Box::new(judge(&test, task));
            FileResult::Judged { test, judgement }
        }
        Ok(None) => FileResult::Filtered,
        Err(unread) => unread,
    }
}

/// Judges `files` with `jobs` threads, each by its index. Calls `visit` with each result, in the order of the files, and
/// with `None` at the end. An error from `visit`, such as a closed pipe, ends the run.
pub fn run(
    files: &[PathBuf],
    jobs: usize,
    judge: &(dyn Fn(usize) -> FileResult + Sync),
    visit: &mut dyn FnMut(Option<SuiteItem>) -> io::Result<()>,
) -> io::Result<()> {
    in_order(files.len(), jobs, judge, &mut |result| {
        visit(result.map(|(index, outcome)| SuiteItem { path: files[index].clone(), outcome }))
    })
}
