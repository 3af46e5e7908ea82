//! Stores of the target that the source does not have.

use std::collections::BTreeSet;

use lift::function::UndefinedValues;
use model::isa::Instruction;
use model::isa::atom::AtomicOp;
use model::program::Thread;

use super::ask::RefinementCase;
use super::bind::bind;
use super::fault::FaultLines;
use super::judge::LocatedFinding;
use super::scan::{ByteRange, ThreadScan};
use crate::verdict::{Finding, Verdict};

/// Finds a store of the target to bytes that the source never writes.
pub(super) fn extra_stores(
    case: &RefinementCase<'_>,
    scans: &[ThreadScan; 2],
) -> Option<LocatedFinding> {
    // More iterations of a loop, or values that the scan did not try, may write there.
    if scans[0].bound_reached || !scans[0].is_complete() {
        return None;
    }
    let written = |scan: &ThreadScan| -> BTreeSet<(usize, u32)> {
        let places = scan.uses.iter().filter(|one| one.writes).map(|one| one.place);
        let bytes =
            places.flat_map(|at| (at.offset..at.offset + at.bytes).map(move |b| (at.memory, b)));
        bytes.collect()
    };
    let (ours, theirs) = (written(&scans[0]), written(&scans[1]));
    let bound = bind(&case.setup, case.target, &Default::default()).ok()?;
    let mut part = None;
    for &(memory, byte) in theirs.difference(&ours) {
        let at = |place: ByteRange| {
            place.memory == memory && (place.offset..place.offset + place.bytes).contains(&byte)
        };
        let mut writes = scans[1].paths.iter().flatten().filter(|one| one.writes && at(one.place));
        let first = writes.clone().next()?;
        let name = &case.setup.memory[memory].name;
        let within = |place: ByteRange| {
            ours.iter().any(|&(of, byte)| {
                of == memory && (place.offset..place.offset + place.bytes).contains(&byte)
            })
        };
        let line = bound.line(case.target, first.line);
        let lines = FaultLines { target: Some(line), source: None };
        // The target may exchange a whole word and preserve the bytes around the source's, if it is correct.
        if writes.all(|one| exchanges(bound.thread(), one.line) && within(one.place)) {
            if case.words.values().any(|word| *word == first.place) {
                continue;
            }
            let bytes = first.place.bytes;
            let why = format!(
                "the target exchanges {bytes} bytes of `{name}` for an operation on a part of them"
            );
            part.get_or_insert((Finding::new(Verdict::Outside, why), lines));
            continue;
        }
        // A store of what is not defined is left out of the source.
        let verdict = match case.source.undefined {
            UndefinedValues::LeftOut(_) => Verdict::Outside,
            UndefinedValues::Absent | UndefinedValues::Zero => Verdict::WrongValue,
        };
        let why =
            format!("the target writes byte {byte} of `{name}`, which the source never writes");
        return Some((Finding::new(verdict, why), lines));
    }
    part
}

/// Whether an instruction may preserve some bytes of what it writes, whoever writes them.
fn exchanges(thread: &Thread, line: usize) -> bool {
    let Instruction::Atomic(one) = &thread.lines[line].instruction else { return false };
    matches!(one.op, AtomicOp::Cas | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor)
}
