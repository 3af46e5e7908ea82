; Parameters of several parts, as LLVM 22 passes them.
%pair = type { i8, ptr addrspace(1), [2 x float] }

define <2 x i16> @lanes(<2 x i16> %a, <2 x i16> %b) {
  %r = sub <2 x i16> %a, %b
  ret <2 x i16> %r
}

define half @halves(half %a, half %b) {
  %r = fsub half %a, %b
  ret half %r
}

define void @structure(%pair %p, <4 x i32> %v) {
  %tag = extractvalue %pair %p, 0
  %to = extractvalue %pair %p, 1
  %f = extractvalue %pair %p, 2, 1
  %e = extractelement <4 x i32> %v, i32 2
  %wide = zext i8 %tag to i32
  %sum = add i32 %wide, %e
  store i32 %sum, ptr addrspace(1) %to, align 4
  %next = getelementptr i8, ptr addrspace(1) %to, i64 4
  store float %f, ptr addrspace(1) %next, align 4
  ret void
}
