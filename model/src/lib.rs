//! The PTX memory model as data, and the programs that it applies to.
//!
//! Read in this order: `scope`, `memory`, `value`, `isa`, `program` (what a test is); `given`,
//! `rel`, `reading`, `ptx` (the model); `algebra`, `bits` (evaluation of a model by an engine); `render`, `ablation`
//! (printing a model, removing one of its rules); `strength` (weaker and stronger forms of operations). The crate
//! `execution` turns a program into events.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

pub mod ablation;
pub mod algebra;
pub mod bits;
pub mod cxx;
pub mod given;
pub mod isa;
pub mod memory;
pub mod program;
pub mod ptx;
pub mod reading;
pub mod rel;
mod relation_properties;
pub mod render;
pub mod scope;
pub mod section;
pub mod strength;
pub mod value;
