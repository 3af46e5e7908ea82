//! Values that lanes of a warp have alike, whatever the lanes bring: after `v = v + shfl.bfly(v, m)`, lanes whose numbers differ in
//! the bits of `m` have the same sum, and after such a step for each bit all lanes have.

use std::collections::BTreeMap;

use lift::function::Function;
use model::isa::alu::{Alu, AluOp, Half};
use model::isa::bar::{Barrier, BarrierKind};
use model::isa::float::FloatOp;
use model::isa::integer::IntegerOp;
use model::isa::warp::{Exchange, ExchangeOp, Shuffle};
use model::isa::{Instruction, Line, Operand, Reg};

use crate::absent::number;
use crate::special::LANES;

/// The mask of all lanes, and the clamp with which no lane is out of range.
const ALL_LANES: u64 = 0xffff_ffff;
const WHOLE_WARP: u64 = 31;

/// Which lanes have a value alike: lane `a` and lane `b` if bit `a ^ b` is set. These differences are closed under exclusive or.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AlikeLanes(u32);

impl AlikeLanes {
    const ALL: AlikeLanes = AlikeLanes(u32::MAX);
    /// Each lane its own value.
    const NONE: AlikeLanes = AlikeLanes(1);

    pub(crate) fn has(self, a: u32, b: u32) -> bool {
        self.0 >> ((a ^ b) % LANES) & 1 == 1
    }

    /// Those that are alike in both.
    fn and(self, other: AlikeLanes) -> AlikeLanes {
        AlikeLanes(self.0 & other.0)
    }

    /// Lanes that differ by this, too.
    fn with(self, mask: u32) -> AlikeLanes {
        let shifted = (0..LANES).filter(|of| self.0 >> (of ^ mask) & 1 == 1);
        AlikeLanes(shifted.fold(self.0, |all, of| all | 1 << of))
    }
}

/// For each line of the module with a store of a function, which lanes store the same value there, as far as that is known.
pub(crate) fn stores(function: &Function) -> BTreeMap<usize, AlikeLanes> {
    let steps = function.rows.iter().flat_map(|row| row.lines.iter().map(move |of| (row.line, of)));
    let (numbers, lines): (Vec<usize>, Vec<&Line>) = steps.map(|(at, of)| (at, &of.line)).unzip();
    let mut values = AlikeValues::of(&lines);
    let mut all: BTreeMap<usize, AlikeLanes> = BTreeMap::new();
    for (at, line) in lines.iter().enumerate() {
        let own = values.result(at);
        values.results.push(own);
        let Instruction::Store(store) = &line.instruction else { continue };
        let stored = if values.repeated[at] {
            AlikeLanes::NONE
        } else {
            values.taken(store.sources.iter().copied(), at)
        };
        all.entry(numbers[at]).and_modify(|known| *known = known.and(stored)).or_insert(stored);
    }
    all.retain(|_, of| *of != AlikeLanes::NONE);
    all
}

/// What is known of the values of registers that one line alone writes: each line takes them from lines before it.
struct AlikeValues<'f> {
    lines: &'f [&'f Line],
    /// The only line that writes a register.
    of: BTreeMap<Reg, usize>,
    /// Of each line, whether it is in a loop: lanes may be in different iterations of it.
    repeated: Vec<bool>,
    /// The first branch to a line.
    branches: BTreeMap<usize, usize>,
    /// Of each line so far, which lanes have its result alike.
    results: Vec<AlikeLanes>,
    /// Of each register so far that has the value of another one, that register.
    copies: BTreeMap<Reg, Reg>,
}

impl<'f> AlikeValues<'f> {
    fn of(lines: &'f [&'f Line]) -> AlikeValues<'f> {
        let mut of: BTreeMap<Reg, Option<usize>> = BTreeMap::new();
        let mut branches: BTreeMap<usize, usize> = BTreeMap::new();
        let mut repeated = vec![false; lines.len()];
        for (at, line) in lines.iter().enumerate() {
            for register in line.instruction.destinations() {
                of.entry(register).and_modify(|known| *known = None).or_insert(Some(at));
            }
            if let Some(branch) = line.instruction.as_branch() {
                branches.entry(branch.target).or_insert(at);
                repeated.iter_mut().take(at + 1).skip(branch.target).for_each(|of| *of = true);
            }
        }
        let of = of.into_iter().filter_map(|(register, at)| Some((register, at?))).collect();
        let (results, copies) = (Vec::new(), BTreeMap::new());
        AlikeValues { lines, of, repeated, branches, results, copies }
    }

    /// The line that gives a register the value that another line takes, if it is one, and is executed once before that.
    fn definition(&self, register: Reg, taken: usize) -> Option<usize> {
        let at = *self.of.get(&register)?;
        if at >= taken || self.lines[at].guard.is_some() || self.repeated[at] {
            return None;
        }
        let passes = self.branches.range(at + 1..=taken).any(|(_, from)| *from < at);
        (!passes).then_some(at)
    }

    /// The register whose value one has where a line takes it, and which one line gives its own.
    fn origin(&self, register: Reg, taken: usize) -> Option<Reg> {
        self.definition(register, taken)?;
        Some(self.copies.get(&register).copied().unwrap_or(register))
    }

    /// Which lanes have all of these alike that a line takes.
    fn taken(&self, operands: impl Iterator<Item = Operand>, at: usize) -> AlikeLanes {
        let own = operands.map(|operand| match operand {
            Operand::Imm(_) | Operand::Address(_) => AlikeLanes::ALL,
            Operand::Reg(register) => {
                let of = self.definition(register, at);
                of.map_or(AlikeLanes::NONE, |line| self.results[line])
            }
        });
        own.fold(AlikeLanes::ALL, AlikeLanes::and)
    }

    /// Which lanes have the result of a line alike.
    fn result(&mut self, at: usize) -> AlikeLanes {
        let line = self.lines[at];
        if let Instruction::Barrier(barrier) = &line.instruction {
            return self.exchanged(barrier, at);
        }
        let Some(alu) = line.instruction.as_alu() else { return AlikeLanes::NONE };
        if let (AluOp::Mov, &[Operand::Reg(source)]) = (alu.op, &alu.sources[..]) {
            let origin = self.origin(source, at);
            self.copies.extend(origin.map(|origin| (alu.destination, origin)));
        }
        self.computed(alu, at)
    }

    fn computed(&self, alu: &Alu, at: usize) -> AlikeLanes {
        let own = self.taken(alu.sources.iter().copied(), at);
        let [Operand::Reg(one), Operand::Reg(other)] = alu.sources[..] else { return own };
        if !is_commutative(alu.op) {
            return own;
        }
        let mask = self.butterfly(one, other, at).or_else(|| self.butterfly(other, one, at));
        mask.map_or(own, |mask| own.with(mask))
    }

    /// The mask, if one register has what the lane that differs in it has in another one, where a line takes both.
    fn butterfly(&self, one: Reg, from: Reg, at: usize) -> Option<u32> {
        let value = self.origin(one, at)?;
        let exchanged = *self.of.get(&value)?;
        let Instruction::Barrier(barrier) = &self.lines[exchanged].instruction else { return None };
        let BarrierKind::Exchange(exchange) = &barrier.kind else { return None };
        let Operand::Reg(source) = exchange.source else { return None };
        let is_whole = exchange.op == ExchangeOp::Shuffle(Shuffle::Butterfly)
            && exchange.result == Some(value)
            && of_all(barrier)
            && number(exchange.clamp) == Some(WHOLE_WARP)
            && self.is_same(source, exchanged, from, at);
        let mask = number(exchange.lane).filter(|mask| is_whole && *mask < u64::from(LANES))?;
        u32::try_from(mask).ok()
    }

    /// Whether a register that one line takes has what another one has that a later line takes.
    fn is_same(&self, one: Reg, at: usize, other: Reg, later: usize) -> bool {
        let (first, second) = (self.origin(one, at), self.origin(other, later));
        // What no line alone gives a value is the same if no line gives it one in between.
        let kept = || {
            let mut between = self.lines[at..later].iter();
            one == other && !between.any(|line| line.instruction.destinations().any(|of| of == one))
        };
        first.is_some() && first == second || kept()
    }

    fn exchanged(&self, barrier: &Barrier, at: usize) -> AlikeLanes {
        let BarrierKind::Exchange(exchange) = &barrier.kind else {
            return AlikeLanes::NONE;
        };
        let Exchange { op, source, lane, clamp, .. } = exchange;
        let lane = number(*lane).filter(|lane| *lane < u64::from(LANES));
        let in_range = lane.is_some() && number(*clamp) == Some(WHOLE_WARP);
        match op {
            _ if !of_all(barrier) => AlikeLanes::NONE,
            ExchangeOp::All
            | ExchangeOp::Any
            | ExchangeOp::Uniform
            | ExchangeOp::Ballot
            | ExchangeOp::MatchAll(_)
            | ExchangeOp::Reduce(_) => AlikeLanes::ALL,
            ExchangeOp::Shuffle(Shuffle::Index) if in_range => AlikeLanes::ALL,
            ExchangeOp::Shuffle(Shuffle::Butterfly) if in_range => {
                self.taken([*source].into_iter(), at)
            }
            ExchangeOp::Shuffle(_)
            | ExchangeOp::MatchAny(_)
            | ExchangeOp::Elect
            | ExchangeOp::Active => AlikeLanes::NONE,
        }
    }
}

/// Whether all lanes of a warp take part.
fn of_all(barrier: &Barrier) -> bool {
    number(barrier.id).is_some_and(|mask| mask & ALL_LANES == ALL_LANES)
}

/// Whether two operands may be exchanged.
fn is_commutative(op: AluOp) -> bool {
    match op {
        AluOp::Add
        | AluOp::Mul
        | AluOp::And
        | AluOp::Or
        | AluOp::Xor
        | AluOp::Halves(Half::Add | Half::Mul)
        | AluOp::Float(FloatOp::Min { .. } | FloatOp::Max { .. })
        | AluOp::Integer(IntegerOp::Min | IntegerOp::Max | IntegerOp::MulHi) => true,
        AluOp::Mov
        | AluOp::Sub
        | AluOp::Shl
        | AluOp::Shr
        | AluOp::Selp
        | AluOp::Setp(_)
        | AluOp::Extract(_)
        | AluOp::Concat(_)
        | AluOp::Convert(..)
        | AluOp::Halves(Half::Sub)
        | AluOp::Flush
        | AluOp::Float(_)
        | AluOp::Integer(_)
        | AluOp::Opaque(_) => false,
    }
}
