//! Exchanges of values between lanes: engines agree on random programs, and an exchange orders nothing.

use std::fmt::Write as _;

use engine::enumerate::Enumerate;
use engine::{ENGINES, Engine};
use litmus::Test;
use model::ptx;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;

use crate::agree::{Answer, ask, difference, number, runner};

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
