//! `fence`, `membar` and the proxy fences.

use super::qualifier::{Order, Qualifiers};
use super::rule::{Edit, Invalid, Rule};
use crate::memory::Proxy;
use crate::scope::Scope;
use crate::section;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FenceOrder {
    /// From PTX ISA 8.6, as is release.
    Acquire,
    Release,
    AcqRel,
    /// Also what `membar` means from `sm_70`.
    Sc,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fence {
    pub order: FenceOrder,
    pub scope: Scope,
}

/// A bi-directional proxy fence.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ProxyFence {
    /// `fence.proxy.alias`.
    Alias,
    /// Of the peer dialect only: `fence.proxy.{generic,texture,surface,constant}`.
    Proxy(Proxy),
}

static ORDER: Rule = Rule {
    code: "fence-order",
    section: section::MEMBAR,
    text: "a fence is sc or acq_rel, or acquire or release from 8.6",
};
static SCOPE_MISSING: Rule =
    Rule { code: "fence-scope-missing", section: section::MEMBAR, text: "a fence names a scope" };
static LEVEL: Rule = Rule {
    code: "membar-level",
    section: section::MEMBAR,
    text: "`membar` is followed by `.cta`, `.gl` or `.sys`",
};
pub static PROXY: Rule = Rule {
    code: "fence-proxy",
    section: section::MEMBAR,
    text: "`.generic`, `.constant`, `.texture` and `.surface` fences are of the peer dialect only",
};

impl Fence {
    /// Reads the qualifiers of a `fence`; without an order it is `.acq_rel`.
    pub fn new(q: &Qualifiers) -> Result<Fence, Invalid> {
        let order = match q.order.map(|order| order.value) {
            None | Some(Order::AcqRel) => FenceOrder::AcqRel,
            Some(Order::Sc) => FenceOrder::Sc,
            Some(Order::Acquire) => FenceOrder::Acquire,
            Some(Order::Release) => FenceOrder::Release,
            Some(other @ (Order::Weak | Order::Volatile | Order::Relaxed)) => {
                let at = q.order.map_or(0, |order| order.position);
                return Err(ORDER
                    .broken_by(at, format!("the order is `.{}`", other.name()))
                    .fixed_by([Edit::Replace(at, "acq_rel")]));
            }
        };
        match q.scope {
            Some(scope) => Ok(Fence { order, scope: scope.value }),
            None => Err(SCOPE_MISSING
                .broken_by(q.order.map_or(0, |order| order.position), "no scope follows")
                .fixed_by([Edit::Insert(q.end, "gpu")])),
        }
    }

    /// Reads the level of a `membar`, which is a `fence.sc` from `sm_70`.
    pub fn membar(q: &Qualifiers) -> Result<Fence, Invalid> {
        let scope = match (q.gpu_level, q.scope) {
            (Some(_), None) => Scope::Gpu,
            (None, Some(scope)) if matches!(scope.value, Scope::Cta | Scope::Sys) => scope.value,
            (_, Some(scope)) => {
                let fix = if q.gpu_level.is_some() {
                    vec![Edit::Remove(scope.position)]
                } else if scope.value == Scope::Gpu {
                    vec![Edit::Replace(scope.position, "gl")]
                } else {
                    vec![Edit::Replace(0, "fence"), Edit::Insert(1, "sc")]
                };
                return Err(LEVEL
                    .broken_by(scope.position, format!("the level is `.{}`", scope.value))
                    .fixed_by(fix));
            }
            (None, None) => {
                return Err(LEVEL
                    .broken_by(0, "no level follows")
                    .fixed_by([Edit::Insert(1, "gl")]));
            }
        };
        Ok(Fence { order: FenceOrder::Sc, scope })
    }
}
