//! Short code as items: accesses with what is to be checked of their values, and other steps.

use model::isa::atom::AtomicOp;
use model::isa::{SpaceQualifier, Type};
use model::scope::Scope;

use super::step::{Act, Order, Place, Step};

/// An access of PTX, or one of the machine by what it promises.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Done {
    pub text: String,
    pub act: Act,
    pub order: Order,
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
pub enum Item {
    Access(Box<Done>),
    Step(Step),
    Label(String),
    /// To which label, and whether it may fall through.
    Branch {
        to: String,
        guarded: bool,
    },
}

/// The steps of these items; a compare-exchange in a loop is what `looped` says.
pub fn steps(items: &[Item], act: impl Fn(&Done, usize) -> Act) -> Vec<Step> {
    let mut index = 0;
    items
        .iter()
        .filter_map(|item| match item {
            Item::Access(done) => {
                index += 1;
                Some(Step::access(act(done, index - 1), Place::Y, done.order, done.scope))
            }
            Item::Step(step) => Some(*step),
            Item::Label(_) | Item::Branch { .. } => None,
        })
        .collect()
}
