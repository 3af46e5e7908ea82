//! How arrivals at barriers group, against a reference that tries every order of arrivals one by
//! one: it takes no order for another, and remembers nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use execution::event::{BarrierUse, EventKind, Resource};
use execution::generation::{Generations, Waiting, groupings};
use execution::layout::Layout;
use execution::path::Path;
use execution::unfold::Unfolded;
use model::ptx;
use model::scope::Placement;

use crate::agree::{BARRIERS, law, parse};

/// Combinations of paths of one program that are looked at.
const COMBINATIONS: usize = 64;

/// A barrier that some have arrived at and that has not completed.
#[derive(Clone)]
struct Active {
    /// Some thread of its CTA or cluster.
    member: usize,
    resource: Resource,
    generation: u32,
    arrivals: Vec<(usize, BarrierUse)>,
}

/// Where a run has got to.
#[derive(Clone)]
struct World {
    /// For each thread, its next event.
    next: Vec<usize>,
    active: Vec<Active>,
    completed: BTreeSet<u32>,
    joined: Generations,
    generations: u32,
    exited: Vec<bool>,
}

struct Reference<'a> {
    paths: &'a [&'a Path],
    placements: &'a [Placement],
    complete: BTreeSet<Generations>,
    waiting: BTreeSet<Waiting>,
    misused: bool,
}

impl Reference<'_> {
    fn run(&mut self, mut world: World) {
        if !self.advance(&mut world) || self.warps_diverge(&world) {
            self.misused = true;
            return;
        }
        let stands: Vec<_> = (0..self.paths.len())
            .map(|thread| self.barrier_at(thread, world.next[thread]))
            .collect();
        let arriving: Vec<usize> = (0..self.paths.len())
            .filter(|&thread| stands[thread].is_some_and(|(kind, _)| kind == EventKind::Arrive))
            .collect();
        let at_end = |thread: &usize| world.next[*thread] == self.paths[*thread].events.len();
        let all = 0..self.paths.len();
        let exiting: Vec<usize> = all.filter(|t| at_end(t) && !world.exited[*t]).collect();
        for &thread in &exiting {
            let mut after = world.clone();
            after.exited[thread] = true;
            self.run(after);
        }
        if arriving.is_empty() {
            if !exiting.is_empty() {
                return;
            }
            let at: Vec<Option<u16>> = (0..self.paths.len())
                .map(|thread| stands[thread].map(|_| short(world.next[thread])))
                .collect();
            let generations = world.joined.renumbered();
            if at.iter().all(Option::is_none) {
                self.complete.insert(generations);
            } else {
                self.waiting.insert(Waiting { generations, objects: vec![None; at.len()], at });
            }
            return;
        }
        for thread in arriving {
            let mut after = world.clone();
            if self.arrive(&mut after, thread) {
                self.run(after);
            } else {
                self.misused = true;
            }
        }
    }

    fn barrier_at(&self, thread: usize, event: usize) -> Option<(EventKind, BarrierUse)> {
        let event = self.paths[thread].events.get(event)?;
        event.barrier.map(|used| (event.kind, used))
    }

    /// Takes every thread to its next arrival or to a wait that is not over; false where a wait is
    /// for nothing.
    fn advance(&self, world: &mut World) -> bool {
        loop {
            let before = (world.next.clone(), world.completed.len());
            for thread in 0..self.paths.len() {
                let events = &self.paths[thread].events;
                while let Some(event) = events.get(world.next[thread]) {
                    let at = world.next[thread];
                    match (event.kind, event.barrier) {
                        (EventKind::Arrive, Some(_)) => break,
                        (EventKind::Wait, Some(used)) => {
                            let of_barrier = |other: &usize| {
                                events[*other].barrier.is_some_and(|b| b.resource == used.resource)
                            };
                            let Some(last) = (0..at).rev().find(of_barrier) else { return false };
                            if events[last].kind != EventKind::Arrive {
                                return false;
                            }
                            let generation = world.joined.of[thread][last];
                            world.joined.of[thread][at] = generation;
                            if !generation.is_some_and(|g| world.completed.contains(&g)) {
                                break;
                            }
                        }
                        (_, None | Some(_)) => {}
                    }
                    world.next[thread] += 1;
                }
            }
            let full: Vec<bool> =
                world.active.iter().map(|active| self.is_full(world, active)).collect();
            for (active, _) in world.active.iter().zip(&full).filter(|(_, full)| **full) {
                world.completed.insert(active.generation);
                let counted = active.arrivals.iter().any(|(_, used)| used.count.is_some());
                let arrived = |thread: &usize| active.arrivals.iter().any(|(t, _)| t == thread);
                let members = self.members(active.member, active.resource);
                let absent = members.filter(|thread| !counted && !arrived(thread));
                world.joined.exits.extend(absent.map(|thread| (active.generation, thread)));
            }
            let completed = world.completed.clone();
            world.active.retain(|active| !completed.contains(&active.generation));
            if before == (world.next.clone(), world.completed.len()) {
                return true;
            }
        }
    }

    fn is_full(&self, world: &World, active: &Active) -> bool {
        if let Some(count) = active.arrivals.iter().find_map(|(_, used)| used.count) {
            return active.arrivals.len() as u64 >= count;
        }
        self.members(active.member, active.resource).all(|thread| {
            world.exited[thread] || active.arrivals.iter().any(|(other, _)| *other == thread)
        })
    }

    fn members(&self, member: usize, resource: Resource) -> impl Iterator<Item = usize> {
        let here = self.placements[member];
        (0..self.paths.len()).filter(move |&thread| match resource {
            Resource::Cta { .. } => here.same_cta(self.placements[thread]),
            Resource::Cluster => here.same_cluster(self.placements[thread]),
            Resource::Warp { .. } | Resource::Mbarrier { .. } => false,
        })
    }

    /// False where the barrier is misused.
    fn arrive(&self, world: &mut World, thread: usize) -> bool {
        let at = world.next[thread];
        let (_, used) = self.barrier_at(thread, at).expect("the thread stands at an arrival");
        let all = self.members(thread, used.resource).count() as u64;
        let found = world.active.iter().position(|active| {
            active.resource == used.resource
                && self.members(active.member, active.resource).any(|other| other == thread)
        });
        let index = found.unwrap_or_else(|| {
            world.generations += 1;
            world.active.push(Active {
                member: thread,
                resource: used.resource,
                generation: world.generations,
                arrivals: Vec::new(),
            });
            world.active.len() - 1
        });
        let active = &mut world.active[index];
        let allowed = active.arrivals.iter().all(|(other, before)| {
            let again = used.resource == Resource::Cluster && *other == thread;
            !again
                && before.reduce.is_some() == used.reduce.is_some()
                && before.count.unwrap_or(all) == used.count.unwrap_or(all)
        });
        active.arrivals.push((thread, used));
        world.joined.of[thread][at] = Some(active.generation);
        world.next[thread] += 1;
        allowed
    }

    /// Whether threads of a warp have executed different aligned barriers.
    fn warps_diverge(&self, world: &World) -> bool {
        let executed = |thread: usize| -> Vec<(EventKind, BarrierUse, u16)> {
            let next = world.next[thread];
            let waits = self.barrier_at(thread, next).is_some_and(|(k, _)| k == EventKind::Wait);
            let leads = |(kind, used, _): &(EventKind, BarrierUse, u16)| {
                used.aligned && (*kind == EventKind::Arrive || used.resource == Resource::Cluster)
            };
            let until = next + usize::from(waits);
            let barrier = |event: usize| {
                let (kind, used) = self.barrier_at(thread, event)?;
                Some((kind, used, self.paths[thread].events[event].line))
            };
            (0..until).filter_map(barrier).filter(leads).collect()
        };
        let ends_early = |thread: usize| {
            self.paths[thread].passed_over && world.next[thread] == self.paths[thread].events.len()
        };
        (0..self.paths.len()).any(|a| {
            (0..a).filter(|&b| self.placements[a].same_warp(self.placements[b])).any(|b| {
                let (ours, theirs) = (executed(a), executed(b));
                let one_text = self.paths[a].code == self.paths[b].code;
                let differ = |((k, x, here), (l, y, there)): (
                    &(EventKind, BarrierUse, u16),
                    &(EventKind, BarrierUse, u16),
                )| {
                    k != l || !x.same_instruction(y) || one_text && here != there
                };
                ours.iter().zip(&theirs).any(differ)
                    || ours.len() > theirs.len() && ends_early(b)
                    || theirs.len() > ours.len() && ends_early(a)
            })
        })
    }
}

fn short(index: usize) -> u16 {
    u16::try_from(index).expect("paths are short")
}

fn compare(paths: &[&Path], placements: &[Placement]) -> Result<bool, String> {
    let start = World {
        next: vec![0; paths.len()],
        active: Vec::new(),
        completed: BTreeSet::new(),
        joined: Generations::none(paths),
        exited: vec![false; paths.len()],
        generations: 0,
    };
    let (complete, waiting) = (BTreeSet::new(), BTreeSet::new());
    let mut reference = Reference { paths, placements, complete, waiting, misused: false };
    reference.run(start);
    let layout = Layout::default();
    let found =
        groupings(paths, placements, &layout, &|_| None).map_err(|limit| format!("{limit:?}"))?;
    if reference.misused == found.misused.is_empty() {
        return Err(format!("misused: {}; found {:?}", reference.misused, found.misused));
    }
    // What is explored beside a misuse makes no difference: the program has no meaning.
    if reference.misused {
        return Ok(true);
    }
    // The order of generations is not of the reference.
    let grouped =
        |of: Generations| Generations { before: BTreeMap::new(), unsettled: Arc::default(), ..of };
    let complete: BTreeSet<Generations> = found.complete.into_iter().map(grouped).collect();
    let waiting = found.waiting.into_iter();
    let waiting: BTreeSet<Waiting> =
        waiting.map(|of| Waiting { generations: grouped(of.generations), ..of }).collect();
    if complete != reference.complete {
        return Err(format!("complete: {complete:?}, by the reference {:?}", reference.complete));
    }
    if waiting != reference.waiting {
        return Err(format!("waiting: {waiting:?}, by the reference {:?}", reference.waiting));
    }
    Ok(false)
}

#[test]
fn arrivals_group_as_every_order_of_them_does() {
    let conventions = ptx::model().conventions;
    let groups = std::cell::Cell::new((0, 0));
    law("groupings", &[BARRIERS], 2_000, |program| {
        let test = parse(program);
        let unfolded =
            Unfolded::new(&test.program, conventions, 2).map_err(|limit| format!("{limit:?}"))?;
        let placements: Vec<Placement> =
            test.program.threads.iter().map(|thread| thread.placement).collect();
        let total = unfolded.paths.iter().map(Vec::len).product::<usize>();
        for combination in 0..total.min(COMBINATIONS) {
            let mut left = combination;
            let paths: Vec<&Path> = unfolded
                .paths
                .iter()
                .map(|list| {
                    let path = &list[left % list.len()];
                    left /= list.len();
                    path
                })
                .collect();
            let misused = compare(&paths, &placements)?;
            let (grouped, wrong) = groups.get();
            groups.set((grouped + u32::from(!misused), wrong + u32::from(misused)));
        }
        Ok(())
    });
    let (grouped, misused) = groups.get();
    assert!(grouped > misused && 4 * misused > grouped, "{grouped} grouped, {misused} misused");
}
