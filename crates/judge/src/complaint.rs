//! Why a judgement is not what its test expects: its verdict, and what it states of axioms and readings.

use std::collections::BTreeSet;

use engine::{ENGINES, Limit};
use litmus::{Quantifier, Test};
use model::reading;
use model::rel::Model;

use crate::decide::{counts, decide};
use crate::found::EngineResult;
use crate::judgement::{Judgement, Resting, plain};
use crate::search::run;
use crate::task::{Property, Task};
use crate::verdict::{Verdict, WARNINGS};
use crate::{portfolio, races, termination, uninitialised};

/// Why a judgement is not what the test expects.
pub(super) struct Complaint {
    pub(super) text: String,
    /// Whether a limit was reached before that was known.
    pub(super) open: bool,
}

impl From<String> for Complaint {
    fn from(text: String) -> Complaint {
        Complaint { text, open: false }
    }
}

pub(super) fn complaint(test: &Test, task: &Task<'_>, judgement: &Judgement) -> Option<Complaint> {
    let known = matches!(judgement.verdict, Verdict::Holds | Verdict::Fails);
    if task.property == Property::Termination && known {
        return termination(test, judgement);
    }
    if task.property == Property::NoDataRace && known {
        let races = judgement.verdict == Verdict::Fails;
        return races.then(|| races::EXPECTED.to_owned().into());
    }
    if task.property == Property::NoUninitialisedRead && known {
        let reads = judgement.verdict == Verdict::Fails;
        return reads.then(|| uninitialised::EXPECTED.to_owned().into());
    }
    if let Some(complaint) = hang(test, task, judgement) {
        return Some(complaint);
    }
    if let Some(complaint) = noted(test, task, judgement) {
        return Some(complaint);
    }
    if let (Verdict::Stuck(_), Some("yes")) = (&judgement.verdict, test.meta("Hang")) {
        let fails = judgement.condition != Some(true);
        let none = "no execution finishes, so none has the outcome";
        return fails.then(|| none.to_owned().into());
    }
    // A test whose verdict is about the program says so, with a part of the reason.
    let expected = ["Undefined", "Unsupported", "Stuck"]
        .into_iter()
        .find_map(|key| test.meta(key).map(|want| (key.to_lowercase(), want)));
    match (&judgement.verdict, expected) {
        (verdict, Some((name, want)))
            if verdict.name() == name
                && !want.is_empty()
                && verdict.reason().is_some_and(|reason| names(want, reason)) =>
        {
            None
        }
        (verdict, Some((name, want))) => {
            let reason = verdict.reason().map_or(String::new(), |reason| format!(" ({reason})"));
            Some(format!("expected {name} ({want}), found {}{reason}", verdict.name()).into())
        }
        (Verdict::Holds, None) => {
            if task.blame {
                blame(test, task)
            } else {
                None
            }
        }
        (Verdict::Fails, None) => {
            let expected = test.quantifier.name();
            let words = match judgement.observed() {
                Some(observed) => format!("expected {expected}, observed {observed}"),
                None => format!("expected {expected}, an execution contradicts it"),
            };
            Some(words.into())
        }
        (verdict, None) => Some(plain(verdict, verdict.reason().unwrap_or_default()).into()),
    }
}

/// Whether a key names a reason: by a part of it, or as one of asynchronous operations by `async`.
fn names(want: &str, reason: &str) -> bool {
    let asynchronous = ["async-", "mbarrier-", "wgmma-", "clc-", "multimem-"];
    reason.contains(want)
        || want == "async" && asynchronous.iter().any(|kind| reason.starts_with(kind))
}

/// `Hang=yes`: some execution never finishes. `Hang=no`: every execution finishes. Nothing is expected of an undefined
/// program.
fn hang(test: &Test, task: &Task<'_>, judgement: &Judgement) -> Option<Complaint> {
    let want = test.meta("Hang")?;
    let hangs = match &judgement.verdict {
        Verdict::Stuck(_) => true,
        Verdict::Holds | Verdict::Fails => {
            judgement.notes.iter().any(|note| note.code == "stuck") || {
                let task = Task { property: Property::Termination, ..task.clone() };
                let ends = decide(test, &task).verdict;
                if !matches!(ends, Verdict::Holds | Verdict::Fails) {
                    let why = ends.reason().unwrap_or_default();
                    let words = format!("Hang={want}: not known: {why}");
                    return Some(Complaint { text: words, open: true });
                }
                ends == Verdict::Fails
            }
        }
        Verdict::Undefined(_) | Verdict::Unsupported(_) | Verdict::Undecided(_) => return None,
    };
    other_end(want, hangs)
}

/// The complaint about `Hang=`, given whether some execution never finishes.
fn other_end(want: &str, hangs: bool) -> Option<Complaint> {
    let expected = match want {
        "yes" => true,
        "no" => false,
        _ => return Some(format!("Hang={want}: it is `yes` or `no`").into()),
    };
    let found = if hangs { "some execution never finishes" } else { "every execution finishes" };
    (hangs != expected).then(|| format!("Hang={want}: {found}").into())
}

/// `Notes=`: the codes of the notes on rules that executions break, all of them; or `none`. Nothing is expected of a program
/// that is undefined or stuck.
fn noted(test: &Test, task: &Task<'_>, judgement: &Judgement) -> Option<Complaint> {
    let stated = test.meta("Notes")?;
    let names = || stated.split([',', ' ']).filter(|name| !name.is_empty());
    let expected: BTreeSet<&str> = names().filter(|name| *name != "none").collect();
    if let Some(name) = expected.iter().find(|name| !WARNINGS.contains(name)) {
        let known = WARNINGS.join(", ");
        return Some(format!("Notes={name}: the notes are {known}; or `none`").into());
    }
    if names().next().is_none() || names().count() > expected.len().max(1) {
        return Some(format!("Notes={stated}: it is a list of notes, or `none`").into());
    }
    if !matches!(judgement.verdict, Verdict::Holds | Verdict::Fails) {
        return None;
    }
    // Each execution is looked at.
    let engines = ENGINES.iter().take(1).copied().collect();
    let task = Task {
        engines,
        property: Property::ProgramSpec,
        verdict_only: false,
        counts: true,
        portfolio: false,
        ..task.clone()
    };
    let all = task.engines.first().map(|engine| run(test, &task, *engine, task.model_of(test)));
    let all = all.unwrap_or_default();
    if let Some(limit) = all.limit {
        return Some(unknown("Notes", stated, limit));
    }
    let found: BTreeSet<&str> = all.seen.warnings.iter().map(|of| of.name.as_str()).collect();
    let list = |of: &BTreeSet<&str>| of.iter().copied().collect::<Vec<&str>>().join(", ");
    let words = if found.is_empty() { "there is none".to_owned() } else { list(&found) };
    (found != expected).then(|| format!("Notes={stated}: {words}").into())
}

/// Why a known verdict about termination is not what the test expects.
fn termination(test: &Test, judgement: &Judgement) -> Option<Complaint> {
    if let Some(want) = test.meta("Hang") {
        return other_end(want, judgement.verdict == Verdict::Fails);
    }
    let keys = ["Stuck", "Sometimes-stuck"];
    let places = judgement.notes.iter().find(|note| note.code == "stuck");
    let Some((key, want)) = keys.into_iter().find_map(|key| Some((key, test.meta(key)?))) else {
        return places.map(|_| termination::EXPECTED.to_owned().into());
    };
    match places {
        Some(note) if !want.is_empty() && note.text.contains(want) => None,
        Some(note) => Some(format!("{key}={want}: {}", note.text).into()),
        None => Some(format!("{key}={want}: every execution finishes").into()),
    }
}

/// `Forbidden-by=` names an axiom that alone forbids the outcome; `Forbidden-by-alone=` one without
/// which the outcome is allowed.
fn blame(test: &Test, task: &Task<'_>) -> Option<Complaint> {
    let run = |model: &Model| match task.engines.first() {
        Some(_) if task.portfolio => portfolio::run(test, task, model),
        Some(&engine) => run(test, task, engine, model),
        None => EngineResult::default(),
    };
    for (key, alone) in [("Forbidden-by", false), ("Forbidden-by-alone", true)] {
        let Some(name) = test.meta(key) else { continue };
        let judging = task.model_of(test);
        let Some(axiom) = judging.axiom(name) else {
            let known: Vec<&str> = judging.axioms.iter().map(|a| a.name.as_str()).collect();
            return Some(format!("{key}={name}: the axioms are {}", known.join(", ")).into());
        };
        let mut model = judging.with_every_iteration();
        model.axioms.retain(|other| other.name == axiom.name);
        match is_never(test, &run(&model)) {
            Ok(true) => {}
            Ok(false) => {
                let kept = "some candidate with the outcome keeps that axiom";
                return Some(format!("{key}={name}: {kept}").into());
            }
            Err(limit) => return Some(unknown(key, name, limit)),
        }
        if alone {
            let mut model = judging.with_every_iteration();
            model.axioms.retain(|other| other.name != axiom.name);
            match is_never(test, &run(&model)) {
                Ok(true) => {
                    return Some(
                        format!("{key}={name}: other axioms forbid the outcome too").into(),
                    );
                }
                Ok(false) => {}
                Err(limit) => return Some(unknown(key, name, limit)),
            }
        }
    }
    None
}

/// `Readings=` names the readings that the verdict rests on.
pub(super) fn misstated(stated: &str, resting: &Resting) -> Option<String> {
    let stated: Vec<&str> = stated.split([',', ' ']).filter(|name| !name.is_empty()).collect();
    let open = resting.open_names();
    let found = resting.names();
    let wrong = stated.iter().find(|name| !found.contains(name) && !open.contains(name));
    let missing = found.iter().find(|name| !stated.contains(name));
    match (wrong, missing) {
        (Some(name), _) if !reading::ALL.iter().any(|reading| reading.name == *name) => {
            let known: Vec<&str> = reading::ALL.iter().map(|reading| reading.name).collect();
            Some(format!("Readings={name}: the readings are {}", known.join(", ")))
        }
        (Some(name), _) => Some(format!("Readings={name}: the verdict is the same without it")),
        (None, Some(name)) => Some(format!("Readings: the verdict rests on {name}, too")),
        (None, None) => None,
    }
}

/// What a test states, where a limit was reached before it was known.
fn unknown(key: &str, name: &str, limit: Limit) -> Complaint {
    Complaint { text: format!("{key}={name} is undecided: {}", limit.text()), open: true }
}

/// Whether no execution contradicts the condition; a limit is not an answer, unless one was found. Of values out of thin air,
/// which a model without some axioms may admit and the whole model does not, those that are tried count.
fn is_never(test: &Test, found: &EngineResult) -> Result<bool, Limit> {
    let (positive, negative) = counts(test, found);
    let violating = if test.quantifier == Quantifier::ForAll { negative } else { positive };
    found
        .limit
        .filter(|limit| violating == 0 && *limit != Limit::ThinAir)
        .map_or(Ok(violating == 0), Err)
}
