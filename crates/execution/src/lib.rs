//! The executions of a program, as far as they do not depend on the axioms.
//!
//! Read in this order: `layout` (addresses), `expr` (symbolic values), `path` (what one thread may do), `generation`
//! (which arrivals complete a barrier together), `unfold` (a path for each thread: events), `structure` (the sets and relations
//! that a model names), `values` (what reads return). `constants`, `accessed`, `agreed`, `written`, `contents`, `exchanges` and `live` are analyses that make this shorter; `air`
//! finds values that depend on themselves.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

pub mod accessed;
pub mod agreed;
pub mod air;
pub mod apart;
pub mod components;
pub mod constants;
pub mod contents;
pub mod event;
pub mod exchanges;
pub mod expr;
pub mod generation;
pub mod layout;
pub mod live;
pub mod path;
mod polls;
mod rewritten;
pub mod structure;
pub mod unfold;
pub mod values;
pub mod written;
