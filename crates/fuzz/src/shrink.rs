//! Makes a program that breaks a law small: instructions, threads and declarations are removed, and what is left is
//! made simpler, as long as the law stays broken.

use std::collections::BTreeSet;

use litmus::arbitrary::{RandomProgram, RandomThread};
use model::scope::Scope;

/// How many smaller programs are tried, at most.
const TRIED: usize = 3_000;

/// The smallest program that is found for which `fails` still holds.
///
/// Programs that do not parse are not tried. The result depends only on the arguments.
pub fn shrink(
    program: &RandomProgram,
    fails: &mut dyn FnMut(&RandomProgram) -> bool,
) -> RandomProgram {
    let mut least = program.clone();
    let mut tried = 0;
    'smaller: loop {
        for candidate in candidates(&least) {
            if tried == TRIED {
                return least;
            }
            if candidate == least
                || litmus::parse("smaller", candidate.to_string().as_bytes()).is_err()
            {
                continue;
            }
            tried += 1;
            if fails(&candidate) {
                least = candidate;
                continue 'smaller;
            }
        }
        return least;
    }
}

/// Smaller programs, the smallest first. Each step goes down, so that no program comes twice.
fn candidates(program: &RandomProgram) -> Vec<RandomProgram> {
    let mut all = Vec::new();
    if program.threads.len() > 1 {
        all.extend((0..program.threads.len()).map(|thread| program.without_thread(thread)));
    }
    joined(program, &mut all);
    removals(program, &mut all);
    // Fewer instructions come before simpler ones, with which there may be no fewer.
    for (thread, of) in program.threads.iter().enumerate() {
        for at in 0..of.cells.len() {
            let shorter = inlined(&of.cells, at).into_iter().chain(merged(&of.cells, at));
            all.extend(shorter.map(|cells| with_cells(program, thread, cells)));
        }
    }
    handed_on(program, &mut all);
    flags(program, &mut all);
    waits(program, &mut all);
    for (thread, of) in program.threads.iter().enumerate() {
        for (at, cell) in of.cells.iter().enumerate() {
            for simple in simpler(cell) {
                let mut cells = of.cells.clone();
                cells[at] = simple;
                all.push(with_cells(program, thread, cells));
            }
        }
    }
    everywhere(program, &mut all);
    for gone in 0..program.observed.len() {
        let mut less = program.clone();
        less.observed.remove(gone);
        all.push(less);
    }
    for gone in 0..program.declarations.len() {
        let mut less = program.clone();
        less.declarations.remove(gone);
        all.push(less);
    }
    pairs(program, &mut all);
    all
}

fn with_cells(program: &RandomProgram, thread: usize, cells: Vec<String>) -> RandomProgram {
    let mut changed = program.clone();
    changed.threads[thread].cells = cells;
    changed
}

/// Without some cells of one thread that follow each other: many first.
fn removals(program: &RandomProgram, all: &mut Vec<RandomProgram>) {
    let longest = program.threads.iter().map(|thread| thread.cells.len()).max().unwrap_or(0);
    for length in (1..=longest).rev() {
        for (thread, of) in program.threads.iter().enumerate() {
            for first in 0..(of.cells.len() + 1).saturating_sub(length) {
                let mut cells = of.cells.clone();
                cells.drain(first..first + length);
                all.push(with_cells(program, thread, cells));
            }
        }
    }
}

/// Without two cells anywhere, which may need each other.
fn pairs(program: &RandomProgram, all: &mut Vec<RandomProgram>) {
    let places: Vec<(usize, usize)> = program
        .threads
        .iter()
        .enumerate()
        .flat_map(|(thread, of)| (0..of.cells.len()).map(move |at| (thread, at)))
        .collect();
    for (index, &(thread, at)) in places.iter().enumerate() {
        for &(other, after) in &places[index + 1..] {
            let mut less = program.clone();
            less.threads[other].cells.remove(after);
            less.threads[thread].cells.remove(at);
            all.push(less);
        }
    }
}

/// With two threads as one, in either order: what they do in turn may be enough.
fn joined(program: &RandomProgram, all: &mut Vec<RandomProgram>) {
    let count = program.threads.len();
    for (first, second) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
        if first == second {
            continue;
        }
        let mut cells = program.threads[first].cells.clone();
        // No register of the second thread is one of the first.
        let own = registers(&cells);
        let renamed = program.threads[second].cells.iter().map(|cell| {
            let numbers = registers(std::slice::from_ref(cell)).into_iter().rev();
            numbers.fold(cell.clone(), |cell, number| {
                let other = own.last().map_or(0, |last| last + 1) + number;
                replaced(&cell, &format!("r{number}"), &format!("r{other}"))
            })
        });
        let renamed: Vec<String> = renamed.collect();
        let one = |cells: Vec<String>| with_cells(program, first, cells).without_thread(second);
        let barrier = |cells: &[String]| cells.iter().position(|cell| cell == "bar.sync 0");
        if let (Some(here), Some(there)) = (barrier(&cells), barrier(&renamed)) {
            // What comes before the barrier in either thread, and then what comes after it.
            let before = [&cells[..here], &renamed[..there]].concat();
            all.push(one([&before[..], &cells[here + 1..], &renamed[there + 1..]].concat()));
            // What comes after the barrier in either, by one thread, and no barrier.
            let mut less = with_cells(program, second, renamed[..there].to_vec());
            less.threads[first].cells =
                [&cells[..here], &cells[here + 1..], &renamed[there + 1..]].concat();
            all.push(less);
        }
        cells.extend(renamed);
        let whole = one(cells);
        // At the place of either.
        let places = [first, second].map(|thread| &program.threads[thread].placement);
        if places[0] != places[1] {
            let mut there = whole.clone();
            there.threads[first - usize::from(second < first)].placement.clone_from(places[1]);
            all.push(there);
        }
        all.push(whole);
    }
}

/// The numbers of the registers of data that cells name.
fn registers(cells: &[String]) -> BTreeSet<usize> {
    let words = cells.iter().flat_map(|cell| cell.split(|c: char| !c.is_ascii_alphanumeric()));
    words.filter_map(|word| word.strip_prefix('r')?.parse().ok()).collect()
}

/// Without a cell that computes a register from another, which replaces it afterwards.
fn inlined(cells: &[String], at: usize) -> Option<Vec<String>> {
    let (opcode, operands) = cells[at].split_once(' ')?;
    if !(opcode.starts_with("add.") || opcode.starts_with("mov.")) {
        return None;
    }
    let mut operands = operands.split(", ");
    let (result, source) = (operands.next()?, operands.next()?);
    let mut left = cells.to_vec();
    left.remove(at);
    for cell in &mut left[at..] {
        *cell = replaced(cell, result, source);
    }
    Some(left)
}

/// The order and the scope of a fence.
fn fence(cell: &str) -> Option<(&str, &str)> {
    let (order, scope) = cell.strip_prefix("fence.")?.rsplit_once('.')?;
    matches!(order, "sc" | "acq_rel" | "acquire" | "release").then_some((order, scope))
}

/// The location of an access.
fn address(cell: &str) -> Option<&str> {
    Some(cell.split_once('[')?.1.split_once(']')?.0)
}

/// An access with an order and a scope, if it can have the order.
fn with_order(cell: &str, order: &str, scope: &str) -> Option<String> {
    let (opcode, operands) = cell.split_once(' ')?;
    let old = |part: &str| {
        ["weak", "volatile", "relaxed"].contains(&part) || Scope::NAMES.contains(&part)
    };
    let parts: Vec<&str> = opcode.split('.').filter(|part| !old(part)).collect();
    let fits = match parts[0] {
        "ld" => order == "acquire",
        "st" | "red" => order == "release",
        name => name == "atom",
    };
    fits.then(|| format!("{}.{order}.{scope}.{} {operands}", parts[0], parts[1..].join(".")))
}

/// With a fence as part of the access after it, of the one before it, or of both.
fn merged(cells: &[String], at: usize) -> Vec<Vec<String>> {
    let Some((_, scope)) = fence(&cells[at]) else { return Vec::new() };
    let before = at.checked_sub(1).and_then(|at| with_order(&cells[at], "acquire", scope));
    let after = cells.get(at + 1).and_then(|cell| with_order(cell, "release", scope));
    let mut all = Vec::new();
    let mut spliced = |from: usize, to: usize, whole: Vec<String>| {
        let mut less = cells.to_vec();
        less.splice(from..to, whole);
        all.push(less);
    };
    if let (Some(before), Some(after)) = (&before, &after) {
        let both = with_order(&cells[at + 1], "acq_rel", scope);
        let same = address(before) == address(after);
        let both = both.filter(|_| same);
        if let Some(both) = both {
            spliced(at - 1, at + 2, vec![both]);
        }
        spliced(at - 1, at + 2, vec![before.clone(), after.clone()]);
    }
    if let Some(before) = before {
        spliced(at - 1, at + 1, vec![before]);
    }
    if let Some(after) = after {
        spliced(at, at + 2, vec![after]);
    }
    all
}

/// With a flag in the place of a barrier of a cluster, at which one thread arrives and for which another waits.
fn flags(program: &RandomProgram, all: &mut Vec<RandomProgram>) {
    let waits = |cell: Option<&String>| cell.is_some_and(|cell| cell.contains("cluster.wait"));
    // Where a thread arrives, and whether it waits there.
    let arrival = |(thread, of): (usize, &RandomThread)| {
        let at = of.cells.iter().position(|cell| cell.contains("cluster.arrive"))?;
        Some((thread, at, waits(of.cells.get(at + 1))))
    };
    let places: Vec<(usize, usize, bool)> =
        program.threads.iter().enumerate().filter_map(arrival).collect();
    for &(one, here, both) in &places {
        for &(other, there, _) in places.iter().filter(|of| of.0 != one && of.2) {
            let own = registers(&program.threads[other].cells);
            let fresh = own.last().map_or(0, |last| last + 1);
            let mut less = program.clone();
            less.declarations.push("uint32_t flag=0".to_owned());
            let release = "st.release.cluster.u32 [flag], 1".to_owned();
            let acquire = format!("ld.acquire.cluster.u32 r{fresh}, [flag]");
            let end = if both { here + 2 } else { here + 1 };
            less.threads[one].cells.splice(here..end, [release]);
            less.threads[other].cells.splice(there..there + 2, [acquire]);
            all.push(less);
        }
    }
}

/// With a test of a phase in the place of a loop that waits for it, or with a copy of the generic proxy in the place of one
/// that is awaited so.
fn waits(program: &RandomProgram, all: &mut Vec<RandomProgram>) {
    let fresh = program.instructions();
    for (thread, of) in program.threads.iter().enumerate() {
        for (at, two) in of.cells.windows(2).enumerate() {
            let Some((_, wait)) = two[0].split_once(": mbarrier.try_wait.") else { continue };
            if !two[1].starts_with("@!p bra ") {
                continue;
            }
            let mut replace = |from: usize, by: Vec<String>| {
                let mut cells = of.cells.clone();
                cells.splice(from..at + 2, by);
                all.push(with_cells(program, thread, cells));
            };
            let wait = wait.replace(" p,", &format!(" p{fresh},"));
            replace(at, vec![format!("mbarrier.test_wait.{wait}")]);
            let copy = at.checked_sub(2).and_then(|from| {
                let operands = of.cells[from].strip_prefix("cp.async.bulk.shared::cta.global.")?;
                let operands = operands.split_once(' ')?.1.strip_suffix(", [b]")?;
                Some((from, format!("cp.async.cg.shared::cta.global {operands}")))
            });
            if let Some((from, copy)) = copy {
                replace(from, vec![copy, "cp.async.wait_all".to_owned()]);
            }
        }
    }
}

/// With a release and an acquire in the place of two fences and a load that does not see a store.
fn handed_on(program: &RandomProgram, all: &mut Vec<RandomProgram>) {
    let pairs = |thread: usize| {
        let cells = &program.threads[thread].cells;
        cells.windows(2).enumerate().map(|(at, two)| (at, &two[0], &two[1]))
    };
    let count = program.threads.len();
    for (one, other) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
        if one == other {
            continue;
        }
        for (at, first, load) in pairs(one) {
            let Some((_, scope)) = fence(first).filter(|_| load.starts_with("ld.")) else {
                continue;
            };
            for (there, store, last) in pairs(other) {
                let Some((_, wide)) = fence(last).filter(|_| store.starts_with("st.")) else {
                    continue;
                };
                let (Some(flag), true) = (address(load), address(load) == address(store)) else {
                    continue;
                };
                let own = registers(&program.threads[other].cells);
                let fresh = own.last().map_or(0, |last| last + 1);
                let mut less = program.clone();
                let release = format!("st.release.{scope}.u32 [{flag}], 1");
                let acquire = format!("ld.acquire.{wide}.u32 r{fresh}, [{flag}]");
                less.threads[one].cells.splice(at..at + 2, [release]);
                let mut fenced = less.clone();
                less.threads[other].cells.splice(there..there + 2, [acquire]);
                all.push(less);
                // The fence may order more than these two.
                fenced.threads[other].cells[there] =
                    format!("ld.relaxed.{wide}.u32 r{fresh}, [{flag}]");
                all.push(fenced);
            }
        }
    }
}

/// The text with one word in the place of another.
fn replaced(text: &str, word: &str, other: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let (one, after) = rest.split_at(end);
        out.push_str(if one == word { other } else { one });
        let end = after.find(is_word).unwrap_or(after.len());
        let (signs, after) = after.split_at(end);
        out.push_str(signs);
        rest = after;
    }
    out
}

/// Orders and what is next below each.
const WEAKER: [(&str, &[&str]); 9] = [
    (".acq_rel.", &[".relaxed.", ".acquire.", ".release."]),
    (".acquire.", &[".relaxed."]),
    (".release.", &[".relaxed."]),
    (".sc.", &[".acq_rel."]),
    (".volatile.", &[".weak."]),
    (".relaxed.cta.", &[".weak."]),
    (".relaxed.cluster.", &[".weak."]),
    (".relaxed.gpu.", &[".weak."]),
    (".relaxed.sys.", &[".weak."]),
];

/// Simpler instructions in the place of one.
fn simpler(cell: &str) -> Vec<String> {
    let mut all = Vec::new();
    if let Some((_, rest)) = cell.split_once(": ") {
        all.push(rest.to_owned());
    }
    if let Some(rest) = cell.strip_prefix('@') {
        all.extend(rest.split_once(' ').map(|(_, bare)| bare.to_owned()));
    }
    // A load or a store in the place of an atomic.
    let (opcode, operands) = cell.split_once(' ').unwrap_or((cell, ""));
    let parts: Vec<&str> = opcode.split('.').collect();
    if let (["atom", order, scope, ..], Some(ty)) = (&parts[..], parts.last()) {
        let operands: Vec<&str> = operands.split(", ").collect();
        if let [register, address, value, ..] = operands[..] {
            let load =
                if *order == "acquire" || *order == "acq_rel" { "acquire" } else { "relaxed" };
            let store =
                if *order == "release" || *order == "acq_rel" { "release" } else { "relaxed" };
            all.push(format!("ld.{load}.{scope}.{ty} {register}, {address}"));
            all.push(format!("st.{store}.{scope}.{ty} {address}, {value}"));
        }
    }
    if let Some(rest) = cell.strip_prefix("red.") {
        all.push(format!("st.{}", rest.replacen(".add", "", 1)));
    }
    for (order, weaker) in WEAKER {
        all.extend(
            weaker
                .iter()
                .filter(|_| cell.contains(order))
                .map(|weak| cell.replacen(order, weak, 1)),
        );
    }
    // An offset, and a value.
    if let Some((before, rest)) = cell.split_once('+')
        && let Some((_, after)) = rest.split_once(']')
    {
        all.push(format!("{before}]{after}"));
    }
    if let Some((before, value)) = cell.rsplit_once(", ")
        && value.parse::<u64>().is_ok_and(|value| value > 1)
    {
        all.push(format!("{before}, 1"));
    }
    all
}

/// What is changed in the whole program: one scope, fewer variables, fewer places.
fn everywhere(program: &RandomProgram, all: &mut Vec<RandomProgram>) {
    let mut map = |change: &dyn Fn(&str) -> String| {
        let mut changed = program.clone();
        for cell in changed.threads.iter_mut().flat_map(|thread| &mut thread.cells) {
            *cell = change(cell);
        }
        all.push(changed);
    };
    for scope in [".sys", ".cluster", ".cta"] {
        map(&|cell| {
            if cell.starts_with("bar") { cell.to_owned() } else { cell.replace(scope, ".gpu") }
        });
    }
    for (one, other) in [("z", "x"), ("z", "y"), ("y", "x")] {
        map(&|cell| replaced(cell, one, other));
    }
    for thread in 0..program.threads.len() {
        let mut changed = program.clone();
        let placement = &mut changed.threads[thread].placement;
        if let Some((before, _)) = placement.split_once(",sm ") {
            *placement = before.to_owned();
            all.push(changed);
        }
    }
    for (at, declaration) in program.declarations.iter().enumerate() {
        if let Some((before, _)) = declaration.split_once(" @home") {
            let mut changed = program.clone();
            before.clone_into(&mut changed.declarations[at]);
            all.push(changed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::{BARRIERS, Drawer, ELSEWHERE, LONG, MIXED, ProgramSource};
    use litmus::arbitrary::placed::ProgramKind;

    /// What is shrunk by a property of the text has that property and little else: an address in a register needs a third
    /// instruction.
    #[test]
    fn what_is_left_is_what_fails() {
        let sources = [LONG, MIXED, ELSEWHERE, BARRIERS].map(ProgramSource::Uniform);
        let placed = ProgramKind::ALL.map(ProgramSource::Placed);
        let drawer = Drawer::new(3, &[&sources[..], &placed[..]].concat());
        let mut shrunk = 0;
        for case in 0..200 {
            let program = drawer.program(case);
            let mut fails = |of: &RandomProgram| {
                let text = of.to_string();
                text.contains(" ld.") && text.contains(" st.")
            };
            if fails(&program) {
                let least = shrink(&program, &mut fails);
                assert!(fails(&least) && least.instructions() <= 3, "{program}\n{least}");
                shrunk += 1;
            }
        }
        assert!(shrunk > 100, "{shrunk}");
    }

    /// Two threads that do something in turn do it as one thread.
    #[test]
    fn threads_are_joined() {
        let cycles = Drawer::new(1, &[ProgramSource::Cycles]);
        for case in 0..20 {
            let program = cycles.program(case);
            let mut fails = |of: &RandomProgram| {
                of.instructions() >= 4 && registers(&of.threads[0].cells).len() < 9
            };
            if fails(&program) {
                let least = shrink(&program, &mut fails);
                assert_eq!((least.threads.len(), least.instructions()), (1, 4), "{least}");
            }
        }
    }

    #[test]
    fn fences_become_parts_of_accesses() {
        let cells = |text: &[&str]| text.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>();
        let of = |text: &[&str], at: usize, wanted: &[&[&str]]| {
            let wanted: Vec<Vec<String>> = wanted.iter().map(|one| cells(one)).collect();
            assert_eq!(merged(&cells(text), at), wanted);
        };
        of(&["fence.sc.gpu", "st.relaxed.sys.u32 [y], 1"], 0, &[&["st.release.gpu.u32 [y], 1"]]);
        let load = ["ld.volatile.u32 r0, [y]", "fence.acq_rel.cta"];
        of(&load, 1, &[&["ld.acquire.cta.u32 r0, [y]"]]);
        let (load, atomic) = ("ld.relaxed.cta.u32 r0, [y]", "atom.add.u32 r1, [y], 1");
        let (acquire, release) =
            ("ld.acquire.sys.u32 r0, [y]", "atom.release.sys.add.u32 r1, [y], 1");
        let both = "atom.acq_rel.sys.add.u32 r1, [y], 1";
        of(
            &[load, "fence.sc.sys", atomic],
            1,
            &[&[both], &[acquire, release], &[acquire, atomic], &[load, release]],
        );
        of(&["ld.weak.u32 r0, [y]", "st.weak.u32 [y], 1"], 0, &[]);
        of(&["fence.sc.gpu", "ld.weak.u32 r0, [y]"], 0, &[]);
        of(&["fence.proxy.alias", "st.weak.u32 [y], 1"], 0, &[]);
    }

    #[test]
    fn a_load_that_comes_too_early_becomes_a_flag() {
        let text = "PTX SB\n{ uint32_t x=0; uint32_t y=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n\
            st.weak.u32 [x], 1 | st.weak.u32 [y], 1 ;\n fence.sc.gpu | fence.sc.sys ;\n\
            ld.weak.u32 r0, [y] | ld.weak.u32 r0, [x] ;\nexists (x=1)\n";
        let buffering = litmus::parse("SB", text.as_bytes()).expect("it parses");
        let mut all = Vec::new();
        handed_on(&RandomProgram::of(&buffering), &mut all);
        let cells: Vec<Vec<&str>> = all[0]
            .threads
            .iter()
            .map(|thread| thread.cells.iter().map(String::as_str).collect())
            .collect();
        let wanted = [
            ["st.weak.u32 [x], 1", "st.release.gpu.u32 [y], 1"],
            ["ld.acquire.sys.u32 r1, [y]", "ld.weak.u32 r0, [x]"],
        ];
        assert_eq!(cells, wanted);
        assert_eq!(all.len(), 4);
    }

    #[test]
    fn a_barrier_of_a_cluster_becomes_a_flag() {
        let text = "PTX B\n{ uint32_t x=0; }\n P0@cta 0,cluster 0,gpu 0 | P1@cta 1,cluster 0,gpu 0 ;\n\
            st.weak.u32 [x], 1 | barrier.cluster.arrive ;\n barrier.cluster.arrive | barrier.cluster.wait ;\n\
             | ld.weak.u32 r0, [x] ;\nexists (x=1)\n";
        let barrier = litmus::parse("B", text.as_bytes()).expect("it parses");
        let mut all = Vec::new();
        flags(&RandomProgram::of(&barrier), &mut all);
        let [less] = &all[..] else { panic!("{} programs", all.len()) };
        let cells = less.threads.iter().map(|thread| thread.cells.clone());
        let wanted = [
            ["st.weak.u32 [x], 1", "st.release.cluster.u32 [flag], 1"],
            ["ld.acquire.cluster.u32 r1, [flag]", "ld.weak.u32 r0, [x]"],
        ];
        assert_eq!(cells.collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn words_are_replaced_whole() {
        assert_eq!(replaced("st.weak.b32 [t], t", "t", "r0"), "st.weak.b32 [r0], r0");
    }
}
