//! Registers, addresses and numbers of operands, and instructions of barriers, caches and address conversions: what
//! ptxas 13.5 takes, beside what it refuses.

use text::diagnostic::Severity;

/// The codes of what is said of an instruction for PTX ISA 9.4, without the warnings.
fn errors(target: &str, instruction: &str) -> Vec<&'static str> {
    let text = format!(
        ".version 9.4\n.target {target}\n.address_size 64\n.global .align 64 .b8 g[256]; .const .b8 c[64];\n\
         .visible .entry k(.param .u64 p0)\n{{\n\
         .reg .b16 h<9>; .reg .b32 r<9>; .reg .u32 u<9>; .reg .f32 f<9>; .reg .f16x2 x<9>; .reg .b64 d<9>;\n\
         .reg .b128 q<9>; .reg .pred p<9>; .reg .b8 b<9>; .shared .align 64 .b8 s[256]; .local .b8 l[64];\n\
         {instruction};\nret;\n}}\n"
    );
    let linted = ptx::lint("m.ptx", text.as_bytes(), ptx::LintOptions::default());
    let errors = linted.diagnostics.iter().filter(|one| one.severity == Severity::Error);
    errors.map(|one| one.code).collect()
}

fn legal(target: &str, instructions: &[&str]) {
    for instruction in instructions {
        assert_eq!(errors(target, instruction), [] as [&str; 0], "{target} {instruction}");
    }
}

fn refused(target: &str, code: &str, instructions: &[&str]) {
    for instruction in instructions {
        assert_eq!(errors(target, instruction), [code], "{target} {instruction}");
    }
}

#[test]
fn pairs_are_in_registers_of_pairs_or_of_bits() {
    legal(
        "sm_90",
        &[
            "multimem.ld_reduce.global.add.f16x2 x1, [d1]",
            "multimem.red.global.add.v2.f16x2 [d1], {x1, x2}",
            "multimem.st.global.v4.f16x2 [d1], {x1, r2, r3, r4}",
            "multimem.st.global.u32 [d1], x1",
        ],
    );
    refused(
        "sm_90",
        "production-operand",
        &[
            "multimem.ld_reduce.global.add.f16x2 u1, [d1]",
            "multimem.st.global.bf16x2 [d1], x1",
            "multimem.st.global.v2.f16x2 [d1], {f1, f2}",
            "multimem.st.global.f32 [d1], x1",
            "multimem.st.global.v2.f32 [d1], {f1, u2}",
            "multimem.red.global.add.f16x2 [d1], 5",
        ],
    );
    let of = |types: &str, result: &str, rows: &str, rest: &str| {
        format!("wgmma.mma_async.sync.aligned.{types} {{{result}}}, {{{rows}}}, d1, p1{rest}")
    };
    let (halves, words) = ("m64n8k16.f16.f16.f16", "m64n8k32.s32.s8.s8");
    legal(
        "sm_90a",
        &[
            &of(halves, "x1, x2", "x1, x2, x3, x4", ", 1, 1, 0"),
            &of(halves, "r1, f2", "r1, x2, u3, f4", ", 1, 1, 0").replace("u3, f4", "r3, r4"),
            &of(words, "u1, u2, u3, u4", "f1, f2, f3, f4", ""),
        ],
    );
    for instruction in [
        of(halves, "f1, f2", "x1, x2, x3, x4", ", 1, 1, 0"),
        of(halves, "x1, x2", "f1, f2, f3, f4", ", 1, 1, 0"),
        of(words, "x1, x2, x3, x4", "f1, f2, f3, f4", ""),
    ] {
        assert_ne!(errors("sm_90a", &instruction), [] as [&str; 0], "{instruction}");
    }
}

#[test]
fn numbers_of_floating_point_are_bits_of_their_size() {
    legal(
        "sm_90",
        &[
            "shfl.sync.idx.b32 r1, 0f3F800000, 1, 0x1f, -1",
            "match.any.sync.b64 r1, 0d3FF0000000000000, -1",
            "multimem.st.global.b32 [d1], 0f3F800000",
        ],
    );
    refused(
        "sm_90",
        "production-operand",
        &[
            "shfl.sync.idx.b32 r1, 1.0, 1, 0x1f, -1",
            "match.any.sync.b64 r1, 0f3F800000, -1",
            "multimem.st.global.u32 [d1], 0f3F800000",
        ],
    );
}

#[test]
fn addresses_are_in_registers_of_some_sizes() {
    legal(
        "sm_100a",
        &[
            "cp.async.mbarrier.arrive.b64 [r1]",
            "mbarrier.init.shared.b64 [h1], 1",
            "mbarrier.init.b64 [h1], 1",
            "tcgen05.shift.cta_group::1.down [x1]",
            "tensormap.replace.tile.rank.global.b1024.b32 [r1], 1",
            "ld.global.u32 r1, [h1]",
            "st.shared.u32 [b1], r1",
        ],
    );
    refused(
        "sm_100a",
        "production-operand",
        &[
            "mbarrier.init.b64 [q1], 1",
            "mbarrier.init.b64 [r1], 1",
            "mbarrier.init.b64 [_], 1",
            "cp.async.mbarrier.arrive.b64 [h1]",
            "tcgen05.shift.cta_group::1.down [f1]",
            "tensormap.replace.tile.rank.global.b1024.b32 [h1], 1",
            "multimem.red.global.add.u32 [r1], r2",
            "st.bulk [d1], s, 0",
            "tcgen05.st.sync.aligned.32x32b.x1.b32 [r1], {%tid.x}",
            "tcgen05.mma.cta_group::1.kind::f16 [u1], d1, d2, r5, p1",
        ],
    );
    refused("sm_100a", "address-register", &["ld.global.u32 r1, [r2]", "ld.global.u32 r1, [q2]"]);
}

#[test]
fn barriers_of_a_cta_have_numbers_and_threads() {
    legal(
        "sm_90",
        &[
            "bar.sync 15",
            "bar.cta.sync r1, 64",
            "barrier.cta.arrive.aligned 0, r2",
            "bar.red.popc.u32 r1, 0, 32, !p1",
            "barrier.red.or.pred p2, 1, p1",
            "bar.warp.sync 0xffffffff",
        ],
    );
    refused("sm_90", "production-value", &["bar.sync 16", "bar.sync 0, 33", "bar.arrive 0, 0"]);
    refused(
        "sm_90",
        "production-operands",
        &["bar.arrive 0", "bar.sync 0, 32, 1", "bar.warp.sync"],
    );
    refused("sm_90", "production-operand", &["bar.sync d1", "bar.red.and.pred p1, 0, r1"]);
    refused("sm_90", "production-modifier", &["bar.sync.aligned 0"]);
    refused("sm_75", "production-target", &["barrier.cluster.arrive"]);
}

#[test]
fn caches_are_told_of_addresses_in_global_memory() {
    legal(
        "sm_90",
        &[
            "prefetch.global.L2 [g+4]",
            "prefetch.local.L1 [l]",
            "prefetch.global.L2::evict_last [d1]",
            "prefetch.param.tensormap [p0]",
            "prefetchu.L1 [d1]",
            "applypriority.global.L2::evict_normal [d1], 128",
            "discard.L2 [d1], 128",
            "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 d1, 0.5",
            "createpolicy.range.global.L2::evict_first.L2::evict_unchanged.b64 d1, [g], r1, 128",
            "createpolicy.cvt.L2.b64 d1, d2",
        ],
    );
    refused(
        "sm_90",
        "production-operand",
        &[
            "prefetch.global.L2 [r1]",
            "prefetch.L1 [s]",
            "prefetch.const.tensormap [g]",
            "createpolicy.fractional.L2::evict_last.b64 d1, 1.5",
        ],
    );
    refused("sm_90", "production-value", &["discard.global.L2 [d1], 64"]);
    refused("sm_90", "production-missing", &["prefetch.global [d1]"]);
    refused(
        "sm_90",
        "production-modifier",
        &[
            "prefetch.shared.L1 [d1]",
            "createpolicy.fractional.L2::evict_first.L2::evict_last.b64 d1",
        ],
    );
    refused("sm_75", "production-target", &["discard.global.L2 [d1], 128"]);
}

#[test]
fn addresses_are_converted_from_and_to_windows() {
    legal(
        "sm_90",
        &[
            "isspacep.shared::cluster p1, d1",
            "cvta.global.u64 d1, g",
            "cvta.to.shared.u64 d1, d2",
            "cvta.param.u64 d1, p0",
        ],
    );
    refused(
        "sm_90",
        "production-operand",
        &[
            "cvta.global.u64 d1, s",
            "cvta.to.global.u64 d1, g",
            "isspacep.global r1, d1",
            "cvta.local.u64 r1, d1",
        ],
    );
    refused("sm_90", "production-missing", &["cvta.u64 d1, d2"]);
    refused("sm_80", "production-target", &["isspacep.shared::cluster p1, d1"]);
}

#[test]
fn a_module_has_one_version_and_one_address_size() {
    let codes = |text: &str| {
        let linted = ptx::lint("m.ptx", text.as_bytes(), ptx::LintOptions::default());
        linted.diagnostics.iter().map(|one| one.code).collect::<Vec<_>>()
    };
    let head = ".version 9.4\n.target sm_90\n.address_size 64\n";
    assert_eq!(codes(head), [] as [&str; 0]);
    assert_eq!(codes(&head.replace(".target", ".version 9.4\n.target")), ["version"]);
    assert_eq!(codes(&format!("{head}.address_size 64\n")), ["address-size"]);
}
