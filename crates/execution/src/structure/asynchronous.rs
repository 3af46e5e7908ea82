//! The relations of asynchronous operations: what is issued before, and what waits for them.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::{FenceCoverage, MbarrierStep, MbarrierUse, ObjectPhase, WaitPhase};
use crate::unfold::{Event, Unfolding};
use model::bits::{BitRel, BitRow};
use model::given::Tag;
use model::memory::{Extent, MBARRIER_BYTES, Space};
use model::program::ThreadId;
use model::scope::{Placement, Scope};

/// The events of asynchronous operations, with their thread and their index in its path.
fn parts<'u>(
    u: &'u Unfolding<'u>,
) -> impl Iterator<Item = (usize, ThreadId, &'u crate::event::PathEvent)> + 'u {
    u.events.iter().enumerate().filter_map(|(event, of)| {
        let path_event = of.of?;
        path_event.part?;
        Some((event, of.thread?, path_event))
    })
}

/// 8.9.1.1: an asynchronous operation is ordered after the instructions before it. A `wgmma` is ordered after those
/// before the latest fence (reading B11).
pub(super) fn issue<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (event, thread, of) in parts(u) {
        let issued = of.part.map_or(0, |part| part.issued);
        for index in 0..issued {
            let before = u.event_of(thread, index);
            if u.events[before].of.is_some_and(|of| of.part.is_none()) {
                relation.insert(before, event);
            }
        }
    }
    relation
}

/// The stage of an event in its operation: it reads the tensormap, reads, then writes, then completes.
fn stage(event: &Event<'_>) -> u8 {
    if event.tags.has(Tag::Mbarrier) {
        4
    } else if event.is_write() {
        3
    } else if event.tags.has(Tag::Atomic) {
        2
    } else {
        u8::from(!event.tags.has(Tag::TensormapProxy))
    }
}

pub(super) fn operation<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (a, thread, from) in parts(u) {
        for (b, other, to) in parts(u) {
            let same =
                |a: crate::event::AsyncPart| to.part.is_some_and(|b| a.operation == b.operation);
            if thread == other
                && from.part.is_some_and(same)
                && stage(&u.events[a]) < stage(&u.events[b])
            {
                relation.insert(a, b);
            }
        }
    }
    relation
}

pub(super) fn group_wait<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (wait, of) in u.events.iter().enumerate() {
        let (Some(thread), Some(path_event)) = (of.thread, of.of) else { continue };
        if path_event.part.is_some() {
            continue;
        }
        for index in BitRow::events(path_event.completes) {
            let index = u16::try_from(index).expect("a path has few events");
            relation.insert(u.event_of(thread, index), wait);
        }
    }
    relation
}

/// The waits that returned true, each with its object and the phase that it saw completed.
fn waits<'u>(u: &'u Unfolding<'u>) -> impl Iterator<Item = (usize, Extent, ObjectPhase)> + 'u {
    operations(u)
        .filter(|(event, ..)| u.events[*event].tags.has(Tag::MbarrierWait))
        .map(|(event, used, phase)| (event, used.object, phase))
}

/// Reading B3: a wait also sees what took effect in earlier phases.
pub(super) fn phase<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (event, of) in u.events.iter().enumerate() {
        let (Some(path_event), Some(phase)) = (of.of, of.phase) else { continue };
        let Some(used) = path_event.mbarrier.filter(|_| path_event.part.is_none()) else {
            continue;
        };
        if !matches!(used.step, MbarrierStep::Arrive { .. } | MbarrierStep::Tx(_)) {
            continue;
        }
        for (wait, object, seen) in waits(u) {
            if object == used.object && phase.is_up_to(seen) {
                relation.insert(event, wait);
            }
        }
    }
    relation
}

/// Reading B24: the completion on the object of a CTA, of a multicast, is that of what is written there.
pub(super) fn tracked<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    completed(u, false)
}

/// The same for what a multicast writes in other CTAs.
pub(super) fn tracked_elsewhere<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    completed(u, true)
}

/// Whether an asynchronous operation writes to another CTA than that of an object, or completes there.
fn is_elsewhere(u: &Unfolding<'_>, event: usize, object: Extent) -> bool {
    let event = &u.events[event];
    let cta = |bytes: Extent| shared_by(u, bytes);
    (event.is_write() || event.tags.has(Tag::Mbarrier))
        && cta(event.bytes()).zip(cta(object)).is_some_and(|(there, own)| !there.same_cta(own))
}

fn space(u: &Unfolding<'_>, bytes: Extent) -> Space {
    let variable = u.layout.locations[usize::from(bytes.object)].variable;
    u.program.variables[usize::from(variable.0)].space
}

/// Of bytes of shared memory, where the CTA is that has them.
fn shared_by(u: &Unfolding<'_>, bytes: Extent) -> Option<Placement> {
    let instance = u.layout.locations[usize::from(bytes.object)].instance;
    let shared = space(u, bytes) == Space::Shared;
    shared.then(|| u.program.threads[usize::from(instance)].placement)
}

fn completed<R: BitRow>(u: &Unfolding<'_>, elsewhere: bool) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (completion, thread, of) in parts(u) {
        let (Some(used), Some(phase)) = (of.mbarrier, u.events[completion].phase) else { continue };
        let mut completed: Vec<usize> = parts(u)
            .filter(|(_, other, part)| {
                let operation = |of: &crate::event::PathEvent| of.part.map(|part| part.operation);
                *other == thread && operation(part) == operation(of)
            })
            .map(|(event, ..)| event)
            .filter(|&event| is_elsewhere(u, event, used.object) == elsewhere)
            .collect();
        for index in BitRow::events(of.completes).filter(|_| !elsewhere) {
            let index = u16::try_from(index).expect("a path has few events");
            completed.push(u.event_of(thread, index));
        }
        for (wait, object, seen) in waits(u) {
            if object == used.object && phase == seen {
                for &event in &completed {
                    relation.insert(event, wait);
                }
            }
        }
    }
    relation
}

/// The operations on objects that took effect, each with the phase in which it did, or that a wait saw completed.
fn operations<'u>(
    u: &'u Unfolding<'u>,
) -> impl Iterator<Item = (usize, MbarrierUse, ObjectPhase)> + 'u {
    let all = u.events.iter().enumerate();
    all.filter_map(|(event, of)| Some((event, of.of?.mbarrier?, of.phase?)))
}

/// What takes part in the phases of an object: all but waits and `inval`.
fn advances<'u>(u: &'u Unfolding<'u>) -> impl Iterator<Item = (usize, Extent, ObjectPhase)> + 'u {
    operations(u).filter_map(|(event, used, phase)| match used.step {
        MbarrierStep::Init { .. }
        | MbarrierStep::Tx(_)
        | MbarrierStep::Increment
        | MbarrierStep::Arrive { .. } => Some((event, used.object, phase)),
        MbarrierStep::Invalidate | MbarrierStep::CheckLayout { .. } | MbarrierStep::Wait { .. } => {
            None
        }
    })
}

/// The waits that tell of a phase, each with its object and the phase that had not ended then.
fn looks<'u>(u: &'u Unfolding<'u>) -> impl Iterator<Item = (usize, Extent, ObjectPhase)> + 'u {
    operations(u).filter_map(|(event, used, seen)| {
        let MbarrierStep::Wait { phase, returned, tries, .. } = used.step else { return None };
        let open = match phase {
            WaitPhase::Parity(_) => seen.next(),
            WaitPhase::Of(_) if returned => seen.next(),
            // It may have ended where `try_wait` returns false.
            WaitPhase::Of(_) if tries => return None,
            WaitPhase::Of(_) => seen,
        };
        Some((event, used.object, open))
    })
}

/// From what takes part in a phase to the waits that tell that it had ended, or that one after it had not.
pub(super) fn awaited<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (wait, object, open) in looks(u) {
        for (event, other, phase) in advances(u) {
            if object == other && phase != open && phase.is_up_to(open) {
                relation.insert(event, wait);
            }
        }
    }
    relation
}

/// From operations of a phase to those whose result they decide: a count that is read, or that the phase had not ended.
pub(super) fn decided<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (event, used, _) in operations(u).filter(|(_, of, _)| of.step.has_result()) {
        let change = |before: usize| u.events[before].of.and_then(|of| of.mbarrier?.step.change());
        for before in before(u, event).into_iter().flatten() {
            if change(before).is_some_and(|of| used.step.comes_behind(of)) {
                relation.insert(before, event);
            }
        }
    }
    relation
}

/// The operations of the phase that a run has before this one, of those for which that matters; `None` if none does.
fn before<'u>(u: &'u Unfolding<'u>, event: usize) -> Option<impl Iterator<Item = usize> + 'u> {
    let before = u.before.get(&path_place(u, event)?)?;
    Some(before.iter().map(|&(thread, index)| u.first[thread] + usize::from(index)))
}

/// The thread of an event, and the index in its path.
fn path_place(u: &Unfolding<'_>, event: usize) -> Option<(usize, u16)> {
    let (thread, index) = u.place(event)?;
    Some((usize::from(thread.0), u16::try_from(index).expect("a path has few events")))
}

/// Whether base causality order may contradict a run about this operation.
fn is_unsettled(u: &Unfolding<'_>, event: usize) -> bool {
    path_place(u, event).is_some_and(|place| u.unsettled.contains(&place))
}

/// The order of operations within a phase, as far as base causality order may contradict it.
fn in_a_phase<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    let opens: BTreeMap<usize, ObjectPhase> =
        looks(u).map(|(wait, _, open)| (wait, open)).collect();
    for (event, used, phase) in operations(u) {
        let Some(before) = before(u, event) else { continue };
        let before: BTreeSet<usize> = before.collect();
        let unsettled = is_unsettled(u, event);
        let phase = opens.get(&event).copied().unwrap_or(phase);
        for (other, its, at) in operations(u) {
            let matters = its.step.change().is_some_and(|of| used.step.comes_behind(of));
            let known = unsettled || is_unsettled(u, other);
            if !known || its.object != used.object || at != phase || other == event {
                continue;
            }
            if before.contains(&other) {
                relation.insert(other, event);
            } else if matters {
                relation.insert(event, other);
            }
        }
    }
    // What ends a phase is the last of it.
    for (&(location, start, phase), &(thread, index)) in &u.ended {
        let end = u.first[thread] + usize::from(index);
        let of_object = |object: Extent| (object.object, object.start) == (location, start);
        for (event, object, its) in advances(u).chain(looks(u)) {
            if of_object(object) && its == phase && event != end {
                relation.insert(event, end);
            }
        }
    }
    relation
}

/// From the operations on an object to the `mbarrier.inval` after them, and from there to those after the next
/// `mbarrier.init`.
fn invalidated<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (end, used, phase) in operations(u).filter(|(_, of, _)| of.step == MbarrierStep::Invalidate)
    {
        for (event, other, its) in operations(u) {
            if other.object != used.object || event == end {
                continue;
            }
            if its.initialization <= phase.initialization {
                relation.insert(event, end);
            } else {
                relation.insert(end, event);
            }
        }
    }
    relation
}

/// From arrivals at a barrier to those of later generations, as far as base causality order may contradict it.
fn generation_order<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (event, of) in u.events.iter().enumerate() {
        if of.of.is_some_and(|of| of.barrier.is_some()) {
            before(u, event).into_iter().flatten().for_each(|other| relation.insert(other, event));
        }
    }
    relation
}

/// From an operation on an object to those that came later, as far as phases and counts tell, and from an arrival at a barrier with
/// a thread count to those of later generations.
pub(super) fn object_order<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = awaited(u).or(&in_a_phase(u)).or(&invalidated(u)).or(&generation_order(u));
    for (event, object, phase) in advances(u) {
        let later = |other: ObjectPhase| other != phase && phase.is_up_to(other);
        for (after, other, its) in advances(u) {
            if object == other && (later(its) || its.initialization > phase.initialization) {
                relation.insert(event, after);
            }
        }
    }
    // A wait came before the phase after the open one began.
    for (wait, object, open) in looks(u) {
        for (after, other, its) in advances(u).chain(looks(u)) {
            if object == other && open.next().is_up_to(its) {
                relation.insert(wait, after);
            }
        }
    }
    relation.plus()
}

/// Operations on one mbarrier object, and arrivals at one barrier whose order matters.
pub(super) fn same_object<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let later = generation_order(u);
    let mut relation = later.or(&later.inverse());
    for (event, used, _) in operations(u) {
        for (other, ..) in operations(u).filter(|(_, its, _)| its.object == used.object) {
            relation.insert(event, other);
        }
    }
    relation
}

/// The arrivals on objects, with the object and the phase in which each takes effect.
fn arrivals<'u>(u: &'u Unfolding<'u>) -> impl Iterator<Item = (usize, Extent, ObjectPhase)> + 'u {
    operations(u)
        .filter(|(_, used, _)| matches!(used.step, MbarrierStep::Arrive { .. }))
        .map(|(event, used, phase)| (event, used.object, phase))
}

pub(super) fn next_phase<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (arrival, object, phase) in arrivals(u) {
        for (wait, other, seen) in waits(u) {
            if object == other && phase == seen.next() {
                relation.insert(wait, arrival);
            }
        }
    }
    relation
}

pub(super) fn later_phase<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (arrival, object, phase) in arrivals(u) {
        let states = &u.layout.locations[usize::from(object.object)].mbarriers;
        let declared = states.get((object.start / MBARRIER_BYTES) as usize);
        let declared = declared.filter(|_| phase.initialization == 0);
        let first =
            declared.map_or(0, |declared| i32::try_from(declared.phase).unwrap_or(i32::MAX));
        if phase.number > first {
            relation.insert(arrival, arrival);
        }
    }
    relation
}

/// The thread whose CTA has the shared memory that an event accesses, where that is not the CTA of its own thread.
fn owner(u: &Unfolding<'_>, event: &Event<'_>) -> Option<Placement> {
    let owner = shared_by(u, event.access?.pa)?;
    let own = u.program.threads[usize::from(event.thread?.0)].placement;
    (!own.same_cta(owner)).then_some(owner)
}

pub(super) fn remote<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (event, of) in u.events.iter().enumerate() {
        if owner(u, of).is_some() {
            relation.insert(event, event);
        }
    }
    relation
}

pub(super) fn owner_cta<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (event, of) in u.events.iter().enumerate() {
        let Some(owner) = owner(u, of) else { continue };
        for (other, there) in u.events.iter().enumerate() {
            let of_thread = there.of.is_some_and(|of| of.part.is_none());
            let placement = |thread: ThreadId| u.program.threads[usize::from(thread.0)].placement;
            if of_thread && there.thread.is_some_and(|of| placement(of).same_cta(owner)) {
                relation.insert(event, other);
            }
        }
    }
    relation
}

pub(super) fn covers<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (fence, of) in u.events.iter().enumerate() {
        let fences = of.tags.has(Tag::AsyncFence)
            || of.tags.has(Tag::TensormapAcquire)
            || of.tags.has(Tag::RestrictedRelease)
            || of.tags.has(Tag::RestrictedAcquire);
        let (true, Some(thread), Some(path_event)) = (fences, of.thread, of.of) else { continue };
        for (event, other) in u.events.iter().enumerate() {
            if is_covered(u, thread, path_event.covers, other) {
                relation.insert(fence, event);
            }
        }
    }
    relation
}

fn is_covered(
    u: &Unfolding<'_>,
    thread: ThreadId,
    covers: FenceCoverage,
    event: &Event<'_>,
) -> bool {
    let Some(access) = event.access else { return false };
    let here = u.program.threads[usize::from(thread.0)].placement;
    let shared =
        |scope: Scope| shared_by(u, access.pa).is_some_and(|there| scope.includes(here, there));
    let own_read = || {
        let synchronous = event.of.is_some_and(|of| of.part.is_none());
        event.thread == Some(thread) && synchronous && event.is_read()
    };
    match covers {
        FenceCoverage::Everything => true,
        FenceCoverage::Bytes(bytes) => bytes.contains(access.pa),
        FenceCoverage::Space(of) => space(u, access.pa) == of,
        FenceCoverage::OwnShared => shared(Scope::Cta),
        FenceCoverage::ClusterShared => shared(Scope::Cluster),
        FenceCoverage::OwnReads => own_read(),
        FenceCoverage::OwnSharedReads => own_read() && shared(Scope::Cluster),
        FenceCoverage::Initializations => {
            event.thread == Some(thread) && event.tags.has(Tag::MbarrierInit)
        }
    }
}
