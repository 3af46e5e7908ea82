//! Values of other lanes. A shuffle is an uninterpreted function, so a lane hardly ever reads a value that equals its
//! own: what decides between equal values is compared once more, where large numbers are the same in all lanes.

use lift::function::Function;
use model::isa::Instruction;
use model::isa::alu::{AluOp, Comparison};

use super::inputs::checked;
use super::judge::{Cases, JudgeResult, LocatedFinding, case, is_rounded, wrong_value};
use super::partner;
use crate::verdict::Verdict;

/// The part of the time of a program for the inputs where other lanes have equal values.
const LIKE_SHARE: u32 = 8;

/// A value that the target computes where other lanes have the same floats and large numbers, without other threads: a
/// comparison that decides between equal values.
pub(super) fn among_equals(
    source: &Function,
    target: &Function,
    all: &Cases<'_>,
) -> JudgeResult<Option<LocatedFinding>> {
    let (Some(source), Some(target)) = (among_like_lanes(source), among_like_lanes(target)) else {
        return Ok(None);
    };
    let refiner = all.setups[0].0.refiner.within(LIKE_SHARE);
    for (setup, scans, _) in all.setups.iter().chain(&all.alone) {
        let case = case(setup.setup.clone(), scans, [checked(&source), &target], refiner);
        let alone = partner::alone(case.locations.len());
        let mut one = (case, scans.clone(), vec![alone]);
        let found = wrong_value(std::slice::from_mut(&mut one))?;
        let Some((mut finding, lines)) = found else { continue };
        // Floats that only differ by their rounding are not compared among other lanes either.
        if finding.verdict == Verdict::WrongValue && !is_rounded(&mut one.0) {
            finding.notes.push(AMONG_EQUALS.to_owned());
            return Ok(Some((finding, lines)));
        }
    }
    Ok(None)
}

/// The note of a finding where lanes have equal values.
const AMONG_EQUALS: &str = "the value differs where a lane has the same floats or large numbers as the lanes that it reads by a shuffle";

/// The function where the shuffles of integers that it compares are among lanes with the same large numbers; `None` if
/// it has none.
fn among_like_lanes(function: &Function) -> Option<Function> {
    let mut function = function.clone();
    let (mut shuffles, mut equals) = (false, false);
    for step in function.rows.iter_mut().flat_map(|row| &mut row.lines) {
        let Instruction::Alu(alu) = &mut step.line.instruction else { continue };
        equals |= matches!(alu.op, AluOp::Setp(Comparison::Eq | Comparison::Ne));
        if let AluOp::Opaque(op) = &mut alu.op
            && let Some(like) = op.among_like_lanes()
        {
            *op = like;
            shuffles = true;
        }
    }
    function.checked = function.checked.map(|one| among_like_lanes(&one).map_or(one, Box::new));
    (shuffles && equals).then_some(function)
}
