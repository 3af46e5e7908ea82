//! The missing condition of each reads-from edge of an allowed execution that does not synchronize.

use std::fmt;

use execution::event::MbarrierStep;
use execution::unfold::Event;
use model::bits::BitRow;
use model::given::{Fixed, Tag};
use model::program::ThreadId;
use model::rel::Model;
use model::section::{self, Section};

use super::candidate::Candidate;

/// A read from another thread that does not synchronize.
pub(super) struct UnorderedRead {
    pub(super) write: usize,
    pub(super) read: usize,
    /// Both instructions with their threads.
    what: String,
    /// The missing condition, without a full stop.
    pub(super) reason: String,
}

impl fmt::Display for UnorderedRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, which orders nothing:\n    {}.", self.what, self.reason)
    }
}

/// The reads from other threads that do not synchronize.
pub(super) fn unordered<R: BitRow>(
    model: &Model,
    candidate: &Candidate<'_, R>,
) -> Vec<UnorderedRead> {
    let u = candidate.structure.unfolding;
    let named = |name: &str| candidate.relation(model, name);
    let (Some(strong), Some(release), Some(acquire), Some(base)) = (
        named("morally-strong"),
        named("release-pattern"),
        named("acquire-pattern"),
        named("base-causality"),
    ) else {
        return Vec::new();
    };
    let mut notes = Vec::new();
    for (write, read) in candidate.rf.pairs() {
        let (from, to) = (&u.events[write], &u.events[read]);
        let (Some(here), Some(there)) = (from.thread, to.thread) else { continue };
        if here == there || base.has(write, read) {
            continue;
        }
        let [(writer, wrote), (reader, reads)] =
            [write, read].map(|event| candidate.instruction(event));
        let tensor = |event: &Event<'_>| event.tags.has(Tag::TensorMemory);
        let reason = if tensor(from) && tensor(to) {
            if named("tensor-order").is_some_and(|order| order.has(write, read)) {
                continue;
            }
            let complete = named("tensor-completion").is_some_and(|completed| {
                [write, read].into_iter().any(|event| !completed.rows[event].is_empty())
            });
            not_ordered(complete)
        } else if !strong.has(write, read) {
            not_strong(u, write, read)
        } else if !(0..u.events.len()).any(|first| release.has(first, write)) {
            format!(
                "no release pattern ends with `{wrote}` {}",
                cite(section::RELEASE_ACQUIRE_PATTERNS)
            )
        } else if !(0..u.events.len()).any(|last| acquire.has(read, last)) {
            format!(
                "no acquire pattern starts with `{reads}` {}",
                cite(section::RELEASE_ACQUIRE_PATTERNS)
            )
        } else {
            format!(
                "the ends of the release and acquire patterns are not morally strong {}",
                cite(section::MEMORY_SYNCHRONIZATION)
            )
        };
        let what = format!("{reader}'s `{reads}` reads from {writer}'s `{wrote}`");
        notes.push(UnorderedRead { write, read, what, reason });
    }
    notes.extend(unordered_waits(model, candidate));
    notes
}

/// The waits for phases of mbarrier objects that do not synchronize with an arrival of another thread in that phase.
fn unordered_waits<R: BitRow>(model: &Model, candidate: &Candidate<'_, R>) -> Vec<UnorderedRead> {
    let u = candidate.structure.unfolding;
    let (Some(release), Some(acquire), Some(base)) = (
        candidate.relation(model, "mbarrier-release-pattern"),
        candidate.relation(model, "mbarrier-acquire-pattern"),
        candidate.relation(model, "base-causality"),
    ) else {
        return Vec::new();
    };
    let is_arrival = |event: usize| {
        let used = u.events[event].of.and_then(|of| of.mbarrier);
        used.is_some_and(|used| matches!(used.step, MbarrierStep::Arrive { .. }))
    };
    let mut notes = Vec::new();
    for (arrival, wait) in candidate.structure.fixed(Fixed::Phase).pairs() {
        let (from, to) = (&u.events[arrival], &u.events[wait]);
        let (Some(here), Some(there)) = (from.thread, to.thread) else { continue };
        if !is_arrival(arrival) || here == there || base.has(arrival, wait) {
            continue;
        }
        let [(first, one), (second, two)] =
            [arrival, wait].map(|event| candidate.instruction(event));
        let patterns = cite(section::RELEASE_ACQUIRE_PATTERNS);
        let reason = if !(0..u.events.len()).any(|start| release.has(start, arrival)) {
            format!("the arrival is relaxed, and no release fence is before it {patterns}")
        } else if acquire.rows[wait].is_empty() {
            format!("the wait is relaxed, and no acquire fence is behind it {patterns}")
        } else {
            let placed = |thread: ThreadId| u.program.threads[usize::from(thread.0)].placement;
            let ends = [(from, here, there, one, second), (to, there, here, two, first)];
            let narrow = ends.into_iter().find_map(|(event, own, other, text, name)| {
                let scope = event.tags.scope()?;
                let narrow = !scope.includes(placed(own), placed(other));
                narrow.then_some((scope, text, name))
            });
            let cited = cite(section::MEMORY_SYNCHRONIZATION);
            match narrow {
                Some((scope, text, name)) => {
                    let written = text.contains(&format!(".{scope}."));
                    let default = if written { "" } else { ", its default," };
                    format!("scope .{scope} of `{text}`{default} does not include {name} {cited}")
                }
                None => format!("the scopes of the two do not include each other {cited}"),
            }
        };
        let what = format!("{second}'s `{two}` sees the phase that {first}'s `{one}` is part of");
        notes.push(UnorderedRead { write: arrival, read: wait, what, reason });
    }
    notes
}

/// Why two accesses of tensor memory are in no order; `complete` if some thread waits for one of them.
fn not_ordered(complete: bool) -> String {
    if complete {
        let cited = cite(section::TENSOR_SYNCHRONIZATION);
        format!("no `tcgen05.fence` or release and acquire orders one before the other {cited}")
    } else {
        let cited = cite(section::TENSOR_PIPELINES);
        format!("no thread waits for the completion of either, and they form no pipeline {cited}")
    }
}

fn not_strong(u: &execution::unfold::Unfolding<'_>, write: usize, read: usize) -> String {
    let strong = |event: &Event<'_>| {
        [Tag::Relaxed, Tag::Acquire, Tag::Release].iter().any(|&tag| event.tags.has(tag))
    };
    let text = |event: usize| {
        let of = &u.events[event];
        let thread = of.thread.map_or(0, |thread| usize::from(thread.0));
        let line = of.of.map_or(0, |of| usize::from(of.line));
        format!("`{}`", u.program.threads[thread].lines[line].text)
    };
    let weak: Vec<String> =
        [write, read].into_iter().filter(|&e| !strong(&u.events[e])).map(text).collect();
    match weak.as_slice() {
        [one] => return format!("{one} is weak {}", cite(section::MORALLY_STRONG)),
        [_, _] => return format!("both are weak {}", cite(section::MORALLY_STRONG)),
        _ => {}
    }
    for (here, there) in [(write, read), (read, write)] {
        let (from, to) = (&u.events[here], &u.events[there]);
        let (Some(a), Some(b)) = (from.thread, to.thread) else { continue };
        let placed = |t: ThreadId| &u.program.threads[usize::from(t.0)];
        let Some(scope) = from.tags.scope() else { continue };
        if !scope.includes(placed(a).placement, placed(b).placement) {
            return format!(
                "scope .{scope} of {} does not include {}, so they are not morally strong {}",
                text(here),
                placed(b).name,
                cite(section::MORALLY_STRONG)
            );
        }
    }
    format!("they do not overlap completely through one proxy {}", cite(section::MORALLY_STRONG))
}

fn cite(section: Section) -> String {
    format!("({})", section.number)
}
