//! Barriers: where one may be missing, and where one is of another form than it has to be.
//!
//! A barrier may also keep a program from finishing, and one that pairs by number (`bar.warp.sync`, `barrier.cluster`)
//! changes what the later ones order, so more of them are not always better.

use std::collections::BTreeMap;

use litmus::revise::SourceTest;
use model::isa::bar::{Barrier, BarrierKind};
use model::isa::{Instruction, Operand};
use model::scope::Placement;

use crate::copies::{EqualThreads, have_one_form};
use crate::edit::{self, EditCost, EditKind, ProgramEdit};
use crate::place::{CellPlace, InsertionPoint, lines_of, points};

/// The most combinations of places that are tried for one kind of barrier.
const MOST_BARRIERS: usize = 600;

/// A barrier of all threads of a cluster.
const CLUSTER_BARRIER: &str = "barrier.cluster.arrive.aligned\nbarrier.cluster.wait.aligned";

/// The threads that a barrier is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BarrierLevel {
    Warp,
    Cta,
    Cluster,
}

impl BarrierLevel {
    fn same(self, one: Placement, other: Placement) -> bool {
        match self {
            BarrierLevel::Warp => one.same_warp(other),
            BarrierLevel::Cta => one.same_cta(other),
            BarrierLevel::Cluster => one.same_cluster(other),
        }
    }

    /// Whether an instruction is a barrier of these threads.
    fn has(self, instruction: &Instruction) -> bool {
        if let Instruction::Barrier(of) = instruction {
            return match self {
                BarrierLevel::Warp => of.warp,
                BarrierLevel::Cta => !of.warp,
                BarrierLevel::Cluster => false,
            };
        }
        self == BarrierLevel::Cluster && matches!(instruction, Instruction::ClusterBarrier(_))
    }

    /// What a new barrier costs that is this many instructions.
    fn cost(self, instructions: usize) -> EditCost {
        match self {
            BarrierLevel::Warp => edit::warp_barrier(instructions),
            BarrierLevel::Cta => edit::barrier(instructions),
            BarrierLevel::Cluster => edit::cluster_barrier(instructions),
        }
    }
}

/// Each barrier that may be missing or wrong, those that are likely first.
pub(crate) fn barriers(source: &SourceTest, copies: &EqualThreads) -> Vec<ProgramEdit> {
    let mut all = Vec::new();
    for level in [BarrierLevel::Warp, BarrierLevel::Cta, BarrierLevel::Cluster] {
        let groups = groups(source, level);
        for (at, group) in groups.iter().enumerate() {
            let alike = |other: &&Vec<usize>| {
                other.len() == group.len()
                    && group.iter().zip(*other).all(|(&a, &b)| have_one_form(source, a, b))
            };
            // Several CTAs run the same code.
            if groups[..at].iter().any(|earlier| alike(&earlier)) {
                continue;
            }
            let family: Vec<&Vec<usize>> = groups[at..].iter().filter(alike).collect();
            let text = match level {
                BarrierLevel::Warp => {
                    Some(format!("bar.warp.sync {}", u32::MAX >> (32 - group.len())))
                }
                BarrierLevel::Cta => barrier_id(source, group).map(|id| format!("bar.sync {id}")),
                BarrierLevel::Cluster => Some(CLUSTER_BARRIER.to_owned()),
            };
            if let Some(text) = text {
                all.extend(new_barriers(source, copies, level, &family, &text));
            }
        }
        for group in &groups {
            if level == BarrierLevel::Cta {
                for (users, text) in counted(source, group) {
                    all.extend(new_barriers(source, copies, level, &[&users], &text));
                }
            }
            all.extend(lacking(source, copies, level, group));
        }
    }
    all.extend(other_forms(source, copies));
    all
}

/// The threads that a barrier is for, where there are several.
fn groups(source: &SourceTest, level: BarrierLevel) -> Vec<Vec<usize>> {
    let threads = &source.test.program.threads;
    let mut all: Vec<Vec<usize>> = Vec::new();
    for (thread, of) in threads.iter().enumerate() {
        let joins = |group: &&mut Vec<usize>| level.same(threads[group[0]].placement, of.placement);
        match all.iter_mut().find(joins) {
            Some(group) => group.push(thread),
            None => all.push(vec![thread]),
        }
    }
    all.retain(|group| {
        let place = |thread: usize| threads[thread].placement;
        match level {
            BarrierLevel::Warp => (2..=32).contains(&group.len()),
            BarrierLevel::Cta => group.len() > 1,
            // One CTA has its own.
            BarrierLevel::Cluster => {
                group.iter().any(|&other| !place(group[0]).same_cta(place(other)))
            }
        }
    });
    all
}

/// The same barrier in each thread of these groups, which have one form: the places of the first group are those of all.
fn new_barriers(
    source: &SourceTest,
    copies: &EqualThreads,
    level: BarrierLevel,
    family: &[&Vec<usize>],
    text: &str,
) -> Vec<ProgramEdit> {
    let group = family[0];
    // Threads with equal text have it at one place.
    let mut units: Vec<usize> = Vec::new();
    for &thread in group {
        if !units.iter().any(|&unit| copies.are_equal(unit, thread)) {
            units.push(thread);
        }
    }
    let unit_of = |thread: usize| units.iter().position(|&unit| copies.are_equal(unit, thread));
    let mut tuples = tuples(source, level, &units);
    tuples.sort_by_key(|tuple| awkwardness(source, &units, tuple));
    tuples.truncate(MOST_BARRIERS);
    let cost = level.cost(units.len());
    let edit = |tuple: &Vec<InsertionPoint>| {
        let places = family.iter().flat_map(|other| {
            group.iter().zip(*other).filter_map(|(&own, &thread)| {
                unit_of(own).map(|unit| InsertionPoint { thread, ..tuple[unit] })
            })
        });
        let places: Vec<InsertionPoint> = places.collect();
        edit::insertion(source, &places, text, EditKind::Barrier, cost)
    };
    tuples.iter().map(edit).collect()
}

/// Every combination of places, one of each thread, that may pair with each other: in as many loops, and after as many
/// barriers.
fn tuples(source: &SourceTest, level: BarrierLevel, units: &[usize]) -> Vec<Vec<InsertionPoint>> {
    let is_barrier = |thread: usize, cell: usize| {
        lines_of(source, thread, cell).iter().any(|line| level.has(&line.instruction))
    };
    let before =
        |thread: usize, end: usize| (0..end).filter(|&cell| is_barrier(thread, cell)).count();
    let count = |thread: usize| before(thread, source.cells[thread].len());
    // Where threads have different barriers, numbers say nothing.
    let counted = units.iter().all(|&unit| count(unit) == count(units[0]));
    let signature = |at: InsertionPoint| {
        let number = if counted { before(at.thread, at.cell) } else { 0 };
        (at.depth(source), number)
    };
    let of = |thread: usize| points(source, thread).into_iter().filter(|at| !at.is_in_wait(source));
    let mut all: Vec<Vec<InsertionPoint>> = of(units[0]).map(|at| vec![at]).collect();
    for &unit in &units[1..] {
        let places: Vec<InsertionPoint> = of(unit).collect();
        let with = |tuple: Vec<InsertionPoint>| {
            let own = signature(tuple[0]);
            let pairs = places.iter().filter(move |at| signature(**at) == own);
            pairs.map(move |&at| tuple.iter().copied().chain([at]).collect::<Vec<_>>())
        };
        all = all.into_iter().flat_map(with).take(MOST_TUPLES).collect();
    }
    all
}

/// The most combinations of which the likely ones are chosen.
const MOST_TUPLES: usize = 100_000;

/// A barrier is not in an arm of a branch, threads of one form have it at the same place, and it comes as late as it may.
fn awkwardness(
    source: &SourceTest,
    units: &[usize],
    tuple: &[InsertionPoint],
) -> (usize, usize, usize) {
    let skipped = tuple.iter().filter(|point| point.is_skipped(source)).count();
    let mut apart = 0;
    for (at, &unit) in units.iter().enumerate() {
        let twin = (0..at).find(|&other| have_one_form(source, units[other], unit));
        apart += twin.map_or(0, |other| tuple[other].cell.abs_diff(tuple[at].cell));
    }
    let late = |point: &InsertionPoint| {
        2 * (source.cells[point.thread].len() - point.cell) + usize::from(!point.labelled)
    };
    (skipped, apart, tuple.iter().map(late).sum())
}

/// The barrier that all threads of a group have and none counts: a kernel has one, `__syncthreads`. Otherwise one that none
/// uses.
fn barrier_id(source: &SourceTest, group: &[usize]) -> Option<u64> {
    let of = |thread: usize| {
        let lines = source.test.program.threads[thread].lines.iter();
        lines.filter_map(|line| {
            let Instruction::Barrier(of) = &line.instruction else { return None };
            (!of.warp).then_some(of)
        })
    };
    let id = |of: &Barrier| if let Operand::Imm(id) = of.id { Some(id) } else { None };
    let is_plain = |of: &Barrier| of.count.is_none() && of.kind == BarrierKind::Sync;
    let used = |number: u64| {
        group.iter().flat_map(|&thread| of(thread)).filter(move |one| id(one) == Some(number))
    };
    let shared = |number: &u64| {
        group.iter().all(|&thread| of(thread).any(|one| id(one) == Some(*number)))
            && used(*number).all(is_plain)
    };
    // A number in a register may be any.
    let unknown = group.iter().flat_map(|&thread| of(thread)).any(|one| id(one).is_none());
    let free = |number: &u64| !unknown && used(*number).next().is_none();
    (0..16).find(shared).or_else(|| (0..16).find(free))
}

/// The barriers with a count that some threads of a CTA use, and others not: those threads, and the instruction.
fn counted(source: &SourceTest, group: &[usize]) -> Vec<(Vec<usize>, String)> {
    let mut all: Vec<(Vec<usize>, String)> = Vec::new();
    for &thread in group {
        for text in texts(source, BarrierLevel::Cta, thread) {
            if !text.contains(',') || !text.contains(".sync") || text.contains('%') {
                continue;
            }
            match all.iter_mut().find(|(_, known)| *known == text) {
                Some((users, _)) if users.contains(&thread) => {}
                Some((users, _)) => users.push(thread),
                None => all.push((vec![thread], text)),
            }
        }
    }
    all.retain(|(users, _)| (2..group.len()).contains(&users.len()));
    all
}

/// The barriers of a thread, as they are written, without guards.
fn texts(source: &SourceTest, level: BarrierLevel, thread: usize) -> Vec<String> {
    let is_barrier = |cell: &usize| {
        let mut lines = lines_of(source, thread, *cell).iter();
        lines.any(|line| level.has(&line.instruction))
    };
    let cells = (0..source.cells[thread].len()).filter(is_barrier);
    cells.map(|cell| source.cells[thread][cell].instruction().to_owned()).collect()
}

/// A barrier that other threads of the group have, in one thread alone; an arrival for a wait and the other way round.
fn lacking(
    source: &SourceTest,
    copies: &EqualThreads,
    level: BarrierLevel,
    group: &[usize],
) -> Vec<ProgramEdit> {
    // How often a thread has a barrier, whether it waits there or only arrives; a half of the barrier of the cluster.
    let key = |text: &str| {
        let half = if text.contains(".wait") { ".wait" } else { ".arrive" };
        let of = text.split_once(' ').map_or(half, |(_, operands)| operands);
        of.to_owned()
    };
    let written: BTreeMap<usize, Vec<String>> =
        group.iter().map(|&thread| (thread, texts(source, level, thread))).collect();
    let has = |thread: usize, text: &str| {
        written[&thread].iter().filter(|other| key(other) == key(text)).count()
    };
    let mut all = Vec::new();
    for &thread in group.iter().filter(|&&thread| copies.is_first(thread)) {
        let others = group.iter().filter(|&&other| !copies.are_equal(thread, other));
        let mut known: Vec<String> = Vec::new();
        // A wait at the barrier of the cluster goes with the arrival of the thread itself.
        let own = written[&thread].iter().filter(|text| text.contains(".arrive"));
        for text in others.flat_map(|other| &written[other]).chain(own) {
            let pair = [(".arrive", ".sync"), (".sync", ".arrive")];
            let pair: Vec<String> = match level {
                BarrierLevel::Warp => Vec::new(),
                BarrierLevel::Cta => pair
                    .iter()
                    .filter(|(from, _)| text.contains(from) && text.contains(','))
                    .map(|(from, to)| text.replacen(from, to, 1))
                    .collect(),
                BarrierLevel::Cluster => {
                    let aligned = if text.ends_with(".aligned") { ".aligned" } else { "" };
                    vec![format!("barrier.cluster.wait{aligned}")]
                }
            };
            for text in pair.into_iter().chain([text.clone()]) {
                // Where it has as many as others, one more would meet none of theirs.
                let fewer = group.iter().any(|&one| has(thread, &text) < has(one, &text));
                let halved = level == BarrierLevel::Cluster
                    && has(thread, ".wait") < has(thread, ".arrive")
                    && text.contains(".wait");
                if (fewer || halved) && !text.contains('%') && !known.contains(&text) {
                    known.push(text);
                }
            }
        }
        for text in known {
            // The latest place comes first.
            for point in points(source, thread).into_iter().rev() {
                if point.is_in_wait(source) {
                    continue;
                }
                let mut cost = level.cost(1);
                if level == BarrierLevel::Cluster {
                    // Half of a barrier.
                    cost.weight /= 2;
                }
                let edit = edit::insertion(source, &[point], &text, EditKind::Barrier, cost);
                all.push(copies.everywhere(source, edit));
            }
        }
    }
    all
}

/// An arrival at a barrier that also waits, or the other way round, and other counts of threads.
fn other_forms(source: &SourceTest, copies: &EqualThreads) -> Vec<ProgramEdit> {
    let mut all = Vec::new();
    let firsts = (0..source.cells.len()).filter(|&thread| copies.is_first(thread));
    for place in firsts.flat_map(|thread| {
        (0..source.cells[thread].len()).map(move |cell| CellPlace { thread, cell })
    }) {
        let [line] = lines_of(source, place.thread, place.cell) else { continue };
        let Instruction::Barrier(of) = &line.instruction else { continue };
        let cell = &source.cells[place.thread][place.cell];
        let mut rename = |from: &str, to: &str| {
            if cell.name.contains(from) {
                let name = cell.name.replacen(from, to, 1);
                let cost = edit::NUMBER;
                let edit = edit::with_opcode(source, place, name, EditKind::BarrierForm, cost);
                all.push(copies.everywhere(source, edit));
            }
        };
        match of.kind {
            BarrierKind::Arrive => rename(".arrive", ".sync"),
            BarrierKind::Sync if of.count.is_some() => rename(".sync", ".arrive"),
            BarrierKind::Sync | BarrierKind::Reduce { .. } | BarrierKind::Exchange(_) => {}
        }
    }
    all.extend(other_counts(source));
    all
}

/// Another count of a barrier, wherever the CTA uses it: as many threads as do, or the count of another use.
fn other_counts(source: &SourceTest) -> Vec<ProgramEdit> {
    let mut all = Vec::new();
    for group in groups(source, BarrierLevel::Cta) {
        let mut uses: Vec<(CellPlace, u64, u64)> = Vec::new();
        for &thread in &group {
            for cell in 0..source.cells[thread].len() {
                let [line] = lines_of(source, thread, cell) else { continue };
                let Instruction::Barrier(of) = &line.instruction else { continue };
                if let (Operand::Imm(id), Some(Operand::Imm(count)), false) =
                    (of.id, of.count, of.warp)
                {
                    uses.push((CellPlace { thread, cell }, id, count));
                }
            }
        }
        let mut known: Vec<(u64, u64)> = uses.iter().map(|(_, id, count)| (*id, *count)).collect();
        known.sort_unstable();
        known.dedup();
        for (id, count) in known {
            let of_id = || uses.iter().filter(move |(_, other, _)| *other == id);
            let mut threads: Vec<usize> = of_id().map(|(place, ..)| place.thread).collect();
            threads.dedup();
            let mut counts: Vec<u64> = of_id().map(|(.., count)| *count).collect();
            counts.push(threads.len() as u64);
            counts.sort_unstable();
            counts.dedup();
            for other in counts.into_iter().filter(|&other| other != count) {
                let places = of_id().filter(|(.., now)| *now == count).map(|(place, ..)| *place);
                all.extend(with_count(source, places, other));
            }
        }
    }
    all
}

/// The same count for each of these barriers.
fn with_count(
    source: &SourceTest,
    places: impl Iterator<Item = CellPlace>,
    count: u64,
) -> Option<ProgramEdit> {
    let mut all: Option<ProgramEdit> = None;
    for place in places {
        let cell = &source.cells[place.thread][place.cell];
        let (rest, _) = cell.instruction().rsplit_once(',')?;
        let text = format!("{rest}, {count}");
        let (kind, cost) = (EditKind::BarrierForm, edit::NUMBER);
        let one = edit::replacement(source, place, text, kind, cost);
        match &mut all {
            None => all = Some(one),
            Some(all) => {
                all.cost.weight += 1;
                all.lines.extend(one.lines);
                all.revisions.extend(one.revisions);
            }
        }
    }
    all
}
