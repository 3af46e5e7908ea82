//! The choices that a value depends on, which are those worth excluding.
//!
//! The solver knows the sources of reads, but not their values. A choice that gives a known outcome
//! or no consistent values is excluded together with every choice that agrees with it on
//! the relevant part.

use std::collections::HashMap;

use execution::expr::{Expr, ExprId};
use execution::path::Assumption;
use execution::structure::writes_of;
use execution::unfold::Unfolding;
use model::bits::BitRow;
use model::program::{Observed, ThreadId};

use super::clauses::{Clauses, Term};
use super::encode::{Encoder, one_of};
use super::order::EventOrder;
use crate::options::constant_bytes;
use model::memory::Extent;
use model::value::Value;

/// One choice among the last writes of observed memory.
pub(super) struct Final {
    /// Index into [`model::program::Program::observed`].
    pub observed: usize,
    pub cell: Extent,
    /// The byte of the cell, where bytes are chosen apart.
    pub byte: Option<u32>,
    /// How far up the value goes in what is observed.
    pub shift: u32,
    pub writes: Vec<usize>,
    pub terms: Vec<Term>,
}

impl Final {
    /// What of the bytes of the cell is meant.
    pub(super) fn part(&self, bytes: Value) -> Value {
        self.byte.map_or(bytes, |byte| bytes >> (8 * byte) & 0xff)
    }
}

/// The choices of final values, any write that no other follows in coherence order: of whole cells
/// where all accesses are of the cell, else of bytes (reading R22).
pub(super) fn finals<R: BitRow>(
    u: &Unfolding<'_>,
    co: &EventOrder,
    clauses: &mut Clauses,
) -> Vec<Final> {
    let mut finals: Vec<Final> = Vec::new();
    for (index, &observed) in u.program.observed.iter().enumerate() {
        let Some(bytes) = u.observed_bytes(observed) else { continue };
        if u.private_final(index).is_some() {
            continue;
        }
        let cells = &u.cells[usize::from(bytes.object)];
        let shared = |cell: &&Extent| u.private_cell(index, **cell).is_none();
        for &cell in cells.iter().filter(|cell| bytes.contains(**cell)).filter(shared) {
            let covering: R = writes_of(u, cell);
            let overtaken = |w: usize| covering.events().any(|v| co.get(w, v) == Term::TRUE);
            let writes: Vec<usize> = covering.events().filter(|&w| !overtaken(w)).collect();
            let accesses = u.events.iter().filter(|event| event.of.is_some());
            let whole = accesses
                .filter_map(|event| event.access)
                .all(|access| !access.pa.overlaps(cell) || access.pa == cell);
            let shift = 8 * (cell.start - bytes.start);
            let single = whole || writes.len() == 1;
            let parts = if single { 0..1 } else { 0..cell.length };
            for byte in parts {
                let byte_of_cell = (!single).then_some(byte);
                // Two names of a location are observed together.
                let known = finals.iter().find(|of| (of.cell, of.byte) == (cell, byte_of_cell));
                let terms = if let Some(known) = known {
                    known.terms.clone()
                } else {
                    let terms = one_of(clauses, writes.len());
                    for (&write, &last) in writes.iter().zip(&terms) {
                        for later in covering.events() {
                            clauses.implies(&[last, co.get(write, later)], &[]);
                        }
                    }
                    terms
                };
                finals.push(Final {
                    observed: index,
                    cell,
                    byte: byte_of_cell,
                    shift: if single { shift } else { shift + 8 * byte },
                    writes: writes.clone(),
                    terms,
                });
            }
        }
    }
    finals
}

/// Terms for what a slot or a final value is, where that is a constant.
#[derive(Default)]
pub(super) struct Groups {
    slots: HashMap<(usize, Value), Term>,
    finals: HashMap<(usize, Value), Term>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum VisitState {
    New,
    Open,
    Done,
}

/// Collects what the values of one choice depend on.
pub(super) struct Reasons<'e, 'a, R> {
    u: &'a Unfolding<'a>,
    encoder: &'e mut Encoder<'a, R>,
    groups: &'e mut Groups,
    /// The option of each slot.
    taken: &'e [usize],
    visits: Vec<VisitState>,
    terms: Vec<Term>,
    /// Some value depends on itself.
    cyclic: bool,
    /// Some slot mixes the bytes of several writes.
    torn: bool,
    /// Some value is never known: that of a lane that does not take part.
    unknown: bool,
}

impl<'e, 'a, R: BitRow> Reasons<'e, 'a, R> {
    pub(super) fn new(
        encoder: &'e mut Encoder<'a, R>,
        groups: &'e mut Groups,
        taken: &'e [usize],
    ) -> Reasons<'e, 'a, R> {
        let u = encoder.structure.unfolding;
        let visits = vec![VisitState::New; u.events.len()];
        let terms = Vec::new();
        let (cyclic, torn, unknown) = (false, false, false);
        Reasons { u, encoder, groups, taken, visits, terms, cyclic, torn, unknown }
    }

    /// Rules out every choice that has the same observed registers and the same final values for
    /// the same reasons. `last` has the write of each final value; of what is observed only what is `needed` counts.
    pub(super) fn block_outcome(mut self, finals: &[Final], last: &[usize], needed: &[bool]) {
        let program = self.u.program;
        for (index, &observed) in program.observed.iter().enumerate().filter(|(at, _)| needed[*at])
        {
            match observed {
                Observed::Register { thread, register } => {
                    let path = self.u.paths[usize::from(thread.0)];
                    self.expr(thread, path.registers[usize::from(register.0)]);
                }
                Observed::Memory { .. } => {
                    let u = self.u;
                    u.private_finals(index).for_each(|(thread, of)| self.expr(thread, of.value));
                }
            }
        }
        for (index, (choice, &at)) in finals.iter().zip(last).enumerate() {
            if needed[choice.observed] {
                self.last(index, choice, at);
            }
        }
        if self.torn {
            // Which mixtures exist also depends on the checks and on the other mixtures: one of equal bytes does not count.
            self.checks();
            self.mixed_slots();
        }
        if self.cyclic {
            self.terms.clear();
            self.terms.extend(finals.iter().zip(last).map(|(choice, &at)| choice.terms[at]));
            self.everything();
        }
        self.block();
    }

    /// Rules out a choice for which no values satisfy the checks; `failing` is one that fails, if
    /// that can be named.
    pub(super) fn block_values(mut self, failing: Option<(ThreadId, &Assumption)>) {
        let reads = (0..self.u.events.len()).filter(|&event| self.u.events[event].is_read());
        reads.for_each(|read| self.read(read));
        let (whole, torn) = (self.cyclic || self.unknown, self.torn);
        self.terms.clear();
        self.visits.fill(VisitState::New);
        match failing {
            _ if whole => self.everything(),
            Some((thread, check)) if !torn => self.expr(thread, check.expr()),
            _ => {
                self.checks();
                self.mixed_slots();
            }
        }
        self.block();
    }

    fn block(self) {
        self.encoder.clauses.implies(&self.terms, &[]);
    }

    fn everything(&mut self) {
        let choice = self.encoder.choice.iter().zip(self.taken);
        self.terms.extend(choice.map(|(terms, &option)| terms[option]));
    }

    /// The slots that mix the bytes of several writes.
    fn mixed_slots(&mut self) {
        for slot in 0..self.taken.len() {
            if self.encoder.options[slot][self.taken[slot]].count() > 1 {
                self.slot(slot);
            }
        }
    }

    fn checks(&mut self) {
        let u = self.u;
        for (thread, check) in u.checks() {
            self.expr(thread, check.expr());
        }
    }

    fn expr(&mut self, thread: ThreadId, expr: ExprId) {
        let u = self.u;
        let mut leaves = Vec::new();
        u.paths[usize::from(thread.0)].exprs.leaves(expr, &mut |leaf| leaves.push(leaf));
        for leaf in leaves {
            match leaf {
                Expr::Read(index) => self.read(u.event_of(thread, index)),
                Expr::Reduced(index) => self.reduced(u.event_of(thread, index)),
                Expr::Const(_) | Expr::Alu { .. } | Expr::Atomic { .. } | Expr::Extend { .. } => {}
            }
        }
    }

    /// Whether the event was not met before; meeting it inside itself is a cycle.
    fn enter(&mut self, event: usize) -> bool {
        self.cyclic |= self.visits[event] == VisitState::Open;
        let new = self.visits[event] == VisitState::New;
        if new {
            self.visits[event] = VisitState::Open;
        }
        new
    }

    fn read(&mut self, read: usize) {
        if self.enter(read) {
            let (from, to) = self.u.slots_of[read];
            (from..to).for_each(|slot| self.slot(slot));
            self.visits[read] = VisitState::Done;
        }
    }

    fn reduced(&mut self, wait: usize) {
        if self.enter(wait) {
            let u = self.u;
            self.unknown |= u.contributors(wait).next().is_none();
            for arrival in u.contributors(wait) {
                let event = &u.events[arrival];
                let reduce = event.of.and_then(|of| of.barrier).and_then(|used| used.reduce);
                if let (Some(thread), Some((_, predicate, _))) = (event.thread, reduce) {
                    self.expr(thread, predicate);
                }
            }
            self.visits[wait] = VisitState::Done;
        }
    }

    fn slot(&mut self, slot: usize) {
        let cell = self.u.slots[slot].cell;
        let option = self.encoder.options[slot][self.taken[slot]];
        self.torn |= option.count() > 1;
        if option.count() == 1
            && let Some(value) = constant_bytes(self.u, option.first(), cell)
        {
            let group = self.slot_value(slot, value);
            self.terms.push(group);
            return;
        }
        self.terms.push(self.encoder.choice[slot][self.taken[slot]]);
        option.events().for_each(|write| self.written(write));
    }

    fn written(&mut self, write: usize) {
        let event = &self.u.events[write];
        if let Some((thread, value)) = event.thread.zip(event.of.and_then(|of| of.value)) {
            self.expr(thread, value);
        }
    }

    /// Holds whenever the slot reads `value` from a write that writes it in any case.
    fn slot_value(&mut self, slot: usize, value: Value) -> Term {
        let Encoder { clauses, options, choice, .. } = self.encoder;
        let cell = self.u.slots[slot].cell;
        *self.groups.slots.entry((slot, value)).or_insert_with(|| {
            let same = |option: &R| {
                option.count() == 1 && constant_bytes(self.u, option.first(), cell) == Some(value)
            };
            group(clauses, options[slot].iter().map(same), &choice[slot])
        })
    }

    fn last(&mut self, index: usize, choice: &Final, at: usize) {
        let constant = |write: usize| {
            constant_bytes(self.u, write, choice.cell).map(|bytes| choice.part(bytes))
        };
        if let Some(value) = constant(choice.writes[at]) {
            let clauses = &mut self.encoder.clauses;
            let term = *self.groups.finals.entry((index, value)).or_insert_with(|| {
                let same = choice.writes.iter().map(|&write| constant(write) == Some(value));
                group(clauses, same, &choice.terms)
            });
            self.terms.push(term);
        } else {
            self.terms.push(choice.terms[at]);
            self.written(choice.writes[at]);
        }
    }
}

/// A term that holds whenever one of the chosen terms does, of which one always holds.
fn group(clauses: &mut Clauses, chosen: impl Iterator<Item = bool>, terms: &[Term]) -> Term {
    let mut ways: Vec<(Term, Term)> =
        chosen.zip(terms).filter(|(same, _)| *same).map(|(_, &term)| (Term::TRUE, term)).collect();
    if ways.len() == terms.len() { Term::TRUE } else { clauses.above(&mut ways) }
}
