//! Litmus tests as text.
