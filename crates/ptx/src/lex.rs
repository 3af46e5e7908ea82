//! Tokens of PTX, produced one at a time: a module may have ten million of them, so they are not stored.

use text::report::ByteSpan;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TokenKind {
    /// A name, `%` and `$` included.
    Word,
    /// What starts with a digit: `0x1f`, `0f3F800000`, `1.5e3`.
    Number,
    /// `.b32`, `.param::entry`: a dot and what follows it without a blank.
    Dotted,
    /// In quotes.
    Text,
    /// One character, or `::`.
    Sign,
    End,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) at: ByteSpan,
}

/// What is wrong with a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flaw {
    OpenComment,
    OpenText,
    /// A comment that ends with a carriage return alone.
    CommentReturn,
    Character,
}

/// A place in the text; cheap to copy, to look ahead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexer<'a> {
    pub(crate) text: &'a str,
    at: usize,
}

const WORD: u8 = 1;
const START: u8 = 2;
const DIGIT: u8 = 4;
const BLANK: u8 = 8;

/// What each byte can be part of; bytes of characters outside ASCII are not part of anything.
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut c = 0_u8;
    loop {
        let byte = c as usize;
        if c.is_ascii_alphabetic() || matches!(c, b'_' | b'$' | b'%') {
            class[byte] = WORD | START;
        } else if c.is_ascii_digit() {
            class[byte] = WORD | DIGIT;
        } else if matches!(c, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c) {
            class[byte] = BLANK;
        }
        if c == u8::MAX {
            break class;
        }
        c += 1;
    }
};

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Lexer<'a> {
        // A byte order mark is not part of the text.
        let at = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Lexer { text, at }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip(&mut self, class: u8) {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(|b| CLASS[usize::from(*b)] & class != 0) {
            self.at += 1;
        }
    }

    /// Goes past blanks and comments; what is wrong with a comment is returned. One without an end
    /// is the rest of the file.
    fn blank(&mut self) -> Option<(Flaw, ByteSpan)> {
        loop {
            self.skip(BLANK);
            match (self.byte(0), self.byte(1)) {
                (b'/', b'/') => {
                    let start = self.at;
                    self.line();
                    if self.byte(0) == b'\r' && self.byte(1) != b'\n' && self.byte(1) != 0 {
                        return Some((Flaw::CommentReturn, ByteSpan::new(start, self.at)));
                    }
                }
                (b'/', b'*') => {
                    let start = self.at;
                    let Some(length) = self.text[start + 2..].find("*/") else {
                        self.at = self.text.len();
                        return Some((Flaw::OpenComment, ByteSpan::new(start, start + 2)));
                    };
                    self.at = start + 2 + length + 2;
                }
                _ => return None,
            }
        }
    }

    /// Goes to the end of the line, which is a line feed or a carriage return.
    pub(crate) fn line(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(rest.len());
    }

    /// The next token; what is not a token is handed to `flaw` and left out.
    pub(crate) fn next(&mut self, flaw: &mut impl FnMut(Flaw, ByteSpan)) -> Token {
        loop {
            while let Some((which, at)) = self.blank() {
                flaw(which, at);
            }
            let start = self.at;
            let Some(&first) = self.text.as_bytes().get(start) else {
                return Token { kind: TokenKind::End, at: ByteSpan::new(start, start) };
            };
            let class = CLASS[usize::from(first)];
            let kind = if class & START != 0 {
                self.skip(WORD);
                TokenKind::Word
            } else if class & DIGIT != 0 {
                self.number();
                TokenKind::Number
            } else if first == b'.' && CLASS[usize::from(self.byte(1))] & WORD != 0 {
                self.at += 1;
                self.skip(WORD);
                while self.byte(0) == b':'
                    && self.byte(1) == b':'
                    && CLASS[usize::from(self.byte(2))] & WORD != 0
                {
                    self.at += 2;
                    self.skip(WORD);
                }
                // `.sp::2:4`
                let digit = |byte: u8| CLASS[usize::from(byte)] & DIGIT != 0;
                if self.byte(0) == b':'
                    && digit(self.byte(1))
                    && self.text[start..self.at].contains("::")
                    && digit(self.text.as_bytes()[self.at - 1])
                {
                    self.at += 1;
                    self.skip(DIGIT);
                }
                TokenKind::Dotted
            } else if first == b'"' {
                let rest = &self.text.as_bytes()[start + 1..];
                let mut length = 0;
                while length < rest.len() && rest[length] != b'"' && rest[length] != b'\n' {
                    length += 1 + usize::from(rest[length] == b'\\');
                }
                if rest.get(length) == Some(&b'"') {
                    self.at = start + 1 + length + 1;
                    TokenKind::Text
                } else {
                    self.line();
                    flaw(Flaw::OpenText, ByteSpan::new(start, start + 1));
                    continue;
                }
            } else if first == b':' && self.byte(1) == b':' {
                self.at += 2;
                TokenKind::Sign
            } else if first.is_ascii_graphic() {
                self.at += 1;
                TokenKind::Sign
            } else {
                // A run of what has no place in PTX is one flaw.
                let rest = &self.text[start..];
                let strange = |c: char| !c.is_ascii_graphic() && !c.is_ascii_whitespace();
                self.at += rest.find(|c| !strange(c)).unwrap_or(rest.len());
                flaw(Flaw::Character, ByteSpan::new(start, self.at));
                continue;
            };
            return Token { kind, at: ByteSpan::new(start, self.at) };
        }
    }

    /// Digits, and what makes them a float: a point, an exponent with its sign.
    fn number(&mut self) {
        let start = self.at;
        self.skip(WORD);
        if self.byte(0) == b'.' && CLASS[usize::from(self.byte(1))] & DIGIT != 0 {
            self.at += 1;
            self.skip(WORD);
        }
        let before = self.text.as_bytes()[self.at - 1];
        let signed = matches!(before, b'e' | b'E') && matches!(self.byte(0), b'+' | b'-');
        if signed && CLASS[usize::from(self.byte(1))] & DIGIT != 0 {
            let digits = &self.text[start..self.at];
            if !digits.starts_with("0x") && !digits.starts_with("0X") {
                self.at += 1;
                self.skip(WORD);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> (Vec<(TokenKind, &str)>, Vec<Flaw>) {
        let (mut lexer, mut tokens, mut flaws) = (Lexer::new(text), Vec::new(), Vec::new());
        loop {
            let token = lexer.next(&mut |flaw, _| flaws.push(flaw));
            if token.kind == TokenKind::End {
                return (tokens, flaws);
            }
            tokens.push((token.kind, token.at.of(text)));
        }
    }

    #[test]
    fn qualifiers_are_dotted_and_hold_together() {
        use TokenKind::{Dotted, Number, Sign, Word};
        assert_eq!(
            all("ld.param::entry.L2::64B.b32 %r1, [a+-4];").0,
            [
                (Word, "ld"),
                (Dotted, ".param::entry"),
                (Dotted, ".L2::64B"),
                (Dotted, ".b32"),
                (Word, "%r1"),
                (Sign, ","),
                (Sign, "["),
                (Word, "a"),
                (Sign, "+"),
                (Sign, "-"),
                (Number, "4"),
                (Sign, "]"),
                (Sign, ";"),
            ]
        );
    }

    #[test]
    fn a_ratio_is_one_word() {
        let words = |text| all(text).0.into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(words("ld.sp::2:4.b2 x"), ["ld", ".sp::2:4", ".b2", "x"]);
        assert_eq!(words("$L1: ret"), ["$L1", ":", "ret"]);
    }

    #[test]
    fn numbers_are_whole() {
        let numbers = |text| all(text).0.into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(
            numbers("1.5e-3 0f3F800000 0x1e+4 2."),
            ["1.5e-3", "0f3F800000", "0x1e", "+", "4", "2", "."]
        );
    }

    #[test]
    fn flaws_are_told_and_left_out() {
        assert_eq!(all("a /* b").1, [Flaw::OpenComment]);
        assert_eq!(
            all("a \"b\nc"),
            (vec![(TokenKind::Word, "a"), (TokenKind::Word, "c")], vec![Flaw::OpenText])
        );
        assert_eq!(all("a é∧ b").1, [Flaw::Character]);
        assert_eq!(all("// x\n/* y */ z").0, [(TokenKind::Word, "z")]);
    }
}
