//! What other threads of the same CTA show: a target that waits for ever, or faults, where the source ends.
//!
//! The threads of a CTA run one function and have different numbers, so that some of them may meet a barrier in one arm
//! of a condition, and the others one in the other arm.

use std::collections::BTreeSet;

use lift::function::Function;
use model::isa::Instruction;
use model::program::{Program, Stays, Stuck};

use super::ask::{RefinementCase, renumbered};
use super::bind::{Setup, bind};
use super::fault::FaultLines;
use super::further_inputs::grown;
use super::inputs::{checked, scanned};
use super::judge::{JudgedSetup, LocatedFinding};
use super::scan::{ByteRange, ThreadScan, written};
use crate::context::Context;
use crate::judgement::Refinement;
use crate::refiner::{Patience, Refiner};
use crate::verdict::{Finding, Verdict};

/// The maximum number of choices of inputs with which two threads of a CTA run.
const MOST: usize = 4;

/// The work of an engine for one side and one of them.
const WORK: u64 = 100_000;

/// The part of the time of a program for all of them.
const SHARE: u32 = 8;

/// The special registers that tell the threads of a CTA apart, and what the second one has there.
const SECOND: [(&str, u64); 2] = [("tid.x", 1), ("laneid", 1)];

/// Runs both sides by two threads of a CTA. Returns the finding if the source ends and the target does not, and a note if
/// the threads of a warp are at different barriers of the target.
pub(super) fn compare(cases: &[JudgedSetup<'_>]) -> (Option<LocatedFinding>, Option<String>) {
    let meets = |function: &Function| {
        let mut lines = function.rows.iter().flat_map(|row| &row.lines);
        lines.any(|step| matches!(step.line.instruction, Instruction::Barrier(_)))
    };
    let mut note = None;
    let Some((first, ..)) = cases.first() else { return (None, None) };
    if !meets(first.target) {
        return (None, None);
    }
    let limited = first.refiner.within(SHARE);
    let patience = Patience { work: Some(WORK), ..limited.patience };
    let refiner = Refiner { patience, ..limited };
    for (case, ..) in cases.iter().take(MOST) {
        let Some(threads) = TwoThreads::new(case, refiner) else { continue };
        if let Some(found) = threads.stays() {
            return (Some(found), None);
        }
        note = note.or_else(|| threads.apart());
    }
    (None, note)
}

/// Two threads of a CTA.
struct TwoThreads<'c, 'a> {
    case: &'c RefinementCase<'a>,
    refiner: Refiner<'a>,
    sides: [&'a Function; 2],
    /// The inputs of each.
    setups: [Setup; 2],
    /// What each does without other threads.
    scans: [[ThreadScan; 2]; 2],
}

impl<'c, 'a> TwoThreads<'c, 'a> {
    /// `None` if they cannot run without other threads.
    fn new(case: &'c RefinementCase<'a>, refiner: Refiner<'a>) -> Option<TwoThreads<'c, 'a>> {
        let sides = [checked(case.source), case.target];
        let mut second = case.setup.clone();
        for (name, value) in SECOND {
            second.special.insert(name.to_owned(), value);
        }
        let their_scans = grown(&mut second, sides, &refiner).ok()?;
        let mut first = second.clone();
        first.special.clone_from(&case.setup.special);
        let our_scans = grown(&mut first, sides, &refiner).ok()?;
        let scans = [our_scans, their_scans];
        (first.memory == second.memory).then_some(TwoThreads {
            case,
            refiner,
            sides,
            setups: [first, second],
            scans,
        })
    }

    /// Both threads run one side.
    fn program(&self, side: usize) -> Option<Program> {
        let [first, second] = self.setups.each_ref().map(|setup| {
            bind(setup, self.sides[side], &Default::default()).ok().map(|bound| bound.program)
        });
        let (mut program, second) = (first?, second?);
        let second = second.threads.into_iter().next()?;
        program.threads.push(renumbered(second, 1));
        "P1".clone_into(&mut program.threads[1].name);
        let mut shared: BTreeSet<ByteRange> = BTreeSet::new();
        for setup in &self.setups {
            let all = scanned(setup, [self.sides[side]; 2], &self.refiner, written).ok()?;
            shared.extend(all.into_iter().flatten());
        }
        program.contested = Some(shared.into_iter().map(|place| place.contested(None)).collect());
        program.sizes_agree = true;
        Some(program)
    }

    /// The finding if the target may wait for ever, or fault, and the source does not.
    fn stays(&self) -> Option<LocatedFinding> {
        let stuck = |side: usize| {
            let program = self.program(side)?;
            let seen = self.refiner.facts(&self.case.engine_run(&program, side == 1)).ok()?;
            let known = seen.undefined.is_none() && !seen.bound_reached && seen.stuck_is_known;
            known.then_some(seen.stuck.unwrap_or_default())
        };
        if !stuck(0)?.is_empty() {
            return None;
        }
        let Stuck { thread, line, why, .. } = *stuck(1)?.first()?;
        let target = self.case.target;
        let bound = bind(&self.setups[0], target, &Default::default()).ok()?;
        let at = bound.line(target, line.into());
        let stays = match why {
            Stays::Waits => "waits for ever",
            Stays::Loops => "repeats a loop for ever",
            Stays::Faults => "faults",
        };
        let why = format!(
            "run by two threads of a CTA, thread {} of the target {stays} at line {at}, and the source ends",
            thread.0
        );
        let lines = FaultLines { source: None, target: Some(at) };
        Some((Finding::new(Verdict::WrongValue, why), lines))
    }

    /// A note if the two threads, which are of one warp, are at different aligned barriers of the target: 9.7.15.1.
    fn apart(&self) -> Option<String> {
        let met = |side: usize| {
            let [first, second] = self.scans.each_ref().map(|scans| &scans[side].aligned);
            let (first, second) = (first.first()?, second.first()?);
            let differs = |(own, other): &(&usize, &usize)| own != other;
            let pair = first.iter().zip(second).find(differs);
            Some(pair.map(|(own, other)| (*own, *other)))
        };
        let ((own, other), None) = (met(1)??, met(0)?) else { return None };
        let target = self.case.target;
        let bound = bind(&self.setups[0], target, &Default::default()).ok()?;
        let [own, other] = [own, other].map(|line| bound.line(target, line));
        Some(format!(
            "threads of one warp come to different barriers of the target, at line {own} and at line {other}: aligned barriers \
             have to be executed by all threads of a warp together"
        ))
    }
}

/// Whether the source is undefined in a context, by what is checked of it where it runs alone: an alignment that it
/// promises.
pub(super) fn is_undefined(case: &RefinementCase<'_>, context: &Context) -> bool {
    let Some(function) = case.source.checked.as_deref() else { return false };
    let faults = || {
        let bound = bind(&case.setup, function, &case.frame(context, false)?).ok()?;
        let results = case.results(function);
        let mut program = case.around(bound.program, context, false, &results)?;
        program.contested = Some(case.contested(&program, context, false));
        let seen = case.refiner.facts(&case.engine_run(&program, false)).ok()?;
        Some(seen.undefined.is_some())
    };
    faults().unwrap_or(true)
}
