//! What makes a program undefined, or breaks a rule without consequence: races, lifetimes of objects, unordered uses.
//!
//! Of the flags that an execution raises, the first is named: what is wrong with one instruction, then with two.

use super::Primitives;
use super::asynchronous::{CausalOrder, Completion};
use super::base::OperationStrength;
use super::tensor::TensorOrder;
use crate::given::{Fixed, Tag};
use crate::reading::{AsyncRace, InitializationProxy};
use crate::rel::{FlagMeaning, Rel, Set};
use crate::section;

/// 8.7.1, 8.7.2. Readings R9, R24. `of_threads` are the operations that are not asynchronous.
pub(super) fn races<'m>(
    given: &Primitives<'m>,
    strength: &OperationStrength<'m>,
    of_threads: Set<'m>,
    causality: Rel<'m>,
) {
    let m = given.m;
    let conflict = m.define(
        section::CONFLICT_AND_RACES,
        "conflict",
        (given.overlap & given.one_writes) - given.all.id(),
    );
    // Reading R3: an atomic is one operation. What its write precedes, its read precedes, too.
    let ordered = causality | given.rmw >> causality;
    let race = m.define(
        section::CONFLICT_AND_RACES,
        "data-race",
        conflict - strength.morally_strong - (ordered | ordered.inverse()),
    );
    // Reading B19: an asynchronous copy has the sizes of the accesses that it meets.
    let mixed_size = (race & (of_threads * of_threads)) - given.overlap_completely;
    m.undefined(section::MIXED_SIZE_RACES, "mixed-size-race", mixed_size);
    m.flag(Some(section::CONFLICT_AND_RACES), "data-race", race - mixed_size, FlagMeaning::Race);
    m.undefined(
        section::of_opcode("wgmma.fence"),
        "wgmma-register",
        m.tag(Tag::UnfencedMultiply).id(),
    );
}

/// 8.9.1.1. Reading B9: the text names memory locations, which are physical (8.2), so aliases count. In a `.cat` file the
/// name says what a flag means.
pub(super) fn asynchronous_races<'m>(
    given: &Primitives<'m>,
    strength: &OperationStrength<'m>,
    ordered: &CausalOrder<'m>,
    of_threads: Set<'m>,
    around_operand: Rel<'m>,
) {
    let Primitives { m, tensor, .. } = *given;
    let before = ordered.ordered_before;
    let contested = (given.location_overlap & given.one_writes) - given.all.id();
    let (name, means) = match given.readings.async_race {
        AsyncRace::Undefined => ("async-race", FlagMeaning::Undefined("async-race")),
        AsyncRace::Allowed => ("allowed-async-race", FlagMeaning::Race),
    };
    m.flag(
        Some(section::ASYNC_OPERATIONS),
        name,
        ((contested - (of_threads * of_threads) - (tensor * tensor)) - strength.morally_strong)
            - (before | before.inverse())
            - (around_operand | around_operand.inverse()),
        means,
    );
}

/// 9.7.15.16: an mbarrier object is used between its initialization and its end. Reading B7.
pub(super) fn objects<'m>(given: &Primitives<'m>, base_causality: Rel<'m>) {
    let Primitives { m, all, init, location_overlap, mbarrier_init, mbarrier_inval, .. } = *given;
    let of_objects = given.mbarrier | mbarrier_inval;
    let after_init = given.overlap & base_causality & (mbarrier_init * of_objects);
    // An `inval` after the initialization comes after the operation, too.
    let invalidates = location_overlap & base_causality & (mbarrier_init * mbarrier_inval);
    let not_after =
        (location_overlap & (mbarrier_inval * of_objects)) - all.id() - base_causality.inverse();
    let ended = m.define(section::MBARRIER, "initialization-ended", invalidates >> not_after);
    let initialized = m.define(section::MBARRIER, "initialized", after_init - ended);
    let visible = match given.readings.initialization_proxy {
        InitializationProxy::Generic => initialized,
        InitializationProxy::Fence => {
            let Primitives { async_fence, async_proxy, .. } = *given;
            let fenced = base_causality & (mbarrier_init * async_fence);
            let copied = base_causality & (async_fence * async_proxy);
            // What is initialized before all threads needs no fence.
            (initialized - ((all - init) * async_proxy)) | (initialized & (fenced >> copied))
        }
    };
    m.undefined(
        section::MBARRIER,
        "mbarrier-uninitialized",
        of_objects.id() - (visible.inverse() >> visible),
    );
    // 9.7.15.16.4. An object that is there is invalidated before it is initialized again.
    let accesses = (given.memory | mbarrier_init) - init;
    let after_end = location_overlap & base_causality & (mbarrier_inval * accesses);
    m.undefined(
        section::MBARRIER,
        "mbarrier-data-access",
        (location_overlap & (mbarrier_init * accesses))
            - mbarrier_init.id()
            - base_causality.inverse()
            - (((mbarrier_init * mbarrier_inval) & location_overlap & base_causality) >> after_end),
    );
}

/// 9.7.15.18: the CTA has observed that there is nothing left to cancel.
pub(super) fn cancels<'m>(
    given: &Primitives<'m>,
    completion: &Completion<'m>,
    base_causality: Rel<'m>,
) {
    let Primitives { m, all, same_cta, .. } = *given;
    let [cancel, failed] = [Tag::Cancel, Tag::CancelFailed].map(|tag| m.tag(tag));
    m.undefined(
        section::TRY_CANCEL,
        "clc-after-failure",
        (failed.id() >> completion.tracked) >> (same_cta & base_causality & (all * cancel)),
    );
}

/// What comes after an operation has been executed, whatever memory it makes visible.
pub(super) fn executed<'m>(
    given: &Primitives<'m>,
    completion: &Completion<'m>,
    tensor: &TensorOrder<'m>,
) -> Rel<'m> {
    let m = given.m;
    let [meets, exit_trigger] = [Fixed::Meets, Fixed::ExitTrigger].map(|fixed| m.fixed(fixed));
    let steps = tensor.execution_order | meets | given.issue | completion.tracked;
    m.define(section::MBARRIER, "executed-before", (steps | given.trigger | exit_trigger).plus())
}

/// 9.7.15.16: a thread waits for a phase before it arrives at the next one.
pub(super) fn phases<'m>(given: &Primitives<'m>, executed: Rel<'m>) {
    let m = given.m;
    let awaited = m.fixed(Fixed::NextPhase) & executed;
    m.flag(
        Some(section::MBARRIER),
        "mbarrier-missing-wait",
        m.fixed(Fixed::LaterPhase) - (awaited.inverse() >> awaited),
        FlagMeaning::Warning(
            "no `test_wait` or `try_wait` before this arrival has returned true for the phase before",
        ),
    );
}

/// 9.7.18.7: tensor memory is used between its allocation and its deallocation, for which all uses have completed.
pub(super) fn tensor_memory<'m>(
    given: &Primitives<'m>,
    tensor: &TensorOrder<'m>,
    executed: Rel<'m>,
) {
    let Primitives { m, all, init, location_overlap, .. } = *given;
    let [allocation, deallocation, allocations_end] =
        [Tag::TensorAllocation, Tag::TensorDeallocation, Tag::AllocationsEnd].map(|tag| m.tag(tag));
    let uses = given.tensor | deallocation;
    let allocated = m.define(
        section::TENSOR_ALLOCATION,
        "allocated",
        location_overlap & (executed | (init * all)) & (allocation * uses),
    );
    let at_deallocation = (location_overlap & (uses * deallocation)) - all.id();
    let relinquished = (given.same_cta & (allocations_end * allocation)) - executed.inverse();
    m.undefined(
        section::TENSOR_ALLOCATION,
        "tensor-unallocated",
        uses.id() - (allocated.inverse() >> allocated),
    );
    m.undefined(
        section::TENSOR_ALLOCATION,
        "tensor-deallocated",
        at_deallocation - (tensor.completed >> tensor.execution_order),
    );
    m.undefined(section::TENSOR_ALLOCATION, "tensor-relinquished", relinquished);
    let deallocated = location_overlap & (allocation * deallocation);
    m.flag(
        Some(section::TENSOR_ALLOCATION),
        "tensor-memory-not-deallocated",
        (allocation - init).id() - (deallocated >> deallocated.inverse()),
        FlagMeaning::Warning("no thread deallocates this tensor memory before the kernel exits"),
    );
}

/// Threads of a CTA at one barrier, and CTAs that access the memory of another.
pub(super) fn threads<'m>(given: &Primitives<'m>, executed: Rel<'m>) {
    let Primitives { m, all, .. } = *given;
    // 9.7.15.1: the threads at an active barrier give the same thread count. One that gives none takes that of all threads of
    // the CTA. Reading R46.
    let counted = m.tag(Tag::CountedBarrier);
    m.flag(
        Some(section::BAR),
        "barrier-count-omitted",
        m.fixed(Fixed::Barrier) & (counted * (all - counted)),
        FlagMeaning::Warning(
            "another thread at this active barrier gives no thread count: a GPU stops here, also where the count is that of all threads",
        ),
    );
    let outlived = m.fixed(Fixed::OwnerCta) & executed;
    m.flag(
        Some(section::MAPA),
        "cluster-exited",
        m.fixed(Fixed::Remote) - (outlived >> outlived.inverse()),
        FlagMeaning::Warning(
            "nothing keeps the CTA that has this shared memory from exiting before",
        ),
    );
}

/// 8.1: loads through the non-coherent path are outside the model. Data that is read-only is written by nobody while the
/// kernel runs that reads it: kernels that have ended before it starts, and those that start when it has ended, may
/// write it. Readings R12 and R35.
pub(super) fn read_only<'m>(given: &Primitives<'m>, executed: Rel<'m>) {
    let Primitives { m, po, issue, memory, write, init, location_overlap, .. } = *given;
    let ended = m.define(
        section::MEMORY_SYNCHRONIZATION,
        "ended-before",
        given.kernel_order >> executed.opt() >> m.tag(Tag::KernelStart).id() >> (po | issue),
    );
    let meanwhile = (location_overlap & (memory * (write - init))) - (ended | ended.inverse());
    for (of, tag, name) in [
        (section::LD_GLOBAL_NC, Tag::NonCoherentRead, "non-coherent-read-of-written-data"),
        (section::LDU, Tag::UniformRead, "uniform-read-of-written-data"),
        (section::LD, Tag::ReadonlyRead, "readonly-proxy-read-of-written-data"),
    ] {
        let read = m.tag(tag).id() >> meanwhile;
        m.undefined(of, name, read);
    }
}
