//! `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync` and `elect.sync`: the lanes of a warp exchange values.
//!
//! They wait for the lanes of their mask and order no memory operations.

use super::alu::AluOp;
use super::float::FloatOp;
use super::integer::IntegerOp;
use super::{Operand, Reg, Type, TypeKind};
use crate::value::{Value, low_bits};

/// What the lanes do with the values that they bring. Lanes that do not do the same wait for one another for ever.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ExchangeOp {
    Shuffle(Shuffle),
    /// Whether the predicate holds in each lane.
    All,
    /// Whether it holds in some lane.
    Any,
    /// Whether it is the same in each lane.
    Uniform,
    /// The lanes in which it holds.
    Ballot,
    /// The lanes with the same value of this width in bits.
    MatchAny(u16),
    /// All lanes if they have the same value, and else none.
    MatchAll(u16),
    Reduce(LaneReduction),
    /// One lane, the same for all: the lowest.
    Elect,
    /// `activemask`: the lanes that execute it together.
    Active,
}

/// From which lane a lane takes a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LaneReduction {
    Add,
    MinUnsigned,
    MaxUnsigned,
    MinSigned,
    MaxSigned,
    And,
    Or,
    Xor,
    /// The least or the greatest `.f32`.
    Float(FloatReduction),
}

/// What `redux.sync` makes of floats.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FloatReduction {
    /// The greatest, not the least.
    pub greatest: bool,
    /// Of the absolute values.
    pub abs: bool,
    /// A NaN if some lane brings one. Otherwise NaNs are left out.
    pub nan: bool,
}

/// One of these instructions; its mask is that of its [`super::bar::Barrier`], which `activemask` does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exchange {
    pub op: ExchangeOp,
    /// What the lane brings.
    pub source: Operand,
    /// Whether it brings the negation of a predicate.
    pub negated: bool,
    /// Of a shuffle: `b`, from which the other lane is computed.
    pub lane: Operand,
    /// Of a shuffle: `c`, the clamp and the mask of segments.
    pub clamp: Operand,
    pub result: Option<Reg>,
    /// Of a shuffle, whether the lane was in range; of `match.all`, whether all have the same value; of `elect`,
    /// whether this lane was elected.
    pub predicate: Option<Reg>,
}

impl Exchange {
    /// Without operands and results.
    pub fn of(op: ExchangeOp) -> Exchange {
        let nothing = Operand::Imm(0);
        Exchange {
            op,
            source: nothing,
            negated: false,
            lane: nothing,
            clamp: nothing,
            result: None,
            predicate: None,
        }
    }
}

/// The lanes of a warp.
pub const LANES: u32 = 32;

impl Shuffle {
    /// The lane that a lane takes its value from, and whether that was in range; its own if it was not.
    pub fn source(self, lane: u32, by: u32, clamp: u64) -> (u32, bool) {
        let by = by % LANES;
        let limit = low_lane(clamp);
        let segment = low_lane(clamp >> 8);
        let max = lane & segment | limit & !segment;
        let (from, in_range) = match self {
            Shuffle::Up => (lane.wrapping_sub(by), lane >= by && lane - by >= max),
            Shuffle::Down => (lane + by, lane + by <= max),
            Shuffle::Butterfly => (lane ^ by, lane ^ by <= max),
            Shuffle::Index => {
                let from = lane & segment | by & !segment;
                (from, from <= max)
            }
        };
        if in_range { (from, true) } else { (lane, false) }
    }
}

/// The lane in the low five bits.
fn low_lane(bits: u64) -> u32 {
    u32::try_from(bits % u64::from(LANES)).expect("it is less than 32")
}

impl ExchangeOp {
    /// How many bits the result has.
    pub fn result_bits(self) -> u16 {
        match self {
            ExchangeOp::All | ExchangeOp::Any | ExchangeOp::Uniform => 1,
            ExchangeOp::Shuffle(_)
            | ExchangeOp::Ballot
            | ExchangeOp::MatchAny(_)
            | ExchangeOp::MatchAll(_)
            | ExchangeOp::Reduce(_)
            | ExchangeOp::Elect
            | ExchangeOp::Active => 32,
        }
    }

    /// How many bits of the source a lane brings.
    pub fn source_bits(self) -> u16 {
        match self {
            ExchangeOp::All | ExchangeOp::Any | ExchangeOp::Uniform | ExchangeOp::Ballot => 1,
            ExchangeOp::MatchAny(bits) | ExchangeOp::MatchAll(bits) => bits,
            ExchangeOp::Shuffle(_)
            | ExchangeOp::Reduce(_)
            | ExchangeOp::Elect
            | ExchangeOp::Active => 32,
        }
    }

    /// The result for a lane that brings `own`, given each lane that takes part with what it brings. A shuffle takes
    /// the value of one lane instead.
    pub fn apply(self, own: Value, all: &[(u32, Value)]) -> Value {
        let bits = |which: &dyn Fn(Value) -> bool| {
            let lanes = all.iter().filter(|(_, value)| which(*value));
            lanes.fold(0, |mask, (lane, _)| mask | 1 << lane)
        };
        let each = bits(&|_| true);
        match self {
            ExchangeOp::Shuffle(_) => own,
            ExchangeOp::All => Value::from(bits(&|value| value != 0) == each),
            ExchangeOp::Any => Value::from(bits(&|value| value != 0) != 0),
            ExchangeOp::Uniform => {
                let set = bits(&|value| value != 0);
                Value::from(set == 0 || set == each)
            }
            ExchangeOp::Ballot => bits(&|value| value != 0),
            ExchangeOp::MatchAny(_) => bits(&|value| value == own),
            ExchangeOp::MatchAll(_) => {
                let same = bits(&|value| value == own);
                if same == each { same } else { 0 }
            }
            ExchangeOp::Reduce(reduction) => {
                let values = all.iter().map(|(_, value)| reduction.taken(*value));
                values.reduce(|a, b| reduction.apply(a, b)).unwrap_or(own)
            }
            ExchangeOp::Active => each,
            ExchangeOp::Elect => {
                Value::from(all.iter().map(|(lane, _)| *lane).min().unwrap_or(LANES))
            }
        }
    }
}

impl LaneReduction {
    /// What is made of the value of a lane first. A NaN has one form.
    fn taken(self, value: Value) -> Value {
        let LaneReduction::Float(_) = self else { return value };
        let value = if self.is_absolute() { FloatOp::Abs.apply(32, value, 0, 0) } else { value };
        self.apply(value, value)
    }

    /// Of values of 32 bits.
    fn apply(self, a: Value, b: Value) -> Value {
        let (op, ty) = self.operation();
        // A signed result is extended.
        op.apply(ty, &[a, b]) & low_bits(32)
    }

    /// The operation on two values, and its type; of floats, on what [`FloatReduction::abs`] makes of them.
    pub fn operation(self) -> (AluOp, Type) {
        let of = |kind| Type { kind, bits: 32 };
        match self {
            LaneReduction::Add => (AluOp::Add, Type::U32),
            LaneReduction::MinUnsigned => (AluOp::Integer(IntegerOp::Min), Type::U32),
            LaneReduction::MaxUnsigned => (AluOp::Integer(IntegerOp::Max), Type::U32),
            LaneReduction::MinSigned => (AluOp::Integer(IntegerOp::Min), of(TypeKind::Signed)),
            LaneReduction::MaxSigned => (AluOp::Integer(IntegerOp::Max), of(TypeKind::Signed)),
            LaneReduction::And => (AluOp::And, Type::U32),
            LaneReduction::Or => (AluOp::Or, Type::U32),
            LaneReduction::Xor => (AluOp::Xor, Type::U32),
            LaneReduction::Float(FloatReduction { greatest, nan, .. }) => {
                let op = if greatest { FloatOp::Max { nan } } else { FloatOp::Min { nan } };
                (AluOp::Float(op), of(TypeKind::Float))
            }
        }
    }

    /// Whether it is of absolute values.
    pub fn is_absolute(self) -> bool {
        matches!(self, LaneReduction::Float(FloatReduction { abs: true, .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole warp: no segments.
    const ALL: u64 = 31;

    #[test]
    fn a_shuffle_takes_the_value_of_a_lane_in_range_or_its_own() {
        assert_eq!(Shuffle::Up.source(3, 1, 0), (2, true));
        assert_eq!(Shuffle::Up.source(0, 1, 0), (0, false));
        assert_eq!(Shuffle::Down.source(3, 1, ALL), (4, true));
        assert_eq!(Shuffle::Down.source(31, 1, ALL), (31, false));
        assert_eq!(Shuffle::Butterfly.source(5, 16, ALL), (21, true));
        assert_eq!(Shuffle::Index.source(5, 2, ALL), (2, true));
        // Segments of 8 lanes.
        let eight = 7 | 0b11000 << 8;
        assert_eq!(Shuffle::Down.source(6, 1, eight), (7, true));
        assert_eq!(Shuffle::Down.source(7, 1, eight), (7, false));
        assert_eq!(Shuffle::Index.source(10, 1, eight), (9, true));
        // A clamp below the requested lane.
        assert_eq!(Shuffle::Index.source(0, 3, 1), (0, false));
    }

    #[test]
    fn results_are_of_the_lanes_that_take_part() {
        let all = [(0, 1), (2, 0), (3, 1)];
        assert_eq!(ExchangeOp::Ballot.apply(1, &all), 0b1001);
        assert_eq!(ExchangeOp::All.apply(1, &all), 0);
        assert_eq!(ExchangeOp::Any.apply(1, &all), 1);
        assert_eq!(ExchangeOp::Uniform.apply(1, &all), 0);
        assert_eq!(ExchangeOp::Uniform.apply(1, &[(1, 0), (2, 0)]), 1);
        assert_eq!(ExchangeOp::MatchAny(32).apply(0, &all), 0b100);
        assert_eq!(ExchangeOp::MatchAll(32).apply(1, &all), 0);
        assert_eq!(ExchangeOp::MatchAll(32).apply(7, &[(1, 7), (4, 7)]), 0b10010);
        assert_eq!(ExchangeOp::Elect.apply(0, &[(4, 0), (2, 0)]), 2);
        let reduced = |of, values: &[Value]| {
            let all: Vec<(u32, Value)> = (0..).zip(values.iter().copied()).collect();
            ExchangeOp::Reduce(of).apply(values[0], &all)
        };
        assert_eq!(reduced(LaneReduction::Add, &[0xffff_ffff, 2, 3]), 4);
        assert_eq!(reduced(LaneReduction::MinSigned, &[1, 0xffff_fffe]), 0xffff_fffe);
        assert_eq!(reduced(LaneReduction::MinUnsigned, &[1, 0xffff_fffe]), 1);
        assert_eq!(reduced(LaneReduction::MaxSigned, &[1, 0xffff_fffe]), 1);
        assert_eq!(reduced(LaneReduction::Xor, &[1, 3, 4]), 6);
        let [one, minus_two, nan] = [0x3f80_0000, 0xc000_0000, 0x7fc0_0001];
        let float =
            |greatest, abs, nan| LaneReduction::Float(FloatReduction { greatest, abs, nan });
        assert_eq!(reduced(float(false, false, false), &[one, minus_two, nan]), minus_two);
        assert_eq!(reduced(float(false, true, false), &[one, minus_two]), one);
        assert_eq!(reduced(float(true, true, false), &[one, minus_two]), 0x4000_0000);
        assert_eq!(reduced(float(true, false, true), &[one, nan]), 0x7fff_ffff);
        assert_eq!(reduced(float(true, false, false), &[nan]), 0x7fff_ffff);
        // -0 is less than 0.
        assert_eq!(reduced(float(true, false, false), &[0x8000_0000, 0]), 0);
    }
}
