//! Symmetry of threads that run the same code, each on an SM of its own: states that differ only by a
//! permutation of such threads are one state.

use super::form::LoweredInstruction;
use super::options::{Options, Reduce};
use super::plan::ThreadCode;
use super::state::{QueueEntry, State};
use super::{Machine, StateLayout};
use model::isa::Instruction;
use model::memory::Space;
use model::program::{InitialValue, Program, Register};

/// For each thread, the first one that nothing but its name tells it from. Memory of one thread or
/// CTA would have to move with it, and barriers count whom they have: such programs have none.
pub(super) fn classes(
    program: &Program,
    lowered: &[Vec<LoweredInstruction>],
    plans: &[ThreadCode],
    alone: &[bool],
    sm: &[u8],
    gpu: &[u8],
    options: &Options,
) -> Vec<u8> {
    let own = 0..=u8::MAX;
    let own: Vec<u8> = own.take(program.threads.len()).collect();
    let shared = program
        .variables
        .iter()
        .all(|variable| matches!(variable.space, Space::Global | Space::Const | Space::ParamEntry));
    let lines = || program.threads.iter().flat_map(|thread| &thread.lines);
    let barriers = lines().any(|line| {
        matches!(line.instruction, Instruction::Barrier(_) | Instruction::ClusterBarrier(_))
    });
    if options.reduce != Reduce::All || !options.reduced() || !shared || barriers {
        return own;
    }
    let initial = |register: &Register| match register.initial {
        InitialValue::Value(value) => (Some(value), None),
        InitialValue::Address { variable, offset, .. } => (None, Some((variable, offset))),
    };
    let same = |a: usize, b: usize| {
        let (one, other) = (&program.threads[a], &program.threads[b]);
        let code = |thread: usize| {
            let lines = program.threads[thread].lines.iter();
            lines.map(|line| (&line.guard, &line.instruction))
        };
        gpu[usize::from(sm[a])] == gpu[usize::from(sm[b])]
            && one.registers.iter().map(initial).eq(other.registers.iter().map(initial))
            && code(a).eq(code(b))
            && lowered[a] == lowered[b]
            && plans[a].live == plans[b].live
    };
    let first = |thread: usize| {
        let known = (0..thread).find(|&other| alone[other] && alone[thread] && same(other, thread));
        own[known.unwrap_or(thread)]
    };
    (0..program.threads.len()).map(first).collect()
}

impl Machine<'_> {
    /// Puts threads of one class in the order of what they are doing. By thread of the new state,
    /// which one it was of the old; empty if each is itself.
    pub(super) fn arrange(&self, state: &mut State) -> Vec<u8> {
        let threads = self.sm.len();
        if !self.symmetric {
            return Vec::new();
        }
        let mut order: Vec<u8> = (0..=u8::MAX).take(threads).collect();
        for class in 0..threads {
            let members: Vec<usize> =
                (0..threads).filter(|&t| usize::from(self.class[t]) == class).collect();
            if members.len() < 2 {
                continue;
            }
            let mut sorted = members.clone();
            sorted.sort_by_cached_key(|&thread| self.doing(state, thread));
            for (&place, &member) in members.iter().zip(&sorted) {
                order[place] = Self::small(member);
            }
        }
        if order.is_sorted() {
            return Vec::new();
        }
        self.permute(state, &order);
        order
    }

    /// All that a state has of one thread, its number apart.
    fn doing(&self, state: &State, thread: usize) -> (u32, Vec<u8>, Vec<QueueEntry>) {
        let lines = self.rows(thread).map(|slot| state.bytes[slot]).collect();
        let own = self.shape.entries(state).filter(|entry| usize::from(entry.thread) == thread);
        let own = own.map(|entry| QueueEntry { thread: 0, awaited: 0, ..entry });
        (self.shape.local(state, thread), lines, own.collect())
    }

    /// Where the lines of a thread's SM are.
    fn rows(&self, thread: usize) -> impl Iterator<Item = usize> + '_ {
        let cells = self.cells.len();
        let from = usize::from(self.sm[thread]) * cells;
        let StateLayout { l1, read_only, .. } = &self.shape;
        let rows = l1[from..from + cells].iter().chain(&read_only[from..from + cells]);
        rows.flatten().map(|slot| usize::from(*slot))
    }

    fn permute(&self, state: &mut State, order: &[u8]) {
        let old = state.clone();
        let mut new_of = [0_u8; 16];
        for (new, &from) in order.iter().enumerate() {
            new_of[usize::from(from)] = Self::small(new);
            self.shape.set_local(state, new, self.shape.local(&old, from.into()));
            for (to, from) in self.rows(new).zip(self.rows(from.into())) {
                state.bytes[to] = old.bytes[from];
            }
        }
        let moved = self.shape.entries(&old).map(|entry| {
            let bits = (0..order.len()).filter(|&t| entry.awaited & Self::bit(t) != 0);
            let awaited = bits.fold(0, |all, t| all | Self::bit(new_of[t].into()));
            QueueEntry { thread: new_of[usize::from(entry.thread)], awaited, ..entry }
        });
        let moved: Vec<QueueEntry> = moved.collect();
        state.bytes.truncate(self.shape.entries);
        for entry in moved {
            self.enqueue(state, entry);
        }
    }

    /// Every other way to say which thread of a state is which of the program's: by thread of the
    /// program, that of the state. `base` is one way; threads that are in the same state of their
    /// own give nothing new. `None`: there are more than `most`.
    pub fn namings(&self, state: &State, base: &[u8], most: usize) -> Option<Vec<Vec<u8>>> {
        let threads = self.sm.len();
        let mut all = vec![base.to_vec()];
        for class in 0..threads {
            let members: Vec<usize> =
                (0..threads).filter(|&t| usize::from(self.class[t]) == class).collect();
            if members.len() < 2 {
                continue;
            }
            let local = |t: u8| self.shape.local(state, t.into());
            let mut pool: Vec<u8> = members.iter().map(|&t| base[t]).collect();
            pool.sort_by_key(|&t| local(t));
            if count(&pool, &local).saturating_mul(all.len()) > most {
                return None;
            }
            let orders = distinct(&pool, &local);
            all = all
                .into_iter()
                .flat_map(|naming| {
                    let members = &members;
                    orders.iter().map(move |order| {
                        let mut naming = naming.clone();
                        for (&member, &of) in members.iter().zip(order) {
                            naming[member] = of;
                        }
                        naming
                    })
                })
                .collect();
        }
        Some(all)
    }
}

/// How many orders `distinct` finds.
fn count(pool: &[u8], key: &dyn Fn(u8) -> u32) -> usize {
    let (mut all, mut same) = (1_usize, 0);
    for (index, &one) in pool.iter().enumerate() {
        same = if index > 0 && key(pool[index - 1]) == key(one) { same + 1 } else { 1 };
        // n! over the factorials of how many are alike; each step divides.
        all = all.saturating_mul(index + 1) / same;
    }
    all
}

/// The orders of these that differ in what `key` says.
fn distinct(pool: &[u8], key: &dyn Fn(u8) -> u32) -> Vec<Vec<u8>> {
    if pool.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (index, &first) in pool.iter().enumerate() {
        if index > 0 && key(pool[index - 1]) == key(first) {
            continue;
        }
        let mut rest = pool.to_vec();
        rest.remove(index);
        for mut order in distinct(&rest, key) {
            order.insert(0, first);
            all.push(order);
        }
    }
    all
}
