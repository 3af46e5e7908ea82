//! The meaning of the qualifiers of memory instructions: their order and scope in the model.
//!
//! `.acquire` of an `ld` gets its meaning only here. Litmus tests, modules, excerpts and explanations of
//! single instructions all use this module.

use model::isa::atom::{AtomicOp, AtomicOrder};
use model::isa::fence::{Fence, FenceOrder};
use model::isa::ld::LoadOrder;
use model::isa::st::StoreOrder;
use model::scope::Scope;

use crate::qualifier::{OrderQualifier, Qualifiers};

/// What the qualifiers of an `ld` mean; `None` if they break a rule of [`crate::rules::order`].
pub fn load_order(q: &Qualifiers) -> Option<LoadOrder> {
    match (q.mmio, q.order.map(|o| o.value), q.scope.map(|s| s.value)) {
        (None, None, None) if q.non_coherent.is_some() => Some(LoadOrder::NonCoherent),
        (None, None | Some(OrderQualifier::Weak), None) if q.readonly.is_some() => {
            Some(LoadOrder::Readonly)
        }
        (None, None | Some(OrderQualifier::Weak), None) => Some(LoadOrder::Weak),
        (None, Some(OrderQualifier::Volatile), None) => Some(LoadOrder::Volatile),
        (None, Some(OrderQualifier::Relaxed), Some(scope)) => Some(LoadOrder::Relaxed(scope)),
        (None, Some(OrderQualifier::Acquire), Some(scope)) => Some(LoadOrder::Acquire(scope)),
        (Some(_), Some(OrderQualifier::Relaxed), Some(Scope::Sys)) => Some(LoadOrder::MmioRelaxed),
        (Some(_), Some(OrderQualifier::Acquire), Some(Scope::Sys)) => Some(LoadOrder::MmioAcquire),
        (..) => None,
    }
}

/// What the qualifiers of an `st` mean; `None` if they break a rule of [`crate::rules::order`].
pub fn store_order(q: &Qualifiers) -> Option<StoreOrder> {
    match (q.mmio, q.order.map(|o| o.value), q.scope.map(|s| s.value)) {
        (None, None | Some(OrderQualifier::Weak), None) => Some(StoreOrder::Weak),
        (None, Some(OrderQualifier::Volatile), None) => Some(StoreOrder::Volatile),
        (None, Some(OrderQualifier::Relaxed), Some(scope)) => Some(StoreOrder::Relaxed(scope)),
        (None, Some(OrderQualifier::Release), Some(scope)) => Some(StoreOrder::Release(scope)),
        (Some(_), Some(OrderQualifier::Relaxed), Some(Scope::Sys)) => Some(StoreOrder::MmioRelaxed),
        (Some(_), Some(OrderQualifier::Release), Some(Scope::Sys)) => Some(StoreOrder::MmioRelease),
        (..) => None,
    }
}

/// The operation, order and scope of an `atom` or `red`; `None` if its qualifiers break a rule of
/// [`crate::rules::atomic`].
pub fn atomic(q: &Qualifiers) -> Option<(AtomicOp, AtomicOrder, Scope)> {
    let order = match q.order.map(|order| order.value) {
        None | Some(OrderQualifier::Relaxed) => AtomicOrder::Relaxed,
        Some(OrderQualifier::Acquire) => AtomicOrder::Acquire,
        Some(OrderQualifier::Release) => AtomicOrder::Release,
        Some(OrderQualifier::AcqRel) => AtomicOrder::AcqRel,
        Some(OrderQualifier::Weak | OrderQualifier::Volatile | OrderQualifier::Sc) => return None,
    };
    Some((q.op?.value, order, q.scope.map_or(Scope::Gpu, |scope| scope.value)))
}

/// What the qualifiers of a `fence` mean, without an order `.acq_rel`; `None` if they break a
/// rule of [`crate::rules::fence`].
pub fn fence(q: &Qualifiers) -> Option<Fence> {
    let order = match q.order.map(|order| order.value) {
        None | Some(OrderQualifier::AcqRel) => FenceOrder::AcqRel,
        Some(OrderQualifier::Sc) => FenceOrder::Sc,
        Some(OrderQualifier::Acquire) => FenceOrder::Acquire,
        Some(OrderQualifier::Release) => FenceOrder::Release,
        Some(OrderQualifier::Weak | OrderQualifier::Volatile | OrderQualifier::Relaxed) => {
            return None;
        }
    };
    Some(Fence { order, scope: q.scope?.value, aliases: false })
}

/// What the level of a `membar` means, which is a `fence.sc` from `sm_70`.
pub fn membar(q: &Qualifiers) -> Option<Fence> {
    let scope = match (q.gpu_level, q.scope) {
        (Some(_), None) => Scope::Gpu,
        (None, Some(scope)) => scope.value,
        (Some(_), Some(_)) | (None, None) => return None,
    };
    Some(Fence { order: FenceOrder::Sc, scope, aliases: false })
}
