//! What a comparison could not show, and what would show it.

use judge::subject::ReadingSubject;
use model::program::Program;

use super::side::DiffSide;

/// A remark below the result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct DiffNote {
    pub(super) text: String,
    pub(super) help: Option<String>,
}

/// Answers from which on it takes long to judge each test.
const MANY: u64 = 100_000;

/// The readings that differ between the sides, and are about something that none of the programs has: whatever the result is, it says
/// nothing of them. `is_generated` says that the programs are of cycles, of which each choice occurs.
pub(super) fn lacking(
    sides: &[DiffSide; 2],
    programs: &mut dyn Iterator<Item = Program>,
    is_generated: bool,
) -> Vec<DiffNote> {
    let mut open = sides[0].differing_readings(&sides[1]);
    if !open.is_empty() {
        for program in programs {
            open.retain(|(_, subject)| !subject.is_in(&program));
            if open.is_empty() {
                break;
            }
        }
    }
    let note = |(reading, subject): (&model::reading::Reading, ReadingSubject)| {
        let (name, what) = (reading.name, subject.text());
        if is_generated {
            let text = format!("no generated test has what reading {name} is about: {what}");
            return DiffNote { text, help: Some(help(subject)) };
        }
        let text = format!("no test of the files has what reading {name} is about: {what}");
        DiffNote { text, help: None }
    };
    open.into_iter().map(note).collect()
}

/// How to try tests that have it.
fn help(subject: ReadingSubject) -> String {
    let option = match subject {
        ReadingSubject::Aliases => Some("--kinds pattern --forms u32,alias"),
        ReadingSubject::Cas | ReadingSubject::ReleasingCas => Some("--po po,cas.release.gpu"),
        ReadingSubject::RacingWrites(_) => Some("--kinds coherence,overwritten"),
        ReadingSubject::Waits => Some("--po po,bar.sync --place cta,gpu"),
        ReadingSubject::Decisions | ReadingSubject::Dependencies => Some("--po po,ctrl,data,fake"),
        ReadingSubject::FenceHalves
        | ReadingSubject::ReleasesOfReads
        | ReadingSubject::AsyncProxyWaits
        | ReadingSubject::TensorMemory
        | ReadingSubject::Multicasts
        | ReadingSubject::MultimemAddresses
        | ReadingSubject::Elections
        | ReadingSubject::AsynchronousOperations => None,
    };
    let files = "--tests FOLDER, with litmus tests that have it";
    option.map_or_else(|| files.to_owned(), |option| format!("{option}, or {files}"))
}

/// What no critical cycle shows of two models of which one is not built in, where no difference was found.
pub(super) fn between_halves(sides: &[DiffSide; 2], differences: usize) -> Option<DiffNote> {
    let imported = sides.iter().any(DiffSide::is_imported);
    (imported && differences == 0).then(|| DiffNote {
        text: "no generated test has a write between the two halves of an atomic, so models that differ in atomicity alone \
               show no difference"
            .to_owned(),
        help: Some("--tests FOLDER, with litmus tests that have it".to_owned()),
    })
}

/// Where each of many tests was judged, since it is not known that stronger choices never allow more.
pub(super) fn slow(judged: u64, settles: bool) -> Option<DiffNote> {
    let text = "each test was judged, for a stronger choice may allow more under a model that is not built in";
    (judged >= MANY && !settles).then(|| DiffNote {
        text: text.to_owned(),
        help: Some(
            "if it never does, `--frontier always` settles most tests by others; it is an error if a difference shows otherwise"
                .to_owned(),
        ),
    })
}
