//! The registers that are live at a loop head, and whether iterations without an effect can be omitted from
//! the loops of a program.

use fixedbitset::FixedBitSet;

use crate::event::Mask;
use crate::expr::ExprId;
use model::isa::Instruction;
use model::program::{Observed, Program, Thread, ThreadId};

/// Registers live before each line of a thread that has loops.
pub struct Liveness {
    /// For each line, the registers that are live before it. Empty where nobody asks.
    before: Vec<FixedBitSet>,
    /// The targets of backward jumps.
    heads: Vec<usize>,
    /// Whether no race between accesses of different sizes makes the program undefined.
    sizes_agree: bool,
}

impl Liveness {
    pub fn new(program: &Program, id: ThreadId) -> Liveness {
        let thread = &program.threads[usize::from(id.0)];
        let heads: Vec<usize> = thread.back_branches().map(|(_, target)| target).collect();
        if heads.is_empty() && !program.omits_covered {
            return Liveness { before: Vec::new(), heads, sizes_agree: false };
        }
        let sizes_agree = program.sizes_agree || uniform_sizes(program);
        Liveness { before: before(program, id), heads, sizes_agree }
    }

    pub fn loops(&self) -> bool {
        !self.heads.is_empty()
    }

    /// The registers that are live before a line.
    pub fn at(&self, line: usize) -> impl Iterator<Item = usize> + '_ {
        self.before[line].ones()
    }

    pub fn is_head(&self, line: usize) -> bool {
        self.heads.contains(&line)
    }

    /// Whether leaving out accesses hides no race between accesses of different sizes.
    pub fn sizes_agree(&self) -> bool {
        self.sizes_agree
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
    solve(thread, &at_end)
}

fn solve(thread: &Thread, at_end: &FixedBitSet) -> Vec<FixedBitSet> {
    let count = thread.lines.len();
    let mut before = vec![FixedBitSet::with_capacity(at_end.len()); count + 1];
    before[count].clone_from(at_end);
    loop {
        let mut changed = false;
        for at in (0..count).rev() {
            let line = &thread.lines[at];
            let mut needed = FixedBitSet::with_capacity(at_end.len());
            let (falls_through, jumps) = match &line.instruction {
                Instruction::Branch(branch) => {
                    (line.guard.is_some() || branch.condition.is_some(), Some(branch.target))
                }
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
            if line.guard.is_none() {
                for register in line.instruction.destinations() {
                    needed.remove(register.0.into());
                }
            }
            for register in line.instruction.sources() {
                needed.insert(register.0.into());
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

/// Whether all accesses of the program have one size: then no two of them overlap partially.
fn uniform_sizes(program: &Program) -> bool {
    let lines = program.threads.iter().flat_map(|thread| &thread.lines);
    let mut sizes = lines.filter_map(|line| line.instruction.access()).map(|(_, ty, _)| ty.bits);
    match sizes.next() {
        Some(first) => sizes.all(|size| size == first),
        None => true,
    }
}
