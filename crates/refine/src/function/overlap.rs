//! Inputs with pointers that lead into the memory of others, and to the inside of words.

use execution::layout::Layout;
use lift::function::{Function, Language};
use model::memory::Space;
use model::program::ThreadId;

use super::bind::{Argument, Setup, bind, variable_id};
use super::fault::FaultLines;
use super::inputs::{distinct, scanned};
use super::judge::{LocatedFinding, SIDES};
use super::names;
use super::scan::{ByteRange, MemoryUse, ScanError, ThreadScan, scan};
use crate::refiner::Refiner;
use crate::verdict::{Finding, Verdict};

/// Further choices of pointers.
#[derive(Default)]
pub(super) struct OverlappingInputs {
    pub(super) setups: Vec<Setup>,
    /// The finding of a target that needs more alignment than the source.
    pub(super) misaligned: Option<LocatedFinding>,
}

/// The choices beside one that was scanned.
pub(super) fn overlapping(
    setup: &Setup,
    scans: &[ThreadScan; 2],
    sides: [&Function; 2],
    refiner: &Refiner<'_>,
) -> OverlappingInputs {
    let Ok(bound) = bind(setup, sides[0], &Default::default()) else {
        return OverlappingInputs::default();
    };
    let pointers = Pointers { setup, layout: Layout::new(&bound.program), source: sides[0] };
    let mut setups = inside(&pointers, scans);
    setups.extend(aliased(&pointers, scans, sides));
    let mut misaligned = None;
    for other in shifted(&pointers, scans) {
        match scanned(&other, sides, refiner, scan) {
            Err((side, ScanError::Fault { line, why }))
                if side == SIDES[1] && scanned(&other, [sides[0]; 2], refiner, scan).is_ok() =>
            {
                let why = format!(
                    "line {line} of the target: {why}, where a pointer has no more than the alignment of the source's accesses"
                );
                let at = FaultLines { source: None, target: Some(line) };
                misaligned.get_or_insert((Finding::new(Verdict::WrongValue, why), at));
            }
            Ok(_) | Err(_) => setups.push(other),
        }
    }
    OverlappingInputs { setups, misaligned }
}

/// The pointers of a choice.
struct Pointers<'a> {
    setup: &'a Setup,
    layout: Layout,
    source: &'a Function,
}

impl Pointers<'_> {
    /// The parameters that point to global memory, with this memory.
    fn global(&self) -> impl Iterator<Item = (usize, usize)> {
        self.setup.arguments.iter().enumerate().filter_map(|(pointer, argument)| {
            let Argument::Pointer(memory) = *argument else { return None };
            (self.setup.memory[memory].space == Space::Global).then_some((pointer, memory))
        })
    }

    /// Whether the promised alignment of a parameter lets it point `bytes` bytes past an aligned address.
    fn may_be_moved(&self, pointer: usize, bytes: u32) -> bool {
        let promised = self.source.parameters[pointer].pointee_alignment;
        promised.is_none_or(|promised| u64::from(bytes).is_multiple_of(promised.max(1)))
    }

    /// Whether another pointer may lead to the same memory.
    fn is_shared(&self, pointer: usize) -> bool {
        !self.source.parameters[pointer].no_alias
    }

    /// The choice in which a parameter points `offset` bytes past the start of a memory.
    fn led(&self, pointer: usize, memory: usize, offset: u32) -> Setup {
        let address = self.layout.address(variable_id(memory), ThreadId(0)) + u64::from(offset);
        let mut other = self.setup.clone();
        other.arguments[pointer] = Argument::Integer(address);
        other
    }
}

/// The accesses to a memory.
fn uses(scans: &[ThreadScan], memory: usize) -> Vec<&MemoryUse> {
    let all = scans.iter().flat_map(|scan| &scan.uses);
    all.filter(|one| one.place.memory == memory).collect()
}

/// The maximum number of choices in which a pointer leads into the memory of another one.
const MOST_INSIDE: usize = 4;

/// Setups in which a pointer leads into the memory of another one, so that accesses at different offsets meet and one of
/// them writes.
fn inside(pointers: &Pointers<'_>, scans: &[ThreadScan; 2]) -> Vec<Setup> {
    let all: Vec<(usize, usize)> =
        pointers.global().filter(|(pointer, _)| pointers.is_shared(*pointer)).collect();
    let pairs = all.iter().flat_map(|&(_, around)| all.iter().map(move |&of| (around, of)));
    let setups = pairs.filter(|(around, (_, memory))| around != memory).flat_map(
        |(around, (pointer, memory))| {
            let moved = uses(scans, memory);
            let fits = |apart: u32| pointers.may_be_moved(pointer, apart);
            let apart = distances(&uses(scans, around), &moved, &fits);
            let led = move |apart| moved_into(pointers, pointer, memory, around, apart, &moved);
            apart.into_iter().map(led).collect::<Vec<Setup>>()
        },
    );
    setups.take(MOST_INSIDE).collect()
}

/// The maximum number of choices in which two pointers lead to one location through two virtual addresses.
const MOST_ALIASED: usize = 4;

/// Setups in which a pointer leads to the memory of another one through another virtual address, if the source orders
/// accesses through two of them. What listings show of such a fence is not known.
fn aliased(pointers: &Pointers<'_>, scans: &[ThreadScan; 2], sides: [&Function; 2]) -> Vec<Setup> {
    if sides[1].language != Language::Ptx || !names::has_fence(sides[0]) {
        return Vec::new();
    }
    let shared = pointers.global().filter(|(pointer, _)| pointers.is_shared(*pointer));
    let all: Vec<usize> = shared.map(|(_, memory)| memory).collect();
    let pairs = all.iter().flat_map(|&of| all.iter().map(move |&alias| (of, alias)));
    let meet = |(of, alias): &(usize, usize)| {
        let theirs = uses(scans, *alias);
        of < alias
            && uses(scans, *of).iter().any(|here| {
                let moved = |there: &&MemoryUse| ByteRange { memory: *of, ..there.place };
                let both = |there: &&MemoryUse| here.place.overlaps(moved(there));
                theirs.iter().any(|there| both(there) && (here.writes || there.writes))
            })
    };
    let setups = pairs.filter(meet).map(|(of, alias)| {
        let mut other = pointers.setup.clone();
        let bytes = other.memory[alias].element * other.memory[alias].count;
        other.memory[alias].alias = Some(of);
        let larger = &mut other.memory[of];
        larger.count = larger.count.max(bytes.div_ceil(larger.element));
        other
    });
    setups.take(MOST_ALIASED).collect()
}

/// How far into a memory another one has to begin so that an access of each meet, and one of the two writes.
fn distances(around: &[&MemoryUse], moved: &[&MemoryUse], fits: &dyn Fn(u32) -> bool) -> Vec<u32> {
    let alignment = moved.iter().map(|one| one.place.bytes).max().unwrap_or(1);
    let mut all = Vec::new();
    for (here, there) in around.iter().flat_map(|here| moved.iter().map(move |of| (here, of))) {
        let Some(apart) = here.place.offset.checked_sub(there.place.offset) else { continue };
        let meets = apart > 0 && (here.writes || there.writes) && fits(apart);
        if meets && apart.is_multiple_of(alignment.max(1)) && !all.contains(&apart) {
            all.push(apart);
        }
    }
    all.truncate(MOST_INSIDE);
    all
}

fn moved_into(
    pointers: &Pointers<'_>,
    pointer: usize,
    memory: usize,
    around: usize,
    apart: u32,
    moved: &[&MemoryUse],
) -> Setup {
    let mut other = pointers.led(pointer, around, apart);
    let before = &pointers.setup.memory[memory];
    let larger = &mut other.memory[around];
    larger.count =
        larger.count.max((apart + before.element * before.count).div_ceil(larger.element));
    for (number, one) in (40..).zip(moved) {
        let (offset, bytes) = (apart + one.place.offset, one.place.bytes);
        if one.float.is_some() {
            larger.set_initial(offset, bytes, distinct(number, one.float, bytes));
        }
    }
    other
}

/// Setups in which a pointer to bytes or halfwords leads into a word, and one of which the target needs more alignment than the source
/// has no more than the source needs.
fn shifted(pointers: &Pointers<'_>, scans: &[ThreadScan; 2]) -> Vec<Setup> {
    let arguments = &pointers.setup.arguments;
    let mut all = Vec::new();
    for (pointer, memory) in pointers.global() {
        let needed =
            |side: usize| uses(&scans[side..=side], memory).iter().map(|one| one.alignment).max();
        // The target may access the word around a byte or two.
        let alignment = needed(0).filter(|bytes| *bytes <= 2 || needed(1) > Some(*bytes));
        let uses = uses(&scans[..1], memory);
        let shared = arguments.iter().filter(|other| **other == arguments[pointer]).count() > 1;
        let fits = |bytes: &u32| !shared && pointers.may_be_moved(pointer, *bytes);
        let Some(alignment) = alignment.filter(fits) else { continue };
        let mut other = pointers.led(pointer, memory, alignment);
        let larger = &mut other.memory[memory];
        larger.count += 8_u32.div_ceil(larger.element);
        // What is beside it differs from it.
        for (number, one) in (30..).step_by(2).zip(&uses) {
            let (offset, bytes) = (one.place.offset, one.place.bytes);
            for (part, at) in (0..).zip([offset, offset + alignment]) {
                larger.set_initial(at, bytes, distinct(number + part, one.float, bytes));
            }
        }
        all.push(other);
    }
    all
}
