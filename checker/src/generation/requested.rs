//! The cycles that a command line names.

use std::io::{self, Write};
use std::ops::RangeInclusive;

use clap::Args;
use generate::access::AccessForm;
use generate::kind::CycleKind;
use generate::notation;
use generate::skeleton;
use generate::space::{CycleSpace, MOST_LABELLED, Pattern, Ranges};
use generate::word::{CycleAnnotation, Direction, Link, Via};
use model::scope::Scope;

use super::args::{Choices, annotations, distances, forms, kinds, range, vias};
use crate::complaints;

/// Cycles by their words, or all of a size. Commands have different defaults.
#[derive(Args, Debug)]
pub struct RequestedCycles {
    /// Cycles such as `PodWW Rfe PodRR Fre`, families such as MP, names of generated tests, or skeletons such as `st x; st.rel y | ld.acq y; ld x`
    #[arg(value_name = "CYCLE")]
    pub cycles: Vec<String>,
    /// All cycles of this number of threads: 3, or 2..4
    #[arg(long, value_name = "N..M", value_parser = range, conflicts_with = "cycles")]
    pub threads: Option<RangeInclusive<usize>>,
    /// Of these, the cycles of this number of edges [default: any]
    #[arg(long, value_name = "N..M", value_parser = range, conflicts_with = "cycles")]
    pub edges: Option<RangeInclusive<usize>>,
    /// Which cycles of that number of threads, a list: `critical`; `coherence`, of one location; `atomic`, critical but for threads
    /// that only do an atomic; `pattern`, critical but for threads that begin or end with two accesses to one location; and of
    /// one location `overwritten`, with a read of a write that the cycle overwrites, `divided`, with a write between the
    /// halves of an atomic, and `unordered`, whose reads return what the next thread overwrites; or `all`
    #[arg(long, value_name = "LIST", default_value = "critical", value_parser = kinds, conflicts_with = "cycles")]
    pub kinds: Choices<CycleKind>,
    /// How accesses without an annotation are ordered: a list of `weak`, `volatile`, `relaxed.SCOPE`,
    /// `acquire.SCOPE` for reads, `release.SCOPE` for writes, `acq_rel.SCOPE` for atomics, `mmio`, `mmio.acquire`,
    /// `mmio.release`; or `all`
    #[arg(long, value_name = "LIST", default_value = "weak", value_parser = annotations)]
    pub accesses: Choices<CycleAnnotation>,
    /// Which bytes accesses without a form have, at which address, and by which instruction: a list of `u32`; `u8`,
    /// `u16`, `u64`, and parts at an offset such as `u8.at1`; the vectors `v2.u16`, `v4.u8`, `v2.u32`, `v4.u16`; `alias`, a
    /// second address; `red`; `texture`, `surface`, `constant`; `nc`, `ldu`, `readonly`; or `all`
    #[arg(long, value_name = "LIST", default_value = "u32", value_parser = forms)]
    pub forms: Choices<AccessForm>,
    /// What may be in the place of plain program order: a list of `po`, `addr`, `data`, `ctrl`, `fake`,
    /// `fence.ORDER.SCOPE`, `fence.proxy.PROXY`, `bar.sync`, `barrier.cluster`, `cas.ORDER.SCOPE`; or `all`
    #[arg(long, value_name = "LIST", default_value = "po", value_parser = vias)]
    pub po: Choices<Via>,
    /// Distances between threads without a placement: a list of `cta`, `cluster`, `gpu` and `sys`, each the
    /// narrowest scope that includes two threads; or `all`
    #[arg(long, value_name = "LIST", default_value = "gpu", value_parser = distances)]
    pub place: Choices<Scope>,
}

/// Threads of cycles that are listed, at most.
const MOST: usize = 8;

impl RequestedCycles {
    /// The cycles; nothing after an error was printed.
    pub(crate) fn space(&self, err: &mut dyn Write) -> io::Result<Option<CycleSpace>> {
        let ranges = Ranges {
            annotations: self.accesses.0.clone(),
            forms: self.forms.0.clone(),
            vias: self.po.0.clone(),
            distances: self.place.0.clone(),
        };
        let mut space = CycleSpace::default();
        // The text of each pattern.
        let mut texts = Vec::new();
        for text in &self.cycles {
            let read = if skeleton::is_skeleton(text) {
                skeleton::cycles(text, &ranges.distances)
            } else {
                notation::read(text).map(|written| vec![written])
            };
            match read {
                Ok(all) => {
                    space.patterns.extend(all.iter().map(|written| Pattern::of(written, &ranges)));
                    texts.resize(space.patterns.len(), text);
                }
                Err(diagnostics) => {
                    complaints::complain_of(&diagnostics, err)?;
                    return Ok(None);
                }
            }
        }
        if let Some((first, second)) = space.repeated() {
            let [first, second] = [first, second].map(|at| texts[at]);
            writeln!(err, "error: `{first}` and `{second}` have a cycle in common")?;
            writeln!(err, "help: give the cycle once, with --accesses and --po for what differs")?;
            return Ok(None);
        }
        if let Some(threads) = self.threads.as_ref().filter(|_| self.cycles.is_empty()) {
            let edges = self.edges.clone().unwrap_or(0..=usize::MAX);
            if *threads.end() > MOST {
                writeln!(err, "error: cycles of at most {MOST} threads are listed")?;
                writeln!(
                    err,
                    "help: a single cycle may have 10 threads: causeway gen 'PodWR Fre …'"
                )?;
                return Ok(None);
            }
            space = CycleSpace::of_kinds(&self.kinds.0, threads.clone(), edges, &ranges);
        }
        if space.labelled() > MOST_LABELLED {
            writeln!(err, "error: there are more than 2^112 such cycles, which are not counted")?;
            writeln!(
                err,
                "help: shorten the lists of --accesses, --forms and --po, or take fewer threads"
            )?;
            return Ok(None);
        }
        if space.labelled() == 0 {
            let (error, help) = empty(&space);
            writeln!(err, "error: {error}\nhelp: {help}")?;
            return Ok(None);
        }
        Ok(Some(space))
    }
}

/// Why a space has no cycle, and what to change.
fn empty(space: &CycleSpace) -> (String, &'static str) {
    let what = |direction| match direction {
        Direction::Read => "read",
        Direction::Write => "write",
    };
    let lacks_access = |pattern: &Pattern| {
        let at = pattern.accesses.iter().position(Vec::is_empty)?;
        Some(pattern.shape.directions[at])
    };
    let missing: Option<Vec<Direction>> = space.patterns.iter().map(lacks_access).collect();
    if let Some(missing) = missing.filter(|missing| !missing.is_empty()) {
        let all = |direction| missing.iter().all(|&one| one == direction);
        let which = [Direction::Read, Direction::Write].into_iter().find(|&one| all(one));
        let which = which.map_or("some access".to_owned(), |one| format!("a {}", what(one)));
        let error = format!("no choice of --accesses and --forms fits {which}");
        return (
            error,
            "--accesses weak,relaxed.gpu,acquire.gpu,release.gpu: reads acquire, and writes release",
        );
    }
    let lacks_via = |pattern: &Pattern| {
        let open = |at: &usize| {
            let is_plain = matches!(pattern.shape.links[*at], Link::Order { via: Via::Plain, .. });
            is_plain && pattern.vias[*at].is_empty()
        };
        let at = (0..pattern.shape.len()).find(open)?;
        let next = (at + 1) % pattern.shape.len();
        Some((pattern.shape.directions[at], pattern.shape.directions[next]))
    };
    if let Some((from, to)) = space.patterns.iter().find_map(lacks_via) {
        let error = format!("no choice of --po fits between a {} and a {}", what(from), what(to));
        return (
            error,
            "--po po,fence.sc.gpu: a dependency is on a read, and `data` is that of a write",
        );
    }
    let error = "there are no such cycles".to_owned();
    (
        error,
        "a critical cycle of N threads has 2 to 2 * N edges; --kinds all has more kinds of cycles",
    )
}
