//! Litmus tests as a table lowers them: the target must have no outcome that the source forbids.

use std::collections::BTreeSet;

use litmus::{Dialect, Test};
use machine::Options;
use machine::form::Family;
use model::program::Program;
use model::rel::Model;
use sass::lower::Lowering;
use sass::lowering::LoweringTable;

use super::lifted;
use crate::language::{CXX, PTX};
use crate::refiner::{AllowedOutcomes, EngineRun, Outcome};
use crate::rows::JudgeSettings;
use crate::run::{forbidden, numbered};
use crate::verdict::{Finding, Refuter, Verdict};

/// Judges a test as a table lowers it; `None` if the table does not lower the test's language.
pub fn judge(test: &Test, table: &LoweringTable, setting: &JudgeSettings<'_>) -> Option<Finding> {
    if test.sass.is_some() || (test.dialect == Dialect::Cxx) != table.cxx {
        return None;
    }
    if let Some((_, _, why)) = test.program.unsupported() {
        return Some(Finding::new(Verdict::Unsupported, why));
    }
    // Accesses of tests may tear. The verdict of a test follows the document literally.
    let refiner = setting.refiner;
    let ptx = refiner.model(PTX, refiner.tearing);
    let source = refiner.model(if table.cxx { CXX } else { PTX }, refiner.tearing);
    let allowed = match outcomes(&test.program, source, setting) {
        Ok(allowed) => allowed,
        Err(finding) => return Some(*finding),
    };
    let targets: &[u16] = if table.cxx { &[0] } else { &table.targets };
    let mut finding = Finding::new(Verdict::Preserved, "no outcome is added");
    let worse = |a: &Finding, b: &Finding| (a.exit(true), a.racy) > (b.exit(true), b.racy);
    // Most targets of one family have the same rows.
    let mut done: Vec<Program> = Vec::new();
    for &sm in targets {
        let one = match lifted::lifted(&test.program, table, sm) {
            Ok(target) if done.contains(&target) => continue,
            Ok(target) => {
                let one = on(test, &target, table, sm, ptx, &allowed, setting);
                done.push(target);
                one
            }
            Err(why) => Finding::new(Verdict::Unsupported, why),
        };
        if worse(&one, &finding) {
            finding = one;
        }
    }
    Some(finding)
}

fn on(
    test: &Test,
    target: &Program,
    table: &LoweringTable,
    sm: u16,
    ptx: &Model,
    allowed: &AllowedOutcomes,
    setting: &JudgeSettings<'_>,
) -> Finding {
    let found = match outcomes(target, ptx, setting) {
        Ok(found) => found,
        Err(finding) => return *finding,
    };
    let short: BTreeSet<_> =
        allowed.outcomes.iter().map(|outcome| test.narrowed(outcome)).collect();
    // Before sm_70 there are no promises. The machine is held to reading R61.
    let promises = table.cxx || Family::of_or_before(sm).has_scopes();
    let mut found = found.outcomes.iter().filter(|_| promises);
    let extra = found.find(|outcome| !short.contains(&test.narrowed(outcome)));
    let run = (!table.cxx).then(|| run(test, table, sm, allowed)).flatten();
    let Some(outcome) = extra.cloned().or_else(|| run.as_ref().map(|(outcome, _)| outcome.clone()))
    else {
        return Finding::new(Verdict::Preserved, "no outcome is added");
    };
    let by = match (extra, &run) {
        _ if table.cxx => Refuter::Axioms,
        (Some(_), Some(_)) => Refuter::ContractAndMachine,
        (Some(_), None) => Refuter::Contract,
        (None, _) => Refuter::Machine,
    };
    let on = if table.cxx { String::new() } else { format!(" on sm_{sm}") };
    let why = format!("it has an outcome{on} that the source forbids");
    Finding {
        by: Some(by),
        outcome: Some(test.display_outcome(&outcome)),
        run: run.map(|(_, run)| run),
        ..Finding::new(Verdict::Weaker, why)
    }
}

fn outcomes(
    program: &Program,
    model: &Model,
    setting: &JudgeSettings<'_>,
) -> Result<AllowedOutcomes, Box<Finding>> {
    let found = |verdict, why: &str| Err(Box::new(Finding::new(verdict, why)));
    match setting.refiner.allowed(&EngineRun { model, program, masks: Vec::new() }) {
        Ok(allowed) if allowed.undefined => {
            let why = "the program is undefined: any outcome is possible";
            found(Verdict::Preserved, why)
        }
        Err(why) => found(Verdict::Undecided, why),
        Ok(allowed) if allowed.cut => found(Verdict::Undecided, "a loop was cut at its bound"),
        Ok(allowed) => Ok(allowed),
    }
}

/// A run of the machine with an outcome that is not among these.
fn run(
    test: &Test,
    table: &LoweringTable,
    sm: u16,
    allowed: &AllowedOutcomes,
) -> Option<(Outcome, String)> {
    const STATES: usize = 200_000;
    let lowering = Lowering { table, ..Lowering::of(sm)? };
    let options = Options { lazy_all: true, ..Options::DEFAULT };
    // Registers are compared by their own bits.
    let allowed: BTreeSet<_> =
        allowed.outcomes.iter().map(|outcome| test.narrowed(outcome)).collect();
    let is_allowed = |outcome: &[_]| allowed.contains(&test.narrowed(outcome));
    let found = forbidden(&test.program, lowering, options, STATES, &is_allowed).ok()??;
    Some((found.0.into(), numbered(&found.1)))
}
