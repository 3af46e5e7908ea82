//! Laws of the engines: they agree with each other and with references that do less at once.

use engine::{ENGINES, Engine, Limits};
use judge::directed::{deciding, is_undefined};
use litmus::arbitrary::ProgramShape;
use litmus::arbitrary::placed::ProgramKind;
use litmus::{Prop, Quantifier, Test};
use model::given::Chosen;
use model::rel::{Axiom, Constraint, Model, Node, NodeId};

use super::{CaseEnd, Disagreement, FuzzSetting, Law, LawCase, same};
use crate::answer::{EngineAnswer, ask, naive, of_registers};
use crate::draw::{BARRIERS, ELSEWHERE, LONG, MIXED, ProgramSource, SMALL, TINY, WIDE, mostly};

pub(super) const AGREE: Law = Law {
    name: "engines",
    statement: "every engine has the same outcomes",
    sources: &[
        ProgramSource::Uniform(SMALL),
        ProgramSource::Uniform(LONG),
        ProgramSource::Uniform(WIDE),
        ProgramSource::Uniform(MIXED),
        ProgramSource::Uniform(ELSEWHERE),
        ProgramSource::Uniform(BARRIERS),
        ProgramSource::Placed(ProgramKind::Chain),
        ProgramSource::Placed(ProgramKind::Ring),
        ProgramSource::Cycles,
        ProgramSource::Asynchronous,
        ProgramSource::Awaited,
        ProgramSource::Kernels,
        ProgramSource::Launched,
        ProgramSource::Requests,
        ProgramSource::Multimem,
        ProgramSource::TensorMemory,
        ProgramSource::Matrices,
        ProgramSource::ReadOnly,
    ],
    check: agree,
};

pub(super) const VERDICTS: Law = Law {
    name: "verdicts",
    statement: "the engine `solve` has an outcome of `enumerate`, and none beside all of them, or no meaning where it has none",
    sources: &mostly::<36>(
        ProgramSource::Uniform(TINY),
        &[
            ProgramSource::Ordered,
            ProgramSource::Ordered,
            ProgramSource::Ordered,
            ProgramSource::Ordered,
            ProgramSource::Ordered,
            ProgramSource::Ordered,
            ProgramSource::Uniform(ProgramShape { length: 2, ..MIXED }),
            ProgramSource::Uniform(SMALL),
            ProgramSource::Asynchronous,
            ProgramSource::Awaited,
            ProgramSource::Kernels,
            ProgramSource::Launched,
            ProgramSource::Matrices,
            ProgramSource::ReadOnly,
            ProgramSource::Requests,
            ProgramSource::Requests,
            ProgramSource::ReadOnly,
            ProgramSource::TensorMemory,
            ProgramSource::TensorMemory,
            ProgramSource::Awaited,
            ProgramSource::Awaited,
        ],
    ),
    check: verdicts,
};

pub(super) const NAIVE: Law = Law {
    name: "naive",
    statement: "the engine `enumerate` has the outcomes of the candidates that no axiom forbids, tried one by one",
    sources: &mostly::<72>(
        ProgramSource::Uniform(TINY),
        &[
            ProgramSource::Ordered,
            ProgramSource::Ordered,
            ProgramSource::Ordered,
            ProgramSource::Ordered,
            ProgramSource::Uniform(ProgramShape { length: 2, ..MIXED }),
            ProgramSource::Uniform(ProgramShape { length: 2, ..BARRIERS }),
            ProgramSource::Placed(ProgramKind::Small),
            ProgramSource::Placed(ProgramKind::Ring),
            ProgramSource::Cycles,
            ProgramSource::Asynchronous,
            ProgramSource::Awaited,
            ProgramSource::Awaited,
            ProgramSource::Awaited,
            ProgramSource::Kernels,
            ProgramSource::Launched,
            ProgramSource::Requests,
            ProgramSource::Multimem,
            ProgramSource::TensorMemory,
            ProgramSource::Matrices,
            ProgramSource::ReadOnly,
        ],
    ),
    check: naively,
};

pub(super) const COHERENCE: Law = Law {
    name: "coherence",
    statement: "the least coherence order gives the outcomes that all coherence orders give",
    sources: &[
        ProgramSource::Uniform(SMALL),
        ProgramSource::Uniform(ProgramShape { length: 2, ..WIDE }),
        ProgramSource::Uniform(ProgramShape { length: 2, ..MIXED }),
        ProgramSource::Asynchronous,
        ProgramSource::Awaited,
    ],
    check: coherence,
};

pub(super) const REDUNDANT: Law = Law {
    name: "redundant",
    statement: "no redundant axiom changes an outcome",
    sources: &[
        ProgramSource::Uniform(SMALL),
        ProgramSource::Uniform(WIDE),
        ProgramSource::Uniform(MIXED),
        ProgramSource::Asynchronous,
        ProgramSource::Awaited,
    ],
    check: redundant,
};

/// The engine with this index and its model.
fn engine(setting: &FuzzSetting, index: usize) -> (&'static dyn Engine, &Model) {
    (ENGINES[index], &setting.models[index])
}

/// Why the solver cannot be compared, if it cannot.
fn solver_is_missing() -> Result<(), CaseEnd> {
    if ENGINES.len() < 2 {
        return Err(CaseEnd::Skipped("this build has one engine"));
    }
    if ENGINES.iter().any(|engine| engine.missing().is_some()) {
        return Err(CaseEnd::Skipped("libz3 could not be loaded"));
    }
    Ok(())
}

/// With the command that compares the engines, which have no fault.
fn of_engines(setting: &FuzzSetting, end: CaseEnd) -> CaseEnd {
    match end {
        CaseEnd::Broken(broken) if setting.fault().is_none() => {
            let replay = Some("causeway check --engine all FILE".to_owned());
            CaseEnd::Broken(Box::new(Disagreement { replay, ..*broken }))
        }
        end @ (CaseEnd::Broken(_) | CaseEnd::Skipped(_)) => end,
    }
}

fn agree(setting: &FuzzSetting, case: &LawCase<'_>) -> Result<(), CaseEnd> {
    solver_is_missing()?;
    let mut answers: Vec<(&str, EngineAnswer)> = Vec::new();
    for index in 0..ENGINES.len() {
        let (engine, model) = engine(setting, index);
        let answer = ask(engine, model, &case.test.program, &setting.limits())?;
        answers.push((engine.name(), answer));
    }
    let (first, rest) = answers.split_first().expect("there are engines");
    let mut rest = rest.iter();
    rest.try_for_each(|other| same(case.test, (first.0, &first.1), (other.0, &other.1)))
        .map_err(|end| of_engines(setting, end))
}

/// Whether there is undefined behaviour, and one of two questions, which the solver answers with one assignment or none for
/// each structure: all outcomes would take an assignment for each.
fn verdicts(setting: &FuzzSetting, case: &LawCase<'_>) -> Result<(), CaseEnd> {
    solver_is_missing()?;
    let ((one, model), (other, other_model)) = (engine(setting, 0), engine(setting, 1));
    let limits = setting.limits();
    let answer = ask(one, model, &case.test.program, &limits)?;
    if answer == EngineAnswer::Undefined || case.choice.is_multiple_of(3) {
        let undefined = is_undefined(case.test, &limits, other, other_model)?;
        if undefined != (answer == EngineAnswer::Undefined) {
            let only = if undefined { other } else { one }.name();
            let end = CaseEnd::broken(format!("only `{only}` finds undefined behaviour"));
            return Err(of_engines(setting, end));
        }
    }
    let outcomes = match answer {
        EngineAnswer::Outcomes(outcomes) => outcomes,
        EngineAnswer::Undefined => return Ok(()),
        EngineAnswer::Stuck => return Err(CaseEnd::Skipped("no execution finishes")),
    };
    let found = |proposition: Prop| {
        let test = Test { quantifier: Quantifier::Exists, proposition, ..case.test.clone() };
        deciding(&test, &limits, other, other_model)
    };
    let turn = usize::try_from(case.choice / 4).unwrap_or(0);
    let (name, outcome) = match outcomes.iter().nth(turn % outcomes.len().max(1)) {
        Some(outcome) if case.choice.is_multiple_of(4) => {
            let wanted = case.test.is_outcome(outcome);
            (one.name(), found(wanted)?.is_none().then(|| outcome.clone()))
        }
        Some(_) | None => {
            let all = outcomes.iter().map(|outcome| case.test.is_outcome(outcome)).collect();
            (other.name(), found(Prop::Not(Box::new(Prop::Or(all))))?)
        }
    };
    let Some(outcome) = outcome else { return Ok(()) };
    let what = format!("only `{name}` has the outcome {}", case.test.display_outcome(&outcome));
    let broken = Disagreement { what, outcome: Some(outcome), replay: None };
    Err(of_engines(setting, CaseEnd::Broken(Box::new(broken))))
}

fn naively(setting: &FuzzSetting, case: &LawCase<'_>) -> Result<(), CaseEnd> {
    let (engine, model) = engine(setting, 0);
    let test = of_registers(case.test);
    let answer = match ask(engine, model, &test.program, &setting.limits())? {
        EngineAnswer::Undefined => return Err(CaseEnd::Skipped("the program is undefined")),
        EngineAnswer::Stuck => EngineAnswer::Outcomes([].into()),
        outcomes @ EngineAnswer::Outcomes(_) => outcomes,
    };
    let limits = Limits { work: None, ..setting.limits() };
    let Some(outcomes) = naive(&test, &setting.model, setting.candidates, &limits)? else {
        return Err(CaseEnd::Skipped("too many candidates"));
    };
    let naive = EngineAnswer::Outcomes(outcomes);
    same(&test, (engine.name(), &answer), ("naive", &naive)).map_err(|end| match end {
        // If the file observes memory, too, it has no condition.
        CaseEnd::Broken(broken) if test.program.observed != case.test.program.observed => {
            CaseEnd::Broken(Box::new(Disagreement { outcome: None, ..*broken }))
        }
        broken @ CaseEnd::Broken(_) => broken,
        skipped @ CaseEnd::Skipped(_) => skipped,
    })
}

/// A model with an axiom that says nothing, in a form that does not grow with rf: it sends the engine the long way.
pub(super) fn with_every_order(model: &Model) -> Model {
    let mut long = model.clone();
    let rf = long.nodes.iter().position(|node| *node == Node::Chosen(Chosen::Rf));
    let id = |index: usize| NodeId(u16::try_from(index).expect("a model has few nodes"));
    let rf = id(rf.expect("the model speaks of rf"));
    let nothing = id(long.nodes.len());
    long.nodes.push(Node::Minus(rf, rf));
    let constraint = Constraint::Empty(nothing);
    long.axioms.push(Axiom { name: "Nothing".to_owned(), section: None, constraint });
    long
}

fn coherence(setting: &FuzzSetting, case: &LawCase<'_>) -> Result<(), CaseEnd> {
    let (engine, model) = engine(setting, 0);
    let program = &case.test.program;
    let least = ask(engine, model, program, &setting.limits())?;
    // One order takes much longer than one step of the search for the least.
    let limits = Limits { work: Some(setting.work / 10), ..setting.limits() };
    let every = ask(engine, &setting.every_order, program, &limits)?;
    same(case.test, ("least", &least), ("every", &every))
}

/// The axioms that `docs/redundant.md` lists.
pub(crate) const REDUNDANT_AXIOMS: [&str; 5] = [
    "Fence-SC",
    "Single-Copy-Atomicity",
    "Mixed-Size-Single-Copy",
    "Mixed-Size-Atomicity",
    "Mixed-Size-Order",
];

fn redundant(setting: &FuzzSetting, case: &LawCase<'_>) -> Result<(), CaseEnd> {
    let (engine, model) = engine(setting, 0);
    let program = &case.test.program;
    let with = ask(engine, model, program, &setting.limits())?;
    let turn = usize::try_from(case.choice % REDUNDANT_AXIOMS.len() as u64).unwrap_or(0);
    let mut weaker = setting.model.clone();
    weaker.axioms.retain(|axiom| axiom.name != REDUNDANT_AXIOMS[turn]);
    let without = ask(engine, &weaker, program, &setting.limits())?;
    same(case.test, ("with", &with), (REDUNDANT_AXIOMS[turn], &without))
}
