//! Launches of kernels: `causeway verify`.

use std::fs;
use std::path::PathBuf;

use judge::Task;
use verify::file::{self, LaunchFile};
use verify::{
    ArgumentValue, Dim3, ElementKind, ElementType, FindingKind, KernelModule, LaunchArgument,
    LaunchQuestion, LaunchSpec, RepairEffort, ThreadChoice, Verification, VerifyError,
    VolatileMeaning, verify,
};

use crate::suite;

fn kernels() -> PathBuf {
    suite::root().join("examples/kernels")
}

/// Judges a launch of a module that is a text.
pub(crate) fn judged(module: &str, launch: &LaunchSpec) -> Result<Verification, VerifyError> {
    let read = KernelModule::read("k.ptx", module).expect("a module");
    let model = model::ptx::model();
    let task = Task { counts: false, ..Task::new(&model) };
    verify(&read, launch, &task, &RepairEffort::BRIEF.into()).map(|(_, verification)| verification)
}

/// A kernel with these parameters and this body.
pub(crate) fn kernel(parameters: &[&str], body: &str) -> String {
    let parameters: Vec<String> =
        parameters.iter().map(|name| format!(".param .u64 {name}")).collect();
    format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k({})\n{{\n\
         .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<9>;\n{body}\n}}\n",
        parameters.join(", ")
    )
}

pub(crate) fn launch(grid: u32, block: u32, arguments: &[&str], assertions: &[&str]) -> LaunchSpec {
    let of = |x| Dim3 { x, ..Dim3::ONE };
    let own = |text: &&str| LaunchArgument::parse(text).expect("an argument");
    LaunchSpec {
        arguments: arguments.iter().map(own).collect(),
        assertions: assertions.iter().map(|text| (*text).to_owned()).collect(),
        ..LaunchSpec::new(of(grid), of(block))
    }
}

pub(crate) fn kinds(verification: &Verification) -> Vec<FindingKind> {
    verification.findings.iter().map(|finding| finding.kind).collect()
}

#[test]
fn each_example_is_as_its_file_expects() {
    let mut files: Vec<PathBuf> = fs::read_dir(kernels())
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|its| its == "toml"))
        .collect();
    files.sort();
    assert!(files.len() >= 6, "{files:?}");
    for path in files {
        let text = fs::read_to_string(&path).expect("it can be read");
        let LaunchFile { ptx, launch, expected, .. } = file::read("launch.toml", &text)
            .unwrap_or_else(|all| panic!("{}: {}", path.display(), all[0]));
        let module = fs::read_to_string(path.with_file_name(ptx)).expect("it can be read");
        let verification = judged(&module, &launch)
            .unwrap_or_else(|error| panic!("{}: {error:?}", path.display()));
        let found: Vec<&str> = kinds(&verification).iter().map(|kind| kind.name()).collect();
        let wanted: Vec<String> = expected.expect("it expects something").findings;
        assert_eq!(verification.undecided, [], "{}", path.display());
        for kind in wanted.iter().filter(|kind| *kind != "clean") {
            assert!(found.contains(&&kind[..]), "{}: {found:?}", path.display());
        }
        assert!(found.iter().all(|kind| wanted.iter().any(|of| of == kind)), "{found:?}");
        // What is wrong with these has a repair, which is at an instruction of the kernel.
        assert_eq!(found.is_empty(), verification.repairs.is_empty(), "{}", path.display());
        for edit in verification.repairs.iter().flat_map(|repair| &repair.edits) {
            let line = module.lines().nth(edit.line - 1).expect("the line is there");
            assert!(edit.before.as_ref().is_none_or(|before| before == line));
            assert!(edit.after.is_some());
        }
    }
}

const SELF_INDEX: &str = "ld.param.u64 %rd1, [a]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, %ctaid.x; \
     mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3; mul.wide.u32 %rd3, %r4, 4; \
     add.s64 %rd4, %rd2, %rd3; st.global.u32 [%rd4], %r4; ret;";

#[test]
fn each_thread_has_its_index() {
    let module = kernel(&["a"], SELF_INDEX);
    let asserted = ["a[0]==0 && a[1]==1", "a[2] = 2 /\\ a[3] = 3"];
    let right = judged(&module, &launch(2, 2, &["a=u32[4]"], &asserted)).expect("it is judged");
    assert_eq!((kinds(&right), right.undecided), (vec![], vec![]));
    let wrong = judged(&module, &launch(2, 2, &["a=u32[4]"], &["a[3]==2"]));
    assert_eq!(kinds(&wrong.expect("it is judged")), [FindingKind::Assert]);
}

#[test]
fn a_buffer_has_the_size_that_the_launch_gives_it() {
    let module = kernel(&["a"], SELF_INDEX);
    let small = judged(&module, &launch(2, 2, &["a=u32[3]"], &[])).expect("it is judged");
    assert_eq!(kinds(&small), [FindingKind::OutOfBounds]);
    assert!(small.findings[0].places[0].text.starts_with("st.global"), "{small:?}");
}

#[test]
fn a_trap_is_an_outcome() {
    let body = "ld.param.u64 %rd1, [a]; ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 7; @%p1 trap; ret;";
    let module = kernel(&["a"], body);
    let runs = judged(&module, &launch(1, 1, &["a=u32[1]=7"], &[])).expect("it is judged");
    assert_eq!(kinds(&runs), [FindingKind::Assert]);
    // It is the line of the module with the `trap`.
    let place = &runs.findings[0].places[0];
    assert_eq!((place.column, place.line, &place.text[..]), (None, 7, "trap"), "{runs:?}");
    let passes = judged(&module, &launch(1, 1, &["a=u32[1]=6"], &[])).expect("it is judged");
    assert_eq!(kinds(&passes), []);
}

/// Each CTA says that it is there, and waits for the other one.
const GRID_BARRIER: &str = "ld.param.u64 %rd1, [a]; red.release.gpu.global.add.u32 [%rd1], 1; \
     $L: ld.acquire.gpu.global.u32 %r1, [%rd1]; setp.lt.u32 %p1, %r1, 2; @%p1 bra $L; ret;";

#[test]
fn a_barrier_of_the_grid_needs_all_of_its_ctas() {
    let module = kernel(&["a"], GRID_BARRIER);
    let all = launch(2, 1, &["a=u32[1]=0"], &[]);
    assert_eq!(kinds(&judged(&module, &all).expect("it is judged")), []);
    let one = LaunchSpec { resident: Some(1), ..all };
    let hangs = judged(&module, &one).expect("it is judged");
    assert_eq!(kinds(&hangs), [FindingKind::Hang]);
    assert!(hangs.findings[0].message.contains("CTA 1 does not start"), "{hangs:?}");
}

#[test]
fn two_strong_accesses_of_a_narrow_scope_are_a_race_of_scopes() {
    let body = "ld.param.u64 %rd1, [a]; atom.relaxed.cta.global.add.u32 %r1, [%rd1], 1; ret;";
    let module = kernel(&["a"], body);
    let found = judged(&module, &launch(2, 1, &["a=u32[1]=0"], &[])).expect("it is judged");
    assert_eq!(kinds(&found), [FindingKind::ScopeRace]);
}

#[test]
fn a_fence_before_the_barrier_does_not_cover_what_others_wrote() {
    let body = |fences: [&str; 2]| {
        let [before, behind] = fences;
        format!(
            "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [f]; ld.param.u64 %rd3, [o]; mov.u32 %r1, %ctaid.x; \
             setp.ne.u32 %p1, %r1, 0; @%p1 bra $WAIT; mov.u32 %r2, %tid.x; setp.eq.u32 %p2, %r2, 1; \
             @%p2 st.global.u32 [%rd1], 1; {before} bar.sync 0; {behind} setp.eq.u32 %p3, %r2, 0; \
             @%p3 st.relaxed.gpu.global.u32 [%rd2], 1; ret;\n$WAIT: ld.acquire.gpu.global.u32 %r3, [%rd2]; \
             setp.eq.u32 %p4, %r3, 0; @%p4 bra $WAIT; ld.global.u32 %r4, [%rd1]; \
             mov.u32 %r2, %tid.x; setp.eq.u32 %p3, %r2, 0; @%p3 st.global.u32 [%rd3], %r4; ret;"
        )
    };
    let arguments = ["x=u32[1]=0", "f=u32[1]=0", "o=u32[1]=0"];
    let of = |fences| {
        let module = kernel(&["x", "f", "o"], &body(fences));
        let launch = LaunchSpec {
            threads: ThreadChoice::OfEachCta(vec![0, 1]),
            ..launch(2, 2, &arguments, &["o[0]==1"])
        };
        judged(&module, &launch).expect("it is judged")
    };
    let early = of(["fence.acq_rel.gpu;", ""]);
    assert!(kinds(&early).contains(&FindingKind::DataRace), "{early:?}");
    let said = early.reasons.iter().any(|reason| reason.contains("stands before the barrier"));
    assert!(said, "{:?}", early.reasons);
    assert_eq!(kinds(&of(["", "fence.acq_rel.gpu;"])), []);
}

#[test]
fn a_wrong_launch_is_told_with_a_remedy() {
    let module = kernel(&["a"], SELF_INDEX);
    let right = launch(2, 1, &["a=u32[4]"], &[]);
    let clustered = |grid, cluster| LaunchSpec {
        cluster: Some(Dim3 { x: cluster, ..Dim3::ONE }),
        ..launch(grid, 1, &["a=u32[32]"], &[])
    };
    let missing = "the kernel `k` has 1 parameters, and the launch gives 0 arguments";
    let behind = "`@a+16` is behind the 16 bytes of `a`";
    for (launch, wanted) in [
        (launch(2, 2, &[], &[]), missing),
        (launch(1000, 1000, &["a=u32[4]"], &[]), "1000000 threads are too many"),
        (launch(1, 1, &["a=@b"], &[]), "`@b` is not a buffer of the launch"),
        (launch(1, 1, &["a=u32[4]", "b=@a+16"], &[]), behind),
        (launch(1, 1, &["a=1", "a=2"], &[]), "the argument `a` is given twice"),
        (launch(1, 2048, &["a=u32[4]"], &[]), "a block has at most 1024 threads"),
        (clustered(3, 2), "clusters of 2 do not divide a grid of 3"),
        (clustered(32, 32), "a cluster has at most 16 CTAs"),
        (LaunchSpec { resident: Some(0), ..right.clone() }, "no CTA runs where none is resident"),
        (
            LaunchSpec { gpus: vec![0], ..right.clone() },
            "`gpu_of_cta` has 1 numbers, and the grid 2 CTAs",
        ),
    ] {
        let Err(VerifyError::Launch(errors)) = judged(&module, &launch) else {
            panic!("{wanted}: it is judged");
        };
        assert!(errors[0].message.starts_with(wanted), "{errors:?}");
    }
    let unknown = LaunchSpec {
        kernels: vec![verify::KernelLaunch { name: Some("f".to_owned()), arguments: None }],
        ..launch(1, 1, &["a=u32[1]"], &[])
    };
    let Err(VerifyError::Launch(errors)) = judged(&module, &unknown) else {
        panic!("an unknown kernel is judged");
    };
    assert_eq!(errors[0].help.as_deref(), Some("its kernels: k"));
}

#[test]
fn arguments_are_read_and_wrong_ones_are_refused() {
    let value = |text: &str| LaunchArgument::parse(text).expect("an argument").value;
    assert_eq!(value("n=-1"), ArgumentValue::Untyped("-1".to_owned()));
    assert_eq!(value("n=1.5"), ArgumentValue::Untyped("1.5".to_owned()));
    assert_eq!(
        value("n=u32=0x10"),
        ArgumentValue::Number {
            bits: 16,
            ty: ElementType { kind: ElementKind::Unsigned, bits: 32 }
        }
    );
    assert_eq!(
        value("x=f32=1.5"),
        ArgumentValue::Number {
            bits: 0x3fc0_0000,
            ty: ElementType { kind: ElementKind::Float, bits: 32 }
        }
    );
    let inside = ArgumentValue::Inside { buffer: "a".to_owned(), offset: 16 };
    assert_eq!(value("b=@a+16"), inside);
    for wrong in
        ["n", "n=", "n=u32", "a=u32[0]", "a=u32[2]={1,2,3}", "a=u7[2]", "P0=1", "a b=1", "n=u8=256"]
    {
        assert!(LaunchArgument::parse(wrong).is_err(), "{wrong}");
    }
    for (wrong, why) in [
        ("a=u8[4]=256", "`256`, of `a`, does not fit `u8`"),
        ("a=s16[2]={1,-32769}", "`-32769`, of `a`, does not fit `s16`"),
        ("a=u32[2]={1.5,2}", "`1.5` is a float, and the type of `a` is `u32`"),
        ("n=u32=1.5", "`1.5` is a float, and the type of `n` is `u32`"),
        ("a=u32[2]={1,x}", "the value `x` of the argument `a` is not understood"),
        ("p={0: 2, 8: f32[2]={1,2}}", "the field at 8 of `p` is a buffer"),
        ("a=bf16[2]", "the argument `a` has the unknown type `bf16[2]`"),
    ] {
        let error = LaunchArgument::parse(wrong).expect_err(wrong);
        assert_eq!(error.message, why);
        assert!(error.help.is_some(), "{wrong}");
    }
    let help = |text: &str| LaunchArgument::parse(text).expect_err(text).help.expect("it helps");
    assert!(help("a=f16[2]").starts_with("u16[2]: "));
    assert!(help("p={8: f32[2]}").ends_with("--arg a='f32[2]', and the field its address: 8: @a"));
    for wrong in ["", "0", "1,2,3,4", "x", "1,,2"] {
        assert_eq!(Dim3::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn no_broken_module_and_no_broken_launch_file_is_too_odd() {
    let module = fs::read_to_string(kernels().join("split_k.ptx")).expect("it is there");
    let text = fs::read_to_string(kernels().join("split_k.toml")).expect("it is there");
    let launch = file::read("launch.toml", &text).expect("it is right").launch;
    let lines: Vec<&str> = module.lines().collect();
    let (mut composed, mut read_files) = (0, 0);
    for end in 0..lines.len() {
        let cut = lines[..end].join("\n");
        let read = KernelModule::read("k.ptx", &cut).ok();
        // That it ends is enough: the body may be whole already.
        composed +=
            usize::from(read.is_some_and(|module| verify::compose(&module, &launch).is_ok()));
    }
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        read_files += usize::from(file::read("launch.toml", &text[..end]).is_ok());
    }
    // A launch is whole before its arguments, and a module with its last line.
    assert!(composed < lines.len() && read_files < text.len(), "{composed} {read_files}");
    let unknown = file::read("launch.toml", &text.replace("grid", "gird"));
    let errors = unknown.expect_err("the key is unknown");
    assert!(errors[0].message.contains("unknown field `gird`"), "{}", errors[0]);
    assert_eq!(errors[0].span.line, 5, "{}", errors[0]);
}

#[test]
fn what_no_assembler_accepts_is_told_where_the_kernel_has_it() {
    let wrong =
        kernel(&["a"], "ld.param.u64 %rd1, [a];\nst.relaxd.gpu.global.u32 [%rd1], 1;\nret;");
    let Err(VerifyError::Launch(errors)) = judged(&wrong, &launch(1, 1, &["a=u32[1]"], &[])) else {
        panic!("a store that nobody knows is judged");
    };
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].line, Some(8), "{errors:?}");
    assert!(errors[0].message.contains("relaxd"), "{errors:?}");
    // Another function of the module may be wrong.
    let other = ".func other()\n{\nst.relaxd.gpu.global.u32 [%rd1], 1;\nret;\n}\n";
    let right = kernel(&["a"], "ret;") + other;
    let judged = judged(&right, &launch(1, 1, &["a=u32[1]"], &[])).expect("it is judged");
    assert_eq!(kinds(&judged), []);
}

#[test]
fn a_constant_address_outside_its_buffer_is_found_where_it_is_executed() {
    let body = |offset: u32| {
        format!(
            "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [n]; setp.lt.u64 %p1, %rd2, 5; @%p1 bra $E;\n\
             st.global.u32 [%rd1+{offset}], 1;\n$E: ret;"
        )
    };
    let of = |offset, n: &str| {
        let module = kernel(&["a", "n"], &body(offset));
        judged(&module, &launch(1, 1, &["a=u32[4]=0", n], &[])).expect("it is judged")
    };
    assert_eq!(kinds(&of(16, "n=4")), []);
    let outside = of(16, "n=6");
    assert_eq!(kinds(&outside), [FindingKind::OutOfBounds]);
    assert_eq!(outside.findings[0].places[0].line, 8, "{outside:?}");
    assert_eq!(kinds(&of(2, "n=6")), [FindingKind::Misaligned]);
    assert_eq!(kinds(&of(12, "n=6")), []);
}

#[test]
fn a_kernel_without_a_meaning_is_told_once() {
    let body = "ld.param.u64 %rd1, [a]; mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0;\n\
                @%p1 st.relaxed.gpu.global.u32 [%rd1], 1;\n@!%p1 st.relaxed.gpu.global.u16 [%rd1], 1;\nret;";
    let module = kernel(&["a"], &body.replace("u16 [%rd1], 1", "u16 [%rd1], 0"));
    let found =
        judged(&module, &launch(2, 1, &["a=u32[1]=0"], &["a[0]==1"])).expect("it is judged");
    assert_eq!(kinds(&found), [FindingKind::MixedSizeRace]);
    assert_eq!(found.findings[0].like, 0, "{found:?}");
    let message = &found.findings[0].message;
    assert!(message.starts_with("mixed-size-race: A consistent execution has a race"), "{message}");
}

#[test]
fn only_what_is_asked_is_judged() {
    let body = "ld.param.u64 %rd1, [a]; mov.u32 %r1, %ctaid.x; st.global.u32 [%rd1], %r1; ret;";
    let module = kernel(&["a"], body);
    let all = launch(2, 1, &["a=u32[1]=0"], &["a[0]==0"]);
    let asked = |questions: &[LaunchQuestion]| {
        let launch = LaunchSpec { questions: questions.iter().copied().collect(), ..all.clone() };
        kinds(&judged(&module, &launch).expect("it is judged"))
    };
    assert_eq!(asked(&LaunchQuestion::ALL), [FindingKind::DataRace, FindingKind::Assert]);
    assert_eq!(asked(&[LaunchQuestion::Race]), [FindingKind::DataRace]);
    assert_eq!(asked(&[LaunchQuestion::Assert]), [FindingKind::Assert]);
    assert_eq!(asked(&[LaunchQuestion::Hang, LaunchQuestion::Bounds]), []);
    assert!(LaunchQuestion::parse("races").is_err());
}

#[test]
fn a_wait_that_nothing_ends_says_what_it_waits_for() {
    let body = ".shared .b64 m; setp.eq.u32 %p1, 1, 1; mbarrier.init.shared::cta.b64 [m], 2;\n\
                mbarrier.arrive.shared::cta.b64 %rd1, [m];\n\
                $L: mbarrier.try_wait.shared::cta.b64 %p2, [m], %rd1; @!%p2 bra $L; ret;";
    let module = kernel(&[], body);
    let found = judged(&module, &launch(1, 1, &[], &[])).expect("it is judged");
    assert_eq!(kinds(&found), [FindingKind::Hang]);
    let message = &found.findings[0].message;
    assert!(
        message.contains("phase 0 of the object is not complete: pending count 1"),
        "{message}"
    );
}

#[test]
fn a_launch_file_expects_kinds_that_there_are() {
    let text = fs::read_to_string(kernels().join("split_k.toml")).expect("it is there");
    let wrong = text.replace("\"data-race\"", "\"datarace\"");
    let errors = file::read("launch.toml", &wrong).expect_err("the kind is unknown");
    assert!(errors[0].message.contains("`datarace` is no kind of a finding"), "{}", errors[0]);
}

#[test]
fn resident_ctas_that_all_wait_let_no_other_one_start() {
    // CTA 2 sets the flag; CTAs up to `last` wait for it.
    let body = |last: u32| {
        format!(
            "ld.param.u64 %rd1, [a]; mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 2;\n\
             @%p1 st.relaxed.gpu.global.u32 [%rd1], 1;\nsetp.gt.u32 %p2, %r1, {last}; @%p2 ret;\n\
             $L: ld.relaxed.gpu.global.u32 %r2, [%rd1]; setp.eq.u32 %p3, %r2, 0; @%p3 bra $L; ret;"
        )
    };
    let of = |last, resident| {
        let launch = LaunchSpec { resident: Some(resident), ..launch(3, 1, &["a=u32[1]=0"], &[]) };
        kinds(&judged(&kernel(&["a"], &body(last)), &launch).expect("it is judged"))
    };
    assert_eq!(of(1, 2), [FindingKind::Hang]);
    assert_eq!(of(1, 3), []);
    // One of two ends, and CTA 2 starts.
    assert_eq!(of(0, 2), []);
    assert_eq!(of(0, 1), [FindingKind::Hang]);
}

#[test]
fn malloc_that_does_not_fit_takes_nothing() {
    let call = |bytes: &str, to: &str| {
        format!(
            "{{ .param .b64 n; st.param.b64 [n], {bytes}; .param .b64 r; call (r), malloc, (n); \
             ld.param.b64 %rd1, [r]; }} setp.ne.u64 %p1, %rd1, 0; selp.u32 %r1, 1, 0, %p1; st.global.u32 [%rd0+{to}], %r1;\n"
        )
    };
    let calls =
        [call("4000", "0"), call("0xffffffffffffffff", "4"), call("2048", "8"), call("1", "12")];
    let module = kernel(&["out"], &format!("ld.param.u64 %rd0, [out];\n{} ret;", calls.concat()));
    let module = module
        .replace(".visible", ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.visible");
    let asserted = "out[0]==0 && out[1]==0 && out[2]==1 && out[3]==0";
    let found = judged(&module, &launch(1, 1, &["out=u32[4]"], &[asserted])).expect("a launch");
    assert_eq!(kinds(&found), [], "{:#?}", found.findings);
}

#[test]
fn a_repair_is_written_with_the_registers_of_the_module() {
    // The slot is filled again before it was read: the wait for the barrier `empty` is missing.
    let wait = |object: &str, parity: &str| {
        format!(
            "{{ .reg .pred q; W: mbarrier.try_wait.parity.shared::cta.b64 q, [{object}], {parity}; @!q bra W; }}\n"
        )
    };
    let arrive = |object: &str| format!("mbarrier.arrive.shared::cta.b64 _, [{object}];\n");
    let body = format!(
        ".shared .b64 full; .shared .b64 empty; .shared .u32 slot;\n\
         ld.param.u64 %rd0, [out]; mov.u32 %r9, empty; mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra READY;\n\
         mbarrier.init.shared::cta.b64 [full], 1; mbarrier.init.shared::cta.b64 [%r9], 1;\n\
         READY: bar.sync 0; @%p1 bra CONSUMER;\n\
         st.shared.u32 [slot], 7;\n{}st.shared.u32 [slot], 9;\n{}ret;\n\
         CONSUMER: {}ld.shared.u32 %r2, [slot];\n{}st.global.u32 [%rd0], %r2;\nret;",
        arrive("full"),
        arrive("full"),
        wait("full", "0"),
        arrive("%r9"),
    );
    let found = judged(&kernel(&["out"], &body), &launch(1, 2, &["out=u32[1]"], &["out[0]==7"]));
    let found = found.expect("a launch");
    let texts: Vec<&str> =
        found.repairs[0].edits.iter().filter_map(|edit| edit.after.as_deref()).collect();
    let wait = "{ .reg .pred ended0; wait0: mbarrier.try_wait.parity.shared::cta.b64 ended0, [%r9], 0; @!ended0 bra wait0; }";
    assert!(texts.contains(&wait), "{texts:#?}");
}

/// Each thread writes its element of a tile, waits for the others, and reads that of a neighbour.
fn tile(read: &str, barrier: &str) -> String {
    let body = format!(
        "ld.param.u64 %rd1, [out]; .shared .align 4 .b8 tile[16]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n\
         mov.u64 %rd3, tile; add.s64 %rd4, %rd3, %rd2; st.shared.u32 [%rd4], %r1; {barrier}\n\
         ld.shared.u32 %r2, [{read}];\nadd.s64 %rd5, %rd1, %rd2; st.global.u32 [%rd5], %r2; ret;"
    );
    kernel(&["out"], &body)
}

#[test]
fn shared_memory_that_nobody_has_written_is_told_with_its_name() {
    let of = |read: &str, barrier: &str, launch: &LaunchSpec| {
        judged(&tile(read, barrier), launch).expect("it is judged")
    };
    let two = launch(1, 2, &["out=u32[2]"], &[]);
    assert_eq!(kinds(&of("tile+4", "bar.sync 0;", &two)), []);
    let found = of("tile+8", "bar.sync 0;", &two);
    assert_eq!(kinds(&found), [FindingKind::Uninitialised]);
    let finding = &found.findings[0];
    assert!(finding.message.contains("`tile` in .shared memory"), "{finding:?}");
    assert_eq!((finding.places[0].line, finding.like), (9, 1), "{finding:?}");
    // Without the barrier the read races: it is not told again.
    assert_eq!(kinds(&of("tile+4", "", &two)), [FindingKind::DataRace]);
    let asked = |questions: &[LaunchQuestion]| LaunchSpec {
        questions: questions.iter().copied().collect(),
        ..two.clone()
    };
    let alone = asked(&[LaunchQuestion::Uninitialised]);
    assert_eq!(kinds(&of("tile+4", "", &alone)), [FindingKind::Uninitialised]);
    assert_eq!(kinds(&of("tile+8", "bar.sync 0;", &asked(&[LaunchQuestion::Race]))), []);
}

#[test]
fn what_threads_that_are_left_out_may_write_counts_as_written() {
    let lanes = |block, threads| LaunchSpec { threads, ..launch(1, block, &["out=u32[3]"], &[]) };
    let of = |launch: &LaunchSpec| {
        kinds(&judged(&tile("tile+8", "bar.sync 0;"), launch).expect("it is judged"))
    };
    assert_eq!(of(&lanes(2, ThreadChoice::All)), [FindingKind::Uninitialised]);
    assert_eq!(of(&lanes(3, ThreadChoice::All)), []);
    assert_eq!(of(&lanes(3, ThreadChoice::OfEachCta(vec![0, 1]))), []);
}

#[test]
fn a_buffer_has_no_value_where_the_launch_says_so() {
    let body = "ld.param.u64 %rd1, [a]; st.global.u32 [%rd1], 1; ld.global.u32 %r1, [%rd1+4]; ret;";
    let module = kernel(&["a"], body);
    let found = |argument: &str| {
        kinds(&judged(&module, &launch(1, 1, &[argument], &[])).expect("it is judged"))
    };
    assert_eq!(found("a=u32[2]"), []);
    assert_eq!(found("a=u32[2]=0"), []);
    assert_eq!(found("a=u32[2]=?"), [FindingKind::Uninitialised]);
    let file = |init: &str| {
        let text = format!(
            "ptx = \"k.ptx\"\n[launch]\ngrid = 1\nblock = 1\n[[arg]]\nname = \"a\"\ntype = \"u32[2]\"\ninit = {init}\n"
        );
        file::read("launch.toml", &text)
    };
    let read = file("\"?\"").expect("it is a launch");
    let verification = judged(&module, &read.launch).expect("it is judged");
    assert_eq!(kinds(&verification), [FindingKind::Uninitialised]);
    let errors = file("7").expect_err("it is no list");
    assert!(errors[0].message.contains("`init` of `a` is not a list of values"), "{}", errors[0]);
}

#[test]
fn local_memory_has_no_value_on_the_path_that_does_not_write_it() {
    let body = |guard: &str| {
        format!(
            "ld.param.u64 %rd1, [a]; .local .align 4 .b8 own[8]; ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 7;\n\
             {guard} st.local.u32 [own], %r1; ld.local.u32 %r2, [own]; st.global.u32 [%rd1], %r2; ret;"
        )
    };
    let found = |guard: &str, value: u32| {
        let launch = launch(1, 1, &[&format!("a=u32[1]={value}")], &[]);
        kinds(&judged(&kernel(&["a"], &body(guard)), &launch).expect("it is judged"))
    };
    assert_eq!(found("", 0), []);
    assert_eq!(found("@%p1", 7), []);
    assert_eq!(found("@%p1", 6), [FindingKind::Uninitialised]);
}

/// CTA 0 stores and signals; CTA 1 looks for the signal, and then loads.
#[test]
fn a_volatile_access_that_no_loop_waits_for_is_a_plain_one_where_that_is_asked() {
    let message = |signal: &str, look: &str| {
        let body = format!(
            "ld.param.u64 %rd1, [a]; mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra $R;\n\
             st.global.u32 [%rd1], 7; fence.acq_rel.gpu;\n{signal}.global.u32 [%rd1+4], 1; ret;\n\
             $R: {look}; setp.eq.u32 %p2, %r2, 0; @%p2 bra $R; fence.acq_rel.gpu;\n\
             ld.global.u32 %r3, [%rd1]; ret;"
        );
        kernel(&["a"], &body)
    };
    let found = |module: &str, volatile| {
        let launch = LaunchSpec { volatile, ..launch(2, 1, &["a=u32[2]=0"], &[]) };
        judged(module, &launch).expect("it is judged")
    };
    let (ptx, plain) = (VolatileMeaning::Ptx, VolatileMeaning::Plain);
    let polls = message("st.volatile", "ld.volatile.global.u32 %r2, [%rd1+4]");
    assert_eq!(kinds(&found(&polls, ptx)), []);
    // A loop waits for the flag.
    assert_eq!(kinds(&found(&polls, plain)), []);
    // One look does not wait, so that nothing orders the data either.
    let once = polls.replace("@%p2 bra $R", "@%p2 bra $E").replace("ret;\n}", "$E: ret;\n}");
    assert_eq!(kinds(&found(&once, ptx)), []);
    let conflicts = found(&once, plain);
    assert_eq!(kinds(&conflicts), [FindingKind::DataRace, FindingKind::VolatileConflict]);
    let places = &conflicts.findings[1].places;
    let texts: Vec<&str> = places.iter().map(|place| &place.text[..]).collect();
    assert!(texts[0].starts_with("st.volatile.global"), "{texts:?}");
    assert!(texts[1].starts_with("ld.volatile.global"), "{texts:?}");
    // What is not volatile is what it was.
    let relaxed = once.replace(".volatile", ".relaxed.gpu");
    assert_eq!(kinds(&found(&relaxed, plain)), []);
}

#[test]
fn a_launch_file_says_what_volatile_means() {
    let file = |meaning: &str| {
        let text =
            format!("ptx = \"k.ptx\"\n[launch]\ngrid = 1\nblock = 1\nvolatile = \"{meaning}\"\n");
        file::read("launch.toml", &text)
    };
    let read = file("plain").expect("it is a launch");
    assert_eq!(read.launch.volatile, VolatileMeaning::Plain);
    let errors = file("weak").expect_err("there is no such meaning");
    assert_eq!(errors[0].message, "`weak` is not a meaning of volatile accesses");
    assert_eq!(errors[0].help.as_deref(), Some("ptx or plain"));
}

/// `p.b[i] += p.a[i]` of a structure with a number and two pointers, which is the only parameter.
fn of_structure() -> String {
    let body = "ld.param.u64 %rd1, [p+8]; ld.param.u64 %rd2, [p+16]; ld.param.u32 %r1, [p];\n\
                mov.u32 %r2, %ctaid.x; setp.ge.u32 %p1, %r2, %r1; @%p1 ret;\n\
                mul.wide.u32 %rd3, %r2, 4; add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3;\n\
                ld.global.u32 %r3, [%rd1]; ld.global.u32 %r4, [%rd2]; add.u32 %r3, %r3, %r4;\n\
                st.global.u32 [%rd2], %r3; ret;";
    let module = kernel(&["p"], body).replace(".param .u64 p", ".param .align 8 .b8 p[24]");
    module.replace(".visible", ".global .u32 g[2] = {1, 5};\n.const .u32 c[2];\n.visible")
}

#[test]
fn a_buffer_that_only_a_structure_names_needs_no_parameter() {
    let (a, b) = ("a=u32[2]={1,2}", "b=u32[2]={4,8}");
    let structure = "p={0: 2, 8: @a, 16: @b}";
    let of = |arguments: &[&str], asserted: &str| {
        let found = judged(&of_structure(), &launch(2, 1, arguments, &[asserted]));
        let found = found.expect("it is judged");
        (kinds(&found), found.undecided.len())
    };
    for arguments in [[a, b, structure], [structure, a, b]] {
        assert_eq!(of(&arguments, "b[0]==5 && b[1]==10"), (vec![], 0));
        assert_eq!(of(&arguments, "b[0]==4"), (vec![FindingKind::Assert], 0));
    }
    let aliased = of(&[a, "p={0: 2, 8: @a, 16: @a+4}"], "true");
    assert_eq!(aliased.0, [FindingKind::OutOfBounds]);
    // What nothing names is an argument.
    let more = launch(2, 1, &[a, b, "d=u32[1]", structure], &[]);
    let Err(VerifyError::Launch(errors)) = judged(&of_structure(), &more) else { panic!("judged") };
    assert!(errors[0].message.ends_with("the launch gives 4 arguments"), "{errors:?}");
    let text = "ptx = \"k.ptx\"\n[launch]\ngrid = 2\nblock = 1\n[[arg]]\nname = \"a\"\ntype = \"u32[2]\"\ninit = [1, 2]\n\
                [[arg]]\nname = \"p\"\nfields = { 0 = 2, 8 = \"@a\", 16 = \"@g\" }\n[[assert]]\nfinal = \"g[1]==7\"\n";
    let read = file::read("launch.toml", text).expect("it is read").launch;
    let found = judged(&of_structure(), &read).expect("it is judged");
    assert_eq!((kinds(&found), found.undecided.len()), (vec![], 0));
}

#[test]
fn an_argument_may_be_the_address_of_a_variable_of_the_module() {
    let of = |arguments: &[&str], asserted: &str| {
        judged(&of_structure(), &launch(2, 1, arguments, &[asserted])).map(|found| kinds(&found))
    };
    let (a, asserted) = ("a=u32[2]={1,2}", "g[0]==2 && g[1]==7");
    assert_eq!(of(&[a, "p={0: 2, 8: @a, 16: @g}"], asserted).expect("it is judged"), []);
    assert_eq!(
        of(&[a, "p={0: 2, 8: @a, 16: @g+4}"], "g[1]==6").expect("it is judged"),
        [FindingKind::OutOfBounds]
    );
    // A buffer of that name is the one of the launch.
    let own = of(&["g=u32[2]={4,4}", "p={0: 2, 8: @g, 16: @g}"], "g[0]==8 && g[1]==8");
    assert_eq!(own.expect("it is judged"), []);
    for (place, why) in [
        ("@g+8", "`@g+8` is behind the 8 bytes of `g`"),
        // It is in another state space.
        ("@c", "`@c` is not a buffer of the launch"),
    ] {
        let Err(VerifyError::Launch(errors)) = of(&[&format!("p={{8: {place}}}")], "true") else {
            panic!("{place} is judged");
        };
        assert_eq!(errors[0].message, why);
    }
}
