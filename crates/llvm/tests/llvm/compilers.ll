; What compilers write: short pointers, inline assembly, vectors, constants of every form.
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@smem = external addrspace(3) global [0 x i8], align 16
@.str = private constant [11 x i8] c"__CUDA_FTZ\00"
@odd = global bfloat 0xR3F80
@half = global [2 x half] [half 0xH3C00, half 0xH0000]

define ptx_kernel void @masked(ptr addrspace(1) %0, ptr addrspace(1) %1, i32 %2) #0 !dbg !4 {
  %4 = icmp slt i32 %2, 8, !dbg !4
  %5 = tail call { i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, $2;\0A\09@$4 ld.global.v2.b32 { $0, $1 }, [ $3 + 8 ];", "=r,=r,r,l,b"(i32 %2, ptr addrspace(1) %0, i1 %4) #3, !dbg !4
  %6 = extractvalue { i32, i32 } %5, 1
  %7 = insertelement <1 x i32> poison, i32 %6, i64 0
  store <1 x i32> %7, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @smem, i32 4), align 4
  tail call void asm sideeffect "@!$2 red.global.gpu.release.add.u32 [ $0 + 0 ], $1;", "l,n,b"(ptr addrspace(1) %1, i32 3, i1 true) #3
  ret void
}

define i64 @shared(ptr addrspace(3) %p, i32 %n) {
  %a = ptrtoint ptr addrspace(3) %p to i32
  %b = inttoptr i32 %n to ptr addrspace(3)
  %c = load i32, ptr addrspace(3) %b
  %ret = call i32 asm "{ .reg .pred q; .reg .b32 l; mov.u32 l, %laneid; setp.ne.b32 q, $1, l; @q bra L${:uid}; mov.u32 $1, 7; L${:uid}: }", "=r,0"(i32 %c)
  %d = add i32 %a, %ret
  call void asm sideeffect "st.volatile.shared.u32 [$0], $1; membar.cta;", "r,r,~{memory}"(ptr addrspace(3) %b, i32 %d)
  ret i64 ptrtoint (ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @smem, i32 64) to i64)
}

define <2 x half> @vectors(<2 x half> %v, <4 x i8> %w) {
  %bits = bitcast <2 x half> %v to i32
  %x = xor i32 %bits, bitcast (<2 x i16> splat (i16 1) to i32)
  %back = bitcast i32 %x to <2 x half>
  %y = shufflevector <2 x half> %back, <2 x half> poison, <2 x i32> <i32 1, i32 0>
  %z = bitcast <4 x i8> %w to <2 x half>
  %s = select <2 x i1> <i1 true, i1 false>, <2 x half> %y, <2 x half> %z
  %sum = fadd fast <2 x half> %s, <half 0xH3C00, half 2.0>
  ret <2 x half> %sum
}

define float @flags() {
  %ftz = call i32 @__nvvm_reflect(ptr @.str)
  %is = icmp ne i32 %ftz, 0
  %f = select i1 %is, float f0x3F800000, float -inf
  ret float %f
}

define i24 @widths(ptr %p, i48 %n) {
  store i48 %n, ptr %p, align 8
  %v = load i24, ptr %p, align 4
  %c = call i24 @llvm.cttz.i24(i24 %v, i1 false)
  ret i24 %c
}

declare i32 @__nvvm_reflect(ptr)
declare i24 @llvm.cttz.i24(i24, i1)

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #3 = { nounwind }
uselistorder ptr @.str, { 1, 0 }
!llvm.module.flags = !{!3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = distinct !DISubprogram(name: "masked", linkageName: "masked", scope: !1, file: !1, line: 310)

define i32 @calls(ptr %p, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %j = call i32 @next(ptr %p, i32 %i)
  %c = icmp slt i32 %j, %n
  br i1 %c, label %loop, label %done
done:
  ret i32 %j
}

define internal i32 @next(ptr %0, i32 %1) {
  %3 = icmp eq i32 %1, 3
  br i1 %3, label %4, label %5
4:
  ret i32 7
5:
  store volatile i32 %1, ptr %0
  %6 = add i32 %1, u0x1
  ret i32 %6
}

define i32 @again(i32 %n) {
  %v = call i32 @again(i32 %n)
  ret i32 %v
}

@two = global [2 x half]
  [half 0xH0000, half 0xH0000]

define float @chosen(<2 x float> %v, i32 %n) {
  %w = insertelement <2 x float> %v, float 1.0, i32 /* where */ %n
  %f = extractelement <2 x float> %w, i32 %n
  ret float %f
}
