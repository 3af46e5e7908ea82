//! The inputs of a function: arguments, special registers and initial memory, chosen so that each of its
//! comparisons goes both ways (reading R90).

use std::collections::{BTreeMap, BTreeSet};

use execution::path::MISALIGNED;
use lift::external::is_memory;
use lift::function::{EntryValue, Function, Refused};
use model::isa::float::{self, Rounding};
use model::isa::{Type, TypeKind};
use model::memory::Space;
use model::program::Program;
use model::value::{Value, low_bytes, low64};

use super::bind::{Argument, Setup, WORKSPACE, bind};
use super::decisions::{POINTEES, dictionary};
use super::first_setup::{base, with_pointees};
use super::further_inputs::{FurtherInputs, endless, further_inputs, with_other_addresses};
use super::judge::{JudgeResult, LocatedFinding, SIDES, found};
use super::neighbour::neighbours;
use super::overlap::overlapping;
use super::scan::{
    ByteRange, MemoryUse, ScanError, ScanOptions, TOO_LONG, ThreadScan, alone, scan,
};
use super::subword;
use crate::refiner::Refiner;
use crate::verdict::{Finding, Verdict};

/// Sizes in bytes of the memory of a pointer. The first size that the function stays inside is used.
pub(super) const SIZES: [u32; 4] = [64, 256, 4096, 1 << 16];

/// The maximum number of choices of inputs, and of arguments that are tried to reach more code.
const MOST: usize = 20;
const TRIED: usize = 80;

/// A setup, and what both sides do in it.
pub(super) type ScannedSetup = (Setup, [ThreadScan; 2]);

/// The choices of inputs, the simplest first.
pub(super) struct Inputs {
    pub(super) setups: Vec<ScannedSetup>,
    /// Those with which both sides only run alone.
    pub(super) alone: Vec<ScannedSetup>,
    /// The finding for an input with which the source ends and the target does not.
    pub(super) bad_address: Option<LocatedFinding>,
    /// Lines of the source, and of the target, that decide the same way in all of them, and how.
    pub(super) one_sided: [Vec<(usize, bool)>; 2],
    /// Lines of both that compare what other threads may write, and have one result with all that they write.
    pub(super) unmoved: [Vec<usize>; 2],
}

/// The lines that decide something in the setups so far, by side.
#[derive(Default)]
struct Coverage {
    seen: [BTreeMap<usize, [bool; 2]>; 2],
}

impl Coverage {
    /// Adds what a setup reaches. Returns whether anything is new.
    fn add(&mut self, scans: &[ThreadScan; 2]) -> bool {
        let mut more = false;
        for (known, scan) in self.seen.iter_mut().zip(scans) {
            for (line, seen) in &scan.decisions.seen {
                let known = known.entry(*line).or_default();
                for (known, seen) in known.iter_mut().zip(seen) {
                    more |= *seen && !*known;
                    *known |= *seen;
                }
            }
        }
        more
    }

    fn one_sided(&self) -> [Vec<(usize, bool)>; 2] {
        let of = |seen: &BTreeMap<usize, [bool; 2]>| {
            let one = |(line, seen): (&usize, &[bool; 2])| {
                (seen[0] != seen[1]).then_some((*line, seen[1]))
            };
            seen.iter().filter_map(one).collect()
        };
        self.seen.each_ref().map(of)
    }

    fn is_complete(&self) -> bool {
        self.one_sided().iter().all(Vec::is_empty)
    }
}

/// Chooses the inputs. The bound on loops is raised if no execution of a loop ends before.
pub(super) fn inputs(sides: [&Function; 2], refiner: &mut Refiner<'_>) -> JudgeResult<Inputs> {
    let [source, target] = sides;
    let base = base(source, target)?;
    let FittedSetup { mut setup, scans: mut first, bound } = first_fitted(&base, sides, *refiner)?;
    refiner.bound = bound;
    let scans = |setup: &Setup| scans(setup, sides, refiner);
    elements(&mut setup, &first);
    let empty = setup.clone();
    let mut filled = setup.clone();
    fill(&mut filled, &first);
    subword::fill(&mut filled, &first);
    // A number that the function takes for an address or a count may lead it astray, unless it is an index of memory
    // that is a little larger.
    let mut numbered_scans = scans(&filled);
    for size in &SIZES[1..3] {
        let Err((_, ScanError::Outside { .. })) = numbered_scans else { break };
        for memory in filled.memory.iter_mut().filter(|memory| memory.grows) {
            memory.count = memory.count.max(size / memory.element);
        }
        numbered_scans = scans(&filled);
    }
    if let Ok(scans) = numbered_scans {
        let new = accessed(&scans).any(|place| !accessed(&first).any(|one| one == place));
        (setup, first) = (filled, scans);
        if new {
            (setup, first) = numbered(setup, first, sides, refiner);
        }
        if let Some(defined) = defined(&setup, &first, sides, refiner) {
            (setup, first) = defined;
        }
    }
    let mut coverage = Coverage::default();
    coverage.add(&first);
    let mut chosen = vec![(setup.clone(), first)];
    let by_themselves = [checked(source), target];
    let (mut tried, mut gone) = (0, None);
    let narrow = setup.narrow(sides).map(|other| (true, other));
    for (always, other) in narrow.into_iter().chain(others(&setup, sides)) {
        tried += 1;
        if tried > TRIED || !always && coverage.is_complete() {
            break;
        }
        let unscanned = other.clone();
        let scanned = match scans(&other) {
            // With these arguments it may access more memory than with the first ones.
            Err((_, ScanError::Outside { .. })) => refitted(&empty, &other, sides, *refiner),
            scanned => scanned.ok().map(|scanned| (other, scanned)),
        };
        let Some((other, scanned)) = scanned else {
            gone = gone.or_else(|| with_other_addresses(&unscanned, by_themselves, refiner));
            continue;
        };
        if !coverage.add(&scanned) && !always {
            continue;
        }
        // More places of the same memory have numbers of their own, too.
        let new = accessed(&scanned).any(|place| !accessed(&chosen[0].1).any(|one| one == place));
        let fitted = if new { refitted(&empty, &other, sides, *refiner) } else { None };
        chosen.push(fitted.unwrap_or((other, scanned)));
    }
    let mut setups: Vec<Setup> = Vec::new();
    for (setup, scans) in &chosen {
        let mut more = with_wanted(setup, scans);
        setups.append(&mut more);
    }
    let near = neighbours(&chosen, sides, |other| refitted(&empty, other, sides, *refiner));
    let near: Vec<Vec<Setup>> =
        near.iter().map(|(setup, scans)| with_wanted(setup, scans)).collect();
    setups.extend(near.iter().filter_map(|near| near.first().cloned()));
    setups.extend(aliases(&setup, source));
    let known = chosen.iter().find(|(known, _)| *known == setup);
    let overlapping = known
        .map_or_else(Default::default, |(_, scanned)| overlapping(&setup, scanned, sides, refiner));
    setups.extend(overlapping.setups);
    setups.extend(near.into_iter().flatten());
    let mut kept: Vec<ScannedSetup> = Vec::new();
    for setup in setups {
        if kept.len() == MOST {
            break;
        }
        if kept.iter().any(|(known, _)| *known == setup) {
            continue;
        }
        let scanned = match chosen.iter().find(|(known, _)| *known == setup) {
            Some((_, known)) => Ok(known.clone()),
            None => scans(&setup),
        };
        // With an alias or other values, an access may be outside the memory.
        let Ok(scanned) = scanned else { continue };
        // With an alias, the source may write memory that it promises nobody writes: it is undefined.
        if !kept.is_empty() && breaks_promise(&scanned[0]) {
            continue;
        }
        coverage.add(&scanned);
        kept.push((setup, scanned));
    }
    if refiner.is_over() {
        return Err(found(Verdict::Undecided, TOO_LONG));
    }
    let FurtherInputs { setups: alone, bad_address } =
        further_inputs(&kept, by_themselves, refiner);
    let bad_address = gone
        .or(overlapping.misaligned)
        .or(bad_address)
        .or_else(|| endless(&kept, by_themselves, refiner));
    let unmoved = unmoved(&kept);
    Ok(Inputs { setups: kept, alone, bad_address, one_sided: coverage.one_sided(), unmoved })
}

/// For each side, the lines of comparisons that have one result in all choices with what other threads write.
fn unmoved(kept: &[ScannedSetup]) -> [Vec<usize>; 2] {
    [0, 1].map(|side| {
        let mut moved: BTreeMap<usize, [bool; 2]> = BTreeMap::new();
        for (line, one) in kept.iter().flat_map(|(_, scans)| &scans[side].decisions.moved) {
            let known = moved.entry(*line).or_default();
            *known = [known[0] | one[0], known[1] | one[1]];
        }
        moved.into_iter().filter(|(_, moved)| moved[0] != moved[1]).map(|(line, _)| line).collect()
    })
}

/// A choice where numbers in memory lead to places that have no numbers yet: those have some, too.
fn numbered(
    setup: Setup,
    scans: [ThreadScan; 2],
    sides: [&Function; 2],
    refiner: &Refiner<'_>,
) -> ScannedSetup {
    let mut other = setup.clone();
    fill(&mut other, &scans);
    match scanned(&other, sides, refiner, scan) {
        Ok(scans) => (other, scans),
        Err(_) => (setup, scans),
    }
}

/// A choice with which the source is defined when it runs alone, such as one whose divisors are not 0: other places have
/// other values that decide comparisons. `None` if the source is defined as it is, or with none of them.
fn defined(
    setup: &Setup,
    scans: &[ThreadScan; 2],
    sides: [&Function; 2],
    refiner: &Refiner<'_>,
) -> Option<ScannedSetup> {
    let is_defined = |setup: &Setup| scanned(setup, [sides[0]; 2], refiner, alone).is_ok();
    let wanted = wanted(scans);
    let most = wanted.values().map(Vec::len).max().filter(|_| !is_defined(setup))?;
    (1..most).find_map(|choice| {
        let mut other = setup.clone();
        for (place, values) in &wanted {
            let memory = &mut other.memory[place.memory];
            if memory.space == Space::Global {
                let value = values[choice.min(values.len() - 1)];
                memory.set_initial(place.offset, place.bytes, value);
            }
        }
        let scans = scanned(&other, sides, refiner, scan).ok()?;
        is_defined(&other).then_some((other, scans))
    })
}

/// A function as it runs without other threads: numbers with which it is undefined are not tried.
pub(super) fn checked(function: &Function) -> &Function {
    function.checked.as_deref().unwrap_or(function)
}

/// The finding of a target that does not end where its source does, in place of one that has no answer.
fn without_end(
    base: &Setup,
    sides: [&Function; 2],
    refiner: &Refiner<'_>,
    found: Box<Finding>,
) -> Box<Finding> {
    let by_themselves = [checked(sides[0]), sides[1]];
    with_other_addresses(base, by_themselves, refiner)
        .map_or(found, |(finding, _)| Box::new(finding))
}

/// Whether a thread writes memory of which the program promises that no thread writes it.
fn breaks_promise(scan: &ThreadScan) -> bool {
    let promised = scan.uses.iter().filter(|one| one.promised);
    let writes = |place: ByteRange| {
        scan.uses.iter().any(|other| other.writes && other.place.overlaps(place))
    };
    promised.map(|one| one.place).any(writes)
}

/// The places that either side accesses.
pub(super) fn accessed(scans: &[ThreadScan; 2]) -> impl Iterator<Item = ByteRange> {
    scans.iter().flat_map(|scan| scan.uses.iter().map(|one| one.place))
}

/// The first choice with the arguments and special registers of another one, and memory that fits them. The bound on
/// loops remains.
fn refitted(
    empty: &Setup,
    other: &Setup,
    sides: [&Function; 2],
    refiner: Refiner<'_>,
) -> Option<ScannedSetup> {
    let changed = Setup { memory: empty.memory.clone(), ..other.clone() };
    let FittedSetup { mut setup, scans: first, .. } = fitted(&changed, sides, refiner).ok()?;
    elements(&mut setup, &first);
    fill(&mut setup, &first);
    let scanned = scans(&setup, sides, &refiner).ok()?;
    Some((setup, scanned))
}

/// The smallest memory that both sides stay inside, what they do there, and how often they execute a loop so that some
/// execution ends.
struct FittedSetup {
    setup: Setup,
    scans: [ThreadScan; 2],
    bound: u32,
}

/// The same with memory for pointers that are read from memory, if there are any.
fn first_fitted(
    base: &Setup,
    sides: [&Function; 2],
    refiner: Refiner<'_>,
) -> JudgeResult<FittedSetup> {
    let follows =
        |fit: &FittedSetup| fit.scans.iter().any(|scan| !scan.decisions.pointers.is_empty());
    let without = fitted(base, sides, refiner);
    // A function that follows each pointer without a test has no path to its end as long as none leads anywhere.
    if without.as_ref().is_ok_and(|fit| !follows(fit)) {
        return without;
    }
    match fitted(&with_pointees(base, sides), sides, refiner) {
        Ok(fit) if follows(&fit) => Ok(fit),
        Ok(_) | Err(_) => without.map_err(|found| without_end(base, sides, &refiner, found)),
    }
}

fn fitted(
    base: &Setup,
    sides: [&Function; 2],
    mut refiner: Refiner<'_>,
) -> JudgeResult<FittedSetup> {
    for size in SIZES {
        let mut setup = base.clone();
        for memory in setup.memory.iter_mut().filter(|memory| memory.grows) {
            memory.count = memory.count.max(size / memory.element);
        }
        let mut scanned = scans(&setup, sides, &refiner);
        while matches!(scanned, Err((_, ScanError::Cut))) && refiner.bound < ROUNDS {
            refiner.bound = (2 * refiner.bound).clamp(1, ROUNDS);
            scanned = scans(&setup, sides, &refiner);
        }
        match scanned {
            Ok(scans) => return Ok(FittedSetup { setup, scans, bound: refiner.bound }),
            Err((side, ScanError::Outside { line })) if size == SIZES[SIZES.len() - 1] => {
                let why = format!(
                    "line {line} of the {side}: the address is not that of a parameter or a variable"
                );
                return Err(found(Verdict::Unsupported, why));
            }
            Err((_, ScanError::Outside { .. })) => {}
            Err((side, ScanError::Fault { line, why })) => {
                // The source is scanned first, and ends. Other faults may be due to what is assumed of pointers. What the
                // source promises of alignments is checked apart.
                let is_defined = || scans(&setup, [checked(sides[0]), sides[0]], &refiner).is_ok();
                let faults = side == SIDES[1] && why == MISALIGNED && is_defined();
                let verdict = if faults { Verdict::WrongValue } else { Verdict::Unsupported };
                let after = if faults { ", and the source ends" } else { "" };
                let why = format!("line {line} of the {side}: {why}{after}");
                return Err(found(verdict, why));
            }
            Err((side, ScanError::Cut)) => {
                let why =
                    format!("every execution of the {side} is cut in a loop: raise `--bound`");
                return Err(found(Verdict::Undecided, why));
            }
            Err((side, ScanError::Limit(why))) => {
                return Err(found(Verdict::Undecided, format!("the {side}: {why}")));
            }
            Err((side, ScanError::Events)) => {
                let why = format!("the {side}: it has too many accesses for an engine");
                return Err(found(Verdict::Undecided, why));
            }
        }
    }
    Err(found(Verdict::Unsupported, "its addresses are not known"))
}

/// Gives each memory elements of the width of the narrowest access.
fn elements(setup: &mut Setup, scans: &[ThreadScan; 2]) {
    for (index, memory) in setup.memory.iter_mut().enumerate() {
        let places = scans.iter().flat_map(|scan| {
            scan.uses.iter().map(|one| one.place).chain(scan.private.keys().copied())
        });
        let widths = places.filter(|place| place.memory == index).map(|place| place.bytes);
        let element = widths.min().unwrap_or(memory.element).min(8);
        memory.divide(element);
    }
}

/// Fills the accessed memory with different numbers, so that no value is another by accident. A place that
/// comparisons depend on begins with the simplest value that they treat apart, and another place of strong
/// accesses with 0.
pub(super) fn fill(setup: &mut Setup, scans: &[ThreadScan; 2]) {
    let mut uses: BTreeMap<ByteRange, MemoryUse> = BTreeMap::new();
    for one in scans.iter().flat_map(|scan| &scan.uses) {
        let known = uses.entry(one.place).or_insert(*one);
        known.plain &= one.plain;
        known.float = known.float.or(one.float);
    }
    let decides =
        |place: &ByteRange| scans.iter().any(|scan| scan.decisions.wanted.contains_key(place));
    let begins = |setup: &Setup, place: &ByteRange| {
        setup.memory[place.memory].initial_of(place.offset, place.bytes)
    };
    let given: BTreeSet<u64> = uses.keys().map(|place| begins(setup, place)).collect();
    for (number, (place, one)) in (0..).zip(&uses) {
        if one.plain && begins(setup, place) == 0 && !decides(place) {
            let value = |number: u64| distinct(number, one.float, place.bytes);
            let mut numbers = (number..).step_by(uses.len()).take(1 + given.len());
            let other = numbers.find(|number| !given.contains(&value(*number)));
            let memory = &mut setup.memory[place.memory];
            memory.set_initial(place.offset, place.bytes, value(other.unwrap_or(number)));
        }
    }
    let private = scans.iter().flat_map(|scan| &scan.private);
    let private: BTreeMap<ByteRange, Option<u16>> = private
        .filter(|(place, _)| setup.arguments.contains(&Argument::Pointer(place.memory)))
        .map(|(place, float)| (*place, *float))
        .collect();
    for (number, (place, float)) in (0..).zip(private) {
        let value = distinct(number, float, place.bytes);
        setup.memory[place.memory].set_initial(place.offset, place.bytes, value);
    }
    for (place, values) in wanted(scans) {
        let memory = &mut setup.memory[place.memory];
        if memory.space == Space::Global {
            // A callee has answered, or nothing shows what follows a call when no other thread runs.
            let answered = values.iter().find(|value| **value != 0 && is_memory(&memory.name));
            memory.set_initial(place.offset, place.bytes, *answered.unwrap_or(&values[0]));
        }
    }
}

/// A number for each place; floats of this many bits in all parts of the place.
pub(super) fn distinct(number: u64, float: Option<u16>, bytes: u32) -> u64 {
    let Some(bits) = float else { return 51 + number };
    as_float(2 + number, bits, bytes)
}

/// A whole number as a float, in each part of a place. A narrower place has the upper part of the float: that of 32
/// bits is a `bf16`.
pub(super) fn as_float(number: u64, bits: u16, bytes: u32) -> u64 {
    let ty = Type { kind: TypeKind::Float, bits };
    let of = float::convert(ty, Type::U64, Rounding::Nearest, number.into());
    let parts = (0..64 / u32::from(bits)).map(|part| of << (part * u32::from(bits)));
    let all = low64(parts.fold(0, |all: Value, part| all | part));
    all >> u32::from(bits).saturating_sub(8 * bytes) & low64(low_bytes(bytes))
}

/// The values that decide the comparisons of both sides, by place.
pub(super) fn wanted(scans: &[ThreadScan; 2]) -> BTreeMap<ByteRange, Vec<u64>> {
    let mut all: BTreeMap<ByteRange, Vec<u64>> = BTreeMap::new();
    for (place, values) in scans.iter().flat_map(|scan| &scan.decisions.wanted) {
        let known = all.entry(*place).or_default();
        known.extend(values.iter().filter(|value| !known.contains(value)).collect::<Vec<_>>());
        known.sort_unstable();
    }
    // Of a word that the target exchanges for a part of it, the rest keeps its value.
    for word in subword::words(scans).values() {
        all.remove(word);
    }
    all
}

/// The setup with a list of one node, and with one of two: each pointer leads to the first node, and what may be a pointer in a
/// node leads to the next one or is null.
fn lists(setup: &Setup, scans: &[ThreadScan; 2]) -> Vec<Setup> {
    let address = |memory: usize| setup.memory[memory].absolute;
    let read = scans.iter().flat_map(|scan| &scan.uses).filter(|one| one.reads);
    let wide = read.map(|one| one.place).filter(|place| place.bytes == 8);
    let nodes: Vec<ByteRange> = wide.filter(|place| address(place.memory).is_some()).collect();
    let [head, next] = POINTEES;
    let of = |length: usize| {
        let mut list = setup.clone();
        let pointers = scans.iter().flat_map(|scan| &scan.decisions.pointers);
        for place in pointers.filter(|place| setup.memory[place.memory].space == Space::Global) {
            list.memory[place.memory].set_initial(place.offset, place.bytes, head);
        }
        for place in &nodes {
            let more = length == 2 && address(place.memory) == Some(head);
            let value = if more { next } else { 0 };
            list.memory[place.memory].set_initial(place.offset, place.bytes, value);
        }
        list
    };
    if nodes.is_empty() { Vec::new() } else { [1, 2].map(of).into() }
}

/// A setup, and one for each other value that a comparison treats apart.
fn with_wanted(setup: &Setup, scans: &[ThreadScan; 2]) -> Vec<Setup> {
    let mut first = setup.clone();
    let wanted = wanted(scans);
    // Arguments other than the first ones may reach comparisons of more places.
    for (place, values) in &wanted {
        let memory = &mut first.memory[place.memory];
        let begins = memory.initial_of(place.offset, place.bytes);
        if memory.space == Space::Global && !values.contains(&begins) {
            memory.set_initial(place.offset, place.bytes, values[0]);
        }
    }
    let mut all = vec![first.clone()];
    all.extend(lists(&first, scans));
    for (place, values) in &wanted {
        for &value in values {
            let mut other = first.clone();
            let memory = &mut other.memory[place.memory];
            if memory.space == Space::Global {
                memory.set_initial(place.offset, place.bytes, value);
                all.push(other);
            }
        }
    }
    // A write of 0, or a value read as 0, shows only where something else was, which the function does not write.
    let mut begun = first.clone();
    for (number, one) in (71..).zip(scans[0].uses.iter().filter(|one| !one.plain)) {
        let memory = &mut begun.memory[one.place.memory];
        if memory.space == Space::Global && !wanted.contains_key(&one.place) {
            memory.set_initial(one.place.offset, one.place.bytes, number);
        }
    }
    // A selection may leave what it reads out where the value is one that it singles out, and not where it is another.
    let mut last = begun.clone();
    for place in scans.iter().flat_map(|scan| &scan.decisions.selects) {
        let memory = &mut last.memory[place.memory];
        let value = wanted.get(place).and_then(|values| values.last());
        if let Some(value) = value.filter(|_| memory.space == Space::Global) {
            memory.set_initial(place.offset, place.bytes, *value);
        }
    }
    all.extend([begun, last]);
    all
}

/// Setups with other integer arguments and special registers: all integers 0, then one value changed at a time.
/// The first is a choice of its own, whatever it reaches: 0 is the value that code treats apart.
fn others(setup: &Setup, sides: [&Function; 2]) -> Vec<(bool, Setup)> {
    let integers: Vec<usize> = (0..setup.arguments.len())
        .filter(|index| matches!(setup.arguments[*index], Argument::Integer(_)))
        .collect();
    let mut all = Vec::new();
    if !integers.is_empty() {
        let mut other = setup.clone();
        for &index in &integers {
            other.arguments[index] = Argument::Integer(0);
        }
        all.push((other.arguments != setup.arguments, other));
    }
    let nothing = Default::default();
    let programs = sides.map(|side| bind(setup, side, &nothing));
    let [Ok(source), Ok(target)] = programs else { return all };
    let words = dictionary([&source.program, &target.program], false);
    let special = specials(sides);
    for &word in words.iter().filter(|word| u32::try_from(**word).is_ok()) {
        for &index in &integers {
            let mut other = setup.clone();
            other.arguments[index] = Argument::Integer(word);
            all.push((false, other));
        }
        for name in special.iter().filter(|_| word < 1024) {
            let mut other = setup.clone();
            other.special.insert(name.clone(), word);
            all.push((false, other));
        }
    }
    all
}

/// The special registers that either side reads, except those with one value.
pub(super) fn specials(sides: [&Function; 2]) -> BTreeSet<String> {
    let initial = sides.iter().flat_map(|side| &side.initial);
    initial
        .filter_map(|(_, value)| match value {
            EntryValue::Special(name) => Some(name).filter(|name| !is_assumed(name)).cloned(),
            EntryValue::Parameter(_)
            | EntryValue::Piece { .. }
            | EntryValue::Value(_)
            | EntryValue::Address(_) => None,
        })
        .collect()
}

/// Whether a special register has one value, or the one that readers of listings assume: the thread is the only active one of
/// its warp, and the first, and its CTA is the first of its cluster, of a launch with clusters; clocks stand still.
fn is_assumed(special: &str) -> bool {
    WORKSPACE.contains(&special)
        || special == "WARP_SZ"
        || special == "laneid"
        || special == "cluster_ctarank"
        || special == "is_explicit_cluster"
        || special.strip_suffix(".w").is_some()
        || ["lanemask_", "clock", "globaltimer"].iter().any(|first| special.starts_with(first))
}

/// Setups in which two pointers are equal.
fn aliases(setup: &Setup, source: &Function) -> Vec<Setup> {
    let pointed = |argument: &Argument| match argument {
        Argument::Pointer(memory) => Some(*memory),
        Argument::Integer(_) => None,
    };
    let pointers: Vec<(usize, usize)> = setup
        .arguments
        .iter()
        .enumerate()
        .filter_map(|(index, argument)| Some((index, pointed(argument)?)))
        .collect();
    let mut all = Vec::new();
    for (at, &(of, first)) in pointers.iter().enumerate() {
        for &(second, memory) in &pointers[at + 1..] {
            let same = setup.memory[first].space == setup.memory[memory].space;
            let alone = source.parameters[second].no_alias || source.parameters[of].no_alias;
            if same && first != memory && !alone {
                let mut equal = setup.clone();
                equal.arguments[second] = Argument::Pointer(first);
                all.push(equal);
            }
        }
    }
    all
}

/// The highest bound on loop iterations. The bound is raised up to it if no execution ends before.
const ROUNDS: u32 = 64;

/// What both sides do in a setup, or which side cannot be scanned and why.
fn scans(
    setup: &Setup,
    sides: [&Function; 2],
    refiner: &Refiner<'_>,
) -> Result<[ThreadScan; 2], (&'static str, ScanError)> {
    scanned(setup, sides, refiner, scan)
}

/// Scans both sides in a setup.
pub(super) fn scanned<T>(
    setup: &Setup,
    sides: [&Function; 2],
    refiner: &Refiner<'_>,
    scan: impl Fn(&Program, ScanOptions<'_>) -> Result<T, ScanError>,
) -> Result<[T; 2], (&'static str, ScanError)> {
    let bound_side = |side: usize| {
        bind(setup, sides[side], &Default::default())
            .map_err(|Refused { line, why }| (SIDES[side], ScanError::Fault { line, why }))
    };
    let threads = [bound_side(0)?, bound_side(1)?];
    let dictionary = dictionary([&threads[0].program, &threads[1].program], true);
    let one = |side: usize| {
        let (function, thread) = (sides[side], &threads[side]);
        let promised = |line: usize| {
            let row = thread.rows.get(line).copied().flatten();
            row.is_some_and(|row| function.rows[row].read_only)
        };
        let options = ScanOptions {
            promised: &promised,
            bound: refiner.bound,
            dictionary: &dictionary,
            is_over: &|| refiner.is_over(),
        };
        scan(&thread.program, options).map_err(|stop| {
            let stop = match stop {
                ScanError::Outside { line } => {
                    ScanError::Outside { line: thread.line(function, line) }
                }
                ScanError::Fault { line, why } => {
                    ScanError::Fault { line: thread.line(function, line), why }
                }
                other @ (ScanError::Limit(_) | ScanError::Events | ScanError::Cut) => other,
            };
            (SIDES[side], stop)
        })
    };
    Ok([one(0)?, one(1)?])
}
