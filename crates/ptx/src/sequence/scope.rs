//! Scopes and orders of operations on mbarrier objects: whether what one thread does reaches another.

use model::section;

use crate::rule::Authority;

use super::completion::{is_bulk_copy, object};
use super::flow::{AddressOrigin, FlowStep};
use super::{SequenceRule, Subject};

pub(super) const REMOTE_SCOPE: SequenceRule = SequenceRule {
    code: "mbarrier-remote-cta-scope",
    text: "an arrive on an mbarrier object of another CTA has `.cluster` scope",
    by: Authority::Neither,
    section: || section::SCOPE,
};

pub(super) const REMOTE_WAIT: SequenceRule = SequenceRule {
    code: "mbarrier-remote-cta-wait",
    text: "a wait for an arrive of another CTA has `.cluster` scope",
    by: Authority::Neither,
    section: || section::SCOPE,
};

pub(super) const REMOTE_STATE: SequenceRule = SequenceRule {
    code: "mbarrier-remote-state",
    text: "an arrive on an mbarrier object of another CTA returns no state",
    by: Authority::Document,
    section: || section::MBARRIER,
};

pub(super) const RELAXED_WAIT: SequenceRule = SequenceRule {
    code: "mbarrier-relaxed-wait",
    text: "an acquire fence is between a relaxed wait and an access to shared memory",
    by: Authority::Neither,
    section: || section::RELEASE_ACQUIRE_PATTERNS,
};

pub(super) const INIT_FENCE: SequenceRule = SequenceRule {
    code: "mbarrier-init-fence",
    text: "a release is between `mbarrier.init` and a relaxed arrive at the barrier of the cluster",
    by: Authority::Neither,
    section: || section::MEMBAR,
};

pub(super) fn check(subject: &mut Subject<'_>) {
    remote_arrives(subject);
    relaxed_waits(subject);
    initializations(subject);
}

fn is_arrive(step: &FlowStep<'_>) -> bool {
    step.begins("mbarrier.arrive") || step.begins("mbarrier.arrive_drop")
}

fn is_wait(step: &FlowStep<'_>) -> bool {
    step.begins("mbarrier.try_wait") || step.begins("mbarrier.test_wait")
}

fn remote_arrives(subject: &mut Subject<'_>) {
    let flow = &subject.flow;
    let arrives = flow.all(is_arrive);
    let waits = flow.all(|step| is_wait(step) && !step.has_any(&["cluster", "relaxed"]));
    let place = |at: usize, operand: usize| {
        flow.steps[at].address(operand).map(|text| flow.place(text, at))
    };
    let (mut narrow, mut states, mut narrow_waits) = (Vec::new(), Vec::new(), Vec::new());
    for at in arrives {
        let step = &flow.steps[at];
        let Some(object) = place(at, 1) else { continue };
        let is_generic = !step.parts.iter().any(|part| part.starts_with("shared"));
        if is_generic && object.mapped && step.operands[0] != "_" {
            states.push(at);
        }
        // An object that the function declares is that of its own CTA, in this window, too.
        let is_own =
            matches!(object.origin, AddressOrigin::Name(name) if subject.shared.contains(&name));
        let is_remote = step.has("shared::cluster") && (object.mapped || !is_own)
            || is_generic && object.mapped;
        // With an expected number of bytes it arms the object for copies: it publishes no data of its thread.
        if !is_remote || step.has_any(&["relaxed", "expect_tx"]) {
            continue;
        }
        if step.has("cluster") {
            let same = waits.iter().copied().filter(|&wait| {
                let own = place(wait, 1);
                object.mapped && own.is_some_and(|own| own.is_same(&object) == Some(true))
            });
            narrow_waits.extend(same.map(|wait| (wait, at)));
        } else {
            narrow.push(at);
        }
    }
    for at in narrow {
        let message = "the release of this arrive has `.cta` scope, and the mbarrier object may be of another CTA";
        let default = "without `.release` and a scope it is `.release.cta`";
        let note = if subject.flow.steps[at].has("cta") { "" } else { default };
        let help = "write `.release.cluster`: the thread that waits does not see the accesses before a release of `.cta` scope";
        subject.warn(&REMOTE_SCOPE, at, message, None, [note, help]);
    }
    for at in states {
        let help = "write `_` in the place of the state, or the address without `mapa`";
        let message = "an arrive on an mbarrier object of another CTA returns no state";
        subject.warn(&REMOTE_STATE, at, message, None, ["", help]);
    }
    narrow_waits.sort_unstable();
    narrow_waits.dedup_by_key(|(wait, _)| *wait);
    for (wait, arrive) in narrow_waits {
        let message = "this wait acquires with `.cta` scope, and threads of other CTAs arrive on the mbarrier object";
        let default = "without `.acquire` and a scope it is `.acquire.cta`";
        let note = if subject.flow.steps[wait].has("cta") { "" } else { default };
        let other = Some((arrive, "the arrive of another CTA"));
        let help = "write `.acquire.cluster`: the scope of a release and of an acquire must both include the other thread";
        subject.warn(&REMOTE_WAIT, wait, message, other, [note, help]);
    }
}

/// Whether an instruction orders later accesses of its thread after what another thread has released.
fn acquires(step: &FlowStep<'_>) -> bool {
    match step.parts[0] {
        "membar" => !step.has("proxy"),
        "fence" => {
            !step.has_any(&["release", "mbarrier_init"])
                && (!step.has("proxy") || step.has("acquire"))
        }
        "bar" | "barrier" => !step.has_any(&["arrive", "warp"]),
        "mbarrier" => is_wait(step) && !step.has("relaxed"),
        "ld" | "atom" | "red" => step.has_any(&["acquire", "acq_rel"]),
        "call" => true,
        _ => false,
    }
}

fn relaxed_waits(subject: &mut Subject<'_>) {
    let waits = subject.flow.all(|step| is_wait(step) && step.has("relaxed"));
    if waits.is_empty() {
        return;
    }
    let stops = subject.flow.all(acquires);
    let accesses = subject.flow.all(|step| {
        matches!(step.parts[0], "ld" | "st" | "atom" | "red")
            && !step.has("async")
            && step.has_any(&["shared", "shared::cta", "shared::cluster"])
    });
    for wait in waits {
        let Some(access) =
            accesses.iter().copied().find(|&at| subject.flow.reaches_without(wait, at, &stops))
        else {
            continue;
        };
        let message =
            "a relaxed wait does not order this access after what the mbarrier object stands for";
        let help = "write `.acquire` in the wait, or `fence.acq_rel` with its scope between the wait and the access";
        let other = Some((wait, "the relaxed wait"));
        subject.warn(&RELAXED_WAIT, access, message, other, ["no acquire is between them", help]);
    }
}

/// Whether other CTAs of the cluster use mbarrier objects of this one: their arrives, or copies that complete there.
fn shares_objects(subject: &Subject<'_>) -> bool {
    let flow = &subject.flow;
    (0..flow.steps.len()).any(|at| {
        let step = &flow.steps[at];
        let of_cluster = step.begins("mbarrier") && step.has("shared::cluster");
        let copies = is_bulk_copy(step)
            && (step.parts.iter().any(|part| part.starts_with("multicast"))
                || object(flow, at).is_some_and(|object| object.mapped));
        of_cluster || copies || step.begins("st.async") || step.begins("red.async")
    })
}

fn initializations(subject: &mut Subject<'_>) {
    let arrives =
        subject.flow.all(|step| step.begins("barrier.cluster.arrive") && step.has("relaxed"));
    if arrives.is_empty() || !shares_objects(subject) {
        return;
    }
    let inits = subject.flow.all(|step| step.begins("mbarrier.init"));
    let stops = subject.flow.all(|step| match step.parts[0] {
        "fence" => step.has("mbarrier_init") || !step.has_any(&["proxy", "acquire", "cta"]),
        "membar" => step.has_any(&["gl", "sys"]),
        "barrier" => step.begins("barrier.cluster.arrive") && !step.has("relaxed"),
        "call" => true,
        _ => false,
    });
    for arrive in arrives {
        let init = inits
            .iter()
            .rev()
            .copied()
            .find(|&init| subject.flow.reaches_without(init, arrive, &stops));
        let Some(init) = init else { continue };
        let message = "a relaxed arrive does not show the initialization of an mbarrier object to the cluster";
        let help = "write `fence.mbarrier_init.release.cluster` after `mbarrier.init`, in the same thread, or an arrive without `.relaxed`";
        let other = Some((init, "the initialization"));
        subject.warn(&INIT_FENCE, arrive, message, other, ["no release is between them", help]);
    }
}
