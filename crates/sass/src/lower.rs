//! Lowers a litmus test by a table, line by line.

use machine::Refusal;
use machine::form::{Family, LoweredInstruction};
use model::isa::asynchronous::{Asynchronous, Copy, GroupKind, Mbarrier, MbarrierOp, WaitGroup};
use model::isa::atom::AtomicOp;
use model::isa::bar::Barrier;
use model::isa::{Instruction, Operand, Type, TypeKind};
use model::program::{Program, ThreadId};
use ptx::qualifier::Qualifier;

use super::form::{self, UnknownInstruction};
use crate::lowering::LoweringTable;
use crate::lowering::asynchronous::operands_of;

/// A table, and the target for which its rows are used.
#[derive(Clone, Copy, Debug)]
pub struct Lowering<'t> {
    pub table: &'t LoweringTable,
    pub sm: u16,
    pub family: Family,
    /// The effects of the lines of a test in SASS, which need no table.
    pub direct: Option<&'t [Vec<LoweredInstruction>]>,
}

impl Lowering<'_> {
    /// The table that comes with the program for a target.
    pub fn of(sm: u16) -> Option<Lowering<'static>> {
        let family = Family::of(sm)?;
        let named = crate::lowering::families().iter().find(|f| f.name == family.name())?;
        Some(Lowering { table: &named.table, sm, family, direct: None })
    }

    /// The same for the first target of a family.
    pub fn of_family(family: Family) -> Option<Lowering<'static>> {
        Lowering::of(family.first())
    }

    /// What each line of each thread becomes.
    pub fn program(&self, program: &Program) -> Result<Vec<Vec<LoweredInstruction>>, Refusal> {
        if !program.launches.is_empty() {
            return Err(Refusal::Program("this machine runs the threads of one kernel"));
        }
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

    /// A test in SASS defines the effects of its lines; unsupported opcodes have no known effect.
    fn direct(
        program: &Program,
        direct: &[Vec<LoweredInstruction>],
    ) -> Result<Vec<Vec<LoweredInstruction>>, Refusal> {
        match program.unsupported() {
            Some((thread, line, why)) => {
                Err(Refusal::Lowering { thread, line, why: why.to_owned() })
            }
            None => Ok(direct.to_vec()),
        }
    }

    /// What one line becomes: by its row, if it has to do with memory.
    pub fn line(
        &self,
        instruction: &Instruction,
        text: &str,
    ) -> Result<LoweredInstruction, String> {
        match instruction {
            Instruction::Alu(_) | Instruction::Cvta(_) | Instruction::Branch(_) => {
                return Ok(LoweredInstruction::default());
            }
            Instruction::Barrier(Barrier { instance: Some(_), count: Some(_), .. }) => {
                return Err(LATE.to_owned());
            }
            Instruction::Barrier(Barrier { warp: true, .. }) => {
                return Err("this machine has no warps".to_owned());
            }
            Instruction::ProxyFence(_) => return Err("this machine has no proxies".to_owned()),
            Instruction::Asynchronous(of) => {
                if let Some(what) = missing(of) {
                    return Err(format!("this machine has no {what}"));
                }
                let sass =
                    self.text(instruction, text).ok_or_else(|| self.no_row(instruction, text))?;
                return form::asynchronous(of, &sass)
                    .map_err(|UnknownInstruction(name)| format!("the machine has no `{name}`"));
            }
            Instruction::Unsupported(why) => return Err(why.clone()),
            Instruction::Load(_)
            | Instruction::Store(_)
            | Instruction::Atomic(_)
            | Instruction::Fence(_)
            | Instruction::Barrier(_)
            | Instruction::ClusterBarrier(_) => {}
        }
        let sass = self.text(instruction, text).ok_or_else(|| self.no_row(instruction, text))?;
        form::sequence(instruction, &sass)
            .map_err(|UnknownInstruction(name)| format!("the machine has no `{name}`"))
    }

    /// The refusal of a line without a row, with the most similar instruction that has one.
    pub fn no_row(&self, instruction: &Instruction, text: &str) -> String {
        let (opcode, parts) = named(instruction, text);
        let alike: Vec<&str> = parts.iter().map(|part| alike(part, instruction)).collect();
        let nearest = self.table.nearest(self.sm, opcode, &alike);
        let nearest = nearest.map_or(String::new(), |near| format!("; the nearest is `{near}`"));
        let name = [&[opcode], &parts[..]].concat().join(".");
        format!("the table has no row for `{name}` on sm_{}{nearest}", self.sm)
    }

    /// What the row has for an instruction as it is written, or for one that differs from it in nothing that
    /// orders memory.
    pub fn text(&self, instruction: &Instruction, text: &str) -> Option<String> {
        let (opcode, parts) = named(instruction, text);
        let find = |parts: &[&str]| self.table.find(self.sm, opcode, parts);
        let measured = parts.iter().map(|part| alike(part, instruction));
        // An access without an order is weak; the oldest family has no word for it.
        let unordered = measured.clone().filter(|part| *part != "weak");
        find(&parts)
            .or_else(|| find(&measured.collect::<Vec<&str>>()))
            .or_else(|| find(&unordered.collect::<Vec<&str>>()))
    }
}

/// What of an asynchronous operation the machine does not have, if something.
fn missing(of: &Asynchronous) -> Option<&'static str> {
    match of {
        Asynchronous::Copy(Copy { reduction: Some(_), .. }) => Some("asynchronous reductions"),
        Asynchronous::Copy(Copy { multicast: Some(_), .. }) => Some("copies to several CTAs"),
        Asynchronous::Copy(Copy { tensor: Some(_), .. })
        | Asynchronous::TensormapFence(_)
        | Asynchronous::Tensormap(_) => Some("tensormaps"),
        Asynchronous::Multimem(_) | Asynchronous::Copy(Copy { multimem: true, .. }) => {
            Some("multimem addresses")
        }
        Asynchronous::Fill(_) => Some("`st.bulk`"),
        Asynchronous::Mbarrier(Mbarrier { op: MbarrierOp::CheckLayout { .. }, .. }) => {
            Some("`mbarrier.check_layout`")
        }
        Asynchronous::PendingCount(_) => Some("`mbarrier.pending_count`"),
        Asynchronous::Cancel(_) => Some("`clusterlaunchcontrol.try_cancel`"),
        Asynchronous::Grid(_) => Some("dependent kernels"),
        Asynchronous::TensorMemory(_) => Some("tensor memory"),
        Asynchronous::Copy(copy) if !matches!(copy.bytes, Some(Operand::Imm(_))) => {
            Some("copies whose size is in a register")
        }
        Asynchronous::Store(_) => Some("asynchronous stores"),
        Asynchronous::Multiply(_)
        | Asynchronous::MultiplyFence
        | Asynchronous::Commit(GroupKind::Multiplications)
        | Asynchronous::WaitGroup(WaitGroup { of: GroupKind::Multiplications, .. }) => {
            Some("matrix multiplications")
        }
        Asynchronous::Copy(_)
        | Asynchronous::Mbarrier(_)
        | Asynchronous::Track(_)
        | Asynchronous::Commit(GroupKind::Copies | GroupKind::BulkCopies)
        | Asynchronous::WaitGroup(WaitGroup {
            of: GroupKind::Copies | GroupKind::BulkCopies,
            ..
        })
        | Asynchronous::Fence(_) => None,
    }
}

/// The opcode of an instruction and its qualifiers; the peer dialect omits the type.
fn named<'t>(instruction: &Instruction, text: &'t str) -> (&'t str, Vec<&'t str>) {
    let mut words = text.split_whitespace();
    let name = words.find(|word| !word.starts_with('@')).unwrap_or("");
    let mut parts = name.trim_end_matches(';').split('.');
    let opcode = parts.next().unwrap_or("");
    let mut parts: Vec<&str> = parts.collect();
    let typed = |part: &&str| matches!(Qualifier::named(part), Some(Qualifier::Type(_)));
    if let Some((_, ty, _)) = instruction.access()
        && !parts.iter().any(typed)
    {
        parts.push(ty.name());
    }
    if let Some(of) = instruction.as_asynchronous() {
        parts.extend(operands_of(of));
    }
    (opcode, parts)
}

const LATE: &str = "late arrivals pass no barrier of this machine, as they pass the peer's";

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
