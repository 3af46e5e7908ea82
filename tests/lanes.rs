//! Exchanges of values between lanes: engines agree on random programs, and an exchange orders nothing. What lanes bring that are left
//! out of a launch is not computed.

use std::fmt::Write as _;

use engine::enumerate::Enumerate;
use engine::{ENGINES, Engine};
use judge::Task;
use litmus::Test;
use model::ptx;
use model::value::Value;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use verify::{
    AdviceOptions, FindingKind, KernelModule, LaunchQuestion, LaunchSpec, RepairEffort,
    ThreadChoice, verify,
};

use crate::agree::{Answer, ask, difference, number, runner};
use crate::launches::{judged, kernel, kinds, launch};

/// What all lanes of the warp do at one point. `%` is the number of the line.
const TOGETHER: &[&str] = &[
    "shfl.sync.idx.b32 r%, r0, 0, 31, 7",
    "shfl.sync.up.b32 r%|p%, r0, 1, 0, 7",
    "shfl.sync.bfly.b32 r%, r1, 1, 1, 7",
    "shfl.sync.idx.b32 r%, 1, r0, 1, 7",
    "vote.sync.any.pred p%, p, 7",
    "vote.sync.all.pred p%, !p, 7",
    "vote.sync.ballot.b32 r%, p, 7",
    "match.any.sync.b32 r%, r0, 7",
    "match.all.sync.b32 r%|p%, r1, 7",
    "redux.sync.add.u32 r%, r0, 7",
    "redux.sync.max.s32 r%, r1, 7",
    "elect.sync r%|p%, 7",
    "bar.warp.sync 7",
];

/// What a lane does by itself.
const ALONE: &[&str] = &[
    "ld.relaxed.gpu.u32 r0, [x]",
    "ld.acquire.gpu.u32 r1, [y]",
    "st.relaxed.gpu.u32 [x], r1",
    "st.release.gpu.u32 [y], 1",
    "st.relaxed.gpu.u32 [y], r0",
    "setp.eq.u32 p, r0, 1",
    "@p st.relaxed.gpu.u32 [x], 2",
    "add.u32 r1, r0, 1",
];

/// For each of two lanes, what it does before, between and after two exchanges; and what a thread of another CTA does.
#[derive(Clone, Debug)]
struct LaneSketch {
    lanes: Vec<[&'static str; 3]>,
    together: [&'static str; 2],
    other: Vec<&'static str>,
}

fn sketches() -> impl Strategy<Value = LaneSketch> {
    let alone = || select(ALONE);
    let lane = || [alone(), alone(), alone()];
    let together = || [select(TOGETHER), select(TOGETHER)];
    (proptest::collection::vec(lane(), 2), together(), proptest::collection::vec(alone(), 1..3))
        .prop_map(|(lanes, together, other)| LaneSketch { lanes, together, other })
}

impl LaneSketch {
    fn parse(&self) -> Test {
        let cells: Vec<Vec<String>> = self
            .lanes
            .iter()
            .map(|[before, between, after]| {
                let [first, second] = self.together;
                let all = [before, first, between, second, after].into_iter().enumerate();
                all.map(|(line, cell)| cell.replace('%', &(line + 2).to_string())).collect()
            })
            .chain([self.other.iter().map(|&cell| cell.to_owned()).collect()])
            .collect();
        let registers = (0..3).fold(String::new(), |all, thread| {
            all + &format!("P{thread}:r0=0; P{thread}:r1=0; P{thread}:p=0; ")
        });
        let mut text = format!("PTX random\nArch=sm_90\n{{ {registers}x=0; y=0; }}\n");
        text += "P0@warp 0,cta 0,gpu 0 | P1@warp 0,cta 0,gpu 0 | P2@cta 1,gpu 0 ;\n";
        for row in 0..5 {
            let row: Vec<&str> =
                cells.iter().map(|cells| cells.get(row).map_or("", String::as_str)).collect();
            writeln!(text, "{} ;", row.join(" | ")).expect("strings can be written");
        }
        let mut observed = vec!["x".to_owned(), "y".to_owned(), "P2:r0".to_owned()];
        for (line, step) in [(3, self.together[0]), (5, self.together[1])] {
            for name in ["r", "p"] {
                if step.contains(&format!("{name}%")) {
                    observed.extend((0..2).map(|lane| format!("P{lane}:{name}{line}")));
                }
            }
        }
        writeln!(text, "locations [{};]\nexists (x=0)", observed.join("; "))
            .expect("strings can be written");
        litmus::parse("random", text.as_bytes())
            .unwrap_or_else(|errors| panic!("it does not parse: {}\n{text}", errors[0]))
    }
}

#[test]
fn engines_agree_on_random_programs_of_lanes() {
    let model = ptx::model();
    let Some(&solve) = ENGINES.iter().find(|engine| engine.name() != Enumerate.name()) else {
        eprintln!("SKIPPED: there is one engine");
        return;
    };
    let mut runner = runner(number("CAUSEWAY_SEED", 31));
    let (mut compared, mut defined) = (0, 0);
    for _ in 0..number("CAUSEWAY_CASES", 600) {
        let sketch = sketches().new_tree(&mut runner).expect("a program is drawn").current();
        let test = sketch.parse();
        let (Ok(one), Ok(other)) = (ask(&Enumerate, &model, &test), ask(solve, &model, &test))
        else {
            continue;
        };
        compared += 1;
        defined += u32::from(matches!(&one, Answer::Outcomes(all) if !all.is_empty()));
        let difference = difference(("enumerate", &one), (solve.name(), &other));
        assert!(difference.is_none(), "{}\n{sketch:?}", difference.unwrap_or_default());
    }
    eprintln!("{compared} compared, {defined} with outcomes");
    assert!(compared > 0 && 2 * defined > compared, "{defined} of {compared} have outcomes");
}

/// Without an exchange whose result nobody uses, the outcomes are the same.
#[test]
fn an_exchange_orders_nothing() {
    let model = ptx::model();
    let mut runner = runner(number("CAUSEWAY_SEED", 32));
    let mut compared = 0;
    for _ in 0..number("CAUSEWAY_CASES", 300) {
        let drawn = sketches().new_tree(&mut runner).expect("a program is drawn").current();
        let with = |step| LaneSketch { together: [step; 2], ..drawn.clone() };
        let with = [with("shfl.sync.idx.b32 r9, 1, 0, 31, 7"), with("mov.u32 r9, 1")];
        let answers = with.map(|sketch| ask(&Enumerate, &model, &sketch.parse()));
        let [Ok(Answer::Outcomes(one)), Ok(Answer::Outcomes(other))] = answers else { continue };
        compared += 1;
        assert_eq!(one, other, "{drawn:?}");
    }
    assert!(compared > 0, "no program has outcomes");
}

/// What lanes bring from memory that nobody writes is known before paths are listed. Beside a thread that might write it, and never does,
/// it is not, and the outcomes are the same.
#[test]
fn exchanges_of_what_nobody_writes_are_those_that_happen() {
    let model = ptx::model();
    let exchanges = [
        "vote.sync.ballot.b32 A, p, M",
        "vote.sync.any.pred q, p, M ; selp.u32 A, 1, 0, q",
        "vote.sync.uni.pred q, !p, M ; selp.u32 A, 1, 0, q",
        "shfl.sync.idx.b32 A, B, 1, 31, M",
        "shfl.sync.down.b32 A|q, B, 1, 31, M ; selp.u32 A, A, 9, q",
        "redux.sync.add.u32 A, B, M",
        "match.any.sync.b32 A, B, M",
    ];
    let between =
        ["mov.u32 r6, 7", "setp.gt.u32 s, r2, 4 ; @s bra E", "@p bra E", "and.b32 r7, r2, 7"];
    let dead = "st.relaxed.gpu.u32 [z], 1 ; ld.relaxed.gpu.u32 r9, [z] ; setp.eq.u32 p, r9, 5 ; @p st.weak.u32 [in], 9";
    let mut compared = 0;
    for first in exchanges {
        for second in exchanges {
            for middle in between {
                let mask = if middle.starts_with("and") { "r7" } else { "7" };
                let step = |of: &str, to: &str, from: &str, mask: &str| {
                    of.replace('A', to).replace('B', from).replace('M', mask)
                };
                let (one, two) = (step(first, "r2", "r1", "7"), step(second, "r3", "r2", mask));
                let lane = |lane: u32| {
                    format!(
                        "ld.weak.u32 r1, [in+{}] ; setp.eq.u32 p, r1, 2 ; {one} ; {middle} ; {two} ; E: st.weak.u32 [out+{}], r3",
                        4 * lane,
                        4 * lane
                    )
                };
                let written = |dead: &str| {
                    let columns = [lane(0), lane(1), lane(2), dead.to_owned()];
                    let rows = columns.each_ref().map(|of| of.split(" ; ").collect::<Vec<&str>>());
                    let mut written =
                        "PTX lanes\n{ .global .b32 in[3]={2,5,2}; .global .b32 out[3]; z=0; }\n \
                        P0@warp 0,cta 0 | P1@warp 0,cta 0 | P2@warp 0,cta 0 | P3@cta 1 ;\n"
                            .to_owned();
                    for row in 0..rows.iter().map(Vec::len).max().unwrap_or(0) {
                        let cells = rows.each_ref().map(|of| of.get(row).copied().unwrap_or(""));
                        writeln!(written, " {} ;", cells.join(" | ")).expect("a string takes all");
                    }
                    written + "exists (out[0]=1 /\\ out[1]=1 /\\ out[2]=1)\n"
                };
                let answers = ["", dead].map(|dead| {
                    let written = written(dead);
                    let test = litmus::parse("lanes", written.as_bytes());
                    let test = test.unwrap_or_else(|errors| panic!("{}\n{written}", errors[0]));
                    ask(&Enumerate, &model, &test)
                });
                let [one, other] = answers.each_ref();
                let (Ok(one), Ok(other)) = (one, other) else { continue };
                compared += 1;
                let difference = difference(("known", one), ("open", other));
                assert!(
                    difference.is_none(),
                    "{}\n{}",
                    difference.unwrap_or_default(),
                    written("")
                );
            }
        }
    }
    assert!(compared > 150, "{compared} programs are compared");
}

/// A warp whose lanes bring constants to an exchange in a loop: what one gets later depends on who has left it meanwhile.
#[test]
fn an_exchange_in_a_loop_has_other_results_when_lanes_have_left() {
    let after = [
        "mov.u32 r6, 9",
        "shfl.sync.idx.b32 r2, r6, 0, 31, 3",
        "shfl.sync.idx.b32 r3, r6, 0, 31, 3",
    ];
    for (exchange, after, found) in [
        ("vote.sync.ballot.b32 r1, p, 3", &[][..], [1, 3]),
        ("redux.sync.add.u32 r1, r5, 3", &[], [5, 11]),
        // The other lane is at its second exchange.
        ("shfl.sync.idx.b32 r1, r5, 1, 31, 3", &after, [6, 9]),
    ] {
        let exchange = format!("L: {exchange}");
        let lines = [&*exchange, "ld.relaxed.gpu.u32 n, [x]", "setp.eq.u32 q, n, A", "@q bra L"];
        let mut written = "PTX leaves\n{ x=0; P0:r5=5; P1:r5=6; P0:p=1; P1:p=1; }\n \
                           P0@warp 0,cta 0 | P1@warp 0,cta 0 | P2@cta 1 ;\n"
            .to_owned();
        for (at, line) in lines.iter().chain(after).enumerate() {
            let stored = ["st.relaxed.gpu.u32 [x], 7", "st.relaxed.gpu.u32 [x], 0"];
            let other = stored.get(at).copied().unwrap_or("");
            let [one, two] = ["7", "8"].map(|again| line.replace(", A", &format!(", {again}")));
            writeln!(written, " {one} | {two} | {other} ;").expect("a string takes all");
        }
        written += "exists (P0:r1=0)\n";
        let (outcomes, _) = crate::spins::outcomes(&written, &ptx::model(), 2);
        let outcomes: Vec<Value> = outcomes.into_iter().flatten().collect();
        assert_eq!(outcomes, found, "{written}");
    }
}

/// What a lane with a known result brings, another one may get, whose result is not known.
#[test]
fn a_lane_whose_result_is_known_brings_its_value_to_the_others() {
    let written = "PTX brings\n{ x=0; a=0; b=0; P0:r5=a; P1:r5=b; }\n \
        P0@warp 0,cta 0 | P1@warp 0,cta 0 | P2@cta 1 ;\n \
        mov.u32 r7, 0 | ld.relaxed.gpu.u32 r7, [x] | st.relaxed.gpu.u32 [x], 1 ;\n \
        shfl.sync.idx.b32 r8, r5, r7, 31, 3 | shfl.sync.idx.b32 r8, r5, r7, 31, 3 | ;\n \
        mov.u32 r4, 0 | st.relaxed.gpu.u32 [r8], 4 | ;\n \
        ld.relaxed.gpu.u32 r9, [a] | ld.relaxed.gpu.u32 r9, [a] | ;\n \
        setp.eq.u32 p, r9, 4 | setp.eq.u32 p, r9, 4 | ;\n \
        vote.sync.ballot.b32 r2, p, 3 | vote.sync.ballot.b32 r2, p, 3 | ;\n\
        exists (P0:r2=3)\n";
    let (outcomes, _) = crate::spins::outcomes(written, &ptx::model(), 2);
    let outcomes: Vec<Value> = outcomes.into_iter().flatten().collect();
    assert_eq!(outcomes, [0, 2, 3]);
}

/// A warp that adds up how many of its lanes have work, and draws places for them: each way of the ballot and each place would multiply
/// paths.
#[test]
fn a_warp_that_draws_places_for_its_lanes_is_decided() {
    let lines = [
        "ld.global.u32 r7, [in+L]",
        "setp.ne.u32 p2, r7, 0",
        "vote.sync.ballot.b32 r2, p2, 15",
        "@!p2 bra E",
        "brev.b32 r11, r2",
        "bfind.shiftamt.u32 r4, r11",
        "setp.ne.u32 p4, r1, r4",
        "mov.u32 r22, 0",
        "@p4 bra B",
        "popc.b32 r12, r2",
        "atom.global.add.u32 r22, [cnt], r12",
        "B: shfl.sync.idx.b32 r14, r22, r4, 31, r2",
        "mov.u32 r15, -1",
        "shl.b32 r16, r15, r1",
        "not.b32 r17, r16",
        "and.b32 r18, r2, r17",
        "popc.b32 r19, r18",
        "add.u32 r20, r14, r19",
        "mad.wide.u32 rd9, r20, 4, rd8",
        "add.u32 r21, r1, 1",
        "st.global.u32 [rd9], r21",
        "E: mov.u32 r23, 0",
    ];
    let mut written =
        "PTX draws\n{ .global .b32 in[4]={0,5,6,7}; .global .b32 cnt[1]; .global .b32 out[3];\n"
            .to_owned();
    for lane in 0..4 {
        write!(written, ".b64 P{lane}:rd8=out; P{lane}:r1={lane}; ").expect("a string takes all");
    }
    let threads: Vec<String> = (0..4).map(|lane| format!("P{lane}@warp 0,cta 0")).collect();
    writeln!(written, "}}\n {} ;", threads.join(" | ")).expect("a string takes all");
    for line in lines {
        let cells = (0..4).map(|lane| line.replace("+L]", &format!("+{}]", 4 * lane)));
        writeln!(written, " {} ;", cells.collect::<Vec<_>>().join(" | "))
            .expect("a string takes all");
    }
    written += "forall (cnt=3 /\\ out[0]=2 /\\ out[1]=3 /\\ out[2]=4)\n";
    let test =
        litmus::parse("draws", written.as_bytes()).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let model = ptx::model();
    let task = Task { engines: vec![&Enumerate], ..crate::suite::task(&model) };
    assert_eq!(judge::judge(&test, &task).verdict.name(), "holds");
}

/// Two warps add up 64 numbers: each in its own lanes, and then the first warp what both have left in shared memory. `sum` is what the
/// first thread does with the sum in `%r9`.
fn block_sum(barrier: &str, sum: &str) -> String {
    let mut body = "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;\n\
         mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; ld.global.u32 %r9, [%rd4];\n"
        .to_owned();
    let reduce = |body: &mut String| {
        for by in [16, 8, 4, 2, 1] {
            let step = format!("shfl.sync.down.b32 %r8|%p8, %r9, {by}, 31, -1;\n");
            body.push_str(&(step + "add.u32 %r9, %r9, %r8;\n"));
        }
    };
    reduce(&mut body);
    body += "and.b32 %r2, %r1, 31; setp.ne.u32 %p1, %r2, 0; mov.u64 %rd5, s;\n\
         shr.u32 %r3, %r1, 5; mul.wide.u32 %rd6, %r3, 4; add.u64 %rd6, %rd5, %rd6;\n\
         @%p1 bra $B;\nst.shared.u32 [%rd6], %r9;\n";
    writeln!(body, "$B: {barrier}").expect("a string takes all");
    body += "setp.gt.u32 %p2, %r1, 31;\n@%p2 bra $E;\n\
         mov.u32 %r9, 0; setp.gt.u32 %p3, %r1, 1; add.u64 %rd7, %rd5, %rd3;\n\
         @%p3 bra $R;\nld.shared.u32 %r9, [%rd7];\n$R:\n";
    reduce(&mut body);
    writeln!(body, "setp.ne.u32 %p4, %r1, 0;\n@%p4 bra $E;\n{sum}\n$E: ret;")
        .expect("a string takes all");
    kernel(&["in", "out"], &format!(".shared .align 4 .b32 s[2];\n{body}"))
}

/// What is found with two lanes of the first warp, and one of the second; and what is open, and why.
fn of_some_lanes(module: &str, assertions: &[&str]) -> (Vec<FindingKind>, Vec<String>) {
    let some = ThreadChoice::OfEachCta(vec![0, 1, 32]);
    let launch = launch(1, 64, &["in=u32[64]=1", "out=u32[1]=0"], assertions);
    let found = judged(module, &LaunchSpec { threads: some, ..launch }).expect("it is judged");
    let open = found.undecided.iter().map(|open| format!("{}: {}", open.property.name(), open.why));
    (kinds(&found), open.collect())
}

#[test]
fn a_reduction_of_a_block_is_decided_without_most_of_its_lanes() {
    let (sync, stores) = ("bar.sync 0;", "st.global.u32 [%rd2], %r9;");
    let right = block_sum(sync, stores);
    assert_eq!(of_some_lanes(&right, &[]), (vec![], vec![]));
    let without = of_some_lanes(&block_sum("", stores), &[]);
    assert_eq!(without, (vec![FindingKind::DataRace], vec![]));
    // What is stored is not computed, whatever it is.
    let line = right.lines().position(|line| line.contains("shfl")).map_or(0, |line| line + 1);
    for asserted in ["out[0] == 64", "out[0] == 0", "out[0] != 64"] {
        let (found, open) = of_some_lanes(&right, &[asserted]);
        assert_eq!(found, [], "{asserted}");
        let why = format!(
            "program_spec: lane 16 is left out: the value of `shfl.sync` (line {line}) is not computed, and the assertion depends on that: name all lanes of the warp, with `--lanes all`, or launch a block with fewer threads"
        );
        assert_eq!(open, [why], "{asserted}");
    }
    // What has nothing to do with it is decided.
    let (found, open) = of_some_lanes(&right, &["in[0] == 2"]);
    assert_eq!((found, open), (vec![FindingKind::Assert], vec![]));
}

#[test]
fn what_the_value_of_a_lane_that_is_left_out_decides_is_open() {
    let of = |sum: &str| {
        let (found, open) = of_some_lanes(&block_sum("bar.sync 0;", sum), &[]);
        let open = open.iter().map(|why| {
            assert!(why.contains("lane 16 is left out"), "{why}");
            why.split(':').next().unwrap_or_default().to_owned()
        });
        (found, open.collect::<Vec<String>>())
    };
    let (accesses, all) = (["program_spec", "no-data-race"], (vec![], vec!["termination"]));
    let guarded = "setp.gt.u32 %p5, %r9, 3;\n@%p5 st.global.u32 [%rd2], 1;";
    assert_eq!(of(guarded).1[..2], accesses);
    let outside = "mul.wide.u32 %rd8, %r9, 4; add.u64 %rd8, %rd2, %rd8; st.global.u32 [%rd8], 1;";
    let (found, open) = of(outside);
    assert_eq!((found, &open[..2]), (vec![], &accesses.map(str::to_owned)[..]));
    let endless = "setp.gt.u32 %p5, %r9, 3;\n$L: @%p5 bra $L;";
    assert_eq!(of(endless), (all.0.clone(), vec!["termination".to_owned()]));
    // A lane that it names: whether that is left out is not known.
    let named = "shfl.sync.idx.b32 %r10, %r9, %r9, 31, 1; st.global.u32 [%rd2], %r10;";
    assert_eq!(
        of(named),
        (
            vec![],
            vec!["program_spec".to_owned(), "no-data-race".to_owned(), "termination".to_owned()]
        )
    );
}

/// A barrier that only some threads of a warp come to, as a value of another lane says.
#[test]
fn a_barrier_behind_the_value_of_a_lane_that_is_left_out_is_open() {
    let of = |value: &str, lanes: &[u32]| {
        let body = format!(
            "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;\n\
             mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; ld.global.u32 %r9, [%rd4];\n\
             {value}\nand.b32 %r9, %r9, 1; setp.eq.u32 %p1, %r9, 0;\n@%p1 bra $E;\nbar.sync 0;\n$E: ret;"
        );
        let launch = launch(1, 4, &["in=u32[4]={1,2,3,4}", "out=u32[1]"], &[]);
        let threads = ThreadChoice::OfEachCta(lanes.to_vec());
        let module = kernel(&["in", "out"], &body);
        let found = judged(&module, &LaunchSpec { threads, ..launch }).expect("it is judged");
        (kinds(&found), !found.undecided.is_empty())
    };
    let shuffled = "shfl.sync.idx.b32 %r9, %r9, 3, 31, -1;";
    assert_eq!(of("", &[0, 1]), (vec![FindingKind::BarrierDivergence], false));
    assert_eq!(of(shuffled, &[0, 1, 2, 3]), (vec![], false));
    assert_eq!(of(shuffled, &[0, 1]), (vec![], true));
}

/// A shuffle in a branch waits for the lanes of the test, whatever it gets of others.
#[test]
fn a_shuffle_that_asks_a_lane_that_is_left_out_waits_for_the_others() {
    let of = |guard: &str| {
        let body = format!(
            "mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0;\n{guard}\n\
             shfl.sync.down.b32 %r2, %r1, 2, 31, -1;\n$S: barrier.sync 0;\nret;"
        );
        let threads = ThreadChoice::OfEachCta(vec![0, 1]);
        let launch = LaunchSpec { threads, ..launch(1, 4, &[], &[]) };
        kinds(&judged(&kernel(&[], &body), &launch).expect("it is judged"))
    };
    assert_eq!(of(""), []);
    assert_eq!(of("@%p1 bra $S;"), [FindingKind::Hang]);
}

/// The lanes of a warp that write one place do so by one instruction: which value stays does not matter if it is the same.
#[test]
fn lanes_of_a_warp_may_write_the_same_value_to_one_place() {
    let of = |value: &str| {
        kernel(
            &["out"],
            &format!(
                "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n{value}\nst.global.u32 [%rd1], %r2;\nret;"
            ),
        )
    };
    let lanes = |lanes: &[u32]| LaunchSpec {
        threads: ThreadChoice::OfEachCta(lanes.to_vec()),
        ..launch(1, 64, &["out=u32[1]=0"], &[])
    };
    let found = |value: &str, chosen: &[u32]| {
        kinds(&judged(&of(value), &lanes(chosen)).expect("it has a test"))
    };
    let race = [FindingKind::DataRace];
    assert_eq!(found("mov.u32 %r2, 5;", &[0, 1]), []);
    assert_eq!(found("mov.u32 %r2, %r1;", &[0, 1]), race);
    // So is what an exchange of all lanes gives each of them.
    let sum = "redux.sync.add.s32 %r2, %r1, -1;";
    assert_eq!(found(sum, &[0, 1]), []);
    // Warps do not execute an instruction together.
    assert_eq!(found("mov.u32 %r2, 5;", &[0, 32]), race);
    assert_eq!(found(sum, &[0, 32]), race);
}

/// Two lanes of a warp store what they have after butterflies with these masks, and the others are left out. What is found of races,
/// and how often that is left open.
fn after_butterflies(masks: &[u32], step: &str, around: [&str; 2]) -> (Vec<FindingKind>, usize) {
    let steps = masks.iter().zip(2..).map(|(mask, own)| {
        let (taken, next) = (own + 8, own + 1);
        format!(
            "shfl.sync.bfly.b32 %r{taken}, %r{own}, {mask}, 31, -1;\n{step} %r{next}, %r{own}, %r{taken};\n"
        )
    });
    let steps: String = steps.collect();
    let [before, after] = around;
    let stored = masks.len() + 2;
    let body = format!(
        "ld.param.u64 %rd1, [out];\nmov.u32 %r2, %tid.x;\nmov.u32 %r19, 0;\n{before}\n{steps}\
         st.global.u32 [%rd1], %r{stored};\n{after}\nret;"
    );
    let lanes = LaunchSpec {
        threads: ThreadChoice::OfEachCta(vec![0, 1]),
        questions: [LaunchQuestion::Race].into(),
        ..launch(1, 32, &["out=u32[1]=0"], &[])
    };
    let judged = judged(&kernel(&["out"], &body), &lanes).expect("it has a test");
    (kinds(&judged), judged.undecided.len())
}

/// What lanes that are left out bring is not known, and what the others store may be the same all the same.
#[test]
fn what_each_lane_has_after_a_butterfly_is_the_same() {
    let of = |masks: &[u32], step: &str| after_butterflies(masks, step, ["", ""]);
    assert_eq!(of(&[16, 8, 4, 2, 1], "add.s32"), (vec![], 0));
    assert_eq!(of(&[16, 1], "max.s32"), (vec![], 0));
    assert_eq!(of(&[16, 9, 8], "add.f32"), (vec![], 0));
    // Lanes 0 and 1 have other sums.
    assert_eq!(of(&[16, 8, 4, 2], "add.s32"), (vec![], 1));
    assert_eq!(of(&[16, 8, 4, 2, 1], "sub.s32"), (vec![], 1));
    // In a loop, one of them may store the sum of a later iteration.
    let end = "add.s32 %r19, %r19, 1;\nsetp.lt.s32 %p1, %r19, 2;\n@%p1 bra $L;";
    assert_eq!(after_butterflies(&[16, 1], "add.s32", ["$L:", end]), (vec![], 1));
}

/// A line may take a value twice that another one took twice: each line is looked at once.
#[test]
fn what_is_stored_is_followed_once_through_each_line() {
    let step = |at: u32| {
        let next = at + 1;
        format!("shl.b32 %t{at}, %h{at}, 3;\nxor.b32 %h{next}, %h{at}, %t{at};\n")
    };
    let steps: String = (0..60).map(step).collect();
    let body = format!(
        ".reg .b32 %h<61>; .reg .b32 %t<60>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n\
         setp.eq.u32 %p1, %r1, %r1;\nvote.sync.ballot.b32 %h0, %p1, -1;\n{steps}st.global.u32 [%rd1], %h60;\nret;"
    );
    let lanes = LaunchSpec {
        questions: [LaunchQuestion::Race].into(),
        ..launch(1, 2, &["out=u32[1]=0"], &[])
    };
    let judged = judged(&kernel(&["out"], &body), &lanes).expect("it has a test");
    assert_eq!((kinds(&judged), judged.undecided.len()), (vec![], 0));
}

/// Advice does not mend a race that does not count.
#[test]
fn advice_passes_over_stores_of_the_same_value() {
    let advised = |load: &str, scope: &str, weaken: bool| {
        let body = format!(
            "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [f];\nmov.u32 %r1, 1;\nmov.u32 %r3, %ctaid.x;\n\
             setp.ne.u32 %p1, %r3, 0;\n@%p1 bra $B;\nst.global.u32 [%rd1], %r1;\nbar.warp.sync -1;\n\
             st.release.{scope}.global.u32 [%rd2], %r1;\nret;\n$B:\n{load}.{scope}.global.u32 %r4, [%rd2];\n\
             setp.eq.u32 %p2, %r4, 0;\n@%p2 bra $B;\nld.global.u32 %r5, [%rd1];\nret;"
        );
        let module = kernel(&["out", "f"], &body);
        let read = KernelModule::read("k.ptx", &module).expect("a module");
        let model = ptx::model();
        let task = Task { counts: false, ..Task::new(&model) };
        let options = AdviceOptions { weaken, ..RepairEffort::BRIEF.into() };
        let launch = launch(2, 2, &["out=u32[1]", "f=u32[1]"], &[]);
        verify(&read, &launch, &task, &options).expect("it has a test").1
    };
    let found = advised("ld.relaxed", "gpu", false);
    assert_eq!(kinds(&found)[0], FindingKind::DataRace);
    let edits: Vec<Option<&str>> =
        found.repairs.iter().flat_map(|of| &of.edits).map(|of| of.after.as_deref()).collect();
    assert_eq!(edits, [Some("ld.acquire.gpu.global.u32 %r4, [%rd2];")]);
    let weaker = advised("ld.acquire", "sys", true).weaker.expect("it is asked for");
    assert_eq!((weaker.together.len(), weaker.excluded), (2, None), "{weaker:?}");
}
