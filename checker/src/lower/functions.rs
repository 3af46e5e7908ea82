//! The report on functions, for every format.

use std::io::{self, Write};
use std::path::Path;

use refine::function::PairReport;
use refine::verdict::{RefusedPart, Verdict};

use super::report::{
    LowerObject, OfFunction, Reporter, Weighed, case, counted, is_judged, reasons,
};
use crate::report::Reportable;
use crate::report::finding::{FilePosition, ReportCase};

/// The files of the source functions and of the target functions.
#[derive(Clone, Copy)]
pub(crate) struct FilePair<'a> {
    pub source: &'a Path,
    pub target: &'a Path,
}

struct ReportedPair<'a> {
    said: &'a PairReport,
    files: FilePair<'a>,
    weighed: Weighed,
}

/// The report on the functions of two files, each of which is printed as soon as it is judged.
pub(crate) struct FunctionsReport<'a> {
    files: FilePair<'a>,
    /// Those that are reported, or wait for the coverage of all.
    all: Vec<PairReport>,
    /// The number of reported ones that the baseline has.
    old: usize,
}

impl<'a> FunctionsReport<'a> {
    pub(crate) fn new(files: FilePair<'a>) -> FunctionsReport<'a> {
        FunctionsReport { files, all: Vec::new(), old: 0 }
    }

    /// Reports one more function.
    pub(crate) fn add(
        &mut self,
        said: PairReport,
        reporter: &mut Reporter<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if !reporter.waits_for_coverage() {
            self.show(&said, reporter, out)?;
            out.flush()?;
        }
        self.all.push(said);
        Ok(())
    }

    fn show(
        &mut self,
        said: &PairReport,
        reporter: &mut Reporter<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let weighed = reporter.weighed(&said.name, &said.finding);
        self.old += usize::from(weighed.known);
        reporter.one(&ReportedPair { said, files: self.files, weighed }, out)
    }

    /// Reports what waited, and the numbers of all.
    pub(crate) fn end(
        &mut self,
        reporter: &mut Reporter<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let all = std::mem::take(&mut self.all);
        let judged = all.iter().filter(|said| is_judged(&said.finding)).count();
        if reporter.waits_for_coverage() {
            reporter.cover(judged, all.len());
            all.iter().try_for_each(|said| self.show(said, reporter, out))?;
        }
        let counts = counted(all.iter().map(|said| &said.finding));
        let old = self.old;
        let old = if old > 0 { format!(" ({old} in the baseline)") } else { String::new() };
        let functions = if all.len() == 1 { "function" } else { "functions" };
        let mut lines = vec![format!("{} {functions}: {counts}{old}", all.len())];
        // One reason stands above already.
        let above = usize::from(!reporter.hides_unjudged());
        if all.len() > judged + above {
            let percent = 100 * judged / all.len();
            lines.push(format!("{judged} judged ({percent} %); not judged, by reason:"));
            let reasons = reasons(all.iter().map(|said| &said.finding)).into_iter();
            lines.extend(reasons.map(|(count, reason)| format!("  {count} × {reason}")));
        }
        reporter.sum(&lines.join("\n"), out)
    }
}

impl Reportable for ReportedPair<'_> {
    fn case(&self) -> ReportCase {
        let PairReport { name, test, source_line, target_line, finding } = self.said;
        let place = |path: &Path, line| FilePosition::line(path.to_string_lossy(), line);
        // Annotations refer to the source, where people look. A module that was generated for the assembler is
        // deleted after the run.
        let (source, target) = match test {
            Some(test) => (place(test, None), None),
            None => (
                place(self.files.source, *source_line),
                Some(place(self.files.target, *target_line)),
            ),
        };
        case(finding, self.weighed, name.clone(), source, target)
    }

    fn details(&self, out: &mut dyn Write) -> io::Result<()> {
        self.text(out)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let PairReport { name, source_line, target_line, finding, .. } = self.said;
        let (source_line, target_line) = (*source_line, *target_line);
        let known = self.weighed.known;
        let object = OfFunction { function: name, source_line, target_line, known, finding };
        LowerObject::Function(object).write(out)
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let PairReport { name, source_line, target_line, finding, .. } = self.said;
        let racy = if finding.racy { " where it races" } else { "" };
        let known = if self.weighed.known { " (known)" } else { "" };
        writeln!(out, "{name}: {}{racy}{known}: {}", finding.verdict.name(), finding.why)?;
        let ends = (at(self.files.source, *source_line), at(self.files.target, *target_line));
        if !matches!(finding.verdict, Verdict::Preserved | Verdict::Stronger) {
            writeln!(out, "  source: {}", ends.0)?;
            writeln!(out, "  target: {}", ends.1)?;
        }
        for more in also_refused(&finding.refused) {
            writeln!(out, "  also: {more}")?;
        }
        if let Some(context) = &finding.context {
            writeln!(out, "  context: {context}")?;
        }
        if let Some(outcome) = &finding.outcome {
            writeln!(out, "  outcome: {outcome}")?;
        }
        if let Some(sufficient) = &finding.sufficient {
            writeln!(out, "  sufficient, up to the bound: {sufficient}")?;
        }
        if let Some(by) = finding.by {
            writeln!(out, "  by: {}", by.name())?;
        }
        if let Some(run) = &finding.run {
            writeln!(out, "  run:")?;
            run.lines().try_for_each(|line| writeln!(out, "    {line}"))?;
        }
        for note in &finding.notes {
            writeln!(out, "  note: {note}")?;
        }
        for (what, test) in [("forbidden", &finding.forbidden), ("allowed", &finding.allowed)] {
            if let Some(test) = test {
                writeln!(out, "  {what}:")?;
                test.lines().try_for_each(|line| writeln!(out, "    {line}"))?;
            }
        }
        Ok(())
    }
}

/// The maximum number of lines that are listed with one reason.
const LINES: usize = 5;

/// What else is not supported, besides the first part. Equal reasons are listed once.
fn also_refused(parts: &[RefusedPart]) -> Vec<String> {
    let Some((first, rest)) = parts.split_first() else { return Vec::new() };
    let mut groups: Vec<(&RefusedPart, Vec<usize>)> = Vec::new();
    for part in rest {
        let same = |of: &RefusedPart| (&of.side, &of.why) == (&part.side, &part.why);
        if let Some((_, lines)) = groups.iter_mut().find(|(of, _)| same(of)) {
            lines.push(part.line);
        } else {
            groups.push((part, vec![part.line]));
        }
    }
    let shown = groups.into_iter().map(|(part, lines)| {
        let more = lines.len().saturating_sub(LINES);
        let numbers: Vec<String> = lines.iter().take(LINES).map(ToString::to_string).collect();
        let several = if lines.len() > 1 { "lines" } else { "line" };
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let again = if (&part.side, &part.why) == (&first.side, &first.why) {
            "the same".to_owned()
        } else {
            part.why.clone()
        };
        format!("{several} {}{more} of the {}: {again}", numbers.join(", "), part.side)
    });
    shown.collect()
}

fn at(path: &Path, line: Option<usize>) -> String {
    line.map_or_else(|| path.display().to_string(), |line| format!("{}:{line}", path.display()))
}
