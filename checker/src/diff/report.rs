//! What is printed of a comparison, as text or as JSON.

use std::io::{self, Write};

use engine::exit::Exit;
use engine::interrupt;
use litmus::{Test, print};
use schemars::JsonSchema;
use serde::Serialize;
use text::escape::escaped;

use super::args::{Diff, DiffFormat};
use super::note::DiffNote;
use super::side::{DiffSide, SideLimits};
use crate::lines::{self, LineKind};

/// A test on which the sides differ.
pub(super) struct DifferingTest {
    /// As a generated test has it; `None` of a file.
    pub(super) cycle: Option<String>,
    /// `None` of a generated test.
    pub(super) file: Option<String>,
    /// Whether the test is smaller than that of the file.
    pub(super) shrunk: bool,
    pub(super) test: Test,
    /// `allowed`, `forbidden` and so on; of a litmus test from a file, `holds` and so on.
    pub(super) answers: [String; 2],
}

/// How far a comparison went.
pub(super) struct DiffSummary {
    pub(super) differences: usize,
    pub(super) tests: u128,
    pub(super) undecided: u128,
    /// Answers of both sides.
    pub(super) judged: u64,
    /// The largest size of which each test was tried; `None` of tests from files.
    pub(super) size: Option<(usize, usize)>,
    /// Why not every test up to the bound was tried.
    pub(super) left: Option<&'static str>,
    /// What it could not show: a test that some side does not decide, and what no test has.
    pub(super) notes: Vec<DiffNote>,
    /// Whether the search stopped at the smallest size with a difference.
    pub(super) stopped: bool,
    pub(super) seconds: f64,
}

/// One test on which the two sides differ.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DiffObject<'a> {
    /// The name of the test.
    name: &'a str,
    /// The cycle of a generated test; `null` of a file.
    cycle: Option<&'a str>,
    /// The path of a file; `null` of a generated test.
    file: Option<&'a str>,
    /// Whether the test was made smaller than that of the file.
    shrunk: bool,
    /// The litmus test.
    test: &'a str,
    /// What each side answers, in the order of the command line.
    sides: [SideObject<'a>; 2],
}

/// A side and its answer.
#[derive(Serialize, JsonSchema)]
struct SideObject<'a> {
    /// As it was given.
    side: &'a str,
    /// `allowed` or `forbidden`, the outcome of a generated test; `holds` or `fails`, the condition of a file; or
    /// `undefined` and the like, with the reason in parentheses.
    answer: &'a str,
    /// Why, as `causeway explain` says it; of a machine, a run. `null` with `--list`, and after an interruption.
    explanation: Option<&'a str>,
}

/// The last line: how many tests were tried.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DiffSummaryObject<'a> {
    /// The two sides, as they were given.
    sides: [&'a str; 2],
    /// How many smallest differences were found, also those that are not printed.
    differences: usize,
    /// How many tests were tried, or settled by others.
    tests: u128,
    /// How many of them some side did not decide.
    undecided: u128,
    /// How many answers the sides gave.
    judged: u64,
    /// The largest size of which each generated test was tried: its threads. `null` of files, and if there is no such size.
    threads: Option<usize>,
    /// The same: its edges.
    edges: Option<usize>,
    /// The time of the search.
    seconds: f64,
    /// Whether every test of the command line was tried.
    complete: bool,
    /// Why not, if not: a limit, or that the size of `threads` and `edges` has a difference.
    reason: Option<&'a str>,
    /// What it could not show: a test that some side does not decide, and what no test has although the readings of the sides
    /// differ about it.
    notes: Vec<&'a str>,
}

pub(super) struct DiffReport<'a> {
    pub(super) command: &'a Diff,
    pub(super) sides: &'a [DiffSide; 2],
    pub(super) limits: SideLimits,
}

impl DiffReport<'_> {
    /// Prints one difference.
    pub(super) fn one(&self, found: &DifferingTest, out: &mut dyn Write) -> io::Result<()> {
        let test = print::print(&found.test);
        let explained = |side: &DiffSide| {
            if self.command.list || interrupt::raised() {
                return Ok(None);
            }
            // What was interrupted explains nothing.
            let explanation = side.explain(&found.test, &self.limits)?;
            Ok::<_, io::Error>(Some(explanation).filter(|_| !interrupt::raised()))
        };
        let [one, other] = self.sides;
        let explanations = [explained(one)?, explained(other)?];
        let sides = [0, 1].map(|at| SideObject {
            side: &self.sides[at].name,
            answer: &found.answers[at],
            explanation: explanations[at].as_deref(),
        });
        match self.command.format {
            DiffFormat::Json => lines::write(
                LineKind::Diff,
                DiffObject {
                    name: &found.test.name,
                    cycle: found.cycle.as_deref(),
                    file: found.file.as_deref(),
                    shrunk: found.shrunk,
                    test: &test,
                    sides,
                },
                out,
            ),
            DiffFormat::Text => text(found, &test, self.command.list, &sides, out),
        }
    }

    /// Prints how much was tried.
    pub(super) fn sum(&self, summary: &DiffSummary, out: &mut dyn Write) -> io::Result<()> {
        let reason = summary.left.or(summary.stopped.then_some("this size has a difference"));
        if self.command.format == DiffFormat::Json {
            let object = DiffSummaryObject {
                sides: [0, 1].map(|at| self.sides[at].name.as_str()),
                differences: summary.differences,
                tests: summary.tests,
                undecided: summary.undecided,
                judged: summary.judged,
                threads: summary.size.map(|(threads, _)| threads),
                edges: summary.size.map(|(_, edges)| edges),
                seconds: summary.seconds,
                complete: reason.is_none(),
                reason,
                notes: summary.notes.iter().map(|note| note.text.as_str()).collect(),
            };
            return lines::write(LineKind::DiffSummary, object, out);
        }
        if let (0, Some(why)) = (summary.tests, summary.left) {
            return writeln!(
                out,
                "no test was tried to its end: {why}   ({:.1} s)",
                summary.seconds
            );
        }
        let found = match summary.differences {
            0 => "no difference".to_owned(),
            1 => "1 difference".to_owned(),
            count => format!("{count} differences"),
        };
        let limit = self.command.limit as usize;
        let shown =
            if summary.differences > limit { format!(", {limit} shown,") } else { String::new() };
        let tests = if summary.tests == 1 {
            "1 test".to_owned()
        } else {
            format!("{} tests", summary.tests)
        };
        let size = summary.size.map_or(String::new(), |(threads, edges)| {
            let of = if summary.left.is_some() { ", all those of up to" } else { " of up to" };
            format!("{of} {threads} threads and {edges} edges")
        });
        let undecided = match summary.undecided {
            0 => String::new(),
            count => format!(", {count} undecided"),
        };
        let left = summary.left.map_or(String::new(), |why| format!("; not all were tried: {why}"));
        writeln!(
            out,
            "{found}{shown} in {tests}{size}{undecided}{left}   ({} answers; {:.1} s)",
            summary.judged, summary.seconds
        )?;
        for note in &summary.notes {
            writeln!(out, "note: {}", note.text)?;
            note.help.iter().try_for_each(|help| writeln!(out, "help: {help}"))?;
        }
        Ok(())
    }
}

impl DiffSummary {
    pub(super) fn exit(&self, must_agree: bool) -> Exit {
        match self.differences {
            0 if self.undecided > 0 || self.left.is_some() => Exit::Undecided,
            0 => Exit::AsExpected,
            _ if must_agree => Exit::Disagreement,
            _ => Exit::Differs,
        }
    }
}

fn text(
    found: &DifferingTest,
    test: &str,
    is_listed: bool,
    sides: &[SideObject<'_>; 2],
    out: &mut dyn Write,
) -> io::Result<()> {
    let answers = [0, 1].map(|at| format!("{} under {}", sides[at].answer, sides[at].side));
    let cycle = found.cycle.as_ref().or(found.file.as_ref());
    if is_listed {
        let cycle = cycle.map_or(String::new(), |cycle| format!("\t{cycle}"));
        return writeln!(out, "{}: {}{cycle}", escaped(&found.test.name), answers.join(", "));
    }
    writeln!(out, "{}: {}", escaped(&found.test.name), answers.join(", "))?;
    if let Some(file) = &found.file {
        let how = if found.shrunk { ", made smaller" } else { "" };
        writeln!(out, "{file}{how}")?;
    }
    writeln!(out, "\n{test}")?;
    for side in sides {
        let Some(explanation) = side.explanation else {
            writeln!(
                out,
                "Under {}, {}; the run was interrupted before it was explained.\n",
                side.side, side.answer
            )?;
            continue;
        };
        writeln!(out, "Under {}, {}:", side.side, side.answer)?;
        for line in explanation.lines() {
            if line.is_empty() { writeln!(out)? } else { writeln!(out, "  {line}")? }
        }
        writeln!(out)?;
    }
    Ok(())
}
