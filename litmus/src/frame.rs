//! The frame of a test: herd's header, initial state, table of instructions, and the clauses after it.

use std::collections::BTreeMap;

use text::cursor::{Cursor, short};
use text::lex::{self, Token, TokenKind};
use text::report::{ByteSpan, Diagnostics};

/// The header, before the initial state.
#[derive(Default)]
pub(crate) struct Header<'a> {
    /// Whether the columns hold SASS.
    pub(crate) sass: bool,
    pub(crate) name: &'a str,
    /// Whether the first line begins with `CXX`.
    pub(crate) cxx: bool,
    pub(crate) doc: Vec<&'a str>,
    pub(crate) metadata: Vec<(&'a str, &'a str)>,
    /// Each piece in the order of the file: where it is, and how it is printed.
    pub(crate) pieces: Vec<(ByteSpan, String)>,
    /// Where each key is.
    keys: BTreeMap<&'a str, ByteSpan>,
    /// Whether the first line names a language of herd's that is not read, as the rest then is not.
    pub(crate) foreign: bool,
}

impl Header<'_> {
    /// Whether there is a line with this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.keys.contains_key(key)
    }

    /// The position of a key.
    pub(crate) fn key_at(&self, key: &str) -> ByteSpan {
        self.keys.get(key).copied().unwrap_or_default()
    }
}

/// The languages of herd's tests that are not read.
const FOREIGN_LANGUAGES: [&str; 12] =
    ["AArch64", "ARM", "BPF", "Bell", "C", "JAVA", "LISA", "MIPS", "PPC", "RISCV", "X86", "X86_64"];

/// Keys with a meaning.
pub(crate) const KEYS: &[&str] = &[
    "Forbidden-by",
    "Forbidden-by-alone",
    "Readings",
    "Undefined",
    "Unsupported",
    "Dialect",
    "Arch",
    "Registers",
    "Rounding",
    "Without-rule",
    "PTX-ISA",
    "Stuck",
    "Sometimes-stuck",
    "Hang",
    "Notes",
];

/// Keys that say something of the verdict of the condition, not of the program.
pub(crate) const OF_VERDICT: &[&str] =
    &["Forbidden-by", "Forbidden-by-alone", "Readings", "Without-rule"];

/// Keys that the tools of herd write; they mean nothing here.
const FOREIGN: &[&str] = &[
    "Align",
    "Com",
    "Cycle",
    "Generator",
    "Hash",
    "Mapping",
    "Orig",
    "Prefetch",
    "Relax",
    "Safe",
    "Stable",
    "TTHM",
    "Variant",
];

/// Reads the header; the second component is where the initial state begins.
pub(crate) fn header<'a>(text: &'a str, report: &mut Diagnostics) -> (Header<'a>, usize) {
    let mut header = Header::default();
    let mut at =
        lex::skip_blank(text, text.len() - text.trim_start_matches('\u{feff}').len(), report);
    if at == text.len() {
        report
            .error("empty", ByteSpan::new(at, at), "there is no test in this file")
            .help("a test begins with the line `PTX NAME`");
        return (header, at);
    }
    let line = line_at(text, at);
    let (arch, name) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let here = ByteSpan::new(at, at + arch.len());
    if matches!(arch, "PTX" | "SASS" | "CXX") {
        header.sass = arch == "SASS";
        header.cxx = arch == "CXX";
        header.name = name.trim();
        if header.name.is_empty() {
            report
                .error("name", here.after(), "the test has no name")
                .note("expected a name")
                .help(format!("{arch} NAME"));
        }
        let first = format!("{arch} {}", header.name);
        header.pieces.push((ByteSpan::new(at, at + line.len()), first));
        at += line.len();
    } else {
        let named = !arch.starts_with(['{', '"', '|']) && !arch.contains('=');
        let message = if named {
            format!("the first line names `{}`; expected PTX, SASS or CXX", short(arch))
        } else {
            "the first line does not say that this is a PTX test".to_owned()
        };
        report.error("architecture", here, message).help("PTX NAME");
        header.foreign = FOREIGN_LANGUAGES.contains(&arch);
        at += if named { line.len() } else { 0 };
    }

    let mut in_garbage = false;
    loop {
        at = lex::skip_blank(text, at, report);
        let rest = &text[at..];
        if rest.starts_with('{') || rest.is_empty() {
            return (header, at);
        }
        if rest.starts_with('"') {
            in_garbage = false;
            at = doc_string(text, at, &mut header, report);
            continue;
        }
        let line = line_at(text, at);
        let here = ByteSpan::new(at, at + line.len());
        let key_value = line.split_once('=').filter(|(key, _)| is_key(key.trim()));
        if begins_code(line) {
            return (header, at);
        }
        if let Some((key, value)) = key_value {
            in_garbage = false;
            let key_at = ByteSpan::new(at, at + key.trim_end().len());
            header.pieces.push((here, format!("{}={}", key.trim(), value.trim())));
            add_metadata(&mut header, key.trim(), value.trim(), key_at, report);
        } else if !in_garbage {
            in_garbage = true;
            report
                .error("header", here, "expected documentation, `Key=value` or the initial state")
                .help("write documentation in `\"…\"` and the initial state in `{ … }`");
        }
        at += line.len();
    }
}

/// Where the tests of a text begin: at the first line `PTX NAME`, and at each such line after the initial state of the test
/// before, outside of comments.
pub(crate) fn beginnings(text: &str) -> Vec<usize> {
    let begins = |line: &str| {
        let (language, name) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        matches!(language.trim_start_matches('\u{feff}'), "PTX" | "SASS" | "CXX")
            && !name.trim().is_empty()
    };
    let (mut found, mut has_state, mut comments, mut at) = (Vec::new(), false, 0_usize, 0);
    for line in text.split_inclusive('\n') {
        if comments == 0 && begins(line) && (found.is_empty() || has_state) {
            found.push(at);
            has_state = false;
        }
        has_state |= comments == 0 && line.contains('{');
        let opened = comments + line.matches("(*").count();
        comments = opened.saturating_sub(line.matches("*)").count());
        at += line.len();
    }
    found
}

/// The rest of the line, without blanks and comments at its end.
fn line_at(text: &str, at: usize) -> &str {
    let rest = &text[at..];
    let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
    let line = &line[..line.find("(*").unwrap_or(line.len())];
    line.trim_end()
}

fn is_key(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

/// Whether a line looks like the table or the condition: then the initial state is missing.
fn begins_code(line: &str) -> bool {
    let word = line.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or("");
    let after = line[word.len()..].trim_start();
    let thread = word.starts_with('P')
        && word.len() > 1
        && word[1..].chars().all(|c| c.is_ascii_digit())
        && after.starts_with(['@', '|', ';']);
    thread || line.starts_with("~exists") || matches!(word, "exists" | "forall")
}

fn doc_string<'a>(
    text: &'a str,
    at: usize,
    header: &mut Header<'a>,
    report: &mut Diagnostics,
) -> usize {
    let inside = &text[at + 1..];
    let Some(length) = doc_length(inside) else {
        report
            .error("doc-end", ByteSpan::new(at, at + 1), "unterminated documentation string")
            .note("opened here")
            .help("close it with `\"`");
        return text.len();
    };
    let here = ByteSpan::new(at, at + length + 2);
    header.doc.push(&inside[..length]);
    header.pieces.push((here, here.of(text).to_owned()));
    at + length + 2
}

/// How long a documentation string is, from after its first quote. Peers' strings have quotes inside:
/// then the last one on the line ends it, if nothing follows.
fn doc_length(inside: &str) -> Option<usize> {
    let first = inside.find('"')?;
    let line = &inside[..inside[first..].find('\n').map_or(inside.len(), |end| first + end)];
    let last = line.rfind('"').unwrap_or(first);
    let quoted = last > first
        && line[last + 1..].trim().is_empty()
        && !line[first + 1..].trim_start().starts_with('"');
    Some(if quoted { last } else { first })
}

fn add_metadata<'a>(
    header: &mut Header<'a>,
    key: &'a str,
    value: &'a str,
    at: ByteSpan,
    report: &mut Diagnostics,
) {
    if let Some(first) = header.keys.get(key) {
        report
            .error("metadata-twice", at, format!("duplicate key `{}`", short(key)))
            .label(*first, "first here");
        return;
    }
    if !KEYS.contains(&key) && !FOREIGN.contains(&key) {
        let near = report.nearest(key, KEYS.iter().copied());
        let help = match near {
            Some(near) => format!("{near}={value}"),
            None => "write documentation in quotes: \"…\"".to_owned(),
        };
        report
            .error("metadata-key", at, format!("unknown key `{}`", short(key)))
            .note(format!("the keys are {}", KEYS.join(", ")))
            .help(help);
    }
    header.metadata.push((key, value));
    header.keys.insert(key, at);
}

/// The three parts after the header, as tokens.
pub(crate) struct FrameBody<'a> {
    pub(crate) init: Cursor<'a>,
    /// Rows of cells; the first row places the threads.
    pub(crate) rows: Vec<TableRow<'a>>,
    pub(crate) tail: Cursor<'a>,
}

pub(crate) struct TableRow<'a> {
    pub(crate) cells: Vec<Cursor<'a>>,
    pub(crate) at: ByteSpan,
}

pub(crate) fn body<'a>(
    text: &'a str,
    tokens: &'a [Token],
    report: &mut Diagnostics,
) -> FrameBody<'a> {
    let end = ByteSpan::new(text.len(), text.len());
    let at = |index: usize| tokens.get(index).map_or(end, |token| token.at);
    let (init, code) = init_block(text, tokens, report);
    let (init_end, code_start) = (at(init.end), code);

    let mut rows = Vec::new();
    let mut next = code_start;
    while next < tokens.len() && !begins_tail(text, &tokens[next..]) {
        let (row, after) = row(text, tokens, next, end, report);
        rows.push(row);
        next = after;
    }
    FrameBody {
        init: Cursor::new(text, &tokens[init], init_end),
        rows,
        tail: Cursor::new(
            text,
            &tokens[next.min(tokens.len())..],
            tokens.last().map_or(end, |last| last.at.after()),
        ),
    }
}

/// The tokens between the braces, and the first token after them.
fn init_block(
    text: &str,
    tokens: &[Token],
    report: &mut Diagnostics,
) -> (std::ops::Range<usize>, usize) {
    let Some(&open) = tokens.first() else {
        return (0..0, 0);
    };
    if !open.is(text, "{") {
        report
            .error(
                "init",
                ByteSpan { end: open.at.start, ..open.at },
                "the initial state is missing",
            )
            .note("expected `{ … }`")
            .help("{ x=0; }");
        return (0..0, 0);
    }
    let mut depth = 0_usize;
    for (index, &token) in tokens.iter().enumerate() {
        if token.is(text, "{") {
            depth += 1;
        } else if token.is(text, "}") {
            depth -= 1;
            if depth == 0 {
                return (1..index, index + 1);
            }
        } else if index + 1 < tokens.len()
            && begins_placement(text, token, tokens[index + 1])
            && !is_closed(text, &tokens[index..], depth)
        {
            unclosed(open, report);
            return (1..index, index);
        }
    }
    unclosed(open, report);
    (1..1, tokens.len())
}

/// Whether this many braces are closed among the tokens before a row of a table, which has a `|`.
fn is_closed(text: &str, tokens: &[Token], depth: usize) -> bool {
    let mut depth = depth;
    for token in tokens {
        match token.at.of(text) {
            "{" => depth += 1,
            "}" if depth == 1 => return true,
            "}" => depth -= 1,
            "|" => return false,
            _ => {}
        }
    }
    false
}

fn unclosed(open: Token, report: &mut Diagnostics) {
    report
        .error("init-end", open.at, "unterminated initial state")
        .note("opened here")
        .help("close it with `}` before the table of instructions");
}

/// `P0@cta`, not `y @ generic` and not `x@P0`.
fn begins_placement(text: &str, token: Token, next: Token) -> bool {
    let word = token.at.of(text);
    token.kind == TokenKind::Word
        && word.len() > 1
        && word.starts_with('P')
        && word[1..].chars().all(|c| c.is_ascii_digit())
        && (next.is(text, "@") || next.is(text, "|"))
}

/// Whether these tokens begin what follows the table.
pub(crate) fn begins_tail(text: &str, tokens: &[Token]) -> bool {
    let word = |index: usize| tokens.get(index).map_or("", |token| token.at.of(text));
    match word(0) {
        "exists" | "forall" | "locations" | "filter" => !matches!(word(1), ":" | "."),
        "~" => true,
        "not" => word(1) == "exists",
        // No instruction has a parenthesis: a quantifier, wrongly written.
        _ => word(1) == "(" && tokens.first().is_some_and(|token| token.kind == TokenKind::Word),
    }
}

/// Whether the bar at `index` is one of the two of an absolute value in SASS: `-|R2|`, `|c[0x0][0x160]|`. No
/// blank stands between them, and no instruction consists of a register.
fn is_of_magnitude(text: &str, tokens: &[Token], index: usize) -> bool {
    let closing = |open: usize| {
        let first = tokens.get(open + 1)?.at.of(text);
        let register = first.trim_start_matches('U').strip_prefix('R');
        let constant = first == "c" || first == "cx";
        if !constant
            && !register.is_some_and(|rest| rest.starts_with(|c: char| "Z0123456789".contains(c)))
        {
            return None;
        }
        let touching = |at: &usize| tokens[*at].at.end == tokens[at + 1].at.start;
        let close = (open + 2..tokens.len()).find(|&at| tokens[at].is(text, "|"))?;
        (open..close).all(|at| touching(&at)).then_some(close)
    };
    closing(index).is_some()
        || (0..index).any(|open| tokens[open].is(text, "|") && closing(open) == Some(index))
}

/// Whether a token in the middle of a row is already the condition, because `;` was forgotten.
fn forgotten_end(text: &str, tokens: &[Token], first: usize, index: usize) -> bool {
    let own_line = index > first && {
        let between = ByteSpan { start: tokens[index - 1].at.end, end: tokens[index].at.start };
        between.of(text).contains('\n')
    };
    own_line && begins_tail(text, &tokens[index..])
}

/// Whether this `|` stands between two results, `p|q`: no instruction begins with a name and a comma.
fn joins_results(text: &str, cell: &[Token], bar: usize) -> bool {
    let word = |token: Option<&Token>| token.is_some_and(|token| token.kind == TokenKind::Word);
    bar > 0
        && word(cell.get(bar - 1))
        && word(cell.get(bar + 1))
        && cell.get(bar + 2).is_some_and(|token| token.is(text, ","))
}

/// One row from token `first` on, and the first token after it.
fn row<'a>(
    text: &'a str,
    tokens: &'a [Token],
    first: usize,
    end: ByteSpan,
    report: &mut Diagnostics,
) -> (TableRow<'a>, usize) {
    let mut cells = Vec::new();
    let mut cell = first;
    let mut index = first;
    loop {
        let token = tokens.get(index).copied();
        let missing = token.is_none() || forgotten_end(text, tokens, first, index);
        let ended = token.is_some_and(|token| token.is(text, ";"));
        let bar = token.is_some_and(|token| token.is(text, "|"));
        let joins = |index: usize| {
            joins_results(text, &tokens[cell..], index - cell)
                || is_of_magnitude(text, &tokens[cell..], index - cell)
        };
        if missing || ended || bar && !joins(index) {
            let after = if missing {
                tokens[index - 1].at.after()
            } else {
                token.map_or(end, |token| token.at)
            };
            cells.push(Cursor::new(text, &tokens[cell..index], after));
            cell = index + 1;
        }
        if missing {
            report
                .error("row-end", tokens[index - 1].at.after(), "unterminated row")
                .note("expected `;`");
        }
        if missing || ended {
            let last = tokens[if missing { index - 1 } else { index }].at;
            let row = TableRow { cells, at: tokens[first].at.to(last) };
            return (row, index + usize::from(ended));
        }
        index += 1;
    }
}
