//! Whether values differ only as the rounding of floats does. Compilers contract and reorder operations on floats, so
//! a lowering may round other numbers than its source.

use model::isa::float::{self, Rounding};
use model::isa::{Type, TypeKind};
use model::value::{Value, low_bits, low64};

/// The largest difference of two results of which one is rounded more often, relative to them.
const ROUNDED: f64 = 1e-2;

/// Whether two outcomes are equal, except for floats that are close to each other. `flushes`: subnormal numbers may be
/// taken for 0, so what is computed from them may be too large.
pub(crate) fn all_near(ours: &[Value], theirs: &[Value], flushes: bool) -> bool {
    ours.iter().zip(theirs).all(|(&ours, &theirs)| ours == theirs || is_near(ours, theirs, flushes))
}

/// The magnitude of floats below which a value is rather an integer, whose bits mean so small a float.
const LEAST: f64 = 1e-9;

/// Whether two values are close as a double, as singles, as halves or as `.bf16`. Two NaNs are.
fn is_near(ours: Value, theirs: Value, flushes: bool) -> bool {
    let close = |a: Option<f64>, b: Option<f64>| {
        a.zip(b).is_some_and(|(a, b)| {
            (a - b).abs() <= ROUNDED * a.abs().max(b.abs()) || a.is_nan() && b.is_nan()
        })
    };
    let float = |of: f64| (of.is_normal() && of.abs() >= LEAST || of.is_nan()).then_some(of);
    let double = |value: Value| float(f64::from_bits(low64(value)));
    let single = |value: Value| {
        let bits = u32::try_from(value & low_bits(32)).expect("32 bits are left");
        float(f32::from_bits(bits).into())
    };
    // `.ftz` is for single precision.
    let is_small = |value: Value| {
        let bits = u32::try_from(value & low_bits(32)).expect("32 bits are left");
        flushes && !f32::from_bits(bits).is_normal()
    };
    let half = |value: Value| {
        let ty = |bits| Type { kind: TypeKind::Float, bits };
        let wide = || float::convert(ty(64), ty(16), Rounding::Nearest, value & low_bits(16));
        match (value & 0x7c00, value & 0x03ff) {
            (0, _) | (0x7c00, 0) => None,
            (0x7c00, _) => Some(f64::NAN),
            _ => double(wide()),
        }
    };
    let brain = |value: Value| single((value & low_bits(16)) << 16);
    let parts = |bits: u16, number: &dyn Fn(Value) -> Option<f64>| {
        (0..128 / bits).all(|part| {
            let [a, b] = [ours, theirs].map(|value| value >> (part * bits) & low_bits(bits));
            let small = bits == 32 && (is_small(a) || is_small(b));
            a == b || close(number(a), number(b)) || small
        })
    };
    close(double(ours), double(theirs)) && ours >> 64 == theirs >> 64
        || parts(32, &single)
        || parts(16, &half)
        || parts(16, &brain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_told_from_other_values() {
        let of = |value: f32| Value::from(value.to_bits());
        assert!(all_near(&[3, of(0.1)], &[3, of(0.1 + f32::EPSILON)], false));
        assert!(!all_near(&[3, of(0.1)], &[4, of(0.1)], false));
        assert!(!all_near(&[of(2.0)], &[of(3.0)], false));
        assert!(all_near(&[of(f32::NAN)], &[0x7fff_ffff], false));
        // 1 divided by a subnormal number, and by 0.
        let (large, infinite) = (of(1e38), of(f32::INFINITY));
        assert!(all_near(&[large], &[infinite], true) && !all_near(&[large], &[infinite], false));
        // Two halves: 1 and 2, and 1 and the next number after 2.
        assert!(is_near(0x4000_3c00, 0x4001_3c00, false));
        assert!(!is_near(0x4000_3c00, 0x3c00_4000, false));
        // One `bf16`, 4 and 6, and two integers: as floats of 32 bits they would be close to each other.
        assert!(!is_near(0x4080, 0x40c0, false) && !is_near(1000, 1001, false));
    }
}
