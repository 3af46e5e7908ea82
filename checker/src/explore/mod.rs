//! `causeway explore`: every run of the machine, on the command line and in reports.

pub mod args;
pub mod command;
pub mod report;
