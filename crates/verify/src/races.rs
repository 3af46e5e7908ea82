//! The data races of a launch.

use std::collections::BTreeSet;

use engine::clock::Deadline;
use engine::{ExecutionFacts, Race};
use judge::Task;
use model::program::ThreadId;

use crate::deeper::DeepAnswer;
use crate::finding::{FindingKind, KernelFinding};
use crate::together::SortedRaces;
use crate::verification::{Reader, Verification};

impl Verification {
    /// The answer to the question whether there is a data race that counts. Those that do not are added to `exempt`.
    pub(crate) fn race_judgement(
        &mut self,
        reader: &Reader<'_>,
        task: &Task<'_>,
        exempt: &mut BTreeSet<[(ThreadId, u16); 2]>,
    ) -> DeepAnswer {
        let end = task.timeout.map(Deadline::after);
        let mut test = reader.test.clone();
        loop {
            let left = end.as_ref().map(Deadline::left);
            let one = Task { timeout: left, verdict_only: true, races: false, ..task.clone() };
            let reader = Reader { test: &test, ..*reader };
            let answer = self.judgement(&reader, &one);
            let sorted = reader.sorted_races(&answer.judgement.found.seen);
            if answer.judgement.found.seen.races.is_empty() {
                return answer;
            }
            if sorted.exempt.is_empty() {
                let left = end.as_ref().map(Deadline::left);
                return self.judgement(&reader, &Task { timeout: left, ..task.clone() });
            }
            self.notes.extend(sorted.notes);
            exempt.extend(sorted.exempt);
            test.program.exempt_races.clone_from(exempt);
        }
    }
}

impl Reader<'_> {
    /// A race that counts.
    pub(crate) fn race(&self, race: Race) -> KernelFinding {
        let places = [race.first, race.second];
        let is_strong = |&(thread, line): &(ThreadId, u16)| {
            let of = &self.test.program.threads[usize::from(thread.0)];
            of.lines[usize::from(line)].instruction.scope().is_some()
        };
        let (kind, message) = if places.iter().any(|&place| self.is_plain(place)) {
            let message = "two accesses, at least one of which is volatile, are not ordered: a race in C++, not in PTX";
            (FindingKind::VolatileConflict, message)
        } else if places.iter().all(is_strong) {
            let message = "two strong accesses, of which one does not include the other's thread in its scope, are not ordered";
            (FindingKind::ScopeRace, message)
        } else {
            let message = "two accesses, at least one of which is weak, are not ordered";
            (FindingKind::DataRace, message)
        };
        KernelFinding {
            kind,
            message: message.to_owned(),
            places: places.iter().map(|&(thread, line)| self.place(thread, line)).collect(),
            like: 0,
        }
    }

    /// The races, without those that are none.
    pub(crate) fn sorted_races(&self, seen: &ExecutionFacts) -> SortedRaces {
        let decided = |race: &&Race| {
            ![race.first, race.second].into_iter().any(|at| self.uncomputed.decide_access(at))
        };
        self.sorted(seen.races.iter().filter(decided).copied())
    }
}
