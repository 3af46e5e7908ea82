//! An access on the other side of its neighbour.

use litmus::revise::{Revision, SourceTest};

use crate::copies::EqualThreads;
use crate::depends::Dependences;
use crate::edit::{self, EditCost, EditKind, ProgramEdit};
use crate::place::{CellPlace, InsertionPoint, follows, is_event};

/// Each event of a thread behind the next one, and the next one before it; arithmetic that is between them stays. Only
/// where no instruction that is passed depends on the one that moves: what the thread computes remains.
pub(crate) fn moves(source: &SourceTest, copies: &EqualThreads) -> Vec<ProgramEdit> {
    let dependences = Dependences::new(source);
    let mut all = Vec::new();
    for thread in (0..source.cells.len()).filter(|&thread| copies.is_first(thread)) {
        let count = source.cells[thread].len();
        for cell in (0..count).filter(|&cell| is_event(source, thread, cell)) {
            // What is always executed after it.
            let row = (cell + 1..count).take_while(|&next| follows(source, thread, next));
            let Some(next) = row.into_iter().find(|&next| is_event(source, thread, next)) else {
                continue;
            };
            let place = |cell: usize| CellPlace { thread, cell };
            let passes = |of: usize, mut over: std::ops::RangeInclusive<usize>| {
                !over.any(|other| dependences.are_dependent(place(of), place(other)))
            };
            let mut push = |from: usize, to: usize, labelled: bool| {
                let to = InsertionPoint { thread, cell: to, labelled };
                all.push(moved(source, copies, place(from), to, edit::MOVE));
            };
            // Where the first one has a label, jumps to it come to the second one.
            if passes(cell, cell + 1..=next) {
                push(cell, next + 1, false);
            }
            if passes(next, cell..=next - 1) {
                push(next, cell, !source.cells[thread][cell].labels.is_empty());
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::source;
    use crate::{RepairOptions, repair};

    /// The moves of P0 with these instructions.
    fn moves_of(column: &[&str]) -> Vec<String> {
        let rows: Vec<String> = column.iter().map(|cell| format!(" {cell} | ;\n")).collect();
        let rows = rows.concat();
        let text = format!(
            "PTX moves\n{{ x=0; y=0; .shared .u32 s[2]; P0:px=x; P0:py=y; P0:any=x; }}\n \
             P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n{rows}exists (x=9)\n"
        );
        let source = source(&text);
        let all = moves(&source, &EqualThreads::new(&source));
        all.iter().flat_map(|edit| &edit.lines).map(ToString::to_string).collect()
    }

    #[test]
    fn what_depends_on_an_instruction_does_not_pass_it() {
        let both = ["st.u32 [x], 1", "ld.u32 r, [y]"];
        assert_eq!(moves_of(&both).len(), 2);
        // A register that is written, of an address and of a guard.
        assert!(moves_of(&["ld.u32 r, [x]", "st.u32 [y], r"]).is_empty());
        assert!(moves_of(&["ld.u64 a, [x]", "st.u32 [a], 1"]).is_empty());
        assert!(moves_of(&["ld.u32 r, [x]", "ld.u32 r, [y]"]).is_empty());
        let guarded = ["ld.u32 r, [y]", "setp.eq.u32 q, r, 1", "@q st.u32 [x], 1"];
        assert!(moves_of(&guarded).is_empty());
        // Bytes that both access.
        assert!(moves_of(&["st.u32 [x], 1", "ld.u32 r, [x]"]).is_empty());
        assert!(moves_of(&["st.u32 [x], 1", "st.u32 [px], 2"]).is_empty());
        assert_eq!(moves_of(&["ld.u32 r, [x]", "ld.u32 t, [px]"]).len(), 2);
        assert_eq!(moves_of(&["st.u32 [px], 1", "st.u32 [py], 2"]).len(), 2);
        assert_eq!(moves_of(&["st.shared.u32 [s], 1", "st.shared.u32 [s+4], 2"]).len(), 2);
        // An address that was read may be any.
        assert!(
            moves_of(&["ld.u64 a, [y]", "mov.u64 b, a", "st.u32 [b], 1", "ld.u32 r, [x]"])
                .is_empty()
        );
        // A branch and a label.
        assert!(moves_of(&["st.u32 [x], 1", "@q bra E", "E: ld.u32 r, [y]"]).is_empty());
    }

    #[test]
    fn what_moves_before_a_label_comes_behind_it() {
        let column = ["N: st.u32 [x], 1", "ld.u32 r, [y]", "setp.eq.u32 q, r, 1", "@q bra N"];
        let rows: Vec<String> = column.iter().map(|cell| format!(" {cell} | ;\n")).collect();
        let rows = rows.concat();
        let text = format!(
            "PTX loop\n{{ x=0; y=0; }}\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n{rows}exists (x=9)\n"
        );
        let source = source(&text);
        let all = moves(&source, &EqualThreads::new(&source));
        assert_eq!(all.len(), 2);
        for edit in &all {
            let changed = source.revised(&edit.revisions);
            let label = changed.find("N:").expect("the label stays");
            assert!(label < changed.find("ld.u32").expect("it moved"), "{changed}");
        }
    }

    #[test]
    fn a_move_and_orders_are_found_together() {
        let text = "PTX first\n{ x=0; f=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
            st.relaxed.gpu.u32 [f], 1 | ld.relaxed.gpu.u32 r0, [f] ;\n \
            st.weak.u32 [x], 1 | ld.weak.u32 r1, [x] ;\n~exists (P1:r0=1 /\\ P1:r1=0)\n";
        let model = model::ptx::model();
        let options = RepairOptions { moves: true, ..RepairOptions::new(&model) };
        let repairs = repair(&source(text), &options);
        let lines = repairs.proposals[0].edits.iter().flat_map(|edit| &edit.lines);
        let lines: Vec<String> = lines.map(ToString::to_string).collect();
        let wanted = [
            "P0: move `st.weak.u32 [x], 1` before `st.relaxed.gpu.u32 [f], 1`",
            "P0: `st.relaxed.gpu.u32 [f], 1` becomes `st.release.gpu.u32 [f], 1`",
            "P1: `ld.relaxed.gpu.u32 r0, [f]` becomes `ld.acquire.gpu.u32 r0, [f]`",
        ];
        assert_eq!(lines, wanted);
        // Where each instruction is in the changed file.
        let numbers = repairs.proposals[0].edits.iter().flat_map(|edit| &edit.lines);
        for line in numbers {
            let number = line.new_line.expect("it is there");
            let text = repairs.proposals[0].text.lines().nth(number - 1).expect("it has the line");
            assert!(text.contains(line.after.as_deref().expect("it is there")), "{text}");
        }
    }
}
