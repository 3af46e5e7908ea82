//! Writes litmus tests for other tools: in the dialect of Dartagnan, in herd's LISA with the model, as a PTX module, and
//! as a CUDA program that runs the test on a GPU.

mod cuda;
mod dat3m;
mod herd_model;
mod kernel;
mod lisa;
mod module;
pub mod operands;

use litmus::proposition::truncate;
use litmus::{Dialect, Test};
use model::isa::alu::{Alu, AluOp, Comparison};
use model::isa::fence::ProxyFence;
use model::isa::{Guard, Instruction, Line, Operand, Reg};
use model::memory::{Proxy, Space};
use model::program::{InitialValue, Thread};

pub use cuda::CudaProgram;
pub use herd_model::{bell, cat};

/// What a test is written as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExportFormat {
    /// Untyped PTX, which Dartagnan reads.
    Dat3m,
    /// LISA, for herd7 with the model of [`bell`] and [`cat`].
    HerdLisa,
    /// A module with one kernel, which ptxas assembles.
    Ptx,
    /// A program of CUDA that runs the test and prints a histogram; [`CudaProgram`] is one of several tests.
    Cuda,
}

impl ExportFormat {
    /// The extension of the file.
    pub fn extension(self) -> &'static str {
        match self {
            ExportFormat::Dat3m | ExportFormat::HerdLisa => "litmus",
            ExportFormat::Ptx => "ptx",
            ExportFormat::Cuda => "cu",
        }
    }
}

/// What a format cannot say, and where the test has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inexpressible {
    /// The line in the file, from 1.
    pub line: usize,
    pub what: String,
}

/// The text of the test in a format.
pub fn export(test: &Test, format: ExportFormat) -> Result<String, Inexpressible> {
    if format == ExportFormat::Dat3m && test.dialect == Dialect::Peer {
        return dat3m::text(test);
    }
    check_expressible(test)?;
    match format {
        ExportFormat::Dat3m => dat3m::text(test),
        ExportFormat::HerdLisa => lisa::text(test),
        ExportFormat::Ptx => module::text(test),
        ExportFormat::Cuda => {
            let mut program = CudaProgram::default();
            program.add(test)?;
            Ok(program.text())
        }
    }
}

/// A test must be in PTX, and about one kernel.
fn check_expressible(test: &Test) -> Result<(), Inexpressible> {
    if test.dialect != Dialect::Ptx || test.sass.is_some() {
        return Err(outside_ptx(test));
    }
    if !test.program.launches.is_empty() {
        let what = "an order of kernels".to_owned();
        return Err(Inexpressible { line: 1, what });
    }
    Ok(())
}

/// What is not in PTX: an instruction of the peer dialect, or the whole test.
fn outside_ptx(test: &Test) -> Inexpressible {
    let proxy = |line: &ExportedLine<'_>| {
        let of = &line.line.instruction;
        of.proxy().is_some_and(|proxy| proxy != Proxy::Generic)
            || matches!(of, Instruction::ProxyFence(fence) if *fence != ProxyFence::Alias)
    };
    let mut lines = (0..test.program.threads.len()).flat_map(|at| ExportedLine::all(test, at));
    match lines.find(proxy) {
        Some(line) => line.inexpressible("the texture, surface and constant proxies"),
        None => Inexpressible { line: 1, what: "a test that is not in PTX".to_owned() },
    }
}

/// A line of a thread while it is exported.
struct ExportedLine<'t> {
    test: &'t Test,
    thread: &'t Thread,
    /// The number of the thread and of the line.
    at: (usize, usize),
    line: &'t Line,
}

impl<'t> ExportedLine<'t> {
    /// Each line of a thread.
    fn all(test: &'t Test, number: usize) -> impl Iterator<Item = ExportedLine<'t>> {
        let thread = &test.program.threads[number];
        let lines = thread.lines.iter().enumerate();
        lines.map(move |(index, line)| ExportedLine { test, thread, at: (number, index), line })
    }

    /// The format has no words for something of this line.
    fn refuse<T>(&self, what: &str) -> Result<T, Inexpressible> {
        Err(self.inexpressible(what))
    }

    fn inexpressible(&self, what: &str) -> Inexpressible {
        let line = self.test.line_numbers[self.at.0].get(self.at.1).copied().unwrap_or(1);
        Inexpressible { line, what: format!("{what}: `{}`", self.line.text) }
    }

    fn name(&self, register: Reg) -> &'t str {
        &self.thread.registers[usize::from(register.0)].name
    }

    /// A constant as the unsigned number that the instruction takes: a reader of another tool has no width to wrap it at.
    fn number(&self, value: u64) -> u64 {
        let instruction = &self.line.instruction;
        let bits = if let Instruction::Alu(alu) = instruction {
            alu.ty.bits
        } else {
            instruction.access().map_or(64, |(_, ty, _)| ty.bits)
        };
        u64::try_from(truncate(value.into(), bits.into())).unwrap_or(value)
    }

    /// The name of a variable, the name of a register, or a number.
    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Reg(register) => self.name(register).to_owned(),
            Operand::Imm(value) => self.number(value).to_string(),
            Operand::Address(variable) => {
                self.test.program.variables[usize::from(variable.0)].name.clone()
            }
        }
    }

    /// The comparison for equality that decides a guard, if nothing is between the two.
    fn guarded_by(&self, guard: Guard) -> Result<(String, String), Inexpressible> {
        let before = self.at.1.checked_sub(1).map(|index| &self.thread.lines[index].instruction);
        match before {
            Some(Instruction::Alu(Alu {
                op: AluOp::Setp(Comparison::Eq),
                destination,
                sources,
                ..
            })) if *destination == guard.predicate && !guard.negated => {
                // What is after a branch depends on it.
                let after = &self.thread.lines[self.at.1 + 1..];
                if after.iter().any(|line| line.instruction.access().is_some()) {
                    return self.refuse("a guard of an access before another one of its thread");
                }
                Ok((self.operand(sources[0]), self.operand(sources[1])))
            }
            _ => self.refuse("a guard that is not a comparison for equality just before it"),
        }
    }

    /// The variable whose address a register holds at the start.
    fn initially(&self, register: Reg) -> Option<&'t str> {
        initially(self.test, self.thread, register)
    }
}

/// The variable whose address, without an offset, a register of a thread holds at the start.
fn initially<'t>(test: &'t Test, thread: &Thread, register: Reg) -> Option<&'t str> {
    match thread.registers[usize::from(register.0)].initial {
        InitialValue::Address { variable, offset: 0, .. } => {
            Some(&test.program.variables[usize::from(variable.0)].name)
        }
        InitialValue::Address { .. } | InitialValue::Value(_) => None,
    }
}

/// The condition with unsigned constants, as the memory of another tool has them.
fn condition(test: &Test) -> String {
    let proposition = test.proposition.unsigned(&test.program);
    format!("{} ({})", test.quantifier.name(), proposition.text(&test.program))
}

/// The format has no words for something of a variable.
fn refuse_variable<T>(test: &Test, variable: usize, what: &str) -> Result<T, Inexpressible> {
    let line = test.variable_lines.get(variable).copied().unwrap_or(1);
    let name = &test.program.variables[variable].name;
    Err(Inexpressible { line, what: format!("{what}: `{name}`") })
}

/// The initial state of the variables, for formats in herd's frame: 32-bit scalars in global memory.
fn plain_variables(test: &Test) -> Result<Vec<(String, u64)>, Inexpressible> {
    let mut all = Vec::new();
    for (index, variable) in test.program.variables.iter().enumerate() {
        let name = &variable.name;
        if variable.alias.is_some() {
            return refuse_variable(test, index, "an alias");
        }
        if variable.space != Space::Global {
            return refuse_variable(test, index, "a variable outside global memory");
        }
        if variable.initial.len() > 4 {
            return refuse_variable(test, index, "an array, or a variable of more than 32 bits");
        }
        let value =
            variable.initial.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
        all.push((name.clone(), value));
    }
    Ok(all)
}
