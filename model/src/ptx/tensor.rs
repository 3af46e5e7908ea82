//! Tensor memory: 9.7.18.6.

use super::Primitives;
use super::asynchronous::{CausalOrder, Completion};
use super::base::ObservationOrder;
use crate::given::{Fixed, Tag};
use crate::reading::TensorFences;
use crate::rel::Rel;
use crate::section;

/// The order of operations on tensor memory.
pub(super) struct TensorOrder<'m> {
    /// What orders the execution of threads, also where it makes no memory visible.
    pub(super) execution_order: Rel<'m>,
    pub(super) completed: Rel<'m>,
    pub(super) order: Rel<'m>,
}

pub(super) fn order<'m>(
    given: &Primitives<'m>,
    completion: &Completion<'m>,
    ordered: &CausalOrder<'m>,
    synchronizes: Rel<'m>,
    observation: &ObservationOrder<'m>,
) -> TensorOrder<'m> {
    let Primitives { m, tensor, po, issue, group_wait, .. } = *given;
    let Completion { tracked, in_full, .. } = *completion;
    let [before_sync, after_sync] =
        [Tag::TensorFenceBefore, Tag::TensorFenceAfter].map(|tag| m.tag(tag));
    let [after, pipeline] =
        [Fixed::TensorBehind, Fixed::TensorPipeline].map(|fixed| m.fixed(fixed));
    // 9.7.18.6.3.
    let execution_order = m.define(
        section::TENSOR_SYNCHRONIZATION,
        "execution-order",
        (po | synchronizes | given.phase | observation.seen).plus(),
    );
    let entered = m.define(
        section::TENSOR_SYNCHRONIZATION,
        "after-thread-sync",
        execution_order >> after_sync.id() >> issue,
    );
    let crossed = m.define(
        section::TENSOR_SYNCHRONIZATION,
        "before-thread-sync",
        (after & (tensor * before_sync)) >> entered,
    );
    let completed = m.define(
        section::TENSOR_PIPELINES,
        "tensor-completion",
        tensor.id() >> (group_wait | tracked),
    );
    // 9.7.18.6.2: operations that form a pipeline need not complete. Reading B15.
    let across = match given.readings.tensor_fences {
        TensorFences::Standard => {
            let standard = m.define(
                section::TENSOR_SYNCHRONIZATION,
                "standard-synchronization",
                (after >> (synchronizes & (in_full * in_full)))
                    >> ordered.thread_causality.opt()
                    >> issue,
            );
            (completed >> entered) | (pipeline & (crossed | standard)) | ordered.base_causality
        }
        TensorFences::Required => {
            let waited = (tracked >> po >> after_sync.id() >> issue) | (group_wait >> issue);
            let fenced = completed >> po >> before_sync.id() >> entered;
            waited | fenced | (pipeline & crossed) | given.operation
        }
    };
    let tensor_ordered =
        m.define(section::TENSOR_PIPELINES, "tensor-ordered", (pipeline & after) | across);
    let order = m.define(
        section::TENSOR_PIPELINES,
        "tensor-order",
        ((tensor * tensor) & tensor_ordered).plus(),
    );
    TensorOrder { execution_order, completed, order }
}
