//! Litmus tests from files on which two sides differ.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use engine::{interrupt, parallel};
use litmus::Test;

use super::note::{self, DiffNote};
use super::report::{DiffSummary, DifferingTest};
use super::side::{DiffSide, SideLimits, is_for};
use crate::complaints;
use crate::input;
use crate::kind::FileKind;

/// The tests of files, small ones first; nothing after an error was printed.
pub(super) fn read(
    paths: &[PathBuf],
    sides: &[DiffSide; 2],
    err: &mut dyn Write,
) -> io::Result<Option<Vec<(String, Test)>>> {
    let files = match input::find(paths, "litmus") {
        Ok(files) => files,
        Err(error) => {
            writeln!(err, "error: {error}")?;
            return Ok(None);
        }
    };
    let mut tests = Vec::new();
    for file in &files {
        let bytes = match input::read_kind(file, FileKind::Litmus) {
            Ok(bytes) => bytes,
            Err(error) => {
                writeln!(err, "error: {}: {error}", input::shown(file))?;
                return Ok(None);
            }
        };
        match litmus::parse(&file.to_string_lossy(), &bytes) {
            Ok(test) if sides.iter().all(|side| is_for(side, &test)) => {
                tests.push((input::shown(file), test));
            }
            Ok(_) => {}
            Err(diagnostics) => {
                complaints::complain_of(&diagnostics, err)?;
                return Ok(None);
            }
        }
    }
    if tests.is_empty() {
        writeln!(err, "error: no test in the given paths is for both sides")?;
        return Ok(None);
    }
    let size = |test: &Test| {
        let lines = test.program.threads.iter().map(|thread| thread.lines.len()).sum::<usize>();
        (test.program.threads.len(), lines)
    };
    tests.sort_by_cached_key(|(file, test)| (size(test), file.clone()));
    Ok(Some(tests))
}

impl DiffSummary {
    /// Counts a test that a side does not decide.
    fn leave(&mut self, file: &str, side: &DiffSide, why: &str) {
        self.undecided += 1;
        if self.undecided == 1 {
            let text = format!("`{file}` is undecided under {}: {why}", side.name);
            self.notes.push(DiffNote { text, help: None });
        }
    }
}

/// What a side says of a test; or why it does not decide it.
type TestAnswer = Result<String, String>;

/// Judges each test on both sides.
pub(super) fn search(
    tests: &[(String, Test)],
    sides: &[DiffSide; 2],
    limits: &SideLimits,
    jobs: usize,
    deadline: Option<Instant>,
    visit: &mut dyn FnMut(DifferingTest) -> io::Result<()>,
) -> io::Result<DiffSummary> {
    let start = Instant::now();
    let mut summary = DiffSummary {
        differences: 0,
        tests: 0,
        undecided: 0,
        judged: 0,
        size: None,
        left: None,
        notes: Vec::new(),
        stopped: false,
        seconds: 0.0,
    };
    let work = |index: usize| -> Option<[TestAnswer; 2]> {
        let expired = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let test = &tests[index].1;
        if expired {
            return None;
        }
        let answers = [0, 1].map(|at| sides[at].of_test(test, limits));
        // What was interrupted is not tried.
        (!interrupt::raised()).then_some(answers)
    };
    parallel::in_order(tests.len(), jobs, &work, &mut |result| {
        let Some((index, answers)) = result else { return Ok(()) };
        let Some(answers) = answers else {
            summary.left = Some(engine::Limit::Time.text());
            return Ok(());
        };
        summary.tests += 1;
        summary.judged += 2;
        match answers {
            [Ok(one), Ok(other)] if one != other => {
                summary.differences += 1;
                let (file, test) = &tests[index];
                visit(DifferingTest {
                    cycle: None,
                    file: Some(file.clone()),
                    shrunk: false,
                    test: test.clone(),
                    answers: [one, other],
                })?;
            }
            [Ok(_), Ok(_)] => {}
            [Err(why), _] => summary.leave(&tests[index].0, &sides[0], &why),
            [_, Err(why)] => summary.leave(&tests[index].0, &sides[1], &why),
        }
        Ok(())
    })?;
    if interrupt::raised() {
        summary.left = Some(engine::Limit::Interrupted.text());
    }
    let mut programs = tests.iter().map(|(_, test)| test.program.clone());
    summary.notes.extend(note::lacking(sides, &mut programs, false));
    summary.seconds = start.elapsed().as_secs_f64();
    Ok(summary)
}
