//! The states that a search has found, each stored once, in the order in which they were found.
//!
//! A state is stored as a record: the position of its predecessor's record, its length,
//! and its bytes. Records are contiguous, so they are also the queue of the breadth-first search.
//! A hash table of positions finds them. It is much larger than any cache, so each lookup
//! waits for memory. Many states are looked up at a time, so that their cache misses overlap.
//! Tables of libraries do not support this.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// Bytes of a record before those of the state: a place and a length.
const HEAD: usize = 6;

/// A place in the table that is free.
const FREE: u64 = u64::MAX;

#[derive(Debug)]
pub(crate) struct Records {
    bytes: Vec<u8>,
    count: usize,
    /// The place of a record, below half of its state's hash. In the order of these halves, as far
    /// as there is room, so that a larger table needs no hash again.
    slots: Vec<u64>,
}

/// States to be looked up together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    items: Vec<StateRecord>,
}

#[derive(Clone, Copy, Debug)]
struct StateRecord {
    hash: u64,
    start: u32,
    length: u16,
    before: u32,
    asleep: u64,
}

impl Batch {
    /// A state that was reached from the one with that record.
    pub(crate) fn push(&mut self, state: &[u8], before: u32, asleep: u64) {
        let start = u32::try_from(self.bytes.len()).expect("batches are small");
        // One that is too long for a record is left out by `Records::add`.
        let length = u16::try_from(state.len()).unwrap_or(u16::MAX);
        self.bytes.extend_from_slice(state);
        self.items.push(StateRecord { hash: hash(state), start, length, before, asleep });
    }

    fn state(&self, item: StateRecord) -> &[u8] {
        let start = item.start as usize;
        &self.bytes[start..start + usize::from(item.length)]
    }
}

/// 32 bits.
fn hash(state: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(state);
    // Its best bits are the highest, before it turns them round.
    hasher.finish().rotate_right(26) >> 32
}

impl Records {
    pub(crate) fn new() -> Records {
        Records { bytes: Vec::new(), count: 0, slots: vec![FREE; 1 << 6] }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The end of the records: where the next one will be.
    pub(crate) fn end(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn state(&self, at: u32) -> &[u8] {
        let at = at as usize;
        let length = u16::from_le_bytes([self.bytes[at + 4], self.bytes[at + 5]]);
        &self.bytes[at + HEAD..at + HEAD + usize::from(length)]
    }

    pub(crate) fn before(&self, at: u32) -> u32 {
        let bytes = &self.bytes[at as usize..at as usize + 4];
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    pub(crate) fn next(&self, at: u32) -> u32 {
        let length = HEAD + self.state(at).len();
        at + u32::try_from(length).expect("states are short")
    }

    /// Bytes that are set aside, or are while more is.
    pub(crate) fn held(&self) -> usize {
        // While it grows, the old table is there too.
        self.bytes.capacity() + self.slots.len() * size_of::<u64>() * 3 / 2
    }

    /// Bytes in use.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len() + self.slots.len() * size_of::<u64>()
    }

    /// Adds the states that are new, and hands the place of each state, known or new, to `found`
    /// with that of the one before it, and what sleeps in it if it is new. False: there is no room
    /// for more.
    pub(crate) fn add(
        &mut self,
        batch: &mut Batch,
        mut found: impl FnMut(u32, u32, Option<u64>),
    ) -> bool {
        while (self.count + batch.items.len()) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        // These two loops only fetch what the third will need.
        let size = self.slots.len();
        let mut fetched = 0_u64;
        for item in &batch.items {
            fetched ^= self.slots[slot_of(item.hash, size)];
        }
        for item in &batch.items {
            let slot = self.slots[slot_of(item.hash, size)];
            if slot != FREE && slot >> 32 == item.hash {
                fetched ^= u64::from(self.bytes[(slot & 0xffff_ffff) as usize]);
            }
        }
        std::hint::black_box(fetched);
        let mut room = true;
        for index in 0..batch.items.len() {
            let item = batch.items[index];
            let count = self.count;
            match self.place(item.hash, batch.state(item), item.before) {
                Some(at) => {
                    found(at, item.before, (self.count > count).then_some(item.asleep));
                }
                None => room = false,
            }
        }
        batch.items.clear();
        batch.bytes.clear();
        room
    }

    fn place(&mut self, hash: u64, state: &[u8], before: u32) -> Option<u32> {
        let size = self.slots.len();
        let mut slot = slot_of(hash, size);
        loop {
            let known = self.slots[slot];
            if known == FREE {
                break;
            }
            if known >> 32 == hash {
                let at = u32::try_from(known & 0xffff_ffff).expect("half of it");
                if self.state(at) == state {
                    return Some(at);
                }
            }
            slot = (slot + 1) & (size - 1);
        }
        let at = u32::try_from(self.bytes.len()).ok()?;
        let length = u16::try_from(state.len()).ok().filter(|length| *length < u16::MAX)?;
        self.slots[slot] = hash << 32 | u64::from(at);
        self.bytes.extend_from_slice(&before.to_le_bytes());
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.extend_from_slice(state);
        self.count += 1;
        Some(at)
    }

    /// Twice as many slots.
    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let mut slots = vec![FREE; size];
        for &known in self.slots.iter().filter(|known| **known != FREE) {
            let mut slot = slot_of(known >> 32, size);
            while slots[slot] != FREE {
                slot = (slot + 1) & (size - 1);
            }
            slots[slot] = known;
        }
        self.slots = slots;
    }
}

/// The first slot for a hash of 32 bits, of `size` slots.
#[allow(clippy::cast_possible_truncation, reason = "it is below the size")]
fn slot_of(hash: u64, size: usize) -> usize {
    ((hash * size as u64) >> 32) as usize
}
