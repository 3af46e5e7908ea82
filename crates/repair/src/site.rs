//! Where a test can be made stronger, and how.

use std::collections::BTreeSet;

use engine::clock::Deadline;
use litmus::revise::SourceTest;
use model::isa::asynchronous::{AsyncFence, Asynchronous, FenceWindow, MbarrierOp, TensormapFence};
use model::isa::bar::ClusterBarrierKind;
use model::isa::fence::FenceOrder;
use model::isa::tensor_memory::{TensorFence, TensorOp};
use model::isa::{Address, Instruction, Line};
use model::memory::Proxy;
use model::program::LaunchOrder;
use model::scope::{Placement, Scope};
use model::strength::{AccessOrder, KnownForms, OperationKind, Strength};

use crate::edit::{self, EditCost, EditKind, ProgramEdit};

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

    /// The choice that includes most others.
    pub(crate) fn top(&self) -> usize {
        let included = |at: &usize| {
            self.choices.iter().filter(|other| self.choices[*at].includes(other)).count()
        };
        (0..self.choices.len()).max_by_key(included).unwrap_or(0)
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
    let lines = &source.test.program.threads[thread].lines;
    let of = source.cells[thread].get(cell)?;
    let all = lines.get(of.lines.clone())?.iter().map(|line| &line.instruction);
    let mut ordering = all.filter(|one| Strength::of(one).is_some() || one.loads_read_only_data());
    ordering.next()
}

/// Every place where the test can be made stronger by one instruction, or those that are found before the search ends:
/// for each change the test is read again.
pub(crate) fn sites(source: &SourceTest, until: Option<Deadline>) -> Vec<EditSite> {
    let mut all = Vec::new();
    for thread in 0..source.cells.len() {
        for cell in 0..source.cells[thread].len() {
            if until.is_some_and(|until| until.is_over()) {
                return all;
            }
            all.extend(gap(source, thread, cell));
            all.extend(grid_wait(source, thread, cell));
            all.extend(cluster_release(source, thread, cell));
            all.extend(access(source, thread, cell));
        }
    }
    all
}

/// A release for a relaxed arrival at the barrier of the cluster.
fn cluster_release(source: &SourceTest, thread: usize, cell: usize) -> Option<EditSite> {
    let of = &source.cells[thread][cell];
    let lines = source.test.program.threads[thread].lines.get(of.lines.clone())?;
    if !lines.iter().any(arrives_relaxed) {
        return None;
    }
    let name = of.name.replacen(".relaxed", ".release", 1);
    let cost = (EditKind::Order, edit::CLUSTER_RELEASE);
    let edit = edit::with_opcode(source, (thread, cell), name, cost);
    EditSite::new(source, vec![EditChoice { edit, strength: None, window: None }])
}

/// A wait for the kernels before, in front of a cell of a kernel that depends on one.
fn grid_wait(source: &SourceTest, thread: usize, cell: usize) -> Option<EditSite> {
    let program = &source.test.program;
    let kernel = program.threads[thread].placement.kernel;
    let depends = program
        .launches
        .iter()
        .any(|launch| launch.after == kernel && launch.order == LaunchOrder::Programmatic);
    if !depends || !is_event(source, thread, cell) || waits(source, thread, cell) {
        return None;
    }
    let edit = edit::insertion(
        source,
        &[(thread, cell)],
        "griddepcontrol.wait",
        (EditKind::GridWait, edit::GRID_WAIT),
    );
    EditSite::new(source, vec![EditChoice { edit, strength: None, window: None }])
}

/// The stronger forms of an instruction.
fn access(source: &SourceTest, thread: usize, cell: usize) -> Option<EditSite> {
    let instruction = instruction(source, thread, cell)?;
    let forms = forms(source);
    let place = (thread, cell);
    let choices = if instruction.loads_read_only_data() {
        let plain = Strength::new(OperationKind::Load, AccessOrder::Weak, Scope::Sys);
        let choice = |strength: Strength| {
            let cost = edit::strengthening(plain, strength).1 + edit::PLAIN_LOAD;
            let edit = edit::rename(source, place, strength, (EditKind::PlainLoad, cost));
            EditChoice { edit, strength: Some(strength), window: None }
        };
        let all = plain.all_stronger(forms);
        std::iter::once(plain).chain(all).map(choice).collect()
    } else {
        let now = Strength::of(instruction)?;
        let choice = |strength: Strength| {
            let edit = edit::rename(source, place, strength, edit::strengthening(now, strength));
            EditChoice { edit, strength: Some(strength), window: None }
        };
        now.all_stronger(forms).into_iter().map(choice).collect()
    };
    EditSite::new(source, choices)
}

/// Whether an instruction of this cell orders others, or is ordered: what a fence stands between.
pub(crate) fn is_event(source: &SourceTest, thread: usize, cell: usize) -> bool {
    let lines = &source.test.program.threads[thread].lines;
    let of = &source.cells[thread][cell];
    lines
        .get(of.lines.clone())
        .is_some_and(|lines| lines.iter().any(|line| orders(&line.instruction)))
}

fn orders(instruction: &Instruction) -> bool {
    !instruction.computes() && !matches!(instruction, Instruction::Unsupported(_))
}

/// Whether this cell and the one before it are always executed one after the other.
fn follows(source: &SourceTest, thread: usize, cell: usize) -> bool {
    let of = &source.cells[thread];
    let lines = &source.test.program.threads[thread].lines;
    let branches = |cell: usize| {
        let lines = lines.get(of[cell].lines.clone()).unwrap_or_default();
        lines.iter().any(|line| line.instruction.as_branch().is_some())
    };
    of[cell].labels.is_empty() && !branches(cell - 1)
}

/// Whether what is inserted before a cell is executed in each round of a loop.
fn repeats(source: &SourceTest, thread: usize, cell: usize) -> bool {
    let of = &source.test.program.threads[thread];
    let line = source.cells[thread].get(cell).map_or(of.lines.len(), |cell| cell.lines.start);
    of.back_branches().any(|(branch, target)| target < line && line <= branch)
}

/// Whether a branch leads over what is inserted before a cell, or back to before it.
pub(crate) fn is_crossed(source: &SourceTest, thread: usize, cell: usize) -> bool {
    let of = &source.test.program.threads[thread];
    let line = source.cells[thread].get(cell).map_or(of.lines.len(), |cell| cell.lines.start);
    of.branches().any(|(branch, target)| if branch < line { target >= line } else { target < line })
}

/// Whether a cell is inside a loop that does nothing but wait: one event, and what decides whether to go on.
fn waits(source: &SourceTest, thread: usize, cell: usize) -> bool {
    let of = &source.test.program.threads[thread];
    let line = source.cells[thread].get(cell).map_or(of.lines.len(), |cell| cell.lines.start);
    of.back_branches().any(|(branch, target)| {
        let body = &of.lines[target..=branch];
        target < line
            && line <= branch
            && body.iter().filter(|line| orders(&line.instruction)).count() == 1
    })
}

/// Fences before a cell; none where no access, or another place of the same meaning, is on some side.
fn gap(source: &SourceTest, thread: usize, cell: usize) -> Vec<EditSite> {
    let events = |mut cells: std::ops::Range<usize>| cells.any(|at| is_event(source, thread, at));
    let count = source.cells[thread].len();
    if !events(0..cell) || !events(cell..count) {
        return Vec::new();
    }
    // After the loop is enough.
    if waits(source, thread, cell) {
        return Vec::new();
    }
    // Of places with only arithmetic between them the last one is enough.
    if !is_event(source, thread, cell) && cell + 1 < count && follows(source, thread, cell + 1) {
        return Vec::new();
    }
    let place = [(thread, cell)];
    let mut all = Vec::new();
    let is_fence = |at: usize| {
        let strength = instruction(source, thread, at).and_then(Strength::of);
        strength.is_some_and(|one| one.kind == OperationKind::Fence)
    };
    // A fence that is there is raised instead.
    let beside = follows(source, thread, cell) && (is_fence(cell - 1) || is_fence(cell));
    if !beside {
        let least = Strength::new(OperationKind::Fence, AccessOrder::AcqRel, Scope::Cta);
        let choice = |strength: Strength| {
            let order = strength.order.fence().map_or("", FenceOrder::name);
            let text = format!("fence.{order}.{}", strength.scope);
            let (kind, mut cost) = edit::fence(strength);
            // It is executed in each round.
            cost.weight += u32::from(repeats(source, thread, cell));
            let edit = edit::insertion(source, &place, &text, (kind, cost));
            EditChoice { edit, strength: Some(strength), window: None }
        };
        let stronger = least.all_stronger(forms(source));
        let choices = std::iter::once(least).chain(stronger).map(choice).collect();
        all.extend(EditSite::new(source, choices));
    }
    if source.test.program.is_asynchronous() {
        let choice = |window: FenceWindow| {
            let text =
                edit::text_of(source, thread, Asynchronous::Fence(AsyncFence::Proxy(window)))?;
            let kind = (EditKind::ProxyFence, edit::async_fence(window));
            let edit = edit::insertion(source, &place, &text, kind);
            Some(EditChoice { edit, strength: None, window: Some(window) })
        };
        let windows = FenceWindow::ALL.into_iter().filter_map(choice);
        all.extend(EditSite::new(source, windows.collect()));
    }
    let mut alone = |text: &str, cost: (EditKind, EditCost)| {
        let edit = edit::insertion(source, &place, text, cost);
        all.extend(EditSite::new(source, vec![EditChoice { edit, strength: None, window: None }]));
    };
    for name in proxies(source) {
        alone(&format!("fence.proxy.{name}"), (EditKind::ProxyFence, edit::PROXY_FENCE));
    }
    let mut printed = |of: Asynchronous, cost: (EditKind, EditCost)| {
        if let Some(text) = edit::text_of(source, thread, of) {
            alone(&text, cost);
        }
    };
    if forms(source).clusters && initializes(source, thread, cell) {
        let fence = Asynchronous::Fence(AsyncFence::MbarrierInit);
        printed(fence, (EditKind::InitFence, edit::INIT_FENCE));
    }
    let tensor = |mut cells: std::ops::Range<usize>| {
        cells.any(|at| asynchronous(source, thread, at).any(is_tensor_operation))
    };
    let beside =
        [(TensorFence::Before, tensor(0..cell)), (TensorFence::After, tensor(cell..count))];
    for (fence, _) in beside.into_iter().filter(|(_, is_beside)| *is_beside) {
        let fence = Asynchronous::TensorMemory(TensorOp::Fence(fence));
        printed(fence, (EditKind::TensorFence, edit::TENSOR_FENCE));
    }
    if let Some(scope) = tensormap_scope(source) {
        let fence = |acquires: Option<Address>| {
            Asynchronous::TensormapFence(TensormapFence { scope, acquires })
        };
        let cost = (EditKind::ProxyFence, edit::PROXY_FENCE);
        printed(fence(None), cost);
        let copies = (cell..count).flat_map(|at| asynchronous(source, thread, at));
        let maps = copies
            .filter_map(tensormap)
            .filter_map(|map| edit::text_of(source, thread, fence(Some(map))));
        for fence in maps.collect::<BTreeSet<String>>() {
            alone(&fence, cost);
        }
    }
    all
}

/// The asynchronous instructions of a cell.
pub(crate) fn asynchronous(
    source: &SourceTest,
    thread: usize,
    cell: usize,
) -> impl Iterator<Item = &Asynchronous> {
    let lines = &source.test.program.threads[thread].lines;
    let lines = source.cells[thread].get(cell).and_then(|of| lines.get(of.lines.clone()));
    lines.unwrap_or_default().iter().filter_map(|line| line.instruction.as_asynchronous())
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

/// Whether a thread initializes an mbarrier object before a cell, and arrives at the cluster barrier with `.relaxed` afterwards.
fn initializes(source: &SourceTest, thread: usize, cell: usize) -> bool {
    let lines = &source.test.program.threads[thread].lines;
    let at = source.cells[thread].get(cell).map_or(lines.len(), |cell| cell.lines.start);
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

/// The most places that are tried for a barrier in the threads of one CTA.
const MOST_BARRIERS: usize = 600;

/// A barrier in each thread of a CTA that has several, of a warp with several lanes, or of a cluster with several CTAs, at
/// each combination of places that each thread comes to once.
pub(crate) fn barriers(source: &SourceTest) -> Vec<EditSite> {
    let threads = &source.test.program.threads;
    let place = |thread: usize| threads[thread].placement;
    let mut all = Vec::new();
    for first in 0..threads.len() {
        let of = |same: &dyn Fn(Placement, Placement) -> bool| -> Vec<usize> {
            (0..threads.len()).filter(|&other| same(place(first), place(other))).collect()
        };
        let cta = of(&|here, there| here.same_cta(there));
        let cluster = of(&|here, there| here.same_cluster(there));
        if cta.first() == Some(&first)
            && cta.len() > 1
            && let Some(id) = free_barrier(source, &cta)
        {
            let cost = edit::barrier(cta.len());
            all.extend(barriers_of(source, &cta, &format!("bar.sync {id}"), cost));
        }
        let warp = of(&|here, there| here.same_warp(there));
        if warp.first() == Some(&first) && (2..=32).contains(&warp.len()) {
            let text = format!("bar.warp.sync {}", u32::MAX >> (32 - warp.len()));
            all.extend(barriers_of(source, &warp, &text, edit::warp_barrier(warp.len())));
        }
        let apart = cluster.iter().any(|&other| !place(first).same_cta(place(other)));
        if cluster.first() == Some(&first) && apart {
            let cost = edit::cluster_barrier(cluster.len());
            all.extend(barriers_of(source, &cluster, CLUSTER_BARRIER, cost));
        }
    }
    all
}

/// A barrier of all threads of a cluster.
const CLUSTER_BARRIER: &str = "barrier.cluster.arrive.aligned\nbarrier.cluster.wait.aligned";

/// The same barrier in each of these threads.
fn barriers_of(source: &SourceTest, group: &[usize], text: &str, cost: EditCost) -> Vec<EditSite> {
    let places: Vec<Vec<(usize, usize)>> = group
        .iter()
        .map(|&thread| {
            let count = source.cells[thread].len();
            let before = |at: &usize| *at == count || is_event(source, thread, *at);
            let once = |at: &usize| !is_crossed(source, thread, *at);
            (0..=count).filter(before).filter(once).map(|at| (thread, at)).collect()
        })
        .collect();
    if places.iter().map(Vec::len).product::<usize>() > MOST_BARRIERS {
        return Vec::new();
    }
    let mut tuples: Vec<Vec<(usize, usize)>> = vec![Vec::new()];
    for of in &places {
        let with = |tuple: Vec<(usize, usize)>| {
            of.iter().map(move |&place| tuple.iter().copied().chain([place]).collect())
        };
        tuples = tuples.into_iter().flat_map(with).collect();
    }
    let site = |tuple: Vec<(usize, usize)>| {
        let edit = edit::insertion(source, &tuple, text, (EditKind::Barrier, cost));
        EditSite::new(source, vec![EditChoice { edit, strength: None, window: None }])
    };
    tuples.into_iter().filter_map(site).collect()
}

/// A barrier that no thread of the group uses.
fn free_barrier(source: &SourceTest, group: &[usize]) -> Option<u32> {
    let cells = group.iter().flat_map(|&thread| &source.cells[thread]);
    let used: Vec<String> = cells
        .filter(|cell| cell.name.starts_with("bar"))
        .flat_map(|cell| cell.text.split([' ', ',']).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    (0..16).find(|id| !used.contains(&id.to_string()))
}
