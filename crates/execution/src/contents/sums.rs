//! How far memory comes that instructions only add to which are executed once.

use std::collections::{BTreeMap, BTreeSet};

use super::PossibleValues;
use model::isa::TypeKind;
use model::isa::atom::{Atomic, AtomicOp};
use model::memory::VariableId;
use model::program::ThreadId;
use model::value::{Value, low_bits};

/// The variable, the first byte and the number of bytes of a write.
pub(super) type WrittenPlace = (VariableId, u32, u32);

/// What is added to places, at most, by each line that adds something.
#[derive(Default)]
pub(super) struct AddedSums {
    added: BTreeMap<WrittenPlace, BTreeMap<(ThreadId, usize), Value>>,
    /// Places to which something else is written.
    others: BTreeSet<WrittenPlace>,
    /// Whether some sum has become greater.
    changed: bool,
}

/// The largest amount that is counted: sums stay far from where they wrap.
const MOST_ADDED: Value = 1 << 24;

impl AddedSums {
    /// What an atomic adds that is executed once, in all bits of a place.
    pub(super) fn amount(atomic: &Atomic, added: &PossibleValues) -> Option<Value> {
        let integer =
            matches!(atomic.ty.kind, TypeKind::Unsigned | TypeKind::Signed | TypeKind::Bits);
        let adds = atomic.op == AtomicOp::Add && integer && atomic.ty.bits >= 32;
        let most = added.as_ref()?.last().copied().unwrap_or(0);
        (adds && most <= MOST_ADDED).then_some(most)
    }

    /// Notes a write: what it adds, or that it writes something else. Returns whether sums become greater.
    pub(super) fn note(
        &mut self,
        place: WrittenPlace,
        by: (ThreadId, usize),
        added: Option<Value>,
    ) -> bool {
        let changed = match added {
            None => self.others.insert(place),
            Some(added) => {
                let before = self.added.entry(place).or_default().insert(by, added);
                before.is_none_or(|before| before < added)
            }
        };
        self.changed |= changed;
        changed
    }

    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// The greatest value of a place that holds at most `initial` at first; `None` if it may be any. Where racing accesses may mix the
    /// bytes of values, an atomic may add to a value that is greater than all sums, unless these have one byte.
    pub(super) fn most(&self, place: WrittenPlace, initial: Value, tearing: bool) -> Option<Value> {
        let (variable, start, length) = place;
        let overlaps = |other: &WrittenPlace| {
            other.0 == variable && other.1 < start + length && start < other.1 + other.2
        };
        let added = self.added.keys().filter(|other| overlaps(other));
        if self.others.iter().any(overlaps) || added.clone().any(|other| *other != place) {
            return None;
        }
        let all: Value = self.added.get(&place)?.values().sum();
        let limit = if tearing { low_bits(8) } else { MOST_ADDED };
        initial.checked_add(all).filter(|&most| all <= MOST_ADDED && most <= limit)
    }
}
