; A lock in Python, as a compiler with debugging information has it.
target triple = "nvptx64-nvidia-cuda"

define void @unlock(ptr addrspace(1) %data, ptr addrspace(1) %lock) !dbg !4 {
  store i32 42, ptr addrspace(1) %data, align 4, !dbg !6
  %old = atomicrmw xchg ptr addrspace(1) %lock, i32 0 syncscope("device") release, align 4, !dbg !8
  ret void, !dbg !9
}

define void @count(ptr addrspace(1) %data) !dbg !10 {
  store i32 7, ptr addrspace(1) %data, align 4, !dbg !11
  ret void, !dbg !11
}

define void @signal(ptr addrspace(1) %data, ptr addrspace(1) %lock) !dbg !16 {
  store i32 9, ptr addrspace(1) %data, align 4, !dbg !17
  fence syncscope("device") release, !dbg !18
  store atomic i32 1, ptr addrspace(1) %lock syncscope("device") monotonic, align 4, !dbg !18
  ret void
}

define void @wide(ptr addrspace(1) %data) !dbg !12 {
  %old = atomicrmw add ptr addrspace(1) %data, i128 1 seq_cst, align 16, !dbg !13
  ret void, !dbg !13
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "compiler", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "lock.py", directory: "kernels")
!2 = !DIFile(filename: "sync.py", directory: "kernels")
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "unlock", linkageName: "unlock", scope: !1, file: !1, line: 22, type: !5, scopeLine: 22, spFlags: DISPFlagDefinition, unit: !0)
!5 = !DISubroutineType(types: !14)
!6 = !DILocation(line: 23, column: 5, scope: !4)
!7 = distinct !DISubprogram(name: "release", linkageName: "release", scope: !2, file: !2, line: 7, type: !5, scopeLine: 7, spFlags: DISPFlagDefinition, unit: !0)
!8 = !DILocation(line: 8, column: 9, scope: !7, inlinedAt: !15)
!9 = !DILocation(line: 22, column: 1, scope: !4)
!10 = distinct !DISubprogram(name: "count", linkageName: "count", scope: !1, file: !1, line: 27, type: !5, scopeLine: 27, spFlags: DISPFlagDefinition, unit: !0)
!11 = !DILocation(line: 28, column: 5, scope: !10)
!12 = distinct !DISubprogram(name: "wide", linkageName: "wide", scope: !1, file: !1, line: 31, type: !5, scopeLine: 31, spFlags: DISPFlagDefinition, unit: !0)
!13 = !DILocation(line: 32, column: 5, scope: !12)
!14 = !{}
!15 = distinct !DILocation(line: 24, column: 5, scope: !4)
!16 = distinct !DISubprogram(name: "signal", linkageName: "signal", scope: !1, file: !1, line: 35, type: !5, scopeLine: 35, spFlags: DISPFlagDefinition, unit: !0)
!17 = !DILocation(line: 36, column: 5, scope: !16)
!18 = !DILocation(line: 37, column: 5, scope: !16)
