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
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use sass::lowering;
use serde_json::Map;

use super::report::{Object, OfLowering, Reporter, Weighed, case, counted, details};
use super::rows::{self, Setting};
use super::step::Step;
use super::verdict::{Finding, Verdict};
use super::{Row, Table};
use crate::report::Reported;
use crate::report::finding::{Case, Place, Unread, Why};

/// Judges a table, whose path and text these are, and the tests as it lowers them.
pub fn table(
    (path, text): (&Path, &str),
    paths: &[PathBuf],
    setting: &Setting<'_>,
    reporter: &mut Reporter<'_>,
    progress: &ProgressBar,
    (out, err): (&mut dyn Write, &mut dyn Write),
) -> io::Result<()> {
    let table = match lowering::read(&path.to_string_lossy(), text) {
        Ok(table) => table,
        Err(diagnostics) => {
            let why = Why::Rejected(&diagnostics);
            return reporter.unread(&Unread { path, why }, (out, err));
        }
    };
    judged((path, &table), setting, reporter, progress, out)?;
    if paths.is_empty() {
        return Ok(());
    }
    whole::tests((path, &table), paths, setting, reporter, (out, err))
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
    /// The table's file.
    path: &'a Path,
    line: Option<usize>,
    row: &'a str,
    instructions: usize,
    judged: Option<&'a Row>,
    finding: &'a Finding,
    weighed: Weighed,
}

fn judged(
    (path, table): (&Path, &lowering::Table),
    setting: &Setting<'_>,
    reporter: &mut Reporter<'_>,
    progress: &ProgressBar,
    out: &mut dyn Write,
) -> io::Result<()> {
    let patterns: Vec<lowering::Instances<'_>> = table.rows().collect();
    let mut of: Vec<Of> = Vec::new();
    let mut all = Table::default();
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
    let none = Finding::new(Verdict::Outside, "it is for no instruction of PTX");
    let (mut said, mut all_valid) = (Vec::new(), 0);
    for Of { row, all: indices } in &of {
        // Lists together have more than PTX has.
        let is_ptx = |&at: &usize| findings[at].verdict != Verdict::Invalid;
        let valid: Vec<usize> = indices.clone().filter(is_ptx).collect();
        all_valid += valid.len();
        let worst = valid.iter().copied().max_by_key(|&at| {
            let finding: &Finding = &findings[at];
            (reporter.exit_of(finding), finding.verdict != Verdict::Preserved, Reverse(at))
        });
        let finding = worst.map_or(&none, |worst| &findings[worst]);
        let weighed = reporter.weighed(patterns[*row].text, finding);
        said.push(finding);
        let said = Said {
            path,
            line: Some(patterns[*row].line),
            row: patterns[*row].text,
            instructions: valid.len(),
            judged: worst.map(|worst| &all.rows[worst].0),
            finding,
            weighed,
        };
        reporter.one(&said, out)?;
    }
    let (rows, counts) = (of.len(), counted(said.into_iter()));
    let all = format!("{rows} rows: {counts}; {all_valid} instructions, {questions} questions");
    reporter.sum(&all, out)
}

impl Reported for Said<'_> {
    fn case(&self) -> Case {
        let place = match self.line {
            Some(_) => Place::line(self.path.to_string_lossy(), self.line),
            None => Place::file(self.row),
        };
        case(self.finding, self.weighed, self.row.to_owned(), place, None)
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.shown(self.finding.verdict != Verdict::Preserved, out)
    }

    fn details(&self, out: &mut dyn Write) -> io::Result<()> {
        self.shown(true, out)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let Said { line, row, instructions, judged, finding, .. } = *self;
        Object::Lowering(OfLowering {
            line,
            row,
            instructions,
            instruction: judged.map(|judged| judged.source.as_str()),
            becomes: judged.map(|judged| judged.target.as_str()),
            arch: judged.map(|judged| judged.arch.as_str()),
            finding,
        })
        .write(out)
    }
}

impl Said<'_> {
    fn shown(&self, in_full: bool, out: &mut dyn Write) -> io::Result<()> {
        let Said { path, line, row, instructions, judged, finding, .. } = *self;
        let (path, verdict) = (path.display(), finding.verdict.name());
        let racy = if finding.racy { " where it races" } else { "" };
        if let Some(line) = line {
            let s = if instructions == 1 { "" } else { "s" };
            let count = format!("{instructions} instruction{s}");
            writeln!(out, "{path}:{line}: {verdict}{racy}: {row}, {count}")?;
        }
        if !in_full {
            return Ok(());
        }
        let why = &finding.why;
        match (line, judged) {
            (_, Some(Row { source, target, arch })) => {
                writeln!(out, "  {source} became {target} on {arch}: {why}")?;
            }
            (Some(_), None) => writeln!(out, "  {why}")?,
            (None, None) => writeln!(out, "{row}: {verdict}{racy}: {why}")?,
        }
        details(finding, out)
    }
}
