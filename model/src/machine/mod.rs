//! The machine: a second account of memory, by running it.
//!
//! SMs with an L1 each, that may hold old values and lose them at any time; one FIFO from an SM for
//! each location, and one from a GPU for each location that is homed elsewhere; memory at its home.
//! Threads issue in order, and what they load arrives in any order that queues, fences and barriers
//! leave. It knows nothing of relations and axioms, and they know nothing of it: that each of its
//! outcomes is one that the axioms allow is what comparing the two shows.

pub mod form;
mod local;
pub mod lower;
mod queue;
mod state;
mod step;

use std::collections::HashMap;

use crate::isa::Instruction;
use crate::layout::Layout;
use crate::memory::Space;
use crate::program::{Observed, Program, ThreadId};
use crate::value::{Value, little_endian, low_bytes};

use form::{Form, Level, Lowered};
use local::{Access, Context, Local, Want};
use state::{Barrier, INVALID, ValueId};

pub use crate::memory::Home;
pub use state::State;
pub use step::Step;

/// Choices about the machine: readings C1 to C18.
#[allow(clippy::struct_excessive_bools, reason = "each is a choice by itself")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// C2: weak loads of one location may pass each other.
    pub weak_pass: bool,
    /// C7: loads below system scope see what waits in their GPU's link.
    pub forward: bool,
    /// C14: lines are valid at the start.
    pub warm: bool,
    /// C16: an `acq_rel` atomic is one unit.
    pub fused: bool,
    /// All CTAs of a GPU on one SM.
    pub one_sm: bool,
    /// Where global memory is that the test does not place; `None`: on the GPU of the first thread.
    pub home: Option<Home>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            weak_pass: true,
            forward: true,
            warm: true,
            fused: true,
            one_sm: false,
            home: None,
        }
    }
}

/// Why a program does not run on the machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The family has no instruction for a line: where, and why.
    Lowering { thread: ThreadId, line: usize, why: String },
    /// More of something than the machine holds.
    TooLarge(&'static str),
}

/// A run of bytes that every access has whole or not at all.
#[derive(Clone, Copy, Debug)]
struct Cell {
    location: u16,
    start: u32,
    length: u32,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Global(Home),
    /// Of the CTA that is on this SM, which this thread is the first of.
    Shared {
        sm: u8,
        cta: u8,
    },
    /// Of one thread, or written by nobody.
    Private,
}

/// A program on a machine.
pub struct Machine<'p> {
    program: &'p Program,
    layout: Layout,
    lowered: Vec<Vec<Lowered>>,
    options: Options,
    cells: Vec<Cell>,
    /// By location: its first cell, and the bytes of each.
    first_cell: Vec<(u8, u32)>,
    /// By thread.
    sm: Vec<u8>,
    cta: Vec<u8>,
    cluster: Vec<u8>,
    /// By SM.
    gpu: Vec<u8>,
    tables: Tables,
}

/// What states refer to by number.
#[derive(Default)]
struct Tables {
    locals: Vec<Table<Local>>,
    /// By thread and state: what comes next.
    wants: Vec<Vec<Option<Want>>>,
    values: Table<Value>,
    operations: Table<Access>,
    /// A table is full, or a thread runs for ever without memory.
    overflow: Option<&'static str>,
}

struct Table<T> {
    list: Vec<T>,
    index: HashMap<T, usize>,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table { list: Vec::new(), index: HashMap::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Table<T> {
    fn intern(&mut self, value: &T) -> usize {
        if let Some(&index) = self.index.get(value) {
            return index;
        }
        self.list.push(value.clone());
        self.index.insert(value.clone(), self.list.len() - 1);
        self.list.len() - 1
    }
}

/// The most threads, SMs and cells: states hold their numbers in half a byte, and bits of them in one.
const MOST_THREADS: usize = 8;
const MOST_CELLS: usize = 64;

impl<'p> Machine<'p> {
    /// `lowered` has, for each thread, what each of its lines becomes.
    pub fn new(
        program: &'p Program,
        lowered: Vec<Vec<Lowered>>,
        options: Options,
    ) -> Result<Machine<'p>, Refusal> {
        if program.threads.len() > MOST_THREADS {
            return Err(Refusal::TooLarge("threads"));
        }
        let layout = Layout::new(program);
        let (sm, gpu, cta, cluster) = topology(program, options.one_sm);
        let home = options.home.unwrap_or(Home::Gpu(gpu.first().copied().unwrap_or(0)));
        let (cells, first_cell) = cells(program, &layout, home, &sm);
        if cells.len() > MOST_CELLS {
            return Err(Refusal::TooLarge("pieces of memory"));
        }
        let tables = Tables {
            locals: program.threads.iter().map(|_| Table::default()).collect(),
            wants: program.threads.iter().map(|_| Vec::new()).collect(),
            ..Tables::default()
        };
        Ok(Machine {
            program,
            layout,
            lowered,
            options,
            cells,
            first_cell,
            sm,
            cta,
            cluster,
            gpu,
            tables,
        })
    }

    /// What made the search give up, if something did.
    pub fn overflow(&self) -> Option<&'static str> {
        self.tables.overflow
    }

    fn context(&self, thread: usize) -> Context<'_> {
        Context {
            program: self.program,
            layout: &self.layout,
            thread: ThreadId(u8::try_from(thread).expect("few threads")),
            lowered: &self.lowered[thread],
        }
    }

    /// The state that a run starts in.
    pub fn start(&mut self) -> State {
        let initial: Vec<Value> = self
            .cells
            .iter()
            .map(|cell| {
                let bytes = &self.layout.locations[usize::from(cell.location)].initial;
                let (start, end) = (cell.start as usize, (cell.start + cell.length) as usize);
                little_endian(bytes.get(start..end.min(bytes.len())).unwrap_or(&[]))
            })
            .collect();
        let memory: Vec<ValueId> = initial.iter().map(|value| self.value_id(*value)).collect();
        let warm = self.options.warm;
        let line = |(cell, value): (&Cell, &ValueId)| match cell.place {
            Place::Global(_) if warm => *value,
            Place::Global(_) | Place::Shared { .. } | Place::Private => INVALID,
        };
        let lines: Vec<ValueId> = self.cells.iter().zip(&memory).map(line).collect();
        let l1 = self.gpu.iter().flat_map(|_| lines.iter().copied()).collect();
        let through_it = self
            .lowered
            .iter()
            .flatten()
            .any(|lowered| lowered.forms.contains(&Form::Access(Level::ReadOnly)));
        let read_only = if through_it {
            self.gpu.iter().flat_map(|_| lines.iter().copied()).collect()
        } else {
            Vec::new()
        };
        let threads = self.program.threads.len();
        let locals = (0..threads).map(|thread| {
            let local = Local::new(&self.context(thread));
            self.local_id(thread, local)
        });
        let locals: Vec<u16> = locals.collect();
        let barriers = vec![Barrier::default(); threads * 16 + threads];
        State {
            locals,
            memory,
            l1,
            read_only,
            queues: Vec::new(),
            links: Vec::new(),
            loose: Vec::new(),
            latched: Vec::new(),
            barriers: if self.has_barriers() { barriers } else { Vec::new() },
        }
    }

    fn has_barriers(&self) -> bool {
        self.program.threads.iter().flat_map(|thread| &thread.lines).any(|line| {
            matches!(line.instruction, Instruction::Barrier(_) | Instruction::ClusterBarrier(_))
        })
    }

    fn value_id(&mut self, value: Value) -> ValueId {
        match u8::try_from(self.tables.values.intern(&value)) {
            Ok(id) if id < INVALID => id,
            _ => {
                self.tables.overflow = Some("more than 255 values");
                0
            }
        }
    }

    fn value(&self, id: ValueId) -> Value {
        self.tables.values.list[usize::from(id)]
    }

    /// The number of a thread's state, after all that needs no memory.
    fn local_id(&mut self, thread: usize, mut local: Local) -> u16 {
        const INSTRUCTIONS: u32 = 10_000;
        let want = local.settle(&self.context(thread), INSTRUCTIONS);
        let want = want.unwrap_or_else(|| {
            self.tables.overflow = Some("a loop without memory accesses");
            Want::Fault
        });
        let index = self.tables.locals[thread].intern(&local);
        if self.tables.wants[thread].len() == index {
            self.tables.wants[thread].push(Some(want));
        }
        u16::try_from(index).unwrap_or_else(|_| {
            self.tables.overflow = Some("more than 65536 states of one thread");
            0
        })
    }

    fn local(&self, state: &State, thread: usize) -> &Local {
        &self.tables.locals[thread].list[usize::from(state.locals[thread])]
    }

    fn want(&self, state: &State, thread: usize) -> &Want {
        let want = &self.tables.wants[thread][usize::from(state.locals[thread])];
        want.as_ref().expect("every state of a thread was settled")
    }

    /// Changes the state of a thread.
    fn with_local(&mut self, state: &mut State, thread: usize, change: impl FnOnce(&mut Local)) {
        let mut local = self.local(state, thread).clone();
        change(&mut local);
        state.locals[thread] = self.local_id(thread, local);
    }

    /// A step in words.
    pub fn describe(&self, step: Step) -> String {
        let thread = |t: u8| &self.program.threads[usize::from(t)];
        let name = |t: u8| thread(t).name.as_str();
        let text = |t: u8, line: u16| thread(t).lines[usize::from(line)].text.as_str();
        let cell = |c: u8| {
            let cell = self.cells[usize::from(c)];
            let of = &self.layout.locations[usize::from(cell.location)];
            let variable = &self.program.variables[usize::from(of.variable.0)].name;
            if cell.start == 0 { variable.clone() } else { format!("{variable}+{}", cell.start) }
        };
        match step {
            Step::Issue { thread, line, hit: false } => {
                format!("{} issues {}", name(thread), text(thread, line))
            }
            Step::Issue { thread, line, hit: true } => {
                let sm = self.sm[usize::from(thread)];
                format!("{} issues {}: L1[sm{sm}] answers", name(thread), text(thread, line))
            }
            Step::Fence { thread, line } => {
                format!("{} fences: {}", name(thread), text(thread, line))
            }
            Step::Leave { sm, cell: c, thread } => {
                let gpu = self.gpu[usize::from(sm)];
                let near = match self.cells[usize::from(c)].place {
                    Place::Global(home) => home == Home::Gpu(gpu),
                    Place::Shared { .. } | Place::Private => true,
                };
                let to = if near { "performs at L2" } else { "leaves its SM" };
                format!("{}'s access to {} {to}", name(thread), cell(c))
            }
            Step::Forward { gpu, cell: c, thread } => format!(
                "{}'s load of {} is answered by a store in the link of GPU {gpu}",
                name(thread),
                cell(c)
            ),
            Step::Arrive { cell: c, thread, .. } => {
                format!("{}'s access to {} performs at its home", name(thread), cell(c))
            }
            Step::ReadOnly { sm, cell: c, thread } => {
                format!("{}'s load of {} fills the read-only path of sm{sm}", name(thread), cell(c))
            }
            Step::Fill { sm, cell: c, thread } => {
                format!("{}'s load of {} returns and fills L1[sm{sm}]", name(thread), cell(c))
            }
        }
    }

    /// The values of what the program observes, if the run is over.
    pub fn outcome(&self, state: &State) -> Option<Vec<Value>> {
        let threads = 0..self.program.threads.len();
        let ended = threads.into_iter().all(|thread| {
            *self.want(state, thread) == Want::End && self.local(state, thread).pending.is_empty()
        });
        let empty = state.queues.is_empty() && state.links.is_empty();
        if !ended || !empty {
            return None;
        }
        let value = |observed: &Observed| match *observed {
            Observed::Register { thread, register } => {
                let local = self.local(state, usize::from(thread.0));
                local.registers[usize::from(register.0)]
            }
            Observed::Memory { variable, thread, offset, length } => {
                let object = self.layout.object(variable, thread);
                let location = self.layout.virtuals[usize::from(object)].location;
                self.bytes(state, location, offset, length)
            }
        };
        Some(self.program.observed.iter().map(value).collect())
    }

    fn bytes(&self, state: &State, location: u16, offset: u32, length: u32) -> Value {
        let mut all = 0;
        for (index, cell) in self.cells.iter().enumerate() {
            if cell.location != location {
                continue;
            }
            let value = self.value(state.memory[index]);
            for byte in 0..cell.length {
                let at = cell.start + byte;
                if (offset..offset + length).contains(&at) {
                    let byte = value >> (8 * byte) & 0xff;
                    all |= byte << (8 * (at - offset));
                }
            }
        }
        all & low_bytes(length)
    }
}

/// The SM of each thread, the GPU of each SM, and the first thread of each one's CTA and cluster.
fn topology(program: &Program, one_sm: bool) -> (Vec<u8>, Vec<u8>, Vec<u8>, Vec<u8>) {
    let small = |n: usize| u8::try_from(n).expect("few threads");
    let (mut sm, mut gpu, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    let (mut cta, mut cluster) = (Vec::new(), Vec::new());
    for (index, thread) in program.threads.iter().enumerate() {
        let here = thread.placement;
        let first =
            |same: &dyn Fn(usize) -> bool| small((0..index).find(|&t| same(t)).unwrap_or(index));
        cta.push(first(&|other| program.threads[other].placement.same_cta(here)));
        cluster.push(first(&|other| program.threads[other].placement.same_cluster(here)));
        let key = match here.sm {
            _ if one_sm => (here.gpu, None, None, 0),
            Some(sm) => (here.gpu, Some(sm), None, 0),
            None => (here.gpu, None, here.cluster, here.cta),
        };
        let known = keys.iter().position(|other| *other == key).unwrap_or_else(|| {
            keys.push(key);
            gpu.push(small(here.gpu as usize & 0xff));
            keys.len() - 1
        });
        sm.push(small(known));
    }
    (sm, gpu, cta, cluster)
}

/// Memory cut so that every access is some cells and no part of one: accesses are aligned, so the
/// smallest one decides. Reading C13.
fn cells(program: &Program, layout: &Layout, home: Home, sm: &[u8]) -> (Vec<Cell>, Vec<(u8, u32)>) {
    let lines = program.threads.iter().flat_map(|thread| &thread.lines);
    let sizes = lines.filter_map(|line| line.instruction.access());
    let smallest = sizes.map(|(_, ty, _)| ty.bytes()).min().unwrap_or(1);
    let (mut cells, mut first) = (Vec::new(), Vec::new());
    for (location, of) in layout.locations.iter().enumerate() {
        let variable = &program.variables[usize::from(of.variable.0)];
        let place = match variable.space {
            Space::Global => Place::Global(variable.home.unwrap_or(home)),
            Space::Shared => Place::Shared { sm: sm[usize::from(of.instance)], cta: of.instance },
            Space::Const | Space::Local | Space::ParamEntry | Space::ParamFunc => Place::Private,
        };
        let size = u32::try_from(of.initial.len()).expect("variables are small");
        // A variable smaller than the smallest access has one cell, and faults.
        let length = smallest.min(size.max(1));
        first.push((u8::try_from(cells.len()).unwrap_or(u8::MAX), length));
        let mut start = 0;
        while start < size {
            let location = u16::try_from(location).expect("few variables");
            cells.push(Cell { location, start, length: length.min(size - start), place });
            start += length;
        }
    }
    (cells, first)
}
