//! Waits for asynchronous operations, where one may be missing.
//!
//! A wait may also keep a program from finishing, so that more of them are not always better: they are not made all at
//! once, as other edits are.

use std::collections::{BTreeMap, BTreeSet};

use litmus::revise::SourceTest;
use model::isa::Operand;
use model::isa::asynchronous::{
    Asynchronous, AwaitedPhase, GroupCompletion, GroupKind, Mbarrier, MbarrierOp, WaitGroup,
};
use model::isa::tensor_memory::{CtaGroup, TensorMultiply, TensorOp, TensorWait};

use crate::copies::EqualThreads;
use crate::edit::{self, EditCost, EditKind, ProgramEdit};
use crate::edited::EditedLine;
use crate::known::KnownValues;
use crate::operand::{
    arrivals, beginnings, changed_operands, expecting_arrivals, flips, objects, objects_of,
    other_counts,
};
use crate::place::{CellPlace, InsertionPoint, first_points, is_event, points};
use crate::question::{Questions, RepairLimit};
use crate::site::{all_asynchronous, asynchronous};

/// The most places of one test where a wait for a phase is tried, and of a thread where an arrival is.
const MOST_PLACES: usize = 400;
const MOST_ARRIVALS: usize = 200;

/// Each wait that may be changed or inserted, cheaper ones first, or those that are found before the search ends: for each
/// change the test is read again.
pub(crate) fn waits(
    source: &SourceTest,
    copies: &EqualThreads,
    questions: &mut Questions<'_>,
) -> Vec<ProgramEdit> {
    if !source.test.program.is_asynchronous() {
        return Vec::new();
    }
    let firsts: Vec<usize> =
        (0..source.cells.len()).filter(|&thread| copies.is_first(thread)).collect();
    let known = KnownValues::new(&source.test.program);
    let mut all = Vec::new();
    for &thread in &firsts {
        for cell in 0..source.cells[thread].len() {
            for of in asynchronous(source, thread, cell) {
                all.extend(changed_operands(source, &known, CellPlace { thread, cell }, of));
            }
        }
    }
    all.extend(everywhere(&all));
    for &thread in &firsts {
        all.extend(groups(source, thread));
        all.extend(commits(source, thread));
        all.extend(flips(source, thread));
        all.extend(beginnings(source, copies, thread));
        all.extend(expecting_arrivals(source, thread));
        all.extend(last(arrivals(source, &known, thread), MOST_ARRIVALS, questions));
        all.extend(tensor_commits(source, thread));
    }
    all.extend(other_counts(source));
    for &thread in &firsts {
        let most = MOST_PLACES / firsts.len();
        all.extend(last(phases(source, thread), most, questions));
    }
    let mut all: Vec<ProgramEdit> =
        all.into_iter().map(|edit| copies.everywhere(source, edit)).collect();
    all.retain(|edit: &ProgramEdit| {
        !questions.is_at_end() && source.parse(&edit.revisions).is_ok()
    });
    all.sort_by_key(|edit| edit.cost);
    all
}

/// Of too many places the last ones, which are further from where the code only prepares.
fn last(mut all: Vec<ProgramEdit>, most: usize, questions: &mut Questions<'_>) -> Vec<ProgramEdit> {
    let left_out = all.len().saturating_sub(most);
    if left_out > 0 {
        questions.left_out.get_or_insert(RepairLimit::Places(most));
        all.drain(..left_out);
    }
    all
}

/// The same change of each instruction of a thread with the same text: of code in a loop, a test has one for each round.
pub(crate) fn everywhere(all: &[ProgramEdit]) -> Vec<ProgramEdit> {
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

/// A wait for what a thread has started, a commit before a wait for groups, and a fence of the registers of `wgmma`.
fn groups(source: &SourceTest, thread: usize) -> Vec<ProgramEdit> {
    let mut all = Vec::new();
    let lines = &source.test.program.threads[thread].lines;
    let asynchronous = |line: usize| lines.get(line)?.instruction.as_asynchronous();
    let early = first_points(source, thread);
    let late = points(source, thread).into_iter().filter(|point| !early.contains(point));
    for point in early.iter().copied().chain(late) {
        let at = point.line(source);
        let mut insert = |of: &[Asynchronous], kind: EditKind, cost: EditCost| {
            let texts = of.iter().map(|of| edit::text_of(source, thread, of.clone()));
            let Some(texts) = texts.collect::<Option<Vec<String>>>() else { return };
            let more = u32::try_from(texts.len() - 1).unwrap_or(u32::MAX);
            let weight = cost.weight + more * edit::COMMIT.weight;
            let cost = EditCost { edits: cost.edits + more, weight, ..cost };
            all.push(edit::insertion(source, &[point], &texts.join("\n"), kind, cost));
        };
        let next = asynchronous(at);
        let started =
            started(lines[..at].iter().filter_map(|line| line.instruction.as_asynchronous()));
        // Of places with only arithmetic between them the first one is enough for these.
        let started = started.into_iter().filter(|_| early.contains(&point));
        for started in started {
            // Behind this commit it takes none of its own.
            if let (Started::Uncommitted(kind), Some(Asynchronous::Commit(next))) = (started, next)
                && kind == *next
            {
                continue;
            }
            if started.group() == Some(GroupKind::BulkCopies) {
                let read = all_groups(GroupKind::BulkCopies, GroupCompletion::Read);
                insert(&started.committed(read), EditKind::GroupWait, edit::NEW_READ_WAIT);
            }
            let (wait, cost) = started.wait();
            insert(&started.committed(wait), EditKind::GroupWait, cost);
        }
        if let Some(Asynchronous::WaitGroup(WaitGroup { of, commits: false, .. })) = next {
            insert(&[Asynchronous::Commit(*of)], EditKind::Commit, edit::COMMIT);
        }
        if let Some(Asynchronous::Multiply(_)) = next {
            insert(&[Asynchronous::MultiplyFence], EditKind::RegisterFence, edit::REGISTER_FENCE);
        }
    }
    all
}

/// A commit after what a wait for groups should count: at one place, or after each run of such operations, as code in stages
/// has it.
fn commits(source: &SourceTest, thread: usize) -> Vec<ProgramEdit> {
    let waited: BTreeSet<GroupKind> = all_asynchronous(source, thread)
        .filter_map(|of| {
            let Asynchronous::WaitGroup(wait) = of else { return None };
            (!wait.commits).then_some(wait.of)
        })
        .collect();
    let lines = &source.test.program.threads[thread].lines;
    let of = |line: usize| lines.get(line)?.instruction.as_asynchronous();
    let mut all = Vec::new();
    for kind in waited {
        let Some(text) = edit::text_of(source, thread, Asynchronous::Commit(kind)) else {
            continue;
        };
        let ends = |point: &InsertionPoint| {
            let at = point.line(source);
            let next = of(at);
            let waits = matches!(next, Some(Asynchronous::WaitGroup(wait)) if wait.of == kind);
            let goes_on = next.and_then(grouped) == Some(kind);
            let committed = next == Some(&Asynchronous::Commit(kind));
            let ended = at.checked_sub(1).and_then(of).and_then(grouped) == Some(kind);
            ended && !waits && !goes_on && !committed && !point.labelled
        };
        let places: Vec<InsertionPoint> =
            first_points(source, thread).into_iter().filter(ends).collect();
        let each = |places: &[InsertionPoint], cost: EditCost| {
            edit::insertion(source, places, &text, EditKind::Commit, cost)
        };
        all.extend(places.iter().map(|&place| each(&[place], edit::COMMIT)));
        if places.len() > 1 {
            let more = u32::try_from(places.len() - 1).unwrap_or(u32::MAX);
            let weight = edit::COMMIT.weight.saturating_add(more);
            all.push(each(&places, EditCost { weight, ..edit::COMMIT }));
        }
    }
    all
}

/// The groups that an operation may be part of.
fn grouped(of: &Asynchronous) -> Option<GroupKind> {
    if let Asynchronous::Copy(copy) = of {
        let kind = if copy.bulk { GroupKind::BulkCopies } else { GroupKind::Copies };
        return copy.mbarrier.is_none().then_some(kind);
    }
    matches!(of, Asynchronous::Multiply(_)).then_some(GroupKind::Multiplications)
}

/// The most objects of a test on which a `tcgen05.commit` is tried.
const MOST_OBJECTS: usize = 4;

/// A `tcgen05.commit` on an object after operations on tensor memory that one can track, or in the place of an arrival.
fn tensor_commits(source: &SourceTest, thread: usize) -> Vec<ProgramEdit> {
    let mut all = Vec::new();
    let objects = objects(source);
    if objects.len() > MOST_OBJECTS {
        return all;
    }
    // That of the latest such operation.
    let mut group = None;
    for cell in 0..source.cells[thread].len() {
        let own = asynchronous(source, thread, cell).find_map(tracked_group);
        if let Some(own) = own {
            let (kind, cost) = (EditKind::Commit, edit::TENSOR_COMMIT);
            let point = InsertionPoint { thread, cell: cell + 1, labelled: false };
            all.extend(objects.iter().map(|&object| {
                let text = commit(own, &edit::address(source, thread, object));
                edit::insertion(source, &[point], &text, kind, cost)
            }));
            group = Some(own);
        }
        let object = asynchronous(source, thread, cell).find_map(|of| Some(arrival(of)?.object));
        if let (Some(group), Some(object)) = (group, object) {
            let object = edit::address(source, thread, object);
            let (kind, cost) = (EditKind::Commit, edit::ARRIVAL_TO_COMMIT);
            let place = CellPlace { thread, cell };
            all.push(edit::replacement(source, place, commit(group, &object), kind, cost));
        }
    }
    all
}

fn commit(group: CtaGroup, object: &str) -> String {
    let group = match group {
        CtaGroup::One => 1,
        CtaGroup::Two => 2,
    };
    format!("tcgen05.commit.cta_group::{group}.mbarrier::arrive::one.shared::cluster.b64 {object}")
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
    /// What is in no group yet.
    Uncommitted(GroupKind),
    /// `cp.async`, in a group or not.
    Copies,
    TensorLoads,
    TensorStores,
}

/// What these instructions have started.
fn started<'i>(all: impl Iterator<Item = &'i Asynchronous>) -> BTreeSet<Started> {
    let mut started = BTreeSet::new();
    for of in all {
        if let Asynchronous::Commit(kind) = of {
            started.remove(&Started::Uncommitted(*kind));
        }
        started.extend(Started::by(of));
    }
    started
}

impl Started {
    fn by(instruction: &Asynchronous) -> Option<Started> {
        if let Asynchronous::Commit(kind) = instruction {
            return Some(Started::Groups(*kind));
        }
        let Asynchronous::TensorMemory(of) = instruction else {
            if matches!(instruction, Asynchronous::Copy(copy) if !copy.bulk) {
                return Some(Started::Copies);
            }
            return grouped(instruction).map(Started::Uncommitted);
        };
        let loads = matches!(of, TensorOp::Load { .. }).then_some(Started::TensorLoads);
        loads.or(matches!(of, TensorOp::Store { .. }).then_some(Started::TensorStores))
    }

    /// The kind of its groups.
    fn group(self) -> Option<GroupKind> {
        if let Started::Groups(kind) | Started::Uncommitted(kind) = self {
            Some(kind)
        } else {
            None
        }
    }

    /// A wait, after the commit that it needs.
    fn committed(self, wait: Asynchronous) -> Vec<Asynchronous> {
        let commit = if let Started::Uncommitted(kind) = self {
            Some(Asynchronous::Commit(kind))
        } else {
            None
        };
        commit.into_iter().chain([wait]).collect()
    }

    /// The wait for all of them, and what it costs.
    fn wait(self) -> (Asynchronous, EditCost) {
        let tensor = |of: TensorWait| Asynchronous::TensorMemory(TensorOp::Wait(of));
        let wait = match self {
            Started::Groups(kind) | Started::Uncommitted(kind) => {
                all_groups(kind, GroupCompletion::Complete)
            }
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

/// A loop that waits for the end of a phase of an object of the test, at each place of a thread. In a loop the parity is a
/// register with which the thread waits elsewhere.
fn phases(source: &SourceTest, thread: usize) -> Vec<ProgramEdit> {
    let mut all = Vec::new();
    let cells = &source.cells[thread];
    let label = edit::free_name("wait", |name| {
        cells
            .iter()
            .any(|cell| cell.text.contains(name) || cell.labels.iter().any(|label| label == name))
    });
    let ended = edit::free_register(source, thread, "ended");
    let (Some(label), Some(ended)) = (label, ended) else { return all };
    let mut parities: Vec<String> = all_asynchronous(source, thread)
        .filter_map(|of| Some(edit::operand(source, thread, parity(of)?)))
        .chain(["0".to_owned(), "1".to_owned()])
        .collect();
    parities.sort_unstable();
    parities.dedup();
    let objects: Vec<String> = objects_of(source, thread)
        .into_iter()
        .map(|object| edit::address(source, thread, object))
        .collect();
    for point in points(source, thread) {
        if point.is_in_wait(source) || !is_event(source, thread, point.cell) {
            continue;
        }
        let constant = |parity: &String| matches!(&**parity, "0" | "1");
        let known = |parity: &&String| point.depth(source) == 0 || !constant(parity);
        for object in &objects {
            for parity in parities.iter().filter(known) {
                let text = format!(
                    "{label}: mbarrier.try_wait.parity.shared::cta.b64 {ended}, {object}, {parity}\n@!{ended} bra {label}"
                );
                let (kind, cost) = (EditKind::PhaseWait, edit::PHASE_WAIT);
                all.push(edit::insertion(source, &[point], &text, kind, cost));
            }
        }
    }
    all
}

/// The parity of a wait.
fn parity(of: &Asynchronous) -> Option<Operand> {
    let Asynchronous::Mbarrier(Mbarrier { op: MbarrierOp::Wait { phase, .. }, .. }) = of else {
        return None;
    };
    if let AwaitedPhase::Parity(parity) = phase { Some(*parity) } else { None }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use litmus::revise::SourceTest;

    use crate::copies::EqualThreads;
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
            super::waits(
                &source,
                &EqualThreads::new(&source),
                &mut Questions::new(&source, &options),
            )
            .len()
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
