//! Reads that may return a value that nobody has given to memory: of [`model::memory::Variable::uninitialised`].

use execution::unfold::Unfolding;
use model::bits::BitRow;

use super::options::{SourceOptions, union};
use super::outcome::place;
use super::{ExecutionFacts, UninitialisedRead};

/// The read of a slot, if it may return what nobody has written and this is not known yet.
pub(crate) fn sought_read<R: BitRow>(
    u: &Unfolding<'_>,
    options: &[Vec<R>],
    slot: usize,
    seen: &ExecutionFacts,
) -> Option<UninitialisedRead> {
    if !options[slot].iter().any(|&option| is_uninitialised(u, slot, option)) {
        return None;
    }
    let variable = u.layout.locations[initial(u, slot)].variable;
    let read = UninitialisedRead { at: place(u, u.slots[slot].read)?, variable };
    (!seen.uninitialised.contains(&read)).then_some(read)
}

/// Whether a slot reads what nobody has written, if it reads from these writes.
pub fn is_uninitialised<R: BitRow>(u: &Unfolding<'_>, slot: usize, source: R) -> bool {
    let of = &u.slots[slot];
    // What an operation on an mbarrier object finds is a matter of its phases.
    let object = u.events[of.read].of.is_some_and(|of| of.mbarrier.is_some());
    !object && u.layout.is_uninitialised(u.program, of.cell) && source.has(initial(u, slot))
}

/// The initial write of the location of a slot: these writes are the first events.
fn initial(u: &Unfolding<'_>, slot: usize) -> usize {
    usize::from(u.slots[slot].cell.object)
}

impl<R: BitRow> SourceOptions<R> {
    /// Those by which a slot reads what nobody has written.
    pub(crate) fn uninitialised(&self, u: &Unfolding<'_>, slot: usize) -> SourceOptions<R> {
        let mut slots = self.slots.clone();
        slots[slot].retain(|&option| is_uninitialised(u, slot, option));
        SourceOptions { rf: union(u, &slots), slots }
    }
}
