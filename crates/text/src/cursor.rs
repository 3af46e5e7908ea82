//! A cursor over a list of tokens.

use model::value::Value;

use crate::lex::{self, Token, TokenKind};
use crate::report::{ByteSpan, Diagnostics};

/// What is read next of some tokens of a file.
#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    pub text: &'a str,
    tokens: &'a [Token],
    next: usize,
    /// Where the tokens would go on.
    end: ByteSpan,
}

impl<'a> Cursor<'a> {
    /// `end` is the place that errors at the end point to.
    #[inline]
    pub fn new(text: &'a str, tokens: &'a [Token], end: ByteSpan) -> Cursor<'a> {
        Cursor { text, tokens, next: 0, end }
    }

    #[inline]
    pub fn peek(&self) -> Option<Token> {
        self.tokens.get(self.next).copied()
    }

    #[inline]
    pub fn at_end(&self) -> bool {
        self.next >= self.tokens.len()
    }

    /// The text of the token `ahead` of the next one; empty at the end.
    #[inline]
    pub fn text_at(&self, ahead: usize) -> &'a str {
        self.tokens.get(self.next + ahead).map_or("", |token| token.at.of(self.text))
    }

    #[inline]
    pub fn kind_at(&self, ahead: usize) -> Option<TokenKind> {
        self.tokens.get(self.next + ahead).map(|token| token.kind)
    }

    #[inline]
    pub fn advance(&mut self) -> Option<Token> {
        let token = self.peek();
        self.next += usize::from(token.is_some());
        token
    }

    /// The place of the next token, or of the end.
    #[inline]
    pub fn here(&self) -> ByteSpan {
        self.peek().map_or(self.end, |token| token.at)
    }

    /// The place of the token before the next one.
    #[inline]
    pub fn previous(&self) -> ByteSpan {
        self.next.checked_sub(1).map_or(self.here(), |last| self.tokens[last].at)
    }

    /// From the next token to the last.
    pub fn rest_at(&self) -> ByteSpan {
        let here = self.here();
        let nothing = ByteSpan { end: here.start, ..here };
        self.rest().last().map_or(nothing, |last| here.to(last.at))
    }

    /// Where the tokens would go on.
    #[inline]
    pub fn end(&self) -> ByteSpan {
        self.end
    }

    #[inline]
    pub fn rest(&self) -> &'a [Token] {
        &self.tokens[self.next.min(self.tokens.len())..]
    }

    #[inline]
    pub fn is(&self, text: &str) -> bool {
        self.text_at(0) == text
    }

    /// Goes past the next token if it is `text`.
    #[inline]
    pub fn eat(&mut self, text: &str) -> Option<ByteSpan> {
        if self.is(text) { self.advance().map(|token| token.at) } else { None }
    }

    pub fn word(&mut self) -> Option<(&'a str, ByteSpan)> {
        match self.peek() {
            Some(Token { kind: TokenKind::Word, at }) => {
                self.next += 1;
                Some((at.of(self.text), at))
            }
            _ => None,
        }
    }

    /// Whether the next token follows the one before without a blank.
    #[inline]
    pub fn adjacent(&self) -> bool {
        self.next > 0
            && self.peek().is_some_and(|token| token.at.start == self.tokens[self.next - 1].at.end)
    }

    /// A number of up to 64 bits, as instructions have them; otherwise as [`Self::value`].
    pub fn number(&mut self, report: &mut Diagnostics) -> Option<(u64, ByteSpan)> {
        let (value, at) = self.value(report)?;
        let signed = i64::try_from(value.cast_signed()).map(i64::cast_unsigned);
        let number = u64::try_from(value).or(signed).unwrap_or_else(|_| {
            let help = "a number from -0x8000000000000000 to 0xffffffffffffffff";
            self.unreadable(at, "this number does not fit in 64 bits", help, report);
            0
        });
        Some((number, at))
    }

    fn unreadable(&self, at: ByteSpan, why: &str, help: &str, report: &mut Diagnostics) {
        let mut shown: String = at.of(self.text).chars().take(30).collect();
        if shown.len() < at.of(self.text).len() {
            shown.push('…');
        }
        report.error("number", at, format!("`{shown}`: {why}")).help(help);
    }

    /// A number with its sign, in two's complement; `None` if there is none. One that cannot be
    /// read is reported and taken as 0.
    pub fn value(&mut self, report: &mut Diagnostics) -> Option<(Value, ByteSpan)> {
        let negative = self.is("-");
        if self.kind_at(usize::from(negative)) != Some(TokenKind::Number) {
            return None;
        }
        let start = self.here();
        self.next += usize::from(negative);
        let token = self.advance()?;
        let at = start.to(token.at);
        let value = match lex::number(token.at.of(self.text)) {
            Ok(value) => value,
            Err(why) => {
                let help = "integers are written as 10, 0xa or 0b1010, and have at most 128 bits";
                self.unreadable(at, why, help, report);
                0
            }
        };
        Some((if negative { value.wrapping_neg() } else { value }, at))
    }

    /// A decimal fraction with its sign, such as `-1.5` or `2.0e-3`, also with `f` at its end, as C has it.
    pub fn float(&mut self) -> Option<(f64, ByteSpan)> {
        let negative = self.is("-");
        if self.kind_at(usize::from(negative)) != Some(TokenKind::Number) {
            return None;
        }
        let start = self.here();
        let rest = &self.text[start.start as usize..];
        let bytes = rest.as_bytes();
        let digits = |at: usize| {
            let more = bytes.get(at..).unwrap_or_default().iter();
            at + more.take_while(|byte| byte.is_ascii_digit()).count()
        };
        let whole = usize::from(negative);
        let point = digits(whole);
        let mut end = digits(point + 1);
        if point == whole || bytes.get(point) != Some(&b'.') || end == point + 1 {
            return None;
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
            end = digits(end + 1 + sign);
        }
        let value = rest[..end].parse().ok()?;
        end += usize::from(matches!(bytes.get(end), Some(b'f' | b'F')));
        let at = ByteSpan::new(start.start as usize, start.start as usize + end);
        let before = self.next;
        while self.peek().is_some_and(|token| token.at.start < at.end) {
            self.next += 1;
        }
        // A token that goes on behind it makes it something else.
        if self.previous().end == at.end {
            return Some((value, at));
        }
        self.next = before;
        None
    }

    pub fn number_value(&mut self, report: &mut Diagnostics) -> Option<u64> {
        self.number(report).map(|(value, _)| value)
    }

    /// Reports that something else was expected here.
    pub fn expected<'r>(
        &self,
        what: &str,
        report: &'r mut Diagnostics,
    ) -> &'r mut crate::report::DiagnosticBuilder {
        let message = match self.peek() {
            Some(token) => format!("expected {what}, found `{}`", short(token.at.of(self.text))),
            None => format!("{what} is missing"),
        };
        report.error("syntax", self.here(), message)
    }
}

/// Names in messages are cut: a line of 10 MB may be one word.
pub fn short(text: &str) -> String {
    const LONG: usize = 60;
    match text.char_indices().nth(LONG) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_float_has_a_point_and_ends_with_its_token() {
        let read = |text: &str| {
            let tokens = lex::tokens(text, 0, false, &mut Diagnostics::default());
            let end = ByteSpan::new(text.len(), text.len());
            let mut cursor = Cursor::new(text, &tokens, end);
            let read = cursor.float().map(|(value, _)| value);
            (read, cursor.rest().len())
        };
        for (text, value) in
            [("1.5", 1.5), ("-0.25f", -0.25), ("2.0e-3 ", 0.002), ("1.5E+2F)", 150.0)]
        {
            let left = usize::from(text.ends_with(')'));
            assert_eq!(read(text), (Some(value), left), "{text}");
        }
        // Whatever the number ends with, the end of the text as well.
        for text in ["1", "-1", "-", "1.", "1.é", "1é", "1.5x", "1.5e", "1.5e-", "0x1.8", "x.5", ""]
        {
            assert_eq!(read(text).0, None, "{text}");
        }
    }
}
