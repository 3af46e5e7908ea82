//! The report on the rows of a file, for every format.

use std::io::{self, Write};
use std::path::Path;

use refine::RowTable;
use refine::verdict::Finding;
use serde_json::{Map, Value};

use super::report::{LowerObject, OfRow, Reporter, Weighed, case, counted, details};
use crate::report::finding::{FilePosition, ReportCase};
use crate::report::{Reportable, colour};

/// A row and its finding.
struct ReportedRow<'a> {
    path: &'a Path,
    /// The number of the row, from 1.
    row: usize,
    /// The line in the file, if the row was read from one.
    line: Option<usize>,
    columns: &'a Map<String, Value>,
    finding: &'a Finding,
    weighed: Weighed,
}

/// Reports the findings, the number of findings for each verdict, and the number of questions.
pub(crate) fn report(
    path: &Path,
    table: &RowTable,
    findings: &[Finding],
    questions: usize,
    reporter: &mut Reporter<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (index, (finding, (_, columns))) in findings.iter().zip(&table.rows).enumerate() {
        let (row, line) = (index + 1, table.lines.get(index).copied());
        let weighed = reporter.weighed(&row.to_string(), finding);
        reporter.one(&ReportedRow { path, row, line, columns, finding, weighed }, out)?;
    }
    let (rows, counts) = (findings.len(), counted(findings.iter()));
    reporter.sum(&format!("{rows} rows: {counts}; {questions} questions"), out)
}

impl Reportable for ReportedRow<'_> {
    fn case(&self) -> ReportCase {
        let place = FilePosition::line(self.path.to_string_lossy(), self.line);
        case(self.finding, self.weighed, format!("row {}", self.row), place, Vec::new())
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let ReportedRow { row, finding, .. } = self;
        let racy = if finding.racy { " where it races" } else { "" };
        let (verdict, style) = (finding.verdict.name(), colour::of(self.weighed.exit));
        writeln!(out, "row {row}: {style}{verdict}{style:#}{racy}: {}", finding.why)?;
        details(finding, out)
    }

    fn details(&self, out: &mut dyn Write) -> io::Result<()> {
        self.text(out)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let ReportedRow { row, finding, columns, .. } = *self;
        LowerObject::Row(OfRow { row, finding, columns }).write(out)
    }
}
