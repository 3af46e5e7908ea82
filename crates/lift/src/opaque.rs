//! What readers of functions do not compute: the notes that say so, and how many operands become one.

/// The assumption about other threads of the warp.
pub const LONE_LANE: &str = "the thread is the first of its warp, and the only one that is active";

/// What a shuffle returns.
pub const OTHER_LANES: &str = "values of other lanes are a function of the operands of the shuffle";

/// What a matrix operation returns.
pub const MATRICES: &str =
    "results of matrix operations are functions of the thread's own operands";

/// The function that makes one number of up to three.
pub const HASH: &str = "mma.hash";

/// Hashes any number of operands with functions of three: `step` is given the operands of each function and
/// returns its result. The first one has three operands, and each one after it the result before it and two more.
/// `None` without operands.
pub fn chained<T: Clone>(operands: &[T], mut step: impl FnMut(&[T]) -> T) -> Option<T> {
    let (first, rest) = operands.split_at(operands.len().min(3));
    if first.is_empty() {
        return None;
    }
    let mut hash = step(first);
    for pair in rest.chunks(2) {
        let mut sources = vec![hash];
        sources.extend_from_slice(pair);
        hash = step(&sources);
    }
    Some(hash)
}
