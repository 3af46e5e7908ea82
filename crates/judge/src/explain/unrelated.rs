//! Accesses that are not ordered since neither thread learns anything of the other between them.

use model::bits::{BitRow, close};
use model::rel::Model;
use model::section;

use super::candidate::Candidate;
use super::note::WantedOrder;

/// A sentence for the first pair of accesses of two threads that is joined by no read and no barrier, in either direction.
pub(super) fn strangers<R: BitRow>(
    model: &Model,
    candidate: &Candidate<'_, R>,
    pairs: &[WantedOrder],
) -> Option<String> {
    let base = candidate.relation(model, "base-causality")?;
    let mut learns = base.or(candidate.rf);
    close(&mut learns.rows);
    let u = candidate.structure.unfolding;
    let is_apart = |&&WantedOrder { first, second }: &&WantedOrder| {
        let threads = [first, second].map(|event| u.events[event].thread);
        let joined = learns.has(first, second) || learns.has(second, first);
        threads.iter().all(Option::is_some) && threads[0] != threads[1] && !joined
    };
    let sentence = |&WantedOrder { first, second }: &WantedOrder| {
        let (early, late) = (first.min(second), first.max(second));
        let [(here, one), (there, other)] = [early, late].map(|event| candidate.instruction(event));
        format!(
            "Nothing is between {here}'s `{one}` and {there}'s `{other}`: neither thread reads what the other wrote behind its \
             access, and they meet at no barrier there ({}).",
            section::CAUSALITY_ORDER.number,
        )
    };
    pairs.iter().find(is_apart).map(sentence)
}
