//! The engines and what surrounds them.
