//! Threads that may be exchanged are taken in one order: of their writes in coherence order, or of what they read.

use execution::path::Path;
use execution::unfold::Unfolding;
use execution::values::Source;
use model::bits::{self, BitRel, BitRow};
use model::program::ThreadId;

use super::Enumeration;

/// So many candidates, or pairs of writes to direct, are worth a look for threads that may be exchanged.
const LARGE: f64 = 100.0;
const MANY_PAIRS: usize = 3;

impl<R: BitRow> Enumeration<'_, '_, '_, R> {
    /// Takes threads that may be exchanged in one order, where the search is large. False when no execution is
    /// left.
    pub(super) fn break_symmetry(&mut self) -> bool {
        let Some(alike) = self.job.sought.alike() else { return true };
        if self.below[0] < LARGE && self.free_pairs.len() < MANY_PAIRS {
            return true;
        }
        let u = self.structure.unfolding;
        let mut pairs = BitRel::<R>::empty(u.events.len());
        for &(a, b) in &self.plan.co_pairs {
            pairs.insert(a, b);
            pairs.insert(b, a);
        }
        self.symmetry = Symmetry::new(u, &alike(), &self.options, &|a, b| pairs.has(a, b));
        let least = self.oriented.last_mut().expect("there is always the least order");
        for &(first, second) in &self.symmetry.writes {
            least.insert(first, second);
        }
        bits::close(&mut least.rows);
        if !self.close_co() {
            return false;
        }
        let least = &self.co;
        self.free_pairs.retain(|&(a, b)| !least[a].has(b) && !least[b].has(a));
        let least = least.clone();
        self.oriented[0].rows = least;
        true
    }
}

/// The order of the threads of one structure.
#[derive(Default)]
pub(super) struct Symmetry {
    /// Pairs of writes of which the first comes first.
    pub(super) writes: Vec<(usize, usize)>,
    /// For each class of threads that only read, their slots, which have the same options thread by thread. What one
    /// thread reads is not greater than what the next reads, slot by slot.
    readers: Vec<Vec<Vec<usize>>>,
    /// For each slot, the class and the place in it of its thread.
    reader_of: Vec<Option<(usize, usize)>>,
}

impl Symmetry {
    /// `ordered` says whether coherence order relates two writes in any case.
    pub(super) fn new<R: BitRow>(
        u: &Unfolding<'_>,
        alike: &[Vec<ThreadId>],
        options: &[Vec<R>],
        ordered: &dyn Fn(usize, usize) -> bool,
    ) -> Symmetry {
        let mut symmetry = Symmetry { reader_of: vec![None; u.slots.len()], ..Symmetry::default() };
        let exchanged: Vec<ThreadId> = alike.iter().flatten().copied().collect();
        for class in alike {
            let mut rest: Vec<ThreadId> = class.clone();
            // In this structure threads may take different paths.
            while let Some(&first) = rest.first() {
                let (mut same, other): (Vec<ThreadId>, Vec<ThreadId>) =
                    rest[1..].iter().partition(|&&thread| same_path(u, first, thread));
                same.insert(0, first);
                symmetry.add(u, &same, &exchanged, options, ordered);
                rest = other;
            }
        }
        symmetry
    }

    fn add<R: BitRow>(
        &mut self,
        u: &Unfolding<'_>,
        threads: &[ThreadId],
        exchanged: &[ThreadId],
        options: &[Vec<R>],
        ordered: &dyn Fn(usize, usize) -> bool,
    ) {
        if threads.len() < 2 {
            return;
        }
        let event = |thread: ThreadId, at: usize| u.first[usize::from(thread.0)] + at;
        let writes = |at: &usize| u.events[event(threads[0], *at)].is_write();
        let path = u.paths[usize::from(threads[0].0)];
        let every = |at: &usize| {
            threads.iter().enumerate().all(|(index, &one)| {
                threads[..index].iter().all(|&other| ordered(event(other, *at), event(one, *at)))
            })
        };
        if let Some(at) = (0..path.events.len()).filter(writes).find(every) {
            self.writes
                .extend(threads.windows(2).map(|two| (event(two[0], at), event(two[1], at))));
            return;
        }
        let mut slots: Vec<Vec<usize>> = vec![Vec::new(); threads.len()];
        for at in 0..path.events.len() {
            let (from, to) = u.slots_of[event(threads[0], at)];
            for offset in 0..to - from {
                let column: Vec<usize> = threads
                    .iter()
                    .map(|&thread| u.slots_of[event(thread, at)].0 + offset)
                    .collect();
                let moves = |writes: &R| {
                    let mut events = writes.events();
                    events.any(|w| u.events[w].thread.is_some_and(|of| exchanged.contains(&of)))
                };
                let same = column.iter().all(|&slot| options[slot] == options[column[0]]);
                // Who writes what is read may be exchanged itself.
                if !same || options[column[0]].iter().any(moves) {
                    continue;
                }
                for (list, slot) in slots.iter_mut().zip(column) {
                    list.push(slot);
                }
            }
        }
        for (place, list) in slots.iter().enumerate() {
            for &slot in list {
                self.reader_of[slot] = Some((self.readers.len(), place));
            }
        }
        self.readers.push(slots);
    }

    /// Whether the choice for a slot keeps its thread between its neighbours.
    pub(super) fn in_order<R: BitRow>(
        &self,
        slot: usize,
        sources: &[Source<R>],
        options: &[Vec<R>],
    ) -> bool {
        let Some((class, place)) = self.reader_of.get(slot).copied().flatten() else { return true };
        let threads = &self.readers[class];
        let chosen =
            |slot: usize| options[slot].iter().position(|&writes| writes == sources[slot].writes);
        let fits = |first: usize, second: usize| {
            for (&one, &other) in threads[first].iter().zip(&threads[second]) {
                match (chosen(one), chosen(other)) {
                    (Some(a), Some(b)) if a < b => return true,
                    (Some(a), Some(b)) if a > b => return false,
                    (Some(_), Some(_)) => {}
                    _ => return true,
                }
            }
            true
        };
        (place == 0 || fits(place - 1, place))
            && (place + 1 == threads.len() || fits(place, place + 1))
    }
}

/// Whether two threads with the same code execute the same of it, on the same bytes and without barriers.
fn same_path(u: &Unfolding<'_>, one: ThreadId, other: ThreadId) -> bool {
    let [a, b]: [&Path; 2] = [one, other].map(|thread| u.paths[usize::from(thread.0)]);
    let decisions = |path: &Path| -> Vec<(u16, bool)> {
        path.decisions.iter().map(|decision| (decision.line, decision.holds)).collect()
    };
    let plain = |path: &Path| {
        u.exits.is_empty()
            && path.private.is_empty()
            && path.events.iter().all(|event| event.barrier.is_none())
    };
    a.end == b.end
        && decisions(a) == decisions(b)
        && a.checks == b.checks
        && a.registers == b.registers
        && a.exprs.all() == b.exprs.all()
        && plain(a)
        && plain(b)
        && a.events.len() == b.events.len()
        && a.events.iter().zip(&b.events).all(|(a, b)| {
            (a.line, a.step, a.access, a.value, a.rmw) == (b.line, b.step, b.access, b.value, b.rmw)
        })
}
