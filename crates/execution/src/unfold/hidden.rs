//! Whether iterations that change nothing, and are left out, hide a race, or a read of memory that nobody has written: then
//! each path may have one of them.
//!
//! Races of different sizes are looked at where a path is followed: each access of the program counts there.

use std::collections::HashSet;

use super::Unfolded;
use crate::event::{Access, EventKind, PathEvent, Tags};
use crate::path::{Path, PathEnd};
use crate::rewritten::is_rewritten;
use model::program::ThreadId;
use model::rel::Conventions;
use model::scope::Placement;

impl Unfolded<'_> {
    /// Whether an access of an iteration that is left out may race with an asynchronous operation, or be one of an mbarrier
    /// object as data; or race with any other access, if `conventions` ask for that.
    fn hides_races(&self, conventions: Conventions) -> bool {
        let asynchronous = self.program.is_asynchronous();
        // Functions of compilers have a rule of their own for what their loops leave out.
        let asked = (asynchronous || conventions.races) && !self.program.omits_covered;
        if !asked || self.spinning.iter().all(Vec::is_empty) {
            return false;
        }
        let placements = || self.program.threads.iter().map(|thread| thread.placement);
        let events: Vec<HashSet<RacingAccess>> = (0..self.paths.len())
            .map(|thread| self.every(thread).flat_map(|path| &path.events))
            .map(|events| events.filter_map(RacingAccess::of).collect())
            .collect();
        self.spinning.iter().zip(placements()).enumerate().any(|(thread, (spinning, here))| {
            let own: HashSet<RacingAccess> =
                self.repeated(thread, spinning).filter_map(RacingAccess::of).collect();
            own.iter().any(|own| {
                events.iter().zip(placements()).enumerate().any(|(other, (events, there))| {
                    events.iter().any(|event| {
                        let races = conventions.races && other != thread;
                        own.conflicts(event)
                            && (own.is_asynchronous_with(event)
                                || races && !own.is_strong_with(here, event, there))
                    })
                })
            })
        })
    }

    /// Whether an iteration that is left out may read memory that nobody has written, if `conventions` ask for that.
    fn hides_uninitialised_reads(&self, conventions: Conventions) -> bool {
        let reads = |event: &PathEvent| {
            let bytes = event.access.filter(|_| event.kind == EventKind::Read);
            bytes.is_some_and(|of| self.layout.is_uninitialised(self.program, of.pa))
        };
        conventions.uninitialised_reads
            && !self.program.omits_covered
            && self
                .spinning
                .iter()
                .enumerate()
                .any(|(thread, of)| self.repeated(thread, of).any(reads))
    }

    /// Whether an iteration that is left out hides something that is asked for.
    pub(super) fn hides(&self, conventions: Conventions) -> bool {
        self.hides_races(conventions) || self.hides_uninitialised_reads(conventions)
    }

    /// The events of the iterations that paths of a thread end with, and repeat for ever. Not those at bytes that the next iteration
    /// writes again: barriers order all accesses there.
    fn repeated<'s>(
        &'s self,
        thread: usize,
        paths: &'s [Path],
    ) -> impl Iterator<Item = &'s PathEvent> {
        let id = ThreadId(u8::try_from(thread).expect("a test has few threads"));
        paths.iter().flat_map(move |path| {
            let from = if let PathEnd::Spins { from, .. } = path.end { Some(from) } else { None };
            let round = path.rounds.last().filter(|round| Some(round.from) == from);
            let is_rewritten = move |event: &PathEvent| {
                let Some((round, access)) = round.zip(event.access) else { return false };
                let (program, layout, accessed) =
                    (self.program, &self.layout, &self.facts.accessed);
                is_rewritten(program, layout, accessed, id, round.head.into(), access.pa)
            };
            let events = &path.events[from.map_or(path.events.len(), usize::from)..];
            events.iter().filter(move |event| !is_rewritten(event))
        })
    }

    /// All paths of a thread.
    pub(super) fn every(&self, thread: usize) -> impl Iterator<Item = &Path> {
        let lists = [&self.paths, &self.spinning, &self.cut, &self.covered];
        lists.into_iter().flat_map(move |list| &list[thread])
    }
}

/// What of an event decides whether it races.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct RacingAccess {
    access: Access,
    tags: Tags,
    writes: bool,
    /// Whether it is part of an asynchronous operation.
    part: bool,
    /// Whether it is an operation on an mbarrier object.
    object: bool,
}

impl RacingAccess {
    fn of(event: &PathEvent) -> Option<RacingAccess> {
        Some(RacingAccess {
            access: event.access?,
            tags: event.tags,
            writes: event.kind == EventKind::Write,
            part: event.part.is_some(),
            object: event.mbarrier.is_some(),
        })
    }

    /// Whether both access one byte, and one writes it, or is an operation on an mbarrier object there.
    fn conflicts(&self, other: &RacingAccess) -> bool {
        self.access.pa.overlaps(other.access.pa)
            && (self.writes || other.writes || self.object != other.object)
    }

    /// Whether one of them is asynchronous, or one is an operation on an mbarrier object. Operations on one object do not
    /// race.
    fn is_asynchronous_with(&self, other: &RacingAccess) -> bool {
        let asynchronous = self.part || other.part;
        asynchronous && !(self.object && other.object) || self.object != other.object
    }

    /// Whether both are strong, of the same bytes, and their scopes include each other's threads.
    fn is_strong_with(&self, here: Placement, other: &RacingAccess, there: Placement) -> bool {
        let scopes = self.tags.scope().zip(other.tags.scope());
        self.access == other.access
            && scopes.is_some_and(|(own, theirs)| {
                own.includes(here, there) && theirs.includes(there, here)
            })
    }
}
