//! The values of reads and writes, given the source of each read.

use std::ops::ControlFlow;

use crate::air::Air;
use crate::event::{Combination, EventKind};
use crate::expr::{Expr, ExprId};
use crate::path::Assumption;
use crate::unfold::Unfolding;
use model::bits::BitRow;
use model::isa::bar::Reduction;
use model::memory::Extent;
use model::program::{Observed, ThreadId};
use model::value::{Value, little_endian, low_bits, low_bytes};

/// Where one slot reads from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Source<R> {
    /// Empty: not chosen yet. More than one write: the read is torn.
    pub writes: R,
    /// The bytes of a torn read, little-endian, once chosen.
    pub torn: Option<Value>,
}

/// What is known of one read's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memo {
    Unknown,
    /// Being computed: meeting it again is a cycle of values.
    Visiting,
    Known(Value),
}

/// The values of one candidate, computed as they are needed.
pub struct Values<'a, R> {
    unfolding: &'a Unfolding<'a>,
    sources: &'a [Source<R>],
    memo: Vec<Memo>,
}

impl<'a, R: BitRow> Values<'a, R> {
    /// `sources` has one entry for each slot.
    pub fn new(unfolding: &'a Unfolding<'a>, sources: &'a [Source<R>]) -> Values<'a, R> {
        Values::reusing(unfolding, sources, Vec::new())
    }

    /// The same, in memory that [`Values::into_memo`] gave back.
    pub fn reusing(
        unfolding: &'a Unfolding<'a>,
        sources: &'a [Source<R>],
        mut memo: Vec<Memo>,
    ) -> Values<'a, R> {
        memo.clear();
        memo.resize(unfolding.events.len(), Memo::Unknown);
        Values { unfolding, sources, memo }
    }

    pub fn into_memo(self) -> Vec<Memo> {
        self.memo
    }

    /// Whether every read has a value and every check of the paths holds: then the candidate has
    /// these values and no others.
    pub fn settled(&mut self) -> bool {
        let u = self.unfolding;
        self.sources.iter().all(|source| source.writes.count() == 1)
            && u.slots.iter().all(|slot| self.read(slot.read).is_some())
            && u.checks().all(|(thread, check)| self.check(thread, check) == Some(true))
    }

    /// Supposes that `read` returns `value`, for values that depend on themselves.
    pub fn suppose(&mut self, read: usize, value: Value) {
        self.memo[read] = Memo::Known(value);
    }

    /// What a read returns, as an unsigned number; `None` if a source is not chosen yet or the
    /// value depends on itself.
    pub fn read(&mut self, event: usize) -> Option<Value> {
        match self.memo[event] {
            Memo::Known(value) => return Some(value),
            Memo::Visiting => return None,
            Memo::Unknown => {}
        }
        self.memo[event] = Memo::Visiting;
        let value = self.read_from_sources(event);
        self.memo[event] = value.map_or(Memo::Unknown, Memo::Known);
        value
    }

    /// The same, looking at the sources even if the value was supposed.
    pub fn read_from_sources(&mut self, event: usize) -> Option<Value> {
        let (from, to) = self.unfolding.slots_of[event];
        let start = self.unfolding.events[event].bytes().start;
        let mut value = 0;
        for slot in from..to {
            let cell = self.unfolding.slots[slot].cell;
            let source = self.sources[slot];
            let bytes = match source.torn {
                Some(bytes) => bytes,
                None if source.writes.count() == 1 => self.written(source.writes.first(), cell)?,
                None => return None,
            };
            value |= bytes << (8 * (cell.start - start));
        }
        Some(value)
    }

    /// The bytes of `cell` that a write which covers it writes.
    pub fn written(&mut self, write: usize, cell: Extent) -> Option<Value> {
        let event = &self.unfolding.events[write];
        let bytes = event.bytes();
        let Some(thread) = event.thread else {
            let initial = &self.unfolding.layout.locations[usize::from(bytes.object)].initial;
            let range = cell.start as usize..cell.end() as usize;
            return Some(little_endian(&initial[range]));
        };
        // What is written after the loop bound is not known.
        let expr = event.of.and_then(|of| of.value)?;
        let value = self.eval(thread, expr)?;
        Some(value >> (8 * (cell.start - bytes.start)) & low_bytes(cell.length))
    }

    /// The bytes of `cell`, of what is observed with this index, if a thread has it for itself and writes it; their
    /// value is `None` if it is not known.
    pub fn private(&mut self, observed: usize, cell: Extent) -> Option<Option<Value>> {
        let (thread, of) = self.unfolding.private_cell(observed, cell)?;
        let value = self.eval(thread, of.value);
        let at = 8 * (cell.start - of.bytes.start);
        Some(value.map(|value| value >> at & low_bytes(cell.length)))
    }

    pub fn eval(&mut self, thread: ThreadId, expr: ExprId) -> Option<Value> {
        let unfolding = self.unfolding;
        let exprs = &unfolding.paths[usize::from(thread.0)].exprs;
        if let Some(value) = exprs.as_const(expr) {
            return Some(value);
        }
        exprs.eval(expr, &mut |leaf| match leaf {
            Expr::Read(index) => self.read(unfolding.event_of(thread, index)),
            Expr::Reduced(index) => self.reduced(unfolding.event_of(thread, index)),
            Expr::Const(value) => Some(value),
            Expr::Alu { .. } | Expr::Atomic { .. } | Expr::Extend { .. } => None,
        })
    }

    /// The result of the `bar.red`, or of the instruction of a warp, whose wait is this event.
    fn reduced(&mut self, wait: usize) -> Option<Value> {
        if self.memo[wait] == Memo::Visiting {
            return None;
        }
        self.memo[wait] = Memo::Visiting;
        let unfolding = self.unfolding;
        let mut values = Vec::new();
        let mut complete = true;
        for arrival in unfolding.contributors(wait) {
            let event = &unfolding.events[arrival];
            let reduce = event.of.and_then(|of| of.barrier).and_then(|used| used.reduce);
            let (Some(thread), Some((_, brought, _))) = (event.thread, reduce) else { continue };
            match self.eval(thread, brought) {
                Some(value) => values.push((thread, value)),
                None => complete = false,
            }
        }
        self.memo[wait] = Memo::Unknown;
        let event = &unfolding.events[wait];
        let of = event.of.filter(|of| of.kind == EventKind::Wait)?;
        let (op, ..) = of.barrier.and_then(|used| used.reduce)?;
        if !complete {
            return None;
        }
        let mut truths = values.iter().map(|(_, value)| *value != 0);
        Some(match op {
            Combination::Reduction(Reduction::Popc) => truths.filter(|&t| t).count() as Value,
            Combination::Reduction(Reduction::And) => Value::from(truths.all(|t| t)),
            Combination::Reduction(Reduction::Or) => Value::from(truths.any(|t| t)),
            Combination::Lane(_) => values.first()?.1,
            Combination::Elected(lane) => lane.into(),
            // A path has it as a number.
            Combination::Active => return None,
            Combination::Lanes(op) => {
                let own = values.iter().find(|(thread, _)| Some(*thread) == event.thread)?.1;
                let lane = |thread| unfolding.program.lane(thread);
                let lanes: Vec<(u32, Value)> =
                    values.iter().map(|&(thread, value)| (lane(thread), value)).collect();
                op.apply(own, &lanes)
            }
        })
    }

    /// Whether what a path assumes holds; `None` if that is not known yet.
    pub fn check(&mut self, thread: ThreadId, check: &Assumption) -> Option<bool> {
        self.eval(thread, check.expr()).map(|value| check.holds(value))
    }

    /// The final value of an observed register.
    pub fn register(&mut self, observed: Observed) -> Option<Value> {
        match observed {
            Observed::Register { thread, register } => {
                let path = self.unfolding.paths[usize::from(thread.0)];
                let value = self.eval(thread, path.registers[usize::from(register.0)])?;
                let declared = &self.unfolding.program.threads[usize::from(thread.0)].registers
                    [usize::from(register.0)];
                Some(value & low_bits(declared.bits))
            }
            Observed::Memory { .. } => None,
        }
    }
}

/// Receives one way the values of a candidate can be; breaking ends the search.
pub type ValueVisitor<'v, R> = dyn FnMut(&[Source<R>], &mut Values<'_, R>) -> ControlFlow<()> + 'v;

/// More mixtures of the bytes of several writes than are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManyMixtures;

/// So many mixtures are listed at most.
const MOST_MIXTURES: usize = 1 << 22;

/// Calls `visit` for each way the values of a candidate can be: usually one; more for torn reads,
/// none when a path's checks fail. Values that depend on themselves are those that `air` has.
pub fn valuations<R: BitRow>(
    u: &Unfolding<'_>,
    sources: &mut [Source<R>],
    air: &Air,
    visit: &mut ValueVisitor<'_, R>,
) -> Result<ControlFlow<()>, TooManyMixtures> {
    let torn = (0..sources.len())
        .find(|&slot| sources[slot].torn.is_none() && sources[slot].writes.count() > 1);
    if let Some(slot) = torn {
        return tear(u, sources, slot, air, visit);
    }
    let fixed = &*sources;
    let mut values = Values::new(u, fixed);
    let cyclic = (0..u.events.len()).filter(|&e| u.events[e].is_read());
    let cyclic: Vec<usize> = cyclic.filter(|&event| values.read(event).is_none()).collect();
    if cyclic.is_empty() {
        if u.checks().all(|(thread, check)| values.check(thread, check) == Some(true)) {
            return Ok(visit(fixed, &mut values));
        }
        return Ok(ControlFlow::Continue(()));
    }
    Ok(air.visit_cyclic(u, fixed, &cyclic, visit))
}

/// Chooses the bytes of one torn slot: every mixture that needs all of its writes. A mixture that
/// fewer writes give is a candidate with fewer edges, and so allowed whenever this one is.
fn tear<R: BitRow>(
    u: &Unfolding<'_>,
    sources: &mut [Source<R>],
    slot: usize,
    air: &Air,
    visit: &mut ValueVisitor<'_, R>,
) -> Result<ControlFlow<()>, TooManyMixtures> {
    let cell = u.slots[slot].cell;
    let written: Option<Vec<Value>> = {
        let mut values = Values::new(u, sources);
        sources[slot].writes.events().map(|write| values.written(write, cell)).collect()
    };
    // Values that wait for another torn read, or for themselves, are left for later slots to fix.
    let Some(written) = written else {
        return defer(u, sources, slot, air, visit);
    };
    for bytes in mixtures(&written, cell.length)? {
        sources[slot].torn = Some(bytes);
        if valuations(u, sources, air, visit)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    sources[slot].torn = None;
    Ok(ControlFlow::Continue(()))
}

/// Fixes another torn slot first. Torn reads whose values depend on each other in a circle have no
/// value here: No-Thin-Air forbids them, and where it does not, that is said.
fn defer<R: BitRow>(
    u: &Unfolding<'_>,
    sources: &mut [Source<R>],
    slot: usize,
    air: &Air,
    visit: &mut ValueVisitor<'_, R>,
) -> Result<ControlFlow<()>, TooManyMixtures> {
    let open = |s: &Source<R>| s.torn.is_none() && s.writes.count() > 1;
    for other in (0..sources.len()).filter(|&other| other != slot) {
        if !open(&sources[other]) {
            continue;
        }
        let cell = u.slots[other].cell;
        let mut values = Values::new(u, sources);
        let known = sources[other].writes.events().all(|w| values.written(w, cell).is_some());
        if known {
            return tear(u, sources, other, air, visit);
        }
    }
    air.leaves_out();
    Ok(ControlFlow::Continue(()))
}

/// The mixtures of the bytes of several values that no fewer of them give.
fn mixtures(written: &[Value], length: u32) -> Result<Vec<Value>, TooManyMixtures> {
    let mut all = bytewise(written, length)?;
    all.sort_unstable();
    all.retain(|&mixed| {
        (0..written.len()).all(|needed| {
            (0..length).any(|byte| {
                let wanted = mixed >> (8 * byte) & 0xff;
                written.iter().enumerate().all(|(other, value)| {
                    (value >> (8 * byte) & 0xff == wanted) == (other == needed)
                })
            })
        })
    });
    Ok(all)
}

/// The values that observed memory, by its index in what is observed, can end with: of each cell, what its one thread
/// wrote, or a write that no other follows in coherence order. Whole writes where all accesses to the cell are of
/// the cell, else byte by byte (reading R22). `co` has one row for each event.
pub fn final_values<R: BitRow>(
    u: &Unfolding<'_>,
    values: &mut Values<'_, R>,
    co: &[R],
    observed: usize,
) -> Result<Vec<Value>, TooManyMixtures> {
    let mut finals = vec![0];
    let bytes = u.observed_bytes(u.program.observed[observed]).expect("memory has bytes");
    let cells = u.cells[usize::from(bytes.object)].iter().filter(|cell| bytes.contains(**cell));
    for &cell in cells {
        let shift = 8 * (cell.start - bytes.start);
        if let Some(own) = values.private(observed, cell) {
            let own = own.unwrap_or(0) << shift;
            for value in &mut finals {
                *value |= own;
            }
            continue;
        }
        let covering: R = crate::structure::writes_of(u, cell);
        let last = covering.events().filter(|&w| co[w].and(covering).is_empty());
        let mut options: Vec<Value> =
            last.filter_map(|write| values.written(write, cell)).collect();
        let whole = u
            .events
            .iter()
            .filter(|event| event.of.is_some())
            .filter_map(|event| event.access)
            .all(|access| !access.pa.overlaps(cell) || access.pa == cell);
        if !whole && options.len() > 1 {
            options = bytewise(&options, cell.length)?;
        }
        options.sort_unstable();
        options.dedup();
        if finals.len() * options.len() > MOST_MIXTURES {
            return Err(TooManyMixtures);
        }
        finals = finals
            .iter()
            .flat_map(|&low| options.iter().map(move |&high| low | high << shift))
            .collect();
    }
    Ok(finals)
}

/// Every choice of each byte from any of the values.
fn bytewise(values: &[Value], length: u32) -> Result<Vec<Value>, TooManyMixtures> {
    let mut all = vec![0];
    for byte in 0..length {
        let mut offered: Vec<Value> = values.iter().map(|v| v >> (8 * byte) & 0xff).collect();
        offered.sort_unstable();
        offered.dedup();
        if all.len() * offered.len() > MOST_MIXTURES {
            return Err(TooManyMixtures);
        }
        all = all
            .iter()
            .flat_map(|&low| offered.iter().map(move |&high| low | high << (8 * byte)))
            .collect();
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_differ_in_one_byte_do_not_mix() {
        assert_eq!(mixtures(&[0, 1], 4), Ok(vec![]));
        assert_eq!(mixtures(&[0, 0x0101], 2), Ok(vec![0x0001, 0x0100]));
    }

    #[test]
    fn a_mixture_of_three_needs_all_three() {
        let mixed = mixtures(&[0x0000_0000, 0x0001_0101, 0x0002_0202], 3).expect("they are few");
        assert!(mixed.contains(&0x0001_0200));
        assert!(!mixed.contains(&0x0001_0100), "two are enough for it");
    }

    #[test]
    fn there_are_only_so_many_mixtures() {
        let bytes = [0x01, 0x02, 0x03, 0x04].map(|byte| Value::from_le_bytes([byte; 16]));
        assert_eq!(mixtures(&bytes, 16), Err(TooManyMixtures));
        assert!(mixtures(&bytes, 8).is_ok());
    }
}
