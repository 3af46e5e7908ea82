//! An access on the other side of its neighbour.

use litmus::revise::{Revision, SourceTest};

use crate::copies::EqualThreads;
use crate::edit::{self, EditCost, EditKind, ProgramEdit};
use crate::place::{CellPlace, InsertionPoint, follows, is_event};

/// Each event of a thread behind the next one; between them there may be arithmetic, which then comes first.
pub(crate) fn moves(source: &SourceTest, copies: &EqualThreads) -> Vec<ProgramEdit> {
    let mut all = Vec::new();
    for thread in (0..source.cells.len()).filter(|&thread| copies.is_first(thread)) {
        let count = source.cells[thread].len();
        for cell in (0..count).filter(|&cell| is_event(source, thread, cell)) {
            // What is always executed after it.
            let row = (cell + 1..count).take_while(|&next| follows(source, thread, next));
            let Some(next) = row.into_iter().find(|&next| is_event(source, thread, next)) else {
                continue;
            };
            // Where the first one has a label, jumps to it come to the second one.
            let before = |cell: usize| InsertionPoint { thread, cell, labelled: false };
            let move_to = |from: usize, to: InsertionPoint| {
                moved(source, copies, CellPlace { thread, cell: from }, to, edit::MOVE)
            };
            all.push(move_to(cell, before(next + 1)));
            if next == cell + 1 {
                continue;
            }
            all.push(move_to(next, before(cell)));
        }
    }
    all
}

/// An instruction at another place of its thread.
pub(crate) fn moved(
    source: &SourceTest,
    copies: &EqualThreads,
    from: CellPlace,
    to: InsertionPoint,
    cost: EditCost,
) -> ProgramEdit {
    let InsertionPoint { thread, cell, labelled } = to;
    let text = source.cells[thread][from.cell].text.clone();
    let mut edit = edit::removal(source, from, cost);
    edit.kind = EditKind::Move;
    for line in &mut edit.lines {
        line.moved_before(source, thread, cell);
    }
    edit.revisions.push(Revision::Insert { thread, cell, labelled, text });
    copies.everywhere(source, edit)
}
