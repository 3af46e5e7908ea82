//! Verdicts of whole tests.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::clock::Deadline;
use engine::exit::Exit;
use engine::sought::Sought;
use engine::{ENGINES, Engine, ExecutionFacts, Limit, Limits, MEMORY, OutcomeVisitor, Race};
use execution::unfold::{UnfoldLimit, Unfolded};
use litmus::Test;
use model::program::Program;
use model::reading::Readings;
use model::rel::Model;
use model::value::Value;

use crate::explain::{ExplainOptions, explanation};
use crate::resting::resting;
use crate::{Property, Task, Verdict, alternatives, judge};

/// The race is in the iteration that reads 2.
const RACE_BEHIND_THE_BOUND: &str = r"PTX race-behind-the-bound
{
uint32_t x=0; y=0;
}
 P0@cta 0                               | P1@cta 1                  ;
 L: atom.relaxed.gpu.add.u32 r0, [y], 1 | st.weak.u32 [x], 1        ;
 setp.ne.u32 p, r0, 2                   | st.relaxed.gpu.u32 [y], 9 ;
 @p bra M                               |                           ;
 ld.weak.u8 r1, [x]                     |                           ;
 M: setp.lt.u32 p, r0, 2                |                           ;
 @p bra L                               |                           ;
exists (P0:r0=9)
";

fn task(model: &Model) -> Task<'_> {
    let engines = ENGINES.to_vec();
    let (timeout, verdict_only, blame) = (None, false, false);
    Task {
        model,
        cxx: None,
        engines,
        bound: 2,
        timeout,
        memory: MEMORY,
        property: Property::ProgramSpec,
        verdict_only,
        counts: true,
        portfolio: false,
        work: None,
        until: None,
        blame,
        alternatives: &[],
        rests: false,
        races: false,
    }
}

/// The program is undefined; what is shown of it keeps what 8.7.2 promises, and no more.
#[test]
fn atomics_of_different_sizes_exclude_one_another() {
    let model = model::ptx::model();
    for (scope, promised) in [("gpu", true), ("cta", false)] {
        let program = format!(
            "PTX 2xatom\n{{\nuint64_t x=0;\n}}\n P0@cta 0 | P1@cta 1 ;\n \
             atom.{scope}.add.u64 r0, [x], 1 | atom.{scope}.add.u32 r0, [x], 1 ;\n\
             exists (P0:r0=0 /\\ P1:r0=0)\n"
        );
        let test = litmus::parse("", program.as_bytes()).expect("a test");
        for &engine in ENGINES {
            let judged = judge(&test, &Task { engines: vec![engine], ..task(&model) });
            assert_eq!(judged.verdict.name(), "undefined");
            let lost = |outcome: &[Value]| outcome.iter().all(|&value| value == 0);
            let lost = judged.found.outcomes.keys().any(|outcome| lost(outcome));
            assert_eq!(lost, !promised, "{} {scope}", engine.name());
            let notes: Vec<&str> = judged.notes.iter().map(|note| note.code).collect();
            let expected: &[&str] = if promised { &["atomics-exclude-each-other"] } else { &[] };
            assert_eq!(notes, expected, "{} {scope}", engine.name());
        }
    }
}

#[test]
fn a_witness_beats_a_bound_behind_which_the_program_may_be_undefined() {
    let test = litmus::parse("", RACE_BEHIND_THE_BOUND.as_bytes()).expect("a test");
    let never = RACE_BEHIND_THE_BOUND.replace("exists (P0:r0=9)", "exists (P0:r0=8)");
    let never = litmus::parse("", never.as_bytes()).expect("a test");
    let model = model::ptx::model();
    let judged = |test: &Test, bound| judge(test, &Task { bound, ..task(&model) });
    let found = judged(&test, 2);
    assert_eq!((found.verdict.name(), found.notes[0].code), ("holds", "not-explored"));
    assert_eq!(judged(&never, 2).verdict.name(), "undecided");
    assert_eq!(judged(&test, 4).verdict.name(), "undefined");
}

/// A message beside this many cells that the reader looks at, too: 2^cells + 1 executions, 3 outcomes.
fn beside_a_message(cells: usize) -> Test {
    let declared: Vec<String> = (0..cells).map(|cell| format!("uint32_t c{cell}=0;")).collect();
    let mut lines = String::new();
    for cell in 0..cells {
        let read = if cell == 0 { "ld.acquire.gpu.u32 r, [f]" } else { "" };
        lines.extend([format!(" st.weak.u32 [c{cell}], 1 | {read} ;\n")]);
    }
    lines.push_str(" st.release.gpu.u32 [f], 1 | ;\n");
    for cell in 0..cells {
        lines.extend([format!(" | ld.weak.u32 r{cell}, [c{cell}] ;\n")]);
    }
    let text = format!(
        "PTX wide\n{{\n{}\nuint32_t f=0;\n}}\n P0@cta 0 | P1@cta 1 ;\n{lines}exists (1:r=1 /\\ 1:r0=0)\n",
        declared.join("\n")
    );
    litmus::parse("", text.as_bytes()).expect("a test")
}

#[test]
fn engines_take_turns() {
    let model = model::ptx::model();
    let turns = Task { portfolio: true, counts: false, ..task(&model) };
    for cells in [3, 14] {
        let test = beside_a_message(cells);
        let judged = judge(&test, &turns);
        assert_eq!(judged.engines, ["enumerate"], "{cells} cells");
        assert_eq!(judged.found.seen.executions, None, "{cells} cells");
        for &engine in ENGINES {
            let alone = judge(&test, &Task { engines: vec![engine], ..task(&model) });
            let counted = (engine.name() == "enumerate").then_some((1 << cells) + 1);
            assert_eq!(alone.found.seen.executions, counted, "{cells} cells");
            assert_eq!(alone.verdict, judged.verdict, "{cells} cells, {}", engine.name());
            assert!(alone.found.outcomes.keys().eq(judged.found.outcomes.keys()));
            assert_eq!(judged.found.outcomes.len(), 3);
        }
    }
}

/// An engine that reaches a limit at once, with each model or with those of one axiom; else it is the enumerating one.
struct LimitedEngine {
    limit: Limit,
    one_axiom: bool,
}

const BUSY: LimitedEngine = LimitedEngine { limit: Limit::Work, one_axiom: false };
const LATE: LimitedEngine = LimitedEngine { limit: Limit::Time, one_axiom: false };

impl Engine for LimitedEngine {
    fn name(&self) -> &'static str {
        "limited"
    }

    fn search(
        &self,
        model: &Model,
        program: &Program,
        limits: &Limits,
        sought: Sought<'_>,
        seen: &mut ExecutionFacts,
        visit: &mut OutcomeVisitor<'_>,
    ) -> Result<(), Limit> {
        if !self.one_axiom || model.axioms.len() == 1 {
            return Err(self.limit);
        }
        ENGINES[0].search(model, program, limits, sought, seen, visit)
    }
}

#[test]
fn the_engine_that_comes_to_an_end_decides() {
    let model = model::ptx::model();
    let engines: Vec<&dyn Engine> = vec![&BUSY, ENGINES[0]];
    for verdict_only in [false, true] {
        let engines = engines.clone();
        let turns = Task { portfolio: true, engines, verdict_only, ..task(&model) };
        let judged = judge(&beside_a_message(3), &turns);
        assert_eq!((judged.verdict.name(), &judged.engines[..]), ("fails", &["enumerate"][..]));
    }
}

#[test]
fn an_engine_that_reached_a_limit_does_not_agree() {
    let model = model::ptx::model();
    let judged = |engines: &[&'static dyn Engine]| {
        judge(&beside_a_message(2), &Task { engines: engines.to_vec(), ..task(&model) })
    };
    for engines in [[ENGINES[0], &LATE], [&LATE, ENGINES[0]]] {
        let one = judged(&engines);
        assert_eq!((one.verdict.name(), one.unfinished), ("fails", vec!["limited"]));
        let notes: Vec<&str> = one.notes.iter().map(|note| note.code).collect();
        assert_eq!(notes, ["engine-undecided"]);
        assert!(one.notes[0].text.contains("limited"), "{:?}", one.notes);
    }
    let none = judged(&[&LATE, &LATE]);
    assert_eq!((none.verdict.name(), none.unfinished, none.notes), ("undecided", vec![], vec![]));
    let both = judged(&[ENGINES[0], ENGINES[0]]);
    assert_eq!((both.unfinished, both.notes), (vec![], vec![]));
}

#[test]
fn readings_are_compared_in_the_time_of_their_test() {
    let model = model::ptx::model();
    let alternatives = alternatives(Readings::default());
    let written = "PTX w\n{\nx=0;\n}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 ;\n st.weak.u32 [x], 1 | st.weak.u32 [x], 2 | st.weak.u32 [x], 3 ;\nexists ([x]=1)\n";
    let test = litmus::parse("", written.as_bytes()).expect("a test");
    let timeout = Some(Duration::from_mins(1));
    let task = Task { timeout, alternatives: &alternatives, ..task(&model) };
    let judgement = judge(&test, &task);
    let compared = |left| {
        let until = Some(Deadline::after(left));
        resting(&test, &Task { until, ..task.clone() }, &judgement).open
    };
    assert_eq!(compared(Duration::from_mins(5)), []);
    let open = compared(Duration::ZERO);
    assert!(!open.is_empty() && open.iter().all(|(.., why)| why == Limit::Time.text()), "{open:?}");
}

/// An axiom that is not searched in full is not said to forbid the outcome.
#[test]
fn a_limit_does_not_show_which_axiom_forbids() {
    let source = "PTX MP\nForbidden-by=Causality\n{\nuint32_t x=0; uint32_t y=0;\n}\n\
                P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n\
                st.weak.u32 [x], 1 | ld.acquire.gpu.u32 r0, [y] ;\n\
                st.release.gpu.u32 [y], 1 | ld.weak.u32 r1, [x] ;\n\
                ~exists (P1:r0=1 /\\ P1:r1=0)\n";
    let test = litmus::parse("MP.litmus", source.as_bytes()).expect("a test");
    let model = model::ptx::model();
    let engine: &dyn Engine = &LimitedEngine { one_axiom: true, ..LATE };
    let limited = judge(&test, &Task { engines: vec![engine], blame: true, ..task(&model) });
    assert_eq!((limited.verdict.name(), limited.exit()), ("holds", Exit::Undecided));
    let said = "Forbidden-by=Causality is undecided: the time limit was reached";
    assert_eq!(limited.complaint.as_deref(), Some(said));
    let full = judge(&test, &Task { engines: vec![ENGINES[0]], blame: true, ..task(&model) });
    assert_eq!((full.complaint.as_deref(), full.exit()), (None, Exit::AsExpected));
}

/// The notes on warps, clusters and barriers, and tests beside them that have none.
#[test]
fn warps_and_clusters_have_notes() {
    let model = model::ptx::model();
    let notes = |key: &str, places: [&str; 2], lines: [&str; 2]| -> Vec<&'static str> {
        let source = format!(
            "PTX t\n{key}{{\nx=0;\n}}\n P0@{},gpu 0 | P1@{},gpu 0 ;\n {} | {} ;\nforall (x=0)\n",
            places[0], places[1], lines[0], lines[1]
        );
        let test = litmus::parse("t.litmus", source.as_bytes()).expect("a test");
        judge(&test, &task(&model)).notes.iter().map(|note| note.code).collect()
    };
    let warp = ["warp 0,cta 0,cluster 0"; 2];
    let sync = "bar.sync 0";
    let wait = "barrier.cluster.arrive ;\n barrier.cluster.wait | barrier.cluster.wait";
    assert_eq!(notes("", warp, [sync, sync]), [""; 0]);
    assert_eq!(notes("", warp, ["mov.u32 z, 0 | ;\n bar.sync 0", sync]), ["one-barrier"]);
    assert_eq!(notes("", ["cta 0,cluster 0"; 2], ["mov.u32 z, 0", sync]), ["exited-thread"]);
    assert_eq!(notes("", ["cta 0,cluster 0"; 2], [sync, sync]), [""; 0]);
    for (mask, named) in [("3", false), ("7", true), ("0xffffffff", false)] {
        let sync = format!("bar.warp.sync {mask}");
        let expected: &[&str] = if named { &["absent-lane"] } else { &[] };
        assert_eq!(notes("", warp, [&sync, &sync]), expected, "{mask}");
    }
    for (target, told) in [("sm_60", true), ("sm_70", false)] {
        let expected: &[&str] = if told { &["lanes-together"] } else { &[] };
        let key = format!("Arch={target}\n");
        assert_eq!(notes(&key, warp, ["mov.u32 z, 0"; 2]), expected, "{target}");
    }
    let ctas = |cluster: usize| ["cta 0,cluster 0".to_owned(), format!("cta 1,cluster {cluster}")];
    for (cluster, apart) in [(0, false), (1, true)] {
        let [first, second] = ctas(cluster);
        let lines = ["barrier.cluster.arrive", wait];
        let expected: &[&str] = if apart { &["clusters-apart"] } else { &[] };
        assert_eq!(notes("Arch=sm_90\n", [&first, &second], lines), expected);
    }
}

/// The reader races only in an iteration that finds no flag, which changes nothing and is left out.
const RACE_LEFT_OUT: &str = r"PTX race-left-out
{
x=0; f=0;
}
 P0@cta 0,gpu 0               | P1@cta 1,gpu 0                 ;
 st.weak.u32 [x], 1           | L: ld.acquire.gpu.u32 r0, [f]  ;
 st.release.gpu.u32 [f], 1    | ld.weak.u32 r1, [x]            ;
                              | setp.eq.u32 p, r0, 0           ;
                              | @p bra L                       ;
~exists (P1:r1=0)
";

#[test]
fn races_are_one_list_whatever_is_asked() {
    let model = model::ptx::model();
    let test = litmus::parse("", RACE_LEFT_OUT.as_bytes()).expect("a test");
    let mut lists: Vec<BTreeSet<Race>> = Vec::new();
    for &engine in ENGINES {
        for property in [Property::ProgramSpec, Property::NoDataRace] {
            for counts in [true, false] {
                let engines = vec![engine];
                let task = Task { engines, property, counts, races: true, ..task(&model) };
                lists.push(judge(&test, &task).found.seen.races);
            }
        }
    }
    assert_eq!(lists[0].len(), 1, "{lists:?}");
    assert!(lists.windows(2).all(|pair| pair[0] == pair[1]), "{lists:?}");
    let explained = |property| {
        let options = ExplainOptions { property, ..ExplainOptions::default() };
        explanation(&test, &model, options).expect("it is written to memory").text
    };
    let race = explained(Property::NoDataRace);
    let said = "Data race: P0: `st.weak.u32 [x], 1` and P1: `ld.weak.u32 r1, [x]`";
    assert!(race.starts_with(said) && race.contains("data-race"), "{race}");
    let ends = explained(Property::Termination);
    assert!(ends.starts_with("Finishes: in every execution"), "{ends}");
}

/// Threads in a column each, all with `code`, in which `#` is the number of the thread and `+` that of the next.
fn columns(count: usize, cells: &str, code: &[&str], condition: &str) -> Test {
    let row = |cell: &dyn Fn(usize) -> String| {
        let cells: Vec<String> = (0..count).map(cell).collect();
        format!("{} ;\n", cells.join(" | "))
    };
    let mut source = format!("PTX t\n{{\n{cells}\n}}\n");
    source += &row(&|thread| format!("P{thread}@cta {thread}"));
    for line in code {
        let numbered = |thread: usize| {
            let next = ((thread + 1) % count).to_string();
            line.replace('#', &thread.to_string()).replace('+', &next)
        };
        source += &row(&numbered);
    }
    source += condition;
    litmus::parse("", source.as_bytes()).expect("a test")
}

/// One step of such a search takes long: it directs many writes, or orders many fences.
#[test]
fn a_search_ends_soon_after_its_time() {
    let model = model::ptx::model();
    let atomics = columns(
        10,
        "x=0;",
        &[
            "atom.acq_rel.gpu.cas.b32 a, [x], #, +",
            "atom.acq_rel.gpu.cas.b32 b, [x], +, #",
            "atom.acq_rel.gpu.exch.b32 c, [x], 0",
        ],
        "~exists (x=99)\n",
    );
    let cells: Vec<String> = (0..48).map(|cell| format!("x{cell}=0;")).collect();
    let fences = columns(
        48,
        &cells.concat(),
        &["st.relaxed.gpu.u32 [x#], 1", "fence.sc.gpu", "ld.relaxed.gpu.u32 a, [x+]"],
        "~exists (P0:a=0 /\\ P1:a=0)\n",
    );
    let time = Duration::from_millis(200);
    let mut cut = 0;
    for test in [atomics, fences] {
        let most = Deadline::after(4 * time);
        let engines = vec![ENGINES[0]];
        let judged =
            judge(&test, &Task { timeout: Some(time), engines, counts: false, ..task(&model) });
        cut += u32::from(judged.verdict == Verdict::Undecided(Limit::Time.text().to_owned()));
        assert!(!most.is_over());
        let options =
            ExplainOptions { until: Some(Deadline::after(time)), ..ExplainOptions::default() };
        let most = Deadline::after(4 * time);
        let explained = explanation(&test, &model, options).expect("it is written to memory");
        cut += u32::from(explained.exit == Exit::Undecided);
        assert!(!most.is_over());
    }
    // A fast machine finds some of the answers before.
    assert!(cut > 0);
}

/// Two pairs of threads that pass messages; the last thread of the second pair reads `own`.
fn two_messages(own: &str, condition: &str) -> Test {
    let text = format!(
        r"PTX two-messages
{{
uint32_t x=0; f=0; y=0; g=0;
}}
 P0@cta 0                     | P1@cta 1                     | P2@cta 2                     | P3@cta 3                     ;
 st.weak.u32 [x], 1           | ld.acquire.gpu.u32 r0, [f]   | st.weak.u32 [y], 1           | ld.relaxed.gpu.u32 r0, [g]   ;
 st.release.gpu.u32 [f], 1    | ld.weak.u32 r1, [x]          | st.release.gpu.u32 [g], 1    | ld.weak.u32 r1, [{own}]      ;
{condition}
"
    );
    litmus::parse("two-messages", text.as_bytes()).expect("it is well formed")
}

/// How many parts a test is judged in, and what is found of the verdict alone.
fn in_parts(test: &Test) -> (usize, Vec<&'static str>) {
    let model = model::ptx::model();
    let task = Task { verdict_only: true, ..task(&model) };
    let verdict = |task: &Task<'_>| {
        let judgement = judge(test, task);
        assert_eq!(judgement.disagreement, None);
        judgement.verdict.name()
    };
    let all = [Property::ProgramSpec, Property::Termination, Property::NoDataRace];
    let all = all.map(|property| verdict(&Task { property, ..task.clone() }));
    (crate::parts(test, &task).len(), all.to_vec())
}

#[test]
fn threads_that_never_meet_are_judged_apart() {
    let forbidden = "P1:r0=1 /\\ P1:r1=0";
    let allowed = "P3:r0=1 /\\ P3:r1=0";
    let either = format!("exists (({forbidden}) \\/ ({allowed}))");
    let both = format!("exists ({forbidden} /\\ {allowed})");
    let always = format!("forall (~({forbidden}) /\\ ~({allowed}))");
    let apart = |condition: &str| in_parts(&two_messages("y", condition));
    assert_eq!(apart(&either), (2, vec!["holds", "holds", "fails"]));
    assert_eq!(apart(&both), (2, vec!["fails", "holds", "fails"]));
    assert_eq!(apart(&always), (2, vec!["fails", "holds", "fails"]));
    // One location that both pairs access, and one of them writes, makes them one.
    assert_eq!(in_parts(&two_messages("x", &either)).0, 1);
    // The condition compares threads of both.
    assert_eq!(apart("exists (P1:r0=1 /\\ P3:r1=P1:r1)"), (1, vec!["holds", "holds", "fails"]));
}

#[test]
fn an_outcome_of_parts_has_what_each_of_them_observes() {
    let test = two_messages("y", "exists (P1:r0=1 /\\ P3:r0=1 /\\ P3:r1=0)");
    let model = model::ptx::model();
    let judgement = judge(&test, &Task { verdict_only: true, ..task(&model) });
    let outcome = judgement.found.outcomes.keys().next().expect("an execution shows it");
    assert!(test.proposition.holds(&test.program, outcome));
    let witness = judgement.found.witness.expect("an execution shows it");
    assert_eq!(&witness.outcome, outcome);
}

/// Which threads are of the component of each thread.
fn components(columns: [&str; 4], cells: [&str; 4]) -> Vec<u8> {
    let row = |of: [&str; 4]| of.join(" | ");
    let written = format!(
        "PTX components\n{{\nuint32_t x=0; y=0;\n}}\n{} ;\n{} ;\nexists (true)\n",
        row(columns),
        row(cells)
    );
    let test = litmus::parse("components", written.as_bytes()).expect("it is well formed");
    let components = execution::components::Components::of(&test.program);
    (0..4).map(|thread| components.first(model::program::ThreadId(thread)).0).collect()
}

#[test]
fn threads_meet_where_something_waits_for_both() {
    let ctas = ["P0@cta 0", "P1@cta 0", "P2@cta 1", "P3@cta 1"];
    let clusters =
        ["P0@cta 0,cluster 0", "P1@cta 1,cluster 0", "P2@cta 2,cluster 1", "P3@cta 2,cluster 1"];
    let warps = ["P0@warp 0,cta 0", "P1@warp 0,cta 0", "P2@warp 1,cta 0", "P3@warp 1,cta 0"];
    let gpus = ["P0@cta 0,gpu 0", "P1@cta 1,gpu 0", "P2@cta 2,gpu 1", "P3@cta 3,gpu 1"];
    let none = "membar.cta";
    assert_eq!(components(ctas, [none; 4]), [0, 1, 2, 3]);
    assert_eq!(components(ctas, ["bar.sync 0", none, none, none]), [0, 0, 2, 3]);
    let arrive = "barrier.cluster.arrive";
    assert_eq!(components(clusters, [none, none, arrive, none]), [0, 1, 2, 2]);
    assert_eq!(components(ctas, [none, none, arrive, none]), [0, 1, 2, 2]);
    assert_eq!(components(warps, [none, none, "bar.warp.sync 3", none]), [0, 1, 2, 2]);
    // An order of two fences by way of one of another component.
    let (near, far) = ("fence.sc.gpu", "fence.sc.sys");
    assert_eq!(components(gpus, [near, far, none, far]), [0, 0, 2, 0]);
    assert_eq!(components(gpus, [far; 4]), [0, 1, 2, 3]);
    assert_eq!(components(gpus, [near; 4]), [0, 1, 2, 3]);
    let [read, write] = ["ld.weak.u32 r0, [x]", "st.weak.u32 [x], 1"];
    assert_eq!(components(ctas, [read, read, read, none]), [0, 1, 2, 3]);
    assert_eq!(components(ctas, [read, none, write, none]), [0, 1, 0, 3]);
    assert_eq!(components(ctas, [write, none, "st.weak.u32 [y], 1", none]), [0, 1, 2, 3]);
}

/// Which limit the paths of a long thread with a loop reach with so much memory: it jumps over most of its lines. `behind`: what it does
/// then.
fn limit_of_paths(behind: &[String], memory: usize) -> Option<UnfoldLimit> {
    let first = ["L: ld.relaxed.gpu.u32 r0, [x]", "setp.eq.u32 p, r0, 0", "@p bra L", "bra B"];
    let long = std::iter::repeat_n("mov.u32 r1, 1", 8_000);
    let rows = first.into_iter().chain(long).chain(["B: mov.u32 r1, 1"]);
    let rows = rows.chain(behind.iter().map(String::as_str));
    let others = ["st.relaxed.gpu.u32 [x], 1"].into_iter().chain(std::iter::repeat(""));
    let rows = rows.zip(others).map(|(own, other)| format!("{own} | {other} ;\n"));
    let rows: String = rows.collect();
    let source = format!("PTX t\n{{\nx=0;\n}}\nP0@cta 0 | P1@cta 1 ;\n{rows}forall (true)\n");
    let test = litmus::parse("", source.as_bytes()).unwrap_or_else(|error| panic!("{error:?}"));
    let model = model::ptx::model();
    let limits = Limits { memory, ..Limits::unlimited(2) };
    let ends = |held| limits.of_unfolding(held);
    Unfolded::within(&test.program, model.conventions, limits.bound, &ends).err()
}

/// What a state holds of a thread with loops does not grow with its lines: each of these reads forks one.
#[test]
fn forks_of_a_long_thread_fit_in_memory() {
    let leaves = (0..96).flat_map(|at| {
        let (goes_on, next) = (format!("@p bra M{at}"), format!("M{at}: mov.u32 r1, 1"));
        let rows = ["ld.relaxed.gpu.u32 r0, [x]", "setp.eq.u32 p, r0, 1", &goes_on, "ret", &next];
        rows.map(str::to_owned)
    });
    assert_eq!(limit_of_paths(&leaves.collect::<Vec<_>>(), 8 << 20), None);
}

#[test]
fn what_is_known_before_paths_takes_memory() {
    assert_eq!(limit_of_paths(&[], 128 << 10), Some(UnfoldLimit::Memory));
    assert_eq!(limit_of_paths(&[], 8 << 20), None);
}
