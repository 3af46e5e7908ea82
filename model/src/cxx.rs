//! A second model: C++ and LLVM IR with scopes, as RC11 has it but for thin air and release sequences.
//!
//! Threads are placed and operations scoped as in PTX. An access without an order is plain, and
//! undefined if it races. Comments mark what is specific to LLVM (`unordered`).
//! Readings (R…) are choices explained in `docs/readings.md`.

use crate::given::{Chosen, Fixed, Tag};
use crate::rel::{Builder, Constraint, Conventions, FlagMeaning, Model};

/// What a release store heads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReleaseSequence {
    /// Atomics that read from it, and so on: C++20, which LLVM follows.
    Cpp20,
    /// Also later stores of its thread to the location: C++11, and RC11.
    Cpp11,
}

/// The model, with one notion of release sequences or the other.
pub fn model(sequence: ReleaseSequence) -> Model {
    let name = match sequence {
        ReleaseSequence::Cpp20 => "cxx",
        ReleaseSequence::Cpp11 => "cxx11",
    };
    let m = Builder::new(name, Conventions::default());

    let [all, read, write, init] = [Tag::All, Tag::Read, Tag::Write, Tag::Init].map(|t| m.tag(t));
    let [relaxed, acquire, release] = [Tag::Relaxed, Tag::Acquire, Tag::Release].map(|t| m.tag(t));
    let [fence_acquire, fence_release, fence_acq_rel, fence_sc] =
        [Tag::FenceAcquire, Tag::FenceRelease, Tag::FenceAcqRel, Tag::FenceSc].map(|t| m.tag(t));
    let [cta, cluster, gpu, sys] =
        [Tag::ScopeCta, Tag::ScopeCluster, Tag::ScopeGpu, Tag::ScopeSys].map(|t| m.tag(t));
    let seq_cst = m.tag(Tag::SeqCst);
    let [po, rmw] = [Fixed::Po, Fixed::Rmw].map(|f| m.fixed(f));
    let [same_cta, same_cluster, same_gpu] =
        [Fixed::SameCta, Fixed::SameCluster, Fixed::SameGpu].map(|f| m.fixed(f));
    let [overlap, overlap_completely] =
        [Fixed::Overlap, Fixed::OverlapCompletely].map(|f| m.fixed(f));
    let [rf, fr] = [Chosen::Rf, Chosen::Fr].map(|c| m.chosen(c));
    let memory = read | write;
    let program = all - init;

    // `unordered` is atomic, that is: no data race and not torn. It neither synchronizes nor is it
    // coherent. Reading R41.
    let atomic = m.name_set(None, "atomic", memory & (relaxed | acquire | release));
    let monotonic = m.name_set(None, "monotonic", atomic - m.tag(Tag::Unordered));

    let includes = (cta.id() >> same_cta)
        | (cluster.id() >> same_cluster)
        | (gpu.id() >> same_gpu)
        | (sys * program);
    let includes = m.name_rel(None, "includes", includes);
    let inclusive = m.name_rel(None, "inclusive", includes & includes.inverse());

    // C++20 [intro.races], [atomics.fences]. Reading R40.
    let seen = m.name_rel(None, "atomically-read", rf & inclusive & (monotonic * monotonic));
    let links = (monotonic & write).id() >> (seen >> rmw).star();
    let sequence = match sequence {
        ReleaseSequence::Cpp20 => links,
        ReleaseSequence::Cpp11 => {
            let same_location = po & overlap_completely & (write * write);
            write.id() >> same_location.opt() >> links
        }
    };
    let sequence = m.name_rel(None, "release-sequence", sequence);
    let after_fence = (fence_release | fence_acq_rel | fence_sc).id() >> po;
    let before_fence = po >> (fence_acquire | fence_acq_rel | fence_sc).id();
    let from = (release & write).id() | (after_fence >> (monotonic & write).id());
    let from = m.name_rel(None, "releases", from);
    let to = (acquire & read).id() | ((monotonic & read).id() >> before_fence);
    let to = m.name_rel(None, "acquires", to);
    let synchronizes =
        m.name_rel(None, "synchronizes", inclusive & (from >> sequence >> seen >> to));
    let barrier = m.fixed(Fixed::Barrier) | m.fixed(Fixed::ClusterBarrier);
    let happens_before =
        m.name_rel(None, "happens-before", (po | synchronizes | barrier | (init * program)).plus());

    // [intro.races]: the modification order of an object. Of writes that neither happens-before nor
    // atomicity orders, no outcome is required: they race.
    let written = monotonic & write;
    let co = m.order(None, Chosen::Co, (inclusive & overlap & (written * written)) - all.id());
    // Nothing happens before an initial write, so no cycle leads through one.
    let extended =
        m.name_rel(None, "extended-coherence", ((rf | co | fr) & (monotonic * monotonic)).plus());
    let modified = happens_before & overlap & (write * write);
    m.axiom(None, "Modification-Order", Constraint::Empty((modified - co).id));
    let coherence = (extended | rf | fr) >> happens_before;
    m.axiom(None, "Coherence", Constraint::Irreflexive(coherence.id));
    m.axiom(None, "Atomicity", Constraint::Empty(((fr >> co) & rmw).id));

    // RC11: the partial order of sequentially consistent operations, between those whose scopes
    // include each other.
    let elsewhere = m.name_rel(None, "po-elsewhere", po - overlap);
    let before = po
        | (elsewhere >> happens_before >> elsewhere)
        | (happens_before & overlap)
        | ((co | fr) & (monotonic * monotonic));
    let before = m.name_rel(None, "sc-before", before);
    let first = seq_cst.id() | (fence_sc.id() >> happens_before.opt());
    let last = seq_cst.id() | (happens_before.opt() >> fence_sc.id());
    let first = m.name_rel(None, "sc-first", first);
    let last = m.name_rel(None, "sc-last", last);
    let between_fences =
        (fence_sc * fence_sc) & (happens_before | (happens_before >> extended >> happens_before));
    let between_fences = m.name_rel(None, "sc-fences", between_fences);
    let partial =
        m.name_rel(None, "partial-sc", inclusive & ((first >> before >> last) | between_fences));
    m.axiom(None, "Sequential-Consistency", Constraint::Acyclic(partial.id));

    // Neither language forbids thin air explicitly; RC11's ban of all load buffering forbids
    // what compilers do. Reading R40.
    let dependency = m.name_rel(
        None,
        "dependency",
        m.fixed(Fixed::Addr)
            | m.fixed(Fixed::Data)
            | m.fixed(Fixed::Ctrl)
            | m.fixed(Fixed::Exited)
            | rmw,
    );
    m.axiom(None, "No-Thin-Air", Constraint::Acyclic((rf | dependency).id));

    let conflict = (overlap & ((write * memory) | (memory * write))) - all.id();
    let conflict = m.name_rel(None, "conflict", conflict);
    let together = inclusive & overlap_completely & (atomic * atomic);
    let together = m.name_rel(None, "atomically-together", together);
    let race = conflict - together - (happens_before | happens_before.inverse());
    let race = m.name_rel(None, "race", race);
    // Its name differs from that of the flag of PTX, which only reports: an imported model has nothing but names.
    m.flag(None, "Data-race", race, FlagMeaning::Undefined("data-race"));
    m.finish()
}
