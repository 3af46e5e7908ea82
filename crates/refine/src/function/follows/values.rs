//! Values of the reads of a path with which it is taken.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;

use execution::event::{EventKind, PathEvent};
use execution::expr::{Expr, ExprId};
use execution::path::Assumption;
use model::isa::alu::AluOp;
use model::value::{Value, little_endian, low_bits, low_bytes};
use rustc_hash::FxBuildHasher;

use super::{Chosen, ComparedPath, ComparedSide};
use crate::function::scan::ByteRange;

/// The maximum number of values that are tried for the reads of a path that assumptions connect.
const TRIED: u32 = 4_000;

impl ComparedSide<'_> {
    /// Values of the reads with which the path is taken; `None` if none of those that are tried is such.
    pub(super) fn choose(
        &self,
        path: &ComparedPath<'_>,
        groups: &[ReadGroup<'_>],
        words: &BTreeMap<ByteRange, Vec<Value>>,
        trial: u64,
    ) -> Result<Option<Chosen>, OutOfTries> {
        let mut chosen = vec![None; path.events.len()];
        for group in groups {
            let mut search = Search { side: self, path, words, trial, group, left: TRIED };
            if !search.from(0, &mut chosen) {
                return if search.left == 0 { Err(OutOfTries) } else { Ok(None) };
            }
        }
        Ok(Some(chosen.into_iter().map(Option::unwrap_or_default).collect()))
    }
}

/// Reads of a path that some assumptions are about together.
#[derive(Default)]
pub(super) struct ReadGroup<'p> {
    /// Their positions, in program order: a value may depend on those before it.
    reads: Vec<usize>,
    /// For each number of reads, the assumptions on those and none after them.
    checks: Vec<Vec<&'p Assumption>>,
}

/// More values had to be tried than are.
pub(super) struct OutOfTries;

/// A search for values of the reads of a path.
struct Search<'s> {
    side: &'s ComparedSide<'s>,
    path: &'s ComparedPath<'s>,
    words: &'s BTreeMap<ByteRange, Vec<Value>>,
    trial: u64,
    group: &'s ReadGroup<'s>,
    left: u32,
}

impl Search<'_> {
    fn from(&mut self, number: usize, chosen: &mut Vec<Option<Value>>) -> bool {
        let holds = |check: &&Assumption| {
            let value = self.path.eval(check.expr(), |at| chosen[at]);
            value.is_some_and(|value| check.holds(value))
        };
        if !self.group.checks[number].iter().all(holds) {
            return false;
        }
        let Some(&at) = self.group.reads.get(number) else { return true };
        for value in self.values(number, chosen) {
            if self.left == 0 {
                return false;
            }
            self.left -= 1;
            chosen[at] = Some(value);
            if self.from(number + 1, chosen) {
                return true;
            }
        }
        chosen[at] = None;
        false
    }

    /// The values to try for a read, in an order that depends on the trial.
    fn values(&self, number: usize, chosen: &[Option<Value>]) -> Vec<Value> {
        let at = self.group.reads[number];
        let place = self.path.bytes(at, self.side.unfolded);
        let mask = low_bytes(place.bytes);
        let initial = &self.side.program.variables[place.memory].initial;
        let begins = initial.get(place.offset as usize..place.end() as usize);
        let begins = begins.map(little_endian);
        let words = self.words.get(&place).map_or(&[][..], Vec::as_slice);
        let random = |salt: u64| {
            let half = |part: u64| FxBuildHasher.hash_one((self.trial, at, salt, part));
            Value::from(half(0)) << 64 | Value::from(half(1))
        };
        let mut all: Vec<Value> = begins.into_iter().chain(words.iter().copied()).collect();
        // Any value will do where nothing is assumed.
        if self.group.checks.iter().all(Vec::is_empty) {
            all.extend([random(0), random(1)]);
            let number = FxBuildHasher.hash_one((self.trial, at)) % all.len() as u64;
            let number = if self.trial == 0 { 0 } else { number };
            return vec![all[usize::try_from(number).expect("few values")] & mask];
        }
        // Values that the assumptions on this read demand.
        let known = |at: usize| chosen[at];
        for check in &self.group.checks[number + 1] {
            let mut demand = |of: ExprId, value: Value| {
                all.push(value);
                all.extend(self.path.inverse(of, value, &known));
            };
            match check {
                Assumption::Equals(of, value) => demand(*of, *value),
                Assumption::Truth(..) | Assumption::NoneOf(..) => {}
            }
            self.path.comparisons(check.expr(), &mut |a, b| {
                for (one, other) in [(a, b), (b, a)] {
                    if let Some(value) = self.path.eval(other, known) {
                        demand(one, value);
                    }
                }
            });
        }
        all.extend([0, 1, Value::MAX]);
        all.extend(chosen.iter().flatten());
        all.extend([random(0), random(1)]);
        for value in &mut all {
            *value &= mask;
        }
        if self.trial > 0 {
            let key = |value: &Value| FxBuildHasher.hash_one((self.trial, at, *value));
            all.sort_by_cached_key(key);
        }
        let mut known = BTreeSet::new();
        all.retain(|value| known.insert(*value));
        all
    }
}

impl<'u> ComparedPath<'u> {
    /// The reads, in groups that can be searched one by one.
    pub(super) fn groups(&self) -> Vec<ReadGroup<'u>> {
        // Reads, and assumptions with the last read that each is about.
        type Group<'u> = (Vec<usize>, Vec<(usize, &'u Assumption)>);
        let read = |at: &usize| self.event(*at).kind == EventKind::Read;
        let reads = (0..self.events.len()).filter(read);
        let mut groups: Vec<Group<'u>> = reads.map(|at| (vec![at], Vec::new())).collect();
        for check in &self.path.checks {
            let reads = self.reads(check.expr());
            let has = |group: &Group<'u>| group.0.iter().any(|at| reads.contains(at));
            let last = reads.iter().copied().max_by_key(|&at| self.events[at]);
            let mut together = (Vec::new(), vec![(last.unwrap_or(0), check)]);
            for (mut reads, mut checks) in groups.extract_if(.., |group| has(group)) {
                together.0.append(&mut reads);
                together.1.append(&mut checks);
            }
            groups.push(together);
        }
        let group = |(mut reads, checks): Group<'u>| {
            reads.sort_by_key(|&at| self.events[at]);
            let mut after = vec![Vec::new(); reads.len() + 1];
            for (last, check) in checks {
                let number = reads.iter().position(|at| *at == last);
                after[number.map_or(0, |number| number + 1)].push(check);
            }
            ReadGroup { reads, checks: after }
        };
        groups.into_iter().map(group).collect()
    }

    /// Positions of reads, each with a value that makes both sides of a comparison equal, which no branch has to make,
    /// where the other reads return these values.
    pub(super) fn decisive(&self, chosen: &Chosen) -> Vec<(usize, Value)> {
        let written = self.events.iter().filter_map(|&event| self.path.events[event].value);
        let finals = self.path.finals.iter().map(|of| of.value);
        let shown = written.chain(finals).chain(self.results.iter().copied());
        let parts: BTreeSet<ExprId> = shown.flat_map(|id| self.path.exprs.parts(id)).collect();
        let mut all = Vec::new();
        for part in parts {
            let Expr::Alu { op: AluOp::Setp(_), a, b, .. } = self.path.exprs.get(part) else {
                continue;
            };
            for (one, other) in [(a, b), (b, a)] {
                for at in self.reads(one) {
                    let others = |read: usize| (read != at).then(|| chosen[read]);
                    let equal = self.eval(other, others);
                    let value = equal.and_then(|equal| self.inverse(one, equal, &others));
                    let bytes = self.event(at).access.map_or(16, |access| access.va.length);
                    all.extend(value.map(|value| (at, value & low_bytes(bytes))));
                }
            }
        }
        all
    }

    /// Positions of reads, each with a value that the path writes to the same bytes where the reads return these values.
    pub(super) fn written(&self, chosen: &Chosen) -> Vec<(usize, Value)> {
        let mut all = Vec::new();
        for write in &self.events {
            let PathEvent { access: Some(to), value: Some(value), .. } = self.path.events[*write]
            else {
                continue;
            };
            let Some(value) = self.eval(value, |at| Some(chosen[at])) else { continue };
            let value = value & low_bytes(to.va.length);
            let reads = (0..self.events.len()).filter(|&at| {
                let event = self.event(at);
                event.kind == EventKind::Read && event.access.is_some_and(|of| of.va == to.va)
            });
            all.extend(reads.map(|at| (at, value)));
        }
        all
    }

    /// The positions of the reads that a value depends on.
    fn reads(&self, id: ExprId) -> BTreeSet<usize> {
        let mut all = BTreeSet::new();
        self.path.exprs.leaves(id, &mut |leaf| {
            if let Expr::Read(read) = leaf {
                all.extend(self.positions[usize::from(read)]);
            }
        });
        all
    }

    /// The value of the only unknown read with which a sum or a multiple of it is a value.
    fn inverse(
        &self,
        id: ExprId,
        value: Value,
        known: &dyn Fn(usize) -> Option<Value>,
    ) -> Option<Value> {
        match self.path.exprs.get(id) {
            Expr::Read(_) => Some(value),
            Expr::Extend { of, .. } => self.inverse(of, value, known),
            Expr::Alu { op: AluOp::Mov | AluOp::Convert(..), a, .. } => {
                self.inverse(a, value, known)
            }
            Expr::Alu { op, ty, a, b, .. } => {
                let (first, second) = (self.eval(a, known), self.eval(b, known));
                let by = second.or(first)?;
                let (unknown, left) = match second {
                    Some(_) => (a, true),
                    None => (b, false),
                };
                let value = match op {
                    AluOp::Add => value.wrapping_sub(by),
                    AluOp::Xor => value ^ by,
                    AluOp::Sub if left => value.wrapping_add(by),
                    AluOp::Sub => by.wrapping_sub(value),
                    AluOp::Shl if left => value.checked_shr(u32::try_from(by).ok()?)?,
                    AluOp::Mul => (value & low_bits(ty.bits)).checked_div(by)?,
                    AluOp::And | AluOp::Or => value,
                    AluOp::Mov
                    | AluOp::Shl
                    | AluOp::Shr
                    | AluOp::Selp
                    | AluOp::Setp(_)
                    | AluOp::Extract(_)
                    | AluOp::Concat(_)
                    | AluOp::Convert(..)
                    | AluOp::Halves(_)
                    | AluOp::Flush
                    | AluOp::Float(_)
                    | AluOp::Integer(_)
                    | AluOp::Opaque(_) => return None,
                };
                self.inverse(unknown, value & low_bits(ty.bits), known)
            }
            Expr::Const(_) | Expr::Reduced(_) | Expr::Atomic { .. } => None,
        }
    }

    /// Calls `visit` with both sides of each comparison that a value depends on.
    fn comparisons(&self, id: ExprId, visit: &mut dyn FnMut(ExprId, ExprId)) {
        match self.path.exprs.get(id) {
            Expr::Alu { op: AluOp::Setp(_), a, b, .. } => visit(a, b),
            Expr::Alu { a, b, c, .. } => {
                let mut all = vec![a, b, c];
                all.dedup();
                for of in all {
                    self.comparisons(of, visit);
                }
            }
            Expr::Extend { of, .. } => self.comparisons(of, visit),
            Expr::Const(_) | Expr::Read(_) | Expr::Reduced(_) | Expr::Atomic { .. } => {}
        }
    }
}
