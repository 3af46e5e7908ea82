//! What operations depend on that wait for another thread: for its exit, for its arrival at a barrier or on an mbarrier
//! object, or for a kernel. Reading R49.

use super::{
    asynchronous, barrier, cluster_barrier, dependencies, generation_pairs, program_order,
};
use super::{followed, kernel, waits};
use crate::event::Mask;
use crate::unfold::Unfolding;
use model::bits::{BitRel, BitRow};

/// From reads before the exit of a thread to the writes that wait for that exit, through however many barriers.
pub(super) fn exited<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let exit = exits(u);
    if u.exits.is_empty() && u.program.launches.is_empty() {
        return exit;
    }
    // A thread goes on when the others have arrived, also relaxed; but what it read before a relaxed
    // arrival may come after (reading R28).
    let before = program_order(u).or(&barrier(u)).or(&cluster_barrier(u)).plus();
    let after = awaits(u, &exit, &arrivals(u));
    to_writes(u, &exit.or(&before.seq(&exit)).seq(&after))
}

/// From reads on which it depends that a thread arrives, and how, to the writes that wait for the arrival, through
/// however many barriers and objects.
pub(super) fn awaited<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let none = BitRel::empty(u.events.len());
    let arrivals: BitRel<R> = arrivals(u);
    let depends = |event: usize| u.events[event].of.is_some_and(|of| on(of) != 0);
    if !arrivals.pairs().any(|(arrival, _)| depends(arrival)) {
        return none;
    }
    let of_arrivals: BitRel<R> = dependencies(u, on);
    let mut decided = none;
    for (read, event) in of_arrivals.pairs() {
        if arrivals.rows[event] != R::default() {
            decided.insert(read, event);
        }
    }
    to_writes(u, &decided.seq(&awaits(u, &exits(u), &arrivals)))
}

/// All that an event depends on.
fn on(of: &crate::event::PathEvent) -> Mask {
    of.addr | of.data | of.ctrl
}

/// From the events of threads that have exited to the waits that wait for the exit.
fn exits<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut exit: BitRel<R> = kernel::order(u).or(&kernel::launched_by_exit(u));
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

/// From arrivals, and what else ends a phase of an mbarrier object, to the waits that wait for them.
fn arrivals<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    generation_pairs(u, |_| true).or(&asynchronous::awaited(u)).or(&kernel::trigger(u))
}

/// What waits for an event, in any number of steps: its waits, and what they keep from being executed.
fn awaits<R: BitRow>(u: &Unfolding<'_>, exit: &BitRel<R>, arrivals: &BitRel<R>) -> BitRel<R> {
    exit.or(arrivals).or(&followed(u)).plus()
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
