//! Values as clauses, as far as a value is a function of what one or two reads return: for the condition, and for what
//! paths assume.
//!
//! A term stands for a slot having a value, and holds only if the slot reads from a write that may write that value. What is
//! not encoded may be anything. So the clauses admit every assignment that has values, and perhaps others,
//! which are evaluated and ruled out one by one.
//!
//! Values that depend on themselves are among what is not encoded: a slot has no known value if it reads from a write
//! of what a slot without a known value returns, which a circle of slots may do.

use std::collections::{BTreeMap, BTreeSet};

use execution::expr::{Expr, ExprId};
use execution::unfold::Unfolding;
use execution::values::Values;
use model::bits::BitRow;
use model::program::{Observed, ThreadId};
use model::value::Value;

use super::clauses::{Clauses, Term};
use super::encode::Encoder;
use super::explain::Final;
use crate::options::constant_bytes;
use crate::sought::{Demand, PartialOutcome};

/// Combinations of the values of two slots, beyond which what depends on both is left open.
const MOST_PAIRS: usize = 1024;

/// Values of a slot, beyond which they are left open.
const MOST_VALUES: usize = 32;

/// For each value that something may have, a term that holds only where it may have it; `None` stands for any value that
/// is not listed. One of the terms holds.
type Ways = BTreeMap<Option<Value>, Term>;

/// What one option of a slot gives it.
enum SlotValue {
    Value(Value),
    /// What a write writes that depends on another slot: the slot, and the write.
    Of(usize, usize),
    Any,
}

/// The terms of slots that were asked for.
#[derive(Default)]
pub(super) struct ValueTerms {
    slots: BTreeMap<usize, Ways>,
}

impl ValueTerms {
    /// Demands of an assignment that no path assumes what is false.
    pub(super) fn keep_checks<R: BitRow>(&mut self, encoder: &mut Encoder<'_, R>) {
        let u = encoder.structure.unfolding;
        for (thread, check) in u.checks() {
            let mut holds =
                |values: &mut Values<'_, R>| values.check(thread, check).map(Value::from);
            let ways = self.of_expr(encoder, thread, check.expr(), &mut holds);
            if ways.contains_key(&Some(0)) {
                let others = ways.iter().filter(|(value, _)| **value != Some(0));
                encoder.clauses.any(others.map(|(_, &term)| term));
            }
        }
    }

    /// Demands of an assignment that it may be what is sought.
    pub(super) fn demand<R: BitRow>(
        &mut self,
        encoder: &mut Encoder<'_, R>,
        finals: &[Final],
        demand: &Demand<'_>,
    ) {
        let observed = vec![None; encoder.structure.unfolding.program.observed.len()];
        let mut demanded = DemandClauses { terms: self, encoder, finals, observed };
        let term = demanded.may_hold(demand);
        demanded.encoder.clauses.any([term]);
    }

    /// What a function of an expression is, by the values of the reads it depends on.
    fn of_expr<R: BitRow>(
        &mut self,
        encoder: &mut Encoder<'_, R>,
        thread: ThreadId,
        expr: ExprId,
        value: &mut dyn FnMut(&mut Values<'_, R>) -> Option<Value>,
    ) -> Ways {
        let u = encoder.structure.unfolding;
        let slots = match &slots_of(u, thread, expr)[..] {
            [] => return BTreeMap::from([(value(&mut Values::new(u, &[])), Term::TRUE)]),
            [Some(one)] => vec![*one],
            [Some(one), Some(other)] => vec![*one, *other],
            _ => return open(),
        };
        let ways: Vec<Ways> = slots.iter().map(|&slot| self.of_slot(encoder, slot)).collect();
        let one = BTreeMap::from([(Some(0), Term::TRUE)]);
        let (first, second) = (&ways[0], ways.get(1).unwrap_or(&one));
        if first.len() * second.len() > MOST_PAIRS {
            return open();
        }
        let mut of: BTreeMap<Option<Value>, Vec<(Term, Term)>> = BTreeMap::new();
        for (&a, &here) in first {
            for (&b, &there) in second {
                let known = a.zip(b).and_then(|(a, b)| {
                    let mut values = Values::<R>::new(u, &[]);
                    for (&slot, of) in slots.iter().zip([a, b]) {
                        values.suppose(u.slots[slot].read, of);
                    }
                    value(&mut values)
                });
                of.entry(known).or_default().push((here, there));
            }
        }
        let clauses = &mut encoder.clauses;
        of.into_iter().map(|(value, pairs)| (value, clauses.below(&pairs))).collect()
    }

    fn of_slot<R: BitRow>(&mut self, encoder: &mut Encoder<'_, R>, slot: usize) -> Ways {
        if !self.slots.contains_key(&slot) {
            self.add(encoder, slot);
        }
        self.slots.get(&slot).cloned().unwrap_or_else(open)
    }

    /// Makes the terms of a slot, and of all that its values are made of.
    fn add<R: BitRow>(&mut self, encoder: &mut Encoder<'_, R>, slot: usize) {
        let u = encoder.structure.unfolding;
        let mut given: BTreeMap<usize, Vec<SlotValue>> = BTreeMap::new();
        let mut pending = vec![slot];
        while let Some(slot) = pending.pop() {
            if self.slots.contains_key(&slot) || given.contains_key(&slot) {
                continue;
            }
            let of: Vec<SlotValue> =
                encoder.options[slot].iter().map(|option| source(u, slot, *option)).collect();
            pending.extend(of.iter().filter_map(|of| match of {
                SlotValue::Of(from, _) => Some(*from),
                SlotValue::Value(_) | SlotValue::Any => None,
            }));
            given.insert(slot, of);
        }
        let domains = domains(u, &given, &self.slots);
        // All terms first: values may be made of each other in a circle.
        for (&slot, values) in &domains {
            let clauses = &mut encoder.clauses;
            let ways = match values {
                Some(values) => {
                    let mut ways: Ways =
                        values.iter().map(|&value| (Some(value), clauses.fresh())).collect();
                    if given[&slot].iter().any(|of| !matches!(of, SlotValue::Value(_))) {
                        ways.insert(None, clauses.fresh());
                    }
                    ways
                }
                None => open(),
            };
            self.slots.insert(slot, ways);
        }
        for (slot, of) in &given {
            if domains[slot].is_none() {
                continue;
            }
            let mut pairs: BTreeMap<Option<Value>, Vec<(Term, Term)>> = BTreeMap::new();
            for (of, &taken) in of.iter().zip(&encoder.choice[*slot]) {
                match *of {
                    SlotValue::Value(value) => {
                        pairs.entry(Some(value)).or_default().push((Term::TRUE, taken));
                    }
                    SlotValue::Any => pairs.entry(None).or_default().push((Term::TRUE, taken)),
                    SlotValue::Of(from, write) => {
                        for (&value, &term) in &self.slots[&from] {
                            let written =
                                value.and_then(|value| written(u, *slot, (from, write), value));
                            pairs.entry(written).or_default().push((term, taken));
                        }
                    }
                }
            }
            for (value, &term) in &self.slots[slot] {
                let ways = pairs.remove(value).unwrap_or_default();
                let some = encoder.clauses.below(&ways);
                encoder.clauses.implies(&[term], &[some]);
            }
            encoder.clauses.any(self.slots[slot].values().copied());
        }
    }
}

/// The slots of the reads that an expression depends on; `None` for what is no read of one slot.
fn slots_of(u: &Unfolding<'_>, thread: ThreadId, expr: ExprId) -> Vec<Option<usize>> {
    let path = u.paths[usize::from(thread.0)];
    let mut slots = Vec::new();
    path.exprs.leaves(expr, &mut |leaf| {
        let slot = match leaf {
            Expr::Read(read) if usize::from(read) < path.events.len() => {
                let (from, to) = u.slots_of[u.event_of(thread, read)];
                (to == from + 1).then_some(from)
            }
            Expr::Read(_)
            | Expr::Reduced(_)
            | Expr::Const(_)
            | Expr::Alu { .. }
            | Expr::Atomic { .. }
            | Expr::Extend { .. } => None,
        };
        if !slots.contains(&slot) {
            slots.push(slot);
        }
    });
    slots
}

/// What a slot reads from an option.
fn source<R: BitRow>(u: &Unfolding<'_>, slot: usize, option: R) -> SlotValue {
    if option.count() != 1 {
        return SlotValue::Any;
    }
    let write = option.first();
    if let Some(value) = constant_bytes(u, write, u.slots[slot].cell) {
        return SlotValue::Value(value);
    }
    let event = &u.events[write];
    let Some((thread, value)) = event.thread.zip(event.of.and_then(|of| of.value)) else {
        return SlotValue::Any;
    };
    match slots_of(u, thread, value)[..] {
        [Some(from)] => SlotValue::Of(from, write),
        _ => SlotValue::Any,
    }
}

/// What a slot reads from a write where the slot that this depends on returns a value.
fn written(
    u: &Unfolding<'_>,
    slot: usize,
    (from, write): (usize, usize),
    value: Value,
) -> Option<Value> {
    let mut values = Values::<u64>::new(u, &[]);
    values.suppose(u.slots[from].read, value);
    values.written(write, u.slots[slot].cell)
}

/// The values that slots may have unless values depend on themselves; `None` where they are too many.
fn domains(
    u: &Unfolding<'_>,
    given: &BTreeMap<usize, Vec<SlotValue>>,
    known: &BTreeMap<usize, Ways>,
) -> BTreeMap<usize, Option<BTreeSet<Value>>> {
    let mut domains: BTreeMap<usize, Option<BTreeSet<Value>>> =
        given.keys().map(|&slot| (slot, Some(BTreeSet::new()))).collect();
    // A value that is not made of itself comes through each slot once at most.
    for _ in 0..=given.len() {
        let last = domains.clone();
        for (&slot, of) in given {
            let Some(mut values) = last[&slot].clone() else { continue };
            for of in of {
                match *of {
                    SlotValue::Value(value) => {
                        values.insert(value);
                    }
                    SlotValue::Any => {}
                    SlotValue::Of(from, write) => {
                        let mut add =
                            |value: Value| values.extend(written(u, slot, (from, write), value));
                        match (last.get(&from), known.get(&from)) {
                            (Some(Some(of)), _) => of.iter().for_each(|&value| add(value)),
                            (Some(None), _) | (None, None) => {}
                            (None, Some(ways)) => {
                                ways.keys().flatten().for_each(|&value| add(value));
                            }
                        }
                    }
                }
            }
            let few = values.len() <= MOST_VALUES;
            domains.insert(slot, few.then_some(values));
        }
        if domains == last {
            break;
        }
    }
    domains
}

/// What is sought, as clauses.
struct DemandClauses<'q, 'a, R> {
    terms: &'q mut ValueTerms,
    encoder: &'q mut Encoder<'a, R>,
    finals: &'q [Final],
    /// For each thing observed, what is known of its values, once it was asked for.
    observed: Vec<Option<Ways>>,
}

impl<R: BitRow> DemandClauses<'_, '_, R> {
    /// A term that holds only where the demand may.
    fn may_hold(&mut self, demand: &Demand<'_>) -> Term {
        match demand {
            Demand::Every(parts) => {
                let parts = parts.iter().map(|part| self.may_hold(part)).collect();
                all(&mut self.encoder.clauses, parts)
            }
            Demand::Any(parts) => {
                let parts: Vec<(Term, Term)> =
                    parts.iter().map(|part| (Term::TRUE, self.may_hold(part))).collect();
                self.encoder.clauses.below(&parts)
            }
            Demand::Of(places, may) => match places[..] {
                [one] => self.atom([one, one], &**may),
                [one, other] => self.atom([one, other], &**may),
                _ => Term::TRUE,
            },
        }
    }

    fn atom(&mut self, places: [usize; 2], may: &PartialOutcome<'_>) -> Term {
        let [left, right] = places.map(|place| self.ways(place));
        if left.len() * right.len() > MOST_PAIRS {
            return Term::TRUE;
        }
        let mut values = vec![None; self.observed.len()];
        let (mut pairs, mut excluded) = (Vec::new(), false);
        for (&one, &here) in &left {
            for (&other, &there) in &right {
                if places[0] == places[1] && one != other {
                    continue;
                }
                values[places[0]] = one;
                values[places[1]] = other;
                if may(&values) {
                    pairs.push((here, there));
                } else {
                    excluded = true;
                }
            }
        }
        if excluded { self.encoder.clauses.below(&pairs) } else { Term::TRUE }
    }

    fn ways(&mut self, place: usize) -> Ways {
        if self.observed[place].is_none() {
            self.observed[place] = Some(self.of_observed(place));
        }
        self.observed[place].clone().unwrap_or_else(open)
    }

    fn of_observed(&mut self, index: usize) -> Ways {
        let u = self.encoder.structure.unfolding;
        let observed = u.program.observed[index];
        let shown = match observed {
            Observed::Register { thread, register } => {
                let path = u.paths[usize::from(thread.0)];
                Some((thread, path.registers[usize::from(register.0)]))
            }
            Observed::Memory { .. } => u.private_final(index),
        };
        if let Some((thread, expr)) = shown {
            let mut value = |values: &mut Values<'_, R>| match observed {
                Observed::Register { .. } => values.register(observed),
                Observed::Memory { .. } => values.eval(thread, expr),
            };
            return self.terms.of_expr(self.encoder, thread, expr, &mut value);
        }
        // Bytes of several threads are chosen apart.
        if u.private_finals(index).next().is_some() {
            return open();
        }
        let mut of_index = self.finals.iter().filter(|choice| choice.observed == index);
        let (Some(last), None) = (of_index.next(), of_index.next()) else { return open() };
        self.of_last(last)
    }

    /// What memory ends with, of which one write is the last.
    fn of_last(&mut self, last: &Final) -> Ways {
        let u = self.encoder.structure.unfolding;
        let mut of: BTreeMap<Option<Value>, Vec<(Term, Term)>> = BTreeMap::new();
        for (&write, &term) in last.writes.iter().zip(&last.terms) {
            let event = &u.events[write];
            let ways = match event.thread.zip(event.of.and_then(|of| of.value)) {
                Some((thread, expr)) => {
                    let mut bytes = |values: &mut Values<'_, R>| values.written(write, last.cell);
                    self.terms.of_expr(self.encoder, thread, expr, &mut bytes)
                }
                None => BTreeMap::from([(constant_bytes(u, write, last.cell), Term::TRUE)]),
            };
            for (bytes, way) in ways {
                let value = bytes.map(|bytes| last.part(bytes) << last.shift);
                of.entry(value).or_default().push((term, way));
            }
        }
        let clauses = &mut self.encoder.clauses;
        of.into_iter().map(|(value, pairs)| (value, clauses.below(&pairs))).collect()
    }
}

/// Nothing is known.
fn open() -> Ways {
    BTreeMap::from([(None, Term::TRUE)])
}

/// A term that holds only where each of the terms does.
fn all(clauses: &mut Clauses, parts: Vec<Term>) -> Term {
    let mut open: Vec<Term> = parts.into_iter().map(|part| clauses.fold(part)).collect();
    open.retain(|&part| part != Term::TRUE);
    open.sort_unstable();
    open.dedup();
    match open[..] {
        [] => Term::TRUE,
        [only] => only,
        _ if open.contains(&Term::FALSE) => Term::FALSE,
        _ => {
            let whole = clauses.fresh();
            for part in open {
                clauses.implies(&[whole], &[part]);
            }
            whole
        }
    }
}
