//! Launches in `--format json`.

use std::borrow::Cow;

use answer::object::Error;
use engine::exit::Exit;
use schemars::JsonSchema;
use serde::Serialize;
use verify::{FindingPlace, KernelEdit, OtherAnswer};

use super::JudgedLaunch;
use super::report::{exit, verdict};
use crate::report::finding::UnreadInput;
use crate::report::json;

/// One launch: what is wrong with it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct VerifyObject<'o> {
    /// The launch file, or the module.
    file: Cow<'o, str>,
    /// The module.
    module: &'o str,
    kernels: &'o [String],
    /// `clean`, `bounded` if nothing was found and something was not decided, `findings`, or `error` if it was not judged.
    verdict: &'static str,
    /// Whether a launch file expects what was found; `null` where nothing is expected.
    expected: Option<bool>,
    findings: Vec<FindingObject<'o>>,
    /// Properties that are not decided.
    undecided: Vec<UndecidedObject<'o>>,
    /// Why accesses are not ordered that seem to be, a sentence each.
    reasons: &'o [String],
    /// Edits of the kernel after which findings are gone; each entry is one way.
    repairs: Vec<RepairObject<'o>>,
    /// Why there is none, with `--repair`; `null` where there is one, and where nothing was found.
    unrepaired: Option<&'o str>,
    /// What a clean launch does not need; `null` without `--weaken`.
    weaker: Option<WeakerObject<'o>>,
    /// Assumptions about the kernels and the launch.
    notes: &'o [String],
    seconds: f64,
    /// What is wrong with the launch, the module or its file.
    errors: Vec<Error>,
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
    /// `null` if it is not known which thread it is.
    cta: Option<u32>,
    /// The number in the CTA.
    thread: Option<u32>,
    /// As the test of the launch writes it.
    instruction: &'o str,
    /// The line of the module.
    line: usize,
    /// The file that the instruction was compiled from, if the module says it.
    source: Option<&'o str>,
    source_line: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct RepairObject<'o> {
    /// What holds with these edits: `program_spec`, `no-data-race`, `termination`.
    properties: Vec<&'static str>,
    edits: Vec<EditObject<'o>>,
    /// Other launches of the module in the input that are not clean with these edits, or not known to be.
    elsewhere: Vec<ElsewhereObject<'o>>,
}

/// Another launch, with the edits of a repair.
#[derive(Serialize, JsonSchema)]
struct ElsewhereObject<'o> {
    /// Its file, or where its line is.
    launch: &'o str,
    /// The kinds of what is found then.
    findings: Vec<&'static str>,
    /// Whether it has one of them only with the edits.
    breaks: bool,
    /// Why it is not known whether there are more; `null` if it is.
    undecided: Option<&'o str>,
}

/// What a launch does not need.
#[derive(Serialize, JsonSchema)]
struct WeakerObject<'o> {
    /// Why nothing was looked for.
    excluded: Option<&'static str>,
    /// Edits of which each alone leaves the launch clean.
    alone: Vec<EditObject<'o>>,
    /// Edits that leave it clean all together.
    together: Vec<EditObject<'o>>,
    /// How many other launches of the kernels keep what they have with these edits.
    others: usize,
    /// Why not everything was tried.
    limit: Option<&'o str>,
}

/// A change of one line of the module, in all threads that execute it.
#[derive(Serialize, JsonSchema)]
struct EditObject<'o> {
    /// The line that changes, or before which another one is inserted.
    line: usize,
    source: Option<&'o str>,
    source_line: Option<usize>,
    /// The line before; `null` if one is inserted.
    before: Option<&'o str>,
    /// The line after; `null` if it is removed.
    after: Option<&'o str>,
}

#[derive(Serialize, JsonSchema)]
struct UndecidedObject<'o> {
    /// `program_spec`, `no-data-race`, `termination` or `no-uninitialised-read`.
    property: &'static str,
    reason: &'o str,
}

impl<'j> JudgedLaunch<'j> {
    fn place(&self, place: &'j FindingPlace) -> PlaceObject<'_> {
        let origin = self.origins.of(place.line);
        let thread = place.column.map(|column| self.composed.threads[column].place);
        PlaceObject {
            cta: thread.map(|thread| thread.cta),
            thread: thread.map(|thread| thread.thread),
            instruction: &place.text,
            line: place.line,
            source: origin.map(|of| &of.file[..]),
            source_line: origin.map(|of| of.line),
        }
    }

    fn edits<'e>(&'e self, edits: &'e [KernelEdit]) -> Vec<EditObject<'e>> {
        let edit = |edit: &'e KernelEdit| {
            let origin = self.origins.of(edit.line);
            EditObject {
                line: edit.line,
                source: origin.map(|of| &of.file[..]),
                source_line: origin.map(|of| of.line),
                before: edit.before.as_deref(),
                after: edit.after.as_deref(),
            }
        };
        edits.iter().map(edit).collect()
    }
}

fn elsewhere(other: &OtherAnswer) -> ElsewhereObject<'_> {
    ElsewhereObject {
        launch: &other.launch,
        findings: other.findings.iter().map(|kind| kind.name()).collect(),
        breaks: other.breaks,
        undecided: other.open.as_deref(),
    }
}

/// The object of a launch that was judged.
pub(super) fn judged<'j>(judged: &'j JudgedLaunch<'_>) -> VerifyObject<'j> {
    let verification = judged.verification;
    VerifyObject {
        file: (&*judged.read.name).into(),
        module: judged.module,
        verdict: verdict(verification),
        expected: judged.read.expected.as_ref().map(|_| exit(judged) == Exit::AsExpected),
        kernels: &judged.composed.kernels,
        findings: verification
            .findings
            .iter()
            .map(|finding| FindingObject {
                kind: finding.kind.name(),
                like: finding.like,
                message: &finding.message,
                places: finding.places.iter().map(|place| judged.place(place)).collect(),
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
                edits: judged.edits(&repair.edits),
                elsewhere: repair.elsewhere.iter().map(elsewhere).collect(),
            })
            .collect(),
        unrepaired: verification.unrepaired.as_deref(),
        weaker: verification.weaker.as_ref().map(|weaker| WeakerObject {
            excluded: weaker.excluded,
            alone: judged.edits(&weaker.alone),
            together: judged.edits(&weaker.together),
            others: weaker.others,
            limit: weaker.limit.as_deref(),
        }),
        notes: &judged.composed.notes,
        seconds: verification.seconds,
        errors: Vec::new(),
    }
}

/// The object of a launch that was not judged.
pub(super) fn unread(unread: &UnreadInput<'_>) -> VerifyObject<'static> {
    VerifyObject {
        file: unread.file().into(),
        module: "",
        kernels: &[],
        verdict: "error",
        expected: None,
        findings: Vec::new(),
        undecided: Vec::new(),
        reasons: &[],
        repairs: Vec::new(),
        unrepaired: None,
        weaker: None,
        notes: &[],
        seconds: 0.0,
        errors: json::errors(unread),
    }
}
