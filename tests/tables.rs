//! `causeway lower --table`: the tables that come with the program, and wrong ones.

use std::fs;
use std::path::{Path, PathBuf};

use checker::lower::report::{Baseline, ReportOptions, Reporter};
use checker::lower::table;
use checker::report::ReportFormat;
use engine::exit::Exit;
use model::cxx::{self, ReleaseSequence};
use model::scope::Scope;
use refine::generated::{self, ProgramPattern};
use refine::step::{AccessKind, AccessOrder, Step, TestLocation};
use refine::{JudgeSettings, Models, Refiner};
use sass::lowering;
use serde_json::Value;

use crate::agree::holds;
use crate::suite;

/// What is said of a table's text, a line of JSON for each row, and then for each test.
fn said(text: &str, paths: &[PathBuf]) -> (Exit, Vec<Value>, String) {
    let models = Models::default();
    let setting = JudgeSettings { jobs: 2, ..JudgeSettings::new(&models) };
    let baseline = Baseline::default();
    let path = Path::new("its.table");
    let mut reporter = Reporter::new(ReportOptions {
        format: ReportFormat::Json,
        racy: false,
        baseline: &baseline,
        min_coverage: None,
        quiet: false,
        page: None,
    });
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let done = match lowering::read(&path.to_string_lossy(), text) {
        Ok(of) => table::rows(path, &of, &setting, &mut reporter, &(), &mut out).and_then(|()| {
            table::tests(path, &of, paths, &setting, &mut reporter, &mut out, &mut err)
        }),
        Err(errors) => reporter.rejected(path, &errors, &mut out, &mut err),
    };
    done.expect("memory is written");
    let exit = reporter.end(&mut out).expect("memory is written");
    let out = String::from_utf8(out).expect("it is text");
    let lines = out.lines().map(|line| serde_json::from_str(line).expect("it is JSON"));
    (exit, lines.collect(), String::from_utf8(err).expect("it is text"))
}

fn read(name: &str) -> String {
    let path = suite::root().join("crates/sass/lowering").join(format!("{name}.table"));
    fs::read_to_string(path).expect("it is there")
}

fn with<'v>(all: &'v [Value], verdict: &str) -> Vec<&'v Value> {
    all.iter().filter(|one| one["verdict"] == verdict).collect()
}

/// The rows of each family that are weaker than their PTX, as ptxas makes them: docs/findings.md. No
/// test of the suite has an instruction of them.
const WEAKER: &[(&str, &str)] = &[
    ("volta", "ld{relaxed}{space}.L1::evict_first{prefetch}{size}"),
    ("ampere", "ld{relaxed}{space}.L1::evict_first{prefetch}{policy}{size}"),
    ("hopper", "ld{relaxed}{space}.L1::evict_first{prefetch}{policy}{size}"),
    ("hopper", "atom{atomic}{shared}{loop}"),
    ("hopper", "red{atomic}{shared}{loop}"),
    ("blackwell", "ld{relaxed}{space}.L1::evict_first{prefetch}{policy}{size}"),
    ("blackwell", "ld{relaxed}{wide-space}.L1::evict_first{level2}{prefetch}{policy}{wide}"),
    ("blackwell", "ld{cluster}{wide-space}{level1}{level2}{prefetch}{policy}{wide}"),
    ("blackwell", "ld{load}{wide-space}{level1}{level2}{prefetch}{policy}{wide}"),
    ("blackwell", "st{cluster-store}{wide-space}{level1}{level2}{policy}{wide}"),
    ("blackwell", "st{store}{wide-space}{level1}{level2}{policy}{wide}"),
    ("blackwell", "atom{atomic}{shared}{loop}"),
    ("blackwell", "red{atomic}{shared}{loop}"),
];

#[test]
fn every_row_of_the_tables_is_preserved_and_so_are_the_tests() {
    let tests = [suite::folder()];
    for family in lowering::families() {
        let (exit, all, err) = said(&read(family.name), &tests);
        assert_eq!(err, "");
        let count = |row: bool, verdict: &str| {
            with(&all, verdict).iter().filter(|one| one["line"].is_null() != row).count()
        };
        let verdicts = ["preserved", "outside", "unsupported", "undecided"];
        let rows: Vec<usize> = verdicts.iter().map(|verdict| count(true, verdict)).collect();
        let of_tests: Vec<usize> = verdicts.iter().map(|verdict| count(false, verdict)).collect();
        eprintln!("{}: of {verdicts:?} {rows:?} rows, {of_tests:?} tests", family.name);
        let weaker: Vec<(&str, &str)> = with(&all, "weaker")
            .iter()
            .map(|one| (family.name, one["row"].as_str().unwrap_or("a test")))
            .collect();
        let of_family = |one: &&(&str, &str)| one.0 == family.name;
        let expected: Vec<(&str, &str)> = WEAKER.iter().filter(of_family).copied().collect();
        let known = rows.iter().chain(&of_tests).sum::<usize>() + weaker.len();
        assert_eq!(known, all.len(), "{}", family.name);
        // Orders and scopes came with sm_70; fences of proxies, restricted ones and halves of barriers are not judged.
        let old = family.name == "maxwell";
        let wrong = if old { Exit::Undecided } else { Exit::Differs };
        assert_eq!((exit, rows[3]), (wrong, 0));
        assert_eq!(weaker, expected, "{}: rows weaker than their PTX are findings", family.name);
        let judged = |row: &str| {
            let half = row.contains(".arrive") || row.contains(".red");
            !(row.starts_with("fence.") || row.starts_with("bar") && half)
        };
        let unsupported = with(&all, "unsupported");
        let of_rows = unsupported.iter().filter(|one| !one["line"].is_null());
        let mut unsupported = of_rows.filter_map(|one| one["row"].as_str());
        let missing = unsupported.find(|row| judged(row));
        assert!(old || missing.is_none(), "{}: {missing:?} is not judged", family.name);
        assert!(of_tests[0] > if old { 50 } else { 700 }, "{of_tests:?}");
    }
}

/// The tables lower random programs to what their instructions promise to preserve.
#[test]
fn random_programs_are_preserved_by_the_tables() {
    holds("promises", 1_500);
}

#[test]
fn published_tables_of_cxx_are_right_but_for_what_llvm_drops() {
    let cxx = [suite::root().join("litmus/cxx")];
    let source = |entry: &suite::Entry| fs::read_to_string(&entry.path).expect("it was read");
    let tests = suite::load(&cxx[0]);
    let unordered = tests.iter().filter(|entry| source(entry).contains(".unordered")).count();
    assert!(unordered >= 2);
    for name in ["cxx-ptx-asplos19", "cxx-ptx-libcuxx"] {
        let (_, all, err) = said(&read(name), &cxx);
        assert_eq!(err, "");
        let sound = with(&all, "preserved").len() + with(&all, "stronger").len();
        assert_eq!(sound + unordered, all.len());
        // Of `unordered` they say nothing.
        assert_eq!(with(&all, "unsupported").len(), unordered);
    }
    let (exit, all, _) = said(&read("cxx-ptx-llvm22"), &cxx);
    assert_eq!(exit, Exit::Differs);
    let weaker: Vec<&str> =
        with(&all, "weaker").iter().filter_map(|one| one["row"].as_str()).collect();
    assert_eq!(weaker, ["rmw{order}{scope}", "rmw.seq_cst{scope}"]);
}

#[test]
fn a_table_that_drops_an_invalidation_is_refuted_by_its_row_and_by_tests() {
    let text = read("hopper").replace(
        "  acquire.gpu      = .STRONG.GPU | CCTL.IVALL | CCTL.IVALL",
        "  acquire.gpu      = .STRONG.GPU |            | CCTL.IVALL",
    );
    assert_ne!(text, read("hopper"));
    let paths = [suite::root().join("litmus/suite/causality-axiom")];
    let (exit, all, _) = said(&text, &paths);
    assert_eq!(exit, Exit::Differs);
    let weaker = with(&all, "weaker");
    let known = |one: &Value| WEAKER.iter().any(|known| one["row"] == known.1);
    let rows: Vec<&&Value> =
        weaker.iter().filter(|one| !one["line"].is_null() && !known(one)).collect();
    assert!(!rows.is_empty() && rows.len() < 4, "{rows:#?}");
    let row = rows[0]["row"].as_str().expect("it is text");
    assert!(row.starts_with("ld{load}{space}"), "{row}");
    let tests: Vec<&&Value> = weaker.iter().filter(|one| one["line"].is_null()).collect();
    assert!(!tests.is_empty(), "no test is refuted");
    assert!(tests.iter().any(|one| one["by"] == "contract+machine" && one["run"].is_string()));
}

#[test]
fn a_convention_is_right_among_its_own_rows() {
    // The fence after the store, and none at the load.
    let text = read("cxx-ptx-libcuxx")
        .replace("fence.sc.{in} ; ld.acquire.{in}", "ld.acquire.{in}")
        .replace("fence.sc.{in} ; st.relaxed.{in}", "st.release.{in} ; fence.sc.{in}");
    let (exit, all, _) = said(&text, &[]);
    assert_eq!(exit, Exit::Differs);
    let load = all.iter().find(|one| one["row"] == "load.seq_cst{scope}").expect("it is there");
    assert_eq!(load["verdict"], "weaker", "{load:#?}");
}

#[test]
fn a_table_with_an_error_is_told_where() {
    let (exit, all, err) = said("targets sm_90\nldd.b32 -> LDG\n", &[]);
    assert_eq!((exit, all.len()), (Exit::BadInput, 0));
    assert!(err.contains("its.table:2:1") && err.contains("ldd"), "{err}");
}

/// `cargo bench -p causeway --bench lower -- --generated N` goes on.
#[test]
fn the_published_mapping_is_right_in_generated_programs() {
    const BUDGET: usize = 4_000;
    let models = Models::default();
    let rc11 = Models { cxx: cxx::model(ReleaseSequence::Cpp11), ..Models::default() };
    for shape in ProgramPattern::ALL {
        let added =
            generated::judge(Refiner::new(&models), shape, BUDGET).expect("no limit is reached");
        eprintln!("{shape:?}: {BUDGET} of {} programs", shape.count());
        assert!(added.is_empty(), "{added:#?}");
    }
    // With the release sequences of C++11 a store after the atomic hands on what that acquired.
    let access = |act, at, order| Step::access(act, at, order, Scope::Gpu);
    let threads = [
        vec![
            access(AccessKind::Swap, TestLocation::Y, AccessOrder::SeqCst),
            access(AccessKind::Store, TestLocation::Y, AccessOrder::Relaxed),
        ],
        vec![
            access(AccessKind::Load, TestLocation::Y, AccessOrder::Acquire),
            access(AccessKind::Store, TestLocation::Z, AccessOrder::Relaxed),
        ],
        vec![
            access(AccessKind::Swap, TestLocation::Z, AccessOrder::AcqRel),
            access(AccessKind::Store, TestLocation::Y, AccessOrder::Release),
        ],
    ];
    for (models, kept) in [(&models, true), (&rc11, false)] {
        assert_eq!(generated::is_kept(Refiner::new(models), &threads), Ok(kept));
    }
}
