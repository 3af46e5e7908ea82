//! Tokens with their byte ranges.

use model::value::Value;

use crate::report::{ByteSpan, Diagnostics};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    /// A name, `%` and `$` included.
    Word,
    /// Anything that starts with a digit; see [`number`].
    Number,
    Punctuation(&'static str),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    pub kind: TokenKind,
    pub at: ByteSpan,
}

impl Token {
    /// Whether it is this punctuation.
    #[inline]
    pub fn is(self, text: &str, sign: &str) -> bool {
        matches!(self.kind, TokenKind::Punctuation(_)) && self.at.of(text) == sign
    }
}

/// Longer ones first.
const PUNCTUATION: &[&str] = &[
    "/\\", "\\/", "=>", "==", "!=", "<>", "<=", ">=", "::", "->", "{", "}", "[", "]", "(", ")",
    ";", "|", ",", ":", ".", "@", "!", "=", "<", ">", "+", "-", "*", "&", "~", "?",
];

/// The end of what is neither token nor error at `at`: blanks and comments, which may nest.
pub fn skip_blank(text: &str, mut at: usize, report: &mut Diagnostics) -> usize {
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start().len();
        at += blank;
        let rest = &text[at..];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("(*") {
            at = comment_end(text, at, report);
        } else {
            return at;
        }
    }
}

/// Where the comment that begins at `start` ends.
pub fn comment_end(text: &str, start: usize, report: &mut Diagnostics) -> usize {
    let all = text.as_bytes();
    let (mut at, mut depth) = (start + 2, 1_usize);
    while at < all.len() {
        match &all[at..all.len().min(at + 2)] {
            b"(*" => {
                depth += 1;
                at += 2;
            }
            b"*)" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    report
        .error("comment-end", ByteSpan::new(start, start + 2), "unterminated comment")
        .note("opened here")
        .help("close it with `*)`");
    all.len()
}

fn starts_word(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '%' | '$')
}

fn continues_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '%' | '$')
}

/// Signs that only instructions of SASS have.
const SASS: &[&str] = &["`"];

/// The tokens of `text` from byte `at` on; those of SASS too, if it has them.
pub fn tokens(text: &str, mut at: usize, sass: bool, report: &mut Diagnostics) -> Vec<Token> {
    let more = if sass { SASS } else { &[] };
    let mut tokens = Vec::new();
    loop {
        at = skip_blank(text, at, report);
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { return tokens };
        let run = |of: fn(char) -> bool| rest.find(|c| !of(c)).unwrap_or(rest.len());
        let (kind, length) = if first.is_ascii_digit() {
            (TokenKind::Number, run(continues_word))
        } else if starts_word(first) {
            (TokenKind::Word, run(continues_word))
        } else if let Some(sign) =
            PUNCTUATION.iter().chain(more).find(|sign| rest.starts_with(**sign))
        {
            (TokenKind::Punctuation(sign), sign.len())
        } else {
            let length = rest
                .find(|c: char| c.is_whitespace() || c.is_ascii_alphanumeric())
                .unwrap_or(rest.len())
                .max(first.len_utf8());
            report
                .error("character", ByteSpan::new(at, at + length), unexpected_character(first))
                .help_if(instead(first).map(str::to_owned));
            at += length;
            continue;
        };
        tokens.push(Token { kind, at: ByteSpan::new(at, at + length) });
        at += length;
    }
}

fn unexpected_character(c: char) -> String {
    if c.is_control() {
        format!("unexpected control character U+{:04X}", u32::from(c))
    } else {
        format!("unexpected character `{c}`")
    }
}

/// Signs that typesetting puts in the place of what herd reads.
fn instead(c: char) -> Option<&'static str> {
    match c {
        '∧' => Some("write `/\\`"),
        '∨' => Some("write `\\/`"),
        '¬' => Some("write `not`"),
        '≠' => Some("write `!=`"),
        '‖' | '∥' => Some("write `|` between the threads"),
        '“' | '”' | '"' => Some("documentation goes between the name and `{`"),
        '#' => Some("comments are written `(* … *)` or `// …`"),
        _ => None,
    }
}

/// The value of a [`TokenKind::Number`], as PTX and herd both read it, or why there is none.
pub fn number(text: &str) -> Result<Value, &'static str> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.strip_suffix('u').unwrap_or(&lower);
    let parse = |digits: &str, radix: u32| {
        if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
            return Err("invalid number");
        }
        Value::from_str_radix(digits, radix).map_err(|_| "this number does not fit in 128 bits")
    };
    if let Some(hex) = digits.strip_prefix("0x") {
        parse(hex, 16)
    } else if let Some(float) = lower.strip_prefix("0f").filter(|f| f.len() == 8) {
        parse(float, 16)
    } else if let Some(float) = lower.strip_prefix("0d").filter(|f| f.len() == 16) {
        parse(float, 16)
    } else if let Some(binary) = digits.strip_prefix("0b") {
        parse(binary, 2)
    } else if digits.len() > 1 && digits.starts_with('0') && parse(digits, 10).is_ok() {
        Err("a number that starts with 0 is octal in PTX and decimal in herd")
    } else {
        parse(digits, 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let mut report = Diagnostics::default();
        let tokens = tokens(text, 0, false, &mut report);
        assert_eq!(report.count(), 0);
        tokens.iter().map(|token| token.at.of(text)).collect()
    }

    #[test]
    fn comments_nest_and_conjunctions_are_no_comments() {
        assert_eq!(words("a (* b (* c *) d *) /\\ e // f\n g"), ["a", "/\\", "e", "g"]);
    }

    #[test]
    fn numbers_read_as_in_both_languages() {
        assert_eq!(number("42"), Ok(42));
        assert_eq!(number("0x2aU"), Ok(42));
        assert_eq!(number("0f3F800000"), Ok(0x3f80_0000));
        assert!(number("010").is_err());
        assert!(number("1x").is_err());
        assert_eq!(number("18446744073709551616"), Ok(1 << 64));
        assert!(number("999999999999999999999999999999999999999").is_err());
    }
}
