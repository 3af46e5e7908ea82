//! The search for a verdict alone, held to the search for all outcomes.

use std::cell::Cell;
use std::ops::ControlFlow;

use ::fuzz::draw::{Dice, SMALL};
use ::fuzz::law::FuzzSetting;
use ::fuzz::law::directed::{full, question};
use engine::enumerate::Enumerate;
use engine::sought::{Demand, Sought};
use engine::{ENGINES, Engine, ExecutionFacts, Limits};
use judge::{Task, directed, run};
use litmus::Test;
use model::program::ThreadId;
use model::ptx;
use model::rel::Model;
use model::value::Value;

use crate::agree::{BOUND, holds, law, parse};
use crate::suite::{self, Entry};

#[test]
fn directed_search_answers_as_the_full_search() {
    holds("directed", 4_000);
}

#[test]
fn threads_that_may_be_exchanged_change_no_answer() {
    holds("exchange", 2_000);
}

/// Executions with one outcome may differ in what a model reports.
#[test]
fn both_engines_report_every_pair_of_a_flag() {
    let text = "\"flags\" include \"cos.cat\" acyclic po-loc | rf | fr | co as coherence \
                flag ~empty fr & ext as external-fr flag ~empty rf & ext as external-rf \
                flag ~empty [W]; co; [W] as overwritten";
    let model = cat::import("flags.cat", text).expect("it is a model");
    let mut pairs = 0;
    for section in ["atomicity-axiom", "coherence-order", "communication-order"] {
        for Entry { path, test, .. } in suite::load(&suite::folder().join(section)) {
            let task = Task { counts: false, blame: false, ..suite::task(&model) };
            let flags = |engine: &&dyn Engine| run(&test, &task, *engine, &model).seen.flags;
            let all: Vec<_> = ENGINES.iter().map(flags).collect();
            assert!(all.iter().all(|of| *of == all[0]), "{}: {all:?}", path.display());
            pairs += all[0].len();
        }
    }
    assert!(pairs > 500, "{pairs} pairs");
}

/// Questions are answered in either way.
#[test]
fn questions_are_not_vacuous() {
    let setting = FuzzSetting::default();
    let (asked, sometimes) = (Cell::new(0), Cell::new(0));
    law("questions", &[SMALL], 100, |sketch| {
        let mut test = parse(sketch);
        let Ok(full) = full(&setting, &test.program) else { return Ok(()) };
        let mut dice = Dice::new(asked.get());
        question(&mut dice, &mut test, &full);
        asked.set(asked.get() + 1);
        let holds = |outcome: &Vec<Value>| test.proposition.holds(&test.program, outcome);
        sometimes.set(sometimes.get() + u64::from(full.outcomes.iter().any(holds)));
        Ok(())
    });
    let (asked, sometimes) = (asked.get(), sometimes.get());
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
    let (model, setting) = (ptx::model(), FuzzSetting::default());
    let wrong = Cell::new(0);
    let dice = Cell::new(1);
    law("directed, evaluated wrongly", &[SMALL], 30, |sketch| {
        let mut test = parse(sketch);
        let Ok(full) = full(&setting, &test.program) else { return Ok(()) };
        let mut mine = Dice::new(dice.get());
        dice.set(dice.get() + 1);
        question(&mut mine, &mut test, &full);
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

/// Questions for `solve`: of a disjunction over constants, of counters in memory, of values that paths assume.
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
