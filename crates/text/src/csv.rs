//! Comma-separated values with quotes, as RFC 4180 has them.

use std::iter::Peekable;
use std::str::Chars;

/// An error in a file: the line, from 1, and the reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    pub line: usize,
    pub why: &'static str,
}

/// The records of a text, each with the number of its first line.
pub fn records(text: &str) -> Result<Vec<(usize, Vec<String>)>, Malformed> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut records = Vec::new();
    let mut chars = text.chars().peekable();
    let mut line = 1;
    while chars.peek().is_some() {
        let first = line;
        let mut record = Vec::new();
        loop {
            let mut field = String::new();
            let quoted = chars.next_if_eq(&'"').is_some();
            if quoted {
                line += quoted_field(&mut chars, &mut field)
                    .ok_or(Malformed { line: first, why: "unterminated quoted field" })?;
            }
            while let Some(c) = chars.next_if(|c| !matches!(c, ',' | '\n')) {
                if c == '\r' && chars.peek().is_none_or(|c| *c == '\n') {
                    continue;
                }
                if quoted {
                    return Err(Malformed { line, why: "unexpected text after a quoted field" });
                }
                field.push(c);
            }
            record.push(field);
            if chars.next_if_eq(&',').is_none() {
                break;
            }
        }
        chars.next();
        line += 1;
        if record.iter().any(|field| !field.is_empty()) {
            records.push((first, record));
        }
    }
    Ok(records)
}

/// Reads up to the closing quote. Returns the number of line ends in the field; `None` without a closing
/// quote.
fn quoted_field(chars: &mut Peekable<Chars<'_>>, field: &mut String) -> Option<usize> {
    let mut lines = 0;
    loop {
        let c = chars.next()?;
        if c == '"' && chars.next_if_eq(&'"').is_none() {
            return Some(lines);
        }
        lines += usize::from(c == '\n');
        field.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_commas_and_lines() {
        let read = records("a,b\r\n\"x,\"\"y\"\"\",\"1\n2\"\n\n,z\n").expect("it is well formed");
        let own = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            read,
            [(1, own(&["a", "b"])), (2, own(&["x,\"y\"", "1\n2"])), (5, own(&["", "z"]))]
        );
        assert_eq!(records("a\n\"b"), Err(Malformed { line: 2, why: "unterminated quoted field" }));
        assert!(records("\"a\"b").is_err());
    }
}
