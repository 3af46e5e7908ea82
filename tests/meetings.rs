//! Contexts whose partners meet a function at its barriers, where its paths have different barriers, and those that
//! hand partial results to the last block.

use refine::verdict::Verdict;

use crate::functions::said;

/// The last block goes on where the others end, and the value with which it does so comes through shared memory. Each
/// barrier that is left out on its way lets a partner see too little.
#[test]
fn a_barrier_behind_an_early_end_is_needed() {
    let text = ".version 8.7\n.target sm_90\n.address_size 64\n\
        .visible .entry k(.param .u64 count, .param .u64 part, .param .u32 n)\n.reqntid 64\n{\n\
        .reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .pred %p<4>;\n.shared .align 4 .b8 s[8];\n\
        ld.param.u64 %rd1, [count]; ld.param.u64 %rd2, [part]; ld.param.u32 %r1, [n];\n\
        mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 0;\n\
        @%p1 st.global.u32 [%rd2], 7;\nbar.sync 0; // 1\n\
        @%p1 atom.global.gpu.acq_rel.add.u32 %r3, [%rd1], 1;\n@%p1 st.shared.u32 [s], %r3;\nbar.sync 0; // 2\n\
        ld.shared.u32 %r4, [s]; add.s32 %r5, %r1, -1; setp.ne.u32 %p2, %r4, %r5;\n@%p2 bra END;\nbar.sync 0; // 3\n\
        ld.global.u32 %r6, [%rd2]; @%p1 st.shared.u32 [s], %r6;\nbar.sync 0; // 4\nld.shared.u32 %r7, [s];\n\
        st.global.u32 [%rd2+4], %r7;\nEND:\nret;\n}\n";
    assert_eq!(said(text, text).finding.verdict, Verdict::Preserved);
    for number in 1..=4 {
        let barrier = format!("bar.sync 0; // {number}");
        assert!(text.contains(&barrier));
        let finding = said(text, &text.replace(&barrier, "")).finding;
        assert_eq!(finding.verdict, Verdict::Weaker, "{barrier}: {}", finding.why);
    }
}

/// The last block reads what the others wrote: what the counter returned, directly or through shared memory, decides
/// whether it does, and its acquire is what orders it. A block with the number 0 reads its own result.
#[test]
fn the_acquire_of_the_last_block_is_needed() {
    let text = |atomic: &str, handed: &str| {
        format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n\
             .visible .entry k(.param .u64 count, .param .u64 part, .param .u64 sum)\n{{\n\
             .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<4>;\n.shared .align 4 .b8 s[8];\n\
             ld.param.u64 %rd1, [count]; ld.param.u64 %rd2, [part]; ld.param.u64 %rd3, [sum];\n\
             mov.u32 %r1, %ctaid.x; mad.wide.u32 %rd4, %r1, 4, %rd2; add.u32 %r1, %r1, 1;\n\
             st.global.u32 [%rd4], %r1;\n{atomic}\n{handed}\nsetp.ne.u32 %p1, %r2, 1; @%p1 bra E;\n\
             ld.global.u32 %r3, [%rd2]; fence.acq_rel.gpu; st.global.u32 [%rd3], %r3;\nE:\nret;\n}}\n"
        )
    };
    let add = |order: &str| format!("atom.{order}.gpu.global.add.u32 %r2, [%rd1], 1;");
    let release = add("release");
    for handed in ["", "st.shared.u32 [s], %r2; bar.sync 0; ld.shared.u32 %r2, [s];"] {
        let source = text(&add("acq_rel"), handed);
        for (atomic, right) in [
            (add("acq_rel"), true),
            (format!("{release} fence.acq_rel.gpu;"), true),
            (release.clone(), false),
            (format!("{release} fence.acq_rel.cta;"), false),
        ] {
            let finding = said(&source, &text(&atomic, handed)).finding;
            let alarm = finding.verdict == Verdict::Weaker && !finding.racy;
            assert_eq!(alarm, !right, "{atomic} {handed}: {:?}: {}", finding.verdict, finding.why);
        }
    }
}
