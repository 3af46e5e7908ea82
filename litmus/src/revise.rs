//! Changes single instructions of a file, and nothing else of it: comments and layout stay.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use lift::cell;
use text::Diagnostic;
use text::lex;
use text::report::{ByteSpan, Diagnostics};

use crate::format::format;
use crate::{Quantifier, Test, frame};

mod initial;

pub use initial::{InitialNumber, NumberOf};

/// A litmus test with the places of its instructions in the file.
#[derive(Clone, Debug)]
pub struct SourceTest {
    path: String,
    text: String,
    pub test: Test,
    /// The instructions of each thread, in the order of the file.
    pub cells: Vec<Vec<SourceCell>>,
    /// The numbers that the braces give.
    pub initial: Vec<InitialNumber>,
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
    /// The instruction with its guard.
    at: ByteSpan,
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
    /// An instruction is removed, with its guard; its labels stay.
    Remove { thread: usize, cell: usize },
    /// The guard of an instruction is removed.
    Unguard { thread: usize, cell: usize },
    /// An instruction is replaced, but for its guard; its labels stay.
    Replace { thread: usize, cell: usize, text: String },
    /// Instructions, one in each line of the text, are inserted before another one; after the last one, if there is no
    /// such cell. `labelled`: after the labels of that cell, so that a jump to one of them comes here, too.
    Insert { thread: usize, cell: usize, labelled: bool, text: String },
    /// The braces give another number: that of [`SourceTest::initial`] at `index`.
    Initial { index: usize, number: u64 },
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
            | Revision::Unguard { thread, .. }
            | Revision::Insert { thread, .. } => Some(*thread),
            Revision::Initial { .. } | Revision::Claim(_) | Revision::Forget(_) => None,
        }
    }

    /// The thread and the cell of the instruction that is changed or removed, if one is.
    pub fn changed(&self) -> Option<(usize, usize)> {
        match self {
            Revision::Rename { thread, cell, .. }
            | Revision::Remove { thread, cell }
            | Revision::Unguard { thread, cell }
            | Revision::Replace { thread, cell, .. } => Some((*thread, *cell)),
            Revision::Insert { .. }
            | Revision::Initial { .. }
            | Revision::Claim(_)
            | Revision::Forget(_) => None,
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
            | Revision::Unguard { thread, .. }
            | Revision::Insert { thread, .. } => *thread = other,
            Revision::Initial { .. } | Revision::Claim(_) | Revision::Forget(_) => {}
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
        let initial = initial::numbers(body.init, &test);
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
                    at: known.at,
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
            initial,
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

    /// The line of a number in the braces, from 1.
    pub fn initial_line(&self, index: usize) -> usize {
        let at = self.initial[index].at.start as usize;
        1 + self.text[..at].matches('\n').count()
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
        let mut test = match &self.question {
            Some(question) => crate::parse_question(&self.path, changed.as_bytes(), question),
            None => crate::parse(&self.path, changed.as_bytes()),
        }?;
        test.program.exempt_races = self.test.program.exempt_races_in(&test.program);
        Ok(test)
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
                    let of = &self.cells[*thread][*cell];
                    self.rewrite(*thread, of, of.name_at, name, &mut pieces);
                }
                Revision::Remove { thread, cell } => {
                    let of = &self.cells[*thread][*cell];
                    self.rewrite(*thread, of, of.at, "", &mut pieces);
                }
                Revision::Unguard { thread, cell } => {
                    let of = &self.cells[*thread][*cell];
                    let guard = ByteSpan { start: of.at.start, end: of.name_at.start };
                    self.rewrite(*thread, of, guard, "", &mut pieces);
                }
                Revision::Replace { thread, cell, text } => {
                    let of = &self.cells[*thread][*cell];
                    let instruction = ByteSpan { start: of.name_at.start, end: of.at.end };
                    self.rewrite(*thread, of, instruction, text, &mut pieces);
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
                        let blank = " ".repeat(next.labels_at.of(&self.text).chars().count());
                        pieces.push((next.labels_at, blank));
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
                Revision::Initial { index, number } => {
                    pieces.push((self.initial[*index].at, number.to_string()));
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

    /// Another text for a part of an instruction. The bar after the cell stays in its column if there is room.
    fn rewrite(
        &self,
        thread: usize,
        of: &SourceCell,
        part: ByteSpan,
        text: &str,
        pieces: &mut Vec<(ByteSpan, String)>,
    ) {
        pieces.push((part, text.to_owned()));
        let rest = ByteSpan { start: of.at.end, end: self.rows[of.row].cells[thread].end };
        let blank = rest.of(&self.text);
        if blank.trim().is_empty() && !blank.contains('\n') {
            let width = |text: &str| text.chars().count();
            let room = width(blank) + width(part.of(&self.text));
            let least = usize::from(!text.is_empty() || part != of.at);
            let left = room.saturating_sub(width(text)).max(least);
            pieces.push((rest, " ".repeat(left)));
        }
    }

    /// Puts instructions before a row, in a row of their own.
    fn insert(&self, row: usize, cells: &[String], pieces: &mut Vec<(ByteSpan, String)>) {
        let ended = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let own = self.rows.get(row).map(|row| self.line_of(row.at));
        if let Some(line) = own.filter(|line| self.has_one_row(*line)) {
            let at = ByteSpan { start: line.start, end: line.start };
            pieces.push((at, format!("{}{ended}", self.row_like(Some(line), row, cells))));
            return;
        }
        let end = self.rows.get(row).map_or(self.end_of_table(), |row| row.at.start);
        let last = row.checked_sub(1).filter(|_| row == self.rows.len());
        let line = last.map(|last| self.line_of(self.rows[last].at));
        let line = line.filter(|line| self.has_one_row(*line));
        let written = self.row_like(line, last.unwrap_or(row), cells);
        let at = ByteSpan { start: end, end };
        pieces.push((at, format!("{ended}{written}")));
    }

    /// The line that something begins in, without its end.
    fn line_of(&self, at: ByteSpan) -> ByteSpan {
        let begin = self.text[..at.start as usize].rfind('\n').map_or(0, |before| before + 1);
        let length = self.text[begin..].find('\n').unwrap_or(self.text.len() - begin);
        ByteSpan::new(begin, begin + length)
    }

    /// Whether a line has a row, and nothing before it.
    fn has_one_row(&self, line: ByteSpan) -> bool {
        let begins = |row: &&SourceRow| (line.start..line.end).contains(&row.at.start);
        let mut rows = self.rows.iter().filter(begins);
        let first = rows.next().filter(|_| rows.next().is_none());
        first.is_some_and(|row| {
            let before = ByteSpan { start: line.start, end: row.at.start };
            before.of(&self.text).trim().is_empty()
        })
    }

    /// A row of these cells, whose bars are in the columns of another one, which a line has.
    fn row_like(&self, line: Option<ByteSpan>, other: usize, cells: &[String]) -> String {
        let width = |text: &str| text.chars().count();
        let columns: Vec<usize> = line.map_or(Vec::new(), |line| {
            let bars = self.rows[other].cells.iter();
            bars.map(|cell| width(ByteSpan { start: line.start, end: cell.end }.of(&self.text)))
                .collect()
        });
        let mut written = self.indent().to_owned();
        for (at, cell) in cells.iter().enumerate() {
            written += if at > 0 { "| " } else { "" };
            written += cell;
            let column = columns.get(at).copied().unwrap_or(0);
            let blanks = column.saturating_sub(width(&written));
            written += &" ".repeat(blanks.max(usize::from(!written.ends_with(' '))));
        }
        written + ";"
    }

    /// The blanks before a row whose first cell is not empty.
    fn indent(&self) -> &str {
        let first = self.cells.first().and_then(|cells| cells.first());
        let row = first.map(|cell| &self.rows[cell.row]);
        let before = row.map(|row| {
            let line = self.line_of(row.at);
            ByteSpan { start: line.start, end: row.at.start }.of(&self.text)
        });
        before.filter(|before| before.trim().is_empty()).unwrap_or(" ")
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
        // The bars are in the columns of the next row, or of the last one.
        let both = " fence.acq_rel.gpu      | fence.acq_rel.gpu   ;\n st.volatile";
        assert!(text.contains(both), "{text}");
        let one = format!("{}| fence.acq_rel.gpu   ;\n", " ".repeat(24));
        assert!(text.contains(&format!("r1, [x] ; // the data\n{one}")), "{text}");
    }

    #[test]
    fn what_is_inserted_after_a_label_is_where_jumps_lead() {
        let text = |of: &str| of.to_owned();
        let insert =
            |labelled, of| Revision::Insert { thread: 1, cell: 0, labelled, text: text(of) };
        let revisions = [insert(true, "fence.sc.gpu"), insert(false, "fence.acq_rel.gpu")];
        let revised = source().revised(&revisions);
        let row = |text: &str| format!("{}| {text:<40};\n", " ".repeat(20));
        let rows = row("fence.acq_rel.gpu") + &row("L0: fence.sc.gpu");
        let rows = rows + " st.weak.u32 [x], 1 |     ld.volatile";
        assert!(revised.contains(&rows), "{revised}");
    }

    #[test]
    fn bars_stay_in_their_columns_where_there_is_room() {
        let text = "PTX G\n{ x=0; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0;\n \
            @p st.u32 [x], 1 | ld.u32 r, [x] ;\n@p bra E        | bra E       ;\nE: mov.u32 r, 1 | E: mov.u32 r, 1 ;\n\
            exists (x=1)\n";
        let text = text.replace("@p st", "setp.eq.u32 p, r, 0 | mov.u32 r, 0 ;\n @p st");
        let source = SourceTest::read("G.litmus", text.as_bytes()).expect("it is a test");
        let with = |of: Revision| source.revised(&[of]);
        let unguarded = with(Revision::Unguard { thread: 0, cell: 1 });
        assert!(unguarded.contains("\n st.u32 [x], 1    | ld.u32"), "{unguarded}");
        let removed = with(Revision::Remove { thread: 0, cell: 1 });
        assert!(removed.contains("\n                  | ld.u32"), "{removed}");
        let name = "st.release.gpu.u32".to_owned();
        let longer = with(Revision::Rename { thread: 0, cell: 1, name });
        assert!(longer.contains("\n @p st.release.gpu.u32 [x], 1 | ld.u32"), "{longer}");
    }

    #[test]
    fn numbers_of_the_braces_are_found_and_changed() {
        let text = "PTX N\n{ .shared .mbarrier b[2]={{1},{3}}; x=4; P0:n=5; 1:m=6; }\n \
            P0@cta 0 | P1@cta 0 ;\n mov.u32 r, n | mov.u32 r, m ;\nexists (x=4)\n";
        let source = SourceTest::read("N.litmus", text.as_bytes()).expect("it is a test");
        let numbers: Vec<u64> = source.initial.iter().map(|of| of.number).collect();
        assert_eq!(numbers, [1, 3, 5, 6]);
        let changed = source.revised(&[Revision::Initial { index: 1, number: 2 }]);
        assert_eq!(changed, text.replace("{3}", "{2}"));
        let changed = source.revised(&[Revision::Initial { index: 3, number: 7 }]);
        assert_eq!(changed, text.replace("m=6", "m=7"));
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
