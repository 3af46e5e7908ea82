//! Integer arithmetic beyond sums, products and logic, as the pages of the instructions define it.

use super::alu::extend;
use super::{Type, TypeKind};
use crate::value::{Value, low_bits};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum IntegerOp {
    Neg,
    Abs,
    Min,
    Max,
    /// Towards zero. The document does not define a quotient or a remainder by 0. Here both have all bits set,
    /// which is what the code of `ptxas` computes.
    Div,
    Rem,
    /// The high half of the product.
    MulHi,
    /// `c + |a - b|`
    Sad,
    /// 1 for 0, and 0 for any other.
    Cnot,
    /// The number of ones.
    Popc,
    /// The number of zeros above the highest one.
    Clz,
    Brev,
    /// Where the highest one is, or zero of a negative number: from bit 0, or as the number of
    /// shifts to the left that bring it to the highest bit.
    Bfind {
        shift: bool,
    },
    /// The bits of `a` from `b` on, as many as `c`.
    Bfe,
    /// `b` with bits of `a` from the position in the low byte of `c` on, as many as its next byte says.
    Bfi,
    /// Bytes of `a` and `b`, chosen by `c`.
    Prmt(Permutation),
    /// The function of three bits whose table this is.
    Lop3(u8),
    /// 32 bits of `a` and, above them, `b`.
    Funnel {
        right: bool,
        /// The amount is taken modulo 32; otherwise 32 is the most.
        wrap: bool,
    },
}

/// How `prmt` chooses bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Permutation {
    /// Each by four bits: three for the byte, and one to repeat its sign.
    Index,
    Forward4,
    Backward4,
    Replicate8,
    EdgeLeft,
    EdgeRight,
    Replicate16,
}

impl Permutation {
    const ALL: [Permutation; 7] = [
        Permutation::Index,
        Permutation::Forward4,
        Permutation::Backward4,
        Permutation::Replicate8,
        Permutation::EdgeLeft,
        Permutation::EdgeRight,
        Permutation::Replicate16,
    ];

    /// After `prmt.b32`, without the dot; empty for the first one.
    pub fn name(self) -> &'static str {
        match self {
            Permutation::Index => "",
            Permutation::Forward4 => "f4e",
            Permutation::Backward4 => "b4e",
            Permutation::Replicate8 => "rc8",
            Permutation::EdgeLeft => "ecl",
            Permutation::EdgeRight => "ecr",
            Permutation::Replicate16 => "rc16",
        }
    }

    /// By this name; `None` if it is not the name of a mode.
    pub fn named(name: &str) -> Option<Permutation> {
        Permutation::ALL.into_iter().find(|of| of.name() == name)
    }

    /// The four bits that choose the byte at this place of the result.
    fn selector(self, control: Value, place: u32) -> Value {
        let n = control & 3;
        let place = Value::from(place);
        match self {
            Permutation::Index => control >> (4 * place) & 0xf,
            Permutation::Forward4 => n + place,
            Permutation::Backward4 => (n + 8 - place) & 7,
            Permutation::Replicate8 => n,
            Permutation::EdgeLeft => place.max(n),
            Permutation::EdgeRight => place.min(n),
            Permutation::Replicate16 => 2 * (n & 1) + (place & 1),
        }
    }
}

impl IntegerOp {
    /// How many operands it has.
    pub fn arity(self) -> usize {
        match self {
            IntegerOp::Neg
            | IntegerOp::Abs
            | IntegerOp::Cnot
            | IntegerOp::Popc
            | IntegerOp::Clz
            | IntegerOp::Brev
            | IntegerOp::Bfind { .. } => 1,
            IntegerOp::Min
            | IntegerOp::Max
            | IntegerOp::Div
            | IntegerOp::Rem
            | IntegerOp::MulHi => 2,
            IntegerOp::Sad
            | IntegerOp::Bfe
            | IntegerOp::Bfi
            | IntegerOp::Prmt(_)
            | IntegerOp::Lop3(_)
            | IntegerOp::Funnel { .. } => 3,
        }
    }

    /// The result, sign- or zero-extended.
    pub fn apply(self, ty: Type, a: Value, b: Value, c: Value) -> Value {
        let mask = low_bits(ty.bits);
        let bits = u32::from(ty.bits);
        let signed = ty.kind == TypeKind::Signed;
        // Operands may be wider than the type.
        let (wide_a, wide_b) = (extend(ty, a), extend(ty, b));
        let (a, b) = (a & mask, b & mask);
        let less = if signed { wide_a.cast_signed() < wide_b.cast_signed() } else { a < b };
        let negative = signed && a >> (bits - 1) & 1 == 1;
        let value = match self {
            IntegerOp::Neg => a.wrapping_neg(),
            IntegerOp::Abs => {
                if negative {
                    a.wrapping_neg()
                } else {
                    a
                }
            }
            IntegerOp::Min => {
                if less {
                    a
                } else {
                    b
                }
            }
            IntegerOp::Max => {
                if less {
                    b
                } else {
                    a
                }
            }
            IntegerOp::Div | IntegerOp::Rem if b == 0 => mask,
            IntegerOp::Div if signed => {
                wide_a.cast_signed().wrapping_div(wide_b.cast_signed()).cast_unsigned()
            }
            IntegerOp::Rem if signed => {
                wide_a.cast_signed().wrapping_rem(wide_b.cast_signed()).cast_unsigned()
            }
            IntegerOp::Div => a / b,
            IntegerOp::Rem => a % b,
            // Both have at most 64 bits, so that the product has room.
            IntegerOp::MulHi => wide_a.wrapping_mul(wide_b) >> bits,
            IntegerOp::Sad => {
                let distance =
                    if less { wide_b.wrapping_sub(wide_a) } else { wide_a.wrapping_sub(wide_b) };
                c.wrapping_add(distance)
            }
            IntegerOp::Cnot => Value::from(a == 0),
            IntegerOp::Popc => return Value::from(a.count_ones()),
            IntegerOp::Clz => return Value::from(bits - width(a)),
            IntegerOp::Brev => a.reverse_bits() >> (Value::BITS - bits),
            IntegerOp::Bfind { shift } => {
                let found = width(if negative { !a & mask } else { a });
                return match (found, shift) {
                    (0, _) => low_bits(32),
                    (found, false) => Value::from(found - 1),
                    (found, true) => Value::from(bits - found),
                };
            }
            IntegerOp::Bfe => field(a, bits, signed, b & 0xff, c & 0xff),
            IntegerOp::Bfi => {
                let (at, length) = (shift(c & 0xff), shift(c >> 8 & 0xff));
                let hole = (ones(length).checked_shl(at).unwrap_or(0)) & mask;
                b & !hole | a.checked_shl(at).unwrap_or(0) & hole
            }
            IntegerOp::Prmt(how) => {
                let bytes = a | b << 32;
                let byte = |place: u32| {
                    let selector = how.selector(c, place);
                    let byte = bytes >> (8 * (selector & 7)) & 0xff;
                    let sign = selector & 8 != 0 && byte & 0x80 != 0;
                    // A repeated sign is all of the byte.
                    let byte = match (selector & 8 != 0, sign) {
                        (false, _) => byte,
                        (true, true) => 0xff,
                        (true, false) => 0,
                    };
                    byte << (8 * place)
                };
                (0..4).fold(0, |all, place| all | byte(place))
            }
            IntegerOp::Lop3(table) => {
                let term = |index: u8| {
                    let of =
                        |value: Value, bit: u8| if index >> bit & 1 == 1 { value } else { !value };
                    if table >> index & 1 == 1 { of(a, 2) & of(b, 1) & of(c, 0) } else { 0 }
                };
                (0..8).fold(0, |all, index| all | term(index))
            }
            IntegerOp::Funnel { right, wrap } => {
                let amount = shift(c & low_bits(32));
                let amount = if wrap { amount % 32 } else { amount.min(32) };
                let both = a | b << 32;
                if right { both >> amount } else { both << amount >> 32 }
            }
        };
        extend(ty, value)
    }
}

/// An amount to shift by; whatever is too much is too much by far.
fn shift(amount: Value) -> u32 {
    u32::try_from(amount).unwrap_or(u32::MAX)
}

/// So many ones.
fn ones(count: u32) -> Value {
    1_u128.checked_shl(count).map_or(Value::MAX, |above| above - 1)
}

/// How many bits a number has without the zeros above its highest one.
fn width(value: Value) -> u32 {
    Value::BITS - value.leading_zeros()
}

/// `length` bits of `a` from `at` on. What lies beyond its end, and what is beyond the field, is
/// the sign: the highest bit of the field that there is.
fn field(a: Value, bits: u32, signed: bool, at: Value, length: Value) -> Value {
    let (at, length) = (shift(at), shift(length));
    let there = length.min(bits.saturating_sub(at));
    let found = a.checked_shr(at).unwrap_or(0) & ones(there);
    let highest = (at + length).saturating_sub(1).min(bits - 1);
    let sign = signed && length > 0 && a >> highest & 1 == 1;
    if sign { found | !ones(there) } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ty(kind: TypeKind, bits: u16) -> Type {
        Type { kind, bits }
    }
    const U16: Type = ty(TypeKind::Unsigned, 16);
    const S16: Type = ty(TypeKind::Signed, 16);
    const S32: Type = ty(TypeKind::Signed, 32);
    const S64: Type = ty(TypeKind::Signed, 64);

    fn one(op: IntegerOp, of: Type, a: u128) -> Value {
        op.apply(of, a, 0, 0)
    }

    fn two(op: IntegerOp, of: Type, a: u128, b: u128) -> Value {
        op.apply(of, a, b, 0)
    }

    /// All pairs of these as 16 bits, and as the ends of 32 and 64.
    fn samples() -> Vec<u64> {
        let mut all: Vec<u64> = (0..256).collect();
        all.extend((0..64).flat_map(|bit| {
            let one = 1_u64 << bit;
            [one.wrapping_sub(1), one, !one, one.wrapping_neg()]
        }));
        all
    }

    #[test]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "that is compared")]
    #[expect(clippy::cast_possible_wrap, clippy::cast_lossless, reason = "that is compared")]
    fn one_operand_is_as_in_rust() {
        use IntegerOp::{Abs, Bfind, Brev, Clz, Cnot, Neg, Popc};
        for n in 0..=u16::MAX {
            let v = u128::from(n);
            let s = n as i16;
            let low = |value: Value| value as u16;
            assert_eq!(one(Popc, U16, v), n.count_ones().into());
            assert_eq!(one(Clz, U16, v), n.leading_zeros().into());
            assert_eq!(one(Brev, U16, v), n.reverse_bits().into());
            assert_eq!(one(Cnot, U16, v), u128::from(n == 0));
            assert_eq!(one(Neg, S16, v), s.wrapping_neg() as i128 as u128);
            assert_eq!(one(Abs, S16, v), s.wrapping_abs() as i128 as u128);
            let high = n.checked_ilog2().map_or(0xffff_ffff, Value::from);
            assert_eq!(one(Bfind { shift: false }, U16, v), high);
            let away = if n == 0 { 0xffff_ffff } else { n.leading_zeros().into() };
            assert_eq!(one(Bfind { shift: true }, U16, v), away);
            let found = if s < 0 { !n } else { n };
            let high = found.checked_ilog2().map_or(0xffff_ffff, Value::from);
            assert_eq!(one(Bfind { shift: false }, S16, v), high);
            // A wider register, sign-extended, gives the same.
            assert_eq!(low(one(Abs, S16, s as i128 as u128)), s.unsigned_abs());
        }
        for n in samples() {
            let v = u128::from(n);
            assert_eq!(one(Popc, Type::U64, v), n.count_ones().into());
            assert_eq!(one(Clz, Type::U32, v), (n as u32).leading_zeros().into());
            assert_eq!(one(Brev, Type::U64, v), n.reverse_bits().into());
            assert_eq!(one(Neg, S64, v), (n as i64).wrapping_neg() as i128 as u128);
            assert_eq!(one(Abs, S32, v), (n as i32).wrapping_abs() as i128 as u128);
        }
    }

    #[test]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "that is compared")]
    #[expect(clippy::cast_possible_wrap, clippy::cast_lossless, reason = "that is compared")]
    fn two_operands_are_as_in_rust() {
        use IntegerOp::{Div, Max, Min, MulHi, Rem};
        for a in samples() {
            for b in samples() {
                let (x, y) = (u128::from(a), u128::from(b));
                let (s, t) = (a as i64, b as i64);
                assert_eq!(two(Min, Type::U64, x, y), a.min(b).into());
                assert_eq!(two(Max, S64, x, y), s.max(t) as i128 as u128);
                assert_eq!(two(Min, S32, x, y), (a as i32).min(b as i32) as i128 as u128);
                assert_eq!(two(MulHi, Type::U64, x, y), (x * y) >> 64);
                let high = (i128::from(s) * i128::from(t)) >> 64;
                assert_eq!(two(MulHi, S64, x, y), high as u128);
                let high = (i64::from(a as i32) * i64::from(b as i32)) >> 32;
                assert_eq!(two(MulHi, S32, x, y), high as i128 as u128);
                let (quotient, rest) = (a.checked_div(b), a.checked_rem(b));
                assert_eq!(two(Div, Type::U64, x, y), quotient.unwrap_or(u64::MAX).into());
                assert_eq!(two(Rem, Type::U64, x, y), rest.unwrap_or(u64::MAX).into());
                let (quotient, rest) =
                    if t == 0 { (-1, -1) } else { (s.wrapping_div(t), s.wrapping_rem(t)) };
                assert_eq!(two(Div, S64, x, y), quotient as i128 as u128);
                assert_eq!(two(Rem, S64, x, y), rest as i128 as u128);
            }
        }
    }

    #[test]
    fn the_distance_is_added() {
        for a in 0..=255_u8 {
            for b in 0..=255_u8 {
                let of = |kind| IntegerOp::Sad.apply(ty(kind, 8), a.into(), b.into(), 0);
                assert_eq!(of(TypeKind::Unsigned) & 0xff, a.abs_diff(b).into());
                let (s, t) = (a.cast_signed(), b.cast_signed());
                assert_eq!(of(TypeKind::Signed) & 0xff, s.abs_diff(t).into());
            }
        }
        assert_eq!(IntegerOp::Sad.apply(S32, 1, 5, 10), 14);
    }

    /// The loops of the pages of `bfe` and `bfi`.
    #[test]
    fn fields_are_as_their_pages_say() {
        for of in [Type::U32, S32, Type::U64, S64] {
            let most = u32::from(of.bits) - 1;
            for a in [0xdead_beef_0bad_cafe_u128, 0x8000_0000_8000_0000, 0x7fff_ffff_7fff_ffff] {
                for at in (0..40).chain([60, 63, 64, 65, 255]) {
                    for length in (0..40).chain([63, 64, 65, 255]) {
                        let bit = |n: u32| a >> n & 1;
                        let sign = if of.kind != TypeKind::Signed || length == 0 {
                            0
                        } else {
                            bit((at + length - 1).min(most))
                        };
                        let field = (0..=most).fold(0, |all, n| {
                            let there = n < length && at + n <= most;
                            all | (if there { bit(at + n) } else { sign }) << n
                        });
                        let found = IntegerOp::Bfe.apply(of, a, at.into(), length.into());
                        assert_eq!(found & low_bits(of.bits), field, "{a:x} {at} {length} {of:?}");
                        let into = 0x0123_4567_89ab_cdef_u128;
                        let inserted = (0..length)
                            .take_while(|n| at + n <= most)
                            .fold(into & low_bits(of.bits), |all, n| {
                                all & !(1 << (at + n)) | bit(n) << (at + n)
                            });
                        let control = u128::from(at | length << 8);
                        let found = IntegerOp::Bfi.apply(of, a, into, control);
                        assert_eq!(found & low_bits(of.bits), inserted, "{a:x} {at} {length}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_table_of_three_bits_is_any_function() {
        let (a, b, c) = (0xf0_u128, 0xcc, 0xaa);
        for table in 0..=u8::MAX {
            let found = IntegerOp::Lop3(table).apply(Type::U32, a, b, c);
            assert_eq!(found & 0xff, table.into());
        }
        assert_eq!(IntegerOp::Lop3(0x96).apply(Type::U32, 5, 6, 7), 5 ^ 6 ^ 7);
    }

    /// The tables of the page of `prmt`, the highest byte first.
    #[test]
    fn bytes_are_permuted_as_the_page_says() {
        let (a, b) = (0x8302_0100, 0x0706_0584);
        let of = |how, control| IntegerOp::Prmt(how).apply(Type::U32, a, b, control);
        assert_eq!(of(Permutation::Index, 0x7610), 0x0706_0100);
        assert_eq!(of(Permutation::Index, 0xb80c), 0xff00_00ff);
        let tables = [
            (Permutation::Forward4, ["3210", "4321", "5432", "6543"]),
            (Permutation::Backward4, ["5670", "6701", "7012", "0123"]),
            (Permutation::Replicate8, ["0000", "1111", "2222", "3333"]),
            (Permutation::EdgeLeft, ["3210", "3211", "3222", "3333"]),
            (Permutation::EdgeRight, ["0000", "1110", "2210", "3210"]),
            (Permutation::Replicate16, ["1010", "3232", "1010", "3232"]),
        ];
        for (how, rows) in tables {
            for (control, row) in (0..).zip(rows) {
                let chosen = u128::from_str_radix(row, 16).expect("they are digits");
                assert_eq!(of(how, control), of(Permutation::Index, chosen), "{how:?} {control}");
            }
        }
    }

    #[test]
    fn a_funnel_shifts_two_words() {
        let (low, high) = (0x89ab_cdef_u64, 0x0123_4567_u64);
        let both = low | high << 32;
        for amount in 0..80_u32 {
            let of = |right, wrap| {
                let op = IntegerOp::Funnel { right, wrap };
                op.apply(Type::U32, low.into(), high.into(), amount.into())
            };
            for (wrap, by) in [(true, amount % 32), (false, amount.min(32))] {
                assert_eq!(of(true, wrap), (both >> by & 0xffff_ffff).into());
                assert_eq!(of(false, wrap), ((u128::from(both) << by) >> 32) & 0xffff_ffff);
            }
        }
    }
}
