//! The paths of one thread: symbolic execution that forks wherever the program may.
//!
//! A path fixes the direction of each branch, the success of each `cas`, every address and every
//! barrier id. What it assumes for that is kept as checks on the values that its reads return.

use crate::event::{Access, BarrierUse, EventKind, Mask, PathEvent, Resource, Tags};
use crate::expr::{Expr, ExprId, Exprs};
use crate::given::Tag;
use crate::isa::alu::{self, AluOp, Comparison};
use crate::isa::atom::{Atomic, AtomicOp};
use crate::isa::bar::{Barrier, BarrierKind, ClusterBarrier};
use crate::isa::fence::{FenceOrder, ProxyFence};
use crate::isa::ld::{Load, LoadOrder};
use crate::isa::st::{Store, StoreOrder};
use crate::isa::{Address, Instruction, Operand, Reg, Type};
use crate::layout::Layout;
use crate::live::Liveness;
use crate::memory::Proxy;
use crate::program::{Initial, Program, ThreadId};
use crate::rel::Conventions;
use crate::scope::Scope;

/// What a path assumes of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// Zero is false.
    Truth(ExprId, bool),
    Equals(ExprId, u64),
    NoneOf(ExprId, Vec<u64>),
}

impl Check {
    /// The value that it is about.
    pub fn expr(&self) -> ExprId {
        match self {
            Check::Truth(expr, _) | Check::Equals(expr, _) | Check::NoneOf(expr, _) => *expr,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Finished,
    /// The loop bound was reached.
    Cut,
    /// The thread did something without meaning: why, and in which line.
    Fault {
        reason: &'static str,
        line: u16,
    },
}

#[derive(Clone, Debug)]
pub struct Path {
    pub exprs: Exprs,
    pub events: Vec<PathEvent>,
    pub checks: Vec<Check>,
    /// The value of each register at the end.
    pub registers: Vec<ExprId>,
    pub end: End,
}

/// Why the paths could not all be listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathLimit {
    Paths,
    Events,
}

/// Paths beyond which a thread is given up.
const MAX_PATHS: usize = 20_000;
/// What fits in a [`Mask`].
const MAX_EVENTS: usize = 128;
/// Instructions beyond which a path counts as endless; only loops without a bound get there.
const MAX_STEPS: u16 = 4096;

/// Lists the paths of `thread`, loops unrolled `bound` times.
pub fn paths(
    program: &Program,
    layout: &Layout,
    thread: ThreadId,
    conventions: Conventions,
    bound: u32,
) -> Result<Vec<Path>, PathLimit> {
    let source = &program.threads[usize::from(thread.0)];
    let live = Liveness::new(program, thread);
    let mut walk = Walk {
        program,
        layout,
        thread,
        conventions,
        bound,
        live,
        pending: Vec::new(),
        done: Vec::new(),
    };
    let mut exprs = Exprs::default();
    let registers = source
        .registers
        .iter()
        .map(|register| match register.initial {
            Initial::Value(value) => exprs.constant(value),
            Initial::Address { variable, thread } => {
                exprs.constant(layout.address(variable, thread))
            }
        })
        .collect();
    walk.pending.push(State {
        pc: 0,
        step: 0,
        exprs,
        registers,
        taint: vec![0; source.registers.len()],
        ctrl: 0,
        events: Vec::new(),
        checks: Vec::new(),
        visits: vec![0; if walk.live.loops() { source.lines.len() + 1 } else { 0 }],
        heads: Vec::new(),
    });
    while let Some(state) = walk.pending.pop() {
        walk.run(state)?;
        if walk.done.len() + walk.pending.len() > MAX_PATHS {
            return Err(PathLimit::Paths);
        }
    }
    // The stack lists later forks first.
    walk.done.reverse();
    Ok(walk.done)
}

#[derive(Clone)]
struct State {
    pc: usize,
    step: u16,
    exprs: Exprs,
    registers: Vec<ExprId>,
    taint: Vec<Mask>,
    ctrl: Mask,
    events: Vec<PathEvent>,
    checks: Vec<Check>,
    visits: Vec<u32>,
    /// Loop heads since the last write or barrier: where, and the registers there.
    heads: Vec<(usize, Vec<ExprId>)>,
}

struct Walk<'a> {
    program: &'a Program,
    layout: &'a Layout,
    thread: ThreadId,
    conventions: Conventions,
    bound: u32,
    live: Liveness,
    pending: Vec<State>,
    done: Vec<Path>,
}

/// What becomes of a state after one instruction.
enum Next {
    Go,
    /// The path is listed, impossible, or adds nothing.
    Stop,
}

impl Walk<'_> {
    fn run(&mut self, mut state: State) -> Result<(), PathLimit> {
        let lines = self.program.threads[usize::from(self.thread.0)].lines.len();
        loop {
            if state.pc >= lines {
                self.finish(state, End::Finished);
                return Ok(());
            }
            if state.events.len() + 8 > MAX_EVENTS || state.step >= MAX_STEPS {
                return Err(PathLimit::Events);
            }
            if self.live.is_head(state.pc) {
                let registers = state.registers.clone();
                state.heads.push((state.pc, registers));
            }
            if let Next::Stop = self.step(&mut state) {
                return Ok(());
            }
            state.step += 1;
        }
    }

    fn finish(&mut self, state: State, end: End) {
        let State { exprs, events, checks, registers, .. } = state;
        self.done.push(Path { exprs, events, checks, registers, end });
    }

    fn step(&mut self, state: &mut State) -> Next {
        let program = self.program;
        let line = &program.threads[usize::from(self.thread.0)].lines[state.pc];
        let mut guard_taint = 0;
        if let Some(guard) = line.guard {
            let predicate = state.registers[usize::from(guard.predicate.0)];
            guard_taint = state.taint[usize::from(guard.predicate.0)];
            let executed = match state.truth(predicate) {
                Some(value) => value != guard.negated,
                None => {
                    let mut skipped = state.clone();
                    skipped.checks.push(Check::Truth(predicate, guard.negated));
                    self.skip(&mut skipped, guard_taint);
                    self.pending.push(skipped);
                    state.checks.push(Check::Truth(predicate, !guard.negated));
                    true
                }
            };
            if !executed {
                self.skip(state, guard_taint);
                return Next::Go;
            }
        }
        match &line.instruction {
            Instruction::Branch(branch) => {
                if let Some((comparison, a, b)) = branch.condition {
                    let (a, b) = (self.operand(state, a), self.operand(state, b));
                    state.ctrl |= a.1 | b.1;
                    let op = AluOp::Setp(comparison);
                    let holds = state.exprs.alu(op, Type::U64, &[a.0, b.0]);
                    match state.truth(holds) {
                        Some(false) => {
                            state.pc += 1;
                            return Next::Go;
                        }
                        Some(true) => {}
                        None => {
                            let mut other = state.clone();
                            other.checks.push(Check::Truth(holds, false));
                            other.pc += 1;
                            other.step += 1;
                            self.pending.push(other);
                            state.checks.push(Check::Truth(holds, true));
                        }
                    }
                }
                state.ctrl |= guard_taint;
                return self.jump(state, branch.target);
            }
            Instruction::Load(load) => {
                let Some(address) =
                    self.address(state, load.address, load.ty, load.destinations.len())
                else {
                    return Next::Stop;
                };
                self.load(state, load, address, guard_taint);
            }
            Instruction::Store(store) => {
                let Some(address) =
                    self.address(state, store.address, store.ty, store.sources.len())
                else {
                    return Next::Stop;
                };
                self.store(state, store, address, guard_taint);
            }
            Instruction::Atomic(atomic) => {
                let Some(address) = self.address(state, atomic.address, atomic.ty, 1) else {
                    return Next::Stop;
                };
                self.atomic(state, atomic, address, guard_taint);
            }
            Instruction::Fence(fence) => {
                let order = match fence.order {
                    FenceOrder::Acquire => Tag::FenceAcquire,
                    FenceOrder::Release => Tag::FenceRelease,
                    FenceOrder::AcqRel => Tag::FenceAcqRel,
                    FenceOrder::Sc => Tag::FenceSc,
                };
                let tags = Tags::of(&[Tag::All, Tag::Fence, order, scope_tag(fence.scope)]);
                state.push(EventKind::Fence, tags, guard_taint);
            }
            Instruction::ProxyFence(fence) => {
                let which = match fence {
                    ProxyFence::Alias => Tag::AliasFence,
                    ProxyFence::Proxy(proxy) => proxy_tag(*proxy),
                };
                let tags = Tags::of(&[Tag::All, Tag::ProxyFence, which]);
                state.push(EventKind::ProxyFence, tags, guard_taint);
            }
            Instruction::Barrier(barrier) => return self.barrier(state, barrier, guard_taint),
            Instruction::ClusterBarrier(barrier) => cluster_barrier(state, *barrier, guard_taint),
            Instruction::Alu(alu) => {
                let sources: Vec<(ExprId, Mask)> =
                    alu.sources.iter().map(|&s| self.operand(state, s)).collect();
                let values: Vec<ExprId> = sources.iter().map(|s| s.0).collect();
                let value = state.exprs.alu(alu.op, alu.ty, &values);
                let taint = sources.iter().fold(guard_taint, |all, s| all | s.1);
                state.set(alu.destination, value, taint);
            }
            // Checked for before anything is unfolded.
            Instruction::Unsupported(_) => {}
        }
        state.pc += 1;
        Next::Go
    }

    /// Passes over a guarded instruction; what it would have written now depends on its guard.
    fn skip(&self, state: &mut State, guard_taint: Mask) {
        let line = &self.program.threads[usize::from(self.thread.0)].lines[state.pc];
        if matches!(line.instruction, Instruction::Branch(_)) {
            state.ctrl |= guard_taint;
        }
        for register in line.instruction.destinations() {
            state.taint[usize::from(register.0)] |= guard_taint;
        }
        state.pc += 1;
    }

    fn jump(&mut self, state: &mut State, target: usize) -> Next {
        if target <= state.pc && target < state.visits.len() {
            // An iteration that neither writes nor meets a barrier and comes back with the same
            // live registers can be left out: what remains is a path too, with fewer events and so
            // with every outcome of this one.
            let seen = state.heads.iter().any(|(at, registers)| {
                *at == target && self.live.same(target, registers, &state.registers)
            });
            if seen {
                return Next::Stop;
            }
            state.visits[target] += 1;
            if state.visits[target] >= self.bound {
                state.pc = target;
                let cut = std::mem::replace(state, State::empty());
                self.finish(cut, End::Cut);
                return Next::Stop;
            }
        }
        state.pc = target;
        Next::Go
    }

    fn operand(&self, state: &mut State, operand: Operand) -> (ExprId, Mask) {
        match operand {
            Operand::Reg(Reg(register)) => {
                (state.registers[usize::from(register)], state.taint[usize::from(register)])
            }
            Operand::Imm(value) => (state.exprs.constant(value), 0),
            Operand::Address(variable) => {
                (state.exprs.constant(self.layout.address(variable, self.thread)), 0)
            }
        }
    }

    /// The bytes of each element, with what the address depends on. Forks over every address that
    /// a value could be; `None` when the path has ended.
    fn address(
        &mut self,
        state: &mut State,
        address: Address,
        ty: Type,
        elements: usize,
    ) -> Option<(Vec<Access>, Mask)> {
        let (base, taint) = self.operand(state, address.base);
        let offset = state.exprs.constant(address.offset.cast_unsigned());
        let sum = state.exprs.alu(AluOp::Add, Type::U64, &[base, offset]);
        let elements = u32::try_from(elements).expect("a vector has at most 8 elements");
        let length = ty.bytes() * elements;
        let length_in = |value: u64| value.is_multiple_of(u64::from(length));
        let value = if let Some(value) = state.known(sum) {
            value
        } else {
            let all: Vec<u64> = self.layout.addresses(length).collect();
            let mut elsewhere = state.clone();
            elsewhere.checks.push(Check::NoneOf(sum, all.clone()));
            self.fault(elsewhere, "an address outside every declared location, or misaligned");
            let (&first, rest) = all.split_first()?;
            for &other in rest {
                // The fork repeats the instruction; the check answers for the address then.
                let mut forked = state.clone();
                forked.checks.push(Check::Equals(sum, other));
                self.pending.push(forked);
            }
            state.checks.push(Check::Equals(sum, first));
            first
        };
        if !length_in(value) {
            let stopped = std::mem::replace(state, State::empty());
            self.fault(stopped, "a misaligned address");
            return None;
        }
        let Some(whole) = self.layout.resolve(value, length) else {
            let stopped = std::mem::replace(state, State::empty());
            self.fault(stopped, "an address outside every declared location");
            return None;
        };
        let accesses = (0..elements)
            .map(|element| {
                let start = whole.start + element * ty.bytes();
                let va = crate::memory::Extent { start, length: ty.bytes(), ..whole };
                Access { va, pa: self.layout.physical(va) }
            })
            .collect();
        Some((accesses, taint))
    }

    fn fault(&mut self, state: State, reason: &'static str) {
        let line = u16::try_from(state.pc).expect("a thread has few lines");
        self.finish(state, End::Fault { reason, line });
    }
}

/// Memory operations, atomics and barriers.
impl Walk<'_> {
    fn load(
        &self,
        state: &mut State,
        load: &Load,
        (accesses, addr): (Vec<Access>, Mask),
        guard: Mask,
    ) {
        let mut tags = Tags::of(&[Tag::All, Tag::Read, proxy_tag(load.proxy)]);
        match load.order {
            LoadOrder::Weak => {}
            LoadOrder::NonCoherent => tags = tags.with(Tag::NonCoherentRead),
            LoadOrder::Volatile | LoadOrder::Relaxed(_) | LoadOrder::MmioRelaxed => {
                tags = tags.with(Tag::Relaxed);
            }
            LoadOrder::Acquire(_) | LoadOrder::MmioAcquire => tags = tags.with(Tag::Acquire),
        }
        if let Some(scope) = load.order.scope() {
            tags = tags.with(scope_tag(scope));
        }
        let element = accesses.len() > 1;
        for (access, destination) in accesses.into_iter().zip(&load.destinations) {
            // A sink reads nothing.
            let Some(destination) = destination else { continue };
            let index = state.push(EventKind::Read, tags, guard);
            let event = state.last();
            event.access = Some(access);
            event.addr = addr;
            event.element = element;
            let raw = state.exprs.intern(Expr::Read(index));
            let value = state.exprs.extend_signed(load.ty, raw);
            state.set(*destination, value, 1 << index);
        }
    }

    fn store(
        &self,
        state: &mut State,
        store: &Store,
        (accesses, addr): (Vec<Access>, Mask),
        guard: Mask,
    ) {
        let mut tags = Tags::of(&[Tag::All, Tag::Write, proxy_tag(store.proxy)]);
        match store.order {
            StoreOrder::Weak => {}
            StoreOrder::Volatile | StoreOrder::Relaxed(_) | StoreOrder::MmioRelaxed => {
                tags = tags.with(Tag::Relaxed);
            }
            StoreOrder::Release(_) | StoreOrder::MmioRelease => tags = tags.with(Tag::Release),
        }
        if let Some(scope) = store.order.scope() {
            tags = tags.with(scope_tag(scope));
        }
        let element = accesses.len() > 1;
        for (access, &source) in accesses.into_iter().zip(&store.sources) {
            let (value, data) = self.operand(state, source);
            state.push(EventKind::Write, tags, guard);
            let event = state.last();
            event.access = Some(access);
            event.addr = addr;
            event.data = data;
            event.value = Some(value);
            event.element = element;
        }
        state.heads.clear();
    }

    fn atomic(
        &mut self,
        state: &mut State,
        atomic: &Atomic,
        (accesses, addr): (Vec<Access>, Mask),
        guard: Mask,
    ) {
        let access = accesses[0];
        let scope = scope_tag(atomic.scope);
        let mut read_tags = Tags::of(&[Tag::All, Tag::Read, Tag::Generic, scope]);
        if atomic.reduction {
            read_tags = read_tags.with(Tag::ReductionRead);
        }
        let acquire = if atomic.order.is_acquire() { Tag::Acquire } else { Tag::Relaxed };
        let release = if atomic.order.is_release() { Tag::Release } else { Tag::Relaxed };
        let operands: Vec<(ExprId, Mask)> =
            atomic.operands.iter().map(|&o| self.operand(state, o)).collect();
        let read = state.push(EventKind::Read, read_tags.with(acquire), guard);
        let event = state.last();
        event.access = Some(access);
        event.addr = addr;
        let old = state.exprs.intern(Expr::Read(read));
        let seen = 1 << read;
        if let Some(destination) = atomic.destination {
            let value = state.exprs.extend_signed(atomic.ty, old);
            state.set(destination, value, seen);
        }
        let operand_taint = operands.iter().fold(0, |all, o| all | o.1);
        let (value, data) = match atomic.op {
            AtomicOp::Cas => {
                let op = AluOp::Setp(Comparison::Eq);
                let equal = state.exprs.alu(op, atomic.ty, &[old, operands[0].0]);
                let mut failed = state.clone();
                failed.checks.push(Check::Truth(equal, false));
                if self.conventions.failed_cas_writes {
                    failed.written_back(access, addr, guard, old, seen | operand_taint, read);
                    failed.last().tags = write_tags(release, scope);
                    failed.heads.clear();
                }
                failed.pc += 1;
                failed.step += 1;
                self.pending.push(failed);
                state.checks.push(Check::Truth(equal, true));
                // It has read what it compares with: a loop for a lock ends here.
                let expected = state.exprs.as_const(operands[0].0);
                if let (Some(destination), Some(expected)) = (atomic.destination, expected) {
                    let expected = state.exprs.constant(expected & alu::mask(atomic.ty));
                    let value = state.exprs.extend_signed(atomic.ty, expected);
                    state.set(destination, value, seen);
                }
                (operands[1].0, seen | operand_taint)
            }
            AtomicOp::Exch => (operands[0].0, operand_taint),
            op @ (AtomicOp::Add
            | AtomicOp::Sub
            | AtomicOp::And
            | AtomicOp::Or
            | AtomicOp::Xor
            | AtomicOp::Min
            | AtomicOp::Max
            | AtomicOp::Inc
            | AtomicOp::Dec) => {
                let expr = Expr::Atomic { op, ty: atomic.ty, old, operand: operands[0].0 };
                (state.exprs.intern(expr), seen | operand_taint)
            }
        };
        state.written_back(access, addr, guard, value, data, read);
        state.last().tags = write_tags(release, scope);
        state.heads.clear();
    }

    fn barrier(&mut self, state: &mut State, barrier: &Barrier, guard: Mask) -> Next {
        let count = barrier.count.map(|count| self.operand(state, count));
        let (id, id_taint) = self.operand(state, barrier.id);
        state.ctrl |= id_taint | count.map_or(0, |c| c.1);
        let Some(id) = self.choose(state, id) else { return Next::Stop };
        let count = match count {
            None => None,
            Some((count, _)) => match self.choose(state, count) {
                Some(count) => Some(count),
                None => return Next::Stop,
            },
        };
        let reduce = match barrier.kind {
            BarrierKind::Arrive | BarrierKind::Sync => None,
            BarrierKind::Reduce { op, source, negated, .. } => {
                let (mut value, taint) = self.operand(state, Operand::Reg(source));
                if negated {
                    let zero = state.exprs.constant(0);
                    let not = AluOp::Setp(Comparison::Eq);
                    value = state.exprs.alu(not, Type::U32, &[value, zero]);
                }
                Some((op, value, taint))
            }
        };
        let resource = Resource::Cta { id, instance: barrier.instance };
        let used = BarrierUse { resource, count, reduce, relaxed: false };
        state.push(EventKind::Arrive, Tags::of(&[Tag::All, Tag::BarrierArrive]), guard);
        state.last().barrier = Some(used);
        if barrier.kind != BarrierKind::Arrive {
            let tags = Tags::of(&[Tag::All, Tag::BarrierWait]);
            let wait = state.push(EventKind::Wait, tags, guard);
            state.last().barrier = Some(used);
            if let BarrierKind::Reduce { destination, .. } = barrier.kind {
                let value = state.exprs.intern(Expr::Reduced(wait));
                state.set(destination, value, 1 << wait);
            }
        }
        state.heads.clear();
        state.pc += 1;
        Next::Go
    }

    /// A barrier id or count: forks over what a barrier could be called; `None` when the path has
    /// ended.
    fn choose(&mut self, state: &mut State, value: ExprId) -> Option<u64> {
        if let Some(known) = state.known(value) {
            return Some(known);
        }
        let mut all: Vec<u64> = (0..16).collect();
        all.extend(self.program.mentioned_constants().into_iter().filter(|&c| c >= 16));
        let mut elsewhere = state.clone();
        elsewhere.checks.push(Check::NoneOf(value, all.clone()));
        self.fault(elsewhere, "a barrier id or count out of range");
        for &other in &all[1..] {
            // The fork repeats the instruction; the check answers for the value then.
            let mut forked = state.clone();
            forked.checks.push(Check::Equals(value, other));
            self.pending.push(forked);
        }
        state.checks.push(Check::Equals(value, all[0]));
        Some(all[0])
    }
}

fn cluster_barrier(state: &mut State, barrier: ClusterBarrier, guard: Mask) {
    let (kind, tag) = match barrier {
        ClusterBarrier::ArriveRelease | ClusterBarrier::ArriveRelaxed => {
            (EventKind::Arrive, Tag::BarrierArrive)
        }
        ClusterBarrier::Wait => (EventKind::Wait, Tag::BarrierWait),
    };
    state.push(kind, Tags::of(&[Tag::All, tag]), guard);
    let relaxed = barrier == ClusterBarrier::ArriveRelaxed;
    let resource = Resource::Cluster;
    state.last().barrier = Some(BarrierUse { resource, count: None, reduce: None, relaxed });
    state.heads.clear();
}

impl State {
    fn empty() -> State {
        State {
            pc: 0,
            step: 0,
            exprs: Exprs::default(),
            registers: Vec::new(),
            taint: Vec::new(),
            ctrl: 0,
            events: Vec::new(),
            checks: Vec::new(),
            visits: Vec::new(),
            heads: Vec::new(),
        }
    }

    /// A value that is constant, or that the path already assumes to be.
    fn known(&self, value: ExprId) -> Option<u64> {
        self.exprs.as_const(value).or_else(|| {
            self.checks.iter().find_map(|check| match check {
                Check::Equals(of, known) if *of == value => Some(*known),
                Check::Equals(..) | Check::Truth(..) | Check::NoneOf(..) => None,
            })
        })
    }

    /// The same for a condition.
    fn truth(&self, value: ExprId) -> Option<bool> {
        self.exprs.as_const(value).map(|value| value != 0).or_else(|| {
            self.checks.iter().find_map(|check| match check {
                Check::Truth(of, known) if *of == value => Some(*known),
                Check::Truth(..) | Check::Equals(..) | Check::NoneOf(..) => None,
            })
        })
    }

    fn set(&mut self, register: Reg, value: ExprId, taint: Mask) {
        self.registers[usize::from(register.0)] = value;
        self.taint[usize::from(register.0)] = taint;
    }

    fn push(&mut self, kind: EventKind, tags: Tags, guard: Mask) -> u16 {
        let index = u16::try_from(self.events.len()).expect("a path has few events");
        self.events.push(PathEvent {
            line: u16::try_from(self.pc).expect("a thread has few lines"),
            step: self.step,
            kind,
            tags,
            access: None,
            value: None,
            rmw: None,
            element: false,
            addr: 0,
            data: 0,
            ctrl: self.ctrl | guard,
            barrier: None,
        });
        index
    }

    fn last(&mut self) -> &mut PathEvent {
        self.events.last_mut().expect("an event was just pushed")
    }

    /// The write half of the atomic whose read is event `read`.
    fn written_back(
        &mut self,
        access: Access,
        addr: Mask,
        guard: Mask,
        value: ExprId,
        data: Mask,
        read: u16,
    ) {
        let write = self.push(EventKind::Write, Tags::default(), guard);
        let event = self.last();
        event.access = Some(access);
        event.addr = addr;
        event.data = data;
        event.value = Some(value);
        event.rmw = Some(read);
        self.events[usize::from(read)].rmw = Some(write);
    }
}

fn write_tags(order: Tag, scope: Tag) -> Tags {
    Tags::of(&[Tag::All, Tag::Write, Tag::Generic, order, scope])
}

fn scope_tag(scope: Scope) -> Tag {
    match scope {
        Scope::Cta => Tag::ScopeCta,
        Scope::Cluster => Tag::ScopeCluster,
        Scope::Gpu => Tag::ScopeGpu,
        Scope::Sys => Tag::ScopeSys,
    }
}

fn proxy_tag(proxy: Proxy) -> Tag {
    match proxy {
        Proxy::Generic => Tag::Generic,
        Proxy::Texture => Tag::Texture,
        Proxy::Surface => Tag::Surface,
        Proxy::Constant => Tag::Constant,
    }
}
