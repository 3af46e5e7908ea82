//! Explains one SASS instruction in words.

mod operands;
mod words;

pub use operands::{OperandMeaning, parts};
pub use words::*;
