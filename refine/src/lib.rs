//! Whether a compiler keeps the memory model of its source.
//!
//! A lowering of a thread is right when in every frame and context nothing becomes possible that the
//! source forbids (reading J1). What may be moved, merged or left out is what that accepts: there is
//! no list of it (reading J4). Both sides become [`step`]s; each side's axioms judge its programs, in the same
//! [`context`]s.
//!
//! A [`inclusion::Question`] is a piece of source and what became of it; [`context`]s put both beside partners, and
//! [`inclusion::Judge`] looks for an outcome that the target has and the source forbids. Rows of a file
//! ([`rows`]), tables of lowerings ([`table`]), functions ([`function`]) and generated programs ([`generated`])
//! ask such questions, and a [`verdict::Finding`] is the answer.

pub mod alike;
pub mod asked;
pub mod code;
pub mod context;
pub mod contract;
pub mod csv;
pub mod function;
pub mod generated;
pub mod inclusion;
pub mod item;
pub mod llvm_items;
pub mod mapping;
pub mod pair;
pub mod placed;
pub mod program;
pub mod ptx_items;
pub mod row;
pub mod rows;
pub mod run;
mod side;
pub mod step;
pub mod table;
mod token;
pub mod value;
pub mod verdict;
pub mod weaken;
pub mod witness;

pub use inclusion::Patience;
pub use row::{Assumptions, Row};
pub use rows::{Models, Setting, Table, judge, judge_row, read};
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
