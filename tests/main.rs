//! The workspace's tests: one binary, so that it links once.

mod agree;
mod broken;
mod cli;
mod document;
mod load_bearing;
mod lowering;
mod machine;
mod oracle;
mod reach;
mod sass;
mod suite;
mod tidy;
