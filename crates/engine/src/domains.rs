//! The values that slots may have, by the sources that each may have.
//!
//! A value that does not depend on itself comes through each slot once, so that sums of values have a bound.

use std::collections::BTreeMap;

use execution::expr::{Expr, ExprId};
use execution::unfold::Unfolding;
use execution::values::Values;
use model::memory::Extent;
use model::program::ThreadId;
use model::value::Value;

use crate::Limit;
use crate::budget::Budget;
use crate::options::constant_bytes;

/// Values of a slot, beyond which they are left open.
const MOST_VALUES: usize = 32;

/// Sets of slots that a value may be made of, beyond which they are forgotten.
const MOST_SETS: usize = 8;

/// What one option of a slot gives it.
pub(crate) enum SlotValue {
    Value(Value),
    /// What a write writes that depends on one or two other slots.
    Of(WrittenFrom),
    /// Not known.
    Any,
}

/// A write of what one or two slots return.
#[derive(Clone, Copy)]
pub(crate) struct WrittenFrom {
    pub write: usize,
    /// The same one twice, if it is one.
    pub from: [usize; 2],
}

/// The values that a slot may have. Each has the sets of slots that it may be made of, a bit for each, of which none includes
/// another one.
pub(crate) type Domain = BTreeMap<Value, Vec<u128>>;

/// What a slot reads from a write.
pub(crate) fn source(u: &Unfolding<'_>, slot: usize, write: usize) -> SlotValue {
    if let Some(value) = constant_bytes(u, write, u.slots[slot].cell) {
        return SlotValue::Value(value);
    }
    let event = &u.events[write];
    let Some((thread, value)) = event.thread.zip(event.of.and_then(|of| of.value)) else {
        return SlotValue::Any;
    };
    match slots_of(u, thread, value)[..] {
        [Some(one)] => SlotValue::Of(WrittenFrom { write, from: [one, one] }),
        [Some(one), Some(other)] => SlotValue::Of(WrittenFrom { write, from: [one, other] }),
        _ => SlotValue::Any,
    }
}

/// The slots of the reads that an expression depends on; `None` for what is not a read of one slot.
pub(crate) fn slots_of(u: &Unfolding<'_>, thread: ThreadId, expr: ExprId) -> Vec<Option<usize>> {
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

/// What a write writes to a cell where the slots that this depends on return these values.
pub(crate) fn written(
    u: &Unfolding<'_>,
    of: WrittenFrom,
    cell: Extent,
    given: [Value; 2],
) -> Option<Value> {
    let mut values = Values::<u64>::new(u, &[]);
    for (slot, value) in of.from.into_iter().zip(given) {
        values.suppose(u.slots[slot].read, value);
    }
    values.written(of.write, cell)
}

/// The values that slots may have, of which each option is given, unless values depend on themselves; `None` where they are too
/// many. Those of other slots are `known`.
pub(crate) fn domains(
    u: &Unfolding<'_>,
    given: &BTreeMap<usize, Vec<SlotValue>>,
    known: &BTreeMap<usize, Domain>,
    budget: &mut Budget,
) -> Result<BTreeMap<usize, Option<Domain>>, Limit> {
    // A slot beyond the bits of a set is in none.
    let bit = |at: usize| u32::try_from(at).ok().and_then(|at| 1_u128.checked_shl(at));
    let bits: BTreeMap<usize, u128> =
        given.keys().enumerate().map(|(at, &slot)| (slot, bit(at).unwrap_or(0))).collect();
    let mut domains: BTreeMap<usize, Option<Domain>> =
        given.iter().map(|(&slot, options)| (slot, few(constants(options)))).collect();
    loop {
        let mut changed = false;
        // What each write writes to a cell, which several slots may read.
        let mut written: BTreeMap<(usize, Extent), Domain> = BTreeMap::new();
        for (&slot, options) in given {
            let Some(mut values) = domains[&slot].clone() else { continue };
            let cell = u.slots[slot].cell;
            for option in options {
                let SlotValue::Of(of) = *option else { continue };
                let made = written.entry((of.write, cell)).or_insert_with(|| {
                    let from = of.from.map(|from| match domains.get(&from) {
                        Some(domain) => domain.as_ref(),
                        None => known.get(&from),
                    });
                    let made_of = of.from.iter().filter_map(|from| bits.get(from));
                    made(u, of, cell, from, made_of.fold(0, |all, bit| all | bit))
                });
                for (&value, sets) in &*made {
                    // A value that is not made of itself.
                    for &set in sets.iter().filter(|set| **set & bits[&slot] == 0) {
                        changed |= add_set(values.entry(value).or_default(), set);
                    }
                }
                if !budget.look() {
                    budget.check()?;
                }
            }
            domains.insert(slot, few(values));
        }
        if !changed {
            return Ok(domains);
        }
    }
}

/// Of the options of a slot, the values that are constant: they are made of no slot.
fn constants(options: &[SlotValue]) -> Domain {
    let values = options.iter().filter_map(|option| match *option {
        SlotValue::Value(value) => Some((value, vec![0])),
        SlotValue::Of(_) | SlotValue::Any => None,
    });
    values.collect()
}

fn few(values: Domain) -> Option<Domain> {
    (values.len() <= MOST_VALUES).then_some(values)
}

/// What a write writes to a cell, by the values of the slots that it depends on, which are these sets.
fn made(
    u: &Unfolding<'_>,
    of: WrittenFrom,
    cell: Extent,
    from: [Option<&Domain>; 2],
    made_of: u128,
) -> Domain {
    let mut values = Domain::new();
    let [Some(first), Some(second)] = from else { return values };
    let is_one = of.from[0] == of.from[1];
    for ((&a, sets), (&b, others)) in pairs(first, second) {
        if is_one && a != b {
            continue;
        }
        let Some(value) = written(u, of, cell, [a, b]) else { continue };
        let all = values.entry(value).or_default();
        for (one, other) in pairs(sets, others) {
            add_set(all, one | other | made_of);
        }
    }
    values
}

fn pairs<T: IntoIterator + Copy, U: IntoIterator + Copy>(
    one: T,
    other: U,
) -> impl Iterator<Item = (T::Item, U::Item)>
where
    T::Item: Copy,
{
    one.into_iter().flat_map(move |one| other.into_iter().map(move |other| (one, other)))
}

/// Adds a set of slots that a value may be made of, unless it includes another one; whether it was added.
fn add_set(sets: &mut Vec<u128>, new: u128) -> bool {
    if sets.iter().any(|set| set & new == *set) {
        return false;
    }
    sets.retain(|set| set & new != new);
    sets.push(new);
    if sets.len() > MOST_SETS {
        *sets = vec![0];
    }
    true
}
