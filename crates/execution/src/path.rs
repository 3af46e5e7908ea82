//! The paths of one thread, by symbolic execution that forks at each decision.
//!
//! A path fixes the direction of each branch, the success of each `cas`, every address and every
//! barrier id. Its assumptions are recorded as checks on the values that its reads return.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

mod address;
mod asynchronous;
mod barrier;
mod cancel;
mod computed;
mod covered;
mod exchange;
mod facts;
mod impossible;
mod mbarrier;
mod memory;
mod multimem;
mod possible;
mod private;
mod semantic;
mod spin;
mod state;
mod stored;
mod tensor;
mod tensor_memory;

use self::address::AddressUse;
pub use self::address::{MISALIGNED, NO_VARIABLE, NOWHERE, OUTSIDE, converted};
pub use self::barrier::UNLISTED;
use self::barrier::cluster_barrier;
use self::covered::{Arrivals, joins};
pub use self::facts::LoopFacts;
pub use self::impossible::KnownMemory;
pub use self::private::{PrivateAccess, PrivateFinal};
pub use self::spin::Round;
use self::state::{PathState, PendingPaths, proxy_tag, scope_tag};
use crate::contents::MemoryContents;
use crate::event::{EventKind, Mask, PathEvent, Tags};
use crate::expr::{Expr, ExprId, Exprs};
use crate::layout::Layout;
use crate::live::{self, Liveness};
use crate::polls;
use crate::unfold::{Ends, PathCut, UnfoldLimit};
use model::given::Tag;
use model::isa::alu::{AluOp, Branch, Comparison};
use model::isa::asynchronous::{AsyncMisuse, Asynchronous};
use model::isa::fence::{FenceOrder, ProxyFence};
use model::isa::{Guard, Instruction, Type};
use model::memory::Extent;
use model::program::{AwaitedObject, CountedLoops, Launch, Program, ThreadId};
use model::rel::Conventions;
use model::value::{self, Value};

/// What a path assumes of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// Zero is false.
    Truth(ExprId, bool),
    Equals(ExprId, Value),
    NoneOf(ExprId, Vec<Value>),
}

impl Assumption {
    /// The value that it is about.
    pub fn expr(&self) -> ExprId {
        match self {
            Assumption::Truth(expr, _)
            | Assumption::Equals(expr, _)
            | Assumption::NoneOf(expr, _) => *expr,
        }
    }

    /// Whether it holds where its expression has this value.
    pub fn holds(&self, value: Value) -> bool {
        match self {
            Assumption::Truth(_, expected) => (value != 0) == *expected,
            Assumption::Equals(_, expected) => value == *expected,
            Assumption::NoneOf(_, values) => !values.contains(&value),
        }
    }

    /// The read that it demands a value of, where it says so plainly: the read, its value, and how
    /// many low bits of it are compared.
    pub fn equates(&self, exprs: &Exprs) -> Option<(u16, Value, u16)> {
        match self {
            Assumption::Truth(expr, expected) => equality(exprs, *expr, *expected),
            Assumption::Equals(expr, value) => {
                exprs.as_read(*expr).map(|read| (read, *value, value::BITS))
            }
            Assumption::NoneOf(..) => None,
        }
    }
}

/// `read == constant`, compared in this many bits.
fn equality(exprs: &Exprs, expr: ExprId, expected: bool) -> Option<(u16, Value, u16)> {
    let Expr::Alu { op: AluOp::Setp(comparison), ty, a, b, .. } = exprs.get(expr) else {
        return None;
    };
    let equal = match comparison {
        Comparison::Eq => expected,
        Comparison::Ne => !expected,
        Comparison::Lt | Comparison::Le | Comparison::Gt | Comparison::Ge => false,
    };
    let (read, value) = match (exprs.as_read(a), exprs.as_const(b)) {
        (Some(read), Some(value)) => (read, value),
        _ => (exprs.as_read(b)?, exprs.as_const(a)?),
    };
    equal.then_some((read, value, ty.bits))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathEnd {
    Finished,
    /// The loop bound was reached.
    Cut,
    /// The last iteration of a loop changed nothing: the thread repeats it for ever if its reads
    /// return the same again.
    Spins {
        /// The first event of that iteration.
        from: u16,
        /// The line that jumps back.
        line: u16,
    },
    /// What follows is left out, as another path has its outcomes: [`Program::omits_covered`].
    Covered,
    /// The thread waits at a barrier that never completes, or at an mbarrier object.
    Waits {
        object: Option<AwaitedObject>,
        line: u16,
    },
    /// The thread did something without meaning: why, and in which line.
    Fault {
        reason: &'static str,
        line: u16,
    },
}

/// A guard, a conditional branch or a `cas` on a path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Decision {
    /// Index into [`model::program::Thread::lines`].
    pub line: u16,
    /// Whether the instruction is executed, the branch taken, the `cas` successful.
    pub holds: bool,
    /// Index into [`Path::checks`] if a read decides it.
    pub check: Option<u16>,
    /// Whether it depends on a read, also on one that an earlier check is of.
    pub depends: bool,
}

#[derive(Clone, Debug)]
pub struct Path {
    pub exprs: Exprs,
    pub events: Vec<PathEvent>,
    pub checks: Vec<Assumption>,
    /// What the path decided, in order.
    pub decisions: Vec<Decision>,
    /// The results of comparisons that depend on reads, each with its line.
    pub compared: Vec<(u16, ExprId)>,
    /// The value of each register at the end.
    pub registers: Vec<ExprId>,
    /// The accesses to bytes that no other thread accesses: [`Program::contested`].
    pub private: Vec<PrivateAccess>,
    /// The final values of such bytes of [`Program::observed`] that the path writes.
    pub finals: Vec<PrivateFinal>,
    pub end: PathEnd,
    /// Whether a branch or a guard led the thread past an aligned barrier.
    pub passed_over: bool,
    /// What might have changed mbarrier objects, and did not: reading R49.
    pub skipped: Vec<SkippedOperation>,
    /// The iterations that have barriers and change nothing. None overlap.
    pub rounds: Vec<Round>,
    /// The first thread with the same code.
    pub code: ThreadId,
}

/// An operation that might have changed mbarrier objects, and changed none or another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkippedOperation {
    /// How many events of the path are before it.
    pub before: u16,
    /// The objects that it might have changed; `None` if it may be any.
    pub objects: Option<Vec<Extent>>,
    /// What decided it.
    pub taint: Mask,
}

impl SkippedOperation {
    pub fn may_be_on(&self, object: Extent) -> bool {
        self.objects.as_ref().is_none_or(|all| all.contains(&object))
    }
}

impl Path {
    /// Whether a read decides that an operation on an mbarrier object is skipped.
    pub fn skips(&self) -> bool {
        self.skipped.iter().any(|skipped| skipped.taint != 0)
    }

    /// Whether what others may wait for depends on a read.
    pub fn arrivals_depend(&self) -> bool {
        let depends = |of: &PathEvent| of.may_be_awaited() && of.depends_on() != 0;
        self.skips() || self.events.iter().any(depends)
    }

    /// As far as its first `events` events, with another end.
    pub fn until(&self, events: usize, end: PathEnd) -> Path {
        let known = |check: &&Assumption| {
            let mut known = true;
            self.exprs.leaves(check.expr(), &mut |leaf| match leaf {
                Expr::Read(of) | Expr::Reduced(of) => known &= usize::from(of) < events,
                Expr::Const(_) | Expr::Alu { .. } | Expr::Atomic { .. } | Expr::Extend { .. } => {}
            });
            known
        };
        Path {
            exprs: self.exprs.clone(),
            events: self.events[..events].to_vec(),
            checks: self.checks.iter().filter(known).cloned().collect(),
            // The checks are counted anew.
            decisions: Vec::new(),
            compared: Vec::new(),
            registers: self.registers.clone(),
            private: self.private.clone(),
            finals: self.finals.clone(),
            end,
            passed_over: self.passed_over,
            skipped: self
                .skipped
                .iter()
                .filter(|skipped| usize::from(skipped.before) <= events)
                .cloned()
                .collect(),
            rounds: self
                .rounds
                .iter()
                .filter(|round| usize::from(round.end) <= events)
                .copied()
                .collect(),
            code: self.code,
        }
    }
}

impl Path {
    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        size_of::<Path>()
            + self.exprs.bytes()
            + size_of_val(&*self.events)
            + size_of_val(&*self.checks)
            + size_of_val(&*self.decisions)
            + size_of_val(&*self.compared)
            + size_of_val(&*self.registers)
            + size_of_val(&*self.private)
    }
}

/// Paths beyond which a thread is given up.
const MAX_PATHS: usize = 20_000;
/// Paths beyond which loops that no read decides are unrolled up to the bound, as other loops are: with forks in it, each
/// iteration multiplies them.
const MOST_BEYOND: usize = 256;
/// What fits in a [`Mask`].
pub(crate) const MAX_EVENTS: usize = 128;
/// Instructions beyond which a path is not followed: code without a loop seldom gets there.
const MAX_STEPS: u16 = 4096;

/// How loops are followed.
#[derive(Clone, Copy)]
pub struct LoopRule {
    /// How often each is unrolled.
    pub bound: u32,
    /// Whether a path ends with this many iterations that have barriers and change nothing, as all who take part in them may
    /// be in such iterations.
    pub rounds: Option<usize>,
    /// Whether iterations that change nothing are left out, and how many of them a path may have all the same.
    pub omits: bool,
    pub silent: u32,
    /// What is done with those whose number of iterations no read decides.
    pub counted: CountedLoops,
    /// Where paths are cut besides.
    pub cut: Option<PathCut>,
}

impl LoopRule {
    /// What is done with loops first.
    pub fn of(program: &Program, conventions: Conventions, bound: u32) -> LoopRule {
        LoopRule {
            bound,
            rounds: None,
            omits: !conventions.counts_iterations,
            silent: 0,
            counted: program.counted_loops,
            cut: None,
        }
    }
}

/// Lists the paths of `thread`.
pub fn paths(
    program: &Program,
    layout: &Layout,
    facts: &LoopFacts<'_>,
    thread: ThreadId,
    conventions: Conventions,
    loops: LoopRule,
    ends: Ends<'_>,
) -> Result<Vec<Path>, UnfoldLimit> {
    let listed = |loops| listed(program, layout, facts, thread, conventions, loops, ends);
    if let Some(all) = listed(loops)? {
        return Ok(all);
    }
    let all = listed(LoopRule { counted: CountedLoops::Bounded, ..loops })?;
    Ok(all.expect("no loop is followed beyond its bound"))
}

/// As above, but `None` if following loops past the bound gives too many paths.
fn listed(
    program: &Program,
    layout: &Layout,
    facts: &LoopFacts<'_>,
    thread: ThreadId,
    conventions: Conventions,
    loops: LoopRule,
    ends: Ends<'_>,
) -> Result<Option<Vec<Path>>, UnfoldLimit> {
    let source = &program.threads[usize::from(thread.0)];
    let live = facts.liveness(program, layout, thread);
    let joins = joins(program, source);
    let mut walk = Walk {
        program,
        layout,
        thread,
        code: code_of(program, thread),
        conventions,
        loops,
        live,
        facts,
        is_beyond: false,
        contents: OnceCell::new(),
        pending: PendingPaths::new(!joins.is_empty()),
        done: Vec::new(),
        joins,
        arrivals: Arrivals::default(),
        multiplies: source.lines.iter().any(|line| {
            matches!(line.instruction.as_asynchronous(), Some(Asynchronous::Multiply(_)))
        }),
        polls: if loops.omits && !program.omits_covered {
            polls::repeated(source, &|| live::registers(program, layout, thread))
        } else {
            Vec::new()
        },
    };
    let mut exprs = Exprs::default();
    let registers = source
        .registers
        .iter()
        .map(|register| exprs.constant(layout.initial(register.initial)))
        .collect();
    let mut begun = PathState {
        pc: 0,
        step: 0,
        exprs,
        registers,
        taint: vec![0; source.registers.len()],
        ctrl: 0,
        skipped: Vec::new(),
        events: Vec::new(),
        checks: Vec::new(),
        decisions: Vec::new(),
        compared: Vec::new(),
        memory: Vec::new(),
        trace: Vec::new(),
        visits: BTreeMap::new(),
        heads: Vec::new(),
        silent: 0,
        rounds: Vec::new(),
        passed_over: false,
        groups: state::AsyncGroups::default(),
    };
    let launched = |launch: &Launch| launch.after == source.placement.kernel;
    if program.launches.iter().any(launched) && !source.lines.is_empty() {
        begun.push(EventKind::KernelStart, Tags::of(&[Tag::All, Tag::KernelStart]), 0);
    }
    walk.pending.push(begun);
    let (mut held, mut known) = (0, 0);
    while let Some(state) = walk.pending.pop() {
        walk.run(state)?;
        let paths = walk.done.len() + walk.pending.len();
        if loops.cut.is_some_and(|cut| paths >= cut.paths) {
            while let Some(state) = walk.pending.pop() {
                walk.finish(state, PathEnd::Cut);
            }
        }
        if walk.is_beyond && paths > MOST_BEYOND {
            return Ok(None);
        }
        if paths > MAX_PATHS {
            return Err(UnfoldLimit::Paths);
        }
        held += walk.done[known..].iter().map(Path::bytes).sum::<usize>();
        known = walk.done.len();
        // Those that are still to be gone on from are no longer.
        if let Some(limit) = ends(held + walk.pending.bytes()) {
            return Err(limit);
        }
    }
    // The stack lists later forks first.
    walk.done.reverse();
    if conventions.semantic_dependencies {
        semantic::keep_semantic(&mut walk.done, conventions.shown_dependencies, &|more| {
            ends(held + more)
        })?;
    }
    Ok(Some(walk.done))
}

/// The first thread with the same code.
fn code_of(program: &Program, thread: ThreadId) -> ThreadId {
    let own = &program.threads[usize::from(thread.0)];
    let mut before = (0..thread.0).zip(&program.threads);
    before.find(|(_, other)| other.has_code_of(own)).map_or(thread, |(first, _)| ThreadId(first))
}

struct Walk<'a> {
    program: &'a Program,
    layout: &'a Layout,
    thread: ThreadId,
    code: ThreadId,
    conventions: Conventions,
    loops: LoopRule,
    live: Rc<Liveness>,
    facts: &'a LoopFacts<'a>,
    /// Whether some path has followed a loop beyond the bound.
    is_beyond: bool,
    /// What memory may hold; computed at the first use, and nothing where the program does not say.
    contents: OnceCell<Option<MemoryContents>>,
    /// Where longer paths are left out, the shorter ones are first.
    pending: PendingPaths,
    done: Vec<Path>,
    /// The lines at which paths meet, if longer ones are left out there.
    joins: BTreeSet<usize>,
    arrivals: Arrivals,
    /// Whether the thread has a `wgmma`.
    multiplies: bool,
    /// For each line, that of the last of the equal polls that begin there; empty if there are none.
    polls: Vec<Option<usize>>,
}

/// What becomes of a state after one instruction.
enum Next {
    Go,
    /// The path is listed, impossible, or adds nothing.
    Stop,
    Limit(UnfoldLimit),
}

impl Walk<'_> {
    fn run(&mut self, mut state: PathState) -> Result<(), UnfoldLimit> {
        let lines = self.program.threads[usize::from(self.thread.0)].lines.len();
        loop {
            if self.joins.contains(&state.pc.min(lines)) {
                if self.pending.has_fewer(state.events.len()) {
                    self.pending.push(state);
                    return Ok(());
                }
                if self.is_covered(&state) {
                    self.finish(state, PathEnd::Covered);
                    return Ok(());
                }
            }
            if state.pc >= lines {
                self.finish(state, PathEnd::Finished);
                return Ok(());
            }
            let cut = self.loops.cut;
            let most = cut.map_or(usize::MAX, |cut| cut.events).min(MAX_EVENTS - 8);
            let is_long = state.events.len() > most;
            if is_long || state.step >= MAX_STEPS {
                if self.is_beyond || cut.is_some() {
                    self.finish(state, PathEnd::Cut);
                    return Ok(());
                }
                return Err(if is_long { UnfoldLimit::Events } else { UnfoldLimit::Steps });
            }
            // A fork over addresses repeats its instruction, in the same step.
            if self.live.is_head(state.pc)
                && state.heads.last().is_none_or(|of| of.step != state.step)
            {
                if self.live.is_load(state.pc) && self.comes_back(&mut state) {
                    return Ok(());
                }
                state.note_head();
            }
            state.pc = self.polls.get(state.pc).copied().flatten().unwrap_or(state.pc);
            match self.step(&mut state) {
                Next::Go => {}
                Next::Stop => return Ok(()),
                Next::Limit(limit) => return Err(limit),
            }
            state.step += 1;
        }
    }

    fn finish(&mut self, mut state: PathState, end: PathEnd) {
        let finals = self.private_finals(&mut state);
        let PathState { exprs, events, checks, decisions, compared, registers, .. } = state;
        let (private, passed_over, skipped) = (state.trace, state.passed_over, state.skipped);
        let rounds = state.rounds;
        self.done.push(Path {
            exprs,
            events,
            checks,
            decisions,
            compared,
            registers,
            private,
            finals,
            end,
            passed_over,
            skipped,
            rounds,
            code: self.code,
        });
    }

    fn step(&mut self, state: &mut PathState) -> Next {
        let program = self.program;
        let line = &program.threads[usize::from(self.thread.0)].lines[state.pc];
        let mut guard_taint = 0;
        if let Some(guard) = line.guard {
            guard_taint = state.taint[usize::from(guard.predicate.0)];
            if !self.executes(state, guard) {
                self.skip(state, guard_taint);
                return Next::Go;
            }
        }
        if self.multiplies && Self::misuses_registers(state, &line.instruction) {
            self.stop(state, AsyncMisuse::Register.text());
            return Next::Stop;
        }
        match &line.instruction {
            Instruction::Branch(branch) => {
                if !self.takes(state, branch) {
                    self.note_branch(state, branch.target, false);
                    state.pc += 1;
                    return Next::Go;
                }
                state.ctrl |= guard_taint;
                return self.jump(state, branch.target);
            }
            Instruction::Load(load) => {
                let use_ = AddressUse::of_load(load);
                let Some((accesses, at)) = self.address(state, load.address, &use_) else {
                    return Next::Stop;
                };
                self.load(state, load, accesses, at, guard_taint);
            }
            Instruction::Store(store) => {
                let use_ = AddressUse::of_store(store);
                let Some((accesses, at)) = self.address(state, store.address, &use_) else {
                    return Next::Stop;
                };
                self.store(state, store, accesses, at, guard_taint);
            }
            Instruction::Atomic(atomic) => {
                let use_ = AddressUse::of_atomic(atomic);
                let Some((accesses, at)) = self.address(state, atomic.address, &use_) else {
                    return Next::Stop;
                };
                self.atomic(state, atomic, accesses[0], at, guard_taint);
            }
            Instruction::Fence(fence) => {
                let order = match fence.order {
                    FenceOrder::Acquire => Tag::FenceAcquire,
                    FenceOrder::Release => Tag::FenceRelease,
                    FenceOrder::AcqRel => Tag::FenceAcqRel,
                    FenceOrder::Sc => Tag::FenceSc,
                };
                let mut tags = Tags::of(&[Tag::All, Tag::Fence, order, scope_tag(fence.scope)]);
                if fence.aliases {
                    let releases = fence.order == FenceOrder::Release;
                    let half = if releases { Tag::AliasRelease } else { Tag::AliasAcquire };
                    tags = tags.with(half);
                }
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
            Instruction::Asynchronous(of) => {
                if let Some(changed) = line.instruction.changed_object() {
                    self.skip_mbarrier(state, changed, 0);
                }
                return self.asynchronous(state, of, guard_taint);
            }
            Instruction::Alu(alu) => {
                if !self.compute(state, alu, guard_taint) {
                    return Next::Stop;
                }
            }
            Instruction::Cvta(cvta) => {
                let (source, taint) = self.operand(state, cvta.source);
                let Some(value) = self.converted(state, cvta, source) else {
                    return Next::Stop;
                };
                state.set(cvta.destination, value, guard_taint | taint);
            }
            // Checked for before anything is unfolded.
            Instruction::Unsupported(_) => {}
        }
        state.pc += 1;
        Next::Go
    }

    /// Whether a guarded instruction is executed; forks where that depends on a read.
    fn executes(&mut self, state: &mut PathState, guard: Guard) -> bool {
        let predicate = state.registers[usize::from(guard.predicate.0)];
        if let Some(value) = self.decided(state, predicate) {
            let holds = value != guard.negated;
            let taint = state.taint[usize::from(guard.predicate.0)];
            state.decide_known(holds, taint);
            return holds;
        }
        let mut skipped = state.clone();
        skipped.decide(false, Some(Assumption::Truth(predicate, guard.negated)));
        self.skip(&mut skipped, state.taint[usize::from(guard.predicate.0)]);
        self.pending.push(skipped);
        state.decide(true, Some(Assumption::Truth(predicate, !guard.negated)));
        true
    }

    /// Whether a branch with a comparison of its own is taken; forks where that depends on a read.
    fn takes(&mut self, state: &mut PathState, branch: &Branch) -> bool {
        let Some((comparison, a, b)) = branch.condition else { return true };
        let (a, b) = (self.operand(state, a), self.operand(state, b));
        state.ctrl |= a.1 | b.1;
        let holds = state.exprs.alu(AluOp::Setp(comparison), Type::U64, &[a.0, b.0]);
        if let Some(value) = self.decided(state, holds) {
            state.decide_known(value, a.1 | b.1);
            return value;
        }
        let mut other = state.clone();
        other.decide(false, Some(Assumption::Truth(holds, false)));
        self.note_branch(&mut other, branch.target, false);
        other.pc += 1;
        other.step += 1;
        self.pending.push(other);
        state.decide(true, Some(Assumption::Truth(holds, true)));
        true
    }

    /// Passes over a guarded instruction; what it would have written now depends on its guard.
    fn skip(&self, state: &mut PathState, guard_taint: Mask) {
        let line = &self.program.threads[usize::from(self.thread.0)].lines[state.pc];
        if let Instruction::Branch(branch) = &line.instruction {
            state.ctrl |= guard_taint;
            self.note_branch(state, branch.target, false);
        } else {
            state.passed_over |= self.aligned_between(state.pc, state.pc + 1);
        }
        if let Some(of) = line.instruction.changed_object() {
            self.skip_mbarrier(state, of, guard_taint);
        }
        for register in line.instruction.destinations() {
            state.taint[usize::from(register.0)] |= guard_taint;
        }
        state.pc += 1;
    }

    /// Ends the path of a state with a fault.
    fn stop(&mut self, state: &mut PathState, reason: &'static str) {
        let stopped = std::mem::replace(state, PathState::empty());
        self.fault(stopped, reason);
    }

    fn fault(&mut self, state: PathState, reason: &'static str) {
        let line = u16::try_from(state.pc).expect("a thread has few lines");
        self.finish(state, PathEnd::Fault { reason, line });
    }
}
