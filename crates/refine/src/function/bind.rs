//! The common setup of a function and its lowering: the arguments and the memory. With a setup, each function
//! becomes the first thread of a program.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use lift::function::{END, EntryValue, Function, FunctionLine, HERE, Refused};
use litmus::print::TestText;
use machine::form::LoweredInstruction;
use model::isa::alu::AluOp;
use model::isa::{Instruction, Operand, Reg, SpaceQualifier};
use model::memory::{Alias, Proxy, Space, Variable, VariableId};
use model::program::{InitialValue, Program, Register, Thread, ThreadId};
use model::scope::Placement;
use model::value::{Value, little_endian, low_bits, low_bytes, low64};

use crate::language::SourceId;
use crate::piece::ThreadPiece;

/// Memory of a question. Its index is the index of the program's variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Memory {
    pub name: String,
    pub space: Space,
    /// The bytes of an element, and the number of elements.
    pub element: u32,
    pub count: u32,
    /// Whether its size is chosen so that the function stays inside.
    pub grows: bool,
    /// The memory of which it is another virtual address.
    pub alias: Option<usize>,
    /// Its address, where pointers that are read from memory lead to it.
    pub absolute: Option<u64>,
    /// Elements whose initial value is not 0.
    pub initial: BTreeMap<u32, u64>,
}

impl Memory {
    /// The initial value of some bytes: a whole number of elements, or bytes of one.
    pub fn initial_of(&self, offset: u32, bytes: u32) -> u64 {
        let all = self.initial_bytes(offset..offset + bytes.min(8));
        low64(little_endian(&all))
    }

    /// Sets the initial value of whole elements.
    pub fn set_initial(&mut self, offset: u32, bytes: u32, value: u64) {
        for (index, at) in (0..bytes.min(8)).step_by(self.element as usize).enumerate() {
            let index = u32::try_from(index).expect("few elements");
            let part = value >> (8 * at) & low64(low_bytes(self.element));
            let element = offset / self.element + index;
            if part == 0 {
                self.initial.remove(&element);
            } else {
                self.initial.insert(element, part);
            }
        }
    }

    /// Changes the bytes of an element.
    pub fn divide(&mut self, element: u32) {
        let initial = self.initial_bytes(0..self.element * self.count);
        (self.element, self.count) = (element, (self.element * self.count).div_ceil(element));
        self.initial.clear();
        for (at, bytes) in (0..).step_by(element as usize).zip(initial.chunks(element as usize)) {
            self.set_initial(at, element, low64(little_endian(bytes)));
        }
    }

    fn initial_bytes(&self, bytes: Range<u32>) -> Vec<u8> {
        let of = |at: u32| {
            let value = self.initial.get(&(at / self.element)).copied().unwrap_or(0);
            value.to_le_bytes()[(at % self.element) as usize]
        };
        bytes.map(of).collect()
    }

    fn variable(&self) -> Variable {
        let initial = match self.alias {
            Some(_) => Vec::new(),
            None => self.initial_bytes(0..self.element * self.count),
        };
        Variable {
            name: self.name.clone(),
            space: self.space,
            initial,
            uninitialised: false,
            declared: true,
            alias: self.alias.map(|of| Alias { of: variable_id(of), proxy: Proxy::Generic }),
            home: None,
            absolute: self.absolute,
            mbarriers: Vec::new(),
            tensormap: None,
            multimem: Vec::new(),
        }
    }

    /// The declaration in a test; `all` is the memory of the question.
    pub fn declaration(&self, all: &[Memory]) -> String {
        if let Some(of) = self.alias {
            return format!("{} @ generic aliases {}", self.name, all[of].name);
        }
        let mut text = format!(".{} .u{} {}", self.space.name(), 8 * self.element, self.name);
        if self.count > 1 || !self.initial.is_empty() {
            write!(text, "[{}]", self.count).expect("a string takes it");
        }
        if let Some((&last, _)) = self.initial.last_key_value() {
            let value = |index: u32| self.initial.get(&index).copied().unwrap_or(0).to_string();
            let values: Vec<String> = (0..=last).map(value).collect();
            write!(text, "={{{}}}", values.join(",")).expect("a string takes it");
        }
        if let Some(address) = self.absolute {
            write!(text, " @{address:#x}").expect("a string takes it");
        }
        text
    }
}

/// The variable of the memory with this index.
pub fn variable_id(memory: usize) -> VariableId {
    VariableId(u16::try_from(memory).expect("few variables"))
}

/// The value of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Argument {
    /// The address of the memory with this index.
    Pointer(usize),
    Integer(u64),
}

/// A part of a parameter that is not a scalar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParameterPiece {
    /// The index of the parameter.
    pub parameter: usize,
    /// In bytes.
    pub offset: u32,
    pub bits: u16,
    pub value: Argument,
}

/// The initial state of both sides of a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setup {
    pub memory: Vec<Memory>,
    pub arguments: Vec<Argument>,
    /// The special registers whose values are other than those of the first thread.
    pub special: BTreeMap<String, u64>,
    /// The parts of parameters that are not scalars. They do not overlap.
    pub pieces: Vec<ParameterPiece>,
    /// The memory to which `%envreg2` and `%envreg1` lead, its low and its high half: that of a grid whose CTAs
    /// synchronize.
    pub workspace: Option<usize>,
}

/// The special registers that hold a pointer to the memory of a grid, its low half first.
pub const WORKSPACE: [&str; 2] = ["envreg2", "envreg1"];

/// A column of a test: its cells, and the initial values of registers.
#[derive(Clone, Debug)]
pub struct TestColumn {
    pub cells: Vec<String>,
    pub initial: Vec<(String, String)>,
}

impl Setup {
    /// A test of these columns in one language.
    pub fn test(
        &self,
        name: &str,
        language: SourceId,
        columns: &[(Placement, &TestColumn)],
        condition: &str,
    ) -> TestText {
        let mut source = TestText::new(language.name(), name);
        source.declare(self.memory.iter().map(|memory| memory.declaration(&self.memory)));
        for (index, (_, column)) in columns.iter().enumerate() {
            let registers = column.initial.iter();
            source.declare(registers.map(|(name, value)| format!("P{index}:{name}={value}")));
        }
        let table = columns.iter().enumerate().map(|(index, (placement, column))| {
            let first = format!("P{index}@{placement}");
            std::iter::once(first).chain(column.cells.iter().cloned()).collect()
        });
        source.columns(&table.collect::<Vec<Vec<String>>>());
        source.end(condition);
        source
    }

    /// The memory of which this one is another virtual address, or itself.
    pub fn root(&self, memory: usize) -> usize {
        self.memory[memory].alias.map_or(memory, |of| self.root(of))
    }

    /// Removes memory to which no other one leads.
    pub fn remove(&mut self, memory: usize) {
        self.memory.remove(memory);
        for alias in self.memory.iter_mut().filter_map(|other| other.alias.as_mut()) {
            *alias -= usize::from(*alias > memory);
        }
    }

    /// A number in a test: an address as it is declared.
    pub fn word(&self, value: u64) -> String {
        let address = self.memory.iter().any(|memory| memory.absolute == Some(value));
        if address { format!("{value:#x}") } else { value.to_string() }
    }

    /// The setup in which what atomic operations of 128 bits compare and write has at most 64 bits, as the values of
    /// contexts have; `None` if there are no such operations.
    pub fn narrow(&self, sides: [&Function; 2]) -> Option<Setup> {
        let steps = sides.into_iter().flat_map(|side| &side.rows).flat_map(|row| &row.lines);
        let wide = |instruction: &Instruction| matches!(instruction, Instruction::Atomic(atomic) if atomic.ty.bits > 64);
        if !steps.map(|step| &step.line.instruction).any(wide) {
            return None;
        }
        let mut other = self.clone();
        for piece in other.pieces.iter_mut().filter(|piece| piece.offset % 16 == 8) {
            if matches!(piece.value, Argument::Integer(_)) {
                piece.value = Argument::Integer(0);
            }
        }
        (other != *self).then_some(other)
    }

    /// The variable that a function refers to by this name.
    fn variable(&self, name: &str) -> Option<VariableId> {
        let found = self.memory.iter().position(|memory| memory.name == name)?;
        u16::try_from(found).ok().map(VariableId)
    }

    /// The pointer that begins at this byte of a parameter. Half of its bits stand for all of it, as a whole
    /// pointer of a listing stands in the register of its low half.
    fn piece(&self, parameter: usize, offset: u32, bits: u16) -> Option<Argument> {
        let of = |piece: &&ParameterPiece| piece.parameter == parameter && piece.offset == offset;
        let found = self.pieces.iter().find(of)?;
        let pointer = matches!(found.value, Argument::Pointer(_));
        (pointer && bits >= 32).then_some(found.value)
    }

    /// Bits of a parameter that are numbers. Those of pointers are 0.
    fn bits(&self, parameter: usize, offset: u32, bits: u16) -> Value {
        let of = |piece: &&ParameterPiece| piece.parameter == parameter;
        let mut bytes = [0_u8; 16];
        for piece in self.pieces.iter().filter(of) {
            let Argument::Integer(value) = piece.value else { continue };
            let whole = value.to_le_bytes();
            for (at, byte) in (piece.offset..).zip(&whole[..usize::from(piece.bits / 8).min(8)]) {
                let place = at.checked_sub(offset).map(|place| place as usize);
                if let Some(place) = place.and_then(|place| bytes.get_mut(place)) {
                    *place = *byte;
                }
            }
        }
        Value::from_le_bytes(bytes) & low_bits(bits)
    }

    /// The initial value of a register of the first thread.
    fn entry(&self, value: &EntryValue) -> InitialValue {
        let address = |variable| InitialValue::Address { variable, thread: ThreadId(0), offset: 0 };
        let argument = |argument: &Argument| match argument {
            Argument::Pointer(memory) => address(variable_id(*memory)),
            Argument::Integer(value) => InitialValue::Value((*value).into()),
        };
        match value {
            EntryValue::Parameter(index) => {
                self.arguments.get(*index).map_or(InitialValue::Value(0), argument)
            }
            EntryValue::Piece { parameter, offset, bits } => {
                self.piece(*parameter, *offset, *bits).as_ref().map_or_else(
                    || InitialValue::Value(self.bits(*parameter, *offset, *bits)),
                    argument,
                )
            }
            EntryValue::Value(value) => InitialValue::Value((*value).into()),
            EntryValue::Address(name) => {
                self.variable(name).map_or(InitialValue::Value(0), address)
            }
            EntryValue::Special(name) if name == WORKSPACE[0] && self.workspace.is_some() => self
                .workspace
                .map_or(InitialValue::Value(0), |memory| argument(&Argument::Pointer(memory))),
            EntryValue::Special(name) => {
                let value = self.special.get(name).copied().unwrap_or_else(|| special(name));
                InitialValue::Value(value.into())
            }
        }
    }

    /// The column of a function, with one piece before it and one after it.
    pub fn column(&self, function: &Function, frame: &[ThreadPiece; 2]) -> TestColumn {
        let initial = function.initial.iter().map(|(register, value)| {
            let value = match self.entry(value) {
                InitialValue::Value(value) => value.to_string(),
                InitialValue::Address { variable, .. } => {
                    self.memory[usize::from(variable.0)].name.clone()
                }
            };
            (register.clone(), value)
        });
        let mut cells: Vec<String> = frame[0].cells();
        let body = function.rows.iter().map(FunctionLine::cell);
        if frame[1].lines.is_empty() {
            cells.extend(body);
        } else {
            // Each end of the function leads to the piece after it.
            cells.extend(body.map(|cell| leaving(&cell).unwrap_or(cell)));
            cells.push(format!("{END}:"));
            cells.extend(frame[1].cells());
        }
        TestColumn { cells, initial: initial.collect() }
    }
}

/// A return, with its label and guard, as a jump to the piece after the function.
fn leaving(cell: &str) -> Option<String> {
    let before = cell.strip_suffix("ret").or_else(|| cell.strip_suffix("exit"))?;
    let words = before.split_whitespace();
    // A value may be named `%ret`. Only labels and a guard may precede an opcode.
    let opcode = words.clone().all(|word| word.ends_with(':') || word.starts_with('@'))
        && (before.is_empty() || before.ends_with(char::is_whitespace));
    opcode.then(|| format!("{before}bra {END}"))
}

/// The value of a special register in the first thread of two CTAs of one warp.
fn special(name: &str) -> u64 {
    let count = ["nclusterid", "cluster_nctaid", "cluster_nctarank", "nwarpid"];
    let one = count.iter().any(|first| name.starts_with(first))
        || ["ntid", "nctaid"].iter().any(|first| name.starts_with(first));
    match name {
        "WARP_SZ" | "ntid.x" => 32,
        "nctaid.x" => 2,
        "is_explicit_cluster" => 1,
        // The fourth element of `%tid` and its like.
        _ if name.strip_suffix(".w").is_some() => 0,
        "lanemask_eq" | "lanemask_le" => 1,
        "lanemask_ge" => 0xffff_ffff,
        "lanemask_gt" => 0xffff_fffe,
        _ => u64::from(one),
    }
}

/// A function as a thread.
pub struct BoundFunction {
    /// A program with this thread alone.
    pub program: Program,
    /// The row of the function for each line.
    pub rows: Vec<Option<usize>>,
    /// The machine's operations for each line, if the function is a listing.
    pub lowered: Vec<LoweredInstruction>,
}

impl BoundFunction {
    pub fn thread(&self) -> &Thread {
        &self.program.threads[0]
    }

    /// The line in the function's file of a line of the thread.
    pub fn line(&self, function: &Function, line: usize) -> usize {
        let row = self.rows.get(line).copied().flatten();
        row.map_or(function.line, |row| function.rows[row].line)
    }
}

/// Makes a function the thread of a program, with one piece before it and one after it.
pub fn bind(
    setup: &Setup,
    function: &Function,
    frame: &[ThreadPiece; 2],
) -> Result<BoundFunction, Refused> {
    let [before, after] = frame;
    let variables: Vec<VariableId> = function
        .variables
        .iter()
        .map(|variable| setup.variable(&variable.name).expect("a setup has all variables"))
        .collect();
    let entry = |name: &str| {
        let found = function.initial.iter().find(|(register, _)| register == name);
        found.map_or(InitialValue::Value(0), |(_, value)| setup.entry(value))
    };
    let registers = function.registers.iter();
    let mut thread = Thread {
        name: "P0".to_owned(),
        placement: HERE,
        registers: registers
            .map(|(name, bits)| Register { name: name.clone(), bits: *bits, initial: entry(name) })
            .collect(),
        lines: Vec::new(),
    };
    before.append(&mut thread);
    let mut rows = vec![None; before.lines.len()];
    let mut lowered = vec![LoweredInstruction::default(); before.lines.len()];
    let first = before.lines.len();
    for (index, row) in function.rows.iter().enumerate() {
        for lifted in &row.lines {
            let mut line = lifted.line.clone();
            if let Instruction::Branch(branch) = &mut line.instruction {
                branch.target += first;
            }
            if let Instruction::Unsupported(why) = &line.instruction {
                return Err(Refused { line: row.line, why: why.clone() });
            }
            line.instruction.each_operand_mut(&mut |operand| {
                if let Operand::Address(variable) = operand {
                    *variable = variables[usize::from(variable.0)];
                }
            });
            thread.lines.push(line);
            lowered.push(lifted.lowered.clone());
            rows.push(Some(index));
        }
    }
    after.append(&mut thread);
    rows.resize(thread.lines.len(), None);
    lowered.resize(thread.lines.len(), LoweredInstruction::default());
    let variables = setup.memory.iter().map(Memory::variable).collect();
    let program = Program { threads: vec![thread], variables, ..Program::default() };
    Ok(BoundFunction { program, rows, lowered })
}

/// A parameter, or the part of it that begins at a byte.
pub type ParameterPlace = (usize, Option<u32>);

/// The parameters from which some access computes its address, with the state space that the first one names. Sums, moves and alignments preserve an address. If two
/// parameters could be the address, the first one is chosen.
pub fn pointers(function: &Function, thread: &Thread) -> BTreeMap<ParameterPlace, SpaceQualifier> {
    let index = |name: &str| thread.registers.iter().position(|register| register.name == name);
    let mut from: Vec<Option<ParameterPlace>> = vec![None; thread.registers.len()];
    for (name, initial) in &function.initial {
        let Some(register) = index(name) else { continue };
        from[register] = match initial {
            EntryValue::Parameter(parameter) => {
                let wide = function.parameters.get(*parameter).is_some_and(|p| p.bits == 64);
                wide.then_some((*parameter, None))
            }
            // A listing reads a pointer as two words.
            EntryValue::Piece { parameter, offset, bits } => {
                (*bits >= 32 && offset % 8 == 0).then_some((*parameter, Some(*offset)))
            }
            EntryValue::Value(_) | EntryValue::Address(_) | EntryValue::Special(_) => None,
        };
    }
    let of = |from: &[Option<ParameterPlace>], operand: &Operand| match operand {
        Operand::Reg(Reg(register)) => from[usize::from(*register)],
        Operand::Imm(_) | Operand::Address(_) => None,
    };
    // A mask of the low bits, which aligns an address: that of the word of a byte.
    let aligns =
        |operand: &Operand| matches!(operand, Operand::Imm(mask) if mask.leading_ones() >= 32);
    for _ in 0..thread.lines.len() {
        let mut changed = false;
        for line in &thread.lines {
            let (destination, source) = if let Instruction::Alu(alu) = &line.instruction {
                let keeps = matches!(
                    alu.op,
                    AluOp::Mov
                        | AluOp::Add
                        | AluOp::Sub
                        | AluOp::Selp
                        | AluOp::Extract(_)
                        | AluOp::Concat(_)
                ) || alu.op == AluOp::And && alu.sources.iter().any(aligns);
                let source = alu.sources.iter().find_map(|source| of(&from, source));
                (alu.destination, source.filter(|_| keeps))
            } else if let Instruction::Cvta(cvta) = &line.instruction {
                (cvta.destination, of(&from, &cvta.source))
            } else {
                continue;
            };
            let known = &mut from[usize::from(destination.0)];
            if known.is_none() && source.is_some() {
                *known = source;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let mut all = BTreeMap::new();
    for line in &thread.lines {
        let place = line.instruction.access().and_then(|(address, ..)| of(&from, &address.base));
        if let Some(place) = place {
            all.entry(place).or_insert(line.instruction.space());
        }
    }
    all
}
