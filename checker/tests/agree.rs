//! The engines give the same answer, on the classic shapes and on random programs.

#![cfg(feature = "smt")]

mod programs;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use checker::engine::enumerate::Enumerate;
use checker::engine::solve::Solve;
use checker::engine::{Engine, Limit, Limits, Seen};
use model::program::Program;
use model::rel::Model;
use programs::{Random, classics, random};

/// The outcomes of a program, and why it is undefined if it is.
type Answer = (BTreeSet<Vec<u64>>, Option<String>);

fn ask(
    engine: &dyn Engine,
    model: &Model,
    program: &Program,
    limits: &Limits,
) -> Result<Answer, Limit> {
    let mut seen = Seen::default();
    let mut outcomes = BTreeSet::new();
    engine.outcomes(model, program, limits, &mut seen, &mut |outcome, _| {
        outcomes.insert(outcome.to_vec());
        ControlFlow::Continue(())
    })?;
    Ok((outcomes, seen.undefined.map(|undefined| undefined.reason)))
}

fn agree(model: &Model, program: &Program, limits: &Limits) -> bool {
    let enumerated = match ask(&Enumerate, model, program, limits) {
        Ok(answer) => answer,
        Err(Limit::Time | Limit::Paths | Limit::Events | Limit::Barriers) => return false,
        Err(limit) => panic!("{limit:?} of enumerate on\n{}", programs::text(program)),
    };
    let solved = match ask(&Solve, model, program, limits) {
        Ok(answer) => answer,
        Err(Limit::Time) => return false,
        Err(limit) => panic!("{limit:?} of solve on\n{}", programs::text(program)),
    };
    assert_eq!(
        (&enumerated.0, enumerated.1.is_some()),
        (&solved.0, solved.1.is_some()),
        "enumerate has {:?}\nsolve has {:?}\nundefined {:?} {:?}\n{}",
        enumerated.0.difference(&solved.0).collect::<Vec<_>>(),
        solved.0.difference(&enumerated.0).collect::<Vec<_>>(),
        enumerated.1,
        solved.1,
        programs::text(program),
    );
    true
}

#[test]
fn on_the_classic_shapes() {
    let model = model::ptx::model();
    for (name, program) in classics() {
        assert!(agree(&model, &program, &Limits::unlimited(3)), "{name}");
    }
}

#[test]
fn an_order_of_fences_that_orders_writes_hides_no_other() {
    let program = programs::fences_and_last_writes();
    let model = model::ptx::model();
    for engine in checker::engine::ENGINES {
        let (outcomes, _) =
            ask(*engine, &model, &program, &Limits::unlimited(1)).expect("it is small");
        assert_eq!(outcomes, BTreeSet::from([vec![1], vec![2]]), "{}", engine.name());
    }
}

#[test]
fn on_random_programs() {
    let count = std::env::var("AGREE_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let seed = std::env::var("AGREE_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let model = model::ptx::model();
    let mut compared = 0;
    for index in 0..count {
        let program = random(&mut Random::new(seed + index));
        let limits = Limits { bound: 2, deadline: Some(Instant::now() + Duration::from_secs(2)) };
        compared += u64::from(agree(&model, &program, &limits));
    }
    assert!(compared * 10 > count * 9, "only {compared} of {count} within the limits");
}
