//! Uninterpreted functions: operations whose results are not computed as the hardware does, such as `ex2.approx`
//! or a shuffle. Equal operands give equal results on both sides of a comparison.
//!
//! Some of them keep laws on which compilers rely: an `ex2` of a large negative number is the square of an `ex2`,
//! an `lg2` of a subnormal number is that of a multiple, a sine is that of a part of a turn, and what comes from
//! the lane itself is its own value.

use super::{Type, TypeKind};
use crate::isa::float::{self, FloatOp, Rounding};
use crate::value::{Value, low_bits};

/// An operation without a definition, identified by its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OpaqueOp(u64);

impl OpaqueOp {
    /// The operation of this name. The names of one operation in two languages must be equal: take that of PTX.
    pub const fn named(name: &str) -> OpaqueOp {
        let bytes = name.as_bytes();
        let (mut hash, mut index) = (0xcbf2_9ce4_8422_2325_u64, 0);
        while index < bytes.len() {
            hash = (hash ^ bytes[index] as u64).wrapping_mul(0x0100_0000_01b3);
            index += 1;
        }
        OpaqueOp(hash)
    }

    /// The result, which keeps the laws of the operation.
    pub fn apply(self, ty: Type, sources: &[Value]) -> Value {
        let value = sources[0];
        let lane = sources.get(1).copied().unwrap_or(value) & 31;
        if let Some(at) = AMONG_LIKE_LANES.iter().position(|other| *other == self) {
            let own = value & low_bits(32);
            return if is_small(own) { SHUFFLES[at].apply(ty, sources) } else { own };
        }
        let shuffles = SHUFFLES.contains(&self);
        if shuffles && lane == 0 || REDUCTIONS.contains(&self) {
            return value & low_bits(ty.bits);
        }
        if shuffles {
            let value = value & low_bits(32);
            let mut sources = sources.to_vec();
            sources[0] = if is_small(value) { value } else { upper(value) };
            return alike(value, self.depends_on(ty, &sources));
        }
        match self {
            EX2 => ex2(value & low_bits(32)),
            LG2 => lg2(value & low_bits(32)),
            RSQRT => rsqrt(value & low_bits(32)),
            TF32 => tf32(value & low_bits(32)),
            TF32_FINITE => finite_tf32(tf32(value & low_bits(32))),
            SIN => OpaqueOp::SIN_OF_TURN.depends_on(Type::F32, &[turn(value)]),
            OpaqueOp::ORIGINS => origins(sources),
            COS => OpaqueOp::COS_OF_TURN.depends_on(Type::F32, &[turn(value)]),
            _ => self.depends_on(ty, sources),
        }
    }

    /// A shuffle among lanes that have the same floats and large numbers, and different small ones, such as indices: what
    /// decides between equal values shows only there. `None` if it is not a shuffle.
    pub fn among_like_lanes(self) -> Option<OpaqueOp> {
        let at = SHUFFLES.iter().position(|shuffle| *shuffle == self)?;
        Some(AMONG_LIKE_LANES[at])
    }

    /// What a result is computed from, whatever computes it: the same for a product and a sum as for both at once,
    /// and in each order.
    pub const ORIGINS: OpaqueOp = OpaqueOp::named("origins");

    /// The sine and the cosine of a part of a turn.
    pub const SIN_OF_TURN: OpaqueOp = OpaqueOp::named("sin of a turn");
    pub const COS_OF_TURN: OpaqueOp = OpaqueOp::named("cos of a turn");

    /// A number from 1 to 1021 that depends on the name and all operands: as a float of the type, or as an
    /// integer. Sums and products of some such floats are exact, so that contracting and reordering them
    /// changes nothing. An operand that is not given counts as the first.
    fn depends_on(self, ty: Type, sources: &[Value]) -> Value {
        let mut hash = self.0;
        let of = |index: usize| sources.get(index).copied().unwrap_or(sources[0]);
        for source in [of(0), of(1), of(2)] {
            let source = without_sign_extension(source);
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

/// Whether 32 bits are a small integer rather than a float or two halves.
fn is_small(value: Value) -> bool {
    matches!(value, ..0x400 | 0xffff_fc00..)
}

/// A float without its last digits, in which it differs between code that rounds it more often and less often. One
/// half remains as it is.
fn upper(value: Value) -> Value {
    if value >> 16 == 0 { value } else { value >> 16 << 16 }
}

/// What a register of another lane contains: a number of the kind that this lane's value is. Beside a float, a small
/// integer is so near to 0 that their sum does not show it.
fn alike(value: Value, number: Value) -> Value {
    // A half between 2 and 4, and the upper part of a float between 2 and 512, both with few digits, so that sums and
    // products of some of them are exact.
    let half = 0x4000 + ((number & 0x3f) << 4);
    match (value >> 16, value & low_bits(16)) {
        _ if is_small(value) => number,
        (0, _) => half,
        (_, low) if low != 0 && low.trailing_zeros() >= 6 => half << 16 | 0x4000,
        _ => half << 16,
    }
}

const EX2: OpaqueOp = OpaqueOp::named("ex2.approx.f32");
const LG2: OpaqueOp = OpaqueOp::named("lg2.approx.f32");
const TF32: OpaqueOp = OpaqueOp::named("cvt.rna.tf32.f32");
const TF32_FINITE: OpaqueOp = OpaqueOp::named("cvt.rna.satfinite.tf32.f32");
const RSQRT: OpaqueOp = OpaqueOp::named("rsqrt.approx.f32");
const SIN: OpaqueOp = OpaqueOp::named("sin.approx.f32");
const COS: OpaqueOp = OpaqueOp::named("cos.approx.f32");

/// Whether an `.f32` is infinite or no number.
fn is_infinite(value: Value) -> bool {
    value & 0x7fff_ffff >= 0x7f80_0000
}

/// An `.f32` as a `.tf32`: rounded to 10 bits of fraction, and away from 0 half way between two.
fn tf32(value: Value) -> Value {
    let rounded = if is_infinite(value) { value } else { value + 0x1000 };
    rounded & 0xffff_e000
}

/// The largest finite number in place of an infinite one.
fn finite_tf32(value: Value) -> Value {
    if is_infinite(value) { value - 0x2000 } else { value }
}

/// Operations whose second operand chooses a lane: 0 is the lane itself, which is the first one.
const SHUFFLES: [OpaqueOp; 4] = [
    OpaqueOp::named("shfl.idx.b32"),
    OpaqueOp::named("shfl.up.b32"),
    OpaqueOp::named("shfl.down.b32"),
    OpaqueOp::named("shfl.bfly.b32"),
];

/// The same where other lanes have the same floats and large numbers.
const AMONG_LIKE_LANES: [OpaqueOp; 4] = [
    OpaqueOp::named("shfl.idx.b32 among like lanes"),
    OpaqueOp::named("shfl.up.b32 among like lanes"),
    OpaqueOp::named("shfl.down.b32 among like lanes"),
    OpaqueOp::named("shfl.bfly.b32 among like lanes"),
];

/// Operations on the values of the active lanes, of which there is one.
const REDUCTIONS: [OpaqueOp; 9] = [
    OpaqueOp::named("redux.add.s32"),
    OpaqueOp::named("redux.add.u32"),
    OpaqueOp::named("redux.min.s32"),
    OpaqueOp::named("redux.min.u32"),
    OpaqueOp::named("redux.max.s32"),
    OpaqueOp::named("redux.max.u32"),
    OpaqueOp::named("redux.and.b32"),
    OpaqueOp::named("redux.or.b32"),
    OpaqueOp::named("redux.xor.b32"),
];

/// Floats of 32 bits.
mod single {
    pub(super) const ZERO: u128 = 0;
    pub(super) const INFINITY: u128 = 0x7f80_0000;
    pub(super) const MINUS_INFINITY: u128 = 0xff80_0000;
    pub(super) const NAN: u128 = 0x7fff_ffff;
    pub(super) const SIGN: u128 = 0x8000_0000;
    pub(super) const HALF: u128 = 0x3f00_0000;
    pub(super) const MINUS_126: u128 = 0xc2fc_0000;
    pub(super) const MINUS_24: u128 = 0xc1c0_0000;
    /// 2 to the 24.
    pub(super) const SCALE: u128 = 0x4b80_0000;
    /// The least number that is not subnormal.
    pub(super) const LEAST: u128 = 0x0080_0000;
    /// One divided by a turn, which is two pi.
    pub(super) const PER_TURN: u128 = 0x3e22_f983;
}

/// Of a number below -126 it is the square of that of its half: code that does not flush subnormal numbers
/// computes it so.
fn ex2(of: Value) -> Value {
    match of {
        single::INFINITY => return of,
        single::MINUS_INFINITY => return single::ZERO,
        _ if of & !single::SIGN > single::INFINITY => return single::NAN,
        _ => {}
    }
    // Both are negative, so the greater magnitude has the greater bits.
    if of > single::MINUS_126 {
        let root = ex2(float::mul(32, of, single::HALF));
        return float::mul(32, root, root);
    }
    EX2.depends_on(Type::F32, &[of])
}

/// Of a subnormal number it is that of its product with 2 to the 24, less 24.
fn lg2(of: Value) -> Value {
    match of & !single::SIGN {
        0 => single::MINUS_INFINITY,
        magnitude if magnitude > single::INFINITY => single::NAN,
        magnitude if magnitude < single::LEAST => {
            let scaled = lg2(float::mul(32, of, single::SCALE));
            float::add(32, scaled, single::MINUS_24)
        }
        _ if of & single::SIGN != 0 => single::NAN,
        single::INFINITY => single::INFINITY,
        _ => LG2.depends_on(Type::F32, &[of]),
    }
}

/// It is computed, since code approaches a square root with it.
fn rsqrt(of: Value) -> Value {
    let (single, double) = (Type::F32, Type { bits: 64, ..Type::F32 });
    let wide = float::convert(double, single, Rounding::Nearest, of);
    let root = FloatOp::Sqrt.apply(64, wide, 0, 0);
    let one = Value::from(1.0_f64.to_bits());
    let quotient = FloatOp::Div.apply(64, one, root, 0);
    float::convert(single, double, Rounding::Nearest, quotient)
}

/// The part of a turn that an angle is, as code computes it before it takes the sine.
fn turn(angle: Value) -> Value {
    let sign = (angle ^ single::PER_TURN) & single::SIGN;
    let product = FloatOp::FmaRounded(Rounding::Zero);
    product.apply(32, angle & low_bits(32), single::PER_TURN, sign)
}

/// A value without the repeated sign of a narrower one: whether a register repeats it depends on the instruction
/// that set the register, and the operation does not see it.
fn without_sign_extension(value: Value) -> Value {
    let narrowed = |value: Value, bits: u16| {
        let high = value >> (bits - 1);
        let all = low_bits(2 * bits) >> (bits - 1);
        if high == all { value & low_bits(bits) } else { value }
    };
    narrowed(narrowed(value, 64), 32)
}

/// A set in the low 13 bits of 16, which a float of each width has. The bits above them tell it from other values.
const SET: Value = 0xa000;
const ELEMENTS: u64 = 13;

/// The union of the values: an element for each that is not a set; 0 is empty, as code adds zeros.
fn origins(values: &[Value]) -> Value {
    let elements = low_bits(13);
    let of = |value: Value| match value {
        0 => 0,
        _ if value & !elements == SET => value & elements,
        _ => {
            let value = without_sign_extension(value);
            1 << (mixed(crate::value::low64(value ^ value >> 64)) % ELEMENTS)
        }
    };
    match values.iter().fold(0, |all, &value| all | of(value)) {
        0 => 0,
        all => SET | all,
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
        let (ex2, lg2) = (OpaqueOp::named("ex2.approx.f16"), OpaqueOp::named("lg2.approx.f64"));
        let one = |op: OpaqueOp, sources: &[Value]| op.apply(Type::U32, sources);
        assert_eq!(one(ex2, &[5]), one(ex2, &[5]));
        assert_ne!(one(ex2, &[5]), one(lg2, &[5]));
        assert_ne!(one(ex2, &[5]), one(ex2, &[6]));
        assert_ne!(one(ex2, &[5, 1, 2]), one(ex2, &[5, 2, 1]));
        assert_ne!(one(ex2, &[1 << 64]), one(ex2, &[1 << 65]));
    }

    #[test]
    fn a_tf32_has_10_bits_of_fraction() {
        let one = |name: &str, of: Value| OpaqueOp::named(name).apply(Type::F32, &[of]);
        for (of, rounded, finite) in [
            (0x3f80_0fff, 0x3f80_0000, 0x3f80_0000),
            (0x3f80_1000, 0x3f80_2000, 0x3f80_2000),
            (0x7f80_0000, 0x7f80_0000, 0x7f7f_e000),
            (0x7f7f_ffff, 0x7f80_0000, 0x7f7f_e000),
        ] {
            assert_eq!(one("cvt.rna.tf32.f32", of), rounded);
            assert_eq!(one("cvt.rna.satfinite.tf32.f32", of), finite);
        }
    }

    #[test]
    fn operations_keep_the_laws_that_code_relies_on() {
        let bits = |number: f32| Value::from(number.to_bits());
        let one = |name: &str, of: f32| OpaqueOp::named(name).apply(Type::F32, &[bits(of)]);
        let times = |a: Value, b: Value| float::mul(32, a, b);
        let root = one("ex2.approx.f32", -100.0);
        assert_eq!(one("ex2.approx.f32", -200.0), times(root, root));
        assert_ne!(one("ex2.approx.f32", -126.0), one("ex2.approx.f32", -125.0));
        assert_eq!(one("ex2.approx.f32", f32::NEG_INFINITY), 0);
        let (small, scaled) = (f32::from_bits(3), f32::from_bits(3) * 16_777_216.0);
        let log = float::add(32, one("lg2.approx.f32", scaled), bits(-24.0));
        assert_eq!(one("lg2.approx.f32", small), log);
        assert_eq!(one("lg2.approx.f32", 0.0), bits(f32::NEG_INFINITY));
        assert_eq!(one("lg2.approx.f32", -1.0), single::NAN);
        assert_eq!(one("rsqrt.approx.f32", 4.0), bits(0.5));
        // The product is exact.
        let part = 4.0_f32 * f32::from_bits(0x3e22_f983);
        let sine = OpaqueOp::SIN_OF_TURN.apply(Type::F32, &[bits(part)]);
        assert_eq!(one("sin.approx.f32", 4.0), sine);
        assert_ne!(one("sin.approx.f32", 4.0), one("cos.approx.f32", 4.0));
        let shuffle = |lane| OpaqueOp::named("shfl.idx.b32").apply(Type::U32, &[777, lane, 31]);
        assert_eq!((shuffle(0), shuffle(32)), (777, 777));
        assert_ne!(shuffle(1), shuffle(2));
        assert_eq!(OpaqueOp::named("redux.add.s32").apply(Type::U32, &[9]), 9);
    }

    #[test]
    fn origins_do_not_depend_on_how_they_are_grouped() {
        let of = |sources: &[Value]| OpaqueOp::ORIGINS.apply(Type::F32, sources);
        let bits = |number: f32| Value::from(number.to_bits());
        let [a, b, c] = [2.0, 3.0, 102.0].map(bits);
        assert_eq!(of(&[of(&[a, b]), c]), of(&[a, b, c]));
        assert_eq!(of(&[of(&[a, c]), b]), of(&[c, b, a]));
        assert_ne!(of(&[a, b]), of(&[a, c]));
        assert_eq!(of(&[of(&[a]), 0]), of(&[a]));
        assert_eq!(of(&[0]), 0);
    }

    #[test]
    fn a_repeated_sign_is_no_part_of_an_operand() {
        let shuffle = OpaqueOp::named("shfl.bfly.b32");
        let of = |value: i128| shuffle.apply(Type::U32, &[value.cast_unsigned(), 16, 31]);
        assert_eq!(of(-5), of(0xffff_fffb));
        assert_eq!(of(-5), of(0xffff_ffff_ffff_fffb));
        assert_ne!(of(-5), of(0x7fff_fffb));
    }

    #[test]
    fn a_shuffled_value_counts_beside_the_own_one() {
        let other = |value: u32| {
            let value = OpaqueOp::named("shfl.up.b32").apply(Type::U32, &[value.into(), 1, 0]);
            u32::try_from(value).expect("32 bits")
        };
        for own in [2.0_f32, 0.3, -7.5] {
            let sum = own + f32::from_bits(other(own.to_bits()));
            assert!((sum - own).abs() > 1.0, "{own} {sum}");
        }
        let counts = |half: u32| (0x4000..0x6000).contains(&half);
        let pair = other(0x4200_4400);
        assert!(counts(pair >> 16) && counts(pair & 0xffff), "{pair:x}");
        assert!(counts(other(0x4200)));
        let third = (1.0_f32 / 3.0).to_bits();
        assert_eq!(other(third), other(third + 1));
        assert_ne!(other(third), other(third + (1 << 18)));
        for small in [0, 51, 0xffff_fffb] {
            assert!((1..1022).contains(&other(small)), "{small}");
        }
    }

    #[test]
    fn like_lanes_have_the_same_large_numbers_and_other_small_ones() {
        let shuffle = OpaqueOp::named("shfl.bfly.b32");
        let like = shuffle.among_like_lanes().expect("it is a shuffle");
        let of = |op: OpaqueOp, value: Value| op.apply(Type::U32, &[value, 16, 31]);
        for own in [0xc080_0000, 0x3f80_0000, 0x1234_5678] {
            assert_eq!(of(like, own), own);
            assert_ne!(of(shuffle, own), own);
        }
        for own in [0, 51, 0xffff_fffb] {
            assert_eq!(of(like, own), of(shuffle, own));
            assert_ne!(of(like, own), own);
        }
        assert_eq!(OpaqueOp::named("redux.add.s32").among_like_lanes(), None);
    }

    #[test]
    fn a_float_result_is_a_small_whole_number() {
        let bits = u32::try_from(OpaqueOp::named("sin.approx.f32").apply(Type::F32, &[7]));
        let number = f32::from_bits(bits.expect("32 bits"));
        assert!((1.0..=1021.0).contains(&number) && number.fract() == 0.0, "{number}");
    }
}
