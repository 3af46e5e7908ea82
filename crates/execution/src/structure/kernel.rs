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

/// Relates the events of kernels to those of the kernels that are launched after them, in so far as `related` says so.
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

/// From the events of the CTAs of a kernel that execute no `launch_dependents` to the starts of dependent threads: these
/// CTAs launch the kernel when all of their threads have ended.
pub(super) fn exit_trigger<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let firsts = first_triggers(u);
    between(u, |before, after, order| {
        let own = |trigger: &usize| in_one_cta(u, before, &u.events[*trigger]);
        order == LaunchOrder::Programmatic
            && kind(after) == Some(EventKind::KernelStart)
            && !firsts.iter().any(own)
    })
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
