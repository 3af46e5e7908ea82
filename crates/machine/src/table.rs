//! Tables of values and of thread states, to which states refer by index.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use super::asynchronous::CopyRequest;
use super::form::{AccessLevel, MachineOp, MembarScope};
use super::local::{AccessRequest, Phase, ScalarAccess, ThreadContext, ThreadState, Want};
use super::object::{ObjectRequest, ObjectStep, ObjectWord};
use super::options::MachineRule;
use super::plan::{Future, Site};
use super::state::{QueueEntry, ValueId};
use super::{Machine, MemoryPlace};
use model::isa::Reg;
use model::value::{Value, low_bytes};

/// Things by number, each once.
#[derive(Debug)]
pub(super) struct Interner<T> {
    pub(super) list: Vec<T>,
    index: HashMap<T, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Interner<T> {
        Interner { list: Vec::new(), index: HashMap::new() }
    }
}

impl<T: Clone + Eq + Hash> Interner<T> {
    pub(super) fn intern(&mut self, value: &T) -> u32 {
        if let Some(&index) = self.index.get(value) {
            return index;
        }
        let index = u32::try_from(self.list.len()).expect("memory is full long before");
        self.list.push(value.clone());
        self.index.insert(value.clone(), index);
        index
    }
}

/// One element of an access, with its cells and the values for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AccessPiece {
    pub(super) site: u8,
    /// The cells.
    pub(super) first: u8,
    pub(super) count: u8,
    /// Whether the cells are the SM's own memory: no cache, no queue.
    pub(super) here: bool,
    /// What a write writes, by cell.
    pub(super) values: [ValueId; 16],
    /// The number of an atomic operation.
    pub(super) operation: u8,
}

impl AccessPiece {
    pub(super) fn cells(&self) -> Range<usize> {
        usize::from(self.first)..usize::from(self.first + self.count)
    }
}

/// What a thread does next, ready to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ask {
    Value,
    /// The pieces are `Tables::pieces` from `from` on.
    Access {
        from: u32,
        count: u8,
        unit: Option<MembarScope>,
    },
    Copy(CopyRequest),
    /// An operation on the object of this number.
    Object(u8, ObjectStep),
    /// An arrival on it when the copies so far are complete.
    Track {
        site: u8,
        object: u8,
    },
    ReleaseWait,
    View,
    SharedView,
    /// `MEMBAR`, waiting as far as that; loads may go past the one that is not `sc`.
    Membar {
        reach: MembarScope,
        sc: bool,
    },
    Invalidate,
    AcquireWait,
    ClusterArrive,
    ClusterWait,
    Barrier {
        id: u8,
        count: u8,
        waits: bool,
        vote: bool,
    },
    End,
    Fault,
}

/// A state of a thread, and what follows from it.
#[derive(Debug)]
pub(super) struct CachedThread {
    pub(super) local: ThreadState,
    pub(super) ask: Ask,
    pub(super) idle: bool,
    pub(super) future: Future,
    /// Changes made before, and the state that each led to.
    next: Vec<(Change, u32)>,
}

/// What happens to a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// It goes on to what comes after.
    Advance,
    /// A piece of its access, by its place in it, begins to be read.
    Expect {
        site: u8,
    },
    Deliver {
        site: u8,
        start: u8,
        value: ValueId,
    },
    Phase(Phase),
    /// It goes past its `MEMBAR.ALL`, which waits on.
    Pass {
        reach: MembarScope,
    },
    /// That one looks at links now.
    Far,
    /// That one is through.
    Through,
    Cluster(super::local::Cluster),
    /// A copy begins, has read its source, is complete.
    Start(CopyRequest),
    HasRead {
        site: u8,
    },
    Completed {
        site: u8,
    },
    /// An arrival after copies is issued, takes effect.
    Track {
        site: u8,
        object: u8,
    },
    Arrived {
        site: u8,
    },
    /// A wait for a phase has returned.
    Tested {
        done: Option<Reg>,
        result: bool,
    },
    Set {
        register: Reg,
        value: Value,
    },
    /// What it did at this line has no meaning.
    Fault {
        line: u16,
    },
    Release {
        all: bool,
        votes: u8,
    },
}

#[derive(Default)]
pub(super) struct Tables {
    /// By class: see `Machine::class`.
    pub(super) locals: Vec<Vec<CachedThread>>,
    index: Vec<HashMap<ThreadState, u32>>,
    pub(super) values: Interner<Value>,
    pub(super) operations: Interner<AccessRequest>,
    /// States of mbarrier objects; the first is that of none.
    pub(super) objects: Interner<Option<ObjectWord>>,
    pub(super) pieces: Vec<AccessPiece>,
    /// A table is full, or a thread runs for ever without memory.
    pub(super) overflow: Option<&'static str>,
}

impl Tables {
    pub(super) fn new(classes: usize) -> Tables {
        let mut tables = Tables {
            locals: (0..classes).map(|_| Vec::new()).collect(),
            index: vec![HashMap::new(); classes],
            ..Tables::default()
        };
        tables.objects.intern(&None);
        tables
    }
}

impl Tables {
    /// About how many bytes they take: each state of a thread is listed and looked up by itself.
    pub(super) fn held(&self) -> usize {
        let one = |local: &ThreadState| {
            size_of_val(&*local.registers) + size_of_val(local.pending.as_slice())
        };
        let of_class = |known: &Vec<CachedThread>| {
            // The states of one class are about as large.
            let heap = known
                .last()
                .map_or(0, |known| 2 * one(&known.local) + 2 * size_of_val(known.next.as_slice()));
            known.len() * (size_of::<CachedThread>() + 2 * size_of::<ThreadState>() + heap)
        };
        self.locals.iter().map(of_class).sum::<usize>() + size_of_val(self.pieces.as_slice())
    }
}

impl Machine<'_> {
    pub(super) fn value_id(&mut self, value: Value) -> ValueId {
        match u8::try_from(self.tables.values.intern(&value)) {
            Ok(id) if id < super::state::INVALID => id,
            _ => {
                self.tables.overflow = Some("more than 255 values");
                0
            }
        }
    }

    pub(super) fn value(&self, id: ValueId) -> Value {
        self.tables.values.list[usize::from(id)]
    }

    pub(super) fn context(&self, thread: usize) -> ThreadContext<'_> {
        let class = usize::from(self.class[thread]);
        ThreadContext {
            program: self.program,
            layout: &self.layout,
            thread: model::program::ThreadId(self.class[thread]),
            lowered: &self.lowered[class],
            plan: &self.plans[class],
            waits_for_groups: self.keeps(MachineRule::GroupWaits),
        }
    }

    /// The number of a thread's state, after all that needs no memory.
    pub(super) fn local_id(&mut self, thread: usize, mut local: ThreadState) -> u32 {
        const INSTRUCTIONS: u32 = 10_000;
        let context = self.context(thread);
        let want = local.settle(&context, INSTRUCTIONS);
        local.forget(&context);
        let class = usize::from(self.class[thread]);
        if let Some(&known) = self.tables.index[class].get(&local) {
            return known;
        }
        let line = local.pc;
        let forms = context.lowered.get(usize::from(line)).map(|lowered| &lowered.forms);
        let accessed = forms.is_some_and(|forms| {
            let access = forms.iter().position(|form| matches!(form, MachineOp::Access(_)));
            access.is_some_and(|access| access < usize::from(local.form))
        });
        let future = context.plan.future(line, accessed);
        let want = want.unwrap_or_else(|| {
            self.tables.overflow = Some(super::LONG);
            Want::Fault
        });
        let ask = self.ask(thread, &local, want);
        let known = CachedThread {
            idle: local.pending.is_empty(),
            local: local.clone(),
            ask,
            future,
            next: Vec::new(),
        };
        let index = u32::try_from(self.tables.locals[class].len()).expect("memory is full before");
        self.tables.locals[class].push(known);
        self.tables.index[class].insert(local, index);
        if index > u32::from(u16::MAX) && self.shape.local == 2 {
            self.tables.overflow = Some(super::WIDER);
            return 0;
        }
        index
    }

    /// What a thread wants, with the cells and values worked out.
    fn ask(&mut self, thread: usize, local: &ThreadState, want: Want) -> Ask {
        match want {
            Want::Value => Ask::Value,
            Want::End => Ask::End,
            Want::Barrier { id, count, waits, vote } => {
                Ask::Barrier { id, count: count.unwrap_or(0), waits, vote }
            }
            Want::Form(MachineOp::Membar(reach)) => Ask::Membar { reach, sc: true },
            Want::Form(MachineOp::MembarAll(reach)) => Ask::Membar { reach, sc: false },
            Want::Form(MachineOp::Invalidate) => Ask::Invalidate,
            Want::Form(MachineOp::AcquireWait) => Ask::AcquireWait,
            Want::Form(MachineOp::ClusterArrive) => Ask::ClusterArrive,
            Want::Form(MachineOp::ClusterWait) => Ask::ClusterWait,
            Want::ReleaseWait => Ask::ReleaseWait,
            Want::View => Ask::View,
            Want::SharedView => Ask::SharedView,
            // As a form, neither an access nor a barrier is wanted.
            Want::Fault
            | Want::Form(MachineOp::Access(_) | MachineOp::Bar | MachineOp::Asynchronous(_)) => {
                Ask::Fault
            }
            Want::Copy(of) => {
                let site = self.plans[usize::from(self.class[thread])].sites_of(local.pc).start;
                let site = u8::try_from(site).unwrap_or(0);
                self.copy_request(site, &of).map_or(Ask::Fault, Ask::Copy)
            }
            Want::Object(ObjectRequest { at, step }) => {
                self.slot(at).map_or(Ask::Fault, |object| Ask::Object(object, step))
            }
            Want::Track(at) => {
                let site = self.plans[usize::from(self.class[thread])].sites_of(local.pc).start;
                let site = u8::try_from(site).unwrap_or(0);
                self.slot(at).map_or(Ask::Fault, |object| Ask::Track { site, object })
            }
            Want::Access(scalars) => {
                let from = u32::try_from(self.tables.pieces.len()).expect("memory is full before");
                let class = usize::from(self.class[thread]);
                let sites = self.plans[class].sites_of(local.pc);
                let unit = self.plans[class].sites.get(sites.start).and_then(|site| site.unit);
                for scalar in &scalars {
                    let site = sites.start + usize::from(scalar.element);
                    let piece = self.piece(thread, u8::try_from(site).unwrap_or(0), scalar);
                    self.tables.pieces.push(piece);
                }
                let count = u8::try_from(scalars.len()).expect("a vector is short");
                Ask::Access { from, count, unit }
            }
        }
    }

    fn piece(&mut self, thread: usize, site: u8, scalar: &ScalarAccess) -> AccessPiece {
        let (first, length) = self.first_cell[usize::from(scalar.at.object)];
        let small = |n: u32| u8::try_from(n).expect("accesses are short");
        let first = first + small(scalar.at.start / length);
        let count = small(scalar.at.length.div_ceil(length));
        let here = match self.cells[usize::from(first)].place {
            MemoryPlace::Private => true,
            MemoryPlace::Shared { sm, cta } => sm == self.sm[thread] && cta == self.cta[thread],
            MemoryPlace::Global(_) => false,
        };
        let mut piece = AccessPiece { site, first, count, here, values: [0; 16], operation: 0 };
        match &scalar.what {
            AccessRequest::Read { .. } => {}
            AccessRequest::Write(value) => piece.values = self.split(first, count, *value),
            AccessRequest::Atomic { .. } => {
                piece.operation = u8::try_from(self.tables.operations.intern(&scalar.what))
                    .unwrap_or_else(|_| {
                        self.tables.overflow = Some("more than 256 atomic operations");
                        0
                    });
            }
        }
        piece
    }

    /// The value of each cell of a scalar.
    pub(super) fn split(&mut self, first: u8, count: u8, value: Value) -> [ValueId; 16] {
        let (mut values, mut below) = ([0; 16], 0);
        for index in 0..count {
            let length = self.cells[usize::from(first + index)].length;
            values[usize::from(index)] = self.value_id(value >> (8 * below) & low_bytes(length));
            below += length;
        }
        values
    }

    /// The state that a change leads a thread's state to.
    pub(super) fn changed(&mut self, thread: usize, from: u32, change: Change) -> u32 {
        let class = usize::from(self.class[thread]);
        let known = &self.tables.locals[class][from as usize];
        if let Some((_, next)) = known.next.iter().find(|(before, _)| *before == change) {
            return *next;
        }
        let mut local = known.local.clone();
        self.apply(thread, &mut local, change);
        let next = self.local_id(thread, local);
        self.tables.locals[class][from as usize].next.push((change, next));
        next
    }

    fn apply(&self, thread: usize, local: &mut ThreadState, change: Change) {
        let context = self.context(thread);
        match change {
            Change::Advance => local.advance(&context),
            Change::Expect { site } => {
                let of = &context.plan.sites[usize::from(site)];
                local.expect(site, of.register, of.ty);
            }
            Change::Deliver { site, start, value } => {
                local.deliver(site, start.into(), self.grain, self.value(value));
            }
            Change::Phase(phase) => local.phase = phase,
            Change::Pass { reach } => {
                let then_far = reach == MembarScope::Sys;
                let loads = reach == MembarScope::Cta;
                local.fenced = Some(super::local::Behind { far: false, then_far, loads });
                local.advance(&context);
            }
            Change::Far => {
                let fenced = super::local::Behind { far: true, then_far: false, loads: false };
                local.fenced = Some(fenced);
            }
            Change::Through => local.fenced = None,
            Change::Cluster(cluster) => local.cluster = cluster,
            Change::Start(copy) => {
                local.in_flight.start(copy);
                local.advance(&context);
            }
            Change::HasRead { site } => local.in_flight.has_read(site),
            Change::Completed { site } => local.in_flight.completed(site),
            Change::Track { site, object } => {
                local.in_flight.track(site, object);
                local.advance(&context);
            }
            Change::Arrived { site } => local.in_flight.arrived(site),
            Change::Tested { done, result } => local.tested(&context, done, result),
            Change::Set { register, value } => {
                local.registers[usize::from(register.0)] = value;
            }
            Change::Fault { line } => {
                (local.pc, local.form, local.phase) = (line, 0, Phase::Faulted);
            }
            Change::Release { all, votes } => local.release(&context, all, votes),
        }
    }

    pub(super) fn site(&self, entry: &QueueEntry) -> &Site {
        let class = usize::from(self.class[usize::from(entry.thread)]);
        &self.plans[class].sites[usize::from(entry.site)]
    }

    /// The level of a read; what is cached nowhere is at L2's.
    pub(super) fn level(&self, entry: &QueueEntry) -> AccessLevel {
        match self.cells[usize::from(entry.cell)].place {
            MemoryPlace::Global(_) => self.site(entry).level,
            MemoryPlace::Shared { .. } | MemoryPlace::Private => AccessLevel::Gpu,
        }
    }

    pub(super) fn is_store(&self, entry: &QueueEntry) -> bool {
        self.site(entry).is_store()
    }
}
