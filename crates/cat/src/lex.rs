//! Tokens of cat.

use text::lex::skip_blank;
use text::report::{ByteSpan, Diagnostics};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TokenKind {
    /// `po-loc`, and `_` too.
    Name,
    Keyword,
    /// In quotes.
    Text,
    Sign,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: TokenKind,
    pub(super) text: &'t str,
    pub(super) at: ByteSpan,
}

const KEYWORDS: &[&str] = &[
    "let",
    "rec",
    "and",
    "when",
    "acyclic",
    "irreflexive",
    "show",
    "unshow",
    "empty",
    "subset",
    "as",
    "fun",
    "in",
    "undefined_unless",
    "flag",
    "include",
    "begin",
    "end",
    "procedure",
    "call",
    "enum",
    "debug",
    "match",
    "with",
    "forall",
    "from",
    "do",
    "try",
    "if",
    "then",
    "else",
    "yield",
    "instructions",
    "default",
    "compat",
];

/// Longer ones first.
const SIGNS: &[&str] = &[
    "^-1", "++", "||", "->", "(", ")", "{", "}", "[", "]", "0", "|", "&", "*", "~", "+", "^", "\\",
    "?", "=", ";", ",",
];

/// `a`, `po-loc`, `_x`, `r'`; a lone `_` is the set of all events.
fn name_length(text: &str) -> usize {
    let body = text.strip_prefix('_').unwrap_or(text);
    let lead = text.len() - body.len();
    if !body.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return lead;
    }
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let length = lead + body.find(|c| !part(c)).unwrap_or(body.len());
    length + usize::from(text[length..].starts_with('\''))
}

/// The tokens of a text after its first `at` bytes.
pub(super) fn tokens<'t>(text: &'t str, mut at: usize, report: &mut Diagnostics) -> Vec<Token<'t>> {
    let mut tokens = Vec::new();
    loop {
        at = skip_blank(text, at, report);
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { return tokens };
        if first == '#' {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let (kind, length) = if name_length(rest) > 0 {
            let length = name_length(rest);
            let keyword = KEYWORDS.contains(&&rest[..length]);
            (if keyword { TokenKind::Keyword } else { TokenKind::Name }, length)
        } else if first == '"' {
            match rest[1..].find(['"', '\n']) {
                Some(end) if rest[1 + end..].starts_with('"') => (TokenKind::Text, end + 2),
                end => {
                    let end = end.map_or(rest.len(), |end| 1 + end);
                    report
                        .error("quote", ByteSpan::new(at, at + 1), "unterminated quote")
                        .help("close it with `\"` on the same line");
                    at += end;
                    continue;
                }
            }
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (TokenKind::Sign, sign.len())
        } else {
            let end = rest
                .find(|c: char| c.is_whitespace() || c.is_ascii())
                .filter(|&end| end > 0)
                .unwrap_or(first.len_utf8());
            let shown = if first.is_control() {
                first.escape_default().to_string()
            } else {
                first.to_string()
            };
            report
                .error("character", ByteSpan::new(at, at + end), format!("unexpected `{shown}`"))
                .help_if(instead(first).map(str::to_owned));
            at += end;
            continue;
        };
        tokens.push(Token { kind, text: &rest[..length], at: ByteSpan::new(at, at + length) });
        at += length;
    }
}

/// What cat writes for signs of typeset models.
fn instead(c: char) -> Option<&'static str> {
    match c {
        '∪' => Some("union is written `|`"),
        '∩' => Some("intersection is written `&`"),
        '∖' | '-' => Some("difference is written `\\`"),
        '×' => Some("a product of sets is written `*`"),
        '¬' | '!' => Some("a complement is written `~`"),
        '∅' => Some("the empty relation is written `0`"),
        '⁻' => Some("an inverse is written `^-1`"),
        '\'' => Some("tags of instructions are sets here: `ACQ`, not `'acq`"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let mut report = Diagnostics::default();
        let words = tokens(text, 0, &mut report).into_iter().map(|token| token.text).collect();
        assert_eq!(report.count(), 0);
        words
    }

    #[test]
    fn names_hold_hyphens_and_inverses_end_them() {
        assert_eq!(words("po-loc^-1;a.b'?"), ["po-loc", "^-1", ";", "a.b'", "?"]);
        assert_eq!(words("_ * _x"), ["_", "*", "_x"]);
    }

    #[test]
    fn comments_nest() {
        assert_eq!(words("\"a b\" (* (* x *) y *) // z\n# w\nlet"), ["\"a b\"", "let"]);
    }
}
