//! Functions run alone with numbers of every kind: a wrong value shows with one of them.

use refine::verdict::Verdict;

use crate::functions::said;

/// Mistakes that only some numbers show: a sign, a limit, a selection.
#[test]
fn numbers_are_negative_and_next_to_limits() {
    let kernel = |replaced: &[(&str, &str)]| {
        let mut text = ".version 8.7\n.target sm_90\n.address_size 64\n\
             .visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n, .param .u64 m)\n{\n\
             .reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .f32 %f<3>; .reg .pred %p<4>;\n\
             ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u32 %r5, [n]; ld.param.u64 %rd5, [m];\n\
             ld.global.f32 %f1, [%rd1]; max.f32 %f2, %f1, 0f00000000; st.global.f32 [%rd2], %f2;\n\
             ld.global.s32 %r1, [%rd1+4]; setp.gt.s32 %p1, %r1, 1000; selp.b32 %r2, 5, 6, %p1;\n\
             st.global.u32 [%rd2+4], %r2;\n\
             mov.u32 %r3, %tid.x; bfe.u32 %r4, %r3, 5, 2; setp.gt.u32 %p2, %r4, 1; selp.b32 %r6, 1, 2, %p2;\n\
             setp.eq.u32 %p3, %r5, 40; selp.b32 %r7, 3, %r6, %p3; st.global.u32 [%rd2+8], %r7;\n\
             ld.global.s16 %r8, [%rd1+8]; ld.global.s8 %r9, [%rd1+10]; add.s32 %r10, %r8, %r9;\n\
             shr.s32 %r11, %r10, 1; st.global.u32 [%rd2+12], %r11;\n\
             cvt.s64.s32 %rd3, %r5; st.global.u64 [%rd2+16], %rd3;\n\
             setp.lt.u64 %p1, %rd5, 90; selp.b32 %r12, 5, 6, %p1; st.global.u32 [%rd2+24], %r12;\n\
             mul.wide.u32 %rd6, %r3, 4; add.s64 %rd7, %rd1, %rd6; ld.global.u32 %r14, [%rd7+64];\n\
             setp.gt.u32 %p2, %r4, 2; selp.b32 %r15, %r14, 0, %p2; st.global.u32 [%rd2+28], %r15;\nret;\n}\n"
            .to_owned();
        for (old, new) in replaced {
            assert!(text.contains(old), "{old}");
            text = text.replace(old, new);
        }
        text
    };
    let source = kernel(&[]);
    let finding = |replaced: &[(&str, &str)]| said(&source, &kernel(replaced)).finding;
    assert_eq!(finding(&[]).verdict, Verdict::Preserved);
    for wrong in [
        ("max.f32 %f2, %f1, 0f00000000", "mov.f32 %f2, %f1"),
        ("%r1, 1000", "%r1, 1001"),
        ("gt.s32", "gt.u32"),
        ("setp.gt.u32 %p2, %r4, 1", "setp.ge.u32 %p2, %r4, 1"),
        ("%r5, 40", "%r5, 41"),
        ("ld.global.s16", "ld.global.u16"),
        ("ld.global.s8", "ld.global.u8"),
        ("shr.s32", "shr.u32"),
        ("cvt.s64.s32", "cvt.u64.u32"),
        ("lt.u64 %p1, %rd5", "le.u64 %p1, %rd5"),
        ("%r4, 2", "%r4, 3"),
    ] {
        assert_eq!(finding(&[wrong]).verdict, Verdict::WrongValue, "{wrong:?}");
    }
}

/// Mistakes behind a branch or a wait, which a negative argument or flag would skip.
#[test]
fn data_behind_a_branch_has_numbers_of_every_kind() {
    let kernel = |enters: &str, body: &str| {
        format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n\
             .visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n, .param .u64 f)\n{{\n\
             .reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .pred %p<4>;\n\
             ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u32 %r5, [n]; ld.param.u64 %rd3, [f];\n\
             mov.u32 %r6, %tid.x;\n{enters}\nld.global.s32 %r1, [%rd1];\n{body}\n\
             st.global.u32 [%rd2], %r2;\nDONE:\nret;\n}}\n"
        )
    };
    let branches = [
        "",
        "setp.ge.s32 %p1, %r6, %r5; @%p1 bra DONE;",
        "setp.ne.s32 %p1, %r5, 7; @%p1 bra DONE;",
        "L: ld.acquire.gpu.global.u32 %r7, [%rd3]; setp.ne.s32 %p1, %r7, 1; @%p1 bra L;",
    ];
    let mistakes = [
        ("max.s32 %r2, %r1, 0;", "mov.u32 %r2, %r1;"),
        ("shr.s32 %r2, %r1, 2;", "shr.u32 %r2, %r1, 2;"),
        ("div.s32 %r2, %r1, 4;", "shr.s32 %r2, %r1, 2;"),
        ("rem.s32 %r2, %r1, 4;", "and.b32 %r2, %r1, 3;"),
        ("cvt.s32.s8 %r2, %r1;", "cvt.u32.u8 %r2, %r1;"),
        (
            "add.s32 %r8, %r1, 1; setp.gt.s32 %p2, %r8, %r1; selp.u32 %r2, 1, 0, %p2;",
            "mov.u32 %r2, 1;",
        ),
        (
            "cvt.u64.u32 %rd4, %r1; add.s64 %rd4, %rd4, 1; shr.u64 %rd4, %rd4, 32; cvt.u32.u64 %r2, %rd4;",
            "mov.u32 %r2, 0;",
        ),
    ];
    for enters in branches {
        for (right, wrong) in mistakes {
            let source = kernel(enters, right);
            assert_eq!(said(&source, &source).finding.verdict, Verdict::Preserved, "{source}");
            let finding = said(&source, &kernel(enters, wrong)).finding;
            assert_eq!(finding.verdict, Verdict::WrongValue, "{enters} {right}: {}", finding.why);
        }
    }
}

/// With some number the target repeats a loop for ever, or leaves its memory.
#[test]
fn a_target_ends_where_its_source_does() {
    let kernel = |compared: &str| {
        format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n\
             .visible .entry k(.param .u64 p, .param .u32 n)\n{{\n\
             .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<4>;\n\
             ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];\nmov.u32 %r2, 0;\nL:\n\
             st.global.u32 [%rd1], %r2;\nadd.s32 %r2, %r2, 1;\nsetp.{compared} %p1, %r2, %r1;\n@%p1 bra L;\nret;\n}}\n"
        )
    };
    let (source, endless) = (kernel("lt.u32"), kernel("ne.u32"));
    let finding = said(&source, &endless).finding;
    assert_eq!(finding.verdict, Verdict::WrongValue, "{}", finding.why);
    assert!(finding.why.contains("repeats a loop"), "{}", finding.why);
    assert!(finding.context.is_some_and(|context| context.contains("param_1=0")));
    let guarded = |compared: &str| {
        format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n\
             .visible .entry k(.param .u64 p, .param .u32 n)\n{{\n\
             .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<4>;\n\
             ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];\nsetp.{compared} %p1, %r1, 4;\n\
             mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n@%p1 st.global.u32 [%rd3], 1;\nret;\n}}\n"
        )
    };
    let finding = said(&guarded("lt.u32"), &guarded("lt.s32")).finding;
    assert_eq!(finding.verdict, Verdict::WrongValue, "{}", finding.why);
    assert!(finding.why.contains("accesses an address outside"), "{}", finding.why);
}

/// Whatever the numbers, the target leaves its memory, or never ends.
#[test]
fn a_target_that_never_ends_is_wrong() {
    let kernel = |more: &str| {
        format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q)\n{{\n\
             .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<4>;\n\
             ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];\nst.global.u32 [%rd1], 1;\n{more}\nret;\n}}\n"
        )
    };
    let wait = |strength: &str, value: u32| {
        format!(
            "L: ld.{strength}global.u32 %r1, [%rd2]; setp.ne.u32 %p1, %r1, {value}; @%p1 bra L;"
        )
    };
    for (more, said_why) in [
        ("st.global.u32 [%rd1+4000000], 1;", "accesses memory outside"),
        ("ld.global.u32 %r1, [%rd1+4000000];", "accesses memory outside"),
        ("L: bra L;", "never ends"),
        (&wait("", 77), "never ends"),
        (&wait("relaxed.gpu.", 77), "never ends"),
    ] {
        let finding = said(&kernel(""), &kernel(more)).finding;
        assert_eq!(finding.verdict, Verdict::WrongValue, "{more}: {}", finding.why);
        assert!(finding.why.contains(said_why), "{more}: {}", finding.why);
    }
    // Alone, the source does not end either, as it waits for any change.
    let source = kernel(
        "ld.relaxed.gpu.global.u32 %r1, [%rd2];\nL: ld.relaxed.gpu.global.u32 %r2, [%rd2];\n\
         setp.eq.u32 %p1, %r1, %r2; @%p1 bra L;",
    );
    let same = said(&source, &source).finding;
    assert!(matches!(same.verdict, Verdict::Preserved | Verdict::Stronger), "{}", same.why);
    let finding = said(&source, &kernel("L: bra L;")).finding;
    assert_eq!(finding.verdict, Verdict::Weaker, "{}", finding.why);
    assert!(finding.why.contains("no path of the target ends"), "{}", finding.why);
}
