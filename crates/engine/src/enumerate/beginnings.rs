//! What makes a program undefined soon, where its paths are too many or too long to list them all.

use std::ops::ControlFlow;

use execution::air::Air;
use execution::unfold::{PathCut, Unfolded};
use model::program::Program;
use model::rel::Model;

use super::EnumerationJob;
use crate::budget::Budget;
use crate::sought::Sought;
use crate::{ExecutionFacts, Limit, Limits, plan, structures};

/// Where paths are cut, one after another: the combinations of a few short beginnings are soon looked at.
const CUTS: [PathCut; 3] = [
    PathCut { paths: 12, events: 3 },
    PathCut { paths: 12, events: 16 },
    PathCut { paths: 48, events: 48 },
];

/// The work of each.
const MOST: u64 = 1 << 14;

/// Looks for an execution that makes the program undefined by what threads do first. `limit` is why not all paths are listed, and stays
/// the answer where there is none: nothing is known of the others.
pub(super) fn search(
    model: &Model,
    program: &Program,
    limits: &Limits,
    sought: Sought<'_>,
    seen: &mut ExecutionFacts,
    limit: Limit,
) -> Result<(), Limit> {
    seen.bound_reached = true;
    if !model.is_closed() || !plan::grows_with_choice(model) {
        return Err(limit);
    }
    let limits = Limits { work: Some(limits.work.map_or(MOST, |work| work.min(MOST))), ..*limits };
    let ends = |held| limits.of_unfolding(held);
    let air = Air::of(program, model.conventions);
    for cut in CUTS {
        let found = Unfolded::beginnings(program, model.conventions, limits.bound, cut, &ends);
        let Ok(Some(unfolded)) = found else { return Err(limit) };
        let mut job = EnumerationJob {
            model,
            grows: true,
            sought,
            unending: false,
            beyond: false,
            budget: Budget::new(&limits),
            air: &air,
            seen,
            visit: &mut |_, _| ControlFlow::Continue(()),
        };
        let searched = structures::each_beginning(&unfolded, &mut job);
        if seen.undefined.is_some() {
            return Ok(());
        }
        if let Err(Limit::Interrupted | Limit::Time | Limit::Memory) = searched {
            return Err(limit);
        }
    }
    Err(limit)
}
