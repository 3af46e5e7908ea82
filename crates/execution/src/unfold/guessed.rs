//! Results of instructions of a warp that a path assumes: which lane is elected (reading B16), and which lanes are active.

use std::collections::{BTreeMap, BTreeSet};

use super::{Unfolded, rounds};
use crate::event::{Combination, EventKind, Resource};
use crate::generation::{Generations, Misuse};
use crate::path::Path;
use model::program::ThreadId;

impl Unfolded<'_> {
    /// Whether threads go on after the iterations that they leave out, and what paths assume of warps holds. `at` is for each
    /// thread the event at which it waits for ever, if it does.
    pub(super) fn happens(
        &self,
        paths: &[&Path],
        generations: &Generations,
        at: &[Option<u16>],
    ) -> bool {
        rounds::can_go_on(paths, generations, at) && self.assumes_truly(paths, generations, at)
    }

    /// The second half of that.
    pub(super) fn assumes_truly(
        &self,
        paths: &[&Path],
        generations: &Generations,
        at: &[Option<u16>],
    ) -> bool {
        // Nobody waits in `activemask`: those would be other lanes.
        let waits = paths.iter().zip(at).any(|(path, at)| {
            let used = at.and_then(|at| path.events[usize::from(at)].barrier);
            used.and_then(|used| used.reduce).is_some_and(|(of, ..)| of == Combination::Active)
        });
        let reached: Vec<usize> = at.iter().map(|at| at.map_or(usize::MAX, usize::from)).collect();
        !waits && self.results_hold(paths, generations, &reached)
    }

    /// The misuses that come of true assumptions.
    pub(super) fn true_misuses(&self, paths: &[&Path], mut all: Vec<Misuse>) -> Vec<Misuse> {
        all.retain(|of| self.results_hold(paths, &of.generations, &of.reached));
        all
    }

    /// Whether the results of the instructions up to these events are those of the lanes that execute them together: one of them
    /// is elected, the same one each time that the same lanes of a mask elect; and they are the lanes that are active.
    fn results_hold(&self, paths: &[&Path], generations: &Generations, reached: &[usize]) -> bool {
        let mut waits = Vec::new();
        let mut lanes: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (thread, path) in paths.iter().enumerate() {
            let id = ThreadId(u8::try_from(thread).expect("a test has few threads"));
            for (event, generation) in
                path.events.iter().zip(&generations.of[thread]).take(reached[thread])
            {
                let (Some(used), Some(generation)) = (event.barrier, *generation) else { continue };
                let (Resource::Warp { mask, .. }, Some((combination, ..))) =
                    (used.resource, used.reduce)
                else {
                    continue;
                };
                if !matches!(combination, Combination::Elected(_) | Combination::Active) {
                    continue;
                }
                lanes.entry(generation).or_default().insert(self.program.lane(id));
                if event.kind == EventKind::Wait {
                    waits.push((thread, mask, combination, generation));
                }
            }
        }
        let mut elected = BTreeMap::new();
        waits.into_iter().all(|(thread, mask, combination, generation)| {
            let together = &lanes[&generation];
            if let Combination::Elected(lane) = combination {
                let here = self.program.threads[thread].placement;
                let mut threads = self.program.threads.iter();
                let warp = threads.position(|other| other.placement.same_warp(here));
                let of = (warp.unwrap_or(thread), mask, together);
                return together.contains(&lane) && *elected.entry(of).or_insert(lane) == lane;
            }
            let active = together.iter().fold(0, |all: u64, lane| all | 1 << lane);
            active == mask
        })
    }
}
