//! What threads do first, where not all that they do can be looked at.

use std::ops::ControlFlow;

use execution::air::{Air, ThinAir};
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

/// What the beginnings of some executions show of what is sought: an execution that makes the program undefined, or reads of what
/// nobody has written. Of all others nothing is known.
pub fn search_beginnings(
    model: &Model,
    program: &Program,
    limits: &Limits,
    sought: Sought<'_>,
) -> ExecutionFacts {
    let nothing = ExecutionFacts::default;
    if !model.is_closed() || !plan::grows_with_choice(model) {
        return nothing();
    }
    let limits = Limits { work: Some(limits.work.map_or(MOST, |work| work.min(MOST))), ..*limits };
    let ends = |held| limits.of_unfolding(held);
    let air = Air::of(program, model.conventions);
    let mut seen = nothing();
    for cut in CUTS {
        let found = Unfolded::beginnings(program, model.conventions, limits.bound, cut, &ends);
        let Ok(Some(unfolded)) = found else { return nothing() };
        let mut job = EnumerationJob {
            model,
            grows: true,
            sought,
            unending: limits.unending,
            beyond: false,
            budget: Budget::new(&limits),
            air: &air,
            seen: &mut seen,
            visit: &mut |_, _| ControlFlow::Continue(()),
        };
        let searched = structures::each_beginning(&unfolded, &mut job);
        if air.take() != ThinAir::None {
            return nothing();
        }
        let ended = matches!(searched, Err(Limit::Interrupted | Limit::Time | Limit::Memory));
        if ended || seen.undefined.is_some() {
            break;
        }
    }
    seen
}
