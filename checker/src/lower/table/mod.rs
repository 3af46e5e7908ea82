//! `causeway lower --table`: a table of lowerings judged, row by row, and by it litmus tests.
//!
//! Every instruction that a row is for becomes a row as `--rows` has them; what is the same question
//! is judged once. Contexts are lowered by the table that comes with the program, and then by this
//! one: a convention is right only if all rows follow it (reading J13).

mod instance;
mod lifted;
mod whole;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::Range;
use std::path::PathBuf;

use indicatif::ProgressBar;
use litmus::lowering;
use serde::Serialize;
use serde_json::Map;

use super::rows::{self, Manner, Setting};
use super::step::Step;
use super::verdict::{Finding, Verdict};
use super::whole::report::escaped;
use super::{Row, Table};
use crate::cli::LowerFormat;
use crate::exit::Exit;
use crate::lines::{self, Schema};

/// One line of `--format json`: a row of the table, or a litmus test.
#[derive(Serialize)]
struct Object<'a> {
    /// The line of the table's file; none for a test.
    line: Option<usize>,
    /// The row's pattern, or the test's path.
    row: &'a str,
    /// How many instructions the row is for.
    instructions: usize,
    /// The worst of them.
    instruction: Option<&'a str>,
    becomes: Option<&'a str>,
    arch: Option<&'a str>,
    #[serde(flatten)]
    finding: &'a Finding,
}

/// Judges a table, whose text this is, and the tests as it lowers them.
pub fn table(
    text: &str,
    paths: &[PathBuf],
    setting: &Setting<'_>,
    manner: &Manner<'_>,
    progress: &ProgressBar,
    (out, err): (&mut dyn Write, &mut dyn Write),
) -> io::Result<Exit> {
    let table = match lowering::read(&manner.path.to_string_lossy(), text) {
        Ok(table) => table,
        Err(diagnostics) => {
            for diagnostic in diagnostics {
                writeln!(err, "{diagnostic:#}")?;
            }
            return Ok(Exit::BadInput);
        }
    };
    let exit = judged(&table, setting, manner, progress, out)?;
    if paths.is_empty() {
        return Ok(exit);
    }
    Ok(exit.max(whole::tests(&table, paths, setting, manner, out, err)?))
}

/// What a table of C++ makes of a step; `None` where it has no row.
pub(super) fn mapped(step: Step, table: &lowering::Table) -> Option<Vec<Step>> {
    lifted::step(step, table)
}

/// Which of all rows to judge are of a row of the table.
struct Of {
    row: usize,
    all: Range<usize>,
}

/// What is said of a row of the table, or of a test.
struct Said<'a> {
    line: Option<usize>,
    row: &'a str,
    instructions: usize,
    judged: Option<&'a Row>,
    finding: &'a Finding,
}

fn judged(
    table: &lowering::Table,
    setting: &Setting<'_>,
    manner: &Manner<'_>,
    progress: &ProgressBar,
    out: &mut dyn Write,
) -> io::Result<Exit> {
    let patterns: Vec<lowering::Instances<'_>> = table.rows().collect();
    let mut of: Vec<Of> = Vec::new();
    let mut all = Table { rows: Vec::new() };
    for (row, pattern) in patterns.iter().enumerate() {
        let before = all.rows.len();
        let rows = pattern.all.iter().flat_map(|one| instance::rows(table, one));
        // Names in another order are the same instruction.
        let rows: BTreeSet<(String, String, String)> = rows.collect();
        let row_of = |(source, target, arch)| (Row { source, target, arch }, Map::new());
        all.rows.extend(rows.into_iter().map(row_of));
        of.push(Of { row, all: before..all.rows.len() });
    }
    progress.set_length(2 * all.rows.len() as u64);
    let (mut findings, questions) = rows::judge_by(&all, setting, None, progress);
    let (by_itself, _) = rows::judge_by(&all, setting, Some(table), progress);
    for (finding, other) in findings.iter_mut().zip(by_itself) {
        // The witness with partners of the usual kind is the better one.
        if other.verdict == Verdict::Weaker && finding.verdict != Verdict::Weaker {
            *finding = other;
            finding.notes.push("its partners are lowered by this table too".to_owned());
        }
    }
    progress.finish_and_clear();
    let mut exit = Exit::AsExpected;
    let (mut counts, mut all_valid) = ([0; Verdict::ALL.len()], 0);
    for Of { row, all: indices } in &of {
        // Lists together have more than PTX has.
        let is_ptx = |&at: &usize| findings[at].verdict != Verdict::Invalid;
        let valid: Vec<usize> = indices.clone().filter(is_ptx).collect();
        all_valid += valid.len();
        let worst = valid.iter().copied().max_by_key(|&at| {
            let finding: &Finding = &findings[at];
            (finding.exit(manner.racy), finding.verdict != Verdict::Preserved, Reverse(at))
        });
        let none = Finding::new(Verdict::Outside, "it is for no instruction of PTX");
        let finding = worst.map_or(&none, |worst| &findings[worst]);
        counts[finding.verdict as usize] += 1;
        let said = Said {
            line: Some(patterns[*row].line),
            row: patterns[*row].text,
            instructions: valid.len(),
            judged: worst.map(|worst| &all.rows[worst].0),
            finding,
        };
        exit = exit.max(said.print(manner, out)?);
    }
    if manner.format == LowerFormat::Text {
        let (rows, counts) = (of.len(), counted(&counts));
        writeln!(out, "{rows} rows: {counts}; {all_valid} instructions, {questions} questions")?;
    }
    Ok(exit)
}

fn counted(counts: &[usize; Verdict::ALL.len()]) -> String {
    let some = Verdict::ALL.iter().zip(counts).filter(|(_, count)| **count > 0);
    let some: Vec<String> =
        some.map(|(verdict, count)| format!("{count} {}", verdict.name())).collect();
    some.join(", ")
}

impl Said<'_> {
    /// Prints it, and what it means for the exit code.
    fn print(&self, manner: &Manner<'_>, out: &mut dyn Write) -> io::Result<Exit> {
        let Said { line, row, instructions, judged, finding } = *self;
        let known = manner.baseline.knows(row, finding);
        let here = if known { Exit::AsExpected } else { finding.exit(manner.racy) };
        let verdict = finding.verdict.name();
        let path = manner.path.display();
        match manner.format {
            LowerFormat::Json => {
                let instruction = judged.map(|judged| judged.source.as_str());
                let becomes = judged.map(|judged| judged.target.as_str());
                let arch = judged.map(|judged| judged.arch.as_str());
                let object =
                    Object { line, row, instructions, instruction, becomes, arch, finding };
                lines::write(Schema::Lower, object, out)?;
            }
            LowerFormat::Text => {
                let racy = if finding.racy { " where it races" } else { "" };
                if let Some(line) = line {
                    let s = if instructions == 1 { "" } else { "s" };
                    let count = format!("{instructions} instruction{s}");
                    writeln!(out, "{path}:{line}: {verdict}{racy}: {row}, {count}")?;
                }
                if finding.verdict == Verdict::Preserved {
                    return Ok(here);
                }
                let why = &finding.why;
                match (line, judged) {
                    (_, Some(Row { source, target, arch })) => {
                        writeln!(out, "  {source} became {target} on {arch}: {why}")?;
                    }
                    (Some(_), None) => writeln!(out, "  {why}")?,
                    (None, None) => writeln!(out, "{row}: {verdict}{racy}: {why}")?,
                }
                rows::details(finding, out)?;
            }
            LowerFormat::Github => {
                let level = match here {
                    Exit::AsExpected => return Ok(here),
                    Exit::Differs => "error",
                    Exit::Undecided | Exit::BadInput | Exit::Disagreement => "warning",
                };
                let at = match line {
                    Some(line) => format!("file={path},line={line}"),
                    None => format!("file={row}"),
                };
                let why = escaped(&format!("{row}: {}", finding.why));
                writeln!(out, "::{level} {at},title={verdict}::{why}")?;
            }
        }
        Ok(here)
    }
}
