//! Values as clauses, as far as a value is a function of what one or two reads return: for the condition, and for what
//! paths assume.
//!
//! A term stands for a slot having a value, and holds only if the slot reads from a write that may write that value. What is
//! not encoded may be anything. So the clauses admit every assignment that has values, and perhaps others,
//! which are evaluated and ruled out one by one.
//!
//! Values that depend on themselves are among what is not encoded: a slot has no known value if it reads from a write
//! of what a slot without a known value returns, which a circle of slots may do.

use std::collections::BTreeMap;

use execution::expr::ExprId;
use execution::unfold::Unfolding;
use execution::values::Values;
use model::bits::BitRow;
use model::memory::Extent;
use model::program::{Observed, ThreadId};
use model::value::Value;

use super::clauses::{Clauses, Term};
use super::encode::Encoder;
use super::explain::Final;
use crate::domains::{SlotValue, WrittenFrom, domains, slots_of, source, written};
use crate::options::constant_bytes;
use crate::sought::{Demand, PartialOutcome};

/// Combinations of the values of two slots, beyond which what depends on both is left open.
const MOST_PAIRS: usize = 1024;

/// For each value that something may have, a term that holds only where it may have it; `None` stands for any value that
/// is not listed. One of the terms holds.
type Ways = BTreeMap<Option<Value>, Term>;

/// The terms of slots that were needed.
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
            let options = encoder.options[slot].iter().map(|option| match option.count() {
                1 => source(u, slot, option.first()),
                _ => SlotValue::Any,
            });
            let of: Vec<SlotValue> = options.collect();
            pending.extend(of.iter().flat_map(|of| match of {
                SlotValue::Of(written) => &written.from[..],
                SlotValue::Value(_) | SlotValue::Any => &[],
            }));
            given.insert(slot, of);
        }
        let of_known = |ways: &Ways| ways.keys().flatten().map(|&value| (value, vec![0])).collect();
        let known = self.slots.iter().map(|(&slot, ways)| (slot, of_known(ways))).collect();
        let budget = &mut encoder.clauses.budget;
        // Where a limit was reached, nothing more is encoded.
        let Ok(domains) = domains(u, &given, &known, budget) else { return };
        // All terms first: values may be made of each other in a circle.
        for (&slot, values) in &domains {
            let clauses = &mut encoder.clauses;
            let ways = match values {
                Some(values) => {
                    let mut ways: Ways =
                        values.keys().map(|&value| (Some(value), clauses.fresh())).collect();
                    if given[&slot].iter().any(|of| !matches!(of, SlotValue::Value(_))) {
                        ways.insert(None, clauses.fresh());
                    }
                    ways
                }
                None => open(),
            };
            self.slots.insert(slot, ways);
        }
        // What each write writes to a cell, which several slots may read.
        let mut writes: BTreeMap<(usize, Extent), Ways> = BTreeMap::new();
        for (slot, of) in &given {
            if domains[slot].is_none() {
                continue;
            }
            let cell = u.slots[*slot].cell;
            let mut pairs: BTreeMap<Option<Value>, Vec<(Term, Term)>> = BTreeMap::new();
            for (of, &taken) in of.iter().zip(&encoder.choice[*slot]) {
                match *of {
                    SlotValue::Value(value) => {
                        pairs.entry(Some(value)).or_default().push((Term::TRUE, taken));
                    }
                    SlotValue::Any => pairs.entry(None).or_default().push((Term::TRUE, taken)),
                    SlotValue::Of(of) => {
                        let clauses = &mut encoder.clauses;
                        let ways = writes
                            .entry((of.write, cell))
                            .or_insert_with(|| self.of_write(u, clauses, of, cell));
                        for (&value, &term) in &*ways {
                            pairs.entry(value).or_default().push((term, taken));
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

    /// What a write writes to a cell, by the values of the slots that this depends on.
    fn of_write(
        &self,
        u: &Unfolding<'_>,
        clauses: &mut Clauses,
        of: WrittenFrom,
        cell: Extent,
    ) -> Ways {
        let [first, second] = of.from.map(|slot| &self.slots[&slot]);
        let mut pairs: BTreeMap<Option<Value>, Vec<(Term, Term)>> = BTreeMap::new();
        if of.from[0] == of.from[1] {
            for (&value, &term) in first {
                let written = value.and_then(|value| written(u, of, cell, [value; 2]));
                pairs.entry(written).or_default().push((term, Term::TRUE));
            }
        } else if first.len() * second.len() > MOST_PAIRS {
            return open();
        } else {
            for (&a, &here) in first {
                for (&b, &there) in second {
                    let written = a.zip(b).and_then(|(a, b)| written(u, of, cell, [a, b]));
                    pairs.entry(written).or_default().push((here, there));
                }
            }
        }
        pairs.into_iter().map(|(value, pairs)| (value, clauses.below(&pairs))).collect()
    }
}

/// What is sought, as clauses.
struct DemandClauses<'q, 'a, R> {
    terms: &'q mut ValueTerms,
    encoder: &'q mut Encoder<'a, R>,
    finals: &'q [Final],
    /// For each thing observed, what is known of its values, once it was needed.
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
