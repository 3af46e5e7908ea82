//! Decides whether a compiler preserved the memory model of its source.
//!
//! A lowering of a thread is correct if, in every frame and context, the target has no outcome that the
//! source forbids (reading R69). There is no list of allowed transformations: a lowering may move, merge and
//! remove whatever this accepts (reading R72). Both sides become [`step`]s, and each runs under its own
//! axioms, in the same [`context`]s.
//!
//! An [`inclusion::Question`] of a row, and a function with its lowering ([`function`]), are put in [`context`]s that
//! add the other threads. One loop ([`judgement`]) searches there for an outcome that the target has and the source
//! forbids, by an engine under the axioms of each side ([`Refiner`]). Lowering tables ([`table`]) and files ([`rows`])
//! are rows, generated programs ([`generated`]) are run by the same [`Refiner`]. What an [`Answer`] means is a
//! [`verdict::Finding`]. What depends on the source's language is in [`language`].

pub mod code;
pub mod context;
pub mod contract;
pub mod csv;
pub mod function;
pub mod generated;
pub mod inclusion;
pub mod item;
pub mod judgement;
pub mod language;
pub mod llvm_items;
pub mod mapping;
pub mod pair;
pub mod piece;
pub mod placed;
pub mod program;
pub mod ptx_items;
pub mod refiner;
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

/// Is told how far a long judgement is.
pub trait Progress: Sync {
    /// How many pieces there are, where that is not known from the start.
    fn length(&self, _pieces: usize) {}
    /// One more is done.
    fn done(&self);
    /// Nothing more follows.
    fn end(&self) {}
}

/// Nobody looks.
impl Progress for () {
    fn done(&self) {}
}
