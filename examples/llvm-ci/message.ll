; A message between two threads: the data, then a flag. And a counter.

target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @publish(i32 addrspace(1)* %data, i32 addrspace(1)* %flag) {
  store i32 42, i32 addrspace(1)* %data, align 4
  %old = atomicrmw add i32 addrspace(1)* %flag, i32 1 syncscope("device") release, align 4
  ret void
}

; The order is right: the flag is read, then a fence. (`llc` 14 has no acquire loads for this target.)
define ptx_kernel void @consume(i32 addrspace(1)* %data, i32 addrspace(1)* %flag, i32 addrspace(1)* %out) {
entry:
  br label %spin
spin:
  %seen = load atomic i32, i32 addrspace(1)* %flag syncscope("device") monotonic, align 4
  %none = icmp eq i32 %seen, 0
  br i1 %none, label %spin, label %done
done:
  call void @llvm.nvvm.membar.gl()
  %value = load i32, i32 addrspace(1)* %data, align 4
  store i32 %value, i32 addrspace(1)* %out, align 4
  ret void
}

; No order is asked for, and none is lost.
define ptx_kernel void @count(i32 addrspace(1)* %counter) {
  %old = atomicrmw add i32 addrspace(1)* %counter, i32 1 syncscope("device") monotonic, align 4
  ret void
}

declare void @llvm.nvvm.membar.gl()
