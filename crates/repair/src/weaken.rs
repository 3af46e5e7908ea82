//! The orders, scopes and fences that a test does not need to forbid its outcome.

use std::collections::BTreeMap;

use judge::{Resting, Verdict};
use litmus::revise::SourceTest;
use model::isa::asynchronous::{
    AsyncFence, Asynchronous, FenceWindow, GridControl, GroupCompletion, GroupKind, WaitGroup,
};
use model::isa::bar::BarrierKind;
use model::isa::tensor_memory::TensorOp;
use model::isa::{Instruction, Line};
use model::strength::{KnownForms, OperationKind, Strength, weakest};

use crate::copies::EqualThreads;
use crate::edit::{EditCost, EditKind, ProgramEdit, line_number, removal, rename, revisions_of};
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
    /// Where it stands: it becomes the same everywhere.
    places: Vec<CellPlace>,
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
    /// Another fence, a wait for the kernels before, or a barrier: it is there or not.
    Whole,
}

impl OrderingSite {
    /// `None` if what stands there orders nothing. `barriers`: whether one may be left out.
    fn new(source: &SourceTest, places: Vec<CellPlace>, barriers: bool) -> Option<OrderingSite> {
        let &CellPlace { thread, cell } = places.first()?;
        let memory = instruction(source, thread, cell).and_then(Strength::of);
        let barrier = || (barriers && is_barrier(source, &places)).then_some(OrderingForm::Whole);
        let now = memory
            .map(OrderingForm::Memory)
            .or_else(|| asynchronous(source, thread, cell))
            .or_else(barrier)?;
        let commits = if let OrderingForm::Groups(wait) = now {
            let all = places.iter().map(|place| committed(source, place.thread, wait.of));
            all.max().unwrap_or(0)
        } else {
            0
        };
        Some(OrderingSite { places, now, commits })
    }

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

    /// The weakest forms that suffice, other than the present one.
    fn least(
        &self,
        forms: KnownForms,
        suffices: &mut dyn FnMut(Option<OrderingForm>) -> bool,
    ) -> Vec<Option<OrderingForm>> {
        let mut open = vec![Some(self.now)];
        let mut seen = open.clone();
        let mut all = Vec::new();
        while let Some(one) = open.pop() {
            let mut weaker = one.map_or(Vec::new(), |one| self.weaker(one, forms));
            weaker.retain(|&next| suffices(next));
            // Nothing is weaker than no instruction.
            if weaker.contains(&None) {
                return vec![None];
            }
            if weaker.is_empty() && one != Some(self.now) {
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

    /// The edit that leads to another form; `None` if there is none.
    fn edit(&self, source: &SourceTest, form: Option<OrderingForm>) -> Option<ProgramEdit> {
        let all = self.places.iter().map(|&place| self.edit_at(source, place, form));
        let all: Vec<ProgramEdit> = all.collect::<Option<_>>()?;
        all.into_iter().reduce(|mut all, edit| {
            all.lines.extend(edit.lines);
            all.revisions.extend(edit.revisions);
            all
        })
    }

    fn edit_at(
        &self,
        source: &SourceTest,
        place: CellPlace,
        form: Option<OrderingForm>,
    ) -> Option<ProgramEdit> {
        let cost = EditCost { edits: 1, ..EditCost::default() };
        match (form, self.now) {
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
    let mut search = WeakerForms::of_test(source, &copies);
    let alone = search.alone(&mut |edits| questions.forbids(&edits.iter().collect::<Vec<_>>()));
    for edit in alone {
        let edits = std::slice::from_ref(&edit);
        if confirmed(edits, &questions, &mut result).is_some() {
            let resting = resting(&questions, edits);
            result.superfluous.push(SuperfluousEdit { edit, resting });
        }
    }
    let mut edits =
        search.together(&mut |edits| questions.forbids(&edits.iter().collect::<Vec<_>>()));
    if !edits.is_empty()
        && let Some(engines) = confirmed(&edits, &questions, &mut result)
    {
        result.engines = engines;
        result.resting = resting(&questions, &edits);
        let revisions = revisions_of(&edits);
        result.text = source.revised(&revisions);
        number(source, &mut edits, &revisions, &result.text);
        result.together = edits;
    }
    result.asked = questions.asked;
    result.limit = questions.limit;
    result
}

/// The instructions of a test that order others, and the weaker forms that they may have.
pub struct WeakerForms<'s> {
    source: &'s SourceTest,
    sites: Vec<OrderingSite>,
    forms: KnownForms,
}

/// Whether what has to hold is known to hold with edits.
type Suffices<'f> = &'f mut dyn FnMut(&[ProgramEdit]) -> bool;

impl<'s> WeakerForms<'s> {
    /// Those of a test. Threads with equal text have an instruction together.
    fn of_test(source: &'s SourceTest, copies: &EqualThreads) -> WeakerForms<'s> {
        let places = cells(source).filter(|place| copies.is_first(place.thread));
        let everywhere = |place: CellPlace| {
            copies.of(place.thread).map(|thread| CellPlace { thread, ..place }).collect()
        };
        WeakerForms::new(source, places.map(everywhere), false)
    }

    /// Those of code that the threads of a test share. `written`: where the code has a line of the test, in the column of a
    /// thread. Barriers count, too: without one of the code no thread has it.
    pub fn of_code(
        source: &'s SourceTest,
        written: &dyn Fn(usize, usize) -> Option<usize>,
    ) -> WeakerForms<'s> {
        let mut places: BTreeMap<(usize, &str), Vec<CellPlace>> = BTreeMap::new();
        for place in cells(source) {
            let CellPlace { thread, cell } = place;
            let line = written(thread, line_number(source, thread, cell));
            if let Some(line) = line {
                let name = &source.cells[thread][cell].name[..];
                places.entry((line, name)).or_default().push(place);
            }
        }
        WeakerForms::new(source, places.into_values(), true)
    }

    fn new(
        source: &'s SourceTest,
        places: impl Iterator<Item = Vec<CellPlace>>,
        barriers: bool,
    ) -> WeakerForms<'s> {
        let mut sites: Vec<OrderingSite> =
            places.filter_map(|places| OrderingSite::new(source, places, barriers)).collect();
        let is_access = |of: &OrderingForm| match of {
            OrderingForm::Memory(strength) => strength.kind != OperationKind::Fence,
            OrderingForm::ProxyFence(_) | OrderingForm::Groups(_) | OrderingForm::Whole => false,
        };
        // Fences cost most.
        sites.sort_by_key(|site| is_access(&site.now));
        // A weak access may be torn, and a race of weak accesses has no meaning in the languages above PTX.
        WeakerForms { source, sites, forms: KnownForms { weak: false, ..forms(source) } }
    }

    /// Edits of which each alone suffices; the next weaker form does not. By the law of strength, what is needed alone is
    /// needed together with other edits: it is not looked at again.
    pub fn alone(&mut self, suffices: Suffices<'_>) -> Vec<ProgramEdit> {
        let mut all = Vec::new();
        let (source, forms) = (self.source, self.forms);
        self.sites.retain(|site| {
            let least = site.least(forms, &mut |form| {
                site.edit(source, form).is_some_and(|edit| suffices(&[edit]))
            });
            all.extend(least.iter().filter_map(|form| site.edit(source, *form)));
            !least.is_empty()
        });
        all
    }

    /// Edits that suffice all together. One instruction after another becomes as weak as it may: by the same law, none may
    /// become weaker after others did.
    pub fn together(&self, suffices: Suffices<'_>) -> Vec<ProgramEdit> {
        let mut all: Vec<ProgramEdit> = Vec::new();
        for site in &self.sites {
            let next = |of: &Option<OrderingForm>| {
                of.map_or(Vec::new(), |form| site.weaker(form, self.forms))
            };
            let least = weakest(&Some(site.now), next, |&form| {
                let with = |edit| suffices(&[&all[..], &[edit]].concat());
                site.edit(self.source, form).is_some_and(with)
            });
            all.extend(least.and_then(|form| site.edit(self.source, form)));
        }
        all
    }
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

/// Every cell of a test, in the order of threads.
fn cells(source: &SourceTest) -> impl Iterator<Item = CellPlace> {
    let threads = source.cells.iter().enumerate();
    threads.flat_map(|(thread, cells)| (0..cells.len()).map(move |cell| CellPlace { thread, cell }))
}

/// Whether the cells are a barrier where some of their threads meet.
fn is_barrier(source: &SourceTest, places: &[CellPlace]) -> bool {
    let placement = |place: &CellPlace| source.test.program.threads[place.thread].placement;
    places.first().is_some_and(|&CellPlace { thread, cell }| {
        let [Line { instruction: Instruction::Barrier(of), .. }] = lines_of(source, thread, cell)
        else {
            return false;
        };
        let meet = |one: &CellPlace, other: &CellPlace| {
            let (one, other) = (placement(one), placement(other));
            if of.warp { one.same_warp(other) } else { one.same_cta(other) }
        };
        let others = |one: &CellPlace| {
            places.iter().any(|other| other.thread != one.thread && meet(one, other))
        };
        of.kind == BarrierKind::Sync && places.iter().any(others)
    })
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
