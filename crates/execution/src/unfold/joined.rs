//! Combinations of paths, one for each thread, but for those in which a thread reads what no thread writes, or takes from a shuffle
//! what its lane does not bring.
//!
//! What a thread never comes to says nothing: where it waits at a barrier for ever, a combination is looked at for what is before
//! that. So a read counts where its thread certainly gets there: all threads of its CTA have the same barriers before it, which
//! wait for all of them, and the same exchanges between the lanes of warps, and nothing else to wait for. Such barriers also order it and what these threads write: of their writes
//! before the last one of them, a read returns none that its thread overwrites before that (8.10.5), and none that is after
//! the next one (8.10.6).

use std::collections::BTreeSet;
use std::ops::Range;

use super::{Combined, UnfoldLimit, Unfolded};
use crate::event::{BarrierUse, EventKind, PathEvent, Resource};
use crate::path::{Path, PathEnd};
use crate::written::mixed;
use model::isa::warp::ExchangeOp;
use model::memory::Extent;
use model::program::ThreadId;
use model::scope::Placement;
use model::value::Value;

/// Combinations of paths that are not looked at before they are visited.
const FEW: usize = 1;

/// A read that takes a write of another thread.
struct NeededWrite {
    bytes: Extent,
    /// What it may return.
    values: BTreeSet<Value>,
    /// What may be there without the others.
    own: BTreeSet<Value>,
    /// Whether that is what was there at first.
    is_initial: bool,
    /// The threads that write there.
    writers: Vec<usize>,
    /// How many of the meetings of its path are before it.
    meetings: usize,
    /// The last thread that decides whether it is met.
    last: usize,
}

/// A shuffle that takes what another lane brings.
struct NeededShuffle {
    /// Which of the meetings of its path it is.
    meeting: usize,
    /// What it may return.
    values: BTreeSet<Value>,
    /// The thread that is this lane.
    source: usize,
    /// The last thread that decides whether it is met.
    last: usize,
}

/// A write, or all that comes after a path.
struct JoinedWrite {
    bytes: Extent,
    /// `None` if they may be any.
    values: Option<BTreeSet<Value>>,
    /// How many meetings are before it.
    meetings: usize,
}

/// A barrier or an exchange, at which each thread that comes to it waits for others.
struct Meeting<'u> {
    arrival: &'u PathEvent,
    /// Whether it is a barrier of the CTA, which orders what is before and behind it.
    orders: bool,
    /// What is brought to a shuffle; `None` if that may be anything.
    brought: Option<BTreeSet<Value>>,
}

/// What a path of a thread has to do with others.
struct JoinedPath<'u> {
    path: &'u Path,
    needs: Vec<NeededWrite>,
    shuffles: Vec<NeededShuffle>,
    written: Vec<JoinedWrite>,
    /// Those that it certainly comes to if the others of its CTA do.
    meetings: Vec<Meeting<'u>>,
}

impl<'u> JoinedPath<'u> {
    /// A path that has nothing to do with others.
    fn of(path: &'u Path) -> JoinedPath<'u> {
        let (needs, shuffles) = (Vec::new(), Vec::new());
        JoinedPath { path, needs, shuffles, written: Vec::new(), meetings: Vec::new() }
    }

    /// Whether a barrier of the CTA is between two of its meetings: it is one of these.
    fn is_ordered(&self, mut meetings: Range<usize>) -> bool {
        meetings.any(|at| self.meetings[at].orders)
    }

    /// How many meetings there are up to the first barrier of the CTA after so many of them, if there is one.
    fn next_barrier(&self, meetings: usize) -> Option<usize> {
        let next = self.meetings[meetings..].iter().position(|of| of.orders)?;
        Some(meetings + next + 1)
    }
}

impl Unfolded<'_> {
    /// Calls `visit` with each combination of one path from each list that may be of one execution, until it returns false.
    pub(super) fn join(
        &self,
        lists: &[Vec<&Path>],
        visit: &mut Combined<'_>,
    ) -> Result<bool, UnfoldLimit> {
        let combinations = lists.iter().try_fold(1, |all: usize, list| all.checked_mul(list.len()));
        let few = combinations.is_some_and(|all| all <= FEW);
        if few || !self.facts.written.is_known() || !self.program.launches.is_empty() {
            return self.combine(lists, visit);
        }
        let mut joined = Vec::with_capacity(lists.len());
        for (thread, list) in lists.iter().enumerate() {
            let mut paths = Vec::with_capacity(list.len());
            for path in list {
                if let Some(limit) = (self.ends)(self.held) {
                    return Err(limit);
                }
                paths.push(self.joined(thread, path));
            }
            joined.push(paths);
        }
        self.visit_joined(&joined, visit)
    }

    /// Calls `visit` with each combination of one path from each list, until it returns false.
    pub(super) fn combine(
        &self,
        lists: &[Vec<&Path>],
        visit: &mut Combined<'_>,
    ) -> Result<bool, UnfoldLimit> {
        let joined =
            lists.iter().map(|paths| paths.iter().map(|path| JoinedPath::of(path)).collect());
        self.visit_joined(&joined.collect::<Vec<_>>(), visit)
    }

    fn visit_joined(
        &self,
        joined: &[Vec<JoinedPath<'_>>],
        visit: &mut Combined<'_>,
    ) -> Result<bool, UnfoldLimit> {
        if joined.iter().any(Vec::is_empty) {
            return Ok(true);
        }
        let placements: Vec<Placement> =
            self.program.threads.iter().map(|thread| thread.placement).collect();
        let mut join = Join { unfolded: self, joined, placements: &placements, visit };
        join.from(&mut Vec::with_capacity(joined.len()))
    }

    fn joined<'u>(&self, thread: usize, path: &'u Path) -> JoinedPath<'u> {
        let mut joined = JoinedPath::of(path);
        let threads = &self.program.threads;
        let here = threads[thread].placement;
        let of_cta = threads.iter().rposition(|other| other.placement.same_cta(here));
        let id = thread_id(thread);
        let known = self.known_memory(id);
        let mut gets_there = true;
        for (at, event) in (0u16..).zip(&path.events) {
            match event.kind {
                EventKind::Read if gets_there => {
                    let need = self.need(thread, path, at);
                    let meetings = joined.meetings.len();
                    let last = of_cta.filter(|_| meetings > 0).unwrap_or(thread);
                    let with = |need: NeededWrite| NeededWrite {
                        meetings,
                        last: need.last.max(last),
                        ..need
                    };
                    joined.needs.extend(need.map(with));
                }
                EventKind::Wait if gets_there => {
                    let lane = event.source_lane();
                    let source = lane.and_then(|lane| self.program.lane_thread(id, lane));
                    let source = source.map(|of| usize::from(of.0)).filter(|of| *of != thread);
                    let values = source.and_then(|_| path.returned(at, known));
                    if let (Some(source), Some(values)) = (source, values) {
                        let meeting = joined.meetings.len() - 1;
                        let last = of_cta.unwrap_or(thread);
                        joined.shuffles.push(NeededShuffle { meeting, values, source, last });
                    }
                }
                EventKind::Write => {
                    let Some(access) = event.access else { continue };
                    let (bytes, meetings) = (access.pa, joined.meetings.len());
                    let values = path.stored(event, known);
                    joined.written.push(JoinedWrite { bytes, values, meetings });
                }
                EventKind::Read | EventKind::Fence | EventKind::ProxyFence | EventKind::Wait => {}
                EventKind::Arrive => {
                    let meets = |used: &BarrierUse| waits_for_cta(used) || waits_for_lanes(used);
                    let used = event.barrier.filter(|used| gets_there && meets(used));
                    gets_there = used.is_some();
                    if let Some(used) = used {
                        let is_known =
                            used.shuffles() && self.facts.written.brought.contains_key(&id);
                        let brought = if is_known { path.brought_at(event, known) } else { None };
                        let orders = waits_for_cta(&used);
                        joined.meetings.push(Meeting { arrival: event, orders, brought });
                    }
                }
                EventKind::Mbarrier
                | EventKind::WaitGroup
                | EventKind::KernelStart
                | EventKind::Trigger
                | EventKind::GridWait
                | EventKind::TensorFence
                | EventKind::Allocation => gets_there = false,
            }
        }
        joined
    }

    /// What a read takes of other threads; `None` if it may return what is there without them, or anything.
    fn need(&self, thread: usize, path: &Path, at: u16) -> Option<NeededWrite> {
        let id = thread_id(thread);
        let bytes = path.events[usize::from(at)].access?.pa;
        let written = &self.facts.written;
        let (initial, by): (Value, Vec<ThreadId>) =
            if let Some(counter) = written.counters.get(&bytes) {
                (counter.value(0), counter.movers().collect())
            } else {
                let of = written.bytes.get(&bytes)?;
                (of.initial(), of.writers().collect())
            };
        let known = self.known_memory(id);
        let values = path.returned(at, known)?;
        let own = path.before(at, bytes, known);
        let is_initial = own.is_none();
        let own = own.unwrap_or_else(|| Some(BTreeSet::from([initial])))?;
        // What was there at first may be overwritten.
        if !is_initial && !values.is_disjoint(&own) {
            return None;
        }
        let writers: Vec<usize> =
            by.into_iter().filter(|by| *by != id).map(|by| by.0.into()).collect();
        let last = writers.iter().copied().max().unwrap_or(thread);
        Some(NeededWrite { bytes, values, own, is_initial, writers, meetings: 0, last })
    }
}

fn thread_id(thread: usize) -> ThreadId {
    ThreadId(u8::try_from(thread).expect("a test has few threads"))
}

/// Whether a barrier completes when all threads of the CTA have arrived, and each that has arrived waits for that.
fn waits_for_cta(used: &BarrierUse) -> bool {
    matches!(used.resource, Resource::Cta { instance: None, .. })
        && used.count.is_none()
        && used.waits
}

/// Whether it completes when all lanes of its mask have arrived that have not ended, and each that has arrived waits for that.
fn waits_for_lanes(used: &BarrierUse) -> bool {
    let Resource::Warp { exchange, .. } = used.resource else { return false };
    // These assume who is there.
    let assumes = matches!(exchange, Some(ExchangeOp::Elect | ExchangeOp::Active));
    used.waits && used.count.is_none() && !assumes
}

/// Combinations, thread after thread.
struct Join<'j, 'v> {
    unfolded: &'j Unfolded<'j>,
    joined: &'j [Vec<JoinedPath<'j>>],
    placements: &'j [Placement],
    visit: &'j mut Combined<'v>,
}

impl<'j> Join<'j, '_> {
    /// The combinations that begin with these paths.
    fn from(&mut self, chosen: &mut Vec<&'j JoinedPath<'j>>) -> Result<bool, UnfoldLimit> {
        if let Some(limit) = (self.unfolded.ends)(self.unfolded.held) {
            return Err(limit);
        }
        let Some(list) = self.joined.get(chosen.len()) else {
            let paths: Vec<&Path> = chosen.iter().map(|of| of.path).collect();
            return (self.visit)(&paths, self.placements);
        };
        for path in list {
            chosen.push(path);
            let go_on = if self.is_possible(chosen) { self.from(chosen)? } else { true };
            chosen.pop();
            if !go_on {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the reads that the last of these paths decides return what they need.
    fn is_possible(&self, chosen: &[&JoinedPath<'j>]) -> bool {
        let last = chosen.len() - 1;
        chosen.iter().enumerate().all(|(thread, of)| {
            let mut needs = of.needs.iter().filter(|need| need.last.max(thread) == last);
            let mut shuffles = of.shuffles.iter().filter(|need| need.last.max(thread) == last);
            needs.all(|need| {
                !self.is_reached(thread, need.meetings, chosen) || self.is_met(thread, need, chosen)
            }) && shuffles.all(|need| {
                !self.is_reached(thread, need.meeting + 1, chosen) || {
                    let brought = &chosen[need.source].meetings[need.meeting].brought;
                    brought.as_ref().is_none_or(|of| !of.is_disjoint(&need.values))
                }
            })
        })
    }

    /// Whether some write gives a read what it needs, if its thread gets there.
    fn is_met(&self, thread: usize, need: &NeededWrite, chosen: &[&JoinedPath<'_>]) -> bool {
        let here = self.placements[thread];
        let mut there = BTreeSet::new();
        let mut is_overwritten = false;
        for &writer in &need.writers {
            let of = chosen[writer];
            // What comes after such a path may write anything.
            if matches!(of.path.end, PathEnd::Cut | PathEnd::Fault { .. }) {
                return true;
            }
            let reader = chosen[thread];
            let is_in_cta = need.meetings > 0 && self.placements[writer].same_cta(here);
            let next = reader
                .next_barrier(need.meetings)
                .filter(|&next| is_in_cta && same_meetings(reader, of, next));
            let mut before = None;
            for write in of.written.iter().filter(|write| write.bytes == need.bytes) {
                let between = write.meetings..need.meetings;
                if is_in_cta && reader.is_ordered(between) {
                    before = Some(write);
                } else if next.is_none_or(|next| write.meetings < next) {
                    let Some(values) = &write.values else { return true };
                    there.extend(values);
                }
            }
            if let Some(write) = before {
                is_overwritten = true;
                let Some(values) = &write.values else { return true };
                there.extend(values);
            }
        }
        if !(need.is_initial && is_overwritten) {
            there.extend(&need.own);
        }
        if !there.is_disjoint(&need.values) {
            return true;
        }
        let mixed = mixed(need.bytes, there, self.unfolded.tearing);
        mixed.is_none_or(|all| !all.is_disjoint(&need.values))
    }

    /// Whether a thread certainly comes to what is behind so many of its meetings.
    fn is_reached(&self, thread: usize, meetings: usize, chosen: &[&JoinedPath<'_>]) -> bool {
        let here = self.placements[thread];
        let mut threads = chosen.iter().zip(self.placements);
        meetings == 0
            || threads.all(|(of, other)| {
                !other.same_cta(here) || same_meetings(chosen[thread], of, meetings)
            })
    }
}

/// Whether so many meetings are the same in two paths.
fn same_meetings(one: &JoinedPath<'_>, other: &JoinedPath<'_>, count: usize) -> bool {
    // In one kernel, what stands in different lines are different instructions.
    let same_code = one.path.code == other.path.code;
    let same = |(one, other): (&Meeting<'_>, &Meeting<'_>)| {
        let [one, other] = [one, other].map(|of| of.arrival);
        one.barrier.zip(other.barrier).is_some_and(|(used, by_other)| {
            if waits_for_lanes(&used) {
                used.resource == by_other.resource
            } else {
                (one.line == other.line || !same_code) && used.same_instruction(&by_other)
            }
        })
    };
    one.meetings.len() >= count
        && other.meetings.len() >= count
        && one.meetings.iter().zip(&other.meetings).take(count).all(same)
}
