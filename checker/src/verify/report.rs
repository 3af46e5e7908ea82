//! What is printed of a launch.

use std::collections::BTreeSet;
use std::io::{self, Write};

use engine::exit::Exit;
use judge::Property;
use serde::Serialize;
use verify::{FindingPlace, KernelEdit};

use super::JudgedLaunch;

/// The exit code of a launch.
pub(super) fn exit(judged: &JudgedLaunch<'_>) -> Exit {
    let verification = judged.verification;
    let found: BTreeSet<&str> =
        verification.findings.iter().map(|finding| finding.kind.name()).collect();
    let undecided = !verification.undecided.is_empty();
    let Some(expected) = judged.expected else {
        return match (found.is_empty(), undecided) {
            (false, _) => Exit::Differs,
            (true, true) => Exit::Undecided,
            (true, false) => Exit::AsExpected,
        };
    };
    let wanted: BTreeSet<&str> =
        expected.findings.iter().map(String::as_str).filter(|kind| *kind != "clean").collect();
    let may =
        |kind: &&&str| !wanted.contains(**kind) && !expected.may.iter().any(|may| may == **kind);
    let spare = found.iter().find(may).is_some();
    let missing = wanted.iter().any(|kind| !found.contains(kind));
    match (spare, missing, undecided) {
        (true, ..) => Exit::Differs,
        (false, true, true) => Exit::Undecided,
        (false, true, false) => Exit::Differs,
        (false, false, true) if found.is_empty() => Exit::Undecided,
        (false, false, _) => Exit::AsExpected,
    }
}

/// The worse of two exit codes of launches.
pub(super) fn worse(one: Exit, other: Exit) -> Exit {
    let order = [Exit::Disagreement, Exit::BadInput, Exit::Differs, Exit::Undecided];
    order.into_iter().find(|exit| *exit == one || *exit == other).unwrap_or(Exit::AsExpected)
}

impl JudgedLaunch<'_> {
    /// `k.cu:11, k.ptx:50`
    fn lines(&self, line: usize) -> String {
        let source = self.origins.of(line);
        let source = source.map_or(String::new(), |of| format!("{}:{}, ", of.file, of.line));
        format!("{source}{}:{line}", self.module)
    }
}

impl JudgedLaunch<'_> {
    fn edit(&self, edit: &KernelEdit) -> EditObject {
        let written = self.text.lines().nth(edit.line - 1).unwrap_or_default();
        let (before, after) = edit.of_module(written);
        let origin = self.origins.of(edit.line);
        EditObject {
            line: edit.line,
            source: origin.map(|of| of.file.clone()),
            source_line: origin.map(|of| of.line),
            before,
            after,
        }
    }
}

pub(super) fn text(judged: &JudgedLaunch<'_>, out: &mut dyn Write) -> io::Result<()> {
    let verification = judged.verification;
    let word = match (verification.findings.len(), verification.undecided.is_empty()) {
        (0, true) => "clean".to_owned(),
        (0, false) => "bounded".to_owned(),
        (1, _) => "1 finding".to_owned(),
        (count, _) => format!("{count} findings"),
    };
    writeln!(out, "{}: {word}   ({:.1} s)", judged.name, verification.seconds)?;
    for finding in &verification.findings {
        writeln!(out, "\n{}: {}", finding.kind.name(), finding.message)?;
        for place in &finding.places {
            let thread = judged.composed.thread_name(place.column);
            writeln!(out, "  {thread}: `{}` ({})", place.text, judged.lines(place.line))?;
        }
        match finding.like {
            0 => {}
            1 => writeln!(out, "  and once more, in other threads")?,
            count => writeln!(out, "  and {count} times more, in other threads")?,
        }
    }
    if !verification.reasons.is_empty() {
        writeln!(out)?;
    }
    for reason in &verification.reasons {
        writeln!(out, "why: {reason}")?;
    }
    for repair in &verification.repairs {
        writeln!(out, "\nrepair: {}", repaired(repair.property))?;
        for edit in &repair.edits {
            let written = judged.text.lines().nth(edit.line - 1).unwrap_or_default();
            let (before, after) = edit.of_module(written);
            let what = if before.is_some() { "at" } else { "before" };
            writeln!(out, "  {what} {}", judged.lines(edit.line))?;
            let lines = [("-", before), ("+", after)];
            for (sign, line) in lines.into_iter().filter_map(|(sign, line)| Some((sign, line?))) {
                writeln!(out, "  {sign}{line}")?;
            }
        }
    }
    if !verification.undecided.is_empty() {
        writeln!(out)?;
    }
    for undecided in &verification.undecided {
        writeln!(out, "bounded: {}: {}", undecided.property.name(), undecided.why)?;
    }
    for note in &judged.composed.notes {
        writeln!(out, "note: {note}")?;
    }
    Ok(())
}

/// What a repair does.
fn repaired(property: Property) -> &'static str {
    match property {
        Property::ProgramSpec => "the assertion holds with these edits",
        Property::NoDataRace => "no race is left with these edits",
        Property::Termination => "every execution finishes with these edits",
    }
}

#[derive(Serialize)]
struct LaunchObject<'o> {
    file: &'o str,
    kernels: &'o [String],
    findings: Vec<FindingObject<'o>>,
    undecided: Vec<UndecidedObject<'o>>,
    reasons: &'o [String],
    repairs: Vec<RepairObject>,
    notes: &'o [String],
    seconds: f64,
}

#[derive(Serialize)]
struct FindingObject<'o> {
    kind: &'static str,
    message: &'o str,
    places: Vec<PlaceObject<'o>>,
}

#[derive(Serialize)]
struct PlaceObject<'o> {
    cta: u32,
    thread: u32,
    instruction: &'o str,
    line: usize,
    source: Option<&'o str>,
    source_line: Option<usize>,
}

#[derive(Serialize)]
struct RepairObject {
    property: &'static str,
    edits: Vec<EditObject>,
}

#[derive(Serialize)]
struct EditObject {
    line: usize,
    source: Option<String>,
    source_line: Option<usize>,
    before: Option<String>,
    after: Option<String>,
}

#[derive(Serialize)]
struct UndecidedObject<'o> {
    property: &'static str,
    reason: &'o str,
}

pub(super) fn json(judged: &JudgedLaunch<'_>, out: &mut dyn Write) -> io::Result<()> {
    let place = |place: &FindingPlace| (place.column, place.line, place.text.clone());
    let verification = judged.verification;
    let object = LaunchObject {
        file: judged.name,
        kernels: &judged.composed.kernels,
        findings: verification
            .findings
            .iter()
            .map(|finding| FindingObject {
                kind: finding.kind.name(),
                message: &finding.message,
                places: finding
                    .places
                    .iter()
                    .map(|at| {
                        let origin = judged.origins.of(at.line);
                        let thread = judged.composed.threads[place(at).0].place;
                        PlaceObject {
                            cta: thread.cta,
                            thread: thread.thread,
                            instruction: &at.text,
                            line: at.line,
                            source: origin.map(|of| &of.file[..]),
                            source_line: origin.map(|of| of.line),
                        }
                    })
                    .collect(),
            })
            .collect(),
        undecided: verification
            .undecided
            .iter()
            .map(|of| UndecidedObject { property: of.property.name(), reason: &of.why })
            .collect(),
        reasons: &verification.reasons,
        repairs: verification
            .repairs
            .iter()
            .map(|repair| RepairObject {
                property: repair.property.name(),
                edits: repair.edits.iter().map(|edit| judged.edit(edit)).collect(),
            })
            .collect(),
        notes: &judged.composed.notes,
        seconds: verification.seconds,
    };
    serde_json::to_writer(&mut *out, &object)?;
    writeln!(out)
}
