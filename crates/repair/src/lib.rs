//! Finds the smallest changes of a test after which an outcome is forbidden, and the orders, scopes and fences that a
//! test does not need.
//!
//! Each change is an edit of the file ([`litmus::revise`]), so a changed test is legal by the rules of every test: it is
//! parsed. Both searches rely on one law: a stronger test never allows an outcome that a weaker one forbids.
//! `fuzz` checks it as the law `strengthening`; here, every proposal is judged again, also without each of its edits.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

mod barrier;
mod between;
mod copies;
mod depends;
pub mod edit;
mod edited;
mod given;
mod hitting;
mod idiom;
mod known;
mod moves;
mod operand;
mod place;
mod question;
#[cfg(test)]
mod samples;
pub mod search;
mod several;
mod site;
mod stage;
mod wait;
pub mod weaken;

pub use between::cost_between;
pub use edit::{EditCost, EditKind, ProgramEdit};
pub use edited::EditedLine;
pub use question::{RepairLimit, RepairOptions};
pub use search::{Proposal, RepairState, Repairs, repair};
pub use stage::Tried;
pub use weaken::{SuperfluousEdit, Weakening, WeakerForms, weaken};
