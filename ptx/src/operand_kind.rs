//! Whether an operand is of a kind, in the notation of [`crate::production`].

use crate::production::{WrittenOperand, WrittenType};
use crate::registers;
use model::isa::TypeKind;

/// Whether an operand is of a kind.
pub(crate) fn fits(kind: &str, operand: &WrittenOperand<'_>, modifiers: &[&str]) -> bool {
    let text = operand.text;
    let number = || crate::constant::value(text).is_some();
    let bits = |wanted: u16| match operand.ty {
        WrittenType::Register(ty) => ty.bits == wanted,
        WrittenType::Predicate | WrittenType::Vector { .. } => false,
        WrittenType::Unknown => is_name(text),
    };
    match kind {
        "m" | "t" => text.starts_with('['),
        "v" => text.starts_with('{'),
        "v*" => is_vector(operand, 32, true) && !has_sink(text),
        "v*i" | "v4i" => is_vector(operand, 32, false) && !has_sink(text),
        "y" => {
            let registers = registers::of(modifiers);
            let float = match operand.ty {
                WrittenType::Register(ty) => ty.kind == TypeKind::Float,
                WrittenType::Predicate | WrittenType::Vector { .. } | WrittenType::Unknown => false,
            };
            if registers.count > 1 {
                is_vector(operand, registers.bits, registers.float)
            } else {
                number() || bits(registers.bits) && (registers.float || !float)
            }
        }
        "s" => {
            let name = text.strip_prefix('!').unwrap_or(text);
            number()
                || operand.ty == WrittenType::Predicate
                || operand.ty == WrittenType::Unknown && is_name(name.trim_start())
        }
        "_" => text == "_",
        "x" => text != "_" && !text.starts_with('[') && operand.ty != WrittenType::Predicate,
        _ if kind.contains('|') => text.contains('|'),
        "p" => {
            operand.ty == WrittenType::Predicate
                || operand.ty == WrittenType::Unknown && is_name(text)
        }
        "i" => number(),
        "#" => number() || is_name(text) && operand.ty != WrittenType::Predicate,
        "#32" => number() || bits(32),
        "#64" => number() || bits(64),
        "16" => bits(16),
        "32" => bits(32),
        "64" => bits(64),
        "q" => bits(128),
        "8" => bits(8),
        _ => false,
    }
}

/// Whether a result of a vector is discarded.
fn has_sink(text: &str) -> bool {
    text.split([',', '{', '}']).any(|element| element.trim() == "_")
}

/// Whether an operand is a vector of registers with so many bits, or one that is not known to be none.
fn is_vector(operand: &WrittenOperand<'_>, wanted: u16, may_float: bool) -> bool {
    match operand.ty {
        WrittenType::Vector { bits, float } => {
            bits.is_none_or(|bits| bits == wanted) && (may_float || !float)
        }
        WrittenType::Unknown => operand.text.starts_with('{') || is_name(operand.text),
        WrittenType::Register(_) | WrittenType::Predicate => false,
    }
}

/// How many registers an operand of this kind has, if it is a vector.
pub(crate) fn vector_length(kind: &str, modifiers: &[&str]) -> Option<usize> {
    match kind {
        "v*" | "v*i" | "y" => Some(registers::of(modifiers).count),
        "v4i" => Some(4),
        _ => None,
    }
}

fn is_name(text: &str) -> bool {
    text != "_"
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '%' | '_' | '$'))
        && !text.contains('|')
}
