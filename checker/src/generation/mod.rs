//! `causeway gen`: litmus tests from critical cycles.

pub mod args;
mod command;
mod work;

pub use command::command;
