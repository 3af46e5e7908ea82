//! Whole functions: transformations of threads that a compiler may do, and some that it may not.

use std::fs;
use std::time::Duration;

use checker::engine::ENGINES;
use checker::exit::Exit;
use checker::judge::Task;
use checker::lower::csv;
use checker::lower::verdict::Verdict;
use checker::lower::whole::ask::Asker;
use checker::lower::whole::{Said, judge, paired};
use model::cxx::{self, ReleaseSequence};
use model::ptx;

use crate::suite;

/// A function of these instructions on `x` and `y`, which returns `%r1`, and `%r2` and `%r3` as one.
fn module(body: &str) -> String {
    let body: Vec<String> = body
        .split(';')
        .filter(|one| !one.trim().is_empty())
        .map(|one| format!("  {};", one.trim()))
        .collect();
    format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n\
         .global .align 8 .u32 x[4], y[4];\n\
         .visible .func (.param .b64 result) f()\n{{\n\
         .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %out;\n\
         mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\n{}\n\
         mad.lo.u32 %r2, %r3, 256, %r2;\nmov.b64 %out, {{%r1, %r2}};\nst.param.b64 [result], %out;\nret;\n}}\n",
        body.join("\n")
    )
}

fn said(source: &str, target: &str) -> Said {
    let read = |text: &str| {
        let (module, diagnostics) = litmus::ptx::read("m.ptx", text.as_bytes());
        assert_eq!(diagnostics, [], "{text}");
        module.expect("a module").columns()
    };
    let (cxx, mut whole) = (cxx::model(ReleaseSequence::Cpp20), ptx::model());
    whole.conventions.tearing = false;
    let asker = Asker {
        engine: ENGINES[0],
        cxx: &cxx,
        whole: &whole,
        torn: None,
        bound: 2,
        patience: Duration::from_secs(20),
    };
    judge(&paired(read(source), read(target))[0], asker)
}

#[test]
fn transformations_have_the_verdicts_that_the_axioms_give_them() {
    let path = suite::root().join("tests/lower/transformations.csv");
    let text = fs::read_to_string(path).expect("it is there");
    let records = csv::records(&text).expect("it is well formed");
    let (mut wrong, mut tested) = (Vec::new(), 0);
    for (_, record) in &records[1..] {
        let [what, source, target, expected] = &record[..] else { panic!("{record:?}") };
        let said = said(&module(source), &module(target));
        let finding = &said.finding;
        let progress = finding.why.starts_with("progress:");
        let found = match (finding.verdict == Verdict::Weaker, progress, finding.racy) {
            (true, true, _) => "progress",
            (true, false, true) => "racy",
            _ => finding.verdict.name(),
        };
        if found != expected {
            wrong.push(format!("{what}: {found}: {}", finding.why));
        }
        // What refutes is a test that anyone can run.
        for test in [&finding.forbidden, &finding.allowed].into_iter().flatten() {
            let parsed = litmus::parse("witness", test.as_bytes())
                .unwrap_or_else(|errors| panic!("{test}\n{}", errors[0]));
            let mut model = ptx::model();
            model.conventions.tearing = false;
            let task = Task { ..suite::task(&model) };
            let judgement = checker::judge::judge(&parsed, &task);
            assert_eq!(judgement.exit(), Exit::AsExpected, "{what}\n{test}\n{judgement:?}");
            tested += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(tested >= 30, "only {tested} tests");
}
