//! A function in which operations on floats, and those without a definition, all have one result.
//!
//! Compilers contract, reorder and approximate them, and so may compute other values than their source by right.
//! Where the values of a function and its lowering differ, both are compared again with what the results are computed
//! from, and then without them.

use lift::function::Function;
use model::isa::alu::AluOp;
use model::isa::opaque::OpaqueOp;
use model::isa::{Instruction, Operand};

/// What takes the place of an operation whose result is approximate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Replacement {
    /// The values that the result is computed from: a value that is lost or stale still shows.
    Origins,
    /// The number 1.
    One,
}

/// Both functions with each replacement, where both have such operations.
pub(super) fn approximations(
    sides: [&Function; 2],
) -> impl Iterator<Item = (Replacement, [Function; 2])> {
    [Replacement::Origins, Replacement::One].into_iter().filter_map(move |by| {
        let [source, target] = sides.map(|side| approximated(side, by));
        Some((by, [source?, target?]))
    })
}

/// The function with the replacement of each such operation; `None` if it has none. A comparison holds.
fn approximated(function: &Function, by: Replacement) -> Option<Function> {
    let mut function = function.clone();
    let mut found = false;
    for step in function.rows.iter_mut().flat_map(|row| &mut row.lines) {
        if let Instruction::Alu(alu) = &mut step.line.instruction
            && alu.op.result(alu.ty).approximate
        {
            found = true;
            if by == Replacement::One || alu.op.result(alu.ty).compares {
                (alu.op, alu.sources) = (AluOp::Mov, vec![Operand::Imm(1)]);
                continue;
            }
            alu.op = AluOp::Opaque(OpaqueOp::ORIGINS);
            for source in &mut alu.sources {
                if let Operand::Imm(value) = source {
                    *value = 0;
                }
            }
        }
    }
    function.checked = function.checked.map(|one| approximated(&one, by).map_or(one, Box::new));
    found.then_some(function)
}
