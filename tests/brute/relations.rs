//! The relations of one history and one choice of what strong reads read: synchronizes, base causality (1.3, 1.4), and
//! causality (1.6).

use std::collections::BTreeMap;

use super::events::{INITIAL, Kind, Unfolded};
use super::read::{Action, Program, Scope, Sem, Space, Window};
use super::run::{History, Phase};

/// A relation on events.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Matrix {
    rows: Vec<u128>,
}

impl Matrix {
    pub(super) fn new(size: usize) -> Matrix {
        Matrix { rows: vec![0; size] }
    }

    pub(super) fn add(&mut self, from: usize, to: usize) {
        self.rows[from] |= 1 << to;
    }

    pub(super) fn has(&self, from: usize, to: usize) -> bool {
        self.rows[from] >> to & 1 == 1
    }

    pub(super) fn union(&mut self, other: &Matrix) {
        for (row, more) in self.rows.iter_mut().zip(&other.rows) {
            *row |= more;
        }
    }

    pub(super) fn compose(&self, other: &Matrix) -> Matrix {
        let size = self.rows.len();
        let row = |from: usize| {
            let through = (0..size).filter(|&middle| self.has(from, middle));
            through.fold(0, |row, middle| row | other.rows[middle])
        };
        Matrix { rows: (0..size).map(row).collect() }
    }

    pub(super) fn reflexive(&self) -> Matrix {
        let rows = self.rows.iter().enumerate();
        Matrix { rows: rows.map(|(at, row)| row | 1 << at).collect() }
    }

    pub(super) fn closure(&self) -> Matrix {
        let mut closed = self.clone();
        for middle in 0..closed.rows.len() {
            for from in 0..closed.rows.len() {
                if closed.has(from, middle) {
                    closed.rows[from] |= closed.rows[middle];
                }
            }
        }
        closed
    }

    pub(super) fn is_acyclic(&self) -> bool {
        let closed = self.closure();
        (0..closed.rows.len()).all(|event| !closed.has(event, event))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.iter().all(|row| *row == 0)
    }

    /// The pairs of these events that satisfy a condition.
    pub(super) fn of(
        size: usize,
        events: &[usize],
        holds: impl Fn(usize, usize) -> bool,
    ) -> Matrix {
        let mut matrix = Matrix::new(size);
        for &from in events {
            for &to in events {
                if holds(from, to) {
                    matrix.add(from, to);
                }
            }
        }
        matrix
    }
}

/// What each read reads of each cell.
pub(super) type ReadsFrom = BTreeMap<(usize, usize), usize>;

/// One history of one unfolded program, with the relations that do not depend on what is read.
pub(super) struct Facts<'a> {
    pub(super) program: &'a Program,
    pub(super) unfolded: &'a Unfolded,
    pub(super) history: &'a History,
    /// The events that happened.
    pub(super) events: Vec<usize>,
    pub(super) size: usize,
    pub(super) po: Matrix,
    pub(super) morally_strong: Matrix,
    /// `iss`: what the issuing thread did before the instruction, and the events of the operation.
    issue: Matrix,
    /// `cmp`: events of operations, and what observes their completion.
    complete: Matrix,
    /// Synchronizes by barriers and objects; pairs from a `fence.mbarrier_init` are in `from_init` instead.
    synchronizes: Matrix,
    /// From initializations before a `fence.mbarrier_init` to what synchronizes with it (1.6).
    from_init: Matrix,
}

/// Events of barriers, with their thread and how many of their kind come before in the thread.
type Numbered = [(usize, usize, usize)];

/// The k-th arrivals and the k-th waits of threads that share a barrier.
fn meetings(
    arrivals: &Numbered,
    waits: &Numbered,
    share: impl Fn(usize, usize) -> bool,
) -> Vec<(usize, usize)> {
    let meets = |arrival: &(usize, usize, usize), wait: &(usize, usize, usize)| {
        share(arrival.1, wait.1) && arrival.2 == wait.2
    };
    let of = |arrival: &(usize, usize, usize)| -> Vec<(usize, usize)> {
        waits.iter().filter(|wait| meets(arrival, wait)).map(|wait| (arrival.0, wait.0)).collect()
    };
    arrivals.iter().flat_map(of).collect()
}

/// Base causality and what follows from it.
pub(super) struct Orders {
    pub(super) base: Matrix,
    pub(super) cause: Matrix,
    /// Whether threads synchronize through memory.
    pub(super) through_memory: bool,
}

impl<'a> Facts<'a> {
    pub(super) fn new(
        program: &'a Program,
        unfolded: &'a Unfolded,
        history: &'a History,
    ) -> Facts<'a> {
        let events = history.events(unfolded);
        let size = unfolded.events.len();
        let po = Matrix::of(size, &events, |a, b| unfolded.program_order(a, b));
        let issued = |a: usize, b: usize| {
            unfolded.events[b].issue.is_some_and(|issue| unfolded.program_order(a, issue))
        };
        let issue = Matrix::of(size, &events, issued);
        let mut facts = Facts {
            program,
            unfolded,
            history,
            size,
            po,
            morally_strong: Matrix::new(size),
            issue,
            complete: Matrix::new(size),
            synchronizes: Matrix::new(size),
            from_init: Matrix::new(size),
            events,
        };
        facts.morally_strong =
            Matrix::of(size, &facts.events, |a, b| facts.is_morally_strong(a, b));
        facts.complete = facts.completions();
        let pairs = [facts.barriers(), facts.clusters(), facts.objects()].concat();
        for (from, to) in pairs {
            facts.synchronize(from, to);
        }
        facts
    }

    fn kind(&self, event: usize) -> Kind {
        self.unfolded.events[event].kind
    }

    pub(super) fn shares_cell(&self, a: usize, b: usize) -> bool {
        let cells = &self.unfolded.events[b].cells;
        self.unfolded.events[a].cells.iter().any(|cell| cells.contains(cell))
    }

    /// Whether the scope of the first event includes the thread of the second.
    fn includes(&self, a: usize, b: usize) -> bool {
        let (Some(one), Some(other)) =
            (self.unfolded.events[a].thread, self.unfolded.events[b].thread)
        else {
            return false;
        };
        let (one, other) = (self.program.threads[one], self.program.threads[other]);
        match self.unfolded.events[a].scope {
            Scope::Cta => one.cta == other.cta,
            Scope::Cluster => one.cluster == other.cluster,
            Scope::Gpu => one.gpu == other.gpu,
            Scope::Sys => true,
        }
    }

    fn mutual(&self, a: usize, b: usize) -> bool {
        self.includes(a, b) && self.includes(b, a)
    }

    /// Base, 2.3. Accesses of threads are words, so overlapping ones overlap completely; fences are generic.
    fn is_morally_strong(&self, a: usize, b: usize) -> bool {
        let (one, other) = (&self.unfolded.events[a], &self.unfolded.events[b]);
        let ordered = self.po.has(a, b) || self.po.has(b, a);
        let strong = one.is_strong() && other.is_strong() && self.mutual(a, b);
        a != b
            && (ordered || strong)
            && !one.async_proxy
            && !other.async_proxy
            && (!(one.is_memory() && other.is_memory()) || self.shares_cell(a, b))
    }

    /// `acq(w)` of 1.3, of a wait that returned true.
    fn acquires(&self, wait: usize) -> Vec<usize> {
        let acquires = |&event: &usize| {
            let sem = self.unfolded.events[event].sem;
            let fence = self.kind(event) == Kind::Fence && self.po.has(wait, event);
            sem.acquires() && (event == wait || fence)
        };
        self.events.iter().copied().filter(acquires).collect()
    }

    /// `rel(a)` of 1.4.
    fn releases(&self, operation: usize) -> Vec<usize> {
        let arrival = matches!(
            self.kind(operation),
            Kind::Object { action: Action::Arrive { .. } | Action::ArriveDrop(_), .. }
        );
        let releases = |&event: &usize| {
            let fence = matches!(self.kind(event), Kind::Fence | Kind::FenceInit);
            self.unfolded.events[event].sem.releases()
                && (event == operation && arrival || fence && self.po.has(event, operation))
        };
        self.events.iter().copied().filter(releases).collect()
    }

    /// The waits that returned true, with their object and the phase that they observed.
    fn waits(&self) -> Vec<(usize, usize, Phase)> {
        let wait = |&event: &usize| match self.kind(event) {
            Kind::Object { object, action: Action::Wait { .. } } => {
                Some((event, object, *self.history.phases.get(&event)?))
            }
            _ => None,
        };
        self.events.iter().filter_map(wait).collect()
    }

    fn completions(&self) -> Matrix {
        let mut complete = Matrix::new(self.size);
        for &(event, wait) in &self.unfolded.waited {
            if self.events.contains(&wait) {
                complete.add(event, wait);
            }
        }
        for (wait, object, observed) in self.waits() {
            for (&completion, own) in &self.unfolded.completes {
                let here = self.kind(completion) == Kind::Completion { object };
                if here && self.history.phases.get(&completion) == Some(&observed) {
                    for acquire in self.acquires(wait) {
                        complete.add(completion, acquire);
                        for &event in own {
                            complete.add(event, acquire);
                        }
                    }
                }
            }
        }
        complete
    }

    /// `sw_mb` of 1.4: arrivals of this phase and earlier ones, at the scopes of both ends (B2, B3).
    fn objects(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for (wait, object, observed) in self.waits() {
            for &operation in &self.events {
                let Kind::Object { object: of, action } = self.kind(operation) else {
                    continue;
                };
                let writes =
                    !matches!(action, Action::Wait { .. } | Action::Init(_) | Action::Inval);
                let phase = self.history.phases.get(&operation);
                if of != object || !writes || phase.is_none_or(|phase| !phase.counts_for(observed))
                {
                    continue;
                }
                for from in self.releases(operation) {
                    let to = self.acquires(wait);
                    pairs.extend(
                        to.into_iter().filter(|&to| self.mutual(from, to)).map(|to| (from, to)),
                    );
                }
            }
        }
        pairs
    }

    /// Events of a kind, with their thread and how many of its kind come before in the thread.
    fn numbered(&self, is: impl Fn(Kind) -> bool) -> Vec<(usize, usize, usize)> {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        let mut all = Vec::new();
        for &event in self.events.iter().filter(|&&event| is(self.kind(event))) {
            let thread = self.unfolded.events[event].thread.expect("barriers are of threads");
            let count = counts.entry(thread).or_default();
            all.push((event, thread, *count));
            *count += 1;
        }
        all
    }

    /// Base, 2.9: the k-th arrivals and the k-th waits of the threads of a CTA.
    fn barriers(&self) -> Vec<(usize, usize)> {
        let arrivals = self.numbered(|kind| kind == Kind::BarrierArrive);
        let waits = self.numbered(|kind| kind == Kind::BarrierWait);
        let same = |one: usize, other: usize| {
            self.program.threads[one].cta == self.program.threads[other].cta
        };
        meetings(&arrivals, &waits, same)
    }

    /// Those of a cluster. A relaxed arrival is replaced by the releasing fences before it whose scope includes the waiting
    /// thread (base, 2.9).
    fn clusters(&self) -> Vec<(usize, usize)> {
        let arrivals = self.numbered(|kind| matches!(kind, Kind::ClusterArrive { .. }));
        let waits = self.numbered(|kind| kind == Kind::ClusterWait);
        let same = |one: usize, other: usize| self.same_cluster(one, other);
        let mut pairs = Vec::new();
        for (arrival, wait) in meetings(&arrivals, &waits, same) {
            if self.kind(arrival) == (Kind::ClusterArrive { relaxed: false }) {
                pairs.push((arrival, wait));
            } else {
                let fences = self.releases(arrival);
                let reaching = fences.into_iter().filter(|&fence| self.includes(fence, wait));
                pairs.extend(reaching.map(|fence| (fence, wait)));
            }
        }
        pairs
    }

    fn same_cluster(&self, one: usize, other: usize) -> bool {
        self.program.threads[one].cluster == self.program.threads[other].cluster
    }

    /// What counts for the phase that a wait observed, also where it releases nothing, and the wait.
    fn object_waits(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for (wait, object, observed) in self.waits() {
            for (&operation, phase) in &self.history.phases {
                let of = match self.kind(operation) {
                    Kind::Object { action: Action::Wait { .. } | Action::Inval, .. } => continue,
                    Kind::Object { object, .. } | Kind::Completion { object } => object,
                    _ => continue,
                };
                if of == object && phase.counts_for(observed) {
                    pairs.push((operation, wait));
                }
            }
        }
        pairs
    }

    /// What waits for the exit of a thread depends on the reads before the exit, through any number of barriers (reading
    /// R49): the last events of exited threads, and the waits at barriers at which they did not arrive.
    fn exits(&self) -> Vec<(usize, usize)> {
        let cta = |one: usize, other: usize| {
            self.program.threads[one].cta == self.program.threads[other].cta
        };
        let cluster = |one: usize, other: usize| self.same_cluster(one, other);
        let arrives = |kind| matches!(kind, Kind::ClusterArrive { .. });
        let of_cta = (self.numbered(|kind| kind == Kind::BarrierArrive), Kind::BarrierWait);
        let of_cluster = (self.numbered(arrives), Kind::ClusterWait);
        let mut pairs = Vec::new();
        for thread in 0..self.program.threads.len() {
            let own = |&&event: &&usize| {
                let event = &self.unfolded.events[event];
                event.thread == Some(thread) && !event.is_asynchronous()
            };
            let Some(&last) = self.events.iter().rfind(own) else {
                continue;
            };
            if self.history.done[thread] < self.unfolded.controls[thread].len() {
                continue;
            }
            let levels: [(_, &dyn Fn(usize, usize) -> bool); 2] =
                [(&of_cta, &cta), (&of_cluster, &cluster)];
            for ((arrivals, kind), same) in levels {
                let times = arrivals.iter().filter(|(_, of, _)| *of == thread).count();
                let waits = self.numbered(|of| of == *kind);
                let later =
                    waits.iter().filter(|(_, of, number)| same(*of, thread) && *number >= times);
                pairs.extend(later.map(|(wait, ..)| (last, *wait)));
            }
        }
        pairs
    }

    /// Reads, and what comes after a barrier that waited for an exit after them.
    pub(super) fn exit_dependencies(&self) -> Matrix {
        let exits = self.exits();
        let mut dependencies = Matrix::new(self.size);
        if exits.is_empty() {
            return dependencies;
        }
        let arrivals = self.numbered(|kind| matches!(kind, Kind::ClusterArrive { .. }));
        let waits = self.numbered(|kind| kind == Kind::ClusterWait);
        let of_cluster = meetings(&arrivals, &waits, |one, other| self.same_cluster(one, other));
        let mut before = self.po.clone();
        self.barriers().iter().for_each(|&(from, to)| before.add(from, to));
        let mut after = before.clone();
        for &(from, to) in &of_cluster {
            after.add(from, to);
            if self.kind(from) == (Kind::ClusterArrive { relaxed: false }) {
                before.add(from, to);
            }
        }
        self.object_waits().iter().for_each(|&(from, to)| after.add(from, to));
        let mut exit = Matrix::new(self.size);
        for &(from, to) in &exits {
            exit.add(from, to);
            after.add(from, to);
        }
        after.union(&self.issue);
        let tail =
            before.closure().reflexive().compose(&exit).compose(&after.closure().reflexive());
        for &read in &self.events {
            let event = &self.unfolded.events[read];
            if event.kind == Kind::Read && !event.is_asynchronous() {
                self.events
                    .iter()
                    .filter(|&&to| tail.has(read, to))
                    .for_each(|&to| dependencies.add(read, to));
            }
        }
        dependencies
    }

    /// What waits for an arrival at a barrier, in any number of steps, and what is after that (reading R49).
    pub(super) fn behind_arrivals(&self) -> Matrix {
        let (meets, after) = self.meetings_and_after();
        meets.compose(&after)
    }

    /// What a step of another thread waits for, in any number of steps.
    pub(super) fn awaited(&self) -> Matrix {
        let (mut meets, after) = self.meetings_and_after();
        self.object_waits().iter().for_each(|&(from, to)| meets.add(from, to));
        meets.compose(&after)
    }

    /// From arrivals at barriers to the waits there; and all that comes later.
    fn meetings_and_after(&self) -> (Matrix, Matrix) {
        let arrivals = self.numbered(|kind| matches!(kind, Kind::ClusterArrive { .. }));
        let waits = self.numbered(|kind| kind == Kind::ClusterWait);
        let of_cluster = meetings(&arrivals, &waits, |one, other| self.same_cluster(one, other));
        let mut meets = Matrix::new(self.size);
        for (from, to) in of_cluster.into_iter().chain(self.barriers()) {
            meets.add(from, to);
        }
        let mut after = self.po.clone();
        after.union(&meets);
        for (from, to) in self.exits().into_iter().chain(self.object_waits()) {
            after.add(from, to);
        }
        after.union(&self.issue);
        (meets, after.closure())
    }

    /// Adds a pair of synchronizes. A `fence.mbarrier_init` is replaced by the initializations before it (1.6).
    fn synchronize(&mut self, from: usize, to: usize) {
        if self.kind(from) != Kind::FenceInit {
            self.synchronizes.add(from, to);
            return;
        }
        for event in self.events.clone() {
            let init = matches!(self.kind(event), Kind::Object { action: Action::Init(_), .. });
            if init && self.po.has(event, from) {
                self.from_init.add(event, to);
            }
        }
    }

    /// `sw_ra` of the base model, 2.8: release pattern, observation, acquire pattern, with both ends morally strong.
    fn through_memory(&self, rf: &ReadsFrom) -> Matrix {
        let events = &self.unfolded.events;
        let strong =
            |event: usize, kind: Kind| events[event].kind == kind && events[event].is_strong();
        let release = Matrix::of(self.size, &self.events, |a, b| {
            let write = strong(b, Kind::Write) && !events[b].is_asynchronous();
            let operation = events[a].kind == Kind::Write && events[a].sem == Sem::Release;
            let same = a == b || self.po.has(a, b) && self.shares_cell(a, b);
            let fence = matches!(events[a].kind, Kind::Fence | Kind::FenceInit);
            write && (operation && same || fence && events[a].sem.releases() && self.po.has(a, b))
        });
        let acquire = Matrix::of(self.size, &self.events, |a, b| {
            let operation = events[b].kind == Kind::Read && events[b].sem == Sem::Acquire;
            let same = a == b || self.po.has(a, b) && self.shares_cell(a, b);
            let fence = events[b].kind == Kind::Fence && events[b].sem.acquires();
            strong(a, Kind::Read) && (operation && same || fence && self.po.has(a, b))
        });
        let mut observation = Matrix::new(self.size);
        for (&(read, _), &write) in rf {
            if self.morally_strong.has(write, read) {
                observation.add(write, read);
            }
        }
        let chains = release.compose(&observation).compose(&acquire);
        // `fence.mbarrier_init` takes part like a fence of cluster scope.
        Matrix::of(self.size, &self.events, |a, b| {
            let init = events[a].kind == Kind::FenceInit && self.mutual(a, b);
            chains.has(a, b) && (self.morally_strong.has(a, b) || init)
        })
    }

    /// Fence-SC orders (base, 2.7): each pair of morally strong sequential fences in either direction, without cycles.
    pub(super) fn fence_orders(&self) -> Vec<Matrix> {
        let sequential = |event: usize| {
            self.kind(event) == Kind::Fence && self.unfolded.events[event].sem == Sem::Sequential
        };
        let mut orders = vec![Matrix::new(self.size)];
        for &a in &self.events {
            for &b in &self.events {
                if a < b && sequential(a) && sequential(b) && self.morally_strong.has(a, b) {
                    let with = |order: &Matrix, from, to| {
                        let mut order = order.clone();
                        order.add(from, to);
                        order
                    };
                    orders = orders.iter().flat_map(|o| [with(o, a, b), with(o, b, a)]).collect();
                }
            }
        }
        orders.retain(Matrix::is_acyclic);
        orders
    }

    pub(super) fn orders(&self, rf: &ReadsFrom, fences: &Matrix) -> Orders {
        let memory = self.through_memory(rf);
        let mut threads = self.po.clone();
        threads.union(&self.synchronizes);
        threads.union(fences);
        let mut from_init = self.from_init.clone();
        for &a in &self.events {
            for &b in &self.events {
                if memory.has(a, b) && self.kind(a) == Kind::FenceInit {
                    for &init in &self.events {
                        let is =
                            matches!(self.kind(init), Kind::Object { action: Action::Init(_), .. });
                        if is && self.po.has(init, a) {
                            from_init.add(init, b);
                        }
                    }
                } else if memory.has(a, b) {
                    threads.add(a, b);
                }
            }
        }
        let base = self.base(&threads.closure(), &from_init);
        let cause = self.causality(&base, rf);
        Orders { base, cause, through_memory: !memory.is_empty() }
    }

    /// Base causality (1.3). It is not closed at asynchronous events, nor before initializations that only a
    /// `fence.mbarrier_init` publishes.
    fn base(&self, threads: &Matrix, from_init: &Matrix) -> Matrix {
        let maybe = threads.reflexive();
        let mut base = threads.clone();
        let published = from_init.compose(&maybe);
        base.union(&published);
        base.union(&published.compose(&self.issue));
        base.union(&maybe.compose(&self.issue));
        base.union(&self.complete.compose(&maybe));
        base.union(&self.complete.compose(&maybe).compose(&self.issue));
        for &(from, to) in &self.unfolded.internal {
            base.add(from, to);
        }
        for &event in &self.events {
            if event != INITIAL {
                base.add(INITIAL, event);
            }
        }
        base
    }

    fn causality(&self, base: &Matrix, rf: &ReadsFrom) -> Matrix {
        let preserved = Matrix::of(self.size, &self.events, |x, y| {
            let access = |event: usize| event == INITIAL || self.unfolded.events[event].is_memory();
            access(x)
                && access(y)
                && base.has(x, y)
                && self.shares_cell(x, y)
                && self.preserves(base, x, y)
        });
        let mut observation = Matrix::new(self.size);
        for (&(read, _), &write) in rf {
            if self.morally_strong.has(write, read) {
                observation.add(write, read);
            }
        }
        let mut cause = observation.compose(&preserved);
        cause.union(&preserved);
        cause
    }

    /// The clauses of 1.6 that the subset needs.
    fn preserves(&self, base: &Matrix, x: usize, y: usize) -> bool {
        if x == INITIAL {
            return true;
        }
        let (from, to) = (&self.unfolded.events[x], &self.unfolded.events[y]);
        let cta = |thread: Option<usize>| thread.map(|thread| self.program.threads[thread].cta);
        // P1, P4: what is asynchronous ends with a proxy fence.
        if !to.async_proxy {
            return true;
        }
        // P2.
        if from.async_proxy && cta(from.thread) == cta(to.thread) {
            return true;
        }
        // P5.
        self.events.iter().any(|&fence| match self.kind(fence) {
            Kind::FenceProxy(window) => {
                self.covers(fence, window, x, y) && base.has(x, fence) && base.has(fence, y)
            }
            _ => false,
        })
    }

    /// Whether the window of the fence has bytes that both events access.
    fn covers(&self, fence: usize, window: Window, x: usize, y: usize) -> bool {
        let thread = self.unfolded.events[fence].thread.expect("fences are of threads");
        let place = self.program.threads[thread];
        let common = self.unfolded.events[x].cells.iter();
        let mut common = common.filter(|cell| self.unfolded.events[y].cells.contains(cell));
        common.any(|&cell| {
            let cell = &self.program.cells[cell];
            let of_cluster = |cta: usize| {
                self.program.threads.iter().any(|p| p.cta == cta && p.cluster == place.cluster)
            };
            match window {
                Window::All => true,
                Window::Global => cell.space == Space::Global,
                Window::SharedCta => cell.space == Space::Shared && cell.cta == place.cta,
                Window::SharedCluster => cell.space == Space::Shared && of_cluster(cell.cta),
            }
        })
    }
}
