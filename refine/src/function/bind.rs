//! What a function and its lowering have in common: what parameters are, and which memory there is.
//! With that, each becomes the first thread of a program.

use std::collections::BTreeSet;
use std::fmt::Write;

use litmus::Test;
use litmus::print::TestText;
use machine::form::LoweredInstruction;
use model::function::{EntryValue, Function, Language, Refused};
use model::isa::alu::AluOp;
use model::isa::{Instruction, Operand, Reg};
use model::memory::Space;
use model::program::{Program, Thread};
use model::scope::Placement;
use text::Diagnostic;

/// Memory of a question; its index is that of the program's variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Memory {
    pub name: String,
    pub space: Space,
    /// Bytes of an element, and how many there are.
    pub element: u32,
    pub count: u32,
    /// Elements that do not begin as 0.
    pub initial: Vec<(u32, u64)>,
}

impl Memory {
    pub fn initial_of(&self, offset: u32) -> u64 {
        let found = self.initial.iter().find(|(index, _)| *index == offset / self.element);
        found.map_or(0, |(_, value)| *value)
    }

    fn declaration(&self) -> String {
        let mut text = format!(".{} .u{} {}", self.space.name(), 8 * self.element, self.name);
        if self.count > 1 || !self.initial.is_empty() {
            write!(text, "[{}]", self.count).expect("a string takes it");
        }
        if let Some(last) = self.initial.iter().map(|(index, _)| *index).max() {
            let values: Vec<String> =
                (0..=last).map(|index| self.initial_of(index * self.element).to_string()).collect();
            write!(text, "={{{}}}", values.join(",")).expect("a string takes it");
        }
        text
    }
}

/// What a parameter is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Argument {
    /// The address of this memory.
    Pointer(usize),
    Integer(u64),
}

/// What both sides of a question begin with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setup {
    pub memory: Vec<Memory>,
    pub arguments: Vec<Argument>,
}

/// A column of a test: cells, and what registers hold in the beginning.
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
        language: Language,
        columns: &[(Placement, &TestColumn)],
        condition: &str,
    ) -> TestText {
        let mut source = match language {
            Language::Cxx => TestText::new("CXX", name),
            Language::Ptx => TestText::new("PTX", name),
            Language::Sass(_) => TestText::new("SASS", name),
        };
        if let Language::Sass(sm) = language {
            source.key("Arch", &format!("sm_{sm}"));
        }
        source.declare(self.memory.iter().map(Memory::declaration));
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

    /// A condition, where only the program is wanted: memory that is not a thread's own has one name.
    pub fn anything(&self) -> String {
        let shared = |memory: &&Memory| memory.space == Space::Global;
        let name = self.memory.iter().find(shared).map_or("x", |memory| &memory.name);
        format!("exists ([{name}]=0)")
    }

    /// The column of a function, with these cells before it and behind it.
    pub fn column(&self, function: &Function, frame: &[Vec<String>; 2]) -> TestColumn {
        let initial = function.initial.iter().map(|(register, initial)| {
            let value = match initial {
                EntryValue::Parameter(index) => match self.arguments.get(*index) {
                    Some(Argument::Pointer(memory)) => self.memory[*memory].name.clone(),
                    Some(Argument::Integer(value)) => value.to_string(),
                    None => "0".to_owned(),
                },
                EntryValue::Value(value) => value.to_string(),
                EntryValue::Address(name) => name.clone(),
                EntryValue::Special(name) => special(name).to_string(),
            };
            (register.clone(), value)
        });
        let mut cells: Vec<String> = frame[0].clone();
        let body = function.rows.iter().map(|row| row.cell.as_str());
        if frame[1].is_empty() {
            cells.extend(body.map(str::to_owned));
        } else {
            // What stands behind the function is reached from each of its ends.
            cells.extend(body.map(|cell| leaving(cell).unwrap_or_else(|| cell.to_owned())));
            cells.push(format!("{END}:"));
            cells.extend(frame[1].iter().cloned());
        }
        TestColumn { cells, initial: initial.collect() }
    }
}

/// A label that no function has.
const END: &str = "function_end";

/// A return, with its label and guard, as a jump to what stands behind the function.
fn leaving(cell: &str) -> Option<String> {
    let before = cell.strip_suffix("ret").or_else(|| cell.strip_suffix("exit"))?;
    let words = before.split_whitespace();
    // A value may be called `%ret`: before an opcode there are labels and a guard, and nothing else.
    let opcode = words.clone().all(|word| word.ends_with(':') || word.starts_with('@'))
        && (before.is_empty() || before.ends_with(char::is_whitespace));
    opcode.then(|| format!("{before}bra {END}"))
}

/// What a special register holds in the thread that is judged: the first of a grid of one.
fn special(name: &str) -> u64 {
    let count = ["ntid", "nctaid", "nclusterid", "cluster_nctaid", "cluster_nctarank", "nwarpid"];
    let one = count.iter().any(|first| name.starts_with(first));
    match name {
        "WARP_SZ" => 32,
        "lanemask_eq" | "lanemask_le" => 1,
        "lanemask_ge" => 0xffff_ffff,
        "lanemask_gt" => 0xffff_fffe,
        _ => u64::from(one),
    }
}

/// A function as a thread.
pub struct BoundFunction {
    /// Of this thread alone.
    pub program: Program,
    /// For each of its lines, the row of the function.
    pub rows: Vec<Option<usize>>,
    /// What the machine does for each line, where the function is a listing's.
    pub lowered: Vec<LoweredInstruction>,
}

impl BoundFunction {
    pub fn thread(&self) -> &Thread {
        &self.program.threads[0]
    }

    /// Where in its file a line of the thread is.
    pub fn line(&self, function: &Function, line: usize) -> usize {
        let row = self.rows.get(line).copied().flatten();
        row.map_or(function.line, |row| function.rows[row].line)
    }
}

/// Where the judged thread is, while it is alone.
pub const HERE: Placement = Placement { gpu: 0, cluster: Some(0), cta: 0, warp: None, sm: None };

/// Reads the column of a function.
pub fn bind(
    setup: &Setup,
    function: &Function,
    frame: &[Vec<String>; 2],
) -> Result<BoundFunction, Refused> {
    let column = setup.column(function, frame);
    let source = setup.test("function", function.language, &[(HERE, &column)], &setup.anything());
    // Cells follow the line of placements.
    let first = source.line_of_row(1);
    let row_at = |line: usize| {
        let cell = line.checked_sub(first + frame[0].len())?;
        (cell < function.rows.len()).then_some(cell)
    };
    let read = litmus::parse(&function.name, source.to_string().as_bytes())
        .map_err(|diagnostics| unread(&diagnostics, function, &row_at))?;
    let Test { program, line_numbers, sass, .. } = read;
    let lowered = sass.and_then(|mut sass| sass.lowered.pop()).unwrap_or_default();
    let rows: Vec<Option<usize>> = line_numbers[0].iter().map(|&line| row_at(line)).collect();
    let bound = BoundFunction { program, rows, lowered };
    if let Some((_, line, why)) = bound.program.unsupported() {
        return Err(Refused { line: bound.line(function, line), why: why.to_owned() });
    }
    Ok(bound)
}

fn unread(
    diagnostics: &[Diagnostic],
    function: &Function,
    row_at: &dyn Fn(usize) -> Option<usize>,
) -> Refused {
    let Some(first) = diagnostics.first() else {
        return Refused { line: function.line, why: "it cannot be read".to_owned() };
    };
    let row = row_at(first.span.line).map(|row| &function.rows[row]);
    let line = row.map_or(function.line, |row| row.line);
    let cell = row.map_or(String::new(), |row| format!("`{}`: ", row.cell));
    Refused { line, why: format!("{cell}{}", first.message) }
}

/// The parameters that some access has its address from. Sums and moves keep an address; where two
/// could be it, the first one is.
pub fn pointers(function: &Function, thread: &Thread) -> BTreeSet<usize> {
    let index = |name: &str| thread.registers.iter().position(|register| register.name == name);
    let mut from: Vec<Option<usize>> = vec![None; thread.registers.len()];
    for (name, initial) in &function.initial {
        if let (EntryValue::Parameter(parameter), Some(register)) = (initial, index(name)) {
            let wide = function.parameters.get(*parameter).is_some_and(|p| p.bits == 64);
            from[register] = wide.then_some(*parameter);
        }
    }
    let of = |from: &[Option<usize>], operand: &Operand| match operand {
        Operand::Reg(Reg(register)) => from[usize::from(*register)],
        Operand::Imm(_) | Operand::Address(_) => None,
    };
    for _ in 0..thread.lines.len() {
        let mut changed = false;
        for line in &thread.lines {
            let (destination, source) = match &line.instruction {
                Instruction::Alu(alu) => {
                    let keeps = matches!(
                        alu.op,
                        AluOp::Mov
                            | AluOp::Add
                            | AluOp::Sub
                            | AluOp::Selp
                            | AluOp::Extract(_)
                            | AluOp::Concat(_)
                    );
                    let source = alu.sources.iter().find_map(|source| of(&from, source));
                    (alu.destination, source.filter(|_| keeps))
                }
                Instruction::Cvta(cvta) => (cvta.destination, of(&from, &cvta.source)),
                Instruction::Load(_)
                | Instruction::Store(_)
                | Instruction::Atomic(_)
                | Instruction::Fence(_)
                | Instruction::ProxyFence(_)
                | Instruction::Barrier(_)
                | Instruction::ClusterBarrier(_)
                | Instruction::Branch(_)
                | Instruction::Unsupported(_) => continue,
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
    let accesses = thread.lines.iter().filter_map(|line| line.instruction.access());
    accesses.filter_map(|(address, ..)| of(&from, &address.base)).collect()
}
