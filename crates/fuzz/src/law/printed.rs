//! The law of the printer of instructions: what is printed reads back as the same instruction.

use litmus::revise::{Revision, SourceTest};
use litmus::{Dialect, Test};
use model::isa::Reg;
use model::isa::print::{OperandNames, print};
use model::memory::VariableId;
use model::program::ProgramNames;

/// The names of a file, and its labels.
struct SourceNames<'t>(ProgramNames<'t>);

impl OperandNames for SourceNames<'_> {
    fn register(&self, register: Reg) -> String {
        self.0.register(register)
    }

    fn bits(&self, register: Reg) -> u16 {
        self.0.bits(register)
    }

    fn variable(&self, variable: VariableId) -> String {
        self.0.variable(variable)
    }

    /// As another branch to this line has it.
    fn label(&self, line: usize) -> Option<String> {
        let thread = self.0.thread;
        let jumps = thread.branches().filter(|&(_, target)| target == line);
        let mut texts = jumps.map(|(at, _)| thread.lines[at].text.as_str());
        let label = texts.find_map(|text| text.split_once("bra"))?.1;
        Some(label.trim_start_matches(".uni").trim().to_owned())
    }
}

/// Replaces each instruction of a test by what is printed of it, where something is, and reads the test again. The number of
/// printed instructions; what is another instruction then, if some is.
pub fn instructions_read_back(source: &SourceTest) -> Result<usize, String> {
    if source.test.dialect != Dialect::Ptx || source.test.sass.is_some() {
        return Ok(0);
    }
    let program = &source.test.program;
    let mut revisions = Vec::new();
    for (thread, cells) in source.cells.iter().enumerate() {
        let of = &program.threads[thread];
        let names = SourceNames(ProgramNames { program, thread: of });
        for (cell, at) in cells.iter().enumerate() {
            // What is several operations has no instruction for each of them.
            let [line] = &of.lines[at.lines.clone()] else { continue };
            if let Some(text) = print(&line.instruction, &names) {
                revisions.push(Revision::Replace { thread, cell, text });
            }
        }
    }
    let again: Test = source.parse(&revisions).map_err(|errors| {
        let first = errors.first().map_or(String::new(), ToString::to_string);
        format!("what is printed does not parse: {first}")
    })?;
    for (one, other) in program.threads.iter().zip(&again.program.threads) {
        if one.registers != other.registers {
            return Err(format!("the registers of {} are others", one.name));
        }
        for (before, after) in one.lines.iter().zip(&other.lines) {
            if (before.guard, &before.instruction) != (after.guard, &after.instruction) {
                return Err(format!("`{}` is printed as `{}`", before.text, after.text));
            }
        }
    }
    Ok(revisions.len())
}
