//! `st`, the store; the peer dialect's `sust` is a store through the surface proxy.

use super::cxx::Cxx;
use super::{Address, Operand, SpaceQualifier, Type};
use crate::memory::Proxy;
use crate::scope::Scope;

/// How a store takes part in the memory model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StoreOrder {
    Weak,
    /// Relaxed at system scope, for every relation (reading R5).
    Volatile,
    Relaxed(Scope),
    Release(Scope),
    /// `.mmio.relaxed.sys`.
    MmioRelaxed,
    /// `.mmio.release.sys`, from PTX ISA 9.3.
    MmioRelease,
}

impl StoreOrder {
    /// The scope of the operation; a weak store has none.
    pub fn scope(self) -> Option<Scope> {
        match self {
            StoreOrder::Weak => None,
            StoreOrder::Relaxed(scope) | StoreOrder::Release(scope) => Some(scope),
            StoreOrder::Volatile | StoreOrder::MmioRelaxed | StoreOrder::MmioRelease => {
                Some(Scope::Sys)
            }
        }
    }

    pub fn is_release(self) -> bool {
        matches!(self, StoreOrder::Release(_) | StoreOrder::MmioRelease)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Store {
    pub order: StoreOrder,
    pub cxx: Cxx,
    pub space: SpaceQualifier,
    pub proxy: Proxy,
    pub ty: Type,
    /// Whether it has a qualifier that is for global memory: a cache policy.
    pub global_only: bool,
    /// One for a scalar, 2, 4 or 8 for a vector.
    pub sources: Vec<Operand>,
    pub address: Address,
}
