//! Paths in loops whose reads cannot return what the path assumes: [`crate::written`].

use std::collections::{BTreeMap, BTreeSet};

use super::state::PathState;
use super::{Assumption, Path, Walk};
use crate::event::{BarrierUse, EventKind, PathEvent, Resource};
use crate::expr::{Expr, ExprId, Exprs};
use crate::written::{BroughtToShuffles, Counter, Written};
use model::memory::Extent;
use model::program::{Program, ThreadId};
use model::value::{Value, low_bytes};

/// Combinations of the values of reads beyond which an expression may have any value.
const MOST: usize = 256;

/// What a path has done, and what it assumes.
pub(super) struct Assumed<'a> {
    exprs: &'a Exprs,
    events: &'a [PathEvent],
    checks: &'a [Assumption],
}

/// What the program says of memory, for the paths of a thread.
#[derive(Clone, Copy)]
pub struct KnownMemory<'f> {
    pub program: &'f Program,
    pub written: &'f Written,
    pub thread: ThreadId,
    /// Whether racing accesses may mix the bytes of values.
    pub tearing: bool,
}

impl Path {
    /// Whether no execution has this path, by what the program writes and brings to shuffles.
    pub fn is_impossible(&self, known: KnownMemory<'_>) -> bool {
        self.assumed().is_impossible(known)
    }

    /// What a read may return, or a shuffle, if the program says it.
    pub fn returned(&self, read: u16, known: KnownMemory<'_>) -> Option<BTreeSet<Value>> {
        self.assumed().domain(read.into(), known)
    }

    /// What it may write to some bytes; `None` if that may be anything.
    pub fn written(&self, bytes: Extent, known: KnownMemory<'_>) -> Option<BTreeSet<Value>> {
        let mut all = BTreeSet::new();
        for write in self.events.iter().filter(|event| writes(event, bytes)) {
            all.extend(self.assumed().stored(write, known)?);
        }
        Some(all)
    }

    /// What a write may write; `None` if that may be anything.
    pub fn stored(&self, write: &PathEvent, known: KnownMemory<'_>) -> Option<BTreeSet<Value>> {
        self.assumed().stored(write, known)
    }

    /// Adds what it may bring to shuffles, and those to which that may be anything.
    pub fn brought(
        &self,
        known: KnownMemory<'_>,
        all: &mut BroughtToShuffles,
        unknown: &mut BTreeSet<Resource>,
    ) {
        for event in self.events.iter().filter(|event| event.kind == EventKind::Arrive) {
            let Some(used) = event.barrier.filter(BarrierUse::shuffles) else { continue };
            if unknown.contains(&used.resource) {
                continue;
            }
            if let Some(values) = self.brought_at(event, known) {
                all.entry(used.resource).or_default().extend(values);
            } else {
                unknown.insert(used.resource);
            }
        }
    }

    /// What it may bring with an arrival; `None` if that may be anything.
    pub fn brought_at(
        &self,
        arrival: &PathEvent,
        known: KnownMemory<'_>,
    ) -> Option<BTreeSet<Value>> {
        let (_, value, _) = arrival.barrier?.reduce?;
        let of = self.assumed();
        of.values(value, &|event| of.domain(event.into(), known))
    }

    /// What the path has written last to some bytes before an event, if it has; `None` if that may be anything.
    pub fn before(
        &self,
        at: u16,
        bytes: Extent,
        known: KnownMemory<'_>,
    ) -> Option<Option<BTreeSet<Value>>> {
        let of = self.assumed();
        Some(of.stored(of.last_own(at.into(), bytes)?, known))
    }

    /// How far it moves a counter.
    pub fn moves(&self, bytes: Extent, counter: &Counter, thread: ThreadId) -> Value {
        let all = self.events.iter().filter(|event| writes(event, bytes));
        all.map(|event| counter.step(thread, event.line.into())).sum()
    }

    fn assumed(&self) -> Assumed<'_> {
        Assumed { exprs: &self.exprs, events: &self.events, checks: &self.checks }
    }

    /// Whether it goes this way where these leaves have these values, as far as they decide it.
    pub fn admits(&self, known: &dyn Fn(Expr) -> Option<Value>) -> bool {
        admits(&self.exprs, &self.checks, known)
    }

    /// Whether it accesses bytes from a line of which that is not known, though each access of them is taken to be.
    pub fn contradicts(&self, known: KnownMemory<'_>) -> bool {
        known.written.assumed_lines().any(|(bytes, lines)| {
            self.events.iter().any(|event| {
                event.access.is_some_and(|access| access.pa.overlaps(bytes))
                    && !lines.contains(&(known.thread, event.line.into()))
            })
        })
    }
}

/// Whether checks hold where these leaves have these values, as far as they decide it.
fn admits(exprs: &Exprs, checks: &[Assumption], known: &dyn Fn(Expr) -> Option<Value>) -> bool {
    checks.iter().all(|check| {
        let value = exprs.eval(check.expr(), &mut |leaf| known(leaf));
        value.is_none_or(|value| check.holds(value))
    })
}

/// Whether an event writes these bytes.
fn writes(event: &PathEvent, bytes: Extent) -> bool {
    event.kind == EventKind::Write && event.access.is_some_and(|of| of.pa == bytes)
}

impl Walk<'_> {
    /// What the program says of memory.
    pub(super) fn known_memory(&self) -> KnownMemory<'_> {
        let (program, thread) = (self.program, self.thread);
        let tearing = self.conventions.tearing;
        KnownMemory { program, written: &self.facts.written, thread, tearing }
    }

    /// Whether a path that goes back to the head of a loop may be dropped. Which decisions are real may take all paths to say.
    pub(super) fn is_impossible(&self, state: &PathState) -> bool {
        !self.conventions.semantic_dependencies
            && Assumed::of(state).is_impossible(self.known_memory())
    }

    /// Whether each iteration takes from a counter what is bounded: since this event, the path has added to one whose farthest
    /// value it excludes; and the path is possible so far.
    pub(super) fn counts(&self, state: &PathState, from: usize) -> bool {
        let of = Assumed::of(state);
        let moved = (from..state.events.len()).any(|at| {
            let event = &state.events[at];
            let counter = event.access.and_then(|of| self.facts.written.counters.get(&of.pa));
            counter.is_some_and(|counter| {
                event.kind == EventKind::Read
                    && event.rmw.is_some()
                    && !of.admits(at, counter.value(counter.most()))
            })
        });
        moved && !of.is_impossible(self.known_memory())
    }
}

impl<'a> Assumed<'a> {
    pub(super) fn of(state: &'a PathState) -> Assumed<'a> {
        Assumed { exprs: &state.exprs, events: &state.events, checks: &state.checks }
    }

    fn is_impossible(&self, known: KnownMemory<'_>) -> bool {
        let counters = &known.written.counters;
        let end = self.events.len();
        counters.iter().any(|(&bytes, of)| self.least(bytes, of, known.thread, end).is_none())
            || (0..end).any(|at| {
                let counts = self.events[at].access.is_some_and(|of| counters.contains_key(&of.pa));
                let values = (!counts).then(|| self.domain(at, known)).flatten();
                values.is_some_and(|values| values.is_empty())
            })
    }

    /// Whether a read, or an exchange, may return this value, as far as the checks that are of it alone go.
    fn admits(&self, at: usize, value: Value) -> bool {
        let here = |leaf| match leaf {
            Expr::Read(event) | Expr::Reduced(event) => usize::from(event) == at,
            Expr::Const(_) | Expr::Alu { .. } | Expr::Atomic { .. } | Expr::Extend { .. } => false,
        };
        admits(self.exprs, self.checks, &|leaf| here(leaf).then_some(value))
    }

    /// The least that a counter has moved before this event, where each read of it is as far as the one before, and farther where
    /// the thread has moved it. `None` if one of them may not be.
    fn least(
        &self,
        bytes: Extent,
        counter: &Counter,
        thread: ThreadId,
        until: usize,
    ) -> Option<Value> {
        let mut least = 0;
        let here = |event: &PathEvent| {
            event.kind == EventKind::Read && event.access.is_some_and(|of| of.pa == bytes)
        };
        let before = self.events[..until].iter().enumerate();
        for (at, event) in before.filter(|(_, event)| here(event)) {
            let step = counter.step(thread, event.line.into());
            let most = counter.most().checked_sub(step)?;
            least = (least..=most).find(|&far| self.admits(at, counter.value(far)))? + step;
        }
        Some(least)
    }

    /// The values that a read may return, or a shuffle, as far as the program and the checks that are of it alone say; `None` if they
    /// may be any.
    pub(super) fn domain(&self, at: usize, known: KnownMemory<'_>) -> Option<BTreeSet<Value>> {
        let event = &self.events[at];
        if event.kind == EventKind::Wait {
            let brought = Self::shuffled(event, known)?.iter().copied();
            return Some(brought.filter(|&value| self.admits(at, value)).collect());
        }
        let bytes = event.access.map(|of| of.pa).filter(|_| event.kind == EventKind::Read)?;
        let values = if let Some(counter) = known.written.counters.get(&bytes) {
            let least = self.least(bytes, counter, known.thread, at);
            let step = counter.step(known.thread, event.line.into());
            let most = counter.most().checked_sub(step);
            let all = least.zip(most).into_iter().flat_map(|(least, most)| least..=most);
            all.map(|far| counter.value(far)).collect()
        } else {
            let written = known.written.bytes.get(&bytes)?;
            let own = self.last_own(at, bytes).map(|own| self.constant(own));
            written.read(known.thread, bytes, own, known.tearing)?
        };
        Some(values.into_iter().filter(|&value| self.admits(at, value)).collect())
    }

    /// What the lane brings from which a shuffle takes its result.
    fn shuffled<'k>(wait: &PathEvent, known: KnownMemory<'k>) -> Option<&'k BTreeSet<Value>> {
        let source = known.program.lane_thread(known.thread, wait.source_lane()?)?;
        known.written.brought(source, wait.barrier?.resource)
    }

    /// What a write may write; `None` if that may be anything.
    fn stored(&self, write: &PathEvent, known: KnownMemory<'_>) -> Option<BTreeSet<Value>> {
        let bytes = write.access?.pa;
        let values = self.values(write.value?, &|read| self.domain(read.into(), known))?;
        Some(values.into_iter().map(|value| value & low_bytes(bytes.length)).collect())
    }

    /// What the thread has written last to these bytes before this event.
    fn last_own(&self, at: usize, bytes: Extent) -> Option<&PathEvent> {
        self.events[..at].iter().rfind(|event| writes(event, bytes))
    }

    fn constant(&self, write: &PathEvent) -> Option<Value> {
        let bytes = write.access?.pa;
        let value = write.value.and_then(|value| self.exprs.as_const(value));
        value.map(|value| value & low_bytes(bytes.length))
    }

    /// The values of an expression where each read, or exchange, returns one of these; `None` if they may be any.
    pub(super) fn values(
        &self,
        expr: ExprId,
        returned: &dyn Fn(u16) -> Option<BTreeSet<Value>>,
    ) -> Option<BTreeSet<Value>> {
        let mut reads: BTreeMap<u16, Vec<Value>> = BTreeMap::new();
        self.exprs.leaves(expr, &mut |leaf| match leaf {
            Expr::Read(event) | Expr::Reduced(event) => {
                reads.entry(event).or_default();
            }
            Expr::Const(_) | Expr::Alu { .. } | Expr::Atomic { .. } | Expr::Extend { .. } => {}
        });
        let mut combinations = 1;
        for (read, values) in &mut reads {
            *values = returned(*read)?.into_iter().collect();
            combinations *= values.len();
            if combinations > MOST {
                return None;
            }
        }
        let mut all = BTreeSet::new();
        for combination in 0..combinations {
            let mut rest = combination;
            let chosen: BTreeMap<u16, Value> = reads
                .iter()
                .map(|(read, values)| {
                    let value = values[rest % values.len()];
                    rest /= values.len();
                    (*read, value)
                })
                .collect();
            let known = |leaf: Expr| match leaf {
                Expr::Read(event) | Expr::Reduced(event) => chosen.get(&event).copied(),
                Expr::Const(_) | Expr::Alu { .. } | Expr::Atomic { .. } | Expr::Extend { .. } => {
                    None
                }
            };
            if admits(self.exprs, self.checks, &known) {
                all.insert(self.exprs.eval(expr, &mut |leaf| known(leaf))?);
            }
        }
        Some(all)
    }
}
