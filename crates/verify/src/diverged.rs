//! The data race behind a barrier that not all threads of a warp come to: they branch on what they read, and one of these
//! reads races.

use std::collections::BTreeSet;

use engine::clock::Deadline;
use engine::{ExecutionFacts, Race};
use judge::{Property, Task, judge};
use litmus::Test;
use model::isa::Instruction;
use model::program::ThreadId;

use crate::finding::{FindingKind, KernelFinding};
use crate::unknown::deciding;
use crate::verification::{ADVICE, Reader};

impl Reader<'_> {
    /// Adds to a finding of divergence which race decides who comes to the barrier, if that is found in little time.
    pub(crate) fn name_race(
        &self,
        seen: &ExecutionFacts,
        finding: &mut KernelFinding,
        task: &Task<'_>,
    ) {
        let places = seen.undefined.iter().flat_map(|undefined| undefined.where_.iter().copied());
        let barriers = self.of_warps(places);
        if finding.kind != FindingKind::BarrierDivergence || barriers.is_empty() {
            return;
        }
        let Some((read, other)) = self.race_behind(&barriers, task) else { return };
        let [first, second] = [read, other].map(|(thread, line)| self.place(thread, line));
        let named = |of: ThreadId| self.composed.thread_name(usize::from(of.0));
        finding.message = format!(
            "{}: what {}'s `{}` reads decides whether it comes there, and that races with {}'s `{}`",
            finding.message,
            named(read.0),
            first.text,
            named(other.0),
            second.text
        );
        finding.places.extend([first, second]);
    }

    /// Instructions in all threads of their warps.
    fn of_warps(&self, places: impl Iterator<Item = (ThreadId, u16)>) -> BTreeSet<(ThreadId, u16)> {
        let threads = &self.test.program.threads;
        let in_warp = |(thread, line): (ThreadId, u16)| {
            let here = threads[usize::from(thread.0)].placement;
            let all = (0u8..).map(ThreadId).zip(threads);
            let own = all.filter(move |(id, of)| *id == thread || of.placement.same_warp(here));
            own.map(move |(id, _)| (id, line))
        };
        places.flat_map(in_warp).collect()
    }

    /// A read that decides who comes to barriers, and what it races with.
    fn race_behind(
        &self,
        barriers: &BTreeSet<(ThreadId, u16)>,
        task: &Task<'_>,
    ) -> Option<((ThreadId, u16), (ThreadId, u16))> {
        let left = task.until.map_or(ADVICE, |until| until.left().min(ADVICE));
        let task = Task {
            property: Property::NoDataRace,
            verdict_only: false,
            races: true,
            timeout: None,
            until: Some(Deadline::after(left)),
            ..task.clone()
        };
        let races = judge(&apart(self.test), &task).found.seen.races;
        let both = |race: &Race| [(race.first, race.second), (race.second, race.first)];
        let program = &self.test.program;
        let cta = |of: &(ThreadId, u16)| program.threads[usize::from(of.0.0)].placement;
        let all: BTreeSet<(ThreadId, u16)> =
            races.iter().flat_map(both).map(|(one, _)| one).collect();
        // Those of other CTAs may decide it, too.
        let is_near = |of: &&(ThreadId, u16)| barriers.iter().any(|at| cta(at).same_cta(cta(of)));
        let near = all.iter().filter(is_near).copied().collect();
        let read =
            deciding(program, &near, barriers).or_else(|| deciding(program, &all, barriers))?;
        races.iter().flat_map(both).find(|(one, _)| *one == read)
    }
}

/// The test with barriers that each thread of a warp may come to alone: it has a meaning, and its races are known.
fn apart(test: &Test) -> Test {
    let mut apart = test.clone();
    for line in apart.program.threads.iter_mut().flat_map(|thread| &mut thread.lines) {
        if let Instruction::Barrier(barrier) = &mut line.instruction {
            barrier.aligned = false;
        }
    }
    apart
}
