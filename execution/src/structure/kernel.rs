//! The relations between kernels: 8.9.4 on the order of tasks in streams, and 9.7.15.14 on `griddepcontrol`.

use std::collections::BTreeSet;

use crate::event::EventKind;
use crate::unfold::{Event, Unfolding};
use model::bits::{BitRel, BitRow};
use model::program::LaunchOrder;
use model::scope::Placement;

fn placement(u: &Unfolding<'_>, event: &Event<'_>) -> Option<Placement> {
    Some(u.program.threads[usize::from(event.thread?.0)].placement)
}

fn kernel(u: &Unfolding<'_>, event: &Event<'_>) -> Option<u32> {
    Some(placement(u, event)?.kernel)
}

/// Whether two events are of threads of one CTA.
fn in_one_cta(u: &Unfolding<'_>, a: &Event<'_>, b: &Event<'_>) -> bool {
    placement(u, a).zip(placement(u, b)).is_some_and(|(a, b)| a.same_cta(b))
}

fn kind(event: &Event<'_>) -> Option<EventKind> {
    event.of.map(|of| of.kind)
}

/// Relates the events of kernels to those of the kernels that are launched behind them, in so far as `related` says so.
fn between<R: BitRow>(
    u: &Unfolding<'_>,
    related: impl Fn(&Event<'_>, &Event<'_>, LaunchOrder) -> bool,
) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for launch in &u.program.launches {
        for (a, before) in u.events.iter().enumerate() {
            if kernel(u, before) != Some(launch.before) {
                continue;
            }
            for (b, after) in u.events.iter().enumerate() {
                if kernel(u, after) == Some(launch.after) && related(before, after, launch.order) {
                    relation.insert(a, b);
                }
            }
        }
    }
    relation
}

pub(super) fn order<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    between(u, |_, after, order| match kind(after) {
        Some(EventKind::KernelStart) => order == LaunchOrder::Stream,
        Some(EventKind::GridWait) => true,
        _ => false,
    })
}

/// The first `griddepcontrol.launch_dependents` of each CTA.
fn first_triggers(u: &Unfolding<'_>) -> BTreeSet<usize> {
    u.triggers.iter().map(|&(thread, event)| u.first[thread] + usize::from(event)).collect()
}

pub(super) fn trigger<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    let all: BitRel<R> = between(u, |before, after, order| {
        order == LaunchOrder::Programmatic
            && kind(before) == Some(EventKind::Trigger)
            && kind(after) == Some(EventKind::KernelStart)
    });
    for first in first_triggers(u) {
        relation.rows[first] = all.rows[first];
    }
    relation
}

pub(super) fn later_trigger<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for first in first_triggers(u) {
        for (later, of) in u.events.iter().enumerate() {
            let same = in_one_cta(u, &u.events[first], of);
            if same && later != first && kind(of) == Some(EventKind::Trigger) {
                relation.insert(later, first);
            }
        }
    }
    relation
}

/// A dependent kernel is launched when some thread of each CTA has come to its `launch_dependents`, or all of its
/// threads have ended. A read decides that if the first `launch_dependents` of its CTA depends on it, or if it is one of
/// a CTA without.
pub(super) fn launched<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let firsts = first_triggers(u);
    let control: BitRel<R> = super::dependencies(u, |event| event.ctrl);
    let decides = |read: usize| {
        let own = |trigger: &&usize| in_one_cta(u, &u.events[read], &u.events[**trigger]);
        firsts.iter().find(own).is_none_or(|&trigger| control.has(read, trigger))
    };
    let mut relation = BitRel::empty(u.events.len());
    for launch in &u.program.launches {
        if launch.order != LaunchOrder::Programmatic {
            continue;
        }
        let of = |event: &Event<'_>, number| kernel(u, event) == Some(number);
        for (read, before) in u.events.iter().enumerate() {
            if !before.is_read() || !of(before, launch.before) || !decides(read) {
                continue;
            }
            for (write, after) in u.events.iter().enumerate() {
                if after.is_write() && of(after, launch.after) {
                    relation.insert(read, write);
                }
            }
        }
    }
    relation
}

pub(super) fn implicit_trigger<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let triggers = u.events.iter().filter(|of| kind(of) == Some(EventKind::Trigger));
    let explicit: BTreeSet<u32> = triggers.filter_map(|of| kernel(u, of)).collect();
    between(u, |before, after, order| {
        order == LaunchOrder::Programmatic
            && kind(after) == Some(EventKind::KernelStart)
            && kernel(u, before).is_some_and(|kernel| !explicit.contains(&kernel))
    })
}
