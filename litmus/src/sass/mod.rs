//! SASS: the machine's own instructions, as words and as `nvdisasm` prints them.

pub(crate) mod column;
pub mod decode;
pub mod encode;
pub mod form;
pub mod function;
pub mod ldg;
pub mod listing;
pub mod lower;
mod modifier;
pub mod opcode;
mod parse;
mod print;
pub mod promise;
mod rules;
mod scan;
mod single;
mod spa5;
pub mod syntax;
pub mod uses;

pub use function::{Signature, functions};
pub use listing::listing;
pub use parse::instructions;
pub use single::{Options, Single, instruction};
