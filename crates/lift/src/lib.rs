//! Translates source instructions to instructions of the model.
//!
//! [`instruction`] reads PTX, the peer dialect and C++ operations. [`mod@column`] reads SASS, together with the
//! operations of the machine for each instruction. Both write into a [`draft::ProgramBuilder`], which
//! [`program`] checks and completes. A [`function::Function`] is a translated function of a compiler's input or
//! output; [`listing`] reads the functions of a SASS listing.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

pub mod builder;
pub mod cell;
pub mod column;
pub mod draft;
pub mod external;
pub mod fragment;
pub mod function;
pub mod instruction;
pub mod listing;
pub mod module;
pub mod opaque;
pub mod program;
pub mod spacing;
pub mod written;

pub use ptx::qualifier::Dialect;
