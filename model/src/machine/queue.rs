//! The rules of the memory system: how accesses leave queues, what they do at memory, what returns.

use std::ops::Range;

use super::form::Level;
use super::local::{Access, Phase};
use super::state::{Entry, Kind, Latched, State, ValueId};
use super::step::{Step, Visit};
use super::{Home, Machine, Place};
use crate::isa::alu::AluOp;
use crate::value::Value;

impl Machine<'_> {
    /// The pieces of the scalar that an entry is part of, as indices into the list, if each of them
    /// may leave its queue.
    fn ready(&self, list: &[Entry], index: usize, pass: bool) -> Option<Vec<usize>> {
        let (thread, group) = (list[index].thread, list[index].group);
        let all: Vec<usize> = (0..list.len())
            .filter(|&i| list[i].thread == thread && list[i].group == group)
            .collect();
        let first = |&i: &usize| {
            let older = list[..i].iter().filter(|o| (o.at, o.cell) == (list[i].at, list[i].cell));
            let mut older = older;
            let weak = |entry: &Entry| entry.kind == Kind::Read(Level::Weak);
            if pass && self.options.weak_pass && weak(&list[i]) {
                older.all(weak)
            } else {
                older.next().is_none()
            }
        };
        // The pieces go together: the first of them stands for all.
        (all[0] == index && all.iter().all(first)).then_some(all)
    }

    pub(super) fn leave(&mut self, state: &State, visit: Visit<'_>) {
        for index in 0..state.queues.len() {
            let Some(pieces) = self.ready(&state.queues, index, true) else { continue };
            let entry = state.queues[index];
            let gpu = self.gpu[usize::from(entry.at)];
            if entry.fused == 2
                && state.links.iter().any(|e| e.at == gpu && !matches!(e.kind, Kind::Read(_)))
            {
                continue;
            }
            let near = match self.cells[usize::from(entry.cell)].place {
                Place::Global(home) => home == Home::Gpu(gpu),
                Place::Shared { .. } | Place::Private => true,
            };
            let step = Step::Leave { sm: entry.at, cell: entry.cell, thread: entry.thread };
            let mut next = state.clone();
            let taken = take(&mut next.queues, &pieces);
            if near {
                self.perform(&mut next, &taken);
                self.settle(&mut next);
                visit(step, next);
                continue;
            }
            self.forward(&next, &taken, gpu, visit);
            for mut entry in taken {
                entry.at = gpu;
                entry.awaited = self.still_awaited(&next, entry.awaited);
                State::enqueue(&mut next.links, entry);
            }
            self.settle(&mut next);
            visit(step, next);
        }
    }

    /// Whom an entry that leaves its SM keeps waiting: those in the first phase of a `MEMBAR` wait
    /// for no more than that.
    fn still_awaited(&self, state: &State, awaited: u8) -> u8 {
        (0..self.sm.len())
            .filter(|&thread| awaited & Self::bit(thread) != 0)
            .filter(|&thread| self.local(state, thread).phase != Phase::Draining)
            .fold(0, |all, thread| all | Self::bit(thread))
    }

    /// A load below system scope may be answered by the youngest store that waits in the link.
    fn forward(&mut self, state: &State, taken: &[Entry], gpu: u8, visit: Visit<'_>) {
        let &[entry] = taken else { return };
        let Kind::Read(level) = entry.kind else { return };
        if !self.options.forward || level == Level::Sys {
            return;
        }
        let waiting = state
            .links
            .iter()
            .rev()
            .find(|e| (e.at, e.cell) == (gpu, entry.cell) && !matches!(e.kind, Kind::Read(_)));
        let Some(store) = waiting.filter(|e| e.kind == Kind::Write) else { return };
        let value = store.value;
        let mut next = state.clone();
        self.returned(&mut next, entry, value);
        self.settle(&mut next);
        visit(Step::Forward { gpu, cell: entry.cell, thread: entry.thread }, next);
    }

    pub(super) fn arrive(&mut self, state: &State, visit: Visit<'_>) {
        for index in 0..state.links.len() {
            let Some(pieces) = self.ready(&state.links, index, false) else { continue };
            let Entry { at, cell, thread, .. } = state.links[index];
            let mut next = state.clone();
            let taken = take(&mut next.links, &pieces);
            self.perform(&mut next, &taken);
            self.settle(&mut next);
            visit(Step::Arrive { gpu: at, cell, thread }, next);
        }
    }

    /// What the pieces of one scalar do at memory.
    fn perform(&mut self, state: &mut State, taken: &[Entry]) {
        let first = taken[0];
        match first.kind {
            Kind::Read(_) => {
                for entry in taken {
                    let value = state.memory[usize::from(entry.cell)];
                    self.returned(state, *entry, value);
                }
            }
            Kind::Write => {
                for entry in taken {
                    state.memory[usize::from(entry.cell)] = entry.value;
                }
            }
            Kind::Atomic(operation) => {
                let cells = usize::from(first.cell)..usize::from(first.cell) + taken.len();
                let thread = usize::from(first.thread);
                self.exchange(state, thread, first.slot, cells, operation);
                if first.fused > 0 {
                    // Rule Atom-AR, second half: what it acquired is seen through no older line.
                    self.invalidate(state, self.sm[thread]);
                }
            }
        }
    }

    /// A read has its value: it is on its way, or there if it fills no line.
    fn returned(&mut self, state: &mut State, entry: Entry, value: ValueId) {
        let Entry { cell, thread, slot, start, fill, .. } = entry;
        if fill {
            let sm = self.sm[usize::from(thread)];
            state.latched.push(Latched { sm, cell, thread, slot, start, value });
            state.latched.sort_unstable();
        } else {
            self.deliver(state, thread, slot, start, cell, value);
        }
    }

    /// An atomic operation on cells, in one step.
    pub(super) fn exchange(
        &mut self,
        state: &mut State,
        thread: usize,
        slot: u8,
        cells: Range<usize>,
        operation: u8,
    ) {
        let Access::Atomic { op, ty, first, second, flushes, .. } =
            self.tables.operations.list[usize::from(operation)].clone()
        else {
            unreachable!("the table holds atomic operations only");
        };
        let (mut old, mut below) = (0, 0);
        for cell in cells.clone() {
            old |= self.value(state.memory[cell]) << (8 * below);
            below += self.cells[cell].length;
        }
        self.answer(state, thread, slot, cells.clone(), |state, cell| state.memory[cell]);
        let flush = |value: Value| {
            if flushes { AluOp::Flush.apply(ty, &[value]) } else { value }
        };
        if let Some(new) = op.apply(ty, flush(old), flush(first), second).map(flush) {
            for (cell, piece) in self.pieces(cells, new) {
                state.memory[cell] = piece;
            }
        }
    }

    pub(super) fn read_only(&mut self, state: &State, visit: Visit<'_>) {
        for index in 0..state.loose.len() {
            let Some(pieces) = self.ready(&state.loose, index, false) else { continue };
            let Entry { at, cell, thread, .. } = state.loose[index];
            let mut next = state.clone();
            for entry in take(&mut next.loose, &pieces) {
                let value = next.memory[usize::from(entry.cell)];
                let line = self.line_of(at, entry.cell.into());
                next.read_only[line] = value;
                self.deliver(&mut next, entry.thread, entry.slot, entry.start, entry.cell, value);
            }
            self.settle(&mut next);
            visit(Step::ReadOnly { sm: at, cell, thread }, next);
        }
    }

    pub(super) fn fill(&mut self, state: &State, visit: Visit<'_>) {
        for index in 0..state.latched.len() {
            let Latched { sm, cell, thread, slot, start, value } = state.latched[index];
            let mut next = state.clone();
            next.latched.remove(index);
            let line = self.line_of(sm, cell.into());
            next.l1[line] = value;
            self.deliver(&mut next, thread, slot, start, cell, value);
            self.settle(&mut next);
            visit(Step::Fill { sm, cell, thread }, next);
        }
    }
}

/// Takes these entries out of a list.
fn take(list: &mut Vec<Entry>, which: &[usize]) -> Vec<Entry> {
    let taken = which.iter().map(|&index| list[index]).collect();
    for &index in which.iter().rev() {
        list.remove(index);
    }
    taken
}
