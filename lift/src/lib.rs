//! Lifts instructions, as they are written, to instructions of the model.
//!
//! [`instruction`] reads PTX, the peer dialect and operations of C++; [`column`] reads SASS, with what the machine
//! does for each instruction. Both write into a [`draft::ProgramBuilder`], which [`program`] checks and finishes.
//! A [`function::Function`] is a function of a compiler's input or output, lifted; [`listing`] reads those of SASS.

pub mod builder;
pub mod cell;
pub mod column;
pub mod draft;
pub mod function;
pub mod instruction;
pub mod listing;
pub mod module;
pub mod program;
pub mod spacing;

pub use ptx::qualifier::Dialect;
