//! Properties of accesses of C++ and LLVM IR that PTX does not have.

/// Beside the order that an access has in the words of PTX: `seq_cst` is an acquire load, a release
/// store or an `acq_rel` atomic with this.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Cxx {
    /// `memory_order_seq_cst`
    pub seq_cst: bool,
    /// `unordered` of LLVM: atomic, and not even coherent.
    pub unordered: bool,
    /// The order of a compare-exchange that fails, where it is another.
    pub failure: Option<Failure>,
}

/// How a compare-exchange reads when it fails.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Failure {
    Relaxed,
    Acquire,
    SeqCst,
}
