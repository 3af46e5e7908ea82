//! Short code as items: accesses with what is to be checked of their values, and other steps.

use model::isa::atom::AtomicOp;
use model::isa::{SpaceQualifier, Type};
use model::scope::Scope;

use super::step::{AccessKind, AccessOrder, Step, TestLocation};

/// An access of PTX, or one of the machine by what it promises.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetAccess {
    pub text: String,
    pub act: AccessKind,
    pub order: AccessOrder,
    pub scope: Scope,
    pub op: Option<AtomicOp>,
    pub ty: Type,
    /// All elements together.
    pub bytes: u32,
    pub space: SpaceQualifier,
    /// The register or name in brackets.
    pub base: String,
    pub offset: i64,
    /// What it writes, and what it stores.
    pub defines: String,
    pub stores: String,
    /// Of memory that nobody writes: `.nc`, `ldu`, `.proxy::readonly`.
    pub read_only: bool,
    /// Whether it is a loop around a compare-exchange, and whether that began with a weak load.
    pub looped: Option<bool>,
}

/// What one piece of the target is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TargetItem {
    Access(Box<TargetAccess>),
    Step(Step),
    Label(String),
    /// To which label, and whether it may fall through.
    Branch {
        to: String,
        guarded: bool,
    },
}

/// The steps of these items; a compare-exchange in a loop is what `looped` says.
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
