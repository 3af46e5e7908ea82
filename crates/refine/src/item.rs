//! Short code as items: accesses, with the properties of their values to check, and other steps.

use model::isa::atom::AtomicOp;
use model::isa::{SpaceQualifier, Type};
use model::scope::Scope;

use super::operand::AccessOperands;
use super::step::{AccessKind, AccessOrder, Step, TestLocation};

/// A PTX access, or a machine access as its promise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetAccess {
    pub text: String,
    pub act: AccessKind,
    pub order: AccessOrder,
    pub scope: Scope,
    pub op: Option<AtomicOp>,
    pub ty: Type,
    /// The bytes of all elements together.
    pub bytes: u32,
    pub space: SpaceQualifier,
    /// The register or name in brackets.
    pub base: String,
    pub offset: i64,
    /// The register that it writes, and its other operands.
    pub operands: AccessOperands,
    /// Whether it accesses memory that no thread writes: `.nc`, `ldu`, `.proxy::readonly`.
    pub read_only: bool,
    /// For a loop around a compare-exchange: whether it began with a weak load.
    pub looped: Option<bool>,
}

/// One item of the target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TargetItem {
    Access(Box<TargetAccess>),
    Step(Step),
    Label(String),
    /// The label, and whether the branch may fall through.
    Branch {
        to: String,
        guarded: bool,
    },
}

/// The steps of these items. `act` determines the kind of each access.
pub fn steps(items: &[TargetItem], act: impl Fn(&TargetAccess, usize) -> AccessKind) -> Vec<Step> {
    let mut index = 0;
    items
        .iter()
        .filter_map(|item| match item {
            TargetItem::Access(done) => {
                index += 1;
                Some(Step::access(act(done, index - 1), TestLocation::Y, done.order, done.scope))
            }
            TargetItem::Step(step) => Some(*step),
            TargetItem::Label(_) | TargetItem::Branch { .. } => None,
        })
        .collect()
}
