//! Bytes that the threads of a CTA use within each iteration of a loop with barriers, and write again in the next one before they look at
//! them: what an iteration leaves there, nobody sees.
//!
//! So a thread that waits tells the others of its CTA in shared memory what it has read, as Triton compiles atomics of a whole program.
//! Of these bytes one thread is the writer: on every way from the head of the loop it comes to its write after the same number of barriers
//! of the CTA, at least one. Every other thread comes to its first access behind one more. All threads pass these barriers together, so
//! that each access is ordered with the writes of the iterations before and after it.

use std::collections::BTreeSet;

use crate::accessed::{Accessed, LineAccess, LineBytes};
use crate::agreed::is_plain;
use crate::layout::Layout;
use model::isa::Instruction;
use model::isa::bar::{Barrier, BarrierKind};
use model::memory::Extent;
use model::program::{Program, ThreadId};

/// The barriers after the head of a loop beyond which nothing is looked for.
const MOST_BARRIERS: u8 = 8;

/// Whether that is so of bytes that a thread writes in the loop with this head.
pub(crate) fn is_rewritten(
    program: &Program,
    layout: &Layout,
    accessed: &Accessed<'_>,
    thread: ThreadId,
    head: usize,
    bytes: Extent,
) -> bool {
    if !is_of_cta(program, layout, accessed, thread, bytes) {
        return false;
    }
    let own = &program.threads[usize::from(thread.0)];
    let (mut writer, mut others): (Option<u8>, BTreeSet<u8>) = (None, BTreeSet::new());
    let threads = (0u8..).map(ThreadId).zip(&program.threads);
    for (id, of) in threads.filter(|(_, of)| of.placement.same_cta(own.placement)) {
        let found = of.has_code_of(own).then(|| first_accesses(program, accessed, id, head, bytes));
        let Some(first) = found.flatten() else { return false };
        let only =
            first.writes.first().copied().filter(|_| {
                first.writes.len() == 1 && first.others.is_empty() && !first.may_be_none
            });
        match only {
            Some(at) if writer.is_none() => writer = Some(at),
            Some(_) | None => others.extend(first.writes.union(&first.others)),
        }
    }
    writer.is_some_and(|at| at > 0 && others.iter().all(|&other| other > at))
}

/// Whether only threads of the CTA of a thread access these bytes, each of them by accesses of just these.
pub(crate) fn is_of_cta(
    program: &Program,
    layout: &Layout,
    accessed: &Accessed<'_>,
    thread: ThreadId,
    bytes: Extent,
) -> bool {
    let own = program.threads[usize::from(thread.0)].placement;
    let in_cta = |other: ThreadId| program.threads[usize::from(other.0)].placement.same_cta(own);
    let variable = layout.locations[usize::from(bytes.object)].variable;
    let of_cta = |access: &LineAccess<'_>| match &access.at {
        LineBytes::Known(all) => all
            .iter()
            .filter(|of| of.pa.overlaps(bytes))
            .all(|of| of.pa == bytes && is_plain(access) && in_cta(access.thread)),
        LineBytes::Unknown(reach) => !reach.includes(program, variable),
    };
    program.contested.is_none()
        && layout.has_one_name(bytes.object)
        && !accessed.asynchronous.iter().any(|reach| reach.includes(program, variable))
        && accessed.accesses.iter().all(of_cta)
}

/// After how many barriers of its CTA a thread may come to its first access of some bytes.
#[derive(Default)]
struct FirstAccesses {
    /// Where it writes them.
    writes: BTreeSet<u8>,
    /// Where it reads them, or may do so.
    others: BTreeSet<u8>,
    /// Whether it may come to none.
    may_be_none: bool,
}

/// `None` where barriers are not those that all threads of a CTA wait at.
fn first_accesses(
    program: &Program,
    accessed: &Accessed<'_>,
    thread: ThreadId,
    head: usize,
    bytes: Extent,
) -> Option<FirstAccesses> {
    let lines = &program.threads[usize::from(thread.0)].lines;
    let constants = &accessed.constants[usize::from(thread.0)];
    let mut first = FirstAccesses::default();
    let (mut pending, mut seen) = (vec![(head, 0)], BTreeSet::new());
    while let Some((at, mut passed)) = pending.pop() {
        if !seen.insert((at, passed)) {
            continue;
        }
        let Some(line) = lines.get(at).filter(|_| passed < MOST_BARRIERS) else {
            first.may_be_none = true;
            continue;
        };
        let decision = constants.decision(at);
        if decision.executes == Some(false) {
            pending.push((at + 1, passed));
            continue;
        }
        let executes = decision.executes == Some(true);
        let here = accessed.of_line(thread, at).iter().any(|access| match &access.at {
            LineBytes::Known(all) => all.iter().any(|of| of.pa == bytes),
            LineBytes::Unknown(_) => false,
        });
        if here {
            let writes = executes && matches!(line.instruction, Instruction::Store(_));
            let kind = if writes { &mut first.writes } else { &mut first.others };
            kind.insert(passed);
            continue;
        }
        if let Instruction::Barrier(barrier) = &line.instruction
            && !barrier.warp
        {
            if !executes || !waits_for_all(barrier) {
                return None;
            }
            passed += 1;
        }
        let branch = line.instruction.as_branch();
        if let Some(branch) = branch.filter(|_| decision.taken != Some(false)) {
            pending.push((branch.target.min(lines.len()), passed));
        }
        if branch.is_none() || !executes || decision.taken != Some(true) {
            pending.push((at + 1, passed));
        }
    }
    Some(first)
}

fn waits_for_all(barrier: &Barrier) -> bool {
    let waits = matches!(barrier.kind, BarrierKind::Sync | BarrierKind::Reduce { .. });
    waits && barrier.count.is_none() && barrier.instance.is_none()
}
