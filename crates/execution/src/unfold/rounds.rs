//! Iterations with barriers that change nothing, of loops that threads repeat together. Reading R50.
//!
//! A thread cannot leave out such an iteration alone: other threads wait at its barriers. Threads that are all in such an
//! iteration can leave it out together, and can repeat it together for ever.

use std::collections::{BTreeMap, BTreeSet};

use super::{UnfoldLimit, Unfolded};
use crate::event::{BarrierUse, Combination, EventKind, PathEvent, Resource};
use crate::expr::{Expr, ExprId};
use crate::generation::{self, Generations, Groupings};
use crate::path::{Path, PathEnd, Round};
use crate::rewritten::is_of_cta;
use model::isa::bar::Reduction;
use model::isa::warp::ExchangeOp;
use model::program::ThreadId;
use model::scope::Placement;
use model::value::Value;

/// How many of these iterations a path has at most. Threads may begin theirs at different barriers of a loop, so that those of
/// one thread are in no iteration of this kind of another thread if each has only one.
pub(super) const MOST: usize = 2;

/// Combinations of paths beyond which iterations with barriers are followed up to the bound.
const MOST_COMBINATIONS: usize = 4096;

impl Path {
    /// The first event of the iteration that its thread repeats for ever, if that has a barrier.
    pub(super) fn last_round(&self) -> Option<usize> {
        let PathEnd::Spins { from, .. } = self.end else { return None };
        let from = usize::from(from);
        self.events[from..].iter().any(|event| event.barrier.is_some()).then_some(from)
    }

    /// The barriers of its iterations that have barriers and change nothing.
    fn met_in_rounds(&self) -> impl Iterator<Item = Resource> + '_ {
        let rounds = self.rounds.iter().map(Round::events);
        rounds.flat_map(|events| &self.events[events]).filter_map(|of| Some(of.barrier?.resource))
    }
}

/// Whether every run in which a thread has this many iterations with barriers that change nothing has some that can be left out
/// together: the run without them has the same outcome.
pub(super) fn are_common(unfolded: &Unfolded<'_>, most: usize) -> Result<bool, UnfoldLimit> {
    let placements: Vec<Placement> =
        unfolded.program.threads.iter().map(|thread| thread.placement).collect();
    // What goes on from a shorter path is listed itself.
    let is_whole = |path: &&Path| path.last_round().is_none() || path.rounds.len() >= most;
    let threads = unfolded.paths.iter().zip(&unfolded.spinning);
    let lists: Vec<Vec<&Path>> = threads
        .map(|(ending, spinning)| ending.iter().chain(spinning.iter().filter(is_whole)).collect())
        .collect();
    for (first, &placement) in placements.iter().enumerate() {
        let same = |other: &Placement| other.same_cluster(placement);
        if placements[..first].iter().any(same) {
            continue;
        }
        let (here, lists): (Vec<Placement>, Vec<&Vec<&Path>>) =
            placements.iter().zip(&lists).filter(|(other, _)| same(other)).unzip();
        let threads: Vec<ThreadId> = (0u8..)
            .map(ThreadId)
            .zip(&placements)
            .filter(|(_, other)| same(other))
            .map(|(thread, _)| thread)
            .collect();
        let repeats = |list: &&Vec<&Path>| list.iter().any(|path| path.last_round().is_some());
        if !lists.iter().any(repeats) {
            continue;
        }
        let all = || lists.iter().flat_map(|list| list.iter());
        // Where nobody tells the others anything, loops are followed as far as what is read leads.
        let rewrites = all().flat_map(|path| &path.rounds).any(|round| round.rewrites);
        let repeated: BTreeSet<Resource> = all().flat_map(|path| path.met_in_rounds()).collect();
        // The next iteration may complete what another thread waits for.
        let counts = |used: &BarrierUse| !used.waits_for_all() && repeated.contains(&used.resource);
        if all().flat_map(|path| &path.events).filter_map(|of| of.barrier.as_ref()).any(counts) {
            return Ok(false);
        }
        let combinations = lists.iter().try_fold(1, |all: usize, list| all.checked_mul(list.len()));
        let Some(combinations) = combinations.filter(|&all| all <= MOST_COMBINATIONS) else {
            return Ok(false);
        };
        for combination in 0..combinations {
            let mut rest = combination;
            let mut paths: Vec<&Path> = Vec::with_capacity(lists.len());
            for list in &lists {
                paths.push(list[rest % list.len()]);
                rest /= list.len();
            }
            if paths.iter().all(|path| path.last_round().is_none()) {
                continue;
            }
            let ends = |more| (unfolded.ends)(unfolded.held + more);
            let groupings = generation::groupings(&paths, &here, &unfolded.layout, &ends)?;
            if !have_common(unfolded, &paths, &threads, &groupings, rewrites) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn have_common(
    unfolded: &Unfolded<'_>,
    paths: &[&Path],
    threads: &[ThreadId],
    groupings: &Groupings,
    rewrites: bool,
) -> bool {
    let Groupings { complete, waiting, misused } = groupings;
    let whole = || paths.iter().map(|path| path.events.len()).collect::<Vec<usize>>();
    let one = |generations: &Generations, reached: Vec<usize>| {
        let run = BarrierRun { paths, generations, reached };
        !run.has_values()
            || !run.has_lane_values(unfolded, threads)
            || rewrites && !run.has_written_values(unfolded, threads)
            || run.has_common()
    };
    complete.iter().all(|of| one(of, whole()))
        && waiting.iter().all(|of| one(&of.generations, come_to(paths, &of.at)))
        && misused.iter().all(|of| one(&of.generations, of.reached.clone()))
}

/// How many events of its path each thread has come to, where some wait for ever.
fn come_to(paths: &[&Path], at: &[Option<u16>]) -> Vec<usize> {
    let come = |(path, at): (&&Path, &Option<u16>)| at.map_or(path.events.len(), usize::from);
    paths.iter().zip(at).map(come).collect()
}

/// Whether the iterations that paths end with can be repeated for ever, where some threads wait at these events of their paths
/// for ever.
pub(super) fn can_go_on(paths: &[&Path], generations: &Generations, at: &[Option<u16>]) -> bool {
    paths.iter().all(|path| path.last_round().is_none())
        || BarrierRun { paths, generations, reached: come_to(paths, at) }.repeats()
}

/// A run of threads through their barriers.
struct BarrierRun<'a> {
    paths: &'a [&'a Path],
    generations: &'a Generations,
    /// How many events of its path each thread has come to.
    reached: Vec<usize>,
}

impl BarrierRun<'_> {
    fn is_over(&self, thread: usize) -> bool {
        self.reached[thread] >= self.paths[thread].events.len()
    }

    /// The generation of an event, if the run has come there.
    fn generation(&self, thread: usize, event: usize) -> Option<u32> {
        self.generations.of[thread].get(event).copied().flatten()
    }

    /// The events of each generation, with their threads.
    fn members(&self) -> BTreeMap<u32, Vec<(usize, usize)>> {
        let mut members: BTreeMap<u32, Vec<(usize, usize)>> = BTreeMap::new();
        for (thread, of) in self.generations.of.iter().enumerate() {
            for (event, generation) in of.iter().enumerate() {
                if let Some(generation) = generation {
                    members.entry(*generation).or_default().push((thread, event));
                }
            }
        }
        members
    }

    /// Whether those who have come to the end of iterations with barriers that they repeat for ever repeat them together.
    fn repeats(&self) -> bool {
        let members = self.members();
        let round =
            |thread: usize| self.paths[thread].last_round().filter(|_| self.is_over(thread));
        (0..self.paths.len()).filter_map(|thread| Some((thread, round(thread)?))).all(
            |(thread, from)| {
                let together = |generation: u32| {
                    let mut events = members[&generation].iter();
                    events.all(|&(member, event)| round(member).is_some_and(|from| event >= from))
                };
                (from..self.paths[thread].events.len())
                    .filter(|&event| self.paths[thread].events[event].barrier.is_some())
                    .all(|event| self.generation(thread, event).is_some_and(together))
            },
        )
    }

    /// Whether each who has come to the end of such iterations has one that can be left out with those of others.
    fn has_common(&self) -> bool {
        let members = self.members();
        (0..self.paths.len())
            .filter(|&thread| self.paths[thread].last_round().is_some() && self.is_over(thread))
            .all(|thread| {
                let mut rounds = self.paths[thread].rounds.iter();
                rounds.any(|&round| self.is_common((thread, round), &members))
            })
    }

    /// The events of barriers of an iteration, each with how many of barriers of the CTA are before it.
    fn barriers(&self, thread: usize, round: Round) -> Vec<(usize, usize)> {
        let mut passed = 0;
        let mut all = Vec::new();
        for event in round.events() {
            let of = &self.paths[thread].events[event];
            let Some(used) = of.barrier else { continue };
            all.push((passed, event));
            let is_over =
                of.kind == EventKind::Wait && matches!(used.resource, Resource::Cta { .. });
            passed += usize::from(is_over);
        }
        all
    }

    /// Whether one such iteration of a thread, and all that meet it at barriers, can be left out.
    fn is_common(
        &self,
        round: (usize, Round),
        members: &BTreeMap<u32, Vec<(usize, usize)>>,
    ) -> bool {
        let mut together = BTreeSet::from([round]);
        let mut pending = vec![round];
        while let Some((thread, of)) = pending.pop() {
            if self.reached[thread] < usize::from(of.end) {
                return false;
            }
            for (at, event) in self.barriers(thread, of) {
                let Some(generation) = self.generation(thread, event) else { return false };
                for &(member, event) in &members[&generation] {
                    let mut rounds = self.paths[member].rounds.iter();
                    let Some(&round) = rounds.find(|round| round.events().contains(&event)) else {
                        return false;
                    };
                    // What one thread writes for the others, all of them have to pass in step.
                    let in_step = round.head == of.head
                        && self.barriers(member, round).contains(&(at, event));
                    if (round.rewrites || of.rewrites) && !in_step {
                        return false;
                    }
                    if together.insert((member, round)) {
                        pending.push((member, round));
                    }
                }
            }
        }
        true
    }

    /// Whether for each shuffle some value that its source lane may contribute agrees with what the paths that receive it assume.
    fn has_lane_values(&self, unfolded: &Unfolded<'_>, threads: &[ThreadId]) -> bool {
        self.members().into_values().all(|members| {
            members.iter().all(|&(source, arrival)| {
                let event = &self.paths[source].events[arrival];
                let brought = event.barrier.and_then(|used| used.reduce).map(|(_, value, _)| value);
                let Some(brought) = brought.filter(|_| event.kind == EventKind::Arrive) else {
                    return true;
                };
                let lane = Combination::Lane(unfolded.program.lane(threads[source]));
                let gets = |&&(member, wait): &&(usize, usize)| {
                    let event = &self.paths[member].events[wait];
                    let combination = event.barrier.and_then(|used| used.reduce).map(|of| of.0);
                    event.kind == EventKind::Wait && combination == Some(lane)
                };
                let Some(values) = self.brought(source, brought, unfolded, threads[source]) else {
                    return true;
                };
                values.into_iter().any(|value| {
                    members.iter().filter(gets).all(|&(member, wait)| {
                        let wait = u16::try_from(wait).expect("a path has few events");
                        let known = |leaf| (leaf == Expr::Reduced(wait)).then_some(value);
                        self.paths[member].admits(&known)
                    })
                })
            })
        })
    }

    /// Whether for each write to bytes that only threads of its CTA access some value agrees with what the paths assume that read it:
    /// behind a barrier of the CTA, and without another write up to the read.
    fn has_written_values(&self, unfolded: &Unfolded<'_>, threads: &[ThreadId]) -> bool {
        let Some(passed) = self.passed() else { return true };
        let (program, layout, facts) = (unfolded.program, &unfolded.layout, &unfolded.facts);
        let events = || {
            (0..self.paths.len())
                .flat_map(|thread| (0..self.reached[thread]).map(move |event| (thread, event)))
        };
        let at = |(thread, event): (usize, usize)| &self.paths[thread].events[event];
        let phase = |(thread, event): (usize, usize)| passed[thread][event];
        let bytes = |of: (usize, usize)| at(of).access.map(|access| access.pa);
        let is_write = |of: &(usize, usize)| at(*of).value.is_some() && bytes(*of).is_some();
        let writes: Vec<(usize, usize)> = events().filter(is_write).collect();
        writes.iter().all(|&write| {
            let (thread, here) = (write.0, bytes(write));
            let Some((there, value)) = here.zip(at(write).value) else { return true };
            if !is_of_cta(program, layout, &facts.accessed, threads[thread], there) {
                return true;
            }
            let in_cta = |other: usize| {
                let placement = |thread: ThreadId| program.threads[usize::from(thread.0)].placement;
                placement(threads[other]).same_cta(placement(threads[thread]))
            };
            let between = |read: (usize, usize)| {
                writes.iter().any(|&other| {
                    let between = phase(write)..=phase(read);
                    other != write && bytes(other) == here && between.contains(&phase(other))
                })
            };
            let reads = events().filter(|&of| {
                let is_read = at(of).kind == EventKind::Read && bytes(of) == here;
                is_read && in_cta(of.0) && phase(of) > phase(write) && !between(of)
            });
            let reads: Vec<(usize, usize)> = reads.collect();
            let Some(values) = self.brought(thread, value, unfolded, threads[thread]) else {
                return true;
            };
            reads.is_empty()
                || values.into_iter().any(|value| {
                    reads.iter().all(|&(reader, read)| {
                        let read = u16::try_from(read).expect("a path has few events");
                        let known = |leaf| (leaf == Expr::Read(read)).then_some(value);
                        self.paths[reader].admits(&known)
                    })
                })
        })
    }

    /// How many barriers of its CTA each thread has passed before each of its events; `None` where not all threads wait at each.
    fn passed(&self) -> Option<Vec<Vec<usize>>> {
        let of = |path: &&Path| {
            let mut passed = 0;
            let event = |of: &PathEvent| {
                let cta = of.barrier.filter(|used| matches!(used.resource, Resource::Cta { .. }));
                if cta.is_some_and(|used| !used.waits_for_all() || !used.waits) {
                    return None;
                }
                let before = passed;
                passed += usize::from(cta.is_some() && of.kind == EventKind::Arrive);
                Some(before)
            };
            path.events.iter().map(event).collect()
        };
        self.paths.iter().map(of).collect()
    }

    /// The values that a thread may contribute, or write; `None` if it computes them from more than one read whose values are known.
    fn brought(
        &self,
        source: usize,
        brought: ExprId,
        unfolded: &Unfolded<'_>,
        thread: ThreadId,
    ) -> Option<Vec<Value>> {
        let path = self.paths[source];
        let mut leaves: Vec<Expr> = Vec::new();
        path.exprs.leaves(brought, &mut |leaf| {
            if !matches!(leaf, Expr::Const(_)) && !leaves.contains(&leaf) {
                leaves.push(leaf);
            }
        });
        let of_read = match leaves[..] {
            [] => return Some(vec![path.exprs.as_const(brought)?]),
            [Expr::Read(read)] => read,
            _ => return None,
        };
        let returned = path.returned(of_read, unfolded.known_memory(thread))?;
        let admitted = returned.into_iter().filter_map(|value| {
            let known = |leaf| (leaf == Expr::Read(of_read)).then_some(value);
            path.admits(&known).then(|| path.exprs.eval(brought, &mut { known }))
        });
        admitted.collect()
    }

    /// Whether each result that is the same for all who take part has a value that all of them take it to have.
    fn has_values(&self) -> bool {
        self.members().into_values().all(|members| {
            let mut waits: Vec<(usize, u16)> = Vec::new();
            let mut combinations = Vec::new();
            for &(thread, event) in &members {
                let of = &self.paths[thread].events[event];
                if let (EventKind::Wait, Some((combination, ..))) =
                    (of.kind, of.barrier.and_then(|used| used.reduce))
                {
                    waits.push((thread, u16::try_from(event).expect("a path has few events")));
                    combinations.push(combination);
                }
            }
            let values = combinations.first().and_then(|of| common_values(*of, members.len()));
            let Some(values) =
                values.filter(|_| combinations.iter().all(|of| *of == combinations[0]))
            else {
                return true;
            };
            values.into_iter().any(|value| {
                waits.iter().all(|&(thread, _)| {
                    self.paths[thread].checks.iter().all(|check| {
                        let exprs = &self.paths[thread].exprs;
                        let known = exprs.eval(check.expr(), &mut |leaf| {
                            let Expr::Reduced(wait) = leaf else { return None };
                            waits.contains(&(thread, wait)).then_some(value)
                        });
                        known.is_none_or(|known| check.holds(known))
                    })
                })
            })
        })
    }
}

/// The values that a result may have, if it is the same for all.
fn common_values(of: Combination, most: usize) -> Option<Vec<Value>> {
    match of {
        Combination::Reduction(Reduction::And | Reduction::Or)
        | Combination::Lanes(ExchangeOp::All | ExchangeOp::Any | ExchangeOp::Uniform) => {
            Some(vec![0, 1])
        }
        Combination::Reduction(Reduction::Popc) => Some((0..).take(most + 1).collect()),
        Combination::Lane(_)
        | Combination::Elected(_)
        | Combination::Active
        | Combination::Lanes(
            ExchangeOp::Shuffle(_)
            | ExchangeOp::Ballot
            | ExchangeOp::MatchAny(_)
            | ExchangeOp::MatchAll(_)
            | ExchangeOp::Reduce(_)
            | ExchangeOp::Elect
            | ExchangeOp::Active,
        ) => None,
    }
}
