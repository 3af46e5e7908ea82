//! Laws over random programs: engines agree with each other and with a naive reference;
//! strengthening never adds an outcome; the order of threads does not matter.
//!
//! The seed is fixed; `CAUSEWAY_SEED` and `CAUSEWAY_CASES` try others.

use std::collections::BTreeSet;
use std::time::Duration;

use ::fuzz::answer::asked;
pub(crate) use ::fuzz::answer::{BOUND, EngineAnswer as Answer};
use ::fuzz::campaign::{Campaign, CampaignPlan, ShardId};
pub(crate) use ::fuzz::draw::{BARRIERS, ELSEWHERE, LONG, MIXED, SMALL, WIDE};
use ::fuzz::draw::{Drawer, ProgramSource};
use ::fuzz::law::{FuzzSetting, named};
use engine::clock::Deadline;
use engine::enumerate::Enumerate;
use engine::{ENGINES, Engine, ExecutionFacts, Limit, Limits};
use judge::{Task, judge};
use litmus::Test;
use litmus::arbitrary::{ProgramShape, ROUNDS, Sketch, sketch};
use model::ptx;
use model::rel::Model;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use crate::suite;

const TOO_LARGE: &str = "too large";

pub(crate) fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn seeded(config: Config, seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Draws random programs by a seed.
pub(crate) fn runner(seed: u64) -> TestRunner {
    seeded(Config { failure_persistence: None, ..Config::default() }, seed)
}

/// Runs a law over `cases` random programs of each shape, shrinking what breaks it.
pub(crate) fn law(
    name: &str,
    shapes: &[ProgramShape],
    cases: u64,
    check: impl Fn(&Sketch) -> Result<(), String>,
) {
    let cases = number("CAUSEWAY_CASES", cases);
    let seed = number("CAUSEWAY_SEED", 20);
    for shape in shapes {
        let cases = u32::try_from(cases).unwrap_or(u32::MAX);
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        let mut runner = seeded(config, seed);
        let result = runner.run(&sketch(*shape), |program| match check(&program) {
            Err(what) if what != TOO_LARGE => {
                Err(TestCaseError::fail(format!("{what}\n{program}")))
            }
            Ok(()) | Err(_) => Ok(()),
        });
        if let Err(error) = result {
            panic!("{name}, seed {seed}: {error}");
        }
    }
}

pub(crate) fn parse(program: &Sketch) -> Test {
    let text = program.to_string();
    litmus::parse("random", text.as_bytes())
        .unwrap_or_else(|errors| panic!("a random program does not parse: {}\n{text}", errors[0]))
}

/// Programs that take an engine longer are passed over.
const PATIENCE: Duration = Duration::from_millis(250);

pub(crate) fn ask(engine: &dyn Engine, model: &Model, test: &Test) -> Result<Answer, String> {
    let limits = Limits { deadline: Some(Deadline::after(PATIENCE)), ..Limits::unlimited(BOUND) };
    asked(engine, model, &test.program, &limits).map(|(answer, _)| answer).map_err(|limit| {
        match limit {
            Limit::Time | Limit::Solver | Limit::Memory | Limit::Work => TOO_LARGE.to_owned(),
            Limit::Events
            | Limit::Steps
            | Limit::PhaseState
            | Limit::Number
            | Limit::TensorLane
            | Limit::Paths
            | Limit::Barriers
            | Limit::Mixtures
            | Limit::ThinAir
            | Limit::Interrupted
            | Limit::Model => {
                format!("{}: {}", engine.name(), limit.text())
            }
        }
    })
}

/// How two answers differ, if they do.
pub(crate) fn difference(a: (&str, &Answer), b: (&str, &Answer)) -> Option<String> {
    (a.1 != b.1).then(|| match (a.1, b.1) {
        (Answer::Outcomes(x), Answer::Outcomes(y)) => format!(
            "only {}: {:?}; only {}: {:?}",
            a.0,
            x.difference(y).take(3).collect::<Vec<_>>(),
            b.0,
            y.difference(x).take(3).collect::<Vec<_>>()
        ),
        _ => format!("{}: {:?}; {}: {:?}", a.0, a.1, b.0, b.1),
    })
}

/// Holds the accounts to a law of the crate `fuzz`, for this many cases, of which most must say something.
pub(crate) fn holds(name: &str, cases: u64) {
    let (seed, cases) = (number("CAUSEWAY_SEED", 20), number("CAUSEWAY_CASES", cases));
    let setting = FuzzSetting::default();
    let law = named(name).expect("there is such a law");
    let shard = ShardId { index: 1, of: 1 };
    let plan = CampaignPlan { version: "test", seed, shard, cases: Some(cases) };
    let mut campaign = Campaign::new(&setting, vec![law], &plan);
    campaign.kept = 1;
    while campaign.state.failures.is_empty() && campaign.advance(1) {}
    let tally = &campaign.state.tallies[0];
    eprintln!("{name}: {} of {} cases compared", tally.compared(), tally.cases);
    if let Some(failure) = campaign.state.failures.first() {
        panic!("{name}, seed {seed}, case {}: {}\n{}", failure.case, failure.what, failure.test);
    }
    assert!(tally.compared() * 2 > tally.cases, "{name}: {:?}", tally.skipped);
}

#[test]
fn engines_agree_on_random_programs() {
    if ENGINES.len() < 2 {
        eprintln!("skipped: this build has one engine");
        return;
    }
    holds("engines", 5_000);
}

/// 226 outcomes, one query each: with a time limit, four of them were lost when the parameters of the
/// solver were set again before each query.
const MANY_OUTCOMES: &str = r"PTX many-outcomes
{
uint32_t x=0; uint32_t y=0; z @ generic aliases x;
}
 P0@cta 0,cluster 0,gpu 0              | P1@cta 1,cluster 0,gpu 0               ;
 st.weak.b32 [x], 16843009             | atom.relaxed.cta.add.u32 r0, [x], 16843009 ;
 red.relaxed.cta.add.u32 [x], 16843009 |                                        ;
locations [1:r0; x; y;]
exists (x=0 /\ y=0)
";

#[test]
fn a_time_limit_that_is_not_reached_changes_nothing() {
    let model = ptx::model();
    let test = litmus::parse("", MANY_OUTCOMES.as_bytes()).expect("a test");
    for engine in ENGINES {
        let deadline = Some(Deadline::after(Duration::from_secs(600)));
        for deadline in [None, deadline] {
            let limits = Limits { deadline, ..Limits::unlimited(BOUND) };
            let (mut seen, mut outcomes) = (ExecutionFacts::default(), BTreeSet::new());
            engine
                .outcomes(&model, &test.program, &limits, &mut seen, &mut |outcome, _| {
                    outcomes.insert(outcome.to_vec());
                    std::ops::ControlFlow::Continue(())
                })
                .expect("no limit is reached");
            assert_eq!(outcomes.len(), 226, "{} {deadline:?}", engine.name());
        }
    }
}

/// The plan, the pruning and the learning of the enumerating engine lose and invent nothing.
#[test]
fn enumerate_agrees_with_naive_candidates() {
    holds("naive", 5_000);
}

/// The least coherence order is enough: trying every one finds the same outcomes.
#[test]
fn every_coherence_order_gives_what_the_least_gives() {
    holds("coherence", 600);
}

/// The same for orders of fences, also where they relate some of three only.
#[test]
fn every_order_of_fences_gives_what_the_search_gives() {
    let printed = std::fs::read_to_string(suite::root().join("docs/ptx.cat")).expect("it is there");
    // An axiom that says nothing, in a form that does not grow with rf.
    let long = format!("{printed}\nempty rf \\ rf as Nothing\n");
    let long = cat::import("long.cat", &long).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let model = ptx::model();
    let mut compared = 0;
    for folder in ["fence-sc-order", "fence-sc-axiom"] {
        for entry in suite::load(&suite::folder().join(folder)) {
            let found = |model: &Model| {
                let task =
                    Task { engines: vec![&Enumerate], work: Some(1 << 20), ..suite::task(model) };
                let judgement = judge(&entry.test, &task);
                let known = judgement.found.limit.is_none();
                known.then(|| judgement.found.outcomes.keys().cloned().collect::<BTreeSet<_>>())
            };
            if let (Some(every), Some(least)) = (found(&long), found(&model)) {
                assert_eq!(every, least, "{}", entry.test.name);
                compared += 1;
            }
        }
    }
    assert!(compared > 30, "only {compared} tests were compared");
}

/// Accesses to bytes of one thread need no events.
#[test]
fn private_bytes_change_no_outcome() {
    holds("private", 1_500);
}

#[test]
fn strengthening_never_adds_an_outcome() {
    holds("strengthening", 500);
}

/// Cache operators, eviction priorities, prefetch sizes and cache policies are for performance.
#[test]
fn performance_qualifiers_never_change_an_outcome() {
    holds("performance", 3_000);
}

#[test]
fn every_performance_qualifier_is_tried() {
    let load = |order: &str| format!("ld.{order}.v4.u64 {{r0, r1, r2, r3}}, [v]");
    let program = Drawer::new(1, &[ProgramSource::Uniform(SMALL)]).program(0);
    let mut program = program.with_threads(&[0]);
    program.threads[0].cells = ["weak", "acquire.gpu"].map(load).to_vec();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for round in 0..ROUNDS {
        for cell in &program.decorated(round).threads[0].cells {
            let opcode = cell.split(' ').next().expect("a cell has an opcode");
            seen.extend(opcode.split('.').skip(2).map(str::to_owned));
        }
    }
    let plain = ["gpu", "v4", "u64"];
    seen.retain(|part| !plain.contains(&part.as_str()));
    assert_eq!(seen.len(), 17, "{seen:?}");
}

#[test]
fn the_order_of_threads_does_not_matter() {
    holds("threads", 3_000);
}

/// What a printed test says is what is read.
#[test]
fn a_printed_random_test_reads_back() {
    holds("printing", 3_000);
}

/// What `docs/redundant.md` lists as redundant changes nothing on random programs.
#[test]
fn redundant_rules_change_nothing() {
    holds("redundant", 4_000);
}

/// Random programs reach what they are for: synchronization, atomics, fences, undefinedness.
#[test]
fn random_programs_are_not_vacuous() {
    let model = ptx::model();
    let mut runner = TestRunner::deterministic();
    let (mut outcomes, mut undefined) = (0, 0);
    for _ in 0..200 {
        let program = sketch(MIXED).new_tree(&mut runner).expect("a program").current();
        match ask(&Enumerate, &model, &parse(&program)) {
            Ok(Answer::Outcomes(of)) => outcomes += of.len(),
            Ok(Answer::Undefined) => undefined += 1,
            // Without an outcome, or too large on a slow machine.
            Ok(Answer::Stuck) | Err(_) => {}
        }
    }
    assert!(outcomes > 400, "{outcomes} outcomes");
    assert!(undefined > 20, "{undefined} undefined programs");
}
