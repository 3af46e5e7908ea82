//! The text of users for a terminal: what a terminal, or the eye, would take as an order is escaped.

use std::borrow::Cow;

/// Whether a character is a command and not a sign: a control character, or one that changes the direction of what follows, so
/// that a reader sees other text than there is.
pub fn is_order(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// A name or a sentence: one line without orders.
pub fn escaped(text: &str) -> Cow<'_, str> {
    with_escapes(text, is_order)
}

/// A line of a file, with its tabs, without orders.
pub fn escaped_line(text: &str) -> Cow<'_, str> {
    with_escapes(text, |c| c != '\t' && is_order(c))
}

/// A text of several lines, each of them without orders.
pub fn escaped_lines(text: &str) -> Cow<'_, str> {
    with_escapes(text, |c| !matches!(c, '\t' | '\n') && is_order(c))
}

fn with_escapes(text: &str, is_order: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_order) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if !is_order(c) => out.push(c),
            '\n' | '\r' | '\t' => out.extend(c.escape_default()),
            c => out.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(out)
}

/// A character of an excerpt, for marks to stand below: one sign, whatever it is.
pub fn sign(c: char) -> char {
    match c {
        '\t' => ' ',
        '\u{7f}' => '\u{2421}',
        c if c < ' ' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        c if is_order(c) => '\u{fffd}',
        c => c,
    }
}

/// The longest word that is shown whole, in characters: names of templates in C++ are long.
const LONGEST_WORD: usize = 1000;

/// What is kept of the end of a longer one, by which such names differ.
const KEPT_END: usize = 100;

/// A text with its long words cut in their middles: a line of 10 MB may be one word.
pub fn clipped(text: &str) -> Cow<'_, str> {
    // Bytes are at least as many as characters.
    if text.len() <= LONGEST_WORD {
        return Cow::Borrowed(text);
    }
    let cut = |word: &str| {
        let count = word.chars().count();
        let at = |index: usize| word.char_indices().nth(index).map_or(word.len(), |(at, _)| at);
        (count > LONGEST_WORD).then(|| {
            let kept = LONGEST_WORD - KEPT_END;
            format!("{}…{}", &word[..at(kept)], &word[at(count - KEPT_END)..])
        })
    };
    let words = text.split_inclusive(char::is_whitespace);
    Cow::Owned(words.map(|word| cut(word).map_or(Cow::Borrowed(word), Cow::Owned)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_takes_no_orders() {
        assert_eq!(escaped("a b.litmus é"), "a b.litmus é");
        assert_eq!(escaped("\x1b[2Ja\n\u{9b}é"), "\\u{1b}[2Ja\\n\\u{9b}é");
        assert_eq!(escaped("a\u{202e}b\u{2069}\u{200f}"), "a\\u{202e}b\\u{2069}\\u{200f}");
        assert_eq!(escaped_line("\tx\x07\r"), "\tx\\u{7}\\r");
        assert_eq!(escaped_lines("\ta\r\nb\x07\n"), "\ta\\r\nb\\u{7}\n");
        let line: String = "\tx\x1b[1m\x7f\u{9b}\u{202e}".chars().map(sign).collect();
        assert_eq!(line, " x␛[1m␡��");
    }

    #[test]
    fn long_words_keep_both_ends() {
        let word = format!("{}{}", "é".repeat(LONGEST_WORD), "z".repeat(KEPT_END));
        let cut = clipped(&word).into_owned();
        assert_eq!(cut.chars().count(), LONGEST_WORD + 1);
        assert!(cut.starts_with('é') && cut.ends_with('z') && cut.contains('…'), "{cut}");
        let text = "word ".repeat(LONGEST_WORD);
        assert_eq!(clipped(&text), text);
    }
}
