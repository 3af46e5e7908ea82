//! Whole functions: transformations of threads that a compiler may do, and some that it may not.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::time::Duration;

use engine::MEMORY;
use engine::exit::Exit;
use lift::listing::Signature;
use model::ptx;
use refine::function::{FunctionPair, PairReport, judge, paired};
use refine::verdict::{Finding, Refuter, Verdict};
use refine::{JudgeSettings, Models, Patience, Refiner, RowTable};
use text::csv;

use crate::fmt::formatted;
use crate::suite;

/// A function of these instructions on `x` and `y`, which returns `%r1`, and `%r2` and `%r3` as one.
pub(crate) fn module(body: &str) -> String {
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

pub(crate) fn said(source: &str, target: &str) -> PairReport {
    let read = |text: &str| {
        let (module, diagnostics) = ::ptx::read("m.ptx", text.as_bytes());
        assert_eq!(diagnostics, [], "{text}");
        lift::module::functions(&module.expect("a module"))
    };
    judge_pair(&paired(read(source), read(target))[0])
}

pub(crate) fn judge_pair(pair: &FunctionPair) -> PairReport {
    judge_in(pair, &[])
}

/// In these contexts, too.
pub(crate) fn judge_in(
    pair: &FunctionPair,
    contexts: &[refine::context::ContextShape],
) -> PairReport {
    let models = Models::default();
    let patience = Patience::new(Some(Duration::from_secs(20)), MEMORY);
    let refiner = Refiner { tearing: false, patience, contexts, ..Refiner::new(&models) };
    judge(pair, refiner)
}

/// A kernel as Triton writes it, and its PTX with these words replaced.
fn compiled(replaced: &[(&str, &str)]) -> PairReport {
    let source = "target datalayout = \"e-p3:32:32-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"\n\
        define ptx_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %n) {\n  \
        %m = icmp slt i32 %n, 8\n  \
        %a = call i32 asm sideeffect \"mov.u32 $0, $3;\\0A\\09@$2 ld.global.b32 { $0 }, [ $1 + 8 ];\", \
        \"=r,l,b,r\"(ptr addrspace(1) %p, i1 %m, i32 7)\n  \
        %v = bitcast i32 %a to <2 x i16>\n  \
        %w = shufflevector <2 x i16> %v, <2 x i16> poison, <2 x i32> <i32 1, i32 0>\n  \
        %x = bitcast <2 x i16> %w to float\n  %y = sitofp i32 %n to float\n  \
        %z = call float @llvm.fma.f32(float %y, float %x, float 0.0)\n  \
        store float %z, ptr addrspace(1) %q, align 4\n  \
        %flag = getelementptr i8, ptr addrspace(1) %q, i64 4\n  \
        %old = call i32 asm sideeffect \"atom.global.gpu.release.add.u32 $0, [ $1 + 0 ], $2;\", \
        \"=r,l,r\"(ptr addrspace(1) %flag, i32 1)\n  ret void\n}\n";
    let mut target = ".version 8.7\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n{\n\
         .reg .pred %p<2>; .reg .b32 %r<5>; .reg .f32 %f<4>; .reg .b64 %rd<3>;\n\
         ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u32 %r1, [n];\n\
         setp.lt.s32 %p1, %r1, 8; mov.u32 %r2, 7; @%p1 ld.global.b32 %r2, [%rd1+8];\n\
         shf.l.wrap.b32 %r3, %r2, %r2, 16; cvt.rn.f32.s32 %f1, %r1; mov.b32 %f2, %r3;\n\
         fma.rn.f32 %f3, %f1, %f2, 0f00000000; st.global.f32 [%rd2], %f3;\n\
         atom.global.gpu.release.add.u32 %r4, [%rd2+4], 1;\nret;\n}\n"
        .to_owned();
    for (old, new) in replaced {
        assert!(target.contains(old), "{old}");
        target = target.replace(old, new);
    }
    let (module, diagnostics) = ::ptx::read("m.ptx", target.as_bytes());
    assert_eq!(diagnostics, [], "{target}");
    let target = lift::module::functions(&module.expect("a module"));
    let source = llvm::functions("f.ll", source).expect("it can be read");
    judge_pair(&paired(source, target)[0])
}

#[test]
fn inline_assembly_floats_and_vectors_are_compared() {
    let verdict = |replaced: &[(&str, &str)]| compiled(replaced).finding.verdict;
    assert_eq!(verdict(&[]), Verdict::Preserved, "{:?}", compiled(&[]).finding);
    for wrong in [
        ("[%rd1+8]", "[%rd1+4]"),
        ("@%p1 ld", "@!%p1 ld"),
        ("mov.u32 %r2, 7", "mov.u32 %r2, 0"),
        ("%r2, %r2, 16", "%r2, %r2, 8"),
        ("%f1, %f2, 0f00000000", "%f1, %f1, 0f00000000"),
        ("%f1, %f2, 0f00000000", "%f1, 0f00000000, %f2"),
        ("[%rd2+4], 1", "[%rd2+4], 2"),
    ] {
        assert_eq!(verdict(&[wrong]), Verdict::WrongValue, "{wrong:?}");
    }
    assert_eq!(verdict(&[("release.add", "relaxed.add")]), Verdict::Weaker);
    assert_eq!(verdict(&[(".gpu.release", ".cta.release")]), Verdict::Weaker);
}

/// A division by 0 and an element that does not exist are undefined in the source, so the target may do anything.
#[test]
fn what_is_undefined_in_the_source_is_not_compared() {
    let verdict = |step: &str, ptx: &str| {
        let source = format!("define i32 @k(i32 %a, i32 %n) {{\n  %v = {step}\n  ret i32 %v\n}}\n");
        let target = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n\
             .visible .func (.param .b32 k0) k(.param .b32 a, .param .b32 n)\n{{\n\
             .reg .pred %p; .reg .b32 %r<5>;\n\
             ld.param.u32 %r1, [a]; ld.param.u32 %r2, [n];\n{ptx}\n\
             st.param.b32 [k0], %r3;\nret;\n}}\n"
        );
        let (module, diagnostics) = ::ptx::read("m.ptx", target.as_bytes());
        assert_eq!(diagnostics, [], "{target}");
        let target = lift::module::functions(&module.expect("a module"));
        let source = llvm::functions("f.ll", &source).expect("it can be read");
        judge_pair(&paired(source, target)[0]).finding.verdict
    };
    let guarded = "setp.eq.u32 %p, %r2, 0; mov.u32 %r3, 77; @!%p div.u32 %r3, %r1, %r2;";
    assert_eq!(verdict("udiv i32 %a, %n", guarded), Verdict::Preserved);
    let wrong = guarded.replace("%r2, 0", "%r2, 2");
    assert_eq!(verdict("udiv i32 %a, %n", &wrong), Verdict::WrongValue);
    let element = "extractelement <2 x i32> <i32 5, i32 6>, i32 %a";
    let odd = "and.b32 %r3, %r1, 1; add.u32 %r3, %r3, 5;";
    assert_eq!(verdict(element, odd), Verdict::Preserved);
}

/// Addresses that are computed from what is read, in memory of thousands of places: those are tried that there can be.
#[test]
fn addresses_that_are_read_are_tried_in_large_memory() {
    let kernel = |body: &str| {
        format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n\
             .visible .entry k(.param .u64 p, .param .u64 q)\n{{\n\
             .reg .b32 %r<5>; .reg .b64 %rd<9>;\n\
             ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];\n{body}\nret;\n}}\n"
        )
    };
    let scatter = |first: &str, second: &str| {
        kernel(&format!(
            "ld.global.u64 %rd3, [%rd1]; ld.global.u64 %rd4, [%rd1+8];\n\
             shl.b64 %rd5, %rd3, 2; add.s64 %rd5, %rd2, %rd5;\n\
             shl.b64 %rd6, %rd4, 2; add.s64 %rd6, %rd2, %rd6;\n\
             st.global.u32 [%rd2+2000], 3; st.global.u32 [%rd5], {first}; st.global.u32 [%rd6], {second};"
        ))
    };
    let verdict = |source: &str, target: &str| said(source, target).finding.verdict;
    assert_eq!(verdict(&scatter("1", "2"), &scatter("1", "2")), Verdict::Preserved);
    assert_eq!(verdict(&scatter("1", "2"), &scatter("2", "1")), Verdict::WrongValue);
    // An index beyond the memory that suffices for all other accesses.
    let shuffled = |lane: u32| {
        kernel(&format!(
            "ld.global.u32 %r1, [%rd1];\n\
             shfl.sync.idx.b32 %r2, %r1, {lane}, 31, -1;\n\
             mul.wide.u32 %rd3, %r2, 4; add.s64 %rd4, %rd2, %rd3; st.global.u32 [%rd4], 9;"
        ))
    };
    assert_eq!(verdict(&shuffled(1), &shuffled(1)), Verdict::Preserved);
    assert_eq!(verdict(&shuffled(1), &shuffled(2)), Verdict::WrongValue);
}

/// What stands after a loop is compared, if need be with a larger bound, or not decided.
#[test]
fn what_stands_behind_a_loop_is_compared_or_not_decided() {
    let body = |store: &str, rounds: u32| {
        module(&format!(
            "st.relaxed.gpu.u32 [x], 1; mov.u32 %r4, 0; L: add.u32 %r4, %r4, 1; \
             setp.lt.u32 %p, %r4, {rounds}; @%p bra L; {store} [y], 1"
        ))
    };
    let (release, relaxed) = ("st.release.gpu.u32", "st.relaxed.gpu.u32");
    for (rounds, right, wrong) in [
        (4, Verdict::Preserved, Verdict::Weaker),
        (40, Verdict::Preserved, Verdict::Weaker),
        (100, Verdict::Undecided, Verdict::Undecided),
    ] {
        for (store, expected) in [(release, right), (relaxed, wrong)] {
            let finding = said(&body(release, rounds), &body(store, rounds)).finding;
            assert_eq!(finding.verdict, expected, "{rounds}: {}", finding.why);
        }
    }
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
        tested += reproduced(what, finding);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(tested >= 30, "only {tested} tests");
}

/// What refutes is a test that anyone can run. Returns the number of tests.
pub(crate) fn reproduced(what: &str, finding: &Finding) -> usize {
    let tests = [&finding.forbidden, &finding.allowed].into_iter().flatten();
    let checks = |test: &String| {
        let parsed = litmus::parse("witness", test.as_bytes())
            .unwrap_or_else(|errors| panic!("{test}\n{}", errors[0]));
        assert_eq!(formatted(test).as_ref(), Ok(test), "{what}: a witness is formatted");
        let mut model = ptx::model();
        model.conventions.tearing = false;
        let judgement = ::judge::judge(&parsed, &suite::task(&model));
        assert_eq!(judgement.exit(), Exit::AsExpected, "{what}\n{test}\n{judgement:?}");
    };
    tests.map(checks).count()
}

/// A kernel of these instructions with pointers `%x` and `%y` and integers `%n` and `%m`.
pub(crate) fn kernel(body: &str) -> String {
    format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n, .param .u32 m)\n{{\n\
         .reg .pred %p; .reg .b32 %r<5>, %n, %m; .reg .b64 %x, %y;\n\
         ld.param.u64 %x, [x];\nld.param.u64 %y, [y];\nld.param.u32 %n, [n];\nld.param.u32 %m, [m];\n\
         {};\nret;\n}}\n",
        body.trim_end_matches(';').replace("E:;", "E:")
    )
    .replace("E:;", "E:")
}

/// Inputs and partners make each comparison go both ways: a lock is taken and not, a counter reaches n.
#[test]
fn comparisons_go_both_ways() {
    let path = suite::root().join("tests/lower/comparisons.csv");
    let text = fs::read_to_string(path).expect("it is there");
    let records = csv::records(&text).expect("it is well formed");
    let mut wrong = Vec::new();
    for (_, record) in &records[1..] {
        let [what, source, target, expected] = &record[..] else { panic!("{record:?}") };
        let finding = said(&kernel(source), &kernel(target)).finding;
        if finding.verdict.name() != expected {
            wrong.push(format!("{what}: {}: {}", finding.verdict.name(), finding.why));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_poll_stays_a_loop() {
    let poll = "L: ld.relaxed.gpu.global.u32 %r1, [%x]; setp.eq.u32 %p, %r1, 0; @%p bra L; \
        st.global.u32 [%y], 1";
    let hoisted = poll.replace("L: ", "").replace("; @%p", "; L: @%p");
    let finding = said(&kernel(poll), &kernel(&hoisted)).finding;
    assert_eq!(finding.verdict, Verdict::Weaker, "{finding:?}");
    assert!(finding.why.starts_with("progress:"), "{finding:?}");
}

/// A comparison that no input of the search decides otherwise is reported, and nothing may be weakened then.
#[test]
fn a_condition_that_never_changes_is_told() {
    let body = |order: &str| {
        kernel(&format!(
            "mul.lo.u32 %r1, %n, %n; mad.lo.u32 %r1, %m, %m, %r1; setp.ne.u32 %p, %r1, 7; @%p bra E; \
             st.{order}.gpu.global.u32 [%x], 1; E:"
        ))
    };
    // No sum of two squares is 7.
    let finding = said(&body("release"), &body("release")).finding;
    assert_eq!(finding.verdict, Verdict::Preserved, "{}", finding.why);
    let told = "the condition at line 11 of the source holds in every context: the other way is not examined";
    assert!(finding.notes.iter().any(|note| note == told), "{:?}", finding.notes);
}

const MEETING: &str = ".version 8.7\n.target sm_90\n.address_size 64\n\
    .visible .entry f(.param .u64 data, .param .u64 out)\n{\n\
    .reg .b32 %r<4>; .reg .b64 %rd<5>; .shared .u32 s[2];\n\
    ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [out];\n\
    cvta.to.global.u64 %rd3, %rd1; cvta.to.global.u64 %rd4, %rd2;\n\
    st.shared.u32 [s], 1; st.global.u32 [%rd3], 1;\n\
    BEFORE\n\
    ld.shared.u32 %r1, [s+4]; ld.global.u32 %r2, [%rd3+4]; add.u32 %r1, %r1, %r2;\n\
    st.global.u32 [%rd4], %r1;\n\
    ret;\n}\n";

#[test]
fn partners_meet_a_function_at_its_barriers() {
    let cluster = "barrier.cluster.arrive; barrier.cluster.wait;";
    let cases = [
        ("bar.sync 0;", "bar.sync 0;", Verdict::Preserved),
        ("bar.sync 0;", "", Verdict::Weaker),
        ("bar.sync 0;", "fence.sc.cta;", Verdict::Weaker),
        (cluster, cluster, Verdict::Preserved),
        (cluster, "barrier.cluster.arrive.relaxed; barrier.cluster.wait;", Verdict::Weaker),
        (
            cluster,
            "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed; barrier.cluster.wait;",
            Verdict::Stronger,
        ),
    ];
    for (source, target, expected) in cases {
        let said = said(&MEETING.replace("BEFORE", source), &MEETING.replace("BEFORE", target));
        let close = said.finding.verdict == expected
            || expected == Verdict::Stronger && said.finding.verdict == Verdict::Preserved;
        assert!(close, "{source} became {target}: {:?}", said.finding);
    }
}

/// A recorded row of one operation as two modules of one function; none where its target is not
/// complete by itself.
fn wrapped(ir: &str, ptx: &str) -> Option<(String, String)> {
    let covered = ["load", "store", "atomicrmw", "%r = load", "%r = atomicrmw"];
    let plain = !["cmpxchg", "[kernel", "<", "sub ptr"].iter().any(|word| ir.contains(word));
    let far = (4..10).chain([101]).any(|space| ir.contains(&format!("addrspace({space})")));
    if !plain || far || !covered.iter().any(|word| ir.starts_with(word)) || ptx.contains("$L") {
        return None;
    }
    let bits =
        [32, 64].into_iter().find(|bits| ir.split([' ', ',']).any(|w| w == format!("i{bits}")))?;
    let pointer = ["ptr addrspace(1)", "ptr addrspace(3)", "ptr"]
        .into_iter()
        .find(|pointer| ir.contains(&format!("{pointer} %p")))?;
    let returns = ir.starts_with("%r = ");
    let mut body = String::new();
    for one in ptx.split(';').map(str::trim).filter(|one| !one.is_empty()) {
        let (name, operands) = one.split_once(' ').unwrap_or((one, ""));
        let writes = name.starts_with("ld") || name.starts_with("atom");
        if operands.contains('{') || name.starts_with(|c: char| !c.is_ascii_lowercase()) {
            return None;
        }
        let operands = operands.split(',').map(str::trim).filter(|one| !one.is_empty());
        let operands: Vec<&str> = operands
            .enumerate()
            .map(|(index, operand)| match operand {
                "_" => "_",
                _ if operand.starts_with('[') => "[%p]",
                _ if index == 0 && writes => "%d",
                _ => "%v",
            })
            .collect();
        writeln!(body, "{name} {};", operands.join(", ")).expect("a string takes it");
    }
    let ty = if returns { format!("i{bits}") } else { "void".to_owned() };
    let back = if returns { format!("ret {ty} %r") } else { "ret void".to_owned() };
    let source = format!("define {ty} @f({pointer} %p, i{bits} %v) {{\n  {ir}\n  {back}\n}}\n");
    let result = if returns { format!("(.param .b{bits} result) ") } else { String::new() };
    let back = if returns { format!("st.param.b{bits} [result], %d;\n") } else { String::new() };
    let target = format!(
        ".version 8.8\n.target sm_90\n.address_size 64\n\
         .visible .func {result}f(.param .b64 p, .param .b{bits} v)\n{{\n\
         .reg .b{bits} %d, %v; .reg .b64 %p;\n\
         ld.param.b64 %p, [p];\nld.param.b{bits} %v, [v];\n{body}{back}ret;\n}}\n"
    );
    Some((source, target))
}

#[test]
fn a_function_of_one_operation_is_judged_as_its_row_is() {
    let text = measured::text("llvm-lowering.csv");
    let table = refine::read(&text).expect("the rows are well formed");
    let mut seen = BTreeSet::new();
    let rows = table.rows.into_iter().filter(|(row, _)| {
        wrapped(&row.source, &row.target).is_some()
            && seen.insert((row.source.clone(), row.target.clone()))
    });
    // One in three, in whatever order the file has.
    let rows: Vec<_> = rows.step_by(3).collect();
    let models = Models::default();
    let setting = JudgeSettings { jobs: 2, ..JudgeSettings::new(&models) };
    let table = RowTable { rows, ..RowTable::default() };
    let findings = refine::judge(&table, &setting, &());
    let patience = Patience::new(Some(Duration::from_secs(20)), MEMORY);
    let refiner = Refiner { patience, ..Refiner::new(&models) };
    let (mut wrong, mut judged) = (Vec::new(), 0);
    for ((row, _), finding) in table.rows.iter().zip(&findings) {
        let (source, target) = wrapped(&row.source, &row.target).expect("it was wrapped before");
        let source = llvm::functions("f.ll", &source).expect("it can be read");
        let (module, diagnostics) = ::ptx::read("f.ptx", target.as_bytes());
        // What is PTX of another version only is judged as a row.
        let Some(module) = module.filter(|_| diagnostics.is_empty()) else { continue };
        let said = judge(&paired(source, lift::module::functions(&module))[0], refiner);
        judged += 1;
        let (row_is, function_is) = (finding.verdict, said.finding.verdict);
        let bad = [row_is, function_is].map(|verdict| verdict == Verdict::Weaker);
        let judged_both = [row_is, function_is].iter().all(|verdict| {
            matches!(verdict, Verdict::Preserved | Verdict::Stronger | Verdict::Weaker)
        });
        if judged_both && bad[0] != bad[1] {
            wrong.push(format!(
                "{} => {}: {row_is:?}, {:?}",
                row.source, row.target, said.finding.why
            ));
        }
    }
    assert!(judged > 200, "only {judged} functions");
    assert!(wrong.is_empty(), "{} of {judged}: {wrong:#?}", wrong.len());
}

pub(crate) const PUBLISH: &str = ".version 8.7\n.target sm_90\n.address_size 64\n\
    .visible .entry f(.param .u64 data, .param .u64 flag)\n{\n\
    .reg .b64 %rd<3>;\n\
    ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [flag];\n\
    st.global.u32 [%rd1], 1;\n\
    st.release.gpu.global.u32 [%rd2], 1;\n\
    ret;\n}\n";

pub(crate) const PUBLISHED: [&str; 10] = [
    "MOV R7, 0x1",
    "ULDC.64 UR4, c[0x0][0x208]",
    "LDC.64 R2, c[0x0][0x210]",
    "LDC.64 R4, c[0x0][0x218]",
    "STG.E desc[UR4][R2.64], R7",
    "MEMBAR.ALL.GPU",
    "ERRBAR",
    "CGAERRBAR",
    "STG.E.STRONG.GPU desc[UR4][R4.64], R7",
    "EXIT",
];

/// Judges the only function of a PTX module and a listing of these instructions for its target.
pub(crate) fn of_listing(source: &str, instructions: &[&str]) -> PairReport {
    judge_pair(&pair_of_listing(source, instructions))
}

pub(crate) fn pair_of_listing(source: &str, instructions: &[&str]) -> FunctionPair {
    let (module, _) = ::ptx::read("f.ptx", source.as_bytes());
    let sm = source.split_once(".target sm_").and_then(|(_, rest)| rest.split_once('\n'));
    let sm = sm.expect("a target").0.to_owned();
    let source = lift::module::functions(&module.expect("a module"));
    let mut text = format!(".headerflags @\"EF_CUDA_SM{sm}\"\n.section .text.f,\"ax\"\nf:\n");
    for (index, one) in instructions.iter().enumerate() {
        if one.ends_with(':') {
            writeln!(text, "{one}").expect("a string takes it");
            continue;
        }
        writeln!(text, "        /*{:04x}*/ {one} ;", 16 * index).expect("a string takes it");
    }
    let signature = |name: &str| {
        let found = source.iter().find(|(known, _)| known == name)?;
        found.1.as_ref().ok().map(Signature::of)
    };
    let target = lift::listing::functions("f.sass", &text, None, &signature);
    let target = target.unwrap_or_else(|all| panic!("{}", all[0]));
    paired(source.clone(), target).remove(0)
}

#[test]
fn a_listing_is_judged_by_its_promises_and_by_the_machine() {
    let judged = |instructions: &[&str]| of_listing(PUBLISH, instructions);
    let said = judged(&PUBLISHED);
    assert_eq!(said.finding.verdict, Verdict::Preserved, "{:?}", said.finding);
    let without: Vec<&str> =
        PUBLISHED.into_iter().filter(|one| !one.starts_with("MEMBAR")).collect();
    let said = judged(&without);
    assert_eq!(said.finding.by, Some(Refuter::ContractAndMachine), "{:?}", said.finding);
    assert!(said.finding.why.contains("lacks a `MEMBAR` before it"), "{}", said.finding.why);
    let run = said.finding.run.expect("the machine has one");
    assert!(run.contains("P1:c0=1 P1:c1=51"), "{run}");
    // The machine performs accesses of any level at one place.
    let narrowed = PUBLISHED.map(|one| {
        if one.contains("STRONG") { "STG.E.STRONG.SM desc[UR4][R4.64], R7" } else { one }
    });
    let said = judged(&narrowed);
    assert_eq!(said.finding.by, Some(Refuter::Contract), "{:?}", said.finding);
    assert!(said.finding.why.contains("lacks `.GPU`"), "{}", said.finding.why);
}

/// Asserts that a listing preserves its source, and that each listing with one other instruction has another value.
fn finds_bugs<const N: usize>(source: &str, right: [&str; N], bugs: &[(&str, &str)]) {
    let said = of_listing(source, &right).finding;
    assert_eq!(said.verdict, Verdict::Preserved, "{said:?}");
    for &(from, to) in bugs {
        assert!(right.contains(&from), "{from}");
        let wrong = right.map(|one| if one == from { to } else { one });
        let said = of_listing(source, &wrong).finding;
        assert_eq!(said.verdict, Verdict::WrongValue, "{to}: {said:?}");
    }
}

/// Each variable has the place that `ptxas` gives it: those of a function that other modules see are first.
#[test]
fn shared_variables_are_told_apart_by_their_places() {
    let source = ".version 8.7\n.target sm_90\n.address_size 64\n\
        .shared .align 4 .u32 flag;\n.extern .shared .align 4 .b8 dynamic[];\n\
        .visible .entry f(.param .u64 out)\n{\n.shared .align 1 .b8 small[1];\n\
        .shared .align 8 .u64 wide;\n.reg .b32 r<5>; .reg .b64 d<3>;\n\
        ld.param.u64 d1, [out];\nld.global.u32 r1, [d1];\nst.shared.u8 [small], 3;\n\
        st.shared.u64 [wide], 7;\nst.shared.u32 [flag], r1;\nst.shared.u32 [dynamic+4], 9;\n\
        bar.sync 0;\nld.shared.u32 r2, [flag];\nst.global.u32 [d1+4], r2;\nret;\n}\n";
    let right = [
        "LDC.64 R2, c[0x0][0x210]",
        "ULDC.64 UR4, c[0x0][0x208]",
        "LDG.E R8, desc[UR4][R2.64]",
        "MOV R4, 0x7",
        "MOV R5, RZ",
        "MOV R6, 0x3",
        "MOV R7, 0x9",
        "STS.U8 [0x400], R6",
        "STS.64 [0x408], R4",
        "STS [0x410], R8",
        "STS [0x424], R7",
        "BAR.SYNC.DEFER_BLOCKING 0x0",
        "LDS R9, [0x410]",
        "STG.E desc[UR4][R2.64+0x4], R9",
        "EXIT",
    ];
    let bugs = [
        ("STS [0x410], R8", "STS [0x40c], R8"),
        ("STS [0x410], R8", "STS [0x420], R8"),
        ("LDS R9, [0x410]", "LDS R9, [0x408]"),
    ];
    finds_bugs(source, right, &bugs);
}

/// The elements of a vector are accesses of their own, of 8, 16 or 64 bits.
#[test]
fn a_listing_has_the_elements_of_the_vectors_of_its_source() {
    let cases: [(&str, &str, &str, &[&str], &str); 3] = [
        (
            ".v2.b16 {h1, h2}",
            ".v2.b16 [d1+8], {h2, h1}",
            "",
            &["PRMT R4, R4, 0x1032, RZ"],
            "PRMT R4, R4, 0x3210, RZ",
        ),
        (
            ".v2.u8 {r1, r2}",
            ".v2.u8 [d1+8], {r2, r1}",
            ".U16",
            &["PRMT R4, R4, 0x3201, RZ"],
            "PRMT R4, R4, 0x3210, RZ",
        ),
        (
            ".v2.u64 {d2, d3}",
            ".v2.u64 [d1+16], {d3, d2}",
            ".128",
            &["MOV R8, R4", "MOV R9, R5", "MOV R4, R6", "MOV R5, R7", "MOV R6, R8", "MOV R7, R9"],
            "MOV R7, R8",
        ),
    ];
    for (loaded, stored, size, moves, bug) in cases {
        let source = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n\
             .visible .entry f(.param .u64 .ptr .global p)\n{{\n\
             .reg .b16 h<3>; .reg .b32 r<3>; .reg .b64 d<4>;\nld.param.u64 d1, [p];\n\
             ld.global{loaded}, [d1];\nst.global{stored};\nret;\n}}\n"
        );
        let to = if size == ".128" { "0x10" } else { "0x8" };
        let verdict = |moves: &[&str]| {
            let mut all = vec![
                "LDC.64 R2, c[0x0][0x210]".to_owned(),
                "ULDC.64 UR4, c[0x0][0x208]".to_owned(),
                format!("LDG.E{size} R4, desc[UR4][R2.64]"),
            ];
            all.extend(moves.iter().copied().map(str::to_owned));
            all.push(format!("STG.E{size} desc[UR4][R2.64+{to}], R4"));
            all.push("EXIT".to_owned());
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            of_listing(&source, &all).finding
        };
        let said = verdict(moves);
        assert_eq!(said.verdict, Verdict::Preserved, "{loaded}: {said:?}");
        let [rest @ .., _] = moves else { panic!("there are moves") };
        let said = verdict(&[rest, &[bug]].concat());
        assert_eq!(said.verdict, Verdict::WrongValue, "{loaded}: {said:?}");
    }
}

/// A product of matrices is the same function on both sides, and so is the load of a matrix.
#[test]
fn products_of_matrices_are_compared() {
    let source = ".version 8.7\n.target sm_90\n.address_size 64\n\
        .visible .entry f(.param .u64 .ptr .global p)\n{\n\
        .shared .align 16 .b8 tile[64];\n.reg .b32 a<4>, b<4>; .reg .f32 c<4>, d<4>;\n\
        .reg .b64 q;\nld.param.u64 q, [p];\nld.global.b32 a0, [q];\n\
        st.shared.b32 [tile], a0;\nst.shared.b32 [tile+20], a0;\nbar.sync 0;\n\
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {a0, a1, a2, a3}, [tile];\n\
        ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {b0, b1}, [tile+16];\n\
        mov.f32 c0, 0f00000000; mov.f32 c1, c0; mov.f32 c2, c0; mov.f32 c3, c0;\n\
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, \
        {b0, b1}, {c0, c1, c2, c3};\nst.global.f32 [q+8], d0;\nst.global.f32 [q+12], d3;\nret;\n}\n";
    let right = [
        "LDC.64 R2, c[0x0][0x210]",
        "ULDC.64 UR4, c[0x0][0x208]",
        "LDG.E R8, desc[UR4][R2.64]",
        "MOV R6, 0x400",
        "STS [R6], R8",
        "STS [R6+0x14], R8",
        "BAR.SYNC.DEFER_BLOCKING 0x0",
        "LDSM.16.M88.4 R8, [R6]",
        "LDSM.16.MT88.2 R12, [R6+0x10]",
        "HMMA.16816.F32 R8, R8, R12.reuse, RZ",
        "STG.E desc[UR4][R2.64+0x8], R8",
        "STG.E desc[UR4][R2.64+0xc], R11",
        "EXIT",
    ];
    let bugs = [
        ("LDSM.16.MT88.2 R12, [R6+0x10]", "LDSM.16.M88.2 R12, [R6+0x10]"),
        ("LDSM.16.M88.4 R8, [R6]", "LDSM.16.M88.4 R8, [R6+0x10]"),
        ("HMMA.16816.F32 R8, R8, R12.reuse, RZ", "HMMA.16816.F32 R8, R12, R8, RZ"),
        ("HMMA.16816.F32 R8, R8, R12.reuse, RZ", "HMMA.16816.F32 R8, R8, R12, R8"),
        ("STG.E desc[UR4][R2.64+0xc], R11", "STG.E desc[UR4][R2.64+0xc], R10"),
    ];
    finds_bugs(source, right, &bugs);
    // A product that is computed with others is not compared.
    let other = right.map(|one| {
        if one.starts_with("HMMA") { "HMMA.16816.F32.BF16 R8, R8, R12, RZ" } else { one }
    });
    let said = of_listing(source, &other).finding;
    assert_eq!(said.verdict, Verdict::Unsupported, "{said:?}");
    assert!(said.why.ends_with("which the source does not have"), "{}", said.why);
}

/// Each bug is found through a construct of its own: an operand of a fused sum, the half of a pair, a carry, the
/// predicate of a generic atomic.
#[test]
fn what_a_listing_computes_is_compared() {
    let source = ".version 8.7\n.target sm_90\n.address_size 64\n\
        .visible .entry f(.param .u64 x, .param .u64 n, .param .u64 out)\n{\n\
        .reg .f32 %f<5>; .reg .b32 %r<5>; .reg .b64 %rd<7>;\n\
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [n]; ld.param.u64 %rd3, [out];\n\
        ld.global.f32 %f1, [%rd1];\nmov.f32 %f2, 0f40400000;\n\
        fma.rn.f32 %f3, %f1, %f2, 0f3F800000;\nst.global.f32 [%rd3], %f3;\n\
        mov.b32 %r1, %f1;\nmov.b32 %r2, 0x3C004000;\nadd.f16x2 %r3, %r1, %r2;\n\
        st.global.u32 [%rd3+4], %r3;\n\
        atom.relaxed.gpu.add.u64 %rd4, [%rd2], 0x1FFFFFFFF;\n\
        add.u64 %rd5, %rd4, 0x1FFFFFFFF;\nst.global.u64 [%rd3+8], %rd5;\nret;\n}\n";
    let right = [
        "LDC.64 R2, c[0x0][0x210]",
        "ULDC.64 UR4, c[0x0][0x208]",
        "LDC.64 R4, c[0x0][0x220]",
        "LDC.64 R6, c[0x0][0x218]",
        "LDG.E R8, desc[UR4][R2.64]",
        "FFMA R9, R8, 3, 1",
        "STG.E desc[UR4][R4.64], R9",
        "HADD2 R9, R8, 1, 2",
        "STG.E desc[UR4][R4.64+0x4], R9",
        "MOV R10, 0xffffffff",
        "MOV R11, 0x1",
        "ATOM.E.ADD.64.STRONG.GPU P0, R12, desc[UR4][R6.64], R10",
        "@P0 BRA `(.L_x_1)",
        "QSPC.E.S P1, RZ, [R6]",
        "@!P1 BRA `(.L_x_2)",
        ".L_x_0:",
        "LDS.64 R12, [R6]",
        "IADD3 R16, P0, R12, R10, RZ",
        "IADD3.X R17, R13, R11, RZ, P0, !PT",
        "ATOMS.CAST.SPIN.64 R16, [R6], R12, R16",
        "ISETP.EQ.U32.AND P0, PT, R16, 0x1, PT",
        "@!P0 BRA `(.L_x_0)",
        "BRA `(.L_x_1)",
        ".L_x_2:",
        "LD.E.64 R12, desc[UR4][R6.64]",
        "IADD3 R16, P0, R12, R10, RZ",
        "IADD3.X R17, R13, R11, RZ, P0, !PT",
        "ST.E.64 desc[UR4][R6.64], R16",
        ".L_x_1:",
        "IADD3 R14, P0, R12, R10, RZ",
        "IADD3.X R15, R13, R11, RZ, P0, !PT",
        "STG.E.64 desc[UR4][R4.64+0x8], R14",
        "EXIT",
    ];
    let bugs = [
        ("FFMA R9, R8, 3, 1", "FFMA R9, R8, 1, 3"),
        ("FFMA R9, R8, 3, 1", "FFMA R9, -R8, 3, 1"),
        ("HADD2 R9, R8, 1, 2", "HADD2 R9, R8, 2, 1"),
        ("HADD2 R9, R8, 1, 2", "HADD2 R9, R8.H0_H0, 1, 2"),
        ("@P0 BRA `(.L_x_1)", "@!P0 BRA `(.L_x_1)"),
        ("IADD3.X R15, R13, R11, RZ, P0, !PT", "IADD3.X R15, R13, R11, RZ, !PT, !PT"),
    ];
    finds_bugs(source, right, &bugs);
}
