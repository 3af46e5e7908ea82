//! Asynchronous operations, mbarrier objects, kernels and proxy fences: what they add to the orders of chapter 8.

use super::Primitives;
use super::base::{OperationStrength, SyncPatterns};
use crate::given::{Fixed, Tag};
use crate::reading::{
    AliasReads, AliasedProxies, AsyncFencePlace, AsyncWait, CompletionScope, FenceHalves,
    MulticastCompletion,
};
use crate::rel::{Rel, Set};
use crate::section;

/// 9.7.15.16: what operations on mbarrier objects synchronize.
pub(super) struct Objects<'m> {
    acquire: Rel<'m>,
    pub(super) synchronize: Rel<'m>,
}

/// The patterns of 8.8, of an mbarrier object, whose operations are in one order. Readings B1, B2, B3.
pub(super) fn objects<'m>(given: &Primitives<'m>, strength: &OperationStrength<'m>) -> Objects<'m> {
    let Primitives { m, mbarrier, po, .. } = *given;
    let mbarrier_wait = m.tag(Tag::MbarrierWait);
    let releasing = given.releasing_fence | given.restricted_release;
    let release = m.define(
        section::MBARRIER,
        "mbarrier-release-pattern",
        (mbarrier & given.release).id() | ((releasing * mbarrier) & po),
    );
    let acquiring = given.acquiring_fence | given.restricted_acquire;
    let acquire = m.define(
        section::MBARRIER,
        "mbarrier-acquire-pattern",
        (mbarrier_wait & given.acquire).id() | ((mbarrier_wait * acquiring) & po),
    );
    let synchronize = strength.scopes_include & (release >> given.phase >> acquire);
    Objects { acquire, synchronize }
}

/// 9.7.15.14. The fences before the first `launch_dependents` of a CTA.
pub(super) fn launches<'m>(given: &Primitives<'m>, strength: &OperationStrength<'m>) -> Rel<'m> {
    given.m.define(
        section::GRIDDEPCONTROL,
        "launches",
        strength.scope_includes & (given.releasing_fence.id() >> given.po >> given.trigger),
    )
}

/// 8.9.1.1: what has completed when another operation begins.
pub(super) struct Completion<'m> {
    pub(super) tracked: Rel<'m>,
    order: Rel<'m>,
    for_async_proxy: Rel<'m>,
    /// Events that are ordered with all others of their thread.
    pub(super) in_full: Set<'m>,
    between_threads: Rel<'m>,
    /// Between such events of threads.
    pub(super) between_whole_threads: Rel<'m>,
}

/// What waits for an asynchronous operation is ordered after it, and after nothing else that way. Readings B4 and B24.
pub(super) fn completion<'m>(
    given: &Primitives<'m>,
    strength: &OperationStrength<'m>,
    patterns: &SyncPatterns<'m>,
    objects: &Objects<'m>,
    synchronizes: Rel<'m>,
) -> Completion<'m> {
    let Primitives { m, readings, all, po, issue, group_wait, .. } = *given;
    let tracked = match readings.multicast_completion {
        MulticastCompletion::OneCta => m.fixed(Fixed::Tracked),
        MulticastCompletion::AllCtas => m.fixed(Fixed::Tracked) | m.fixed(Fixed::TrackedElsewhere),
    };
    let waited = tracked >> objects.acquire;
    let acquired = match readings.completion_scope {
        CompletionScope::Any => waited,
        CompletionScope::Inclusive => waited & strength.scope_includes.inverse(),
    };
    // Reading B30.
    let for_async = m.tag(Tag::AsyncProxyWait);
    let unordered = match readings.async_wait {
        AsyncWait::Reads | AsyncWait::Fence => all - (given.read - given.atomic),
        AsyncWait::AsyncOnly => all,
    };
    let order = m.define(
        section::ASYNC_OPERATIONS,
        "completion",
        (group_wait - (unordered * for_async))
            | acquired
            | (given.asynchronous.id() >> synchronizes),
    );
    let to_proxy = issue & (all * given.async_proxy);
    let after_wait = match readings.async_wait {
        AsyncWait::Reads | AsyncWait::AsyncOnly => to_proxy,
        AsyncWait::Fence => to_proxy | (po >> given.async_fence.id() >> po),
    };
    let for_async_proxy = m.define(
        section::ASYNC_OPERATIONS,
        "completed-for-async-proxy",
        group_wait >> for_async.id() >> after_wait,
    );
    // A fence of some objects orders what is done with these, and no other event of its thread.
    let restricted = given.restricted_release | given.restricted_acquire;
    let in_full = m.define_set(
        section::ASYNC_OPERATIONS,
        "ordered-in-full",
        (all - given.asynchronous) - restricted,
    );
    // 8.8: a release pattern affects what comes before its first instruction in program order, and that may be one
    // that starts a release operation.
    let before_release = m.define(
        section::RELEASE_ACQUIRE_PATTERNS,
        "issued-release",
        (issue & (all * patterns.release_write)) >> synchronizes,
    );
    let between_threads = synchronizes | before_release;
    let between_whole_threads = between_threads & (in_full * in_full);
    Completion { tracked, order, for_async_proxy, in_full, between_threads, between_whole_threads }
}

/// 8.9.5: base causality order.
pub(super) struct CausalOrder<'m> {
    pub(super) thread_causality: Rel<'m>,
    pub(super) base_causality: Rel<'m>,
    /// What a release of reads alone orders: it is not cumulative, so this is not a part of base causality order.
    ordered_reads: Rel<'m>,
    /// Both.
    pub(super) ordered_before: Rel<'m>,
    of_reads: Set<'m>,
}

pub(super) fn base_causality<'m>(
    given: &Primitives<'m>,
    completion: &Completion<'m>,
    synchronizes: Rel<'m>,
    thread_causality: Rel<'m>,
) -> CausalOrder<'m> {
    let Primitives { m, issue, covers, restricted_release, restricted_acquire, .. } = *given;
    let Completion { in_full, between_threads, for_async_proxy, .. } = *completion;
    let ordered_earlier = thread_causality | (completion.order >> thread_causality.opt());
    let restricted_before = m.define(
        section::MEMBAR,
        "restricted-release",
        (restricted_release.id() | (ordered_earlier & covers.inverse())) >> restricted_release.id(),
    );
    let ordered_later = thread_causality | (thread_causality.opt() >> issue);
    let restricted_after = m.define(
        section::MEMBAR,
        "restricted-acquire",
        restricted_acquire.id() >> (restricted_acquire.id() | (ordered_later & covers)),
    );
    let of_reads = m.tag(Tag::ReleaseOfReads);
    let released =
        completion.order | ((restricted_before - (given.read * of_reads)) >> synchronizes);
    let causality_of_some = m.define(
        section::CAUSALITY_ORDER,
        "causality-of-some",
        thread_causality.opt() >> (issue | (in_full.id() >> between_threads >> restricted_after)),
    );
    let received = (in_full.id() >> (thread_causality | causality_of_some)) | restricted_after;
    let base_causality = m.define(
        section::CAUSALITY_ORDER,
        "base-causality",
        thread_causality
            | causality_of_some
            | (released >> received)
            | given.operation
            | for_async_proxy,
    );
    let ordered_reads = m.define(
        section::MEMBAR,
        "ordered-reads",
        (restricted_before & (given.read * of_reads)) >> synchronizes >> received,
    );
    let ordered_before = base_causality | ordered_reads;
    CausalOrder { thread_causality, base_causality, ordered_reads, ordered_before, of_reads }
}

/// What orders accesses through several proxies, or by several addresses.
pub(super) struct Proxies<'m> {
    first_half: Set<'m>,
    alias_acquire: Rel<'m>,
    by_alias: Rel<'m>,
    pub(super) between_aliases: Rel<'m>,
    pub(super) async_preserved: Rel<'m>,
    pub(super) kernel_preserved: Rel<'m>,
}

pub(super) fn proxies<'m>(given: &Primitives<'m>, ordered: &CausalOrder<'m>) -> Proxies<'m> {
    let Primitives { m, readings, memory, same_cta, covers, async_memory, tensormap, .. } = *given;
    let CausalOrder { base_causality, ordered_before, .. } = *ordered;
    let first_half = m.tag(Tag::AsyncFenceRelease);
    let tensormap_acquired = base_causality & covers & (m.tag(Tag::TensormapAcquire) * tensormap);
    let across_proxies = across_proxies(given, base_causality, first_half, tensormap_acquired);
    // 9.7.15.4. An alias fence, or its two halves in causality order. Reading B6.
    let [alias_release, alias_acquire] =
        [Tag::AliasRelease, Tag::AliasAcquire].map(|tag| m.tag(tag).id());
    let halves = match readings.fence_halves {
        FenceHalves::Both => alias_release >> base_causality >> alias_acquire,
        FenceHalves::Release => alias_release,
    };
    let alias_fence = m.tag(Tag::AliasFence);
    let between_aliases = m.define(section::MEMBAR, "alias-fences", alias_fence.id() | halves);
    // Reading B28: two addresses of one location, with an alias fence between the two accesses.
    let by_alias = m.define(
        section::CAUSALITY_ORDER,
        "alias-fence-between",
        given.location_overlap & (ordered_before >> between_aliases >> base_causality),
    );
    let of_one_address = given.overlap & across_proxies;
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
    let after_kernel = base_causality.opt() >> given.kernel_order >> base_causality;
    let kernel_preserved = m.define(
        section::MEMORY_SYNCHRONIZATION,
        "kernel-preserved-base-causality",
        (given.location_overlap & (memory * (memory - tensormap)) & after_kernel)
            | (given.location_overlap & (after_kernel >> tensormap_acquired)),
    );
    Proxies {
        first_half,
        alias_acquire,
        by_alias,
        between_aliases,
        async_preserved,
        kernel_preserved,
    }
}

/// 9.7.10.28.2. A completion has an implicit proxy fence for what comes after it, also for overwriting what was
/// read (reading B10); what comes before an asynchronous access needs a fence. Readings B5 and B6.
fn across_proxies<'m>(
    given: &Primitives<'m>,
    base_causality: Rel<'m>,
    first_half: Set<'m>,
    tensormap_acquired: Rel<'m>,
) -> Rel<'m> {
    let Primitives { m, po, issue, generic_memory, async_memory, async_fence, tensormap, .. } =
        *given;
    let in_proxy = (generic_memory | async_memory) * async_fence;
    let (fenced, unfenced) = match given.readings.async_fence {
        AsyncFencePlace::Anywhere => (in_proxy, async_fence * async_memory),
        AsyncFencePlace::Writer => {
            // An asynchronous operation is of the thread that starts it.
            let same = po | ((issue.inverse() | given.group_wait) >> po);
            let own = (generic_memory * async_fence) & same;
            (own | (async_memory * async_fence), async_fence * async_memory)
        }
        AsyncFencePlace::Cta => (in_proxy, (async_fence * async_memory) & given.same_cta),
    };
    let second_half = m.tag(Tag::AsyncFenceAcquire);
    let first = base_causality & given.covers.inverse() & (generic_memory * first_half);
    let by_halves = match given.readings.fence_halves {
        FenceHalves::Both => {
            first >> base_causality >> (base_causality & (second_half * async_memory))
        }
        FenceHalves::Release => first >> (base_causality & (first_half * async_memory)),
    };
    // Reading B12: a copy needs both fences after a change of its tensormap.
    let changed = base_causality & (generic_memory * m.tag(Tag::TensormapRelease));
    m.define(
        section::ASYNC_PROXY,
        "across-proxies",
        (base_causality & (async_memory * generic_memory))
            | (base_causality & (tensormap * generic_memory))
            | ((base_causality & given.covers.inverse() & fenced) >> (base_causality & unfenced))
            | by_halves
            | (changed >> base_causality >> tensormap_acquired),
    )
}

/// Reading B20: what comes before a read of an operand of `wgmma` or `tcgen05.mma` of its bytes comes before what comes after
/// the read.
pub(super) fn around_operand<'m>(given: &Primitives<'m>, proxy_preserved: Rel<'m>) -> Rel<'m> {
    let Primitives { m, all, .. } = *given;
    let operand = m.tag(Tag::TensorOperand);
    m.define(
        section::ASYNC_OPERATIONS,
        "around-operand",
        (proxy_preserved & ((all * operand) | (operand * all))).plus(),
    )
}

/// Reading B29: reads before a release of reads, also of a location that another address names.
pub(super) fn read_before<'m>(
    given: &Primitives<'m>,
    ordered: &CausalOrder<'m>,
    proxies: &Proxies<'m>,
    synchronizes: Rel<'m>,
) -> Rel<'m> {
    let Primitives { m, generic_memory, location_overlap, .. } = *given;
    let CausalOrder { base_causality, of_reads, .. } = *ordered;
    let by_aliases = generic_memory * (of_reads - proxies.first_half);
    let released = base_causality & given.covers.inverse() & by_aliases;
    let to_half = base_causality | synchronizes;
    let read_by_alias = match given.readings.alias_reads {
        AliasReads::Alone => released >> base_causality,
        AliasReads::WithAcquire => released >> to_half >> proxies.alias_acquire >> base_causality,
        AliasReads::OneAddress => m.no_event().id(),
    };
    let before = (given.one_address & ordered.ordered_reads)
        | proxies.by_alias
        | (location_overlap & read_by_alias);
    let reads = (given.generic & given.read) * generic_memory;
    m.define(section::MEMBAR, "read-before", before & reads)
}

pub(super) fn axioms<'m>(given: &Primitives<'m>, base_causality: Rel<'m>) {
    let m = given.m;
    // 9.7.15.16: the operations on an mbarrier object happen one after the other, and those on another object in an order
    // of their own; the same holds of the generations of a barrier with a thread count. Readings B1 and R30.
    let ordered = base_causality & m.fixed(Fixed::SameObject);
    m.acyclic(section::MBARRIER, "Mbarrier-Order", m.fixed(Fixed::ObjectOrder) >> ordered);
    // 9.7.15.14: of several `launch_dependents` of a CTA, only the first has an effect.
    m.empty(
        section::GRIDDEPCONTROL,
        "First-Trigger",
        base_causality & m.fixed(Fixed::LaterTrigger),
    );
}
