//! The types, shapes and registers of `multimem`, `wgmma` and `tcgen05`: what ptxas 13.5 takes, beside what it refuses.

use ptx::production_check::fault;
use ptx::version::{PtxIsa, Target};
use text::diagnostic::Severity;

use crate::asynchronous::said;

/// Checks that an instruction is accepted, and that each other one has this code.
fn told(target: &str, accepted: &str, refused: &[(&str, &str)]) {
    assert_eq!(said("9.4", target, accepted), [], "{target} {accepted}");
    for (instruction, code) in refused {
        let said = said("9.4", target, instruction);
        let found = said.iter().any(|(of, severity)| of == code && *severity == Severity::Error);
        assert!(found, "{target} {instruction}: {said:?}");
    }
}

#[test]
fn operations_of_multimem_have_types_and_vectors() {
    told(
        "sm_90",
        "multimem.ld_reduce.relaxed.gpu.global.add.v2.f32 {%f1,%f2}, [%rd1];",
        &[
            (
                "multimem.ld_reduce.relaxed.gpu.global.add.v2.f32 {%f1,%f2,%f3}, [%rd1];",
                "production-registers",
            ),
            ("multimem.ld_reduce.relaxed.gpu.global.add.v2.f32 %f1, [%rd1];", "production-operand"),
            (
                "multimem.ld_reduce.relaxed.gpu.global.add.v2.f32 {%fd1,%fd2}, [%rd1];",
                "production-operand",
            ),
            (
                "multimem.ld_reduce.relaxed.gpu.global.min.v2.f32 {%f1,%f2}, [%rd1];",
                "production-modifier",
            ),
            (
                "multimem.ld_reduce.relaxed.gpu.global.add.v2.u32 {%r1,%r2}, [%rd1];",
                "production-modifier",
            ),
        ],
    );
    told(
        "sm_90",
        "multimem.ld_reduce.relaxed.gpu.global.add.acc::f32.bf16x2 %r1, [%rd1];",
        &[
            (
                "multimem.ld_reduce.relaxed.gpu.global.min.acc::f32.bf16x2 %r1, [%rd1];",
                "production-modifier",
            ),
            ("multimem.ld_reduce.relaxed.gpu.global.add.bf16 %h1, [%rd1];", "production-missing"),
        ],
    );
    told(
        "sm_100f",
        "multimem.st.global.v4.e5m2 [%rd1], {%c1,%c2,%c3,%c1};",
        &[("multimem.st.global.v2.e5m2 [%rd1], {%c1,%c2};", "production-modifier")],
    );
    told(
        "sm_100",
        "multimem.red.global.add.f16x2 [%rd1], %r1;",
        &[
            ("multimem.red.global.min.f16x2 [%rd1], %r1;", "production-modifier"),
            ("multimem.red.global.add.s64 [%rd1], %rd1;", "production-modifier"),
            ("multimem.red.global.and.u32 [%rd1], %r1;", "production-modifier"),
            ("multimem.st.global.v4.e5m2 [%rd1], {%c1,%c2,%c3,%c1};", "production-target"),
        ],
    );
}

#[test]
fn a_shape_of_a_multiplication_goes_with_its_types_and_registers() {
    let of = |shape: &str, types: &str, operands: &str| {
        format!("wgmma.mma_async.sync.aligned.{shape}.{types} {operands};")
    };
    let halves = of("m64n8k16", "f32.f16.f16", "{%f1,%f2,%f3,%f4}, %rd1, %rd2, %p1, 1, -1, 0, 1");
    told(
        "sm_90a",
        &halves,
        &[
            (&halves.replace("n8k16", "n8k32"), "production-missing"),
            (&halves.replace("n8k16", "n12k16"), "production-missing"),
            (&halves.replace(",%f4", ""), "production-registers"),
            (&halves.replace("f32.f16", "f16.f16"), "production-operand"),
            (&halves.replace("-1", "2"), "production-value"),
            (&halves.replace(", 0, 1", ", 0"), "production-operands"),
            (&halves.replace("f16.f16", "f16.bf16"), "production-modifier"),
            (&halves.replace("%p1", "%r1"), "production-operand"),
        ],
    );
    let registers =
        of("m64n8k32", "s32.s8.u8.satfinite", "{%r1,%r2,%r3,%r4}, {%r5,%r6,%r7,%r8}, %rd2, !%p1");
    told(
        "sm_90a",
        &registers,
        &[
            (&registers.replace("n8", "n40"), "production-missing"),
            (&registers.replace("{%r5,%r6,%r7,%r8}", "{%r5,%r6}"), "production-registers"),
            (&registers.replace("%r5,%r6,%r7,%r8", "%rd5,%rd6,%rd7,%rd8"), "production-operand"),
            (&registers.replace("!%p1", "!%p1, 1, 1"), "production-operands"),
        ],
    );
    let sparse = "wgmma.mma_async.sp.sync.aligned.m64n8k64.f16.e4m3.e5m2 {%r1,%r2}, %rd1, %rd2, %r3, 0, 1, 1, 1;";
    told("sm_90a", sparse, &[(&sparse.replace("%r3, 0", "%r3, 1"), "production-value")]);
}

#[test]
fn a_shape_of_tensor_memory_says_how_many_registers_there_are() {
    let load = "tcgen05.ld.sync.aligned.16x256b.x1.b32 {%r1,%r2,%r3,%r4}, [%r5];";
    told(
        "sm_100f",
        load,
        &[
            (&load.replace("x1.", "x2."), "production-registers"),
            (&load.replace("16x256b.x1", "16x256b.x64"), "production-missing"),
            (&load.replace("x1.b32", "x1.unpack::16b.b32"), "production-modifier"),
            (&load.replace("[%r5]", "[%r5], 0"), "production-operands"),
            (&load.replace("{%r1,%r2,%r3,%r4}", "%r1"), "production-operand"),
            (&load.replace('%', "%d").replace("%dr", "%h"), "production-operand"),
            (&load.replace("sync.", ""), "production-missing"),
        ],
    );
    let reduced = "tcgen05.ld.red.sync.aligned.16x32bx2.x2.max.abs.f32 {%f1,%f2}, %f3, [%r5], 4;";
    told(
        "sm_103a",
        reduced,
        &[
            (&reduced.replace("f32", "u32"), "production-modifier"),
            (&reduced.replace(", 4", ""), "production-operands"),
        ],
    );
    told(
        "sm_100a",
        "tcgen05.st.sync.aligned.16x32bx2.x1.unpack::16b.b32 [%r5], 2, {%r1};",
        &[
            (reduced, "production-target"),
            ("tcgen05.st.sync.aligned.16x32bx2.x1.b32 [%r5], %r2, {%r1};", "production-operand"),
        ],
    );
    let copy = "tcgen05.cp.cta_group::1.64x128b.warpx2::02_13.b8x16.b4x16_p64 [%r1], %rd1;";
    told(
        "sm_100a",
        copy,
        &[
            (&copy.replace("warpx2::02_13", "warpx4"), "production-missing"),
            (&copy.replace(".b4x16_p64", ""), "production-modifier"),
            (&copy.replace("%rd1", "%r2"), "production-operand"),
        ],
    );
    let allocate = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 64;";
    told("sm_100a", allocate, &[(&allocate.replace("64", "96"), "production-value")]);
}

#[test]
fn a_kind_of_multiplication_goes_with_its_scales_and_operands() {
    let plain =
        "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r5, {%r1,%r2,%r3,%r4}, %p1, 15;";
    told(
        "sm_100f",
        plain,
        &[
            (&plain.replace("15", "16"), "production-value"),
            (&plain.replace("group::1", "group::2"), "production-registers"),
            (&plain.replace("f16", "f8f6f4"), "production-operands"),
            (&plain.replace("f16", "i8"), "production-target"),
            (&plain.replace("f16", "f16.ashift"), "production-operands"),
            (&plain.replace("f16", "f16.block_scale"), "production-modifier"),
            (&plain.replace("f16", "f16.collector::b0::fill"), "production-modifier"),
            (&plain.replace("%p1", "%r1"), "production-operands"),
        ],
    );
    let scaled = "tcgen05.mma.cta_group::2.kind::mxf4.block_scale.block32 [%r1], [%r2], %rd2, %r5, [%r6], [%r7], !%p1;";
    told(
        "sm_100f",
        scaled,
        &[
            (&scaled.replace("block32", "block16"), "production-modifier"),
            (&scaled.replace("block32", "scale_vec::2X"), "production-target"),
            (&scaled.replace(", [%r7]", ""), "production-operands"),
            (
                &scaled.replace("mma.", "mma.sp.").replace("%rd2", "%rd2, [%r3]"),
                "production-target",
            ),
        ],
    );
    let kept = "tcgen05.mma.ws.sp.cta_group::1.kind::tf32.collector::b3::lastuse [%r1], %rd1, %rd2, [%r3], %r5, %p1, %rd4;";
    told(
        "sm_100a",
        kept,
        &[
            (&kept.replace("group::1", "group::2"), "production-missing"),
            (&kept.replace("b3", "a"), "production-modifier"),
        ],
    );
    let warned =
        said("9.4", "sm_100a", "tcgen05.mma.cta_group::1.kind::i8 [%r1], %rd1, %rd2, %r5, %p1, 1;");
    assert_eq!(warned, [("production-document", Severity::Warning)]);
}

/// Litmus tests write a few of the registers, and addresses in place of descriptors.
#[test]
fn operands_of_matrices_are_not_checked_in_tests() {
    let target = Target::parse("sm_90a");
    let of = |shape: &str| {
        let name = format!("wgmma.mma_async.sync.aligned.{shape}.f32.f16.f16");
        let parts: Vec<&str> = name.split('.').collect();
        fault(&parts, "{r0}, [s], [s], 1, 1, 1, 0, 0", PtxIsa::NEWEST, target)
    };
    assert_eq!(of("m64n8k16"), None);
    assert_eq!(of("m64n8k32").map(|fault| fault.code), Some("production-missing"));
    let wait = fault(&["cp", "async", "wait_all"], "0", PtxIsa::NEWEST, target);
    assert_eq!(wait.map(|fault| fault.code), Some("production-operands"));
}
