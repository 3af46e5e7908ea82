//! The law of lowering tables: what the tables make of a program promises what the program asks for.

use litmus::arbitrary::placed::ProgramKind;
use refine::table::test::judge;
use refine::verdict::Verdict;
use refine::{JudgeSettings, Models};
use sass::lowering::families;

use super::{CaseEnd, Disagreement, FuzzSetting, Law, LawCase};
use crate::draw::ProgramSource;

pub(super) const PROMISES: Law = Law {
    name: "promises",
    statement: "what a lowering table makes of a program adds no outcome, by the promises of the instructions",
    sources: &[
        ProgramSource::Ordered,
        ProgramSource::Ordered,
        ProgramSource::Cycles,
        ProgramSource::Placed(ProgramKind::Ring),
    ],
    check: promises,
};

thread_local! {
    /// The models of both sides, which the cases of a thread share.
    static MODELS: Models = Models::default();
}

/// Whether what an acquire atomic writes may be part of a cycle: a thread loads and stores the location of the atomic of
/// another one. At CTA scope no instruction of its own follows the atomic: what it acquires is after a wait for its value, which is
/// no part of a unit (reading R66).
fn orders_itself(case: &LawCase<'_>) -> bool {
    let address = |cell: &str| {
        let (_, rest) = cell.split_once('[')?;
        Some(rest.split_once(']')?.0.to_owned())
    };
    let is = |cell: &str, names: &[&str]| names.iter().any(|name| cell.starts_with(name));
    let threads = &case.program.threads;
    threads.iter().enumerate().any(|(here, thread)| {
        let ordered = |cell: &&String| {
            let order = [".acquire.cta.", ".acq_rel.cta."];
            is(cell, &["atom.", "red."]) && order.iter().any(|order| cell.contains(order))
        };
        thread.cells.iter().filter(ordered).any(|atomic| {
            let at = address(atomic);
            threads.iter().enumerate().filter(|(there, _)| here != *there).any(|(_, other)| {
                let own = || other.cells.iter().filter(|cell| address(cell) == at);
                let loads = own().any(|cell| is(cell, &["ld.", "atom."]));
                let stores = own().any(|cell| is(cell, &["st.", "atom.", "red."]));
                loads && stores && own().count() > 1
            })
        })
    })
}

/// By one of the tables from `sm_70` on, before which there are no promises.
fn promises(setting: &FuzzSetting, case: &LawCase<'_>) -> Result<(), CaseEnd> {
    if orders_itself(case) {
        return Err(CaseEnd::Skipped("an atomic of CTA scope orders itself"));
    }
    let families = &families()[1..];
    let family = &families[usize::try_from(case.choice % families.len() as u64).unwrap_or(0)];
    let faulty = setting.table.as_ref().filter(|table| table.targets == family.table.targets);
    let table = faulty.unwrap_or(&family.table);
    let finding = MODELS.with(|models| judge(case.test, table, &JudgeSettings::new(models)));
    let Some(finding) = finding else {
        return Err(CaseEnd::Skipped("the table does not lower it"));
    };
    match finding.verdict {
        Verdict::Preserved | Verdict::Stronger => Ok(()),
        Verdict::Unsupported | Verdict::Outside => {
            Err(CaseEnd::Skipped("the table does not lower it"))
        }
        Verdict::Undecided => Err(CaseEnd::Skipped("a limit was reached")),
        Verdict::Weaker | Verdict::WrongValue | Verdict::Invalid => {
            let why = format!("{} of {}: {}", finding.verdict.name(), family.name, finding.why);
            let command = || {
                format!("causeway lower --table crates/sass/lowering/{}.table FILE", family.name)
            };
            Err(CaseEnd::Broken(Box::new(Disagreement {
                what: format!("{why}: {}", finding.outcome.unwrap_or_default()),
                outcome: None,
                replay: faulty.is_none().then(command),
            })))
        }
    }
}
