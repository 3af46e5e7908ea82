//! The state of a path during symbolic execution.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::private::{PrivateAccess, PrivateWrite};
use super::{Assumption, Decision, Round, SkippedOperation};
use crate::event::{Access, EventKind, FenceCoverage, Mask, PathEvent, Tags};
use crate::expr::{ExprId, Exprs};
use model::given::Tag;
use model::isa::alu::{AluOp, Comparison};
use model::isa::asynchronous::{GroupKind, MultiplyShape};
use model::isa::tensor_memory::CtaGroup;
use model::isa::{Reg, Type};
use model::memory::Proxy;
use model::scope::Scope;
use model::value::Value;

#[derive(Clone)]
pub(super) struct PathState {
    pub(super) pc: usize,
    pub(super) step: u16,
    pub(super) exprs: Exprs,
    pub(super) registers: Vec<ExprId>,
    pub(super) taint: Vec<Mask>,
    pub(super) ctrl: Mask,
    pub(super) skipped: Vec<SkippedOperation>,
    pub(super) events: Vec<PathEvent>,
    pub(super) checks: Vec<Assumption>,
    pub(super) decisions: Vec<Decision>,
    /// As of [`super::Path::compared`].
    pub(super) compared: Vec<(u16, ExprId)>,
    /// The writes to private bytes, oldest first. None is covered by a later one.
    pub(super) memory: Vec<PrivateWrite>,
    /// The accesses to private bytes.
    pub(super) trace: Vec<PrivateAccess>,
    /// The jumps back to lines. Others than these are not in it: a state is copied at each fork, and a thread may have many lines.
    pub(super) visits: BTreeMap<usize, Visits>,
    /// Loop heads since the last store, or atomic that changed something.
    pub(super) heads: Vec<LoopHead>,
    /// Iterations that changed nothing and are part of the path.
    pub(super) silent: u32,
    /// As of [`super::Path::rounds`].
    pub(super) rounds: Vec<Round>,
    /// Whether a condition led the thread past an aligned barrier.
    pub(super) passed_over: bool,
    pub(super) groups: AsyncGroups,
}

/// The asynchronous operations of a path, in groups.
#[derive(Clone, Default)]
pub(super) struct AsyncGroups {
    /// Committed groups of each kind, oldest first, each with its events.
    pub(super) committed: BTreeMap<GroupKind, Vec<Mask>>,
    /// The events of each kind that are in no group yet.
    pub(super) open: BTreeMap<GroupKind, Mask>,
    /// The events of all `cp.async` so far.
    pub(super) copies: Mask,
    /// The events before this index are ordered before what a `wgmma` reads.
    pub(super) fenced: u16,
    pub(super) registers: MultiplyRegisters,
    pub(super) tensor: TensorGroups,
}

/// The registers of `wgmma` in a path, as far as their accesses have to be ordered.
#[derive(Clone, Default)]
pub(super) struct MultiplyRegisters {
    /// Whether the thread has had a `wgmma.fence`.
    pub(super) fenced: bool,
    /// The registers that have been accessed since the last `wgmma.fence`.
    pub(super) accessed: BTreeMap<Reg, RegisterAccess>,
    /// The registers of operations that nobody has waited for, and the events of these.
    pub(super) pending: Vec<PendingRegister>,
}

/// What accessed a register.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RegisterAccess {
    Instruction,
    /// A `wgmma` of this shape, as its accumulator.
    Accumulator(MultiplyShape),
    /// A `wgmma`, as a fragment of its matrix A.
    Fragment,
}

#[derive(Clone, Copy)]
pub(super) struct PendingRegister {
    pub(super) register: Reg,
    pub(super) accumulator: bool,
    pub(super) events: Mask,
}

/// The operations on tensor memory so far, by what waits for them.
#[derive(Clone, Default)]
pub(super) struct TensorGroups {
    pub(super) loads: Mask,
    pub(super) stores: Mask,
    /// What a `tcgen05.commit` of each group of CTAs waits for.
    pub(super) others: BTreeMap<CtaGroup, Mask>,
}

/// The states from which paths go on.
pub(super) struct PendingPaths {
    /// Take the shortest pending path first; otherwise the most recent.
    shortest_first: bool,
    all: BTreeMap<(usize, u16, usize), PendingPath>,
    count: usize,
    /// Bytes that they take.
    held: usize,
}

/// A state, and what is assumed besides. Forks of one state share it until they are gone on from.
struct PendingPath {
    of: Rc<SharedState>,
    check: Option<Assumption>,
}

struct SharedState {
    state: PathState,
    bytes: usize,
}

impl PendingPaths {
    pub(super) fn new(shortest_first: bool) -> PendingPaths {
        PendingPaths { shortest_first, all: BTreeMap::new(), count: 0, held: 0 }
    }

    pub(super) fn push(&mut self, state: PathState) {
        let of = self.shared(state);
        self.add(PendingPath { of, check: None });
    }

    /// Adds a fork of a state for each of these assumptions.
    pub(super) fn fork(&mut self, state: &PathState, checks: impl Iterator<Item = Assumption>) {
        let mut checks = checks.peekable();
        if checks.peek().is_some() {
            let of = self.shared(state.clone());
            for check in checks {
                self.add(PendingPath { of: Rc::clone(&of), check: Some(check) });
            }
        }
    }

    fn shared(&mut self, state: PathState) -> Rc<SharedState> {
        let bytes = state.bytes();
        self.held += bytes;
        Rc::new(SharedState { state, bytes })
    }

    fn add(&mut self, pending: PendingPath) {
        let state = &pending.of.state;
        let (events, step) =
            if self.shortest_first { (state.events.len(), state.step) } else { (0, 0) };
        self.all.insert((events, step, self.count), pending);
        self.count += 1;
        self.held += size_of::<PendingPath>();
    }

    pub(super) fn pop(&mut self) -> Option<PathState> {
        let next = if self.shortest_first { self.all.pop_first() } else { self.all.pop_last() };
        let (_, PendingPath { of, check }) = next?;
        self.held -= size_of::<PendingPath>();
        let mut state = match Rc::try_unwrap(of) {
            Ok(SharedState { state, bytes }) => {
                self.held -= bytes;
                state
            }
            Err(of) => of.state.clone(),
        };
        state.checks.extend(check);
        Some(state)
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// About how many bytes they take.
    pub(super) fn bytes(&self) -> usize {
        self.held
    }

    /// Whether one has fewer events, where these are next.
    pub(super) fn has_fewer(&self, events: usize) -> bool {
        self.all.first_key_value().is_some_and(|((fewest, ..), _)| *fewest < events)
    }
}

/// The jumps of a path back to one line.
#[derive(Clone, Copy, Default)]
pub(super) struct Visits {
    pub(super) times: u32,
    /// How many decisions there were before the last one.
    pub(super) decisions: usize,
    /// How many events.
    pub(super) events: usize,
}

/// A state at the head of a loop, or before a load in one.
#[derive(Clone)]
pub(super) struct LoopHead {
    pub(super) line: usize,
    pub(super) registers: Rc<[ExprId]>,
    pub(super) taint: Rc<[Mask]>,
    pub(super) step: u16,
    /// How many events came before.
    pub(super) events: usize,
    pub(super) passed_over: bool,
}

/// The address of an instruction: how it is computed, and what it depends on.
#[derive(Clone, Copy)]
pub(super) struct ComputedAddress {
    pub(super) sum: ExprId,
    pub(super) taint: Mask,
}

impl PathEvent {
    pub(super) fn locate(&mut self, access: Access, at: ComputedAddress) {
        self.access = Some(access);
        self.address = Some(at.sum);
        self.addr = at.taint;
    }
}

impl PathState {
    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let heads = self.heads.iter().map(|head| {
            size_of::<LoopHead>() + size_of_val(&*head.registers) + size_of_val(&*head.taint)
        });
        size_of::<PathState>()
            + self.exprs.bytes()
            + size_of_val(&*self.registers)
            + size_of_val(&*self.taint)
            + size_of_val(&*self.events)
            + size_of_val(&*self.checks)
            + size_of_val(&*self.decisions)
            + size_of_val(&*self.compared)
            + size_of_val(&*self.memory)
            + size_of_val(&*self.trace)
            + size_of::<(usize, Visits)>() * self.visits.len()
            + heads.sum::<usize>()
    }

    pub(super) fn empty() -> PathState {
        PathState {
            pc: 0,
            step: 0,
            exprs: Exprs::default(),
            registers: Vec::new(),
            taint: Vec::new(),
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
            groups: AsyncGroups::default(),
        }
    }

    /// A value that is constant, or that the path already assumes to be.
    pub(super) fn known(&self, value: ExprId) -> Option<Value> {
        self.exprs.as_const(value).or_else(|| {
            self.checks.iter().find_map(|check| match check {
                Assumption::Equals(of, known) if *of == value => Some(*known),
                Assumption::Equals(..) | Assumption::Truth(..) | Assumption::NoneOf(..) => None,
            })
        })
    }

    /// The same for a condition.
    pub(super) fn truth(&self, value: ExprId) -> Option<bool> {
        self.exprs.as_const(value).map(|value| value != 0).or_else(|| {
            self.checks.iter().find_map(|check| match check {
                Assumption::Truth(of, known) if *of == value => Some(*known),
                Assumption::Truth(..) | Assumption::Equals(..) | Assumption::NoneOf(..) => None,
            })
        })
    }

    pub(super) fn note_head(&mut self) {
        self.heads.push(LoopHead {
            line: self.pc,
            registers: Rc::from(&*self.registers),
            taint: Rc::from(&*self.taint),
            step: self.step,
            events: self.events.len(),
            passed_over: self.passed_over,
        });
    }

    /// Records what the current line decides, with the assumption if a read decides it.
    pub(super) fn decide(&mut self, holds: bool, assumption: Option<Assumption>) {
        let index = |of: usize| u16::try_from(of).expect("paths and threads are short");
        let depends = assumption.is_some();
        let check = depends.then(|| index(self.checks.len()));
        self.decisions.push(Decision { line: index(self.pc), holds, check, depends });
        self.checks.extend(assumption);
    }

    /// The same where the path knows what is decided, which depends on these reads.
    pub(super) fn decide_known(&mut self, holds: bool, taint: Mask) {
        self.decide(holds, None);
        if let Some(last) = self.decisions.last_mut() {
            last.depends = taint != 0;
        }
    }

    /// Records the result of the comparison of the current line, if it depends on a read.
    pub(super) fn note_comparison(&mut self, value: ExprId) {
        if self.exprs.as_const(value).is_none() {
            let line = u16::try_from(self.pc).expect("a thread has few lines");
            self.compared.push((line, value));
        }
    }

    pub(super) fn set(&mut self, register: Reg, value: ExprId, taint: Mask) {
        self.registers[usize::from(register.0)] = value;
        self.taint[usize::from(register.0)] = taint;
    }

    pub(super) fn push(&mut self, kind: EventKind, tags: Tags, guard: Mask) -> u16 {
        let index = u16::try_from(self.events.len()).expect("a path has few events");
        self.events.push(PathEvent {
            line: u16::try_from(self.pc).expect("a thread has few lines"),
            step: self.step,
            kind,
            tags,
            access: None,
            address: None,
            value: None,
            rmw: None,
            element: false,
            addr: 0,
            data: 0,
            ctrl: self.ctrl | guard,
            barrier: None,
            mbarrier: None,
            part: None,
            completes: 0,
            covers: FenceCoverage::Everything,
            tensor: None,
        });
        index
    }

    pub(super) fn last(&mut self) -> &mut PathEvent {
        self.events.last_mut().expect("an event was just pushed")
    }

    /// The write half of the atomic whose read is event `read`.
    pub(super) fn written_back(
        &mut self,
        access: Access,
        at: ComputedAddress,
        guard: Mask,
        value: ExprId,
        data: Mask,
        read: u16,
    ) {
        let write = self.push(EventKind::Write, Tags::default(), guard);
        let event = self.last();
        event.locate(access, at);
        event.data = data;
        event.value = Some(value);
        event.rmw = Some(read);
        self.events[usize::from(read)].rmw = Some(write);
    }
}

/// Whether a `cas` finds what it expects.
pub(super) fn cas_succeeds(
    state: &mut PathState,
    ty: Type,
    old: ExprId,
    expected: ExprId,
) -> ExprId {
    state.exprs.alu(AluOp::Setp(Comparison::Eq), ty, &[old, expected])
}

pub(super) fn scope_tag(scope: Scope) -> Tag {
    match scope {
        Scope::Cta => Tag::ScopeCta,
        Scope::Cluster => Tag::ScopeCluster,
        Scope::Gpu => Tag::ScopeGpu,
        Scope::Sys => Tag::ScopeSys,
    }
}

pub(super) fn proxy_tag(proxy: Proxy) -> Tag {
    match proxy {
        Proxy::Generic => Tag::Generic,
        Proxy::Texture => Tag::Texture,
        Proxy::Surface => Tag::Surface,
        Proxy::Constant => Tag::Constant,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_share_their_state() {
        for shortest_first in [false, true] {
            let mut pending = PendingPaths::new(shortest_first);
            let mut state = PathState::empty();
            let value = state.exprs.constant(1);
            state.registers = vec![value; 1_000];
            let checks = || (0..100).map(|number| Assumption::Equals(value, number));
            pending.fork(&state, checks());
            assert!(pending.bytes() < 4 * state.bytes(), "{}", pending.bytes());
            let all: Vec<PathState> = std::iter::from_fn(|| pending.pop()).collect();
            assert_eq!((all.len(), pending.bytes()), (100, 0));
            let mut assumed: Vec<Assumption> = all.into_iter().flat_map(|of| of.checks).collect();
            if !shortest_first {
                assumed.reverse();
            }
            assert_eq!(assumed, checks().collect::<Vec<_>>());
        }
    }
}
