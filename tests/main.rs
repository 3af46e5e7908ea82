//! Tests of the workspace as a whole, in one binary.

mod broken;
mod document;
mod oracle;
mod suite;
