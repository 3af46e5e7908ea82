//! Places of one or two bytes that the target accesses as a part of a word: loops around a compare-exchange of
//! the word, as compilers make them of operations that their target does not have.
//!
//! The model gives no meaning to accesses of different sizes that race. In contexts of such a target, other
//! threads therefore access the word, too, and write back what it began with outside of the place.

use std::collections::BTreeMap;

use super::bind::Setup;
use super::scan::{ByteRange, MemoryUse, ThreadScan};

/// The size of a word in bytes.
const WORD: u32 = 4;

/// The note of a function with such places.
pub(super) const NOTE: &str = "the target exchanges a word for an operation on a part of it: other threads are assumed to access the word, \
     too, and to preserve the rest of it";

/// For each place of the source that the target accesses only as a part of a word: the word. Of the word, the source
/// accesses nothing else.
pub(super) fn words(scans: &[ThreadScan; 2]) -> BTreeMap<ByteRange, ByteRange> {
    let [ours, theirs] = scans.each_ref().map(|scan| &scan.uses);
    let word = |one: &MemoryUse| {
        let place = one.place;
        let offset = place.offset - place.offset % WORD;
        let word = ByteRange { offset, bytes: WORD, ..place };
        let alone = ours.iter().all(|other| other.place == place || !other.place.overlaps(word));
        let mut uses = theirs.iter().filter(|other| other.place.overlaps(word)).peekable();
        let whole = uses.peek().is_some() && uses.all(|other| other.place == word);
        (place.bytes < WORD && place.end() <= word.end() && one.writes && alone && whole)
            .then_some((place, word))
    };
    ours.iter().filter_map(word).collect()
}

/// Gives the rest of each word numbers, so that a store to it shows.
pub(super) fn fill(setup: &mut Setup, scans: &[ThreadScan; 2]) {
    for (place, word) in words(scans) {
        let memory = &mut setup.memory[word.memory];
        let element = memory.element;
        for (number, offset) in (0xa1..).zip((word.offset..word.end()).step_by(element as usize)) {
            let one = ByteRange { offset, bytes: element, ..word };
            if !one.overlaps(place) {
                memory.set_initial(offset, element, number);
            }
        }
    }
}

/// A place in its word.
#[derive(Clone, Copy)]
pub(super) struct PartOfWord {
    pub(super) word: ByteRange,
    /// The lowest bit of the place.
    pub(super) shift: u32,
    /// The bits of the place, from bit 0.
    pub(super) mask: u64,
    /// The word with 0 in the place.
    rest: u64,
}

impl PartOfWord {
    pub(super) fn new(setup: &Setup, place: ByteRange, word: ByteRange) -> PartOfWord {
        let shift = 8 * (place.offset - word.offset);
        let mask = (1 << (8 * place.bytes)) - 1;
        let begins = setup.memory[word.memory].initial_of(word.offset, word.bytes);
        PartOfWord { word, shift, mask, rest: begins & !(mask << shift) }
    }

    /// The word with this value in the place.
    pub(super) fn with(self, value: u64) -> u64 {
        self.rest | (value & self.mask) << self.shift
    }
}
