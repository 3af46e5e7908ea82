//! Numbers with which registers begin, where the braces of a test or a `mov` give them.

use litmus::revise::{NumberOf, SourceTest};
use model::isa::alu::AluOp;
use model::isa::{Instruction, Operand, Reg};

use crate::copies::EqualThreads;
use crate::edit::{self, EditCost, EditKind, ProgramEdit};
use crate::place::{CellPlace, lines_of};

/// Other numbers for a register to begin with. `others`: those that may stand in the place of one.
pub(crate) fn other_beginnings(
    source: &SourceTest,
    copies: &EqualThreads,
    thread: usize,
    register: Reg,
    (kind, cost): (EditKind, EditCost),
    others: &dyn Fn(u64) -> Vec<u64>,
) -> Vec<ProgramEdit> {
    let mut all = Vec::new();
    for cell in 0..source.cells[thread].len() {
        let [line] = lines_of(source, thread, cell) else { continue };
        let Instruction::Alu(of) = &line.instruction else { continue };
        let (AluOp::Mov, [Operand::Imm(now)]) = (of.op, &of.sources[..]) else { continue };
        let written = source.cells[thread][cell].instruction();
        let Some((rest, _)) = written.rsplit_once(',').filter(|_| of.destination == register)
        else {
            continue;
        };
        let with = |number: u64| {
            let place = CellPlace { thread, cell };
            edit::replacement(source, place, format!("{rest}, {number}"), kind, cost)
        };
        all.extend(others(*now).into_iter().map(with));
    }
    let name = &source.test.program.threads[thread].registers[usize::from(register.0)].name;
    let begins = |thread: usize| {
        source.initial.iter().position(|of| {
            matches!(&of.of, NumberOf::Register { thread: own, name: known } if *own == thread && known == name)
        })
    };
    if let Some(own) = begins(thread) {
        let now = source.initial[own].number;
        let alike = copies.of(thread).filter_map(begins);
        let alike: Vec<usize> = alike.filter(|&at| source.initial[at].number == now).collect();
        let with = |number: u64| edit::initial(source, &alike, number, kind, cost);
        all.extend(others(now).into_iter().map(with));
    }
    all
}
