//! The paths of a program's threads, listed by what is known of its memory. What all paths of a thread write says more of that: then
//! they are listed again.

use std::collections::BTreeSet;

use super::{Ends, UnfoldLimit, Unfolded};
use crate::layout::Layout;
use crate::path::{self, KnownMemory, LoopFacts, LoopRule, Path, PathEnd};
use crate::written::BroughtToShuffles;
use model::memory::Extent;
use model::program::{Program, ThreadId};
use model::rel::Conventions;
use model::value::Value;

/// How often paths are listed again for what the last ones have told.
const MOST_TURNS: usize = 4;

/// Bytes of the paths of a thread beyond which the other threads come first: they may say what it reads.
const MOST_AT_FIRST: usize = 4 << 20;

/// The paths of a thread.
#[derive(Default)]
struct ThreadPaths {
    paths: Vec<Path>,
    covered: Vec<Path>,
    spinning: Vec<Path>,
    cut: Vec<Path>,
    /// Bytes that they take.
    held: usize,
}

/// The same of all threads, with a list for each of them.
#[derive(Default)]
struct ListedPaths {
    paths: Vec<Vec<Path>>,
    covered: Vec<Vec<Path>>,
    spinning: Vec<Vec<Path>>,
    cut: Vec<Vec<Path>>,
    held: usize,
}

impl<'p> Unfolded<'p> {
    pub(super) fn by_rule(
        program: &'p Program,
        conventions: Conventions,
        loops: LoopRule,
        ends: Ends<'p>,
        known: &LoopFacts<'p>,
    ) -> Result<Unfolded<'p>, UnfoldLimit> {
        let layout = Layout::new(program);
        let mut facts = known.clone();
        let listing = PathListing { program, layout, conventions, loops, ends };
        let listed = listing.all(&mut facts)?;
        let unfolded = Unfolded::of(listing, listed, facts);
        if !unfolded.contradicts() {
            return Ok(unfolded);
        }
        let Unfolded { layout, mut facts, .. } = unfolded;
        facts.written = known.written.clone().certain();
        let listing = PathListing { program, layout, conventions, loops, ends };
        let listed = listing.all(&mut facts)?;
        Ok(Unfolded::of(listing, listed, facts))
    }

    fn of(listing: PathListing<'p>, listed: ListedPaths, facts: LoopFacts<'p>) -> Unfolded<'p> {
        let PathListing { program, layout, conventions, ends, .. } = listing;
        let tearing = conventions.tearing;
        let ListedPaths { paths, covered, spinning, cut, held } = listed;
        let held = held + facts.bytes();
        Unfolded { program, layout, paths, covered, spinning, cut, facts, tearing, held, ends }
    }
}

/// What paths are listed of, and how.
struct PathListing<'p> {
    program: &'p Program,
    layout: Layout,
    conventions: Conventions,
    loops: LoopRule,
    ends: Ends<'p>,
}

impl PathListing<'_> {
    /// The paths of all threads; the facts come to have what these say.
    fn all(&self, facts: &mut LoopFacts<'_>) -> Result<ListedPaths, UnfoldLimit> {
        // Without No-Thin-Air, what is written may come of nothing.
        let open = !self.conventions.thin_air && !self.conventions.semantic_dependencies;
        let mut is_first = open && facts.written.is_open();
        let mut turns = 0;
        loop {
            turns += usize::from(open);
            let mut all = ListedPaths::default();
            let (mut fails, mut learns) = (false, false);
            for thread in (0u8..).take(self.program.threads.len()).map(ThreadId) {
                match self.thread(thread, facts, all.held, is_first) {
                    Ok(listed) => {
                        if (1..=MOST_TURNS).contains(&turns) && listed.is_complete() {
                            learns |=
                                listed.tell(self.program, thread, facts, self.conventions.tearing);
                        }
                        all.add(listed);
                    }
                    Err(limit) if limit.is_of_caller() || !is_first => return Err(limit),
                    Err(_) => {
                        fails = true;
                        all.add(ThreadPaths::default());
                    }
                }
            }
            if !fails && !learns {
                return Ok(all);
            }
            is_first &= learns;
        }
    }

    /// The paths of one thread, where those of others take so many bytes.
    fn thread(
        &self,
        thread: ThreadId,
        facts: &LoopFacts<'_>,
        held: usize,
        is_first: bool,
    ) -> Result<ThreadPaths, UnfoldLimit> {
        let PathListing { program, ref layout, conventions, loops, .. } = *self;
        facts.liveness(program, layout, thread);
        let held = held + facts.bytes();
        // Of a long thread it takes long.
        if let Some(limit) = (self.ends)(held) {
            return Err(limit);
        }
        let ends = |more| {
            let is_long = is_first && more > MOST_AT_FIRST;
            (self.ends)(held + more).or(is_long.then_some(UnfoldLimit::Paths))
        };
        let list = path::paths(program, layout, facts, thread, conventions, loops, &ends)?;
        let bytes = list.iter().map(Path::bytes).sum();
        let written = &facts.written;
        let known = KnownMemory { program, written, thread, tearing: conventions.tearing };
        let mut listed = ThreadPaths { held: bytes, ..ThreadPaths::default() };
        for path in list {
            if let Some(limit) = (self.ends)(held + bytes) {
                return Err(limit);
            }
            // Which dependencies there are takes all paths to say.
            let stays = conventions.semantic_dependencies && path.end != PathEnd::Cut;
            if !stays && path.is_impossible(known) {
                continue;
            }
            let list = match path.end {
                PathEnd::Cut => &mut listed.cut,
                PathEnd::Spins { .. } => &mut listed.spinning,
                PathEnd::Covered => &mut listed.covered,
                PathEnd::Finished | PathEnd::Waits { .. } | PathEnd::Fault { .. } => {
                    &mut listed.paths
                }
            };
            list.push(path);
        }
        Ok(listed)
    }
}

impl ThreadPaths {
    /// Whether the thread does nothing else than what these do.
    fn is_complete(&self) -> bool {
        let mut rounds = self.every().flat_map(|path| &path.rounds);
        self.cut.is_empty() && self.covered.is_empty() && rounds.all(|round| !round.rewrites)
    }

    fn every(&self) -> impl Iterator<Item = &Path> {
        [&self.paths, &self.spinning, &self.cut, &self.covered].into_iter().flatten()
    }

    /// Adds to the facts what these paths write and bring to shuffles, and how far they move counters, which are all of their thread;
    /// whether something is new.
    fn tell(
        &self,
        program: &Program,
        thread: ThreadId,
        facts: &mut LoopFacts<'_>,
        tearing: bool,
    ) -> bool {
        let known = KnownMemory { program, written: &facts.written, thread, tearing };
        let open = facts.written.bytes.iter().filter(|(_, of)| of.is_open(thread));
        let values: Vec<(Extent, Option<BTreeSet<Value>>)> =
            open.map(|(&bytes, _)| (bytes, self.written(bytes, known))).collect();
        let counters = facts.written.counters.iter().filter(|(_, of)| of.is_moved_by(thread));
        let moved: Vec<(Extent, Value)> = counters
            .map(|(&bytes, of)| {
                let far = self.every().map(|path| path.moves(bytes, of, thread)).max();
                (bytes, far.unwrap_or(0))
            })
            .collect();
        let is_source = facts.written.brought.contains_key(&thread);
        let brought = is_source.then(|| self.brought(known));
        let mut learns = false;
        for (bytes, values) in values {
            let of = facts.written.bytes.get_mut(&bytes);
            learns |= of.zip(values).is_some_and(|(of, values)| of.learn(thread, values));
        }
        for (bytes, far) in moved {
            let of = facts.written.counters.get_mut(&bytes);
            learns |= of.is_some_and(|of| of.learn(thread, far));
        }
        learns |= brought.is_some_and(|brought| facts.written.learn_brought(thread, brought));
        learns
    }

    /// What these paths bring to shuffles.
    fn brought(&self, known: KnownMemory<'_>) -> BroughtToShuffles {
        let mut all = BroughtToShuffles::new();
        let mut unknown = BTreeSet::new();
        for path in self.every() {
            path.brought(known, &mut all, &mut unknown);
        }
        all.retain(|shuffle, _| !unknown.contains(shuffle));
        all
    }

    /// What these paths write to some bytes; `None` if it may be anything.
    fn written(&self, bytes: Extent, known: KnownMemory<'_>) -> Option<BTreeSet<Value>> {
        let mut all = BTreeSet::new();
        for path in self.every() {
            all.extend(path.written(bytes, known)?);
        }
        Some(all)
    }
}

impl ListedPaths {
    fn add(&mut self, of: ThreadPaths) {
        let ThreadPaths { paths, covered, spinning, cut, held } = of;
        self.paths.push(paths);
        self.covered.push(covered);
        self.spinning.push(spinning);
        self.cut.push(cut);
        self.held += held;
    }
}

impl Unfolded<'_> {
    /// What is known of memory, for the paths of a thread.
    pub(super) fn known_memory(&self, thread: ThreadId) -> KnownMemory<'_> {
        let (program, written) = (self.program, &self.facts.written);
        KnownMemory { program, written, thread, tearing: self.tearing }
    }

    /// Whether some thread may access bytes by an address that is not known, though each access of them is taken to be.
    fn contradicts(&self) -> bool {
        (0u8..).map(ThreadId).take(self.paths.len()).any(|thread| {
            let known = self.known_memory(thread);
            let mut paths = self.every(thread.0.into());
            paths.any(|path| path.contradicts(known) && !path.is_impossible(known))
        })
    }
}
