//! `causeway fuzz` and `causeway merge`: random programs against the laws, and the sum of shards.

pub mod args;
mod command;
pub mod report;
mod store;

pub use command::{command, merge};
