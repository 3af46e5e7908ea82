//! Decides whether a compiler preserved the memory model of its source.
//!
//! A lowering of a thread is correct if, in every frame and context, the target has no outcome that the
//! source forbids (reading R69). No list restricts the transformations: a lowering may move, merge and remove
//! whatever this rule accepts (reading R72). Both sides become [`step`]s. Each side runs under its own
//! axioms, in the same [`context`]s.
//!
//! The question of a row ([`inclusion::Question`]), and a function with its lowering ([`function`]), are put
//! in [`context`]s, which add the other threads. One loop ([`judgement`]) searches for an outcome that the
//! target has and the source forbids; an engine runs each side under its axioms ([`Refiner`]). Lowering
//! tables ([`table`]) and files ([`rows`]) consist of rows. Generated programs ([`generated`]) use the same
//! [`Refiner`]. A [`verdict::Finding`] states the meaning of an [`Answer`]. [`language`] has everything that
//! depends on the source's language.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

mod cited;
pub mod code;
pub mod context;
pub mod contract;
pub mod function;
pub mod generated;
pub mod inclusion;
pub mod item;
pub mod judgement;
pub mod language;
pub mod llvm_items;
pub mod mapping;
pub mod operand;
pub mod pair;
pub mod piece;
pub mod placed;
pub mod program;
pub mod ptx_items;
pub mod random;
pub mod refiner;
mod rounding;
pub mod row;
pub mod row_question;
pub mod rows;
pub mod run;
mod side;
pub mod step;
pub mod symmetry;
pub mod table;
mod token;
pub mod value;
pub mod verdict;
pub mod weaken;
pub mod witness;

pub use judgement::{Answer, Refutation, Tally};
pub use refiner::{Models, Patience, Refiner};
pub use row::{Assumptions, Row};
pub use rows::{JudgeSettings, RowTable, judge, judge_row, read};
pub use verdict::{Finding, Verdict};

/// Receives the progress of a long judgement.
pub trait Progress: Sync {
    /// Reports the number of pieces, if it is not known from the start.
    fn length(&self, _pieces: usize) {}
    /// Reports that one more piece is done.
    fn done(&self);
    /// Reports that no piece follows.
    fn end(&self) {}
}

/// Ignores progress.
impl Progress for () {
    fn done(&self) {}
}
