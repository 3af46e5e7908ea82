//! Loops that return to the same state. Reading R50.
//!
//! An iteration can be repeated for ever, and omitted, if it changes nothing: it has no barrier, its live registers
//! are unchanged, and it writes nothing, or only values that memory already has.

use super::state::PathState;
use super::{Assumption, Next, PathEnd, Walk};
use crate::expr::{Expr, ExprId};
use model::isa::alu::{AluOp, Comparison};
use model::isa::{Type, TypeKind};

impl Walk<'_> {
    pub(super) fn jump(&mut self, state: &mut PathState, target: usize) -> Next {
        self.note_branch(state, target, true);
        if target <= state.pc && target < state.visits.len() {
            // An iteration that changes nothing and meets no barrier and comes back with the same
            // live registers, which depend on no less, can be left out: what remains is a path too,
            // with fewer events and dependencies and so with every outcome of this one.
            let back = (&state.registers[..], &state.taint[..]);
            let covers = |head: &&super::LoopHead| {
                head.line == target
                    && head.passed_over == state.passed_over
                    && self.live.covers(target, (&head.registers, &head.taint), back)
            };
            // The latest: of fewer writes it takes less that they change nothing.
            let from = state.heads.iter().rfind(covers).map(|head| head.events);
            if let Some((from, kept)) = from.and_then(|from| Some((from, kept(state, from)?))) {
                let index = |of: usize| u16::try_from(of).expect("paths and threads are short");
                let end = PathEnd::Spins { from: index(from), line: index(state.pc) };
                let mut spinning = state.clone();
                spinning.checks.extend(kept.iter().map(|&kept| Assumption::Truth(kept, true)));
                self.finish(spinning, end);
                // Where an iteration may make the program undefined, its repetitions count too.
                if self.is_harmless(state, from) && self.is_agreed(state, from) {
                    let state = std::mem::replace(state, PathState::empty());
                    self.changed(&state, &kept, target);
                    return Next::Stop;
                }
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

    /// Goes back to `target`; false where it has been there as often as the bound allows.
    fn again(&self, state: &mut PathState, target: usize) -> bool {
        state.pc = target;
        state.visits[target] += 1;
        state.visits[target] < self.bound
    }

    /// Goes on where the first of these writes that is none of what is there is each of them.
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
        self.live.sizes_agree() && !state.events[from..].iter().any(|event| read_only(event.line))
    }

    /// Whether nobody races with the writes of the path from this event on.
    fn is_agreed(&self, state: &PathState, from: usize) -> bool {
        state.events[from..].iter().filter(|event| event.value.is_some()).all(|event| {
            let access = event.access.expect("a write accesses bytes");
            let of = &self.layout.virtuals[usize::from(access.va.object)];
            self.agreed.get(usize::from(of.variable.0)).is_some_and(Option::is_some)
        })
    }

    /// Whether each read can return one of the values that its variable ever holds, where they are
    /// known, as far as the checks that are of this read alone go.
    fn has_values(&self, state: &PathState) -> bool {
        (0u16..).zip(&state.events).filter(|(_, event)| event.value.is_none()).all(
            |(read, event)| {
                let Some(access) = event.access else { return true };
                let of = &self.layout.virtuals[usize::from(access.va.object)];
                let agreed = self.agreed.get(usize::from(of.variable.0)).and_then(Option::as_ref);
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

/// What has to hold that each write from this event on is one of what is there, as far as it is open;
/// `None` where one is not. Only atomics write since a head.
fn kept(state: &mut PathState, from: usize) -> Option<Vec<ExprId>> {
    let mut open = Vec::new();
    for at in from..state.events.len() {
        let event = &state.events[at];
        let Some(value) = event.value else { continue };
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
