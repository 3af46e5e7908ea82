//! Operations on mbarrier objects as events of a path.

use std::ops::RangeInclusive;

use super::address::AddressUse;
use super::cancel::EVERY_CTA;
use super::state::{ComputedAddress, PathState, scope_tag};
use super::{Next, SkippedOperation, UnfoldLimit, Walk};
use crate::event::{Access, EventKind, Mask, MbarrierStep, MbarrierUse, Tags, WaitPhase};
use crate::expr::ExprId;
use model::given::Tag;
use model::isa::alu::AluOp;
use model::isa::asynchronous::{
    AsyncMisuse, Asynchronous, AwaitedPhase, Mbarrier, MbarrierOp, PendingCount, Track,
};
use model::isa::roles::AccessedPlace;
use model::isa::{Address, Instruction, Operand, Reg, SpaceQualifier, Type};
use model::memory::{Extent, MBARRIER_BYTES};
use model::value::{Value, low64};

/// The largest count of an mbarrier object of any layout, and the bound of its tx-count: 9.7.15.16.
const MOST: u64 = (1 << 20) - 1;

/// The values of the opaque states that arrivals return: this, the pending count if it may be read, and the index of the
/// arrival.
const STATE: Value = 0x6d62_6172_0000_0000;
/// The lowest bit of that count.
const COUNT_BIT: u32 = 16;
/// The largest pending count that is tried: each is a path.
const MOST_COUNTS: u64 = 64;

impl Walk<'_> {
    pub(super) fn mbarrier(&mut self, state: &mut PathState, of: &Mbarrier, guard: Mask) -> Next {
        // Other CTAs of the cluster may only arrive, and count bytes: 9.7.15.16.
        let remote = matches!(
            of.op,
            MbarrierOp::Arrive { state: None, .. }
                | MbarrierOp::ExpectTx { .. }
                | MbarrierOp::CompleteTx { .. }
        );
        let Some(object) = self.object(state, of.object, of.space, !remote) else {
            return Next::Stop;
        };
        let (step, done) = match of.op {
            MbarrierOp::Init { count, layout } => {
                let count = self.number(state, count);
                let range = 1..=layout.most_arrivals();
                let Some(count) = self.within(state, count, range) else { return Next::Stop };
                (MbarrierStep::Init { count, layout }, None)
            }
            MbarrierOp::CheckLayout { layout, holds } => {
                let tags = Tags::of(&[Tag::All, Tag::Mbarrier]);
                let mut other = state.clone();
                for (state, returned) in [(&mut other, false), (&mut *state, true)] {
                    let step = MbarrierStep::CheckLayout { layout, returned };
                    Self::push_step(state, tags, (object, step), guard);
                    state.heads.clear();
                    Self::returns(state, holds, returned, guard);
                }
                self.pending.push(other);
                return Next::Go;
            }
            MbarrierOp::Invalidate => (MbarrierStep::Invalidate, None),
            MbarrierOp::ExpectTx { bytes } | MbarrierOp::CompleteTx { bytes } => {
                let bytes = self.number(state, bytes);
                let Some(bytes) = self.in_range(state, bytes, 0) else { return Next::Stop };
                let lowers = matches!(of.op, MbarrierOp::CompleteTx { .. });
                let bytes = i64::try_from(bytes).expect("it is below the bound");
                (MbarrierStep::Tx(if lowers { -bytes } else { bytes }), None)
            }
            MbarrierOp::Arrive { count, expected, drops, completes, state: destination } => {
                let count = self.number(state, count);
                let expected = expected.map(|expected| self.number(state, expected));
                let Some(count) = self.in_range(state, count, 1) else { return Next::Stop };
                let Some(expected) = self.in_range(state, expected.unwrap_or(0), 0) else {
                    return Next::Stop;
                };
                let expected = i64::try_from(expected).expect("it is below the bound");
                let step =
                    MbarrierStep::Arrive { count, expected, drops, completes, pending: None };
                (step, destination)
            }
            MbarrierOp::Wait { phase, tries, done } => {
                return self.wait(state, of, (object, phase, tries, done), guard);
            }
        };
        let tags = if let MbarrierOp::Init { .. } = of.op {
            Tags::of(&[Tag::All, Tag::MbarrierInit])
        } else if of.op == MbarrierOp::Invalidate {
            Tags::of(&[Tag::All, Tag::MbarrierInval])
        } else {
            let tags = Tags::of(&[Tag::All, Tag::Mbarrier, scope_tag(of.scope)]);
            if of.synchronizes { tags.with(Tag::Release) } else { tags }
        };
        let counts = match self.counts_of(object.0, step, done) {
            Ok(counts) => counts,
            Err(limit) => return Next::Limit(limit),
        };
        // Another execution for each count that the arrival may find.
        for count in counts.iter().skip(1) {
            let mut other = state.clone();
            other.step += 1;
            Self::arrive(&mut other, tags, (object, step.finding(*count)), done, guard);
            self.pending.push(other);
        }
        let step = counts.first().map_or(step, |&count| step.finding(count));
        Self::arrive(state, tags, (object, step), done, guard);
        Next::Go
    }

    /// A step of an object, and the state that it returns, if it does.
    fn arrive(
        state: &mut PathState,
        tags: Tags,
        of: (Object, MbarrierStep),
        returns: Option<Reg>,
        guard: Mask,
    ) {
        let event = Self::push_step(state, tags, of, guard);
        if let Some(destination) = returns {
            let count = of.1.found().unwrap_or_default();
            let token = STATE | Value::from(count) << COUNT_BIT | Value::from(event);
            let value = state.exprs.constant(token);
            state.set(destination, value, guard);
        }
        state.heads.clear();
        state.pc += 1;
    }

    /// The pending counts that an arrival may find, if the thread may ask for that of the state which it returns.
    fn counts_of(
        &self,
        object: Access,
        step: MbarrierStep,
        returns: Option<Reg>,
    ) -> Result<Vec<u64>, UnfoldLimit> {
        let counted = matches!(step, MbarrierStep::Arrive { completes: false, .. });
        if !counted || !returns.is_some_and(|register| self.asks_for(register)) {
            return Ok(Vec::new());
        }
        let variable = self.layout.locations[usize::from(object.pa.object)].variable;
        // No count is read of an object that nobody initializes.
        let counts = self.program.pending_counts(variable);
        let few = counts.filter(|(least, most)| most - least <= MOST_COUNTS);
        few.map(|(least, most)| (least..=most).collect()).ok_or(UnfoldLimit::PhaseState)
    }

    /// Whether the thread may ask for the count of a state in a register.
    fn asks_for(&self, register: Reg) -> bool {
        let lines = &self.program.threads[usize::from(self.thread.0)].lines;
        let instructions = || lines.iter().map(|line| &line.instruction);
        let asked = instructions().filter_map(|of| {
            let Asynchronous::PendingCount(of) = of.as_asynchronous()? else { return None };
            if let Operand::Reg(state) = of.state { Some(state) } else { None }
        });
        let mut states: Vec<Reg> = asked.collect();
        let mut known = 0;
        while known < states.len() {
            let to = states[known];
            known += 1;
            let writers = instructions().filter(|of| of.destinations().any(|one| one == to));
            // What is loaded may be any state; those are beyond the limit.
            let sources = writers.filter(|of| of.as_alu().is_some()).flat_map(Instruction::sources);
            let more: Vec<Reg> = sources.filter(|from| !states.contains(from)).collect();
            states.extend(more);
        }
        states.contains(&register)
    }

    /// `mbarrier.pending_count`: what the arrival found that returned a state.
    pub(super) fn pending_count(
        &mut self,
        state: &mut PathState,
        of: PendingCount,
        guard: Mask,
    ) -> Next {
        let (token, taint) = self.operand(state, of.state);
        let Some(token) = state.known(token) else { return Next::Limit(UnfoldLimit::PhaseState) };
        let arrival = arrival(state, token);
        let found = arrival.and_then(|event| Some((event, step_of(state, event)?.found()?)));
        let Some((event, count)) = found else {
            self.stop(state, AsyncMisuse::Token.text());
            return Next::Stop;
        };
        if let Some(destination) = of.count {
            let value = state.exprs.constant(count.into());
            state.set(destination, value, taint | guard | 1 << event);
        }
        state.pc += 1;
        Next::Go
    }

    /// A wait: where it is repeated until it returns true, it is one event. Otherwise its result forks the path.
    fn wait(
        &mut self,
        state: &mut PathState,
        of: &Mbarrier,
        (object, phase, tries, done): (Object, AwaitedPhase, bool, Option<Reg>),
        guard: Mask,
    ) -> Next {
        let phase = match phase {
            AwaitedPhase::Parity(parity) => {
                let (parity, taint) = self.operand(state, parity);
                state.ctrl |= taint;
                let misused = AsyncMisuse::Parity.text();
                let parity = self.choose_from(state, parity, &[0, 1], misused);
                if parity > 1 {
                    self.stop(state, misused);
                    return Next::Stop;
                }
                WaitPhase::Parity(parity == 1)
            }
            AwaitedPhase::State(token) => {
                let (token, _) = self.operand(state, token);
                let Some(token) = state.known(token) else {
                    return Next::Limit(UnfoldLimit::PhaseState);
                };
                let Some(arrival) = arrival(state, token) else {
                    self.stop(state, AsyncMisuse::Token.text());
                    return Next::Stop;
                };
                WaitPhase::Of(arrival)
            }
        };
        let blocks = done.is_some_and(|done| self.repeats(state.pc, done));
        let scope = scope_tag(of.scope);
        if !blocks {
            let mut failed = state.clone();
            let step = MbarrierStep::Wait { phase, returned: false, blocks, tries };
            let tags = Tags::of(&[Tag::All, Tag::Mbarrier, scope]);
            let wait = Self::push_step(&mut failed, tags, (object, step), guard);
            let decides: Mask = if step.looks() { 1 << wait } else { 0 };
            Self::returns(&mut failed, done, false, guard | decides);
            self.pending.push(failed);
        }
        let step = MbarrierStep::Wait { phase, returned: true, blocks, tries };
        let tags = Tags::of(&[Tag::All, Tag::Mbarrier, Tag::MbarrierWait, scope]);
        let tags = if of.synchronizes { tags.with(Tag::Acquire) } else { tags };
        let wait = Self::push_step(state, tags, (object, step), guard);
        state.heads.clear();
        let decides: Mask = if blocks { 0 } else { 1 << wait };
        Self::returns(state, done, true, guard | decides);
        // The step of the instruction is counted where it goes on.
        Next::Go
    }

    fn returns(state: &mut PathState, done: Option<Reg>, result: bool, guard: Mask) {
        let value: ExprId = state.exprs.constant(result.into());
        if let Some(done) = done {
            state.set(done, value, guard);
        }
        if !result {
            state.step += 1;
        }
        state.pc += 1;
    }

    /// Whether the code after a wait comes back to it, and does nothing else, as long as it returns false. What sets a
    /// register to a constant does so once as well as often.
    fn repeats(&self, wait: usize, done: Reg) -> bool {
        let lines = &self.program.threads[usize::from(self.thread.0)].lines;
        let mut at = wait + 1;
        for _ in 0..lines.len() {
            let Some(line) = lines.get(at) else { return false };
            let executed = match line.guard {
                None => true,
                Some(guard) if guard.predicate == done => guard.negated,
                Some(_) => return false,
            };
            let branch = line.instruction.as_branch().filter(|branch| branch.condition.is_none());
            at = match branch {
                _ if !executed => at + 1,
                Some(branch) => branch.target,
                None if sets_constant(&line.instruction) => at + 1,
                None => return false,
            };
            if at == wait {
                return true;
            }
        }
        false
    }

    /// `cp.async.mbarrier.arrive`.
    pub(super) fn track(&mut self, state: &mut PathState, of: &Track, guard: Mask) -> Option<()> {
        let object = self.object(state, of.object, of.space, true)?;
        if of.increments {
            let tags = Tags::of(&[Tag::All, Tag::Mbarrier]);
            Self::push_step(state, tags, (object, MbarrierStep::Increment), guard);
        }
        let step = MbarrierStep::ONE_ARRIVAL;
        let completes = state.groups.copies;
        let first = state.next_event();
        Self::complete_on(state, object, step, first, first, Tag::Generic, guard);
        state.last().completes = completes;
        Some(())
    }

    /// The completion of an asynchronous operation on an object.
    pub(super) fn complete_on(
        state: &mut PathState,
        object: Object,
        step: MbarrierStep,
        operation: u16,
        issued: u16,
        proxy: Tag,
        guard: Mask,
    ) {
        let tags = Tags::of(&[Tag::All, Tag::Asynchronous, Tag::Mbarrier, proxy]);
        Self::push_step(state, tags, (object, step), guard);
        state.last().part = Some(crate::event::AsyncPart { operation, issued });
    }

    fn push_step(
        state: &mut PathState,
        tags: Tags,
        ((access, at), step): (Object, MbarrierStep),
        guard: Mask,
    ) -> u16 {
        let object = extent(access);
        // Whether the phase ends also depends on what the thread did not do before.
        let before =
            state.skipped.iter().filter(|of| step.follows_skipped() && of.may_be_on(object));
        let skipped = before.fold(0, |all: Mask, skipped| all | skipped.taint);
        let event = state.push(EventKind::Mbarrier, tags, guard | skipped);
        let last = state.last();
        last.locate(access, at);
        last.mbarrier = Some(MbarrierUse { object, step });
        event
    }

    /// Notes that an operation does not change the objects that it might: its guard skips it, or its address is another
    /// one, and that depends on reads.
    pub(super) fn skip_mbarrier(&self, state: &mut PathState, of: AccessedPlace, guard: Mask) {
        let (base, taint) = match of.address.base {
            Operand::Address(variable) => {
                let generic = self.layout.address(variable, self.thread);
                (state.exprs.constant(generic.into()), 0)
            }
            base @ (Operand::Reg(_) | Operand::Imm(_)) => self.operand(state, base),
        };
        let taint = guard | taint;
        if taint == 0 {
            return;
        }
        let offset = state.exprs.constant(of.address.offset.cast_unsigned().into());
        let at = state.exprs.alu(AluOp::Add, Type::U64, &[base, offset]);
        let mut objects = self.objects_at(state, at, of.space);
        if of.multicast
            && let Some(objects) = &mut objects
        {
            *objects = objects.iter().flat_map(|&object| self.in_each_cta(object)).collect();
        }
        let objects = objects.map(|all| all.into_iter().map(extent).collect());
        let skipped = SkippedOperation { before: state.next_event(), objects, taint };
        if !state.skipped.contains(&skipped) {
            state.skipped.push(skipped);
        }
    }

    /// The objects that an address may be of; `None` if it may be any.
    fn objects_at(
        &self,
        state: &PathState,
        at: ExprId,
        space: SpaceQualifier,
    ) -> Option<Vec<Access>> {
        let values = state.exprs.candidates(at)?;
        let object = |value: Value| {
            let resolved = self.layout.resolve(self.thread, space, low64(value), MBARRIER_BYTES);
            resolved.ok().map(|va| Access { va, pa: self.layout.physical(va) })
        };
        Some(values.into_iter().filter_map(object).collect())
    }

    /// The object at the place of this one in each CTA of the cluster.
    fn in_each_cta(&self, object: Access) -> impl Iterator<Item = Access> {
        let none = ComputedAddress { sum: ExprId(0), taint: 0 };
        let all = self.each_cta(EVERY_CTA, &[], Some((object, none)));
        all.into_iter().filter_map(|(_, object)| Some(object?.0))
    }

    /// The bytes of an mbarrier object, perhaps one of the thread's CTA only; `None` when the path has ended.
    pub(super) fn object(
        &mut self,
        state: &mut PathState,
        address: Address,
        space: SpaceQualifier,
        own_cta: bool,
    ) -> Option<Object> {
        let whole = AddressUse::of_object(space, own_cta);
        let (accesses, at) = self.address(state, address, &whole)?;
        Some((accesses[0], at))
    }

    /// The value of an operand; forks if several are possible.
    pub(super) fn number(&mut self, state: &mut PathState, operand: Operand) -> u64 {
        let (value, taint) = self.operand(state, operand);
        state.ctrl |= taint;
        self.choose(state, value)
    }

    /// The number, if it is in the range of counts; otherwise the path has ended.
    fn in_range(&mut self, state: &mut PathState, number: u64, least: u64) -> Option<u64> {
        self.within(state, number, least..=MOST)
    }

    fn within(
        &mut self,
        state: &mut PathState,
        number: u64,
        range: RangeInclusive<u64>,
    ) -> Option<u64> {
        if range.contains(&number) {
            return Some(number);
        }
        self.stop(state, AsyncMisuse::Count.text());
        None
    }
}

fn sets_constant(instruction: &Instruction) -> bool {
    let Instruction::Alu(alu) = instruction else { return false };
    alu.op == AluOp::Mov && matches!(alu.sources[..], [Operand::Imm(_)])
}

/// The bytes of an object, and how their address is computed.
fn extent(object: Access) -> Extent {
    Extent { length: MBARRIER_BYTES, ..object.pa }
}

pub(super) type Object = (Access, ComputedAddress);

/// The arrival of the path that returned this state.
fn arrival(state: &PathState, token: Value) -> Option<u16> {
    let counts = Value::from(u16::MAX) << COUNT_BIT;
    let event = u16::try_from((token & !counts).checked_sub(STATE)?).ok()?;
    let step = step_of(state, event)?;
    let count = step.found().unwrap_or_default();
    let known = (token & counts) >> COUNT_BIT == Value::from(count);
    (known && matches!(step, MbarrierStep::Arrive { .. })).then_some(event)
}

fn step_of(state: &PathState, event: u16) -> Option<MbarrierStep> {
    Some(state.events.get(usize::from(event))?.mbarrier?.step)
}
