//! Barriers of the CTA: threads meet only at those with the same number, and the same number of threads.

use lift::function::{Function, FunctionLine};
use model::isa::{Instruction, Operand};

use super::ask::RefinementCase;
use super::fault::FaultLines;
use super::judge::LocatedFinding;
use super::scan::ThreadScan;
use crate::step::Step;
use crate::verdict::{Finding, Verdict};

/// A barrier: its number, and how many threads meet there if it is not all of them.
type MetBarrier = (u64, Option<u64>);

/// The finding of a target that waits at another barrier than its source. All threads of a kernel run the target, so
/// that its barriers may have other numbers as long as two of them remain two.
pub(super) fn other_barriers(
    case: &RefinementCase<'_>,
    scans: &[ThreadScan; 2],
) -> Option<LocatedFinding> {
    let [ours, theirs] = scans.each_ref().map(met);
    let (ours, theirs) = (ours?, theirs?);
    if ours.len() != theirs.len() {
        return None;
    }
    let pairs: Vec<(MetBarrier, MetBarrier)> = ours.into_iter().zip(theirs).collect();
    let &(own, other) = pairs.iter().find(|(own, other)| own != other)?;
    let renamed = |(own, other): &(MetBarrier, MetBarrier)| {
        own.1 == other.1
            && pairs.iter().all(|(first, second)| (first.0 == own.0) == (second.0 == other.0))
    };
    if case.source.kernel && case.target.kernel && pairs.iter().all(renamed) {
        return None;
    }
    let [source, target] =
        [(case.source, own), (case.target, other)].map(|(of, id)| line(of, id.0));
    let at = target.map(|line| format!("line {line} of the target: ")).unwrap_or_default();
    let shown = |(id, count): MetBarrier| match count {
        Some(count) => format!("barrier {id} of {count} threads"),
        None => format!("barrier {id}"),
    };
    let why = format!(
        "{at}it comes to {}, and the source to {}: threads do not meet at these",
        shown(other),
        shown(own)
    );
    Some((Finding::new(Verdict::Weaker, why), FaultLines { source, target }))
}

/// The line of the source with the first barrier that the target does not have, and what is missing.
pub(super) fn not_met(
    case: &RefinementCase<'_>,
    scans: &[ThreadScan; 2],
) -> Option<(FaultLines, String)> {
    let [ours, theirs] = scans.each_ref().map(met);
    let (ours, theirs) = (ours?, theirs?);
    let at = ours.iter().zip(&theirs).take_while(|(own, other)| own == other).count();
    let (left, right) = (ours.get(at..)?, theirs.get(at..)?);
    let mut kept = left.iter();
    let fewer = left.len() > right.len() && right.iter().all(|one| kept.any(|other| other == one));
    let first = left.first().filter(|_| fewer)?;
    let rows = rows(case.source, first.0);
    // Of several with this number, the one at its position, if each is met once.
    let before = ours[..at].iter().filter(|of| of.0 == first.0).count();
    let all = ours.iter().filter(|of| of.0 == first.0).count();
    let row = rows.get(if rows.len() == all { before } else { 0 })?;
    let text = row.text.split(" &").next().unwrap_or_default().trim_end_matches(';');
    let why = format!("line {} of the source: `{text}` is missing", row.line);
    Some((FaultLines { source: Some(row.line), target: None }, why))
}

/// The finding of sides with a thread count at a barrier, where contexts alone compare them: none has as many threads.
pub(super) fn counted(scans: &[ThreadScan; 2]) -> Option<Finding> {
    let mut all = scans.iter().filter_map(met).flatten();
    let (id, count) = all.find_map(|(id, count)| Some((id, count?)))?;
    let why = format!("barrier {id} is of {count} threads, and no context has that many");
    Some(Finding::new(Verdict::Undecided, why))
}

/// The barriers that a thread meets, in program order.
fn met(scan: &ThreadScan) -> Option<Vec<MetBarrier>> {
    let barrier = |step: &Step| match step {
        Step::Barrier { id, count } => Some((*id, *count)),
        Step::Access { .. }
        | Step::Fence { .. }
        | Step::ClusterArrive { .. }
        | Step::ClusterWait
        | Step::Guard => None,
    };
    Some(scan.barriers.as_ref()?.iter().filter_map(barrier).collect())
}

/// The first line of a function with this barrier.
fn line(function: &Function, id: u64) -> Option<usize> {
    rows(function, id).first().map(|row| row.line)
}

/// The instructions of a function at this barrier.
fn rows(function: &Function, id: u64) -> Vec<&FunctionLine> {
    let rows = function.rows.iter().filter(|row| {
        row.lines.iter().any(|step| {
            matches!(&step.line.instruction, Instruction::Barrier(barrier) if barrier.id == Operand::Imm(id))
        })
    });
    rows.collect()
}
