//! Choices read off a list of numbers: a generator whose cases shrink with the list.

/// Numbers still to be used; when they run out, every choice is the first.
pub(crate) struct Choices<'a> {
    rest: std::slice::Iter<'a, u16>,
}

impl<'a> Choices<'a> {
    pub(crate) fn new(numbers: &'a [u16]) -> Choices<'a> {
        Choices { rest: numbers.iter() }
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::from(self.rest.next().copied().unwrap_or(0)) % n.max(1)
    }

    pub(crate) fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Whether something rare happens: once in `n` times.
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }
}
