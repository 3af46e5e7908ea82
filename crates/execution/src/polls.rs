//! Equal polls in a row. Reading R109.
//!
//! A library that waits may load a flag several times before its loop, and each time leave if the flag has changed. Where
//! one such poll directly follows another one that looks the same, the first is left out. A path on which the first poll
//! leaves is one on which the second does, too: the loads are the same. A path on which both go on has one load more, which
//! returns the same write as the next one: without it, no relation gains an edge, and every axiom is antitone in them. It has
//! the same outcome, and adding the load again next to its equal is as well consistent.

use fixedbitset::FixedBitSet;

use model::isa::alu::Alu;
use model::isa::ld::{Load, LoadOrder};
use model::isa::{Guard, Instruction, Operand, Reg};
use model::program::Thread;

/// A load, the comparison of what it returns, and a branch: `ld r, [x]; setp.ne p, r, a; @p bra L`.
struct Poll<'t> {
    load: &'t Load,
    compare: &'t Alu,
    negated: bool,
    /// The line of the branch's label.
    target: usize,
    loaded: Reg,
}

/// The number of lines of a poll.
const LINES: usize = 3;

/// For each line with the first of two or more equal polls, the line of the last one; empty if there are none. `live`: the
/// registers that are looked at from a line on.
pub(crate) fn repeated(thread: &Thread, live: &dyn Fn() -> Vec<FixedBitSet>) -> Vec<Option<usize>> {
    let count = thread.lines.len();
    let pair = |at| {
        let one = poll(thread, at)?;
        let other = poll(thread, at + LINES).filter(|other| one.is_like(other))?;
        Some((at, one, other))
    };
    let pairs: Vec<(usize, Poll<'_>, Poll<'_>)> = (0..count).filter_map(pair).collect();
    if pairs.is_empty() {
        return Vec::new();
    }
    let (mut next, live) = (vec![None; count], live());
    for &(at, ref one, ref other) in pairs.iter().rev() {
        let written =
            [(one.loaded, other.loaded), (one.compare.destination, other.compare.destination)];
        let looks = |line: usize, of: Reg| live[line].contains(of.0.into());
        // The two polls write the same registers, or nothing reads those that differ once the first poll has left.
        let target = one.target.min(count);
        let forgotten = written.iter().all(|&(own, its)| {
            own == its || !looks(target, own) && !looks(target, its) && !looks(at + LINES, own)
        });
        if forgotten {
            next[at] = next[at + LINES].or(Some(at + LINES));
        }
    }
    next
}

/// The poll at a line, if there is one.
fn poll(thread: &Thread, at: usize) -> Option<Poll<'_>> {
    let [load, compare, branch] = thread.lines.get(at..at + LINES)? else { return None };
    if load.guard.is_some() || compare.guard.is_some() {
        return None;
    }
    let Instruction::Load(load) = &load.instruction else { return None };
    // The lanes of a warp execute an `ldu` together: reading R36 counts them.
    if load.order == LoadOrder::Uniform {
        return None;
    }
    let [Some(loaded)] = load.destinations[..] else { return None };
    let compare = compare.instruction.as_alu()?;
    let Guard { predicate, negated } = branch.guard?;
    let target = branch.instruction.as_branch().filter(|of| of.condition.is_none())?.target;
    let decides = compare.destination == predicate && predicate != loaded;
    let inside = (at + 1..at + LINES).contains(&target);
    // The next poll loads from the same place, and compares with the same.
    let written = [loaded, predicate].map(Operand::Reg);
    let looks_back =
        written.contains(&load.address.base) || compare.sources.contains(&Operand::Reg(predicate));
    (decides && !inside && !looks_back).then_some(Poll { load, compare, negated, target, loaded })
}

impl Poll<'_> {
    /// Whether two polls do the same, with other registers for what they load and compare.
    fn is_like(&self, other: &Poll<'_>) -> bool {
        let load = Load { destinations: other.load.destinations.clone(), ..self.load.clone() };
        let source = |&source: &Operand| {
            if source == Operand::Reg(self.loaded) { Operand::Reg(other.loaded) } else { source }
        };
        let compare = Alu {
            destination: other.compare.destination,
            sources: self.compare.sources.iter().map(source).collect(),
            ..self.compare.clone()
        };
        // What the second one writes is not what the first one compares with.
        let own = [other.loaded, other.compare.destination].map(Operand::Reg);
        let others = self.compare.sources.iter().filter(|of| **of != Operand::Reg(self.loaded));
        load == *other.load
            && compare == *other.compare
            && self.negated == other.negated
            && self.target == other.target
            && others.into_iter().all(|of| !own.contains(of))
    }
}
