//! Turns drafts into a program: extents, state spaces, initial bytes.

use std::collections::BTreeSet;

use model::isa::{Operand, SpaceQualifier};
use model::memory::{Alias, Home, Space, Variable, VariableId};
use model::memory::{MBARRIER_BYTES, MbarrierState};
use model::program::{InitialValue, Register, Thread, ThreadId};
use model::scope::Placement;
use model::value::{self, Value};
use ptx::qualifier::Dialect;

use crate::draft::{DraftAccess, PointsTo, ProgramBuilder, VariableDraft};
use text::cursor::short;
use text::report::{ByteSpan, Diagnostics};

/// The most bytes of a variable that has no declared size, as of the largest array.
const MOST_BYTES: u32 = 1 << 20;

/// The most bytes of all variables of a test, each as often as threads or CTAs have one of their own.
const MOST_BYTES_OF_ALL: u64 = 16 << 20;

/// Whether a number of an instruction fits in `bits` bits, as an unsigned or signed number.
pub fn fits(number: u64, bits: u32) -> bool {
    bits >= 64 || fits_value(i128::from(number.cast_signed()).cast_unsigned(), bits)
}

/// Whether a value fits in `bits` bits, as an unsigned or signed number.
pub fn fits_value(value: Value, bits: u32) -> bool {
    if bits >= value::BITS.into() {
        return true;
    }
    let least = -(1_i128 << (bits - 1));
    value >> bits == 0 || (least..0).contains(&value.cast_signed())
}

/// Checks every access whose variable is known, and records its effect on the properties of the variable.
pub fn check_accesses(draft: &mut ProgramBuilder, report: &mut Diagnostics) {
    for thread in 0..draft.threads.len() {
        for access in std::mem::take(&mut draft.threads[thread].accesses) {
            if let Some((variable, offset)) = target(draft, thread, &access, report) {
                check_access(draft, variable, &DraftAccess { offset, ..access }, report);
            }
        }
    }
}

/// The variable and the offset of an access, if they are known without executing the program.
fn target(
    draft: &ProgramBuilder,
    thread: usize,
    access: &DraftAccess,
    report: &mut Diagnostics,
) -> Option<(VariableId, i64)> {
    match access.base {
        Operand::Address(variable) => Some((variable, access.offset)),
        // Reading R32: an offset in the window of the state space.
        Operand::Imm(_) if !access.space.may_be_global() => None,
        Operand::Imm(number) => {
            let address = number.wrapping_add(access.offset.cast_unsigned());
            let found = draft.at_number(address, access.scalar * access.elements);
            if found.is_none() {
                report
                    .error("address", access.at, "no variable is at this address")
                    .note("of global memory, as the initial state has it")
                    .help(format!("put one there: x=0 @0x{address:x}; or name a variable: [x]"));
            }
            found
        }
        Operand::Reg(register) => {
            let owner = &draft.threads[thread];
            let register = &owner.registers[usize::from(register.0)];
            if !register.written && register.initial.is_none() {
                let (owner, name) = (&owner.name, short(&register.name));
                report
                    .error("address", access.at, format!("`{name}` has no address"))
                    .note("this register is never written")
                    .help(format!("put {owner}:{name}=x; into the initial state"));
            }
            match register.points_to {
                PointsTo::Variable(variable) => Some((variable, access.offset)),
                PointsTo::Nothing | PointsTo::Unknown => None,
            }
        }
    }
}

fn check_access(
    draft: &mut ProgramBuilder,
    named: VariableId,
    access: &DraftAccess,
    report: &mut Diagnostics,
) {
    let root = draft.root(named);
    let shown = short(&draft.variable(named).name);
    let bytes = access.scalar * access.elements;
    let start = draft.variable(named).absolute.map_or(0, u64::cast_signed);
    let align = access.align;
    if (start + access.offset).rem_euclid(i64::from(align)) != 0 {
        report
            .error(
                "misaligned",
                access.at,
                format!("an access of {bytes} bytes must be aligned to {align} bytes"),
            )
            .note(match start {
                0 => format!("{} from the beginning of `{shown}`", access.offset),
                _ => format!("at 0x{:x}", start + access.offset),
            })
            .section(model::section::ADDRESSES_AS_OPERANDS);
        return;
    }
    let reach = access.offset + i64::from(bytes);
    let extent = declared_extent(draft.variable(root));
    if access.offset < 0 || extent.is_some_and(|extent| reach > i64::from(extent)) {
        // Whether there is one shows where it is executed.
        if access.may_be_none {
            return;
        }
        let has = match extent {
            Some(extent) => format!("`{shown}` has {extent} bytes"),
            None => format!("before the first byte of `{shown}`"),
        };
        let first = access.offset;
        let help = wider(draft.variable(root), access);
        let declared = draft.variable(root).at;
        report
            .error("out-of-bounds", access.at, format!("this access is outside `{shown}`"))
            .note(format!("bytes {first} to {}", reach - 1))
            .label(declared, has)
            .help_if(help);
        return;
    }
    let declared = draft.variable(root).space;
    let uses = &mut draft.variable(root).uses;
    uses.widest = uses.widest.max(access.scalar);
    // An access beyond the end of its variable reaches none of its bytes.
    uses.reach =
        uses.reach.max(u32::try_from(reach).ok().filter(|n| *n <= MOST_BYTES).unwrap_or(0));
    if let Some(declared) = declared
        && !access.reach.spaces.contains(&declared)
        && access.space.space().is_none_or(|space| space == declared)
    {
        let first = draft.variable(root).at;
        report
            .error("state-space", access.at, format!("`{shown}` is in {} memory", declared.word()))
            .note(access.reach.because)
            .label(first, "declared here")
            .help_if(tensor_help(declared, &shown));
        return;
    }
    let Some(here) = access.space.space() else { return };
    let at = access.space_at;
    let first = uses.space.get_or_insert((here, at));
    let message = |was: Space| format!("`{shown}` is in {} memory", was.word());
    let note = if here == Space::Tensor {
        access.reach.because.to_owned()
    } else {
        format!("`.{}` here", here.name())
    };
    if let Some(declared) = declared {
        // A parameter of another kind is read like any other address; the result is undefined.
        let parameters = access.space.is_param() && declared.is_parameter();
        if declared != here && !parameters {
            let first = draft.variable(root).at;
            report
                .error("state-space", at, message(declared))
                .note(note)
                .label(first, "declared here")
                .help_if(tensor_help(declared, &shown));
        }
    } else if first.0 != here {
        let (was, first) = *first;
        report
            .error(
                "state-space",
                at,
                format!("`{shown}` is in {} and in {} memory", was.word(), here.word()),
            )
            .note(note)
            .label(first, "and another state space here");
    }
}

/// The name of a type of this width in a declaration.
fn type_of(bits: u32) -> String {
    if bits == 128 { ".b128".to_owned() } else { format!("uint{bits}_t") }
}

/// A declaration that is large enough for the access.
fn wider(variable: &VariableDraft, access: &DraftAccess) -> Option<String> {
    let name = short(&variable.name);
    if access.space == SpaceQualifier::Tensor && access.offset >= 0 {
        let end = u64::try_from(access.offset).ok()? + u64::from(access.scalar * access.elements);
        return Some(format!(".tmem {name}[{}]", end.div_ceil(u64::from(access.scalar))));
    }
    let fits_type = variable.count.is_none() && access.offset == 0 && access.elements == 1;
    match (fits_type, access.scalar) {
        (true, bytes) => Some(format!("{} {name}", type_of(8 * bytes))),
        (false, bytes) if access.offset >= 0 => {
            let element = variable.element.unwrap_or(bytes);
            let end = u64::try_from(access.offset).ok()? + u64::from(bytes * access.elements);
            let count = end.div_ceil(u64::from(element));
            Some(format!("{} {name}[{count}]", type_of(8 * element)))
        }
        _ => None,
    }
}

fn declared_extent(variable: &VariableDraft) -> Option<u32> {
    variable.element.map(|element| element * variable.count.unwrap_or(1))
}

/// The size of one element in bytes: as declared, otherwise as accessed.
pub fn element(draft: &ProgramBuilder, id: VariableId) -> u32 {
    let variable = &draft.variables[usize::from(draft.root(id).0)];
    let default = match draft.dialect {
        Dialect::Ptx | Dialect::Cxx => 4,
        Dialect::Peer => 8,
    };
    variable.element.unwrap_or(match variable.uses.widest {
        0 => default,
        widest => widest,
    })
}

pub fn extent(draft: &ProgramBuilder, id: VariableId) -> u32 {
    let variable = &draft.variables[usize::from(draft.root(id).0)];
    let extents = variable.multimem.iter().map(|&(location, _)| own_extent(draft, location));
    extents.min().unwrap_or_else(|| own_extent(draft, id))
}

/// The extent of a variable that is not a multimem address.
fn own_extent(draft: &ProgramBuilder, id: VariableId) -> u32 {
    let variable = &draft.variables[usize::from(draft.root(id).0)];
    (element(draft, id) * variable.count.unwrap_or(1)).max(variable.uses.reach)
}

pub fn space(draft: &ProgramBuilder, id: VariableId) -> Space {
    let variable = &draft.variables[usize::from(draft.root(id).0)];
    let used = variable.uses.space.map(|(space, _)| space);
    variable.space.or(used).unwrap_or_default()
}

pub fn variables(draft: &ProgramBuilder, report: &mut Diagnostics) -> Vec<Variable> {
    let too_large = too_large(draft);
    if let Some(at) = too_large {
        let most = MOST_BYTES_OF_ALL >> 20;
        let message = format!("the variables of a test take at most {most} MiB");
        report
            .error("memory", at, message)
            .note("with those of which each thread or CTA has one of its own")
            .help("declare shorter arrays: x[4]");
    }
    let all = (0..draft.variables.len()).map(|index| {
        let id = VariableId(u16::try_from(index).expect("the draft has few enough"));
        let variable = &draft.variables[index];
        Variable {
            name: variable.name.clone(),
            space: space(draft, id),
            initial: if too_large.is_some() { Vec::new() } else { initial(draft, id, report) },
            uninitialised: variable.uninitialised,
            declared: variable.element.is_some(),
            alias: variable.alias.map(|(proxy, of)| Alias { of, proxy }),
            home: home(draft, id, report),
            absolute: absolute(draft, id, report),
            mbarriers: mbarriers(draft, id, report),
            tensormap: tensormap(draft, id, report),
            multimem: multimem(draft, id, report),
        }
    });
    all.collect()
}

/// The variable with which all take more than a test has.
fn too_large(draft: &ProgramBuilder) -> Option<ByteSpan> {
    let mut bytes = 0;
    draft.variables.iter().enumerate().find_map(|(index, variable)| {
        let id = VariableId(u16::try_from(index).expect("the draft has few enough"));
        let threads = (0..).take(draft.threads.len()).map(ThreadId);
        let owners: BTreeSet<ThreadId> =
            threads.map(|thread| draft.owner(space(draft, id), thread)).collect();
        bytes += u64::from(extent(draft, id)) * u64::try_from(owners.len()).unwrap_or(u64::MAX);
        (bytes > MOST_BYTES_OF_ALL).then_some(variable.at)
    })
}

/// The absolute address of a variable, if it has one. Variables must not overlap.
fn absolute(draft: &ProgramBuilder, id: VariableId, report: &mut Diagnostics) -> Option<u64> {
    let variable = &draft.variables[usize::from(id.0)];
    let start = variable.absolute?;
    let name = short(&variable.name);
    let space = space(draft, id);
    if space != Space::Global {
        report
            .error("absolute", variable.at, format!("`{name}` is in {} memory", space.name()))
            .note("only a variable in global memory is put at an address")
            .help(format!("{name}=0;"));
    }
    let end = start + u64::from(extent(draft, id));
    let others = draft.variables.iter().enumerate().take(usize::from(id.0));
    for (index, other) in others {
        let other_id = VariableId(u16::try_from(index).expect("the draft has few enough"));
        let Some(begin) = other.absolute else { continue };
        if start < begin + u64::from(extent(draft, other_id)) && begin < end {
            let message = format!("`{name}` and `{}` share bytes", short(&other.name));
            report
                .error("absolute-overlap", variable.at, message)
                .note(format!("from 0x{start:x} to 0x{end:x}"))
                .label(other.at, format!("from 0x{begin:x}"))
                .help("move them further apart; `y @ generic aliases x` declares an alias");
        }
    }
    Some(start)
}

/// The home of a variable. Only global memory can be placed, since other memory belongs to an SM.
fn home(draft: &ProgramBuilder, id: VariableId, report: &mut Diagnostics) -> Option<Home> {
    let variable = &draft.variables[usize::from(id.0)];
    let (home, at) = variable.home?;
    let space = space(draft, id);
    if space != Space::Global {
        let name = short(&variable.name);
        report
            .error(
                "home",
                at,
                format!("`{name}` is in {} memory, which is at its SM", space.name()),
            )
            .note("only global memory has a home")
            .help(format!("{name}=0;"));
    }
    Some(home)
}

/// The states of mbarrier objects that are declared as initialized: `{count, phase, tx}` each.
fn mbarriers(
    draft: &ProgramBuilder,
    id: VariableId,
    report: &mut Diagnostics,
) -> Vec<MbarrierState> {
    let variable = &draft.variables[usize::from(id.0)];
    if let Some(&(_, at)) = variable.objects.last().and_then(|of| of.first()) {
        let (given, there) = (variable.objects.len(), extent(draft, id) / MBARRIER_BYTES);
        if u32::try_from(given) != Ok(there) {
            let name = short(&variable.name);
            let message =
                format!("`{name}` has {there} mbarrier objects, with initial states for {given}");
            report
                .error("mbarrier-count", at, message)
                .note("all objects of an array are initialized, or none")
                .help(
                    "give the state of each, or leave them out and write `mbarrier.init` for each",
                );
        }
    }
    variable.objects.iter().map(|values| mbarrier(values, report)).collect()
}

fn mbarrier(values: &[(Value, ByteSpan)], report: &mut Diagnostics) -> MbarrierState {
    let of = |index: usize| values.get(index).map_or(0, |(value, _)| *value);
    let at = |index: usize| values[index.min(values.len() - 1)].1;
    let count = of(0);
    if count == 0 || count >= 1 << 20 {
        report.error("mbarrier-count", at(0), "an mbarrier object expects 1 to 1048575 arrivals");
    }
    let phase = u16::try_from(of(1));
    if phase.is_err() {
        report.error("mbarrier-count", at(1), "the phase of an mbarrier object is 0 to 65535");
    }
    let tx = i32::try_from(of(2).cast_signed()).ok().filter(|tx| tx.abs() < 1 << 20);
    if tx.is_none() {
        let message = "the tx-count of an mbarrier object is -1048575 to 1048575";
        report.error("mbarrier-count", at(2), message).section(model::section::MBARRIER);
    }
    MbarrierState {
        count: u32::try_from(count).unwrap_or(1),
        phase: phase.unwrap_or(0).into(),
        tx: tx.unwrap_or(0),
    }
}

/// The tensor of a tensormap, which is copied in parts of 16 bytes.
fn tensormap(
    draft: &ProgramBuilder,
    id: VariableId,
    report: &mut Diagnostics,
) -> Option<VariableId> {
    let (tensor, at) = draft.variables[usize::from(id.0)].tensormap?;
    let of = &draft.variables[usize::from(tensor.0)];
    let name = short(&of.name);
    if space(draft, tensor) != Space::Global || of.tensormap.is_some() {
        report
            .error("tensormap", at, format!("`{name}` is not a tensor in global memory"))
            .help(format!(".global .b32 {name}[4]"));
    } else if !extent(draft, tensor).is_multiple_of(16) {
        report
            .error("tensormap", at, format!("`{name}` is copied in parts of 16 bytes"))
            .note(format!("it has {} bytes", extent(draft, tensor)))
            .help(format!(".global .b32 {name}[{}]", extent(draft, tensor).div_ceil(16) * 4));
    }
    Some(tensor)
}

/// The locations of a multimem address.
fn multimem(draft: &ProgramBuilder, id: VariableId, report: &mut Diagnostics) -> Vec<VariableId> {
    let variable = &draft.variables[usize::from(id.0)];
    let mut locations: Vec<VariableId> = Vec::new();
    for &(location, at) in &variable.multimem {
        let of = &draft.variables[usize::from(location.0)];
        let (name, bytes) = (short(&of.name), extent(draft, location));
        let own = of.tensormap.is_none() && of.multimem.is_empty() && of.alias.is_none();
        if space(draft, location) != Space::Global || !own {
            report
                .error("multimem", at, format!("`{name}` is not a location in global memory"))
                .section(model::section::MULTIMEM_ADDRESSES)
                .help(format!("{name}=0;"));
        } else if locations.contains(&location) {
            report
                .error("multimem", at, format!("`{name}` is named twice"))
                .note("a multimem address points to distinct locations")
                .section(model::section::MULTIMEM_ADDRESSES)
                .help(format!("{} @multimem {name}, y", short(&variable.name)));
        } else if variable.uses.reach > bytes {
            let accessed = variable.uses.reach;
            report
                .error("multimem", at, format!("`{name}` has {bytes} bytes"))
                .note(format!(
                    "{accessed} bytes are accessed at the locations of `{}`",
                    short(&variable.name)
                ))
                .help(format!(".global .b32 {name}[{}]", accessed.div_ceil(4)));
        }
        locations.push(location);
    }
    locations
}

fn initial(draft: &ProgramBuilder, id: VariableId, report: &mut Diagnostics) -> Vec<u8> {
    let variable = &draft.variables[usize::from(id.0)];
    if variable.alias.is_some() {
        return Vec::new();
    }
    let element = element(draft, id) as usize;
    let mut initial = vec![0; extent(draft, id) as usize];
    if variable.mbarrier {
        return initial;
    }
    for (index, &(value, at)) in variable.values.iter().enumerate() {
        if !fits_value(value, 8 * u32::try_from(element).unwrap_or(16)) {
            let bits = [16, 32, 64].into_iter().find(|&bits| fits_value(value, bits));
            let (name, value) = (short(&variable.name), number(value));
            report
                .error("constant", at, format!("{value} does not fit in {} bits", 8 * element))
                .help(format!("{} {name}={value};", type_of(bits.unwrap_or(128))));
        }
        for (place, byte) in
            initial.iter_mut().skip(index * element).zip(value.to_le_bytes()).take(element)
        {
            *place = byte;
        }
    }
    initial
}

pub fn threads(draft: ProgramBuilder) -> Vec<Thread> {
    draft
        .threads
        .into_iter()
        .map(|thread| Thread {
            name: thread.name,
            placement: thread.placement,
            registers: thread
                .registers
                .into_iter()
                .map(|register| Register {
                    bits: register.width(),
                    initial: register.initial.unwrap_or(InitialValue::Value(0)),
                    name: register.name,
                })
                .collect(),
            lines: thread.lines,
        })
        .collect()
}

/// Whether the name identifies one location, without a thread.
pub fn one_copy(draft: &ProgramBuilder, id: VariableId) -> bool {
    let placements = draft.threads.iter().map(|thread| thread.placement);
    !has_copies(space(draft, id), placements)
}

/// The thread that identifies the copy that `thread` accesses; the first thread if there are no copies.
pub fn owner(draft: &ProgramBuilder, id: VariableId, thread: Option<ThreadId>) -> ThreadId {
    draft.owner(space(draft, id), thread.unwrap_or(ThreadId(0)))
}

/// A number in two's complement in decimal. A pattern of more than 64 bits is printed as unsigned.
pub fn number(value: Value) -> String {
    match i64::try_from(value.cast_signed()) {
        Ok(negative) => negative.to_string(),
        Err(_) => value.to_string(),
    }
}

/// Whether these threads have several copies of a variable in this state space.
pub fn has_copies(space: Space, mut threads: impl Iterator<Item = Placement>) -> bool {
    let Some(first) = threads.next() else { return false };
    match space {
        Space::Global | Space::Const | Space::ParamEntry => false,
        Space::Shared | Space::Tensor => threads.any(|other| !other.same_cta(first)),
        Space::Local | Space::ParamFunc => threads.next().is_some(),
    }
}

/// How a variable of tensor memory is accessed.
fn tensor_help(space: Space, name: &str) -> Option<String> {
    (space == Space::Tensor)
        .then(|| format!("tcgen05.ld.sync.aligned.32x32b.x1.b32 {{r0}}, [{name}]"))
}
