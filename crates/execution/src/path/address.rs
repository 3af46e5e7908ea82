//! Addresses of a path: the bytes that an access denotes, and faults if it denotes none.

use std::collections::BTreeSet;

use super::state::{ComputedAddress, PathState};
use super::{Assumption, Walk};
use crate::event::{Access, Mask};
use crate::expr::{ExprId, Exprs};
use crate::layout::{Layout, OutsideMemory, Window};
use model::isa::alu::{AluOp, Comparison};
use model::isa::asynchronous::{AsyncStore, Copy, FILL_BYTES};
use model::isa::atom::Atomic;
use model::isa::cvta::{AddressOp, Cvta};
use model::isa::ld::Load;
use model::isa::multimem::Multimem;
use model::isa::reach::{AllowedSpaces, COPIED, FILLED, IN_SHARED, MULTIMEM, TENSOR};
use model::isa::st::Store;
use model::isa::{Address, Operand, SpaceQualifier, Type, TypeKind};
use model::memory::{Extent, MBARRIER_BYTES, Space, TENSOR_COLUMN_BYTES};
use model::program::ThreadId;
use model::value::{Value, low64};

/// The fault where an address is not a multiple of the size of what is accessed.
pub const MISALIGNED: &str = "a misaligned address";

/// The fault where a computed address is not one of those that there are.
pub const NOWHERE: &str = "an address outside every declared location, or misaligned";

/// The faults where an address is not that of any bytes, or of none that the instruction may access.
pub const OUTSIDE: [&str; 5] = [NOWHERE, OTHER_SPACE, NO_WINDOW, NO_VARIABLE, TENSOR_LANE];

const NO_WINDOW: &str = "a generic address outside every state space";
pub const NO_VARIABLE: &str = "an address outside every declared location";
const TENSOR_LANE: &str = "an address of tensor memory with a lane";

/// The fault where an address is not in the state space, or not in the part of it, that the instruction accesses.
const OTHER_SPACE: &str = "an address outside the state space of the instruction";

/// What an instruction does at its address, as far as that decides where it may be.
#[expect(clippy::struct_excessive_bools, reason = "what an instruction does is yes or no")]
pub(super) struct AddressUse {
    pub(super) space: SpaceQualifier,
    pub(super) ty: Type,
    pub(super) elements: u32,
    pub(super) reach: AllowedSpaces,
    pub(super) writes: bool,
    pub(super) prefetches: bool,
    /// In bytes; of the whole access where it is not given.
    align: Option<u32>,
    /// Whether the address must be a multimem address; any other instruction must not have one.
    multimem: bool,
    /// Whether shared memory must be that of the thread's CTA, whatever the address names.
    own_cta: bool,
}

impl AddressUse {
    /// A read of this many elements, aligned as a whole.
    fn new(space: SpaceQualifier, ty: Type, elements: u32, reach: AllowedSpaces) -> AddressUse {
        let (writes, prefetches, multimem, own_cta) = (false, false, false, false);
        let align = None;
        AddressUse { space, ty, elements, reach, writes, prefetches, align, multimem, own_cta }
    }

    /// An mbarrier object, which an instruction accesses as a whole; perhaps one of the thread's CTA only.
    pub(super) fn of_object(space: SpaceQualifier, own_cta: bool) -> AddressUse {
        let whole = AddressUse::of_copy(space, MBARRIER_BYTES, true);
        AddressUse { reach: IN_SHARED, own_cta, ..whole }
    }

    /// The address that `tcgen05.alloc` writes.
    pub(super) fn of_allocation(space: SpaceQualifier) -> AddressUse {
        let whole = AddressUse::of_copy(space, TENSOR_COLUMN_BYTES, true);
        AddressUse { reach: IN_SHARED, own_cta: true, ..whole }
    }

    /// One side of a copy of this many bytes, in parts of 16.
    pub(super) fn of_copy(space: SpaceQualifier, bytes: u32, writes: bool) -> AddressUse {
        let part = bytes.min(16);
        let ty = Type { kind: TypeKind::Bits, bits: u16::try_from(8 * part).expect("at most 128") };
        let whole = AddressUse::new(space, ty, bytes / part, COPIED);
        AddressUse { writes, align: Some(part), ..whole }
    }

    /// The source of a copy of this many bytes that reads some of them; what is not read need not be memory.
    pub(super) fn of_source(copy: &Copy, bytes: u32, read: u32) -> Option<AddressUse> {
        if copy.bulk {
            return Some(AddressUse::of_copy(copy.from_space, bytes, false));
        }
        let of = || AddressUse::of_copy(copy.from_space, read, false);
        (read > 0).then(|| AddressUse { align: Some(bytes), ..of() })
    }

    /// So many columns of tensor memory.
    pub(super) fn of_columns(columns: usize, writes: bool) -> AddressUse {
        let whole = AddressUse::new(SpaceQualifier::Tensor, Type::U32, count(columns), TENSOR);
        AddressUse { writes, align: Some(1), ..whole }
    }

    /// So many parts of an `st.bulk`.
    pub(super) fn of_fill(space: SpaceQualifier, elements: u32) -> AddressUse {
        let ty = Type { kind: TypeKind::Bits, bits: 64 };
        let whole = AddressUse::new(space, ty, elements, FILLED);
        AddressUse { writes: true, align: Some(FILL_BYTES), ..whole }
    }

    pub(super) fn of_async_store(store: &AsyncStore) -> AddressUse {
        let elements = count(store.sources.len());
        let whole = AddressUse::new(store.space, store.ty, elements, COPIED);
        AddressUse { writes: true, multimem: store.multimem, ..whole }
    }

    pub(super) fn of_multimem(of: &Multimem) -> AddressUse {
        let whole = AddressUse::new(of.space, of.ty, count(of.elements()), MULTIMEM);
        AddressUse { writes: of.writes(), multimem: true, ..whole }
    }

    pub(super) fn of_load(load: &Load) -> AddressUse {
        let elements = count(load.destinations.len());
        let whole = AddressUse::new(load.space, load.ty, elements, load.reach());
        AddressUse { prefetches: load.prefetches, ..whole }
    }

    pub(super) fn of_store(store: &Store) -> AddressUse {
        let elements = count(store.sources.len());
        let whole = AddressUse::new(store.space, store.ty, elements, store.reach());
        AddressUse { writes: true, ..whole }
    }

    pub(super) fn of_atomic(atomic: &Atomic) -> AddressUse {
        let whole = AddressUse::new(atomic.space, atomic.ty, 1, atomic.reach());
        AddressUse { writes: true, ..whole }
    }

    pub(super) fn through_multimem(self, multimem: bool) -> AddressUse {
        AddressUse { multimem, ..self }
    }

    fn length(&self) -> u32 {
        self.ty.bytes() * self.elements
    }
}

fn count(elements: usize) -> u32 {
    u32::try_from(elements).expect("a vector has few elements")
}

impl Walk<'_> {
    /// The bytes of each element, with what the address depends on. Forks over every address that
    /// a value could be; `None` when the path has ended.
    pub(super) fn address(
        &mut self,
        state: &mut PathState,
        address: Address,
        of: &AddressUse,
    ) -> Option<(Vec<Access>, ComputedAddress)> {
        let (sum, taint) = self.sum(state, address);
        let value = if let Some(value) = state.known(sum) {
            value
        } else {
            let known = self.possible(state, sum).or_else(|| {
                let tensor = of.space == SpaceQualifier::Tensor;
                tensor.then(|| self.stored(state, sum, true)).flatten()
            });
            // What values come of shows which dependencies there are, and without No-Thin-Air they may come of nothing.
            let other = self.conventions.thin_air || self.conventions.semantic_dependencies;
            let held = (known.is_none() && !other && !self.program.few_addresses)
                .then(|| self.held_values(state, sum))
                .flatten();
            let is_there = |value: &Value| self.bytes(low64(*value), of).is_ok();
            let stays = held.as_ref().is_some_and(|values| values.iter().all(is_there));
            // What memory there does not allow has a reason of its own.
            let is_outside = |reason| reason == MISALIGNED || OUTSIDE.contains(&reason);
            let is_inside = |value: &Value| !self.bytes(low64(*value), of).is_err_and(is_outside);
            let all: Vec<Value> = if let Some(values) = known {
                values.into_iter().filter(is_there).collect()
            } else if let Some(values) = held {
                values.into_iter().filter(is_inside).collect()
            } else {
                let most = if self.program.few_addresses { 1 } else { u32::MAX };
                let all = self.layout.addresses(self.thread, of.space, of.length(), most);
                all.into_iter().map(Value::from).collect()
            };
            if !stays {
                let mut elsewhere = state.clone();
                elsewhere.checks.push(Assumption::NoneOf(sum, all.clone()));
                self.fault(elsewhere, NOWHERE);
            }
            let (&first, rest) = all.split_first()?;
            // A fork repeats the instruction; the check answers for the address then.
            let others = rest.iter().map(|&other| Assumption::Equals(sum, other));
            self.pending.fork(state, others);
            state.checks.push(Assumption::Equals(sum, first));
            first
        };
        match self.bytes(low64(value), of) {
            Ok(whole) => {
                let accesses = (0..of.elements)
                    .map(|element| {
                        let length = of.ty.bytes();
                        let va = Extent { start: whole.start + element * length, length, ..whole };
                        Access { va, pa: self.layout.physical(va) }
                    })
                    .collect();
                Some((accesses, ComputedAddress { sum, taint }))
            }
            Err(reason) => {
                self.stop(state, reason);
                None
            }
        }
    }

    /// The address as an expression, and what it depends on.
    fn sum(&self, state: &mut PathState, address: Address) -> (ExprId, Mask) {
        let (base, taint) = match address.base {
            // A name in brackets is the variable, whatever its space and the instruction's.
            Operand::Address(variable) => {
                let generic = self.layout.address(variable, self.thread);
                (state.exprs.constant(generic.into()), 0)
            }
            base @ (Operand::Reg(_) | Operand::Imm(_)) => self.operand(state, base),
        };
        let offset = state.exprs.constant(address.offset.cast_unsigned().into());
        (state.exprs.alu(AluOp::Add, Type::U64, &[base, offset]), taint)
    }

    /// Whether an address of tensor memory may have a lane. Words that racing accesses mix are left out.
    pub(super) fn may_have_lane(&self, state: &mut PathState, address: Address) -> bool {
        let (sum, _) = self.sum(state, address);
        let known = state.known(sum).map(|value| BTreeSet::from([value]));
        let values =
            known.or_else(|| self.possible(state, sum)).or_else(|| self.stored(state, sum, false));
        let of = SpaceQualifier::Tensor;
        values.into_iter().flatten().any(|value| {
            self.layout.resolve(self.thread, of, low64(value), TENSOR_COLUMN_BYTES)
                == Err(OutsideMemory::Lane)
        })
    }

    /// Whether bytes are those of the thread's own CTA.
    pub(super) fn is_own(&self, bytes: Extent) -> bool {
        let instance = self.layout.locations[usize::from(bytes.object)].instance;
        let placement = |thread: u8| self.program.threads[usize::from(thread)].placement;
        placement(instance).same_cta(placement(self.thread.0))
    }

    /// The bytes at an address, or why there are none for this instruction.
    fn bytes(&self, address: u64, of: &AddressUse) -> Result<Extent, &'static str> {
        if !address.is_multiple_of(u64::from(of.align.unwrap_or(of.length()))) {
            return Err(MISALIGNED);
        }
        let whole = self.layout.resolve(self.thread, of.space, address, of.length()).map_err(
            |outside| match (of.space, outside) {
                (SpaceQualifier::ParamEntry, _) => "no-kernel-parameter",
                (SpaceQualifier::ParamFunc, _) => "no-function-parameter",
                (_, OutsideMemory::NoWindow) => NO_WINDOW,
                (_, OutsideMemory::OtherSpace) => OTHER_SPACE,
                (_, OutsideMemory::NoVariable) => NO_VARIABLE,
                (_, OutsideMemory::Lane) => TENSOR_LANE,
            },
        )?;
        let object = &self.layout.virtuals[usize::from(whole.object)];
        let locations = &self.program.variables[usize::from(object.variable.0)].multimem;
        if of.multimem == locations.is_empty() {
            return Err("multimem-mixed");
        }
        let space = object.space;
        if of.prefetches && space != Space::Global {
            return Err("prefetch-outside-global");
        }
        if of.writes && space.is_read_only() {
            return Err("a write to read-only memory");
        }
        if !of.reach.spaces.contains(&space) {
            return Err("an operation that memory of this state space does not have");
        }
        if of.own_cta && !self.is_own(self.layout.physical(whole)) {
            return Err(OTHER_SPACE);
        }
        Ok(whole)
    }

    /// The result of a `cvta` or `isspacep`, or for `mapa` and `getctarank`; `None` when the path has ended.
    pub(super) fn converted(
        &mut self,
        state: &mut PathState,
        cvta: &Cvta,
        source: ExprId,
    ) -> Option<ExprId> {
        match cvta.op {
            AddressOp::InCta { rank } => self.in_cta(state, cvta, source, rank),
            AddressOp::RankOf => Some(self.rank_of(state, source)),
            AddressOp::ToGeneric | AddressOp::FromGeneric | AddressOp::IsIn => {
                converted(&mut state.exprs, self.layout, self.thread, cvta, source)
            }
        }
    }

    /// `mapa`: the part of the CTA is replaced in an address of shared memory.
    fn in_cta(
        &mut self,
        state: &mut PathState,
        cvta: &Cvta,
        source: ExprId,
        rank: Operand,
    ) -> Option<ExprId> {
        let parts = self.layout.shared_parts(self.thread);
        let shared = self.layout.window(Space::Shared);
        let outside = |address: u64| {
            let generic = self.layout.generic(Some(Space::Shared), address);
            generic.wrapping_sub(shared.base) >= shared.size
        };
        if state.known(source).is_some_and(|address| outside(low64(address))) {
            self.stop(state, "`mapa` of an address that is not of shared memory");
            return None;
        }
        let (rank, taint) = self.operand(state, rank);
        state.ctrl |= taint;
        let ranks: Vec<Value> = (0..).take(parts.len()).collect();
        let known = state.known(rank);
        if known.is_none() {
            let mut elsewhere = state.clone();
            elsewhere.checks.push(Assumption::NoneOf(rank, ranks.clone()));
            self.fault(elsewhere, NO_CTA);
        }
        let chosen = usize::try_from(self.choose_among(state, rank, &ranks)).ok();
        let Some(&part) = chosen.and_then(|chosen| parts.get(chosen)) else {
            self.stop(state, NO_CTA);
            return None;
        };
        let (inside, window) = self.layout.shared_bits();
        let kept = state.exprs.constant((!window | inside).into());
        let part = state.exprs.constant(part.into());
        let same = state.exprs.alu(AluOp::And, Type::U64, &[source, kept]);
        let there = state.exprs.alu(AluOp::Or, Type::U64, &[same, part]);
        Some(state.exprs.alu(AluOp::Mov, cvta.ty, &[there]))
    }

    /// `getctarank`.
    fn rank_of(&self, state: &mut PathState, source: ExprId) -> ExprId {
        let (inside, window) = self.layout.shared_bits();
        let mask = state.exprs.constant((window & !inside).into());
        let part = state.exprs.alu(AluOp::And, Type::U64, &[source, mask]);
        let parts = self.layout.shared_parts(self.thread);
        (0_u64..).zip(parts).fold(state.exprs.constant(0), |found, (rank, of)| {
            let of = state.exprs.constant(of.into());
            let here = state.exprs.alu(AluOp::Setp(Comparison::Eq), Type::U64, &[part, of]);
            let rank = state.exprs.constant(rank.into());
            state.exprs.alu(AluOp::Selp, Type::U32, &[rank, found, here])
        })
    }
}

/// The fault where `mapa` names a CTA that is not in the test.
const NO_CTA: &str = "`mapa` to a CTA of which the test has no thread";

/// The result of a `cvta` or `isspacep`; `None` for `mapa` and `getctarank`.
pub fn converted(
    exprs: &mut Exprs,
    layout: &Layout,
    thread: ThreadId,
    cvta: &Cvta,
    source: ExprId,
) -> Option<ExprId> {
    let origin = |exprs: &mut Exprs| {
        let space = cvta.space.space().expect("an address conversion names its space");
        (exprs.constant(layout.origin(space).into()), space)
    };
    let value = match cvta.op {
        AddressOp::IsIn => {
            let window = layout.named_window(cvta.space, thread).expect("it names its space");
            return Some(is_in(exprs, window, source));
        }
        AddressOp::FromGeneric => {
            let (origin, _) = origin(exprs);
            exprs.alu(AluOp::Sub, Type::U64, &[source, origin])
        }
        AddressOp::ToGeneric => {
            // Reading R32: what is generic already stays as it is.
            let (origin, space) = origin(exprs);
            let sum = exprs.alu(AluOp::Add, Type::U64, &[source, origin]);
            let generic = is_in(exprs, layout.window(space), source);
            exprs.alu(AluOp::Selp, Type::U64, &[source, sum, generic])
        }
        AddressOp::InCta { .. } | AddressOp::RankOf => return None,
    };
    Some(exprs.alu(AluOp::Mov, cvta.ty, &[value]))
}

fn is_in(exprs: &mut Exprs, window: Window, address: ExprId) -> ExprId {
    let base = exprs.constant(window.base.into());
    let size = exprs.constant(window.size.into());
    let from = exprs.alu(AluOp::Sub, Type::U64, &[address, base]);
    exprs.alu(AluOp::Setp(Comparison::Lt), Type::U64, &[from, size])
}
