//! SASS, the machine code of NVIDIA GPUs: instruction words, the text that `nvdisasm` prints, the memory
//! semantics of instructions ([`promise`]), and the tables of what ptxas emits for PTX ([`lowering`]).
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

pub mod decode;
pub mod encode;
pub mod form;
pub mod ldg;
pub mod listing;
pub mod lower;
pub mod lowering;
mod modifier;
pub mod opcode;
pub mod origin;
pub mod parse;
mod print;
pub mod promise;
mod rules;
mod scan;
pub mod scoreboard;
pub mod single;
mod spa5;
pub mod syntax;
pub mod uses;

pub use listing::listing;
pub use parse::instructions;
pub use single::{CheckedInstruction, ReadOptions, instruction};
