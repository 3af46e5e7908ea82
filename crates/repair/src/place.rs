//! Where the instructions of a test stand, and the places between them.

use std::collections::BTreeSet;
use std::ops::Range;

use litmus::revise::{SourceCell, SourceTest};
use model::isa::{Instruction, Line};
use model::program::Thread;

/// An instruction of the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct CellPlace {
    pub(crate) thread: usize,
    pub(crate) cell: usize,
}

/// A place before an instruction, or after the last one of a thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct InsertionPoint {
    pub(crate) thread: usize,
    pub(crate) cell: usize,
    /// Whether it is after the labels of the instruction, so that jumps to them come here. Otherwise it is before them.
    pub(crate) labelled: bool,
}

impl InsertionPoint {
    fn of(self, source: &SourceTest) -> &Thread {
        &source.test.program.threads[self.thread]
    }

    /// The line that it is before.
    pub(crate) fn line(self, source: &SourceTest) -> usize {
        let lines = self.of(source).lines.len();
        source.cells[self.thread].get(self.cell).map_or(lines, |cell| cell.lines.start)
    }

    /// Whether a jump to this line comes before this point.
    fn is_after(self, source: &SourceTest, target: usize) -> bool {
        let line = self.line(source);
        target < line || target == line && self.labelled
    }

    /// The loops around it: the lines that each has.
    fn loops(self, source: &SourceTest) -> impl Iterator<Item = Range<usize>> {
        let branches = self.of(source).back_branches();
        branches
            .filter(move |&(branch, target)| {
                self.is_after(source, target) && self.line(source) <= branch
            })
            .map(|(branch, target)| target..branch + 1)
    }

    /// The number of loops around it.
    pub(crate) fn depth(self, source: &SourceTest) -> usize {
        self.loops(source).count()
    }

    /// Whether a branch leads over it.
    pub(crate) fn is_skipped(self, source: &SourceTest) -> bool {
        let line = self.line(source);
        let mut branches = self.of(source).branches();
        branches.any(|(branch, target)| branch < line && !self.is_after(source, target))
    }

    /// Whether it is inside a loop that does nothing but wait: one event, and what decides whether to go on.
    pub(crate) fn is_in_wait(self, source: &SourceTest) -> bool {
        let lines = &self.of(source).lines;
        let events = |body: Range<usize>| {
            lines[body].iter().filter(|line| orders(&line.instruction)).count()
        };
        self.loops(source).any(|body| events(body) == 1)
    }
}

/// The places of a thread, in order; of those with only arithmetic between them, the last one.
pub(crate) fn points(source: &SourceTest, thread: usize) -> Vec<InsertionPoint> {
    let cells = &source.cells[thread];
    let is_labelled = |cell: usize| cells.get(cell).is_some_and(|cell| !cell.labels.is_empty());
    let mut all = Vec::new();
    for cell in 0..=cells.len() {
        // Between this instruction and the next one is as good.
        let passed = cell < cells.len()
            && !is_event(source, thread, cell)
            && !branches(source, thread, cell)
            && !is_labelled(cell + 1);
        for labelled in [false, true] {
            let last = labelled || !is_labelled(cell);
            if (labelled && !is_labelled(cell)) || (passed && last) {
                continue;
            }
            all.push(InsertionPoint { thread, cell, labelled });
        }
    }
    all
}

/// The places of a thread after an event, or after a label: of those with only arithmetic between them, the first one.
pub(crate) fn first_points(source: &SourceTest, thread: usize) -> Vec<InsertionPoint> {
    let cells = &source.cells[thread];
    let point = |cell: usize, labelled: bool| InsertionPoint { thread, cell, labelled };
    let mut all = Vec::new();
    for cell in 0..=cells.len() {
        if cell > 0 && is_event(source, thread, cell - 1) {
            all.push(point(cell, false));
        }
        if cells.get(cell).is_some_and(|of| !of.labels.is_empty()) {
            all.push(point(cell, true));
        }
    }
    all
}

/// The guard, with the blank after it, that the instructions on both sides of a place have: between them it does not change.
/// Empty if there is none.
pub(crate) fn guard_between(source: &SourceTest, point: InsertionPoint) -> &str {
    let cells = &source.cells[point.thread];
    let of = |cell: usize| cells.get(cell).map_or("", SourceCell::guard);
    let Some(before) = point.cell.checked_sub(1) else { return "" };
    let (before_it, next) = (of(before), of(point.cell));
    let sets = cells[before].name.starts_with("setp");
    let same = before_it == next && point.cell < cells.len() && !sets;
    if same && follows(source, point.thread, point.cell) { next } else { "" }
}

/// The guards of the instructions beside a place, arithmetic left out.
pub(crate) fn guards_beside(source: &SourceTest, point: InsertionPoint) -> BTreeSet<String> {
    let InsertionPoint { thread, cell, .. } = point;
    let cells = &source.cells[thread];
    let mut before = (0..cell).rev();
    let before = before.find(|&at| is_event(source, thread, at) || branches(source, thread, at));
    let beside = before.into_iter().chain([cell]).filter(|&at| is_event(source, thread, at));
    let guards = beside.filter_map(|at| cells.get(at)).map(|of| of.guard().to_owned());
    guards.filter(|guard| !guard.is_empty()).collect()
}

/// The lines of a cell.
pub(crate) fn lines_of(source: &SourceTest, thread: usize, cell: usize) -> &[Line] {
    let lines = &source.test.program.threads[thread].lines;
    let of = source.cells[thread].get(cell);
    of.and_then(|cell| lines.get(cell.lines.clone())).unwrap_or_default()
}

/// Whether an instruction of this cell orders others, or is ordered: what a fence stands between.
pub(crate) fn is_event(source: &SourceTest, thread: usize, cell: usize) -> bool {
    lines_of(source, thread, cell).iter().any(|line| orders(&line.instruction))
}

fn orders(instruction: &Instruction) -> bool {
    !instruction.computes() && !matches!(instruction, Instruction::Unsupported(_))
}

fn branches(source: &SourceTest, thread: usize, cell: usize) -> bool {
    lines_of(source, thread, cell).iter().any(|line| line.instruction.as_branch().is_some())
}

/// Whether this cell and the one before it are always executed one after the other.
pub(crate) fn follows(source: &SourceTest, thread: usize, cell: usize) -> bool {
    source.cells[thread][cell].labels.is_empty() && !branches(source, thread, cell - 1)
}
