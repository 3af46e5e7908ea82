//! One instruction of SASS in plain words.

mod operands;
mod words;

pub use operands::{OperandMeaning, parts};
pub use words::*;
