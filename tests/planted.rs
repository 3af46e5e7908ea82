//! Mistakes in operands and waits, planted in kernels as compilers write them: further inputs show each of them.

use refine::verdict::Verdict;

use crate::functions::said;

/// What a kernel shows, its instructions, and replacements that are mistakes.
type Planted = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const KERNELS: &[Planted] = &[
    (
        "an index of the thread within a word, which only a thread other than the first has, in a negative word",
        "mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 1; setp.ge.s32 %p1, %r1, %n; @%p1 bra E;
         shr.s32 %r2, %r1, 3; mad.wide.s32 %x, %r2, 4, %x; ld.global.b32 %r3, [%x];
         and.b32 %r2, %r1, 1073741816; sub.s32 %r4, %r1, %r2; shl.b32 %r4, %r4, 2; shr.s32 %r3, %r3, %r4;
         and.b32 %r3, %r3, 15; cvt.s64.s32 %z, %r1; add.s64 %y, %y, %z; st.global.b8 [%y], %r3; E:",
        &[("sub.s32 %r4, %r1, %r2", "sub.s32 %r4, %r2, %r1")],
    ),
    (
        "elements at indices that memory has, beyond the memory of other accesses",
        "ld.global.b32 %r1, [%x]; ld.global.b32 %r2, [%x+4]; mad.wide.s32 %z, %r1, 4, %y; ld.global.b32 %r1, [%z];
         mad.wide.s32 %z, %r2, 4, %y; ld.global.b32 %r2, [%z]; st.global.b32 [%o], %r1; st.global.b32 [%o+4], %r2;",
        &[("[%o], %r1; st.global.b32 [%o+4], %r2", "[%o], %r2; st.global.b32 [%o+4], %r1")],
    ),
    (
        "the last CTA of eight, whose loop four CTAs do not repeat",
        "mov.u32 %r1, 1; atom.add.acq_rel.gpu.global.u32 %r2, [%x], %r1; add.s32 %r3, %r2, 1; mov.u32 %r4, %nctaid.x;
         setp.ne.s32 %p1, %r3, %r4; @%p1 bra E; setp.lt.u32 %p1, %r2, 3; @%p1 bra E; and.b32 %r4, %r3, 3;
         sub.s32 %r4, %r2, %r4; mov.u32 %r1, 0; mov.u32 %r3, 0;
         L: mul.wide.u32 %z, %r1, 4; add.s64 %z, %y, %z; ld.global.u32 %r2, [%z]; add.s32 %r3, %r3, %r2;
         add.s32 %r1, %r1, 4; add.s32 %r4, %r4, -4; setp.ne.s32 %p1, %r4, -1; @%p1 bra L; st.global.u32 [%o], %r3; E:",
        &[
            ("sub.s32 %r4, %r2, %r4", "sub.s32 %r4, %r4, %r2"),
            ("setp.ne.s32 %p1, %r4, -1", "setp.eq.s32 %p1, %r4, -1"),
        ],
    ),
    (
        "the first of the lanes with the largest value",
        "mov.u32 %r2, %tid.x; ld.global.b32 %r1, [%x]; shfl.sync.bfly.b32 %r3, %r1, 16, 31, -1;
         shfl.sync.bfly.b32 %r4, %r2, 16, 31, -1; setp.eq.b32 %p1, %r1, %r3; setp.lt.s32 %p2, %r2, %r4;
         and.pred %p2, %p1, %p2; setp.gt.s32 %p1, %r1, %r3; or.pred %p1, %p1, %p2; selp.b32 %r2, %r2, %r4, %p1;
         st.global.b32 [%y], %r2;",
        &[
            ("setp.lt.s32 %p2, %r2, %r4", "setp.lt.s32 %p2, %r4, %r2"),
            ("setp.eq.b32 %p1, %r1, %r3", "setp.ne.b32 %p1, %r1, %r3"),
            ("setp.gt.s32 %p1, %r1, %r3", "setp.gt.s32 %p1, %r3, %r1"),
        ],
    ),
    (
        "CTAs of a grid that meet at a place to which special registers lead",
        "mov.u32 %r1, %envreg2; cvt.u64.u32 %z, %r1; mov.u32 %r1, %envreg1; cvt.u64.u32 %o, %r1;
         bfi.b64 %z, %o, %z, 32, 32; setp.eq.s64 %p1, %z, 0; @%p1 trap; mov.u32 %r1, %nctaid.x; mov.u32 %r2, %ctaid.x;
         setp.eq.s32 %p1, %r2, 0; mov.u32 %r3, -2147483647; sub.s32 %r3, %r3, %r1; selp.b32 %r3, %r3, 1, %p1;
         st.global.u32 [%x], 1; atom.add.release.gpu.u32 %r4, [%z+4], %r3;
         L: ld.acquire.gpu.u32 %r1, [%z+4]; xor.b32 %r1, %r1, %r4; setp.gt.s32 %p1, %r1, -1; @%p1 bra L;
         ld.global.u32 %r1, [%x]; st.global.u32 [%y], %r1;",
        &[
            ("sub.s32 %r3, %r3, %r1", "sub.s32 %r3, %r1, %r3"),
            ("setp.eq.s32 %p1, %r2, 0", "setp.ne.s32 %p1, %r2, 0"),
            ("setp.gt.s32 %p1, %r1, -1", "setp.gt.s32 %p1, -1, %r1"),
            ("@%p1 bra L;", ""),
            ("ld.acquire.gpu.u32 %r1, [%z+4]", "ld.relaxed.gpu.u32 %r1, [%z+4]"),
            ("atom.add.release", "atom.add.relaxed"),
        ],
    ),
];

fn module(body: &str) -> String {
    format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 x, .param .u64 y, .param .u64 o, .param .u32 n)\n{{\n\
         .reg .pred %p1, %p2; .reg .b32 %r<5>, %n; .reg .b64 %x, %y, %z, %o;\n\
         ld.param.u64 %x, [x];\nld.param.u64 %y, [y];\nld.param.u64 %o, [o];\nld.param.u32 %n, [n];\n\
         {body}\nret;\n}}\n"
    )
}

#[test]
fn further_inputs_show_planted_mistakes() {
    let mut wrong = Vec::new();
    for (what, body, replacements) in KERNELS {
        let right = said(&module(body), &module(body)).finding;
        if !matches!(right.verdict, Verdict::Preserved | Verdict::Stronger) {
            wrong.push(format!("{what}: {}: {}", right.verdict.name(), right.why));
        }
        for (old, new) in *replacements {
            assert_eq!(body.matches(old).count(), 1, "{old} in {body}");
            let found = said(&module(body), &module(&body.replace(old, new))).finding;
            if !matches!(found.verdict, Verdict::WrongValue | Verdict::Weaker) || found.racy {
                wrong.push(format!(
                    "{what}: {old} => {new}: {}: {}",
                    found.verdict.name(),
                    found.why
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
