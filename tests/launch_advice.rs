//! What launches do not need, and repairs that suit each launch of a module: `causeway verify --weaken`, and several launches.

use judge::Task;
use verify::{
    AdviceOptions, FindingKind, KernelEdit, KernelModule, KernelRepair, KernelWeakening,
    LaunchQuestion, LaunchSpec, OtherLaunch, RepairEffort, Verification, verify,
};

use crate::launches::{kernel, launch};

/// Judges the first launch of a module, with advice that looks at the others, too.
fn advised(module: &str, launches: &[LaunchSpec], weaken: bool) -> Verification {
    advised_with(RepairEffort::BRIEF, module, launches, weaken)
}

fn advised_with(
    effort: RepairEffort,
    module: &str,
    launches: &[LaunchSpec],
    weaken: bool,
) -> Verification {
    let read = KernelModule::read("k.ptx", module).expect("a module");
    let model = model::ptx::model();
    let task = Task { counts: false, ..Task::new(&model) };
    let others: Vec<OtherLaunch<'_>> =
        launches[1..].iter().map(|launch| OtherLaunch { name: "other", launch }).collect();
    let advice = AdviceOptions { effort, weaken, executions: false, others: &others };
    verify(&read, &launches[0], &task, &advice).expect("it is judged").1
}

fn weaker(module: &str, launches: &[LaunchSpec]) -> KernelWeakening {
    let found = advised(module, launches, true).weaker.expect("it was asked");
    assert_eq!(found.limit, None);
    found
}

/// Each edit as `before -> after`.
fn texts(edits: &[KernelEdit]) -> Vec<String> {
    let side = |text: &Option<String>| text.as_deref().unwrap_or_default().trim().to_owned();
    edits.iter().map(|edit| format!("{} -> {}", side(&edit.before), side(&edit.after))).collect()
}

/// CTA 0 writes data and signals; CTA 1 waits for the signal and reads. `mode` 1 ends with a store of each CTA.
fn message(signal: &str, wait: &str) -> String {
    let body = format!(
        "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [mode];\nmov.u32 %r1, %ctaid.x;\n\
         setp.eq.u64 %p3, %rd2, 1;\n@%p3 st.global.u32 [%rd1+8], %r1;\n\
         setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $R;\n\
         st.global.u32 [%rd1], 7;\n{signal}\nret;\n\
         $R: {wait}\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra $R;\n\
         ld.global.u32 %r3, [%rd1];\nst.global.u32 [%rd1+12], %r3;\nret;"
    );
    kernel(&["a", "mode"], &body)
}

fn messages(grid: u32, mode: u32) -> LaunchSpec {
    launch(grid, 1, &["a=u32[4]=0", &format!("mode={mode}")], &[])
}

const RELEASE: &str = "st.release.gpu.global.u32 [%rd1+4], 1;";
const ACQUIRE: &str = "ld.acquire.gpu.global.u32 %r2, [%rd1+4];";

#[test]
fn what_a_clean_launch_does_not_need_is_found_alone_and_together() {
    let two = [messages(2, 0)];
    let needed = weaker(&message(RELEASE, ACQUIRE), &two);
    assert_eq!((needed.alone, needed.together), (vec![], vec![]));
    // One fence too many, and a scope that is too wide.
    let wide = RELEASE.replace("gpu", "sys");
    let found = weaker(&message(&format!("fence.sc.gpu;\n{wide}"), ACQUIRE), &two);
    let narrow = "st.release.sys.global.u32 [%rd1+4], 1; -> st.release.gpu.global.u32 [%rd1+4], 1;";
    let relaxed =
        "st.release.sys.global.u32 [%rd1+4], 1; -> st.relaxed.gpu.global.u32 [%rd1+4], 1;";
    assert_eq!(texts(&found.alone), ["fence.sc.gpu; -> ", relaxed]);
    // Without the fence the release is needed.
    assert_eq!(texts(&found.together), ["fence.sc.gpu; -> ", narrow]);
    // A fence that may be weaker, and not go.
    let fenced = format!("fence.sc.gpu;\n{}", RELEASE.replace("release", "relaxed"));
    let found = weaker(&message(&fenced, ACQUIRE), &two);
    assert_eq!(texts(&found.alone), ["fence.sc.gpu; -> fence.acq_rel.gpu;"]);
    assert_eq!(found.together, found.alone);
}

#[test]
fn nothing_is_proposed_where_the_launch_is_not_clean() {
    let relaxed = RELEASE.replace("release", "relaxed");
    let found = weaker(&message(&relaxed, ACQUIRE), &[messages(2, 0)]);
    assert_eq!(found.excluded, Some("the launch has findings"));
    assert_eq!((found.alone, found.together), (vec![], vec![]));
    // The assertion depends on a result that is not computed.
    let body = "ld.param.u64 %rd1, [a]; ex2.approx.f32 %r1, %r2; st.global.u32 [%rd1], %r1; ret;";
    let open = launch(1, 1, &["a=u32[1]"], &["a[0]==1"]);
    let found = weaker(&kernel(&["a"], body), &[open]);
    assert_eq!(found.excluded, Some("it is not decided whether the launch is clean"));
}

#[test]
fn a_barrier_is_left_out_in_all_threads() {
    let exchange = |barriers: &str| {
        let body = format!(
            ".shared .u32 tile[2];\nld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n\
             mov.u64 %rd3, tile;\nadd.s64 %rd4, %rd3, %rd2;\nst.shared.u32 [%rd4], %r1;\n{barriers}\n\
             xor.b32 %r2, %r1, 1;\nmul.wide.u32 %rd5, %r2, 4;\nadd.s64 %rd5, %rd5, %rd3;\n\
             ld.shared.u32 %r3, [%rd5];\nadd.s64 %rd2, %rd2, %rd1;\nst.global.u32 [%rd2], %r3;\nret;"
        );
        kernel(&["a"], &body)
    };
    let two = [launch(1, 2, &["a=u32[2]"], &["a[0]==1"])];
    let once = weaker(&exchange("bar.sync 0;"), &two);
    assert_eq!((once.alone, once.together), (vec![], vec![]));
    let twice = weaker(&exchange("bar.sync 0;\nbar.sync 0;"), &two);
    assert_eq!(texts(&twice.alone), ["bar.sync 0; -> ", "bar.sync 0; -> "]);
    assert_eq!(twice.together, twice.alone[..1]);
    // A thread that waits for nobody does not tell whether others need the barrier.
    let alone = kernel(&["a"], "bar.sync 0;\nret;");
    let alone = weaker(&alone, &[launch(1, 1, &["a=u32[2]"], &[])]);
    assert_eq!((alone.excluded, alone.alone), (None, vec![]));
}

#[test]
fn an_edit_that_cannot_be_written_is_told() {
    let module =
        message("fence.sc.gpu; fence.sc.gpu; st.relaxed.gpu.global.u32 [%rd1+4], 1;", ACQUIRE);
    let found = advised(&module, &[messages(2, 0)], true).weaker.expect("it was asked");
    let limit = found.limit.expect("it is told");
    assert_eq!(limit, "another form of `fence.sc.gpu` cannot be written in its line");
}

#[test]
fn another_launch_keeps_what_it_needs() {
    // Where CTA 0 is alone, it signals nobody.
    let module = message(RELEASE, ACQUIRE);
    let alone = weaker(&module, &[messages(1, 0)]);
    assert_eq!(alone.others, 0);
    assert_eq!(alone.alone.len(), 2, "{:?}", texts(&alone.alone));
    let both = weaker(&module, &[messages(1, 0), messages(2, 0)]);
    assert_eq!((both.others, both.alone, both.together), (1, vec![], vec![]));
    // A launch of another kernel needs nothing of this one.
    let other = kernel(&["b"], "ret;").replace("entry k", "entry other");
    let entry = other.find(".visible").expect("it has a kernel");
    let two = format!("{module}{}", &other[entry..]);
    let of = |name: &str, launch: LaunchSpec| {
        let mut launch = launch;
        launch.kernels[0].name = Some(name.to_owned());
        launch
    };
    let launches = [of("k", messages(1, 0)), of("other", launch(1, 1, &["b=u32[1]"], &[]))];
    assert_eq!(weaker(&two, &launches).others, 0);
}

#[test]
fn a_repair_says_what_other_launches_have_with_it() {
    let module = message(&RELEASE.replace("release", "relaxed"), ACQUIRE);
    let of = |launches: &[LaunchSpec]| {
        let found = advised(&module, launches, false);
        let repair = found.repairs.first().expect("there is one").clone();
        assert_eq!(texts(&repair.edits).len(), 1, "{repair:?}");
        repair.elsewhere
    };
    assert_eq!(of(&[messages(2, 0)]), []);
    // The same kernel, clean with and without the edit, and then only with it.
    assert_eq!(of(&[messages(2, 0), messages(1, 0)]), []);
    assert_eq!(of(&[messages(2, 0), messages(2, 0)]), []);
    // Each CTA stores to the same place.
    let elsewhere = of(&[messages(2, 0), messages(2, 1)]);
    assert_eq!(elsewhere.len(), 1);
    let other = &elsewhere[0];
    assert_eq!((&other.launch[..], other.breaks, &other.open), ("other", false, &None));
    assert!(other.findings.iter().eq([&FindingKind::DataRace]), "{other:?}");
    // What is not decided of another launch is told as that.
    let store = "st.global.u32 [%rd1], 7;";
    let computed = "ld.param.u64 %rd9, [b];\nex2.approx.f32 %r9, %r8;\nst.global.u32 [%rd9], %r9;";
    let module = module
        .replace(store, &format!("{computed}\n{store}"))
        .replace(".param .u64 mode", ".param .u64 mode, .param .u64 b");
    let of =
        |assertions: &[&str]| launch(2, 1, &["a=u32[4]=0", "mode=0", "b=u32[1]=0"], assertions);
    let found = advised(&module, &[of(&[]), of(&["b==1"])], false);
    let other = &found.repairs[0].elsewhere[0];
    assert!(!other.breaks && other.findings.is_empty(), "{other:?}");
    assert!(other.open.as_ref().is_some_and(|why| why.contains("is not computed")), "{other:?}");
}

/// Thread 1 exchanges with thread 0 only in mode 0.
fn exchange() -> String {
    let body = ".shared .u32 tile[2];\nld.param.u64 %rd1, [a];\nld.param.u64 %rd6, [mode];\nmov.u32 %r1, %tid.x;\n\
         mul.wide.u32 %rd2, %r1, 4;\nmov.u64 %rd3, tile;\nadd.s64 %rd4, %rd3, %rd2;\n\
         cvt.u32.u64 %r5, %rd6;\nand.b32 %r5, %r5, %r1;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra $E;\n\
         st.shared.u32 [%rd4], %r1;\nxor.b32 %r2, %r1, 1;\nmul.wide.u32 %rd5, %r2, 4;\nadd.s64 %rd5, %rd5, %rd3;\n\
         ld.shared.u32 %r3, [%rd5];\nadd.s64 %rd2, %rd2, %rd1;\nst.global.u32 [%rd2], %r3;\n$E: bar.sync 0;\nret;";
    kernel(&["a", "mode"], body)
}

#[test]
fn a_repair_that_breaks_another_launch_says_so() {
    let asked = [LaunchQuestion::Race, LaunchQuestion::Hang];
    let of = |mode: u32| LaunchSpec {
        questions: asked.into(),
        ..launch(1, 2, &["a=u32[2]", &format!("mode={mode}")], &[])
    };
    let found = advised(&exchange(), &[of(0), of(1)], false);
    let repair = &found.repairs[0];
    assert_eq!(texts(&repair.edits), [" -> bar.sync 0;"]);
    assert_eq!(repair.elsewhere.len(), 1, "{repair:?}");
    assert!(repair.elsewhere[0].breaks, "{repair:?}");
    // Where more repairs are looked for, there is one that does not.
    let all = |launches: &[LaunchSpec]| {
        advised_with(RepairEffort::FULL, &exchange(), launches, false).repairs
    };
    let barrier = |repair: &KernelRepair| texts(&repair.edits) == [" -> bar.sync 0;"];
    assert!(all(&[of(0)]).iter().any(barrier));
    let suiting = all(&[of(0), of(1)]);
    assert!(!suiting.is_empty() && suiting.iter().all(|repair| repair.elsewhere.is_empty()));
}
