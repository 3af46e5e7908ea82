//! Edits that only help together, and always stand together: a wait for what a thread has copied, and the barrier after it,
//! which tells the others.

use std::collections::BTreeMap;

use litmus::revise::{Revision, SourceTest};

use crate::edit::{EditKind, ProgramEdit};
use crate::place::{follows, is_event};

/// The most pairs of a wait and a barrier.
const MOST_IDIOMS: usize = 600;

/// Each new barrier with the waits that may stand right before it: in each thread that has one, and in one of them alone.
pub(crate) fn idioms<'e>(
    source: &SourceTest,
    others: &'e [ProgramEdit],
) -> Vec<Vec<&'e ProgramEdit>> {
    let is_new = |edit: &&ProgramEdit| {
        edit.revisions.iter().all(|one| matches!(one, Revision::Insert { .. }))
    };
    let barriers = others.iter().filter(|edit| edit.kind == EditKind::Barrier).filter(is_new);
    let mut all = Vec::new();
    for barrier in barriers.take(MOST_IDIOMS) {
        // A new wait, or the commit that one lacks.
        for kind in [EditKind::Commit, EditKind::GroupWait] {
            let waits = others.iter().filter(|edit| edit.kind == kind);
            // The cheapest one of each first thread: of equal threads it is one edit.
            let mut own: BTreeMap<usize, &ProgramEdit> = BTreeMap::new();
            for wait in waits.filter(|wait| is_right_before(source, wait, barrier)) {
                let thread = wait.revisions.iter().find_map(Revision::thread);
                own.entry(thread.unwrap_or_default()).or_insert(wait);
            }
            if own.len() > 1 {
                all.push(own.values().copied().chain([barrier]).collect());
            }
            all.extend(own.into_values().map(|wait| vec![wait, barrier]));
        }
    }
    all
}

/// Whether nothing but arithmetic is between a wait and a barrier, in each thread that has the wait.
fn is_right_before(source: &SourceTest, wait: &ProgramEdit, barrier: &ProgramEdit) -> bool {
    wait.revisions.iter().all(|revision| {
        let (thread, first) = if let Revision::Insert { thread, cell, .. } = revision {
            // What is between a commit and the barrier is the wait.
            (*thread, cell + usize::from(wait.kind == EditKind::Commit))
        } else if let Revision::Replace { thread, cell, .. } = revision {
            (*thread, cell + 1)
        } else {
            return false;
        };
        barrier.revisions.iter().any(|barrier| {
            let Revision::Insert { thread: own, cell: last, .. } = barrier else { return false };
            let passed = |cell: usize| {
                (cell == first || follows(source, thread, cell)) && !is_event(source, thread, cell)
            };
            *own == thread && first <= *last && (first..*last).all(passed)
        })
    })
}
