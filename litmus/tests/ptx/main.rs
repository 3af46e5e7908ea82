//! What holds of PTX modules that are read and linted.

mod choices;
mod help;
mod laws;
mod mutation;
mod valid;
mod written;
