//! Functions of LLVM IR: each is a column of a test, or refused.

mod column;
mod measured;
mod refused;
mod robust;
mod written;
