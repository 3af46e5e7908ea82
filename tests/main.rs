//! Tests of the workspace as a whole, in one binary.

mod broken;
mod document;
mod load_bearing;
mod oracle;
mod suite;
