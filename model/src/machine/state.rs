//! A state of the whole machine: what is in flight, in caches and in memory.

use super::form::Level;

/// An index into the table of values that cells have had.
pub(super) type ValueId = u8;

/// A line that is not valid.
pub(super) const INVALID: ValueId = u8::MAX;

/// What an entry does when it performs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Kind {
    Read(Level),
    Write,
    /// Both, by the operation of this index in the table.
    Atomic(u8),
}

/// The piece of an access that touches one cell, in a queue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Entry {
    /// Of which queue: the SM for the first one, the GPU for a link.
    pub(super) at: u8,
    pub(super) cell: u8,
    pub(super) thread: u8,
    pub(super) kind: Kind,
    /// The pending read that it answers, or `NO_SLOT`.
    pub(super) slot: u8,
    /// How many bytes of the scalar are below it.
    pub(super) start: u8,
    /// The value of a write.
    pub(super) value: ValueId,
    /// A read that will install the line it returns with.
    pub(super) fill: bool,
    /// The pieces of one scalar perform together: the same number, of one thread.
    pub(super) group: u8,
    /// The threads whose `MEMBAR` waits for this.
    pub(super) awaited: u8,
    /// The unit of an `acq_rel` atomic has more to do than others.
    pub(super) fused: u8,
}

pub(super) const NO_SLOT: u8 = u8::MAX;

/// A value on its way back to an SM, where it will install a line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Latched {
    pub(super) sm: u8,
    pub(super) cell: u8,
    pub(super) thread: u8,
    pub(super) slot: u8,
    pub(super) start: u8,
    pub(super) value: ValueId,
}

/// The barrier of one CTA, or of one cluster.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(super) struct Barrier {
    pub(super) generation: u8,
    pub(super) arrivals: u8,
    /// The threads among them.
    pub(super) arrived: u8,
    /// How many it waits for; 0 for all that are there.
    pub(super) count: u8,
}

/// The whole machine. Vectors are in an order that depends on nothing but what they hold, and on
/// the order within each queue.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// Indices into the table of each thread's states.
    pub(super) locals: Vec<u16>,
    /// By cell: what the point of coherence holds.
    pub(super) memory: Vec<ValueId>,
    /// By SM and cell.
    pub(super) l1: Vec<ValueId>,
    /// By SM and cell; empty where no instruction reads through it.
    pub(super) read_only: Vec<ValueId>,
    /// One FIFO for each SM and cell, one after the other.
    pub(super) queues: Vec<Entry>,
    /// One FIFO for each GPU and cell.
    pub(super) links: Vec<Entry>,
    /// Reads of the read-only path, in no order.
    pub(super) loose: Vec<Entry>,
    pub(super) latched: Vec<Latched>,
    pub(super) barriers: Vec<Barrier>,
}

impl State {
    /// Puts an entry behind those of its queue.
    pub(super) fn enqueue(list: &mut Vec<Entry>, entry: Entry) {
        let behind = |other: &Entry| (other.at, other.cell) <= (entry.at, entry.cell);
        let place = list.partition_point(behind);
        list.insert(place, entry);
    }

    /// All of it as bytes: equal states have equal bytes.
    pub fn pack(&self, out: &mut Vec<u8>) {
        out.clear();
        for local in &self.locals {
            out.extend(local.to_le_bytes());
        }
        out.extend(&self.memory);
        out.extend(&self.l1);
        out.extend(&self.read_only);
        for barrier in &self.barriers {
            out.extend([barrier.generation, barrier.arrivals, barrier.arrived, barrier.count]);
        }
        for list in [&self.queues, &self.links, &self.loose] {
            out.push(u8::try_from(list.len()).expect("few accesses are on their way"));
            for entry in list {
                entry.pack(out);
            }
        }
        for latched in &self.latched {
            let Latched { sm, cell, thread, slot, start, value } = *latched;
            out.extend([sm << 4 | thread, cell, slot, start, value]);
        }
    }
}

impl Entry {
    fn pack(&self, out: &mut Vec<u8>) {
        let (kind, data) = match self.kind {
            Kind::Read(level) => (level as u8, 0),
            Kind::Write => (8, self.value),
            Kind::Atomic(operation) => (9, operation),
        };
        out.extend([
            self.at << 4 | self.thread,
            self.cell,
            kind | u8::from(self.fill) << 4 | self.fused << 5,
            data,
            self.slot,
            self.start << 4 | self.group & 15,
            self.awaited,
        ]);
    }
}
