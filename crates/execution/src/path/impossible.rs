//! Paths in loops whose reads cannot return what the path assumes: [`crate::written`].

use std::collections::BTreeSet;

use super::state::PathState;
use super::{Assumption, LoopFacts, Path, Walk};
use crate::event::{EventKind, PathEvent};
use crate::expr::{Expr, Exprs};
use crate::written::Counter;
use model::program::ThreadId;
use model::value::{Value, low_bytes};

/// What a path has done, and what it assumes.
struct Assumed<'a> {
    exprs: &'a Exprs,
    events: &'a [PathEvent],
    checks: &'a [Assumption],
}

impl Path {
    /// Whether no execution has this path of a thread, by what the program writes.
    pub fn is_impossible(&self, facts: &LoopFacts<'_>, thread: ThreadId, tearing: bool) -> bool {
        let Path { exprs, events, checks, .. } = self;
        Assumed { exprs, events, checks }.is_impossible(facts, thread, tearing)
    }

    /// What a read may return, if the program says it.
    pub fn returned(
        &self,
        facts: &LoopFacts<'_>,
        thread: ThreadId,
        read: u16,
        tearing: bool,
    ) -> Option<BTreeSet<Value>> {
        let Path { exprs, events, checks, .. } = self;
        let at = usize::from(read);
        if let Some(counter) = facts.written.counters.get(&events[at].access?.pa) {
            return Some((0..=counter.most).map(|far| counter.value(far)).collect());
        }
        Assumed { exprs, events, checks }.returned(at, facts, thread, tearing)
    }

    /// Whether it goes this way where these leaves have these values, as far as they decide it.
    pub fn admits(&self, known: &dyn Fn(Expr) -> Option<Value>) -> bool {
        admits(&self.exprs, &self.checks, known)
    }

    /// Whether it accesses a counter elsewhere than it is known to.
    pub fn contradicts(&self, facts: &LoopFacts<'_>, thread: ThreadId) -> bool {
        let mut counters = facts.written.counters.iter();
        counters.any(|(bytes, counter)| {
            self.events.iter().any(|event| {
                event.access.is_some_and(|access| access.pa.overlaps(*bytes))
                    && !counter.is_known(thread, event.line.into())
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

impl Walk<'_> {
    /// Whether a path that goes back to the head of a loop may be dropped. Which decisions are real may take all paths to say.
    pub(super) fn is_impossible(&self, state: &PathState) -> bool {
        !self.conventions.semantic_dependencies
            && Assumed::of(state).is_impossible(self.facts, self.thread, self.conventions.tearing)
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
                    && !of.admits(at, counter.value(counter.most))
            })
        });
        moved && !of.is_impossible(self.facts, self.thread, self.conventions.tearing)
    }
}

impl<'a> Assumed<'a> {
    fn of(state: &'a PathState) -> Assumed<'a> {
        Assumed { exprs: &state.exprs, events: &state.events, checks: &state.checks }
    }

    fn is_impossible(&self, facts: &LoopFacts<'_>, thread: ThreadId, tearing: bool) -> bool {
        let counters = &facts.written.counters;
        counters.iter().any(|(bytes, counter)| {
            let here = |event: &PathEvent| event.access.is_some_and(|of| of.pa == *bytes);
            !self.goes_one_way(&here, counter, thread)
        }) || (0..self.events.len()).any(|at| self.returns_nothing(at, facts, thread, tearing))
    }

    /// Whether a read may return this value, as far as the checks that are of it alone go.
    fn admits(&self, at: usize, value: Value) -> bool {
        let read = u16::try_from(at).map(Expr::Read);
        admits(self.exprs, self.checks, &|leaf| (Ok(leaf) == read).then_some(value))
    }

    /// Whether the reads of a counter may return values each of which is as far as the one before, and farther where it was moved.
    fn goes_one_way(
        &self,
        here: &dyn Fn(&PathEvent) -> bool,
        counter: &Counter,
        thread: ThreadId,
    ) -> bool {
        let mut least = 0;
        for (at, event) in self.events.iter().enumerate().filter(|(_, event)| here(event)) {
            if event.kind != EventKind::Read {
                continue;
            }
            let found = (least..=counter.most).find(|&far| self.admits(at, counter.value(far)));
            let Some(found) = found else { return false };
            least = found + counter.step(thread, event.line.into());
        }
        true
    }

    /// Whether it is a read that no write of the program gives a value that it may return.
    fn returns_nothing(
        &self,
        at: usize,
        facts: &LoopFacts<'_>,
        thread: ThreadId,
        tearing: bool,
    ) -> bool {
        let values = self.returned(at, facts, thread, tearing);
        values.is_some_and(|values| !values.into_iter().any(|value| self.admits(at, value)))
    }

    fn returned(
        &self,
        at: usize,
        facts: &LoopFacts<'_>,
        thread: ThreadId,
        tearing: bool,
    ) -> Option<BTreeSet<Value>> {
        let event = &self.events[at];
        let bytes = event.access.map(|of| of.pa).filter(|_| event.kind == EventKind::Read)?;
        let written = facts.written.bytes.get(&bytes)?;
        let is_own = |of: &&PathEvent| {
            of.kind == EventKind::Write && of.access.is_some_and(|of| of.pa == bytes)
        };
        let own = self.events[..at].iter().rfind(is_own);
        let own = own.map(|own| {
            let value = own.value.and_then(|value| self.exprs.as_const(value));
            value.map(|value| value & low_bytes(bytes.length))
        });
        written.read(thread, bytes, own, tearing)
    }
}
