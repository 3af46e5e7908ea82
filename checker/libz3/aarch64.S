/* A call of a Z3 function goes through its place in the table. At first that holds `first`, which has the
   function found and its address put there, and then goes on as if nothing had been between. */

    .macro FUNCTION name, index
    .globl \name
    .hidden \name
    .type \name, %function
\name:
    mov w17, #\index
    adrp x16, causeway_z3_table+8*\index
    ldr x16, [x16, #:lo12:causeway_z3_table+8*\index]
    br x16
    .size \name, .-\name
    .endm

    .text
    .type first, %function
first:
    .cfi_startproc
    hint #34 /* bti c */
    stp x29, x30, [sp, #-224]!
    .cfi_def_cfa_offset 224
    .cfi_offset x29, -224
    .cfi_offset x30, -216
    mov x29, sp
    /* What may hold arguments: nine registers for integers, eight for floating point. */
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    str x8, [sp, #80]
    stp q0, q1, [sp, #96]
    stp q2, q3, [sp, #128]
    stp q4, q5, [sp, #160]
    stp q6, q7, [sp, #192]
    mov w0, w17
    bl causeway_z3_resolve
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    ldr x8, [sp, #80]
    ldp q0, q1, [sp, #96]
    ldp q2, q3, [sp, #128]
    ldp q4, q5, [sp, #160]
    ldp q6, q7, [sp, #192]
    ldp x29, x30, [sp], #224
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    br x16
    .cfi_endproc
    .size first, .-first
