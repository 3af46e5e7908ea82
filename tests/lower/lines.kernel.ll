target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @unlock(ptr addrspace(1) %data, ptr addrspace(1) %lock) !dbg !2 {
  store i32 1, ptr addrspace(1) %data, align 4, !dbg !3
  store atomic i32 1, ptr addrspace(1) %lock syncscope("device") release, align 4, !dbg !4
  ret void
}

!llvm.module.flags = !{!0}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !DIFile(filename: "lock.py", directory: "kernels")
!2 = distinct !DISubprogram(name: "unlock", scope: !1, file: !1, line: 22)
!3 = !DILocation(line: 23, column: 5, scope: !2)
!4 = !DILocation(line: 24, column: 5, scope: !2)
