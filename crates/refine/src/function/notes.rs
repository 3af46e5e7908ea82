//! What a finding says beside its verdict: what it rests on, and what no context examines.

use std::collections::BTreeSet;

use model::isa::Instruction;

use super::ask::RefinementCase;
use super::bind::bind;
use super::fault::{self, FaultLines};
use super::judge::{JudgedSetup, LocatedFinding, SIDES};
use crate::cited;
use crate::context::Context;
use crate::judgement::Refinement;
use crate::refiner::ContextResult;
use crate::verdict::{Finding, Verdict};

/// A note if the outcome of a context needs that `red` does not count as a read for an acquire: reading R11.
pub(super) fn reduction(case: &mut RefinementCase<'_>, context: &Context) -> Option<String> {
    let source = case.program(context, false).ok()??;
    let mut target = case.program(context, true).ok()??;
    let threads = &mut target.threads[..context.judged_threads()];
    let mut any = false;
    for line in threads.iter_mut().flat_map(|thread| &mut thread.lines) {
        if let Instruction::Atomic(atomic) = &mut line.instruction {
            any |= std::mem::take(&mut atomic.reduction);
        }
    }
    let found = any.then(|| case.compare(&source, &target));
    (found == Some(ContextResult::Nothing)).then(|| cited::reduction(" in this context"))
}

/// The finding of a target with a load of read-only data that the source does not promise: code around the function may
/// write what it reads, also if no context of the source may.
pub(super) fn unpromised(cases: &[JudgedSetup<'_>]) -> Option<LocatedFinding> {
    let (case, scans, _) = cases.first()?;
    let (line, text) = fault::unpromised(case, scans)?;
    let why = format!("line {line}: {}", cited::unpromised(&text));
    Some((Finding::new(Verdict::Outside, why), FaultLines::of(case, scans, Some(line))))
}

/// A note on the memory that no thread of a context writes, as the source promises, or because its loads require that:
/// reading R12.
pub(super) fn promised(cases: &[JudgedSetup<'_>]) -> Option<String> {
    let (case, scans, _) = cases.first()?;
    let uses = scans[0].uses.iter().filter(|one| one.promised || one.constant);
    let names: BTreeSet<&str> =
        uses.map(|one| case.setup.memory[one.place.memory].name.as_str()).collect();
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| cited::promised(&names.join(" and ")))
}

/// The maximum number of notes on code that no context reaches.
const UNSEEN: usize = 3;

/// Notes on the comparisons that go the same way in every context.
pub(super) fn unseen(
    cases: &[JudgedSetup<'_>],
    one_sided: &[Vec<(usize, bool)>; 2],
) -> Vec<String> {
    let Some((case, ..)) = cases.first() else { return Vec::new() };
    let mut all = Vec::new();
    for (side, name) in SIDES.into_iter().enumerate() {
        let function = [case.source, case.target][side];
        let Ok(bound) = bind(&case.setup, function, &Default::default()) else { continue };
        // Calls, returns and ends of relocatable code are compared with what callers expect, which is not a condition of
        // the program.
        let of_calls = |line: usize| {
            let row = bound.rows.get(line).copied().flatten();
            row.is_some_and(|row| {
                let text = &function.rows[row].text;
                text.is_empty() || ["RET.", "CALL."].iter().any(|opcode| text.contains(opcode))
            })
        };
        let mut lines: Vec<(usize, bool)> = one_sided[side]
            .iter()
            .filter(|(line, _)| !of_calls(*line))
            .map(|&(line, holds)| (bound.line(function, line), holds))
            .collect();
        lines.dedup();
        let more = lines.len().saturating_sub(UNSEEN);
        all.extend(lines.into_iter().take(UNSEEN).map(|(line, holds)| {
            let way = if holds { "holds" } else { "fails" };
            format!("the condition at line {line} of the {name} {way} in every context: the other way is not examined")
        }));
        if more > 0 {
            all.push(format!("so do {more} other conditions of the {name}"));
        }
    }
    all
}

/// A note on the first comparison that has one result with all that other threads write.
pub(super) fn one_result(cases: &[JudgedSetup<'_>], unmoved: &[Vec<usize>; 2]) -> Option<String> {
    let (case, ..) = cases.first()?;
    let of = |side: usize| {
        let function = [case.source, case.target][side];
        let bound = bind(&case.setup, function, &Default::default()).ok()?;
        let line = bound.line(function, *unmoved[side].first()?);
        let name = SIDES[side];
        Some(format!(
            "the comparison at line {line} of the {name} has one result with all that other threads write: no advice is given"
        ))
    };
    (0..SIDES.len()).find_map(of)
}
