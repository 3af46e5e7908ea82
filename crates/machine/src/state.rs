//! A state of the whole machine, as bytes: caches, memory and pending accesses.
//!
//! The first part has a fixed layout (`StateLayout`): the index of each thread's own state, the
//! value of each cell of memory, the lines of each L1, barriers. A list of entries follows, one for each
//! pending access, in the order of their queues. Equal states have equal bytes.

/// An index into the table of values that cells have had.
pub(super) type ValueId = u8;

/// A line that is not valid.
pub(super) const INVALID: ValueId = u8::MAX;

/// Where an access waits. Each of the first three is a set of FIFOs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum QueueKind {
    /// Of one thread and cell, before L1 (reading R51).
    Buffer,
    /// Of one SM and cell.
    Queue,
    /// Of one GPU and cell.
    Link,
    /// Values on their way back to their SM, in no order.
    Back,
    /// Reads of the read-only path, in no order.
    Loose,
    /// Values that a copy has read and not written.
    Latched,
}

impl QueueKind {
    pub(super) const ALL: [QueueKind; 6] = [
        QueueKind::Buffer,
        QueueKind::Queue,
        QueueKind::Link,
        QueueKind::Back,
        QueueKind::Loose,
        QueueKind::Latched,
    ];
}

/// The piece of an access that touches one cell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct QueueEntry {
    pub(super) list: QueueKind,
    pub(super) cell: u8,
    pub(super) thread: u8,
    /// Which access of the thread's code it is; what it does when it performs follows from that.
    pub(super) site: u8,
    /// A read that will fill the line of its L1.
    pub(super) fill: bool,
    /// A read that will fill its GPU's copy (reading R58).
    pub(super) copy: bool,
    /// The value of a write, or one on its way back; the number of an atomic operation.
    pub(super) data: u8,
    /// A bit for each thread whose `MEMBAR` waits for this.
    pub(super) awaited: u16,
}

impl QueueEntry {
    fn word(self) -> u32 {
        (self.list as u32) << 29
            | u32::from(self.cell) << 23
            | u32::from(self.thread) << 19
            | u32::from(self.site) << 11
            | u32::from(self.fill) << 10
            | u32::from(self.copy) << 9
            | u32::from(self.data)
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "fields of a word")]
    fn of(word: u32, awaited: u16) -> QueueEntry {
        QueueEntry {
            list: QueueKind::ALL[(word >> 29) as usize],
            cell: (word >> 23 & 63) as u8,
            thread: (word >> 19 & 15) as u8,
            site: (word >> 11) as u8,
            fill: word >> 10 & 1 != 0,
            copy: word >> 9 & 1 != 0,
            data: word as u8,
            awaited,
        }
    }

    /// Whether the two are pieces of one access, or of the same one a turn of a loop later.
    pub(super) fn is_with(&self, other: &QueueEntry) -> bool {
        (self.list, self.thread, self.site) == (other.list, other.thread, other.site)
    }
}

/// The whole machine.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct State {
    pub(super) bytes: Vec<u8>,
}

impl State {
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The state that has these bytes, in the place of this one.
    pub fn set(&mut self, bytes: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
    }
}

/// How the bytes of a program's states are laid out.
#[derive(Clone, Debug, Default)]
pub(super) struct StateLayout {
    /// Bytes of the number of a thread's state.
    pub(super) local: usize,
    /// Where memory begins: a byte for each cell.
    pub(super) memory: usize,
    /// By SM and cell: where the line is, if any thread there may find it.
    pub(super) l1: Vec<Option<u16>>,
    /// By SM and cell: the line of the read-only path.
    pub(super) read_only: Vec<Option<u16>>,
    /// By GPU and cell: the copy of far memory (reading R58).
    pub(super) copies: Vec<Option<u16>>,
    /// By cell of shared memory: the older value that bulk copies may read, if some bulk copy may read it.
    pub(super) views: Vec<Option<u16>>,
    /// Where barriers begin.
    pub(super) barriers: usize,
    /// Where mbarrier objects begin: a byte for each.
    pub(super) objects: usize,
    /// Where entries begin.
    pub(super) entries: usize,
    /// Bytes of an entry: 6 where `MEMBAR`s have to remember what they wait for, else 4.
    pub(super) entry: usize,
}

/// The barrier of one CTA, or of one cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct BarrierState {
    pub(super) arrivals: u8,
    /// How many of them brought a true predicate to a reduction.
    pub(super) votes: u8,
    /// The threads among them.
    pub(super) arrived: u16,
    /// How many it waits for; 0 for all that are there.
    pub(super) count: u8,
}

/// Bytes of a barrier in a state.
pub(super) const BARRIER: usize = 5;

impl StateLayout {
    #[inline]
    pub(super) fn local(&self, state: &State, thread: usize) -> u32 {
        let at = thread * self.local;
        let bytes = &state.bytes[at..at + self.local];
        if let &[low, high] = bytes {
            u32::from(u16::from_le_bytes([low, high]))
        } else {
            u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
        }
    }

    pub(super) fn set_local(&self, state: &mut State, thread: usize, local: u32) {
        let at = thread * self.local;
        state.bytes[at..at + self.local].copy_from_slice(&local.to_le_bytes()[..self.local]);
    }

    pub(super) fn memory(&self, state: &State, cell: usize) -> ValueId {
        state.bytes[self.memory + cell]
    }

    pub(super) fn set_memory(&self, state: &mut State, cell: usize, value: ValueId) {
        state.bytes[self.memory + cell] = value;
    }

    pub(super) fn barrier(&self, state: &State, index: usize) -> BarrierState {
        let at = self.barriers + index * BARRIER;
        let bytes = &state.bytes[at..at + BARRIER];
        BarrierState {
            arrivals: bytes[0],
            votes: bytes[1],
            arrived: u16::from_le_bytes([bytes[2], bytes[3]]),
            count: bytes[4],
        }
    }

    pub(super) fn set_barrier(&self, state: &mut State, index: usize, barrier: BarrierState) {
        let at = self.barriers + index * BARRIER;
        let [low, high] = barrier.arrived.to_le_bytes();
        let bytes = [barrier.arrivals, barrier.votes, low, high, barrier.count];
        state.bytes[at..at + BARRIER].copy_from_slice(&bytes);
    }

    pub(super) fn object(&self, state: &State, slot: u8) -> u8 {
        state.bytes[self.objects + usize::from(slot)]
    }

    pub(super) fn set_object(&self, state: &mut State, slot: u8, object: u8) {
        state.bytes[self.objects + usize::from(slot)] = object;
    }

    #[inline]
    pub(super) fn count(&self, state: &State) -> usize {
        let bytes = state.bytes.len() - self.entries;
        // A division by a number that is not known costs more than all the rest.
        if self.entry == 4 { bytes / 4 } else { bytes / 6 }
    }

    #[inline]
    fn word(&self, state: &State, index: usize) -> u32 {
        let at = self.entries + index * self.entry;
        let bytes = &state.bytes[at..at + 4];
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    #[inline]
    pub(super) fn entry(&self, state: &State, index: usize) -> QueueEntry {
        let at = self.entries + index * self.entry + 4;
        let awaited = if self.entry > 4 {
            u16::from_le_bytes([state.bytes[at], state.bytes[at + 1]])
        } else {
            0
        };
        QueueEntry::of(self.word(state, index), awaited)
    }

    pub(super) fn entries<'s>(&'s self, state: &'s State) -> impl Iterator<Item = QueueEntry> + 's {
        (0..self.count(state)).map(|index| self.entry(state, index))
    }

    pub(super) fn set_entry(&self, state: &mut State, index: usize, entry: QueueEntry) {
        let at = self.entries + index * self.entry;
        state.bytes[at..at + 4].copy_from_slice(&entry.word().to_le_bytes());
        if self.entry > 4 {
            state.bytes[at + 4..at + 6].copy_from_slice(&entry.awaited.to_le_bytes());
        }
    }

    pub(super) fn remove(&self, state: &mut State, index: usize) {
        let at = self.entries + index * self.entry;
        let length = state.bytes.len();
        state.bytes.copy_within(at + self.entry.., at);
        state.bytes.truncate(length - self.entry);
    }

    /// Puts an entry after those for which `before` holds, which come first.
    pub(super) fn insert(
        &self,
        state: &mut State,
        entry: QueueEntry,
        before: impl Fn(&QueueEntry) -> bool,
    ) {
        let count = self.count(state);
        let index = (0..count).find(|&i| !before(&self.entry(state, i))).unwrap_or(count);
        let at = self.entries + index * self.entry;
        let length = state.bytes.len();
        state.bytes.resize(length + self.entry, 0);
        state.bytes.copy_within(at..length, at + self.entry);
        self.set_entry(state, index, entry);
    }
}
