//! `multimem.*`: operations on all locations of a multimem address.

use super::atom::{AtomicOp, AtomicOrder};
use super::ld::LoadOrder;
use super::st::StoreOrder;
use super::{Address, Operand, Reg, SpaceQualifier, Type};
use crate::scope::Scope;

/// One of the operations that are not asynchronous.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Multimem {
    pub op: MultimemOp,
    pub space: SpaceQualifier,
    pub ty: Type,
    pub address: Address,
}

/// What is done at each location; lists have one entry for a scalar, 2, 4 or 8 for a vector.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MultimemOp {
    /// `multimem.ld_reduce`: the values of all locations are reduced to one.
    LoadReduce { order: LoadOrder, op: AtomicOp, destinations: Vec<Option<Reg>> },
    /// `multimem.st`: the same value is written to each location.
    Store { order: StoreOrder, sources: Vec<Operand> },
    /// `multimem.red`: the reduction is done at each location.
    Reduce { order: AtomicOrder, scope: Scope, op: AtomicOp, sources: Vec<Operand> },
}

impl Multimem {
    /// How many elements it accesses at each location.
    pub fn elements(&self) -> usize {
        match &self.op {
            MultimemOp::LoadReduce { destinations, .. } => destinations.len(),
            MultimemOp::Store { sources, .. } | MultimemOp::Reduce { sources, .. } => sources.len(),
        }
    }

    pub fn writes(&self) -> bool {
        !matches!(self.op, MultimemOp::LoadReduce { .. })
    }
}
