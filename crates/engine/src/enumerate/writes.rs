//! Morally strong writes, ordered once every read has a source: where one execution is enough, few orders matter.

use execution::structure::writes_of;
use execution::unfold::Unfolding;
use model::bits::{self, BitRel, BitRow};

use super::{Enumeration, Sought, Stage, Stop};

/// Up to this many open pairs, the directions that are inconsistent alone are found before any is chosen.
const FORCED: usize = 40;

/// From this many open pairs on, where memory is observed, reads have sources before writes are ordered.
pub(super) const LAZY_PAIRS: usize = 6;

/// For each cell of memory that is observed, the writes that cover it; `None` if an access to one is not of the whole
/// cell, whose bytes may be those of several writes.
pub(super) fn observed_cells<R: BitRow>(u: &Unfolding<'_>) -> Option<Vec<R>> {
    let mut cells = Vec::new();
    for (at, &of) in u.program.observed.iter().enumerate() {
        let Some(bytes) = u.observed_bytes(of) else { continue };
        for &cell in u.cells[usize::from(bytes.object)].iter().filter(|cell| bytes.contains(**cell))
        {
            if u.private_cell(at, cell).is_some() {
                continue;
            }
            let mut accesses =
                u.events.iter().filter(|event| event.of.is_some()).filter_map(|event| event.access);
            if accesses.any(|access| access.pa.overlaps(cell) && access.pa != cell) {
                return None;
            }
            cells.push(writes_of(u, cell));
        }
    }
    Some(cells)
}

impl<R: BitRow> Enumeration<'_, '_, '_, R> {
    /// Chooses the last write of each cell of memory that is observed, for the sources at hand, which were found
    /// consistent, and then orders what is left: one order is enough for each choice.
    pub(super) fn order_last_writes(&mut self) -> Result<bool, Stop> {
        self.oriented.push(BitRel { rows: self.co.clone() });
        let result = self.order_last(0);
        self.oriented.pop();
        result
    }

    fn order_last(&mut self, at: usize) -> Result<bool, Stop> {
        self.tick()?;
        if !self.may_matter() {
            return Ok(false);
        }
        let Some(&covering) = self.last_cells.get(at) else { return self.order_writes() };
        let order = self.oriented.last().expect("an order was begun").clone();
        let is_last = |&write: &usize| order.rows[write].and(covering).is_empty();
        let candidates: Vec<usize> = covering.events().filter(is_last).collect();
        if candidates.len() == 1 {
            return self.order_last(at + 1);
        }
        let mut enough = false;
        for &last in &candidates {
            self.tick()?;
            let mut next = order.clone();
            for &other in &candidates {
                let pair = (last.min(other), last.max(other));
                if self.free_pairs.iter().any(|&(a, b)| (a.min(b), a.max(b)) == pair) {
                    next.insert(other, last);
                }
            }
            bits::close(&mut next.rows);
            if !bits::is_irreflexive(&next.rows) {
                continue;
            }
            self.oriented.push(next);
            self.last.push((last, covering));
            let result = if self.is_consistent() { self.order_last(at + 1) } else { Ok(false) };
            self.last.pop();
            self.oriented.pop();
            enough |= result?;
        }
        Ok(enough)
    }

    /// Orders what coherence order leaves open for the sources at hand, which were found consistent; true once the
    /// executions admitted are enough.
    pub(super) fn order_writes(&mut self) -> Result<bool, Stop> {
        let order = BitRel { rows: self.co.clone() };
        self.oriented.push(order);
        let result = match self.force_writes() {
            Ok(true) => self.order_open(),
            Ok(false) => Ok(false),
            Err(stop) => Err(stop),
        };
        self.oriented.pop();
        result
    }

    /// Orders two writes of which one direction is inconsistent with what is chosen, for all that is chosen from here
    /// on; false when both are. Looked at are the write of an atomic whose read was just given a source, beside
    /// all others, and the writes that a torn read mixes. So two atomics that read one write, and a mixture of
    /// writes that are ordered in any case, are found inconsistent here, and not only once every read has a source.
    pub(super) fn order_read(&mut self, slot: usize) -> Result<bool, Stop> {
        let u = self.structure.unfolding;
        let read = u.slots[slot].read;
        let event = &u.events[read];
        let rmw = event.thread.zip(event.of.and_then(|of| of.rmw));
        let own = rmw.map(|(thread, write)| u.event_of(thread, write));
        let mixed = self.sources[slot].writes;
        let meets = |&(a, b): &(usize, usize)| {
            own.is_some_and(|own| own == a || own == b) || mixed.has(a) && mixed.has(b)
        };
        if own.is_none() && mixed.count() < 2 {
            return Ok(true);
        }
        let open = self.open_pairs().into_iter().filter(meets);
        for (a, b) in open.collect::<Vec<_>>() {
            if self.is_ordered(a, b) {
                continue;
            }
            self.tick()?;
            match [(a, b), (b, a)].map(|(first, second)| self.directed(first, second)) {
                [None, None] => return Ok(false),
                [Some(only), None] | [None, Some(only)] => self.oriented.push(only),
                [Some(_), Some(_)] => {}
            }
        }
        Ok(true)
    }

    /// Directs the pairs of which one direction is inconsistent; false when both are.
    fn force_writes(&mut self) -> Result<bool, Stop> {
        loop {
            let open = self.open_pairs();
            if open.len() > FORCED {
                return Ok(true);
            }
            let mut changed = false;
            for (a, b) in open {
                if self.is_ordered(a, b) {
                    continue;
                }
                self.tick()?;
                match [(a, b), (b, a)].map(|(first, second)| self.directed(first, second)) {
                    [None, None] => return Ok(false),
                    [Some(only), None] | [None, Some(only)] => {
                        *self.oriented.last_mut().expect("an order was begun") = only;
                        changed = true;
                    }
                    [Some(_), Some(_)] => {}
                }
            }
            if !changed {
                return Ok(true);
            }
        }
    }

    /// Directs the remaining pairs one by one.
    fn order_open(&mut self) -> Result<bool, Stop> {
        self.tick()?;
        let Some(&(a, b)) = self.free_pairs.iter().find(|&&(a, b)| !self.is_ordered(a, b)) else {
            if !self.is_consistent() {
                return Ok(false);
            }
            let before = self.admitted;
            self.complete()?;
            return Ok(self.admitted > before && self.one_is_enough());
        };
        for (first, second) in [(a, b), (b, a)] {
            let Some(next) = self.directed(first, second) else { continue };
            self.oriented.push(next);
            let result = self.order_open();
            self.oriented.pop();
            if result? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The order with one more pair and what follows, if that is consistent.
    fn directed(&mut self, first: usize, second: usize) -> Option<BitRel<R>> {
        let mut next = self.oriented.last().expect("an order was begun").clone();
        next.insert(first, second);
        bits::close(&mut next.rows);
        if !bits::is_irreflexive(&next.rows) {
            return None;
        }
        self.oriented.push(next);
        let fits = self.is_consistent();
        let next = self.oriented.pop().expect("it was pushed");
        fits.then_some(next)
    }

    /// Whether the order so far is consistent with the sources, whatever the order of the fences.
    fn is_consistent(&mut self) -> bool {
        self.fsc.rows.clone_from(&self.fixed_fences.rows);
        self.run_fences();
        self.consistent()
    }

    fn is_ordered(&self, a: usize, b: usize) -> bool {
        let order = self.oriented.last().expect("there is always the least order");
        order.has(a, b) || order.has(b, a)
    }

    fn open_pairs(&self) -> Vec<(usize, usize)> {
        self.free_pairs.iter().copied().filter(|&(a, b)| !self.is_ordered(a, b)).collect()
    }

    /// Whether all orders of the writes say the same of what is sought.
    fn one_is_enough(&self) -> bool {
        match self.job.sought {
            Sought::Everything => false,
            Sought::Outcomes(..) | Sought::UninitialisedReads => true,
            // An order of the fences may be consistent with some orders of the writes only.
            Sought::Undefined(_) => {
                let decided = if self.free_fences.is_empty() { Stage::Co } else { Stage::Fsc };
                self.plan.flags.iter().all(|flag| self.plan.stage[flag.node] < decided)
            }
        }
    }
}
