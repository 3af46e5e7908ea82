//! Fences and barriers of a column: `MEMBAR` and `CCTL` are one fence where nothing stands between.

use model::isa::Instruction;
use model::isa::bar::{Barrier, BarrierKind, ClusterBarrierKind};
use model::isa::fence::{Fence, FenceOrder};
use model::machine::form::{Family, Form, Lowered, Reach};
use model::scope::Scope;

use super::{Cell, Column, Got, unsupported};
use crate::sass::form;
use crate::sass::opcode::{Class, class};
use crate::sass::syntax as text;

fn lowered(forms: &[Form]) -> Lowered {
    Lowered { forms: forms.to_vec(), fused: None }
}

fn scope(reach: Reach) -> Scope {
    match reach {
        Reach::Cta => Scope::Cta,
        Reach::Gpu => Scope::Gpu,
        Reach::Sys => Scope::Sys,
    }
}

/// `LDC`, which every thread may do at any time.
fn is_constant(instruction: &text::Instruction<'_>) -> bool {
    matches!(instruction.opcode.text, "LDC" | "LDCU" | "ULDC")
}

/// The first cell behind the first that does something, if no label and no other guard is between: how
/// far it is.
fn next<'c, 'a>(cells: &'c [Cell<'a>]) -> Option<(usize, &'c text::Instruction<'a>)> {
    let guard =
        |one: &text::Instruction<'_>| one.guard.map(|guard| (guard.negated, guard.predicate));
    let first = guard(cells[0].instruction.as_ref()?);
    for (index, cell) in cells.iter().enumerate().skip(1) {
        if !cell.labels.is_empty() {
            return None;
        }
        let Some(instruction) = &cell.instruction else { continue };
        match class(instruction.opcode.text) {
            Some(Class::ErrorBarrier | Class::Nothing) => {}
            // What no memory is touched by may stand between, unless it changes the guard.
            Some(Class::Arithmetic | Class::Special) if first.is_none() => {}
            Some(Class::Load) if first.is_none() && is_constant(instruction) => {}
            _ => return Some((index, instruction)).filter(|(_, one)| guard(one) == first),
        }
    }
    None
}

impl Column<'_> {
    fn fenced(&mut self, order: FenceOrder, scope: Scope, forms: &[Form]) {
        self.emit(Instruction::Fence(Fence { order, scope }), lowered(forms));
    }

    /// Reading S5: what waits for a load's scoreboard.
    pub(super) fn acquire_wait(&mut self) {
        self.fenced(FenceOrder::Acquire, Scope::Cta, &[Form::AcquireWait]);
    }

    /// `MEMBAR`, `CCTL`, `UCGABAR`: how many cells they take.
    pub(super) fn fence(
        &mut self,
        instruction: &text::Instruction<'_>,
        cells: &[Cell<'_>],
    ) -> Got<usize> {
        let Ok(Some(form)) = form::of(instruction, Some(self.family)) else {
            return unsupported("the machine does not have it");
        };
        let behind = next(cells);
        let invalidates = behind
            .filter(|(_, one)| form::of(one, Some(self.family)) == Ok(Some(Form::Invalidate)));
        match form {
            Form::Membar(reach) | Form::MembarAll(reach) => {
                let left = cells.len();
                self.membar(instruction, (form, reach), left, behind);
                Ok(1)
            }
            Form::Invalidate => {
                self.fenced(FenceOrder::Acquire, Scope::Sys, &[Form::Invalidate]);
                Ok(1)
            }
            Form::ClusterArrive | Form::ClusterWait if self.family < Family::Hopper => {
                unsupported("clusters are of sm_90 and later")
            }
            Form::ClusterArrive => {
                let barrier =
                    Instruction::ClusterBarrier(ClusterBarrierKind::ArriveRelaxed.unaligned());
                self.emit(barrier, lowered(&[Form::ClusterArrive]));
                Ok(1)
            }
            // Reading S4: the model has no wait without an acquire.
            Form::ClusterWait => match invalidates {
                Some((used, _)) => {
                    let barrier = Instruction::ClusterBarrier(ClusterBarrierKind::Wait.unaligned());
                    self.emit(barrier, lowered(&[Form::ClusterWait, Form::Invalidate]));
                    self.merged.insert(cells.len() - used);
                    Ok(1)
                }
                None => unsupported("a wait of the cluster without `CCTL.IVALL` behind it"),
            },
            Form::Access(_) | Form::AcquireWait | Form::Bar => {
                unsupported("the machine does not have it")
            }
        }
    }

    /// A `MEMBAR` with what completes it; `left` is how many cells there are from it on.
    fn membar(
        &mut self,
        instruction: &text::Instruction<'_>,
        (membar, reach): (Form, Reach),
        left: usize,
        behind: Option<(usize, &text::Instruction<'_>)>,
    ) {
        let all = instruction.has("ALL");
        let order = if all { FenceOrder::AcqRel } else { FenceOrder::Sc };
        if reach == Reach::Cta {
            return self.fenced(order, Scope::Cta, &[membar]);
        }
        let does = |one| form::of(one, Some(self.family));
        match behind.map(|(used, one)| (used, does(one))) {
            _ if instruction.has("IVALLD") => {
                self.fenced(order, scope(reach), &[membar, Form::Invalidate]);
            }
            Some((used, Ok(Some(Form::Invalidate)))) => {
                self.fenced(order, scope(reach), &[membar, Form::Invalidate]);
                self.merged.insert(left - used);
            }
            Some((used, Ok(Some(Form::ClusterArrive)))) if self.family >= Family::Hopper => {
                let barrier =
                    Instruction::ClusterBarrier(ClusterBarrierKind::ArriveRelease.unaligned());
                self.emit(barrier, lowered(&[membar, Form::ClusterArrive]));
                self.merged.insert(left - used);
            }
            _ => {
                self.fenced(FenceOrder::Release, scope(reach), &[membar]);
                // It waits for the thread's loads, too.
                self.fenced(FenceOrder::AcqRel, Scope::Cta, &[Form::MembarAll(Reach::Cta)]);
            }
        }
    }

    pub(super) fn barrier(&mut self, instruction: &text::Instruction<'_>) -> Got<()> {
        let kind = if instruction.has("SYNC") {
            BarrierKind::Sync
        } else if instruction.has("ARV") {
            BarrierKind::Arrive
        } else {
            return unsupported("a barrier other than `.SYNC` and `.ARV`");
        };
        let (id, count) = match &instruction.operands[..] {
            [] => (model::isa::Operand::Imm(0), None),
            [id] => (self.source(id)?, None),
            [id, count] => (self.source(id)?, Some(self.source(count)?)),
            _ => return unsupported("a barrier of this form"),
        };
        if kind == BarrierKind::Arrive && count.is_none() {
            return unsupported("an arrival that does not say how many take part");
        }
        let barrier = Barrier { kind, id, count, instance: None, aligned: false };
        self.emit(Instruction::Barrier(barrier), lowered(&[Form::Bar]));
        Ok(())
    }
}
