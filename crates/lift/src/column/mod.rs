//! Columns of a test in SASS. Each instruction becomes one or several lines of the program, and each line has
//! its operations of the machine.
//!
//! The opcode and modifiers of an access determine the order that it promises: without `STRONG` it is weak. The
//! computation of its address, and the division of a wide value into registers, are separate lines.

pub(crate) mod access;
mod address;
mod arithmetic;
mod bits;
pub mod constant;
mod control;
mod convert;
mod float;
mod half;
mod integer;
mod lane;
pub(crate) mod matrix;
mod order;

use std::borrow::Cow;
use std::collections::BTreeSet;

use machine::form::{Family, LoweredInstruction};
use model::isa::alu::{Alu, AluOp};
use model::isa::{Guard, Instruction, Line, Operand, Reg, Type, TypeKind};
use model::program::ThreadId;

pub use control::{FIRST_PASSED, register_of_result};

use crate::draft::ProgramBuilder;
use crate::written::WrittenInstruction;
use crate::{instruction, spacing};
use sass::opcode::{Class, class};
use sass::parse;
use sass::promise::Promised;
use sass::scoreboard::Scoreboards;
use sass::single::{self, ReadOptions};
use sass::syntax::{self, Atom, OperandKind, Register, RegisterFile};
use text::cursor::Cursor;
use text::lex;
use text::report::{ByteSpan, Diagnostics};

/// A cell of the table.
#[derive(Default)]
pub struct ColumnCell<'a> {
    pub labels: Vec<(Cow<'a, str>, ByteSpan)>,
    pub instruction: Option<syntax::Instruction<'a>>,
    /// Where a `RET` may lead: addresses, and the labels there.
    pub returns: Vec<(u64, String)>,
    /// The width in bits of the elements that it accesses, if it is a vector in the source.
    pub element: Option<u16>,
    /// Instructions of PTX in the place of the instruction, if it is a call of a function of another module, or without one.
    pub ptx: Vec<WrittenInstruction>,
    /// The widths in bits of the words of 64 bits that a device function returns here.
    pub results: Vec<u32>,
    /// Whether it is a fence that does not wait for the last strong load before it (reading R108).
    pub unordered: bool,
    pub at: ByteSpan,
}

/// `Err` is the reason why the model does not support something.
type SupportResult<T> = Result<T, &'static str>;

fn unsupported<T>(why: &'static str) -> SupportResult<T> {
    Err(why)
}

/// Reads a cell and checks the rules of the architecture.
pub fn cell<'a>(cursor: Cursor<'a>, sm: u16, report: &mut Diagnostics) -> ColumnCell<'a> {
    let (text, at) = (cursor.text, cursor.rest_at());
    let (mut labels, mut start) = (Vec::new(), at.start);
    loop {
        let rest = &text[start as usize..at.end as usize];
        let trimmed = rest.trim_start();
        let blanks = rest.len() - trimmed.len();
        let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
        let length = trimmed.find(|c| !name(c)).unwrap_or(0);
        if length == 0 || !trimmed[length..].starts_with(':') {
            break;
        }
        let first = start as usize + blanks;
        labels.push((Cow::from(&trimmed[..length]), ByteSpan::new(first, first + length)));
        start = ByteSpan::new(first, first + length + 1).end;
    }
    let all = parse::read(text, ByteSpan { start, ..at }, report);
    if let Some(second) = all.get(1) {
        report
            .error("one-instruction", second.at, "a cell has one instruction")
            .note("this is a second one")
            .help("put it in a row of its own");
    }
    let instruction = all.into_iter().next();
    if let Some(one) = &instruction {
        single::check(one, ReadOptions { sm: Some(sm), registers: None }, report);
    }
    ColumnCell { labels, instruction, at, ..ColumnCell::default() }
}

/// Reads the instructions of one thread into the draft. Returns, for each line, the operations of the machine
/// and the index of the cell; lines for the initial state have no cell.
pub fn read(
    cells: &[ColumnCell<'_>],
    family: Family,
    registers: Option<u16>,
    thread: ThreadId,
    draft: &mut ProgramBuilder,
    report: &mut Diagnostics,
) -> (Vec<LoweredInstruction>, Vec<Option<usize>>) {
    read_as(cells, family, registers, true, thread, draft, report)
}

/// The same for what a compiler made: a misaligned address is a fault, since nothing in its source has that effect.
pub fn read_faulting(
    cells: &[ColumnCell<'_>],
    family: Family,
    thread: ThreadId,
    draft: &mut ProgramBuilder,
    report: &mut Diagnostics,
) -> (Vec<LoweredInstruction>, Vec<Option<usize>>) {
    read_as(cells, family, None, false, thread, draft, report)
}

fn read_as(
    cells: &[ColumnCell<'_>],
    family: Family,
    registers: Option<u16>,
    aligns: bool,
    thread: ThreadId,
    draft: &mut ProgramBuilder,
    report: &mut Diagnostics,
) -> (Vec<LoweredInstruction>, Vec<Option<usize>>) {
    let written = cells.iter().filter_map(|cell| Some(written(cell.instruction.as_ref()?)));
    let written = written.flatten().collect();
    let guard = None;
    let mut column = ColumnReader {
        draft,
        report,
        thread,
        family,
        registers,
        aligns,
        written,
        lowered: Vec::new(),
        hidden: 0,
        scoreboards: 0,
        guard,
        meetings: control::meetings(cells),
        promises: order::promises(cells, family),
        cell: 0,
        element: None,
        text: String::new(),
    };
    column.initial();
    let mut places = vec![None; column.lowered.len()];
    let mut index = 0;
    while index < cells.len() {
        column.cell = index;
        index += column.cell(&cells[index..]);
        places.resize(column.lowered.len(), Some(column.cell));
    }
    let ColumnReader { draft, report, lowered, .. } = column;
    instruction::InstructionReader { draft, report, thread }.finish();
    (lowered, places)
}

/// The registers that an instruction may write. Of a matrix operation the roles of operands are not known.
fn written(instruction: &syntax::Instruction<'_>) -> Vec<Register> {
    if let Some(known) = instruction.registers() {
        return known.writes.into_iter().collect();
    }
    let Some(first) = instruction.operands.first().and_then(syntax::Operand::register) else {
        return Vec::new();
    };
    (0..8).map(|index| first.ahead(index)).collect()
}

/// Whether an instruction reads memory.
pub fn loads(instruction: &syntax::Instruction<'_>) -> bool {
    let name = instruction.opcode.text;
    name == "LDSM" || matches!(class(name), Some(Class::Load | Class::Atomic))
}

/// An instruction as text. Operands of an unknown form have the blanks of a formatted test, and no comments.
pub fn text(instruction: &syntax::Instruction<'_>) -> String {
    let text = instruction.to_string();
    let opaque = |operand: &syntax::Operand<'_>| matches!(operand.kind, OperandKind::Opaque(_));
    if !instruction.operands.iter().any(opaque) {
        return text;
    }
    // The instruction was read; these errors were reported.
    let tokens = lex::tokens(&text, 0, true, &mut Diagnostics::default());
    spacing::text(&text, &tokens, spacing::cell)
}

struct ColumnReader<'r> {
    draft: &'r mut ProgramBuilder,
    report: &'r mut Diagnostics,
    thread: ThreadId,
    family: Family,
    /// The number of registers of the shader, if the test gives it.
    registers: Option<u16>,
    /// Whether the low bits of addresses are dropped.
    aligns: bool,
    /// Every register that some instruction may write.
    written: BTreeSet<Register>,
    lowered: Vec<LoweredInstruction>,
    /// The number of registers that do not appear in the text.
    hidden: usize,
    /// The scoreboards that pending loads will clear.
    scoreboards: u8,
    /// The guard of the current instruction.
    guard: Option<Guard>,
    /// The convergence points that `BSSY` and `SSY` declare.
    meetings: Vec<(Option<String>, String)>,
    /// The memory orders that each cell promises.
    promises: Vec<Vec<Promised>>,
    /// The index of the current cell.
    cell: usize,
    /// Of the current cell: the width of the elements of its access.
    element: Option<u16>,
    text: String,
}

impl ColumnReader<'_> {
    /// Sets the width of the registers. The initial value of a register that points to shared or local memory
    /// is an address in that state space.
    fn initial(&mut self) {
        let count = self.draft.thread(self.thread).registers.len();
        for index in 0..count {
            let register = Reg(u16::try_from(index).expect("a thread has few registers"));
            let draft = self.draft.thread(self.thread).draft(register);
            let predicate = Register::named(&draft.name).is_some_and(|r| r.file.is_of_predicates());
            draft.bits = if predicate { 1 } else { 32 };
        }
        self.own_addresses();
    }

    /// Reads one instruction of the model; returns the number of cells that it takes.
    fn cell(&mut self, cells: &[ColumnCell<'_>]) -> usize {
        let cell = &cells[0];
        let line = self.draft.thread(self.thread).lines.len();
        for (name, at) in &cell.labels {
            let (name, at) = (name.trim_start_matches('.'), *at);
            let labels = &mut self.draft.thread(self.thread).labels;
            if let Some(&(_, first)) = labels.get(name) {
                self.report
                    .error("duplicate-label", at, format!("the label `{name}` is defined twice"))
                    .label(first, "first here");
            } else {
                labels.insert(name.to_owned(), (line, at));
            }
        }
        let Some(instruction) = &cell.instruction else {
            (self.guard, self.text) = (None, String::new());
            self.ptx(&cell.ptx).expect("they are simple instructions");
            self.results(&cell.results);
            return 1;
        };
        self.text = text(instruction);
        self.element = cell.element;
        self.guard = None;
        self.waits(instruction);
        if cell.unordered {
            return 1;
        }
        match instruction.guard {
            // `@!PT`: no thread executes it.
            Some(guard) if guard.predicate.number.is_none() && guard.negated => return 1,
            Some(guard) if guard.predicate.number.is_some() => {
                let mut predicate = self.register(guard.predicate, guard.at);
                let all = instruction.registers();
                if all.is_none_or(|registers| registers.writes.contains(&guard.predicate)) {
                    // An instruction may be several lines. All of them use the value that the guard had before.
                    predicate = self.predicate(Operand::Reg(predicate));
                }
                self.guard = Some(Guard { predicate, negated: guard.negated });
            }
            Some(_) | None => {}
        }
        match self.instruction(instruction, cells) {
            Ok(used) => used,
            Err(why) => {
                let why = format!("`{}`: {why}", instruction.name());
                self.emit(Instruction::Unsupported(why), LoweredInstruction::default());
                for operand in &instruction.operands {
                    let register = operand.register().filter(|register| register.number.is_some());
                    if let Some(register) = register {
                        self.register(register, operand.at);
                    }
                }
                1
            }
        }
    }

    /// Translates an instruction; returns the number of cells that it takes.
    fn instruction(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        cells: &[ColumnCell<'_>],
    ) -> SupportResult<usize> {
        match class(instruction.opcode.text) {
            _ if instruction.opcode.text == "QSPC" => self.query(instruction)?,
            _ if instruction.opcode.text == "LDSM" => self.matrix_load(instruction)?,
            Some(Class::Load) => self.load(instruction)?,
            Some(Class::Store) => self.store(instruction)?,
            Some(Class::Atomic | Class::Reduction) => self.atomic(instruction)?,
            Some(Class::Membar | Class::Cache | Class::ClusterArrive | Class::ClusterWait) => {
                self.fence()?;
            }
            Some(Class::Barrier) => self.barrier(instruction)?,
            Some(Class::Arithmetic) => self.arithmetic(instruction)?,
            Some(Class::Branch) if !cells[0].ptx.is_empty() => {
                if self.guard.is_some() {
                    return unsupported("a call with a guard");
                }
                self.ptx(&cells[0].ptx)?;
            }
            Some(Class::Branch) => self.branch(instruction, cells)?,
            Some(Class::Exit) => self.exit(instruction)?,
            Some(Class::ErrorBarrier | Class::Nothing | Class::Depbar) => {}
            Some(Class::View) => return unsupported("a fence of another proxy"),
            Some(Class::Special) => self.special(instruction)?,
            Some(Class::Other) => return unsupported("another unit than the caches' own"),
            None => return unsupported("not known"),
        }
        Ok(1)
    }

    /// A wait for scoreboards that loads clear (reading R100).
    fn waits(&mut self, instruction: &syntax::Instruction<'_>) {
        let of = Scoreboards::of_annotations(&instruction.annotations).unwrap_or_default();
        if of.required & self.scoreboards != 0 {
            self.scoreboards &= !of.required;
            self.acquire_wait();
        }
        if let (Some(one), true) = (of.written, loads(instruction)) {
            self.scoreboards |= 1 << one;
        }
    }

    fn emit(&mut self, instruction: Instruction, lowered: LoweredInstruction) {
        let (guard, text) = (self.guard, self.text.clone());
        self.draft.thread(self.thread).lines.push(Line { guard, instruction, text });
        self.lowered.push(lowered);
    }

    fn alu(&mut self, op: AluOp, ty: Type, destination: Reg, sources: &[Operand]) {
        let alu = Alu { op, ty, destination, sources: sources.to_vec() };
        self.emit(Instruction::Alu(alu), LoweredInstruction::default());
    }

    /// A register of the text. It has 32 bits, or 1 if it is a predicate.
    fn register(&mut self, register: Register, at: ByteSpan) -> Reg {
        let bits = if register.file.is_of_predicates() { 1 } else { 32 };
        self.named(&register.to_string(), bits, at)
    }

    fn named(&mut self, name: &str, bits: u16, at: ByteSpan) -> Reg {
        let thread = self.draft.thread(self.thread);
        let found = thread.register(name, at, self.report);
        thread.draft(found).bits = bits;
        thread.draft(found).written = true;
        found
    }

    /// A register that does not appear in the text.
    fn hidden(&mut self, bits: u16) -> Reg {
        self.hidden += 1;
        let name = format!("hidden register {}", self.hidden);
        self.named(&name, bits, ByteSpan::default())
    }

    /// The result of an operation, in a register that does not appear in the text.
    fn computed(&mut self, op: AluOp, ty: Type, sources: &[Operand]) -> Operand {
        let to = self.hidden(ty.bits);
        self.alu(op, ty, to, sources);
        Operand::Reg(to)
    }

    /// A predicate that does not appear in the text.
    fn predicate(&mut self, value: Operand) -> Reg {
        let to = self.hidden(1);
        self.alu(AluOp::Mov, BIT, to, &[value]);
        to
    }

    /// The value of a register: zero for `RZ`, true for `PT`.
    fn read(&mut self, register: Register, at: ByteSpan) -> Operand {
        match (register.number, register.file) {
            (Some(_), _) => Operand::Reg(self.register(register, at)),
            (None, RegisterFile::Predicate | RegisterFile::UniformPredicate) => Operand::Imm(1),
            (
                None,
                RegisterFile::General
                | RegisterFile::Uniform
                | RegisterFile::Barrier
                | RegisterFile::Scoreboard,
            ) => Operand::Imm(0),
        }
    }

    /// The destination register; `None` for `RZ` and `PT`.
    fn destination(&mut self, operand: &syntax::Operand<'_>) -> SupportResult<Option<Reg>> {
        let Some(register) = operand.register() else {
            return unsupported("no register to write");
        };
        Ok(register.number.map(|_| self.register(register, operand.at)))
    }

    /// The 32-bit value of a source operand, or the bit of a predicate.
    fn source(&mut self, operand: &syntax::Operand<'_>) -> SupportResult<Operand> {
        let OperandKind::Value(value) = &operand.kind else {
            return unsupported("a source of this form");
        };
        let plain = value.suffixes.iter().all(|suffix| *suffix == "reuse");
        if value.absolute || !plain || !value.outer.is_empty() {
            return unsupported("a part of a register, or its absolute value");
        }
        let u32 = Type::U32;
        let plain = match &value.atom {
            Atom::Number(number) => {
                let Some(bits) = number.value.and_then(|value| u32::try_from(value).ok()) else {
                    return unsupported("a number that is not a 32-bit integer");
                };
                return Ok(Operand::Imm(u64::from(match value.signs {
                    "" | "+" => bits,
                    "-" => bits.wrapping_neg(),
                    "~" => !bits,
                    _ => return unsupported("a sign of this form"),
                })));
            }
            Atom::Register(register) => self.read(*register, operand.at),
            Atom::Indexed(indexed) if indexed.name == "c" => self.constant(indexed)?,
            Atom::Indexed(_) | Atom::Name(_) => return unsupported("a source of this form"),
        };
        let predicate = operand.register().is_some_and(|r| r.file.is_of_predicates());
        match value.signs {
            "" => Ok(plain),
            "!" if predicate && plain == Operand::Imm(1) => Ok(Operand::Imm(0)),
            "!" if predicate => Ok(self.computed(AluOp::Xor, BIT, &[plain, Operand::Imm(1)])),
            "-" => Ok(self.computed(AluOp::Sub, u32, &[Operand::Imm(0), plain])),
            "~" => Ok(self.computed(AluOp::Xor, u32, &[plain, Operand::Imm(0xffff_ffff)])),
            _ => unsupported("a sign of this form"),
        }
    }
}

/// The type of predicates.
const BIT: Type = Type { kind: TypeKind::Bits, bits: 1 };
