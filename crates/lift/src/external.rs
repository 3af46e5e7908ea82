//! Calls of functions whose bodies are in another module (reading R107).
//!
//! A call asks and is answered: a release store of what is passed, and an acquire load that waits for an answer, in
//! memory that the callee owns. What it returns is in that memory, too. The calls that a thread makes, of any function,
//! use places one after the other, so the last contents of memory show each call, its place among the others, and what
//! was passed.

use ptx::qualifier::Dialect;

use crate::function::{EntryValue, FunctionVariable};
use crate::opaque::chained;
use crate::written::{AsOperand, WrittenArg, WrittenInstruction, written};
use model::memory::Space;

/// The note of a function that calls one.
pub const ASSUMED: &str = "the callee is the same function on both sides, returns, and writes no local memory of the caller: it may access all \
     other memory in the order of an acquire and a release (reading R107)";

/// The bytes of a call before what it returns: what is passed, and the answer.
pub const HEAD: u32 = 16;

/// Names of all memory of callees begin with this.
const PREFIX: &str = "called_";

/// The function that makes one number of what is passed.
const HASH: &str = "call.hash";

/// The name of a callee's memory.
pub fn memory_of(callee: &str) -> String {
    format!("{PREFIX}{callee}")
}

/// Whether memory with this name is that of a callee.
pub fn is_memory(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// The memory of a callee, which is as large as its calls need.
pub fn variable(name: &str) -> FunctionVariable {
    FunctionVariable {
        name: name.to_owned(),
        space: Space::Global,
        grows: true,
        ..FunctionVariable::default()
    }
}

/// A function of another module, as a call of it needs it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExternalFunction {
    pub name: String,
    /// The name of its memory.
    pub memory: String,
    pub arguments: Vec<PassedArgument>,
    /// The size in bytes of what it returns.
    pub returned: u32,
    /// Whether calls of it end. The thread ends with a call that does not.
    pub returns: bool,
}

/// An argument of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PassedArgument {
    pub bytes: u32,
    /// In bytes; 0 for the size of a scalar.
    pub alignment: u32,
    /// Of each word of 64 bits the bits that have a value.
    pub masks: Vec<u64>,
}

/// Names that the rows of a call use: registers of 64 bits, except for a predicate and a label.
pub struct CallNames {
    /// The address of the callee's memory.
    pub memory: String,
    /// The bytes that the calls before it use. All calls of a function share it.
    pub used: String,
    /// The address of this call's place.
    pub place: String,
    pub passed: String,
    pub answer: String,
    pub waits: String,
    pub again: String,
}

impl CallNames {
    /// The registers with an initial value, for the memory with this name.
    pub fn initial(&self, memory: &str) -> [(&str, EntryValue); 2] {
        [(&self.memory, EntryValue::Address(memory.to_owned())), (&self.used, EntryValue::Value(0))]
    }

    /// The instructions of a call with these words as arguments. What it returns begins [`HEAD`] bytes after its place.
    pub fn rows(
        &self,
        dialect: Dialect,
        arguments: &[WrittenArg],
        returned: u32,
    ) -> Vec<WrittenInstruction> {
        let CallNames { memory, used, place, passed, answer, waits, again } = self;
        let mut rows = vec![written("add.u64", &[place, memory, used])];
        let what = match arguments {
            [] => WrittenArg::Number(1),
            [one] => one.clone(),
            all => {
                chained(all, |operands: &[WrittenArg]| {
                    let operands = [&[passed.operand()], operands].concat();
                    let name = format!("opaque.u64.{HASH}");
                    rows.push(WrittenInstruction { name, operands, ..Default::default() });
                    passed.operand()
                });
                passed.operand()
            }
        };
        let (store, load) = if dialect == Dialect::Cxx {
            ("store.release.system.u64", "load.acquire.system.u64")
        } else {
            ("st.release.sys.global.u64", "ld.acquire.sys.global.u64")
        };
        let [question, reply] = [0, 8].map(|offset| WrittenArg::address(place, offset));
        let more = HEAD + returned.next_multiple_of(8);
        rows.extend([
            written(store, &[&question, &what]),
            written(load, &[answer, &reply]).labelled(again),
            written("setp.eq.u64", &[waits, answer, &0]),
            written("bra", &[again]).when(waits),
            written("add.u64", &[used, used, &more]),
        ]);
        rows
    }
}

/// The accesses of at most eight bytes that make this many bytes: each with its offset.
pub fn pieces(bytes: u32) -> Vec<(u32, u32)> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < bytes {
        let size = [8, 4, 2, 1].into_iter().find(|size| at + size <= bytes).unwrap_or(1);
        all.push((at, size));
        at += size;
    }
    all
}
