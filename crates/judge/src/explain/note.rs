//! The missing condition of each reads-from edge of an allowed execution that does not synchronize.

use std::fmt;

use execution::event::MbarrierStep;
use execution::unfold::{Event, Unfolding};
use model::bits::{BitRel, BitRow};
use model::given::{Fixed, Tag};
use model::rel::Model;
use model::scope::Scope;
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

/// The reads from other threads that do not synchronize: first those that could, since both accesses are morally strong.
pub(super) fn unordered<R: BitRow>(
    model: &Model,
    candidate: &Candidate<'_, R>,
) -> Vec<UnorderedRead> {
    let u = candidate.structure.unfolding;
    let named = |name: &str| candidate.relation(model, name);
    let patterns = Patterns::named(model, candidate, ["release-pattern", "acquire-pattern"]);
    let (Some(strong), Some(patterns), Some(base)) =
        (named("morally-strong"), patterns, named("base-causality"))
    else {
        return Vec::new();
    };
    let (mut notes, mut weak) = (Vec::new(), Vec::new());
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
            // What orders these is explained elsewhere: completions, proxy fences, the ends of kernels.
            let kernel = |event: &Event<'_>| {
                let thread = event.thread?;
                Some(u.program.threads[usize::from(thread.0)].placement.kernel)
            };
            let part = |event: &Event<'_>| event.of.is_some_and(|of| of.part.is_some());
            if part(from) || part(to) || kernel(from) != kernel(to) {
                continue;
            }
            not_strong(u, write, read)
        } else {
            match patterns.lacking(write, read) {
                None => continue,
                Some(Lacking::Release) => no_release(wrote),
                Some(Lacking::Acquire) => no_acquire(reads),
                Some(Lacking::Strength(..)) => format!(
                    "the ends of the release and acquire patterns are not morally strong {}",
                    cite(section::MEMORY_SYNCHRONIZATION)
                ),
            }
        };
        let what = format!("{reader}'s `{reads}` reads from {writer}'s `{wrote}`");
        let kind = if strong.has(write, read) { &mut notes } else { &mut weak };
        kind.push(UnorderedRead { write, read, what, reason });
    }
    notes.extend(weak);
    notes.extend(unordered_waits(model, candidate));
    notes
}

/// The waits for phases of mbarrier objects that do not synchronize with an arrival of another thread in that phase.
fn unordered_waits<R: BitRow>(model: &Model, candidate: &Candidate<'_, R>) -> Vec<UnorderedRead> {
    let u = candidate.structure.unfolding;
    let patterns = ["mbarrier-release-pattern", "mbarrier-acquire-pattern"];
    let Some(patterns) = Patterns::named(model, candidate, patterns) else { return Vec::new() };
    let is_arrival = |event: usize| {
        let used = u.events[event].of.and_then(|of| of.mbarrier);
        used.is_some_and(|used| matches!(used.step, MbarrierStep::Arrive { .. }))
    };
    let mut notes = Vec::new();
    for (arrival, wait) in candidate.structure.fixed(Fixed::Phase).pairs() {
        if !is_arrival(arrival) || u.events[arrival].thread == u.events[wait].thread {
            continue;
        }
        let [(first, one), (second, two)] =
            [arrival, wait].map(|event| candidate.instruction(event));
        let cited = cite(section::MEMORY_SYNCHRONIZATION);
        let reason = match patterns.lacking(arrival, wait) {
            None => continue,
            Some(Lacking::Release) => no_release(one),
            Some(Lacking::Acquire) => no_acquire(two),
            Some(Lacking::Strength(release, acquire)) => match narrow(u, release, acquire) {
                Some((scope, event, name)) => {
                    let text = candidate.instruction(event).1;
                    let written = text.contains(&format!(".{scope}."));
                    let default = if written { "" } else { ", its default," };
                    format!("scope .{scope} of `{text}`{default} does not include {name} {cited}")
                }
                None => format!(
                    "the ends of the release and acquire patterns do not synchronize {cited}"
                ),
            },
        };
        let what = format!("{second}'s `{two}` sees the phase that {first}'s `{one}` is part of");
        notes.push(UnorderedRead { write: arrival, read: wait, what, reason });
    }
    notes
}

/// The patterns around two events of which one sees what the other did.
struct Patterns<'c, R: BitRow> {
    release: &'c BitRel<R>,
    acquire: &'c BitRel<R>,
    synchronizes: &'c BitRel<R>,
}

/// Why two such events do not synchronize.
enum Lacking {
    Release,
    Acquire,
    /// The ends of both patterns are there.
    Strength(usize, usize),
}

impl<'c, R: BitRow> Patterns<'c, R> {
    fn named(
        model: &Model,
        candidate: &'c Candidate<'_, R>,
        [release, acquire]: [&str; 2],
    ) -> Option<Patterns<'c, R>> {
        let named = |name: &str| candidate.relation(model, name);
        let (release, acquire) = (named(release)?, named(acquire)?);
        Some(Patterns { release, acquire, synchronizes: named("synchronizes")? })
    }

    /// What keeps the second event from synchronizing with the first; `None` if nothing does.
    fn lacking(&self, first: usize, second: usize) -> Option<Lacking> {
        let releases = |&start: &usize| self.release.has(start, first);
        let releases: Vec<usize> = (0..self.release.events()).filter(releases).collect();
        let acquires: Vec<usize> = self.acquire.rows[second].events().collect();
        let joined = |&start: &usize| acquires.iter().any(|&end| self.synchronizes.has(start, end));
        if releases.iter().any(joined) {
            return None;
        }
        let Some(&start) = releases.first() else { return Some(Lacking::Release) };
        let Some(&end) = acquires.first() else { return Some(Lacking::Acquire) };
        Some(Lacking::Strength(start, end))
    }
}

fn no_release(text: &str) -> String {
    format!("no release pattern ends with `{text}` {}", cite(section::RELEASE_ACQUIRE_PATTERNS))
}

fn no_acquire(text: &str) -> String {
    format!("no acquire pattern starts with `{text}` {}", cite(section::RELEASE_ACQUIRE_PATTERNS))
}

/// The scope of one of two events that does not include the thread of the other, with the event and the thread's name.
pub(super) fn narrow<'u>(
    u: &Unfolding<'u>,
    one: usize,
    other: usize,
) -> Option<(Scope, usize, &'u str)> {
    [(one, other), (other, one)].into_iter().find_map(|(here, there)| {
        let thread = |event: usize| {
            let thread = u.events[event].thread?;
            Some(&u.program.threads[usize::from(thread.0)])
        };
        let scope = u.events[here].tags.scope()?;
        let (own, other) = (thread(here)?, thread(there)?);
        let includes = scope.includes(own.placement, other.placement);
        (!includes).then_some((scope, here, &*other.name))
    })
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

fn not_strong(u: &Unfolding<'_>, write: usize, read: usize) -> String {
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
    if let Some((scope, event, name)) = narrow(u, write, read) {
        return format!(
            "scope .{scope} of {} does not include {name}, so they are not morally strong {}",
            text(event),
            cite(section::MORALLY_STRONG)
        );
    }
    format!("they do not overlap completely through one proxy {}", cite(section::MORALLY_STRONG))
}

fn cite(section: Section) -> String {
    format!("({})", section.number)
}
