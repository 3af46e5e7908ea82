//! The possible sources of each slot of an event structure, shared by the axiomatic engines.

use std::collections::BTreeMap;

use execution::expr::ExprId;
use execution::structure::writes_of;
use execution::unfold::Unfolding;
use model::bits::{BitRel, BitRow};
use model::memory::Extent;
use model::program::ThreadId;
use model::rel::Model;
use model::value::{Value, little_endian, low_bytes};

use super::Limit;
use super::budget::Budget;
use super::domains::{self, SlotValue};
use super::outcome::overwriting;
use super::sought::{self, PartialOutcome};

/// The sources each slot may choose from; more than one write in a source is a torn read.
pub struct SourceOptions<R> {
    pub slots: Vec<Vec<R>>,
    /// The union, as a relation from writes to reads.
    pub rf: BitRel<R>,
}

impl<R: BitRow> SourceOptions<R> {
    /// `None` when some slot has no source: the structure has no candidate.
    pub fn new(
        model: &Model,
        u: &Unfolding<'_>,
        budget: &mut Budget,
    ) -> Result<Option<SourceOptions<R>>, Limit> {
        let mut slots = Vec::with_capacity(u.slots.len());
        let required = required_values(u);
        let mut bound = ValueBounds::new(u);
        for (index, slot) in u.slots.iter().enumerate() {
            let mut writes: R = writes_of(u, slot.cell);
            // An atomic never reads its own write: its write depends on its read.
            if let Some((thread, write)) = own_write(u, slot.read) {
                writes.remove(u.event_of(thread, write));
            }
            // What a thread reads for ever is not overwritten (reading R50), and every write
            // follows the initial one.
            if u.repeats(slot.read) {
                let overwriting: R = overwriting(u, slot);
                let initial = |&write: &usize| u.events[write].thread.is_none();
                if !overwriting.events().all(|write| initial(&write)) {
                    for write in writes.events().filter(initial) {
                        writes.remove(write);
                    }
                }
            }
            let torn = if model.conventions.tearing && slot.cell.length > 1 {
                torn(&mut bound, index, writes, budget)?
            } else {
                Vec::new()
            };
            if let Some(value) = required[slot.read].filter(|_| torn.is_empty()) {
                let start = u.events[slot.read].bytes().start;
                let wanted = value >> (8 * (slot.cell.start - start)) & low_bytes(slot.cell.length);
                for write in writes.events() {
                    if constant_bytes(u, write, slot.cell).is_some_and(|bytes| bytes != wanted) {
                        writes.remove(write);
                    }
                }
            }
            let mut options: Vec<R> = writes.events().map(R::single).collect();
            options.extend(torn);
            if options.is_empty() {
                return Ok(None);
            }
            slots.push(options);
        }
        Ok(Some(SourceOptions { rf: union(u, &slots), slots }))
    }

    /// Drops the options that no sought candidate has; false when a slot has none left.
    pub fn narrow(
        &mut self,
        u: &Unfolding<'_>,
        asked: Option<&PartialOutcome<'_>>,
        budget: &mut Budget,
    ) -> Result<bool, Limit> {
        let count = |slots: &[Vec<R>]| slots.iter().map(Vec::len).sum::<usize>();
        let before = count(&self.slots);
        if !sought::narrow(asked, u, &mut self.slots, budget)? {
            return Ok(false);
        }
        if count(&self.slots) != before {
            self.rf = union(u, &self.slots);
        }
        Ok(true)
    }
}

/// All options, as a relation from writes to reads.
pub(crate) fn union<R: BitRow>(u: &Unfolding<'_>, slots: &[Vec<R>]) -> BitRel<R> {
    let mut rf = BitRel::empty(u.events.len());
    for (slot, options) in u.slots.iter().zip(slots) {
        for write in options.iter().flat_map(|option| option.events()) {
            rf.insert(write, slot.read);
        }
    }
    rf
}

fn own_write(u: &Unfolding<'_>, read: usize) -> Option<(ThreadId, u16)> {
    let event = &u.events[read];
    Some((event.thread?, event.of?.rmw?))
}

/// The value that a path's checks require of a read as a whole, where a check says it plainly.
fn required_values(u: &Unfolding<'_>) -> Vec<Option<Value>> {
    let mut required = vec![None; u.events.len()];
    for (thread, check) in u.checks() {
        let exprs = &u.paths[usize::from(thread.0)].exprs;
        if let Some((read, value, bits)) = check.equates(exprs) {
            let read = u.event_of(thread, read);
            let length = u.events[read].bytes().length;
            if u32::from(bits) >= 8 * length {
                required[read] = Some(value & low_bytes(length));
            }
        }
    }
    required
}

/// The bytes of `cell` that a write writes whatever the reads return.
pub(crate) fn constant_bytes(u: &Unfolding<'_>, write: usize, cell: Extent) -> Option<Value> {
    let event = &u.events[write];
    let Some(thread) = event.thread else { return Some(initial_bytes(u, cell)) };
    let value = u.paths[usize::from(thread.0)].exprs.as_const(event.of?.value?)?;
    Some(value >> (8 * (cell.start - event.bytes().start)) & low_bytes(cell.length))
}

/// The sets of two writes or more whose bytes a read may mix; none when no mixture can be new.
fn torn<R: BitRow>(
    bound: &mut ValueBounds<'_>,
    slot: usize,
    writes: R,
    budget: &mut Budget,
) -> Result<Vec<R>, Limit> {
    let cell = bound.u.slots[slot].cell;
    let list: Vec<usize> = writes.events().collect();
    if list.len() < 2 {
        return Ok(Vec::new());
    }
    let bits = list.iter().fold(0, |all, &write| all | bound.may_set(write, cell, budget));
    budget.check()?;
    let varying = (0..16).filter(|byte| bits >> (8 * byte) & 0xff != 0).count();
    if varying < 2 || !bound.may_mix::<R>(slot, budget)? {
        return Ok(Vec::new());
    }
    let mut sets = Vec::new();
    // Each is kept here and, as an option, by the search.
    let complete = subsets(&list, varying.min(list.len()), &mut |set| {
        sets.push(set.iter().fold(R::default(), |row, &write| row.or(R::single(write))));
        budget.step() && budget.hold(3 * size_of::<R>())
    });
    if complete { Ok(sets) } else { budget.check().map(|()| sets) }
}

/// Visits the subsets of two and more until `visit` returns false; whether all were visited.
fn subsets(list: &[usize], widest: usize, visit: &mut dyn FnMut(&[usize]) -> bool) -> bool {
    fn go(
        list: &[usize],
        from: usize,
        widest: usize,
        chosen: &mut Vec<usize>,
        visit: &mut dyn FnMut(&[usize]) -> bool,
    ) -> bool {
        if chosen.len() >= 2 && !visit(chosen) {
            return false;
        }
        if chosen.len() == widest {
            return true;
        }
        for index in from..list.len() {
            chosen.push(list[index]);
            if !go(list, index + 1, widest, chosen, visit) {
                return false;
            }
            chosen.pop();
        }
        true
    }
    go(list, 0, widest, &mut Vec::new(), visit)
}

/// What the values of an unfolding may be, whatever its reads read from.
struct ValueBounds<'u> {
    u: &'u Unfolding<'u>,
    /// For each event, the bits that it may read. Computed at the first use; so is `mixes`.
    reads: Option<Vec<Value>>,
    /// Whether a mixture of the bytes of several writes, which each slot may read, may be new.
    mixes: Option<Vec<bool>>,
}

const ANY: Value = Value::MAX;

impl<'u> ValueBounds<'u> {
    fn new(u: &'u Unfolding<'u>) -> ValueBounds<'u> {
        ValueBounds { u, reads: None, mixes: None }
    }

    /// Whether a mixture of the bytes of several writes that a slot may read may be new.
    fn may_mix<R: BitRow>(&mut self, slot: usize, budget: &mut Budget) -> Result<bool, Limit> {
        let mixes = match self.mixes.take() {
            Some(known) => known,
            None => may_mix::<R>(self.u, budget)?,
        };
        Ok(self.mixes.insert(mixes)[slot])
    }

    /// Bits of `cell` that a write which covers it may set.
    fn may_set(&mut self, write: usize, cell: Extent, budget: &mut Budget) -> Value {
        let u = self.u;
        if let Some(bytes) = constant_bytes(u, write, cell) {
            return bytes;
        }
        let event = &u.events[write];
        // An initial write is constant, and what is written after the loop bound is not known.
        let Some((thread, value)) = event.thread.zip(event.of.and_then(|of| of.value)) else {
            return low_bytes(cell.length);
        };
        let reads = self.reads.get_or_insert_with(|| reads_may_set(u, budget));
        let bits = bits_of(u, reads, thread, value);
        bits >> (8 * (cell.start - event.bytes().start)) & low_bytes(cell.length)
    }
}

/// For each slot, whether its values may differ in two bytes, or are not known.
fn may_mix<R: BitRow>(u: &Unfolding<'_>, budget: &mut Budget) -> Result<Vec<bool>, Limit> {
    let given: BTreeMap<usize, Vec<SlotValue>> = u
        .slots
        .iter()
        .enumerate()
        .map(|(slot, of)| {
            let writes: R = writes_of(u, of.cell);
            let sources = writes.events().map(|write| domains::source(u, slot, write));
            (slot, sources.collect())
        })
        .collect();
    let domains = domains::domains(u, &given, &BTreeMap::new(), budget)?;
    let mut mixes: Vec<bool> = domains
        .values()
        .map(|domain| {
            let Some(domain) = domain else { return true };
            let differing =
                domain.keys().zip(domain.keys().skip(1)).fold(0, |all, (a, b)| all | (a ^ b));
            (0..16).filter(|byte| differing >> (8 * byte) & 0xff != 0).count() >= 2
        })
        .collect();
    // What is made of something that is not known is not known.
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (slot, of) in &given {
            let unknown = of.iter().any(|of| match of {
                SlotValue::Value(_) => false,
                SlotValue::Of(of) => of.from.iter().any(|&from| mixes[from]),
                SlotValue::Any => true,
            });
            if unknown && !mixes[*slot] {
                mixes[*slot] = true;
                changed = true;
            }
        }
    }
    Ok(mixes)
}

/// The least bits that reads may return, following values to the reads they are made of.
/// If a limit is reached before, it is not known.
fn reads_may_set(u: &Unfolding<'_>, budget: &mut Budget) -> Vec<Value> {
    let mut bits = vec![0; u.events.len()];
    let reads: Vec<usize> = (0..u.events.len()).filter(|&e| u.events[e].is_read()).collect();
    // Without a circle of values as many rounds as reads are enough; what still grows then adds to
    // itself and has no bound.
    for round in 0.. {
        let mut grown = false;
        for &read in &reads {
            if !budget.follow() {
                return bits;
            }
            let more = bits[read] | read_bits(u, &bits, read);
            if more != bits[read] {
                grown = true;
                bits[read] = if round > reads.len() { ANY } else { more };
            }
        }
        if !grown {
            break;
        }
    }
    bits
}

fn read_bits(u: &Unfolding<'_>, reads: &[Value], read: usize) -> Value {
    let bytes = u.events[read].bytes();
    let mut bits = 0;
    for event in &u.events {
        if !event.is_write() || !event.bytes().overlaps(bytes) {
            continue;
        }
        let value = event.thread.zip(event.of.and_then(|of| of.value));
        bits |= match value {
            Some((thread, value)) if event.bytes().start == bytes.start => {
                bits_of(u, reads, thread, value)
            }
            Some(_) => ANY,
            None if event.thread.is_some() => ANY,
            None => initial_bytes(u, bytes),
        };
    }
    bits & low_bytes(bytes.length)
}

/// The bits that a value may have set, given those of the reads.
fn bits_of(u: &Unfolding<'_>, reads: &[Value], thread: ThreadId, expr: ExprId) -> Value {
    u.paths[usize::from(thread.0)].exprs.may_set(expr, &mut |read| reads[u.event_of(thread, read)])
}

fn initial_bytes(u: &Unfolding<'_>, bytes: Extent) -> Value {
    let initial = &u.layout.locations[usize::from(bytes.object)].initial;
    little_endian(&initial[bytes.start as usize..bytes.end() as usize])
}
