//! Addresses that come of memory, or of another lane, are only those that the program can make: no outcome is lost with the others.

use std::fmt::Write as _;

use engine::ENGINES;
use execution::unfold::Unfolded;
use litmus::Test;
use model::ptx;
use model::rel::Model;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;

use crate::agree::{Answer, BOUND, ask, difference, number, runner};
use crate::readings::chosen;

/// A model under which each address is tried. No axiom differs.
fn all_addresses() -> Model {
    let mut model = ptx::model();
    model.conventions.thin_air = true;
    model
}

/// The paths of each thread, with these addresses and with all of them.
fn paths(test: &Test) -> [Vec<usize>; 2] {
    [ptx::model(), all_addresses()].map(|model| {
        let all = Unfolded::new(&test.program, model.conventions, BOUND).expect("few paths");
        all.paths.iter().map(Vec::len).collect()
    })
}

/// Compares the outcomes; how many there are.
fn compared(test: &Test) -> Result<usize, String> {
    let mut outcomes = 0;
    for engine in ENGINES {
        let answers = [ptx::model(), all_addresses()].map(|model| ask(*engine, &model, test));
        let [Ok(few), Ok(all)] = &answers else { continue };
        if let Some(difference) = difference(("few addresses", few), ("all", all)) {
            return Err(format!("{}: {difference}", engine.name()));
        }
        if let Answer::Outcomes(of) = few {
            outcomes = of.len();
        }
    }
    Ok(outcomes)
}

/// Each program has a computed access, and an outcome that another address than the initial one gives. How many addresses there
/// are, and how many outcomes.
const FOLLOWED: [(&str, &str, usize, usize); 9] = [
    (
        "a pointer that another thread stores",
        "{ .global .b32 a[8]; .global .b64 x; P0:ra=a; P1:ra=a; }
         P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
         ld.relaxed.gpu.u64 rd, [x] | add.u64 rb, ra, 8 ;
         setp.eq.u64 p, rd, 0 | st.relaxed.gpu.u64 [x], rb ;
         selp.b64 rd, ra, rd, p | ;
         st.relaxed.gpu.u32 [rd], 1 | ;
         locations [a[0]; a[2];]",
        // Of a torn pointer, there are no bytes.
        3,
        2,
    ),
    (
        "a pointer that is stored at an address from memory",
        "{ .global .b32 a[8]; .global .b64 x; .global .b64 y; P0:ra=a; P1:ry=y; }
         P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
         ld.relaxed.gpu.u64 rd, [y] | ld.relaxed.gpu.u64 rd, [x] ;
         add.u64 rd, rd, ra | add.u64 rd, rd, ry ;
         st.relaxed.gpu.u32 [rd], 1 | st.relaxed.gpu.u64 [rd], 4 ;
         locations [a[0]; a[1];]",
        2,
        2,
    ),
    (
        "an element that a counter gives",
        "{ .global .b32 a[8]; .global .b32 c; P0:ra=a; P1:ra=a; }
         P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
         atom.add.relaxed.gpu.u32 r, [c], 1 | atom.add.relaxed.gpu.u32 r, [c], 3 ;
         mul.wide.u32 rd, r, 4 | mul.wide.u32 rd, r, 4 ;
         add.u64 rd, rd, ra | add.u64 rd, rd, ra ;
         st.relaxed.gpu.u32 [rd], 1 | st.relaxed.gpu.u32 [rd], 2 ;
         locations [a[0]; a[1]; a[3];]",
        // More than the counter reaches, and so one outside.
        9,
        2,
    ),
    (
        "an offset that comes through another thread",
        "{ .global .b32 a[8]; x=0; y=0; z=0; P0:ra=a; }
         P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 ;
         ld.relaxed.gpu.u32 r, [y] | ld.relaxed.gpu.u32 r, [x] | st.relaxed.gpu.u32 [x], 4 ;
         cvt.u64.u32 rd, r | add.u32 r, r, 4 | ;
         add.u64 rd, rd, ra | st.relaxed.gpu.u32 [y], r | ;
         st.relaxed.gpu.u32 [rd], 1 | | ;
         locations [a[0]; a[1]; a[2];]",
        3,
        3,
    ),
    (
        "an element that a loop counts up to",
        "{ .global .b32 a[4]; x=0; P0:ra=a; P0:r=0; }
         P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
         L: ld.relaxed.gpu.u32 s, [x] | st.relaxed.gpu.u32 [x], 1 ;
         setp.ne.u32 p, s, 0 | ;
         @p bra E | ;
         and.b32 q, s, 0 | ;
         add.u32 r, q, 2 | ;
         bra L | ;
         E: add.u32 t, r, s | ;
         mul.wide.u32 rd, t, 4 | ;
         add.u64 rd, rd, ra | ;
         st.relaxed.gpu.u32 [rd], 1 | ;
         locations [a[1]; a[3];]",
        4,
        2,
    ),
    (
        "an element that another lane gives",
        "{ .global .b32 a[8]; x=0; P0:ra=a; P1:r=0; }
         P0@warp 0,cta 0,gpu 0 | P1@warp 0,cta 0,gpu 0 | P2@cta 1,gpu 0 ;
         shfl.sync.idx.b32 s, 7, 1, 31, 3 | ld.relaxed.gpu.u32 r, [x] | st.relaxed.gpu.u32 [x], 3 ;
         mul.wide.u32 rd, s, 4 | shfl.sync.idx.b32 s, r, 1, 31, 3 | ;
         add.u64 rd, rd, ra | | ;
         st.relaxed.gpu.u32 [rd], 1 | | ;
         locations [a[0]; a[3];]",
        3,
        2,
    ),
    (
        "an element by the lanes that agree",
        "{ .global .b32 a[4]; x=0; P0:ra=a; P0:p=0; P1:p=1; }
         P0@warp 0,cta 0,gpu 0 | P1@warp 0,cta 0,gpu 0 | P2@cta 1,gpu 0 ;
         ld.relaxed.gpu.u32 r, [x] | vote.sync.ballot.b32 s, p, 3 | st.relaxed.gpu.u32 [x], 1 ;
         setp.ne.u32 p, r, 0 | | ;
         vote.sync.ballot.b32 s, p, 3 | | ;
         mul.wide.u32 rd, s, 4 | | ;
         add.u64 rd, rd, ra | | ;
         st.relaxed.gpu.u32 [rd], 1 | | ;
         locations [a[2]; a[3];]",
        4,
        2,
    ),
    (
        "an element by the sum of two lanes",
        "{ .global .b32 a[8]; x=0; P0:ra=a; }
         P0@warp 0,cta 0,gpu 0 | P1@warp 0,cta 0,gpu 0 | P2@cta 1,gpu 0 ;
         redux.sync.add.u32 s, 2, 3 | ld.relaxed.gpu.u32 r, [x] | st.relaxed.gpu.u32 [x], 3 ;
         mul.wide.u32 rd, s, 4 | redux.sync.add.u32 s, r, 3 | ;
         add.u64 rd, rd, ra | | ;
         st.relaxed.gpu.u32 [rd], 1 | | ;
         locations [a[2]; a[5];]",
        6,
        2,
    ),
    (
        "an address outside",
        "{ .global .b32 a[2]; x=0; P0:ra=a; }
         P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
         ld.relaxed.gpu.u32 r, [x] | st.relaxed.gpu.u32 [x], 4096 ;
         cvt.u64.u32 rd, r | ;
         add.u64 rd, rd, ra | ;
         st.relaxed.gpu.u32 [rd], 1 | ;
         locations [a[0];]",
        2,
        0,
    ),
];

#[test]
fn only_addresses_that_the_program_can_make_are_followed() {
    let mut wrong = Vec::new();
    for (name, text, addresses, outcomes) in FOLLOWED {
        let written = format!("PTX followed\nArch=sm_90\n{text}\nexists (true)\n");
        let test = litmus::parse(name, written.as_bytes())
            .unwrap_or_else(|errors| panic!("{name}: {}\n{written}", errors[0]));
        let found = compared(&test);
        let [few, all] = paths(&test);
        if found != Ok(outcomes) || few[0] > addresses || few >= all {
            wrong.push(format!("{name}: {found:?}, {few:?} of {all:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Values may come of nothing there, or their addresses show what depends on what.
#[test]
fn readings_without_no_thin_air_of_instructions_follow_all_addresses() {
    for (name, text, ..) in FOLLOWED {
        let written = format!("PTX followed\nArch=sm_90\n{text}\nexists (true)\n");
        let test = litmus::parse(name, written.as_bytes()).expect("it is parsed above");
        for choice in ["R13=none", "R13=semantic"] {
            let mut under = ptx::under(chosen(choice));
            let mut few = Vec::new();
            for thin_air in [under.conventions.thin_air, true] {
                under.conventions.thin_air = thin_air;
                let all = Unfolded::new(&test.program, under.conventions, BOUND);
                few.push(all.expect("few paths").paths[0].len());
            }
            assert_eq!(few[0], few[1], "{name}, {choice}");
        }
    }
}

/// An atomic may add to a value whose bytes racing accesses have mixed.
#[test]
fn a_torn_counter_comes_farther_than_what_is_added() {
    let written = "PTX torn\n{ c=255; .global .b32 a[4]; P2:ra=a; }\n \
        P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 ;\n \
        red.relaxed.cta.add.u32 [c], 1 | red.relaxed.cta.add.u32 [c], 1 | ld.relaxed.cta.u32 r1, [c] ;\n \
        mov.u32 r0, 0 | mov.u32 r0, 0 | shr.u32 r2, r1, 8 ;\n \
        mov.u32 r0, 0 | mov.u32 r0, 0 | mul.wide.u32 rd, r2, 4 ;\n \
        mov.u32 r0, 0 | mov.u32 r0, 0 | add.u64 rd, rd, ra ;\n \
        mov.u32 r0, 0 | mov.u32 r0, 0 | st.relaxed.gpu.u32 [rd], 1 ;\n\
        exists (P2:r1=512)\n";
    let test = litmus::parse("torn", written.as_bytes()).expect("it is a test");
    assert_eq!(compared(&test), Ok(8));
}

/// What all lanes of the warp do at one point.
const TOGETHER: &[&str] = &[
    "shfl.sync.idx.b32 r0, r0, 0, 31, 3",
    "shfl.sync.bfly.b32 r1, r0, 1, 31, 3",
    "shfl.sync.up.b32 r0, r1, 1, 0, 3",
    "vote.sync.any.pred p, p, 3",
    "vote.sync.ballot.b32 r0, p, 3",
    "match.any.sync.b32 r1, r0, 3",
    "match.all.sync.b32 r0, r1, 3",
    "redux.sync.add.u32 r0, r0, 3",
    "redux.sync.max.u32 r1, r0, 3",
    "bar.warp.sync 3",
];

/// What a thread does by itself. An address is of one of four elements, or of none.
const ALONE: &[&str] = &[
    "ld.relaxed.gpu.u32 r0, [x]",
    "ld.acquire.gpu.u32 r1, [a+4]",
    "atom.add.relaxed.gpu.u32 r0, [x], 1",
    "atom.exch.relaxed.gpu.b32 r1, [a], r0",
    "atom.cas.relaxed.gpu.b32 r0, [x], 0, 2",
    "st.relaxed.gpu.u32 [x], r1",
    "st.release.gpu.u32 [a+4], 1",
    "add.u32 r1, r0, 1",
    "@p mov.u32 r0, 2",
    "setp.eq.u32 p, r0, 1",
    "mul.wide.u32 rd, r0, 4; add.u64 rd, rd, ra; st.relaxed.gpu.u32 [rd], r1",
    "mul.wide.u32 rd, r0, 4; add.u64 rd, rd, ra; ld.relaxed.gpu.u32 r1, [rd]",
    "mul.wide.u32 rd, r1, 4; add.u64 rd, rd, ra; st.relaxed.gpu.u32 [rd], 3",
    "@p bra E",
];

/// What each of two lanes does before and after an exchange, and what a thread of another CTA does.
#[derive(Clone, Debug)]
struct FollowingSketch {
    lanes: Vec<[&'static str; 3]>,
    together: &'static str,
    other: Vec<&'static str>,
}

fn sketches() -> impl Strategy<Value = FollowingSketch> {
    let alone = || select(ALONE);
    let lane = || [alone(), alone(), alone()];
    (
        proptest::collection::vec(lane(), 2),
        select(TOGETHER),
        proptest::collection::vec(alone(), 1..3),
    )
        .prop_map(|(lanes, together, other)| FollowingSketch { lanes, together, other })
}

impl FollowingSketch {
    fn parse(&self) -> Test {
        let lines = |all: Vec<&'static str>| -> Vec<&str> {
            all.into_iter().flat_map(|of| of.split("; ")).chain(["E: mov.u32 r2, 0"]).collect()
        };
        let mut cells: Vec<Vec<&str>> = Vec::new();
        for [first, second, last] in &self.lanes {
            // Nobody passes over the exchange.
            let before = if *first == "@p bra E" { "setp.eq.u32 p, r0, 0" } else { first };
            cells.push(lines(vec![before, self.together, second, last]));
        }
        cells.push(lines(self.other.clone()));
        let mut text = "PTX random\nArch=sm_90\n{ .global .b32 a[4]; x=0;\n".to_owned();
        for thread in 0..3 {
            write!(text, "P{thread}:r0=0; P{thread}:r1=1; P{thread}:p=0; P{thread}:ra=a; ")
                .expect("strings can be written");
        }
        text += "}\nP0@warp 0,cta 0,gpu 0 | P1@warp 0,cta 0,gpu 0 | P2@cta 1,gpu 0 ;\n";
        for row in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let row: Vec<&str> =
                cells.iter().map(|cells| cells.get(row).copied().unwrap_or("")).collect();
            writeln!(text, "{} ;", row.join(" | ")).expect("strings can be written");
        }
        text += "locations [x; a[0]; a[1]; a[2]; a[3]; P0:r0; P1:r1;]\nexists (x=0)\n";
        litmus::parse("random", text.as_bytes())
            .unwrap_or_else(|errors| panic!("it does not parse: {}\n{text}", errors[0]))
    }
}

#[test]
fn addresses_that_are_not_followed_lose_no_outcome() {
    let mut runner = runner(number("CAUSEWAY_SEED", 33));
    let (mut fewer, mut defined) = (0, 0);
    let cases = number("CAUSEWAY_CASES", 300);
    for _ in 0..cases {
        let sketch = sketches().new_tree(&mut runner).expect("a program is drawn").current();
        let test = sketch.parse();
        let outcomes = compared(&test).unwrap_or_else(|what| panic!("{what}\n{sketch:?}"));
        let [few, all] = paths(&test);
        fewer += u64::from(few < all);
        defined += u64::from(outcomes > 0 && few < all);
    }
    eprintln!("{fewer} of {cases} have fewer paths, {defined} of them outcomes");
    assert!(10 * fewer > cases && 20 * defined > cases, "{fewer}, {defined} of {cases}");
}
