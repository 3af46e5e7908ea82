//! Whether each path of a target makes the accesses of a path of its source, or of the source's published mapping,
//! at least as strong and in the same order.
//!
//! If so, each outcome of the target in any context is an outcome of the other side there, and refutes nothing: a
//! stronger access or one more fence adds no outcome, and what the mapping adds is not a fault of the target (reading
//! R81). Contexts need not be tried (reading R106).
//!
//! Both sides are unfolded where every read may return anything. The order of two accesses counts only if one of them
//! is strong or both access the same bytes, as no axiom depends on another one. Reads on which nothing depends are left
//! out: whatever they return, the rest is possible. Values are compared for some values of the reads with which a path
//! is taken.

mod values;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher, Hash};

use execution::event::{BarrierUse, EventKind, Mask, PathEvent, Resource, Tags};
use execution::expr::{Expr, ExprId};
use execution::path::{Assumption, Path, PathEnd};
use execution::unfold::{UnfoldLimit, Unfolded};
use model::given::Tag;
use model::isa::Instruction;
use model::program::{Observed, Program};
use model::rel::Conventions;
use model::scope::Scope;
use model::value::{Value, low_bytes};
use rustc_hash::FxBuildHasher;

use self::values::OutOfTries;
use super::ask::RefinementCase;
use super::scan::{ByteRange, ThreadScan};
use crate::judgement::Refinement;
use crate::refiner::Refiner;

/// How often values are chosen for the reads of a path.
const TRIALS: u64 = 6;

/// A target, and what it may follow.
pub(super) struct FollowedPrograms {
    /// The source, if it is in PTX or the target is in its language.
    pub(super) source: Option<FollowedProgram>,
    /// The source by its published mapping.
    pub(super) mapped: Option<FollowedProgram>,
    pub(super) target: FollowedProgram,
}

pub(super) struct FollowedProgram {
    pub(super) program: Program,
    /// For each line of its thread, whether a read is left out on which nothing depends: one that is weak in the source.
    /// A strong one may order what follows even so.
    pub(super) plain: Vec<bool>,
    /// Whether it is the mapping for a listing: after each strong read, of the context too, is a fence, as a listing's
    /// loads are assumed to have their values.
    pub(super) waits: bool,
    /// All places that are accessed. A read of a part of one may be a race of accesses of two sizes, so it is compared.
    pub(super) places: Vec<ByteRange>,
}

impl FollowedProgram {
    pub(super) fn new(
        program: Program,
        plain: &dyn Fn(&Instruction) -> bool,
        places: &[ByteRange],
    ) -> FollowedProgram {
        let plain = program.threads[0].lines.iter().map(|line| plain(&line.instruction)).collect();
        FollowedProgram { program, plain, waits: false, places: places.to_vec() }
    }
}

/// What two paths must have in common to correspond: everything but their values, their order and their strength.
#[derive(PartialEq, Eq, Hash)]
struct Shape {
    events: Vec<EventShape>,
    /// The parts of an outcome that the path decides by itself.
    finals: Vec<(u16, u32, u32)>,
    fault: Option<&'static str>,
}

#[derive(PartialEq, Eq, Hash)]
struct EventShape {
    kind: EventKind,
    /// Without the order and the scope.
    tags: Vec<Tag>,
    place: Option<PlaceKey>,
    /// The position of the other half of an atomic.
    rmw: Option<usize>,
    barrier: Option<BarrierShape>,
}

/// The variable, its instance, the offset and the length.
type PlaceKey = (u16, u8, u32, u32);

#[derive(PartialEq, Eq, Hash)]
struct BarrierShape {
    resource: Resource,
    count: Option<u64>,
    relaxed: bool,
    waits: bool,
}

/// A path with its accesses by place and, at each place, in program order, followed by its barriers and proxy fences.
/// Events of two paths of one shape correspond if they have the same position.
struct ComparedPath<'u> {
    path: &'u Path,
    /// Indices of events of the path, by position.
    events: Vec<usize>,
    /// The position of each event of the path.
    positions: Vec<Option<usize>>,
    /// Indices of its fences; those of a reference that have an effect.
    fences: Vec<usize>,
    /// What the function returns.
    results: Vec<ExprId>,
}

/// The paths of one side.
struct ComparedSide<'u> {
    program: &'u Program,
    unfolded: &'u Unfolded<'u>,
    paths: Vec<(Shape, ComparedPath<'u>)>,
    by_shape: HashMap<u64, Vec<usize>>,
    /// Whether the other side must be at least as strong.
    is_reference: bool,
}

/// Values of the events, by position.
type Chosen = Vec<Value>;

/// What the paths of both sides are compared by.
struct PathComparison<'c> {
    words: BTreeMap<ByteRange, Vec<Value>>,
    /// Masks of the parts of an outcome.
    masks: Vec<Value>,
    /// Whether a target that drops a dependency may be at fault.
    dependencies: bool,
    is_over: &'c dyn Fn() -> bool,
}

/// Whether the target makes the accesses of its source, or of the source's published mapping. Within the time of
/// `refiner`.
pub(super) fn follows(
    case: &RefinementCase<'_>,
    scans: &[ThreadScan; 2],
    refiner: &Refiner<'_>,
) -> bool {
    let Some(programs) = case.followed(scans) else { return false };
    let over = |_| refiner.is_over().then_some(UnfoldLimit::Time);
    let unfold =
        |program| Unfolded::within(program, Conventions::default(), refiner.bound, &over).ok();
    let Some(target) = unfold(&programs.target.program) else { return false };
    let Some(target) = ComparedSide::new(&programs.target, &target, false) else { return false };
    [&programs.source, &programs.mapped].into_iter().flatten().any(|program| {
        let Some(reference) = unfold(&program.program) else { return false };
        let Some(reference) = ComparedSide::new(program, &reference, true) else { return false };
        let comparison = PathComparison {
            words: (0..case.locations.len())
                .map(|at| (case.locations[at].place, case.values(at)))
                .collect(),
            masks: Refinement::masks(case, &program.program),
            dependencies: case.compares_dependencies(),
            is_over: &|| refiner.is_over(),
        };
        let all = |one: &ComparedSide<'_>, other: &ComparedSide<'_>| {
            one.paths.iter().all(|path| {
                !(comparison.is_over)() && one.has_counterpart(other, path, &comparison)
            })
        };
        all(&reference, &target) && all(&target, &reference)
    })
}

impl<'u> ComparedSide<'u> {
    /// `None` if a path is not compared.
    fn new(
        side: &'u FollowedProgram,
        unfolded: &'u Unfolded<'u>,
        is_reference: bool,
    ) -> Option<ComparedSide<'u>> {
        let program = &side.program;
        let mut paths = Vec::new();
        let mut by_shape: HashMap<u64, Vec<usize>> = HashMap::new();
        for (number, path) in unfolded.paths[0].iter().enumerate() {
            let compared = ComparedPath::new(path, (side, unfolded))?;
            let shape = compared.shape(unfolded);
            by_shape.entry(FxBuildHasher.hash_one(&shape)).or_default().push(number);
            paths.push((shape, compared));
        }
        (!paths.is_empty()).then_some(ComparedSide {
            program,
            unfolded,
            paths,
            by_shape,
            is_reference,
        })
    }

    /// Whether the other side corresponds wherever this path is taken with some of the values that are tried.
    fn has_counterpart(
        &self,
        other: &ComparedSide<'_>,
        (shape, path): &(Shape, ComparedPath<'_>),
        comparison: &PathComparison<'_>,
    ) -> bool {
        let numbers = other.by_shape.get(&FxBuildHasher.hash_one(shape)).into_iter().flatten();
        let paths = numbers.map(|&number| &other.paths[number]);
        let counterparts: Vec<&ComparedPath<'_>> =
            paths.filter(|(theirs, _)| theirs == shape).map(|(_, path)| path).collect();
        // For each counterpart, whether it has the order and the strength, once that is known.
        let mut known: Vec<Option<bool>> = vec![None; counterparts.len()];
        let mut corresponds = |chosen: &Chosen| {
            let mut taken = false;
            for (theirs, known) in counterparts.iter().zip(&mut known) {
                if !theirs.is_taken(chosen) {
                    continue;
                }
                taken = true;
                let [reference, target] =
                    if self.is_reference { [path, *theirs] } else { [*theirs, path] };
                let agrees = || {
                    reference.has_order_of(target)
                        && (!comparison.dependencies || reference.depends_at_most_as(target))
                };
                if !*known.get_or_insert_with(agrees)
                    || !path.has_values_of(theirs, chosen, &comparison.masks)
                {
                    return false;
                }
            }
            taken
        };
        let groups = path.groups();
        let (mut first, mut last) = (None, Chosen::new());
        for trial in 0..TRIALS {
            let chosen = match self.choose(path, &groups, &comparison.words, trial) {
                Ok(Some(chosen)) => chosen,
                // The path is not taken with any of the values that contexts have.
                Ok(None) if trial == 0 => return true,
                Ok(None) => continue,
                Err(OutOfTries) => return false,
            };
            if !corresponds(&chosen) {
                return false;
            }
            first.get_or_insert_with(|| chosen.clone());
            last = chosen;
        }
        // Values that decide comparisons or that a thread like this one writes, each by itself, and together with those
        // before it.
        let mut together = last.clone();
        let written = path.written(first.as_ref().unwrap_or(&last));
        path.decisive(&last).into_iter().chain(written).all(|(at, value)| {
            let mut alone = last.clone();
            alone[at] = value;
            let before = std::mem::replace(&mut together[at], value);
            let tried = !(comparison.is_over)()
                && (!path.is_taken(&alone) || corresponds(&alone))
                && (!path.is_taken(&together) || corresponds(&together));
            if !path.is_taken(&together) {
                together[at] = before;
            }
            tried
        })
    }
}

impl<'u> ComparedPath<'u> {
    /// `None` for a path that is not compared.
    fn new(
        path: &'u Path,
        (side, unfolded): (&FollowedProgram, &Unfolded<'_>),
    ) -> Option<ComparedPath<'u>> {
        let reduced = |event: &PathEvent| event.barrier.is_some_and(|of| of.reduce.is_some());
        let ends = matches!(path.end, PathEnd::Finished | PathEnd::Fault { .. });
        if !ends || path.events.iter().any(reduced) {
            return None;
        }
        let registers = side.program.observed.iter().filter_map(|observed| match observed {
            Observed::Register { register, .. } => Some(path.registers[usize::from(register.0)]),
            Observed::Memory { .. } => None,
        });
        let results: Vec<ExprId> = registers.collect();
        let live = live(path, &results, side, unfolded);
        let mut events: Vec<usize> = (0..path.events.len())
            .filter(|&index| live[index] && path.events[index].kind != EventKind::Fence)
            .collect();
        let key = |index: &usize| {
            let place = place(&path.events[*index], unfolded);
            (place.is_none(), place)
        };
        events.sort_by_key(key);
        let mut positions = vec![None; path.events.len()];
        for (position, event) in events.iter().enumerate() {
            positions[*event] = Some(position);
        }
        let fences = fences(path, &live, side.waits);
        Some(ComparedPath { path, events, positions, fences, results })
    }

    fn shape(&self, unfolded: &Unfolded<'_>) -> Shape {
        let strength = [
            Tag::Relaxed,
            Tag::Acquire,
            Tag::Release,
            Tag::ScopeCta,
            Tag::ScopeCluster,
            Tag::ScopeGpu,
            Tag::ScopeSys,
        ];
        let events = self.events.iter().map(|&index| {
            let event = &self.path.events[index];
            EventShape {
                kind: event.kind,
                tags: event.tags.iter().filter(|tag| !strength.contains(tag)).collect(),
                place: place(event, unfolded),
                rmw: event.rmw.and_then(|half| self.positions[usize::from(half)]),
                barrier: event.barrier.as_ref().map(BarrierShape::new),
            }
        });
        let finals = self.path.finals.iter();
        let finals = finals.map(|of| (of.observed, of.bytes.start, of.bytes.length)).collect();
        let fault =
            if let PathEnd::Fault { reason, .. } = self.path.end { Some(reason) } else { None };
        Shape { events: events.collect(), finals, fault }
    }

    /// Whether a path of the same shape is at least as strong and has at least this order.
    fn has_order_of(&self, target: &ComparedPath<'_>) -> bool {
        let all = 0..self.events.len();
        let strong = all.clone().all(|at| is_at_least(target.event(at).tags, self.event(at).tags));
        let ordered = |first: usize, second: usize| {
            self.orders(first, second) && !target.orders(first, second)
        };
        let fence = |&fence: &usize| {
            let [before, after]: [Vec<usize>; 2] =
                all.clone().partition(|&at| self.events[at] < fence).into();
            let begin = before.iter().map(|&at| target.events[at] + 1).max().unwrap_or(0);
            let end = after.iter().map(|&at| target.events[at]).min().unwrap_or(usize::MAX);
            let tags =
                |index: usize| (target.path.events[index].tags, self.path.events[fence].tags);
            target.fences.iter().any(|&index| {
                let (theirs, ours) = tags(index);
                (begin..end).contains(&index) && is_at_least(theirs, ours)
            })
        };
        strong
            && !all.clone().any(|first| all.clone().any(|second| ordered(first, second)))
            && self.fences.iter().all(fence)
    }

    /// Whether an event is before another one, and some axiom may depend on that.
    fn orders(&self, first: usize, second: usize) -> bool {
        let (one, other) = (self.event(first), self.event(second));
        let weak = |event: &PathEvent| event.access.is_some() && event.tags.scope().is_none();
        let vector = one.element && other.element && one.step == other.step;
        let apart = || match (one.access, other.access) {
            (Some(one), Some(other)) => !one.va.overlaps(other.va),
            _ => false,
        };
        self.events[first] < self.events[second]
            && !vector
            && !(weak(one) && weak(other) && apart())
    }

    fn event(&self, position: usize) -> &'u PathEvent {
        &self.path.events[self.events[position]]
    }

    /// A value, given those of the reads by position.
    fn eval(&self, id: ExprId, at: impl Fn(usize) -> Option<Value>) -> Option<Value> {
        self.path.exprs.eval(id, &mut |leaf| {
            let Expr::Read(read) = leaf else { return None };
            at(self.positions[usize::from(read)]?)
        })
    }

    /// The bytes of the access at a position.
    fn bytes(&self, position: usize, unfolded: &Unfolded<'_>) -> ByteRange {
        bytes(place(self.event(position), unfolded).expect("a read accesses bytes"))
    }

    /// Whether the path is taken where the reads return these values.
    fn is_taken(&self, chosen: &Chosen) -> bool {
        self.path.checks.iter().all(|check| {
            let value = self.eval(check.expr(), |at| Some(chosen[at]));
            value.is_some_and(|value| check.holds(value))
        })
    }

    /// Whether both write and return the same.
    fn has_values_of(&self, other: &ComparedPath<'_>, chosen: &Chosen, masks: &[Value]) -> bool {
        let same = |ours: ExprId, theirs: ExprId, mask: Value| {
            let ours = self.eval(ours, |at| Some(chosen[at]));
            let theirs = other.eval(theirs, |at| Some(chosen[at]));
            ours.zip(theirs).is_some_and(|(ours, theirs)| ours & mask == theirs & mask)
        };
        let written = (0..self.events.len()).all(|at| {
            let (ours, theirs) = (self.event(at), other.event(at));
            match (ours.value, theirs.value) {
                (Some(first), Some(second)) => {
                    let bytes = ours.access.map_or(16, |access| access.va.length);
                    same(first, second, low_bytes(bytes))
                }
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            }
        });
        let finals = self.path.finals.iter().zip(&other.path.finals);
        let finals =
            || finals.clone().all(|(ours, theirs)| same(ours.value, theirs.value, Value::MAX));
        let results = self.results.iter().zip(&other.results).zip(masks);
        let results = || results.clone().all(|((ours, theirs), mask)| same(*ours, *theirs, *mask));
        written && finals() && self.results.len() == other.results.len() && results()
    }

    /// Whether each dependency is one of the other path, too.
    fn depends_at_most_as(&self, other: &ComparedPath<'_>) -> bool {
        let of = |path: &ComparedPath<'_>, at: usize| {
            let event = path.event(at);
            let all: Mask = event.addr | event.data | event.ctrl;
            let events = (0..path.path.events.len()).filter(|index| all >> index & 1 == 1);
            events.filter_map(|index| path.positions[index]).collect::<BTreeSet<usize>>()
        };
        (0..self.events.len()).all(|at| of(self, at).is_subset(&of(other, at)))
    }
}

impl BarrierShape {
    fn new(of: &BarrierUse) -> BarrierShape {
        let BarrierUse { resource, count, relaxed, waits, .. } = *of;
        BarrierShape { resource, count, relaxed, waits }
    }
}

fn place(event: &PathEvent, unfolded: &Unfolded<'_>) -> Option<PlaceKey> {
    let va = event.access?.va;
    let object = &unfolded.layout.virtuals[usize::from(va.object)];
    Some((object.variable.0, object.instance, va.start, va.length))
}

fn bytes((memory, _, offset, bytes): PlaceKey) -> ByteRange {
    ByteRange { memory: memory.into(), offset, bytes }
}

/// Whether an access or a fence is at least as strong as another one of the same kind.
fn is_at_least(one: Tags, other: Tags) -> bool {
    let order = |tags: Tags| match () {
        () if tags.has(Tag::Acquire) || tags.has(Tag::Release) || tags.has(Tag::FenceSc) => 3,
        () if tags.has(Tag::FenceAcqRel) => 2,
        () if tags.has(Tag::Relaxed) => 1,
        () => 0,
    };
    let fences = [Tag::FenceAcquire, Tag::FenceRelease];
    let half = fences.into_iter().all(|tag| !other.has(tag) || one.has(tag) || order(one) >= 2);
    let scope = other.scope().is_none_or(|scope| one.scope().is_some_and(|one| one >= scope));
    // What a fence orders besides: accesses by two names, or reads alone.
    let kinds = [Tag::AliasAcquire, Tag::AliasRelease, Tag::RestrictedRelease, Tag::ReleaseOfReads];
    let kind = kinds.into_iter().all(|tag| !other.has(tag) || one.has(tag));
    half && kind && scope && order(one) >= order(other)
}

/// The fences of a path. Those after which a listing's loads are assumed to have their values have no effect if each
/// strong read before them has such a fence of its own.
fn fences(path: &Path, live: &[bool], has_waits: bool) -> Vec<usize> {
    let mut open = false;
    let mut all = Vec::new();
    for (index, event) in path.events.iter().enumerate().filter(|(index, _)| live[*index]) {
        let waits = event.tags.has(Tag::FenceAcquire) && event.tags.scope() == Some(Scope::Cta);
        if event.kind == EventKind::Fence {
            if !has_waits || open || !waits {
                all.push(index);
            }
            open &= event.tags.has(Tag::FenceRelease);
        } else if event.kind == EventKind::Read {
            open |= event.tags.scope().is_some() && !event.tags.has(Tag::ReductionRead);
        }
    }
    all
}

/// For each event, whether it has to be compared: all but reads of such lines on which nothing depends.
fn live(
    path: &Path,
    results: &[ExprId],
    side: &FollowedProgram,
    unfolded: &Unfolded<'_>,
) -> Vec<bool> {
    let mut used = vec![false; path.events.len()];
    let mut depends = |id: ExprId| {
        path.exprs.leaves(id, &mut |leaf| {
            if let Expr::Read(read) = leaf {
                used[usize::from(read)] = true;
            }
        });
    };
    let checks = path.checks.iter().map(Assumption::expr);
    let finals = path.finals.iter().map(|of| of.value);
    let accesses =
        path.events.iter().flat_map(|event| event.value.into_iter().chain(event.address));
    for value in checks.chain(finals).chain(accesses).chain(results.iter().copied()) {
        depends(value);
    }
    let is_part = |event: &PathEvent| {
        let place = place(event, unfolded).map(bytes);
        place.is_some_and(|place| side.places.iter().any(|at| *at != place && at.overlaps(place)))
    };
    let kept = |(event, used): (&PathEvent, bool)| {
        let plain = side.plain[usize::from(event.line)];
        used || event.kind != EventKind::Read || !plain || is_part(event)
    };
    path.events.iter().zip(used).map(kept).collect()
}
