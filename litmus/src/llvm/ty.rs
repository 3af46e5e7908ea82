//! The types of what is loaded and stored.

use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scalar {
    /// `i32`; at most 2^23 bits.
    Int(u32),
    Half,
    BFloat,
    Float,
    Double,
    Ptr,
}

/// A scalar, or a vector of scalars.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Type {
    pub scalar: Scalar,
    /// `None` for a scalar.
    pub lanes: Option<u32>,
}

impl Scalar {
    /// Reads `i32`, `float`, `ptr`; what is no type is `None`.
    pub(super) fn named(name: &str) -> Option<Scalar> {
        Some(match name {
            "half" => Scalar::Half,
            "bfloat" => Scalar::BFloat,
            "float" => Scalar::Float,
            "double" => Scalar::Double,
            "ptr" => Scalar::Ptr,
            _ => {
                let bits: u32 = name.strip_prefix('i')?.parse().ok()?;
                return (1..1 << 23).contains(&bits).then_some(Scalar::Int(bits));
            }
        })
    }

    pub fn bits(self) -> u32 {
        match self {
            Scalar::Int(bits) => bits,
            Scalar::Half | Scalar::BFloat => 16,
            Scalar::Float => 32,
            Scalar::Double | Scalar::Ptr => 64,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Scalar::Half | Scalar::BFloat | Scalar::Float | Scalar::Double)
    }
}

impl Type {
    /// How many bytes it has in memory, where a scalar fills whole bytes; `None` for a vector that
    /// does not.
    pub fn bytes(self) -> Option<u32> {
        let Some(lanes) = self.lanes else { return Some(self.scalar.bits().div_ceil(8)) };
        let bits = self.scalar.bits().checked_mul(lanes)?;
        bits.is_multiple_of(8).then_some(bits / 8)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lanes {
            Some(lanes) => write!(f, "<{lanes} x {}>", self.scalar),
            None => self.scalar.fmt(f),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Int(bits) => write!(f, "i{bits}"),
            Scalar::Half => f.write_str("half"),
            Scalar::BFloat => f.write_str("bfloat"),
            Scalar::Float => f.write_str("float"),
            Scalar::Double => f.write_str("double"),
            Scalar::Ptr => f.write_str("ptr"),
        }
    }
}
