//! The reports of `causeway lower` on functions, rows, tables and tests, for every format, and its baseline.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::page::LoweringPage;
use crate::lines::{self, LineKind};
use crate::report::finding::{
    self, FilePosition, Level, Related, ReportCase, ReportRule, UnreadInput, UnreadReason,
};
use crate::report::{CommandRun, ReportFormat, ReportWriter, Reportable, RunSummary};
use engine::exit::Exit;
use refine::verdict::{Finding, Verdict};
use text::Diagnostic;

/// One line of `--format json`.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum LowerObject<'a> {
    Function(OfFunction<'a>),
    Row(OfRow<'a>),
    Lowering(OfLowering<'a>),
}

/// With `--from` and `--ptxas`: a function.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OfFunction<'a> {
    pub(crate) function: &'a str,
    /// Where it begins.
    pub(crate) source_line: Option<usize>,
    /// Where the fault is, or the function begins.
    pub(crate) target_line: Option<usize>,
    /// The lines of the program that these were made from.
    pub(crate) source_origin: Option<OfOrigin<'a>>,
    pub(crate) target_origin: Option<OfOrigin<'a>>,
    /// Whether the baseline has it.
    pub(crate) known: bool,
    #[serde(flatten)]
    pub(crate) finding: &'a Finding,
}

/// A line that debugging information names.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Origin")]
pub(crate) struct OfOrigin<'a> {
    pub(crate) file: &'a str,
    /// From 1.
    pub(crate) line: usize,
}

/// With `--rows`: a row of the file.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OfRow<'a> {
    /// From 1.
    pub(crate) row: usize,
    #[serde(flatten)]
    pub(crate) finding: &'a Finding,
    /// The columns that are not judged.
    pub(crate) columns: &'a Map<String, Value>,
}

/// With `--table`: a row of the table, or a litmus test.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OfLowering<'a> {
    /// The line of the table's file; none for a test.
    pub(crate) line: Option<usize>,
    /// The row's pattern, or the test's path.
    pub(crate) row: &'a str,
    /// How many instructions the row is for.
    pub(crate) instructions: usize,
    /// The worst of them, what it becomes, and for which architecture.
    pub(crate) instruction: Option<&'a str>,
    pub(crate) becomes: Option<&'a str>,
    pub(crate) arch: Option<&'a str>,
    #[serde(flatten)]
    pub(crate) finding: &'a Finding,
}

impl LowerObject<'_> {
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        lines::write(LineKind::Lower, self, out)
    }
}

/// Accepted findings: those that an earlier run printed as JSON.
#[derive(Debug, Default)]
pub struct Baseline {
    known: BTreeSet<(String, String, String)>,
}

impl Baseline {
    /// Reads the output of `--format json`, or returns the line of the error and the reason.
    pub fn read(text: &str) -> Result<Baseline, (usize, String)> {
        let mut known = BTreeSet::new();
        for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
            let value: Value =
                serde_json::from_str(text).map_err(|error| (line, error.to_string()))?;
            let field = |name: &str| value[name].as_str().map(str::to_owned);
            let row = || value["row"].as_u64().map(|row| row.to_string()).or_else(|| field("row"));
            let who = field("function").or_else(row);
            let (Some(who), Some(verdict)) = (who, field("verdict")) else {
                return Err((line, "not an object that `--format json` prints".to_owned()));
            };
            known.insert((who, verdict, field("outcome").unwrap_or_default()));
        }
        Ok(Baseline { known })
    }

    /// Whether the baseline has a finding with the same function or row, verdict and outcome.
    pub fn knows(&self, who: &str, finding: &Finding) -> bool {
        let outcome = finding.outcome.clone().unwrap_or_default();
        self.known.contains(&(who.to_owned(), finding.verdict.name().to_owned(), outcome))
    }
}

/// The output format, and the options that determine which findings fail the run.
#[derive(Clone, Copy)]
pub struct ReportOptions<'a> {
    pub format: ReportFormat,
    pub racy: bool,
    pub baseline: &'a Baseline,
    /// The percentage of functions that have to be judged; all of them if it is not given.
    pub min_coverage: Option<u8>,
    /// Whether people see only what fails.
    pub quiet: bool,
    /// The file of the page with source and target side by side.
    pub page: Option<&'a Path>,
}

/// The exit code of a finding after the baseline and the command line are applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Weighed {
    /// Whether the baseline contains the finding.
    pub(super) known: bool,
    pub(super) exit: Exit,
}

/// Reports findings and records the worst exit code.
pub struct Reporter<'a> {
    manner: ReportOptions<'a>,
    report: Box<dyn ReportWriter>,
    start: Instant,
    exit: Exit,
    /// Whether enough is judged, so that the rest does not fail the run.
    covered: bool,
    ended: bool,
    /// How many findings are accepted as they require a race.
    accepted: usize,
    page: LoweringPage,
}

impl<'a> Reporter<'a> {
    pub fn new(manner: ReportOptions<'a>) -> Reporter<'a> {
        let (report, start) = (manner.format.report(), Instant::now());
        let page = LoweringPage::default();
        let exit = Exit::AsExpected;
        Reporter { manner, report, start, exit, covered: false, ended: false, accepted: 0, page }
    }

    /// Whether the result of a function depends on how many others are judged.
    pub(super) fn waits_for_coverage(&self) -> bool {
        self.manner.min_coverage.is_some()
    }

    /// Compares the number of judged functions with the percentage that is wanted.
    pub(super) fn cover(&mut self, judged: usize, all: usize) {
        self.covered = self.manner.min_coverage.is_some_and(|wanted| {
            let wanted = usize::from(wanted);
            100 * judged >= wanted * all
        });
    }

    /// How a finding counts. It is also kept for the page, if one is wanted.
    pub(super) fn weighed(&mut self, who: &str, finding: &Finding) -> Weighed {
        if self.manner.page.is_some() {
            self.page.add(who, finding);
        }
        let exit = finding.exit(self.manner.racy);
        self.accepted += usize::from(finding.racy && finding.exit(true) > exit);
        let exit = if self.covered && exit == Exit::Undecided { Exit::AsExpected } else { exit };
        let known = exit != Exit::AsExpected && self.manner.baseline.knows(who, finding);
        Weighed { known, exit: if known { Exit::AsExpected } else { exit } }
    }

    /// Whether a refutation that requires a race of weak accesses fails the run.
    pub(super) fn racy(&self) -> bool {
        self.manner.racy
    }

    pub(super) fn one(&mut self, one: &dyn Reportable, out: &mut dyn Write) -> io::Result<()> {
        let exit = one.case().exit;
        self.exit = self.exit.max(exit);
        if self.hides_unjudged() && exit < Exit::Differs {
            Ok(())
        } else {
            self.report.one(one, out)
        }
    }

    /// Whether what is not judged occurs only in the summary.
    pub(super) fn hides_unjudged(&self) -> bool {
        self.manner.quiet && self.manner.format == ReportFormat::Text
    }

    /// An input that is not judged. Its errors go to standard error in every format, since a line of JSON is a
    /// judgement.
    pub(super) fn unread(
        &mut self,
        unread: &UnreadInput<'_>,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> io::Result<()> {
        out.flush()?;
        unread.complain(err)?;
        self.one(&NotJudged(*unread), out)
    }

    /// An input with errors.
    pub fn rejected(
        &mut self,
        path: &Path,
        errors: &[Diagnostic],
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> io::Result<()> {
        self.unread(&UnreadInput { path, why: UnreadReason::Rejected(errors) }, out, err)
    }

    /// Reports an error that prevented every judgement. The error contains its own position; `path` is the
    /// subject of the report.
    pub(super) fn nothing(
        &mut self,
        path: &Path,
        error: &io::Error,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> io::Result<()> {
        out.flush()?;
        writeln!(err, "error: {error}")?;
        self.one(&NotJudged(UnreadInput { path, why: UnreadReason::Unreadable(error) }), out)
    }

    pub(super) fn sum(&mut self, line: &str, out: &mut dyn Write) -> io::Result<()> {
        if self.accepted == 0 {
            return self.report.sum(&TextLine(line), out);
        }
        let fails = "only where weak accesses race, which fails with --racy";
        self.report.sum(&TextLine(&format!("{line}; {} weaker {fails}", self.accepted)), out)
    }

    /// Prints the end of the report, unless it is printed. An interrupted run does so before its threads end.
    pub(super) fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if !std::mem::replace(&mut self.ended, true) {
            let (exit, seconds) = (self.exit, self.start.elapsed().as_secs_f64());
            self.report.end(&CommandRun { command: "lower", exit, seconds }, out)?;
            if let Some(file) = self.manner.page {
                self.page.write(file)?;
            }
        }
        out.flush()
    }

    /// Ends the report. The worst result determines the exit code.
    pub fn end(mut self, out: &mut dyn Write) -> io::Result<Exit> {
        self.finish(out)?;
        Ok(self.exit)
    }
}

struct TextLine<'a>(&'a str);

impl RunSummary for TextLine<'_> {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.0)
    }
}

struct NotJudged<'a>(UnreadInput<'a>);

impl Reportable for NotJudged<'_> {
    fn case(&self) -> ReportCase {
        self.0.case()
    }

    fn text(&self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn details(&self, out: &mut dyn Write) -> io::Result<()> {
        self.0.complain(out)
    }

    fn json(&self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

fn rule(verdict: Verdict) -> ReportRule {
    let text = match verdict {
        Verdict::Preserved => "the target allows no outcome that the source forbids",
        Verdict::Stronger => "a weaker target would also be correct, up to the bound",
        Verdict::Weaker => "the target allows an outcome that the source forbids",
        Verdict::WrongValue => "the target computes, reads or writes something else",
        Verdict::Outside => "the models do not cover it",
        Verdict::Invalid => "no assembler or compiler accepts it",
        Verdict::Unsupported => "something in it is not supported",
        Verdict::Undecided => "a limit was reached before the verdict was known",
    };
    ReportRule { id: verdict.name(), text, section: None }
}

/// The case that every format prints for a finding: its subject, its position, and further positions.
pub(super) fn case(
    finding: &Finding,
    weighed: Weighed,
    subject: String,
    place: FilePosition,
    related: Vec<Related>,
) -> ReportCase {
    let passes = matches!(finding.verdict, Verdict::Preserved | Verdict::Stronger);
    let level = match weighed.exit {
        // In the baseline, or a race that does not fail the run.
        Exit::AsExpected if !passes => Level::Note,
        Exit::AsExpected
        | Exit::Undecided
        | Exit::Differs
        | Exit::BadInput
        | Exit::Disagreement => Level::of(weighed.exit),
    };
    let own = [
        ("context", finding.context.as_ref()),
        ("outcome", finding.outcome.as_ref()),
        ("sufficient", finding.sufficient.as_ref()),
    ];
    let own = own.into_iter().filter_map(|(name, text)| Some((name, text?.clone())));
    let notes = finding.notes.iter().map(|note| ("note", note.clone()));
    let facts = [
        ("verdict", finding.verdict.name().into()),
        ("racy", finding.racy.into()),
        ("known", weighed.known.into()),
    ];
    let by = finding.by.map(|by| ("by", by.name().into()));
    let axioms = (!finding.axioms.is_empty()).then(|| ("axioms", finding.axioms.clone().into()));
    let said = own.clone().map(|(name, text)| (name, Value::from(text)));
    let file = place.file.clone();
    let found = finding::ReportFinding {
        related,
        remarks: own.chain(notes).collect(),
        facts: facts.into_iter().chain(said).chain(by).chain(axioms).collect(),
        known: weighed.known,
        ..finding::ReportFinding::new(rule(finding.verdict), level, &*finding.why, place)
    };
    let (exit, notes) = (weighed.exit, Vec::new());
    ReportCase { subject, file, exit, seconds: None, findings: vec![found], notes }
}

/// Prints everything but the verdict and its reason.
pub(super) fn details(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    if let Some(by) = finding.by {
        writeln!(out, "  by: {}", by.name())?;
    }
    if let Some(context) = &finding.context {
        writeln!(out, "  context: {context}")?;
    }
    if let Some(outcome) = &finding.outcome {
        writeln!(out, "  outcome: {outcome}")?;
    }
    if let Some(run) = &finding.run {
        writeln!(out, "  run of the machine:")?;
        run.lines().try_for_each(|line| writeln!(out, "    {line}"))?;
    }
    if let Some(sufficient) = &finding.sufficient {
        writeln!(out, "  sufficient, up to the bound: {sufficient}")?;
    }
    finding.notes.iter().try_for_each(|note| writeln!(out, "  note: {note}"))
}

/// Whether a finding says what the target does.
pub(super) fn is_judged(finding: &Finding) -> bool {
    match finding.verdict {
        Verdict::Preserved | Verdict::Stronger | Verdict::Weaker | Verdict::WrongValue => true,
        Verdict::Outside | Verdict::Invalid | Verdict::Unsupported | Verdict::Undecided => false,
    }
}

/// The reasons of findings that are not judgements, without line numbers and quotations, by count.
pub(super) fn reasons<'a>(findings: impl Iterator<Item = &'a Finding>) -> Vec<(usize, String)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for finding in findings.filter(|finding| !is_judged(finding)) {
        *counts.entry(general(&finding.why)).or_default() += 1;
    }
    let mut all: Vec<(usize, String)> =
        counts.into_iter().map(|(reason, count)| (count, reason)).collect();
    all.sort_by_key(|(count, _)| Reverse(*count));
    all
}

/// A reason without the parts that differ between functions: `line … of the target: …` has no number, and
/// quotations and numbers are left out.
fn general(why: &str) -> String {
    let quoted = why.split('`').enumerate();
    let parts: Vec<&str> =
        quoted.map(|(index, part)| if index % 2 == 1 { "…" } else { part }).collect();
    let why = parts.join("`");
    let mut general = String::new();
    for word in why.split(' ') {
        let number = word.trim_end_matches([':', ',', ';']);
        let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let space = if general.is_empty() { "" } else { " " };
        let shown = if digits { "…" } else { number };
        general.extend([space, shown, &word[number.len()..]]);
    }
    general
}

/// The counts as text: `2 preserved, 1 weaker`.
pub(super) fn counted<'a>(findings: impl Iterator<Item = &'a Finding>) -> String {
    let mut counts = [0; Verdict::ALL.len()];
    findings.for_each(|finding| counts[finding.verdict as usize] += 1);
    let some = Verdict::ALL.iter().zip(counts).filter(|(_, count)| *count > 0);
    let some: Vec<String> =
        some.map(|(verdict, count)| format!("{count} {}", verdict.name())).collect();
    some.join(", ")
}
