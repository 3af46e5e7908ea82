//! Chapter 8 without asynchronous operations, in document order.
//!
//! Where other parts of the document add to a relation, what they add is a parameter.

use super::Primitives;
use crate::given::{Chosen, Fixed, Tag};
use crate::reading::{Coherence, Dependencies, Exits, FailedCas, PatternLocation};
use crate::rel::{Rel, Set};
use crate::section;

/// 8.4 to 8.7: which operations are strong, and which pairs of them morally.
pub(super) struct OperationStrength<'m> {
    strong_memory: Set<'m>,
    pub(super) scope_includes: Rel<'m>,
    pub(super) scopes_include: Rel<'m>,
    same_proxy: Rel<'m>,
    pub(super) morally_strong: Rel<'m>,
    exclusive: Rel<'m>,
    indivisible: Rel<'m>,
    fence_sc: Set<'m>,
}

pub(super) fn strength<'m>(given: &Primitives<'m>) -> OperationStrength<'m> {
    let Primitives { m, all, memory, program, generic, async_proxy, po, .. } = *given;
    let [relaxed, fence, fence_sc] = [Tag::Relaxed, Tag::Fence, Tag::FenceSc].map(|tag| m.tag(tag));
    // 8.4. A strong operation is a fence or a memory operation with an order. Reading R17.
    let strong_memory = m.define_set(
        section::OPERATION_TYPES,
        "strong-memory",
        memory & (relaxed | given.acquire | given.release),
    );
    let strong = m.define_set(section::OPERATION_TYPES, "strong", strong_memory | fence);

    // 8.5.
    let [cta, cluster, gpu, sys] =
        [Tag::ScopeCta, Tag::ScopeCluster, Tag::ScopeGpu, Tag::ScopeSys].map(|tag| m.tag(tag));
    let scope_includes = (cta.id() >> given.same_cta)
        | (cluster.id() >> m.fixed(Fixed::SameCluster))
        | (gpu.id() >> m.fixed(Fixed::SameGpu))
        | (sys * program);
    let scopes_include =
        m.define(section::SCOPE, "scopes-include", scope_includes & scope_includes.inverse());

    // 8.6. Reading R18: a memory fence is taken to be generic.
    let through_generic = generic | fence;
    let [texture, surface, constant] =
        [Tag::Texture, Tag::Surface, Tag::Constant].map(|tag| m.tag(tag));
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
    let overlapping = given.overlap_completely | ((all * all) - (memory * memory));
    let morally_strong = m.define(
        section::MORALLY_STRONG,
        "morally-strong",
        (together & same_proxy & overlapping) - all.id(),
    );

    // 8.7.2. Overlapping atomics of different sizes exclude one another. Reading R47.
    let atomic = given.atomic;
    let exclusive = m.define(
        section::MIXED_SIZE_RACES,
        "exclusive",
        ((given.overlap - given.overlap_completely) & scopes_include & (atomic * atomic))
            - all.id(),
    );
    let indivisible =
        m.define(section::MIXED_SIZE_RACES, "indivisible", morally_strong | exclusive);
    OperationStrength {
        strong_memory,
        scope_includes,
        scopes_include,
        same_proxy,
        morally_strong,
        exclusive,
        indivisible,
        fence_sc,
    }
}

/// 8.8: patterns, each named by its first and its last event.
pub(super) struct SyncPatterns<'m> {
    pub(super) release_write: Set<'m>,
    release: Rel<'m>,
    acquire: Rel<'m>,
}

/// Readings R6, R11, R16.
pub(super) fn patterns<'m>(
    given: &Primitives<'m>,
    strength: &OperationStrength<'m>,
) -> SyncPatterns<'m> {
    let Primitives { m, write, po, readings, .. } = *given;
    let strong_memory = strength.strong_memory;
    let read_operation = given.read - m.tag(Tag::ReductionRead);
    let strong_write = write & strong_memory;
    let strong_read = read_operation & strong_memory;
    let release_write = write & given.release;
    let acquire_read = read_operation & given.acquire;
    // Reading R6.
    let same_location = match readings.pattern_location {
        PatternLocation::Virtual => po & given.overlap_completely,
        PatternLocation::Physical => po & m.fixed(Fixed::LocationOverlapCompletely),
    };
    // Reading R23: which operations a strong write continues.
    let release_operation = match readings.failed_cas {
        FailedCas::Nothing | FailedCas::Writes => release_write,
        FailedCas::Releases => given.release,
    };
    let releasing = given.releasing_fence | given.restricted_release;
    let release = m.define(
        section::RELEASE_ACQUIRE_PATTERNS,
        "release-pattern",
        release_write.id()
            | ((release_operation * strong_write) & same_location)
            | ((releasing * strong_write) & (po | given.issue)),
    );
    let acquiring = given.acquiring_fence | given.restricted_acquire;
    let acquire = m.define(
        section::RELEASE_ACQUIRE_PATTERNS,
        "acquire-pattern",
        acquire_read.id()
            | ((strong_read * acquire_read) & same_location)
            | ((strong_read * acquiring) & po),
    );
    SyncPatterns { release_write, release, acquire }
}

/// 8.9.2, 8.9.3.
pub(super) struct ObservationOrder<'m> {
    /// The reads of morally strong writes.
    pub(super) seen: Rel<'m>,
    observation: Rel<'m>,
    fence_sc: Rel<'m>,
}

pub(super) fn observation<'m>(
    given: &Primitives<'m>,
    strength: &OperationStrength<'m>,
) -> ObservationOrder<'m> {
    let Primitives { m, rf, rmw, .. } = *given;
    let OperationStrength { morally_strong, fence_sc, .. } = *strength;
    // 8.9.2. A write and the read that sees it, through any number of atomics. Reading R15: a read
    // may see several.
    let seen = rf & morally_strong;
    let observation =
        m.define(section::OBSERVATION_ORDER, "observation", seen >> (rmw >> seen).star());
    // 8.9.3.
    let fence_sc =
        m.order(Some(section::FENCE_SC_ORDER), Chosen::Fsc, morally_strong & (fence_sc * fence_sc));
    ObservationOrder { seen, observation, fence_sc }
}

/// 8.9.4, with what `more` synchronizes.
pub(super) fn synchronizes<'m>(
    given: &Primitives<'m>,
    strength: &OperationStrength<'m>,
    patterns: &SyncPatterns<'m>,
    observation: &ObservationOrder<'m>,
    more: [Rel<'m>; 2],
) -> Rel<'m> {
    let m = given.m;
    let by_patterns = patterns.release >> observation.observation >> patterns.acquire;
    let synchronizes = (strength.morally_strong & by_patterns)
        | observation.fence_sc
        | m.fixed(Fixed::Barrier)
        | m.fixed(Fixed::ClusterBarrier)
        | given.kernel_order;
    let synchronizes = more.into_iter().fold(synchronizes, |all, more| all | more);
    m.define(section::MEMORY_SYNCHRONIZATION, "synchronizes", synchronizes)
}

/// 8.9.5: base causality order of threads. Reading R1: initial writes come before every operation. Reading R25: no axiom asks
/// that it be irreflexive. Reading R20: accesses of different sizes are of one address if they overlap.
pub(super) fn thread_causality<'m>(given: &Primitives<'m>, between_threads: Rel<'m>) -> Rel<'m> {
    let Primitives { m, init, program, po, .. } = *given;
    m.define(
        section::CAUSALITY_ORDER,
        "thread-causality",
        (po | between_threads | (init * program)).plus(),
    )
}

/// 8.9.5: accesses after which, and before which, memory is as the generic proxy has it.
pub(super) struct GenericProxy<'m> {
    flushed: Rel<'m>,
    refilled: Rel<'m>,
}

/// Reading R10: an access through another proxy is flushed or refilled by a fence of that proxy in its CTA; the document itself
/// has the generic and the alias case only.
pub(super) fn generic_proxy<'m>(
    given: &Primitives<'m>,
    base_causality: Rel<'m>,
) -> GenericProxy<'m> {
    let Primitives { m, memory, generic_memory, .. } = *given;
    let [texture, surface, constant, proxy_fence] =
        [Tag::Texture, Tag::Surface, Tag::Constant, Tag::ProxyFence].map(|tag| m.tag(tag));
    let own_fence =
        given.same_cta & ((texture * texture) | (surface * surface) | (constant * constant));
    let flushed = m.define(
        section::CAUSALITY_ORDER,
        "flushed",
        generic_memory.id() | (base_causality & own_fence & (memory * proxy_fence)),
    );
    let refilled = m.define(
        section::CAUSALITY_ORDER,
        "refilled",
        generic_memory.id() | (base_causality & own_fence & (proxy_fence * memory)),
    );
    GenericProxy { flushed, refilled }
}

/// 8.9.5, with what `more` preserves.
pub(super) fn proxy_preserved<'m>(
    given: &Primitives<'m>,
    strength: &OperationStrength<'m>,
    base_causality: Rel<'m>,
    generic: &GenericProxy<'m>,
    between_aliases: Rel<'m>,
    more: [Rel<'m>; 3],
) -> Rel<'m> {
    let Primitives { m, memory, init, one_address, location_overlap, .. } = *given;
    let GenericProxy { flushed, refilled } = *generic;
    let preserved = (one_address & (flushed >> base_causality >> refilled))
        | (one_address & strength.same_proxy & given.same_cta & base_causality)
        | (location_overlap
            & (flushed >> base_causality >> between_aliases >> base_causality >> refilled))
        | (location_overlap & (init * memory) & base_causality);
    let preserved = more.into_iter().fold(preserved, |all, more| all | more);
    m.define(section::CAUSALITY_ORDER, "proxy-preserved-base-causality", preserved)
}

/// 8.9.5. `read_before` is what orders reads alone.
pub(super) fn causality<'m>(
    given: &Primitives<'m>,
    observation: &ObservationOrder<'m>,
    preserved: Rel<'m>,
    read_before: Rel<'m>,
) -> Rel<'m> {
    let causality = preserved | read_before | (observation.observation >> preserved);
    given.m.define(section::CAUSALITY_ORDER, "causality", causality)
}

/// 8.9.6, 8.9.7.
pub(super) struct CommunicationOrder<'m> {
    co: Rel<'m>,
    fr: Rel<'m>,
    any: Rel<'m>,
}

pub(super) fn communication<'m>(
    given: &Primitives<'m>,
    strength: &OperationStrength<'m>,
    causality: Rel<'m>,
) -> CommunicationOrder<'m> {
    let Primitives { m, readings, all, write, rf, location_overlap, .. } = *given;
    // 8.9.6. Reading R7: partial; morally strong writes are related, and what causality relates.
    let writes = write * write;
    let relates = match readings.coherence {
        Coherence::Transitive | Coherence::Unrelated => {
            strength.indivisible & given.overlap & writes
        }
        Coherence::Total => (location_overlap & writes) - all.id(),
    };
    let co = m.order(Some(section::COHERENCE_ORDER), Chosen::Co, relates);
    // 8.9.7.
    let later = m.chosen(Chosen::Fr);
    let fr = match readings.coherence {
        Coherence::Transitive | Coherence::Total => later,
        Coherence::Unrelated => {
            let caused = causality | causality.inverse();
            let follows = co & (strength.morally_strong | caused | (given.init * write));
            // From a read to the writes that follow what it reads in an order that need not be transitive; of `later`, which
            // goes byte by byte along the closed order.
            later & (rf.inverse() >> follows)
        }
    };
    let any = m.define(section::COMMUNICATION_ORDER, "communication", rf | co | fr);
    CommunicationOrder { co, fr, any }
}

/// 8.10.
pub(super) fn axioms<'m>(
    given: &Primitives<'m>,
    strength: &OperationStrength<'m>,
    observation: &ObservationOrder<'m>,
    communication: &CommunicationOrder<'m>,
    base_causality: Rel<'m>,
    causality: Rel<'m>,
) {
    let Primitives { m, readings, write, po, rf, rmw, .. } = *given;
    let OperationStrength { morally_strong, exclusive, fence_sc, .. } = *strength;
    let CommunicationOrder { co, fr, .. } = *communication;
    // Reading R19: coherence is about locations, so pairs through aliases count.
    m.empty(
        section::COHERENCE,
        "Coherence",
        (causality & given.location_overlap & (write * write)) - co,
    );
    // Reading R2: causality order relates memory operations, so fences compare by base causality.
    m.empty(
        section::FENCE_SC,
        "Fence-SC",
        (base_causality & morally_strong & (fence_sc * fence_sc)) - observation.fence_sc,
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
    let of_values = match readings.dependencies {
        Dependencies::Syntactic | Dependencies::Semantic => {
            m.fixed(Fixed::Addr) | m.fixed(Fixed::Data) | m.fixed(Fixed::Ctrl) | rmw
        }
        Dependencies::None => m.no_event().id(),
    };
    // Reading R49: what waits for the exit of a thread depends on what the thread had read, and what waits for its
    // arrival on what decided that. So does what a kernel writes on what led the kernel before it to launch it.
    let of_threads = match readings.exits {
        Exits::Dependency => of_values | m.fixed(Fixed::Exited) | m.fixed(Fixed::Awaited),
        Exits::Nothing => of_values,
    };
    let dependency = m.define(section::NO_THIN_AIR, "dependency", of_threads);
    m.acyclic(section::NO_THIN_AIR, "No-Thin-Air", rf | dependency);
    // Reading R8: one cycle through all three relations, not pair by pair.
    m.acyclic(
        section::SC_PER_LOCATION,
        "SC-per-Location",
        (communication.any & morally_strong) | (po & given.one_address),
    );
    // Reading R4: neither co nor the identity.
    m.irreflexive(section::CAUSALITY, "Causality", (rf | fr) >> causality);
}
