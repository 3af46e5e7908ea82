//! Operations on tensor memory as events of a path.

use super::address::AddressUse;
use super::asynchronous::{AsyncOperation, Part, part_write};
use super::mbarrier::Object;
use super::state::{ComputedAddress, PathState};
use super::{MAX_EVENTS, Next, UnfoldLimit, Walk};
use crate::event::{Access, EventKind, Mask, MbarrierStep, Tags, TensorPart};
use crate::expr::ExprId;
use model::given::Tag;
use model::isa::alu::AluOp;
use model::isa::float::FloatOp;
use model::isa::tensor_memory::{
    ColumnLayout, ColumnReduction, CtaGroup, TensorFence, TensorMultiply, TensorOp, TensorWait,
};
use model::isa::warp::LaneReduction;
use model::isa::{Address, Operand, Reg, SpaceQualifier, Type};
use model::memory::{Extent, TENSOR_COLUMN_BYTES};

/// The bytes that an operation reads of a matrix in shared memory.
const CHUNK: u32 = 16;

/// An operation on tensor memory: its parts, and what it is.
#[derive(Clone, Copy)]
struct TensorOperation {
    of: AsyncOperation,
    is: TensorPart,
}

/// An operand in memory: its parts, and how its address is computed.
type OperandPlace = (Vec<Access>, ComputedAddress);

impl Walk<'_> {
    pub(super) fn tensor_memory(
        &mut self,
        state: &mut PathState,
        op: &TensorOp,
        guard: Mask,
    ) -> Result<(), Next> {
        match op {
            TensorOp::Load { from, layout, reduction, destinations } => {
                let read = self.tensor_load(state, *from, *layout, destinations, guard)?;
                if let Some(ColumnReduction { op, result: Some(register) }) = *reduction {
                    reduce(state, &read, register, op, guard);
                }
                Ok(())
            }
            TensorOp::Store { to, layout, sources } => {
                self.tensor_store(state, *to, *layout, sources, guard)
            }
            TensorOp::Wait(of) => {
                let completes = match of {
                    TensorWait::Loads => state.groups.tensor.loads,
                    TensorWait::Stores => state.groups.tensor.stores,
                };
                state.push(EventKind::WaitGroup, Tags::of(&[Tag::All]), guard);
                state.last().completes = completes;
                Ok(())
            }
            TensorOp::Copy { to, from, group, narrow } => {
                let to = self.columns(state, *to, 1, true)?;
                let from = self.matrix(state, *from)?;
                let is = TensorPart::Copy { group: *group, narrow: *narrow };
                let operation = begin(state, is, guard);
                let value = self.shared_read(state, &from, operation);
                column_write(state, &to, value, operation);
                committed(state, operation, *group);
                Ok(())
            }
            TensorOp::Multiply(of) => self.tensor_multiply(state, of, guard),
            TensorOp::Shift { at, group } => {
                let at = self.columns(state, *at, 1, true)?;
                let operation = begin(state, TensorPart::Shift { group: *group }, guard);
                let value = self.column_read(state, &at, operation);
                column_write(state, &at, value, operation);
                committed(state, operation, *group);
                Ok(())
            }
            TensorOp::Commit { object, space, group, multicast } => {
                let object = self.object(state, *object, *space, false).ok_or(Next::Stop)?;
                let mask = multicast.map(|mask| self.number(state, mask));
                self.tensor_commit(state, object, *group, mask, guard)
            }
            TensorOp::Allocate { to, space, .. } => self.allocate(state, *to, *space, guard),
            TensorOp::Deallocate { at, columns } => {
                let columns = self.number(state, *columns);
                self.deallocate(state, *at, columns, guard)
            }
            TensorOp::Relinquish => {
                let tags = Tags::of(&[Tag::All, Tag::AllocationsEnd]);
                state.push(EventKind::Allocation, tags, guard);
                Ok(())
            }
            TensorOp::Fence(fence) => {
                let side = match fence {
                    TensorFence::Before => Tag::TensorFenceBefore,
                    TensorFence::After => Tag::TensorFenceAfter,
                };
                state.push(EventKind::TensorFence, Tags::of(&[Tag::All, side]), guard);
                Ok(())
            }
        }
    }

    /// The allocation of tensor memory, and the weak write of its address.
    fn allocate(
        &mut self,
        state: &mut PathState,
        to: Address,
        space: SpaceQualifier,
        guard: Mask,
    ) -> Result<(), Next> {
        let whole = AddressUse::of_allocation(space);
        let (to, at) = self.address(state, to, &whole).ok_or(Next::Stop)?;
        if state.events.len() + 2 > MAX_EVENTS {
            return Err(Next::Limit(UnfoldLimit::Events));
        }
        let variable = self.program.allocated(self.thread, state.pc);
        let variable = variable.expect("the reader has found what it allocates");
        let tags = Tags::of(&[Tag::All, Tag::TensorAllocation]);
        state.push(EventKind::Allocation, tags, guard);
        state.last().access = Some(self.whole(self.layout.object(variable, self.thread)));
        let value = state.exprs.constant(self.layout.address(variable, self.thread).into());
        state.push(EventKind::Write, Tags::of(&[Tag::All, Tag::Write, Tag::Generic]), guard);
        let event = state.last();
        event.locate(to[0], at);
        event.value = Some(value);
        Ok(())
    }

    /// The end of tensor memory, which is a variable as a whole.
    fn deallocate(
        &mut self,
        state: &mut PathState,
        address: Address,
        columns: u64,
        guard: Mask,
    ) -> Result<(), Next> {
        let (column, at) = self.columns(state, address, 1, true)?;
        let whole = self.whole(column[0].va.object);
        if column[0].va.start != 0 || u64::from(whole.va.length / TENSOR_COLUMN_BYTES) != columns {
            self.misused(state);
            return Err(Next::Stop);
        }
        let tags = Tags::of(&[Tag::All, Tag::TensorDeallocation]);
        state.push(EventKind::Allocation, tags, guard);
        state.last().locate(whole, at);
        Ok(())
    }

    /// All bytes of an object.
    fn whole(&self, object: u16) -> Access {
        let length = self.layout.virtuals[usize::from(object)].extent;
        let va = Extent { object, start: 0, length };
        Access { va, pa: self.layout.physical(va) }
    }

    /// The arrivals on an object, or on the objects of several CTAs, when the operations of the thread have completed.
    fn tensor_commit(
        &self,
        state: &mut PathState,
        object: Object,
        group: CtaGroup,
        mask: Option<u64>,
        guard: Mask,
    ) -> Result<(), Next> {
        let objects = match mask {
            Some(mask) => {
                let all = self.each_cta(mask, &[], Some(object));
                all.into_iter().filter_map(|(_, object)| object).collect()
            }
            None => vec![object],
        };
        if state.events.len() + objects.len() > MAX_EVENTS {
            return Err(Next::Limit(UnfoldLimit::Events));
        }
        let completes = state.groups.tensor.others.get(&group).copied().unwrap_or_default();
        let first = state.next_event();
        for object in objects {
            let step = MbarrierStep::ONE_ARRIVAL;
            Self::complete_on(state, object, step, first, first, Tag::Generic, guard);
            state.last().completes = completes;
        }
        Ok(())
    }

    /// What is read of each column.
    fn tensor_load(
        &mut self,
        state: &mut PathState,
        from: Address,
        layout: ColumnLayout,
        destinations: &[Option<Reg>],
        guard: Mask,
    ) -> Result<Vec<(ExprId, Mask)>, Next> {
        let count = layout.columns(destinations.len());
        let (columns, at) = self.columns(state, from, count, false)?;
        let second = self.second_half(state, from, layout, count, false)?;
        let operation = begin(state, TensorPart::Load, guard);
        let mut read = Vec::with_capacity(count);
        for &column in &columns {
            read.push(self.column_read(state, &(vec![column], at), operation));
        }
        if let Some((others, at)) = second {
            for column in others.into_iter().filter(|other| !columns.contains(other)) {
                self.column_read(state, &(vec![column], at), operation);
            }
        }
        let each = if layout.halves { 2 } else { 1 };
        for (columns, destination) in read.chunks(each).zip(destinations) {
            let (mut value, mut taint) = columns[0];
            if let Some(&(high, more)) = columns.get(1) {
                let low_half = state.exprs.constant(0xffff);
                let high = state.exprs.alu(AluOp::And, Type::U32, &[high, low_half]);
                value = state.exprs.alu(AluOp::Concat(16), Type::U32, &[value, high]);
                taint |= more;
            }
            if let Some(destination) = *destination {
                state.set(destination, value, taint | guard);
            }
        }
        state.groups.tensor.loads |= state.since(operation.of.first);
        Ok(read)
    }

    fn tensor_store(
        &mut self,
        state: &mut PathState,
        to: Address,
        layout: ColumnLayout,
        sources: &[Operand],
        guard: Mask,
    ) -> Result<(), Next> {
        let count = layout.columns(sources.len());
        let (columns, at) = self.columns(state, to, count, true)?;
        let second = self.second_half(state, to, layout, count, true)?;
        let mut values: Vec<(ExprId, Mask)> = Vec::with_capacity(count);
        for &source in sources {
            let (value, taint) = self.operand(state, source);
            if layout.halves {
                let low_half = state.exprs.constant(0xffff);
                let shift = state.exprs.constant(16);
                let low = state.exprs.alu(AluOp::And, Type::U32, &[value, low_half]);
                let high = state.exprs.alu(AluOp::Shr, Type::U32, &[value, shift]);
                values.extend([(low, taint), (high, taint)]);
            } else {
                values.push((value, taint));
            }
        }
        let operation = begin(state, TensorPart::Store, guard);
        for (&column, &value) in columns.iter().zip(&values) {
            column_write(state, &(vec![column], at), value, operation);
        }
        if let Some((others, at)) = second {
            for (&column, &value) in others.iter().zip(&values) {
                if !columns.contains(&column) {
                    column_write(state, &(vec![column], at), value, operation);
                }
            }
        }
        state.groups.tensor.stores |= state.since(operation.of.first);
        Ok(())
    }

    /// The columns of the second half of the lanes, if it has an address of its own. Where both halves access a column, neither
    /// sees the other, as their lanes are others.
    fn second_half(
        &mut self,
        state: &mut PathState,
        first: Address,
        layout: ColumnLayout,
        count: usize,
        writes: bool,
    ) -> Result<Option<OperandPlace>, Next> {
        let Some(distance) = layout.second else { return Ok(None) };
        let second = Address { offset: first.offset + distance, ..first };
        self.columns(state, second, count, writes).map(Some)
    }

    fn tensor_multiply(
        &mut self,
        state: &mut PathState,
        of: &TensorMultiply,
        guard: Mask,
    ) -> Result<(), Next> {
        let shape = self.number(state, of.shape);
        let (input, negated) = of.accumulates;
        let accumulates = (self.number(state, input) != 0) != negated;
        let accumulator = self.columns(state, of.accumulator, 1, true)?;
        let mut shared: Vec<OperandPlace> = Vec::new();
        for &address in &of.shared {
            let place = self.matrix(state, address)?;
            if !shared.iter().any(|(known, _)| *known == place.0) {
                shared.push(place);
            }
        }
        let mut tensor = Vec::new();
        for &address in &of.tensor {
            tensor.push(self.columns(state, address, 1, false)?);
        }
        let is = TensorPart::Multiply {
            group: of.group,
            accumulator: accumulator.0[0].pa,
            kind: of.kind,
            shape,
        };
        let operation = begin(state, is, guard);
        let mut read = Vec::new();
        for place in &tensor {
            read.push(self.column_read(state, place, operation));
        }
        for place in &shared {
            read.push(self.shared_read(state, place, operation));
        }
        // Of what is read in tensor memory, only the first may be a matrix: the others are scales and metadata.
        let first_in_tensor = read.first().filter(|_| of.first_in_tensor);
        let matrices = first_in_tensor.into_iter().chain(&read[tensor.len()..]);
        let matrices: Vec<ExprId> = matrices.map(|&(value, _)| value).collect();
        let add = |sum, value| state.exprs.alu(AluOp::Add, Type::U32, &[sum, value]);
        let sum = matrices.into_iter().reduce(add);
        let mut value = sum.unwrap_or_else(|| state.exprs.constant(0));
        let mut taint = read.iter().fold(0, |all, (_, taint)| all | taint);
        if accumulates {
            let (old, before) = self.column_read(state, &accumulator, operation);
            value = state.exprs.alu(AluOp::Add, Type::U32, &[value, old]);
            taint |= before;
        }
        column_write(state, &accumulator, (value, taint), operation);
        committed(state, operation, of.group);
        Ok(())
    }

    /// Columns of tensor memory, for which a path has room.
    fn columns(
        &mut self,
        state: &mut PathState,
        address: Address,
        columns: usize,
        writes: bool,
    ) -> Result<OperandPlace, Next> {
        if state.events.len() + columns + 8 > MAX_EVENTS {
            return Err(Next::Limit(UnfoldLimit::Events));
        }
        if self.may_have_lane(state, address) {
            return Err(Next::Limit(UnfoldLimit::TensorLane));
        }
        let use_ = AddressUse::of_columns(columns, writes);
        self.address(state, address, &use_).ok_or(Next::Stop)
    }

    /// A matrix in shared memory.
    fn matrix(&mut self, state: &mut PathState, address: Address) -> Result<OperandPlace, Next> {
        let whole = AddressUse::of_copy(SpaceQualifier::Shared, CHUNK, false);
        self.address(state, address, &whole).ok_or(Next::Stop)
    }

    /// The first 4 bytes of a matrix in shared memory, which is read through the async proxy.
    fn shared_read(
        &self,
        state: &mut PathState,
        (from, at): &OperandPlace,
        TensorOperation { of, .. }: TensorOperation,
    ) -> (ExprId, Mask) {
        let part = Part::weak(from[0], *at, Tag::AsyncProxy, of);
        let (value, taint) = self.part_read(state, part, CHUNK);
        let last = state.last();
        last.tags = last.tags.with(Tag::TensorOperand);
        (state.exprs.alu(AluOp::Mov, Type::U32, &[value]), taint)
    }

    fn column_read(
        &self,
        state: &mut PathState,
        (column, at): &OperandPlace,
        TensorOperation { of, is }: TensorOperation,
    ) -> (ExprId, Mask) {
        let part = Part::weak(column[0], *at, Tag::TensorMemory, of);
        let read = self.part_read(state, part, column[0].va.length);
        state.last().tensor = Some(is);
        read
    }
}

/// Writes the reduction of the columns that a load has read.
fn reduce(
    state: &mut PathState,
    read: &[(ExprId, Mask)],
    register: Reg,
    reduction: LaneReduction,
    guard: Mask,
) {
    let (op, ty) = reduction.operation();
    let taint = read.iter().fold(guard, |all, (_, taint)| all | taint);
    let mut result = None;
    for &(value, _) in read {
        let abs = AluOp::Float(FloatOp::Abs);
        let value =
            if reduction.is_absolute() { state.exprs.alu(abs, ty, &[value]) } else { value };
        result = Some(match result {
            Some(before) => state.exprs.alu(op, ty, &[before, value]),
            None => value,
        });
    }
    if let Some(result) = result {
        state.set(register, result, taint);
    }
}

fn begin(state: &PathState, is: TensorPart, guard: Mask) -> TensorOperation {
    let first = state.next_event();
    TensorOperation { of: AsyncOperation { first, issued: first, guard }, is }
}

fn column_write(
    state: &mut PathState,
    (column, at): &OperandPlace,
    (value, data): (ExprId, Mask),
    TensorOperation { of, is }: TensorOperation,
) {
    part_write(state, Part::weak(column[0], *at, Tag::TensorMemory, of), value, data);
    state.last().tensor = Some(is);
}

/// Leaves an operation to the `tcgen05.commit` instructions of its group of CTAs.
fn committed(state: &mut PathState, operation: TensorOperation, group: CtaGroup) {
    let events = state.since(operation.of.first);
    *state.groups.tensor.others.entry(group).or_default() |= events;
}
