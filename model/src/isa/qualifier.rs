//! Qualifiers as an instruction writes them.
//!
//! Nothing here knows where the text stands: a qualifier has its position among the dot-separated
//! parts of the instruction, where 0 is the opcode. `litmus` turns positions into spans.

use super::atom::AtomicOp;
use super::{SpaceQualifier, Type, TypeKind};
use crate::scope::Scope;

/// Whose instructions are read: those of the document, or the untyped ones of the peer's tests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dialect {
    Ptx,
    Peer,
}

/// A value, and the position of the part that gives it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct At<T> {
    pub value: T,
    pub position: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    Weak,
    Volatile,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    Sc,
}

impl Order {
    /// As PTX spells it, without the dot.
    pub fn name(self) -> &'static str {
        match self {
            Order::Weak => "weak",
            Order::Volatile => "volatile",
            Order::Relaxed => "relaxed",
            Order::Acquire => "acquire",
            Order::Release => "release",
            Order::AcqRel => "acq_rel",
            Order::Sc => "sc",
        }
    }
}

/// One dot-separated part of an instruction, understood by its name alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Qualifier {
    Order(Order),
    Mmio,
    Scope(Scope),
    /// `.gl` of `membar`.
    GpuLevel,
    Space(SpaceQualifier),
    Op(AtomicOp),
    Type(Type),
    /// `.v2`, `.v4`.
    Vector(u8),
    NonCoherent,
    /// `.ca`, `.cg`, …: only weak accesses take one.
    Cache,
    /// Eviction priority or prefetch size: no effect on the model.
    Hint,
    /// `.L2::cache_hint`: no effect, but one more operand.
    Policy,
    /// Real PTX that the model does not cover: what it is.
    Outside(&'static str),
}

/// What sort of thing a [`Qualifier`] says; an instruction takes at most one of each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    Order,
    Mmio,
    Scope,
    GpuLevel,
    Space,
    Op,
    Type,
    Vector,
    NonCoherent,
    Cache,
    Hint,
    Policy,
    Outside,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Order => "memory order",
            Kind::Mmio => "`.mmio`",
            Kind::Scope => "scope",
            Kind::GpuLevel => "level",
            Kind::Space => "state space",
            Kind::Op => "operation",
            Kind::Type => "type",
            Kind::Vector => "vector size",
            Kind::NonCoherent => "`.nc`",
            Kind::Cache => "cache operator",
            Kind::Hint => "cache hint",
            Kind::Policy => "cache policy",
            Kind::Outside => "qualifier",
        }
    }
}

const fn ty(kind: TypeKind, bits: u16) -> Qualifier {
    Qualifier::Type(Type { kind, bits })
}

const LOCAL: Qualifier = Qualifier::Outside("a state space that threads do not share");
const PACKED: Qualifier = Qualifier::Outside("a packed or reduced-precision type");
const WIDE: Qualifier = Qualifier::Outside("an access wider than 64 bits");
const ASYNC: Qualifier = Qualifier::Outside("an asynchronous operation");

/// Every qualifier that some instruction of the model's takes or could take, without the dot.
pub const QUALIFIERS: &[(&str, Qualifier)] = &[
    ("weak", Qualifier::Order(Order::Weak)),
    ("volatile", Qualifier::Order(Order::Volatile)),
    ("relaxed", Qualifier::Order(Order::Relaxed)),
    ("acquire", Qualifier::Order(Order::Acquire)),
    ("release", Qualifier::Order(Order::Release)),
    ("acq_rel", Qualifier::Order(Order::AcqRel)),
    ("sc", Qualifier::Order(Order::Sc)),
    ("mmio", Qualifier::Mmio),
    ("cta", Qualifier::Scope(Scope::Cta)),
    ("cluster", Qualifier::Scope(Scope::Cluster)),
    ("gpu", Qualifier::Scope(Scope::Gpu)),
    ("sys", Qualifier::Scope(Scope::Sys)),
    ("gl", Qualifier::GpuLevel),
    ("global", Qualifier::Space(SpaceQualifier::Global)),
    ("shared", Qualifier::Space(SpaceQualifier::SharedCta)),
    ("shared::cta", Qualifier::Space(SpaceQualifier::SharedCta)),
    ("shared::cluster", Qualifier::Space(SpaceQualifier::SharedCluster)),
    ("u8", ty(TypeKind::Unsigned, 8)),
    ("u16", ty(TypeKind::Unsigned, 16)),
    ("u32", ty(TypeKind::Unsigned, 32)),
    ("u64", ty(TypeKind::Unsigned, 64)),
    ("s8", ty(TypeKind::Signed, 8)),
    ("s16", ty(TypeKind::Signed, 16)),
    ("s32", ty(TypeKind::Signed, 32)),
    ("s64", ty(TypeKind::Signed, 64)),
    ("b8", ty(TypeKind::Bits, 8)),
    ("b16", ty(TypeKind::Bits, 16)),
    ("b32", ty(TypeKind::Bits, 32)),
    ("b64", ty(TypeKind::Bits, 64)),
    ("f32", ty(TypeKind::Float, 32)),
    ("f64", ty(TypeKind::Float, 64)),
    ("v2", Qualifier::Vector(2)),
    ("v4", Qualifier::Vector(4)),
    ("add", Qualifier::Op(AtomicOp::Add)),
    ("sub", Qualifier::Op(AtomicOp::Sub)),
    ("and", Qualifier::Op(AtomicOp::And)),
    ("or", Qualifier::Op(AtomicOp::Or)),
    ("xor", Qualifier::Op(AtomicOp::Xor)),
    ("min", Qualifier::Op(AtomicOp::Min)),
    ("max", Qualifier::Op(AtomicOp::Max)),
    ("inc", Qualifier::Op(AtomicOp::Inc)),
    ("dec", Qualifier::Op(AtomicOp::Dec)),
    ("exch", Qualifier::Op(AtomicOp::Exch)),
    ("cas", Qualifier::Op(AtomicOp::Cas)),
    ("nc", Qualifier::NonCoherent),
    ("ca", Qualifier::Cache),
    ("cg", Qualifier::Cache),
    ("cs", Qualifier::Cache),
    ("lu", Qualifier::Cache),
    ("cv", Qualifier::Cache),
    ("wb", Qualifier::Cache),
    ("wt", Qualifier::Cache),
    ("L1::evict_normal", Qualifier::Hint),
    ("L1::evict_unchanged", Qualifier::Hint),
    ("L1::evict_first", Qualifier::Hint),
    ("L1::evict_last", Qualifier::Hint),
    ("L1::no_allocate", Qualifier::Hint),
    ("L2::evict_normal", Qualifier::Hint),
    ("L2::evict_first", Qualifier::Hint),
    ("L2::evict_last", Qualifier::Hint),
    ("L2::64B", Qualifier::Hint),
    ("L2::128B", Qualifier::Hint),
    ("L2::256B", Qualifier::Hint),
    ("L2::cache_hint", Qualifier::Policy),
    ("const", LOCAL),
    ("param", LOCAL),
    ("param::entry", LOCAL),
    ("param::func", LOCAL),
    ("local", LOCAL),
    ("unified", Qualifier::Outside("a unified address")),
    ("proxy::readonly", Qualifier::Outside("the readonly proxy")),
    ("b128", WIDE),
    ("v8", WIDE),
    ("f16", PACKED),
    ("f16x2", PACKED),
    ("bf16", PACKED),
    ("bf16x2", PACKED),
    ("noftz", PACKED),
    ("async", ASYNC),
    ("mbarrier::complete_tx::bytes", ASYNC),
    ("mbarrier_init", Qualifier::Outside("an mbarrier")),
    ("sync_restrict::shared::cta", Qualifier::Outside("a fence for one state space")),
    ("sync_restrict::shared::cluster", Qualifier::Outside("a fence for one state space")),
];

impl Qualifier {
    /// The qualifier written `.name`.
    pub fn named(name: &str) -> Option<Qualifier> {
        QUALIFIERS.iter().find(|(known, _)| *known == name).map(|&(_, qualifier)| qualifier)
    }

    pub fn kind(self) -> Kind {
        match self {
            Qualifier::Order(_) => Kind::Order,
            Qualifier::Mmio => Kind::Mmio,
            Qualifier::Scope(_) => Kind::Scope,
            Qualifier::GpuLevel => Kind::GpuLevel,
            Qualifier::Space(_) => Kind::Space,
            Qualifier::Op(_) => Kind::Op,
            Qualifier::Type(_) => Kind::Type,
            Qualifier::Vector(_) => Kind::Vector,
            Qualifier::NonCoherent => Kind::NonCoherent,
            Qualifier::Cache => Kind::Cache,
            Qualifier::Hint => Kind::Hint,
            Qualifier::Policy => Kind::Policy,
            Qualifier::Outside(_) => Kind::Outside,
        }
    }
}

/// The qualifiers of one instruction.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Qualifiers {
    pub order: Option<At<Order>>,
    pub mmio: Option<At<()>>,
    pub scope: Option<At<Scope>>,
    pub gpu_level: Option<At<()>>,
    pub space: Option<At<SpaceQualifier>>,
    pub op: Option<At<AtomicOp>>,
    pub ty: Option<At<Type>>,
    pub vector: Option<At<u8>>,
    pub non_coherent: Option<At<()>>,
    pub cache: Option<At<()>>,
    pub policy: Option<At<()>>,
    pub outside: Option<At<&'static str>>,
    /// How many parts there are, the opcode included: the position of one more.
    pub end: usize,
}

/// A part that cannot be taken, before any rule is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    Unknown {
        position: usize,
    },
    /// Known, but of no use to this instruction.
    Foreign {
        position: usize,
        kind: Kind,
    },
    /// A second one of its kind.
    Repeated {
        first: usize,
        second: usize,
        kind: Kind,
    },
}

impl Qualifiers {
    /// Sorts the parts after the opcode by kind; `accepts` is what the instruction has a use for.
    pub fn read<'a>(
        parts: impl IntoIterator<Item = &'a str>,
        accepts: &[Kind],
    ) -> (Qualifiers, Vec<Fault>) {
        let mut read = Qualifiers { end: 1, ..Qualifiers::default() };
        let mut faults = Vec::new();
        for (index, part) in parts.into_iter().enumerate() {
            let position = index + 1;
            read.end = position + 1;
            let Some(qualifier) = Qualifier::named(part) else {
                faults.push(Fault::Unknown { position });
                continue;
            };
            let kind = qualifier.kind();
            if kind != Kind::Outside && !accepts.contains(&kind) {
                faults.push(Fault::Foreign { position, kind });
            } else if let Some(first) = read.add(qualifier, position) {
                faults.push(Fault::Repeated { first, second: position, kind });
            }
        }
        (read, faults)
    }

    /// The position of an earlier qualifier of the same kind, if there is one.
    fn add(&mut self, qualifier: Qualifier, position: usize) -> Option<usize> {
        fn set<T>(slot: &mut Option<At<T>>, value: T, position: usize) -> Option<usize> {
            if slot.is_none() {
                *slot = Some(At { value, position });
                return None;
            }
            slot.as_ref().map(|earlier| earlier.position)
        }
        match qualifier {
            Qualifier::Order(order) => set(&mut self.order, order, position),
            Qualifier::Mmio => set(&mut self.mmio, (), position),
            Qualifier::Scope(scope) => set(&mut self.scope, scope, position),
            Qualifier::GpuLevel => set(&mut self.gpu_level, (), position),
            Qualifier::Space(space) => set(&mut self.space, space, position),
            Qualifier::Op(op) => set(&mut self.op, op, position),
            Qualifier::Type(ty) => set(&mut self.ty, ty, position),
            Qualifier::Vector(length) => set(&mut self.vector, length, position),
            Qualifier::NonCoherent => set(&mut self.non_coherent, (), position),
            Qualifier::Cache => set(&mut self.cache, (), position),
            Qualifier::Policy => set(&mut self.policy, (), position),
            Qualifier::Hint => None,
            Qualifier::Outside(what) => {
                set(&mut self.outside, what, position);
                None
            }
        }
    }

    pub fn space(&self) -> SpaceQualifier {
        self.space.map_or(SpaceQualifier::Generic, |space| space.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_listed_twice() {
        for (index, (name, _)) in QUALIFIERS.iter().enumerate() {
            assert!(QUALIFIERS[..index].iter().all(|(earlier, _)| earlier != name), "{name}");
        }
    }

    #[test]
    fn a_second_scope_is_a_fault() {
        let (read, faults) =
            Qualifiers::read(["relaxed", "gpu", "cta"], &[Kind::Order, Kind::Scope]);
        assert_eq!(read.scope, Some(At { value: Scope::Gpu, position: 2 }));
        assert_eq!(faults, [Fault::Repeated { first: 2, second: 3, kind: Kind::Scope }]);
    }
}
