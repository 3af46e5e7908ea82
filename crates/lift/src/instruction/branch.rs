//! Branches: `bra`, `ret`, `exit`, and the peer's `goto`, `beq` and so on.

use model::isa::Instruction;
use model::isa::alu::{Branch, Comparison};
use ptx::qualifier::Dialect;

use super::InstructionReader;
use crate::cell::{Arg, InstructionCell};
use text::cursor::short;
use text::report::ByteSpan;

/// A branch target that is resolved when the column ends.
const OPEN: usize = usize::MAX;

impl<'a> InstructionReader<'_> {
    pub(super) fn branch(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
        if let Some(part) = cell.parts.get(1)
            && !(part.text == "uni" && cell.parts.len() == 2)
        {
            self.report
                .error("qualifier", part.at, format!("`{}` takes only `.uni`", cell.opcode()))
                .help(cell.with_parts(&[cell.opcode()]));
            return None;
        }
        if cell.opcode() != "bra" {
            self.no_operands(cell)?;
            return Some(Instruction::Branch(Branch { target: OPEN, condition: None }));
        }
        let args = self.args(cell)?;
        let [Arg::Name(label, at)] = args[..] else {
            self.count(cell, &args, "L0");
            return None;
        };
        Some(self.jump(label, at, None))
    }

    pub(super) fn peer_branch(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
        let comparison = match cell.opcode() {
            "beq" => Some(Comparison::Eq),
            "bne" => Some(Comparison::Ne),
            "blt" => Some(Comparison::Lt),
            "ble" => Some(Comparison::Le),
            "bgt" => Some(Comparison::Gt),
            "bge" => Some(Comparison::Ge),
            _ => None,
        };
        let args = self.args(cell)?;
        match (comparison, &args[..]) {
            (None, &[Arg::Name(label, at)]) => Some(self.jump(label, at, None)),
            (Some(comparison), [a, b, Arg::Name(label, at)]) => {
                let condition = (comparison, self.operand(a)?, self.operand(b)?);
                Some(self.jump(label, *at, Some(condition)))
            }
            (None, _) => {
                self.count(cell, &args, "LC00");
                None
            }
            (Some(_), _) => {
                self.count(cell, &args, "r0, 0, LC00");
                None
            }
        }
    }

    fn jump(
        &mut self,
        label: &str,
        at: ByteSpan,
        condition: Option<(Comparison, model::isa::Operand, model::isa::Operand)>,
    ) -> Instruction {
        let thread = self.draft.thread(self.thread);
        thread.jumps.push((thread.lines.len(), label.to_owned(), at));
        Instruction::Branch(Branch { target: OPEN, condition })
    }

    /// Resolves the targets of branches at the end of the column.
    pub fn finish(&mut self) {
        let (dialect, sass) = (self.draft.dialect, self.draft.sass);
        let thread = self.draft.thread(self.thread);
        let end = thread.lines.len();
        for line in &mut thread.lines {
            if let Instruction::Branch(branch) = &mut line.instruction {
                branch.target = end;
            }
        }
        for (line, label, at) in std::mem::take(&mut thread.jumps) {
            if let Some(&(target, _)) = thread.labels.get(&label) {
                if let Some(Instruction::Branch(branch)) =
                    thread.lines.get_mut(line).map(|line| &mut line.instruction)
                {
                    branch.target = target;
                }
            } else if dialect != Dialect::Peer {
                let near = self.report.nearest(&label, thread.labels.keys().map(String::as_str));
                self.report
                    .error(
                        "unknown-label",
                        at,
                        format!("`{}` has no label `{}`", thread.name, short(&label)),
                    )
                    .help(near.map_or_else(
                        || format!("write `{}:` before the target instruction", short(&label)),
                        |near| if sass { format!("BRA `({near})") } else { format!("bra {near}") },
                    ));
            }
        }
    }
}
