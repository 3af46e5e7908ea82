//! Formats files in the style of [`crate::print`], with their comments.
//!
//! The formatter works on the frame as written: each piece keeps its text, and comments stay where they are,
//! before, between or after the pieces. The result is parsed again and must be the same test.

use text::cursor::Cursor;
use text::lex::{self, Token};
use text::report::{ByteSpan, Diagnostics};

use crate::frame::{self, FrameBody};
use crate::print::{PrintedRow, TestText};
use crate::{Diagnostic, parse};
use lift::spacing::{self, TokenPair};

/// Why a file cannot be formatted.
#[derive(Debug)]
pub enum Unformatted {
    /// The file is not a litmus test.
    Rejected(Vec<Diagnostic>),
    /// The result would be another test. That is a bug of the formatter.
    Changed,
}

/// A litmus test in the style of the suite; lines end as the first one does. `path` is for the messages.
pub fn format(path: &str, bytes: &[u8]) -> Result<String, Unformatted> {
    parse(path, bytes).map_err(Unformatted::Rejected)?;
    let written = text::decode(path, bytes).map_err(Unformatted::Rejected)?;
    let crlf = written.split('\n').next().is_some_and(|line| line.ends_with('\r'));
    let unix = written.replace("\r\n", "\n");
    let before = parse(path, unix.as_bytes()).map_err(Unformatted::Rejected)?;
    let formatted = laid_out(&unix).to_string();
    match parse(path, formatted.as_bytes()) {
        Ok(after) if after.is_same(&before) => {}
        Ok(_) | Err(_) => return Err(Unformatted::Changed),
    }
    Ok(if crlf { formatted.replace('\n', "\r\n") } else { formatted })
}

/// A comment, and the line ends before it.
struct Comment<'a> {
    text: &'a str,
    breaks: usize,
    /// Where it ends in the file.
    end: u32,
}

impl Comment<'_> {
    /// Whether it reaches to the end of its line.
    fn ends_line(&self) -> bool {
        self.text.starts_with("//")
    }

    /// With no blanks at the ends of its lines.
    fn lines(&self) -> String {
        self.text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }

    /// On one line.
    fn one_line(&self) -> String {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// The text between two pieces: comments and spaces.
struct Gap<'a> {
    comments: Vec<Comment<'a>>,
    /// The line ends after the last comment.
    breaks: usize,
}

impl Gap<'_> {
    fn has_break(&self) -> bool {
        self.breaks > 0 || self.comments.iter().any(|comment| comment.breaks > 0)
    }
}

fn gap(text: &str, start: u32, end: u32) -> Gap<'_> {
    let inside = &text[start as usize..(end.max(start)) as usize];
    let (mut at, mut breaks, mut comments) = (0, 0, Vec::new());
    loop {
        let rest = &inside[at..];
        let blank = &rest[..rest.len() - rest.trim_start().len()];
        breaks += blank.matches('\n').count();
        at += blank.len();
        let rest = &inside[at..];
        let length = if rest.starts_with("(*") {
            comment(rest)
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else {
            return Gap { comments, breaks };
        };
        at += length;
        let end = start + ByteSpan::new(0, at).end;
        comments.push(Comment { text: &rest[..length], breaks, end });
        breaks = 0;
    }
}

/// How long the comment is that a text begins with.
fn comment(text: &str) -> usize {
    // What has no end is not a test.
    lex::comment_end(text, 0, &mut Diagnostics::default())
}

/// Lines, of which the last one may become longer.
#[derive(Default)]
struct LineBuffer(Vec<String>);

impl LineBuffer {
    /// A piece on a line of its own, or after the last one.
    fn add(&mut self, text: &str, breaks: usize) {
        match self.0.last_mut() {
            Some(last) if breaks == 0 && !last.is_empty() => {
                last.push(' ');
                last.push_str(text);
            }
            Some(_) if breaks > 1 => self.0.extend([String::new(), text.to_owned()]),
            _ => self.0.push(text.to_owned()),
        }
    }

    /// Comments between pieces that each have a line; the line ends before the next piece.
    fn gap(&mut self, gap: &Gap<'_>) -> usize {
        for comment in &gap.comments {
            self.add(&comment.lines(), comment.breaks);
        }
        gap.breaks.max(1)
    }
}

/// The pieces of a test that was read without an error.
fn laid_out(text: &str) -> TestText {
    let mut report = Diagnostics::default();
    let (header, begin) = frame::header(text, &mut report);
    let tokens = lex::tokens(text, begin, header.sass, &mut report);
    let body = frame::body(text, &tokens, &mut report);
    let mut head = LineBuffer::default();
    let mark = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut end = ByteSpan::new(0, mark).end;
    for (at, piece) in &header.pieces {
        let breaks = head.gap(&gap(text, end, at.start));
        head.add(piece, breaks);
        end = at.end;
    }
    let open = tokens.first().map_or(ByteSpan::default(), |open| open.at);
    head.gap(&gap(text, end, open.start));
    let init = entries(text, body.init, open.end);
    let close = body.init.end();
    let (mut after, mut rows, end) = table(text, &body, close.end);
    let end = after_row(text, end, body.tail.here().start, &mut rows, &mut after);
    TestText { head: head.0, init, after, rows, tail: tail(text, body.tail, end) }
}

/// The lines of the initial state; entries that share a line keep to it.
fn entries(text: &str, init: Cursor<'_>, open: u32) -> Vec<String> {
    let mut lines = LineBuffer::default();
    // What begins on the line of the brace does not stay there.
    let (mut end, mut least) = (open, 1);
    let mut add = |lines: &mut LineBuffer, piece: &str, breaks: usize, ends_line: bool| {
        lines.add(piece, breaks.max(least));
        least = usize::from(ends_line);
    };
    let mut rest = init.rest();
    loop {
        let length = rest.iter().position(|token| token.is(text, ";")).unwrap_or(rest.len());
        let (entry, more) = rest.split_at(length);
        let after = more.first().map_or(init.end(), |sign| sign.at);
        let before = gap(text, end, entry.first().map_or(after, |first| first.at).start);
        for comment in &before.comments {
            add(&mut lines, &comment.lines(), comment.breaks, comment.ends_line());
        }
        if !entry.is_empty() {
            let mut late = Vec::new();
            let stop = if more.is_empty() { entry[length - 1].at.end } else { after.start };
            let start = entry[0].at.start;
            let piece = inline(text, entry, start, stop, entry_rule(text, entry), &mut late);
            add(&mut lines, &(piece + ";"), before.breaks, false);
            if !late.is_empty() {
                add(&mut lines, &late.join(" "), 0, true);
            }
            end = stop;
        }
        if more.is_empty() {
            if !entry.is_empty() {
                for comment in &gap(text, end, after.start).comments {
                    add(&mut lines, &comment.lines(), comment.breaks, comment.ends_line());
                }
            }
            return lines.0;
        }
        end = after.end;
        rest = &more[1..];
    }
}

/// How the tokens of an entry are spaced: what declares a variable, or a register.
fn entry_rule<'t>(text: &'t str, entry: &'t [Token]) -> impl Fn(usize, TokenPair<'_>) -> bool + 't {
    let colon = entry.iter().position(|token| token.is(text, ":"));
    let aliases = entry.iter().any(|token| token.at.of(text) == "aliases");
    let launch = entry.iter().any(|token| token.is(text, "->"));
    move |index, pair| match colon {
        _ if launch => spacing::launch(pair),
        Some(colon) if index >= colon => spacing::register(pair),
        _ if aliases => spacing::alias(pair),
        _ => spacing::variable(pair),
    }
}

/// Tokens with the comments between them and around them, on one line. Comments that reach to the end of
/// a line are left for the end of this one.
fn inline(
    text: &str,
    tokens: &[Token],
    start: u32,
    stop: u32,
    rule: impl Fn(usize, TokenPair<'_>) -> bool,
    late: &mut Vec<String>,
) -> String {
    let mut out = String::new();
    let mut end = start;
    for index in 0..=tokens.len() {
        let token = tokens.get(index);
        let between = gap(text, end, token.map_or(stop, |token| token.at.start));
        let mut commented = false;
        for comment in between.comments {
            if comment.ends_line() {
                late.push(comment.one_line());
                continue;
            }
            if !out.is_empty() {
                out.push(' ');
            }
            out += &comment.one_line();
            commented = true;
        }
        let Some(token) = token else { break };
        let word = token.at.of(text);
        let blank = if commented {
            !matches!(word, "," | "]" | "}" | ")" | ":")
        } else {
            index > 0 && rule(index, TokenPair::at(text, tokens, index))
        };
        if blank {
            out.push(' ');
        }
        out += word;
        end = token.at.end;
    }
    out
}

/// What stands after the closing brace, the rows, and where the last one ends.
fn table(text: &str, body: &FrameBody<'_>, close: u32) -> (String, Vec<PrintedRow>, u32) {
    let (mut after, mut rows, mut end) = (String::new(), Vec::new(), close);
    for (index, row) in body.rows.iter().enumerate() {
        let Some(last) = row.cells.last() else { continue };
        let first = row.cells[0].rest().first().map_or(row.cells[0].end(), |first| first.at);
        let start = before_row(text, end, first.start, &mut rows, &mut after);
        let rule = |at: usize, pair: TokenPair<'_>| match index {
            0 => spacing::placement(pair),
            _ => spacing::cell_token(at, pair),
        };
        let (mut late, mut cells, mut from) = (Vec::new(), Vec::new(), start);
        for cell in &row.cells {
            let stop = cell.end().start;
            cells.push(inline(text, cell.rest(), from, stop, rule, &mut late));
            from = cell.end().end;
        }
        end = last.end().end;
        let after: Vec<String> = late.iter().map(|comment| format!(" {comment}")).collect();
        rows.push(PrintedRow::Cells(cells, after.concat()));
    }
    (after, rows, end)
}

/// Puts comments that share a line with the end of a row, or of the initial state, after it; where the last one of
/// them ends.
fn after_row(text: &str, start: u32, end: u32, rows: &mut [PrintedRow], after: &mut String) -> u32 {
    let last = match rows.last_mut() {
        Some(PrintedRow::Cells(_, after)) => after,
        Some(PrintedRow::Line(_)) | None => after,
    };
    let mut from = start;
    for comment in gap(text, start, end).comments {
        // Nothing stands after a comment that reaches to the end of its line.
        if comment.breaks > 0 || last.contains("//") {
            break;
        }
        last.extend([" ", &comment.lines()]);
        from = comment.end;
    }
    from
}

/// Comments between two rows: after the first one, or on lines of their own. Those that share a line with
/// the second one are of its first cell, which begins where this says.
fn before_row(
    text: &str,
    start: u32,
    end: u32,
    rows: &mut Vec<PrintedRow>,
    after: &mut String,
) -> u32 {
    let start = after_row(text, start, end, rows, after);
    let gap = gap(text, start, end);
    let mut lines = gap.comments.len();
    while gap.breaks == 0 && lines > 0 && !gap.comments[lines - 1].text.contains('\n') {
        lines -= 1;
        if gap.comments[lines].breaks > 0 {
            break;
        }
    }
    let mut own = LineBuffer::default();
    for comment in &gap.comments[..lines] {
        own.add(&comment.lines(), comment.breaks.max(usize::from(own.0.is_empty())));
    }
    let blank = |breaks: usize, rows: &mut Vec<PrintedRow>| {
        if breaks > 1 && !rows.is_empty() {
            rows.push(PrintedRow::Line(String::new()));
        }
    };
    if let Some(first) = gap.comments[..lines].first() {
        blank(first.breaks, rows);
    }
    rows.extend(own.0.into_iter().map(PrintedRow::Line));
    blank(gap.comments.get(lines).map_or(gap.breaks, |comment| comment.breaks), rows);
    gap.comments[..lines].last().map_or(start, |comment| comment.end)
}

/// The lines after the table: each clause begins one, and breaks its own where it is broken.
fn tail(text: &str, tail: Cursor<'_>, start: u32) -> Vec<String> {
    let tokens = tail.rest();
    let mut lines = LineBuffer::default();
    let (mut end, mut depth) = (start, 0_i32);
    let mut first = true;
    let mut out = String::new();
    for (index, token) in tokens.iter().enumerate() {
        let word = token.at.of(text);
        let negated = index > 0 && matches!(tokens[index - 1].at.of(text), "~" | "not");
        let begins = depth == 0
            && match word {
                "exists" => !negated,
                "forall" | "filter" | "locations" => true,
                "~" | "not" => tokens.get(index + 1).is_some_and(|t| t.at.of(text) == "exists"),
                _ => false,
            };
        depth += match word {
            "(" | "[" => 1,
            ")" | "]" => -1,
            _ => 0,
        };
        let between = gap(text, end, token.at.start);
        end = token.at.end;
        if begins || first {
            first = false;
            if !out.is_empty() {
                lines.0.push(std::mem::take(&mut out));
            }
            let breaks = lines.gap(&between);
            let blank = breaks > 1 && !lines.0.is_empty();
            lines.0.extend(blank.then(String::new));
            out += word;
            continue;
        }
        let pair = TokenPair::at(text, tokens, index);
        let mut broken = between.has_break() && breaks_line(&tokens[index - 1], token, text);
        for comment in &between.comments {
            out += " ";
            out += &comment.one_line();
            broken |= comment.ends_line();
            if comment.ends_line() {
                out += "\n";
            }
        }
        if broken {
            out.truncate(out.trim_end().len());
            out += "\n  ";
        } else if between.comments.is_empty() && spacing::condition(pair)
            || !between.comments.is_empty() && !matches!(word, ")" | "]" | ";" | ",")
        {
            out += " ";
        }
        out += word;
    }
    if !out.is_empty() {
        lines.0.push(out);
    }
    lines.gap(&gap(text, end, ByteSpan::new(text.len(), text.len()).end));
    lines.0
}

/// Whether a line may end between two tokens of a condition.
fn breaks_line(before: &Token, after: &Token, text: &str) -> bool {
    let joins = |token: &Token| matches!(token.at.of(text), "/\\" | "\\/" | "=>");
    joins(before) || joins(after)
}
