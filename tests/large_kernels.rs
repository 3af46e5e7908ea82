//! Kernels of which not all is looked at: those with too many paths, and values that pass through memory which
//! holds others later.

use std::fmt::Write;

use verify::{FindingKind, LaunchQuestion, LaunchSpec, ThreadChoice, Verification};

use crate::launches::{judged, kernel, kinds, launch};

/// The reasons for which questions are open.
fn reasons(of: &Verification) -> Vec<&str> {
    of.undecided.iter().map(|open| &open.why[..]).collect()
}

/// What is found, each kind once.
fn found(of: &Verification) -> Vec<FindingKind> {
    let mut all = kinds(of);
    all.dedup();
    all
}

/// Two CTAs execute this, and then decide sixteen times by what they read.
fn with_many_paths(first: &str) -> Verification {
    let mut body = format!("ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [f];\n{first}\n");
    for at in 0..16 {
        write!(
            body,
            "ld.relaxed.gpu.global.u32 %r1, [%rd2];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra $L{at};\n\
             add.u32 %r2, %r2, 1;\n$L{at}:\n"
        )
        .expect("a string takes all");
    }
    body += "red.relaxed.gpu.global.add.u32 [%rd2], %r2; ret;";
    let launch = launch(2, 1, &["a=u32[2]=0", "f=u32[1]=0"], &[]);
    judged(&kernel(&["a", "f"], &body), &launch).expect("it is judged")
}

#[test]
fn what_is_wrong_first_is_found_among_too_many_paths() {
    let after_a_read = "ld.relaxed.gpu.global.u32 %r1, [%rd2];\nsetp.ge.u32 %p1, %r1, 1;\n";
    let by_a_counter =
        "ld.global.u32 %r3, [%rd1]; add.u32 %r4, %r3, 1;\nst.global.u32 [%rd1], %r4;";
    for (first, wanted) in [
        ("st.global.u32 [%rd1], 1;", FindingKind::DataRace),
        (by_a_counter, FindingKind::DataRace),
        ("st.relaxed.gpu.global.u32 [%rd1+8], 1;", FindingKind::OutOfBounds),
    ] {
        assert_eq!(found(&with_many_paths(first)), [wanted], "{first}");
    }
    let outside = format!(
        "red.relaxed.gpu.global.add.u32 [%rd2], 1;\n{after_a_read}@%p1 st.relaxed.gpu.global.u32 [%rd1+8], 1;"
    );
    assert_eq!(found(&with_many_paths(&outside)), [FindingKind::OutOfBounds]);
}

/// Two CTAs execute the first of these, then go through a loop that no execution leaves within the bound, and then execute the second.
fn around_a_long_loop(first: &str, second: &str, question: LaunchQuestion) -> Verification {
    let body = format!(
        "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [f];\n{first}\nmov.u32 %r1, 0;\n\
         st.relaxed.gpu.global.u32 [%rd2], 1;\n$L:\n\
         ld.relaxed.gpu.global.u32 %r2, [%rd2]; add.u32 %r1, %r1, %r2;\n\
         setp.lt.u32 %p1, %r1, 100;\n@%p1 bra $L;\n{second}\nret;"
    );
    let launch = LaunchSpec {
        questions: [question].into(),
        ..launch(2, 1, &["a=u32[2]=?", "f=u32[1]=0"], &[])
    };
    judged(&kernel(&["a", "f"], &body), &launch).expect("it is judged")
}

#[test]
fn what_is_wrong_before_a_loop_that_is_cut_is_found() {
    for (wrong, question, wanted) in [
        ("st.global.u32 [%rd1], 1;", LaunchQuestion::Race, FindingKind::DataRace),
        ("ld.global.u32 %r3, [%rd1+4];", LaunchQuestion::Uninitialised, FindingKind::Uninitialised),
        (
            "st.relaxed.gpu.global.u32 [%rd1+8], 1;",
            LaunchQuestion::Bounds,
            FindingKind::OutOfBounds,
        ),
    ] {
        assert_eq!(found(&around_a_long_loop(wrong, "", question)), [wanted], "{wrong}");
        if question == LaunchQuestion::Bounds {
            continue;
        }
        // Nobody knows who gets there.
        let after = around_a_long_loop("", wrong, question);
        assert_eq!(kinds(&after), [], "{wrong}");
        assert!(!reasons(&after).is_empty(), "{wrong}");
    }
}

/// What is not looked at is never called clean.
#[test]
fn a_right_beginning_leaves_the_rest_open() {
    let drawn = "atom.relaxed.gpu.global.add.u32 %r3, [%rd1], 1;";
    for first in ["", drawn] {
        let judged = with_many_paths(first);
        assert_eq!(kinds(&judged), [], "{first}");
        let open = reasons(&judged);
        assert!(!open.is_empty(), "{first}");
        let many = |why: &&str| why.contains("too many paths through one thread");
        assert!(open.iter().all(many), "{first}: {open:?}");
    }
}

/// The first lane of each CTA stores a sum, and the last CTA reads both. Of the sums, nothing is known: most lanes are left out.
fn last_of_two(order: &str, told: u32) -> Verification {
    let body = format!(
        ".shared .align 4 .b32 s[2];\nld.param.u64 %rd1, [part]; ld.param.u64 %rd2, [count];\n\
         mov.u32 %r1, %tid.x; mov.u32 %r7, %ctaid.x; mul.wide.u32 %rd3, %r7, 4;\n\
         add.s64 %rd3, %rd1, %rd3; setp.eq.u32 %p1, %r1, 0;\n\
         redux.sync.add.s32 %r2, %r1, -1;\nst.shared.b32 [s], %r2;\nbar.sync 0;\n\
         ld.shared.b32 %r3, [s];\n@%p1 st.global.b32 [%rd3], %r3;\nbar.sync 0;\n\
         @%p1 atom.{order}.gpu.global.add.u32 %r4, [%rd2], 1;\n@%p1 st.shared.b32 [s+{told}], %r4;\n\
         bar.sync 0;\nld.shared.b32 %r5, [s];\nsetp.ne.u32 %p2, %r5, 1;\n@%p2 bra $E;\n\
         ld.global.b32 %r6, [%rd1];\nld.global.b32 %r6, [%rd1+4];\n$E: ret;"
    );
    let launch = LaunchSpec {
        threads: ThreadChoice::OfEachCta(vec![0]),
        ..launch(2, 32, &["part=u32[2]=0", "count=u32[1]=0"], &[])
    };
    judged(&kernel(&["part", "count"], &body), &launch).expect("it is judged")
}

#[test]
fn what_is_overwritten_before_a_read_decides_nothing() {
    let right = last_of_two("acq_rel", 0);
    assert_eq!((kinds(&right), reasons(&right)), (vec![], vec![]));
    assert_eq!(found(&last_of_two("relaxed", 0)), [FindingKind::DataRace]);
    // Here the sum decides which CTA is the last.
    let summed = last_of_two("relaxed", 4);
    assert_eq!(kinds(&summed), []);
    assert!(reasons(&summed).iter().any(|why| why.contains("is left out")), "{summed:?}");
}
