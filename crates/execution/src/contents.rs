//! The values that memory and registers may hold, in any order of the accesses of a program.
//!
//! A fixed point over all instructions, without the order in which they are executed: each register and each run of bytes that
//! is written has a set of values, which only grows, and so has what the lanes of a warp exchange. An address is that of the bytes that
//! its values name. In a thread without branches, registers are followed in order. Values that come from nothing (8.10.4) are not
//! among them.

mod exchanged;
mod sums;

use std::collections::{BTreeMap, BTreeSet};

use self::exchanged::BroughtValues;
use self::sums::{AddedSums, WrittenPlace};
use crate::constants::ExchangedValues;
use crate::expr::{Exprs, widened};
use crate::layout::{Layout, Location};
use crate::path::converted;
use model::isa::alu::Alu;
use model::isa::atom::Atomic;
use model::isa::cvta::{AddressOp, Cvta};
use model::isa::ld::Load;
use model::isa::roles::Addressing;
use model::isa::st::Store;
use model::isa::{Address, Instruction, Line, Operand, Reg, SpaceQualifier, Type};
use model::memory::{Extent, Proxy, Space, Variable, VariableId};
use model::program::{Program, Thread, ThreadId};
use model::value::{Value, little_endian, low_bits, low_bytes, low64};

/// Values beyond which those of a register or of a run of bytes are not listed.
const MOST: usize = 64;

/// Combinations of the values of operands beyond which a result may be any.
const MOST_COMBINATIONS: usize = 4096;

/// The values that something may have; `None` if they are not known.
pub type PossibleValues = Option<BTreeSet<Value>>;

/// What a program may write to each variable.
#[derive(Clone, Debug)]
pub struct MemoryContents {
    /// By the variable, the first byte and the number of bytes of a write.
    written: BTreeMap<WrittenPlace, PossibleValues>,
    /// Variables to which something unknown is written.
    unknown: BTreeSet<VariableId>,
    /// The results of exchanges between the lanes of a warp, by thread and line.
    exchanged: BTreeMap<(ThreadId, usize), PossibleValues>,
    /// The variables that the load, store or atomic of a line may access, where that is asked; `None` if they are not known.
    accessed: BTreeMap<(ThreadId, usize), Option<BTreeSet<VariableId>>>,
    /// Whether racing accesses may mix the bytes of values.
    tearing: bool,
}

impl MemoryContents {
    /// `None` where several names may mean the same bytes.
    pub fn new(program: &Program, layout: &Layout, tearing: bool) -> Option<MemoryContents> {
        MemoryContents::given(program, layout, tearing, &BTreeMap::new())
    }

    /// The same, where some exchanges have results that are known.
    pub fn given(
        program: &Program,
        layout: &Layout,
        tearing: bool,
        exchanged: &BTreeMap<(ThreadId, usize), ExchangedValues>,
    ) -> Option<MemoryContents> {
        let plain = |variable: &Variable| {
            variable.alias.is_none()
                && variable.absolute.is_none()
                && variable.multimem.is_empty()
                && variable.tensormap.is_none()
        };
        if !program.variables.iter().all(plain) {
            return None;
        }
        let contents = MemoryContents {
            written: BTreeMap::new(),
            unknown: unknown(program),
            exchanged: BTreeMap::new(),
            accessed: BTreeMap::new(),
            tearing,
        };
        let registers = program.threads.iter().map(|thread| held_at_start(thread, layout));
        let registers = registers.collect();
        let brought = BroughtValues::default();
        let mut found = FixedPoint {
            program,
            layout,
            given: exchanged,
            contents,
            registers,
            brought,
            sums: AddedSums::default(),
            notes_accesses: !exchanged.is_empty(),
            changed: true,
        };
        let threads: Vec<ThreadLines<'_>> = (0u8..)
            .map(ThreadId)
            .zip(&program.threads)
            .map(|(thread, of)| ThreadLines::of(thread, of))
            .collect();
        // A value comes through each element of an instruction that is executed once at most once.
        let most: usize = threads.iter().map(ThreadLines::elements).sum();
        let mut turns = 0;
        while turns <= most && std::mem::take(&mut found.changed) {
            // Through those of loops it may come any number of times.
            let mut more = true;
            while more {
                for of in &threads {
                    of.execute(&mut found, true);
                }
                more = std::mem::take(&mut found.changed);
            }
            for of in &threads {
                of.execute(&mut found, false);
            }
            // What a sum left out comes in the next turn.
            if !found.sums.take_changed() {
                turns += 1;
            }
        }
        Some(found.contents)
    }

    /// All values that the exchange of a line may give to a thread.
    pub fn exchanged(&self, thread: ThreadId, line: usize) -> PossibleValues {
        self.exchanged.get(&(thread, line)).cloned().flatten()
    }

    /// Whether something may be written to a variable.
    pub fn may_write(&self, variable: VariableId) -> bool {
        let of_variable = (variable, 0, 0)..=(variable, u32::MAX, u32::MAX);
        self.unknown.contains(&variable) || self.written.range(of_variable).next().is_some()
    }

    /// The variables that the load, store or atomic of a line may access, if they are known; of [`MemoryContents::given`] alone.
    pub fn accessed(&self, thread: ThreadId, line: usize) -> Option<&BTreeSet<VariableId>> {
        self.accessed.get(&(thread, line))?.as_ref()
    }

    /// All values that a read of these bytes of a location may return.
    pub fn read(&self, layout: &Layout, bytes: Extent) -> PossibleValues {
        let location = &layout.locations[usize::from(bytes.object)];
        if !location.mbarriers.is_empty() || location.allocated {
            return None;
        }
        self.returned(location.variable, bytes, &[&location.initial])
    }

    /// The same of a variable that has these initial values.
    fn returned(
        &self,
        variable: VariableId,
        bytes: Extent,
        initial: &[&Vec<u8>],
    ) -> PossibleValues {
        if self.unknown.contains(&variable) {
            return None;
        }
        let first: Option<BTreeSet<Value>> = initial
            .iter()
            .map(|of| of.get(bytes.start as usize..bytes.end() as usize).map(little_endian))
            .collect();
        let mut written = vec![(bytes, first?)];
        let of_variable = (variable, 0, 0)..=(variable, u32::MAX, u32::MAX);
        for (&(_, start, length), values) in self.written.range(of_variable) {
            let there = Extent { object: bytes.object, start, length };
            if there.overlaps(bytes) {
                written.push((there, values.clone()?));
            }
        }
        put_together(bytes, &written, self.tearing, MOST)
    }
}

/// The values of some bytes, each part of which is of one of the writes to it, or each byte if `tearing`; `None` if they are
/// more than `most`.
pub fn put_together(
    bytes: Extent,
    written: &[(Extent, BTreeSet<Value>)],
    tearing: bool,
    most: usize,
) -> PossibleValues {
    // A write of other bytes has an edge inside these.
    let edges = written.iter().flat_map(|(there, _)| [there.start, there.end()]);
    let each = if tearing { bytes.start..bytes.end() } else { 0..0 };
    let edges = edges.map(|edge| edge.clamp(bytes.start, bytes.end())).chain(each);
    let edges: BTreeSet<u32> = edges.collect();
    let edges: Vec<u32> = edges.into_iter().collect();
    let mut all = BTreeSet::from([0]);
    for part in edges.windows(2) {
        let (start, length) = (part[0], part[1] - part[0]);
        let to = 8 * (start - bytes.start);
        let covers = |there: &Extent| there.start <= start && start < there.end();
        let parts: BTreeSet<Value> = written
            .iter()
            .filter(|(there, _)| covers(there))
            .flat_map(|(there, values)| {
                let from = 8 * (start - there.start);
                values.iter().map(move |value| (value >> from & low_bytes(length)) << to)
            })
            .collect();
        if all.len() * parts.len() > most {
            return None;
        }
        all = all.iter().flat_map(|low| parts.iter().map(move |part| low | part)).collect();
    }
    Some(all)
}

/// The instructions of a thread, as a fixed point executes them.
struct ThreadLines<'p> {
    thread: ThreadId,
    of: &'p Thread,
    /// Whether there are no branches.
    straight: bool,
    /// Whether there are no branches back.
    forward: bool,
    /// For each line, whether a branch after it leads to it or before it.
    in_loop: Vec<bool>,
    /// The registers that are followed in order: all of a thread without branches, else those that are written before they are
    /// read wherever control comes together. Of others, a value may come from any line.
    followed: Vec<bool>,
}

impl<'p> ThreadLines<'p> {
    fn of(thread: ThreadId, of: &'p Thread) -> ThreadLines<'p> {
        let branches: Vec<(usize, usize)> = { of.lines.iter().enumerate() }
            .filter_map(|(at, line)| Some((at, line.instruction.as_branch()?.target)))
            .collect();
        let repeats = |at: usize| branches.iter().any(|&(from, to)| to <= at && at <= from);
        let in_loop = (0..of.lines.len()).map(repeats).collect();
        let forward = branches.iter().all(|&(from, to)| to > from);
        let straight = branches.is_empty();
        let followed = followed(of, &branches);
        ThreadLines { thread, of, straight, forward, in_loop, followed }
    }

    /// How many elements instructions write that are executed once, or bring to an exchange. A thread without loops executes
    /// what is between them in order, at once; of any other, each instruction counts.
    fn elements(&self) -> usize {
        let of = |(line, _): (&Line, _)| {
            let elements = line.instruction.access().map_or(0, |(.., elements)| elements);
            let passes = !matches!(line.instruction, Instruction::Load(_));
            let exchanges = line.instruction.as_exchange().is_some();
            if self.forward {
                if passes { elements.max(exchanges.into()) } else { 0 }
            } else {
                elements.max(1)
            }
        };
        self.of.lines.iter().zip(&self.in_loop).filter(|(_, repeats)| !**repeats).map(of).sum()
    }

    /// Executes the instructions of loops, or the others.
    fn execute(&self, found: &mut FixedPoint<'_>, loops: bool) {
        if self.straight {
            if loops {
                return;
            }
            found.registers[usize::from(self.thread.0)] = held_at_start(self.of, found.layout);
        }
        for (at, line) in self.of.lines.iter().enumerate() {
            if self.in_loop[at] != loops {
                continue;
            }
            let (thread, guarded) = (self.thread, line.guard.is_some());
            let by = HoldsBy { thread, followed: &self.followed, guarded, once: !loops };
            found.execute(by, at, &line.instruction);
        }
    }
}

/// The registers that are written before they are read on every stretch of lines without a branch or a target.
fn followed(of: &Thread, branches: &[(usize, usize)]) -> Vec<bool> {
    let mut followed = vec![true; of.registers.len()];
    if branches.is_empty() {
        return followed;
    }
    let mut written = vec![false; of.registers.len()];
    for (at, line) in of.lines.iter().enumerate() {
        if branches.iter().any(|&(from, to)| to == at || from + 1 == at) {
            written.fill(false);
        }
        let read = line.instruction.sources().chain(line.guard.map(|guard| guard.predicate));
        for register in read.map(|register| usize::from(register.0)) {
            followed[register] &= written[register];
        }
        if line.guard.is_none() {
            for register in line.instruction.destinations() {
                written[usize::from(register.0)] = true;
            }
        }
    }
    followed
}

/// What the registers of a thread hold at its start.
fn held_at_start(thread: &Thread, layout: &Layout) -> Vec<PossibleValues> {
    let values = thread.registers.iter().map(|register| layout.initial(register.initial));
    values.map(|value| Some(BTreeSet::from([value]))).collect()
}

/// The variables that an instruction of this state space may write at an address that is not known.
fn written_somewhere(
    program: &Program,
    space: SpaceQualifier,
) -> impl Iterator<Item = VariableId> + '_ {
    let written = move |of: Space| match of {
        Space::Const | Space::ParamEntry => false,
        Space::ParamFunc if space.is_param() => true,
        Space::Global | Space::Shared | Space::Local | Space::ParamFunc | Space::Tensor => {
            space.space().is_none_or(|space| space == of)
        }
    };
    let all = (0..).map(VariableId).zip(&program.variables);
    all.filter(move |(_, variable)| written(variable.space)).map(|(id, _)| id)
}

/// The variables to which something is written that is not looked at here: by asynchronous operations, or through other proxies.
fn unknown(program: &Program) -> BTreeSet<VariableId> {
    let mut all = BTreeSet::new();
    for (thread, of) in (0u8..).map(ThreadId).zip(&program.threads) {
        for line in &of.lines {
            let mut write = |address: Option<Address>, space: SpaceQualifier| {
                let named = address.and_then(|address| program.variable_of(thread, address));
                match named {
                    Some((variable, _)) => {
                        all.insert(variable);
                    }
                    None => all.extend(written_somewhere(program, space)),
                }
            };
            if let Instruction::Store(of) = &line.instruction
                && of.proxy != Proxy::Generic
            {
                write(Some(of.address), of.space);
            }
            if line.instruction.as_asynchronous().is_none() {
                continue;
            }
            for place in line.instruction.places() {
                if place.is_written() || place.is_object() {
                    let named = place.addressing == Addressing::Direct;
                    write(named.then_some(place.address), place.space);
                }
            }
        }
    }
    all
}

/// One of the elements of an access.
#[derive(Clone, Copy)]
struct AccessElement {
    space: SpaceQualifier,
    ty: Type,
    element: u32,
    of: usize,
}

struct FixedPoint<'p> {
    program: &'p Program,
    layout: &'p Layout,
    /// The results of exchanges that are known.
    given: &'p BTreeMap<(ThreadId, usize), ExchangedValues>,
    contents: MemoryContents,
    /// Of each thread.
    registers: Vec<Vec<PossibleValues>>,
    brought: BroughtValues,
    sums: AddedSums,
    /// Whether it is asked which variables lines access.
    notes_accesses: bool,
    changed: bool,
}

impl FixedPoint<'_> {
    fn execute(&mut self, by: HoldsBy<'_>, line: usize, instruction: &Instruction) {
        if self.notes_accesses {
            self.access(by.thread, line, instruction);
        }
        if let Instruction::Load(load) = instruction {
            self.load(by, load);
        } else if let Instruction::Store(store) = instruction {
            self.store(by.thread, line, store);
        } else if let Instruction::Atomic(atomic) = instruction {
            self.atomic(by, line, atomic);
        } else if let Instruction::Alu(alu) = instruction {
            self.compute(by, alu);
        } else if let Instruction::Cvta(cvta) = instruction {
            self.convert(by, cvta);
        } else if let Some(exchange) = instruction.as_exchange() {
            self.exchange(by, line, exchange);
        } else {
            for register in instruction.destinations() {
                self.hold(by, register.0, None);
            }
        }
    }

    /// Notes which variables an instruction may access.
    fn access(&mut self, thread: ThreadId, line: usize, instruction: &Instruction) {
        let Some((address, ty, elements)) = instruction.access() else { return };
        let of = AccessElement { space: instruction.space(), ty, element: 0, of: elements };
        let places = self.places(thread, address, of);
        let more = places.map(|all| all.into_iter().map(|(variable, _)| variable));
        let all = self.contents.accessed.entry((thread, line));
        let all = all.or_insert_with(|| Some(BTreeSet::new()));
        match (&mut *all, more) {
            (Some(all), Some(more)) => all.extend(more),
            (all, None) => *all = None,
            (None, Some(_)) => {}
        }
    }

    fn load(&mut self, by: HoldsBy<'_>, load: &Load) {
        // All elements are loaded before a register changes that the address may be in.
        let of = load.destinations.len();
        let elements = (0u32..).zip(&load.destinations);
        let loaded: Vec<(Reg, PossibleValues)> = elements
            .filter_map(|(element, destination)| {
                let of = AccessElement { space: load.space, ty: load.ty, element, of };
                Some((
                    (*destination)?,
                    all_widened(load.ty, self.loaded(by.thread, load.address, of)),
                ))
            })
            .collect();
        for (register, values) in loaded {
            self.hold(by, register.0, values);
        }
    }

    fn store(&mut self, thread: ThreadId, line: usize, store: &Store) {
        let of = store.sources.len();
        for (element, &source) in (0u32..).zip(&store.sources) {
            let values = self.operand(thread, source);
            let of = AccessElement { space: store.space, ty: store.ty, element, of };
            self.write((thread, line), store.address, of, values, None);
        }
    }

    fn atomic(&mut self, by: HoldsBy<'_>, line: usize, atomic: &Atomic) {
        let (ty, thread) = (atomic.ty, by.thread);
        let of = AccessElement { space: atomic.space, ty, element: 0, of: 1 };
        let old = self.loaded(thread, atomic.address, of);
        let operand = |at: usize| match atomic.operands.get(at) {
            Some(&operand) => self.operand(thread, operand),
            None => Some(BTreeSet::from([0])),
        };
        let (first, second) = (operand(0), operand(1));
        let added = AddedSums::amount(atomic, &first).filter(|_| by.once);
        let new = combined(&[old.clone(), first, second], |values| {
            atomic.op.apply(ty, values[0], values[1], values[2])
        });
        self.write((thread, line), atomic.address, of, new, added);
        if let Some(register) = atomic.destination {
            self.hold(by, register.0, all_widened(ty, old));
        }
    }

    fn convert(&mut self, by: HoldsBy<'_>, cvta: &Cvta) {
        let convert = |values: &[Value]| {
            let mut exprs = Exprs::default();
            let source = exprs.constant(values[0]);
            let result = converted(&mut exprs, self.layout, by.thread, cvta, source)?;
            exprs.as_const(result)
        };
        let is_own = !matches!(cvta.op, AddressOp::InCta { .. } | AddressOp::RankOf);
        let source = self.operand(by.thread, cvta.source).filter(|_| is_own);
        let values = combined(&[source], convert);
        self.hold(by, cvta.destination.0, values);
    }

    fn compute(&mut self, by: HoldsBy<'_>, alu: &Alu) {
        let sources: Vec<PossibleValues> =
            alu.sources.iter().map(|&source| self.operand(by.thread, source)).collect();
        let values = combined(&sources, |values| Some(alu.op.apply(alu.ty, values)));
        self.hold(by, alu.destination.0, values);
    }

    fn operand(&self, thread: ThreadId, operand: Operand) -> PossibleValues {
        match operand {
            Operand::Reg(register) => {
                self.registers[usize::from(thread.0)][usize::from(register.0)].clone()
            }
            Operand::Imm(value) => Some(BTreeSet::from([value.into()])),
            Operand::Address(variable) => {
                Some(BTreeSet::from([self.layout.offset(variable, thread).into()]))
            }
        }
    }

    /// The bytes of an element of an access, as those of variables; `None` if they are not known. Where there are none, the
    /// thread stops.
    fn places(
        &self,
        thread: ThreadId,
        address: Address,
        of: AccessElement,
    ) -> Option<Vec<(VariableId, Extent)>> {
        let length = of.ty.bytes();
        let part =
            |object, start: u32| Extent { object, start: start + of.element * length, length };
        if let Some((variable, _)) = self.program.variable_of(thread, address) {
            let start = u32::try_from(address.offset).ok()?;
            return Some(vec![(variable, part(0, start))]);
        }
        let whole = length * u32::try_from(of.of).expect("a vector has few elements");
        let bases = self.operand(thread, address.base)?;
        let there = bases.into_iter().filter_map(|base| {
            let at = low64(base).wrapping_add_signed(address.offset);
            let bytes = self.layout.resolve(thread, of.space, at, whole).ok()?;
            let bytes = self.layout.physical(bytes);
            let location = &self.layout.locations[usize::from(bytes.object)];
            Some((location.variable, part(0, bytes.start)))
        });
        Some(there.collect())
    }

    /// The greatest initial value of some bytes of a variable.
    fn initial(&self, variable: VariableId, bytes: Extent) -> Option<Value> {
        let here = self.layout.locations.iter().filter(|location| location.variable == variable);
        let range = bytes.start as usize..bytes.end() as usize;
        let values = here.map(|location| location.initial.get(range.clone()).map(little_endian));
        values.collect::<Option<BTreeSet<Value>>>()?.last().copied()
    }

    fn loaded(&self, thread: ThreadId, address: Address, of: AccessElement) -> PossibleValues {
        let mut all = BTreeSet::new();
        for (variable, bytes) in self.places(thread, address, of)? {
            let here = |location: &&Location| location.variable == variable;
            let locations: Vec<_> = self.layout.locations.iter().filter(here).collect();
            let special =
                |location: &&Location| !location.mbarriers.is_empty() || location.allocated;
            if locations.iter().any(special) {
                return None;
            }
            let initial: Vec<&Vec<u8>> =
                locations.iter().map(|location| &location.initial).collect();
            all.extend(self.contents.returned(variable, bytes, &initial)?);
        }
        Some(all)
    }

    /// Where the address is not known, the variables that it may be of are unknown. `added`: what is added at most, by an instruction
    /// that adds.
    fn write(
        &mut self,
        by: (ThreadId, usize),
        address: Address,
        of: AccessElement,
        values: PossibleValues,
        added: Option<Value>,
    ) {
        let Some(places) = self.places(by.0, address, of) else {
            let unknown = &mut self.contents.unknown;
            let before = unknown.len();
            unknown.extend(written_somewhere(self.program, of.space));
            self.changed |= unknown.len() > before;
            return;
        };
        let mask = low_bits(of.ty.bits);
        let values: PossibleValues =
            values.map(|values| values.into_iter().map(|value| value & mask).collect());
        for (variable, bytes) in places {
            let place = (variable, bytes.start, bytes.length);
            self.changed |= self.sums.note(place, by, added);
            let most = self.initial(variable, bytes);
            let most = most.and_then(|of| self.sums.most(place, of, self.contents.tearing));
            let values = values.clone().map(|mut values| {
                values.retain(|value| most.is_none_or(|most| *value <= most));
                values
            });
            let all = self.contents.written.entry(place).or_insert_with(|| Some(BTreeSet::new()));
            self.changed |= join(all, values);
        }
    }

    fn hold(&mut self, by: HoldsBy<'_>, register: u16, values: PossibleValues) {
        let register = usize::from(register);
        let all = &mut self.registers[usize::from(by.thread.0)][register];
        match (by.followed[register], by.guarded) {
            (true, false) => *all = values.filter(|values| values.len() <= MOST),
            (true, true) => {
                join(all, values);
            }
            (false, _) => self.changed |= join(all, values),
        }
    }
}

/// The thread of an instruction, and what registers hold that it writes to.
#[derive(Clone, Copy)]
struct HoldsBy<'l> {
    thread: ThreadId,
    /// See [`ThreadLines::followed`].
    followed: &'l [bool],
    /// Whether the instruction may leave them as they were.
    guarded: bool,
    /// Whether it is executed once at most.
    once: bool,
}

/// Values of a type as a wider register holds them.
fn all_widened(ty: Type, values: PossibleValues) -> PossibleValues {
    values.map(|values| values.into_iter().map(|value| widened(ty, value)).collect())
}

/// Adds values; says whether there are more then.
fn join(all: &mut PossibleValues, more: PossibleValues) -> bool {
    let Some(known) = all else { return false };
    let before = known.len();
    let Some(more) = more else {
        *all = None;
        return true;
    };
    known.extend(more);
    let after = known.len();
    if after > MOST {
        *all = None;
    }
    after > before
}

/// The results of an operation on each combination of values.
fn combined(
    sources: &[PossibleValues],
    apply: impl Fn(&[Value]) -> Option<Value>,
) -> PossibleValues {
    let sources: Option<Vec<Vec<Value>>> =
        sources.iter().map(|values| Some(values.as_ref()?.iter().copied().collect())).collect();
    let sources = sources?;
    let combinations = sources
        .iter()
        .try_fold(1_usize, |all, values| all.checked_mul(values.len()))
        .filter(|&combinations| combinations <= MOST_COMBINATIONS)?;
    let mut all = BTreeSet::new();
    for mut rest in 0..combinations {
        let chosen: Vec<Value> = sources
            .iter()
            .map(|values| {
                let value = values[rest % values.len()];
                rest /= values.len();
                value
            })
            .collect();
        all.extend(apply(&chosen));
    }
    Some(all)
}
