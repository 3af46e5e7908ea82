//! Kernels that wait for one that never ends: a kernel after it in its stream does not start, and a dependent one
//! does not get past its `griddepcontrol.wait` (8.9.4, 9.7.15.14).

use std::collections::BTreeSet;

use super::{UnfoldLimit, Unfolded, Unfolding, misused, stopped};
use crate::event::EventKind;
use crate::generation::{self, Waiting};
use crate::path::{Path, PathEnd};
use model::program::LaunchOrder;
use model::scope::Placement;

/// For each thread, the index in its path of the event that it never executes, if there is one.
type HeldBack = Vec<Option<u16>>;

impl Unfolded<'_> {
    /// Visits the unfoldings of a combination of paths of a program with kernels in an order.
    pub(super) fn grouped_kernels(
        &self,
        whole: &[&Path],
        placements: &[Placement],
        visit: &mut dyn FnMut(&Unfolding<'_>) -> bool,
    ) -> Result<bool, UnfoldLimit> {
        let spinning = self.held_back(whole, placements, &vec![None; whole.len()]);
        let mut tried: BTreeSet<HeldBack> = BTreeSet::new();
        let mut pending = vec![spinning.clone()];
        while let Some(held) = pending.pop() {
            if !tried.insert(held.clone()) {
                continue;
            }
            let cut: Vec<Option<Path>> =
                whole.iter().zip(&held).map(|(path, at)| at.map(|at| until(path, at))).collect();
            let paths: Vec<&Path> =
                whole.iter().zip(&cut).map(|(path, cut)| cut.as_ref().unwrap_or(path)).collect();
            let groupings = generation::groupings(&paths, placements, &self.layout, &|more| {
                (self.ends)(self.held + more)
            })?;
            for misuse in self.true_misuses(&paths, groupings.misused) {
                let (cut, generations) = misused(&paths, misuse);
                let paths = cut.iter().collect();
                if !visit(&Unfolding::new(self.program, &self.layout, paths, generations)) {
                    return Ok(false);
                }
            }
            // Threads are held back only by those that do not end then.
            let complete = groupings.complete.into_iter().filter(|_| held == spinning);
            for generations in complete {
                if !self.assumes_truly(&paths, &generations, &vec![None; paths.len()]) {
                    continue;
                }
                let unfolding =
                    Unfolding::new(self.program, &self.layout, paths.clone(), generations);
                if !visit(&unfolding) {
                    return Ok(false);
                }
            }
            for waiting in groupings.waiting {
                if !self.assumes_truly(&paths, &waiting.generations, &waiting.at) {
                    continue;
                }
                let found = self.held_back(whole, placements, &waiting.at);
                if found == held && !self.waits(&paths, waiting, visit) {
                    return Ok(false);
                }
                pending.push(found);
            }
        }
        Ok(true)
    }

    /// Visits the unfolding in which some threads wait for ever; whether to go on.
    fn waits(
        &self,
        paths: &[&Path],
        waiting: Waiting,
        visit: &mut dyn FnMut(&Unfolding<'_>) -> bool,
    ) -> bool {
        let (cut, generations) = stopped(paths, waiting);
        let paths = paths.iter().zip(&cut).map(|(path, cut)| cut.as_ref().unwrap_or(path));
        visit(&Unfolding::new(self.program, &self.layout, paths.collect(), generations))
    }

    /// What threads never execute, where some wait at these events of their paths for ever.
    fn held_back(&self, paths: &[&Path], placements: &[Placement], at: &[Option<u16>]) -> HeldBack {
        let mut all: HeldBack = vec![None; paths.len()];
        loop {
            let never = |thread: usize| {
                let spins = matches!(paths[thread].end, PathEnd::Spins { .. });
                spins || at[thread].is_some() || all[thread].is_some()
            };
            let reached: Vec<Option<u16>> =
                at.iter().zip(&all).map(|(&at, &held)| held.or(at)).collect();
            let next = self.held_by(paths, placements, &never, &reached);
            if next == all {
                return all;
            }
            all = next;
        }
    }

    /// What threads never execute, where `never` says which threads never end, and how far these get.
    fn held_by(
        &self,
        paths: &[&Path],
        placements: &[Placement],
        never: &dyn Fn(usize) -> bool,
        reached: &[Option<u16>],
    ) -> HeldBack {
        let threads = 0..paths.len();
        let of_kernel = |kernel: u32| {
            threads.clone().filter(move |&thread| placements[thread].kernel == kernel)
        };
        let launches = |thread: usize| {
            let end = reached[thread].map_or(usize::MAX, usize::from);
            let executed = paths[thread].events.iter().take(end);
            executed.clone().any(|event| event.kind == EventKind::Trigger)
        };
        let mut held: HeldBack = vec![None; paths.len()];
        for launch in &self.program.launches {
            let stays = |&thread: &usize| never(thread);
            if !of_kernel(launch.before).any(|thread| stays(&thread)) {
                continue;
            }
            // A CTA of which a thread never ends launches the dependents only by an instruction.
            let starts = launch.order == LaunchOrder::Programmatic
                && of_kernel(launch.before).filter(stays).all(|thread| {
                    let cta = |other: &usize| placements[*other].same_cta(placements[thread]);
                    of_kernel(launch.before).filter(cta).any(launches)
                });
            for thread in of_kernel(launch.after) {
                let events = &paths[thread].events;
                let kind = if starts { EventKind::GridWait } else { EventKind::KernelStart };
                let at = events.iter().position(|event| event.kind == kind);
                let at = at.and_then(|at| u16::try_from(at).ok());
                held[thread] = match (held[thread], at) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                };
            }
        }
        held
    }
}

/// A path as far as the thread gets.
fn until(path: &Path, at: u16) -> Path {
    let line = path.events[usize::from(at)].line;
    path.until(at.into(), PathEnd::Waits { line, object: None })
}
