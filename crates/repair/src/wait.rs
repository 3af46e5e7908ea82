//! Waits for asynchronous operations: where one may be missing, or is for another phase or for too little.
//!
//! A wait may also keep a program from finishing, so that more of them are not always better: they are not made all at
//! once, as other edits are.

use std::collections::{BTreeMap, BTreeSet};

use litmus::revise::SourceTest;
use model::isa::asynchronous::{
    Asynchronous, AwaitedPhase, GroupCompletion, GroupKind, Mbarrier, MbarrierOp, Track, WaitGroup,
};
use model::isa::tensor_memory::{CtaGroup, TensorMultiply, TensorOp, TensorWait};
use model::isa::{Address, Operand};
use model::memory::VariableId;

use crate::edit::{self, EditCost, EditKind, EditedLine, ProgramEdit};
use crate::question::Questions;
use crate::site::{asynchronous, is_crossed, is_event};

/// The most places of one test where a wait for a phase is tried.
const MOST_PLACES: usize = 200;

/// The most groups of which fewer are tried to stay in flight.
const MOST_GROUPS: u64 = 16;

/// Each wait that may be changed or inserted, cheaper ones first, or those that are found before the search ends: for each
/// change the test is read again.
pub(crate) fn waits(source: &SourceTest, questions: &mut Questions<'_>) -> Vec<ProgramEdit> {
    if !source.test.program.is_asynchronous() {
        return Vec::new();
    }
    let mut all = Vec::new();
    let objects = objects(source);
    for thread in 0..source.cells.len() {
        for cell in 0..source.cells[thread].len() {
            let lines = &source.test.program.threads[thread].lines;
            let lines = lines.get(source.cells[thread][cell].lines.clone()).unwrap_or_default();
            for of in lines.iter().filter_map(|line| line.instruction.as_asynchronous()) {
                all.extend(other_parity(source, (thread, cell), of));
                all.extend(more_groups(source, (thread, cell), of));
                all.extend(other_number(source, (thread, cell), of));
                all.extend(expectation(source, (thread, cell), of));
                all.extend(counted_once(source, (thread, cell), of));
                all.extend(other_object(source, (thread, cell), of, &objects));
            }
        }
    }
    all.extend(everywhere(&all));
    all.extend(groups(source));
    all.extend(tensor_commits(source, &objects));
    all.extend(phases(source));
    all.retain(|edit: &ProgramEdit| {
        !questions.is_at_end() && source.parse(&edit.revisions).is_ok()
    });
    all.sort_by_key(|edit| edit.cost);
    all
}

/// The same change of each instruction of a thread with the same text: of code in a loop, a test has one for each round.
fn everywhere(all: &[ProgramEdit]) -> Vec<ProgramEdit> {
    let mut by_change: BTreeMap<(EditKind, [&str; 3]), Vec<&ProgramEdit>> = BTreeMap::new();
    for edit in all {
        let [EditedLine { thread, before: Some(before), after: Some(after), .. }] = &edit.lines[..]
        else {
            continue;
        };
        by_change.entry((edit.kind, [thread, before, after])).or_default().push(edit);
    }
    let together = by_change.into_values().filter(|edits| edits.len() > 1).map(|edits| {
        let more = u32::try_from(edits.len() - 1).unwrap_or(u32::MAX);
        let cost = edits[0].cost;
        ProgramEdit {
            kind: edits[0].kind,
            cost: EditCost { weight: cost.weight.saturating_add(more), ..cost },
            lines: edits.iter().flat_map(|edit| edit.lines.iter().cloned()).collect(),
            revisions: edits.iter().flat_map(|edit| edit.revisions.iter().cloned()).collect(),
        }
    });
    together.collect()
}

/// The mbarrier objects that the test declares.
fn objects(source: &SourceTest) -> Vec<VariableId> {
    let declared = (0..).map(VariableId).zip(&source.test.declarations.variables);
    declared.filter(|(_, declared)| declared.mbarrier).map(|(variable, _)| variable).collect()
}

/// Another asynchronous instruction in the place of one.
pub(crate) fn other(
    source: &SourceTest,
    place: (usize, usize),
    of: Asynchronous,
    cost: (EditKind, EditCost),
) -> Option<ProgramEdit> {
    Some(edit::replacement(source, place, edit::text_of(source, place.0, of)?, cost))
}

/// Another operation on the same mbarrier object.
fn other_op(
    source: &SourceTest,
    place: (usize, usize),
    of: &Mbarrier,
    op: MbarrierOp,
    cost: (EditKind, EditCost),
) -> Option<ProgramEdit> {
    other(source, place, Asynchronous::Mbarrier(Mbarrier { op, ..of.clone() }), cost)
}

/// The most objects of a test of which an arrival or a wait is tried on another one.
const MOST_OBJECTS: usize = 4;

/// An arrival or a wait on another object.
fn other_object(
    source: &SourceTest,
    place: (usize, usize),
    instruction: &Asynchronous,
    objects: &[VariableId],
) -> Vec<ProgramEdit> {
    let Asynchronous::Mbarrier(of) = instruction else { return Vec::new() };
    let meets = matches!(of.op, MbarrierOp::Arrive { .. } | MbarrierOp::Wait { .. });
    let Some(own) = named(of, objects).filter(|_| meets && objects.len() <= MOST_OBJECTS) else {
        return Vec::new();
    };
    let others = objects.iter().filter(|object| **object != own);
    let with = |object: &VariableId| {
        let object = Address { base: Operand::Address(*object), offset: 0 };
        let of = Asynchronous::Mbarrier(Mbarrier { object, ..of.clone() });
        other(source, place, of, (EditKind::Object, edit::NUMBER))
    };
    others.filter_map(with).collect()
}

/// The object that an instruction names.
fn named(of: &Mbarrier, objects: &[VariableId]) -> Option<VariableId> {
    let Address { base: Operand::Address(object), offset: 0 } = of.object else { return None };
    Some(object).filter(|object| objects.contains(object))
}

/// A wait for the phases of the other parity.
fn other_parity(
    source: &SourceTest,
    place: (usize, usize),
    instruction: &Asynchronous,
) -> Option<ProgramEdit> {
    let Asynchronous::Mbarrier(of) = instruction else { return None };
    let MbarrierOp::Wait { phase: AwaitedPhase::Parity(Operand::Imm(parity)), tries, done } = of.op
    else {
        return None;
    };
    let phase = AwaitedPhase::Parity(Operand::Imm(parity ^ 1));
    let op = MbarrierOp::Wait { phase, tries, done };
    other_op(source, place, of, op, (EditKind::Parity, edit::PARITY))
}

/// Waits for more groups, or also for what they write.
fn more_groups(
    source: &SourceTest,
    place: (usize, usize),
    instruction: &Asynchronous,
) -> Vec<ProgramEdit> {
    let Asynchronous::WaitGroup(wait) = *instruction else { return Vec::new() };
    let fewer = (0..wait.pending.min(MOST_GROUPS)).rev();
    let fewer = fewer.map(|pending| WaitGroup { pending, ..wait });
    let complete = WaitGroup { until: GroupCompletion::Complete, ..wait };
    let complete = Some(complete).filter(|complete| *complete != wait);
    let all = fewer.chain(complete).map(Asynchronous::WaitGroup);
    let cost = (EditKind::GroupWait, edit::GROUP_WAIT);
    all.filter_map(|of| other(source, place, of, cost)).collect()
}

/// The expected bytes of the copies of the test instead of others, alone or together; one arrival more or less.
fn other_number(
    source: &SourceTest,
    place: (usize, usize),
    instruction: &Asynchronous,
) -> Vec<ProgramEdit> {
    let Asynchronous::Mbarrier(of) = instruction else { return Vec::new() };
    let bytes = || copied(source).into_iter().map(Operand::Imm);
    let mut kind = EditKind::ExpectedBytes;
    let others: Vec<MbarrierOp> =
        if let MbarrierOp::Init { count: Operand::Imm(count), layout } = of.op {
            kind = EditKind::Count;
            let counts = [count.saturating_sub(1).max(1), count.saturating_add(1)];
            counts.map(|count| MbarrierOp::Init { count: Operand::Imm(count), layout }).into()
        } else if let MbarrierOp::ExpectTx { bytes: Operand::Imm(_) } = of.op {
            bytes().map(|bytes| MbarrierOp::ExpectTx { bytes }).collect()
        } else if let MbarrierOp::Arrive { expected: Some(Operand::Imm(_)), .. } = of.op {
            bytes().filter_map(|bytes| expecting(of, bytes)).collect()
        } else {
            return Vec::new();
        };
    let others = others.into_iter().filter(|op| *op != of.op);
    others.filter_map(|op| other_op(source, place, of, op, (kind, edit::NUMBER))).collect()
}

/// An arrival that also expects the bytes of a copy.
fn expectation(
    source: &SourceTest,
    place: (usize, usize),
    instruction: &Asynchronous,
) -> Vec<ProgramEdit> {
    let Asynchronous::Mbarrier(of) = instruction else { return Vec::new() };
    let MbarrierOp::Arrive { expected: None, drops: false, count, completes: true, .. } = of.op
    else {
        return Vec::new();
    };
    let cost = (EditKind::ExpectedBytes, edit::EXPECTATION);
    let with = |bytes: u64| other_op(source, place, of, expecting(of, Operand::Imm(bytes))?, cost);
    let bytes = copied(source).into_iter().filter(|bytes| *bytes > 0 && count == Operand::Imm(1));
    bytes.filter_map(with).collect()
}

/// An arrival that expects bytes.
fn expecting(of: &Mbarrier, bytes: Operand) -> Option<MbarrierOp> {
    let mut op = of.op.clone();
    let MbarrierOp::Arrive { expected, .. } = &mut op else { return None };
    *expected = Some(bytes);
    Some(op)
}

/// `cp.async.mbarrier.arrive` with `.noinc` or without it.
fn counted_once(
    source: &SourceTest,
    place: (usize, usize),
    instruction: &Asynchronous,
) -> Option<ProgramEdit> {
    let Asynchronous::Track(track) = instruction else { return None };
    let of = Asynchronous::Track(Track { increments: !track.increments, ..track.clone() });
    other(source, place, of, (EditKind::Count, edit::NUMBER))
}

/// The bytes of each copy that completes on an mbarrier object, and of all of them.
fn copied(source: &SourceTest) -> Vec<u64> {
    let lines = source.test.program.threads.iter().flat_map(|thread| &thread.lines);
    let copies = lines.filter_map(|line| {
        let Asynchronous::Copy(copy) = line.instruction.as_asynchronous()? else { return None };
        let bytes = copy.bytes.filter(|_| copy.mbarrier.is_some())?;
        if let Operand::Imm(bytes) = bytes { Some(bytes) } else { None }
    });
    let mut all: Vec<u64> = copies.collect();
    all.push(all.iter().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes)));
    all.sort_unstable();
    all.dedup();
    all
}

/// A wait for what a thread has started, a commit before a wait for groups, and a fence of the registers of `wgmma`.
fn groups(source: &SourceTest) -> Vec<ProgramEdit> {
    let mut all = Vec::new();
    for (thread, cells) in source.cells.iter().enumerate() {
        let lines = &source.test.program.threads[thread].lines;
        let asynchronous = |line: usize| lines.get(line)?.instruction.as_asynchronous();
        for cell in 0..=cells.len() {
            let at = cells.get(cell).map_or(lines.len(), |cell| cell.lines.start);
            if is_crossed(source, thread, cell) {
                continue;
            }
            let mut insert = |of: Asynchronous, cost: (EditKind, EditCost)| {
                let text = edit::text_of(source, thread, of);
                all.extend(
                    text.map(|text| edit::insertion(source, &[(thread, cell)], &text, cost)),
                );
            };
            let next = asynchronous(at);
            // Of places with only arithmetic between them the first one is enough.
            let first = cell > 0 && is_event(source, thread, cell - 1);
            let started: BTreeSet<Started> = (0..at)
                .filter_map(asynchronous)
                .filter_map(Started::by)
                .filter(|_| first)
                .collect();
            for started in started {
                if started == Started::Groups(GroupKind::BulkCopies) {
                    let read = all_groups(GroupKind::BulkCopies, GroupCompletion::Read);
                    insert(read, (EditKind::GroupWait, edit::NEW_READ_WAIT));
                }
                let (wait, cost) = started.wait();
                insert(wait, (EditKind::GroupWait, cost));
            }
            if let Some(Asynchronous::WaitGroup(WaitGroup { of, commits: false, .. })) = next {
                insert(Asynchronous::Commit(*of), (EditKind::Commit, edit::COMMIT));
            }
            if let Some(Asynchronous::Multiply(_)) = next {
                let cost = (EditKind::RegisterFence, edit::REGISTER_FENCE);
                insert(Asynchronous::MultiplyFence, cost);
            }
        }
    }
    all
}

/// A `tcgen05.commit` on an object after operations on tensor memory that one can track, or in the place of an arrival.
fn tensor_commits(source: &SourceTest, objects: &[VariableId]) -> Vec<ProgramEdit> {
    let mut all = Vec::new();
    let name = |object: VariableId| &source.test.program.variables[usize::from(object.0)].name;
    if objects.len() > MOST_OBJECTS {
        return all;
    }
    for (thread, cells) in source.cells.iter().enumerate() {
        // That of the latest such operation.
        let mut group = None;
        for cell in 0..cells.len() {
            let place = (thread, cell);
            let own = asynchronous(source, thread, cell).find_map(tracked_group);
            if let Some(own) = own {
                let cost = (EditKind::Commit, edit::TENSOR_COMMIT);
                all.extend(objects.iter().map(|object| {
                    let text = commit(own, name(*object));
                    edit::insertion(source, &[(thread, cell + 1)], &text, cost)
                }));
                group = Some(own);
            }
            let object =
                asynchronous(source, thread, cell).find_map(|of| named(arrival(of)?, objects));
            if let (Some(group), Some(object)) = (group, object) {
                let cost = (EditKind::Commit, edit::ARRIVAL_TO_COMMIT);
                all.push(edit::replacement(source, place, commit(group, name(object)), cost));
            }
        }
    }
    all
}

fn commit(group: CtaGroup, object: &str) -> String {
    let group = match group {
        CtaGroup::One => 1,
        CtaGroup::Two => 2,
    };
    format!(
        "tcgen05.commit.cta_group::{group}.mbarrier::arrive::one.shared::cluster.b64 [{object}]"
    )
}

/// An arrival on an mbarrier object that expects nothing.
fn arrival(of: &Asynchronous) -> Option<&Mbarrier> {
    let Asynchronous::Mbarrier(of) = of else { return None };
    matches!(of.op, MbarrierOp::Arrive { expected: None, .. }).then_some(of)
}

/// The CTAs of an operation whose completion a `tcgen05.commit` tracks.
fn tracked_group(of: &Asynchronous) -> Option<CtaGroup> {
    let Asynchronous::TensorMemory(of) = of else { return None };
    if let TensorOp::Copy { group, .. }
    | TensorOp::Shift { group, .. }
    | TensorOp::Multiply(TensorMultiply { group, .. }) = of
    {
        Some(*group)
    } else {
        None
    }
}

/// What a thread has started, and can wait for by itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Started {
    Groups(GroupKind),
    /// `cp.async`, in a group or not.
    Copies,
    TensorLoads,
    TensorStores,
}

impl Started {
    fn by(instruction: &Asynchronous) -> Option<Started> {
        if let Asynchronous::Commit(kind) = instruction {
            return Some(Started::Groups(*kind));
        }
        let copies = matches!(instruction, Asynchronous::Copy(copy) if !copy.bulk);
        let Asynchronous::TensorMemory(of) = instruction else {
            return copies.then_some(Started::Copies);
        };
        let loads = matches!(of, TensorOp::Load { .. }).then_some(Started::TensorLoads);
        loads.or(matches!(of, TensorOp::Store { .. }).then_some(Started::TensorStores))
    }

    /// The wait for all of them, and what it costs.
    fn wait(self) -> (Asynchronous, EditCost) {
        let tensor = |of: TensorWait| Asynchronous::TensorMemory(TensorOp::Wait(of));
        let wait = match self {
            Started::Groups(kind) => all_groups(kind, GroupCompletion::Complete),
            Started::Copies => {
                let wait = WaitGroup {
                    of: GroupKind::Copies,
                    pending: 0,
                    until: GroupCompletion::Complete,
                    commits: true,
                };
                return (Asynchronous::WaitGroup(wait), edit::WAIT_ALL);
            }
            Started::TensorLoads => tensor(TensorWait::Loads),
            Started::TensorStores => tensor(TensorWait::Stores),
        };
        (wait, edit::NEW_GROUP_WAIT)
    }
}

/// A wait for all groups of a kind.
fn all_groups(of: GroupKind, until: GroupCompletion) -> Asynchronous {
    Asynchronous::WaitGroup(WaitGroup { of, pending: 0, until, commits: false })
}

/// A loop that waits for the end of a phase of an object that the test declares, at each place to which a thread comes
/// once.
fn phases(source: &SourceTest) -> Vec<ProgramEdit> {
    let of = &source.test;
    let objects = objects(source);
    let mut all = Vec::new();
    for (thread, cells) in source.cells.iter().enumerate() {
        let free = |stem: &str, used: &dyn Fn(&str) -> bool| {
            (0..=u16::MAX).map(|number| format!("{stem}{number}")).find(|name| !used(name))
        };
        let label = free("wait", &|name| {
            cells.iter().any(|cell| {
                cell.text.contains(name) || cell.labels.iter().any(|label| label == name)
            })
        });
        let registers = &of.program.threads[thread].registers;
        let ended = free("ended", &|name| registers.iter().any(|register| register.name == name));
        let (Some(label), Some(ended)) = (label, ended) else { continue };
        let once =
            |cell: &usize| is_event(source, thread, *cell) && !is_crossed(source, thread, *cell);
        for cell in (0..cells.len()).filter(once) {
            for object in &objects {
                for parity in 0..2 {
                    let object = &of.program.variables[usize::from(object.0)].name;
                    let text = format!(
                        "{label}: mbarrier.try_wait.parity.shared::cta.b64 {ended}, [{object}], {parity}\n@!{ended} bra {label}"
                    );
                    let kind = (EditKind::PhaseWait, edit::PHASE_WAIT);
                    all.push(edit::insertion(source, &[(thread, cell)], &text, kind));
                }
            }
        }
    }
    if all.len() > MOST_PLACES { Vec::new() } else { all }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use litmus::revise::SourceTest;

    use crate::question::Questions;
    use crate::{RepairOptions, RepairState, repair};

    /// The state of a test with a copy in P0 and these instructions in P1, and the edits of the first proposal.
    fn proposed(
        initial: &str,
        expected: u32,
        waits: &[&str],
        condition: &str,
    ) -> (RepairState, String) {
        let mut text = format!(
            "PTX test\nArch=sm_90a\n{{ {initial}\n.global .align 16 .b32 g[4]={{7}};\n.shared .align 16 .b32 s[4]; }}\n \
             P0@cta 0 | P1@cta 0 ;\n"
        );
        let arrives = format!("mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], {expected}");
        let copies =
            "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [g], 16, [b]";
        let issues = [&*arrives, copies];
        for row in 0..issues.len().max(waits.len()) {
            let cell = |of: &[&str]| of.get(row).copied().unwrap_or_default().to_owned();
            writeln!(text, " {} | {} ;", cell(&issues), cell(waits)).expect("a string takes it");
        }
        text += condition;
        let source = SourceTest::read("test", text.as_bytes()).expect("it is a test");
        let model = model::ptx::model();
        let repairs = repair(&source, &RepairOptions::new(&model));
        let lines = repairs.proposals.first().map_or(Vec::new(), |first| {
            first.edits.iter().flat_map(|edit| &edit.lines).map(ToString::to_string).collect()
        });
        (repairs.state, lines.join("; "))
    }

    const WAIT: [&str; 3] = [
        "L: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0",
        "@!p bra L",
        "ld.shared.u32 r0, [s]",
    ];

    #[test]
    fn a_wait_that_is_missing_or_for_another_phase_is_proposed() {
        let declared = ".shared .mbarrier b={1};";
        let (state, edits) = proposed(declared, 16, &WAIT, "exists (P1:r0=0)");
        assert_eq!((state, edits.as_str()), (RepairState::Forbidden, ""));
        let (state, edits) = proposed(declared, 16, &WAIT[2..], "exists (P1:r0=0)");
        assert!(matches!(state, RepairState::Undefined(_)), "{state:?}");
        assert_eq!(
            edits,
            "P1: insert `wait0: mbarrier.try_wait.parity.shared::cta.b64 ended0, [b], 0` before `ld.shared.u32 r0, [s]`; \
             P1: insert `@!ended0 bra wait0` before `ld.shared.u32 r0, [s]`"
        );
        let other = WAIT[0].replace(", 0", ", 1");
        let (_, edits) = proposed(declared, 16, &[&other, WAIT[1], WAIT[2]], "exists (P1:r0=0)");
        assert_eq!(edits, format!("P1: `{}` becomes `{}`", &other[3..], &WAIT[0][3..]));
    }

    /// Without its `%` it would be the number 1.
    #[test]
    fn a_register_keeps_its_percent_sign() {
        let declared = ".shared .mbarrier b={1}; .shared .mbarrier c={1};";
        let wait = "mbarrier.try_wait.parity.shared::cta.b64 p, [c], %1";
        let column = ["mov.u32 %1, 0", &format!("L: {wait}"), WAIT[1], WAIT[2]];
        let (_, edits) = proposed(declared, 16, &column, "exists (P1:r0=0)");
        assert_eq!(edits, format!("P1: `{wait}` becomes `{}`", wait.replace("[c]", "[b]")));
    }

    #[test]
    fn a_test_of_which_no_execution_finishes_gets_the_number_that_is_wrong() {
        let (state, edits) = proposed(".shared .mbarrier b={1};", 32, &WAIT, "exists (P1:r0=7)");
        assert!(matches!(state, RepairState::Stuck(_)), "{state:?}");
        assert!(
            edits.ends_with(
                "_, [b], 32` becomes `mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 16`"
            ),
            "{edits}"
        );
    }

    #[test]
    fn the_same_mistake_in_each_round_is_one_edit() {
        let round = |parity: u32, label: &str| {
            format!(
                " mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 32 ;\n \
                 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [g], 16, [b] ;\n \
                 {label}: mbarrier.try_wait.parity.shared::cta.b64 p, [b], {parity} ;\n @!p bra {label} ;\n"
            )
        };
        let text = format!(
            "PTX rounds\nArch=sm_90a\n{{ .shared .mbarrier b={{1}}; .global .align 16 .b32 g[4]={{7}}; \
             .shared .align 16 .b32 s[4]; }}\n P0@cta 0 ;\n{}{} ld.shared.u32 r0, [s] ;\nexists (P0:r0=7)\n",
            round(0, "L"),
            round(1, "M")
        );
        let source = SourceTest::read("test", text.as_bytes()).expect("it is a test");
        let model = model::ptx::model();
        let repairs = repair(&source, &RepairOptions::new(&model));
        let first = &repairs.proposals[0];
        assert_eq!((first.edits.len(), first.edits[0].lines.len()), (1, 2), "{first:?}");
        assert!(first.text.contains("_, [b], 16") && !first.text.contains("_, [b], 32"));
    }

    #[test]
    fn an_object_that_expects_too_many_arrivals_gets_another_count() {
        let text = "PTX count\nArch=sm_90a\n{ .shared .mbarrier b; }\n P0@cta 0 ;\n \
            mbarrier.init.shared::cta.b64 [b], 2 ;\n mbarrier.arrive.shared::cta.b64 _, [b] ;\n \
            L: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0 ;\n @!p bra L ;\nexists (P0:p=1)\n";
        let source = SourceTest::read("test", text.as_bytes()).expect("it is a test");
        let model = model::ptx::model();
        let repairs = repair(&source, &RepairOptions::new(&model));
        let lines: Vec<String> =
            repairs.proposals.iter().map(|of| of.edits[0].lines[0].to_string()).collect();
        let count = "P0: `mbarrier.init.shared::cta.b64 [b], 2` becomes `mbarrier.init.shared::cta.b64 [b], 1`";
        assert!(lines.iter().any(|line| line == count), "{lines:?}");
    }

    /// The first edit for a test of one thread with these instructions.
    fn first_of(instructions: &[&str]) -> String {
        let rows = format!(" {} ;\n", instructions.join(" ;\n "));
        let text = format!(
            "PTX test\nArch=sm_90a\n{{ .global .align 16 .b32 g[4]={{7}};\n.shared .align 16 .b32 s[4]={{1}};\nP0:d=s; }}\n \
             P0@cta 0 ;\n{rows}exists (P0:r0=0)\n"
        );
        let source = SourceTest::read("test", text.as_bytes()).expect("it is a test");
        let model = model::ptx::model();
        let repairs = repair(&source, &RepairOptions::new(&model));
        repairs.proposals[0].edits[0].lines[0].to_string()
    }

    #[test]
    fn a_wait_for_a_group_and_a_fence_of_registers_are_proposed() {
        let copy = "cp.async.cg.shared.global [s], [g], 16";
        let [commit, load] = ["cp.async.commit_group", "ld.shared.u32 r0, [s]"];
        assert_eq!(
            first_of(&[copy, commit, "cp.async.wait_group 1", load]),
            "P0: `cp.async.wait_group 1` becomes `cp.async.wait_group 0`"
        );
        assert_eq!(
            first_of(&[copy, commit, "cp.async.wait_group 4294967295", load]),
            "P0: `cp.async.wait_group 4294967295` becomes `cp.async.wait_group 0`"
        );
        assert_eq!(
            first_of(&[copy, commit, load]),
            format!("P0: insert `cp.async.wait_group 0` before `{load}`")
        );
        let multiply = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {r0, r91, r92, r93}, d, d, 1, 1, 1, 0, 0";
        let [commit, wait] = ["wgmma.commit_group.sync.aligned", "wgmma.wait_group.sync.aligned 0"];
        assert_eq!(
            first_of(&["mov.u32 r5, 1", multiply, commit, wait]),
            format!("P0: insert `wgmma.fence.sync.aligned` before `{multiply}`")
        );
    }

    #[test]
    fn no_changed_wait_is_read_after_the_end_of_the_search() {
        let text = "PTX copy\nArch=sm_90\n{ .global .b32 g[4]; .shared .align 16 .b32 s[4]; }\n P0@cta 0 ;\n \
             cp.async.cg.shared.global [s], [g], 16 ;\n cp.async.commit_group ;\n cp.async.wait_group 1 ;\n\
             exists (s[0]=0)\n";
        let source = SourceTest::read("test", text.as_bytes()).expect("it is a test");
        let model = model::ptx::model();
        let read = |questions: usize| {
            let options = RepairOptions { questions, ..RepairOptions::new(&model) };
            super::waits(&source, &mut Questions::new(&source, &options)).len()
        };
        assert_eq!(read(0), 0);
        assert!(read(1) > 0);
    }

    #[test]
    fn a_commit_of_tensor_memory_and_a_fence_of_initializations_are_proposed() {
        let first = |text: &str| {
            let source = SourceTest::read("test", text.as_bytes()).expect("it is a test");
            let model = model::ptx::model();
            let repairs = repair(&source, &RepairOptions::new(&model));
            repairs.proposals[0].edits[0].lines[0].to_string()
        };
        let wait = "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 q, [b], 0";
        let multiply = "tcgen05.mma.cta_group::1.kind::f16 [c], d, d, i, p";
        let text = format!(
            "PTX mma\nArch=sm_100a\n{{ .tmem .b32 c[4]; .shared .mbarrier b={{1}}; .shared .b32 s[4]={{2}}; P0:d=s; }}\n \
             P0@cta 0 | P1@cta 0 ;\n {multiply} | L: {wait} ;\n | @!q bra L ;\n \
             | tcgen05.ld.sync.aligned.32x32b.x1.b32 {{r0}}, [c] ;\n | tcgen05.wait::ld.sync.aligned ;\n\
             ~exists (P1:r0=0)\n"
        );
        let commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [b]";
        assert_eq!(first(&text), format!("P0: insert `{commit}` at the end"));
        let text = "PTX init\nArch=sm_90a\n{ .shared .mbarrier b; P1:rb=b@P0; }\n P0@cta 0,cluster 0 | P1@cta 1,cluster 0 ;\n \
             mbarrier.init.shared::cta.b64 [b], 1 | barrier.cluster.arrive.relaxed ;\n \
             barrier.cluster.arrive.relaxed | barrier.cluster.wait ;\n \
             barrier.cluster.wait | mbarrier.arrive.release.cluster.shared::cluster.b64 _, [rb] ;\n \
             mov.u32 r0, 0 | ;\n\
             ~exists (P0:r0=1)\n";
        assert_eq!(
            first(text),
            "P0: insert `fence.mbarrier_init.release.cluster` before `barrier.cluster.arrive.relaxed`"
        );
    }
}
