//! Compares what the accesses of a row write, and what a compare-exchange expects: by their roles, since compilers
//! do not keep names (reading R71).

use std::collections::BTreeMap;

/// The operands of an access other than its address.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AccessOperands {
    /// The register that it writes, if any.
    pub defines: String,
    /// What it writes; for a compare-exchange, first what it expects. A text that is empty is not known: it was
    /// computed. No texts: the operands are not shown.
    pub values: Vec<String>,
}

/// An access of a row with its counterpart.
#[derive(Clone, Copy, Debug)]
pub struct OperandPair<'a> {
    pub source: &'a AccessOperands,
    pub target: &'a AccessOperands,
    /// The target in words, and the width in bits.
    pub text: &'a str,
    pub bits: u32,
    /// Whether the target has the source's operand negated: a difference is a sum.
    pub negated: bool,
}

/// Where an operand comes from.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum OperandOrigin {
    Constant(u64),
    /// The access of the row that returned it.
    Result(usize),
    /// A register that the row does not set.
    Input(String),
}

impl OperandOrigin {
    fn words(&self) -> String {
        match self {
            OperandOrigin::Constant(value) => value.to_string(),
            OperandOrigin::Result(access) => format!("the result of access {}", access + 1),
            OperandOrigin::Input(name) => format!("`{name}`"),
        }
    }
}

/// A number as a source or a target writes it.
fn constant(text: &str) -> Option<u64> {
    let text = match text {
        "true" => "1",
        "false" | "null" | "zeroinitializer" => "0",
        _ => text,
    };
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let digits = digits.trim_end_matches('U');
    let value = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { value.wrapping_neg() } else { value })
}

/// The origin of an operand; `None` if it was computed, or is not an integer.
fn origin<'a>(
    text: &str,
    bits: u32,
    before: impl DoubleEndedIterator<Item = (usize, &'a AccessOperands)>,
) -> Option<OperandOrigin> {
    if let Some(value) = constant(text) {
        return Some(OperandOrigin::Constant(masked(value, bits)));
    }
    let register =
        text.starts_with(['%', '$', '_']) || text.starts_with(|c: char| c.is_alphabetic());
    if !register {
        return None;
    }
    let result = before.rev().find(|(_, access)| access.defines == text);
    Some(match result {
        Some((access, _)) => OperandOrigin::Result(access),
        None => OperandOrigin::Input(text.to_owned()),
    })
}

fn masked(value: u64, bits: u32) -> u64 {
    if bits < 64 { value & ((1 << bits) - 1) } else { value }
}

/// The first difference between the operands of the accesses. With `kept`, both sides use the same names.
pub fn difference(pairs: &[OperandPair<'_>], kept: bool) -> Option<String> {
    let mut known: BTreeMap<OperandOrigin, OperandOrigin> = BTreeMap::new();
    for (index, pair) in pairs.iter().enumerate() {
        if pair.source.values.len() != pair.target.values.len() {
            continue;
        }
        for (wanted, found) in pair.source.values.iter().zip(&pair.target.values) {
            let before = || pairs[..index].iter().enumerate();
            let wanted = origin(wanted, pair.bits, before().map(|(at, pair)| (at, pair.source)));
            let found = origin(found, pair.bits, before().map(|(at, pair)| (at, pair.target)));
            let (Some(mut wanted), Some(found)) = (wanted, found) else { continue };
            if pair.negated {
                let OperandOrigin::Constant(value) = wanted else { continue };
                wanted = OperandOrigin::Constant(masked(value.wrapping_neg(), pair.bits));
            }
            let same = match (&wanted, &found) {
                // A constant may have been moved into a register before.
                (OperandOrigin::Constant(_), OperandOrigin::Input(_)) => true,
                (OperandOrigin::Input(from), OperandOrigin::Input(to)) => !kept || from == to,
                (from, to) => from == to,
            };
            if !same {
                let (wanted, found) = (wanted.words(), found.words());
                return Some(format!("`{}` has {found}, where the source has {wanted}", pair.text));
            }
            if !matches!(found, OperandOrigin::Input(_)) {
                continue;
            }
            let before = known.entry(found.clone()).or_insert_with(|| wanted.clone());
            if *before != wanted {
                let (found, wanted, before) = (found.words(), wanted.words(), before.words());
                return Some(format!("`{}` has {found} for both {before} and {wanted}", pair.text));
            }
        }
    }
    None
}
