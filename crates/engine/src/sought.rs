//! What a search is for, and what is known of the outcome of a candidate that is not complete.
//!
//! An engine knows nothing of conditions. Its caller says of an outcome, of which some values are known, whether
//! it may still be one that is sought; the engine leaves out the candidates of which it is not.

use execution::expr::{Expr, ExprId};
use execution::structure::writes_of;
use execution::unfold::Unfolding;
use execution::values::{Memo, Source, Values, final_values};
use model::bits::BitRow;
use model::program::{Observed, ThreadId};
use model::value::Value;

use super::budget::Budget;
use super::{ExecutionFacts, Limit};

/// Whether an outcome with these values, of what is observed, may be one that is sought. Where it is false of some
/// values, it is false of these and more; and once it is false of an outcome, it stays false: what was found may be
/// enough.
pub type PartialOutcome<'q> = dyn Fn(&[Option<Value>]) -> bool + 'q;

/// What every outcome that is sought keeps, as a formula. It says no more than a [`PartialOutcome`], in parts.
pub enum Demand<'q> {
    Every(Vec<Demand<'q>>),
    Any(Vec<Demand<'q>>),
    /// Whether an outcome may keep it, which these values of what is observed decide: one or two indices.
    Of(Vec<usize>, Box<PartialOutcome<'q>>),
}

impl Demand<'_> {
    /// What every outcome keeps.
    pub const NONE: Demand<'static> = Demand::Every(Vec::new());
}

/// Says which threads may be exchanged without a difference to what is sought, in classes of two and more. It is
/// consulted where a search is large.
pub type AlikeThreads<'q> = dyn Fn() -> Vec<Vec<ThreadId>> + 'q;

/// What a search is for.
#[derive(Clone, Copy)]
pub enum Sought<'q> {
    /// Every outcome and every fact.
    Everything,
    /// Some outcome of which this is true, and whether some execution never finishes. Others may be reported, too. Where
    /// threads may be exchanged, one order of them is enough.
    Outcomes(&'q PartialOutcome<'q>, &'q AlikeThreads<'q>, &'q Demand<'q>),
    /// One execution that makes the program undefined; no outcome is reported.
    Undefined(&'q AlikeThreads<'q>),
    /// Every read that may return what nobody has written; no outcome is reported, and no other fact.
    UninitialisedReads,
}

impl<'q> Sought<'q> {
    /// Whether one execution with something is enough, and what else there is does not count.
    pub(crate) fn is_of_one_execution(self) -> bool {
        match self {
            Sought::Everything => false,
            Sought::Outcomes(..) | Sought::Undefined(_) | Sought::UninitialisedReads => true,
        }
    }

    /// Which threads may be exchanged, where one execution is enough.
    pub(crate) fn alike(self) -> Option<&'q AlikeThreads<'q>> {
        match self {
            Sought::Everything | Sought::UninitialisedReads => None,
            Sought::Outcomes(_, alike, _) | Sought::Undefined(alike) => Some(alike),
        }
    }

    /// Whether an execution of this structure would say anything new, if it never finishes or makes the program
    /// undefined.
    pub(crate) fn wants(
        self,
        unending: bool,
        unfolding: &Unfolding<'_>,
        seen: &ExecutionFacts,
    ) -> bool {
        let (stuck, faulty) = (unfolding.is_stuck(), unfolding.fault().is_some());
        match self {
            Sought::Everything if stuck => {
                seen.wants_stuck(unfolding) && !(faulty && seen.undefined.is_some())
            }
            Sought::Everything => !faulty || seen.undefined.is_none(),
            Sought::Outcomes(..) => {
                !faulty && (!stuck || unending && seen.knows_less_than(unfolding))
            }
            Sought::Undefined(_) => seen.undefined.is_none(),
            // A program with a fault has no meaning.
            Sought::UninitialisedReads => !faulty && (!stuck || unending),
        }
    }
}

/// How many outcomes a candidate may have, by what memory ends with, that are examined one by one.
const MOST_ASKED: usize = 64;

/// Asks about the outcome of a candidate whose reads have some of their sources. `co`, closed, is what is known of
/// coherence order; without it nothing is known of what memory ends with.
pub(crate) fn may_matter<R: BitRow>(
    asked: &PartialOutcome<'_>,
    u: &Unfolding<'_>,
    values: &mut Values<'_, R>,
    co: Option<&[R]>,
) -> bool {
    let mut open: Vec<(usize, Vec<Value>)> = Vec::new();
    let mut outcome: Vec<Option<Value>> = Vec::with_capacity(u.program.observed.len());
    for (at, &of) in u.program.observed.iter().enumerate() {
        outcome.push(match (of, co) {
            (Observed::Register { .. }, _) => values.register(of),
            (Observed::Memory { .. }, co) => match (u.private_final(at), co) {
                (Some((thread, value)), _) => values.eval(thread, value),
                (None, Some(co)) => match last_values(u, values, co, at).as_deref() {
                    Some(&[only]) => Some(only),
                    Some(several) => {
                        open.push((at, several.to_vec()));
                        None
                    }
                    None => None,
                },
                (None, None) => None,
            },
        });
    }
    if !asked(&outcome) {
        return false;
    }
    let many = open.iter().fold(1usize, |many, (_, values)| many.saturating_mul(values.len()));
    many > MOST_ASKED || open.is_empty() || any_of(asked, &open, &mut outcome)
}

/// Whether any choice of what memory ends with may be sought.
fn any_of(
    asked: &PartialOutcome<'_>,
    open: &[(usize, Vec<Value>)],
    outcome: &mut [Option<Value>],
) -> bool {
    let Some(((at, values), rest)) = open.split_first() else { return asked(outcome) };
    let any = values.iter().any(|&value| {
        outcome[*at] = Some(value);
        any_of(asked, rest, outcome)
    });
    outcome[*at] = None;
    any
}

/// What observed memory may end with, whatever else is ordered; `None` if that is not known.
fn last_values<R: BitRow>(
    u: &Unfolding<'_>,
    values: &mut Values<'_, R>,
    co: &[R],
    observed: usize,
) -> Option<Vec<Value>> {
    let bytes = u.observed_bytes(u.program.observed[observed])?;
    let cells = u.cells[usize::from(bytes.object)].iter().filter(|cell| bytes.contains(**cell));
    for &cell in cells {
        if let Some(own) = values.private(observed, cell) {
            own?;
            continue;
        }
        let covering: R = writes_of(u, cell);
        let mut last = covering.events().filter(|&write| co[write].and(covering).is_empty());
        if last.any(|write| values.written(write, cell).is_none()) {
            return None;
        }
    }
    final_values(u, values, co, observed).ok()
}

/// Drops the sources of slots that no sought candidate has: alone, or beside what is the only source of another
/// slot, they contradict a check of the paths or give an outcome that is not sought. False when none is left.
pub(crate) fn narrow<R: BitRow>(
    asked: Option<&PartialOutcome<'_>>,
    u: &Unfolding<'_>,
    slots: &mut [Vec<R>],
    budget: &mut Budget,
) -> Result<bool, Limit> {
    let only = |options: &Vec<R>| match options[..] {
        [writes] => Source { writes, torn: None },
        _ => Source::default(),
    };
    let mut sources: Vec<Source<R>> = slots.iter().map(only).collect();
    let mut memo: Vec<Memo> = Vec::new();
    let mut fits = |sources: &[Source<R>]| {
        let mut values = Values::reusing(u, sources, std::mem::take(&mut memo));
        let fits = u.checks().all(|(thread, check)| values.check(thread, check) != Some(false))
            && asked.is_none_or(|asked| may_matter(asked, u, &mut values, None));
        memo = values.into_memo();
        fits
    };
    if !fits(&sources) {
        return Ok(false);
    }
    loop {
        let mut changed = false;
        for slot in 0..slots.len() {
            if slots[slot].len() == 1 {
                continue;
            }
            let before = slots[slot].len();
            slots[slot].retain(|&writes| {
                sources[slot] = Source { writes, torn: None };
                budget.follow() && fits(&sources)
            });
            budget.check()?;
            sources[slot] = only(&slots[slot]);
            if slots[slot].is_empty() {
                return Ok(false);
            }
            changed |= slots[slot].len() != before;
        }
        if !changed {
            return Ok(true);
        }
    }
}

/// The slots whose values an outcome or a check of the paths is made of, without what those values are made of.
pub(crate) fn observed_slots(u: &Unfolding<'_>) -> Vec<bool> {
    let mut observed = checked_slots(u);
    for &of in &u.program.observed {
        if let Observed::Register { thread, register } = of {
            let path = u.paths[usize::from(thread.0)];
            mark(u, &mut observed, thread, path.registers[usize::from(register.0)]);
        }
    }
    observed
}

/// The same of the checks alone.
pub(crate) fn checked_slots(u: &Unfolding<'_>) -> Vec<bool> {
    let mut checked = vec![false; u.slots.len()];
    for (thread, check) in u.checks() {
        mark(u, &mut checked, thread, check.expr());
    }
    checked
}

fn mark(u: &Unfolding<'_>, slots: &mut [bool], thread: ThreadId, expr: ExprId) {
    let path = u.paths[usize::from(thread.0)];
    path.exprs.leaves(expr, &mut |leaf| {
        // A path that was cut has registers of reads that it does not come to.
        if let Expr::Read(read) = leaf
            && usize::from(read) < path.events.len()
        {
            let (from, to) = u.slots_of[u.event_of(thread, read)];
            slots[from..to].fill(true);
        }
    });
}
