//! Uses of barriers that PTX forbids, which make the program undefined. Readings R45 and R46.
//!
//! The peer dialect has no such rules.

use std::collections::BTreeMap;

use super::{ArrivalSearch, ArrivalState, BarrierKey, BarrierStep, Generations};
use crate::event::{Combination, EventKind, Resource};
use crate::path::{Path, PathEnd};
use model::isa::bar::BarrierMisuse;

/// A point of a run at which a thread uses a barrier as PTX forbids.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Misuse {
    pub thread: usize,
    /// The line of the instruction.
    pub line: u16,
    /// As a reader finds it.
    pub reason: &'static str,
    /// For each thread, how many events of its path the run has come to at most.
    pub reached: Vec<usize>,
    /// Of those events.
    pub generations: Generations,
}

/// Two threads of a warp whose aligned barriers differ from some point on: for each, the step at
/// which they do, or `None` where it executes no more of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divergence {
    threads: [usize; 2],
    at: [Option<usize>; 2],
}

/// The pairs of threads that do not execute the same aligned barriers. Reading R45: a thread that
/// ends before the other has exited, unless a condition led it past a barrier.
pub(super) fn divergences(
    paths: &[&Path],
    steps: &[Vec<BarrierStep>],
    same_warp: impl Fn(usize, usize) -> bool,
) -> Vec<Divergence> {
    let aligned = |thread: usize| {
        steps[thread].iter().enumerate().filter(|(_, step)| step.used.aligned && step.leads())
    };
    // A thread in a loop may still come to the barrier.
    let ends_early = |thread: usize| {
        let path = paths[thread];
        path.passed_over && !matches!(path.end, PathEnd::Spins { .. })
    };
    // The columns of one kernel: what stands in different lines are different instructions.
    let same_code = |first: usize, second: usize| paths[first].code == paths[second].code;
    let mut found = Vec::new();
    for second in 0..steps.len() {
        for first in (0..second).filter(|&first| same_warp(first, second)) {
            let (mut ours, mut theirs) = (aligned(first), aligned(second));
            let at = loop {
                match (ours.next(), theirs.next()) {
                    (Some((_, a)), Some((_, b)))
                        if a.kind == b.kind
                            && a.used.same_instruction(&b.used)
                            && (a.line == b.line || !same_code(first, second)) => {}
                    (a, b) => break [a, b].map(|end| end.map(|(index, _)| index)),
                }
            };
            let diverges = match at {
                [None, None] => false,
                [Some(_), Some(_)] => true,
                [None, Some(_)] => ends_early(first),
                [Some(_), None] => ends_early(second),
            };
            if diverges {
                found.push(Divergence { threads: [first, second], at });
            }
        }
    }
    found
}

impl BarrierStep {
    /// Whether it is the first event of its instruction.
    fn leads(&self) -> bool {
        self.kind == EventKind::Arrive || self.key.resource == Resource::Cluster
    }

    pub(super) fn is_peers(&self) -> bool {
        matches!(self.key.resource, Resource::Cta { instance: Some(_), .. })
    }
}

/// Whether barriers may be misused in some order of arrivals, and are not in another.
pub(super) fn depends_on_order(
    steps: &[Vec<BarrierStep>],
    members: impl Fn(BarrierKey) -> u64,
) -> bool {
    let mut forms: BTreeMap<BarrierKey, (bool, u64)> = BTreeMap::new();
    let differs = steps.iter().flatten().filter(|step| !step.is_peers()).any(|step| {
        let count = step.used.count.unwrap_or_else(|| members(step.key));
        let form = (step.used.reduce.is_some(), count);
        *forms.entry(step.key).or_insert(form) != form
    });
    let repeated = steps.iter().any(|steps| {
        let cluster = || steps.iter().filter(|step| step.key.resource == Resource::Cluster);
        let arrives_first = cluster().next().is_none_or(|step| step.kind == EventKind::Arrive);
        !arrives_first || cluster().zip(cluster().skip(1)).any(|(a, b)| a.kind == b.kind)
    });
    differs || repeated
}

impl ArrivalSearch<'_> {
    /// What threads that stand where they do have done wrong, and the threads that cannot go on from
    /// there.
    pub(super) fn standing(&self, state: &ArrivalState) -> Option<(Misuse, Vec<usize>)> {
        let there = |pair: &&Divergence| {
            pair.threads.iter().zip(pair.at).all(|(&thread, at)| {
                // A thread that waits is past its wait, and has not come to what follows.
                let waits = usize::from(state.waiting[thread].is_some());
                state.position[thread] - waits >= at.unwrap_or(self.steps[thread].len())
            })
        };
        let diverged: Vec<&Divergence> = self.diverged.iter().filter(there).collect();
        let first = diverged.first().and_then(|pair| {
            let named = pair.at.iter().zip(pair.threads).find_map(|(at, t)| at.map(|at| (t, at)));
            named.map(|(thread, step)| (thread, step, BarrierMisuse::Diverged))
        });
        let waits = || {
            (0..self.steps.len()).find_map(|thread| {
                let position = state.position[thread];
                let waits = self.steps[thread].get(position)?.kind == EventKind::Wait;
                (waits && state.waiting[thread].is_none() && self.arrival(state, thread).is_none())
                    .then_some((thread, position, BarrierMisuse::NotArrived))
            })
        };
        let (thread, step, reason) = first.or_else(waits).or_else(|| self.without_source(state))?;
        let stopped = diverged.iter().flat_map(|pair| pair.threads);
        let stopped = stopped.chain((reason == BarrierMisuse::Absent).then_some(thread)).collect();
        Some((self.misuse(state, thread, step, reason.text()), stopped))
    }

    /// A thread that has just completed a shuffle, whose source is a lane that had exited.
    fn without_source(&self, state: &ArrivalState) -> Option<(usize, usize, BarrierMisuse)> {
        (0..self.steps.len()).find_map(|thread| {
            let passed = state.position[thread].checked_sub(1)?;
            let step = self.steps[thread][passed];
            let (combination, ..) = step.used.reduce?;
            let Combination::Lane(from) = combination else { return None };
            let generation = state.joined.of[thread][usize::from(step.event)]?;
            let mut exits = state.joined.exits.iter();
            let absent = exits.any(|&(of, exited)| {
                let before = self.placements[..exited].iter().copied();
                of == generation && self.placements[exited].lane(before) == from as usize
            });
            (absent && state.waiting[thread].is_none() && step.kind == EventKind::Wait).then_some((
                thread,
                passed,
                BarrierMisuse::Absent,
            ))
        })
    }

    /// What a thread that arrives now does wrong.
    pub(super) fn arriving(&self, state: &ArrivalState, thread: usize) -> Option<Misuse> {
        let position = state.position[thread];
        let step = self.steps[thread][position];
        if step.is_peers() {
            return None;
        }
        let open = state.barriers.get(&step.key)?;
        let other = self.one_arrival(state, step.key, open);
        let all = self.members(step.key).len() as u64;
        let reason = if step.key.resource == Resource::Cluster {
            open.arrived
                .iter()
                .any(|&other| usize::from(other) == thread)
                .then_some(BarrierMisuse::Twice)
        } else if step.used.reduce.is_some() != other.used.reduce.is_some() {
            Some(BarrierMisuse::Forms)
        } else {
            (step.used.count.unwrap_or(all) != open.count.unwrap_or(all))
                .then_some(BarrierMisuse::Counts)
        };
        reason.map(|reason| self.misuse(state, thread, position, reason.text()))
    }

    /// Every event before the next barrier of its thread has a place in the run that leads here:
    /// the threads are run through their barriers alone.
    pub(super) fn misuse(
        &self,
        state: &ArrivalState,
        thread: usize,
        step: usize,
        reason: &'static str,
    ) -> Misuse {
        self.misuse_at(state, thread, self.steps[thread][step].line, reason)
    }

    pub(super) fn misuse_at(
        &self,
        state: &ArrivalState,
        thread: usize,
        line: u16,
        reason: &'static str,
    ) -> Misuse {
        let reached: Vec<usize> =
            (0..self.steps.len()).map(|thread| self.reached(state, thread)).collect();
        let mut generations = state.joined.clone();
        generations.truncate(&reached);
        let generations = generations.renumbered();
        Misuse { thread, line, reason, reached, generations }
    }

    /// How many events of its path a thread has come to: those before the barrier that it stands
    /// at.
    fn reached(&self, state: &ArrivalState, thread: usize) -> usize {
        let passed = state.position[thread];
        let at = if state.waiting[thread].is_some() { passed.checked_sub(1) } else { Some(passed) };
        at.and_then(|at| self.steps[thread].get(at))
            .map_or(state.joined.of[thread].len(), |step| usize::from(step.event))
    }
}
