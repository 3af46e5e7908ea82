//! THE MODEL: PTX ISA 9.4, chapter 8, in document order and in the document's words.
//!
//! The program gives the barrier relations, overlap and dependencies; `execution::structure` defines their
//! meaning. Readings (R…) are choices explained in `docs/readings.md`.

use crate::given::{Chosen, Fixed, Tag};
use crate::reading::{
    AliasReads, AliasedProxies, AsyncFencePlace, AsyncRace, AsyncWait, Coherence, CompletionScope,
    Dependencies, ElectedLane, Exits, FailedCas, FenceHalves, ImplicitTrigger, InitializationProxy,
    MulticastCompletion, MultimemAddresses, PatternLocation, Readings, TensorFences,
};
use crate::rel::{Builder, Conventions, FlagMeaning, Model, Rel};
use crate::section;

/// The built-in model.
pub fn model() -> Model {
    under(Readings::default())
}

/// The built-in model under other readings. Their choices are in its name.
#[expect(clippy::too_many_lines, reason = "one page, read from top to bottom")]
pub fn under(readings: Readings) -> Model {
    let conventions = Conventions {
        tearing: true,
        failed_cas: readings.failed_cas,
        semantic_dependencies: readings.dependencies == Dependencies::Semantic,
        shown_dependencies: false,
        thin_air: readings.dependencies == Dependencies::None,
        elects_any_lane: readings.elected_lane == ElectedLane::Any,
        silent_atomics: true,
        ..Conventions::default()
    };
    let switched = readings.to_string();
    let name = if switched.is_empty() { "ptx-9.4" } else { &format!("ptx-9.4, {switched}") };
    let m = Builder::new(name, conventions);

    // Given: what an instruction is, where its thread runs, which bytes it accesses.
    let [all, read, write, init] = [Tag::All, Tag::Read, Tag::Write, Tag::Init].map(|t| m.tag(t));
    let [relaxed, acquire, release] = [Tag::Relaxed, Tag::Acquire, Tag::Release].map(|t| m.tag(t));
    let [fence, proxy_fence, alias_fence] =
        [Tag::Fence, Tag::ProxyFence, Tag::AliasFence].map(|t| m.tag(t));
    let [fence_acquire, fence_release, fence_acq_rel, fence_sc] =
        [Tag::FenceAcquire, Tag::FenceRelease, Tag::FenceAcqRel, Tag::FenceSc].map(|t| m.tag(t));
    let [cta, cluster, gpu, sys] =
        [Tag::ScopeCta, Tag::ScopeCluster, Tag::ScopeGpu, Tag::ScopeSys].map(|t| m.tag(t));
    let [generic, texture, surface, constant] =
        [Tag::Generic, Tag::Texture, Tag::Surface, Tag::Constant].map(|t| m.tag(t));
    let [po, rmw] = [Fixed::Po, Fixed::Rmw].map(|f| m.fixed(f));
    let [same_cta, same_cluster, same_gpu] =
        [Fixed::SameCta, Fixed::SameCluster, Fixed::SameGpu].map(|f| m.fixed(f));
    let [overlap, overlap_completely, location_overlap] =
        [Fixed::Overlap, Fixed::OverlapCompletely, Fixed::LocationOverlap].map(|f| m.fixed(f));
    let [rf, later] = [Chosen::Rf, Chosen::Fr].map(|c| m.chosen(c));
    let [asynchronous, async_proxy] = [Tag::Asynchronous, Tag::AsyncProxy].map(|t| m.tag(t));
    let [mbarrier, mbarrier_init, mbarrier_inval, mbarrier_wait] =
        [Tag::Mbarrier, Tag::MbarrierInit, Tag::MbarrierInval, Tag::MbarrierWait].map(|t| m.tag(t));
    let [restricted_release, restricted_acquire] =
        [Tag::RestrictedRelease, Tag::RestrictedAcquire].map(|t| m.tag(t));
    let [issue, operation, covers] =
        [Fixed::Issue, Fixed::Operation, Fixed::Covers].map(|f| m.fixed(f));

    let tensor = m.tag(Tag::TensorMemory);
    let [before_sync, after_sync] =
        [Tag::TensorFenceBefore, Tag::TensorFenceAfter].map(|t| m.tag(t));
    let [behind, pipeline] = [Fixed::TensorBehind, Fixed::TensorPipeline].map(|f| m.fixed(f));
    let [group_wait, phase] = [Fixed::GroupWait, Fixed::Phase].map(|f| m.fixed(f));

    let [kernel_order, trigger, exit_trigger] =
        [Fixed::KernelOrder, Fixed::Trigger, Fixed::ExitTrigger].map(|f| m.fixed(f));
    // Reading B13.
    let kernel_order = match readings.implicit_trigger {
        ImplicitTrigger::Nothing => kernel_order,
        ImplicitTrigger::Stream => kernel_order | m.fixed(Fixed::ImplicitTrigger),
    };

    let memory = read | write;
    let program = all - init;

    // 8.4. A strong operation is a fence or a memory operation with an order. Reading R17.
    let strong_memory = m.define_set(
        section::OPERATION_TYPES,
        "strong-memory",
        memory & (relaxed | acquire | release),
    );
    let strong = m.define_set(section::OPERATION_TYPES, "strong", strong_memory | fence);

    // 8.5.
    let scope_includes = (cta.id() >> same_cta)
        | (cluster.id() >> same_cluster)
        | (gpu.id() >> same_gpu)
        | (sys * program);
    let scopes_include =
        m.define(section::SCOPE, "scopes-include", scope_includes & scope_includes.inverse());

    // 8.6. Reading R18: a memory fence is taken to be generic.
    let through_generic = generic | fence;
    let same_proxy = m.define(
        section::PROXIES,
        "same-proxy",
        (through_generic * through_generic)
            | (texture * texture)
            | (surface * surface)
            | (constant * constant)
            | (async_proxy * async_proxy),
    );

    // 8.7. Three conditions.
    let together = (po | po.inverse()) | ((strong * strong) & scopes_include);
    let overlapping = overlap_completely | ((all * all) - (memory * memory));
    let morally_strong = m.define(
        section::MORALLY_STRONG,
        "morally-strong",
        (together & same_proxy & overlapping) - all.id(),
    );

    // 8.7.2. Overlapping atomics of different sizes exclude one another. Reading R47.
    let atomic = m.tag(Tag::Atomic);
    let exclusive = m.define(
        section::MIXED_SIZE_RACES,
        "exclusive",
        ((overlap - overlap_completely) & scopes_include & (atomic * atomic)) - all.id(),
    );
    let indivisible =
        m.define(section::MIXED_SIZE_RACES, "indivisible", morally_strong | exclusive);

    // 8.8. A pattern is named by its first and its last event. Readings R6, R11, R16.
    let read_operation = read - m.tag(Tag::ReductionRead);
    let strong_write = write & strong_memory;
    let strong_read = read_operation & strong_memory;
    let releasing_fence = fence_release | fence_acq_rel | fence_sc;
    let acquiring_fence = fence_acquire | fence_acq_rel | fence_sc;
    let release_write = write & release;
    let acquire_read = read_operation & acquire;
    // Reading R6.
    let same_location = match readings.pattern_location {
        PatternLocation::Virtual => po & overlap_completely,
        PatternLocation::Physical => po & m.fixed(Fixed::LocationOverlapCompletely),
    };
    // Reading R23: which operations a strong write continues.
    let release_operation = match readings.failed_cas {
        FailedCas::Nothing | FailedCas::Writes => release_write,
        FailedCas::Releases => release,
    };
    let release_pattern = m.define(
        section::RELEASE_ACQUIRE_PATTERNS,
        "release-pattern",
        release_write.id()
            | ((release_operation * strong_write) & same_location)
            | (((releasing_fence | restricted_release) * strong_write) & (po | issue)),
    );
    let acquire_pattern = m.define(
        section::RELEASE_ACQUIRE_PATTERNS,
        "acquire-pattern",
        acquire_read.id()
            | ((strong_read * acquire_read) & same_location)
            | ((strong_read * (acquiring_fence | restricted_acquire)) & po),
    );
    // The same of an mbarrier object, whose operations are in one order. Readings B1, B2, B3.
    let mbarrier_release = m.define(
        section::MBARRIER,
        "mbarrier-release-pattern",
        (mbarrier & release).id() | (((releasing_fence | restricted_release) * mbarrier) & po),
    );
    let mbarrier_acquire = m.define(
        section::MBARRIER,
        "mbarrier-acquire-pattern",
        (mbarrier_wait & acquire).id()
            | ((mbarrier_wait * (acquiring_fence | restricted_acquire)) & po),
    );

    // 8.9.2. A write and the read that sees it, through any number of atomics. Reading R15: a read
    // may see several.
    let seen = rf & morally_strong;
    let observation =
        m.define(section::OBSERVATION_ORDER, "observation", seen >> (rmw >> seen).star());

    // 8.9.3.
    let fsc =
        m.order(Some(section::FENCE_SC_ORDER), Chosen::Fsc, morally_strong & (fence_sc * fence_sc));

    // 9.7.15.14. The fences before the first `launch_dependents` of a CTA.
    let launches = m.define(
        section::GRIDDEPCONTROL,
        "launches",
        scope_includes & (releasing_fence.id() >> po >> trigger),
    );

    // 8.9.4.
    let synchronizes = m.define(
        section::MEMORY_SYNCHRONIZATION,
        "synchronizes",
        (morally_strong & (release_pattern >> observation >> acquire_pattern))
            | fsc
            | m.fixed(Fixed::Barrier)
            | m.fixed(Fixed::ClusterBarrier)
            | kernel_order
            | launches
            | (scopes_include & (mbarrier_release >> phase >> mbarrier_acquire)),
    );

    // 8.9.1.1. What waits for an asynchronous operation is ordered after it, and after nothing else that way. Readings
    // B4 and B24.
    let tracked = match readings.multicast_completion {
        MulticastCompletion::OneCta => m.fixed(Fixed::Tracked),
        MulticastCompletion::AllCtas => m.fixed(Fixed::Tracked) | m.fixed(Fixed::TrackedElsewhere),
    };
    let acquired = tracked >> mbarrier_acquire;
    let acquired = match readings.completion_scope {
        CompletionScope::Any => acquired,
        CompletionScope::Inclusive => acquired & scope_includes.inverse(),
    };
    // Reading B30.
    let for_async = m.tag(Tag::AsyncProxyWait);
    let unordered = match readings.async_wait {
        AsyncWait::Reads | AsyncWait::Fence => all - (read - m.tag(Tag::Atomic)),
        AsyncWait::AsyncOnly => all,
    };
    let completion = m.define(
        section::ASYNC_OPERATIONS,
        "completion",
        (group_wait - (unordered * for_async)) | acquired | (asynchronous.id() >> synchronizes),
    );
    let fence_between = m.tag(Tag::AsyncFence);
    let to_proxy = issue & (all * async_proxy);
    let behind_wait = match readings.async_wait {
        AsyncWait::Reads | AsyncWait::AsyncOnly => to_proxy,
        AsyncWait::Fence => to_proxy | (po >> fence_between.id() >> po),
    };
    let for_proxy = m.define(
        section::ASYNC_OPERATIONS,
        "completed-for-async-proxy",
        group_wait >> for_async.id() >> behind_wait,
    );
    // A fence of some objects orders what is done with these, and no other event of its thread.
    let of_threads = all - asynchronous;
    let restricted = restricted_release | restricted_acquire;
    let in_full =
        m.define_set(section::ASYNC_OPERATIONS, "ordered-in-full", of_threads - restricted);
    // 8.8: a release pattern affects what comes before its first instruction in program order, and that may be one
    // that starts a release operation.
    let before_release = m.define(
        section::RELEASE_ACQUIRE_PATTERNS,
        "issued-release",
        (issue & (all * release_write)) >> synchronizes,
    );
    let between_threads = synchronizes | before_release;

    // 8.9.5. Reading R1: initial writes come before every operation. Reading R25: no axiom asks that
    // it be irreflexive. Reading R20: accesses of different sizes are of one address if they overlap.
    let thread_causality = m.define(
        section::CAUSALITY_ORDER,
        "thread-causality",
        (po | (between_threads & (in_full * in_full)) | (init * program)).plus(),
    );
    let ordered_earlier = thread_causality | (completion >> thread_causality.opt());
    let restricted_before = m.define(
        section::MEMBAR,
        "restricted-release",
        (restricted_release.id() | (ordered_earlier & covers.inverse())) >> restricted_release.id(),
    );
    let ordered_later = thread_causality | (thread_causality.opt() >> issue);
    let to_some = m.define(
        section::MEMBAR,
        "restricted-acquire",
        restricted_acquire.id() >> (restricted_acquire.id() | (ordered_later & covers)),
    );
    // A release of reads is not cumulative: what it orders is no part of base causality order.
    let of_reads = m.tag(Tag::ReleaseOfReads);
    let from_some = completion | ((restricted_before - (read * of_reads)) >> synchronizes);
    let until = m.define(
        section::CAUSALITY_ORDER,
        "causality-of-some",
        thread_causality.opt() >> (issue | (in_full.id() >> between_threads >> to_some)),
    );
    let received = (in_full.id() >> (thread_causality | until)) | to_some;
    let base_causality = m.define(
        section::CAUSALITY_ORDER,
        "base-causality",
        thread_causality | until | (from_some >> received) | operation | for_proxy,
    );
    let ordered_reads = m.define(
        section::MEMBAR,
        "ordered-reads",
        (restricted_before & (read * of_reads)) >> synchronizes >> received,
    );
    let ordered_before = base_causality | ordered_reads;
    // Reading R10: an access through another proxy is flushed or refilled by a fence of that proxy
    // in its CTA; the document itself has the generic and the alias case only.
    let own_fence = same_cta & ((texture * texture) | (surface * surface) | (constant * constant));
    let flushed = m.define(
        section::CAUSALITY_ORDER,
        "flushed",
        (generic & memory).id() | (base_causality & own_fence & (memory * proxy_fence)),
    );
    let refilled = m.define(
        section::CAUSALITY_ORDER,
        "refilled",
        (generic & memory).id() | (base_causality & own_fence & (proxy_fence * memory)),
    );
    // 9.7.10.28.2. A completion has an implicit proxy fence for what comes after it, also for overwriting what was
    // read (reading B10); what comes before an asynchronous access needs a fence. Readings B5 and B6.
    let [generic_memory, async_memory] = [generic & memory, async_proxy & memory];
    let in_proxy = (generic_memory | async_memory) * fence_between;
    let (fenced, unfenced) = match readings.async_fence {
        AsyncFencePlace::Anywhere => (in_proxy, fence_between * async_memory),
        AsyncFencePlace::Writer => {
            // An asynchronous operation is of the thread that starts it.
            let same = po | ((issue.inverse() | m.fixed(Fixed::GroupWait)) >> po);
            let own = (generic_memory * fence_between) & same;
            (own | (async_memory * fence_between), fence_between * async_memory)
        }
        AsyncFencePlace::Cta => (in_proxy, (fence_between * async_memory) & same_cta),
    };
    let [first_half, second_half] =
        [Tag::AsyncFenceRelease, Tag::AsyncFenceAcquire].map(|t| m.tag(t));
    let released = base_causality & covers.inverse() & (generic_memory * first_half);
    let handed_over = match readings.fence_halves {
        FenceHalves::Both => {
            released >> base_causality >> (base_causality & (second_half * async_memory))
        }
        FenceHalves::Release => released >> (base_causality & (first_half * async_memory)),
    };
    // Reading B12: a copy needs both fences behind a change of its tensormap.
    let tensormap = m.tag(Tag::TensormapProxy);
    let [tensormap_release, tensormap_acquire] =
        [Tag::TensormapRelease, Tag::TensormapAcquire].map(|t| m.tag(t));
    let released = base_causality & (generic_memory * tensormap_release);
    let acquired = base_causality & covers & (tensormap_acquire * tensormap);
    let across_proxies = m.define(
        section::ASYNC_PROXY,
        "across-proxies",
        (base_causality & (async_memory * generic_memory))
            | (base_causality & (tensormap * generic_memory))
            | ((base_causality & covers.inverse() & fenced) >> (base_causality & unfenced))
            | handed_over
            | (released >> base_causality >> acquired),
    );
    // 9.7.15.4. An alias fence, or its two halves in causality order. Reading B6.
    let [alias_release, alias_acquire] =
        [Tag::AliasRelease, Tag::AliasAcquire].map(|t| m.tag(t).id());
    let halves = match readings.fence_halves {
        FenceHalves::Both => alias_release >> base_causality >> alias_acquire,
        FenceHalves::Release => alias_release,
    };
    let between_aliases = m.define(section::MEMBAR, "alias-fences", alias_fence.id() | halves);
    // Reading B28: two addresses of one location, with an alias fence between the two accesses.
    let by_alias = m.define(
        section::CAUSALITY_ORDER,
        "alias-fence-between",
        location_overlap & (ordered_before >> between_aliases >> base_causality),
    );
    let of_one_address = overlap & across_proxies;
    let async_preserved = match readings.aliased_proxies {
        AliasedProxies::EachFence => {
            let in_one_cta = same_cta & (async_memory * async_memory);
            of_one_address | (by_alias & (across_proxies | in_one_cta))
        }
        AliasedProxies::AliasFence => {
            let other = async_memory | tensormap;
            of_one_address | (by_alias & ((other * memory) | (memory * other)))
        }
        AliasedProxies::Generic => of_one_address,
    };
    let async_preserved =
        m.define(section::ASYNC_PROXY, "async-preserved-base-causality", async_preserved);
    // 8.9.4. The end of a kernel orders the accesses of all proxies, and so those by all addresses of a location (8.6), but
    // for the tensormap proxy afterwards, which is acquired by a fence. Reading B12.
    let behind_kernel = base_causality.opt() >> kernel_order >> base_causality;
    let kernel_preserved = m.define(
        section::MEMORY_SYNCHRONIZATION,
        "kernel-preserved-base-causality",
        (location_overlap & (memory * (memory - tensormap)) & behind_kernel)
            | (location_overlap & (behind_kernel >> acquired)),
    );
    // 9.7.18.6.3. What orders the execution of threads, also where it makes no memory visible.
    let execution_order = m.define(
        section::TENSOR_SYNCHRONIZATION,
        "execution-order",
        (po | synchronizes | phase | seen).plus(),
    );
    let entered = m.define(
        section::TENSOR_SYNCHRONIZATION,
        "after-thread-sync",
        execution_order >> after_sync.id() >> issue,
    );
    let crossed = m.define(
        section::TENSOR_SYNCHRONIZATION,
        "before-thread-sync",
        (behind & (tensor * before_sync)) >> entered,
    );
    let completed = m.define(
        section::TENSOR_PIPELINES,
        "tensor-completion",
        tensor.id() >> (group_wait | tracked),
    );
    // 9.7.18.6.2: operations that form a pipeline need not complete. Reading B15.
    let across = match readings.tensor_fences {
        TensorFences::Standard => {
            let standard = m.define(
                section::TENSOR_SYNCHRONIZATION,
                "standard-synchronization",
                (behind >> (synchronizes & (in_full * in_full))) >> thread_causality.opt() >> issue,
            );
            (completed >> entered) | (pipeline & (crossed | standard)) | base_causality
        }
        TensorFences::Required => {
            let waited = (tracked >> po >> after_sync.id() >> issue) | (group_wait >> issue);
            let fenced = completed >> po >> before_sync.id() >> entered;
            waited | fenced | (pipeline & crossed) | operation
        }
    };
    let ordered =
        m.define(section::TENSOR_PIPELINES, "tensor-ordered", (pipeline & behind) | across);
    let tensor_order =
        m.define(section::TENSOR_PIPELINES, "tensor-order", ((tensor * tensor) & ordered).plus());
    // Reading B22: accesses of one location through a multimem address, and by its own.
    let one_address = match readings.multimem_addresses {
        MultimemAddresses::Locations => overlap,
        MultimemAddresses::AliasFence => {
            let through = m.tag(Tag::Multimem);
            overlap - ((through * (memory - through)) | ((memory - through) * through))
        }
    };
    let proxy_preserved = m.define(
        section::CAUSALITY_ORDER,
        "proxy-preserved-base-causality",
        (one_address & (flushed >> base_causality >> refilled))
            | (one_address & same_proxy & same_cta & base_causality)
            | (location_overlap
                & (flushed >> base_causality >> between_aliases >> base_causality >> refilled))
            | (location_overlap & (init * memory) & base_causality)
            | async_preserved
            | kernel_preserved
            | (overlap & tensor_order),
    );
    // Reading B20: what comes before such a read of its bytes comes before what comes after the read.
    let operand = m.tag(Tag::TensorOperand);
    let around_operand = m.define(
        section::ASYNC_OPERATIONS,
        "around-operand",
        (proxy_preserved & ((all * operand) | (operand * all))).plus(),
    );
    let preserved = proxy_preserved | around_operand;
    // Reading B29.
    let released = base_causality & covers.inverse() & (generic_memory * (of_reads - first_half));
    let to_half = base_causality | synchronizes;
    let read_by_alias = match readings.alias_reads {
        AliasReads::Alone => released >> base_causality,
        AliasReads::WithAcquire => released >> to_half >> alias_acquire >> base_causality,
        AliasReads::OneAddress => m.no_event().id(),
    };
    let read_before = (one_address & ordered_reads) | by_alias | (location_overlap & read_by_alias);
    let read_before =
        m.define(section::MEMBAR, "read-before", read_before & ((generic & read) * generic_memory));
    let causality = preserved | read_before | (observation >> preserved);
    let causality = m.define(section::CAUSALITY_ORDER, "causality", causality);

    // 8.9.6. Reading R7: partial; morally strong writes are related, and what causality relates.
    let writes = write * write;
    let relates = match readings.coherence {
        Coherence::Transitive | Coherence::Unrelated => indivisible & overlap & writes,
        Coherence::Total => (location_overlap & writes) - all.id(),
    };
    let co = m.order(Some(section::COHERENCE_ORDER), Chosen::Co, relates);

    // 8.9.7.
    let fr = match readings.coherence {
        Coherence::Transitive | Coherence::Total => later,
        Coherence::Unrelated => {
            let caused = causality | causality.inverse();
            related_from_read(rf, later, co & (morally_strong | caused | (init * write)))
        }
    };
    let communication = m.define(section::COMMUNICATION_ORDER, "communication", rf | co | fr);

    // 8.10. Reading R19: coherence is about locations, so pairs through aliases count.
    m.empty(section::COHERENCE, "Coherence", (causality & location_overlap & (write * write)) - co);
    // Reading R2: causality order relates memory operations, so fences compare by base causality.
    m.empty(
        section::FENCE_SC,
        "Fence-SC",
        (base_causality & morally_strong & (fence_sc * fence_sc)) - fsc,
    );
    m.empty(section::ATOMICITY, "Single-Copy-Atomicity", rf.inverse() & fr & morally_strong);
    m.empty(
        section::ATOMICITY,
        "Atomicity",
        ((fr & morally_strong) >> (co & morally_strong)) & rmw,
    );
    // Reading R47. The same of atomics of different sizes; and that none reads what another of them
    // writes after it, which SC-per-Location says of those of one size.
    let [read_from, before, overwritten] = [rf, co, fr].map(|of| of & exclusive);
    m.empty(section::MIXED_SIZE_RACES, "Mixed-Size-Single-Copy", read_from.inverse() & overwritten);
    m.empty(section::MIXED_SIZE_RACES, "Mixed-Size-Atomicity", (overwritten >> before) & rmw);
    m.irreflexive(section::MIXED_SIZE_RACES, "Mixed-Size-Order", rmw >> before >> read_from);
    // Reading R13: dependencies are the syntactic ones; an atomic's write depends on its read.
    let dependency = match readings.dependencies {
        Dependencies::Syntactic | Dependencies::Semantic => {
            m.fixed(Fixed::Addr) | m.fixed(Fixed::Data) | m.fixed(Fixed::Ctrl) | rmw
        }
        Dependencies::None => m.no_event().id(),
    };
    // Reading R49: what waits for the exit of a thread depends on what the thread had read, and what waits for its
    // arrival on what decided that. So does what a kernel writes on what led the kernel before it to launch it.
    let dependency = match readings.exits {
        Exits::Dependency => dependency | m.fixed(Fixed::Exited) | m.fixed(Fixed::Awaited),
        Exits::Nothing => dependency,
    };
    let dependency = m.define(section::NO_THIN_AIR, "dependency", dependency);
    m.acyclic(section::NO_THIN_AIR, "No-Thin-Air", rf | dependency);
    // Reading R8: one cycle through all three relations, not pair by pair.
    m.acyclic(
        section::SC_PER_LOCATION,
        "SC-per-Location",
        (communication & morally_strong) | (po & one_address),
    );
    // Reading R4: neither co nor the identity.
    m.irreflexive(section::CAUSALITY, "Causality", (rf | fr) >> causality);

    // 9.7.15.16: the operations on an mbarrier object happen one after the other, and those on another object in an order
    // of their own; the same holds of the generations of a barrier with a thread count. Readings B1 and R30.
    let [later_operation, same_object] =
        [Fixed::ObjectOrder, Fixed::SameObject].map(|f| m.fixed(f));
    let ordered = base_causality & same_object;
    m.acyclic(section::MBARRIER, "Mbarrier-Order", later_operation >> ordered);

    // 9.7.15.14: of several `launch_dependents` of a CTA, only the first has an effect.
    m.empty(
        section::GRIDDEPCONTROL,
        "First-Trigger",
        base_causality & m.fixed(Fixed::LaterTrigger),
    );

    // 8.7.1, 8.7.2. Readings R9, R24.
    let one_writes = (write * memory) | (memory * write);
    let conflict =
        m.define(section::CONFLICT_AND_RACES, "conflict", (overlap & one_writes) - all.id());
    let race = m.define(
        section::CONFLICT_AND_RACES,
        "data-race",
        conflict - morally_strong - (causality | causality.inverse()),
    );
    // Reading B19: an asynchronous copy has the sizes of the accesses that it meets.
    let of_threads = of_threads * of_threads;
    let mixed_size = (race & of_threads) - overlap_completely;
    m.undefined(section::MIXED_SIZE_RACES, "mixed-size-race", mixed_size);
    m.flag(Some(section::CONFLICT_AND_RACES), "data-race", race - mixed_size, FlagMeaning::Race);
    // Of the flags that an execution raises, the first is named: what is wrong with one instruction, then with two.
    m.undefined(
        section::of_opcode("wgmma.fence"),
        "wgmma-register",
        m.tag(Tag::UnfencedMultiply).id(),
    );
    // 8.9.1.1. Reading B9: the text names memory locations, which are physical (8.2), so aliases count. In a `.cat` file the
    // name says what a flag means.
    let contested = (location_overlap & one_writes) - all.id();
    let (race, means) = match readings.async_race {
        AsyncRace::Undefined => ("async-race", FlagMeaning::Undefined("async-race")),
        AsyncRace::Allowed => ("allowed-async-race", FlagMeaning::Race),
    };
    m.flag(
        Some(section::ASYNC_OPERATIONS),
        race,
        ((contested - of_threads - (tensor * tensor)) - morally_strong)
            - (ordered_before | ordered_before.inverse())
            - (around_operand | around_operand.inverse()),
        means,
    );
    // Reading B7.
    let of_objects = mbarrier | mbarrier_inval;
    let initialized = overlap & base_causality & (mbarrier_init * of_objects);
    // An `inval` behind the initialization comes behind the operation, too.
    let invalidates = location_overlap & base_causality & (mbarrier_init * mbarrier_inval);
    let not_behind =
        (location_overlap & (mbarrier_inval * of_objects)) - all.id() - base_causality.inverse();
    let ended = m.define(section::MBARRIER, "initialization-ended", invalidates >> not_behind);
    let initialized = m.define(section::MBARRIER, "initialized", initialized - ended);
    let initialized = match readings.initialization_proxy {
        InitializationProxy::Generic => initialized,
        InitializationProxy::Fence => {
            let fenced = base_causality & (mbarrier_init * fence_between);
            let copied = base_causality & (fence_between * async_proxy);
            // What is initialized before all threads needs no fence.
            (initialized - ((all - init) * async_proxy)) | (initialized & (fenced >> copied))
        }
    };
    m.undefined(
        section::MBARRIER,
        "mbarrier-uninitialized",
        of_objects.id() - (initialized.inverse() >> initialized),
    );
    // 9.7.15.16.4. An object that is there is invalidated before it is initialized again.
    let accesses = (memory | mbarrier_init) - init;
    let ended = location_overlap & base_causality & (mbarrier_inval * accesses);
    m.undefined(
        section::MBARRIER,
        "mbarrier-data-access",
        (location_overlap & (mbarrier_init * accesses))
            - mbarrier_init.id()
            - base_causality.inverse()
            - (((mbarrier_init * mbarrier_inval) & location_overlap & base_causality) >> ended),
    );
    // 9.7.15.18: the CTA has observed that there is nothing left to cancel.
    let [cancel, failed] = [Tag::Cancel, Tag::CancelFailed].map(|t| m.tag(t));
    m.undefined(
        section::TRY_CANCEL,
        "clc-after-failure",
        (failed.id() >> tracked) >> (same_cta & base_causality & (all * cancel)),
    );
    // What comes after an operation has been executed, whatever memory it makes visible.
    let executed = m.define(
        section::MBARRIER,
        "executed-before",
        (execution_order | m.fixed(Fixed::Meets) | issue | tracked | trigger | exit_trigger).plus(),
    );
    let awaited = m.fixed(Fixed::NextPhase) & executed;
    m.flag(
        Some(section::MBARRIER),
        "mbarrier-missing-wait",
        m.fixed(Fixed::LaterPhase) - (awaited.inverse() >> awaited),
        FlagMeaning::Warning(
            "no `test_wait` or `try_wait` before this arrival has returned true for the phase before",
        ),
    );
    // Tensor memory is used between its allocation and its deallocation, for which all uses have completed.
    let [allocation, deallocation, allocations_end] =
        [Tag::TensorAllocation, Tag::TensorDeallocation, Tag::AllocationsEnd].map(|t| m.tag(t));
    let uses = tensor | deallocation;
    let allocated = m.define(
        section::TENSOR_ALLOCATION,
        "allocated",
        location_overlap & (executed | (init * all)) & (allocation * uses),
    );
    let used_behind = (location_overlap & (uses * deallocation)) - all.id();
    let relinquished = (same_cta & (allocations_end * allocation)) - executed.inverse();
    m.undefined(
        section::TENSOR_ALLOCATION,
        "tensor-unallocated",
        uses.id() - (allocated.inverse() >> allocated),
    );
    m.undefined(
        section::TENSOR_ALLOCATION,
        "tensor-deallocated",
        used_behind - (completed >> execution_order),
    );
    m.undefined(section::TENSOR_ALLOCATION, "tensor-relinquished", relinquished);
    let ended = location_overlap & (allocation * deallocation);
    m.flag(
        Some(section::TENSOR_ALLOCATION),
        "tensor-memory-not-deallocated",
        (allocation - init).id() - (ended >> ended.inverse()),
        FlagMeaning::Warning("no thread deallocates this tensor memory before the kernel exits"),
    );
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
    // 8.1: loads through the non-coherent path are outside the model. Data that is read-only is written by nobody while the
    // kernel runs that reads it: kernels that have ended before it starts, and those that start when it has ended, may
    // write it. Readings R12 and R35.
    let ended = m.define(
        section::MEMORY_SYNCHRONIZATION,
        "ended-before",
        kernel_order >> executed.opt() >> m.tag(Tag::KernelStart).id() >> (po | issue),
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
    m.finish()
}

/// From a read to the writes that follow what it reads in `related`, which need not be transitive; of
/// `later`, which goes byte by byte along the closed order.
fn related_from_read<'m>(rf: Rel<'m>, later: Rel<'m>, related: Rel<'m>) -> Rel<'m> {
    later & (rf.inverse() >> related)
}
