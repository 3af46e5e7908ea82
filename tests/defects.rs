//! Defects of compilers in whole functions: those of `docs/findings.md`, and planted ones that inputs would hide.

use refine::verdict::Verdict;

use crate::functions::{kernel, of_listing, said};

/// A kernel, code that a compiler made of it, what is said of that code, and the changes with which it is right.
struct Defect {
    sm: &'static str,
    body: &'static str,
    listing: &'static [&'static str],
    mended: &'static [[&'static str; 2]],
    why: &'static str,
}

const DEFECTS: [Defect; 8] = [
    Defect {
        sm: "100",
        body: "st.weak.global.b32 [d1], 1;\nmov.b32 r1, 1;\n\
        st.release.gpu.global.v8.b32 [d1+32], {r1, r1, r1, r1, r1, r1, r1, r1};",
        listing: &[
            "LDC.64 R2, c[0x0][0x380]",
            "LDCU.64 UR4, c[0x0][0x358]",
            "MOV R8, 0x1",
            "MOV R9, R8",
            "MOV R10, R8",
            "MOV R11, R8",
            "STG.E desc[UR4][R2.64], R8",
            "MOV R12, R8",
            "STG.E.ENL2.256.STRONG.GPU desc[UR4][R2.64+0x20], R8, R8",
            "EXIT",
        ],
        mended: &[["MOV R12, R8", "MEMBAR.ALL.GPU"]],
        why: "lacks a `MEMBAR` before it",
    },
    Defect {
        sm: "90",
        body: ".shared .align 8 .u64 count; .shared .align 4 .u32 data;\nmov.b64 d2, 1;\n\
        st.relaxed.cta.shared.u32 [data], 1;\nred.release.cta.shared.add.u64 [count], d2;",
        listing: &[
            "MOV R3, 0x1",
            "STS [0x408], R3",
            "MOV R12, 0x400",
            ".L_x_0:",
            "LDS.64 R4, [0x400]",
            "MOV R11, 0x400",
            "IADD3 R6, P0, R4, 0x1, RZ",
            "IADD3.X R7, R5, RZ, RZ, P0, !PT",
            "ATOMS.CAST.SPIN.64 R6, [R11], R4, R6",
            "ISETP.EQ.U32.AND P0, PT, R6, 0x1, PT",
            "ISETP.EQ.U32.AND.EX P0, PT, R7, RZ, PT, P0",
            "@!P0 BRA `(.L_x_0)",
            "EXIT",
        ],
        mended: &[["MOV R12, 0x400", "MEMBAR.ALL.CTA"]],
        why: "`ATOMS.CAST.SPIN.64 R6, [R11], R4, R6` lacks a `MEMBAR` before it",
    },
    Defect {
        sm: "90",
        body: "ld.relaxed.gpu.global.L1::evict_first.b32 r1, [d1];\n\
        ld.relaxed.gpu.global.L1::evict_first.b32 r2, [d1];\nst.global.v2.b32 [d1+8], {r1, r2};",
        listing: &[
            "LDC.64 R2, c[0x0][0x210]",
            "ULDC.64 UR4, c[0x0][0x208]",
            "LDG.E.EF R4, desc[UR4][R2.64]",
            "LDG.E.EF R5, desc[UR4][R2.64]",
            "STG.E.64 desc[UR4][R2.64+0x8], R4",
            "EXIT",
        ],
        mended: &[
            ["LDG.E.EF R4", "LDG.E.EF.STRONG.GPU R4"],
            ["LDG.E.EF R5", "LDG.E.EF.STRONG.GPU R5"],
        ],
        why: "lacks `.STRONG` and `.GPU`",
    },
    Defect {
        sm: "90",
        body: "ld.volatile.global.b32 r1, [d1];\nld.volatile.global.b32 r1, [d1];",
        listing: &[
            "LDC.64 R2, c[0x0][0x210]",
            "ULDC.64 UR4, c[0x0][0x208]",
            "LDG.E.STRONG.SYS R4, desc[UR4][R2.64]",
            "MOV R2, R4",
            "EXIT",
        ],
        mended: &[["MOV R2, R4", "LDG.E.STRONG.SYS R4, desc[UR4][R2.64]"]],
        why: "progress: volatile accesses differ",
    },
    Defect {
        sm: "90",
        body: "ld.volatile.global.b64 d2, [d1];\ncvt.u32.u64 r1, d2;\nst.global.b32 [d1+8], r1;",
        listing: &[
            "LDC.64 R2, c[0x0][0x210]",
            "ULDC.64 UR4, c[0x0][0x208]",
            "LDG.E.STRONG.SYS R4, desc[UR4][R2.64]",
            "STG.E desc[UR4][R2.64+0x8], R4",
            "EXIT",
        ],
        mended: &[["LDG.E.STRONG", "LDG.E.64.STRONG"]],
        why: "progress: volatile accesses differ",
    },
    // Reading R108: what an instruction waits for.
    Defect {
        sm: "90",
        body: "atom.gpu.global.add.u32 r1, [d1+32], 1;\nfence.acquire.gpu;\nld.weak.global.u32 r2, [d1];\n\
        st.global.b32 [d1+8], r2;",
        listing: &[
            "LDC.64 R2, c[0x0][0x210] &wr=0x1",
            "ULDC.64 UR4, c[0x0][0x208]",
            "MOV R9, 0x1",
            "ATOMG.E.ADD.STRONG.GPU PT, RZ, desc[UR4][R2.64+0x20], R9 &req={1}",
            "CCTL.IVALL &req={0,1,2,3,4,5}",
            "LDG.E R7, desc[UR4][R2.64] &wr=0x2",
            "STG.E desc[UR4][R2.64+0x8], R7 &req={2}",
            "EXIT",
        ],
        mended: &[[
            "ATOMG.E.ADD.STRONG.GPU PT, RZ, desc[UR4][R2.64+0x20], R9",
            "ATOMG.E.ADD.STRONG.GPU PT, RZ, desc[UR4][R2.64+0x20], R9 &wr=0x0",
        ]],
        why: "",
    },
    Defect {
        sm: "90",
        body: "ld.relaxed.gpu.global.u32 r2, [d1+64];\nst.weak.global.b32 [d1+68], r2;\n\
        atom.gpu.global.exch.b32 r1, [d1+32], 1;\nfence.acquire.gpu;\nld.weak.global.u32 r2, [d1];\n\
        st.weak.global.b32 [d1+8], r2;",
        listing: &[
            "LDC.64 R2, c[0x0][0x210] &wr=0x1",
            "ULDC.64 UR4, c[0x0][0x208]",
            "LDG.E.STRONG.GPU R6, desc[UR4][R2.64+0x40] &req={1} &wr=0x2",
            "MOV R9, 0x1",
            "STG.E desc[UR4][R2.64+0x44], R6 &req={2}",
            "ATOMG.E.EXCH.STRONG.GPU PT, RZ, desc[UR4][R2.64+0x20], R9",
            "CCTL.IVALL &req={0,1,2,3,4,5}",
            "LDG.E R7, desc[UR4][R2.64] &wr=0x2",
            "STG.E desc[UR4][R2.64+0x8], R7 &req={2}",
            "EXIT",
        ],
        mended: &[[
            "ATOMG.E.EXCH.STRONG.GPU PT, RZ, desc[UR4][R2.64+0x20], R9",
            "ATOMG.E.EXCH.STRONG.GPU PT, RZ, desc[UR4][R2.64+0x20], R9 &wr=0x0",
        ]],
        why: "",
    },
    Defect {
        sm: "90",
        body: "ld.mmio.acquire.sys.global.u32 r1, [d1+32];\nld.weak.global.u32 r2, [d1];\n\
        st.global.v2.b32 [d1+8], {r1, r2};",
        listing: &[
            "LDC.64 R2, c[0x0][0x210] &wr=0x1",
            "ULDC.64 UR4, c[0x0][0x208]",
            "LDG.E.MMIO.SYS R4, desc[UR4][R2.64+0x20] &req={1} &wr=0x2 &rd=0x1",
            "CCTL.IVALL &req={1}",
            "LDG.E R5, desc[UR4][R2.64] &wr=0x3",
            "STG.E.64 desc[UR4][R2.64+0x8], R4 &req={2,3}",
            "EXIT",
        ],
        mended: &[["CCTL.IVALL &req={1}", "CCTL.IVALL &req={2}"]],
        why: "",
    },
];

/// Code of ptxas 12.9 to 13.5, as `docs/findings.md` has it, and a part with which it is right.
#[test]
fn defects_of_ptxas_are_found_in_whole_functions() {
    for Defect { sm, body, listing, mended, why } in DEFECTS {
        let source = format!(
            ".version 9.3\n.target sm_{sm}\n.address_size 64\n.visible .entry f(.param .u64 p)\n{{\n\
             .reg .b32 r<3>; .reg .b64 d<3>;\nld.param.u64 d1, [p];\n{body}\nret;\n}}\n"
        );
        let said = of_listing(&source, listing).finding;
        assert_eq!(said.verdict, Verdict::Weaker, "{body}: {said:?}");
        assert!(said.why.contains(why), "{body}: {}", said.why);
        let mut right: Vec<String> = listing.iter().map(ToString::to_string).collect();
        for [old, new] in mended {
            let one = right.iter_mut().find(|one| one.starts_with(old)).expect("it is there");
            *one = one.replace(old, new);
        }
        let right: Vec<&str> = right.iter().map(String::as_str).collect();
        let said = of_listing(&source, &right).finding;
        assert_eq!(said.verdict, Verdict::Preserved, "{body}: {said:?}");
    }
}

/// Values that the first inputs would hide: floats of 16 bits, what other lanes and other threads have beside floats,
/// accesses far after the first ones, and floats of either sign.
#[test]
fn every_value_counts() {
    let module = |body: &str| {
        format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n\
             .visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n)\n{{\n\
             .reg .pred p, q; .reg .b16 h<4>; .reg .b32 r<5>, n; .reg .f32 f<6>; .reg .b64 x, y;\n\
             .shared .align 4 .b32 s[64];\n\
             ld.param.u64 x, [x];\nld.param.u64 y, [y];\nld.param.u32 n, [n];\n{body}\nret;\n}}\n"
        )
    };
    for (body, old, new) in [
        (
            "ld.global.b16 h1, [x]; ld.global.b16 h2, [x+2]; cvt.f32.bf16 f1, h1; cvt.f32.bf16 f2, h2;\n\
             mul.f32 f3, f1, f1; cvt.rn.bf16.f32 h3, f3; st.global.b16 [y], h3;",
            "f1, f1",
            "f1, f2",
        ),
        (
            "ld.global.b32 r1, [x]; mov.b32 f1, r1; shfl.sync.up.b32 r2, r1, 1, 0, -1; mov.b32 f2, r2;\n\
             add.f32 f3, f1, f2; st.global.f32 [y], f3;",
            "f3, f1, f2",
            "f3, f1, 0f00000000",
        ),
        (
            "setp.lt.s32 p, 6, n; @p ld.global.b32 r1, [x+24]; setp.lt.s32 q, 7, n;\n\
             @q ld.global.b32 r2, [x+28]; @p st.global.b32 [y+24], r1; @q st.global.b32 [y+28], r2;",
            "@q st.global.b32 [y+28], r2",
            "@q st.global.b32 [y+28], r1",
        ),
        (
            "ld.global.b32 r1, [x+1024]; setp.lt.s32 p, 513, n;\n\
             @p ld.global.b32 r2, [x+2048]; @p st.global.b32 [y+2052], r2;",
            "@p st.global.b32 [y+2052], r2",
            "@p st.global.b32 [y+2052], r1",
        ),
        (
            "ld.global.f32 f1, [x]; abs.f32 f2, f1; setp.lt.f32 p, f2, 0f3F8060FE; @p bra E;\n\
             ex2.approx.f32 f3, f2; sub.f32 f4, 0f3F800000, f3; mov.b32 r1, f1;\n\
             and.b32 r1, r1, -2147483648; mov.b32 r2, f4; or.b32 r1, r1, r2; st.global.b32 [y], r1;\nE:",
            "0f3F800000, f3",
            "f3, 0f3F800000",
        ),
        (
            "bar.sync 0; ld.shared.b32 r1, [s+4]; ld.shared.b32 r2, [s+8];\n\
             st.global.b32 [y], r1; st.global.b32 [y+4], r2;",
            "[y], r1",
            "[y], r2",
        ),
    ] {
        let source = module(body);
        let right = said(&source, &source).finding;
        assert_eq!(right.verdict, Verdict::Preserved, "{body}: {right:?}");
        assert!(body.contains(old), "{old}");
        let wrong = said(&source, &module(&body.replacen(old, new, 1))).finding;
        assert_eq!(wrong.verdict, Verdict::WrongValue, "{old} => {new}: {wrong:?}");
    }
}

/// A value that is rounded otherwise is not an order: in a race, it may come from another thread. What the result is
/// computed from is still compared.
#[test]
fn a_race_may_carry_a_rounded_value() {
    let quotient = |load: &str, first: &str| {
        let divided = match first {
            "" => "div.rn.f32 %f3, %f2, %f1;".to_owned(),
            first => format!("rcp.rn.f32 %f4, %f1; mul.rn.f32 %f3, {first}, %f4;"),
        };
        format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n\
             .visible .entry k(.param .u64 x, .param .u64 y)\n{{\n\
             .reg .b32 %r; .reg .f32 %f<5>; .reg .b64 %x, %y;\n\
             ld.param.u64 %x, [x];\nld.param.u64 %y, [y];\n{load}.gpu.b32 %r, [%y+4];\n\
             ld.global.f32 %f1, [%x];\nld.global.f32 %f2, [%x+4];\n{divided}\n\
             st.global.f32 [%y], %f3;\nst.global.b32 [%y+8], %r;\nret;\n}}\n"
        )
    };
    let source = quotient("ld.acquire", "");
    let kept = said(&source, &quotient("ld.acquire", "%f2")).finding;
    assert_eq!(kept.verdict, Verdict::Preserved, "{}", kept.why);
    assert!(kept.notes.iter().any(|note| note.contains("are not compared")), "{:?}", kept.notes);
    let other = said(&source, &quotient("ld.acquire", "%f1")).finding;
    assert_eq!(other.verdict, Verdict::WrongValue, "{}", other.why);
    let relaxed = said(&source, &quotient("ld.relaxed", "%f2")).finding;
    assert_eq!(relaxed.verdict, Verdict::Weaker, "{}", relaxed.why);
}

/// The iterations of a loop with a barrier are cut, and what the contexts with it need is needed.
#[test]
fn a_loop_that_is_cut_gives_no_advice() {
    let waits = |load: &str| {
        kernel(&format!(
            "L: bar.sync 0; {load}.gpu.u32 %r1, [%y]; setp.eq.u32 %p, %r1, 0; @%p bra L; \
             ld.global.u32 %r2, [%x]; st.global.u32 [%y+4], %r2"
        ))
    };
    let kept = said(&waits("ld.acquire"), &waits("ld.acquire")).finding;
    assert_eq!((kept.verdict, kept.sufficient), (Verdict::Preserved, None), "{}", kept.why);
    let relaxed = said(&waits("ld.acquire"), &waits("ld.relaxed")).finding;
    assert_eq!(relaxed.verdict, Verdict::Weaker, "{}", relaxed.why);
}

/// A dead store shows only where the source races. No order that is added elsewhere, and that the source does not have
/// either, is its remedy.
#[test]
fn a_store_too_many_is_named() {
    let module = |more: &str| {
        format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q)\n{{\n\
             .reg .b64 %rd<3>; .reg .b32 %r<3>;\nld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];\n\
             ld.global.u32 %r1, [%rd1]; add.u32 %r2, %r1, 5;\n{more}st.global.u32 [%rd1+4], %r2;\n\
             fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd2], 1;\nret;\n}}\n"
        )
    };
    let finding = said(&module(""), &module("st.global.u32 [%rd1+4], %r1;\n")).finding;
    assert!(finding.verdict == Verdict::Weaker && finding.racy, "{finding:?}");
    let named = "line 9: `st.global.u32 [rd1+4], r1` is one store too many";
    assert!(finding.why.contains(named), "{}", finding.why);
}
