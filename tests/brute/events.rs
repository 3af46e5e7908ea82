//! The events of one combination of paths (1.1, 1.2), and the relations that are fixed by it: who issued what, and which
//! group waits observe which completions.

use std::collections::{BTreeMap, BTreeSet};

use super::read::{
    Action, Chosen, Copy, Observed, Operand, Path, Program, Scope, Sem, Step, Tracking, Window,
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// The hypothetical writes before all threads, one event for all cells.
    Initial,
    Read,
    Write,
    Fence,
    /// `fence.mbarrier_init`.
    FenceInit,
    FenceProxy(Window),
    BarrierArrive,
    BarrierWait,
    ClusterArrive {
        relaxed: bool,
    },
    ClusterWait,
    /// An operation of a thread on an object.
    Object {
        object: usize,
        action: Action,
    },
    /// The complete-tx of a copy, or the arrive-on of `cp.async.mbarrier.arrive`.
    Completion {
        object: usize,
    },
    /// The issue of an asynchronous operation, a commit, or a group wait.
    Issue,
}

impl Kind {
    /// The object whose phase it may end or keep open.
    pub(super) fn changed_object(self) -> Option<usize> {
        match self {
            Kind::Object { action: Action::Wait { .. }, .. } => None,
            Kind::Object { object, .. } | Kind::Completion { object } => Some(object),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Event {
    /// The thread, or the issuing thread; none for the initial writes.
    pub(super) thread: Option<usize>,
    /// The number of the step in its thread.
    pub(super) step: usize,
    pub(super) kind: Kind,
    /// The issue, for events of asynchronous operations.
    pub(super) issue: Option<usize>,
    pub(super) cells: Vec<usize>,
    pub(super) sem: Sem,
    pub(super) scope: Scope,
    pub(super) async_proxy: bool,
}

impl Event {
    pub(super) fn is_memory(&self) -> bool {
        matches!(self.kind, Kind::Read | Kind::Write)
    }

    pub(super) fn is_strong(&self) -> bool {
        self.kind == Kind::Fence || self.is_memory() && self.sem != Sem::Weak
    }

    pub(super) fn is_asynchronous(&self) -> bool {
        self.issue.is_some()
    }
}

/// Where the value of a written word, or of a register, comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    Number(u64),
    Read { event: usize, cell: usize },
}

/// A comparison of a path: what it compares, and the result that the path assumes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assumption {
    pub(super) event: usize,
    pub(super) thread: usize,
    pub(super) source: Source,
    pub(super) number: u64,
    pub(super) equal: bool,
    /// Whether it decides a loop.
    pub(super) leaves: bool,
    /// Whether the loop around it is repeated for ever.
    pub(super) forever: bool,
}

/// A step on objects or barriers that the run of the barriers goes through.
#[derive(Clone, Debug)]
pub(super) enum Control {
    /// The thread repeats a loop for ever.
    Forever,
    Barrier {
        id: u64,
    },
    ClusterArrive,
    ClusterWait,
    Object {
        object: usize,
        action: Action,
        event: usize,
        result: Option<bool>,
    },
    /// Completions of a copy become pending: the events, objects and bytes.
    Complete(Vec<(usize, usize, i64)>),
    Track {
        object: usize,
        counted: bool,
        event: usize,
    },
}

#[derive(Default, Debug)]
pub(super) struct Unfolded {
    pub(super) events: Vec<Event>,
    /// The steps of each thread; steps without a barrier do not count.
    pub(super) controls: Vec<Vec<Option<Control>>>,
    /// The last event of program order in each step, for the steps on barriers and objects.
    pub(super) control_event: BTreeMap<(usize, usize), usize>,
    /// For each event that writes, the source of each cell.
    pub(super) sources: BTreeMap<usize, Vec<Source>>,
    pub(super) assumptions: Vec<Assumption>,
    /// Pairs of asynchronous events of one operation, in their order.
    pub(super) internal: Vec<(usize, usize)>,
    /// Asynchronous events, and the group wait that observes their completion.
    pub(super) waited: Vec<(usize, usize)>,
    /// For each completion, the events of the operations that have then completed.
    pub(super) completes: BTreeMap<usize, Vec<usize>>,
    pub(super) registers: BTreeMap<(usize, String), Source>,
    /// The waits that block, as loops around them do.
    pub(super) blocking: BTreeSet<usize>,
    /// What decides an event, and the event: a wait or a comparison of which a guard tests the result. It also decides later
    /// steps on an object of which it has an earlier step skipped.
    pub(super) guarded: Vec<(usize, usize)>,
    pub(super) skipped: Vec<Skipped>,
}

/// A step on an object that a guard skips.
#[derive(Debug)]
pub(super) struct Skipped {
    pub(super) thread: usize,
    pub(super) object: usize,
    /// The event that decides it.
    pub(super) by: usize,
    /// The events of the thread from this one on are after it.
    pub(super) before: usize,
}

pub(super) const INITIAL: usize = 0;
/// Events are bits of a word of this many.
const MOST_EVENTS: usize = 128;

impl Unfolded {
    pub(super) fn new(program: &Program, paths: &[Path]) -> Result<Unfolded, String> {
        let mut unfolded = Unfolded::default();
        let cells = (0..program.cells.len()).collect();
        unfolded.push(None, 0, Kind::Initial, cells);
        let initial = program.cells.iter().map(|cell| Source::Number(cell.initial)).collect();
        unfolded.sources.insert(INITIAL, initial);
        for ((thread, name), &value) in &program.registers {
            unfolded.registers.insert((*thread, name.clone()), Source::Number(value));
        }
        for (thread, path) in paths.iter().enumerate() {
            let mut builder = Builder::new(&mut unfolded, thread);
            for (step, chosen) in path.iter().enumerate() {
                builder.step(step, chosen);
            }
            let controls = builder.controls;
            unfolded.controls.push(controls);
        }
        if unfolded.events.len() > MOST_EVENTS {
            return Err("too many events".to_owned());
        }
        Ok(unfolded)
    }

    fn push(&mut self, thread: Option<usize>, step: usize, kind: Kind, cells: Vec<usize>) -> usize {
        self.events.push(Event {
            thread,
            step,
            kind,
            issue: None,
            cells,
            sem: Sem::Weak,
            scope: Scope::Sys,
            async_proxy: false,
        });
        self.events.len() - 1
    }

    /// Program order: that of the events of a thread, without those of asynchronous operations.
    pub(super) fn program_order(&self, first: usize, second: usize) -> bool {
        let (a, b) = (&self.events[first], &self.events[second]);
        a.thread.is_some()
            && a.thread == b.thread
            && !a.is_asynchronous()
            && !b.is_asynchronous()
            && first < second
    }

    /// The source of what the event writes to the cell.
    pub(super) fn source(&self, write: usize, cell: usize) -> Source {
        let cells = &self.events[write].cells;
        let at = cells.iter().position(|&of| of == cell).expect("the event writes this cell");
        self.sources[&write][at]
    }
}

/// Appends the events of one thread.
struct Builder<'a> {
    unfolded: &'a mut Unfolded,
    thread: usize,
    controls: Vec<Option<Control>>,
    /// Events of copies that no commit has closed yet, and those of closed groups; of `cp.async`, and of bulk copies.
    open: [Vec<usize>; 2],
    closed: [Vec<Vec<usize>>; 2],
    /// The events of all earlier `cp.async`.
    earlier: Vec<usize>,
    /// The predicates that hold what a wait or a comparison returned, with its event.
    returned: BTreeMap<String, usize>,
}

const SMALL: usize = 0;
const BULK: usize = 1;

impl<'a> Builder<'a> {
    fn new(unfolded: &'a mut Unfolded, thread: usize) -> Builder<'a> {
        Builder {
            unfolded,
            thread,
            controls: Vec::new(),
            open: Default::default(),
            closed: Default::default(),
            earlier: Vec::new(),
            returned: BTreeMap::new(),
        }
    }

    fn event(&mut self, step: usize, kind: Kind, cells: Vec<usize>) -> usize {
        self.unfolded.push(Some(self.thread), step, kind, cells)
    }

    fn ordered(
        &mut self,
        step: usize,
        kind: Kind,
        cells: Vec<usize>,
        sem: Sem,
        scope: Scope,
    ) -> usize {
        let event = self.event(step, kind, cells);
        self.unfolded.events[event].sem = sem;
        self.unfolded.events[event].scope = scope;
        event
    }

    fn register(&self, name: &str) -> Source {
        let place = (self.thread, name.to_owned());
        self.unfolded.registers.get(&place).copied().unwrap_or(Source::Number(0))
    }

    fn set(&mut self, name: &str, source: Source) {
        self.returned.remove(name);
        self.unfolded.registers.insert((self.thread, name.to_owned()), source);
    }

    fn step(&mut self, step: usize, chosen: &Chosen) {
        let first = self.unfolded.events.len();
        let guard = chosen.guard.as_ref().and_then(|guard| self.returned.get(guard)).copied();
        if chosen.skipped {
            for object in chosen.step.changed_objects() {
                let of = |by| Skipped { thread: self.thread, object, by, before: first };
                self.unfolded.skipped.extend(guard.map(of));
            }
            self.controls.push(None);
            return;
        }
        self.unguarded(step, chosen);
        for event in first..self.unfolded.events.len() {
            let object = self.unfolded.events[event].kind.changed_object();
            let skipped = self.unfolded.skipped.iter();
            let before = skipped.filter(|of| of.thread == self.thread && Some(of.object) == object);
            let decides = guard.into_iter().chain(before.map(|of| of.by));
            let decides: Vec<usize> = decides.collect();
            self.unfolded.guarded.extend(decides.into_iter().map(|by| (by, event)));
        }
    }

    fn unguarded(&mut self, step: usize, chosen: &Chosen) {
        let mut control = None;
        match &chosen.step {
            Step::Load { cell, sem, scope, register } => {
                let event = self.ordered(step, Kind::Read, vec![*cell], *sem, *scope);
                self.set(register, Source::Read { event, cell: *cell });
            }
            Step::Store { cell, sem, scope, value } => {
                let event = self.ordered(step, Kind::Write, vec![*cell], *sem, *scope);
                let source = match value {
                    Operand::Number(number) => Source::Number(*number),
                    Operand::Register(name) => self.register(name),
                };
                self.unfolded.sources.insert(event, vec![source]);
            }
            Step::Compare { register, left, number, equal, exits } => {
                let result = chosen.result.expect("a path chooses the results of comparisons");
                let event = self.event(step, Kind::Issue, Vec::new());
                self.unfolded.assumptions.push(Assumption {
                    event,
                    thread: self.thread,
                    source: self.register(left),
                    number: *number,
                    equal: *equal == result,
                    leaves: exits.is_some(),
                    forever: false,
                });
                self.set(register, Source::Number(u64::from(result)));
                self.returned.insert(register.clone(), event);
            }
            Step::Fence { sem, scope } => {
                self.ordered(step, Kind::Fence, Vec::new(), *sem, *scope);
            }
            Step::FenceInit => {
                self.ordered(step, Kind::FenceInit, Vec::new(), Sem::Release, Scope::Cluster);
            }
            Step::FenceProxy(window) => {
                self.event(step, Kind::FenceProxy(*window), Vec::new());
            }
            Step::Forever => {
                let last = self.unfolded.assumptions.last_mut();
                last.expect("a comparison comes before").forever = true;
                control = Some(Control::Forever);
            }
            Step::Copy(copy) => control = self.copy(step, copy),
            Step::Commit => self.commit(step, SMALL),
            Step::BulkCommit => self.commit(step, BULK),
            Step::WaitGroup(number) => self.wait_group(step, SMALL, *number, false),
            Step::WaitAll => {
                self.commit(step, SMALL);
                self.wait_group(step, SMALL, 0, false);
            }
            Step::BulkWaitGroup { number, reads_only } => {
                self.wait_group(step, BULK, *number, *reads_only);
            }
            other => control = Some(self.synchronize(step, other, chosen.result)),
        }
        self.controls.push(control);
    }

    fn synchronize(&mut self, number: usize, step: &Step, result: Option<bool>) -> Control {
        let (event, control) = match step {
            Step::Barrier(id) => {
                self.event(number, Kind::BarrierArrive, Vec::new());
                let wait = self.event(number, Kind::BarrierWait, Vec::new());
                (wait, Control::Barrier { id: *id })
            }
            Step::ClusterArrive { relaxed } => {
                let kind = Kind::ClusterArrive { relaxed: *relaxed };
                (self.event(number, kind, Vec::new()), Control::ClusterArrive)
            }
            Step::ClusterWait => {
                (self.event(number, Kind::ClusterWait, Vec::new()), Control::ClusterWait)
            }
            Step::Track { object, counted } => {
                let (object, counted) = (*object, *counted);
                let issue = self.event(number, Kind::Issue, Vec::new());
                let event = self.event(number, Kind::Completion { object }, Vec::new());
                self.unfolded.events[event].issue = Some(issue);
                // The arrive-on is after all earlier copies of the thread (8.9.1.1).
                self.unfolded.completes.insert(event, self.earlier.clone());
                (issue, Control::Track { object, counted, event })
            }
            Step::Object { object, action, sem, scope, register, blocks } => {
                let (object, action) = (*object, *action);
                let kind = Kind::Object { object, action };
                let event = self.ordered(number, kind, Vec::new(), *sem, *scope);
                if let Some(result) = result {
                    self.set(register, Source::Number(u64::from(result)));
                    self.returned.insert(register.clone(), event);
                }
                if *blocks {
                    self.unfolded.blocking.insert(event);
                }
                (event, Control::Object { object, action, event, result })
            }
            _ => unreachable!("the other steps are handled before"),
        };
        self.unfolded.control_event.insert((self.thread, number), event);
        control
    }

    /// Issue, read, writes, and a completion for each object (1.2); inside, `R→W` and `(R∪W)→C` (1.3).
    fn copy(&mut self, step: usize, copy: &Copy) -> Option<Control> {
        let issue = self.event(step, Kind::Issue, Vec::new());
        let part = |builder: &mut Self, kind, cells: &[usize], async_proxy| {
            let event = builder.event(step, kind, cells.to_vec());
            builder.unfolded.events[event].issue = Some(issue);
            builder.unfolded.events[event].async_proxy = async_proxy;
            event
        };
        let mut all = Vec::new();
        let read =
            (!copy.from.is_empty()).then(|| part(self, Kind::Read, &copy.from, copy.async_proxy));
        all.extend(read);
        let mut completions = Vec::new();
        for to in &copy.to {
            let write = part(self, Kind::Write, &to.cells, copy.async_proxy);
            let source = |at: usize| match (read, copy.from.get(at)) {
                (Some(event), Some(&cell)) => Source::Read { event, cell },
                _ => Source::Number(copy.rest),
            };
            let sources = (0..to.cells.len()).map(source).collect();
            self.unfolded.sources.insert(write, sources);
            self.unfolded.internal.extend(read.map(|read| (read, write)));
            all.push(write);
            if let Some(object) = to.object {
                let completion = part(self, Kind::Completion { object }, &[], false);
                let own: Vec<usize> = read.into_iter().chain([write]).collect();
                self.unfolded.internal.extend(own.iter().map(|&event| (event, completion)));
                // The table of 1.2 has `R → W → C` for each CTA of a multicast (reading B24).
                self.unfolded.completes.insert(completion, own);
                completions.push((completion, object, copy.bytes));
            }
        }
        match copy.tracking {
            Tracking::Object => {}
            Tracking::CpAsyncGroup => {
                self.open[SMALL].extend(&all);
                self.earlier.extend(&all);
            }
            Tracking::BulkGroup => self.open[BULK].extend(&all),
        }
        if completions.is_empty() {
            return None;
        }
        self.unfolded.control_event.insert((self.thread, step), issue);
        Some(Control::Complete(completions))
    }

    /// A commit closes a group, which may be empty.
    fn commit(&mut self, step: usize, which: usize) {
        self.event(step, Kind::Issue, Vec::new());
        let group = std::mem::take(&mut self.open[which]);
        self.closed[which].push(group);
    }

    /// All but the youngest groups are complete; with `.read`, only their reads.
    fn wait_group(&mut self, step: usize, which: usize, youngest: usize, reads_only: bool) {
        let wait = self.event(step, Kind::Issue, Vec::new());
        let groups = &self.closed[which];
        let complete = &groups[..groups.len().saturating_sub(youngest)];
        let events = &self.unfolded.events;
        let observed = complete.iter().flatten().copied();
        let counts = |event: &usize| !reads_only || events[*event].kind == Kind::Read;
        let pairs: Vec<(usize, usize)> =
            observed.filter(counts).map(|event| (event, wait)).collect();
        self.unfolded.waited.extend(pairs);
    }
}

/// The value of an observed register in an unfolded program.
pub(super) fn observed_register(unfolded: &Unfolded, observed: &Observed) -> Option<Source> {
    match observed {
        Observed::Register(thread, name) => {
            let place = (*thread, name.clone());
            Some(unfolded.registers.get(&place).copied().unwrap_or(Source::Number(0)))
        }
        Observed::Memory(_) => None,
    }
}
