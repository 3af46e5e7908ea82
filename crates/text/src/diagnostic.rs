//! Diagnostics: an error of an input, its location, a suggestion; and their only renderer.

use std::fmt::{self, Write};

use anstyle::{AnsiColor, Style};
use model::section::Section;

use crate::escape::{clipped, escaped};
use crate::fix::TextFix;
use crate::origin::Origin;

/// A run of characters of one line. Lines and columns count from 1, columns in characters. Of a whole file all are 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Span {
    pub line: usize,
    pub column: usize,
    /// May be 0: a place between two characters, or the end of the file.
    pub length: usize,
}

impl Span {
    /// `:3:7` behind a path; nothing of a whole file.
    fn place(self) -> String {
        if self.line == 0 { String::new() } else { format!(":{}:{}", self.line, self.column) }
    }
}

/// A remark about a place other than that of the error itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

/// The part of a source line that is shown: long lines are cut around what is marked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Excerpt {
    pub line: usize,
    /// The column of the first character of `text`.
    pub column: usize,
    pub text: String,
    /// Whether the line goes on before and after `text`.
    pub cut: (bool, bool),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    Error,
    /// The input can be used.
    Warning,
    /// Nothing is wrong with the input; something limits what is said of it.
    Note,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// One error in an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    pub severity: Severity,
    pub code: &'static str,
    pub message: String,
    pub path: String,
    pub span: Span,
    /// The label of `span`.
    pub note: String,
    pub labels: Vec<Label>,
    pub section: Option<Section>,
    /// Something that can be pasted, or one sentence.
    pub help: Option<String>,
    /// Edits of the input that repair the error.
    pub fix: Option<TextFix>,
    /// The line of the program from which a compiler made this place, if the input tells it.
    pub origin: Option<Origin>,
    /// Other lines of which the same is to be said.
    pub repeated: Vec<usize>,
    /// The lines that are shown, in order, each once.
    pub excerpts: Vec<Excerpt>,
}

/// The most lines that are listed of which the same is to be said.
const MOST_REPEATED: usize = 12;

/// `{:#}` is in colour, for streams that take colour away where it is not wanted.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(f.alternate()))
    }
}

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const BLUE: Style = AnsiColor::Blue.on_default().bold();
const BOLD: Style = Style::new().bold();

impl Diagnostic {
    /// The error as text of several lines, the last one ended too.
    pub fn render(&self, colour: bool) -> String {
        let paint = |style: Style| if colour { style } else { Style::new() };
        let (red, blue, bold) = (paint(RED), paint(BLUE), paint(BOLD));
        let last = self.excerpts.iter().map(|e| e.line).max().unwrap_or(self.span.line);
        let width = last.to_string().len() + 1;
        let bar = format!("{:width$} {blue}|{blue:#}", "");

        let mut out = String::new();
        let mut put = |line: fmt::Arguments<'_>| {
            let start = out.len();
            out.write_fmt(line).expect("writing to a string succeeds");
            let end = out[start..].trim_end().len();
            out.truncate(start + end);
            out.push('\n');
        };
        let Diagnostic { code, span, .. } = self;
        let (message, path) = (clipped(&escaped(&self.message)).into_owned(), escaped(&self.path));
        let (name, signal) = match self.severity {
            Severity::Error => ("error", red),
            Severity::Warning => ("warning", paint(YELLOW)),
            Severity::Note => ("note", blue),
        };
        put(format_args!("{signal}{name}[{code}]{signal:#}{bold}: {message}{bold:#}"));
        put(format_args!("{:width$}{blue}-->{blue:#} {path}{}", "", span.place()));
        if !self.excerpts.is_empty() {
            put(format_args!("{bar}"));
        }
        let mut previous = None;
        let mut hidden = Vec::new();
        for excerpt in &self.excerpts {
            if previous.is_some_and(|line| line + 1 < excerpt.line) {
                put(format_args!("{:width$} {blue}:{blue:#}", ""));
            }
            previous = Some(excerpt.line);
            let (before, after) = (mark(excerpt.cut.0), mark(excerpt.cut.1));
            let text = &excerpt.text;
            put(format_args!("{blue}{:>width$} |{blue:#} {before}{text}{after}", excerpt.line));
            let (marks, outside) = self.marks(excerpt);
            hidden.extend(outside);
            for (place, style, note, sign) in marks {
                let gap = place.column.saturating_sub(excerpt.column) + before.chars().count();
                let room = excerpt.text.chars().count() + before.chars().count();
                let length = place.length.min(room.saturating_sub(gap)).max(1);
                let style = if style { red } else { blue };
                let mut signs = sign.repeat(length);
                if !note.is_empty() {
                    signs.extend([" ", &*clipped(&escaped(note))]);
                }
                put(format_args!("{bar} {:gap$}{style}{signs}{style:#}", ""));
            }
        }
        let remarks = self.section.is_some()
            || self.help.is_some()
            || self.origin.is_some()
            || !self.repeated.is_empty();
        if remarks || !hidden.is_empty() {
            put(format_args!("{bar}"));
        }
        let mut remark = |kind: &str, text: &str| {
            for (index, line) in text.lines().map(escaped).enumerate() {
                let line = clipped(&line);
                if index == 0 {
                    put(format_args!("{:width$} {blue}={blue:#} {kind}: {line}", ""));
                } else {
                    put(format_args!(
                        "{:width$}   {:indent$}  {line}",
                        "",
                        "",
                        indent = kind.len()
                    ));
                }
            }
        };
        for label in hidden {
            let Span { line, column, .. } = label.span;
            remark("note", &format!("{}: {path}:{line}:{column}", label.text));
        }
        if let [first, more @ ..] = &self.repeated[..] {
            let mut lines = first.to_string();
            for line in more.iter().take(MOST_REPEATED - 1) {
                let _ = write!(lines, ", {line}");
            }
            if more.len() >= MOST_REPEATED {
                let _ = write!(lines, " and {} more", more.len() + 1 - MOST_REPEATED);
            }
            let plural = if more.is_empty() { "" } else { "s" };
            remark("repeated", &format!("in line{plural} {lines}"));
        }
        if let Some(Origin { file, line }) = &self.origin {
            remark("source", &format!("{file}:{line}"));
        }
        if let Some(section) = self.section {
            remark("note", &format!("{section}\n{}", section.url()));
        }
        if let Some(help) = &self.help {
            remark("help", help);
        }
        out
    }

    /// What is marked in an excerpt, the error first, then from left to right; and what would be, had
    /// the excerpt room for it.
    fn marks(&self, excerpt: &Excerpt) -> (Vec<Mark<'_>>, Vec<&Label>) {
        let end = excerpt.column + excerpt.text.chars().count();
        let on_line = self.labels.iter().filter(|label| label.span.line == excerpt.line);
        let (inside, outside): (Vec<&Label>, Vec<&Label>) =
            on_line.partition(|label| (excerpt.column..=end).contains(&label.span.column));
        let mut marks: Vec<Mark<'_>> =
            inside.into_iter().map(|label| (label.span, false, &*label.text, "-")).collect();
        marks.sort_by_key(|mark| mark.0.column);
        if self.span.line == excerpt.line {
            marks.insert(0, (self.span, true, &self.note, "^"));
        }
        (marks, outside)
    }
}

/// A place, whether it is that of the error, what is said of it, and what it is marked with.
type Mark<'a> = (Span, bool, &'a str, &'static str);

fn mark(cut: bool) -> &'static str {
    if cut { "…" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::section;

    fn example() -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code: "ld-mmio",
            message: "`.mmio` is written with `.relaxed.sys`".into(),
            path: "MP.litmus".into(),
            span: Span { line: 8, column: 11, length: 4 },
            note: "the scope is `.gpu`".into(),
            labels: vec![],
            section: Some(section::LD),
            help: Some("ld.mmio.relaxed.sys.u32 r0, [flag]".into()),
            fix: None,
            origin: None,
            repeated: Vec::new(),
            excerpts: vec![Excerpt {
                line: 8,
                column: 1,
                text: " x ; mmio.gpu.u32".into(),
                cut: (false, true),
            }],
        }
    }

    #[test]
    fn colour_is_asked_for_and_is_all_that_it_adds() {
        let (plain, coloured) = (example().to_string(), format!("{:#}", example()));
        assert!(!plain.contains('\x1b'), "{plain}");
        let escapes = coloured.split('\x1b').skip(1).map(|after| after.split_once('m'));
        let (mut text, mut count) =
            (coloured.split('\x1b').next().unwrap_or_default().to_owned(), 0);
        for (_, after) in escapes.map(|parts| parts.expect("it ends with m")) {
            text.push_str(after);
            count += 1;
        }
        assert!(count > 8, "{coloured}");
        assert_eq!(text, plain);
    }

    #[test]
    fn an_error_points_cites_and_helps() {
        assert_eq!(
            example().to_string(),
            "error[ld-mmio]: `.mmio` is written with `.relaxed.sys`\n  \
               --> MP.litmus:8:11\n   \
                |\n \
              8 |  x ; mmio.gpu.u32…\n   \
                |           ^^^^ the scope is `.gpu`\n   \
                |\n   \
                = note: PTX ISA 9.4, 9.7.10.8 \"Data Movement and Conversion Instructions: ld\"\n           \
                        https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-ld\n   \
                = help: ld.mmio.relaxed.sys.u32 r0, [flag]\n"
        );
    }

    /// Text of the input is shown; it says nothing to the terminal.
    #[test]
    fn a_terminal_takes_no_orders_from_an_input() {
        let evil = "\x1b]0;title\x07\u{202e}";
        let wrong = Diagnostic {
            message: evil.into(),
            path: evil.into(),
            note: evil.into(),
            help: Some(evil.into()),
            ..example()
        };
        let shown = wrong.to_string();
        assert!(shown.lines().all(|line| !line.contains(crate::escape::is_order)), "{shown}");
        assert_eq!(shown.matches("\\u{1b}]0;title\\u{7}\\u{202e}").count(), 4, "{shown}");
        let long = Diagnostic { message: "x".repeat(1 << 20), ..example() };
        assert!(long.to_string().len() < 4096);
    }
}
