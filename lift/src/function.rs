//! A function of a compiler's input or output, lifted to instructions of the model.
//!
//! The readers of LLVM IR, PTX modules and SASS listings produce it. A reader refuses a whole function if it
//! does not support one of its instructions.

use machine::form::LoweredInstruction;
use model::isa::Line;
use model::memory::Space;

/// The language of a function's instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// LLVM IR, as operations of C++.
    Cxx,
    Ptx,
    /// For `sm_` and this number.
    Sass(u16),
}

/// A function of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    pub name: String,
    /// Where it begins in its file, from 1.
    pub line: usize,
    pub language: Language,
    /// Whether it is a kernel: no other function calls it, so nothing runs in its thread beside it.
    pub kernel: bool,
    pub parameters: Vec<Parameter>,
    /// The variables of the module that the function names. A [`model::memory::VariableId`] of an instruction
    /// is an index into them.
    pub variables: Vec<FunctionVariable>,
    /// The registers of its thread: their names, and how many bits they have.
    pub registers: Vec<(String, u16)>,
    pub rows: Vec<FunctionLine>,
    /// What registers hold at the beginning; the function uses no value of any other.
    pub initial: Vec<(String, EntryValue)>,
    /// The register that it returns, and how many of its bits.
    pub result: Option<(String, u16)>,
    /// What the reader assumed.
    pub notes: Vec<String>,
}

/// A parameter, in the order of the signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// A name that a litmus test takes.
    pub name: String,
    pub bits: u16,
    /// The space of the memory that it points to, if it is known to be an address; a generic address is one of
    /// global memory.
    pub points_to: Option<Space>,
    /// Whether the program promises that no other pointer leads to the same memory: `noalias`.
    pub no_alias: bool,
}

/// A variable of the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionVariable {
    /// A name that a litmus test takes.
    pub name: String,
    pub space: Space,
    pub bytes: u32,
}

/// An instruction of the function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FunctionLine {
    /// Labels before it.
    pub labels: Vec<String>,
    /// The instruction with its guard, as a column of a test has it; empty where only labels stand.
    pub text: String,
    /// What it does: the target of a branch is an index into the lines of all rows, one behind another. A return is a
    /// branch behind the last one.
    pub lines: Vec<FunctionStep>,
    /// Where it is in the file, from 1.
    pub line: usize,
    /// Whether it is an access that is observable behaviour: volatile, or mmio.
    pub volatile: bool,
    /// Whether the program promises that nobody writes what it reads while the kernel runs.
    pub read_only: bool,
}

/// A line of the thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionStep {
    pub line: Line,
    /// What the machine does for it; nothing where the function is not SASS.
    pub lowered: LoweredInstruction,
}

/// What a register holds at the beginning.
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

/// Whether a context of a function may use this name for itself: no register and no label of a function has it.
pub fn is_reserved(name: &str) -> bool {
    let of_frame = ["before", "behind"].iter().find_map(|prefix| name.strip_prefix(prefix));
    let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    name == END || of_frame.is_some_and(|rest| number(rest) || matches!(rest, "p" | "end"))
}

/// The label behind a function that has a frame.
pub const END: &str = "function_end";

impl FunctionLine {
    /// The row as a cell of a column: labels, guard and instruction.
    pub fn cell(&self) -> String {
        let labels = self.labels.iter().map(|label| format!("{label}: "));
        let cell: String = labels.chain([self.text.clone()]).collect();
        cell.trim_end().to_owned()
    }
}
