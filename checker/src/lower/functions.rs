//! The report on functions, for every format.

use std::io::{self, Write};
use std::path::Path;

use refine::function::PairReport;
use refine::verdict::{RefusedPart, Verdict};
use text::escape::escaped;
use text::origin::{Origin, Origins};

use super::report::{
    LowerObject, OfFunction, OfOrigin, Reporter, Weighed, case, counted, is_judged, reasons,
};
use crate::input;
use crate::report::finding::{FilePosition, Related, ReportCase};
use crate::report::{Reportable, colour, count_of};

/// The files of the source functions and of the target functions.
pub(crate) struct FilePair<'a> {
    pub source: &'a Path,
    pub target: &'a Path,
    /// The lines of the programs that both were made from.
    pub origins: [Origins; 2],
    /// If the target does not exist after the run: the option that keeps it.
    pub kept_by: Option<&'static str>,
}

impl FilePair<'_> {
    /// The lines of the program that lines of the source and of the target were made from. A file below the current
    /// folder has its path from there, as reports have it.
    fn origins(&self, said: &PairReport) -> [Option<Origin>; 2] {
        let of = |origins: &Origins, line: Option<usize>| {
            let Origin { file, line } = origins.of(line?)?;
            let shown = input::from_here(Path::new(file)).unwrap_or_else(|| file.clone());
            Some(Origin { file: shown, line: *line })
        };
        let [source, target] = &self.origins;
        [of(source, said.source_line), of(target, said.target_line)]
    }

    /// Whether people find the target where the run says: it is not a temporary file, nor standard input.
    fn is_target_found(&self) -> bool {
        self.kept_by.is_none()
            && !input::is_standard(self.target)
            && input::from_here(self.target).is_some()
    }
}

struct ReportedPair<'a> {
    said: &'a PairReport,
    files: &'a FilePair<'a>,
    origins: [Option<Origin>; 2],
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
        let origins = self.files.origins(said);
        reporter.one(&ReportedPair { said, files: &self.files, origins, weighed }, out)
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
        let mut lines = vec![format!("{}: {counts}{old}", count_of(all.len(), "function"))];
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
        let PairReport { name, test, source_line, target_line, about_target, finding } = self.said;
        let place = |path: &Path, line| FilePosition::line(path.to_string_lossy(), line);
        let source = match test {
            // A module that was generated for the assembler is deleted after the run.
            Some(test) => place(test, None),
            None => place(self.files.source, *source_line),
        };
        let file = source.file.clone();
        let kept = self.files.kept_by.is_none();
        let target = kept.then(|| place(self.files.target, *target_line));
        let related = |place, text: &str| Related { place, text: text.to_owned() };
        let (at, mut others) = match target {
            Some(target) if *about_target && self.files.is_target_found() => {
                let source = source_line.map(|_| related(source, "source"));
                (target, source.into_iter().collect::<Vec<_>>())
            }
            target => (source, target.into_iter().map(|at| related(at, "target")).collect()),
        };
        let [source, target] = &self.origins;
        let origins = if source == target {
            vec![(source, "made from")]
        } else {
            vec![(source, "the source was made from"), (target, "the target was made from")]
        };
        others.extend(origins.into_iter().filter_map(|(origin, text)| {
            let Origin { file, line } = origin.as_ref()?;
            Some(related(FilePosition::line(&**file, Some(*line)), text))
        }));
        ReportCase { file, ..case(finding, self.weighed, name.clone(), at, others) }
    }

    fn details(&self, out: &mut dyn Write) -> io::Result<()> {
        self.text(out)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let PairReport { name, source_line, target_line, finding, .. } = self.said;
        let (source_line, target_line) = (*source_line, *target_line);
        let [source_origin, target_origin] = self.origins.each_ref().map(|origin| {
            origin.as_ref().map(|Origin { file, line }| OfOrigin { file, line: *line })
        });
        let known = self.weighed.known;
        let object = OfFunction {
            function: name,
            source_line,
            target_line,
            source_origin,
            target_origin,
            known,
            finding,
        };
        LowerObject::Function(object).write(out)
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let PairReport { name, source_line, target_line, finding, .. } = self.said;
        let racy = if finding.racy { " where it races" } else { "" };
        let known = if self.weighed.known { " (known)" } else { "" };
        let (name, verdict, style) =
            (escaped(name), finding.verdict.name(), colour::of(self.weighed.exit));
        writeln!(out, "{name}: {style}{verdict}{style:#}{racy}{known}: {}", finding.why)?;
        if !matches!(finding.verdict, Verdict::Preserved | Verdict::Stronger) {
            let [source, target] = &self.origins;
            let FilePair { source: from, target: to, kept_by, .. } = self.files;
            // A module that was generated for the assembler is gone, too.
            let source_by = kept_by.filter(|_| self.said.test.is_some());
            writeln!(out, "  source: {}", at(from, source_by, *source_line, source.as_ref()))?;
            writeln!(out, "  target: {}", at(to, *kept_by, *target_line, target.as_ref()))?;
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

/// A line of a file, and the one that it was made from. A file that is gone has no name, but an option that keeps it.
fn at(
    path: &Path,
    kept_by: Option<&'static str>,
    line: Option<usize>,
    origin: Option<&Origin>,
) -> String {
    let origin = origin.map_or(String::new(), |Origin { file, line }| format!(" ({file}:{line})"));
    if let Some(option) = kept_by {
        let line = line.map_or("a file".to_owned(), |line| format!("line {line} of a file"));
        return format!("{line} that `{option}` keeps{origin}");
    }
    let line = line.map_or(String::new(), |line| format!(":{line}"));
    format!("{}{line}{origin}", input::shown(path))
}
