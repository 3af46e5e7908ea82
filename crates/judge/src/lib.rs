//! The verdict on a litmus test, and what is said of it.
//!
//! [`judge`](judge()) runs the engines of a [`Task`] on a test, compares what they find, and evaluates the condition. Built
//! on it: [`Resting`], the readings that a verdict rests on; [`headline`], the answer in one line; [`explain`], the
//! derivation of a verdict.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

mod alike;
mod alternative;
mod complaint;
mod decide;
pub mod directed;
pub mod explain;
mod found;
pub mod headline;
mod judge;
mod judgement;
mod lanes;
mod larger;
mod notes;
mod parts;
mod portfolio;
mod races;
mod resting;
mod search;
mod split;
pub mod stuck;
pub mod subject;
mod task;
mod termination;
mod uninitialised;
mod verdict;
pub mod words;

#[cfg(test)]
mod tests;

pub use alternative::{Alternative, alternatives};
pub use found::EngineResult;
pub use judge::judge;
pub use judgement::{Judgement, LargerBound, Rest, Resting};
pub use larger::larger_bound;
pub use races::racy;
pub use resting::may_matter;
pub use search::run;
pub use split::parts;
pub use task::{BOUND, Property, Task};
pub use uninitialised::{may_have_uninitialised_reads, read_text};
pub use verdict::{CLUSTER_EXITED, NO_EXECUTION, Note, Observation, Verdict};
