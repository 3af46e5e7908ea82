//! Sets and relations over the events of one structure, as bits.
//!
//! A set is one row, a relation one row for each event. The row's width is a type parameter: `u64`
//! serves up to 64 events, which is nearly every litmus test, and wider rows the rest. The
//! functions on slices are the inner loop of the enumerating engine; [`BitRel`] is the same with
//! its memory.

use std::fmt::Debug;

/// A set of events, numbered from 0.
pub trait BitRow: Copy + Default + Eq + Debug + Send + Sync + 'static {
    /// How many events fit.
    const BITS: usize;

    fn single(event: usize) -> Self;
    fn has(self, event: usize) -> bool;
    #[must_use]
    fn or(self, other: Self) -> Self;
    #[must_use]
    fn and(self, other: Self) -> Self;
    #[must_use]
    fn minus(self, other: Self) -> Self;
    fn is_empty(self) -> bool;
    fn count(self) -> usize;
    /// The lowest event; the row is not empty.
    fn first(self) -> usize;
    #[must_use]
    fn without_first(self) -> Self;

    fn insert(&mut self, event: usize) {
        *self = self.or(Self::single(event));
    }

    fn remove(&mut self, event: usize) {
        *self = self.minus(Self::single(event));
    }

    /// The events 0 to `count - 1`.
    fn full(count: usize) -> Self {
        (0..count).fold(Self::default(), |row, event| row.or(Self::single(event)))
    }

    fn events(self) -> Events<Self> {
        Events(self)
    }
}

/// The events of a row, ascending.
pub struct Events<R>(R);

impl<R: BitRow> Iterator for Events<R> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0.is_empty() {
            return None;
        }
        let event = self.0.first();
        self.0 = self.0.without_first();
        Some(event)
    }
}

macro_rules! row_of_integer {
    ($integer:ty) => {
        impl BitRow for $integer {
            const BITS: usize = <$integer>::BITS as usize;

            #[inline]
            fn single(event: usize) -> Self {
                1 << event
            }
            #[inline]
            fn has(self, event: usize) -> bool {
                self >> event & 1 == 1
            }
            #[inline]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline]
            fn minus(self, other: Self) -> Self {
                self & !other
            }
            #[inline]
            fn is_empty(self) -> bool {
                self == 0
            }
            #[inline]
            fn count(self) -> usize {
                self.count_ones() as usize
            }
            #[inline]
            fn first(self) -> usize {
                self.trailing_zeros() as usize
            }
            #[inline]
            fn without_first(self) -> Self {
                self & self.wrapping_sub(1)
            }
        }
    };
}

row_of_integer!(u64);
row_of_integer!(u128);

/// A row of 64 × `N` events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wide<const N: usize>([u64; N]);

impl<const N: usize> Default for Wide<N> {
    fn default() -> Self {
        Wide([0; N])
    }
}

impl<const N: usize> Wide<N> {
    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Wide(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
}

impl<const N: usize> BitRow for Wide<N> {
    const BITS: usize = 64 * N;

    fn single(event: usize) -> Self {
        let mut row = Self::default();
        row.0[event / 64] = 1 << (event % 64);
        row
    }
    fn has(self, event: usize) -> bool {
        self.0[event / 64] >> (event % 64) & 1 == 1
    }
    fn or(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }
    fn and(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
    fn minus(self, other: Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }
    fn is_empty(self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }
    fn count(self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
    fn first(self) -> usize {
        let word = self.0.iter().position(|&word| word != 0).unwrap_or(N - 1);
        64 * word + self.0[word].trailing_zeros() as usize
    }
    fn without_first(mut self) -> Self {
        if let Some(word) = self.0.iter_mut().find(|word| **word != 0) {
            *word &= word.wrapping_sub(1);
        }
        self
    }
}

#[inline]
pub fn or<R: BitRow>(out: &mut [R], a: &[R], b: &[R]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = a.or(*b);
    }
}

#[inline]
pub fn and<R: BitRow>(out: &mut [R], a: &[R], b: &[R]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = a.and(*b);
    }
}

#[inline]
pub fn minus<R: BitRow>(out: &mut [R], a: &[R], b: &[R]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = a.minus(*b);
    }
}

/// `a ; b`.
#[inline]
pub fn seq<R: BitRow>(out: &mut [R], a: &[R], b: &[R]) {
    for (out, row) in out.iter_mut().zip(a) {
        let mut reached = R::default();
        for middle in row.events() {
            reached = reached.or(b[middle]);
        }
        *out = reached;
    }
}

#[inline]
pub fn inverse<R: BitRow>(out: &mut [R], a: &[R]) {
    out.fill(R::default());
    for (from, row) in a.iter().enumerate() {
        for to in row.events() {
            out[to].insert(from);
        }
    }
}

/// Transitive closure, in place.
#[inline]
pub fn close<R: BitRow>(a: &mut [R]) {
    for middle in 0..a.len() {
        let through = a[middle];
        if through.is_empty() {
            continue;
        }
        for row in a.iter_mut() {
            if row.has(middle) {
                *row = row.or(through);
            }
        }
    }
}

#[inline]
pub fn is_empty<R: BitRow>(a: &[R]) -> bool {
    a.iter().all(|row| row.is_empty())
}

#[inline]
pub fn is_irreflexive<R: BitRow>(a: &[R]) -> bool {
    a.iter().enumerate().all(|(event, row)| !row.has(event))
}

/// Whether there is no cycle: takes away events without a successor until none is left.
#[inline]
pub fn is_acyclic<R: BitRow>(a: &[R]) -> bool {
    let mut left = R::default();
    for (event, row) in a.iter().enumerate() {
        if !row.is_empty() {
            left.insert(event);
        }
    }
    loop {
        let mut still = left;
        for event in left.events() {
            if a[event].and(still).is_empty() {
                still.remove(event);
            }
        }
        if still.is_empty() {
            return true;
        }
        if still == left {
            return false;
        }
        left = still;
    }
}

/// A relation that owns its rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BitRel<R> {
    pub rows: Vec<R>,
}

impl<R: BitRow> BitRel<R> {
    pub fn empty(events: usize) -> Self {
        BitRel { rows: vec![R::default(); events] }
    }

    pub fn events(&self) -> usize {
        self.rows.len()
    }

    pub fn insert(&mut self, from: usize, to: usize) {
        self.rows[from].insert(to);
    }

    pub fn has(&self, from: usize, to: usize) -> bool {
        self.rows[from].has(to)
    }

    pub fn is_empty(&self) -> bool {
        is_empty(&self.rows)
    }

    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.rows.iter().enumerate().flat_map(|(from, row)| row.events().map(move |to| (from, to)))
    }

    fn map2(&self, other: &Self, f: impl Fn(&mut [R], &[R], &[R])) -> Self {
        let mut out = Self::empty(self.events());
        f(&mut out.rows, &self.rows, &other.rows);
        out
    }

    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        self.map2(other, or)
    }

    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        self.map2(other, and)
    }

    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.map2(other, minus)
    }

    #[must_use]
    pub fn seq(&self, other: &Self) -> Self {
        self.map2(other, seq)
    }

    #[must_use]
    pub fn inverse(&self) -> Self {
        let mut out = Self::empty(self.events());
        inverse(&mut out.rows, &self.rows);
        out
    }

    #[must_use]
    pub fn plus(&self) -> Self {
        let mut out = self.clone();
        close(&mut out.rows);
        out
    }

    pub fn cross(from: R, to: R, events: usize) -> Self {
        let mut out = Self::empty(events);
        for event in from.events() {
            out.rows[event] = to;
        }
        out
    }

    pub fn identity(of: R, events: usize) -> Self {
        let mut out = Self::empty(events);
        for event in of.events() {
            out.insert(event, event);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain<R: BitRow>(events: usize) -> BitRel<R> {
        let mut relation = BitRel::empty(events);
        for event in 1..events {
            relation.insert(event - 1, event);
        }
        relation
    }

    fn closure_of_a_chain<R: BitRow>(events: usize) {
        let closed = chain::<R>(events).plus();
        assert_eq!(closed.pairs().count(), events * (events - 1) / 2);
        assert!(is_acyclic(&closed.rows));
        let mut cycle = chain::<R>(events);
        cycle.insert(events - 1, 0);
        assert!(!is_acyclic(&cycle.rows));
        assert!(is_irreflexive(&cycle.rows));
        assert!(!is_irreflexive(&cycle.plus().rows));
        assert_eq!(chain::<R>(events).inverse().inverse(), chain::<R>(events));
    }

    #[test]
    fn every_width_closes_a_chain() {
        closure_of_a_chain::<u64>(64);
        closure_of_a_chain::<u128>(128);
        closure_of_a_chain::<Wide<4>>(256);
    }

    #[test]
    fn composition_goes_through_the_middle() {
        let step = chain::<u64>(4);
        assert_eq!(step.seq(&step).pairs().collect::<Vec<_>>(), [(0, 2), (1, 3)]);
    }
}
