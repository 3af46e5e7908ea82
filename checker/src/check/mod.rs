//! The reports of `causeway check` on tests, for every format.

pub mod args;
pub(crate) mod command;
mod page;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use answer::check::CheckObject;
use engine::exit::Exit;
use judge::words::{place_text, with_threads};
use judge::{CLUSTER_EXITED, Judgement, Property, Verdict};
use litmus::Test;

use crate::check::args::Check;
use crate::input;
use crate::lines::{self, LineKind};
use crate::report::finding::{
    FilePosition, Level, Related, ReportCase, ReportFinding, ReportRule, UnreadInput, UnreadReason,
};
use crate::report::herd::Entry;
use crate::report::{Reportable, RunSummary, count_of, json};
use crate::suite::{FileResult, SuiteItem};

/// The result of one file.
pub struct CheckedTest<'a> {
    pub item: &'a SuiteItem,
    /// The name of the model that judges PTX tests.
    pub model: &'a str,
    /// Whether the terminal also shows tests that are as expected.
    pub verbose: bool,
    /// Whether the terminal shows the outcomes.
    pub outcomes: bool,
    /// The command that explains the same question, without the file.
    pub explain: &'a str,
}

impl SuiteItem {
    /// The reason for which it was not judged, if it was not.
    pub fn unread(&self) -> Option<UnreadInput<'_>> {
        let why = match &self.outcome {
            FileResult::Judged { .. } | FileResult::Filtered => return None,
            FileResult::Rejected(diagnostics) => UnreadReason::Rejected(diagnostics),
            FileResult::Unreadable(error) => UnreadReason::Unreadable(error),
        };
        Some(UnreadInput { path: &self.path, why })
    }

    fn exit(&self) -> Exit {
        match &self.outcome {
            FileResult::Judged { judgement, .. } => judgement.exit(),
            FileResult::Filtered => Exit::AsExpected,
            FileResult::Rejected(_) | FileResult::Unreadable(_) => Exit::BadInput,
        }
    }
}

const UNDECIDED: &str = "a limit was reached before the verdict was known";

/// The rule to which a result belongs.
fn rule(judgement: &Judgement) -> ReportRule {
    let (id, text) = match &judgement.verdict {
        _ if judgement.disagreement.is_some() => ("engines-disagree", "the engines agree"),
        _ if judgement.is_open => ("undecided", UNDECIDED),
        Verdict::Holds if judgement.complaint.is_some() => {
            ("misstated", "a test states the observed verdict")
        }
        Verdict::Holds if judgement.property == Property::Termination => {
            ("terminates", "every execution finishes")
        }
        Verdict::Fails if judgement.property == Property::Termination => {
            ("does-not-terminate", "some execution never finishes")
        }
        Verdict::Holds if judgement.property == Property::NoDataRace => {
            ("no-data-race", "no execution has a data race")
        }
        Verdict::Fails if judgement.property == Property::NoDataRace => {
            ("data-race", "some execution has a data race")
        }
        Verdict::Holds if judgement.property == Property::NoUninitialisedRead => {
            ("no-uninitialised-read", "no read returns what nobody has written")
        }
        Verdict::Fails if judgement.property == Property::NoUninitialisedRead => {
            ("uninitialised-read", "some read returns what nobody has written")
        }
        Verdict::Holds => ("holds", "the condition holds over all consistent executions"),
        Verdict::Fails => ("fails", "the condition fails over all consistent executions"),
        Verdict::Undefined(_) => {
            ("undefined", "the document does not define the behaviour of the program")
        }
        Verdict::Unsupported(_) => ("unsupported", "the model does not cover an instruction"),
        Verdict::Stuck(_) => ("stuck", "no execution finishes"),
        Verdict::Undecided(_) => ("undecided", UNDECIDED),
    };
    ReportRule { id, text, section: None }
}

fn case(item: &SuiteItem, test: &Test, judgement: &Judgement, help: Option<String>) -> ReportCase {
    let file = item.path.to_string_lossy().into_owned();
    let exit = judgement.exit();
    let message = match (&judgement.disagreement, &judgement.complaint) {
        (Some(disagreement), _) => format!("engines disagree: {disagreement}"),
        (None, Some(complaint)) => complaint.clone(),
        (None, None) => match (judgement.verdict.reason(), judgement.observed()) {
            (Some(reason), _) => format!("{}, as expected: {reason}", judgement.verdict.name()),
            (None, Some(seen)) => format!("as expected, observed {seen}"),
            (None, None) => "as expected".to_owned(),
        },
    };
    let witness = judgement.found.witness.as_ref().filter(|_| exit != Exit::AsExpected);
    let outcome = witness.map(|witness| {
        let outcome = test.display_outcome(&witness.outcome);
        with_threads(outcome.trim_end_matches([';', ' ']))
    });
    let facts = [
        ("verdict", Some(judgement.verdict.name().to_owned())),
        ("name", Some(test.name.clone())),
        ("model", Some(judgement.model.clone())),
        ("property", judgement.property.stated().map(str::to_owned)),
        ("condition", Some(test.condition_text.clone())),
        ("observation", judgement.observation.map(|seen| seen.name().to_owned())),
        ("outcome", outcome.clone()),
    ];
    let some = |(name, text): (&'static str, Option<String>)| Some((name, text?));
    let undefined = judgement.found.seen.undefined.as_ref();
    let places: Vec<Related> = undefined
        .map_or(&[][..], |undefined| &undefined.where_)
        .iter()
        .map(|&place| Related {
            place: FilePosition::line(&*file, item.line(test, place.0, place.1)),
            text: place_text(test, place),
        })
        .collect();
    let first = places.first().map(|related| related.place.clone());
    let place = first.unwrap_or_else(|| FilePosition::file(&*file));
    let finding = ReportFinding {
        remarks: [("outcome", outcome), ("help", help)].into_iter().filter_map(some).collect(),
        facts: facts.into_iter().filter_map(|(name, text)| Some((name, text?.into()))).collect(),
        related: places,
        ..ReportFinding::new(rule(judgement), Level::of(exit), message, place)
    };
    let notes = judgement.notes.iter().map(|note| format!("note: {}", note.text));
    ReportCase {
        subject: file.clone(),
        file,
        exit,
        seconds: Some(judgement.seconds),
        findings: vec![finding],
        notes: notes.collect(),
    }
}

impl<'a> CheckedTest<'a> {
    pub fn new(
        item: &'a SuiteItem,
        model: &'a str,
        check: &Check,
        explain: &'a str,
    ) -> CheckedTest<'a> {
        let (verbose, outcomes) = (check.verbose, check.outcomes);
        CheckedTest { item, model, verbose, outcomes, explain }
    }

    fn shown(&self, verbose: bool, out: &mut dyn Write) -> io::Result<()> {
        match &self.item.outcome {
            FileResult::Judged { test, judgement } => {
                let help = self.help(judgement);
                let verbose = verbose || self.outcomes;
                text::judged(self.item, test, judgement, help.as_deref(), verbose, out)?;
                if self.outcomes { text::outcomes(test, judgement, out) } else { Ok(()) }
            }
            FileResult::Filtered | FileResult::Rejected(_) | FileResult::Unreadable(_) => Ok(()),
        }
    }

    /// The command that explains why the result is not as expected.
    fn help(&self, judgement: &Judgement) -> Option<String> {
        let explains =
            self.item.has_path() && matches!(judgement.exit(), Exit::Differs | Exit::Disagreement);
        let path = || {
            let path = self.item.path.to_string_lossy();
            // Not to be taken for an option.
            let here = if path.starts_with('-') && path != "-" { "./" } else { "" };
            input::quoted(&format!("{here}{path}"))
        };
        let subject = || match &self.item.made {
            Some(made) => made.command_line.clone(),
            None => path(),
        };
        explains.then(|| format!("{} {}", self.explain, subject()))
    }
}

impl Reportable for CheckedTest<'_> {
    fn case(&self) -> ReportCase {
        match (&self.item.outcome, self.item.unread()) {
            (FileResult::Judged { test, judgement }, _) => {
                case(self.item, test, judgement, self.help(judgement))
            }
            (_, unread) => unread.expect("it is not judged").case(),
        }
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        // Errors in an input go to standard error.
        self.shown(self.verbose, out)
    }

    fn details(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.item.unread() {
            Some(unread) => unread.complain(out),
            None => self.shown(true, out),
        }
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let object = match (&self.item.outcome, self.item.unread()) {
            (FileResult::Judged { test, judgement }, _) => {
                CheckObject::judged(self.item.path.to_string_lossy().into_owned(), test, judgement)
            }
            (_, unread) => {
                let unread = unread.expect("it is not judged");
                CheckObject::unread(unread.file(), json::errors(&unread), self.model)
            }
        };
        lines::write(LineKind::Check, &object, out)
    }

    fn herd(&self) -> Option<Entry<'_>> {
        let FileResult::Judged { test, judgement } = &self.item.outcome else { return None };
        let seen = &judgement.found.seen;
        let race = (!seen.races.is_empty()).then(|| "data-race".to_owned());
        let raised: BTreeSet<&String> = seen.flags.iter().map(|raised| &raised.flag).collect();
        let reason = judgement.verdict.reason();
        let outcomes = judgement.found.outcomes.keys();
        Some(Entry {
            test,
            name: test.name.clone(),
            states: outcomes.map(|outcome| test.display_outcome(outcome)).collect(),
            looped: seen.bound_reached,
            // Of no execution that finishes, `~exists` would be true.
            condition: judgement
                .condition
                .filter(|_| !matches!(judgement.verdict, Verdict::Stuck(_))),
            positive: judgement.positive,
            negative: judgement.negative,
            flags: race
                .into_iter()
                .chain(raised.into_iter().cloned())
                .chain(reason.map(|reason| reason.replace(char::is_whitespace, "-")))
                .collect(),
            observation: judgement.observation,
            seconds: judgement.seconds,
        })
    }
}

/// The codes of the notes on tests that are as expected which a summary counts, in its words.
const SUMMED: [(&str, &str); 6] = [
    ("may-be-undefined", "not explored in full, which may be undefined"),
    ("stuck", "with executions that never finish"),
    ("no-outcome", "of which no outcome passes the filter"),
    (CLUSTER_EXITED, "with accesses to shared memory of a CTA that may have exited"),
    ("exited-thread", "with a barrier that does not wait for a thread that has exited"),
    ("one-barrier", "with one barrier in different columns of a warp"),
];

/// The summary of a run.
#[derive(Clone, Debug, Default)]
pub struct CheckSummary {
    pub ok: usize,
    /// How many of them have each note of [`SUMMED`].
    noted: [usize; SUMMED.len()],
    pub failed: usize,
    pub undecided: usize,
    pub rejected: usize,
    pub disagreements: usize,
    /// Those that decided a test, or were to decide one.
    pub engines: BTreeSet<&'static str>,
    /// Of how many tests that another one decides each engine reached a limit.
    pub unfinished: BTreeMap<&'static str, usize>,
    /// How many tests two engines decided.
    pub compared: usize,
    /// How many the filter excludes; they are not in the total.
    pub filtered: usize,
    pub seconds: f64,
}

impl CheckSummary {
    pub fn total(&self) -> usize {
        self.ok + self.failed + self.undecided + self.rejected + self.disagreements
    }

    pub fn add(&mut self, item: &SuiteItem) {
        if let FileResult::Judged { judgement, .. } = &item.outcome {
            let unfinished = &judgement.unfinished;
            let decided = judgement.engines.iter().filter(|name| !unfinished.contains(name));
            self.engines.extend(decided.clone());
            for name in unfinished {
                *self.unfinished.entry(name).or_default() += 1;
            }
            if !matches!(judgement.verdict, Verdict::Undecided(_)) {
                self.compared += usize::from(decided.count() > 1);
            }
        }
        match item.exit() {
            Exit::AsExpected => {
                self.ok += 1;
                for ((code, _), count) in SUMMED.into_iter().zip(&mut self.noted) {
                    let known = code == CLUSTER_EXITED && is_noted(item);
                    *count += usize::from(has_note(item, code) && !known);
                }
            }
            Exit::Differs => self.failed += 1,
            Exit::Undecided => self.undecided += 1,
            Exit::BadInput => self.rejected += 1,
            Exit::Disagreement => self.disagreements += 1,
        }
    }

    pub fn exit(&self) -> Exit {
        let counts = [
            (self.disagreements, Exit::Disagreement),
            (self.rejected, Exit::BadInput),
            (self.failed, Exit::Differs),
            (self.undecided, Exit::Undecided),
        ];
        counts.into_iter().find(|(count, _)| *count > 0).map_or(Exit::AsExpected, |(_, exit)| exit)
    }
}

/// Whether a test says which notes it has.
fn is_noted(item: &SuiteItem) -> bool {
    matches!(&item.outcome, FileResult::Judged { test, .. } if test.meta("Notes").is_some())
}

fn has_note(item: &SuiteItem, code: &str) -> bool {
    match &item.outcome {
        FileResult::Judged { judgement, .. } => {
            judgement.notes.iter().any(|note| note.code == code)
        }
        FileResult::Filtered | FileResult::Rejected(_) | FileResult::Unreadable(_) => false,
    }
}

impl RunSummary for CheckSummary {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let total = self.total();
        write!(out, "{}: {} ok", count_of(total, "test"), self.ok)?;
        let noted = SUMMED.into_iter().zip(self.noted).filter(|(_, count)| *count > 0);
        let noted: Vec<String> =
            noted.map(|((_, what), count)| format!("{count} {what}")).collect();
        if !noted.is_empty() {
            write!(out, " ({}: see -v)", noted.join(", "))?;
        }
        for (count, what) in [
            (self.failed, "failed"),
            (self.undecided, "undecided"),
            (self.rejected, "not understood"),
            (self.disagreements, "with a disagreement of engines"),
        ] {
            if count > 0 {
                write!(out, ", {count} {what}")?;
            }
        }
        if self.filtered > 0 {
            write!(out, "; {} excluded by the filter", self.filtered)?;
        }
        let engines = self.engines.iter().copied().collect::<Vec<&str>>().join(", ");
        let agree = match (self.compared, self.disagreements) {
            (1.., 0) => " agree",
            (_, 1..) => " disagree",
            _ => "",
        };
        let mut parts = vec![format!("{engines}{agree}")];
        for (name, count) in &self.unfinished {
            let of = if total > 1 { format!(" in {count}") } else { String::new() };
            parts.push(format!("{name} undecided{of}"));
        }
        parts.retain(|part| !part.is_empty());
        parts.push(format!("{:.1} s", self.seconds));
        writeln!(out, "   ({})", parts.join("; "))
    }
}
