//! SASS: the machine's own instructions, as words and as `nvdisasm` prints them.

pub mod decode;
pub mod form;
pub mod listing;
pub mod lower;
pub mod opcode;
mod parse;
mod print;
mod scan;
pub mod syntax;

pub use listing::listing;
pub use parse::instructions;
