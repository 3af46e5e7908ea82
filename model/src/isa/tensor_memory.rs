//! `tcgen05`: operations on tensor memory, what waits for them, and their fences.
//!
//! Lanes are left out but for the two halves of `.16x32bx2`: a column is 32 bits. A matrix is the column at its address.

use super::warp::LaneReduction;
use super::{Address, Operand, Reg, SpaceQualifier};

/// What a `tcgen05` instruction does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TensorOp {
    /// `tcgen05.ld`: the columns of each register, from the address on.
    Load {
        from: Address,
        layout: ColumnLayout,
        reduction: Option<ColumnReduction>,
        destinations: Vec<Option<Reg>>,
    },
    /// `tcgen05.st`.
    Store {
        to: Address,
        layout: ColumnLayout,
        sources: Vec<Operand>,
    },
    /// `tcgen05.wait`.
    Wait(TensorWait),
    /// `tcgen05.cp`, from 16 bytes of shared memory.
    Copy {
        to: Address,
        from: Address,
        group: CtaGroup,
        /// The shape is `.4x256b`.
        narrow: bool,
    },
    /// `tcgen05.mma`.
    Multiply(TensorMultiply),
    /// `tcgen05.shift`: it reads and writes the column.
    Shift {
        at: Address,
        group: CtaGroup,
    },
    Commit {
        object: Address,
        space: SpaceQualifier,
        group: CtaGroup,
        /// The ranks of the CTAs whose objects it arrives on.
        multicast: Option<Operand>,
    },
    Fence(TensorFence),
    /// `tcgen05.alloc`: takes the tensor memory that [`crate::program::Program::allocated`] says, and writes its address.
    Allocate {
        to: Address,
        space: SpaceQualifier,
        columns: u32,
    },
    /// `tcgen05.dealloc`.
    Deallocate {
        at: Address,
        columns: Operand,
    },
    /// `tcgen05.relinquish_alloc_permit`.
    Relinquish,
}

/// `.red` of a load: what its columns are reduced by, and where the result goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColumnReduction {
    pub op: LaneReduction,
    pub result: Option<Reg>,
}

/// Which columns the registers of a load or store are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ColumnLayout {
    /// `.pack::16b` and `.unpack::16b`: a register is the low halves of two columns, and otherwise one column.
    pub halves: bool,
    /// `.16x32bx2`: how many columns after the address the second half of the lanes accesses. Its values are those of
    /// the first half for a store; a load keeps those of the first half.
    pub second: Option<i64>,
}

impl ColumnLayout {
    /// How many columns this many registers are, each half of the lanes by itself.
    pub fn columns(self, registers: usize) -> usize {
        if self.halves { 2 * registers } else { registers }
    }
}

/// The kind of operations that a `tcgen05.wait` waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TensorWait {
    Loads,
    Stores,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TensorFence {
    /// `tcgen05.fence::before_thread_sync`.
    Before,
    /// `tcgen05.fence::after_thread_sync`.
    After,
}

/// How many CTAs take part in an operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CtaGroup {
    One,
    Two,
}

/// The accumulator becomes the sum of the first 4 bytes of each matrix, and what it was is added if it is an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorMultiply {
    pub accumulator: Address,
    /// Matrices in shared memory.
    pub shared: Vec<Address>,
    /// Matrices, scales and metadata in tensor memory.
    pub tensor: Vec<Address>,
    /// The first matrix is in tensor memory.
    pub first_in_tensor: bool,
    /// `f16` of `.kind::f16`.
    pub kind: &'static str,
    /// The instruction descriptor, which gives the shape.
    pub shape: Operand,
    /// Whether the accumulator is an input, where the value is not 0; and whether it is negated.
    pub accumulates: (Operand, bool),
    pub group: CtaGroup,
}

/// The kinds of `tcgen05.mma`.
pub const KINDS: [&str; 8] =
    ["f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4", "ti16"];

impl TensorOp {
    /// Whether it takes tensor memory, or gives it back.
    pub fn allocates(&self) -> bool {
        matches!(self, TensorOp::Allocate { .. } | TensorOp::Deallocate { .. })
    }
}
