//! Loops whose exit depends on what is read: where none goes beyond the bound, the outcomes are those of a larger bound; and
//! one that may is undecided.

use std::fmt::Write;

use engine::enumerate::Enumerate;
use judge::{Task, judge};
use litmus::Test;
use model::ptx;

use crate::suite;

/// The loop of P0 after its load of `x`, and the other thread.
const LOOPS: [(&str, &str); 8] = [
    ("atom.relaxed.gpu.add.u32 r0, [x], 1; setp.lt.u32 p, r0, 1", "ld.relaxed.gpu.u32 r0, [x]"),
    ("atom.relaxed.gpu.add.u32 r0, [x], 1; setp.lt.u32 p, r0, 1", "st.relaxed.gpu.u32 [x], 0"),
    ("atom.relaxed.gpu.exch.b32 r0, [x], 3; setp.eq.u32 p, r0, 0", "st.relaxed.gpu.u32 [x], 0"),
    ("atom.acq_rel.gpu.cas.b32 r0, [x], 0, 1; setp.ne.u32 p, r0, 1", "st.relaxed.gpu.u32 [x], 2"),
    (
        "atom.acq_rel.gpu.cas.b32 r0, [x], 0, 1; setp.eq.u32 p, r0, 0",
        "atom.acq_rel.gpu.cas.b32 r0, [x], 1, 0",
    ),
    ("atom.relaxed.gpu.add.u32 r0, [x], 1; setp.ne.u32 p, r0, 2", "st.relaxed.gpu.u32 [x], 2"),
    ("st.weak.u32 [x], r0; add.u32 r0, r0, 1; setp.lt.u32 p, r0, 2", "ld.weak.u32 r0, [x]"),
    (
        "atom.relaxed.gpu.add.u32 r1, [y], 1; ld.relaxed.gpu.u32 r0, [x]; setp.eq.u32 p, r0, 0",
        "st.relaxed.gpu.u32 [x], 1",
    ),
];

fn test(body: &str, other: &str) -> Test {
    let mut rows = format!(" L: {}", body.replacen("; ", &format!(" | {other} ;\n "), 1));
    rows = rows.replace("; ", " | ;\n ");
    let text = format!(
        "PTX loop\n{{ x=0; y=0; P0:r0=0; P1:r0=0; }}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n{rows} | ;\n @p bra L | ;\n\
         locations [0:r0; 1:r0; x; y;]\nexists (0:r0=77)\n"
    );
    litmus::parse("loop.litmus", text.as_bytes())
        .unwrap_or_else(|errors| panic!("{text}: {}", errors[0]))
}

#[test]
fn what_does_not_go_beyond_the_bound_has_every_outcome() {
    let model = ptx::model();
    let mut decided = Vec::new();
    for (body, other) in LOOPS {
        let test = test(body, other);
        let found = [2, 3, 5].map(|bound| {
            let task = Task {
                engines: vec![&Enumerate],
                bound,
                work: Some(1 << 20),
                ..suite::task(&model)
            };
            judge(&test, &task).found
        });
        let last = &found[2].outcomes;
        for found in &found {
            assert!(found.limit.is_none(), "{body}: {:?}", found.limit);
            if !found.seen.bound_reached {
                assert!(last.keys().eq(found.outcomes.keys()), "{body} beside {other}");
            }
        }
        decided.push(found.each_ref().map(|found| !found.seen.bound_reached));
    }
    let [always, from_three, never] = [[true; 3], [false, true, true], [false; 3]];
    let known = [always, from_three, from_three, always, from_three, from_three, always, never];
    assert_eq!(decided, known);
}

/// What two threads of a CTA do in loops with barriers, or beside them: the first column, and the second.
const MEETINGS: ([&str; 6], [&str; 6]) = (
    [
        "L: atom.relaxed.gpu.add.u32 r0, [x], 1; st.shared.u32 [s], r0; bar.sync 0; ld.shared.u32 r0, [s]; bar.sync 0; \
         setp.lt.u32 p, r0, 1; @p bra L",
        "L: ld.shared.u32 r0, [t]; setp.lt.u32 q, r0, 10; barrier.cta.red.or.pred p, 0, q; add.u32 r0, r0, 10; \
         st.shared.u32 [s], r0; bar.sync 0; @p bra L",
        "L: st.relaxed.gpu.u32 [x], 1; bar.sync 0; ld.relaxed.gpu.u32 r0, [x]; setp.ne.u32 p, r0, 1; @p bra L",
        "L: bar.sync 0; atom.relaxed.gpu.add.u32 r0, [x], 1; setp.lt.u32 p, r0, 1; @p bra L",
        "L: bar.sync 0; st.relaxed.gpu.u32 [x], 3; atom.relaxed.gpu.add.u32 r0, [y], 1; setp.lt.u32 p, r0, 1; @p bra L; \
         st.relaxed.gpu.u32 [y], 7",
        "L: barrier.cluster.arrive; barrier.cluster.wait; atom.acq_rel.gpu.cas.b32 r0, [x], 0, 1; setp.eq.u32 p, r0, 0; \
         @p bra L",
    ],
    [
        "L: bar.sync 0; ld.shared.u32 r0, [s]; bar.sync 0; setp.lt.u32 p, r0, 1; @p bra L",
        "L: ld.shared.u32 r0, [s]; setp.lt.u32 q, r0, 10; barrier.cta.red.or.pred p, 0, q; add.u32 r0, r0, 10; \
         st.shared.u32 [t], r0; bar.sync 0; @p bra L",
        "bar.sync 0; st.relaxed.gpu.u32 [x], 0",
        "ld.relaxed.gpu.u32 r0, [y]; bar.sync 0; ld.relaxed.gpu.u32 r1, [x]; bar.sync 0; st.relaxed.gpu.u32 [x], 0",
        "L: bar.sync 0; ld.relaxed.gpu.u32 r0, [x]; setp.lt.u32 p, r0, 1; @p bra L",
        "barrier.cluster.arrive; ld.relaxed.gpu.u32 r0, [x]; barrier.cluster.wait; atom.acq_rel.gpu.cas.b32 r1, [x], 1, 0",
    ],
);

/// At a barrier that waits for a thread which was cut, others stop: their later writes may still be read.
#[test]
fn loops_with_barriers_that_do_not_go_beyond_the_bound_have_every_outcome() {
    let model = ptx::model();
    let mut decided = Vec::new();
    for (a, first) in MEETINGS.0.into_iter().enumerate() {
        for (b, second) in MEETINGS.1.into_iter().enumerate() {
            let columns = [first, second].map(|column| column.split("; ").collect::<Vec<&str>>());
            let mut listing =
                "PTX meet\n{ x=0; y=0; .shared .b32 s=5; .shared .b32 t=6; P1:r0=0; P1:r1=0; }\n \
                P0@cta 0,cluster 0,gpu 0 | P1@cta 0,cluster 0,gpu 0 ;\n"
                    .to_owned();
            for row in 0..columns[0].len().max(columns[1].len()) {
                let cells = columns.each_ref().map(|column| column.get(row).copied().unwrap_or(""));
                writeln!(listing, " {} ;", cells.join(" | ")).expect("a string takes all");
            }
            listing.push_str("locations [0:r0; 1:r0; 1:r1; x; y;]\nexists (0:r0=77)\n");
            let test = litmus::parse("meet.litmus", listing.as_bytes())
                .unwrap_or_else(|errors| panic!("{listing}: {}", errors[0]));
            let found = [1, 2, 4].map(|bound| {
                let task = Task {
                    engines: vec![&Enumerate],
                    bound,
                    work: Some(1 << 18),
                    counts: false,
                    ..suite::task(&model)
                };
                judge(&test, &task).found
            });
            let last = &found[2];
            for (at, found) in found[..2].iter().enumerate() {
                if found.limit.is_some() || found.seen.bound_reached || last.limit.is_some() {
                    continue;
                }
                let undefined = |seen: &engine::ExecutionFacts| seen.undefined.is_some();
                assert_eq!(undefined(&found.seen), undefined(&last.seen), "{listing}");
                assert_eq!(found.seen.stuck.is_some(), last.seen.stuck.is_some(), "{listing}");
                assert!(last.outcomes.keys().eq(found.outcomes.keys()), "{listing}");
                if at == 1 {
                    decided.push((a, b));
                }
            }
        }
    }
    assert!(decided.contains(&(0, 0)) && decided.contains(&(1, 1)), "{decided:?}");
    assert!(decided.len() >= 10 && decided.len() < 36, "{decided:?}");
}

/// Two threads that count to four in a loop with barriers.
const COUNTED: &str = "PTX counted\n{ x=0; .shared .b32 s=5; P1:r0=0; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n \
    L: atom.relaxed.gpu.add.u32 r0, [x], 1 | L: bar.sync 0 ;\n st.shared.u32 [s], r0 | ld.shared.u32 r0, [s] ;\n \
    bar.sync 0 | bar.sync 0 ;\n ld.shared.u32 r0, [s] | setp.lt.u32 p, r0, 3 ;\n bar.sync 0 | @p bra L ;\n \
    setp.lt.u32 p, r0, 3 | ;\n @p bra L | ;\nexists (0:r0=77)\n";

#[test]
fn what_is_decided_with_a_bound_is_decided_with_a_larger_one() {
    let model = ptx::model();
    let test = litmus::parse("counted.litmus", COUNTED.as_bytes()).expect("it can be read");
    let open = [3, 4, 5, 6].map(|bound| {
        let task = Task { engines: vec![&Enumerate], bound, ..suite::task(&model) };
        judge(&test, &task).found.seen.bound_reached
    });
    assert_eq!(open, [true, false, false, false]);
}

/// Models without thin-air axiom, in which a thread goes on because another one reads what it writes only later: a release
/// that is jumped over then, and writes of which a model leaves out what depends on reads.
const LATER: [(&str, &str); 2] = [
    (
        "\"release\"\ninclude \"cos.cat\"\nlet fr = rf^-1; co\nacyclic (po & loc) | rf | co | fr as coh\n\
         let sync = [W]; po; [W & REL]; rf; [R & ACQ]; po; [W]\nirreflexive sync; co as rel\n",
        "PTX later\n{ x=0; f=0; P0:r5=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
         L: ld.relaxed.gpu.u32 r0, [x] | ld.acquire.gpu.u32 r1, [f] ;\n \
         add.u32 r5, r5, 1 | setp.eq.u32 q, r1, 1 ;\n \
         setp.eq.u32 p, r0, 5 | @q st.relaxed.gpu.u32 [x], 5 ;\n \
         @p bra L | @q st.relaxed.gpu.u32 [x], 6 ;\n \
         setp.eq.u32 q, r0, 6 | ;\n @q bra M | ;\n st.relaxed.gpu.u32 [x], 1 | ;\n \
         M: st.release.gpu.u32 [f], 1 | ;\nlocations [0:r5; 1:r1;]\nexists (0:r5=4)\n",
    ),
    (
        "\"odd\"\ninclude \"cos.cat\"\nlet fr = rf^-1; co\nacyclic (po & loc) | rf | co | fr as coh\n\
         acyclic ((po & (R * W)) \\ ctrl) | rf as odd\n",
        "PTX later\n{ y=0; f=0; P0:r5=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
         L: ld.relaxed.gpu.u32 r0, [y] | ld.relaxed.gpu.u32 r1, [f] ;\n \
         add.u32 r5, r5, 1 | st.relaxed.gpu.u32 [y], r1 ;\n \
         setp.eq.u32 p, r0, 1 | st.relaxed.gpu.u32 [y], 6 ;\n @p bra L | ;\n \
         st.relaxed.gpu.u32 [f], 1 | ;\nlocations [0:r5; 1:r1;]\nexists (0:r5=4)\n",
    ),
];

#[test]
fn what_others_read_of_later_writes_is_not_ruled_out() {
    for (cat, text) in LATER {
        let model = cat::import("own.cat", cat).expect("it is a model");
        let test = litmus::parse("later.litmus", text.as_bytes()).expect("it is a test");
        let outcomes = [2, 4].map(|bound| {
            let task = Task { engines: vec![&Enumerate], bound, ..suite::task(&model) };
            let found = judge(&test, &task).found;
            assert!(found.seen.bound_reached, "{}, {bound}", model.name);
            found.outcomes.len()
        });
        assert!(outcomes[0] < outcomes[1], "{outcomes:?}");
    }
}
