//! The instructions that an edit changes, inserts or removes, and where they are in the file before and after.

use std::fmt;

use litmus::revise::{Revision, SourceTest};

use crate::edit::{BRACES, ProgramEdit, is_repeated, line_number};

/// An instruction that an edit changes, inserts or removes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EditedLine {
    /// The name of the thread, or `braces` where the initial state is changed.
    pub thread: String,
    /// The line of the instruction in the file, or of the one that it is inserted before, from 1.
    pub line: usize,
    /// The instruction before; `None` if it is inserted.
    pub before: Option<String>,
    /// The instruction after; `None` if it is removed. Of one that is moved, it is as before.
    pub after: Option<String>,
    /// Where it is inserted, or moved, before an instruction: that instruction.
    pub next: Option<String>,
    /// Whether the thread has the instruction that is changed, removed or inserted before more than once.
    pub repeated: bool,
    /// The line of the instruction in the changed file, from 1; `None` if it is removed, or there is no changed file.
    pub new_line: Option<usize>,
    /// The cell of that instruction; of a number in the braces, its place among them.
    pub(crate) cell: usize,
    /// The cell that it is inserted, or moved, before.
    pub(crate) target: usize,
    /// Of one that is moved: the line of the instruction that it is moved before, if the thread has that more than once.
    pub(crate) next_line: Option<usize>,
}

impl EditedLine {
    pub(crate) fn new(source: &SourceTest, thread: usize, cell: usize) -> EditedLine {
        let of = source.cells[thread].get(cell);
        EditedLine {
            thread: source.test.program.threads[thread].name.clone(),
            line: line_number(source, thread, cell),
            before: None,
            after: None,
            next: None,
            repeated: of.is_some_and(|of| is_repeated(source, thread, &of.text)),
            new_line: None,
            cell,
            target: cell,
            next_line: None,
        }
    }

    /// The instruction is moved before another one.
    pub(crate) fn moved_before(&mut self, source: &SourceTest, thread: usize, cell: usize) {
        self.after.clone_from(&self.before);
        self.next = source.cells[thread].get(cell).map(|cell| cell.text.clone());
        self.target = cell;
        let repeated = |next: &String| is_repeated(source, thread, next);
        self.next_line = self
            .next
            .as_ref()
            .filter(|next| repeated(next))
            .map(|_| line_number(source, thread, cell));
    }

    /// A number in the braces.
    pub(crate) fn of_number(
        source: &SourceTest,
        index: usize,
        before: String,
        after: String,
    ) -> EditedLine {
        EditedLine {
            thread: BRACES.to_owned(),
            line: source.initial_line(index),
            before: Some(before),
            after: Some(after),
            next: None,
            repeated: false,
            new_line: None,
            cell: index,
            target: index,
            next_line: None,
        }
    }

    /// The same instruction of another thread with the same text.
    pub(crate) fn in_thread(&self, source: &SourceTest, thread: usize) -> EditedLine {
        let next_line = self.next_line.map(|_| line_number(source, thread, self.target));
        let EditedLine { thread, line, .. } = EditedLine::new(source, thread, self.cell);
        EditedLine { thread, line, next_line, ..self.clone() }
    }
}

impl fmt::Display for EditedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.thread, self.change())
    }
}

impl EditedLine {
    /// The change without the name of the thread.
    pub fn change(&self) -> String {
        let place = if self.repeated { format!(" in line {}", self.line) } else { String::new() };
        match (&self.before, &self.after, &self.next) {
            (Some(before), Some(after), Some(next)) if before == after => {
                let line = self.next_line.map_or(String::new(), |line| format!(" in line {line}"));
                format!("move `{before}`{place} before `{next}`{line}")
            }
            (Some(before), Some(after), None) if before == after => {
                format!("move `{before}`{place} to the end")
            }
            (Some(before), Some(after), _) => format!("`{before}`{place} becomes `{after}`"),
            (Some(before), None, _) => format!("remove `{before}`{place}"),
            (None, after, Some(next)) => {
                let after = after.as_deref().unwrap_or_default();
                format!("insert `{after}` before `{next}`{place}")
            }
            (None, after, None) => {
                format!("insert `{}` at the end", after.as_deref().unwrap_or_default())
            }
        }
    }
}

/// An instruction of a changed thread.
#[derive(PartialEq, Eq)]
enum ChangedCell<'r> {
    /// That of a cell of the test as it is.
    Kept(usize),
    /// One that an edit inserts.
    New(&'r str),
}

/// Gives each line of these edits its number in the changed file.
pub(crate) fn number(
    source: &SourceTest,
    edits: &mut [ProgramEdit],
    revisions: &[Revision],
    text: &str,
) {
    let Ok(changed) = SourceTest::read("changed", text.as_bytes()) else { return };
    for line in edits.iter_mut().flat_map(|edit| &mut edit.lines) {
        if line.thread == BRACES {
            let known = line.cell < changed.initial.len();
            line.new_line = known.then(|| changed.initial_line(line.cell));
            continue;
        }
        let threads = &source.test.program.threads;
        let thread = threads.iter().position(|thread| thread.name == line.thread);
        let (Some(thread), Some(after)) = (thread, &line.after) else { continue };
        let cells = changed_cells(source, thread, revisions);
        let is_changed = line.before.as_ref().is_some_and(|before| before != after);
        let kept = |of: usize| cells.iter().position(|cell| *cell == ChangedCell::Kept(of));
        let at = if is_changed {
            kept(line.cell)
        } else {
            // The one nearest to the instruction that it is before.
            let end = kept(line.target).unwrap_or(cells.len());
            (0..end).rev().find(|&at| cells[at] == ChangedCell::New(after))
        };
        let own = at.filter(|&at| at < changed.cells[thread].len());
        line.new_line = own.map(|at| line_number(&changed, thread, at));
    }
}

/// The cells of a changed thread, in order.
fn changed_cells<'r>(
    source: &SourceTest,
    thread: usize,
    revisions: &'r [Revision],
) -> Vec<ChangedCell<'r>> {
    let mut all = Vec::new();
    for cell in 0..=source.cells[thread].len() {
        for behind_labels in [false, true] {
            for revision in revisions {
                if let Revision::Insert { thread: own, cell: at, labelled, text } = revision
                    && (*own, *at, *labelled) == (thread, cell, behind_labels)
                {
                    all.extend(text.lines().map(ChangedCell::New));
                }
            }
        }
        let removed = revisions.contains(&Revision::Remove { thread, cell });
        if cell < source.cells[thread].len() && !removed {
            all.push(ChangedCell::Kept(cell));
        }
    }
    all
}
