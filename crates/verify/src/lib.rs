//! Judges launches of PTX kernels.
//!
//! A launch ([`LaunchSpec`]) names kernels of a module, their grid and their arguments. [`compose`](fn@compose) makes
//! a litmus test of it, with one column for each thread, and remembers which instruction of the module each row is.
//! [`verify`](fn@verify) judges the launch by that test and says what is wrong with the kernel, with the lines of the module
//! and of its source. [Words](words::compose) make a test of functions, too. So whatever reads a litmus test answers the same about the printed test.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

mod absent;
mod alike;
pub mod argument;
mod arrivals;
mod arrivers;
mod columns;
mod compared;
pub mod compose;
pub mod condition;
mod deeper;
mod directives;
mod diverged;
mod edited;
mod executions;
pub mod file;
pub mod finding;
pub mod functions;
mod known_bytes;
mod lanes;
pub mod launch;
mod machine_runs;
pub mod module;
pub mod other_launches;
mod outside;
mod races;
mod reach;
mod regions;
pub mod repairs;
mod resident;
mod shorten;
mod special;
mod staying;
pub mod survey;
mod tensor;
mod together;
mod unknown;
mod unrepaired;
mod updates;
pub mod verification;
mod volatile;
mod weaker;
pub mod words;

pub use argument::{ArgumentValue, ElementKind, ElementType, LaunchArgument};
pub use columns::{ColumnThread, Composed};
pub use compose::{compose, required_block};
pub use condition::WordsQuestion;
pub use edited::KernelEdit;
pub use executions::ShownExecution;
pub use finding::{FindingKind, FindingPlace, KernelFinding};
pub use launch::{Dim3, KernelLaunch, LaunchError, LaunchQuestion, LaunchSpec, ThreadChoice};
pub use module::KernelModule;
pub use other_launches::{OtherAnswer, OtherLaunch};
pub use repairs::{KernelRepair, RepairEffort};
pub use survey::{ModuleSurvey, ProposedTest, SurveyedFunction, survey};
pub use verification::{AdviceOptions, Verification, VerifyError, verify};
pub use volatile::VolatileMeaning;
pub use weaker::KernelWeakening;
pub use words::WordsTest;
