//! SASS: the machine's own instructions, as words and as `nvdisasm` prints them.

pub mod decode;
pub mod form;
pub mod lower;
