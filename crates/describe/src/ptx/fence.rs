//! Describes fences: of memory, of proxies, of state spaces and of operations.

use ::ptx::fences::Spelling;
use ::ptx::shape::{InstructionForm, Opcode};
use model::isa::fence::{Fence, FenceOrder};
use model::scope::Scope;
use model::section;

use super::InstructionMeaning;
use super::words::{said, threads};

/// The meaning of a `fence` or `membar`; `None` if its qualifiers break a rule.
pub(super) fn meaning(form: &InstructionForm<'_>) -> Option<InstructionMeaning> {
    let membar = form.opcode == Opcode::Membar;
    let Fence { order, scope, .. } =
        if membar { ptx::meaning::membar(form.q)? } else { ptx::meaning::fence(form.q)? };
    let (name, event) = match order {
        FenceOrder::Acquire => ("an acquire fence", "acquire"),
        FenceOrder::Release => ("a release fence", "release"),
        FenceOrder::AcqRel => ("a fence that acquires and releases", "acquire and release"),
        FenceOrder::Sc => ("a sequentially consistent fence", "sc"),
    };
    let mut is = format!("{name} at scope `.{scope}`");
    if membar {
        is = format!("{is}: a synonym of `fence.sc.{scope}` from `sm_70` on");
    }
    let mut meaning = InstructionMeaning::new(said(section::MEMBAR, is));
    if form.q.order.is_none() && !membar {
        meaning.defaults.push(said(section::MEMBAR, "no order: `.acq_rel`"));
    }
    meaning.events.push(said(
        section::OPERATION_TYPES,
        format!(
            "one fence, which accesses nothing: {event}, scope `.{scope}` ({}), generic proxy",
            threads(scope)
        ),
    ));
    promises(order, &mut meaning);
    limits(order, scope, &mut meaning);
    Some(meaning)
}

fn promises(order: FenceOrder, meaning: &mut InstructionMeaning) {
    let (acquires, releases) = match order {
        FenceOrder::Acquire => (true, false),
        FenceOrder::Release => (false, true),
        FenceOrder::AcqRel | FenceOrder::Sc => (true, true),
    };
    if releases {
        meaning.promises.extend([
            said(
                section::RELEASE_ACQUIRE_PATTERNS,
                "it makes a release pattern with each strong write after it in program order, \
                 `.relaxed` ones and atomics too",
            ),
            said(
                section::CAUSALITY_ORDER,
                "what precedes it happens before what follows an acquire pattern that reads what \
                 its release pattern wrote",
            ),
        ]);
    }
    if acquires {
        meaning.promises.extend([
            said(
                section::RELEASE_ACQUIRE_PATTERNS,
                "it makes an acquire pattern with each strong read before it in program order, \
                 `.relaxed` ones and atomics too",
            ),
            said(
                section::CAUSALITY_ORDER,
                "what precedes a release pattern that its acquire pattern reads from happens \
                 before what follows it",
            ),
        ]);
    }
    if order == FenceOrder::Sc {
        meaning.promises.extend([
            said(
                section::FENCE_SC_ORDER,
                "a single order contains it and all `.sc` fences that are morally strong with it",
            ),
            said(
                section::MEMORY_SYNCHRONIZATION,
                "the earlier of two in that order synchronizes with the later: of two threads that \
                 each write, fence and read what the other writes, one sees the other's write",
            ),
            said(section::FENCE_SC, "that order never contradicts causality order"),
        ]);
    }
}

fn limits(order: FenceOrder, scope: Scope, meaning: &mut InstructionMeaning) {
    let alone = if order == FenceOrder::Sc {
        "alone it has no effect: it synchronizes with other `.sc` fences, and by a strong write and \
         a strong read of one location, each morally strong with the other"
    } else {
        "alone it has no effect: it synchronizes only by a strong write and a strong read of one \
         location, each morally strong with the other"
    };
    meaning.limits.push(said(section::MEMORY_SYNCHRONIZATION, alone));
    meaning.limits.push(said(
        section::MORALLY_STRONG,
        format!(
            "it synchronizes with no thread outside its scope ({}), nor with one whose own scope excludes this thread",
            threads(scope)
        ),
    ));
    match order {
        FenceOrder::Acquire => meaning.limits.push(said(
            section::CAUSALITY_ORDER,
            "it does not release writes before it: that requires `fence.release` or `.acq_rel`",
        )),
        FenceOrder::Release => meaning.limits.push(said(
            section::CAUSALITY_ORDER,
            "it does not make reads before it acquire: that requires `fence.acquire` or `.acq_rel`",
        )),
        FenceOrder::AcqRel => meaning.limits.push(said(
            section::FENCE_SC_ORDER,
            "a write before it may still become visible after a read that follows it: to forbid that, use `fence.sc`",
        )),
        FenceOrder::Sc => {}
    }
    meaning.limits.push(said(
        section::PROXIES,
        "it does not order accesses through other proxies, or through aliases: that requires a proxy fence",
    ));
}

/// The meaning of a proxy fence, or of a fence of a state space or of an operation.
pub(super) fn spelled(spelling: &Spelling) -> InstructionMeaning {
    let is = name(&spelling.parts);
    let mut meaning = InstructionMeaning::new(said(section::MEMBAR, is));
    let covered = spelling.parts == ["proxy", "alias"];
    if covered {
        meaning.events.push(said(
            section::PROXIES,
            "one proxy fence, which accesses nothing and has no scope",
        ));
        meaning.promises.extend([
            said(
                section::CAUSALITY_ORDER,
                "accesses before it through one virtual address are ordered before accesses after it through another of the same location, in its thread and along synchronization",
            ),
            said(section::ALIASES, "without it, two addresses of one location are two proxies"),
        ]);
        meaning.limits.push(said(
            section::MEMORY_SYNCHRONIZATION,
            "it synchronizes with nothing: threads need a release and an acquire as well",
        ));
        return meaning;
    }
    let order = spelling.parts.iter().find(|part| matches!(**part, "acquire" | "release"));
    if spelling.is_modelled() {
        let event = order.map_or(
            "one proxy fence, which accesses nothing and has no scope".to_owned(),
            |order| format!("one fence, which accesses nothing: {order}"),
        );
        meaning.events.push(said(section::PROXIES, event));
    } else {
        meaning.events.push(said(section::PROXIES, "none: the model does not cover this proxy"));
        let text = "`check` gives a program with it the verdict `unsupported`";
        meaning.limits.push(said(section::PROXIES, text));
    }
    meaning.promises.push(said(section::MEMBAR, promise(&spelling.parts)));
    if order.is_none() {
        meaning.limits.push(said(
            section::MEMORY_SYNCHRONIZATION,
            "it synchronizes with nothing: threads need a release and an acquire as well",
        ));
    }
    meaning
}

fn name(parts: &[&str]) -> String {
    match parts {
        ["proxy", "alias"] => {
            "a proxy fence between the virtual addresses of one location, in both directions"
                .to_owned()
        }
        ["proxy", "async"] => {
            "a proxy fence between the generic and the async proxy, in both directions".to_owned()
        }
        ["proxy", "async", space] => format!(
            "a proxy fence between the generic and the async proxy, in both directions, for `.{space}` \
             memory"
        ),
        ["proxy", "alias", order, scope] => {
            format!("a proxy fence between aliases that is also {} at scope `.{scope}`", an(order))
        }
        ["proxy", direction, rest @ ..] => {
            let (to, from) = direction.split_once("::").unwrap_or((direction, direction));
            let order = rest.iter().find(|part| matches!(**part, "acquire" | "release"));
            let window = rest.iter().find_map(|part| part.strip_prefix("sync_restrict::"));
            format!(
                "a proxy fence in one direction, from the {from} to the {to} proxy, that is also {}{}",
                an(order.unwrap_or(&"fence")),
                window.map_or(String::new(), |space| match space.strip_suffix("::read") {
                    Some(space) => format!(", for reads of objects in `.{space}` memory"),
                    None => format!(", for objects in `.{space}` memory"),
                })
            )
        }
        ["alias", "sync_restrict::read", order, scope] => {
            format!(
                "{} at scope `.{scope}` of reads by this thread, also through aliases",
                an(order)
            )
        }
        ["mbarrier_init", ..] => {
            "a release fence at scope `.cluster` of `mbarrier.init` alone".to_owned()
        }
        [order, restrict, scope] => {
            let space = restrict.strip_prefix("sync_restrict::").unwrap_or(restrict);
            format!("{} at scope `.{scope}`, for objects in `.{space}` memory alone", an(order))
        }
        _ => "a fence of its own kind".to_owned(),
    }
}

fn an(order: &str) -> &'static str {
    if order == "acquire" { "an acquire fence" } else { "a release fence" }
}

fn promise(parts: &[&str]) -> String {
    let direction = |parts: &[&str]| {
        let direction = parts.first().and_then(|part| part.split_once("::"));
        direction.map_or(("aliased".to_owned(), "aliased".to_owned()), |(to, from)| {
            (to.to_owned(), from.to_owned())
        })
    };
    match parts {
        ["proxy", "async", ..] => {
            "accesses through the generic proxy before it are ordered before \
             accesses through the async proxy after it, and the other way round"
                .to_owned()
        }
        // ptxas 13.5 emits a wait for the loads of the thread, as for the fence of reads of the async proxy, and no `MEMBAR`.
        ["alias", "sync_restrict::read", ..] => {
            "reads before it in its thread come before accesses after an acquire that synchronizes with it, also by another address \
             (reading B29); stores before it, and what other threads did, are not ordered; no document that is public has \
             this fence"
                .to_owned()
        }
        ["mbarrier_init", ..] => "each `mbarrier.init` before it in its thread comes before what \
             follows an acquire in the cluster that synchronizes with it"
            .to_owned(),
        [.., "sync_restrict::shared::cluster::read", _] => {
            "generic reads before it in its thread come before async accesses after the acquire that \
             synchronizes with it; what other threads did before that is not ordered"
                .to_owned()
        }
        ["proxy", rest @ ..] if rest.contains(&"acquire") => {
            let (to, from) = direction(rest);
            format!(
                "{from} accesses that a release pattern made visible come before {to} accesses after it"
            )
        }
        ["proxy", rest @ ..] => {
            let (to, from) = direction(rest);
            format!(
                "{from} accesses before it come before {to} accesses after the acquire that synchronizes with it"
            )
        }
        _ => "as the fence without `.sync_restrict`, but for the objects in that memory alone"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_spelling_has_a_name_of_its_own() {
        let mut names = BTreeMap::new();
        for spelling in ::ptx::fences::all() {
            let is = name(&spelling.parts);
            assert_ne!(is, "a fence of its own kind");
            // Fences of tensor maps have any scope.
            let mut parts = spelling.parts.clone();
            if spelling.parts[1] == "tensormap::generic" {
                parts.pop();
            }
            assert_eq!(*names.entry(is).or_insert(parts.clone()), parts);
        }
        assert!(names.len() > 20);
    }
}
