//! The orders, scopes and fences that a test does not need to forbid its outcome.

use engine::judge::Verdict;
use litmus::revise::{Revision, SourceTest};
use model::strength::{KnownForms, OperationKind, Strength, weakest};

use crate::edit::{EditCost, EditKind, EditedLine, ProgramEdit, line_number, rename};
use crate::question::{Questions, RepairLimit, RepairOptions, excluded, unanswered};
use crate::site::{forms, instruction};

/// What a test does not need.
#[derive(Clone, Debug)]
pub struct Weakening {
    /// Why nothing was searched: the test cannot be changed, has no verdict, or allows its outcome.
    pub excluded: Option<String>,
    /// Each edit alone leaves the outcome forbidden, and the next weaker form would allow it.
    pub superfluous: Vec<ProgramEdit>,
    /// Edits that leave it forbidden all together; no next weaker form of any instruction does. Empty if there are none.
    pub together: Vec<ProgramEdit>,
    /// The engines that found the outcome forbidden with all of them.
    pub engines: Vec<&'static str>,
    /// The file with the edits of `together`.
    pub text: String,
    /// The number of changed tests that were judged.
    pub asked: usize,
    pub limit: Option<RepairLimit>,
    /// Engines differ on a changed test: what one found and the other did not.
    pub disagreement: Option<String>,
}

/// An instruction that orders others.
struct OrderingSite {
    thread: usize,
    cell: usize,
    now: Strength,
}

/// How strong each instruction is; `None` without it.
type Strengths = Vec<Option<Strength>>;

/// Finds what a test that forbids its outcome does not need: each alone, and together as far as small steps lead, fences
/// first.
pub fn weaken(source: &SourceTest, options: &RepairOptions<'_>) -> Weakening {
    let mut result = Weakening {
        excluded: excluded(source),
        superfluous: Vec::new(),
        together: Vec::new(),
        engines: Vec::new(),
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
    let sites = sites(source);
    let strongest: Strengths = sites.iter().map(|site| Some(site.now)).collect();
    // A weak access may be torn, and a race of weak accesses has no meaning in the languages above PTX.
    let forms = KnownForms { weak: false, ..forms(source) };
    let suffices = |questions: &mut Questions<'_>, all: &Strengths| {
        let edits = edits(source, &sites, all);
        questions.forbids(&edits.iter().collect::<Vec<_>>())
    };
    for (at, site) in sites.iter().enumerate() {
        for least in least(site.now, forms, &mut |weaker| {
            let mut all = strongest.clone();
            all[at] = weaker;
            suffices(&mut questions, &all)
        }) {
            let mut all = strongest.clone();
            all[at] = least;
            let edits = edits(source, &sites, &all);
            if confirmed(&edits, &questions, &mut result).is_some() {
                result.superfluous.extend(edits);
            }
        }
    }
    let next = |all: &Strengths| {
        let mut weaker = Vec::new();
        for (at, now) in all.iter().enumerate() {
            for next in now.map_or(Vec::new(), |now| now.weaker(forms)) {
                let mut changed = all.clone();
                changed[at] = next;
                weaker.push(changed);
            }
        }
        weaker
    };
    if let Some(all) = weakest(&strongest, next, |all| suffices(&mut questions, all)) {
        let edits = edits(source, &sites, &all);
        if let Some(engines) = confirmed(&edits, &questions, &mut result) {
            let revisions: Vec<Revision> =
                edits.iter().flat_map(|edit| edit.revisions.iter().cloned()).collect();
            result.engines = engines;
            result.text = source.revised(&revisions);
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
    let revisions: Vec<Revision> =
        edits.iter().flat_map(|edit| edit.revisions.iter().cloned()).collect();
    let verified = questions.verify(&revisions);
    if let Some(disagreement) = verified.disagreement {
        result.disagreement.get_or_insert(disagreement);
        return None;
    }
    (verified.forbidden && !verified.engines.is_empty()).then_some(verified.engines)
}

/// The weakest forms that suffice, other than the present one.
fn least(
    now: Strength,
    forms: KnownForms,
    suffices: &mut dyn FnMut(Option<Strength>) -> bool,
) -> Vec<Option<Strength>> {
    let mut open = vec![Some(now)];
    let mut seen = open.clone();
    let mut all = Vec::new();
    while let Some(one) = open.pop() {
        let mut weaker = one.map_or(Vec::new(), |one| one.weaker(forms));
        weaker.retain(|&next| suffices(next));
        if weaker.is_empty() && one != Some(now) {
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
fn sites(source: &SourceTest) -> Vec<OrderingSite> {
    let mut all = Vec::new();
    for (thread, cells) in source.cells.iter().enumerate() {
        for cell in 0..cells.len() {
            let now = instruction(source, thread, cell).and_then(Strength::of);
            all.extend(now.map(|now| OrderingSite { thread, cell, now }));
        }
    }
    all.sort_by_key(|site| site.now.kind != OperationKind::Fence);
    all
}

/// The edits that lead to these strengths.
fn edits(source: &SourceTest, sites: &[OrderingSite], strengths: &Strengths) -> Vec<ProgramEdit> {
    let mut all = Vec::new();
    for (site, &strength) in sites.iter().zip(strengths) {
        let OrderingSite { thread, cell, now } = *site;
        let cost = EditCost { edits: 1, ..EditCost::default() };
        all.extend(match strength {
            Some(strength) if strength == now => None,
            Some(strength) => {
                let kind =
                    if strength.order == now.order { EditKind::Scope } else { EditKind::Order };
                Some(rename(source, (thread, cell), strength, (kind, cost)))
            }
            None => {
                let line = EditedLine {
                    thread: source.test.program.threads[thread].name.clone(),
                    line: line_number(source, thread, cell),
                    before: Some(source.cells[thread][cell].text.clone()),
                    after: None,
                    next: None,
                };
                let revisions = vec![Revision::Remove { thread, cell }];
                Some(ProgramEdit { kind: EditKind::Removal, cost, lines: vec![line], revisions })
            }
        });
    }
    all
}
