//! The operations on mbarrier objects, and the arrivals at barriers with a thread count, whose order a run does not settle: base
//! causality order may relate them otherwise.
//!
//! A run goes through the barriers and objects. What they order is in base causality order as it is in the run. What flags,
//! `fence.sc` and launches of kernels order is not known yet, and may contradict the run: only then does it matter which
//! operation of a phase, or which generation, came first.

use std::collections::BTreeSet;

use super::{BarrierKey, BarrierStep};
use crate::event::{Access, EventKind, MbarrierStep, MbarrierUse, PathEvent};
use crate::path::Path;
use model::given::Tag;
use model::memory::Extent;
use model::scope::Placement;

/// A thread, and the index of an event of its path.
type EventPlace = (usize, usize);

/// From events to events of other threads that they may be ordered before.
struct PossibleOrders {
    /// By barriers and objects.
    run: Vec<(EventPlace, EventPlace)>,
    /// By anything else.
    other: Vec<(EventPlace, EventPlace)>,
}

/// The operations on an object, and the arrivals at a barrier, that may be ordered before one of another thread, or after it, by more
/// than the run; by thread and event of its path.
pub(super) fn unsettled(
    paths: &[&Path],
    placements: &[Placement],
    steps: &[Vec<BarrierStep>],
) -> BTreeSet<(usize, u16)> {
    let other = other_orders(paths, placements);
    if other.is_empty() {
        return BTreeSet::new();
    }
    let orders = PossibleOrders { run: run_orders(paths, steps), other };
    let places = ordered_places(paths, steps);
    let mut all = BTreeSet::new();
    for &((thread, index), of) in &places {
        let reached = orders.reached((thread, index), paths.len());
        for &((there, tail), other) in &places {
            let after = there != thread && reached[there].is_some_and(|from| from <= tail);
            if after && of == other {
                all.extend([(thread, index), (there, tail)]);
            }
        }
    }
    let number = |(thread, event)| (thread, u16::try_from(event).expect("a path has few events"));
    all.into_iter().map(number).collect()
}

/// What has an order that a run decides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OrderedThing {
    Object(Extent),
    Barrier(BarrierKey),
}

/// The operations on objects, and the arrivals at barriers with a count.
fn ordered_places(paths: &[&Path], steps: &[Vec<BarrierStep>]) -> Vec<(EventPlace, OrderedThing)> {
    let on_objects = events(paths)
        .filter_map(|(place, of)| Some((place, OrderedThing::Object(of.mbarrier?.object))));
    let counted = counted(steps);
    let arrivals = steps.iter().enumerate().flat_map(|(thread, steps)| {
        let of_barrier = steps.iter().filter(|step| {
            step.object.is_none() && step.kind == EventKind::Arrive && counted.contains(&step.key)
        });
        of_barrier
            .map(move |step| ((thread, usize::from(step.event)), OrderedThing::Barrier(step.key)))
    });
    on_objects.chain(arrivals).collect()
}

/// The barriers at which some arrival gives a thread count.
fn counted(steps: &[Vec<BarrierStep>]) -> BTreeSet<BarrierKey> {
    let counts = steps.iter().flatten().filter(|step| step.used.count.is_some());
    counts.filter(|step| step.object.is_none()).map(|step| step.key).collect()
}

impl PossibleOrders {
    /// For each thread, the first event that may be after this one, where more than the run orders the two.
    fn reached(&self, (thread, index): EventPlace, threads: usize) -> Vec<Option<usize>> {
        let (mut by_run, mut by_other) = (vec![None; threads], vec![None; threads]);
        by_run[thread] = Some(index);
        loop {
            let mut moved = false;
            let mut reach = |reached: &mut Vec<Option<usize>>, (thread, index): EventPlace| {
                if reached[thread].is_none_or(|first| index < first) {
                    reached[thread] = Some(index);
                    moved = true;
                }
            };
            let comes = |reached: &[Option<usize>], (thread, index): EventPlace| {
                reached[thread].is_some_and(|first: usize| first <= index)
            };
            for &(from, to) in &self.run {
                if comes(&by_run, from) {
                    reach(&mut by_run, to);
                }
                if comes(&by_other, from) {
                    reach(&mut by_other, to);
                }
            }
            for &(from, to) in &self.other {
                if comes(&by_run, from) || comes(&by_other, from) {
                    reach(&mut by_other, to);
                }
            }
            if !moved {
                return by_other;
            }
        }
    }
}

fn events<'p>(paths: &'p [&Path]) -> impl Iterator<Item = (EventPlace, &'p PathEvent)> {
    paths.iter().enumerate().flat_map(|(thread, path)| {
        path.events.iter().enumerate().map(move |(index, event)| ((thread, index), event))
    })
}

/// The pairs of two threads that are related.
fn between<T>(
    from: &[(EventPlace, T)],
    to: &[(EventPlace, T)],
    related: impl Fn(&T, &T) -> bool,
) -> Vec<(EventPlace, EventPlace)> {
    let all =
        from.iter().flat_map(|(a, of)| to.iter().map(move |(b, other)| ((*a, of), (*b, other))));
    all.filter(|((a, of), (b, other))| a.0 != b.0 && related(of, other))
        .map(|((a, _), (b, _))| (a, b))
        .collect()
}

/// From arrivals to waits at the same barrier, and from operations on an object to waits at it.
fn run_orders(paths: &[&Path], steps: &[Vec<BarrierStep>]) -> Vec<(EventPlace, EventPlace)> {
    let operations: Vec<(EventPlace, MbarrierUse)> =
        events(paths).filter_map(|(place, of)| Some((place, of.mbarrier?))).collect();
    let mut all = between(&operations, &operations, |from, to| {
        let waits = matches!(to.step, MbarrierStep::Wait { .. });
        from.object == to.object && from.step.changes() && waits
    });
    let of_kind = |kind: EventKind| -> Vec<(EventPlace, (usize, BarrierKey))> {
        let threads = steps.iter().enumerate();
        let barriers = threads.flat_map(|(thread, steps)| {
            let of_barrier =
                steps.iter().filter(move |step| step.object.is_none() && step.kind == kind);
            of_barrier.map(move |step| {
                ((thread, step.event.into()), (arrivals_up_to(steps, step), step.key))
            })
        });
        barriers.collect()
    };
    let counted = counted(steps);
    let (arrivals, waits) = (of_kind(EventKind::Arrive), of_kind(EventKind::Wait));
    all.extend(between(&arrivals, &waits, |(arrival, key), (awaited, of)| {
        // Where all threads meet each time, the arrivals of a generation have the same number in each thread.
        key == of && (counted.contains(key) || arrival == awaited)
    }));
    all
}

/// How many arrivals of its thread there are at the barrier up to this step: the number of an arrival, and of that which a wait
/// is for.
fn arrivals_up_to(steps: &[BarrierStep], of: &BarrierStep) -> usize {
    let arrivals = |step: &&BarrierStep| step.key == of.key && step.kind == EventKind::Arrive;
    steps.iter().filter(arrivals).filter(|step| step.event <= of.event).count()
}

/// From strong writes after a release to strong reads of the same bytes before an acquire, from each `fence.sc` to all others, and
/// from kernels to others.
fn other_orders(paths: &[&Path], placements: &[Placement]) -> Vec<(EventPlace, EventPlace)> {
    let strong = |kind: EventKind, tag: Tag| -> Vec<(EventPlace, Access)> {
        let orders = |of: &PathEvent| {
            of.kind == kind && of.tags.has(tag)
                || matches!(of.kind, EventKind::Fence | EventKind::ProxyFence)
        };
        let ordered = |(thread, index): EventPlace| {
            let path = &paths[thread].events;
            let part = if tag == Tag::Release { &path[..=index] } else { &path[index..] };
            part.iter().any(orders)
        };
        let strong = events(paths).filter(|(_, of)| of.kind == kind && of.tags.scope().is_some());
        let loose = |of: &PathEvent| of.rmw.is_some() || of.part.is_some();
        let ordering = strong.filter(|(place, of)| loose(of) || ordered(*place));
        ordering.filter_map(|(place, of)| Some((place, of.access?))).collect()
    };
    let writes = strong(EventKind::Write, Tag::Release);
    let reads = strong(EventKind::Read, Tag::Acquire);
    let mut all = between(&writes, &reads, |write, read| write.pa.overlaps(read.pa));
    let fences: Vec<(EventPlace, ())> = events(paths)
        .filter(|(_, of)| of.tags.has(Tag::FenceSc))
        .map(|(place, _)| (place, ()))
        .collect();
    all.extend(between(&fences, &fences, |(), ()| true));
    let threads = placements.iter().enumerate();
    let ends: Vec<(EventPlace, u32)> =
        threads.clone().map(|(of, at)| ((of, paths[of].events.len()), at.kernel)).collect();
    let starts: Vec<(EventPlace, u32)> = threads.map(|(of, at)| ((of, 0), at.kernel)).collect();
    all.extend(between(&ends, &starts, |from, to| from != to));
    all
}
