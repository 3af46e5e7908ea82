//! The run of the barriers (2.2): all histories of barriers and mbarrier objects, by a search over the interleavings of the
//! steps on them and of the pending completions.

use std::collections::{BTreeMap, BTreeSet};

use super::events::{Control, Kind, Unfolded};
use super::read::{Action, Program};
use super::relations::Matrix;

/// A phase of an object that was initialized so often.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Phase {
    pub(super) life: usize,
    pub(super) number: i64,
}

impl Phase {
    /// Whether an operation in this phase counts for a wait that observed the other one (B3).
    pub(super) fn counts_for(self, observed: Phase) -> bool {
        self.life == observed.life && self.number <= observed.number
    }
}

/// The phase in which each operation on an object took effect, and of each wait that returned true the phase that it
/// observed.
pub(super) type Phases = BTreeMap<usize, Phase>;

/// How far the threads came, and what the objects did.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct History {
    /// The number of steps that each thread has done.
    pub(super) done: Vec<usize>,
    /// Whether the thread has arrived at the barrier that is its next step.
    pub(super) arrived: Vec<bool>,
    pub(super) phases: Phases,
    /// Whether each thread came to its end.
    pub(super) complete: bool,
    /// The rule that the last operation breaks.
    pub(super) misuse: Option<&'static str>,
}

impl History {
    /// The events that happened.
    pub(super) fn events(&self, unfolded: &Unfolded) -> Vec<usize> {
        let happened = |event: &usize| {
            let event = &unfolded.events[*event];
            let Some(thread) = event.thread else {
                return true;
            };
            let arrival = event.kind == Kind::BarrierArrive && self.arrived[thread];
            event.step < self.done[thread] || arrival && event.step == self.done[thread]
        };
        (0..unfolded.events.len()).filter(happened).collect()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Live {
    phase: i64,
    pending: i64,
    expected: i64,
    tx: i64,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct State {
    done: Vec<usize>,
    arrived: Vec<bool>,
    /// A thread that has done all of its steps exits some time later.
    exited: Vec<bool>,
    /// Arrivals and waits of each thread at the barrier of its cluster.
    cluster_arrivals: Vec<usize>,
    cluster_waits: Vec<usize>,
    objects: Vec<Option<Live>>,
    /// How often each object was invalidated.
    lives: Vec<usize>,
    /// Completions that have not taken effect: event, object, and bytes; without bytes it is an arrival.
    pending: Vec<(usize, usize, Option<i64>)>,
    phases: Phases,
}

enum Move {
    To(State),
    Misuse(&'static str, State),
}

const TX_LIMIT: i64 = 1 << 20;
const ARRIVES_TWICE: &str =
    "a thread arrives twice at the barrier of the cluster before it completes";
const NEVER_ARRIVED: &str = "a thread waits for the barrier of the cluster and has not arrived";

/// All histories; with an order, those whose steps respect it. Threads that wait for ever end a history that is not
/// complete.
pub(super) fn histories(
    program: &Program,
    unfolded: &Unfolded,
    order: Option<&Matrix>,
) -> Vec<History> {
    let run = Run { program, unfolded, order };
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut stack = vec![run.start()];
    while let Some(state) = stack.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        let mut moved = false;
        for (allowed, next) in run.moves(&state) {
            moved = true;
            match next {
                _ if !allowed => {}
                Move::To(next) => stack.push(next),
                Move::Misuse(reason, next) => {
                    found.insert(history(&next, Some(reason)));
                }
            }
        }
        if !moved {
            found.insert(history(&state, None));
        }
    }
    let mut found: Vec<History> = found.into_iter().collect();
    found.sort();
    found
}

fn history(state: &State, misuse: Option<&'static str>) -> History {
    History {
        done: state.done.clone(),
        arrived: state.arrived.clone(),
        phases: state.phases.clone(),
        complete: misuse.is_none() && state.exited.iter().all(|&exited| exited),
        misuse,
    }
}

fn advanced(state: &State, thread: usize) -> State {
    let mut next = state.clone();
    next.done[thread] += 1;
    next
}

/// The pairs that steps on objects have to respect: what is decided, and base causality between steps on one object, each of which
/// has an order of its own. Barriers are in base causality where they order; a relaxed arrival at one orders nothing (reading R28).
pub(super) fn on_objects(unfolded: &Unfolded, decided: &Matrix, base: &Matrix) -> Matrix {
    let mut objects: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (&(thread, number), &event) in &unfolded.control_event {
        let on: BTreeSet<usize> = match unfolded.controls[thread][number].as_ref() {
            Some(Control::Object { object, .. } | Control::Track { object, .. }) => {
                [*object].into()
            }
            Some(Control::Complete(all)) => all.iter().map(|&(_, object, _)| object).collect(),
            Some(
                Control::Forever
                | Control::Barrier { .. }
                | Control::ClusterArrive
                | Control::ClusterWait,
            )
            | None => continue,
        };
        objects.entry(event).or_default().extend(on);
    }
    let events: Vec<usize> = objects.keys().copied().collect();
    Matrix::of(unfolded.events.len(), &events, |a, b| {
        decided.has(a, b) || base.has(a, b) && !objects[&a].is_disjoint(&objects[&b])
    })
}

struct Run<'a> {
    program: &'a Program,
    unfolded: &'a Unfolded,
    order: Option<&'a Matrix>,
}

impl Run<'_> {
    fn start(&self) -> State {
        let live = |&(count, phase, tx): &(i64, i64, i64)| Live {
            phase,
            pending: count,
            expected: count,
            tx,
        };
        let threads = self.unfolded.controls.len();
        let mut state = State {
            done: vec![0; threads],
            arrived: vec![false; threads],
            exited: vec![false; threads],
            cluster_arrivals: vec![0; threads],
            cluster_waits: vec![0; threads],
            objects: self
                .program
                .objects
                .iter()
                .map(|declared| declared.as_ref().map(live))
                .collect(),
            lives: vec![0; self.program.objects.len()],
            pending: Vec::new(),
            phases: Phases::new(),
        };
        self.settle(&mut state);
        state
    }

    fn next(&self, state: &State, thread: usize) -> Option<&Control> {
        self.unfolded.controls[thread].get(state.done[thread])?.as_ref()
    }

    fn is_at_end(&self, state: &State, thread: usize) -> bool {
        state.done[thread] == self.unfolded.controls[thread].len()
    }

    /// Does the steps that concern no barrier, and lets full barriers complete. A thread that has exited is not waited for
    /// (reading R30).
    fn settle(&self, state: &mut State) {
        loop {
            for thread in 0..state.done.len() {
                while !self.is_at_end(state, thread) && self.next(state, thread).is_none() {
                    state.done[thread] += 1;
                }
            }
            let Some(full) = (0..state.done.len()).find(|&thread| self.is_full(state, thread))
            else {
                return;
            };
            for thread in self.of_cta(full) {
                if state.arrived[thread] {
                    state.arrived[thread] = false;
                    state.done[thread] += 1;
                }
            }
        }
    }

    fn of_cta(&self, of: usize) -> Vec<usize> {
        let cta = self.program.threads[of].cta;
        (0..self.program.threads.len()).filter(|&t| self.program.threads[t].cta == cta).collect()
    }

    /// Whether all threads of the CTA that have not exited have arrived at the barrier of this thread.
    fn is_full(&self, state: &State, thread: usize) -> bool {
        let Some(Control::Barrier { id }) = self.next(state, thread) else {
            return false;
        };
        let here = |&other: &usize| {
            let same =
                matches!(self.next(state, other), Some(Control::Barrier { id: of }) if of == id);
            state.exited[other] || state.arrived[other] && same
        };
        state.arrived[thread] && self.of_cta(thread).iter().all(here)
    }

    /// Whether nothing that has not been done has to come before the step of the thread.
    fn respects_order(&self, state: &State, thread: usize) -> bool {
        let Some(order) = self.order else { return true };
        let step = (thread, state.done[thread]);
        let Some(&event) = self.unfolded.control_event.get(&step) else {
            return true;
        };
        let undone =
            |(of, number): (usize, usize)| number >= state.done[of] && (of, number) != step;
        let mut others = self.unfolded.control_event.iter();
        others.all(|(&other, &before)| !undone(other) || !order.has(before, event))
    }

    /// All moves, with whether the order allows them.
    fn moves(&self, state: &State) -> Vec<(bool, Move)> {
        let mut moves = Vec::new();
        for thread in 0..state.done.len() {
            if let Some(control) = self.next(state, thread)
                && let Some(next) = self.step(state, thread, control)
            {
                moves.push((self.respects_order(state, thread), next));
            }
        }
        for thread in 0..state.done.len() {
            if self.is_at_end(state, thread) && !state.exited[thread] {
                let mut next = state.clone();
                next.exited[thread] = true;
                moves.push((true, self.to(next)));
            }
        }
        for at in 0..state.pending.len() {
            moves.push((true, self.complete(state, at)));
        }
        moves
    }

    fn to(&self, mut state: State) -> Move {
        self.settle(&mut state);
        Move::To(state)
    }

    fn step(&self, state: &State, thread: usize, control: &Control) -> Option<Move> {
        match control {
            Control::Forever => None,
            Control::Barrier { .. } => {
                let mut next = state.clone();
                next.arrived[thread] = true;
                (!state.arrived[thread]).then(|| self.to(next))
            }
            Control::ClusterArrive => {
                let mut next = advanced(state, thread);
                next.cluster_arrivals[thread] += 1;
                if !self.cluster_complete(state, thread, state.cluster_arrivals[thread]) {
                    return Some(Move::Misuse(ARRIVES_TWICE, next));
                }
                Some(self.to(next))
            }
            Control::ClusterWait => {
                let mut next = advanced(state, thread);
                next.cluster_waits[thread] += 1;
                let wait = next.cluster_waits[thread];
                if wait > state.cluster_arrivals[thread] {
                    return Some(Move::Misuse(NEVER_ARRIVED, next));
                }
                self.cluster_complete(state, thread, wait).then(|| self.to(next))
            }
            Control::Complete(completions) => {
                let mut next = advanced(state, thread);
                let pending =
                    completions.iter().map(|&(event, object, bytes)| (event, object, Some(bytes)));
                next.pending.extend(pending);
                next.pending.sort_unstable();
                Some(self.to(next))
            }
            Control::Track { object, counted, event } => {
                let mut next = advanced(state, thread);
                next.pending.push((*event, *object, None));
                next.pending.sort_unstable();
                match &mut next.objects[*object] {
                    _ if !counted => Some(self.to(next)),
                    Some(live) => {
                        live.pending += 1;
                        Some(self.to(next))
                    }
                    None => Some(Move::Misuse("mbarrier-uninitialized", next)),
                }
            }
            Control::Object { object, action, event, result } => {
                self.operate(state, thread, *object, *action, *event, *result)
            }
        }
    }

    /// Whether all threads of the cluster that have not exited have arrived so often.
    fn cluster_complete(&self, state: &State, thread: usize, times: usize) -> bool {
        let cluster = self.program.threads[thread].cluster;
        (0..state.done.len())
            .filter(|&other| self.program.threads[other].cluster == cluster)
            .all(|other| state.exited[other] || state.cluster_arrivals[other] >= times)
    }

    fn operate(
        &self,
        state: &State,
        thread: usize,
        object: usize,
        action: Action,
        event: usize,
        result: Option<bool>,
    ) -> Option<Move> {
        let mut next = advanced(state, thread);
        let initialized = state.lives[object];
        let Some(live) = &mut next.objects[object] else {
            let Action::Init(count) = action else {
                return Some(Move::Misuse("mbarrier-uninitialized", next));
            };
            next.phases.insert(event, Phase { life: initialized, number: 0 });
            if !(1..TX_LIMIT).contains(&count) {
                return Some(Move::Misuse("mbarrier-count", next));
            }
            next.objects[object] = Some(Live { phase: 0, pending: count, expected: count, tx: 0 });
            return Some(self.to(next));
        };
        let phase = live.phase;
        match action {
            Action::Init(_) => return Some(Move::Misuse("mbarrier-data-access", next)),
            Action::Inval => {
                next.objects[object] = None;
                next.lives[object] += 1;
            }
            Action::Wait { parity, test } => {
                let done = phase.rem_euclid(2) != parity;
                // `try_wait` may give up; `test_wait` is false only if the phase is not complete (2.3).
                let possible = match result {
                    Some(false) => !(test && done),
                    _ => done,
                };
                if !possible {
                    return None;
                }
                if result != Some(false) {
                    next.phases.insert(event, Phase { life: initialized, number: phase - 1 });
                }
                return Some(self.to(next));
            }
            Action::ExpectTx(bytes) => live.tx += bytes,
            Action::CompleteTx(bytes) => live.tx -= bytes,
            Action::Arrive { count, expect } => {
                live.tx += expect;
                live.pending -= count;
            }
            Action::ArriveDrop(count) => {
                live.expected -= count;
                live.pending -= count;
            }
        }
        next.phases.insert(event, Phase { life: initialized, number: phase });
        let empty = matches!(action, Action::Arrive { count: 0, .. } | Action::ArriveDrop(0));
        let breaks = next.objects[object]
            .as_mut()
            .is_some_and(|live| !valid(live, !matches!(action, Action::ExpectTx(_))));
        if empty || breaks {
            return Some(Move::Misuse("mbarrier-count", next));
        }
        Some(self.to(next))
    }

    /// A pending completion takes effect.
    fn complete(&self, state: &State, at: usize) -> Move {
        let mut next = state.clone();
        let (event, object, bytes) = next.pending.remove(at);
        let Some(live) = &mut next.objects[object] else {
            return Move::Misuse("mbarrier-uninitialized", next);
        };
        next.phases.insert(event, Phase { life: state.lives[object], number: live.phase });
        match bytes {
            Some(bytes) => live.tx -= bytes,
            None => live.pending -= 1,
        }
        if !valid(live, true) {
            return Move::Misuse("mbarrier-count", next);
        }
        self.to(next)
    }
}

/// Completes the phase if nothing is outstanding (1.5); false if a count leaves its range.
fn valid(live: &mut Live, may_complete: bool) -> bool {
    if live.pending < 0 || live.tx.abs() >= TX_LIMIT {
        return false;
    }
    if may_complete && live.pending == 0 && live.tx == 0 {
        live.phase += 1;
        live.pending = live.expected;
    }
    true
}
