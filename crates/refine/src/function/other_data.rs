//! Inputs with other data: numbers that decide no branch get the values at which arithmetic differs (reading R90).
//!
//! A branch on an argument or on a flag would hide the data after it if all numbers were changed together, so a number is
//! changed only if the source takes the same path with it.

use std::collections::{BTreeMap, BTreeSet};

use lift::function::Function;
use model::value::{low_bits, low64};

use super::bind::Setup;
use super::further_inputs::{InputChange, numbers};
use super::inputs::{ScannedSetup, scanned};
use super::scan::{ThreadScan, alone};
use crate::refiner::Refiner;

/// The maximum number of paths of the source whose data is changed.
const PATHS: usize = 4;

/// The maximum number of runs in search of the numbers that decide no branch, for the first and for each other fill.
const FIRST_TRIES: usize = 16;
const TRIES: usize = 4;

/// The values of the fills by number and width in bits: small negative numbers that are not multiples of 4 (division is
/// no shift for them), all bits, the largest and the least signed number, what is above that, and 0.
const FILLS: [fn(u64, u32) -> u64; 6] = [
    |number, bits| cut(0_u64.wrapping_sub(3 + 4 * (number % 24)), bits),
    |_, bits| cut(u64::MAX, bits),
    |_, bits| cut(u64::MAX, bits) >> 1,
    |_, bits| 1 << (bits.min(64) - 1),
    |_, bits| 1 | 1 << (bits.min(64) - 1),
    |_, _| 0,
];

fn cut(value: u64, bits: u32) -> u64 {
    value & low64(low_bits(u16::try_from(bits.min(64)).expect("at most 64")))
}

/// The path of the source: the lines of its accesses, and what its branches decide.
type SourcePath = (Vec<usize>, BTreeMap<usize, [bool; 2]>);

fn path([source, _]: &[ThreadScan; 2]) -> SourcePath {
    let lines = source.paths.iter().flatten().map(|access| access.line).collect();
    (lines, source.decisions.seen.clone())
}

/// Inputs with other data for the paths that the source takes with the first ones; `ran` runs both sides alone.
pub(super) fn with_other_data(
    setups: &[ScannedSetup],
    sides: [&Function; 2],
    refiner: &Refiner<'_>,
    ran: &mut dyn FnMut(Setup) -> Option<ScannedSetup>,
) -> Vec<ScannedSetup> {
    let mut all: Vec<ScannedSetup> = Vec::new();
    let mut known: BTreeSet<SourcePath> = BTreeSet::new();
    for (setup, _) in setups {
        if known.len() >= PATHS || refiner.is_over() {
            break;
        }
        let Ok(scans) = scanned(setup, sides, refiner, alone) else { continue };
        let path = path(&scans);
        if !known.insert(path.clone()) {
            continue;
        }
        let mut steady: Option<BTreeSet<usize>> = None;
        for fill in FILLS {
            if refiner.is_over() {
                break;
            }
            let changes = numbers(setup, &scans, sides[0], fill);
            let tries = if steady.is_none() { FIRST_TRIES } else { TRIES };
            let candidates = steady.clone().unwrap_or_else(|| (0..changes.len()).collect());
            let found = changed(setup, (&changes, &candidates), &path, tries, ran);
            let (kept, one) =
                found.map_or((BTreeSet::new(), None), |(kept, one)| (kept, Some(one)));
            steady.get_or_insert(kept);
            all.extend(one.filter(|(new, _)| all.iter().all(|(known, _)| known != new)));
        }
    }
    all
}

/// The setup with as many of the changes as leave the path as it is, found by halves; which they are, and what both sides
/// do with them. `None` if there is no such change.
fn changed(
    setup: &Setup,
    (changes, candidates): (&[InputChange], &BTreeSet<usize>),
    expected: &SourcePath,
    mut tries: usize,
    ran: &mut dyn FnMut(Setup) -> Option<ScannedSetup>,
) -> Option<(BTreeSet<usize>, ScannedSetup)> {
    let mut kept = BTreeSet::new();
    let mut best: Option<ScannedSetup> = None;
    let mut open: Vec<Vec<usize>> = vec![candidates.iter().copied().collect()];
    while let Some(part) = open.pop().filter(|_| tries > 0) {
        if part.is_empty() {
            continue;
        }
        tries -= 1;
        let mut other = best.as_ref().map_or(setup, |(setup, _)| setup).clone();
        for &change in &part {
            changes[change].apply(&mut other);
        }
        match ran(other).filter(|(_, scans)| path(scans) == *expected) {
            Some(one) => {
                best = Some(one);
                kept.extend(part);
            }
            None if part.len() > 1 => {
                let (first, second) = part.split_at(part.len() / 2);
                open.extend([second.to_vec(), first.to_vec()]);
            }
            None => {}
        }
    }
    Some((kept, best?))
}
