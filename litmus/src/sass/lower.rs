//! A litmus test lowered by a table: what each of its lines becomes on the machine.

use model::isa::atom::AtomicOp;
use model::isa::{Instruction, Type, TypeKind};
use model::machine::form::{Family, Lowered};
use model::machine::{Refusal, lower};
use model::program::{Program, ThreadId};

use super::form::{self, Unknown};
use crate::Test;
use crate::lowering::Table;
use crate::ptx;

/// A table, and the target that its rows are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Lowering<'t> {
    pub table: &'t Table,
    pub sm: u16,
    pub family: Family,
    /// What the lines of a test in SASS do, which no table is asked for.
    pub direct: Option<&'t [Vec<Lowered>]>,
}

impl<'t> Lowering<'t> {
    /// That of a test in SASS, which is of one machine.
    pub fn of_test(test: &'t Test) -> Option<Lowering<'t>> {
        let sass = test.sass.as_ref()?;
        let direct = Some(&sass.lowered[..]);
        Some(Lowering { direct, sm: sass.sm, ..Lowering::of(sass.sm)? })
    }

    /// The table that comes with the program for a target.
    pub fn of(sm: u16) -> Option<Lowering<'static>> {
        let family = Family::of(sm)?;
        let named = crate::lowering::families().iter().find(|f| f.name == family.name())?;
        Some(Lowering { table: &named.table, sm, family, direct: None })
    }

    /// What each line of each thread becomes.
    pub fn program(&self, program: &Program) -> Result<Vec<Vec<Lowered>>, Refusal> {
        if let Some(direct) = self.direct {
            return Self::direct(program, direct);
        }
        let threads = (0..).zip(&program.threads);
        threads
            .map(|(thread, of)| {
                let lines = of.lines.iter().enumerate();
                lines
                    .map(|(line, of)| {
                        self.line(&of.instruction, &of.text).map_err(|why| Refusal::Lowering {
                            thread: ThreadId(thread),
                            line,
                            why,
                        })
                    })
                    .collect()
            })
            .collect()
    }

    /// A test in SASS says what its lines do; what nobody has looked at does nothing that is known.
    fn direct(program: &Program, direct: &[Vec<Lowered>]) -> Result<Vec<Vec<Lowered>>, Refusal> {
        match program.unsupported() {
            Some((thread, line, why)) => {
                Err(Refusal::Lowering { thread, line, why: why.to_owned() })
            }
            None => Ok(direct.to_vec()),
        }
    }

    /// What one line becomes: by the table where it is an access or a fence of PTX, else by what
    /// every family does.
    fn line(&self, instruction: &Instruction, text: &str) -> Result<Lowered, String> {
        let standard = lower::lower(instruction, self.family);
        let tabled = match instruction {
            Instruction::Load(_)
            | Instruction::Store(_)
            | Instruction::Atomic(_)
            | Instruction::Fence(_) => self.tabled(instruction, text),
            Instruction::ProxyFence(_)
            | Instruction::Barrier(_)
            | Instruction::ClusterBarrier(_)
            | Instruction::Alu(_)
            | Instruction::Cvta(_)
            | Instruction::Branch(_)
            | Instruction::Unsupported(_) => None,
        };
        match tabled {
            // What the family has no instruction for has no row either.
            None => standard.map_err(str::to_owned),
            Some(Ok(lowered)) => Ok(lowered),
            Some(Err(Unknown(name))) => Err(format!("the machine has no `{name}`")),
        }
    }

    /// The row for an instruction as it is written, or for one that differs from it in nothing
    /// that orders memory.
    fn tabled(&self, instruction: &Instruction, text: &str) -> Option<Result<Lowered, Unknown>> {
        self.text(instruction, text).map(|sass| form::sequence(instruction, &sass))
    }

    /// The text of that row.
    pub fn text(&self, instruction: &Instruction, text: &str) -> Option<String> {
        let single = ptx::instruction("", text, ptx::Options::default()).ok()?;
        let opcode = single.opcode.name();
        let find = |parts: &[&str]| self.table.find(self.sm, opcode, parts);
        let parts = single.parts;
        let measured = parts.iter().map(|part| alike(part, instruction));
        // An access without an order is weak; the oldest family has no word for it.
        let unordered = measured.clone().filter(|part| *part != "weak");
        find(&parts)
            .or_else(|| find(&measured.collect::<Vec<&str>>()))
            .or_else(|| find(&unordered.collect::<Vec<&str>>()))
    }
}

/// A part in the place of one that the tables may not have: other operations and types go the same
/// way to memory.
fn alike<'p>(part: &'p str, instruction: &Instruction) -> &'p str {
    let ty = instruction.access().map(|(_, ty, _)| ty);
    let op = if let Instruction::Atomic(atomic) = instruction { Some(atomic.op) } else { None };
    let numbers = op.is_some_and(|op| !matches!(op, AtomicOp::Cas | AtomicOp::Exch));
    let measured = |ty: Type| match (numbers, ty.bits) {
        (true, 64) => "u64",
        (true, _) => "u32",
        (false, 8) => "u8",
        (false, 16) if op.is_some() => "b16",
        (false, 16) => "u16",
        (false, 64) => "b64",
        (false, 128) => "b128",
        (false, _) => "b32",
    };
    match part {
        "or" | "xor" | "min" | "max" | "and" | "dec" | "inc" => "add",
        _ => match ty {
            Some(ty) if part == ty.name() && ty.kind != TypeKind::FloatPair => measured(ty),
            _ => part,
        },
    }
}
