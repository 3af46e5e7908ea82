//! Fences and barriers of a column: the orders that sequences of its instructions promise.

use machine::form::{Family, LoweredInstruction, MachineOp};
use model::isa::alu::AluOp;
use model::isa::bar::{Barrier, BarrierKind, ClusterBarrierKind, MOST_CTA_THREADS};
use model::isa::fence::{Fence, FenceOrder};
use model::isa::{Instruction, Operand, Type};
use model::scope::Scope;

use super::{ColumnCell, ColumnReader, SupportResult, unsupported};
use sass::form;
use sass::opcode::{Class, class};
use sass::promise::{self, OrderingWord, Promise, Promised, WordAccess};
use sass::syntax;

fn lowered(forms: &[MachineOp]) -> LoweredInstruction {
    LoweredInstruction { forms: forms.to_vec(), fused: None }
}

/// Whether the instruction is an `LDC`, which a thread may execute at any time.
fn is_constant(instruction: &syntax::Instruction<'_>) -> bool {
    matches!(instruction.opcode.text, "LDC" | "LDCU" | "ULDC")
}

/// A sequence of ordering instructions, each with the index of its cell, and their common guard: whether it is
/// negated, and its predicate.
#[derive(Default)]
struct WordRun {
    words: Vec<(usize, OrderingWord)>,
    guard: Option<(bool, syntax::Register)>,
}

impl WordRun {
    /// Ends the sequence and records the promises of each of its cells.
    fn end(&mut self, promises: &mut [Vec<Promised>]) {
        let run = std::mem::take(self);
        let words: Vec<OrderingWord> = run.words.iter().map(|(_, word)| *word).collect();
        for one in promise::promised(&words) {
            promises[run.words[one.word].0].push(one);
        }
    }
}

/// The promises of each cell. A label, a branch or a different guard ends a sequence of ordering instructions.
/// Instructions that access no memory may stand between them, unless they could change the guard (reading
/// R102).
pub(super) fn promises(cells: &[ColumnCell<'_>], family: Family) -> Vec<Vec<Promised>> {
    let mut promises = vec![Vec::new(); cells.len()];
    let mut run = WordRun::default();
    for (index, cell) in cells.iter().enumerate() {
        if !cell.labels.is_empty() {
            run.end(&mut promises);
        }
        let Some(instruction) = cell.instruction.as_ref().filter(|_| !cell.unordered) else {
            continue;
        };
        let guard = match instruction.guard {
            // `@!PT`: no thread executes it.
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
        let access = match class {
            Some(Class::Atomic) => WordAccess::Atomic,
            Some(Class::Reduction) => WordAccess::Reduction,
            _ => WordAccess::Single,
        };
        let word = form.and_then(|form| OrderingWord::of(form, access));
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
        self.emit(Instruction::Fence(Fence { order, scope, aliases: false }), lowered(forms));
    }

    /// Reading R100: a wait for the scoreboard of a load.
    pub(super) fn acquire_wait(&mut self) {
        self.fenced(FenceOrder::Acquire, Scope::Cta, &[MachineOp::AcquireWait]);
    }

    /// Translates `MEMBAR`, `CCTL` and `UCGABAR`.
    pub(super) fn fence(&mut self) -> SupportResult<()> {
        let promises = std::mem::take(&mut self.promises[self.cell]);
        if promises.is_empty() {
            return unsupported("the machine does not model it");
        }
        for Promised { promise, lowered, .. } in promises {
            let kind = match promise {
                Promise::Fence(order, scope) => {
                    self.emit(Instruction::Fence(Fence { order, scope, aliases: false }), lowered);
                    continue;
                }
                Promise::ClusterArrive => ClusterBarrierKind::ArriveRelaxed,
                Promise::ClusterWait { acquires: true } => ClusterBarrierKind::Wait,
                // Reading R99: in the model, every wait acquires.
                Promise::ClusterWait { acquires: false } => {
                    return unsupported("a wait of the cluster without `CCTL.IVALL` after it");
                }
                Promise::Access
                | Promise::AcqRel
                | Promise::Release
                | Promise::Acquire
                | Promise::Bar => {
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

    /// The promise of the access in this cell in addition to its level, with the operations of the machine.
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
            [] => (Operand::Imm(0), None),
            [id] => (self.source(id)?, None),
            // Both in one register: the count from bit 16 on, and the id in the lowest 4 bits.
            [id, count] if id.register().is_some() && id.register() == count.register() => {
                let both = self.source(id)?;
                let id = [both, Operand::Imm(0xf)];
                let id = self.computed(AluOp::And, Type::U32, &id);
                let count = [both, Operand::Imm(16)];
                (id, Some(self.computed(AluOp::Shr, Type::U32, &count)))
            }
            [id, count] => (self.source(id)?, Some(self.source(count)?)),
            _ => return unsupported("a barrier of this form"),
        };
        if kind == BarrierKind::Arrive && count.is_none() {
            return unsupported("an arrival without the number of threads that take part");
        }
        if let Some(Operand::Imm(count)) = count
            && !(1..=MOST_CTA_THREADS).contains(&count)
        {
            return unsupported("a count of no threads, or of more than a CTA has");
        }
        let barrier = Barrier { kind, id, count, instance: None, aligned: false, warp: false };
        self.emit(Instruction::Barrier(barrier), lowered(&[MachineOp::Bar]));
        Ok(())
    }
}
