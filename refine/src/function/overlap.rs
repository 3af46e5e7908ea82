//! Inputs with pointers that lead into the memory of others, and to the inside of words.

use execution::layout::Layout;
use lift::function::Function;
use model::memory::{Space, VariableId};
use model::program::ThreadId;

use super::bind::{Argument, Setup, bind};
use super::fault::FaultLines;
use super::inputs::{distinct, scanned};
use super::judge::{LocatedFinding, SIDES};
use super::scan::{ScanError, ThreadScan, scan};
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
    let mut setups = inside(setup, scans, sides);
    let mut misaligned = None;
    for other in shifted(setup, scans, sides) {
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

/// The maximum number of choices in which a pointer leads into the memory of another one.
const MOST_INSIDE: usize = 4;

/// Setups in which a pointer leads into the memory of another one, so that accesses at different offsets meet and one of
/// them writes.
fn inside(setup: &Setup, scans: &[ThreadScan; 2], sides: [&Function; 2]) -> Vec<Setup> {
    let Ok(bound) = bind(setup, sides[0], &Default::default()) else { return Vec::new() };
    let layout = Layout::new(&bound.program);
    let global =
        setup.arguments.iter().enumerate().filter_map(|(index, argument)| match argument {
            Argument::Pointer(memory) if setup.memory[*memory].space == Space::Global => {
                Some((index, *memory))
            }
            Argument::Pointer(_) | Argument::Integer(_) => None,
        });
    let global: Vec<(usize, usize)> =
        global.filter(|(index, _)| !sides[0].parameters[*index].no_alias).collect();
    let uses = |memory: usize| {
        let all = scans.iter().flat_map(|scan| &scan.uses);
        all.filter(move |one| one.place.memory == memory)
    };
    let mut all: Vec<Setup> = Vec::new();
    for &(_, around) in &global {
        for &(pointer, memory) in global.iter().filter(|(_, memory)| *memory != around) {
            for (here, there) in
                uses(around).flat_map(|here| uses(memory).map(move |of| (here, of)))
            {
                let apart = here.place.offset.checked_sub(there.place.offset);
                let Some(apart) = apart.filter(|apart| *apart > 0) else { continue };
                let aligned = uses(memory).all(|one| apart.is_multiple_of(one.place.bytes.max(1)));
                if !(here.writes || there.writes) || !aligned {
                    continue;
                }
                let variable = VariableId(u16::try_from(around).expect("few variables"));
                let address = layout.address(variable, ThreadId(0)) + u64::from(apart);
                let mut other = setup.clone();
                other.arguments[pointer] = Argument::Integer(address);
                let length = setup.memory[memory].element * setup.memory[memory].count;
                let larger = &mut other.memory[around];
                larger.count = larger.count.max((apart + length).div_ceil(larger.element));
                for (number, one) in (40..).zip(uses(memory)) {
                    let (offset, bytes) = (apart + one.place.offset, one.place.bytes);
                    if one.float.is_some() {
                        larger.set_initial(offset, bytes, distinct(number, one.float, bytes));
                    }
                }
                if all.len() < MOST_INSIDE && !all.contains(&other) {
                    all.push(other);
                }
            }
        }
    }
    all
}

/// Setups in which a pointer to bytes or halfwords leads into a word.
fn shifted(setup: &Setup, scans: &[ThreadScan; 2], sides: [&Function; 2]) -> Vec<Setup> {
    let Ok(bound) = bind(setup, sides[0], &Default::default()) else { return Vec::new() };
    let layout = Layout::new(&bound.program);
    let mut all = Vec::new();
    for (pointer, argument) in setup.arguments.iter().enumerate() {
        let Argument::Pointer(memory) = *argument else { continue };
        let own = setup.arguments.iter().filter(|other| *other == argument).count() == 1;
        if setup.memory[memory].space != Space::Global
            || sides[0].parameters[pointer].aligned
            || !own
        {
            continue;
        }
        let uses: Vec<_> = scans[0].uses.iter().filter(|one| one.place.memory == memory).collect();
        // The target may access the word around a byte or two.
        let alignment = uses.iter().map(|one| one.place.bytes).max().filter(|bytes| *bytes <= 2);
        let Some(alignment) = alignment else { continue };
        let variable = VariableId(u16::try_from(memory).expect("few variables"));
        let address = layout.address(variable, ThreadId(0)) + u64::from(alignment);
        let mut other = setup.clone();
        other.arguments[pointer] = Argument::Integer(address);
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
