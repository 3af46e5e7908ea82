//! The cheapest edits that forbid an outcome.
//!
//! First each place takes its strongest edit: the smallest sets of places that forbid the outcome then are those of any
//! solution. Within each set, the weakest choices that suffice are found, by the same law.

use judge::{Alternative, Property, Resting, Verdict};
use litmus::Quantifier;
use litmus::revise::{EXPECTATIONS, Revision, SourceTest};

use crate::edit::{EditCost, EditKind, ProgramEdit};
use crate::hitting::minimal_sets;
use crate::question::{Questions, RepairLimit, RepairOptions, excluded, unanswered};
use crate::site::{EditSite, barriers, sites};
use crate::wait::waits;

/// A set of edits that forbids the outcome. Without any one of them it is allowed.
#[derive(Clone, Debug)]
pub struct Proposal {
    pub edits: Vec<ProgramEdit>,
    pub cost: EditCost,
    /// The engines that found the outcome forbidden.
    pub engines: Vec<&'static str>,
    /// The readings by which the outcome is forbidden.
    pub resting: Resting,
    /// The number of other outcomes that the test had and keeps; `None` if they are not known.
    pub kept: Option<usize>,
    /// The other outcomes that it loses.
    pub lost: Vec<String>,
    /// The file with these edits. If its condition is `exists`, it is `~exists` there.
    pub text: String,
}

/// What is known of the outcome before any change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RepairState {
    /// The test cannot be changed, or has no verdict, for this reason.
    Excluded(String),
    Forbidden,
    Allowed,
    /// The program has no meaning, for this reason; a proposal gives it one.
    Undefined(String),
    /// No execution finishes, for this reason; with a proposal each one does.
    Stuck(String),
    /// The test has another property than that of its condition.
    Keeps(Property),
    /// It does not have it; with a proposal it does.
    Violates(Property),
}

/// What a search for edits found.
#[derive(Clone, Debug)]
pub struct Repairs {
    pub state: RepairState,
    /// Smaller ones first; of the same size, those that rest on no reading, and cheaper ones.
    pub proposals: Vec<Proposal>,
    /// The number of sets of edits that were found; more than there are proposals if not all were judged again.
    pub found: usize,
    /// Whether all edits together forbid the outcome, if that is known. It is not where waits can be changed: of these one
    /// or two are tried.
    pub possible: Option<bool>,
    /// Whether some executions of the test never finish, but others do.
    pub sometimes_stuck: bool,
    /// Whether changes of waits were tried.
    pub asynchronous: bool,
    /// The number of changed tests that were judged.
    pub asked: usize,
    pub limit: Option<RepairLimit>,
    /// Engines differ on a proposal: what one found and the other did not.
    pub disagreement: Option<String>,
}

impl Repairs {
    fn of(state: RepairState) -> Repairs {
        Repairs {
            state,
            proposals: Vec::new(),
            found: 0,
            possible: None,
            asynchronous: false,
            sometimes_stuck: false,
            asked: 0,
            limit: None,
            disagreement: None,
        }
    }
}

/// Finds the cheapest edits after which the outcome of the condition is forbidden: that of `exists` and `~exists`, and
/// what violates `forall`.
pub fn repair(source: &SourceTest, options: &RepairOptions<'_>) -> Repairs {
    if let Some(why) = excluded(source) {
        return Repairs::of(RepairState::Excluded(why));
    }
    let mut questions = Questions::new(source, options);
    let original = questions.original();
    let state = match (&original.verdict, unanswered(&original)) {
        (Verdict::Stuck(why), _) if source.test.program.is_asynchronous() => {
            RepairState::Stuck(why.clone())
        }
        (_, Some(why)) => return Repairs::of(RepairState::Excluded(why)),
        (Verdict::Fails, None) if !options.property.is_of_outcomes() => {
            RepairState::Violates(options.property)
        }
        (Verdict::Holds, None) if !options.property.is_of_outcomes() => {
            return Repairs::of(RepairState::Keeps(options.property));
        }
        (Verdict::Fails, None) => RepairState::Allowed,
        (Verdict::Undefined(why), None) => RepairState::Undefined(why.clone()),
        (
            Verdict::Holds | Verdict::Stuck(_) | Verdict::Undecided(_) | Verdict::Unsupported(_),
            None,
        ) => {
            let sometimes_stuck = original.found.seen.stuck.is_some();
            return Repairs { sometimes_stuck, ..Repairs::of(RepairState::Forbidden) };
        }
    };
    let mut repairs = Repairs::of(state);
    repairs.asynchronous = source.test.program.is_asynchronous();
    let (all, possible) = if questions.to_finish {
        let waits = changed_waits(source, options.edits as usize, &mut questions);
        let possible = !waits.is_empty();
        (waits, possible.then_some(true))
    } else {
        solutions(source, &mut questions)
    };
    repairs.possible = possible;
    repairs.found = all.len();
    let wanted = questions.wanted(&[]);
    let most = options.proposals.saturating_mul(LOOKED_AT);
    for edits in all {
        let robust = repairs.proposals.iter().any(|proposal| proposal.resting.on.is_empty());
        let enough = if robust { options.proposals } else { most };
        if repairs.proposals.len() >= enough {
            break;
        }
        match propose(source, edits, (wanted.as_deref(), true), &mut questions) {
            Ok(Some(proposal)) => repairs.proposals.push(proposal),
            Ok(None) => repairs.found -= 1,
            Err(disagreement) => {
                repairs.disagreement.get_or_insert(disagreement);
                repairs.found -= 1;
            }
        }
    }
    // What no reading undoes is better than what is cheaper. All may rest on a reading that another part of the test needs.
    let names = |proposal: &Proposal| proposal.resting.names();
    let rests = |proposal: &Proposal, name: &str| names(proposal).contains(&name);
    let common: Vec<&str> = repairs.proposals.first().map_or(Vec::new(), |first| {
        let in_all = |name: &&str| repairs.proposals.iter().all(|one| rests(one, name));
        names(first).into_iter().filter(in_all).collect()
    });
    repairs.proposals.sort_by_key(|proposal| {
        let own = names(proposal).iter().filter(|name| !common.contains(name)).count();
        (proposal.cost.edits, own > 0)
    });
    repairs.proposals.truncate(options.proposals);
    if options.proposals > 1 && !questions.to_finish {
        let robust = robust(source, &repairs.proposals, wanted.as_deref(), &mut questions);
        if let Some(robust) = robust {
            repairs.proposals.truncate(options.proposals - 1);
            repairs.proposals.push(robust);
            repairs.found += 1;
        }
    }
    repairs.asked = questions.asked;
    repairs.limit = questions.limit;
    repairs
}

/// Where each proposal rests on a reading that the text does not decide: a proposal that rests on none, if the other choice
/// of the first one leads to it.
fn robust(
    source: &SourceTest,
    proposals: &[Proposal],
    wanted: Option<&[String]>,
    questions: &mut Questions<'_>,
) -> Option<Proposal> {
    if proposals.iter().any(|proposal| proposal.resting.on.is_empty()) {
        return None;
    }
    let rest = proposals.first()?.resting.on.first()?;
    let same = |of: &&Alternative| {
        of.reading.name == rest.reading.name && of.choice.name == rest.choice.name
    };
    let model = questions.options.alternatives.iter().find(same)?.model();
    // It takes about as long as the search so far.
    let most = questions.asked.max(MOST_ROBUST_QUESTIONS);
    let options =
        RepairOptions { model, alternatives: &[], questions: most, ..questions.options.clone() };
    let mut others = questions.under(&options);
    let (all, _) = solutions(source, &mut others);
    let proposals = all.into_iter().take(MOST_ROBUST).filter_map(|edits| {
        // Under one of the choices each edit is needed.
        propose(source, edits, (wanted, false), questions).ok().flatten()
    });
    let mut robust = proposals.filter(|proposal| proposal.resting.on.is_empty());
    robust.next()
}

/// The least number of changed tests that may be judged to find one that rests on no reading.
const MOST_ROBUST_QUESTIONS: usize = 500;

/// How many proposals are judged again to find one that rests on no reading.
const MOST_ROBUST: usize = 6;

/// How many times more proposals are judged again than are wanted, to find one that rests on no reading.
const LOOKED_AT: usize = 3;

/// The edits as a proposal, judged again; `None` if an engine does not confirm it, or an edit is not needed where each has
/// to be.
fn propose(
    source: &SourceTest,
    edits: Vec<ProgramEdit>,
    (wanted, needed): (Option<&[String]>, bool),
    questions: &mut Questions<'_>,
) -> Result<Option<Proposal>, String> {
    if needed && edits.len() > 1 {
        for at in 0..edits.len() {
            let others: Vec<&ProgramEdit> = edits
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .map(|(_, e)| e)
                .collect();
            if questions.forbids(&others) {
                return Ok(None);
            }
        }
    }
    let mut revisions: Vec<Revision> =
        edits.iter().flat_map(|edit| edit.revisions.iter().cloned()).collect();
    let verified = questions.verify(&revisions);
    if let Some(disagreement) = verified.disagreement {
        return Err(disagreement);
    }
    if !verified.forbidden || verified.engines.is_empty() {
        return Ok(None);
    }
    let after = questions.wanted(&revisions);
    let (kept, lost) = match (wanted, after) {
        _ if questions.to_finish => (None, Vec::new()),
        (_, Some(after)) if after.is_empty() => return Ok(None),
        (Some(before), Some(after)) => {
            let lost: Vec<String> =
                before.iter().filter(|outcome| !after.contains(outcome)).cloned().collect();
            (Some(before.len() - lost.len()), lost)
        }
        _ => (None, Vec::new()),
    };
    let claims = questions.options.property.is_of_outcomes() && !questions.to_finish;
    if source.test.quantifier == Quantifier::Exists && claims {
        revisions.push(Revision::Claim(Quantifier::NotExists));
    }
    let resting = questions.resting(&revisions);
    revisions.push(Revision::Forget(EXPECTATIONS));
    Ok(Some(Proposal {
        cost: cost(&edits),
        engines: verified.engines,
        resting,
        kept,
        lost,
        text: source.revised(&revisions),
        edits,
    }))
}

/// Whether the first set is the other one with a new wait for reads only in the place of one for all.
fn is_narrower_wait(one: &[ProgramEdit], other: &[ProgramEdit]) -> bool {
    let ([one], [other]) = (one, other) else { return false };
    let ([one], [other]) = (&one.revisions[..], &other.revisions[..]) else { return false };
    let Revision::Insert { thread, cell, text } = one else { return false };
    let wide = text.replacen("wait_group.read", "wait_group", 1);
    wide != *text && *other == Revision::Insert { thread: *thread, cell: *cell, text: wide }
}

/// Of places of one cost, those come first that are not between two equal opcodes, and for waits those nearest to the
/// end of their threads: what is waited for then has the most time.
fn awkwardness(source: &SourceTest, edits: &[ProgramEdit]) -> (usize, usize) {
    let (mut between, mut before_end) = (0, 0);
    for edit in edits {
        let waits =
            matches!(edit.kind, EditKind::GroupWait | EditKind::PhaseWait | EditKind::GridWait);
        for revision in &edit.revisions {
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

fn cost(edits: &[ProgramEdit]) -> EditCost {
    edits.iter().fold(EditCost::default(), |all, edit| all + edit.cost)
}

/// Every smallest set of edits that forbids the outcome, cheaper ones first; whether all edits together do.
fn solutions(
    source: &SourceTest,
    questions: &mut Questions<'_>,
) -> (Vec<Vec<ProgramEdit>>, Option<bool>) {
    let options = questions.options;
    let sites = sites(source, questions.until);
    let most = options.edits as usize;
    let tops: Vec<usize> = sites.iter().map(EditSite::top).collect();
    let top = |&site: &usize| &sites[site].choices[tops[site]].edit;
    let sets = minimal_sets(sites.len(), most, options.all, &mut |set| {
        let edits: Vec<&ProgramEdit> = set.iter().map(top).collect();
        let answer = questions.forbids(&edits);
        (!questions.has_ended()).then_some(answer)
    });
    let mut all: Vec<Vec<ProgramEdit>> = Vec::new();
    for set in sets.iter().flatten() {
        let chosen: Vec<(&EditSite, usize)> =
            set.iter().map(|&site| (&sites[site], tops[site])).collect();
        all.extend(weakest_choices(&chosen, questions));
    }
    let least = sets.iter().flatten().map(Vec::len).min().filter(|_| !options.all);
    let largest = least.unwrap_or(most);
    all.extend(changed_waits(source, largest, questions));
    for site in barriers(source) {
        let edit = &site.choices[0].edit;
        if edit.cost.edits as usize <= largest && questions.forbids(&[edit]) {
            all.push(vec![edit.clone()]);
        }
    }
    all.retain({
        let all = all.clone();
        move |edits| !all.iter().any(|other| is_narrower_wait(other, edits))
    });
    all.sort_by_key(|edits| (cost(edits), awkwardness(source, edits)));
    let possible = sets.is_some() || !all.is_empty();
    let known = possible || questions.limit.is_none() && !source.test.program.is_asynchronous();
    (all, known.then_some(possible))
}

/// The changed and new waits that suffice alone, or else two of them, or one and a stronger instruction or fence.
fn changed_waits(
    source: &SourceTest,
    most: usize,
    questions: &mut Questions<'_>,
) -> Vec<Vec<ProgramEdit>> {
    let waits = waits(source, questions);
    let mut all: Vec<ProgramEdit> = Vec::new();
    for edit in &waits {
        // A part of it suffices.
        let more = |known: &ProgramEdit| {
            known.revisions.iter().all(|revision| edit.revisions.contains(revision))
        };
        if edit.cost.edits as usize <= most && !all.iter().any(more) && questions.forbids(&[edit]) {
            all.push(edit.clone());
        }
    }
    let mut all: Vec<Vec<ProgramEdit>> = all.into_iter().map(|edit| vec![edit]).collect();
    if all.is_empty() && most > 1 {
        let small: Vec<&ProgramEdit> = waits.iter().filter(|edit| edit.cost.edits == 1).collect();
        all = pairs_of(source, &small, questions);
    }
    if questions.to_finish {
        // A wait for a phase that is over lets everything finish.
        let parity = |edits: &[ProgramEdit]| {
            edits.iter().filter(|edit| edit.kind == EditKind::Parity).count()
        };
        all.sort_by_key(|edits| (cost(edits).edits, parity(edits), cost(edits)));
    }
    all
}

/// The maximum number of pairs that are tried.
const MOST_PAIRS: usize = 2_000;

/// Two changes of which at least one is that of a wait.
fn pairs_of(
    source: &SourceTest,
    waits: &[&ProgramEdit],
    questions: &mut Questions<'_>,
) -> Vec<Vec<ProgramEdit>> {
    let sites = sites(source, questions.until);
    let others: &[EditSite] = if questions.to_finish { &[] } else { &sites };
    let of_waits = |at: usize| waits[at + 1..].iter().map(|other| std::slice::from_ref(*other));
    let choices: Vec<Vec<ProgramEdit>> = others
        .iter()
        .map(|site| site.choices[..=site.top()].iter().map(|choice| choice.edit.clone()).collect())
        .collect();
    let with = |at: usize| of_waits(at).chain(choices.iter().map(Vec::as_slice));
    let pairs = (0..waits.len()).flat_map(|at| with(at).map(move |choices| (at, choices)));
    let places = |edit: &ProgramEdit| -> Vec<(usize, usize)> {
        edit.revisions.iter().filter_map(Revision::changed).collect()
    };
    // Two changes of one instruction.
    let apart = |(at, choices): &(usize, &[ProgramEdit])| {
        let own = places(waits[*at]);
        !own.iter().any(|place| places(&choices[0]).contains(place))
    };
    let mut pairs = pairs.filter(apart);
    let mut all = Vec::new();
    for (at, choices) in pairs.by_ref().take(MOST_PAIRS) {
        let strongest = choices.last().is_some_and(|last| questions.forbids(&[waits[at], last]));
        // The cheapest of those that suffice.
        let least = choices.iter().find(|edit| strongest && questions.forbids(&[waits[at], edit]));
        all.extend(least.map(|edit| vec![waits[at].clone(), edit.clone()]));
    }
    if all.is_empty() && pairs.next().is_some() {
        questions.limit.get_or_insert(RepairLimit::Pairs(MOST_PAIRS));
    }
    all
}

/// Of the choices at these places, the combinations that forbid the outcome and are weaker than no other one.
fn weakest_choices(
    sites: &[(&EditSite, usize)],
    questions: &mut Questions<'_>,
) -> Vec<Vec<ProgramEdit>> {
    let edit = |site: usize, choice: usize| &sites[site].0.choices[choice].edit;
    let tops: Vec<usize> = sites.iter().map(|(_, top)| *top).collect();
    let mut forbids = |choices: &[usize]| {
        let edits: Vec<&ProgramEdit> =
            choices.iter().enumerate().map(|(site, &choice)| edit(site, choice)).collect();
        questions.forbids(&edits)
    };
    // What does not suffice with the strongest choices elsewhere never does.
    let mut combinations: Vec<Vec<usize>> = vec![Vec::new()];
    for site in 0..sites.len() {
        let suffices = |choice: &usize| {
            let mut choices = tops.clone();
            choices[site] = *choice;
            forbids(&choices)
        };
        let few: Vec<usize> = (0..sites[site].0.choices.len()).filter(suffices).collect();
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
        choices.iter().enumerate().map(|(site, &choice)| edit(site, choice).clone()).collect()
    };
    least.iter().filter(is_least).map(edits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MP: &str = "PTX MP\n{ x=0; f=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
        st.weak.u32 [x], 1 | ld.relaxed.gpu.u32 r0, [f] ;\n \
        st.relaxed.gpu.u32 [f], 1 | ld.weak.u32 r1, [x] ;\nexists (1:r0=1 /\\ 1:r1=0)\n";

    /// `fence.acq_rel` in P1 is too little, and so is the scope of that in P0.
    const SB: &str = "PTX SB\n{ x=0; y=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
        st.relaxed.gpu.u32 [x], 1 | st.relaxed.gpu.u32 [y], 1 ;\n \
        fence.sc.cta | fence.acq_rel.gpu ;\n \
        ld.relaxed.gpu.u32 r0, [y] | ld.relaxed.gpu.u32 r0, [x] ;\nexists (0:r0=0 /\\ 1:r0=0)\n";

    const TOGETHER: &str = "PTX MP\n{ x=0; f=0; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n \
        st.weak.u32 [x], 1 | ld.weak.u32 r0, [f] ;\n \
        st.weak.u32 [f], 1 | ld.weak.u32 r1, [x] ;\nexists (1:r0=1 /\\ 1:r1=0)\n";

    fn source(text: &str) -> SourceTest {
        SourceTest::read("test", text.as_bytes()).expect("it is a test")
    }

    /// Each set of at most two edits, tried one by one.
    fn tried(source: &SourceTest, questions: &mut Questions<'_>) -> Vec<Vec<ProgramEdit>> {
        let sites = sites(source, questions.until);
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
            let (mut found, _) = solutions(&source, fresh);
            found.retain(|edits| edits.iter().all(|edit| edit.kind != EditKind::Barrier));
            let order = |edits: &Vec<ProgramEdit>| {
                let lines = edits.iter().flat_map(|edit| edit.lines.clone());
                lines.map(|line| line.to_string()).collect::<Vec<_>>()
            };
            tried.sort_by_key(order);
            found.sort_by_key(order);
            assert!(!tried.is_empty());
            assert_eq!(found, tried);
            assert!(fresh.asked < questions.asked, "{} of {}", fresh.asked, questions.asked);
        }
    }

    #[test]
    fn a_barrier_in_both_threads_of_a_cta_is_one_proposal() {
        let model = model::ptx::model();
        let options = RepairOptions { all: true, proposals: 500, ..RepairOptions::new(&model) };
        let repairs = repair(&source(TOGETHER), &options);
        let barrier = |proposal: &&Proposal| proposal.edits[0].kind == EditKind::Barrier;
        let proposal = repairs.proposals.iter().find(barrier).expect("a barrier suffices");
        assert_eq!((proposal.edits.len(), proposal.cost.edits), (1, 2));
        assert!(!proposal.lost.is_empty());
    }

    #[test]
    fn a_fence_is_proposed_behind_a_loop_that_waits_and_not_in_it() {
        // The places of the proposals: of an acquire load, or of a fence before the instruction that is named.
        let places = |text: &str| {
            let model = model::ptx::model();
            let repairs = repair(&source(text), &RepairOptions::new(&model));
            let next = |proposal: &Proposal| proposal.edits[0].lines[0].next.clone();
            repairs.proposals.iter().map(next).collect::<Vec<Option<String>>>()
        };
        let fence = |text: &str| Some(text.to_owned());
        let text = "PTX spin\n{ x=0; f=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
            st.weak.u32 [x], 1 | L0: ld.relaxed.gpu.u32 r0, [f] ;\n \
            st.release.gpu.u32 [f], 1 | setp.eq.u32 p, r0, 0 ;\n | @p bra L0 ;\n \
            | ld.weak.u32 r1, [x] ;\n~exists (1:r1=0)\n";
        assert_eq!(places(text), [None, fence("ld.weak.u32 r1, [x]")]);
        // What else is in the loop may need it.
        let text = "PTX spin\n{ x=0; f=0; g=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
            st.weak.u32 [x], 1 | L0: ld.relaxed.gpu.u32 r0, [f] ;\n \
            st.release.gpu.u32 [f], 1 | ld.relaxed.gpu.u32 r2, [g] ;\n \
            | setp.eq.u32 p, r0, 0 ;\n | @p bra L0 ;\n | ld.weak.u32 r1, [x] ;\n~exists (1:r1=0)\n";
        let found = places(text);
        assert!(found.contains(&fence("@p bra L0")), "{found:?}");
    }

    #[test]
    fn what_no_order_forbids_has_no_proposal() {
        let text = MP.replace("1:r1=0", "1:r1=1");
        let model = model::ptx::model();
        let repairs = repair(&source(&text), &RepairOptions::new(&model));
        assert_eq!((repairs.possible, repairs.proposals.len()), (Some(false), 0));
        assert_eq!(repairs.state, RepairState::Allowed);
    }
}
