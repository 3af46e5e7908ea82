//! `causeway explore`: every run of the machine. Command line and reports.

pub mod args;
pub mod command;
pub mod report;
mod timeline;
