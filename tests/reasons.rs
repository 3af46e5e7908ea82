//! What `causeway verify` says of a finding: why accesses are not ordered, where threads stay, and what is said of repairs.

use judge::Task;
use verify::{FindingKind, KernelModule, LaunchSpec, RepairEffort, Verification, verify};

use crate::launches::{judged, kernel, kinds, launch};

/// CTA 0 writes, one element by each thread, meets at a barrier and signals; CTA 1 waits with its first thread, meets at a barrier and
/// reads, each thread the element of the other. `%p2` is true in the first thread.
struct Signalling {
    /// Before and behind the barrier of CTA 0.
    writes: [&'static str; 2],
    /// The same of CTA 1.
    reads: [&'static str; 2],
}

const SIGNAL: &str = "@%p2 atom.global.exch.b32 %r4, [%rd2], 1;";
const FENCE: &str = "@%p2 fence.acq_rel.gpu;";
const FENCED_SIGNAL: &str = "@%p2 fence.acq_rel.gpu;\n@%p2 atom.global.exch.b32 %r4, [%rd2], 1;";
const WAIT: &str = "@!%p2 bra $M;\n$W: atom.global.add.u32 %r5, [%rd2], 0; setp.eq.u32 %p3, %r5, 0; @%p3 bra $W;\n$M:";
const ACQUIRE: &str = "@!%p2 bra $M;\n$W: ld.acquire.gpu.global.u32 %r5, [%rd2]; setp.eq.u32 %p3, %r5, 0; @%p3 bra $W;\n$M:";

impl Signalling {
    fn judged(&self) -> Verification {
        let Signalling { writes: [early, late], reads: [first, last] } = self;
        let body = format!(
            "ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [flag]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;\n\
             setp.eq.u32 %p2, %r2, 0; mul.wide.u32 %rd3, %r2, 4; add.u64 %rd4, %rd1, %rd3; sub.u64 %rd5, %rd1, %rd3;\n\
             setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $R;\nst.global.u32 [%rd4], 1;\n{early}\nbar.sync 0;\n{late}\nret;\n\
             $R: {first}\nbar.sync 0;\n{last}\nld.global.u32 %r6, [%rd5+4];\nret;"
        );
        let arguments = ["data=u32[2]=0", "flag=u32[1]=0"];
        judged(&kernel(&["data", "flag"], &body), &launch(2, 2, &arguments, &[]))
            .expect("it is judged")
    }

    /// What is said of its race, each sentence by its first words behind the name of a thread and an instruction.
    fn reasons(&self) -> Vec<String> {
        let found = self.judged();
        assert_eq!(kinds(&found), [FindingKind::DataRace], "{found:?}");
        found.reasons
    }
}

#[test]
fn a_guarded_fence_that_does_not_cover_what_others_wrote_is_the_reason() {
    let acquires = [ACQUIRE, ""];
    let behind = Signalling { writes: ["", FENCED_SIGNAL], reads: acquires };
    assert_eq!(kinds(&behind.judged()), []);
    let before = Signalling { writes: [FENCE, SIGNAL], reads: acquires }.reasons();
    let early = "CTA 0 thread 0's `@p2 fence.acq_rel.gpu` stands before the barrier at which CTA 0 thread 0 meets CTA 0 thread 1, and does not cover what CTA 0 thread 1 wrote before it, such as `st.global.u32 [rd4], 1`; it covers what CTA 0 thread 0 did. A fence after the barrier does, or a release by `@p2 atom.global.exch.b32 r4, [rd2], 1`, or `fence.sc` in both threads (8.8).";
    assert_eq!(before, [early]);
    // In one block with the signal, before the barrier.
    let alone = Signalling { writes: [FENCED_SIGNAL, ""], reads: acquires }.reasons();
    let no_barrier = "CTA 0 thread 0's `@p2 fence.acq_rel.gpu` covers what CTA 0 thread 0 did, and not what CTA 0 thread 1 wrote, such as `st.global.u32 [rd4], 1`: no barrier of their CTA is between the two. With `bar.sync` before `@p2 fence.acq_rel.gpu`, it covers both (8.8).";
    assert_eq!(alone, [no_barrier]);
}

#[test]
fn a_guarded_fence_that_does_not_cover_what_others_read_is_the_reason() {
    let writes = ["", FENCED_SIGNAL];
    let late = Signalling { writes, reads: [WAIT, FENCE] }.reasons();
    let behind = "CTA 1 thread 0's `@p2 fence.acq_rel.gpu` stands behind the barrier at which CTA 1 thread 1 meets CTA 1 thread 0, and does not cover what CTA 1 thread 1 reads after it, such as `ld.global.u32 r6, [rd5+4]`; it covers what CTA 1 thread 0 does. A fence before the barrier does, or an acquire by `atom.global.add.u32 r5, [rd2], 0` (8.8).";
    assert_eq!(late, [behind]);
    let alone = Signalling { writes, reads: ["", ACQUIRE] }.reasons();
    assert!(alone[0].contains("`ld.acquire.gpu.global.u32 r5, [rd2]` covers what CTA 1 thread 0 does, and not what CTA 1 thread 1 reads"), "{alone:?}");
}

/// Two threads take a lock, each in its own branch, so that no barrier would meet them: in two warps of a CTA, or in two CTAs.
struct Locked {
    scope: &'static str,
    /// Before and behind the access of the first thread.
    fences: [&'static str; 2],
}

impl Locked {
    fn reasons(&self) -> Vec<String> {
        let Locked { scope, fences: [acquires, releases] } = self;
        let (cta, level, id) = match *scope {
            "cta" => (".cta", "membar.cta;", "%tid.x"),
            _ => ("", "membar.gl;", "%ctaid.x"),
        };
        let held = |branch: &str, value: u32, before: &str, behind: &str| {
            format!(
                "{branch}: atom.global{cta}.cas.b32 %r2, [%rd2], 0, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra {branch};\n{before}\n\
                 st.global.u32 [%rd1], {value};\n{behind}\natom.global{cta}.exch.b32 %r3, [%rd2], 0;\nret;\n"
            )
        };
        let body = format!(
            "ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [lock]; mov.u32 %r1, {id}; setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $B;\n{}{}",
            held("$A", 1, acquires, releases),
            held("$B", 2, level, level)
        );
        let (grid, block) = if *scope == "cta" { (1, 2) } else { (2, 1) };
        let arguments = ["data=u32[1]=0", "lock=u32[1]=0"];
        let found =
            judged(&kernel(&["data", "lock"], &body), &launch(grid, block, &arguments, &[]));
        found.expect("it is judged").reasons
    }
}

#[test]
fn a_fence_at_the_wrong_side_of_an_access_is_the_reason() {
    for (scope, fence) in [("cta", "membar.cta"), ("gpu", "membar.gl")] {
        let fenced = if scope == "cta" { "membar.cta;" } else { "membar.gl;" };
        assert_eq!(Locked { scope, fences: [fenced, fenced] }.reasons(), [""; 0]);
        let behind = Locked { scope, fences: ["", fenced] }.reasons();
        let said = "no acquire pattern before `st.global.u32 [rd1], 1` starts with";
        assert!(behind[0].contains(said), "{behind:?}");
        let stands = format!("`{fence}` stands behind `st.global.u32 [rd1], 1` (8.8).");
        assert!(behind[0].ends_with(&stands), "{behind:?}");
        let before = Locked { scope, fences: [fenced, ""] }.reasons();
        let said = "no release pattern behind `st.global.u32 [rd1], 1` ends with";
        assert!(before[0].contains(said), "{before:?}");
        let stands = format!("`{fence}` stands before `st.global.u32 [rd1], 1` (8.8).");
        assert!(before[0].ends_with(&stands), "{before:?}");
        // A barrier in one branch would wait for ever.
        let all = behind.iter().chain(&before);
        assert!(all.clone().all(|reason| !reason.contains("bar.sync")), "{behind:?} {before:?}");
    }
    let narrow = Locked { scope: "gpu", fences: ["membar.cta;", "membar.gl;"] }.reasons();
    let said = "the ends of the release and acquire patterns are not morally strong: scope .cta of `membar.cta` does not include CTA 1 thread 0 (8.9.4).";
    assert!(narrow[0].ends_with(said), "{narrow:?}");
}

/// What a thread of three lacks is told first, and not what others do that does not matter.
#[test]
fn the_read_that_a_race_lacks_comes_first() {
    let passes = |from: u32, fences: [&str; 2], access: &str| {
        let [before, behind] = fences;
        format!(
            "$T{from}: atom.global.add.u32 %r2, [%rd2], 0; setp.ne.u32 %p2, %r2, {from}; @%p2 bra $T{from};\n{before}\n{access}\n\
             {behind}\natom.global.exch.b32 %r3, [%rd2], {};\nret;\n",
            from + 1
        )
    };
    let reasons = |fences: [&str; 2]| {
        let body = format!(
            "ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [turn]; mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 1;\n\
             @%p1 bra $T1; setp.eq.u32 %p3, %r1, 2; @%p3 bra $T2;\n{}{}{}",
            passes(0, ["", "membar.gl;"], "atom.global.exch.b32 %r4, [%rd1], 1;"),
            passes(1, ["membar.gl;", "membar.gl;"], "atom.global.exch.b32 %r5, [%rd1], 2;"),
            passes(2, fences, "st.global.u32 [%rd1], 3;")
        );
        let arguments = ["data=u32[1]=0", "turn=u32[1]=0"];
        let found = judged(&kernel(&["data", "turn"], &body), &launch(3, 1, &arguments, &[]));
        found.expect("it is judged").reasons
    };
    assert_eq!(reasons(["membar.gl;", ""]), [""; 0]);
    let late = reasons(["", "membar.gl;"]);
    let said = "no acquire pattern before `st.global.u32 [rd1], 3` starts with `atom.global.add.u32 r2, [rd2], 0`: `membar.gl` stands behind `st.global.u32 [rd1], 3` (8.8).";
    assert!(late[0].starts_with("CTA 2 thread 0's") && late[0].ends_with(said), "{late:?}");
}

#[test]
fn threads_that_learn_nothing_of_each_other_are_the_reason() {
    let body = "ld.param.u64 %rd1, [data]; mov.u32 %r1, %ctaid.x; st.global.u32 [%rd1], %r1;\nret;";
    let found = judged(&kernel(&["data"], body), &launch(2, 1, &["data=u32[1]=0"], &[]));
    let said = "Nothing is between CTA 0 thread 0's `st.global.u32 [rd1], r1` and CTA 1 thread 0's `st.global.u32 [rd1], r1`: neither thread reads what the other wrote behind its access, and they meet at no barrier there (8.9.5).";
    assert_eq!(found.expect("it is judged").reasons, [said]);
}

/// That a barrier is of one CTA is the reason where nothing else is.
#[test]
fn two_ctas_are_the_reason_without_a_fence_or_a_flag() {
    let of_two_ctas = |reasons: &[String]| {
        reasons.iter().filter(|reason| reason.contains("are in two CTAs")).count()
    };
    let nothing = Signalling { writes: ["", ""], reads: ["", ""] }.reasons();
    assert!(!nothing.is_empty() && of_two_ctas(&nothing) == nothing.len(), "{nothing:?}");
    let flag = Signalling { writes: ["", SIGNAL], reads: [WAIT, ""] }.reasons();
    assert_eq!(of_two_ctas(&flag), 0, "{flag:?}");
    assert!(flag[0].contains("no release pattern ends with"), "{flag:?}");
}

/// Threads of a warp branch on what they read, and come to a barrier or not. CTA 1 writes that, or does not.
fn branching(value: &str) -> String {
    let body = format!(
        "ld.param.u64 %rd1, [data]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; setp.ne.u32 %p1, %r1, 0;\n\
         @%p1 bra $W;\n{value}\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra $E;\nbar.sync 0;\n$E: ret;\n\
         $W: st.global.u32 [%rd1], 1;\nret;"
    );
    kernel(&["data"], &body)
}

#[test]
fn a_race_that_decides_who_comes_to_a_barrier_is_named() {
    let of = |value: &str| {
        let found = judged(&branching(value), &launch(2, 2, &["data=u32[2]=0"], &[]));
        let found = found.expect("it is judged").findings;
        let kinds: Vec<FindingKind> = found.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [FindingKind::BarrierDivergence], "{value}");
        let places: Vec<String> = found[0].places.iter().map(|of| of.text.clone()).collect();
        (found[0].message.clone(), places)
    };
    let diverges = "threads of one warp do not execute the same aligned barrier";
    let (message, places) = of("ld.global.u32 %r3, [%rd1];");
    let races = "what CTA 0 thread 0's `ld.global.u32 r3, [rd1]` reads decides whether it comes there, and that races with CTA 1 thread 0's `st.global.u32 [rd1], 1`";
    assert_eq!(message, format!("{diverges}: {races}"));
    let access = ["ld.global.u32 r3, [rd1]", "st.global.u32 [rd1], 1"];
    assert_eq!(places, ["bar.sync 0", access[0], access[1]]);
    // It races, and decides nothing; or what decides does not race.
    let others = [
        "ld.global.u32 %r4, [%rd1]; mov.u32 %r3, %r2;",
        "ld.global.u32 %r4, [%rd1+4]; add.u32 %r3, %r2, %r4;",
    ];
    for value in others {
        let (message, places) = of(value);
        assert_eq!((&message[..], places.len()), (diverges, 1), "{value}");
    }
}

#[test]
fn threads_that_stay_alike_are_told_together() {
    let message = |body: &str, block: u32| {
        let arguments = ["data=u32[2]=0"];
        let found = judged(&kernel(&["data"], body), &launch(2, block, &arguments, &[]));
        let found = found.expect("it is judged").findings;
        assert_eq!(found.iter().map(|of| of.kind).collect::<Vec<_>>(), [FindingKind::Hang]);
        found[0].message.clone()
    };
    let waits = "ld.param.u64 %rd1, [data];\n$L: ld.relaxed.gpu.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra $L;\nret;";
    let loops = "repeat a loop for ever at `@p1 bra _L`";
    assert_eq!(message(waits, 3), format!("CTA 0 threads 0 to 2 and CTA 1 threads 0 to 2 {loops}"));
    assert_eq!(
        message(waits, 2),
        format!("CTA 0 threads 0 and 1 and CTA 1 threads 0 and 1 {loops}")
    );
    // At two places.
    let apart = format!(
        "mov.u32 %r2, %tid.x; setp.ne.u32 %p2, %r2, 1;\n@%p2 bra $A;\n{waits}\n$A: {}",
        waits.replace("$L", "$M").replace("%p1", "%p3")
    );
    let message = message(&apart, 3);
    let others = loops.replace("p1", "p3").replace("_L", "_M");
    let said = [
        format!("CTA 0 threads 0 and 2 and CTA 1 threads 0 and 2 {others}"),
        format!("CTA 0 thread 1 and CTA 1 thread 1 {loops}"),
    ];
    assert_eq!(message, said.join(", "));
}

/// What is said where there is no repair.
fn unrepaired(module: &str, launch: &LaunchSpec, effort: RepairEffort) -> Option<String> {
    let read = KernelModule::read("k.ptx", module).expect("a module");
    let model = model::ptx::model();
    let task = Task { counts: false, ..Task::new(&model) };
    let judged = verify(&read, launch, &task, &effort.into());
    judged.expect("it is judged").1.unrepaired
}

#[test]
fn it_is_told_why_there_is_no_repair() {
    let full = RepairEffort::FULL;
    let data = ["data=u32[2]=0"];
    let stores = kernel(&["data"], "ld.param.u64 %rd1, [data]; st.global.u32 [%rd1], 1;\nret;");
    let of = |module: &str, assertions: &[&str], effort| {
        unrepaired(module, &launch(2, 1, &data, assertions), effort)
    };
    // There is one, or nothing was found.
    assert_eq!(of(&stores, &[], full), None);
    let wrong = ["data[1] == 1"];
    let one_cta =
        |assertions: &[&str], effort| unrepaired(&stores, &launch(1, 1, &data, assertions), effort);
    assert_eq!(one_cta(&[], full), None);
    let tried = "none was found: no edit of orders, scopes, fences, barriers and waits that was tried suffices";
    assert_eq!(one_cta(&wrong, full).as_deref(), Some(tried));
    let brief = one_cta(&wrong, RepairEffort::BRIEF).expect("there is none");
    assert_eq!(brief, format!("{tried}; `--repair` looks for longer"));
    let few = RepairEffort { questions: 0, ..full };
    let limited = of(&stores, &wrong, few).expect("there is none");
    assert!(limited.starts_with("none was found: the search ended at a limit: "), "{limited}");
    let diverged = branching("mov.u32 %r3, %r2;");
    let diverged = unrepaired(&diverged, &launch(1, 2, &data, &[]), full).expect("there is none");
    assert!(diverged.starts_with("none was looked for: with `barrier-divergence`"), "{diverged}");
    let unwritten = unrepaired(
        &kernel(&["data"], "ld.param.u64 %rd1, [data]; ld.global.u32 %r1, [%rd1];\nret;"),
        &launch(1, 1, &["data=u32[2]=?"], &[]),
        full,
    );
    let unwritten = unwritten.expect("there is none");
    assert!(unwritten.contains("and `uninitialised` is none of these here"), "{unwritten}");
    // None was looked for, and nobody asked.
    let diverged = branching("mov.u32 %r3, %r2;");
    let brief = unrepaired(&diverged, &launch(1, 2, &data, &[]), RepairEffort::BRIEF);
    assert_eq!(brief, None);
}
