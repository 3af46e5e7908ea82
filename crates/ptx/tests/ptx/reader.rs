//! How modules are written: what separates declarations, and what is said of a module as a whole.

use ptx::{LintOptions, Linted};

use crate::written::codes;

fn lint(text: &str) -> Linted {
    ptx::lint("m.ptx", text.as_bytes(), LintOptions::default())
}

/// What is wrong with the instructions of a kernel.
fn in_kernel(instructions: &str) -> Vec<&'static str> {
    let linted = lint(&format!(
        ".version 9.3 .target sm_90 .address_size 64 .global .b32 g;\n\
         .func (.param .b32 r) f(.param .b32 a) .visible .entry k(.param .u64 p)\n\
         {{ .reg .b32 r<9>; .reg .b64 a<9>; {instructions} }}"
    ));
    codes(&linted.diagnostics)
}

/// ptxas 12.9 and 13.5 read all of these as one module with one wrong instruction.
#[test]
fn line_ends_separate_nothing() {
    let module = [
        ".version 9.3",
        ".target sm_90, debug",
        ".address_size 64",
        ".file 1 \"a.cu\", 1, 2",
        ".extern .func (.param .b32 r) vprintf (.param .b64 a)",
        ".func f .noreturn",
        ".pragma \"nounroll\";",
        ".alias g, f;",
        ".global .b32 x;",
        ".visible .entry k(.param .u64 p) .maxntid 128, 1, 1 .pragma \"a\", \"b\"; .minnctapersm 1",
        "{ .reg .b32 r<9>;",
        ".loc 1 2 3",
        "ld.relaxed.u32 r1, [x];",
        ".loc 1 2 3, function_name L+4, inlined_at 1 2 3",
        "st.u32 [x], r1;",
        "ret; }",
    ];
    for separator in ["\n", "\r\n", "\r", " ", " /* */ "] {
        let linted = lint(&module.join(separator));
        assert_eq!(codes(&linted.diagnostics), ["ld-scope-missing"], "{separator:?}");
        assert_eq!(linted.instructions, 2, "{separator:?}");
    }
}

#[test]
fn a_prototype_needs_no_semicolon_and_a_kernel_needs_a_body() {
    let linted = lint(
        ".version 9.3\n.target sm_90\n.address_size 64\n.func f(.param .b64 a)\n.global .u32 x;\n\
         .entry j .entry k() { .reg .b32 r; ld.u32 r, [x]; }",
    );
    assert_eq!(codes(&linted.diagnostics), ["syntax"]);
    assert_eq!(linted.instructions, 1);
}

/// ptxas takes all that follows for the comment, up to a line feed.
#[test]
fn a_comment_that_ends_with_a_carriage_return_is_told() {
    let linted = lint(".version 9.3\r// one\r// two\r.target sm_90\r.global .u32 x;\r");
    assert_eq!(codes(&linted.diagnostics), ["comment-return"]);
    assert!(linted.unreadable);
    assert_eq!(lint(".version 9.3\r\n// one\r\n.target sm_90 // two\r").diagnostics, []);
}

#[test]
fn a_version_that_is_newer_is_noted() {
    assert_eq!(lint(".version 9.5\n.target sm_90\n").diagnostics, []);
    let linted = lint(".version 9.6\n.target sm_90\n");
    assert_eq!(codes(&linted.diagnostics), ["version-newer"]);
    assert_eq!((linted.errors(), linted.warnings(), linted.unreadable), (0, 0, false));
}

#[test]
fn without_their_size_addresses_have_32_bits() {
    let module = |size: &str, register: &str| {
        let linted = lint(&format!(
            ".version 9.3 .target sm_70 {size} .entry k() {{ .reg .b32 r; .reg .{register} a; \
             ld.u32 r, [a]; ld.u32 r, [a+4]; }}"
        ));
        (codes(&linted.diagnostics), linted.errors())
    };
    assert_eq!(module("", "b32"), (vec![], 0));
    assert_eq!(module("", "b64"), (vec!["address-size-missing"], 0));
    assert_eq!(module("", "b16"), (vec![], 0));
    assert_eq!(module(".address_size 64", "b64"), (vec![], 0));
    assert_eq!(module(".address_size 64", "b32").1, 2);
    assert_eq!(module(".address_size 32", "b64").1, 2);
}

#[test]
fn a_number_is_added_to_a_source_and_to_no_destination() {
    for fine in [
        "st.u32 [a1], r1+4;",
        "st.u32 [a1], r1+-4;",
        "st.u64 [a1], g+4;",
        "atom.add.u32 r1, [a1], r2+(1+2);",
        "red.add.u32 [a1], r2+4;",
    ] {
        assert_eq!(in_kernel(fine), [""; 0], "{fine}");
    }
    assert_eq!(in_kernel("ld.u32 r1+4, [a1];"), ["syntax"]);
    assert_eq!(in_kernel("st.u32 [a1], r1+r2;"), ["syntax"]);
    assert_eq!(in_kernel("st.u32 [a1], r1-4;"), ["syntax"]);
    assert_eq!(in_kernel("st.u32 [a1], a2+4;"), [""; 0]);
    assert_eq!(in_kernel("st.u64 [a1], r1+4;"), ["st-source"]);
}

#[test]
fn the_size_of_a_tensor_map_is_128_bytes() {
    let fence = |operands: &str| {
        in_kernel(&format!("fence.proxy.tensormap::generic.acquire.gpu {operands};"))
    };
    for fine in ["[a1], 128", "[a1], 0x80", "[a1], 64+64"] {
        assert_eq!(fence(fine), [""; 0], "{fine}");
    }
    assert_eq!(fence("[a1], 64"), ["fence-size"]);
    for wrong in ["[a1], r1", "a1, 128", "[a1]", "128, [a1]", ""] {
        assert_eq!(fence(wrong), ["fence-operands"], "{wrong}");
    }
}

#[test]
fn arguments_and_results_of_calls_are_stored_and_loaded() {
    let call = |guard: &str| {
        in_kernel(&format!(
            "{{ .reg .pred p; .param .b32 in; .param .b32 out; {guard} st.param.b32 [in+0], r1; \
             call.uni (out), f, (in); {guard} ld.param.b32 r2, [out+0]; }}"
        ))
    };
    assert_eq!(call(""), [""; 0]);
    assert_eq!(call("@p"), ["st-param-guard", "ld-param-guard"]);
}

#[test]
fn a_prototype_of_a_call_has_parameters() {
    let call = "prototype_1 : .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);\n\
        targets: .calltargets f; T: .branchtargets L, L; L: ld.u32 r1, [a1]; .pragma \"nounroll\"; ret;";
    assert_eq!(in_kernel(call), [""; 0]);
}

#[test]
fn a_misspelt_opcode_is_an_error() {
    let wrong = "atm.add.u32 r1, [a1], 1; mbarier.init.b64 [a1], 1; foo.bar; cvt.u64.u64 a1, a2;";
    assert_eq!(in_kernel(wrong), ["opcode"; 3]);
    let helps: Vec<_> =
        lint(&format!(".version 9.3 .target sm_90 .address_size 64 .entry k() {{ {wrong} }}"))
            .diagnostics
            .into_iter()
            .map(|one| one.help)
            .collect();
    let is = |what: &str| Some(format!("did you mean `{what}`?"));
    assert_eq!(helps, [is("atom"), is("mbarrier"), None]);
    let newer = lint(".version 9.6 .target sm_90 .address_size 64 .entry k() { foo.bar; adq r; }");
    assert_eq!((newer.errors(), newer.warnings()), (1, 1));
}

#[test]
fn what_is_not_judged_is_counted_by_name() {
    let linted = lint(
        ".version 9.3 .target sm_90 .address_size 64 .entry k() { .reg .b32 r; .reg .b64 a;\n\
         ld.u32 r, [a]; st.async.mbarrier::complete_tx::bytes.u32 [a], r, [a]; cp.async.wait_all; cp.async.commit_group;\n\
         mbarrier.init.shared.b64 [a], 1; bar.sync 0; add.u32 r, r, r; bar.warp.sync 1;\n\
         wmma.mma.sync r; wmma.load.a r, [a]; }",
    );
    assert_eq!(linted.diagnostics, []);
    // `add` and `bar.warp.sync` access no memory.
    assert_eq!(linted.instructions, 6);
    let counted: Vec<(&str, usize)> =
        linted.not_judged.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(counted, [("wmma", 1)]);
}
