//! Modules like those that compilers make, of any length.

use std::fmt::Write;

/// Instructions of memory and others, in the forms and about the proportions of compiled kernels.
const MEMORY: &[&str] = &[
    "ld.global.nc.f32 %f@, [%rd@+16]",
    "ld.global.f32 %f@, [%rd@+-4096]",
    "st.global.f32 [%rd@+8], %f@",
    "ld.shared.v4.f32 {%f1, %f2, %f3, %f@}, [%r@+512]",
    "st.shared.v2.b32 [%r@], {%r3, %r@}",
    "ld.global.nc.v4.u32 {%r1, %r2, %r3, %r@}, [%rd@]",
    "@%p1 ld.global.u32 %r@, [%rd@]",
    "ld.param.u64 %rd@, [kernel_param_0]",
    "ld.local.u64 %rd@, [%rd@+24]",
    "@!%p2 st.global.v4.u32 [%rd@], {%r1, %r2, %r3, %r@}",
    "atom.global.add.u32 %r@, [%rd@], 1",
    "red.relaxed.gpu.global.add.f32 [%rd@+4], %f@",
    "ld.relaxed.gpu.global.u32 %r@, [%rd@]",
    "ld.acquire.gpu.global.u32 %r@, [%rd@]",
    "st.release.gpu.global.u32 [%rd@], %r@",
    "ld.global.L1::no_allocate.L2::128B.b32 %r@, [%rd@+4]",
    "fence.acq_rel.gpu",
    "ld.volatile.shared.u32 %r@, [tile+64]",
];

const OTHERS: &[&str] = &[
    "add.s32 %r@, %r1, %r@",
    "mad.lo.s32 %r@, %r1, %r2, %r@",
    "mul.wide.s32 %rd@, %r@, 4",
    "add.s64 %rd@, %rd1, %rd@",
    "fma.rn.f32 %f@, %f1, %f2, %f@",
    "setp.ge.s32 %p1, %r@, %r2",
    "mov.u32 %r@, %tid.x",
    "cvta.to.global.u64 %rd@, %rd@",
    "shl.b32 %r@, %r@, 2",
    "selp.b32 %r@, 1, 0, %p2",
    "bar.sync 0",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f@}",
];

/// A module of this many instructions: a third of them of memory, or all.
pub(crate) fn module(instructions: usize, memory_only: bool) -> String {
    let mut text = String::with_capacity(instructions * 48);
    text.push_str(
        "//\n// Generated\n//\n.version 8.7\n.target sm_100\n.address_size 64\n\n\
         .visible .global .align 4 .u32 counter = 0;\n\
         .const .align 4 .b8 table[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};\n",
    );
    let of_function = 2_000;
    let mut written = 0;
    while written < instructions {
        let function = written / of_function;
        write!(
            text,
            "\n.visible .entry kernel_{function}(\n\t.param .u64 .ptr .global .align 8 kernel_param_0,\n\
             \t.param .u32 kernel_param_1\n)\n.maxntid 256, 1, 1\n{{\n\t.reg .pred \t%p<9>;\n\
             \t.reg .b32 \t%r<1000>;\n\t.reg .f32 \t%f<1000>;\n\t.reg .b64 \t%rd<1000>;\n\
             \t.shared .align 16 .b8 tile[4096];\n\n"
        )
        .expect("strings can be written");
        for index in 0..of_function.min(instructions - written) {
            if index % 25 == 24 {
                writeln!(text, "$L__BB{function}_{index}:").expect("strings can be written");
            }
            if index % 12 == 7 {
                writeln!(text, "\t.loc\t1 {index} 9").expect("strings can be written");
            }
            let list = if memory_only || index % 3 == 0 { MEMORY } else { OTHERS };
            let form = list[(index / 3 + index * index / 7) % list.len()];
            text.push('\t');
            for (at, piece) in form.split('@').enumerate() {
                // The sign stands for a number of a register, and first of all for a guard.
                if at > 0 && !(at == 1 && form.starts_with('@')) {
                    write!(text, "{}", index * 7 % 1000).expect("strings can be written");
                } else if at == 1 {
                    text.push('@');
                }
                text.push_str(piece);
            }
            text.push_str(";\n");
        }
        written += of_function;
        text.push_str("\tret;\n}\n");
    }
    text
}
