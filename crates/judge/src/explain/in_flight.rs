//! Why an access is not ordered after an asynchronous operation that it races with: what its thread waits for, and what
//! the operation completes.

use execution::event::{AsyncPart, EventKind, MbarrierStep, MbarrierUse, ObjectPhase};
use model::bits::BitRow;
use model::given::{Fixed, Tag};
use model::isa::asynchronous::{Asynchronous, GroupCompletion, GroupKind, WaitGroup};
use model::rel::Model;
use model::section;

use super::candidate::Candidate;

/// The kind of the group that an operation becomes part of.
fn group_of(operation: &Asynchronous) -> Option<GroupKind> {
    if let Asynchronous::Copy(copy) = operation {
        let kind = if copy.bulk { GroupKind::BulkCopies } else { GroupKind::Copies };
        return copy.mbarrier.is_none().then_some(kind);
    }
    matches!(operation, Asynchronous::Multiply(_)).then_some(GroupKind::Multiplications)
}

/// A sentence for each race of an access and an operation in flight, where the reason is known.
pub(super) fn waits<R: BitRow>(model: &Model, candidate: &Candidate<'_, R>) -> Vec<String> {
    let races = model.flags.iter().filter(|flag| flag.name.ends_with("async-race"));
    let pairs = races.flat_map(|flag| candidate.nodes[usize::from(flag.node.0)].pairs());
    let flights = Flights { candidate };
    pairs
        .filter_map(|(one, other)| {
            flights.reason(one, other).or_else(|| flights.reason(other, one))
        })
        .collect()
}

struct Flights<'c, 'e, R> {
    candidate: &'c Candidate<'e, R>,
}

impl<R: BitRow> Flights<'_, '_, R> {
    /// Why `access` does not come after the operation that `event` is part of.
    fn reason(&self, event: usize, access: usize) -> Option<String> {
        let operation = self.operation(event)?;
        let u = self.candidate.structure.unfolding;
        let same = u.events[access].thread == u.events[event].thread;
        // What comes before in program order, and what another thread starts, may have to be ordered the other way round.
        if same && access < event || !same && self.part(access).is_some() {
            return None;
        }
        // An operation is ordered after what comes before its start.
        let after = match self.part(access) {
            Some(part) => usize::from(part.issued) + self.first(access)?,
            None => access,
        };
        let completions = operation.iter().filter_map(|&part| {
            let used = self.used(part)?;
            matches!(used.step, MbarrierStep::Tx(change) if change < 0).then_some((part, used))
        });
        let completions: Vec<(usize, MbarrierUse)> = completions.collect();
        // A multicast completes on an object of each CTA.
        let awaited = completions.iter().find(|(_, used)| {
            let waits = self.waits_on(*used, access, after);
            waits.is_some_and(|[waits, tests]| !waits.is_empty() || !tests.is_empty())
        });
        match awaited.or(completions.first()) {
            Some(&(completion, used)) => self.phases(event, access, after, completion, used),
            None => self.groups(event, access, after),
        }
    }

    /// The waits of the thread of an access on an object, as far as they come before: those that returned true, and others.
    fn waits_on(&self, used: MbarrierUse, access: usize, after: usize) -> Option<[Vec<usize>; 2]> {
        let waited = |wait: usize| {
            let of = self.used(wait).filter(|of| of.object == used.object)?;
            let MbarrierStep::Wait { returned, .. } = of.step else { return None };
            Some((wait, returned))
        };
        let all = (self.first(access)?..after).filter_map(waited);
        let (ended, others): (Vec<_>, Vec<_>) = all.partition(|(_, returned)| *returned);
        Some([ended, others].map(|of| of.into_iter().map(|(wait, _)| wait).collect()))
    }

    /// Whether another operation that completes in a phase of an object writes what is accessed: then it is that one which
    /// the thread of the access has waited for.
    fn is_of_another(&self, used: MbarrierUse, phase: ObjectPhase, access: usize) -> bool {
        let u = self.candidate.structure.unfolding;
        let overlaps = self.candidate.structure.fixed(Fixed::LocationOverlap);
        let completes = |event: usize| {
            let of = self.used(event).is_some_and(|of| of.object == used.object);
            of && u.events[event].phase == Some(phase) && self.part(event).is_some()
        };
        (0..u.events.len()).filter(|&event| completes(event)).any(|event| {
            let parts = self.operation(event).unwrap_or_default();
            parts.into_iter().any(|part| u.events[part].is_write() && overlaps.has(part, access))
        })
    }

    /// Of an operation that completes on an mbarrier object.
    fn phases(
        &self,
        event: usize,
        access: usize,
        after: usize,
        completion: usize,
        used: MbarrierUse,
    ) -> Option<String> {
        let u = self.candidate.structure.unfolding;
        let phase = u.events[completion].phase?;
        let [waits, tests] = self.waits_on(used, access, after)?;
        let (reader, read) = self.candidate.instruction(access);
        let number = phase.number;
        let copy = format!("`{}` completes in phase {number} of its object", self.text(event));
        let cited = section::MBARRIER.number;
        if let Some(late) = self.behind_fence(access, after, used, phase) {
            return Some(late);
        }
        let Some(&last) = waits.last() else {
            let has_data = |wait: usize| {
                let used = self.used(wait)?;
                let ended = matches!(used.step, MbarrierStep::Wait { returned: true, .. });
                let phase = u.events[wait].phase.filter(|_| ended)?;
                Some(self.is_of_another(used, phase, access))
            };
            if (self.first(access)?..after).any(|wait| has_data(wait) == Some(true)) {
                return None;
            }
            return tests.is_empty().then(|| {
                format!(
                    "{copy}, and {reader} does not wait for that phase before `{read}` ({cited})."
                )
            });
        };
        let seen = |wait: usize| u.events[wait].phase;
        let enough =
            waits.iter().find(|&&wait| seen(wait).is_some_and(|seen| phase.is_up_to(seen)));
        let Some(&wait) = enough else {
            let seen = seen(last).filter(|seen| !self.is_of_another(used, *seen, access))?;
            let what = if seen.number < 0 {
                "returns at once: of a new object, the phase before the first one is complete"
                    .to_owned()
            } else {
                format!("sees the end of phase {}", seen.number)
            };
            return Some(format!("{copy}, and {reader}'s `{}` {what} ({cited}).", self.text(last)));
        };
        let acquires = u.events[wait].tags.has(Tag::Acquire);
        (!acquires).then(|| {
            format!(
                "{reader}'s `{}` sees the end of the phase, and is relaxed: it orders nothing after it ({cited}).",
                self.text(wait)
            )
        })
    }

    /// That a multiplication is not ordered after a wait that sees the phase, since no `wgmma.fence` is between the two.
    /// Reading B11.
    fn behind_fence(
        &self,
        access: usize,
        after: usize,
        used: MbarrierUse,
        phase: ObjectPhase,
    ) -> Option<String> {
        if !matches!(self.instruction(access)?, Asynchronous::Multiply(_)) {
            return None;
        }
        let u = self.candidate.structure.unfolding;
        let enough =
            |wait: &&usize| u.events[**wait].phase.is_some_and(|seen| phase.is_up_to(seen));
        let [waits, _] = self.waits_on(used, access, access)?;
        let wait = waits.iter().rfind(enough).filter(|wait| **wait >= after)?;
        if waits.iter().any(|wait| *wait < after && enough(&wait)) {
            return None;
        }
        let (reader, multiply) = self.candidate.instruction(access);
        Some(format!(
            "{reader}'s `{multiply}` is not ordered after `{}`, which sees the end of the phase: no `wgmma.fence` is between the \
             two ({}).",
            self.text(*wait),
            section::of_opcode("wgmma.fence").number,
        ))
    }

    /// Of an operation that its thread waits for in a group.
    fn groups(&self, event: usize, access: usize, after: usize) -> Option<String> {
        let u = self.candidate.structure.unfolding;
        let first = self.first(event)?;
        let kind = group_of(self.instruction(event)?)?;
        let end = u.events[first..].iter().take_while(|of| of.thread == u.events[event].thread);
        let end = first + end.count();
        let same = u.events[access].thread == u.events[event].thread;
        let last = if same { after } else { end };
        let waits = (event..last.max(event)).filter_map(|wait| {
            let is_wait = u.events[wait].of?.kind == EventKind::WaitGroup;
            let of = self.instruction(wait).filter(|_| is_wait)?;
            let Asynchronous::WaitGroup(of) = of else { return None };
            (of.of == kind).then_some((wait, *of))
        });
        let waits: Vec<(usize, WaitGroup)> = waits.collect();
        // What completes it otherwise, such as a wait before or an arrival at an object, is not where the access is.
        let completes = |wait: usize| self.completes(wait, event, first);
        let is_over = (first..last).any(completes);
        if is_over {
            return if same { None } else { self.early(event, access, &waits) };
        }
        let (issuer, copy) = self.candidate.instruction(event);
        let cited = section::ASYNC_OPERATIONS.number;
        let Some(&(wait, of)) = waits.last() else {
            let before =
                if same { format!(" before `{}`", self.text(access)) } else { String::new() };
            return Some(format!("{issuer} does not wait for `{copy}`{before} ({cited})."));
        };
        let text = self.text(wait);
        let others = self.operation(event)?;
        let others = || others.iter().any(|&other| self.completes(wait, other, first));
        match of.until {
            GroupCompletion::Read if others() => {
                return Some(format!(
                    "`{text}` waits until `{copy}` has read its source, not until it has written ({cited})."
                ));
            }
            GroupCompletion::AsyncProxy if others() => {
                return Some(format!(
                    "`{text}` waits until what `{copy}` writes is complete for the async proxy, not for generic accesses \
                     (reading B30)."
                ));
            }
            GroupCompletion::Complete | GroupCompletion::Read | GroupCompletion::AsyncProxy => {}
        }
        let line = |event: usize| Some(usize::from(u.events[event].of?.line));
        let thread = &u.program.threads[usize::from(u.events[event].thread?.0)];
        let between = thread.lines.get(line(event)?..line(wait)?).unwrap_or_default();
        // Which groups there are depends on the path.
        let depends = thread.branches().next().is_some()
            || between.iter().any(|line| {
                let commits =
                    matches!(line.instruction.as_asynchronous(), Some(Asynchronous::Commit(_)));
                commits && line.guard.is_some()
            });
        if depends {
            return Some(format!("`{text}` does not wait for `{copy}` ({cited})."));
        }
        let commits = between.iter().any(|line| {
            matches!(line.instruction.as_asynchronous(), Some(Asynchronous::Commit(of)) if *of == kind)
        });
        if !commits && !of.commits {
            return Some(format!(
                "`{copy}` is in no group that is committed before `{text}` ({cited})."
            ));
        }
        (of.pending > 0).then(|| {
            let latest = if of.pending == 1 {
                "the latest group".to_owned()
            } else {
                format!("the latest {} groups", of.pending)
            };
            format!("`{text}` does not wait for {latest}, of which `{copy}` is part ({cited}).")
        })
    }

    /// Whether a wait of the thread whose first event is `first` orders an event of an operation before generic accesses.
    fn completes(&self, wait: usize, event: usize, first: usize) -> bool {
        let events = &self.candidate.structure.unfolding.events;
        let only_async = events[wait].tags.has(Tag::AsyncProxyWait);
        let reads = events[event].is_read() && !events[event].tags.has(Tag::Atomic);
        let waited = events[wait].of.is_some_and(|of| of.completes >> (event - first) & 1 == 1);
        waited && (reads || !only_async)
    }

    /// That the thread of an operation arrives before it waits for the operation, at what the thread of the access waits for.
    fn early(&self, event: usize, access: usize, waits: &[(usize, WaitGroup)]) -> Option<String> {
        let po = self.candidate.structure.fixed(Fixed::Po);
        let first = self.first(event)?;
        let &(wait, _) = waits.iter().find(|(wait, _)| self.completes(*wait, event, first))?;
        let phases = self.candidate.structure.fixed(Fixed::Phase).pairs();
        let meets = phases.chain(self.candidate.structure.fixed(Fixed::Meets).pairs());
        let (arrival, _) = meets
            .filter(|&(arrival, seen)| po.has(arrival, wait) && po.has(seen, access))
            .last()?;
        let (issuer, copy) = self.candidate.instruction(event);
        Some(format!(
            "{issuer}'s `{}` comes before `{}`: {} waits for what came before it, and `{copy}` may still be in flight then ({}).",
            self.text(arrival),
            self.text(wait),
            self.candidate.instruction(access).0,
            section::ASYNC_OPERATIONS.number,
        ))
    }

    /// The events of the asynchronous operation that this one is part of.
    fn operation(&self, event: usize) -> Option<Vec<usize>> {
        let u = self.candidate.structure.unfolding;
        let part = self.part(event)?;
        let first = self.first(event)?;
        let same = |&other: &usize| {
            u.events[other].thread == u.events[event].thread
                && self.part(other).is_some_and(|of| of.operation == part.operation)
        };
        Some((first..u.events.len()).filter(same).collect())
    }

    fn part(&self, event: usize) -> Option<AsyncPart> {
        self.candidate.structure.unfolding.events[event].of?.part
    }

    fn used(&self, event: usize) -> Option<MbarrierUse> {
        self.candidate.structure.unfolding.events[event].of?.mbarrier
    }

    /// The first event of the thread of an event.
    fn first(&self, event: usize) -> Option<usize> {
        let u = self.candidate.structure.unfolding;
        Some(u.first[usize::from(u.events[event].thread?.0)])
    }

    fn instruction(&self, event: usize) -> Option<&Asynchronous> {
        let u = self.candidate.structure.unfolding;
        let of = &u.events[event];
        let thread = &u.program.threads[usize::from(of.thread?.0)];
        thread.lines[usize::from(of.of?.line)].instruction.as_asynchronous()
    }

    fn text(&self, event: usize) -> &str {
        self.candidate.instruction(event).1
    }
}
