//! The machine against the axioms: no run ends as no axiom allows.

use std::cell::Cell;
use std::fmt::Write as _;
use std::time::Duration;

use ::explore::random::{Walks, walk};
use ::explore::{ExploreLimits, explore};
use engine::ENGINES;
use judge::{Judgement, Property, Task, judge};
use litmus::Test;
use litmus::arbitrary::placed::{ProgramKind, placed};
use machine::form::Family;
use machine::{Home, Options, Variant};
use model::ptx;
use model::rel::Model;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use reach::one;
use reach::{Inclusion, compare};
use sass::lower::Lowering;

use crate::{agree, suite};

/// The axioms' side of the comparison: every outcome, no other engine's opinion.
pub(crate) fn judged(test: &Test, model: &Model) -> Judgement {
    allowed(test, model, Some(Duration::from_secs(2)))
}

pub(crate) fn allowed(test: &Test, model: &Model, timeout: Option<Duration>) -> Judgement {
    let engines = ENGINES.iter().copied().filter(|e| e.name() == "enumerate").collect();
    let task = Task {
        model,
        cxx: None,
        engines,
        bound: 3,
        timeout,
        memory: engine::MEMORY,
        property: Property::ProgramSpec,
        verdict_only: false,
        counts: false,
        portfolio: false,
        work: None,
        until: None,
        blame: false,
        alternatives: &[],
        rests: false,
        races: false,
    };
    judge(test, &task)
}

/// Machines of each family, with threads apart and together, and memory near and far.
fn machines() -> Vec<(u16, Options)> {
    let default = Options::default();
    vec![
        (50, default),
        (70, default),
        (80, Options { one_sm: true, ..default }),
        (90, default),
        (90, Options { home: Some(Home::Host), ..default }),
        (90, Options { lazy_cta: true, ..default }),
        (100, Options { home: Some(Home::Gpu(1)), one_sm: true, ..default }),
    ]
}

#[test]
fn every_outcome_of_the_machine_is_allowed() {
    // A few tests of five threads have more; they are explored by hand.
    const LIMITS: ExploreLimits = ExploreLimits::states(20_000);
    let model = ptx::model();
    let (mut included, mut limited, mut stuck, mut wrong) = (0, 0, 0, String::new());
    for entry in suite::load(&suite::folder()) {
        let axioms = judged(&entry.test, &model);
        for (sm, options) in machines() {
            // A test in SASS is of one machine.
            let own = entry.test.sass.as_ref().and_then(litmus::SassTarget::lowering);
            if own.is_some_and(|own| Some(own.family) != Family::of(sm)) {
                continue;
            }
            let lowering = own.or(Lowering::of(sm)).expect("there is a table");
            let (inclusion, explored) = compare(&entry.test, &axioms, lowering, options, LIMITS);
            // What a run misuses the axioms call undefined, and then nothing is explored.
            if let Some((_, misuse)) = explored.and_then(|explored| explored.misused) {
                let name = &entry.test.name;
                writeln!(wrong, "{name} on sm_{sm}: {}", misuse.text())
                    .expect("strings can be written");
            }
            match inclusion {
                Inclusion::Included { .. } => included += 1,
                Inclusion::Limited(_) => limited += 1,
                Inclusion::Undefined(_) | Inclusion::Unsupported(_) | Inclusion::Refused(_) => {}
                Inclusion::Stuck { expected: true, .. } => stuck += 1,
                Inclusion::Stuck { reason, expected: false } => {
                    writeln!(wrong, "{} on sm_{sm}: {reason}", entry.test.name)
                        .expect("strings can be written");
                }
                Inclusion::Extra(extra) => {
                    let outcome = entry.test.display_outcome(&extra[0].0);
                    let name = &entry.test.name;
                    writeln!(wrong, "{name} on sm_{sm}, {options:?}: {outcome}")
                        .expect("strings can be written");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "the axioms forbid, or the machine never ends\n{wrong}");
    assert!(included > 3000 && limited < included / 10, "{included} compared, {limited} not");
    assert!(stuck > 0, "no test that is stuck was run");
}

#[test]
fn no_random_program_leaves_the_axioms() {
    agree::holds("machine", 2_500);
}

#[test]
fn a_run_that_never_ends_is_an_execution_that_never_ends() {
    agree::holds("stuck", 1_500);
}

/// Programs that say where everything is, each handed to `check` with its text.
fn placed_programs(cases: u32, check: impl Fn(&Test, &str) -> Result<(), String>) {
    for kind in ProgramKind::ALL {
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[21; 32]);
        let result = TestRunner::new_with_rng(config, rng).run(&placed(kind), |program| {
            let source = program.to_string();
            let test = litmus::parse("placed", source.as_bytes())
                .unwrap_or_else(|errors| panic!("{source}\n{}", errors[0]));
            check(&test, &source).map_err(|what| TestCaseError::fail(format!("{what}\n{source}")))
        });
        if let Err(error) = result {
            panic!("{}: {error}", kind.name());
        }
    }
}

/// What machine.md calls a matter of progress or of taste: with it or without, the axioms allow all.
#[test]
fn what_no_axiom_asks_for_may_be_otherwise() {
    const LIMITS: ExploreLimits = ExploreLimits::states(20_000);
    let model = ptx::model();
    let default = Options::default();
    let machines: Vec<Options> = Variant::ALL
        .into_iter()
        .map(|variant| Options { variant: Some(variant), ..default })
        .chain([Options { eviction: false, ..default }, Options { warm: false, ..default }])
        .chain([false, true].map(|one_sm| Options { lazy_cta: true, one_sm, ..default }))
        .collect();
    let (turn, included) = (Cell::new(0), Cell::new(0));
    placed_programs(200, |test, _| {
        let axioms = judged(test, &model);
        turn.set(turn.get() + 1);
        let options = machines[turn.get() % machines.len()];
        let lowering = Lowering::of(90).expect("there is a table");
        match compare(test, &axioms, lowering, options, LIMITS).0 {
            Inclusion::Extra(extra) => {
                let outcome = test.display_outcome(&extra[0].0);
                return Err(format!("{options:?}: the axioms forbid {outcome}"));
            }
            Inclusion::Included { .. } => included.set(included.get() + 1),
            Inclusion::Undefined(_)
            | Inclusion::Unsupported(_)
            | Inclusion::Refused(_)
            | Inclusion::Stuck { .. }
            | Inclusion::Limited(_) => {}
        }
        Ok(())
    });
    assert!(included.get() > 700, "{} compared", included.get());
}

/// A loop until a flag is set, on a machine that loses no line by itself: who passes L1 sees the flag
/// in the end, and who does not may look at an old line for ever.
#[test]
fn strong_loads_see_a_flag_in_the_end() {
    const LIMITS: ExploreLimits =
        ExploreLimits { progress: true, ..ExploreLimits::states(100_000) };
    let endless = |load: &str, store: &str, sm: u16, options: Options| {
        let source = format!(
            "PTX spin\n{{ f=0; }}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
             {store}.u32 [f], 1 | L: {load}.u32 r0, [f] ;\n | setp.eq.u32 p, r0, 0 ;\n | @p bra L ;\n\
             exists (P1:r0=1)\n"
        );
        let test = litmus::parse("spin", source.as_bytes()).expect("it parses");
        let lowering = Lowering::of(sm).expect("there is a table");
        let explored = explore(&test.program, lowering, options, LIMITS).expect("it runs");
        assert_eq!((explored.limit, explored.stuck), (None, 0), "{load} on sm_{sm}");
        let endless = explored.endless.expect("it was asked for") > 0;
        assert!(endless || explored.outcomes.len() == 1, "{load} on sm_{sm}");
        endless
    };
    let keeps = Options { eviction: false, ..Options::default() };
    for sm in [50, 70, 80, 90, 100] {
        for load in ["ld.volatile", "ld.weak.cv", "ld.weak.cg"] {
            assert!(!endless(load, "st.weak", sm, keeps), "{load} on sm_{sm}");
        }
        assert!(endless("ld.weak", "st.weak", sm, keeps), "weak on sm_{sm}");
        assert!(!endless("ld.weak", "st.weak", sm, Options::default()), "weak on sm_{sm}");
        assert!(!endless("ld.weak", "st.weak", sm, Options { one_sm: true, ..keeps }));
    }
    for sm in [70, 80, 90, 100] {
        for load in ["ld.relaxed.gpu", "ld.relaxed.sys", "ld.acquire.gpu", "ld.mmio.relaxed.sys"] {
            assert!(!endless(load, "st.relaxed.gpu", sm, keeps), "{load} on sm_{sm}");
        }
    }
}

/// Shapes, each with the outcome that tells it, at a strength that forbids it nowhere.
const SHAPES: &[(&str, &str, &str)] = &[
    (
        "MP",
        "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ; st.W.u32 [x], 1 | ld.R.u32 r0, [y] ; st.W.u32 [y], 1 | ld.R.u32 r1, [x] ;",
        "P1:r0=1 /\\ P1:r1=0",
    ),
    (
        "SB",
        "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ; st.W.u32 [x], 1 | st.W.u32 [y], 1 ; ld.R.u32 r0, [y] | ld.R.u32 r1, [x] ;",
        "P0:r0=0 /\\ P1:r1=0",
    ),
    (
        "LB",
        "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ; ld.R.u32 r0, [x] | ld.R.u32 r1, [y] ; st.W.u32 [y], 1 | st.W.u32 [x], 1 ;",
        "P0:r0=1 /\\ P1:r1=1",
    ),
    (
        "S",
        "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ; st.W.u32 [x], 2 | ld.R.u32 r0, [y] ; st.W.u32 [y], 1 | st.W.u32 [x], 1 ;",
        "P1:r0=1 /\\ x=2",
    ),
    (
        "R",
        "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ; st.W.u32 [x], 1 | st.W.u32 [y], 2 ; st.W.u32 [y], 1 | ld.R.u32 r0, [x] ;",
        "P1:r0=0 /\\ y=2",
    ),
    (
        "2+2W",
        "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ; st.W.u32 [x], 1 | st.W.u32 [y], 1 ; st.W.u32 [y], 2 | st.W.u32 [x], 2 ;",
        "x=1 /\\ y=1",
    ),
    (
        "WRC",
        "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 ; st.W.u32 [x], 1 | ld.R.u32 r0, [x] | ld.R.u32 r1, [y] ; | st.W.u32 [y], 1 | ld.R.u32 r2, [x] ;",
        "P1:r0=1 /\\ P2:r1=1 /\\ P2:r2=0",
    ),
    (
        "ISA2",
        "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 ; st.W.u32 [x], 1 | ld.R.u32 r0, [y] | ld.R.u32 r1, [z] ; st.W.u32 [y], 1 | st.W.u32 [z], 1 | ld.R.u32 r2, [x] ;",
        "P1:r0=1 /\\ P2:r1=1 /\\ P2:r2=0",
    ),
    (
        "IRIW",
        "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 | P3@cta 3,gpu 0 ; st.W.u32 [x], 1 | ld.R.u32 r0, [x] | st.W.u32 [y], 1 | ld.R.u32 r2, [y] ; | ld.R.u32 r1, [y] | | ld.R.u32 r3, [x] ;",
        "P1:r0=1 /\\ P1:r1=0 /\\ P3:r2=1 /\\ P3:r3=0",
    ),
    (
        "CoRR of weak loads",
        "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ; st.weak.u32 [x], 1 | ld.weak.u32 r0, [x] ; | ld.weak.u32 r1, [x] ;",
        "P1:r0=1 /\\ P1:r1=0",
    ),
];

fn reaches(rows: &str, condition: &str, options: Options) -> bool {
    let source = format!("PTX shape\n{{ x=0; y=0; z=0; }}\n {rows}\nexists ({condition})\n");
    let test = litmus::parse("shape.litmus", source.as_bytes())
        .unwrap_or_else(|diagnostics| panic!("{source}\n{}", diagnostics[0]));
    found(&test, options)
}

fn found(test: &Test, options: Options) -> bool {
    let explored = explore(
        &test.program,
        Lowering::of(90).expect("there is a table"),
        options,
        ExploreLimits::states(200_000),
    );
    let explored = explored.expect("the family has all of this");
    assert_eq!(explored.limit, None);
    explored
        .outcomes
        .keys()
        .any(|outcome| test.proposition.holds(&test.program, &test.narrowed(outcome)))
}

#[test]
fn the_machine_shows_what_machines_show() {
    for (name, rows, condition) in SHAPES {
        for strength in ["weak", "relaxed.gpu"] {
            let rows = rows.replace(".W.", &format!(".{strength}."));
            let rows = rows.replace(".R.", &format!(".{strength}."));
            assert!(reaches(&rows, condition, Options::default()), "{name} at {strength}");
            assert!(
                !reaches(&rows, condition, Options { one_sm: true, ..Options::default() }),
                "{name} at {strength} inside one SM"
            );
        }
    }
}

/// What an H100 shows of a fence at cta scope between loads; threads of one CTA are in order all the same.
#[test]
fn loads_pass_a_membar_cta_with_lazy_cta() {
    let lazy = Options { lazy_cta: true, ..Options::default() };
    for (name, reached) in [
        ("IRIW+fence.sc.cta+fence.sc.cta", true),
        ("IRIW+fence.sc.cta+fence.sc.cta+same-cta", false),
    ] {
        let path = suite::folder().join(format!("scope/{name}.litmus"));
        let written = std::fs::read(&path).expect("the suite has it");
        let test = litmus::parse(name, &written).expect("it is a test");
        assert!(!found(&test, Options::default()), "{name}");
        assert_eq!(found(&test, lazy), reached, "{name}");
    }
}

/// Walks do what the search finds, the same for the same seed, and in time all of it.
#[test]
fn random_walks_end_where_runs_end() {
    let limits = ExploreLimits::states(10_000);
    let lowering = Lowering::of(90).expect("there is a table");
    for file in ["IRIW+weak", "SB+fence.sc.gpu+waits", "MP+old-line", "LB+bar.sync+st.release.gpu"]
    {
        let path = suite::folder().join(format!("machine/{file}.litmus"));
        let bytes = std::fs::read(path).expect("the test is there");
        let test = litmus::parse(file, &bytes).expect("it parses");
        let all = explore(&test.program, lowering, Options::default(), limits).expect("it runs");
        let sampled = |seed| {
            let walks = Walks { count: 3000, seed };
            walk(&test.program, lowering, Options::default(), walks, limits).expect("it runs")
        };
        let (some, again, other) = (sampled(1), sampled(1), sampled(2));
        assert_eq!(some, again);
        assert_ne!(some.counts, other.counts, "{file}: the seed makes no difference");
        assert_eq!(some.counts.values().sum::<u64>(), 3000, "{file}: a walk did not end");
        assert!(some.counts.keys().eq(all.outcomes.keys()), "{file}: {:?}", some.counts);
    }
}

/// Threads of two CTAs that a test puts on one SM share its L1; memory is where the test says.
#[test]
fn a_test_says_what_the_machine_is_like() {
    let rows = "P0@cta 0,gpu 0,sm 0 | P1@cta 1,gpu 0,SM ; st.weak.u32 [x], 1 | ld.weak.u32 r0, [y] ; \
                st.weak.u32 [y], 1 | ld.weak.u32 r1, [x] ;";
    let (apart, together) = (rows.replace("SM", "sm 1"), rows.replace("SM", "sm 0"));
    let stale = "P1:r0=1 /\\ P1:r1=0";
    assert!(reaches(&apart, stale, Options::default()));
    assert!(!reaches(&together, stale, Options::default()));

    // A GPU sees early what it stores to memory elsewhere.
    let rows = |home: &str| {
        format!(
            "PTX far\n{{ x=0{home}; y=0{home}; }}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 1 ; \
             st.weak.u32 [x], 1 | ld.acquire.gpu.u32 r0, [x] | ld.acquire.gpu.u32 r2, [y] ; \
             | st.relaxed.gpu.u32 [y], 1 | ld.weak.u32 r3, [x] ;\n\
             exists (P1:r0=1 /\\ P2:r2=1 /\\ P2:r3=0)\n"
        )
    };
    let seen = |source: &str| {
        let test = litmus::parse("far.litmus", source.as_bytes()).expect("it parses");
        found(&test, Options::default())
    };
    assert!(seen(&rows(" @home host")));
    assert!(seen(&rows(" @home gpu 1")));
    assert!(!seen(&rows(" @home gpu 0")));
}

/// A message with `st.release.gpu`: what each part of the receiving side is for.
#[test]
fn what_each_part_is_for() {
    let rows = |load: &str| {
        format!(
            "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ; st.weak.u32 [x], 1 | {load} r0, [y] ; \
             st.release.gpu.u32 [y], 1 | ld.weak.u32 r1, [x] ;"
        )
    };
    let stale = "P1:r0=1 /\\ P1:r1=0";
    let warm = Options::default();
    // Without CCTL.IVALL an old line answers; the acquire drops it.
    assert!(reaches(&rows("ld.relaxed.gpu.u32"), stale, warm));
    assert!(!reaches(&rows("ld.acquire.gpu.u32"), stale, warm));
    // Dependent loads of weak order read an old line too.
    let dependent = "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ; st.weak.u32 [x], 1 | ld.relaxed.gpu.u32 r0, [y] ; \
         st.release.gpu.u32 [y], 1 | and.b32 r2, r0, 0 ; | add.u32 r3, r2, 0 ; \
         | setp.ne.u32 q, r0, 0 ; | @q ld.weak.u32 r1, [x] ;";
    assert!(reaches(dependent, stale, warm));
    assert!(!reaches(dependent, stale, Options { warm: false, ..warm }));
}

/// The reductions forget steps, never outcomes.
#[test]
fn no_reduction_loses_an_outcome() {
    agree::holds("reductions", 1_500);
}

/// What goes on for ever without memory is a limit, for loops of barriers too.
#[test]
fn a_loop_of_barriers_is_a_limit() {
    let lowering = Lowering::of(90).expect("there is a table");
    // When to arrive is a choice where arrivals are counted, so each is a state.
    let rows = [("bar.sync 0", TOO_LONG), ("bar.arrive 0, 64", "the limit of states")];
    for (row, limit) in rows {
        let source = format!(
            "PTX loop\n{{ x=0; }}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n L0: {row} | st.weak.u32 [x], 1 ;\n \
             bra L0 | ;\nexists (x=1)\n"
        );
        let test =
            litmus::parse("loop", source.as_bytes()).unwrap_or_else(|all| panic!("{}", all[0]));
        let explored =
            explore(&test.program, lowering, Options::default(), ExploreLimits::states(10));
        assert_eq!(explored.expect("it runs").limit, Some(limit));
    }
}

const TOO_LONG: &str = "more than 10,000 instructions without a memory access, in a loop or not";

/// Code that is long is not said to have a loop, by the machine or by the axioms.
#[test]
fn long_code_is_a_limit() {
    let adds = " add.u32 r0, r0, 1 ;\n".repeat(10_001);
    let source = format!("PTX long\n{{ x=0; }}\n P0@cta 0,gpu 0 ;\n{adds}exists (0:r0=10001)\n");
    let test = litmus::parse("long", source.as_bytes()).unwrap_or_else(|all| panic!("{}", all[0]));
    let lowering = Lowering::of(90).expect("there is a table");
    let explored = explore(&test.program, lowering, Options::default(), ExploreLimits::states(10));
    assert_eq!(explored.expect("it runs").limit, Some(TOO_LONG));
    let verdict = judge(&test, &suite::task(&ptx::model())).verdict;
    assert_eq!(verdict.reason(), Some("too many instructions in one thread"));
}

#[test]
fn code_that_is_not_too_long_has_no_limit() {
    let adds = " add.u32 r0, r0, 1 ;\n".repeat(4_000);
    let source = format!("PTX short\n{{ x=0; }}\n P0@cta 0,gpu 0 ;\n{adds}exists (0:r0=4000)\n");
    let test = litmus::parse("short", source.as_bytes()).unwrap_or_else(|all| panic!("{}", all[0]));
    let lowering = Lowering::of(90).expect("there is a table");
    let explored = explore(&test.program, lowering, Options::default(), ExploreLimits::states(10));
    assert_eq!(explored.expect("it runs").limit, None);
    let verdict = judge(&test, &suite::task(&ptx::model())).verdict;
    assert_eq!(verdict.name(), "holds");
}

/// A search that has no room for more values tells the runs to the outcomes that it has found.
#[test]
fn runs_are_told_where_the_values_do_not_fit() {
    let source = "PTX counts\n{x=0;}\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n \
         L0: atom.add.u32 r0, [x], 1 | st.relaxed.gpu.u32 [x], 5 ;\n \
         setp.ne.u32 p, r0, 4 | ;\n @p bra L0 | ;\nexists (P0:r0=0 /\\ x=1)\n";
    let test =
        litmus::parse("counts", source.as_bytes()).unwrap_or_else(|all| panic!("{}", all[0]));
    let lowering = Lowering::of(90).expect("there is a table");
    let limits = ExploreLimits { runs: true, ..ExploreLimits::states(50_000) };
    let explored = explore(&test.program, lowering, Options::default(), limits);
    let explored = explored.expect("it runs");
    assert_eq!(explored.limit, Some("more than 255 values"));
    assert!(!explored.outcomes.is_empty());
    assert!(explored.outcomes.values().all(|run| !run.is_empty()), "{explored:?}");
}

/// A program of several kernels is refused as a whole, also if its first thread is empty; a barrier that waits for more threads
/// than the machine has is not a fault.
#[test]
fn what_no_machine_has_is_no_fault() {
    let run = |source: &str| {
        let test = litmus::parse("t", source.as_bytes()).unwrap_or_else(|all| panic!("{}", all[0]));
        let lowering = Lowering::of(90).expect("there is a table");
        let explored =
            explore(&test.program, lowering, Options::default(), ExploreLimits::states(1000));
        explored.map_err(|refusal| one::refused(&test, &refusal))
    };
    let kernels = "PTX kernels\n{\nx=0;\nkernel 0->1@stream;\n}\n \
         P0@cta 0,gpu 0,kernel 0 | P1@cta 1,gpu 0,kernel 1 ;\n | ld.u32 r, [x] ;\nexists (P1:r=0)\n";
    assert_eq!(run(kernels), Err("this machine runs the threads of one kernel".to_owned()));
    let barrier = "PTX many\n{\nx=0;\n}\n P0@cta 0,gpu 0 ;\n bar.sync 0, 300 ;\nexists (x=0)\n";
    let explored = run(barrier).expect("it runs");
    assert_eq!((explored.faults, explored.stuck), (0, 1));
}

/// A walk ends where a thread has more instructions without an access than are followed: the loop has an end all the same.
#[test]
fn a_long_loop_is_no_fault_of_a_walk() {
    let text = "PTX long\n{ x=0; }\n P0@cta 0,gpu 0 ;\n ld.weak.u32 r1, [x] ;\n \
         L: add.u32 r0, r0, 1 ;\n setp.lt.u32 p, r0, 20000 ;\n @p bra L ;\n \
         st.weak.u32 [x], r0 ;\nexists (x=20000)\n";
    let long = litmus::parse("long", text.as_bytes()).unwrap_or_else(|all| panic!("{}", all[0]));
    let lowering = Lowering::of(90).expect("there is a table");
    let (walks, limits) = (Walks { count: 3, seed: 1 }, ExploreLimits::states(1000));
    let sampled = walk(&long.program, lowering, Options::default(), walks, limits);
    let explored = sampled.expect("it runs").explored;
    assert_eq!((explored.faults, explored.stuck, explored.limit), (0, 0, Some(::machine::LONG)));
}

/// The peers' barriers have instances: threads at two of them wait for each other for ever.
#[test]
fn instances_of_a_barrier_are_barriers_of_their_own() {
    let ends = |first: u8, second: u8| {
        let source = format!(
            "PTX crossed\n{{ x=0; P0:r0=0; }}\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n \
             bar.cta.sync 0 | bar.cta.sync {first} ;\n bar.cta.sync 1 | bar.cta.sync {second} ;\n \
             ld.weak r0, x | st.weak x, 1 ;\nexists (P0:r0 == 0)\n"
        );
        let test =
            litmus::parse("crossed", source.as_bytes()).unwrap_or_else(|all| panic!("{}", all[0]));
        let lowering = Lowering::of(90).expect("there is a table");
        let explored =
            explore(&test.program, lowering, Options::default(), ExploreLimits::states(1000));
        let explored = explored.expect("it runs");
        (explored.outcomes.len(), explored.stuck)
    };
    assert_eq!(ends(0, 1), (2, 0));
    assert_eq!(ends(1, 0), (0, 1));
}
