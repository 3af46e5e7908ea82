//! Random walks, for tests that are too large to search.

use std::collections::BTreeMap;

use machine::{Machine, Options, Reduce, Refusal, State, Step};
use model::program::Program;
use model::value::Value;
use sass::lower::Lowering;

use engine::outcome;

use crate::{Exploration, ExploreLimits};

/// How many walks, and where the choices come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Walks {
    pub count: u64,
    pub seed: u64,
}

/// What walks ended with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sampled {
    pub explored: Exploration,
    /// How many walks ended with each outcome.
    pub counts: BTreeMap<Vec<Value>, u64>,
}

/// Runs a program again and again, each time by steps picked at random, each as likely as the others.
/// `limits` is of the steps of one walk.
pub fn walk(
    program: &Program,
    lowering: Lowering<'_>,
    options: Options,
    walks: Walks,
    limits: ExploreLimits,
) -> Result<Sampled, Refusal> {
    // Which of two equal threads it was should show.
    let options = Options { reduce: options.reduce.min(Reduce::Por), ..options };
    let mut machine = Machine::new(program, lowering.program(program)?, options, true)?;
    let start = machine.start();
    let mut random = Random(walks.seed);
    let mut explored = Exploration::default();
    let mut counts: BTreeMap<Vec<Value>, u64> = BTreeMap::new();
    let mut next: Vec<(Vec<Step>, State)> = Vec::new();
    let mut budget = limits.budget();
    for _ in 0..walks.count {
        budget.look();
        if let Err(limit) = budget.check() {
            explored.limit = Some(limit.text());
            break;
        }
        let (mut state, mut run) = (start.clone(), machine.opening().to_vec());
        let outcome = loop {
            if let Some(outcome) = machine.outcome(&state) {
                break Some(outcome);
            }
            let held = budget.held();
            machine.successors(&state, &mut |taken, successor| {
                next.push((taken.steps.to_vec(), successor.clone()));
                budget.flow(size_of_val(taken.steps) + 2 * successor.bytes().len())
            });
            budget.release(budget.held() - held);
            // A thread that is given up stays where it is, which is no fault.
            if let Some(limit) = machine.overflow() {
                explored.limit.get_or_insert(limit);
                break None;
            }
            if next.is_empty() {
                explored.halt(machine.unfinished(&state));
                break None;
            }
            if run.len() >= limits.states {
                explored.limit = Some("the limit of steps of one walk");
                break None;
            }
            if !budget.step() {
                break None;
            }
            let picked = random.below(next.len());
            let (steps, successor) = next.swap_remove(picked);
            next.clear();
            run.extend(steps);
            state = successor;
            explored.transitions += 1;
        };
        next.clear();
        if machine.overflow().is_some() {
            break;
        }
        let Some(outcome) = outcome else { continue };
        let walks = counts.entry(outcome.clone()).or_default();
        *walks += 1;
        if *walks == 1 {
            budget.hold(2 * outcome::bytes(program) + size_of_val(run.as_slice()));
        }
        let known = explored.outcomes.entry(outcome).or_insert_with(|| run.clone());
        if run.len() < known.len() {
            *known = run;
        }
    }
    explored.misused = machine.misused();
    if explored.outcomes.is_empty() {
        explored.limit.get_or_insert("no walk came to an end");
    }
    Ok(Sampled { explored, counts })
}

/// The generator `SplitMix64`: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        // The high half of the product: as even as 64 bits can be over a few choices.
        let high = (u128::from(mixed) * (bound as u128)) >> 64;
        usize::try_from(high).expect("it is below the bound")
    }
}
