//! A program unfolded: every combination of one path for each thread, with its barriers grouped.
//!
//! An [`Unfolding`] fixes everything except the sources of reads and the order of writes and
//! fences. [`crate::structure`] turns it into relations.

mod beginnings;
mod beyond;
mod dependent;
mod guessed;
mod hidden;
mod joined;
mod limit;
mod listing;
mod rounds;

use std::collections::{BTreeMap, BTreeSet};

pub use self::limit::{Ends, PathCut, UnfoldLimit};
use crate::event::{Access, Combination, EventKind, ObjectPhase, PathEvent, Resource, Tags};
use crate::expr::{Expr, ExprId};
use crate::generation::{self, Generations, Misuse, Waiting};
use crate::layout::Layout;
use crate::path::{Assumption, LoopFacts, LoopRule, Path, PathEnd, PrivateFinal};
use model::given::Tag;
use model::memory::Extent;
use model::program::{AwaitedObject, Observed, Program, Stays, Stuck, Thread, ThreadId};
use model::rel::Conventions;
use model::scope::Placement;

/// Receives a combination of paths, one for each thread, with where the threads are.
type Combined<'v> = dyn FnMut(&[&Path], &[Placement]) -> Result<bool, UnfoldLimit> + 'v;

/// The paths of a program's threads.
pub struct Unfolded<'p> {
    pub program: &'p Program,
    pub layout: Layout,
    /// For each thread, the paths that come to an end.
    pub paths: Vec<Vec<Path>>,
    /// For each thread, the beginnings of paths that are left out: [`Program::omits_covered`].
    pub covered: Vec<Vec<Path>>,
    /// For each thread, the paths that end in a loop which may never be left.
    spinning: Vec<Vec<Path>>,
    /// The paths that were cut at the loop bound.
    cut: Vec<Vec<Path>>,
    facts: LoopFacts<'p>,
    tearing: bool,
    /// Bytes that the paths take.
    held: usize,
    ends: Ends<'p>,
}

impl<'p> Unfolded<'p> {
    /// Unrolls loops `bound` times.
    pub fn new(
        program: &'p Program,
        conventions: Conventions,
        bound: u32,
    ) -> Result<Unfolded<'p>, UnfoldLimit> {
        Unfolded::within(program, conventions, bound, &|_| None)
    }

    /// The same, up to the caller's limits.
    pub fn within(
        program: &'p Program,
        conventions: Conventions,
        bound: u32,
        ends: Ends<'p>,
    ) -> Result<Unfolded<'p>, UnfoldLimit> {
        // Where threads repeat a loop together, no bound is large enough for its barriers.
        let repeated = conventions.silent_atomics
            && !program.omits_covered
            && program.launches.is_empty()
            && program.threads.iter().any(Thread::repeats_barrier);
        let rule = LoopRule::of(program, conventions, bound);
        let facts = Unfolded::facts(program, conventions, ends)?;
        let by_rule = |rule| Unfolded::by_rule(program, conventions, rule, ends, &facts);
        let most = if repeated && rule.omits { rounds::MOST } else { 0 };
        for most in 1..=most {
            let loops = LoopRule { rounds: Some(most), ..rule };
            let common = by_rule(loops)
                .and_then(|unfolded| Ok((rounds::are_common(&unfolded, most)?, unfolded)));
            match common {
                Ok((true, unfolded)) if !unfolded.hides(conventions) => return Ok(unfolded),
                Err(limit) if limit.is_of_caller() => return Err(limit),
                // There are fewer paths with another rule, perhaps.
                Ok(_) | Err(_) => {}
            }
        }
        let unfolded = by_rule(rule)?;
        if !unfolded.hides(conventions) {
            return Ok(unfolded);
        }
        // One iteration of each thread is enough: without the others, the execution is one with the same race or read.
        by_rule(LoopRule { silent: 1, ..rule })
    }

    /// What is known before paths are listed.
    fn facts(
        program: &'p Program,
        conventions: Conventions,
        ends: Ends<'p>,
    ) -> Result<LoopFacts<'p>, UnfoldLimit> {
        ends(0).map_or(Ok(()), Err)?;
        let facts = LoopFacts::new(program, &Layout::new(program), conventions);
        // Of a long program they take long.
        ends(facts.bytes()).map_or(Ok(facts), Err)
    }

    /// Whether some path was cut at the loop bound: outcomes may be missing.
    pub fn bound_reached(&self) -> bool {
        self.cut.iter().any(|cut| !cut.is_empty())
    }

    /// Calls `visit` for each unfolding in which no thread is in a loop for ever, until it returns
    /// false; says whether all were visited.
    pub fn visit(
        &self,
        visit: &mut dyn FnMut(&Unfolding<'_>) -> bool,
    ) -> Result<bool, UnfoldLimit> {
        let lists: Vec<Vec<&Path>> = self.paths.iter().map(|list| list.iter().collect()).collect();
        self.join(&lists, &mut |paths, placements| self.grouped(paths, placements, visit))
    }

    /// The same for the other unfoldings: those in which some thread is in a loop for ever.
    pub fn visit_spinning(
        &self,
        visit: &mut dyn FnMut(&Unfolding<'_>) -> bool,
    ) -> Result<bool, UnfoldLimit> {
        if self.spinning.iter().all(Vec::is_empty) {
            return Ok(true);
        }
        let all = self.paths.iter().zip(&self.spinning);
        let lists: Vec<Vec<&Path>> =
            all.map(|(ends, spins)| ends.iter().chain(spins).collect()).collect();
        self.join(&lists, &mut |paths, placements| {
            let spins = paths.iter().any(|path| matches!(path.end, PathEnd::Spins { .. }));
            if spins { self.grouped(paths, placements, visit) } else { Ok(true) }
        })
    }

    /// Visits the unfoldings of one combination of paths, one for each grouping of its barriers.
    fn grouped(
        &self,
        paths: &[&Path],
        placements: &[Placement],
        visit: &mut dyn FnMut(&Unfolding<'_>) -> bool,
    ) -> Result<bool, UnfoldLimit> {
        if !self.program.launches.is_empty() {
            return self.grouped_kernels(paths, placements, visit);
        }
        let groupings = generation::groupings(paths, placements, &self.layout, &|more| {
            (self.ends)(self.held + more)
        })?;
        // A thread that goes on may still come to a barrier as the others do.
        let misuses = if beginnings::goes_on(paths) { Vec::new() } else { groupings.misused };
        for misuse in self.true_misuses(paths, misuses) {
            let (cut, generations) = misused(paths, misuse);
            let paths = cut.iter().collect();
            if !visit(&Unfolding::new(self.program, &self.layout, paths, generations)) {
                return Ok(false);
            }
        }
        for generations in groupings.complete {
            if let Some(limit) = (self.ends)(self.held) {
                return Err(limit);
            }
            if !self.happens(paths, &generations, &vec![None; paths.len()]) {
                continue;
            }
            let paths = paths.to_vec();
            if !visit(&Unfolding::new(self.program, &self.layout, paths, generations)) {
                return Ok(false);
            }
        }
        for waiting in groupings.waiting {
            if let Some(limit) = (self.ends)(self.held) {
                return Err(limit);
            }
            if !self.happens(paths, &waiting.generations, &waiting.at) {
                continue;
            }
            let (cut, generations) = stopped(paths, waiting);
            let paths = paths.iter().zip(&cut).map(|(path, cut)| cut.as_ref().unwrap_or(path));
            let paths = paths.collect();
            if !visit(&Unfolding::new(self.program, &self.layout, paths, generations)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The paths of threads that wait for ever, as far as they get.
fn stopped(paths: &[&Path], waiting: Waiting) -> (Vec<Option<Path>>, Generations) {
    let Waiting { mut generations, at, objects } = waiting;
    let reached: Vec<usize> = at.iter().map(|at| at.map_or(usize::MAX, usize::from)).collect();
    generations.truncate(&reached);
    let before = |path: &Path, at: u16, object: Option<AwaitedObject>| {
        let line = path.events[usize::from(at)].line;
        path.until(at.into(), PathEnd::Waits { line, object })
    };
    let stops = at.into_iter().zip(objects);
    let cut = paths.iter().zip(stops).map(|(path, (at, object))| Some(before(path, at?, object)));
    (cut.collect(), generations)
}

/// The paths as far as threads have come when one of them misuses a barrier.
fn misused(paths: &[&Path], misuse: Misuse) -> (Vec<Path>, Generations) {
    let Misuse { thread, line, reason, reached, generations } = misuse;
    let cut = paths.iter().zip(reached).enumerate().map(|(other, (path, reached))| {
        let fault = PathEnd::Fault { reason, line };
        path.until(reached, if other == thread { fault } else { PathEnd::Finished })
    });
    (cut.collect(), generations)
}

/// One event of an unfolding.
#[derive(Clone, Copy, Debug)]
pub struct Event<'p> {
    /// `None` for an initial write.
    pub thread: Option<ThreadId>,
    pub tags: Tags,
    pub access: Option<Access>,
    /// `None` for an initial write.
    pub of: Option<&'p PathEvent>,
    /// Barrier generation.
    pub generation: Option<u32>,
    /// Of an operation on an mbarrier object: the phase in which it took effect, or that it saw completed.
    pub phase: Option<ObjectPhase>,
}

impl Event<'_> {
    pub fn is_read(&self) -> bool {
        self.tags.has(Tag::Read)
    }

    pub fn is_write(&self) -> bool {
        self.tags.has(Tag::Write)
    }

    /// The physical bytes of a memory operation.
    pub fn bytes(&self) -> Extent {
        self.access.expect("a memory operation accesses bytes").pa
    }
}

/// A part of a read whose bytes no access of the unfolding tells apart.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// The reading event.
    pub read: usize,
    /// Physical bytes.
    pub cell: Extent,
}

/// One combination of paths.
pub struct Unfolding<'u> {
    pub program: &'u Program,
    pub layout: &'u Layout,
    pub paths: Vec<&'u Path>,
    /// Initial writes first, one for each location, then the threads' events in order.
    pub events: Vec<Event<'u>>,
    /// The first event of each thread.
    pub first: Vec<usize>,
    /// For each location, its cells in order: each access is a union of cells.
    pub cells: Vec<Vec<Extent>>,
    /// What the reads read, in order of reads.
    pub slots: Vec<Slot>,
    /// For each read event, its slots: the first and one past the last.
    pub slots_of: Vec<(usize, usize)>,
    /// [`Generations::unsettled`].
    pub unsettled: std::sync::Arc<BTreeSet<(usize, u16)>>,
    /// [`Generations::before`].
    pub before: BTreeMap<(usize, u16), BTreeSet<(usize, u16)>>,
    /// [`Generations::ended`].
    pub ended: BTreeMap<(u16, u32, ObjectPhase), (usize, u16)>,
    /// Barrier generations that completed since a thread had exited, each with that thread.
    pub exits: BTreeSet<(u32, usize)>,
    /// The first `griddepcontrol.launch_dependents` of each CTA: its thread, and its index in the thread's path.
    pub triggers: BTreeSet<(usize, u16)>,
    /// An `ldu` whose address another thread of the warp does not have.
    diverged: Option<(ThreadId, u16)>,
}

/// Why such a program has no meaning.
pub const DIVERGED: &str = "ldu-address-differs-in-warp";

impl<'u> Unfolding<'u> {
    fn new(
        program: &'u Program,
        layout: &'u Layout,
        paths: Vec<&'u Path>,
        generations: Generations,
    ) -> Unfolding<'u> {
        let mut events: Vec<Event<'u>> = Vec::with_capacity(
            layout.locations.len() + paths.iter().map(|p| p.events.len()).sum::<usize>(),
        );
        for (location, of_location) in layout.locations.iter().enumerate() {
            let object = u16::try_from(location).expect("a test has few locations");
            let length = u32::try_from(of_location.initial.len()).expect("locations are small");
            let all = Extent { object, start: 0, length };
            // An initial write has no virtual address; `structure` never asks for it.
            let access = Some(Access { va: all, pa: all });
            let tags = Tags::of_initial_write(of_location);
            events.push(Event {
                thread: None,
                tags,
                access,
                of: None,
                generation: None,
                phase: None,
            });
        }
        let mut first = Vec::with_capacity(paths.len());
        for (index, (path, of)) in paths.iter().zip(generations.of).enumerate() {
            first.push(events.len());
            let thread = Some(ThreadId(u8::try_from(index).expect("a test has few threads")));
            let phase = |event| generations.phases.get(&(index, event)).copied();
            let path_events = (0u16..).zip(&path.events).zip(of);
            events.extend(path_events.map(|((event, of), generation)| Event {
                thread,
                tags: of.tags,
                access: of.access,
                of: Some(of),
                generation,
                phase: phase(event),
            }));
        }
        let cells = cells(layout, program, &paths, &events);
        let mut slots = Vec::new();
        let mut slots_of = vec![(0, 0); events.len()];
        for (read, event) in events.iter().enumerate().filter(|(_, event)| event.is_read()) {
            let from = slots.len();
            let bytes = event.bytes();
            let inside = cells[usize::from(bytes.object)].iter().filter(|c| bytes.contains(**c));
            slots.extend(inside.map(|&cell| Slot { read, cell }));
            slots_of[read] = (from, slots.len());
        }
        let diverged = diverged(program, &paths);
        let Generations { unsettled, before, ended, exits, triggers, .. } = generations;
        Unfolding {
            program,
            layout,
            paths,
            events,
            first,
            cells,
            slots,
            slots_of,
            unsettled,
            before,
            ended,
            exits,
            triggers,
            diverged,
        }
    }

    /// The threads that never end, each with the place where it stays: at a barrier, or at the first
    /// read of a loop. None where all threads finish.
    pub fn stuck(&self) -> Vec<Stuck> {
        let threads = (0u8..).zip(&self.paths);
        let stuck = threads.filter_map(|(thread, path)| {
            let thread = ThreadId(thread);
            match path.end {
                PathEnd::Finished | PathEnd::Cut | PathEnd::Covered | PathEnd::Fault { .. } => None,
                PathEnd::Waits { line, object } => {
                    Some(Stuck { thread, line, why: Stays::Waits, object })
                }
                PathEnd::Spins { from, line } => {
                    let mut last = path.events[usize::from(from)..].iter();
                    let read = last.find(|event| event.tags.has(Tag::Read));
                    let line = read.map_or(line, |read| read.line);
                    Some(Stuck { thread, line, why: Stays::Loops, object: None })
                }
            }
        });
        stuck.collect()
    }

    /// Whether some thread never ends: an execution then has no outcome.
    pub fn is_stuck(&self) -> bool {
        let mut paths = self.paths.iter();
        paths.any(|path| matches!(path.end, PathEnd::Waits { .. } | PathEnd::Spins { .. }))
    }

    /// Whether an event is repeated for ever: a read that returns what nothing overwrites, or a write of an atomic, of what
    /// is there (reading R50).
    pub fn repeats(&self, event: usize) -> bool {
        self.place(event).is_some_and(|(thread, index)| {
            match self.paths[usize::from(thread.0)].end {
                PathEnd::Spins { from, .. } => index >= usize::from(from),
                PathEnd::Finished
                | PathEnd::Cut
                | PathEnd::Covered
                | PathEnd::Waits { .. }
                | PathEnd::Fault { .. } => false,
            }
        })
    }

    /// Whether each thread runs to its end as it may; otherwise why one does not, and where.
    pub fn fault(&self) -> Option<(ThreadId, u16, &'static str)> {
        let faults = self.paths.iter().enumerate().find_map(|(thread, path)| match path.end {
            PathEnd::Fault { reason, line } => {
                Some((ThreadId(u8::try_from(thread).expect("few threads")), line, reason))
            }
            PathEnd::Finished
            | PathEnd::Cut
            | PathEnd::Covered
            | PathEnd::Waits { .. }
            | PathEnd::Spins { .. } => None,
        });
        faults.or_else(|| self.diverged.map(|(thread, line)| (thread, line, DIVERGED)))
    }

    /// The thread, and the index within its path, of an event.
    pub fn place(&self, event: usize) -> Option<(ThreadId, usize)> {
        let thread = self.events[event].thread?;
        Some((thread, event - self.first[usize::from(thread.0)]))
    }

    /// The event with this index in the path of `thread`.
    pub fn event_of(&self, thread: ThreadId, index: u16) -> usize {
        self.first[usize::from(thread.0)] + usize::from(index)
    }

    /// The checks of all paths, with their threads.
    pub fn checks(&self) -> impl Iterator<Item = (ThreadId, &'u Assumption)> + '_ {
        self.paths.iter().enumerate().flat_map(|(thread, path)| {
            let thread = ThreadId(u8::try_from(thread).expect("a test has few threads"));
            path.checks.iter().map(move |check| (thread, check))
        })
    }

    /// The final values of private bytes of what is observed with this index, by their threads.
    pub fn private_finals(
        &self,
        observed: usize,
    ) -> impl Iterator<Item = (ThreadId, &'u PrivateFinal)> + '_ {
        (0u8..).zip(&self.paths).flat_map(move |(thread, path)| {
            let of = path.finals.iter().filter(move |of| usize::from(of.observed) == observed);
            of.map(move |of| (ThreadId(thread), of))
        })
    }

    /// The thread that has all bytes of observed memory for itself and writes some of them, with their final value.
    pub fn private_final(&self, observed: usize) -> Option<(ThreadId, ExprId)> {
        let mut finals = self.private_finals(observed);
        let (thread, of) = finals.next().filter(|_| finals.next().is_none())?;
        let bytes = self.observed_bytes(self.program.observed[observed])?;
        (of.bytes == bytes).then_some((thread, of.value))
    }

    /// The thread that has a cell of what is observed with this index for itself and writes it, with its final value.
    pub fn private_cell(
        &self,
        observed: usize,
        cell: Extent,
    ) -> Option<(ThreadId, &'u PrivateFinal)> {
        self.private_finals(observed).find(|(_, of)| of.writes(cell))
    }

    /// The locations and bytes that an observed piece of memory is.
    pub fn observed_bytes(&self, observed: Observed) -> Option<Extent> {
        self.layout.observed(observed)
    }

    /// The arrivals whose values the result of this wait comes of: those of all who take part, and for a shuffle that of
    /// one lane.
    pub fn contributors(&self, wait: usize) -> impl Iterator<Item = usize> + '_ {
        let used = self.events[wait].of.and_then(|of| of.barrier);
        let from = used.and_then(|used| match used.reduce?.0 {
            Combination::Lane(lane) => Some(lane),
            Combination::Reduction(_)
            | Combination::Lanes(_)
            | Combination::Elected(_)
            | Combination::Active => None,
        });
        self.participants(wait).filter(move |&arrival| {
            let lane = |thread| self.program.lane(thread);
            from.is_none_or(|from| self.events[arrival].thread.map(lane) == Some(from))
        })
    }

    /// Whether the event is of an exchange of values between lanes.
    pub fn exchanges(&self, event: usize) -> bool {
        let used = self.events[event].of.and_then(|of| of.barrier);
        used.is_some_and(|used| used.exchanges())
    }

    /// The arrivals of the generation that a wait belongs to.
    pub fn participants(&self, wait: usize) -> impl Iterator<Item = usize> + '_ {
        let generation = self.events[wait].generation;
        let arrives = move |event: &Event<'_>| {
            generation.is_some()
                && event.generation == generation
                && event.of.is_some_and(|of| of.kind == EventKind::Arrive)
        };
        (0..self.events.len()).filter(move |&event| arrives(&self.events[event]))
    }

    /// Whether an expression of `thread` is a function of the read `event` alone or with others.
    pub fn mentions(&self, thread: ThreadId, expr: ExprId, event: usize) -> bool {
        let mut found = false;
        self.paths[usize::from(thread.0)].exprs.leaves(expr, &mut |leaf| match leaf {
            Expr::Read(index) | Expr::Reduced(index) => {
                found |= self.event_of(thread, index) == event;
            }
            Expr::Const(_) | Expr::Alu { .. } | Expr::Atomic { .. } | Expr::Extend { .. } => {}
        });
        found
    }

    /// Whether a barrier of the cluster occurs.
    pub fn is_cluster_barrier(&self, event: usize) -> bool {
        self.events[event]
            .of
            .and_then(|of| of.barrier)
            .is_some_and(|used| used.resource == Resource::Cluster)
    }
}

/// An `ldu` with another address than its counterpart in an earlier thread of the warp. Reading
/// R36: the first of each thread are one instruction, then the second, and so on.
fn diverged(program: &Program, paths: &[&Path]) -> Option<(ThreadId, u16)> {
    let placement = |thread: usize| program.threads[thread].placement;
    for (thread, path) in paths.iter().enumerate() {
        for earlier in (0..thread).filter(|&t| placement(t).same_warp(placement(thread))) {
            let different = uniform(paths[earlier])
                .zip(uniform(path))
                .find(|((_, first), (_, second))| first != second);
            if let Some((_, (line, _))) = different {
                return Some((ThreadId(u8::try_from(thread).expect("few threads")), line));
            }
        }
    }
    None
}

/// The line and address of each `ldu` that a path executes.
fn uniform(path: &Path) -> impl Iterator<Item = (u16, (u16, u32))> + '_ {
    let mut step = None;
    path.events.iter().filter(|event| event.tags.has(Tag::UniformRead)).filter_map(move |event| {
        // The elements of a vector are of one step; the first is at the address.
        let first = step.replace(event.step) != Some(event.step);
        let va = event.access.expect("a read accesses bytes").va;
        first.then_some((event.line, (va.object, va.start)))
    })
}

/// The maximal byte ranges of each location that no access and no observation splits.
fn cells(
    layout: &Layout,
    program: &Program,
    paths: &[&Path],
    events: &[Event<'_>],
) -> Vec<Vec<Extent>> {
    let mut bounds: Vec<Vec<u32>> = layout
        .locations
        .iter()
        .map(|location| vec![0, u32::try_from(location.initial.len()).expect("small")])
        .collect();
    let observed = program.observed.iter().filter_map(|observed| match *observed {
        Observed::Register { .. } => None,
        Observed::Memory { variable, thread, offset, length } => {
            let object = layout.object(variable, thread);
            Some(layout.physical(Extent { object, start: offset, length }))
        }
    });
    let accessed = events.iter().filter_map(|event| event.access).map(|access| access.pa);
    // What a thread has for itself is final byte by byte, beside what others write.
    let finals = paths.iter().flat_map(|path| &path.finals);
    let private = finals.flat_map(|of| {
        (0..of.bytes.length).filter(|byte| (of.written ^ of.written << 1) >> byte & 1 == 1).map(
            |byte| Extent {
                start: of.bytes.start + byte,
                length: of.bytes.length - byte,
                ..of.bytes
            },
        )
    });
    for bytes in accessed.chain(observed).chain(private) {
        bounds[usize::from(bytes.object)].extend([bytes.start, bytes.end()]);
    }
    bounds
        .into_iter()
        .enumerate()
        .map(|(object, mut bounds)| {
            bounds.sort_unstable();
            bounds.dedup();
            let object = u16::try_from(object).expect("a test has few locations");
            bounds
                .windows(2)
                .map(|pair| Extent { object, start: pair[0], length: pair[1] - pair[0] })
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfolding_ends_with_the_callers_time() {
        let program = Program::default();
        let conventions = Conventions::default();
        let left = std::cell::Cell::new(0_u32);
        let ends = |_| {
            let is_over = left.get() == 0;
            left.set(left.get().saturating_sub(1));
            is_over.then_some(UnfoldLimit::Time)
        };
        // It is asked before and behind what is known of a program first.
        for asked in 0..2 {
            left.set(asked);
            let unfolded = Unfolded::within(&program, conventions, 2, &ends);
            assert_eq!(unfolded.err(), Some(UnfoldLimit::Time), "{asked}");
        }
        left.set(2);
        let unfolded = Unfolded::within(&program, conventions, 2, &ends).expect("no threads");
        assert_eq!(unfolded.visit(&mut |_| true), Err(UnfoldLimit::Time));
    }
}
