//! `ld`, the load; the peer dialect's `tld`, `suld`, `cold` are loads through another proxy.

use super::cxx::Cxx;
use super::{Address, Reg, SpaceQualifier, Type};
use crate::memory::Proxy;
use crate::scope::Scope;

/// How a load takes part in the memory model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LoadOrder {
    Weak,
    /// Relaxed at system scope, for every relation (reading R5).
    Volatile,
    Relaxed(Scope),
    Acquire(Scope),
    /// `.mmio.relaxed.sys`.
    MmioRelaxed,
    /// `.mmio.acquire.sys`, from PTX ISA 9.3.
    MmioAcquire,
    /// `ld.global.nc`: outside the model unless the program does not write the location.
    NonCoherent,
    /// `ldu`: of read-only data, at one address in all threads of a warp.
    Uniform,
    /// `ld.proxy::readonly`: of read-only data.
    Readonly,
}

impl LoadOrder {
    /// The scope of the operation; a weak load has none.
    pub fn scope(self) -> Option<Scope> {
        match self {
            LoadOrder::Weak | LoadOrder::NonCoherent | LoadOrder::Uniform | LoadOrder::Readonly => {
                None
            }
            LoadOrder::Relaxed(scope) | LoadOrder::Acquire(scope) => Some(scope),
            LoadOrder::Volatile | LoadOrder::MmioRelaxed | LoadOrder::MmioAcquire => {
                Some(Scope::Sys)
            }
        }
    }

    pub fn is_acquire(self) -> bool {
        matches!(self, LoadOrder::Acquire(_) | LoadOrder::MmioAcquire)
    }

    /// Whether the program must not write the bytes that it reads.
    pub fn is_of_read_only_data(self) -> bool {
        matches!(self, LoadOrder::NonCoherent | LoadOrder::Uniform | LoadOrder::Readonly)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Load {
    pub order: LoadOrder,
    pub cxx: Cxx,
    pub space: SpaceQualifier,
    /// Generic for real PTX.
    pub proxy: Proxy,
    pub ty: Type,
    /// Whether it has a prefetch size, which requires global memory.
    pub prefetches: bool,
    /// Whether it has another qualifier that is for global memory: `.unified`, a cache policy.
    pub global_only: bool,
    /// One for a scalar, 2, 4 or 8 for a vector; `None` is the sink `_`.
    pub destinations: Vec<Option<Reg>>,
    pub address: Address,
}
