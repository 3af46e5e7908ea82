//! Relocatable code: device functions of listings, calls of functions of the listing, and calls of others.

use std::fmt::Write;

use lift::listing::Signature;
use refine::function::{PairReport, paired};
use refine::verdict::Verdict;

use crate::functions::judge_pair;

/// A module with a function that publishes, one that calls it, and one that calls a function of another module.
const SOURCE: &str = "\
.version 8.7\n.target sm_90\n.address_size 64\n.global .align 4 .u32 count;\n\
.extern .func (.param .b32 r) outside(.param .b64 p, .param .b32 v);\n\
.visible .func (.param .b32 r) publish(.param .b32 n, .param .b64 flag, .param .b32 value)\n{\n\
.reg .b64 %rd<4>; .reg .b32 %r<6>;\n\
ld.param.u64 %rd1, [flag]; ld.param.u32 %r1, [value]; ld.param.u32 %r2, [n];\n\
st.global.u32 [count], %r2; st.release.gpu.u32 [%rd1], %r1; add.u32 %r3, %r1, 1;\n\
st.param.b32 [r], %r3;\nret;\n}\n\
.visible .entry caller(.param .u64 a, .param .u64 f)\n{\n\
.reg .b64 %rd<4>; .reg .b32 %r<4>;\n\
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [f]; st.global.u32 [%rd1], 7;\n\
{ .param .b32 p0; .param .b64 p1; .param .b32 p2; .param .b32 q;\n\
st.param.b32 [p0], 3; st.param.b64 [p1], %rd2; st.param.b32 [p2], 5;\n\
call.uni (q), publish, (p0, p1, p2);\nld.param.b32 %r1, [q];\n}\n\
st.global.u32 [%rd1+4], %r1;\nret;\n}\n\
.visible .entry asks(.param .u64 a, .param .u64 f)\n{\n\
.reg .b64 %rd<4>; .reg .b32 %r<4>;\n\
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [f]; st.global.u32 [%rd1], 7;\n\
{ .param .b64 p0; .param .b32 p1; .param .b32 q;\n\
st.param.b64 [p0], %rd2; st.param.b32 [p1], 5;\n\
call.uni (q), outside, (p0, p1);\nld.param.b32 %r1, [q];\n}\n\
st.global.u32 [%rd1+4], %r1;\nret;\n}\n";

/// `n` is in R4, `flag` in R6 and R7, `value` in R5.
const PUBLISH: &[&str] = &[
    "UMOV UR4, 32@lo(count)",
    "UMOV UR5, 32@hi(count)",
    "IMAD.U32 R10, RZ, RZ, UR4",
    "IMAD.U32 R11, RZ, RZ, UR5",
    "ULDC.64 UR4, c[0x0][0x208]",
    "STG.E desc[UR4][R10.64], R4",
    "IADD3 R4, R5, 0x1, RZ",
    "MEMBAR.ALL.GPU",
    "ST.E.STRONG.GPU desc[UR4][R6.64], R5",
    "RET.ABS.NODEC R20 0x0",
];

const CALLER: &[&str] = &[
    "LDC R1, c[0x0][0x28]",
    "LDC.64 R2, c[0x0][0x210]",
    "IMAD.MOV.U32 R8, RZ, RZ, 0x7",
    "ULDC.64 UR36, c[0x0][0x208]",
    "LDC.64 R6, c[0x0][0x218]",
    "MOV R4, 0x3",
    "MOV R5, 0x5",
    "STG.E desc[UR36][R2.64], R8",
    "MOV R20, 32@lo((caller + .L_x_1@srel))",
    "MOV R21, 32@hi((caller + .L_x_1@srel))",
    "CALL.ABS.NOINC `(publish)",
    ".L_x_1:",
    "LDC.64 R2, c[0x0][0x210]",
    "STG.E desc[UR36][R2.64+0x4], R4",
    "EXIT",
];

const ASKS: &[&str] = &[
    "LDC R1, c[0x0][0x28]",
    "LDC.64 R2, c[0x0][0x210]",
    "IMAD.MOV.U32 R7, RZ, RZ, 0x7",
    "ULDC.64 UR36, c[0x0][0x208]",
    "LDC.64 R4, c[0x0][0x218]",
    "MOV R6, 0x5",
    "STG.E desc[UR36][R2.64], R7",
    "MOV R20, 32@lo((asks + .L_x_0@srel))",
    "MOV R21, 32@hi((asks + .L_x_0@srel))",
    "CALL.ABS.NOINC `(outside)",
    ".L_x_0:",
    "LDC.64 R2, c[0x0][0x210]",
    "STG.E desc[UR36][R2.64+0x4], R4",
    "EXIT",
];

/// The body of `outside` in a listing of linked code.
const OUTSIDE: &[&str] = &["MOV R4, 0x9", "RET.ABS.NODEC R20 0x0"];

/// A listing of these functions with one replacement in each.
fn listing(functions: &[(&str, &[&str])], (old, new): (&str, &str)) -> String {
    let mut text = ".headerflags @\"EF_CUDA_SM90\"\n".to_owned();
    for (name, lines) in functions {
        writeln!(text, ".section .text.{name},\"ax\"\n{name}:").expect("a string takes it");
        let mut address = 0;
        for line in *lines {
            if line.ends_with(':') {
                writeln!(text, "{line}").expect("a string takes it");
                continue;
            }
            let line = line.replace(old, new);
            writeln!(text, "        /*{address:04x}*/ {line} ;").expect("a string takes it");
            address += 16;
        }
    }
    text
}

fn judged(text: &str, name: &str) -> PairReport {
    let (module, diagnostics) = ::ptx::read("m.ptx", SOURCE.as_bytes());
    assert_eq!(diagnostics, []);
    let source = lift::module::functions(&module.expect("a module"));
    let signature = |name: &str| {
        let (_, found) = source.iter().find(|(known, _)| known == name)?;
        found.as_ref().ok().map(Signature::of)
    };
    let target = lift::listing::functions("f.sass", text, None, &signature);
    let target = target.unwrap_or_else(|all| panic!("{}", all[0]));
    let pairs = paired(source.clone(), target);
    let pair = pairs.iter().find(|pair| pair.name == name).expect("it is a pair");
    judge_pair(pair)
}

/// Asserts the verdict of a function where the listing has a replacement.
fn expect(name: &str, replaced: (&str, &str), verdict: Verdict) {
    let all: [(&str, &[&str]); 3] = [("publish", PUBLISH), ("caller", CALLER), ("asks", ASKS)];
    let finding = judged(&listing(&all, replaced), name).finding;
    assert_eq!(finding.verdict, verdict, "{replaced:?}: {finding:?}");
}

#[test]
fn a_device_function_has_its_parameters_and_its_result_in_registers() {
    expect("publish", ("", ""), Verdict::Preserved);
    expect("publish", ("MEMBAR.ALL.GPU", "NOP"), Verdict::Weaker);
    for (old, new) in [
        ("IADD3 R4, R5, 0x1", "IADD3 R4, R5, 0x2"),
        ("IADD3 R4, R5, 0x1", "IADD3 R3, R5, 0x1"),
        ("[R10.64], R4", "[R10.64], R5"),
        ("[R6.64], R5", "[R6.64], R4"),
        ("[R6.64], R5", "[R6.64], R0"),
        ("RET.ABS.NODEC R20 0x0", "RET.ABS.NODEC R18 0x0"),
        ("IMAD.U32 R10, RZ, RZ, UR4", "IMAD.U32 R10, RZ, RZ, UR4 ;\n /*0028*/ MOV R17, R10"),
    ] {
        expect("publish", (old, new), Verdict::WrongValue);
    }
}

#[test]
fn calls_of_functions_of_the_listing_are_followed() {
    expect("caller", ("", ""), Verdict::Preserved);
    expect("caller", ("MEMBAR.ALL.GPU", "NOP"), Verdict::Weaker);
    for (old, new) in [
        ("MOV R4, 0x3", "MOV R4, 0x4"),
        ("IADD3 R4, R5, 0x1", "IADD3 R4, R5, 0x2"),
        ("MOV R20, 32@lo((caller + .L_x_1@srel))", "MOV R20, 0x10"),
        ("RET.ABS.NODEC R20 0x0", "RET.ABS.NODEC R18 0x0"),
    ] {
        expect("caller", (old, new), Verdict::WrongValue);
    }
}

/// A call of a function that the source only declares is a boundary (reading R107), also where linked code has its body.
#[test]
fn calls_of_other_functions_are_compared() {
    expect("asks", ("", ""), Verdict::Preserved);
    for (old, new) in [
        ("MOV R6, 0x5", "MOV R6, 0x6"),
        ("LDC.64 R4, c[0x0][0x218]", "LDC.64 R4, c[0x0][0x210]"),
        ("[R2.64+0x4], R4", "[R2.64+0x4], R6"),
        ("CALL.ABS.NOINC `(outside)", "NOP"),
        ("MOV R20, 32@lo((asks + .L_x_0@srel))", "NOP"),
        ("MOV R21, 32@hi((asks + .L_x_0@srel))", "MOV R21, 0x1"),
    ] {
        expect("asks", (old, new), Verdict::WrongValue);
    }
    let linked: [(&str, &[&str]); 2] = [("asks", ASKS), ("outside", OUTSIDE)];
    let verdict = |text: &str| judged(text, "asks").finding.verdict;
    assert_eq!(verdict(&listing(&linked, ("", ""))), Verdict::Preserved);
    // The callee may read what was stored before the call.
    let mut late = ASKS.to_vec();
    let store = late.remove(6);
    late.insert(11, store);
    // It may also use the register of the value, unlike R22.
    assert_eq!(verdict(&listing(&[("asks", &late)], ("R7", "R22"))), Verdict::Weaker);
    assert_eq!(verdict(&listing(&[("asks", &late)], ("", ""))), Verdict::WrongValue);
}

#[test]
fn parameters_on_the_stack_are_refused() {
    let many: Vec<String> = (0..7).map(|index| format!(".param .b64 p{index}")).collect();
    let source = SOURCE
        .replace(".param .b32 n, .param", &format!(".param .b32 n, {}, .param", many.join(", ")));
    let (module, _) = ::ptx::read("m.ptx", source.as_bytes());
    let source = lift::module::functions(&module.expect("a module"));
    let signature = |name: &str| {
        source.iter().find(|(known, _)| known == name)?.1.as_ref().ok().map(Signature::of)
    };
    let text = listing(&[("publish", PUBLISH)], ("", ""));
    let target = lift::listing::functions("f.sass", &text, None, &signature).expect("a listing");
    let refused = target[0].1.as_ref().expect_err("it has too many parameters");
    assert_eq!(refused.first().why, "a device function with parameters on the stack");
}

/// A device function with this body in PTX, and its listing; declarations of the module stand before it.
fn device(declared: &str, parameters: &str, ptx: &str, sass: &[&str]) -> Verdict {
    let source = format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n{declared}\
         .visible .func (.param .b32 k0) k({parameters})\n{{\n\
         .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<5>;\n{ptx}\nst.param.b32 [k0], %r1;\nret;\n}}\n"
    );
    let (module, diagnostics) = ::ptx::read("m.ptx", source.as_bytes());
    assert_eq!(diagnostics, [], "{source}");
    let source = lift::module::functions(&module.expect("a module"));
    let signature = |name: &str| {
        source.iter().find(|(known, _)| known == name)?.1.as_ref().ok().map(Signature::of)
    };
    let text = listing(&[("k", sass), ("callee", OUTSIDE)], ("", ""));
    let target = lift::listing::functions("f.sass", &text, None, &signature).expect("a listing");
    let pairs = paired(source.clone(), target);
    let pair = pairs.iter().find(|pair| pair.name == "k").expect("it is a pair");
    judge_pair(pair).finding.verdict
}

/// Bytes of an argument to which nothing is stored have no value.
#[test]
fn padding_of_arguments_is_not_compared() {
    let declared = ".extern .func outside(.param .align 8 .b8 p[8]);\n";
    let calls = "{ .param .align 8 .b8 q[8]; ld.param.u32 %r2, [a]; st.param.b32 [q], %r2;\n\
                 call.uni outside, (q);\n}\nmov.u32 %r1, 3;";
    let code = |register: &'static str| {
        [
            register,
            "MOV R24, R20",
            "MOV R25, R21",
            "MOV R20, 32@lo((k + .L_x_7@srel))",
            "MOV R21, 32@hi((k + .L_x_7@srel))",
            "CALL.ABS.NOINC `(outside)",
            ".L_x_7:",
            "MOV R4, 0x3",
            "RET.ABS.NODEC R24 0x0",
        ]
    };
    let verdict = |sass: &[&str]| device(declared, ".param .b32 a", calls, sass);
    assert_eq!(verdict(&code("NOP")), Verdict::Preserved);
    assert_eq!(verdict(&code("MOV R5, 0x7")), Verdict::Preserved);
    assert_eq!(verdict(&code("IADD3 R4, R4, 0x1, RZ")), Verdict::WrongValue);
}

/// A caller may leave anything in the bits of a register above a parameter of 8 or 16 bits.
#[test]
fn registers_of_short_parameters_have_other_bits() {
    let body = "ld.param.u16 %r1, [a]; add.u32 %r1, %r1, 1;";
    let verdict = |extends: &'static str| {
        let code = [extends, "IADD3 R4, R4, 0x1, RZ", "RET.ABS.NODEC R20 0x0"];
        device("", ".param .b16 a", body, &code)
    };
    assert_eq!(verdict("LOP3.LUT R4, R4, 0xffff, RZ, 0xc0, !PT"), Verdict::Preserved);
    assert_eq!(verdict("NOP"), Verdict::WrongValue);
}

/// The thread ends with a call of a function that does not return.
#[test]
fn nothing_is_behind_a_call_that_does_not_return() {
    let calls = "call.uni stops, ();\nmov.u32 %r1, 3;";
    let code = [
        "MOV R24, R20",
        "MOV R20, 32@lo((k + .L_x_7@srel))",
        "MOV R21, 32@hi((k + .L_x_7@srel))",
        "CALL.ABS.NOINC `(stops)",
        ".L_x_7:",
        "BRA `(.L_x_7)",
        ".L_x_8:",
        "BRA `(.L_x_8)",
    ];
    let verdict =
        |attribute| device(&format!(".extern .func stops(){attribute};\n"), "", calls, &code);
    assert_eq!(verdict(" .noreturn"), Verdict::Preserved);
    assert_eq!(verdict(""), Verdict::WrongValue);
}

#[test]
fn an_alias_is_another_name_of_a_function() {
    let declared = ".func (.param .b32 q0) callee()\n{\nst.param.b32 [q0], 9;\nret;\n}\n\
                    .visible .func (.param .b32 q0) other();\n.alias other, callee;\n";
    let calls = "{ .param .b32 q;\ncall.uni (q), other, ();\nld.param.b32 %r1, [q];\n}";
    let code = [
        "MOV R24, R20",
        "MOV R20, 32@lo((k + .L_x_7@srel))",
        "CALL.ABS.NOINC `(callee)",
        ".L_x_7:",
        "NOP",
        "RET.ABS.NODEC R24 0x0",
    ];
    assert_eq!(device(declared, "", calls, &code), Verdict::Preserved);
    let mut wrong = code;
    wrong[4] = "IADD3 R4, R4, 0x1, RZ";
    assert_eq!(device(declared, "", calls, &wrong), Verdict::WrongValue);
}

/// Of a barrier with a register for both, the count is above the id.
#[test]
fn a_barrier_has_its_id_and_its_count_in_one_register() {
    let waits = "ld.param.u32 %r2, [a]; barrier.sync %r2, 64; mov.u32 %r1, 3;";
    let code = |shift: &'static str| {
        [
            "MOV R5, 0x40",
            shift,
            "LOP3.LUT R5, R5, 0xf, R4, 0xf8, !PT",
            "BAR.SYNC.DEFER_BLOCKING R5, R5",
            "MOV R4, 0x3",
            "RET.ABS.NODEC R20 0x0",
        ]
    };
    let verdict = |shift| device("", ".param .b32 a", waits, &code(shift));
    assert_eq!(verdict("SHF.L.U32 R5, R5, 0x10, RZ"), Verdict::Preserved);
    // Its count would be 0, which is undefined.
    assert_eq!(verdict("NOP"), Verdict::WrongValue);
}

/// A loop without an end before the padding is one of the function, and `%tid.w` is 0.
#[test]
fn the_end_of_a_listing_is_not_the_end_of_its_function() {
    let fourth = "mov.u32 %r1, %tid.w;";
    assert_eq!(
        device("", "", fourth, &["MOV R4, RZ", "RET.ABS.NODEC R20 0x0"]),
        Verdict::Preserved
    );
    let padded = |ends: &'static [&'static str]| device("", "", fourth, ends);
    let padding = &["MOV R4, RZ", "RET.ABS.NODEC R20 0x0", ".L_x_8:", "BRA `(.L_x_8)", "NOP"];
    assert_eq!(padded(padding), Verdict::Preserved);
    let endless = &["MOV R4, RZ", ".L_x_7:", "BRA `(.L_x_7)", ".L_x_8:", "BRA `(.L_x_8)", "NOP"];
    assert_eq!(padded(endless), Verdict::WrongValue);
}

/// The accesses of a device function say what its pointers lead to.
#[test]
fn pointers_lead_to_the_state_space_of_their_accesses() {
    for (space, load) in [("shared", "LDS R4, [R4+0x4]"), ("const", "LDC R4, c[0x3][R4+0x4]")] {
        let reads = format!("ld.param.u64 %rd1, [a]; ld.{space}.u32 %r1, [%rd1+4];");
        let verdict = |load| device("", ".param .b64 a", &reads, &[load, "RET.ABS.NODEC R20 0x0"]);
        if space == "const" {
            // The bank of an address is not known.
            assert_eq!(verdict(load), Verdict::Unsupported);
            continue;
        }
        assert_eq!(verdict(load), Verdict::Preserved, "{space}");
        assert_eq!(verdict("LDS R4, [R4+0x8]"), Verdict::WrongValue);
    }
}
