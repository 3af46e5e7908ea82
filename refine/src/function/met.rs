//! Barriers of the CTA: threads meet only at those with the same number.

use lift::function::Function;
use model::isa::{Instruction, Operand};

use super::ask::RefinementCase;
use super::fault::FaultLines;
use super::judge::LocatedFinding;
use super::scan::ThreadScan;
use crate::step::Step;
use crate::verdict::{Finding, Verdict};

/// The finding of a target that waits at another barrier than its source. All threads of a kernel run the target, so
/// that its barriers may have other numbers as long as two of them remain two.
pub(super) fn other_barriers(
    case: &RefinementCase<'_>,
    scans: &[ThreadScan; 2],
) -> Option<LocatedFinding> {
    let [ours, theirs] = scans.each_ref().map(numbers);
    let (ours, theirs) = (ours?, theirs?);
    if ours.len() != theirs.len() {
        return None;
    }
    let pairs: Vec<(u64, u64)> = ours.into_iter().zip(theirs).collect();
    let renamed = |(own, other): (u64, u64)| {
        let mut all = pairs.iter();
        all.all(|&(first, second)| (first == own) == (second == other))
    };
    let differs = |&(own, other): &(u64, u64)| own != other;
    let consistent = pairs.iter().all(|&pair| renamed(pair));
    let &(own, other) = pairs.iter().find(|pair| differs(pair))?;
    if case.source.kernel && case.target.kernel && consistent {
        return None;
    }
    let [source, target] = [(case.source, own), (case.target, other)].map(|(of, id)| line(of, id));
    let at = target.map(|line| format!("line {line} of the target: ")).unwrap_or_default();
    let why = format!(
        "{at}it waits at barrier {other}, and the source at barrier {own}: threads of other code that wait there do not meet"
    );
    Some((Finding::new(Verdict::Weaker, why), FaultLines { source, target }))
}

/// The numbers of the barriers that a thread meets, in program order.
fn numbers(scan: &ThreadScan) -> Option<Vec<u64>> {
    let met = scan.barriers.as_ref()?;
    let number = |step: &Step| match step {
        Step::Barrier { id } => Some(*id),
        Step::Access { .. }
        | Step::Fence { .. }
        | Step::ClusterArrive { .. }
        | Step::ClusterWait
        | Step::Guard => None,
    };
    Some(met.iter().filter_map(number).collect())
}

/// The first line of a function with this barrier.
fn line(function: &Function, id: u64) -> Option<usize> {
    let row = function.rows.iter().find(|row| {
        row.lines.iter().any(|step| {
            matches!(&step.line.instruction, Instruction::Barrier(barrier) if barrier.id == Operand::Imm(id))
        })
    });
    row.map(|row| row.line)
}
