//! Barriers: where one may be missing, and where one is of another form than it has to be.
//!
//! A barrier may also keep a program from finishing, and one that pairs by number (`bar.warp.sync`, `barrier.cluster`)
//! changes what the later ones order, so more of them are not always better.

use std::collections::{BTreeMap, BTreeSet};

use litmus::revise::SourceTest;
use model::isa::asynchronous::{Asynchronous, MbarrierOp};
use model::isa::bar::{Barrier, BarrierKind};
use model::isa::{Instruction, Operand, Reg};
use model::scope::Placement;

use crate::copies::{EqualThreads, have_one_form};
use crate::edit::{self, EditCost, EditKind, ProgramEdit};
use crate::given::other_beginnings;
use crate::moves;
use crate::place::{CellPlace, InsertionPoint, guards_beside, lines_of, points};
use crate::question::RepairLimit;
use crate::site::asynchronous;
use crate::wait::everywhere;

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
pub(crate) fn barriers(
    source: &SourceTest,
    copies: &EqualThreads,
    left_out: &mut Option<RepairLimit>,
) -> Vec<ProgramEdit> {
    let mut all = Vec::new();
    for level in [BarrierLevel::Warp, BarrierLevel::Cta, BarrierLevel::Cluster] {
        // Those that meet under a guard already come before a barrier of all.
        all.extend(guarded(source, copies, level));
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
                all.extend(new_barriers(source, copies, level, &family, &text, left_out));
            }
        }
        for group in &groups {
            if level == BarrierLevel::Cta {
                for (users, text) in counted(source, group) {
                    all.extend(new_barriers(source, copies, level, &[&users], &text, left_out));
                }
            }
            all.extend(lacking(source, copies, level, group));
        }
        all.extend(out_of_arms(source, copies, level));
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
    left_out: &mut Option<RepairLimit>,
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
    if tuples.len() > MOST_BARRIERS {
        left_out.get_or_insert(RepairLimit::Barriers(MOST_BARRIERS));
        tuples.truncate(MOST_BARRIERS);
    }
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
    let places: Vec<Vec<InsertionPoint>> = units.iter().map(|&unit| of(unit).collect()).collect();
    // Of the threads of one form, the first.
    let model = |at: usize| (0..at).find(|&other| have_one_form(source, units[other], units[at]));
    let models: Vec<Option<usize>> = (0..units.len()).map(model).collect();
    let combined = |aligned: bool| {
        let mut all: Vec<Vec<InsertionPoint>> = places[0].iter().map(|&at| vec![at]).collect();
        for at in 1..units.len() {
            let with = |tuple: Vec<InsertionPoint>| {
                let own = signature(tuple[0]);
                let twin = models[at].filter(|_| aligned).map(|twin| tuple[twin]);
                let beside = move |point: &&InsertionPoint| {
                    twin.is_none_or(|of| (of.cell, of.labelled) == (point.cell, point.labelled))
                };
                let pairs = places[at].iter().filter(move |at| signature(**at) == own);
                pairs
                    .filter(beside)
                    .map(move |&at| tuple.iter().copied().chain([at]).collect::<Vec<_>>())
            };
            all = all.into_iter().flat_map(with).take(MOST_TUPLES).collect();
        }
        all
    };
    let count = places.iter().fold(1_usize, |all, of| all.saturating_mul(of.len()));
    // Of too many, those where the threads of one form have it at one place.
    combined(count > MOST_TUPLES)
}

/// The most combinations of which the likely ones are chosen.
const MOST_TUPLES: usize = 20_000;

/// A barrier is not in an arm of a branch, threads of one form have it at the same place, it comes right after an
/// `mbarrier.init`, or else as late as it may.
fn awkwardness(
    source: &SourceTest,
    units: &[usize],
    tuple: &[InsertionPoint],
) -> (usize, usize, bool, usize) {
    let skipped = tuple.iter().filter(|point| point.is_skipped(source)).count();
    let mut apart = 0;
    for (at, &unit) in units.iter().enumerate() {
        let twin = (0..at).find(|&other| have_one_form(source, units[other], unit));
        apart += twin.map_or(0, |other| tuple[other].cell.abs_diff(tuple[at].cell));
    }
    let late = |point: &InsertionPoint| {
        2 * (source.cells[point.thread].len() - point.cell) + usize::from(!point.labelled)
    };
    let initialized = tuple.iter().any(|point| follows_init(source, *point));
    (skipped, apart, !initialized, tuple.iter().map(late).sum())
}

/// Whether a place is right after an `mbarrier.init`, before another instruction than a barrier or an `init`.
fn follows_init(source: &SourceTest, point: InsertionPoint) -> bool {
    let InsertionPoint { thread, cell, .. } = point;
    let inits = |cell: usize| {
        asynchronous(source, thread, cell).any(|of| {
            matches!(of, Asynchronous::Mbarrier(of) if matches!(of.op, MbarrierOp::Init { .. }))
        })
    };
    let next = lines_of(source, thread, cell);
    let meets = next.iter().any(|line| BarrierLevel::Cta.has(&line.instruction));
    cell > 0 && inits(cell - 1) && !inits(cell) && !meets
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

/// A barrier that a thread has under a guard, also beside other instructions with this guard: some of the threads that run
/// this code meet there.
fn guarded(source: &SourceTest, copies: &EqualThreads, level: BarrierLevel) -> Vec<ProgramEdit> {
    let mut all = Vec::new();
    for thread in (0..source.cells.len()).filter(|&thread| copies.is_first(thread)) {
        let cells = 0..source.cells[thread].len();
        let is_barrier = |cell: &usize| {
            lines_of(source, thread, *cell).iter().any(|line| level.has(&line.instruction))
        };
        let of = cells.filter(is_barrier).map(|cell| &source.cells[thread][cell]);
        let known: BTreeSet<(&str, &str)> =
            of.filter(|of| !of.guard().is_empty()).map(|of| (of.guard(), &*of.text)).collect();
        for (guard, text) in known {
            for point in points(source, thread).into_iter().rev() {
                if point.is_in_wait(source) || !guards_beside(source, point).contains(guard) {
                    continue;
                }
                let cost = level.cost(1);
                let edit = edit::insertion(source, &[point], text, EditKind::Barrier, cost);
                all.push(copies.everywhere(source, edit));
            }
        }
    }
    all
}

/// A barrier that a branch skips, behind the label where that leads: not all threads of a CTA may come by.
fn out_of_arms(
    source: &SourceTest,
    copies: &EqualThreads,
    level: BarrierLevel,
) -> Vec<ProgramEdit> {
    let mut all = Vec::new();
    for thread in (0..source.cells.len()).filter(|&thread| copies.is_first(thread)) {
        let cells = &source.cells[thread];
        for (cell, of) in cells.iter().enumerate() {
            let lines = lines_of(source, thread, cell);
            if !lines.iter().any(|line| level.has(&line.instruction)) {
                continue;
            }
            let mut branches = source.test.program.threads[thread].branches();
            let skips = |(branch, target): (usize, usize)| {
                (branch < of.lines.start && of.lines.start < target).then_some(target)
            };
            let joined = branches.find_map(skips);
            let join = cells.iter().position(|next| Some(next.lines.start) == joined);
            all.extend(join.map(|join| {
                let from = CellPlace { thread, cell };
                let to = InsertionPoint { thread, cell: join, labelled: true };
                moves::moved(source, copies, from, to, level.cost(1))
            }));
        }
    }
    all
}

/// An arrival at a barrier that also waits, or the other way round, and other counts of threads.
fn other_forms(source: &SourceTest, copies: &EqualThreads) -> Vec<ProgramEdit> {
    let mut all = Vec::new();
    let mut renumbered = Vec::new();
    let ids = ids(source);
    let firsts = (0..source.cells.len()).filter(|&thread| copies.is_first(thread));
    for place in firsts.flat_map(|thread| {
        (0..source.cells[thread].len()).map(move |cell| CellPlace { thread, cell })
    }) {
        let [line] = lines_of(source, place.thread, place.cell) else { continue };
        let Instruction::Barrier(of) = &line.instruction else { continue };
        let cell = &source.cells[place.thread][place.cell];
        let cost = edit::NUMBER;
        let mut rename = |from: &str, to: &str| {
            if cell.name.contains(from) {
                let name = cell.name.replacen(from, to, 1);
                all.push(edit::with_opcode(source, place, name, EditKind::BarrierForm, cost));
            }
        };
        match of.kind {
            BarrierKind::Arrive => rename(".arrive", ".sync"),
            BarrierKind::Sync if of.count.is_some() => rename(".sync", ".arrive"),
            BarrierKind::Sync | BarrierKind::Reduce { .. } | BarrierKind::Exchange(_) => {}
        }
        if !cell.guard().is_empty() {
            all.push(edit::unguarded(source, place, cost));
        }
        if let (Operand::Imm(own), false) = (of.id, of.warp) {
            let text = cell.instruction();
            for other in ids.iter().filter(|other| **other != own) {
                // The first operand, but of a reduction.
                let Some((name, operands)) = text.split_once(char::is_whitespace) else { continue };
                let Some(rest) = operands.trim_start().strip_prefix(&own.to_string()) else {
                    continue;
                };
                let text = format!("{name} {other}{rest}");
                renumbered.push(edit::replacement(
                    source,
                    place,
                    text,
                    EditKind::BarrierForm,
                    cost,
                ));
            }
        }
    }
    // The first use of a number is more likely to be right than a later one.
    all.extend(renumbered.into_iter().rev());
    all.extend(everywhere(&all));
    let mut all: Vec<ProgramEdit> =
        all.into_iter().map(|edit| copies.everywhere(source, edit)).collect();
    all.extend(other_counts(source, copies));
    all
}

/// The numbers of the barriers of a test, if they are few.
fn ids(source: &SourceTest) -> BTreeSet<u64> {
    let lines = source.test.program.threads.iter().flat_map(|thread| &thread.lines);
    let ids = lines.filter_map(|line| {
        let Instruction::Barrier(of) = &line.instruction else { return None };
        if let (Operand::Imm(id), false) = (of.id, of.warp) { Some(id) } else { None }
    });
    let ids: BTreeSet<u64> = ids.collect();
    if ids.len() > MOST_IDS { BTreeSet::new() } else { ids }
}

/// The most barriers of a test of which an instruction is tried with the number of another one.
const MOST_IDS: usize = 8;

/// Another count of a barrier, wherever the CTA uses it: as many threads as do, or the count of another use.
fn other_counts(source: &SourceTest, copies: &EqualThreads) -> Vec<ProgramEdit> {
    let mut all = Vec::new();
    for group in groups(source, BarrierLevel::Cta) {
        let mut uses: Vec<(CellPlace, u64, u64)> = Vec::new();
        all.extend(counts_in_registers(source, copies, &group));
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

/// Another count of a barrier where a register has it: as many threads as use such barriers, or the CTA.
fn counts_in_registers(
    source: &SourceTest,
    copies: &EqualThreads,
    group: &[usize],
) -> Vec<ProgramEdit> {
    let registers = |thread: usize| -> BTreeSet<Reg> {
        let lines = source.test.program.threads[thread].lines.iter();
        let counts = lines.filter_map(|line| {
            let Instruction::Barrier(of) = &line.instruction else { return None };
            if let (Some(Operand::Reg(count)), false) = (of.count, of.warp) {
                Some(count)
            } else {
                None
            }
        });
        counts.collect()
    };
    let users = group.iter().filter(|&&thread| !registers(thread).is_empty()).count() as u64;
    let others = |now: u64| {
        let mut all = vec![users, group.len() as u64, now.saturating_sub(1), now.saturating_add(1)];
        all.sort_unstable();
        all.dedup();
        all.retain(|&count| count > 1 && count != now);
        all
    };
    let of = (EditKind::BarrierForm, edit::NUMBER);
    let mut all = Vec::new();
    for &thread in group.iter().filter(|&&thread| copies.is_first(thread)) {
        for register in registers(thread) {
            let edits = other_beginnings(source, copies, thread, register, of, &others);
            all.extend(edits.into_iter().map(|edit| copies.everywhere(source, edit)));
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
