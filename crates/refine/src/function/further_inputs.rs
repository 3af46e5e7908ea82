//! Further inputs, with which both sides only run alone: negative numbers, numbers that argument and special registers
//! are compared with, and those with which the conditions of selections hold and fail.

use std::collections::{BTreeMap, BTreeSet};

use lift::function::{EntryValue, Function, FunctionStep};
use model::memory::Space;
use model::value::{low_bits, low_bytes, low64};

use super::bind::{Argument, Setup, bind};
use super::decisions::dictionary;
use super::fault::FaultLines;
use super::inputs::{SIZES, ScannedSetup, accessed, distinct, fill, scanned, specials, wanted};
use super::judge::{LocatedFinding, SIDES};
use super::other_data::with_other_data;
use super::scan::{ByteRange, ScanError, ThreadScan, alone};
use crate::refiner::Refiner;
use crate::verdict::{Finding, Verdict};

/// The maximum number of further inputs.
const MOST: usize = 96;

/// The maximum number of inputs in which one number is negative.
const ALONE: usize = 24;

/// How often a loop body of the target may be executed where the source executes each at most as often as the bound
/// allows; the second number if the first takes too many instructions.
const ROUNDS: [u32; 2] = [32, 8];

/// What both sides do, or which of them is not scanned and why.
type ScannedSides = Result<[ThreadScan; 2], (&'static str, ScanError)>;

/// Further inputs, and what both sides do with them.
#[derive(Default)]
pub(super) struct FurtherInputs {
    pub(super) setups: Vec<ScannedSetup>,
    /// The finding for an input with which the source ends and the target does not.
    pub(super) bad_address: Option<LocatedFinding>,
}

/// Further inputs: for the first choice, and for each with other data.
pub(super) fn further_inputs(
    setups: &[ScannedSetup],
    sides: [&Function; 2],
    refiner: &Refiner<'_>,
) -> FurtherInputs {
    let Some((setup, scans)) = setups.first() else { return FurtherInputs::default() };
    let mut all: Vec<ScannedSetup> = Vec::new();
    let known: BTreeSet<ByteRange> = accessed(scans).collect();
    let mut gone = None;
    let mut ran = |mut other: Setup| {
        let found = grown(&mut other, sides, refiner);
        if gone.is_none() {
            gone = of_scans(&found, &other, sides, refiner);
        }
        let scans = found.ok()?;
        if accessed(&scans).all(|place| known.contains(&place)) {
            return Some((other, scans));
        }
        // Places that no input accessed before have numbers of their own, too.
        fill(&mut other, &scans);
        let scans = scanned(&other, sides, refiner, alone).ok()?;
        Some((other, scans))
    };
    let changes = negative(setup, scans, sides[0]);
    let mut together = setup.clone();
    for change in &changes {
        change.apply(&mut together);
    }
    match ran(together) {
        Some(one) => all.push(one),
        // One of them may be an index or a count.
        None => all.extend(changes.iter().take(ALONE).filter_map(|change| {
            let mut other = setup.clone();
            change.apply(&mut other);
            ran(other)
        })),
    }
    let further = elsewhere(setup, scans, sides, &changes);
    for other in further.into_iter().chain(last(setup, scans, sides)) {
        if refiner.is_over() {
            break;
        }
        all.extend(ran(other));
    }
    let more = selected(setup, scans, sides).into_iter().chain(compared(setup, sides));
    for change in more {
        if all.len() >= MOST || refiner.is_over() {
            break;
        }
        let mut other = setup.clone();
        change.apply(&mut other);
        all.extend(ran(other));
    }
    all.extend(with_other_data(setups, sides, refiner, &mut ran));
    FurtherInputs { setups: all, bad_address: gone }
}

/// The registers that tell threads apart, and the places of other threads of two CTAs of one warp in them.
const THREADS: [&[(&str, u64)]; 3] = [&[], &[("tid.x", 1)], &[("tid.x", 6), ("ctaid.x", 1)]];

/// A number that bounds what threads do, which none of them reaches.
const LARGE: u64 = 1_000;

/// The inputs of other threads: with numbers that comparisons do not single out in all places, and with negative ones;
/// with the numbers that the first choice has for arguments, and with large ones.
fn elsewhere(
    setup: &Setup,
    scans: &[ThreadScan; 2],
    sides: [&Function; 2],
    negative: &[InputChange],
) -> Vec<Setup> {
    let read = specials(sides);
    let mut plain = setup.clone();
    for (number, (place, _)) in (0..).zip(wanted(scans)) {
        let memory = &mut plain.memory[place.memory];
        if memory.space == Space::Global {
            memory.set_initial(place.offset, place.bytes, distinct(number, None, place.bytes));
        }
    }
    let mut below = plain.clone();
    for change in negative.iter().filter(|change| matches!(change, InputChange::Place(..))) {
        change.apply(&mut below);
    }
    let mut all: Vec<Setup> = Vec::new();
    for thread in THREADS {
        for mut other in [plain.clone(), below.clone()] {
            for &(name, value) in thread.iter().filter(|(name, _)| read.contains(*name)) {
                other.special.insert(name.to_owned(), value);
            }
            if thread.len() > 1 {
                let parameters = other.arguments.iter_mut().zip(&sides[0].parameters);
                for (number, (argument, parameter)) in (LARGE..).zip(parameters) {
                    // A number that does not fit would be another one.
                    let fits = number & !low64(low_bits(parameter.bits)) == 0;
                    if fits && matches!(argument, Argument::Integer(_)) {
                        *argument = Argument::Integer(number);
                    }
                }
            }
            if other != *setup && !all.contains(&other) {
                all.push(other);
            }
        }
    }
    all
}

/// The maximum number of inputs for the last CTA.
const LAST: usize = 16;

/// The inputs of the last CTA of this number: a counter has the number of those before it.
fn last(setup: &Setup, scans: &[ThreadScan; 2], sides: [&Function; 2]) -> Vec<Setup> {
    let count = "nctaid.x".to_owned();
    if !specials(sides).contains(&count) {
        return Vec::new();
    }
    let strong = scans.iter().flat_map(|scan| &scan.uses).filter(|one| !one.plain);
    let strong: BTreeSet<ByteRange> = strong.map(|one| one.place).collect();
    let of = |number: u64| {
        let mut other = setup.clone();
        other.special.insert(count.clone(), number);
        for place in wanted(scans).keys().filter(|place| strong.contains(place)) {
            let memory = &mut other.memory[place.memory];
            if memory.space == Space::Global {
                memory.set_initial(place.offset, place.bytes, number - 1);
            }
        }
        other
    };
    let numbers = words(setup, sides, false).into_iter().filter(|word| (3..256).contains(word));
    numbers.take(LAST).map(of).collect()
}

/// Scans both sides without other threads, with memory that they stay inside, as far as there is any.
pub(super) fn grown(
    setup: &mut Setup,
    sides: [&Function; 2],
    refiner: &Refiner<'_>,
) -> ScannedSides {
    let mut found = scanned(setup, sides, refiner, alone);
    for size in &SIZES {
        let Err((_, ScanError::Outside { .. })) = found else { break };
        for memory in setup.memory.iter_mut().filter(|memory| memory.grows) {
            memory.count = memory.count.max(size / memory.element);
        }
        found = scanned(setup, sides, refiner, alone);
    }
    found
}

/// The finding if the target does not end alone with an input, where the source does.
pub(super) fn with_other_addresses(
    setup: &Setup,
    sides: [&Function; 2],
    refiner: &Refiner<'_>,
) -> Option<LocatedFinding> {
    let mut setup = setup.clone();
    let found = grown(&mut setup, sides, refiner);
    of_scans(&found, &setup, sides, refiner)
}

fn of_scans(
    found: &ScannedSides,
    setup: &Setup,
    sides: [&Function; 2],
    refiner: &Refiner<'_>,
) -> Option<LocatedFinding> {
    match found {
        Err(stop) => of_stop(stop, setup, sides, refiner),
        Ok([source, target]) => (!source.paths.is_empty() && target.paths.is_empty())
            .then(|| gone(setup, sides[1], None, "the target never ends")),
    }
}

/// The same for some choices. Where other threads may write anything, a wait for what nobody writes ends on some path.
pub(super) fn endless(
    chosen: &[ScannedSetup],
    sides: [&Function; 2],
    refiner: &Refiner<'_>,
) -> Option<LocatedFinding> {
    let mut lines = sides[1].rows.iter().flat_map(|row| &row.lines).enumerate();
    let back = |(at, step): (usize, &FunctionStep)| {
        step.line.instruction.as_branch().is_some_and(|branch| branch.target <= at)
    };
    let loops = lines.any(back);
    let may_stay = |scans: &[ThreadScan; 2]| loops || scans[1].faults && !scans[0].faults;
    let mut chosen = chosen.iter().filter(|(_, scans)| may_stay(scans));
    chosen.find_map(|(setup, _)| with_other_addresses(setup, sides, refiner))
}

fn of_stop(
    (side, stop): &(&str, ScanError),
    setup: &Setup,
    sides: [&Function; 2],
    refiner: &Refiner<'_>,
) -> Option<LocatedFinding> {
    let (mut stop, mut rounds) = (stop.clone(), refiner.bound);
    if *side == SIDES[1] && stop == ScanError::Cut {
        for bound in ROUNDS.into_iter().filter(|bound| *bound > refiner.bound) {
            rounds = bound;
            let longer = Refiner { bound, ..*refiner };
            (_, stop) = grown(&mut setup.clone(), sides, &longer).err()?;
            if !matches!(stop, ScanError::Limit(_) | ScanError::Events) {
                break;
            }
        }
    }
    // The source is scanned first.
    let (line, why) = match stop {
        _ if *side != SIDES[1] => return None,
        ScanError::Outside { line } => {
            let why = "the target accesses memory outside of its parameters and variables";
            (Some(line), why.to_owned())
        }
        ScanError::Fault { line, why } => (Some(line), format!("the target accesses {why}")),
        ScanError::Cut => (None, format!("the target repeats a loop more than {rounds} times")),
        ScanError::Limit(_) | ScanError::Events => return None,
    };
    Some(gone(setup, sides[1], line, &why))
}

/// The finding for what the target does where the source ends.
fn gone(setup: &Setup, target: &Function, line: Option<usize>, why: &str) -> LocatedFinding {
    let at = line.map(|line| format!(" at line {line}")).unwrap_or_default();
    let why = format!("run alone, {why}{at}, and the source ends");
    let registers = setup.column(target, &Default::default()).initial.into_iter();
    // The others hold the same with every input.
    let chosen =
        |name: &str| target.initial.iter().any(|(known, value)| known == name && is_chosen(value));
    let registers = registers.filter(|(name, _)| chosen(name));
    let registers = registers.map(|(name, value)| format!("{name}={value}"));
    let memory = setup
        .memory
        .iter()
        .map(|memory| memory.declaration(&setup.memory))
        .filter(|text| text.contains('='));
    let context = format!("alone, with {}", registers.chain(memory).collect::<Vec<_>>().join("; "));
    let finding = Finding { context: Some(context), ..Finding::new(Verdict::WrongValue, why) };
    (finding, FaultLines { source: None, target: line })
}

/// Whether an input chooses what a register begins with.
fn is_chosen(value: &EntryValue) -> bool {
    match value {
        EntryValue::Parameter(_) | EntryValue::Piece { .. } | EntryValue::Special(_) => true,
        EntryValue::Value(_) | EntryValue::Address(_) => false,
    }
}

/// The paths that the source takes without other threads, as the lines of their accesses.
pub(super) struct TakenPaths {
    known: BTreeSet<Vec<usize>>,
}

impl TakenPaths {
    /// Those with these inputs.
    pub(super) fn new<'s>(
        setups: impl Iterator<Item = &'s Setup>,
        sides: [&Function; 2],
        refiner: &Refiner<'_>,
    ) -> TakenPaths {
        let mut taken = TakenPaths { known: BTreeSet::new() };
        for scans in setups.filter_map(|setup| scanned(setup, sides, refiner, alone).ok()) {
            taken.add(&scans);
        }
        taken
    }

    /// Adds the path of a scan without other threads. Returns whether it is new.
    pub(super) fn add(&mut self, [source, _]: &[ThreadScan; 2]) -> bool {
        self.known.insert(source.paths.iter().flatten().map(|access| access.line).collect())
    }
}

/// A change of an input.
pub(super) enum InputChange {
    Argument(usize, u64),
    Piece(usize, u64),
    Special(String, u64),
    Place(ByteRange, u64),
}

impl InputChange {
    pub(super) fn apply(&self, setup: &mut Setup) {
        match self {
            InputChange::Argument(index, value) => {
                setup.arguments[*index] = Argument::Integer(*value);
            }
            InputChange::Piece(index, value) => {
                setup.pieces[*index].value = Argument::Integer(*value);
            }
            InputChange::Special(name, value) => _ = setup.special.insert(name.clone(), *value),
            InputChange::Place(place, value) => {
                setup.memory[place.memory].set_initial(place.offset, place.bytes, *value);
            }
        }
    }
}

/// The places that are read in the memory of a parameter, with what they begin with, and the bits of their floats.
fn places(setup: &Setup, scans: &[ThreadScan; 2]) -> BTreeMap<ByteRange, (u64, Option<u16>)> {
    let pointed = pointed(setup);
    let mut all: BTreeMap<ByteRange, (u64, Option<u16>)> = BTreeMap::new();
    for one in scans.iter().flat_map(|scan| &scan.uses).filter(|one| one.reads) {
        let place = one.place;
        if pointed.contains(&place.memory) {
            let begins = setup.memory[place.memory].initial_of(place.offset, place.bytes);
            let known = all.entry(place).or_insert((begins, None));
            known.1 = known.1.or(one.float);
        }
    }
    all
}

/// All numbers negative, and their signed parts.
fn negative(setup: &Setup, scans: &[ThreadScan; 2], function: &Function) -> Vec<InputChange> {
    let wanted = wanted(scans);
    let mut all = Vec::new();
    for (place, (begins, float)) in places(setup, scans) {
        if let Some(bits) = float.filter(|_| !wanted.contains_key(&place)) {
            all.push(InputChange::Place(place, begins ^ signs(bits, place.bytes)));
        }
    }
    // What a comparison wants is left as it is.
    let decides = |change: &InputChange| matches!(change, InputChange::Place(place, _) if wanted.contains_key(place));
    let numbers = numbers(setup, scans, function, below_zero);
    all.extend(numbers.into_iter().filter(|change| !decides(change)));
    all
}

/// Another value for each number, which is not a float: in memory, and as an argument. `value` has its own number and
/// its width in bits.
pub(super) fn numbers(
    setup: &Setup,
    scans: &[ThreadScan; 2],
    function: &Function,
    value: fn(u64, u32) -> u64,
) -> Vec<InputChange> {
    let mut all = Vec::new();
    let mut numbers = 0..;
    let mut next = |bits: u32| value(numbers.next().unwrap_or_default(), bits);
    for (place, _) in places(setup, scans).into_iter().filter(|(_, (_, float))| float.is_none()) {
        all.push(InputChange::Place(place, next(8 * place.bytes)));
    }
    for (index, argument) in setup.arguments.iter().enumerate() {
        // Readers of listings assume that the high half of a parameter of 64 bits is 0.
        let bits = u32::from(function.parameters[index].bits).min(32);
        if matches!(argument, Argument::Integer(_)) && bits >= 8 {
            all.push(InputChange::Argument(index, next(bits)));
        }
    }
    for (index, piece) in setup.pieces.iter().enumerate() {
        if matches!(piece.value, Argument::Integer(_)) && piece.bits >= 8 {
            all.push(InputChange::Piece(index, next(u32::from(piece.bits).min(32))));
        }
    }
    all
}

/// The signs of all floats of this many bits in a place.
fn signs(bits: u16, bytes: u32) -> u64 {
    let bits = u32::from(bits).min(8 * bytes);
    (1..=8 * bytes / bits).fold(0, |all, part| all | 1 << (part * bits - 1))
}

/// A negative number for each number, which as floats of any size has few digits.
fn below_zero(number: u64, bits: u32) -> u64 {
    match bits.min(64) {
        ..16 => 0xc0 + number % 0x40,
        bits => (0xc080 + number % 0x400) << (bits - 16),
    }
}

/// The values of places with which the conditions of selections hold and fail, and those with which only the
/// comparisons of one side hold.
fn selected(setup: &Setup, scans: &[ThreadScan; 2], sides: [&Function; 2]) -> Vec<InputChange> {
    let mut all: BTreeSet<(ByteRange, u64)> = BTreeSet::new();
    for (place, values) in scans.iter().flat_map(|scan| &scan.decisions.chosen) {
        all.extend(values.iter().map(|value| (*place, *value)));
    }
    let words = words(setup, sides, true);
    let [ours, theirs] = scans.each_ref().map(|scan| &scan.decisions.held);
    for (place, held) in ours.difference(theirs) {
        let others = theirs.difference(ours).filter(|(other, _)| other == place);
        for (_, other) in others {
            let differs = held.iter().zip(other).position(|(ours, theirs)| ours != theirs);
            let word = differs.and_then(|at| words.get(at));
            all.extend(word.map(|word| (*place, word & low64(low_bytes(place.bytes)))));
        }
    }
    let places = pointed(setup);
    let changes = all.into_iter().filter(|(place, _)| places.contains(&place.memory));
    changes.map(|(place, value)| InputChange::Place(place, value)).collect()
}

/// The memory of parameters.
fn pointed(setup: &Setup) -> BTreeSet<usize> {
    let pieces = setup.pieces.iter().map(|piece| &piece.value);
    let pointed = setup.arguments.iter().chain(pieces).filter_map(|argument| match argument {
        Argument::Pointer(memory) => Some(*memory),
        Argument::Integer(_) => None,
    });
    pointed.filter(|memory| setup.memory[*memory].space == Space::Global).collect()
}

/// Numbers that decide the comparisons of both sides.
fn words(setup: &Setup, sides: [&Function; 2], with_floats: bool) -> Vec<u64> {
    let nothing = Default::default();
    let programs = sides.map(|side| bind(setup, side, &nothing));
    let [Ok(source), Ok(target)] = programs else { return Vec::new() };
    dictionary([&source.program, &target.program], with_floats)
}

/// The numbers that arguments and special registers may be compared with.
fn compared(setup: &Setup, sides: [&Function; 2]) -> Vec<InputChange> {
    let words = words(setup, sides, false);
    let integers: Vec<usize> = (0..setup.arguments.len())
        .filter(|index| matches!(setup.arguments[*index], Argument::Integer(_)))
        .collect();
    let special = specials(sides);
    let mut all = Vec::new();
    for &word in words.iter().filter(|word| u32::try_from(**word).is_ok()) {
        // A number that does not fit would be another one, and 0 may be undefined.
        let fits = |index: &&usize| word & !low64(low_bits(sides[0].parameters[**index].bits)) == 0;
        let fitting = integers.iter().filter(fits);
        all.extend(fitting.map(|index| InputChange::Argument(*index, word)));
        if word < 1024 {
            all.extend(special.iter().map(|name| InputChange::Special((*name).clone(), word)));
        }
    }
    all
}
