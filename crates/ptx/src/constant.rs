//! Constant expressions (`#constant-expressions`): offsets, and numbers as operands.

use model::isa::{Type, TypeKind, float};

use super::lex;
use super::parse::{Lost, ParseResult, Parser};
use super::statement::integer;
use text::cursor::short;
use text::report::Diagnostics;

/// What a constant is: an integer, or a float, whose value nobody asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Constant {
    Integer(i64),
    Float,
}

/// Parentheses and signs may be nested so deep.
const DEEPEST: usize = 50;

/// Binary operators, from those that bind loosest.
const LEVELS: &[&[&str]] = &[&["|"], &["^"], &["&"], &["<<", ">>"], &["+", "-"], &["*", "/", "%"]];

/// The value of a constant expression that was read before.
pub(super) fn value(text: &str) -> Option<i64> {
    let mut report = Diagnostics::default();
    match Parser::new(text, &mut report).constant() {
        Ok(Constant::Integer(value)) => Some(value),
        Ok(Constant::Float) | Err(Lost) => None,
    }
}

/// Whether a text is an operand of inline assembly, `%0` or `$0`. It may stand for a number.
pub(crate) fn is_placeholder(text: &str) -> bool {
    let digits = text.strip_prefix(['%', '$']).unwrap_or("");
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The bits of a constant of this type: an integer expression, or a float in hexadecimal (`0f3F800000`) or
/// decimal.
pub fn bits(text: &str, ty: Type) -> Option<u64> {
    let (negative, number) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let number = number.trim();
    let sign = |bits: u64, width: u32| if negative { bits ^ 1 << (width - 1) } else { bits };
    let exact = |prefixes: [&str; 2], width| {
        let digits = prefixes.iter().find_map(|prefix| number.strip_prefix(prefix))?;
        Some(sign(u64::from_str_radix(digits, 16).ok()?, width))
    };
    let single = exact(["0f", "0F"], 32);
    let double = exact(["0d", "0D"], 64);
    let float = ty.kind == TypeKind::Float;
    let convert = |from: u16, value: u64| {
        let of = |bits| Type { kind: TypeKind::Float, bits };
        let converted =
            float::convert(of(ty.bits), of(from), float::Rounding::Nearest, value.into());
        u64::try_from(converted).ok()
    };
    match (single, double) {
        (Some(value), _) if float && ty.bits != 32 => convert(32, value),
        (_, Some(value)) if float && ty.bits != 64 => convert(64, value),
        (Some(value), _) | (None, Some(value)) => Some(value),
        (None, None) => match value(text) {
            Some(value) if !float => Some(value.cast_unsigned()),
            _ if float => convert(64, text.parse::<f64>().ok()?.to_bits()),
            _ => None,
        },
    }
}

impl Parser<'_, '_> {
    /// Whether a constant begins here.
    pub(super) fn starts_constant(&self) -> bool {
        self.token.kind == lex::TokenKind::Number
            || self.word() == "WARP_SZ"
            || ["-", "+", "~", "("].iter().any(|sign| self.is(sign))
    }

    pub(super) fn constant(&mut self) -> ParseResult<Constant> {
        self.binary(0, DEEPEST)
    }

    /// The operator at this level that comes next; a shift is two signs side by side.
    fn operator(&self, level: usize) -> Option<&'static str> {
        LEVELS[level].iter().copied().find(|operator| {
            let first = &operator[..1];
            let twice = operator.len() == 2;
            let next = twice.then(|| self.peek());
            self.is(first)
                && next.is_none_or(|next| {
                    next.at.start == self.token.at.end && next.at.of(self.text()) == first
                })
        })
    }

    fn binary(&mut self, level: usize, room: usize) -> ParseResult<Constant> {
        if level == LEVELS.len() {
            return self.unary(room);
        }
        let mut left = self.binary(level + 1, room)?;
        while let Some(operator) = self.operator(level) {
            for _ in 0..operator.len() {
                self.bump();
            }
            let right = self.binary(level + 1, room)?;
            left = match (left, right) {
                (Constant::Integer(a), Constant::Integer(b)) => {
                    Constant::Integer(apply(operator, a, b))
                }
                (Constant::Float, _) | (_, Constant::Float) => Constant::Float,
            };
        }
        Ok(left)
    }

    fn unary(&mut self, room: usize) -> ParseResult<Constant> {
        let Some(room) = room.checked_sub(1) else {
            let message = format!("a constant is nested {DEEPEST} deep at most");
            self.report.error("nesting", self.token.at, message);
            return Err(Lost);
        };
        for sign in ["-", "+", "~"] {
            if self.eat(sign) {
                return Ok(match (self.unary(room)?, sign) {
                    (Constant::Integer(value), "-") => Constant::Integer(value.wrapping_neg()),
                    (Constant::Integer(value), "~") => Constant::Integer(!value),
                    (constant, _) => constant,
                });
            }
        }
        if self.eat("(") {
            // `(.s64)` and `(.u64)` say how the bits are taken, and change none.
            if matches!(self.word(), ".s64" | ".u64") {
                self.bump();
                if !self.eat(")") {
                    return Err(self.expected("`)`"));
                }
                return self.unary(room);
            }
            let inner = self.binary(0, room)?;
            if !self.eat(")") {
                return Err(self.expected("`)`"));
            }
            return Ok(inner);
        }
        if self.word() == "WARP_SZ" {
            self.bump();
            return Ok(Constant::Integer(32));
        }
        if self.token.kind != lex::TokenKind::Number {
            return Err(self.expected("a number"));
        }
        let at = self.bump().at;
        let written = at.of(self.text());
        let lower = written.as_bytes();
        let float = written.contains('.')
            || matches!(lower, [b'0', b'f' | b'F' | b'd' | b'D', ..])
            || !written.starts_with("0x")
                && !written.starts_with("0X")
                && written.contains(['e', 'E']);
        if float {
            return Ok(Constant::Float);
        }
        let Some(value) = integer(written) else {
            let message = format!("`{}` is not a 64-bit integer", short(written));
            self.report.error("number", at, message);
            return Err(Lost);
        };
        Ok(Constant::Integer(value.cast_signed()))
    }
}

fn apply(operator: &str, a: i64, b: i64) -> i64 {
    let shift = u32::try_from(b & 63).expect("six bits are left");
    match operator {
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "<<" => a.wrapping_shl(shift),
        ">>" => a.wrapping_shr(shift),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" => a.checked_div(b).unwrap_or(0),
        _ => a.checked_rem(b).unwrap_or(0),
    }
}
