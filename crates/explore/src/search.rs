//! Breadth-first search over the machine's states.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

use engine::{Limit, join_stuck, outcome};
use machine::{Machine, State, Step};
use model::program::Stuck;
use model::value::Value;
use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;

use crate::records::{Batch, Records};
use crate::{Exploration, ExploreLimits};

/// So many states are gone on from before what they lead to is looked up.
const TOGETHER: usize = 128;

/// What a state takes until it is looked up, beside its bytes, and to find it again.
const ITEM: usize = 64;

/// More outcomes than anybody reads: equal threads have very many.
const MOST_OUTCOMES: usize = 500_000;

/// An end: the state's record, and which thread of it is which of the program's.
struct FinalState {
    at: u32,
    naming: Vec<u8>,
}

/// Looks at every state that the machine can reach.
pub(crate) fn search(
    machine: &mut Machine<'_>,
    threads: usize,
    limits: ExploreLimits,
) -> Exploration {
    let mut records = Records::new();
    let mut batch = Batch::default();
    let mut explored = Exploration::default();
    let mut ends: BTreeMap<Vec<Value>, FinalState> = BTreeMap::new();
    let mut edges: Vec<(u32, u32)> = Vec::new();
    let mut over: Vec<u32> = Vec::new();
    let start = machine.start();
    batch.push(start.bytes(), 0, 0);
    records.add(&mut batch, |_, _, _| {});
    // What sleeps in each state that has not been gone on from.
    let mut asleep: VecDeque<u64> = VecDeque::from([0]);
    let itself: Vec<u8> = (0..=u8::MAX).take(threads).collect();
    let (mut at, mut state) = (0, State::default());
    let (mut crowded, mut budget) = (false, limits.budget());
    let outcome = 2 * outcome::bytes(machine.program());
    while (at as usize) < records.end() {
        for _ in 0..TOGETHER {
            if at as usize >= records.end() || !budget.goes_on() {
                break;
            }
            state.set(records.state(at));
            let sleeping = asleep.pop_front().expect("each state has one");
            // All ways on from a state count where it matters what can be reached.
            let sleeping = if limits.progress { 0 } else { sleeping };
            if machine.is_over(&state) {
                over.push(at);
                let room = MOST_OUTCOMES.saturating_sub(ends.len());
                let namings = machine.namings(&state, &itself, room);
                crowded |= namings.is_none();
                for naming in namings.into_iter().flatten() {
                    let outcome = machine.observe(&state, &naming);
                    ends.entry(outcome).or_insert(FinalState { at, naming });
                }
            } else {
                let before = explored.transitions;
                machine.awake(&state, sleeping, &mut |taken, next| {
                    explored.transitions += 1;
                    batch.push(next.bytes(), at, taken.asleep);
                    budget.flow(2 * next.bytes().len() + ITEM)
                });
                // Where something sleeps, something could be done.
                if explored.transitions == before && sleeping == 0 && machine.overflow().is_none() {
                    explored.halt(machine.unfinished(&state));
                }
            }
            at = records.next(at);
        }
        let room = records.add(&mut batch, |to, from, new| {
            asleep.extend(new);
            if limits.progress {
                edges.push((to, from));
            }
        });
        explored.states = records.count();
        explored.limit = machine.overflow();
        let held = records.held()
            + machine.held()
            + asleep.capacity() * size_of::<u64>()
            + over.capacity() * size_of::<u32>()
            // Sorted, and looked up by a set of the states, where the question is what can be reached.
            + edges.capacity() * size_of::<(u32, u32)>()
            + ends.len() * (outcome + threads);
        budget.release(budget.held());
        budget.hold(held);
        budget.look();
        if let Err(limit) = budget.check() {
            explored.limit = Some(limit.text());
        } else if explored.states > limits.states {
            explored.limit = Some("the limit of states");
        } else if !room {
            explored.limit = Some("4 GiB of states");
        } else if crowded {
            explored.limit = Some("the limit of outcomes");
        }
        if explored.limit.is_some() {
            break;
        }
    }
    explored.bytes = records.size();
    explored.misused = machine.misused();
    explored.may_be_misused = machine.may_be_misused();
    if limits.progress && explored.limit.is_none() {
        for at in endless(machine, &records, &over, &edges) {
            join_stuck(explored.stuck_at.get_or_insert_default(), at);
        }
        explored.endless = Some(explored.states - reaching(over, edges));
    }
    for (outcome, end) in ends {
        let told = limits.runs && limits.budget().look();
        if limits.runs && !told {
            explored.limit = Some(Limit::Time.text());
        }
        let run = if told { run(machine, &records, &end) } else { None }.unwrap_or_default();
        explored.outcomes.insert(outcome, run);
    }
    explored
}

/// Where the threads are that run for ever among states which lead nowhere else; nothing if every state
/// may reach an end or a halt. Edges are from a state to the one before it.
fn endless(
    machine: &Machine<'_>,
    records: &Records,
    over: &[u32],
    edges: &[(u32, u32)],
) -> Vec<Vec<Stuck>> {
    let mut graph: DiGraphMap<u32, ()> = DiGraphMap::new();
    for &(to, from) in edges {
        graph.add_edge(from, to, ());
    }
    // Strongly connected components come with those first that others lead to.
    let components = kosaraju_scc(&graph);
    let mut component_of: rustc_hash::FxHashMap<u32, usize> = rustc_hash::FxHashMap::default();
    for (index, component) in components.iter().enumerate() {
        component_of.extend(component.iter().map(|&at| (at, index)));
    }
    let circles = components.iter().enumerate().filter(|(index, component)| {
        let within = |&from: &u32| graph.neighbors(from).all(|to| component_of[&to] == *index);
        let ends = |at: &u32| over.binary_search(at).is_ok();
        let moves = graph.neighbors(component[0]).next().is_some();
        moves && component.iter().all(within) && !component.iter().any(ends)
    });
    let first = circles.filter_map(|(_, circle)| circle.iter().copied().min());
    let mut state = State::default();
    let places = first.map(|at| {
        state.set(records.state(at));
        machine.unfinished(&state)
    });
    places.collect()
}

/// How many states can reach one of these; edges are from a state to the one before it.
fn reaching(ends: Vec<u32>, mut edges: Vec<(u32, u32)>) -> usize {
    edges.sort_unstable();
    let mut known: rustc_hash::FxHashSet<u32> = ends.iter().copied().collect();
    let mut left = ends;
    while let Some(at) = left.pop() {
        let first = edges.partition_point(|&(to, _)| to < at);
        for &(to, from) in &edges[first..] {
            if to != at {
                break;
            }
            if known.insert(from) {
                left.push(from);
            }
        }
    }
    known.len()
}

/// The steps that lead to an end, by the program's threads: found again by taking them. None where the tables are full: more
/// steps are taken than in the search, which lets some sleep, and what they lead to may have no room.
fn run(machine: &mut Machine<'_>, records: &Records, end: &FinalState) -> Option<Vec<Step>> {
    let mut path = vec![end.at];
    while let Some(&at) = path.last().filter(|&&at| at != 0) {
        path.push(records.before(at));
    }
    let mut naming = end.naming.clone();
    let mut parts: Vec<Vec<Step>> = Vec::new();
    let mut state = State::default();
    for pair in path.windows(2) {
        let (to, from) = (records.state(pair[0]), records.state(pair[1]));
        state.set(from);
        let mut taken: Option<(Vec<Step>, Vec<u8>)> = None;
        machine.forget_overflow();
        machine.successors(&state, &mut |step, next| {
            if next.bytes() != to {
                return ControlFlow::Continue(());
            }
            taken = Some((step.steps.to_vec(), step.threads.to_vec()));
            ControlFlow::Break(())
        });
        debug_assert!(
            taken.is_some() || machine.overflow().is_some(),
            "a step was taken to get here"
        );
        let (steps, moved) = taken?;
        if !moved.is_empty() {
            for thread in &mut naming {
                *thread = moved[usize::from(*thread)];
            }
        }
        parts.push(steps.into_iter().map(|step| by_program(step, &naming)).collect());
    }
    let opening = machine.opening().iter().map(|step| by_program(*step, &naming));
    Some(opening.chain(parts.into_iter().rev().flatten()).collect())
}

fn by_program(step: Step, naming: &[u8]) -> Step {
    step.by(|thread| {
        let named = naming.iter().position(|&of| of == thread);
        named.and_then(|named| u8::try_from(named).ok()).unwrap_or(thread)
    })
}
