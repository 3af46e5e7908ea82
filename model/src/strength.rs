//! How strong an operation is: its next weaker and next stronger forms.
//!
//! An order and a scope each give a set of guarantees, and one form is stronger than another if it gives more. A
//! next form is one with no other form between.

use crate::isa::Instruction;
use crate::isa::asynchronous::{Asynchronous, Mbarrier, MbarrierOp};
use crate::isa::atom::{Atomic, AtomicOrder};
use crate::isa::cxx::Cxx;
use crate::isa::fence::{Fence, FenceOrder};
use crate::isa::ld::{Load, LoadOrder};
use crate::isa::multimem::MultimemOp;
use crate::isa::st::{Store, StoreOrder};
use crate::scope::Scope;

/// An order of an access, of any of the languages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AccessOrder {
    /// Plain in C++, weak in PTX.
    Weak,
    /// Of LLVM only.
    Unordered,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    /// Of C++ and LLVM only.
    SeqCst,
}

/// What is compared: forms are ordered by inclusion of what they guarantee.
trait Guarantees: Copy {
    fn guarantees(self) -> u8;

    fn covers(self, other: Self) -> bool {
        self.guarantees() & other.guarantees() == other.guarantees()
    }

    fn exceeds(self, other: Self) -> bool {
        self.covers(other) && !other.covers(self)
    }

    /// Of these, the next weaker ones, in their order.
    fn next_below(self, all: &[Self]) -> impl Iterator<Item = Self> {
        let below = all.iter().copied().filter(move |one| self.exceeds(*one));
        let hidden = move |one: Self| all.iter().any(|&b| self.exceeds(b) && b.exceeds(one));
        below.filter(move |one| !hidden(*one))
    }

    /// Of these, the next stronger ones, in their order.
    fn next_above(self, all: &[Self]) -> impl Iterator<Item = Self> {
        let above = all.iter().copied().filter(move |one| one.exceeds(self));
        let hidden = move |one: Self| all.iter().any(|&b| b.exceeds(self) && one.exceeds(b));
        above.filter(move |one| !hidden(*one))
    }
}

impl Guarantees for AccessOrder {
    fn guarantees(self) -> u8 {
        match self {
            AccessOrder::Weak => 0,
            AccessOrder::Unordered => 0b1,
            AccessOrder::Relaxed => 0b11,
            AccessOrder::Acquire => 0b111,
            AccessOrder::Release => 0b1011,
            AccessOrder::AcqRel => 0b1111,
            AccessOrder::SeqCst => 0b1_1111,
        }
    }
}

impl Guarantees for Scope {
    fn guarantees(self) -> u8 {
        match self {
            Scope::Cta => 0b1,
            Scope::Cluster => 0b11,
            Scope::Gpu => 0b111,
            Scope::Sys => 0b1111,
        }
    }
}

impl AccessOrder {
    /// As C++ names it, and PTX where it has it.
    pub fn name(self) -> &'static str {
        match self {
            AccessOrder::Weak => "weak",
            AccessOrder::Unordered => "unordered",
            AccessOrder::Relaxed => "relaxed",
            AccessOrder::Acquire => "acquire",
            AccessOrder::Release => "release",
            AccessOrder::AcqRel => "acq_rel",
            AccessOrder::SeqCst => "seq_cst",
        }
    }

    /// The order in the words of C++ and LLVM IR.
    pub fn in_cxx(self, cxx: Cxx) -> AccessOrder {
        match cxx {
            Cxx { seq_cst: true, .. } => AccessOrder::SeqCst,
            Cxx { unordered: true, .. } => AccessOrder::Unordered,
            Cxx { .. } => self,
        }
    }

    pub fn is_acquire(self) -> bool {
        self.covers(AccessOrder::Acquire)
    }

    pub fn is_release(self) -> bool {
        self.covers(AccessOrder::Release)
    }

    /// Of a load with this order, which no release is.
    pub fn load(self, scope: Scope) -> LoadOrder {
        if self == AccessOrder::Weak {
            LoadOrder::Weak
        } else if self.is_acquire() {
            LoadOrder::Acquire(scope)
        } else {
            LoadOrder::Relaxed(scope)
        }
    }

    /// Of a store with this order, which no acquire is.
    pub fn store(self, scope: Scope) -> StoreOrder {
        if self == AccessOrder::Weak {
            StoreOrder::Weak
        } else if self.is_release() {
            StoreOrder::Release(scope)
        } else {
            StoreOrder::Relaxed(scope)
        }
    }

    /// Of an atomic with this order, which is never weak.
    pub fn atomic(self) -> AtomicOrder {
        match (self.is_acquire(), self.is_release()) {
            (true, true) => AtomicOrder::AcqRel,
            (true, false) => AtomicOrder::Acquire,
            (false, true) => AtomicOrder::Release,
            (false, false) => AtomicOrder::Relaxed,
        }
    }

    /// Of a fence; none that orders nothing.
    pub fn fence(self) -> Option<FenceOrder> {
        Some(match self {
            AccessOrder::Weak | AccessOrder::Unordered | AccessOrder::Relaxed => return None,
            AccessOrder::Acquire => FenceOrder::Acquire,
            AccessOrder::Release => FenceOrder::Release,
            AccessOrder::AcqRel => FenceOrder::AcqRel,
            AccessOrder::SeqCst => FenceOrder::Sc,
        })
    }
}

impl From<LoadOrder> for AccessOrder {
    fn from(order: LoadOrder) -> AccessOrder {
        match order.scope() {
            None => AccessOrder::Weak,
            Some(_) if order.is_acquire() => AccessOrder::Acquire,
            Some(_) => AccessOrder::Relaxed,
        }
    }
}

impl From<StoreOrder> for AccessOrder {
    fn from(order: StoreOrder) -> AccessOrder {
        match order.scope() {
            None => AccessOrder::Weak,
            Some(_) if order.is_release() => AccessOrder::Release,
            Some(_) => AccessOrder::Relaxed,
        }
    }
}

impl From<AtomicOrder> for AccessOrder {
    fn from(order: AtomicOrder) -> AccessOrder {
        match order {
            AtomicOrder::Relaxed => AccessOrder::Relaxed,
            AtomicOrder::Acquire => AccessOrder::Acquire,
            AtomicOrder::Release => AccessOrder::Release,
            AtomicOrder::AcqRel => AccessOrder::AcqRel,
        }
    }
}

impl From<FenceOrder> for AccessOrder {
    fn from(order: FenceOrder) -> AccessOrder {
        match order {
            FenceOrder::Acquire => AccessOrder::Acquire,
            FenceOrder::Release => AccessOrder::Release,
            FenceOrder::AcqRel => AccessOrder::AcqRel,
            FenceOrder::Sc => AccessOrder::SeqCst,
        }
    }
}

/// What an operation does, as far as it says which orders it may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperationKind {
    Load,
    Store,
    Atomic,
    /// `red`, whose read value is not returned.
    Reduction,
    Fence,
    /// An arrival on an mbarrier object.
    Arrival,
    /// A wait for a phase of an mbarrier object.
    PhaseWait,
}

/// Which forms of operations there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KnownForms {
    /// Scope `.cluster`: from `sm_90`.
    pub clusters: bool,
    /// `fence.acquire` and `fence.release`: from `sm_90` and PTX ISA 8.6.
    pub one_way_fences: bool,
    /// Whether a load or a store may be weak. Who asks has to try executions in which it is torn.
    pub weak: bool,
}

impl KnownForms {
    fn scopes(self, kind: OperationKind) -> &'static [Scope] {
        const WITHOUT: [Scope; 3] = [Scope::Cta, Scope::Gpu, Scope::Sys];
        const SHARED: [Scope; 2] = [Scope::Cta, Scope::Cluster];
        match (kind, self.clusters) {
            (OperationKind::Arrival | OperationKind::PhaseWait, true) => &SHARED,
            (OperationKind::Arrival | OperationKind::PhaseWait, false) => &SHARED[..1],
            (_, true) => &Scope::ALL,
            (_, false) => &WITHOUT,
        }
    }

    /// The orders of a kind of operation, weaker ones first.
    fn orders(self, kind: OperationKind) -> &'static [AccessOrder] {
        use AccessOrder as O;
        let (all, first): (&[AccessOrder], usize) = match kind {
            OperationKind::Load => (&[O::Weak, O::Relaxed, O::Acquire], usize::from(!self.weak)),
            OperationKind::Store => (&[O::Weak, O::Relaxed, O::Release], usize::from(!self.weak)),
            OperationKind::Atomic => (&[O::Relaxed, O::Acquire, O::Release, O::AcqRel], 0),
            OperationKind::Reduction | OperationKind::Arrival => (&[O::Relaxed, O::Release], 0),
            OperationKind::PhaseWait => (&[O::Relaxed, O::Acquire], 0),
            OperationKind::Fence if self.one_way_fences => {
                (&[O::Acquire, O::Release, O::AcqRel, O::SeqCst], 0)
            }
            OperationKind::Fence => (&[O::AcqRel, O::SeqCst], 0),
        };
        &all[first..]
    }
}

/// An operation, as far as it orders others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strength {
    pub kind: OperationKind,
    pub order: AccessOrder,
    /// That of the system where the order is weak, which has none.
    pub scope: Scope,
}

impl Strength {
    pub fn new(kind: OperationKind, order: AccessOrder, scope: Scope) -> Strength {
        let scope = if order == AccessOrder::Weak { Scope::Sys } else { scope };
        Strength { kind, order, scope }
    }

    /// The strength of an instruction; `None` if it orders nothing, or reads memory that must not be written.
    pub fn of(instruction: &Instruction) -> Option<Strength> {
        let (kind, order, scope) = match instruction {
            Instruction::Load(load) if load.order.is_of_read_only_data() => return None,
            Instruction::Load(load) => (OperationKind::Load, load.order.into(), load.order.scope()),
            Instruction::Store(store) => {
                (OperationKind::Store, store.order.into(), store.order.scope())
            }
            Instruction::Atomic(atomic) => {
                let kind =
                    if atomic.reduction { OperationKind::Reduction } else { OperationKind::Atomic };
                (kind, atomic.order.into(), Some(atomic.scope))
            }
            Instruction::Fence(Fence { order, scope, aliases: false }) => {
                (OperationKind::Fence, (*order).into(), Some(*scope))
            }
            Instruction::Asynchronous(Asynchronous::Mbarrier(mbarrier)) => {
                let (kind, order) = match mbarrier.op {
                    MbarrierOp::Arrive { .. } => (OperationKind::Arrival, AccessOrder::Release),
                    MbarrierOp::Wait { .. } => (OperationKind::PhaseWait, AccessOrder::Acquire),
                    MbarrierOp::Init { .. }
                    | MbarrierOp::Invalidate
                    | MbarrierOp::CheckLayout { .. }
                    | MbarrierOp::ExpectTx { .. }
                    | MbarrierOp::CompleteTx { .. } => return None,
                };
                let order = if mbarrier.synchronizes { order } else { AccessOrder::Relaxed };
                (kind, order, Some(mbarrier.scope))
            }
            Instruction::Asynchronous(Asynchronous::Multimem(of)) => match &of.op {
                MultimemOp::LoadReduce { order, .. } => {
                    (OperationKind::Load, (*order).into(), order.scope())
                }
                MultimemOp::Store { order, .. } => {
                    (OperationKind::Store, (*order).into(), order.scope())
                }
                MultimemOp::Reduce { order, scope, .. } => {
                    (OperationKind::Reduction, (*order).into(), Some(*scope))
                }
            },
            Instruction::Fence(_)
            | Instruction::ProxyFence(_)
            | Instruction::Barrier(_)
            | Instruction::ClusterBarrier(_)
            | Instruction::Alu(_)
            | Instruction::Cvta(_)
            | Instruction::Branch(_)
            | Instruction::Asynchronous(_)
            | Instruction::Unsupported(_) => return None,
        };
        Some(Strength::new(kind, order, scope.unwrap_or(Scope::Sys)))
    }

    /// The same of an instruction that is nothing more: a volatile access is observable besides.
    pub fn of_no_more(instruction: &Instruction) -> Option<Strength> {
        let strength = Strength::of(instruction)?;
        (strength.applied(instruction).as_ref() == Some(instruction)).then_some(strength)
    }

    /// An instruction as strong as this; none where it is of another kind.
    pub fn applied(self, instruction: &Instruction) -> Option<Instruction> {
        let Strength { kind, order, scope } = self;
        Some(match (instruction, kind) {
            (Instruction::Load(load), OperationKind::Load) => {
                Instruction::Load(Load { order: order.load(scope), ..load.clone() })
            }
            (Instruction::Store(store), OperationKind::Store) => {
                Instruction::Store(Store { order: order.store(scope), ..store.clone() })
            }
            (Instruction::Atomic(atomic), OperationKind::Atomic | OperationKind::Reduction) => {
                Instruction::Atomic(Atomic { order: order.atomic(), scope, ..atomic.clone() })
            }
            (Instruction::Fence(fence), OperationKind::Fence) => {
                Instruction::Fence(Fence { order: order.fence()?, scope, ..*fence })
            }
            (
                Instruction::Asynchronous(Asynchronous::Mbarrier(mbarrier)),
                OperationKind::Arrival | OperationKind::PhaseWait,
            ) => Instruction::Asynchronous(Asynchronous::Mbarrier(Mbarrier {
                synchronizes: order != AccessOrder::Relaxed,
                scope,
                ..mbarrier.clone()
            })),
            (Instruction::Asynchronous(Asynchronous::Multimem(of)), _) => {
                let mut of = of.clone();
                match (&mut of.op, kind) {
                    (MultimemOp::LoadReduce { order: to, .. }, OperationKind::Load) => {
                        *to = order.load(scope);
                    }
                    (MultimemOp::Store { order: to, .. }, OperationKind::Store) => {
                        *to = order.store(scope);
                    }
                    (
                        MultimemOp::Reduce { order: to, scope: within, .. },
                        OperationKind::Reduction,
                    ) => (*to, *within) = (order.atomic(), scope),
                    _ => return None,
                }
                Instruction::Asynchronous(Asynchronous::Multimem(of))
            }
            _ => return None,
        })
    }

    /// The order as PTX spells it.
    pub fn order_name(self) -> &'static str {
        let fence = self.order.fence().filter(|_| self.kind == OperationKind::Fence);
        fence.map_or(self.order.name(), FenceOrder::name)
    }

    /// Whether it guarantees all that the other does.
    pub fn includes(self, other: Strength) -> bool {
        let scope = other.order == AccessOrder::Weak || self.scope.covers(other.scope);
        self.kind == other.kind && self.order.covers(other.order) && scope
    }

    /// The next weaker forms: without a fence (`None`), of a weaker order, of a narrower scope.
    pub fn weaker(self, forms: KnownForms) -> Vec<Option<Strength>> {
        let Strength { kind, order, scope } = self;
        let without = (kind == OperationKind::Fence).then_some(None);
        let orders = order.next_below(forms.orders(kind));
        let orders = orders.map(|order| Some(Strength::new(kind, order, scope)));
        let scopes = scope.next_below(forms.scopes(kind)).filter(|_| order != AccessOrder::Weak);
        let scopes = scopes.map(|scope| Some(Strength::new(kind, order, scope)));
        without.into_iter().chain(orders).chain(scopes).collect()
    }

    /// The next stronger forms: of a stronger order, of a wider scope. What is weak may have any scope then.
    pub fn stronger(self, forms: KnownForms) -> Vec<Strength> {
        let Strength { kind, order, scope } = self;
        let orders = order.next_above(forms.orders(kind));
        if order == AccessOrder::Weak {
            let all =
                |order| forms.scopes(kind).iter().map(move |&s| Strength::new(kind, order, s));
            return orders.flat_map(all).collect();
        }
        let orders = orders.map(|order| Strength::new(kind, order, scope));
        let scopes = scope.next_above(forms.scopes(kind));
        orders.chain(scopes.map(|scope| Strength::new(kind, order, scope))).collect()
    }

    /// Every stronger form, those of a narrow scope first.
    pub fn all_stronger(self, forms: KnownForms) -> Vec<Strength> {
        let all = forms.scopes(self.kind).iter().flat_map(|&scope| {
            let of_scope = move |&order: &AccessOrder| Strength::new(self.kind, order, scope);
            forms.orders(self.kind).iter().map(of_scope)
        });
        all.filter(|one| one.order != AccessOrder::Weak)
            .filter(|one| *one != self && one.includes(self))
            .collect()
    }
}

/// The scopes that are narrower, the next one first.
pub fn narrower(scope: Scope, forms: KnownForms) -> impl Iterator<Item = Scope> {
    forms.scopes(OperationKind::Fence).iter().rev().copied().filter(move |one| scope.exceeds(*one))
}

/// A weaker form that suffices, found by small steps; `None` if none of the next forms suffices.
pub fn weakest<T>(
    first: &T,
    weaker: impl Fn(&T) -> Vec<T>,
    mut is_sufficient: impl FnMut(&T) -> bool,
) -> Option<T> {
    let mut least: Option<T> = None;
    loop {
        let next = weaker(least.as_ref().unwrap_or(first));
        match next.into_iter().find(&mut is_sufficient) {
            Some(weaker) => least = Some(weaker),
            None => return least,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const KINDS: [OperationKind; 7] = [
        OperationKind::Load,
        OperationKind::Store,
        OperationKind::Atomic,
        OperationKind::Reduction,
        OperationKind::Fence,
        OperationKind::Arrival,
        OperationKind::PhaseWait,
    ];

    fn all_forms() -> impl Iterator<Item = KnownForms> {
        (0..8).map(|bits| KnownForms {
            clusters: bits & 1 != 0,
            one_way_fences: bits & 2 != 0,
            weak: bits & 4 != 0,
        })
    }

    /// Every strength of a kind, once.
    fn all(kind: OperationKind, forms: KnownForms) -> Vec<Strength> {
        let mut all: Vec<Strength> = Vec::new();
        for &order in forms.orders(kind) {
            for &scope in forms.scopes(kind) {
                let one = Strength::new(kind, order, scope);
                if !all.contains(&one) {
                    all.push(one);
                }
            }
        }
        all
    }

    fn each(check: impl Fn(Strength, &[Strength], KnownForms)) {
        for forms in all_forms() {
            for kind in KINDS {
                let all = all(kind, forms);
                for &one in &all {
                    check(one, &all, forms);
                }
            }
        }
    }

    #[test]
    fn weaker_is_the_inverse_of_stronger() {
        each(|one, all, forms| {
            for &other in all {
                let down = one.weaker(forms).contains(&Some(other));
                assert_eq!(down, other.stronger(forms).contains(&one), "{one:?} {other:?}");
            }
        });
    }

    #[test]
    fn no_form_is_weaker_than_what_is_weaker_than_it() {
        each(|one, all, forms| {
            for weaker in one.weaker(forms).into_iter().flatten() {
                assert!(all.contains(&weaker), "{weaker:?} is not among {forms:?}");
                assert!(one.includes(weaker) && !weaker.includes(one), "{one:?} {weaker:?}");
            }
            for &other in all {
                let both = one.includes(other) && other.includes(one);
                assert_eq!(both, one == other, "{one:?} {other:?}");
            }
        });
    }

    #[test]
    fn every_way_down_ends_at_the_bottom_and_every_way_up_at_the_top() {
        each(|one, all, forms| {
            let (mut low, mut high) = (one, one);
            for _ in 0..all.len() {
                low = low.weaker(forms).into_iter().flatten().last().unwrap_or(low);
                high = high.stronger(forms).into_iter().last().unwrap_or(high);
            }
            assert!(all.iter().all(|other| high.includes(*other)), "{one:?} ends at {high:?}");
            let least = all.iter().filter(|other| low.includes(**other)).count();
            assert_eq!(least, 1, "{one:?} ends at {low:?}");
            // Fences have no least form but none at all.
            let gone = low.weaker(forms);
            let fence = one.kind == OperationKind::Fence;
            assert_eq!(gone, if fence { vec![None] } else { Vec::new() });
        });
    }

    #[test]
    fn all_stronger_forms_are_those_that_single_steps_reach() {
        let key = |one: &Strength| (one.order, one.scope);
        each(|one, all, forms| {
            let mut reached: Vec<Strength> = one.stronger(forms);
            for _ in 0..all.len() {
                let more: Vec<_> = reached.iter().flat_map(|s| s.stronger(forms)).collect();
                reached.extend(more.into_iter().filter(|new| !one.includes(*new)));
                reached.sort_by_key(key);
                reached.dedup();
            }
            let found: BTreeSet<_> = one.all_stronger(forms).iter().map(key).collect();
            assert_eq!(found, reached.iter().map(key).collect(), "{one:?}");
        });
    }

    #[test]
    fn candidates_come_in_a_fixed_order() {
        let forms = KnownForms { clusters: true, one_way_fences: true, weak: true };
        let text = |kind, order, scope| {
            let one = |one: Option<Strength>| {
                one.map_or("none".to_owned(), |one| format!("{}.{}", one.order.name(), one.scope))
            };
            let all = Strength::new(kind, order, scope).weaker(forms);
            all.into_iter().map(one).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            text(OperationKind::Load, AccessOrder::Acquire, Scope::Gpu),
            "relaxed.gpu acquire.cluster"
        );
        assert_eq!(text(OperationKind::Store, AccessOrder::Relaxed, Scope::Cta), "weak.sys");
        let atomic = "acquire.sys release.sys acq_rel.gpu";
        assert_eq!(text(OperationKind::Atomic, AccessOrder::AcqRel, Scope::Sys), atomic);
        assert_eq!(text(OperationKind::Fence, AccessOrder::SeqCst, Scope::Cta), "none acq_rel.cta");
        assert_eq!(
            text(OperationKind::Fence, AccessOrder::Acquire, Scope::Cluster),
            "none acquire.cta"
        );
        let few = KnownForms { clusters: false, ..forms };
        assert_eq!(narrower(Scope::Sys, few).collect::<Vec<_>>(), [Scope::Gpu, Scope::Cta]);
    }

    #[test]
    fn a_strength_is_what_its_instruction_has() {
        let fence = Instruction::Fence(Fence {
            order: FenceOrder::AcqRel,
            scope: Scope::Gpu,
            aliases: false,
        });
        let strength = Strength::of_no_more(&fence).expect("a fence orders");
        for stronger in
            strength.all_stronger(KnownForms { clusters: true, one_way_fences: true, weak: true })
        {
            let changed = stronger.applied(&fence).expect("it is a fence still");
            assert_eq!(Strength::of(&changed), Some(stronger));
        }
        let load = Strength::new(OperationKind::Load, AccessOrder::Weak, Scope::Cta);
        assert_eq!(load.applied(&fence), None);
    }
}
