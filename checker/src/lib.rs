//! The engines and what surrounds them.

pub mod engine;
pub mod witness;
