//! Comparisons of conditions by the types of what they compare, as C has them.
//!
//! A test compares bits, and orders them as unsigned numbers. So a comparison of a float, or the order of signed numbers, becomes
//! one of the bits that satisfy it.

use std::collections::BTreeMap;
use std::ops::Range;

use litmus::WrittenComparison;
use litmus::proposition;
use model::isa::alu::Comparison;
use model::isa::float;
use text::lex;

use crate::argument::{ElementKind, ElementType, is_fraction};
use crate::launch::LaunchError;

/// The types of the elements of variables, where they are known.
pub(crate) type ElementTypes = BTreeMap<String, ElementType>;

/// A part of a condition in the words of a test.
pub(crate) struct RewrittenWords {
    /// Where it is in the condition, in bytes.
    pub(crate) at: Range<usize>,
    pub(crate) text: String,
}

/// What is wrong with a comparison.
pub(crate) struct MistypedComparison {
    pub(crate) at: Range<usize>,
    pub(crate) error: LaunchError,
}

/// The comparisons of a condition that a test has in other words.
pub(crate) fn typed(
    condition: &str,
    types: &ElementTypes,
) -> Result<Vec<RewrittenWords>, MistypedComparison> {
    let mut all = Vec::new();
    for written in litmus::comparisons(condition) {
        let at = written.at();
        let at = at.start as usize..at.end as usize;
        let wrong = |error| MistypedComparison { at: at.clone(), error };
        if let Some(text) = in_bits(condition, &written, types).map_err(wrong)? {
            all.push(RewrittenWords { at, text });
        }
    }
    Ok(all)
}

/// With the sides exchanged.
fn mirrored(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Lt => Comparison::Gt,
        Comparison::Le => Comparison::Ge,
        Comparison::Gt => Comparison::Lt,
        Comparison::Ge => Comparison::Le,
        Comparison::Eq | Comparison::Ne => comparison,
    }
}

fn is_order(comparison: Comparison) -> bool {
    !matches!(comparison, Comparison::Eq | Comparison::Ne)
}

/// A comparison in other words, if a test needs them.
fn in_bits(
    condition: &str,
    written: &WrittenComparison,
    types: &ElementTypes,
) -> Result<Option<String>, LaunchError> {
    let (left, right) = (written.left.of(condition), written.right.of(condition));
    let comparison = written.comparison;
    let is_number = |side: &str| {
        side.trim_start_matches('-').trim_start().starts_with(|c: char| c.is_ascii_digit())
            && !side.contains(':')
    };
    match (is_number(left), is_number(right)) {
        (false, true) => with_number(left, comparison, right, types),
        (true, false) => with_number(right, mirrored(comparison), left, types),
        (false, false) => of_places(left, comparison, right, types),
        (true, true) => Ok(None),
    }
}

/// The variable that a side of a comparison names: `x`, `[x+4]`, `x[1]`.
fn variable(side: &str) -> &str {
    let name = side.strip_prefix('[').unwrap_or(side).trim_start();
    let end = name.find(|c: char| !(c.is_alphanumeric() || "_$%.".contains(c)));
    &name[..end.unwrap_or(name.len())]
}

fn with_number(
    place: &str,
    comparison: Comparison,
    number: &str,
    types: &ElementTypes,
) -> Result<Option<String>, LaunchError> {
    let name = variable(place);
    let Some(ty) = types.get(name) else { return Ok(None) };
    let Some(key) = key(name, *ty, number)? else { return Ok(None) };
    let bits = ty.bits;
    if matches!(ty.kind, ElementKind::Unsigned | ElementKind::Bits) {
        return Ok(
            is_fraction(number).then(|| format!("{place}{}{key}", proposition::sign(comparison)))
        );
    }
    let (least, most) = match ty.kind {
        ElementKind::Float => (-infinity(bits), infinity(bits)),
        ElementKind::Signed | ElementKind::Unsigned | ElementKind::Bits => {
            (-sign_bit(bits), sign_bit(bits) - 1)
        }
    };
    if ty.kind == ElementKind::Signed && !is_order(comparison) {
        if !(least..=most).contains(&key) {
            let why = format!("`{number}` is no `{}`, which `{name}` is", ty.name());
            return Err(LaunchError::new(why).help("a number in hexadecimal is bits"));
        }
        return Ok(
            is_fraction(number).then(|| format!("{place}{}{key}", proposition::sign(comparison)))
        );
    }
    let (from, to) = match comparison {
        Comparison::Eq | Comparison::Ne => (key, key),
        Comparison::Lt => (least, key - 1),
        Comparison::Le => (least, key),
        Comparison::Gt => (key + 1, most),
        Comparison::Ge => (key, most),
    };
    let text = between(place, *ty, from.max(least), to.min(most));
    Ok(Some(if comparison == Comparison::Ne { format!("not {text}") } else { text }))
}

/// A number on a scale on which the values of a type are in their order. On that of floats, those at equal distance from 0 have the same
/// bits but for their sign, and both zeros are 0. `None` if a test says what is wrong with it.
fn key(name: &str, ty: ElementType, number: &str) -> Result<Option<i128>, LaunchError> {
    let bits = ty.bits;
    let negative = number.starts_with('-');
    let digits = number.trim_start_matches('-').trim_start();
    let lower = digits.to_ascii_lowercase();
    // Bits, as in the values of arguments.
    if lower.starts_with("0x") || lower.starts_with("0b") {
        let value = lex::number(digits).ok().and_then(|value| i128::try_from(value).ok());
        let value = value.map(|value| if negative { -value } else { value });
        let fits = |value: &i128| (0..1_i128 << bits).contains(value);
        return Ok(match ty.kind {
            ElementKind::Float => value.filter(fits).map(|value| float_key(bits, value)),
            ElementKind::Signed => value.filter(fits).map(|value| signed_key(bits, value)),
            ElementKind::Unsigned | ElementKind::Bits => None,
        });
    }
    let plain = if is_fraction(number) { number } else { number.trim_end_matches(['u', 'U']) };
    match ty.kind {
        ElementKind::Float => {
            let value = ElementType::parse_float(plain);
            let value = value.and_then(|value| float::bits_of(bits.into(), value));
            let value = value.ok_or_else(|| {
                LaunchError::new(format!("`{number}` is no `{}`, which `{name}` is", ty.name()))
            })?;
            Ok(Some(float_key(bits, value.into())))
        }
        ElementKind::Bits => Ok(None),
        ElementKind::Unsigned | ElementKind::Signed if is_fraction(number) => {
            let value = ElementType::parse_float(plain)
                .filter(|value| value.fract() == 0.0 && value.abs() < 2.0_f64.powi(53));
            let whole = value.and_then(|value| format!("{value:.0}").parse().ok());
            let whole = whole.ok_or_else(|| {
                let why =
                    format!("`{number}` is a float, and the type of `{name}` is `{}`", ty.name());
                let own = format!("f{}", bits.max(32));
                LaunchError::new(why)
                    .help(format!("--arg {name}='{own}[…]' if it has floats, or a whole number"))
            })?;
            Ok(Some(whole))
        }
        ElementKind::Unsigned | ElementKind::Signed => Ok(plain.parse().ok()),
    }
}

fn infinity(bits: u16) -> i128 {
    float::bits_of(bits.into(), f64::INFINITY).map_or(0, i128::from)
}

fn sign_bit(bits: u16) -> i128 {
    1 << (bits - 1)
}

fn float_key(bits: u16, value: i128) -> i128 {
    let sign = sign_bit(bits);
    if value < sign { value } else { sign - value }
}

fn signed_key(bits: u16, value: i128) -> i128 {
    if value < sign_bit(bits) { value } else { value - 2 * sign_bit(bits) }
}

/// That the bits of a place are those of a value between two ones.
fn between(place: &str, ty: ElementType, from: i128, to: i128) -> String {
    let sign = sign_bit(ty.bits);
    let mut all = Vec::new();
    let mut range = |from: i128, to: i128| match (from, to) {
        (from, to) if from > to => {}
        (from, to) if from == to => all.push(format!("{place}={from:#x}")),
        (0, to) => all.push(format!("{place}<={to:#x}")),
        (from, to) if to == 2 * sign - 1 => all.push(format!("{place}>={from:#x}")),
        (from, to) => all.push(format!("({place}>={from:#x} /\\ {place}<={to:#x})")),
    };
    range(from.max(0), to);
    if ty.kind == ElementKind::Float {
        range(sign - to.min(0), sign - from);
    } else {
        range(2 * sign + from, 2 * sign + to.min(-1));
    }
    match &all[..] {
        [] => "false".to_owned(),
        [one] => one.clone(),
        several => format!("({})", several.join(" \\/ ")),
    }
}

/// A comparison of two places.
fn of_places(
    left: &str,
    comparison: Comparison,
    right: &str,
    types: &ElementTypes,
) -> Result<Option<String>, LaunchError> {
    let of = |side: &str| types.get(variable(side)).copied();
    let (Some(one), Some(other)) = (of(left), of(right)) else { return Ok(None) };
    if one == other {
        return Ok(match one.kind {
            ElementKind::Float => Some(of_floats(one.bits, left, comparison, right)),
            ElementKind::Signed if is_order(comparison) => {
                Some(of_signed(one.bits, left, comparison, right))
            }
            ElementKind::Signed | ElementKind::Unsigned | ElementKind::Bits => None,
        });
    }
    let is_signed = |of: ElementType| of.kind == ElementKind::Signed;
    // As in C, of the same width both are unsigned then; a sign has no more bits in a test.
    let extends = one.bits != other.bits && (is_signed(one) || is_signed(other));
    if one.is_float() || other.is_float() || extends {
        let (one, other) = (one.name(), other.name());
        let why = format!("`{left}` has the type `{one}`, and `{right}` `{other}`");
        return Err(LaunchError::new(why).help("each is compared with a number"));
    }
    Ok(None)
}

fn of_floats(bits: u16, left: &str, comparison: Comparison, right: &str) -> String {
    let (sign, most) = (sign_bit(bits), infinity(bits));
    let least = sign + most;
    let plus = |of: &str| format!("{of}<={most:#x}");
    let minus = |of: &str| format!("{of}>={sign:#x} /\\ {of}<={least:#x}");
    let zeros = |one: &str, other: &str| format!("({one}=0 /\\ {other}={sign:#x})");
    let equal = || {
        let number = format!("({left}={right} /\\ ({} \\/ ({})))", plus(left), minus(left));
        format!("({number} \\/ {} \\/ {})", zeros(left, right), zeros(right, left))
    };
    let less = |one: &str, other: &str| {
        let both = format!("({} /\\ {} /\\ {one}<{other})", plus(one), plus(other));
        let neither = format!("({} /\\ {} /\\ {one}>{other})", minus(one), minus(other));
        let apart = format!("({} /\\ {} /\\ not {})", minus(one), plus(other), zeros(other, one));
        format!("({both} \\/ {neither} \\/ {apart})")
    };
    match comparison {
        Comparison::Eq => equal(),
        Comparison::Ne => format!("not {}", equal()),
        Comparison::Lt => less(left, right),
        Comparison::Gt => less(right, left),
        Comparison::Le => format!("({} \\/ {})", less(left, right), equal()),
        Comparison::Ge => format!("({} \\/ {})", less(right, left), equal()),
    }
}

fn of_signed(bits: u16, left: &str, comparison: Comparison, right: &str) -> String {
    let sign = sign_bit(bits);
    let less = |one: &str, other: &str| {
        let same = format!("({one}<{sign:#x} /\\ {other}<{sign:#x})");
        let negative = format!("({one}>={sign:#x} /\\ {other}>={sign:#x})");
        let apart = format!("({one}>={sign:#x} /\\ {other}<{sign:#x})");
        format!("(({one}<{other} /\\ ({same} \\/ {negative})) \\/ {apart})")
    };
    match comparison {
        Comparison::Eq | Comparison::Ne => {
            format!("{left}{}{right}", proposition::sign(comparison))
        }
        Comparison::Lt => less(left, right),
        Comparison::Gt => less(right, left),
        Comparison::Le => format!("not {}", less(right, left)),
        Comparison::Ge => format!("not {}", less(left, right)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a test compares, or what is wrong.
    fn typed_text(condition: &str) -> String {
        let types =
            [("f", "f32"), ("d", "f64"), ("u", "u32"), ("s", "s32"), ("b", "b32"), ("w", "s64")];
        let types =
            types.map(|(name, ty)| (name.to_owned(), ElementType::parse(ty).expect("a type")));
        match typed(condition, &types.into()) {
            Err(MistypedComparison { error, .. }) => error.message,
            Ok(all) => {
                let mut text = condition.to_owned();
                for RewrittenWords { at, text: new } in all.into_iter().rev() {
                    text.replace_range(at, &new);
                }
                text
            }
        }
    }

    #[test]
    fn a_number_has_the_type_of_what_it_is_compared_with() {
        for (condition, of_test) in [
            ("f == 6", "f=0x40c00000"),
            ("6.0f == [f+4] && u == 6", "[f+4]=0x40c00000 && u == 6"),
            ("d[1] != 6", "not d[1]=0x4018000000000000"),
            ("u == 6.0", "u=6"),
            ("f == 0", "(f=0x0 \\/ f=0x80000000)"),
            // Digits in hexadecimal are bits.
            ("f == 0x40c00000", "f=0x40c00000"),
            ("f > 7", "(f>=0x40e00001 /\\ f<=0x7f800000)"),
            ("not (f < -1)", "not ((f>=0xbf800001 /\\ f<=0xff800000))"),
            ("s < 0", "s>=0x80000000"),
            ("s > -3", "(s<=0x7fffffff \\/ s>=0xfffffffe)"),
            ("s == -1", "s == -1"),
            // Nothing is said of these.
            ("b == 1.5 && P0:r1 == 6 && x == 6", "b == 1.5 && P0:r1 == 6 && x == 6"),
        ] {
            assert_eq!(typed_text(condition), of_test, "{condition}");
        }
        assert_eq!(typed_text("u < 6.5"), "`6.5` is a float, and the type of `u` is `u32`");
        assert_eq!(typed_text("f == u"), "`f` has the type `f32`, and `u` `u32`");
        assert_eq!(typed_text("s < w"), "`s` has the type `s32`, and `w` `s64`");
        assert_eq!(typed_text("s == w"), "`s` has the type `s32`, and `w` `s64`");
        assert_eq!(typed_text("s < u"), "s < u");
        assert_eq!(typed_text("s == 4294967295"), "`4294967295` is no `s32`, which `s` is");
    }
}
