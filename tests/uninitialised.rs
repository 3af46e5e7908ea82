//! Reads that may return what nobody has written: `=?`, and the property `no-uninitialised-read`.

use std::collections::BTreeSet;
use std::fmt::Write;

use engine::outcome::place;
use engine::uninitialised::is_uninitialised;
use engine::{ENGINES, Engine, Limits, UninitialisedRead};
use judge::explain::candidate::{Candidate, Visitor, WantedCandidates, candidates};
use judge::{Property, Task, judge};
use litmus::Test;
use model::bits::BitRow;
use model::memory::Space;
use model::program::{AccessEvents, ThreadId};
use model::ptx;

use crate::suite;

/// The reads that an engine finds; `None` if it comes to a limit, or the program has no meaning.
fn found(test: &Test, engine: &dyn Engine) -> Option<BTreeSet<UninitialisedRead>> {
    let model = ptx::model();
    let property = Property::NoUninitialisedRead;
    let engines = vec![engine];
    let task = Task { engines, property, work: Some(1 << 14), counts: false, ..Task::new(&model) };
    let found = judge(test, &task).found;
    let complete = found.limit.is_none() && !found.seen.bound_reached;
    (complete && found.seen.undefined.is_none()).then_some(found.seen.uninitialised)
}

/// The thread and the line of each read that both engines find, with events for all accesses and without those that change
/// nothing for other threads.
fn reads(written: &str) -> Vec<(u8, u16)> {
    let mut test = litmus::parse("uninitialised", written.as_bytes()).expect("it is a test");
    let mut all = Vec::new();
    for events in [AccessEvents::All, AccessEvents::OfInterest] {
        test.program.access_events = events;
        all.extend(ENGINES.iter().map(|engine| found(&test, *engine).expect("it is decided")));
    }
    assert!(all.iter().all(|of| *of == all[0]), "{written}: {all:?}");
    all[0].iter().map(|read| (read.at.0.0, read.at.1)).collect()
}

/// Two threads of a CTA, of which each has these instructions.
fn two(columns: [&[&str]; 2], declared: &str) -> String {
    let mut text = format!("PTX two\n{{ {declared} }}\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n");
    for row in 0..columns[0].len().max(columns[1].len()) {
        let cell = |column: usize| columns[column].get(row).copied().unwrap_or("");
        writeln!(text, " {} | {} ;", cell(0), cell(1)).expect("a string takes all");
    }
    text + "forall (true)\n"
}

const SHARED: &str = ".shared .b32 s[4]=?; f=0;";

#[test]
fn what_a_release_and_an_acquire_order_is_written() {
    let signals = ["st.shared.u32 [s], 1", "st.release.gpu.u32 [f], 1"];
    let waits = |order: &str| {
        let text = two(
            [
                &signals,
                &[
                    &format!("L: ld.{order}.gpu.u32 r0, [f]"),
                    "setp.eq.u32 p, r0, 0",
                    "@p bra L",
                    "ld.shared.u32 r1, [s]",
                ],
            ],
            SHARED,
        );
        reads(&text)
    };
    assert_eq!(waits("acquire"), []);
    assert_eq!(waits("relaxed"), [(1, 3)]);
}

#[test]
fn what_is_before_a_barrier_is_written() {
    let test = |read: &str, declared: &str| {
        let reads_it = ["bar.sync 0", read];
        reads(&two([&["st.shared.u32 [s], 1", "bar.sync 0"], &reads_it], declared))
    };
    assert_eq!(test("ld.shared.u32 r1, [s]", SHARED), []);
    assert_eq!(test("ld.shared.u32 r1, [s+4]", SHARED), [(1, 1)]);
    // A part of what is read is enough.
    assert_eq!(test("ld.shared.v2.u32 {r1, r2}, [s]", SHARED), [(1, 1)]);
    // What has a value is 0 unless the test says something else.
    assert_eq!(test("ld.shared.u32 r1, [s+4]", ".shared .b32 s[4]; f=0;"), []);
}

/// No other thread sees the memory, so that accesses to it have no events in a launch.
#[test]
fn what_a_thread_has_not_written_of_its_own_memory_is_found_on_each_path() {
    let own = |first: &str, guard: &str| {
        let declared = ".local .b32 l[2]=?; f=0;";
        let text = two(
            [
                &[
                    "ld.relaxed.gpu.u32 r0, [f]",
                    "setp.eq.u32 p, r0, 1",
                    first,
                    &format!("{guard} ld.local.u32 r1, [l]"),
                ],
                &["st.relaxed.gpu.u32 [f], 1"],
            ],
            declared,
        );
        reads(&text)
    };
    assert_eq!(own("st.local.u32 [l], 1", ""), []);
    assert_eq!(own("st.local.u32 [l+4], 1", ""), [(0, 3)]);
    assert_eq!(own("@p st.local.u32 [l], 1", ""), [(0, 3)]);
    assert_eq!(own("@p st.local.u32 [l], 1", "@p"), []);
    assert_eq!(own("@p st.local.u32 [l], 1", "@!p"), [(0, 3)]);
    // A half of the word is not written.
    assert_eq!(own("st.local.u16 [l], 1", ""), [(0, 3)]);
}

#[test]
fn atomics_read_what_is_there_and_copies_their_source() {
    for atomic in
        ["atom.relaxed.cta.shared.cas.b32 r0, [s], 7, 8", "red.relaxed.cta.shared.add.u32 [s], 1"]
    {
        assert_eq!(reads(&two([&[atomic], &[]], SHARED)), [(0, 0)], "{atomic}");
        let written = ["st.relaxed.cta.shared.u32 [s], 1", atomic];
        assert_eq!(reads(&two([&written, &[]], SHARED)), [], "{atomic}");
    }
    let copied = |declared: &str| {
        let copy =
            ["cp.async.ca.shared.global [s], [g], 4", "cp.async.wait_all", "ld.shared.u32 r0, [s]"];
        reads(&two([&copy, &[]], declared))
    };
    assert_eq!(copied(".shared .b32 s[4]=?; .global .b32 g[1]=?;"), [(0, 0)]);
    assert_eq!(copied(".shared .b32 s[4]=?; .global .b32 g[1];"), []);
}

/// The iteration that waits reads what nobody has written, although it is left out of other searches.
#[test]
fn a_loop_that_polls_reads_what_is_there_first() {
    let polls = ["L: ld.relaxed.cta.shared.u32 r0, [s]", "setp.eq.u32 p, r0, 0", "@p bra L"];
    let signals = ["st.relaxed.cta.shared.u32 [s], 1"];
    assert_eq!(reads(&two([&signals, &polls], SHARED)), [(1, 0)]);
    assert_eq!(reads(&two([&signals, &polls], ".shared .b32 s[4]; f=0;")), []);
}

#[test]
fn only_memory_that_is_written_may_have_no_value() {
    for declared in [".const .b32 c=?;", ".shared .mbarrier s=?;", ".tmem c[32]=?;"] {
        let text = two([&["bar.sync 0"], &["bar.sync 0"]], declared);
        let errors = litmus::parse("no value", text.as_bytes()).expect_err(declared);
        assert_eq!(errors[0].code, "no-value", "{declared}: {}", errors[0]);
    }
}

/// The reads of all consistent candidates.
#[derive(Default)]
struct Naive {
    reads: BTreeSet<(ThreadId, u16)>,
}

impl Visitor for Naive {
    fn candidate<R: BitRow>(&mut self, candidate: &Candidate<'_, R>) -> bool {
        let u = candidate.structure.unfolding;
        if candidate.broken.is_empty() {
            let sources = candidate.sources.iter().enumerate();
            let read = sources.filter(|(slot, of)| is_uninitialised(u, *slot, of.writes));
            self.reads.extend(read.filter_map(|(slot, _)| place(u, u.slots[slot].read)));
        }
        true
    }
}

/// Nothing but the first values of memory is changed in the tests of the suite.
#[test]
fn engines_agree_with_each_other_and_with_all_candidates() {
    let mut model = ptx::model();
    model.conventions.uninitialised_reads = true;
    let (mut compared, mut naively, mut some) = (0, 0, 0);
    for entry in suite::load(&suite::folder()) {
        let mut test = entry.test;
        if test.dialect == litmus::Dialect::Cxx || test.program.unsupported().is_some() {
            continue;
        }
        for variable in &mut test.program.variables {
            let plain = matches!(variable.space, Space::Global | Space::Shared | Space::Local);
            variable.uninitialised = plain && variable.alias.is_none();
        }
        let name = &test.name;
        let Some(all) = found(&test, ENGINES[0]) else { continue };
        some += usize::from(!all.is_empty());
        for engine in &ENGINES[1..] {
            let Some(other) = found(&test, *engine) else { continue };
            assert_eq!(all, other, "{name}: {}", engine.name());
            compared += 1;
        }
        let mut less = test.clone();
        less.program.access_events = AccessEvents::OfInterest;
        if let Some(less) = found(&less, ENGINES[0]) {
            assert_eq!(all, less, "{name}: without events for what one thread alone sees");
        }
        let mut naive = Naive::default();
        let limits = Limits { work: Some(1 << 11), ..Limits::unlimited(2) };
        let wanted = WantedCandidates::UninitialisedRead;
        if candidates(&test, &model, wanted, &limits, &mut naive) == Ok(true) {
            let places: BTreeSet<(ThreadId, u16)> = all.iter().map(|read| read.at).collect();
            assert_eq!(places, naive.reads, "{name}: all candidates");
            naively += 1;
        }
    }
    eprintln!("{compared} compared, {naively} with all candidates, {some} with a read");
    assert!(compared > 800 && naively > 500 && some > 500, "{compared} {naively} {some}");
}
