//! Paths that were cut at the loop bound, as far as they go, with what may come after them.
//!
//! Where no such unfolding is consistent, no execution goes beyond the bound: what an execution does up to there, and of
//! what a cut thread does later just those writes that others read, is one of these, and relations among fewer events are
//! smaller. At a barrier that waits for a cut thread, the others stop, too.

use super::{UnfoldLimit, Unfolded, Unfolding, stopped};
use crate::event::{Combination, EventKind, FenceCoverage, PathEvent};
use crate::generation;
use crate::path::{Path, PathEnd};
use model::isa::Instruction;
use model::isa::asynchronous::Asynchronous;
use model::program::{Thread, ThreadId};
use model::rel::Conventions;
use model::scope::Placement;

/// The most combinations of paths that are visited.
const MOST_COMBINATIONS: usize = 20_000;

/// The most ways to go on that are tried for one path.
const MOST_WAYS: usize = 256;

/// The most events of a path with its later writes.
const MOST_EVENTS: usize = 120;

impl Unfolded<'_> {
    /// Visits the unfoldings in which some path was cut, until `visit` returns false. Says whether all were visited;
    /// `None` if what may come after them is not known. `conventions` are those of the paths.
    pub fn visit_beyond(
        &self,
        conventions: Conventions,
        visit: &mut dyn FnMut(&Unfolding<'_>) -> bool,
    ) -> Result<Option<bool>, UnfoldLimit> {
        let program = self.program;
        let lists: Vec<Vec<&Path>> = (0..program.threads.len())
            .map(|thread| {
                let all = self.paths[thread].iter().chain(&self.spinning[thread]);
                all.chain(&self.cut[thread]).collect()
            })
            .collect();
        let mut lines = program.threads.iter().flat_map(|thread| &thread.lines);
        if !program.launches.is_empty()
            || !lines.all(|line| is_followed(&line.instruction))
            || !lists.iter().flatten().all(|path| waits_for_all(path))
            || self.covered.iter().any(|covered| !covered.is_empty())
        {
            return Ok(None);
        }
        let (mut known, mut combinations) = (true, 0);
        let complete = self.join(&lists, &mut |paths, placements| {
            combinations += 1;
            known &= combinations <= MOST_COMBINATIONS;
            if !known || paths.iter().all(|path| path.end != PathEnd::Cut) {
                return Ok(known);
            }
            let ends = |more| (self.ends)(self.held + more);
            let groupings = generation::groupings(paths, placements, &self.layout, &ends)?;
            known &= groupings.misused.is_empty();
            let whole = groupings.complete.into_iter();
            let whole = whole.map(|of| (paths.iter().map(|&path| path.clone()).collect(), of));
            let stopped = groupings.waiting.into_iter().map(|waiting| {
                let (stopped, generations) = stopped(paths, waiting);
                let stopped = stopped.into_iter().zip(paths).map(|(stopped, path)| {
                    // Who waits for a thread that was cut goes on in the whole execution, perhaps.
                    let until = |path| Path { end: PathEnd::Cut, ..path };
                    stopped.map_or_else(|| Path::clone(path), until)
                });
                (stopped.collect(), generations)
            });
            for (paths, generations) in whole.chain(stopped) {
                let paths: Vec<Path> = paths;
                let here: Vec<&Path> = paths.iter().collect();
                let ways: Option<Vec<Vec<Path>>> = (0..paths.len())
                    .map(|thread| self.ways_on(thread, &here, placements, &lists[thread]))
                    .collect();
                let Some(ways) = ways.filter(|_| known) else {
                    known = false;
                    return Ok(false);
                };
                let ways: Vec<Vec<Path>> = if conventions.semantic_dependencies {
                    ways.into_iter().map(|ways| ways.iter().map(independent).collect()).collect()
                } else {
                    ways
                };
                let ways: Vec<Vec<&Path>> = ways.iter().map(|ways| ways.iter().collect()).collect();
                let go_on = self.combine(&ways, &mut |paths, _| {
                    // What comes later is in no generation.
                    let mut generations = generations.clone();
                    for (of, path) in generations.of.iter_mut().zip(paths) {
                        of.resize(path.events.len(), None);
                    }
                    let paths = paths.to_vec();
                    Ok(visit(&Unfolding::new(self.program, &self.layout, paths, generations)))
                })?;
                if !go_on {
                    return Ok(false);
                }
            }
            Ok(true)
        })?;
        Ok(known.then_some(complete))
    }

    /// A path, if it goes on after its end with each sequence of later writes after it that others may read, whose values are not known:
    /// no more than others have reads for. `None` if it is not known where they write, or there are too many.
    fn ways_on(
        &self,
        thread: usize,
        paths: &[&Path],
        placements: &[Placement],
        own: &[&Path],
    ) -> Option<Vec<Path>> {
        let path = paths[thread];
        if path.end != PathEnd::Cut {
            // What a thread reads for ever may be overwritten meanwhile.
            return Some(vec![Path { end: PathEnd::Finished, ..path.clone() }]);
        }
        let mut writes = self.later_writes(thread, path, own)?;
        let others = || paths.iter().enumerate().filter(|(other, _)| *other != thread);
        let here = placements[thread];
        // What none of the others reads is left out of each.
        writes.retain(|write| {
            let bytes = write.access.map(|access| access.pa);
            let reads = |of: &PathEvent| {
                of.kind == EventKind::Read
                    && of.access.zip(bytes).is_some_and(|(of, bytes)| of.pa.overlaps(bytes))
            };
            others().any(|(_, path)| path.events.iter().any(reads))
        });
        let read = others().flat_map(|(other, path)| {
            let (there, writes) = (placements[other], &writes);
            path.events.iter().map(move |event| pieces(event, there, writes, here))
        });
        let most: usize = read.sum();
        if path.events.len() + most > MOST_EVENTS {
            return None;
        }
        // What follows depends on all decisions before it, and not on the guard of an instruction before it.
        let lines = &self.program.threads[thread].lines;
        let unguarded = |event: &&PathEvent| lines[usize::from(event.line)].guard.is_none();
        let ctrl = path.events.iter().rfind(unguarded).map_or(0, |event| event.ctrl);
        let mut ways = vec![path.clone()];
        let mut first = 0;
        for _ in 0..most {
            let longest = first..ways.len();
            first = ways.len();
            for way in longest {
                for write in &writes {
                    let mut longer = ways[way].clone();
                    let step = longer.events.last().map_or(0, |last| last.step + 1);
                    longer.events.push(PathEvent { step, ctrl, ..write.clone() });
                    ways.push(longer);
                }
            }
            if ways.len() > MOST_WAYS {
                return None;
            }
        }
        Some(ways)
    }

    /// What a thread may write after the end of a path, as its other paths write it, without values. `None` if that is not
    /// known, or if it may change an mbarrier object there.
    fn later_writes(&self, thread: usize, path: &Path, own: &[&Path]) -> Option<Vec<PathEvent>> {
        let id = ThreadId(u8::try_from(thread).expect("a test has few threads"));
        let thread = &self.program.threads[thread];
        let mut writes: Vec<PathEvent> = Vec::new();
        for line in reachable(thread, path.events.last().map_or(0, |event| usize::from(event.line)))
        {
            let instruction = &thread.lines[line].instruction;
            if instruction.changed_object().is_some() {
                return None;
            }
            if !matches!(instruction, Instruction::Store(_) | Instruction::Atomic(_)) {
                continue;
            }
            let mut found = false;
            let events = own.iter().flat_map(|path| &path.events);
            let here = events
                .filter(|event| usize::from(event.line) == line && event.kind == EventKind::Write);
            for event in here {
                found = true;
                let of = PathEvent {
                    address: None,
                    value: None,
                    rmw: None,
                    addr: 0,
                    data: 0,
                    ctrl: 0,
                    step: 0,
                    covers: FenceCoverage::default(),
                    ..event.clone()
                };
                let same = |other: &PathEvent| {
                    (other.line, other.tags, other.access) == (of.line, of.tags, of.access)
                };
                if !writes.iter().any(same) {
                    writes.push(of);
                }
            }
            let private = own.iter().flat_map(|path| &path.private);
            found |= private.into_iter().any(|access| usize::from(access.line) == line);
            if !found || !self.facts.accessed.is_of_one_place(id, line) {
                return None;
            }
        }
        Some(writes)
    }
}

/// A path without dependencies: which of them are semantic takes all paths, also those that were cut.
fn independent(path: &Path) -> Path {
    let event = |event: &PathEvent| PathEvent { addr: 0, data: 0, ctrl: 0, ..event.clone() };
    Path { events: path.events.iter().map(event).collect(), ..path.clone() }
}

/// How many of these writes a read may return bytes of: one, if it is morally strong with each that it overlaps, as single
/// copies of such accesses are atomic; otherwise as many as it has bytes.
fn pieces(read: &PathEvent, there: Placement, writes: &[PathEvent], here: Placement) -> usize {
    let Some(access) = read.access.filter(|_| read.kind == EventKind::Read) else { return 0 };
    let overlapping = writes.iter().filter_map(|write| {
        let own = write.access.filter(|own| own.pa.overlaps(access.pa))?;
        let scopes = read.tags.scope().zip(write.tags.scope());
        let strong = scopes.is_some_and(|(theirs, ours)| {
            theirs.includes(there, here) && ours.includes(here, there)
        });
        Some(strong && (own.va, own.pa) == (access.va, access.pa))
    });
    let whole = overlapping.reduce(|all, one| all && one);
    whole.map_or(0, |whole| if whole { 1 } else { access.pa.length as usize })
}

/// Whether an instruction has no effect after a cut that is not known here.
fn is_followed(instruction: &Instruction) -> bool {
    let asynchronous = instruction.as_asynchronous();
    asynchronous.is_none_or(|of| matches!(of, Asynchronous::Mbarrier(_)))
        && !matches!(instruction, Instruction::ProxyFence(_) | Instruction::Unsupported(_))
}

/// Whether each barrier of a path completes when all have arrived: who does not arrive after a cut only lets others wait. Which
/// lanes are active, or elected, is not known where some stop.
pub(super) fn waits_for_all(path: &Path) -> bool {
    let mut used = path.events.iter().filter_map(|event| event.barrier);
    used.all(|used| {
        let combination = used.reduce.map(|(combination, ..)| combination);
        used.waits_for_all()
            && !matches!(combination, Some(Combination::Elected(_) | Combination::Active))
    }) && path.last_round().is_none()
}

/// The lines to which a thread may come from this one, which is one of them.
fn reachable(thread: &Thread, from: usize) -> Vec<usize> {
    let mut seen = vec![false; thread.lines.len()];
    let mut open = vec![from];
    while let Some(line) = open.pop() {
        if line >= seen.len() || std::mem::replace(&mut seen[line], true) {
            continue;
        }
        open.push(line + 1);
        open.extend(thread.lines[line].instruction.as_branch().map(|branch| branch.target));
    }
    (0..seen.len()).filter(|&line| seen[line]).collect()
}
