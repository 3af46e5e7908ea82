//! Judges launches of PTX kernels.
//!
//! A launch ([`LaunchSpec`]) names kernels of a module, their grid and their arguments. [`compose`](compose::compose) makes
//! a litmus test of it, with one column for each thread, and remembers which instruction of the module each row is.
//! [`verify`](verification::verify) judges the launch by that test and says what is wrong with the kernel, with the lines of the module
//! and of its source. So whatever reads a litmus test answers the same about the printed test.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

pub mod argument;
pub mod compose;
pub mod file;
pub mod finding;
pub mod launch;
mod machine_runs;
pub mod repairs;
mod resident;
mod special;
pub mod verification;

pub use argument::{Argument, ArgumentValue};
pub use compose::{Composed, compose};
pub use finding::{Finding, FindingKind, FindingPlace};
pub use launch::{Dim3, KernelLaunch, LaunchError, LaunchSpec, ThreadChoice};
pub use repairs::{KernelEdit, KernelRepair, RepairEffort};
pub use verification::{Verification, VerifyError, verify};
