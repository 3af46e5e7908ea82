//! Lowerings: own rows with their verdicts, the published mapping with each of its weakenings, and
//! rows of real compilers where their labels are present.

use std::collections::BTreeMap;
use std::fs;

use engine::exit::Exit;
use judge::Task;
use model::cxx::{self, ReleaseSequence};
use model::isa::cxx::Failure;
use model::isa::fence::FenceOrder;
use model::ptx;
use model::scope::Scope;
use refine::context::PartnerScope;
use refine::inclusion::{Judge, Question};
use refine::language::CXX;
use refine::mapping::to_ptx;
use refine::program::Width;
use refine::step::{AccessKind, AccessOrder, Step, TestLocation, line};
use refine::weaken::{forms, weakenings};
use refine::{
    Answer, Assumptions, Finding, JudgeSettings, Models, Refiner, Row, RowTable, judge, read,
};

use crate::fmt::formatted;
use crate::suite;

const FEW: &str = "tests/lower/few.csv";
const MESSAGE: &str = "tests/lower/message.ptx";
const MADE: &str = "tests/lower/message.made.ptx";
const MODULES: &str = "tests/lower/modules.ptx";
const MODULES_MADE: &str = "tests/lower/modules.made.ptx";
const COMPILED: &str = "tests/lower/compiled.ll";
const COMPILED_MADE: &str = "tests/lower/compiled.ptx";
const KNOWN: &str = "tests/lower/message.known.json";
const LINES: &str = "tests/lower/lines.ll";
const LINES_MADE: &str = "tests/lower/lines.ptx";
const KERNEL: &str = "tests/lower/lines.kernel.ll";
const LISTING: &str = "tests/lower/lines.sass";
const TWICE: &str = "tests/lower/twice.ptx";
const LEAKY: &str = "tests/cli/leaky.table";

/// Snapshots as those of `cli`.
pub(crate) const SNAPSHOTS: &[(&str, &[&str])] = &[
    ("lower-few", &["lower", "--rows", FEW]),
    ("lower-json", &["lower", "--rows", FEW, "--format=json"]),
    ("lower-no-column", &["lower", "--rows", "tests/lower/no-column.csv"]),
    ("lower-short-row", &["lower", "--rows", "tests/lower/short-row.csv"]),
    ("lower-no-rows", &["lower", "--rows", "tests/lower/no-rows.csv"]),
    ("lower-no-file", &["lower", "--rows", "tests/lower/none.csv"]),
    ("lower-functions", &["lower", "--from", MESSAGE, "--to", MADE]),
    ("lower-functions-json", &["lower", "--from", MESSAGE, "--to", MADE, "--format=json"]),
    ("lower-table", &["lower", "--table", LEAKY, "tests/cli"]),
    ("lower-table-json", &["lower", "--table", LEAKY, "tests/cli", "--format=json"]),
    ("lower-functions-known", &["lower", "--from", MESSAGE, "--to", MADE, "--baseline", KNOWN]),
    ("lower-functions-compiled", &["lower", "--from", COMPILED, "--to", COMPILED_MADE]),
    (
        "lower-functions-covered",
        &["lower", "--from", COMPILED, "--to", COMPILED_MADE, "--min-coverage=60"],
    ),
    ("lower-functions-modules", &["lower", "--from", MODULES, "--to", MODULES_MADE]),
    ("lower-functions-none", &["lower", "--from", MESSAGE, "--to", "tests/lower/rows.csv"]),
    ("lower-baseline-none", &["lower", "--from", MESSAGE, "--to", MADE, "--baseline", MESSAGE]),
    ("lower-functions-quiet", &["lower", "--from", MESSAGE, "--to", MADE, "--quiet"]),
    ("lower-few-quiet", &["lower", "--rows", FEW, "-q"]),
    ("lower-context", &["lower", "--rows", FEW, "--context=R; ld.acq x | st x; st y; st.rel x"]),
    (
        "lower-context-wrong",
        &["lower", "--rows", FEW, "--context=R; lx x", "--context=st w | R; ld y"],
    ),
    ("lower-late", &["lower", "--from", LINES, "--to", LINES_MADE, "--total-timeout=1e-6"]),
    ("lower-late-rows", &["lower", "--rows", FEW, "--total-timeout=1"]),
    ("lower-lines", &["lower", "--from", LINES, "--to", LINES_MADE]),
    ("lower-llvm-listing", &["lower", "--from", KERNEL, "--to", LISTING]),
    ("lower-wrong-pair", &["lower", "--from", LINES_MADE, "--to", LINES]),
    ("lower-wrong-source", &["lower", "--from", LISTING, "--to", LINES_MADE]),
    ("lower-twice", &["lower", "--from", TWICE, "--to", MADE]),
    ("lower-cas-only", &["lower", "--from", COMPILED, "--to", COMPILED_MADE, "--cas-only"]),
];

fn findings(text: &str, assumptions: Assumptions, tearing: bool) -> (RowTable, Vec<Finding>) {
    let table = read(text).expect("the rows are well formed");
    let findings = judged_with(&table, assumptions, tearing);
    (table, findings)
}

pub(crate) fn judged(table: &RowTable) -> Vec<Finding> {
    judged_with(table, Assumptions::default(), true)
}

fn judged_with(table: &RowTable, assumptions: Assumptions, tearing: bool) -> Vec<Finding> {
    let models = Models::default();
    let refiner = Refiner { tearing, ..Refiner::new(&models) };
    let setting = JudgeSettings { refiner, assumptions, jobs: 2 };
    judge(table, &setting, &())
}

#[test]
fn every_row_of_ours_has_its_verdict() {
    let text = fs::read_to_string(suite::root().join("tests/lower/rows.csv")).expect("it is there");
    let (table, findings) = findings(&text, Assumptions::default(), true);
    let mut wrong = Vec::new();
    let mut seen = BTreeMap::new();
    for ((row, columns), finding) in table.rows.iter().zip(&findings) {
        let expected = columns["expect"].as_str().expect("a column is text");
        let because = columns["because"].as_str().expect("a column is text");
        *seen.entry(finding.verdict.name()).or_insert(0) += 1;
        let all = [&finding.why, finding.context.as_deref().unwrap_or("")].join(" ")
            + &finding.notes.join(" ");
        if finding.verdict.name() != expected || !all.contains(because) {
            wrong.push(format!("{} => {}: {finding:?}", row.source, row.target));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let mut tested = 0;
    for test in findings.iter().flat_map(|finding| [&finding.forbidden, &finding.allowed]).flatten()
    {
        let parsed = litmus::parse("witness", test.as_bytes());
        let parsed = parsed.unwrap_or_else(|errors| panic!("{test}\n{}", errors[0]));
        assert_eq!(formatted(test).as_ref(), Ok(test), "a witness is formatted");
        let (ptx, cxx) = (ptx::model(), cxx::model(ReleaseSequence::Cpp20));
        let task = Task { cxx: Some(&cxx), ..suite::task(&ptx) };
        let judgement = judge::judge(&parsed, &task);
        assert_eq!(judgement.exit(), Exit::AsExpected, "{test}\n{judgement:?}");
        tested += 1;
    }
    assert!(tested > 40, "only {tested} tests");
    assert!(seen.len() >= 7 && findings.len() >= 40, "{seen:?}");
}

#[test]
fn assumptions_change_what_they_are_about() {
    let torn = "source,target,arch\n\"%r = load atomic i32, ptr %p unordered, align 4\",\"ld.u32 %r1, [%rd1]\",sm_70\n";
    let verdict = |text: &str, assumptions, tearing| {
        findings(text, assumptions, tearing).1.remove(0).verdict.name()
    };
    assert_eq!(verdict(torn, Assumptions::default(), true), "weaker");
    assert_eq!(verdict(torn, Assumptions::default(), false), "preserved");
    let part = "source,target,arch\n\"%r = atomicrmw add ptr %p, i8 %v monotonic\",\"ld.b32 %r1, [%rd1]; L: atom.relaxed.sys.cas.b32 %r2, [%rd1], %r1, %r3; @%p1 bra L\",sm_70\n";
    assert_eq!(verdict(part, Assumptions::default(), true), "outside");
    assert_eq!(verdict(part, Assumptions { cas_only: true }, true), "preserved");
}

/// Reading R104: `st.weak` and `fence.sc; atom.acquire` are each right without the other.
#[test]
fn two_lowerings_that_are_wrong_together_are_named_in_each_answer() {
    let rows = [
        ("store atomic i8 %v, ptr %p unordered, align 1", "st.b8 [%rd1], %rs1;"),
        ("store atomic i8 %v, ptr %p unordered, align 1", "st.relaxed.sys.b8 [%rd1], %rs1;"),
        ("store i8 %v, ptr %p, align 1", "st.b8 [%rd1], %rs1;"),
        (
            "%r = atomicrmw xchg ptr %p, i32 %v seq_cst",
            "fence.sc.sys; atom.acquire.sys.exch.b32 %r1, [%rd1], %r2;",
        ),
        (
            "%r = atomicrmw xchg ptr %p, i32 %v seq_cst",
            "fence.sc.sys; atom.acq_rel.sys.exch.b32 %r1, [%rd1], %r2;",
        ),
        (
            "%r = cmpxchg ptr %p, i32 %e, i32 %v seq_cst seq_cst",
            "fence.sc.sys; atom.acquire.sys.cas.b32 %r1, [%rd1], %r2, %r3;",
        ),
        (
            "%r = atomicrmw xchg ptr %p, i32 %v acquire",
            "atom.acquire.sys.exch.b32 %r1, [%rd1], %r2;",
        ),
    ];
    let row = |(source, target): (&str, &str)| {
        let row = Row { source: source.into(), target: target.into(), arch: "sm_70".into() };
        (row, serde_json::Map::new())
    };
    let findings = judged(&RowTable { rows: rows.map(row).to_vec(), ..RowTable::default() });
    let of = |finding: &Finding| {
        (finding.verdict.name(), finding.notes.iter().any(|note| note.contains("reading R104")))
    };
    let found: Vec<(&str, bool)> = findings.iter().map(of).collect();
    let expected = [
        ("weaker", true),
        ("preserved", false),
        ("preserved", false),
        ("preserved", true),
        ("stronger", false),
        ("preserved", true),
        ("preserved", false),
    ];
    assert_eq!(found, expected, "{findings:#?}");
    let context = findings[0].context.as_deref().expect("it is refuted");
    assert!(context.contains("swap.seq_cst.sys y becomes fence.sc.sys; swap.acquire.sys y"));
}

/// Every operation of C++ that a mapping has a row for.
fn operations() -> Vec<Step> {
    let mut all = Vec::new();
    for scope in Scope::ALL {
        let orders = |act: AccessKind| -> &[AccessOrder] {
            use AccessOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};
            match act {
                AccessKind::Load => &[Relaxed, Acquire, SeqCst],
                AccessKind::Store => &[Relaxed, Release, SeqCst],
                AccessKind::Swap
                | AccessKind::Overwrite
                | AccessKind::Reduce
                | AccessKind::CompareExchange(_)
                | AccessKind::Probe => &[Relaxed, Acquire, Release, AcqRel, SeqCst],
            }
        };
        let cas = AccessKind::CompareExchange(Some(Failure::Relaxed));
        for act in [AccessKind::Load, AccessKind::Store, AccessKind::Swap, cas] {
            let all_of = orders(act).iter();
            all.extend(all_of.map(|&order| Step::access(act, TestLocation::Y, order, scope)));
        }
        for order in [FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::Sc]
        {
            all.push(Step::Fence { order, scope });
        }
    }
    all
}

#[test]
fn the_published_mapping_is_right_and_no_weaker_one_is() {
    let models = Models::default();
    let mut judge = Judge::new(Refiner::new(&models));
    let (mut weaker, mut survivors) = (0, Vec::new());
    for step in operations() {
        let ask = |target: Vec<Step>| Question {
            language: CXX,
            source: vec![step],
            target,
            width: Width::Word,
            reach: PartnerScope { within: step.scope().expect("it has a scope"), alone: false },
            machine: None,
        };
        let mapped = to_ptx(step);
        let answer = judge.judge(&ask(mapped.clone()));
        let Answer::Included(tally) = answer else { panic!("{step}: {answer:?}") };
        assert!(tally.checked > 5 && tally.withdrawn == 0, "{step}: {tally:?}");
        for target in weakenings(&mapped, forms(true)) {
            weaker += 1;
            if let Answer::Included(_) = judge.judge(&ask(target.clone())) {
                survivors.push(format!("{step}: {}", line(&target)));
            }
        }
        judge.forget();
    }
    assert!(weaker > 190, "only {weaker} weakenings");
    // The mapping is older than fences of one direction, which need sm_90.
    let of = |order: &str, scope: Scope| format!("fence.{order}.{scope}: fence.{order}.{scope}");
    let one_way = Scope::ALL.into_iter().flat_map(|s| [of("acquire", s), of("release", s)]);
    assert_eq!(survivors, one_way.collect::<Vec<_>>(), "of {weaker}");
}

/// What each label of the recorded rows means for a judge by meaning; `None` where it is not a row of a
/// lowering. docs/compilers.md has the reasons.
fn expected(label: &str, row: &Row) -> Option<&'static [&'static str]> {
    let source = &row.source;
    let alone = source.contains("singlethread");
    let byte = source.contains(" i8");
    let part = [" i8", " i16", " half", " bfloat"].iter().any(|ty| source.contains(ty));
    // ptxas takes no scope of a cluster there.
    if row.target.contains(".cluster.") && ["sm_60", "sm_70"].contains(&&*row.arch) {
        return Some(&["invalid"]);
    }
    Some(match label {
        "REJECTED" | "CRASH" | "LIBCALL" => return None,
        "OK-PRIVATE" | "VOLATILE-DROPPED-PRIVATE" => &["preserved"],
        "OK-NC" => &["preserved", "outside"],
        "MISCOMPILE-WEAK" if alone || byte && source.contains("load") => &["preserved"],
        "SUSPECT-WEAK-INIT-LOAD" if part => &["outside"],
        "OK" | "OK-NOTE" | "SUSPECT-WEAK-INIT-LOAD" => &["preserved", "stronger"],
        _ if alone => &["preserved", "stronger", "outside"],
        _ => &["weaker"],
    })
}

#[test]
fn rows_of_real_compilers_have_the_verdicts_that_their_labels_mean() {
    let text = measured::text("llvm-lowering.csv");
    let (table, findings) = findings(&text, Assumptions::default(), true);
    let (mut judged, mut wrong) = (0_usize, BTreeMap::new());
    let mut plain_label = (0_usize, 0_usize);
    for ((row, columns), finding) in table.rows.iter().zip(&findings) {
        let label = columns["verdict"].as_str().expect("a column is text");
        let Some(expected) = expected(label, row) else {
            let refused = ["invalid", "unsupported"].contains(&finding.verdict.name());
            assert!(refused, "{label}: {finding:?}");
            continue;
        };
        judged += 1;
        let name = finding.verdict.name();
        if !expected.contains(&name) {
            *wrong.entry((label, name)).or_insert(0_usize) += 1;
        }
        let miscompiled = label.starts_with("MISCOMPILE");
        plain_label.0 += 1;
        plain_label.1 += usize::from(miscompiled == (name == "weaker"));
    }
    assert!(judged > 30_000, "only {judged} rows");
    let exact =
        |(label, name): &(&str, &str)| *label != "MISCOMPILE-WEAK" && *name != "wrong-value";
    assert!(wrong.keys().all(exact), "{wrong:?}");
    let count: usize = wrong.values().sum();
    assert!(count * 100 <= judged, "{count} of {judged}: {wrong:?}");
    // Without the reasons the two agree on less.
    assert!(plain_label.1 * 100 >= plain_label.0 * 94, "{plain_label:?}");
}

#[test]
fn what_ptxas_makes_keeps_what_it_is_made_of() {
    let text = measured::text("ptxas-lowering.csv");
    // Every fourth row is enough to meet every form of instruction on every target.
    let every: Vec<&str> = text.lines().take(1).chain(text.lines().skip(1).step_by(4)).collect();
    let (table, findings) = findings(&every.join("\n"), Assumptions::default(), true);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for ((row, _), finding) in table.rows.iter().zip(&findings) {
        let name = finding.verdict.name();
        *counts.entry(name).or_default() += 1;
        let right = ["preserved", "outside", "unsupported"].contains(&name);
        assert!(right, "{} {} => {}: {finding:?}", row.arch, row.source, row.target);
    }
    let preserved = counts["preserved"];
    assert!(preserved > 8_000 && preserved * 100 > findings.len() * 90, "{counts:?}");
}

#[test]
fn a_target_that_nobody_measured_is_of_its_family_or_of_none() {
    let rows = ["sm_121", "sm_130"].map(|arch| {
        let (source, target) = ("st.release.gpu.global.b32 [a], r1;", "STG.E.STRONG.GPU");
        let row = Row { source: source.into(), target: target.into(), arch: arch.into() };
        (row, serde_json::Map::new())
    });
    let findings = judged(&RowTable { rows: rows.to_vec(), ..RowTable::default() });
    let verdicts: Vec<&str> = findings.iter().map(|finding| finding.verdict.name()).collect();
    assert_eq!(verdicts, ["weaker", "undecided"], "{findings:?}");
}

#[test]
fn no_row_is_too_odd_to_be_answered() {
    let sources = [
        "",
        "%r = load i32, ptr %p",
        "ld.b32 r, [a];",
        "\u{1}",
        "fence seq_cst",
        "store i32 0, ptr %p\n\
        store i32 1, ptr %p",
        "@p bra L; L:",
        "atom.add.u32 r, [a], 1; atom.add.u32 q, [a], 1;",
    ];
    let targets = [
        "",
        ";;;",
        "(none)",
        "LDG",
        "LDG.E.CAS",
        "L: @p bra L;",
        "bra L;",
        "ERROR",
        "ATOM",
        "\u{e9}",
        "ld.b32 r, [a]; ld.b32 r, [a];",
        "st.b32 [a], r;",
        "MEMBAR.ALL.GPU",
        "ld.v8.b32 r, [a];",
    ];
    for source in sources {
        for target in targets {
            for arch in ["sm_90", "sm_10", "", "sm_"] {
                let row = Row { source: source.into(), target: target.into(), arch: arch.into() };
                let table =
                    RowTable { rows: vec![(row, serde_json::Map::new())], ..RowTable::default() };
                assert_eq!(judged(&table).len(), 1);
            }
        }
    }
    let many = "store i32 1, ptr %p\n".repeat(300);
    let row = Row { source: many, target: "st.b32 [a], r;".repeat(300), arch: "sm_90".into() };
    let table = RowTable { rows: vec![(row, serde_json::Map::new())], ..RowTable::default() };
    assert_eq!(judged(&table)[0].verdict.name(), "unsupported");
}
