//! Searching the machine: every outcome that a run can have, and how.

pub mod command;
pub mod inclusion;
pub mod one;
pub mod random;
pub mod report;

use std::collections::BTreeMap;

use litmus::sass::lower::Lowering;
use model::machine::{Machine, Options, Refusal, State, Step};
use model::program::Program;
use model::value::Value;
use rustc_hash::FxHashMap;

/// How much is looked at before giving up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    pub states: usize,
}

/// What the machine can do with a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explored {
    /// Each outcome with the steps of a run that has it, as few as any.
    pub outcomes: BTreeMap<Vec<Value>, Vec<Step>>,
    pub states: usize,
    pub transitions: usize,
    /// States in which nothing can happen and some thread has not ended.
    pub stuck: usize,
    /// Why not everything was looked at, if not.
    pub limit: Option<&'static str>,
}

/// Runs a program, lowered by a table, in every way that the machine has.
pub fn explore(
    program: &Program,
    lowering: Lowering<'_>,
    options: Options,
    limits: Limits,
) -> Result<Explored, Refusal> {
    let mut machine = Machine::new(program, lowering.program(program)?, options)?;
    let start = machine.start();
    let mut explored =
        Explored { outcomes: BTreeMap::new(), states: 1, transitions: 0, stuck: 0, limit: None };
    // Breadth first: the first run to an outcome is a shortest one.
    let mut known: FxHashMap<Box<[u8]>, u32> = FxHashMap::default();
    let mut from: Vec<(u32, Option<Step>)> = vec![(0, None)];
    let mut layer: Vec<(u32, State)> = vec![(0, start.clone())];
    let mut packed = Vec::new();
    start.pack(&mut packed);
    known.insert(packed.as_slice().into(), 0);
    while !layer.is_empty() {
        let mut next: Vec<(u32, State)> = Vec::new();
        for (number, state) in layer {
            if let Some(outcome) = machine.outcome(&state) {
                explored.outcomes.entry(outcome).or_insert_with(|| run_to(&from, number));
                continue;
            }
            let before = explored.transitions;
            machine.successors(&state, &mut |step, successor| {
                explored.transitions += 1;
                successor.pack(&mut packed);
                if known.contains_key(packed.as_slice()) {
                    return;
                }
                let fresh = u32::try_from(from.len()).expect("the limit is lower");
                known.insert(packed.as_slice().into(), fresh);
                from.push((number, Some(step)));
                next.push((fresh, successor));
            });
            explored.stuck += usize::from(explored.transitions == before);
        }
        explored.states = from.len();
        explored.limit = machine.overflow();
        if explored.states > limits.states {
            explored.limit = Some("the limit of states");
        }
        if explored.limit.is_some() {
            break;
        }
        layer = next;
    }
    Ok(explored)
}

fn run_to(from: &[(u32, Option<Step>)], number: u32) -> Vec<Step> {
    let (mut steps, mut at) = (Vec::new(), number);
    while let (before, Some(step)) = from[at as usize] {
        steps.push(step);
        at = before;
    }
    steps.reverse();
    steps
}
