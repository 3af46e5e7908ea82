//! Asynchronous operations: engines agree on random programs, a fence never adds an outcome, and tests measured
//! elsewhere have their verdicts.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;

use ::fuzz::answer::{asked, limits, naive, of_registers};
use engine::enumerate::Enumerate;
use engine::{ENGINES, Engine, Limit, Limits};
use judge::explain::{ExplainOptions, explanation};
use judge::{Task, judge};
use litmus::arbitrary::asynchronous::{
    AsyncSketch, asynchronous, kernels, multimem, requests, tensor_memory,
};
use litmus::{Quantifier, Test};
use model::isa::Instruction;
use model::ptx;
use proptest::strategy::{Strategy, ValueTree};

use crate::agree::{Answer, ask, difference, number, runner};
use crate::suite;

pub(crate) fn parse(sketch: &AsyncSketch) -> Test {
    let text = sketch.to_string();
    litmus::parse("random", text.as_bytes())
        .unwrap_or_else(|errors| panic!("it does not parse: {}\n{text}", errors[0]))
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
        let test = parse(&sketch);
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
    random(from, 900, number("CAUSEWAY_SEED", seed), |sketch, test, answer| {
        let Ok(other) = ask(solve, &model, test) else { return };
        compared += 1;
        defined += u32::from(matches!(answer, Answer::Outcomes(all) if !all.is_empty()));
        let difference = difference(("enumerate", answer), (solve.name(), &other));
        assert!(difference.is_none(), "{}\n{sketch}", difference.unwrap_or_default());
    });
    eprintln!("{compared} compared, {defined} with outcomes");
    assert!(defined > compared / 10, "only {defined} of {compared} have outcomes");
}

#[test]
fn engines_agree_on_random_asynchronous_programs() {
    engines_agree(&asynchronous(), 20);
}

#[test]
fn engines_agree_on_random_kernels() {
    engines_agree(&kernels(), 22);
}

#[test]
fn engines_agree_on_random_programs_with_tensor_memory() {
    engines_agree(&tensor_memory(), 24);
}

#[test]
fn engines_agree_on_random_requests() {
    engines_agree(&requests(), 26);
}

#[test]
fn engines_agree_on_random_multimem_addresses() {
    engines_agree(&multimem(), 28);
}

/// On random programs, `fuzz --law naive` compares the same.
#[test]
fn tests_of_the_suite_have_the_outcomes_of_naive_candidates() {
    let model = ptx::model();
    let bounded = limits(20_000);
    // Most candidates of loops have no values.
    let free = Limits { work: Some(100_000), ..bounded };
    let mut compared = 0;
    for entry in suite::load(&suite::folder()) {
        if !entry.test.program.is_asynchronous() {
            continue;
        }
        let test = Test { quantifier: Quantifier::Exists, ..of_registers(&entry.test) };
        let answer = asked(&Enumerate, &model, &test.program, &bounded).map(|(answer, _)| answer);
        let Ok(Answer::Outcomes(outcomes)) = answer else { continue };
        let Ok(Some(naive)) = naive(&test, &model, 20_000, &free) else { continue };
        assert_eq!(outcomes, naive, "{}", entry.test.name);
        compared += 1;
    }
    eprintln!("{compared} tests compared");
    assert!(compared > 100, "only {compared} tests were compared");
}

/// The lines of which a test has notes with this code, by the engine that looks at every execution.
fn noted(test: &str, code: &str) -> Vec<String> {
    let test = litmus::parse("noted", test.as_bytes()).expect("it is a test");
    let model = ptx::model();
    let judgement = judge(&test, &Task::new(&model));
    let notes = judgement.notes.into_iter().filter(|note| note.code == code);
    notes.map(|note| note.text.split('`').nth(1).unwrap_or_default().to_owned()).collect()
}

/// What `explain` says of an outcome that one would not expect.
#[test]
fn what_a_read_misses_has_a_reason() {
    let model = ptx::model();
    let explained = |file: &str| {
        let options = ExplainOptions { bound: judge::BOUND, ..ExplainOptions::default() };
        let path = suite::folder().join(file);
        let bytes = std::fs::read(&path).expect("the test is there");
        let test = litmus::parse(file, &bytes).expect("it is a test");
        explanation(&test, &model, options).expect("it is written").text
    };
    let copy = explained("program-order-async-operations/bulk-load+publishes-only-itself.litmus");
    assert!(copy.contains("That does not order what P0 did before it, such as `st.weak"), "{copy}");
    for (file, write) in [
        (
            "async-proxy/bulk-store+no-fence.litmus",
            "`st.weak.shared::cta.u32 [s], 1` (generic proxy)",
        ),
        (
            "async-proxy/pipeline+no-proxy-fence.litmus",
            "`ld.weak.shared::cta.u32 r0, [s]` (generic proxy)",
        ),
    ] {
        let text = explained(file);
        assert!(text.contains(&format!("{write} comes before `cp.async.bulk")), "{text}");
        assert!(text.contains("no `fence.proxy.async` for these bytes is between them"), "{text}");
    }
    // Where a fence is between, and where nothing is waited for, there is no such sentence.
    for file in [
        "async-proxy/bulk-store+fence.litmus",
        "program-order-async-operations/bulk-load+try_wait.litmus",
    ] {
        let text = explained(file);
        assert!(
            !text.contains("base causality order, and no") && !text.contains("That does not order"),
            "{text}"
        );
    }
}

/// Why an access is not ordered after an operation in flight: what is waited for is something else.
#[test]
fn a_race_with_an_operation_in_flight_has_a_reason() {
    let model = ptx::model();
    for (file, reason) in [
        ("bulk-store+no-commit", "is in no group that is committed before"),
        ("cp.async+no-commit", "is in no group that is committed before"),
        ("bulk-store+wait_group-1+newer", "does not wait for the latest group, of which"),
        ("cp.async+two-groups+newer", "does not wait for the latest group, of which"),
        ("bulk-store+wait_group.read+destination", "has read its source, not until it has written"),
        ("bulk-load+try_wait.relaxed", "sees the end of the phase, and is relaxed"),
    ] {
        let path = suite::folder().join(format!("program-order-async-operations/{file}.litmus"));
        let bytes = std::fs::read(&path).expect("the test is there");
        let test = litmus::parse(file, &bytes).expect("it is a test");
        let options = ExplainOptions { bound: judge::BOUND, ..ExplainOptions::default() };
        let shown = explanation(&test, &model, options).expect("it is written").text;
        assert!(shown.contains(reason), "{file}: {shown}");
    }
    let source = |parity: u32| {
        format!(
            "PTX phase\nArch=sm_90a\n{{ .shared .mbarrier b={{1}}; .global .align 16 .b32 g[4]={{7}};\n.shared .align 16 .b32 s[4]; }}\n \
             P0@cta 0 ;\n mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 16 ;\n \
             cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [g], 16, [b] ;\n \
             L: mbarrier.try_wait.parity.shared::cta.b64 p, [b], {parity} ;\n @!p bra L ;\n ld.shared.u32 r0, [s] ;\nexists (P0:r0=0)\n"
        )
    };
    let text = |parity| {
        let test = litmus::parse("phase", source(parity).as_bytes()).expect("it is a test");
        let options = ExplainOptions { bound: judge::BOUND, ..ExplainOptions::default() };
        explanation(&test, &model, options).expect("it is written").text
    };
    assert!(text(1).contains("returns at once: of a new object"), "{}", text(1));
    assert!(!text(0).contains("in phase 0 of its object"), "{}", text(0));
}

/// What the explanations of these tests say beside the execution.
#[test]
fn fences_vectors_and_early_arrivals_that_order_nothing_have_a_reason() {
    let early = "P0's `mbarrier.arrive.shared::cta.b64 _, [b]` comes before `cp.async.wait_group 0`: P1 waits for what came before it";
    let apart = "P0's `fence.sc.cta` and P1's `fence.sc.cta` are in no Fence-SC order: scope .cta";
    let torn = "P1's `ld.relaxed.gpu.v2.u32 {r0, r1}, [x]` sees one element of P0's";
    let tests = [
        (
            "Arch=sm_90a\n{ .global .align 16 .b32 g[4]={7}; .shared .align 16 .b32 s[4]; .shared .mbarrier b={1}; }\n \
             P0@cta 0 | P1@cta 0 ;\n \
             cp.async.cg.shared.global [s], [g], 16 | L: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0 ;\n \
             cp.async.commit_group | @!p bra L ;\n \
             mbarrier.arrive.shared::cta.b64 _, [b] | ld.shared.u32 r0, [s] ;\n cp.async.wait_group 0 | ;\n~exists (P1:r0=0)\n",
            early,
        ),
        (
            "{ x=0; y=0; }\n P0@cta 0 | P1@cta 1 ;\n st.relaxed.gpu.u32 [x], 1 | st.relaxed.gpu.u32 [y], 1 ;\n \
             fence.sc.cta | fence.sc.cta ;\n ld.relaxed.gpu.u32 r0, [y] | ld.relaxed.gpu.u32 r1, [x] ;\n\
             ~exists (P0:r0=0 /\\ P1:r1=0)\n",
            apart,
        ),
        (
            "{ .global .align 8 .b32 x[2]={0,0}; }\n P0@cta 0 | P1@cta 1 ;\n \
             st.relaxed.gpu.v2.u32 [x], {1,1} | ld.relaxed.gpu.v2.u32 {r0,r1}, [x] ;\n~exists (P1:r0=0 /\\ P1:r1=1)\n",
            torn,
        ),
    ];
    let model = ptx::model();
    for (text, reason) in tests {
        let shown = |text: &str| {
            let test = litmus::parse("reason", format!("PTX reason\n{text}").as_bytes())
                .expect("it is a test");
            let options = ExplainOptions { bound: judge::BOUND, ..ExplainOptions::default() };
            explanation(&test, &model, options).expect("it is written").text.replace("\n    ", " ")
        };
        assert!(shown(text).contains(reason), "{}", shown(text));
        // One access, fences of another scope, an arrival after the wait: there is nothing to say.
        let mended = text
            .replace("fence.sc.cta", "fence.sc.gpu")
            .replace(".v2.u32 [x], {1,1}", ".u64 [x], 1")
            .replace(".v2.u32 {r0,r1}, [x]", ".u64 r1, [x]")
            .replace("P1:r0=0 /\\ P1:r1=1", "P1:r1=3")
            .replace("cp.async.commit_group |", "cp.async.wait_all |");
        assert!(!shown(&mended).contains(reason), "{}", shown(&mended));
    }
}

/// 9.7.15.16.5.1: a wait for a phase comes before arrivals in the next one.
#[test]
fn an_arrival_without_a_wait_for_the_phase_before_is_noted() {
    let test = |object: &str, lines: &[&str]| {
        let column = lines.iter().map(|line| format!(" {line} ;\n")).collect::<Vec<_>>().concat();
        format!(
            "PTX phases\nArch=sm_90a\n{{\n.shared .mbarrier b={object};\n}}\n P0@cta 0,cluster 0,gpu 0 ;\n{column}\
             exists (P0:r9=1)\n"
        )
    };
    let arrive = "mbarrier.arrive.shared::cta.b64 _, [b]";
    let relaxed = "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [b]";
    let wait = "L: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 p, [b], 0 ; @!p bra L";
    let test_wait = "mbarrier.test_wait.parity.shared::cta.b64 p, [b], 0";
    let end = "mov.u32 r9, 1";
    let code = "mbarrier-missing-wait";
    assert_eq!(noted(&test("{1}", &[arrive, relaxed, end]), code), [relaxed]);
    assert!(noted(&test("{1}", &[arrive, wait, relaxed, end]), code).is_empty());
    assert!(noted(&test("{2}", &[arrive, relaxed, end]), code).is_empty());
    // Of phase 1 nothing is known before.
    assert!(noted(&test("{1,1}", &[arrive, end]), code).is_empty());
    // It returns true: there is no execution in which it does not.
    assert!(noted(&test("{1}", &[arrive, test_wait, relaxed, end]), code).is_empty());
    // After the arrival is too late.
    assert_eq!(noted(&test("{1}", &[arrive, relaxed, test_wait, end]), code), [relaxed]);
}

#[test]
fn remote_memory_of_a_cta_that_may_have_exited_is_noted() {
    let test = |left: &[&str], right: &[&str]| {
        let lines = left.len().max(right.len());
        let cell = |of: &[&str], line: usize| of.get(line).copied().unwrap_or_default().to_owned();
        let row = |line: usize| format!(" {} | {} ;\n", cell(left, line), cell(right, line));
        let rows = (0..lines).map(row).collect::<Vec<_>>().concat();
        format!(
            "PTX exits\nArch=sm_90a\n{{\n.shared .b32 s=0;\n.shared .mbarrier b={{1}};\nP1:rs=s@P0;\nP1:rb=b@P0;\n}}\n \
             P0@cta 0,cluster 0,gpu 0 | P1@cta 1,cluster 0,gpu 0 ;\n{rows}exists (P1:r0=0)\n"
        )
    };
    let load = "ld.weak.shared::cluster.u32 r0, [rs]";
    let [arrive, relaxed, wait] =
        ["barrier.cluster.arrive", "barrier.cluster.arrive.relaxed", "barrier.cluster.wait"];
    let remote = "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [rb]";
    let waits = ["L: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0", "@!p bra L"];
    let code = "cluster-exited";
    assert_eq!(noted(&test(&["mov.u32 r0, 0"], &[load]), code), [load]);
    assert_eq!(noted(&test(&[arrive, wait], &[arrive, wait, load]), code), [load]);
    assert!(noted(&test(&[arrive, wait], &[load, arrive, wait]), code).is_empty());
    // That it orders no memory makes no difference.
    assert!(noted(&test(&[relaxed, wait], &[load, relaxed, wait]), code).is_empty());
    assert!(noted(&test(&waits, &[load, remote]), code).is_empty());
    assert_eq!(noted(&test(&waits, &[remote, load]), code), [load]);
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
    random(from, 900, number("CAUSEWAY_SEED", seed), |sketch, _, answer| {
        place += 1;
        let more = sketch.with(place, place / 2, steps[place % steps.len()]);
        let Ok(other) = ask(&Enumerate, &model, &parse(&more)) else { return };
        match (answer, &other) {
            (Answer::Outcomes(before), Answer::Outcomes(after)) => {
                assert!(after.is_subset(before), "{sketch}\nwith a fence: {more}");
                fewer += u32::from(after.len() < before.len());
            }
            (Answer::Outcomes(_), _) => panic!("{sketch}\nwith a fence: {more}: {other:?}"),
            _ => {}
        }
    });
    assert!(fewer > 0, "no fence forbids anything");
}

#[test]
fn a_proxy_fence_never_adds_an_outcome() {
    never_adds_an_outcome(&asynchronous(), 21, &["fence.proxy.async"]);
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
    never_adds_an_outcome(&kernels(), 23, &steps);
}

#[test]
fn a_fence_or_a_wait_of_tensor_memory_never_adds_an_outcome() {
    let steps = [
        "tcgen05.fence::before_thread_sync",
        "tcgen05.fence::after_thread_sync",
        "tcgen05.wait::ld.sync.aligned",
        "tcgen05.wait::st.sync.aligned",
    ];
    never_adds_an_outcome(&tensor_memory(), 25, &steps);
}

#[test]
fn a_fence_beside_requests_never_adds_an_outcome() {
    let steps = [
        "fence.proxy.async",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
    ];
    never_adds_an_outcome(&requests(), 27, &steps);
}

#[test]
fn a_fence_beside_multimem_addresses_never_adds_an_outcome() {
    let steps = ["fence.acq_rel.sys", "fence.sc.sys", "fence.proxy.alias"];
    never_adds_an_outcome(&multimem(), 29, &steps);
}

/// Tests that were judged by hand, from the document alone.
#[test]
fn measured_tests_have_their_verdicts() {
    let folder = suite::root().join("tests/measured/asynchronous");
    let files = std::fs::read_dir(&folder).expect("it is a folder");
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
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        if !words.contains(" Events:") && !words.contains("accesses no memory") {
            bare.push(format!("{text}\n{said}"));
        }
    }
    assert!(bare.is_empty(), "{} of {}: {}", bare.len(), written.len(), bare.join("\n"));
}

/// Lanes are left out, so an address with a lane is not a column of another variable, nor of any memory.
#[test]
fn an_address_of_tensor_memory_with_a_lane_is_undecided() {
    let model = ptx::model();
    let words = ["rc", "r1"];
    for (word, of_alloc) in words.into_iter().zip([false, true]) {
        let (declared, loaded) = if of_alloc {
            (".shared .b32 s=0x100000;", "ld.shared.b32 r1, [s]")
        } else {
            ("", "mov.b32 r1, rc")
        };
        let source = format!(
            "PTX lane\nArch=sm_100a\n{{\n.tmem c[4]; .tmem d[4]; {declared} P0:rc=c;\n}}\n P0@cta 0,gpu 0 ;\n {loaded} ;\n \
             add.u32 r2, {word}, 0x100000 ;\n tcgen05.ld.sync.aligned.32x32b.x1.b32 {{r0}}, [r2] ;\nexists (P0:r0=0)\n"
        );
        let test = litmus::parse("lane", source.as_bytes()).expect("a test");
        for engine in ENGINES {
            let answer =
                asked(*engine, &model, &test.program, &limits(1000)).map(|(answer, _)| answer);
            assert_eq!(answer, Err(Limit::TensorLane), "{}\n{source}", engine.name());
        }
    }
}

/// What memory may hold decides which counts there are; in a loop with an atomic, its paths say how far it comes.
#[test]
fn what_memory_may_hold_decides_which_counts_there_are() {
    let model = ptx::model();
    let counted = [
        ("ld.relaxed.gpu.u32 r0, [f]", 2),
        ("atom.relaxed.gpu.add.u32 r0, [f], 1", 2),
        ("L1: atom.relaxed.gpu.add.u32 r0, [f], 40 ; @p bra L1 ; add.u32 r0, r0, 100", 2),
    ];
    for (first, outcomes) in counted {
        let mut source = "PTX count\nArch=sm_90a\n{ .shared .mbarrier b={1}; f=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n"
            .to_owned();
        let rest = ["mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [b], r0"];
        let mut other = "st.relaxed.gpu.u32 [f], 17";
        for cell in first.split(" ; ").chain(rest) {
            writeln!(source, " {cell} | {other} ;").expect("a string takes it");
            other = "";
        }
        source += "exists (P0:r0=0)\n";
        let test = litmus::parse("count", source.as_bytes())
            .unwrap_or_else(|errors| panic!("{}\n{source}", errors[0]));
        for engine in ENGINES {
            let answer = asked(*engine, &model, &test.program, &limits(1000));
            let counted = match answer {
                Ok((Answer::Outcomes(of), _)) => of.len(),
                Ok((Answer::Undefined | Answer::Stuck, _)) => panic!("it has outcomes\n{source}"),
                Err(limit) => panic!("{limit:?}\n{source}"),
            };
            assert_eq!(counted, outcomes, "{}\n{source}", engine.name());
        }
    }
}
