//! The registers that are live at a loop head, and whether iterations without an effect can be omitted from
//! the loops of a program.

use crate::event::Mask;
use crate::expr::ExprId;
use model::isa::Instruction;
use model::program::{Observed, Program, Thread, ThreadId};

/// Registers live before each line of a thread that has loops.
pub struct Liveness {
    /// For each line: whether each register is live before it. Empty without loops.
    before: Vec<Vec<bool>>,
    /// The targets of backward jumps.
    heads: Vec<usize>,
    /// Whether leaving out an iteration can hide nothing that makes the program undefined: no race
    /// between accesses of different sizes, no load of data that must be read-only.
    harmless: bool,
}

impl Liveness {
    pub fn new(program: &Program, id: ThreadId) -> Liveness {
        let thread = &program.threads[usize::from(id.0)];
        let heads: Vec<usize> = thread.back_branches().map(|(_, target)| target).collect();
        if heads.is_empty() {
            return Liveness { before: Vec::new(), heads, harmless: false };
        }
        let sizes = program.sizes_agree || uniform_sizes(program);
        let harmless = sizes && !loads_read_only_data(thread);
        Liveness { before: before(program, id), heads, harmless }
    }

    pub fn loops(&self) -> bool {
        !self.before.is_empty()
    }

    pub fn is_head(&self, line: usize) -> bool {
        self.heads.contains(&line)
    }

    /// Whether an iteration may be left out where what it comes back with is covered.
    pub fn is_harmless(&self) -> bool {
        self.harmless
    }

    /// Whether every outcome of a path that comes back to a loop head with `later` is one of a path
    /// that goes on from `earlier`: live registers hold the same and depended on no more then.
    pub fn covers(
        &self,
        head: usize,
        earlier: (&[ExprId], &[Mask]),
        later: (&[ExprId], &[Mask]),
    ) -> bool {
        self.before[head].iter().enumerate().all(|(register, &live)| {
            let more = earlier.1[register] & !later.1[register];
            !live || earlier.0[register] == later.0[register] && more == 0
        })
    }
}

/// The registers that some instruction from each line on, or the end, looks at.
pub fn before(program: &Program, id: ThreadId) -> Vec<Vec<bool>> {
    let thread = &program.threads[usize::from(id.0)];
    let mut at_end = vec![false; thread.registers.len()];
    for observed in &program.observed {
        match *observed {
            Observed::Register { thread: of, register } if of == id => {
                at_end[usize::from(register.0)] = true;
            }
            Observed::Register { .. } | Observed::Memory { .. } => {}
        }
    }
    solve(thread, &at_end)
}

fn solve(thread: &Thread, at_end: &[bool]) -> Vec<Vec<bool>> {
    let count = thread.lines.len();
    let mut before = vec![vec![false; at_end.len()]; count + 1];
    before[count] = at_end.to_vec();
    loop {
        let mut changed = false;
        for at in (0..count).rev() {
            let line = &thread.lines[at];
            let mut needed = vec![false; at_end.len()];
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
                | Instruction::Alu(_)
                | Instruction::Cvta(_)
                | Instruction::Unsupported(_) => (true, None),
            };
            if falls_through {
                merge(&mut needed, &before[at + 1]);
            }
            if let Some(target) = jumps {
                merge(&mut needed, &before[target.min(count)]);
            }
            if line.guard.is_none() {
                for register in line.instruction.destinations() {
                    needed[usize::from(register.0)] = false;
                }
            }
            for register in line.instruction.sources() {
                needed[usize::from(register.0)] = true;
            }
            if let Some(guard) = line.guard {
                needed[usize::from(guard.predicate.0)] = true;
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

fn merge(into: &mut [bool], from: &[bool]) {
    for (into, from) in into.iter_mut().zip(from) {
        *into |= from;
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

fn loads_read_only_data(thread: &Thread) -> bool {
    thread.lines.iter().any(|line| line.instruction.loads_read_only_data())
}
