//! Basic arithmetic, comparisons and branches.

use super::float::{self, FloatOp, Rounding};
use super::integer::IntegerOp;
use super::opaque::OpaqueOp;
use super::{Operand, Reg, Type, TypeKind};
use crate::value::{self, Value, low_bits};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AluOp {
    Mov,
    /// Of floats too, rounded to nearest even; so are `Sub` and `Mul`.
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
    /// The bits of the type from this one on.
    Extract(u8),
    /// The second operand above this many bits of the first.
    Concat(u8),
    /// To this type, from the instruction's; one of them is a float.
    Convert(Type, Rounding),
    /// Of two `.f16` in 32 bits, each by itself.
    Halves(Half),
    /// A subnormal float becomes a zero of its sign.
    Flush,
    Float(FloatOp),
    Integer(IntegerOp),
    /// An operation of which only this is known: equal operands give equal results. Operands beyond three are
    /// hashed by another such operation before.
    Opaque(OpaqueOp),
}

/// What is done with each half.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Half {
    Add,
    Sub,
    Mul,
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
    pub fn holds(self, ty: Type, a: Value, b: Value) -> bool {
        let mask = low_bits(ty.bits);
        let (a, b) = (a & mask, b & mask);
        let less = |a: Value, b: Value| {
            if ty.kind == TypeKind::Signed {
                extend(ty, a).cast_signed() < extend(ty, b).cast_signed()
            } else {
                a < b
            }
        };
        match self {
            Comparison::Eq => a == b,
            Comparison::Ne => a != b,
            Comparison::Lt => less(a, b),
            Comparison::Le => !less(b, a),
            Comparison::Gt => less(b, a),
            Comparison::Ge => !less(a, b),
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

/// `value`, of type `ty`, as a register wider than the type holds it.
pub fn extend(ty: Type, value: Value) -> Value {
    let mask = low_bits(ty.bits);
    let value = value & mask;
    if ty.kind == TypeKind::Signed && value >> (ty.bits - 1) & 1 == 1 {
        value | !mask
    } else {
        value
    }
}

/// What the result of an operation is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AluResult {
    pub bits: u16,
    /// Whether it says that a comparison holds.
    pub compares: bool,
    /// Whether it is a float, is computed from floats, or has no definition.
    pub approximate: bool,
}

impl AluOp {
    /// What the result of the operation with a type is.
    pub fn result(self, ty: Type) -> AluResult {
        let float = ty.kind == TypeKind::Float;
        let (bits, compares, approximate) = match self {
            AluOp::Setp(_) => (1, true, float),
            AluOp::Float(FloatOp::Compare { .. } | FloatOp::Unordered) => (1, true, true),
            AluOp::Convert(to, _) => (to.bits, false, true),
            AluOp::Float(FloatOp::ToBf16(_)) => (16, false, true),
            AluOp::Float(_) | AluOp::Opaque(_) | AluOp::Halves(_) | AluOp::Flush => {
                (ty.bits, false, true)
            }
            AluOp::Integer(IntegerOp::Popc | IntegerOp::Clz | IntegerOp::Bfind { .. }) => {
                (32, false, false)
            }
            AluOp::Add | AluOp::Sub | AluOp::Mul => (ty.bits, false, float),
            AluOp::Mov
            | AluOp::And
            | AluOp::Or
            | AluOp::Xor
            | AluOp::Shl
            | AluOp::Shr
            | AluOp::Selp
            | AluOp::Extract(_)
            | AluOp::Concat(_)
            | AluOp::Integer(_) => (ty.bits, false, false),
        };
        AluResult { bits, compares, approximate }
    }

    /// The result, sign- or zero-extended. `sources` has as many values as the instruction has
    /// operands.
    pub fn apply(self, ty: Type, sources: &[Value]) -> Value {
        let a = sources[0];
        let b = sources.get(1).copied().unwrap_or(0);
        // A shift amount has 32 bits.
        let shift = u32::try_from(b & low_bits(32)).unwrap_or(u32::MAX);
        let float = ty.kind == TypeKind::Float;
        let value = match self {
            AluOp::Add if float => return float::add(ty.bits, a, b),
            AluOp::Sub if float => return float::sub(ty.bits, a, b),
            AluOp::Mul if float => return float::mul(ty.bits, a, b),
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
                    let most = u32::from(value::BITS) - 1;
                    (wide.cast_signed() >> shift.min(most)).cast_unsigned()
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
            AluOp::Setp(comparison) => return Value::from(comparison.holds(ty, a, b)),
            AluOp::Extract(at) => a >> at,
            AluOp::Concat(at) => a & low_bits(at.into()) | b << at,
            AluOp::Convert(to, rounding) => return float::convert(to, ty, rounding, a),
            AluOp::Halves(half) => {
                let of = match half {
                    Half::Add => float::add,
                    Half::Sub => float::sub,
                    Half::Mul => float::mul,
                };
                of(16, a & 0xffff, b & 0xffff) | of(16, a >> 16 & 0xffff, b >> 16 & 0xffff) << 16
            }
            AluOp::Flush => float::flush(ty.bits, a),
            AluOp::Float(op) => {
                return op.apply(ty.bits, a, b, sources.get(2).copied().unwrap_or(0));
            }
            AluOp::Opaque(op) => return op.apply(ty, sources),
            AluOp::Integer(op) => {
                return op.apply(ty, a, b, sources.get(2).copied().unwrap_or(0));
            }
        };
        extend(ty, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S8: Type = Type { kind: TypeKind::Signed, bits: 8 };
    const S32: Type = Type { kind: TypeKind::Signed, bits: 32 };
    const B128: Type = Type { kind: TypeKind::Bits, bits: 128 };

    #[test]
    fn a_signed_result_is_sign_extended() {
        assert_eq!(AluOp::Sub.apply(S32, &[0, 1]), Value::MAX);
        assert_eq!(AluOp::Sub.apply(Type::U32, &[0, 1]), 0xffff_ffff);
    }

    #[test]
    fn a_result_has_a_width_and_may_be_approximate() {
        let float = Type { kind: TypeKind::Float, bits: 32 };
        let said = |op: AluOp, ty: Type| {
            let AluResult { bits, compares, approximate } = op.result(ty);
            (bits, compares, approximate)
        };
        assert_eq!(said(AluOp::Add, Type::U64), (64, false, false));
        assert_eq!(said(AluOp::Add, float), (32, false, true));
        assert_eq!(said(AluOp::Selp, float), (32, false, false));
        assert_eq!(said(AluOp::Setp(Comparison::Lt), Type::U32), (1, true, false));
        assert_eq!(said(AluOp::Setp(Comparison::Lt), float), (1, true, true));
        assert_eq!(said(AluOp::Float(FloatOp::Unordered), float), (1, true, true));
        assert_eq!(said(AluOp::Convert(Type::U64, Rounding::Zero), float), (64, false, true));
        assert_eq!(said(AluOp::Integer(IntegerOp::Popc), Type::U64), (32, false, false));
    }

    #[test]
    fn comparisons_look_at_the_type_only() {
        assert!(Comparison::Lt.holds(S8, 0xff, 0));
        assert!(!Comparison::Lt.holds(Type::U32, 0xff, 0));
        assert!(Comparison::Eq.holds(S8, 0x1ff, 0xff));
        assert!(!Comparison::Eq.holds(B128, 1 << 64, 0));
    }

    #[test]
    fn a_shift_past_the_width_is_zero() {
        assert_eq!(AluOp::Shl.apply(Type::U32, &[1, 40]), 0);
        assert_eq!(AluOp::Shl.apply(Type::U64, &[1, 70]), 0);
        assert_eq!(AluOp::Shr.apply(S32, &[0x8000_0000, 200]), Value::MAX);
    }

    #[test]
    fn what_is_packed_can_be_unpacked() {
        let packed = AluOp::Concat(64).apply(B128, &[Value::MAX, 7]);
        assert_eq!(packed, 7 << 64 | low_bits(64));
        assert_eq!(AluOp::Extract(64).apply(Type::U64, &[packed]), 7);
        assert_eq!(AluOp::Extract(0).apply(Type::U64, &[packed]), low_bits(64));
    }
}
