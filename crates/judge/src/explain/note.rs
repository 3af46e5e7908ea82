//! The missing condition of each reads-from edge of an allowed execution that does not synchronize.

use std::fmt;

use execution::event::MbarrierStep;
use execution::unfold::{Event, Unfolding};
use model::bits::{BitRel, BitRow};
use model::given::{Fixed, Tag};
use model::rel::Model;
use model::scope::Scope;
use model::section::{self, Section};

use super::candidate::{Candidate, WantedCandidates, undefines};

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

/// Two accesses of which the first is to come before the second, and does not.
#[derive(Clone, Copy)]
pub(super) struct WantedOrder {
    pub(super) first: usize,
    pub(super) second: usize,
}

/// The pairs that race, where these are wanted; otherwise a write and a read that misses it.
pub(super) fn wanted_orders<R: BitRow>(
    model: &Model,
    candidate: &Candidate<'_, R>,
    wanted: WantedCandidates<'_>,
) -> Vec<WantedOrder> {
    if let WantedCandidates::Undefined(reason) = wanted {
        let raised = model.flags.iter().filter(|flag| undefines(flag, reason));
        let races = raised.flat_map(|flag| candidate.nodes[usize::from(flag.node.0)].pairs());
        return races.map(|(first, second)| WantedOrder { first, second }).collect();
    }
    let missed = candidate.fr.pairs();
    missed.map(|(second, first)| WantedOrder { first, second }).collect()
}

/// The reads from other threads that do not synchronize, or not so that one of these pairs is ordered: first those that such a pair
/// lacks, and those that could synchronize, since both accesses are morally strong.
pub(super) fn unordered<R: BitRow>(
    model: &Model,
    candidate: &Candidate<'_, R>,
    pairs: &[WantedOrder],
) -> Vec<UnorderedRead> {
    let u = candidate.structure.unfolding;
    let named = |name: &str| candidate.relation(model, name);
    let patterns = Patterns::named(model, candidate, ["release-pattern", "acquire-pattern"]);
    let (Some(strong), Some(patterns), Some(base)) =
        (named("morally-strong"), patterns, named("base-causality"))
    else {
        return Vec::new();
    };
    let (mut lacked, mut notes, mut weak) = (Vec::new(), Vec::new(), Vec::new());
    for (write, read) in candidate.rf.pairs() {
        let (from, to) = (&u.events[write], &u.events[read]);
        let (Some(here), Some(there)) = (from.thread, to.thread) else { continue };
        if here == there || base.has(write, read) {
            continue;
        }
        let [(writer, wrote), (reader, reads)] =
            [write, read].map(|event| candidate.instruction(event));
        let tensor = |event: &Event<'_>| event.tags.has(Tag::TensorMemory);
        let between = |pair: &&WantedOrder| {
            base.has(pair.first, write)
                && base.has(read, pair.second)
                && !base.has(pair.first, pair.second)
                && !base.has(pair.second, pair.first)
        };
        let mut between = pairs.iter().filter(between).peekable();
        let is_lacked = between.peek().is_some();
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
            let lacking = if is_lacked {
                between.find_map(|&pair| patterns.lacking_between(write, read, pair, base))
            } else {
                patterns.lacking(write, read)
            };
            match lacking {
                None => continue,
                Some(Lacking::Release) => no_release(wrote),
                Some(Lacking::Acquire) => no_acquire(reads),
                Some(Lacking::ReleaseBehind { first, start }) => format!(
                    "no release pattern behind `{0}` ends with `{wrote}`: `{1}` stands before `{0}` {2}",
                    candidate.instruction(first).1,
                    candidate.instruction(start).1,
                    cite(section::RELEASE_ACQUIRE_PATTERNS)
                ),
                Some(Lacking::AcquireBefore { second, end }) => format!(
                    "no acquire pattern before `{0}` starts with `{reads}`: `{1}` stands behind `{0}` {2}",
                    candidate.instruction(second).1,
                    candidate.instruction(end).1,
                    cite(section::RELEASE_ACQUIRE_PATTERNS)
                ),
                Some(Lacking::Strength(release, acquire)) => {
                    not_strong_ends(candidate, release, acquire)
                }
            }
        };
        let what = format!("{reader}'s `{reads}` reads from {writer}'s `{wrote}`");
        let kind = match (strong.has(write, read), is_lacked) {
            (true, true) => &mut lacked,
            (true, false) => &mut notes,
            (false, _) => &mut weak,
        };
        kind.push(UnorderedRead { write, read, what, reason });
    }
    lacked.extend(notes);
    lacked.extend(weak);
    lacked.extend(unordered_waits(model, candidate));
    lacked
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
            Some(Lacking::Strength(release, acquire)) => {
                narrow_scope(candidate, release, acquire).map_or_else(
                    || format!("the ends of the release and acquire patterns do not synchronize {cited}"),
                    |scope| format!("{scope} {cited}"),
                )
            }
            Some(_) => no_acquire(two),
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
    /// All release patterns start before what they have to cover.
    ReleaseBehind {
        first: usize,
        start: usize,
    },
    /// All acquire patterns end behind what they have to cover.
    AcquireBefore {
        second: usize,
        end: usize,
    },
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

    /// Where the release patterns start that end with a write.
    fn starts(&self, write: usize) -> Vec<usize> {
        (0..self.release.events()).filter(|&start| self.release.has(start, write)).collect()
    }

    /// Where the acquire patterns end that start with a read.
    fn ends(&self, read: usize) -> Vec<usize> {
        self.acquire.rows[read].events().collect()
    }

    /// What keeps the second event from synchronizing with the first; `None` if nothing does.
    fn lacking(&self, first: usize, second: usize) -> Option<Lacking> {
        self.lacking_of(&self.starts(first), &self.ends(second))
    }

    fn lacking_of(&self, starts: &[usize], ends: &[usize]) -> Option<Lacking> {
        let joined = |&start: &usize| ends.iter().any(|&end| self.synchronizes.has(start, end));
        if starts.iter().any(joined) {
            return None;
        }
        let Some(&start) = starts.first() else { return Some(Lacking::Release) };
        let Some(&end) = ends.first() else { return Some(Lacking::Acquire) };
        Some(Lacking::Strength(start, end))
    }

    /// What keeps a read from synchronizing with a write so that a pair is ordered, of which one access comes before the write and
    /// one after the read. Nothing where it is a thread of another access that does not cover it: that is told elsewhere.
    fn lacking_between(
        &self,
        write: usize,
        read: usize,
        WantedOrder { first, second }: WantedOrder,
        base: &BitRel<R>,
    ) -> Option<Lacking> {
        let (mut starts, mut ends) = (self.starts(write), self.ends(read));
        if starts.is_empty() || ends.is_empty() {
            return self.lacking_of(&starts, &ends);
        }
        let (some_start, some_end) = (starts[0], ends[0]);
        starts.retain(|&start| base.has(first, start));
        ends.retain(|&end| end == read || base.has(end, second));
        if starts.is_empty() {
            let same = base.has(some_start, first);
            return same.then_some(Lacking::ReleaseBehind { first, start: some_start });
        }
        if ends.is_empty() {
            let same = base.has(second, some_end);
            return same.then_some(Lacking::AcquireBefore { second, end: some_end });
        }
        self.lacking_of(&starts, &ends)
    }
}

/// Why the ends of a release and an acquire pattern do not synchronize.
fn not_strong_ends<R: BitRow>(
    candidate: &Candidate<'_, R>,
    release: usize,
    acquire: usize,
) -> String {
    let scope = narrow_scope(candidate, release, acquire);
    let scope = scope.map_or(String::new(), |scope| format!(": {scope}"));
    let cited = cite(section::MEMORY_SYNCHRONIZATION);
    format!("the ends of the release and acquire patterns are not morally strong{scope} {cited}")
}

/// Which of two events has a scope without the thread of the other, if one has.
fn narrow_scope<R: BitRow>(
    candidate: &Candidate<'_, R>,
    one: usize,
    other: usize,
) -> Option<String> {
    let (scope, event, name) = narrow(candidate.structure.unfolding, one, other)?;
    let text = candidate.instruction(event).1;
    // `membar.gl` names its scope in another way.
    let written = text.contains(&format!(".{scope}")) || text.contains("membar");
    let default = if written { "" } else { ", its default," };
    Some(format!("scope .{scope} of `{text}`{default} does not include {name}"))
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
