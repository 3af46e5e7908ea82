//! One change of a test, and what it costs.

use litmus::revise::{NumberOf, Revision, SourceCell, SourceTest};
use model::isa::asynchronous::{Asynchronous, FenceWindow};
use model::isa::print::{self, print};
use model::isa::{Address, Instruction, Operand};
use model::program::ProgramNames;
use model::scope::Scope;
use model::strength::{AccessOrder, OperationKind, Strength};

use crate::edited::EditedLine;
use crate::place::{CellPlace, InsertionPoint};

/// What an edit changes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum EditKind {
    /// The scope of an instruction.
    Scope,
    /// The order of an instruction, and its scope if that changes too.
    Order,
    /// A load of read-only data becomes a plain load, which may also get an order.
    PlainLoad,
    /// Inserts `fence.acq_rel`.
    Fence,
    /// Inserts `fence.proxy`.
    ProxyFence,
    /// Inserts `griddepcontrol.wait`.
    GridWait,
    /// Inserts `fence.sc`.
    ScFence,
    /// A wait for a phase of an mbarrier object waits for the other parity.
    Parity,
    /// An arrival or an `expect_tx` expects other bytes.
    ExpectedBytes,
    /// An mbarrier object expects another number of arrivals.
    Count,
    /// An arrival or a wait is on another mbarrier object.
    Object,
    /// Inserts `wgmma.fence`.
    RegisterFence,
    /// A wait waits for more groups of asynchronous operations, or also for what they write; or there is a new one.
    GroupWait,
    /// Inserts a `commit_group` before a wait for groups, or a `tcgen05.commit` after operations on tensor memory.
    Commit,
    /// Inserts `fence.mbarrier_init`.
    InitFence,
    /// Inserts `tcgen05.fence`.
    TensorFence,
    /// Inserts an arrival on an mbarrier object.
    Arrival,
    /// Inserts a loop that waits for the end of a phase of an mbarrier object.
    PhaseWait,
    /// Inserts `bar.sync` into each thread of a CTA, `bar.warp.sync` into each of a warp, or a barrier of the cluster into
    /// each of its threads; or, into one thread, a barrier that the others have.
    Barrier,
    /// An arrival at a barrier also waits, or a barrier has another count of threads.
    BarrierForm,
    /// An instruction names another state space.
    StateSpace,
    /// An instruction stands on the other side of its neighbour.
    Move,
    /// Removes a fence or a wait.
    Removal,
}

impl EditKind {
    /// Whether an operand of a wait or an arrival is another one.
    pub(crate) fn is_of_operand(self) -> bool {
        matches!(
            self,
            EditKind::Parity | EditKind::ExpectedBytes | EditKind::Count | EditKind::Object
        )
    }

    /// Whether it only adds a wait, which takes executions away: if none of a test finishes, none does with it.
    pub(crate) fn only_waits(self) -> bool {
        matches!(self, EditKind::GroupWait | EditKind::PhaseWait | EditKind::GridWait)
    }

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            EditKind::Scope => "scope",
            EditKind::Order => "order",
            EditKind::PlainLoad => "plain-load",
            EditKind::Fence => "fence",
            EditKind::ProxyFence => "proxy-fence",
            EditKind::GridWait => "grid-wait",
            EditKind::ScFence => "fence-sc",
            EditKind::Parity => "parity",
            EditKind::ExpectedBytes => "expected-bytes",
            EditKind::Count => "count",
            EditKind::Object => "object",
            EditKind::RegisterFence => "wgmma-fence",
            EditKind::GroupWait => "group-wait",
            EditKind::Commit => "commit",
            EditKind::InitFence => "init-fence",
            EditKind::TensorFence => "tensor-fence",
            EditKind::PhaseWait => "phase-wait",
            EditKind::Arrival => "arrival",
            EditKind::Barrier => "barrier",
            EditKind::BarrierForm => "barrier-form",
            EditKind::StateSpace => "state-space",
            EditKind::Move => "move",
            EditKind::Removal => "removal",
        }
    }
}

/// What changes are compared by, in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct EditCost {
    /// The number of instructions that are changed or inserted. One that occurs several times, and becomes the same
    /// instruction everywhere, counts once; and so does one of threads with equal text.
    pub edits: u32,
    /// The sum of the weights of the edits: see `docs/fix.md`.
    pub weight: u32,
    /// The sum of the widths of their scopes: 0 for a CTA to 3 for the system.
    pub width: u32,
}

impl std::ops::Add for EditCost {
    type Output = EditCost;

    fn add(self, other: EditCost) -> EditCost {
        EditCost {
            edits: self.edits + other.edits,
            weight: self.weight + other.weight,
            width: self.width + other.width,
        }
    }
}

/// The cost of several edits.
pub(crate) fn cost<'e>(edits: impl IntoIterator<Item = &'e ProgramEdit>) -> EditCost {
    edits.into_iter().fold(EditCost::default(), |all, edit| all + edit.cost)
}

/// The edits but one.
pub(crate) fn without(edits: &[ProgramEdit], at: usize) -> Vec<&ProgramEdit> {
    let others = edits.iter().enumerate().filter(|(other, _)| *other != at);
    others.map(|(_, edit)| edit).collect()
}

/// One change of a test, which is needed or not as a whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramEdit {
    pub kind: EditKind,
    pub cost: EditCost,
    /// One, except for a barrier, a loop that waits, and an instruction that occurs several times or in several threads.
    pub lines: Vec<EditedLine>,
    pub revisions: Vec<Revision>,
}

/// Puts edits into the order of what they change in the file. Of those at one place, a barrier comes last, as it does there.
pub(crate) fn in_order(edits: &mut [ProgramEdit]) {
    edits.sort_by_key(|edit| {
        let first = edit.lines.first();
        let place = edit.revisions.iter().find_map(Revision::thread);
        (place, first.map(|line| line.target), edit.kind == EditKind::Barrier)
    });
}

/// The changes of a file that edits are, in an order that does not depend on theirs. Of what is inserted at one place,
/// barriers come last: what a fence before one orders, the barrier orders with other threads.
pub(crate) fn revisions_of<'e>(edits: impl IntoIterator<Item = &'e ProgramEdit>) -> Vec<Revision> {
    let mut all: Vec<Revision> =
        edits.into_iter().flat_map(|edit| edit.revisions.iter().cloned()).collect();
    let is_barrier =
        |of: &Revision| matches!(of, Revision::Insert { text, .. } if text.starts_with("bar"));
    all.sort_by(|a, b| (is_barrier(a), a).cmp(&(is_barrier(b), b)));
    all
}

fn width(scope: Scope) -> u32 {
    match scope {
        Scope::Cta => 0,
        Scope::Cluster => 1,
        Scope::Gpu => 2,
        Scope::Sys => 3,
    }
}

/// What a stronger order weighs.
fn order_weight(before: AccessOrder, after: AccessOrder) -> u32 {
    if after == before {
        return 0;
    }
    let first = u32::from(before == AccessOrder::Weak);
    let both =
        u32::from(after == AccessOrder::AcqRel && !before.is_acquire() && !before.is_release());
    let sides = if after == AccessOrder::Relaxed { 1 } else { 3 };
    sides + first + both
}

/// What it weighs that an operation becomes stronger.
pub(crate) fn strengthening(before: Strength, after: Strength) -> (EditKind, EditCost) {
    let order = order_weight(before.order, after.order);
    let scoped = before.order != AccessOrder::Weak && before.scope != after.scope;
    let kind = if order > 0 { EditKind::Order } else { EditKind::Scope };
    let width = if after.order == AccessOrder::Weak { 0 } else { width(after.scope) };
    (kind, EditCost { edits: 1, weight: order + u32::from(scoped), width })
}

/// What a fence costs that is inserted.
pub(crate) fn fence(strength: Strength) -> (EditKind, EditCost) {
    let (kind, weight) = if strength.order == AccessOrder::SeqCst {
        (EditKind::ScFence, 8)
    } else {
        (EditKind::Fence, 6)
    };
    (kind, EditCost { edits: 1, weight, width: width(strength.scope) })
}

/// What a proxy fence costs.
pub(crate) const PROXY_FENCE: EditCost = EditCost { edits: 1, weight: 6, width: 0 };

/// What a fence of the async proxy costs: a wider one waits for more.
pub(crate) fn async_fence(window: FenceWindow) -> EditCost {
    let width = match window {
        FenceWindow::Everything => 3,
        FenceWindow::ClusterShared => 2,
        FenceWindow::OwnShared | FenceWindow::Global => 1,
    };
    EditCost { width, ..PROXY_FENCE }
}

/// What a wait for the kernels before costs.
pub(crate) const GRID_WAIT: EditCost = EditCost { edits: 1, weight: 6, width: 0 };

/// What another parity costs.
pub(crate) const PARITY: EditCost = EditCost { edits: 1, weight: 2, width: 0 };

/// What the inverse of a parity in a register costs.
pub(crate) const INVERSE_PARITY: EditCost = EditCost { edits: 1, weight: 3, width: 0 };

/// What another state space costs.
pub(crate) const STATE_SPACE: EditCost = EditCost { edits: 1, weight: 2, width: 1 };

/// What it costs that an instruction changes its place.
pub(crate) const MOVE: EditCost = EditCost { edits: 1, weight: 15, width: 0 };

/// What another number of bytes or arrivals costs.
pub(crate) const NUMBER: EditCost = EditCost { edits: 1, weight: 3, width: 0 };

/// What a wait for more groups costs.
pub(crate) const GROUP_WAIT: EditCost = EditCost { edits: 1, weight: 3, width: 0 };

/// What a new `commit_group` costs.
pub(crate) const COMMIT: EditCost = EditCost { edits: 1, weight: 4, width: 0 };

/// What a `tcgen05.commit` costs.
pub(crate) const TENSOR_COMMIT: EditCost = EditCost { edits: 1, weight: 5, width: 0 };

/// What a `fence.mbarrier_init` costs.
pub(crate) const INIT_FENCE: EditCost = EditCost { edits: 1, weight: 2, width: 1 };

/// What an arrival costs that becomes a `tcgen05.commit`.
pub(crate) const ARRIVAL_TO_COMMIT: EditCost = EditCost { edits: 1, weight: 4, width: 0 };

/// What a `tcgen05.fence` costs.
pub(crate) const TENSOR_FENCE: EditCost = EditCost { edits: 1, weight: 4, width: 0 };

/// What it costs that an arrival also expects bytes.
pub(crate) const EXPECTATION: EditCost = EditCost { edits: 1, weight: 4, width: 0 };

/// What a new wait for groups costs.
pub(crate) const NEW_GROUP_WAIT: EditCost = EditCost { edits: 1, weight: 5, width: 0 };

/// What a new wait for groups costs that waits for their reads only.
pub(crate) const NEW_READ_WAIT: EditCost = EditCost { edits: 1, weight: 4, width: 0 };

/// What a new `cp.async.wait_all` costs.
pub(crate) const WAIT_ALL: EditCost = EditCost { edits: 1, weight: 6, width: 0 };

/// What a `wgmma.fence` costs.
pub(crate) const REGISTER_FENCE: EditCost = EditCost { edits: 1, weight: 4, width: 0 };

/// What a new arrival costs.
pub(crate) const ARRIVAL: EditCost = EditCost { edits: 1, weight: 6, width: 0 };

/// What a new wait for a phase costs: two instructions.
pub(crate) const PHASE_WAIT: EditCost = EditCost { edits: 2, weight: 6, width: 0 };

/// What a load of read-only data costs that becomes a plain one.
pub(crate) const PLAIN_LOAD: EditCost = EditCost { edits: 0, weight: 1, width: 0 };

/// What a barrier costs in this many threads.
pub(crate) fn barrier(threads: usize) -> EditCost {
    let edits = u32::try_from(threads).unwrap_or(u32::MAX);
    EditCost { edits, weight: edits.saturating_mul(10), width: 0 }
}

/// What a `bar.warp.sync` costs in this many threads.
pub(crate) fn warp_barrier(threads: usize) -> EditCost {
    let edits = u32::try_from(threads).unwrap_or(u32::MAX);
    EditCost { edits, weight: edits.saturating_mul(6), width: 0 }
}

/// What a barrier of the cluster costs in this many threads.
pub(crate) fn cluster_barrier(threads: usize) -> EditCost {
    let edits = u32::try_from(threads).unwrap_or(u32::MAX);
    EditCost { edits, weight: edits.saturating_mul(12), width: 1 }
}

/// What a release costs at the barrier of the cluster.
pub(crate) const CLUSTER_RELEASE: EditCost = EditCost { edits: 1, weight: 3, width: 1 };

/// The opcode and qualifiers of an instruction with another order and scope.
pub(crate) fn renamed(name: &str, strength: Strength) -> String {
    if strength.kind == OperationKind::Fence {
        return format!("fence.{}.{}", strength.order_name(), strength.scope);
    }
    if matches!(strength.kind, OperationKind::Arrival | OperationKind::PhaseWait) {
        return renamed_mbarrier(name, strength);
    }
    let strong = strength.order != AccessOrder::Weak;
    let mut parts = name.split('.').map(str::trim);
    let mut all = vec![match parts.next() {
        Some("ldu") => "ld".to_owned(),
        opcode => opcode.unwrap_or_default().to_owned(),
    }];
    if all[0] == "multimem" {
        all.extend(parts.next().map(str::to_owned));
    }
    let rest: Vec<&str> = parts.collect();
    all.extend(rest.iter().filter(|part| **part == "mmio").map(|part| (*part).to_owned()));
    if strong {
        all.extend([strength.order_name().to_owned(), strength.scope.to_string()]);
    }
    all.extend(rest.iter().filter(|part| !is_of_order(part, strong)).map(|&part| part.to_owned()));
    all.join(".")
}

/// Of an operation on an mbarrier object, whose order and scope come before the state space and the type.
fn renamed_mbarrier(name: &str, strength: Strength) -> String {
    let parts = name.split('.').map(str::trim);
    let mut all: Vec<String> =
        parts.filter(|part| !is_of_order(part, true)).map(str::to_owned).collect();
    let is_last = |part: &String| part.starts_with("shared") || part == "b64";
    let at = all.iter().position(is_last).unwrap_or(all.len());
    let order = [strength.order_name().to_owned(), strength.scope.to_string()];
    all.splice(at..at, order);
    all.join(".")
}

/// Whether a qualifier gives an order or a scope, or is for weak accesses only.
fn is_of_order(part: &str, strong: bool) -> bool {
    match part {
        "weak" | "volatile" | "mmio" | "relaxed" | "acquire" | "release" | "acq_rel" | "cta"
        | "cluster" | "gpu" | "sys" | "nc" | "proxy::readonly" => true,
        "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" => strong,
        _ => false,
    }
}

/// The text of an instruction with another name.
pub(crate) fn with_name(cell: &SourceCell, name: &str) -> String {
    cell.text.replacen(&cell.name, name, 1)
}

/// An edit that gives an instruction another order and scope.
pub(crate) fn rename(
    source: &SourceTest,
    place: CellPlace,
    strength: Strength,
    kind: EditKind,
    cost: EditCost,
) -> ProgramEdit {
    let name = renamed(&source.cells[place.thread][place.cell].name, strength);
    with_opcode(source, place, name, kind, cost)
}

/// An edit that gives an instruction this opcode with its qualifiers.
pub(crate) fn with_opcode(
    source: &SourceTest,
    CellPlace { thread, cell }: CellPlace,
    name: String,
    kind: EditKind,
    cost: EditCost,
) -> ProgramEdit {
    let of = &source.cells[thread][cell];
    let line = EditedLine {
        before: Some(of.text.clone()),
        after: Some(with_name(of, &name)),
        ..EditedLine::new(source, thread, cell)
    };
    let revisions = vec![Revision::Rename { thread, cell, name }];
    ProgramEdit { kind, cost, lines: vec![line], revisions }
}

/// An edit that replaces an instruction, but for its guard.
pub(crate) fn replacement(
    source: &SourceTest,
    CellPlace { thread, cell }: CellPlace,
    text: String,
    kind: EditKind,
    cost: EditCost,
) -> ProgramEdit {
    let of = &source.cells[thread][cell];
    let line = EditedLine {
        before: Some(of.text.clone()),
        after: Some(format!("{}{text}", of.guard())),
        ..EditedLine::new(source, thread, cell)
    };
    let revisions = vec![Revision::Replace { thread, cell, text }];
    ProgramEdit { kind, cost, lines: vec![line], revisions }
}

/// An edit that removes the guard of an instruction.
pub(crate) fn unguarded(source: &SourceTest, place: CellPlace, cost: EditCost) -> ProgramEdit {
    let CellPlace { thread, cell } = place;
    let of = &source.cells[thread][cell];
    let line = EditedLine {
        before: Some(of.text.clone()),
        after: Some(of.instruction().to_owned()),
        ..EditedLine::new(source, thread, cell)
    };
    let revisions = vec![Revision::Unguard { thread, cell }];
    ProgramEdit { kind: EditKind::BarrierForm, cost, lines: vec![line], revisions }
}

/// An edit of numbers in the braces.
pub(crate) fn initial(
    source: &SourceTest,
    indices: &[usize],
    number: u64,
    kind: EditKind,
    cost: EditCost,
) -> ProgramEdit {
    let text = |index: usize, number: u64| match &source.initial[index].of {
        NumberOf::Register { thread, name } => {
            format!("{}:{name}={number}", source.test.program.threads[*thread].name)
        }
        NumberOf::Arrivals { object, element, array } => {
            let element = if *array { format!("[{element}]") } else { String::new() };
            format!("{object}{element}={{{number}}}")
        }
    };
    let line = |&index: &usize| {
        let now = source.initial[index].number;
        EditedLine::of_number(source, index, text(index, now), text(index, number))
    };
    let lines = indices.iter().map(line).collect();
    let revision = |&index: &usize| Revision::Initial { index, number };
    ProgramEdit { kind, cost, lines, revisions: indices.iter().map(revision).collect() }
}

/// What stands for the name of a thread where the braces are changed.
pub(crate) const BRACES: &str = "braces";

/// An edit that removes an instruction.
pub(crate) fn removal(
    source: &SourceTest,
    CellPlace { thread, cell }: CellPlace,
    cost: EditCost,
) -> ProgramEdit {
    let before = Some(source.cells[thread][cell].text.clone());
    let line = EditedLine { before, ..EditedLine::new(source, thread, cell) };
    let revisions = vec![Revision::Remove { thread, cell }];
    ProgramEdit { kind: EditKind::Removal, cost, lines: vec![line], revisions }
}

/// An edit that inserts instructions, one in each line of `text`, at each of these places.
pub(crate) fn insertion(
    source: &SourceTest,
    places: &[InsertionPoint],
    text: &str,
    kind: EditKind,
    cost: EditCost,
) -> ProgramEdit {
    let line = |at: &InsertionPoint, text: &str| EditedLine {
        after: Some(text.to_owned()),
        next: source.cells[at.thread].get(at.cell).map(|cell| next_text(cell, at.labelled)),
        ..EditedLine::new(source, at.thread, at.cell)
    };
    let revision = |&InsertionPoint { thread, cell, labelled }: &InsertionPoint| Revision::Insert {
        thread,
        cell,
        labelled,
        text: text.to_owned(),
    };
    let lines = places.iter().flat_map(|at| text.lines().map(move |text| line(at, text)));
    let lines = lines.collect();
    ProgramEdit { kind, cost, lines, revisions: places.iter().map(revision).collect() }
}

/// The instruction that something is inserted before, with its labels if they come after that.
fn next_text(cell: &SourceCell, labelled: bool) -> String {
    let labels: Vec<String> =
        cell.labels.iter().filter(|_| !labelled).map(|label| format!("{label}: ")).collect();
    format!("{}{}", labels.concat(), cell.text)
}

/// Whether a thread has an instruction more than once.
pub(crate) fn is_repeated(source: &SourceTest, thread: usize, text: &str) -> bool {
    source.cells[thread].iter().filter(|cell| cell.text == text).count() > 1
}

/// The line of a cell in the file; that of the last one for what is after it.
pub(crate) fn line_number(source: &SourceTest, thread: usize, cell: usize) -> usize {
    let numbers = &source.test.line_numbers[thread];
    let line = source.cells[thread].get(cell).map(|cell| cell.lines.start);
    line.and_then(|line| numbers.get(line)).or(numbers.last()).copied().unwrap_or(1)
}

/// The text of an instruction in a thread; `None` if the model does not keep all of it.
pub(crate) fn text_of(source: &SourceTest, thread: usize, of: Asynchronous) -> Option<String> {
    print_in(source, thread, &Instruction::Asynchronous(of))
}

/// The same of any instruction.
pub(crate) fn print_in(source: &SourceTest, thread: usize, of: &Instruction) -> Option<String> {
    print(of, &names(source, thread))
}

/// An address in a thread, in brackets.
pub(crate) fn address(source: &SourceTest, thread: usize, of: Address) -> String {
    print::address(of, &names(source, thread))
}

/// An operand in a thread.
pub(crate) fn operand(source: &SourceTest, thread: usize, of: Operand) -> String {
    print::operand(of, &names(source, thread))
}

fn names(source: &SourceTest, thread: usize) -> ProgramNames<'_> {
    let program = &source.test.program;
    ProgramNames { program, thread: &program.threads[thread] }
}

/// A name that begins with these letters and is not used.
pub(crate) fn free_name(stem: &str, is_used: impl Fn(&str) -> bool) -> Option<String> {
    (0..=u16::MAX).map(|number| format!("{stem}{number}")).find(|name| !is_used(name))
}

/// A name for a new register of a thread.
pub(crate) fn free_register(source: &SourceTest, thread: usize, stem: &str) -> Option<String> {
    let program = &source.test.program;
    let registers = &program.threads[thread].registers;
    free_name(stem, |name| {
        registers.iter().any(|register| register.name == name)
            || program.variables.iter().any(|variable| variable.name == name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str, kind: OperationKind, order: AccessOrder, scope: Scope) -> String {
        renamed(name, Strength::new(kind, order, scope))
    }

    #[test]
    fn a_name_keeps_what_is_not_of_its_order() {
        use AccessOrder as O;
        use OperationKind as K;
        let of = name;
        assert_eq!(
            of("ld.volatile.global.u32", K::Load, O::Acquire, Scope::Sys),
            "ld.acquire.sys.global.u32"
        );
        assert_eq!(of("ld.global.nc.v2.f32", K::Load, O::Weak, Scope::Sys), "ld.global.v2.f32");
        assert_eq!(
            of("ld.shared::cta.ca.u8", K::Load, O::Relaxed, Scope::Cta),
            "ld.relaxed.cta.shared::cta.u8"
        );
        assert_eq!(
            of("st.mmio.relaxed.sys.u32", K::Store, O::Release, Scope::Sys),
            "st.mmio.release.sys.u32"
        );
        assert_eq!(
            of("atom.global.cta.add.u32", K::Atomic, O::AcqRel, Scope::Gpu),
            "atom.acq_rel.gpu.global.add.u32"
        );
        assert_eq!(of("membar.gl", K::Fence, O::SeqCst, Scope::Sys), "fence.sc.sys");
        assert_eq!(of("ldu.global.u32", K::Load, O::Weak, Scope::Sys), "ld.global.u32");
    }

    #[test]
    fn a_scope_weighs_less_than_an_order_and_that_less_than_a_fence() {
        use AccessOrder as O;
        let load = |order, scope| Strength::new(OperationKind::Load, order, scope);
        let weight = |before, after| strengthening(before, after).1.weight;
        let scope = weight(load(O::Acquire, Scope::Cta), load(O::Acquire, Scope::Sys));
        let relaxed = weight(load(O::Weak, Scope::Sys), load(O::Relaxed, Scope::Cta));
        let acquire = weight(load(O::Relaxed, Scope::Gpu), load(O::Acquire, Scope::Gpu));
        let most = weight(load(O::Weak, Scope::Gpu), load(O::AcqRel, Scope::Gpu));
        let of = |order| fence(Strength::new(OperationKind::Fence, order, Scope::Cta)).1.weight;
        let all = [scope, relaxed, acquire, most, of(O::AcqRel), of(O::SeqCst), barrier(1).weight];
        assert!(all.is_sorted_by(|a, b| a < b), "{all:?}");
    }
}
