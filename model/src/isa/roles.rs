//! What instructions do with their operands: each is listed here, once, with its role. What an instruction reads, writes and
//! accesses follows.

use super::alu::{Alu, Branch};
use super::asynchronous::{
    AsyncStore, Asynchronous, AwaitedPhase, Cancel, Copy, Fill, Mbarrier, MbarrierOp, Multiply,
    PendingCount, TensorCopy, TensormapFence, TensormapWrite, Track,
};
use super::atom::Atomic;
use super::bar::{Barrier, BarrierKind};
use super::cvta::{AddressOp, Cvta};
use super::ld::Load;
use super::multimem::{Multimem, MultimemOp};
use super::st::Store;
use super::tensor_memory::{ColumnReduction, TensorMultiply, TensorOp};
use super::warp::Exchange;
use super::{Address, Instruction, Line, Operand, Reg, SpaceQualifier};

/// What an instruction does with an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandRole {
    /// It takes the value.
    Source,
    /// It writes the register.
    Destination,
    /// It takes the value of the register, and writes it.
    Updated,
    /// A register of a matrix whose value is left out.
    LeftOut,
    /// The operand is the base of an address.
    Place(AccessedPlace),
}

/// The address of something that an instruction accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessedPlace {
    pub address: Address,
    pub space: SpaceQualifier,
    pub effect: PlaceEffect,
    pub addressing: Addressing,
    /// Whether it is the same place in several CTAs.
    pub multicast: bool,
}

/// What happens at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlaceEffect {
    Read,
    Write,
    /// A read and a write.
    Update,
    /// An mbarrier object is looked at.
    AwaitObject,
    /// An mbarrier object changes, at once or when the operation completes.
    ChangeObject,
}

/// Which bytes an address names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Addressing {
    /// Those at the address.
    Direct,
    /// It may be the descriptor of a matrix in shared memory.
    Descriptor,
    /// Those of a tensor, where it is the address of a tensormap; or those that a multimem address leads to.
    Indirect,
}

impl AccessedPlace {
    fn new(effect: PlaceEffect, space: SpaceQualifier, address: Address) -> AccessedPlace {
        AccessedPlace { address, space, effect, addressing: Addressing::Direct, multicast: false }
    }

    /// An address in the descriptor of a matrix.
    fn matrix(address: Address) -> AccessedPlace {
        let addressing = Addressing::Descriptor;
        AccessedPlace {
            addressing,
            ..AccessedPlace::new(PlaceEffect::Read, SpaceQualifier::Shared, address)
        }
    }

    fn indirect(self, is_indirect: bool) -> AccessedPlace {
        let addressing = if is_indirect { Addressing::Indirect } else { self.addressing };
        AccessedPlace { addressing, ..self }
    }

    fn multicast(self, multicast: bool) -> AccessedPlace {
        AccessedPlace { multicast, ..self }
    }

    pub fn is_object(&self) -> bool {
        matches!(self.effect, PlaceEffect::AwaitObject | PlaceEffect::ChangeObject)
    }

    /// Whether bytes are written that are not those of an mbarrier object.
    pub fn is_written(&self) -> bool {
        matches!(self.effect, PlaceEffect::Write | PlaceEffect::Update)
    }
}

/// An operand that can be replaced.
#[derive(Debug)]
pub enum OperandMut<'i> {
    /// What may also be a number or an address.
    Any(&'i mut Operand),
    Register(&'i mut Reg),
}

impl From<&Operand> for Operand {
    fn from(of: &Operand) -> Operand {
        *of
    }
}

impl From<&Reg> for Operand {
    fn from(of: &Reg) -> Operand {
        Operand::Reg(*of)
    }
}

impl From<&Address> for Operand {
    fn from(of: &Address) -> Operand {
        of.base
    }
}

impl<'i> From<&'i mut Operand> for OperandMut<'i> {
    fn from(of: &'i mut Operand) -> OperandMut<'i> {
        OperandMut::Any(of)
    }
}

impl<'i> From<&'i mut Reg> for OperandMut<'i> {
    fn from(of: &'i mut Reg) -> OperandMut<'i> {
        OperandMut::Register(of)
    }
}

impl<'i> From<&'i mut Address> for OperandMut<'i> {
    fn from(of: &'i mut Address) -> OperandMut<'i> {
        OperandMut::Any(&mut of.base)
    }
}

/// Passes on operands, as [`Operand`] or as [`OperandMut`].
struct RoleVisitor<'v, T>(&'v mut dyn FnMut(OperandRole, T));

impl<T> RoleVisitor<'_, T> {
    fn one(&mut self, role: OperandRole, of: impl Into<T>) {
        (self.0)(role, of.into());
    }

    fn values(&mut self, all: impl IntoIterator<Item: Into<T>>) {
        all.into_iter().for_each(|of| self.one(OperandRole::Source, of));
    }

    fn results(&mut self, all: impl IntoIterator<Item: Into<T>>) {
        all.into_iter().for_each(|of| self.one(OperandRole::Destination, of));
    }

    /// The address of a place.
    fn place(&mut self, place: AccessedPlace, of: impl Into<T>) {
        self.one(OperandRole::Place(place), of);
    }
}

/// Visits the operands of an instruction, which is a reference of either kind. The values of an instruction come in the order
/// in which it has them.
macro_rules! visit {
    ($instruction:expr, $to:expr) => {{
        use PlaceEffect::{AwaitObject, ChangeObject, Read, Update, Write};
        let mut to = RoleVisitor($to);
        match $instruction {
            Instruction::Load(Load { space, destinations, address, .. }) => {
                to.place(AccessedPlace::new(Read, *space, *address), address);
                to.results(destinations.into_iter().flatten());
            }
            Instruction::Store(Store { space, sources, address, .. }) => {
                to.place(AccessedPlace::new(Write, *space, *address), address);
                to.values(sources);
            }
            Instruction::Atomic(Atomic { space, destination, address, operands, .. }) => {
                to.place(AccessedPlace::new(Update, *space, *address), address);
                to.values(operands);
                to.results(destination);
            }
            Instruction::Alu(Alu { destination, sources, .. }) => {
                to.values(sources);
                to.one(OperandRole::Destination, destination);
            }
            Instruction::Cvta(Cvta { op, destination, source, .. }) => {
                to.one(OperandRole::Source, source);
                if let AddressOp::InCta { rank } = op {
                    to.one(OperandRole::Source, rank);
                }
                to.one(OperandRole::Destination, destination);
            }
            Instruction::Branch(Branch { condition, .. }) => {
                if let Some((_, a, b)) = condition {
                    to.values([a, b]);
                }
            }
            Instruction::Barrier(Barrier { kind, id, count, .. }) => {
                to.one(OperandRole::Source, id);
                to.values(count);
                match kind {
                    BarrierKind::Arrive | BarrierKind::Sync => {}
                    BarrierKind::Reduce { destination, source, .. } => {
                        to.one(OperandRole::Source, source);
                        to.one(OperandRole::Destination, destination);
                    }
                    BarrierKind::Exchange(exchange) => {
                        let Exchange { source, lane, clamp, result, predicate, .. } = exchange;
                        to.values([source, lane, clamp]);
                        to.results(result);
                        to.results(predicate);
                    }
                }
            }
            Instruction::Fence(_)
            | Instruction::ProxyFence(_)
            | Instruction::ClusterBarrier(_)
            | Instruction::Unsupported(_) => {}
            Instruction::Asynchronous(of) => match of {
                Asynchronous::Mbarrier(Mbarrier { op, space, object, .. }) => {
                    let waits =
                        matches!(op, MbarrierOp::Wait { .. } | MbarrierOp::CheckLayout { .. });
                    let effect = if waits { AwaitObject } else { ChangeObject };
                    to.place(AccessedPlace::new(effect, *space, *object), object);
                    match op {
                        MbarrierOp::Init { count: of, .. }
                        | MbarrierOp::ExpectTx { bytes: of }
                        | MbarrierOp::CompleteTx { bytes: of } => to.one(OperandRole::Source, of),
                        MbarrierOp::Invalidate => {}
                        MbarrierOp::CheckLayout { holds, .. } => to.results(holds),
                        MbarrierOp::Arrive { count, expected, state, .. } => {
                            to.one(OperandRole::Source, count);
                            to.values(expected);
                            to.results(state);
                        }
                        MbarrierOp::Wait {
                            phase: AwaitedPhase::Parity(of) | AwaitedPhase::State(of),
                            done,
                            ..
                        } => {
                            to.one(OperandRole::Source, of);
                            to.results(done);
                        }
                    }
                }
                Asynchronous::PendingCount(PendingCount { state, count }) => {
                    to.one(OperandRole::Source, state);
                    to.results(count);
                }
                Asynchronous::Copy(Copy {
                    to: target,
                    to_space,
                    from,
                    from_space,
                    bytes,
                    tensor,
                    source_bytes,
                    ignores_source,
                    byte_mask,
                    mbarrier,
                    multicast,
                    reduction,
                    multimem,
                    ..
                }) => {
                    // Of a copy of a tensor the side in global memory is the tensor.
                    let is_tensor =
                        |space: SpaceQualifier| tensor.is_some() && space.may_be_global();
                    let everywhere = multicast.is_some();
                    let effect = if reduction.is_some() { Update } else { Write };
                    let place =
                        AccessedPlace::new(effect, *to_space, *target).multicast(everywhere);
                    to.place(place.indirect(*multimem || is_tensor(*to_space)), target);
                    let place = AccessedPlace::new(Read, *from_space, *from);
                    to.place(place.indirect(is_tensor(*from_space)), from);
                    if let Some(object) = mbarrier {
                        let place = AccessedPlace::new(ChangeObject, *to_space, *object);
                        to.place(place.multicast(everywhere), object);
                    }
                    if let Some(TensorCopy { map, descriptor }) = tensor {
                        to.place(AccessedPlace::new(Read, SpaceQualifier::Generic, *map), map);
                        to.results(descriptor);
                    }
                    to.values(bytes);
                    to.values(source_bytes);
                    to.values(multicast);
                    to.values(byte_mask);
                    if let Some((predicate, _)) = ignores_source {
                        to.one(OperandRole::Source, predicate);
                    }
                }
                Asynchronous::Store(AsyncStore {
                    to: target,
                    space,
                    sources,
                    mbarrier,
                    reduction,
                    multimem,
                    ..
                }) => {
                    let effect = if reduction.is_some() { Update } else { Write };
                    to.place(
                        AccessedPlace::new(effect, *space, *target).indirect(*multimem),
                        target,
                    );
                    if let Some(object) = mbarrier {
                        to.place(AccessedPlace::new(ChangeObject, *space, *object), object);
                    }
                    to.values(sources);
                }
                Asynchronous::Track(Track { object, space, .. }) => {
                    to.place(AccessedPlace::new(ChangeObject, *space, *object), object);
                }
                Asynchronous::Multiply(Multiply {
                    accumulator,
                    fragment,
                    sources,
                    accumulates,
                    ..
                }) => {
                    for (at, register) in accumulator.into_iter().enumerate() {
                        to.one(
                            if at == 0 { OperandRole::Updated } else { OperandRole::LeftOut },
                            register,
                        );
                    }
                    for (at, register) in fragment.into_iter().enumerate() {
                        to.one(
                            if at == 0 { OperandRole::Source } else { OperandRole::LeftOut },
                            register,
                        );
                    }
                    for address in sources {
                        to.place(AccessedPlace::matrix(*address), address);
                    }
                    let (scale, _) = accumulates;
                    to.one(OperandRole::Source, scale);
                }
                Asynchronous::TensormapFence(TensormapFence { acquires, .. }) => {
                    if let Some(map) = acquires {
                        let place = AccessedPlace::new(Read, SpaceQualifier::Generic, *map);
                        to.place(place.indirect(true), map);
                    }
                }
                Asynchronous::Tensormap(TensormapWrite::Replace { map, space, value }) => {
                    to.place(AccessedPlace::new(Update, *space, *map), map);
                    to.one(OperandRole::Source, value);
                }
                Asynchronous::Tensormap(TensormapWrite::CopyFence { to: target, from, .. }) => {
                    to.place(AccessedPlace::new(Write, SpaceQualifier::Global, *target), target);
                    to.place(AccessedPlace::new(Read, SpaceQualifier::SharedCta, *from), from);
                }
                Asynchronous::Multimem(Multimem { op, space, address, .. }) => {
                    let effect = match op {
                        MultimemOp::LoadReduce { .. } => Read,
                        MultimemOp::Store { .. } => Write,
                        MultimemOp::Reduce { .. } => Update,
                    };
                    to.place(AccessedPlace::new(effect, *space, *address).indirect(true), address);
                    match op {
                        MultimemOp::LoadReduce { destinations, .. } => {
                            to.results(destinations.into_iter().flatten());
                        }
                        MultimemOp::Store { sources, .. } | MultimemOp::Reduce { sources, .. } => {
                            to.values(sources);
                        }
                    }
                }
                Asynchronous::Fill(Fill { to: target, space, bytes }) => {
                    to.place(AccessedPlace::new(Write, *space, *target), target);
                    to.one(OperandRole::Source, bytes);
                }
                Asynchronous::Cancel(Cancel { response, object, space, multicast }) => {
                    let place = AccessedPlace::new(Write, *space, *response);
                    to.place(place.multicast(*multicast), response);
                    let place = AccessedPlace::new(ChangeObject, *space, *object);
                    to.place(place.multicast(*multicast), object);
                }
                Asynchronous::Commit(_)
                | Asynchronous::WaitGroup(_)
                | Asynchronous::MultiplyFence
                | Asynchronous::Fence(_)
                | Asynchronous::Grid(_) => {}
                Asynchronous::TensorMemory(of) => {
                    let column = |effect, address| {
                        AccessedPlace::new(effect, SpaceQualifier::Tensor, address)
                    };
                    match of {
                        TensorOp::Load { from, reduction, destinations, .. } => {
                            to.place(column(Read, *from), from);
                            to.results(destinations.into_iter().flatten());
                            if let Some(ColumnReduction { result, .. }) = reduction {
                                to.results(result);
                            }
                        }
                        TensorOp::Store { to: target, sources, .. } => {
                            to.place(column(Write, *target), target);
                            to.values(sources);
                        }
                        TensorOp::Copy { to: target, from, .. } => {
                            to.place(column(Write, *target), target);
                            to.place(AccessedPlace::matrix(*from), from);
                        }
                        TensorOp::Multiply(TensorMultiply {
                            accumulator,
                            shared,
                            tensor,
                            shape,
                            accumulates,
                            ..
                        }) => {
                            to.place(column(Update, *accumulator), accumulator);
                            for address in shared {
                                to.place(AccessedPlace::matrix(*address), address);
                            }
                            for address in tensor {
                                to.place(column(Read, *address), address);
                            }
                            let (scale, _) = accumulates;
                            to.values([shape, scale]);
                        }
                        TensorOp::Shift { at, .. } => to.place(column(Update, *at), at),
                        TensorOp::Commit { object, space, multicast, .. } => {
                            let place = AccessedPlace::new(ChangeObject, *space, *object);
                            to.place(place.multicast(multicast.is_some()), object);
                            to.values(multicast);
                        }
                        TensorOp::Allocate { to: target, space, .. } => {
                            to.place(AccessedPlace::new(Write, *space, *target), target);
                        }
                        TensorOp::Deallocate { at, columns } => {
                            to.place(column(Read, *at), at);
                            to.one(OperandRole::Source, columns);
                        }
                        TensorOp::Wait(_) | TensorOp::Fence(_) | TensorOp::Relinquish => {}
                    }
                }
            },
        }
    }};
}

impl Instruction {
    /// Visits the operands.
    pub fn roles(&self, to: &mut dyn FnMut(OperandRole, Operand)) {
        visit!(self, to);
    }

    /// Visits the operands, which may be replaced.
    pub fn roles_mut(&mut self, to: &mut dyn FnMut(OperandRole, OperandMut<'_>)) {
        visit!(self, to);
    }

    /// Visits the operands that may be something else than a register, bases of addresses among them.
    pub fn each_operand_mut(&mut self, visit: &mut dyn FnMut(&mut Operand)) {
        self.roles_mut(&mut |_, of| {
            if let OperandMut::Any(of) = of {
                visit(of);
            }
        });
    }

    /// The operands it takes its values from, addresses apart.
    pub fn operands(&self) -> impl Iterator<Item = Operand> {
        self.chosen(|role| matches!(role, OperandRole::Source | OperandRole::Updated))
    }

    /// The registers it reads, its guard apart.
    pub fn sources(&self) -> impl Iterator<Item = Reg> {
        let read = |role| {
            matches!(role, OperandRole::Source | OperandRole::Updated | OperandRole::Place(_))
        };
        self.chosen(read).filter_map(Operand::register)
    }

    /// The registers it writes.
    pub fn destinations(&self) -> impl Iterator<Item = Reg> {
        let written = |role| matches!(role, OperandRole::Destination | OperandRole::Updated);
        self.chosen(written).filter_map(Operand::register)
    }

    fn chosen(&self, which: impl Fn(OperandRole) -> bool) -> impl Iterator<Item = Operand> {
        let mut all = Vec::new();
        self.roles(&mut |role, of| {
            if which(role) {
                all.push(of);
            }
        });
        all.into_iter()
    }

    /// The places it accesses.
    pub fn places(&self) -> impl Iterator<Item = AccessedPlace> {
        let mut all = Vec::new();
        self.roles(&mut |role, _| {
            if let OperandRole::Place(place) = role {
                all.push(place);
            }
        });
        all.into_iter()
    }

    /// The mbarrier object that it uses.
    pub fn object(&self) -> Option<AccessedPlace> {
        self.places().find(AccessedPlace::is_object)
    }

    /// The mbarrier object that it changes, at once or when it completes.
    pub fn changed_object(&self) -> Option<AccessedPlace> {
        self.object().filter(|place| place.effect == PlaceEffect::ChangeObject)
    }
}

impl Line {
    /// Visits the registers that it reads and writes.
    pub fn each_register_mut(&mut self, visit: &mut dyn FnMut(&mut Reg)) {
        self.guard.iter_mut().for_each(|guard| visit(&mut guard.predicate));
        self.instruction.roles_mut(&mut |_, of| match of {
            OperandMut::Register(of) | OperandMut::Any(Operand::Reg(of)) => visit(of),
            OperandMut::Any(Operand::Imm(_) | Operand::Address(_)) => {}
        });
    }
}
