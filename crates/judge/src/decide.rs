//! The verdict of the engines: their outcomes compared, the condition evaluated.

use litmus::{Quantifier, Test};

use crate::found::EngineResult;
use crate::judgement::Judgement;
use crate::search::run;
use crate::split::TestParts;
use crate::task::{Property, Task};
use crate::verdict::{NO_EXECUTION, Note, Observation, Verdict};
use crate::{notes, parts, portfolio, races, stuck, termination, uninitialised};

/// The verdict on a test, without what it states of itself, and without the readings that it rests on.
pub(crate) fn decide(test: &Test, task: &Task<'_>) -> Judgement {
    match test.program.unsupported() {
        Some((_, _, why)) => {
            let verdict = Verdict::Unsupported(why.to_owned());
            Judgement::new(test, task, verdict, EngineResult::default())
        }
        None => run_engines(test, task),
    }
}

fn run_engines(test: &Test, task: &Task<'_>) -> Judgement {
    let model = task.model_of(test);
    let in_parts = TestParts::of(test, task).and_then(|parts| parts.judged(task, model));
    let mut all = in_parts.unwrap_or_else(|| {
        if task.portfolio {
            vec![portfolio::run(test, task, model)]
        } else {
            task.engines.iter().map(|engine| run(test, task, *engine, model)).collect()
        }
    });
    let disagreement = all.split_first().and_then(|(first, rest)| {
        rest.iter().find_map(|other| difference(test, task, first, other))
    });
    let engines: Vec<&'static str> = all.iter().map(|found| found.engine).collect();
    // The engine that got furthest speaks for all.
    all.sort_by_key(|found| (found.limit.is_some(), found.seen.executions.is_none()));
    let mut found = all.swap_remove(0);
    parts::add_begun(test, task, model, &mut found);
    let (positive, negative) = counts(test, &found);
    let verdict = verdict(test, task, &found, positive, negative);
    // A search that ended early has seen both sides, or only what it was looking for.
    let cut = found.directed && found.witness.is_some();
    let complete = found.is_complete() && !cut;
    let observation = match &verdict {
        Verdict::Holds | Verdict::Fails if !task.property.is_of_outcomes() => None,
        Verdict::Holds | Verdict::Fails => match (positive, negative) {
            (1.., 1..) => Some(Observation::Sometimes),
            (0, _) => complete.then_some(Observation::Never),
            (_, 0) => complete.then_some(Observation::Always),
        },
        Verdict::Undefined(_)
        | Verdict::Unsupported(_)
        | Verdict::Stuck(_)
        | Verdict::Undecided(_) => None,
    };
    let mut notes = notes::of(test, task, &verdict, &found);
    let limited = all.iter().filter_map(|other| Some((other.engine, other.limit?)));
    let limited = limited.filter(|_| !matches!(verdict, Verdict::Undecided(_)));
    let mut unfinished = Vec::new();
    for (name, limit) in limited {
        let why = format!("not compared with {name}, which is undecided: {}", limit.text());
        notes.push(Note { code: "engine-undecided", text: why });
        unfinished.push(name);
    }
    let condition = match task.property {
        Property::ProgramSpec => condition(test, &verdict, positive, negative),
        Property::Termination | Property::NoDataRace | Property::NoUninitialisedRead => None,
    };
    Judgement {
        observation,
        positive,
        negative,
        condition,
        notes,
        engines,
        unfinished,
        disagreement,
        ..Judgement::new(test, task, verdict, found)
    }
}

pub(crate) fn counts(test: &Test, found: &EngineResult) -> (u64, u64) {
    found.outcomes.iter().fold((0, 0), |(positive, negative), (outcome, &executions)| {
        if test.proposition.holds(&test.program, outcome) {
            (positive + executions, negative)
        } else {
            (positive, negative + executions)
        }
    })
}

fn verdict(
    test: &Test,
    task: &Task<'_>,
    found: &EngineResult,
    positive: u64,
    negative: u64,
) -> Verdict {
    if let Some(undefined) = &found.seen.undefined {
        return Verdict::Undefined(undefined.reason.clone());
    }
    match task.property {
        Property::ProgramSpec => {}
        Property::Termination => {
            return termination::verdict(&found.seen, found.unexplored(task));
        }
        Property::NoDataRace => return races::verdict(&found.seen, found.unexplored(task)),
        Property::NoUninitialisedRead => {
            return uninitialised::verdict(&found.seen, found.unexplored(task));
        }
    }
    // One execution can decide, whatever was not looked at; otherwise all have to be known.
    match (decided(test, positive, negative), found.unexplored(task), &found.seen.stuck) {
        (Some(verdict), _, _) => verdict,
        (None, Some(reason), _) => Verdict::Undecided(reason),
        (None, None, Some(stuck)) if !found.seen.finishes => {
            Verdict::Stuck(stuck::never(test, stuck))
        }
        // Neither one that finishes nor one that does not: nothing was tested.
        (None, None, _) if !found.seen.finishes => Verdict::Undecided(NO_EXECUTION.to_owned()),
        (None, None, _) => match test.quantifier {
            Quantifier::Exists => Verdict::Fails,
            Quantifier::NotExists | Quantifier::ForAll => Verdict::Holds,
        },
    }
}

/// The verdict that an execution gives, however many others there are.
fn decided(test: &Test, positive: u64, negative: u64) -> Option<Verdict> {
    match test.quantifier {
        Quantifier::Exists => (positive > 0).then_some(Verdict::Holds),
        Quantifier::NotExists => (positive > 0).then_some(Verdict::Fails),
        Quantifier::ForAll => (negative > 0).then_some(Verdict::Fails),
    }
}

fn condition(test: &Test, verdict: &Verdict, positive: u64, negative: u64) -> Option<bool> {
    match verdict {
        Verdict::Holds => Some(true),
        Verdict::Fails => Some(false),
        Verdict::Stuck(_) => Some(match test.quantifier {
            Quantifier::Exists => positive > 0,
            Quantifier::NotExists => positive == 0,
            Quantifier::ForAll => negative == 0,
        }),
        Verdict::Undefined(_) | Verdict::Unsupported(_) | Verdict::Undecided(_) => None,
    }
}

/// How two engines differ, if they do. An engine that reached a limit has no opinion.
fn difference(test: &Test, task: &Task<'_>, a: &EngineResult, b: &EngineResult) -> Option<String> {
    if a.limit.is_some() || b.limit.is_some() {
        return None;
    }
    if a.seen.undefined.is_some() != b.seen.undefined.is_some() {
        let (has, not) = if a.seen.undefined.is_some() { (a, b) } else { (b, a) };
        let reason = has.seen.undefined.as_ref().map_or("", |u| u.reason.as_str());
        return Some(format!(
            "{} finds the test undefined ({reason}), {} does not",
            has.engine, not.engine
        ));
    }
    if a.seen.undefined.is_some() && (a.directed || b.directed) {
        return None;
    }
    if task.verdict_only || !task.property.is_of_outcomes() {
        let decided = [a, b].map(|found| {
            let (positive, negative) = counts(test, found);
            verdict(test, task, found, positive, negative)
        });
        return (decided[0] != decided[1]).then(|| {
            format!("{}: {}, {}: {}", a.engine, decided[0].name(), b.engine, decided[1].name())
        });
    }
    let only = |x: &EngineResult, y: &EngineResult| {
        x.outcomes
            .keys()
            .find(|outcome| !y.outcomes.contains_key(*outcome))
            .map(|outcome| format!("only {} finds {}", x.engine, test.display_outcome(outcome)))
    };
    only(a, b).or_else(|| only(b, a)).or_else(|| {
        let known = a.seen.stuck_is_known && b.seen.stuck_is_known;
        let stuck = [a, b].map(|found| found.seen.stuck.is_some());
        let (has, not) = if stuck[0] { (a, b) } else { (b, a) };
        (known && stuck[0] != stuck[1]).then(|| {
            format!(
                "only {} finds an execution that never finishes, {} none",
                has.engine, not.engine
            )
        })
    })
}
