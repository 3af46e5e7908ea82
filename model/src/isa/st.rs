//! `st`, the store; the peer dialect's `sust` is a store through the surface proxy.

use super::qualifier::{Order, Qualifiers};
use super::rule::{Edit, Invalid, Rule};
use super::{Address, Operand, SpaceQualifier, Type};
use crate::memory::Proxy;
use crate::scope::Scope;
use crate::section;

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

static ORDER: Rule = Rule {
    code: "st-order",
    section: section::ST,
    text: "a store is weak, volatile, relaxed or release",
};
static SCOPE_MISSING: Rule = Rule {
    code: "st-scope-missing",
    section: section::ST,
    text: "`.relaxed` and `.release` name a scope",
};
static SCOPE_UNUSED: Rule = Rule {
    code: "st-scope-unused",
    section: section::ST,
    text: "only `.relaxed` and `.release` name a scope",
};
static MMIO: Rule = Rule {
    code: "st-mmio",
    section: section::ST,
    text: "`.mmio` is written with `.relaxed.sys`, or `.release.sys` from 9.3",
};
static MMIO_SPACE: Rule =
    Rule { code: "st-mmio-space", section: section::ST, text: "`.mmio` is for global memory" };
static CACHE: Rule =
    Rule { code: "st-cache", section: section::ST, text: "only weak stores take a cache operator" };

impl StoreOrder {
    /// Reads the qualifiers of an `st`.
    pub fn new(q: &Qualifiers) -> Result<StoreOrder, Invalid> {
        let order = match (q.mmio, q.order.map(|o| o.value), q.scope.map(|s| s.value)) {
            (None, None | Some(Order::Weak), None) => StoreOrder::Weak,
            (None, Some(Order::Volatile), None) => StoreOrder::Volatile,
            (None, Some(Order::Relaxed), Some(scope)) => StoreOrder::Relaxed(scope),
            (None, Some(Order::Release), Some(scope)) => StoreOrder::Release(scope),
            (Some(_), Some(Order::Relaxed), Some(Scope::Sys)) => StoreOrder::MmioRelaxed,
            (Some(_), Some(Order::Release), Some(Scope::Sys)) => StoreOrder::MmioRelease,
            (Some(mmio), ..) => return Err(q.mmio_without_sys(&MMIO, mmio, Order::Release)),
            (None, ..) => {
                return Err(q.wrong_order(&ORDER, &SCOPE_MISSING, &SCOPE_UNUSED, Order::Release));
            }
        };
        if let (Some(_), Some(at)) = (q.mmio, q.space)
            && at.value != SpaceQualifier::Global
        {
            return Err(MMIO_SPACE
                .broken_by(at.position, "the state space is another")
                .fixed_by([Edit::Replace(at.position, "global")]));
        }
        if let Some(cache) = q.cache
            && order != StoreOrder::Weak
        {
            return Err(CACHE
                .broken_by(cache.position, "the store is not weak")
                .fixed_by([Edit::Remove(cache.position)]));
        }
        Ok(order)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Store {
    pub order: StoreOrder,
    pub space: SpaceQualifier,
    pub proxy: Proxy,
    pub ty: Type,
    /// One for a scalar, 2 or 4 for a vector.
    pub sources: Vec<Operand>,
    pub address: Address,
}
