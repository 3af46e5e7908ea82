//! The cycles of a skeleton: `st x; st.rel y | ld.acq y; ld x` is message passing.
//!
//! A cycle of a skeleton goes through all of its accesses, in each thread in its order, and from the last access of a thread to the
//! first one of another. Orders have the narrowest scope that includes all threads which access the location, and fences the widest
//! of these in their thread, as in the contexts of lowerings.

use std::collections::{BTreeMap, BTreeSet};

use litmus::skeleton::{self, Skeleton, SkeletonAccess, SkeletonOp};
use model::isa::fence::FenceOrder;
use model::scope::{Placement, Scope};
use model::strength::AccessOrder;
use text::Diagnostic;
use text::report::ByteSpan;

use crate::access::CycleAccess;
use crate::cycle::{Cycle, CycleShape, MOST_THREADS};
use crate::notation::{WrittenAccess, WrittenCycle};
use crate::places::Arrangement;
use crate::word::{Communication, CycleAnnotation, Direction, Link, Via};

/// Whether a text is a skeleton, not a cycle: the names of edges and families begin with a capital or a digit. A single word is not an
/// operation, which has a location.
pub fn is_skeleton(text: &str) -> bool {
    let text = text.trim();
    text.contains(['|', ';'])
        || text.contains(char::is_whitespace)
            && text.starts_with(|first: char| first.is_ascii_lowercase())
}

/// An access, and what is between it and the next one of its thread.
struct SkeletonStep<'a> {
    direction: Direction,
    order: AccessOrder,
    location: &'a str,
    next: StepLink,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StepLink {
    Nothing,
    /// The next access is the write of the same atomic.
    Atomic,
    Guard,
    Fence(FenceOrder),
}

type SkeletonError = (ByteSpan, &'static str, &'static str);

const EXAMPLE: &str = "st x; st.rel y | ld.acq y; ld x";

/// The cycles of a skeleton, once for each placement of threads with these distances, or what is wrong with it.
pub fn cycles(text: &str, distances: &[Scope]) -> Result<Vec<WrittenCycle>, Vec<Diagnostic>> {
    let written = skeleton::read(text)?;
    let whole = ByteSpan::new(0, text.len());
    let refused = |wrong: &[SkeletonError]| Err(skeleton::refuse(text, wrong));
    let threads = match steps(&written) {
        Ok(threads) => threads,
        Err(wrong) => return refused(&wrong),
    };
    if !(2..=MOST_SHUFFLED).contains(&threads.len()) {
        return refused(&[(
            whole,
            "a cycle of a skeleton leads through two to seven threads",
            EXAMPLE,
        )]);
    }
    let mut all = BTreeSet::new();
    let mut found = Vec::new();
    for order in orders(threads.len()) {
        let threads: Vec<&[SkeletonStep<'_>]> = order.iter().map(|&at| &threads[at][..]).collect();
        let Some(shape) = shape(&threads) else { continue };
        for arrangement in Arrangement::all(threads.len(), distances) {
            let (links, annotations) = placed(&shape, &threads, &arrangement);
            let shape = CycleShape { links, ..shape.clone() };
            let accesses = annotations.iter().copied().map(CycleAccess::from).collect();
            let cycle = Cycle { shape: shape.clone(), accesses, arrangement: arrangement.clone() };
            if all.insert(cycle.canonical()) {
                let accesses = annotations.into_iter().map(|annotation| WrittenAccess {
                    annotation: Some(annotation),
                    ..WrittenAccess::default()
                });
                found.push(WrittenCycle {
                    shape,
                    accesses: accesses.collect(),
                    arrangement: Some(arrangement),
                });
            }
        }
    }
    if found.is_empty() {
        let message = "no order of the threads makes a cycle of these accesses: each last access of a thread and the first one \
                       of the next thread are of one location, and one of them writes";
        return refused(&[(whole, message, EXAMPLE)]);
    }
    Ok(found)
}

/// Threads of a skeleton, at most: all of their orders are tried.
const MOST_SHUFFLED: usize = if MOST_THREADS < 7 { MOST_THREADS } else { 7 };

/// The accesses of each thread.
fn steps<'a>(skeleton: &Skeleton<'a>) -> Result<Vec<Vec<SkeletonStep<'a>>>, Vec<SkeletonError>> {
    let mut wrong = Vec::new();
    let mut threads = Vec::new();
    for thread in &skeleton.threads {
        let mut steps: Vec<SkeletonStep<'a>> = Vec::new();
        let mut last = None;
        for &(op, at) in thread {
            match op {
                SkeletonOp::Access { kind, order, location } => {
                    if matches!(order, AccessOrder::Unordered | AccessOrder::SeqCst) {
                        wrong.push((
                            at,
                            "PTX has no such accesses",
                            "f.sc before a relaxed access",
                        ));
                    }
                    let step = |direction, next| SkeletonStep { direction, order, location, next };
                    if kind.reads() {
                        let atomic = kind == SkeletonAccess::Swap;
                        let next = if atomic { StepLink::Atomic } else { StepLink::Nothing };
                        steps.push(step(Direction::Read, next));
                    }
                    if kind.writes() {
                        steps.push(step(Direction::Write, StepLink::Nothing));
                    }
                    last = None;
                }
                SkeletonOp::Fence(order) => {
                    between(&mut steps, StepLink::Fence(order), at, &mut wrong);
                    last = Some(at);
                }
                SkeletonOp::Guard { written: true } => {
                    if steps.last().is_some_and(|step| step.direction == Direction::Write) {
                        wrong.push((at, "`if` stands after a read", "ld.acq y; if; ld x"));
                    } else {
                        between(&mut steps, StepLink::Guard, at, &mut wrong);
                    }
                    last = Some(at);
                }
                SkeletonOp::Guard { written: false } => {
                    wrong.push((at, "a cycle has no `unless`", "ld.acq y; if; ld x"));
                }
                SkeletonOp::Judged | SkeletonOp::Barriers => {
                    let message = "only contexts of `causeway lower` have judged code";
                    wrong.push((at, message, EXAMPLE));
                }
            }
        }
        let misplaced = "a fence, or an `if`, stands between two accesses";
        wrong.extend(last.map(|at| (at, misplaced, "st x; f.sc; ld y")));
        threads.push(steps);
    }
    if wrong.is_empty() { Ok(threads) } else { Err(wrong) }
}

fn between(
    steps: &mut [SkeletonStep<'_>],
    what: StepLink,
    at: ByteSpan,
    wrong: &mut Vec<SkeletonError>,
) {
    match steps.last_mut() {
        None => {
            let message = "a fence, or an `if`, stands between two accesses";
            wrong.push((at, message, "st x; f.sc; ld y"));
        }
        Some(SkeletonStep { next: next @ StepLink::Nothing, .. }) => *next = what,
        Some(_) => {
            wrong.push((at, "a cycle has one fence, or one `if`, between two accesses", "f.sc"));
        }
    }
}

/// Every order of this many threads that begins with the first one.
fn orders(threads: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![0]];
    for _ in 1..threads {
        let longer = all.iter().flat_map(|order| {
            let others = (1..threads).filter(|at| !order.contains(at));
            others.map(|at| order.iter().copied().chain([at]).collect())
        });
        all = longer.collect();
    }
    all
}

/// The cycle of the threads in this order, if there is one. Its fences have a scope that is not theirs yet.
fn shape(threads: &[&[SkeletonStep<'_>]]) -> Option<CycleShape> {
    let mut links = Vec::new();
    for (at, thread) in threads.iter().enumerate() {
        let (first, last) = (threads[(at + 1) % threads.len()].first()?, thread.last()?);
        for pair in thread.windows(2) {
            let same = pair[0].location == pair[1].location;
            let via = match pair[0].next {
                StepLink::Atomic => {
                    links.push(Link::Rmw);
                    continue;
                }
                StepLink::Nothing => Via::Plain,
                StepLink::Guard => Via::Ctrl,
                StepLink::Fence(order) => Via::Fence(order, Scope::Sys),
            };
            links.push(Link::Order { same, via });
        }
        let how = Communication::between(last.direction, first.direction)?;
        if last.location != first.location {
            return None;
        }
        links.push(Link::Communicates { how, external: true });
    }
    let steps: Vec<&SkeletonStep<'_>> = threads.iter().copied().flatten().collect();
    let shape = CycleShape { directions: steps.iter().map(|step| step.direction).collect(), links };
    shape.check().ok()?;
    // Each location of the cycle is one of the skeleton.
    let mut names = BTreeMap::new();
    let all = shape.locations().into_iter().zip(&steps);
    let alike = { all }
        .all(|(number, step)| *names.entry(number).or_insert(step.location) == step.location);
    let different: BTreeSet<&str> = names.values().copied().collect();
    (alike && different.len() == names.len()).then_some(shape)
}

/// The links and annotations of a shape, with the scopes that threads at these places need.
fn placed(
    shape: &CycleShape,
    threads: &[&[SkeletonStep<'_>]],
    arrangement: &Arrangement,
) -> (Vec<Link>, Vec<CycleAnnotation>) {
    let places: Vec<Placement> = arrangement.placements().collect();
    let scope = |location: &str| {
        let there = threads.iter().zip(&places);
        let there = there.filter(|(thread, _)| thread.iter().any(|step| step.location == location));
        Scope::narrowest(&there.map(|(_, place)| *place).collect::<Vec<_>>())
    };
    let mut links = shape.links.iter().copied();
    let (mut with_scopes, mut annotations) = (Vec::new(), Vec::new());
    for thread in threads {
        let widest = thread.iter().map(|step| scope(step.location)).max().unwrap_or(Scope::Cta);
        for (index, step) in thread.iter().enumerate() {
            let link = links.next().expect("each access has a link");
            with_scopes.push(match link {
                Link::Order { same, via: Via::Fence(order, _) } => {
                    Link::Order { same, via: Via::Fence(order, widest) }
                }
                Link::Order { .. } | Link::Rmw | Link::InvRmw | Link::Communicates { .. } => link,
            });
            let scope = scope(step.location);
            let of_atomic = index > 0 && thread[index - 1].next == StepLink::Atomic;
            annotations.push(match step.order {
                _ if of_atomic => CycleAnnotation::Weak,
                AccessOrder::Weak | AccessOrder::Unordered => CycleAnnotation::Weak,
                AccessOrder::Relaxed | AccessOrder::SeqCst => CycleAnnotation::Relaxed(scope),
                AccessOrder::Acquire => CycleAnnotation::Acquire(scope),
                AccessOrder::Release => CycleAnnotation::Release(scope),
                AccessOrder::AcqRel => CycleAnnotation::AcqRel(scope),
            });
        }
    }
    (with_scopes, annotations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::AccessForm;
    use crate::space::{Pattern, Ranges};

    fn ranges(distances: &[Scope]) -> Ranges {
        Ranges {
            annotations: vec![CycleAnnotation::Weak],
            forms: vec![AccessForm::Word],
            vias: vec![Via::Plain],
            distances: distances.to_vec(),
        }
    }

    /// The words of the cycles of a skeleton.
    fn words(text: &str, distances: &[Scope]) -> Vec<String> {
        let cycles = cycles(text, distances).unwrap_or_else(|errors| panic!("{}", errors[0]));
        let ranges = ranges(distances);
        let patterns = cycles.iter().map(|cycle| Pattern::of(cycle, &ranges));
        patterns
            .flat_map(|pattern| pattern.cycles().map(|one| one.words()).collect::<Vec<_>>())
            .collect()
    }

    #[test]
    fn a_skeleton_is_the_cycle_of_its_accesses() {
        let gpu = &[Scope::Gpu];
        for (text, cycle) in [
            (
                "st x; st.rel y | ld.acq y; ld x",
                "RelaxedGpu PodWW ReleaseGpu Rfe AcquireGpu PodRR RelaxedGpu Fre @gpu",
            ),
            (
                "ld y; if; st.na x | ld.na x; f.ar; st y",
                "DpCtrldW Rfe FenceAcqRelGpudRW RelaxedGpu Rfe RelaxedGpu @gpu",
            ),
            (
                "st x; f.sc; ld y | st y; f.sc; ld x",
                "RelaxedGpu FenceScGpudWR RelaxedGpu Fre RelaxedGpu FenceScGpudWR RelaxedGpu Fre @gpu",
            ),
            (
                "st.na x; st y | swap.ar y | ld.acq y; ld.na x",
                "PodWW RelaxedGpu Rfe AcqRelGpu Rmw Rfe AcquireGpu PodRR Fre @gpu",
            ),
        ] {
            let written = crate::notation::read(cycle).expect("a cycle");
            let ranges = ranges(gpu);
            let expected: Vec<String> =
                Pattern::of(&written, &ranges).cycles().map(|one| one.words()).collect();
            assert_eq!(words(text, gpu), expected, "{text}");
        }
        // Of four writes and reads of two locations there are both orders of the readers.
        assert_eq!(words("st x | ld x; ld y | st y | ld y; ld x", gpu).len(), 1);
    }

    #[test]
    fn scopes_are_those_of_the_placement() {
        let all = words("st x; st.rel y | ld.acq y; ld x", &[Scope::Cta, Scope::Sys]);
        assert_eq!(all.len(), 2);
        assert!(all[0].contains("ReleaseCta") && all[1].contains("ReleaseSys"), "{all:?}");
        // Equal threads at equal places are one test.
        assert_eq!(
            words("st x; ld y | st y; ld z | st z; ld x", &[Scope::Cta, Scope::Gpu]).len(),
            3
        );
    }

    #[test]
    fn what_is_no_cycle_has_a_place_and_a_suggestion() {
        for (text, place, message) in [
            ("st x; ld y | st x; ld y", "1:1", "no order of the threads"),
            ("st x; st y", "1:1", "two to seven threads"),
            ("st x", "1:1", "two to seven threads"),
            ("st.sc x; ld y | st y; ld x", "1:1", "PTX has no such accesses"),
            ("R; ld y | st y; ld x", "1:1", "judged code"),
            ("st x; f.sc | st y; ld x", "1:7", "between two accesses"),
            ("st x; f.sc; f.ar; ld y | st y; ld x", "1:13", "one fence"),
            ("st x; if; ld y | st y; ld x", "1:7", "after a read"),
            ("ld x; unless; ld y | st y; st x", "1:7", "`unless`"),
        ] {
            let errors = cycles(text, &Scope::ALL).expect_err(text);
            let shown = format!("{:#}", errors[0]);
            assert!(shown.contains(&format!("skeleton:{place}")), "{shown}");
            assert!(shown.contains(message) && shown.contains("help"), "{shown}");
        }
    }
}
