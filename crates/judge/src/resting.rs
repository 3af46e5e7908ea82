//! The readings that a verdict rests on: under another choice of such a reading it would differ.
//!
//! Only choices that the document admits count. A test is judged again under each choice that could matter to its
//! program. The checks for that inspect the text of the program, or its paths, and are conservative:
//! a choice that they exclude cannot change the verdict.

use engine::{Engine, Limit};
use execution::accessed::Accessed;
use execution::agreed::Agreed;
use execution::layout::Layout;
use execution::path::Path;
use execution::unfold::Unfolded;
use litmus::Test;
use model::isa::atom::{Atomic, AtomicOp};
use model::program::{Program, Thread, ThreadId};
use model::reading::{Dependencies, FailedCas};
use model::rel::Model;

use crate::alternative::Alternative;
use crate::decide::decide;
use crate::judgement::{Judgement, Rest, Resting};
use crate::subject::ReadingSubject;
use crate::task::Task;
use crate::verdict::{Observation, Verdict};

/// What the judgement of a test rests on; nothing where the test is not judged under the built-in model of
/// PTX, or there is no verdict.
pub(crate) fn resting(test: &Test, task: &Task<'_>, judgement: &Judgement) -> Resting {
    let mut resting = Resting::default();
    let judged = match judgement.verdict {
        Verdict::Unsupported(_) | Verdict::Undecided(_) => false,
        Verdict::Holds | Verdict::Fails | Verdict::Undefined(_) | Verdict::Stuck(_) => true,
    };
    if !judged || !std::ptr::eq(task.model_of(test), task.model) {
        return resting;
    }
    let same = |engine: &&&dyn Engine| engine.name() == judgement.found.engine;
    let engine = task.engines.iter().find(same).copied();
    for alternative in task.alternatives {
        if !may_matter(&test.program, task, alternative) {
            continue;
        }
        let Alternative { reading, choice, .. } = *alternative;
        if let Some(why) = endless(&test.program, alternative) {
            resting.open.push((reading, choice, why.to_owned()));
            continue;
        }
        if task.until.is_some_and(|until| until.is_over()) {
            resting.open.push((reading, choice, Limit::Time.text().to_owned()));
            continue;
        }
        let other = again(test, task, engine, alternative.model());
        if let Verdict::Undecided(why) = other.verdict {
            resting.open.push((reading, choice, why));
        } else if differs(judgement, &other) {
            let instead = other.observed().unwrap_or_else(|| other.verdict.name().to_owned());
            resting.on.push(Rest { reading, choice, instead });
        } else if alternative.other.dependencies == Dependencies::Semantic {
            let shown = shown_only(alternative.model());
            if differs(&other, &again(test, task, engine, &shown)) {
                resting.open.push((reading, choice, NOT_DECIDED.to_owned()));
            }
        } else if alternative.chosen.dependencies == Dependencies::Semantic
            && alternative.other.dependencies != Dependencies::Semantic
        {
            let shown = shown_only(task.model);
            if differs(judgement, &again(test, task, engine, &shown)) {
                resting.open.push((reading, choice, NOT_DECIDED.to_owned()));
            }
        }
    }
    resting
}

const NOT_DECIDED: &str = "it is not decided whether some dependency is semantic";

/// The model with those dependencies of values alone that are shown by an example.
fn shown_only(model: &Model) -> Model {
    let mut model = model.clone();
    model.conventions.shown_dependencies = true;
    model
}

/// The result of one engine under another model.
fn again(test: &Test, task: &Task<'_>, engine: Option<&dyn Engine>, model: &Model) -> Judgement {
    let engines = if task.portfolio { task.engines.clone() } else { engine.into_iter().collect() };
    decide(test, &Task { model, cxx: None, engines, ..task.clone() })
}

/// The observation is the finer one, where there is one.
fn differs(one: &Judgement, other: &Judgement) -> bool {
    let observed = |judgement: &Judgement| judgement.observation.map(Observation::name);
    one.verdict.name() != other.verdict.name()
        || observed(one).zip(observed(other)).is_some_and(|(one, other)| one != other)
}

/// Whether another choice could change what the program does.
pub fn may_matter(program: &Program, task: &Task<'_>, alternative: &Alternative) -> bool {
    let Alternative { chosen, other, .. } = alternative;
    let subject = ReadingSubject::of(chosen, other);
    subject.is_in(program)
        && (subject != ReadingSubject::Decisions
            || dependencies_differ(program, task, alternative.model())
            || dependencies_differ(program, task, &shown_only(alternative.model())))
}

/// Why the judgement under another choice would end at its bound, whatever the bound.
fn endless(program: &Program, alternative: &Alternative) -> Option<&'static str> {
    if alternative.other.failed_cas != FailedCas::Writes {
        return None;
    }
    // Where nobody races for what it writes, such a write changes nothing (reading R50).
    let layout = Layout::new(program);
    let accessed = Accessed::new(program, &layout);
    let agreed = Agreed::new(program, &layout, &accessed);
    let in_loop = |(id, thread): (u8, &Thread)| {
        thread.lines.iter().enumerate().any(|(at, line)| {
            let races = |of: &Atomic| {
                of.op == AtomicOp::Cas && !agreed.is_agreed(&accessed, ThreadId(id), at)
            };
            line.instruction.as_atomic().is_some_and(races)
                && thread.back_branches().any(|(end, target)| (target..=end).contains(&at))
        })
    };
    let found = (0u8..).zip(&program.threads).any(in_loop);
    found.then_some("a `cas` in a loop writes each time that it fails")
}

/// Whether a path depends on less under one of two choices.
fn dependencies_differ(program: &Program, task: &Task<'_>, alternative: &Model) -> bool {
    let limits = task.limits();
    let ends = |held| limits.of_unfolding(held);
    let paths = |model: &Model| Unfolded::within(program, model.conventions, task.bound, &ends);
    // What cannot be unfolded is judged, which says why.
    let (Ok(one), Ok(other)) = (paths(task.model), paths(alternative)) else { return true };
    let masks = |paths: &[Vec<Path>]| -> Vec<_> {
        let events = paths.iter().flatten().flat_map(|path| &path.events);
        let reduced =
            |of: &execution::event::PathEvent| of.barrier?.reduce.map(|(.., taint)| taint);
        events.map(|of| (of.addr, of.data, of.ctrl, reduced(of))).collect()
    };
    // What may come after the bound depends on what is not known.
    one.bound_reached() || other.bound_reached() || masks(&one.paths) != masks(&other.paths)
}
