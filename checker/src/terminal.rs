//! Text for people, whatever inputs have in it: colours of our own pass, anything else that a terminal would take as an
//! order is escaped, and long words are clipped.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use text::escape::{clipped, escaped_line};

/// A stream of lines for people.
pub struct TerminalText<W: Write> {
    out: W,
    /// What came after the last end of a line.
    rest: Vec<u8>,
    labels: bool,
}

impl<W: Write> TerminalText<W> {
    pub fn new(out: W) -> TerminalText<W> {
        TerminalText { out, rest: Vec::new(), labels: false }
    }

    /// For errors: the words that begin them have their colours.
    pub fn of_errors(out: W) -> TerminalText<W> {
        TerminalText { out, rest: Vec::new(), labels: true }
    }

    fn put(&mut self, end: usize) -> io::Result<()> {
        let lines: Vec<u8> = self.rest.drain(..end).collect();
        let lines = String::from_utf8_lossy(&lines);
        lines.split_inclusive('\n').try_for_each(|line| self.line(line))
    }

    fn line(&mut self, line: &str) -> io::Result<()> {
        let content = line.trim_end_matches(['\r', '\n']);
        let end = &line[content.len()..];
        let (style, label) = if self.labels { label(content) } else { (Style::new(), "") };
        write!(self.out, "{style}{label}{style:#}")?;
        self.out.write_all(shown(&content[label.len()..]).as_bytes())?;
        self.out.write_all(end.as_bytes())
    }
}

impl<W: Write> Write for TerminalText<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend(bytes);
        if let Some(last) = self.rest.iter().rposition(|&byte| byte == b'\n') {
            self.put(last + 1)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.put(self.rest.len())?;
        self.out.flush()
    }
}

impl<W: Write> Drop for TerminalText<W> {
    fn drop(&mut self) {
        // Who has to know of an error flushes.
        let _ = self.flush();
    }
}

/// The word that begins an error, and its colour.
fn label(line: &str) -> (Style, &str) {
    let colours = [
        ("error:", AnsiColor::Red),
        ("warning:", AnsiColor::Yellow),
        ("note:", AnsiColor::Blue),
        ("help:", AnsiColor::Blue),
    ];
    let found = colours.into_iter().find(|(word, _)| line.starts_with(word));
    found.map_or((Style::new(), ""), |(word, colour)| {
        (colour.on_default().bold(), &line[..word.len()])
    })
}

/// A line, without orders but colours.
fn shown(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("\x1b[") {
        let (text, sequence) = rest.split_at(at);
        let Some(length) = style_length(sequence) else {
            let (text, after) = rest.split_at(at + 1);
            out += &part(text);
            rest = after;
            continue;
        };
        out += &part(text);
        out += &sequence[..length];
        rest = &sequence[length..];
    }
    out + &part(rest)
}

fn part(text: &str) -> String {
    clipped(&escaped_line(text)).into_owned()
}

/// The length of a sequence that chooses a colour or a weight; none of them hides text.
fn style_length(sequence: &str) -> Option<usize> {
    let end = sequence.find('m')?;
    let codes = sequence.get(2..end)?;
    let is_style = |code: &str| {
        code.parse::<u8>().is_ok_and(|code| matches!(code, 0 | 1 | 2 | 4 | 30..=37 | 39 | 90..=97))
    };
    codes.split(';').all(is_style).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(pieces: &[&[u8]]) -> String {
        let mut bytes = Vec::new();
        let mut text = TerminalText::of_errors(&mut bytes);
        pieces.iter().try_for_each(|piece| text.write_all(piece)).expect("memory can be written");
        drop(text);
        String::from_utf8(bytes).expect("it is text")
    }

    #[test]
    fn colours_pass_and_orders_do_not() {
        let style = "\x1b[1m\x1b[31mFAIL\x1b[0m\tx\r\n";
        assert_eq!(written(&[style.as_bytes()]), style);
        assert_eq!(
            written(&[b"\x1b]0;t\x07\x1b[8mx\x1b[2Jy"]),
            "\\u{1b}]0;t\\u{7}\\u{1b}[8mx\\u{1b}[2Jy"
        );
        // A character may come in pieces.
        assert_eq!(written(&[b"a\xe2\x80", b"\xaeb\n"]), "a\\u{202e}b\n");
        assert_eq!(written(&[b"\xff\n"]), "\u{fffd}\n");
        assert!(written(&["x".repeat(1 << 20).as_bytes(), b"\n"]).len() < 4096);
    }

    #[test]
    fn what_begins_an_error_has_a_colour() {
        let shown = written(&[b"error: a\nno error: b\n"]);
        assert_eq!(shown, "\x1b[1m\x1b[31merror:\x1b[0m a\nno error: b\n");
    }
}
