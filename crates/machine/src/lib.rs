//! An operational model of GPU memory: caches and queues.
//!
//! Each SM has an L1, which may hold stale values and may evict lines at any time. A FIFO leads from each
//! SM to each location, and one from each GPU to each location whose home is elsewhere. Threads issue in
//! order; loads return in any order that queues, fences and barriers permit. The machine does not use the
//! axioms, and the axioms do not use the machine, so that a comparison of the two is a test of both.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

mod asynchronous;
mod barrier;
mod describe;
mod family;
mod fence;
pub mod form;
mod issue;
mod lane;
mod local;
mod object;
mod options;
mod plan;
mod queue;
mod reduce;
mod sleep;
mod state;
mod step;
mod table;
mod thread_symmetry;
mod topology;

use std::ops::ControlFlow;

use execution::layout::Layout;
use model::isa::Instruction;
use model::isa::Operand;
use model::isa::bar::{Barrier, BarrierMisuse};
use model::memory::MBARRIER_BYTES;
use model::program::{Observed, Program, Stays, Stuck, ThreadId};
use model::value::{Value, little_endian, low_bytes};

use form::{AsyncOp, LoweredInstruction, MachineOp, MembarScope};
use local::ThreadState;
use object::ObjectWord;
use plan::{Future, ThreadCode};
use state::{BARRIER, INVALID, StateLayout, ValueId};
use table::{Ask, Tables};

pub use lane::MachineLane;
pub use model::memory::Home;
pub use options::{MachineRule, Options, Reduce, Variant};
pub use state::State;
pub use step::{Step, Taken};

/// Why a program does not run on the machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The family has no instruction for a line: where, and why.
    Lowering { thread: ThreadId, line: usize, why: String },
    /// The machine has no such programs at all: why.
    Program(&'static str),
    /// More of something than the machine holds.
    TooLarge(&'static str),
}

/// A run of bytes that every access has whole or not at all.
#[derive(Clone, Copy, Debug)]
struct Cell {
    location: u16,
    start: u32,
    length: u32,
    place: MemoryPlace,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum MemoryPlace {
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
    lowered: Vec<Vec<LoweredInstruction>>,
    options: Options,
    cells: Vec<Cell>,
    /// By location: its first cell, and the bytes of each.
    first_cell: Vec<(u8, u32)>,
    /// Bytes of every cell that is accessed at all.
    grain: u32,
    /// By thread.
    sm: Vec<u8>,
    cta: Vec<u8>,
    cluster: Vec<u8>,
    /// By SM.
    gpu: Vec<u8>,
    /// By thread: whether it has its SM to itself.
    alone: Vec<bool>,
    /// By thread: the first one that runs the same code in the same way.
    class: Vec<u8>,
    /// Whether some class has two.
    symmetric: bool,
    plans: Vec<ThreadCode>,
    /// Where mbarrier objects may be: location, and first byte.
    objects: Vec<(u16, u32)>,
    /// How many instructions start copies or wait for them on an object.
    copies: usize,
    /// Those of CTAs, in the order in which states have them.
    barriers: Vec<CtaBarrier>,
    /// For each of them, whether some arrival at it gives a count: then the order of arrivals is a choice.
    counted: Vec<bool>,
    /// By cluster: which barrier of the state it is.
    cluster_barriers: Vec<Option<u8>>,
    shape: StateLayout,
    misused: Misused,
    /// Whether there is something to do at once even where nothing is left out.
    settles: bool,
    tables: Tables,
    /// States to write into, to be used again.
    spare: Vec<State>,
    /// What happened since the last choice.
    steps: Vec<Step>,
    /// How many of them are before the choice that is being made.
    base: usize,
    /// How many states have been handed on.
    emitted: usize,
    /// Whether the visitor of what may follow has seen enough.
    visited: ControlFlow<()>,
    /// Whether anything sleeps, what does after this step, and each thread's first name but one.
    sleeps: bool,
    asleep: u64,
    names: Vec<usize>,
    opening: Vec<Step>,
}

/// The most threads, and the most cells: their numbers must fit the fields of an entry.
const MOST_THREADS: usize = 16;
const MOST_CELLS: usize = 64;
/// The most accesses in one thread's code.
const MOST_SITES: usize = 256;

/// That the steps of threads between two accesses have no end, or one that is too far away.
pub const LONG: &str = "more than 10,000 instructions without a memory access, in a loop or not";

/// That a thread has more states than numbers of this width: start again with wider ones.
pub const WIDER: &str = "more than 65536 states of one thread";

impl<'p> Machine<'p> {
    /// `lowered` has, for each thread, what each of its lines becomes. `wide`: after `WIDER`.
    pub fn new(
        program: &'p Program,
        lowered: Vec<Vec<LoweredInstruction>>,
        options: Options,
        wide: bool,
    ) -> Result<Machine<'p>, Refusal> {
        let threads = program.threads.len();
        if threads > MOST_THREADS {
            return Err(Refusal::TooLarge("threads"));
        }
        if program.threads.iter().any(|thread| u8::try_from(thread.placement.gpu).is_err()) {
            return Err(Refusal::TooLarge("GPUs: they are numbered 0 to 255"));
        }
        let layout = Layout::new(program);
        let (sm, gpu, cta, cluster) = topology::topology(program, options.one_sm);
        let home = options.home.unwrap_or(Home::Gpu(gpu.first().copied().unwrap_or(0)));
        let (cells, first_cell) = topology::cells(program, &layout, home, &sm);
        if cells.len() > MOST_CELLS {
            return Err(Refusal::TooLarge("pieces of memory"));
        }
        let plans: Vec<ThreadCode> = (0..)
            .zip(&lowered)
            .map(|(thread, lowered)| {
                let thread = ThreadId(thread);
                ThreadCode::new(program, &layout, &cells, thread, lowered, options.fused)
            })
            .collect();
        if plans.iter().any(|plan| plan.sites.len() > MOST_SITES) {
            return Err(Refusal::TooLarge("accesses of one thread"));
        }
        let alone = (0..threads).map(|a| (0..threads).all(|b| a == b || sm[a] != sm[b]));
        let alone: Vec<bool> = alone.collect();
        let class =
            thread_symmetry::classes(program, &lowered, &plans, &alone, &sm, &gpu, &options);
        let (barriers, cluster_barriers) = barriers_of(program, &cta, &cluster);
        let counted = counted(program, &cta, &barriers);
        let objects = object::slots(program, &layout);
        if objects.len() > MOST_CELLS {
            return Err(Refusal::TooLarge("mbarrier objects"));
        }
        let sites = plans.iter().flat_map(|plan| &plan.sites);
        let copies = sites.filter(|site| site.copies).count();
        let clusters = cluster_barriers.iter().flatten().count();
        let settles = options.lazy_all || options.lazy_cta || !barriers.is_empty() || clusters > 0;
        let mut machine = Machine {
            program,
            layout,
            options,
            grain: cells.iter().map(|cell| cell.length).max().unwrap_or(1),
            cells,
            first_cell,
            sm,
            cta,
            cluster,
            gpu,
            alone,
            symmetric: (0_u8..).zip(&class).any(|(thread, class)| thread != *class),
            class,
            plans,
            objects,
            copies,
            counted,
            barriers,
            cluster_barriers,
            shape: StateLayout::default(),
            misused: Misused::default(),
            settles,
            lowered,
            tables: Tables::new(threads),
            spare: Vec::new(),
            steps: Vec::new(),
            base: 0,
            emitted: 0,
            visited: ControlFlow::Continue(()),
            sleeps: false,
            asleep: 0,
            names: Vec::new(),
            opening: Vec::new(),
        };
        machine.shape = machine.lay_out(if wide { 4 } else { 2 });
        let mut next = threads;
        for plan in &machine.plans {
            machine.names.push(next);
            next += plan.sites.len();
        }
        machine.sleeps = machine.may_sleep();
        Ok(machine)
    }

    /// Where everything is in the bytes of a state.
    fn lay_out(&self, local: usize) -> StateLayout {
        let cells = self.cells.len();
        let memory = self.sm.len() * local;
        let mut at = memory + cells;
        // A place for each cell that some thread accesses in the way that asks for one.
        let mut slots =
            |owners: usize, wanted: &dyn Fn(usize, usize) -> bool| -> Vec<Option<u16>> {
                let all = (0..owners * cells).map(|index| {
                    let (owner, cell) = (index / cells, index % cells);
                    wanted(owner, cell).then(|| {
                        at += 1;
                        u16::try_from(at - 1).expect("a few hundred cells of a few SMs")
                    })
                });
                all.collect()
            };
        let global = |cell: usize| matches!(self.cells[cell].place, MemoryPlace::Global(_));
        let any = |sm: usize, cell: usize, mask: &dyn Fn(Future) -> u64| {
            let here = (0..self.sm.len()).filter(|&t| usize::from(self.sm[t]) == sm);
            let masks = here.map(|t| mask(self.plans[t].ahead[0]));
            global(cell) && masks.fold(0, |all, mask| all | mask) >> cell & 1 != 0
        };
        let strong = self.has(Variant::StrongHits);
        let l1 = slots(self.gpu.len(), &|sm, cell| {
            any(sm, cell, &|future| if strong { future.read } else { future.cached })
        });
        let read_only = slots(self.gpu.len(), &|sm, cell| any(sm, cell, &|future| future.loose));
        let copies = slots(self.gpu.len(), &|sm, cell| {
            // One for each GPU: at its first SM.
            let first = self.gpu.iter().position(|gpu| *gpu == self.gpu[sm]) == Some(sm);
            self.options.copies && first && self.is_far(self.gpu[sm], cell)
        });
        let direct = self.plans.iter().fold(0, |all, plan| all | plan.ahead[0].direct);
        let views = slots(1, &|_, cell| {
            let shared = matches!(self.cells[cell].place, MemoryPlace::Shared { .. });
            shared && direct >> cell & 1 != 0
        });
        let barriers = at;
        let count = self.barriers.len() + self.cluster_barriers.iter().flatten().count();
        let entry = if self.remembers() { 6 } else { 4 };
        let objects = barriers + count * BARRIER;
        let entries = objects + self.objects.len();
        StateLayout {
            local,
            memory,
            l1,
            read_only,
            copies,
            views,
            barriers,
            objects,
            entries,
            entry,
        }
    }

    fn is_far(&self, gpu: u8, cell: usize) -> bool {
        match self.cells[cell].place {
            MemoryPlace::Global(home) => home != Home::Gpu(gpu),
            MemoryPlace::Shared { .. } | MemoryPlace::Private => false,
        }
    }

    /// Whether what a `MEMBAR` waits for differs from what is there while it waits: others add to
    /// the queues of its SM, or to the links of its GPU.
    fn remembers(&self) -> bool {
        (0..self.sm.len()).any(|thread| {
            let forms = self.lowered[thread].iter().flat_map(|lowered| &lowered.forms);
            forms.into_iter().any(|form| {
                let reach = if let MachineOp::Membar(reach) | MachineOp::MembarAll(reach) = form {
                    reach
                } else if *form == MachineOp::Asynchronous(AsyncOp::View) {
                    &MembarScope::Gpu
                } else {
                    return false;
                };
                let sm = usize::from(self.sm[thread]);
                let gpu = self.gpu[sm];
                let shared = (0..self.gpu.len()).any(|other| other != sm && self.gpu[other] == gpu);
                let far = (0..self.cells.len()).any(|cell| self.is_far(gpu, cell));
                match reach {
                    MembarScope::Cta => false,
                    MembarScope::Gpu => !self.alone[thread],
                    MembarScope::Sys => !self.alone[thread] || shared && far,
                }
            })
        })
    }

    /// What made the search give up, if something did.
    pub fn program(&self) -> &Program {
        self.program
    }

    /// Bytes that the states of threads take, which states of the machine refer to.
    pub fn held(&self) -> usize {
        self.tables.held()
    }

    /// A use of a barrier without meaning that some run so far came to: the thread, its line, and what.
    pub fn misused(&self) -> Option<((ThreadId, u16), BarrierMisuse)> {
        self.misused.seen
    }

    /// Whether an order of steps that was left out may come to such a use.
    pub fn may_be_misused(&self) -> bool {
        self.misused.seen.is_none() && self.misused.hurried && self.options.reduce != Reduce::None
    }

    /// Forgets that a table was full: what was reached before can be reached again.
    pub fn forget_overflow(&mut self) {
        self.tables.overflow = None;
    }

    pub fn overflow(&self) -> Option<&'static str> {
        self.tables.overflow
    }

    /// The state that a run starts in.
    pub fn start(&mut self) -> State {
        let mut state = State { bytes: vec![0; self.shape.entries] };
        for cell in 0..self.cells.len() {
            let Cell { location, start, length, .. } = self.cells[cell];
            let bytes = &self.layout.locations[usize::from(location)].initial;
            let (start, end) = (start as usize, (start + length) as usize);
            let value = little_endian(bytes.get(start..end.min(bytes.len())).unwrap_or(&[]));
            let value = self.value_id(value);
            self.shape.set_memory(&mut state, cell, value);
        }
        let warm = |id: ValueId| if self.options.warm { id } else { INVALID };
        let shape = &self.shape;
        for slots in [&shape.l1, &shape.read_only, &shape.copies] {
            for (index, slot) in slots.iter().enumerate() {
                let Some(slot) = slot else { continue };
                let value = shape.memory(&state, index % self.cells.len());
                state.bytes[usize::from(*slot)] = warm(value);
            }
        }
        for slot in self.shape.views.iter().flatten() {
            state.bytes[usize::from(*slot)] = INVALID;
        }
        for (slot, (location, start)) in (0..).zip(self.objects.clone()) {
            let states = &self.layout.locations[usize::from(location)].mbarriers;
            if let Some(of) = states.get((start / MBARRIER_BYTES) as usize) {
                let (expected, tx) = (of.count.into(), of.tx.into());
                let new = ObjectWord { phase: of.phase, pending: expected, expected, tx };
                self.set_object(&mut state, slot, Some(new));
            }
        }
        for thread in 0..self.sm.len() {
            let local = ThreadState::new(&self.context(thread));
            let local = self.local_id(thread, local);
            self.shape.set_local(&mut state, thread, local);
        }
        self.settle(&mut state);
        self.opening = std::mem::take(&mut self.steps);
        state
    }

    /// What happened before the first choice.
    pub fn opening(&self) -> &[Step] {
        &self.opening
    }

    /// The values of what the program observes, if the run is over.
    pub fn outcome(&self, state: &State) -> Option<Vec<Value>> {
        let identity: Vec<u8> = (0..=u8::MAX).take(self.sm.len()).collect();
        self.is_over(state).then(|| self.observe(state, &identity))
    }

    /// Whether all threads have ended, and all they did is done.
    pub fn is_over(&self, state: &State) -> bool {
        let ended = |thread| {
            let known = self.known(state, thread);
            known.ask == Ask::End && known.idle && known.local.in_flight.is_empty()
        };
        self.shape.count(state) == 0 && (0..self.sm.len()).all(ended)
    }

    /// Where the threads of a state are that have not ended: at a fault, at a barrier that has not
    /// completed, or on the way.
    pub fn unfinished(&self, state: &State) -> Vec<Stuck> {
        let stuck = (0..self.sm.len()).filter_map(|thread| {
            let known = self.known(state, thread);
            if matches!(known.ask, Ask::End) {
                return None;
            }
            // No branch faults; one that is where a thread stays leads to itself.
            let faults = matches!(known.ask, Ask::Fault) && !self.is_branch(thread, known.local.pc);
            let why = if faults {
                Stays::Faults
            } else if matches!(known.ask, Ask::Barrier { .. } | Ask::ClusterWait) {
                Stays::Waits
            } else {
                Stays::Loops
            };
            let thread = ThreadId(u8::try_from(thread).expect("a machine has few threads"));
            Some(Stuck { thread, line: known.local.pc, why, object: None })
        });
        stuck.collect()
    }

    fn is_branch(&self, thread: usize, line: u16) -> bool {
        let line = self.program.threads[thread].lines.get(usize::from(line));
        line.is_some_and(|line| line.instruction.as_branch().is_some())
    }

    /// What the program observes; `threads[t]` is the thread of the state that is the program's `t`.
    pub fn observe(&self, state: &State, threads: &[u8]) -> Vec<Value> {
        let value = |observed: &Observed| match *observed {
            Observed::Register { thread, register } => {
                let known = self.known(state, usize::from(threads[usize::from(thread.0)]));
                known.local.registers[usize::from(register.0)]
            }
            Observed::Memory { variable, thread, offset, length } => {
                let object = self.layout.object(variable, thread);
                let location = self.layout.virtuals[usize::from(object)].location;
                self.bytes(state, location, offset, length)
            }
        };
        self.program.observed.iter().map(value).collect()
    }

    fn bytes(&self, state: &State, location: u16, offset: u32, length: u32) -> Value {
        let mut all = 0;
        for (index, cell) in self.cells.iter().enumerate() {
            if cell.location != location {
                continue;
            }
            let value = self.value(self.shape.memory(state, index));
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

    fn has(&self, variant: Variant) -> bool {
        self.options.variant == Some(variant)
    }

    fn keeps(&self, rule: MachineRule) -> bool {
        self.options.without != Some(rule)
    }

    fn known(&self, state: &State, thread: usize) -> &table::CachedThread {
        let local = self.shape.local(state, thread);
        &self.tables.locals[usize::from(self.class[thread])][local as usize]
    }

    /// A state to change, equal to this one.
    fn copy(&mut self, state: &State) -> State {
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.set(&state.bytes);
        copy
    }
}

/// Uses of barriers without meaning.
#[derive(Default)]
struct Misused {
    /// The first that some run came to: the thread, its line, and what.
    seen: Option<((ThreadId, u16), BarrierMisuse)>,
    /// Whether a thread arrived at its cluster's barrier again where another order of the same steps may
    /// make that such a use.
    hurried: bool,
}

/// A barrier of a CTA, by its first thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct CtaBarrier {
    cta: u8,
    /// Of the peer dialect.
    instance: Option<u64>,
    id: u8,
}

impl CtaBarrier {
    /// Whether a barrier instruction may be this one.
    fn may_be(&self, barrier: &Barrier) -> bool {
        let id = match barrier.id {
            Operand::Imm(id) => id == self.id.into(),
            Operand::Reg(_) | Operand::Address(_) => true,
        };
        id && barrier.instance == self.instance
    }
}

/// Whether some instruction that may be of a barrier gives a count.
fn counted(program: &Program, cta: &[u8], barriers: &[CtaBarrier]) -> Vec<bool> {
    let gives = |of: &CtaBarrier| {
        let mates = program.threads.iter().zip(cta).filter(|(_, cta)| **cta == of.cta);
        mates.flat_map(|(thread, _)| &thread.lines).any(|line| {
            matches!(&line.instruction, Instruction::Barrier(barrier)
                if barrier.count.is_some() && of.may_be(barrier))
        })
    };
    barriers.iter().map(gives).collect()
}

/// The barriers that the code may use: those of CTAs, then, by cluster, which one is its own.
fn barriers_of(
    program: &Program,
    cta: &[u8],
    cluster: &[u8],
) -> (Vec<CtaBarrier>, Vec<Option<u8>>) {
    let mut of_ctas: Vec<CtaBarrier> = Vec::new();
    let lines = |thread: usize| program.threads[thread].lines.iter().map(|line| &line.instruction);
    for (thread, &cta) in cta.iter().enumerate() {
        for instruction in lines(thread) {
            let Instruction::Barrier(barrier) = instruction else { continue };
            let all = (0..16).map(|id| CtaBarrier { cta, instance: barrier.instance, id });
            for one in all.filter(|one| one.may_be(barrier)) {
                if !of_ctas.contains(&one) {
                    of_ctas.push(one);
                }
            }
        }
    }
    let mut of_clusters = vec![None; cluster.len()];
    let mut next = of_ctas.len();
    for (thread, &cluster) in cluster.iter().enumerate() {
        let place = &mut of_clusters[usize::from(cluster)];
        let any = lines(thread).any(|of| matches!(of, Instruction::ClusterBarrier(_)));
        if any && place.is_none() {
            *place = u8::try_from(next).ok();
            next += 1;
        }
    }
    (of_ctas, of_clusters)
}
