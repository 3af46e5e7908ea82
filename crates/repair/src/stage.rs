//! The sets of edits that forbid an outcome, in stages: what costs least to find comes first.
//!
//! Stronger orders, scopes and fences are *sites*: each place takes its strongest edit first, and the smallest sets of
//! places that forbid the outcome then are those of any solution. All other edits (barriers, waits, operands, moves) may
//! keep a program from finishing, or allow what was forbidden; they are tried alone, each with sites, and two by two.

use std::collections::BTreeSet;

use litmus::revise::{Revision, SourceTest};

use crate::barrier::barriers;
use crate::copies::EqualThreads;
use crate::edit::{EditCost, EditKind, ProgramEdit, cost, revisions_of};
use crate::hitting::minimal_sets;
use crate::moves::moves;
use crate::question::{Questions, RepairLimit};
use crate::site::{EditSite, sites};
use crate::wait::waits;

/// How edits are combined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SearchStage {
    /// Sites without `fence.sc`, if all together are judged soon.
    EasySites,
    /// Each other edit alone.
    Others,
    /// Sites, if those did not suffice.
    HardSites,
    /// Another edit with sites.
    WithSites,
    /// Two other edits.
    Pairs,
    /// Several other edits, with sites.
    Several,
    /// Moves of instructions.
    Moves,
    Ended,
}

/// What was tried.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tried {
    /// The number of places of orders, scopes and fences.
    pub places: usize,
    /// The number of edits of barriers.
    pub barriers: usize,
    /// The number of edits of waits and of their operands.
    pub waits: usize,
    /// Whether a barrier or a wait was tried with other edits.
    pub combined: bool,
    /// The number of moves.
    pub moves: usize,
    /// The number of larger sets of edits of barriers and waits.
    pub sets: usize,
}

/// A search for sets of edits.
pub(crate) struct Stages<'s> {
    pub(crate) source: &'s SourceTest,
    copies: EqualThreads,
    sites: Vec<EditSite>,
    /// The strongest choice of each site; without `fence.sc`, if that is enough.
    tops: Vec<Option<usize>>,
    /// What is not always better with more.
    pub(crate) others: Vec<ProgramEdit>,
    stage: SearchStage,
    /// Whether all sites together forbid the outcome, if that is known.
    sites_suffice: Option<bool>,
    pub(crate) tried: Tried,
}

/// The most other edits that are tried with sites.
const MOST_WITH_SITES: usize = 400;

/// The most sets with another edit that are searched for the smallest.
pub(crate) const MOST_BASES: usize = 12;

/// The maximum number of pairs that are tried.
const MOST_PAIRS: usize = 800;

impl<'s> Stages<'s> {
    pub(crate) fn new(source: &'s SourceTest, questions: &mut Questions<'_>) -> Stages<'s> {
        let copies = EqualThreads::new(source);
        // No order lets a program finish.
        let sites = if questions.is_of_termination() {
            Vec::new()
        } else {
            sites(source, &copies, questions.until)
        };
        let mut others = waits(source, &copies, questions);
        let waits = others.len();
        let legal = |edit: &ProgramEdit| source.parse(&edit.revisions).is_ok();
        others.extend(barriers(source, &copies, &mut questions.left_out).into_iter().filter(legal));
        others.sort_by_key(|edit| edit.cost);
        let tried = Tried {
            places: sites.len(),
            barriers: others.len() - waits,
            waits,
            ..Tried::default()
        };
        Stages {
            source,
            copies,
            tops: vec![None; sites.len()],
            sites,
            others,
            stage: SearchStage::EasySites,
            sites_suffice: None,
            tried,
        }
    }

    /// The sets of the next stage, cheaper ones first; `None` after the last one. `found`: the least cost of what was
    /// found before, which a later stage has to undercut.
    pub(crate) fn next(
        &mut self,
        found: Option<EditCost>,
        questions: &mut Questions<'_>,
    ) -> Option<Vec<Vec<ProgramEdit>>> {
        let every = questions.options.all;
        let undercuts = |edits: u32| every || found.is_none_or(|found| edits < found.edits);
        let (stage, next) = match self.stage {
            SearchStage::EasySites => (self.all_sites(true, found, questions), SearchStage::Others),
            SearchStage::Others => (self.alone(found, questions), SearchStage::HardSites),
            SearchStage::HardSites if undercuts(1) => {
                (self.all_sites(false, found, questions), SearchStage::WithSites)
            }
            SearchStage::HardSites => (Vec::new(), SearchStage::WithSites),
            SearchStage::WithSites if undercuts(2) && questions.options.edits > 1 => {
                (self.with_sites(found, questions), SearchStage::Pairs)
            }
            SearchStage::Pairs if undercuts(2) && questions.options.edits > 1 => {
                (self.pairs(questions), SearchStage::Several)
            }
            SearchStage::Several if found.is_none() && questions.options.edits > 1 => {
                (self.several(questions), SearchStage::Moves)
            }
            SearchStage::Moves if questions.options.moves && undercuts(1) => {
                (self.moved(found, questions), SearchStage::Ended)
            }
            SearchStage::WithSites | SearchStage::Pairs | SearchStage::Several => {
                (Vec::new(), SearchStage::Moves)
            }
            SearchStage::Moves | SearchStage::Ended => return None,
        };
        self.stage = next;
        let mut all = stage;
        all.sort_by_cached_key(|edits| {
            let idle = questions.is_idle(edits);
            (cost(edits).edits, idle, cost(edits), awkwardness(self.source, edits))
        });
        Some(all)
    }

    /// The strongest edit of a site.
    pub(crate) fn top(&self, site: usize) -> Option<&ProgramEdit> {
        self.tops[site].map(|top| &self.sites[site].choices[top].edit)
    }

    /// The sites that change no instruction that one of these edits changes.
    pub(crate) fn sites_beside(&self, edits: &[&ProgramEdit]) -> Vec<usize> {
        let all = 0..self.sites.len();
        let apart = |site: &usize| {
            self.top(*site).is_some_and(|top| edits.iter().all(|edit| are_apart(edit, top)))
        };
        all.filter(apart).collect()
    }

    /// The smallest sets of sites that forbid the outcome with these edits; `None` if all together do not.
    pub(crate) fn of_sites(
        &self,
        with: &[&ProgramEdit],
        most: usize,
        questions: &mut Questions<'_>,
    ) -> Option<Vec<Vec<ProgramEdit>>> {
        let sites = self.sites_beside(with);
        let every = questions.options.all;
        let sets = minimal_sets(sites.len(), most, every, &mut |set| {
            let sites = set.iter().filter_map(|&at| self.top(sites[at]));
            let answer = questions.forbids(&with.iter().copied().chain(sites).collect::<Vec<_>>());
            (!questions.has_ended()).then_some(answer)
        })?;
        let mut all = Vec::new();
        for set in &sets {
            let chosen = set.iter().map(|&at| sites[at]);
            let chosen = chosen.filter_map(|at| Some((&self.sites[at], self.tops[at]?)));
            let chosen: Vec<(&EditSite, usize)> = chosen.collect();
            all.extend(weakest_choices(with, &chosen, questions));
        }
        Some(all)
    }

    /// The smallest sets of sites. `easy`: only if all sites together are judged soon. `fence.sc` is tried only where nothing
    /// weaker suffices, also no barrier: with many of them a test has many orders.
    fn all_sites(
        &mut self,
        easy: bool,
        found: Option<EditCost>,
        questions: &mut Questions<'_>,
    ) -> Vec<Vec<ProgramEdit>> {
        if self.sites_suffice.is_some() || self.sites.is_empty() {
            return Vec::new();
        }
        // Orders take executions away, and none finishes; another edit may need them.
        if questions.to_finish {
            self.sites_suffice = Some(false);
            self.tops = self.sites.iter().map(|site| site.top(false)).collect();
            return Vec::new();
        }
        let tries: &[bool] = match (questions.options.all, easy) {
            (true, _) => &[true],
            (false, true) => &[false],
            (false, false) => &[false, true],
        };
        for sequential in tries {
            self.tops = self.sites.iter().map(|site| site.top(*sequential)).collect();
            let ask = |all: &[&ProgramEdit], questions: &mut Questions<'_>| {
                if easy || found.is_some() {
                    questions.forbids_soon(all)
                } else {
                    Some(questions.forbids(all)).filter(|_| !questions.has_ended())
                }
            };
            let mut suffice = ask(&self.all_tops(), questions);
            if suffice == Some(false) && questions.undefines(&self.all_tops()) {
                self.drop_undefined(questions);
                self.tops = self.sites.iter().map(|site| site.top(*sequential)).collect();
                suffice = ask(&self.all_tops(), questions);
            }
            match suffice {
                Some(true) => {
                    self.sites_suffice = Some(true);
                    break;
                }
                Some(false) => {}
                None => return Vec::new(),
            }
        }
        if self.sites_suffice.is_none() {
            self.sites_suffice = (!easy).then_some(false);
            return Vec::new();
        }
        let most = questions.options.edits;
        let most = found.map_or(most, |found| found.edits.min(most));
        self.of_sites(&[], most as usize, questions).unwrap_or_default()
    }

    /// The strongest edit of each site.
    fn all_tops(&self) -> Vec<&ProgramEdit> {
        self.sites_beside(&[]).into_iter().filter_map(|site| self.top(site)).collect()
    }

    /// Drops the choices after which a test has no meaning, such as a strong access to memory that may be local: with them,
    /// all sites together say nothing.
    fn drop_undefined(&mut self, questions: &mut Questions<'_>) {
        let strongest: Vec<usize> = (0..self.sites.len())
            .filter(|&site| self.top(site).is_some_and(|top| questions.undefines(&[top])))
            .collect();
        for site in strongest {
            self.sites[site].choices.retain(|choice| !questions.undefines(&[&choice.edit]));
        }
    }

    /// Each other edit alone.
    fn alone(
        &self,
        found: Option<EditCost>,
        questions: &mut Questions<'_>,
    ) -> Vec<Vec<ProgramEdit>> {
        let least = found.filter(|_| !questions.options.all).map_or(u32::MAX, |found| found.edits);
        let mut found: Vec<&ProgramEdit> = Vec::new();
        let waits = |edit: &ProgramEdit| questions.to_finish && edit.kind.only_waits();
        let others = self.others.iter().filter(|edit| edit.cost.edits <= least && !waits(edit));
        for edit in others.collect::<Vec<_>>() {
            // A part of it suffices; of a move, a part is another edit.
            let more = |known: &&ProgramEdit| {
                edit.kind != EditKind::Move
                    && known.revisions.iter().all(|revision| edit.revisions.contains(revision))
            };
            if !found.iter().any(more) && questions.forbids(&[edit]) {
                found.push(edit);
            }
        }
        let mut all: Vec<Vec<ProgramEdit>> =
            found.into_iter().map(|edit| vec![edit.clone()]).collect();
        all.retain({
            let all = all.clone();
            move |edits| !all.iter().any(|other| is_narrower_wait(other, edits))
        });
        all
    }

    /// Another edit with sites.
    fn with_sites(
        &mut self,
        found: Option<EditCost>,
        questions: &mut Questions<'_>,
    ) -> Vec<Vec<ProgramEdit>> {
        if self.sites.is_empty() {
            return Vec::new();
        }
        self.tried.combined = true;
        let most = questions.options.edits as usize - 1;
        let (mut all, mut bases) = (Vec::new(), 0);
        for edit in self.others.iter().take(MOST_WITH_SITES) {
            if questions.to_finish && edit.kind.only_waits() {
                continue;
            }
            let dear = |of: EditCost| edit.cost.edits + 1 > of.edits;
            if bases == MOST_BASES || !questions.options.all && found.is_some_and(dear) {
                break;
            }
            let tops = self.sites_beside(&[edit]).into_iter().filter_map(|site| self.top(site));
            let every: Vec<&ProgramEdit> = tops.chain([edit]).collect();
            // What suffices alone was found.
            if !questions.forbids(&every) || questions.forbids(&[edit]) {
                continue;
            }
            bases += 1;
            all.extend(self.of_sites(&[edit], most, questions).into_iter().flatten());
        }
        let cut = questions.options.all && bases == MOST_BASES;
        if cut || self.others.len() > MOST_WITH_SITES && bases < MOST_BASES {
            questions.limit.get_or_insert(RepairLimit::Combinations(MOST_WITH_SITES));
        }
        all
    }

    /// Two other edits.
    fn pairs(&mut self, questions: &mut Questions<'_>) -> Vec<Vec<ProgramEdit>> {
        self.tried.combined = true;
        let mut all = Vec::new();
        let mut pairs = Vec::new();
        for (at, one) in self.others.iter().enumerate() {
            let later = self.others[at + 1..].iter().filter(|other| {
                let only_wait = one.kind.only_waits() && other.kind.only_waits();
                are_apart(one, other) && !(questions.to_finish && only_wait)
            });
            pairs.extend(later.map(|other| (one.cost + other.cost, one, other)));
        }
        pairs.sort_by_key(|(cost, ..)| *cost);
        let count = pairs.len();
        for (_, one, other) in pairs.into_iter().take(MOST_PAIRS) {
            if questions.has_ended() {
                break;
            }
            let pair = [one, other];
            let alone = |questions: &mut Questions<'_>| {
                pair.into_iter().any(|edit| questions.forbids(&[edit]))
            };
            if questions.forbids(&pair) && !alone(questions) {
                all.push(vec![one.clone(), other.clone()]);
            }
        }
        if count > MOST_PAIRS {
            questions.limit.get_or_insert(RepairLimit::Pairs(MOST_PAIRS));
        }
        all
    }

    /// Each move alone; if none suffices, each with sites.
    fn moved(
        &mut self,
        found: Option<EditCost>,
        questions: &mut Questions<'_>,
    ) -> Vec<Vec<ProgramEdit>> {
        let moves = moves(self.source, &self.copies);
        self.tried.moves = moves.len();
        let alone = moves.iter().filter(|edit| questions.forbids(&[edit]));
        let mut all: Vec<Vec<ProgramEdit>> = alone.map(|edit| vec![edit.clone()]).collect();
        let dear = found.is_some_and(|found| found.edits <= 2 && !questions.options.all);
        if all.is_empty() && !dear && questions.options.edits > 1 {
            let most = questions.options.edits as usize - 1;
            for edit in &moves {
                all.extend(self.of_sites(&[edit], most, questions).into_iter().flatten());
            }
        }
        // Of two neighbours it does not matter which one moves, if both stay as they are.
        let mut known: BTreeSet<String> = BTreeSet::new();
        all.retain(|edits| known.insert(self.source.revised(&revisions_of(edits))));
        all
    }

    /// Whether the edits that were tried can forbid the outcome, if that is known.
    pub(crate) fn possible(&self, found: bool) -> Option<bool> {
        if found || self.sites_suffice == Some(true) {
            return Some(true);
        }
        (self.others.is_empty() && self.sites_suffice.is_some()).then_some(false)
    }
}

/// Whether two edits change other instructions.
pub(crate) fn are_apart(one: &ProgramEdit, other: &ProgramEdit) -> bool {
    let places = |edit: &ProgramEdit| -> Vec<(usize, usize)> {
        edit.revisions.iter().filter_map(Revision::changed).collect()
    };
    let own = places(one);
    !places(other).iter().any(|place| own.contains(place))
}

/// Whether the first set is the other one with a new wait for reads only in the place of one for all.
fn is_narrower_wait(one: &[ProgramEdit], other: &[ProgramEdit]) -> bool {
    let ([one], [other]) = (one, other) else { return false };
    let wide = |revision: &Revision| {
        let mut wide = revision.clone();
        if let Revision::Insert { text, .. } = &mut wide {
            *text = text.replacen("wait_group.read", "wait_group", 1);
        }
        wide
    };
    one.revisions != other.revisions
        && one.revisions.iter().map(wide).eq(other.revisions.iter().cloned())
}

/// Of places of one cost, those come first that are not between two equal opcodes, and for waits those nearest to the
/// end of their threads: what is waited for then has the most time.
fn awkwardness(source: &SourceTest, edits: &[ProgramEdit]) -> (usize, usize) {
    let (mut between, mut before_end) = (0, 0);
    for edit in edits {
        let waits =
            matches!(edit.kind, EditKind::GroupWait | EditKind::PhaseWait | EditKind::GridWait);
        // Those of barriers are in order already.
        if edit.kind == EditKind::Barrier {
            continue;
        }
        for revision in &edit.revisions {
            // A wait that waits for more is as late as it may be, too.
            if let Revision::Replace { thread, cell, .. } = revision {
                before_end += if waits { source.cells[*thread].len() - cell } else { 0 };
            }
            let Revision::Insert { thread, cell, .. } = revision else { continue };
            let cells = &source.cells[*thread];
            let opcode = |cell: usize| cells.get(cell).map(|cell| cell.name.as_str());
            let opcode_before = cell.checked_sub(1).and_then(opcode);
            between += usize::from(opcode_before.is_some() && opcode_before == opcode(*cell));
            before_end += if waits { cells.len() - cell.min(&cells.len()) } else { 0 };
        }
    }
    (between, before_end)
}

/// Of the choices at these places, the combinations that forbid the outcome with the edits of `with` and are weaker than no
/// other one.
fn weakest_choices(
    with: &[&ProgramEdit],
    sites: &[(&EditSite, usize)],
    questions: &mut Questions<'_>,
) -> Vec<Vec<ProgramEdit>> {
    let edit = |site: usize, choice: usize| &sites[site].0.choices[choice].edit;
    let tops: Vec<usize> = sites.iter().map(|(_, top)| *top).collect();
    let mut forbids = |choices: &[usize]| {
        let choices = choices.iter().enumerate().map(|(site, &choice)| edit(site, choice));
        questions.forbids(&with.iter().copied().chain(choices).collect::<Vec<_>>())
    };
    // What does not suffice with the strongest choices elsewhere never does.
    let mut combinations: Vec<Vec<usize>> = vec![Vec::new()];
    for site in 0..sites.len() {
        let suffices = |choice: &usize| {
            let mut choices = tops.clone();
            choices[site] = *choice;
            forbids(&choices)
        };
        let (of, top) = sites[site];
        let weaker = |choice: &usize| of.choices[top].includes(&of.choices[*choice]);
        let few: Vec<usize> = (0..of.choices.len()).filter(weaker).filter(suffices).collect();
        let with = |choices: Vec<usize>| {
            few.iter()
                .map(move |&choice| choices.iter().copied().chain([choice]).collect::<Vec<_>>())
        };
        combinations = combinations.into_iter().flat_map(with).collect();
    }
    let cost_of = |choices: &Vec<usize>| {
        let each = choices.iter().enumerate().map(|(site, &choice)| edit(site, choice).cost);
        each.fold(EditCost::default(), |all, cost| all + cost)
    };
    combinations.sort_by_key(cost_of);
    let includes = |one: &[usize], other: &[usize]| {
        let each = |site: usize| {
            let choices = &sites[site].0.choices;
            choices[one[site]].includes(&choices[other[site]])
        };
        (0..sites.len()).all(each)
    };
    let (mut least, mut weak): (Vec<Vec<usize>>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
    for choices in combinations {
        if least.iter().any(|known| includes(&choices, known))
            || weak.iter().any(|known| includes(known, &choices))
        {
            continue;
        }
        if forbids(&choices) {
            least.push(choices);
        } else {
            weak.push(choices);
        }
    }
    // A cheaper choice may be stronger than another one that was found later.
    let is_least = |choices: &&Vec<usize>| {
        !least.iter().any(|other| other != *choices && includes(choices, other))
    };
    let edits = |choices: &Vec<usize>| {
        let choices = choices.iter().enumerate().map(|(site, &choice)| edit(site, choice));
        with.iter().copied().chain(choices).cloned().collect()
    };
    least.iter().filter(is_least).map(edits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::RepairOptions;
    use crate::samples::{MP, TOGETHER, source};
    use crate::site::sites;

    /// `fence.acq_rel` in P1 is too little, and so is the scope of that in P0.
    const SB: &str = "PTX SB\n{ x=0; y=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
        st.relaxed.gpu.u32 [x], 1 | st.relaxed.gpu.u32 [y], 1 ;\n \
        fence.sc.cta | fence.acq_rel.gpu ;\n \
        ld.relaxed.gpu.u32 r0, [y] | ld.relaxed.gpu.u32 r0, [x] ;\nexists (0:r0=0 /\\ 1:r0=0)\n";

    /// Each set of at most two edits, tried one by one.
    fn tried(source: &SourceTest, questions: &mut Questions<'_>) -> Vec<Vec<ProgramEdit>> {
        let sites = sites(source, &EqualThreads::new(source), questions.until);
        let mut sets: Vec<Vec<(usize, usize)>> = Vec::new();
        for first in 0..sites.len() {
            for choice in 0..sites[first].choices.len() {
                sets.push(vec![(first, choice)]);
                for (second, site) in sites.iter().enumerate().skip(first + 1) {
                    sets.extend(
                        (0..site.choices.len()).map(|at| vec![(first, choice), (second, at)]),
                    );
                }
            }
        }
        let edits = |set: &[(usize, usize)]| -> Vec<ProgramEdit> {
            set.iter().map(|&(site, at)| sites[site].choices[at].edit.clone()).collect()
        };
        sets.retain(|set| questions.forbids(&edits(set).iter().collect::<Vec<_>>()));
        let weaker = |one: &[(usize, usize)], other: &[(usize, usize)]| {
            one.iter().all(|&(site, at)| {
                let choices = &sites[site].choices;
                other.iter().any(|&(there, of)| there == site && choices[of].includes(&choices[at]))
            })
        };
        let least = |set: &&Vec<(usize, usize)>| {
            !sets.iter().any(|other| other != *set && weaker(other, set))
        };
        sets.iter().filter(least).map(|set| edits(set)).collect()
    }

    #[test]
    fn the_search_finds_what_trying_every_pair_finds() {
        let model = model::ptx::model();
        let options = RepairOptions { edits: 2, all: true, ..RepairOptions::new(&model) };
        for text in [MP, SB, TOGETHER] {
            let source = source(text);
            let mut questions = Questions::new(&source, &options);
            let mut tried = tried(&source, &mut questions);
            let fresh = &mut Questions::new(&source, &options);
            let mut stages = Stages::new(&source, fresh);
            let mut found: Vec<Vec<ProgramEdit>> = Vec::new();
            while let Some(sets) = stages.next(None, fresh) {
                found.extend(sets);
            }
            found.retain(|edits| edits.iter().all(|edit| edit.kind != EditKind::Barrier));
            let order = |edits: &Vec<ProgramEdit>| {
                let lines = edits.iter().flat_map(|edit| edit.lines.clone());
                lines.map(|line| line.to_string()).collect::<Vec<_>>()
            };
            tried.sort_by_key(order);
            found.sort_by_key(order);
            assert!(!tried.is_empty());
            assert_eq!(found, tried);
        }
    }
}
