//! Instructions of a function, as they are written.

use super::operand::Value;
use super::ty::Ty;
use super::{Kind, Operation};
use text::report::Bytes;

/// An operand with its type.
pub(super) type Typed<'a> = (Ty, Value<'a>);

/// What one instruction does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Step<'a> {
    /// An access or a fence; with the operands of an access, its address first.
    Memory(Operation<'a>, Vec<Value<'a>>),
    Binary {
        op: &'a str,
        /// Of floats: that more may be done than rounding once.
        fast: bool,
        operands: (Typed<'a>, Typed<'a>),
    },
    Compare {
        relation: &'a str,
        operands: (Typed<'a>, Typed<'a>),
    },
    Select {
        condition: Typed<'a>,
        operands: (Typed<'a>, Typed<'a>),
    },
    Cast {
        op: &'a str,
        from: Typed<'a>,
        to: Ty,
    },
    Address {
        source: Ty,
        base: Typed<'a>,
        indices: Vec<Typed<'a>>,
    },
    /// Each value with the block that it comes from.
    Phi {
        ty: Ty,
        incoming: Vec<(Value<'a>, &'a str)>,
    },
    Part(Part<'a>),
    Freeze(Typed<'a>),
    Alloca {
        ty: Ty,
        count: Option<Typed<'a>>,
    },
    Call {
        result: Ty,
        callee: &'a str,
        arguments: Vec<Typed<'a>>,
    },
    End(End<'a>),
    /// Real IR that is not covered: its opcode, or whom it calls.
    Unsupported(&'a str),
}

/// A part of a value of several is taken out or put in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Part<'a> {
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
    /// `shufflevector`: elements of both, by number.
    Shuffle {
        operands: (Typed<'a>, Typed<'a>),
        mask: Typed<'a>,
    },
}

impl<'a> Part<'a> {
    fn operands(&self) -> Vec<&Value<'a>> {
        match self {
            Part::Extract { from, .. } => vec![&from.1],
            Part::Insert { into, element, .. } => vec![&into.1, &element.1],
            Part::ExtractElement { from, index } => vec![&from.1, &index.1],
            Part::InsertElement { into, element, index } => vec![&into.1, &element.1, &index.1],
            Part::Shuffle { operands, .. } => vec![&operands.0.1, &operands.1.1],
        }
    }

    /// The type of the result; that of an `extractvalue` depends on what names stand for.
    fn result(&self) -> Option<Ty> {
        match self {
            Part::Extract { .. } => None,
            Part::ExtractElement { from, .. } => from.0.one_of_vector().cloned(),
            Part::Insert { into, .. } | Part::InsertElement { into, .. } => Some(into.0.clone()),
            Part::Shuffle { operands, mask } => {
                let element = operands.0.0.one_of_vector()?.clone();
                Some(Ty::Vector(mask.0.lanes()?, Box::new(element)))
            }
        }
    }
}

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum End<'a> {
    Jump(&'a str),
    Branch { condition: Typed<'a>, then: &'a str, otherwise: &'a str },
    Switch { on: Typed<'a>, default: &'a str, cases: Vec<(Typed<'a>, &'a str)> },
    Return(Option<Typed<'a>>),
    Unreachable,
}

impl<'a> End<'a> {
    /// The blocks that may follow.
    pub(super) fn targets(&self) -> Vec<&'a str> {
        match self {
            End::Jump(target) => vec![target],
            End::Branch { then, otherwise, .. } => vec![then, otherwise],
            End::Switch { default, cases, .. } => {
                std::iter::once(*default).chain(cases.iter().map(|case| case.1)).collect()
            }
            End::Return(_) | End::Unreachable => Vec::new(),
        }
    }

    fn operands(&self) -> Vec<&Value<'a>> {
        match self {
            End::Branch { condition, .. } => vec![&condition.1],
            End::Switch { on, .. } => vec![&on.1],
            End::Return(value) => value.iter().map(|value| &value.1).collect(),
            End::Jump(_) | End::Unreachable => Vec::new(),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Instruction<'a> {
    pub(super) at: Bytes,
    /// Without its sign.
    pub(super) result: Option<&'a str>,
    pub(super) step: Step<'a>,
}

impl<'a> Instruction<'a> {
    /// How it ends its block, and where that is.
    pub(super) fn end(&self) -> Option<(Bytes, &End<'a>)> {
        if let Step::End(end) = &self.step { Some((self.at, end)) } else { None }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Block<'a> {
    /// `None` where it has a number that is not written.
    pub(super) label: Option<&'a str>,
    pub(super) at: Bytes,
    pub(super) instructions: Vec<Instruction<'a>>,
}

impl<'a> Step<'a> {
    /// The type of its result; `None` for one that has none.
    pub(super) fn result(&self) -> Option<Ty> {
        Some(match self {
            Step::Memory(Operation::Access(access), _) => match access.kind {
                Kind::Load | Kind::Rmw(_) => access.ty.any(),
                Kind::CmpXchg { .. } => {
                    Ty::Struct { packed: false, fields: vec![access.ty.any(), Ty::BIT] }
                }
                Kind::Store => return None,
            },
            Step::Binary { operands, .. } | Step::Select { operands, .. } => operands.0.0.clone(),
            Step::Compare { operands, .. } => match operands.0.0.lanes() {
                Some(lanes) => Ty::Vector(lanes, Box::new(Ty::BIT)),
                None => Ty::BIT,
            },
            Step::Cast { to, .. } => to.clone(),
            Step::Address { base, .. } => base.0.clone(),
            Step::Phi { ty, .. } => ty.clone(),
            Step::Part(part) => return part.result(),
            Step::Freeze(of) => of.0.clone(),
            Step::Alloca { .. } => Ty::Ptr(0),
            Step::Call { result, .. } if *result != Ty::Void => result.clone(),
            Step::Memory(..) | Step::Call { .. } | Step::End(_) | Step::Unsupported(_) => {
                return None;
            }
        })
    }

    /// Its operands, those of phis apart.
    pub(super) fn operands(&self) -> Vec<&Value<'a>> {
        match self {
            Step::Memory(_, values) => values.iter().collect(),
            Step::Binary { operands, .. } | Step::Compare { operands, .. } => {
                vec![&operands.0.1, &operands.1.1]
            }
            Step::Select { condition, operands } => {
                vec![&condition.1, &operands.0.1, &operands.1.1]
            }
            Step::Cast { from, .. } => vec![&from.1],
            Step::Part(part) => part.operands(),
            Step::Address { base, indices, .. } => {
                std::iter::once(&base.1).chain(indices.iter().map(|index| &index.1)).collect()
            }
            Step::Freeze(of) => vec![&of.1],
            Step::Alloca { count, .. } => count.iter().map(|count| &count.1).collect(),
            Step::Call { arguments, .. } => arguments.iter().map(|argument| &argument.1).collect(),
            Step::End(end) => end.operands(),
            Step::Phi { .. } | Step::Unsupported(_) => Vec::new(),
        }
    }
}
