//! What tells a thread that an asynchronous operation is complete: bytes of mbarrier objects, groups, and grids.

use std::collections::BTreeSet;

use model::section;

use crate::rule::Authority;

use super::flow::{Flow, FlowStep, TracedAddress};
use super::{SequenceRule, Subject};

pub(super) const TX_UNIT: SequenceRule = SequenceRule {
    code: "mbarrier-tx-unit",
    text: "the expected bytes of an mbarrier object are those of the bulk copies that complete on it",
    by: Authority::Neither,
    section: || section::MBARRIER,
};

pub(super) const BULK_SIZE: SequenceRule = SequenceRule {
    code: "bulk-size",
    text: "a bulk copy has some bytes",
    by: Authority::Neither,
    section: || section::of_opcode("cp"),
};

pub(super) const READ_WAIT: SequenceRule = SequenceRule {
    code: "bulk-read-wait",
    text: "`cp.async.bulk.wait_group` without `.read` is between a bulk copy and what shows its result to other threads",
    by: Authority::Neither,
    section: || section::of_opcode("cp"),
};

pub(super) const UNCOMMITTED: SequenceRule = SequenceRule {
    code: "cpasync-uncommitted",
    text: "a copy is committed to a group before a wait for groups",
    by: Authority::Neither,
    section: || section::of_opcode("cp"),
};

pub(super) const EARLY_READ: SequenceRule = SequenceRule {
    code: "pdl-early-read",
    text: "a kernel reads after `griddepcontrol.wait` what the kernel before it writes",
    by: Authority::Neither,
    section: || section::of_opcode("griddepcontrol"),
};

pub(super) fn check(subject: &mut Subject<'_>) {
    sizes(subject);
    expected_bytes(subject);
    reads_alone(subject);
    for of_bulk in [false, true] {
        uncommitted(subject, of_bulk);
    }
    early_reads(subject);
}

/// Whether an instruction copies in bulk, and does not merely wait, commit or prefetch.
pub(super) fn is_bulk_copy(step: &FlowStep<'_>) -> bool {
    let copies = step.begins("cp.async.bulk") || step.begins("cp.reduce.async.bulk");
    copies && !step.has_any(&["commit_group", "wait_group", "prefetch"])
}

/// Whether it completes on an mbarrier object.
fn completes_on_object(step: &FlowStep<'_>) -> bool {
    step.has("mbarrier::complete_tx::bytes")
}

/// The operand of a bulk copy that is its number of bytes: a tensor has none.
const SIZE: usize = 2;

fn sizes(subject: &mut Subject<'_>) {
    let empty = subject
        .flow
        .all(|step| is_bulk_copy(step) && !step.has("tensor") && step.integer(SIZE) == Some(0));
    for at in empty {
        let message = "this bulk copy has 0 bytes";
        let help = "write its number of bytes, a multiple of 16, or remove it";
        subject.warn(&BULK_SIZE, at, message, None, ["it copies nothing", help]);
    }
}

/// The mbarrier object on which a bulk copy completes.
pub(super) fn object<'a>(flow: &Flow<'a>, at: usize) -> Option<TracedAddress<'a>> {
    let step = &flow.steps[at];
    let operand = if step.has("tensor") { 2 } else { SIZE + 1 };
    Some(flow.place(step.address(operand)?, at))
}

fn expected_bytes(subject: &mut Subject<'_>) {
    let flow = &subject.flow;
    let expects = flow.all(|step| step.begins("mbarrier") && step.has("expect_tx"));
    let copies = flow.all(|step| is_bulk_copy(step) && completes_on_object(step));
    // What else may complete on an object: stores, other CTAs of the cluster, threads, functions.
    let others = flow.any(|step| {
        step.has("complete_tx")
            || step.begins("mapa")
            || step.has("multicast::cluster")
            || completes_on_object(step) && !is_bulk_copy(step)
    });
    if copies.is_empty() || others || subject.calls {
        return;
    }
    let mut wrong = Vec::new();
    for &at in &expects {
        let step = &flow.steps[at];
        let first = usize::from(!step.begins("mbarrier.expect_tx"));
        let Some(bytes) = step.integer(first + 1) else { continue };
        if bytes % 16 != 0 {
            wrong.push((
                at,
                copies[0],
                format!("bulk copies have a multiple of 16 bytes, and these are {bytes}"),
            ));
            continue;
        }
        let Some(own) = step.address(first).map(|text| flow.place(text, at)) else { continue };
        let is_own = |place: Option<TracedAddress<'_>>| place.and_then(|place| place.is_same(&own));
        let all: Vec<(usize, Option<bool>)> =
            copies.iter().map(|&copy| (copy, is_own(object(flow, copy)))).collect();
        let same: Vec<usize> =
            all.iter().filter(|(_, same)| *same == Some(true)).map(|(copy, _)| *copy).collect();
        let armed = |&&other: &&usize| {
            let step = &flow.steps[other];
            let operand = usize::from(!step.begins("mbarrier.expect_tx"));
            let place = step.address(operand).map(|text| flow.place(text, other));
            is_own(place) != Some(false)
        };
        let is_known = all.iter().all(|(_, same)| same.is_some())
            && same
                .iter()
                .all(|&copy| flow.is_together(at, copy) && !flow.steps[copy].has("tensor"))
            && expects.iter().filter(armed).count() == 1;
        let sizes: Option<Vec<i64>> =
            same.iter().map(|&copy| flow.steps[copy].integer(SIZE)).collect();
        let (true, Some(sizes), Some(&copy)) = (is_known, sizes, same.first()) else { continue };
        let sum: i64 = sizes.iter().sum();
        // A size that is not a multiple of 16 has its own error.
        if sum != bytes && sum % 16 == 0 {
            wrong.push((
                at,
                copy,
                format!("{bytes} bytes are expected, and the copies have {sum}"),
            ));
        }
    }
    for (at, copy, message) in wrong {
        let help = "write the sum of the bytes of the copies: the phase of the object completes at exactly that number";
        subject.warn(&TX_UNIT, at, message, Some((copy, "a bulk copy")), ["", help]);
    }
}

/// Whether it shows other threads what was done before: a release, or a strong write right after a releasing fence.
fn signals(flow: &Flow<'_>, at: usize) -> bool {
    let step = &flow.steps[at];
    let writes = matches!(step.parts[0], "st" | "red" | "atom");
    if !writes || step.parts.iter().any(|part| part.starts_with("shared")) || step.has("async") {
        return false;
    }
    if step.has_any(&["release", "acq_rel"]) {
        return step.has_any(&["gpu", "sys", "cluster"]);
    }
    let is_strong = step.parts[0] != "st" || step.has_any(&["relaxed", "volatile", "mmio"]);
    let fence = at.checked_sub(1).map(|before| &flow.steps[before]).filter(|step| {
        step.begins("membar") && step.has_any(&["gl", "sys"])
            || step.begins("fence")
                && step.has_any(&["gpu", "sys"])
                && !step.has_any(&["proxy", "acquire"])
    });
    is_strong && fence.is_some() && flow.is_together(at, at - 1)
}

fn reads_alone(subject: &mut Subject<'_>) {
    let copies = subject.flow.all(|step| is_bulk_copy(step) && step.has("bulk_group"));
    let is_wait = |step: &FlowStep<'_>| step.begins("cp.async.bulk.wait_group");
    let reads = subject.flow.all(|step| is_wait(step) && step.has("read"));
    if copies.is_empty() || reads.is_empty() {
        return;
    }
    let stops = subject.flow.all(|step| is_wait(step) && !step.has("read") || step.is_call());
    let flow = &subject.flow;
    let shows: Vec<usize> = (0..flow.steps.len()).filter(|&at| signals(flow, at)).collect();
    let loads = flow.all(|step| {
        step.begins("ld") && step.has("global") && !step.has_any(&["acquire", "relaxed"])
    });
    let target = |at: usize, operand: usize| {
        flow.steps[at].address(operand).map(|text| flow.place(text, at))
    };
    let mut candidates: Vec<(usize, usize)> =
        copies.iter().flat_map(|&copy| shows.iter().map(move |&show| (copy, show))).collect();
    for &copy in copies.iter().filter(|&&copy| !flow.steps[copy].has("tensor")) {
        let Some(written) = target(copy, 0) else { continue };
        let same = |load: &usize| {
            target(*load, 1).is_some_and(|read| read.is_same(&written) == Some(true))
        };
        candidates.extend(loads.iter().copied().filter(same).map(|load| (copy, load)));
    }
    candidates.sort_by_key(|(copy, show)| (*show, *copy));
    let mut told = BTreeSet::new();
    for (copy, show) in candidates {
        if told.contains(&show) || !subject.flow.reaches_without(copy, show, &stops) {
            continue;
        }
        let Some(read) = reads
            .iter()
            .copied()
            .find(|&read| subject.flow.reaches(copy, read) && subject.flow.reaches(read, show))
        else {
            continue;
        };
        told.insert(show);
        let is_load = subject.flow.steps[show].begins("ld");
        let message = if is_load {
            "this load may be done before the bulk copy writes what it reads"
        } else {
            "this release does not publish what the bulk copy writes"
        };
        let help = "write `cp.async.bulk.wait_group` without `.read` before it";
        let note = "`.read` waits until the source is read, not until the result is written";
        let other = Some((read, note));
        subject.warn(&READ_WAIT, show, message, other, ["", help]);
    }
}

fn uncommitted(subject: &mut Subject<'_>, of_bulk: bool) {
    let (commit, wait) = if of_bulk {
        ("cp.async.bulk.commit_group", "cp.async.bulk.wait_group")
    } else {
        ("cp.async.commit_group", "cp.async.wait_group")
    };
    let waits = subject.flow.all(|step| step.begins(wait));
    if waits.is_empty() || subject.calls {
        return;
    }
    let copies = subject.flow.all(|step| {
        if of_bulk {
            is_bulk_copy(step) && step.has("bulk_group")
        } else {
            step.begins("cp.async") && (step.has("ca") || step.has("cg"))
        }
    });
    let commits = subject.flow.all(|step| step.begins(commit));
    // An mbarrier object may track a copy, and `wait_all` commits.
    let otherwise = subject
        .flow
        .all(|step| step.begins("cp.async.mbarrier") || step.begins("cp.async.wait_all"));
    for wait_at in waits {
        let found = copies.iter().copied().rev().find(|&copy| {
            let flow = &mut subject.flow;
            let mut ends = commits.iter().chain(if of_bulk { &[][..] } else { &otherwise[..] });
            flow.reaches(copy, wait_at) && !ends.any(|&end| flow.reaches(copy, end))
        });
        let Some(copy) = found.filter(|_| !subject.flow.is_cut_off()) else { continue };
        let message = format!("`{wait}` does not wait for a copy that is in no group");
        let help = format!("write `{commit}` between the copy and the wait");
        let note = "no commit follows the copy";
        subject.warn(&UNCOMMITTED, wait_at, message, Some((copy, "the copy")), [note, &help]);
    }
}

fn early_reads(subject: &mut Subject<'_>) {
    if !subject.is_kernel {
        return;
    }
    let waits = subject.flow.all(|step| step.begins("griddepcontrol.wait"));
    if waits.is_empty() {
        return;
    }
    let parameters = |flow: &Flow<'_>, at: usize, operand: usize| {
        let names = flow.names_behind(at, &[operand]);
        names.into_iter().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let of_global = |step: &FlowStep<'_>| {
        matches!(step.parts[0], "ld" | "st" | "atom" | "red") && step.has("global")
    };
    let accesses = subject.flow.all(of_global);
    let is_early = |flow: &mut Flow<'_>, at: usize| {
        waits.iter().any(|&wait| flow.reaches(at, wait))
            && !waits.iter().any(|&wait| flow.reaches(wait, at))
    };
    let (mut early, mut late) = (Vec::new(), BTreeSet::new());
    for &at in &accesses {
        let operand = usize::from(matches!(subject.flow.steps[at].parts[0], "ld" | "atom"));
        let names = parameters(&subject.flow, at, operand);
        if !is_early(&mut subject.flow, at) {
            late.extend(names);
        } else if subject.flow.steps[at].begins("ld") {
            early.push((at, names));
        }
    }
    // Where the wait stands before no access at all, it waits for what the loads before it read. Else it may stand
    // after loads of what no kernel writes, unless the same parameter is accessed after it.
    let copies = subject.flow.any(|step| step.begins("cp.async"));
    let is_idle = late.is_empty() && !copies && !subject.calls;
    for (at, names) in early {
        if !is_idle && names.is_disjoint(&late) {
            continue;
        }
        let wait = waits.iter().copied().find(|&wait| subject.flow.reaches(at, wait));
        let message = "this load may read before the kernel on which this one depends has written";
        let help = "move the load after `griddepcontrol.wait`, unless no kernel before this one writes what it reads";
        let other = wait.map(|wait| (wait, "the writes of that kernel are visible after this"));
        subject.warn(&EARLY_READ, at, message, other, ["", help]);
    }
}
