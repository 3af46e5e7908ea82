//! Functions run alone with numbers of every kind: a wrong value shows with one of them.

use refine::function::paired;
use refine::verdict::Verdict;

use crate::functions::{judge_pair, said};

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

/// Mistakes after a branch or a wait, which a negative argument or flag would skip.
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

/// A number of another thread may be rounded otherwise, while no number that the function has alone is.
#[test]
fn what_another_thread_stores_may_be_rounded_otherwise() {
    let kernel = |divides: &str| {
        format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n.shared .align 4 .f32 s[8];\n\
             .visible .entry k(.param .u64 p)\n{{\n\
             .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %d<9>;\n\
             ld.param.u64 %rd1, [p]; bar.sync 0; ld.shared.f32 %f1, [s+4]; bar.sync 0;\n\
             {divides}\nst.global.f32 [%rd1], %f4;\nret;\n}}\n"
        )
    };
    let finding = |source: &str, target: &str| said(&kernel(source), &kernel(target)).finding;
    let divides = "div.rn.f32 %f4, %f1, 0f41300000;";
    let multiplies = "mul.rn.f32 %f4, %f1, 0f3DBA2E80;";
    assert_eq!(finding(divides, divides).verdict, Verdict::Preserved);
    let rounded = finding(divides, multiplies);
    assert_eq!(rounded.verdict, Verdict::Preserved, "{rounded:?}");
    assert!(rounded.notes.iter().any(|note| note.contains("they are not compared")));
    let other = finding(divides, "mul.rn.f32 %f4, %f1, 0f40000000;");
    assert!(matches!(other.verdict, Verdict::Weaker | Verdict::WrongValue), "{other:?}");
}

/// Accesses of what has no such alignment are undefined, and a pointer to constant memory points there.
#[test]
fn a_source_keeps_to_its_alignment_and_its_state_spaces() {
    let verdict = |ir: &str, parameters: &str, ptx: &str| {
        let target = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n\
             .visible .func (.param .b32 k0) k({parameters})\n{{\n\
             .reg .b16 %h<5>; .reg .b32 %r<5>; .reg .b64 %rd<5>;\n{ptx}\n\
             st.param.b32 [k0], %r1;\nret;\n}}\n"
        );
        let (module, diagnostics) = ::ptx::read("m.ptx", target.as_bytes());
        assert_eq!(diagnostics, [], "{target}");
        let target = lift::module::functions(&module.expect("a module"));
        let source = llvm::functions("f.ll", ir).expect("it can be read");
        judge_pair(&paired(source, target)[0]).finding.verdict
    };
    let loads = |offset: u32, alignment: u32| {
        format!(
            "define i32 @k(ptr align 16 %p) {{\n  %q = getelementptr i8, ptr %p, i64 {offset}\n  \
             %v = load <2 x i16>, ptr %q, align {alignment}\n  %r = bitcast <2 x i16> %v to i32\n  ret i32 %r\n}}\n"
        )
    };
    let word = |offset: u32| format!("ld.param.u64 %rd1, [p]; ld.u32 %r1, [%rd1+{offset}];");
    assert_eq!(verdict(&loads(4, 4), ".param .b64 p", &word(4)), Verdict::Preserved);
    assert_eq!(verdict(&loads(6, 2), ".param .b64 p", &word(6)), Verdict::WrongValue);
    assert_eq!(verdict(&loads(6, 4), ".param .b64 p", &word(6)), Verdict::Unsupported);
    let constant = "define i32 @k(ptr addrspace(4) %p) {\n  %q = addrspacecast ptr addrspace(4) %p to ptr\n  \
                    %v = load i32, ptr %q\n  ret i32 %v\n}\n";
    let generic = "ld.param.u64 %rd1, [p]; cvta.const.u64 %rd2, %rd1; ld.u32 %r1, [%rd2];";
    assert_eq!(verdict(constant, ".param .b64 p", generic), Verdict::Preserved);
    let other = generic.replace("[%rd2]", "[%rd2+4]");
    assert_eq!(verdict(constant, ".param .b64 p", &other), Verdict::WrongValue);
}

/// `atom.add.f32` in global memory makes zeros of subnormal numbers, and `atomicrmw fadd` only if its function says so.
#[test]
fn sums_of_singles_in_memory_are_exact_unless_the_function_says_otherwise() {
    let judged = |attributes: &str, space: u32, sum: &str| {
        let source = format!(
            "target triple = \"nvptx64-nvidia-cuda\"\ndefine float @f(ptr addrspace({space}) %p, float %x) #0 {{\n\
             %r = atomicrmw fadd ptr addrspace({space}) %p, float %x syncscope(\"device\") monotonic, align 4\n\
             ret float %r\n}}\nattributes #0 = {{ nounwind {attributes} }}\n"
        );
        let target = format!(
            ".version 7.8\n.target sm_90\n.address_size 64\n\
             .visible .func (.param .b32 out) f(.param .b64 a, .param .b32 b)\n{{\n\
             .reg .pred %p1; .reg .b32 %r<5>; .reg .b64 %rd1;\n\
             ld.param.b32 %r2, [b]; ld.param.b64 %rd1, [a];\n{sum}\nst.param.b32 [out], %r1;\nret;\n}}\n"
        );
        let (target, diagnostics) = ::ptx::read("m.ptx", target.as_bytes());
        assert_eq!(diagnostics, [], "{sum}");
        let target = lift::module::functions(&target.expect("a module"));
        let source = llvm::functions("f.ll", &source).expect("it can be read");
        judge_pair(&paired(source, target)[0]).finding
    };
    let looped = "ld.relaxed.gpu.global.b32 %r4, [%rd1];\nL: add.rn.f32 %r3, %r4, %r2;\n\
        atom.relaxed.gpu.global.cas.b32 %r1, [%rd1], %r4, %r3;\nsetp.ne.b32 %p1, %r1, %r4;\n\
        mov.b32 %r4, %r1;\n@%p1 bra L;";
    let [global, shared] = ["global", "shared"]
        .map(|space| format!("atom.relaxed.gpu.{space}.add.f32 %r1, [%rd1], %r2;"));
    let flushes = "\"denormal-fp-math\"=\"preserve-sign,preserve-sign\"";
    let singles = "\"denormal-fp-math\"=\"ieee\" \"denormal-fp-math-f32\"=\"preserve-sign\"";
    let exact = "\"denormal-fp-math\"=\"preserve-sign\" \"denormal-fp-math-f32\"=\"ieee\"";
    for (attributes, space, sum, expected) in [
        ("", 1, looped, Verdict::Preserved),
        ("", 1, &*global, Verdict::WrongValue),
        (exact, 1, &*global, Verdict::WrongValue),
        (flushes, 1, &*global, Verdict::Preserved),
        (singles, 1, &*global, Verdict::Preserved),
        ("denormal_fpenv(float: preservesign)", 1, &*global, Verdict::Preserved),
        ("denormal_fpenv(float: ieee)", 1, &*global, Verdict::WrongValue),
    ] {
        let said = judged(attributes, space, sum);
        // The load before the loop may be weaker: a stale value makes the `cas` fail.
        let preserved = matches!(said.verdict, Verdict::Preserved | Verdict::Stronger);
        let verdict = if preserved { Verdict::Preserved } else { said.verdict };
        assert_eq!(verdict, expected, "{attributes}, {sum}: {said:?}");
    }
    let said = judged("", 3, &shared);
    assert!(matches!(said.verdict, Verdict::Preserved | Verdict::Stronger), "{said:?}");
}
