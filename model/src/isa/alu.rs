//! The little arithmetic that carries dependencies, and branches.

use super::{Operand, Reg, Type, TypeKind};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AluOp {
    Mov,
    Add,
    Sub,
    /// The low half of the product.
    Mul,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    /// `sources[2] ? sources[0] : sources[1]`; the third is a predicate.
    Selp,
    /// The destination is a predicate.
    Setp(Comparison),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Comparison {
    pub fn holds(self, ty: Type, a: u64, b: u64) -> bool {
        let (a, b) = (a & mask(ty), b & mask(ty));
        match self {
            Comparison::Eq => a == b,
            Comparison::Ne => a != b,
            Comparison::Lt => compare_less(ty, a, b),
            Comparison::Le => !compare_less(ty, b, a),
            Comparison::Gt => compare_less(ty, b, a),
            Comparison::Ge => !compare_less(ty, a, b),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alu {
    pub op: AluOp,
    pub ty: Type,
    pub destination: Reg,
    pub sources: Vec<Operand>,
}

/// A jump to [`crate::program::Thread::lines`]`[target]`; a target past the last line ends the
/// thread. The peer dialect's `beq a, b, L` carries its comparison; `bra` has a guard instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Branch {
    pub target: usize,
    pub condition: Option<(Comparison, Operand, Operand)>,
}

/// The bits of a value of type `ty`; types wider than a register's 64 bits keep 64.
pub fn mask(ty: Type) -> u64 {
    if ty.bits >= 64 { u64::MAX } else { (1 << ty.bits) - 1 }
}

/// `value`, of type `ty`, widened to 64 bits as a register wider than the type holds it.
pub fn extend(ty: Type, value: u64) -> u64 {
    let value = value & mask(ty);
    if ty.kind == TypeKind::Signed && ty.bits < 64 && value >> (ty.bits - 1) & 1 == 1 {
        value | !mask(ty)
    } else {
        value
    }
}

pub(super) fn compare_less(ty: Type, a: u64, b: u64) -> bool {
    if ty.kind == TypeKind::Signed {
        extend(ty, a).cast_signed() < extend(ty, b).cast_signed()
    } else {
        a & mask(ty) < b & mask(ty)
    }
}

impl AluOp {
    /// The result, sign- or zero-extended to 64 bits. `sources` has as many values as the
    /// instruction has operands.
    pub fn apply(self, ty: Type, sources: &[u64]) -> u64 {
        let a = sources[0];
        let b = sources.get(1).copied().unwrap_or(0);
        let shift = u32::try_from(b & 0xffff_ffff).unwrap_or(u32::MAX);
        let value = match self {
            AluOp::Mov => a,
            AluOp::Add => a.wrapping_add(b),
            AluOp::Sub => a.wrapping_sub(b),
            AluOp::Mul => a.wrapping_mul(b),
            AluOp::And => a & b,
            AluOp::Or => a | b,
            AluOp::Xor => a ^ b,
            // PTX clamps shift amounts instead of wrapping them.
            AluOp::Shl => a.checked_shl(shift).unwrap_or(0),
            AluOp::Shr => {
                let wide = extend(ty, a);
                if ty.kind == TypeKind::Signed {
                    (wide.cast_signed() >> shift.min(63)).cast_unsigned()
                } else {
                    wide.checked_shr(shift).unwrap_or(0)
                }
            }
            AluOp::Selp => {
                if sources[2] != 0 {
                    a
                } else {
                    b
                }
            }
            AluOp::Setp(comparison) => return u64::from(comparison.holds(ty, a, b)),
        };
        extend(ty, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signed_result_is_sign_extended() {
        let s32 = Type { kind: TypeKind::Signed, bits: 32 };
        assert_eq!(AluOp::Sub.apply(s32, &[0, 1]), u64::MAX);
        assert_eq!(AluOp::Sub.apply(Type::U32, &[0, 1]), 0xffff_ffff);
    }

    #[test]
    fn comparisons_look_at_the_type_only() {
        let s8 = Type { kind: TypeKind::Signed, bits: 8 };
        assert!(Comparison::Lt.holds(s8, 0xff, 0));
        assert!(!Comparison::Lt.holds(Type::U32, 0xff, 0));
        assert!(Comparison::Eq.holds(s8, 0x1ff, 0xff));
    }

    #[test]
    fn a_shift_past_the_width_is_zero() {
        assert_eq!(AluOp::Shl.apply(Type::U32, &[1, 40]), 0);
        assert_eq!(AluOp::Shl.apply(Type::U64, &[1, 70]), 0);
    }
}
