//! The orders, scopes and fences that a test does not need to forbid its outcome.

use judge::{Resting, Verdict};
use litmus::revise::SourceTest;
use model::isa::asynchronous::{
    AsyncFence, Asynchronous, FenceWindow, GridControl, GroupCompletion, GroupKind, WaitGroup,
};
use model::isa::tensor_memory::TensorOp;
use model::isa::{Instruction, Line};
use model::strength::{KnownForms, OperationKind, Strength, weakest};

use crate::copies::EqualThreads;
use crate::edit::{EditCost, EditKind, ProgramEdit, removal, rename, revisions_of};
use crate::edited::number;
use crate::operand::other;
use crate::place::{CellPlace, lines_of};
use crate::question::{Questions, RepairLimit, RepairOptions, excluded, unanswered};
use crate::site::{forms, instruction};

/// What a test does not need.
#[derive(Clone, Debug)]
pub struct Weakening {
    /// Why nothing was searched: the test cannot be changed, has no verdict, or allows its outcome.
    pub excluded: Option<String>,
    /// Each edit alone leaves the outcome forbidden, and the next weaker form would allow it.
    pub superfluous: Vec<SuperfluousEdit>,
    /// Edits that leave it forbidden all together; no next weaker form of any instruction does. Empty if there are none.
    pub together: Vec<ProgramEdit>,
    /// The engines that found the outcome forbidden with all of them.
    pub engines: Vec<&'static str>,
    /// The readings by which it is forbidden with all of them, beside those of the test as it is.
    pub resting: Resting,
    /// The file with the edits of `together`.
    pub text: String,
    /// The number of changed tests that were judged.
    pub asked: usize,
    pub limit: Option<RepairLimit>,
    /// Engines differ on a changed test: what one found and the other did not.
    pub disagreement: Option<String>,
}

/// An edit that leaves the outcome forbidden.
#[derive(Clone, Debug)]
pub struct SuperfluousEdit {
    pub edit: ProgramEdit,
    /// The readings by which it is forbidden then, beside those of the test as it is.
    pub resting: Resting,
}

/// An instruction that orders others.
struct OrderingSite {
    thread: usize,
    cell: usize,
    now: OrderingForm,
    /// Of a wait for groups: how many groups the thread commits.
    commits: u64,
}

/// How much an instruction orders.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OrderingForm {
    Memory(Strength),
    /// `fence.proxy.async`.
    ProxyFence(FenceWindow),
    /// A wait for all but this number of groups; of bulk copies, perhaps for their reads only.
    Groups(WaitGroup),
    /// Another fence, or a wait for the kernels before: it is there or not.
    Whole,
}

/// How much each instruction orders; `None` without it.
type Strengths = Vec<Option<OrderingForm>>;

impl OrderingSite {
    /// The next weaker forms of one that this instruction may have.
    fn weaker(&self, of: OrderingForm, forms: KnownForms) -> Vec<Option<OrderingForm>> {
        match of {
            OrderingForm::Memory(strength) => {
                let weaker = strength.weaker(forms).into_iter();
                weaker.map(|weaker| weaker.map(OrderingForm::Memory)).collect()
            }
            OrderingForm::ProxyFence(window) => {
                let within = FenceWindow::ALL.into_iter();
                let within = within.filter(|&one| one != window && window.includes(one));
                let mut weaker: Vec<_> =
                    within.map(|one| Some(OrderingForm::ProxyFence(one))).collect();
                if weaker.is_empty() {
                    weaker.push(None);
                }
                weaker
            }
            OrderingForm::Groups(wait) => {
                let mut weaker = Vec::new();
                if wait.of == GroupKind::BulkCopies && wait.until == GroupCompletion::Complete {
                    let reads = WaitGroup { until: GroupCompletion::Read, ..wait };
                    weaker.push(Some(OrderingForm::Groups(reads)));
                }
                let more = WaitGroup { pending: wait.pending + 1, ..wait };
                weaker.push((more.pending < self.commits).then_some(OrderingForm::Groups(more)));
                weaker
            }
            OrderingForm::Whole => vec![None],
        }
    }
}

/// Finds what a test that forbids its outcome does not need: each alone, and together as far as small steps lead, fences
/// first.
pub fn weaken(source: &SourceTest, options: &RepairOptions<'_>) -> Weakening {
    let mut result = Weakening {
        excluded: excluded(source),
        superfluous: Vec::new(),
        together: Vec::new(),
        engines: Vec::new(),
        resting: Resting::default(),
        text: source.text().to_owned(),
        asked: 0,
        limit: None,
        disagreement: None,
    };
    let mut questions = Questions::new(source, options);
    if result.excluded.is_none() {
        let original = questions.original();
        result.excluded = unanswered(&original).or_else(|| match &original.verdict {
            Verdict::Fails => Some("its outcome is allowed".to_owned()),
            Verdict::Undefined(why) => Some(format!("it is undefined: {why}")),
            Verdict::Holds if original.found.outcomes.is_empty() => {
                Some("no outcome passes its filter".to_owned())
            }
            Verdict::Holds
            | Verdict::Stuck(_)
            | Verdict::Undecided(_)
            | Verdict::Unsupported(_) => None,
        });
    }
    if result.excluded.is_some() {
        return result;
    }
    let before = questions.resting(&[]).names();
    let resting = |questions: &Questions<'_>, edits: &[ProgramEdit]| {
        let mut resting = questions.resting(&revisions_of(edits));
        resting.on.retain(|rest| !before.contains(&rest.reading.name));
        // What is not known is not known of the test as it is, either.
        resting.open.clear();
        resting
    };
    let copies = EqualThreads::new(source);
    let mut siblings = copies.questions(source);
    siblings.retain(|sibling| questions.is_forbidden_of(sibling, &[]));
    let mut questions = questions.also(siblings);
    let sites = sites(source, &copies);
    let strongest: Strengths = sites.iter().map(|site| Some(site.now)).collect();
    // A weak access may be torn, and a race of weak accesses has no meaning in the languages above PTX.
    let forms = KnownForms { weak: false, ..forms(source) };
    let suffices = |questions: &mut Questions<'_>, all: &Strengths| {
        let edits = edits(source, &copies, &sites, all);
        questions.forbids(&edits.iter().collect::<Vec<_>>())
    };
    for (at, site) in sites.iter().enumerate() {
        for least in least(site, forms, &mut |weaker| {
            let mut all = strongest.clone();
            all[at] = weaker;
            suffices(&mut questions, &all)
        }) {
            let mut all = strongest.clone();
            all[at] = least;
            let edits = edits(source, &copies, &sites, &all);
            if confirmed(&edits, &questions, &mut result).is_some() {
                let resting = resting(&questions, &edits);
                let with = |edit| SuperfluousEdit { edit, resting: resting.clone() };
                result.superfluous.extend(edits.into_iter().map(with));
            }
        }
    }
    let next = |all: &Strengths| {
        let mut weaker = Vec::new();
        for (at, now) in all.iter().enumerate() {
            for next in now.map_or(Vec::new(), |now| sites[at].weaker(now, forms)) {
                let mut changed = all.clone();
                changed[at] = next;
                weaker.push(changed);
            }
        }
        weaker
    };
    if let Some(all) = weakest(&strongest, next, |all| suffices(&mut questions, all)) {
        let mut edits = edits(source, &copies, &sites, &all);
        if let Some(engines) = confirmed(&edits, &questions, &mut result) {
            result.engines = engines;
            result.resting = resting(&questions, &edits);
            let revisions = revisions_of(&edits);
            result.text = source.revised(&revisions);
            number(source, &mut edits, &revisions, &result.text);
            result.together = edits;
        }
    }
    result.asked = questions.asked;
    result.limit = questions.limit;
    result
}

/// The engines that confirm that the outcome is forbidden; `None` if one does not.
fn confirmed(
    edits: &[ProgramEdit],
    questions: &Questions<'_>,
    result: &mut Weakening,
) -> Option<Vec<&'static str>> {
    let verified = questions.verify(&revisions_of(edits));
    if let Some(disagreement) = verified.disagreement {
        result.disagreement.get_or_insert(disagreement);
        return None;
    }
    (verified.forbidden && !verified.engines.is_empty()).then_some(verified.engines)
}

/// The weakest forms that suffice, other than the present one.
fn least(
    site: &OrderingSite,
    forms: KnownForms,
    suffices: &mut dyn FnMut(Option<OrderingForm>) -> bool,
) -> Vec<Option<OrderingForm>> {
    let mut open = vec![Some(site.now)];
    let mut seen = open.clone();
    let mut all = Vec::new();
    while let Some(one) = open.pop() {
        let mut weaker = one.map_or(Vec::new(), |one| site.weaker(one, forms));
        weaker.retain(|&next| suffices(next));
        if weaker.is_empty() && one != Some(site.now) {
            all.push(one);
        }
        for next in weaker {
            if !seen.contains(&next) {
                seen.push(next);
                open.push(next);
            }
        }
    }
    all
}

/// The instructions that order others: fences first, which cost most.
fn sites(source: &SourceTest, copies: &EqualThreads) -> Vec<OrderingSite> {
    let mut all = Vec::new();
    let threads = source.cells.iter().enumerate();
    for (thread, cells) in threads.filter(|(thread, _)| copies.is_first(*thread)) {
        for cell in 0..cells.len() {
            let memory = instruction(source, thread, cell).and_then(Strength::of);
            let now =
                memory.map(OrderingForm::Memory).or_else(|| asynchronous(source, thread, cell));
            let Some(now) = now else { continue };
            let commits = if let OrderingForm::Groups(wait) = now {
                committed(source, thread, wait.of)
            } else {
                0
            };
            all.push(OrderingSite { thread, cell, now, commits });
        }
    }
    let is_access = |of: &OrderingForm| match of {
        OrderingForm::Memory(strength) => strength.kind != OperationKind::Fence,
        OrderingForm::ProxyFence(_) | OrderingForm::Groups(_) | OrderingForm::Whole => false,
    };
    all.sort_by_key(|site| is_access(&site.now));
    all
}

/// A fence of a proxy, or a wait, that is the only instruction of its cell.
fn asynchronous(source: &SourceTest, thread: usize, cell: usize) -> Option<OrderingForm> {
    let [line] = lines_of(source, thread, cell) else { return None };
    if matches!(line.instruction, Instruction::ProxyFence(_)) {
        return Some(OrderingForm::Whole);
    }
    let of = line.instruction.as_asynchronous()?;
    if let Asynchronous::Fence(AsyncFence::Proxy(window)) = of {
        return Some(OrderingForm::ProxyFence(*window));
    }
    if let Asynchronous::WaitGroup(wait) = of {
        return (!wait.commits).then_some(OrderingForm::Groups(*wait));
    }
    let orders = matches!(
        of,
        Asynchronous::Fence(_)
            | Asynchronous::TensormapFence(_)
            | Asynchronous::MultiplyFence
            | Asynchronous::Grid(GridControl::Wait)
            | Asynchronous::TensorMemory(TensorOp::Wait(_) | TensorOp::Fence(_))
    );
    orders.then_some(OrderingForm::Whole)
}

/// The most groups that a wait is tried with.
const MOST_GROUPS: u64 = 8;

/// How many groups of a kind a thread commits, at most; a loop may commit one more than once.
fn committed(source: &SourceTest, thread: usize, kind: GroupKind) -> u64 {
    let thread = &source.test.program.threads[thread];
    let commits =
        |line: &Line| line.instruction.as_asynchronous() == Some(&Asynchronous::Commit(kind));
    let count = thread.lines.iter().filter(|line| commits(line)).count();
    let repeats = thread
        .back_branches()
        .any(|(branch, target)| thread.lines[target..=branch].iter().any(commits));
    if repeats { MOST_GROUPS } else { u64::try_from(count).unwrap_or(MOST_GROUPS).min(MOST_GROUPS) }
}

/// The edits that lead to these forms.
fn edits(
    source: &SourceTest,
    copies: &EqualThreads,
    sites: &[OrderingSite],
    strengths: &Strengths,
) -> Vec<ProgramEdit> {
    let mut all = Vec::new();
    for (site, &form) in sites.iter().zip(strengths) {
        let (place, now) = (CellPlace { thread: site.thread, cell: site.cell }, site.now);
        let cost = EditCost { edits: 1, ..EditCost::default() };
        let edit = match (form, now) {
            (Some(form), now) if form == now => None,
            (Some(OrderingForm::Memory(strength)), OrderingForm::Memory(now)) => {
                let kind =
                    if strength.order == now.order { EditKind::Scope } else { EditKind::Order };
                Some(rename(source, place, strength, kind, cost))
            }
            (Some(OrderingForm::ProxyFence(window)), _) => {
                let of = Asynchronous::Fence(AsyncFence::Proxy(window));
                other(source, place, of, EditKind::ProxyFence, cost)
            }
            (Some(OrderingForm::Groups(wait)), _) => {
                let of = Asynchronous::WaitGroup(wait);
                other(source, place, of, EditKind::GroupWait, cost)
            }
            (Some(_), _) => None,
            (None, _) => Some(removal(source, place, cost)),
        };
        all.extend(edit.map(|edit| copies.everywhere(source, edit)));
    }
    all
}
