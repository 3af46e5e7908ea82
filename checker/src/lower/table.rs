//! The report on the rows of a table, and on the tests that it lowers, for every format.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use refine::table;
use refine::verdict::{Finding, Verdict};
use refine::{JudgeSettings, Progress, Row};
use sass::lowering;

use super::report::{LowerObject, OfLowering, Reporter, Weighed, case, counted, details};
use crate::input;
use crate::report::finding::{FilePosition, ReportCase, UnreadInput, UnreadReason};
use crate::report::{Reportable, count_of};

/// Judges the rows of a table; `path` is the file that has it.
pub fn rows(
    path: &Path,
    table: &lowering::LoweringTable,
    setting: &JudgeSettings<'_>,
    reporter: &mut Reporter<'_>,
    progress: &dyn Progress,
    out: &mut dyn Write,
) -> io::Result<()> {
    let judged = table::judge(table, setting, reporter.racy(), progress);
    progress.end();
    for one in &judged.rows {
        let weighed = reporter.weighed(one.row, &one.finding);
        let said = ReportedTableRow {
            path,
            line: Some(one.line),
            row: one.row,
            instructions: one.instructions,
            judged: one.worst.as_ref(),
            finding: &one.finding,
            weighed,
        };
        reporter.one(&said, out)?;
    }
    let counts = counted(judged.rows.iter().map(|one| &one.finding));
    let (rows, table::TableFindings { instructions, questions, .. }) = (judged.rows.len(), judged);
    let all = format!("{rows} rows: {counts}; {instructions} instructions, {questions} questions");
    reporter.sum(&all, out)
}

/// Judges every test below the paths. Tests in another language than the source language of the table are
/// skipped and counted.
pub fn tests(
    of: &Path,
    table: &lowering::LoweringTable,
    paths: &[PathBuf],
    setting: &JudgeSettings<'_>,
    reporter: &mut Reporter<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<()> {
    if paths.is_empty() {
        return Ok(());
    }
    let files = match input::find(paths, "litmus") {
        Ok(files) => files,
        Err(error) => return reporter.nothing(of, &error, out, err),
    };
    let (mut all, mut others) = (Vec::new(), 0);
    let work = |index: usize| {
        let path = files[index].to_string_lossy();
        let bytes = input::read(&files[index])?;
        let test = litmus::parse(&path, &bytes);
        Ok::<_, io::Error>(test.map(|test| table::test::judge(&test, table, setting)))
    };
    engine::parallel::in_order(files.len(), setting.jobs, &work, &mut |result| {
        let Some((index, result)) = result else { return Ok(()) };
        let path = &files[index];
        let finding = match &result {
            Err(error) => {
                let why = UnreadReason::Unreadable(error);
                return reporter.unread(&UnreadInput { path, why }, out, err);
            }
            Ok(Err(errors)) => return reporter.rejected(path, errors, out, err),
            Ok(Ok(None)) => {
                others += 1;
                return Ok(());
            }
            Ok(Ok(Some(finding))) => finding,
        };
        let row = &*path.to_string_lossy();
        let weighed = reporter.weighed(row, finding);
        let (line, instructions, judged) = (None, 0, None);
        reporter.one(
            &ReportedTableRow { path: of, line, row, instructions, judged, finding, weighed },
            out,
        )?;
        all.push(finding.clone());
        Ok(())
    })?;
    let language =
        if others > 0 { format!("; {others} in another language") } else { String::new() };
    reporter.sum(&format!("{} tests: {}{language}", all.len(), counted(all.iter())), out)
}

/// The report on a row of the table, or on a test.
struct ReportedTableRow<'a> {
    /// The file of the table.
    path: &'a Path,
    line: Option<usize>,
    row: &'a str,
    instructions: usize,
    judged: Option<&'a Row>,
    finding: &'a Finding,
    weighed: Weighed,
}

impl Reportable for ReportedTableRow<'_> {
    fn case(&self) -> ReportCase {
        let place = match self.line {
            Some(_) => FilePosition::line(self.path.to_string_lossy(), self.line),
            None => FilePosition::file(self.row),
        };
        case(self.finding, self.weighed, self.row.to_owned(), place, Vec::new())
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.shown(self.finding.verdict != Verdict::Preserved, out)
    }

    fn details(&self, out: &mut dyn Write) -> io::Result<()> {
        self.shown(true, out)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let ReportedTableRow { line, row, instructions, judged, finding, .. } = *self;
        LowerObject::Lowering(OfLowering {
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

impl ReportedTableRow<'_> {
    fn shown(&self, in_full: bool, out: &mut dyn Write) -> io::Result<()> {
        let ReportedTableRow { path, line, row, instructions, judged, finding, .. } = *self;
        let (path, verdict) = (path.display(), finding.verdict.name());
        let racy = if finding.racy { " where it races" } else { "" };
        if let Some(line) = line {
            let count = count_of(instructions, "instruction");
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
