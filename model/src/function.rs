//! A function of a compiler's input or output, as one column of a litmus test.
//!
//! Readers of LLVM IR, of PTX modules and of SASS listings create it. Information that a column does not have
//! (parameters, memory) is stored separately. No part of a function is omitted silently: a reader
//! rejects a function with an unsupported construct.

use crate::memory::Space;

/// The first word of a litmus test with such a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// LLVM IR, as operations of C++.
    Cxx,
    Ptx,
    /// For `sm_` and this number.
    Sass(u16),
}

/// A function that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    pub name: String,
    /// Where it begins in its file, from 1.
    pub line: usize,
    pub language: Language,
    /// Whether it is a kernel: no other function calls it, so nothing runs in its thread beside it.
    pub kernel: bool,
    pub parameters: Vec<Parameter>,
    /// Memory that the module declares and the function names.
    pub variables: Vec<FunctionVariable>,
    pub rows: Vec<FunctionLine>,
    /// What registers of the column hold in the beginning; all others hold nothing that is used.
    pub initial: Vec<(String, EntryValue)>,
    /// The register that it returns, and its bits.
    pub result: Option<(String, u16)>,
    /// What was assumed on the way.
    pub notes: Vec<String>,
}

/// A parameter, in the order of the signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// A name that a litmus test takes.
    pub name: String,
    pub bits: u16,
    /// Whether it is known to be an address, and of which space; a generic one is of global memory.
    pub points_to: Option<Space>,
    /// Whether the program promises that no other pointer leads to what this one does: `noalias`.
    pub no_alias: bool,
}

/// Memory with a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionVariable {
    pub name: String,
    pub space: Space,
    pub bytes: u32,
}

/// One cell of the column.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FunctionLine {
    /// An instruction, labels (`L0:`) and guard (`@p`) before it.
    pub cell: String,
    /// Where it is in the file, from 1.
    pub line: usize,
    /// Whether it is an access that is observable behaviour: volatile, or mmio.
    pub volatile: bool,
    /// Whether the program promises that nobody writes what it reads while the kernel runs.
    pub read_only: bool,
}

/// What a register holds in the beginning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EntryValue {
    /// The parameter of this index.
    Parameter(usize),
    Value(u64),
    /// The generic address of a variable.
    Address(String),
    /// A special register, as PTX names it without `%`: `tid.x`.
    Special(String),
}

/// Why a function is not judged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// In the file, from 1.
    pub line: usize,
    pub why: String,
}

/// The functions of a file in its order, by their names.
pub type Functions = Vec<(String, Result<Function, Refused>)>;
