//! `cvta` and `isspacep`: addresses of a state space, and generic ones.

use super::{Operand, Reg, SpaceQualifier, Type};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AddressOp {
    /// `cvta.space`.
    ToGeneric,
    /// `cvta.to.space`.
    FromGeneric,
    /// `isspacep.space`: the destination is a predicate.
    IsIn,
}

/// One of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cvta {
    pub op: AddressOp,
    /// Never generic.
    pub space: SpaceQualifier,
    pub ty: Type,
    pub destination: Reg,
    pub source: Operand,
}
