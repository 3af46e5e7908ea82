//! Weaker forms of a target. If a lowering is correct and no stronger than needed, each of them is wrong.

use model::strength::KnownForms;

use super::step::Step;

/// The weaker forms of a row's target, which is judged with torn accesses too.
pub fn forms(clusters: bool) -> KnownForms {
    KnownForms { clusters, one_way_fences: clusters, weak: true }
}

/// Each way to weaken one step by one degree, or to omit a fence.
pub fn weakenings(steps: &[Step], forms: KnownForms) -> Vec<Vec<Step>> {
    let mut all = Vec::new();
    for (index, &step) in steps.iter().enumerate() {
        let weaker = step.strength().map_or(Vec::new(), |strength| strength.weaker(forms));
        for weaker in weaker {
            let mut changed = steps.to_vec();
            changed.splice(index..=index, weaker.map(|strength| step.with(strength)));
            all.push(changed);
        }
    }
    all
}
