//! One thread: its registers, its pending loads, and its next step.
//!
//! All states of a thread are stored in a table, and the successors of each are computed once.

use execution::layout::{Layout, Window};
use model::isa::alu::AluOp;
use model::isa::atom::AtomicOp;
use model::isa::bar::{Barrier, BarrierKind, Reduction};
use model::isa::cvta::{AddressOp, Cvta};
use model::isa::{Address, Instruction, Operand, Reg, SpaceQualifier, Type};
use model::memory::{Extent, Space};
use model::program::{Program, Register, ThreadId};
use model::value::{Value, low_bits, low64};

use super::asynchronous::{CopyAccess, InFlight};
use super::form::{LoweredInstruction, MachineOp};
use super::object::ObjectRequest;
use super::plan::ThreadCode;

/// A read whose value is still on its way.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Pending {
    /// Which access of the code it is, by which its entries know it.
    pub(super) site: u8,
    pub(super) register: Option<Reg>,
    pub(super) ty: Type,
    /// The bytes that have arrived.
    pub(super) value: Value,
    /// A bit for each byte that has not.
    pub(super) missing: u16,
}

/// Where a thread is in an instruction that takes several steps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Phase {
    Ready,
    /// A `MEMBAR` waits for what it found when it began; `.SYS` does so twice.
    Draining,
    DrainingFar,
    /// Waits at a barrier.
    Arrived,
    /// It has used an mbarrier object without meaning.
    Faulted,
}

/// The state of a thread at the barrier of its cluster, between arriving and waiting.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Cluster {
    Outside,
    Arrived,
    /// All have arrived.
    Complete,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct ThreadState {
    pub(super) pc: u16,
    /// Which of the instruction's forms is next.
    pub(super) form: u8,
    pub(super) phase: Phase,
    pub(super) registers: Box<[Value]>,
    /// In order of their sites.
    pub(super) pending: Vec<Pending>,
    pub(super) cluster: Cluster,
    /// A `MEMBAR` that loads have gone past, and how far (reading R53).
    pub(super) fenced: Option<Behind>,
    pub(super) in_flight: InFlight,
}

/// The progress of a `MEMBAR` that the thread has passed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Behind {
    pub(super) far: bool,
    /// Whether it will still look at links.
    pub(super) then_far: bool,
    /// Whether it waits for the loads of its thread, and for nothing else: a `MEMBAR.CTA`.
    pub(super) loads: bool,
}

/// A scalar access with everything known.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct ScalarAccess {
    /// Which element of a vector it is.
    pub(super) element: u8,
    /// Physical bytes.
    pub(super) at: Extent,
    pub(super) what: AccessRequest,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum AccessRequest {
    Read {
        register: Reg,
        ty: Type,
    },
    Write(Value),
    Atomic {
        op: AtomicOp,
        ty: Type,
        first: Value,
        second: Value,
        register: Option<Reg>,
        /// Whether the old value comes back, to a register or not.
        returns: bool,
        /// Whether single floats lose subnormal numbers: in global memory they do.
        flushes: bool,
    },
}

/// What a thread does next.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Want {
    /// Needs a value that is on its way.
    Value,
    Access(Vec<ScalarAccess>),
    Copy(CopyAccess),
    Object(ObjectRequest),
    /// An arrival on the object at these bytes when the copies so far are complete.
    Track(Extent),
    ReleaseWait,
    View,
    SharedView,
    /// Any form but an access.
    Form(MachineOp),
    Barrier {
        id: u8,
        count: Option<u8>,
        waits: bool,
        /// The predicate that it brings to a reduction.
        vote: bool,
    },
    End,
    /// No execution goes on from here: an address that does not exist, or a branch of a loop that does nothing.
    Fault,
}

/// Where a thread was at a backward jump, to find again if the loop changes nothing: after 1, 2, 4, … jumps.
#[derive(Default)]
struct Circle {
    seen: Option<(u16, Box<[Value]>)>,
    jumps: u32,
}

impl Circle {
    /// Whether the thread has been at this jump with these registers.
    fn closes(&mut self, line: u16, registers: &[Value]) -> bool {
        if self.seen.as_ref().is_some_and(|(at, of)| *at == line && **of == *registers) {
            return true;
        }
        self.jumps += 1;
        if self.jumps.is_power_of_two() {
            self.seen = Some((line, registers.into()));
        }
        false
    }
}

/// What a thread is part of.
pub(super) struct ThreadContext<'p> {
    pub(super) program: &'p Program,
    pub(super) layout: &'p Layout,
    pub(super) thread: ThreadId,
    pub(super) lowered: &'p [LoweredInstruction],
    pub(super) plan: &'p ThreadCode,
    /// Whether the machine has the rule that `DEPBAR.LE` waits.
    pub(super) waits_for_groups: bool,
}

impl ThreadState {
    pub(super) fn new(context: &ThreadContext<'_>) -> ThreadState {
        let thread = &context.program.threads[usize::from(context.thread.0)];
        let initial = |register: &Register| context.layout.initial(register.initial);
        let registers = thread.registers.iter().map(initial).collect();
        ThreadState {
            pc: 0,
            form: 0,
            phase: Phase::Ready,
            registers,
            pending: Vec::new(),
            cluster: Cluster::Outside,
            fenced: None,
            in_flight: InFlight::default(),
        }
    }

    fn is_pending(&self, register: Reg) -> bool {
        self.pending.iter().any(|pending| pending.register == Some(register))
    }

    pub(super) fn operand(&self, context: &ThreadContext<'_>, operand: Operand) -> Value {
        match operand {
            Operand::Reg(register) => self.registers[usize::from(register.0)],
            Operand::Imm(value) => value.into(),
            Operand::Address(variable) => context.layout.offset(variable, context.thread).into(),
        }
    }

    /// Goes on to the next form of this instruction, or to the next instruction.
    pub(super) fn advance(&mut self, context: &ThreadContext<'_>) {
        self.phase = Phase::Ready;
        self.form += 1;
        if usize::from(self.form) >= context.lowered[usize::from(self.pc)].forms.len() {
            self.form = 0;
            self.pc += 1;
        }
    }

    /// Executes what needs no memory, and says what comes then. A thread that never meets memory
    /// again in `most` instructions has no end (`None`).
    pub(super) fn settle(&mut self, context: &ThreadContext<'_>, most: u32) -> Option<Want> {
        let lines = &context.program.threads[usize::from(context.thread.0)].lines;
        let mut circle = Circle::default();
        if self.phase == Phase::Faulted {
            return Some(Want::Fault);
        }
        for _ in 0..most {
            let Some(line) = lines.get(usize::from(self.pc)) else { return Some(Want::End) };
            if self.form == 0 && self.phase == Phase::Ready {
                let instruction = &line.instruction;
                // Reading R62: a guard waits for its loads; nothing is speculated.
                let guard = line.guard.map(|guard| guard.predicate);
                let touched = guard.into_iter().chain(instruction.sources());
                if touched.chain(instruction.destinations()).any(|r| self.is_pending(r)) {
                    return Some(Want::Value);
                }
                // A read for no register, again before it has come back.
                let sites = context.plan.sites_of(self.pc);
                if self.pending.iter().any(|pending| sites.contains(&usize::from(pending.site))) {
                    return Some(Want::Value);
                }
                if let Some(guard) = line.guard
                    && (self.registers[usize::from(guard.predicate.0)] != 0) == guard.negated
                {
                    self.pc += 1;
                    continue;
                }
            }
            if let Instruction::Branch(branch) = &line.instruction {
                let taken = branch.condition.is_none_or(|(comparison, a, b)| {
                    let (a, b) = (self.operand(context, a), self.operand(context, b));
                    comparison.holds(Type::U64, a, b)
                });
                let target = u16::try_from(branch.target).expect("a thread has few lines");
                if taken && target <= self.pc && circle.closes(self.pc, &self.registers) {
                    // It needs nothing that is on its way, and comes here for ever.
                    return Some(Want::Fault);
                }
                self.pc = if taken { target } else { self.pc + 1 };
                continue;
            }
            if let Instruction::Alu(alu) = &line.instruction {
                let sources: Vec<Value> =
                    alu.sources.iter().map(|&s| self.operand(context, s)).collect();
                self.registers[usize::from(alu.destination.0)] = alu.op.apply(alu.ty, &sources);
                self.pc += 1;
                continue;
            }
            if let Instruction::Cvta(cvta) = &line.instruction {
                self.registers[usize::from(cvta.destination.0)] = self.converted(context, cvta);
                self.pc += 1;
                continue;
            }
            let forms = &context.lowered[usize::from(self.pc)].forms;
            let Some(form) = forms.get(usize::from(self.form)) else {
                self.form = 0;
                self.pc += 1;
                continue;
            };
            if let (MachineOp::Asynchronous(op), Instruction::Asynchronous(of)) =
                (form, &line.instruction)
            {
                if let Some(want) = self.asynchronous(context, of, *op) {
                    return Some(want);
                }
                continue;
            }
            return Some(match form {
                MachineOp::Asynchronous(_) => Want::Fault,
                MachineOp::Access(_) => self.access(context, &line.instruction),
                MachineOp::Bar => self.barrier(context, &line.instruction),
                MachineOp::Membar(_)
                | MachineOp::MembarAll(_)
                | MachineOp::Invalidate
                | MachineOp::AcquireWait
                | MachineOp::ClusterArrive
                | MachineOp::ClusterWait => Want::Form(*form),
            });
        }
        None
    }

    fn converted(&self, context: &ThreadContext<'_>, cvta: &Cvta) -> Value {
        let source = low64(self.operand(context, cvta.source));
        let space = cvta.space.space();
        let origin = space.map_or(0, |space| context.layout.origin(space));
        let inside =
            |window: Option<Window>| window.is_some_and(|w| source.wrapping_sub(w.base) < w.size);
        let result: Value = match cvta.op {
            // Reading R32: what is generic already stays as it is.
            AddressOp::ToGeneric if inside(space.map(|s| context.layout.window(s))) => {
                source.into()
            }
            AddressOp::ToGeneric => source.wrapping_add(origin).into(),
            AddressOp::FromGeneric => source.wrapping_sub(origin).into(),
            AddressOp::IsIn => {
                let window = context.layout.named_window(cvta.space, context.thread);
                inside(window).into()
            }
            AddressOp::InCta { rank } => {
                let (kept, window) = context.layout.shared_bits();
                let parts = context.layout.shared_parts(context.thread);
                let rank = usize::try_from(low64(self.operand(context, rank))).ok();
                // Outside the cluster it is the address of nothing.
                let part = rank.and_then(|rank| parts.get(rank).copied()).unwrap_or(window);
                (source & (!window | kept) | part).into()
            }
            AddressOp::RankOf => {
                let (kept, window) = context.layout.shared_bits();
                let part = source & window & !kept;
                let mut parts = context.layout.shared_parts(context.thread).into_iter();
                parts.position(|of| of == part).unwrap_or(0) as Value
            }
        };
        if cvta.op == AddressOp::IsIn { result } else { result & low_bits(cvta.ty.bits) }
    }

    fn barrier(&self, context: &ThreadContext<'_>, instruction: &Instruction) -> Want {
        let Instruction::Barrier(Barrier { id, count, kind, .. }) = instruction else {
            return Want::Fault;
        };
        let Ok(id @ 0..=15) = u8::try_from(low64(self.operand(context, *id))) else {
            return Want::Fault;
        };
        let count = count.map(|count| self.operand(context, count) & low_bits(32));
        if count == Some(0) {
            return Want::Fault;
        }
        // No machine has that many threads.
        let count = count.map(|count| u8::try_from(count).unwrap_or(u8::MAX));
        let vote = match *kind {
            BarrierKind::Reduce { source, negated, .. } => {
                (self.registers[usize::from(source.0)] != 0) != negated
            }
            BarrierKind::Arrive | BarrierKind::Sync | BarrierKind::Exchange(_) => false,
        };
        Want::Barrier { id, count, waits: *kind != BarrierKind::Arrive, vote }
    }

    fn access(&self, context: &ThreadContext<'_>, instruction: &Instruction) -> Want {
        let Some((address, ty, elements)) = instruction.access() else { return Want::Fault };
        let space = instruction.space();
        let length = ty.bytes() * u32::try_from(elements).expect("a vector is short");
        let Some(whole) = self.resolve(context, address, space, length) else { return Want::Fault };
        let scalar = |index: usize, what: AccessRequest| {
            let element = u8::try_from(index).expect("a vector is short");
            let start = whole.start + ty.bytes() * u32::from(element);
            ScalarAccess { element, at: Extent { start, length: ty.bytes(), ..whole }, what }
        };
        Want::Access(if let Instruction::Load(load) = instruction {
            let read = |(index, register): (usize, &Option<Reg>)| {
                let register = (*register)?;
                Some(scalar(index, AccessRequest::Read { register, ty }))
            };
            load.destinations.iter().enumerate().filter_map(read).collect()
        } else if let Instruction::Store(store) = instruction {
            let write = |(index, &source): (usize, &Operand)| {
                let value = self.operand(context, source) & low_bits(ty.bits);
                scalar(index, AccessRequest::Write(value))
            };
            store.sources.iter().enumerate().map(write).collect()
        } else if let Instruction::Atomic(atomic) = instruction {
            let value =
                |index: usize| atomic.operands.get(index).map_or(0, |&o| self.operand(context, o));
            let (op, register) = (atomic.op, atomic.destination);
            let returns = !atomic.reduction;
            let place = context.layout.locations[usize::from(whole.object)].variable;
            let space = context.program.variables[usize::from(place.0)].space;
            let flushes = ty == Type::F32 && space == Space::Global;
            let (first, second) = (value(0), value(1));
            let what = AccessRequest::Atomic { op, ty, first, second, register, returns, flushes };
            vec![ScalarAccess { element: 0, at: whole, what }]
        } else {
            return Want::Fault;
        })
    }

    pub(super) fn address(&self, context: &ThreadContext<'_>, address: Address) -> u64 {
        let base = match address.base {
            Operand::Address(variable) => context.layout.address(variable, context.thread),
            Operand::Reg(_) | Operand::Imm(_) => low64(self.operand(context, address.base)),
        };
        base.wrapping_add(address.offset.cast_unsigned())
    }

    /// The physical bytes at an address; `None` if there are none, or it is misaligned.
    fn resolve(
        &self,
        context: &ThreadContext<'_>,
        address: Address,
        space: SpaceQualifier,
        length: u32,
    ) -> Option<Extent> {
        let sum = self.address(context, address);
        if !sum.is_multiple_of(length.into()) {
            return None;
        }
        let va = context.layout.resolve(context.thread, space, sum, length).ok()?;
        Some(context.layout.physical(va))
    }

    /// A read begins.
    pub(super) fn expect(&mut self, site: u8, register: Option<Reg>, ty: Type) {
        let missing = u16::try_from((1_u32 << ty.bytes()) - 1).expect("16 bytes at most");
        let place = self.pending.partition_point(|pending| pending.site < site);
        self.pending.insert(place, Pending { site, register, ty, value: 0, missing });
    }

    /// Bytes `start` on of a pending read have arrived.
    pub(super) fn deliver(&mut self, site: u8, start: u32, length: u32, bytes: Value) {
        let Some(at) = self.pending.iter().position(|pending| pending.site == site) else { return };
        let pending = &mut self.pending[at];
        pending.value |= bytes << (8 * start);
        for byte in start..start + length {
            pending.missing &= !(1 << byte);
        }
        if pending.missing == 0 {
            let pending = self.pending.remove(at);
            if let Some(register) = pending.register {
                let ty = pending.ty;
                self.registers[usize::from(register.0)] = AluOp::Mov.apply(ty, &[pending.value]);
            }
        }
    }

    /// The barrier that it waits at is complete, with this result of the reduction.
    pub(super) fn release(&mut self, context: &ThreadContext<'_>, all: bool, votes: u8) {
        let line =
            &context.program.threads[usize::from(context.thread.0)].lines[usize::from(self.pc)];
        if let Instruction::Barrier(Barrier {
            kind: BarrierKind::Reduce { op, destination, .. },
            ..
        }) = &line.instruction
        {
            let result = match op {
                Reduction::Popc => votes.into(),
                Reduction::And => all.into(),
                Reduction::Or => (votes > 0).into(),
            };
            self.registers[usize::from(destination.0)] = result;
        }
        self.advance(context);
    }

    /// Registers that nothing looks at any more have no value: states that differ in them are one.
    pub(super) fn forget(&mut self, context: &ThreadContext<'_>) {
        let live = &context.plan.live[usize::from(self.pc).min(context.plan.live.len() - 1)];
        let lines = &context.program.threads[usize::from(context.thread.0)].lines;
        // In the middle of an instruction its results may be there already.
        let midway = lines.get(usize::from(self.pc)).filter(|_| self.form > 0);
        let results: Vec<Reg> =
            midway.into_iter().flat_map(|line| line.instruction.destinations()).collect();
        for (index, register) in self.registers.iter_mut().enumerate() {
            if !live[index] && !results.iter().any(|result| usize::from(result.0) == index) {
                *register = 0;
            }
        }
    }
}
