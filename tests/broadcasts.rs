//! Loops in which one thread of a CTA waits, and tells the others in shared memory, or by a shuffle, what it has read: nothing is lost
//! where such an iteration is left out (reading R50).

use std::fmt::Write;

use engine::enumerate::Enumerate;
use judge::{Property, Task, judge};
use model::ptx;
use model::reading::Readings;

use crate::spins::outcomes;

/// How the first thread waits, and the value with which the loop goes on.
const WAITS: [(&str, u32); 5] = [
    ("@w ld.acquire.gpu.u32 r0, [l]", 0),
    ("@w atom.acquire.gpu.cas.b32 r0, [l], 0, 1", 1),
    ("@w ld.weak.u32 r0, [l]", 0),
    // Each writes; it changes nothing where that was there.
    ("@w atom.acq_rel.gpu.add.u32 r0, [l], 0", 0),
    ("@w atom.acquire.gpu.exch.b32 r0, [l], 0", 0),
];

/// What is said to the others, and what they hear, in an order.
const TOLD: [(&str, &str); 5] = [
    ("@w st.shared.u32 [S], r0", "ld.shared.u32 r2, [S]"),
    ("st.shared.u32 [S], r0", "ld.shared.u32 r2, [S]"),
    // What the iteration before has said.
    ("ld.shared.u32 r2, [S]", "@w st.shared.u32 [S], r0"),
    ("@w st.shared.u16 [S], r0", "ld.shared.u16 r2, [S]"),
    ("shfl.sync.idx.b32 r2, r0, 0, 31, -1", "mov.u32 r4, 0"),
];

/// What a thread of another CTA does meanwhile.
const MEANWHILE: [&str; 3] = [
    "st.weak.u32 [x], 1; st.release.gpu.u32 [l], 1",
    "st.relaxed.gpu.u32 [l], 1; fence.sc.gpu; ld.relaxed.gpu.u32 r1, [x]",
    "st.release.gpu.u32 [l], 1; st.relaxed.gpu.u32 [l], 0",
];

/// A test of two threads that execute `lines`, the first of which waits, and of one of another CTA.
fn broadcast(lines: &[&str], meanwhile: &str) -> String {
    let others: Vec<&str> = meanwhile.split("; ").collect();
    // Threads of a warp come to a barrier together, or there is no meaning.
    let warp = if lines.iter().any(|line| line.starts_with("shfl")) { "warp 0," } else { "" };
    let mut text = format!(
        "PTX broadcast\n{{ l=0; x=0; .shared .b32 S; P0:r5=0; P1:r5=1; }}\n \
        P0@{warp}cta 0,gpu 0 | P1@{warp}cta 0,gpu 0 | P2@cta 1,gpu 0 ;\n"
    );
    for (at, line) in lines.iter().enumerate() {
        let other = others.get(at).copied().unwrap_or("");
        writeln!(text, " {line} | {line} | {other} ;").expect("a string takes all");
    }
    text + "exists (P0:r0=1 /\\ P1:r2=1 /\\ P1:r1=0)\n"
}

#[test]
fn what_one_thread_tells_the_others_in_each_iteration_hides_no_outcome() {
    let model = ptx::model();
    let every = model.with_every_iteration();
    let races = |model, bound| Task {
        engines: vec![&Enumerate],
        property: Property::NoDataRace,
        bound,
        ..crate::suite::task(model)
    };
    let mut decided = 0;
    for barriers in 0..16_u32 {
        let barrier = |at: u32| (barriers >> at & 1 == 1).then_some("bar.sync 0");
        for ((wait, again), (first, second)) in
            WAITS.into_iter().flat_map(|wait| TOLD.into_iter().map(move |told| (wait, told)))
        {
            for meanwhile in MEANWHILE {
                let head = barrier(0).map_or(format!("L: {wait}"), |of| format!("L: {of}"));
                let compared = format!("setp.eq.u32 q, r2, {again}");
                let mut lines = vec!["setp.eq.u32 w, r5, 0", "mov.u32 r0, 0", &head];
                lines.extend(barrier(0).map(|_| wait));
                lines.extend(barrier(1));
                lines.push(first);
                lines.extend(barrier(2));
                lines.push(second);
                lines.extend(barrier(3));
                lines.extend([&*compared, "@q bra L", "ld.weak.u32 r1, [x]"]);
                let written = broadcast(&lines, meanwhile);
                let (short, seen) = outcomes(&written, &model, 2);
                // Where the bound is reached, what is after it is compared with nothing.
                let bound = if seen.bound_reached { 2 } else { 3 };
                let (long, spun) = outcomes(&written, &every, bound);
                let lost: Vec<_> = long.difference(&short).collect();
                assert!(lost.is_empty(), "{lost:?} of\n{written}");
                let undefined = seen.undefined.is_some();
                assert!(undefined || seen.stuck.is_some() || spun.stuck.is_none(), "{written}");
                assert!(undefined || spun.undefined.is_none(), "{written}");
                decided += u32::from(!seen.bound_reached);
                let test = litmus::parse("broadcast", written.as_bytes()).expect("it is a test");
                let short = judge(&test, &races(&model, 2)).verdict;
                let long = judge(&test, &races(&every, bound)).verdict;
                assert!(short.name() != "holds" || long.name() != "fails", "{written}");
            }
        }
    }
    assert!(decided > 100, "{decided} programs are looked at in full");
}

/// Where an exit orders nothing (R49), a thread that has left the loop may read what later iterations write.
#[test]
fn who_has_left_the_loop_reads_what_later_iterations_say() {
    let lines = [
        "setp.eq.u32 w, r5, 0",
        "L: bar.sync 0",
        "@w ld.relaxed.gpu.u32 r3, [l]",
        "@w st.relaxed.cta.shared.u32 [S], r3",
        "bar.sync 0",
        "ld.relaxed.cta.shared.u32 r2, [S]",
        "setp.eq.u32 q, r2, 0",
        "@w setp.ne.u32 q, r2, 2",
        "@q bra L",
        "ld.relaxed.cta.shared.u32 r1, [S]",
    ];
    let meanwhile =
        "st.relaxed.gpu.u32 [l], 1; st.relaxed.gpu.u32 [l], 0; st.relaxed.gpu.u32 [l], 2";
    let written =
        broadcast(&lines, meanwhile).replace("P0:r0=1 /\\ P1:r2=1", "P1:r2=1").replace("x=0;", "");
    for (choice, between) in [("R49=nothing", true), ("R49=dependency", false)] {
        let readings = Readings::default().switch(choice).expect("there is such a choice");
        let (seen, _) = outcomes(&written, &ptx::under(readings), 4);
        assert_eq!(seen.contains(&vec![1, 0]), between, "{seen:?} of\n{written}");
    }
}

/// The loop of Triton, which needs both barriers, is decided, with and without the order that it asks for.
#[test]
fn a_loop_that_broadcasts_what_it_polls_is_decided() {
    let model = ptx::model();
    let task =
        |property| Task { engines: vec![&Enumerate], property, ..crate::suite::task(&model) };
    let judged = |load: &str, barriers: [&str; 2]| {
        let wait = format!("@w ld.{load}.u32 r0, [l]");
        let head = format!("L: {}", barriers[0]);
        let lines = [
            "setp.eq.u32 w, r5, 0",
            "mov.u32 r0, 0",
            &head,
            &wait,
            "@w st.shared.u32 [S], r0",
            barriers[1],
            "ld.shared.u32 r2, [S]",
            "setp.eq.u32 q, r2, 0",
            "@q bra L",
            "ld.weak.u32 r1, [x]",
        ];
        let written = broadcast(&lines, MEANWHILE[0]);
        let test = litmus::parse("broadcast", written.as_bytes()).expect("it is a test");
        let properties = [Property::ProgramSpec, Property::NoDataRace, Property::Termination];
        properties.map(|property| judge(&test, &task(property)).verdict.name())
    };
    let both = ["bar.sync 0", "bar.sync 0"];
    assert_eq!(judged("acquire.gpu", both), ["fails", "holds", "holds"]);
    assert_eq!(judged("relaxed.gpu", both), ["holds", "fails", "holds"]);
    // Without the first one, the flag of an iteration races with the read of the one before.
    assert_eq!(judged("acquire.gpu", ["mov.u32 r7, 0", "bar.sync 0"])[1], "fails");
}
