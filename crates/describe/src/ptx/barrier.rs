//! Describes barriers of a CTA, of a cluster and of a warp.

use model::section::{self, Section};

use super::words::said;
use super::{InstructionMeaning, PtxExplanation, asynchronous};

/// Explains a barrier with these parts and operands; `page` is its section. `None` if it is not one.
pub fn account(
    parts: &[&str],
    operands: &str,
    page: Section,
    predicated: bool,
) -> Option<PtxExplanation> {
    let meaning = meaning(parts, operands, page)?;
    asynchronous::explained(meaning, parts, operands, &[], page, predicated)
}

fn meaning(parts: &[&str], operands: &str, page: Section) -> Option<InstructionMeaning> {
    match *parts {
        ["barrier", "cluster", ref rest @ ..] => of_cluster(rest, page),
        ["bar", "warp", "sync", ..] => Some(of_warp(page)),
        ["bar" | "barrier", "cta", ref rest @ ..] | ["bar" | "barrier", ref rest @ ..] => {
            of_cta(rest, operands, page)
        }
        _ => None,
    }
}

/// What no barrier does.
fn limits(meaning: &mut InstructionMeaning, page: Section) {
    meaning.limits.push(said(
        section::ASYNC_OPERATIONS,
        "it does not wait for asynchronous operations that a thread has started: copies need their own wait",
    ));
    meaning.limits.push(said(
        section::ASYNC_PROXY,
        "it is not a proxy fence: before an asynchronous operation reads what threads wrote, a thread executes `fence.proxy.async`",
    ));
    meaning.limits.push(said(page, "threads that never arrive keep the others waiting for ever"));
}

fn of_cta(rest: &[&str], operands: &str, page: Section) -> Option<InstructionMeaning> {
    let counted = operands.contains(',');
    let who = if counted {
        "as many threads as the instruction counts"
    } else {
        "all threads of the CTA"
    };
    let mut meaning = match *rest.first()? {
        "arrive" => {
            let mut meaning = InstructionMeaning::new(said(
                page,
                "arrives at a barrier of the CTA, and goes on without waiting",
            ));
            meaning.promises.push(said(
                section::MEMORY_SYNCHRONIZATION,
                "what its thread did before it happens before what a thread does after the `sync` or `red` of this barrier that \
                 completes with it",
            ));
            let text = "its own thread waits for nothing, and sees nothing of the others by it";
            meaning.limits.push(said(page, text));
            meaning
        }
        kind @ ("sync" | "red") => {
            let what = if kind == "red" { ", and combines a predicate of all" } else { "" };
            let mut meaning = InstructionMeaning::new(said(
                page,
                format!("arrives at a barrier of the CTA, and waits for {who}{what}"),
            ));
            meaning.promises.push(said(
                section::MEMORY_SYNCHRONIZATION,
                "what a thread did before it happens before what each thread that waits there does after it",
            ));
            meaning
        }
        _ => return None,
    };
    meaning.events.push(said(
        page,
        "none of memory: an arrival at the barrier, and for `sync` and `red` a wait",
    ));
    if counted {
        let text =
            "the count is a multiple of the size of a warp: all threads of a warp arrive together";
        meaning.limits.push(said(page, text));
    }
    let text = "threads of other CTAs take no part: they see what these threads did only if one of them releases it, with a scope \
                that includes them, and they acquire it";
    meaning.limits.push(said(section::MORALLY_STRONG, text));
    limits(&mut meaning, page);
    Some(meaning)
}

fn of_cluster(rest: &[&str], page: Section) -> Option<InstructionMeaning> {
    let mut meaning = match *rest.first()? {
        "arrive" => {
            let mut meaning = InstructionMeaning::new(said(
                page,
                "arrives at the barrier of the cluster, and goes on without waiting",
            ));
            if rest.contains(&"relaxed") {
                let text = "`.relaxed` orders nothing: what its thread did before it needs a fence";
                meaning.limits.push(said(page, text));
            } else {
                if !rest.contains(&"release") {
                    meaning.defaults.push(said(page, "`.release`"));
                }
                meaning.promises.push(said(
                    section::MEMORY_SYNCHRONIZATION,
                    "what its thread did before it happens before what each thread of the cluster does after its \
                     `barrier.cluster.wait`",
                ));
            }
            meaning.events.push(said(page, "none of memory: an arrival at the barrier"));
            meaning
        }
        "wait" => {
            let mut meaning = InstructionMeaning::new(said(
                page,
                "waits until all threads of the cluster have arrived at its barrier",
            ));
            if !rest.contains(&"acquire") {
                meaning.defaults.push(said(page, "`.acquire`"));
            }
            meaning.promises.push(said(
                section::MEMORY_SYNCHRONIZATION,
                "what each thread of the cluster did before its `barrier.cluster.arrive`, unless that is `.relaxed`, happens before \
                 what follows it",
            ));
            meaning.promises.push(said(
                page,
                "no CTA of the cluster has exited before it: each has a thread that arrives",
            ));
            meaning.events.push(said(page, "none of memory: a wait"));
            meaning
        }
        _ => return None,
    };
    let text = "that a CTA is still there is known up to this barrier only: before the shared memory of another CTA is accessed for \
                the last time, it must not exit";
    meaning.limits.push(said(page, text));
    limits(&mut meaning, page);
    Some(meaning)
}

fn of_warp(page: Section) -> InstructionMeaning {
    let mut meaning = InstructionMeaning::new(said(
        page,
        "waits until all lanes of the mask execute it with the same mask",
    ));
    meaning.promises.push(said(
        section::MEMORY_SYNCHRONIZATION,
        "what a lane of the mask did before it happens before what each lane of the mask does after it",
    ));
    meaning.events.push(said(page, "none of memory: an arrival, and a wait"));
    let text = "lanes outside the mask, and other warps, take no part; `shfl.sync`, `vote.sync` and the like order no memory";
    meaning.limits.push(said(page, text));
    limits(&mut meaning, page);
    meaning
}
