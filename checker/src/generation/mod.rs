//! `causeway gen`: litmus tests from critical cycles.

pub mod args;
mod command;
mod frontiers;
mod work;

pub use command::command;
