//! Fences that do not wait for the loads that they should order, as the scoreboards of a listing show.

use std::collections::BTreeMap;

use sass::listing::ListingLine;
use sass::opcode::{Class, class};
use sass::scoreboard::Scoreboards;

use crate::column;

/// Each `CCTL.IVALL` that follows no wait for the last strong load or atomic before it, and this
/// access (reading R108). None if the listing does not show what waits.
pub(super) fn unordered(lines: &[&ListingLine<'_>], sm: u16) -> BTreeMap<usize, usize> {
    let mut found = BTreeMap::new();
    let scoreboards = |line: &ListingLine<'_>| {
        let annotations = &line.instruction.annotations;
        Scoreboards::of_words(&line.words, sm).or_else(|| Scoreboards::of_annotations(annotations))
    };
    if lines.iter().all(|line| scoreboards(line).is_none()) {
        return found;
    }
    // The last strong load or atomic, with its scoreboard, if nothing has waited for it on the way through the code that
    // takes no branch.
    let mut pending: Option<(usize, Option<u8>)> = None;
    for (index, line) in lines.iter().enumerate() {
        let of = scoreboards(line).unwrap_or_default();
        pending = pending.filter(|(_, one)| one.is_none_or(|one| of.required >> one & 1 == 0));
        let instruction = &line.instruction;
        match class(instruction.opcode.text) {
            // They wait for the loads of the thread.
            Some(Class::Membar | Class::Depbar) => pending = None,
            Some(Class::Cache) if instruction.has("IVALL") => {
                found.extend(pending.take().map(|(load, _)| (index, load)));
            }
            // What follows is reached from elsewhere.
            Some(Class::Branch | Class::Exit) if instruction.guard.is_none() => pending = None,
            _ => {}
        }
        let strong = instruction.has("STRONG") || instruction.has("MMIO");
        if column::loads(instruction) && strong {
            pending = Some((index, of.written));
        }
    }
    found
}
