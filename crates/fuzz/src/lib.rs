//! Random programs against every pair of accounts of the memory model.
//!
//! A [`law::Law`] relates two accounts: two engines, an engine and a naive reference, the machine and the axioms, or a
//! program and a changed one. A [`draw::ProgramSource`] is a strategy of proptest for programs; the case of a number is
//! always the same program for the same seed, so that shards and interrupted campaigns need no state but counts.
//! A program that breaks a law is made small by [`shrink::shrink`]. [`campaign`] runs the laws over blocks of cases and
//! adds up what they find; files and streams are left to the command.
//!
//! Other projects can run their own checker on the same programs:
//!
//! ```
//! use fuzz::draw::{LONG, ProgramSource};
//! use proptest::strategy::{Strategy, ValueTree};
//! use proptest::test_runner::TestRunner;
//!
//! let programs = ProgramSource::Uniform(LONG).strategy();
//! let mut runner = TestRunner::deterministic();
//! let program = programs.new_tree(&mut runner).expect("it draws").current();
//! assert_eq!(program.threads.len(), 2);
//! let text = program.to_string();
//! let test = litmus::parse("random", text.as_bytes()).expect("random programs are well formed");
//! assert_eq!(test.program.threads.len(), 2);
//! ```
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

pub mod answer;
pub mod campaign;
pub mod draw;
pub mod fault;
pub mod law;
pub mod shrink;
