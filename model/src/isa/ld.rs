//! `ld`, the load; the peer dialect's `tld`, `suld`, `cold` are loads through another proxy.

use super::qualifier::{Order, Qualifiers};
use super::rule::{Edit, Invalid, Rule};
use super::{Address, Reg, SpaceQualifier, Type};
use crate::memory::Proxy;
use crate::scope::Scope;
use crate::section;

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
    /// `ld.global.nc`: outside the model unless nobody writes the location.
    NonCoherent,
}

impl LoadOrder {
    /// The scope of the operation; a weak load has none.
    pub fn scope(self) -> Option<Scope> {
        match self {
            LoadOrder::Weak | LoadOrder::NonCoherent => None,
            LoadOrder::Relaxed(scope) | LoadOrder::Acquire(scope) => Some(scope),
            LoadOrder::Volatile | LoadOrder::MmioRelaxed | LoadOrder::MmioAcquire => {
                Some(Scope::Sys)
            }
        }
    }

    pub fn is_acquire(self) -> bool {
        matches!(self, LoadOrder::Acquire(_) | LoadOrder::MmioAcquire)
    }
}

static ORDER: Rule = Rule {
    code: "ld-order",
    section: section::LD,
    text: "a load is weak, volatile, relaxed or acquire",
};
static SCOPE_MISSING: Rule = Rule {
    code: "ld-scope-missing",
    section: section::LD,
    text: "`.relaxed` and `.acquire` name a scope",
};
static SCOPE_UNUSED: Rule = Rule {
    code: "ld-scope-unused",
    section: section::LD,
    text: "only `.relaxed` and `.acquire` name a scope",
};
static MMIO: Rule = Rule {
    code: "ld-mmio",
    section: section::LD,
    text: "`.mmio` is written with `.relaxed.sys`, or `.acquire.sys` from 9.3",
};
static MMIO_SPACE: Rule =
    Rule { code: "ld-mmio-space", section: section::LD, text: "`.mmio` is for global memory" };
static CACHE: Rule =
    Rule { code: "ld-cache", section: section::LD, text: "only weak loads take a cache operator" };
static NON_COHERENT: Rule = Rule {
    code: "ld-nc",
    section: section::LD_GLOBAL_NC,
    text: "`.nc` is for weak loads of `.global`",
};

impl LoadOrder {
    /// Reads the qualifiers of an `ld`.
    pub fn new(q: &Qualifiers) -> Result<LoadOrder, Invalid> {
        let order = match (q.mmio, q.order.map(|o| o.value), q.scope.map(|s| s.value)) {
            (None, None | Some(Order::Weak), None) => LoadOrder::Weak,
            (None, Some(Order::Volatile), None) => LoadOrder::Volatile,
            (None, Some(Order::Relaxed), Some(scope)) => LoadOrder::Relaxed(scope),
            (None, Some(Order::Acquire), Some(scope)) => LoadOrder::Acquire(scope),
            (Some(_), Some(Order::Relaxed), Some(Scope::Sys)) => LoadOrder::MmioRelaxed,
            (Some(_), Some(Order::Acquire), Some(Scope::Sys)) => LoadOrder::MmioAcquire,
            (Some(mmio), ..) => return Err(q.mmio_without_sys(&MMIO, mmio, Order::Acquire)),
            (None, ..) => {
                return Err(q.wrong_order(&ORDER, &SCOPE_MISSING, &SCOPE_UNUSED, Order::Acquire));
            }
        };
        if let Some(nc) = q.non_coherent {
            return match (order, q.space) {
                (LoadOrder::Weak, Some(space)) if space.value == SpaceQualifier::Global => {
                    Ok(LoadOrder::NonCoherent)
                }
                (LoadOrder::Weak, Some(space)) => Err(NON_COHERENT
                    .broken_by(space.position, "the state space is another")
                    .fixed_by([Edit::Replace(space.position, "global")])),
                (LoadOrder::Weak, None) => Err(NON_COHERENT
                    .broken_by(nc.position, "the state space is not named")
                    .fixed_by([Edit::Insert(nc.position, "global")])),
                _ => Err(NON_COHERENT
                    .broken_by(nc.position, "the load is not weak")
                    .fixed_by([Edit::Remove(nc.position)])),
            };
        }
        if let (Some(_), Some(at)) = (q.mmio, q.space)
            && at.value != SpaceQualifier::Global
        {
            return Err(MMIO_SPACE
                .broken_by(at.position, "the state space is another")
                .fixed_by([Edit::Replace(at.position, "global")]));
        }
        if let Some(cache) = q.cache
            && order != LoadOrder::Weak
        {
            return Err(CACHE
                .broken_by(cache.position, "the load is not weak")
                .fixed_by([Edit::Remove(cache.position)]));
        }
        Ok(order)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Load {
    pub order: LoadOrder,
    pub space: SpaceQualifier,
    /// Generic for real PTX.
    pub proxy: Proxy,
    pub ty: Type,
    /// One for a scalar, 2 or 4 for a vector; `None` is the sink `_`.
    pub destinations: Vec<Option<Reg>>,
    pub address: Address,
}
