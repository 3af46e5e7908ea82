//! Whether threads of a CTA could meet at a barrier between what two of them do.

use execution::unfold::Unfolding;
use model::program::Thread;
use model::scope::Placement;

/// Whether all threads of the CTA of two events come by a place behind the first and before the second. A branch around a place, or
/// a loop around it, may keep some of them from there, or bring them there more often than others.
pub(super) fn can_meet(u: &Unfolding<'_>, first: usize, second: usize) -> bool {
    let of = |event: usize| {
        let event = &u.events[event];
        let thread = &u.program.threads[usize::from(event.thread?.0)];
        Some((thread, usize::from(event.of?.line)))
    };
    let Some(((early, above), (late, below))) = of(first).zip(of(second)) else { return false };
    let mut cta = u.program.threads.iter().filter(|of| of.placement.same_cta(early.placement));
    if cta.all(|of| of.has_code_of(early)) {
        let common = common_lines(u, early.placement);
        return (above + 1..=below).any(|line| comes_by(early, line, &common));
    }
    let end = early.lines.len();
    (above + 1..=end).any(|line| comes_by(early, line, &[]))
        && (0..=below).any(|line| comes_by(late, line, &[]))
}

/// The lines at which each thread of a CTA does something.
fn common_lines(u: &Unfolding<'_>, cta: Placement) -> Vec<usize> {
    let mut common: Option<Vec<usize>> = None;
    for (at, _) in (0..).zip(&u.program.threads).filter(|(_, of)| of.placement.same_cta(cta)) {
        let own = u.events.iter().filter(|event| event.thread.is_some_and(|of| of.0 == at));
        let own: Vec<usize> = own.filter_map(|event| Some(event.of?.line.into())).collect();
        common = Some(match common {
            Some(common) => common.into_iter().filter(|line| own.contains(line)).collect(),
            None => own,
        });
    }
    common.unwrap_or_default()
}

/// Whether each run of a thread comes by the place before a line, and once. `common`: lines that it does execute, so that it takes no
/// branch around one.
fn comes_by(thread: &Thread, line: usize, common: &[usize]) -> bool {
    let repeats = thread.back_branches().any(|(branch, target)| target <= line && line <= branch);
    let around = |place: usize| {
        thread.branches().filter(move |&(branch, target)| branch < place && place < target)
    };
    let beside =
        |&other: &usize| around(line).all(|(branch, target)| branch < other && other < target);
    !repeats && (around(line).next().is_none() || common.iter().any(beside))
}
