//! Judges a table of lowerings row by row, and litmus tests by a table.
//!
//! Every instruction to which a row applies becomes a row of [`crate::rows`]. Rows with the same question are
//! judged once. Contexts are lowered by the built-in table, and then by this table: a convention is correct
//! only if all rows follow it (reading R81).

mod instance;
mod lifted;
pub mod test;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use sass::lowering;
use serde_json::Map;

use super::rows::{self, JudgeSettings};
use super::step::Step;
use super::verdict::{Finding, Verdict};
use super::{Row, RowTable};
use crate::Progress;

/// A C++ table's lowering of a step; `None` if the table has no row for it.
pub(super) fn mapped(step: Step, table: &lowering::LoweringTable) -> Option<Vec<Step>> {
    lifted::step(step, table)
}

/// The range of judged rows that belong to one row of the table.
struct RowOrigin {
    row: usize,
    all: Range<usize>,
}

/// The result for a row of the table.
#[derive(Debug)]
pub struct RowFinding<'t> {
    /// The line in the table's file, from 1.
    pub line: usize,
    /// The row's pattern.
    pub row: &'t str,
    /// The number of instructions to which the row applies.
    pub instructions: usize,
    /// The worst of these instructions, with its lowering.
    pub worst: Option<Row>,
    pub finding: Finding,
}

/// The results for a table.
#[derive(Debug)]
pub struct TableFindings<'t> {
    pub rows: Vec<RowFinding<'t>>,
    /// The number of instructions of all rows.
    pub instructions: usize,
    /// The number of distinct questions among them.
    pub questions: usize,
}

/// Judges each row of a table by the instructions to which it applies. With `racy`, a refutation that needs a
/// race of weak accesses counts.
pub fn judge<'t>(
    table: &'t lowering::LoweringTable,
    setting: &JudgeSettings<'_>,
    racy: bool,
    progress: &dyn Progress,
) -> TableFindings<'t> {
    let patterns: Vec<lowering::Instances<'_>> = table.rows().collect();
    let mut of: Vec<RowOrigin> = Vec::new();
    let mut all = RowTable::default();
    for (row, pattern) in patterns.iter().enumerate() {
        let before = all.rows.len();
        let rows = pattern.all.iter().flat_map(|one| instance::rows(table, one));
        // The same names in another order form the same instruction.
        let rows: BTreeSet<(String, String, String)> = rows.collect();
        let row_of = |(source, target, arch)| (Row { source, target, arch }, Map::new());
        all.rows.extend(rows.into_iter().map(row_of));
        of.push(RowOrigin { row, all: before..all.rows.len() });
    }
    progress.length(2 * all.rows.len());
    let (mut findings, questions) = rows::judge_by(&all, setting, None, progress);
    let (by_itself, _) = rows::judge_by(&all, setting, Some(table), progress);
    for (finding, other) in findings.iter_mut().zip(by_itself) {
        // The witness with the usual partners is the better one.
        if other.verdict == Verdict::Weaker && finding.verdict != Verdict::Weaker {
            *finding = other;
            finding
                .notes
                .push("the threads of its contexts are lowered by this table too".to_owned());
        }
    }
    let mut judged = TableFindings { rows: Vec::new(), instructions: 0, questions };
    for RowOrigin { row, all: indices } in of {
        // The lists of a row combine to more instructions than PTX has.
        let is_ptx = |&at: &usize| findings[at].verdict != Verdict::Invalid;
        let valid: Vec<usize> = indices.filter(is_ptx).collect();
        judged.instructions += valid.len();
        let worst = valid.iter().copied().max_by_key(|&at| {
            let finding: &Finding = &findings[at];
            (finding.exit(racy), finding.verdict != Verdict::Preserved, Reverse(at))
        });
        let none = || Finding::new(Verdict::Outside, "it matches no PTX instruction");
        judged.rows.push(RowFinding {
            line: patterns[row].line,
            row: patterns[row].text,
            instructions: valid.len(),
            worst: worst.map(|worst| all.rows[worst].0.clone()),
            finding: worst.map_or_else(none, |worst| findings[worst].clone()),
        });
    }
    judged
}
