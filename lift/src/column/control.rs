//! Control flow: branches, and the convergence of the threads of a warp.
//!
//! A column is one lane, alone in its warp (reading R101), so it continues at convergence points without
//! waiting.

use machine::form::LoweredInstruction;
use model::isa::alu::{AluOp, Branch};
use model::isa::{Guard, Instruction, Operand};

use super::{ColumnCell, ColumnReader, SupportResult, unsupported};
use sass::syntax::{self, Atom, OperandKind, Value};
use text::report::ByteSpan;

/// The label that an operand names, without a leading dot.
fn label(operand: &syntax::Operand<'_>) -> SupportResult<String> {
    let name = match &operand.kind {
        OperandKind::Label(label) => label,
        OperandKind::Value(Value { atom: Atom::Name(name), .. }) => name,
        OperandKind::Value(_) | OperandKind::List(_) | OperandKind::Opaque(_) => {
            return unsupported("a branch to an address");
        }
    };
    Ok(name.trim_start_matches('.').to_owned())
}

impl ColumnReader<'_> {
    pub(super) fn jump(&mut self, label: String, at: ByteSpan) {
        let thread = self.draft.thread(self.thread);
        thread.jumps.push((thread.lines.len(), label, at));
        let branch = Branch { target: usize::MAX, condition: None };
        self.emit(Instruction::Branch(branch), LoweredInstruction::default());
    }

    pub(super) fn branch(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        cells: &[ColumnCell<'_>],
    ) -> SupportResult<()> {
        match instruction.opcode.text {
            "BRA" if instruction.modifiers.iter().all(|word| word.text == "U") => {
                let (to, conditions) = match &instruction.operands[..] {
                    [conditions @ .., to] if conditions.len() < 2 => (to, conditions),
                    _ => return unsupported("a branch with more than a label"),
                };
                let label = label(to)?;
                if let [condition] = conditions {
                    let condition = self.source(condition)?;
                    self.also_if(condition);
                }
                self.jump(label, to.at);
                Ok(())
            }
            // These have no effect in a warp with one thread.
            "BSSY" | "SSY" | "YIELD" | "NANOSLEEP" | "BMOV" | "WARPSYNC" => Ok(()),
            "BSYNC" | "SYNC" => self.meet(instruction, cells),
            _ => unsupported("control flow other than `BRA` and `EXIT`"),
        }
    }

    /// `EXIT`, which may have a predicate operand in addition to the guard.
    pub(super) fn exit(&mut self, instruction: &syntax::Instruction<'_>) -> SupportResult<()> {
        if let Some(condition) = instruction.operands.first() {
            if !condition.register().is_some_and(|one| one.file.is_of_predicates()) {
                return unsupported("an exit that depends on flags");
            }
            let condition = self.source(condition)?;
            self.also_if(condition);
        }
        let branch = Branch { target: usize::MAX, condition: None };
        self.emit(Instruction::Branch(branch), LoweredInstruction::default());
        Ok(())
    }

    /// Adds a condition to the guard of the next instruction.
    fn also_if(&mut self, condition: Operand) {
        let guard = self.guard.take();
        let mut all = condition;
        if let Some(guard) = guard {
            let mut holds = Operand::Reg(guard.predicate);
            if guard.negated {
                holds = self.computed(AluOp::Xor, super::BIT, &[holds, Operand::Imm(1)]);
            }
            all = self.computed(AluOp::And, super::BIT, &[holds, condition]);
        }
        let predicate = self.predicate(all);
        self.guard = Some(Guard { predicate, negated: false });
    }

    /// Branches to the convergence point that `BSSY` or `SSY` declared.
    fn meet(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        cells: &[ColumnCell<'_>],
    ) -> SupportResult<()> {
        let barrier = instruction.operands.first().map(ToString::to_string);
        let mut labels: Vec<&(Option<String>, String)> =
            self.meetings.iter().filter(|(of, _)| *of == barrier).collect();
        labels.dedup_by(|a, b| a.1 == b.1);
        let next = cells.get(1).map_or(&[][..], |cell| &cell.labels);
        let is_next =
            |label: &str| next.iter().any(|(name, _)| name.trim_start_matches('.') == label);
        if labels.iter().any(|(_, label)| is_next(label)) {
            return Ok(());
        }
        let [(_, label)] = labels[..] else {
            return unsupported("threads that reconverge at more than one place");
        };
        self.jump(label.clone(), instruction.opcode.at);
        Ok(())
    }
}

/// The convergence points that `BSSY` and `SSY` declare in a column: the barrier and the label.
pub(super) fn meetings(cells: &[ColumnCell<'_>]) -> Vec<(Option<String>, String)> {
    let all = cells.iter().filter_map(|cell| cell.instruction.as_ref());
    all.filter(|one| matches!(one.opcode.text, "BSSY" | "SSY"))
        .filter_map(|one| match &one.operands[..] {
            [to] => Some((None, label(to).ok()?)),
            [barrier, to] => Some((Some(barrier.to_string()), label(to).ok()?)),
            _ => None,
        })
        .collect()
}
