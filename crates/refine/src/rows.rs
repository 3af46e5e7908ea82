//! Rows of a file. Each row is a lowering. Rows with the same question are judged once.

use std::collections::{BTreeMap, BTreeSet};

use engine::parallel;
use sass::lowering;
use serde_json::{Map, Value};

use super::inclusion::{Judge, Question};
use super::refiner::{Models, Refiner};
use super::row::{Assumptions, Row, prepare};
use super::row_question::{PreparedRow, RowQuestion};
use super::verdict::{Finding, Verdict};
use crate::Progress;
use text::csv;

/// The refiner, and the assumptions about programs.
pub struct JudgeSettings<'a> {
    pub refiner: Refiner<'a>,
    pub assumptions: Assumptions,
    pub jobs: usize,
}

impl<'a> JudgeSettings<'a> {
    /// The settings of [`Refiner::new`] on one thread.
    pub fn new(models: &'a Models) -> JudgeSettings<'a> {
        let (refiner, assumptions) = (Refiner::new(models), Assumptions::default());
        JudgeSettings { refiner, assumptions, jobs: 1 }
    }
}

/// The accepted names of a column. The first is Causeway's own.
const SOURCE: &[&str] = &["source", "ir", "ptx_instruction"];
const TARGET: &[&str] = &["target", "ptx", "sass_sequence"];
const ARCH: &[&str] = &["arch", "sm"];

/// A file of rows.
#[derive(Debug, Default)]
pub struct RowTable {
    pub rows: Vec<(Row, Map<String, Value>)>,
    /// The line of each row in its file, if the rows were read from a file.
    pub lines: Vec<usize>,
}

/// Whether a text may be a file of rows: its first line names a column that is read.
pub fn fits(text: &str) -> bool {
    let mut names = text.lines().next().unwrap_or_default().split(',');
    names.any(|name| {
        let name = name.trim().trim_matches('"');
        [SOURCE, TARGET, ARCH].iter().any(|names| names.contains(&name))
    })
}

/// Reads a file, or returns the first error with its line.
pub fn read(text: &str) -> Result<RowTable, (usize, String)> {
    let records = csv::records(text).map_err(|bad| (bad.line, bad.why.to_owned()))?;
    let Some(((_, header), rest)) = records.split_first() else {
        return Err((1, "the file is empty: its first line names the columns".to_owned()));
    };
    let column = |names: &[&str]| {
        let found = names.iter().find_map(|name| header.iter().position(|h| h.trim() == *name));
        found.ok_or_else(|| (1, format!("the column `{}` is missing", names[0])))
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
    Ok(RowTable { rows, lines })
}

/// Judges one row.
///
/// ```
/// use refine::{Models, Row, JudgeSettings, Verdict};
///
/// let row = |target: &str| Row {
///     source: "%r = load atomic i32, ptr %p syncscope(\"device\") acquire, align 4".to_owned(),
///     target: target.to_owned(),
///     arch: "sm_90".to_owned(),
/// };
/// let models = Models::default();
/// let verdict = |target| refine::judge_row(row(target), &JudgeSettings::new(&models)).verdict;
/// assert_eq!(verdict("ld.acquire.gpu.b32 %r1, [%rd1];"), Verdict::Preserved);
/// assert_eq!(verdict("ld.relaxed.gpu.b32 %r1, [%rd1];"), Verdict::Weaker);
/// ```
pub fn judge_row(row: Row, setting: &JudgeSettings<'_>) -> Finding {
    let table = RowTable { rows: vec![(row, Map::new())], lines: Vec::new() };
    judge(&table, setting, &()).remove(0)
}

/// Judges all rows, in the order of the file.
pub fn judge(
    table: &RowTable,
    setting: &JudgeSettings<'_>,
    progress: &dyn Progress,
) -> Vec<Finding> {
    judge_by(table, setting, None, progress).0
}

/// The same, with the number of distinct questions. `partners`, if given, lowers contexts in place of the
/// built-in table.
pub fn judge_by(
    table: &RowTable,
    setting: &JudgeSettings<'_>,
    partners: Option<&lowering::LoweringTable>,
    progress: &dyn Progress,
) -> (Vec<Finding>, usize) {
    let mut findings: Vec<Option<Finding>> = vec![None; table.rows.len()];
    // Questions with the same source are adjacent, so that its allowed outcomes are known.
    let mut questions: BTreeMap<Question, Vec<(usize, Box<RowQuestion>)>> = BTreeMap::new();
    for (index, (row, _)) in table.rows.iter().enumerate() {
        match prepare(row, setting.assumptions) {
            PreparedRow::Found(finding) => {
                findings[index] = Some(*finding);
                progress.done();
            }
            PreparedRow::NeedsEngine(asked) => {
                let source = Question { target: Vec::new(), ..asked.question.clone() };
                questions.entry(source).or_default().push((index, asked));
            }
        }
    }
    let groups: Vec<Vec<(usize, Box<RowQuestion>)>> = questions.into_values().collect();
    let distinct = groups
        .iter()
        .map(|group| group.iter().map(|(_, asked)| &asked.question).collect::<BTreeSet<_>>().len());
    let distinct: usize = distinct.sum();
    let judge = || {
        let mut judge = Judge::new(setting.refiner);
        judge.partners = partners;
        judge
    };
    let work = |judge: &mut Judge<'_>, group: usize| {
        let found = groups[group].iter().map(|(index, asked)| {
            let finding = asked.finding(judge);
            progress.done();
            (*index, finding)
        });
        let found: Vec<(usize, Finding)> = found.collect();
        judge.forget();
        found
    };
    for (index, finding) in
        parallel::all(groups.len(), setting.jobs, &judge, &work).into_iter().flatten()
    {
        findings[index] = Some(finding);
    }
    let interrupted = || Finding::new(Verdict::Undecided, "interrupted");
    let findings = findings.into_iter().map(|finding| finding.unwrap_or_else(interrupted));
    (findings.collect(), distinct)
}
