//! Faults of a target, and targets that never end, where the source ends.

use refine::function::{PairReport, paired};
use refine::verdict::Verdict;

use crate::functions::{judge_pair, of_listing, said};

/// A kernel of these instructions with the pointers `%rd1` and `%rd2`.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n\
         .visible .entry f(.param .u64 a, .param .u64 b)\n{{\n\
         .reg .b64 %rd<5>; .reg .b32 %r<6>; .reg .pred %p;\n\
         ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];\n{body}\nret;\n}}\n"
    )
}

#[test]
fn a_misaligned_address_in_a_listing_is_a_wrong_value() {
    let source = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry f(.param .u64 p)\n{\n\
        .reg .b64 q; ld.param.u64 q, [p]; st.global.u64 [q+8], 1; ret;\n}\n";
    let listing = |store: &str| {
        let all = [
            "LDC.64 R2, c[0x0][0x210]",
            "MOV R4, 0x1",
            "MOV R5, 0x0",
            "ULDC.64 UR4, c[0x0][0x208]",
            store,
            "EXIT",
        ];
        of_listing(source, &all).finding
    };
    let right = listing("STG.E.64 desc[UR4][R2.64+0x8], R4");
    assert_eq!(right.verdict, Verdict::Preserved, "{right:?}");
    for offset in ["0xc", "0x9"] {
        let wrong = listing(&format!("STG.E.64 desc[UR4][R2.64+{offset}], R4"));
        assert_eq!(wrong.verdict, Verdict::WrongValue, "{wrong:?}");
        assert!(wrong.why.contains("a misaligned address"), "{}", wrong.why);
    }
}

/// A pointer has no more alignment than the accesses of the source need.
#[test]
fn a_target_that_needs_more_alignment_is_a_wrong_value() {
    let loads =
        "ld.global.b32 %r1, [%rd1]; ld.global.b32 %r2, [%rd1+4]; st.global.b32 [%rd2], %r1;";
    let vector = "ld.global.v2.b32 {%r1, %r2}, [%rd1]; st.global.b32 [%rd2], %r1;";
    let stores = "st.global.b32 [%rd1], 1; st.global.b32 [%rd1+4], 2;";
    let wide = "st.global.b64 [%rd1], 0x200000001;";
    let pairs = "st.global.v2.b32 [%rd1], {1, 2}; st.global.v2.b32 [%rd1+8], {3, 4};";
    let four = "st.global.v4.b32 [%rd1], {1, 2, 3, 4};";
    for (source, target) in [(loads, vector), (stores, wide), (pairs, four)] {
        let wrong = said(&kernel(source), &kernel(target)).finding;
        assert_eq!(wrong.verdict, Verdict::WrongValue, "{target}: {wrong:?}");
        assert!(wrong.why.contains("a misaligned address"), "{}", wrong.why);
        // What is promised of the parameter is enough.
        let promised = |text: &str| {
            kernel(text).replace(".param .u64 a", ".param .u64 .ptr .global .align 16 a")
        };
        let right = said(&promised(source), &promised(target)).finding;
        assert_eq!(right.verdict, Verdict::Preserved, "{target}: {right:?}");
        let same = said(&kernel(target), &kernel(target)).finding;
        assert_eq!(same.verdict, Verdict::Preserved, "{target}: {same:?}");
    }
}

/// After a wait, so that the function does not come there alone; and after a condition on what another thread writes twice.
#[test]
fn a_fault_in_a_context_is_a_wrong_value() {
    for (before, after) in [
        ("L: ld.acquire.gpu.u32 %r1, [%rd1]; setp.ne.u32 %p, %r1, 3; @%p bra L;", ""),
        (
            "ld.acquire.gpu.u32 %r1, [%rd1]; setp.ne.u32 %p, %r1, 3; @%p ret; \
             ld.relaxed.gpu.u32 %r2, [%rd1]; setp.ne.u32 %p, %r2, 101; @%p ret;",
            "",
        ),
    ] {
        let of =
            |offset: u32| kernel(&format!("{before} st.global.u64 [%rd2+{offset}], 1; {after}"));
        let right = said(&of(8), &of(8)).finding;
        // The second one needs no acquire.
        assert!(matches!(right.verdict, Verdict::Preserved | Verdict::Stronger), "{right:?}");
        let wrong = said(&of(8), &of(12)).finding;
        assert_eq!(wrong.verdict, Verdict::WrongValue, "{wrong:?}");
    }
}

/// Threads with other numbers than the first run a target without barriers, too.
#[test]
fn a_target_that_never_ends_for_some_thread_is_a_wrong_value() {
    let after = "ld.global.u32 %r2, [%rd2]; st.global.u32 [%rd2+4], %r2;";
    let of = |between: &str| kernel(&format!("st.global.u32 [%rd1], 1; {between} {after}"));
    for (register, number) in [("%tid.x", 1), ("%tid.x", 5), ("%ctaid.x", 1)] {
        let waits =
            format!("mov.u32 %r1, {register}; setp.eq.u32 %p, %r1, {number}; L: @%p bra L;");
        let wrong = said(&of(""), &of(&waits)).finding;
        assert_eq!(wrong.verdict, Verdict::WrongValue, "{waits}: {wrong:?}");
        let same = said(&of(&waits), &of(&waits)).finding;
        assert_ne!(same.verdict, Verdict::WrongValue, "{waits}: {same:?}");
    }
}

/// A vector in inline assembly has the alignment that PTX requires: with an index that breaks it, the source is undefined.
#[test]
fn a_vector_in_inline_assembly_is_aligned() {
    let judged = |template: &str, instruction: &str| -> PairReport {
        let source = format!(
            "target triple = \"nvptx64-nvidia-cuda\"\n\
             define ptx_kernel void @f(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %k) {{\n\
             %c = icmp sgt i32 %k, 40\n%o = select i1 %c, i32 %k, i32 0\n\
             %a = getelementptr i32, ptr addrspace(1) %p, i32 %o\n\
             %v = tail call {{ i32, i32 }} asm sideeffect \"{template}\", \"=r,=r,l\"(ptr addrspace(1) %a)\n\
             %x = extractvalue {{ i32, i32 }} %v, 0\nstore i32 %x, ptr addrspace(1) %q\nret void\n}}\n"
        );
        let target = format!(
            ".version 7.8\n.target sm_90\n.address_size 64\n\
             .visible .entry f(.param .u64 .ptr .global .align 1 p, .param .u64 .ptr .global .align 1 q, .param .b32 k)\n{{\n\
             .reg .pred %p1; .reg .b32 %r<5>; .reg .b64 %rd<5>;\n\
             ld.param.b64 %rd2, [p]; ld.param.b32 %r3, [k]; setp.gt.s32 %p1, %r3, 40; ld.param.b64 %rd3, [q];\n\
             selp.b32 %r4, %r3, 0, %p1; mul.wide.s32 %rd4, %r4, 4; add.s64 %rd1, %rd2, %rd4;\n\
             {instruction}\nst.global.b32 [%rd3], %r1;\nret;\n}}\n"
        );
        let (target, diagnostics) = ::ptx::read("m.ptx", target.as_bytes());
        assert_eq!(diagnostics, [], "{instruction}");
        let target = lift::module::functions(&target.expect("a module"));
        let source = llvm::functions("f.ll", &source).expect("it can be read");
        judge_pair(&paired(source, target)[0])
    };
    let vector = "ld.global.v2.b32 {%r1, %r2}, [%rd1];";
    let kept = judged("ld.global.v2.b32 { $0, $1 }, [ $2 + 0 ];", vector).finding;
    assert_eq!(kept.verdict, Verdict::Preserved, "{kept:?}");
    // Two scalars do not require it.
    let scalars = "ld.global.b32 $0, [ $2 + 0 ]; ld.global.b32 $1, [ $2 + 4 ];";
    let joined = judged(scalars, vector).finding;
    assert_eq!(joined.verdict, Verdict::WrongValue, "{joined:?}");
}

/// Jump threading copies a barrier into the arms of a condition on the number of the thread.
#[test]
fn threads_of_a_cta_meet_at_one_barrier() {
    let after = "ld.global.u32 %r2, [%rd2]; st.global.u32 [%rd2+4], %r2;";
    let source = kernel(&format!("st.global.u32 [%rd1], 1; bar.sync 0; {after}"));
    let arms = |condition: &str, first: &str, second: &str| {
        let target = kernel(&format!(
            "st.global.u32 [%rd1], 1; {condition} @%p bra A; {first} bra C; A: {second} C: {after}"
        ));
        said(&source, &target).finding
    };
    let by_thread = "mov.u32 %r1, %tid.x; setp.eq.u32 %p, %r1, 0;";
    let apart = arms(by_thread, "bar.sync 1;", "bar.sync 0;");
    assert_eq!(apart.verdict, Verdict::WrongValue, "{apart:?}");
    assert!(apart.why.contains("waits for ever"), "{}", apart.why);
    // One number, which two lanes of a warp meet at two places.
    let two_places = |finding: &refine::verdict::Finding| {
        finding.notes.iter().any(|note| note.contains("come to different barriers"))
    };
    let same = arms(by_thread, "bar.sync 0;", "bar.sync 0;");
    assert_eq!(same.verdict, Verdict::Preserved, "{same:?}");
    assert!(two_places(&same), "{same:?}");
    // All threads of a CTA have the same condition, or the barrier need not be aligned.
    let together =
        arms("mov.u32 %r1, %ctaid.x; setp.eq.u32 %p, %r1, 0;", "bar.sync 0;", "bar.sync 0;");
    assert_eq!(together.verdict, Verdict::Preserved, "{together:?}");
    assert!(!two_places(&together), "{together:?}");
    let unaligned = arms(by_thread, "barrier.sync 0;", "barrier.sync 0;");
    assert_eq!(unaligned.verdict, Verdict::Preserved, "{unaligned:?}");
    assert!(!two_places(&unaligned), "{unaligned:?}");
    let own = said(&source, &source).finding;
    assert_eq!(own.verdict, Verdict::Preserved, "{own:?}");
}
