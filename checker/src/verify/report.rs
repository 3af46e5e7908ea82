//! What is printed of a launch.

use std::collections::BTreeSet;
use std::io::{self, Write};

use engine::exit::Exit;
use judge::Property;
use schemars::JsonSchema;
use serde::Serialize;
use verify::{FindingPlace, KernelEdit, Verification};

use super::JudgedLaunch;
use crate::lines::{self, LineKind};

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
        (true, ..) | (false, true, false) => Exit::Differs,
        (false, true, true) => Exit::Undecided,
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
    let word = match verification.findings.len() {
        0 => verdict(verification).to_owned(),
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
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
        let words: Vec<&str> = repair.properties.iter().map(|of| repaired(*of)).collect();
        writeln!(out, "\nrepair: {} with these edits", words.join(", and "))?;
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

/// The answer in one word.
fn verdict(verification: &Verification) -> &'static str {
    match (verification.findings.is_empty(), verification.undecided.is_empty()) {
        (true, true) => "clean",
        (true, false) => "bounded",
        (false, _) => "findings",
    }
}

/// What a repair does.
fn repaired(property: Property) -> &'static str {
    match property {
        Property::ProgramSpec => "the assertion holds",
        Property::NoDataRace => "no race is left",
        Property::Termination => "every execution finishes",
    }
}

/// One launch: what is wrong with it.
#[derive(Serialize, JsonSchema)]
pub struct VerifyObject<'o> {
    /// The launch file, or the module.
    file: &'o str,
    /// The module.
    module: &'o str,
    kernels: &'o [String],
    /// `clean`, `bounded` if nothing was found and something was not decided, or `findings`.
    verdict: &'static str,
    /// Whether a launch file expects what was found; `null` where nothing is expected.
    expected: Option<bool>,
    findings: Vec<FindingObject<'o>>,
    /// Properties that are not decided.
    undecided: Vec<UndecidedObject<'o>>,
    /// Why accesses are not ordered that seem to be, a sentence each.
    reasons: &'o [String],
    /// Edits of the kernel after which findings are gone; each entry is one way.
    repairs: Vec<RepairObject>,
    /// Assumptions about the kernels and the launch.
    notes: &'o [String],
    seconds: f64,
}

#[derive(Serialize, JsonSchema)]
struct FindingObject<'o> {
    /// `data-race`, `scope-race`, `mixed-size-race`, `read-only-of-written`, `assert`, `out-of-bounds`, `misaligned`, `hang`,
    /// `barrier-divergence` or `undefined`.
    kind: &'static str,
    message: &'o str,
    places: Vec<PlaceObject<'o>>,
    /// How many more there are at these instructions, of other threads.
    like: usize,
}

/// An instruction of a thread.
#[derive(Serialize, JsonSchema)]
struct PlaceObject<'o> {
    cta: u32,
    /// The number in the CTA.
    thread: u32,
    /// As the test of the launch writes it.
    instruction: &'o str,
    /// The line of the module.
    line: usize,
    /// The file that the instruction was compiled from, if the module says it.
    source: Option<&'o str>,
    source_line: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct RepairObject {
    /// What holds with these edits: `program_spec`, `no-data-race`, `termination`.
    properties: Vec<&'static str>,
    edits: Vec<EditObject>,
}

/// A change of one line of the module, in all threads that execute it.
#[derive(Serialize, JsonSchema)]
struct EditObject {
    /// The line that changes, or before which another one is inserted.
    line: usize,
    source: Option<String>,
    source_line: Option<usize>,
    /// The line before; `null` if one is inserted.
    before: Option<String>,
    /// The line after; `null` if it is removed.
    after: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct UndecidedObject<'o> {
    /// `program_spec`, `no-data-race` or `termination`.
    property: &'static str,
    reason: &'o str,
}

pub(super) fn json(judged: &JudgedLaunch<'_>, out: &mut dyn Write) -> io::Result<()> {
    let place = |place: &FindingPlace| (place.column, place.line, place.text.clone());
    let verification = judged.verification;
    let object = VerifyObject {
        file: judged.name,
        module: judged.module,
        verdict: verdict(verification),
        expected: judged.expected.map(|_| exit(judged) == Exit::AsExpected),
        kernels: &judged.composed.kernels,
        findings: verification
            .findings
            .iter()
            .map(|finding| FindingObject {
                kind: finding.kind.name(),
                like: finding.like,
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
                properties: repair.properties.iter().map(|of| of.name()).collect(),
                edits: repair.edits.iter().map(|edit| judged.edit(edit)).collect(),
            })
            .collect(),
        notes: &judged.composed.notes,
        seconds: verification.seconds,
    };
    lines::write(LineKind::Verify, object, out)
}
