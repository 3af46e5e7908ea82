//! Commands on generated tests: `causeway gen`, `causeway export`, `causeway compare`.

pub mod args;
mod command;
pub mod compare;
pub mod export;
mod frontiers;
pub(crate) mod requested;
mod work;

pub use command::command;
