//! Weaker forms of steps: of a lowering that is right and no stronger than needed, each is wrong.

use model::isa::fence::FenceOrder;

use super::step::{AccessKind, AccessOrder, Step};

/// Each way to weaken one step a little, or to leave a fence out; `cluster` says whether the target
/// has clusters, and with them fences of one direction.
pub fn weakenings(steps: &[Step], cluster: bool) -> Vec<Vec<Step>> {
    let mut all = Vec::new();
    for (index, &step) in steps.iter().enumerate() {
        if matches!(step, Step::Fence { .. }) {
            let mut without = steps.to_vec();
            without.remove(index);
            all.push(without);
        }
        for weaker in weaker(step, cluster) {
            let mut changed = steps.to_vec();
            changed[index] = weaker;
            all.push(changed);
        }
    }
    all
}

fn weaker(step: Step, cluster: bool) -> Vec<Step> {
    use model::scope::Scope;
    let narrower = |scope: Scope| match scope {
        Scope::Sys => Some(Scope::Gpu),
        Scope::Gpu => Some(if cluster { Scope::Cluster } else { Scope::Cta }),
        Scope::Cluster => Some(Scope::Cta),
        Scope::Cta => None,
    };
    match step {
        Step::Access { act, at, order, scope } => {
            let orders: &[AccessOrder] = match (order, act) {
                (AccessOrder::AcqRel | AccessOrder::SeqCst, _) => {
                    &[AccessOrder::Acquire, AccessOrder::Release]
                }
                (AccessOrder::Acquire | AccessOrder::Release, _) => &[AccessOrder::Relaxed],
                (AccessOrder::Relaxed, AccessKind::Load | AccessKind::Store) => {
                    &[AccessOrder::Weak]
                }
                (AccessOrder::Relaxed | AccessOrder::Unordered | AccessOrder::Weak, _) => &[],
            };
            let orders = orders.iter().map(|&order| Step::access(act, at, order, scope));
            let scopes = narrower(scope).filter(|_| order != AccessOrder::Weak);
            orders.chain(scopes.map(|scope| Step::access(act, at, order, scope))).collect()
        }
        Step::Fence { order, scope } => {
            let orders: &[FenceOrder] = match order {
                FenceOrder::Sc => &[FenceOrder::AcqRel],
                FenceOrder::AcqRel if cluster => &[FenceOrder::Acquire, FenceOrder::Release],
                FenceOrder::AcqRel | FenceOrder::Acquire | FenceOrder::Release => &[],
            };
            let orders = orders.iter().map(|&order| Step::Fence { order, scope });
            let scopes = narrower(scope).map(|scope| Step::Fence { order, scope });
            orders.chain(scopes).collect()
        }
        Step::Barrier | Step::ClusterArrive { .. } | Step::ClusterWait | Step::Guard => Vec::new(),
    }
}
