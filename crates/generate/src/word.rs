//! The words of a cycle: how an access is ordered, and what leads from one access to the next.

use std::fmt;

use model::isa::atom::AtomicOrder;
use model::isa::fence::FenceOrder;
use model::memory::Proxy;
use model::scope::Scope;
use model::strength::{AccessOrder, OperationKind, Strength};

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Direction {
    Read,
    Write,
}

impl Direction {
    /// As the names of edges have it.
    pub fn letter(self) -> char {
        match self {
            Direction::Read => 'R',
            Direction::Write => 'W',
        }
    }

    fn kind(self) -> OperationKind {
        match self {
            Direction::Read => OperationKind::Load,
            Direction::Write => OperationKind::Store,
        }
    }
}

/// How an access takes part in the model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CycleAnnotation {
    Weak,
    Volatile,
    Relaxed(Scope),
    /// Of reads.
    Acquire(Scope),
    /// Of writes.
    Release(Scope),
    /// Of atomics, which can also be any of the three before.
    AcqRel(Scope),
    /// `.mmio.relaxed.sys`
    Mmio,
    MmioAcquire,
    MmioRelease,
}

impl CycleAnnotation {
    /// Every annotation, weaker ones first.
    pub fn all() -> impl Iterator<Item = CycleAnnotation> {
        let scoped = |of: fn(Scope) -> CycleAnnotation| Scope::ALL.into_iter().map(of);
        let first = [CycleAnnotation::Weak, CycleAnnotation::Volatile];
        let last =
            [CycleAnnotation::Mmio, CycleAnnotation::MmioAcquire, CycleAnnotation::MmioRelease];
        first
            .into_iter()
            .chain(scoped(CycleAnnotation::Relaxed))
            .chain(scoped(CycleAnnotation::Acquire))
            .chain(scoped(CycleAnnotation::Release))
            .chain(scoped(CycleAnnotation::AcqRel))
            .chain(last)
    }

    /// Whether an access in this direction can have it.
    pub fn fits(self, direction: Direction) -> bool {
        match self {
            CycleAnnotation::Acquire(_) | CycleAnnotation::MmioAcquire => {
                direction == Direction::Read
            }
            CycleAnnotation::Release(_) | CycleAnnotation::MmioRelease => {
                direction == Direction::Write
            }
            CycleAnnotation::Weak
            | CycleAnnotation::Volatile
            | CycleAnnotation::Relaxed(_)
            | CycleAnnotation::Mmio => true,
            CycleAnnotation::AcqRel(_) => false,
        }
    }

    /// Whether an atomic can have it.
    pub fn fits_atomic(self) -> bool {
        match self {
            CycleAnnotation::Relaxed(_)
            | CycleAnnotation::Acquire(_)
            | CycleAnnotation::Release(_)
            | CycleAnnotation::AcqRel(_) => true,
            CycleAnnotation::Weak
            | CycleAnnotation::Volatile
            | CycleAnnotation::Mmio
            | CycleAnnotation::MmioAcquire
            | CycleAnnotation::MmioRelease => false,
        }
    }

    /// The word in a cycle: `ReleaseGpu`, `MmioAcquire`.
    pub fn word(self) -> String {
        capitalized(&self.name())
    }

    /// The part of the name of a test, and of a range: `release.gpu`, `mmio.acquire`.
    pub fn name(self) -> String {
        match self {
            CycleAnnotation::Weak => "weak".to_owned(),
            CycleAnnotation::Volatile => "volatile".to_owned(),
            CycleAnnotation::Relaxed(scope) => format!("relaxed.{scope}"),
            CycleAnnotation::Acquire(scope) => format!("acquire.{scope}"),
            CycleAnnotation::Release(scope) => format!("release.{scope}"),
            CycleAnnotation::AcqRel(scope) => format!("acq_rel.{scope}"),
            CycleAnnotation::Mmio => "mmio".to_owned(),
            CycleAnnotation::MmioAcquire => "mmio.acquire".to_owned(),
            CycleAnnotation::MmioRelease => "mmio.release".to_owned(),
        }
    }

    /// Whether it is for device memory that is mapped.
    pub fn is_mmio(self) -> bool {
        matches!(
            self,
            CycleAnnotation::Mmio | CycleAnnotation::MmioAcquire | CycleAnnotation::MmioRelease
        )
    }

    fn strength(self, direction: Direction) -> Strength {
        let (order, scope) = match self {
            CycleAnnotation::Weak => (AccessOrder::Weak, Scope::Sys),
            CycleAnnotation::Relaxed(scope) => (AccessOrder::Relaxed, scope),
            CycleAnnotation::Acquire(scope) => (AccessOrder::Acquire, scope),
            CycleAnnotation::Release(scope) => (AccessOrder::Release, scope),
            CycleAnnotation::AcqRel(scope) => (AccessOrder::AcqRel, scope),
            CycleAnnotation::Volatile | CycleAnnotation::Mmio => (AccessOrder::Relaxed, Scope::Sys),
            CycleAnnotation::MmioAcquire => (AccessOrder::Acquire, Scope::Sys),
            CycleAnnotation::MmioRelease => (AccessOrder::Release, Scope::Sys),
        };
        Strength::new(direction.kind(), order, scope)
    }

    /// Whether it promises all that the other does, for accesses in one direction. `.volatile` is relaxed at
    /// system scope (reading R5); `.mmio` is compared with weak and other `.mmio` only.
    pub fn includes(self, other: CycleAnnotation, direction: Direction) -> bool {
        let alike = self.is_mmio() == other.is_mmio() || other == CycleAnnotation::Weak;
        alike && self.strength(direction).includes(other.strength(direction))
    }
}

impl fmt::Display for CycleAnnotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// `acq_rel.gpu` as a word: `AcqRelGpu`.
pub(crate) fn capitalized(name: &str) -> String {
    let mut out = String::new();
    let mut begins = true;
    for c in name.chars() {
        match c {
            '.' | '_' => begins = true,
            _ if begins => {
                out.extend(c.to_uppercase());
                begins = false;
            }
            _ => out.push(c),
        }
    }
    out
}

/// How one access is from another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Communication {
    /// The second access reads what the first wrote.
    Rf,
    /// The second access overwrites what the first read.
    Fr,
    /// The second access overwrites what the first wrote.
    Co,
    /// The first access reads what the second wrote.
    InvRf,
}

impl Communication {
    pub const ALL: [Communication; 4] =
        [Communication::Rf, Communication::Fr, Communication::Co, Communication::InvRf];

    /// Which one leads forward from an access in one direction to one in another; none between reads.
    pub fn between(first: Direction, second: Direction) -> Option<Communication> {
        match (first, second) {
            (Direction::Write, Direction::Read) => Some(Communication::Rf),
            (Direction::Read, Direction::Write) => Some(Communication::Fr),
            (Direction::Write, Direction::Write) => Some(Communication::Co),
            (Direction::Read, Direction::Read) => None,
        }
    }

    pub fn ends(self) -> (Direction, Direction) {
        match self {
            Communication::Rf => (Direction::Write, Direction::Read),
            Communication::Fr | Communication::InvRf => (Direction::Read, Direction::Write),
            Communication::Co => (Direction::Write, Direction::Write),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Communication::Rf => "Rf",
            Communication::Fr => "Fr",
            Communication::Co => "Co",
            Communication::InvRf => "InvRf",
        }
    }
}

/// What is between two accesses of a thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Via {
    /// Nothing: program order alone.
    Plain,
    /// The address of the second depends on the value of the first.
    Addr,
    /// The value of the second depends on that of the first.
    Data,
    /// The second is executed if the first read what the cycle says.
    Ctrl,
    /// The value of the second is computed from that of the first, which cancels out.
    Fake,
    Fence(FenceOrder, Scope),
    /// `fence.proxy.alias`
    AliasFence,
    /// A fence of the texture, surface or constant proxy.
    ProxyFence(Proxy),
    /// `bar.sync 0`
    Barrier,
    /// `barrier.cluster.arrive` and `barrier.cluster.wait`
    ClusterBarrier,
    /// `atom.cas` on the location of the second, which never finds the value that it compares with.
    FailedCas(AtomicOrder, Scope),
}

impl Via {
    /// Every way, weaker ones first.
    pub fn all() -> impl Iterator<Item = Via> {
        const ORDERS: [FenceOrder; 4] =
            [FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::Sc];
        const CAS: [AtomicOrder; 4] =
            [AtomicOrder::Relaxed, AtomicOrder::Acquire, AtomicOrder::Release, AtomicOrder::AcqRel];
        let fences = ORDERS
            .into_iter()
            .flat_map(|order| Scope::ALL.into_iter().map(move |scope| Via::Fence(order, scope)));
        let cas = CAS.into_iter().flat_map(|order| {
            Scope::ALL.into_iter().map(move |scope| Via::FailedCas(order, scope))
        });
        [Via::Plain, Via::Addr, Via::Data, Via::Ctrl, Via::Fake]
            .into_iter()
            .chain(fences)
            .chain([Via::AliasFence])
            .chain([Proxy::Texture, Proxy::Surface, Proxy::Constant].map(Via::ProxyFence))
            .chain([Via::Barrier, Via::ClusterBarrier])
            .chain(cas)
    }

    /// Whether it can be between accesses in these directions.
    pub fn fits(self, from: Direction, to: Direction) -> bool {
        let of_value = matches!(self, Via::Data | Via::Fake);
        !self.is_dependency() || from == Direction::Read && (to == Direction::Write || !of_value)
    }

    /// Whether it is a dependency on a read.
    fn is_dependency(self) -> bool {
        matches!(self, Via::Addr | Via::Data | Via::Ctrl | Via::Fake)
    }

    /// The part of the name of a test; ranges have the same.
    pub fn name(self) -> String {
        match self {
            Via::Plain => "po".to_owned(),
            Via::Addr => "addr".to_owned(),
            Via::Data => "data".to_owned(),
            Via::Ctrl => "ctrl".to_owned(),
            Via::Fake => "fake".to_owned(),
            Via::Fence(order, scope) => format!("fence.{}.{scope}", order.name()),
            Via::AliasFence => "fence.proxy.alias".to_owned(),
            Via::ProxyFence(proxy) => format!("fence.proxy.{proxy}"),
            Via::Barrier => "bar.sync".to_owned(),
            Via::ClusterBarrier => "barrier.cluster".to_owned(),
            Via::FailedCas(order, scope) => {
                format!("cas.{}.{scope}", AccessOrder::from(order).name())
            }
        }
    }

    /// The word of an edge, without location and directions: `Po`, `DpAddr`, `FenceScGpu`.
    pub fn word(self) -> String {
        let dependency = if self.is_dependency() { "Dp" } else { "" };
        format!("{dependency}{}", capitalized(&self.name()))
    }

    /// Whether it promises all that the other does.
    pub fn includes(self, other: Via) -> bool {
        let strength = |via: Via| {
            if let Via::Fence(order, scope) = via {
                Some(Strength::new(OperationKind::Fence, order.into(), scope))
            } else if let Via::FailedCas(order, scope) = via {
                Some(Strength::new(OperationKind::Atomic, order.into(), scope))
            } else {
                None
            }
        };
        let alike = matches!(self, Via::FailedCas(..)) == matches!(other, Via::FailedCas(..));
        self == other
            || other == Via::Plain
            || (self, other) == (Via::Data, Via::Fake)
            || alike
                && strength(self)
                    .zip(strength(other))
                    .is_some_and(|(one, other)| one.includes(other))
    }
}

impl fmt::Display for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// What leads from an access to the next one of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Link {
    /// Program order, to the same location or to another one.
    Order { same: bool, via: Via },
    /// The two are the read and the write of one atomic.
    Rmw,
    /// The two are the write and the read of one atomic.
    InvRmw,
    /// The second access is of the same thread, or of the next one.
    Communicates { how: Communication, external: bool },
}

impl Link {
    pub fn is_external(self) -> bool {
        matches!(self, Link::Communicates { external: true, .. })
    }

    /// Whether the first access reads what the second wrote.
    pub fn is_inverse(self) -> bool {
        matches!(self, Link::Communicates { how: Communication::InvRf, .. })
    }

    /// Whether both accesses are of one atomic.
    pub fn is_atomic(self) -> bool {
        matches!(self, Link::Rmw | Link::InvRmw)
    }

    /// Whether the second access is to another location.
    pub fn changes_location(self) -> bool {
        matches!(self, Link::Order { same: false, .. })
    }

    /// The word of an edge between accesses in these directions.
    pub fn word(self, from: Direction, to: Direction) -> String {
        match self {
            Link::Order { same, via } => {
                let same = if same { 's' } else { 'd' };
                // The first access of a dependency is a read.
                let from =
                    if via.is_dependency() { String::new() } else { from.letter().to_string() };
                format!("{}{same}{from}{}", via.word(), to.letter())
            }
            Link::Rmw => "Rmw".to_owned(),
            Link::InvRmw => "InvRmw".to_owned(),
            Link::Communicates { how, external } => {
                format!("{}{}", how.name(), if external { 'e' } else { 'i' })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_field() {
        let [r, w] = [Direction::Read, Direction::Write];
        let order = |via| Link::Order { same: false, via };
        assert_eq!(order(Via::Plain).word(w, r), "PodWR");
        assert_eq!(order(Via::Addr).word(r, w), "DpAddrdW");
        assert_eq!(order(Via::Fence(FenceOrder::Sc, Scope::Gpu)).word(w, r), "FenceScGpudWR");
        assert_eq!(
            Link::Order { same: true, via: Via::Fence(FenceOrder::AcqRel, Scope::Cta) }.word(r, r),
            "FenceAcqRelCtasRR"
        );
        let how = Communication::Rf;
        assert_eq!(Link::Communicates { how, external: true }.word(w, r), "Rfe");
        assert_eq!(CycleAnnotation::Release(Scope::Cluster).word(), "ReleaseCluster");
    }

    #[test]
    fn strengths_are_a_partial_order() {
        let [acquire, relaxed] =
            [CycleAnnotation::Acquire(Scope::Cta), CycleAnnotation::Relaxed(Scope::Sys)];
        assert!(!acquire.includes(relaxed, Direction::Read));
        assert!(!relaxed.includes(acquire, Direction::Read));
        assert!(CycleAnnotation::Acquire(Scope::Sys).includes(relaxed, Direction::Read));
        for all in [CycleAnnotation::all().collect::<Vec<_>>()] {
            for a in &all {
                assert!(a.includes(*a, Direction::Read), "{a}");
                assert!(a.includes(CycleAnnotation::Weak, Direction::Write), "{a}");
            }
        }
        assert!(Via::Fence(FenceOrder::Sc, Scope::Gpu).includes(Via::Plain));
        assert!(!Via::Fence(FenceOrder::Sc, Scope::Gpu).includes(Via::Data));
    }
}
