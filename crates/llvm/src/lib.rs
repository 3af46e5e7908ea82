//! Reads the part of LLVM IR that a lowering of memory operations needs.
//!
//! [`read`] reads straight-line code, one instruction per line. Memory operations, fences and barriers are
//! parsed in full; of other instructions only the opcode is used. `[kernel arg %p: noalias readonly]` after
//! an instruction states the attributes of a pointer whose declaration is missing. [`functions`] reads a
//! module and translates each function into a column of C++ operations.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

mod access;
mod assembly;
mod bits;
mod body;
mod call;
mod cell;
mod compute;
mod control;
mod copy;
mod external;
mod float;
mod function;
mod inline;
mod intrinsic;
mod lex;
mod masked;
mod memory;
mod module;
mod operand;
mod origin;
mod parameter;
mod parse;
mod parts;
mod poison;
mod step;
mod sync_scope;
mod ty;
mod value;
mod wide;

pub use origin::origins;
pub use sync_scope::{SyncScope, sync_scope};
pub use ty::{ScalarType, Type};

use std::collections::BTreeSet;

use lift::function::Functions;
use text::diagnostic::Diagnostic;
use text::report::{Diagnostics, LineIndex};

/// An atomic ordering.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AtomicOrdering {
    Unordered,
    Monotonic,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl AtomicOrdering {
    /// The spelling in LLVM IR.
    pub fn name(self) -> &'static str {
        match self {
            AtomicOrdering::Unordered => "unordered",
            AtomicOrdering::Monotonic => "monotonic",
            AtomicOrdering::Acquire => "acquire",
            AtomicOrdering::Release => "release",
            AtomicOrdering::AcqRel => "acq_rel",
            AtomicOrdering::SeqCst => "seq_cst",
        }
    }
}

/// The operation of an `atomicrmw`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RmwOp {
    Xchg,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Max,
    Min,
    UMax,
    UMin,
    FAdd,
    FSub,
    FMax,
    FMin,
    UIncWrap,
    UDecWrap,
    USubCond,
    USubSat,
}

/// The kind of a memory operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryOp {
    Load,
    Store,
    Rmw(RmwOp),
    CmpXchg { weak: bool, failure: AtomicOrdering },
}

/// A memory operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access<'a> {
    pub kind: MemoryOp,
    pub volatile: bool,
    /// `None` if the operation is not atomic.
    pub order: Option<AtomicOrdering>,
    /// The scope as it is written; empty for the system scope.
    pub scope: &'a str,
    pub ty: Type,
    /// The number of the address space; 0 is generic.
    pub space: u32,
    pub pointer: &'a str,
    /// In bytes.
    pub align: Option<u64>,
    /// The value of a store, or the operands of an `atomicrmw` or `cmpxchg` other than its address.
    pub values: Vec<&'a str>,
    /// Names of metadata, such as `invariant.load`.
    pub metadata: Vec<&'a str>,
    /// The attributes of the pointer, if it is an argument of a kernel.
    pub argument: Option<Vec<&'a str>>,
}

impl Access<'_> {
    /// Whether the program promises that no thread writes the memory that it reads while the kernel runs.
    pub fn promises_read_only(&self) -> bool {
        let has =
            |attributes: &Vec<&str>| ["noalias", "readonly"].iter().all(|a| attributes.contains(a));
        self.metadata.contains(&"invariant.load") || self.argument.as_ref().is_some_and(has)
    }
}

/// A call of a barrier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BarrierCall {
    /// All threads of the CTA.
    Cta,
    ClusterArrive,
    ClusterArriveRelaxed,
    ClusterWait,
}

/// The operation of one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operation<'a> {
    Access(Access<'a>),
    Fence {
        order: AtomicOrdering,
        scope: &'a str,
    },
    Barrier(BarrierCall),
    /// Computes from registers alone.
    Pure,
    /// An instruction of LLVM IR that is not supported: its opcode or its callee.
    Unsupported(&'a str),
}

/// One instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction<'a> {
    pub text: &'a str,
    /// `%r`
    pub result: Option<&'a str>,
    pub operation: Operation<'a>,
}

/// What is assumed of an atomic operation through a generic pointer.
pub const NOT_LOCAL: &str = "the address of an atomic is assumed not to be in local memory, where PTX has no atomics (reading R105)";

/// Reads instructions, or returns all errors in them. `path` is used in messages.
pub fn read<'a>(path: &str, text: &'a str) -> Result<Vec<Instruction<'a>>, Vec<Diagnostic>> {
    let mut report = Diagnostics::default();
    let instructions = parse::Parser::new(text, &mut report).instructions();
    if report.count() > 0 { Err(report.finish(path, text)) } else { Ok(instructions) }
}

/// Reads the functions of a module, or returns all errors in it. Valid code that is not supported refuses
/// only its own function.
pub fn functions(path: &str, text: &str) -> Result<Functions, Vec<Diagnostic>> {
    let mut report = Diagnostics::of_many();
    let module = module::read(text, &mut report);
    let lines = LineIndex::of(text);
    // A line that cannot be read defines no value. Uses of that value are not reported.
    let bodies = function::bodies(&module, text, &mut report);
    let names: BTreeSet<&str> = module.functions.iter().map(|one| one.name).collect();
    let mut functions = Functions::new();
    for definition in &module.functions {
        if bodies.contains_key(definition.name) {
            let made = function::translate(&module, &bodies, definition, &lines, &mut report);
            let symbol = definition.symbol();
            let taken = symbol != definition.name && names.contains(symbol.as_str());
            // `llc` gives another symbol to a function that would have the one of another function.
            functions.push((if taken { definition.name.to_owned() } else { symbol }, made));
        }
    }
    if report.count() > 0 { Err(report.finish(path, text)) } else { Ok(functions) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(text: &str) -> Access<'_> {
        let operation = read("r", text).expect("it can be read").remove(0).operation;
        let Operation::Access(access) = operation else { panic!("{text}: {operation:?}") };
        access
    }

    #[test]
    fn what_an_access_says_is_kept() {
        let load = access(
            "%r = load atomic volatile i32, ptr addrspace(1) %p syncscope(\"device\") acquire, align 4, \
             !invariant.load !0, !tbaa !3",
        );
        assert_eq!(
            (load.kind, load.volatile, load.order),
            (MemoryOp::Load, true, Some(AtomicOrdering::Acquire))
        );
        assert_eq!((load.scope, load.space, load.align), ("device", 1, Some(4)));
        assert_eq!((load.ty.bytes(), load.pointer), (Some(4), "%p"));
        assert!(load.promises_read_only());
        let store = access("store <4 x float> %v, ptr %p, align 16");
        assert_eq!((store.ty.bytes(), store.values), (Some(16), vec!["%v"]));
        let rmw =
            access("%r = atomicrmw volatile umax ptr addrspace(3) %p, i64 7 seq_cst, align 8");
        assert_eq!((rmw.kind, rmw.space), (MemoryOp::Rmw(RmwOp::UMax), 3));
        let cas =
            access("%c = cmpxchg weak ptr %p, i8 %e, i8 %v syncscope(\"block\") acq_rel monotonic");
        assert_eq!(cas.kind, MemoryOp::CmpXchg { weak: true, failure: AtomicOrdering::Monotonic });
        assert_eq!((cas.order, cas.scope), (Some(AtomicOrdering::AcqRel), "block"));
        let old = access("%r = load i32, i32 addrspace(1)* %p, align 4");
        assert_eq!(old.space, 1);
        let argument = access("%r = load i32, ptr %p , align 4 [kernel arg %p: noalias readonly]");
        assert_eq!(argument.argument, Some(vec!["noalias", "readonly"]));
    }

    #[test]
    fn lines_that_are_no_access_are_known() {
        let text = "%a = add nsw i32 %x, 1\nfence syncscope(\"block\") seq_cst, !dbg !7 ; all\n\
            call void @llvm.nvvm.barrier0()\n\
            tail call void @llvm.nvvm.barrier.cluster.arrive.relaxed.aligned()\n\
            call void @f(ptr %p)\n%c = icmp eq i32 %a, 0\n";
        let read = read("r", text).expect("it can be read");
        let operations: Vec<Operation<'_>> = read.into_iter().map(|i| i.operation).collect();
        assert_eq!(
            operations,
            [
                Operation::Pure,
                Operation::Fence { order: AtomicOrdering::SeqCst, scope: "block" },
                Operation::Barrier(BarrierCall::Cta),
                Operation::Barrier(BarrierCall::ClusterArriveRelaxed),
                Operation::Unsupported("@f"),
                Operation::Pure,
            ]
        );
    }

    fn codes(text: &str) -> Vec<&'static str> {
        read("r", text).expect_err(text).iter().map(|diagnostic| diagnostic.code).collect()
    }

    #[test]
    fn what_llvm_rejects_is_told() {
        assert_eq!(codes("%r = load atomic i32, ptr %p release, align 4"), ["llvm-order"]);
        assert_eq!(codes("store atomic i32 1, ptr %p acquire, align 4"), ["llvm-order"]);
        assert_eq!(codes("%r = load atomic i32, ptr %p monotonic"), ["llvm-align"]);
        assert_eq!(codes("fence monotonic"), ["llvm-order"]);
        assert_eq!(codes("%r = atomicrmw add ptr %p, i32 1 unordered"), ["llvm-order"]);
        assert_eq!(codes("%r = atomicrmw frob ptr %p, i32 1 acquire"), ["llvm-operation"]);
        assert_eq!(codes("%r = cmpxchg ptr %p, i32 0, i32 1 seq_cst release"), ["llvm-order"]);
        assert_eq!(codes("%r = cmpxchg ptr %p, i32 0, i64 1 seq_cst acquire"), ["llvm-type"]);
        assert_eq!(codes("%r = load i32, %p"), ["syntax"]);
        assert_eq!(codes("%r = lod i32, ptr %p"), ["llvm-opcode"]);
        assert_eq!(codes("%r = load i32, ptr %p acquire\nfence"), ["llvm-atomic", "syntax"]);
        assert_eq!(codes("%r = load i32, ptr %p, align 3"), ["llvm-align"]);
        assert_eq!(codes("%r = load i0, ptr %p"), ["llvm-type"]);
    }

    #[test]
    fn a_function_is_defined_once() {
        let body = "{\n  ret void\n}\n";
        let text = format!("define void @f() {body}define void @g() {body}define void @f() {body}");
        let errors = functions("r", &text).expect_err("it is defined twice");
        let all: Vec<_> = errors.iter().map(|one| (one.code, one.span.line)).collect();
        assert_eq!(all, [("llvm-define", 7)]);
        // Two names that would be the same symbol are not the same function.
        let text =
            format!("define internal void @a.b() {body}define internal void @\"a_$_b\"() {body}");
        let functions = functions("r", &text).expect("the names differ");
        let names: Vec<&str> = functions.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a.b", "a_$_b"]);
    }

    #[test]
    fn all_that_is_not_supported_is_listed_with_its_line() {
        let text = "define void @callee(ptr %p) {\n  %f = frem float 1.0, 2.0\n  ret void\n}\n\
            define i32 @f(ptr %p, ptr byref(i32) %b, i32 %n) {\n\
            entry:\n  \
            %wide = load i256, ptr %p\n  \
            %low = trunc i256 %wide to i32\n  \
            call void @unknown(i32 %n)\n  \
            %a = atomicrmw add ptr %p, i256 1 seq_cst\n  \
            %c = icmp eq i32 %n, 0\n  \
            br i1 %c, label %then, label %end\n\
            then:\n  \
            call void @callee(ptr %p)\n  \
            %x = load i32, ptr %b\n  \
            br label %end\n\
            end:\n  \
            %r = phi i32 [ %low, %entry ], [ %n, %then ]\n  \
            ret i32 %r\n}\n";
        let functions = functions("r", text).expect("it is LLVM IR");
        let refusals = functions[1].1.as_ref().expect_err("it is not supported");
        let all: Vec<_> = refusals.all().iter().map(|one| (one.line, one.why.as_str())).collect();
        assert_eq!(
            all,
            [
                (2, "`frem` of float is not supported"),
                (5, "a parameter with `byref` is not supported"),
                (7, "values of type i256 are not supported"),
                (9, "a call of `@unknown`, which this module does not declare"),
                (10, "values of type i256 are not supported"),
            ]
        );
    }

    #[test]
    fn no_text_is_too_odd() {
        for text in [
            "",
            "%",
            "= =",
            "load",
            "%r = load <",
            "fence syncscope(\"",
            "store i32 \u{e9}, ptr",
            "[",
            "!",
        ] {
            let _ = read("r", text);
        }
    }
}
