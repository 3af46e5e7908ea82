//! Changes single instructions of a file, and nothing else of it: comments and layout stay.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use lift::cell;
use text::Diagnostic;
use text::lex;
use text::report::{ByteSpan, Diagnostics};

use crate::format::format;
use crate::{Quantifier, Test, frame};

/// A litmus test with the places of its instructions in the file.
#[derive(Clone, Debug)]
pub struct SourceTest {
    path: String,
    text: String,
    pub test: Test,
    /// The instructions of each thread, in the order of the file.
    pub cells: Vec<Vec<SourceCell>>,
    /// Each row below the placements.
    rows: Vec<SourceRow>,
    /// Where the condition begins.
    condition: ByteSpan,
    /// The key and the place of each line `Key=value` of the header.
    keys: Vec<(String, ByteSpan)>,
    /// Whether the file has the style of `causeway fmt`, which is then kept.
    formatted: bool,
    /// The condition that the test has instead of that of the file.
    question: Option<String>,
}

/// An instruction of a file.
#[derive(Clone, Debug)]
pub struct SourceCell {
    /// The lines of the thread that it gives.
    pub lines: Range<usize>,
    /// Its opcode and qualifiers, such as `ld.acquire.gpu.u32`.
    pub name: String,
    /// The guard and the instruction, without comments.
    pub text: String,
    /// The labels before it: a jump to one of them skips what is inserted before them.
    pub labels: Vec<String>,
    /// Where the labels are, with their colons.
    labels_at: ByteSpan,
    name_at: ByteSpan,
    row: usize,
}

impl SourceCell {
    /// The guard, with the blank after it; empty if there is none.
    pub fn guard(&self) -> &str {
        self.text.find(&self.name).map_or("", |at| &self.text[..at])
    }

    /// The instruction without its guard.
    pub fn instruction(&self) -> &str {
        &self.text[self.guard().len()..]
    }
}

#[derive(Clone, Debug)]
struct SourceRow {
    at: ByteSpan,
    /// Of each cell, what lies between the bars, comments included.
    cells: Vec<ByteSpan>,
}

/// A change of a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Revision {
    /// The opcode and qualifiers of an instruction are replaced.
    Rename { thread: usize, cell: usize, name: String },
    /// An instruction is removed; its labels stay.
    Remove { thread: usize, cell: usize },
    /// An instruction is replaced, but for its guard; its labels stay.
    Replace { thread: usize, cell: usize, text: String },
    /// Instructions, one in each line of the text, are inserted before another one; after the last one, if there is no
    /// such cell. `labelled`: after the labels of that cell, so that a jump to one of them comes here, too.
    Insert { thread: usize, cell: usize, labelled: bool, text: String },
    /// The condition gets another quantifier, if it is that of the file.
    Claim(Quantifier),
    /// What the header says of the verdict is removed: the lines with these keys.
    Forget(&'static [&'static str]),
}

/// Keys of the header whose line may be wrong of a changed test.
pub const EXPECTATIONS: &[&str] = &[
    "Undefined",
    "Stuck",
    "Sometimes-stuck",
    "Hang",
    "Forbidden-by",
    "Forbidden-by-alone",
    "Readings",
    "Without-rule",
];

impl Revision {
    /// The thread whose instructions are changed; `None` of a change of something else.
    pub fn thread(&self) -> Option<usize> {
        match self {
            Revision::Rename { thread, .. }
            | Revision::Replace { thread, .. }
            | Revision::Remove { thread, .. }
            | Revision::Insert { thread, .. } => Some(*thread),
            Revision::Claim(_) | Revision::Forget(_) => None,
        }
    }

    /// The thread and the cell of the instruction that is changed or removed, if one is.
    pub fn changed(&self) -> Option<(usize, usize)> {
        match self {
            Revision::Rename { thread, cell, .. }
            | Revision::Remove { thread, cell }
            | Revision::Replace { thread, cell, .. } => Some((*thread, *cell)),
            Revision::Insert { .. } | Revision::Claim(_) | Revision::Forget(_) => None,
        }
    }

    /// The same change of another thread with the same text.
    #[must_use]
    pub fn in_thread(&self, other: usize) -> Revision {
        let mut revision = self.clone();
        match &mut revision {
            Revision::Rename { thread, .. }
            | Revision::Replace { thread, .. }
            | Revision::Remove { thread, .. }
            | Revision::Insert { thread, .. } => *thread = other,
            Revision::Claim(_) | Revision::Forget(_) => {}
        }
        revision
    }
}

impl SourceTest {
    /// Reads a litmus test in PTX, or reports all of its errors. `path` is for the messages.
    pub fn read(path: &str, bytes: &[u8]) -> Result<SourceTest, Vec<Diagnostic>> {
        let written = text::decode(path, bytes)?.to_owned();
        let mut report = Diagnostics::default();
        let (test, places) = match crate::read(&written, &mut report) {
            Some(read) if report.count() == 0 => read,
            _ => return Err(report.finish(path, &written)),
        };
        let (header, begin) = frame::header(&written, &mut report);
        let tokens = lex::tokens(&written, begin, header.sass, &mut report);
        let body = frame::body(&written, &tokens, &mut report);
        let mut cells: Vec<Vec<SourceCell>> = vec![Vec::new(); test.program.threads.len()];
        let mut rows = Vec::new();
        for row in body.rows.iter().skip(1) {
            let mut start = row.at.start;
            let mut between = Vec::new();
            for (thread, cursor) in row.cells.iter().enumerate() {
                let end = cursor.end();
                between.push(ByteSpan { start, end: end.start });
                start = end.end;
                let known = (!header.sass).then(|| cell::cell(*cursor, &mut report)).flatten();
                let (Some(known), Some(column)) = (known, cells.get_mut(thread)) else { continue };
                if known.parts.is_empty() {
                    continue;
                }
                let places = places.get(thread).map_or(&[][..], Vec::as_slice);
                let first = places.partition_point(|at| at.start < known.at.start);
                let count = places[first..].iter().take_while(|at| **at == known.at).count();
                let colon = |end: u32| {
                    let rest = &written[end as usize..];
                    end + ByteSpan::new(0, rest.find(':').map_or(0, |at| at + 1)).end
                };
                let labels_at = match (known.labels.first(), known.labels.last()) {
                    (Some((_, first)), Some((_, last))) => {
                        ByteSpan { start: first.start, end: colon(last.end) }
                    }
                    _ => ByteSpan::default(),
                };
                column.push(SourceCell {
                    lines: first..first + count,
                    labels_at,
                    name: known.name_at().of(&written).to_owned(),
                    text: known.text(),
                    labels: known.labels.iter().map(|(name, _)| (*name).to_owned()).collect(),
                    name_at: known.name_at(),
                    row: rows.len(),
                });
            }
            rows.push(SourceRow { at: row.at, cells: between });
        }
        let quantified = |index: usize| body.tail.rest()[index].at;
        let condition = condition(&body, &written).map_or(body.tail.here(), quantified);
        let keys = header.pieces.iter().filter_map(|(at, text)| {
            let (key, _) = text.split_once('=')?;
            header.has(key).then(|| (key.to_owned(), *at))
        });
        let keys = keys.collect();
        let formatted = format(path, bytes).is_ok_and(|formatted| formatted == written);
        Ok(SourceTest {
            path: path.to_owned(),
            text: written,
            test,
            cells,
            rows,
            condition,
            keys,
            formatted,
            question: None,
        })
    }

    /// The same with another condition, as in [`crate::parse_question`]: the file keeps its own.
    pub fn read_question(
        path: &str,
        bytes: &[u8],
        question: &str,
    ) -> Result<SourceTest, Vec<Diagnostic>> {
        SourceTest::read(path, bytes)?.asking(question)
    }

    /// The same test with another condition.
    pub fn asking(&self, question: &str) -> Result<SourceTest, Vec<Diagnostic>> {
        let test = crate::parse_question(&self.path, self.text.as_bytes(), question)?;
        Ok(SourceTest { test, question: Some(question.to_owned()), ..self.clone() })
    }

    /// The file as it was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The file with these changes, in its own style.
    pub fn revised(&self, revisions: &[Revision]) -> String {
        let changed = self.changed(revisions);
        if self.formatted
            && let Ok(formatted) = format(&self.path, changed.as_bytes())
        {
            return formatted;
        }
        changed
    }

    /// The test with these changes; the errors if it is not legal.
    pub fn parse(&self, revisions: &[Revision]) -> Result<Test, Vec<Diagnostic>> {
        let changed = self.changed(revisions);
        match &self.question {
            Some(question) => crate::parse_question(&self.path, changed.as_bytes(), question),
            None => crate::parse(&self.path, changed.as_bytes()),
        }
    }

    /// The file with these changes, without new alignment.
    fn changed(&self, revisions: &[Revision]) -> String {
        let mut pieces: Vec<(ByteSpan, String)> = Vec::new();
        // The instructions before each row, by thread.
        let mut inserted: BTreeMap<usize, Vec<Vec<String>>> = BTreeMap::new();
        // What is after labels is after what is before them.
        let is_labelled = |of: &&Revision| matches!(of, Revision::Insert { labelled: true, .. });
        let (last, first): (Vec<_>, Vec<_>) = revisions.iter().partition(is_labelled);
        // The cells whose labels are on an inserted instruction already.
        let mut moved = BTreeSet::new();
        for revision in first.into_iter().chain(last) {
            match revision {
                Revision::Rename { thread, cell, name } => {
                    pieces.push((self.cells[*thread][*cell].name_at, name.clone()));
                }
                Revision::Remove { thread, cell } => {
                    let cell = &self.cells[*thread][*cell];
                    let within = self.rows[cell.row].cells[*thread];
                    let start = ByteSpan { start: cell.name_at.start, end: within.end };
                    pieces.push((start, " ".to_owned()));
                }
                Revision::Replace { thread, cell, text } => {
                    let cell = &self.cells[*thread][*cell];
                    let within = self.rows[cell.row].cells[*thread];
                    let start = ByteSpan { start: cell.name_at.start, end: within.end };
                    pieces.push((start, format!("{text} ")));
                }
                Revision::Insert { thread, cell, labelled, text } => {
                    let column = &self.cells[*thread];
                    let before = cell.checked_sub(1).and_then(|before| column.get(before));
                    let first = before.map_or(0, |before| before.row + 1);
                    let next = column.get(*cell);
                    let row = next.map_or(first, |next| next.row);
                    let mut labels = String::new();
                    if let Some(next) = next.filter(|next| *labelled && !next.labels.is_empty())
                        && moved.insert((*thread, *cell))
                    {
                        labels = format!("{} ", next.labels_at.of(&self.text));
                        pieces.push((next.labels_at, String::new()));
                    }
                    let threads = self.cells.len();
                    let rows = inserted.entry(row).or_default();
                    for text in text.lines() {
                        let text = format!("{}{text}", std::mem::take(&mut labels));
                        // In the order of the revisions, also where another thread has more of them.
                        let used = rows.iter().rposition(|row| !row[*thread].is_empty());
                        let free = used.map_or(0, |used| used + 1);
                        if free == rows.len() {
                            rows.push(vec![String::new(); threads]);
                        }
                        rows[free][*thread] = text;
                    }
                }
                Revision::Forget(keys) => {
                    let wrong = self.keys.iter().filter(|(key, _)| keys.contains(&key.as_str()));
                    pieces.extend(wrong.map(|(_, at)| (self.whole_line(*at), String::new())));
                }
                // The condition of the file is another one.
                Revision::Claim(_) if self.question.is_some() => {}
                Revision::Claim(quantifier) => {
                    pieces.push((self.condition, quantifier.name().to_owned()));
                }
            }
        }
        for (row, rows) in inserted {
            for cells in rows {
                self.insert(row, &cells, &mut pieces);
            }
        }
        pieces.sort_by_key(|(at, _)| (at.start, at.end));
        let mut out = String::with_capacity(self.text.len() + 64);
        let mut from = 0;
        for (at, piece) in &pieces {
            // Of two changes of one instruction, the first.
            let Some(between) = self.text.get(from..at.start as usize) else { continue };
            out += between;
            out += piece;
            from = at.end as usize;
        }
        out += &self.text[from..];
        out
    }

    /// Puts instructions before a row: into cells that are empty there, or into a row of their own.
    fn insert(&self, row: usize, cells: &[String], pieces: &mut Vec<(ByteSpan, String)>) {
        let end = match self.rows.get(row) {
            Some(row) => row.at.start,
            None => self.end_of_table(),
        };
        let line = self.text[..end as usize].rfind('\n').map_or(0, |at| at + 1);
        let indent = &self.text[line..end as usize];
        let own_line = self.rows.get(row).is_some() && indent.trim().is_empty();
        let ended = if self.text[..end as usize].contains("\r\n") { "\r\n" } else { "\n" };
        let cells: Vec<String> = cells.iter().map(|cell| format!("{cell} ")).collect();
        let written = format!("{};", cells.join("| "));
        let at = ByteSpan { start: end, end };
        if own_line {
            pieces.push((at, format!("{written}{ended}{indent}")));
        } else {
            pieces.push((at, format!("{ended} {written}")));
        }
    }
}

impl SourceTest {
    /// With the end of the line, if there is nothing else on it.
    fn whole_line(&self, at: ByteSpan) -> ByteSpan {
        let rest = &self.text[at.end as usize..];
        let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let length = if rest[..length].trim().is_empty() { length } else { 0 };
        ByteSpan { start: at.start, end: at.end + ByteSpan::new(0, length).end }
    }

    /// Where the last row ends, with the comment after it.
    fn end_of_table(&self) -> u32 {
        let Some(last) = self.rows.last() else { return self.condition.start };
        let rest = &self.text[last.at.end as usize..];
        let line = rest.split('\n').next().unwrap_or("").trim_end();
        let blank = line.trim_start();
        let comment = blank.starts_with("//") || blank.starts_with("(*") && blank.ends_with("*)");
        if comment { last.at.end + ByteSpan::new(0, line.len()).end } else { last.at.end }
    }
}

/// Which token of the clauses after the table the quantifier begins with.
fn condition(body: &frame::FrameBody<'_>, text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, token) in body.tail.rest().iter().enumerate() {
        match token.at.of(text) {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "exists" | "forall" if depth == 0 => return Some(index),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "PTX MP\n\"Its documentation.\"\n{\nx=0; f=0;\n}\n \
        P0@cta 0,gpu 0    | P1@cta 1,gpu 0          ;\n \
        st.weak.u32 [x], 1 | L0: ld.volatile.u32 r0, [f] (* spins *) ;\n \
        st.volatile.u32 [f], 1 | ld.weak.u32 r1, [x] ; // the data\nexists (1:r0=1 /\\ 1:r1=0)\n";

    fn source() -> SourceTest {
        SourceTest::read("MP.litmus", TEXT.as_bytes()).expect("it is a test")
    }

    #[test]
    fn only_what_is_named_changes() {
        let revisions = [
            Revision::Rename { thread: 1, cell: 0, name: "ld.acquire.sys.u32".to_owned() },
            Revision::Claim(Quantifier::NotExists),
        ];
        let expected =
            TEXT.replace("ld.volatile.u32", "ld.acquire.sys.u32").replace("exists", "~exists");
        assert_eq!(source().revised(&revisions), expected);
    }

    #[test]
    fn what_the_header_expects_is_removed_by_line() {
        let expected = TEXT.replace("\n{\n", "\nNotes=none\n{\n");
        let header = "\nUndefined=async-race\nNotes=none\nReadings=R6 (* why *)\n{\n";
        let text = TEXT.replace("\n{\n", header);
        let source = SourceTest::read("MP.litmus", text.as_bytes()).expect("it is a test");
        let revised = source.revised(&[Revision::Forget(EXPECTATIONS)]);
        assert_eq!(revised, expected.replace("none\n", "none\n (* why *)\n"));
    }

    #[test]
    fn instructions_before_one_row_share_a_row() {
        let fence = || "fence.acq_rel.gpu".to_owned();
        let revisions = [
            Revision::Insert { thread: 0, cell: 1, labelled: false, text: fence() },
            Revision::Insert { thread: 1, cell: 1, labelled: false, text: fence() },
            Revision::Insert { thread: 1, cell: 2, labelled: false, text: fence() },
        ];
        let revised = source().parse(&revisions).expect("it is a test");
        let count = |thread: usize| revised.program.threads[thread].lines.len();
        assert_eq!((count(0), count(1)), (3, 4));
        let text = source().revised(&revisions);
        assert!(text.contains(" fence.acq_rel.gpu | fence.acq_rel.gpu ;\n st.volatile"), "{text}");
        assert!(text.contains("r1, [x] ; // the data\n  | fence.acq_rel.gpu ;\n"), "{text}");
    }

    #[test]
    fn what_is_inserted_after_a_label_is_where_jumps_lead() {
        let text = |of: &str| of.to_owned();
        let insert =
            |labelled, of| Revision::Insert { thread: 1, cell: 0, labelled, text: text(of) };
        let revisions = [insert(true, "fence.sc.gpu"), insert(false, "fence.acq_rel.gpu")];
        let revised = source().revised(&revisions);
        let rows =
            "  | fence.acq_rel.gpu ;\n  | L0: fence.sc.gpu ;\n st.weak.u32 [x], 1 |  ld.volatile";
        assert!(revised.contains(rows), "{revised}");
    }

    #[test]
    fn a_formatted_file_stays_formatted() {
        let formatted = format("MP.litmus", TEXT.as_bytes()).expect("it is a test");
        let source = SourceTest::read("MP.litmus", formatted.as_bytes()).expect("it is a test");
        let text = "fence.acq_rel.gpu".to_owned();
        let revised =
            source.revised(&[Revision::Insert { thread: 0, cell: 1, labelled: false, text }]);
        assert_eq!(format("MP.litmus", revised.as_bytes()).expect("it is a test"), revised);
        let removed = source.revised(&[Revision::Remove { thread: 1, cell: 0 }]);
        assert!(removed.contains(" | L0: "), "{removed}");
    }
}
