; Two remainders, which are undefined if either divisor is 0.
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @remainders(ptr addrspace(1) %p, ptr addrspace(1) %q, ptr addrspace(1) %o, i8 %w) {
  %p1 = getelementptr i32, ptr addrspace(1) %p, i64 1
  %q1 = getelementptr i32, ptr addrspace(1) %q, i64 1
  %o1 = getelementptr i32, ptr addrspace(1) %o, i64 1
  %a = load i32, ptr addrspace(1) %p, align 4
  %b = load i32, ptr addrspace(1) %q, align 4
  %c = load i32, ptr addrspace(1) %p1, align 4
  %d = load i32, ptr addrspace(1) %q1, align 4
  %e = sdiv i32 %a, %b
  %f = mul i32 %e, %b
  %g = sub i32 %a, %f
  %h = sdiv i32 %c, %d
  %i = mul i32 %h, %d
  %j = sub i32 %c, %i
  store i32 %g, ptr addrspace(1) %o, align 4
  store i32 %j, ptr addrspace(1) %o1, align 4
  %o2 = getelementptr i32, ptr addrspace(1) %o, i64 2
  %k = zext i8 %w to i32
  %l = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %m = add i32 %k, %l
  store i32 %m, ptr addrspace(1) %o2, align 4
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
