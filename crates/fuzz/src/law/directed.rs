//! Laws of the search for a verdict alone: it is the verdict over all outcomes, whatever the question.

use std::collections::BTreeSet;

use engine::{ENGINES, ExecutionFacts, Limits, Race};
use judge::directed::outcomes;
use judge::{EngineResult, Judgement, Property, Task, Verdict, judge, parts};
use litmus::arbitrary::ProgramShape;
use litmus::{Comparand, Prop, Quantifier, Test};
use model::isa::alu::Comparison;
use model::program::{Observed, Program};
use model::value::Value;

use super::{CaseEnd, Disagreement, FuzzSetting, Law, LawCase};
use crate::answer::{BOUND, EngineAnswer, asked};
use crate::draw::{BARRIERS, Dice, ELSEWHERE, LONG, MIXED, ProgramSource, SMALL, WIDE};

pub(super) const SOURCES: &[ProgramSource] = &[
    ProgramSource::Uniform(SMALL),
    ProgramSource::Uniform(LONG),
    ProgramSource::Uniform(WIDE),
    ProgramSource::Uniform(MIXED),
    ProgramSource::Uniform(ELSEWHERE),
    ProgramSource::Uniform(ProgramShape { length: 2, ..BARRIERS }),
    ProgramSource::Cycles,
    ProgramSource::Asynchronous,
    ProgramSource::Awaited,
    ProgramSource::Kernels,
];

pub(super) const DIRECTED: Law = Law {
    name: "directed",
    statement: "the search for a verdict alone finds the verdict over all outcomes",
    sources: SOURCES,
    check: directed,
};

pub(super) const EXCHANGE: Law = Law {
    name: "exchange",
    statement: "equal threads that are searched in one order change no verdict",
    sources: SOURCES,
    check: exchanged,
};

pub(super) const APART: Law = Law {
    name: "apart",
    statement: "threads that never meet have the verdicts of the whole, judged apart",
    sources: SOURCES,
    check: apart,
};

/// Questions about one program.
const QUESTIONS: usize = 4;

/// What the full search finds of a program.
pub struct FullSearch {
    pub outcomes: BTreeSet<Vec<Value>>,
    pub seen: ExecutionFacts,
}

/// The verdict over a set of outcomes, by definition.
fn verdict(test: &Test, full: &FullSearch) -> &'static str {
    let decides = test.quantifier != Quantifier::ForAll;
    let passing = || full.outcomes.iter().filter(|outcome| test.passes(outcome));
    let found = passing().any(|outcome| test.proposition.holds(&test.program, outcome) == decides);
    let exists = test.quantifier == Quantifier::Exists;
    if full.seen.undefined.is_some() {
        "undefined"
    } else if found {
        if exists { "holds" } else { "fails" }
    } else if full.seen.bound_reached {
        "undecided"
    } else if full.outcomes.is_empty() {
        if full.seen.stuck.is_some() { "stuck" } else { "undecided" }
    } else if exists {
        "fails"
    } else {
        "holds"
    }
}

/// A proposition about values that occur, or nearly.
fn proposition(dice: &mut Dice, outcomes: &[&Vec<Value>], observed: usize, depth: u32) -> Prop {
    if depth > 0 && dice.below(4) > 0 {
        let mut some = |fewest: usize| -> Vec<Prop> {
            let many = fewest + dice.below(3);
            (0..many).map(|_| proposition(dice, outcomes, observed, depth - 1)).collect()
        };
        return match some(0).len() + 2 * usize::from(depth == 1) {
            0 => Prop::Not(Box::new(some(1).swap_remove(0))),
            1 | 3 => Prop::And(some(2)),
            2 | 4 => Prop::Or(some(2)),
            _ => {
                let mut both = some(2);
                Prop::Implies(Box::new(both.swap_remove(0)), Box::new(both.swap_remove(0)))
            }
        };
    }
    let at = dice.below(observed);
    let signs = [Comparison::Eq, Comparison::Eq, Comparison::Eq, Comparison::Ne, Comparison::Lt];
    let sign = *dice.pick(&signs);
    let other = match dice.below(8) {
        0 => Comparand::Observed(dice.below(observed)),
        1 => Comparand::Constant(dice.below(5) as Value),
        _ if outcomes.is_empty() => Comparand::Constant(0),
        _ => Comparand::Constant(dice.pick(outcomes)[at]),
    };
    Prop::Atom(sign, Comparand::Observed(at), other)
}

/// A question that no order of the threads changes: something of a register in any, or in all, of them.
fn of_any_thread(dice: &mut Dice, program: &Program, outcomes: &[&Vec<Value>]) -> Prop {
    let registers: Vec<usize> = (0..program.observed.len())
        .filter(|&at| matches!(program.observed[at], Observed::Register { .. }))
        .collect();
    let name = |at: usize| match program.observed[at] {
        Observed::Register { thread, register } => {
            Some(&program.threads[usize::from(thread.0)].registers[usize::from(register.0)].name)
        }
        Observed::Memory { .. } => None,
    };
    if registers.is_empty() || outcomes.is_empty() {
        return Prop::True;
    }
    let first = *dice.pick(&registers);
    let value = Comparand::Constant(dice.pick(outcomes)[first]);
    let same = registers.iter().filter(|&&at| name(at) == name(first));
    let mut atoms: Vec<Prop> =
        same.map(|&at| Prop::Atom(Comparison::Eq, Comparand::Observed(at), value)).collect();
    match (atoms.len(), dice.below(2)) {
        (1, _) => atoms.swap_remove(0),
        (_, 0) => Prop::And(atoms),
        _ => Prop::Or(atoms),
    }
}

/// A question as tests ask them: the values of several things together.
fn conjunction(dice: &mut Dice, outcomes: &[&Vec<Value>], observed: usize) -> Prop {
    let some = (0..2 + dice.below(3)).map(|_| proposition(dice, outcomes, observed, 0));
    Prop::And(some.collect())
}

/// Gives a test a condition, and perhaps a filter, about outcomes that it has or nearly has.
pub fn question(dice: &mut Dice, test: &mut Test, full: &FullSearch) {
    let outcomes: Vec<&Vec<Value>> = full.outcomes.iter().collect();
    let observed = test.program.observed.len();
    test.quantifier = *dice.pick(&[Quantifier::Exists, Quantifier::NotExists, Quantifier::ForAll]);
    test.proposition = match dice.below(4) {
        0 => of_any_thread(dice, &test.program, &outcomes),
        1 => conjunction(dice, &outcomes, observed),
        _ => proposition(dice, &outcomes, observed, 3),
    };
    test.filter = (dice.below(4) == 0).then(|| proposition(dice, &outcomes, observed, 1));
}

/// How the answer to a question differs from that of the full search, if it does.
fn difference(
    test: &Test,
    task: &Task<'_>,
    judged: &Judgement,
    full: &FullSearch,
) -> Option<String> {
    let (now, before) = (judged.verdict.name(), verdict(test, full));
    if now != before {
        let why = judged.verdict.reason().unwrap_or_default();
        return Some(format!("directed: {now} ({why}), full: {before}"));
    }
    let tested = full.outcomes.iter().any(|outcome| test.passes(outcome));
    let (found, settled) = (&judged.found, judged.found.witness.is_none());
    if before != "undefined" && found.outcomes.is_empty() == tested {
        return Some("only one search has an outcome that passes".to_owned());
    }
    if before != "undefined" && settled && found.seen.stuck.is_some() != full.seen.stuck.is_some() {
        return Some("only one search has an execution that never ends".to_owned());
    }
    if let Some(undefined) = &found.seen.undefined {
        let other = full.seen.undefined.as_ref().map(|of| of.reason.as_str());
        // Of several reasons, the one of the part that is judged first is told.
        let one = parts(test, task).len() == 1;
        if one && found.engine == "enumerate" && other != Some(undefined.reason.as_str()) {
            return Some(format!("undefined: {}, full: {other:?}", undefined.reason));
        }
    }
    None
}

/// How the search for each outcome differs from the full search, if it does.
fn outcomes_differ(test: &Test, found: &EngineResult, full: &FullSearch) -> Option<String> {
    let (now, seen) = (&found.outcomes, &found.seen);
    let passing = full.outcomes.iter().filter(|outcome| test.passes(outcome));
    if full.seen.undefined.is_none() && !now.keys().eq(passing) {
        return Some(format!("{} outcomes, each looked for once", now.len()));
    }
    let facts =
        |seen: &ExecutionFacts| (seen.stuck.is_some(), seen.undefined.is_some(), seen.finishes);
    if full.seen.undefined.is_none() && facts(seen) != facts(&full.seen) {
        return Some("the search for each outcome has other facts".to_owned());
    }
    let is_raced = |race: &Race| full.seen.races.contains(race);
    let complete = found.engine == "enumerate" && full.seen.stuck.is_none();
    (complete && !seen.races.iter().all(is_raced)).then(|| "only one search has a race".to_owned())
}

/// How the answer about termination differs from what the full search has seen.
fn termination_differs(judged: &Judgement, full: &FullSearch) -> Option<String> {
    let seen = &full.seen;
    let may = match judged.verdict {
        Verdict::Holds => seen.undefined.is_none() && seen.finishes && seen.stuck.is_none(),
        Verdict::Fails => seen.undefined.is_none() && seen.stuck.is_some(),
        Verdict::Undefined(_) => seen.undefined.is_some(),
        Verdict::Undecided(_) => seen.bound_reached || !seen.finishes && seen.stuck.is_none(),
        Verdict::Unsupported(_) | Verdict::Stuck(_) => false,
    };
    (!may).then(|| format!("termination {}, unlike the full search", judged.verdict.name()))
}

/// The full search, by the model without a fault.
pub fn full(setting: &FuzzSetting, program: &Program) -> Result<FullSearch, CaseEnd> {
    let limits: Limits = setting.limits();
    let (answer, seen) = asked(ENGINES[0], &setting.model, program, &limits)?;
    let outcomes = match answer {
        EngineAnswer::Outcomes(outcomes) => outcomes,
        // Outcomes beside undefined behaviour are not compared.
        EngineAnswer::Undefined | EngineAnswer::Stuck => BTreeSet::new(),
    };
    Ok(FullSearch { outcomes, seen })
}

fn questions(setting: &FuzzSetting, test: &Test, choice: u64) -> Result<(), CaseEnd> {
    if test.program.observed.is_empty() {
        return Err(CaseEnd::Skipped("nothing is observed"));
    }
    let full = full(setting, &test.program)?;
    let mut dice = Dice::new(choice);
    // The solver takes much longer.
    let index = usize::from(dice.below(8) == 0 && ENGINES.len() > 1);
    let task = Task {
        engines: vec![ENGINES[index]],
        bound: BOUND,
        work: Some(setting.work),
        verdict_only: true,
        ..Task::new(&setting.models[index])
    };
    let mut asking = test.clone();
    let (engine, model) = (ENGINES[index], &setting.models[index]);
    let ends = judge(test, &Task { property: Property::Termination, ..task.clone() });
    if ends.found.limit.is_none()
        && full.seen.stuck_is_known
        && let Some(what) = termination_differs(&ends, &full)
    {
        return Err(CaseEnd::broken(format!("{}: {what}", engine.name())));
    }
    // The search for a race looks at more iterations of loops that wait than the full search does.
    if full.seen.undefined.is_none() && !full.seen.races.is_empty() {
        let free = judge(test, &Task { property: Property::NoDataRace, ..task.clone() });
        if free.verdict == Verdict::Holds {
            let what = "no data race is found alone, unlike in the full search";
            return Err(CaseEnd::broken(format!("{}: {what}", engine.name())));
        }
    }
    for number in 0..QUESTIONS {
        question(&mut dice, &mut asking, &full);
        let judged = judge(&asking, &task);
        if let Some(limit) = judged.found.limit {
            return Err(limit.into());
        }
        let each = (number == 0).then(|| outcomes(&asking, setting.limits(), engine, model));
        let each = each.filter(|each| each.limit.is_none());
        let each = each.and_then(|each| outcomes_differ(&asking, &each, &full));
        if let Some(what) = difference(&asking, &task, &judged, &full).or(each) {
            let condition = asking.proposition.text(&asking.program);
            let filter = asking.filter.as_ref().map(|filter| filter.text(&asking.program));
            let filter = filter.map_or(String::new(), |filter| format!(", filter ({filter})"));
            let engine = engine.name();
            return Err(CaseEnd::Broken(Box::new(Disagreement {
                what: format!(
                    "{engine}: {what}; {} ({condition}){filter}",
                    asking.quantifier.name()
                ),
                outcome: None,
                replay: None,
            })));
        }
    }
    Ok(())
}

fn directed(setting: &FuzzSetting, case: &LawCase<'_>) -> Result<(), CaseEnd> {
    questions(setting, case.test, case.choice)
}

/// Asks about a program with the first thread three times, in one place.
fn exchanged(setting: &FuzzSetting, case: &LawCase<'_>) -> Result<(), CaseEnd> {
    const CELLS: usize = 2;
    let order: Vec<usize> =
        [0, 1, 0, 0].into_iter().filter(|&at| at < case.program.threads.len()).collect();
    let mut program = case.program.with_threads(&order);
    for (place, thread) in program.threads.iter_mut().enumerate() {
        if order[place] == 0 {
            thread.cells.truncate(CELLS);
        }
    }
    let source = program.to_string();
    let Ok(test) = litmus::parse("repeated", source.as_bytes()) else {
        return Err(CaseEnd::Skipped("the thread cannot be repeated"));
    };
    questions(setting, &test, case.choice)
}

/// Asks about a program of which some threads have variables of their own.
fn apart(setting: &FuzzSetting, case: &LawCase<'_>) -> Result<(), CaseEnd> {
    let mut dice = Dice::new(case.choice);
    let names: Vec<&str> =
        case.test.program.variables.iter().map(|variable| variable.name.as_str()).collect();
    let own = |text: &str| {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut renamed = String::new();
        for piece in text.split_inclusive(|c: char| !is_word(c)) {
            let word = piece.trim_end_matches(|c: char| !is_word(c));
            renamed.push_str(word);
            renamed.push_str(if names.contains(&word) { "_own" } else { "" });
            renamed.push_str(&piece[word.len()..]);
        }
        renamed
    };
    let mut program = case.program.clone();
    let moved: Vec<bool> = program.threads.iter().map(|_| dice.below(2) == 0).collect();
    for (thread, _) in program.threads.iter_mut().zip(&moved).filter(|(_, moved)| **moved) {
        thread.cells.iter_mut().for_each(|cell| *cell = own(cell));
    }
    let declarations = program.declarations.iter().flat_map(|entry| {
        let thread = entry.split_once(':').and_then(|(name, _)| name.strip_prefix('P'));
        match thread.and_then(|number| number.parse::<usize>().ok()) {
            Some(thread) if moved[thread] => vec![own(entry)],
            Some(_) => vec![entry.clone()],
            None => vec![entry.clone(), own(entry)],
        }
    });
    program.declarations = declarations.collect();
    let observed: Vec<String> = program.observed.iter().map(|name| own(name)).collect();
    program.observed.extend(observed);
    let source = program.to_string();
    let Ok(test) = litmus::parse("apart", source.as_bytes()) else {
        return Err(CaseEnd::Skipped("the threads cannot be moved"));
    };
    let task = Task { property: Property::Termination, ..Task::new(&setting.model) };
    if parts(&test, &task).len() == 1 {
        return Err(CaseEnd::Skipped("the threads meet"));
    }
    questions(setting, &test, case.choice)
}
