//! Products and sums that are computed exactly and rounded once, in any direction.

use super::{DecodedFloat, Rounding, decode, encode};
use crate::value::Value;

/// `a * b + c`, computed exactly and then rounded once.
pub(super) fn fma_rounded(bits: u16, operands: [Value; 3], rounding: Rounding) -> Value {
    let [a, b, c] = operands.map(|operand| decode(bits, operand));
    let is_negative = |number: DecodedFloat| match number {
        DecodedFloat::NaN => false,
        DecodedFloat::Infinite { negative } | DecodedFloat::Finite { negative, .. } => negative,
    };
    let negative = is_negative(a) != is_negative(b);
    let product = match (a, b) {
        (DecodedFloat::NaN, _) | (_, DecodedFloat::NaN) => DecodedFloat::NaN,
        (DecodedFloat::Infinite { .. }, DecodedFloat::Finite { significand: 0, .. })
        | (DecodedFloat::Finite { significand: 0, .. }, DecodedFloat::Infinite { .. }) => {
            DecodedFloat::NaN
        }
        (DecodedFloat::Infinite { .. }, _) | (_, DecodedFloat::Infinite { .. }) => {
            DecodedFloat::Infinite { negative }
        }
        (
            DecodedFloat::Finite { significand: a, exponent, .. },
            DecodedFloat::Finite { significand: b, exponent: other, .. },
        ) => DecodedFloat::Finite { negative, significand: a * b, exponent: exponent + other },
    };
    let sum = match (product, c) {
        (DecodedFloat::NaN, _) | (_, DecodedFloat::NaN) => DecodedFloat::NaN,
        (DecodedFloat::Infinite { negative }, DecodedFloat::Infinite { negative: other }) => {
            if negative == other {
                product
            } else {
                DecodedFloat::NaN
            }
        }
        (DecodedFloat::Infinite { .. }, _) => product,
        (_, DecodedFloat::Infinite { .. }) => c,
        (
            DecodedFloat::Finite { negative, significand, exponent },
            DecodedFloat::Finite { negative: other, significand: addend, exponent: own },
        ) => exact_sum((negative, significand, exponent), (other, addend, own), rounding),
    };
    encode(bits, sum, rounding)
}

/// The sum of two finite numbers: sign, significand and exponent. A bit that is far below all others stands for
/// what does not fit, so that the sum is rounded as the exact one.
fn exact_sum(a: (bool, Value, i32), b: (bool, Value, i32), rounding: Rounding) -> DecodedFloat {
    let finite = |(negative, significand, exponent): (bool, Value, i32)| DecodedFloat::Finite {
        negative,
        significand,
        exponent,
    };
    let zero = |negative: bool| finite((negative, 0, 0));
    match (a.1, b.1) {
        (0, 0) => return zero(if a.0 == b.0 { a.0 } else { rounding == Rounding::Down }),
        (0, _) => return finite(b),
        (_, 0) => return finite(a),
        (_, _) => {}
    }
    let top = |(_, significand, exponent): (bool, Value, i32)| {
        exponent + significand.ilog2().cast_signed()
    };
    let (large, small) = if top(a) >= top(b) { (a, b) } else { (b, a) };
    // A product of doubles has 106 bits, so 19 or more below it are free. If bits of the other number are lost,
    // it is far smaller, and at most one bit cancels.
    let by = 125 - large.1.ilog2();
    let exponent = large.2 - by.cast_signed();
    let first = (large.1 << by).cast_signed();
    let second = match small.2 - exponent {
        up @ 0.. => small.1 << up,
        down => {
            let down = down.unsigned_abs();
            let kept = small.1.checked_shr(down).unwrap_or(0);
            let all = kept.checked_shl(down).unwrap_or(0) == small.1;
            kept | Value::from(!all)
        }
    };
    let second = second.cast_signed();
    let sum = if large.0 == small.0 { first + second } else { first - second };
    if sum == 0 {
        return zero(rounding == Rounding::Down);
    }
    finite((large.0 != (sum < 0), sum.unsigned_abs(), exponent))
}

#[cfg(test)]
mod tests {
    use super::super::FloatOp;
    use super::super::tests::patterns;
    use super::Rounding;
    use crate::value::{Value, low64};

    #[test]
    #[expect(clippy::float_cmp, reason = "equality of floats is tested")]
    fn a_fused_sum_is_rounded_from_the_exact_one() {
        let mut last = [1.0_f64, -3.0, 1e-300];
        for bits in patterns() {
            last = [last[1], last[2], f64::from_bits(bits)];
            let [a, b, c] = last;
            // Sums near 0, and addends far below the product.
            for c in [c, -(a * b), a * b * 1e-20] {
                let of = [a, b, c].map(|number| Value::from(number.to_bits()));
                let nearest = FloatOp::FmaRounded(Rounding::Nearest).apply(64, of[0], of[1], of[2]);
                assert_eq!(nearest, FloatOp::Fma.apply(64, of[0], of[1], of[2]), "{a} {b} {c}");
                let rounded = |rounding| {
                    let bits = FloatOp::FmaRounded(rounding).apply(64, of[0], of[1], of[2]);
                    f64::from_bits(low64(bits))
                };
                let [down, up] = [Rounding::Down, Rounding::Up].map(rounded);
                let nearest = f64::from_bits(low64(nearest));
                assert!(nearest.is_nan() || down <= nearest && nearest <= up, "{a} {b} {c}");
                let next = down == up || down.next_up() == up || nearest.is_nan();
                assert!(next, "{a} {b} {c}: {down} {up}");
            }
        }
        let f = |number: f32| Value::from(number.to_bits());
        let one = |rounding, a: f32, b: f32, c: f32| {
            FloatOp::FmaRounded(rounding).apply(32, f(a), f(b), f(c))
        };
        assert_eq!(one(Rounding::Zero, 1.0, 1.0, 1e-30), f(1.0));
        assert_eq!(one(Rounding::Up, 1.0, 1.0, 1e-30), f(1.0_f32.next_up()));
        assert_eq!(one(Rounding::Down, 1.0, 1.0, -1e-30), f(1.0_f32.next_down()));
        assert_eq!(one(Rounding::Down, 1.0, 1.0, -1.0), f(-0.0));
        assert_eq!(one(Rounding::Up, 1.0, 1.0, -1.0), f(0.0));
    }
}
