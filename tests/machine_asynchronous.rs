//! The machine with asynchronous operations and mbarrier objects, against the axioms.

use ::explore::{ExploreLimits, explore};
use judge::stuck;
use litmus::Test;
use litmus::arbitrary::asynchronous::{self, AsyncSketch};
use machine::{Home, Options, Reduce};
use model::isa::Instruction;
use model::ptx;
use proptest::strategy::{Strategy, ValueTree};
use reach::{Inclusion, compare};
use sass::lower::Lowering;

use crate::agree::{number, runner};
use crate::asynchronous::parse;
use crate::machine::judged;
use crate::suite;

const LIMITS: ExploreLimits = ExploreLimits::states(50_000);

fn is_asynchronous(test: &Test) -> bool {
    let mut lines = test.program.threads.iter().flat_map(|thread| &thread.lines);
    lines.any(|line| matches!(line.instruction, Instruction::Asynchronous(_)))
}

/// Machines with each of the choices about stores, fences, loads and memory.
fn machines() -> Vec<(u16, Options)> {
    let default = Options::default();
    vec![
        (90, default),
        (100, Options { store_buffers: true, ..default }),
        (90, Options { lazy_all: true, weak_pass: false, ..default }),
        (90, Options { home: Some(Home::Host), ..default }),
        (90, Options { home: Some(Home::Gpu(1)), copies: true, ..default }),
        (90, Options { eviction: false, warm: false, ..default }),
        (90, Options { store_buffers: true, lazy_all: true, one_sm: true, ..default }),
    ]
}

/// Counts of what was compared.
#[derive(Default)]
struct Coverage {
    included: usize,
    reached: usize,
    allowed: usize,
}

impl Coverage {
    fn add(&mut self, inclusion: &Inclusion) {
        if let Inclusion::Included { reached, allowed } = inclusion {
            self.included += 1;
            self.reached += reached;
            self.allowed += allowed;
        }
    }
}

/// Every machine that a test of the suite says something about is in `machine::every_outcome_of_the_machine_is_allowed`;
/// here, how many of these tests run, and how much of what the axioms allow they show.
#[test]
fn the_tests_of_asynchronous_operations_run() {
    let model = ptx::model();
    let (mut coverage, mut refused) = (Coverage::default(), 0);
    for entry in suite::load(&suite::folder()) {
        if !is_asynchronous(&entry.test) {
            continue;
        }
        let lowering = Lowering::of(90).expect("there is a table");
        let axioms = judged(&entry.test, &model);
        let (inclusion, _) = compare(&entry.test, &axioms, lowering, Options::default(), LIMITS);
        refused += usize::from(matches!(inclusion, Inclusion::Refused(_)));
        coverage.add(&inclusion);
    }
    let Coverage { included, reached, allowed } = coverage;
    eprintln!("{included} tests included, {refused} refused, {reached} of {allowed} outcomes");
    assert!(included >= 98, "only {included} tests were compared");
}

fn sketch(runner: &mut proptest::test_runner::TestRunner) -> AsyncSketch {
    asynchronous::asynchronous().new_tree(runner).expect("a program is drawn").current()
}

#[test]
fn no_random_asynchronous_program_leaves_the_axioms() {
    let model = ptx::model();
    let mut runner = runner(number("CAUSEWAY_SEED", 30));
    let machines = machines();
    let mut coverage = Coverage::default();
    let cases = number("CAUSEWAY_CASES", 2_000);
    for case in 0..cases {
        let sketch = sketch(&mut runner);
        let test = parse(&sketch);
        let axioms = judged(&test, &model);
        let place = usize::try_from(case).expect("there are few cases") % machines.len();
        let (sm, options) = machines[place];
        let lowering = Lowering::of(sm).expect("there is a table");
        let (inclusion, explored) = compare(&test, &axioms, lowering, options, LIMITS);
        if let Inclusion::Extra(extra) = &inclusion {
            let outcome = test.display_outcome(&extra[0].0);
            panic!("{options:?} on sm_{sm}: the axioms forbid {outcome}\n{sketch}");
        }
        // What a run finds to be without meaning the axioms call undefined.
        let faults = explored.map_or(0, |explored| explored.faults);
        assert_eq!(faults, 0, "{options:?} on sm_{sm}: a run faults\n{sketch}");
        coverage.add(&inclusion);
    }
    let Coverage { included, reached, allowed } = coverage;
    eprintln!("{included} of {cases} programs included, {reached} of {allowed} outcomes");
    assert!(4 * u64::try_from(included).expect("it is small") > cases, "only {included} compared");
}

#[test]
fn no_reduction_loses_an_outcome_of_copies() {
    let mut runner = runner(number("CAUSEWAY_SEED", 31));
    let mut compared = 0;
    for case in 0..number("CAUSEWAY_CASES", 700) {
        let sketch = sketch(&mut runner);
        let test = parse(&sketch);
        let lowering = Lowering::of(90).expect("there is a table");
        let home = (case % 2 == 0).then_some(Home::Host);
        let explored = [Reduce::None, Reduce::Por, Reduce::All].map(|reduce| {
            let options = Options { reduce, home, ..Options::default() };
            explore(&test.program, lowering, options, LIMITS).expect("it runs")
        });
        if explored.iter().any(|explored| explored.limit.is_some()) {
            continue;
        }
        compared += 1;
        let [all, some, fewest] = explored.map(|explored| explored.outcomes);
        assert!(all.keys().eq(some.keys()), "steps at once lose an outcome\n{sketch}");
        assert!(all.keys().eq(fewest.keys()), "equal threads lose an outcome\n{sketch}");
    }
    assert!(compared > 500, "only {compared} programs were compared");
}

/// A fault is at the line of its operation: the last one of a thread, one with others after it, and one that completes later.
#[test]
fn a_fault_is_at_the_line_of_its_operation() {
    let fault = |rows: &str| {
        let source = format!(
            "PTX fault\n{{\n.shared .mbarrier b; .shared .b32 s[4]; .global .b32 g[4]; x=0;\n}}\n \
             P0@cta 0,cluster 0,gpu 0 ;\n {rows}\nexists (x=1)\n"
        );
        let test = litmus::parse("fault", source.as_bytes())
            .unwrap_or_else(|errors| panic!("{source}\n{}", errors[0]));
        let lowering = Lowering::of(90).expect("there is a table");
        let explored = explore(&test.program, lowering, Options::default(), LIMITS);
        let explored = explored.expect("it runs");
        assert!(explored.outcomes.is_empty(), "{rows}");
        stuck::fault(&test, &explored.fault_at.expect("it faults"))
    };
    let arrive = "mbarrier.arrive.shared::cta.b64 _, [b]";
    let copy = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [g], 16, [b]";
    for (rows, line) in [
        (format!("{arrive} ;"), arrive),
        (format!("{arrive} ;\n st.weak.u32 [x], 1 ;"), arrive),
        (format!("{copy} ;"), copy),
        (format!("{copy} ;\n st.weak.u32 [x], 1 ;"), copy),
    ] {
        assert_eq!(fault(&rows), format!("no thread can go on: P0 faults at `{line}`"));
    }
}

/// What the machine does not have it refuses, with the reason.
#[test]
fn what_the_machine_does_not_have_is_refused() {
    let refused = |line: &str, sm: u16| {
        let source = format!(
            "PTX refused\nArch=sm_90a\n{{\n.shared .mbarrier b={{1}}; .shared .b32 s[4]; .global .b32 g[4];\n}}\n \
             P0@cta 0,cluster 0,gpu 0 ;\n {line} ;\nexists (g[0]=1)\n"
        );
        let test = litmus::parse("refused", source.as_bytes())
            .unwrap_or_else(|errors| panic!("{source}\n{}", errors[0]));
        let lowering = Lowering::of(sm).expect("there is a table");
        match explore(&test.program, lowering, Options::default(), LIMITS) {
            Err(machine::Refusal::Lowering { why, .. }) => why,
            other => panic!("{line}: {other:?}"),
        }
    };
    for (line, why) in [
        (
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [g], [s], 16",
            "this machine has no asynchronous reductions",
        ),
        (
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [s], 1, [b]",
            "this machine has no asynchronous stores",
        ),
        ("wgmma.fence.sync.aligned", "this machine has no matrix multiplications"),
    ] {
        assert_eq!(refused(line, 90), why);
    }
    let none = refused("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [b]", 80);
    assert!(none.starts_with("the table has no row for `mbarrier.arrive.relaxed"), "{none}");
}
