//! Threads that never meet: no memory that one of them may write is accessed by the other, and nothing waits for both.
//!
//! Threads that meet are of one component. The executions of a program are combinations of an execution of each component: relations
//! connect events through locations, barriers, exchanges and objects, and fences of sequential consistency. An order of these of two
//! components may always put one component first, which changes nothing within either.

use std::collections::BTreeMap;

use crate::accessed::{Accessed, LineBytes, Reach};
use crate::layout::Layout;
use model::isa::cvta::AddressOp;
use model::isa::fence::FenceOrder;
use model::isa::ld::LoadOrder;
use model::isa::{Instruction, Line};
use model::memory::{Extent, Space};
use model::program::{Observed, Program, Thread, ThreadId};
use model::scope::{Placement, Scope};

/// The components of a program.
#[derive(Clone, Debug)]
pub struct Components {
    /// For each thread, one of its component: itself, or one that is nearer to the first.
    nearer: Vec<u8>,
    /// For each part of an outcome, a thread of its component.
    observed: Vec<ThreadId>,
}

/// Who accesses some bytes.
#[derive(Default)]
struct SharedBytes {
    threads: Vec<ThreadId>,
    written: bool,
}

impl SharedBytes {
    fn add(&mut self, thread: ThreadId, writes: bool) {
        if self.threads.last() != Some(&thread) {
            self.threads.push(thread);
        }
        self.written |= writes;
    }
}

/// Who accesses a location.
#[derive(Default)]
struct LocationUse {
    /// By bytes that are not known.
    somewhere: SharedBytes,
    bytes: BTreeMap<u32, SharedBytes>,
}

impl Components {
    pub fn of(program: &Program) -> Components {
        let threads = u8::try_from(program.threads.len()).expect("a test has few threads");
        let observed = vec![ThreadId(0); program.observed.len()];
        let mut all = Components { nearer: (0..threads).collect(), observed };
        if is_whole(program) {
            all.join_all((0..threads).map(ThreadId));
            return all;
        }
        all.join_groups(program);
        all.join_fences(program);
        // Memory joins only what is not one component already.
        if all.is_one() {
            return all;
        }
        let layout = Layout::new(program);
        let accessed = Accessed::new(program, &layout);
        let uses = uses(program, &layout, &accessed);
        for of in &uses {
            let written = of.somewhere.written || of.bytes.values().any(|of| of.written);
            if !of.somewhere.threads.is_empty() && written {
                let known = of.bytes.values().flat_map(|of| &of.threads);
                all.join_all(of.somewhere.threads.iter().chain(known).copied());
            }
            for of in of.bytes.values().filter(|of| of.written) {
                all.join_all(of.threads.iter().copied());
            }
        }
        all.join_observed(program, &layout, &uses);
        all
    }

    /// Whether all threads are of one component.
    pub fn is_one(&self) -> bool {
        (0u8..).zip(&self.nearer).all(|(thread, _)| self.first(ThreadId(thread)).0 == 0)
    }

    /// The first thread of a thread's component.
    pub fn first(&self, mut thread: ThreadId) -> ThreadId {
        loop {
            let nearer = ThreadId(self.nearer[usize::from(thread.0)]);
            if nearer == thread {
                return thread;
            }
            thread = nearer;
        }
    }

    /// The first thread of the component that a part of an outcome is of.
    pub fn of_observed(&self, index: usize) -> ThreadId {
        self.first(self.observed[index])
    }

    pub fn join(&mut self, one: ThreadId, other: ThreadId) {
        let (one, other) = (self.first(one), self.first(other));
        self.nearer[usize::from(one.max(other).0)] = one.min(other).0;
    }

    fn join_all(&mut self, threads: impl IntoIterator<Item = ThreadId>) {
        let mut threads = threads.into_iter();
        let Some(first) = threads.next() else { return };
        threads.for_each(|thread| self.join(first, thread));
    }

    /// Joins threads that do something together with others of their warp, CTA or cluster.
    fn join_groups(&mut self, program: &Program) {
        let remote = program.has_remote_shared_memory();
        for (one, of) in (0u8..).map(ThreadId).zip(&program.threads) {
            let Some(group) = of.lines.iter().filter_map(group).max() else { continue };
            for (other, with) in (0u8..).map(ThreadId).zip(&program.threads) {
                if group.includes(of.placement, with.placement) {
                    self.join(one, other);
                }
            }
        }
        // A CTA may have exited when another one accesses its shared memory (reading R114).
        for (one, of) in (0u8..).map(ThreadId).zip(&program.threads).filter(|_| remote) {
            for (other, with) in (0u8..).map(ThreadId).zip(&program.threads) {
                if of.placement.same_cluster(with.placement) {
                    self.join(one, other);
                }
            }
        }
    }

    /// Joins threads with fences of sequential consistency that are in an order of which another fence has only one: two fences may be
    /// ordered by way of a third one, and need not be without it.
    fn join_fences(&mut self, program: &Program) {
        let mut fences: Vec<(ThreadId, Placement, Scope)> = Vec::new();
        for (thread, of) in (0u8..).map(ThreadId).zip(&program.threads) {
            fences.extend(of.lines.iter().filter_map(|line| {
                let Instruction::Fence(fence) = &line.instruction else { return None };
                (fence.order == FenceOrder::Sc).then_some((thread, of.placement, fence.scope))
            }));
        }
        fences.dedup();
        let ordered = |&(_, here, scope): &(ThreadId, Placement, Scope)| -> Vec<bool> {
            let both = |&(_, there, of): &(ThreadId, Placement, Scope)| {
                scope.includes(here, there) && of.includes(there, here)
            };
            fences.iter().map(both).collect()
        };
        let orders: Vec<Vec<bool>> = fences.iter().map(ordered).collect();
        for (one, with) in orders.iter().enumerate() {
            for other in (0..one).filter(|&other| with[other] && orders[other] != *with) {
                self.join(fences[one].0, fences[other].0);
            }
        }
    }

    /// Joins the threads that may write what is observed as one.
    fn join_observed(&mut self, program: &Program, layout: &Layout, uses: &[LocationUse]) {
        for (index, &observed) in program.observed.iter().enumerate() {
            let (thread, variable, start, length) = match observed {
                Observed::Register { thread, .. } => {
                    self.observed[index] = thread;
                    continue;
                }
                Observed::Memory { thread, variable, offset, length } => {
                    (thread, variable, offset, length)
                }
            };
            let location = layout.virtuals[usize::from(layout.object(variable, thread))].location;
            let of = &uses[usize::from(location)];
            let bytes = of.bytes.range(start..start.saturating_add(length)).map(|(_, of)| of);
            let writers = [&of.somewhere].into_iter().chain(bytes).filter(|of| of.written);
            let writers: Vec<ThreadId> = writers.flat_map(|of| &of.threads).copied().collect();
            self.observed[index] = writers.first().copied().unwrap_or(ThreadId(0));
            self.join_all(writers);
        }
    }
}

/// Whether a program is taken as one component: what its threads share is not known from their instructions.
fn is_whole(program: &Program) -> bool {
    let lines = || program.threads.iter().flat_map(|thread| &thread.lines);
    program.contested.is_some()
        || !program.launches.is_empty()
        || program.variables.iter().any(|of| of.absolute.is_some() || of.tensormap.is_some())
        || lines().any(|line| matches!(line.instruction, Instruction::Unsupported(_)))
}

/// Threads that do something together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MeetingGroup {
    Warp,
    Cta,
    Cluster,
}

impl MeetingGroup {
    fn includes(self, here: Placement, there: Placement) -> bool {
        match self {
            MeetingGroup::Warp => here.same_warp(there),
            MeetingGroup::Cta => here.same_cta(there),
            MeetingGroup::Cluster => here.same_cluster(there),
        }
    }
}

/// With which threads a thread executes an instruction, apart from the memory that it accesses.
fn group(line: &Line) -> Option<MeetingGroup> {
    match &line.instruction {
        Instruction::Load(of) => (of.order == LoadOrder::Uniform).then_some(MeetingGroup::Warp),
        Instruction::Barrier(of) if of.warp => Some(MeetingGroup::Warp),
        Instruction::Barrier(_) => Some(MeetingGroup::Cta),
        Instruction::ClusterBarrier(_)
        | Instruction::Asynchronous(_)
        | Instruction::Unsupported(_) => Some(MeetingGroup::Cluster),
        Instruction::Cvta(of) => {
            let of_cluster = matches!(of.op, AddressOp::InCta { .. } | AddressOp::RankOf);
            of_cluster.then_some(MeetingGroup::Cluster)
        }
        Instruction::Store(_)
        | Instruction::Atomic(_)
        | Instruction::Fence(_)
        | Instruction::ProxyFence(_)
        | Instruction::Alu(_)
        | Instruction::Branch(_) => None,
    }
}

/// Who may access each location.
fn uses(program: &Program, layout: &Layout, accessed: &Accessed<'_>) -> Vec<LocationUse> {
    let mut uses: Vec<LocationUse> =
        layout.locations.iter().map(|_| LocationUse::default()).collect();
    for access in &accessed.accesses {
        let writes = !matches!(access.instruction, Instruction::Load(_));
        match &access.at {
            LineBytes::Known(all) => {
                for Extent { object, start, length } in all.iter().map(|of| of.pa) {
                    let bytes = &mut uses[usize::from(object)].bytes;
                    for at in start..start + length {
                        bytes.entry(at).or_default().add(access.thread, writes);
                    }
                }
            }
            LineBytes::Unknown(reach) => {
                add_unknown(program, layout, &mut uses, access.thread, *reach, writes);
            }
        }
    }
    let is_asynchronous =
        |of: &Thread| of.lines.iter().any(|line| line.instruction.as_asynchronous().is_some());
    for (thread, of) in (0u8..).map(ThreadId).zip(&program.threads) {
        if is_asynchronous(of) {
            for reach in &accessed.asynchronous {
                let writes = accessed.written_asynchronously.contains(reach);
                add_unknown(program, layout, &mut uses, thread, *reach, writes);
            }
        }
    }
    uses
}

fn add_unknown(
    program: &Program,
    layout: &Layout,
    uses: &mut [LocationUse],
    thread: ThreadId,
    reach: Reach,
    writes: bool,
) {
    let placement = |thread: ThreadId| program.threads[usize::from(thread.0)].placement;
    for (of, location) in uses.iter_mut().zip(&layout.locations) {
        let owner = ThreadId(location.instance);
        let reached = match program.variables[usize::from(location.variable.0)].space {
            Space::Global | Space::Const | Space::ParamEntry => true,
            // Reading R33.
            Space::Shared | Space::Tensor => placement(owner).same_cluster(placement(thread)),
            Space::Local | Space::ParamFunc => owner == thread,
        };
        if reached && reach.includes(program, location.variable) {
            of.somewhere.add(thread, writes);
        }
    }
}
