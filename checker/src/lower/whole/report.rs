//! What was said of functions: as text, as JSON, as annotations of GitHub, and what of it is known.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::Said;
use crate::cli::LowerFormat;
use crate::exit::Exit;
use crate::lines::{self, Schema};
use crate::lower::verdict::{Finding, Verdict};

/// One line of `--format json`.
#[derive(Serialize)]
struct Object<'a> {
    function: &'a str,
    source_line: Option<usize>,
    target_line: Option<usize>,
    /// Whether the baseline has it.
    known: bool,
    #[serde(flatten)]
    finding: &'a Finding,
}

/// Findings that are accepted: those that an earlier run printed as JSON.
#[derive(Debug, Default)]
pub struct Baseline {
    known: BTreeSet<(String, String, String)>,
}

impl Baseline {
    /// Reads the output of `--format json`; or says on which line it is none.
    pub fn read(text: &str) -> Result<Baseline, (usize, String)> {
        let mut known = BTreeSet::new();
        for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
            let value: serde_json::Value =
                serde_json::from_str(text).map_err(|error| (line, error.to_string()))?;
            let field = |name: &str| value[name].as_str().map(str::to_owned);
            let row = || value["row"].as_u64().map(|row| row.to_string()).or_else(|| field("row"));
            let who = field("function").or_else(row);
            let (Some(who), Some(verdict)) = (who, field("verdict")) else {
                return Err((line, "no object that `--format json` prints".to_owned()));
            };
            known.insert((who, verdict, field("outcome").unwrap_or_default()));
        }
        Ok(Baseline { known })
    }

    /// Whether this was found before: of the same function or row, with the same verdict and outcome.
    pub fn knows(&self, who: &str, finding: &Finding) -> bool {
        let outcome = finding.outcome.clone().unwrap_or_default();
        self.known.contains(&(who.to_owned(), finding.verdict.name().to_owned(), outcome))
    }
}

/// How to print, and what counts.
pub struct Manner<'a> {
    pub format: LowerFormat,
    pub racy: bool,
    pub baseline: &'a Baseline,
    pub source: &'a Path,
    pub target: &'a Path,
}

/// Prints all, and the worst of what is new decides the exit code.
pub fn print(all: &[Said], manner: &Manner<'_>, out: &mut dyn Write) -> io::Result<Exit> {
    let mut exit = Exit::AsExpected;
    let mut old = 0;
    for said in all {
        let here = said.finding.exit(manner.racy);
        let known = here != Exit::AsExpected && manner.baseline.knows(&said.name, &said.finding);
        if known {
            old += 1;
        } else {
            exit = exit.max(here);
        }
        match manner.format {
            LowerFormat::Text => text(said, known, manner, out)?,
            LowerFormat::Json => {
                let Said { name, source_line, target_line, finding } = said;
                let (source_line, target_line) = (*source_line, *target_line);
                let object = Object { function: name, source_line, target_line, known, finding };
                lines::write(Schema::Lower, object, out)?;
            }
            LowerFormat::Github => github(said, known, manner, out)?,
        }
    }
    if manner.format == LowerFormat::Text {
        let counts = Verdict::ALL.iter().filter_map(|&verdict| {
            let count = all.iter().filter(|said| said.finding.verdict == verdict).count();
            (count > 0).then(|| format!("{count} {}", verdict.name()))
        });
        let counts: Vec<String> = counts.collect();
        let old = if old > 0 { format!(" ({old} in the baseline)") } else { String::new() };
        writeln!(out, "{} functions: {}{old}", all.len(), counts.join(", "))?;
    }
    Ok(exit)
}

fn at(path: &Path, line: Option<usize>) -> String {
    line.map_or_else(|| path.display().to_string(), |line| format!("{}:{line}", path.display()))
}

fn text(said: &Said, known: bool, manner: &Manner<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Said { name, source_line, target_line, finding } = said;
    let racy = if finding.racy { " where it races" } else { "" };
    let known = if known { " (known)" } else { "" };
    writeln!(out, "{name}: {}{racy}{known}: {}", finding.verdict.name(), finding.why)?;
    let ends = (at(manner.source, *source_line), at(manner.target, *target_line));
    if !matches!(finding.verdict, Verdict::Preserved | Verdict::Stronger) {
        writeln!(out, "  source: {}", ends.0)?;
        writeln!(out, "  target: {}", ends.1)?;
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

/// What a workflow command may not have as it stands.
pub fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn github(said: &Said, known: bool, manner: &Manner<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Said { name, source_line, target_line, finding } = said;
    let level = match finding.exit(manner.racy) {
        Exit::AsExpected if finding.verdict != Verdict::Weaker => return Ok(()),
        _ if known => "notice",
        Exit::Differs => "error",
        Exit::AsExpected | Exit::Undecided | Exit::BadInput | Exit::Disagreement => "warning",
    };
    // Annotations stand where people look: in the source.
    let file =
        escaped(&manner.source.display().to_string()).replace(',', "%2C").replace(':', "%3A");
    let line = source_line.map_or(String::new(), |line| format!(",line={line}"));
    let first = format!("{name}: {} ({})", finding.why, at(manner.target, *target_line));
    let more = [("context", &finding.context), ("outcome", &finding.outcome)];
    let more =
        more.into_iter().filter_map(|(what, text)| Some(format!("{what}: {}", text.as_ref()?)));
    let message = std::iter::once(first).chain(more).collect::<Vec<_>>().join("\n");
    let verdict = finding.verdict.name();
    writeln!(out, "::{level} file={file}{line},title={verdict}::{}", escaped(&message))
}
