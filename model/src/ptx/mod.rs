//! THE MODEL: PTX ISA 9.4, chapter 8, in document order and in the document's words.
//!
//! `base` is chapter 8 without asynchronous operations; a relation that the others add to comes into it as a parameter.
//! `asynchronous` has what chapter 9 says of asynchronous operations, mbarrier objects, kernels and the fences between
//! proxies, `tensor` the order of tensor memory, and `flags` what makes a program undefined.
//!
//! The program gives the barrier relations, overlap and dependencies; `execution::structure` defines their
//! meaning. Readings (R…) are choices explained in `docs/readings.md`.

mod asynchronous;
mod base;
mod flags;
mod tensor;

use crate::given::{Chosen, Fixed, Tag};
use crate::reading::{Dependencies, ElectedLane, ImplicitTrigger, MultimemAddresses, Readings};
use crate::rel::{Builder, Conventions, Model, Rel, Set};

/// The built-in model.
pub fn model() -> Model {
    under(Readings::default())
}

/// The built-in model under other readings. Their choices are in its name.
pub fn under(readings: Readings) -> Model {
    let conventions = Conventions {
        tearing: true,
        failed_cas: readings.failed_cas,
        semantic_dependencies: readings.dependencies == Dependencies::Semantic,
        shown_dependencies: false,
        elects_any_lane: readings.elected_lane == ElectedLane::Any,
        silent_atomics: true,
        ..Conventions::default()
    };
    let switched = readings.to_string();
    let name = if switched.is_empty() { "ptx-9.4" } else { &format!("ptx-9.4, {switched}") };
    let m = Builder::new(name, conventions);
    let given = Primitives::new(&m, readings);

    // 8.4 to 8.8.
    let strength = base::strength(&given);
    let patterns = base::patterns(&given, &strength);
    let objects = asynchronous::objects(&given, &strength);
    // 8.9.2 to 8.9.4.
    let observation = base::observation(&given, &strength);
    let launches = asynchronous::launches(&given, &strength);
    let more = [launches, objects.synchronize];
    let synchronizes = base::synchronizes(&given, &strength, &patterns, &observation, more);
    let completion = asynchronous::completion(&given, &strength, &patterns, &objects, synchronizes);
    // 8.9.5.
    let thread_causality = base::thread_causality(&given, completion.between_whole_threads);
    let ordered = asynchronous::base_causality(&given, &completion, synchronizes, thread_causality);
    let base_causality = ordered.base_causality;
    let generic = base::generic_proxy(&given, base_causality);
    let proxies = asynchronous::proxies(&given, &ordered);
    let tensor = tensor::order(&given, &completion, &ordered, synchronizes, &observation);
    let proxy_preserved = base::proxy_preserved(
        &given,
        &strength,
        base_causality,
        &generic,
        proxies.between_aliases,
        [proxies.async_preserved, proxies.kernel_preserved, given.overlap & tensor.order],
    );
    let around_operand = asynchronous::around_operand(&given, proxy_preserved);
    let preserved = proxy_preserved | around_operand;
    let read_before = asynchronous::read_before(&given, &ordered, &proxies, synchronizes);
    let causality = base::causality(&given, &observation, preserved, read_before);
    // 8.9.6 to 8.10.
    let communication = base::communication(&given, &strength, causality);
    base::axioms(&given, &strength, &observation, &communication, base_causality, causality);
    asynchronous::axioms(&given, base_causality);

    let of_threads = given.all - given.asynchronous;
    flags::races(&given, &strength, of_threads, causality);
    flags::asynchronous_races(&given, &strength, &ordered, of_threads, around_operand);
    flags::objects(&given, base_causality);
    flags::cancels(&given, &completion, base_causality);
    let executed = flags::executed(&given, &completion, &tensor);
    flags::phases(&given, executed);
    flags::tensor_memory(&given, &tensor, executed);
    flags::threads(&given, executed);
    flags::read_only(&given, executed);
    m.finish()
}

/// What the program gives: what an instruction is, where its thread runs, which bytes it accesses.
#[derive(Clone, Copy)]
struct Primitives<'m> {
    m: &'m Builder,
    readings: Readings,
    all: Set<'m>,
    read: Set<'m>,
    write: Set<'m>,
    init: Set<'m>,
    memory: Set<'m>,
    /// All but the initial writes.
    program: Set<'m>,
    atomic: Set<'m>,
    generic: Set<'m>,
    async_proxy: Set<'m>,
    asynchronous: Set<'m>,
    /// Memory operations through the generic proxy, and through the async proxy.
    generic_memory: Set<'m>,
    async_memory: Set<'m>,
    acquire: Set<'m>,
    release: Set<'m>,
    /// Fences that are a release, and those that are an acquire.
    releasing_fence: Set<'m>,
    acquiring_fence: Set<'m>,
    /// Fences of some objects, with `.sync_restrict`.
    restricted_release: Set<'m>,
    restricted_acquire: Set<'m>,
    async_fence: Set<'m>,
    mbarrier: Set<'m>,
    mbarrier_init: Set<'m>,
    mbarrier_inval: Set<'m>,
    tensor: Set<'m>,
    tensormap: Set<'m>,
    po: Rel<'m>,
    rmw: Rel<'m>,
    rf: Rel<'m>,
    same_cta: Rel<'m>,
    overlap: Rel<'m>,
    overlap_completely: Rel<'m>,
    location_overlap: Rel<'m>,
    /// From an access to another one, at least one of which writes.
    one_writes: Rel<'m>,
    /// Accesses of one location by one address, as far as no fence is needed between them.
    one_address: Rel<'m>,
    /// From an instruction to the operations that it starts.
    issue: Rel<'m>,
    operation: Rel<'m>,
    covers: Rel<'m>,
    group_wait: Rel<'m>,
    phase: Rel<'m>,
    kernel_order: Rel<'m>,
    trigger: Rel<'m>,
}

impl<'m> Primitives<'m> {
    fn new(m: &'m Builder, readings: Readings) -> Primitives<'m> {
        let [all, read, write, init] =
            [Tag::All, Tag::Read, Tag::Write, Tag::Init].map(|tag| m.tag(tag));
        let memory = read | write;
        let [generic, async_proxy] = [Tag::Generic, Tag::AsyncProxy].map(|tag| m.tag(tag));
        let [fence_acquire, fence_release, fence_acq_rel, fence_sc] =
            [Tag::FenceAcquire, Tag::FenceRelease, Tag::FenceAcqRel, Tag::FenceSc]
                .map(|tag| m.tag(tag));
        let overlap = m.fixed(Fixed::Overlap);
        // Reading B13.
        let kernel_order = match readings.implicit_trigger {
            ImplicitTrigger::Nothing => m.fixed(Fixed::KernelOrder),
            ImplicitTrigger::Stream => {
                m.fixed(Fixed::KernelOrder) | m.fixed(Fixed::ImplicitTrigger)
            }
        };
        // Reading B22: accesses of one location through a multimem address, and by its own.
        let one_address = match readings.multimem_addresses {
            MultimemAddresses::Locations => overlap,
            MultimemAddresses::AliasFence => {
                let through = m.tag(Tag::Multimem);
                overlap - ((through * (memory - through)) | ((memory - through) * through))
            }
        };
        Primitives {
            m,
            readings,
            all,
            read,
            write,
            init,
            memory,
            program: all - init,
            atomic: m.tag(Tag::Atomic),
            generic,
            async_proxy,
            asynchronous: m.tag(Tag::Asynchronous),
            generic_memory: generic & memory,
            async_memory: async_proxy & memory,
            acquire: m.tag(Tag::Acquire),
            release: m.tag(Tag::Release),
            releasing_fence: fence_release | fence_acq_rel | fence_sc,
            acquiring_fence: fence_acquire | fence_acq_rel | fence_sc,
            restricted_release: m.tag(Tag::RestrictedRelease),
            restricted_acquire: m.tag(Tag::RestrictedAcquire),
            async_fence: m.tag(Tag::AsyncFence),
            mbarrier: m.tag(Tag::Mbarrier),
            mbarrier_init: m.tag(Tag::MbarrierInit),
            mbarrier_inval: m.tag(Tag::MbarrierInval),
            tensor: m.tag(Tag::TensorMemory),
            tensormap: m.tag(Tag::TensormapProxy),
            po: m.fixed(Fixed::Po),
            rmw: m.fixed(Fixed::Rmw),
            rf: m.chosen(Chosen::Rf),
            same_cta: m.fixed(Fixed::SameCta),
            overlap,
            overlap_completely: m.fixed(Fixed::OverlapCompletely),
            location_overlap: m.fixed(Fixed::LocationOverlap),
            one_writes: (write * memory) | (memory * write),
            one_address,
            issue: m.fixed(Fixed::Issue),
            operation: m.fixed(Fixed::Operation),
            covers: m.fixed(Fixed::Covers),
            group_wait: m.fixed(Fixed::GroupWait),
            phase: m.fixed(Fixed::Phase),
            kernel_order,
            trigger: m.fixed(Fixed::Trigger),
        }
    }
}
