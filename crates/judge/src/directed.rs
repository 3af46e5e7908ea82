//! The verdict of one test alone, or its outcomes without their executions: only what may say something new is searched.
//!
//! For the verdict, an engine answers three questions, each ending at its first answer: is there an outcome that decides the
//! condition; if not, is there any outcome that passes the filter, and any at all; and if the program may be
//! undefined, is it. No set of outcomes is kept.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use engine::budget::Budget;
use engine::outcome::DATA_RACE;
use engine::sought::{Demand, Sought};
use engine::witness::Witness;
use engine::{Engine, ExecutionFacts, Limit, Limits, outcome};
use litmus::{Comparand, Prop, Quantifier, Test};
use model::program::Program;
use model::rel::{FlagMeaning, Model};
use model::value::Value;
use rustc_hash::FxHashSet;

use crate::alike::{ThreadExchanges, alike};
use crate::found::{EngineResult, thin_air_limit};

/// Runs one engine under a model for the verdict. The result has one outcome: the one that decides, or else some
/// outcome that passes the filter, if there is one.
pub(crate) fn run(test: &Test, limits: Limits, engine: &dyn Engine, model: &Model) -> EngineResult {
    let mut found = EngineResult { directed: true, ..EngineResult::of(engine) };
    let early = undefined_early(test, engine, model, &limits, &mut found);
    if found.seen.undefined.is_some() {
        return found;
    }
    let searched = decide(test, engine, model, &limits, &mut found);
    // One execution decides, whatever else there is.
    let searched = match searched {
        Ok(()) if found.witness.is_none() => settle(test, engine, model, &limits, &mut found),
        searched => searched,
    };
    let undefined = early.or_else(|_| undefined(test, engine, model, &limits, &mut found));
    found.seen.clear_reports();
    found.limit = searched.and(undefined).and(thin_air_limit(test, &found.seen)).err();
    found
}

/// Runs one engine under a model for each outcome that passes the filter, once: what has a known outcome alone is not
/// searched again, and of threads that may be exchanged one order is. Executions are not counted, and the races are
/// those of the executions that were looked at. Of a program that is soon found to be undefined, no outcome is reported.
pub fn outcomes(test: &Test, limits: Limits, engine: &dyn Engine, model: &Model) -> EngineResult {
    let mut found = EngineResult::of(engine);
    let early = undefined_early(test, engine, model, &limits, &mut found);
    if found.seen.undefined.is_some() {
        found.directed = true;
        return found;
    }
    let program = &test.program;
    let any = Cell::new(false);
    let known: RefCell<FxHashSet<Vec<Value>>> = RefCell::default();
    let is_new = |outcome: &[Option<Value>]| {
        let whole: Option<Vec<Value>> = outcome.iter().copied().collect();
        whole.is_none_or(|whole| !known.borrow().contains(&whole))
    };
    let asked = |outcome: &[Option<Value>]| !any.get() || passes(test, outcome) && is_new(outcome);
    let decides = test.quantifier != Quantifier::ForAll;
    let props: Vec<&Prop> = test.filter.iter().collect();
    let exchanges = ThreadExchanges::of(program, &props);
    let mut budget = Budget::new(&limits);
    let mut shows = false;
    let EngineResult { seen, outcomes, witness, .. } = &mut found;
    let mut visit = |outcome: &[Value], show: &dyn Fn() -> Witness| {
        any.set(true);
        if !test.passes(outcome) || known.borrow().contains(outcome) {
            return ControlFlow::Continue(());
        }
        if witness.is_none() && test.proposition.holds(program, outcome) == decides {
            *witness = Some(show());
        }
        exchanges.outcomes(outcome, &mut |outcome| {
            known.borrow_mut().insert(outcome.to_vec());
            outcomes.insert(outcome.to_vec(), 1);
            shows |= test.proposition.holds(program, outcome) == decides;
            let fits = budget.follow() && budget.hold(3 * outcome::bytes(program));
            if fits { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
    };
    let alike = || exchanges.classes.clone();
    let sought = Sought::Outcomes(&asked, &alike, &Demand::NONE);
    let searched = engine.search(model, program, &limits, sought, seen, &mut visit);
    exchanges.close(&mut seen.races);
    exchanges.close_warnings(&mut seen.warnings);
    exchanges.close_flags(&mut seen.flags);
    exchanges.close_exited(&mut seen.exited);
    if shows && found.witness.is_none() {
        found.witness = shown(test, engine, model, &limits);
    }
    let undefined = early.or_else(|_| undefined(test, engine, model, &limits, &mut found));
    let kept = budget.check().and(thin_air_limit(test, &found.seen));
    found.limit = searched.and(undefined).and(kept).err();
    found
}

/// The outcome that decides the condition, if there is one; nothing else is looked for.
pub fn deciding(
    test: &Test,
    limits: &Limits,
    engine: &dyn Engine,
    model: &Model,
) -> Result<Option<Vec<Value>>, Limit> {
    let mut found = EngineResult::of(engine);
    decide(test, engine, model, limits, &mut found)?;
    thin_air_limit(test, &found.seen)?;
    Ok(found.outcomes.into_keys().next())
}

/// An execution that decides the condition, where an exchange of threads made an outcome that does. `None` if a limit
/// is reached first: then no execution is shown.
fn shown(test: &Test, engine: &dyn Engine, model: &Model, limits: &Limits) -> Option<Witness> {
    let mut found = EngineResult::default();
    let searched = decide(test, engine, model, limits, &mut found);
    searched.ok().and(found.witness)
}

/// Looks for an outcome that decides the condition.
fn decide(
    test: &Test,
    engine: &dyn Engine,
    model: &Model,
    limits: &Limits,
    found: &mut EngineResult,
) -> Result<(), Limit> {
    let program = &test.program;
    let decides = test.quantifier != Quantifier::ForAll;
    let asked = |outcome: &[Option<Value>]| {
        passes(test, outcome) && test.proposition.known(program, outcome) != Some(!decides)
    };
    let limits = Limits { unending: false, ..*limits };
    let EngineResult { seen, outcomes, witness, .. } = found;
    let mut visit = |outcome: &[Value], show: &dyn Fn() -> Witness| {
        if !test.passes(outcome) || test.proposition.holds(program, outcome) != decides {
            return ControlFlow::Continue(());
        }
        outcomes.insert(outcome.to_vec(), 1);
        *witness = Some(show());
        ControlFlow::Break(())
    };
    let filter = test.filter.iter().map(|filter| demand(program, filter, true));
    let demand =
        Demand::Every(filter.chain([demand(program, &test.proposition, decides)]).collect());
    let props: Vec<&Prop> = test.filter.iter().chain([&test.proposition]).collect();
    let alike = || alike(program, &props);
    engine.search(
        model,
        program,
        &limits,
        Sought::Outcomes(&asked, &alike, &demand),
        seen,
        &mut visit,
    )
}

/// Looks for an outcome that passes the filter, for any outcome, and for executions that never finish.
fn settle(
    test: &Test,
    engine: &dyn Engine,
    model: &Model,
    limits: &Limits,
    found: &mut EngineResult,
) -> Result<(), Limit> {
    let (any, passing) = (Cell::new(false), Cell::new(false));
    let asked = |outcome: &[Option<Value>]| !any.get() || !passing.get() && passes(test, outcome);
    let EngineResult { seen, outcomes, .. } = found;
    let mut visit = |outcome: &[Value], _: &dyn Fn() -> Witness| {
        any.set(true);
        if !passing.get() && test.passes(outcome) {
            passing.set(true);
            outcomes.insert(outcome.to_vec(), 1);
        }
        ControlFlow::Continue(())
    };
    let props: Vec<&Prop> = test.filter.iter().collect();
    let alike = || alike(&test.program, &props);
    let sought = Sought::Outcomes(&asked, &alike, &Demand::NONE);
    engine.search(model, &test.program, limits, sought, seen, &mut visit)
}

/// Looks for an execution that makes the program undefined, if one might.
pub(crate) fn undefined(
    test: &Test,
    engine: &dyn Engine,
    model: &Model,
    limits: &Limits,
    found: &mut EngineResult,
) -> Result<(), Limit> {
    if !may_be_undefined(&test.program, model) {
        return Ok(());
    }
    let alike = || alike(&test.program, &[]);
    // Of races, those that are not known are looked for.
    let races = FlagMeaning::Undefined(DATA_RACE);
    let known = model.flags.iter().any(|flag| flag.meaning == races).then_some(&found.seen.races);
    let races = known.cloned().unwrap_or_default();
    let mut seen = ExecutionFacts { races, ..ExecutionFacts::default() };
    let visit = &mut |_: &[Value], _: &dyn Fn() -> Witness| ControlFlow::Continue(());
    let result =
        engine.search(model, &test.program, limits, Sought::Undefined(&alike), &mut seen, visit);
    found.seen.undefined = seen.undefined;
    found.seen.bound_reached |= seen.bound_reached;
    found.seen.thin_air = found.seen.thin_air.max(seen.thin_air);
    result
}

/// Whether the program is undefined; nothing else is looked for.
pub fn is_undefined(
    test: &Test,
    limits: &Limits,
    engine: &dyn Engine,
    model: &Model,
) -> Result<bool, Limit> {
    let mut found = EngineResult::default();
    undefined(test, engine, model, limits, &mut found)?;
    Ok(found.seen.undefined.is_some())
}

/// The work of [`undefined_early`].
const EARLY: u64 = 1 << 14;

/// The same, with little work: of an undefined program nothing else has to be known, and that may take long.
pub(crate) fn undefined_early(
    test: &Test,
    engine: &dyn Engine,
    model: &Model,
    limits: &Limits,
    found: &mut EngineResult,
) -> Result<(), Limit> {
    let work = Some(limits.work.map_or(EARLY, |work| work.min(EARLY)));
    undefined(test, engine, model, &Limits { work, ..*limits }, found)
}

/// Whether an outcome with these values may pass the filter.
fn passes(test: &Test, outcome: &[Option<Value>]) -> bool {
    test.filter.as_ref().is_none_or(|filter| filter.known(&test.program, outcome) != Some(false))
}

/// A proposition with its truth value, as a demand.
pub fn demand<'q>(program: &'q Program, prop: &'q Prop, truth: bool) -> Demand<'q> {
    let list = |props: &'q [Prop], every: bool| {
        let parts = props.iter().map(|prop| demand(program, prop, truth)).collect();
        if every { Demand::Every(parts) } else { Demand::Any(parts) }
    };
    match prop {
        Prop::True => list(&[], truth),
        Prop::False => list(&[], !truth),
        Prop::Not(prop) => demand(program, prop, !truth),
        Prop::And(props) => list(props, truth),
        Prop::Or(props) => list(props, !truth),
        Prop::Implies(left, right) => {
            let parts = vec![demand(program, left, !truth), demand(program, right, truth)];
            if truth { Demand::Any(parts) } else { Demand::Every(parts) }
        }
        Prop::Atom(_, left, right) => {
            let observed = |side: &Comparand| match *side {
                Comparand::Observed(index) => Some(index),
                Comparand::Constant(_) => None,
            };
            let places = [left, right].into_iter().filter_map(observed).collect();
            let may = move |values: &[Option<Value>]| prop.known(program, values) != Some(!truth);
            Demand::Of(places, Box::new(may))
        }
    }
}

/// Whether some execution might make the program undefined under this model: in C++ any data race does.
pub fn may_be_undefined(program: &Program, model: &Model) -> bool {
    let races = FlagMeaning::Undefined(DATA_RACE);
    program.may_be_undefined() || model.flags.iter().any(|flag| flag.meaning == races)
}
