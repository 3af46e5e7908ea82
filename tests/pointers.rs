//! A pointer is read from memory and followed: what it leads to was written before it was published.

use refine::verdict::Verdict;

use crate::functions::said;

/// What a function does with the place `%rd1` of a pointer `%q`, or with a default `%rd2`: the result is `%r`.
const FORMS: [(&str, &str); 7] = [
    (
        "a null test",
        "mov.u32 %r, 0; ld.ORDER.gpu.global.u64 %q, [%rd1]; setp.eq.s64 %p, %q, 0; @%p bra END;
         ld.relaxed.gpu.global.u32 %r, [%q]; END:",
    ),
    (
        "a null test and a weak access",
        "mov.u32 %r, 0; ld.ORDER.gpu.global.u64 %q, [%rd1]; setp.eq.s64 %p, %q, 0; @%p bra END;
         ld.global.u32 %r, [%q+8]; END:",
    ),
    (
        "a default",
        "ld.ORDER.gpu.global.u64 %q, [%rd1]; setp.eq.s64 %p, %q, 0; selp.b64 %q, %rd2, %q, %p;
         ld.relaxed.gpu.global.u32 %r, [%q];",
    ),
    ("no test", "ld.ORDER.gpu.global.u64 %q, [%rd1]; ld.relaxed.gpu.global.u32 %r, [%q+4];"),
    (
        "a wait",
        "LOOP: ld.ORDER.gpu.global.u64 %q, [%rd1]; setp.eq.s64 %p, %q, 0; @%p bra LOOP;
         ld.global.u32 %r, [%q];",
    ),
    (
        "an exchange that takes the pointer",
        "mov.u32 %r, 0; atom.ORDER.gpu.global.exch.b64 %q, [%rd1], 0; setp.eq.s64 %p, %q, 0; @%p bra END;
         ld.global.u32 %r, [%q]; END:",
    ),
    (
        "a copy to the generic address",
        "mov.u32 %r, 0; ld.ORDER.gpu.global.u64 %q, [%rd1]; setp.eq.s64 %p, %q, 0; @%p bra END;
         add.s64 %q, %q, 16; ld.relaxed.gpu.u32 %r, [%q]; END:",
    ),
];

fn module(form: &str, order: &str) -> String {
    let form = form.replace("ORDER", order);
    format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n\
         .visible .func (.param .b32 out) f(.param .b64 a, .param .b64 b)\n{{\n\
         .reg .pred %p; .reg .b32 %r, %t; .reg .b64 %q; .reg .b64 %rd<3>;\n\
         ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];\n{form}\nst.param.b32 [out], %r;\nret;\n}}\n"
    )
}

#[test]
fn a_dropped_acquire_of_a_pointer_is_found() {
    for (name, form) in FORMS {
        let source = module(form, "acquire");
        let dropped = said(&source, &module(form, "relaxed")).finding;
        assert_eq!(dropped.verdict, Verdict::Weaker, "{name}: {dropped:?}");
        let kept = said(&source, &source).finding;
        assert!(matches!(kept.verdict, Verdict::Preserved | Verdict::Stronger), "{name}: {kept:?}");
        let advice = kept.sufficient.unwrap_or_default();
        assert!(!advice.contains("acquire"), "{name}: {advice}");
    }
}

/// The publisher's side: what the pointer leads to is written before it.
#[test]
fn a_dropped_release_of_a_pointer_is_found() {
    let publish = "mov.u32 %r, 0; st.global.u32 [%rd2], 5; st.ORDER.gpu.global.u64 [%rd1], %rd2;";
    let source = module(publish, "release");
    let dropped = said(&source, &module(publish, "relaxed")).finding;
    assert_eq!(dropped.verdict, Verdict::Weaker, "{dropped:?}");
    assert!(said(&source, &source).finding.verdict == Verdict::Preserved);
}

/// A target that follows the wrong one of two pointers.
#[test]
fn pointers_that_are_exchanged_are_a_wrong_value() {
    let form = |of: [&str; 2]| {
        format!(
            "ld.global.u64 %q, [{}]; ld.global.u32 %r, [%q]; ld.global.u64 %q, [{}]; ld.global.u32 %r, [%q];",
            of[0], of[1]
        )
    };
    let (source, target) = (form(["%rd1", "%rd2"]), form(["%rd2", "%rd1"]));
    let [source, target] = [source, target].map(|form| module(&form, ""));
    assert_eq!(said(&source, &target).finding.verdict, Verdict::WrongValue);
    assert_eq!(said(&source, &source).finding.verdict, Verdict::Preserved);
}

/// Each node of a list is read where the source reads it: runs have lists of one node and of two.
#[test]
fn what_is_read_in_a_list_is_compared() {
    let walk = |value: &str| {
        format!(
            "mov.u32 %r, 0; ld.acquire.gpu.global.u64 %q, [%rd1]; LOOP: setp.eq.s64 %p, %q, 0; @%p bra END;
             ld.global.u32 %t, [{value}]; add.u32 %r, %r, %t; ld.global.u64 %q, [%q+8]; bra LOOP; END:"
        )
    };
    let [source, target] = ["%q", "%q+4"].map(|value| module(&walk(value), ""));
    assert_eq!(said(&source, &target).finding.verdict, Verdict::WrongValue);
    assert_eq!(said(&source, &source).finding.verdict, Verdict::Preserved);
}

/// An offset or an index is read and not compared.
#[test]
fn a_dropped_acquire_of_an_offset_is_found() {
    for form in [
        "ld.ORDER.gpu.global.u32 %t, [%rd1]; cvt.u64.u32 %q, %t; add.s64 %q, %q, %rd2; ld.global.u32 %r, [%q+8];",
        "ld.ORDER.gpu.global.u32 %t, [%rd1]; mul.wide.u32 %q, %t, 4; add.s64 %q, %q, %rd2; ld.global.u32 %r, [%q];",
        "ld.ORDER.gpu.global.u64 %q, [%rd1]; shl.b64 %q, %q, 3; add.s64 %q, %q, %rd2; ld.global.u64 %q, [%q]; cvt.u32.u64 %r, %q;",
    ] {
        let source = module(form, "acquire");
        let dropped = said(&source, &module(form, "relaxed")).finding;
        assert_eq!(dropped.verdict, Verdict::Weaker, "{form}: {dropped:?}");
        let kept = said(&source, &source).finding;
        assert_eq!((kept.verdict, kept.sufficient), (Verdict::Preserved, None), "{form}");
    }
}

/// Shared memory has no initial value, and no context publishes a pointer in it: the source is undefined in each one.
#[test]
fn a_source_that_every_context_leaves_undefined_is_not_judged() {
    let module = |order: &str| {
        format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n.shared .align 8 .b64 slot;\n\
             .visible .func (.param .b32 out) f()\n{{\n.reg .b32 %r; .reg .b64 %q;\n\
             ld.{order}.cta.shared.u64 %q, [slot];\nld.u32 %r, [%q];\nst.param.b32 [out], %r;\nret;\n}}\n"
        )
    };
    for order in ["acquire", "relaxed"] {
        let finding = said(&module("acquire"), &module(order)).finding;
        assert_eq!(finding.verdict, Verdict::Outside, "{order}: {finding:?}");
        assert!(
            finding.why.starts_with("no outcome was compared in any context; in "),
            "{finding:?}"
        );
        assert_eq!(finding.sufficient, None, "{order}: {finding:?}");
    }
}
