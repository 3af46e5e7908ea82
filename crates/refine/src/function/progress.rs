//! Properties that outcomes do not show: accesses that are observable by themselves, and loops that wait.
//!
//! Reading R75: both sides have the same number of volatile accesses in the same order. Those of a vector may be split
//! or joined, since one access has all its elements. A loop that a strong
//! load ends must be a loop with a strong load of the same place.

use std::collections::BTreeSet;

use lift::function::Refused;
use model::isa::{Instruction, Reg};
use model::program::Thread;

use super::ask::RefinementCase;
use super::bind::{BoundFunction, bind};
use super::scan::{ByteRange, PathAccess, ThreadScan};
use crate::verdict::{Finding, Verdict};

/// A loop that waits on a place.
struct Wait {
    place: ByteRange,
    /// The line of its load in the thread.
    line: usize,
}

/// Compares a function and its lowering. The result is `weaker`, or notes.
pub(super) fn compare(
    case: &RefinementCase<'_>,
    scans: &[ThreadScan; 2],
) -> Result<Vec<Finding>, Refused> {
    let [source, target] = [case.source, case.target];
    let nothing = Default::default();
    let bounds = [bind(&case.setup, source, &nothing)?, bind(&case.setup, target, &nothing)?];
    let volatile = |line: usize| {
        let row = bounds[0].rows.get(line).copied().flatten();
        row.is_some_and(|row| source.rows[row].volatile)
    };
    let mut all = Vec::new();
    let places: BTreeSet<ByteRange> = scans[0]
        .paths
        .iter()
        .flatten()
        .filter(|one| volatile(one.line))
        .map(|one| one.place)
        .collect();
    let element = |line: usize| {
        let row = bounds[0].rows.get(line).copied().flatten();
        row.is_some_and(|row| source.rows[row].element)
    };
    let vectors = scans[0].paths.iter().flatten().filter(|one| element(one.line));
    let vectors: BTreeSet<(usize, u32)> = vectors.flat_map(|one| bytes(one.place)).collect();
    if let Some(why) = lost(scans, &places, &vectors, case) {
        all.push(Finding::new(Verdict::Weaker, format!("progress: {why}")));
    }
    if let Some(line) = plain_mmio(case, scans, &bounds) {
        let why = format!(
            "progress: line {line} of the target: an access that is `.mmio` in the source is not"
        );
        all.push(Finding::new(Verdict::Weaker, why));
    }
    let waits = waits(bounds[0].thread(), &scans[0]);
    let kept = self::waits(bounds[1].thread(), &scans[1]);
    for wait in waits.iter().filter(|wait| kept.iter().all(|kept| kept.place != wait.place)) {
        let line = bounds[0].line(source, wait.line);
        let name = &case.setup.memory[wait.place.memory].name;
        let why = format!(
            "the loop that waits for `{name}` at line {line} of the source is not a loop in the target"
        );
        // An atomic that is repeated until it succeeds may become one that does not fail.
        let load = matches!(bounds[0].thread().lines[wait.line].instruction, Instruction::Load(_));
        all.push(if load || volatile(wait.line) {
            Finding::new(Verdict::Weaker, format!("progress: {why}"))
        } else {
            let mut finding = Finding::new(Verdict::Preserved, String::new());
            finding.notes.push(format!("progress: {why}"));
            finding
        });
    }
    Ok(all)
}

/// The line of the target with an access, other than `.mmio`, to a place that its source accesses by `.mmio` only: such
/// an access is neither joined nor repeated (8.4.2).
fn plain_mmio(
    case: &RefinementCase<'_>,
    scans: &[ThreadScan; 2],
    bounds: &[BoundFunction; 2],
) -> Option<usize> {
    let is_mmio = |side: usize, line: usize| {
        let function = [case.source, case.target][side];
        let row = bounds[side].rows.get(line).copied().flatten();
        row.is_some_and(|row| function.rows[row].text.to_ascii_lowercase().contains(".mmio"))
    };
    let ours = scans[0].paths.iter().flatten();
    let (mmio, others): (Vec<&PathAccess>, Vec<&PathAccess>) =
        ours.partition(|one| is_mmio(0, one.line));
    let only = |place: ByteRange| {
        mmio.iter().any(|one| one.place == place) && others.iter().all(|one| one.place != place)
    };
    let mut theirs = scans[1].paths.iter().flatten();
    let plain = theirs.find(|one| only(one.place) && !is_mmio(1, one.line))?;
    Some(bounds[1].line(case.target, plain.line))
}

/// The bytes of a place: the memory, and an offset.
fn bytes(place: ByteRange) -> impl Iterator<Item = (usize, u32)> {
    (place.offset..place.end()).map(move |byte| (place.memory, byte))
}

/// The finding for volatile accesses that differ: those of `places`. Accesses to `vectors` are compared by bytes.
fn lost(
    scans: &[ThreadScan; 2],
    places: &BTreeSet<ByteRange>,
    vectors: &BTreeSet<(usize, u32)>,
    case: &RefinementCase<'_>,
) -> Option<String> {
    let split = |place: ByteRange| bytes(place).all(|byte| vectors.contains(&byte));
    let strong =
        |one: &&PathAccess| one.strong && (places.contains(&one.place) || split(one.place));
    let parts = |one: &PathAccess| {
        let (place, writes) = (one.place, one.writes);
        let bytes = if split(place) { place.bytes } else { 1 };
        (0..bytes).map(move |at| {
            let byte = ByteRange { offset: place.offset + at, bytes: 1, ..place };
            (if bytes > 1 { byte } else { place }, writes)
        })
    };
    let sequences = |scan: &ThreadScan| -> BTreeSet<Vec<(ByteRange, bool)>> {
        let of = |path: &Vec<PathAccess>| {
            let mut all: Vec<_> = path.iter().filter(strong).flat_map(parts).collect();
            // The parts of a vector have no order.
            for run in all.chunk_by_mut(|a, b| a.1 == b.1 && split(a.0) && split(b.0)) {
                run.sort_unstable();
            }
            all
        };
        scan.paths.iter().map(of).collect()
    };
    let (ours, theirs) = (sequences(&scans[0]), sequences(&scans[1]));
    if theirs.is_empty() && !ours.is_empty() {
        return Some("no path of the target ends, but one of the source does".to_owned());
    }
    if scans.iter().any(|scan| scan.bound_reached || scan.omits_paths) || ours == theirs {
        return None;
    }
    let only = ours.difference(&theirs).next().or_else(|| theirs.difference(&ours).next())?;
    let shown: Vec<String> = only
        .iter()
        .map(|(place, writes)| {
            let act = if *writes { "store" } else { "load" };
            format!("{act} `{}`", case.setup.memory[place.memory].name)
        })
        .collect();
    let shown = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
    let side = if ours.contains(only) { "source" } else { "target" };
    Some(format!("volatile accesses differ: only the {side} has a path with {shown}"))
}

/// Loops that a strong load or an atomic may end.
fn waits(thread: &Thread, scan: &ThreadScan) -> Vec<Wait> {
    let mut all: Vec<Wait> = Vec::new();
    for (end, line) in thread.lines.iter().enumerate() {
        let Some(branch) = line.instruction.as_branch() else { continue };
        if branch.target > end {
            continue;
        }
        let region = branch.target..=end;
        for one in scan.paths.iter().flatten() {
            let reads = !one.writes && one.strong && region.contains(&one.line);
            let known = all.iter().any(|wait| (wait.place, wait.line) == (one.place, one.line));
            if reads && !known && decides(thread, one.line, &region) {
                all.push(Wait { place: one.place, line: one.line });
            }
        }
    }
    all
}

/// Whether a branch of the region depends on the value that this line reads.
fn decides(thread: &Thread, read: usize, region: &std::ops::RangeInclusive<usize>) -> bool {
    let mut tainted: BTreeSet<Reg> = thread.lines[read].instruction.destinations().collect();
    let lines = &thread.lines[region.clone()];
    for _ in 0..lines.len() {
        let before = tainted.len();
        for line in lines {
            if matches!(line.instruction, Instruction::Alu(_) | Instruction::Cvta(_))
                && line.instruction.sources().any(|source| tainted.contains(&source))
            {
                tainted.extend(line.instruction.destinations());
            }
        }
        if tainted.len() == before {
            break;
        }
    }
    lines.iter().any(|line| {
        let branch = line.instruction.as_branch().is_some();
        let guard = line.guard.is_some_and(|guard| tainted.contains(&guard.predicate));
        branch && (guard || line.instruction.sources().any(|source| tainted.contains(&source)))
    })
}
