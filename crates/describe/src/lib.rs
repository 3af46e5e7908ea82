//! Explains PTX and SASS instructions in words.
//!
//! [`ptx::account`] states the meaning, promises and requirements of a PTX instruction, each with its section
//! of the document. [`sass`] describes the fields of a SASS instruction and its effect on memory.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

pub mod ptx;
pub mod sass;
