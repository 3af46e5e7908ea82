//! The first `griddepcontrol.launch_dependents` of each CTA: 9.7.15.14.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::EventKind;
use crate::path::Path;
use crate::unfold::{Ends, UnfoldLimit};
use model::scope::Placement;

/// More ways to choose the first ones are not listed.
const MOST_CHOICES: usize = 1 << 12;

/// For each way to choose the first one of each CTA: its thread, and the event of the thread's path. The first one of a
/// thread may be the first one of its CTA; that it is not ordered after another one is an axiom.
pub(super) fn choices(
    paths: &[&Path],
    placements: &[Placement],
    ends: Ends<'_>,
) -> Result<Vec<BTreeSet<(usize, u16)>>, UnfoldLimit> {
    let mut of_cta: BTreeMap<usize, Vec<(usize, u16)>> = BTreeMap::new();
    for (thread, path) in paths.iter().enumerate() {
        let mut events = (0u16..).zip(&path.events);
        let Some((event, _)) = events.find(|(_, of)| of.kind == EventKind::Trigger) else {
            continue;
        };
        let cta = placements.iter().position(|other| other.same_cta(placements[thread]));
        of_cta.entry(cta.unwrap_or(thread)).or_default().push((thread, event));
    }
    let mut all = vec![BTreeSet::new()];
    for candidates in of_cta.values() {
        if all.len() * candidates.len() > MOST_CHOICES {
            return Err(UnfoldLimit::Barriers);
        }
        let with = |chosen: &BTreeSet<_>, one| chosen.iter().copied().chain([one]).collect();
        all = all
            .iter()
            .flat_map(|chosen| candidates.iter().map(move |&one| with(chosen, one)))
            .collect();
    }
    if let Some(limit) = ends(all.len() * size_of::<BTreeSet<(usize, u16)>>()) {
        return Err(limit);
    }
    Ok(all)
}
