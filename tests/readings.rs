//! Readings that can be switched: the suite says which verdicts rest on them, the page has them all, and
//! what a choice claims to strengthen or to weaken it does.

use std::fmt::Write as _;
use std::fs;

use engine::ENGINES;
use engine::enumerate::Enumerate;
use execution::event::{EventKind, PathEvent};
use execution::expr::Expr;
use execution::path::{Assumption, Path};
use execution::unfold::Unfolded;
use judge::{Task, alternatives, judge, may_matter};
use model::ptx;
use model::reading::{self, Readings};
use model::rel::Model;
use model::value::Value;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::agree::{Answer, LONG, MIXED, SMALL, WIDE, ask, law, parse};
use crate::suite;

pub(crate) fn chosen(text: &str) -> Readings {
    text.split(", ").filter(|text| !text.is_empty()).fold(Readings::default(), |readings, text| {
        readings.switch(text).unwrap_or_else(|| panic!("{text} is not a choice"))
    })
}

/// A verdict of the suite that rests on a reading says so: `Readings=`.
#[test]
fn the_suite_says_what_rests_on_a_reading() {
    let model = ptx::model();
    let alternatives = alternatives(Readings::default());
    let task = Task {
        engines: vec![&Enumerate],
        alternatives: &alternatives,
        rests: true,
        races: false,
        ..suite::task(&model)
    };
    let (mut wrong, mut stated) = (String::new(), 0);
    for entry in suite::load(&suite::folder()) {
        let judgement = judge(&entry.test, &task);
        let rests = judgement.resting.expect("it was asked").names().join(", ");
        let says = entry.test.meta("Readings").unwrap_or_default();
        stated += usize::from(!says.is_empty());
        if says != rests {
            let path = entry.path.display();
            writeln!(wrong, "{path}: says `{says}`, rests on `{rests}`")
                .expect("strings are written");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(stated > 15, "only {stated} tests rest on a reading");
}

/// The checks that spare judging again spare nothing that counts: on the suite verdicts, of random
/// programs all outcomes are the same where a choice is passed over.
#[test]
fn what_is_passed_over_does_not_matter() {
    let model = ptx::model();
    let alternatives = alternatives(Readings::default());
    let task = Task { engines: vec![&Enumerate], blame: false, ..suite::task(&model) };
    let mut passed_over = 0;
    for entry in suite::load(&suite::folder()) {
        for alternative in &alternatives {
            if may_matter(&entry.test.program, &task, alternative) {
                continue;
            }
            passed_over += 1;
            let other = Task { model: alternative.model(), ..suite::task(&model) };
            let other = Task { engines: vec![&Enumerate], blame: false, ..other };
            let (one, other) = (judge(&entry.test, &task), judge(&entry.test, &other));
            let path = entry.path.display();
            assert_eq!(one.verdict, other.verdict, "{path}: {}", alternative.model().name);
            assert_eq!(one.found.outcomes, other.found.outcomes, "{path}");
        }
    }
    assert!(passed_over > 2_000, "only {passed_over} were passed over");
    law("passed over", &[SMALL, LONG, WIDE], 150, |program| {
        let test = parse(program);
        let one = ask(&Enumerate, &model, &test)?;
        for alternative in &alternatives {
            if may_matter(&test.program, &task, alternative) {
                continue;
            }
            let other = ask(&Enumerate, alternative.model(), &test)?;
            if one != other {
                return Err(format!("{}: {one:?} and {other:?}", alternative.model().name));
            }
        }
        Ok(())
    });
}

/// For every choice but the default a test of the suite shows what it is worth.
#[test]
fn every_choice_changes_a_verdict_of_the_suite() {
    let tests = suite::load(&suite::folder());
    let model = ptx::model();
    let verdict = |test: &litmus::Test, model: &Model| {
        let task = Task { engines: vec![&Enumerate], blame: false, ..suite::task(model) };
        judge(test, &task).verdict
    };
    for reading in reading::ALL {
        for choice in &reading.choices[1..] {
            let other = ptx::under(chosen(&format!("{}={}", reading.name, choice.name)));
            let changes =
                |entry: &suite::Entry| verdict(&entry.test, &model) != verdict(&entry.test, &other);
            assert!(tests.iter().any(changes), "{}={}", reading.name, choice.name);
        }
    }
}

/// `UPDATE=1` rewrites the table.
#[test]
fn the_page_has_every_choice() {
    let path = suite::root().join("docs/readings.md");
    let page = fs::read_to_string(&path).expect("the page can be read");
    let table = reading::markdown();
    if std::env::var_os("UPDATE").is_some() {
        let start = page.find("| Choice | ").expect("the table is there");
        let end = page[start..].find("\n\n").map_or(page.len(), |end| start + end + 1);
        let page = format!("{}{table}{}", &page[..start], &page[end..]);
        fs::write(&path, page).expect("the page can be written");
        return;
    }
    assert!(page.contains(&table), "run this test with UPDATE=1");
    let word = |reading: &reading::Reading| format!("| {} | ", reading.name);
    assert!(reading::ALL.iter().all(|reading| page.contains(&word(reading))));
}

/// Each forbids what the one before it forbids, and may forbid more.
const CHAINS: &[&[&str]] = &[
    &["R13=none", "R13=semantic", "R13=syntactic"],
    &["R7=unrelated", "R7=transitive", "R7=total"],
    &["R6=virtual", "R6=physical"],
    &["R23=nothing", "R23=releases"],
];

#[test]
fn choices_weaken_and_strengthen() {
    for chain in CHAINS {
        let models: Vec<Model> = chain.iter().map(|text| ptx::under(chosen(text))).collect();
        law(chain[0], &[SMALL, LONG, WIDE], 120, |program| {
            let test = parse(program);
            let mut before: Option<Answer> = None;
            for (model, name) in models.iter().zip(*chain) {
                let now = ask(&Enumerate, model, &test)?;
                if let (Some(Answer::Outcomes(before)), Answer::Outcomes(now)) = (&before, &now)
                    && let Some(more) = now.difference(before).next()
                {
                    return Err(format!("{name} adds {more:?}"));
                }
                before = Some(now);
            }
            Ok(())
        });
    }
}

#[test]
fn engines_agree_whatever_is_chosen() {
    if ENGINES.len() < 2 {
        eprintln!("skipped: this build has one engine");
        return;
    }
    for reading in reading::ALL {
        for choice in &reading.choices[1..] {
            let model = ptx::under(chosen(&format!("{}={}", reading.name, choice.name)));
            law(&model.name, &[SMALL, WIDE, MIXED], 60, |program| {
                let test = parse(program);
                let answers: Vec<Answer> = ENGINES
                    .iter()
                    .map(|engine| ask(*engine, &model, &test))
                    .collect::<Result<_, String>>()?;
                let differ = answers.iter().any(|answer| *answer != answers[0]);
                if differ { Err(format!("{answers:?}")) } else { Ok(()) }
            });
        }
    }
}

/// One instruction of a random thread that has loaded r0, r1 and r2.
fn instruction() -> impl Strategy<Value = String> {
    let register = || (0..5u8).prop_map(|r| format!("r{r}"));
    let operand = move || prop_oneof![3 => register(), 1 => (0..3u8).prop_map(|v| v.to_string())];
    let op = prop::sample::select(vec![
        "xor.b32",
        "and.b32",
        "or.b32",
        "add.u32",
        "sub.u32",
        "mul.lo.u32",
    ]);
    let guard = prop::sample::select(vec!["", "", "@p ", "@!p ", "@q "]);
    let store = (guard.clone(), prop::sample::select(vec!["x", "y"]), operand())
        .prop_map(|(guard, place, value)| format!("{guard}st.weak.u32 [{place}], {value}"));
    let comparison = prop::sample::select(vec!["eq", "ne", "lt"]);
    prop_oneof![
        3 => (guard, op, register(), register(), operand())
            .prop_map(|(guard, op, to, a, b)| format!("{guard}{op} {to}, {a}, {b}")),
        2 => (prop::sample::select(vec!["p", "q"]), comparison, register(), operand())
            .prop_map(|(to, how, a, b)| format!("setp.{how}.u32 {to}, {a}, {b}")),
        1 => (register(), operand(), operand())
            .prop_map(|(to, a, b)| format!("selp.b32 {to}, {a}, {b}, p")),
        3 => store,
        // Forward, past two lines at most.
        2 => (prop::sample::select(vec!["@p ", "@!p ", "@q "]), 1..3usize)
            .prop_map(|(guard, by)| format!("{guard}bra +{by}")),
    ]
}

/// A thread as a column, its branches to the labels that they mean.
fn thread(instructions: &[String]) -> String {
    let mut lines: Vec<String> = (0..3).map(|r| format!("ld.weak.u32 r{r}, [l{r}]")).collect();
    lines.push("setp.eq.u32 p, r0, 1".to_owned());
    lines.push("setp.eq.u32 q, r1, 1".to_owned());
    lines.push("mov.u32 r3, 1".to_owned());
    lines.push("mov.u32 r4, 0".to_owned());
    let first = lines.len();
    let last = first + instructions.len();
    for (at, text) in instructions.iter().enumerate() {
        lines.push(match text.split_once('+') {
            Some((head, by)) => {
                let by: usize = by.parse().expect("a small number");
                format!("{head}L{}", (first + at + 1 + by).min(last))
            }
            None => text.clone(),
        });
    }
    lines.push("mov.u32 r4, r4".to_owned());
    let label = |(at, line): (usize, &String)| {
        let label = if at > first { format!("L{at}: ") } else { String::new() };
        format!(" {label}{line} ;\n")
    };
    let body: String = lines.iter().enumerate().map(label).collect();
    format!(
        "PTX random\n{{\nx=0; y=0; l0=0; l1=0; l2=0;\n}}\n P0@cta 0 ;\n{body}exists (P0:r4=0)\n"
    )
}

/// What the loads of l0, l1 and l2 return.
type Loaded = [Value; 3];

fn eval(path: &Path, loaded: Loaded, expr: execution::expr::ExprId) -> Value {
    let value = path.exprs.eval(expr, &mut |leaf| match leaf {
        Expr::Read(read) => Some(loaded[usize::from(read)]),
        Expr::Const(_)
        | Expr::Reduced(_)
        | Expr::Alu { .. }
        | Expr::Atomic { .. }
        | Expr::Extend { .. } => None,
    });
    value.expect("all is known")
}

/// Whether a thread that loads this takes the path.
fn takes(path: &Path, loaded: Loaded) -> bool {
    path.checks.iter().all(|check| match check {
        Assumption::Truth(expr, expected) => (eval(path, loaded, *expr) != 0) == *expected,
        Assumption::Equals(expr, expected) => eval(path, loaded, *expr) == *expected,
        Assumption::NoneOf(expr, values) => !values.contains(&eval(path, loaded, *expr)),
    })
}

/// The stores of a path: where, and what.
fn stores(path: &Path, loaded: Loaded) -> Vec<(u16, Value, &PathEvent)> {
    let write = |event: &&PathEvent| event.kind == EventKind::Write;
    let writes = path.events.iter().filter(write);
    let one = |event: &'_ PathEvent| {
        let value = event.value.expect("a store has a value");
        let place = event.access.expect("a store has a place").pa.object;
        (place, eval(path, loaded, value) & 0xffff_ffff)
    };
    writes
        .map(|event| (one(event), event))
        .map(|((place, value), event)| (place, value, event))
        .collect()
}

/// What is said not to depend on a load is done whatever the load returns: as many stores to the place
/// before it, and the same value.
fn check(source: &str) -> Result<(usize, usize), String> {
    let test = litmus::parse("random", source.as_bytes())
        .unwrap_or_else(|errors| panic!("a random thread does not parse: {}\n{source}", errors[0]));
    let paths = |readings: Readings| -> Vec<Path> {
        let conventions = ptx::under(readings).conventions;
        let unfolded = Unfolded::new(&test.program, conventions, 2).expect("it is small");
        unfolded.paths[0].clone()
    };
    let (all, semantic) = (paths(Readings::default()), paths(chosen("R13=semantic")));
    let domain: Vec<Loaded> =
        (0..27).map(|n| [n % 3, n / 3 % 3, n / 9].map(|v: u8| Value::from(v))).collect();
    let path_of = |loaded: Loaded| {
        let at = all.iter().position(|path| takes(path, loaded));
        at.expect("a thread takes some path")
    };
    let (mut kept, mut dropped) = (0, 0);
    for &loaded in &domain {
        let at = path_of(loaded);
        let less = stores(&semantic[at], loaded);
        for (index, &(place, value, event)) in stores(&all[at], loaded).iter().enumerate() {
            let syntactic = event.addr | event.data | event.ctrl;
            let left = less[index].2;
            let left = left.addr | left.data | left.ctrl;
            if left & !syntactic != 0 {
                return Err("a dependency of values is not one of instructions".to_owned());
            }
            let which = stores(&all[at], loaded)[..index].iter().filter(|s| s.0 == place).count();
            for read in (0..3).filter(|read| syntactic >> read & 1 == 1) {
                if left >> read & 1 == 1 {
                    kept += 1;
                    continue;
                }
                dropped += 1;
                for other in 0..3 {
                    let mut changed = loaded;
                    changed[read] = other;
                    let there = stores(&all[path_of(changed)], changed);
                    let same = there.iter().filter(|s| s.0 == place).nth(which);
                    if same.is_none_or(|same| same.1 != value) {
                        return Err(format!(
                            "`{}` depends on r{read}: loads of {loaded:?} and {changed:?}",
                            test.program.threads[0].lines[usize::from(event.line)].text
                        ));
                    }
                }
            }
        }
    }
    Ok((kept, dropped))
}

/// What is taken for independent of a load really is: tried with every value.
#[test]
fn what_is_no_dependency_of_values_changes_nothing() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let config = Config { cases: 3_000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, rng);
    let (kept, dropped) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let result = runner.run(&prop::collection::vec(instruction(), 1..9), |instructions| {
        let text = thread(&instructions);
        let counts = check(&text);
        let (k, d) = counts.map_err(|why| TestCaseError::fail(format!("{why}\n{text}")))?;
        kept.set(kept.get() + k);
        dropped.set(dropped.get() + d);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    // Both happen, or the law says nothing.
    assert!(kept.get() > 1_000 && dropped.get() > 1_000, "{} and {}", kept.get(), dropped.get());
}

/// Values out of thin air: what is tried stands for all others, or the verdict is left open.
#[test]
fn values_out_of_thin_air_are_judged_for_all_that_they_may_be() {
    const COPIED: &str = "st.relaxed.gpu.u32 [y], r0 | st.relaxed.gpu.u32 [x], r1 ;";
    const MASKED: &str =
        "and.b32 r0, r0, 12 | ;\n st.relaxed.gpu.u32 [y], r0 | st.relaxed.gpu.u32 [x], r1 ;";
    const RACING: &str = "st.weak.u32 [y], r0 | st.weak.u32 [x], r1 ;";
    const GUARDED: &str =
        "setp.eq.u32 p, r0, 0 | ;\n @!p st.relaxed.gpu.u32 [y], r0 | st.relaxed.gpu.u32 [x], r1 ;";
    const LESS: &str =
        "setp.lt.u32 p, r0, 99 | ;\n @!p st.relaxed.gpu.u32 [y], r0 | st.relaxed.gpu.u32 [x], r1 ;";
    let model = ptx::under(chosen("R13=none"));
    let mut wrong = String::new();
    for (body, condition, expected) in [
        (COPIED, "forall (P0:r0=0)", "fails"),
        (COPIED, "~exists (P0:r0!=0)", "fails"),
        (COPIED, "~exists (P0:r0=4294967295)", "fails"),
        // Who copies returns what was copied.
        (COPIED, "~exists (P0:r0!=0 /\\ P1:r1!=P0:r0)", "holds"),
        (COPIED, "exists (P0:r0!=0 /\\ P0:r0!=1 /\\ x!=1)", "holds"),
        // Asked which is the greater, a value stands for no other.
        (COPIED, "~exists (P0:r0>3 /\\ P0:r0<5)", "undecided"),
        (COPIED, "exists (P0:r0>3)", "holds"),
        (GUARDED, "exists (P0:r0!=0)", "holds"),
        (GUARDED, "~exists (P0:r0!=0 /\\ P1:r1=0)", "holds"),
        // 8 is one that the mask leaves, and nobody mentions it.
        (MASKED, "~exists (P0:r0=12)", "fails"),
        (MASKED, "~exists (P1:r1!=0 /\\ P1:r1!=12)", "undecided"),
        (LESS, "~exists (P0:r0=98)", "undecided"),
        // The bytes of a racing read may be of two writes, one of them any.
        (RACING, "~exists (P0:r0!=P1:r1)", "undecided"),
        (RACING, "exists (P0:r0=7)", "holds"),
    ] {
        let program = format!(
            "PTX LB\n{{ x=0; y=0; }}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
             ld.relaxed.gpu.u32 r0, [x] | ld.relaxed.gpu.u32 r1, [y] ;\n {body}\n{condition}\n"
        );
        let test =
            litmus::parse("LB", program.as_bytes()).unwrap_or_else(|all| panic!("{}", all[0]));
        for &engine in ENGINES {
            let judged = judge(&test, &Task { engines: vec![engine], ..suite::task(&model) });
            if judged.verdict.name() != expected {
                let (name, verdict) = (engine.name(), &judged.verdict);
                writeln!(wrong, "{name}: {verdict:?}, not {expected}:\n{program}")
                    .expect("strings are written");
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// What is computed of a load and does not depend on it is not a dependency of values; where that is not decided, it
/// is said.
#[test]
fn dependencies_that_arithmetic_undoes_are_none_of_values() {
    let (model, switched) = (ptx::model(), ptx::under(chosen("R13=semantic")));
    let alternatives = alternatives(Readings::default());
    for (body, fake, open) in [
        ("min.u32 r1, r0, 0", true, false),
        ("and.b32 r1, r0, 2; shr.u32 r1, r1, 2", true, false),
        ("add.u32 r1, r0, 5; sub.u32 r1, r1, r0; sub.u32 r1, r1, 5", true, false),
        ("sub.u32 r1, 7, r0; add.u32 r1, r1, r0; sub.u32 r1, r1, 7", true, false),
        ("xor.b32 r1, r0, 9; xor.b32 r1, r1, r0; xor.b32 r1, r1, 9", true, false),
        ("setp.lt.u32 p, r0, 0; selp.b32 r1, 1, 0, p", true, false),
        ("and.b32 r1, r0, 3; setp.gt.u32 p, r1, 3; selp.b32 r1, 1, 0, p", true, false),
        ("and.b32 r1, r0, 2; setp.eq.u32 p, r1, 1; selp.b32 r1, 1, 0, p", true, false),
        // Negative numbers are less than 0, a bit that is left counts, and so does what was not taken back.
        ("setp.lt.s32 p, r0, 0; selp.b32 r1, 1, 0, p", false, false),
        ("and.b32 r1, r0, 4; shr.u32 r1, r1, 2", false, false),
        ("add.u32 r1, r0, 5; sub.u32 r1, r1, 5", false, false),
        ("and.b32 r1, r0, 3; setp.gt.u32 p, r1, 2; selp.b32 r1, 1, 0, p", false, false),
        // No square has this bit, which is not seen.
        ("mul.lo.u32 r1, r0, r0; and.b32 r1, r1, 2", false, true),
    ] {
        let lines = body.replace("; ", " | ;\n ");
        let program = format!(
            "PTX LB\n{{ x=0; y=0; }}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
             ld.relaxed.gpu.u32 r0, [x] | ld.relaxed.gpu.u32 r1, [y] ;\n {lines} | ;\n \
             add.u32 r1, r1, 1 | ;\n \
             st.relaxed.gpu.u32 [y], r1 | st.relaxed.gpu.u32 [x], r1 ;\n\
             ~exists (P0:r0=1 /\\ P1:r1=1)\n"
        );
        let test = litmus::parse("LB", program.as_bytes())
            .unwrap_or_else(|all| panic!("{}\n{program}", all[0]));
        let judged = judge(&test, &suite::task(&switched));
        // `r0 + 1` of a dependency returns no 1 in the end.
        assert_eq!(judged.verdict.name(), if fake { "fails" } else { "holds" }, "{program}");
        let asked = Task { alternatives: &alternatives, rests: true, ..suite::task(&model) };
        let resting = judge(&test, &asked).resting.expect("it was asked");
        assert_eq!(resting.names().contains(&"R13"), fake, "{program}");
        assert_eq!(resting.open_names().contains(&"R13"), open, "{program}");
    }
}

/// A loop that only counts to two changes no outcome, whatever a dependency is.
#[test]
fn a_loop_beside_changes_no_outcome_under_any_reading_of_dependencies() {
    let counts = ["L: add.u32 k, k, 1", "setp.lt.u32 p, k, 2", "@p bra L"];
    let straight = ["add.u32 k, k, 1", "setp.lt.u32 p, k, 2", "mov.u32 z, 0"];
    let through_own_bytes = |rows: [&str; 3]| {
        let [a, b, c] = rows;
        format!(
            "PTX own\n{{ x=0; y=0; o=0; }}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n {a} | ld.relaxed.gpu.u32 r, [y] ;\n \
             {b} | st.relaxed.gpu.u32 [x], r ;\n {c} | ;\n ld.relaxed.gpu.u32 r, [x] | ;\n st.weak.u32 [o], r | ;\n \
             ld.weak.u32 v, [o] | ;\n sub.u32 v, v, r | ;\n add.u32 v, v, 1 | ;\n st.relaxed.gpu.u32 [y], v | ;\n\
             exists (P0:r=1)"
        )
    };
    // Each thread writes to the counter where it read a value that no count reaches.
    let counter = |rows: [&str; 3]| {
        let [a, b, c] = rows;
        let both = |row: &str| format!(" {row} | {row} ;\n");
        let and = |one: &str, other: &str| format!(" {one} | {other} ;\n");
        let mut text = "PTX counter\n{ n=0; int b[4]={0,0,0,0}; P0:pn=n; P1:pn=n; }\n \
                        P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n"
            .to_owned();
        text += &both("ld.relaxed.gpu.u32 v, [n]");
        text += &and("setp.ne.u32 q, v, 3000", "setp.ne.u32 q, v, 4000");
        text += &both("@q bra E");
        text += &and("sub.u32 w, v, 3000", "sub.u32 w, v, 4000");
        text += &both("mad.wide.u32 a, w, 4, pn");
        text += &and("st.weak.u32 [a], 4000", "st.weak.u32 [a], 3000");
        for row in [a, b, c] {
            text += &both(row);
        }
        text += &both("E: red.relaxed.gpu.add.u32 [n], 1");
        text + "exists (P0:v=3000 /\\ P1:v=4000)"
    };
    let tests = [[counts, straight].map(through_own_bytes), [counts, straight].map(counter)];
    let mut found = String::new();
    for texts in &tests {
        for choice in ["R13=syntactic", "R13=semantic", "R13=none"] {
            let model = ptx::under(chosen(choice));
            let task = Task { engines: vec![&Enumerate], blame: false, ..suite::task(&model) };
            let [with, without] = texts.each_ref().map(|text| {
                let test = litmus::parse("loop.litmus", text.as_bytes());
                judge(&test.unwrap_or_else(|all| panic!("{}", all[0])), &task).verdict
            });
            assert_eq!(with, without, "{choice}");
            writeln!(found, "{choice}: {with:?}").expect("strings are written");
        }
    }
    let of_each = "R13=syntactic: Fails\nR13=semantic: Fails\nR13=none: Holds\n";
    assert_eq!(found, of_each.repeat(2));
}
