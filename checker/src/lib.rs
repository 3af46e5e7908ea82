//! The engines and what surrounds them.

pub mod check;
pub mod cli;
pub mod engine;
pub mod exit;
pub mod explain;
pub mod explore;
pub mod format;
pub mod input;
pub mod interrupt;
pub mod judge;
pub mod kind;
pub mod lines;
pub mod lint;
pub mod lower;
pub mod ptx_explain;
pub mod report;
pub mod resting;
pub mod run;
pub mod sass;
pub mod schema;
pub mod stuck;
pub mod suite;
pub mod witness;
