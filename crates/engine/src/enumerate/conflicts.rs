//! Pairs of choices that were found to conflict, so that no search tries them twice.

/// Pairs of choices that are inconsistent under the orientation at hand.
pub(super) struct Conflicts {
    /// The number of the first option of each slot.
    first: Vec<usize>,
    total: usize,
    /// For each pair of options, whether it is known to be inconsistent.
    known: Vec<bool>,
    /// The option of each slot that is decided.
    pub(super) chosen: Vec<Option<usize>>,
    /// How often no pair was to blame.
    pub(super) misses: usize,
}

/// Searches with fewer candidates than this are over before anything is learned.
const WORTH_LEARNING: f64 = 500.0;
const MAX_OPTIONS: usize = 1_000;
pub(super) const MAX_MISSES: usize = 5_000;

impl Conflicts {
    pub(super) fn new<R>(options: &[Vec<R>], candidates: f64) -> Option<Conflicts> {
        let mut first = Vec::with_capacity(options.len());
        let mut total = 0;
        for of in options {
            first.push(total);
            total += of.len();
        }
        (candidates > WORTH_LEARNING && total <= MAX_OPTIONS).then(|| Conflicts {
            first,
            total,
            known: vec![false; total * total],
            chosen: vec![None; options.len()],
            misses: 0,
        })
    }

    pub(super) fn forget(&mut self) {
        self.known.fill(false);
    }

    pub(super) fn rules_out(&self, slot: usize, index: usize) -> bool {
        let row = (self.first[slot] + index) * self.total;
        self.chosen
            .iter()
            .zip(&self.first)
            .any(|(chosen, first)| chosen.is_some_and(|chosen| self.known[row + first + chosen]))
    }

    pub(super) fn add(&mut self, slot: usize, index: usize, other: usize) {
        if let Some(chosen) = self.chosen[other] {
            self.known[(self.first[slot] + index) * self.total + self.first[other] + chosen] = true;
        }
    }
}
