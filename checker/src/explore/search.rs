//! Breadth-first search over the machine's states, each kept once.
//!
//! What is kept of a state is a record: where the record of the state before it is, how long it is,
//! and its bytes. Records lie one behind the other in the order in which they were found, so they
//! are the queue of the search too; a hash table knows where they are.

use std::collections::BTreeMap;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use model::machine::{Machine, State, Step};
use model::value::Value;
use rustc_hash::FxBuildHasher;

use super::{Explored, Limits};

/// Bytes of a record before those of the state: a place and a length.
const HEAD: usize = 6;

/// States, by the places of their records.
#[derive(Default)]
struct Records {
    bytes: Vec<u8>,
    index: HashTable<u32>,
}

impl Records {
    fn state(&self, at: u32) -> &[u8] {
        let at = at as usize;
        let length = u16::from_le_bytes([self.bytes[at + 4], self.bytes[at + 5]]);
        &self.bytes[at + HEAD..at + HEAD + usize::from(length)]
    }

    fn before(&self, at: u32) -> u32 {
        let bytes = &self.bytes[at as usize..at as usize + 4];
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    fn next(&self, at: u32) -> u32 {
        let length = HEAD + self.state(at).len();
        at + u32::try_from(length).expect("states are short")
    }

    /// The place of a state's record; whether it is new. `None`: there is no room.
    fn add(&mut self, state: &[u8], before: u32) -> Option<(u32, bool)> {
        let hash = |state: &[u8]| FxBuildHasher.hash_one(state);
        let found = self.index.find(hash(state), |&at| self.state(at) == state);
        if let Some(&at) = found {
            return Some((at, false));
        }
        let at = u32::try_from(self.bytes.len()).ok()?;
        let length = u16::try_from(state.len()).ok()?;
        self.bytes.extend_from_slice(&before.to_le_bytes());
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.extend_from_slice(state);
        let bytes = &self.bytes;
        self.index.insert_unique(hash(state), at, |&at| {
            let at = at as usize;
            let length = u16::from_le_bytes([bytes[at + 4], bytes[at + 5]]);
            hash(&bytes[at + HEAD..at + HEAD + usize::from(length)])
        });
        Some((at, true))
    }

    /// Bytes in use: records, and the table's places with a byte of its own for each.
    fn size(&self) -> usize {
        self.bytes.len() + self.index.capacity() * 8 / 7 * 5
    }
}

/// An end: the state's record, and which thread of it is which of the program's.
struct End {
    at: u32,
    naming: Vec<u8>,
}

/// Looks at every state that the machine can reach.
pub(super) fn search(machine: &mut Machine<'_>, threads: usize, limits: Limits) -> Explored {
    let mut records = Records::default();
    let mut explored = Explored::default();
    let mut ends: BTreeMap<Vec<Value>, End> = BTreeMap::new();
    let mut edges: Vec<(u32, u32)> = Vec::new();
    let mut over: Vec<u32> = Vec::new();
    let start = machine.start();
    records.add(start.bytes(), 0);
    let itself: Vec<u8> = (0..=u8::MAX).take(threads).collect();
    let (mut at, mut state) = (0, State::default());
    let mut full = false;
    while (at as usize) < records.bytes.len() {
        state.set(records.state(at));
        if machine.is_over(&state) {
            over.push(at);
            for naming in machine.namings(&state, &itself) {
                let outcome = machine.observe(&state, &naming);
                ends.entry(outcome).or_insert(End { at, naming });
            }
        } else {
            let before = explored.transitions;
            machine.successors(&state, &mut |_, next| {
                explored.transitions += 1;
                match records.add(next.bytes(), at) {
                    Some((to, _)) if limits.progress => edges.push((to, at)),
                    Some(_) => {}
                    None => full = true,
                }
            });
            explored.stuck += usize::from(explored.transitions == before);
        }
        explored.states = records.index.len();
        explored.limit = machine.overflow();
        if explored.states > limits.states {
            explored.limit = Some("the limit of states");
        } else if full {
            explored.limit = Some("4 GiB of states");
        }
        if explored.limit.is_some() {
            break;
        }
        at = records.next(at);
    }
    explored.bytes = records.size();
    if limits.progress && explored.limit.is_none() {
        explored.endless = Some(explored.states - reaching(over, edges));
    }
    for (outcome, end) in ends {
        let run = if limits.runs { run(machine, &records, &end) } else { Vec::new() };
        explored.outcomes.insert(outcome, run);
    }
    explored
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

/// The steps that lead to an end, by the program's threads: found again by taking them.
fn run(machine: &mut Machine<'_>, records: &Records, end: &End) -> Vec<Step> {
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
        machine.successors(&state, &mut |step, next| {
            if taken.is_none() && next.bytes() == to {
                taken = Some((step.steps.to_vec(), step.threads.to_vec()));
            }
        });
        let (steps, moved) = taken.expect("a step was taken to get here");
        if !moved.is_empty() {
            for thread in &mut naming {
                *thread = moved[usize::from(*thread)];
            }
        }
        parts.push(steps.into_iter().map(|step| by_program(step, &naming)).collect());
    }
    let opening = machine.opening().iter().map(|step| by_program(*step, &naming));
    opening.chain(parts.into_iter().rev().flatten()).collect()
}

fn by_program(step: Step, naming: &[u8]) -> Step {
    step.by(|thread| {
        let named = naming.iter().position(|&of| of == thread);
        named.and_then(|named| u8::try_from(named).ok()).unwrap_or(thread)
    })
}
