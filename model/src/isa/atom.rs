//! `atom` and `red`: read, modify, write.

use super::alu::Comparison;
use super::cxx::Cxx;
use super::{Address, Operand, Reg, SpaceQualifier, Type, TypeKind, float};
use crate::scope::Scope;
use crate::value::{Value, low_bits};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AtomicOrder {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
}

impl AtomicOrder {
    /// As PTX spells it, without the dot.
    pub fn name(self) -> &'static str {
        match self {
            AtomicOrder::Relaxed => "relaxed",
            AtomicOrder::Acquire => "acquire",
            AtomicOrder::Release => "release",
            AtomicOrder::AcqRel => "acq_rel",
        }
    }

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
    /// As PTX spells it, without the dot.
    pub fn name(self) -> &'static str {
        match self {
            AtomicOp::Add => "add",
            AtomicOp::Sub => "sub",
            AtomicOp::And => "and",
            AtomicOp::Or => "or",
            AtomicOp::Xor => "xor",
            AtomicOp::Min => "min",
            AtomicOp::Max => "max",
            AtomicOp::Inc => "inc",
            AtomicOp::Dec => "dec",
            AtomicOp::Exch => "exch",
            AtomicOp::Cas => "cas",
        }
    }

    /// The value written over `old`; `None` when a `cas` fails. Signedness and width are `ty`'s.
    pub fn apply(self, ty: Type, old: Value, first: Value, second: Value) -> Option<Value> {
        let mask = low_bits(ty.bits);
        let (old, a, b) = (old & mask, first & mask, second & mask);
        let less = |x: Value, y: Value| Comparison::Lt.holds(ty, x, y);
        Some(
            mask & match self {
                AtomicOp::Add if ty.kind == TypeKind::Float => float::add(ty.bits, old, a),
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
    pub cxx: Cxx,
    pub scope: Scope,
    pub space: SpaceQualifier,
    pub op: AtomicOp,
    pub ty: Type,
    /// `red` instead of `atom`: its read is not a read operation (reading R11).
    pub reduction: bool,
    /// `None` for `red` and for the sink `_`.
    pub destination: Option<Reg>,
    pub address: Address,
    /// One operand; two for `cas`.
    pub operands: Vec<Operand>,
}

#[cfg(test)]
mod tests {
    use super::*;

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
