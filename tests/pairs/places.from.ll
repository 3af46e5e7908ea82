; Variables that another module defines, loads of memory that nobody writes, and masked accesses.
@outside = external addrspace(1) global ptr
@here = addrspace(1) global [4 x i32] zeroinitializer

define void @beyond(i32 %n) {
  %at = getelementptr i8, ptr addrspace(1) @outside, i64 32
  store i32 %n, ptr addrspace(1) %at, align 4
  ret void
}

define void @copies(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %a = load i32, ptr addrspace(1) %in, align 4, !invariant.load !0
  store i32 %a, ptr addrspace(1) %out, align 4
  ret void
}

define void @some(ptr addrspace(1) %in, ptr addrspace(1) noalias %out, i1 %last) {
  %mask = insertelement <4 x i1> <i1 true, i1 false, i1 true, i1 poison>, i1 %last, i32 3
  %v = tail call <4 x i32> @llvm.masked.load.v4i32.p1(ptr addrspace(1) align 16 %in, <4 x i1> <i1 true, i1 false, i1 true, i1 true>, <4 x i32> poison), !invariant.load !0
  tail call void @llvm.masked.store.v4i32.p1(<4 x i32> %v, ptr addrspace(1) align 16 %out, <4 x i1> %mask)
  ret void
}

define i32 @otherwise(ptr addrspace(1) %in, i1 %is) {
  %v = call <2 x i32> @llvm.masked.load.v2i32.p1(ptr addrspace(1) %in, i32 4, <2 x i1> <i1 true, i1 false>, <2 x i32> <i32 1, i32 7>)
  %a = extractelement <2 x i32> %v, i32 0
  %b = extractelement <2 x i32> %v, i32 1
  %r = add i32 %a, %b
  ret i32 %r
}

define void @bytes(ptr addrspace(1) %p, ptr addrspace(1) noalias %q) {
  %v = load volatile <4 x i8>, ptr addrspace(1) %p, align 4
  store <4 x i8> %v, ptr addrspace(1) %q, align 4
  ret void
}

!0 = !{}
