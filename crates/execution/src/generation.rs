//! Generations of barriers: which arrivals complete together, and which waits they release.
//!
//! The threads of a combination of paths are run through their barriers only. Without thread
//! counts there is one result. With them, different orders of arrival may group arrivals differently, and
//! each grouping is a structure of its own. If threads wait for ever (reading R29), the grouping
//! has the barriers at which they wait.

mod mbarrier;
mod misuse;
mod trigger;
mod unsettled;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use self::mbarrier::{ObjectOperation, ObjectState, completions_of, initial_objects, spins_from};
use crate::event::{BarrierUse, EventKind, MbarrierUse, ObjectPhase, PhaseChange, Resource};
use crate::layout::Layout;
use crate::path::{Path, PathEnd};
use crate::unfold::{Ends, UnfoldLimit};
use model::program::AwaitedObject;
use model::scope::Placement;

pub use self::misuse::Misuse;

/// Which events belong to one generation of a barrier.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Generations {
    /// For each thread, the generation of each event of its path; `None` for events that belong to
    /// none.
    pub of: Vec<Vec<Option<u32>>>,
    /// For operations on mbarrier objects, by thread and event of its path, the phase in which they took effect, and
    /// for waits the phase that was seen completed.
    pub phases: BTreeMap<(usize, u16), ObjectPhase>,
    /// How far each mbarrier object has come: its phase in the end, by location, start, and how often it was initialized.
    pub reached: BTreeMap<(u16, u32, u32), i32>,
    /// For each operation on an mbarrier object whose place in a phase matters, the operations in the phase before it, as far as
    /// they matter; for each arrival at a barrier with a thread count, those of generations before.
    pub before: BTreeMap<(usize, u16), BTreeSet<(usize, u16)>>,
    /// For each phase in which a thread looked at the object, the operation that ended it, if it matters which; the phase by
    /// location, start, and how often the object was initialized.
    pub ended: BTreeMap<(u16, u32, ObjectPhase), (usize, u16)>,
    /// The generations that completed without an arrival of a thread, since it had exited: each
    /// with that thread.
    pub exits: BTreeSet<(u32, usize)>,
    /// The first `griddepcontrol.launch_dependents` of each CTA that executes some: its thread, and the event of the
    /// thread's path.
    pub triggers: BTreeSet<(usize, u16)>,
    /// The operations on mbarrier objects, and the arrivals at barriers with a thread count, whose order a run through barriers and
    /// objects does not settle, as base causality order may relate them otherwise: only their place matters for the order of an
    /// object or of generations.
    pub unsettled: Arc<BTreeSet<(usize, u16)>>,
}

impl Generations {
    /// Those of paths without barriers.
    pub fn none(paths: &[&Path]) -> Generations {
        let of = paths.iter().map(|path| vec![None; path.events.len()]).collect();
        Generations { of, ..Generations::default() }
    }

    /// Keeps only the first `reached` events of each thread.
    pub fn truncate(&mut self, reached: &[usize]) {
        for (of, &reached) in self.of.iter_mut().zip(reached) {
            of.truncate(reached);
        }
        self.phases.retain(|&(thread, event), _| usize::from(event) < reached[thread]);
        self.triggers.retain(|&(thread, event)| usize::from(event) < reached[thread]);
        self.before.retain(|&(thread, event), _| usize::from(event) < reached[thread]);
        for before in self.before.values_mut() {
            before.retain(|&(thread, event)| usize::from(event) < reached[thread]);
        }
        self.ended.retain(|_, &mut (thread, event)| usize::from(event) < reached[thread]);
    }

    /// Numbered in the order of threads and events, not of arrival: equal groupings are equal then.
    #[must_use]
    pub fn renumbered(mut self) -> Generations {
        let mut numbers = BTreeMap::new();
        for generation in self.of.iter_mut().flatten().flatten() {
            let next = u32::try_from(numbers.len()).expect("a test has few events");
            *generation = *numbers.entry(*generation).or_insert(next);
        }
        let exits = self.exits.into_iter();
        self.exits = exits.filter_map(|(of, thread)| Some((*numbers.get(&of)?, thread))).collect();
        self
    }
}

const MAX_STEPS: usize = 200_000;

/// One barrier of the machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct BarrierKey {
    /// The first thread of the CTA or cluster.
    group: u8,
    resource: Resource,
}

#[derive(Clone, Copy)]
struct BarrierStep {
    /// Index in the path.
    event: u16,
    line: u16,
    kind: EventKind,
    key: BarrierKey,
    used: BarrierUse,
    /// What it does, where the barrier is an mbarrier object.
    object: Option<MbarrierUse>,
}

/// The ways in which arrivals group.
#[derive(Debug, Default)]
pub struct Groupings {
    /// Those under which every thread gets to the end of its path.
    pub complete: Vec<Generations>,
    /// Those under which some threads wait for ever.
    pub waiting: Vec<Waiting>,
    /// Where a barrier is misused.
    pub misused: Vec<Misuse>,
}

/// The barriers that never complete, with the threads that wait there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Waiting {
    pub generations: Generations,
    /// For each thread, the index in its path of the wait that is never over, if there is one.
    pub at: Vec<Option<u16>>,
    /// For each thread, what the mbarrier object holds at which it waits, if it does.
    pub objects: Vec<Option<AwaitedObject>>,
}

/// Every grouping, with every choice of first triggers.
pub fn groupings(
    paths: &[&Path],
    placements: &[Placement],
    layout: &Layout,
    ends: Ends<'_>,
) -> Result<Groupings, UnfoldLimit> {
    let all = barrier_groupings(paths, placements, layout, ends)?;
    let choices = trigger::choices(paths, placements, ends)?;
    if choices == [BTreeSet::new()] {
        return Ok(all);
    }
    let with = |of: Generations, triggers: &BTreeSet<(usize, u16)>| Generations {
        triggers: triggers.clone(),
        ..of
    };
    let complete = all.complete.iter().flat_map(|of| choices.iter().map(|c| with(of.clone(), c)));
    let waiting = all.waiting.iter().flat_map(|of| {
        choices
            .iter()
            .map(|c| Waiting { generations: with(of.generations.clone(), c), ..of.clone() })
    });
    Ok(Groupings { complete: complete.collect(), waiting: waiting.collect(), misused: all.misused })
}

fn barrier_groupings(
    paths: &[&Path],
    placements: &[Placement],
    layout: &Layout,
    ends: Ends<'_>,
) -> Result<Groupings, UnfoldLimit> {
    let steps: Vec<Vec<BarrierStep>> =
        (0..paths.len()).map(|thread| steps_of(paths, placements, thread)).collect();
    let none = Generations::none(paths);
    let completions = completions_of(paths);
    if steps.iter().all(Vec::is_empty) && completions.is_empty() {
        return Ok(Groupings { complete: vec![none], ..Groupings::default() });
    }
    let with_count = steps.iter().flatten().filter(|step| step.used.count.is_some());
    let with_count: BTreeSet<BarrierKey> = with_count.map(|step| step.key).collect();
    let counted = !completions.is_empty() || with_count.iter().any(|&key| !takes_all(&steps, key));
    let ordered = |step: &BarrierStep| step.object.is_some() || step.used.count.is_some();
    let unsettled = if steps.iter().flatten().any(ordered) {
        unsettled::unsettled(paths, placements, &steps)
    } else {
        BTreeSet::new()
    };
    let none = Generations { unsettled: Arc::new(unsettled), ..none };
    let same_warp = |a: usize, b: usize| placements[a].same_warp(placements[b]);
    let diverged = misuse::divergences(paths, &steps, same_warp);
    let mut run = ArrivalSearch {
        steps: &steps,
        placements,
        members: members_of(&steps, placements),
        every_order: counted || !diverged.is_empty(),
        completions: &completions,
        spins: paths.iter().map(|path| spins_from(path)).collect(),
        depends: paths.iter().any(|path| path.arrivals_depend()),
        diverged,
        exits: paths.iter().map(|path| !stays(path)).collect(),
        complete: BTreeSet::new(),
        waiting: BTreeSet::new(),
        misused: BTreeSet::new(),
        seen: BTreeSet::new(),
        budget: MAX_STEPS,
        ends,
    };
    let state = ArrivalState {
        position: vec![0; steps.len()],
        waiting: vec![None; steps.len()],
        barriers: BTreeMap::new(),
        joined: none,
        next: 0,
        exited: Vec::new(),
        objects: BTreeMap::new(),
        since: BTreeMap::new(),
        looked: BTreeSet::new(),
        fired: vec![false; completions.len()],
    };
    let state = ArrivalState { objects: initial_objects(layout), ..state };
    run.every_order |= misuse::depends_on_order(&steps, |key| run.members(key).len() as u64);
    let state = ArrivalState { exited: run.exits_unseen(), ..state };
    run.explore(state)?;
    Ok(Groupings {
        complete: run.complete.into_iter().collect(),
        waiting: run.waiting.into_iter().collect(),
        misused: run.misused.into_iter().collect(),
    })
}

/// Whether a barrier with a thread count is used by as many threads as that, each of which waits: its generations are then those of a
/// barrier without a count, and arrivals commute.
fn takes_all(steps: &[Vec<BarrierStep>], key: BarrierKey) -> bool {
    let of = |thread: &Vec<BarrierStep>| thread.iter().any(|step| step.key == key);
    let users = steps.iter().filter(|thread| of(thread)).count() as u64;
    let all = |step: &BarrierStep| step.used.waits && step.used.count == Some(users);
    steps.iter().flatten().filter(|step| step.key == key).all(all)
}

/// The threads that could take part in each barrier: a lane is looked for among all threads, so each barrier is looked at once.
fn members_of(
    steps: &[Vec<BarrierStep>],
    placements: &[Placement],
) -> BTreeMap<BarrierKey, Vec<usize>> {
    let keys: BTreeSet<BarrierKey> = steps.iter().flatten().map(|step| step.key).collect();
    let members = |key: BarrierKey| {
        let (first, mut lane) = (usize::from(key.group), 0_u32);
        let there = placements[first];
        let mut all = Vec::new();
        for (thread, &here) in placements.iter().enumerate() {
            let belongs = match key.resource {
                Resource::Cta { .. } => here.same_cta(there),
                Resource::Cluster => here.same_cluster(there),
                Resource::Warp { mask, .. } => {
                    let of_warp = thread == first || here.same_warp(there);
                    lane += u32::from(of_warp);
                    of_warp && mask.checked_shr(lane - 1).unwrap_or(0) & 1 == 1
                }
                Resource::Mbarrier { .. } => false,
            };
            if belongs {
                all.push(thread);
            }
        }
        (key, all)
    };
    keys.into_iter().map(members).collect()
}

/// Whether a thread never exits, as far as its path goes. One that faults does not come to its exit.
fn stays(path: &Path) -> bool {
    match path.end {
        PathEnd::Cut | PathEnd::Spins { .. } | PathEnd::Waits { .. } | PathEnd::Fault { .. } => {
            true
        }
        PathEnd::Finished | PathEnd::Covered => false,
    }
}

fn steps_of(paths: &[&Path], placements: &[Placement], thread: usize) -> Vec<BarrierStep> {
    let here = placements[thread];
    let first = |same: &dyn Fn(Placement) -> bool| {
        let index = placements.iter().position(|&p| same(p)).unwrap_or(thread);
        u8::try_from(index).expect("a test has few threads")
    };
    paths[thread]
        .events
        .iter()
        .enumerate()
        .filter(|(_, of)| of.part.is_none())
        .filter_map(|(event, of)| {
            let used = of.barrier.or_else(|| of.mbarrier.map(mbarrier::used))?;
            let group = match used.resource {
                Resource::Cta { .. } => first(&|p| p.same_cta(here)),
                Resource::Cluster => first(&|p| p.same_cluster(here)),
                Resource::Warp { .. } if here.warp.is_none() => {
                    u8::try_from(thread).expect("a test has few threads")
                }
                Resource::Warp { .. } => first(&|p| p.same_warp(here)),
                Resource::Mbarrier { .. } => 0,
            };
            let event = u16::try_from(event).expect("a path has few events");
            let key = BarrierKey { group, resource: used.resource };
            let object = of.mbarrier;
            Some(BarrierStep { event, line: of.line, kind: of.kind, key, used, object })
        })
        .collect()
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Open {
    generation: u32,
    /// The threads of its arrivals, sorted: in which order they came makes no difference any more.
    arrived: Vec<u8>,
    /// How many arrivals complete it, once one has said so.
    count: Option<u64>,
    /// Peer dialect: the count was reached. A later arrival passes: it gives no edge, and its wait
    /// receives those of the arrivals that reached the count (reading R30).
    passed: bool,
}

/// The operations of a phase, by thread and event of its path, with what they do to its counts.
type PhaseOperations = BTreeSet<((usize, u16), PhaseChange)>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ArrivalState {
    position: Vec<usize>,
    /// The generation each thread's latest arrival at a barrier belongs to, while it waits.
    waiting: Vec<Option<(BarrierKey, u32)>>,
    barriers: BTreeMap<BarrierKey, Open>,
    joined: Generations,
    next: u32,
    /// Whether each thread has exited; where that makes no difference, from the start.
    exited: Vec<bool>,
    /// The mbarrier objects that are initialized: location, start, and state.
    objects: BTreeMap<(u16, u32), ObjectState>,
    /// Their operations in the phase that has not ended.
    since: BTreeMap<(u16, u32), PhaseOperations>,
    /// The objects that a thread has looked at in the phase that has not ended.
    looked: BTreeSet<(u16, u32)>,
    /// Which asynchronous operations have completed.
    fired: Vec<bool>,
}

impl ArrivalState {
    /// About how many bytes it takes.
    fn bytes(&self) -> usize {
        let joined = self.joined.of.iter().map(|thread| 24 + size_of_val(&**thread));
        let entries = self.joined.phases.len() + self.objects.len() + self.joined.reached.len();
        let since = self.since.values().map(BTreeSet::len);
        let before = self.joined.before.values().map(BTreeSet::len);
        let entries = entries + self.joined.ended.len() + since.chain(before).sum::<usize>();
        256 + size_of_val(&*self.position)
            + size_of_val(&*self.waiting)
            + joined.sum::<usize>()
            + self.fired.len()
            + entries * size_of::<((u16, u32), ObjectState)>()
    }
}

struct ArrivalSearch<'a> {
    steps: &'a [Vec<BarrierStep>],
    placements: &'a [Placement],
    /// The threads that could take part in each barrier, in order.
    members: BTreeMap<BarrierKey, Vec<usize>>,
    /// Whether the order of arrivals makes a difference.
    every_order: bool,
    diverged: Vec<misuse::Divergence>,
    /// For each thread, whether it exits at the end of its path.
    exits: Vec<bool>,
    /// The completions of asynchronous operations on mbarrier objects.
    completions: &'a [ObjectOperation],
    /// For each thread in a loop that it never leaves, the first event that it repeats.
    spins: Vec<Option<u16>>,
    /// Whether some operation, or whether there is one, depends on a read.
    depends: bool,
    complete: BTreeSet<Generations>,
    waiting: BTreeSet<Waiting>,
    misused: BTreeSet<Misuse>,
    seen: BTreeSet<ArrivalState>,
    budget: usize,
    ends: Ends<'a>,
}

impl ArrivalSearch<'_> {
    fn explore(&mut self, start: ArrivalState) -> Result<(), UnfoldLimit> {
        let mut pending = vec![start];
        while let Some(mut state) = pending.pop() {
            self.budget = self.budget.checked_sub(1).ok_or(UnfoldLimit::Barriers)?;
            let states = self.seen.len() + pending.len();
            if let Some(limit) = (self.ends)(states * state.bytes()) {
                return Err(limit);
            }
            self.settle(&mut state);
            if self.every_order && !self.seen.insert(state.clone()) {
                continue;
            }
            let standing = self.standing(&state);
            let misused = standing.is_some();
            let stopped = standing.map(|(misuse, stopped)| {
                self.misused.insert(misuse);
                stopped
            });
            // The others go on: what they write may be what leads there.
            let stopped = stopped.unwrap_or_default();
            let ready: Vec<usize> = (0..self.steps.len())
                .filter(|&thread| self.can_arrive(&state, thread) && !stopped.contains(&thread))
                .collect();
            for thread in (0..self.steps.len()).filter(|&thread| self.can_exit(&state, thread)) {
                let mut after = state.clone();
                after.exited[thread] = true;
                pending.push(after);
            }
            let moved = self.move_objects(&state, &stopped, &mut pending);
            if ready.is_empty() {
                if moved
                    || misused
                    || (0..self.steps.len()).any(|thread| self.can_exit(&state, thread))
                {
                    continue;
                }
                let at: Vec<Option<u16>> =
                    (0..self.steps.len()).map(|thread| self.stands_at(&state, thread)).collect();
                // Another path has the executions in which the wait returns something else.
                if !self.repeats_as_it_does(&state) || self.returns_otherwise(&state) {
                    continue;
                }
                let objects: Vec<Option<AwaitedObject>> =
                    (0..at.len()).map(|thread| self.awaited_object(&state, thread)).collect();
                let generations = state.joined.renumbered();
                if at.iter().all(Option::is_none) {
                    self.complete.insert(generations);
                } else {
                    self.waiting.insert(Waiting { generations, at, objects });
                }
                continue;
            }
            // Otherwise arrivals commute: one order is enough.
            let choices = if self.every_order { ready.len() } else { 1 };
            for &thread in &ready[..choices] {
                if let Some(misuse) = self.arriving(&state, thread) {
                    self.misused.insert(misuse);
                    continue;
                }
                let mut after = state.clone();
                self.arrive(&mut after, thread);
                pending.push(after);
            }
        }
        Ok(())
    }

    /// The wait that a thread is not let through, when nothing moves any more.
    fn stands_at(&self, state: &ArrivalState, thread: usize) -> Option<u16> {
        let passed = state.position[thread];
        let entered = state.waiting[thread].map(|_| self.steps[thread][passed - 1].event);
        entered.or_else(|| self.steps[thread].get(passed).map(|step| step.event))
    }

    fn can_arrive(&self, state: &ArrivalState, thread: usize) -> bool {
        state.waiting[thread].is_none()
            && self.steps[thread]
                .get(state.position[thread])
                .is_some_and(|step| step.kind == EventKind::Arrive)
    }

    /// Whether a thread is at its end, and may exit now or later.
    fn can_exit(&self, state: &ArrivalState, thread: usize) -> bool {
        !state.exited[thread] && self.is_at_end(state, thread)
    }

    fn is_at_end(&self, state: &ArrivalState, thread: usize) -> bool {
        let left = &self.steps[thread][state.position[thread]..];
        left.is_empty() && state.waiting[thread].is_none() && self.exits[thread]
    }

    /// For each thread, whether nothing depends on when it exits: the order of arrivals makes no
    /// difference, or it is in no group with a barrier that waits for exits.
    fn exits_unseen(&self) -> Vec<bool> {
        let seen = |thread: usize| {
            let mut all = self.steps.iter().flatten();
            all.any(|step| {
                step.used.waits_for_all() && self.members(step.key).binary_search(&thread).is_ok()
            })
        };
        (0..self.steps.len()).map(|thread| !self.every_order || !seen(thread)).collect()
    }

    fn arrive(&self, state: &mut ArrivalState, thread: usize) {
        let step = self.steps[thread][state.position[thread]];
        let next = &mut state.next;
        let open = state.barriers.entry(step.key).or_insert_with(|| {
            *next += 1;
            Open { generation: *next, arrived: Vec::new(), count: None, passed: false }
        });
        open.count = step.used.count.or(open.count);
        let arriving = u8::try_from(thread).expect("a test has few threads");
        let at = open.arrived.partition_point(|&of| of <= arriving);
        open.arrived.insert(at, arriving);
        let generation = if open.passed { None } else { Some(open.generation) };
        state.joined.of[thread][usize::from(step.event)] = generation;
        let by = (thread, step.event);
        if state.joined.unsettled.contains(&by) {
            let before = self.unsettled_before(state, step.key, generation);
            if !before.is_empty() {
                state.joined.before.insert(by, before);
            }
        }
        state.position[thread] += 1;
    }

    /// The arrivals of the generations of a barrier that completed before this one, as far as their order is not settled.
    fn unsettled_before(
        &self,
        state: &ArrivalState,
        key: BarrierKey,
        generation: Option<u32>,
    ) -> BTreeSet<(usize, u16)> {
        let threads = self.steps.iter().enumerate();
        let arrived = threads.flat_map(|(thread, steps)| {
            let passed = steps[..state.position[thread]].iter();
            let here = passed.filter(|step| step.key == key && step.kind == EventKind::Arrive);
            here.map(move |step| (thread, step.event))
        });
        arrived
            .filter(|&(thread, event)| state.joined.of[thread][usize::from(event)] != generation)
            .filter(|of| state.joined.unsettled.contains(of))
            .collect()
    }

    /// Completes what can be completed and lets waits through, until nothing moves.
    fn settle(&self, state: &mut ArrivalState) {
        loop {
            let mut moved = false;
            for thread in 0..self.steps.len() {
                moved |= self.start_wait(state, thread);
            }
            let complete: Vec<BarrierKey> = state
                .barriers
                .iter()
                .filter(|(key, open)| self.is_complete(state, **key, open))
                .map(|(key, _)| *key)
                .collect();
            for key in complete {
                self.complete(state, key);
                moved = true;
            }
            if !moved {
                return;
            }
        }
    }

    /// Moves a thread onto its wait, and through it if its generation has completed.
    fn start_wait(&self, state: &mut ArrivalState, thread: usize) -> bool {
        let Some(step) = self.steps[thread].get(state.position[thread]) else { return false };
        if step.kind != EventKind::Wait || state.waiting[thread].is_some() {
            return false;
        }
        let Some(arrival) = self.arrival(state, thread) else { return false };
        let open = state.barriers.get(&step.key);
        let late = open.filter(|open| open.passed).map(|open| open.generation);
        let generation = state.joined.of[thread][usize::from(arrival.event)].or(late);
        let waits = open.is_some_and(|open| Some(open.generation) == generation && !open.passed);
        state.joined.of[thread][usize::from(step.event)] = generation;
        state.position[thread] += 1;
        if let Some(generation) = generation.filter(|_| waits) {
            state.waiting[thread] = Some((step.key, generation));
        }
        true
    }

    /// What the wait that a thread stands at is for: the thread's arrival at the barrier, after
    /// which it has not waited there.
    fn arrival(&self, state: &ArrivalState, thread: usize) -> Option<BarrierStep> {
        let (before, rest) = self.steps[thread].split_at(state.position[thread]);
        let key = rest.first()?.key;
        let last = before.iter().rev().find(|step| step.key == key)?;
        (last.kind == EventKind::Arrive).then_some(*last)
    }

    fn is_complete(&self, state: &ArrivalState, key: BarrierKey, open: &Open) -> bool {
        if open.passed || open.arrived.is_empty() {
            return false;
        }
        if let Some(count) = open.count {
            return open.arrived.len() as u64 >= count;
        }
        let peer = matches!(key.resource, Resource::Cta { instance: Some(_), .. });
        self.members(key).iter().all(|&thread| {
            let arrived = open.arrived.iter().any(|&t| usize::from(t) == thread);
            let left = &self.steps[thread][state.position[thread]..];
            // In PTX a thread that has exited is not waited for; in the peer dialect those take
            // part that execute the barrier.
            arrived
                || if peer {
                    !left.iter().any(|step| step.key == key)
                } else {
                    state.exited[thread] && self.is_at_end(state, thread)
                }
        })
    }

    /// One of the arrivals of a generation: all have the same form, or one was a misuse.
    fn one_arrival(&self, state: &ArrivalState, key: BarrierKey, open: &Open) -> BarrierStep {
        let of = usize::from(*open.arrived.first().expect("somebody arrived"));
        *self.steps[of][..state.position[of]]
            .iter()
            .rev()
            .find(|step| step.key == key && step.kind == EventKind::Arrive)
            .expect("an arrival is a step")
    }

    /// The threads of the test that could take part.
    fn members(&self, key: BarrierKey) -> &[usize] {
        self.members.get(&key).map_or(&[], Vec::as_slice)
    }

    fn complete(&self, state: &mut ArrivalState, key: BarrierKey) {
        let peer = matches!(key.resource, Resource::Cta { instance: Some(_), .. });
        let open = state.barriers.get_mut(&key).expect("the barrier is open");
        for waiting in &mut state.waiting {
            if *waiting == Some((key, open.generation)) {
                *waiting = None;
            }
        }
        if open.count.is_none() && !peer {
            let arrived = |thread: usize| open.arrived.iter().any(|&t| usize::from(t) == thread);
            let members = self.members(key).iter().copied();
            let exited = members.filter(|&thread| !arrived(thread));
            state.joined.exits.extend(exited.map(|thread| (open.generation, thread)));
        }
        if open.count.is_some() && peer {
            open.passed = true;
        } else {
            state.barriers.remove(&key);
        }
    }
}
