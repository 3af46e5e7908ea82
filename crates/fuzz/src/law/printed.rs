//! The law of the printer of instructions: what is printed reads back as the same instruction.

use litmus::revise::{Revision, SourceTest};
use litmus::{Dialect, Test};
use model::isa::print::print;
use model::program::ProgramNames;

/// Replaces each instruction of a test by what is printed of it, where something is, and reads the test again. Returns how
/// many were printed, or the first that reads back differently.
pub fn instructions_read_back(source: &SourceTest) -> Result<usize, String> {
    if source.test.dialect != Dialect::Ptx || source.test.sass.is_some() {
        return Ok(0);
    }
    let program = &source.test.program;
    let mut revisions = Vec::new();
    for (thread, cells) in source.cells.iter().enumerate() {
        let of = &program.threads[thread];
        let names = ProgramNames { program, thread: of };
        for (cell, at) in cells.iter().enumerate() {
            // A cell that became several lines has no instruction for each of them.
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
            return Err(format!("{} has other registers when it is read back", one.name));
        }
        for (before, after) in one.lines.iter().zip(&other.lines) {
            if (before.guard, &before.instruction) != (after.guard, &after.instruction) {
                return Err(format!("`{}` is printed as `{}`", before.text, after.text));
            }
        }
    }
    Ok(revisions.len())
}
