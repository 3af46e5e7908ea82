//! An instruction as rules see it: qualifiers by position, operands by shape.
//!
//! Readers of text create it and keep the locations. Names are
//! resolved: a register has its type, a variable its state space.

use crate::qualifier::Qualifiers;
use model::isa::{SpaceQualifier, Type};

/// The instructions whose rules are checked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Opcode {
    Ld,
    Ldu,
    St,
    Atom,
    Red,
    Fence,
    Membar,
}

impl Opcode {
    pub const ALL: [Opcode; 7] = [
        Opcode::Ld,
        Opcode::Ldu,
        Opcode::St,
        Opcode::Atom,
        Opcode::Red,
        Opcode::Fence,
        Opcode::Membar,
    ];

    pub fn named(name: &str) -> Option<Opcode> {
        Opcode::ALL.into_iter().find(|opcode| opcode.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Opcode::Ld => "ld",
            Opcode::Ldu => "ldu",
            Opcode::St => "st",
            Opcode::Atom => "atom",
            Opcode::Red => "red",
            Opcode::Fence => "fence",
            Opcode::Membar => "membar",
        }
    }

    pub fn is_load(self) -> bool {
        matches!(self, Opcode::Ld | Opcode::Ldu)
    }

    pub fn is_atomic(self) -> bool {
        matches!(self, Opcode::Atom | Opcode::Red)
    }
}

/// What stands where a register or a constant can stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueShape {
    /// `None` where registers are not declared.
    Register(Option<Type>),
    /// A register declared with `.v2` or `.v4`: this many elements of a type.
    Vector(u8, Type),
    Predicate,
    /// `_`
    Sink,
    /// An integer.
    Number,
    /// A constant with a point, or the bits of one.
    Float,
    /// The name of a variable or function: its address.
    Variable,
    /// `%tid.x`
    Special,
    /// Something that was reported already, or that has a meaning unknown here.
    Other,
}

/// The most elements a vector has.
pub const LANES: usize = 8;

/// `{r0, _, r2, r3}`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lanes {
    values: [ValueShape; LANES],
    /// How many are written, which may be more than are kept.
    pub count: usize,
}

impl Lanes {
    pub fn new(values: impl IntoIterator<Item = ValueShape>) -> Lanes {
        let mut lanes = Lanes { values: [ValueShape::Other; LANES], count: 0 };
        for value in values {
            if let Some(slot) = lanes.values.get_mut(lanes.count) {
                *slot = value;
            }
            lanes.count += 1;
        }
        lanes
    }

    pub fn values(&self) -> &[ValueShape] {
        &self.values[..self.count.min(LANES)]
    }
}

/// What an address starts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressBase {
    Register(Option<Type>),
    Variable(VariableShape),
    Number,
    /// Something that was reported already, or that has a meaning unknown here.
    Other,
}

/// What a variable is to functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Role {
    /// No parameter.
    #[default]
    Variable,
    /// A parameter of a kernel or of a function.
    Input,
    /// What a function returns.
    Result,
    /// A `.param` variable of a function's body: it holds an argument or a result of a call.
    Argument,
}

/// A variable as it is declared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VariableShape {
    /// Never `Generic`, `Param` or `SharedCluster`.
    pub space: SpaceQualifier,
    /// Whether it has the attribute `.unified`.
    pub unified: bool,
    pub role: Role,
    /// What it is aligned to, in bytes, as far as is known.
    pub alignment: u32,
}

/// `[x+4].unified`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddressShape {
    pub base: AddressBase,
    /// In bytes; for an immediate address, the address.
    pub offset: i64,
    pub unified: bool,
}

/// One operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandShape {
    Value(ValueShape),
    Lanes(Lanes),
    Place(AddressShape),
}

/// A whole instruction.
#[derive(Clone, Copy, Debug)]
pub struct InstructionForm<'a> {
    pub opcode: Opcode,
    pub q: &'a Qualifiers,
    /// Whether it has a guard.
    pub predicated: bool,
    pub operands: &'a [OperandShape],
}

impl InstructionForm<'_> {
    /// Where the address is among the operands.
    pub fn place_index(&self) -> usize {
        match self.opcode {
            Opcode::Ld | Opcode::Ldu | Opcode::Atom => 1,
            Opcode::St | Opcode::Red | Opcode::Fence | Opcode::Membar => 0,
        }
    }

    pub fn place(&self) -> Option<&AddressShape> {
        match self.operands.get(self.place_index()) {
            Some(OperandShape::Place(place)) => Some(place),
            _ => None,
        }
    }

    /// The variable that is accessed, where the address names one.
    pub fn variable(&self) -> Option<VariableShape> {
        match self.place()?.base {
            AddressBase::Variable(variable) => Some(variable),
            AddressBase::Register(_) | AddressBase::Number | AddressBase::Other => None,
        }
    }

    /// The operands that hold data, with their indices: not the address, not the policy.
    pub fn data(&self) -> impl Iterator<Item = (usize, &OperandShape)> {
        let (address, end) = (self.place_index(), self.data_end());
        self.operands.iter().enumerate().take(end).filter(move |(index, _)| *index != address)
    }

    /// How many operands the instruction has before the cache policy.
    pub fn data_end(&self) -> usize {
        use model::isa::atom::AtomicOp;
        let compares = self.q.op.is_some_and(|op| op.value == AtomicOp::Cas);
        match self.opcode {
            Opcode::Ld | Opcode::Ldu | Opcode::St => 2,
            Opcode::Atom => 3 + usize::from(compares),
            Opcode::Red => 2 + usize::from(compares),
            Opcode::Fence | Opcode::Membar => 0,
        }
    }

    /// The bits of all elements together; `None` without a type.
    pub fn bits(&self) -> Option<u32> {
        let elements = self.q.vector.map_or(1, |vector| u32::from(vector.value));
        Some(u32::from(self.q.ty?.value.bits) * elements)
    }

    /// Whether this is one of the 256-bit vectors, `.v8` of 32 bits or `.v4` of 64.
    pub fn is_256_bits(&self) -> bool {
        match (self.q.vector, self.q.ty) {
            (Some(vector), Some(ty)) => matches!((vector.value, ty.value.bits), (8, 32) | (4, 64)),
            _ => false,
        }
    }

    /// Whether a load or a store says that it is more than weak.
    pub fn is_strong(&self) -> bool {
        use crate::qualifier::OrderQualifier;
        self.q.mmio.is_some()
            || self.q.order.is_some_and(|order| order.value != OrderQualifier::Weak)
    }

    /// Whether this is `ld.global.nc`, which has a section of its own.
    pub fn is_non_coherent(&self) -> bool {
        self.q.non_coherent.is_some()
    }
}
