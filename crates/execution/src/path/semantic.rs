//! Semantic dependencies, which replace the syntactic ones. Reading R13, `semantic`.
//!
//! Of the reads on which an event depends syntactically, these are kept:
//!
//! - those that occur in its address or value after folding. `xor r, r`, `sub r, r`, `and` and
//!   `mul` with 0, `setp` of a value with itself and `selp` between equal values depend on nothing. A
//!   read that the path compares equal to a constant is replaced by this constant;
//! - those of a decision (a branch, a guard, the success of a `cas`, an address) if some path has a different
//!   decision, otherwise differs only in decisions that depend on these reads, and does not have the event: an
//!   access of the same kind, order, scope and bytes that writes the same value, equally often. A path
//!   that faults, waits for ever or was cut has the events up to that point.
//!
//! Other syntactic dependencies are kept unless these rules show that they are not real.

use std::collections::HashMap;

use super::{Assumption, Path, SkippedOperation, UnfoldLimit};
use crate::event::{Access, EventKind, Mask, MbarrierUse, PathEvent, Resource, Tags};
use crate::expr::{Expr, ExprId};
use crate::unfold::Ends;
use model::value::{Value, low_bits, low_bytes};

/// Takes the dependencies that are not of values from `paths`, all those of one thread.
///
/// If only those are wanted that are `shown`, the others remain none: reads with two values of which
/// what is computed differs, decisions that examples make either way.
pub(super) fn keep_semantic(
    paths: &mut [Path],
    shown: bool,
    ends: Ends<'_>,
) -> Result<(), UnfoldLimit> {
    let syntactic = |path: &Path| path.events.iter().any(|event| all_of(event) != 0);
    if !paths.iter().any(syntactic) {
        return Ok(());
    }
    for path in &mut *paths {
        let decided: Vec<Mask> =
            (0..path.events.len()).map(|at| changes_depend(path, at)).collect();
        for (event, decided) in path.events.iter_mut().zip(decided) {
            event.ctrl |= decided;
        }
    }
    let all: Vec<Reasoned<'_>> = paths.iter().map(|path| Reasoned::new(path, shown)).collect();
    let mut real = Vec::with_capacity(paths.len());
    for path in &all {
        if let Some(limit) = ends(0) {
            return Err(limit);
        }
        let skipped = path.path.skipped.iter().map(|of| path.decides_skipped(of, &all)).collect();
        real.push((path.dependencies(&all), skipped));
    }
    for (path, (real, skipped)) in paths.iter_mut().zip(real) {
        let skipped: Vec<Mask> = skipped;
        for (of, real) in path.skipped.iter_mut().zip(skipped) {
            of.taint &= real;
        }
        // What a wait returned is not a value of memory: what depends on that still does.
        let waits = (0..).zip(&path.events).filter(|(_, of)| of.mbarrier.is_some());
        let waits = waits.fold(0, |all: Mask, (event, _)| all | 1 << event);
        for (event, (mask, predicate)) in path.events.iter_mut().zip(real) {
            event.addr &= mask | waits;
            event.data &= mask | waits;
            event.ctrl &= mask | waits;
            if let Some((.., taint)) = event.barrier.as_mut().and_then(|used| used.reduce.as_mut())
            {
                *taint &= predicate;
            }
        }
    }
    Ok(())
}

fn all_of(event: &PathEvent) -> Mask {
    event.addr | event.data | event.ctrl
}

/// What tells an event from others of its path, wherever the path does it; what a write writes is
/// compared apart.
type Identity = (EventKind, Tags, Option<Access>, bool, Option<Resource>, Vec<MbarrierUse>);

/// What the thread has done to the mbarrier object of an event, with what the event does. Whether the phase ends may
/// depend on that.
fn changes(path: &Path, at: usize) -> impl Iterator<Item = (&PathEvent, MbarrierUse)> {
    let of = path.events[at].mbarrier;
    let events = path.events[..=at].iter().filter_map(|event| Some((event, event.mbarrier?)));
    events.filter(move |(_, used)| {
        used.step.changes() && of.is_some_and(|of| of.object == used.object)
    })
}

/// What decided that. Of several operations that are alike, the last is the one that another path lacks.
fn changes_depend(path: &Path, at: usize) -> Mask {
    if !path.events[at].mbarrier.is_some_and(|used| used.step.changes()) {
        return 0;
    }
    changes(path, at).fold(0, |all, (event, _)| all | all_of(event))
}

/// A path with what can be said of its values.
struct Reasoned<'p> {
    path: &'p Path,
    /// For each expression, the reads and reductions that it is a function of.
    leaves: Vec<Mask>,
    /// The reads that a check says the value of.
    pinned: HashMap<u16, Value>,
    /// For each event, its identity and which of this identity it is.
    identities: Vec<(Identity, u32)>,
    events: HashMap<(Identity, u32), usize>,
    possible: bool,
    /// Whether a dependency counts only if an example shows it.
    shown: bool,
}

/// Values that examples give to reads.
const EXAMPLES: [Value; 14] =
    [0, 1, 2, 3, 4, 7, 8, 42, 0x7f, 0x80, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

impl<'p> Reasoned<'p> {
    fn new(path: &'p Path, shown: bool) -> Reasoned<'p> {
        let mut pinned = HashMap::new();
        for check in &path.checks {
            if let Some((read, value, bits)) = check.equates(&path.exprs) {
                let access = path.events[usize::from(read)].access;
                if access.is_some_and(|access| u32::from(bits) >= 8 * access.pa.length) {
                    pinned.entry(read).or_insert(value);
                }
            }
        }
        let mut counts: HashMap<Identity, u32> = HashMap::new();
        let identities: Vec<(Identity, u32)> = path
            .events
            .iter()
            .enumerate()
            .map(|(at, event)| {
                let resource = event.barrier.map(|used| used.resource);
                let atomic = event.kind == EventKind::Write && event.rmw.is_some();
                let changes = changes(path, at).map(|(_, used)| used).collect();
                let identity = (event.kind, event.tags, event.access, atomic, resource, changes);
                let count = counts.entry(identity.clone()).or_insert(0);
                *count += 1;
                (identity, *count)
            })
            .collect();
        let events = identities.iter().cloned().zip(0..).collect();
        let leaves = leaves(path.exprs.all());
        let mut reasoned =
            Reasoned { path, leaves, pinned, identities, events, possible: true, shown };
        reasoned.possible = path.checks.iter().all(|check| reasoned.may_hold(check));
        reasoned
    }

    /// The value of an expression, if what the path assumes says it.
    fn value(&self, expr: ExprId) -> Option<Value> {
        self.path.exprs.eval(expr, &mut |leaf| match leaf {
            Expr::Read(read) => self.pinned.get(&read).copied(),
            Expr::Reduced(_)
            | Expr::Const(_)
            | Expr::Alu { .. }
            | Expr::Atomic { .. }
            | Expr::Extend { .. } => None,
        })
    }

    /// What an expression is a function of.
    fn depends(&self, expr: ExprId) -> Mask {
        if self.value(expr).is_some() {
            return 0;
        }
        let known = self.pinned.keys().fold(0, |all: Mask, read| all | 1 << read);
        let reads = self.leaves[expr.0 as usize] & !known;
        if !self.shown {
            return reads;
        }
        let each = (0..Mask::BITS).filter(|read| reads >> read & 1 == 1);
        each.filter(|&read| self.is_shown(expr, read)).fold(0, |all, read| all | 1 << read)
    }

    /// Whether two examples that differ in this read alone give an expression two values.
    fn is_shown(&self, expr: ExprId, read: u32) -> bool {
        EXAMPLES.iter().take(4).any(|&others| {
            let mut values = EXAMPLES.iter().map(|&value| {
                self.example(expr, &|of| if u32::from(of) == read { value } else { others })
            });
            let first = values.next();
            values.any(|value| Some(value) != first)
        })
    }

    /// What an expression comes to where its reads return these values.
    fn example(&self, expr: ExprId, values: &dyn Fn(u16) -> Value) -> Option<Value> {
        self.path.exprs.eval(expr, &mut |leaf| match leaf {
            Expr::Read(read) => {
                let known = self.pinned.get(&read).copied();
                let length = self.path.events[usize::from(read)].access?.pa.length;
                Some(known.unwrap_or_else(|| values(read)) & low_bytes(length))
            }
            Expr::Reduced(wait) => {
                let used = self.path.events[usize::from(wait)].barrier?;
                Some(values(wait) & low_bits(used.reduce?.0.bits()))
            }
            Expr::Const(_) | Expr::Alu { .. } | Expr::Atomic { .. } | Expr::Extend { .. } => None,
        })
    }

    /// Whether examples decide it either way.
    fn is_open(&self, check: &Assumption) -> bool {
        let decided: Vec<bool> = EXAMPLES
            .iter()
            .filter_map(|&value| self.example(check.expr(), &|_| value))
            .map(|value| check.holds(value))
            .collect();
        let constants = match check {
            Assumption::Equals(..) | Assumption::NoneOf(..) => true,
            // Equality with a constant is met by that constant.
            Assumption::Truth(..) => check.equates(&self.path.exprs).is_some(),
        };
        constants || decided.contains(&true) && decided.contains(&false)
    }

    fn may_hold(&self, check: &Assumption) -> bool {
        self.value(check.expr()).is_none_or(|value| check.holds(value))
    }

    /// For each event, what it really depends on, and what the predicate that it brings to a barrier does.
    fn dependencies(&self, all: &[Reasoned<'_>]) -> Vec<(Mask, Mask)> {
        let others: Vec<(&Reasoned<'_>, Mask)> = all
            .iter()
            .filter(|other| other.possible)
            .filter_map(|other| Some((other, self.parted_by(other)?)))
            .collect();
        let real = |(at, event): (usize, &PathEvent)| {
            let computed = [event.address, event.value].into_iter().flatten();
            let mut real = computed.fold(0, |all, expr| all | self.depends(expr));
            let syntactic = all_of(event);
            for (other, parting) in &others {
                if parting & syntactic & !real != 0 && !self.is_done_by(other, at, *parting) {
                    real |= parting;
                }
            }
            let reduce = event.barrier.and_then(|used| used.reduce);
            (real, reduce.map_or(0, |(_, predicate, _)| self.depends(predicate)))
        };
        self.path.events.iter().enumerate().map(real).collect()
    }

    /// The reads that decide that an operation on mbarrier objects is skipped: other paths change these otherwise.
    fn decides_skipped(&self, skipped: &SkippedOperation, all: &[Reasoned<'_>]) -> Mask {
        let changes = |of: &Reasoned<'_>| -> Vec<MbarrierUse> {
            let used = of.path.events.iter().filter_map(|event| event.mbarrier);
            used.filter(|used| used.step.follows_skipped() && skipped.may_be_on(used.object))
                .collect()
        };
        let here = changes(self);
        let others = all.iter().filter(|other| other.possible && changes(other) != here);
        others.filter_map(|other| self.parted_by(other)).fold(0, |all, parting| all | parting)
    }

    /// The reads whose values decided that `other` is another path; `None` if other values of these
    /// alone do not lead there.
    fn parted_by(&self, other: &Reasoned<'_>) -> Option<Mask> {
        let (here, there) = (&self.path.checks, &other.path.checks);
        let first = here.iter().zip(there).position(|(a, b)| a != b)?;
        let parting = self.leaves[here[first].expr().0 as usize];
        if self.shown && !self.is_open(&here[first]) {
            return None;
        }
        let contradicts = |check: &Assumption| {
            // These reads return something else there.
            other.leaves[check.expr().0 as usize] & parting == 0
                && here[first + 1..].iter().any(|mine| {
                    // Here a read may be pinned by this very check.
                    excludes(mine, check) && self.alike(mine.expr(), other, check.expr())
                })
        };
        (!there[first + 1..].iter().any(contradicts)).then_some(parting)
    }

    /// Whether another path has the event, too; the reads that parted it return something else there.
    fn is_done_by(&self, other: &Reasoned<'_>, event: usize, parting: Mask) -> bool {
        let Some(&there) = other.events.get(&self.identities[event]) else { return false };
        match (self.path.events[event].value, other.path.events[there].value) {
            (Some(value), Some(of)) => {
                if let (Some(value), Some(of)) = (self.value(value), other.value(of)) {
                    return value == of;
                }
                let leaves = self.leaves[value.0 as usize] | other.leaves[of.0 as usize];
                leaves & parting == 0 && self.alike(value, other, of)
            }
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// Whether two paths compute the same of the same reads.
    fn alike(&self, expr: ExprId, other: &Reasoned<'_>, of: ExprId) -> bool {
        let mut known = HashMap::new();
        self.equal(expr, other, of, &mut known)
    }

    fn equal(
        &self,
        expr: ExprId,
        other: &Reasoned<'_>,
        of: ExprId,
        known: &mut HashMap<(ExprId, ExprId), bool>,
    ) -> bool {
        if let Some(&equal) = known.get(&(expr, of)) {
            return equal;
        }
        let mut both = |a, b| self.equal(a, other, b, known);
        let equal = match (self.path.exprs.get(expr), other.path.exprs.get(of)) {
            (Expr::Const(a), Expr::Const(b)) => a == b,
            (Expr::Read(a), Expr::Read(b)) | (Expr::Reduced(a), Expr::Reduced(b)) => {
                self.identities[usize::from(a)] == other.identities[usize::from(b)]
            }
            (
                Expr::Alu { op, ty, a, b, c },
                Expr::Alu { op: op2, ty: ty2, a: a2, b: b2, c: c2 },
            ) => op == op2 && ty == ty2 && both(a, a2) && both(b, b2) && both(c, c2),
            (
                Expr::Atomic { op, ty, old, operand },
                Expr::Atomic { op: op2, ty: ty2, old: old2, operand: operand2 },
            ) => op == op2 && ty == ty2 && both(old, old2) && both(operand, operand2),
            (Expr::Extend { ty, of: a }, Expr::Extend { ty: ty2, of: b }) => {
                ty == ty2 && both(a, b)
            }
            (
                Expr::Const(_)
                | Expr::Read(_)
                | Expr::Reduced(_)
                | Expr::Alu { .. }
                | Expr::Atomic { .. }
                | Expr::Extend { .. },
                _,
            ) => false,
        };
        known.insert((expr, of), equal);
        equal
    }
}

/// For each value, the reads and reductions that it is a function of.
fn leaves(exprs: &[Expr]) -> Vec<Mask> {
    let mut all: Vec<Mask> = Vec::with_capacity(exprs.len());
    for expr in exprs {
        let of = |id: ExprId| all[id.0 as usize];
        let mask = match *expr {
            Expr::Const(_) => 0,
            Expr::Read(event) | Expr::Reduced(event) => 1 << event,
            Expr::Alu { a, b, c, .. } => of(a) | of(b) | of(c),
            Expr::Atomic { old, operand, .. } => of(old) | of(operand),
            Expr::Extend { of: narrow, .. } => of(narrow),
        };
        all.push(mask);
    }
    all
}

/// Whether no value keeps both checks, if they are about the same.
fn excludes(a: &Assumption, b: &Assumption) -> bool {
    match (a, b) {
        (Assumption::Truth(_, a), Assumption::Truth(_, b)) => a != b,
        (Assumption::Equals(_, a), Assumption::Equals(_, b)) => a != b,
        (Assumption::Equals(_, value), Assumption::NoneOf(_, values))
        | (Assumption::NoneOf(_, values), Assumption::Equals(_, value)) => values.contains(value),
        (Assumption::Equals(_, value), Assumption::Truth(_, truth))
        | (Assumption::Truth(_, truth), Assumption::Equals(_, value)) => (*value != 0) != *truth,
        (Assumption::NoneOf(..), Assumption::NoneOf(..) | Assumption::Truth(..))
        | (Assumption::Truth(..), Assumption::NoneOf(..)) => false,
    }
}
