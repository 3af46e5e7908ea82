//! The `causeway` command line as a library: commands and reports.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

pub mod check;
pub mod cli;
mod complaints;
pub mod config;
pub mod diff;
mod examples;
pub mod explain;
pub mod explore;
pub mod filter;
pub mod fix;
pub mod format;
pub mod fuzz;
pub mod generation;
pub mod input;
pub mod kind;
pub mod lines;
pub mod lint;
pub mod lint_rules;
pub mod lower;
mod model_command;
pub mod options;
pub mod output;
mod progress;
pub mod ptx_explain;
pub mod report;
pub mod run;
pub mod sass;
pub mod schema;
mod selection;
pub mod serve;
pub mod signals;
pub mod slow;
pub mod suite;
pub mod terminal;
pub mod verify;
pub mod watch;
pub mod words;
