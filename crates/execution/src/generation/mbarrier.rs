//! mbarrier objects in a run of the threads through their barriers: the phase in which each operation takes effect.
//!
//! The operations on an object happen one after the other (reading B1). A completion happens at any time after the
//! operation was issued.

use std::collections::{BTreeMap, BTreeSet};

use super::{ArrivalSearch, ArrivalState, BarrierUse};
use crate::event::{MbarrierStep, MbarrierUse, ObjectPhase, PhaseChange, Resource, WaitPhase};
use crate::layout::Layout;
use crate::path::{Path, PathEnd};
use model::isa::asynchronous::{AsyncMisuse, MbarrierLayout};
use model::memory::MBARRIER_BYTES;
use model::program::AwaitedObject;

/// The bound of a tx-count: 9.7.15.16.
const MOST_TX: i64 = 1 << 20;

/// What an mbarrier object holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct ObjectState {
    layout: MbarrierLayout,
    phase: ObjectPhase,
    pending: i64,
    expected: i64,
    tx: i64,
}

/// An operation on an object: an event of a thread's path.
#[derive(Clone, Copy)]
pub(super) struct ObjectOperation {
    thread: usize,
    event: u16,
    line: u16,
    used: MbarrierUse,
}

/// What becomes of an operation on an object.
enum Effect {
    /// The object's next state, and the phase in which it took effect or that was seen completed.
    Goes(Option<ObjectState>, ObjectPhase),
    Waits,
    Misused(AsyncMisuse),
}

/// An operation on an object, as a use of a barrier that nobody waits at with others.
pub(super) fn used(of: MbarrierUse) -> BarrierUse {
    let resource = Resource::Mbarrier { location: of.object.object, start: of.object.start };
    let count = Some(0);
    BarrierUse { resource, count, reduce: None, relaxed: false, waits: false, aligned: false }
}

pub(super) fn completions_of(paths: &[&Path]) -> Vec<ObjectOperation> {
    let all = paths.iter().enumerate().flat_map(|(thread, path)| {
        (0u16..).zip(&path.events).filter_map(move |(event, of)| {
            of.part?;
            Some(ObjectOperation { thread, event, line: of.line, used: of.mbarrier? })
        })
    });
    all.collect()
}

/// The first event that a thread repeats for ever.
pub(super) fn spins_from(path: &Path) -> Option<u16> {
    match path.end {
        PathEnd::Spins { from, .. } => Some(from),
        PathEnd::Finished
        | PathEnd::Cut
        | PathEnd::Covered
        | PathEnd::Waits { .. }
        | PathEnd::Fault { .. } => None,
    }
}

/// The objects that a test declares as initialized.
pub(super) fn initial_objects(layout: &Layout) -> BTreeMap<(u16, u32), ObjectState> {
    let all = (0u16..).zip(&layout.locations).flat_map(|(location, of)| {
        (0u32..).zip(&of.mbarriers).map(move |(index, declared)| (location, index, declared))
    });
    let states = all.map(|(location, index, declared)| {
        let count = declared.count.into();
        let number = i32::try_from(declared.phase).unwrap_or(i32::MAX);
        let phase = ObjectPhase { initialization: 0, number };
        let tx = declared.tx.into();
        let layout = MbarrierLayout::V0;
        let state = ObjectState { layout, phase, pending: count, expected: count, tx };
        ((location, index * MBARRIER_BYTES), state)
    });
    states.collect()
}

impl ObjectState {
    /// Starts the next phase, if this one is complete.
    fn completed(mut self) -> ObjectState {
        if self.pending == 0 && self.tx == 0 {
            self.phase = self.phase.next();
            self.pending = self.expected;
        }
        self
    }

    fn in_range(&self) -> bool {
        let arrivals =
            u64::try_from(self.pending).is_ok_and(|of| of <= self.layout.most_arrivals());
        arrivals && self.expected >= 0 && self.tx.abs() < MOST_TX
    }

    /// The state after a step that is not a wait; `None` where `.noComplete` completes a phase.
    fn after(self, step: MbarrierStep) -> Option<ObjectState> {
        let mut next = self;
        match step {
            MbarrierStep::Tx(bytes) => {
                next.tx += bytes;
                // Only a completion ends a phase.
                Some(if bytes < 0 && next.in_range() { next.completed() } else { next })
            }
            MbarrierStep::Increment => {
                next.pending += 1;
                Some(next)
            }
            MbarrierStep::Arrive { count, expected, drops, completes, .. } => {
                let count = i64::try_from(count).unwrap_or(i64::MAX);
                next.tx += expected;
                next.pending -= count;
                if drops {
                    next.expected -= count;
                }
                let done = if next.in_range() { next.completed() } else { next };
                (completes || done.phase == next.phase).then_some(done)
            }
            MbarrierStep::Init { .. }
            | MbarrierStep::Invalidate
            | MbarrierStep::CheckLayout { .. }
            | MbarrierStep::Wait { .. } => Some(next),
        }
    }
}

impl ArrivalSearch<'_> {
    /// Adds the states after each operation on an object that may come next; whether there is one.
    pub(super) fn move_objects(
        &mut self,
        state: &ArrivalState,
        stopped: &[usize],
        pending: &mut Vec<ArrivalState>,
    ) -> bool {
        let completions = self.completions.iter().enumerate();
        let fires = completions
            .filter(|(index, completing)| !state.fired[*index] && self.is_issued(state, completing))
            .map(|(index, completing)| (*completing, Some(index)));
        let threads = (0..self.steps.len())
            .filter(|thread| !stopped.contains(thread) && state.waiting[*thread].is_none());
        let steps = threads.filter_map(|thread| {
            let step = self.steps[thread].get(state.position[thread])?;
            let used = step.object?;
            Some((ObjectOperation { thread, event: step.event, line: step.line, used }, None))
        });
        let next: Vec<(ObjectOperation, Option<usize>)> = fires.chain(steps).collect();
        let before = pending.len();
        let mut misused = false;
        for (operation, completion) in next {
            let ObjectOperation { thread, event, line, used } = operation;
            match Self::effect(state, thread, used) {
                Effect::Goes(object, phase) => {
                    let mut after = state.clone();
                    match completion {
                        Some(index) => after.fired[index] = true,
                        None => after.position[thread] += 1,
                    }
                    after.joined.phases.insert((thread, event), phase);
                    after.order((thread, event), used, object, self.depends);
                    after.put(used, object);
                    pending.push(after);
                }
                Effect::Waits => {}
                Effect::Misused(why) => {
                    misused = true;
                    self.misused.insert(self.misuse_at(state, thread, line, why.text()));
                }
            }
        }
        misused || pending.len() > before
    }

    /// Whether the waits that a thread repeats for ever return false for ever.
    pub(super) fn repeats_as_it_does(&self, state: &ArrivalState) -> bool {
        self.spins.iter().enumerate().all(|(thread, from)| {
            let Some(from) = *from else { return true };
            let repeated = self.steps[thread].iter().filter(|step| step.event >= from);
            repeated.filter_map(|step| step.object).all(|used| match used.step {
                MbarrierStep::Wait { phase, .. } => {
                    let object = state.objects.get(&key(used)).copied();
                    object.is_some_and(|object| {
                        Self::seen(state, thread, object, phase).is_none_or(|seen| !seen.0)
                    })
                }
                MbarrierStep::Init { .. }
                | MbarrierStep::Invalidate
                | MbarrierStep::CheckLayout { .. }
                | MbarrierStep::Tx(_)
                | MbarrierStep::Arrive { .. }
                | MbarrierStep::Increment => true,
            })
        })
    }

    /// Whether a thread stands at a wait that does not return what its path says, and does not block.
    pub(super) fn returns_otherwise(&self, state: &ArrivalState) -> bool {
        let at = |thread: usize| self.steps[thread].get(state.position[thread]);
        // A thread that waits at a barrier has not come to the step after it.
        let mut standing =
            (0..self.steps.len()).filter(|&thread| state.waiting[thread].is_none()).filter_map(at);
        standing.any(|step| {
            let step = step.object.map(|used| used.step);
            matches!(
                step,
                Some(
                    MbarrierStep::Wait { blocks: false, .. }
                        | MbarrierStep::CheckLayout { .. }
                        | MbarrierStep::Arrive { pending: Some(_), .. }
                )
            )
        })
    }

    /// Whether the thread has come to the instruction that starts the operation.
    fn is_issued(&self, state: &ArrivalState, completing: &ObjectOperation) -> bool {
        let steps = &self.steps[completing.thread];
        let passed = state.position[completing.thread];
        // A thread that waits has not come to what follows its wait.
        let waits = usize::from(state.waiting[completing.thread].is_some());
        steps.get(passed - waits).is_none_or(|step| step.event > completing.event)
    }

    /// What the object holds at which a thread waits, when nothing moves any more.
    pub(super) fn awaited_object(
        &self,
        state: &ArrivalState,
        thread: usize,
    ) -> Option<AwaitedObject> {
        let step = self.steps[thread].get(state.position[thread])?;
        let object = state.objects.get(&key(step.object?))?;
        Some(AwaitedObject { phase: object.phase.number, pending: object.pending, tx: object.tx })
    }

    fn effect(state: &ArrivalState, thread: usize, used: MbarrierUse) -> Effect {
        let object = state.objects.get(&key(used)).copied();
        if let MbarrierStep::Init { count, layout } = used.step {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            let (location, start) = key(used);
            let known =
                state.joined.reached.range((location, start, 0)..=(location, start, u32::MAX));
            let before = known.last().map_or(0, |(&(.., initialization), _)| initialization);
            let phase = ObjectPhase { initialization: before + 1, number: 0 };
            let new = ObjectState { layout, phase, pending: count, expected: count, tx: 0 };
            return Effect::Goes(Some(new), phase);
        }
        let Some(object) = object else { return Effect::Misused(AsyncMisuse::Uninitialized) };
        match used.step {
            MbarrierStep::Invalidate => Effect::Goes(None, object.phase),
            MbarrierStep::CheckLayout { layout, returned } => {
                if returned == (object.layout == layout) {
                    Effect::Goes(Some(object), object.phase)
                } else {
                    Effect::Waits
                }
            }
            MbarrierStep::Wait { phase, returned, tries, .. } => {
                let Some((complete, seen)) = Self::seen(state, thread, object, phase) else {
                    return Effect::Misused(AsyncMisuse::Token);
                };
                if returned == complete || !returned && tries {
                    Effect::Goes(Some(object), seen)
                } else {
                    Effect::Waits
                }
            }
            MbarrierStep::Arrive { pending: Some(pending), .. }
                if u64::try_from(object.pending) != Ok(pending) =>
            {
                Effect::Waits
            }
            step @ (MbarrierStep::Init { .. }
            | MbarrierStep::Tx(_)
            | MbarrierStep::Arrive { .. }
            | MbarrierStep::Increment) => match object.after(step) {
                Some(next) if next.in_range() => Effect::Goes(Some(next), object.phase),
                Some(_) | None => Effect::Misused(AsyncMisuse::Count),
            },
        }
    }

    /// Whether a phase is complete, and which; `None` where it is neither the current nor the one before.
    fn seen(
        state: &ArrivalState,
        thread: usize,
        object: ObjectState,
        phase: WaitPhase,
    ) -> Option<(bool, ObjectPhase)> {
        match phase {
            WaitPhase::Parity(parity) => {
                let complete = (object.phase.number & 1 == 1) != parity;
                Some((complete, object.phase.previous()))
            }
            WaitPhase::Of(arrival) => {
                let taken = *state.joined.phases.get(&(thread, arrival))?;
                let known = object.phase == taken || object.phase == taken.next();
                known.then_some((object.phase != taken, taken))
            }
        }
    }
}

impl ArrivalState {
    /// Keeps what the order of operations in a phase tells, before an object becomes `next`.
    ///
    /// For the order of the object that matters where base causality order may say something else. What has a result depends on
    /// all that is before it, if anything `depends` on reads.
    fn order(
        &mut self,
        by: (usize, u16),
        used: MbarrierUse,
        next: Option<ObjectState>,
        depends: bool,
    ) {
        let (key, step) = (key(used), used.step);
        let now = self.objects.get(&key).map(|object| object.phase);
        let since = self.since.entry(key).or_default();
        let unsettled = &self.joined.unsettled;
        // More bytes than are expected yet keep a phase from ending, too, once all arrivals are there.
        let exceeds = next.is_some_and(|of| of.pending == 0 && of.tx < 0);
        let lacks = exceeds && step.change().is_some_and(|change| !change.raises());
        if lacks || step.is_placed() {
            let all = unsettled.contains(&by) || depends && step.has_result();
            let matters = |of: PhaseChange| lacks || step.comes_behind(of);
            let before = since.iter().filter(|(_, of)| matters(*of)).map(|(of, _)| *of);
            let before: BTreeSet<(usize, u16)> =
                before.filter(|of| all || unsettled.contains(of)).collect();
            self.joined.before.insert(by, before);
        }
        if step.tells() {
            self.looked.insert(key);
        }
        if let Some(change) = step.change() {
            since.insert((by, change));
        }
        if now == next.map(|object| object.phase) {
            return;
        }
        since.clear();
        if self.looked.remove(&key)
            && let (Some(phase), Some(_)) = (now, next)
            && unsettled.contains(&by)
        {
            self.joined.ended.insert((key.0, key.1, phase), by);
        }
    }

    fn put(&mut self, used: MbarrierUse, object: Option<ObjectState>) {
        match object {
            Some(object) => {
                let ObjectPhase { initialization, number } = object.phase;
                let (location, start) = key(used);
                self.joined.reached.insert((location, start, initialization), number);
                self.objects.insert(key(used), object)
            }
            None => self.objects.remove(&key(used)),
        };
    }
}

fn key(used: MbarrierUse) -> (u16, u32) {
    (used.object.object, used.object.start)
}
