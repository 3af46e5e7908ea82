//! mbarrier objects: words in the shared memory of a CTA, which operations change one after the other.
//!
//! An operation takes effect when it is issued, in its own CTA and in others of its cluster. That of a copy takes effect when the
//! copy has been written.

use model::isa::Reg;
use model::isa::asynchronous::AwaitedPhase;
use model::memory::{Extent, MBARRIER_BYTES, Space};
use model::program::{Program, ThreadId};
use model::value::Value;

use super::Machine;
use super::options::Variant;
use super::state::State;
use super::step::{Step, StepVisitor};
use super::table::Change;
use execution::layout::Layout;

/// The bound of counts and of tx-counts (9.7.15.16).
pub(super) const MOST: i64 = 1 << 20;

/// What marks the state of an object that an arrival returns; the phase is added.
const TOKEN: Value = 0x6d62_6172_0000_0000;

/// What an object holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct ObjectWord {
    pub(super) phase: u32,
    pub(super) pending: i64,
    pub(super) expected: i64,
    pub(super) tx: i64,
}

/// What is done with an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum ObjectStep {
    Init { count: i64 },
    Invalidate,
    Expect(i64),
    Complete(i64),
    Increment,
    Arrive { count: i64, expected: i64, drops: bool, completes: bool, state: Option<Reg> },
    Wait { phase: AwaitedOperand, tries: bool, done: Option<Reg> },
}

/// What a wait compares the phase with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum AwaitedOperand {
    Parity(bool),
    State(Value),
}

impl AwaitedOperand {
    pub(super) fn of(phase: AwaitedPhase, value: impl Fn(model::isa::Operand) -> Value) -> Self {
        match phase {
            AwaitedPhase::Parity(of) => AwaitedOperand::Parity(value(of) & 1 == 1),
            AwaitedPhase::State(of) => AwaitedOperand::State(value(of)),
        }
    }
}

/// An operation with the bytes of its object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct ObjectRequest {
    pub(super) at: Extent,
    pub(super) step: ObjectStep,
}

impl ObjectStep {
    /// The arrival of `cp.async.mbarrier.arrive`.
    pub(super) const ARRIVAL: ObjectStep =
        ObjectStep::Arrive { count: 1, expected: 0, drops: false, completes: true, state: None };
}

impl ObjectWord {
    /// After an operation that is not a wait; `None` where it has no meaning.
    fn after(self, step: ObjectStep) -> Option<ObjectWord> {
        let mut next = self;
        let (ends, may_end) = match step {
            ObjectStep::Init { .. } | ObjectStep::Invalidate | ObjectStep::Wait { .. } => {
                return Some(self);
            }
            ObjectStep::Expect(bytes) => {
                next.tx += bytes;
                (false, true)
            }
            ObjectStep::Complete(bytes) => {
                next.tx -= bytes;
                (true, true)
            }
            ObjectStep::Increment => {
                next.pending += 1;
                (false, true)
            }
            ObjectStep::Arrive { count, expected, drops, completes, .. } => {
                next.tx += expected;
                next.pending -= count;
                next.expected -= if drops { count } else { 0 };
                (true, completes)
            }
        };
        if next.pending < 0 || next.expected < 0 || next.tx.abs() >= MOST {
            return None;
        }
        if ends && next.pending == 0 && next.tx == 0 {
            next.phase += 1;
            next.pending = next.expected;
            return may_end.then_some(next);
        }
        Some(next)
    }

    /// Whether the phase that is waited for is complete; `None` where there is no such phase.
    fn has_completed(self, phase: AwaitedOperand) -> Option<bool> {
        match phase {
            AwaitedOperand::Parity(parity) => Some((self.phase & 1 == 1) != parity),
            AwaitedOperand::State(token) => {
                let since = u32::try_from(token.checked_sub(TOKEN)?).ok()?;
                (self.phase.checked_sub(since)? <= 1).then_some(self.phase == since + 1)
            }
        }
    }
}

/// Where objects may be: the first byte of each, by location.
pub(super) fn slots(program: &Program, layout: &Layout) -> Vec<(u16, u32)> {
    let mut locations: Vec<u16> = Vec::new();
    let mut anywhere = false;
    for (thread, of) in (0..).zip(&program.threads) {
        for object in of.lines.iter().filter_map(|line| line.instruction.object()) {
            match program.variable_of(ThreadId(thread), object.address) {
                Some((variable, thread)) => {
                    let object = layout.object(variable, thread);
                    locations.push(layout.virtuals[usize::from(object)].location);
                }
                None => anywhere = true,
            }
        }
    }
    let all = (0_u16..).zip(&layout.locations).filter(|(index, of)| {
        let variable = &program.variables[usize::from(of.variable.0)];
        variable.space == Space::Shared
            && (!of.mbarriers.is_empty() || anywhere || locations.contains(index))
    });
    let starts = all.flat_map(|(index, of)| {
        let objects = u32::try_from(of.initial.len()).unwrap_or(0) / MBARRIER_BYTES;
        (0..objects).map(move |object| (index, object * MBARRIER_BYTES))
    });
    starts.collect()
}

impl Machine<'_> {
    /// The number of the object at these bytes.
    pub(super) fn slot(&self, at: Extent) -> Option<u8> {
        let index = self.objects.iter().position(|object| *object == (at.object, at.start))?;
        u8::try_from(index).ok()
    }

    pub(super) fn object(&self, state: &State, slot: u8) -> Option<ObjectWord> {
        self.tables.objects.list[usize::from(self.shape.object(state, slot))]
    }

    pub(super) fn set_object(&mut self, state: &mut State, slot: u8, object: Option<ObjectWord>) {
        let id = u8::try_from(self.tables.objects.intern(&object)).unwrap_or_else(|_| {
            self.tables.overflow = Some("more than 256 states of mbarrier objects");
            0
        });
        self.shape.set_object(state, slot, id);
    }

    /// Does an operation that is not a wait. One without meaning is a fault of its thread at this line.
    pub(super) fn operate(
        &mut self,
        state: &mut State,
        (thread, line): (usize, u16),
        slot: u8,
        step: ObjectStep,
    ) {
        if let ObjectStep::Init { count } = step {
            let new = ObjectWord { phase: 0, pending: count, expected: count, tx: 0 };
            return self.set_object(state, slot, Some(new));
        }
        let after = self.object(state, slot).and_then(|object| object.after(step));
        match (after, step) {
            (None, _) => self.change(state, thread, Change::Fault { line }),
            (Some(_), ObjectStep::Invalidate) => self.set_object(state, slot, None),
            (Some(_), _) => self.set_object(state, slot, after),
        }
    }

    /// A thread's operation on an object.
    pub(super) fn issue_object(
        &mut self,
        state: &State,
        thread: usize,
        slot: u8,
        step: ObjectStep,
        visit: StepVisitor<'_>,
    ) {
        let known = self.known(state, thread);
        let (line, fenced) = (known.local.pc, known.local.fenced.is_some());
        if self.has(Variant::InOrder) && !known.idle {
            return;
        }
        let t = Self::small(thread);
        let object = self.object(state, slot);
        if let ObjectStep::Wait { phase, tries, done } = step {
            let complete = object.and_then(|object| object.has_completed(phase));
            let Some(complete) = complete else {
                let mut next = self.copy(state);
                self.change(&mut next, thread, Change::Fault { line });
                return self.emit(Step::Issue { thread: t, line, hit: false }, next, visit);
            };
            // `try_wait` may return after a time whatever the phase is.
            for result in [true, false] {
                if complete == result || tries && !result {
                    let mut next = self.copy(state);
                    self.change(&mut next, thread, Change::Tested { done, result });
                    self.emit(Step::Test { thread: t, line, complete: result }, next, visit);
                }
            }
            return;
        }
        // Only loads go past a MEMBAR.ALL.
        if fenced {
            return;
        }
        let mut next = self.copy(state);
        let token = object.map_or(0, |object| TOKEN + Value::from(object.phase));
        if let ObjectStep::Arrive { state: Some(register), .. } = step {
            self.change(&mut next, thread, Change::Set { register, value: token });
        }
        self.change(&mut next, thread, Change::Advance);
        self.operate(&mut next, (thread, line), slot, step);
        self.emit(Step::Issue { thread: t, line, hit: false }, next, visit);
    }
}
