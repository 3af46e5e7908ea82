//! Paths that ask again: states at the same line of which one only has more reads and fences after it.
//!
//! A thread that polls a flag and asks again if it is not set comes to the same line with the same live registers,
//! after one read or after several. Each execution of the longer path without the further reads and fences is an
//! execution of the shorter one: no relation gains an edge, and every axiom is antitone in them. It has the same
//! outcome. A read that is left out races with what a later read of these bytes races with, if no event between them
//! orders another thread before the latter.

use std::collections::{BTreeMap, BTreeSet};

use super::private::PrivateWrite;
use super::state::PathState;
use super::{Assumption, SkippedOperation, Walk};
use crate::event::{EventKind, Mask, PathEvent, Tags};
use crate::expr::{Expr, ExprId, Exprs};
use model::given::Tag;
use model::program::{Program, Thread};

/// The maximum number of states that are kept for a line.
const KEPT: usize = 48;

/// The states that came to each line at which paths meet.
#[derive(Default)]
pub(super) struct Arrivals {
    by_line: BTreeMap<usize, Vec<PathState>>,
}

/// The lines at which paths meet; none if all paths are wanted.
pub(super) fn joins(program: &Program, thread: &Thread) -> BTreeSet<usize> {
    if !program.omits_covered {
        return BTreeSet::new();
    }
    let branches = thread.lines.iter().filter_map(|line| line.instruction.as_branch());
    branches.map(|branch| branch.target).chain([thread.lines.len()]).collect()
}

impl Walk<'_> {
    /// Whether a state came here before of which this one is a longer version. The states with the fewest events are
    /// to come first.
    pub(super) fn is_covered(&mut self, state: &PathState) -> bool {
        let lines = &self.program.threads[usize::from(self.thread.0)].lines;
        let line = state.pc.min(lines.len());
        let before = self.arrivals.by_line.entry(line).or_default();
        let registers: Vec<usize> = self.live.at(line).collect();
        let covers = |one: &PathState| {
            Alignment::new(one, state).is_some_and(|alignment| {
                alignment.covers(registers.iter().map(|&register| {
                    [one, state].map(|of| (of.registers[register], of.taint[register]))
                }))
            })
        };
        if before.iter().any(covers) {
            return true;
        }
        if before.len() < KEPT {
            before.push(PathState { heads: Vec::new(), trace: Vec::new(), ..state.clone() });
        }
        false
    }
}

/// Two states, and which event of the longer one is which of the shorter one.
struct Alignment<'a> {
    short: &'a PathState,
    long: &'a PathState,
    /// For each event of the longer state; `None` if the shorter one lacks it.
    of: Vec<Option<u16>>,
}

impl<'a> Alignment<'a> {
    fn new(short: &'a PathState, long: &'a PathState) -> Option<Alignment<'a>> {
        let times = |line: &usize| long.visits.get(line).map_or(0, |long| long.times);
        let repeats = short.visits.iter().all(|(line, short)| short.times <= times(line));
        // A state that forks comes to its line again.
        if long.events.len() <= short.events.len() {
            return None;
        }
        if !repeats || short.passed_over != long.passed_over || short.step > long.step {
            return None;
        }
        let mut of = vec![None; long.events.len()];
        let mut left = short.events.len();
        // What the shorter state has after an event, up to the first that other threads may be ordered before.
        let mut next: Vec<&PathEvent> = Vec::new();
        for (at, event) in long.events.iter().enumerate().rev() {
            if left > 0 && same_form(&short.events[left - 1], event) {
                left -= 1;
                of[at] = Some(u16::try_from(left).expect("a path has few events"));
                let plain = matches!(event.kind, EventKind::Read | EventKind::Write);
                if !plain || event.tags.has(Tag::Acquire) {
                    next.clear();
                }
                next.push(event);
                continue;
            }
            let repeats = || next.iter().any(|next| reads_the_same(event, next));
            let idle = event.kind == EventKind::Fence || event.kind == EventKind::Read && repeats();
            if !idle {
                return None;
            }
        }
        (left == 0).then_some(Alignment { short, long, of })
    }

    fn covers(&self, live: impl Iterator<Item = [(ExprId, Mask); 2]>) -> bool {
        let Alignment { short, long, .. } = *self;
        let value = |[a, b]: [(ExprId, Mask); 2]| self.is_same(a.0, b.0) && self.within(a.1, b.1);
        let mut pairs = long
            .events
            .iter()
            .zip(&self.of)
            .filter_map(|(event, of)| of.map(|of| (&short.events[usize::from(of)], event)));
        let write = |one: &PrivateWrite| (one.value, one.taint);
        let memory = || short.memory.iter().zip(&long.memory);
        short.memory.len() == long.memory.len()
            && memory().all(|(a, b)| a.bytes == b.bytes && value([write(a), write(b)]))
            && self.within(short.ctrl, long.ctrl)
            && short.skipped.len() == long.skipped.len()
            && short.skipped.iter().zip(&long.skipped).all(|(a, b)| self.is_same_skipped(a, b))
            && pairs.all(|(a, b)| self.is_same_event(a, b))
            && { live }.all(value)
            && short.checks.iter().all(|check| self.is_checked(check))
    }

    /// Whether the longer state assumes the same.
    fn is_checked(&self, check: &Assumption) -> bool {
        self.long.checks.iter().any(|other| {
            let same = match (check, other) {
                (Assumption::Truth(_, ours), Assumption::Truth(_, theirs)) => ours == theirs,
                (Assumption::Equals(_, ours), Assumption::Equals(_, theirs)) => ours == theirs,
                (Assumption::NoneOf(_, ours), Assumption::NoneOf(_, theirs)) => ours == theirs,
                (Assumption::Truth(..) | Assumption::Equals(..) | Assumption::NoneOf(..), _) => {
                    false
                }
            };
            same && self.is_same(check.expr(), other.expr())
        })
    }

    fn is_same_skipped(&self, a: &SkippedOperation, b: &SkippedOperation) -> bool {
        let before = self.of[..usize::from(b.before)].iter().flatten().count();
        usize::from(a.before) == before && a.objects == b.objects && self.within(a.taint, b.taint)
    }

    fn is_same_event(&self, a: &PathEvent, b: &PathEvent) -> bool {
        let values = |a: Option<ExprId>, b: Option<ExprId>| match (a, b) {
            (Some(a), Some(b)) => self.is_same(a, b),
            (None, None) => true,
            _ => false,
        };
        let half = b.rmw.map(|half| self.of[usize::from(half)]);
        values(a.address, b.address)
            && values(a.value, b.value)
            && a.rmw.map(Some) == half
            && self.within(a.addr, b.addr)
            && self.within(a.data, b.data)
            && self.within(a.ctrl, b.ctrl)
            && a.barrier.is_none_or(|barrier| barrier.reduce.is_none())
    }

    /// Whether the events of a mask of the shorter state are among those of one of the longer state.
    fn within(&self, short: Mask, long: Mask) -> bool {
        let kept = self.of.iter().enumerate().filter(|(at, _)| long >> at & 1 == 1);
        let kept = kept.filter_map(|(_, of)| *of).fold(0, |all: Mask, of| all | 1 << of);
        short & !kept == 0
    }

    fn is_same(&self, short: ExprId, long: ExprId) -> bool {
        let read = |a: u16, b: u16| self.of.get(usize::from(b)).is_some_and(|of| *of == Some(a));
        is_same((&self.short.exprs, short), (&self.long.exprs, long), &read, &mut SIZE.clone())
    }
}

/// The maximum number of parts of two values that are compared.
const SIZE: u32 = 256;

/// An operation without its operands, and those.
fn operation(expr: Expr) -> (Expr, [ExprId; 3]) {
    let none = ExprId(0);
    match expr {
        Expr::Alu { op, ty, a, b, c } => {
            (Expr::Alu { op, ty, a: none, b: none, c: none }, [a, b, c])
        }
        Expr::Atomic { op, ty, old, operand } => {
            (Expr::Atomic { op, ty, old: none, operand: none }, [old, operand, operand])
        }
        Expr::Extend { ty, of } => (Expr::Extend { ty, of: none }, [of, of, of]),
        leaf @ (Expr::Const(_) | Expr::Read(_) | Expr::Reduced(_)) => (leaf, [none; 3]),
    }
}

/// Whether two values are computed in the same way; `read` says which reads are the same.
fn is_same(
    (ours, a): (&Exprs, ExprId),
    (theirs, b): (&Exprs, ExprId),
    read: &dyn Fn(u16, u16) -> bool,
    left: &mut u32,
) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    match (ours.get(a), theirs.get(b)) {
        (Expr::Const(a), Expr::Const(b)) => a == b,
        (Expr::Read(a), Expr::Read(b)) => read(a, b),
        (Expr::Reduced(_), _) | (_, Expr::Reduced(_)) => false,
        (one, other) => {
            let ((one, parts), (other, others)) = (operation(one), operation(other));
            let mut pairs = parts.into_iter().zip(others);
            one == other && pairs.all(|(a, b)| is_same((ours, a), (theirs, b), read, left))
        }
    }
}

/// Whether two events differ at most in where they stand, in values and in what they depend on.
fn same_form(a: &PathEvent, b: &PathEvent) -> bool {
    (a.kind, a.tags, a.access, a.element) == (b.kind, b.tags, b.access, b.element)
        && a.rmw.is_some() == b.rmw.is_some()
        && a.barrier == b.barrier
        && a.mbarrier == b.mbarrier
        && a.part.is_none()
        && b.part.is_none()
}

/// Whether a read races with nothing that another one does not race with.
fn reads_the_same(one: &PathEvent, other: &PathEvent) -> bool {
    let strength = |tags: Tags| tags.with(Tag::Acquire);
    one.kind == EventKind::Read
        && other.kind == EventKind::Read
        && one.access == other.access
        && strength(one.tags) == strength(other.tags)
}
