//! A piece of a thread as typed lines: a whole thread, or the operations that a context adds to a function's
//! thread.

use model::isa::alu::{Alu, AluOp, Branch, Comparison};
use model::isa::atom::{Atomic, AtomicOp};
use model::isa::bar::{Barrier, BarrierKind, ClusterBarrierKind};
use model::isa::cxx::Cxx;
use model::isa::fence::{Fence, FenceOrder};
use model::isa::ld::Load;
use model::isa::print::{OperandNames, print_guarded};
use model::isa::st::Store;
use model::isa::{Address, Guard, Instruction, Line, Operand, Reg, SpaceQualifier, Type, TypeKind};
use model::memory::{Proxy, VariableId};
use model::program::{InitialValue, Register, Thread, ThreadId};
use model::scope::{Placement, Scope};

use super::language::SourceId;
use super::step::{AccessKind, AccessOrder, Step};
use super::witness::WitnessAccess;

/// Lines with registers of their own. A branch leads to one of them, or past the last one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ThreadPiece {
    pub registers: Vec<Register>,
    pub lines: Vec<Line>,
    /// Registers that an outcome includes, in program order.
    pub shown: Vec<Reg>,
    /// The label after the last line, if a branch refers to it.
    pub end: Option<String>,
}

/// The operands of a step.
pub struct StepOperands {
    /// The text in brackets, and its address.
    pub at: String,
    pub address: Address,
    pub bits: u16,
    /// The name of the register, if the step sets one.
    pub register: String,
    /// The value to write, and the value that a compare-exchange expects.
    pub value: Operand,
    pub expects: u64,
    /// The same two values in a test.
    pub words: [String; 2],
}

impl StepOperands {
    /// Has a register hold the address of the variable.
    pub fn point(&mut self, register: Reg, name: &str) {
        let offset = self.address.offset;
        self.address.base = Operand::Reg(register);
        self.at = if offset == 0 { name.to_owned() } else { format!("{name}+{offset}") };
    }
}

/// The target of a branch past the last line.
const PAST: usize = usize::MAX;

/// The names of the predicate and of the label to which a thread jumps, depending on its last read.
pub struct GuardNames {
    /// What the names of other registers begin with.
    pub prefix: String,
    pub predicate: String,
    pub end: String,
}

/// The names of a piece, whose accesses have texts of their language.
struct PieceNames<'p> {
    registers: &'p [Register],
    /// Where branches lead.
    end: &'p str,
}

impl OperandNames for PieceNames<'_> {
    fn register(&self, register: Reg) -> String {
        self.registers[usize::from(register.0)].name.clone()
    }

    fn bits(&self, register: Reg) -> u16 {
        self.registers[usize::from(register.0)].bits
    }

    fn variable(&self, variable: VariableId) -> String {
        format!("v{}", variable.0)
    }

    fn label(&self, _: usize) -> Option<String> {
        Some(self.end.to_owned())
    }
}

impl ThreadPiece {
    fn register(&mut self, name: String, bits: u16) -> Reg {
        self.register_with(name, bits, InitialValue::Value(0))
    }

    fn register_with(&mut self, name: String, bits: u16, initial: InitialValue) -> Reg {
        let index = u16::try_from(self.registers.len()).expect("a context is short");
        self.registers.push(Register { name, initial, bits });
        Reg(index)
    }

    /// The register of this name, which begins with an address of the first thread.
    pub fn pointer(&mut self, name: &str, variable: VariableId) -> Reg {
        if let Some(found) = self.registers.iter().position(|register| register.name == name) {
            return Reg(u16::try_from(found).expect("a context is short"));
        }
        let initial = InitialValue::Address { variable, thread: ThreadId(0), offset: 0 };
        self.register_with(name.to_owned(), 64, initial)
    }

    /// The registers that begin with an address, and its variable.
    pub fn pointers(&self) -> impl Iterator<Item = (&str, VariableId)> {
        self.registers.iter().filter_map(|register| match register.initial {
            InitialValue::Address { variable, .. } => Some((&*register.name, variable)),
            InitialValue::Value(_) => None,
        })
    }

    fn push(&mut self, guard: Option<Guard>, instruction: Instruction, text: String) {
        self.lines.push(Line { guard, instruction, text });
    }

    /// Adds an instruction as PTX has it; a branch leads to the end.
    fn push_ptx(&mut self, guard: Option<Guard>, instruction: Instruction, end: &str) {
        let names = PieceNames { registers: &self.registers, end };
        let text = print_guarded(guard, &instruction, &names).expect("PTX has it");
        self.push(guard, instruction, text);
    }

    /// Packs a number and 0 into a register of 128 bits.
    pub fn pack(&mut self, name: String, low: u64) -> Reg {
        let destination = self.register(name, 128);
        let ty = Type { kind: TypeKind::Bits, bits: 128 };
        let sources = vec![Operand::Imm(low), Operand::Imm(0)];
        let alu = Alu { op: AluOp::Concat(64), ty, destination, sources };
        self.push_ptx(None, Instruction::Alu(alu), "");
        destination
    }

    /// Shows, in place of the last read, some bits of it: those of the mask, from a bit on.
    pub fn show_part(&mut self, names: [String; 2], shift: u32, mask: u64) -> Option<()> {
        let read = self.shown.pop()?;
        let [aside, shown] = names.map(|name| self.register(name, 32));
        let lines = [
            (AluOp::Shr, aside, [Operand::Reg(read), Operand::Imm(shift.into())]),
            (AluOp::And, shown, [Operand::Reg(aside), Operand::Imm(mask)]),
        ];
        for (op, destination, sources) in lines {
            let alu = Alu { op, ty: Type::U32, destination, sources: sources.to_vec() };
            self.push_ptx(None, Instruction::Alu(alu), "");
        }
        self.shown.push(shown);
        Some(())
    }

    /// The low 64 bits of the last read, if it has 128.
    fn low_half(&mut self, read: Reg, prefix: &str) -> Reg {
        let of = &self.registers[usize::from(read.0)];
        if of.bits <= 64 {
            return read;
        }
        let name = format!("{prefix}low");
        let text = format!("mov.b128 {{{name}, _}}, {}", of.name);
        let destination = self.register(name, 64);
        let ty = Type { kind: TypeKind::Bits, bits: 64 };
        let sources = vec![Operand::Reg(read)];
        let alu = Alu { op: AluOp::Extract(0), ty, destination, sources };
        self.push(None, Instruction::Alu(alu), text);
        destination
    }

    /// Adds a step, as an instruction of this language or under its own name. `None` if the language has no
    /// such operation. Only an access has operands. A guard takes more than one line.
    pub fn step(
        &mut self,
        step: Step,
        language: Option<SourceId>,
        operands: Option<&StepOperands>,
    ) -> Option<()> {
        let cluster = |kind: ClusterBarrierKind| Instruction::ClusterBarrier(kind.unaligned());
        // Barriers are those of PTX in each language.
        let named = language.is_none().then(|| step.to_string());
        let (instruction, text) = match step {
            Step::Access { act, order, scope, .. } => {
                let operands = operands?;
                let destination = act.shows().then(|| {
                    let register = self.register(operands.register.clone(), operands.bits);
                    self.shown.push(register);
                    register
                });
                let [value, expects] = operands.words.clone();
                let words = WitnessAccess {
                    act,
                    at: &operands.at,
                    bits: operands.bits.into(),
                    order,
                    scope,
                    destination: destination.map(|_| format!("{}, ", operands.register)),
                    value,
                    expects,
                };
                let text = match language {
                    Some(language) => language.access(&words)?,
                    None => step.to_string(),
                };
                (access(act, order, scope, destination, operands), Some(text))
            }
            Step::Fence { order, scope } => {
                let text = language.map(|language| language.fence(order, scope));
                let fence = Instruction::Fence(Fence { order, scope, aliases: false });
                (fence, text.or(named))
            }
            Step::Barrier { id, count } => {
                let (kind, number) = (BarrierKind::Sync, Operand::Imm(id));
                let threads = count.map(Operand::Imm);
                let barrier = Barrier {
                    kind,
                    id: number,
                    count: threads,
                    instance: None,
                    aligned: true,
                    warp: false,
                };
                (Instruction::Barrier(barrier), named)
            }
            Step::ClusterArrive { relaxed: false } => {
                (cluster(ClusterBarrierKind::ArriveRelease), named)
            }
            Step::ClusterArrive { relaxed: true } => {
                (cluster(ClusterBarrierKind::ArriveRelaxed), named)
            }
            Step::ClusterWait => (cluster(ClusterBarrierKind::Wait), named),
            Step::Guard => return None,
        };
        match text {
            Some(text) => self.push(None, instruction, text),
            None => self.push_ptx(None, instruction, ""),
        }
        Some(())
    }

    /// Adds half of an alias fence: 9.7.15.4.
    pub fn alias_fence(&mut self, order: FenceOrder) {
        let fence = Fence { order, scope: Scope::Sys, aliases: true };
        self.push_ptx(None, Instruction::Fence(fence), "");
    }

    /// Ends the piece if the last read returned this value, or unless it did. `None` if nothing was read.
    pub fn end_if(
        &mut self,
        ty: Type,
        ends: (u64, bool),
        names: Option<&GuardNames>,
    ) -> Option<()> {
        let end = names.map(|names| names.end.clone());
        self.leave_if(ty, ends, PAST, names)?;
        self.end = end.or(self.end.take());
        Some(())
    }

    /// Goes back to a line if the last read returned this value, or unless it did. `None` if nothing was read.
    pub fn repeat_if(
        &mut self,
        ty: Type,
        ends: (u64, bool),
        line: usize,
        names: &GuardNames,
    ) -> Option<()> {
        let first = self.lines.get_mut(line)?;
        first.text = format!("{}: {}", names.end, first.text);
        self.leave_if(ty, ends, line, Some(names))
    }

    /// Jumps to a line if the last read returned this value, or unless it did.
    fn leave_if(
        &mut self,
        ty: Type,
        (value, holds): (u64, bool),
        target: usize,
        names: Option<&GuardNames>,
    ) -> Option<()> {
        let read = *self.shown.last()?;
        let prefix = names.map_or("", |names| names.prefix.as_str());
        let read = if ty.bits <= 64 { self.low_half(read, prefix) } else { read };
        let predicate = match names {
            Some(GuardNames { predicate, .. }) => predicate.clone(),
            None => format!("p{}", self.registers.len()),
        };
        let predicate = self.register(predicate, 1);
        let (op, sources) =
            (AluOp::Setp(Comparison::Eq), vec![Operand::Reg(read), Operand::Imm(value)]);
        let alu = Alu { op, ty, destination: predicate, sources };
        let jump = Instruction::Branch(Branch { target, condition: None });
        let guard = Some(Guard { predicate, negated: !holds });
        for (guard, instruction) in [(None, Instruction::Alu(alu)), (guard, jump)] {
            match names {
                Some(names) => self.push_ptx(guard, instruction, &names.end),
                None => self.push(guard, instruction, Step::Guard.to_string()),
            }
        }
        Some(())
    }

    /// The piece as cells of a column.
    pub fn cells(&self) -> Vec<String> {
        let lines = self.lines.iter().map(|line| line.text.clone());
        lines.chain(self.end.iter().map(|end| format!("{end}:"))).collect()
    }

    /// Appends the piece to a thread.
    pub fn append(&self, thread: &mut Thread) {
        let moved = u16::try_from(thread.registers.len()).expect("a thread has few registers");
        let start = thread.lines.len();
        thread.registers.extend(self.registers.iter().cloned());
        for line in &self.lines {
            let mut line = line.clone();
            line.each_register_mut(&mut |register| register.0 += moved);
            if let Instruction::Branch(branch) = &mut line.instruction {
                branch.target = start + branch.target.min(self.lines.len());
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

/// An access as one instruction of the model. `None` discards what is read.
fn access(
    act: AccessKind,
    order: AccessOrder,
    scope: Scope,
    destination: Option<Reg>,
    operands: &StepOperands,
) -> Instruction {
    let (ty, address) = (Type { kind: TypeKind::Unsigned, bits: operands.bits }, operands.address);
    let mut cxx = Cxx {
        seq_cst: order == AccessOrder::SeqCst,
        unordered: order == AccessOrder::Unordered,
        failure: None,
    };
    let value = operands.value;
    let (op, operands) = match act {
        AccessKind::Load => {
            return Instruction::Load(Load {
                order: order.load(scope),
                cxx,
                space: SpaceQualifier::Generic,
                proxy: Proxy::Generic,
                ty,
                prefetches: false,
                global_only: false,
                destinations: vec![destination],
                address,
            });
        }
        AccessKind::Store => {
            return Instruction::Store(Store {
                order: order.store(scope),
                cxx,
                space: SpaceQualifier::Generic,
                proxy: Proxy::Generic,
                ty,
                global_only: false,
                sources: vec![value],
                address,
            });
        }
        AccessKind::Swap | AccessKind::Overwrite | AccessKind::Reduce => {
            (AtomicOp::Exch, vec![value])
        }
        AccessKind::CompareExchange(failure) => {
            cxx.failure = failure;
            (AtomicOp::Cas, vec![Operand::Imm(operands.expects), value])
        }
        AccessKind::Probe => (AtomicOp::Cas, vec![Operand::Imm(0); 2]),
    };
    Instruction::Atomic(Atomic {
        order: order.atomic(),
        cxx,
        scope,
        space: SpaceQualifier::Generic,
        op,
        ty,
        reduction: act == AccessKind::Reduce,
        destination,
        address,
        operands,
    })
}
