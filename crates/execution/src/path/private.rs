//! Accesses to bytes that only one thread accesses: they are computed in program order, without events.
//!
//! Such an access has no effect on other threads, and coherence with program order leaves each of its reads one
//! value: that of the last write before it in its thread. What a value depends on passes through memory.

use super::state::{ComputedAddress, PathState, cas_succeeds, scope_tag};
use super::{Assumption, Walk};
use crate::event::{Access, EventKind, Mask, Tags};
use crate::expr::{Expr, ExprId};
use model::given::Tag;
use model::isa::alu::AluOp;
use model::isa::atom::{Atomic, AtomicOp};
use model::isa::{Type, TypeKind};
use model::memory::Extent;
use model::program::{ContestedBytes, Observed};
use model::value::{little_endian, low_bits};

/// A write to private bytes.
#[derive(Clone, Debug)]
pub(super) struct PrivateWrite {
    /// Physical bytes.
    pub(super) bytes: Extent,
    /// Its bits above the bytes are 0.
    pub(super) value: ExprId,
    pub(super) taint: Mask,
}

/// An access to private bytes, in program order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PrivateAccess {
    /// Index into [`model::program::Thread::lines`].
    pub line: u16,
    pub kind: EventKind,
    /// The tags that an event would have.
    pub tags: Tags,
    /// Virtual bytes.
    pub bytes: Extent,
    /// The number of events of the path before it.
    pub events: u16,
}

/// The final value of private bytes of observed memory, some of which a path writes.
#[derive(Clone, Copy, Debug)]
pub struct PrivateFinal {
    /// Index into [`model::program::Program::observed`].
    pub observed: u16,
    /// Physical bytes: a run that no other thread accesses, as long as it can be.
    pub bytes: Extent,
    /// Which of the bytes the path writes, the lowest first.
    pub written: u16,
    /// Of all of the bytes: those that the path does not write are the initial ones.
    pub value: ExprId,
}

impl PrivateFinal {
    /// Whether the path writes a byte of these.
    pub fn writes(&self, bytes: Extent) -> bool {
        let at = |byte: u32| Extent { start: self.bytes.start + byte, length: 1, ..self.bytes };
        (0..self.bytes.length).any(|byte| self.written >> byte & 1 == 1 && at(byte).overlaps(bytes))
    }
}

/// The type of this many bytes.
fn bits(bytes: u32) -> Type {
    let bits = u16::try_from(8 * bytes).expect("an access has few bytes");
    Type { kind: TypeKind::Bits, bits }
}

impl Walk<'_> {
    /// Whether no other thread accesses these bytes.
    pub(super) fn is_private(&self, access: Access) -> bool {
        let Some(contested) = &self.program.contested else {
            return self.facts.apart.includes(self.thread, access.pa);
        };
        let location = &self.layout.locations[usize::from(access.pa.object)];
        let (start, end) = (access.pa.start, access.pa.end());
        contested
            .iter()
            .all(|of| of.variable != location.variable || of.start >= end || start >= of.end())
    }

    /// Records an access that makes no event.
    fn trace(state: &mut PathState, access: Access, kind: EventKind, tags: Tags) {
        let index = |of: usize| u16::try_from(of).expect("paths and threads are short");
        let (line, events) = (index(state.pc), index(state.events.len()));
        state.trace.push(PrivateAccess { line, kind, tags, bytes: access.va, events });
    }

    /// What a load of private bytes returns, and what it depends on.
    pub(super) fn private_load(
        &self,
        state: &mut PathState,
        access: Access,
        tags: Tags,
    ) -> (ExprId, Mask) {
        Self::trace(state, access, EventKind::Read, tags);
        if self.conventions.uninitialised_reads && self.reads_nothing(state, access.pa) {
            // Nobody else accesses the bytes: only what they hold at the start can be read.
            state.push(EventKind::Read, Tags::of(&[Tag::All, Tag::Read, Tag::Generic]), 0);
            let event = state.last();
            event.access = Some(access);
        }
        self.private_value(state, access.pa)
    }

    /// Whether nobody has given some of these private bytes a value.
    fn reads_nothing(&self, state: &PathState, bytes: Extent) -> bool {
        let written = |at: u32| {
            let byte = Extent { start: at, length: 1, ..bytes };
            state.memory.iter().any(|write| write.bytes.overlaps(byte))
        };
        self.layout.is_uninitialised(self.program, bytes)
            && !(bytes.start..bytes.end()).all(written)
    }

    pub(super) fn private_value(&self, state: &mut PathState, bytes: Extent) -> (ExprId, Mask) {
        let last = state.memory.iter().rev().find(|write| write.bytes.overlaps(bytes));
        let initial = |from: u32, to: u32| {
            let of = &self.layout.locations[usize::from(bytes.object)].initial;
            little_endian(&of[from as usize..to as usize])
        };
        match last {
            None => return (state.exprs.constant(initial(bytes.start, bytes.end())), 0),
            Some(write) if write.bytes == bytes => return (write.value, write.taint),
            Some(_) => {}
        }
        // The bytes of several writes, from the lowest on.
        let source = |state: &PathState, at: u32| {
            let byte = Extent { start: at, length: 1, ..bytes };
            state.memory.iter().rposition(|write| write.bytes.overlaps(byte))
        };
        let (mut value, mut taint) = (state.exprs.constant(0), 0);
        let mut from = bytes.start;
        while from < bytes.end() {
            let of = source(state, from);
            let to = (from + 1..bytes.end()).find(|&at| source(state, at) != of);
            let to = to.unwrap_or(bytes.end());
            let piece = match of {
                None => state.exprs.constant(initial(from, to)),
                Some(write) => {
                    let write = state.memory[write].clone();
                    taint |= write.taint;
                    let at =
                        u8::try_from(8 * (from - write.bytes.start)).expect("16 bytes at most");
                    state.exprs.alu(AluOp::Extract(at), bits(to - from), &[write.value])
                }
            };
            let at = u8::try_from(8 * (from - bytes.start)).expect("16 bytes at most");
            value = if at == 0 {
                piece
            } else {
                state.exprs.alu(AluOp::Concat(at), bits(to - bytes.start), &[value, piece])
            };
            from = to;
        }
        (value, taint)
    }

    /// Writes private bytes.
    pub(super) fn private_store(
        state: &mut PathState,
        access: Access,
        tags: Tags,
        value: ExprId,
        taint: Mask,
    ) {
        Self::trace(state, access, EventKind::Write, tags);
        let bytes = access.pa;
        let value = narrowed(state, value, bytes.length);
        let same = |write: &PrivateWrite| write.bytes == bytes && write.value == value;
        let last = state.memory.iter().rev().find(|write| write.bytes.overlaps(bytes));
        if last.is_some_and(same) {
            // The bytes are what they were, so a loop that does no more may be left out, unless they depend on less now.
            let at = state.memory.iter().rposition(same).expect("it was just found");
            let before = std::mem::replace(&mut state.memory[at].taint, taint);
            if before & !taint != 0 {
                state.heads.clear();
            }
            return;
        }
        state.memory.retain(|write| !bytes.contains(write.bytes));
        state.memory.push(PrivateWrite { bytes, value, taint });
        state.heads.clear();
    }

    /// An atomic on private bytes.
    pub(super) fn private_atomic(
        &mut self,
        state: &mut PathState,
        atomic: &Atomic,
        access: Access,
        at: ComputedAddress,
        guard: Mask,
    ) {
        let tags = Tags::of(&[Tag::Atomic, scope_tag(atomic.scope)]);
        let operands: Vec<(ExprId, Mask)> =
            atomic.operands.iter().map(|&o| self.operand(state, o)).collect();
        let (old, seen) = self.private_load(state, access, tags);
        let seen = seen | at.taint | guard;
        if let Some(destination) = atomic.destination {
            let value = state.exprs.extend_signed(atomic.ty, old);
            state.set(destination, value, seen);
        }
        let taint = operands.iter().fold(seen | state.ctrl, |all, operand| all | operand.1);
        let value = if atomic.op == AtomicOp::Cas {
            let equal = cas_succeeds(state, atomic.ty, old, operands[0].0);
            match self.decided(state, equal) {
                Some(false) => {
                    state.decide(false, None);
                    return;
                }
                Some(true) => state.decide(true, None),
                None => {
                    let mut failed = state.clone();
                    failed.decide(false, Some(Assumption::Truth(equal, false)));
                    failed.pc += 1;
                    failed.step += 1;
                    self.pending.push(failed);
                    state.decide(true, Some(Assumption::Truth(equal, true)));
                }
            }
            operands[1].0
        } else {
            self.written_over(state, atomic.op, atomic.ty, access, old, operands[0].0)
        };
        let value = narrowed(state, value, access.pa.length);
        Self::private_store(state, access, tags, value, taint);
    }

    /// The final values of observed private memory that the path wrote.
    pub(super) fn private_finals(&self, state: &mut PathState) -> Vec<PrivateFinal> {
        if state.memory.is_empty() {
            return Vec::new();
        }
        let mut finals = Vec::new();
        for (index, observed) in (0u16..).zip(&self.program.observed) {
            let Observed::Memory { variable, thread, offset, length } = *observed else {
                continue;
            };
            let object = self.layout.object(variable, thread);
            let bytes = self.layout.physical(Extent { object, start: offset, length });
            for bytes in self.private_runs(bytes) {
                let writes = |at: u32| {
                    let byte = Extent { start: at, length: 1, ..bytes };
                    state.memory.iter().any(|write| write.bytes.overlaps(byte))
                };
                let written = (0..bytes.length).filter(|&at| writes(bytes.start + at));
                let written = written.fold(0, |mask, at| mask | 1 << at);
                if written != 0 {
                    let value = self.private_value(state, bytes).0;
                    finals.push(PrivateFinal { observed: index, bytes, written, value });
                }
            }
        }
        finals
    }

    /// The longest runs of these bytes that no other thread accesses.
    fn private_runs(&self, bytes: Extent) -> Vec<Extent> {
        let variable = self.layout.locations[usize::from(bytes.object)].variable;
        let contested = self.program.contested.iter().flatten();
        let of_variable: Vec<&ContestedBytes> =
            contested.filter(|of| of.variable == variable).collect();
        let mut runs: Vec<Extent> = Vec::new();
        for at in bytes.start..bytes.end() {
            let byte = Extent { start: at, length: 1, ..bytes };
            let apart =
                self.program.contested.is_some() || self.facts.apart.includes(self.thread, byte);
            if !apart || of_variable.iter().any(|of| (of.start..of.end()).contains(&at)) {
                continue;
            }
            match runs.last_mut() {
                Some(run) if run.end() == at => run.length += 1,
                _ => runs.push(Extent { start: at, length: 1, ..bytes }),
            }
        }
        runs
    }
}

/// A value without the bits above this many bytes.
pub(super) fn narrowed(state: &mut PathState, value: ExprId, length: u32) -> ExprId {
    let ty = bits(length);
    let fits = match state.exprs.get(value) {
        Expr::Const(value) => value & low_bits(ty.bits) == value,
        Expr::Read(read) => {
            state.events[usize::from(read)].access.is_some_and(|of| of.pa.length <= length)
        }
        Expr::Alu { op: AluOp::Extract(_) | AluOp::Concat(_), ty: own, .. } => {
            own.kind == TypeKind::Bits && own.bits <= ty.bits
        }
        Expr::Alu { .. } | Expr::Reduced(_) | Expr::Atomic { .. } | Expr::Extend { .. } => false,
    };
    if fits { value } else { state.exprs.alu(AluOp::Extract(0), ty, &[value]) }
}
