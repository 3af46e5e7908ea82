//! What threads write to bytes that are only accessed as a whole, as far as constants say it.
//!
//! By Coherence, Causality and Atomicity a thread that has written such bytes reads its own last write there, or one of another thread:
//! with what these write, a path whose reads would have to return something else is impossible. A *counter* is only
//! added to, always up or always down, by atomics that are morally strong: what a thread reads there goes one way. Its values
//! stay within what all threads add on the longest paths, as those that would need more are among the impossible ones;
//! of executions that contradict this, No-Thin-Air excludes the first one. What all paths of a thread write, and how far they
//! move counters, says more than its instructions do: it is learned from them, once they are listed. So is what a lane brings to the
//! shuffles of its warp.

use std::collections::{BTreeMap, BTreeSet};

use crate::accessed::{Accessed, LineAccess, Reach};
use crate::agreed::{agree, is_plain};
use crate::contents::put_together;
use crate::event::Resource;
use crate::layout::Layout;
use crate::path::MAX_EVENTS;
use model::isa::atom::{Atomic, AtomicOp};
use model::isa::{Instruction, TypeKind};
use model::memory::Extent;
use model::program::{Program, ThreadId};
use model::reading::FailedCas;
use model::rel::Conventions;
use model::value::{Value, little_endian, low_bits};

/// Values of a counter beyond which it is not one.
const MOST_COUNTED: Value = 1 << 11;

/// Values of bytes beyond which they may be any.
const MOST_VALUES: usize = 64;

/// By physical bytes.
#[derive(Clone, Default, Debug)]
pub struct Written {
    pub bytes: BTreeMap<Extent, WrittenBytes>,
    pub counters: BTreeMap<Extent, Counter>,
    /// What threads bring to shuffles.
    pub brought: BTreeMap<ThreadId, BroughtToShuffles>,
}

/// What a thread brings to the shuffles of each mask of lanes, as far as it is known.
pub type BroughtToShuffles = BTreeMap<Resource, BTreeSet<Value>>;

/// What is written to some bytes, of which each access is known.
#[derive(Clone, Debug)]
pub struct WrittenBytes {
    initial: Value,
    /// What each thread writes; `None` if that is not known.
    by_thread: BTreeMap<ThreadId, Option<BTreeSet<Value>>>,
    /// The lines that access them, as far as they are known.
    lines: BTreeSet<(ThreadId, usize)>,
    /// Whether an address that is not known may be one of them: it is looked at where paths are listed.
    is_assumed: bool,
}

/// Bytes that are only added to.
#[derive(Clone, Debug)]
pub struct Counter {
    initial: Value,
    bits: u16,
    down: bool,
    /// What the atomic of each line adds, or takes away.
    steps: BTreeMap<(ThreadId, usize), Value>,
    /// The lines that access it, as far as they are known.
    lines: BTreeSet<(ThreadId, usize)>,
    /// How far each thread moves it at most.
    by_thread: BTreeMap<ThreadId, Value>,
}

impl Written {
    pub fn new(
        program: &Program,
        layout: &Layout,
        accessed: &Accessed<'_>,
        conventions: Conventions,
    ) -> Written {
        let others = program.contested.is_some() || program.omits_covered;
        if others || program.variables.iter().any(|variable| variable.absolute.is_some()) {
            return Written::default();
        }
        let (all, unknown) = accessed.by_bytes();
        let asynchronous: BTreeSet<Reach> = accessed.asynchronous.iter().copied().collect();
        let mut written = Written::default();
        let sources = (0..).map(ThreadId).take(program.threads.len());
        let sources = sources.filter(|&thread| program.is_shuffle_source(thread));
        written.brought = sources.map(|thread| (thread, BTreeMap::new())).collect();
        for (&bytes, here) in &all {
            let location = &layout.locations[usize::from(bytes.object)];
            let reached = |by: &BTreeSet<Reach>| {
                by.iter().any(|reach| reach.includes(program, location.variable))
            };
            let whole = all.keys().all(|other| *other == bytes || !other.overlaps(bytes));
            if !layout.has_one_name(bytes.object)
                || !whole
                || !here.iter().all(|access| is_plain(access))
                || reached(&asynchronous)
            {
                continue;
            }
            let range = bytes.start as usize..bytes.end() as usize;
            let Some(initial) = location.initial.get(range).map(little_endian) else { continue };
            let operand = |access: &LineAccess<'_>, at: usize| {
                let constants = &accessed.constants[usize::from(access.thread.0)];
                let operand = access.instruction.operands().nth(at)?;
                constants.operand(layout, access.thread, access.line, operand)
            };
            let agreed = here.iter().all(|one| here.iter().all(|other| agree(program, one, other)));
            if agreed
                && !conventions.thin_air
                && let Some(counter) = Counter::of(program, initial, here, &operand)
            {
                written.counters.insert(bytes, counter);
            }
            let is_assumed = reached(&unknown);
            if !is_assumed || !conventions.thin_air {
                let mut by_thread: BTreeMap<ThreadId, Option<BTreeSet<Value>>> = BTreeMap::new();
                for access in here {
                    if matches!(access.instruction, Instruction::Load(_)) {
                        continue;
                    }
                    let at = written_operand(access.instruction);
                    // Reading R23: what was there is written again, or in a race what was there before.
                    let is_cas =
                        access.instruction.as_atomic().is_some_and(|of| of.op == AtomicOp::Cas);
                    let is_again = is_cas && conventions.failed_cas == FailedCas::Writes && !agreed;
                    let at = at.filter(|_| !is_again);
                    let value = at.and_then(|at| operand(access, at));
                    let value = value.map(|value| value & low_bits(access.bits));
                    let of = by_thread.entry(access.thread).or_insert_with(|| Some(<_>::default()));
                    match (value, &mut *of) {
                        (Some(value), Some(all)) => {
                            all.insert(value);
                        }
                        (None, _) => *of = None,
                        (Some(_), None) => {}
                    }
                }
                let lines = here.iter().map(|of| (of.thread, of.line)).collect();
                let of = WrittenBytes { initial, by_thread, lines, is_assumed };
                written.bytes.insert(bytes, of);
            }
        }
        written
    }

    /// Whether it says anything.
    pub fn is_known(&self) -> bool {
        !self.counters.is_empty() || !self.bytes.is_empty() || !self.brought.is_empty()
    }

    /// Whether what threads write says more of some bytes, or what they bring to shuffles.
    pub fn is_open(&self) -> bool {
        let open = |of: &WrittenBytes| of.by_thread.values().any(Option::is_none);
        !self.counters.is_empty() || self.bytes.values().any(open) || !self.brought.is_empty()
    }

    /// The lines that access the bytes of which each access is taken to be known, though addresses that are not known may be theirs.
    pub fn assumed_lines(
        &self,
    ) -> impl Iterator<Item = (Extent, &BTreeSet<(ThreadId, usize)>)> + '_ {
        let counters = self.counters.iter().map(|(&bytes, of)| (bytes, &of.lines));
        let assumed = self.bytes.iter().filter(|(_, of)| of.is_assumed);
        counters.chain(assumed.map(|(&bytes, of)| (bytes, &of.lines)))
    }

    /// Without what is taken to be known.
    pub fn certain(mut self) -> Written {
        self.counters.clear();
        self.bytes.retain(|_, of| !of.is_assumed);
        self
    }

    /// What a thread may bring to a shuffle of these lanes; `None` if that may be anything.
    pub fn brought(&self, thread: ThreadId, shuffle: Resource) -> Option<&BTreeSet<Value>> {
        self.brought.get(&thread)?.get(&shuffle)
    }

    /// Takes over what a thread brings to shuffles, where there are few values; whether it is new.
    pub fn learn_brought(&mut self, thread: ThreadId, mut brought: BroughtToShuffles) -> bool {
        brought.retain(|_, values| values.len() <= MOST_VALUES);
        let known = self.brought.get_mut(&thread).filter(|known| **known != brought);
        known.map(|known| *known = brought).is_some()
    }

    /// Whether all writes to these bytes, of which each access is known, are of this thread.
    pub fn are_of_alone(&self, thread: ThreadId, bytes: Extent) -> bool {
        let of = self.bytes.get(&bytes);
        of.is_some_and(|of| of.by_thread.keys().all(|by| *by == thread))
    }
}

/// Which operand an instruction writes, unless it computes what it writes.
fn written_operand(instruction: &Instruction) -> Option<usize> {
    if matches!(instruction, Instruction::Store(_)) {
        return Some(0);
    }
    let op = instruction.as_atomic()?.op;
    if op == AtomicOp::Exch { Some(0) } else { (op == AtomicOp::Cas).then_some(1) }
}

impl WrittenBytes {
    pub fn initial(&self) -> Value {
        self.initial
    }

    /// The threads that write them.
    pub fn writers(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.by_thread.keys().copied()
    }

    /// Whether it is not known what a thread writes there.
    pub fn is_open(&self, thread: ThreadId) -> bool {
        self.by_thread.get(&thread).is_some_and(Option::is_none)
    }

    /// Takes over what a thread writes there, if there are few values; whether it is new.
    pub fn learn(&mut self, thread: ThreadId, values: BTreeSet<Value>) -> bool {
        let learns = self.is_open(thread) && values.len() <= MOST_VALUES;
        if learns {
            self.by_thread.insert(thread, Some(values));
        }
        learns
    }

    /// What a read of a thread may return that has written these values there before, its last one at the end.
    pub fn read(
        &self,
        thread: ThreadId,
        bytes: Extent,
        own: Option<Option<Value>>,
        tearing: bool,
    ) -> Option<BTreeSet<Value>> {
        let mut all = BTreeSet::from([own.unwrap_or(Some(self.initial))?]);
        for (_, values) in self.by_thread.iter().filter(|(other, _)| **other != thread) {
            all.extend(values.as_ref()?);
        }
        mixed(bytes, all, tearing)
    }
}

/// What a read may return of these values of its bytes, if they are few: also mixtures of them if `tearing`.
pub fn mixed(bytes: Extent, all: BTreeSet<Value>, tearing: bool) -> Option<BTreeSet<Value>> {
    put_together(bytes, &[(bytes, all)], tearing, MOST_VALUES)
}

impl Counter {
    fn of(
        program: &Program,
        initial: Value,
        here: &[&LineAccess<'_>],
        operand: &dyn Fn(&LineAccess<'_>, usize) -> Option<Value>,
    ) -> Option<Counter> {
        let bits = here[0].bits;
        let lines = here.iter().map(|of| (of.thread, of.line)).collect();
        let mut steps = BTreeMap::new();
        let mut ways = BTreeSet::new();
        for access in here.iter().filter(|of| !matches!(of.instruction, Instruction::Load(_))) {
            let integer = [TypeKind::Unsigned, TypeKind::Signed, TypeKind::Bits];
            let adds = |of: &&Atomic| of.op == AtomicOp::Add && integer.contains(&of.ty.kind);
            access.instruction.as_atomic().filter(adds)?;
            let added = operand(access, 0)? & low_bits(bits);
            let taken = added.wrapping_neg() & low_bits(bits);
            ways.insert(taken < added);
            steps.insert((access.thread, access.line), added.min(taken));
        }
        let smallest = *steps.values().min()?;
        let by_thread = farthest(program, &steps);
        let most = by_thread.values().try_fold(0, |all: Value, of| all.checked_add(*of))?;
        let counts = ways.len() == 1 && smallest > 0 && most <= MOST_COUNTED.min(low_bits(bits));
        let down = ways.contains(&true);
        counts.then_some(Counter { initial, bits, down, steps, lines, by_thread })
    }

    /// The farthest that it comes.
    pub fn most(&self) -> Value {
        self.by_thread.values().sum()
    }

    /// The threads that move it.
    pub fn movers(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.by_thread.keys().copied()
    }

    pub fn is_moved_by(&self, thread: ThreadId) -> bool {
        self.by_thread.contains_key(&thread)
    }

    /// Takes over how far a thread moves it at most; whether that is less than was known.
    pub fn learn(&mut self, thread: ThreadId, most: Value) -> bool {
        let known = self.by_thread.get_mut(&thread).filter(|known| **known > most);
        known.map(|known| *known = most).is_some()
    }

    /// The value so far from the first one.
    pub fn value(&self, far: Value) -> Value {
        let value = if self.down { self.initial.wrapping_sub(far) } else { self.initial + far };
        value & low_bits(self.bits)
    }

    /// How far the atomic of a line moves it.
    pub fn step(&self, thread: ThreadId, line: usize) -> Value {
        self.steps.get(&(thread, line)).copied().unwrap_or(0)
    }
}

/// How far each thread moves a counter at most: an atomic outside of loops once, and those in loops as often as a path has events.
fn farthest(
    program: &Program,
    steps: &BTreeMap<(ThreadId, usize), Value>,
) -> BTreeMap<ThreadId, Value> {
    let mut once: BTreeMap<ThreadId, Value> = BTreeMap::new();
    let mut again: BTreeMap<ThreadId, Value> = BTreeMap::new();
    for (&(thread, line), &step) in steps {
        let mut back = program.threads[usize::from(thread.0)].back_branches();
        let sum = once.entry(thread).or_default();
        if back.any(|(branch, target)| (target..=branch).contains(&line)) {
            let largest = again.entry(thread).or_default();
            *largest = step.max(*largest);
        } else {
            *sum = sum.saturating_add(step);
        }
    }
    for (thread, largest) in again {
        let all =
            Value::try_from(MAX_EVENTS).map_or(Value::MAX, |most| largest.saturating_mul(most));
        let sum = once.entry(thread).or_default();
        *sum = sum.saturating_add(all);
    }
    once
}
