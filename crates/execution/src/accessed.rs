//! The bytes that the instructions of a program access, as far as constants say it, in any order of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::constants::{Constants, ExchangedValues, GivenResults};
use crate::contents::MemoryContents;
use crate::event::Access;
use crate::exchanges;
use crate::layout::Layout;
use model::isa::asynchronous::Asynchronous;
use model::isa::roles::{AccessedPlace, Addressing, PlaceEffect};
use model::isa::tensor_memory::TensorOp;
use model::isa::{Address, Instruction, SpaceQualifier};
use model::memory::{Extent, Space, Variable, VariableId};
use model::program::{Program, ThreadId};

/// What the instructions of a program access.
#[derive(Clone, Default, Debug)]
pub struct Accessed<'p> {
    /// Of each thread.
    pub constants: Vec<Constants>,
    /// Loads, stores, atomics, and operations on multimem addresses, in the order of threads and lines.
    pub accesses: Vec<LineAccess<'p>>,
    /// What asynchronous operations access, and those on mbarrier objects.
    pub asynchronous: Vec<Reach>,
    /// Those of them that they may write.
    pub written_asynchronously: BTreeSet<Reach>,
    /// The locations in global memory, with one name, that nothing may write.
    pub unwritten: BTreeSet<u16>,
    /// The results of exchanges between lanes that are the same in every execution, by thread and line.
    pub exchanged: BTreeMap<(ThreadId, usize), ExchangedValues>,
}

/// An access of a thread.
#[derive(Clone, Debug)]
pub struct LineAccess<'p> {
    pub thread: ThreadId,
    pub line: usize,
    pub instruction: &'p Instruction,
    /// The size of an element.
    pub bits: u16,
    pub at: LineBytes,
}

#[derive(Clone, Debug)]
pub enum LineBytes {
    /// Those of each element, at each location.
    Known(Vec<Access>),
    Unknown(Reach),
}

/// Memory that an operation whose bytes are not known may access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reach {
    /// A variable, in each CTA; of an alias, the bytes that it names.
    Variable(VariableId),
    Space(Space),
    Anywhere,
}

impl Reach {
    /// Where an instruction may access memory that names this space.
    fn of(space: SpaceQualifier) -> Reach {
        // A parameter may be that of a kernel or of a function: reading R37.
        space.space().filter(|_| !space.is_param()).map_or(Reach::Anywhere, Reach::Space)
    }

    /// Whether it has bytes of a variable, which is not an alias.
    pub fn includes(self, program: &Program, variable: VariableId) -> bool {
        match self {
            Reach::Variable(of) => program.root(of) == variable,
            Reach::Space(space) => program.variables[usize::from(variable.0)].space == space,
            Reach::Anywhere => true,
        }
    }
}

impl<'p> Accessed<'p> {
    /// The accesses of known bytes, by their physical extents, and what the others may access.
    pub fn by_bytes(&self) -> (BTreeMap<Extent, Vec<&LineAccess<'p>>>, BTreeSet<Reach>) {
        let mut known: BTreeMap<Extent, Vec<&LineAccess<'p>>> = BTreeMap::new();
        let mut unknown = BTreeSet::new();
        for access in &self.accesses {
            match &access.at {
                LineBytes::Known(bytes) => {
                    for of in bytes {
                        known.entry(of.pa).or_default().push(access);
                    }
                }
                LineBytes::Unknown(reach) => {
                    unknown.insert(*reach);
                }
            }
        }
        (known, unknown)
    }

    pub fn new(program: &'p Program, layout: &Layout) -> Accessed<'p> {
        let ids = (0u8..).map(ThreadId).zip(&program.threads).map(|(id, _)| id);
        let constants = ids.map(|id| Constants::new(program, layout, id)).collect();
        let mut all = Accessed::with(program, layout, constants);
        all.unwritten = all.unwritten(program, layout);
        if !exchanges::exchanges(program) {
            return all;
        }
        let mut given = GivenResults { unwritten: all.unwritten, exchanged: BTreeMap::new() };
        let constants = exchanges::add_exchanges(program, layout, &mut given);
        let GivenResults { unwritten, exchanged } = given;
        let all = Accessed { unwritten, exchanged, ..Accessed::with(program, layout, constants) };
        all.supposing(program, layout).unwrap_or(all)
    }

    /// The same, where more locations turn out to be unwritten if they are supposed to be: what would be written there first comes from
    /// reads of others (8.10.4).
    fn supposing(&self, program: &'p Program, layout: &Layout) -> Option<Accessed<'p>> {
        let is_unknown_write = |access: &LineAccess<'_>| {
            !matches!(access.instruction, Instruction::Load(_))
                && matches!(access.at, LineBytes::Unknown(_))
        };
        if program.contested.is_some() || !self.accesses.iter().any(is_unknown_write) {
            return None;
        }
        let known = self.accesses.iter().filter(|access| !is_unknown_write(access)).cloned();
        let known = Accessed {
            accesses: known.collect(),
            written_asynchronously: self.written_asynchronously.clone(),
            ..Accessed::default()
        };
        let mut unwritten = known.unwritten(program, layout);
        while unwritten != self.unwritten {
            let mut given = GivenResults { unwritten, exchanged: BTreeMap::new() };
            let constants = exchanges::add_exchanges(program, layout, &mut given);
            if given.exchanged.len() == self.exchanged.len() {
                return None;
            }
            // Racing accesses may mix bytes, in some readings.
            let contents = MemoryContents::given(program, layout, true, &given.exchanged)?;
            let is_unwritten =
                |object: &u16| !contents.may_write(layout.locations[usize::from(*object)].variable);
            let kept: BTreeSet<u16> =
                given.unwritten.iter().copied().filter(is_unwritten).collect();
            if kept.len() < given.unwritten.len() {
                unwritten = kept;
                continue;
            }
            let mut all = Accessed::with(program, layout, constants);
            for access in &mut all.accesses {
                let variables = contents.accessed(access.thread, access.line);
                let only = variables.filter(|all| all.len() == 1).and_then(BTreeSet::first);
                if let (LineBytes::Unknown(reach), Some(&only)) = (&mut access.at, only) {
                    *reach = Reach::Variable(only);
                }
            }
            let GivenResults { unwritten, exchanged } = given;
            return Some(Accessed { unwritten, exchanged, ..all });
        }
        None
    }

    fn with(program: &'p Program, layout: &Layout, constants: Vec<Constants>) -> Accessed<'p> {
        let mut all = Accessed::default();
        for ((thread, of), constants) in (0u8..).map(ThreadId).zip(&program.threads).zip(constants)
        {
            for (line, of) in of.lines.iter().enumerate() {
                if !constants.may_execute(line) {
                    continue;
                }
                let instruction = &of.instruction;
                let bytes = |space, address, length| {
                    constants.bytes(layout, thread, line, space, address, length)
                };
                if let Some((address, ty, elements)) = instruction.access() {
                    let space = instruction.space();
                    let at = elements_of(bytes, space, address, ty.bytes(), elements);
                    all.push(thread, line, instruction, ty.bits, at);
                } else if let Some(Asynchronous::Multimem(of)) = instruction.as_asynchronous() {
                    let at = elements_of(bytes, of.space, of.address, of.ty.bytes(), of.elements());
                    let at = if let LineBytes::Known(all) = at {
                        LineBytes::Known(layout.behind(program, thread, &all).concat())
                    } else {
                        LineBytes::Unknown(Reach::Anywhere)
                    };
                    all.push(thread, line, instruction, of.ty.bits, at);
                } else if instruction.as_asynchronous().is_some() {
                    let reach = |address, space| {
                        let access = bytes(space, address, 1);
                        access.map_or(Reach::of(space), |access| {
                            Reach::Variable(
                                layout.locations[usize::from(access.pa.object)].variable,
                            )
                        })
                    };
                    all.asynchronous.extend(asynchronous(instruction, program, &reach, &|_| true));
                    // Of a copy, its source is only read.
                    let written = |place: &AccessedPlace| {
                        instruction.copy().is_none()
                            || place.effect != PlaceEffect::Read
                            || place.addressing != Addressing::Direct
                    };
                    let written = asynchronous(instruction, program, &reach, &written);
                    all.written_asynchronously.extend(written);
                }
            }
            all.constants.push(constants);
        }
        all.asynchronous.sort_unstable();
        all.asynchronous.dedup();
        all
    }

    /// The locations in global memory, with one name, that no instruction may write.
    fn unwritten(&self, program: &Program, layout: &Layout) -> BTreeSet<u16> {
        // Others access what is contested.
        if program.contested.is_some() {
            return BTreeSet::new();
        }
        let mut written = self.written_asynchronously.clone();
        let writes = |of: &&LineAccess<'_>| !matches!(of.instruction, Instruction::Load(_));
        for access in self.accesses.iter().filter(writes) {
            match &access.at {
                LineBytes::Known(all) => {
                    let variable =
                        |of: &Access| layout.locations[usize::from(of.pa.object)].variable;
                    written.extend(all.iter().map(|of| Reach::Variable(variable(of))));
                }
                LineBytes::Unknown(reach) => {
                    written.insert(*reach);
                }
            }
        }
        let is_unwritten = |object: &u16| {
            let location = &layout.locations[usize::from(*object)];
            let variable = &program.variables[usize::from(location.variable.0)];
            variable.space == Space::Global
                && variable.tensormap.is_none()
                // A read of it is looked for.
                && !variable.uninitialised
                && location.mbarriers.is_empty()
                && layout.has_one_name(*object)
                && !written.iter().any(|reach| reach.includes(program, location.variable))
        };
        let all = u16::try_from(layout.locations.len()).expect("a test has few locations");
        (0..all).filter(is_unwritten).collect()
    }

    /// The accesses of the instruction of a line: none, or one.
    pub fn of_line(&self, thread: ThreadId, line: usize) -> &[LineAccess<'p>] {
        let place = |access: &LineAccess<'_>| (access.thread, access.line);
        let from = self.accesses.partition_point(|access| place(access) < (thread, line));
        let to = self.accesses.partition_point(|access| place(access) <= (thread, line));
        &self.accesses[from..to]
    }

    /// Whether the instruction of a line accesses the same bytes whenever it is executed, and these as one element: those of a
    /// vector are in no order.
    pub fn is_of_one_place(&self, thread: ThreadId, line: usize) -> bool {
        self.of_line(thread, line).first().is_some_and(|access| match &access.at {
            LineBytes::Known(all) => all.len() == 1,
            LineBytes::Unknown(_) => false,
        })
    }

    fn push(
        &mut self,
        thread: ThreadId,
        line: usize,
        instruction: &'p Instruction,
        bits: u16,
        at: LineBytes,
    ) {
        self.accesses.push(LineAccess { thread, line, instruction, bits, at });
    }
}

/// The bytes of each element of an access.
fn elements_of(
    bytes: impl Fn(SpaceQualifier, Address, u32) -> Option<Access>,
    space: SpaceQualifier,
    address: Address,
    length: u32,
    elements: usize,
) -> LineBytes {
    let count = u32::try_from(elements).expect("a vector has few elements");
    let Some(whole) = bytes(space, address, length * count) else {
        return LineBytes::Unknown(Reach::of(space));
    };
    let part = |of: Extent, at: u32| Extent { start: of.start + at * length, length, ..of };
    let element = |at| Access { va: part(whole.va, at), pa: part(whole.pa, at) };
    LineBytes::Known((0..count).map(element).collect())
}

/// What an asynchronous operation accesses at these of its places.
fn asynchronous(
    of: &Instruction,
    program: &Program,
    reach: &dyn Fn(Address, SpaceQualifier) -> Reach,
    includes: &dyn Fn(&AccessedPlace) -> bool,
) -> Vec<Reach> {
    let mut all: Vec<Reach> = Vec::new();
    for place in of.places().filter(includes) {
        all.push(match place.addressing {
            Addressing::Indirect => Reach::Anywhere,
            Addressing::Descriptor => Reach::of(place.space),
            // An operation may access the columns after it.
            Addressing::Direct if place.space == SpaceQualifier::Tensor => Reach::of(place.space),
            Addressing::Direct => reach(place.address, place.space),
        });
    }
    if let Instruction::Asynchronous(Asynchronous::TensorMemory(TensorOp::Allocate { .. })) = of {
        all.push(Reach::Space(Space::Tensor));
    }
    // The bytes of a tensormap name those of the tensor.
    let is_map = |variable: &Variable| variable.tensormap.is_some();
    if program.variables.iter().any(is_map) && !all.is_empty() {
        all.push(Reach::Space(Space::Global));
    }
    all
}
