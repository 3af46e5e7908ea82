//! The errors of one file while it is read: byte ranges first, lines and columns at the end.

use model::section::Section;

use crate::diagnostic::{Diagnostic, Excerpt, Label, Severity, Span};
use crate::escape::sign;
use crate::fix::{TextEdit, TextFix, TextPosition};

/// A range of bytes of the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct ByteSpan {
    pub start: u32,
    pub end: u32,
}

impl ByteSpan {
    /// The lengths of files are checked before anything is read.
    #[inline]
    pub fn new(start: usize, end: usize) -> ByteSpan {
        let narrow = |n: usize| u32::try_from(n).expect("a file has less than 4 GiB");
        ByteSpan { start: narrow(start), end: narrow(end) }
    }

    #[inline]
    pub fn of(self, text: &str) -> &str {
        &text[self.start as usize..self.end as usize]
    }

    #[inline]
    pub fn to(self, last: ByteSpan) -> ByteSpan {
        ByteSpan { start: self.start, end: last.end.max(self.end) }
    }

    /// Without the blanks around it.
    #[inline]
    pub fn trimmed(self, text: &str) -> ByteSpan {
        let inside = self.of(text);
        let start = self.start as usize + inside.len() - inside.trim_start().len();
        ByteSpan::new(start, start + inside.trim().len())
    }

    /// The part of `text` that `inside`, a part of it, is.
    #[inline]
    pub fn within(text: &str, inside: &str) -> ByteSpan {
        let start = inside.as_ptr() as usize - text.as_ptr() as usize;
        ByteSpan::new(start, start + inside.len())
    }

    /// A line, from 1, with its end; `None` if the text has fewer.
    pub fn of_line(text: &str, line: usize) -> Option<ByteSpan> {
        let inside = text.split_inclusive('\n').nth(line.checked_sub(1)?)?;
        Some(ByteSpan::within(text, inside))
    }

    /// The place just after it.
    #[inline]
    pub fn after(self) -> ByteSpan {
        ByteSpan { start: self.end, end: self.end }
    }
}

/// The ends of the lines of a text.
pub struct LineIndex(Vec<u32>);

impl LineIndex {
    pub fn of(text: &str) -> LineIndex {
        let bytes = text.bytes().zip(0_u32..);
        LineIndex(bytes.filter(|(byte, _)| *byte == b'\n').map(|(_, at)| at).collect())
    }

    /// The line in which a range begins, from 1.
    pub fn number(&self, at: ByteSpan) -> usize {
        1 + self.0.partition_point(|&end| end < at.start)
    }
}

/// Marker: an error was already reported.
#[derive(Clone, Copy, Debug)]
pub struct ErrorReported;

/// A fix whose places are still in bytes; see [`TextFix`].
#[derive(Clone, Debug)]
pub struct FixBuilder {
    pub safe: bool,
    pub unit: ByteSpan,
    pub edits: Vec<(ByteSpan, String)>,
}

impl FixBuilder {
    /// One edit, which is not a part of anything larger.
    pub fn one(safe: bool, at: ByteSpan, text: impl Into<String>) -> FixBuilder {
        FixBuilder { safe, unit: at, edits: vec![(at, text.into())] }
    }

    fn finish(mut self, places: &Places) -> TextFix {
        self.edits.sort_by_key(|(at, _)| (at.start, at.end));
        let position = |offset: u32| {
            let place = places.place(offset);
            TextPosition { line: place.line, column: place.column }
        };
        let edit = |(at, text): (ByteSpan, String)| TextEdit {
            at: at.start as usize..at.end as usize,
            start: position(at.start),
            end: position(at.end),
            text,
        };
        TextFix {
            safe: self.safe,
            unit: self.unit.start as usize..self.unit.end as usize,
            edits: self.edits.into_iter().map(edit).collect(),
        }
    }
}

/// An error whose place is still in bytes.
#[derive(Clone, Debug)]
pub struct DiagnosticBuilder {
    code: &'static str,
    message: String,
    at: ByteSpan,
    note: String,
    labels: Vec<(ByteSpan, String)>,
    section: Option<Section>,
    help: Option<String>,
    fix: Option<FixBuilder>,
    severity: Severity,
}

impl DiagnosticBuilder {
    pub fn severity(&mut self, severity: Severity) -> &mut DiagnosticBuilder {
        self.severity = severity;
        self
    }

    /// What stands at the place of the error.
    pub fn note(&mut self, note: impl Into<String>) -> &mut DiagnosticBuilder {
        self.note = note.into();
        self
    }

    pub fn label(&mut self, at: ByteSpan, text: impl Into<String>) -> &mut DiagnosticBuilder {
        self.labels.push((at, text.into()));
        self
    }

    pub fn section(&mut self, section: Section) -> &mut DiagnosticBuilder {
        self.section = Some(section);
        self
    }

    pub fn section_if(&mut self, section: Option<Section>) -> &mut DiagnosticBuilder {
        self.section = section;
        self
    }

    pub fn help(&mut self, help: impl Into<String>) -> &mut DiagnosticBuilder {
        self.help = Some(help.into());
        self
    }

    pub fn help_if(&mut self, help: Option<String>) -> &mut DiagnosticBuilder {
        self.help = help;
        self
    }

    pub fn fix_if(&mut self, fix: Option<FixBuilder>) -> &mut DiagnosticBuilder {
        self.fix = fix;
        self
    }

    /// The offsets that it speaks of.
    fn offsets(&self) -> impl Iterator<Item = u32> + '_ {
        let edits = self.fix.iter().flat_map(|fix| &fix.edits);
        std::iter::once(self.at.start)
            .chain(self.labels.iter().map(|(at, _)| at.start))
            .chain(edits.flat_map(|(at, _)| [at.start, at.end]))
    }
}

/// More errors than this are counted, not kept: a file that is not a litmus test at all would have one
/// for each word.
const KEPT: usize = 1000;

/// How many characters of a long line are shown.
const SHOWN: usize = 100;

/// How many are kept of a module, which may be as long as a hundred tests.
const KEPT_OF_MANY: usize = 100_000;

/// Names that are compared with wrong ones, in one file: a thousand wrong ones among a million take
/// too long, and nobody reads all of that.
const PATIENCE: usize = 2_000_000;

#[derive(Debug)]
pub struct Diagnostics {
    drafts: Vec<DiagnosticBuilder>,
    dropped: Option<Box<DiagnosticBuilder>>,
    count: usize,
    kept: usize,
    /// How many more names are compared with wrong ones.
    patience: usize,
}

impl Default for Diagnostics {
    fn default() -> Diagnostics {
        Diagnostics { drafts: Vec::new(), dropped: None, count: 0, kept: KEPT, patience: PATIENCE }
    }
}

impl Diagnostics {
    /// For a file that may be large.
    pub fn of_many() -> Diagnostics {
        Diagnostics { kept: KEPT_OF_MANY, ..Diagnostics::default() }
    }

    pub fn error(
        &mut self,
        code: &'static str,
        at: ByteSpan,
        message: impl Into<String>,
    ) -> &mut DiagnosticBuilder {
        let draft = DiagnosticBuilder {
            code,
            message: message.into(),
            at,
            note: String::new(),
            labels: Vec::new(),
            section: None,
            help: None,
            fix: None,
            severity: Severity::Error,
        };
        self.count += 1;
        if self.drafts.len() < self.kept {
            self.drafts.push(draft);
            self.drafts.last_mut().expect("one was pushed")
        } else {
            self.dropped.insert(Box::new(draft))
        }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Takes back the errors after the first `count`.
    pub fn forget(&mut self, count: usize) {
        self.drafts.truncate(count);
        self.count = self.count.min(count);
        self.dropped = self.dropped.take().filter(|_| self.count > self.drafts.len());
    }

    /// Whether there is time to look through this many names once more.
    pub fn is_worth(&mut self, names: usize) -> bool {
        let left = self.patience.checked_sub(names);
        self.patience = left.unwrap_or(self.patience);
        left.is_some()
    }

    /// The known name that `name` was perhaps meant to be; `None` too where nobody will read it.
    pub fn nearest<'a>(
        &self,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Option<&'a str> {
        if self.drafts.len() < KEPT { nearest(name, known) } else { None }
    }

    /// All errors of several files, whose texts stand one after another: each with its path, where it begins
    /// and its text. Errors are sorted by file and place; a label in another file, and fixes, are left out.
    pub fn finish_files(self, files: &[(String, usize, &str)]) -> Vec<Diagnostic> {
        let start = |file: &(String, usize, &str)| u32::try_from(file.1).unwrap_or(u32::MAX);
        let of = |at: ByteSpan| files.iter().rposition(|file| start(file) <= at.start).unwrap_or(0);
        let mut parts: Vec<Diagnostics> = files.iter().map(|_| Diagnostics::default()).collect();
        let dropped = self.count - self.drafts.len();
        for mut draft in self.drafts {
            let file = of(draft.at);
            let start = start(&files[file]);
            let local = |at: ByteSpan| ByteSpan { start: at.start - start, end: at.end - start };
            draft.labels.retain(|(at, _)| of(*at) == file);
            draft.labels.iter_mut().for_each(|(at, _)| *at = local(*at));
            draft.at = local(draft.at);
            draft.fix = None;
            parts[file].count += 1;
            parts[file].drafts.push(draft);
        }
        if let Some(first) = parts.first_mut() {
            first.count += dropped;
        }
        let finish =
            |(part, file): (Diagnostics, &(String, usize, &str))| part.finish(&file.0, file.2);
        parts.into_iter().zip(files).flat_map(finish).collect()
    }

    /// All errors, by place.
    pub fn finish(mut self, path: &str, text: &str) -> Vec<Diagnostic> {
        let dropped = self.count - self.drafts.len();
        if dropped > 0 {
            let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
            let message = format!("{dropped} more errors in this file");
            self.drafts.push(DiagnosticBuilder {
                code: "too-many-errors",
                message,
                at: ByteSpan { start: end, end },
                note: String::new(),
                labels: Vec::new(),
                section: None,
                help: None,
                fix: None,
                severity: Severity::Error,
            });
        }
        self.drafts.sort_by_key(|draft| draft.at.start);
        let places = Places::new(text, &self.drafts);
        self.drafts.into_iter().map(|draft| draft.finish(path, text, &places)).collect()
    }
}

impl DiagnosticBuilder {
    fn finish(self, path: &str, text: &str, places: &Places) -> Diagnostic {
        let all: Vec<ByteSpan> =
            std::iter::once(self.at).chain(self.labels.iter().map(|label| label.0)).collect();
        let mut lines: Vec<usize> = all.iter().map(|at| places.place(at.start).line).collect();
        lines.sort_unstable();
        lines.dedup();
        let excerpts = lines
            .into_iter()
            .map(|line| {
                // The error comes first of all: an excerpt that has no room for more shows it.
                let shown = all.iter().find(|at| places.place(at.start).line == line);
                places.excerpt(text, shown.copied().unwrap_or(self.at))
            })
            .collect();
        Diagnostic {
            code: self.code,
            message: self.message,
            path: path.to_owned(),
            span: places.span(text, self.at),
            note: self.note,
            labels: self
                .labels
                .into_iter()
                .map(|(at, text_of)| Label { span: places.span(text, at), text: text_of })
                .collect(),
            section: self.section,
            help: self.help,
            fix: self.fix.map(|fix| fix.finish(places)),
            origin: None,
            repeated: Vec::new(),
            severity: self.severity,
            excerpts,
        }
    }
}

impl Diagnostic {
    /// The same error in another text, of which the text that it was found in was made. `place` says where a span is there;
    /// an error that is nowhere is at the end, and such a label is left out.
    #[must_use]
    pub fn moved(
        self,
        path: &str,
        text: &str,
        place: impl Fn(Span) -> Option<ByteSpan>,
    ) -> Diagnostic {
        let labels = self.labels.into_iter();
        let draft = DiagnosticBuilder {
            code: self.code,
            message: self.message,
            at: place(self.span).unwrap_or(ByteSpan::new(text.len(), text.len())),
            note: self.note,
            labels: labels.filter_map(|label| Some((place(label.span)?, label.text))).collect(),
            section: self.section,
            help: self.help,
            fix: None,
            severity: self.severity,
        };
        let places = Places::new(text, std::slice::from_ref(&draft));
        draft.finish(path, text, &places)
    }
}

#[derive(Clone, Copy)]
struct SourcePosition {
    offset: u32,
    line: usize,
    column: usize,
    line_start: usize,
}

/// Lines and columns of all the offsets that errors speak of, found in one pass over the text.
struct Places(Vec<SourcePosition>);

impl Places {
    fn new(text: &str, drafts: &[DiagnosticBuilder]) -> Places {
        let mut offsets: Vec<u32> = drafts.iter().flat_map(DiagnosticBuilder::offsets).collect();
        offsets.sort_unstable();
        offsets.dedup();
        let mut places = Vec::with_capacity(offsets.len());
        let (mut line, mut line_start, mut column, mut at) = (1, 0, 1, 0);
        for offset in offsets {
            for (index, character) in text[at..offset as usize].char_indices() {
                if character == '\n' {
                    line += 1;
                    line_start = at + index + 1;
                    column = 1;
                } else {
                    column += 1;
                }
            }
            at = offset as usize;
            places.push(SourcePosition { offset, line, column, line_start });
        }
        Places(places)
    }

    fn place(&self, offset: u32) -> SourcePosition {
        let found = self.0.binary_search_by_key(&offset, |place| place.offset);
        self.0[found.expect("every offset of an error was placed")]
    }

    /// A range over several lines is marked on its first.
    fn span(&self, text: &str, at: ByteSpan) -> Span {
        let place = self.place(at.start);
        let end = (at.end as usize).min(line_end(text, at.start as usize));
        let length =
            text[at.start as usize..end.max(at.start as usize)].chars().take(SHOWN).count();
        Span { line: place.line, column: place.column, length }
    }

    /// The line around `at`, cut where it is long; what would not print is replaced.
    fn excerpt(&self, text: &str, at: ByteSpan) -> Excerpt {
        let place = self.place(at.start);
        let start = at.start as usize;
        let back: Vec<char> = text[place.line_start..start].chars().rev().take(SHOWN).collect();
        let long = text[start..].chars().take_while(|&c| c != '\n').nth(SHOWN).is_some();
        let whole = back.len() == place.column - 1 && !long && back.len() < SHOWN * 2 / 3;
        let lead = if whole { back.len() } else { back.len().min(SHOWN / 2) };
        let column = place.column - lead;
        let first = start - back[..lead].iter().map(|c| c.len_utf8()).sum::<usize>();
        let rest = &text[first..];
        let shown = rest.chars().take_while(|&c| c != '\n').take(SHOWN).collect::<String>();
        let cut_after = rest[shown.len()..].trim_start_matches('\r').chars().next();
        Excerpt {
            line: place.line,
            column,
            text: shown.trim_end().chars().map(sign).collect(),
            cut: (column > 1, cut_after.is_some_and(|c| c != '\n')),
        }
    }
}

/// The end of the line of `offset`, looked for no further than can be shown.
fn line_end(text: &str, offset: usize) -> usize {
    let rest = &text[offset..];
    rest.char_indices()
        .take(SHOWN + 1)
        .take_while(|&(_, c)| c != '\n' && c != '\r')
        .last()
        .map_or(offset, |(index, c)| offset + index + c.len_utf8())
}

/// The name that is most like another one, if one is.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 40;
    if name.len() > LONGEST {
        return None;
    }
    let far = (name.chars().count() / 3).clamp(1, 3);
    known
        .into_iter()
        .map(|candidate| (distance(name, candidate, far), candidate))
        .filter(|&(distance, candidate)| distance <= far && distance < candidate.chars().count())
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Edits from `a` to `b`, a swap of neighbours being one; anything above `far` may be any number above it.
fn distance(a: &str, b: &str, far: usize) -> usize {
    if a.eq_ignore_ascii_case(b) {
        return 1;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > far {
        return far + 1;
    }
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = change.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_close() {
        assert_eq!(nearest("falg", ["x", "flag"]), Some("flag"));
        assert_eq!(nearest("y", ["x", "flag"]), None);
        assert_eq!(nearest("relaxd", ["relaxed", "release"]), Some("relaxed"));
    }

    #[test]
    fn columns_count_characters() {
        let text = "é x\n  y";
        let mut report = Diagnostics::default();
        report.error("a", ByteSpan { start: 3, end: 4 }, "x");
        report.error("b", ByteSpan { start: 7, end: 8 }, "y");
        let found = report.finish("p", text);
        assert_eq!(found[0].span, Span { line: 1, column: 3, length: 1 });
        assert_eq!(found[1].span, Span { line: 2, column: 3, length: 1 });
    }

    #[test]
    fn a_long_line_is_cut_around_the_error() {
        let text = format!("{}!{}", "a".repeat(5000), "b".repeat(5000));
        let mut report = Diagnostics::default();
        report.error("a", ByteSpan { start: 5000, end: 5001 }, "x");
        let found = report.finish("p", &text);
        assert_eq!(found[0].excerpts[0].cut, (true, true));
        assert!(found[0].to_string().len() < 500);
    }
}
