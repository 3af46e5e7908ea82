//! The names that a model may use without defining them.

use model::given::{Chosen, Fixed, Tag};
use model::rel::{Builder, Rel, Set};

/// Which language a name belongs to, where two differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Vocabulary {
    /// The peer's: fences of proxies are fences, memory fences are generic.
    Peer,
    /// Those of [`model::given`], as [`model::render::cat()`] prints them.
    Given,
}

/// A set or a relation.
#[derive(Clone, Copy)]
pub(super) enum Given<'m> {
    Set(Set<'m>),
    Rel(Rel<'m>),
}

/// Functions that are there from the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BuiltinFunction {
    /// `[S]`.
    ToId,
    /// The pairs with an event of S between them.
    FenceRel,
    /// The events from which a relation leads, and to which.
    Domain,
    Range,
}

pub(super) fn function(name: &str) -> Option<BuiltinFunction> {
    match name {
        "toid" => Some(BuiltinFunction::ToId),
        "fencerel" => Some(BuiltinFunction::FenceRel),
        "domain" => Some(BuiltinFunction::Domain),
        "range" => Some(BuiltinFunction::Range),
        _ => None,
    }
}

/// Beside those of [`model::given`].
const KNOWN: &[&str] = &[
    "M",
    "emptyset",
    "ACQ_REL",
    "SC",
    "id",
    "int",
    "ext",
    "loc",
    "vloc",
    "po-loc",
    "scta",
    "sr",
    "syncbar",
    "sync_fence",
    "rfe",
    "rfi",
    "coe",
    "coi",
    "fre",
    "fri",
    "co0",
    "amo",
    "toid",
    "fencerel",
    "domain",
    "range",
    "sm",
];

/// Every name that is known from the start.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    let tags = Tag::ALL.iter().map(|tag| tag.name());
    let fixed = Fixed::ALL.iter().map(|fixed| fixed.name());
    let chosen = Chosen::ALL.iter().map(|chosen| chosen.name());
    tags.chain(fixed).chain(chosen).chain(KNOWN.iter().copied())
}

/// What is part of cat and cannot be said here: why, or what to write.
pub(super) fn refused(name: &str) -> Option<&'static str> {
    match name {
        "FW" => Some("final writes are not marked; a write with no successor in `co` is final"),
        "B" | "BR" => Some("branches are not events; use `ctrl`, the control dependencies"),
        "RMW" => Some("an atomic is a read and a write; `rmw` relates them"),
        "ctrlcfence" | "isync" => Some("PTX has no such fence"),
        "cross" | "linearisations" | "generate_orders" | "generate_cos" | "fold" | "map" => {
            Some("orders are not enumerated by a model; `co` is chosen with the execution")
        }
        "classes" | "classes-loc" | "partition" | "tag2events" | "tag2scope" | "tag2instrs" => {
            Some("sets of sets are not supported; scopes are `CTA`, `CLUSTER`, `GPU` and `SYS`")
        }
        _ => None,
    }
}

/// Makes what `name` stands for.
pub(super) fn given<'m>(m: &'m Builder, names: Vocabulary, name: &str) -> Option<Given<'m>> {
    if let Some(set) = set(m, names, name) {
        return Some(Given::Set(set));
    }
    relation(m, name).map(Given::Rel)
}

fn set<'m>(m: &'m Builder, names: Vocabulary, name: &str) -> Option<Set<'m>> {
    let set = match (name, names) {
        ("F", Vocabulary::Peer) => m.tag(Tag::Fence) | m.tag(Tag::ProxyFence),
        ("ACQ", Vocabulary::Peer) => m.tag(Tag::Acquire) | m.tag(Tag::FenceAcquire),
        ("REL", Vocabulary::Peer) => m.tag(Tag::Release) | m.tag(Tag::FenceRelease),
        ("GEN", Vocabulary::Peer) => m.tag(Tag::Generic) | m.tag(Tag::Fence),
        ("M", _) => m.tag(Tag::Read) | m.tag(Tag::Write),
        ("ACQ_REL", _) => m.tag(Tag::FenceAcqRel),
        ("SC", _) => m.tag(Tag::FenceSc) | m.tag(Tag::SeqCst),
        ("emptyset", _) => m.no_event(),
        (name, _) => m.tag(*Tag::ALL.iter().find(|tag| tag.name() == name)?),
    };
    Some(set)
}

fn relation<'m>(m: &'m Builder, name: &str) -> Option<Rel<'m>> {
    let fixed = |fixed| m.fixed(fixed);
    let chosen = |chosen| m.chosen(chosen);
    let all = || m.tag(Tag::All);
    let relation = match name {
        // No access is several events of one location.
        "id" | "sm" => all().id(),
        "int" => internal(m),
        "ext" => all() * all() - internal(m),
        "loc" => fixed(Fixed::LocationOverlap),
        "vloc" => fixed(Fixed::Overlap),
        "po-loc" => fixed(Fixed::Po) & fixed(Fixed::LocationOverlap),
        "scta" => fixed(Fixed::SameCta),
        "sr" => scopes_include(m),
        "syncbar" => fixed(Fixed::Barrier),
        "sync_fence" => chosen(Chosen::Fsc),
        "rfi" => chosen(Chosen::Rf) & internal(m),
        "rfe" => chosen(Chosen::Rf) - internal(m),
        "coi" => chosen(Chosen::Co) & internal(m),
        "coe" => chosen(Chosen::Co) - internal(m),
        "fri" => chosen(Chosen::Fr) & internal(m),
        "fre" => chosen(Chosen::Fr) - internal(m),
        "co0" => {
            let (write, init) = (m.tag(Tag::Write), m.tag(Tag::Init));
            fixed(Fixed::LocationOverlap) & (init * (write - init))
        }
        "amo" => fixed(Fixed::Rmw),
        name => {
            let known = Fixed::ALL.iter().find(|fixed| fixed.name() == name);
            match known {
                Some(&known) => fixed(known),
                None => chosen(*Chosen::ALL.iter().find(|chosen| chosen.name() == name)?),
            }
        }
    };
    Some(relation)
}

/// Events of one thread. The elements of one vector access, which program order leaves unordered,
/// cannot be distinguished from those of different threads.
fn internal(m: &Builder) -> Rel<'_> {
    let po = m.fixed(Fixed::Po);
    po | po.inverse() | m.tag(Tag::All).id()
}

/// Each of two events has a scope that includes the thread of the other.
fn scopes_include(m: &Builder) -> Rel<'_> {
    let [cta, cluster, gpu, sys] =
        [Tag::ScopeCta, Tag::ScopeCluster, Tag::ScopeGpu, Tag::ScopeSys].map(|tag| m.tag(tag));
    let program = m.tag(Tag::All) - m.tag(Tag::Init);
    let includes = (cta.id() >> m.fixed(Fixed::SameCta))
        | (cluster.id() >> m.fixed(Fixed::SameCluster))
        | (gpu.id() >> m.fixed(Fixed::SameGpu))
        | (sys * program);
    includes & includes.inverse()
}

/// The pairs of fences that `sync_fence` relates one way or the other.
pub(super) fn fences_to_order(m: &Builder) -> Rel<'_> {
    let fence_sc = m.tag(Tag::FenceSc);
    (scopes_include(m) & (fence_sc * fence_sc)) - m.tag(Tag::All).id()
}

/// The pairs of fences that it need not relate, and may.
pub(super) fn fences_left_free(m: &Builder) -> Rel<'_> {
    let fence_sc = m.tag(Tag::FenceSc);
    (fence_sc * fence_sc) - fences_to_order(m)
}
