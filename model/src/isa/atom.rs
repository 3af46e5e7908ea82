//! `atom` and `red`: read, modify, write.

use super::qualifier::{Dialect, Order, Qualifiers};
use super::rule::{Edit, Invalid, Rule};
use super::{Address, Operand, Reg, SpaceQualifier, Type};
use crate::scope::Scope;
use crate::section;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AtomicOrder {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
}

impl AtomicOrder {
    pub fn is_acquire(self) -> bool {
        matches!(self, AtomicOrder::Acquire | AtomicOrder::AcqRel)
    }

    pub fn is_release(self) -> bool {
        matches!(self, AtomicOrder::Release | AtomicOrder::AcqRel)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AtomicOp {
    Add,
    /// Of the peer dialect only.
    Sub,
    And,
    Or,
    Xor,
    Min,
    Max,
    /// `old >= b ? 0 : old + 1`.
    Inc,
    /// `old == 0 || old > b ? b : old - 1`.
    Dec,
    Exch,
    /// Compares with the first operand, writes the second.
    Cas,
}

impl AtomicOp {
    /// The value written over `old`; `None` when a `cas` fails. Signedness and width are `ty`'s.
    pub fn apply(self, ty: Type, old: u64, first: u64, second: u64) -> Option<u64> {
        let mask = super::alu::mask(ty);
        let (old, a, b) = (old & mask, first & mask, second & mask);
        let less = |x: u64, y: u64| super::alu::compare_less(ty, x, y);
        Some(
            mask & match self {
                AtomicOp::Add => old.wrapping_add(a),
                AtomicOp::Sub => old.wrapping_sub(a),
                AtomicOp::And => old & a,
                AtomicOp::Or => old | a,
                AtomicOp::Xor => old ^ a,
                AtomicOp::Min => {
                    if less(a, old) {
                        a
                    } else {
                        old
                    }
                }
                AtomicOp::Max => {
                    if less(old, a) {
                        a
                    } else {
                        old
                    }
                }
                AtomicOp::Inc => {
                    if old >= a {
                        0
                    } else {
                        old + 1
                    }
                }
                AtomicOp::Dec => {
                    if old == 0 || old > a {
                        a
                    } else {
                        old - 1
                    }
                }
                AtomicOp::Exch => a,
                AtomicOp::Cas => {
                    if old == a {
                        b
                    } else {
                        return None;
                    }
                }
            },
        )
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Atomic {
    pub order: AtomicOrder,
    pub scope: Scope,
    pub space: SpaceQualifier,
    pub op: AtomicOp,
    pub ty: Type,
    /// `red` instead of `atom`: its read is no read operation (reading R11).
    pub reduction: bool,
    /// `None` for `red` and for the sink `_`.
    pub destination: Option<Reg>,
    pub address: Address,
    /// One operand; two for `cas`.
    pub operands: Vec<Operand>,
}

static ORDER: Rule = Rule {
    code: "atom-order",
    section: section::ATOM,
    text: "`atom` is relaxed, acquire, release or acq_rel",
};
static RED_ORDER: Rule = Rule {
    code: "red-order",
    section: section::RED,
    text: "`red` is relaxed or release: it returns nothing that could acquire",
};
static OP_MISSING: Rule =
    Rule { code: "atom-operation", section: section::ATOM, text: "`atom` names its operation" };
static RED_OP_MISSING: Rule =
    Rule { code: "red-operation", section: section::RED, text: "`red` names its operation" };
static RED_OP: Rule = Rule {
    code: "red-operation",
    section: section::RED,
    text: "`red` has no `.exch` and no `.cas`: they are for the old value",
};
pub static SUB: Rule = Rule {
    code: "atom-sub",
    section: section::ATOM,
    text: "PTX has no `.sub`, only the peer dialect does",
};
static WIDTH: Rule = Rule {
    code: "atom-type",
    section: section::ATOM,
    text: "an atomic operation has 32 or 64 bits; `.inc` and `.dec` have 32, `.cas` also 16",
};

/// The operation, order and scope of an `atom` or `red`.
pub fn operation(
    q: &Qualifiers,
    reduction: bool,
    dialect: Dialect,
) -> Result<(AtomicOp, AtomicOrder, Scope), Invalid> {
    let Some(op) = q.op else {
        let rule = if reduction { &RED_OP_MISSING } else { &OP_MISSING };
        let at = q.ty.map_or(q.end, |ty| ty.position);
        return Err(rule.broken_by(0, "which one is missing").fixed_by([Edit::Insert(at, "add")]));
    };
    let order = match q.order.map(|order| order.value) {
        None | Some(Order::Relaxed) => AtomicOrder::Relaxed,
        Some(Order::Acquire) => AtomicOrder::Acquire,
        Some(Order::Release) => AtomicOrder::Release,
        Some(Order::AcqRel) => AtomicOrder::AcqRel,
        Some(other @ (Order::Weak | Order::Volatile | Order::Sc)) => {
            let (rule, instead) = match (reduction, other) {
                (false, Order::Sc) => (&ORDER, "acq_rel"),
                (true, Order::Sc) => (&RED_ORDER, "release"),
                (false, _) => (&ORDER, "relaxed"),
                (true, _) => (&RED_ORDER, "relaxed"),
            };
            let at = q.order.map_or(0, |order| order.position);
            return Err(rule
                .broken_by(at, format!("the order is `.{}`", other.name()))
                .fixed_by([Edit::Replace(at, instead)]));
        }
    };
    let scope = q.scope.map_or(Scope::Gpu, |scope| scope.value);
    if dialect == Dialect::Peer {
        return Ok((op.value, order, scope));
    }
    if op.value == AtomicOp::Sub {
        return Err(SUB.broken_by(op.position, "add the negated value instead"));
    }
    if reduction && order.is_acquire() {
        let at = q.order.map_or(0, |order| order.position);
        let instead = if order.is_release() { "release" } else { "relaxed" };
        return Err(RED_ORDER
            .broken_by(at, "only the peer dialect has this order")
            .fixed_by([Edit::Replace(at, instead)]));
    }
    if reduction && matches!(op.value, AtomicOp::Exch | AtomicOp::Cas) {
        return Err(RED_OP.broken_by(op.position, "`atom` has it"));
    }
    if let Some(ty) = q.ty {
        let fits = match op.value {
            AtomicOp::Inc | AtomicOp::Dec => ty.value.bits == 32,
            AtomicOp::Cas => ty.value.bits >= 16,
            AtomicOp::Add
            | AtomicOp::Sub
            | AtomicOp::And
            | AtomicOp::Or
            | AtomicOp::Xor
            | AtomicOp::Min
            | AtomicOp::Max
            | AtomicOp::Exch => ty.value.bits >= 32,
        };
        if !fits {
            let instead = match op.value {
                AtomicOp::And | AtomicOp::Or | AtomicOp::Xor | AtomicOp::Exch | AtomicOp::Cas => {
                    "b32"
                }
                AtomicOp::Add
                | AtomicOp::Sub
                | AtomicOp::Min
                | AtomicOp::Max
                | AtomicOp::Inc
                | AtomicOp::Dec => "u32",
            };
            return Err(WIDTH
                .broken_by(ty.position, format!("the type has {} bits", ty.value.bits))
                .fixed_by([Edit::Replace(ty.position, instead)]));
        }
    }
    Ok((op.value, order, scope))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::TypeKind;

    #[test]
    fn inc_and_dec_wrap_at_the_operand() {
        let ty = Type::U32;
        assert_eq!(AtomicOp::Inc.apply(ty, 2, 3, 0), Some(3));
        assert_eq!(AtomicOp::Inc.apply(ty, 3, 3, 0), Some(0));
        assert_eq!(AtomicOp::Dec.apply(ty, 0, 3, 0), Some(3));
        assert_eq!(AtomicOp::Dec.apply(ty, 7, 3, 0), Some(3));
        assert_eq!(AtomicOp::Dec.apply(ty, 2, 3, 0), Some(1));
    }

    #[test]
    fn min_is_signed_when_the_type_is() {
        let signed = Type { kind: TypeKind::Signed, bits: 32 };
        assert_eq!(AtomicOp::Min.apply(signed, 1, 0xffff_ffff, 0), Some(0xffff_ffff));
        assert_eq!(AtomicOp::Min.apply(Type::U32, 1, 0xffff_ffff, 0), Some(1));
    }

    #[test]
    fn a_failed_cas_writes_nothing() {
        assert_eq!(AtomicOp::Cas.apply(Type::U32, 1, 0, 7), None);
        assert_eq!(AtomicOp::Cas.apply(Type::U32, 0, 0, 7), Some(7));
    }
}
