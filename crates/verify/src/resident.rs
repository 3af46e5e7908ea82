//! Launches of which only some CTAs run at once. Reading R113.
//!
//! A CTA that is not resident starts when another one ends. So an execution hangs if as many CTAs as can be resident never
//! end, whatever others have ended before: those are the CTAs of a smaller launch, in which the rest has not started.

use std::collections::BTreeSet;

use judge::{Property, Task, judge};

use crate::compose::compose;
use crate::finding::{FindingKind, KernelFinding};
use crate::launch::{LaunchError, LaunchSpec, ThreadChoice, ThreadPlace};
use crate::module::KernelModule;
use crate::verification::Reader;

/// The most sets of CTAs that are tried.
const MOST: usize = 64;

/// A hang of CTAs that wait for one that is not resident, and whether all sets of CTAs were tried.
pub(crate) struct ResidentHang {
    pub(crate) hang: Option<KernelFinding>,
    pub(crate) complete: bool,
}

/// Looks for a set of CTAs that never end while the rest has not started.
pub(crate) fn hang(
    module: &KernelModule<'_>,
    launch: &LaunchSpec,
    resident: u32,
    task: &Task<'_>,
) -> Result<ResidentHang, Vec<LaunchError>> {
    let places = launch.places().map_err(|error| vec![error])?;
    let ctas: BTreeSet<u32> = places.iter().map(|place| place.cta).collect();
    let ctas: Vec<u32> = ctas.into_iter().collect();
    let mut complete = true;
    let mut tried = 0;
    for size in (resident as usize).max(1)..ctas.len() {
        for started in subsets(&ctas, size) {
            tried += 1;
            if tried > MOST {
                return Ok(ResidentHang { hang: None, complete: false });
            }
            let own: Vec<ThreadPlace> =
                places.iter().filter(|place| started.contains(&place.cta)).copied().collect();
            let part = LaunchSpec {
                threads: ThreadChoice::Pairs(own),
                assertions: Vec::new(),
                resident: None,
                ..launch.clone()
            };
            let composed = compose(module, &part)?;
            let Ok(test) = litmus::parse("launch", composed.text.as_bytes()) else {
                complete = false;
                continue;
            };
            let task = Task { property: Property::Termination, verdict_only: true, ..task.clone() };
            let judgement = judge(&test, &task);
            let Some(stuck) = &judgement.found.seen.stuck else {
                complete &= judgement.found.is_complete();
                continue;
            };
            let waiting: BTreeSet<u32> = stuck
                .iter()
                .map(|stuck| composed.threads[usize::from(stuck.thread.0)].place.cta)
                .collect();
            if waiting.len() < resident as usize {
                continue;
            }
            let reader = Reader { composed: &composed, test: &test };
            let Some(mut finding) = reader.stuck(&judgement.found.seen) else { continue };
            // Places name threads of the whole launch.
            for place in &mut finding.places {
                let of = composed.threads[place.column].place;
                place.column = places.iter().position(|known| *known == of).unwrap_or(0);
            }
            let others: Vec<String> =
                ctas.iter().filter(|cta| !started.contains(cta)).map(u32::to_string).collect();
            finding.message = format!(
                "with {resident} resident CTAs, CTA {} does not start: {}",
                others.join(", "),
                finding.message
            );
            finding.kind = FindingKind::Hang;
            return Ok(ResidentHang { hang: Some(finding), complete });
        }
    }
    Ok(ResidentHang { hang: None, complete })
}

/// All sets of so many of these numbers.
fn subsets(of: &[u32], size: usize) -> Vec<BTreeSet<u32>> {
    match (of.split_first(), size) {
        (_, 0) => vec![BTreeSet::new()],
        (None, _) => Vec::new(),
        (Some((first, rest)), _) => {
            let mut with = subsets(rest, size - 1);
            for set in &mut with {
                set.insert(*first);
            }
            with.extend(subsets(rest, size));
            with
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subsets_of_a_size_are_all_of_them_once() {
        let sets = subsets(&[0, 1, 2, 3], 2);
        let distinct: BTreeSet<&BTreeSet<u32>> = sets.iter().collect();
        assert_eq!((sets.len(), distinct.len()), (6, 6));
        assert!(sets.iter().all(|set| set.len() == 2));
    }
}
