//! `causeway diff`: the smallest tests on which two models, engines or machines differ.

pub mod args;
pub mod command;
mod files;
mod note;
pub(crate) mod report;
mod shrink;
mod side;
