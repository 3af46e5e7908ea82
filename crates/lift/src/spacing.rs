//! The blanks between the tokens of a printed test.
//!
//! A rule decides for a pair of tokens, given whether the input has a blank between them. If no rule applies,
//! the blank of the input is kept.

use text::lex::{Token, TokenKind};
use text::report::ByteSpan;

/// Two consecutive tokens.
#[derive(Clone, Copy)]
pub struct TokenPair<'a> {
    before: &'a str,
    after: &'a str,
    /// The kind of the first token.
    kind: TokenKind,
    /// The kind of the second token.
    next: TokenKind,
    /// The kind of the token after the second one, if any.
    third: Option<TokenKind>,
    /// Whether spaces or comments are between them.
    apart: bool,
    text: &'a str,
    /// The tokens before the second one.
    preceding: &'a [Token],
}

impl<'a> TokenPair<'a> {
    /// The pair of the token at an index, which is at least 1, and the token before it.
    pub fn at(text: &'a str, tokens: &'a [Token], index: usize) -> TokenPair<'a> {
        let (first, second) = (tokens[index - 1], tokens[index]);
        TokenPair {
            before: first.at.of(text),
            after: second.at.of(text),
            kind: first.kind,
            next: second.kind,
            third: tokens.get(index + 1).map(|token| token.kind),
            apart: first.at.end < second.at.start,
            text,
            preceding: &tokens[..index],
        }
    }

    /// Whether the pair is in a list of scoreboards, such as `&req={0,1}`.
    fn listed(self) -> bool {
        listed(self.text, self.preceding)
    }

    fn either(self, signs: &[&str]) -> bool {
        signs.contains(&self.before) || signs.contains(&self.after)
    }

    /// Whether one of the two is a name.
    fn one_is_named(self) -> bool {
        is_name(self.kind) || is_name(self.next)
    }
}

/// Whether these tokens end inside a list that begins with `={`. A list of scoreboards is short.
fn listed(text: &str, before: &[Token]) -> bool {
    const MOST: usize = 20;
    let mut near = before.iter().rev().take(MOST).map(|token| token.at.of(text));
    near.find(|word| matches!(*word, "{" | "}")) == Some("{") && near.next() == Some("=")
}

/// Tokens as text, without the comments between them.
pub fn text(text: &str, tokens: &[Token], rule: impl Fn(TokenPair<'_>) -> bool) -> String {
    let whole = |(first, last): (&Token, &Token)| first.at.to(last.at);
    let length = tokens.first().zip(tokens.last()).map_or(ByteSpan::default(), whole);
    let mut out = String::with_capacity((length.end - length.start) as usize);
    for (index, token) in tokens.iter().enumerate() {
        if index > 0 && rule(TokenPair::at(text, tokens, index)) {
            out.push(' ');
        }
        out.push_str(token.at.of(text));
    }
    out
}

/// `P0@cta 0,cluster 0,gpu 0`.
pub fn placement(pair: TokenPair<'_>) -> bool {
    !pair.either(&["@", ","])
}

/// `L0: @p atom.relaxed.gpu.cas.b32 r0, [x], 0, 1`.
pub fn cell(pair: TokenPair<'_>) -> bool {
    match (pair.before, pair.after) {
        (_, "," | ":" | "]" | "}" | ")") | ("[" | "{" | "(" | "@" | "!", _) => false,
        ("," | ":", _) => !pair.listed(),
        // Two results: `p|q`. A sign beside the bar of `|R1|` may be no part of the operand: `|R1| .x`.
        _ if pair.either(&["|"]) && pair.one_is_named() => false,
        _ => pair.apart,
    }
}

/// The same for a token at this position. The colon of a label is the second token; another one is a part of an
/// operand, such as `0:x1f`, which is kept as it is written where no form has it.
pub fn cell_token(at: usize, pair: TokenPair<'_>) -> bool {
    let label = if pair.before == ":" { at == 2 } else { at == 1 };
    if pair.either(&[":"]) && !label { pair.apart } else { cell(pair) }
}

/// `.global .u32 x=1 @home gpu 0`, `int a[2]={1,2}`.
pub fn variable(pair: TokenPair<'_>) -> bool {
    match (pair.before, pair.after) {
        ("{" | "[" | "." | "@" | "-" | "&", _) | (_, "}" | "]") => false,
        _ if pair.either(&["=", ",", "::"]) => false,
        (_, "[") => pair.third != Some(TokenKind::Number) && pair.apart,
        (_, "@" | ".") => true,
        _ => is_name(pair.kind) || pair.apart,
    }
}

/// `y @ generic aliases x`.
pub fn alias(pair: TokenPair<'_>) -> bool {
    pair.before == "@" || variable(pair)
}

/// `kernel 0 -> 1 @stream`.
pub fn launch(pair: TokenPair<'_>) -> bool {
    pair.before != "@"
}

/// `P0:r0=1`, `P0:c[0x0][0x210]=x`, `P1:r1=&s@P0`: the part after the thread.
pub fn register(_: TokenPair<'_>) -> bool {
    false
}

/// `~exists (P0:r0=1 /\ [x+4]!=2)`, `locations [x; P0:r0;]`.
pub fn condition(pair: TokenPair<'_>) -> bool {
    let words = ["exists", "forall", "filter", "locations", "not"];
    match (pair.before, pair.after) {
        // Operators of C that are lexed as two tokens.
        ("&", "&") | ("|", "|") => false,
        _ if pair.either(&["/\\", "\\/", "=>", "&", "|"]) => true,
        ("(" | "[" | "~" | "!" | "-", _) | (_, ")" | "]" | ";" | ",") => false,
        (";" | ",", _) => true,
        _ if pair.either(&["=", "==", "!=", "<>", "<", "<=", ">", ">=", ":", "@", "+"]) => false,
        (before, "(" | "[") => words.contains(&before),
        _ => is_name(pair.kind) && is_name(pair.next) || pair.apart,
    }
}

fn is_name(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Word | TokenKind::Number)
}
