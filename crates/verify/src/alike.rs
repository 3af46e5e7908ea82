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
    let definitions = Definitions::of(&lines);
    let mut all: BTreeMap<usize, AlikeLanes> = BTreeMap::new();
    for (at, line) in lines.iter().enumerate() {
        let Instruction::Store(store) = &line.instruction else { continue };
        let stored = store.sources.iter().map(|&source| definitions.alike(source, at, MOST_DEEP));
        let stored = stored.fold(AlikeLanes::ALL, AlikeLanes::and);
        let stored = if definitions.is_repeated(at) { AlikeLanes::NONE } else { stored };
        all.entry(numbers[at]).and_modify(|known| *known = known.and(stored)).or_insert(stored);
    }
    all.retain(|_, of| *of != AlikeLanes::NONE);
    all
}

/// How many instructions a value is followed through.
const MOST_DEEP: usize = 64;

/// The lines of a function, and where registers that one line alone writes get their values.
struct Definitions<'f> {
    lines: &'f [&'f Line],
    of: BTreeMap<Reg, usize>,
}

impl<'f> Definitions<'f> {
    fn of(lines: &'f [&'f Line]) -> Definitions<'f> {
        let mut of: BTreeMap<Reg, Option<usize>> = BTreeMap::new();
        for (at, line) in lines.iter().enumerate() {
            for register in line.instruction.destinations() {
                of.entry(register).and_modify(|known| *known = None).or_insert(Some(at));
            }
        }
        let of = of.into_iter().filter_map(|(register, at)| Some((register, at?))).collect();
        Definitions { lines, of }
    }

    /// Whether a line is in a loop: lanes may be in different iterations of it.
    fn is_repeated(&self, at: usize) -> bool {
        self.branches().any(|(end, target)| (target..=end).contains(&at))
    }

    fn branches(&self) -> impl Iterator<Item = (usize, usize)> {
        let target = |line: &Line| line.instruction.as_branch().map(|branch| branch.target);
        self.lines.iter().enumerate().filter_map(move |(at, line)| Some((at, target(line)?)))
    }

    /// The line that gives a register the value that another line takes, if it is one, and is executed once before that.
    fn definition(&self, register: Reg, taken: usize) -> Option<usize> {
        let at = *self.of.get(&register)?;
        let mut branches = self.branches();
        let passes = branches.any(|(from, to)| from < at && (at + 1..=taken).contains(&to));
        let once = self.lines[at].guard.is_none() && !self.is_repeated(at);
        (at < taken && !passes && once).then_some(at)
    }

    /// The register whose value this one has, where a line takes it, and its line.
    fn origin(&self, register: Reg, taken: usize) -> Option<(Reg, usize)> {
        let (mut origin, mut at) = (register, self.definition(register, taken)?);
        for _ in 0..MOST_DEEP {
            let moved = self.lines[at].instruction.as_alu().filter(|of| of.op == AluOp::Mov);
            let Some(Operand::Reg(source)) = moved.map(|of| of.sources[0]) else { break };
            let Some(before) = self.definition(source, at) else { break };
            (origin, at) = (source, before);
        }
        Some((origin, at))
    }

    /// Which lanes have alike what a line takes.
    fn alike(&self, operand: Operand, taken: usize, deep: usize) -> AlikeLanes {
        let register = match operand {
            Operand::Imm(_) | Operand::Address(_) => return AlikeLanes::ALL,
            Operand::Reg(register) => register,
        };
        let of = self.origin(register, taken).zip(deep.checked_sub(1));
        let Some(((_, at), deep)) = of else { return AlikeLanes::NONE };
        let instruction = &self.lines[at].instruction;
        if let Instruction::Barrier(barrier) = instruction {
            return self.exchanged(barrier, at, deep);
        }
        instruction.as_alu().map_or(AlikeLanes::NONE, |alu| self.computed(alu, at, deep))
    }

    fn computed(&self, alu: &Alu, at: usize, deep: usize) -> AlikeLanes {
        let own = alu.sources.iter().map(|&source| self.alike(source, at, deep));
        let own = own.fold(AlikeLanes::ALL, AlikeLanes::and);
        let [Operand::Reg(one), Operand::Reg(other)] = alu.sources[..] else { return own };
        if !is_commutative(alu.op) {
            return own;
        }
        let mask = self.butterfly(one, other, at).or_else(|| self.butterfly(other, one, at));
        mask.map_or(own, |mask| own.with(mask))
    }

    /// The mask, if one register has what the lane that differs in it has in another one, where a line takes both.
    fn butterfly(&self, one: Reg, from: Reg, at: usize) -> Option<u32> {
        let (taken, exchanged) = self.origin(one, at)?;
        let Instruction::Barrier(barrier) = &self.lines[exchanged].instruction else { return None };
        let BarrierKind::Exchange(exchange) = &barrier.kind else { return None };
        let Operand::Reg(source) = exchange.source else { return None };
        let is_whole = exchange.op == ExchangeOp::Shuffle(Shuffle::Butterfly)
            && exchange.result == Some(taken)
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

    fn exchanged(&self, barrier: &Barrier, at: usize, deep: usize) -> AlikeLanes {
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
            ExchangeOp::Shuffle(Shuffle::Butterfly) if in_range => self.alike(*source, at, deep),
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
