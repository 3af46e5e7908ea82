//! The search for a verdict alone, held to the search for all outcomes.
//!
//! `CAUSEWAY_SEED` and `CAUSEWAY_CASES` try other programs, and more.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use engine::directed;
use engine::enumerate::Enumerate;
use engine::judge::{Task, judge};
use engine::sought::{Demand, Sought};
use engine::{ENGINES, Engine, ExecutionFacts, Limit, Limits};
use litmus::arbitrary::{ProgramShape, Sketch};
use litmus::{Comparand, Prop, Quantifier, Test};
use model::isa::alu::Comparison;
use model::program::{Observed, Program, ThreadId};
use model::ptx;
use model::rel::Model;
use model::value::Value;

use crate::agree::{BARRIERS, BOUND, ELSEWHERE, LONG, MIXED, SMALL, WIDE, law, parse};
use crate::suite;

/// Programs that take the full search longer are passed over.
const PATIENCE: Duration = Duration::from_millis(250);

/// Questions that take an engine longer are passed over.
const LONG_PATIENCE: Duration = Duration::from_secs(5);

/// What the full search finds of a program.
struct Full {
    outcomes: BTreeSet<Vec<Value>>,
    seen: ExecutionFacts,
}

fn full(model: &Model, program: &Program) -> Option<Full> {
    let limits = Limits { deadline: Some(Instant::now() + PATIENCE), ..Limits::unlimited(BOUND) };
    let (mut outcomes, mut seen) = (BTreeSet::new(), ExecutionFacts::default());
    let visit = &mut |outcome: &[Value], _: &dyn Fn() -> engine::witness::Witness| {
        outcomes.insert(outcome.to_vec());
        ControlFlow::Continue(())
    };
    Enumerate.outcomes(model, program, &limits, &mut seen, visit).ok()?;
    Some(Full { outcomes, seen })
}

/// The verdict over a set of outcomes, by definition.
fn verdict(test: &Test, full: &Full) -> &'static str {
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

/// Numbers that look random: `SplitMix64`.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).expect("it is below a usize")
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
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
    let atoms: Vec<Prop> =
        same.map(|&at| Prop::Atom(Comparison::Eq, Comparand::Observed(at), value)).collect();
    match (atoms.len(), dice.below(2)) {
        (1, _) => atoms.into_iter().next().expect("there is one"),
        (_, 0) => Prop::And(atoms),
        _ => Prop::Or(atoms),
    }
}

/// A question as tests ask them: the values of several things together.
fn conjunction(dice: &mut Dice, outcomes: &[&Vec<Value>], observed: usize) -> Prop {
    let some = (0..2 + dice.below(3)).map(|_| proposition(dice, outcomes, observed, 0));
    Prop::And(some.collect())
}

fn ask(dice: &mut Dice, test: &mut Test, full: &Full) {
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

fn agrees(test: &Test, task: &Task<'_>, full: &Full) -> Result<(), String> {
    let judged = judge(test, task);
    if judged.found.limit == Some(Limit::Time) {
        return Ok(());
    }
    let (now, before) = (judged.verdict.name(), verdict(test, full));
    let question = || {
        let (quantifier, what) = (test.quantifier.name(), test.proposition.text(&test.program));
        let filter = test.filter.as_ref().map(|filter| filter.text(&test.program));
        format!("{quantifier} ({what}), filter {filter:?}")
    };
    if now != before {
        let why = judged.verdict.reason().unwrap_or_default();
        return Err(format!("directed: {now} ({why}), full: {before}; {}", question()));
    }
    let tested = full.outcomes.iter().any(|outcome| test.passes(outcome));
    let (found, settled) = (&judged.found, judged.found.witness.is_none());
    if before != "undefined" && found.outcomes.is_empty() == tested {
        return Err(format!("only one search has an outcome that passes; {}", question()));
    }
    if before != "undefined" && settled && found.seen.stuck.is_some() != full.seen.stuck.is_some() {
        return Err(format!("only one search has an execution that never ends; {}", question()));
    }
    if let Some(undefined) = &found.seen.undefined {
        let other = full.seen.undefined.as_ref().map(|of| of.reason.as_str());
        if found.engine == "enumerate" && other != Some(undefined.reason.as_str()) {
            return Err(format!("undefined: {}, full: {other:?}", undefined.reason));
        }
    }
    Ok(())
}

/// What the search for each outcome finds is what the full search finds.
fn outcomes_agree(
    test: &Test,
    engine: &dyn Engine,
    model: &Model,
    full: &Full,
) -> Result<(), String> {
    let limits =
        Limits { deadline: Some(Instant::now() + LONG_PATIENCE), ..Limits::unlimited(BOUND) };
    let found = directed::outcomes(test, limits, engine, model);
    if found.limit.is_some() {
        return Ok(());
    }
    let (now, seen) = (&found.outcomes, &found.seen);
    let passing = full.outcomes.iter().filter(|outcome| test.passes(outcome));
    if !now.keys().eq(passing) {
        return Err(format!("{} outcomes, each looked for once", now.len()));
    }
    let facts =
        |seen: &ExecutionFacts| (seen.stuck.is_some(), seen.undefined.is_some(), seen.finishes);
    if facts(seen) != facts(&full.seen) {
        return Err(format!("{seen:?}, full: {:?}", full.seen));
    }
    let is_raced = |race: &engine::Race| full.seen.races.contains(race);
    if engine.name() == "enumerate" && full.seen.stuck.is_none() && !seen.races.iter().all(is_raced)
    {
        return Err(format!("races {:?}, full: {:?}", seen.races, full.seen.races));
    }
    Ok(())
}

/// Asks so many questions of each of so many programs; returns how many were asked, and of how many the answer
/// was found before all was searched.
fn questions(
    engine: &'static dyn Engine,
    programs: u64,
    each: usize,
    exchange: bool,
) -> (usize, usize) {
    let model = ptx::model();
    let task = Task {
        engines: vec![engine],
        verdict_only: true,
        blame: false,
        timeout: Some(LONG_PATIENCE),
        ..suite::task(&model)
    };
    let (asked, found) = (Cell::new(0), Cell::new(0));
    let dice = Cell::new(1);
    let barriers = ProgramShape { length: 2, ..BARRIERS };
    let shapes = [SMALL, LONG, WIDE, MIXED, ELSEWHERE, barriers];
    law("directed", &shapes, programs, |sketch| {
        let mut sketch = sketch.clone();
        if exchange {
            repeat_first(&mut sketch);
        }
        let mut test = parse(&sketch);
        if test.program.observed.is_empty() {
            return Ok(());
        }
        let Some(full) = full(&model, &test.program) else { return Ok(()) };
        let mut mine = Dice(dice.get());
        dice.set(dice.get() + 1);
        for _ in 0..each {
            ask(&mut mine, &mut test, &full);
            asked.set(asked.get() + 1);
            agrees(&test, &task, &full)?;
            if asked.get() % 4 == 0 {
                outcomes_agree(&test, engine, &model, &full)?;
            }
            let holds = |outcome: &&Vec<Value>| test.proposition.holds(&test.program, outcome);
            found.set(found.get() + usize::from(full.outcomes.iter().any(|of| holds(&of))));
        }
        Ok(())
    });
    (asked.get(), found.get())
}

#[test]
fn directed_search_answers_as_the_full_search() {
    for &engine in ENGINES {
        let (programs, each) = if engine.name() == "enumerate" { (60, 25) } else { (12, 8) };
        let (asked, sometimes) = questions(engine, programs, each, false);
        eprintln!("{}: {asked} questions, {sometimes} of them sometimes", engine.name());
        assert!(sometimes > asked / 4 && sometimes < asked * 3 / 4, "{sometimes} of {asked}");
    }
}

/// The first thread three times, in one place.
fn repeat_first(sketch: &mut Sketch) {
    let (place, mut ops) = sketch.threads[0].clone();
    ops.truncate(2);
    sketch.threads.truncate(2);
    sketch.threads[0].1.clone_from(&ops);
    sketch.threads.extend([(place, ops.clone()), (place, ops)]);
}

#[test]
fn threads_that_may_be_exchanged_change_no_answer() {
    let (asked, sometimes) = questions(&Enumerate, 40, 25, true);
    eprintln!("{asked} questions, {sometimes} of them sometimes");
    assert!(sometimes > asked / 4 && sometimes < asked * 3 / 4, "{sometimes} of {asked}");
}

/// Whether some outcome has a property, where `known` says what is known of it.
fn exists(test: &Test, model: &Model, known: &dyn Fn(&[Option<Value>]) -> Option<bool>) -> bool {
    let asked = |outcome: &[Option<Value>]| known(outcome) != Some(false);
    let (mut seen, mut found) = (ExecutionFacts::default(), false);
    let visit = &mut |outcome: &[Value], _: &dyn Fn() -> engine::witness::Witness| {
        found |= test.proposition.holds(&test.program, outcome);
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let (program, limits) = (&test.program, Limits::unlimited(BOUND));
    Enumerate
        .search(
            model,
            program,
            &limits,
            Sought::Outcomes(&asked, &Vec::new, &Demand::NONE),
            &mut seen,
            visit,
        )
        .expect("no limit is reached");
    found
}

/// The comparison finds what it is for: an evaluation that takes what is not known for zero.
#[test]
fn a_wrong_evaluation_is_found_out() {
    let model = ptx::model();
    let wrong = Cell::new(0);
    let dice = Cell::new(1);
    law("directed, evaluated wrongly", &[SMALL], 30, |sketch| {
        let mut test = parse(sketch);
        let Some(full) = full(&model, &test.program) else { return Ok(()) };
        let mut mine = Dice(dice.get());
        dice.set(dice.get() + 1);
        ask(&mut mine, &mut test, &full);
        let program = &test.program;
        let some = full.outcomes.iter().any(|outcome| test.proposition.holds(program, outcome));
        let right = exists(&test, &model, &|values| test.proposition.known(program, values));
        assert_eq!(right, some);
        let guess = |values: &[Option<Value>]| {
            let known: Vec<Value> = values.iter().map(|value| value.unwrap_or(0)).collect();
            Some(test.proposition.holds(program, &known))
        };
        wrong.set(wrong.get() + usize::from(exists(&test, &model, &guess) != some));
        Ok(())
    });
    assert!(wrong.get() > 0, "no question tells the evaluations apart");
}

/// Four threads that each take a ticket, wait for their turn, and increment a counter without atomics.
fn ticket_lock() -> Test {
    let lines = [
        "atom.relaxed.gpu.add.u32 t, [next], 1",
        "L: ld.acquire.gpu.u32 s, [serving]",
        "setp.ne.u32 p, s, t",
        "@p bra L",
        "ld.weak.u32 d, [data]",
        "add.u32 e, d, 1",
        "st.weak.u32 [data], e",
        "add.u32 u, t, 1",
        "st.release.gpu.u32 [serving], u",
    ];
    let mut text =
        "PTX ticket\n{\nuint32_t next=0; uint32_t serving=0; uint32_t data=0;\n}\n".to_owned();
    text += "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 | P3@cta 3,gpu 0 ;\n";
    text.extend(lines.iter().map(|line| format!("{} ;\n", [*line; 4].join(" | "))));
    text += "exists (P0:d=0 /\\ P1:d=0)\n";
    parsed(&text)
}

fn parsed(text: &str) -> Test {
    litmus::parse("test.litmus", text.as_bytes()).expect("the test is well formed")
}

/// What `solve` is asked: of a disjunction over constants, of counters in memory, of values that paths assume.
fn questions_of_one_structure() -> [Test; 3] {
    let columns = |of: &[&str]| format!("{} ;\n", of.join(" | "));
    let places = |many: usize| -> String {
        (0..many).map(|t| format!("P{t}@cta {t},gpu 0")).collect::<Vec<_>>().join(" | ") + " ;\n"
    };
    let readers = 5;
    let mut any = "PTX any\n{\nuint32_t x=0; uint32_t y=0;\n}\n".to_owned() + &places(readers + 1);
    for (write, read) in [
        ("st.relaxed.gpu.u32 [x], 1", "ld.acquire.gpu.u32 r0, [y]"),
        ("st.release.gpu.u32 [y], 1", "ld.relaxed.gpu.u32 r1, [x]"),
    ] {
        let mut row = vec![write];
        row.extend([read].repeat(readers));
        any += &columns(&row);
    }
    let stale: Vec<String> = (1..=readers).map(|t| format!("(P{t}:r0=1 /\\ P{t}:r1=0)")).collect();
    any += &["exists (", &stale.join(" \\/ "), ")\n"].concat();
    let mut count = "PTX count\n{\nuint32_t x=0;\n}\n".to_owned() + &places(4);
    count += &columns(&["red.relaxed.gpu.add.u32 [x], 1"; 4]);
    count += "exists (x=3)\n";
    [parsed(&any), parsed(&count), ticket_lock()]
}

/// Without clauses for values, `solve` asks for each way not to meet the condition, or not to keep what paths
/// assume: 32 times, 24 times, and once for most sources of the reads of the lock.
#[test]
fn one_question_to_the_solver_decides_a_structure() {
    let Some(solve) = ENGINES.iter().find(|engine| engine.name() == "solve") else { return };
    for test in questions_of_one_structure() {
        let program = &test.program;
        let asked =
            |outcome: &[Option<Value>]| test.proposition.known(program, outcome) != Some(false);
        let demand = directed::demand(program, &test.proposition, true);
        let limits = Limits { work: Some(1), unending: false, ..Limits::unlimited(BOUND) };
        let mut seen = ExecutionFacts::default();
        let visit =
            &mut |_: &[Value], _: &dyn Fn() -> engine::witness::Witness| ControlFlow::Break(());
        let sought = Sought::Outcomes(&asked, &Vec::new, &demand);
        let searched = solve.search(&ptx::model(), program, &limits, sought, &mut seen, visit);
        assert_eq!(searched, Ok(()), "{}", test.name);
        assert!(!seen.finishes, "{}: an execution was looked at", test.name);
    }
}

/// Atomics that read one write, and mixtures of writes that are ordered in any case, are found inconsistent as soon as
/// their reads have a source: with all reads given sources first, the search takes four million candidates.
#[test]
fn a_ticket_lock_is_searched_in_few_candidates() {
    let test = ticket_lock();
    let asked =
        |outcome: &[Option<Value>]| test.proposition.known(&test.program, outcome) != Some(false);
    let alike = || vec![vec![ThreadId(0), ThreadId(1)], vec![ThreadId(2), ThreadId(3)]];
    let limits = Limits { work: Some(10_000), unending: false, ..Limits::unlimited(BOUND) };
    let mut seen = ExecutionFacts::default();
    let visit = &mut |outcome: &[Value], _: &dyn Fn() -> engine::witness::Witness| {
        assert!(!test.proposition.holds(&test.program, outcome), "two threads were in the lock");
        ControlFlow::Continue(())
    };
    let sought = Sought::Outcomes(&asked, &alike, &Demand::NONE);
    let searched =
        Enumerate.search(&ptx::model(), &test.program, &limits, sought, &mut seen, visit);
    assert_eq!(searched, Ok(()));
}

/// Each outcome is looked for once: twelve cells that are not observed have 4,096 executions of each of their outcomes.
#[test]
fn what_is_not_observed_is_completed_once() {
    let cells = 12;
    let mut rows: Vec<[String; 2]> = (0..cells)
        .map(|i| [format!("st.weak.u32 [c{i}], 1"), format!("ld.weak.u32 r{i}, [c{i}]")])
        .collect();
    rows.push(["st.release.gpu.u32 [f], 1".to_owned(), String::new()]);
    rows.insert(0, [String::new(), "ld.acquire.gpu.u32 r, [f]".to_owned()]);
    let variables: Vec<String> = (0..cells).map(|i| format!("uint32_t c{i}=0;")).collect();
    let mut source = format!("PTX WIDE\n{{\n{}\nuint32_t f=0;\n}}\n", variables.join("\n"));
    source += "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n";
    source.extend(rows.iter().map(|row| row.join(" | ") + " ;\n"));
    let test = parsed(&(source + "exists (P1:r=1 /\\ P1:r0=0)\n"));
    let model = ptx::model();
    let limits = Limits { work: Some(500), ..Limits::unlimited(BOUND) };
    let found = directed::outcomes(&test, limits, &Enumerate, &model);
    assert_eq!((found.limit, found.outcomes.len()), (None, 3));
}
