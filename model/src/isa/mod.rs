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
pub mod reach;
pub mod st;
pub mod tensor_memory;
pub mod warp;

use crate::memory::{Space, VariableId};
use crate::scope::Scope;

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

impl Line {
    /// Visits the registers that it reads and writes.
    pub fn each_register_mut(&mut self, visit: &mut dyn FnMut(&mut Reg)) {
        self.guard.iter_mut().for_each(|guard| visit(&mut guard.predicate));
        self.instruction.each_operand_mut(&mut |operand| {
            if let Operand::Reg(register) = operand {
                visit(register);
            }
        });
        match &mut self.instruction {
            Instruction::Load(load) => load.destinations.iter_mut().flatten().for_each(visit),
            Instruction::Atomic(atomic) => atomic.destination.iter_mut().for_each(visit),
            Instruction::Alu(alu) => visit(&mut alu.destination),
            Instruction::Cvta(cvta) => visit(&mut cvta.destination),
            Instruction::Barrier(barrier) => {
                let kind = &mut barrier.kind;
                if let bar::BarrierKind::Reduce { source, destination, .. } = kind {
                    visit(source);
                    visit(destination);
                } else if let bar::BarrierKind::Exchange(of) = kind {
                    of.result.iter_mut().chain(&mut of.predicate).for_each(visit);
                }
            }
            Instruction::Asynchronous(of) => of.each_other_register_mut(visit),
            Instruction::Store(_)
            | Instruction::Branch(_)
            | Instruction::Fence(_)
            | Instruction::ProxyFence(_)
            | Instruction::ClusterBarrier(_)
            | Instruction::Unsupported(_) => {}
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Instruction {
    Load(ld::Load),
    Store(st::Store),
    Atomic(atom::Atomic),
    Fence(fence::Fence),
    ProxyFence(fence::ProxyFence),
    Barrier(bar::Barrier),
    ClusterBarrier(bar::ClusterBarrier),
    Asynchronous(asynchronous::Asynchronous),
    Alu(alu::Alu),
    Cvta(cvta::Cvta),
    Branch(alu::Branch),
    /// Understood, and outside what the model covers: why.
    Unsupported(String),
}

impl Instruction {
    /// The operands it takes its values from, its address apart; of asynchronous instructions their addresses, too.
    pub fn operands(&self) -> impl Iterator<Item = Operand> + '_ {
        let exchanged = self.as_exchange().map(|of| [of.source, of.lane]);
        let (list, pair): (&[Operand], [Option<Operand>; 2]) = match self {
            Instruction::Store(store) => (&store.sources, [None, None]),
            Instruction::Atomic(atomic) => (&atomic.operands, [None, None]),
            Instruction::Alu(alu) => (&alu.sources, [None, None]),
            Instruction::Barrier(barrier) => (&[], [Some(barrier.id), barrier.count]),
            Instruction::Cvta(cvta) => (&[], [Some(cvta.source), cvta.rank()]),
            Instruction::Branch(branch) => {
                (&[], branch.condition.map_or([None, None], |(_, a, b)| [Some(a), Some(b)]))
            }
            Instruction::Load(_)
            | Instruction::Fence(_)
            | Instruction::ProxyFence(_)
            | Instruction::ClusterBarrier(_)
            | Instruction::Asynchronous(_)
            | Instruction::Unsupported(_) => (&[], [None, None]),
        };
        let asynchronous = self.as_asynchronous().map(asynchronous::Asynchronous::operands);
        list.iter()
            .copied()
            .chain(pair.into_iter().flatten())
            .chain(exchanged.into_iter().flatten())
            .chain(asynchronous.into_iter().flatten())
    }
}

impl Instruction {
    /// Visits the operands it takes its values from, and the base of its address.
    pub fn each_operand_mut(&mut self, visit: &mut dyn FnMut(&mut Operand)) {
        let (base, list): (Option<&mut Address>, &mut [Operand]) = match self {
            Instruction::Load(load) => (Some(&mut load.address), &mut []),
            Instruction::Store(store) => (Some(&mut store.address), &mut store.sources),
            Instruction::Atomic(atomic) => (Some(&mut atomic.address), &mut atomic.operands),
            Instruction::Alu(alu) => (None, &mut alu.sources),
            Instruction::Cvta(cvta) => {
                if let cvta::AddressOp::InCta { rank } = &mut cvta.op {
                    visit(rank);
                }
                return visit(&mut cvta.source);
            }
            Instruction::Barrier(barrier) => {
                visit(&mut barrier.id);
                if let bar::BarrierKind::Exchange(of) = &mut barrier.kind {
                    visit(&mut of.source);
                    visit(&mut of.lane);
                }
                return barrier.count.iter_mut().for_each(visit);
            }
            Instruction::Branch(branch) => {
                if let Some((_, a, b)) = &mut branch.condition {
                    visit(a);
                    visit(b);
                }
                return;
            }
            Instruction::Asynchronous(of) => return of.each_operand_mut(visit),
            Instruction::Fence(_)
            | Instruction::ProxyFence(_)
            | Instruction::ClusterBarrier(_)
            | Instruction::Unsupported(_) => return,
        };
        list.iter_mut().chain(base.map(|address| &mut address.base)).for_each(visit);
    }

    /// The registers it reads, its guard apart.
    pub fn sources(&self) -> impl Iterator<Item = Reg> + '_ {
        let address = match self {
            Instruction::Load(load) => Some(load.address.base),
            Instruction::Store(store) => Some(store.address.base),
            Instruction::Atomic(atomic) => Some(atomic.address.base),
            Instruction::Barrier(bar::Barrier {
                kind: bar::BarrierKind::Reduce { source, .. },
                ..
            }) => Some(Operand::Reg(*source)),
            Instruction::Barrier(_)
            | Instruction::Alu(_)
            | Instruction::Cvta(_)
            | Instruction::Branch(_)
            | Instruction::Fence(_)
            | Instruction::ProxyFence(_)
            | Instruction::ClusterBarrier(_)
            | Instruction::Asynchronous(_)
            | Instruction::Unsupported(_) => None,
        };
        self.operands().chain(address).filter_map(|operand| match operand {
            Operand::Reg(register) => Some(register),
            Operand::Imm(_) | Operand::Address(_) => None,
        })
    }

    /// Where it accesses memory, the type of one element, and how many elements; `None` of asynchronous operations,
    /// which may access several places.
    pub fn access(&self) -> Option<(Address, Type, usize)> {
        match self {
            Instruction::Load(load) => Some((load.address, load.ty, load.destinations.len())),
            Instruction::Store(store) => Some((store.address, store.ty, store.sources.len())),
            Instruction::Atomic(atomic) => Some((atomic.address, atomic.ty, 1)),
            Instruction::Fence(_)
            | Instruction::ProxyFence(_)
            | Instruction::Barrier(_)
            | Instruction::ClusterBarrier(_)
            | Instruction::Asynchronous(_)
            | Instruction::Alu(_)
            | Instruction::Cvta(_)
            | Instruction::Branch(_)
            | Instruction::Unsupported(_) => None,
        }
    }

    /// The state space that it names for its access; generic where it names none, or has none.
    pub fn space(&self) -> SpaceQualifier {
        match self {
            Instruction::Load(load) => load.space,
            Instruction::Store(store) => store.space,
            Instruction::Atomic(atomic) => atomic.space,
            Instruction::Fence(_)
            | Instruction::ProxyFence(_)
            | Instruction::Barrier(_)
            | Instruction::ClusterBarrier(_)
            | Instruction::Asynchronous(_)
            | Instruction::Alu(_)
            | Instruction::Cvta(_)
            | Instruction::Branch(_)
            | Instruction::Unsupported(_) => SpaceQualifier::Generic,
        }
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

    /// The scope of a strong access; `None` of a weak one, and of what is no access.
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

    pub fn as_asynchronous(&self) -> Option<&asynchronous::Asynchronous> {
        if let Instruction::Asynchronous(of) = self { Some(of) } else { None }
    }

    /// What lanes exchange, if that is what it does.
    pub fn as_exchange(&self) -> Option<&warp::Exchange> {
        let Instruction::Barrier(barrier) = self else { return None };
        if let bar::BarrierKind::Exchange(of) = &barrier.kind { Some(of) } else { None }
    }

    pub fn as_atomic(&self) -> Option<&atom::Atomic> {
        if let Instruction::Atomic(atomic) = self { Some(atomic) } else { None }
    }

    /// The registers it writes.
    pub fn destinations(&self) -> impl Iterator<Item = Reg> + '_ {
        let exchanged = self.as_exchange().map(|of| [of.result, of.predicate]);
        let (list, single): (&[Option<Reg>], Option<Reg>) = match self {
            Instruction::Load(load) => (&load.destinations, None),
            Instruction::Atomic(atomic) => (&[], atomic.destination),
            Instruction::Alu(alu) => (&[], Some(alu.destination)),
            Instruction::Cvta(cvta) => (&[], Some(cvta.destination)),
            Instruction::Barrier(bar::Barrier {
                kind: bar::BarrierKind::Reduce { destination, .. },
                ..
            }) => (&[], Some(*destination)),
            Instruction::Asynchronous(of) => (of.destinations(), of.destination()),
            Instruction::Barrier(_)
            | Instruction::Store(_)
            | Instruction::Branch(_)
            | Instruction::Fence(_)
            | Instruction::ProxyFence(_)
            | Instruction::ClusterBarrier(_)
            | Instruction::Unsupported(_) => (&[], None),
        };
        list.iter().copied().chain([single]).chain(exchanged.into_iter().flatten()).flatten()
    }
}
