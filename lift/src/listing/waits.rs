//! Which loads an instruction waits for: scoreboards, as encodings from `sm_70` on and annotations show them.

use std::collections::BTreeMap;

use sass::listing::ListingLine;
use sass::opcode::{Class, class};
use sass::syntax::AnnotationKind;

use crate::column;

/// What an instruction does with the six scoreboards.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Scoreboards {
    /// It waits for these, a bit each.
    required: u8,
    /// The one that is cleared when its result is there.
    written: Option<u8>,
}

impl Scoreboards {
    /// Of an instruction; `None` if the listing shows neither its encoding nor annotations.
    fn of(line: &ListingLine<'_>, sm: u16) -> Option<Scoreboards> {
        if let (&[_, high], true) = (&line.words[..], sm >= 70) {
            // Bits 110 to 112 and 116 to 121 of the encoding.
            let written = u8::try_from(high >> 46 & 7).expect("three bits");
            return Some(Scoreboards {
                required: u8::try_from(high >> 52 & 0x3f).expect("six bits"),
                written: (written < 6).then_some(written),
            });
        }
        let annotations = &line.instruction.annotations;
        if annotations.is_empty() {
            return None;
        }
        let mut all = Scoreboards::default();
        for annotation in annotations {
            match annotation.kind {
                AnnotationKind::Require(mask) => all.required |= mask,
                AnnotationKind::Write(one) => all.written = Some(one),
                AnnotationKind::Read(_) | AnnotationKind::Schedule => {}
            }
        }
        Some(all)
    }
}

/// Each `CCTL.IVALL` that is not behind the last strong load or atomic before it, as nothing waits for that one, and this
/// access (reading R108). None if the listing does not show what waits.
pub(super) fn unordered(lines: &[&ListingLine<'_>], sm: u16) -> BTreeMap<usize, usize> {
    let mut found = BTreeMap::new();
    if lines.iter().all(|line| Scoreboards::of(line, sm).is_none()) {
        return found;
    }
    // The last strong load or atomic, with its scoreboard, if nothing has waited for it on the way through the code that
    // takes no branch.
    let mut pending: Option<(usize, Option<u8>)> = None;
    for (index, line) in lines.iter().enumerate() {
        let of = Scoreboards::of(line, sm).unwrap_or_default();
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
