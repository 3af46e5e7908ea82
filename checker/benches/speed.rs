//! The speeds the project holds itself to, measured and printed: `cargo bench --bench speed`.
//!
//! One thread unless said. Times are means or medians over repetitions on this machine, so compare
//! the ratios of one run. Figures for herd7 were measured on a machine like this by others.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

#[path = "../../crates/ptx/tests/ptx/compiled.rs"]
mod compiled;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ::ptx as ptx_text;
use checker::input;
use checker::suite::{self, SuiteInput, SuiteRequest};
use engine::ENGINES;
use judge::{Property, Task, judge};
use litmus::Test;
use model::ptx;
use model::rel::Model;

fn main() {
    let model = ptx::model();
    let filter: Option<String> = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let wanted = |name: &str| filter.as_ref().is_none_or(|filter| name.contains(filter.as_str()));
    if wanted("oracle") {
        oracle(&model);
    }
    if wanted("small") {
        small(&model);
    }
    if wanted("large") {
        large(&model);
    }
    if wanted("suite") {
        own_suite(&model);
    }
    if wanted("parallel") {
        parallel(&model);
    }
    if wanted("lint") {
        lint();
    }
}

fn task<'a>(model: &'a Model, engine: &str, verdict_only: bool) -> Task<'a> {
    let engines = ENGINES.iter().copied().filter(|of| of.name() == engine).collect();
    Task {
        model,
        cxx: None,
        engines,
        bound: 2,
        timeout: None,
        memory: usize::MAX,
        property: Property::ProgramSpec,
        verdict_only,
        counts: false,
        portfolio: false,
        work: None,
        until: None,
        blame: false,
        alternatives: &[],
        rests: false,
        races: false,
    }
}

fn line(name: &str, value: &str, wanted: &str) {
    println!("{name:66} {value:>12}   {wanted}");
}

fn show(seconds: f64) -> String {
    if seconds < 1e-3 {
        format!("{:.1} µs", seconds * 1e6)
    } else if seconds < 1.0 {
        format!("{:.2} ms", seconds * 1e3)
    } else {
        format!("{seconds:.2} s")
    }
}

/// Seconds for one run, the best of some.
fn best(mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    let begin = Instant::now();
    let mut runs = 0;
    while runs < 3 || begin.elapsed().as_secs_f64() < 0.05 && runs < 1000 {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
        runs += 1;
    }
    best
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of.get(of.len() / 2).copied().unwrap_or(f64::NAN)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = input::find(&[folder.to_path_buf()], "litmus").unwrap_or_default();
    files.into_iter().filter_map(|path| Some((path.clone(), std::fs::read(path).ok()?))).collect()
}

fn parse(path: &Path, bytes: &[u8]) -> Option<Test> {
    litmus::parse(&path.to_string_lossy(), bytes).ok()
}

/// A peer's tests, where they are present.
fn oracle(model: &Model) {
    let Some(folder) = std::env::var_os("CAUSEWAY_ORACLE") else {
        println!("tests of a peer: skipped, CAUSEWAY_ORACLE does not name them");
        return;
    };
    let files = read(&Path::new(&folder).join("litmus/dat3m"));
    let task = task(model, "enumerate", false);
    let start = Instant::now();
    let tests: Vec<Test> = files.iter().filter_map(|(p, bytes)| parse(p, bytes)).collect();
    let parsing = start.elapsed().as_secs_f64();
    let start = Instant::now();
    for test in &tests {
        judge(test, &task);
    }
    let judging = start.elapsed().as_secs_f64();
    let name = format!("oracle folder, {} tests, enumerate: parse + judge", tests.len());
    line(&name, &show(parsing + judging), "< 1 s");
    let straight = |test: &&Test| {
        test.program
            .threads
            .iter()
            .flat_map(|t| &t.lines)
            .all(|l| l.instruction.as_branch().is_none())
    };
    let each: Vec<f64> =
        tests.iter().filter(straight).map(|t| best(|| drop(judge(t, &task)))).collect();
    let name = format!("oracle folder, {} straight-line tests: median to judge", each.len());
    line(&name, &show(median(each)), "< 20 µs");
}

/// Two threads of two accesses each, over two locations, in all directions and some strengths.
fn small_tests() -> Vec<Test> {
    let mut tests = Vec::new();
    let orders = ["weak", "relaxed.cta", "relaxed.gpu", "acquire.gpu"];
    let placements = ["0,cluster 0,gpu 0", "1,cluster 0,gpu 0", "1,cluster 1,gpu 0"];
    for placement in placements {
        for shape in 0..16u32 {
            for order in 0..256usize {
                let mut rows = [String::new(), String::new()];
                let mut observed = Vec::new();
                for thread in 0..2 {
                    for (at, row) in rows.iter_mut().enumerate() {
                        let access = 2 * thread + at;
                        let location = if (thread + at) % 2 == 0 { "x" } else { "y" };
                        let order = orders[order >> (2 * access) & 3];
                        if shape >> access & 1 == 0 {
                            let order = order.replace("acquire", "release");
                            write!(row, "st.{order}.u32 [{location}], {} ", access + 1)
                                .expect("writing to a string succeeds");
                        } else {
                            write!(row, "ld.{order}.u32 r{at}, [{location}] ")
                                .expect("writing to a string succeeds");
                            observed.push(format!("P{thread}:r{at}=0"));
                        }
                        *row += if thread == 0 { "| " } else { ";" };
                    }
                }
                observed.push("x=1".to_owned());
                let text = format!(
                    "PTX small\n{{ x=0; y=0; }}\n P0@cta 0,cluster 0,gpu 0 | P1@cta {placement} ;\n{}\n{}\nexists ({})\n",
                    rows[0],
                    rows[1],
                    observed.join(" /\\ ")
                );
                tests.extend(parse(Path::new("small"), text.as_bytes()));
            }
        }
    }
    tests
}

fn small(model: &Model) {
    let tests = small_tests();
    for (verdict_only, name, wanted) in [
        (false, "all states", "< 0.05 ms (herd7: 0.8 ms)"),
        (true, "verdict only", "< 0.03 ms (herd7: 0.28 ms)"),
    ] {
        let task = task(model, "enumerate", verdict_only);
        let seconds = best(|| tests.iter().for_each(|test| drop(judge(test, &task))));
        let each = seconds / f64::from(u32::try_from(tests.len()).unwrap_or(u32::MAX));
        let name = format!("2 threads, 4 accesses, {} tests: {name}, mean", tests.len());
        line(&name, &show(each), wanted);
    }
}

const TICKET_LOCK: &str = r"PTX ticket-lock
{ in=0; out=0; x=0; }
 P0@cta 0,gpu 0                       | P1@cta 1,gpu 0                       ;
 atom.relaxed.gpu.add.u32 r1, [in], 1 | atom.relaxed.gpu.add.u32 r1, [in], 1 ;
 L0: ld.acquire.gpu.u32 r2, [out]     | L0: ld.acquire.gpu.u32 r2, [out]     ;
 setp.ne.u32 p, r1, r2                | setp.ne.u32 p, r1, r2                ;
 @p bra L0                            | @p bra L0                            ;
 ld.weak.u32 r3, [x]                  | ld.weak.u32 r3, [x]                  ;
 st.weak.u32 [x], 1                   | st.weak.u32 [x], 2                   ;
 atom.release.gpu.add.u32 r4, [out], 1 | atom.release.gpu.add.u32 r4, [out], 1 ;
~exists (P0:r3=0 /\ P1:r3=0)
";

fn store_buffer(threads: usize) -> String {
    let columns = |cell: &dyn Fn(usize) -> String| {
        let cells: Vec<String> = (0..threads).map(cell).collect();
        format!(" {} ;\n", cells.join(" | "))
    };
    let locations: Vec<String> = (0..threads).map(|t| format!("x{t}=0;")).collect();
    let condition: Vec<String> = (0..threads).map(|t| format!("P{t}:r0=0")).collect();
    format!(
        "PTX SB{threads}+fence.scs\n{{ {} }}\n{}{}{}{}~exists ({})\n",
        locations.join(" "),
        columns(&|t| format!("P{t}@cta {t},gpu 0")),
        columns(&|t| format!("st.weak.u32 [x{t}], 1")),
        columns(&|_| "fence.sc.gpu".to_owned()),
        columns(&|t| format!("ld.weak.u32 r0, [x{}]", (t + 1) % threads)),
        condition.join(" /\\ ")
    )
}

fn one_location(threads: usize) -> String {
    let columns = |cell: &dyn Fn(usize) -> String| {
        let cells: Vec<String> = (0..threads).map(cell).collect();
        format!(" {} ;\n", cells.join(" | "))
    };
    let registers: Vec<String> =
        (0..threads).flat_map(|t| [format!("{t}:r0;"), format!("{t}:r1;")]).collect();
    format!(
        "PTX CORR{threads}\n{{ x=0; }}\n{}{}{}{}locations [{} x;]\n~exists (P0:r0=2 /\\ P0:r1=1 /\\ P1:r0=1)\n",
        columns(&|t| format!("P{t}@cta {t},gpu 0")),
        columns(&|t| format!("st.relaxed.gpu.u32 [x], {}", t + 1)),
        columns(&|_| "ld.relaxed.gpu.u32 r0, [x]".to_owned()),
        columns(&|_| "ld.relaxed.gpu.u32 r1, [x]".to_owned()),
        registers.join(" ")
    )
}

fn large(model: &Model) {
    for (name, text, wanted) in [
        (
            "ticket lock, 2 threads, unrolled twice",
            TICKET_LOCK.to_owned(),
            "< 50 ms (herd7: 4.7 s)",
        ),
        ("SB with fence.sc on 8 threads", store_buffer(8), "< 1 s (herd7: none in 60 s)"),
        (
            "5 threads, a write and two reads each, one location",
            one_location(5),
            "< 1 s (herd7: none in 60 s)",
        ),
    ] {
        let Some(test) = parse(Path::new(name), text.as_bytes()) else {
            line(name, "unreadable", wanted);
            continue;
        };
        for engine in ENGINES {
            let task = task(model, engine.name(), false);
            let start = Instant::now();
            let judgement = judge(&test, &task);
            let seconds = start.elapsed().as_secs_f64();
            let name = format!(
                "{name}, {}: {}, {} outcomes",
                engine.name(),
                judgement.verdict.name(),
                judgement.found.outcomes.len()
            );
            line(&name, &show(seconds), wanted);
            // One query for each outcome: the solver is for tests with fewer of them.
            if judgement.found.outcomes.len() > 10_000 {
                break;
            }
        }
    }
}

fn own_suite(model: &Model) {
    let tests: Vec<Test> = read(&root().join("litmus/suite"))
        .iter()
        .filter_map(|(p, bytes)| parse(p, bytes))
        .collect();
    if tests.is_empty() {
        return;
    }
    for engine in ENGINES {
        let task = task(model, engine.name(), false);
        let each: Vec<f64> = tests.iter().map(|test| best(|| drop(judge(test, &task)))).collect();
        let name = format!("own suite, {} tests, {}: median to judge", tests.len(), engine.name());
        let wanted = if engine.name() == "solve" { "< 2 ms" } else { "" };
        line(&name, &show(median(each)), wanted);
    }
}

fn parallel(model: &Model) {
    let suite = input::find(&[root().join("litmus/suite")], "litmus").unwrap_or_default();
    let files: Vec<SuiteInput> =
        (0..8).flat_map(|_| suite.iter().cloned().map(SuiteInput::file)).collect();
    if files.is_empty() {
        return;
    }
    let mut task = task(model, "enumerate", false);
    task.engines = ENGINES.to_vec();
    let judge = |index: usize| suite::judge_file(&files[index], &SuiteRequest::default(), &task);
    let run = |jobs: usize| {
        best(|| {
            suite::run(&files, jobs, &judge, &mut |_| Ok(())).expect("nothing is written");
        })
    };
    let (alone, both) = (run(1), run(2));
    line(
        "own suite 8 times, all engines: 2 threads against 1",
        &format!("{:.2} x", alone / both),
        "> 1.7 x",
    );
}

/// Modules of PTX, read and linted; twice as long takes twice as long.
fn lint() {
    for (name, memory_only) in [("a third of memory", false), ("all of memory", true)] {
        let run = |lines: usize| {
            let text = compiled::module(lines, memory_only);
            let linted = ptx_text::lint("m.ptx", text.as_bytes(), ptx_text::LintOptions::default());
            assert!(linted.diagnostics.is_empty(), "{}", linted.diagnostics[0]);
            let seconds = best(|| {
                drop(ptx_text::lint("m.ptx", text.as_bytes(), ptx_text::LintOptions::default()));
            });
            (seconds, linted.instructions, text.len())
        };
        let (seconds, instructions, bytes) = run(100_000);
        let each =
            |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / seconds / 1e6;
        let name = format!("lint, 100,000 instructions, {name}");
        line(&name, &show(seconds), "");
        line(
            &format!("{name}: memory instructions"),
            &format!("{:.2} M/s", each(instructions)),
            "> 1 M/s",
        );
        line(&format!("{name}: text"), &format!("{:.0} MB/s", each(bytes)), "");
        line(
            &format!("{name}: twice as many"),
            &format!("{:.2} x", run(200_000).0 / seconds),
            "2 x",
        );
    }
}
