//! What operations depend on that wait for another thread: for its exit, for its arrival at a barrier or on an mbarrier
//! object, or for a kernel. Reading R49.

use super::{
    asynchronous, barrier, cluster_barrier, dependencies, generation_pairs, kernel, program_order,
    sources_of, waits,
};
use crate::event::{EventKind, MbarrierStep, PathEvent};
use crate::unfold::{Event, Unfolding};
use model::bits::{BitRel, BitRow};
use model::program::ThreadId;

/// From reads before the exit of a thread to the writes that wait for that exit, through however many barriers.
pub(super) fn exited<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    if u.exits.is_empty() && u.program.launches.is_empty() {
        return BitRel::empty(u.events.len());
    }
    let exit = exits(u);
    // A thread goes on when the others have arrived, also relaxed; but what it read before a relaxed
    // arrival may come after (reading R28).
    let before = program_order(u).or(&barrier(u)).or(&cluster_barrier(u)).plus();
    let after = awaits(u, &exit, &arrivals(u));
    to_writes(u, &exit.or(&before.seq(&exit)).seq(&after))
}

/// From reads on which it depends that a thread arrives, and how, to the writes that wait for the arrival, through
/// however many barriers and objects.
pub(super) fn awaited<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    // Few programs have an arrival that depends on a read.
    if !u.paths.iter().any(|path| path.arrivals_depend()) {
        return BitRel::empty(u.events.len());
    }
    let mask = |of: &PathEvent| if of.may_be_awaited() { of.depends_on() } else { 0 };
    let skips = u.paths.iter().any(|path| path.skips());
    let (arrivals, reads): (BitRel<R>, BitRel<R>) = (arrivals(u), dependencies(u, mask));
    let mut awaits = awaits(u, &exits(u), &arrivals);
    let mut decided = BitRel::empty(u.events.len());
    for (read, event) in reads.pairs() {
        let looks = step(u, event).is_some_and(MbarrierStep::looks);
        if looks || arrivals.rows[event] != R::default() {
            decided.insert(read, event);
        }
    }
    if skips {
        let skipped = skipped_before(u, &awaits);
        for &(read, operation) in skipped.iter().filter(|(by, _)| u.events[*by].is_read()) {
            decided.insert(read, operation);
        }
        // What a wait returned may decide it, too.
        for &(wait, operation) in skipped.iter().filter(|(by, _)| !u.events[*by].is_read()) {
            awaits.insert(wait, operation);
        }
        awaits = awaits.plus();
    }
    to_writes(u, &decided.seq(&awaits))
}

/// What decides that an operation on an mbarrier object is skipped, with the operations of other threads on the object
/// that wait for what comes after it. Those of its own thread depend on it by themselves.
fn skipped_before<R: BitRow>(u: &Unfolding<'_>, awaits: &BitRel<R>) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for (thread, path) in u.paths.iter().enumerate() {
        let (first, end) = (u.first[thread], u.first[thread] + path.events.len());
        let thread = ThreadId(u8::try_from(thread).expect("few threads"));
        for skipped in &path.skipped {
            let tail = first + usize::from(skipped.before)..end;
            let operations = (0..u.events.len()).filter(|&event| {
                let used = u.events[event].of.and_then(|of| of.mbarrier);
                used.is_some_and(|used| {
                    used.step.follows_skipped() && skipped.may_be_on(used.object)
                }) && tail.clone().any(|of| awaits.has(of, event))
            });
            let operations: Vec<usize> = operations.collect();
            let decides = |event: &Event<'_>| event.is_read() || ends(event) == Some(false);
            for by in sources_of(u, thread, skipped.taint, &decides) {
                all.extend(operations.iter().map(|&operation| (by, operation)));
            }
        }
    }
    all
}

fn step(u: &Unfolding<'_>, event: usize) -> Option<MbarrierStep> {
    Some(u.events[event].of?.mbarrier?.step)
}

/// From the events of threads that have exited to the waits that wait for the exit.
fn exits<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut exit: BitRel<R> = kernel::order(u).or(&kernel::exit_trigger(u));
    for &(generation, thread) in &u.exits {
        let first = u.first[thread];
        for wait in waits(u, generation).filter(|&wait| !u.exchanges(wait)) {
            for before in first..first + u.paths[thread].events.len() {
                exit.insert(before, wait);
            }
        }
    }
    exit
}

/// From arrivals, and what else ends a phase of an mbarrier object, to the waits that wait for them, and to operations on the
/// object whose result tells of them.
fn arrivals<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let of_objects = asynchronous::awaited(u).or(&asynchronous::decided(u));
    generation_pairs(u, |_| true).or(&of_objects).or(&kernel::trigger(u))
}

/// What waits for an event, in any number of steps: its waits, and what they keep from being executed.
fn awaits<R: BitRow>(u: &Unfolding<'_>, exit: &BitRel<R>, arrivals: &BitRel<R>) -> BitRel<R> {
    exit.or(arrivals).or(&followed(u)).plus()
}

/// Whether it blocks, of what has a result that tells of other threads: a wait that ends, or that tells that a phase has not
/// ended, or an arrival that finds a count.
fn ends(event: &Event<'_>) -> Option<bool> {
    let of = event.of?;
    if matches!(of.kind, EventKind::Wait | EventKind::KernelStart | EventKind::GridWait) {
        return Some(true);
    }
    let step = of.mbarrier?.step;
    if let MbarrierStep::Wait { blocks, returned: true, .. } = step {
        return Some(blocks);
    }
    (step.looks() || step.found().is_some()).then_some(false)
}

/// From a wait to what would not be executed if it did not end: all that is after a wait that blocks, and otherwise what
/// depends on what the wait returned.
fn followed<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for wait in 0..u.events.len() {
        let (Some(true), Some((thread, index))) = (ends(&u.events[wait]), u.place(wait)) else {
            continue;
        };
        let first = u.first[usize::from(thread.0)];
        for (later, event) in u.paths[usize::from(thread.0)].events.iter().enumerate() {
            if event.part.map_or(later, |part| part.issued.into()) > index {
                relation.insert(wait, first + later);
            }
        }
    }
    for (event, of) in u.events.iter().enumerate() {
        let (Some(thread), Some(of)) = (of.thread, of.of) else { continue };
        for wait in sources_of(u, thread, of.depends_on(), &|event| ends(event) == Some(false)) {
            relation.insert(wait, event);
        }
    }
    relation
}

fn to_writes<R: BitRow>(u: &Unfolding<'_>, all: &BitRel<R>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (read, write) in all.pairs() {
        if u.events[read].is_read() && u.events[write].is_write() {
            relation.insert(read, write);
        }
    }
    relation
}
