//! The syntax tree of a PTX module: declarations, functions, instructions.
//!
//! All nodes refer to the text by byte ranges. Memory instructions are parsed with their operands;
//! others are kept as text, with the names that they define and use.

use crate::declared::LaunchBoundKind;
use crate::shape::{Opcode, VariableShape};
use crate::version::{FunctionKind as Kind, PtxIsa, Target};
use model::isa::{SpaceQualifier, Type};

use text::report::ByteSpan;

/// One file.
#[derive(Debug, Default)]
pub(crate) struct ModuleSyntax {
    pub(crate) isa: Option<(PtxIsa, ByteSpan)>,
    /// Whether there is a `.version`, one that can be read or not.
    pub(crate) versioned: bool,
    pub(crate) target: Option<(Target, ByteSpan)>,
    /// 32 or 64; `None` where the module does not say.
    pub(crate) address_bits: Option<u16>,
    pub(crate) functions: Vec<Function>,
    /// `.alias f, g;`: `f` and `g`.
    pub(crate) aliases: Vec<[ByteSpan; 2]>,
    /// The names of the functions with `.noreturn`.
    pub(crate) no_return: Vec<ByteSpan>,
    /// The names of the kernels with `.minperctamemory`.
    pub(crate) cta_memory: Vec<ByteSpan>,
    /// Reads of special registers that not every version, target and kernel has.
    pub(crate) special_reads: Vec<ByteSpan>,
    /// Parts of all instructions, opcodes included; an instruction has a range of them.
    pub(crate) parts: Vec<ByteSpan>,
    /// Operands of all memory instructions.
    pub(crate) operands: Vec<Operand>,
    /// Elements of all vectors.
    pub(crate) elements: Vec<Element>,
    /// What all other instructions define and use.
    pub(crate) names: Vec<NameUse>,
    /// All that has a name and is memory, in the order of the text.
    pub(crate) variables: Vec<VariableDeclaration>,
    /// How many names are declared nowhere, or are not to be written: reported, and no trouble to read.
    pub(crate) undeclared: usize,
}

/// A part of one of the lists of a [`ModuleSyntax`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Range {
    pub(crate) fn new(start: usize, end: usize) -> Range {
        let narrow = |n: usize| u32::try_from(n).expect("a file has less than 4 GiB");
        Range { start: narrow(start), end: narrow(end) }
    }

    pub(crate) fn of<T>(self, list: &[T]) -> &[T] {
        &list[self.start as usize..self.end as usize]
    }
}

/// A declaration of memory: a variable, a parameter, or the result of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VariableDeclaration {
    pub(crate) name: ByteSpan,
    pub(crate) space: SpaceQualifier,
    /// Of all elements; none where it is not written as numbers.
    pub(crate) bytes: Option<u32>,
    /// Of one element.
    pub(crate) element: Option<Type>,
    /// Whether it has several elements.
    pub(crate) array: bool,
    /// In bytes.
    pub(crate) alignment: u32,
    /// Whether other modules see it.
    pub(crate) linked: bool,
    /// Whether another module defines it.
    pub(crate) external: bool,
    /// The place of its value.
    pub(crate) value: Option<ByteSpan>,
    /// Of a parameter: where it points to.
    pub(crate) points_to: Option<SpaceQualifier>,
    /// The alignment in bytes of what is there.
    pub(crate) pointee_alignment: Option<u32>,
}

#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) kind: Kind,
    pub(crate) name: ByteSpan,
    /// Whether other modules see it.
    pub(crate) linked: bool,
    /// In [`ModuleSyntax::variables`], as the two that follow.
    pub(crate) results: Range,
    pub(crate) parameters: Range,
    /// What its body declares.
    pub(crate) variables: Range,
    /// In [`ModuleSyntax::special_reads`].
    pub(crate) special_reads: Range,
    pub(crate) bounds: Vec<BoundDirective>,
    /// What stands between the statements, each with the index of the statement after it.
    pub(crate) marks: Vec<(u32, BodyMark)>,
    pub(crate) statements: Vec<Statement>,
}

/// `.reqntid 32, 1, 1`: a directive that a launch has to keep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundDirective {
    pub(crate) kind: LaunchBoundKind,
    /// What is not written is 1.
    pub(crate) extent: [u32; 3],
    pub(crate) at: ByteSpan,
}

/// What a body has besides statements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum BodyMark {
    /// The braces of a block.
    Open,
    Close,
    /// A register of a block, or as many with numbers at the end of their names.
    Register {
        name: ByteSpan,
        count: Option<u32>,
    },
    /// Memory that a block declares: its index in [`ModuleSyntax::variables`].
    Variable(usize),
    /// The labels of a table for `brx.idx`, whose name is the label before it.
    Targets(Vec<ByteSpan>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Statement {
    Label(ByteSpan),
    Memory(MemoryInstruction),
    Opaque(Opaque),
}

/// `@p`, `@!p`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Guard {
    /// From the sign to the name.
    pub(crate) at: ByteSpan,
    pub(crate) name: ByteSpan,
    pub(crate) negated: bool,
}

/// An instruction whose rules are checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryInstruction {
    pub(crate) opcode: Opcode,
    /// From the guard to the last operand.
    pub(crate) at: ByteSpan,
    pub(crate) guard: Option<Guard>,
    pub(crate) parts: Range,
    pub(crate) operands: Range,
}

/// Any other instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opaque {
    pub(crate) at: ByteSpan,
    pub(crate) guard: Option<Guard>,
    pub(crate) parts: Range,
    pub(crate) names: Range,
}

/// A name in an instruction that is kept as text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NameUse {
    pub(crate) at: ByteSpan,
    pub(crate) defined: bool,
    /// What it stands for in an instruction that has productions.
    pub(crate) symbol: Option<Symbol>,
}

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Symbol {
    Register(Type),
    Vector(u8, Type),
    Predicate,
    Variable(VariableShape),
    /// A function, a texture, a label.
    Other,
}

/// An operand of a memory instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Operand {
    pub(crate) at: ByteSpan,
    pub(crate) kind: OperandKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OperandKind {
    Scalar(Scalar),
    /// A name and a number that is added to it.
    Sum(Scalar),
    /// A range of [`ModuleSyntax::elements`].
    Vector(Range),
    Address(AddressOperand),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Element {
    pub(crate) at: ByteSpan,
    pub(crate) value: Scalar,
}

/// A register, a number or a name, looked up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scalar {
    Sink,
    /// An integer.
    Number,
    Float,
    Symbol(Symbol),
    /// A special register.
    Special,
    /// A name that is declared elsewhere.
    Foreign,
    /// Declared nowhere, and reported.
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AddressOperand {
    pub(crate) base: Scalar,
    pub(crate) base_at: ByteSpan,
    /// In bytes; for a number as base, the address.
    pub(crate) offset: i64,
    /// The place of the suffix `.unified`.
    pub(crate) unified: Option<ByteSpan>,
}
