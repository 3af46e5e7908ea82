//! The qualifiers of an instruction.
//!
//! They do not depend on positions in a text: a qualifier has its index among the dot-separated
//! parts of the instruction, where 0 is the opcode. `litmus` turns indices into spans.

use std::sync::LazyLock;

use model::isa::atom::AtomicOp;
use model::isa::{SpaceQualifier, Type, TypeKind};
use model::scope::Scope;

/// Whose instructions are read: those of the document, the untyped ones of the peer's tests, or
/// operations of C++ and LLVM IR.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dialect {
    Ptx,
    Peer,
    Cxx,
}

/// A value, and the position of the part that gives it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Positioned<T> {
    pub value: T,
    pub position: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OrderQualifier {
    Weak,
    Volatile,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    Sc,
}

impl OrderQualifier {
    /// As PTX spells it, without the dot.
    pub fn name(self) -> &'static str {
        match self {
            OrderQualifier::Weak => "weak",
            OrderQualifier::Volatile => "volatile",
            OrderQualifier::Relaxed => "relaxed",
            OrderQualifier::Acquire => "acquire",
            OrderQualifier::Release => "release",
            OrderQualifier::AcqRel => "acq_rel",
            OrderQualifier::Sc => "sc",
        }
    }
}

/// The request of a cache operator to the caches, without effect on the model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CacheOperator {
    /// `.ca .cg .cs`: of loads, with and without `.nc`; stores have the last two.
    Ca,
    Cg,
    Cs,
    /// `.lu .cv`: of coherent loads.
    Lu,
    Cv,
    /// `.wb .wt`: of stores.
    Wb,
    Wt,
}

/// One dot-separated part of an instruction, understood by its name alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Qualifier {
    Order(OrderQualifier),
    Mmio,
    Scope(Scope),
    /// `.gl` of `membar`.
    GpuLevel,
    Space(SpaceQualifier),
    Op(AtomicOp),
    Type(Type),
    /// `.v2`, `.v4`, `.v8`.
    Vector(u8),
    NonCoherent,
    Cache(CacheOperator),
    /// An eviction priority for L1.
    Level1,
    /// An eviction priority for L2.
    Level2,
    /// How many bytes to prefetch into L2; 32 is `.L1::32B`.
    Prefetch(u16),
    /// `.L2::cache_hint`: no effect, but one more operand.
    Policy,
    /// `.proxy::readonly`
    Readonly,
    /// `.noftz`
    NoFlush,
    /// Real PTX that the model does not cover: what it is.
    Outside(&'static str),
}

/// What sort of thing a [`Qualifier`] says; an instruction takes at most one of each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum QualifierKind {
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
    Level1,
    Level2,
    Prefetch,
    Policy,
    Readonly,
    NoFlush,
    Outside,
}

impl QualifierKind {
    pub fn name(self) -> &'static str {
        match self {
            QualifierKind::Order => "memory order",
            QualifierKind::Mmio => "`.mmio`",
            QualifierKind::Scope => "scope",
            QualifierKind::GpuLevel => "level",
            QualifierKind::Space => "state space",
            QualifierKind::Op => "operation",
            QualifierKind::Type => "type",
            QualifierKind::Vector => "vector size",
            QualifierKind::NonCoherent => "`.nc`",
            QualifierKind::Cache => "cache operator",
            QualifierKind::Level1 => "L1 eviction priority",
            QualifierKind::Level2 => "L2 eviction priority",
            QualifierKind::Prefetch => "prefetch size",
            QualifierKind::Policy => "cache policy",
            QualifierKind::Readonly => "`.proxy::readonly`",
            QualifierKind::NoFlush => "`.noftz`",
            QualifierKind::Outside => "qualifier",
        }
    }
}

const fn ty(kind: TypeKind, bits: u16) -> Qualifier {
    Qualifier::Type(Type { kind, bits })
}

const ASYNC: Qualifier = Qualifier::Outside("an asynchronous operation");

/// Every qualifier that some instruction of the model's takes or could take, without the dot.
pub const QUALIFIERS: &[(&str, Qualifier)] = &[
    ("weak", Qualifier::Order(OrderQualifier::Weak)),
    ("volatile", Qualifier::Order(OrderQualifier::Volatile)),
    ("relaxed", Qualifier::Order(OrderQualifier::Relaxed)),
    ("acquire", Qualifier::Order(OrderQualifier::Acquire)),
    ("release", Qualifier::Order(OrderQualifier::Release)),
    ("acq_rel", Qualifier::Order(OrderQualifier::AcqRel)),
    ("sc", Qualifier::Order(OrderQualifier::Sc)),
    ("mmio", Qualifier::Mmio),
    ("cta", Qualifier::Scope(Scope::Cta)),
    ("cluster", Qualifier::Scope(Scope::Cluster)),
    ("gpu", Qualifier::Scope(Scope::Gpu)),
    ("sys", Qualifier::Scope(Scope::Sys)),
    ("gl", Qualifier::GpuLevel),
    ("global", Qualifier::Space(SpaceQualifier::Global)),
    ("shared", Qualifier::Space(SpaceQualifier::Shared)),
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
    ("b128", ty(TypeKind::Bits, 128)),
    ("f16", ty(TypeKind::Float, 16)),
    ("f32", ty(TypeKind::Float, 32)),
    ("f64", ty(TypeKind::Float, 64)),
    ("f16x2", ty(TypeKind::FloatPair, 32)),
    ("bf16", ty(TypeKind::BFloat, 16)),
    ("bf16x2", ty(TypeKind::BFloatPair, 32)),
    ("v2", Qualifier::Vector(2)),
    ("v4", Qualifier::Vector(4)),
    ("v8", Qualifier::Vector(8)),
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
    ("ca", Qualifier::Cache(CacheOperator::Ca)),
    ("cg", Qualifier::Cache(CacheOperator::Cg)),
    ("cs", Qualifier::Cache(CacheOperator::Cs)),
    ("lu", Qualifier::Cache(CacheOperator::Lu)),
    ("cv", Qualifier::Cache(CacheOperator::Cv)),
    ("wb", Qualifier::Cache(CacheOperator::Wb)),
    ("wt", Qualifier::Cache(CacheOperator::Wt)),
    ("L1::evict_normal", Qualifier::Level1),
    ("L1::evict_unchanged", Qualifier::Level1),
    ("L1::evict_first", Qualifier::Level1),
    ("L1::evict_last", Qualifier::Level1),
    ("L1::no_allocate", Qualifier::Level1),
    ("L2::evict_normal", Qualifier::Level2),
    ("L2::evict_first", Qualifier::Level2),
    ("L2::evict_last", Qualifier::Level2),
    ("L1::32B", Qualifier::Prefetch(32)),
    ("L2::64B", Qualifier::Prefetch(64)),
    ("L2::128B", Qualifier::Prefetch(128)),
    ("L2::256B", Qualifier::Prefetch(256)),
    ("L2::cache_hint", Qualifier::Policy),
    ("const", Qualifier::Space(SpaceQualifier::Const)),
    ("param", Qualifier::Space(SpaceQualifier::Param)),
    ("param::entry", Qualifier::Space(SpaceQualifier::ParamEntry)),
    ("param::func", Qualifier::Space(SpaceQualifier::ParamFunc)),
    ("local", Qualifier::Space(SpaceQualifier::Local)),
    ("proxy::readonly", Qualifier::Readonly),
    ("noftz", Qualifier::NoFlush),
    ("async", ASYNC),
    ("mbarrier::complete_tx::bytes", ASYNC),
    ("mbarrier_init", Qualifier::Outside("an mbarrier")),
    ("sync_restrict::shared::cta", Qualifier::Outside("a fence for one state space")),
    ("sync_restrict::shared::cluster", Qualifier::Outside("a fence for one state space")),
    ("sync_restrict::shared::cluster::read", Qualifier::Outside("a fence for one state space")),
];

impl Qualifier {
    /// The qualifier written `.name`.
    pub fn named(name: &str) -> Option<Qualifier> {
        // A module has a million of them: a few are looked at by their length and two letters.
        fn bucket(name: &str) -> usize {
            let letter = |at: usize| usize::from(name.as_bytes().get(at).copied().unwrap_or(0));
            (name.len() * 23 + letter(0) * 5 + letter(name.len().wrapping_sub(1))) % 256
        }
        static BUCKETS: LazyLock<Vec<Vec<(&str, Qualifier)>>> = LazyLock::new(|| {
            let mut buckets = vec![Vec::new(); 256];
            for &(name, qualifier) in QUALIFIERS {
                buckets[bucket(name)].push((name, qualifier));
            }
            buckets
        });
        let found = BUCKETS[bucket(name)].iter().find(|(known, _)| *known == name);
        found.map(|(_, qualifier)| *qualifier)
    }

    pub fn kind(self) -> QualifierKind {
        match self {
            Qualifier::Order(_) => QualifierKind::Order,
            Qualifier::Mmio => QualifierKind::Mmio,
            Qualifier::Scope(_) => QualifierKind::Scope,
            Qualifier::GpuLevel => QualifierKind::GpuLevel,
            Qualifier::Space(_) => QualifierKind::Space,
            Qualifier::Op(_) => QualifierKind::Op,
            Qualifier::Type(_) => QualifierKind::Type,
            Qualifier::Vector(_) => QualifierKind::Vector,
            Qualifier::NonCoherent => QualifierKind::NonCoherent,
            Qualifier::Cache(_) => QualifierKind::Cache,
            Qualifier::Level1 => QualifierKind::Level1,
            Qualifier::Level2 => QualifierKind::Level2,
            Qualifier::Prefetch(_) => QualifierKind::Prefetch,
            Qualifier::Policy => QualifierKind::Policy,
            Qualifier::Readonly => QualifierKind::Readonly,
            Qualifier::NoFlush => QualifierKind::NoFlush,
            Qualifier::Outside(_) => QualifierKind::Outside,
        }
    }
}

/// The qualifiers of one instruction.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Qualifiers {
    pub order: Option<Positioned<OrderQualifier>>,
    pub mmio: Option<Positioned<()>>,
    pub scope: Option<Positioned<Scope>>,
    pub gpu_level: Option<Positioned<()>>,
    pub space: Option<Positioned<SpaceQualifier>>,
    pub op: Option<Positioned<AtomicOp>>,
    pub ty: Option<Positioned<Type>>,
    pub vector: Option<Positioned<u8>>,
    pub non_coherent: Option<Positioned<()>>,
    pub cache: Option<Positioned<CacheOperator>>,
    pub level1: Option<Positioned<()>>,
    pub level2: Option<Positioned<()>>,
    /// In bytes.
    pub prefetch: Option<Positioned<u16>>,
    pub policy: Option<Positioned<()>>,
    pub readonly: Option<Positioned<()>>,
    pub no_flush: Option<Positioned<()>>,
    pub outside: Option<Positioned<&'static str>>,
    /// How many parts there are, the opcode included: the position of one more.
    pub end: usize,
}

/// A part that cannot be read, before any rule is checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadQualifier {
    Unknown {
        position: usize,
    },
    /// Known, but of no use to this instruction.
    Foreign {
        position: usize,
        kind: QualifierKind,
    },
    /// A second one of its kind.
    Repeated {
        first: usize,
        second: usize,
        kind: QualifierKind,
    },
}

impl Qualifiers {
    /// Sorts the parts after the opcode by kind; `accepts` is what the instruction has a use for.
    pub fn read<'a>(
        parts: impl IntoIterator<Item = &'a str>,
        accepts: &[QualifierKind],
    ) -> (Qualifiers, Vec<BadQualifier>) {
        let mut read = Qualifiers { end: 1, ..Qualifiers::default() };
        let mut faults = Vec::new();
        for (index, part) in parts.into_iter().enumerate() {
            let position = index + 1;
            read.end = position + 1;
            let Some(qualifier) = Qualifier::named(part) else {
                faults.push(BadQualifier::Unknown { position });
                continue;
            };
            let kind = qualifier.kind();
            if kind != QualifierKind::Outside && !accepts.contains(&kind) {
                faults.push(BadQualifier::Foreign { position, kind });
            } else if let Some(first) = read.add(qualifier, position) {
                faults.push(BadQualifier::Repeated { first, second: position, kind });
            }
        }
        (read, faults)
    }

    /// The position of an earlier qualifier of the same kind, if there is one.
    fn add(&mut self, qualifier: Qualifier, position: usize) -> Option<usize> {
        fn set<T>(slot: &mut Option<Positioned<T>>, value: T, position: usize) -> Option<usize> {
            if slot.is_none() {
                *slot = Some(Positioned { value, position });
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
            Qualifier::Cache(operator) => set(&mut self.cache, operator, position),
            Qualifier::Level1 => set(&mut self.level1, (), position),
            Qualifier::Level2 => set(&mut self.level2, (), position),
            Qualifier::Prefetch(size) => set(&mut self.prefetch, size, position),
            Qualifier::Policy => set(&mut self.policy, (), position),
            Qualifier::Readonly => set(&mut self.readonly, (), position),
            Qualifier::NoFlush => set(&mut self.no_flush, (), position),
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
    fn types_are_named_as_the_model_names_them() {
        for (name, qualifier) in QUALIFIERS {
            if let Qualifier::Type(ty) = qualifier {
                assert_eq!(ty.name(), *name);
            }
        }
    }

    #[test]
    fn no_name_is_listed_twice() {
        for (index, (name, _)) in QUALIFIERS.iter().enumerate() {
            assert!(QUALIFIERS[..index].iter().all(|(earlier, _)| earlier != name), "{name}");
        }
    }

    #[test]
    fn a_second_scope_is_a_fault() {
        let (read, faults) = Qualifiers::read(
            ["relaxed", "gpu", "cta"],
            &[QualifierKind::Order, QualifierKind::Scope],
        );
        assert_eq!(read.scope, Some(Positioned { value: Scope::Gpu, position: 2 }));
        assert_eq!(
            faults,
            [BadQualifier::Repeated { first: 2, second: 3, kind: QualifierKind::Scope }]
        );
    }
}
