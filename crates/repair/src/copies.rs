//! Threads that execute the same code: an edit of the code is an edit of each of them.

use litmus::revise::{Revision, SourceTest};
use model::program::{InitialValue, Observed, Thread};

use crate::edit::ProgramEdit;

/// Which threads are copies of each other.
pub(crate) struct EqualThreads {
    /// The first thread with the text of each thread.
    first: Vec<usize>,
}

impl EqualThreads {
    pub(crate) fn new(source: &SourceTest) -> EqualThreads {
        let threads = &source.test.program.threads;
        let all = 0..threads.len();
        let same = |a: usize, b: usize| {
            has_text_of(&threads[a], &threads[b])
                && source.cells[a].len() == source.cells[b].len()
                && source.cells[a].iter().zip(&source.cells[b]).all(|(a, b)| a.lines == b.lines)
        };
        let first = all.map(|thread| (0..thread).find(|&one| same(one, thread)).unwrap_or(thread));
        EqualThreads { first: first.collect() }
    }

    /// Whether a thread is the first one with its text.
    pub(crate) fn is_first(&self, thread: usize) -> bool {
        self.first[thread] == thread
    }

    /// Whether two threads have the same text.
    pub(crate) fn are_equal(&self, one: usize, other: usize) -> bool {
        self.first[one] == self.first[other]
    }

    /// The threads with the text of this one, and itself.
    pub(crate) fn of(&self, thread: usize) -> impl Iterator<Item = usize> {
        let first = self.first[thread];
        (0..self.first.len()).filter(move |&other| self.first[other] == first)
    }

    /// The condition of the test about each other thread with the text and the initial numbers of one that it is about: what is
    /// forbidden of one copy is to be forbidden of the others, which may be elsewhere.
    pub(crate) fn questions(&self, source: &SourceTest) -> Vec<SourceTest> {
        let threads = &source.test.program.threads;
        let numbers = |thread: usize| {
            threads[thread].registers.iter().filter_map(|register| match register.initial {
                InitialValue::Value(value) => Some((&register.name, value)),
                InitialValue::Address { .. } => None,
            })
        };
        let asks = |thread: usize| {
            source.test.program.observed.iter().any(|observed| {
                matches!(observed, Observed::Register { thread: of, .. } if usize::from(of.0) == thread)
            })
        };
        let mut all = Vec::new();
        for own in (0..threads.len()).filter(|&thread| asks(thread)) {
            let copies: Vec<usize> = self.of(own).filter(|&other| other != own).collect();
            // Of several copies it says how they differ.
            if copies.iter().any(|&other| asks(other)) {
                continue;
            }
            let alike = copies.into_iter().filter(|&other| numbers(own).eq(numbers(other)));
            let asked = alike.filter_map(|other| {
                let text = renamed(&source.test.condition_text, own, other);
                source.asking(&text).ok()
            });
            all.extend(asked);
        }
        all
    }

    /// An edit of one thread, in all that have its text: it counts once.
    pub(crate) fn everywhere(&self, source: &SourceTest, edit: ProgramEdit) -> ProgramEdit {
        let Some(own) = edit.revisions.iter().find_map(Revision::thread) else { return edit };
        let (kind, cost) = (edit.kind, edit.cost);
        let mut all = ProgramEdit { kind, cost, lines: Vec::new(), revisions: Vec::new() };
        for thread in self.of(own) {
            all.lines.extend(edit.lines.iter().map(|line| line.in_thread(source, thread)));
            all.revisions.extend(edit.revisions.iter().map(|one| one.in_thread(thread)));
        }
        all
    }
}

/// A condition, about another thread: `1:r0`, or `P1:r0`.
fn renamed(condition: &str, own: usize, other: usize) -> String {
    let (from, to) = (format!("{own}:"), format!("{other}:"));
    let mut out = String::new();
    let mut rest = condition;
    while let Some(at) = rest.find(&from) {
        let before = rest[..at].chars().next_back();
        let whole = before.is_none_or(|c| c == 'P' || !c.is_alphanumeric());
        out += &rest[..at];
        out += if whole { &to } else { &from };
        rest = &rest[at + from.len()..];
    }
    out + rest
}

/// Whether two threads have the same text, but for the names of labels.
fn has_text_of(one: &Thread, other: &Thread) -> bool {
    let but_label = |text: &str| text.rsplit_once(' ').map_or(text, |(rest, _)| rest).to_owned();
    one.lines.len() == other.lines.len()
        && one.lines.iter().zip(&other.lines).all(|(one, other)| {
            let guards = one.guard.is_some() == other.guard.is_some();
            match (one.instruction.as_branch(), other.instruction.as_branch()) {
                (Some(a), Some(b)) => {
                    guards && a.target == b.target && but_label(&one.text) == but_label(&other.text)
                }
                (None, None) => guards && one.text == other.text,
                _ => false,
            }
        })
}

/// Whether two threads have the same instructions, at perhaps other addresses and with other numbers.
pub(crate) fn have_one_form(source: &SourceTest, one: usize, other: usize) -> bool {
    let (one, other) = (&source.cells[one], &source.cells[other]);
    one.len() == other.len()
        && one.iter().zip(other).all(|(a, b)| {
            a.name == b.name
                && a.labels.is_empty() == b.labels.is_empty()
                && a.text.starts_with('@') == b.text.starts_with('@')
        })
}
