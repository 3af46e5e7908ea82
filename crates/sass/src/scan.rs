//! The scanner of SASS text.

use super::syntax::NumberLiteral;
use text::report::ByteSpan;

/// Cheap to copy, to look ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// Where the text to be read ends.
    end: usize,
}

pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str, range: ByteSpan) -> Scanner<'a> {
        Scanner { text, at: range.start as usize, end: range.end as usize }
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..self.end]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn since(&self, start: usize) -> ByteSpan {
        ByteSpan::new(start, self.at)
    }

    pub(super) fn here(&self) -> ByteSpan {
        ByteSpan::new(self.at, self.at + self.peek().map_or(0, char::len_utf8))
    }

    pub(super) fn eat(&mut self, sign: &str) -> bool {
        let there = self.rest().starts_with(sign);
        self.at += if there { sign.len() } else { 0 };
        there
    }

    /// Characters of a kind; perhaps none.
    pub(super) fn run(&mut self, of: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let run = &rest[..rest.find(|c| !of(c)).unwrap_or(rest.len())];
        self.at += run.len();
        run
    }

    /// Goes past blanks and comments, not past the end of a line. A comment without an end is the
    /// rest of the text.
    pub(super) fn blank(&mut self) {
        loop {
            self.run(|c| matches!(c, ' ' | '\t' | '\r' | '\u{feff}'));
            let close = match self.rest().get(..2) {
                Some("//") => {
                    self.run(|c| c != '\n');
                    continue;
                }
                Some("/*") => "*/",
                Some("(*") => "*)",
                _ => return,
            };
            let rest = self.rest();
            self.at += rest[2..].find(close).map_or(rest.len(), |length| 2 + length + 2);
        }
    }

    /// Whether a comment begins here.
    fn comments(&self) -> bool {
        matches!(self.rest().get(..2), Some("//" | "/*" | "(*"))
    }

    /// Whether an instruction ends here.
    pub(super) fn ends(&self) -> bool {
        matches!(self.peek(), None | Some(';' | '\n'))
    }

    /// Whether an annotation begins here.
    pub(super) fn annotates(&self) -> bool {
        let rest = self.rest();
        rest.starts_with(['&', '?']) || rest.starts_with("{&") || rest.starts_with("{?")
    }

    /// A name, which does not begin with a digit.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        let first = self.peek().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        first.then(|| self.run(is_word))
    }

    /// What begins with a digit: `0x1f`, `12`, `1.5e-05`, and names like `2D`, which have no value.
    pub(super) fn number(&mut self) -> Option<NumberLiteral<'a>> {
        if !self.peek().is_some_and(|c| c.is_ascii_digit()) {
            return None;
        }
        let start = self.at;
        self.run(is_word);
        let hexadecimal =
            self.text[start..].starts_with("0x") || self.text[start..].starts_with("0X");
        let digit = |scan: &Scanner<'_>, ahead: usize| {
            scan.rest().as_bytes().get(ahead).is_some_and(u8::is_ascii_digit)
        };
        if self.peek() == Some('.') && digit(self, 1) && !hexadecimal {
            self.at += 1;
            self.run(is_word);
        }
        let exponent = self.text[start..self.at].ends_with(['e', 'E']) && !hexadecimal;
        if exponent && matches!(self.peek(), Some('+' | '-')) && digit(self, 1) {
            self.at += 1;
            self.run(is_word);
        }
        let text = &self.text[start..self.at];
        Some(NumberLiteral { text, value: integer(text) })
    }

    /// Goes to the `,` or the end that is outside all brackets; whether all of them are closed.
    pub(super) fn balanced(&mut self) -> bool {
        let mut depth = 0_usize;
        while let Some(c) = self.peek() {
            let ends = c == ',' || self.annotates() || self.comments();
            match c {
                '\n' | ';' => return depth == 0,
                _ if ends && depth == 0 => return true,
                '[' | '(' | '{' => depth += 1,
                ']' | ')' | '}' if depth == 0 => return true,
                ']' | ')' | '}' => depth -= 1,
                _ => {}
            }
            self.at += c.len_utf8();
        }
        depth == 0
    }
}

fn integer(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    match lower.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+')),
        None => text.parse().ok(),
    }
}
