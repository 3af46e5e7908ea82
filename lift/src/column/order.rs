//! Fences and barriers of a column: the promises of its sequences of instructions.

use machine::form::{Family, LoweredInstruction, MachineOp};
use model::isa::Instruction;
use model::isa::bar::{Barrier, BarrierKind, ClusterBarrierKind};
use model::isa::fence::{Fence, FenceOrder};
use model::scope::Scope;

use super::{ColumnCell, ColumnReader, SupportResult, unsupported};
use sass::form;
use sass::opcode::{Class, class};
use sass::promise::{self, OrderingWord, Promise, Promised};
use sass::syntax;

fn lowered(forms: &[MachineOp]) -> LoweredInstruction {
    LoweredInstruction { forms: forms.to_vec(), fused: None }
}

/// `LDC`, which every thread may do at any time.
fn is_constant(instruction: &syntax::Instruction<'_>) -> bool {
    matches!(instruction.opcode.text, "LDC" | "LDCU" | "ULDC")
}

/// Words one behind the other, each with its cell, and their guard: negated or not, and of which predicate.
#[derive(Default)]
struct WordRun {
    words: Vec<(usize, OrderingWord)>,
    guard: Option<(bool, syntax::Register)>,
}

impl WordRun {
    /// Ends the run: what each of its cells promises.
    fn end(&mut self, promises: &mut [Vec<Promised>]) {
        let run = std::mem::take(self);
        let words: Vec<OrderingWord> = run.words.iter().map(|(_, word)| *word).collect();
        for one in promise::promised(&words) {
            promises[run.words[one.word].0].push(one);
        }
    }
}

/// What each cell promises. Words are one behind the other where no label, no branch and no other guard is between
/// them; what touches no memory may stand there, unless it could change the guard (reading R102).
pub(super) fn promises(cells: &[ColumnCell<'_>], family: Family) -> Vec<Vec<Promised>> {
    let mut promises = vec![Vec::new(); cells.len()];
    let mut run = WordRun::default();
    for (index, cell) in cells.iter().enumerate() {
        if !cell.labels.is_empty() {
            run.end(&mut promises);
        }
        let Some(instruction) = &cell.instruction else { continue };
        let guard = match instruction.guard {
            // `@!PT`: in no thread.
            Some(guard) if guard.predicate.number.is_none() && guard.negated => continue,
            Some(guard) if guard.predicate.number.is_some() => {
                Some((guard.negated, guard.predicate))
            }
            Some(_) | None => None,
        };
        let class = class(instruction.opcode.text);
        match class {
            Some(Class::ErrorBarrier | Class::Nothing | Class::Depbar) => continue,
            Some(Class::Arithmetic | Class::Special) if run.guard.is_none() => continue,
            Some(Class::Load) if run.guard.is_none() && is_constant(instruction) => continue,
            _ => {}
        }
        let form = form::of(instruction, Some(family)).ok().flatten();
        let atomic = matches!(class, Some(Class::Atomic | Class::Reduction));
        let word = form.and_then(|form| OrderingWord::of(form, atomic));
        if word.is_none() || guard != run.guard {
            run.end(&mut promises);
        }
        let Some(word) = word else { continue };
        run.guard = guard;
        run.words.push((index, word));
        if form::drops_lines(&instruction.name()) {
            run.words.push((index, OrderingWord::Invalidate));
        }
    }
    run.end(&mut promises);
    promises
}

impl ColumnReader<'_> {
    fn fenced(&mut self, order: FenceOrder, scope: Scope, forms: &[MachineOp]) {
        self.emit(Instruction::Fence(Fence { order, scope }), lowered(forms));
    }

    /// Reading R100: what waits for a load's scoreboard.
    pub(super) fn acquire_wait(&mut self) {
        self.fenced(FenceOrder::Acquire, Scope::Cta, &[MachineOp::AcquireWait]);
    }

    /// `MEMBAR`, `CCTL`, `UCGABAR`.
    pub(super) fn fence(&mut self) -> SupportResult<()> {
        let promises = std::mem::take(&mut self.promises[self.cell]);
        if promises.is_empty() {
            return unsupported("the machine does not model it");
        }
        for Promised { promise, lowered, .. } in promises {
            let kind = match promise {
                Promise::Fence(order, scope) => {
                    self.emit(Instruction::Fence(Fence { order, scope }), lowered);
                    continue;
                }
                Promise::ClusterArrive => ClusterBarrierKind::ArriveRelaxed,
                Promise::ClusterWait { acquires: true } => ClusterBarrierKind::Wait,
                // Reading R99: the model has no wait without an acquire.
                Promise::ClusterWait { acquires: false } => {
                    return unsupported("a wait of the cluster without `CCTL.IVALL` after it");
                }
                Promise::Access | Promise::AcqRel | Promise::Bar => {
                    return unsupported("the machine does not model it");
                }
            };
            if !self.family.has_clusters() {
                return unsupported("clusters exist only on sm_90 and later");
            }
            self.emit(Instruction::ClusterBarrier(kind.unaligned()), lowered);
        }
        Ok(())
    }

    /// What the access of this cell promises beyond its level, and what the machine does there.
    pub(super) fn access(&mut self) -> Option<Promised> {
        self.promises[self.cell].pop()
    }

    pub(super) fn barrier(&mut self, instruction: &syntax::Instruction<'_>) -> SupportResult<()> {
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
            return unsupported("an arrival without the number of threads that take part");
        }
        let barrier = Barrier { kind, id, count, instance: None, aligned: false };
        self.emit(Instruction::Barrier(barrier), lowered(&[MachineOp::Bar]));
        Ok(())
    }
}
