//! Random contexts of a function, which the lists of [`super::partner`] do not have: they attack a target that is
//! preserved in those, and confirm one that is not.
//!
//! The same seed gives the same contexts.

use std::ops::Range;

use lift::function::{Function, HERE};
use model::isa::fence::FenceOrder;
use model::scope::{Placement, Scope};

use super::judge::{cases, located, refused};
use super::partner::{FRESH, MeetingLocation, OWN};
use super::scan::ThreadScan;
use crate::context::{AwaitedValue, Context, ContextOp, at};
use crate::judgement::ContextSearch;
use crate::language::SourceId;
use crate::random::RandomNumbers;
use crate::refiner::Refiner;
use crate::step::{AccessKind, AccessOrder};
use crate::verdict::Finding;

/// The placements of partners: of the function's CTA, cluster and GPU, and beyond.
const PLACES: [Placement; 6] = [HERE, HERE, at(0, 0, 1), at(0, 1, 2), at(0, 1, 2), at(1, 2, 3)];

/// What random contexts say about a function.
#[derive(Debug, Default)]
pub struct Attacked {
    /// The contexts in which no outcome is added.
    pub checked: usize,
    /// Those in which the source is undefined, or the published mapping adds an outcome too.
    pub withdrawn: usize,
    /// Those without an answer within the limits.
    pub undecided: usize,
    /// The first outcome that the target adds.
    pub refutation: Option<Finding>,
}

/// Judges a function in so many random contexts, until one refutes.
///
/// # Errors
///
/// The finding, if the function has no inputs, or is not supported in a context.
pub(super) fn attack(
    source: &Function,
    target: &Function,
    refiner: Refiner<'_>,
    seed: u64,
    contexts: usize,
) -> Result<Attacked, Box<Finding>> {
    let mut numbers = RandomNumbers::new(seed);
    let mut setups = cases(source, target, refiner.within_time())?.setups;
    let mut attacked = Attacked::default();
    let cxx = SourceId::of(source.language).has_seq_cst();
    for _ in 0..contexts {
        if setups.is_empty() || refiner.is_over() {
            break;
        }
        let chosen = numbers.below(setups.len());
        let (case, scans, _) = &mut setups[chosen];
        case.refiner = refiner;
        let maker = RandomPartners {
            locations: &case.locations,
            scan: &scans[0],
            framed: !source.kernel,
            cxx,
        };
        let Some(context) = maker.context(&mut numbers) else { continue };
        let mut search = ContextSearch::default();
        let found = search
            .judge(case, std::slice::from_ref(&context), false)
            .map_err(|why| refused("context", &why))?;
        if let Some((refutation, _)) = found {
            attacked.refutation = Some(located(refutation, case, scans).0);
            break;
        }
        let tally = search.tally;
        attacked.checked += tally.checked;
        attacked.withdrawn += tally.source_racy + tally.withdrawn + tally.syntactic;
        let says = tally.checked + tally.source_racy + tally.withdrawn + tally.syntactic;
        attacked.undecided += usize::from(says == 0);
    }
    Ok(attacked)
}

/// Makes the contexts of one choice of inputs.
struct RandomPartners<'a> {
    locations: &'a [MeetingLocation],
    scan: &'a ThreadScan,
    /// Whether other code may precede and follow the function.
    framed: bool,
    /// Whether the context's accesses may be `seq_cst`.
    cxx: bool,
}

impl RandomPartners<'_> {
    fn context(&self, numbers: &mut RandomNumbers) -> Option<Context> {
        let partners = 1 + numbers.of(&[0, 0, 0, 1, 1, 2]);
        let mut placements = vec![HERE];
        let mut threads = Vec::new();
        for _ in 0..partners {
            let placement = numbers.of(&PLACES);
            let ops = self.partner(numbers, placement);
            if ops.is_empty() {
                return None;
            }
            placements.push(placement);
            threads.push(ops);
        }
        let own = self.own();
        let mut before = Vec::new();
        let mut behind = Vec::new();
        if self.framed {
            for ops in [&mut before, &mut behind] {
                for _ in 0..numbers.of(&[0, 1, 1, 2]) {
                    if numbers.one_in(4) {
                        ops.push(fence(numbers));
                        continue;
                    }
                    let among = if numbers.one_in(3) { own.clone() } else { 0..own.end };
                    let at = among.start + numbers.below(among.len());
                    ops.extend(self.access(numbers, at, HERE));
                }
            }
        }
        threads.insert(0, [before, vec![ContextOp::Judged], behind].concat());
        let judged = 0..own.start;
        let distance = "at random distances";
        Some(Context { threads, placements, distance, judged, expects_partner: false })
    }

    /// The places that belong to the context.
    fn own(&self) -> Range<usize> {
        self.locations.len() - OWN..self.locations.len()
    }

    /// A partner's operations: a few accesses, half of them of two places that the function accesses in the other
    /// order, with fences and guards in between, and the barriers of the function.
    fn partner(&self, numbers: &mut RandomNumbers, placement: Placement) -> Vec<ContextOp> {
        let ordered: Vec<(usize, usize)> = self.scan.ordered.iter().copied().collect();
        let mut places = Vec::new();
        if !ordered.is_empty() && numbers.one_in(2) {
            let (p, q) = numbers.of(&ordered);
            places.extend([q, p]);
        }
        while places.len() < 2 || numbers.one_in(4) {
            places.push(numbers.below(self.locations.len()));
        }
        let mut ops = Vec::new();
        for place in places {
            let Some(access) = self.access(numbers, place, placement) else { continue };
            if !ops.is_empty() && numbers.one_in(5) {
                ops.push(fence(numbers));
            }
            ops.push(access);
            let ContextOp::Access { act, .. } = access else { continue };
            if act.shows() && numbers.one_in(2) {
                let awaited = [AwaitedValue::Written, AwaitedValue::Written, AwaitedValue::Initial];
                ops.push(ContextOp::Guard(numbers.of(&awaited)));
            }
        }
        if !ops.is_empty() && Scope::Cta.includes(HERE, placement) && !numbers.one_in(4) {
            let mut from = 0;
            for &barrier in self.scan.barriers.iter().flatten() {
                from += numbers.below(ops.len() - from + 1);
                ops.insert(from, ContextOp::Barrier(barrier));
                from += 1;
            }
        }
        ops
    }

    /// An access of a place, if a thread that is placed so can make one.
    fn access(
        &self,
        numbers: &mut RandomNumbers,
        at: usize,
        placement: Placement,
    ) -> Option<ContextOp> {
        use AccessOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst, Weak};
        let location = &self.locations[at];
        let MeetingLocation { place, plain, shared, promised, .. } = *location;
        let kinds = [AccessKind::Load, AccessKind::Load, AccessKind::Store, AccessKind::Store];
        let mut act = if plain || place.bytes < 4 || numbers.below(4) > 0 {
            numbers.of(&kinds)
        } else {
            AccessKind::Swap
        };
        if promised && act.writes() {
            act = AccessKind::Load;
        }
        if shared && placement != HERE || place.bytes > 16 {
            return None;
        }
        let order = match act {
            _ if plain => Weak,
            _ if self.cxx && numbers.one_in(6) => SeqCst,
            AccessKind::Load => numbers.of(&[Relaxed, Acquire, Acquire]),
            AccessKind::Store => numbers.of(&[Relaxed, Release, Release]),
            AccessKind::Swap
            | AccessKind::Overwrite
            | AccessKind::Reduce
            | AccessKind::CompareExchange(_)
            | AccessKind::Probe => numbers.of(&[Relaxed, Acquire, Release, AcqRel]),
        };
        let fresh = FRESH + u64::try_from(numbers.below(4)).expect("a small number");
        let wanted = &location.wanted;
        let value = if wanted.is_empty() || numbers.one_in(2) { fresh } else { numbers.of(wanted) };
        Some(ContextOp::Access { act, at, order, value })
    }
}

fn fence(numbers: &mut RandomNumbers) -> ContextOp {
    ContextOp::Fence(numbers.of(&[FenceOrder::Sc, FenceOrder::AcqRel]))
}
