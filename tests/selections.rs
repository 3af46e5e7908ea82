//! What a load with an order returns is compared, selected by, masked and shifted, and decides no branch.

use std::fmt::Write;

use refine::function::{PairReport, paired};
use refine::verdict::Verdict;

use crate::functions::{judge_pair, said};

/// What becomes of the loaded number `%a`, the data `%d` and the argument `%n`: the result is `%r`.
const FORMS: [&str; 28] = [
    "setp.eq.u32 %p, %a, 1; selp.u32 %r, %d, 0, %p;",
    "setp.eq.u32 %p, %a, 1; selp.u32 %r, 0, %d, %p;",
    "setp.eq.u32 %p, %a, 7; selp.u32 %r, 1, 0, %p;",
    "setp.eq.u32 %p, %a, 1; selp.b32 %t, -1, 0, %p; and.b32 %r, %t, %d;",
    "shr.u32 %r, %a, 31;",
    "shr.s32 %t, %a, 31; and.b32 %r, %t, %d;",
    "set.eq.u32.u32 %r, %a, 9;",
    "slct.u32.s32 %r, 5, 6, %a;",
    "and.b32 %r, %a, 0x80000000;",
    "and.b32 %t, %a, 8; setp.ne.u32 %p, %t, 0; selp.u32 %r, %d, 0, %p;",
    "setp.eq.u32 %p, %a, %n; selp.u32 %r, %d, 0, %p;",
    "add.u32 %t, %n, 3; setp.ge.u32 %p, %a, %t; selp.u32 %r, 1, 0, %p;",
    "setp.lt.s32 %p, %a, 0; selp.u32 %r, 1, 0, %p;",
    "bfe.u32 %r, %a, 8, 4;",
    "max.u32 %r, %a, 1000;",
    "shl.b32 %r, %a, 31;",
    "setp.ne.u32 %q, %n, 77; setp.eq.and.u32 %p, %a, 3, %q; selp.u32 %r, 1, 0, %p;",
    // Numbers are computed from what is read before they are compared.
    "shl.b32 %t, %a, 3; setp.eq.u32 %p, %t, 40; selp.u32 %r, %d, 0, %p;",
    "mul.lo.u32 %t, %a, 7; setp.eq.u32 %p, %t, 35; selp.u32 %r, %d, 0, %p;",
    "mad.lo.u32 %t, %a, 3, 2; setp.eq.u32 %p, %t, 20; selp.u32 %r, %d, 0, %p;",
    "div.u32 %t, %a, 10; setp.eq.u32 %p, %t, 9; selp.u32 %r, %d, 0, %p;",
    "sub.u32 %t, 1000, %a; setp.eq.u32 %p, %t, 9; selp.u32 %r, %d, 0, %p;",
    "brev.b32 %t, %a; setp.eq.u32 %p, %t, 9; selp.u32 %r, %d, 0, %p;",
    "clz.b32 %t, %a; setp.eq.u32 %p, %t, 20; selp.u32 %r, %d, 0, %p;",
    "popc.b32 %t, %a; setp.eq.u32 %p, %t, 3; selp.u32 %r, %d, 0, %p;",
    "prmt.b32 %t, %a, 0, 0x4442; setp.eq.u32 %p, %t, 9; selp.u32 %r, %d, 0, %p;",
    // What is read after the load is compared, or masked.
    "mov.u32 %r, 2; setp.eq.u32 %p, %a, 1; setp.eq.u32 %q, %d, 5; @%p selp.u32 %r, 1, 0, %q;",
    "mov.u32 %r, 2; setp.eq.u32 %p, %a, 1; @%p and.b32 %r, %d, 0x10;",
];

/// A function of one of the forms, which returns the result, or a kernel, which stores it.
fn module(form: &str, order: &str, kernel: bool) -> String {
    let (signature, result) = if kernel {
        (
            ".entry f(.param .u64 a, .param .u64 b, .param .u32 n, .param .u64 o)",
            "st.global.u32 [%rd3], %r;",
        )
    } else {
        (
            ".func (.param .b32 out) f(.param .b64 a, .param .b64 b, .param .b32 n)",
            "st.param.b32 [out], %r;",
        )
    };
    let third = if kernel { "ld.param.u64 %rd3, [o];" } else { "" };
    format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible {signature}\n{{\n\
         .reg .pred %p, %q; .reg .b32 %r, %a, %d, %t, %n; .reg .b64 %rd<5>;\n\
         ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %n, [n]; {third}\n\
         ld.{order}.gpu.global.u32 %a, [%rd1];\nld.relaxed.gpu.global.u32 %d, [%rd2];\n{form}\n{result}\nret;\n}}\n"
    )
}

fn is_right(said: &PairReport) -> bool {
    let kept = matches!(said.finding.verdict, Verdict::Preserved | Verdict::Stronger);
    kept && !said.finding.sufficient.as_ref().is_some_and(|less| less.contains("acquire"))
}

#[test]
fn a_dropped_acquire_is_found_whatever_is_computed_of_what_it_loads() {
    for form in FORMS {
        let source = module(form, "acquire", false);
        let dropped = said(&source, &module(form, "relaxed", false)).finding;
        assert_eq!(dropped.verdict, Verdict::Weaker, "{form}: {dropped:?}");
        assert!(!dropped.racy, "{form}: {dropped:?}");
        let kept = said(&source, &source);
        assert!(is_right(&kept), "{form}: {:?}", kept.finding);
    }
}

/// A kernel has no code around it that shows what it has read.
#[test]
fn a_dropped_acquire_is_found_in_kernels_too() {
    for form in FORMS.into_iter().filter(|form| form.contains("%d")) {
        let source = module(form, "acquire", true);
        let dropped = said(&source, &module(form, "relaxed", true)).finding;
        assert_eq!(dropped.verdict, Verdict::Weaker, "{form}: {dropped:?}");
    }
}

/// The same by a compiler of LLVM IR, and its PTX.
const COMPILED: [(&str, &str); 8] = [
    (
        "%c = icmp eq i32 %a, 1\n%r = select i1 %c, i32 %d, i32 0",
        "setp.eq.b32 %p, %a, 1; selp.b32 %r, %d, 0, %p;",
    ),
    (
        "%c = icmp eq i32 %a, 7\n%r = zext i1 %c to i32",
        "setp.eq.b32 %p, %a, 7; selp.b32 %r, 1, 0, %p;",
    ),
    (
        "%c = icmp eq i32 %a, 1\n%t = sext i1 %c to i32\n%r = and i32 %t, %d",
        "setp.eq.b32 %p, %a, 1; selp.b32 %t, -1, 0, %p; and.b32 %r, %t, %d;",
    ),
    ("%r = lshr i32 %a, 31", "shr.u32 %r, %a, 31;"),
    ("%t = ashr i32 %a, 31\n%r = and i32 %t, %d", "shr.s32 %t, %a, 31; and.b32 %r, %t, %d;"),
    ("%r = and i32 %a, 2147483648", "and.b32 %r, %a, -2147483648;"),
    (
        "%c = icmp uge i32 %a, %n\n%r = select i1 %c, i32 %d, i32 0",
        "setp.ge.u32 %p, %a, %n; selp.b32 %r, %d, 0, %p;",
    ),
    ("%r = call i32 @llvm.umax.i32(i32 %a, i32 1000)", "max.u32 %r, %a, 1000;"),
];

#[test]
fn a_dropped_acquire_is_found_behind_a_compiler() {
    for (ir, ptx) in COMPILED {
        let mut source = "target triple = \"nvptx64-nvidia-cuda\"\n".to_owned();
        writeln!(
            source,
            "define i32 @f(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %n) {{\n\
             %a = load atomic i32, ptr addrspace(1) %p syncscope(\"device\") acquire, align 4\n\
             %d = load atomic i32, ptr addrspace(1) %q syncscope(\"device\") monotonic, align 4\n{ir}\nret i32 %r\n}}\n\
             declare i32 @llvm.umax.i32(i32, i32)"
        )
        .expect("a string takes it");
        let of = |order: &str| {
            let target = module(ptx, order, false);
            let (target, diagnostics) = ::ptx::read("m.ptx", target.as_bytes());
            assert_eq!(diagnostics, [], "{ptx}");
            let target = lift::module::functions(&target.expect("a module"));
            let source = llvm::functions("f.ll", &source).expect("it can be read");
            judge_pair(&paired(source, target)[0])
        };
        let dropped = of("relaxed").finding;
        assert_eq!(dropped.verdict, Verdict::Weaker, "{ir}: {dropped:?}");
        let kept = of("acquire");
        assert!(is_right(&kept), "{ir}: {:?}", kept.finding);
    }
}

/// No value that the contexts write makes the comparison hold, so they do not show what the acquire is for.
#[test]
fn a_comparison_with_one_result_gives_no_advice() {
    let hashed =
        "mul.lo.u32 %t, %a, 0x9e3779b1; setp.eq.u32 %p, %t, 0x12345678; selp.u32 %r, %d, 0, %p;";
    let source = module(hashed, "acquire", false);
    let kept = said(&source, &source).finding;
    assert_eq!((kept.verdict, kept.sufficient), (Verdict::Preserved, None));
    let says = |note: &&String| note.contains("has one result with all that other threads write");
    assert_eq!(kept.notes.iter().filter(says).count(), 1, "{:?}", kept.notes);
}
