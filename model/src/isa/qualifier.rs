//! Qualifiers as an instruction writes them, and the rules that they can break.
//!
//! Nothing here knows where the text stands: a qualifier has its position among the dot-separated
//! parts of the instruction, where 0 is the opcode. `litmus` turns positions into spans.

use super::atom::AtomicOp;
use super::{SpaceQualifier, Type, TypeKind};
use crate::scope::Scope;
use crate::section::Section;

/// Whose instructions are read: those of the document, or the untyped ones of the peer's tests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dialect {
    Ptx,
    Peer,
}

/// A sentence of the document that an instruction can contradict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    pub code: &'static str,
    pub section: Section,
    pub text: &'static str,
}

impl Rule {
    pub fn broken_by(&'static self, position: usize, note: impl Into<String>) -> Invalid {
        Invalid { rule: self, position, note: note.into(), fix: Vec::new() }
    }
}

/// An instruction that breaks a rule: where, what is there, and what would be right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invalid {
    pub rule: &'static Rule,
    pub position: usize,
    pub note: String,
    pub fix: Vec<Edit>,
}

impl Invalid {
    #[must_use]
    pub fn fixed_by(mut self, fix: impl IntoIterator<Item = Edit>) -> Invalid {
        self.fix.extend(fix);
        self
    }
}

/// A change to one part; positions are those of the instruction as it was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edit {
    Replace(usize, &'static str),
    /// Before the part at this position.
    Insert(usize, &'static str),
    Remove(usize),
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
            match slot {
                Some(earlier) => Some(earlier.position),
                None => {
                    *slot = Some(At { value, position });
                    None
                }
            }
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

    /// `ld` and `st` share the shape of their rules: `strongest` is the order that only one has.
    pub(super) fn wrong_order(
        &self,
        order: &'static Rule,
        scope_missing: &'static Rule,
        scope_unused: &'static Rule,
        strongest: Order,
    ) -> Invalid {
        match (self.order, self.scope) {
            (Some(o), None) if o.value == Order::Relaxed || o.value == strongest => scope_missing
                .broken_by(o.position, "no scope is named")
                .fixed_by([Edit::Insert(o.position + 1, "gpu")]),
            (Some(o), Some(s)) if o.value == Order::Weak => scope_unused
                .broken_by(s.position, "a weak access has no scope")
                .fixed_by([Edit::Replace(o.position, Order::Relaxed.name())]),
            (Some(o), Some(s)) if o.value == Order::Volatile => scope_unused
                .broken_by(s.position, "a volatile access has the scope `.sys`")
                .fixed_by([Edit::Remove(s.position)]),
            (None, Some(s)) => scope_unused
                .broken_by(s.position, "without an order, the access is weak")
                .fixed_by([Edit::Insert(s.position, Order::Relaxed.name())]),
            (Some(o), scope) => {
                let fix = [Edit::Replace(o.position, strongest.name())];
                let more = scope.is_none().then_some(Edit::Insert(o.position + 1, "gpu"));
                order
                    .broken_by(o.position, format!("the order is `.{}`", o.value.name()))
                    .fixed_by(fix.into_iter().chain(more))
            }
            (None, None) => unreachable!("no order and no scope is a weak access"),
        }
    }

    pub(super) fn mmio_without_sys(
        &self,
        rule: &'static Rule,
        mmio: At<()>,
        strongest: Order,
    ) -> Invalid {
        let mut fix = Vec::new();
        let order_fits = |o: Order| o == Order::Relaxed || o == strongest;
        match self.order {
            Some(order) if order_fits(order.value) => {}
            Some(order) => fix.push(Edit::Replace(order.position, Order::Relaxed.name())),
            None => fix.push(Edit::Insert(mmio.position + 1, Order::Relaxed.name())),
        }
        match self.scope {
            Some(scope) if scope.value == Scope::Sys => {}
            Some(scope) => fix.push(Edit::Replace(scope.position, "sys")),
            None => fix.push(Edit::Insert(
                self.order.map_or(mmio.position, |order| order.position) + 1,
                "sys",
            )),
        }
        let invalid = match (self.scope, self.order) {
            (Some(scope), _) if scope.value != Scope::Sys => {
                rule.broken_by(scope.position, format!("the scope is `.{}`", scope.value))
            }
            (_, Some(order)) if !order_fits(order.value) => {
                rule.broken_by(order.position, format!("the order is `.{}`", order.value.name()))
            }
            (None, Some(order)) => rule.broken_by(order.position, "no scope is named"),
            (_, None) | (Some(_), Some(_)) => rule.broken_by(mmio.position, "no order is named"),
        };
        invalid.fixed_by(fix)
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
