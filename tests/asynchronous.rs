//! Asynchronous operations: engines agree on random programs, a fence never adds an outcome, and tests measured
//! elsewhere have their verdicts.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;

use engine::enumerate::Enumerate;
use engine::judge::{Task, judge};
use engine::{ENGINES, Engine};
use litmus::Test;
use model::isa::Instruction;
use model::program::LaunchOrder;
use model::ptx;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;

use crate::agree::{Answer, ask, difference, number, runner};
use crate::suite;

/// What a thread may do. `%` is the number of the line, for labels.
const STEPS: &[&str] = &[
    "st.shared.u32 [s], 1",
    "st.shared.u32 [s], 2",
    "ld.shared.u32 r%, [s]",
    "ld.shared.u32 r%, [t]",
    "st.global.u32 [g], 3",
    "ld.global.u32 r%, [g]",
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [g], 16, [b]",
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [t], [g], 16, [b]",
    "cp.async.bulk.global.shared::cta.bulk_group [g], [s], 16",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.wait_group 0",
    "cp.async.bulk.wait_group.read 0",
    "cp.async.cg.shared::cta.global [s], [g], 16",
    "cp.async.ca.shared::cta.global [t], [g], 16, 8",
    "cp.async.commit_group",
    "cp.async.wait_group 1",
    "cp.async.wait_all",
    "cp.async.mbarrier.arrive.shared::cta.b64 [b]",
    "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [b]",
    "mbarrier.arrive.shared::cta.b64 _, [b]",
    "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [b]",
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 16",
    "mbarrier.test_wait.parity.shared::cta.b64 p%, [b], 0",
    "L%: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0 ; @!p bra L%",
    "L%: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 p, [b], 0 ; @!p bra L%",
    "bar.sync 0",
    "fence.acq_rel.cta",
    "fence.proxy.async",
    "fence.proxy.async.shared::cta",
    "fence.proxy.async.global",
];

/// What a thread may do beside that where kernels follow one another, and where tensors are copied.
const KERNEL_STEPS: &[&str] = &[
    "st.global.u32 [g], 3",
    "ld.global.u32 r%, [g]",
    "ld.global.u32 r%, [f]",
    "st.global.u32 [f], 4",
    "st.release.gpu.global.u32 [f], 6",
    "ld.acquire.gpu.global.u32 r%, [f]",
    "ld.shared.u32 r%, [s]",
    "fence.acq_rel.gpu",
    "fence.acq_rel.cta",
    "griddepcontrol.launch_dependents",
    "griddepcontrol.launch_dependents",
    "griddepcontrol.wait",
    "bar.sync 0",
    "fence.proxy.async",
    "st.global.u32 [m], 5",
    "fence.proxy.tensormap::generic.release.gpu",
    "fence.proxy.tensormap::generic.acquire.gpu [m], 128",
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 16",
    "cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes [s], [m, {i}], [b]",
    "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [m, {i}], [s]",
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [g], 16, [b]",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.wait_group 0",
    "cp.async.bulk.wait_group.read 0",
    "L%: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0 ; @!p bra L%",
];

/// Where the object is expected by so many arrivals, columns of steps. The last column may be of a kernel that is launched
/// behind that of the others.
#[derive(Clone, Debug)]
pub(crate) struct AsyncSketch {
    count: u32,
    launch: Option<LaunchOrder>,
    columns: Vec<Vec<&'static str>>,
}

pub(crate) fn sketches() -> impl Strategy<Value = AsyncSketch> {
    let column = || proptest::collection::vec(select(STEPS), 1..5);
    (1..3_u32, proptest::collection::vec(column(), 1..3)).prop_map(|(count, columns)| AsyncSketch {
        count,
        launch: None,
        columns,
    })
}

fn kernel_sketches() -> impl Strategy<Value = AsyncSketch> {
    let column = || proptest::collection::vec(select(KERNEL_STEPS), 1..5);
    (select(&LaunchOrder::ALL[..]), proptest::collection::vec(column(), 2..4))
        .prop_map(|(order, columns)| AsyncSketch { count: 1, launch: Some(order), columns })
}

impl AsyncSketch {
    pub(crate) fn parse(&self) -> Test {
        let mut text = format!(
            "PTX random\n{{\n.shared .mbarrier b={{{}}}; .shared .b32 s[4]; .shared .b32 t[4]; .global .b32 g[4]={{7}};\n}}\n",
            self.count
        );
        if let Some(order) = self.launch {
            let declared =
                format!("{{\n.global .b32 f; m @tensormap g; kernel 0 -> 1 @{};", order.name());
            text = text.replacen('{', &declared, 1);
        }
        let cells = |column: &Vec<&str>| -> Vec<String> {
            let numbered = column.iter().enumerate();
            numbered
                .flat_map(|(line, step)| {
                    let step = step.replace('%', &line.to_string());
                    step.split(" ; ").map(str::to_owned).collect::<Vec<String>>()
                })
                .collect()
        };
        let columns: Vec<Vec<String>> = self.columns.iter().map(cells).collect();
        let last = columns.len() - 1;
        let kernel = |n: usize| usize::from(self.launch.is_some() && n == last);
        let names: Vec<String> =
            (0..=last).map(|n| format!("P{n}@cta 0,gpu 0,kernel {}", kernel(n))).collect();
        writeln!(text, "{} ;", names.join(" | ")).expect("strings can be written");
        for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
            let cells: Vec<&str> =
                columns.iter().map(|column| column.get(row).map_or("", String::as_str)).collect();
            writeln!(text, "{} ;", cells.join(" | ")).expect("strings can be written");
        }
        let mut observed = match self.launch {
            None => vec!["s[0]".to_owned(), "t[0]".to_owned()],
            Some(_) => vec!["[s@P0]".to_owned(), format!("[s@P{last}]"), "f".to_owned()],
        };
        observed.push("g[0]".to_owned());
        for (thread, column) in self.columns.iter().enumerate() {
            for (line, step) in column.iter().enumerate() {
                if step.contains("r%") {
                    observed.push(format!("P{thread}:r{line}"));
                }
                if step.contains("tensor.1d") {
                    observed.push(format!("P{thread}:descriptor"));
                }
                if step.contains("p%") {
                    observed.push(format!("P{thread}:p{line}"));
                }
            }
        }
        writeln!(text, "locations [{};]\nexists (g[0]=0)", observed.join("; "))
            .expect("strings can be written");
        litmus::parse("random", text.as_bytes())
            .unwrap_or_else(|errors| panic!("it does not parse: {}\n{text}", errors[0]))
    }

    /// The same with another step in one column.
    fn with(&self, column: usize, at: usize, step: &'static str) -> AsyncSketch {
        let mut more = self.clone();
        let column = column % more.columns.len();
        let place = at % (more.columns[column].len() + 1);
        more.columns[column].insert(place, step);
        more
    }
}

/// Visits random programs, with what the enumerating engine answers.
fn random(
    from: &impl Strategy<Value = AsyncSketch>,
    cases: u64,
    seed: u64,
    mut visit: impl FnMut(&AsyncSketch, &Test, &Answer),
) {
    let model = ptx::model();
    let mut runner = runner(seed);
    let (mut answered, cases) = (0, number("CAUSEWAY_CASES", cases));
    for _ in 0..cases {
        let sketch = from.new_tree(&mut runner).expect("a program is drawn").current();
        let test = sketch.parse();
        if let Ok(answer) = ask(&Enumerate, &model, &test) {
            answered += 1;
            visit(&sketch, &test, &answer);
        }
    }
    assert!(2 * answered > cases, "only {answered} of {cases} programs were answered");
}

fn engines_agree(from: &impl Strategy<Value = AsyncSketch>, seed: u64) {
    let model = ptx::model();
    let (mut compared, mut defined) = (0, 0);
    let Some(&solve) = ENGINES.iter().find(|engine| engine.name() != Enumerate.name()) else {
        eprintln!("SKIPPED: there is one engine");
        return;
    };
    random(from, 1500, number("CAUSEWAY_SEED", seed), |sketch, test, answer| {
        let Ok(other) = ask(solve, &model, test) else { return };
        compared += 1;
        defined += u32::from(matches!(answer, Answer::Outcomes(all) if !all.is_empty()));
        let difference = difference(("enumerate", answer), (solve.name(), &other));
        assert!(difference.is_none(), "{}\n{sketch:?}", difference.unwrap_or_default());
    });
    eprintln!("{compared} compared, {defined} with outcomes");
    assert!(defined > compared / 10, "only {defined} of {compared} have outcomes");
}

#[test]
fn engines_agree_on_random_asynchronous_programs() {
    engines_agree(&sketches(), 20);
}

#[test]
fn engines_agree_on_random_kernels() {
    engines_agree(&kernel_sketches(), 22);
}

/// A thread's path holds a limited number of events; a copy counts with each of its parts.
#[test]
fn a_copy_with_too_many_parts_is_undecided() {
    let model = ptx::model();
    for (bytes, verdict) in [(128, "holds"), (4096, "undecided")] {
        let words = bytes / 4;
        let source = format!(
            "PTX large\nArch=sm_90a\n{{\n.global .b32 g[{words}];\n.shared .b32 s[{words}];\n}}\n P0@cta 0,cluster 0,gpu 0 ;\n\
             cp.async.bulk.global.shared::cta.bulk_group [g], [s], {bytes} ;\n cp.async.bulk.commit_group ;\n\
             cp.async.bulk.wait_group 0 ;\n ld.weak.global.u32 r0, [g] ;\nexists (P0:r0=0)\n"
        );
        let test = litmus::parse("large", source.as_bytes()).expect("it is a test");
        for engine in ENGINES {
            let task = Task { engines: vec![*engine], ..Task::new(&model) };
            assert_eq!(judge(&test, &task).verdict.name(), verdict, "{bytes} bytes");
        }
    }
}

/// A step that only orders makes nothing else possible.
fn never_adds_an_outcome(
    from: &impl Strategy<Value = AsyncSketch>,
    seed: u64,
    steps: &[&'static str],
) {
    let model = ptx::model();
    let (mut place, mut fewer) = (0, 0);
    random(from, 1500, number("CAUSEWAY_SEED", seed), |sketch, _, answer| {
        place += 1;
        let more = sketch.with(place, place / 2, steps[place % steps.len()]);
        let Ok(other) = ask(&Enumerate, &model, &more.parse()) else { return };
        match (answer, &other) {
            (Answer::Outcomes(before), Answer::Outcomes(after)) => {
                assert!(after.is_subset(before), "{sketch:?}\nwith a fence: {more:?}");
                fewer += u32::from(after.len() < before.len());
            }
            (Answer::Outcomes(_), _) => panic!("{sketch:?}\nwith a fence: {more:?}: {other:?}"),
            _ => {}
        }
    });
    assert!(fewer > 0, "no fence forbids anything");
}

#[test]
fn a_proxy_fence_never_adds_an_outcome() {
    never_adds_an_outcome(&sketches(), 21, &["fence.proxy.async"]);
}

/// A launch does not only order: a later one of its CTA has no effect.
#[test]
fn a_fence_or_a_wait_in_kernels_never_adds_an_outcome() {
    let steps = [
        "fence.acq_rel.gpu",
        "griddepcontrol.wait",
        "fence.proxy.tensormap::generic.release.gpu",
        "fence.proxy.tensormap::generic.acquire.gpu [m], 128",
        "fence.proxy.async",
    ];
    never_adds_an_outcome(&kernel_sketches(), 23, &steps);
}

/// Tests that were measured elsewhere, where they are present.
#[test]
fn measured_tests_have_their_verdicts() {
    let folder = suite::root().join("../shared/oracle/async/litmus");
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!("SKIPPED: {} is not present", folder.display());
        return;
    };
    let model = ptx::model();
    let task = suite::task(&model);
    let (mut known, mut wrong) = (0, String::new());
    for file in files {
        let path = file.expect("the folder can be read").path();
        let bytes = std::fs::read(&path).expect("the file can be read");
        let test = litmus::parse(&path.to_string_lossy(), &bytes);
        let Ok(test) = test else { panic!("{} is not read", path.display()) };
        known += 1;
        let judgement = judge(&test, &task);
        if let Some(complaint) = judgement.complaint.or(judgement.disagreement) {
            writeln!(wrong, "{}: {complaint}", path.display()).expect("strings can be written");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(known >= 95, "only {known} tests are read");
}

/// What the suite executes `ptx explain` explains.
#[test]
fn every_asynchronous_instruction_of_the_suite_is_explained() {
    let mut written = BTreeSet::new();
    for entry in suite::load(&suite::folder()) {
        for line in entry.test.program.threads.iter().flat_map(|thread| &thread.lines) {
            if matches!(line.instruction, Instruction::Asynchronous(_)) {
                written.insert(line.text.clone());
            }
        }
    }
    assert!(written.len() > 90, "only {} instructions", written.len());
    let mut bare = Vec::new();
    for text in &written {
        let output = Command::new(env!("CARGO_BIN_EXE_causeway"))
            .args(["ptx", "explain", text])
            .output()
            .expect("the binary runs");
        let said = String::from_utf8_lossy(&output.stdout);
        if !said.contains("\nEvents:") {
            bare.push(format!("{text}\n{said}"));
        }
    }
    assert!(bare.is_empty(), "{} of {}: {}", bare.len(), written.len(), bare.join("\n"));
}
