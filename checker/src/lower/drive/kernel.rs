//! Writes a thread of a litmus test as a PTX kernel that stores its registers at the end.

use std::collections::{BTreeMap, BTreeSet};

use generate::export::operands;
use litmus::{Dialect, Test};
use model::isa::{Instruction, Reg};
use model::memory::{Space, Variable};
use model::program::{InitialValue, Observed, Register, Thread, ThreadId};

/// The placeholder for the name of the kernel in its text.
pub(super) const NAME: &str = "THREAD";

/// The text of a kernel with [`NAME`] as its name, or the reason why there is none.
pub(super) fn kernel(test: &Test, thread: usize) -> Result<String, String> {
    if test.sass.is_some() || test.dialect != Dialect::Ptx {
        return Err("it is not in PTX".to_owned());
    }
    let of = &test.program.threads[thread];
    let writer = KernelWriter { test, thread, of, text: String::new() };
    writer.kernel()
}

struct KernelWriter<'t> {
    test: &'t Test,
    thread: usize,
    of: &'t Thread,
    text: String,
}

impl<'t> KernelWriter<'t> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn kernel(mut self) -> Result<String, String> {
        let cells = self.cells()?;
        for (index, variable) in self.test.program.variables.iter().enumerate() {
            let name = format!("{NAME}_{}", variable.name);
            let held = self.of.registers.iter().any(|register| {
                matches!(register.initial, InitialValue::Address { variable, .. } if usize::from(variable.0) == index)
            });
            if held
                || cells.iter().any(|(_, cell)| operands::words(cell).any(|(_, word)| word == name))
            {
                let line = declaration(variable)?;
                self.line(&line);
            }
        }
        self.line(&format!(".visible .entry {NAME}(.param .u64 {NAME}_out)\n{{"));
        for (index, register) in self.named() {
            let ty = match self.bits(index) {
                1 => ".pred".to_owned(),
                bits => format!(".b{bits}"),
            };
            self.line(&format!("\t.reg {ty} {};", register.name));
        }
        self.line(&format!("\t.reg .b64 {NAME}_to;"));
        self.line(&format!("\tld.param.u64 {NAME}_to, [{NAME}_out];"));
        self.line(&format!("\tcvta.to.global.u64 {NAME}_to, {NAME}_to;"));
        self.begin()?;
        for (labels, cell) in cells {
            for label in labels {
                self.line(&format!("{NAME}_{label}:"));
            }
            self.line(&format!("\t{cell};"));
        }
        self.line(&format!("{NAME}_end:"));
        for (index, register) in self.shown().into_iter().enumerate() {
            let bits = self.bits(usize::from(register.0));
            let name = &self.of.registers[usize::from(register.0)].name;
            self.line(&format!("\tst.global.b{bits} [{NAME}_to+{}], {name};", 8 * index));
        }
        self.line("\tret;\n}");
        Ok(self.text)
    }

    /// The registers that the test names. The lines of a cell may use further registers.
    fn named(&self) -> impl Iterator<Item = (usize, &'t Register)> + use<'t> {
        let all = self.of.registers.iter().enumerate();
        all.filter(|(_, register)| !register.name.contains(' '))
    }

    /// The declared width of a register.
    fn bits(&self, index: usize) -> u16 {
        match operands::width(self.of, index) {
            1 => 1,
            bits => bits.max(16).next_power_of_two(),
        }
    }

    /// The initial values of the registers: 0 if the test gives none.
    fn begin(&mut self) -> Result<(), String> {
        for (index, register) in self.named() {
            let (bits, name) = (self.bits(index), &register.name);
            let line = match register.initial {
                _ if !(2..=64).contains(&register.bits) => continue,
                InitialValue::Value(value) if bits == 1 => {
                    format!("\tsetp.ne.u32 {name}, {}, 0;", value & 1)
                }
                InitialValue::Value(value) => format!("\tmov.b{bits} {name}, {value};"),
                InitialValue::Address { variable, offset, .. } => {
                    let variable = &self.test.program.variables[usize::from(variable.0)];
                    let of = match offset {
                        0 => format!("{NAME}_{}", variable.name),
                        _ => format!("{NAME}_{}+{offset}", variable.name),
                    };
                    match variable.space {
                        Space::Global => format!("\tmov.u64 {name}, {of};"),
                        Space::Shared => {
                            format!("\tmov.u64 {name}, {of};\n\tcvta.shared.u64 {name}, {name};")
                        }
                        Space::Const
                        | Space::Local
                        | Space::ParamEntry
                        | Space::ParamFunc
                        | Space::Tensor => {
                            return Err(other(variable));
                        }
                    }
                }
            };
            self.line(&line);
        }
        Ok(())
    }

    /// The instructions as written, each with the labels before it. One cell may be several lines of the
    /// program.
    fn cells(&self) -> Result<Vec<(Vec<String>, String)>, String> {
        let lines = &self.of.lines;
        let targets: BTreeSet<usize> = lines
            .iter()
            .filter_map(|line| line.instruction.as_branch())
            .map(|b| b.target)
            .collect();
        let names = self.names();
        let mut cells: Vec<(Vec<String>, String)> = Vec::new();
        for index in self.test.instructions(self.thread) {
            let line = &lines[index];
            if let Instruction::Unsupported(why) = &line.instruction {
                return Err(why.clone());
            }
            if line.text.contains('@') && !line.text.starts_with('@') {
                return Err("it uses the copy of another thread".to_owned());
            }
            let labels =
                if targets.contains(&index) { vec![index.to_string()] } else { Vec::new() };
            let cell = match line.instruction.as_branch() {
                Some(branch) => {
                    let guard = line.guard.map_or(String::new(), |guard| {
                        let name = &self.of.registers[usize::from(guard.predicate.0)].name;
                        format!("@{}{name} ", if guard.negated { "!" } else { "" })
                    });
                    let to = if branch.target < lines.len() {
                        branch.target.to_string()
                    } else {
                        "end".to_owned()
                    };
                    format!("{guard}bra {NAME}_{to}")
                }
                None => renamed(&line.text, &names),
            };
            cells.push((labels, cell));
        }
        Ok(cells)
    }

    /// The names of the variables in the module.
    fn names(&self) -> BTreeMap<&str, String> {
        let all = self.test.program.variables.iter();
        all.map(|variable| (variable.name.as_str(), format!("{NAME}_{}", variable.name))).collect()
    }

    /// The registers that memory accesses write, and those that the test observes.
    fn shown(&self) -> BTreeSet<Reg> {
        let accesses = self.of.lines.iter().filter(|line| line.instruction.access().is_some());
        let mut all: BTreeSet<Reg> =
            accesses.flat_map(|line| line.instruction.destinations()).collect();
        let here = ThreadId(u8::try_from(self.thread).expect("a test has few threads"));
        all.extend(self.test.program.observed.iter().filter_map(|observed| match *observed {
            Observed::Register { thread, register } if thread == here => Some(register),
            Observed::Register { .. } | Observed::Memory { .. } => None,
        }));
        all.retain(|register| (2..=64).contains(&self.bits(usize::from(register.0))));
        all
    }
}

fn other(variable: &Variable) -> String {
    format!("`{}` is in {} memory", variable.name, variable.space.name())
}

/// The declaration of a variable.
fn declaration(variable: &Variable) -> Result<String, String> {
    if variable.alias.is_some() {
        return Err(format!("`{}` is a second name of a location", variable.name));
    }
    if !matches!(variable.space, Space::Global | Space::Shared) {
        return Err(other(variable));
    }
    let bytes = variable.initial.len().next_multiple_of(16);
    let space = variable.space.name();
    Ok(format!(".{space} .align 16 .b8 {NAME}_{}[{bytes}];", variable.name))
}

/// An instruction with renamed operands.
fn renamed(text: &str, names: &BTreeMap<&str, String>) -> String {
    // `%r0` and `r0` name the same register.
    let register = |word: &str| word.strip_prefix('%').map(str::to_owned);
    operands::replaced(text, |_, _, word| names.get(word).cloned().or_else(|| register(word)))
}
