//! The `causeway` command line as a library: commands and reports.

pub mod check;
pub mod cli;
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
pub mod ptx_explain;
pub mod report;
pub mod run;
pub mod sass;
pub mod schema;
pub mod slow;
pub mod suite;
mod values;
pub mod watch;
