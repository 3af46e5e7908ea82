//! Instructions in plain words, for people who read PTX or SASS.
//!
//! [`ptx::account`] says what a PTX instruction means, promises and needs, each statement with its section of the
//! document. [`sass`] has the words for the fields of a SASS instruction and for its effect on memory.

pub mod ptx;
pub mod sass;
