//! A launch as all output formats read it.

use std::io::{self, Write};
use std::path::Path;

use engine::exit::Exit;
use model::section;
use text::Diagnostic;
use verify::{FindingKind, KernelFinding};

use super::report::{self, exit};
use super::{JudgedLaunch, json};
use crate::lines::{self, LineKind};
use crate::report::finding::{
    FilePosition, Level, Related, ReportCase, ReportFinding, ReportRule, UnreadInput, UnreadReason,
};
use crate::report::{Reportable, RunSummary};

/// What is said of a launch.
pub(super) enum LaunchAnswer<'j> {
    Judged(JudgedLaunch<'j>),
    Unread(UnreadLaunch<'j>),
}

/// A launch that cannot be judged.
pub(super) struct UnreadLaunch<'j> {
    /// The launch file, or the module.
    pub(super) path: &'j Path,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl UnreadLaunch<'_> {
    fn input(&self) -> UnreadInput<'_> {
        UnreadInput { path: self.path, why: UnreadReason::Rejected(&self.diagnostics) }
    }
}

impl LaunchAnswer<'_> {
    pub(super) fn exit(&self) -> Exit {
        match self {
            LaunchAnswer::Judged(judged) => exit(judged),
            LaunchAnswer::Unread(_) => Exit::BadInput,
        }
    }

    /// Why it is not judged.
    pub(super) fn unread(&self) -> Option<UnreadInput<'_>> {
        if let LaunchAnswer::Unread(unread) = self { Some(unread.input()) } else { None }
    }
}

impl Reportable for LaunchAnswer<'_> {
    fn case(&self) -> ReportCase {
        match self {
            LaunchAnswer::Judged(judged) => case(judged),
            LaunchAnswer::Unread(unread) => unread.input().case(),
        }
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            LaunchAnswer::Judged(judged) => report::text(judged, out),
            // Errors in an input go to standard error.
            LaunchAnswer::Unread(_) => Ok(()),
        }
    }

    fn details(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            LaunchAnswer::Judged(_) => self.text(out),
            LaunchAnswer::Unread(unread) => unread.input().complain(out),
        }
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let object = match self {
            LaunchAnswer::Judged(judged) => json::judged(judged),
            LaunchAnswer::Unread(unread) => json::unread(&unread.input()),
        };
        lines::write(LineKind::Verify, &object, out)
    }
}

fn case(judged: &JudgedLaunch<'_>) -> ReportCase {
    let verification = judged.verification;
    let exit = exit(judged);
    let place = || judged.read.place.position();
    // What a launch file expects is no error.
    let level = if exit == Exit::Differs { Level::Error } else { Level::of(exit) };
    let found = verification.findings.iter().map(|finding| of_finding(judged, finding, level));
    let mut findings: Vec<ReportFinding> = found.collect();
    findings.extend(verification.undecided.iter().map(|of| {
        let message = format!("{}: {}", judged.questions(of), of.why);
        ReportFinding::new(BOUNDED, Level::Undecided, message, place())
    }));
    findings.extend(
        verification
            .disagreement
            .iter()
            .map(|why| ReportFinding::new(DISAGREEMENT, Level::Error, why, place())),
    );
    for kind in judged.unmet().into_iter().flat_map(|unmet| unmet.missing) {
        let message = format!("expected, and not found: {kind}");
        findings.push(ReportFinding::new(MISSING, level, message, place()));
    }
    if findings.is_empty() {
        findings.push(ReportFinding::new(CLEAN, Level::Pass, CLEAN.text, place()));
    }
    ReportCase {
        subject: match judged.read.place.line {
            Some(line) => format!("{} launch of line {line}", judged.read.place.file),
            None => judged.read.name.clone(),
        },
        file: judged.read.place.file.clone(),
        exit,
        seconds: Some(verification.seconds),
        findings,
        notes: judged
            .weaker()
            .into_iter()
            .map(|weaker| format!("weaker: {}", weaker.trim_end()))
            .chain(judged.composed.notes.iter().cloned())
            .collect(),
    }
}

/// A finding, at the first of its places in the source, or in the module if that does not name its source.
fn of_finding(judged: &JudgedLaunch<'_>, finding: &KernelFinding, level: Level) -> ReportFinding {
    let position = |line: usize| match judged.origins.of(line) {
        Some(of) => FilePosition::line(&*of.file, Some(of.line)),
        None => FilePosition::line(judged.module, Some(line)),
    };
    let related = finding.places.iter().flat_map(|place| {
        let text = judged.in_words(place);
        let in_module = FilePosition::line(judged.module, Some(place.line));
        let places = [position(place.line), in_module.clone()];
        let once = if places[0] == in_module { 1 } else { 2 };
        places.into_iter().take(once).map(move |place| Related { place, text: text.clone() })
    });
    let first = finding.places.first();
    let place = first.map_or_else(|| judged.read.place.position(), |place| position(place.line));
    let races = finding.kind.is_race();
    let reasons = judged.verification.reasons.iter().filter(|_| races);
    let mut remarks: Vec<(&'static str, String)> =
        reasons.map(|reason| ("why", reason.clone())).collect();
    remarks.extend(
        judged.repairs().into_iter().map(|repair| ("repair", repair.trim_end().to_owned())),
    );
    remarks.extend(judged.verification.unrepaired.iter().map(|why| ("repair", why.clone())));
    ReportFinding {
        related: related.collect(),
        remarks,
        ..ReportFinding::new(rule(finding.kind), level, &*finding.message, place)
    }
}

/// The rule that a finding breaks.
fn rule(kind: FindingKind) -> ReportRule {
    let (text, section) = match kind {
        FindingKind::DataRace => (
            "conflicting accesses, one of which is weak, are ordered",
            Some(section::CONFLICT_AND_RACES),
        ),
        FindingKind::ScopeRace => (
            "conflicting strong accesses include each other in their scopes, or are ordered",
            Some(section::CONFLICT_AND_RACES),
        ),
        FindingKind::VolatileConflict => {
            ("conflicting accesses, one of which is volatile, are ordered", None)
        }
        FindingKind::MixedSizeRace => {
            ("accesses that overlap in part are ordered", Some(section::MIXED_SIZE_RACES))
        }
        FindingKind::ReadOnlyOfWritten => {
            ("a kernel does not write what it reads as read-only data", Some(section::LD_GLOBAL_NC))
        }
        FindingKind::Assert => ("the assertions of the launch hold, and no thread traps", None),
        FindingKind::OutOfBounds => ("an access is in a buffer", None),
        FindingKind::Misaligned => (
            "an address is a multiple of the size of its access",
            Some(section::ADDRESSES_AS_OPERANDS),
        ),
        FindingKind::Hang => ("every execution finishes", None),
        FindingKind::BarrierDivergence => {
            ("threads meet at the same barriers, with the same counts", None)
        }
        FindingKind::Uninitialised => ("a read returns what was written before", None),
        FindingKind::Undefined => ("the document gives the kernel a meaning", None),
    };
    ReportRule { id: kind.name(), text, section }
}

const CLEAN: ReportRule =
    ReportRule { id: "clean", text: "nothing was found in any execution", section: None };
const BOUNDED: ReportRule = ReportRule {
    id: "bounded",
    text: "every execution is judged within the limits",
    section: None,
};
const MISSING: ReportRule =
    ReportRule { id: "not-found", text: "what a launch file expects is found", section: None };
const DISAGREEMENT: ReportRule =
    ReportRule { id: "disagreement", text: "engines agree", section: None };

/// How many launches have which answer.
#[derive(Default)]
pub(super) struct VerifySummary {
    launches: usize,
    as_expected: usize,
    undecided: usize,
    unread: usize,
}

impl VerifySummary {
    pub(super) fn add(&mut self, exit: Exit) {
        self.launches += 1;
        match exit {
            Exit::AsExpected => self.as_expected += 1,
            Exit::Undecided => self.undecided += 1,
            Exit::BadInput => self.unread += 1,
            Exit::Differs | Exit::Disagreement => {}
        }
    }
}

impl RunSummary for VerifySummary {
    /// One launch needs no summary.
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let VerifySummary { launches, as_expected, undecided, unread } = *self;
        if launches < 2 {
            return Ok(());
        }
        let failed = launches - as_expected - undecided - unread;
        write!(out, "\n{launches} launches: {as_expected} ok, {failed} failed")?;
        for (count, what) in [(undecided, "bounded"), (unread, "not read")] {
            if count > 0 {
                write!(out, ", {count} {what}")?;
            }
        }
        writeln!(out)
    }
}
