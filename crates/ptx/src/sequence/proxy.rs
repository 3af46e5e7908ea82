//! Fences of the async proxy between accesses of threads and those of asynchronous operations.

use std::collections::BTreeSet;

use model::section;

use crate::rule::Authority;

use super::completion::is_bulk_copy;
use super::flow::{AddressOrigin, FlowStep, TracedAddress};
use super::{SequenceRule, Subject};

pub(super) const FENCE_MISSING: SequenceRule = SequenceRule {
    code: "proxy-fence-missing",
    text: "a fence of the async proxy is between a write to shared memory by a thread and an asynchronous read of it",
    by: Authority::Neither,
    section: || section::ASYNC_PROXY,
};

pub(super) const FENCE_SPACE: SequenceRule = SequenceRule {
    code: "proxy-fence-space",
    text: "a fence of the async proxy for one state space is in a kernel that accesses it asynchronously",
    by: Authority::Neither,
    section: || section::ASYNC_PROXY,
};

pub(super) fn check(subject: &mut Subject<'_>) {
    missing_fences(subject);
    spaces(subject);
}

fn is_of_shared(part: &&str) -> bool {
    matches!(*part, "shared" | "shared::cta" | "shared::cluster")
}

/// The state spaces of a bulk copy: that of its destination, and that of its source.
fn spaces_of<'s, 'a>(step: &'s FlowStep<'a>) -> impl Iterator<Item = &'s &'a str> {
    step.parts.iter().filter(|part| **part == "global" || is_of_shared(part))
}

/// The operands with which an instruction of the async proxy reads shared memory.
fn read_operands(step: &FlowStep<'_>) -> Option<&'static [usize]> {
    if is_bulk_copy(step) {
        return spaces_of(step).last().is_some_and(is_of_shared).then_some(&[1]);
    }
    if step.begins("wgmma.mma_async") {
        return Some(&[1, 2]);
    }
    if step.begins("tcgen05.mma") {
        return Some(&[1, 2]);
    }
    step.begins("tcgen05.cp").then_some(&[1])
}

/// Whether threads write shared memory with it, in the generic proxy, at its first operand.
fn writes(step: &FlowStep<'_>) -> bool {
    let of_thread = matches!(step.parts[0], "st" | "stmatrix" | "red") && !step.has("async");
    let copies = step.begins("cp.async") && step.has_any(&["ca", "cg"]);
    (of_thread || copies) && step.parts.iter().any(is_of_shared)
}

/// A fence of the async proxy that covers shared memory.
fn is_fence(step: &FlowStep<'_>) -> bool {
    let of_proxy = step.begins("fence.proxy.async") || step.begins("fence.proxy.async::generic");
    of_proxy && !step.has("global")
}

fn missing_fences(subject: &mut Subject<'_>) {
    let readers = subject.flow.all(|step| read_operands(step).is_some());
    let writers = subject.flow.all(writes);
    if readers.is_empty() || writers.is_empty() {
        return;
    }
    let stops = subject.flow.all(|step| is_fence(step) || step.is_call());
    let fills = subject
        .flow
        .all(|step| is_bulk_copy(step) && spaces_of(step).next().is_some_and(is_of_shared));
    let filled: Vec<BTreeSet<&str>> =
        fills.iter().map(|&fill| shared_behind(subject, fill, &[0])).collect();
    for reader in readers {
        let flow = &subject.flow;
        let step = &flow.steps[reader];
        let operands = read_operands(step).unwrap_or_default();
        let own: Option<TracedAddress<'_>> = step.address(1).map(|text| flow.place(text, reader));
        let size = if is_bulk_copy(step) && !step.has("tensor") { step.integer(2) } else { None };
        let names = shared_behind(subject, reader, operands);
        // Where bulk copies fill a part of a variable, an asynchronous operation may read that part, and threads write another
        // one: where the place is computed that it reads, or all that a kernel shares is in a variable without a size.
        let is_computed = !own.is_some_and(|own| matches!(own.origin, AddressOrigin::Name(_)));
        let is_filled = filled.iter().any(|filled| {
            let shared = |name: &&str| names.contains(name) && filled.contains(name);
            is_computed || filled.is_empty() || subject.unsized_shared.iter().any(shared)
        });
        let overlapping: Vec<usize> = writers
            .iter()
            .copied()
            .filter(|&writer| {
                let place = flow.steps[writer].address(0).map(|text| flow.place(text, writer));
                let same = own.zip(place).and_then(|(own, place)| place.is_same(&own));
                let shared = shared_behind(subject, writer, &[0]);
                let overlaps =
                    own.zip(place).is_some_and(|(own, place)| is_inside(own, size, place));
                overlaps || !is_filled && same.is_none() && !names.is_disjoint(&shared)
            })
            .collect();
        let found = overlapping.into_iter().rev().find(|&writer| {
            let flow = &mut subject.flow;
            flow.reaches_without(writer, reader, &stops)
                || stops.is_empty() && !flow.reaches(reader, writer) && !flow.is_cut_off()
        });
        let Some(writer) = found else { continue };
        let name = subject.flow.steps[reader].head();
        let message = format!(
            "`{name}` may read shared memory before a write of a thread, which is in another proxy"
        );
        let help = "write `fence.proxy.async.shared::cta` after the write, in the same thread, before the barrier";
        let other = Some((writer, "the write, in the generic proxy"));
        let note = "no fence of the async proxy is between them";
        subject.warn(&FENCE_MISSING, reader, message, other, [note, help]);
    }
}

/// Whether a place is among the bytes that are read, or not before them where their number is not known.
fn is_inside(read: TracedAddress<'_>, size: Option<i64>, written: TracedAddress<'_>) -> bool {
    let distance = written.offset.wrapping_sub(read.offset);
    let is_known = written.is_same(&read).is_some() && read.origin == written.origin;
    is_known && distance >= 0 && size.is_none_or(|size| distance < size)
}

fn shared_behind<'a>(subject: &Subject<'a>, at: usize, operands: &[usize]) -> BTreeSet<&'a str> {
    let names = subject.flow.names_behind(at, operands);
    names.into_iter().filter(|name| subject.shared.contains(name)).collect()
}

fn spaces(subject: &mut Subject<'_>) {
    if !subject.is_kernel || subject.calls {
        return;
    }
    let fences = subject.flow.all(|step| step.begins("fence.proxy.async") && step.parts.len() == 4);
    let accesses = subject
        .flow
        .all(|step| is_bulk_copy(step) || read_operands(step).is_some() || step.has("tensor"));
    if fences.is_empty() || accesses.is_empty() {
        return;
    }
    let touches = |step: &FlowStep<'_>, of_global: bool| {
        if of_global { step.has("global") } else { !step.has("prefetch") }
    };
    for fence in fences {
        let of_global = subject.flow.steps[fence].has("global");
        if accesses.iter().any(|&at| touches(&subject.flow.steps[at], of_global)) {
            continue;
        }
        let space = if of_global { "global" } else { "shared" };
        let message = format!("no asynchronous operation of this kernel accesses {space} memory");
        let help = "write `fence.proxy.async` with the state space of the accesses";
        let other = Some((accesses[0], "an asynchronous access"));
        subject.warn(&FENCE_SPACE, fence, message, other, ["this fence orders nothing here", help]);
    }
}
