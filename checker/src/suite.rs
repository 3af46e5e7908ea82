//! Judges many files in parallel and passes the results on in order.

use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::parallel::in_order;
use judge::{Judgement, Task, judge, larger_bound};
use litmus::Test;
use model::program::ThreadId;
use text::Diagnostic;

use crate::filter::TestFilter;
use crate::input;
use crate::kind::FileKind;
use crate::words::args::WordsArgs;
use crate::words::{self, MadeTest, TestSource};

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
    /// What it was made of, if it is no file.
    pub(crate) made: Option<Arc<MadeTest>>,
}

/// What one test is read from.
#[derive(Clone, Debug)]
pub struct SuiteInput {
    /// The path as the user gave it, or as found below a folder that the user gave. Of several tests on standard input, `-` and
    /// the line that the test begins on: `-:12`.
    pub path: PathBuf,
    source: SuiteSource,
    /// What it was made of, if it is no file.
    pub(crate) made: Option<Arc<MadeTest>>,
}

#[derive(Clone, Debug)]
enum SuiteSource {
    File,
    /// One of several tests on standard input: all of them, and the bytes of this one.
    Part(Arc<str>, Range<usize>),
    /// Standard input, which is one test, or none: it is read only once; or a test that was made.
    Standard(Arc<[u8]>),
    /// Why standard input cannot be read.
    Unreadable(Arc<str>),
}

/// What separates standard input from the line on which a test of it begins.
const PART: &str = "-:";

impl SuiteInput {
    pub fn file(path: PathBuf) -> SuiteInput {
        SuiteInput { path, source: SuiteSource::File, made: None }
    }

    /// The inputs of files, in their order. Standard input may have several tests.
    pub fn of_files(files: Vec<PathBuf>) -> Vec<SuiteInput> {
        files.into_iter().flat_map(SuiteInput::of_path).collect()
    }

    fn of_path(path: PathBuf) -> Vec<SuiteInput> {
        if !input::is_standard(&path) {
            return vec![SuiteInput::file(path)];
        }
        let bytes = match input::read(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let source = SuiteSource::Unreadable(error.to_string().into());
                return vec![SuiteInput { path, source, made: None }];
            }
        };
        let parts = std::str::from_utf8(&bytes).map(litmus::tests_of).unwrap_or_default();
        if parts.len() < 2 {
            let source = SuiteSource::Standard(bytes.into());
            return vec![SuiteInput { path, source, made: None }];
        }
        let text: Arc<str> = String::from_utf8_lossy(&bytes).into();
        let part = |range: Range<usize>| {
            // What is before the first test belongs to it.
            let before = if range.start == 0 { 0 } else { lines(&text[..range.start]) };
            let path = PathBuf::from(format!("{PART}{}", before + 1));
            SuiteInput { path, source: SuiteSource::Part(Arc::clone(&text), range), made: None }
        };
        parts.into_iter().map(part).collect()
    }

    /// A text that was made, or read, already.
    pub(crate) fn of_source(path: PathBuf, source: TestSource) -> SuiteInput {
        let TestSource { bytes, made } = source;
        SuiteInput { path, source: SuiteSource::Standard(bytes.into()), made }
    }

    /// The path for messages, and the text. Of several tests, the lines of the others are empty, so that positions stay right.
    pub(crate) fn read(&self) -> io::Result<(String, Vec<u8>)> {
        let path = self.path.to_string_lossy();
        match &self.source {
            SuiteSource::File => {
                Ok((path.into_owned(), input::read_kind(&self.path, FileKind::Litmus)?))
            }
            SuiteSource::Standard(bytes) => match FileKind::of(Path::new(""), bytes) {
                Some(kind) if kind != FileKind::Litmus => Err(io::Error::other(kind.refused())),
                Some(_) | None => Ok((path.into_owned(), bytes.to_vec())),
            },
            SuiteSource::Unreadable(why) => Err(io::Error::other(why.to_string())),
            SuiteSource::Part(text, range) => {
                let before = "\n".repeat(lines(&text[..range.start]));
                Ok(("-".to_owned(), (before + &text[range.clone()]).into_bytes()))
            }
        }
    }
}

fn lines(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b'\n').count()
}

impl SuiteItem {
    /// The line of a file that a line of a thread is on: of the module, of a test that was made.
    pub(crate) fn line(&self, test: &Test, thread: ThreadId, line: u16) -> Option<usize> {
        match &self.made {
            Some(made) => made.module_line(test, thread, line),
            None => test.line_number(thread, line),
        }
    }

    /// Whether a path names it alone: not one of several tests on standard input.
    pub fn has_path(&self) -> bool {
        !self.path.to_string_lossy().starts_with(PART)
    }
}

/// The tests of a command: files, those below folders, or one that is made of functions. `None` after an error was printed.
pub(crate) fn inputs(
    paths: &[PathBuf],
    asked: &WordsArgs,
    command: &str,
    err: &mut dyn Write,
) -> io::Result<Option<Vec<SuiteInput>>> {
    if let Some((path, functions)) = words::in_paths(paths, asked) {
        return match words::source(path, Some(functions), asked, command, err) {
            Ok(source) => {
                source.made.iter().try_for_each(|made| words::print_notes(made, err))?;
                Ok(Some(vec![SuiteInput::of_source(path.to_owned(), source)]))
            }
            Err(unread) => {
                words::litmus::complain(&input::shown(path), &unread, err)?;
                Ok(None)
            }
        };
    }
    if let Some(option) = asked.first_option() {
        let path = paths.first().map_or(String::new(), |path| input::quoted(&input::shown(path)));
        writeln!(err, "error: {}", words::without_functions(option, &path, command))?;
        return Ok(None);
    }
    match input::find(paths, "litmus") {
        Ok(files) if files.is_empty() => {
            writeln!(err, "error: no .litmus file found in the given paths")?;
            Ok(None)
        }
        Ok(files) => Ok(Some(SuiteInput::of_files(files))),
        Err(error) => {
            writeln!(err, "error: {error}")?;
            Ok(None)
        }
    }
}

/// The question, and the files.
#[derive(Clone, Copy, Default)]
pub struct SuiteRequest<'a> {
    pub filter: Option<&'a TestFilter>,
    /// A condition in the place of each test's own.
    pub ask: Option<&'a str>,
}

/// Reads one test; `None` if the filter excludes it. A file that is excluded by its path alone is not read.
///
/// # Errors
/// [`FileResult::Rejected`] or [`FileResult::Unreadable`].
pub fn read_file(
    input: &SuiteInput,
    request: &SuiteRequest<'_>,
) -> Result<Option<Box<Test>>, FileResult> {
    let shown = input.path.to_string_lossy();
    if request.filter.is_some_and(|filter| filter.excludes_path(&shown)) {
        return Ok(None);
    }
    let (path, bytes) = input.read().map_err(FileResult::Unreadable)?;
    let test = match request.ask {
        Some(question) => litmus::parse_question(&path, &bytes, question),
        None => litmus::parse(&path, &bytes),
    };
    let test = test.map_err(FileResult::Rejected)?;
    let wanted = request.filter.is_none_or(|filter| filter.includes(&shown, &test));
    Ok(wanted.then(|| Box::new(test)))
}

/// Reads and judges one test.
pub fn judge_file(input: &SuiteInput, request: &SuiteRequest<'_>, task: &Task<'_>) -> FileResult {
    match read_file(input, request) {
        Ok(Some(test)) => {
            let mut judgement = Box::new(judge(&test, task));
            judgement.larger = larger_bound(&test, task, &judgement);
            FileResult::Judged { test, judgement }
        }
        Ok(None) => FileResult::Filtered,
        Err(unread) => unread,
    }
}

/// Judges `inputs` with `jobs` threads, each by its index. Calls `visit` with each result, in their order, and
/// with `None` at the end. An error from `visit`, such as a closed pipe, ends the run.
pub fn run(
    inputs: &[SuiteInput],
    jobs: usize,
    judge: &(dyn Fn(usize) -> FileResult + Sync),
    visit: &mut dyn FnMut(Option<SuiteItem>) -> io::Result<()>,
) -> io::Result<()> {
    in_order(inputs.len(), jobs, judge, &mut |result| {
        visit(result.map(|(at, outcome)| {
            let SuiteInput { path, made, .. } = &inputs[at];
            SuiteItem { path: path.clone(), outcome, made: made.clone() }
        }))
    })
}
