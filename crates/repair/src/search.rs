//! The cheapest edits that forbid an outcome.

use judge::{Alternative, Note, Property, Resting, Verdict};
use litmus::Quantifier;
use litmus::revise::{EXPECTATIONS, Revision, SourceTest};

use crate::copies::EqualThreads;
use crate::edit::{EditCost, EditKind, ProgramEdit, cost, in_order, revisions_of, without};
use crate::edited::number;
use crate::question::{
    Outcomes, Questions, RepairLimit, RepairOptions, excluded, exits, unanswered,
};
use crate::stage::{Stages, Tried};

/// A set of edits that forbids the outcome. Without any one of them it is allowed.
#[derive(Clone, Debug)]
pub struct Proposal {
    pub edits: Vec<ProgramEdit>,
    pub cost: EditCost,
    /// The engines that found the outcome forbidden.
    pub engines: Vec<&'static str>,
    /// The readings by which the outcome is forbidden.
    pub resting: Resting,
    /// Whether some executions still never finish; `None` if that is not known.
    pub stuck: Option<bool>,
    /// Whether a wait is then over before anything has arrived.
    pub idle: bool,
    /// Of another property than that of the condition: whether the condition holds, too; `None` if that is not known.
    pub holds: Option<bool>,
    /// The barriers that do not wait for a thread, since it may have exited.
    pub notes: Vec<Note>,
    /// The number of other outcomes that the test had and keeps; `None` if they are not known.
    pub kept: Option<usize>,
    /// The other outcomes that it loses.
    pub lost: Vec<String>,
    /// Outcomes that the test did not have; `None` if they are not known. Only other operands of waits and arrivals may add
    /// some. A test that is undefined, or never finishes, has none that say anything.
    pub new: Option<Vec<String>>,
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
    /// What is to hold.
    pub property: Property,
    /// Smaller ones first; of the same size, those that rest on no reading, and cheaper ones.
    pub proposals: Vec<Proposal>,
    /// The number of sets of edits that were found; more than there are proposals if not all were judged again.
    pub found: usize,
    /// Whether some set of edits can forbid the outcome, if that is known. It is not where nothing was found and barriers or
    /// waits can be changed: not all sets of these are tried.
    pub possible: Option<bool>,
    pub tried: Tried,
    /// Whether some executions of the test never finish, but others do.
    pub sometimes_stuck: bool,
    /// Of a test that needs no change: the barriers that do not wait for a thread, since it may have exited.
    pub notes: Vec<Note>,
    /// The number of changed tests that were judged.
    pub asked: usize,
    pub limit: Option<RepairLimit>,
    /// Engines differ on a proposal: what one found and the other did not.
    pub disagreement: Option<String>,
}

impl Repairs {
    fn of(state: RepairState, property: Property) -> Repairs {
        Repairs {
            state,
            property,
            proposals: Vec::new(),
            found: 0,
            possible: None,
            tried: Tried::default(),
            sometimes_stuck: false,
            notes: Vec::new(),
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
        return Repairs::of(RepairState::Excluded(why), options.property);
    }
    let siblings = if options.property.is_of_outcomes() {
        EqualThreads::new(source).questions(source)
    } else {
        Vec::new()
    };
    if siblings.is_empty() {
        return searched(source, Questions::new(source, options));
    }
    let repairs = searched(source, Questions::new(source, options).also(siblings));
    if !repairs.proposals.is_empty() || repairs.state == RepairState::Forbidden {
        return repairs;
    }
    // The copies may have other roles.
    searched(source, Questions::new(source, options))
}

/// The search, with what is asked.
fn searched(source: &SourceTest, mut questions: Questions<'_>) -> Repairs {
    let options = questions.options;
    let original = questions.original();
    let state = match (&original.verdict, unanswered(&original)) {
        (Verdict::Stuck(why), _) => RepairState::Stuck(why.clone()),
        (_, Some(why)) => {
            return Repairs::of(RepairState::Excluded(why), options.property);
        }
        (Verdict::Fails, None) if !options.property.is_of_outcomes() => {
            RepairState::Violates(options.property)
        }
        (Verdict::Holds, None) if !options.property.is_of_outcomes() => {
            let notes = exits(&original);
            return Repairs {
                notes,
                ..Repairs::of(RepairState::Keeps(options.property), options.property)
            };
        }
        (Verdict::Fails, None) => RepairState::Allowed,
        (Verdict::Undefined(why), None) => RepairState::Undefined(why.clone()),
        (Verdict::Holds | Verdict::Undecided(_) | Verdict::Unsupported(_), None) => {
            let sometimes_stuck = original.found.seen.stuck.is_some();
            let notes = exits(&original);
            return Repairs {
                sometimes_stuck,
                notes,
                ..Repairs::of(RepairState::Forbidden, options.property)
            };
        }
    };
    let mut repairs = Repairs::of(state, options.property);
    let before = questions.original_outcomes();
    let mut stages = Stages::new(source, &mut questions);
    let most = options.proposals.saturating_mul(LOOKED_AT);
    let least = |repairs: &Repairs| {
        let all = repairs.proposals.iter();
        let cost = |one: &Proposal| {
            // What does not rely on a parity may have one edit more.
            let more = if one.idle { 2 } else { 0 };
            EditCost { edits: one.cost.edits + more, ..one.cost }
        };
        all.map(cost).min()
    };
    while let Some(sets) = stages.next(least(&repairs), &mut questions) {
        repairs.found += sets.len();
        // Those of this stage may be cheaper.
        let first = repairs.proposals.len();
        let ended = questions.has_ended();
        questions.confirm(true);
        for edits in sets {
            let own = &repairs.proposals[first..];
            let robust = own
                .iter()
                .any(|proposal| proposal.resting.on.is_empty() && proposal.holds != Some(false));
            let enough = if robust { options.proposals } else { most };
            if own.len() >= enough {
                break;
            }
            match propose(source, edits, before.as_ref(), true, &mut questions) {
                Ok(Some(proposal)) => repairs.proposals.push(proposal),
                Ok(None) => repairs.found -= 1,
                Err(disagreement) => {
                    repairs.disagreement.get_or_insert(disagreement);
                    repairs.found -= 1;
                }
            }
        }
        questions.confirm(false);
        if ended || questions.has_ended() {
            break;
        }
    }
    repairs.possible = stages.possible(!repairs.proposals.is_empty());
    repairs.tried = stages.tried;
    repairs.proposals.sort_by_key(|one| {
        let new = one.new.as_ref().map_or(0, Vec::len);
        let hangs = one.stuck == Some(true);
        let fails = one.holds == Some(false);
        (one.cost.edits, fails, new, hangs, one.idle, one.cost, one.lost.len())
    });
    order(&mut repairs.proposals);
    repairs.proposals.truncate(options.proposals);
    if options.proposals > 1 && !questions.to_finish {
        let robust = robust(source, &repairs.proposals, before.as_ref(), &mut questions);
        if let Some(robust) = robust {
            repairs.proposals.truncate(options.proposals - 1);
            repairs.proposals.push(robust);
            repairs.found += 1;
        }
    }
    repairs.asked = questions.asked;
    let left_out = questions.left_out.filter(|_| repairs.proposals.is_empty());
    repairs.limit = questions.limit.or(left_out);
    repairs
}

/// What no reading undoes is better than what is cheaper. All may rest on a reading that another part of the test needs.
fn order(proposals: &mut [Proposal]) {
    let names = |proposal: &Proposal| proposal.resting.names();
    let rests = |proposal: &Proposal, name: &str| names(proposal).contains(&name);
    let common: Vec<&str> = proposals.first().map_or(Vec::new(), |first| {
        let in_all = |name: &&str| proposals.iter().all(|one| rests(one, name));
        names(first).into_iter().filter(in_all).collect()
    });
    proposals.sort_by_key(|proposal| {
        let own = names(proposal).iter().filter(|name| !common.contains(name)).count();
        let fails = proposal.holds == Some(false);
        (proposal.cost.edits, fails, proposal.idle, own > 0 || !proposal.notes.is_empty())
    });
}

/// Where each proposal rests on a reading that the text does not decide: a proposal that rests on none, if the other choice
/// of the first one leads to it.
fn robust(
    source: &SourceTest,
    proposals: &[Proposal],
    before: Option<&Outcomes>,
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
    let all = Stages::new(source, &mut others).next(None, &mut others).unwrap_or_default();
    let proposals = all.into_iter().take(MOST_ROBUST).filter_map(|edits| {
        // Under one of the choices each edit is needed.
        propose(source, edits, before, false, questions).ok().flatten()
    });
    let mut robust = proposals.filter(|proposal| proposal.resting.on.is_empty());
    robust.next()
}

/// The least number of changed tests that may be judged to find one that rests on no reading.
const MOST_ROBUST_QUESTIONS: usize = 500;

/// How many proposals are judged again to find one that rests on no reading.
const MOST_ROBUST: usize = 6;

/// How many times more proposals are judged again than are wanted, to find one that rests on no reading, and after which the
/// condition holds.
const LOOKED_AT: usize = 3;

/// The edits as a proposal, judged again; `None` if an engine does not confirm it, it allows an outcome that the test does
/// not, or an edit is not needed where each has to be.
fn propose(
    source: &SourceTest,
    mut edits: Vec<ProgramEdit>,
    before: Option<&Outcomes>,
    needed: bool,
    questions: &mut Questions<'_>,
) -> Result<Option<Proposal>, String> {
    in_order(&mut edits);
    if needed && edits.len() > 1 {
        for at in 0..edits.len() {
            if questions.forbids(&without(&edits, at)) {
                return Ok(None);
            }
        }
    }
    let mut revisions = revisions_of(&edits);
    let verified = questions.verify(&revisions);
    if let Some(disagreement) = verified.disagreement {
        return Err(disagreement);
    }
    if !verified.forbidden || verified.engines.is_empty() {
        return Ok(None);
    }
    let after = questions.all_outcomes(&revisions);
    let (mut kept, mut lost, mut new) = (None, Vec::new(), None);
    let unwanted =
        |after: &Outcomes| after.wanted.is_empty() || after.hangs && !questions.may_hang();
    if after.as_ref().is_some_and(unwanted) && !questions.to_finish {
        return Ok(None);
    }
    let stuck = after.as_ref().map(|after| after.hangs);
    let asks = !questions.options.property.is_of_outcomes();
    let holds = after.as_ref().map(|after| after.holds).filter(|_| asks);
    if let (Some(before), Some(after), false) = (before, &after, questions.to_finish) {
        let without = |all: &[String], of: &[String]| -> Vec<String> {
            all.iter().filter(|outcome| !of.contains(outcome)).cloned().collect()
        };
        lost = without(&before.wanted, &after.wanted);
        kept = Some(before.wanted.len() - lost.len());
        let more = without(&after.wanted, &before.wanted);
        // A wait for another phase sees what the test could not see; nothing else may, unless all was wrong.
        let may = before.wanted.is_empty() || edits.iter().any(|edit| edit.kind.is_of_operand());
        if !more.is_empty() && !may {
            return Ok(None);
        }
        new = Some(more);
    }
    // Whether another order of instructions adds outcomes has to be known.
    if new.is_none()
        && questions.is_defined()
        && edits.iter().any(|edit| edit.kind == EditKind::Move)
    {
        return Ok(None);
    }
    let claims = questions.options.property.is_of_outcomes() && !questions.to_finish;
    if source.test.quantifier == Quantifier::Exists && claims {
        revisions.push(Revision::Claim(Quantifier::NotExists));
    }
    let resting = questions.resting(&revisions);
    revisions.push(Revision::Forget(EXPECTATIONS));
    let text = source.revised(&revisions);
    number(source, &mut edits, &revisions, &text);
    Ok(Some(Proposal {
        cost: cost(&edits),
        engines: verified.engines,
        resting,
        stuck,
        idle: questions.is_idle(&edits),
        holds,
        notes: after.map_or(Vec::new(), |after| after.notes),
        kept,
        lost,
        new,
        text,
        edits,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{MP, TOGETHER, source};

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
