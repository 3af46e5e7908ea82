//! The registers that are live at a loop head, and whether iterations without an effect can be omitted from
//! the loops of a program.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;

use crate::accessed::{Accessed, LineBytes, Reach};
use crate::constants::{ConstantDecision, Constants};
use crate::event::Mask;
use crate::expr::ExprId;
use crate::layout::Layout;
use crate::path::LoopFacts;
use model::isa::warp::ExchangeOp;
use model::isa::{Instruction, Line, Operand, Reg};
use model::memory::{Extent, VariableId};
use model::program::{Observed, Program, Thread, ThreadId};

/// Registers live before each line of a thread that has loops.
#[derive(Debug)]
pub struct Liveness {
    /// For each line, the registers that are live before it. Empty where nobody asks.
    before: Vec<FixedBitSet>,
    /// The targets of backward jumps.
    heads: Vec<usize>,
    /// The loads in loops: before one, the register that it overwrites is not live, which it may be at the head of its loop.
    loads: Vec<usize>,
    /// The bytes that no other thread accesses, in a thread that has loops.
    own: Vec<Extent>,
    /// For each line, those of them whose value is looked at from there on.
    own_before: Vec<FixedBitSet>,
    /// [`Program::is_shuffle_source`]
    pub is_shuffle_source: bool,
}

/// The sizes of the accesses of a program. Reading B19: those of asynchronous operations do not count.
#[derive(Debug, Default)]
pub enum AccessSizes {
    /// No race between accesses of different sizes makes the program undefined.
    Agree,
    Of {
        /// Physical bytes.
        known: BTreeSet<Extent>,
        /// The sizes in bits of those whose bytes are not known, and where these may be.
        elsewhere: BTreeSet<(Reach, u32)>,
    },
    #[default]
    Unknown,
}

impl Liveness {
    pub fn new(
        program: &Program,
        layout: &Layout,
        facts: &LoopFacts<'_>,
        id: ThreadId,
    ) -> Liveness {
        let accessed = &facts.accessed;
        let thread = &program.threads[usize::from(id.0)];
        let is_shuffle_source = program.is_shuffle_source(id);
        let heads: Vec<usize> = thread.back_branches().map(|(_, target)| target).collect();
        if heads.is_empty() && !program.omits_covered {
            let (before, own_before) = (Vec::new(), Vec::new());
            let (loads, own) = (Vec::new(), Vec::new());
            return Liveness { before, heads, loads, own, own_before, is_shuffle_source };
        }
        let mut loads: Vec<usize> =
            thread.back_branches().flat_map(|(branch, target)| target..=branch).collect();
        let is_load = |line: usize| matches!(thread.lines[line].instruction, Instruction::Load(_));
        loads.retain(|&line| is_load(line) && !heads.contains(&line));
        let constants = &accessed.constants[usize::from(id.0)];
        let own: Vec<Extent> = facts.agreed.own(id).collect();
        let own_before = own_before(program, layout, accessed, id, &own);
        let before = before(program, constants, id);
        Liveness { before, heads, loads, own, own_before, is_shuffle_source }
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        let sets = self.before.iter().chain(&self.own_before);
        sets.map(|set| size_of::<FixedBitSet>() + size_of_val(set.as_slice())).sum()
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

    /// Whether no other thread accesses these bytes.
    pub fn is_own(&self, bytes: Extent) -> bool {
        self.own.contains(&bytes)
    }

    /// Whether that is so, and they are overwritten before they are looked at from this line on.
    pub fn is_overwritten(&self, line: usize, bytes: Extent) -> bool {
        let own = self.own.iter().position(|own| *own == bytes);
        own.is_some_and(|own| !self.own_before[line].contains(own))
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

/// The registers that are looked at from each line of a thread on.
pub fn registers(program: &Program, layout: &Layout, id: ThreadId) -> Vec<FixedBitSet> {
    before(program, &Constants::new(program, layout, id), id)
}

/// The registers that some instruction from each line on, or the end, looks at.
///
/// What only computes registers that nobody looks at does not look at its operands, nor does a branch both ways of which come
/// to the same instruction, if no read decides it: so the counter of a loop that polls with growing delays is no state of the
/// loop (reading R109).
pub fn before(program: &Program, constants: &Constants, id: ThreadId) -> Vec<FixedBitSet> {
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
    let is_shuffle_source = program.is_shuffle_source(id);
    let of = |register: Reg| usize::from(register.0);
    // The branches whose two ways differ, as far as that is known. A branch that a read decides counts from the start: what
    // comes after it has a control dependency on that read, even where both ways do the same.
    let mut differ = depends_on_reads(thread);
    loop {
        let effect = |at: usize, executes: Option<bool>, after: &FixedBitSet| {
            let line = &thread.lines[at];
            let overwritten = line.instruction.destinations().map(of).collect();
            if is_idle(program, thread, at, after)
                || line.instruction.as_branch().is_some() && !differ[at]
            {
                return LineEffect { overwritten, read: Vec::new() };
            }
            let read = line.instruction.sources().map(of);
            let mut read: Vec<usize> = read.filter(|_| executes != Some(false)).collect();
            if !is_shuffle_source
                && let Some(exchange) = line.instruction.as_exchange()
                && let (ExchangeOp::Shuffle(_), Operand::Reg(source)) =
                    (exchange.op, exchange.source)
                && let Some(brought) = read.iter().position(|register| *register == of(source))
            {
                read.remove(brought);
            }
            read.extend(line.guard.map(|guard| of(guard.predicate)));
            LineEffect { overwritten, read }
        };
        let before = solve(thread, constants, &at_end, &effect);
        let more: Vec<usize> = thread
            .branches()
            .filter(|&(at, target)| {
                let line = &thread.lines[at];
                let decides = line.guard.is_some() || line.instruction.sources().next().is_some();
                let next = |line| next_effect(program, thread, &before, &differ, line);
                decides && !differ[at] && next(at + 1) != next(target)
            })
            .map(|(at, _)| at)
            .collect();
        if more.is_empty() {
            return before;
        }
        for at in more {
            differ[at] = true;
        }
    }
}

/// Whether a line only computes registers that nobody looks at after it.
fn is_idle(program: &Program, thread: &Thread, at: usize, after: &FixedBitSet) -> bool {
    let alu = thread.lines[at].instruction.as_alu();
    alu.is_some_and(|alu| {
        !after.contains(alu.destination.0.into()) && !program.may_lack_result(alu)
    })
}

/// For each line, whether it is a branch that what a read returned may decide.
fn depends_on_reads(thread: &Thread) -> Vec<bool> {
    let mut depends = FixedBitSet::with_capacity(thread.registers.len());
    let has = |depends: &FixedBitSet, register: Reg| depends.contains(register.0.into());
    let decided = |depends: &FixedBitSet, line: &Line| {
        line.guard.is_some_and(|guard| has(depends, guard.predicate))
            || line.instruction.sources().any(|source| has(depends, source))
    };
    loop {
        let before = depends.count_ones(..);
        for line in &thread.lines {
            if !line.instruction.computes() || decided(&depends, line) {
                depends.extend(line.instruction.destinations().map(|of| usize::from(of.0)));
            }
        }
        if depends.count_ones(..) == before {
            break;
        }
    }
    let branch = |line: &Line| line.instruction.as_branch().is_some() && decided(&depends, line);
    thread.lines.iter().map(branch).collect()
}

/// The first line from one on that does more than compute what nobody looks at; itself if there is none.
fn next_effect(
    program: &Program,
    thread: &Thread,
    before: &[FixedBitSet],
    differ: &[bool],
    from: usize,
) -> usize {
    let count = thread.lines.len();
    let mut at = from.min(count);
    // A loop without an effect is a line of its own.
    for _ in 0..=count {
        if at == count {
            return at;
        }
        let line = &thread.lines[at];
        if let Some(branch) = line.instruction.as_branch() {
            if differ[at] {
                return at;
            }
            // Both ways are the same, or there is one; a branch that goes back is no delay.
            if branch.target <= at {
                return at;
            }
            at = branch.target.min(count);
        } else if is_idle(program, thread, at, &before[at + 1]) {
            at += 1;
        } else {
            return at;
        }
    }
    from
}

/// Which of some bytes that only this thread accesses are looked at from each line on, or at the end.
fn own_before(
    program: &Program,
    layout: &Layout,
    accessed: &Accessed<'_>,
    id: ThreadId,
    own: &[Extent],
) -> Vec<FixedBitSet> {
    let thread = &program.threads[usize::from(id.0)];
    let mut at_end = FixedBitSet::with_capacity(own.len());
    for observed in &program.observed {
        let Some(seen) = layout.observed(*observed) else { continue };
        let parts = (0..own.len()).filter(|&at| own[at].overlaps(seen));
        at_end.extend(parts);
    }
    let effect = |at: usize, executes: Option<bool>, _: &FixedBitSet| {
        let known = accessed.of_line(id, at).iter().filter_map(|of| match &of.at {
            LineBytes::Known(all) => Some(all),
            LineBytes::Unknown(_) => None,
        });
        let bytes = known.flatten().map(|access| access.pa);
        let here = bytes.filter_map(|bytes| own.iter().position(|own| *own == bytes)).collect();
        let stores = matches!(thread.lines[at].instruction, Instruction::Store(_));
        let none = Vec::new();
        match (executes, stores) {
            (Some(false), _) => LineEffect { overwritten: none.clone(), read: none },
            (_, true) => LineEffect { overwritten: here, read: none },
            (_, false) => LineEffect { overwritten: none, read: here },
        }
    };
    solve(thread, &accessed.constants[usize::from(id.0)], &at_end, &effect)
}

/// What an instruction does where it is executed.
struct LineEffect {
    overwritten: Vec<usize>,
    read: Vec<usize>,
}

/// What is looked at from each line on, of what instructions overwrite and read.
fn solve(
    thread: &Thread,
    constants: &Constants,
    at_end: &FixedBitSet,
    effect: &dyn Fn(usize, Option<bool>, &FixedBitSet) -> LineEffect,
) -> Vec<FixedBitSet> {
    let count = thread.lines.len();
    let mut before = vec![FixedBitSet::with_capacity(at_end.len()); count + 1];
    before[count].clone_from(at_end);
    loop {
        let mut changed = false;
        for at in (0..count).rev() {
            let ConstantDecision { executes, taken } = constants.decision(at);
            let mut needed = FixedBitSet::with_capacity(at_end.len());
            let branch = thread.lines[at].instruction.as_branch();
            if branch.is_none() || executes != Some(true) || taken != Some(true) {
                needed.union_with(&before[at + 1]);
            }
            if let Some(branch) = branch
                && executes != Some(false)
                && taken != Some(false)
            {
                needed.union_with(&before[branch.target.min(count)]);
            }
            let LineEffect { overwritten, read } = effect(at, executes, &needed);
            if executes == Some(true) {
                for of in overwritten {
                    needed.remove(of);
                }
            }
            needed.extend(read);
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

impl AccessSizes {
    pub fn of(program: &Program, accessed: &Accessed<'_>) -> AccessSizes {
        let all = &accessed.accesses;
        let first = all.first().map(|access| access.bits);
        // Accesses of one size do not overlap partially.
        if program.sizes_agree || all.iter().all(|access| Some(access.bits) == first) {
            return AccessSizes::Agree;
        }
        if program.variables.iter().any(|of| of.absolute.is_some()) {
            return AccessSizes::Unknown;
        }
        let (mut known, mut elsewhere) = (BTreeSet::new(), BTreeSet::new());
        for access in all {
            match &access.at {
                LineBytes::Known(all) => known.extend(all.iter().map(|of| of.pa)),
                LineBytes::Unknown(reach) => {
                    elsewhere.insert((*reach, u32::from(access.bits)));
                }
            }
        }
        AccessSizes::Of { known, elsewhere }
    }

    /// Whether leaving out an access hides no race between accesses of different sizes: no other access overlaps a part of
    /// its bytes, which are of this variable.
    pub fn overlap_completely(
        &self,
        program: &Program,
        variable: VariableId,
        bytes: Extent,
    ) -> bool {
        match self {
            AccessSizes::Agree => true,
            AccessSizes::Unknown => false,
            AccessSizes::Of { known, elsewhere } => {
                let whole = |other: &Extent| *other == bytes || !other.overlaps(bytes);
                known.iter().all(whole)
                    && elsewhere.iter().all(|(reach, bits)| {
                        *bits == 8 * bytes.length || !reach.includes(program, variable)
                    })
            }
        }
    }
}
