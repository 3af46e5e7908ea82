//! The PTX memory model as data, and the programs that it applies to.
//!
//! Read in this order: `scope`, `memory`, `value`, `isa`, `program` (what a test is); `given`,
//! `rel`, `reading`, `ptx` (the model); `layout`, `agreed`, `expr`, `path`, `generation`, `unfold`, `structure` (a program
//! as events); `algebra`, `bits` (evaluation of a model by an engine); `render`, `ablation` (printing a model,
//! removing one of its rules); `strength` (weaker and stronger forms of operations).

pub mod ablation;
pub mod agreed;
pub mod air;
pub mod algebra;
pub mod bits;
pub mod cxx;
pub mod event;
pub mod expr;
pub mod generation;
pub mod given;
pub mod isa;
pub mod layout;
pub mod live;
pub mod memory;
pub mod path;
pub mod program;
pub mod ptx;
pub mod reading;
pub mod rel;
mod relation_properties;
pub mod render;
pub mod scope;
pub mod section;
pub mod strength;
pub mod structure;
pub mod unfold;
pub mod value;
pub mod values;
