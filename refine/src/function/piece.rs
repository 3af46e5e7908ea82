//! What a context adds to a program: a thread of its own, or a piece of the function's thread.

use model::isa::alu::{Alu, AluOp, Branch, Comparison};
use model::isa::bar::{Barrier, BarrierKind, ClusterBarrierKind};
use model::isa::{Guard, Instruction, Line, Operand, Reg, Type};
use model::program::{InitialValue, Register, Thread};
use model::scope::Placement;

use super::scan::Meeting;

/// Lines with registers of their own. A branch leads behind the last line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ThreadPiece {
    pub registers: Vec<Register>,
    pub lines: Vec<Line>,
    /// The label behind the last line, where a branch names it.
    pub end: Option<String>,
}

impl ThreadPiece {
    pub(super) fn register(&mut self, name: String, bits: u16) -> Reg {
        let index = u16::try_from(self.registers.len()).expect("a context is short");
        self.registers.push(Register { name, initial: InitialValue::Value(0), bits });
        Reg(index)
    }

    pub(super) fn push(&mut self, instruction: Instruction, text: String) {
        self.lines.push(Line { guard: None, instruction, text });
    }

    /// Meets the function at one of its barriers.
    pub(super) fn meet(&mut self, meeting: Meeting) {
        let cluster = |kind: ClusterBarrierKind| Instruction::ClusterBarrier(kind.unaligned());
        let (instruction, text) = match meeting {
            Meeting::Cta => {
                let (kind, id) = (BarrierKind::Sync, Operand::Imm(0));
                let barrier = Barrier { kind, id, count: None, instance: None, aligned: true };
                (Instruction::Barrier(barrier), "bar.sync 0")
            }
            Meeting::ClusterArrive { relaxed: false } => {
                (cluster(ClusterBarrierKind::ArriveRelease), "barrier.cluster.arrive")
            }
            Meeting::ClusterArrive { relaxed: true } => {
                (cluster(ClusterBarrierKind::ArriveRelaxed), "barrier.cluster.arrive.relaxed")
            }
            Meeting::ClusterWait => (cluster(ClusterBarrierKind::Wait), "barrier.cluster.wait"),
        };
        self.push(instruction, text.to_owned());
    }

    /// Ends the piece if a register has this value.
    pub(super) fn end_if(&mut self, prefix: &str, (register, ty): (Reg, Type), value: u64) {
        let name = self.registers[usize::from(register.0)].name.clone();
        let predicate = self.register(format!("{prefix}p"), 1);
        let (op, sources) =
            (AluOp::Setp(Comparison::Eq), vec![Operand::Reg(register), Operand::Imm(value)]);
        let compare = Alu { op, ty, destination: predicate, sources };
        self.push(
            Instruction::Alu(compare),
            format!("setp.eq.u{} {prefix}p, {name}, {value}", ty.bits),
        );
        let end = format!("{prefix}end");
        self.lines.push(Line {
            guard: Some(Guard { predicate, negated: false }),
            instruction: Instruction::Branch(Branch { target: 0, condition: None }),
            text: format!("@{prefix}p bra {end}"),
        });
        self.end = Some(end);
    }

    /// The piece as cells of a column.
    pub fn cells(&self) -> Vec<String> {
        let lines = self.lines.iter().map(|line| line.text.clone());
        lines.chain(self.end.iter().map(|end| format!("{end}:"))).collect()
    }

    /// Adds the piece to the end of a thread.
    pub fn append(&self, thread: &mut Thread) {
        let moved = u16::try_from(thread.registers.len()).expect("a thread has few registers");
        let end = thread.lines.len() + self.lines.len();
        thread.registers.extend(self.registers.iter().cloned());
        for line in &self.lines {
            let mut line = line.clone();
            line.each_register_mut(&mut |register| register.0 += moved);
            if let Instruction::Branch(branch) = &mut line.instruction {
                branch.target = end;
            }
            thread.lines.push(line);
        }
    }

    /// The piece as a thread.
    pub fn thread(&self, name: String, placement: Placement) -> Thread {
        let mut thread = Thread { name, placement, registers: Vec::new(), lines: Vec::new() };
        self.append(&mut thread);
        thread
    }
}
