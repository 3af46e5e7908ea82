//! The registers that are live at a loop head, and whether iterations without an effect can be omitted from
//! the loops of a program.

use std::collections::{BTreeMap, BTreeSet};

use fixedbitset::FixedBitSet;

use crate::event::Mask;
use crate::expr::{ExprId, Exprs};
use model::isa::alu::AluOp;
use model::isa::{Address, Instruction, Operand, Type};
use model::memory::VariableId;
use model::program::{InitialValue, Observed, Program, Thread, ThreadId};
use model::value::Value;

/// Registers live before each line of a thread that has loops.
pub struct Liveness {
    /// For each line, the registers that are live before it. Empty where nobody asks.
    before: Vec<FixedBitSet>,
    /// The targets of backward jumps.
    heads: Vec<usize>,
    /// The loads in loops: before one, the register that it overwrites is not live, which it may be at the head of its loop.
    loads: Vec<usize>,
    sizes: AccessSizes,
}

/// The sizes of the accesses of a program, in bits. Reading B19: those of asynchronous operations do not count.
enum AccessSizes {
    /// No race between accesses of different sizes makes the program undefined.
    Agree,
    /// Those of each variable that is declared, and those whose variable is not known.
    Of(BTreeMap<VariableId, BTreeSet<u32>>, BTreeSet<u32>),
    Unknown,
}

impl Liveness {
    pub fn new(program: &Program, id: ThreadId) -> Liveness {
        let thread = &program.threads[usize::from(id.0)];
        let heads: Vec<usize> = thread.back_branches().map(|(_, target)| target).collect();
        if heads.is_empty() && !program.omits_covered {
            let sizes = AccessSizes::Unknown;
            return Liveness { before: Vec::new(), heads, loads: Vec::new(), sizes };
        }
        let sizes = sizes(program);
        let mut loads: Vec<usize> =
            thread.back_branches().flat_map(|(branch, target)| target..=branch).collect();
        let is_load = |line: usize| matches!(thread.lines[line].instruction, Instruction::Load(_));
        loads.retain(|&line| is_load(line) && !heads.contains(&line));
        Liveness { before: before(program, id), heads, loads, sizes }
    }

    pub fn loops(&self) -> bool {
        !self.heads.is_empty()
    }

    /// The registers that are live before a line.
    pub fn at(&self, line: usize) -> impl Iterator<Item = usize> + '_ {
        self.before[line].ones()
    }

    /// Whether a state is compared with later ones there.
    pub fn is_head(&self, line: usize) -> bool {
        self.heads.contains(&line) || self.is_load(line)
    }

    /// Whether it is a load in a loop.
    pub fn is_load(&self, line: usize) -> bool {
        self.loads.contains(&line)
    }

    /// Whether leaving out an access of a variable hides no race between accesses of different sizes: no other access
    /// overlaps a part of it.
    pub fn overlaps_completely(&self, variable: VariableId, bytes: u32) -> bool {
        match &self.sizes {
            AccessSizes::Agree => true,
            AccessSizes::Unknown => false,
            AccessSizes::Of(known, elsewhere) => {
                let own = known.get(&variable).into_iter().flatten();
                own.chain(elsewhere).all(|&bits| bits == 8 * bytes)
            }
        }
    }

    /// Whether every outcome of a path that comes back to a loop head with `later` is one of a path
    /// that goes on from `earlier`: live registers hold the same and depended on no more then.
    pub fn covers(
        &self,
        head: usize,
        earlier: (&[ExprId], &[Mask]),
        later: (&[ExprId], &[Mask]),
    ) -> bool {
        self.before[head].ones().all(|register| {
            let more = earlier.1[register] & !later.1[register];
            earlier.0[register] == later.0[register] && more == 0
        })
    }
}

/// The registers that some instruction from each line on, or the end, looks at.
pub fn before(program: &Program, id: ThreadId) -> Vec<FixedBitSet> {
    let thread = &program.threads[usize::from(id.0)];
    let mut at_end = FixedBitSet::with_capacity(thread.registers.len());
    for observed in &program.observed {
        match *observed {
            Observed::Register { thread: of, register } if of == id => {
                at_end.insert(register.0.into());
            }
            Observed::Register { .. } | Observed::Memory { .. } => {}
        }
    }
    solve(thread, &decisions(thread), &at_end)
}

/// Whether an instruction is executed, and a branch taken, as far as constants decide it.
#[derive(Clone, Copy)]
struct ConstantDecision {
    executes: Option<bool>,
    taken: Option<bool>,
}

/// For each line, what the constants that registers have there decide. A thread knows its own index, so that the code of all
/// threads is often a constant in each.
fn decisions(thread: &Thread) -> Vec<ConstantDecision> {
    let initial = thread.registers.iter().map(|register| match register.initial {
        InitialValue::Value(value) => Some(value),
        InitialValue::Address { .. } => None,
    });
    let count = thread.lines.len();
    let mut before: Vec<Option<Vec<Option<Value>>>> = vec![None; count + 1];
    before[0] = Some(initial.collect());
    let mut decisions = vec![ConstantDecision { executes: None, taken: None }; count];
    let mut pending = vec![0];
    while let Some(at) = pending.pop() {
        if at == count {
            continue;
        }
        let mut registers = before[at].clone().expect("a pending line is reached");
        let line = &thread.lines[at];
        let known = |operand: Operand| match operand {
            Operand::Reg(register) => registers[usize::from(register.0)],
            Operand::Imm(value) => Some(value.into()),
            Operand::Address(_) => None,
        };
        let executes = line.guard.map_or(Some(true), |guard| {
            let holds = known(Operand::Reg(guard.predicate))?;
            Some((holds != 0) != guard.negated)
        });
        let branch = line.instruction.as_branch();
        let taken = branch.and_then(|branch| match branch.condition {
            None => Some(true),
            Some((comparison, a, b)) => {
                let sides = [known(a)?, known(b)?];
                Some(computed(AluOp::Setp(comparison), Type::U64, &sides)? != 0)
            }
        });
        decisions[at] = ConstantDecision { executes, taken };
        let result = if let Instruction::Alu(alu) = &line.instruction {
            let sources: Option<Vec<Value>> = alu.sources.iter().map(|&of| known(of)).collect();
            sources.and_then(|sources| computed(alu.op, alu.ty, &sources))
        } else {
            None
        };
        if executes != Some(false) {
            for register in line.instruction.destinations() {
                let of = &mut registers[usize::from(register.0)];
                let kept = executes == Some(true) || *of == result;
                *of = result.filter(|_| kept);
            }
        }
        let jumps = branch.filter(|_| executes != Some(false) && taken != Some(false));
        let falls_through = branch.is_none() || executes != Some(true) || taken != Some(true);
        let next = jumps.map(|branch| branch.target.min(count));
        for next in next.into_iter().chain(falls_through.then_some(at + 1)) {
            let known = before[next].get_or_insert_with(|| {
                pending.push(next);
                registers.clone()
            });
            for (known, of) in known.iter_mut().zip(&registers) {
                if known.is_some() && known != of {
                    *known = None;
                    pending.push(next);
                }
            }
        }
    }
    decisions
}

fn computed(op: AluOp, ty: Type, values: &[Value]) -> Option<Value> {
    let mut exprs = Exprs::default();
    let values: Vec<ExprId> = values.iter().map(|&value| exprs.constant(value)).collect();
    let result = exprs.alu(op, ty, &values);
    exprs.as_const(result)
}

fn solve(
    thread: &Thread,
    decisions: &[ConstantDecision],
    at_end: &FixedBitSet,
) -> Vec<FixedBitSet> {
    let count = thread.lines.len();
    let mut before = vec![FixedBitSet::with_capacity(at_end.len()); count + 1];
    before[count].clone_from(at_end);
    loop {
        let mut changed = false;
        for at in (0..count).rev() {
            let line = &thread.lines[at];
            let ConstantDecision { executes, taken } = decisions[at];
            let mut needed = FixedBitSet::with_capacity(at_end.len());
            let (falls_through, jumps) = match &line.instruction {
                Instruction::Branch(branch) => (
                    executes != Some(true) || taken != Some(true),
                    Some(branch.target).filter(|_| executes != Some(false) && taken != Some(false)),
                ),
                Instruction::Load(_)
                | Instruction::Store(_)
                | Instruction::Atomic(_)
                | Instruction::Fence(_)
                | Instruction::ProxyFence(_)
                | Instruction::Barrier(_)
                | Instruction::ClusterBarrier(_)
                | Instruction::Asynchronous(_)
                | Instruction::Alu(_)
                | Instruction::Cvta(_)
                | Instruction::Unsupported(_) => (true, None),
            };
            if falls_through {
                needed.union_with(&before[at + 1]);
            }
            if let Some(target) = jumps {
                needed.union_with(&before[target.min(count)]);
            }
            if executes == Some(true) {
                for register in line.instruction.destinations() {
                    needed.remove(register.0.into());
                }
            }
            if executes != Some(false) {
                for register in line.instruction.sources() {
                    needed.insert(register.0.into());
                }
            }
            if let Some(guard) = line.guard {
                needed.insert(guard.predicate.0.into());
            }
            if needed != before[at] {
                before[at] = needed;
                changed = true;
            }
        }
        if !changed {
            return before;
        }
    }
}

fn sizes(program: &Program) -> AccessSizes {
    let threads = program.threads.iter().zip(0u8..);
    let accesses = threads.flat_map(|(thread, id)| {
        let accesses = thread.lines.iter().filter_map(|line| line.instruction.access());
        accesses.map(move |(address, ty, _)| (ThreadId(id), address, u32::from(ty.bits)))
    });
    let accesses: Vec<(ThreadId, Address, u32)> = accesses.collect();
    let first = accesses.first().map(|(.., bits)| *bits);
    // Accesses of one size do not overlap partially.
    if program.sizes_agree || accesses.iter().all(|(.., bits)| Some(*bits) == first) {
        return AccessSizes::Agree;
    }
    if program.variables.iter().any(|of| of.absolute.is_some() || !of.multimem.is_empty()) {
        return AccessSizes::Unknown;
    }
    let (mut known, mut elsewhere) = (BTreeMap::new(), BTreeSet::new());
    for (thread, address, bits) in accesses {
        let Some((variable, _)) = program.variable_of(thread, address) else {
            elsewhere.insert(bits);
            continue;
        };
        let mut declared = variable;
        while let Some(alias) = program.variables[usize::from(declared.0)].alias {
            declared = alias.of;
        }
        known.entry(declared).or_insert_with(BTreeSet::new).insert(bits);
    }
    AccessSizes::Of(known, elsewhere)
}
