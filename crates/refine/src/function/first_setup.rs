//! The first setup of a function and its lowering: memory for every pointer and variable, and small integers.

use std::collections::{BTreeMap, BTreeSet};

use lift::function::{EntryValue, Function};
use model::isa::SpaceQualifier;
use model::memory::Space;

use super::bind::{
    Argument, Memory, ParameterPiece, ParameterPlace, Setup, WORKSPACE, bind, pointers,
};
use super::decisions::POINTEES;
use super::inputs::SIZES;
use super::judge::{JudgeResult, SIDES, found, refused};
use super::partner::OWN;
use crate::language::SourceId;
use crate::verdict::Verdict;

/// Both sides must have the same parameters and results.
pub(super) fn signatures(source: &Function, target: &Function) -> JudgeResult<()> {
    let (ours, theirs) = (source.parameters.len(), target.parameters.len());
    if ours != theirs {
        let why = format!("the source has {ours} parameters, the target {theirs}");
        return Err(found(Verdict::Unsupported, why));
    }
    let has_value = |function: &Function| function.result.iter().any(|word| word.mask != 0);
    match (source.result.len(), target.result.len()) {
        (_, 0) if has_value(source) => {
            Err(found(Verdict::WrongValue, "the target returns nothing"))
        }
        (0, _) if has_value(target) => {
            Err(found(Verdict::WrongValue, "the source returns nothing"))
        }
        (0, _) | (_, 0) => Ok(()),
        (ours, theirs) if ours != theirs => {
            let why = format!("the source returns {ours} words of 64 bits, the target {theirs}");
            Err(found(Verdict::Unsupported, why))
        }
        _ => Ok(()),
    }
}

/// The words of all cells. Memory must not have one of these names.
fn taken(functions: [&Function; 2]) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for function in functions {
        for row in &function.rows {
            let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
            all.extend(row.text.split(word).map(str::to_owned));
        }
        all.extend(function.initial.iter().map(|(name, _)| name.clone()));
    }
    all
}

fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut name = name.to_owned();
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    name
}

/// The first setup: memory for every pointer and variable, and small integers.
pub(super) fn base(source: &Function, target: &Function) -> JudgeResult<Setup> {
    let mut taken = taken([source, target]);
    let mut setup = Setup {
        memory: Vec::new(),
        arguments: Vec::new(),
        pieces: Vec::new(),
        special: BTreeMap::new(),
        workspace: None,
    };
    for function in [source, target] {
        for variable in &function.variables {
            let known = setup.memory.iter_mut().find(|memory| memory.name == variable.name);
            let element =
                [4, 2, 1].into_iter().find(|size| variable.bytes % size == 0).unwrap_or(1);
            match known {
                Some(memory) if memory.space != variable.space => {
                    let why = format!("`{}` is in two state spaces", variable.name);
                    return Err(found(Verdict::Unsupported, why));
                }
                Some(memory) => {
                    memory.count = memory.count.max(variable.bytes / memory.element);
                }
                None => {
                    let initial = variable.initial.chunks(element as usize).map(|bytes| {
                        bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
                    });
                    let initial = (0..).zip(initial).filter(|(_, value)| *value != 0);
                    setup.memory.push(Memory {
                        name: variable.name.clone(),
                        space: variable.space,
                        element,
                        count: variable.bytes / element,
                        grows: variable.grows,
                        alias: None,
                        absolute: None,
                        initial: initial.collect(),
                    });
                }
            }
        }
    }
    for (index, parameter) in source.parameters.iter().enumerate() {
        let pointer = parameter.points_to.or_else(|| {
            let theirs = target.parameters[index].points_to;
            let wide = parameter.bits == 64 && !SourceId::of(source.language).has_pointers();
            theirs.or(wide.then_some(Space::Global))
        });
        let argument = match pointer {
            Some(space) => {
                let own = matches!(space, Space::Shared | Space::Local | Space::Const);
                let space = if own { space } else { Space::Global };
                pointed(&mut setup, space, unique(&parameter.name, &mut taken))
            }
            None => Argument::Integer(integer(index, parameter.bits)),
        };
        setup.arguments.push(argument);
    }
    pieces(&mut setup, [source, target], &mut taken);
    let registers = [source, target].into_iter().flat_map(|side| &side.initial);
    let leads =
        |value: &EntryValue| matches!(value, EntryValue::Special(name) if name == WORKSPACE[0]);
    if registers.map(|(_, value)| value).any(leads) {
        let name = unique("grid", &mut taken);
        if let Argument::Pointer(memory) = pointed(&mut setup, Space::Global, name) {
            setup.workspace = Some(memory);
        }
    }
    for name in ["x", "w", "z"] {
        let name = unique(name, &mut taken);
        setup.memory.push(Memory {
            name,
            space: Space::Global,
            element: 4,
            count: 1,
            grows: false,
            alias: None,
            absolute: None,
            initial: BTreeMap::new(),
        });
    }
    let typed = SourceId::of(source.language).has_pointers();
    if typed && setup.pieces.is_empty() {
        return Ok(setup);
    }
    let used = used_addresses(&setup, [source, target])?;
    named_spaces(&mut setup, source, &used);
    // In a language without pointer types, a wide parameter that no access uses as an address is not known to
    // be one. Parts of parameters have no types.
    for (index, argument) in setup.arguments.iter_mut().enumerate().filter(|_| !typed) {
        let declared = source.parameters[index].points_to.is_some();
        if matches!(argument, Argument::Pointer(_))
            && !declared
            && !used.contains_key(&(index, None))
        {
            *argument = Argument::Integer(integer(index, source.parameters[index].bits));
        }
    }
    for (number, piece) in setup.pieces.iter_mut().enumerate() {
        if !used.contains_key(&(piece.parameter, Some(piece.offset))) {
            piece.value = Argument::Integer(composed(number, piece, [source, target]));
        }
    }
    Ok(setup)
}

/// The parameters that some side uses as addresses, with the state space that an access names, of the source first.
fn used_addresses(
    setup: &Setup,
    sides: [&Function; 2],
) -> JudgeResult<BTreeMap<ParameterPlace, SpaceQualifier>> {
    let mut used = BTreeMap::new();
    for (side, function) in SIDES.into_iter().zip(sides) {
        let bound =
            bind(setup, function, &Default::default()).map_err(|why| refused(side, &why))?;
        for (place, space) in pointers(function, bound.thread()) {
            used.entry(place).or_insert(space);
        }
    }
    Ok(used)
}

/// The space that the accesses name is that of a pointer without one. In a listing an address of local memory, or of shared
/// memory beside a variable, has another place than the pointer.
fn named_spaces(
    setup: &mut Setup,
    source: &Function,
    used: &BTreeMap<ParameterPlace, SpaceQualifier>,
) {
    let own = setup.memory.iter().any(|memory| memory.space == Space::Shared);
    for (index, argument) in setup.arguments.iter().enumerate() {
        let named = used.get(&(index, None)).and_then(|space| space.space());
        let named = named.filter(|space| match space {
            Space::Shared => !own,
            Space::Const => true,
            Space::Global | Space::Local | Space::ParamEntry | Space::ParamFunc | Space::Tensor => {
                false
            }
        });
        if let (Argument::Pointer(memory), Some(space), None) =
            (argument, named, source.parameters[index].points_to)
        {
            setup.memory[*memory].space = space;
        }
    }
}

/// A pointer to memory of its own.
fn pointed(setup: &mut Setup, space: Space, name: String) -> Argument {
    setup.memory.push(growing(space, name));
    Argument::Pointer(setup.memory.len() - 1)
}

/// Memory whose size is chosen so that the function stays inside.
fn growing(space: Space, name: String) -> Memory {
    Memory {
        name,
        space,
        element: 4,
        count: SIZES[0] / 4,
        grows: true,
        alias: None,
        absolute: None,
        initial: BTreeMap::new(),
    }
}

/// The same setup with memory to which pointers lead that are read from memory, before that of the context. There is more
/// than one, so that a pointer that is not a null pointer at first can be replaced.
pub(super) fn with_pointees(setup: &Setup, sides: [&Function; 2]) -> Setup {
    let mut setup = setup.clone();
    let mut taken = taken(sides);
    taken.extend(setup.memory.iter().map(|memory| memory.name.clone()));
    let own = setup.memory.split_off(setup.memory.len() - OWN);
    for address in POINTEES {
        let name = unique("node", &mut taken);
        setup.memory.push(Memory { absolute: Some(address), ..growing(Space::Global, name) });
    }
    setup.memory.extend(own);
    setup
}

/// The same setup with another virtual address of each of these memories, before that of the context. What the function
/// accesses remains, as nothing leads it there.
pub(super) fn with_names(setup: &Setup, of: &[usize], sides: [&Function; 2]) -> Setup {
    let mut setup = setup.clone();
    let mut taken = taken(sides);
    taken.extend(setup.memory.iter().map(|memory| memory.name.clone()));
    let first_own = setup.memory.len() - OWN;
    let own = setup.memory.split_off(first_own);
    for &root in of {
        let moved = if root < first_own { 0 } else { of.len() };
        let named = setup.memory.get(root).unwrap_or_else(|| &own[root - first_own]);
        let name = unique(&format!("{}_alias", named.name), &mut taken);
        let alias = Some(root + moved);
        let memory = Memory { name, alias, grows: false, absolute: None, ..named.clone() };
        setup.memory.push(memory);
    }
    setup.memory.extend(own);
    setup
}

/// The parts of parameters that are not scalars: the widest ones that either side reads. Each of 64 bits may be a
/// pointer.
fn pieces(setup: &mut Setup, sides: [&Function; 2], taken: &mut BTreeSet<String>) {
    let read = sides.iter().flat_map(|side| &side.initial).filter_map(|(_, value)| match value {
        EntryValue::Piece { parameter, offset, bits } => Some((*parameter, *offset, *bits)),
        EntryValue::Parameter(_)
        | EntryValue::Value(_)
        | EntryValue::Address(_)
        | EntryValue::Special(_) => None,
    });
    let mut read: Vec<(usize, u32, u16)> = read.collect();
    read.sort_by_key(|(parameter, offset, bits)| (*parameter, *offset, u16::MAX - bits));
    let mut end = (usize::MAX, 0);
    for &(parameter, offset, bits) in &read {
        if end.0 == parameter && offset < end.1 {
            continue;
        }
        end = (parameter, offset + u32::from(bits) / 8);
        let value = if bits == 64 {
            let name = format!("{}_{offset}", sides[0].parameters[parameter].name);
            pointed(setup, Space::Global, unique(&name, taken))
        } else {
            Argument::Integer(0)
        };
        setup.pieces.push(ParameterPiece { parameter, offset, bits, value });
    }
}

/// The number of a part of a parameter. Each part of it that a side reads by itself has a number of its own.
fn composed(number: usize, piece: &ParameterPiece, sides: [&Function; 2]) -> u64 {
    let starts: BTreeSet<u32> = sides
        .iter()
        .flat_map(|side| &side.initial)
        .filter_map(|(_, value)| {
            let EntryValue::Piece { parameter, offset, .. } = value else { return None };
            let at = offset.checked_sub(piece.offset)?;
            (*parameter == piece.parameter && 8 * at < piece.bits.into()).then_some(at)
        })
        .collect();
    let parts = (number..).zip(&starts);
    parts.fold(0, |all, (number, at)| all | integer(number, piece.bits) << (8 * at))
}

/// The argument for an integer parameter: a distinct number, or 1 for an `i1`.
fn integer(index: usize, bits: u16) -> u64 {
    if bits == 1 { 1 } else { 1 + index as u64 }
}
