//! From a candidate's values and orders to its outcomes: shared by the axiomatic engines.

use model::bits::Row;
use model::program::Observed;
use model::structure::writes_of;
use model::unfold::Unfolding;
use model::values::{Source, Values, final_values};

/// Calls `visit` with each outcome of an execution: one, or one for each choice among the last
/// writes of observed memory.
pub fn outcomes_of<R: Row>(
    u: &Unfolding<'_>,
    values: &mut Values<'_, R>,
    co: &[R],
    visit: &mut dyn FnMut(&[u64]),
) {
    let observed = &u.program.observed;
    let mut outcome = vec![0; observed.len()];
    // Memory that can end in more than one way.
    let mut open: Vec<(usize, Vec<u64>)> = Vec::new();
    for (at, &of) in observed.iter().enumerate() {
        match of {
            Observed::Register { .. } => outcome[at] = values.register(of).unwrap_or(0),
            Observed::Memory { .. } => {
                let bytes = u.observed_bytes(of).expect("memory has bytes");
                let mut finals = final_values(u, values, co, bytes);
                match finals.as_slice() {
                    [only] => outcome[at] = *only,
                    _ => open.push((at, std::mem::take(&mut finals))),
                }
            }
        }
    }
    choose(&open, &mut outcome, visit);
}

fn choose(open: &[(usize, Vec<u64>)], outcome: &mut [u64], visit: &mut dyn FnMut(&[u64])) {
    let Some(((at, values), rest)) = open.split_first() else { return visit(outcome) };
    for &value in values {
        outcome[*at] = value;
        choose(rest, outcome, visit);
    }
}

/// rf as rows: from each write to the reads that read a byte of it.
pub fn reads_from<R: Row>(u: &Unfolding<'_>, sources: &[Source<R>]) -> Vec<R> {
    let mut rf = vec![R::default(); u.events.len()];
    for (slot, source) in u.slots.iter().zip(sources) {
        for write in source.writes.events() {
            rf[write].insert(slot.read);
        }
    }
    rf
}

/// fr as rows, from closed co.
pub fn from_reads<R: Row>(u: &Unfolding<'_>, sources: &[Source<R>], co: &[R]) -> Vec<R> {
    let mut fr = vec![R::default(); u.events.len()];
    for (slot, source) in u.slots.iter().zip(sources) {
        let covering: R = writes_of(u, slot.cell);
        for write in source.writes.events() {
            fr[slot.read] = fr[slot.read].or(co[write].and(covering));
        }
    }
    fr
}
