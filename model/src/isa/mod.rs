//! The meaning of instructions that passed their rules, independent of text.
//!
//! Each family has a file. Parsing and spans are in `litmus`; `execution::unfold` generates the events of an
//! instruction.

pub mod alu;
pub mod asynchronous;
pub mod atom;
pub mod bar;
pub mod cvta;
pub mod cxx;
pub mod fence;
pub mod float;
pub mod integer;
pub mod ld;
pub mod multimem;
pub mod opaque;
pub mod print;
pub mod reach;
pub mod roles;
pub mod st;
pub mod tensor_memory;
pub mod warp;

use crate::memory::{Proxy, Space, VariableId};
use crate::scope::Scope;
use asynchronous::Asynchronous;
use atom::Atomic;
use cxx::Cxx;
use ld::Load;
use st::Store;

/// A register of one thread: an index into [`crate::program::Thread::registers`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reg(pub u16);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    Reg(Reg),
    /// Two's complement; an instruction uses as many low bits as its type has.
    Imm(u64),
    /// The address of a variable, as the executing thread sees it.
    Address(VariableId),
}

impl Operand {
    pub fn register(self) -> Option<Reg> {
        if let Operand::Reg(register) = self { Some(register) } else { None }
    }
}

impl Type {
    /// As PTX spells it, without the dot.
    pub fn name(self) -> &'static str {
        match (self.kind, self.bits) {
            (TypeKind::Unsigned, 8) => "u8",
            (TypeKind::Unsigned, 16) => "u16",
            (TypeKind::Unsigned, 32) => "u32",
            (TypeKind::Unsigned, 64) => "u64",
            (TypeKind::Signed, 8) => "s8",
            (TypeKind::Signed, 16) => "s16",
            (TypeKind::Signed, 32) => "s32",
            (TypeKind::Signed, 64) => "s64",
            (TypeKind::Bits, 8) => "b8",
            (TypeKind::Bits, 16) => "b16",
            (TypeKind::Bits, 32) => "b32",
            (TypeKind::Bits, 64) => "b64",
            (TypeKind::Bits, 128) => "b128",
            (TypeKind::Float, 16) => "f16",
            (TypeKind::Float, 32) => "f32",
            (TypeKind::Float, 64) => "f64",
            (TypeKind::FloatPair, _) => "f16x2",
            (TypeKind::BFloat, _) => "bf16",
            (TypeKind::BFloatPair, _) => "bf16x2",
            (TypeKind::Unsigned | TypeKind::Signed | TypeKind::Bits | TypeKind::Float, _) => "pred",
        }
    }
}

/// `[x]`, `[x+4]`, `[r1]`, `[r1-4]`, `[4096]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Address {
    pub base: Operand,
    /// In bytes.
    pub offset: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TypeKind {
    Unsigned,
    Signed,
    /// `.b8` … `.b128` (reading R21)
    Bits,
    /// `.f16`, `.f32`, `.f64`
    Float,
    /// `.f16x2`
    FloatPair,
    /// `.bf16`
    BFloat,
    /// `.bf16x2`
    BFloatPair,
}

/// A fundamental type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Type {
    pub kind: TypeKind,
    /// 8, 16, 32, 64 or 128.
    pub bits: u16,
}

impl Type {
    pub const U32: Type = Type { kind: TypeKind::Unsigned, bits: 32 };
    pub const U64: Type = Type { kind: TypeKind::Unsigned, bits: 64 };
    pub const F32: Type = Type { kind: TypeKind::Float, bits: 32 };

    pub fn bytes(self) -> u32 {
        u32::from(self.bits) / 8
    }
}

/// Which state space an instruction names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum SpaceQualifier {
    #[default]
    Generic,
    Global,
    /// `.shared` without a sub-qualifier, which means `::cta`.
    Shared,
    SharedCta,
    SharedCluster,
    Const,
    Local,
    /// `.param` without a sub-qualifier: of a kernel or of a function, by what it accesses.
    Param,
    ParamEntry,
    ParamFunc,
    /// Tensor memory, which no instruction names: `tcgen05` accesses it.
    Tensor,
}

impl SpaceQualifier {
    /// As PTX spells it, without the dot; `generic` where it is not written.
    pub fn name(self) -> &'static str {
        match self {
            SpaceQualifier::Generic => "generic",
            SpaceQualifier::Global => "global",
            SpaceQualifier::Shared => "shared",
            SpaceQualifier::SharedCta => "shared::cta",
            SpaceQualifier::SharedCluster => "shared::cluster",
            SpaceQualifier::Const => "const",
            SpaceQualifier::Local => "local",
            SpaceQualifier::Param => "param",
            SpaceQualifier::ParamEntry => "param::entry",
            SpaceQualifier::ParamFunc => "param::func",
            SpaceQualifier::Tensor => "tmem",
        }
    }

    /// Whether this is `.param`, with a sub-qualifier or without.
    pub fn is_param(self) -> bool {
        matches!(
            self,
            SpaceQualifier::Param | SpaceQualifier::ParamEntry | SpaceQualifier::ParamFunc
        )
    }

    /// Whether an address in this space can be one of `.global`.
    pub fn may_be_global(self) -> bool {
        matches!(self, SpaceQualifier::Generic | SpaceQualifier::Global)
    }

    pub fn is_shared(self) -> bool {
        matches!(
            self,
            SpaceQualifier::Shared | SpaceQualifier::SharedCta | SpaceQualifier::SharedCluster
        )
    }
}

impl SpaceQualifier {
    /// The state space; none for a generic address.
    pub fn space(self) -> Option<Space> {
        match self {
            SpaceQualifier::Generic => None,
            SpaceQualifier::Global => Some(Space::Global),
            SpaceQualifier::Shared | SpaceQualifier::SharedCta | SpaceQualifier::SharedCluster => {
                Some(Space::Shared)
            }
            SpaceQualifier::Const => Some(Space::Const),
            SpaceQualifier::Local => Some(Space::Local),
            SpaceQualifier::Param | SpaceQualifier::ParamEntry => Some(Space::ParamEntry),
            SpaceQualifier::ParamFunc => Some(Space::ParamFunc),
            SpaceQualifier::Tensor => Some(Space::Tensor),
        }
    }
}

/// `@p` or `@!p`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guard {
    pub predicate: Reg,
    pub negated: bool,
}

/// One instruction of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    pub guard: Option<Guard>,
    pub instruction: Instruction,
    /// As the test writes it, for messages.
    pub text: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Instruction {
    Load(Load),
    Store(Store),
    Atomic(Atomic),
    Fence(fence::Fence),
    ProxyFence(fence::ProxyFence),
    Barrier(bar::Barrier),
    ClusterBarrier(bar::ClusterBarrier),
    Asynchronous(Asynchronous),
    Alu(alu::Alu),
    Cvta(cvta::Cvta),
    Branch(alu::Branch),
    /// Understood, and outside what the model covers: why.
    Unsupported(String),
}

impl Instruction {
    /// Where it accesses memory, the type of one element, and how many elements; `None` of asynchronous operations,
    /// which may access several places.
    pub fn access(&self) -> Option<(Address, Type, usize)> {
        if let Instruction::Load(load) = self {
            Some((load.address, load.ty, load.destinations.len()))
        } else if let Instruction::Store(store) = self {
            Some((store.address, store.ty, store.sources.len()))
        } else {
            self.as_atomic().map(|atomic| (atomic.address, atomic.ty, 1))
        }
    }

    /// The state space that it names for its access; generic where it names none, or has none.
    pub fn space(&self) -> SpaceQualifier {
        if let Instruction::Load(load) = self {
            load.space
        } else if let Instruction::Store(store) = self {
            store.space
        } else {
            self.as_atomic().map_or(SpaceQualifier::Generic, |atomic| atomic.space)
        }
    }

    /// Whether it only computes values and addresses, or branches.
    pub fn computes(&self) -> bool {
        matches!(self, Instruction::Alu(_) | Instruction::Cvta(_) | Instruction::Branch(_))
    }

    /// Whether it is a load of memory that the program must not write.
    pub fn loads_read_only_data(&self) -> bool {
        matches!(self, Instruction::Load(load) if load.order.is_of_read_only_data())
    }

    /// Whether it may have no meaning at the variable that it names.
    pub fn may_be_out_of_place(&self) -> bool {
        matches!(self, Instruction::Load(load) if load.prefetches || load.space.is_param())
    }

    pub fn as_branch(&self) -> Option<&alu::Branch> {
        if let Instruction::Branch(branch) = self { Some(branch) } else { None }
    }

    /// The scope of a strong access; `None` of a weak one, and of what is not an access.
    pub fn scope(&self) -> Option<Scope> {
        if let Instruction::Load(load) = self {
            load.order.scope()
        } else if let Instruction::Store(store) = self {
            store.order.scope()
        } else {
            self.as_atomic().map(|atomic| atomic.scope)
        }
    }

    pub fn as_alu(&self) -> Option<&alu::Alu> {
        if let Instruction::Alu(alu) = self { Some(alu) } else { None }
    }

    /// The proxy of a load or store.
    pub fn proxy(&self) -> Option<Proxy> {
        if let Instruction::Load(load) = self {
            Some(load.proxy)
        } else if let Instruction::Store(store) = self {
            Some(store.proxy)
        } else {
            None
        }
    }

    /// What C++ and LLVM IR say of an access.
    pub fn cxx(&self) -> Option<Cxx> {
        if let Instruction::Load(Load { cxx, .. })
        | Instruction::Store(Store { cxx, .. })
        | Instruction::Atomic(Atomic { cxx, .. }) = self
        {
            Some(*cxx)
        } else {
            None
        }
    }

    /// The same, to change it.
    pub fn cxx_mut(&mut self) -> Option<&mut Cxx> {
        if let Instruction::Load(Load { cxx, .. })
        | Instruction::Store(Store { cxx, .. })
        | Instruction::Atomic(Atomic { cxx, .. }) = self
        {
            Some(cxx)
        } else {
            None
        }
    }

    pub fn as_asynchronous(&self) -> Option<&Asynchronous> {
        if let Instruction::Asynchronous(of) = self { Some(of) } else { None }
    }

    /// An asynchronous copy.
    pub fn copy(&self) -> Option<&asynchronous::Copy> {
        if let Instruction::Asynchronous(Asynchronous::Copy(copy)) = self {
            Some(copy)
        } else {
            None
        }
    }

    /// What lanes exchange, if that is what it does.
    pub fn as_exchange(&self) -> Option<&warp::Exchange> {
        let Instruction::Barrier(barrier) = self else { return None };
        if let bar::BarrierKind::Exchange(of) = &barrier.kind { Some(of) } else { None }
    }

    pub fn as_atomic(&self) -> Option<&Atomic> {
        if let Instruction::Atomic(atomic) = self { Some(atomic) } else { None }
    }
}
