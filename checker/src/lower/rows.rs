//! `causeway lower --rows`: every row of a file judged, each question once.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::ProgressBar;
use model::rel::Model;
use sass::lowering;
use serde_json::{Map, Value};

use super::asked::{Asked, Prepared};
use super::csv;
use super::inclusion::{Judge, Patience, Question};
use super::report::{Object, OfRow, Reporter, Weighed, case, counted, details};
use super::row::{Assumptions, Row, prepare};
use super::verdict::Finding;
use crate::report::Reported;
use crate::report::finding::{Case, Place};
use engine::Engine;

/// What judges.
pub struct Setting<'a> {
    pub engine: &'a dyn Engine,
    pub cxx: &'a Model,
    pub whole: &'a Model,
    pub torn: Option<&'a Model>,
    pub assumptions: Assumptions,
    pub jobs: usize,
    pub patience: Patience,
}

/// Names that a column may have, the first being ours.
const SOURCE: &[&str] = &["source", "ir", "ptx_instruction"];
const TARGET: &[&str] = &["target", "ptx", "sass_sequence"];
const ARCH: &[&str] = &["arch", "sm"];

/// A file of rows.
#[derive(Debug, Default)]
pub struct Table {
    pub rows: Vec<(Row, Map<String, Value>)>,
    /// The line of each in its file, if they were read from one.
    pub lines: Vec<usize>,
}

/// Whether the first line of a text may be that of a file of rows: it names a column that is read.
pub fn fits(text: &str) -> bool {
    let mut names = text.lines().next().unwrap_or_default().split(',');
    names.any(|name| {
        let name = name.trim().trim_matches('"');
        [SOURCE, TARGET, ARCH].iter().any(|names| names.contains(&name))
    })
}

/// Reads a file, or says what is wrong with it and on which line.
pub fn read(text: &str) -> Result<Table, (usize, String)> {
    let records = csv::records(text).map_err(|bad| (bad.line, bad.why.to_owned()))?;
    let Some(((_, header), rest)) = records.split_first() else {
        return Err((1, "the file is empty: its first line names the columns".to_owned()));
    };
    let column = |names: &[&str]| {
        let found = names.iter().find_map(|name| header.iter().position(|h| h.trim() == *name));
        found.ok_or_else(|| (1, format!("there is no column `{}`", names[0])))
    };
    let (source, target, arch) = (column(SOURCE)?, column(TARGET)?, column(ARCH)?);
    let mut rows = Vec::with_capacity(rest.len());
    for (line, record) in rest {
        if record.len() != header.len() {
            let (found, wanted) = (record.len(), header.len());
            return Err((*line, format!("this row has {found} fields for {wanted} columns")));
        }
        let row = Row {
            source: record[source].clone(),
            target: record[target].clone(),
            arch: record[arch].clone(),
        };
        let others = header.iter().zip(record).enumerate();
        let others = others.filter(|(index, _)| ![source, target, arch].contains(index));
        let others = others.map(|(_, (name, field))| (name.clone(), Value::from(field.clone())));
        rows.push((row, others.collect()));
    }
    let lines = rest.iter().map(|(line, _)| *line).collect();
    Ok(Table { rows, lines })
}

/// Judges all rows, in the order of the file.
pub fn judge(table: &Table, setting: &Setting<'_>, progress: &ProgressBar) -> Vec<Finding> {
    judge_by(table, setting, None, progress).0
}

/// The same, and how many questions they were; contexts are lowered by `partners`, if there is one,
/// in place of the table that comes with the program.
pub fn judge_by(
    table: &Table,
    setting: &Setting<'_>,
    partners: Option<&lowering::Table>,
    progress: &ProgressBar,
) -> (Vec<Finding>, usize) {
    let mut findings: Vec<Option<Finding>> = vec![None; table.rows.len()];
    // Questions of one source are asked one after the other, so that what it allows is known.
    let mut questions: BTreeMap<Question, Vec<(usize, Box<Asked>)>> = BTreeMap::new();
    for (index, (row, _)) in table.rows.iter().enumerate() {
        match prepare(row, setting.assumptions) {
            Prepared::Found(finding) => {
                findings[index] = Some(*finding);
                progress.inc(1);
            }
            Prepared::Asks(asked) => {
                let source = Question { target: Vec::new(), ..asked.question.clone() };
                questions.entry(source).or_default().push((index, asked));
            }
        }
    }
    let groups: Vec<Vec<(usize, Box<Asked>)>> = questions.into_values().collect();
    let distinct = groups
        .iter()
        .map(|group| group.iter().map(|(_, asked)| &asked.question).collect::<BTreeSet<_>>().len());
    let distinct: usize = distinct.sum();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(&mut findings);
    std::thread::scope(|scope| {
        for _ in 0..setting.jobs.min(groups.len()) {
            scope.spawn(|| {
                let mut judge =
                    Judge::new(setting.engine, setting.cxx, setting.whole, setting.torn);
                judge.partners = partners;
                judge.patience = setting.patience;
                while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for (index, asked) in group {
                        let finding = asked.finding(&mut judge);
                        done.lock().expect("no thread fails while it holds this")[*index] =
                            Some(finding);
                        progress.inc(1);
                    }
                    judge.forget();
                }
            });
        }
    });
    let findings = findings.into_iter().map(|finding| finding.expect("every row was judged"));
    (findings.collect(), distinct)
}

/// A row and its finding.
struct One<'a> {
    path: &'a Path,
    /// From 1.
    row: usize,
    /// Of the file, if the row was read from one.
    line: Option<usize>,
    columns: &'a Map<String, Value>,
    finding: &'a Finding,
    weighed: Weighed,
}

/// Reports the findings, and how many there are of each verdict, and how many questions there were.
pub fn report(
    (path, table): (&Path, &Table),
    findings: &[Finding],
    questions: usize,
    reporter: &mut Reporter<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (index, (finding, (_, columns))) in findings.iter().zip(&table.rows).enumerate() {
        let (row, line) = (index + 1, table.lines.get(index).copied());
        let weighed = reporter.weighed(&row.to_string(), finding);
        reporter.one(&One { path, row, line, columns, finding, weighed }, out)?;
    }
    let (rows, counts) = (findings.len(), counted(findings.iter()));
    reporter.sum(&format!("{rows} rows: {counts}; {questions} questions"), out)
}

impl Reported for One<'_> {
    fn case(&self) -> Case {
        let place = Place::line(self.path.to_string_lossy(), self.line);
        case(self.finding, self.weighed, format!("row {}", self.row), place, None)
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let One { row, finding, .. } = self;
        let racy = if finding.racy { " where it races" } else { "" };
        writeln!(out, "row {row}: {}{racy}: {}", finding.verdict.name(), finding.why)?;
        details(finding, out)
    }

    fn details(&self, out: &mut dyn Write) -> io::Result<()> {
        self.text(out)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let One { row, finding, columns, .. } = *self;
        Object::Row(OfRow { row, finding, columns }).write(out)
    }
}
