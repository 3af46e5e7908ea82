; Copies of the caller, memory of the caller's thread, and volatile vectors.
%pair = type { i32, i64 }

define void @copied(ptr byval(%pair) %p, ptr addrspace(1) %q) {
  %at = getelementptr %pair, ptr %p, i64 0, i32 1
  %wide = load i64, ptr %at, align 8
  store i64 %wide, ptr addrspace(1) %q, align 8
  ret void
}

define void @written(ptr byval(%pair) %p, ptr addrspace(1) %q, i32 %n) {
  store i32 %n, ptr %p, align 4
  %first = load i32, ptr %p, align 4
  store i32 %first, ptr addrspace(1) %q, align 4
  ret void
}

define void @local(ptr addrspace(5) %p, ptr addrspace(5) noalias %q) {
  %a = load i32, ptr addrspace(5) %p, align 4
  %b = add i32 %a, 1
  store i32 %b, ptr addrspace(5) %q, align 4
  ret void
}

define void @volatile_vector(ptr addrspace(1) %p) {
  %v = load volatile <4 x i32>, ptr addrspace(1) %p, align 16
  store volatile <4 x i32> %v, ptr addrspace(1) %p, align 16
  ret void
}
