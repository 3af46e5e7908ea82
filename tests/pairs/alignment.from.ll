; Alignments that no access writes: of a type, and by an assumption.
declare void @llvm.assume(i1)

define void @natural(ptr addrspace(1) %a, ptr addrspace(1) noalias %b) {
  %v = load <4 x float>, ptr addrspace(1) %a
  store <4 x float> %v, ptr addrspace(1) %b
  ret void
}

define void @assumed(ptr addrspace(1) %a, ptr addrspace(1) noalias %b) {
  call void @llvm.assume(i1 true) [ "align"(ptr addrspace(1) %a, i64 8) ]
  %next = getelementptr i8, ptr addrspace(1) %a, i64 4
  %x = load i32, ptr addrspace(1) %a, align 4
  %y = load i32, ptr addrspace(1) %next, align 4
  %sum = add i32 %x, %y
  store i32 %sum, ptr addrspace(1) %b, align 4
  ret void
}
