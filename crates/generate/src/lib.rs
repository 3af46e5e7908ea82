//! Generates litmus tests from critical cycles, as diy7 does for its architectures, for a model with scopes.
//!
//! A [`cycle::Cycle`] is read from words ([`notation`]) or drawn from a [`space::CycleSpace`] of cycles, each of which it
//! has once. [`build`] makes its program and its test, and [`question`] asks an engine whether its outcome is
//! allowed. [`difference`] finds the smallest cycles on which two models or engines differ.
//!
//! ```
//! use generate::access::AccessForm;
//! use generate::space::{Pattern, Ranges};
//! use generate::{build, notation};
//! use litmus::Quantifier;
//! use model::scope::Scope;
//!
//! let forms = vec![AccessForm::Word];
//! let ranges = Ranges { annotations: vec![], forms, vias: vec![], distances: vec![Scope::Gpu] };
//! let written = notation::read("FenceScGpudWR RelaxedGpu Fre RelaxedGpu FenceScGpudWR RelaxedGpu Fre RelaxedGpu")
//!     .expect("it is a cycle");
//! let cycle = Pattern::of(&written, &ranges).cycle(0);
//! let test = build::test(&cycle, Quantifier::NotExists);
//! assert_eq!(test.name, "SB+relaxed.gpu-fence.sc.gpu-relaxed.gpus+at-gpu");
//! assert_eq!(test.condition_text, "~exists (0:r1=0 /\\ 1:r1=0)");
//! ```
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

pub mod access;
pub mod build;
mod contents;
pub mod cycle;
pub mod difference;
pub mod export;
pub mod family;
pub mod frontier;
pub mod kind;
pub mod log;
mod named;
pub mod notation;
mod overlap;
pub mod places;
pub mod question;
pub mod skeleton;
pub mod space;
pub mod word;
