//! Control flow: branches, and the convergence of the threads of a warp.
//!
//! A column is one lane, alone in its warp (reading R101), so it continues at convergence points without
//! waiting.

use machine::form::LoweredInstruction;
use model::isa::alu::{AluOp, Branch, Comparison};
use model::isa::{Guard, Instruction, Operand, Type};

use super::{ColumnCell, ColumnReader, SupportResult, unsupported};
use crate::instruction::InstructionReader;
use crate::written::{WrittenArg, WrittenInstruction, written};
use sass::lower::Lowering;
use sass::syntax::{self, Atom, OperandKind, Register, RegisterFile, Value};
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
            // The only thread of a warp has converged.
            "BRA" if instruction.has("DIV") => Ok(()),
            "BRA" if instruction.has("CONV") => {
                let [.., to] = &instruction.operands[..] else {
                    return unsupported("a branch without a label");
                };
                self.jump(label(to)?, to.at);
                Ok(())
            }
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
            "BSSY" | "SSY" | "YIELD" | "NANOSLEEP" | "BMOV" | "WARPSYNC" | "BREAK" => Ok(()),
            "BPT" if instruction.has("TRAP") => {
                let branch = Branch { target: usize::MAX, condition: None };
                self.emit(Instruction::Branch(branch), LoweredInstruction::default());
                Ok(())
            }
            // A call without a stack: the callee finds the address to return to in a register.
            "CALL"
                if (instruction.has("REL") || instruction.has("ABS"))
                    && instruction.has("NOINC") =>
            {
                let [to] = &instruction.operands[..] else {
                    return unsupported("a call of this form");
                };
                self.jump(label(to)?, to.at);
                Ok(())
            }
            "RET" => self.returns(instruction, &cells[0].returns),
            "BSYNC" | "SYNC" => self.meet(instruction, cells),
            _ => unsupported("control flow other than `BRA` and `EXIT`"),
        }
    }

    /// `RET.REL.NODEC R2`, relative to a function, or `RET.ABS.NODEC R20 0x0`: to one of the addresses after the calls. Any
    /// other address is a fault.
    fn returns(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        places: &[(u64, String)],
    ) -> SupportResult<()> {
        let Some(to) = instruction.operands.first().filter(|_| !places.is_empty()) else {
            return unsupported("a return to a place that the listing does not show");
        };
        // The operand is a register, and the function that it is relative to or an offset, without a comma.
        let text = to.to_string();
        let mut words = text.split_whitespace();
        let register = words.next().and_then(Register::named);
        let known = instruction.has("REL") || instruction.has("ABS") && words.next() == Some("0x0");
        let Some(register) = register.filter(|_| known) else {
            return unsupported("a return of this form");
        };
        let (to, ty) = if instruction.has("ABS") {
            (self.pair(register, to.at), Type::U64)
        } else {
            (self.read(register, to.at), Type::U32)
        };
        let guard = self.guard;
        for (address, label) in places {
            let compare = AluOp::Setp(Comparison::Eq);
            let same = self.truth(compare, ty, &[to, Operand::Imm(*address)]);
            self.also_if(same);
            self.jump(label.clone(), instruction.opcode.at);
            self.guard = guard;
        }
        let nowhere = WrittenArg::address("nowhere", 0);
        self.ptx(&[
            written("mov.u64", &[&"nowhere", &0]),
            written("ld.global.u32", &[&"lost", &nowhere]),
        ])
    }

    /// Instructions of PTX, which are lowered as usual. One without a guard has that of the instruction.
    pub(super) fn ptx(&mut self, rows: &[WrittenInstruction]) -> SupportResult<()> {
        let lowering = Lowering::of_family(self.family);
        for row in rows {
            let mut text = String::new();
            let cell = row.cell(&mut text, self.report);
            let (draft, report, thread) = (&mut *self.draft, &mut *self.report, self.thread);
            let before = draft.thread(thread).lines.len();
            InstructionReader { draft, report, thread }.cell(&cell);
            for line in &mut self.draft.thread(thread).lines[before..] {
                line.guard = line.guard.or(self.guard);
                let lowered = lowering.and_then(|by| by.line(&line.instruction, &line.text).ok());
                let Some(lowered) = lowered else {
                    return unsupported("a call for which this target has no instructions");
                };
                self.lowered.push(lowered);
            }
        }
        Ok(())
    }

    /// The words that a device function returns, in registers with the names of [`register_of_result`].
    pub(super) fn results(&mut self, widths: &[u32]) {
        for (index, &bits) in widths.iter().enumerate() {
            let at = ByteSpan::default();
            let number = FIRST_PASSED + 2 * u16::try_from(index).expect("a result is short");
            let low = Register { file: RegisterFile::General, number: Some(number) };
            let (value, ty) = if bits > 32 {
                (self.pair(low, at), Type::U64)
            } else {
                (self.read(low, at), Type::U32)
            };
            let to = self.named(&register_of_result(index), ty.bits, at);
            self.alu(AluOp::Mov, ty, to, &[value]);
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
    pub(super) fn also_if(&mut self, condition: Operand) {
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

/// The first register of the arguments and of the result of a function.
pub const FIRST_PASSED: u16 = 4;

/// The register with a word of the result of a device function, at its end.
pub fn register_of_result(word: usize) -> String {
    format!("returned_{word}")
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
