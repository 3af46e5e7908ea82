//! Loops that return to the same state. Reading R50.
//!
//! An iteration can be repeated for ever, and omitted, if it changes nothing: its live registers are unchanged, and it
//! writes nothing, or only values that memory already has, or only what no other thread accesses and what the next
//! iteration overwrites before it looks at it. One with barriers can be if all who take part in them are in
//! such an iteration, which is looked at in [`crate::unfold`].

use std::collections::BTreeSet;
use std::ops::Range;

use super::state::{LoopHead, PathState};
use super::{Assumption, Next, PathEnd, Walk};
use crate::event::{EventKind, PathEvent, Resource};
use crate::expr::{Expr, ExprId};
use crate::rewritten::is_rewritten;
use model::isa::alu::{AluOp, Comparison};
use model::isa::{Type, TypeKind};
use model::program::CountedLoops;

/// An iteration that has barriers and changes nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Round {
    /// Its first event.
    pub from: u16,
    /// The event after it.
    pub end: u16,
    /// The line to which it goes back.
    pub head: u16,
    /// Whether it writes what other threads of its CTA may see, and do not look at afterwards: see the module `rewritten`.
    pub rewrites: bool,
}

/// An iteration that changes nothing if what is open of that holds.
struct Repeated {
    kept: Vec<ExprId>,
    /// As of a [`Round`].
    rewrites: bool,
}

impl Round {
    pub fn events(&self) -> Range<usize> {
        self.from.into()..self.end.into()
    }
}

impl Walk<'_> {
    pub(super) fn jump(&mut self, state: &mut PathState, target: usize) -> Next {
        self.note_branch(state, target, true);
        if target <= state.pc && self.live.loops() {
            if self.is_impossible(state) {
                return Next::Stop;
            }
            let from = self.same_state(state, target);
            if from.is_some_and(|from| self.leaves_out(state, from, target)) {
                return Next::Stop;
            }
            if !self.again(state, target) {
                let cut = std::mem::replace(state, PathState::empty());
                self.finish(cut, PathEnd::Cut);
                return Next::Stop;
            }
        }
        state.pc = target;
        Next::Go
    }

    /// Whether the path ends before this load, since it was there in the same state. What a loop has loaded is live at its
    /// head if it is looked at there, and is not before it is loaded again.
    pub(super) fn comes_back(&mut self, state: &mut PathState) -> bool {
        let from = self.same_state(state, state.pc);
        let from = from.filter(|&from| self.writes_nothing(state, from, state.pc));
        from.is_some_and(|from| self.leaves_out(state, from, state.pc))
    }

    /// How many events there were when the path was at `target` last, if its live registers were the same and depended on no
    /// more: an iteration that changes nothing since then can be left out. What remains is a path too, with fewer events
    /// and dependencies and so with every outcome of this one.
    fn same_state(&self, state: &PathState, target: usize) -> Option<usize> {
        let back = (&state.registers[..], &state.taint[..]);
        let covers = |head: &&LoopHead| {
            head.line == target
                && head.passed_over == state.passed_over
                && self.live.covers(target, (&head.registers, &head.taint), back)
        };
        // The latest: of fewer writes it takes less that they change nothing.
        state.heads.iter().rfind(covers).map(|head| head.events)
    }

    /// Notes that the path may repeat for ever what it has done since event `from`; whether that can be left out.
    fn leaves_out(&mut self, state: &mut PathState, from: usize, target: usize) -> bool {
        let index = |of: usize| u16::try_from(of).expect("paths and threads are short");
        let end = PathEnd::Spins { from: index(from), line: index(state.pc) };
        if state.events[from..].iter().any(|of| of.barrier.is_some()) {
            let apart = state.rounds.last().is_none_or(|round| usize::from(round.end) <= from);
            let Some(most) = self.loops.rounds.filter(|_| apart) else { return false };
            let Some(Repeated { kept, rewrites }) = self.round(state, from, target) else {
                return false;
            };
            self.changed(state, &kept, target);
            state.checks.extend(kept.iter().map(|&kept| Assumption::Truth(kept, true)));
            state.rounds.push(Round {
                from: index(from),
                end: index(state.events.len()),
                head: index(target),
                rewrites,
            });
            self.finish(state.clone(), end);
            let ends = state.rounds.len() >= most;
            if ends {
                *state = PathState::empty();
            }
            return ends;
        }
        let seen = self.seen_writes(state, from, target);
        let Some(kept) = Self::kept(state, &seen) else { return false };
        let mut spinning = state.clone();
        spinning.checks.extend(kept.iter().map(|&kept| Assumption::Truth(kept, true)));
        self.finish(spinning, end);
        // Where an iteration may make the program undefined, its repetitions count too.
        let ends = self.loops.omits
            && self.is_harmless(state, from)
            && state.events[from..].iter().all(|event| self.is_agreed(event));
        if ends {
            let mut state = std::mem::replace(state, PathState::empty());
            self.changed(&state, &kept, target);
            if state.silent < self.loops.silent {
                state.silent += 1;
                state.pc = target;
                state.step += 1;
                state.checks.extend(kept.iter().map(|&kept| Assumption::Truth(kept, true)));
                // The next iteration is compared with the state of its own beginning.
                state.heads.clear();
                self.pending.push(state);
            }
        }
        ends
    }

    /// Goes back to `target`; false where it has been there as often as the bound allows.
    fn again(&mut self, state: &mut PathState, target: usize) -> bool {
        let from = state.visits.get(&target).map_or(0, |visits| visits.events);
        let counted = self.loops.counted == CountedLoops::Complete
            && (self.is_counted(state, target) || self.counts(state, from));
        state.pc = target;
        let visits = state.visits.entry(target).or_default();
        visits.times += 1;
        visits.decisions = state.decisions.len();
        visits.events = state.events.len();
        let beside = state.rounds.len() + state.silent as usize;
        let allowed = (visits.times as usize) < self.loops.bound as usize + beside;
        self.is_beyond |= counted && !allowed;
        counted || allowed
    }

    /// Whether no read decides that a thread at its jump back to `target` is in the loop still.
    fn is_counted(&self, state: &PathState, target: usize) -> bool {
        let lines = &self.program.threads[usize::from(self.thread.0)].lines;
        let body = target..=state.pc;
        let before = state.visits.get(&target).map_or(0, |visits| visits.decisions);
        let since = state.decisions[before..].iter();
        let leaves = |line: usize| {
            let branch = lines[line].instruction.as_branch();
            branch.is_some_and(|branch| !body.contains(&branch.target) || line == state.pc)
        };
        let mut decided = false;
        since.filter(|of| body.contains(&of.line.into()) && leaves(of.line.into())).all(|of| {
            decided = true;
            !of.depends
        }) && decided
    }

    /// The iteration with barriers from this event on, if it may change nothing, and leaving it out hides nothing. Some of its writes
    /// its thread might see alone, and does not from `target` on; some the threads of its CTA, which go through it together, and do
    /// not look at them either; the others write what is there.
    fn round(&self, state: &mut PathState, from: usize, target: usize) -> Option<Repeated> {
        if !self.is_harmless(state, from) || !are_passed(&state.events[from..]) {
            return None;
        }
        let (program, layout, accessed) = (self.program, self.layout, &self.facts.accessed);
        // A thread that has left the loop may still look at what is written, where its exit orders nothing.
        let rewritten = |at: &usize| {
            let access = state.events[*at].access.filter(|_| !self.conventions.exits_order_nothing);
            access.is_some_and(|access| {
                is_rewritten(program, layout, accessed, self.thread, target, access.pa)
            })
        };
        let seen = self.seen_writes(state, from, target);
        let (rewritten, others): (Vec<usize>, Vec<usize>) = seen.into_iter().partition(rewritten);
        let agreed = others.iter().all(|&at| self.is_agreed(&state.events[at]));
        let kept = Self::kept(state, &others).filter(|_| agreed)?;
        Some(Repeated { kept, rewrites: !rewritten.is_empty() })
    }

    /// Whether each write from this event on is one that only its thread might see, and does not from `target` on.
    fn writes_nothing(&self, state: &PathState, from: usize, target: usize) -> bool {
        self.seen_writes(state, from, target).is_empty()
    }

    /// The other writes from this event on.
    fn seen_writes(&self, state: &PathState, from: usize, target: usize) -> Vec<usize> {
        let events = (from..).zip(&state.events[from..]);
        let seen =
            events.filter(|(_, event)| event.value.is_some() && !self.is_unseen(event, target));
        seen.map(|(at, _)| at).collect()
    }

    fn is_unseen(&self, event: &PathEvent, target: usize) -> bool {
        event.access.is_some_and(|access| self.live.is_overwritten(target, access.pa))
    }

    /// What has to hold that each of these writes is one of what is there, as far as it is open; `None` where one is not. Only
    /// atomics may be.
    fn kept(state: &mut PathState, writes: &[usize]) -> Option<Vec<ExprId>> {
        let mut open = Vec::new();
        for &at in writes {
            let event = &state.events[at];
            let value = event.value?;
            let read = event.rmw?;
            let bits = u16::try_from(8 * event.access?.va.length).ok()?;
            let ty = Type { kind: TypeKind::Unsigned, bits };
            let old = state.exprs.intern(Expr::Read(read));
            let kept = state.exprs.alu(AluOp::Setp(Comparison::Eq), ty, &[value, old]);
            match state.truth(kept) {
                Some(true) => {}
                Some(false) => return None,
                None => open.push(kept),
            }
        }
        Some(open)
    }

    /// Goes on once for each of these writes, as the first that differs from what is there.
    fn changed(&mut self, state: &PathState, kept: &[ExprId], target: usize) {
        for (at, &changed) in kept.iter().enumerate() {
            let mut other = state.clone();
            other.checks.extend(kept[..at].iter().map(|&kept| Assumption::Truth(kept, true)));
            other.checks.push(Assumption::Truth(changed, false));
            // No iteration from before is one that changes nothing.
            other.heads.clear();
            if !self.has_values(&other) {
                continue;
            }
            if self.again(&mut other, target) {
                other.step += 1;
                self.pending.push(other);
            } else {
                self.finish(other, PathEnd::Cut);
            }
        }
    }

    /// Whether the accesses from this event on hide nothing that makes the program undefined if they are left out: no
    /// race between accesses of different sizes, no load of data that must be read-only.
    fn is_harmless(&self, state: &PathState, from: usize) -> bool {
        let lines = &self.program.threads[usize::from(self.thread.0)].lines;
        let read_only = |line: u16| lines[usize::from(line)].instruction.loads_read_only_data();
        state.events[from..].iter().all(|event| {
            let whole = event.access.is_none_or(|access| {
                let variable = self.layout.locations[usize::from(access.pa.object)].variable;
                self.facts.sizes.overlap_completely(self.program, variable, access.pa)
            });
            whole && !read_only(event.line)
        })
    }

    /// Whether nobody races with this event if it is a write.
    fn is_agreed(&self, event: &PathEvent) -> bool {
        event.value.is_none()
            || event.access.is_some_and(|access| self.facts.agreed.of(access.pa).is_some())
    }

    /// Whether each read can return one of the values that its variable ever holds, where they are
    /// known, as far as the checks that are of this read alone go.
    fn has_values(&self, state: &PathState) -> bool {
        (0u16..).zip(&state.events).filter(|(_, event)| event.value.is_none()).all(
            |(read, event)| {
                let Some(access) = event.access else { return true };
                let agreed = self.facts.agreed.of(access.pa);
                let Some(values) = agreed.and_then(|agreed| agreed.values.as_ref()) else {
                    return true;
                };
                values.iter().any(|&returned| {
                    state.checks.iter().all(|check| {
                        let value = state.exprs.eval(check.expr(), &mut |leaf| {
                            (leaf == Expr::Read(read)).then_some(returned)
                        });
                        value.is_none_or(|value| check.holds(value))
                    })
                })
            },
        )
    }
}

/// Whether each arrival at a barrier is waited for before there is another one, so that its generation is complete. How many
/// have arrived at a barrier that counts them is shared with others, so that it is not a place for iterations that change nothing.
fn are_passed(events: &[PathEvent]) -> bool {
    let mut arrived: BTreeSet<Resource> = BTreeSet::new();
    let passed = events.iter().filter_map(|of| Some((of.kind, of.barrier?))).all(|(kind, used)| {
        used.waits_for_all()
            && if kind == EventKind::Arrive {
                arrived.insert(used.resource)
            } else {
                arrived.remove(&used.resource)
            }
    });
    passed && arrived.is_empty()
}
