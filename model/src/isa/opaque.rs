//! Uninterpreted functions: operations whose results are not computed as the hardware does, such as `ex2.approx`
//! or a shuffle. Equal operands give equal results on both sides of a comparison.

use super::{Type, TypeKind};
use crate::isa::float::{self, Rounding};
use crate::value::{Value, low_bits};

/// An operation without a definition, told apart from others by its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OpaqueOp(u64);

impl OpaqueOp {
    /// The operation of this name. The names of one operation in two languages must be equal: take that of PTX.
    pub fn named(name: &str) -> OpaqueOp {
        let seed = 0xcbf2_9ce4_8422_2325;
        OpaqueOp(
            name.bytes()
                .fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)),
        )
    }

    /// A number from 1 to 1021 that depends on the name and all operands: as a float of the type, or as an
    /// integer. Sums and products of some such floats are exact, so that contracting and reordering them
    /// changes nothing. An operand that is not given counts as the first.
    pub fn apply(self, ty: Type, sources: &[Value]) -> Value {
        let mut hash = self.0;
        let of = |index: usize| sources.get(index).copied().unwrap_or(sources[0]);
        for source in [of(0), of(1), of(2)] {
            let words = [source, source >> 64].map(crate::value::low64);
            for word in words {
                hash = mixed(hash ^ word);
            }
        }
        let number = Value::from(1 + hash % 1021);
        if ty.kind == TypeKind::Float {
            float::convert(ty, Type::U32, Rounding::Nearest, number)
        } else {
            number & low_bits(ty.bits)
        }
    }
}

/// The last steps of `splitmix64`: each bit of the result depends on each bit of the word.
fn mixed(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_depend_on_the_name_and_on_each_operand() {
        let (ex2, lg2) = (OpaqueOp::named("ex2.approx.f32"), OpaqueOp::named("lg2.approx.f32"));
        let one = |op: OpaqueOp, sources: &[Value]| op.apply(Type::U32, sources);
        assert_eq!(one(ex2, &[5]), one(ex2, &[5]));
        assert_ne!(one(ex2, &[5]), one(lg2, &[5]));
        assert_ne!(one(ex2, &[5]), one(ex2, &[6]));
        assert_ne!(one(ex2, &[5, 1, 2]), one(ex2, &[5, 2, 1]));
        assert_ne!(one(ex2, &[1 << 64]), one(ex2, &[1 << 65]));
    }

    #[test]
    fn a_float_result_is_a_small_whole_number() {
        let bits = u32::try_from(OpaqueOp::named("sin.approx.f32").apply(Type::F32, &[7]));
        let number = f32::from_bits(bits.expect("32 bits"));
        assert!((1.0..=1021.0).contains(&number) && number.fract() == 0.0, "{number}");
    }
}
