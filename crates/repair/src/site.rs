//! Where a test can be made stronger, and how.

use std::collections::BTreeSet;

use engine::clock::Deadline;
use litmus::revise::SourceTest;
use model::isa::asynchronous::{AsyncFence, Asynchronous, FenceWindow, MbarrierOp, TensormapFence};
use model::isa::bar::ClusterBarrierKind;
use model::isa::fence::{Fence, FenceOrder};
use model::isa::tensor_memory::{TensorFence, TensorOp};
use model::isa::{Address, Instruction, Line};
use model::memory::Proxy;
use model::program::LaunchOrder;
use model::scope::Scope;
use model::strength::{AccessOrder, KnownForms, OperationKind, Strength};

use crate::copies::EqualThreads;
use crate::edit::{self, EditCost, EditKind, ProgramEdit};
use crate::place::{CellPlace, InsertionPoint, follows, guard_between, is_event, lines_of, points};

/// A place of a test, and the edits there, of which one is made at most: cheaper ones first.
pub(crate) struct EditSite {
    pub(crate) choices: Vec<EditChoice>,
}

pub(crate) struct EditChoice {
    pub(crate) edit: ProgramEdit,
    /// What the instruction is then; `None` if there is only one choice, or it is a fence of the async proxy.
    strength: Option<Strength>,
    /// The fence of the async proxy that it inserts.
    window: Option<FenceWindow>,
}

impl EditChoice {
    /// Whether it promises all that the other one does.
    pub(crate) fn includes(&self, other: &EditChoice) -> bool {
        match (self.strength, other.strength, self.window, other.window) {
            (Some(own), Some(other), ..) => own.includes(other),
            (.., Some(own), Some(other)) => own.includes(other),
            _ => self.edit == other.edit,
        }
    }
}

impl EditSite {
    fn new(source: &SourceTest, mut choices: Vec<EditChoice>) -> Option<EditSite> {
        choices.retain(|choice| is_legal(source, choice));
        choices.sort_by_key(|choice| choice.edit.cost);
        (!choices.is_empty()).then_some(EditSite { choices })
    }

    /// The choice that includes most others, `fence.sc` among them or not; `None` if there is no other choice.
    pub(crate) fn top(&self, sequential: bool) -> Option<usize> {
        let included = |at: &usize| {
            self.choices.iter().filter(|other| self.choices[*at].includes(other)).count()
        };
        let is_allowed = |at: &usize| {
            let strength = self.choices[*at].strength;
            sequential || strength.is_none_or(|one| one.order != AccessOrder::SeqCst)
        };
        (0..self.choices.len()).filter(is_allowed).max_by_key(included)
    }
}

/// Whether the test can be read with this edit, and the instruction then is what was meant.
fn is_legal(source: &SourceTest, choice: &EditChoice) -> bool {
    let Ok(test) = source.parse(&choice.edit.revisions) else { return false };
    let Some(strength) = choice.strength else { return true };
    let of = |thread: usize| {
        test.program.threads[thread].lines.iter().filter_map(|line| Strength::of(&line.instruction))
    };
    (0..test.program.threads.len()).any(|thread| of(thread).any(|one| one == strength))
}

/// The forms that a change may use: those of every target, and clusters where the test places threads in them.
pub(crate) fn forms(source: &SourceTest) -> KnownForms {
    let threads = &source.test.program.threads;
    let together = |a: &model::program::Thread, b: &model::program::Thread| {
        let (a, b) = (a.placement, b.placement);
        a.same_cluster(b) && !a.same_cta(b)
    };
    let clusters = threads.iter().any(|a| threads.iter().any(|b| together(a, b)));
    KnownForms { clusters, one_way_fences: false, weak: true }
}

/// The instruction of a cell that orders something, or reads read-only data; if there is any.
pub(crate) fn instruction(source: &SourceTest, thread: usize, cell: usize) -> Option<&Instruction> {
    let all = lines_of(source, thread, cell).iter().map(|line| &line.instruction);
    let mut ordering = all.filter(|one| Strength::of(one).is_some() || one.loads_read_only_data());
    ordering.next()
}

/// What sites are found in.
struct SiteFinder<'s> {
    source: &'s SourceTest,
    copies: &'s EqualThreads,
}

/// Every place where the test can be made stronger by one instruction, or those that are found before the search ends:
/// for each change the test is read again.
pub(crate) fn sites(
    source: &SourceTest,
    copies: &EqualThreads,
    until: Option<Deadline>,
) -> Vec<EditSite> {
    let finder = SiteFinder { source, copies };
    let mut all = Vec::new();
    for thread in (0..source.cells.len()).filter(|&thread| copies.is_first(thread)) {
        let points = points(source, thread);
        for cell in 0..=source.cells[thread].len() {
            if until.is_some_and(|until| until.is_over()) {
                return all;
            }
            for &point in points.iter().filter(|point| point.cell == cell) {
                all.extend(finder.fences(point));
                all.extend(finder.grid_wait(point));
            }
            if cell == source.cells[thread].len() {
                break;
            }
            let place = CellPlace { thread, cell };
            all.extend(finder.cluster_release(place));
            all.extend(finder.access(place));
        }
    }
    all
}

impl SiteFinder<'_> {
    fn site(&self, choices: impl IntoIterator<Item = EditChoice>) -> Option<EditSite> {
        let everywhere = |choice: EditChoice| EditChoice {
            edit: self.copies.everywhere(self.source, choice.edit),
            ..choice
        };
        EditSite::new(self.source, choices.into_iter().map(everywhere).collect())
    }

    /// A place with one edit.
    fn single(&self, edit: ProgramEdit) -> Option<EditSite> {
        self.site([EditChoice { edit, strength: None, window: None }])
    }

    /// A release for a relaxed arrival at the barrier of the cluster.
    fn cluster_release(&self, place: CellPlace) -> Option<EditSite> {
        let CellPlace { thread, cell } = place;
        if !lines_of(self.source, thread, cell).iter().any(arrives_relaxed) {
            return None;
        }
        let name = self.source.cells[thread][cell].name.replacen(".relaxed", ".release", 1);
        let cost = edit::CLUSTER_RELEASE;
        self.single(edit::with_opcode(self.source, place, name, EditKind::Order, cost))
    }

    /// A wait for the kernels before, in front of a cell of a kernel that depends on one.
    fn grid_wait(&self, point: InsertionPoint) -> Option<EditSite> {
        let program = &self.source.test.program;
        let kernel = program.threads[point.thread].placement.kernel;
        let depends = program
            .launches
            .iter()
            .any(|launch| launch.after == kernel && launch.order == LaunchOrder::Programmatic);
        let event = is_event(self.source, point.thread, point.cell);
        if !depends || !event || point.is_in_wait(self.source) {
            return None;
        }
        let kind = EditKind::GridWait;
        let wait = "griddepcontrol.wait";
        self.single(edit::insertion(self.source, &[point], wait, kind, edit::GRID_WAIT))
    }

    /// The stronger forms of an instruction.
    fn access(&self, place: CellPlace) -> Option<EditSite> {
        let source = self.source;
        let instruction = instruction(source, place.thread, place.cell)?;
        let forms = forms(source);
        if instruction.loads_read_only_data() {
            let plain = Strength::new(OperationKind::Load, AccessOrder::Weak, Scope::Sys);
            let choice = |strength: Strength| {
                let cost = edit::strengthening(plain, strength).1 + edit::PLAIN_LOAD;
                let edit = edit::rename(source, place, strength, EditKind::PlainLoad, cost);
                EditChoice { edit, strength: Some(strength), window: None }
            };
            let all = plain.all_stronger(forms);
            self.site(std::iter::once(plain).chain(all).map(choice))
        } else {
            let now = Strength::of(instruction)?;
            let choice = |strength: Strength| {
                let (kind, cost) = edit::strengthening(now, strength);
                let edit = edit::rename(source, place, strength, kind, cost);
                EditChoice { edit, strength: Some(strength), window: None }
            };
            self.site(now.all_stronger(forms).into_iter().map(choice))
        }
    }

    /// Fences at a place; none where no access is on some side.
    fn fences(&self, point: InsertionPoint) -> Vec<EditSite> {
        let InsertionPoint { thread, cell, .. } = point;
        let source = self.source;
        let events =
            |mut cells: std::ops::Range<usize>| cells.any(|at| is_event(source, thread, at));
        let (before, after) = (events(0..cell), events(cell..source.cells[thread].len()));
        // After a loop that waits is enough.
        if !before && !after || point.is_in_wait(source) {
            return Vec::new();
        }
        // In a loop, what is after it comes before it, too.
        let is_between = before && after || point.depth(source) > 0;
        let mut all = Vec::new();
        if is_between {
            all.extend(self.memory_fence(point));
        }
        // At the end of a thread there may be a new barrier.
        if is_between || before {
            all.extend(self.proxy_fences(point));
            all.extend(self.tensor_fences(point));
        }
        all
    }

    /// Fences of memory.
    fn memory_fence(&self, point: InsertionPoint) -> Option<EditSite> {
        let InsertionPoint { thread, cell, labelled } = point;
        let source = self.source;
        let is_fence = |at: usize| {
            let strength = instruction(source, thread, at).and_then(Strength::of);
            strength.is_some_and(|one| one.kind == OperationKind::Fence)
        };
        let is_next =
            source.cells[thread].get(cell).is_some_and(|of| labelled || of.labels.is_empty());
        // A fence that is there is raised instead.
        if is_next && is_fence(cell)
            || is_next && cell > 0 && follows(source, thread, cell) && is_fence(cell - 1)
        {
            return None;
        }
        let least = Strength::new(OperationKind::Fence, AccessOrder::AcqRel, Scope::Cta);
        let choice = |strength: Strength| {
            let order = strength.order.fence().map_or("", FenceOrder::name);
            let guard = guard_between(source, point);
            let text = format!("{guard}fence.{order}.{}", strength.scope);
            let (kind, mut cost) = edit::fence(strength);
            // It is executed in each round.
            cost.weight += u32::from(point.depth(source) > 0);
            let edit = edit::insertion(source, &[point], &text, kind, cost);
            EditChoice { edit, strength: Some(strength), window: None }
        };
        let stronger = least.all_stronger(forms(source));
        self.site(std::iter::once(least).chain(stronger).map(choice))
    }

    /// Fences of proxies, each a site of its own.
    fn proxy_fences(&self, point: InsertionPoint) -> Vec<EditSite> {
        let (source, thread) = (self.source, point.thread);
        let mut all = Vec::new();
        let kind = EditKind::ProxyFence;
        if source.test.program.is_asynchronous() {
            let choice = |window: FenceWindow| {
                let of = Asynchronous::Fence(AsyncFence::Proxy(window));
                let guard = guard_between(source, point);
                let text = format!("{guard}{}", edit::text_of(source, thread, of)?);
                let cost = edit::async_fence(window);
                let edit = edit::insertion(source, &[point], &text, kind, cost);
                Some(EditChoice { edit, strength: None, window: Some(window) })
            };
            all.extend(self.site(FenceWindow::ALL.into_iter().filter_map(choice)));
        }
        let mut texts: Vec<String> =
            proxies(source).into_iter().map(|name| format!("fence.proxy.{name}")).collect();
        let halves = halves(source);
        texts.extend(halves.iter().filter_map(|half| edit::print_in(source, thread, half)));
        if let Some(scope) = tensormap_scope(source) {
            let fence = |acquires: Option<Address>| {
                let of = TensormapFence { scope, acquires };
                edit::text_of(source, thread, Asynchronous::TensormapFence(of))
            };
            let cells = point.cell..source.cells[thread].len();
            let copies = cells.flat_map(|at| asynchronous(source, thread, at));
            let maps = copies.filter_map(tensormap).filter_map(|map| fence(Some(map)));
            texts.extend(fence(None));
            texts.extend(maps.collect::<BTreeSet<String>>());
        }
        let single = |text: &String| {
            let text = format!("{}{text}", guard_between(source, point));
            self.single(edit::insertion(source, &[point], &text, kind, edit::PROXY_FENCE))
        };
        all.extend(texts.iter().filter_map(single));
        all
    }

    /// Fences of tensor memory, and of initializations.
    fn tensor_fences(&self, point: InsertionPoint) -> Vec<EditSite> {
        let InsertionPoint { thread, cell, .. } = point;
        let source = self.source;
        let mut all = Vec::new();
        let mut printed = |of: Asynchronous, kind: EditKind, cost: EditCost| {
            if let Some(text) = edit::text_of(source, thread, of) {
                all.extend(self.single(edit::insertion(source, &[point], &text, kind, cost)));
            }
        };
        if forms(source).clusters && initializes(source, point) {
            let fence = Asynchronous::Fence(AsyncFence::MbarrierInit);
            printed(fence, EditKind::InitFence, edit::INIT_FENCE);
        }
        let tensor = |mut cells: std::ops::Range<usize>| {
            cells.any(|at| asynchronous(source, thread, at).any(is_tensor_operation))
        };
        let after = tensor(cell..source.cells[thread].len());
        let beside = [(TensorFence::Before, tensor(0..cell)), (TensorFence::After, after)];
        for (fence, _) in beside.into_iter().filter(|(_, is_beside)| *is_beside) {
            let fence = Asynchronous::TensorMemory(TensorOp::Fence(fence));
            printed(fence, EditKind::TensorFence, edit::TENSOR_FENCE);
        }
        all
    }
}

/// The asynchronous instructions of a cell.
pub(crate) fn asynchronous(
    source: &SourceTest,
    thread: usize,
    cell: usize,
) -> impl Iterator<Item = &Asynchronous> {
    lines_of(source, thread, cell).iter().filter_map(|line| line.instruction.as_asynchronous())
}

/// The asynchronous instructions of a thread.
pub(crate) fn all_asynchronous(
    source: &SourceTest,
    thread: usize,
) -> impl Iterator<Item = &Asynchronous> {
    let lines = source.test.program.threads[thread].lines.iter();
    lines.filter_map(|line| line.instruction.as_asynchronous())
}

/// Whether an instruction accesses tensor memory, or commits what does.
fn is_tensor_operation(of: &Asynchronous) -> bool {
    let Asynchronous::TensorMemory(of) = of else { return false };
    let allocates = of.allocates() || *of == TensorOp::Relinquish;
    !allocates && !matches!(of, TensorOp::Fence(_) | TensorOp::Wait(_))
}

/// The tensormap of a copy of a tensor.
fn tensormap(of: &Asynchronous) -> Option<Address> {
    let Asynchronous::Copy(copy) = of else { return None };
    copy.tensor.map(|tensor| tensor.map)
}

/// The narrowest scope that includes all threads of a test that copies tensors.
fn tensormap_scope(source: &SourceTest) -> Option<Scope> {
    let threads = &source.test.program.threads;
    let mut lines = threads.iter().flat_map(|thread| &thread.lines);
    let copies = |line: &Line| line.instruction.as_asynchronous().and_then(tensormap).is_some();
    if !lines.any(copies) {
        return None;
    }
    let places = || threads.iter().map(|thread| thread.placement);
    let all = |scope: &Scope| places().all(|a| places().all(|b| scope.includes(a, b)));
    [Scope::Cta, Scope::Cluster, Scope::Gpu, Scope::Sys].into_iter().find(all)
}

/// Whether a thread initializes an mbarrier object before a place, and arrives at the cluster barrier with `.relaxed` afterwards.
fn initializes(source: &SourceTest, point: InsertionPoint) -> bool {
    let lines = &source.test.program.threads[point.thread].lines;
    let at = point.line(source);
    let inits = |line: &Line| {
        let of = line.instruction.as_asynchronous();
        matches!(of, Some(Asynchronous::Mbarrier(of)) if matches!(of.op, MbarrierOp::Init { .. }))
    };
    lines[..at].iter().any(inits) && lines[at..].iter().any(arrives_relaxed)
}

/// Whether a line is a relaxed arrival at the barrier of the cluster.
fn arrives_relaxed(line: &Line) -> bool {
    matches!(&line.instruction, Instruction::ClusterBarrier(of) if of.kind == ClusterBarrierKind::ArriveRelaxed)
}

/// The halves of fences between proxies, in a test that has one of that kind.
fn halves(source: &SourceTest) -> Vec<Instruction> {
    let lines = source.test.program.threads.iter().flat_map(|thread| &thread.lines);
    let (mut alias, mut proxy) = (false, false);
    for line in lines {
        if let Instruction::Fence(of) = &line.instruction {
            alias |= of.aliases;
        } else if let Some(Asynchronous::Fence(of)) = line.instruction.as_asynchronous() {
            match of {
                AsyncFence::AliasReleaseOfReads => alias = true,
                AsyncFence::ProxyRelease
                | AsyncFence::ProxyReleaseOfReads
                | AsyncFence::ProxyAcquire
                | AsyncFence::Release
                | AsyncFence::Acquire => proxy = true,
                AsyncFence::Proxy(_) | AsyncFence::MbarrierInit => {}
            }
        }
    }
    let mut all = Vec::new();
    let half = |of: AsyncFence| Instruction::Asynchronous(Asynchronous::Fence(of));
    if proxy {
        let of =
            [AsyncFence::ProxyRelease, AsyncFence::ProxyReleaseOfReads, AsyncFence::ProxyAcquire];
        all.extend(of.map(half));
        all.extend([AsyncFence::Release, AsyncFence::Acquire].map(half));
    }
    if alias {
        let of = |order| Instruction::Fence(Fence { order, scope: Scope::Sys, aliases: true });
        all.extend([FenceOrder::Release, FenceOrder::Acquire].map(of));
        all.push(half(AsyncFence::AliasReleaseOfReads));
    }
    all
}

/// The proxy fences that the test may need.
fn proxies(source: &SourceTest) -> Vec<&'static str> {
    let program = &source.test.program;
    let mut all = Vec::new();
    let aliases = || program.variables.iter().filter_map(|variable| variable.alias);
    if aliases().any(|alias| alias.proxy == Proxy::Generic) {
        all.push("alias");
    }
    let lines = program.threads.iter().flat_map(|thread| &thread.lines);
    let used: Vec<Proxy> = lines.filter_map(|line| line.instruction.proxy()).collect();
    for proxy in [Proxy::Texture, Proxy::Surface, Proxy::Constant] {
        if used.contains(&proxy) || aliases().any(|alias| alias.proxy == proxy) {
            all.push(proxy.name());
        }
    }
    all
}
