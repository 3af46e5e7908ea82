//! Loops whose exit depends on what is read: where none goes beyond the bound, the outcomes are those of a larger bound; and
//! one that may is undecided.

use engine::enumerate::Enumerate;
use engine::judge::{Task, judge};
use litmus::Test;
use model::ptx;

use crate::suite;

/// The loop of P0 behind its load of `x`, and the other thread.
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
