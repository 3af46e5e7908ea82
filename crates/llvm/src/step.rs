//! Instructions of a function, as they are written.

use super::operand::Value;
use super::ty::Ty;
use super::{MemoryOp, Operation};
use text::report::ByteSpan;

/// An operand with its type.
pub(super) type Typed<'a> = (Ty, Value<'a>);

/// The operation of one instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum InstructionKind<'a> {
    /// An access or a fence. An access has its operands, with the address first.
    Memory(Operation<'a>, Vec<Value<'a>>),
    Binary {
        op: &'a str,
        /// Whether a floating-point operation may do more than round once.
        fast: bool,
        flags: Vec<&'a str>,
        operands: (Typed<'a>, Typed<'a>),
    },
    Compare {
        /// `fcmp` instead of `icmp`.
        float: bool,
        relation: &'a str,
        flags: Vec<&'a str>,
        operands: (Typed<'a>, Typed<'a>),
    },
    Select {
        condition: Typed<'a>,
        operands: (Typed<'a>, Typed<'a>),
    },
    Cast {
        op: &'a str,
        flags: Vec<&'a str>,
        from: Typed<'a>,
        to: Ty,
    },
    Address {
        source: Ty,
        base: Typed<'a>,
        indices: Vec<Typed<'a>>,
    },
    /// Each value with its predecessor block.
    Phi {
        ty: Ty,
        incoming: Vec<(Value<'a>, &'a str)>,
    },
    Part(AggregateAccess<'a>),
    Freeze(Typed<'a>),
    Alloca {
        ty: Ty,
        count: Option<Typed<'a>>,
    },
    Call {
        result: Ty,
        callee: &'a str,
        arguments: Vec<Typed<'a>>,
        how: CallAttributes<'a>,
    },
    Assembly(InlineAssembly<'a>),
    /// `fneg`
    Negate(Typed<'a>),
    End(Terminator<'a>),
    /// An instruction of LLVM IR that is not supported: its opcode or its callee.
    Unsupported(&'a str),
}

/// What a call says besides its operands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct CallAttributes<'a> {
    /// Whether it has the metadata `!invariant.load`.
    pub(super) invariant: bool,
    /// Whether there is a fast-math flag.
    pub(super) is_fast: bool,
    /// The types of the memory that is copied for arguments with `byval`, by their places.
    pub(super) copied: Vec<(usize, Ty)>,
    /// The alignments of arguments, by their places.
    pub(super) aligned: Vec<(usize, u64)>,
    /// The places of the arguments with `signext`.
    pub(super) signed: Vec<usize>,
    /// The words before the type and after the arguments: attributes, and names of groups of attributes.
    pub(super) words: Vec<&'a str>,
}

/// A call of inline assembly.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct InlineAssembly<'a> {
    pub(super) result: Ty,
    /// The template and the constraints, without quotes.
    pub(super) template: &'a str,
    pub(super) constraints: &'a str,
    /// Whether it says `sideeffect`.
    pub(super) volatile: bool,
    pub(super) arguments: Vec<Typed<'a>>,
}

/// Extracts or inserts a part of a value of several parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum AggregateAccess<'a> {
    Extract {
        from: Typed<'a>,
        path: Vec<u64>,
    },
    Insert {
        into: Typed<'a>,
        element: Typed<'a>,
        path: Vec<u64>,
    },
    ExtractElement {
        from: Typed<'a>,
        index: Typed<'a>,
    },
    InsertElement {
        into: Typed<'a>,
        element: Typed<'a>,
        index: Typed<'a>,
    },
    /// `shufflevector`: elements of both operands, by index.
    Shuffle {
        operands: (Typed<'a>, Typed<'a>),
        mask: Typed<'a>,
    },
}

impl<'a> AggregateAccess<'a> {
    fn operands(&self) -> Vec<&Value<'a>> {
        match self {
            AggregateAccess::Extract { from, .. } => vec![&from.1],
            AggregateAccess::Insert { into, element, .. } => vec![&into.1, &element.1],
            AggregateAccess::ExtractElement { from, index } => vec![&from.1, &index.1],
            AggregateAccess::InsertElement { into, element, index } => {
                vec![&into.1, &element.1, &index.1]
            }
            AggregateAccess::Shuffle { operands, .. } => vec![&operands.0.1, &operands.1.1],
        }
    }

    /// The type of the result. The type of an `extractvalue` depends on the named types.
    fn result(&self) -> Option<Ty> {
        match self {
            AggregateAccess::Extract { .. } => None,
            AggregateAccess::ExtractElement { from, .. } => from.0.one_of_vector().cloned(),
            AggregateAccess::Insert { into, .. } | AggregateAccess::InsertElement { into, .. } => {
                Some(into.0.clone())
            }
            AggregateAccess::Shuffle { operands, mask } => {
                let element = operands.0.0.one_of_vector()?.clone();
                Some(Ty::Vector(mask.0.lanes()?, Box::new(element)))
            }
        }
    }
}

/// The end of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Terminator<'a> {
    Jump(&'a str),
    Branch { condition: Typed<'a>, then: &'a str, otherwise: &'a str },
    Switch { on: Typed<'a>, default: &'a str, cases: Vec<(Typed<'a>, &'a str)> },
    Return(Option<Typed<'a>>),
    Unreachable,
}

impl<'a> Terminator<'a> {
    /// The blocks that may follow.
    pub(super) fn targets(&self) -> Vec<&'a str> {
        match self {
            Terminator::Jump(target) => vec![target],
            Terminator::Branch { then, otherwise, .. } => vec![then, otherwise],
            Terminator::Switch { default, cases, .. } => {
                std::iter::once(*default).chain(cases.iter().map(|case| case.1)).collect()
            }
            Terminator::Return(_) | Terminator::Unreachable => Vec::new(),
        }
    }

    fn operands(&self) -> Vec<&Value<'a>> {
        match self {
            Terminator::Branch { condition, .. } => vec![&condition.1],
            Terminator::Switch { on, .. } => vec![&on.1],
            Terminator::Return(value) => value.iter().map(|value| &value.1).collect(),
            Terminator::Jump(_) | Terminator::Unreachable => Vec::new(),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct TypedInstruction<'a> {
    pub(super) at: ByteSpan,
    /// The name without its prefix.
    pub(super) result: Option<&'a str>,
    pub(super) step: InstructionKind<'a>,
}

impl<'a> TypedInstruction<'a> {
    /// The terminator with its position, if the instruction ends its block.
    pub(super) fn end(&self) -> Option<(ByteSpan, &Terminator<'a>)> {
        if let InstructionKind::End(end) = &self.step { Some((self.at, end)) } else { None }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Block<'a> {
    /// `None` if its number is implicit.
    pub(super) label: Option<&'a str>,
    pub(super) at: ByteSpan,
    pub(super) instructions: Vec<TypedInstruction<'a>>,
}

impl<'a> InstructionKind<'a> {
    /// The type of the result; `None` if there is no result.
    pub(super) fn result(&self) -> Option<Ty> {
        Some(match self {
            InstructionKind::Memory(Operation::Access(access), _) => match access.kind {
                MemoryOp::Load | MemoryOp::Rmw(_) => access.ty.any(),
                MemoryOp::CmpXchg { .. } => {
                    Ty::Struct { packed: false, fields: vec![access.ty.any(), Ty::BIT] }
                }
                MemoryOp::Store => return None,
            },
            InstructionKind::Binary { operands, .. } | InstructionKind::Select { operands, .. } => {
                operands.0.0.clone()
            }
            InstructionKind::Compare { operands, .. } => match operands.0.0.lanes() {
                Some(lanes) => Ty::Vector(lanes, Box::new(Ty::BIT)),
                None => Ty::BIT,
            },
            InstructionKind::Cast { to, .. } => to.clone(),
            InstructionKind::Address { base, .. } => base.0.clone(),
            InstructionKind::Phi { ty, .. } => ty.clone(),
            InstructionKind::Part(part) => return part.result(),
            InstructionKind::Alloca { .. } => Ty::Ptr(0),
            InstructionKind::Call { result, .. }
            | InstructionKind::Assembly(InlineAssembly { result, .. })
                if *result != Ty::Void =>
            {
                result.clone()
            }
            InstructionKind::Freeze(of) | InstructionKind::Negate(of) => of.0.clone(),
            InstructionKind::Memory(..)
            | InstructionKind::Call { .. }
            | InstructionKind::Assembly(_)
            | InstructionKind::End(_)
            | InstructionKind::Unsupported(_) => {
                return None;
            }
        })
    }

    /// The operands, except those of phis.
    pub(super) fn operands(&self) -> Vec<&Value<'a>> {
        match self {
            InstructionKind::Memory(_, values) => values.iter().collect(),
            InstructionKind::Binary { operands, .. }
            | InstructionKind::Compare { operands, .. } => {
                vec![&operands.0.1, &operands.1.1]
            }
            InstructionKind::Select { condition, operands } => {
                vec![&condition.1, &operands.0.1, &operands.1.1]
            }
            InstructionKind::Cast { from, .. } => vec![&from.1],
            InstructionKind::Part(part) => part.operands(),
            InstructionKind::Address { base, indices, .. } => {
                std::iter::once(&base.1).chain(indices.iter().map(|index| &index.1)).collect()
            }
            InstructionKind::Freeze(of) | InstructionKind::Negate(of) => vec![&of.1],
            InstructionKind::Alloca { count, .. } => count.iter().map(|count| &count.1).collect(),
            InstructionKind::Call { arguments, .. }
            | InstructionKind::Assembly(InlineAssembly { arguments, .. }) => {
                arguments.iter().map(|argument| &argument.1).collect()
            }
            InstructionKind::End(end) => end.operands(),
            InstructionKind::Phi { .. } | InstructionKind::Unsupported(_) => Vec::new(),
        }
    }
}
