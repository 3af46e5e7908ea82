//! The PTX memory model as data, and what it is judged on.
//!
//! Read in this order: `scope`, `memory`, `isa`, `program` (what a test is).

pub mod isa;
pub mod memory;
pub mod program;
pub mod scope;
pub mod section;
