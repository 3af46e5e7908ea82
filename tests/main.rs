//! The workspace's tests: one binary, so that it links once.

mod agree;
mod broken;
mod document;
mod load_bearing;
mod oracle;
mod suite;
