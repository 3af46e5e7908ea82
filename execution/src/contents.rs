//! The values that memory and registers may hold, in any order of the accesses of a program.
//!
//! A fixed point over all instructions, without the order in which they are executed: each register and each run of bytes that
//! is written has a set of values, which only grows. Only values that come from nothing (8.10.4) are not among them.

use std::collections::{BTreeMap, BTreeSet};

use crate::layout::Layout;
use model::isa::alu::{Alu, extend};
use model::isa::asynchronous::Asynchronous;
use model::isa::atom::Atomic;
use model::isa::ld::Load;
use model::isa::st::Store;
use model::isa::{Address, Instruction, Line, Operand, Type, TypeKind};
use model::memory::{Extent, Proxy, VariableId};
use model::program::{InitialValue, Program, Thread, ThreadId};
use model::value::{Value, little_endian, low_bits, low_bytes};

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
    written: BTreeMap<(VariableId, u32, u32), PossibleValues>,
    /// Variables to which something unknown is written.
    unknown: BTreeSet<VariableId>,
    /// Whether racing accesses may mix the bytes of values.
    tearing: bool,
}

impl MemoryContents {
    /// `None` where the text does not say of some write which variable it is to.
    pub fn new(program: &Program, layout: &Layout, tearing: bool) -> Option<MemoryContents> {
        let plain = |variable: &model::memory::Variable| {
            variable.alias.is_none()
                && variable.absolute.is_none()
                && variable.multimem.is_empty()
                && variable.tensormap.is_none()
        };
        if !program.variables.iter().all(plain) {
            return None;
        }
        let mut found = FixedPoint {
            program,
            layout,
            contents: MemoryContents {
                written: BTreeMap::new(),
                unknown: unknown(program)?,
                tearing,
            },
            registers: Vec::new(),
            changed: true,
        };
        for thread in &program.threads {
            let registers = thread.registers.iter().map(|register| {
                Some(BTreeSet::from([match register.initial {
                    InitialValue::Value(value) => value,
                    InitialValue::Address { variable, thread } => {
                        layout.address(variable, thread).into()
                    }
                }]))
            });
            found.registers.push(registers.collect());
        }
        // Without loops, a value comes through each instruction that writes at most once.
        let writes = |line: &&Line| line.instruction.access().is_some();
        let most = program.threads.iter().flat_map(|of| &of.lines).filter(writes).count();
        let loops = program.threads.iter().any(Thread::loops);
        let mut rounds = 0;
        while std::mem::take(&mut found.changed) && (loops || rounds <= most) {
            rounds += 1;
            for (thread, of) in (0u8..).map(ThreadId).zip(&program.threads) {
                for line in &of.lines {
                    found.execute(thread, &line.instruction)?;
                }
            }
        }
        Some(found.contents)
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

/// The variables to which asynchronous operations write what is not known here.
fn unknown(program: &Program) -> Option<BTreeSet<VariableId>> {
    let mut all = BTreeSet::new();
    for (thread, of) in (0u8..).map(ThreadId).zip(&program.threads) {
        for line in &of.lines {
            let Some(of) = line.instruction.as_asynchronous() else { continue };
            let address = match of {
                Asynchronous::Mbarrier(of) => of.object,
                Asynchronous::Copy(copy) if !copy.multimem && copy.tensor.is_none() => copy.to,
                Asynchronous::PendingCount(_)
                | Asynchronous::Track(_)
                | Asynchronous::Commit(_)
                | Asynchronous::WaitGroup(_)
                | Asynchronous::MultiplyFence
                | Asynchronous::Fence(_)
                | Asynchronous::Grid(_)
                | Asynchronous::TensormapFence(_) => continue,
                Asynchronous::Copy(_)
                | Asynchronous::Store(_)
                | Asynchronous::Multiply(_)
                | Asynchronous::Tensormap(_)
                | Asynchronous::TensorMemory(_)
                | Asynchronous::Multimem(_)
                | Asynchronous::Cancel(_)
                | Asynchronous::Fill(_) => return None,
            };
            all.insert(program.variable_of(thread, address)?.0);
        }
    }
    Some(all)
}

struct FixedPoint<'p> {
    program: &'p Program,
    layout: &'p Layout,
    contents: MemoryContents,
    /// Of each thread.
    registers: Vec<Vec<PossibleValues>>,
    changed: bool,
}

impl FixedPoint<'_> {
    fn execute(&mut self, thread: ThreadId, instruction: &Instruction) -> Option<()> {
        match instruction {
            Instruction::Load(load) => self.load(thread, load),
            Instruction::Store(store) => return self.store(thread, store),
            Instruction::Atomic(atomic) => return self.atomic(thread, atomic),
            Instruction::Alu(alu) => self.compute(thread, alu),
            Instruction::Fence(_)
            | Instruction::ProxyFence(_)
            | Instruction::Branch(_)
            | Instruction::Barrier(_)
            | Instruction::ClusterBarrier(_)
            | Instruction::Cvta(_)
            | Instruction::Asynchronous(_)
            | Instruction::Unsupported(_) => {
                for register in instruction.destinations() {
                    self.hold(thread, register.0, None);
                }
            }
        }
        Some(())
    }

    fn load(&mut self, thread: ThreadId, load: &Load) {
        for (element, destination) in (0u32..).zip(&load.destinations) {
            let Some(register) = destination else { continue };
            let values = self.loaded(thread, load.address, (load.ty, element));
            let signed = load.ty.kind == TypeKind::Signed;
            let widened = values.map(|values| {
                let widen = |value| if signed { extend(load.ty, value) } else { value };
                values.into_iter().map(widen).collect()
            });
            self.hold(thread, register.0, widened);
        }
    }

    fn store(&mut self, thread: ThreadId, store: &Store) -> Option<()> {
        if store.proxy != Proxy::Generic {
            return None;
        }
        for (element, &source) in (0u32..).zip(&store.sources) {
            let values = self.operand(thread, source);
            self.write(thread, store.address, (store.ty, element), values)?;
        }
        Some(())
    }

    fn atomic(&mut self, thread: ThreadId, atomic: &Atomic) -> Option<()> {
        let ty = atomic.ty;
        let old = self.loaded(thread, atomic.address, (ty, 0));
        let operand = |at: usize| match atomic.operands.get(at) {
            Some(&operand) => self.operand(thread, operand),
            None => Some(BTreeSet::from([0])),
        };
        let (first, second) = (operand(0), operand(1));
        let new = combined(&[old.clone(), first, second], |values| {
            atomic.op.apply(ty, values[0], values[1], values[2])
        });
        self.write(thread, atomic.address, (ty, 0), new)?;
        if let Some(register) = atomic.destination {
            let signed = ty.kind == TypeKind::Signed;
            let widen = |value| if signed { extend(ty, value) } else { value };
            self.hold(thread, register.0, old.map(|old| old.into_iter().map(widen).collect()));
        }
        Some(())
    }

    fn compute(&mut self, thread: ThreadId, alu: &Alu) {
        let sources: Vec<PossibleValues> =
            alu.sources.iter().map(|&source| self.operand(thread, source)).collect();
        let values = combined(&sources, |values| Some(alu.op.apply(alu.ty, values)));
        self.hold(thread, alu.destination.0, values);
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

    /// The bytes of an element of an access, as those of a variable.
    fn place(
        &self,
        thread: ThreadId,
        address: Address,
        (ty, element): (Type, u32),
    ) -> Option<(VariableId, Extent)> {
        let (variable, _) = self.program.variable_of(thread, address)?;
        let length = ty.bytes();
        let start = u32::try_from(address.offset).ok()?.checked_add(element * length)?;
        Some((variable, Extent { object: 0, start, length }))
    }

    fn loaded(&self, thread: ThreadId, address: Address, of: (Type, u32)) -> PossibleValues {
        let (variable, bytes) = self.place(thread, address, of)?;
        let here = |location: &&crate::layout::Location| location.variable == variable;
        let locations: Vec<_> = self.layout.locations.iter().filter(here).collect();
        if locations.iter().any(|location| !location.mbarriers.is_empty() || location.allocated) {
            return None;
        }
        let initial: Vec<&Vec<u8>> = locations.iter().map(|location| &location.initial).collect();
        self.contents.returned(variable, bytes, &initial)
    }

    fn write(
        &mut self,
        thread: ThreadId,
        address: Address,
        of: (Type, u32),
        values: PossibleValues,
    ) -> Option<()> {
        let (variable, bytes) = self.place(thread, address, of)?;
        let mask = low_bits(of.0.bits);
        let values = values.map(|values| values.into_iter().map(|value| value & mask).collect());
        let place = (variable, bytes.start, bytes.length);
        let all = self.contents.written.entry(place).or_insert_with(|| Some(BTreeSet::new()));
        self.changed |= join(all, values);
        Some(())
    }

    fn hold(&mut self, thread: ThreadId, register: u16, values: PossibleValues) {
        let all = &mut self.registers[usize::from(thread.0)][usize::from(register)];
        self.changed |= join(all, values);
    }
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
