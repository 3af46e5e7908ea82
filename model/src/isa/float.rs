//! Floating-point numbers as bits: `.f16`, `.f32` and `.f64`, added, multiplied and converted bit
//! by bit as PTX does.
//!
//! Sums, products and the operations of [`FloatOp`] round to nearest even only. Subnormals are flushed only if the
//! caller requests it, and nothing saturates.

mod fused;

use super::alu::Comparison;
use super::{Type, TypeKind, alu};
use crate::value::{Value, low_bits, low64};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rounding {
    /// `.rn`, `.rni`: to nearest, a tie to even.
    Nearest,
    /// `.rz`, `.rzi`.
    Zero,
    /// `.rm`, `.rmi`: to minus infinity.
    Down,
    /// `.rp`, `.rpi`.
    Up,
}

/// Operations on floats besides sums, differences, products and conversions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FloatOp {
    Neg,
    Abs,
    /// The lesser, and -0 is less than 0. If one operand is a NaN, the result is the other operand, or with
    /// `nan` a NaN.
    Min {
        nan: bool,
    },
    /// The greater, likewise.
    Max {
        nan: bool,
    },
    /// `a * b + c`, rounded once.
    Fma,
    /// The same, rounded in this direction.
    FmaRounded(Rounding),
    Div,
    Sqrt,
    /// The destination is a predicate: the comparison, or `unordered` if an operand is a NaN.
    Compare {
        comparison: Comparison,
        unordered: bool,
    },
    /// The destination is a predicate: whether an operand is a NaN.
    Unordered,
    /// An `.f32` as the 16 bits of a `.bf16`. The reverse is a shift by 16 bits.
    ToBf16(Rounding),
    /// The nearest whole number in this direction, as a float with the sign of the operand.
    Whole(Rounding),
}

impl FloatOp {
    /// The number of operands.
    pub fn arity(self) -> usize {
        match self {
            FloatOp::Neg
            | FloatOp::Abs
            | FloatOp::Sqrt
            | FloatOp::ToBf16(_)
            | FloatOp::Whole(_) => 1,
            FloatOp::Min { .. }
            | FloatOp::Max { .. }
            | FloatOp::Div
            | FloatOp::Compare { .. }
            | FloatOp::Unordered => 2,
            FloatOp::Fma | FloatOp::FmaRounded(_) => 3,
        }
    }

    /// The result, zero-extended. `bits` is the width of the operands.
    pub fn apply(self, bits: u16, a: Value, b: Value, c: Value) -> Value {
        let (a, b) = (a & low_bits(bits), b & low_bits(bits));
        let sign = 1 << (bits - 1);
        let nan = |of: Value| matches!(decode(bits, of), DecodedFloat::NaN);
        match self {
            FloatOp::Neg => a ^ sign,
            FloatOp::Abs => a & !sign,
            FloatOp::Min { nan: propagates } | FloatOp::Max { nan: propagates } => {
                match (nan(a), nan(b)) {
                    (true, true) => not_a_number(bits),
                    (true, false) | (false, true) if propagates => not_a_number(bits),
                    (true, false) => b,
                    (false, true) => a,
                    (false, false) => {
                        let first = rank(bits, a) < rank(bits, b);
                        if first == matches!(self, FloatOp::Min { .. }) { a } else { b }
                    }
                }
            }
            FloatOp::Fma => fma(bits, a, b, c & low_bits(bits)),
            FloatOp::FmaRounded(rounding) => {
                fused::fma_rounded(bits, [a, b, c & low_bits(bits)], rounding)
            }
            FloatOp::Div => arithmetic(bits, a, b, |a, b| a / b, |a, b| a / b),
            FloatOp::Sqrt => arithmetic(bits, a, a, |a, _| a.sqrt(), |a, _| a.sqrt()),
            FloatOp::Unordered => Value::from(nan(a) || nan(b)),
            FloatOp::Compare { comparison, unordered } => Value::from(if nan(a) || nan(b) {
                unordered
            } else {
                // Both zeros are equal.
                let of = |value: Value| rank(bits, if value == sign { 0 } else { value });
                let (a, b) = (of(a), of(b));
                match comparison {
                    Comparison::Eq => a == b,
                    Comparison::Ne => a != b,
                    Comparison::Lt => a < b,
                    Comparison::Le => a <= b,
                    Comparison::Gt => a > b,
                    Comparison::Ge => a >= b,
                }
            }),
            FloatOp::Whole(rounding) => match decode(bits, a) {
                DecodedFloat::NaN => not_a_number(bits),
                DecodedFloat::Finite { negative, significand, exponent } if exponent < 0 => {
                    let significand = shifted(significand, exponent, negative, rounding);
                    let number = DecodedFloat::Finite { negative, significand, exponent: 0 };
                    encode(bits, number, Rounding::Zero)
                }
                DecodedFloat::Infinite { .. } | DecodedFloat::Finite { .. } => a,
            },
            FloatOp::ToBf16(rounding) => match decode(32, a) {
                DecodedFloat::NaN => 0x7fff,
                // The format of `.bf16` is that of `.f32` without the low 16 bits, so rounding the bits as an
                // integer rounds the number, up to infinity.
                DecodedFloat::Infinite { .. } | DecodedFloat::Finite { .. } => {
                    let negative = a & sign != 0;
                    (a & sign) >> 16 | shifted(a & !sign, -16, negative, rounding)
                }
            },
        }
    }
}

/// Numbers in their order, with -0 below 0. NaNs are beyond the infinities.
fn rank(bits: u16, value: Value) -> i128 {
    let sign = 1 << (bits - 1);
    let magnitude = (value & !sign).cast_signed();
    if value & sign == 0 { magnitude } else { -1 - magnitude }
}

/// Bits of the exponent and of the fraction.
#[derive(Clone, Copy)]
struct FloatFormat {
    exponent: u32,
    fraction: u32,
}

fn format(bits: u16) -> FloatFormat {
    match bits {
        16 => FloatFormat { exponent: 5, fraction: 10 },
        32 => FloatFormat { exponent: 8, fraction: 23 },
        _ => FloatFormat { exponent: 11, fraction: 52 },
    }
}

impl FloatFormat {
    /// The exponent field of infinities and NaNs.
    fn special(self) -> i32 {
        (1 << self.exponent) - 1
    }

    /// The exponent of the last bit of a subnormal number.
    fn least(self) -> i32 {
        2 - (1 << (self.exponent - 1)) - self.fraction.cast_signed()
    }

    fn assemble(self, negative: bool, exponent: i32, fraction: Value) -> Value {
        let sign = Value::from(negative) << (self.exponent + self.fraction);
        sign | Value::from(exponent.unsigned_abs()) << self.fraction | fraction
    }
}

/// The bits of every NaN result. Reading R34.
fn not_a_number(bits: u16) -> Value {
    match bits {
        16 => 0x7fff,
        32 => 0x7fff_ffff,
        _ => 0xfff8_0000_0000_0000,
    }
}

/// What some bits stand for.
#[derive(Clone, Copy)]
enum DecodedFloat {
    NaN,
    Infinite {
        negative: bool,
    },
    /// `significand` times 2 to the `exponent`.
    Finite {
        negative: bool,
        significand: Value,
        exponent: i32,
    },
}

fn decode(bits: u16, value: Value) -> DecodedFloat {
    let format = format(bits);
    let negative = value >> (bits - 1) & 1 == 1;
    let fraction = value & ((1 << format.fraction) - 1);
    let field = value >> format.fraction & ((1 << format.exponent) - 1);
    let field = i32::try_from(field).expect("an exponent has few bits");
    if field == format.special() {
        return if fraction == 0 { DecodedFloat::Infinite { negative } } else { DecodedFloat::NaN };
    }
    let hidden = if field == 0 { 0 } else { 1 << format.fraction };
    let exponent = format.least() + field.max(1) - 1;
    DecodedFloat::Finite { negative, significand: hidden | fraction, exponent }
}

fn encode(bits: u16, number: DecodedFloat, rounding: Rounding) -> Value {
    let format = format(bits);
    let (negative, significand, exponent) = match number {
        DecodedFloat::NaN => return not_a_number(bits),
        DecodedFloat::Infinite { negative } => {
            return format.assemble(negative, format.special(), 0);
        }
        DecodedFloat::Finite { negative, significand, exponent } => {
            (negative, significand, exponent)
        }
    };
    if significand == 0 {
        return format.assemble(negative, 0, 0);
    }
    let top = significand.ilog2().cast_signed();
    let fraction = format.fraction.cast_signed();
    let mut last = (exponent + top - fraction).max(format.least());
    let mut rounded = shifted(significand, exponent - last, negative, rounding);
    if rounded >> (format.fraction + 1) != 0 {
        rounded >>= 1;
        last += 1;
    }
    if rounded >> format.fraction == 0 {
        return format.assemble(negative, 0, rounded);
    }
    let field = last - format.least() + 1;
    if field >= format.special() {
        let away = match rounding {
            Rounding::Nearest => true,
            Rounding::Zero => false,
            Rounding::Down => negative,
            Rounding::Up => !negative,
        };
        let largest = (1 << format.fraction) - 1;
        return if away {
            format.assemble(negative, format.special(), 0)
        } else {
            format.assemble(negative, format.special() - 1, largest)
        };
    }
    format.assemble(negative, field, rounded & ((1 << format.fraction) - 1))
}

/// `value` times 2 to the `by`, rounded to an integer.
fn shifted(value: Value, by: i32, negative: bool, rounding: Rounding) -> Value {
    if by >= 0 {
        return value << by;
    }
    let away = by.unsigned_abs();
    let whole = value.checked_shr(away).unwrap_or(0);
    let rest = if away >= 128 { value } else { value & ((1 << away) - 1) };
    // A value has far fewer bits than 128, so what is shifted by more is below a half.
    let half: Value = if away > 128 { Value::MAX } else { 1 << (away - 1) };
    let up = match rounding {
        Rounding::Nearest => rest > half || rest == half && whole & 1 == 1,
        Rounding::Zero => false,
        Rounding::Down => negative && rest != 0,
        Rounding::Up => !negative && rest != 0,
    };
    whole + Value::from(up)
}

/// The same operation on doubles and on singles; on halves it is exact in a double.
fn arithmetic(
    bits: u16,
    a: Value,
    b: Value,
    double: fn(f64, f64) -> f64,
    single: fn(f32, f32) -> f32,
) -> Value {
    let wide = |value: Value| f64::from_bits(low64(value));
    match bits {
        16 => {
            let widen = |half: Value| wide(encode(64, decode(16, half), Rounding::Nearest));
            let result = double(widen(a), widen(b));
            encode(16, decode(64, result.to_bits().into()), Rounding::Nearest)
        }
        32 => {
            let narrow = |value: Value| {
                f32::from_bits(u32::try_from(value & low_bits(32)).expect("32 bits are left"))
            };
            let result = single(narrow(a), narrow(b));
            if result.is_nan() { not_a_number(32) } else { result.to_bits().into() }
        }
        _ => {
            let result = double(wide(a), wide(b));
            if result.is_nan() { not_a_number(64) } else { result.to_bits().into() }
        }
    }
}

pub fn add(bits: u16, a: Value, b: Value) -> Value {
    arithmetic(bits, a, b, |a, b| a + b, |a, b| a + b)
}

pub fn sub(bits: u16, a: Value, b: Value) -> Value {
    arithmetic(bits, a, b, |a, b| a - b, |a, b| a - b)
}

pub fn mul(bits: u16, a: Value, b: Value) -> Value {
    arithmetic(bits, a, b, |a, b| a * b, |a, b| a * b)
}

/// `a * b + c`, rounded once.
fn fma(bits: u16, a: Value, b: Value, c: Value) -> Value {
    let wide = |value: Value| f64::from_bits(low64(value));
    match bits {
        16 => fma_of_halves([a, b, c]),
        32 => {
            let narrow = |value: Value| f32::from_bits(u32::try_from(value).expect("32 bits"));
            let result = narrow(a).mul_add(narrow(b), narrow(c));
            if result.is_nan() { not_a_number(32) } else { result.to_bits().into() }
        }
        _ => {
            let result = wide(a).mul_add(wide(b), wide(c));
            if result.is_nan() { not_a_number(64) } else { result.to_bits().into() }
        }
    }
}

fn fma_of_halves(operands: [Value; 3]) -> Value {
    let decoded = operands.map(|operand| decode(16, operand));
    let finite = decoded.map(|number| match number {
        DecodedFloat::Finite { negative, significand, exponent } => {
            Some((negative, significand.cast_signed(), exponent))
        }
        DecodedFloat::NaN | DecodedFloat::Infinite { .. } => None,
    });
    let [Some(first), Some(second), Some(other)] = finite else {
        let [a, b, c] = decoded.map(|of| f64::from_bits(low64(encode(64, of, Rounding::Nearest))));
        let result = a.mul_add(b, c);
        return encode(16, decode(64, result.to_bits().into()), Rounding::Nearest);
    };
    // The exact sum of numbers from 2^-48 to 2^33 has less than 128 bits.
    let product = (first.0 != second.0, first.1 * second.1, first.2 + second.2);
    let exponent = product.2.min(other.2);
    let aligned = |(negative, significand, own): (bool, i128, i32)| {
        let whole = significand << (own - exponent);
        if negative { -whole } else { whole }
    };
    let sum = aligned(product) + aligned(other);
    let negative = if sum == 0 { product.0 && other.0 } else { sum < 0 };
    let number = DecodedFloat::Finite { negative, significand: sum.unsigned_abs(), exponent };
    encode(16, number, Rounding::Nearest)
}

/// The bits of a number in a format of 32 or 64 bits, rounded to the nearest; `None` for another number of bits.
pub fn bits_of(bits: u32, value: f64) -> Option<u64> {
    match bits {
        #[expect(clippy::cast_possible_truncation, reason = "it is rounded to the nearest")]
        32 => Some((value as f32).to_bits().into()),
        64 => Some(value.to_bits()),
        _ => None,
    }
}

/// The number whose bits these are, in decimal: the shortest that is rounded to it; `None` for a format of other than 32 or 64 bits.
pub fn decimal(bits: u16, value: Value) -> Option<String> {
    match bits {
        32 => Some(format!("{:?}", f32::from_bits(u32::try_from(value & low_bits(32)).ok()?))),
        64 => Some(format!("{:?}", f64::from_bits(u64::try_from(value & low_bits(64)).ok()?))),
        _ => None,
    }
}

/// A subnormal number as the zero of its sign.
pub fn flush(bits: u16, value: Value) -> Value {
    let format = format(bits);
    let subnormal = value >> format.fraction & ((1 << format.exponent) - 1) == 0;
    if subnormal { value & 1 << (bits - 1) } else { value & low_bits(bits) }
}

/// `value`, of type `from`, in the type `to`; at least one of them is a float.
pub fn convert(to: Type, from: Type, rounding: Rounding, value: Value) -> Value {
    let number = if from.kind == TypeKind::Float {
        decode(from.bits, value)
    } else {
        let wide = alu::extend(from, value);
        let negative = from.kind == TypeKind::Signed && wide.cast_signed() < 0;
        let significand = if negative { wide.wrapping_neg() } else { wide };
        DecodedFloat::Finite { negative, significand, exponent: 0 }
    };
    if to.kind == TypeKind::Float {
        return encode(to.bits, number, rounding);
    }
    alu::extend(to, integer(to, from, number, rounding))
}

/// What is out of range becomes the nearest number of the range.
fn integer(to: Type, from: Type, number: DecodedFloat, rounding: Rounding) -> Value {
    let signed = to.kind == TypeKind::Signed;
    let largest = low_bits(to.bits - u16::from(signed));
    let smallest = if signed { largest.wrapping_neg().wrapping_sub(1) } else { 0 };
    let (negative, magnitude) = match number {
        DecodedFloat::NaN if from.bits < 64 && to.bits < 64 => return 0,
        DecodedFloat::NaN => return 1 << (to.bits - 1),
        DecodedFloat::Infinite { negative } => (negative, Value::MAX),
        DecodedFloat::Finite { negative, significand, exponent } => {
            // A significand has at most 53 bits, and no integer more than 64.
            let magnitude = if exponent > 64 && significand != 0 {
                Value::MAX
            } else {
                shifted(significand, exponent, negative, rounding)
            };
            (negative, magnitude)
        }
    };
    match negative {
        false => magnitude.min(largest),
        true if magnitude <= smallest.wrapping_neg() => magnitude.wrapping_neg(),
        true => smallest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const F16: Type = Type { kind: TypeKind::Float, bits: 16 };
    const F32: Type = Type { kind: TypeKind::Float, bits: 32 };
    const F64: Type = Type { kind: TypeKind::Float, bits: 64 };
    const S32: Type = Type { kind: TypeKind::Signed, bits: 32 };
    const S64: Type = Type { kind: TypeKind::Signed, bits: 64 };

    #[test]
    #[expect(clippy::cast_possible_truncation, reason = "the conversion that is compared with")]
    #[expect(clippy::float_cmp, reason = "equality of floats is tested")]
    fn float_operations_are_those_of_the_processor() {
        let of = |n: f32| Value::from(n.to_bits());
        let two = |op: FloatOp, a: f32, b: f32| op.apply(32, of(a), of(b), 0);
        let numbers = [0.0, -0.0, 1.0, -1.5, 3.25, 1e30, -1e-40, f32::INFINITY, f32::NAN];
        for a in numbers {
            assert_eq!(two(FloatOp::Neg, a, a), of(-a));
            assert_eq!(two(FloatOp::Abs, a, a), of(a.abs()));
            for b in numbers {
                let compare = |comparison, unordered| {
                    two(FloatOp::Compare { comparison, unordered }, a, b) == 1
                };
                assert_eq!(compare(Comparison::Lt, false), a < b, "{a} {b}");
                assert_eq!(compare(Comparison::Eq, false), a == b, "{a} {b}");
                assert_eq!(compare(Comparison::Ne, true), a != b, "{a} {b}");
                assert_eq!(compare(Comparison::Ge, false), a >= b, "{a} {b}");
                let (min, max) = (FloatOp::Min { nan: false }, FloatOp::Max { nan: false });
                if !(a.is_nan() && b.is_nan()) {
                    assert_eq!(f32::from_bits(two(min, a, b) as u32), a.min(b), "{a} {b}");
                    assert_eq!(f32::from_bits(two(max, a, b) as u32), a.max(b), "{a} {b}");
                }
                assert_eq!(two(FloatOp::Max { nan: true }, f32::NAN, b), 0x7fff_ffff);
            }
        }
        assert_eq!(two(FloatOp::Min { nan: false }, 0.0, -0.0), of(-0.0));
        assert_eq!(FloatOp::Fma.apply(32, of(3.0), of(4.0), of(5.0)), of(17.0));
        for a in numbers {
            for b in numbers {
                for c in numbers {
                    let nearest = FloatOp::FmaRounded(Rounding::Nearest);
                    let fused = FloatOp::Fma.apply(32, of(a), of(b), of(c));
                    assert_eq!(nearest.apply(32, of(a), of(b), of(c)), fused, "{a} {b} {c}");
                }
            }
        }
        // 2048 * 2048 + 1 is rounded once: in halves it is out of range, and 64 * 32 + 1 is a tie.
        assert_eq!(FloatOp::Fma.apply(16, 0x5400, 0x5000, 0x3c00), 0x6800);
        assert_eq!(FloatOp::Fma.apply(16, 0x5400, 0x5000, 0x4200), 0x6802);
        assert_eq!(FloatOp::Fma.apply(16, 0x3c00, 0x3c00, 0xbc00), 0);
        let brain = |n: f32| FloatOp::ToBf16(Rounding::Nearest).apply(32, of(n), 0, 0);
        assert_eq!(brain(1.0), 0x3f80);
        // A tie, to even, below and above.
        assert_eq!(brain(f32::from_bits(0x3f80_8000)), 0x3f80);
        assert_eq!(brain(f32::from_bits(0xbf81_8000)), 0xbf82);
        assert_eq!(brain(f32::MAX), 0x7f80);
    }

    #[test]
    fn whole_numbers_keep_their_sign() {
        let numbers = [0.0_f32, -0.0, 0.4, -0.4, 0.5, 1.5, -2.5, 7.999, 1e30, -1e-40];
        for of in numbers.into_iter().chain([f32::INFINITY]) {
            let whole = |rounding| FloatOp::Whole(rounding).apply(32, of.to_bits().into(), 0, 0);
            let bits = |number: f32| Value::from(number.to_bits());
            assert_eq!(whole(Rounding::Nearest), bits(of.round_ties_even()), "{of}");
            assert_eq!(whole(Rounding::Zero), bits(of.trunc()), "{of}");
            assert_eq!(whole(Rounding::Down), bits(of.floor()), "{of}");
            assert_eq!(whole(Rounding::Up), bits(of.ceil()), "{of}");
        }
    }

    /// Bit patterns without a pattern, and those where something happens.
    pub(super) fn patterns() -> impl Iterator<Item = u64> {
        let mut state = 1u64;
        let corners = [0, 1, 0x7ff0 << 48, 0xfff0 << 48, 0x7ff8 << 48, 0x3ff0 << 48, 1 << 63];
        let near = [0x36a0, 0x36b0, 0x3810, 0x47ef, 0x47f0, 0x3e70, 0x40ef, 0x40f0];
        let near = near.into_iter().flat_map(|top: u64| {
            [0, 1, 0x8000_0000_0000, 0xffff_ffff_ffff].map(|low| top << 48 | low)
        });
        let mixed = (0..20_000).map(move |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state ^ state >> 29
        });
        // Exponents near those of single precision are rare in random bits.
        let small =
            (0..20_000u64).map(|n| (1000 + n % 60) << 52 | n.wrapping_mul(0x1234_5678_9abc));
        corners.into_iter().chain(near).chain(mixed).chain(small)
    }

    #[test]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the conversions that are compared with"
    )]
    fn conversions_round_as_the_processor_does() {
        for bits in patterns() {
            let double = f64::from_bits(bits);
            let single = convert(F32, F64, Rounding::Nearest, bits.into());
            if double.is_nan() {
                assert_eq!(single, 0x7fff_ffff);
                continue;
            }
            assert_eq!(single, Value::from((double as f32).to_bits()), "{double:e}");
            let back = convert(F64, F32, Rounding::Nearest, single);
            assert_eq!(back, Value::from(f64::from(double as f32).to_bits()));
            let whole = convert(S64, F64, Rounding::Zero, bits.into());
            assert_eq!(whole, i128::from(double as i64).cast_unsigned(), "{double:e}");
            let narrow = convert(Type::U32, F64, Rounding::Zero, bits.into());
            assert_eq!(narrow, Value::from(double as u32), "{double:e}");
        }
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "the conversions that are compared with")]
    fn integers_round_as_the_processor_does() {
        for bits in patterns() {
            let signed = bits.cast_signed();
            let single = convert(F32, S64, Rounding::Nearest, bits.into());
            assert_eq!(single, Value::from((signed as f32).to_bits()), "{signed}");
            let double = convert(F64, Type::U64, Rounding::Nearest, bits.into());
            assert_eq!(double, Value::from((bits as f64).to_bits()), "{bits}");
        }
    }

    #[test]
    fn every_half_survives_a_wider_type() {
        for half in 0..=0xffffu32 {
            let wide = convert(F32, F16, Rounding::Nearest, half.into());
            let back = convert(F16, F32, Rounding::Nearest, wide);
            let number = half & 0x7fff <= 0x7c00;
            assert_eq!(back, if number { half.into() } else { 0x7fff }, "{half:#x}");
        }
        // One, the least subnormal, the largest.
        for (half, single) in [(0x3c00, 1.0f32), (1, 5.960_464_5e-8), (0x7bff, 65504.0)] {
            let wide = convert(F32, F16, Rounding::Nearest, half);
            assert_eq!(wide, single.to_bits().into());
        }
    }

    #[test]
    fn directions_of_rounding() {
        let third = (1.0f64 / 3.0).to_bits();
        let cases = [
            (Rounding::Nearest, 0x3555),
            (Rounding::Zero, 0x3555),
            (Rounding::Down, 0x3555),
            (Rounding::Up, 0x3556),
        ];
        for (rounding, half) in cases {
            assert_eq!(convert(F16, F64, rounding, third.into()), half, "{rounding:?}");
        }
        let huge = Value::from(1e6f64.to_bits());
        assert_eq!(convert(F16, F64, Rounding::Nearest, huge), 0x7c00);
        assert_eq!(convert(F16, F64, Rounding::Zero, huge), 0x7bff);
        for (rounding, whole) in [
            (Rounding::Nearest, -2),
            (Rounding::Zero, -2),
            (Rounding::Down, -3),
            (Rounding::Up, -2i128),
        ] {
            let bits = Value::from((-2.5f32).to_bits());
            assert_eq!(convert(S32, F32, rounding, bits), whole.cast_unsigned(), "{rounding:?}");
        }
    }

    #[test]
    fn sums_of_halves_round_once() {
        // 2048 + 1 is a tie, to even; 2048 + 3 is one too, upwards.
        assert_eq!(add(16, 0x6800, 0x3c00), 0x6800);
        assert_eq!(add(16, 0x6800, 0x4200), 0x6802);
        assert_eq!(sub(16, 0x3c00, 0x3c00), 0);
        assert_eq!(mul(16, 0x7bff, 0x4000), 0x7c00);
        assert_eq!(add(32, 0x7f80_0000, 0xff80_0000), 0x7fff_ffff);
        assert_eq!(flush(32, 0x8000_0001), 0x8000_0000);
    }

    #[test]
    fn what_is_no_number_becomes_an_integer_all_the_same() {
        let (nan32, nan64) = (0x7fff_ffff, 0x7ff8 << 48);
        assert_eq!(convert(S32, F32, Rounding::Zero, nan32), 0);
        assert_eq!(convert(Type::U32, F64, Rounding::Zero, nan64), 1 << 31);
        assert_eq!(convert(Type::U64, F32, Rounding::Zero, nan32), 1 << 63);
    }
}
