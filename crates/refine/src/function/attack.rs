//! Random contexts of a function, which the lists of [`super::partner`] do not have: they attack a target that is
//! preserved in those, and confirm one that is not.
//!
//! A refutation is one execution, in which a compare-exchange is a swap or a load, and a loop that waits is its last
//! iteration. So these two show no mistake that other operations cannot show; but whole programs have them, and engines,
//! mappings and tables have rules of their own for them.
//!
//! The same seed gives the same contexts.

use std::ops::Range;

use lift::function::{Function, HERE};
use model::isa::fence::FenceOrder;
use model::scope::{Placement, Scope};

use super::approximate::approximations;
use super::bind::Setup;
use super::judge::{cases, is_rounded, located, refused, wrong_value};
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

/// The number of random contexts, and which of them are judged.
#[derive(Clone, Copy)]
pub struct Attack<'a> {
    pub seed: u64,
    pub contexts: usize,
    pub judged: &'a dyn Fn(&Context) -> bool,
}

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

/// Judges a function in random contexts, until one refutes; without rounded results if only these differ where no other
/// thread runs.
///
/// # Errors
///
/// The finding, if the function has no inputs, or is not supported in a context.
pub(super) fn attack(
    source: &Function,
    target: &Function,
    refiner: Refiner<'_>,
    how: Attack<'_>,
) -> Result<Attacked, Box<Finding>> {
    let attacked = attacked(source, target, refiner, how)?;
    if attacked.refutation.is_none() {
        return Ok(attacked);
    }
    let mut setups = cases(source, target, refiner.within_time())?.setups;
    let differs = wrong_value(&mut setups)?.is_some();
    if !differs || !setups.iter_mut().all(|(case, ..)| is_rounded(case)) {
        return Ok(attacked);
    }
    for (_, [source, target]) in approximations([source, target]) {
        let without = self::attacked(&source, &target, refiner, how)?;
        if without.refutation.is_none() {
            return Ok(without);
        }
    }
    Ok(attacked)
}

/// The same where all results are compared.
fn attacked(
    source: &Function,
    target: &Function,
    refiner: Refiner<'_>,
    Attack { seed, contexts, judged }: Attack<'_>,
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
        // The inputs chose how often loops are followed.
        case.refiner = Refiner { bound: case.refiner.bound, ..refiner };
        let maker = RandomPartners {
            setup: &case.setup,
            locations: &case.locations,
            scan: &scans[0],
            framed: !source.kernel,
            cxx,
        };
        let Some(context) = maker.context(&mut numbers).filter(judged) else { continue };
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
    setup: &'a Setup,
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
        let mut after = Vec::new();
        if self.framed {
            for ops in [&mut before, &mut after] {
                for _ in 0..numbers.of(&[0, 1, 1, 2]) {
                    if numbers.one_in(4) {
                        ops.push(self.fence(numbers));
                        continue;
                    }
                    let among = if numbers.one_in(3) { own.clone() } else { 0..own.end };
                    let at = among.start + numbers.below(among.len());
                    ops.extend(self.access(numbers, at, HERE));
                }
            }
        }
        threads.insert(0, [before, vec![ContextOp::Judged], after].concat());
        let judged = 0..own.start;
        let distance = "at random distances";
        Some(Context { threads, placements, distance, judged, expects_partner: false })
    }

    /// The places that belong to the context.
    fn own(&self) -> Range<usize> {
        self.locations.len() - OWN..self.locations.len()
    }

    /// A partner's operations: a few accesses, half of them of two places that the function accesses in the other
    /// order, with fences, guards and loops that wait in between, and the barriers of the function.
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
                ops.push(self.fence(numbers));
            }
            ops.push(access);
            let ContextOp::Access { act, order, expects, .. } = access else { continue };
            if !act.shows() || !numbers.one_in(2) {
                continue;
            }
            let swaps = matches!(act, AccessKind::CompareExchange(_));
            let awaited = match self.locations[place].wanted.as_slice() {
                _ if swaps && !numbers.one_in(4) => AwaitedValue::Exactly(expects),
                wanted if !wanted.is_empty() && numbers.one_in(3) => {
                    AwaitedValue::Exactly(numbers.of(wanted))
                }
                _ if numbers.one_in(3) => AwaitedValue::Initial,
                _ => AwaitedValue::Written,
            };
            // A loop that waits by weak loads need not end.
            ops.push(if order != AccessOrder::Weak && numbers.one_in(3) {
                ContextOp::Await(awaited)
            } else {
                ContextOp::Guard(awaited)
            });
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

    fn fence(&self, numbers: &mut RandomNumbers) -> ContextOp {
        let named = self.locations.iter().any(|location| location.name_of.is_some());
        if named && numbers.one_in(2) {
            return ContextOp::AliasFence(numbers.of(&[FenceOrder::Acquire, FenceOrder::Release]));
        }
        ContextOp::Fence(numbers.of(&[FenceOrder::Sc, FenceOrder::AcqRel]))
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
        } else if place.bytes <= 8 && numbers.one_in(2) {
            AccessKind::CompareExchange(None)
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
        let exchanges = matches!(act, AccessKind::CompareExchange(_));
        let expects = if exchanges { self.expected(numbers, at) } else { 0 };
        Some(ContextOp::Access { act, at, order, value, expects })
    }

    /// A value that a place may have: the one it begins with, one that the function compares it with, or one of
    /// another partner.
    fn expected(&self, numbers: &mut RandomNumbers, at: usize) -> u64 {
        let MeetingLocation { place, wanted, .. } = &self.locations[at];
        if !wanted.is_empty() && numbers.one_in(3) {
            return numbers.of(wanted);
        }
        if numbers.one_in(4) {
            return FRESH + u64::try_from(numbers.below(4)).expect("a small number");
        }
        self.setup.memory[place.memory].initial_of(place.offset, place.bytes)
    }
}
