//! What holds of PTX modules that are read and linted.

mod choices;
mod example;
mod help;
mod laws;
mod measured;
mod mutation;
mod rule;
mod valid;
mod written;
