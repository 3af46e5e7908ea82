; Functions as compilers and people write them, in the spelling of LLVM 14 and of later ones.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.pair = type { i32, i64, [3 x i16] }
@flag = addrspace(1) global i32 0, align 4
@buf = internal addrspace(3) global [16 x float] undef, align 4
@ext.s = external addrspace(3) global [0 x i32], align 4

define void @publish(ptr %data, ptr %flag) {
entry:
  store i32 42, ptr %data, align 4
  %old = atomicrmw add ptr %flag, i32 1 syncscope("device") release, align 4
  ret void
}

; Function Attrs: nounwind
define dso_local noundef i32 @consume(ptr nocapture noundef readonly %data, i32* %flag) #0 {
  br label %spin
spin:                                             ; preds = %spin, %0
  %n = phi i32 [ 0, %0 ], [ %n1, %spin ]
  %m = phi i32 [ 1, %0 ], [ %n, %spin ]
  %f = load atomic i32, i32* %flag syncscope("device") acquire, align 4, !tbaa !3
  %n1 = add nuw nsw i32 %n, 1
  %c = icmp eq i32 %f, 0
  br i1 %c, label %spin, label %done, !llvm.loop !4
done:
  %d = load i32, ptr %data, align 4
  ret i32 %d
}

define ptx_kernel void @k(ptr addrspace(1) noalias readonly %a, %struct.pair* %p, i8 %b) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = sext i32 %tid to i64
  %q = getelementptr inbounds %struct.pair, %struct.pair* %p, i64 %i, i32 2, i64 1
  %v = load i32, ptr addrspace(1) %a
  %t = trunc i32 %v to i16
  store i16 %t, i16* %q, align 2
  call void @llvm.nvvm.barrier0()
  %g = getelementptr [16 x float], ptr addrspace(3) @buf, i32 0, i32 %tid
  store volatile float 1.0, ptr addrspace(3) %g
  %cx = cmpxchg ptr addrspace(1) @flag, i32 0, i32 1 acq_rel monotonic
  %ok = extractvalue { i32, i1 } %cx, 1
  br i1 %ok, label %a1, label %a2
a1:
  store i32 1, ptr addrspace(3) getelementptr ([0 x i32], ptr addrspace(3) @ext.s, i64 0, i64 3)
  br label %a2
a2:
  %sl = phi i8 [ %b, %0 ], [ 3, %a1 ]
  %neg = icmp slt i8 %sl, -3
  %s2 = select i1 %neg, i8 5, i8 %b
  store i8 %s2, ptr addrspacecast (ptr addrspace(1) @flag to ptr)
  fence syncscope("block") seq_cst
  switch i8 %sl, label %d [
    i8 0, label %a1
    i8 3, label %d
  ]
d:
  ret void
}
declare void @llvm.nvvm.barrier0() #1
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define i64 @alloc(i64 %x) { 
  %s = alloca i64, align 8
  %arr = alloca [4 x i32], align 4
  store i64 %x, i64* %s, align 8
  %e = getelementptr [4 x i32], [4 x i32]* %arr, i64 0, i64 2
  store i32 7, ptr %e
  %l = load i32, ptr %e
  %z = zext i32 %l to i64
  %y = load i64, i64* %s
  %w = add i64 %y, %z
  ret i64 %w
}
define void @calls(ptr %p) {
  %a = load i32, ptr %p
  call void @foo(i32 %a)
  ret void
}
define void @immediates(ptr addrspace(1) %p) {
  %a = call i64 asm "mov.u64 $0, $1;", "=l,n"(i32 -16)
  %b = call i32 asm "add.s32 $0, $1, $2;", "=r,r,n"(i32 1, i8 -1)
  %c = call float asm "cvt.rn.f32.s32 $0, $1;", "=f,n"(i32 5)
  %q = getelementptr i8, ptr addrspace(1) %p, i64 16
  call void asm sideeffect "st.global.u32 [$0+$1], $2;", "l,n,r"(ptr addrspace(1) %q, i32 -16, i32 3)
  ret void
}
attributes #0 = { nounwind "target-cpu"="sm_70" }
!nvvm.annotations = !{!0}
!0 = !{void (i32*)* @publish, !"kernel", i32 1}
!3 = !{!5, !5, i64 0}
