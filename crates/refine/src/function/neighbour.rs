//! Inputs of a thread other than the first one. The first thread often reads what it wrote itself where the others read what
//! it wrote: a partial result, or its element of an array. Only a thread that reads what another one wrote shows
//! whether that write is ordered before its read.

use std::collections::BTreeSet;

use lift::function::Function;

use super::bind::Setup;
use super::inputs::{ScannedSetup, specials};
use super::scan::{ByteRange, ThreadScan};

/// The special registers that tell threads apart.
const PLACES: [&str; 2] = ["ctaid.", "tid."];

/// Choices like the first one, for the next thread or CTA: those in which some line reads, after a strong access, what
/// the thread has not written before, and in all choices so far it reads there only what the thread has written.
pub(super) fn neighbours(
    chosen: &[ScannedSetup],
    sides: [&Function; 2],
    refitted: impl Fn(&Setup) -> Option<ScannedSetup>,
) -> Vec<ScannedSetup> {
    let Some((first, _)) = chosen.first() else { return Vec::new() };
    let mut own = BTreeSet::new();
    let mut others = BTreeSet::new();
    for (_, scans) in chosen {
        for (side, scan) in scans.iter().enumerate() {
            let ReadingLines { own: ours, others: theirs } = ReadingLines::new(scan);
            own.extend(ours.into_iter().map(|line| (side, line)));
            others.extend(theirs.into_iter().map(|line| (side, line)));
        }
    }
    own.retain(|line| !others.contains(line));
    let mut all = Vec::new();
    let names = specials(sides);
    for name in names.iter().filter(|name| PLACES.iter().any(|place| name.starts_with(place))) {
        if own.is_empty() {
            break;
        }
        let mut other = first.clone();
        other.special.insert(name.clone(), 1);
        let Some((setup, scans)) = refitted(&other) else { continue };
        let known = own.len();
        for (side, scan) in scans.iter().enumerate() {
            let others = ReadingLines::new(scan).others;
            own.retain(|(of, line)| *of != side || !others.contains(line));
        }
        if own.len() < known {
            all.push((setup, scans));
        }
    }
    all
}

/// The lines that read after a strong access, which may order them after what other threads wrote.
#[derive(Default)]
struct ReadingLines {
    /// Those that read bytes which the thread has written before, on some path.
    own: BTreeSet<usize>,
    /// Those that read others, on some path.
    others: BTreeSet<usize>,
}

impl ReadingLines {
    fn new(scan: &ThreadScan) -> ReadingLines {
        let mut lines = ReadingLines::default();
        let mut written: BTreeSet<ByteRange> = BTreeSet::new();
        for path in &scan.paths {
            written.clear();
            let mut ordered = false;
            for access in path {
                if access.writes {
                    written.insert(access.place);
                } else if ordered {
                    let ours = written.iter().any(|place| place.overlaps(access.place));
                    if ours { &mut lines.own } else { &mut lines.others }.insert(access.line);
                }
                ordered |= access.strong;
            }
        }
        lines
    }
}
