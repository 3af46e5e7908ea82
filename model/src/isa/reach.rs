//! The state spaces that an instruction can access.

use super::atom::Atomic;
use super::ld::{Load, LoadOrder};
use super::st::{Store, StoreOrder};
use crate::memory::Space;

/// Spaces, and what of an instruction keeps it out of others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AllowedSpaces {
    pub spaces: &'static [Space],
    pub because: &'static str,
}

/// Why tensor memory is out of reach for most instructions.
const NOT_TENSOR: &str = "only `tcgen05` instructions access tensor memory";

const ALL: AllowedSpaces = AllowedSpaces {
    spaces: &[
        Space::Global,
        Space::Shared,
        Space::Const,
        Space::Local,
        Space::ParamEntry,
        Space::ParamFunc,
    ],
    because: NOT_TENSOR,
};
const WRITABLE: AllowedSpaces = AllowedSpaces {
    spaces: &[Space::Global, Space::Shared, Space::Local, Space::ParamFunc],
    because: "it is read-only",
};
const STRONG: AllowedSpaces = AllowedSpaces {
    spaces: &[Space::Global, Space::Shared],
    because: "a strong operation is for `.global` and `.shared`",
};
const VOLATILE: AllowedSpaces = AllowedSpaces {
    spaces: &[Space::Global, Space::Shared, Space::Local],
    because: "a volatile operation is for `.global`, `.shared` and `.local`",
};
const MMIO: AllowedSpaces =
    AllowedSpaces { spaces: &[Space::Global], because: "an `.mmio` operation is for `.global`" };
const WIDE: AllowedSpaces =
    AllowedSpaces { spaces: &[Space::Global], because: "a vector of 256 bits is for `.global`" };
const HINT: AllowedSpaces = AllowedSpaces {
    spaces: &[Space::Global],
    because: "`.unified` and `.L2::cache_hint` are for `.global`",
};
const READ_ONLY: AllowedSpaces =
    AllowedSpaces { spaces: &[Space::Global], because: "this load is for `.global`" };

/// What asynchronous operations access.
pub const COPIED: AllowedSpaces = AllowedSpaces {
    spaces: &[Space::Global, Space::Shared],
    because: "an asynchronous operation is for `.global` and `.shared`",
};

/// Where mbarrier objects are, and addresses of tensor memory that `tcgen05.alloc` writes.
pub const IN_SHARED: AllowedSpaces =
    AllowedSpaces { spaces: &[Space::Shared], because: "this operand is in `.shared`" };

/// What `st.bulk` accesses.
pub const FILLED: AllowedSpaces =
    AllowedSpaces { spaces: &[Space::Shared], because: "`st.bulk` is for `.shared`" };

/// What the instructions on multimem addresses access.
pub const MULTIMEM: AllowedSpaces =
    AllowedSpaces { spaces: &[Space::Global], because: "a multimem address is in `.global`" };

/// What `tcgen05` instructions access besides shared memory.
pub const TENSOR: AllowedSpaces =
    AllowedSpaces { spaces: &[Space::Tensor], because: "this operand is in tensor memory" };

/// Bits of the widest vector of other spaces than global.
const WIDEST: usize = 128;

impl Load {
    pub fn reach(&self) -> AllowedSpaces {
        match self.order {
            LoadOrder::NonCoherent | LoadOrder::Uniform | LoadOrder::Readonly => READ_ONLY,
            LoadOrder::MmioRelaxed | LoadOrder::MmioAcquire => MMIO,
            _ if usize::from(self.ty.bits) * self.destinations.len() > WIDEST => WIDE,
            _ if self.global_only => HINT,
            LoadOrder::Weak => ALL,
            LoadOrder::Volatile => VOLATILE,
            LoadOrder::Relaxed(_) | LoadOrder::Acquire(_) => STRONG,
        }
    }
}

impl Store {
    pub fn reach(&self) -> AllowedSpaces {
        match self.order {
            StoreOrder::MmioRelaxed | StoreOrder::MmioRelease => MMIO,
            _ if usize::from(self.ty.bits) * self.sources.len() > WIDEST => WIDE,
            _ if self.global_only => HINT,
            StoreOrder::Weak => WRITABLE,
            StoreOrder::Volatile => VOLATILE,
            StoreOrder::Relaxed(_) | StoreOrder::Release(_) => STRONG,
        }
    }
}

impl Atomic {
    pub fn reach(&self) -> AllowedSpaces {
        STRONG
    }
}
