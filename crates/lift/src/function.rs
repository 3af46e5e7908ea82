//! A function of a compiler's input or output, translated to instructions of the model.
//!
//! The readers of LLVM IR, PTX modules and SASS listings produce it. A reader refuses a whole function if it
//! does not support one of its instructions, and lists all of these where it can.

use machine::form::LoweredInstruction;
use model::isa::{Line, Type};
use model::memory::Space;
use model::scope::Placement;

use crate::external::ExternalFunction;

/// The placement of the thread of a function while it is read, and when it is alone.
pub const HERE: Placement =
    Placement { gpu: 0, kernel: 0, cluster: Some(0), cta: 0, warp: None, sm: None };

/// The language of a function's instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// LLVM IR, as C++ operations.
    Cxx,
    Ptx,
    /// SASS, for this `sm_` number.
    Sass(u16),
}

/// A function of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    pub name: String,
    /// The line in the file at which it begins, from 1.
    pub line: usize,
    pub language: Language,
    /// Whether its target has clusters of CTAs, as `sm_90` and later ones have; true if the file names no target.
    pub clusters: bool,
    /// Whether it is a kernel: no other function calls it, so its thread executes nothing else.
    pub kernel: bool,
    pub parameters: Vec<Parameter>,
    /// The variables of the module that the function names. A [`model::memory::VariableId`] of an instruction
    /// is an index into them.
    pub variables: Vec<FunctionVariable>,
    /// The registers of its thread: names and widths in bits.
    pub registers: Vec<(String, u16)>,
    pub rows: Vec<FunctionLine>,
    /// The initial values of registers. The function uses no initial value of any other register.
    pub initial: Vec<(String, EntryValue)>,
    /// What it returns, in words of 64 bits; the last one may be shorter.
    pub result: Vec<ReturnedWord>,
    /// The same function, undefined where a result is: if it has rules of that kind. It is for runs without other
    /// threads.
    pub checked: Option<Box<Function>>,
    /// The functions of other modules that it calls; listed for PTX only.
    pub external: Vec<ExternalFunction>,
    /// Its values that are not defined, such as `poison`.
    pub undefined: UndefinedValues,
    /// Assumptions of the reader.
    pub notes: Vec<String>,
}

/// What a reader makes of values that are not defined. Whatever it makes of them, the function has some of the outcomes
/// that the program allows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum UndefinedValues {
    /// There is none.
    #[default]
    Absent,
    /// Stores of them are left out, and there is no other use. The same function with 0 for each of them, if it can be
    /// read.
    LeftOut(Option<Box<Function>>),
    /// Each is 0.
    Zero,
}

/// A word of a returned value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReturnedWord {
    /// The register that holds it at the end.
    pub register: String,
    /// Its bits that have a value: neither padding, nor undefined.
    pub mask: u64,
}

/// A parameter, in the order of the signature.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parameter {
    /// A name that a litmus test accepts.
    pub name: String,
    pub bits: u16,
    /// Whether its type is that of a float.
    pub float: bool,
    /// Whether its type is that of an integer. `.b32` is neither.
    pub integer: bool,
    /// Of a structure, an array or a vector: its alignment in bytes. Its parts are read one by one.
    pub alignment: Option<u32>,
    /// The state space that it points to, if it is known to be an address. A generic address is assumed to
    /// point to global memory.
    pub points_to: Option<Space>,
    /// Whether the program promises that no other pointer leads to the same memory: `noalias`.
    pub no_alias: bool,
    /// The alignment in bytes that the program promises of what it points to, if it does.
    pub pointee_alignment: Option<u64>,
}

/// A variable of the module, or a local variable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FunctionVariable {
    /// A name that a litmus test accepts.
    pub name: String,
    pub space: Space,
    pub bytes: u32,
    /// The type of one element, if the file gives it.
    pub element: Option<Type>,
    /// Whether its declaration gives no size, as that of dynamic shared memory, or is not its definition: it is as
    /// large as the function needs.
    pub grows: bool,
    /// Its initial bytes; the rest is 0.
    pub initial: Vec<u8>,
    /// In bytes, if the file gives it.
    pub alignment: u32,
    /// Among the variables of its state space: what has a lesser place is before it in memory.
    pub place: Place,
}

/// The order in which `ptxas` lays out shared variables: first what other modules see, and of the same kind as
/// the file declares it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Place {
    /// Whether it is hidden from other modules; that of a function is if the function is.
    pub hidden: bool,
    /// Whether a function declares it.
    pub of_function: bool,
    /// The position of its declaration in the file.
    pub at: u32,
}

/// An instruction of the function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FunctionLine {
    /// The labels before it.
    pub labels: Vec<String>,
    /// The instruction with its guard, as in a column of a test; empty for labels alone.
    pub text: String,
    /// The lines of the instruction. The target of a branch is an index into the concatenated lines of all
    /// rows. A return is a branch to the end.
    pub lines: Vec<FunctionStep>,
    /// The line in the file, from 1.
    pub line: usize,
    /// Whether it is an access with observable behaviour: volatile or mmio.
    pub volatile: bool,
    /// Whether it is an access to one element of several that the program accesses at once.
    pub element: bool,
    /// Whether the program promises that no thread writes the memory that it reads while the kernel runs.
    pub read_only: bool,
}

/// A line of the thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionStep {
    pub line: Line,
    /// The operations of the machine; empty for a function that is not SASS.
    pub lowered: LoweredInstruction,
}

/// The initial value of a register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EntryValue {
    /// The parameter with this index.
    Parameter(usize),
    /// So many bits of a parameter that is no scalar, from this byte on.
    Piece {
        parameter: usize,
        offset: u32,
        bits: u16,
    },
    Value(u64),
    /// The generic address of a variable.
    Address(String),
    /// A special register, as PTX names it without `%`: `tid.x`.
    Special(String),
}

/// A reason for which a function is not judged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// The line in the file, from 1.
    pub line: usize,
    pub why: String,
}

/// All reasons for which a function is not judged, in the order of their lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusals {
    /// At least one.
    reasons: Vec<Refused>,
}

impl Refusals {
    /// `None` without a reason. Of each line the first reason is given.
    pub fn of(mut reasons: Vec<Refused>) -> Option<Refusals> {
        reasons.sort_by_key(|reason| reason.line);
        reasons.dedup_by_key(|reason| reason.line);
        (!reasons.is_empty()).then_some(Refusals { reasons })
    }

    pub fn first(&self) -> &Refused {
        &self.reasons[0]
    }

    pub fn all(&self) -> &[Refused] {
        &self.reasons
    }
}

impl From<Refused> for Refusals {
    fn from(reason: Refused) -> Refusals {
        Refusals { reasons: vec![reason] }
    }
}

/// The functions of a file, by name, in the order of the file.
pub type Functions = Vec<(String, Result<Function, Refusals>)>;

/// Whether a name is reserved for contexts: no register and no label of a function has it.
pub fn is_reserved(name: &str) -> bool {
    let of_frame = ["before", "behind"].iter().find_map(|prefix| name.strip_prefix(prefix));
    let digits = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    let number = |rest: &str| digits(rest.strip_prefix('w').unwrap_or(rest));
    name == END || of_frame.is_some_and(|rest| number(rest) || matches!(rest, "p" | "end" | "low"))
}

/// The label after a function in a context.
pub const END: &str = "function_end";

impl FunctionLine {
    /// The row as a cell of a column: labels, guard and instruction.
    pub fn cell(&self) -> String {
        let labels = self.labels.iter().map(|label| format!("{label}: "));
        let cell: String = labels.chain([self.text.clone()]).collect();
        cell.trim_end().to_owned()
    }
}
