//! `cvta`, `isspacep`, `mapa` and `getctarank`: addresses of a state space, of a CTA, and generic ones.

use super::{Operand, Reg, SpaceQualifier, Type};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressOp {
    /// `cvta.space`.
    ToGeneric,
    /// `cvta.to.space`.
    FromGeneric,
    /// `isspacep.space`: the destination is a predicate.
    IsIn,
    /// `mapa`: the same address in the CTA with this rank in the cluster.
    InCta { rank: Operand },
    /// `getctarank`: the rank of the CTA whose memory it is.
    RankOf,
}

/// One of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cvta {
    pub op: AddressOp,
    /// Generic only for `mapa` and `getctarank`.
    pub space: SpaceQualifier,
    pub ty: Type,
    pub destination: Reg,
    pub source: Operand,
}
