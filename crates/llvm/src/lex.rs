//! Tokens of LLVM IR, one line at a time.

use text::report::{ByteSpan, Diagnostics};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TokenKind {
    /// Opcodes, types, numbers, and names with their `%`, `@` or `!`.
    Word,
    /// A string, with its quotes.
    String,
    Sign,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) at: ByteSpan,
}

fn in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '%' | '@' | '!' | '$' | '_' | '.' | '-' | '+' | '#')
}

/// The tokens of each line that is not empty. A comment begins with `;`.
pub(super) fn lines(text: &str, report: &mut Diagnostics) -> Vec<Vec<Token>> {
    let mut lines = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        let tokens = tokens(text, start, line.len(), report);
        if !tokens.is_empty() {
            lines.push(tokens);
        }
        start += line.len() + 1;
    }
    lines
}

fn tokens(text: &str, start: usize, length: usize, report: &mut Diagnostics) -> Vec<Token> {
    let end = start + length;
    let mut tokens = Vec::new();
    let mut at = start;
    while let Some(c) = text[at..end].chars().next() {
        let rest = &text[at..end];
        let (kind, length) = match c {
            _ if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            ';' => break,
            '/' if rest.starts_with("/*") => {
                // A comment that is not closed on its line is not supported.
                let Some(end) = rest.find("*/") else { break };
                at += end + 2;
                continue;
            }
            '"' => {
                let Some(inside) = rest[1..].find('"') else {
                    report
                        .error("llvm-string", ByteSpan::new(at, end), "unterminated string")
                        .help("close it with `\"`");
                    break;
                };
                (TokenKind::String, inside + 2)
            }
            _ if in_word(c) => (TokenKind::Word, rest.find(|c| !in_word(c)).unwrap_or(rest.len())),
            _ => (TokenKind::Sign, c.len_utf8()),
        };
        tokens.push(Token { kind, at: ByteSpan::new(at, at + length) });
        at += length;
    }
    tokens
}
