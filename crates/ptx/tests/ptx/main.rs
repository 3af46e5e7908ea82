//! What holds of PTX modules that are read and linted.

mod asynchronous;
mod catalogue;
mod checked;
mod choices;
mod compiled;
mod example;
mod fix;
mod fuzz_input;
mod help;
mod labels;
mod large;
mod laws;
mod matrices;
mod measured;
mod mutation;
mod newest;
mod operands;
mod reader;
mod reviewed;
mod robust;
mod rule;
mod sequence;
mod valid;
mod written;
